// What differs from engine to engine.

package fathom;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

interface Engine {
    /** What is in force, and how it is known. */
    record Hello(String version, String backend, String tier, String checks, String evidence) {}

    /** What the guest sees of the host. Streams are open, folders are [host, guest]. */
    record World(
        List<String> args, Map<String, String> env, List<List<String>> folders,
        InputStream stdin, OutputStream stdout, OutputStream stderr) {}

    /** A compiled module, for all threads. */
    interface Program {
        /** What an instance sees, made before the clock starts; throws Failure. */
        Entered enter(World world);

        /** An instance for probing; its memories are made fresh where it imports them. */
        Probed probe();
    }

    /** A WASI of its own, for one instance. */
    interface Entered {
        /** Throws Failure. */
        Guest instantiate();
    }

    /** An instance that is a program. */
    interface Guest {
        /** Runs it and returns its exit code; throws Failure. */
        int run();

        void close();
    }

    /** An instance whose exports are called; arguments and results are "i32:5". */
    interface Probed {
        /** Throws Failure of kind "trap" with the specification's words where it traps. */
        List<String> call(String export, List<String> args);
    }

    String name();

    /** Takes strategy, backend and level from a request; throws Failure where it has no such. */
    void configure(Request request);

    Hello hello();

    /** Compiles; throws Failure of kind invalid or unsupported. */
    Program compile(Path path, byte[] bytes);

    /** A choice of the request, which must be one of `known`. */
    static String choose(String engine, String what, String chosen, List<String> known) {
        if (known.contains(chosen)) return chosen;
        throw new Failure("unsupported",
            engine + " has no " + what + " \"" + chosen + "\": use " + String.join(" or ", known));
    }

    /**
     * The kind of check, shown by address space: without 4 GiB of it behind a memory no
     * fault could tell an address outside. `make` makes a memory and loads 4 GiB behind its
     * start, which must trap.
     */
    static String[] checksProved(java.util.function.BooleanSupplier make) {
        long before = Linux.status("VmSize");
        boolean trapped = make.getAsBoolean();
        long reserved = Linux.status("VmSize") - before;
        if (!trapped) return new String[] {"none", "an access outside a memory did not trap"};
        if (before < 0 || reserved >= 4L << 20) {
            return new String[] {"unknown", "address space grew by " + reserved + " KiB with a memory"};
        }
        return new String[] {
            "explicit", "a load 4 GiB behind a memory trapped, and the memory had reserved " + reserved
                + " KiB of address space, too little for a fault to tell"};
    }
}
