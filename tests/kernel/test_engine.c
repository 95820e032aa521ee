/*
 * The engine with a model of the test's own: N counters, where counter i grows by i + 1 per step. A
 * sample is their sum, a curve is all of them. So the right results of blocks, slots and curves are
 * known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "fixture.h"

enum { N = 64, INTERVAL = 3, START = 7 };
enum { COUNTERS, OTHER, OFFSETS, SUMS, CURVES, HOST, HUGE_ROW };
enum { STEP, MEASURE, CURVE, UNDECLARED, LOST };

struct counting {
    struct ergo_engine e;
};

static uint64_t wish;     /* bytes of one more buffer */
static uint64_t interval; /* of curves */

/* A clock that stands still, or goes as the test says. */
static bool stands;
static double ahead = 1000;

int clock_gettime(clockid_t id, struct timespec *t) {
    if (!stands || id != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, id, t);
    *t =
        (struct timespec){.tv_sec = (time_t)ahead, .tv_nsec = (long)((ahead - floor(ahead)) * 1e9)};
    return 0;
}

static const char source[] =
    "__kernel void count_step(__global uint *counters, __global const uint *offsets) {\n"
    "    const uint i = (uint)get_global_id(0);\n"
    "    counters[i] += offsets[i];\n"
    "}\n"
    "__kernel void count_measure(__global const uint *counters, __global uint *sums, uint sample) "
    "{\n"
    "    atomic_add(&sums[sample], counters[get_global_id(0)]);\n"
    "}\n"
    "__kernel void count_curve(__global const uint *counters, __global uint *curves, uint curve) "
    "{\n"
    "    curves[curve * (uint)get_global_size(0) + get_global_id(0)] +=\n"
    "        counters[get_global_id(0)];\n"
    "}\n"
    "__kernel void lost(__global uint *mark, uint number) {\n"
    "}\n";

static enum ergo_status configure(struct ergo_context *context, void *state) {
    struct ergo_engine *e = &((struct counting *)state)->e;
    (void)context;
    ergo_engine_buffer(e, COUNTERS, "counters", ERGO_BUFFER_STATE, 4 * N);
    ergo_engine_buffer(e, OTHER, "second copy", ERGO_BUFFER_SCRATCH, 4 * N);
    ergo_engine_buffer(e, OFFSETS, "offsets", ERGO_BUFFER_CONSTANT, 4 * N);
    ergo_engine_sums(e, SUMS, "sums", ERGO_BUFFER_SAMPLES, 4);
    ergo_engine_sums(e, CURVES, "curves", ERGO_BUFFER_CURVES, 4 * N);
    ergo_engine_buffer(e, HOST, "counters read back", ERGO_BUFFER_HOST, 4 * N);
    ergo_engine_buffer(e, HUGE_ROW, "more than there is", ERGO_BUFFER_SCRATCH, wish);
    ergo_engine_kernel(e, STEP, "count.cl", NULL, "count_step");
    ergo_engine_kernel(e, MEASURE, "count.cl", NULL, "count_measure");
    ergo_engine_kernel(e, CURVE, "count.cl", NULL, "count_curve");
    ergo_engine_kernel(e, LOST, "count.cl", NULL, "lost");
    e->curve_interval = interval;
    return ERGO_OK;
}

static enum ergo_status prepare(struct ergo_context *context, void *state) {
    uint32_t offsets[N];
    (void)context;
    for (uint32_t i = 0; i < N; i++)
        offsets[i] = i + 1;
    ergo_engine_constant(state, OFFSETS, offsets);
    return ERGO_OK;
}

static const struct ergo_grid grid = {1, {N, 1, 1}, {1, 1, 1}};

static void steps(void *state, uint64_t n) {
    struct ergo_engine *e = state;
    for (; n; n--) {
        ERGO_LAUNCH(e, STEP, grid, BUFFER(COUNTERS), BUFFER(OFFSETS));
        e->step++;
    }
}

static void measure(void *state, size_t sample) {
    ERGO_LAUNCH((struct ergo_engine *)state, MEASURE, grid, BUFFER(COUNTERS), BUFFER(SUMS),
                U32(sample));
}

static void measure_curves(void *state, size_t curve) {
    ERGO_LAUNCH((struct ergo_engine *)state, CURVE, grid, BUFFER(COUNTERS), BUFFER(CURVES),
                U32(curve));
    ergo_engine_read_curve(state, COUNTERS, 0, 4 * N, HOST, curve, 0);
}

static enum ergo_status convert(struct ergo_context *context, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    const struct ergo_engine *e = state;
    (void)context;
    for (size_t i = 0; i < samples->count; i++)
        samples->columns[i] = *(const uint32_t *)ergo_engine_host(e, SUMS, slot, i);
    for (size_t c = 0; c < samples->n_curve_samples; c++)
        for (size_t k = 0; k < N; k++) {
            const uint32_t *counted = ergo_engine_host(e, CURVES, slot, c);
            const uint32_t *read = ergo_engine_host(e, HOST, slot, c);
            samples->curves[0][c * N + k] = counted[k];
            assert_int_equal(counted[k], read[k]);
        }
    return ERGO_OK;
}

static const struct ergo_engine_model model = {
    .sampler = "counting",
    .smaller = "fewer counters",
    .state_bytes = sizeof(struct counting),
    .configure = configure,
    .prepare = prepare,
    .steps = steps,
    .measure = measure,
    .measure_curves = measure_curves,
    .convert = convert,
};

static const struct ergo_batch batch = {.count = 1};

/* The sum of all counters after so many steps. */
static double sum_at(uint64_t step) {
    return (double)(step * N * (N + 1) / 2);
}

static struct counting *create(void) {
    void *state = NULL;
    if (ergo_engine_create(ctx, &model, &batch, device, &state) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return state;
}

static void advance(struct counting *s, unsigned slot, size_t count, uint64_t every,
                    uint64_t first) {
    if (ergo_engine_advance(ctx, s, slot, count, every, first) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
}

/* Samples of a block that began at `step`: all of them, and the curves that are due. */
static void expect(struct counting *s, unsigned slot, size_t count, uint64_t every, uint64_t first,
                   uint64_t step) {
    double columns[16], curves[16 * N];
    struct ergo_samples samples = {.columns = columns, .curves = {curves}};
    size_t curve = 0;
    if (ergo_engine_collect(ctx, s, slot, &samples) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    assert_int_equal(samples.count, count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = step + (i + 1) * every;
        assert_true(columns[i] == sum_at(at));
        if (!interval || (first + i) % interval)
            continue;
        for (size_t k = 0; k < N; k++)
            assert_true(curves[curve * N + k] == (double)(at * (k + 1)));
        curve++;
    }
    assert_int_equal(samples.n_curve_samples, curve);
}

/* Memory is the sum of what is declared; results are there twice. */
static void test_plan(void **state) {
    (void)state;
    struct ergo_plan plan;
    interval = INTERVAL;
    assert_int_equal(ergo_engine_plan(ctx, &model, &batch, device, &plan), ERGO_OK);
    const size_t samples = plan.block_samples, curves = (samples - 1) / INTERVAL + 1;
    assert_int_equal(samples, ERGO_BLOCK_SAMPLES);
    assert_int_equal(plan.device_bytes, 3 * 4 * N + 4 + 2 * (4 * samples + 4 * N * curves));
    assert_int_equal(plan.host_bytes, 2 * (4 * samples + 4 + 2 * 4 * N * curves));
    assert_int_equal(plan.largest_buffer, 4 * N * curves);
    wish = device->summary.largest_buffer + 4;
    assert_int_equal(ergo_engine_plan(ctx, &model, &batch, device, &plan), ERGO_E_DEVICE);
    assert_non_null(strstr(ergo_error_message(ctx), "its more than there is need"));
    assert_non_null(strstr(ergo_error_message(ctx), "fewer counters"));
    ergo_error_clear(ctx);
    wish = 0;
}

/* Two blocks in flight, blocks without samples between, slots used again, curves across blocks. */
static void test_blocks(void **state) {
    (void)state;
    interval = INTERVAL;
    struct counting *s = create();
    advance(s, 0, 0, START, 0);
    advance(s, 0, 5, 2, 0);
    advance(s, 1, 4, 2, 5);
    expect(s, 0, 5, 2, 0, START);
    advance(s, 0, 3, 1, 9);
    expect(s, 1, 4, 2, 5, START + 10);
    expect(s, 0, 3, 1, 9, START + 18);
    advance(s, 1, 1, 1, 13); /* fewer than before, none with curves */
    expect(s, 1, 1, 1, 13, START + 21);
    assert_int_equal(s->e.step, START + 22);
    ergo_engine_destroy(s);
    interval = 0;
    s = create();
    advance(s, 0, 2, 3, 0);
    expect(s, 0, 2, 3, 0, 0);
    ergo_engine_destroy(s);
}

/* A device that makes no launch any more, and says that all is well. */
static void test_lost_launches(void **state) {
    (void)state;
    double columns[1];
    struct ergo_samples samples = {.columns = columns};
    interval = 0;
    struct counting *s = create();
    advance(s, 0, 1, 1, 0);
    expect(s, 0, 1, 1, 0, 0);
    cl_kernel *alive = &s->e.kernels[ERGO_ALIVE_KERNEL].kernel, own = *alive;
    *alive = s->e.kernels[LOST].kernel;
    advance(s, 0, 1, 1, 1);
    assert_int_equal(ergo_engine_collect(ctx, s, 0, &samples), ERGO_E_AUDIT);
    assert_non_null(strstr(ergo_error_message(ctx), "before step 2 it has lost launches"));
    ergo_error_clear(ctx);
    assert_int_equal(ergo_engine_check(ctx, &s->e), ERGO_E_AUDIT);
    ergo_error_clear(ctx);
    *alive = own;
    assert_int_equal(ergo_engine_check(ctx, &s->e), ERGO_OK);
    ergo_engine_destroy(s);
}

/* Nothing is done behind the first error, which is the one that is told. */
static void test_first_error_sticks(void **state) {
    (void)state;
    interval = 0;
    uint32_t before[N], after[N];
    struct counting *s = create();
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, COUNTERS, 0, sizeof before, before);
    assert_int_equal(ergo_engine_end(&s->e), ERGO_OK);
    ERGO_LAUNCH(&s->e, UNDECLARED, grid, BUFFER(COUNTERS));
    steps(s, 2);
    ergo_engine_write(&s->e, COUNTERS, 0, 4, "1234");
    ergo_engine_fill(&s->e, COUNTERS, 0xff);
    memset(after, 0x55, sizeof after);
    ergo_engine_read(&s->e, COUNTERS, 0, sizeof after, after);
    assert_int_equal(after[0], 0x55555555); /* not read either */
    assert_int_equal(ergo_engine_end(&s->e), ERGO_E_INTERNAL);
    assert_non_null(strstr(ergo_error_message(ctx), "kernel 3"));
    ergo_error_clear(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, COUNTERS, 0, sizeof after, after);
    assert_int_equal(ergo_engine_end(&s->e), ERGO_OK);
    assert_memory_equal(before, after, sizeof before);
    ergo_engine_destroy(s);
}

/* Buffers that change places, are filled, and get another size. */
/* Launches are timed where a pace cuts them short, until they settle, and later now and then. */
static void test_lengths(void **state) {
    struct counting *s = create();
    struct ergo_engine *e = &s->e;
    struct ergo_pace *p = &e->pace;
    (void)state;
    ergo_engine_begin(e, ctx);
    stands = true;
    ergo_pace_start(p, 6400);
    assert_int_equal(ergo_engine_next(e, p, 10, 1000), 10); /* all there is */
    ahead += 10;
    ergo_engine_made(e, p, 10);
    assert_int_equal(ergo_engine_next(e, p, 1000, 20), 20); /* the model's limit */
    ahead += 10;
    ergo_engine_made(e, p, 20);
    assert_int_equal(p->noted, 0);
    assert_int_equal(ergo_engine_next(e, p, 1000, 1000), 64);
    ahead += 3;
    ergo_engine_made(e, p, 64);
    assert_int_equal(p->noted, 1);
    assert_int_equal(ergo_engine_next(e, p, 1000, 1000), 2);
    ahead += 0.09;
    ergo_engine_made(e, p, 2);
    assert_true(p->settled);
    for (int i = 0; i < 10; i++) { /* not each launch */
        assert_int_equal(ergo_engine_next(e, p, 1000, 1000), 2);
        ahead += 0.09;
        ergo_engine_made(e, p, 2);
    }
    assert_int_equal(p->noted, 2);
    ahead += 2;
    assert_int_equal(ergo_engine_next(e, p, 1000, 1000), 2);
    ahead += 0.01;
    ergo_engine_made(e, p, 2);
    assert_int_equal(p->noted, 3);
    assert_int_equal(p->now, 4);
    stands = false;
    assert_int_equal(ergo_engine_end(e), ERGO_OK);
    ergo_engine_destroy(s);
}

static void test_buffers(void **state) {
    (void)state;
    interval = 0;
    uint32_t found[2 * N];
    struct counting *s = create();
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_fill(&s->e, OTHER, 0x11);
    ergo_engine_swap(&s->e, COUNTERS, OTHER);
    ergo_engine_read(&s->e, COUNTERS, 0, 4 * N, found);
    assert_int_equal(found[N - 1], 0x11111111);
    ergo_engine_read(&s->e, OTHER, 0, 4 * N, found);
    assert_int_equal(found[0], 0);
    ergo_engine_grow(&s->e, OTHER, sizeof found, 1);
    ergo_engine_read(&s->e, OTHER, 0, sizeof found, found);
    assert_int_equal(ergo_engine_end(&s->e), ERGO_OK);
    for (size_t i = 0; i < 2 * N; i++)
        assert_int_equal(found[i], 0);
    assert_int_equal(ergo_engine_group(&s->e, STEP, 1), 1);
    assert_true(ergo_engine_group(&s->e, STEP, (size_t)1 << 40) <= device->summary.largest_group);
    ergo_engine_destroy(s);
}

static uint32_t counter_at(struct counting *s, size_t i) {
    uint32_t counter = 0;
    ergo_engine_read(&s->e, COUNTERS, 4 * i, sizeof counter, &counter);
    return counter;
}

/* Between the calls small reads are served from what was read before, until something changes. */
static void test_read_ahead(void **state) {
    const uint32_t other = 1234567;
    (void)state;
    struct counting *s = create();
    advance(s, 0, 0, START, 0);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read_ahead(&s->e, true);
    for (size_t i = N; i-- > 0;)
        assert_int_equal(counter_at(s, i), START * (i + 1));
    const uint64_t changes = s->e.changes;
    /* behind the engine's back: the buffer is not asked again */
    assert_int_equal(ergo_buffer_write(ctx, device, s->e.buffers[COUNTERS].mem[0], 0, 4, &other),
                     ERGO_OK);
    assert_int_equal(counter_at(s, 0), START);
    assert_int_equal(s->e.changes, changes);
    ergo_engine_write(&s->e, COUNTERS, 4, 4, &other);
    assert_int_equal(counter_at(s, 0), other);
    assert_int_equal(counter_at(s, 1), other);
    steps(s, 1);
    assert_int_equal(counter_at(s, 1), other + 2);
    assert_true(s->e.changes > changes);
    ergo_engine_fill(&s->e, COUNTERS, 0);
    assert_int_equal(counter_at(s, 1), 0);
    ergo_engine_read_ahead(&s->e, false);
    steps(s, 1);
    assert_int_equal(counter_at(s, N - 1), N);
    assert_int_equal(ergo_engine_end(&s->e), ERGO_OK);
    ergo_engine_destroy(s);
}

static void test_constants(void **state) {
    (void)state;
    interval = 0;
    struct counting *s = create();
    const uint32_t wrong = 3;
    assert_int_equal(ergo_engine_check(ctx, &s->e), ERGO_OK);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_write(&s->e, OFFSETS, 4 * (N - 1), 4, &wrong);
    assert_int_equal(ergo_engine_end(&s->e), ERGO_OK);
    assert_int_equal(ergo_engine_check(ctx, &s->e), ERGO_E_AUDIT);
    assert_non_null(strstr(ergo_error_message(ctx), "the offsets in the device's memory"));
    ergo_error_clear(ctx);
    /* other data do not hide it */
    const uint32_t other[N] = {0};
    ergo_engine_constant(&s->e, OFFSETS, other);
    assert_int_equal(ergo_engine_end(&s->e), ERGO_E_AUDIT);
    ergo_error_clear(ctx);
    ergo_engine_destroy(s);
}

/* ---- counters of three members, a buffer for each ----------------------------------------------
 */

static uint32_t numbers = N; /* of a member's counters */

static enum ergo_status configure_each(struct ergo_context *context, void *state) {
    struct ergo_engine *e = state;
    (void)context;
    ergo_engine_buffer(e, COUNTERS, "counters", ERGO_BUFFER_STATE, 4 * numbers);
    ergo_engine_flag(e, COUNTERS, ERGO_BUFFER_EACH | ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE);
    ergo_engine_buffer(e, OFFSETS, "offsets", ERGO_BUFFER_CONSTANT, 4 * N);
    ergo_engine_kernel(e, STEP, "count.cl", NULL, "count_step");
    return ergo_engine_memory(e, 1, 1) ? ERGO_OK : ergo_engine_end(e);
}

static void steps_each(void *state, uint64_t n) {
    struct ergo_engine *e = state;
    const uint64_t step = e->step;
    for (size_t m = 0; m < e->batch->count; m++) {
        ergo_engine_choose(e, m);
        e->step = step;
        steps(state, n);
    }
}

static const struct ergo_engine_model each = {
    .sampler = "counting",
    .smaller = "fewer counters",
    .state_bytes = sizeof(struct counting),
    .configure = configure_each,
    .prepare = prepare,
    .steps = steps_each,
};
static const struct ergo_batch three = {.count = 3};

/* The last counter of a member, by its host memory. */
static uint32_t last_of(struct ergo_engine *e, size_t member) {
    const uint32_t *host = ergo_engine_host(e, COUNTERS, 0, 0);
    ergo_engine_begin(e, ctx);
    ergo_engine_choose(e, member);
    ergo_engine_fetch(e, COUNTERS, 0, 4 * N, ergo_engine_host(e, COUNTERS, 0, 0));
    ergo_engine_await(e, COUNTERS);
    assert_int_equal(ergo_engine_end(e), ERGO_OK);
    return host[N - 1];
}

static void test_members(void **unused) {
    (void)unused;
    void *state = NULL;
    struct ergo_plan plan;
    assert_int_equal(ergo_engine_plan(ctx, &each, &three, device, &plan), ERGO_OK);
    assert_int_equal(plan.device_bytes, 3 * 4 * N + 4 * N + 4);
    assert_int_equal(plan.host_bytes, 4 * N + 2 * 4);
    assert_int_equal(ergo_engine_create(ctx, &each, &three, device, &state), ERGO_OK);
    struct ergo_engine *e = state;
    uint32_t *host = ergo_engine_host(e, COUNTERS, 0, 0);
    ergo_engine_begin(e, ctx);
    for (uint32_t m = 0; m < 3; m++) {
        for (size_t i = 0; i < N; i++)
            host[i] = 100 * m;
        ergo_engine_choose(e, m);
        ergo_engine_send(e, COUNTERS, 4 * N);
        ergo_engine_finish(e);
    }
    assert_int_equal(ergo_engine_end(e), ERGO_OK);
    assert_int_equal(ergo_engine_advance(ctx, e, 0, 0, START, 0), ERGO_OK);
    for (uint32_t m = 0; m < 3; m++)
        assert_int_equal(last_of(e, m), 100 * m + START * N);
    ergo_engine_begin(e, ctx);
    ergo_engine_choose(e, 1);
    ergo_engine_zero(e, COUNTERS, 4 * N);
    assert_int_equal(ergo_engine_end(e), ERGO_OK);
    assert_int_equal(last_of(e, 1), 0);
    assert_int_equal(last_of(e, 2), 200 + START * N);
    /* all anew, of another size */
    numbers = 2 * N;
    assert_int_equal(ergo_engine_remake(ctx, e), ERGO_OK);
    assert_int_equal(e->buffers[COUNTERS].bytes, 8 * N);
    assert_int_equal(e->step, START);
    assert_int_equal(last_of(e, 2), 0);
    assert_int_equal(ergo_engine_advance(ctx, e, 0, 0, 1, 0), ERGO_OK);
    assert_int_equal(last_of(e, 0), N);
    assert_int_equal(ergo_engine_check(ctx, e), ERGO_OK);
    ergo_engine_destroy(e);
}

/* The kernels of the test, from a folder of its own. */
static int open_all(void **state) {
    static char folder[] = "/tmp/ergocl-engine-XXXXXX";
    char path[64], kernels[4096];
    if (!realpath("cl/common", kernels) || fixture_open(state) || !mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/count.cl", folder);
    FILE *file = fopen(path, "w");
    if (!file || fputs(source, file) < 0 || fclose(file) || setenv("ERGOCL_CL_DIR", folder, 1))
        return -1;
    snprintf(path, sizeof path, "%s/common", folder);
    return symlink(kernels, path);
}

static int close_all(void **state) {
    char path[64];
    const char *folder = getenv("ERGOCL_CL_DIR");
    snprintf(path, sizeof path, "%s/count.cl", folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/common", folder);
    (void)unlink(path);
    (void)rmdir(folder);
    return fixture_close(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),          cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_lost_launches), cmocka_unit_test(test_first_error_sticks),
        cmocka_unit_test(test_lengths),       cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_read_ahead),    cmocka_unit_test(test_members),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
