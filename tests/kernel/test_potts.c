/*
 * Swendsen-Wang's kernels against the serial oracle, bit for bit, through the sampler's own
 * operations: spins, and all measurements of spins and clusters. Shapes that do and do not fill
 * words and tiles, q with and without unused states, both paths, several tiles and groups,
 * temperatures from frozen to infinite in one batch.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "oracle/philox_ref.h"
#include "oracle/potts_serial.h"
#include "samplers/swendsen_wang/sw.h"

static const struct ergo_model *model;
static bool light;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message(ctx));                                    \
    } while (0)

enum often { TINY, LIGHT, ALWAYS }; /* in every run; not under Oclgrind; not on rusticl */

static const struct potts_case {
    enum often often;
    int lx, ly, q, group, tile_words, tile_rows, tile_group, path;
    const char *more; /* of the job */
} cases[] = {
    /* pairs of the same neighbours; sides that are odd, and less than a word */
    {LIGHT, 2, 2, 2, 0, 0, 0, 0, 2, ""},
    {TINY, 5, 7, 3, 0, 0, 0, 0, 2, ""},
    {LIGHT, 31, 4, 4, 4, 1, 2, 0, 0, ""},
    /* one word, whole; one and a bit; tiles that do not divide the lattice */
    {LIGHT, 32, 33, 2, 8, 1, 8, 0, 0, ""},
    {TINY, 33, 6, 5, 2, 1, 4, 2, 0, ""},
    {ALWAYS, 64, 64, 3, 0, 0, 0, 0, 2, ""},
    {LIGHT, 70, 37, 3, 0, 2, 8, 0, 2, ""},
    /* several work-items for a word */
    {TINY, 33, 6, 5, 2, 1, 4, 8, 2, ""},
    {LIGHT, 70, 37, 3, 0, 2, 8, 64, 2, ""},
    {LIGHT, 130, 70, 2, 0, 4, 16, 128, 2, ""},
    {LIGHT, 100, 37, 2, 16, 2, 4, 8, 0, ""},
    {ALWAYS, 130, 70, 2, 32, 4, 16, 16, 0, ""},
    {ALWAYS, 96, 40, 256, 0, 0, 0, 0, 2, ""},
    {ALWAYS, 257, 5, 9, 0, 0, 0, 0, 2, ""},
    {ALWAYS, 320, 300, 2, 0, 0, 0, 256, 0, ", \"hamiltonian\": \"ising\""},
    {ALWAYS, 256, 256, 8, 0, 0, 0, 0, 0, ", \"start\": \"ordered\""},
    /* whole sweeps in local memory */
    {LIGHT, 2, 2, 2, 0, 0, 0, 0, 1, ""},
    {TINY, 33, 6, 5, 0, 0, 0, 4, 1, ""},
    {TINY, 33, 6, 5, 0, 0, 0, 32, 1, ""},
    {LIGHT, 64, 30, 3, 0, 0, 0, 256, 1, ""},
    {LIGHT, 64, 32, 3, 0, 0, 0, 0, 1, ""},
    {ALWAYS, 100, 37, 256, 0, 0, 0, 0, 0, ""},
    {ALWAYS, 128, 64, 2, 0, 0, 0, 0, 1, ""},
};

struct bench {
    struct ergo_job *job;
    const struct ergo_batch *batch;
    struct sw_state *state;
    struct ergo_oracle_potts *oracles;
    uint64_t t;
};

/* False: the device refuses that path. */
static bool begin(struct bench *b, const struct potts_case *c) {
    char text[1024];
    const double tc = 1 / log(1 + sqrt(c->q)) * (strstr(c->more, "ising") ? 2 : 1);
    snprintf(text, sizeof text,
             "{\"sampler\": \"swendsen-wang\", \"seed\": \"18446744073709551557\", \"system\": "
             "{\"size\": [%d, %d], \"q\": %d, \"temperature\": 1%s}, "
             "\"run\": {\"sweeps\": 1}, \"tuning\": {\"work_group\": %d, \"tile_words\": %d, "
             "\"tile_rows\": %d, \"tile_group\": %d, \"path\": %d}, \"scan\": "
             "{\"/system/temperature\": [%.9f, "
             "%.9f, 0.02, 1e9]}}",
             c->lx, c->ly, c->q, c->more, c->group, c->tile_words, c->tile_rows, c->tile_group,
             c->path, tc, 0.9 * tc);
    OK(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    b->batch = &b->job->batches[0];
    b->t = 0;
    void *state = NULL;
    const enum ergo_status status = ergo_sampler_create(ctx, model->ops, b->batch, device, &state);
    if (status == ERGO_E_DEVICE && c->path == 1) { /* too large for this device's local memory */
        print_message("  not here: %s\n", ergo_error_message(ctx));
        ergo_error_clear(ctx);
        ergo_job_destroy(b->job);
        return false;
    }
    OK(status);
    OK(model->ops->init(ctx, state));
    b->state = state;
    b->oracles = calloc(b->batch->count, sizeof *b->oracles);
    for (size_t m = 0; m < b->batch->count; m++) {
        const struct ergo_point *p = b->batch->points[m];
        const double j = ergo_point_real(p, "/system/coupling") * (sw_is_ising(p) ? 2 : 1);
        assert_true(ergo_oracle_potts_init(
            &b->oracles[m], c->lx, c->ly, c->q, j, ergo_point_real(p, "/system/temperature"),
            !strstr(c->more, "ordered"), ergo_oracle_philox, p->stream));
    }
    return true;
}

static void end(struct bench *b) {
    ergo_engine_destroy(b->state);
    for (size_t m = 0; m < b->batch->count; m++)
        ergo_oracle_potts_free(&b->oracles[m]);
    free(b->oracles);
    ergo_job_destroy(b->job);
}

/* The canonical state says what the oracle says; and load takes it. */
static void compare_states(struct bench *b, const char *when) {
    for (size_t m = 0; m < b->batch->count; m++) {
        const struct ergo_oracle_potts *o = &b->oracles[m];
        const size_t row = ((size_t)o->Lx + 7) / 8, planes = b->state->shape.planes;
        struct ergo_text text = {0};
        OK(model->ops->save(ctx, b->state, m, &text));
        assert_int_equal(text.length, row * planes * (size_t)o->Ly);
        for (int y = 0; y < o->Ly; y++)
            for (int x = 0; x < o->Lx; x++) {
                unsigned found = 0;
                for (size_t p = 0; p < planes; p++) {
                    const uint8_t byte =
                        (uint8_t)text.data[((size_t)y * planes + p) * row + (size_t)x / 8];
                    found |= (byte >> (x % 8) & 1u) << p;
                }
                if (found != o->spins[y * o->Lx + x])
                    fail_msg("%s: sweep %llu, member %zu, site (%d, %d): %u, oracle %u", when,
                             (unsigned long long)b->t, m, x, y, found, o->spins[y * o->Lx + x]);
            }
        if (!small) /* Oclgrind takes what is beside a part that the host wrote for uninitialised */
            OK(model->ops->load(ctx, b->state, m, b->t, text.data, text.length));
        ergo_text_free(&text);
    }
}

static void compare_sample(const struct bench *b, size_t m, const double *columns,
                           const double *bins) {
    const struct ergo_oracle_potts *o = &b->oracles[m];
    const struct ergo_oracle_potts_clusters c = ergo_oracle_potts_clusters(o);
    const double n = (double)o->Lx * o->Ly, unequal = (double)ergo_oracle_potts_unequal(o) / n;
    int64_t counts[256], most = 0;
    double squares = 0;
    double fourths = 0;
    for (int i = 0; i < o->Lx * o->Ly; i++)
        fourths += pow((double)o->sizes[i] / n, 4);
    ergo_oracle_potts_counts(o, counts);
    for (int k = 0; k < o->q; k++) {
        most = counts[k] > most ? counts[k] : most;
        squares += (double)counts[k] / n * ((double)counts[k] / n);
    }
    const double expected[SW_COLUMNS] = {
        sw_is_ising(b->batch->points[m]) ? -2 + 2 * unequal : unequal,
        (o->q * ((double)most / n) - 1) / (o->q - 1),
        (o->q * squares - 1) / (o->q - 1),
        c.sum_squares / n / n,
        (double)c.clusters / n,
        (double)c.largest / n,
        c.wraps_x || c.wraps_y,
        ((o->q + 1) * pow(c.sum_squares / n / n, 2) - 2 * fourths) / (o->q - 1)};
    for (int k = 0; k < SW_COLUMNS; k++)
        if (!(fabs(columns[k] - expected[k]) < 1e-13))
            fail_msg("sweep %llu, member %zu, column %s: %.17g, oracle %.17g",
                     (unsigned long long)b->t, m, model->columns[k].name, columns[k], expected[k]);
    double sizes[SW_CLUSTER_BINS] = {0};
    for (int64_t i = 0; i < (int64_t)n; i++) {
        int bin = -1;
        for (int64_t s = o->sizes[i]; s; s /= 2)
            bin++;
        if (bin >= 0)
            sizes[bin] += 1;
    }
    const size_t size = model->curve_size(b->batch->points[m], 0);
    for (size_t k = 0; k < size; k++)
        assert_true(fabs(bins[k] - sizes[k] / n) < 1e-13);
}

static void sweep_oracles(struct bench *b, uint64_t count) {
    for (uint64_t i = 0; i < count; i++, b->t++)
        for (size_t m = 0; m < b->batch->count; m++)
            ergo_oracle_potts_sweep(&b->oracles[m], b->t);
}

static void collect(struct bench *b, unsigned slot, size_t count, uint64_t every) {
    const size_t members = b->batch->count;
    const size_t size = model->curve_size(b->batch->points[0], 0);
    struct ergo_samples samples = {.columns = calloc(count * members * SW_COLUMNS, sizeof(double))};
    samples.curves[0] = calloc(count * members * size, sizeof(double));
    OK(ergo_sampler_collect(ctx, model->ops, b->state, slot, &samples));
    assert_int_equal(samples.count, count);
    assert_int_equal(samples.n_curve_samples, count);
    for (size_t i = 0; i < count; i++) {
        sweep_oracles(b, every);
        for (size_t m = 0; m < members; m++)
            compare_sample(b, m, samples.columns + (i * members + m) * SW_COLUMNS,
                           samples.curves[0] + (i * members + m) * size);
    }
    free(samples.columns);
    free(samples.curves[0]);
}

static void check(const struct potts_case *c) {
    struct bench b;
    print_message("%d x %d, q = %d, path %d%s\n", c->lx, c->ly, c->q, c->path, c->more);
    if (!begin(&b, c))
        return;
    compare_states(&b, "start");
    OK(ergo_sampler_advance(ctx, model->ops, b.state, 0, 0, small ? 2 : 3, 0));
    sweep_oracles(&b, small ? 2 : 3);
    compare_states(&b, "sweeps alone");
    OK(ergo_sampler_advance(ctx, model->ops, b.state, 0, 2, 1, 0));
    OK(ergo_sampler_advance(ctx, model->ops, b.state, 1, small ? 1 : 3, 2, 2));
    collect(&b, 0, 2, 1);
    collect(&b, 1, small ? 1 : 3, 2);
    compare_states(&b, "measured sweeps");
    if (small) {
        end(&b);
        return;
    }
    /* across the step's upper word */
    const uint64_t far = (UINT64_C(1) << 32) - 1;
    for (size_t m = 0; m < b.batch->count; m++) {
        struct ergo_text text = {0};
        OK(model->ops->save(ctx, b.state, m, &text));
        OK(model->ops->load(ctx, b.state, m, far, text.data, text.length));
        ergo_text_free(&text);
    }
    b.t = far;
    OK(ergo_sampler_advance(ctx, model->ops, b.state, 0, 0, 2, 0));
    sweep_oracles(&b, 2);
    compare_states(&b, "beyond 2^32 sweeps");
    end(&b);
}

static void test_cases(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (cases[i].often == TINY || (!small && (cases[i].often == LIGHT || !light)))
            check(&cases[i]);
}

/* A saved state with a site outside the lattice, or in a state that is not there, is refused. */
static void test_damaged(void **unused) {
    (void)unused;
    const struct potts_case c = {TINY, 5, 7, 3, 0, 0, 0, 0, 0, ""};
    struct bench b;
    begin(&b, &c);
    struct ergo_text text = {0};
    OK(model->ops->save(ctx, b.state, 0, &text));
    const char first = text.data[0], second = text.data[1];
    text.data[0] = (char)(first | 0x40);
    assert_int_equal(model->ops->load(ctx, b.state, 0, 0, text.data, text.length), ERGO_E_IO);
    text.data[0] = text.data[1] = 1; /* state 3 */
    assert_int_equal(model->ops->load(ctx, b.state, 0, 0, text.data, text.length), ERGO_E_IO);
    text.data[0] = first, text.data[1] = second;
    assert_int_equal(model->ops->load(ctx, b.state, 0, 0, text.data, text.length - 1), ERGO_E_IO);
    OK(model->ops->load(ctx, b.state, 0, 0, text.data, text.length));
    ergo_error_clear(ctx);
    ergo_text_free(&text);
    end(&b);
}

static int open_device(void **unused) {
    model = ergo_sampler_find("swendsen-wang")->models[0];
    const int failed = fixture_open(unused);
    light = !failed && strstr(device->summary.platform, "rusticl") != NULL;
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, open_device, fixture_close);
}
