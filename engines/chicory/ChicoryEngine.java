// Chicory: an interpreter, and a compiler to the Java virtual machine's bytecode.

package fathom;

import com.dylibso.chicory.compiler.InterpreterFallback;
import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.ImportMemory;
import com.dylibso.chicory.runtime.ImportValues;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.runtime.TrapException;
import com.dylibso.chicory.runtime.WasmRuntimeException;
import com.dylibso.chicory.wasi.WasiExitException;
import com.dylibso.chicory.wasi.WasiOptions;
import com.dylibso.chicory.wasi.WasiPreview1;
import com.dylibso.chicory.wasm.ChicoryException;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.UninstantiableException;
import com.dylibso.chicory.wasm.UnlinkableException;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.Import;
import com.dylibso.chicory.wasm.types.MemoryLimits;
import com.dylibso.chicory.wasm.types.ValType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

public final class ChicoryEngine implements Engine {
    private static final List<String> BACKENDS = List.of("compiler", "mixed", "interpreter");
    // (module (memory 1) (func (export "load") (param i32) (result i32)
    //   local.get 0  i32.load))
    private static final byte[] TINY = {
        0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
        7, 8, 1, 4, 0x6c, 0x6f, 0x61, 0x64, 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
    };
    private String backend;

    @Override
    public String name() {
        return "chicory";
    }

    @Override
    public void configure(Request request) {
        Engine.choose(name(), "strategy", request.text("strategy", "trap"), List.of("trap"));
        String usual = request.text("opt", "speed").equals("none") ? "interpreter" : "compiler";
        backend = Engine.choose(name(), "backend", request.text("backend", usual), BACKENDS);
    }

    @Override
    public Hello hello() {
        String[] machine = {"none"};
        String[] checks = Engine.checksProved(() -> {
            Module module = new Module(Parser.parse(TINY));
            Instance instance = module.build(ImportValues.empty());
            machine[0] = instance.getMachine().getClass().getName();
            try {
                instance.export("load").apply(0xffff_fffcL);
                return false;
            } catch (ChicoryException error) {
                return Traps.known(error.getMessage()) != null;
            }
        });
        boolean interprets = machine[0].endsWith("InterpreterMachine");
        String tier = interprets != backend.equals("interpreter") ? "unknown"
            : interprets ? "interpreter" : backend.equals("mixed") ? "unknown" : "tiering";
        String how = interprets ? "" : "; its bytecode is compiled by the virtual machine as it sees fit"
            + (backend.equals("mixed") ? ", functions too large for a Java method are interpreted" : "");
        return new Hello(System.getProperty("fathom.version", "unknown"), backend, tier, checks[0],
            "Java " + Runtime.version() + "; code runs on " + machine[0] + how + "; " + checks[1]);
    }

    @Override
    public Program compile(Path path, byte[] bytes) {
        try {
            return new Module(Parser.parse(bytes));
        } catch (ChicoryException error) {
            throw new Failure("invalid", error.getMessage());
        } catch (RuntimeException error) {
            throw new Failure("invalid", "the module cannot be read: " + error);
        }
    }

    private static Failure failure(Throwable error, String otherwise) {
        if (error instanceof Failure failure) return failure;
        if (error instanceof StackOverflowError) return new Failure("trap", "call stack exhausted");
        if (error instanceof ArithmeticException) return new Failure("trap", "integer divide by zero");
        String known = Traps.known(error.getMessage());
        if (known != null) return new Failure("trap", known);
        boolean isTrap = error instanceof TrapException || error instanceof WasmRuntimeException;
        return new Failure(isTrap ? "trap" : otherwise, String.valueOf(error.getMessage()));
    }

    private final class Module implements Program {
        private final WasmModule module;
        private final Function<Instance, Machine> machines;

        Module(WasmModule module) {
            this.module = module;
            if (backend.equals("interpreter")) {
                machines = null;
                return;
            }
            InterpreterFallback large = backend.equals("mixed") ? InterpreterFallback.SILENT : InterpreterFallback.FAIL;
            try {
                machines = MachineFactoryCompiler.builder(module).withInterpreterFallback(large).compile();
            } catch (ChicoryException error) {
                throw new Failure("unsupported", "its compiler: " + error.getMessage());
            }
        }

        Instance build(ImportValues imports) {
            Instance.Builder builder = Instance.builder(module).withImportValues(imports).withStart(false)
                .withMemoryFactory(ByteArrayMemory::new);
            return (machines == null ? builder : builder.withMachineFactory(machines)).build();
        }

        @Override
        public Entered enter(World world) {
            WasiOptions.Builder options = WasiOptions.builder().withArguments(world.args())
                .withStdin(world.stdin(), false).withStdout(world.stdout(), false).withStderr(world.stderr(), false);
            world.env().forEach(options::withEnvironment);
            for (List<String> folder : world.folders()) options.withDirectory(folder.get(1), Path.of(folder.get(0)));
            WasiPreview1 wasi = WasiPreview1.builder().withOptions(options.build()).build();
            return () -> start(wasi);
        }

        private Guest start(WasiPreview1 wasi) {
            Instance instance;
            try {
                instance = build(ImportValues.builder().addFunction(wasi.toHostFunctions()).build());
                instance.export("_start");
            } catch (UnlinkableException error) {
                throw new Failure("link", error.getMessage());
            } catch (UninstantiableException error) {
                throw failure(error, "link");
            } catch (ChicoryException error) {
                throw failure(error, "link");
            }
            return new Running(wasi, instance);
        }

        @Override
        public Probed probe() {
            List<ImportMemory> memories = new ArrayList<>();
            module.importSection().stream().forEach((Import one) -> {
                int[] limits = Wire.limits(one.module(), one.name());
                memories.add(new ImportMemory(one.module(), one.name(),
                    new ByteArrayMemory(new MemoryLimits(limits[0], limits[1]))));
            });
            try {
                return new Calls(build(ImportValues.builder().withMemories(memories).build()));
            } catch (ChicoryException | OutOfMemoryError | NegativeArraySizeException error) {
                throw failure(error, "link");
            }
        }
    }

    /** An instance with its WASI. */
    private record Running(WasiPreview1 wasi, Instance instance) implements Guest {
        @Override
        public int run() {
            try {
                instance.export("_start").apply();
                return 0;
            } catch (WasiExitException exit) {
                return exit.exitCode();
            } catch (RuntimeException | StackOverflowError error) {
                throw failure(error, "internal");
            }
        }

        @Override
        public void close() {
            wasi.close();
        }
    }

    private record Calls(Instance instance) implements Probed {
        @Override
        public List<String> call(String export, List<String> args) {
            FunctionType type;
            try {
                type = instance.exportType(export);
            } catch (RuntimeException error) {
                // What it throws for a name that is not there is a null pointer.
                throw new Failure("link", "the module has no function " + export);
            }
            if (type.params().contains(ValType.V128) || type.returns().contains(ValType.V128)) {
                throw new Failure("unsupported", "chicory passes no vectors");
            }
            long[] given = args.stream().mapToLong(Wire::bits).toArray();
            for (int i = 0; i < given.length; i++) {
                if (Wire.type(args.get(i)).endsWith("32")) given[i] = (int) given[i];
            }
            long[] results;
            try {
                results = instance.export(export).apply(given);
            } catch (RuntimeException | StackOverflowError error) {
                throw failure(error, "internal");
            }
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < type.returns().size(); i++) texts.add(text(type.returns().get(i), results[i]));
            return texts;
        }

        private static String text(ValType type, long bits) {
            if (type.equals(ValType.I32)) return "i32:" + (int) bits;
            if (type.equals(ValType.I64)) return "i64:" + bits;
            if (type.equals(ValType.F32)) return String.format("f32:0x%08x", (int) bits);
            return String.format("f64:0x%016x", bits);
        }
    }
}
