/*
 * misuse.c - everything that a host should not do, and that must not stop it. Compiled as C and as
 * C++ by c.rs.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tare.h>

static void is(long found, long expected, const char *what, int line) {
    if (found != expected) {
        fprintf(stderr, "misuse.c:%d: %s is %ld, not %ld: %s\n", line, what, found, expected,
                tare_error_message());
        exit(1);
    }
}
#define IS(what, expected) is((long)(what), (long)(expected), #what, __LINE__)

static void *answer(void *argument) {
    return argument;
}

static void *enter(void *session) {
    IS(tare_session_enter((tare_session *)session), TARE_BUSY);
    IS(tare_session_leave((tare_session *)session), TARE_NOT_HELD);
    return NULL;
}

/* Every function with nothing at all. */
static void nothing(void) {
    char text[4];
    IS(tare_config_segment(NULL, "x"), TARE_NULL);
    IS(tare_config_instrument(NULL, NULL, 7), TARE_NULL);
    IS(tare_config_consumer(NULL, NULL, 1), TARE_NULL);
    IS(tare_config_lock_timing(NULL, 1), TARE_NULL);
    IS(tare_config_memory_limit(NULL, 1), TARE_NULL);
    IS(tare_config_option(NULL, "digests_size", "1"), TARE_NULL);
    IS(tare_config_limit(NULL, NULL, 1), TARE_NULL);
    tare_config_free(NULL);
    tare_config *config = tare_config_new();
    IS(tare_config_option(config, "performance-schema-digests-size", "200"), 0);
    IS(tare_config_option(config, "performance_schema_digests_size", "many"), TARE_INVALID);
    IS(tare_config_option(config, "digest_size", "200"), TARE_INVALID);
    IS(tare_config_option(config, NULL, "200"), TARE_NULL);
    tare_config_free(config);
    IS(tare_error_define(1146, NULL, NULL), TARE_NULL);
    IS(tare_register(TARE_KIND_MUTEX, NULL, 0, NULL) == NULL, 1);
    IS(tare_register_all(NULL, 3), 3);
    IS(tare_metric_register(TARE_METRIC_COUNTER, NULL, NULL, 0, NULL) == NULL, 1);
    tare_metric_add(NULL, 1);
    tare_metric_set(NULL, 1);
    IS(tare_metric_is_enabled(NULL), 0);
    IS(tare_metrics_act(TARE_METRICS_ENABLE, NULL), TARE_NULL);
    IS(tare_metrics_act(9, "all"), TARE_INVALID);
    IS(tare_metrics_act(TARE_METRICS_ENABLE, "nothing"), TARE_INVALID);
    IS(tare_mutex_init(NULL, NULL), TARE_NULL);
    IS(tare_mutex_lock(NULL), TARE_NULL);
    IS(tare_mutex_trylock(NULL), TARE_NULL);
    IS(tare_mutex_timedlock(NULL, NULL), TARE_NULL);
    IS(tare_mutex_unlock(NULL), TARE_NULL);
    IS(tare_mutex_destroy(NULL), TARE_NULL);
    IS(tare_rwlock_init(NULL, NULL), TARE_NULL);
    IS(tare_rwlock_rdlock(NULL), TARE_NULL);
    IS(tare_rwlock_tryrdlock(NULL), TARE_NULL);
    IS(tare_rwlock_rdunlock(NULL), TARE_NULL);
    IS(tare_rwlock_wrlock(NULL), TARE_NULL);
    IS(tare_rwlock_trywrlock(NULL), TARE_NULL);
    IS(tare_rwlock_wrunlock(NULL), TARE_NULL);
    IS(tare_rwlock_destroy(NULL), TARE_NULL);
    IS(tare_cond_init(NULL, NULL), TARE_NULL);
    IS(tare_cond_wait(NULL, NULL), TARE_NULL);
    IS(tare_cond_timedwait(NULL, NULL, NULL), TARE_NULL);
    IS(tare_cond_signal(NULL), TARE_NULL);
    IS(tare_cond_broadcast(NULL), TARE_NULL);
    IS(tare_cond_destroy(NULL), TARE_NULL);
    tare_wait_begin(NULL, NULL, TARE_OP_READ);
    tare_idle_begin(NULL, NULL);
    tare_wait_end(NULL, 1);
    IS(tare_file_open(NULL, NULL) == NULL, 1);
    tare_file_begin(NULL, NULL, TARE_OP_READ);
    tare_file_close(NULL);
    IS(tare_socket_open(NULL, -1) == NULL, 1);
    tare_socket_begin(NULL, NULL, TARE_OP_RECV);
    tare_socket_close(NULL);
    tare_stage_set(NULL);
    tare_stage_end();
    tare_stage_progress(2, 1);
    tare_statement_begin(NULL, NULL);
    tare_statement_refine(NULL, NULL);
    tare_statement_text(NULL, NULL, 5);
    tare_statement_prepared(NULL, NULL, 5, NULL);
    tare_statement_shape(NULL, NULL, NULL, 5);
    tare_statement_schema(NULL, NULL);
    tare_statement_set(NULL, 99, 1);
    tare_statement_add(NULL, -1, 1);
    tare_statement_error(NULL, 1, NULL, NULL);
    IS(tare_statement_is_recorded(NULL), 0);
    tare_statement_end(NULL);
    IS(tare_digest_of(NULL, NULL, 0), TARE_NULL);
    IS(tare_digest_text("SELECT 1", 8, NULL, 5), 0);
    IS(tare_digest_text("SELECT 1", 8, text, 0), 0);
    IS(tare_digest_text("SELECT 1", 8, text, sizeof text), 0);
    tare_transaction_begin(NULL, NULL, 9, 99);
    tare_transaction_id(NULL, 1);
    tare_transaction_savepoint(NULL);
    tare_transaction_rollback_to(NULL);
    tare_transaction_release(NULL);
    tare_transaction_commit(NULL);
    tare_transaction_rollback(NULL);
    tare_memory_allocated(NULL, 1);
    tare_memory_freed(NULL, 1);
    IS(tare_thread_create(NULL, NULL, NULL, answer, NULL), TARE_NULL);
    tare_thread_register(NULL);
    tare_thread_set_account(NULL, NULL);
    tare_thread_set_db(NULL);
    tare_thread_set_state(NULL);
    tare_thread_set_info("\xff\xfe");
    tare_thread_set_attributes(NULL);
    tare_thread_set_command(12345);
    tare_thread_set_connection_type(-1);
    tare_thread_set_os_id(1);
    tare_thread_set_processlist_id(1);
    tare_error_raised(1);
    tare_error_handled(1);
    IS(tare_session_new(NULL) == NULL, 1);
    IS(tare_session_enter(NULL), TARE_NULL);
    IS(tare_session_leave(NULL), TARE_NULL);
    IS(tare_session_free(NULL), TARE_OK);
}

/* Objects without a class, without initialisation, in the wrong order. */
static void wrong(void) {
    tare_mutex mutex;
    tare_rwlock rwlock;
    tare_cond cond;
    tare_wait wait;
    tare_statement statement;
    tare_transaction transaction;
    tare_class *stage = tare_register(TARE_KIND_STAGE, "stage/misuse/stage", TARE_ENABLED, "x");
    struct timespec soon, long_ago = {-1, 0}, no_moment = {1, 1000000000};

    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += soon.tv_nsec / 999000000;
    soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;

    memset(&mutex, 0x5a, sizeof mutex);
    memset(&rwlock, 0x5a, sizeof rwlock);
    memset(&cond, 0xff, sizeof cond);
    memset(&wait, 0x5a, sizeof wait);
    memset(&statement, 0x5a, sizeof statement);
    memset(&transaction, 0x5a, sizeof transaction);
    IS(tare_mutex_lock(&mutex), TARE_INVALID);
    IS(tare_rwlock_wrlock(&rwlock), TARE_INVALID);
    IS(tare_cond_signal(&cond), TARE_INVALID);
    IS(tare_mutex_destroy(&mutex), TARE_INVALID);
    tare_wait_end(&wait, 1);
    tare_statement_end(&statement);
    tare_transaction_commit(&transaction);

    /* A class of another kind is refused; the lock locks all the same. */
    IS(tare_mutex_init(&mutex, stage), TARE_INVALID);
    IS(strstr(tare_error_message(), "stage/misuse/stage") != NULL, 1);
    IS(tare_rwlock_init(&rwlock, NULL), TARE_OK);
    IS(tare_cond_init(&cond, NULL), TARE_OK);
    IS(tare_mutex_unlock(&mutex), TARE_NOT_HELD);
    IS(tare_cond_wait(&cond, &mutex), TARE_NOT_HELD);
    IS(tare_mutex_lock(&mutex), TARE_OK);
    IS(tare_mutex_trylock(&mutex), TARE_BUSY);
    IS(tare_mutex_timedlock(&mutex, &soon), TARE_TIMEOUT);
    IS(tare_mutex_timedlock(&mutex, &no_moment), TARE_INVALID);
    IS(tare_mutex_timedlock(&mutex, NULL), TARE_NULL);
    IS(tare_mutex_destroy(&mutex), TARE_BUSY);
    IS(tare_cond_timedwait(&cond, &mutex, &soon), TARE_TIMEOUT);
    IS(tare_cond_timedwait(&cond, &mutex, &long_ago), TARE_TIMEOUT);
    IS(tare_cond_timedwait(&cond, &mutex, &no_moment), TARE_INVALID);
    IS(tare_cond_timedwait(&cond, &mutex, NULL), TARE_NULL);
    IS(tare_cond_broadcast(&cond), TARE_OK);
    IS(tare_mutex_unlock(&mutex), TARE_OK);
    IS(tare_mutex_destroy(&mutex), TARE_OK);
    IS(tare_mutex_destroy(&mutex), TARE_INVALID);
    IS(tare_rwlock_rdlock(&rwlock), TARE_OK);
    IS(tare_rwlock_tryrdlock(&rwlock), TARE_OK);
    IS(tare_rwlock_trywrlock(&rwlock), TARE_BUSY);
    IS(tare_rwlock_wrunlock(&rwlock), TARE_NOT_HELD);
    IS(tare_rwlock_rdunlock(&rwlock), TARE_OK);
    IS(tare_rwlock_rdunlock(&rwlock), TARE_OK);
    IS(tare_rwlock_rdunlock(&rwlock), TARE_NOT_HELD);
    IS(tare_rwlock_wrlock(&rwlock), TARE_OK);
    IS(tare_rwlock_tryrdlock(&rwlock), TARE_BUSY);
    IS(tare_rwlock_rdunlock(&rwlock), TARE_NOT_HELD);
    IS(tare_rwlock_wrunlock(&rwlock), TARE_OK);
    IS(tare_rwlock_destroy(&rwlock), TARE_OK);
    IS(tare_cond_destroy(&cond), TARE_OK);

    /* Begun with what does not fit, ended twice, never ended. */
    tare_wait_begin(&wait, stage, TARE_OP_READ);
    tare_wait_end(&wait, 1);
    tare_wait_end(&wait, 1);
    tare_idle_begin(&wait, stage);
    tare_statement_begin(&statement, stage);
    IS(tare_statement_is_recorded(&statement), 0);
    tare_statement_end(&statement);
    tare_transaction_begin(&transaction, stage, 0, 0);
    tare_transaction_commit(&transaction);
    tare_statement_begin(&statement, tare_register(TARE_KIND_STATEMENT, "statement/misuse/x", 0, ""));
    tare_statement_shape(&statement, NULL, NULL, 5);
    tare_statement_shape(&statement, "\xff ?", "\xff", 1);
    tare_statement_end(&statement);
    tare_stage_set(stage);
    tare_memory_allocated(stage, 1);
}

/* Memory that is zero: each function may be the first. */
static void zeroed(void) {
    tare_mutex never_used = TARE_MUTEX_INITIALIZER;
    tare_mutex mutex = TARE_MUTEX_INITIALIZER;
    tare_rwlock rwlock = TARE_RWLOCK_INITIALIZER;
    tare_cond cond = TARE_COND_INITIALIZER;
    struct timespec long_ago = {0, 0};

    IS(tare_mutex_lock(&mutex), TARE_OK);
    IS(tare_mutex_trylock(&mutex), TARE_BUSY);
    IS(tare_cond_signal(&cond), TARE_OK);
    IS(tare_cond_timedwait(&cond, &mutex, &long_ago), TARE_TIMEOUT);
    IS(tare_mutex_unlock(&mutex), TARE_OK);
    IS(tare_mutex_destroy(&mutex), TARE_OK);
    IS(tare_cond_destroy(&cond), TARE_OK);
    IS(tare_mutex_lock(&mutex), TARE_INVALID);
    IS(tare_cond_broadcast(&cond), TARE_INVALID);
    IS(tare_rwlock_rdlock(&rwlock), TARE_OK);
    IS(tare_rwlock_trywrlock(&rwlock), TARE_BUSY);
    IS(tare_rwlock_rdunlock(&rwlock), TARE_OK);
    IS(tare_rwlock_destroy(&rwlock), TARE_OK);
    IS(tare_rwlock_wrlock(&rwlock), TARE_INVALID);

    memset(&mutex, 0, sizeof mutex);
    IS(tare_mutex_unlock(&mutex), TARE_NOT_HELD);
    memset(&mutex, 0, sizeof mutex);
    IS(tare_mutex_timedlock(&mutex, &long_ago), TARE_OK);
    memset(&rwlock, 0, sizeof rwlock);
    IS(tare_rwlock_wrunlock(&rwlock), TARE_NOT_HELD);
    memset(&cond, 0, sizeof cond);
    IS(tare_cond_broadcast(&cond), TARE_OK);
    IS(tare_mutex_destroy(&never_used), TARE_OK);
}

static void threads(void) {
    pthread_t thread;
    void *result = NULL;
    tare_class *cls = tare_register(TARE_KIND_THREAD, "thread/misuse/thread", 0, NULL);
    tare_session *session = tare_session_new(cls);

    IS(tare_thread_create(&thread, NULL, NULL, NULL, NULL), TARE_NULL);
    IS(tare_thread_create(&thread, NULL, NULL, answer, &thread), TARE_OK);
    IS(pthread_join(thread, &result), 0);
    IS(result == &thread, 1);
    IS(tare_session_enter(session), TARE_OK);
    IS(tare_session_enter(session), TARE_BUSY);
    IS(tare_thread_create(&thread, NULL, cls, enter, session), TARE_OK);
    IS(pthread_join(thread, NULL), 0);
    IS(tare_session_free(session), TARE_BUSY);
    IS(tare_session_leave(session), TARE_OK);
    IS(tare_session_leave(session), TARE_NOT_HELD);
    IS(tare_session_free(session), TARE_OK);

    /* Left in another order, and freed before the one inside of it is left. */
    session = tare_session_new(cls);
    tare_session *inner = tare_session_new(cls);
    IS(tare_session_enter(session), TARE_OK);
    IS(tare_session_enter(inner), TARE_OK);
    IS(tare_session_leave(session), TARE_OK);
    IS(tare_session_free(session), TARE_OK);
    IS(tare_session_leave(inner), TARE_OK);
    IS(tare_session_free(inner), TARE_OK);
}

static void starting(void) {
    tare_config *config = tare_config_new();
    IS(tare_config_instrument(config, "%", 7), TARE_INVALID);
    IS(tare_config_instrument(config, NULL, TARE_ON), TARE_NULL);
    IS(tare_config_limit(config, "nonsense", 1), TARE_INVALID);
    IS(tare_config_limit(config, "threads", 8), TARE_OK);
    IS(tare_config_consumer(config, "nonsense", 1), TARE_OK);
    IS(tare_start(config), TARE_INVALID);
    tare_config_free(config);
    config = tare_config_new();
    IS(tare_config_segment(config, "/nowhere/at/all"), TARE_OK);
    IS(tare_start(config), TARE_NO_SEGMENT);
    IS(strstr(tare_error_message(), "/nowhere/at/all") != NULL, 1);
    IS(tare_is_running(), 0);
    IS(tare_descriptor(), -1);
    IS(tare_failed_starts() > 0, 1);
    tare_config_free(config);
}

int main(void) {
    int round;
    starting();
    /* Stopped, running, and started a second time. */
    for (round = 0; round < 3; round++) {
        if (round > 0) {
            tare_config *config = tare_config_new();
            IS(tare_config_instrument(config, "%", TARE_ON), TARE_OK);
            IS(tare_start(config), TARE_OK);
            IS(tare_start(config), TARE_RUNNING);
            tare_config_free(config);
            IS(tare_is_running(), 1);
        }
        tare_watch_settings();
        tare_watch_settings();
        nothing();
        wrong();
        zeroed();
        threads();
        IS(tare_thread_id() != 0, round > 0);
        tare_stop();
    }
    printf("done\n");
    return 0;
}
