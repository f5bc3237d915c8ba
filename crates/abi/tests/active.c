/*
 * active.c - a program at the level active: a session's statement that stops in each kind of wait, until
 * the test that observes it from outside sends a line. Each stop prints its name.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare.h>

static tare_class *LOCK_data, *LOCK_kept, *LOCK_map, *COND_changed, *file_log, *table_rows, *table_locks, *metadata, *socket_client, *idle,
    *stage_parsing, *stage_working, *statement_request, *statement_get, *statement_call, *thread_session;

static const tare_class_info classes[] = {
    {&LOCK_data, TARE_KIND_MUTEX, "wait/synch/mutex/now/LOCK_data", 0, ""},
    {&LOCK_kept, TARE_KIND_MUTEX, "wait/synch/mutex/now/LOCK_kept", 0, ""},
    {&LOCK_map, TARE_KIND_RW_LOCK, "wait/synch/rwlock/now/LOCK_map", 0, ""},
    {&COND_changed, TARE_KIND_COND, "wait/synch/cond/now/COND_changed", 0, ""},
    {&file_log, TARE_KIND_FILE, "wait/io/file/now/log", 0, ""},
    {&table_rows, TARE_KIND_TABLE_IO, "wait/io/table/now/rows", 0, ""},
    {&table_locks, TARE_KIND_TABLE_LOCK, "wait/lock/table/now/locks", 0, ""},
    {&metadata, TARE_KIND_METADATA_LOCK, "wait/lock/metadata/now/mdl", 0, ""},
    {&socket_client, TARE_KIND_SOCKET, "wait/io/socket/now/client", 0, ""},
    {&idle, TARE_KIND_IDLE, "idle", 0, ""},
    {&stage_parsing, TARE_KIND_STAGE, "stage/now/Parsing", 0, ""},
    {&stage_working, TARE_KIND_STAGE, "stage/now/Working", 0, ""},
    {&statement_request, TARE_KIND_STATEMENT, "statement/abstract/now_request", TARE_MUTABLE, ""},
    {&statement_get, TARE_KIND_STATEMENT, "statement/now/get", 0, ""},
    {&statement_call, TARE_KIND_STATEMENT, "statement/now/call", 0, ""},
    {&thread_session, TARE_KIND_THREAD, "thread/now/session", TARE_USER, ""},
};

static tare_mutex data_lock;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static tare_rwlock map_lock;
static tare_cond changed;
static tare_file *log_file;
static tare_socket *client;
static tare_table *table;
static int has_changed;

static void check(int status, const char *what) {
    if (status != TARE_OK) {
        fprintf(stderr, "active: %s: %s\n", what, tare_error_message());
        exit(1);
    }
}

static void check_object(const void *object, const char *what) {
    check(object == NULL ? TARE_NULL : TARE_OK, what);
}

static void print(const char *name) {
    puts(name);
    fflush(stdout);
}

/* Reads a line of the test's, in a system call that no wait surrounds. */
static void read_line(void) {
    char sign;
    while (read(0, &sign, 1) == 1 && sign != '\n') {
    }
}

static void stop(const char *name) {
    print(name);
    read_line();
}

static void text(tare_statement *statement, const char *sql) {
    tare_statement_text(statement, sql, strlen(sql));
}

/* What only the session's thread does: it reads the lines. */
static void wait_for_objects(void) {
    tare_wait outer, inner;
    tare_table_handle *handle = tare_table_open(table);
    tare_metadata_lock *lock = tare_metadata_lock_new(metadata, TARE_ON_TABLE, "shop", "orders", NULL);

    check_object(handle, "the table's handle");
    check_object(lock, "the metadata lock");
    tare_table_io_begin(&outer, handle, TARE_OP_FETCH, 0);
    stop("table");
    tare_file_begin(&inner, log_file, TARE_OP_READ);
    stop("file");
    tare_wait_end(&inner, 100);
    stop("table again");
    tare_wait_end(&outer, 1);
    tare_table_lock_begin(&outer, handle, TARE_TABLE_WRITE);
    stop("table lock");
    tare_wait_end(&outer, TARE_NO_BYTES);
    tare_table_locked(handle, TARE_TABLE_WRITE, 1);
    tare_table_unlocked(handle, 0);
    tare_socket_begin(&inner, client, TARE_OP_RECV);
    stop("socket");
    tare_wait_end(&inner, 10);
    tare_metadata_lock_begin(&outer, lock, TARE_LOCK_EXCLUSIVE, TARE_UNTIL_STATEMENT);
    /* That on which it sleeps. */
    tare_wait_begin(&inner, COND_changed, TARE_OP_TIMED_WAIT);
    stop("metadata lock");
    tare_wait_end(&inner, TARE_NO_BYTES);
    tare_wait_end(&outer, TARE_NO_BYTES);
    tare_metadata_lock_free(lock);
    tare_wait_begin(&outer, file_log, TARE_OP_SYNC);
    stop("own wait");
    tare_wait_end(&outer, TARE_NO_BYTES);
    tare_table_close(handle);
}

static void *serve(void *argument) {
    tare_session *session = tare_session_new(thread_session);
    tare_statement outer, inner;
    tare_wait idle_wait;
    (void)argument;

    check(tare_session_enter(session), "the session");
    tare_thread_set_account("alice", "localhost");
    tare_thread_set_processlist_id(7);
    tare_thread_set_db("shop");
    tare_statement_begin(&outer, statement_request);
    tare_stage_set(stage_parsing);
    text(&outer, "GET \"outer\"");
    tare_statement_refine(&outer, statement_get);
    tare_stage_set(stage_working);

    /* The main thread has all three locks, and reads the lines. */
    print("mutex");
    check(tare_mutex_lock(&data_lock), "LOCK_data");
    check(tare_mutex_unlock(&data_lock), "LOCK_data");
    print("pthread mutex");
    check(tare_pthread_mutex_lock(&kept_lock, LOCK_kept), "LOCK_kept");
    check(tare_pthread_mutex_unlock(&kept_lock), "LOCK_kept");
    print("rwlock");
    check(tare_rwlock_rdlock(&map_lock), "LOCK_map");
    check(tare_rwlock_rdunlock(&map_lock), "LOCK_map");
    check(tare_mutex_lock(&data_lock), "LOCK_data");
    print("condition");
    while (!has_changed) check(tare_cond_wait(&changed, &data_lock), "COND_changed");
    check(tare_mutex_unlock(&data_lock), "LOCK_data");

    wait_for_objects();
    tare_statement_begin(&inner, statement_call);
    text(&inner, "CALL \"inner\"");
    stop("nested");
    tare_statement_error(&inner, 1064, "42000", "wrong");
    tare_statement_end(&inner);
    stop("no wait");
    tare_statement_end(&outer);

    tare_idle_begin(&idle_wait, idle);
    stop("idle");
    tare_wait_end(&idle_wait, TARE_NO_BYTES);

    /* The test has ended the level. */
    tare_statement_begin(&outer, statement_get);
    text(&outer, "GET \"exact\"");
    check(tare_mutex_lock(&data_lock), "LOCK_data");
    check(tare_mutex_unlock(&data_lock), "LOCK_data");
    tare_statement_end(&outer);
    stop("exact");
    check(tare_session_leave(session), "the session");
    check(tare_session_free(session), "the session");
    return NULL;
}

int main(void) {
    static const char *const indexes[] = {"PRIMARY"};
    pthread_t thread;
    tare_config *config = tare_config_new();

    if (tare_register_all(classes, sizeof classes / sizeof classes[0]) != 0) {
        fprintf(stderr, "active: %s\n", tare_error_message());
        return 1;
    }
    check(tare_config_option(config, "sampling", "active"), "sampling");
    check(tare_config_instrument(config, "%", TARE_ON), "%");
    check(tare_start(config), "start");
    tare_config_free(config);
    check(tare_mutex_init(&data_lock, LOCK_data), "LOCK_data");
    check(tare_rwlock_init(&map_lock, LOCK_map), "LOCK_map");
    check(tare_cond_init(&changed, COND_changed), "COND_changed");
    log_file = tare_file_open(file_log, "/now/log");
    client = tare_socket_open(socket_client, 0);
    table = tare_table_new(table_rows, table_locks, "shop", "orders", indexes, 1);
    check_object(log_file, "the file");
    check_object(client, "the socket");
    check_object(table, "the table");

    check(tare_mutex_lock(&data_lock), "LOCK_data");
    check(tare_pthread_mutex_lock(&kept_lock, LOCK_kept), "LOCK_kept");
    check(tare_rwlock_wrlock(&map_lock), "LOCK_map");
    if (pthread_create(&thread, NULL, serve, NULL) != 0) return 1;
    read_line();
    check(tare_mutex_unlock(&data_lock), "LOCK_data");
    read_line();
    check(tare_pthread_mutex_unlock(&kept_lock), "LOCK_kept");
    read_line();
    check(tare_rwlock_wrunlock(&map_lock), "LOCK_map");
    read_line();
    check(tare_mutex_lock(&data_lock), "LOCK_data");
    has_changed = 1;
    check(tare_cond_signal(&changed), "COND_changed");
    check(tare_mutex_unlock(&data_lock), "LOCK_data");
    pthread_join(thread, NULL);
    tare_table_free(table);
    tare_socket_close(client);
    tare_file_close(log_file);
    tare_stop();
    return 0;
}
