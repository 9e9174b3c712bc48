// What Java has no word for: a thread's processor time and pinning, by the C library.

package fathom;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

final class Linux {
    static final int PROCESS = 2;
    static final int THREAD = 3;
    private static final int MASK_BYTES = 1024;
    private static final MethodHandle CLOCK = function("clock_gettime", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final MethodHandle PIN =
        function("sched_setaffinity", ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS);
    private static final int USAGE_BYTES = 144;
    private static final MethodHandle USAGE = function("getrusage", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final ThreadLocal<MemorySegment> TIME = ThreadLocal.withInitial(() -> Arena.global().allocate(16, 8));

    private Linux() {}

    private static MethodHandle function(String name, java.lang.foreign.MemoryLayout... parameters) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
            linker.defaultLookup().find(name).orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
    }

    /** Nanoseconds that this thread or process has spent on a CPU. */
    static long cpuNs(int clock) {
        try {
            MemorySegment time = TIME.get();
            int ignored = (int) CLOCK.invokeExact(clock, time);
            return time.get(ValueLayout.JAVA_LONG, 0) * 1_000_000_000L + time.get(ValueLayout.JAVA_LONG, 8);
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    /** Pins the calling thread; false where the process may not use that CPU. */
    static boolean pin(int cpu) {
        if (cpu < 0 || cpu >= MASK_BYTES * 8) return false;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, 8);
            mask.set(ValueLayout.JAVA_BYTE, cpu / 8, (byte) (1 << (cpu % 8)));
            return (int) PIN.invokeExact(0, (long) MASK_BYTES, mask) == 0;
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    /** A line "Name:  123" of /proc/self/status; -1 where there is none. */
    static long status(String name) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(name + ":")) return Long.parseLong(line.replaceAll("\\D+", " ").trim().split(" ")[0]);
            }
        } catch (IOException | NumberFormatException error) {
            return -1;
        }
        return -1;
    }

    /** What the process has used, by the names of the protocol. */
    static Map<String, Long> metrics() {
        Map<String, Long> metrics = new LinkedHashMap<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment usage = arena.allocate(USAGE_BYTES, 8);
            int ignored = (int) USAGE.invokeExact(0, usage);
            metrics.put("faults_minor", usage.get(ValueLayout.JAVA_LONG, 64));
            metrics.put("faults_major", usage.get(ValueLayout.JAVA_LONG, 72));
            metrics.put("ctx_voluntary", usage.get(ValueLayout.JAVA_LONG, 128));
            metrics.put("ctx_involuntary", usage.get(ValueLayout.JAVA_LONG, 136));
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
        for (String[] pair : new String[][] {{"rss_peak_bytes", "VmHWM"}, {"virtual_bytes", "VmPeak"}}) {
            if (status(pair[1]) >= 0) metrics.put(pair[0], status(pair[1]) * 1024);
        }
        return metrics;
    }
}
