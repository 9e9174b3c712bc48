// A measured thread: pinned to its CPU, it makes an instance, runs `_start` and lets
// the instance go, again and again, and sends each iteration's costs.
//
// All threads are warm before the first counted iteration, and all go on with
// uncounted ones until the last has its counted ones.

package fathom;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

final class Worker implements Runnable {
    private final Request request;
    private final Events events;
    private final Engine.Program program;
    private final int thread;
    private final CyclicBarrier warm;
    private final AtomicInteger finished;
    private final List<String> args = new ArrayList<>();
    private final Map<String, String> env = new LinkedHashMap<>();

    Worker(Request request, Events events, Engine.Program program, int thread, CyclicBarrier warm, AtomicInteger finished) {
        this.request = request;
        this.events = events;
        this.program = program;
        this.thread = thread;
        this.warm = warm;
        this.finished = finished;
        args.add(Path.of(request.text("module", "")).getFileName().toString());
        args.addAll(request.texts("args"));
        for (List<String> pair : request.pairs("env")) env.put(pair.get(0), pair.get(1));
    }

    @Override
    public void run() {
        try {
            measure();
        } catch (Throwable error) {
            events.error(Failure.of(error));
            Runtime.getRuntime().halt(1);
        }
    }

    private void measure() throws Exception {
        pin();
        int index = 0;
        while (index < request.count("warmup")) iterate(index++, false);
        warm.await();
        for (int end = index + request.count("iterations"); index < end;) iterate(index++, true);
        finished.incrementAndGet();
        while (finished.get() < request.count("threads")) iterate(index++, false);
    }

    private void pin() {
        List<Integer> cpus = request.cpus();
        if (cpus.isEmpty()) return;
        int cpu = cpus.get(thread % cpus.size());
        if (!Linux.pin(cpu)) throw new Failure("unsupported", "cannot pin thread " + thread + " to CPU " + cpu);
    }

    /** One iteration: instantiate, run, tear down. Files are opened, and WASI is made, before the clock starts. */
    private void iterate(int index, boolean counted) throws IOException {
        for (List<String> folder : request.pairs("dirs")) {
            if (!Files.isDirectory(Path.of(folder.get(0)))) throw new Failure("io", "cannot open the folder " + folder.get(0));
        }
        String stdout = Path.of(request.text("scratch", ""), "stdout." + thread + "." + index).toString();
        try (InputStream in = open(request.text("stdin", "/dev/null"));
             OutputStream out = create(stdout);
             OutputStream err = create(stdout.replace("stdout." + thread, "stderr." + thread))) {
            Engine.World world = new Engine.World(args, env, request.pairs("dirs"), in, out, err);
            Engine.Entered entered = program.enter(world);
            var made = Runner.Timed.of(Linux.THREAD, entered::instantiate);
            var ran = Runner.Timed.of(Linux.THREAD, () -> made.value().run());
            var gone = Runner.Timed.of(Linux.THREAD, () -> {
                made.value().close();
                // The only way the machine has to give an instance's memory back at once.
                System.gc();
                return null;
            });
            Map<String, Events.Cost> phases = new LinkedHashMap<>();
            phases.put("instantiate", made.cost());
            phases.put("run", ran.cost());
            phases.put("teardown", gone.cost());
            out.flush();
            events.iteration(thread, index, counted, phases, ran.value(), stdout);
        }
    }

    private static InputStream open(String path) {
        try {
            return new FileInputStream(path);
        } catch (IOException error) {
            throw new Failure("io", "cannot read " + path);
        }
    }

    private static OutputStream create(String path) {
        try {
            return new FileOutputStream(path);
        } catch (IOException error) {
            throw new Failure("io", "cannot write " + path);
        }
    }
}
