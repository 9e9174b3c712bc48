/* What a process and all that it starts ask of the kernel: system calls, page faults, time
 * off the processor; and how often it passes functions that are probed. One file, no header,
 * no field of a kernel structure: tasks are known by their address, so that nothing has to be
 * relocated and no BTF is needed.
 *
 *  tracer ── prctl(magic) ──► tasks[tracer] = SEED     it is not traced itself
 *     └ fork ───────────────► tasks[child]  = 0        waits for execve
 *          └ execve ────────► tasks[child] |= RUNS     from here on all is counted
 *               └ fork, clone ► tasks[child] = RUNS
 *  a probed function ──► probes[tid, cookie], while it runs flights[tid, cookie]
 *  exit ──► threads[tid] = what was counted of it, and tasks[...] is gone
 *
 * What must stay true: what cannot be kept for want of room is counted in control.lost.
 *
 * listing.txt is this file compiled; crates/trace/tests/listing.rs makes and holds it. */

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static __attribute__((always_inline)) inline

enum { HASH = 1, ARRAY = 2 };
enum { SEED = 1, RUNS = 2 };
enum { BUCKETS = 40 };

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u64 (*const now_ns)(void) = (void *)5;
static u64 (*const pid_tgid)(void) = (void *)14;
static u64 (*const current_task)(void) = (void *)35;
static u64 (*const attach_cookie)(void *ctx) = (void *)174;
static long (*const read_kernel)(void *to, u32 size, const void *from) = (void *)113;

/* What the tracer says, and what was lost. */
struct control {
    u64 magic;       /* the first argument of the prctl that makes a seed */
    u64 prctl;       /* numbers of system calls on this machine */
    u64 execve;
    u64 execveat;
    u64 argument;    /* where the first argument is in the saved registers */
    u64 began_ns;    /* when the first traced process was executed */
    u64 lost_tasks;
    u64 lost_calls;
    u64 lost_threads;
};

/* A thread. Off the processor: [0] preempted, [1] waiting in a system call, [2] waiting
 * outside of one: for a page, or for what a signal or a debugger does. */
struct task {
    u64 flags;
    u64 ids;         /* process in the upper half, thread in the lower */
    u64 number;      /* the system call in flight */
    u64 entered_ns;  /* since when; 0 if there is none */
    u64 off_ns;      /* since when it is off the processor; 0 if it is not */
    u64 off_why;
    u64 first_ns;
    u64 last_ns;
    u64 faults_user;
    u64 faults_kernel;
    u64 switches[3];
    u64 waited_ns[3];
    u64 unfinished;  /* system calls that did not return, such as exit_group */
    u64 cut_ns;      /* what a call took that a signal cut short, until it is known whether */
    u64 cut_result;  /* its thread lives on: then it counts; 0 if there is none */
};

struct call_key {
    u32 tid;
    u32 number;
};

struct call {
    u64 count;
    u64 failed;
    u64 total_ns;
    u64 min_ns;
    u64 max_ns;
    u64 returned;    /* the sum of positive results */
    u64 empty;       /* results that are 0 */
    u64 buckets[BUCKETS]; /* [i]: 2^(i-1) <= ns < 2^i */
};

/* A function that is probed, by the number it was attached with. */
struct probe_key {
    u32 tid;
    u32 number;
};

enum { ENTRY_ONLY = 1 << 30 };

/* System calls that no program makes: the kernel's own code at a probed function does, on
 * x86-64; elsewhere the numbers are free. */
enum { URETPROBE = 335, UPROBE = 336 };

struct map {
    u32 type, key, value, entries;
};

SEC("maps") struct map control = {ARRAY, 4, sizeof(struct control), 1};
SEC("maps") struct map tasks = {HASH, 8, sizeof(struct task), 16384};
SEC("maps") struct map threads = {HASH, 8, sizeof(struct task), 16384};
SEC("maps") struct map calls = {HASH, sizeof(struct call_key), sizeof(struct call), 16384};
SEC("maps") struct map probes = {HASH, sizeof(struct probe_key), sizeof(struct call), 16384};
SEC("maps") struct map flights = {HASH, sizeof(struct probe_key), sizeof(u64), 16384};
SEC("maps") struct map nothing = {ARRAY, 4, sizeof(struct call), 1};

INLINE struct control *the_control(void) {
    u32 zero = 0;
    return map_lookup(&control, &zero);
}

INLINE struct task *task_of(u64 address) { return map_lookup(&tasks, &address); }

INLINE void add_task(u64 address, u64 flags) {
    struct task new = {.flags = flags};
    if (map_update(&tasks, &address, &new, 0)) {
        struct control *c = the_control();
        if (c) __sync_fetch_and_add(&c->lost_tasks, 1);
    }
}

/* 0 for 0, else one more than the logarithm to base 2. */
INLINE u32 bucket(u64 ns) {
    u32 at = 0;
    if (ns >> 32) at += 32, ns >>= 32;
    if (ns >> 16) at += 16, ns >>= 16;
    if (ns >> 8) at += 8, ns >>= 8;
    if (ns >> 4) at += 4, ns >>= 4;
    if (ns >> 2) at += 2, ns >>= 2;
    at += ns >> 1 ? 2 : ns;
    return at < BUCKETS ? at : BUCKETS - 1;
}

/* A thread of the tracer's that asks for it becomes a seed. */
INLINE void seed(u64 *ctx, u64 address) {
    struct control *c = the_control();
    u64 argument = 0;
    if (!c || c->prctl != ctx[1]) return;
    if (read_kernel(&argument, sizeof argument, (void *)(ctx[0] + c->argument))) return;
    if (argument == c->magic) add_task(address, SEED);
}

INLINE void lost_call(void) {
    struct control *c = the_control();
    if (c) __sync_fetch_and_add(&c->lost_calls, 1);
}

/* The entry of a key, made if it is not there; 0 if there is no room. */
INLINE struct call *entry_of(void *map, void *key) {
    struct call *call = map_lookup(map, key);
    if (call) return call;
    u32 zero = 0;
    struct call *empty = map_lookup(&nothing, &zero);
    if (empty) map_update(map, key, empty, 0);
    call = map_lookup(map, key);
    if (!call) lost_call();
    return call;
}

INLINE void time_call(struct call *call, u64 ns) {
    if (!call->count || ns < call->min_ns) call->min_ns = ns;
    if (ns > call->max_ns) call->max_ns = ns;
    call->count++;
    call->total_ns += ns;
    u32 at = bucket(ns);
    if (at < BUCKETS) call->buckets[at]++;
}

INLINE void count_call(struct task *t, u64 ns, s64 result) {
    struct call_key key = {.tid = (u32)t->ids, .number = (u32)t->number};
    struct call *call = entry_of(&calls, &key);
    if (!call) return;
    time_call(call, ns);
    if (result < 0 && result >= -4095) call->failed++;
    if (result > 0) call->returned += result;
    if (result == 0) call->empty++;
}

/* args: registers, number */
SEC("sys_enter") int on_enter(u64 *ctx) {
    u64 address = current_task();
    struct task *t = task_of(address);
    if (!t) {
        seed(ctx, address);
        return 0;
    }
    if (t->flags & SEED) return 0;
    if (!(t->flags & RUNS)) {
        struct control *c = the_control();
        if (!c || (ctx[1] != c->execve && ctx[1] != c->execveat)) return 0;
        t->flags |= RUNS;
        if (!c->began_ns) c->began_ns = now_ns();
    }
    if (ctx[1] == URETPROBE || ctx[1] == UPROBE) return 0;
    t->ids = pid_tgid();
    if (t->cut_ns) {
        count_call(t, t->cut_ns, t->cut_result);
        t->cut_ns = 0;
    }
    t->number = ctx[1];
    t->entered_ns = now_ns();
    if (!t->first_ns) t->first_ns = t->entered_ns;
    return 0;
}

/* args: registers, result */
SEC("sys_exit") int on_exit_of_call(u64 *ctx) {
    struct task *t = task_of(current_task());
    if (!t || !t->entered_ns) return 0;
    u64 ns = now_ns() - t->entered_ns;
    t->entered_ns = 0;
    s64 result = ctx[1];
    /* EINTR; ERESTARTSYS to ERESTART_RESTARTBLOCK: what the kernel says to itself. */
    if (result == -4 || (result <= -512 && result >= -516)) {
        t->cut_ns = ns | 1;
        t->cut_result = result;
        return 0;
    }
    count_call(t, ns, result);
    return 0;
}

/* args: whether preempted, previous, next, state of the previous */
SEC("sched_switch") int on_switch(u64 *ctx) {
    struct task *t = task_of(ctx[1]);
    if (t && t->flags & RUNS) {
        t->off_ns = now_ns();
        t->off_why = ctx[0] || !ctx[3] ? 0 : t->entered_ns ? 1 : 2;
    }
    t = task_of(ctx[2]);
    if (t && t->off_ns) {
        u64 why = t->off_why;
        if (why < 3) {
            t->switches[why]++;
            t->waited_ns[why] += now_ns() - t->off_ns;
        }
        t->off_ns = 0;
    }
    return 0;
}

/* args: parent, child */
SEC("sched_process_fork") int on_fork(u64 *ctx) {
    struct task *parent = task_of(ctx[0]);
    if (parent) add_task(ctx[1], parent->flags & RUNS);
    return 0;
}

/* args: the task that ends */
SEC("sched_process_exit") int on_end(u64 *ctx) {
    u64 address = ctx[0];
    struct task *t = task_of(address);
    if (!t) return 0;
    if (t->flags & RUNS) {
        if (t->entered_ns || t->cut_ns) t->unfinished++;
        t->ids = pid_tgid();
        t->last_ns = now_ns();
        if (map_update(&threads, &t->ids, t, 0)) {
            struct control *c = the_control();
            if (c) __sync_fetch_and_add(&c->lost_threads, 1);
        }
    }
    map_delete(&tasks, &address);
    return 0;
}

/* args: address, registers, error code */
SEC("page_fault_user") int on_fault(u64 *ctx) {
    struct task *t = task_of(current_task());
    if (t && t->flags & RUNS) t->faults_user++;
    return 0;
}

SEC("page_fault_kernel") int on_kernel_fault(u64 *ctx) {
    struct task *t = task_of(current_task());
    if (t && t->flags & RUNS) t->faults_kernel++;
    return 0;
}

/* At a function's entry. `returned` is how often it was entered; the rest is of those that
 * returned. Functions that are probed must not call themselves. */
SEC("probe") int on_probe(void *ctx) {
    struct task *t = task_of(current_task());
    if (!t || !(t->flags & RUNS)) return 0;
    u32 cookie = (u32)attach_cookie(ctx);
    struct probe_key key = {.tid = (u32)pid_tgid(), .number = cookie & ~ENTRY_ONLY};
    struct call *call = entry_of(&probes, &key);
    if (!call) return 0;
    call->returned++;
    if (cookie & ENTRY_ONLY) return 0;
    u64 now = now_ns();
    if (map_update(&flights, &key, &now, 0)) lost_call();
    return 0;
}

SEC("probe_end") int on_probe_end(void *ctx) {
    struct probe_key key = {.tid = (u32)pid_tgid(), .number = (u32)attach_cookie(ctx)};
    u64 *entered = map_lookup(&flights, &key);
    if (!entered) return 0;
    u64 ns = now_ns() - *entered;
    map_delete(&flights, &key);
    struct call *call = map_lookup(&probes, &key);
    if (call) time_call(call, ns);
    return 0;
}

SEC("license") char terms[] = "GPL";
