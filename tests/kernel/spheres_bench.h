/* Compares a batch of hard spheres on a device with one serial oracle per member, exactly. */
#ifndef ERGO_TESTS_KERNEL_SPHERES_BENCH_H
#define ERGO_TESTS_KERNEL_SPHERES_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "start.h"
#include "kernel/places_bench.h"
#include "oracle/spheres_serial.h"
#include "samplers/hard_spheres/spheres.h"

struct spheres_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    const struct ergo_model *model;
    char what[1024];
    struct ergo_job *job;
    const struct ergo_batch *batch;
    struct spheres_state *state;
    struct ergo_oracle_spheres *oracles;
    uint64_t step;
};

#define SPHERES_OK(b, call)                                                                        \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s\n%s: %s", (b)->what, #call, ergo_error_message((b)->ctx));                \
    } while (0)

static inline int spheres_bench_open(struct spheres_bench *b) {
    memset(b, 0, sizeof *b);
    b->ctx = ergo_context_create();
    b->model = ergo_sampler_find("hard-spheres")->models[0];
    if (!b->ctx || ergo_device_open(b->ctx, NULL, &b->device) != ERGO_OK) {
        print_message("%s\n", b->ctx ? ergo_error_message(b->ctx) : "no memory");
        return -1;
    }
    print_message("on %s (%s)\n", b->device->summary.name, b->device->summary.platform);
    return 0;
}

static inline void spheres_bench_close(struct spheres_bench *b) {
    ergo_device_close(b->device);
    ergo_context_destroy(b->ctx);
}

/* From the job's numbers where they say it, and not from the sampler's. */
static inline void spheres_oracle_of(struct spheres_bench *b, size_t m) {
    const struct ergo_point *point = b->batch->points[m];
    const struct spheres_shape *s = &b->state->shapes[m];
    const struct ergo_value *phi = ergo_point_value(point, "/system/packing_fraction");
    const struct ergo_value *box = ergo_point_value(point, "/system/box");
    struct ergo_oracle_spheres *o = &b->oracles[m];
    struct ergo_hard_cells config;
    const char *walls = ergo_point_text(point, "/system/walls");
    double sigma = 1e300, sides[3];
    for (int k = 0; k < 3; k++) {
        const bool walled = strchr(walls, "xyz"[k]) != NULL;
        sides[k] = walled         ? (double)s->side[k] / s->sigma
                   : box->present ? box->reals[k]
                                  : cbrt((double)s->n * acos(-1.0) / (6.0 * phi->real));
        o->cells[k] = s->cells[k];
        sigma = fmin(sigma, 2097151.0 * (double)o->cells[k] / sides[k]);
    }
    o->sigma = sigma;
    for (int k = 0; k < 3; k++) {
        o->width[k] = (int64_t)rint(sides[k] * sigma / (double)o->cells[k]);
        if (strchr(walls, "xyz"[k])) {
            o->first[k] = (int64_t)floor(sigma / 2) + 1;
            o->last[k] = (int64_t)rint(box->reals[k] * sigma) - o->first[k];
            o->axis = k;
        }
    }
    o->gravity = number_or_none(point, "/system/gravity");
    o->harmonic = number_or_none(point, "/system/harmonic");
    o->axis = ergo_point_value(point, "/system/axis")->present
                  ? ergo_point_text(point, "/system/axis")[0] - 'x'
                  : o->axis;
    o->middle = box->present ? box->reals[o->axis] / 2 : 0;
    o->contact = (uint64_t)ceil(sigma * sigma);
    o->step = (int64_t)(ergo_point_real(point, "/system/max_displacement") * sigma);
    o->moves = (int)ergo_point_int(point, "/system/moves_per_cell");
    o->key[0] = (uint32_t)point->stream;
    o->key[1] = (uint32_t)(point->stream >> 32);
    o->cube = calloc((size_t)s->all, sizeof *o->cube);
    SPHERES_OK(b, ergo_hard_fetch(b->ctx, b->state, m, &config));
    for (size_t i = 0; i < s->all; i++) {
        o->cube[i].n = config.count[i];
        for (size_t j = 0; j < config.count[i]; j++)
            for (int k = 0; k < 3; k++)
                o->cube[i].at[j][k] = ergo_hard_local(&config, i, j)[k];
    }
    ergo_hard_free(&config);
}

static inline void spheres_begin(struct spheres_bench *b, const char *job) {
    void *state = NULL;
    snprintf(b->what, sizeof b->what, "%s", job);
    SPHERES_OK(b, ergo_job_parse(b->ctx, job, strlen(job), "case", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    b->batch = &b->job->batches[0];
    b->step = 0;
    SPHERES_OK(b, ergo_sampler_create(b->ctx, b->model->ops, b->batch, b->device, &state));
    b->state = state;
    SPHERES_OK(b, start_all(b->ctx, b->model->ops, state));
    b->oracles = calloc(b->batch->count, sizeof *b->oracles);
    for (size_t m = 0; m < b->batch->count; m++) {
        spheres_oracle_of(b, m);
        assert_true(ergo_oracle_spheres_closest(&b->oracles[m]) >= b->oracles[m].contact);
    }
}

static inline void spheres_end(struct spheres_bench *b) {
    ergo_engine_destroy(b->state);
    for (size_t m = 0; m < b->batch->count; m++)
        free(b->oracles[m].cube);
    free(b->oracles);
    ergo_job_destroy(b->job);
}

static inline void spheres_compare(struct spheres_bench *b) {
    for (size_t m = 0; m < b->batch->count; m++) {
        const struct ergo_oracle_spheres *o = &b->oracles[m];
        struct ergo_hard_cells config;
        SPHERES_OK(b, ergo_hard_fetch(b->ctx, b->state, m, &config));
        for (int k = 0; k < 3; k++)
            if (config.grid[k] != (uint64_t)o->grid[k])
                fail_msg("%s\nmember %zu: another grid than the oracle's after %llu sweeps",
                         b->what, m, (unsigned long long)b->step);
        for (size_t i = 0; i < b->state->shapes[m].all; i++) {
            bool same = config.count[i] == o->cube[i].n;
            for (size_t j = 0; j < config.count[i] && same; j++)
                for (int k = 0; k < 3; k++)
                    same = same && ergo_hard_local(&config, i, j)[k] == o->cube[i].at[j][k];
            if (!same)
                fail_msg("%s\nmember %zu differs from the oracle after %llu sweeps, first in cell "
                         "%zu",
                         b->what, m, (unsigned long long)b->step, i);
        }
        ergo_hard_free(&config);
        assert_false(o->lost);
    }
}

static inline void spheres_oracle_sweeps(struct spheres_bench *b, uint64_t sweeps) {
    for (size_t m = 0; m < b->batch->count; m++)
        for (uint64_t t = 0; t < sweeps; t++)
            ergo_oracle_spheres_sweep(&b->oracles[m], b->step + t);
    b->step += sweeps;
}

static inline void spheres_sweeps_compared(struct spheres_bench *b, uint64_t sweeps) {
    SPHERES_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, 0, 0, sweeps, 0));
    spheres_oracle_sweeps(b, sweeps);
    spheres_compare(b);
}

/* Takes one sample and compares columns and histograms with those of the oracle's configuration. */
static inline void spheres_sample_compared(struct spheres_bench *b, uint64_t every) {
    const size_t members = b->batch->count;
    struct ergo_samples s = {.columns = calloc(members * SPHERES_COLUMNS, sizeof(double))};
    for (size_t c = 0; c < SPHERES_CURVES; c++)
        s.curves[c] = calloc(members * (b->state->launch.bins[c] + 1), sizeof(double));
    SPHERES_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, 1, 1, every, 0));
    SPHERES_OK(b, ergo_sampler_collect(b->ctx, b->model->ops, b->state, 1, &s));
    spheres_oracle_sweeps(b, every);
    spheres_compare(b);
    for (size_t m = 0; m < members; m++) {
        const struct spheres_shape *shape = &b->state->shapes[m];
        const struct ergo_point *point = b->batch->points[m];
        const struct ergo_oracle_spheres *o = &b->oracles[m];
        const double accepted = (double)o->accepted / (double)(o->tried * (uint64_t)o->moves);
        if (fabs(s.columns[SPHERES_COLUMNS * m + SPHERES_ACCEPTANCE] - accepted) > 1e-12)
            fail_msg("%s\nacceptance of member %zu is %.9g, the oracle's %.9g", b->what, m,
                     s.columns[SPHERES_COLUMNS * m], accepted);
        size_t occupied = 0;
        for (size_t i = 0; i < shape->all; i++)
            occupied += o->cube[i].n > 0;
        if (s.columns[SPHERES_COLUMNS * m + SPHERES_OCCUPIED] !=
            (double)occupied / (double)shape->all)
            fail_msg("%s\noccupied cells of member %zu: %.9g, of the oracle %zu of %zu", b->what, m,
                     s.columns[SPHERES_COLUMNS * m + SPHERES_OCCUPIED], occupied,
                     (size_t)shape->all);
        const struct places_case places = {.what = b->what,
                                           .member = m,
                                           .confined = &shape->confined,
                                           .walled = o->last[o->axis] != 0,
                                           .unit = o->sigma,
                                           .gravity = o->gravity};
        int64_t *at = malloc(shape->n * sizeof *at);
        double energy = 0;
        assert_int_equal(ergo_oracle_spheres_places(o, at), shape->n);
        for (size_t i = 0; i < shape->n; i++)
            energy += ergo_oracle_spheres_energy(o, at[i]) / (double)shape->n;
        places_energy_compared(&places, s.columns[SPHERES_COLUMNS * m + SPHERES_FIELD_ENERGY],
                               energy);
        for (size_t c = SPHERES_PAIR_CURVES; c < SPHERES_CURVES; c++) {
            const size_t bins = b->state->launch.bins[c];
            places_compared(&places, point, (unsigned)(c - SPHERES_PAIR_CURVES), bins, at,
                            s.curves[c] + m * bins);
        }
        free(at);
        /* nearest images are all there are below half a side of the box */
        for (size_t c = 0; c < SPHERES_PAIR_CURVES; c++) {
            const size_t bins = b->state->launch.bins[c];
            uint64_t *limits = malloc((bins + 1) * sizeof *limits);
            uint64_t *counts = malloc((bins + 1) * sizeof *counts);
            uint32_t *narrow = malloc((bins + 1) * sizeof *narrow);
            double *values = malloc((bins + 1) * sizeof *values);
            spheres_limits(b->batch->points[m], shape, c, limits);
            ergo_oracle_spheres_pairs(o, limits, bins, counts);
            for (size_t i = 0; i < bins; i++)
                narrow[i] = (uint32_t)counts[i];
            spheres_curve_convert(b->batch->points[m], shape, c, narrow, values);
            for (size_t i = 0; i < bins; i++)
                if (s.curves[c][m * bins + i] != values[i])
                    fail_msg("%s\ncurve %zu of member %zu, bin %zu: %.9g, the oracle says %.9g",
                             b->what, c, m, i, s.curves[c][m * bins + i], values[i]);
            free(limits);
            free(counts);
            free(narrow);
            free(values);
        }
    }
    free(s.columns);
    for (size_t c = 0; c < SPHERES_CURVES; c++)
        free(s.curves[c]);
}

/* Tests everything once: start, sweeps, a sample, and sweeps where the step exceeds 32 bits. */
static inline void spheres_run_case(struct spheres_bench *b, const char *job, uint64_t sweeps) {
    spheres_begin(b, job);
    spheres_compare(b);
    spheres_sweeps_compared(b, sweeps);
    spheres_sample_compared(b, 2);
    b->step = b->state->e.step = UINT64_C(0x1fffffffe);
    spheres_sweeps_compared(b, 4);
    spheres_end(b);
}

#endif
