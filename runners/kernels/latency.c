/* BenchHub's memory latency kernel: how long one thread waits for a word at a random place.
 *
 * It counts as tinymembench (https://github.com/ssvb/tinymembench) counts its single random read:
 * places of the whole buffer, drawn with replacement, each known only when the word before has
 * come; nanoseconds beyond the same loop over memory that the first-level cache holds; the best
 * of some repeats. The text is our own.
 *
 *   latency --buffer-bytes=N --page=4k|2m [--placement=local|remote] [--node=N] [--repeats=N]
 *           [--cpu=N]
 *
 * The buffer is N bytes in whole pages of 2 MiB. --node says whose memory remote means. What was
 * asked of pages and nodes is looked up when the buffer is filled: without it nothing is measured.
 */
#include "common.h"

#include <sys/types.h>

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)
#define HUGE_PAGE (2 * MIB)
#define SMALL_PAGE (4 * KIB)
#define HUGE_SHARE 0.95
#define LOADS 10000000
#define L1_WORDS (SMALL_PAGE / sizeof(uint64_t))
#define L1_TRIES 3
#define MOST_REPEATS 1000
/* Bits of a place within its 4 KiB, whole words: what a word holds. */
#define IN_PAGE (SMALL_PAGE - sizeof(uint64_t))
/* Odd, so that it counts through all of 2^64; the golden ratio, so that no two are near. */
#define STRIDE 0x9E3779B97F4A7C15u
#define MIX 0xC2B2AE3D27D4EB4Fu
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif

enum { SMALL, HUGE, PAGES };
enum { LOCAL, REMOTE, PLACEMENTS };
static const char *const PAGE[PAGES] = {"4k", "2m"};
static const char *const PLACEMENT[PLACEMENTS] = {"local", "remote"};

typedef struct {
    long long bytes;
    int page, placement, repeats, cpu, node;
} options;

/* Memory that is chased through, in words of 8 bytes. */
typedef struct {
    char *memory;
    uint64_t words;
} buffer;

/* Where a chain of loads is: the next place in bytes, its counter, the sum of all places. */
typedef struct {
    uint64_t at, counter, sum;
} chain;

/* One repeat: where it began and came to, ns a load over the buffer and in the L1 cache. */
typedef struct {
    chain from, to;
    double full_ns, l1_ns;
} repeat;

/* Ends the program: what was asked for could not be had, so nothing is measured. */
__attribute__((noreturn, format(printf, 1, 2))) static void not_measured(const char *form, ...)
{
    va_list values;
    va_start(values, form);
    fputs("Not measured: ", stdout);
    vprintf(form, values);
    putchar('\n');
    va_end(values);
    exit(BH_CHECK_FAILED);
}

/* --- the chain of loads --------------------------------------------------------------------- */

/* A place of the buffer for a count. It waits for no load, so it is there before the word is. */
static inline uint64_t aim(uint64_t counter, uint64_t words)
{
    uint64_t mixed = (counter ^ counter >> 32) * MIX;
    return (uint64_t)((unsigned __int128)mixed * words >> 64) * sizeof(uint64_t);
}

/* What the word at an index holds: a random place within 4 KiB. */
static inline uint64_t word_at(uint64_t index)
{
    uint64_t mixed = (index + 1) * STRIDE;
    mixed = (mixed ^ mixed >> 31) * MIX;
    return mixed >> 40 & IN_PAGE;
}

/* Between two loads lies one xor, and no more. */
__attribute__((noinline)) static chain chase(buffer in, chain from)
{
    uint64_t at = from.at, counter = from.counter, sum = from.sum;
    for (int load = 0; load < LOADS; load++) {
        counter += STRIDE;
        at = *(const uint64_t *)(in.memory + at) ^ aim(counter, in.words);
        sum += at;
    }
    return (chain){at, counter, sum};
}

/* Where the same chain must come to, worked out without the buffer. */
static chain computed(uint64_t words, chain from)
{
    chain on = from;
    for (int load = 0; load < LOADS; load++) {
        on.counter += STRIDE;
        on.at = word_at(on.at / sizeof(uint64_t)) ^ aim(on.counter, words);
        on.sum += on.at;
    }
    return on;
}

static void fill(buffer in)
{
    uint64_t *words = (uint64_t *)in.memory;
    for (uint64_t index = 0; index < in.words; index++)
        words[index] = word_at(index);
}

/* ns a load; `on` goes on from where it was. */
static double timed_ns(buffer in, chain *on)
{
    double begin = bh_now_s();
    *on = chase(in, *on);
    return (bh_now_s() - begin) / LOADS * 1e9;
}

/* --- the buffer and its pages --------------------------------------------------------------- */

/* Whole pages of 2 MiB that begin at one; what lies around them is given back. */
static char *aligned(size_t bytes)
{
    char *memory = bh_map(bytes + HUGE_PAGE);
    size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(memory, before);
    munmap(memory + before + bytes, HUGE_PAGE - before);
    return memory + before;
}

/* KiB that the system says of this memory in the lines "name: N kB". */
static long long told_kib(buffer in, const char *name)
{
    unsigned long from = 0, to = 0, begin = (unsigned long)in.memory;
    unsigned long end = begin + in.words * sizeof(uint64_t);
    char line[512], form[64];
    long long kib, sum = -1;
    FILE *maps = fopen("/proc/self/smaps", "r");
    snprintf(form, sizeof form, "%s: %%lld kB", name);
    while (maps != NULL && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            continue;
        if (from < end && to > begin && sscanf(line, form, &kib) == 1)
            sum = (sum < 0 ? 0 : sum) + kib;
    }
    if (maps != NULL)
        fclose(maps);
    if (sum < 0)
        not_measured("what pages the buffer has cannot be read in /proc/self/smaps");
    return sum;
}

/* MiB of the buffer in pages of 2 MiB. */
static long long huge_mib(buffer in)
{
    return (told_kib(in, "AnonHugePages") + told_kib(in, "Private_Hugetlb")) / (long long)KIB;
}

static int is_huge(buffer in)
{
    return (double)huge_mib(in) >= HUGE_SHARE * (double)(in.words * sizeof(uint64_t) / MIB);
}

/* Bytes of a transparent huge page; 0 where the system has none. */
static size_t transparent_bytes(void)
{
    size_t bytes = 0;
    FILE *told = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
    if (told == NULL)
        return 0;
    if (fscanf(told, "%zu", &bytes) != 1)
        bytes = 0;
    fclose(told);
    return bytes;
}

/* The first touch of every page, from where it is to come from. */
static void place_and_fill(const options *chosen, buffer in)
{
    char node[16];
    snprintf(node, sizeof node, "%d", chosen->node);
    if (chosen->placement == REMOTE)
        bh_place(in.memory, (size_t)chosen->bytes, node);
    fill(in);
}

/* Transparent huge pages, gathered afterwards where they were not whole at once. */
static buffer of_transparent_pages(const options *chosen)
{
    size_t bytes = (size_t)chosen->bytes;
    buffer in = {aligned(bytes), bytes / sizeof(uint64_t)};
    madvise(in.memory, bytes, MADV_HUGEPAGE);
    place_and_fill(chosen, in);
    if (!is_huge(in))
        madvise(in.memory, bytes, MADV_COLLAPSE);
    return in;
}

/* Pages of 2 MiB that an administrator reserved; no memory where there are not enough. */
static buffer of_reserved_pages(const options *chosen)
{
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB;
    char *memory = mmap(NULL, (size_t)chosen->bytes, PROT_READ | PROT_WRITE, how, -1, 0);
    if (memory == MAP_FAILED)
        return (buffer){NULL, 0};
    buffer in = {memory, (uint64_t)chosen->bytes / sizeof(uint64_t)};
    place_and_fill(chosen, in);
    return in;
}

static buffer of_huge_pages(const options *chosen, const char **kind)
{
    long long found = 0;
    buffer in;
    if (transparent_bytes() == HUGE_PAGE) {
        *kind = "transparent";
        in = of_transparent_pages(chosen);
        if (is_huge(in))
            return in;
        found = huge_mib(in);
        munmap(in.memory, (size_t)chosen->bytes);
    }
    *kind = "reserved";
    in = of_reserved_pages(chosen);
    if (in.memory != NULL && is_huge(in))
        return in;
    not_measured("%lld of %lld MiB came in pages of 2 MiB, expected at least %.0f %%: transparent "
                 "huge pages are off or of another size, or free memory is in pieces; and not "
                 "enough pages of 2 MiB are reserved",
                 found, chosen->bytes / (long long)MIB, HUGE_SHARE * 100);
}

static buffer of_small_pages(const options *chosen)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (page != SMALL_PAGE)
        not_measured("pages of 4 KiB: the pages of this system are of %zu KiB", page / KIB);
    buffer in = {aligned((size_t)chosen->bytes), (uint64_t)chosen->bytes / sizeof(uint64_t)};
    /* Fails where the system knows no others, and then there are none. */
    madvise(in.memory, (size_t)chosen->bytes, MADV_NOHUGEPAGE);
    place_and_fill(chosen, in);
    if (huge_mib(in) > 0)
        not_measured("%lld of %lld MiB came in pages of 2 MiB, expected none", huge_mib(in),
                     chosen->bytes / (long long)MIB);
    return in;
}

static void print_pages(const options *chosen, buffer in, const char *kind)
{
    long long found = huge_mib(in), all = chosen->bytes / (long long)MIB;
    printf("Page size: %s\n", PAGE[chosen->page]);
    if (found == 0)
        printf("Huge pages: 0 of %lld MiB\n", all);
    else
        printf("Huge pages: %lld of %lld MiB, %s\n", found < all ? found : all, all, kind);
}

/* --- where it runs -------------------------------------------------------------------------- */

/* For good: memory is near or far from here. */
static void stay_on(int cpu)
{
    cpu_set_t *set = CPU_ALLOC(BH_MOST_NUMBERS);
    size_t size = CPU_ALLOC_SIZE(BH_MOST_NUMBERS);
    if (set == NULL)
        bh_refuse("memory for a set of CPUs: %s", strerror(errno));
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    if (sched_setaffinity(0, size, set) != 0)
        bh_refuse("--cpu=%d: %s", cpu, strerror(errno));
    CPU_FREE(set);
}

/* Where the thread is and where the memory came to lie. Ends the program where that is wrong. */
static void print_nodes(const options *chosen, buffer in, unsigned node)
{
    static unsigned char holds[BH_MOST_NUMBERS];
    unsigned expected = chosen->placement == REMOTE ? (unsigned)chosen->node : node;
    int known = 0;
    bh_mark_nodes(holds, in.memory, (size_t)chosen->bytes);
    printf("CPU: %d\nNode of the CPU: %u\n", chosen->cpu, node);
    bh_print_numbers("Nodes of the memory", holds);
    for (unsigned at = 0; at < BH_MOST_NUMBERS; at++) {
        known += holds[at];
        if (holds[at] && at != expected)
            not_measured("some of the buffer is memory of node %u, expected node %u", at, expected);
    }
    if (!known && chosen->placement == REMOTE)
        not_measured("of which node the buffer's memory is cannot be read from the system");
}

/* --- measuring ------------------------------------------------------------------------------ */

/* The L1 cache's time is taken beside each repeat: the clock may have changed since the last. */
static void measure(const options *chosen, buffer in, repeat *done)
{
    static uint64_t small[L1_WORDS] __attribute__((aligned(4096)));
    buffer in_l1 = {(char *)small, L1_WORDS};
    chain short_one = {0, 1, 0}, on = {0, 1, 0};
    fill(in_l1);
    for (int at = 0; at < chosen->repeats; at++) {
        repeat *this = &done[at];
        this->l1_ns = timed_ns(in_l1, &short_one);
        for (int again = 1; again < L1_TRIES; again++) {
            double ns = timed_ns(in_l1, &short_one);
            this->l1_ns = ns < this->l1_ns ? ns : this->l1_ns;
        }
        this->from = on;
        this->full_ns = timed_ns(in, &on);
        this->to = on;
        printf("Repeat %d of %d: %.4f ns, in the L1 cache %.4f ns\n", at + 1, chosen->repeats,
               this->full_ns, this->l1_ns);
    }
}

/* Whether each repeat came where it must; the checksum makes sure that no load was left out. */
static int validated(const options *chosen, buffer in, const repeat *done)
{
    int wrong = 0;
    for (int at = 0; at < chosen->repeats; at++) {
        chain must = computed(in.words, done[at].from);
        wrong += memcmp(&must, &done[at].to, sizeof must) != 0;
    }
    printf("Checksum: %016llx\n", (unsigned long long)done[chosen->repeats - 1].to.sum);
    if (wrong)
        printf("Validation: failed, %d of %d chains of loads went elsewhere than computed\n", wrong,
               chosen->repeats);
    else
        printf("Validation: passed, all %d chains of loads went as computed without the buffer\n",
               chosen->repeats);
    return wrong == 0;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_results(const options *chosen, const repeat *done)
{
    static double full[MOST_REPEATS];
    int count = chosen->repeats;
    double l1 = done[0].l1_ns;
    for (int at = 0; at < count; at++) {
        full[at] = done[at].full_ns;
        l1 = done[at].l1_ns < l1 ? done[at].l1_ns : l1;
    }
    qsort(full, (size_t)count, sizeof *full, by_size);
    double best = full[0], worst = full[count - 1];
    double median = (full[(count - 1) / 2] + full[count / 2]) / 2;
    printf("L1 hit: best %.4f ns\n", l1);
    printf("Load to use: best %.4f median %.4f worst %.4f ns\n", best, median, worst);
    printf("Beyond an L1 hit: best %.4f median %.4f worst %.4f ns\n", best - l1, median - l1,
           worst - l1);
}

/* --- options and the whole ------------------------------------------------------------------ */

static void take(options *chosen, const char *argument)
{
    const char *text;
    if ((text = bh_option(argument, "buffer-bytes")))
        chosen->bytes = bh_whole("buffer-bytes", text, (long long)HUGE_PAGE, 1LL << 44);
    else if ((text = bh_option(argument, "page")))
        chosen->page = bh_word("page", text, PAGE, PAGES);
    else if ((text = bh_option(argument, "placement")))
        chosen->placement = bh_word("placement", text, PLACEMENT, PLACEMENTS);
    else if ((text = bh_option(argument, "node")))
        chosen->node = (int)bh_whole("node", text, 0, BH_MOST_NUMBERS - 1);
    else if ((text = bh_option(argument, "repeats")))
        chosen->repeats = (int)bh_whole("repeats", text, 1, MOST_REPEATS);
    else if ((text = bh_option(argument, "cpu")))
        chosen->cpu = (int)bh_whole("cpu", text, 0, BH_MOST_NUMBERS - 1);
    else
        bh_refuse("the argument '%.60s' is not known", argument);
}

static void check(const options *chosen)
{
    if (chosen->bytes == 0 || chosen->page < 0)
        bh_refuse("--buffer-bytes and --page are needed");
    if (chosen->bytes % (long long)HUGE_PAGE != 0)
        bh_refuse("--buffer-bytes: found %lld, expected whole pages of %zu", chosen->bytes,
                  HUGE_PAGE);
    if (chosen->placement == REMOTE && chosen->node < 0)
        bh_refuse("--placement=remote needs --node");
    if (chosen->placement == LOCAL && chosen->node >= 0)
        bh_refuse("--node says nothing for --placement=local");
}

static void print_choice(const options *chosen)
{
    printf("Buffer: %lld bytes\n", chosen->bytes);
    printf("Buffer size: %.6f GiB\n", (double)chosen->bytes / (double)(KIB * MIB));
    printf("Threads: 1\nPlacement: %s\n", PLACEMENT[chosen->placement]);
    printf("Loads: %d in each of %d repeats\n", LOADS, chosen->repeats);
}

int main(int count, char **arguments)
{
    static repeat done[MOST_REPEATS];
    options chosen = {.page = -1, .node = -1, .cpu = -1, .repeats = 10};
    const char *kind = "";
    unsigned cpu = 0, node = 0;
    for (int at = 1; at < count; at++)
        take(&chosen, arguments[at]);
    check(&chosen);
    setvbuf(stdout, NULL, _IOLBF, 0);
    bh_print_head("latency", "Not the tinymembench program: it counts as tinymembench's single "
                             "random read does and is based on none of its code.");
    print_choice(&chosen);
    if (chosen.cpu < 0)
        chosen.cpu = sched_getcpu();
    stay_on(chosen.cpu);
    getcpu(&cpu, &node);
    if (chosen.placement == REMOTE && (unsigned)chosen.node == node)
        bh_refuse("--node=%d: that is the node of CPU %u itself", chosen.node, cpu);
    buffer in = chosen.page == HUGE ? of_huge_pages(&chosen, &kind) : of_small_pages(&chosen);
    print_pages(&chosen, in, kind);
    print_nodes(&chosen, in, node);
    measure(&chosen, in, done);
    print_results(&chosen, done);
    if (!validated(&chosen, in, done))
        return BH_CHECK_FAILED;
    puts("Finished");
    return 0;
}
