// The runner's side of the protocol: one JSON event a line, written to the descriptor
// the parent named. Standard output and error stay free for noise.

package fathom;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

final class Events {
    private final OutputStream out;

    private Events(OutputStream out) {
        this.out = out;
    }

    /** Where the parent wants them, or null if nobody told. */
    static Events open() {
        try {
            int descriptor = Integer.parseInt(System.getenv().getOrDefault("FATHOM_EVENTS_FD", ""));
            return new Events(new FileOutputStream("/proc/self/fd/" + descriptor, true));
        } catch (NumberFormatException | IOException error) {
            return null;
        }
    }

    /** Writes a line whole; a parent that has gone ends the process quietly. */
    private synchronized void send(String line) {
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Wall and processor time of a phase, in nanoseconds. */
    record Cost(long wallNs, long cpuNs) {
        String json() {
            return "\"wall_ns\":" + wallNs + ",\"cpu_ns\":" + cpuNs;
        }
    }

    void hello(String engine, Engine.Hello hello) {
        send("{\"event\":\"hello\",\"engine\":" + Json.quote(engine) + ",\"version\":" + Json.quote(hello.version())
            + ",\"backend\":" + Json.quote(hello.backend()) + ",\"tier\":" + Json.quote(hello.tier())
            + ",\"checks\":" + Json.quote(hello.checks()) + ",\"evidence\":" + Json.quote(hello.evidence()) + "}");
    }

    void phase(String phase, Cost cost) {
        send("{\"event\":\"phase\",\"phase\":" + Json.quote(phase) + "," + cost.json() + "}");
    }

    void iteration(int thread, int index, boolean counted, Map<String, Cost> phases, int exit, String stdout) {
        String costs = phases.entrySet().stream()
            .map(one -> Json.quote(one.getKey()) + ":{" + one.getValue().json() + "}").collect(Collectors.joining(","));
        send("{\"event\":\"iteration\",\"thread\":" + thread + ",\"index\":" + index + ",\"counted\":" + counted
            + ",\"phases\":{" + costs + "},\"exit\":" + exit + ",\"stdout\":" + Json.quote(stdout) + "}");
    }

    void result(int index, List<String> values) {
        String texts = values.stream().map(Json::quote).collect(Collectors.joining(","));
        send("{\"event\":\"call\",\"index\":" + index + ",\"result\":[" + texts + "]}");
    }

    void trap(int index, String trap) {
        send("{\"event\":\"call\",\"index\":" + index + ",\"trap\":" + Json.quote(trap) + "}");
    }

    void process(Map<String, Long> metrics) {
        String values = metrics.entrySet().stream()
            .map(one -> Json.quote(one.getKey()) + ":" + one.getValue()).collect(Collectors.joining(","));
        send("{\"event\":\"process\",\"metrics\":{" + values + "}}");
    }

    void error(Failure failure) {
        send("{\"event\":\"error\",\"kind\":" + Json.quote(failure.kind) + ",\"message\":" + Json.quote(failure.line()) + "}");
    }

    void done() {
        send("{\"event\":\"done\"}");
    }
}
