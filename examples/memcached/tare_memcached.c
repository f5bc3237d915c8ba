/* tare_memcached.c - see tare_memcached.h. */
#define MC_WITHOUT_MACROS
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tare_memcached.h"

/* Commands have instruments of their own; any other counts as the last. */
static const char *const commands[] = {
    "get", "gets", "gat",  "gats",   "set",   "add",   "replace", "append",    "prepend", "cas", "touch",
    "mg",  "ms",   "md",   "ma",     "me",    "mn",    "incr",    "decr",      "delete",  "stats",
    "version",     "quit", "verbosity",       "flush_all",        "other",
};
enum { COMMANDS = sizeof commands / sizeof *commands };
static tare_class *classes[COMMANDS], *client;

/* "lru_locks" of "&lru_locks[it->slabs_clsid]", "stats.mutex" of "&c->thread->stats.mutex". */
tare_class *mc_class(int kind, const char *prefix, const char *expression) {
    char name[128];
    size_t length = strlen(strcpy(name, prefix)), first = length;
    int depth = 0;
    for (; *expression != '\0' && length < sizeof name - 1; expression++) {
        if (*expression == '[')
            depth++;
        else if (*expression == ']')
            depth--;
        else if (depth == 0 && *expression == '>')
            length = first;
        else if (depth == 0 && (isalnum((unsigned char)*expression) || strchr("_.", *expression)))
            name[length++] = *expression;
    }
    name[length] = '\0';
    return tare_register(kind, name, 0, "");
}

int mc_create_thread(pthread_t *thread, const pthread_attr_t *attributes, const char *name,
                     void *(*start)(void *), void *argument) {
    /* memcached starts its workers by a parameter. */
    const char *known = strcmp(name, "func") == 0 ? "worker" : name;
    tare_class *cls = mc_class(TARE_KIND_THREAD, "thread/memcached/", known);
    return tare_thread_create(thread, attributes, cls, start, argument) == TARE_OK ? 0 : errno;
}

void mc_start(void) {
    tare_config *config = tare_config_new();
    for (int i = 0; i < COMMANDS; i++)
        classes[i] = mc_class(TARE_KIND_STATEMENT, "statement/memcached/", commands[i]);
    client = tare_register(TARE_KIND_THREAD, "thread/memcached/client", TARE_USER, "A connection");
    tare_config_instrument(config, "%", TARE_ON);
    if (tare_start(config) != TARE_OK)
        fprintf(stderr, "memcached runs without Tare: %s\n", tare_error_message());
    tare_config_free(config);
    tare_thread_register(mc_class(TARE_KIND_THREAD, "thread/memcached/", "main"));
}

void mc_connect(struct mc_connection *connection) {
    connection->session = tare_session_new(client);
}

void mc_enter(struct mc_connection *connection) {
    tare_session_enter(connection->session);
}

void mc_leave(struct mc_connection *connection) {
    tare_session_leave(connection->session);
}

void mc_disconnect(struct mc_connection *connection) {
    tare_statement_end(&connection->statement);
    tare_session_leave(connection->session);
    tare_session_free(connection->session);
    connection->session = NULL;
}

void mc_begin(struct mc_connection *connection, const char *command, size_t length) {
    size_t word = strcspn(command, " ");
    int i = 0;
    char shape[32];
    while (i < COMMANDS - 1 && (strlen(commands[i]) != word || memcmp(commands[i], command, word) != 0))
        i++;
    tare_statement_begin(&connection->statement, classes[i]);
    if (!tare_statement_is_recorded(&connection->statement))
        return;
    snprintf(shape, sizeof shape, "%s%s", commands[i], word < length ? " ?" : "");
    tare_statement_shape(&connection->statement, shape, command, length);
}

void mc_look_up(struct mc_connection *connection, int is_hit) {
    tare_statement_add(&connection->statement, TARE_ROWS_EXAMINED, 1);
    if (is_hit)
        tare_statement_add(&connection->statement, TARE_ROWS_SENT, 1);
}

void mc_end(struct mc_connection *connection) {
    tare_statement_end(&connection->statement);
}
