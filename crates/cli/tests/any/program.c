/*
 * program.c - what programs do with descriptors, processes, threads and signals. The test compares what was
 * recorded; this program checks that nothing changes for it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

static int open_new(const char *name) {
    int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
    CHECK(fd >= 0);
    return fd;
}

static void write_bytes(int fd, size_t count) {
    char bytes[100] = {0};
    CHECK(write(fd, bytes, count) == (ssize_t)count);
}

static void wait_for(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* 21 bytes of one.data in one copy after the other. */
static void copy_descriptors(void) {
    int one = open_new("one.data"), other = open_new("other.data");
    write_bytes(one, 1);
    /* A child with this memory and descriptors of its own. */
    pid_t child = vfork();
    if (child == 0) {
        close(one);
        dup2(other, one);
        _exit(0);
    }
    wait_for(child);
    write_bytes(one, 2);
    CHECK(dup2(one, one) == one);
    write_bytes(one, 3);
    /* Numbers that a directory, a range and a stream have had. */
    int number = open(".", O_RDONLY | O_DIRECTORY);
    DIR *directory = fdopendir(number);
    CHECK(directory != NULL && closedir(directory) == 0);
    int copy = fcntl(one, F_DUPFD, number);
    CHECK(copy == number);
    write_bytes(copy, 4);
    CHECK(close_range(copy, copy, 0) == 0);
    copy = fcntl(one, F_DUPFD_CLOEXEC, number);
    CHECK(copy == number);
    write_bytes(copy, 5);
    CHECK(close(copy) == 0);
    FILE *stream = fopen("stream.data", "w");
    CHECK(stream != NULL && fileno(stream) == number);
    CHECK(freopen("again.data", "w", stream) == stream && fileno(stream) == number);
    write_bytes(number, 6);
    CHECK(dup2(one, number) == number);
    write_bytes(number, 6);
    CHECK(fclose(stream) == 0);
    /* One after the last descriptor that is recorded, and none. */
    errno = 0;
    CHECK(close(1000000) == -1 && errno == EBADF);
    CHECK(write(-1, "", 0) == -1 && errno == EBADF);
    CHECK(close(one) == 0 && close(other) == 0);
}

static void start_processes(void) {
    int log = open_new("parent.log");
    pid_t child = fork();
    if (child == 0) {
        /* Is not recorded, and does not end what the parent records. */
        write_bytes(log, 50);
        close(log);
        exit(0);
    }
    wait_for(child);
    char *arguments[] = {"true", NULL};
    CHECK(posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0);
    wait_for(child);
    CHECK(system("test -z \"$LD_PRELOAD\"") == 0);
    write_bytes(log, 7);
    CHECK(close(log) == 0);
}

/* A client that is served in vectors, some of them empty. */
static void serve(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "program.socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    CHECK(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    int server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    char bytes[64];
    struct iovec empty = {NULL, 0}, rest = {bytes, sizeof bytes};
    struct iovec request[] = {empty, rest}, reply[] = {empty, {"+PONG\r\n", 7}, empty};
    CHECK(send(client, "PING\r\n", 6, 0) == 6);
    CHECK(recv(server, bytes, sizeof bytes, MSG_PEEK) == 6);
    CHECK(readv(server, request, 2) == 6 && memcmp(bytes, "PING\r\n", 6) == 0);
    CHECK(writev(server, reply, 3) == 7);
    CHECK(read(client, bytes, sizeof bytes) == 7 && memcmp(bytes, "+PONG\r\n", 7) == 0);
    CHECK(close(client) == 0 && close(server) == 0 && close(listener) == 0);
}

static int connect_to(int *client) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "moved.socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    *client = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    CHECK(connect(*client, (struct sockaddr *)&address, sizeof address) == 0);
    int server = accept(listener, NULL, NULL);
    CHECK(server >= 0 && close(listener) == 0);
    return server;
}

/* Calls that move bytes within the kernel. */
static void move_bytes(void) {
    int from = open_new("from.data"), to = open_new("copied.data"), both[2], client;
    char bytes[64];
    write_bytes(from, 7);
    CHECK(lseek(from, 0, SEEK_SET) == 0);
    CHECK(copy_file_range(from, NULL, to, NULL, 7, 0) == 7);
    CHECK(pipe(both) == 0);
    /* From here on nobody sees what the connection sends: the PING ends, and the second one is not counted. */
    int server = connect_to(&client);
    CHECK(send(client, "PING\r\n", 6, 0) == 6 && read(server, bytes, sizeof bytes) == 6);
    CHECK(write(both[1], "+PONG\r\n", 7) == 7);
    CHECK(splice(both[0], NULL, server, NULL, 7, 0) == 7);
    CHECK(read(client, bytes, sizeof bytes) == 7 && memcmp(bytes, "+PONG\r\n", 7) == 0);
    CHECK(send(client, "PING\r\n", 6, 0) == 6 && read(server, bytes, sizeof bytes) == 6);
    CHECK(write(server, "+PONG\r\n", 7) == 7);
    CHECK(close(client) == 0 && close(server) == 0 && unlink("moved.socket") == 0);
    /* Nor what it receives. */
    server = connect_to(&client);
    CHECK(send(client, "PING\r\n", 6, 0) == 6);
    CHECK(splice(server, NULL, both[1], NULL, 3, 0) == 3 && read(both[0], bytes, 3) == 3);
    CHECK(read(server, bytes, sizeof bytes) == 3 && memcmp(bytes, "G\r\n", 3) == 0);
    CHECK(close(client) == 0 && close(server) == 0 && unlink("moved.socket") == 0);
    CHECK(close(both[0]) == 0 && close(both[1]) == 0 && close(from) == 0 && close(to) == 0);
}

/* The descriptor of a file comes with a message. */
static void send_descriptor(void) {
    int both[2], file = open_new("sent.data"), received;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof file)];
    } control = {.header = {CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS}};
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0);
    for (int i = 0; i < 2; i++) {
        memcpy(CMSG_DATA(&control.header), i == 0 ? &file : &both[0], sizeof file);
        message.msg_controllen = sizeof control;
        CHECK(sendmsg(both[0], &message, 0) == 1);
        struct mmsghdr messages = {.msg_hdr = message};
        CHECK((i == 0 ? recvmsg(both[1], &message, 0) : recvmmsg(both[1], &messages, 1, 0, NULL)) == 1);
        memcpy(&received, CMSG_DATA(&control.header), sizeof received);
        write_bytes(received, 5);
        CHECK(close(received) == 0);
    }
    CHECK(close(file) == 0 && close(both[0]) == 0 && close(both[1]) == 0);
}

static void lock_file(void) {
    int fd = open_new("locked.data");
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK(fcntl(fd, F_SETLK, &lock) == 0 && fcntl(fd, F_GETLK, &lock) == 0);
    CHECK(lockf(fd, F_ULOCK, 0) == 0 && flock(fd, LOCK_EX) == 0);
    CHECK(close(fd) == 0);
    char name[] = "XXXXXX.temporary";
    fd = mkstemps(name, 10);
    CHECK(fd >= 0);
    write_bytes(fd, 8);
    CHECK(close(fd) == 0);
}

static void check_errno(void) {
    char bytes[16];
    FILE *stream = fmemopen(bytes, sizeof bytes, "w");
    CHECK(stream != NULL);
    errno = 77;
    CHECK(fclose(stream) == 0 && errno == 77);
    int fd = open_new("errno.data");
    errno = 77;
    write_bytes(fd, 1);
    CHECK(close(fd) == 0 && errno == 77);
    CHECK(open("no/such/file", O_RDONLY) == -1 && errno == ENOENT);
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

static void *work(void *ready) {
    /* Is cancelled in a call that waits. */
    int both[2];
    char byte;
    for (int i = 0; i < 500; i++) {
        int fd = open("/dev/null", O_WRONLY);
        int copy = dup(fd);
        free(malloc(100));
        write_bytes(copy, 1);
        close(fd);
        close(copy);
    }
    CHECK(pipe(both) == 0);
    pthread_setname_np(pthread_self(), "reader");
    pthread_barrier_wait(ready);
    while (read(both[0], &byte, 1) == -1 && errno == EINTR) {
    }
    return NULL;
}

/* Signals interrupt the program and Tare anywhere, while threads open and close the same numbers. */
static void interrupt(void) {
    enum { THREADS = 4, ALARMS = 300 };
    pthread_t threads[THREADS];
    pthread_barrier_t ready;
    struct sigaction action = {.sa_handler = handle};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &ready) == 0);
    }
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (alarms < ALARMS) {
        int fd = open_new("interrupted.data");
        free(malloc(1000));
        CHECK(close(fd) == 0 && unlink("interrupted.data") == 0);
    }
    pthread_barrier_wait(&ready);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_cancel(threads[i]) == 0 && pthread_join(threads[i], &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
    }
}

static void sync_nothing(int number) {
    int before = errno;
    (void)number;
    fsync(-1);
    errno = before;
}

/* Whether the thread is to be cancelled. */
static volatile sig_atomic_t is_cancelled;

/* Is inside of Tare most of the time, in calls that do not cancel a thread. */
static void *seek(void *file) {
    for (int i = 0; i < 20000 || !is_cancelled; i++) {
        lseek(*(int *)file, 0, SEEK_SET);
    }
    pthread_testcancel();
    return NULL;
}

/* A handler calls what cancels the thread, while the thread is inside of Tare. */
static void cancel_in_handlers(void) {
    int fd = open_new("seek.data");
    struct sigaction action = {.sa_handler = sync_nothing};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;
        is_cancelled = 0;
        CHECK(pthread_create(&thread, NULL, seek, &fd) == 0 && pthread_cancel(thread) == 0);
        is_cancelled = 1;
        for (int signals = 0; signals < 5; signals++) {
            usleep(100);
            pthread_kill(thread, SIGUSR1);
        }
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(close(fd) == 0);
}

/* How many descriptors of the segment are open. */
static int count_segments(const char *segment) {
    char path[64], target[4096];
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, target, sizeof target);
        size_t end = strlen(segment);
        count += length > (ssize_t)end && memcmp(target + length - end, segment, end) == 0;
    }
    return count;
}

/* Daemons close all descriptors. The segment's is none of the program's. */
static void close_descriptors(const char *segment) {
    int expected = count_segments(segment);
    for (int way = 0; way < 4; way++) {
        int first = open_new("closed.data"), high = dup2(first, 600);
        CHECK(first >= 3 && high == 600);
        for (int fd = 3; way == 0 && fd < 1024; fd++) {
            close(fd);
        }
        if (way == 1) {
            CHECK(close_range(3, ~0U, 0) == 0);
        } else if (way == 2) {
            closefrom(3);
        } else if (way == 3) {
            CHECK(close_range(3, 500, 0) == 0 && close_range(500, 700, 0) == 0);
        }
        CHECK(fcntl(first, F_GETFD) == -1 && fcntl(high, F_GETFD) == -1);
        CHECK(open_new("closed.data") == 3);
        write_bytes(3, 9);
        CHECK(close(3) == 0 && count_segments(segment) == expected);
    }
    /* If the program takes its number, that is the program's. */
    int null = open("/dev/null", O_WRONLY);
    for (int fd = 100; fd < 300; fd++) {
        CHECK(dup2(null, fd) == fd);
    }
    CHECK(count_segments(segment) == 0);
    for (int fd = 100; fd < 300; fd++) {
        CHECK(close(fd) == 0 && fcntl(fd, F_GETFD) == -1);
    }
    CHECK(close(null) == 0);
}

int main(int count, char **arguments) {
    /* It serves from now on: a fork is not its way into the background. */
    CHECK(poll(NULL, 0, 1) == 0);
    copy_descriptors();
    start_processes();
    serve();
    move_bytes();
    send_descriptor();
    lock_file();
    check_errno();
    interrupt();
    cancel_in_handlers();
    const char *segment = count > 1 ? arguments[1] : "/no/segment";
    CHECK(count_segments(segment) == (count > 1));
    close_descriptors(segment);
    puts("done");
    return 0;
}
