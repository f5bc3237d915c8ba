/*
 * tare.h - the C interface of Tare, a Performance Schema for any server.
 *
 *   #include <tare.h>                     cc server.c $(pkg-config --cflags --libs tare)
 *
 *   static tare_class *LOCK_queue, *statement_get;
 *
 *   int main(void) {
 *       LOCK_queue = tare_register(TARE_KIND_MUTEX, "wait/synch/mutex/app/LOCK_queue",
 *                                  TARE_ENABLED, "Guards the queue");
 *       statement_get = tare_register(TARE_KIND_STATEMENT, "statement/app/get", 0, "");
 *       tare_start(NULL);
 *       ...
 *       tare_stop();
 *   }
 *
 * While it runs, `tare sql` on the same machine answers what its threads wait for and run.
 *
 * Rules that hold for every function:
 *
 * - Nothing here stops the host. A panic inside Tare is caught; a NULL pointer, a class of the wrong
 *   kind and an object that was not initialised are refused (TARE_NULL, TARE_INVALID) or ignored.
 *   A lock whose class is NULL still locks; it is then counted as "unnamed".
 * - Before tare_start() and after tare_stop(), points cost one load and one branch.
 * - Texts are NUL-terminated UTF-8, or a pointer with a length; NULL is the empty text. Bytes that
 *   are not UTF-8 are replaced. Texts are copied; they need not outlive the call.
 * - A wait, statement or transaction belongs to the thread that began it (a session's, while one is
 *   entered); ended elsewhere, it is not counted.
 *
 * Linking: pkg-config's package tare has libtare.so, and tare-static has libtare.a. The static library makes
 * points fastest, because the linker then turns each access to thread-local storage into one
 * instruction; through libtare.so it is a call.
 *
 * C99 and C++98 onwards. MIT OR Apache-2.0.
 */
#ifndef TARE_H
#define TARE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What functions return ------------------------------------------------------------------ */

enum tare_status {
    TARE_OK = 0,
    TARE_NULL = 1,        /* a pointer that must not be NULL is */
    TARE_INVALID = 2,     /* a value out of range, a class of another kind, no such name */
    TARE_RUNNING = 3,     /* Tare runs already */
    TARE_NO_SEGMENT = 4,  /* no memory or file for the segment */
    TARE_BUSY = 5,        /* somebody holds it */
    TARE_TIMEOUT = 6,     /* the time was over */
    TARE_NOT_HELD = 7,    /* unlocked what is not locked, left what was not entered */
    TARE_NO_THREAD = 8,   /* the system starts no thread */
    TARE_PANIC = 9        /* Tare failed within; please report it */
};

/* What the last failure on this thread was, and what to do about it. Valid until the next one. */
const char *tare_error_message(void);

/* "0.2.0" */
const char *tare_version(void);

/* ---- Starting and stopping ------------------------------------------------------------------ */

typedef struct tare_config tare_config;

enum tare_setting { TARE_OFF = 0, TARE_COUNTED = 1, TARE_ON = 2 };

/* MySQL 8.0's defaults. Never NULL unless memory is out. */
tare_config *tare_config_new(void);
void tare_config_free(tare_config *config);

/* The segment becomes a file at `path` instead of memory (or what TARE_SEGMENT says). */
int tare_config_segment(tare_config *config, const char *path);
/* Instruments by pattern (% = any text); the most specific wins, among equals the last. */
int tare_config_instrument(tare_config *config, const char *pattern, int setting);
/* A consumer by its name in setup_consumers. */
int tare_config_consumer(tare_config *config, const char *name, int on);
/* 0: a lock acquisition is timed when it has to wait (default). 1: always, as in MySQL. */
int tare_config_lock_timing(tare_config *config, int every);
/* Bytes that threads' counters may take; 0 = no limit. */
int tare_config_memory_limit(tare_config *config, uint64_t bytes);
/* One of: classes threads accounts users hosts actors schemas instances files digests digest_text_bytes
 * sql_text_bytes text_ring_bytes history history_long arena_lines sockets objects indexes
 * table_handles metadata_locks prepared_statements setup_objects metrics attribute_bytes. */
int tare_config_limit(tare_config *config, const char *name, size_t value);
/* One of MySQL's options, as a my.cnf has it: "performance_schema_digests_size" and "200",
 * "performance_schema_instrument" and "wait/synch/%=COUNTED". Dashes are as good as underscores. */
int tare_config_option(tare_config *config, const char *name, const char *value);

/* Starts; NULL = defaults. The config may be freed at once. Threads join at their next event. */
int tare_start(const tare_config *config);
void tare_stop(void);
int tare_is_running(void);
/* Starts a thread that learns of settings that readers change, until tare_stop(). With it, points cost one load and one
 * branch, too, while all of their kind is off: waits; statements, stages and transactions; memory. */
void tare_watch_settings(void);
/* How often tare_start() found no segment in this process. */
uint64_t tare_failed_starts(void);
/* A new file descriptor of the segment, for readers within the process; -1 = not running. */
int tare_descriptor(void);

/* ---- Classes: what setup_instruments lists -------------------------------------------------- */

typedef struct tare_class tare_class;

enum tare_kind {              /* names begin with */
    TARE_KIND_MUTEX = 1,          /* wait/synch/mutex/   */
    TARE_KIND_RW_LOCK = 2,        /* wait/synch/rwlock/  */
    TARE_KIND_SX_LOCK = 3,        /* wait/synch/sxlock/  */
    TARE_KIND_COND = 4,           /* wait/synch/cond/    */
    TARE_KIND_FILE = 5,           /* wait/io/file/       */
    TARE_KIND_SOCKET = 6,         /* wait/io/socket/     */
    TARE_KIND_TABLE_IO = 7,       /* wait/io/table/      */
    TARE_KIND_TABLE_LOCK = 8,     /* wait/lock/table/    */
    TARE_KIND_METADATA_LOCK = 9,  /* wait/lock/metadata/ */
    TARE_KIND_IDLE = 10,          /* idle                */
    TARE_KIND_STAGE = 11,         /* stage/              */
    TARE_KIND_STATEMENT = 12,     /* statement/          */
    TARE_KIND_TRANSACTION = 13,   /* transaction         */
    TARE_KIND_MEMORY = 14,        /* memory/             */
    TARE_KIND_THREAD = 16         /* thread/             */
};

enum tare_class_flags {
    TARE_SINGLETON = 1, /* there is one instance */
    TARE_PROGRESS = 2,  /* a stage that reports progress */
    TARE_USER = 4,      /* of users' sessions */
    TARE_MUTABLE = 16,  /* an abstract statement, to be refined */
    TARE_ENABLED = 256, /* on at start, whatever the kind's default */
    TARE_DISABLED = 512 /* off at start, whatever the kind's default */
};

/*
 * Registers a class, at any time. The same kind and name again give the same class, for the life of
 * the process. NULL when the name does not begin as its kind's names do, or has more than
 * 128 bytes; tare_error_message() says which.
 */
tare_class *tare_register(int kind, const char *name, unsigned flags, const char *documentation);

/* A table of classes, to be registered at once. */
typedef struct tare_class_info {
    tare_class **where;
    int kind;
    const char *name;
    unsigned flags;
    const char *documentation;
} tare_class_info;

/* How many could not be registered; their *where is NULL, which every function takes. */
size_t tare_register_all(const tare_class_info *infos, size_t count);

/* ---- Locks ---------------------------------------------------------------------------------- */

/*
 * Objects of fixed size, to be initialised where they are; they must not be moved or copied. Memory that is
 * zero, such as a static variable, is one without a class: it locks, and counts as "unnamed" until
 * tare_..._init() gives it a class, before other threads use it.
 *
 * A deadline is a moment of CLOCK_REALTIME, as pthread's are. A clock that is set during the wait does not
 * move it.
 */
typedef struct tare_mutex { uint64_t opaque[4]; } tare_mutex;
typedef struct tare_rwlock { uint64_t opaque[6]; } tare_rwlock;
typedef struct tare_cond { uint64_t opaque[4]; } tare_cond;

#define TARE_MUTEX_INITIALIZER { { 0, 0, 0, 0 } }
#define TARE_RWLOCK_INITIALIZER { { 0, 0, 0, 0, 0, 0 } }
#define TARE_COND_INITIALIZER { { 0, 0, 0, 0 } }

/* A class of kind MUTEX. Not recursive. */
int tare_mutex_init(tare_mutex *mutex, tare_class *cls);
/* TARE_BUSY while it is held. */
int tare_mutex_destroy(tare_mutex *mutex);
int tare_mutex_lock(tare_mutex *mutex);
/* TARE_BUSY when it is held. */
int tare_mutex_trylock(tare_mutex *mutex);
/* TARE_TIMEOUT when it is still held then. */
int tare_mutex_timedlock(tare_mutex *mutex, const struct timespec *deadline);
int tare_mutex_unlock(tare_mutex *mutex);

/* A class of kind RW_LOCK or SX_LOCK. Writers go first; not recursive. */
int tare_rwlock_init(tare_rwlock *rwlock, tare_class *cls);
int tare_rwlock_destroy(tare_rwlock *rwlock);
int tare_rwlock_rdlock(tare_rwlock *rwlock);
int tare_rwlock_tryrdlock(tare_rwlock *rwlock);
int tare_rwlock_rdunlock(tare_rwlock *rwlock);
int tare_rwlock_wrlock(tare_rwlock *rwlock);
int tare_rwlock_trywrlock(tare_rwlock *rwlock);
int tare_rwlock_wrunlock(tare_rwlock *rwlock);

/* A class of kind COND. */
int tare_cond_init(tare_cond *cond, tare_class *cls);
int tare_cond_destroy(tare_cond *cond);
/* The mutex must be held; it is again on return, also after TARE_TIMEOUT. May return for no reason. */
int tare_cond_wait(tare_cond *cond, tare_mutex *mutex);
int tare_cond_timedwait(tare_cond *cond, tare_mutex *mutex, const struct timespec *deadline);
int tare_cond_signal(tare_cond *cond);
int tare_cond_broadcast(tare_cond *cond);

/* ---- Locks of the C library, which the host keeps ------------------------------------------------ */

/*
 * These do and return what pthread_...() do. A lock that is free is counted under the class, and a wait for it
 * is timed; if the GNU C library is older than 2.30, each acquisition of a rwlock is timed. Tare stores nothing
 * in the lock: it has no instance and no holder in Tare's tables. A class that is NULL or of another kind counts
 * as "unnamed". What is unlocked, signalled or broadcast is not counted, so that pthread's own functions are as
 * good. EINVAL: an object or a deadline is NULL.
 */
int tare_pthread_mutex_lock(pthread_mutex_t *mutex, tare_class *cls);
int tare_pthread_mutex_trylock(pthread_mutex_t *mutex, tare_class *cls);
int tare_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline,
                                 tare_class *cls);
int tare_pthread_mutex_unlock(pthread_mutex_t *mutex);

#ifdef PTHREAD_RWLOCK_INITIALIZER /* pthread.h declares rwlocks */
int tare_pthread_rwlock_rdlock(pthread_rwlock_t *rwlock, tare_class *cls);
int tare_pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock, tare_class *cls);
int tare_pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock, const struct timespec *deadline,
                                    tare_class *cls);
int tare_pthread_rwlock_wrlock(pthread_rwlock_t *rwlock, tare_class *cls);
int tare_pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock, tare_class *cls);
int tare_pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock, const struct timespec *deadline,
                                    tare_class *cls);
int tare_pthread_rwlock_unlock(pthread_rwlock_t *rwlock);
#endif

/* The class of the condition, kind COND. Taking the mutex again counts nothing. */
int tare_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, tare_class *cls);
int tare_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                const struct timespec *deadline, tare_class *cls);

/* ---- Waits: files, sockets, tables, idle, or locks of the host's own -------------------------- */

enum tare_operation {
    TARE_OP_LOCK = 1, TARE_OP_TRY_LOCK = 2, TARE_OP_READ_LOCK = 3, TARE_OP_WRITE_LOCK = 4,
    TARE_OP_TRY_READ_LOCK = 5, TARE_OP_TRY_WRITE_LOCK = 6, TARE_OP_SHARED_LOCK = 7,
    TARE_OP_SHARED_EXCLUSIVE_LOCK = 8, TARE_OP_EXCLUSIVE_LOCK = 9, TARE_OP_WAIT = 10,
    TARE_OP_TIMED_WAIT = 11,
    TARE_OP_CREATE = 16, TARE_OP_OPEN = 17, TARE_OP_CLOSE = 18, TARE_OP_READ = 19,
    TARE_OP_WRITE = 20, TARE_OP_SEEK = 21, TARE_OP_TELL = 22, TARE_OP_FLUSH = 23,
    TARE_OP_STAT = 24, TARE_OP_F_STAT = 25, TARE_OP_CHANGE_SIZE = 26, TARE_OP_DELETE = 27,
    TARE_OP_RENAME = 28, TARE_OP_SYNC = 29, TARE_OP_FILE_LOCK = 30,
    TARE_OP_RECV = 32, TARE_OP_SEND = 33, TARE_OP_CONNECT = 34, TARE_OP_BIND = 35,
    TARE_OP_LISTEN = 36, TARE_OP_ACCEPT = 37, TARE_OP_SELECT = 38, TARE_OP_SHUTDOWN = 39,
    TARE_OP_SET_OPTION = 40,
    TARE_OP_FETCH = 48, TARE_OP_INSERT = 49, TARE_OP_UPDATE = 50, TARE_OP_DELETE_ROW = 51,
    TARE_OP_TABLE_READ_LOCK = 52, TARE_OP_TABLE_WRITE_LOCK = 53, TARE_OP_METADATA_LOCK = 54,
    TARE_OP_IDLE = 55,
    TARE_OP_READ_WITH_SHARED_LOCKS = 56, TARE_OP_READ_HIGH_PRIORITY = 57,
    TARE_OP_READ_NO_INSERT = 58, TARE_OP_WRITE_ALLOW_WRITE = 59,
    TARE_OP_WRITE_CONCURRENT_INSERT = 60, TARE_OP_WRITE_LOW_PRIORITY = 61,
    TARE_OP_READ_EXTERNAL = 62, TARE_OP_WRITE_EXTERNAL = 63
};

/* A wait that runs: a variable on the stack, given by begin what it needs. */
typedef struct tare_wait { uint64_t opaque[8]; } tare_wait;

/* Bytes to give when an operation moves none. */
#define TARE_NO_BYTES UINT64_MAX

/* A class of any wait kind; the operation must be one of that kind's. */
void tare_wait_begin(tare_wait *wait, tare_class *cls, int operation);
/* Ends it, once. */
void tare_wait_end(tare_wait *wait, uint64_t bytes);
/* Waiting for a client: the kind IDLE. To be ended by tare_wait_end(wait, TARE_NO_BYTES). */
void tare_idle_begin(tare_wait *wait, tare_class *cls);

/* One instance for each file's name, however often it is open. Kind FILE. NULL: not recorded. */
typedef struct tare_file tare_file;
tare_file *tare_file_open(tare_class *cls, const char *path);
void tare_file_close(tare_file *file);
void tare_file_begin(tare_wait *wait, tare_file *file, int operation);

/* One instance for each open socket. Kind SOCKET. */
typedef struct tare_socket tare_socket;
tare_socket *tare_socket_open(tare_class *cls, int descriptor);
void tare_socket_close(tare_socket *socket);
void tare_socket_begin(tare_wait *wait, tare_socket *socket, int operation);
/* Where its other end is (NULL = none), or where it listens. */
void tare_socket_peer(tare_socket *socket, const char *ip, uint16_t port);
/* The calling thread, or the session it has entered, serves it. */
void tare_socket_own(const tare_socket *socket);
/* Whether that one waits for the other end to send something: STATE. */
void tare_socket_idle(const tare_socket *socket, int is_idle);

/* ---- Stages ----------------------------------------------------------------------------------- */

/* Enters a stage and so leaves the one before, by one clock reading. */
void tare_stage_set(tare_class *cls);
void tare_stage_end(void);
void tare_stage_progress(uint64_t completed, uint64_t estimated);

/* ---- Statements --------------------------------------------------------------------------------- */

typedef struct tare_statement { uint64_t opaque[40]; } tare_statement;
/* What DIGEST shows: computed once for a statement that is prepared. */
typedef struct tare_digest { uint8_t hash[32]; } tare_digest;

enum tare_counter {
    TARE_LOCK_TIME = 0, /* ticks */
    TARE_ERRORS = 1, TARE_WARNINGS = 2, TARE_ROWS_AFFECTED = 3, TARE_ROWS_SENT = 4,
    TARE_ROWS_EXAMINED = 5, TARE_CREATED_TMP_DISK_TABLES = 6, TARE_CREATED_TMP_TABLES = 7,
    TARE_SELECT_FULL_JOIN = 8, TARE_SELECT_FULL_RANGE_JOIN = 9, TARE_SELECT_RANGE = 10,
    TARE_SELECT_RANGE_CHECK = 11, TARE_SELECT_SCAN = 12, TARE_SORT_MERGE_PASSES = 13,
    TARE_SORT_RANGE = 14, TARE_SORT_ROWS = 15, TARE_SORT_SCAN = 16, TARE_NO_INDEX_USED = 17,
    TARE_NO_GOOD_INDEX_USED = 18
};

void tare_statement_begin(tare_statement *statement, tare_class *cls);
/* Ends it, once, and the stage that the thread is in. */
void tare_statement_end(tare_statement *statement);
/* Is anything recorded? Spares the host what only Tare asks for. */
int tare_statement_is_recorded(const tare_statement *statement);
/* Now that it is known which statement it is. */
void tare_statement_refine(tare_statement *statement, tare_class *cls);
/* The text; its digest is computed from it. */
void tare_statement_text(tare_statement *statement, const char *text, size_t length);
/* In another language than SQL: the normalised text that DIGEST_TEXT shows, such as "get ?", by which
 * statements are grouped, and the text itself (NULL = none). */
void tare_statement_shape(tare_statement *statement, const char *shape, const char *text,
                          size_t length);
/* The text of a prepared statement, and its digest. */
void tare_statement_prepared(tare_statement *statement, const char *text, size_t length,
                             const tare_digest *digest);
/* The default schema, where it is not the thread's. */
void tare_statement_schema(tare_statement *statement, const char *name);
void tare_statement_set(tare_statement *statement, int counter, uint64_t value);
void tare_statement_add(tare_statement *statement, int counter, uint64_t n);
/* It failed: error number, five characters of SQLSTATE, message. Counts the error, too. */
void tare_statement_error(tare_statement *statement, uint32_t number, const char *sqlstate,
                          const char *message);

int tare_digest_of(tare_digest *digest, const char *text, size_t length);
/* DIGEST_TEXT of a text: as much as fits `size` with a NUL; the bytes written without it. */
size_t tare_digest_text(const char *text, size_t length, char *out, size_t size);

/* ---- Tables -------------------------------------------------------------------------------------- */

/* A table by its name, for all sessions: kinds TABLE_IO and TABLE_LOCK. Events name its indexes by their
 * place in the list. setup_objects says whether it is counted. NULL: see tare_error_message(). */
typedef struct tare_table tare_table;
tare_table *tare_table_new(tare_class *io, tare_class *lock, const char *schema, const char *name,
                           const char *const *indexes, size_t count);
void tare_table_free(tare_table *table);
/* DROP TABLE: its figures go with it. */
void tare_table_dropped(const char *schema, const char *name);

enum tare_table_lock {
    TARE_TABLE_READ = 0, TARE_TABLE_READ_WITH_SHARED_LOCKS = 1, TARE_TABLE_READ_HIGH_PRIORITY = 2,
    TARE_TABLE_READ_NO_INSERT = 3, TARE_TABLE_WRITE_ALLOW_WRITE = 4,
    TARE_TABLE_WRITE_CONCURRENT_INSERT = 5, TARE_TABLE_WRITE_LOW_PRIORITY = 6, TARE_TABLE_WRITE = 7,
    TARE_TABLE_READ_EXTERNAL = 8, TARE_TABLE_WRITE_EXTERNAL = 9
};

/* A session opens it: a row of table_handles, of one thread at a time. The table is freed last. */
typedef struct tare_table_handle tare_table_handle;
tare_table_handle *tare_table_open(tare_table *table);
void tare_table_close(tare_table_handle *handle);
/* The calling thread owns it from now on, or nobody does: for handles that are kept for whoever comes. */
void tare_table_bind(tare_table_handle *handle);
void tare_table_unbind(tare_table_handle *handle);
/* TARE_OP_FETCH, _INSERT, _UPDATE, _DELETE_ROW through an index (-1: none). tare_wait_end() takes the
 * number of rows; TARE_NO_BYTES is one. */
void tare_table_io_begin(tare_wait *wait, tare_table_handle *handle, int operation, int index);
/* Waits for a lock of enum tare_table_lock; tare_table_locked(handle, lock, 1) follows its end. */
void tare_table_lock_begin(tare_wait *wait, tare_table_handle *handle, int lock);
/* It has the lock. waited = 0: at the first try, which is counted without reading a clock. */
void tare_table_locked(tare_table_handle *handle, int lock, int waited);
/* It has let go of the storage engine's lock (external = 1), or of the server's. */
void tare_table_unlocked(tare_table_handle *handle, int external);

/* ---- Metadata locks ------------------------------------------------------------------------------ */

enum tare_namespace {
    TARE_ON_GLOBAL = 1, TARE_ON_BACKUP_LOCK = 2, TARE_ON_TABLESPACE = 3, TARE_ON_SCHEMA = 4,
    TARE_ON_TABLE = 5, TARE_ON_FUNCTION = 6, TARE_ON_PROCEDURE = 7, TARE_ON_TRIGGER = 8,
    TARE_ON_EVENT = 9, TARE_ON_COMMIT = 10, TARE_ON_USER_LEVEL_LOCK = 11,
    TARE_ON_LOCKING_SERVICE = 12, TARE_ON_SRID = 13, TARE_ON_ACL_CACHE = 14,
    TARE_ON_COLUMN_STATISTICS = 15, TARE_ON_RESOURCE_GROUPS = 16, TARE_ON_FOREIGN_KEY = 17,
    TARE_ON_CHECK_CONSTRAINT = 18, TARE_ON_LIBRARY = 19, TARE_ON_BACKUP_TABLES = 20
};
enum tare_lock_type {
    TARE_LOCK_INTENTION_EXCLUSIVE = 1, TARE_LOCK_SHARED = 2, TARE_LOCK_SHARED_HIGH_PRIO = 3,
    TARE_LOCK_SHARED_READ = 4, TARE_LOCK_SHARED_WRITE = 5, TARE_LOCK_SHARED_WRITE_LOW_PRIO = 6,
    TARE_LOCK_SHARED_UPGRADABLE = 7, TARE_LOCK_SHARED_READ_ONLY = 8, TARE_LOCK_SHARED_NO_WRITE = 9,
    TARE_LOCK_SHARED_NO_READ_WRITE = 10, TARE_LOCK_EXCLUSIVE = 11
};
enum tare_lock_duration {
    TARE_UNTIL_STATEMENT = 1, TARE_UNTIL_TRANSACTION = 2, TARE_UNTIL_EXPLICIT = 3
};
enum tare_lock_status {
    TARE_STATUS_PENDING = 1, TARE_STATUS_GRANTED = 2, TARE_STATUS_PRE_ACQUIRE_NOTIFY = 3,
    TARE_STATUS_POST_RELEASE_NOTIFY = 4, TARE_STATUS_VICTIM = 5, TARE_STATUS_TIMEOUT = 6,
    TARE_STATUS_KILLED = 7
};

/* What a session locks, not held yet; names may be NULL. Kind METADATA_LOCK. */
typedef struct tare_metadata_lock tare_metadata_lock;
tare_metadata_lock *tare_metadata_lock_new(tare_class *cls, int on, const char *schema,
                                           const char *name, const char *column);
void tare_metadata_lock_free(tare_metadata_lock *lock);
/* Waits for it: shown as PENDING until it is set otherwise. */
void tare_metadata_lock_begin(tare_wait *wait, tare_metadata_lock *lock, int type, int duration);
/* Shows who holds it, and how: by the calling thread, in its present event. */
void tare_metadata_lock_set(tare_metadata_lock *lock, int type, int duration, int status);
void tare_metadata_lock_release(tare_metadata_lock *lock);

/* ---- Prepared statements and stored programs ------------------------------------------------------- */

/* A prepared statement of the calling thread's session: its number in the protocol, its name in SQL
 * (NULL = none), its text. */
typedef struct tare_prepared tare_prepared;
tare_prepared *tare_prepared_new(uint64_t id, const char *name, const char *sql, size_t length);
void tare_prepared_free(tare_prepared *prepared);
/* It was prepared anew, because a table has changed. */
void tare_prepared_anew(tare_prepared *prepared);
/* The statement that runs prepares it, or executes it: what it takes is counted for it, too. */
void tare_statement_prepares(tare_statement *statement, const tare_prepared *prepared);
void tare_statement_executes(tare_statement *statement, const tare_prepared *prepared);

enum tare_program_type {
    TARE_EVENT = 1, TARE_FUNCTION = 2, TARE_PROCEDURE = 3, TARE_TRIGGER = 5
};

/* A stored program by its name. setup_objects says whether it is counted. */
typedef struct tare_program tare_program;
tare_program *tare_program_new(int type, const char *schema, const char *name);
void tare_program_free(tare_program *program);
/* DROP PROCEDURE: frees it, and its figures go with it. */
void tare_program_dropped(tare_program *program);
/* A call: statements that begin before its end count for the program, too. */
typedef struct tare_call { uint64_t opaque[8]; } tare_call;
void tare_program_begin(tare_call *call, const tare_program *program);
void tare_program_end(tare_call *call);

/* ---- Transactions ------------------------------------------------------------------------------ */

typedef struct tare_transaction { uint64_t opaque[8]; } tare_transaction;

enum tare_isolation {
    TARE_READ_UNCOMMITTED = 0, TARE_READ_COMMITTED = 1, TARE_REPEATABLE_READ = 2,
    TARE_SERIALIZABLE = 3
};
enum tare_transaction_flags { TARE_READ_ONLY = 1, TARE_AUTOCOMMIT = 2 };

void tare_transaction_begin(tare_transaction *transaction, tare_class *cls, int isolation,
                            unsigned flags);
void tare_transaction_commit(tare_transaction *transaction);
void tare_transaction_rollback(tare_transaction *transaction);
void tare_transaction_id(tare_transaction *transaction, uint64_t id);
void tare_transaction_savepoint(tare_transaction *transaction);
void tare_transaction_rollback_to(tare_transaction *transaction);
void tare_transaction_release(tare_transaction *transaction);

/* ---- Metrics: what INFORMATION_SCHEMA.INNODB_METRICS lists --------------------------------------- */

typedef struct tare_metric tare_metric;

enum tare_metric_type {
    TARE_METRIC_COUNTER = 1,        /* counts events */
    TARE_METRIC_VALUE = 2,          /* what something is now */
    TARE_METRIC_STATUS_COUNTER = 3, /* counts what the host counts anyhow */
    TARE_METRIC_SET_OWNER = 4,      /* the sum of a set of metrics */
    TARE_METRIC_SET_MEMBER = 5      /* belongs to a set owner */
};

enum tare_metrics_action {
    TARE_METRICS_ENABLE = 1,
    TARE_METRICS_DISABLE = 2,
    TARE_METRICS_RESET = 3,    /* the figures since the last reset */
    TARE_METRICS_RESET_ALL = 4 /* all figures, of what is disabled */
};

/*
 * Registers a metric, at any time; flags 0 or TARE_ENABLED. The same name again gives the same metric,
 * for the life of the process. NULL: see tare_error_message().
 */
tare_metric *tare_metric_register(int type, const char *name, const char *subsystem,
                                  unsigned flags, const char *documentation);
/* Adds to a counter, if it is enabled: one addition to memory of the thread's own. */
void tare_metric_add(tare_metric *metric, uint64_t n);
/* Sets a value, if it is enabled. If two threads set it at the same time, the later value stays. */
void tare_metric_set(tare_metric *metric, int64_t value);
/* Call it before you measure something that only this metric needs. */
int tare_metric_is_enabled(tare_metric *metric);
/* Does something to `all`, `module_SUBSYSTEM`, a name, or a pattern with %. TARE_INVALID: to none. */
int tare_metrics_act(int action, const char *what);

/* ---- Memory and errors -------------------------------------------------------------------------- */

/* Kind MEMORY. */
void tare_memory_allocated(tare_class *cls, size_t bytes);
void tare_memory_freed(tare_class *cls, size_t bytes);

/* An error by its code (MySQL's where it has one): raised, or handled. */
void tare_error_raised(uint32_t code);
void tare_error_handled(uint32_t code);
/* Names an error (MySQL: ER_...) and gives its SQLSTATE (NULL = none), so that the tables of errors
 * list it whether or not it was ever raised. Before or after tare_start(). */
int tare_error_define(uint32_t code, const char *name, const char *sqlstate);

/* ---- Threads ------------------------------------------------------------------------------------- */

/* Starts a thread of a class of kind THREAD, as pthread_create() does. TARE_NO_THREAD: it did not;
 * errno says why. */
int tare_thread_create(pthread_t *thread, const pthread_attr_t *attributes, tare_class *cls,
                       void *(*start)(void *), void *argument);
/* Makes the calling thread one of this class: for threads started otherwise. */
void tare_thread_register(tare_class *cls);
/* THREAD_ID; 0 = not recorded. */
uint64_t tare_thread_id(void);

/* Of the calling thread, or the session it has entered: */
void tare_thread_set_account(const char *user, const char *host);
void tare_thread_set_processlist_id(uint64_t id);
void tare_thread_set_db(const char *name);
/* The command that the client sent; PROCESSLIST_TIME starts again. */
enum tare_command {
    TARE_SLEEP = 0, TARE_QUIT = 1, TARE_INIT_DB = 2, TARE_QUERY = 3, TARE_FIELD_LIST = 4,
    TARE_STATISTICS = 9, TARE_CONNECT = 11, TARE_KILL = 12, TARE_PING = 14, TARE_CHANGE_USER = 17,
    TARE_PREPARE = 22, TARE_EXECUTE = 23, TARE_LONG_DATA = 24, TARE_CLOSE_STATEMENT = 25,
    TARE_RESET_STATEMENT = 26, TARE_SET_OPTION = 27, TARE_FETCH = 28, TARE_DAEMON = 29,
    TARE_RESET_CONNECTION = 31
};
void tare_thread_set_command(int command);
/* PROCESSLIST_STATE and _INFO, where they are not the stage's name and the statement's text. */
void tare_thread_set_state(const char *text);
void tare_thread_set_info(const char *text);
enum tare_connection_type {
    TARE_BACKGROUND = 0, TARE_TCP_IP = 1, TARE_TLS = 2, TARE_UNIX_SOCKET = 3
};
void tare_thread_set_connection_type(int type);
/* A session has the number of the thread that has entered it; set it only where another one works for it. */
void tare_thread_set_os_id(uint64_t id);
/* Attributes that the client gave, "key=value" lines. More than performance_schema_session_connect_attrs_size
   bytes are truncated. */
void tare_thread_set_attributes(const char *lines);

/* ---- Sessions: a client served by a pool of threads ------------------------------------------------ */

typedef struct tare_session tare_session;

/* A row of `threads` of its own. Kind THREAD. NULL: no memory, or a class of another kind. */
tare_session *tare_session_new(tare_class *cls);
/* The calling thread works for it now. TARE_BUSY while another one does. */
int tare_session_enter(tare_session *session);
/* By the thread that entered it. Several sessions may be left in any order. */
int tare_session_leave(tare_session *session);
/* TARE_BUSY while a thread is in it. */
int tare_session_free(tare_session *session);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TARE_H */
