/* A saved state is the sampler's whole state, in one form only; any other bytes are refused. */
#include <dlfcn.h>
#include <malloc.h>

#include "start.h"
#include "contract.h"

/* ---- a batch on the device without the run layer --------------------------------------------- */

struct bench {
    struct ergo_device *device;
    struct ergo_job *job;
    struct ergo_batch batch;
    struct ergo_point *points[16];
    const struct ergo_sampler_ops *ops;
    void *state;
    uint64_t state_bytes; /* as planned */
};

/* The members `order` of the contract job's first batch; count 0: all as they are. */
static void bench_open(struct bench *b, struct ergo_device *device, const size_t *order,
                       size_t count) {
    *b = (struct bench){.device = device, .ops = contract.model->ops};
    contract_ok(contract_parse(contract.job, NULL, 0, &b->job), "the contract job");
    const struct ergo_batch *all = &b->job->batches[0];
    b->batch = (struct ergo_batch){b->job, count ? count : all->count, b->points};
    assert_true(b->batch.count <= 16);
    for (size_t i = 0; i < b->batch.count; i++)
        b->points[i] = all->points[count ? order[i] : i];
}

/* Room for states; again: the states of before are given up. */
static void bench_create(struct bench *b) {
    struct ergo_plan plan;
    if (b->state)
        ergo_engine_destroy(b->state);
    b->state = NULL;
    contract_ok(ergo_sampler_plan(contract.ctx, b->ops, &b->batch, b->device, &plan), "plan");
    b->state_bytes = plan.state_bytes;
    contract_ok(ergo_sampler_create(contract.ctx, b->ops, &b->batch, b->device, &b->state),
                "create");
}

static void bench_init(struct bench *b) {
    bench_create(b);
    contract_ok(start_all(contract.ctx, b->ops, b->state), "start");
}

static void bench_advance(struct bench *b, uint64_t steps) {
    contract_ok(ergo_sampler_advance(contract.ctx, b->ops, b->state, 0, 0, steps, 0), "advance");
    contract_ok(ergo_device_finish(contract.ctx, b->device), "finish");
}

/* One sample after `every` steps, thrown away: what a sampler counts for it has been counted. */
static void bench_sample(struct bench *b, uint64_t every) {
    const struct ergo_model *model = contract.model;
    struct ergo_samples samples = {.columns =
                                       calloc(b->batch.count * model->n_columns, sizeof(double))};
    /* as the run layer does: no room for what is not measured, or added at the end alone */
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = ergo_point_curve_size(b->points[0], c);
        if (size && !(model->curves_at_end >> c & 1))
            samples.curves[c] = calloc(b->batch.count * size, sizeof(double));
    }
    contract_ok(ergo_sampler_advance(contract.ctx, b->ops, b->state, 0, 1, every, 0), "advance");
    contract_ok(ergo_sampler_collect(contract.ctx, b->ops, b->state, 0, &samples), "collect");
    assert_int_equal(samples.count, 1);
    free(samples.columns);
    for (size_t c = 0; c < model->n_curves; c++)
        free(samples.curves[c]);
}

static struct ergo_text bench_save(struct bench *b, size_t member) {
    struct ergo_text text = {0};
    contract_ok(b->ops->save(contract.ctx, b->state, member, &text), "save");
    assert_true(!text.failed && text.length > 0);
    return text;
}

static enum ergo_status bench_load(struct bench *b, size_t member, uint64_t step, const void *bytes,
                                   size_t length) {
    ergo_error_clear(contract.ctx);
    return b->ops->load(contract.ctx, b->state, member, step, bytes, length);
}

static bool bench_equal(const struct ergo_text *a, const struct ergo_text *b) {
    return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

/* Member i of `a` and member j of `b` are in the same state? */
static bool bench_same(struct bench *a, size_t i, struct bench *b, size_t j) {
    struct ergo_text x = bench_save(a, i), y = bench_save(b, j);
    const bool same = bench_equal(&x, &y);
    ergo_text_free(&x);
    ergo_text_free(&y);
    return same;
}

static void bench_close(struct bench *b) {
    if (b->state)
        ergo_engine_destroy(b->state);
    ergo_job_destroy(b->job);
}

/* ---- states -----------------------------------------------------------------------------------
 */

static struct ergo_device *device;

/* Load what `from` saved into `to`. */
static void hand_over(struct bench *from, struct bench *to, uint64_t step) {
    for (size_t m = 0; m < from->batch.count; m++) {
        struct ergo_text text = bench_save(from, m);
        contract_ok(bench_load(to, m, step, text.data, text.length), "load");
        ergo_text_free(&text);
    }
}

static void all_same(const char *what, struct bench *a, struct bench *b) {
    for (size_t m = 0; m < a->batch.count; m++)
        if (!bench_same(a, m, b, m))
            fail_msg("%s, %s: member %zu differs", contract.sampler->name, what, m);
}

/* What a plan says of final states is no less than what they take. */
static void planned(struct bench *b) {
    uint64_t bytes = 0;
    for (size_t m = 0; m < b->batch.count; m++) {
        struct ergo_text text = bench_save(b, m);
        bytes += text.length;
        ergo_text_free(&text);
    }
    if (bytes > b->state_bytes)
        fail_msg("%s: states of %llu bytes, planned %llu", contract.sampler->name,
                 (unsigned long long)bytes, (unsigned long long)b->state_bytes);
}

/* save -> load -> save gives the same bytes, and the chains go on as one. */
static void round_trip(void) {
    struct bench a, b;
    bench_open(&a, device, NULL, 0);
    bench_open(&b, device, NULL, 0);
    bench_init(&a);
    bench_advance(&a, 7);
    bench_sample(&a, 2);
    planned(&a);
    all_same("saved twice", &a, &a);
    bench_create(&b); /* never initialised: everything has to come from the bytes */
    hand_over(&a, &b, 9);
    all_same("loaded", &a, &b);
    bench_advance(&a, 4);
    bench_advance(&b, 3);
    bench_advance(&b, 1);
    all_same("loaded and advanced", &a, &b);
    /* over a running chain: nothing of it is left */
    bench_sample(&b, 3);
    hand_over(&a, &b, 13);
    bench_advance(&a, 3);
    bench_sample(&b, 3);
    all_same("loaded over another state", &a, &b);
    bench_close(&a);
    bench_close(&b);
}

/* All 64 bits of the step enter the chain. */
static void long_runs(void) {
    static const uint64_t steps[] = {9, 9 + (1ull << 32), (1ull << 32) - 2, (1ull << 41) - 3};
    struct bench start, whole, parts;
    struct ergo_text ends[4];
    bench_open(&start, device, NULL, 0);
    bench_open(&whole, device, NULL, 0);
    bench_open(&parts, device, NULL, 0);
    bench_init(&start);
    bench_advance(&start, 9);
    for (size_t i = 0; i < 4; i++) {
        bench_create(&whole);
        bench_create(&parts);
        hand_over(&start, &whole, steps[i]);
        hand_over(&start, &parts, steps[i]);
        bench_advance(&whole, 5);
        for (int k = 0; k < 5; k++)
            bench_advance(&parts, 1);
        all_same("a late step, in one block and in five", &whole, &parts);
        ends[i] = bench_save(&whole, 0);
        for (size_t j = 0; j < i; j++)
            if (bench_equal(&ends[i], &ends[j]))
                fail_msg("%s: the same random numbers at steps %llu and %llu",
                         contract.sampler->name, (unsigned long long)steps[i],
                         (unsigned long long)steps[j]);
    }
    for (size_t i = 0; i < 4; i++)
        ergo_text_free(&ends[i]);
    bench_close(&start);
    bench_close(&whole);
    bench_close(&parts);
}

/* ---- long lives ------------------------------------------------------------------------------ */

/* Stands before the loader's function: launches are counted, and leave 64 bytes behind where the
 * test tests itself. */
static uint64_t launches;
static struct leak {
    struct leak *next;
    char rest[56];
} * leaks;
static bool leaking;

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *list, cl_event *event) {
    static cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                          const size_t *, cl_uint, const cl_event *, cl_event *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    launches++;
    if (leaking) {
        struct leak *leak = malloc(sizeof *leak);
        assert_non_null(leak);
        leak->next = leaks;
        leaks = leak;
    }
    return real(queue, kernel, dims, offset, global, local, n, list, event);
}

/* Bytes of the heap in use, whatever thread asked for them. */
static size_t heap(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Rounds until so many launches were made, or some seconds and 500 launches have passed. */
static void live(struct bench *b, uint64_t most, double seconds) {
    const uint64_t first = launches;
    const double begin = ergo_clock();
    while (launches - first < most && (launches - first < 500 || ergo_clock() - begin < seconds)) {
        bench_advance(b, 1);
        bench_sample(b, 1);
    }
}

static bool too_much(double growth, uint64_t made) {
    return growth > 16384 + 8.0 * (double)made;
}

/* Bytes more in use after launches than before; what drivers keep for later is there by then. */
static double grown(struct bench *b, uint64_t *made) {
    const uint64_t first = launches;
    const size_t before = heap();
    live(b, 10000, 0.5);
    *made = launches - first;
    return (double)heap() - (double)before;
}

/* No launch and no sample leaves anything behind on the host; and the test would see 64 bytes. */
static void long_life(void) {
    struct bench b;
    uint64_t made = 0;
    bench_open(&b, device, NULL, 0);
    bench_init(&b);
    live(&b, 10000, 0.5);
    const double growth = grown(&b, &made);
    if (too_much(growth, made))
        fail_msg("%s: %.0f bytes more after %llu launches", contract.sampler->name, growth,
                 (unsigned long long)made);
    leaking = true;
    const double leaked = grown(&b, &made);
    leaking = false;
    if (!too_much(leaked, made))
        fail_msg("%s: 64 bytes of each of %llu launches were not seen (%.0f more)",
                 contract.sampler->name, (unsigned long long)made, leaked);
    for (struct leak *next; leaks; leaks = next) {
        next = leaks->next;
        free(leaks);
    }
    bench_close(&b);
}

static double resident_mib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        fail_msg("no /proc/self/statm");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static struct bench lives[16];
static size_t n_lives;
static void begin_life(void) {
    assert_true(n_lives < sizeof lives / sizeof lives[0]);
    bench_open(&lives[n_lives], device, NULL, 0);
    bench_init(&lives[n_lives++]);
}

/* Ten million launches ($ERGOCL_TEST_LAUNCHES), by all samplers in turns of half a second. From a
 * tenth of them to the last neither the heap nor the process grows by as much as a byte a launch.
 */
static void ten_million(void) {
    const char *text = getenv("ERGOCL_TEST_LAUNCHES");
    const uint64_t last = text ? strtoull(text, NULL, 10) : 10000000, tenth = last / 10;
    uint64_t next = 10000, by[16] = {0};
    double heap_then = 0, resident_then = 0;
    contract_each_tiny(begin_life);
    launches = 0;
    print_message("  launches  seconds  heap, KiB  resident, MiB\n");
    const double begin = ergo_clock();
    for (size_t turn = 0; launches < last; turn++) {
        const size_t i = turn % n_lives;
        const uint64_t first = launches;
        contract.sampler = contract_real[i];
        live(&lives[i], next - launches, 0.5);
        by[i] += launches - first;
        if (launches < next)
            continue;
        print_message("%10llu %8.0f %10.1f %14.2f\n", (unsigned long long)launches,
                      ergo_clock() - begin, (double)heap() / 1024, resident_mib());
        fflush(stdout);
        if (next == tenth) {
            heap_then = (double)heap();
            resident_then = resident_mib();
        }
        next = next < tenth && 10 * next > tenth ? tenth : next < tenth ? 10 * next : next + tenth;
    }
    const double most = (double)(last - tenth), heap_more = (double)heap() - heap_then,
                 resident_more = (resident_mib() - resident_then) * 1048576;
    for (size_t i = 0; i < n_lives; i++) {
        print_message("%s: %llu launches\n", ergo_samplers[i]->name, (unsigned long long)by[i]);
        bench_close(&lives[i]);
    }
    if (heap_more >= most || resident_more >= most)
        fail_msg("%.0f bytes more on the heap, %.0f resident, after %.0f launches", heap_more,
                 resident_more, most);
}

/* Batches of any of the points, in any order, once or twice. */
static void batches(void) {
    static const size_t orders[][4] = {{3}, {1}, {2, 0}, {3, 2, 1, 0}, {1, 1, 3}};
    static const size_t counts[] = {1, 1, 2, 4, 3};
    struct bench all, some;
    bench_open(&all, device, NULL, 0);
    bench_init(&all);
    bench_advance(&all, 3);
    bench_sample(&all, 3);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        bench_open(&some, device, orders[i], counts[i]);
        bench_init(&some);
        bench_sample(&some, 2);
        bench_advance(&some, 4);
        for (size_t m = 0; m < counts[i]; m++)
            if (!bench_same(&all, orders[i][m], &some, m))
                fail_msg("%s: point %zu differs in batch %zu", contract.sampler->name, orders[i][m],
                         i);
        bench_close(&some);
    }
    bench_close(&all);
}

/* Bytes of another length are refused; bytes of the right one are refused, or they are a state:
 * then saving it gives these bytes and no others. */
static void damage(void) {
    struct bench b;
    size_t refused = 0, taken = 0;
    bench_open(&b, device, NULL, 0);
    bench_init(&b);
    bench_advance(&b, 3);
    struct ergo_text good = bench_save(&b, 1);
    char *bad = calloc(2, good.length + 1);
    assert_non_null(bad);
    memcpy(bad, good.data, good.length);

    const size_t lengths[] = {
        0, 1, good.length / 2, good.length - 1, good.length + 1, 2 * good.length};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const enum ergo_status status = bench_load(&b, 1, 3, bad, lengths[i]);
        if (status != ERGO_E_IO || !*ergo_error_message(contract.ctx))
            fail_msg("%s: a state of %zu bytes instead of %zu is not refused as a bad file",
                     contract.sampler->name, lengths[i], good.length);
    }
    for (size_t i = 0; i < 66; i++) {
        memcpy(bad, good.data, good.length);
        if (i < 64)
            bad[(good.length - 1) * i / 63] ^= (char)(1u << (i * 5 % 8));
        else
            memset(bad, i == 64 ? 0 : 0xff, good.length);
        if (bench_load(&b, 1, 3, bad, good.length) != ERGO_OK) {
            assert_true(*ergo_error_message(contract.ctx));
            refused++;
            continue;
        }
        taken++;
        struct ergo_text again = bench_save(&b, 1);
        if (again.length != good.length || memcmp(again.data, bad, good.length) != 0)
            fail_msg("%s: damaged bytes (case %zu) were taken, and saved as others",
                     contract.sampler->name, i);
        ergo_text_free(&again);
    }
    print_message("%s: of 66 damaged states %zu refused, %zu taken as they are\n",
                  contract.sampler->name, refused, taken);
    free(bad);
    ergo_text_free(&good);
    bench_close(&b);
}

static void test_round_trip(void **state) {
    (void)state;
    contract_each_model(round_trip);
}

static void test_long_runs(void **state) {
    (void)state;
    contract_each_model(long_runs);
}

static void test_long_life(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its heap is not the one that mallinfo2 knows */
#endif
    if (getenv("ERGOCL_TEST_SMALL"))
        skip();
    contract_each_tiny(long_life);
}

static void test_ten_million(void **state) {
    (void)state;
    if (!getenv("ERGOCL_TEST_FULL"))
        skip();
    ten_million();
}

static void test_batches(void **state) {
    (void)state;
    contract_each_model(batches);
}

static void test_damage(void **state) {
    (void)state;
    contract_each_model(damage);
}

static int set_up(void **state) {
    if (contract_set_up(state) != 0)
        return -1;
    return ergo_device_open(contract.ctx, NULL, &device) == ERGO_OK ? 0 : -1;
}

static int tear_down(void **state) {
    ergo_device_close(device);
    return contract_tear_down(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_long_life),  cmocka_unit_test(test_ten_million),
        cmocka_unit_test(test_batches),    cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
