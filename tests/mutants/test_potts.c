/*
 * One Swendsen-Wang job, with ' for ", as a mutant is judged: test_potts 'JOB'. Bit for bit against
 * the serial oracle; with test_potts 'JOB' ENERGY PSI2 by statistics alone against exact values
 * (PSI2 by spins and by clusters), each |z| < 5 over 64 bins.
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

#include "mutants/mutant.h"
#include "oracle/philox_ref.h"
#include "oracle/potts_serial.h"
#include "oracle/sites_serial.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/swendsen_wang/sites/sites.h"

static double exact[2];
static bool statistics;

static struct ergo_context *ctx;
static const struct ergo_sampler_ops *ops; /* or those of a cut lattice, of one rank */

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message(ctx));                                    \
    } while (0)

static void compare_bits(void *state, const struct ergo_batch *batch) {
    for (size_t m = 0; m < batch->count; m++) {
        const struct ergo_point *p = batch->points[m];
        const struct ergo_value *size = ergo_point_value(p, "/system/size");
        struct ergo_oracle_potts o;
        struct ergo_text found = {0};
        OK(ops->save(ctx, state, m, &found));
        assert_true(ergo_oracle_potts_init(
            &o, (int)size->size[0], (int)size->size[1], (int)ergo_point_int(p, "/system/q"),
            ergo_point_real(p, "/system/coupling"), ergo_point_real(p, "/system/temperature"), true,
            ergo_oracle_philox, p->stream));
        for (uint64_t t = 0; t < 4; t++)
            ergo_oracle_potts_sweep(&o, t);
        const size_t row = ((size_t)o.Lx + 7) / 8, planes = found.length / row / (size_t)o.Ly;
        for (int y = 0; y < o.Ly; y++)
            for (int x = 0; x < o.Lx; x++) {
                unsigned spin = 0;
                for (size_t b = 0; b < planes; b++)
                    spin |= ((uint8_t)found.data[((size_t)y * planes + b) * row + (size_t)x / 8] >>
                                 (x % 8) &
                             1u)
                            << b;
                if (spin != o.spins[y * o.Lx + x])
                    fail_msg("member %zu, site (%d, %d): %u, oracle %u", m, x, y, spin,
                             o.spins[y * o.Lx + x]);
            }
        ergo_text_free(&found);
        ergo_oracle_potts_free(&o);
    }
}

/* Lattices of sites. */
static void compare_sites(void *state, const struct ergo_batch *batch) {
    for (size_t m = 0; m < batch->count; m++) {
        const struct ergo_point *p = batch->points[m];
        const struct ergo_value *size = ergo_point_value(p, "/system/size");
        const struct sw_sites_shape shape = sw_sites_shape_of(p);
        struct sites_oracle o = {
            .l = {(int)size->size[0], (int)size->size[1], size->items > 2 ? (int)size->size[2] : 1},
            .lattice = shape.lattice == SW_LATTICE_TRIANGULAR  ? SITES_TRIANGULAR
                       : shape.lattice == SW_LATTICE_HONEYCOMB ? SITES_HONEYCOMB
                                                               : SITES_SQUARE,
            .q = (int)ergo_point_int(p, "/system/q"),
            .j = ergo_point_real(p, "/system/coupling"),
            .t = ergo_point_real(p, "/system/temperature"),
            .stream = p->stream,
            .adapts = shape.adapts};
        for (int d = 0; d < 3; d++) {
            o.open[d] = shape.open >> d & 1u;
            o.anti[d] = shape.anti >> d & 1u;
        }
        if (shape.disordered) {
            uint32_t key[2];
            glass_disorder_key(p, key);
            o.disorder = (uint64_t)key[1] << 32 | key[0];
            o.fraction = ergo_point_real(p, "/system/negative_fraction");
            o.ratio = ergo_point_real(p, "/system/disorder_ratio");
        }
        if (shape.field)
            o.field = ergo_point_real(p, "/system/field");
        struct ergo_text found = {0};
        OK(ops->save(ctx, state, m, &found));
        assert_true(sites_oracle_init(&o));
        if (o.adapts) { /* for a share of 1/2 */
            const double first = ergo_point_real(p, "/run/probability_step_first");
            const double last = ergo_point_real(p, "/run/probability_step");
            assert_true(first < 2 * last);
            o.chance = (uint32_t)floor((1 - exp(-o.j / o.t)) * 4294967296.0 + 0.5);
            o.up = o.down = (uint32_t)floor(last * 4294967296.0 + 0.5);
        }
        sites_oracle_start(&o);
        for (uint64_t t = 0; t < 4; t++) {
            if (shape.wolff)
                sites_oracle_wolff(&o, t);
            else
                sites_oracle_sweep(&o, t);
            if (o.adapts)
                sites_oracle_adapt(&o, 0);
        }
        for (int i = 0; i < o.sites; i++)
            if ((uint8_t)found.data[i] != o.spins[i])
                fail_msg("member %zu, site %d: %d, oracle %d", m, i, found.data[i], o.spins[i]);
        const uint8_t *tail = (const uint8_t *)found.data + o.sites;
        if (o.adapts && ((uint32_t)tail[3] << 24 | (uint32_t)tail[2] << 16 |
                         (uint32_t)tail[1] << 8 | tail[0]) != o.chance)
            fail_msg("member %zu: another probability than the oracle's, %u", m, o.chance);
        ergo_text_free(&found);
        sites_oracle_free(&o);
    }
}

static void compare_values(void *state, const struct ergo_batch *batch) {
    enum { BINS = 64, BLOCK = 50 };
    const size_t members = batch->count;
    static const char *const names[] = {"energy", "psi2", "psi2 of clusters"};
    const int values = sw_wants_clusters(batch->points[0]) ? 3 : 2;
    double sums[3][BINS] = {{0}};
    double *columns = malloc(BLOCK * members * SW_COLUMNS * sizeof(double));
    OK(ergo_sampler_advance(ctx, ops, state, 0, 0, 50, 0));
    for (size_t b = 0; b < BINS; b++) {
        struct ergo_samples samples = {.columns = columns};
        OK(ergo_sampler_advance(ctx, ops, state, 0, BLOCK, 1, b * BLOCK));
        OK(ergo_sampler_collect(ctx, ops, state, 0, &samples));
        for (size_t i = 0; i < BLOCK * members; i++) {
            sums[0][b] += columns[i * SW_COLUMNS + SW_COLUMN_ENERGY];
            sums[1][b] += columns[i * SW_COLUMNS + SW_COLUMN_PSI2];
            sums[2][b] += columns[i * SW_COLUMNS + SW_COLUMN_IMPROVED];
        }
    }
    free(columns);
    for (int k = 0; k < values; k++) {
        double mean = 0, square = 0;
        for (int b = 0; b < BINS; b++) {
            const double x = sums[k][b] / (double)(BLOCK * members);
            mean += x / BINS;
            square += x * x / BINS;
        }
        const double error = sqrt((square - mean * mean) / (BINS - 1)),
                     z = (mean - exact[k ? 1 : 0]) / error;
        print_message("%s: %.6f(%.6f), z = %.2f\n", names[k], mean, error, z);
        if (!(fabs(z) < 5))
            fail_msg("not the exact values: z = %.2f", z);
    }
}

static void test_job(void **unused) {
    (void)unused;
    struct ergo_device *device = NULL;
    struct ergo_job *job = NULL;
    void *state = NULL;
    ctx = ergo_context_create();
    OK(ergo_job_parse(ctx, mutant_job, strlen(mutant_job), "mutant", NULL, 0, &job));
    ops = job->model->ops;
    if (strcmp(ergo_point_text(&job->points[0], "/distribute"), "lattice") == 0)
        ops = job->model->cut;
    OK(ergo_device_open(ctx, NULL, &device));
    assert_int_equal(job->n_batches, 1);
    OK(ergo_sampler_create(ctx, ops, &job->batches[0], device, &state));
    OK(ops->init(ctx, state));
    if (statistics) {
        compare_values(state, &job->batches[0]);
    } else {
        OK(ergo_sampler_advance(ctx, ops, state, 0, 0, 4, 0));
        if (ops == &sw_sites_ops)
            compare_sites(state, &job->batches[0]);
        else
            compare_bits(state, &job->batches[0]);
    }
    ergo_engine_destroy(state);
    ergo_device_close(device);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    statistics = argc == 4;
    for (int k = 0; k < 2 && statistics; k++)
        exact[k] = atof(argv[2 + k]);
    return mutant_main(statistics ? 2 : argc, argv, test_job);
}
