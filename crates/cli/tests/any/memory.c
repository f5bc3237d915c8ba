/*
 * memory.c - locks its memory. The test compares what it prints with and without Tare. With the argument `user` it
 * may lock 8 MiB, less than the segment's address space, and with `limit` less than its own.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 256 << 10 };

/* A number of kilobytes in /proc/self/status. */
static long kilobytes(const char *name) {
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (value < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = atol(line + strlen(name));
        }
    }
    fclose(file);
    return value;
}

static void print(const char *what, int flags) {
    void *before = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = 0;
    int result = mlockall(flags);
    printf("%s: %d, error %d", what, result, result == 0 ? 0 : errno);
    void *behind = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *mapped[] = {before, behind};
    for (int i = 0; i < 2; i++) {
        unsigned char pages[BYTES / 4096];
        if (mapped[i] == MAP_FAILED) {
            printf(", none");
            continue;
        }
        CHECK(mincore(mapped[i], BYTES, pages) == 0);
        long resident = 0;
        for (int page = 0; page < BYTES / 4096; page++) {
            resident += pages[page] & 1;
        }
        printf(", %ld pages", resident);
    }
    puts("");
    /* The segment has 51 GiB of address space, and a few pages of memory. */
    CHECK(kilobytes("RssShmem:") < 64 << 10);
    CHECK(kilobytes("VmLck:") < 1 << 20);
    CHECK(munlockall() == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(mapped[i] == MAP_FAILED || munmap(mapped[i], BYTES) == 0);
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (*mode != 0) {
        struct rlimit limit;
        CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
        rlim_t bytes = strcmp(mode, "user") == 0 ? 8 << 20 : 64 << 10;
        limit.rlim_cur = bytes;
        limit.rlim_max = getuid() == 0 || limit.rlim_max > bytes ? bytes : limit.rlim_max;
        limit.rlim_cur = limit.rlim_max;
        CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
        CHECK(getuid() != 0 || setuid(65534) == 0);
    }
    print("current", MCL_CURRENT);
    print("future", MCL_FUTURE);
    print("both", MCL_CURRENT | MCL_FUTURE);
    print("on fault", MCL_CURRENT | MCL_ONFAULT);
    print("both on fault", MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
    print("wrong", 64);
    return 0;
}
