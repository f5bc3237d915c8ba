/*
 * pthread.c - a program that keeps its pthread locks. It prints how often it took them; c.rs compares that
 * with what Tare counted. Compiled as C and as C++.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tare.h>

enum { THREADS = 8, ROUNDS = 2000, TURNS = 500 };

static tare_class *LOCK_shared, *LOCK_held, *LOCK_own, *LOCK_map, *LOCK_busy, *COND_turn, *COND_never,
    *stage;

static const tare_class_info classes[] = {
    {&LOCK_shared, TARE_KIND_MUTEX, "wait/synch/mutex/keep/LOCK_shared", 0, ""},
    {&LOCK_held, TARE_KIND_MUTEX, "wait/synch/mutex/keep/LOCK_held", 0, ""},
    {&LOCK_own, TARE_KIND_MUTEX, "wait/synch/mutex/keep/LOCK_own", 0, ""},
    {&LOCK_map, TARE_KIND_RW_LOCK, "wait/synch/rwlock/keep/LOCK_map", 0, ""},
    {&LOCK_busy, TARE_KIND_RW_LOCK, "wait/synch/rwlock/keep/LOCK_busy", 0, ""},
    {&COND_turn, TARE_KIND_COND, "wait/synch/cond/keep/COND_turn", 0, ""},
    {&COND_never, TARE_KIND_COND, "wait/synch/cond/keep/COND_never", 0, ""},
    {&stage, TARE_KIND_STAGE, "stage/keep/stage", 0, ""},
};

static void is(long found, long expected, const char *what, int line) {
    if (found != expected) {
        fprintf(stderr, "pthread.c:%d: %s is %ld, not %ld: %s\n", line, what, found, expected,
                tare_error_message());
        exit(1);
    }
}
#define IS(what, expected) is((long)(what), (long)(expected), #what, __LINE__)

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t map = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t together;
/* All threads use it first at the same time. */
static tare_mutex zeroed;
/* Under `shared`. */
static uint64_t visits, tries;
/* Under `map`. */
static uint64_t entries;
/* Under `zeroed`. */
static uint64_t unnamed;

static void *work(void *nothing) {
    int round;
    uint64_t taken = 0;
    struct timespec later;
    pthread_barrier_wait(&together);
    clock_gettime(CLOCK_REALTIME, &later);
    later.tv_sec += 3600;
    for (round = 0; round < ROUNDS; round++) {
        IS(tare_mutex_lock(&zeroed), TARE_OK);
        unnamed++;
        IS(tare_mutex_unlock(&zeroed), TARE_OK);
        if (tare_pthread_mutex_trylock(&shared, LOCK_shared) == 0)
            taken++;
        else if (round % 2 == 0)
            IS(tare_pthread_mutex_lock(&shared, LOCK_shared), 0);
        else
            IS(tare_pthread_mutex_timedlock(&shared, &later, LOCK_shared), 0);
        visits++;
        IS(tare_pthread_mutex_unlock(&shared), 0);
        if (round % 4 == 0) {
            IS(tare_pthread_rwlock_wrlock(&map, LOCK_map), 0);
            entries++;
        } else if (round % 4 == 1) {
            IS(tare_pthread_rwlock_timedwrlock(&map, &later, LOCK_map), 0);
            entries++;
        } else if (round % 4 == 2) {
            IS(tare_pthread_rwlock_rdlock(&map, LOCK_map), 0);
        } else {
            IS(tare_pthread_rwlock_timedrdlock(&map, &later, LOCK_map), 0);
        }
        IS(tare_pthread_rwlock_unlock(&map), 0);
    }
    IS(tare_pthread_mutex_lock(&shared, LOCK_shared), 0);
    tries += taken;
    IS(tare_pthread_mutex_unlock(&shared), 0);
    return nothing;
}

/* Two threads take turns. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;
static uint64_t turn_waits;

static void *take_turns(void *own) {
    int number = own != NULL;
    struct timespec later;
    clock_gettime(CLOCK_REALTIME, &later);
    later.tv_sec += 3600;
    IS(pthread_mutex_lock(&turn_lock), 0);
    while (turn < TURNS) {
        if (turn % 2 == number) {
            turn++;
            IS(pthread_cond_broadcast(&turn_changed), 0);
            continue;
        }
        turn_waits++;
        if (number)
            IS(tare_pthread_cond_wait(&turn_changed, &turn_lock, COND_turn), 0);
        else
            IS(tare_pthread_cond_timedwait(&turn_changed, &turn_lock, &later, COND_turn), 0);
    }
    IS(pthread_mutex_unlock(&turn_lock), 0);
    return NULL;
}

/* A thread that is cancelled while it waits has the mutex, and runs its handlers. */
static pthread_mutex_t cancel_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int is_waiting, has_cleaned;

static void clean(void *nothing) {
    (void)nothing;
    has_cleaned = 1;
    IS(pthread_mutex_unlock(&cancel_lock), 0);
}

static void *wait_for_ever(void *nothing) {
    IS(pthread_mutex_lock(&cancel_lock), 0);
    is_waiting = 1;
    pthread_cleanup_push(clean, NULL);
    for (;;)
        IS(tare_pthread_cond_wait(&never, &cancel_lock, COND_never), 0);
    pthread_cleanup_pop(0);
    return nothing;
}

static void cancel(void) {
    pthread_t thread;
    void *result = NULL;
    int waits = 0;
    IS(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
    while (!waits) {
        /* Whoever has said so has released the mutex by waiting. */
        IS(pthread_mutex_lock(&cancel_lock), 0);
        waits = is_waiting;
        IS(pthread_mutex_unlock(&cancel_lock), 0);
    }
    IS(pthread_cancel(thread), 0);
    IS(pthread_join(thread, &result), 0);
    IS(result == PTHREAD_CANCELED, 1);
    IS(has_cleaned, 1);
    IS(pthread_mutex_trylock(&cancel_lock), 0);
    IS(pthread_mutex_unlock(&cancel_lock), 0);
}

/* Locks that are not to be had. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t busy = PTHREAD_RWLOCK_INITIALIZER, open_to_all = PTHREAD_RWLOCK_INITIALIZER;

static void *fail(void *nothing) {
    struct timespec long_ago = {0, 0}, no_moment = {0, 1000000000};
    IS(tare_pthread_mutex_trylock(&held, LOCK_held), EBUSY);
    IS(tare_pthread_mutex_timedlock(&held, &long_ago, LOCK_held), ETIMEDOUT);
    IS(tare_pthread_mutex_timedlock(&held, &no_moment, LOCK_held), EINVAL);
    IS(tare_pthread_rwlock_timedrdlock(&open_to_all, &no_moment, LOCK_busy), EINVAL);
    IS(tare_pthread_rwlock_timedwrlock(&open_to_all, &no_moment, LOCK_busy), EINVAL);
    IS(tare_pthread_rwlock_tryrdlock(&busy, LOCK_busy), EBUSY);
    IS(tare_pthread_rwlock_trywrlock(&busy, LOCK_busy), EBUSY);
    IS(tare_pthread_rwlock_timedrdlock(&busy, &long_ago, LOCK_busy), ETIMEDOUT);
    IS(tare_pthread_rwlock_timedwrlock(&busy, &long_ago, LOCK_busy), ETIMEDOUT);
    return nothing;
}

static void *die(void *mutex) {
    IS(tare_pthread_mutex_lock((pthread_mutex_t *)mutex, LOCK_own), 0);
    return NULL;
}

static pthread_t run(void *(*start)(void *), void *argument) {
    pthread_t thread;
    IS(tare_thread_create(&thread, NULL, NULL, start, argument), TARE_OK);
    return thread;
}

/* Other types of mutexes. */
static void types(void) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t recursive, checked, robust, inherits;
    struct timespec long_ago = {0, 0};
    int i;
    IS(pthread_mutexattr_init(&attributes), 0);
    IS(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE), 0);
    IS(pthread_mutex_init(&recursive, &attributes), 0);
    IS(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
    IS(pthread_mutex_init(&checked, &attributes), 0);
    IS(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    IS(pthread_mutex_init(&robust, &attributes), 0);
    IS(tare_pthread_mutex_lock(&recursive, LOCK_own), 0);
    IS(tare_pthread_mutex_lock(&recursive, LOCK_own), 0);
    IS(tare_pthread_mutex_trylock(&recursive, LOCK_own), 0);
    IS(tare_pthread_mutex_unlock(&recursive), 0);
    IS(tare_pthread_mutex_unlock(&recursive), 0);
    IS(tare_pthread_mutex_unlock(&recursive), 0);
    IS(tare_pthread_mutex_unlock(&checked), EPERM);
    IS(tare_pthread_mutex_lock(&checked, LOCK_own), 0);
    IS(tare_pthread_mutex_lock(&checked, LOCK_own), EDEADLK);
    IS(tare_pthread_mutex_unlock(&checked), 0);
    IS(pthread_join(run(die, &robust), NULL), 0);
    IS(tare_pthread_mutex_lock(&robust, LOCK_own), EOWNERDEAD);
    IS(pthread_mutex_consistent(&robust), 0);
    IS(tare_pthread_mutex_unlock(&robust), 0);
    IS(pthread_join(run(die, &robust), NULL), 0);
    IS(tare_pthread_mutex_lock(&robust, LOCK_own), EOWNERDEAD);
    IS(tare_pthread_mutex_unlock(&robust), 0);
    /* Nobody has repaired it: nobody gets it, and nobody waits for it. */
    for (i = 0; i < 2; i++) {
        IS(tare_pthread_mutex_lock(&robust, LOCK_own), ENOTRECOVERABLE);
        IS(tare_pthread_mutex_timedlock(&robust, &long_ago, LOCK_own), ENOTRECOVERABLE);
    }
    IS(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED), 0);
    IS(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
    IS(pthread_mutex_init(&inherits, &attributes), 0);
    IS(tare_pthread_mutex_lock(&inherits, LOCK_own), 0);
    IS(tare_pthread_mutex_lock(&inherits, LOCK_own), EDEADLK);
    IS(tare_pthread_mutex_unlock(&inherits), 0);
    IS(pthread_mutex_destroy(&inherits), 0);
    IS(pthread_mutex_destroy(&recursive), 0);
    IS(pthread_mutex_destroy(&checked), 0);
    IS(pthread_mutex_destroy(&robust), 0);
}

static void nothing_at_all(void) {
    struct timespec now = {0, 0};
    IS(tare_pthread_mutex_lock(NULL, LOCK_own), EINVAL);
    IS(tare_pthread_mutex_trylock(NULL, LOCK_own), EINVAL);
    IS(tare_pthread_mutex_timedlock(NULL, &now, LOCK_own), EINVAL);
    IS(tare_pthread_mutex_timedlock(&shared, NULL, LOCK_own), EINVAL);
    IS(tare_pthread_mutex_unlock(NULL), EINVAL);
    IS(tare_pthread_rwlock_rdlock(NULL, LOCK_map), EINVAL);
    IS(tare_pthread_rwlock_tryrdlock(NULL, LOCK_map), EINVAL);
    IS(tare_pthread_rwlock_timedrdlock(&map, NULL, LOCK_map), EINVAL);
    IS(tare_pthread_rwlock_wrlock(NULL, LOCK_map), EINVAL);
    IS(tare_pthread_rwlock_trywrlock(NULL, LOCK_map), EINVAL);
    IS(tare_pthread_rwlock_timedwrlock(NULL, &now, LOCK_map), EINVAL);
    IS(tare_pthread_rwlock_unlock(NULL), EINVAL);
    IS(tare_pthread_cond_wait(NULL, &shared, COND_turn), EINVAL);
    IS(tare_pthread_cond_wait(&never, NULL, COND_turn), EINVAL);
    IS(tare_pthread_cond_timedwait(&never, &shared, NULL, COND_turn), EINVAL);
    /* Without a class, and with one of another kind, a lock locks all the same. */
    IS(tare_pthread_mutex_lock(&shared, NULL), 0);
    IS(pthread_mutex_trylock(&shared), EBUSY);
    IS(tare_pthread_mutex_unlock(&shared), 0);
    IS(tare_pthread_mutex_lock(&shared, stage), 0);
    IS(tare_pthread_cond_timedwait(&never, &shared, &now, NULL), ETIMEDOUT);
    IS(tare_pthread_mutex_unlock(&shared), 0);
}

int main(void) {
    pthread_t threads[THREADS];
    int i;
    /* Before Tare starts nothing is counted, and everything works. */
    nothing_at_all();
    types();
    IS(tare_register_all(classes, sizeof classes / sizeof *classes), 0);
    tare_config *config = tare_config_new();
    IS(tare_config_instrument(config, "%", TARE_ON), TARE_OK);
    IS(tare_start(config), TARE_OK);
    tare_config_free(config);

    IS(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (i = 0; i < THREADS; i++)
        threads[i] = run(work, NULL);
    for (i = 0; i < THREADS; i++)
        IS(pthread_join(threads[i], NULL), 0);
    threads[0] = run(take_turns, NULL);
    take_turns(threads);
    IS(pthread_join(threads[0], NULL), 0);
    cancel();
    IS(tare_pthread_mutex_lock(&held, LOCK_held), 0);
    IS(tare_pthread_rwlock_trywrlock(&busy, LOCK_busy), 0);
    IS(pthread_join(run(fail, NULL), NULL), 0);
    IS(tare_pthread_mutex_unlock(&held), 0);
    IS(tare_pthread_rwlock_unlock(&busy), 0);
    types();
    nothing_at_all();

    IS(visits, THREADS * ROUNDS);
    IS(entries, THREADS * ROUNDS / 2);
    IS(unnamed, THREADS * ROUNDS);
    printf("expect wait/synch/mutex/keep/LOCK_shared %" PRIu64 "\n", visits + THREADS);
    printf("expect wait/synch/rwlock/keep/LOCK_map %d\n", THREADS * ROUNDS);
    printf("expect wait/synch/cond/keep/COND_turn %" PRIu64 "\n", turn_waits);
    /* A wait that was cancelled has not ended. */
    printf("expect wait/synch/cond/keep/COND_never 0\n");
    /* Tries that fail are not counted, and waits in vain are. */
    printf("expect wait/synch/mutex/keep/LOCK_held 2\n");
    printf("expect wait/synch/rwlock/keep/LOCK_busy 3\n");
    printf("expect wait/synch/mutex/keep/LOCK_own 11\n");
    printf("expect wait/synch/mutex/tare/c_unnamed %" PRIu64 "\n", unnamed + 2);
    printf("expect wait/synch/cond/tare/c_unnamed 1\n");
    tare_stop();
    return 0;
}
