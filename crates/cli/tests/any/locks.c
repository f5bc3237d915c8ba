/*
 * locks.c - what programs do with mutexes, read-write locks and conditions. Each function that takes a lock makes
 * one call of the C library, so the test knows how often each name occurs. This program checks that nothing
 * changes for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* The mutex's status; not a tail call. */
#define LOCKS(name, call)                                                                                      \
    static __attribute__((noinline)) int name(void *lock) {                                                    \
        int status = call;                                                                                     \
        __asm__ volatile("" ::: "memory");                                                                     \
        return status;                                                                                         \
    }

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 10 * 1000 * 1000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static struct timespec limit;
static clockid_t clock_of_limit;

LOCKS(take_early, pthread_mutex_lock(lock))
LOCKS(take_free, pthread_mutex_lock(lock))
LOCKS(take_often, pthread_mutex_lock(lock))
LOCKS(take_shared, pthread_mutex_lock(lock))
LOCKS(take_held, pthread_mutex_lock(lock))
LOCKS(take_kinds, pthread_mutex_lock(lock))
LOCKS(take_robust, pthread_mutex_lock(lock))
LOCKS(take_in_handler, pthread_mutex_lock(lock))
LOCKS(take_in_destructor, pthread_mutex_lock(lock))
LOCKS(take_at_fork, pthread_mutex_lock(lock))
LOCKS(take_in_child, pthread_mutex_lock(lock))
LOCKS(take_in_thread, pthread_mutex_lock(lock))
LOCKS(try_mutex, pthread_mutex_trylock(lock))
LOCKS(take_until, pthread_mutex_timedlock(lock, &limit))
LOCKS(take_by_clock, pthread_mutex_clocklock(lock, clock_of_limit, &limit))
LOCKS(read_free, pthread_rwlock_rdlock(lock))
LOCKS(read_held, pthread_rwlock_rdlock(lock))
LOCKS(read_until, pthread_rwlock_timedrdlock(lock, &limit))
LOCKS(read_by_clock, pthread_rwlock_clockrdlock(lock, clock_of_limit, &limit))
LOCKS(write_free, pthread_rwlock_wrlock(lock))
LOCKS(write_until, pthread_rwlock_timedwrlock(lock, &limit))
LOCKS(write_by_clock, pthread_rwlock_clockwrlock(lock, clock_of_limit, &limit))
LOCKS(try_read, pthread_rwlock_tryrdlock(lock))
LOCKS(try_write, pthread_rwlock_trywrlock(lock))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static __attribute__((noinline)) int wait_cond(void) {
    int status = pthread_cond_wait(&cond, &mutex);
    __asm__ volatile("" ::: "memory");
    return status;
}

static __attribute__((noinline)) int wait_until(void) {
    int status = pthread_cond_timedwait(&cond, &mutex, &limit);
    __asm__ volatile("" ::: "memory");
    return status;
}

static __attribute__((noinline)) int wait_by_clock(void) {
    int status = pthread_cond_clockwait(&cond, &mutex, clock_of_limit, &limit);
    __asm__ volatile("" ::: "memory");
    return status;
}

static __attribute__((noinline)) int wait_for_cancel(void) {
    int status = pthread_cond_wait(&cond, &mutex);
    __asm__ volatile("" ::: "memory");
    return status;
}

static int unlock(void *lock) { return pthread_mutex_unlock(lock); }

/* Before main. */
__attribute__((constructor)) static void begin(void) { CHECK(take_early(&mutex) == 0 && unlock(&mutex) == 0); }

/* Waits until a thread of this process sleeps. */
static void wait_for_sleep(volatile pid_t *thread) {
    for (;;) {
        char path[64], text[512] = {0};
        if (*thread != 0) {
            snprintf(path, sizeof path, "/proc/self/task/%d/stat", *thread);
            FILE *file = fopen(path, "r");
            CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0 && fclose(file) == 0);
            if (strstr(text, ") S ") != NULL) {
                return;
            }
        }
        sched_yield();
    }
}

static volatile pid_t sleeper;

static void *take_held_mutex(void *unused) {
    sleeper = (pid_t)syscall(SYS_gettid);
    CHECK(take_held(&mutex) == 0 && unlock(&mutex) == 0);
    return unused;
}

static void *read_held_lock(void *unused) {
    sleeper = (pid_t)syscall(SYS_gettid);
    CHECK(read_held(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    return unused;
}

static void *wait_for_condition(void *woken) {
    CHECK(take_in_thread(&mutex) == 0);
    sleeper = (pid_t)syscall(SYS_gettid);
    while (!*(volatile int *)woken) {
        CHECK(wait_cond() == 0);
    }
    CHECK(unlock(&mutex) == 0);
    return woken;
}

static void unlock_cancelled(void *lock) {
    /* The mutex is taken again. */
    CHECK(pthread_mutex_trylock(lock) == EBUSY && unlock(lock) == 0);
}

static void *be_cancelled(void *unused) {
    CHECK(take_in_thread(&mutex) == 0);
    pthread_cleanup_push(unlock_cancelled, &mutex);
    sleeper = (pid_t)syscall(SYS_gettid);
    for (;;) {
        wait_for_cancel();
    }
    pthread_cleanup_pop(0);
    return unused;
}

static pthread_t start_sleeper(void *(*body)(void *), void *argument) {
    pthread_t thread;
    sleeper = 0;
    CHECK(pthread_create(&thread, NULL, body, argument) == 0);
    wait_for_sleep(&sleeper);
    return thread;
}

static void join(pthread_t thread, void *expected) {
    void *result;
    CHECK(pthread_join(thread, &result) == 0 && result == expected);
}

/* Waits whose number is known. */
static void wait_for_each(void) {
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        pthread_t thread = start_sleeper(take_held_mutex, NULL);
        CHECK(unlock(&mutex) == 0);
        join(thread, NULL);
    }
    CHECK(write_free(&rwlock) == 0);
    pthread_t thread = start_sleeper(read_held_lock, NULL);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    join(thread, NULL);

    int woken = 0;
    thread = start_sleeper(wait_for_condition, &woken);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    woken = 1;
    CHECK(pthread_cond_signal(&cond) == 0 && unlock(&mutex) == 0);
    join(thread, &woken);

    thread = start_sleeper(be_cancelled, NULL);
    CHECK(pthread_cancel(thread) == 0);
    join(thread, PTHREAD_CANCELED);
}

static void reach_limits(void) {
    CHECK(take_free(&mutex) == 0);
    for (int i = 0; i < 2; i++) {
        clock_of_limit = i == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        limit = soon(clock_of_limit);
        CHECK(take_by_clock(&mutex) == ETIMEDOUT);
        limit = soon(clock_of_limit);
        CHECK(wait_by_clock() == ETIMEDOUT);
    }
    limit = soon(CLOCK_REALTIME);
    CHECK(take_until(&mutex) == ETIMEDOUT && try_mutex(&mutex) == EBUSY);
    limit = soon(CLOCK_REALTIME);
    CHECK(wait_until() == ETIMEDOUT && unlock(&mutex) == 0);
    /* Its time is over, but it is free. */
    CHECK(take_until(&mutex) == 0 && unlock(&mutex) == 0);
    CHECK(try_mutex(&mutex) == 0 && unlock(&mutex) == 0);
    /* An error of the C library: the lock is free. */
    clock_of_limit = CLOCK_PROCESS_CPUTIME_ID;
    CHECK(take_by_clock(&mutex) == EINVAL && read_by_clock(&rwlock) == EINVAL);

    clock_of_limit = CLOCK_MONOTONIC;
    CHECK(read_free(&rwlock) == 0 && try_read(&rwlock) == 0 && try_write(&rwlock) == EBUSY);
    limit = soon(CLOCK_REALTIME);
    CHECK(write_until(&rwlock) == ETIMEDOUT && read_until(&rwlock) == 0);
    limit = soon(CLOCK_MONOTONIC);
    CHECK(write_by_clock(&rwlock) == ETIMEDOUT && read_by_clock(&rwlock) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    }
    CHECK(try_write(&rwlock) == 0);
    CHECK(read_free(&rwlock) == EDEADLK && write_free(&rwlock) == EDEADLK && try_read(&rwlock) == EBUSY);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    limit.tv_nsec = 1000000000;
    CHECK(read_until(&rwlock) == EINVAL && write_until(&rwlock) == EINVAL);
    CHECK(take_until(&mutex) == 0 && unlock(&mutex) == 0);
}

static void *die_with(void *lock) {
    CHECK(take_robust(lock) == 0);
    return NULL;
}

static void die_in_thread(void *lock) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, die_with, lock) == 0);
    join(thread, NULL);
}

static void take_all_kinds(void) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t recursive, checking, robust, inheriting;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&recursive, &attributes) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(take_kinds(&recursive) == 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(unlock(&recursive) == 0);
    }
    CHECK(unlock(&recursive) == EPERM);

    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&checking, &attributes) == 0);
    CHECK(take_kinds(&checking) == 0 && take_kinds(&checking) == EDEADLK && try_mutex(&checking) == EBUSY);
    limit = soon(CLOCK_REALTIME);
    CHECK(take_until(&checking) == EDEADLK && unlock(&checking) == 0);

    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&inheriting, &attributes) == 0);
    CHECK(take_kinds(&inheriting) == 0 && take_kinds(&inheriting) == EDEADLK && unlock(&inheriting) == 0);

    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
        CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
        CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
        CHECK(pthread_mutex_init(&robust, &attributes) == 0);
        die_in_thread(&robust);
        CHECK(take_robust(&robust) == EOWNERDEAD && pthread_mutex_consistent(&robust) == 0);
        CHECK(unlock(&robust) == 0);
        die_in_thread(&robust);
        CHECK(try_mutex(&robust) == EOWNERDEAD && unlock(&robust) == 0);
        CHECK(take_robust(&robust) == ENOTRECOVERABLE && try_mutex(&robust) == ENOTRECOVERABLE);
        CHECK(pthread_mutex_destroy(&robust) == 0);
    }
}

/* A mutex that two processes take. */
static void share(void) {
    struct {
        pthread_mutex_t mutex;
        long count;
    } *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;
    CHECK(shared != MAP_FAILED && pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&shared->mutex, &attributes) == 0);
    pid_t child = fork();
    for (int i = 0; i < 20000; i++) {
        int status = (child == 0 ? take_in_child : take_shared)(&shared->mutex);
        if (status == EOWNERDEAD) {
            CHECK(pthread_mutex_consistent(&shared->mutex) == 0);
        } else {
            CHECK(status == 0);
        }
        shared->count++;
        if (child == 0 && i == 19999) {
            _exit(0); /* Holds it. */
        }
        CHECK(unlock(&shared->mutex) == 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    status = take_robust(&shared->mutex);
    if (status == EOWNERDEAD) {
        CHECK(pthread_mutex_consistent(&shared->mutex) == 0);
    }
    CHECK(shared->count == 40000 && unlock(&shared->mutex) == 0);
}

static long counter;

static void *count(void *unused) {
    for (int i = 0; i < 20000; i++) {
        CHECK(take_shared(&other) == 0);
        counter++;
        CHECK(unlock(&other) == 0);
    }
    return unused;
}

static pthread_mutex_t of_handler = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;
static pthread_key_t key;

static void handle(int number) {
    int before = errno;
    (void)number;
    CHECK(take_in_handler(&of_handler) == 0 && unlock(&of_handler) == 0);
    handled = handled + 1;
    errno = before;
}

static void destroy(void *round) {
    CHECK(take_in_destructor(&of_handler) == 0 && unlock(&of_handler) == 0);
    if ((long)round < 3) {
        CHECK(pthread_setspecific(key, (void *)((long)round + 1)) == 0);
    }
}

static void *leave(void *unused) {
    CHECK(pthread_setspecific(key, (void *)1) == 0);
    return unused;
}

/* Signals interrupt the program and Tare anywhere. */
static void interrupt(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handle};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigset_t alarm;
    long rounds = 0;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    /* In the first thread only: the handler does not wait for itself. */
    CHECK(sigemptyset(&alarm) == 0 && sigaddset(&alarm, SIGALRM) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &alarm, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    }
    CHECK(pthread_sigmask(SIG_UNBLOCK, &alarm, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    count(NULL);
    while (handled < 50) {
        free(malloc(100));
        CHECK(take_often(&mutex) == 0 && unlock(&mutex) == 0);
        rounds++;
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        join(threads[i], NULL);
    }
    CHECK(counter == (THREADS + 1) * 20000);
    printf("%ld in handlers\n%ld rounds\n", (long)handled, rounds);
}

static void before_fork(void) { CHECK(take_at_fork(&of_handler) == 0); }
static void after_fork(void) { CHECK(unlock(&of_handler) == 0); }

static void *fork_child(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        CHECK(take_in_child(&mutex) == 0 && unlock(&mutex) == 0);
        free(malloc(100000));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    /* It serves from now on: a fork is not its way into the background. */
    CHECK(usleep(1) == 0);
    for (int i = 0; i < 1000; i++) {
        errno = 77;
        CHECK(take_free(&other) == 0 && unlock(&other) == 0 && errno == 77);
    }
    wait_for_each();
    reach_limits();
    take_all_kinds();
    share();
    interrupt();
    CHECK(pthread_key_create(&key, destroy) == 0 && pthread_create(&thread, NULL, leave, NULL) == 0);
    join(thread, NULL);
    CHECK(pthread_atfork(before_fork, after_fork, after_fork) == 0);
    CHECK(pthread_create(&thread, NULL, fork_child, NULL) == 0);
    join(thread, NULL);
    void *library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library != NULL && dlclose(library) == 0);
    puts("done");
    return 0;
}
