/*
 * tls.c - what programs do with libssl: a server and its client. The test compares what was recorded; this
 * program checks that nothing changes for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tls.h"

enum { REQUESTS = 1000, ALARMS = 100 };
static const char request[] = "get a\r\n", reply[] = "END\r\n";
static SSL_CTX *server_context;

static void read_all(SSL *ssl, char *bytes, int count) {
    for (int length = 0; length < count;) {
        int part = SSL_read(ssl, bytes + length, count - length);
        CHECK(part > 0);
        length += part;
    }
}

/* Is no client of this server, so nothing that it reads and writes is a command. */
static void *run_client(void *argument) {
    int fd = *(int *)argument;
    char bytes[sizeof reply - 1];
    SSL *ssl = new_connection(SSL_CTX_new(TLS_client_method()), fd);
    CHECK(SSL_connect(ssl) == 1);
    CHECK(SSL_write(ssl, "get a\r\nget b\r\n", 14) == 14);
    for (int i = 0; i < 2; i++) {
        read_all(ssl, bytes, sizeof bytes);
        CHECK(memcmp(bytes, reply, sizeof bytes) == 0);
    }
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(SSL_write(ssl, request, sizeof request - 1) == sizeof request - 1);
        read_all(ssl, bytes, sizeof bytes);
        CHECK(memcmp(bytes, reply, sizeof bytes) == 0);
    }
    return ssl;
}

static volatile sig_atomic_t alarms;

static void handle(int number) {
    int before = errno, fd = open("signal.data", O_CREAT | O_WRONLY, 0600);
    (void)number;
    if (fd >= 0) {
        (void)!write(fd, "x", 1);
        close(fd);
    }
    alarms = alarms + 1;
    errno = before;
}

/* Parts of a record, by each function. */
static void serve_parts(SSL *ssl) {
    char bytes[32];
    size_t length;
    CHECK(SSL_peek(ssl, bytes, 5) == 5 && memcmp(bytes, "get a", 5) == 0);
    CHECK(SSL_read(ssl, bytes, 3) == 3 && memcmp(bytes, "get", 3) == 0);
    CHECK(SSL_read_ex(ssl, bytes, sizeof bytes, &length) == 1);
    CHECK(length == 11 && memcmp(bytes, " a\r\nget b\r\n", 11) == 0);
    CHECK(SSL_write(ssl, reply, sizeof reply - 1) == sizeof reply - 1);
    CHECK(SSL_write_ex(ssl, reply, sizeof reply - 1, &length) == 1 && length == sizeof reply - 1);
}

/* While signals interrupt the library and Tare anywhere, and the library's queue has an error. */
static void serve_requests(SSL *ssl) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    char bytes[sizeof request - 1];
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    CHECK(SSL_CTX_use_PrivateKey_file(server_context, "missing", PEM) == 0);
    unsigned long error = ERR_peek_last_error();
    CHECK(error != 0);
    for (int i = 0; i < REQUESTS; i++) {
        read_all(ssl, bytes, sizeof bytes);
        CHECK(memcmp(bytes, request, sizeof bytes) == 0);
        /* The library clears errno. */
        errno = 77;
        CHECK(SSL_write(ssl, reply, sizeof reply - 1) == sizeof reply - 1 && errno == 0);
        CHECK(ERR_peek_last_error() == error);
    }
    while (alarms < ALARMS) {
        usleep(100);
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    ERR_clear_error();
}

static void *wait_for_request(void *ssl) {
    char byte;
    SSL_read(ssl, &byte, 1);
    return NULL;
}

int main(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "tls.socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(address.sun_path);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    CHECK(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    int server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    server_context = new_server_context();

    /* What other libraries find is libssl's. */
    Dl_info found;
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "SSL_read"), &found) != 0 && strstr(found.dli_fname, "libssl") != NULL);

    pthread_t thread;
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    CHECK(pthread_create(&thread, NULL, run_client, &client) == 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    SSL *ssl = new_connection(server_context, server);
    CHECK(SSL_accept(ssl) == 1);
    serve_parts(ssl);
    serve_requests(ssl);
    void *of_client;
    CHECK(pthread_join(thread, &of_client) == 0);

    /* Nothing has come. */
    char byte;
    CHECK(fcntl(server, F_SETFL, O_NONBLOCK) == 0);
    errno = 0;
    int result = SSL_read(ssl, &byte, 1);
    CHECK(result == -1 && errno == EAGAIN && ERR_peek_last_error() == 0);
    CHECK(SSL_get_error(ssl, result) == WANT_READ);

    /* Is cancelled in a call that waits. */
    CHECK(fcntl(server, F_SETFL, 0) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_request, ssl) == 0);
    usleep(10000);
    void *canceled;
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &canceled) == 0);
    CHECK(canceled == PTHREAD_CANCELED);
    SSL_free(ssl);
    CHECK(close(server) == 0 && close(client) == 0 && close(listener) == 0);
    puts("done");
    return 0;
}
