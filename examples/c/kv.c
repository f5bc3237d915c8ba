/*
 * kv.c - a small key-value server, instrumented by Tare: a pool of threads serves the sessions of
 * many clients, with locks, statements, stages, transactions, a journal and memory.
 *
 *   kv [-t threads] [-c clients] [-n requests of each client] [-j journal] [-w]
 *
 * The clients are played by the program itself, so that it can say at the end how often everything
 * happened: compare with what Tare counted. With -w it then waits for the end of its input, so
 * that `tare sql` can look at it.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare.h>

/* ---- The instruments -------------------------------------------------------------------------- */

static tare_class *LOCK_queue, *LOCK_journal, *LOCK_table, *COND_queue, *file_journal, *table_rows,
    *table_locks, *idle,
    *stage_parsing, *stage_executing, *stage_journaling, *statement_request, *statement_select,
    *statement_insert, *transaction, *memory_values, *thread_worker, *thread_client;

static const tare_class_info classes[] = {
    {&LOCK_queue, TARE_KIND_MUTEX, "wait/synch/mutex/kv/LOCK_queue", 0, "Guards the queue"},
    {&LOCK_journal, TARE_KIND_MUTEX, "wait/synch/mutex/kv/LOCK_journal", 0, "Guards the journal"},
    {&LOCK_table, TARE_KIND_RW_LOCK, "wait/synch/rwlock/kv/LOCK_table", 0, "Guards a part of the table"},
    {&COND_queue, TARE_KIND_COND, "wait/synch/cond/kv/COND_queue", 0, "There is work, or no more"},
    {&file_journal, TARE_KIND_FILE, "wait/io/file/kv/journal", 0, "Every insert, in order"},
    {&table_rows, TARE_KIND_TABLE_IO, "wait/io/table/kv/handler", 0, "A row of the table"},
    {&table_locks, TARE_KIND_TABLE_LOCK, "wait/lock/table/kv/handler", 0, ""},
    {&idle, TARE_KIND_IDLE, "idle", 0, "A client that says nothing"},
    {&stage_parsing, TARE_KIND_STAGE, "stage/kv/Parsing", 0, ""},
    {&stage_executing, TARE_KIND_STAGE, "stage/kv/Executing", 0, ""},
    {&stage_journaling, TARE_KIND_STAGE, "stage/kv/Writing the journal", TARE_PROGRESS, ""},
    {&statement_request, TARE_KIND_STATEMENT, "statement/abstract/kv_request", TARE_MUTABLE,
     "A request, before it is parsed"},
    {&statement_select, TARE_KIND_STATEMENT, "statement/kv/select", 0, ""},
    {&statement_insert, TARE_KIND_STATEMENT, "statement/kv/insert", 0, ""},
    {&transaction, TARE_KIND_TRANSACTION, "transaction", 0, ""},
    {&memory_values, TARE_KIND_MEMORY, "memory/kv/values", 0, "What the table holds"},
    {&thread_worker, TARE_KIND_THREAD, "thread/kv/worker", 0, "One of the pool"},
    {&thread_client, TARE_KIND_THREAD, "thread/kv/client", TARE_USER, "A client's session"},
};

/* ---- The table: parts with a lock each ---------------------------------------------------------- */

enum { PARTS = 16, KEYS = 256, NO_SUCH_KEY = 1032, PRIMARY = 0 };

static struct part {
    tare_rwlock lock;
    uint64_t *values[KEYS / PARTS];
} table[PARTS];

static tare_mutex journal_lock;
static tare_file *journal;
static int journal_fd;

/* ---- The clients, and the queue of those that have something to say ------------------------------ */

struct client {
    tare_session *session;
    tare_table_handle *table; /* the table, as this session has it open */
    struct client *next;
    int number, said;
};

static tare_mutex queue_lock;
static tare_cond queue_changed;
static struct client *first, **last = &first;
static int requests = 1000, unfinished;

/* What happened, counted by the program itself. */
static struct counts {
    uint64_t queue_locks, queue_waits, idles, selects, inserts, failed, new_values;
} total; /* under queue_lock */

static void check(int status, const char *what) {
    if (status != TARE_OK) {
        fprintf(stderr, "kv: %s: %s\n", what, tare_error_message());
        exit(1);
    }
}

/* Takes what all threads take when they look at the queue. */
static void lock_queue(struct counts *counts) {
    check(tare_mutex_lock(&queue_lock), "LOCK_queue");
    counts->queue_locks++;
}

static void enqueue(struct client *client) {
    client->next = NULL;
    *last = client;
    last = &client->next;
}

/* ---- Serving --------------------------------------------------------------------------------------- */

static void write_journal(uint64_t key, uint64_t value) {
    char record[32];
    tare_wait wait;
    int length = snprintf(record, sizeof record, "%010" PRIu64 " %010" PRIu64 "\n", key, value);

    tare_stage_set(stage_journaling);
    tare_stage_progress(0, 1);
    check(tare_mutex_lock(&journal_lock), "LOCK_journal");
    tare_file_begin(&wait, journal, TARE_OP_WRITE);
    ssize_t written = write(journal_fd, record, (size_t)length);
    tare_wait_end(&wait, written < 0 ? TARE_NO_BYTES : (uint64_t)written);
    check(tare_mutex_unlock(&journal_lock), "LOCK_journal");
    tare_stage_progress(1, 1);
}

static void insert(struct client *client, tare_statement *statement, uint64_t key, uint64_t value,
                   struct counts *counts) {
    struct part *part = &table[key % PARTS];
    uint64_t **place = &part->values[key / PARTS];
    tare_transaction change;
    tare_wait io;

    tare_transaction_begin(&change, transaction, TARE_REPEATABLE_READ, 0);
    tare_stage_set(stage_executing);
    tare_table_io_begin(&io, client->table, TARE_OP_INSERT, -1);
    check(tare_rwlock_wrlock(&part->lock), "LOCK_table");
    if (*place == NULL) {
        *place = malloc(sizeof **place);
        tare_memory_allocated(memory_values, sizeof **place);
        counts->new_values++;
    }
    **place = value;
    check(tare_rwlock_wrunlock(&part->lock), "LOCK_table");
    tare_wait_end(&io, 1);
    write_journal(key, value);
    tare_transaction_commit(&change);
    tare_statement_set(statement, TARE_ROWS_AFFECTED, 1);
    counts->inserts++;
}

static void select_one(struct client *client, tare_statement *statement, uint64_t key,
                       struct counts *counts) {
    struct part *part = &table[key % PARTS];
    tare_wait io;

    tare_stage_set(stage_executing);
    tare_table_io_begin(&io, client->table, TARE_OP_FETCH, PRIMARY);
    check(tare_rwlock_rdlock(&part->lock), "LOCK_table");
    int found = part->values[key / PARTS] != NULL;
    check(tare_rwlock_rdunlock(&part->lock), "LOCK_table");
    tare_wait_end(&io, 1);
    tare_statement_add(statement, TARE_ROWS_EXAMINED, 1);
    tare_statement_set(statement, TARE_ROWS_SENT, (uint64_t)found);
    if (!found) {
        tare_statement_error(statement, NO_SUCH_KEY, "HY000", "No such key");
        counts->failed++;
    }
    counts->selects++;
}

/* The client's next request: every fourth is an insert. */
static void serve(struct client *client, struct counts *counts) {
    char text[80];
    tare_statement statement;
    int number = client->said++;
    uint64_t key = (uint64_t)(client->number * 31 + number * 7) % KEYS;
    int is_insert = number % 4 == 0;

    if (is_insert)
        snprintf(text, sizeof text, "INSERT INTO kv (id, value) VALUES (%" PRIu64 ", %d)", key, number);
    else
        snprintf(text, sizeof text, "SELECT value FROM kv WHERE id = %" PRIu64, key);

    tare_thread_set_command(TARE_QUERY);
    tare_statement_begin(&statement, statement_request);
    tare_statement_text(&statement, text, strlen(text));
    tare_stage_set(stage_parsing);
    if (is_insert) {
        tare_statement_refine(&statement, statement_insert);
        insert(client, &statement, key, (uint64_t)number, counts);
    } else {
        tare_statement_refine(&statement, statement_select);
        select_one(client, &statement, key, counts);
    }
    tare_statement_end(&statement);
    tare_thread_set_command(TARE_SLEEP);
}

static void *work(void *argument) {
    struct counts counts = {0};
    (void)argument;

    lock_queue(&counts);
    while (unfinished > 0) {
        struct client *client = first;
        if (client == NULL) {
            counts.queue_waits++;
            /* Taking the mutex again counts, too. */
            check(tare_cond_wait(&queue_changed, &queue_lock), "COND_queue");
            counts.queue_locks++;
            continue;
        }
        first = client->next;
        if (first == NULL)
            last = &first;
        check(tare_mutex_unlock(&queue_lock), "LOCK_queue");

        check(tare_session_enter(client->session), "session");
        serve(client, &counts);
        tare_wait quiet;
        tare_idle_begin(&quiet, idle);
        tare_wait_end(&quiet, TARE_NO_BYTES);
        counts.idles++;
        check(tare_session_leave(client->session), "session");

        lock_queue(&counts);
        if (client->said < requests)
            enqueue(client);
        else if (--unfinished == 0)
            check(tare_cond_broadcast(&queue_changed), "COND_queue");
        check(tare_cond_signal(&queue_changed), "COND_queue");
    }
    total.queue_locks += counts.queue_locks;
    total.queue_waits += counts.queue_waits;
    total.idles += counts.idles;
    total.selects += counts.selects;
    total.inserts += counts.inserts;
    total.failed += counts.failed;
    total.new_values += counts.new_values;
    check(tare_mutex_unlock(&queue_lock), "LOCK_queue");
    return NULL;
}

/* ---- Starting and stopping ----------------------------------------------------------------------------- */

static void start_tare(void) {
    if (tare_register_all(classes, sizeof classes / sizeof *classes) != 0) {
        fprintf(stderr, "kv: %s\n", tare_error_message());
        exit(1);
    }
    static const char *const consumers[] = {
        "events_stages_current", "events_stages_history", "events_waits_current",
        "events_waits_history", "events_transactions_current", "events_transactions_history",
    };
    tare_config *config = tare_config_new();
    check(tare_config_instrument(config, "%", TARE_ON), "instruments");
    for (size_t i = 0; i < sizeof consumers / sizeof *consumers; i++)
        check(tare_config_consumer(config, consumers[i], 1), consumers[i]);
    /* A server goes on when Tare does not start; this one is there to show it. */
    check(tare_start(config), "start");
    tare_config_free(config);
}

static void open_journal(const char *path) {
    tare_wait wait;
    check(tare_mutex_init(&journal_lock, LOCK_journal), "LOCK_journal");
    journal = tare_file_open(file_journal, path);
    tare_file_begin(&wait, journal, TARE_OP_OPEN);
    journal_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    tare_wait_end(&wait, TARE_NO_BYTES);
    if (journal_fd < 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv) {
    int threads = 4, clients = 8, wait_at_end = 0, option;
    const char *path = "/dev/null";
    while ((option = getopt(argc, argv, "t:c:n:j:w")) != -1) {
        switch (option) {
        case 't': threads = atoi(optarg); break;
        case 'c': clients = atoi(optarg); break;
        case 'n': requests = atoi(optarg); break;
        case 'j': path = optarg; break;
        case 'w': wait_at_end = 1; break;
        default: return 2;
        }
    }
    if (threads < 1 || clients < 1 || requests < 1)
        return 2;

    start_tare();
    open_journal(path);
    check(tare_mutex_init(&queue_lock, LOCK_queue), "LOCK_queue");
    check(tare_cond_init(&queue_changed, COND_queue), "COND_queue");
    for (int i = 0; i < PARTS; i++)
        check(tare_rwlock_init(&table[i].lock, LOCK_table), "LOCK_table");

    const char *indexes[] = {"PRIMARY"};
    tare_table *kv = tare_table_new(table_rows, table_locks, "kv", "kv", indexes, 1);
    struct client *all = calloc((size_t)clients, sizeof *all);
    for (int i = 0; i < clients; i++) {
        char user[32];
        snprintf(user, sizeof user, "client%d", i % 3);
        all[i].number = i;
        all[i].session = tare_session_new(thread_client);
        check(tare_session_enter(all[i].session), "session");
        tare_thread_set_account(user, "localhost");
        tare_thread_set_processlist_id((uint64_t)i + 1);
        all[i].table = tare_table_open(kv);
        tare_thread_set_db("kv");
        tare_thread_set_connection_type(TARE_UNIX_SOCKET);
        check(tare_session_leave(all[i].session), "session");
        enqueue(&all[i]);
    }
    unfinished = clients;

    pthread_t *pool = calloc((size_t)threads, sizeof *pool);
    for (int i = 0; i < threads; i++)
        check(tare_thread_create(&pool[i], NULL, thread_worker, work, NULL), "thread");
    for (int i = 0; i < threads; i++)
        pthread_join(pool[i], NULL);

    uint64_t bytes = (uint64_t)lseek(journal_fd, 0, SEEK_END);
    printf("expect wait/synch/mutex/kv/LOCK_queue %" PRIu64 "\n", total.queue_locks);
    printf("expect wait/synch/cond/kv/COND_queue %" PRIu64 "\n", total.queue_waits);
    printf("expect wait/synch/mutex/kv/LOCK_journal %" PRIu64 "\n", total.inserts);
    printf("expect wait/synch/rwlock/kv/LOCK_table %" PRIu64 "\n", total.inserts + total.selects);
    printf("expect wait/io/file/kv/journal %" PRIu64 "\n", total.inserts + 1);
    printf("expect wait/io/table/kv/handler %" PRIu64 "\n", total.inserts + total.selects);
    printf("expect idle %" PRIu64 "\n", total.idles);
    printf("expect stage/kv/Parsing %" PRIu64 "\n", total.inserts + total.selects);
    printf("expect stage/kv/Executing %" PRIu64 "\n", total.inserts + total.selects);
    printf("expect stage/kv/Writing the journal %" PRIu64 "\n", total.inserts);
    printf("expect statement/abstract/kv_request 0\n");
    printf("expect statement/kv/select %" PRIu64 "\n", total.selects);
    printf("expect statement/kv/insert %" PRIu64 "\n", total.inserts);
    printf("expect transaction %" PRIu64 "\n", total.inserts);
    printf("expect memory/kv/values %" PRIu64 "\n", total.new_values);
    printf("expect error/1032 %" PRIu64 "\n", total.failed);
    if (bytes > 0 && bytes != 22 * total.inserts)
        fprintf(stderr, "kv: the journal has %" PRIu64 " bytes\n", bytes);
    printf("done\n");
    fflush(stdout);
    while (wait_at_end && getchar() != EOF)
        ;

    tare_file_close(journal);
    close(journal_fd);
    for (int i = 0; i < clients; i++)
        tare_table_close(all[i].table);
    tare_table_free(kv);
    for (int i = 0; i < clients; i++)
        check(tare_session_free(all[i].session), "session");
    for (int i = 0; i < PARTS; i++) {
        check(tare_rwlock_destroy(&table[i].lock), "LOCK_table");
        for (int j = 0; j < KEYS / PARTS; j++)
            free(table[i].values[j]);
    }
    check(tare_cond_destroy(&queue_changed), "COND_queue");
    check(tare_mutex_destroy(&queue_lock), "LOCK_queue");
    check(tare_mutex_destroy(&journal_lock), "LOCK_journal");
    free(all);
    free(pool);
    tare_stop();
    return 0;
}
