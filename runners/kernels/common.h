/* What BenchHub's kernels share: strict options, time, the head of the output, NUMA.
 *
 * Include it before any other header. Built with -DBENCHHUB_NUMA and -lnuma where libnuma is
 * there; without, placing memory on nodes is refused in words. -DBENCHHUB_FLAGS="…" are the
 * compiler's flags as they are recorded.
 */
#ifndef BENCHHUB_COMMON_H
#define BENCHHUB_COMMON_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef BENCHHUB_NUMA
#include <numa.h>
#endif

#ifndef BENCHHUB_FLAGS
#define BENCHHUB_FLAGS "not recorded"
#endif
#define BH_VERSION "benchhub-1"
#define BH_MOST_NUMBERS 4096
#define BH_PAGES_ASKED 1024

/* Exit codes: 1 the kernel's own check failed, 2 it was called wrongly or cannot work here. */
enum { BH_CHECK_FAILED = 1, BH_REFUSED = 2 };

/* Ends the program with a sentence on the error stream. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void bh_refuse(const char *form, ...)
{
    va_list values;
    va_start(values, form);
    fputs("refused: ", stderr);
    vfprintf(stderr, form, values);
    fputc('\n', stderr);
    va_end(values);
    exit(BH_REFUSED);
}

/* The text behind "--name=", NULL where `argument` is something else. */
static inline const char *bh_option(const char *argument, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, name, length) != 0)
        return NULL;
    return argument[2 + length] == '=' ? argument + 3 + length : NULL;
}

/* Decimal digits only, from `least` to `most`. */
static inline long long bh_whole(const char *name, const char *text, long long least,
                                 long long most)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits] != '\0')
        bh_refuse("--%s: found '%.40s', expected a whole number", name, text);
    long long value = strtoll(text, NULL, 10);
    if (value < least || value > most)
        bh_refuse("--%s: found %lld, expected %lld to %lld", name, value, least, most);
    return value;
}

/* The place of `text` among `count` words. */
static inline int bh_word(const char *name, const char *text, const char *const *words, int count)
{
    for (int at = 0; at < count; at++)
        if (strcmp(text, words[at]) == 0)
            return at;
    fprintf(stderr, "refused: --%s: found '%.40s', expected one of:", name, text);
    for (int at = 0; at < count; at++)
        fprintf(stderr, " %s", words[at]);
    fputc('\n', stderr);
    exit(BH_REFUSED);
}

/* Seconds of a clock that nobody sets. */
static inline double bh_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* "0-3,8" for a set of numbers; "not known" for none. */
static inline void bh_print_numbers(const char *label, const unsigned char *holds)
{
    const char *before = "";
    printf("%s: ", label);
    for (int at = 0; at < BH_MOST_NUMBERS; at++) {
        int last = at;
        if (!holds[at])
            continue;
        while (last + 1 < BH_MOST_NUMBERS && holds[last + 1])
            last++;
        printf(last > at ? "%s%d-%d" : "%s%d", before, at, last);
        before = ",";
        at = last;
    }
    puts(*before ? "" : "not known");
}

/* The lines with which each kernel begins. `what` names it, `follows` what it is not. */
static inline void bh_print_head(const char *what, const char *follows)
{
    char started[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    printf("BenchHub %s kernel, version " BH_VERSION "\n%s\n", what, follows);
    printf("Started: %s\n", started);
#if defined(__clang__)
    printf("Compiler: Clang %d.%d.%d\n", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    printf("Compiler: GCC %d.%d.%d\n", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    printf("Compiler: not known\n");
#endif
    printf("Compiler flags: %s\n", BENCHHUB_FLAGS);
}

/* Fresh memory of whole pages, none of them there before its first touch. */
static inline void *bh_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bh_refuse("%zu bytes of memory: %s", bytes, strerror(errno));
    return memory;
}

/* Pages of this memory come from these nodes in turn ("1", "0-1"); before the first touch. */
static inline void bh_place(void *memory, size_t bytes, const char *nodes)
{
#ifdef BENCHHUB_NUMA
    struct bitmask *mask = numa_available() < 0 ? NULL : numa_parse_nodestring(nodes);
    if (mask == NULL)
        bh_refuse("memory of nodes %.40s: this machine has no such nodes", nodes);
    numa_exit_on_error = 1;
    numa_interleave_memory(memory, bytes, mask);
    numa_free_nodemask(mask);
#else
    (void)memory, (void)bytes;
    bh_refuse("memory of nodes %.40s: built without libnuma", nodes);
#endif
}

/* Marks in `holds` on which nodes memory lies that was touched, asked for pages spread over it. */
static inline void bh_mark_nodes(unsigned char *holds, void *memory, size_t bytes)
{
#ifdef SYS_move_pages
    static void *pages[BH_PAGES_ASKED];
    static int nodes[BH_PAGES_ASKED];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = bytes / page;
    size_t asked = all < BH_PAGES_ASKED ? all : BH_PAGES_ASKED;
    for (size_t at = 0; at < asked; at++)
        pages[at] = (char *)memory + all * at / asked * page;
    if (syscall(SYS_move_pages, 0, asked, pages, NULL, nodes, 0) != 0)
        return;
    for (size_t at = 0; at < asked; at++)
        if (nodes[at] >= 0 && nodes[at] < BH_MOST_NUMBERS)
            holds[nodes[at]] = 1;
#else
    (void)holds, (void)memory, (void)bytes;
#endif
}

#endif
