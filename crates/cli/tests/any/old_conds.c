/*
 * old_conds.c - a program that was linked before 2002: its conditions are of the C library's first version, which
 * has the same names. A wait in one version is never woken in the other.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "check.h"

__asm__(".symver pthread_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal, pthread_cond_signal@GLIBC_2.2.5");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* All zero in both versions. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static __attribute__((noinline)) void wait_for_turn(int own) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    while (turn != own) {
        CHECK(pthread_cond_wait(&changed, &mutex) == 0);
    }
    turn = !own;
    CHECK(pthread_cond_signal(&changed) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void *play(void *unused) {
    for (int i = 0; i < 1000; i++) {
        wait_for_turn(1);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, play, NULL) == 0);
    for (int i = 0; i < 1000; i++) {
        wait_for_turn(0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    puts("done");
    return 0;
}
