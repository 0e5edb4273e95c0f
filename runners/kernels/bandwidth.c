/* BenchHub's bandwidth kernel: copy, scale, add and triad over three large arrays.
 *
 * It follows what the field agreed on for STREAM (https://www.cs.virginia.edu/stream/): the four
 * kernels in their order, 8-byte floating point, bytes counted as the source names them, the best
 * of all passes but the first. The text is our own, and so is the check of the result.
 *
 *   bandwidth --elements=N --threads=N [--passes=N] [--placement=all|local|remote|interleave]
 *             [--nodes=LIST] [--stores=plain|streaming] [--llc-bytes=N]
 *
 * Threads are bound from outside (affinity, OMP_PLACES). For all and local each thread touches
 * first what it uses; for remote and interleave the pages come from --nodes in turn.
 */
#include "common.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* APART: bytes, whole cache lines, about a third of a page. */
enum { KERNELS = 4, LINE = 8, MOST_PASSES = 1000, APART = 21 * 64 };
enum { ALL, LOCAL, REMOTE, INTERLEAVE, PLACEMENTS };
enum { PLAIN, STREAMING, STORES };

static const char *const PLACEMENT[] = {"all", "local", "remote", "interleave"};
static const char *const STORE[] = {"plain", "streaming"};
static const char *const NAME[] = {"Copy", "Scale", "Add", "Triad"};
static const int ARRAYS_MOVED[] = {2, 2, 3, 3};

/* A power of two makes no rounding, and a pass with it changes a by the factor 2q + q² = 0.977…:
 * no number of passes that is allowed leaves the range of doubles, and none leaves a as it was. */
static const double Q = 13.0 / 32.0;
static const double ALLOWED_ERROR = 1e-12;

typedef struct {
    long long elements, llc_bytes;
    int threads, passes, placement, stores;
    const char *nodes;
} options;

typedef void kernel(double *restrict a, double *restrict b, double *restrict c, size_t begin,
                    size_t end);
typedef struct {
    double *a, *b, *c;
} arrays;

/* --- the four kernels, as a compiler makes them ------------------------------------------- */

#define KERNEL(name)                                                                              \
    static __attribute__((noinline)) void name(double *restrict a, double *restrict b,            \
                                               double *restrict c, size_t begin, size_t end)

KERNEL(plain_copy)
{
    (void)b;
    for (size_t i = begin; i < end; i++)
        c[i] = a[i];
}

KERNEL(plain_scale)
{
    (void)a;
    for (size_t i = begin; i < end; i++)
        b[i] = Q * c[i];
}

KERNEL(plain_add)
{
    for (size_t i = begin; i < end; i++)
        c[i] = a[i] + b[i];
}

KERNEL(plain_triad)
{
    for (size_t i = begin; i < end; i++)
        a[i] = b[i] + Q * c[i];
}

/* --- and with stores that bypass the caches ------------------------------------------------ */

#if defined(__AVX512F__)
#define STREAMS "AVX-512 non-temporal"
typedef double lanes __attribute__((vector_size(64), may_alias));
static inline void put(double *to, lanes value) { _mm512_stream_pd(to, (__m512d)value); }
#elif defined(__AVX__)
#define STREAMS "AVX non-temporal"
typedef double lanes __attribute__((vector_size(32), may_alias));
static inline void put(double *to, lanes value) { _mm256_stream_pd(to, (__m256d)value); }
#elif defined(__SSE2__)
#define STREAMS "SSE2 non-temporal"
typedef double lanes __attribute__((vector_size(16), may_alias));
static inline void put(double *to, lanes value) { _mm_stream_pd(to, (__m128d)value); }
#elif defined(__aarch64__)
#define STREAMS "stnp, a hint"
typedef double lanes __attribute__((vector_size(32), may_alias));
typedef double half __attribute__((vector_size(16)));
static inline void put(double *to, lanes value)
{
    half low = {value[0], value[1]}, high = {value[2], value[3]};
    __asm__ volatile("stnp %q0, %q1, [%2]" : : "w"(low), "w"(high), "r"(to) : "memory");
}
#endif

#ifdef STREAMS
enum { LANES = sizeof(lanes) / sizeof(double) };
#define AT(array, i) (*(const lanes *)((array) + (i)))

/* Such stores reach memory in no certain order: the fence ends before the clock is read. */
static inline void fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#else
    __sync_synchronize();
#endif
}

/* Whole cache lines in `value`, the few elements behind the last line as usual. */
#define STREAMING(to, value, last)                                                                \
    do {                                                                                          \
        size_t i = begin;                                                                         \
        for (; i + LINE <= end; i += LINE)                                                        \
            for (size_t k = i; k < i + LINE; k += LANES)                                          \
                put((to) + k, (value));                                                           \
        fence();                                                                                  \
        last(a, b, c, i, end);                                                                    \
    } while (0)

KERNEL(streaming_copy) { STREAMING(c, AT(a, k), plain_copy); }
KERNEL(streaming_scale) { STREAMING(b, Q * AT(c, k), plain_scale); }
KERNEL(streaming_add) { STREAMING(c, AT(a, k) + AT(b, k), plain_add); }
KERNEL(streaming_triad) { STREAMING(a, AT(b, k) + Q * AT(c, k), plain_triad); }
#else
#define STREAMS ""
#define streaming_copy NULL
#define streaming_scale NULL
#define streaming_add NULL
#define streaming_triad NULL
#endif

static kernel *const BODY[STORES][KERNELS] = {
    {plain_copy, plain_scale, plain_add, plain_triad},
    {streaming_copy, streaming_scale, streaming_add, streaming_triad},
};

/* --- the arrays ----------------------------------------------------------------------------- */

/* A value from 1 to below 2 for each place, so that elements cannot be mixed up unseen. */
static inline double first_value(size_t i)
{
    return 1.0 + (double)((uint32_t)i * 2654435761u >> 22) / 1024.0;
}

/* The part of a thread: equal parts in whole cache lines, the last with what is left. */
static inline size_t part(size_t elements, int thread, int threads)
{
    if (thread == threads)
        return elements;
    return (size_t)((unsigned __int128)(elements / LINE) * (unsigned)thread / (unsigned)threads) *
           LINE;
}

/* Runs one kernel over all elements; seconds. */
static double timed(kernel *body, arrays on, size_t elements)
{
    double begin = bh_now_s();
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        body(on.a, on.b, on.c, part(elements, thread, threads),
             part(elements, thread + 1, threads));
    }
    return bh_now_s() - begin;
}

/* Mapped memory begins at a page. Were it the same place of a page in all three arrays, a load
 * would wait for the store of another array whose address ends in the same 12 bits. */
static arrays allocated(const options *chosen)
{
    size_t bytes = (size_t)chosen->elements * sizeof(double) + 3 * APART;
    double *each[3];
    for (int at = 0; at < 3; at++) {
        char *mapped = bh_map(bytes);
        if (chosen->nodes)
            bh_place(mapped, bytes, chosen->nodes);
        each[at] = (double *)(void *)(mapped + at * APART);
    }
    return (arrays){each[0], each[1], each[2]};
}

/* Each thread writes its part first, which places the pages, and says where it runs. */
static int filled(arrays on, size_t elements, unsigned char *cpus, unsigned char *cpu_nodes)
{
    int counted = 0;
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        size_t end = part(elements, thread + 1, threads);
        unsigned cpu = 0, node = 0;
        for (size_t i = part(elements, thread, threads); i < end; i++) {
            on.a[i] = first_value(i);
            on.b[i] = 0.0;
            on.c[i] = 0.0;
        }
#pragma omp critical
        {
            counted++;
            if (getcpu(&cpu, &node) == 0 && cpu < BH_MOST_NUMBERS && node < BH_MOST_NUMBERS)
                cpus[cpu] = cpu_nodes[node] = 1;
        }
    }
    return counted;
}

/* Every element of every array against what the passes make of its first value. */
static int validated(arrays on, size_t elements, int passes)
{
    double a = 1.0, b = 0.0, c = 0.0, worst = 0.0;
    size_t wrong = 0;
    for (int pass = 0; pass < passes; pass++) {
        c = a;
        b = Q * c;
        c = a + b;
        a = b + Q * c;
    }
#pragma omp parallel for reduction(max : worst) reduction(+ : wrong)
    for (size_t i = 0; i < elements; i++) {
        double value = first_value(i);
        double in_a = fabs(on.a[i] / (a * value) - 1.0);
        double in_b = fabs(on.b[i] / (b * value) - 1.0);
        double in_c = fabs(on.c[i] / (c * value) - 1.0);
        worst = fmax(worst, fmax(in_a, fmax(in_b, in_c)));
        /* In this form what is no number is wrong too. */
        wrong += !(in_a <= ALLOWED_ERROR && in_b <= ALLOWED_ERROR && in_c <= ALLOWED_ERROR);
    }
    if (wrong)
        printf("Validation: failed, %zu of %zu elements are wrong\n", wrong, elements);
    else
        printf("Validation: passed, largest relative error %.1e of %.0e allowed\n", worst,
               ALLOWED_ERROR);
    return wrong == 0;
}

/* --- what is printed ------------------------------------------------------------------------ */

static void print_cache(const options *chosen)
{
    double ratio;
    if (chosen->llc_bytes == 0) {
        puts("Last-level cache: not known");
        return;
    }
    ratio = (double)chosen->elements * sizeof(double) / (double)chosen->llc_bytes;
    printf("Last-level cache: %lld bytes, an array is %.2f times as large\n", chosen->llc_bytes,
           ratio);
    if (ratio < 4.0)
        puts("Note: an array should be at least 4 times as large as all last-level caches "
             "together; smaller ones may be served by the caches");
}

static void print_choice(const options *chosen, int threads)
{
    if (chosen->stores == STREAMING)
        puts("Stores: streaming (" STREAMS ")");
    else
        puts("Stores: plain");
    printf("Elements: %lld in each of 3 arrays\n", chosen->elements);
    printf("Bytes per element: %zu\n", sizeof(double));
    printf("Array size: %.6f GiB\n",
           (double)chosen->elements * sizeof(double) / (1024.0 * 1024.0 * 1024.0));
    puts("Pages: as the system gives them, nothing was advised");
    print_cache(chosen);
    printf("Threads: %d counted, %s\n", threads,
           omp_get_proc_bind() == omp_proc_bind_false ? "not bound" : "bound");
    printf("Placement: %s\n", PLACEMENT[chosen->placement]);
    printf("Passes: %d, the first does not count\n", chosen->passes);
}

static void print_table(double (*seconds)[KERNELS], int passes, long long elements)
{
    puts("Kernel    Best GB/s  Average GB/s  Worst GB/s   Shortest s    Average s    Longest s");
    for (int at = 0; at < KERNELS; at++) {
        double moved = (double)ARRAYS_MOVED[at] * sizeof(double) * (double)elements;
        double least = DBL_MAX, most = 0.0, sum = 0.0;
        for (int pass = 1; pass < passes; pass++) {
            least = fmin(least, seconds[pass][at]);
            most = fmax(most, seconds[pass][at]);
            sum += seconds[pass][at];
        }
        sum /= passes - 1;
        printf("%-6s %12.4f  %12.4f %11.4f %12.9f %12.9f %12.9f\n", NAME[at], moved / least / 1e9,
               moved / sum / 1e9, moved / most / 1e9, least, sum, most);
    }
    puts("GB/s: 10^9 bytes a second, of the passes that count; average: bytes by average time");
}

/* --- options and the whole ------------------------------------------------------------------ */

static void take(options *chosen, const char *argument)
{
    const char *text;
    if ((text = bh_option(argument, "elements")))
        chosen->elements = bh_whole("elements", text, 64, 1LL << 42);
    else if ((text = bh_option(argument, "threads")))
        chosen->threads = (int)bh_whole("threads", text, 1, BH_MOST_NUMBERS);
    else if ((text = bh_option(argument, "passes")))
        chosen->passes = (int)bh_whole("passes", text, 2, MOST_PASSES);
    else if ((text = bh_option(argument, "placement")))
        chosen->placement = bh_word("placement", text, PLACEMENT, PLACEMENTS);
    else if ((text = bh_option(argument, "stores")))
        chosen->stores = bh_word("stores", text, STORE, STORES);
    else if ((text = bh_option(argument, "nodes")))
        chosen->nodes = text;
    else if ((text = bh_option(argument, "llc-bytes")))
        chosen->llc_bytes = bh_whole("llc-bytes", text, 0, 1LL << 50);
    else
        bh_refuse("the argument '%.60s' is not known", argument);
}

static void check(const options *chosen)
{
    int asks_nodes = chosen->placement == REMOTE || chosen->placement == INTERLEAVE;
    if (chosen->elements == 0 || chosen->threads == 0)
        bh_refuse("--elements and --threads are needed");
    if (chosen->elements < (long long)chosen->threads * LINE)
        bh_refuse("--elements: found %lld, expected at least %d for each thread",
                  chosen->elements, LINE);
    if (asks_nodes && chosen->nodes == NULL)
        bh_refuse("--placement=%s needs --nodes", PLACEMENT[chosen->placement]);
    if (!asks_nodes && chosen->nodes != NULL)
        bh_refuse("--nodes says nothing for --placement=%s", PLACEMENT[chosen->placement]);
    if (BODY[chosen->stores][0] == NULL)
        bh_refuse("--stores=streaming: not available for this kind of CPU");
}

static void measure(const options *chosen, arrays on)
{
    double(*seconds)[KERNELS] = calloc((size_t)chosen->passes, sizeof *seconds);
    if (seconds == NULL)
        bh_refuse("memory for the times: %s", strerror(errno));
    for (int pass = 0; pass < chosen->passes; pass++) {
        double *took = seconds[pass];
        for (int at = 0; at < KERNELS; at++)
            took[at] = timed(BODY[chosen->stores][at], on, (size_t)chosen->elements);
        printf("Pass %d of %d: copy %.9f scale %.9f add %.9f triad %.9f s\n", pass + 1,
               chosen->passes, took[0], took[1], took[2], took[3]);
    }
    print_table(seconds, chosen->passes, chosen->elements);
    free(seconds);
}

int main(int count, char **arguments)
{
    static unsigned char cpus[BH_MOST_NUMBERS], cpu_nodes[BH_MOST_NUMBERS];
    static unsigned char nodes[BH_MOST_NUMBERS];
    options chosen = {.passes = 20};
    for (int at = 1; at < count; at++)
        take(&chosen, arguments[at]);
    check(&chosen);
    setvbuf(stdout, NULL, _IOLBF, 0);
    bh_print_head("bandwidth", "Not the STREAM program: it follows the definition of STREAM's "
                               "kernels and is based on none of its code.");
    omp_set_dynamic(0);
    omp_set_num_threads(chosen.threads);
    arrays on = allocated(&chosen);
    size_t elements = (size_t)chosen.elements, bytes = elements * sizeof(double);
    int threads = filled(on, elements, cpus, cpu_nodes);
    if (threads != chosen.threads)
        bh_refuse("%d threads were asked for, %d ran", chosen.threads, threads);
    bh_mark_nodes(nodes, on.a, bytes);
    bh_mark_nodes(nodes, on.b, bytes);
    bh_mark_nodes(nodes, on.c, bytes);
    print_choice(&chosen, threads);
    bh_print_numbers("CPUs", cpus);
    bh_print_numbers("Nodes of the CPUs", cpu_nodes);
    bh_print_numbers("Nodes of the memory", nodes);
    measure(&chosen, on);
    if (!validated(on, elements, chosen.passes))
        return BH_CHECK_FAILED;
    puts("Finished");
    return 0;
}
