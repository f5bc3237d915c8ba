// A server that forks: its children write files, and some are killed. Prints how often those have written, and
// the process of a child that waits for a file `go`.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, WRITES = 100, SHORT = 2000, KILLS = 100 };

static int shared;

static void write_to(const char *name, int times)
{
    int file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (times-- > 0)
        if (write(file, "x", 1) != 1)
            _exit(2);
    close(file);
}

static void wait_for(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status)))
        exit(3);
}

int main(void)
{
    volatile long *tallies = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[WORKERS];
    // Opened by the parent, written by all.
    shared = open("shared.data", O_WRONLY | O_CREAT, 0600);
    // Ends by exit.
    for (int i = 0; i < WORKERS; i++)
        if ((children[i] = fork()) == 0) {
            char name[32];
            snprintf(name, sizeof name, "worker%d.data", i);
            write_to(name, WRITES);
            if (write(shared, "yy", 2) != 2)
                exit(2);
            exit(0);
        }
    for (int i = 0; i < WORKERS; i++)
        wait_for(children[i]);
    // Ends by _exit.
    for (int i = 0; i < SHORT; i++) {
        pid_t child = fork();
        if (child == 0) {
            write_to("short.data", 1);
            _exit(0);
        }
        wait_for(child);
    }
    // Killed in the middle.
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        if (child == 0)
            for (;;) {
                int file = open("killed.data", O_WRONLY | O_CREAT | O_TRUNC, 0600);
                for (int j = 0; j < 10; j++)
                    if (write(file, "z", 1) == 1)
                        tallies[0]++;
                close(file);
            }
        usleep(rand() % 3000);
        kill(child, SIGKILL);
        wait_for(child);
    }
    if (fork() == 0) {
        write_to("waiting.data", 1);
        printf("%ld %d\n", tallies[0], getpid());
        fflush(stdout);
        while (access("go", F_OK))
            usleep(1000);
        exit(0);
    }
    wait(NULL);
    return write(shared, "yy", 2) != 2;
}
