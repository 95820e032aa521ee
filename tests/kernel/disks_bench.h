/* A hard-disk batch on a device beside one serial oracle per member, compared exactly. */
#ifndef ERGO_TESTS_KERNEL_DISKS_BENCH_H
#define ERGO_TESTS_KERNEL_DISKS_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/disks_serial.h"
#include "samplers/hard_disks/disks.h"

struct disks_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    const struct ergo_sampler *sampler;
    char what[1024];
    struct ergo_job *job;
    const struct ergo_batch *batch;
    struct disks_state *state;
    struct ergo_oracle_disks *oracles;
    uint64_t step;
    size_t cases;
};

#define DISKS_OK(b, call)                                                                          \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s\n%s: %s", (b)->what, #call, ergo_error_message((b)->ctx));                \
    } while (0)

static inline int disks_bench_open(struct disks_bench *b) {
    memset(b, 0, sizeof *b);
    b->ctx = ergo_context_create();
    b->sampler = ergo_sampler_find("hard-disks");
    if (!b->ctx || !b->sampler || ergo_device_open(b->ctx, NULL, &b->device) != ERGO_OK) {
        print_message("%s\n", b->ctx ? ergo_error_message(b->ctx) : "no memory");
        return -1;
    }
    print_message("on %s (%s)\n", b->device->summary.name, b->device->summary.platform);
    return 0;
}

static inline void disks_bench_close(struct disks_bench *b) {
    ergo_device_close(b->device);
    ergo_context_destroy(b->ctx);
}

static inline void disks_oracle_of(struct disks_bench *b, size_t m) {
    const struct ergo_point *point = b->batch->points[m];
    const struct disks_shape *s = &b->state->shapes[m];
    struct ergo_oracle_disks *o = &b->oracles[m];
    struct disks_config config;
    o->cells = s->cells;
    o->width = s->width;
    /* sigma^2 in units, rounded up: from the job's numbers and not from the sampler's */
    const struct ergo_value *phi = ergo_point_value(point, "/system/packing_fraction");
    const struct ergo_value *box = ergo_point_value(point, "/system/box");
    const double length =
        box->present ? box->real : sqrt((double)s->n * acos(-1.0) / (4.0 * phi->real));
    const double sigma = (double)(o->cells * o->width) / length;
    o->contact = (uint64_t)ceil(sigma * sigma);
    o->step = (float)(ergo_point_real(point, "/system/max_displacement") * sigma / 131072.0);
    o->moves = (int)ergo_point_int(point, "/system/moves_per_cell");
    o->shuffle_particles = ergo_point_bool(point, "/system/shuffle_particles");
    o->shuffle_checkerboard = ergo_point_bool(point, "/system/shuffle_checkerboard");
    if (ergo_point_bool(point, "/system/leave_cell"))
        o->leave = (int64_t)floor(0.5 * ((double)o->width - sigma)) - 1;
    o->key[0] = (uint32_t)point->stream;
    o->key[1] = (uint32_t)(point->stream >> 32);
    o->cell = calloc((size_t)(o->cells * o->cells), sizeof *o->cell);
    DISKS_OK(b, disks_fetch(b->ctx, b->state, m, &config));
    for (size_t i = 0; i < (size_t)(o->cells * o->cells); i++) {
        o->cell[i].n = config.count[i];
        for (int k = 0; k < config.count[i]; k++) {
            o->cell[i].x[k] = config.x[i * DISKS_SLOTS + (size_t)k];
            o->cell[i].y[k] = config.y[i * DISKS_SLOTS + (size_t)k];
        }
    }
    disks_config_free(&config);
}

static inline void disks_begin(struct disks_bench *b, const char *job) {
    snprintf(b->what, sizeof b->what, "%s", job);
    DISKS_OK(b, ergo_job_parse(b->ctx, job, strlen(job), "case", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    b->batch = &b->job->batches[0];
    b->step = 0;
    void *state = NULL;
    DISKS_OK(b, b->sampler->ops->create(b->ctx, b->batch, b->device, &state));
    b->state = state;
    DISKS_OK(b, b->sampler->ops->init(b->ctx, state));
    b->oracles = calloc(b->batch->count, sizeof *b->oracles);
    for (size_t m = 0; m < b->batch->count; m++)
        disks_oracle_of(b, m);
    b->cases++;
}

static inline void disks_end(struct disks_bench *b) {
    b->sampler->ops->destroy(b->state);
    for (size_t m = 0; m < b->batch->count; m++)
        free(b->oracles[m].cell);
    free(b->oracles);
    ergo_job_destroy(b->job);
}

static inline void disks_compare(struct disks_bench *b) {
    for (size_t m = 0; m < b->batch->count; m++) {
        const struct ergo_oracle_disks *o = &b->oracles[m];
        struct disks_config config;
        DISKS_OK(b, disks_fetch(b->ctx, b->state, m, &config));
        bool same =
            config.grid[0] == (uint64_t)o->grid[0] && config.grid[1] == (uint64_t)o->grid[1];
        size_t at = SIZE_MAX;
        for (size_t i = 0; i < (size_t)(o->cells * o->cells) && at == SIZE_MAX; i++) {
            if (config.count[i] != o->cell[i].n)
                at = i;
            for (int k = 0; k < o->cell[i].n && at == SIZE_MAX; k++)
                if (config.x[i * DISKS_SLOTS + (size_t)k] != o->cell[i].x[k] ||
                    config.y[i * DISKS_SLOTS + (size_t)k] != o->cell[i].y[k])
                    at = i;
        }
        disks_config_free(&config);
        if (!same || at != SIZE_MAX)
            fail_msg("%s\nmember %zu differs from the oracle after %llu sweeps (%s, first in cell "
                     "%zu)",
                     b->what, m, (unsigned long long)b->step, same ? "disks" : "grid", at);
        assert_false(o->lost);
    }
}

static inline void disks_oracle_sweeps(struct disks_bench *b, uint64_t sweeps) {
    for (size_t m = 0; m < b->batch->count; m++)
        for (uint64_t t = 0; t < sweeps; t++)
            ergo_oracle_disks_sweep(&b->oracles[m], b->step + t);
    b->step += sweeps;
}

static inline void disks_sweeps_compared(struct disks_bench *b, uint64_t sweeps) {
    DISKS_OK(b, b->sampler->ops->advance(b->ctx, b->state, 0, 0, sweeps, 0));
    disks_oracle_sweeps(b, sweeps);
    disks_compare(b);
}

/* One sample: columns and histograms against what the oracle's configuration gives. */
static inline void disks_sample_compared(struct disks_bench *b, uint64_t every) {
    const size_t members = b->batch->count;
    struct ergo_samples s = {.columns = calloc(members * 4, sizeof(double))};
    for (size_t c = 0; c < DISKS_CURVES; c++)
        s.curves[c] = calloc(members * (b->state->launch.bins[c] + 1), sizeof(double));
    DISKS_OK(b, b->sampler->ops->advance(b->ctx, b->state, 1, 1, every, 0));
    DISKS_OK(b, b->sampler->ops->collect(b->ctx, b->state, 1, &s));
    assert_int_equal(s.n_curve_samples, 1);
    disks_oracle_sweeps(b, every);
    disks_compare(b);
    for (size_t m = 0; m < members; m++) {
        const struct disks_shape *shape = &b->state->shapes[m];
        const struct ergo_point *point = b->batch->points[m];
        const struct ergo_oracle_disks *o = &b->oracles[m];
        const size_t n = (size_t)shape->n;
        struct disks_config config;
        double *d = malloc(4 * n * sizeof *d), re = 0, im = 0;
        DISKS_OK(b, disks_fetch(b->ctx, b->state, m, &config));
        disks_config_positions(&config, shape, d, d + n);
        assert_true(disks_local_psi6(shape, 1.5, d, d + n, d + 2 * n, d + 3 * n));
        for (size_t i = 0; i < n; i++) {
            re += d[2 * n + i] / (double)n;
            im += d[3 * n + i] / (double)n;
        }
        /* a pair at the cutoff, within fp32's rounding, is the neighbour of one of them only */
        const double loose = 1e-5;
        /* (in boxes below 3 the device counts all images, others the nearest) */
        if (shape->box > 3.0 &&
            (fabs(s.columns[4 * m] - re) > loose || fabs(s.columns[4 * m + 1] - im) > loose))
            fail_msg("%s\npsi_6 of member %zu is (%.9g, %.9g); the oracle of it (%.9g, %.9g)",
                     b->what, m, s.columns[4 * m], s.columns[4 * m + 1], re, im);
        const double accepted = (double)o->accepted / (double)(o->tried * (uint64_t)o->moves);
        if (fabs(s.columns[4 * m + 2] - accepted) > 1e-12)
            fail_msg("%s\nacceptance of member %zu is %.9g, the oracle's %.9g", b->what, m,
                     s.columns[4 * m + 2], accepted);
        for (size_t c = 0; c < 2 && shape->box > 3.0; c++) {
            const size_t bins = b->state->launch.bins[c];
            uint64_t *limits = malloc((bins + 1) * sizeof *limits);
            uint64_t *counts = malloc((bins + 1) * sizeof *counts);
            uint32_t *narrow = malloc((bins + 1) * sizeof *narrow);
            double *values = malloc((bins + 1) * sizeof *values);
            double *areas = malloc((bins + 1) * sizeof *areas);
            disks_limits(point, shape, c, limits);
            ergo_oracle_disks_pairs(o, limits, bins, counts);
            for (size_t i = 0; i < bins; i++)
                narrow[i] = (uint32_t)counts[i];
            disks_areas(point, shape, c, limits, areas);
            disks_curve_convert(point, shape, c, areas, narrow, values);
            for (size_t i = 0; i < bins; i++)
                if (s.curves[c][m * bins + i] != values[i])
                    fail_msg("%s\ncurve %zu of member %zu, bin %zu: %.9g, the oracle says %.9g",
                             b->what, c, m, i, s.curves[c][m * bins + i], values[i]);
            free(limits);
            free(counts);
            free(narrow);
            free(values);
            free(areas);
        }
        disks_config_free(&config);
        free(d);
        assert_false(ergo_oracle_disks_overlap(o));
    }
    free(s.columns);
    for (size_t c = 0; c < DISKS_CURVES; c++)
        free(s.curves[c]);
}

/* Everything once: start, sweeps, a sample, sweeps where the step fills more than 32 bits. */
static inline void disks_run_case(struct disks_bench *b, const char *job, uint64_t sweeps) {
    disks_begin(b, job);
    disks_compare(b);
    disks_sweeps_compared(b, sweeps);
    disks_sample_compared(b, 2);
    b->step = b->state->step = UINT64_C(0x1fffffffe);
    disks_sweeps_compared(b, 4);
    disks_end(b);
}

#endif
