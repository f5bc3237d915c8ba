/*
 * bus.c - its segment's file is shortened while its threads record: it goes on, and SIGBUS is as without Tare.
 * The argument names the file; without one, nothing is shortened.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 8, FILES = 200 };

static sigjmp_buf back;
static volatile sig_atomic_t plain, informed;
static void *volatile address;
static volatile sig_atomic_t blocked;

static void on_signal(int number) {
    (void)number;
    plain++;
}

static void on_error(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    sigset_t mask;
    informed++;
    address = info->si_addr;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    blocked = sigismember(&mask, SIGBUS) * 4 + sigismember(&mask, SIGUSR1) * 2 + sigismember(&mask, SIGUSR2);
    siglongjmp(back, 1);
}

/* Opens, writes and deletes files. Odd threads block all signals. */
static void *work(void *argument) {
    sigset_t all;
    sigfillset(&all);
    if ((long)argument % 2 == 1) {
        CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
    }
    for (int i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "bus-%ld-%d", (long)argument, i);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        CHECK(file >= 0);
        CHECK(write(file, "x", 1) == 1);
        CHECK(close(file) == 0);
        CHECK(unlink(name) == 0);
    }
    return NULL;
}

static void work_on_threads(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

/* The program's own file is shortened: its own handler is called, as it asked. */
static void fail(int flags) {
    struct sigaction action = {.sa_sigaction = on_error, .sa_flags = SA_SIGINFO | flags};
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK(sigaction(SIGBUS, &action, NULL) == 0);
    int file = open("bus-own", O_CREAT | O_RDWR | O_TRUNC, 0600);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(page != MAP_FAILED);
    page[0] = 1;
    CHECK(ftruncate(file, 0) == 0);
    sig_atomic_t before = informed;
    if (sigsetjmp(back, 1) == 0) {
        page[100] = 1;
        CHECK(!"reached");
    }
    CHECK(informed == before + 1);
    CHECK(address == page + 100);
    CHECK(blocked == (flags & SA_NODEFER ? 2 : 6));
    CHECK(munmap(page, 4096) == 0 && close(file) == 0 && unlink("bus-own") == 0);
}

/* How a child ends that the kernel or a process sends SIGBUS. */
static int ending(void (*act)(void)) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static void send_default(void) {
    CHECK(signal(SIGBUS, SIG_DFL) != SIG_ERR);
    raise(SIGBUS);
}

static void send_ignored(void) {
    CHECK(signal(SIGBUS, SIG_IGN) != SIG_ERR);
    raise(SIGBUS);
}

static void fail_twice(void) {
    fail(SA_RESETHAND);
    struct sigaction now;
    CHECK(sigaction(SIGBUS, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    raise(SIGBUS);
}

/* As handlers that report a crash: the default action ends the process within the handler. */
static void end_in_handler(int number) {
    sigset_t own;
    CHECK(signal(number, SIG_DFL) != SIG_ERR);
    sigemptyset(&own);
    sigaddset(&own, number);
    CHECK(sigprocmask(SIG_UNBLOCK, &own, NULL) == 0);
    raise(number);
    _exit(0);
}

static void send_handled(void) {
    CHECK(signal(SIGBUS, end_in_handler) != SIG_ERR);
    raise(SIGBUS);
}

/* The handler of another signal, which blocks all others. */
static void on_other(int number) {
    (void)number;
    work(NULL);
}

int main(int count, char **arguments) {
    struct sigaction now;
    CHECK(sigaction(SIGBUS, NULL, &now) == 0);
    CHECK(now.sa_handler == SIG_DFL && now.sa_flags == 0);
    work(NULL);
    CHECK(signal(SIGBUS, on_signal) == SIG_DFL);
    struct sigaction other = {.sa_handler = on_other};
    sigfillset(&other.sa_mask);
    CHECK(sigaction(SIGUSR1, &other, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        if (i > 0 && count > 1) {
            CHECK(truncate(arguments[1], i == 1 ? 1 << 20 : 0) == 0);
        }
        CHECK(raise(SIGUSR1) == 0);
        work_on_threads();
        fail(0);
        fail(SA_NODEFER);
        CHECK(sigaction(SIGBUS, NULL, &now) == 0);
        CHECK(now.sa_sigaction == on_error && now.sa_flags & SA_NODEFER && sigismember(&now.sa_mask, SIGUSR1));
        CHECK(signal(SIGBUS, on_signal) == (void (*)(int))on_error);
        CHECK(raise(SIGBUS) == 0 && plain == i + 1);
        CHECK(ending(send_default) == SIGBUS);
        CHECK(ending(send_handled) == SIGBUS);
        CHECK(ending(send_ignored) == -1);
        CHECK(ending(fail_twice) == SIGBUS);
    }
    puts("done");
    return 0;
}
