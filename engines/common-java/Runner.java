// Runs WebAssembly on an engine for the Java virtual machine, for fathom: reads one
// request from standard input, sends events to the descriptor in FATHOM_EVENTS_FD.
//
//   Runner    hello, load, compile; then probes, or starts the measured threads
//   Worker    a measured thread: instantiate, run, tear down
//   Engine    what differs from engine to engine; its class is the first argument
//
// `Runner CLASS --check` prints what would be in force and exits with 0.

package fathom;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

public final class Runner {
    private final Engine engine;
    private final Events events;
    private final Request request;

    private Runner(Engine engine, Events events, Request request) {
        this.engine = engine;
        this.events = events;
        this.request = request;
    }

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Engine engine = (Engine) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        Events events = Events.open();
        try {
            if (arguments.length > 1 && arguments[1].equals("--check")) {
                check(engine);
            } else if (events == null) {
                System.err.println("FATHOM_EVENTS_FD does not name a descriptor: this program is started by fathom");
                Runtime.getRuntime().halt(2);
            } else {
                new Runner(engine, events, Request.read()).serve();
            }
        } catch (Throwable error) {
            if (events != null) events.error(Failure.of(error));
            else System.err.println(Failure.of(error).line());
            Runtime.getRuntime().halt(1);
        }
        // Threads of engines may still wait for work.
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void check(Engine engine) {
        engine.configure(Request.usual());
        Engine.Hello hello = engine.hello();
        System.out.println(engine.name() + " " + hello.version() + ": " + hello.tier() + ", " + hello.checks()
            + " (" + hello.evidence() + ")");
    }

    /** What `work` gave and cost, by the wall and by a clock of Linux. */
    record Timed<T>(T value, Events.Cost cost) {
        static <T> Timed<T> of(int clock, Supplier<T> work) {
            long cpu = Linux.cpuNs(clock);
            long wall = System.nanoTime();
            T value = work.get();
            long wallNs = System.nanoTime() - wall;
            return new Timed<>(value, new Events.Cost(wallNs, Linux.cpuNs(clock) - cpu));
        }
    }

    private void serve() throws InterruptedException {
        engine.configure(request);
        events.hello(engine.name(), engine.hello());
        Path path = Path.of(request.text("module", null));
        Timed<byte[]> loaded = Timed.of(Linux.PROCESS, () -> read(path));
        events.phase("load", loaded.cost());
        Timed<Engine.Program> compiled = Timed.of(Linux.PROCESS, () -> engine.compile(path, loaded.value()));
        events.phase("compile", compiled.cost());
        if (request.mode().equals("probe")) probe(compiled.value());
        else measure(compiled.value());
        events.process(Linux.metrics());
        events.done();
    }

    private static byte[] read(Path path) {
        try {
            return Files.readAllBytes(path);
        } catch (IOException error) {
            throw new Failure("io", "cannot read " + path);
        }
    }

    private void probe(Engine.Program program) {
        Engine.Probed probed = program.probe();
        int index = 0;
        for (Request.Call call : request.calls()) {
            try {
                events.result(index, probed.call(call.export(), call.args()));
            } catch (Failure failure) {
                if (!failure.kind.equals("trap")) throw failure;
                events.trap(index, failure.line());
            }
            index++;
        }
    }

    private void measure(Engine.Program program) throws InterruptedException {
        int count = request.count("threads");
        CyclicBarrier warm = new CyclicBarrier(count);
        AtomicInteger finished = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            Worker worker = new Worker(request, events, program, number, warm, finished);
            // As much stack as a program of C usually finds.
            Thread thread = new Thread(null, worker, "worker-" + number, 8L << 20);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join();
    }
}
