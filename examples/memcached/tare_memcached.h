/*
 * tare_memcached.h - Tare's instruments for memcached. It is included in front of each of memcached's files
 * (cc -include), so that its locks and threads are counted where they are. memcached-1.6.18.patch adds the
 * calls for connections and commands. scripts/memcached builds it.
 */
#ifndef TARE_MEMCACHED_H
#define TARE_MEMCACHED_H

#include <pthread.h>
#include <stddef.h>

#include <tare.h>

/* In each connection, zeroed at first. */
struct mc_connection {
    tare_session *session;
    tare_statement statement;
};

/* The instrument of what an expression of memcached's source names. */
tare_class *mc_class(int kind, const char *prefix, const char *expression);
int mc_create_thread(pthread_t *thread, const pthread_attr_t *attributes, const char *name,
                     void *(*start)(void *), void *argument);
void mc_start(void);
/* A client's connection begins, is worked for, and ends. */
void mc_connect(struct mc_connection *connection);
void mc_enter(struct mc_connection *connection);
void mc_leave(struct mc_connection *connection);
void mc_disconnect(struct mc_connection *connection);
/* A command of the text protocol; the keys that it looked up. */
void mc_begin(struct mc_connection *connection, const char *command, size_t length);
void mc_look_up(struct mc_connection *connection, int is_hit);
void mc_end(struct mc_connection *connection);

/* Found once for each place in the source. */
#define MC_CLASS(kind, prefix, expression)                                                             \
    __extension__({                                                                                    \
        static tare_class *mc_found;                                                                   \
        tare_class *mc_cls = __atomic_load_n(&mc_found, __ATOMIC_RELAXED);                             \
        if (mc_cls == NULL) {                                                                          \
            mc_cls = mc_class(kind, prefix, expression);                                               \
            __atomic_store_n(&mc_found, mc_cls, __ATOMIC_RELAXED);                                     \
        }                                                                                              \
        mc_cls;                                                                                        \
    })
#define MC_MUTEX(mutex) MC_CLASS(TARE_KIND_MUTEX, "wait/synch/mutex/memcached/", #mutex)
#define MC_COND(cond) MC_CLASS(TARE_KIND_COND, "wait/synch/cond/memcached/", #cond)

#ifndef MC_WITHOUT_MACROS
#define pthread_mutex_lock(mutex) tare_pthread_mutex_lock(mutex, MC_MUTEX(mutex))
#define pthread_mutex_trylock(mutex) tare_pthread_mutex_trylock(mutex, MC_MUTEX(mutex))
#define pthread_cond_wait(cond, mutex) tare_pthread_cond_wait(cond, mutex, MC_COND(cond))
#define pthread_cond_timedwait(cond, mutex, deadline) \
    tare_pthread_cond_timedwait(cond, mutex, deadline, MC_COND(cond))
#define pthread_create(thread, attributes, start, argument) \
    mc_create_thread(thread, attributes, #start, start, argument)
#endif

#endif /* TARE_MEMCACHED_H */
