/* threads: POSIX threads at work on one memory. Prints results that do not depend
 * on how the threads were scheduled. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 20000, NUMBERS = 400000, QUEUE = 8, ITEMS = 3000 };

static void must(int error, const char *what) {
    if (error != 0) {
        printf("%s: %s\n", what, strerror(error));
        exit(1);
    }
}

/* Starts THREADS threads with 0, 1, 2... and adds up what they return. */
static uintptr_t crew(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    uintptr_t sum = 0;
    for (uintptr_t i = 0; i < THREADS; i++) must(pthread_create(&threads[i], NULL, work, (void *)i), "create");
    for (int i = 0; i < THREADS; i++) {
        void *result;
        must(pthread_join(threads[i], &result), "join");
        sum += (uintptr_t)result;
    }
    return sum;
}

/* A counter behind a mutex, one behind an atomic, one per thread. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t guarded;
static _Atomic uint64_t counter;
static _Atomic uint8_t bytes[4];
static _Thread_local uint64_t own = 5;

static void *count(void *argument) {
    uintptr_t index = (uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        must(pthread_mutex_lock(&mutex), "lock");
        guarded += index + 1;
        must(pthread_mutex_unlock(&mutex), "unlock");
        atomic_fetch_add(&counter, 3);
        atomic_fetch_xor(&bytes[i % 4], (uint8_t)(i * (int)(index + 1)));
        own++;
    }
    return (void *)(uintptr_t)own;
}

/* A parallel sum: shares claimed by compare and exchange. */
static uint32_t *numbers;
static _Atomic uint32_t next_share;

static void *add(void *argument) {
    uint64_t sum = 0;
    (void)argument;
    for (;;) {
        uint32_t at = atomic_load(&next_share);
        do {
            if (at >= NUMBERS) return (void *)(uintptr_t)(uint32_t)(sum % 1000003);
        } while (!atomic_compare_exchange_weak(&next_share, &at, at + 1000));
        for (uint32_t i = at; i < at + 1000; i++) sum += numbers[i];
    }
}

/* A bounded queue: two conditions, makers and takers. */
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE], filled, taken, made;

static void *exchange(void *argument) {
    uintptr_t sum = 0;
    int makes = (uintptr_t)argument % 2 == 0;
    must(pthread_mutex_lock(&mutex), "lock");
    while (makes ? made < ITEMS : taken < ITEMS) {
        if (makes && filled < QUEUE) {
            queue[filled++] = ++made;
            must(pthread_cond_broadcast(&not_empty), "broadcast");
        } else if (!makes && filled > 0) {
            sum += (uintptr_t)queue[--filled];
            if (++taken == ITEMS) must(pthread_cond_broadcast(&not_empty), "broadcast");
            must(pthread_cond_signal(&not_full), "signal");
        } else if (makes) {
            must(pthread_cond_wait(&not_full, &mutex), "wait");
        } else {
            must(pthread_cond_wait(&not_empty, &mutex), "wait");
        }
    }
    /* Whoever still waits has nothing left to wait for. */
    must(pthread_cond_broadcast(&not_full), "broadcast");
    must(pthread_mutex_unlock(&mutex), "unlock");
    return (void *)sum;
}

/* Every thread must have come this far before one goes on. */
static pthread_barrier_t barrier;
static int stage[THREADS];

static void *in_step(void *argument) {
    uintptr_t index = (uintptr_t)argument, wrong = 0;
    for (int round = 1; round <= 50; round++) {
        stage[index] = round;
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < THREADS; i++) wrong += stage[i] != round;
        pthread_barrier_wait(&barrier);
    }
    return (void *)wrong;
}

/* Memory that one thread allocates and another frees; keys with destructors. */
static pthread_key_t key;
static _Atomic int destroyed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic int initialised;

static void destroy(void *value) {
    free(value);
    atomic_fetch_add(&destroyed, 1);
}

static void initialise(void) {
    atomic_fetch_add(&initialised, 1);
}

static void *allocate(void *argument) {
    uintptr_t index = (uintptr_t)argument, sum = 0;
    must(pthread_once(&once, initialise), "once");
    must(pthread_setspecific(key, malloc(100)), "key");
    for (int i = 0; i < 2000; i++) {
        size_t size = (size_t)(i * 37 + (int)index) % 3000 + 1;
        unsigned char *block = malloc(size);
        memset(block, (int)index + 1, size);
        sum += block[size - 1];
        free(block);
    }
    return (void *)sum;
}

static void waiting(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    must(pthread_mutex_lock(&mutex), "lock");
    int error = pthread_cond_timedwait(&not_empty, &mutex, &until);
    must(pthread_mutex_unlock(&mutex), "unlock");
    printf("nobody signals: %s\n", error == ETIMEDOUT ? "timed out" : "woke");
}

static void *nothing(void *argument) {
    return argument;
}

int main(void) {
    uintptr_t own_sum = crew(count);
    printf("guarded %llu, counted %llu, own %lu, main's own %llu\n", (unsigned long long)guarded,
           (unsigned long long)counter, (unsigned long)own_sum, (unsigned long long)own);
    printf("bytes %d %d %d %d\n", bytes[0], bytes[1], bytes[2], bytes[3]);

    numbers = malloc(NUMBERS * sizeof *numbers);
    for (uint32_t i = 0; i < NUMBERS; i++) numbers[i] = i * 2654435761u >> 12;
    printf("sum %lu\n", (unsigned long)crew(add) % 1000003);
    free(numbers);

    printf("exchanged %lu\n", (unsigned long)crew(exchange));

    must(pthread_barrier_init(&barrier, NULL, THREADS), "barrier");
    printf("out of step: %lu\n", (unsigned long)crew(in_step));
    must(pthread_barrier_destroy(&barrier), "barrier");

    must(pthread_key_create(&key, destroy), "key");
    uintptr_t allocated = crew(allocate);
    printf("allocated %lu, destroyed %d, initialised %d\n", (unsigned long)allocated, destroyed, initialised);

    waiting();
    uintptr_t started = 0;
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        void *result;
        must(pthread_create(&thread, NULL, nothing, (void *)1), "create");
        must(pthread_join(thread, &result), "join");
        started += (uintptr_t)result;
    }
    printf("one after another: %lu\n", (unsigned long)started);
    return 0;
}
