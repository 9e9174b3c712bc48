// Measured threads. Each is pinned to its CPU and makes, runs and drops an
// instance again and again, with a world of its own each time.
//
// All threads are warm before the first counted iteration, and all go on with
// uncounted ones until the last has its counted ones, so that each counted
// iteration meets the same company.

#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define PATH_ROOM 4096

struct crew {
    const struct json *request;
    struct world world; // but for where output goes
    const char *scratch;
    long threads, warmup, iterations;
    size_t stack_offset; // where in a page the stacks of threads begin
    bool cycle; // iterations go on with many bare instances in a row
    pthread_barrier_t all_warm;
    atomic_long finished;
};

struct worker {
    struct crew *crew;
    pthread_t thread;
    long number;
    long iteration;
    int cpu; // -1: not pinned
};

static void pin(const struct worker *worker) {
    if (worker->cpu < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(worker->cpu, &set);
    int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (error != 0) {
        fail("unsupported", "cannot pin thread %ld to CPU %d: %s", worker->number, worker->cpu, strerror(error));
    }
}

// The text of a string in the request.
static const char *text_in(const struct json *node, const char *list) {
    if (node == NULL || node->kind != JSON_STRING) fail("internal", "the request's %s holds something else", list);
    return node->text;
}

static const char **room_for(const struct json *list) {
    const char **texts = calloc(json_count(list) + 2, sizeof *texts);
    if (texts == NULL) fail("internal", "out of memory");
    return texts;
}

static size_t take_pairs(const struct json *request, const char *list, const char ***first, const char ***second) {
    const struct json *pairs = json_get(request, list);
    size_t count = 0;
    *first = room_for(pairs), *second = room_for(pairs);
    for (const struct json *pair = pairs == NULL ? NULL : pairs->first; pair != NULL; pair = pair->next) {
        if (json_count(pair) != 2) fail("internal", "the request's %s is not a list of pairs", list);
        (*first)[count] = text_in(pair->first, list);
        (*second)[count++] = text_in(pair->first->next, list);
    }
    return count;
}

static struct world world_of(const struct json *request, const char *path) {
    struct world world = {.stdin_path = json_text(request, "stdin", NULL)};
    const struct json *args = json_get(request, "args");
    const char *slash = strrchr(path, '/');
    world.args = room_for(args);
    world.args[world.arg_count++] = slash == NULL ? path : slash + 1;
    for (const struct json *arg = args == NULL ? NULL : args->first; arg != NULL; arg = arg->next) {
        world.args[world.arg_count++] = text_in(arg, "args");
    }
    world.env_count = take_pairs(request, "env", &world.env_names, &world.env_values);
    world.folder_count = take_pairs(request, "dirs", &world.folder_hosts, &world.folder_guests);
    return world;
}

static void append_cost(struct json_out *line, const char *phase, struct cost cost) {
    json_append(line, "\"%s\":{\"wall_ns\":%lu,\"cpu_ns\":%lu}", phase, cost.wall_ns, cost.cpu_ns);
}

// As many as the protocol says, one after the other; the first status that is not 0.
#define INSTANCES_PER_CYCLE 1000
static int run_cycle(void) {
    for (int i = 0; i < INSTANCES_PER_CYCLE; i++) {
        void *instance = the_engine.instantiate_bare();
        int exit_code = the_engine.run(instance);
        the_engine.teardown(instance);
        if (exit_code != 0) return exit_code;
    }
    return 0;
}

// Whether there are bare instances of this module.
static bool has_bare(void) {
    if (the_engine.instantiate_bare == NULL) return false;
    void *instance = the_engine.instantiate_bare();
    if (instance != NULL) the_engine.teardown(instance);
    return instance != NULL;
}

static void iterate(struct worker *worker, bool counted) {
    const struct crew *crew = worker->crew;
    char stdout_path[PATH_ROOM], stderr_path[PATH_ROOM];
    snprintf(stdout_path, sizeof stdout_path, "%s/stdout.%ld.%ld", crew->scratch, worker->number, worker->iteration);
    snprintf(stderr_path, sizeof stderr_path, "%s/stderr.%ld.%ld", crew->scratch, worker->number, worker->iteration);
    struct world description = crew->world;
    description.stdout_path = stdout_path, description.stderr_path = stderr_path;
    void *world = the_engine.enter(&description);

    struct cost watch = stopwatch_start(CPU_OF_THREAD);
    void *instance = the_engine.instantiate(world);
    struct cost instantiated = stopwatch_stop(CPU_OF_THREAD, watch);

    watch = stopwatch_start(CPU_OF_THREAD);
    int exit_code = the_engine.run(instance);
    struct cost ran = stopwatch_stop(CPU_OF_THREAD, watch);

    watch = stopwatch_start(CPU_OF_THREAD);
    the_engine.teardown(instance);
    struct cost torn_down = stopwatch_stop(CPU_OF_THREAD, watch);

    struct cost cycled = {0};
    if (crew->cycle) {
        watch = stopwatch_start(CPU_OF_THREAD);
        int status = run_cycle();
        cycled = stopwatch_stop(CPU_OF_THREAD, watch);
        if (exit_code == 0) exit_code = status;
    }

    struct json_out line = {0};
    json_append(&line, "{\"event\":\"iteration\",\"thread\":%ld,\"index\":%ld,\"counted\":%s,\"phases\":{",
                worker->number, worker->iteration++, counted ? "true" : "false");
    append_cost(&line, "instantiate", instantiated);
    json_append(&line, ",");
    append_cost(&line, "run", ran);
    json_append(&line, ",");
    append_cost(&line, "teardown", torn_down);
    if (crew->cycle) {
        json_append(&line, ",");
        append_cost(&line, "cycle", cycled);
    }
    json_append(&line, "},\"exit\":%d,\"stdout\":", exit_code);
    json_append_text(&line, stdout_path);
    json_append(&line, "}");
    events_send(&line);
}

// Stacks of threads begin at a page: without this their frames would lie alike in every
// process. By the round's seed, in steps that keep them aligned; the parent does the same
// to the main thread's by the size of the environment.
static size_t stack_offset(const struct json *request) {
    const struct json *seed = json_get(request, "seed");
    if (seed == NULL || seed->kind != JSON_NUMBER) return 0;
    return (strtoull(seed->text, NULL, 10) >> 32) % 4096 & ~(size_t)15;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    if (crew->stack_offset > 0) {
        char *volatile room = alloca(crew->stack_offset);
        room[0] = 0; // or nothing would be moved
    }
    pin(worker);
    if (the_engine.enter_thread != NULL) the_engine.enter_thread();
    for (long i = 0; i < crew->warmup; i++) iterate(worker, false);
    pthread_barrier_wait(&crew->all_warm);
    for (long i = 0; i < crew->iterations; i++) iterate(worker, true);
    atomic_fetch_add(&crew->finished, 1);
    while (atomic_load(&crew->finished) < crew->threads) iterate(worker, false);
    return NULL;
}

static int cpu_of(const struct json *request, long thread) {
    const struct json *cpus = json_get(request, "cpus");
    size_t count = json_count(cpus);
    if (count == 0) return -1;
    const struct json *cpu = cpus->first;
    for (size_t skip = (size_t)thread % count; skip > 0; skip--) cpu = cpu->next;
    return cpu->kind == JSON_NUMBER ? atoi(cpu->text) : -1;
}

void measure(const struct json *request, const char *path) {
    struct crew crew = {
        .request = request,
        .world = world_of(request, path),
        .scratch = json_text(request, "scratch", "."),
        .threads = json_long(request, "threads", 1),
        .warmup = json_long(request, "warmup", 0),
        .iterations = json_long(request, "iterations", 1),
        .stack_offset = stack_offset(request),
    };
    if (crew.threads < 1 || crew.threads > 4096) fail("internal", "%ld threads asked for", crew.threads);
    if (the_engine.link != NULL) the_engine.link();
    const struct json *cycle = json_get(request, "cycle");
    crew.cycle = cycle != NULL && cycle->truth && has_bare();
    struct worker *workers = calloc((size_t)crew.threads, sizeof *workers);
    pthread_barrier_init(&crew.all_warm, NULL, (unsigned)crew.threads);
    for (long i = 0; i < crew.threads; i++) {
        workers[i] = (struct worker){.crew = &crew, .number = i, .cpu = cpu_of(request, i)};
        int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (error != 0) fail("internal", "cannot start thread %ld: %s", i, strerror(error));
    }
    for (long i = 0; i < crew.threads; i++) pthread_join(workers[i].thread, NULL);
    free(workers);
}
