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
 * docs/instrument.md instruments a server step by step.
 *
 * Rules that hold for every function:
 *
 * - Nothing here stops the host. A panic inside Tare is caught. A NULL pointer, a class of the wrong kind, a
 *   number that is not in its enum and an object that was not initialised are refused (TARE_NULL,
 *   TARE_INVALID), or ignored by functions that return nothing: nothing is recorded then.
 * - Before tare_start() and after tare_stop(), functions that record cost one load and one branch. Objects
 *   may be created before tare_start(), and kept across tare_stop() and the next tare_start().
 * - A function that returns int returns an enum tare_status, unless its comment says otherwise. One that
 *   returns a pointer returns NULL if it fails. tare_error_message() has the reason.
 * - Texts are NUL-terminated UTF-8, or a pointer with a length in bytes; NULL is the empty text. Bytes that
 *   are not UTF-8 are replaced. Texts are copied; they need not outlive the call.
 *
 * Threads: every function may be called by any thread. Several threads may use one class, metric, lock, table
 * or stored program at the same time, and begin operations on one file or socket. Everything else is used by
 * one thread at a time: a config, a struct on the stack, a handle, a metadata lock, a prepared statement.
 * The same holds for freeing, closing or destroying an object. A wait, statement or transaction belongs to
 * the thread that began it (or to the session that this thread had entered); ended elsewhere, it is not
 * counted.
 * A signal handler may begin and end waits, if its thread has recorded an event before; what interrupts Tare
 * itself is counted as lost. A child of fork() does not record, and may call tare_start() itself.
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
    TARE_NULL = 1,        /* a pointer is NULL that must not be */
    TARE_INVALID = 2,     /* a value out of range, a class of another kind, an unknown name */
    TARE_RUNNING = 3,     /* Tare runs in this process already */
    TARE_NO_SEGMENT = 4,  /* there is no memory or file for the segment */
    TARE_BUSY = 5,        /* the object is held or in use */
    TARE_TIMEOUT = 6,     /* the deadline has passed */
    TARE_NOT_HELD = 7,    /* the lock is not held, or the session was not entered */
    TARE_NO_THREAD = 8,   /* the system starts no thread; errno says why */
    TARE_PANIC = 9        /* a fault of Tare; please report it */
};

/* The calling thread's last failure, and what to do about it; "" = none yet. The text is valid
 * until the thread's next failure. A lock that is busy and a deadline that has passed are no
 * failures. Never NULL. */
const char *tare_error_message(void);

/* The version of the library, such as "0.2.0"; a constant. */
const char *tare_version(void);

/* ---- Starting and stopping ------------------------------------------------------------------ */

typedef struct tare_config tare_config;

enum tare_setting { TARE_OFF = 0, TARE_COUNTED = 1, TARE_ON = 2 };

/* A configuration with MySQL 8.0's defaults, and its end. The functions below change it, for the
 * next tare_start(). They return TARE_NULL if the config or a text is NULL. */
tare_config *tare_config_new(void);
void tare_config_free(tare_config *config);

/* Makes the segment, into which Tare records, a file at `path`. Otherwise it is the file that the
 * environment variable TARE_SEGMENT names, or else memory. With a file, tare_start() sets an action for
 * SIGBUS: if the file gets no more space, recording ends and the process goes on. For other causes, the
 * process's earlier action is called. */
int tare_config_segment(tare_config *config, const char *path);
/* Sets the instruments that match the pattern (% = any text) to an enum tare_setting: off,
 * counted, or counted and timed. The most specific pattern wins, and among equals the last.
 * TARE_INVALID: no such setting. */
int tare_config_instrument(tare_config *config, const char *pattern, int setting);
/* Switches a consumer on or off, by its name in setup_consumers. tare_start() refuses unknown
 * names. */
int tare_config_consumer(tare_config *config, const char *name, int on);
/* 0: the acquisition of a lock is timed only if it has to wait (default). 1: always, as in MySQL. */
int tare_config_lock_timing(tare_config *config, int every);
/* Limits the memory of threads' counters, in bytes; 0 = no limit. At the limit, new rows count as
 * lost. */
int tare_config_memory_limit(tare_config *config, uint64_t bytes);
/* Sets a size: the number of rows of a table of the segment, or bytes. A value out of range
 * becomes the nearest possible one. TARE_INVALID: no such name. */
/* One of: classes threads accounts users hosts actors schemas instances files digests digest_text_bytes
 * sql_text_bytes text_ring_bytes history history_long arena_lines sockets objects indexes
 * table_handles metadata_locks prepared_statements setup_objects metrics attribute_bytes. */
int tare_config_limit(tare_config *config, const char *name, size_t value);
/* Sets one of MySQL's options, as in my.cnf: "performance_schema_digests_size" and "200", or
 * "performance_schema_instrument" and "wait/synch/%=COUNTED". Also "sampling" and "1/16"
 * (docs/sampling.md). Dashes may replace underscores. TARE_INVALID: no such option or value. */
int tare_config_option(tare_config *config, const char *name, const char *value);

/* Starts recording; NULL = the defaults. The config may be freed at once. Threads join at their
 * next event. TARE_RUNNING, TARE_NO_SEGMENT, TARE_INVALID (an unknown consumer; a system other
 * than Linux): the host goes on, and nothing is recorded. */
int tare_start(const tare_config *config);
/* Stops recording. A segment in memory is gone when the threads that recorded have ended, or when
 * Tare starts again; one in a file remains. Does nothing if Tare does not run. */
void tare_stop(void);
/* 1 if Tare records, 0 if not. */
int tare_is_running(void);
/* Starts a thread that follows the settings that readers change, until tare_stop(). With it,
 * functions that record cost one load and one branch while all instruments of their kind are off:
 * waits; statements, stages and transactions; memory. Does nothing if Tare does not run. */
void tare_watch_settings(void);
/* How often tare_start() failed in this process, except with TARE_RUNNING. */
uint64_t tare_failed_starts(void);
/* A new file descriptor of the segment, for readers within the process, which the caller closes;
 * -1 = Tare does not run, the host has closed the segment's own descriptor, or there is no
 * descriptor left. */
int tare_descriptor(void);

/* ---- Classes: what setup_instruments lists -------------------------------------------------- */

typedef struct tare_class tare_class;

enum tare_kind {              /* the prefix of their names */
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
    TARE_USER = 4,      /* threads that serve clients */
    TARE_MUTABLE = 16,  /* a statement whose class is refined later */
    TARE_ENABLED = 256, /* on at start. By default locks, conditions, sockets and stages are off, others on */
    TARE_DISABLED = 512 /* off at start */
};

/*
 * Registers a class, at any time. `kind` is an enum tare_kind, `flags` are enum tare_class_flags.
 * The same kind and name again give the same class, for the life of the process. NULL: the name
 * does not begin with the prefix of its kind, or has more than 128 bytes, or the kind or flags do
 * not exist. Every function takes such a NULL.
 */
tare_class *tare_register(int kind, const char *name, unsigned flags, const char *documentation);

/* A class for tare_register_all(), which stores it at *where. */
typedef struct tare_class_info {
    tare_class **where;
    int kind;
    const char *name;
    unsigned flags;
    const char *documentation;
} tare_class_info;

/* Registers `count` classes. Returns how many could not be registered; their *where is NULL. */
size_t tare_register_all(const tare_class_info *infos, size_t count);

/* ---- Locks ---------------------------------------------------------------------------------- */

/*
 * Locks for the threads of one process. They replace pthread's: Tare counts and times their use,
 * and lists them with their holders. They are initialised where they are, and must not be moved or
 * copied. Zeroed memory, such as a static variable, is a lock without a class: it counts as
 * "unnamed", until tare_..._init() gives it a class, before other threads use it. A lock with a
 * class that is NULL or of another kind is one, too.
 *
 * The functions of a lock return TARE_NULL or TARE_INVALID if it is NULL or was destroyed. A
 * deadline is a moment of CLOCK_REALTIME, as pthread's are. A clock that is set during the wait
 * does not move it. TARE_INVALID: its tv_nsec is not from 0 to 999,999,999.
 */
typedef struct tare_mutex { uint64_t opaque[4]; } tare_mutex;
typedef struct tare_rwlock { uint64_t opaque[6]; } tare_rwlock;
typedef struct tare_cond { uint64_t opaque[4]; } tare_cond;

#define TARE_MUTEX_INITIALIZER { { 0, 0, 0, 0 } }
#define TARE_RWLOCK_INITIALIZER { { 0, 0, 0, 0, 0, 0 } }
#define TARE_COND_INITIALIZER { { 0, 0, 0, 0 } }

/* Gives the mutex a class of kind MUTEX. TARE_INVALID: another kind; the mutex works, and counts
 * as unnamed. */
int tare_mutex_init(tare_mutex *mutex, tare_class *cls);
/* Ends the mutex. TARE_BUSY: it is held. */
int tare_mutex_destroy(tare_mutex *mutex);
/* Takes the mutex, and waits for it. Not recursive: a thread that holds it waits for ever. */
int tare_mutex_lock(tare_mutex *mutex);
/* Takes the mutex if it is free. TARE_BUSY: it is held. */
int tare_mutex_trylock(tare_mutex *mutex);
/* Takes the mutex, and waits until the deadline. TARE_TIMEOUT: it is still held. */
int tare_mutex_timedlock(tare_mutex *mutex, const struct timespec *deadline);
/* Releases the mutex, which the calling thread holds. TARE_NOT_HELD: nobody does. */
int tare_mutex_unlock(tare_mutex *mutex);

/* A lock for readers (rd) or one writer (wr), with a class of kind RW_LOCK or SX_LOCK. Writers go
 * before readers that wait. Not recursive. Otherwise as the mutex. */
int tare_rwlock_init(tare_rwlock *rwlock, tare_class *cls);
int tare_rwlock_destroy(tare_rwlock *rwlock);
int tare_rwlock_rdlock(tare_rwlock *rwlock);
int tare_rwlock_tryrdlock(tare_rwlock *rwlock);
int tare_rwlock_rdunlock(tare_rwlock *rwlock);
int tare_rwlock_wrlock(tare_rwlock *rwlock);
int tare_rwlock_trywrlock(tare_rwlock *rwlock);
int tare_rwlock_wrunlock(tare_rwlock *rwlock);

/* A condition variable, with a class of kind COND. No thread may wait for it when it is destroyed. */
int tare_cond_init(tare_cond *cond, tare_class *cls);
int tare_cond_destroy(tare_cond *cond);
/* Releases the mutex, waits, and takes it again, also after TARE_TIMEOUT. The calling thread holds
 * the mutex; TARE_NOT_HELD: nobody does. May return without a signal, so check the condition in a
 * loop. */
int tare_cond_wait(tare_cond *cond, tare_mutex *mutex);
int tare_cond_timedwait(tare_cond *cond, tare_mutex *mutex, const struct timespec *deadline);
/* Wakes one waiting thread, or all. */
int tare_cond_signal(tare_cond *cond);
int tare_cond_broadcast(tare_cond *cond);

/* ---- Locks of the C library, which the host keeps ------------------------------------------------ */

/*
 * Each does what pthread_...() does, and returns what that returns (0, EBUSY, ETIMEDOUT and
 * others; not an enum tare_status). A lock that is free is counted under the class, and a wait for
 * it is timed. If the GNU C library is older than 2.30, each acquisition of a rwlock is timed.
 * Tare stores nothing in the lock, so it has no instance and no holder in Tare's tables. A class
 * that is NULL or of another kind counts as "unnamed". Unlocking and signalling are not counted,
 * so pthread's own functions do as well. EINVAL: an object or a deadline is NULL.
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

/* `cls` is the condition's, of kind COND. Taking the mutex again is not counted. */
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

/* A wait that runs: a variable on the stack, which need not be initialised. */
typedef struct tare_wait { uint64_t opaque[8]; } tare_wait;

/* For tare_wait_end(): the operation moves no bytes. */
#define TARE_NO_BYTES UINT64_MAX

/* Begins a wait. `cls` is of any wait kind, and `operation` an enum tare_operation of that kind:
 * MUTEX 1 and 2, RW_LOCK 3 to 6, SX_LOCK 3 to 9, COND 10 and 11, FILE 16 to 30, SOCKET 32 to 40,
 * TABLE_IO 48 to 51, TABLE_LOCK 52, 53 and 56 to 63, METADATA_LOCK 54, IDLE 55. Another one is not
 * recorded. */
void tare_wait_begin(tare_wait *wait, tare_class *cls, int operation);
/* Ends a wait, with the number of bytes that were read or written, or of rows for a table. A
 * second call does nothing. */
void tare_wait_end(tare_wait *wait, uint64_t bytes);
/* Begins to wait for a client's request. Kind IDLE. tare_wait_end(wait, TARE_NO_BYTES) ends it. */
void tare_idle_begin(tare_wait *wait, tare_class *cls);

/* An open file, by its path. Kind FILE. All that are open with one path share a row of
 * file_instances. */
typedef struct tare_file tare_file;
tare_file *tare_file_open(tare_class *cls, const char *path);
void tare_file_close(tare_file *file);
/* Begins an operation on it, from TARE_OP_CREATE to TARE_OP_FILE_LOCK. */
void tare_file_begin(tare_wait *wait, tare_file *file, int operation);

/* An open socket, by its file descriptor: a row of socket_instances until it is closed. Kind
 * SOCKET. */
typedef struct tare_socket tare_socket;
tare_socket *tare_socket_open(tare_class *cls, int descriptor);
void tare_socket_close(tare_socket *socket);
/* Begins an operation on it, from TARE_OP_RECV to TARE_OP_SET_OPTION. */
void tare_socket_begin(tare_wait *wait, tare_socket *socket, int operation);
/* Sets the peer's address and port (NULL = none); of a listening socket, its own. */
void tare_socket_peer(tare_socket *socket, const char *ip, uint16_t port);
/* The calling thread, or the session that it has entered, serves the socket: THREAD_ID. */
void tare_socket_own(const tare_socket *socket);
/* Sets whether that thread or session waits for the peer to send something: STATE is IDLE or
 * ACTIVE. */
void tare_socket_idle(const tare_socket *socket, int is_idle);

/* ---- Stages ----------------------------------------------------------------------------------- */

/* The calling thread enters a stage, and leaves the one before. Kind STAGE. The clock is read
 * once. */
void tare_stage_set(tare_class *cls);
/* Leaves the stage. The end of the statement does so, too. */
void tare_stage_end(void);
/* Sets how much of the stage's work is completed, and the estimate of all of it, in units of your
 * choice. */
void tare_stage_progress(uint64_t completed, uint64_t estimated);

/* ---- Statements --------------------------------------------------------------------------------- */

/* A statement that runs: a variable that need not be initialised, and stays at its address. */
typedef struct tare_statement { uint64_t opaque[40]; } tare_statement;
/* The hash that DIGEST shows. Compute it once for a statement that is prepared. */
typedef struct tare_digest { uint8_t hash[32]; } tare_digest;

enum tare_counter {
    TARE_LOCK_TIME = 0, /* waits for table locks, in microseconds */
    TARE_ERRORS = 1, TARE_WARNINGS = 2, TARE_ROWS_AFFECTED = 3, TARE_ROWS_SENT = 4,
    TARE_ROWS_EXAMINED = 5, TARE_CREATED_TMP_DISK_TABLES = 6, TARE_CREATED_TMP_TABLES = 7,
    TARE_SELECT_FULL_JOIN = 8, TARE_SELECT_FULL_RANGE_JOIN = 9, TARE_SELECT_RANGE = 10,
    TARE_SELECT_RANGE_CHECK = 11, TARE_SELECT_SCAN = 12, TARE_SORT_MERGE_PASSES = 13,
    TARE_SORT_RANGE = 14, TARE_SORT_ROWS = 15, TARE_SORT_SCAN = 16, TARE_NO_INDEX_USED = 17,
    TARE_NO_GOOD_INDEX_USED = 18
};

/* Begins a statement of a class of kind STATEMENT. Statements of one thread may be nested. */
void tare_statement_begin(tare_statement *statement, tare_class *cls);
/* Ends it, and the stage that the thread is in. A second call does nothing. */
void tare_statement_end(tare_statement *statement);
/* 1 if something is recorded, 0 if not: then the host can leave out what only Tare needs. */
int tare_statement_is_recorded(const tare_statement *statement);
/* Changes its class, when the host knows which statement it is. */
void tare_statement_refine(tare_statement *statement, tare_class *cls);
/* Sets its text in SQL, of which the first 1,024 bytes (sql_text_bytes) are stored, and computes
 * its digest. */
void tare_statement_text(tare_statement *statement, const char *text, size_t length);
/* For other languages than SQL: sets the normalised text that DIGEST_TEXT shows (NUL-terminated),
 * such as "get ?", by which statements are grouped, and the text itself with its length (NULL =
 * none). */
void tare_statement_shape(tare_statement *statement, const char *shape, const char *text,
                          size_t length);
/* Sets the text of a prepared statement, and its digest (NULL = computed from the text). */
void tare_statement_prepared(tare_statement *statement, const char *text, size_t length,
                             const tare_digest *digest);
/* Sets its default schema, if that is not the thread's. */
void tare_statement_schema(tare_statement *statement, const char *name);
/* Sets an enum tare_counter, or adds to it. */
void tare_statement_set(tare_statement *statement, int counter, uint64_t value);
void tare_statement_add(tare_statement *statement, int counter, uint64_t n);
/* The statement failed: sets the error's number, SQLSTATE (five characters) and message, and
 * counts the error, so that tare_error_raised() is not needed. */
void tare_statement_error(tare_statement *statement, uint32_t number, const char *sqlstate,
                          const char *message);

/* Computes the digest of a text in SQL. TARE_NULL: `digest` is NULL. */
int tare_digest_of(tare_digest *digest, const char *text, size_t length);
/* Writes the normalised text (DIGEST_TEXT) of a text in SQL to `out`, as much as fits `size` bytes
 * with a NUL. Returns how many bytes were written, without the NUL. */
size_t tare_digest_text(const char *text, size_t length, char *out, size_t size);

/* ---- Tables -------------------------------------------------------------------------------------- */

/* A table by its name, for all sessions; `io` is of kind TABLE_IO, `lock` of kind TABLE_LOCK.
 * `indexes` has the names of its `count` indexes; events name an index by its place in the list.
 * setup_objects says whether the table is counted. */
typedef struct tare_table tare_table;
tare_table *tare_table_new(tare_class *io, tare_class *lock, const char *schema, const char *name,
                           const char *const *indexes, size_t count);
/* Frees it, after all of its handles. Its figures remain. */
void tare_table_free(tare_table *table);
/* The table was dropped: removes its figures. */
void tare_table_dropped(const char *schema, const char *name);

enum tare_table_lock {
    TARE_TABLE_READ = 0, TARE_TABLE_READ_WITH_SHARED_LOCKS = 1, TARE_TABLE_READ_HIGH_PRIORITY = 2,
    TARE_TABLE_READ_NO_INSERT = 3, TARE_TABLE_WRITE_ALLOW_WRITE = 4,
    TARE_TABLE_WRITE_CONCURRENT_INSERT = 5, TARE_TABLE_WRITE_LOW_PRIORITY = 6, TARE_TABLE_WRITE = 7,
    TARE_TABLE_READ_EXTERNAL = 8, TARE_TABLE_WRITE_EXTERNAL = 9
};

/* A table that a session has open: a row of table_handles, of the calling thread. */
typedef struct tare_table_handle tare_table_handle;
tare_table_handle *tare_table_open(tare_table *table);
void tare_table_close(tare_table_handle *handle);
/* For hosts that reuse handles: the calling thread or its session owns it from now on, or nobody
 * does. */
void tare_table_bind(tare_table_handle *handle);
void tare_table_unbind(tare_table_handle *handle);
/* Begins TARE_OP_FETCH, _INSERT, _UPDATE or _DELETE_ROW through an index (-1 = none).
 * tare_wait_end() takes the number of rows; TARE_NO_BYTES is one row. */
void tare_table_io_begin(tare_wait *wait, tare_table_handle *handle, int operation, int index);
/* Begins to wait for an enum tare_table_lock. After its end, tare_table_locked(handle, lock, 1)
 * says that the handle has the lock. */
void tare_table_lock_begin(tare_wait *wait, tare_table_handle *handle, int lock);
/* The handle has the lock. waited = 0: it got it at the first try, which is counted without
 * reading a clock. */
void tare_table_locked(tare_table_handle *handle, int lock, int waited);
/* The handle has released the storage engine's lock (external = 1), or the server's (0). */
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

/* A metadata lock of a session, not held yet: `on` is an enum tare_namespace; names may be NULL.
 * Kind METADATA_LOCK. It is a row of metadata_locks while it is waited for or held. */
typedef struct tare_metadata_lock tare_metadata_lock;
tare_metadata_lock *tare_metadata_lock_new(tare_class *cls, int on, const char *schema,
                                           const char *name, const char *column);
void tare_metadata_lock_free(tare_metadata_lock *lock);
/* Begins to wait for it, with an enum tare_lock_type and tare_lock_duration. LOCK_STATUS is
 * PENDING until tare_metadata_lock_set() or tare_metadata_lock_release(). */
void tare_metadata_lock_begin(tare_wait *wait, tare_metadata_lock *lock, int type, int duration);
/* Sets its status (enum tare_lock_status); the calling thread or its session is the owner. */
void tare_metadata_lock_set(tare_metadata_lock *lock, int type, int duration, int status);
/* It is neither held nor waited for any more. */
void tare_metadata_lock_release(tare_metadata_lock *lock);

/* ---- Prepared statements and stored programs ------------------------------------------------------- */

/* A prepared statement of the calling thread or its session: its number in the protocol, its name
 * in SQL (NULL = none) and its text. It is a row of prepared_statements_instances until it is
 * freed. */
typedef struct tare_prepared tare_prepared;
tare_prepared *tare_prepared_new(uint64_t id, const char *name, const char *sql, size_t length);
void tare_prepared_free(tare_prepared *prepared);
/* It was prepared again, because a table has changed: COUNT_REPREPARE. */
void tare_prepared_anew(tare_prepared *prepared);
/* The statement prepares it, or executes it: it is counted for the prepared statement, too. */
void tare_statement_prepares(tare_statement *statement, const tare_prepared *prepared);
void tare_statement_executes(tare_statement *statement, const tare_prepared *prepared);

enum tare_program_type {
    TARE_EVENT = 1, TARE_FUNCTION = 2, TARE_PROCEDURE = 3, TARE_TRIGGER = 5
};

/* A stored program by its name; `type` is an enum tare_program_type. setup_objects says whether it
 * is counted. */
typedef struct tare_program tare_program;
tare_program *tare_program_new(int type, const char *schema, const char *name);
void tare_program_free(tare_program *program);
/* The program was dropped: frees it, and removes its figures. */
void tare_program_dropped(tare_program *program);
/* A call that runs: a variable on the stack. Statements of the thread that begin and end in it
 * count for the program, too. A second call of tare_program_end() does nothing. */
typedef struct tare_call { uint64_t opaque[8]; } tare_call;
void tare_program_begin(tare_call *call, const tare_program *program);
void tare_program_end(tare_call *call);

/* ---- Transactions ------------------------------------------------------------------------------ */

/* A transaction that runs: a variable that need not be initialised, and stays at its address. */
typedef struct tare_transaction { uint64_t opaque[8]; } tare_transaction;

enum tare_isolation {
    TARE_READ_UNCOMMITTED = 0, TARE_READ_COMMITTED = 1, TARE_REPEATABLE_READ = 2,
    TARE_SERIALIZABLE = 3
};
enum tare_transaction_flags { TARE_READ_ONLY = 1, TARE_AUTOCOMMIT = 2 };

/* Begins a transaction of kind TRANSACTION, with an enum tare_isolation (another number is
 * REPEATABLE READ) and enum tare_transaction_flags. It may outlive many statements. */
void tare_transaction_begin(tare_transaction *transaction, tare_class *cls, int isolation,
                            unsigned flags);
/* Ends it. A second call of either does nothing. */
void tare_transaction_commit(tare_transaction *transaction);
void tare_transaction_rollback(tare_transaction *transaction);
/* Sets the storage engine's number of it: TRX_ID. */
void tare_transaction_id(tare_transaction *transaction, uint64_t id);
/* Counts a savepoint that was set, a rollback to one, and one that was released. */
void tare_transaction_savepoint(tare_transaction *transaction);
void tare_transaction_rollback_to(tare_transaction *transaction);
void tare_transaction_release(tare_transaction *transaction);

/* ---- Metrics: what INFORMATION_SCHEMA.INNODB_METRICS lists --------------------------------------- */

typedef struct tare_metric tare_metric;

enum tare_metric_type {
    TARE_METRIC_COUNTER = 1,        /* a number of events */
    TARE_METRIC_VALUE = 2,          /* a present value */
    TARE_METRIC_STATUS_COUNTER = 3, /* a number that the host counts in any case */
    TARE_METRIC_SET_OWNER = 4,      /* the sum of a set of metrics */
    TARE_METRIC_SET_MEMBER = 5      /* a member of such a set */
};

enum tare_metrics_action {
    TARE_METRICS_ENABLE = 1,
    TARE_METRICS_DISABLE = 2,
    TARE_METRICS_RESET = 3,    /* restarts the figures since the last reset */
    TARE_METRICS_RESET_ALL = 4 /* restarts all figures, of metrics that are disabled */
};

/*
 * Registers a metric, at any time; flags are 0 or TARE_ENABLED. The same name again gives the same
 * metric, for the life of the process. NULL: the name has not 1 to 128 bytes, the subsystem not 1
 * to 64, or the type or flags do not exist.
 */
tare_metric *tare_metric_register(int type, const char *name, const char *subsystem,
                                  unsigned flags, const char *documentation);
/* Adds to a counter, if it is enabled. It takes no lock. */
void tare_metric_add(tare_metric *metric, uint64_t n);
/* Sets a value, if it is enabled. If two threads set it at the same time, the later value stays. */
void tare_metric_set(tare_metric *metric, int64_t value);
/* 1 if it is enabled, 0 if not: then the host need not measure what only this metric needs. */
int tare_metric_is_enabled(tare_metric *metric);
/* Does an enum tare_metrics_action to `all`, `module_SUBSYSTEM`, a name, or a pattern with %.
 * TARE_INVALID: no metric is selected, none allows it, or Tare does not run. */
int tare_metrics_act(int action, const char *what);

/* ---- Memory and errors -------------------------------------------------------------------------- */

/* Counts memory that was allocated or freed, in bytes. Kind MEMORY. Another thread may free it. */
void tare_memory_allocated(tare_class *cls, size_t bytes);
void tare_memory_freed(tare_class *cls, size_t bytes);

/* Counts an error by its number (MySQL's, if there is one): raised, or handled so that no client
 * gets it. */
void tare_error_raised(uint32_t code);
void tare_error_handled(uint32_t code);
/* Gives an error a name (MySQL: ER_...) and its SQLSTATE (NULL = none), so that the tables of
 * errors list it, also if it was never raised. Before or after tare_start(). TARE_NULL: it has no
 * name. */
int tare_error_define(uint32_t code, const char *name, const char *sqlstate);

/* ---- Threads ------------------------------------------------------------------------------------- */

/* Starts a thread of a class of kind THREAD, as pthread_create() does; with another class, it
 * starts without one. TARE_NO_THREAD: the system started none, and errno says why. */
int tare_thread_create(pthread_t *thread, const pthread_attr_t *attributes, tare_class *cls,
                       void *(*start)(void *), void *argument);
/* Gives the calling thread a class of kind THREAD, if it was started otherwise. */
void tare_thread_register(tare_class *cls);
/* The calling thread's (or its session's) THREAD_ID; 0 = not recorded. */
uint64_t tare_thread_id(void);

/* The next functions set what `threads` has of the calling thread, or of the session that it has
 * entered. */

/* The account of its client. Earlier events remain those of the earlier account. */
void tare_thread_set_account(const char *user, const char *host);
/* The connection's number, as KILL takes it: PROCESSLIST_ID. */
void tare_thread_set_processlist_id(uint64_t id);
/* The default schema; NULL or empty = none. */
void tare_thread_set_db(const char *name);
/* The client's command, an enum tare_command. PROCESSLIST_TIME starts again. */
enum tare_command {
    TARE_SLEEP = 0, TARE_QUIT = 1, TARE_INIT_DB = 2, TARE_QUERY = 3, TARE_FIELD_LIST = 4,
    TARE_STATISTICS = 9, TARE_CONNECT = 11, TARE_KILL = 12, TARE_PING = 14, TARE_CHANGE_USER = 17,
    TARE_PREPARE = 22, TARE_EXECUTE = 23, TARE_LONG_DATA = 24, TARE_CLOSE_STATEMENT = 25,
    TARE_RESET_STATEMENT = 26, TARE_SET_OPTION = 27, TARE_FETCH = 28, TARE_DAEMON = 29,
    TARE_RESET_CONNECTION = 31
};
void tare_thread_set_command(int command);
/* PROCESSLIST_STATE and _INFO; NULL or empty = the name of the stage, the text of the statement. */
void tare_thread_set_state(const char *text);
void tare_thread_set_info(const char *text);
/* How the client is connected. */
enum tare_connection_type {
    TARE_BACKGROUND = 0, TARE_TCP_IP = 1, TARE_TLS = 2, TARE_UNIX_SOCKET = 3
};
void tare_thread_set_connection_type(int type);
/* THREAD_OS_ID. A session has that of the thread that has entered it: set it only if another
 * thread works for it. */
void tare_thread_set_os_id(uint64_t id);
/* The client's attributes (session_connect_attrs), a line "key=value" for each. They are cut after
 * performance_schema_session_connect_attrs_size bytes. */
void tare_thread_set_attributes(const char *lines);

/* ---- Sessions: a client served by a pool of threads ------------------------------------------------ */

typedef struct tare_session tare_session;

/* A session: a row of `threads`, of a class of kind THREAD. Only one thread at a time can be in
 * it. */
tare_session *tare_session_new(tare_class *cls);
/* The calling thread works for the session from now on: its events are the session's. TARE_BUSY:
 * another thread does, or this one does already. */
int tare_session_enter(tare_session *session);
/* The calling thread leaves the session. A thread that has entered several may leave them in any
 * order. TARE_NOT_HELD: it has not entered this one. */
int tare_session_leave(tare_session *session);
/* Ends the session. TARE_BUSY: a thread is in it. */
int tare_session_free(tare_session *session);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TARE_H */
