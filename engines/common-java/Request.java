// What the parent asks for: crates/record/src/protocol.rs.

package fathom;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

final class Request {
    private static final long PROTOCOL = 1;
    private final Map<?, ?> fields;

    private Request(Map<?, ?> fields) {
        this.fields = fields;
    }

    /** Reads the request, or fails as the protocol says. */
    static Request read() throws IOException {
        Object value;
        try {
            value = Json.parse(new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException error) {
            throw new Failure("internal", "the request is not one line of JSON: " + error.getMessage());
        }
        if (!(value instanceof Map<?, ?> map)) throw new Failure("internal", "the request is not an object");
        if (!Long.valueOf(PROTOCOL).equals(map.get("protocol"))) {
            throw new Failure("unsupported", "this runner speaks protocol " + PROTOCOL + ", not " + map.get("protocol"));
        }
        Request request = new Request(map);
        if (!List.of("measure", "probe").contains(request.mode())) {
            throw new Failure("unsupported", "this runner has no mode \"" + request.mode() + "\"");
        }
        request.requireFields();
        return request;
    }

    /** What `--check` asks for: every default. */
    static Request usual() {
        return new Request(Map.of());
    }

    private Failure lacks(String name) {
        return new Failure("internal", "the request's " + name + " is missing or of another kind");
    }

    private void requireFields() {
        text("module", null);
        if (text("module", null) == null) throw lacks("module");
        if (mode().equals("probe")) {
            calls();
            return;
        }
        if (count("threads") < 1 || count("iterations") < 1 || count("warmup") < 0) throw lacks("threads, iterations or warmup");
        if (text("scratch", null) == null) throw lacks("scratch");
        texts("args");
        pairs("env");
        pairs("dirs");
        cpus();
    }

    String mode() {
        return String.valueOf(fields.get("mode"));
    }

    /** A text, or `otherwise` where there is none. */
    String text(String name, String otherwise) {
        Object value = fields.get(name);
        if (value == null) return otherwise;
        if (value instanceof String text) return text;
        throw lacks(name);
    }

    int count(String name) {
        if (fields.get(name) instanceof Long value && value >= 0 && value <= Integer.MAX_VALUE) return value.intValue();
        throw lacks(name);
    }

    private List<?> list(String name) {
        Object value = fields.get(name);
        if (value == null) return List.of();
        if (value instanceof List<?> list) return list;
        throw lacks(name);
    }

    List<String> texts(String name) {
        return list(name).stream().map(one -> one instanceof String text ? text : fail(name)).toList();
    }

    List<List<String>> pairs(String name) {
        return list(name).stream().map(one -> {
            if (!(one instanceof List<?> pair) || pair.size() != 2) throw lacks(name);
            return pair.stream().map(part -> part instanceof String text ? text : fail(name)).toList();
        }).toList();
    }

    private String fail(String name) {
        throw lacks(name);
    }

    List<Integer> cpus() {
        return list("cpus").stream().map(one -> {
            if (one instanceof Long cpu) return cpu.intValue();
            throw lacks("cpus");
        }).toList();
    }

    /** One call of a probe. */
    record Call(String export, List<String> args) {}

    List<Call> calls() {
        if (!(fields.get("calls") instanceof List<?> calls)) throw lacks("calls");
        return calls.stream().map(one -> {
            if (!(one instanceof Map<?, ?> map) || !(map.get("export") instanceof String name)) throw lacks("calls");
            return new Call(name, new Request(map).texts("args"));
        }).toList();
    }
}
