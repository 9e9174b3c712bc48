// GraalWasm: an interpreter on Truffle, whose hot parts Graal compiles.

package fathom;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.stream.LongStream;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.PolyglotException;
import org.graalvm.polyglot.Source;
import org.graalvm.polyglot.Value;
import org.graalvm.polyglot.io.ByteSequence;
import org.graalvm.polyglot.io.IOAccess;
import org.graalvm.polyglot.proxy.ProxyObject;

public final class GraalEngine implements Engine {
    // Enough for Truffle to compile a function, if it does at all.
    private static final int CALLS = 20_000;
    // (module (memory 1) (func (export "load") (param i32) (result i32)
    //   local.get 0  i32.load))
    private static final byte[] TINY = {
        0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
        7, 8, 1, 4, 0x6c, 0x6f, 0x61, 0x64, 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
    };
    private final Compilations compilations = new Compilations();
    private String backend;
    private org.graalvm.polyglot.Engine engine;

    /** Counts what Truffle says of its compilations, and keeps it from standard output. */
    private static final class Compilations extends Handler {
        final AtomicInteger started = new AtomicInteger();

        @Override
        public void publish(LogRecord record) {
            if (String.valueOf(record.getMessage()).startsWith("opt ")) started.incrementAndGet();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Override
    public String name() {
        return "graalwasm";
    }

    @Override
    public void configure(Request request) {
        Engine.choose(name(), "strategy", request.text("strategy", "trap"), List.of("trap"));
        String usual = request.text("opt", "speed").equals("none") ? "interpreter" : "graal";
        backend = Engine.choose(name(), "backend", request.text("backend", usual), List.of("graal", "interpreter"));
        boolean compiles = backend.equals("graal");
        // Told to be silent about an interpreter alone; the tier says it.
        var builder = org.graalvm.polyglot.Engine.newBuilder("wasm").allowExperimentalOptions(true).logHandler(compilations)
            .option("engine.WarnInterpreterOnly", "false");
        if (!compiles) builder.option("engine.Compilation", "false").option("engine.TraceCompilation", "true");
        builder.option("wasm.Threads", "true").option("wasm.MultiMemory", "true");
        engine = builder.build();
    }

    @Override
    public Hello hello() {
        String[] checks = Engine.checksProved(() -> {
            try (Context context = Context.newBuilder("wasm").engine(engine).build()) {
                Value load = context.eval(source("tiny", TINY)).newInstance().getMember("exports").getMember("load");
                if (backend.equals("interpreter")) for (int call = 0; call < CALLS; call++) load.execute(0);
                load.execute(0xffff_fffc);
                return false;
            } catch (PolyglotException error) {
                return Traps.known(error.getMessage()) != null;
            }
        });
        String runtime = engine.getImplementationName();
        boolean optimises = runtime.startsWith("GraalVM");
        String tier;
        String how;
        if (backend.equals("graal")) {
            tier = optimises ? "tiering" : "unknown";
            how = optimises ? "interpreted first, Graal for what runs often" : "nothing is known of compilations";
        } else {
            boolean none = compilations.started.get() == 0;
            tier = none ? "interpreter" : "unknown";
            how = none ? "Truffle compiled nothing of a function called " + CALLS + " times" : "Truffle compiled something";
        }
        return new Hello(System.getProperty("fathom.version", "unknown"), backend, tier, checks[0],
            "Java " + Runtime.version() + "; Truffle's runtime is " + runtime + " " + engine.getVersion() + "; " + how + "; " + checks[1]);
    }

    private static Source source(String name, byte[] bytes) {
        return Source.newBuilder("wasm", ByteSequence.create(bytes), name).buildLiteral();
    }

    @Override
    public Program compile(Path path, byte[] bytes) {
        Module module = new Module(source(path.getFileName().toString(), bytes));
        try (Context context = module.world().build()) {
            context.eval(module.source);
        } catch (PolyglotException error) {
            throw new Failure("invalid", String.valueOf(error.getMessage()));
        }
        return module;
    }

    /** What a guest threw; a trap in the specification's words. */
    private static Failure failure(PolyglotException error, String otherwise) {
        if (error.isResourceExhausted() || String.valueOf(error.getMessage()).contains("StackOverflow")) {
            return new Failure("trap", "call stack exhausted");
        }
        String known = Traps.known(error.getMessage());
        if (known != null) return new Failure("trap", known);
        return new Failure(error.isInternalError() ? "internal" : otherwise, String.valueOf(error.getMessage()));
    }

    private final class Module implements Program {
        final Source source;

        Module(Source source) {
            this.source = source;
        }

        Context.Builder world() {
            return Context.newBuilder("wasm").engine(engine).allowExperimentalOptions(true);
        }

        @Override
        public Entered enter(World world) {
            StringBuilder folders = new StringBuilder();
            for (List<String> pair : world.folders()) {
                if ((pair.get(0) + pair.get(1)).contains(",")) throw new Failure("unsupported", "graalwasm takes no comma in a folder's name");
                folders.append(folders.isEmpty() ? "" : ",").append(pair.get(1)).append("::").append(pair.get(0));
            }
            Context.Builder builder = world().allowIO(IOAccess.ALL).option("wasm.Builtins", "wasi_snapshot_preview1")
                .option("wasm.WasiMapDirs", folders.toString()).arguments("wasm", world.args().toArray(String[]::new))
                .environment(world.env()).in(world.stdin()).out(world.stdout()).err(world.stderr());
            return () -> start(builder.build());
        }

        /** The context is the store; WASI is a module in it, which comes with the import. */
        private Guest start(Context context) {
            Value start;
            try {
                start = context.eval(source).newInstance().getMember("exports").getMember("_start");
            } catch (PolyglotException error) {
                throw failure(error, "link");
            }
            if (start == null || !start.canExecute()) throw new Failure("link", "the module has no function _start");
            return new Running(context, start);
        }

        @Override
        public Probed probe() {
            Context context = world().build();
            try {
                return new Calls(context.eval(source).newInstance(memories(context)).getMember("exports"));
            } catch (PolyglotException error) {
                throw failure(error, "link");
            }
        }

        /** Fresh memories for those it imports; a probe names them by their limits. */
        private ProxyObject memories(Context context) {
            Map<String, Object> modules = new HashMap<>();
            for (Imports.Memory one : Imports.memories(source.getBytes().toByteArray())) {
                int[] limits = Wire.limits(one.module(), one.name());
                Value maker = context.eval(source("maker", Imports.maker(limits[0], limits[1], one.isWide())));
                Value memory = maker.newInstance().getMember("exports").getMember("memory");
                modules.put(one.module(), ProxyObject.fromMap(new HashMap<>(Map.of(one.name(), memory))));
            }
            return ProxyObject.fromMap(modules);
        }
    }

    private record Running(Context context, Value start) implements Guest {
        @Override
        public int run() {
            try {
                start.executeVoid();
                return 0;
            } catch (PolyglotException error) {
                if (error.isExit()) return error.getExitStatus();
                throw failure(error, "internal");
            }
        }

        @Override
        public void close() {
            try {
                context.close(true);
            } catch (PolyglotException exit) {
                // A context that ended by its guest's exit says so again.
            }
        }
    }

    private record Calls(Value exports) implements Probed {
        @Override
        public List<String> call(String export, List<String> args) {
            Value function = exports.hasMember(export) ? exports.getMember(export) : null;
            if (function == null || !function.canExecute()) throw new Failure("link", "the module has no function " + export);
            Object[] given = args.stream().map(Calls::given).toArray();
            try {
                return result(function.execute(given));
            } catch (PolyglotException error) {
                throw failure(error, "internal");
            }
        }

        private static Object given(String text) {
            long bits = Wire.bits(text);
            return switch (Wire.type(text)) {
                case "i32" -> (int) bits;
                case "i64" -> bits;
                case "f32" -> Float.intBitsToFloat((int) bits);
                case "f64" -> Double.longBitsToDouble(bits);
                default -> throw new Failure("unsupported", "graalwasm cannot pass the argument " + text);
            };
        }

        private static List<String> result(Value value) {
            if (value.isNull() || value.toString().equals("wasm-void-result")) return List.of();
            if (!value.hasArrayElements()) return List.of(one(value));
            return LongStream.range(0, value.getArraySize()).mapToObj(index -> one(value.getArrayElement(index))).toList();
        }

        private static String one(Value value) {
            Object given = value.as(Object.class);
            if (given instanceof Integer number) return "i32:" + number;
            if (given instanceof Long number) return "i64:" + number;
            throw new Failure("unsupported", "graalwasm cannot tell the type of the result " + value);
        }
    }
}
