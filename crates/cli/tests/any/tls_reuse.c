/*
 * tls_reuse.c - a server that uses again what libssl's connections and the kernel's sockets have left: their
 * objects, addresses and numbers. Both ends are in one thread, and no call waits.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tls.h"

enum { THREADS = 4, ROUNDS = 60 };
static const char requests[] = "get a\r\nget b\r\n", reply[] = "END\r\n";
static const int request_length = 7;
static SSL_CTX *server_context, *client_context;
static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "reuse.socket"};
static int listener;
static pthread_mutex_t one_client = PTHREAD_MUTEX_INITIALIZER;

/* A socket that is accepted, and its client's. */
struct sockets {
    int server, client;
};

static struct sockets connect_client(void) {
    struct sockets both = {-1, socket(AF_UNIX, SOCK_STREAM, 0)};
    CHECK(pthread_mutex_lock(&one_client) == 0);
    CHECK(connect(both.client, (struct sockaddr *)&address, sizeof address) == 0);
    both.server = accept(listener, NULL, NULL);
    CHECK(pthread_mutex_unlock(&one_client) == 0);
    CHECK(both.server >= 0);
    CHECK(fcntl(both.server, F_SETFL, O_NONBLOCK) == 0 && fcntl(both.client, F_SETFL, O_NONBLOCK) == 0);
    return both;
}

static int is_done(SSL *ssl, int result) {
    CHECK(result == 1 || SSL_get_error(ssl, result) == WANT_READ);
    return result == 1;
}

static void shake_hands(SSL *server, SSL *client) {
    int is_server_done = 0, is_client_done = 0;
    while (!is_server_done || !is_client_done) {
        is_client_done = is_client_done || is_done(client, SSL_connect(client));
        is_server_done = is_server_done || is_done(server, SSL_accept(server));
    }
}

/* What a call of the server leaves in the library, the next one reads from there. */
static void read_request(SSL *server) {
    char bytes[16];
    CHECK(SSL_read(server, bytes, request_length) == request_length && memcmp(bytes, "get ", 4) == 0);
}

static void reply_to(SSL *server) {
    CHECK(SSL_write(server, reply, sizeof reply - 1) == sizeof reply - 1);
}

/* Two requests in one record. `close_first`: between them. */
static void serve(SSL *server, int client_socket, int close_first) {
    SSL *client = new_connection(client_context, client_socket);
    shake_hands(server, client);
    CHECK(SSL_write(client, requests, sizeof requests - 1) == sizeof requests - 1);
    read_request(server);
    if (close_first >= 0) {
        CHECK(close(close_first) == 0);
    }
    read_request(server);
    reply_to(server);
    reply_to(server);
    SSL_free(client);
    CHECK(close(client_socket) == 0);
}

static void serve_next(SSL *server, int socket) {
    CHECK(SSL_clear(server) == 1);
    /* The second time to no effect. */
    CHECK(SSL_set_fd(server, socket) == 1 && SSL_set_fd(server, socket) == 1);
}

/* One object for one socket after the other. */
static void reuse_objects(void) {
    struct sockets first = connect_client(), next;
    SSL *server = new_connection(server_context, first.server);
    serve(server, first.client, -1);
    /* The first socket is closed while the second one is served. */
    next = connect_client();
    serve_next(server, next.server);
    serve(server, next.client, first.server);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(close(next.server) == 0);
        next = connect_client();
        serve_next(server, next.server);
        serve(server, next.client, -1);
    }
    /* Two objects for one socket. */
    first = connect_client();
    serve_next(server, first.server);
    SSL *client = new_connection(client_context, first.client), *other = new_connection(server_context, first.server);
    SSL_free(server);
    shake_hands(other, client);
    CHECK(SSL_write(client, requests, sizeof requests - 1) == sizeof requests - 1);
    read_request(other);
    read_request(other);
    reply_to(other);
    reply_to(other);
    SSL_free(client);
    SSL_free(other);
    CHECK(close(first.server) == 0 && close(first.client) == 0 && close(next.server) == 0);
}

/* Another thread gets the object's address and the socket's number as soon as both are free. */
static void *reuse_addresses(void *nothing) {
    for (int i = 0; i < ROUNDS; i++) {
        struct sockets both = connect_client();
        SSL *server = new_connection(server_context, both.server);
        serve(server, both.client, -1);
        SSL_free(server);
        CHECK(close(both.server) == 0);
    }
    return nothing;
}

int main(void) {
    pthread_t threads[THREADS];
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(address.sun_path);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, THREADS) == 0);
    server_context = new_server_context();
    client_context = SSL_CTX_new(TLS_client_method());
    reuse_objects();
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, reuse_addresses, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    printf("%d\n", 2 * (2 + ROUNDS + 1 + THREADS * ROUNDS));
    return 0;
}
