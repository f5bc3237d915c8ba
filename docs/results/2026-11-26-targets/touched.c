/* What code executes and touches, from the trace that `valgrind --tool=lackey --trace-mem=yes` writes.
 *
 *   touched ARGUMENTS CLOCKS <trace
 *
 * ARGUMENTS is a file of three addresses in hex, FROM, TO and TURN; CLOCKS one of the addresses of instructions that
 * read the clock. Both are read on SIGUSR1. Then the instructions at FROM <= address < TO are counted (FROM = TO = 0:
 * all), and the lines and pages of code and data that they touch, from one execution of the instruction at TURN to the
 * next. On SIGUSR2 the means and the medians of these turns are printed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TURNS 100000
#define PLACES (1u << 20)

enum { INSTRUCTIONS, CODE_LINES, CODE_PAGES, DATA_LINES, DATA_PAGES, CLOCK_READS, FIGURES };
static const char *const names[FIGURES] = { "instructions", "lines of code", "pages of code", "lines of data",
                                            "pages of data", "clock reads" };

/* Numbers that were seen in this turn. */
struct set {
    uint64_t *key;
    uint32_t *turn;
    uint32_t now, size;
};

static struct set sets[FIGURES];
static uint32_t seen[FIGURES][MOST_TURNS];
static volatile sig_atomic_t is_on, has_ended;

static void on_signal(int signal) {
    is_on = signal == SIGUSR1;
    has_ended = signal == SIGUSR2;
}

static uint32_t place_of(const struct set *set, uint64_t key) {
    uint32_t place = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> 44);
    while (set->turn[place] == set->now && set->key[place] != key)
        place = (place + 1) % PLACES;
    return place;
}

static int has(const struct set *set, uint64_t key) {
    return set->turn[place_of(set, key)] == set->now;
}

static void add(struct set *set, uint64_t key) {
    uint32_t place = place_of(set, key);
    if (set->turn[place] == set->now) return;
    set->turn[place] = set->now;
    set->key[place] = key;
    set->size++;
}

static uint32_t take(struct set *set) {
    uint32_t size = set->size;
    set->now++;
    set->size = 0;
    return size;
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void print(uint32_t turns) {
    printf("turns\t%u\n", turns);
    for (int i = 0; i < FIGURES; i++) {
        double sum = 0;
        for (uint32_t turn = 0; turn < turns; turn++) sum += seen[i][turn];
        qsort(seen[i], turns, sizeof **seen, by_size);
        printf("%s\t%.1f\t%u\n", names[i], turns ? sum / turns : 0.0, turns ? seen[i][turns / 2] : 0);
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    for (int i = 0; i < FIGURES; i++)
        sets[i] = (struct set){ calloc(PLACES, sizeof(uint64_t)), calloc(PLACES, sizeof(uint32_t)), 1, 0 };
    struct set *clocks = &sets[CLOCK_READS];
    /* Without SA_RESTART: a read that waits is interrupted. */
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGUSR2, &action, 0);
    static char buffer[1 << 20];
    size_t have = 0;
    uint64_t from = 0, to = 0, turn = 0;
    uint32_t instructions = 0, reads = 0, turns = 0;
    int is_told = 0, is_within = 0, has_begun = 0;
    for (;;) {
        if (has_ended) {
            print(turns);
            has_ended = is_told = has_begun = 0;
            turns = 0;
        }
        ssize_t got = read(0, buffer + have, sizeof buffer - have);
        if (got == 0) return 0;
        if (got < 0) continue;
        have += (size_t)got;
        if (is_on && !is_told) {
            char line[64];
            FILE *arguments = fopen(argv[1], "r"), *list = fopen(argv[2], "r");
            if (!arguments || !list || fscanf(arguments, "%lx %lx %lx", &from, &to, &turn) != 3) return 3;
            while (fgets(line, sizeof line, list)) add(clocks, strtoull(line, 0, 16));
            fclose(arguments);
            fclose(list);
            is_told = 1;
        }
        char *at = buffer, *end = buffer + have, *next;
        for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1) {
            /* "I  0401ab70,3", or with L, S or M in the second column what it loads, stores or modifies. */
            int executes = at[0] == 'I', touches = at[0] == ' ' && strchr("LSM", at[1]);
            if (!is_on || (!executes && !touches)) continue;
            char *comma;
            uint64_t address = strtoull(at + 3, &comma, 16), last = address + strtoull(comma + 1, 0, 10) - 1;
            if (executes && address == turn) {
                uint32_t figures[FIGURES] = { [INSTRUCTIONS] = instructions, [CLOCK_READS] = reads };
                for (int i = CODE_LINES; i <= DATA_PAGES; i++) figures[i] = take(&sets[i]);
                for (int i = 0; has_begun && turns < MOST_TURNS && i < FIGURES; i++) seen[i][turns] = figures[i];
                turns += has_begun && turns < MOST_TURNS;
                has_begun = 1;
                instructions = reads = 0;
            }
            if (executes) is_within = to == 0 || (address >= from && address < to);
            if (!is_within) continue;
            int lines = executes ? CODE_LINES : DATA_LINES;
            add(&sets[lines], address >> 6), add(&sets[lines], last >> 6), add(&sets[lines + 1], address >> 12);
            instructions += executes;
            reads += executes && has(clocks, address);
        }
        have = (size_t)(end - at);
        memmove(buffer, at, have);
    }
}
