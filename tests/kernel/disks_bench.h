/* Compares a batch of hard disks on a device with one serial oracle per member, exactly. */
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

#include "start.h"
#include "kernel/places_bench.h"
#include "oracle/disks_serial.h"
#include "samplers/hard_disks/disks.h"

struct disks_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    const struct ergo_model *model;
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
    b->model = ergo_sampler_find("hard-disks")->models[0];
    if (!b->ctx || !b->model || ergo_device_open(b->ctx, NULL, &b->device) != ERGO_OK) {
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
    struct ergo_hard_cells config;
    o->cells = s->cells[0];
    o->rows = s->cells[1];
    o->width = s->width[0];
    /* sigma^2 in units, rounded up: from the job's numbers and not from the sampler's */
    const struct ergo_value *phi = ergo_point_value(point, "/system/packing_fraction");
    const struct ergo_value *box = ergo_point_value(point, "/system/box");
    const char *walls = ergo_is_isobaric(point) ? "" : ergo_point_text(point, "/system/walls");
    double length = box->items     ? box->reals[0]
                    : box->present ? box->real
                                   : sqrt((double)s->n * acos(-1.0) / (4.0 * phi->real));
    double high = box->items ? box->reals[1] : length;
    const double faces[2] = {length, high};
    length = strchr(walls, 'x') ? s->board[0] : length;
    high = strchr(walls, 'y') ? s->board[1] : high;
    const double sigma = (double)(o->cells * o->width) / length;
    const double aspect = high / (double)o->rows / (length / (double)o->cells);
    o->ratio = s->ratio; /* of a logarithm in 2^-36 */
    assert_true(fabs((double)o->ratio * 0x1p-62 - aspect * aspect) < 1e-10);
    assert_true(aspect != 1 || o->ratio == UINT64_C(1) << 62);
    o->contact = (uint64_t)ceil(sigma * sigma);
    if (!ergo_is_isobaric(point) && ergo_confined(point)) {
        o->axis = (int)ergo_confined_axis(point, 2);
        o->gravity = number_or_none(point, "/system/gravity");
        o->harmonic = number_or_none(point, "/system/harmonic");
        o->middle = faces[o->axis] / 2;
        for (int k = 0; k < 2; k++) {
            const double unit = k ? sigma / aspect : sigma;
            o->unit = k == o->axis ? unit : o->unit;
            if (!strchr(walls, "xy"[k]))
                continue;
            o->first[k] = (int64_t)floor(unit / 2) + 1;
            o->last[k] = (int64_t)rint(faces[k] * unit) - o->first[k];
        }
    }
    const double step = ergo_point_real(point, "/system/max_displacement") * sigma / 131072.0;
    o->step = (float)step;
    o->step_y = (float)(step / aspect);
    o->moves = (int)ergo_point_int(point, "/system/moves_per_cell");
    const bool npt = ergo_is_isobaric(point);
    o->shuffle_particles = npt || ergo_point_bool(point, "/system/shuffle_particles");
    o->shuffle_checkerboard = npt || ergo_point_bool(point, "/system/shuffle_checkerboard");
    if (npt) {
        const double most = ergo_point_real(point, "/system/max_volume_change");
        o->n = s->n;
        o->pressure = ergo_point_real(point, "/system/pressure");
        o->volume_every = (uint64_t)ergo_point_int(point, "/system/volume_every");
        o->per_axis = strcmp(ergo_point_text(point, "/system/volume_moves"), "per-axis") == 0;
        o->stretched = floorl(2 * logl((long double)aspect) * 0x1p36L) * 0x1p-36L;
        o->tuned = most == 0 ? (uint64_t)ergo_point_int(point, "/run/equilibration") : 0;
        o->volume_step = (int64_t)floor(
            (most > 0 ? most : fmin(0.1, 2.0 / (o->pressure * (length * high)))) * 0x1p36);
        o->volume_step -= o->tuned ? o->volume_step % 17 : 0;
        o->volume_most = (int64_t)(fmin(0.5, 0x1p25 / (double)o->n) * 0x1p36);
        o->volume = (int64_t)floorl(logl((long double)length * (long double)high) * 0x1p36L);
        o->scale = (int64_t)floorl(logl((long double)(sigma * sigma)) * 0x1p36L) + o->volume;
        o->contact = s->contact; /* rounded with the logarithms */
        assert_true(fabs((double)o->contact - sigma * sigma) < 1e-10 * sigma * sigma);
    }
    o->reflect = strcmp(ergo_point_text(point, "/system/moves"), "reflections") == 0;
    if (!npt && ergo_point_bool(point, "/system/leave_cell"))
        /* so far that two of them do not meet along the axis where sigma has more units */
        o->leave = (int64_t)floor(0.5 * ((double)o->width - fmax(sigma, sigma / aspect))) - 1;
    o->key[0] = (uint32_t)point->stream;
    o->key[1] = (uint32_t)(point->stream >> 32);
    o->cell = calloc((size_t)(o->cells * o->rows), sizeof *o->cell);
    DISKS_OK(b, ergo_hard_fetch(b->ctx, b->state, m, &config));
    for (size_t i = 0; i < (size_t)(o->cells * o->rows); i++) {
        o->cell[i].n = config.count[i];
        for (int k = 0; k < config.count[i]; k++) {
            o->cell[i].x[k] = ergo_hard_local(&config, i, (size_t)k)[0];
            o->cell[i].y[k] = ergo_hard_local(&config, i, (size_t)k)[1];
        }
    }
    ergo_hard_free(&config);
}

static inline void disks_begin(struct disks_bench *b, const char *job) {
    snprintf(b->what, sizeof b->what, "%s", job);
    DISKS_OK(b, ergo_job_parse(b->ctx, job, strlen(job), "case", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    b->batch = &b->job->batches[0];
    b->step = 0;
    void *state = NULL;
    DISKS_OK(b, ergo_sampler_create(b->ctx, b->model->ops, b->batch, b->device, &state));
    b->state = state;
    DISKS_OK(b, start_all(b->ctx, b->model->ops, state));
    b->oracles = calloc(b->batch->count, sizeof *b->oracles);
    for (size_t m = 0; m < b->batch->count; m++) {
        disks_oracle_of(b, m);
        assert_false(ergo_oracle_disks_overlap(&b->oracles[m]));
    }
    b->cases++;
}

static inline void disks_end(struct disks_bench *b) {
    ergo_engine_destroy(b->state);
    for (size_t m = 0; m < b->batch->count; m++)
        free(b->oracles[m].cell);
    free(b->oracles);
    ergo_job_destroy(b->job);
}

static inline void disks_compare(struct disks_bench *b) {
    for (size_t m = 0; m < b->batch->count; m++) {
        const struct ergo_oracle_disks *o = &b->oracles[m];
        struct ergo_hard_cells config;
        DISKS_OK(b, ergo_hard_fetch(b->ctx, b->state, m, &config));
        bool same =
            config.grid[0] == (uint64_t)o->grid[0] && config.grid[1] == (uint64_t)o->grid[1];
        size_t at = SIZE_MAX;
        struct disks_size size = {0};
        if (o->pressure > 0)
            ergo_engine_read(&b->state->e, DISKS_SIZES, sizeof size * m, sizeof size, &size);
        if (o->pressure > 0 &&
            (size.volume.size != o->volume || size.volume.stretch[0] != o->stretch ||
             (int64_t)size.volume.step != o->volume_step ||
             llabs((long long)(size.contact - o->contact)) > 1))
            fail_msg("%s\nmember %zu: another volume than the oracle's after %llu sweeps", b->what,
                     m, (unsigned long long)b->step);
        for (size_t i = 0; i < (size_t)(o->cells * o->rows) && at == SIZE_MAX; i++) {
            if (config.count[i] != o->cell[i].n)
                at = i;
            for (int k = 0; k < o->cell[i].n && at == SIZE_MAX; k++)
                if (ergo_hard_local(&config, i, (size_t)k)[0] != o->cell[i].x[k] ||
                    ergo_hard_local(&config, i, (size_t)k)[1] != o->cell[i].y[k])
                    at = i;
        }
        ergo_hard_free(&config);
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
    DISKS_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, 0, 0, sweeps, 0));
    disks_oracle_sweeps(b, sweeps);
    disks_compare(b);
}

/* Compares psi_6 of a sample that was just taken: with the host's, which frames show, to the bit;
 * and with the plain oracle's. */
static inline void disks_psi6_of_sample(struct disks_bench *b, size_t m, const double *columns) {
    const struct disks_shape *shape = &b->state->shapes[m];
    const double cutoff = ergo_point_real(b->batch->points[m], "/run/neighbour_cutoff");
    const size_t n = (size_t)shape->n;
    struct ergo_hard_cells config;
    double *d = malloc(2 * n * sizeof *d), re = 0, im = 0;
    int32_t *terms = malloc(2 * n * sizeof *terms);
    int64_t host[2] = {0, 0};
    DISKS_OK(b, ergo_hard_fetch(b->ctx, b->state, m, &config));
    ergo_hard_positions(&config, d);
    const struct disks_member now = disks_member_at(b->state, m, &config.volume);
    assert_true(disks_psi6(&now, shape, &config, terms, terms + n));
    for (size_t i = 0; i < 2 * n; i++)
        host[i / n] += terms[i];
    if (columns[0] != (double)host[0] * 0x1p-24 / (double)n ||
        columns[1] != (double)host[1] * 0x1p-24 / (double)n)
        fail_msg("%s\npsi_6 of member %zu is (%.9g, %.9g); the oracle to the bit, that of frames, "
                 "differs",
                 b->what, m, columns[0], columns[1]);
    double box[3]; /* bonds never cross walls, which are wider than they */
    ergo_hard_box(&config, box);
    if (shape->confined.is)
        memcpy(box, shape->board, sizeof shape->board);
    ergo_oracle_psi6(n, box, cutoff, d, d + n, &re, &im);
    /* within fp32's rounding, a pair at the cutoff may be neighbours for one of them only */
    const double loose = 1e-5;
    if (fabs(columns[0] - re) > loose || fabs(columns[1] - im) > loose)
        fail_msg("%s\npsi_6 of member %zu is (%.9g, %.9g); the oracle of it (%.9g, %.9g)", b->what,
                 m, columns[0], columns[1], re, im);
    ergo_hard_free(&config);
    free(terms);
    free(d);
}

/* Squares of cells by their numbers of disks. */
static inline void disks_blocks_compared(struct disks_bench *b, size_t m, const double *curves) {
    const struct disks_shape *shape = &b->state->shapes[m];
    const struct ergo_oracle_disks *o = &b->oracles[m];
    const size_t bins = b->state->launch.bins[DISKS_CURVE_DENSITY], block = shape->block;
    uint32_t *counts = calloc(bins + 1, sizeof *counts);
    double *values = calloc(bins + 1, sizeof *values);
    for (size_t y = 0; bins && y < (size_t)o->rows / block; y++)
        for (size_t x = 0; x < (size_t)o->cells / block; x++) {
            size_t n = 0;
            for (size_t k = 0; k < block * block; k++)
                n += (size_t)o
                         ->cell[(y * block + k / block) * (size_t)o->cells + x * block + k % block]
                         .n;
            counts[n < bins ? n : bins - 1]++;
        }
    const size_t squares = (size_t)o->rows / block * ((size_t)o->cells / block);
    if (bins && squares)
        disks_curve_convert(b->batch->points[m], shape, shape->density, DISKS_CURVE_DENSITY, NULL,
                            counts, values);
    for (size_t i = 0; i < bins && squares; i++)
        if (curves[m * bins + i] != values[i])
            fail_msg("%s\nblocks of member %zu with %zu disks: %.9g, the oracle says %.9g", b->what,
                     m, i, curves[m * bins + i], values[i]);
    free(counts);
    free(values);
}

/* Takes one sample and compares columns and histograms with those of the oracle's configuration. */
static inline void disks_sample_compared(struct disks_bench *b, uint64_t every) {
    const size_t members = b->batch->count;
    const size_t width = disks_n_columns(b->state->shapes);
    struct ergo_samples s = {.columns = calloc(2 * members * DISKS_COLUMNS, sizeof(double))};
    const uint32_t *bins_of_profiles = b->state->launch.profile_bins;
    size_t bins_of[DISKS_CURVES_ALL] = {0};
    for (size_t c = 0; c < DISKS_CURVES; c++)
        bins_of[c] = b->state->launch.bins[c];
    for (size_t c = 0; c < ERGO_CONFINED_CURVES; c++)
        bins_of[DISKS_CURVE_CONFINED + c] = bins_of_profiles[c];
    for (size_t c = 0; c < DISKS_CURVES_ALL; c++)
        if (c < DISKS_CURVES || c >= DISKS_CURVE_CONFINED)
            s.curves[c] = calloc(2 * members * (bins_of[c] + 1), sizeof(double));
    /* the second of two: what is of a sample, and not of its block */
    DISKS_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, 1, 2, every, 0));
    DISKS_OK(b, ergo_sampler_collect(b->ctx, b->model->ops, b->state, 1, &s));
    assert_int_equal(s.n_curve_samples, 2);
    memmove(s.columns, s.columns + members * width, members * width * sizeof(double));
    for (size_t c = 0; c < DISKS_CURVES_ALL; c++)
        if (s.curves[c])
            memmove(s.curves[c], s.curves[c] + members * bins_of[c],
                    members * bins_of[c] * sizeof(double));
    disks_oracle_sweeps(b, every);
    disks_oracle_sweeps(b, every);
    disks_compare(b);
    for (size_t m = 0; m < members; m++) {
        const struct disks_shape *shape = &b->state->shapes[m];
        const struct ergo_point *point = b->batch->points[m];
        const struct ergo_oracle_disks *o = &b->oracles[m];
        const double *columns = s.columns + disks_n_columns(shape) * m;
        disks_psi6_of_sample(b, m, columns);
        const double accepted = (double)o->accepted / (double)(o->tried * (uint64_t)o->moves);
        if (fabs(columns[DISKS_ACCEPTANCE] - accepted) > 1e-12)
            fail_msg("%s\nacceptance of member %zu is %.9g, the oracle's %.9g", b->what, m,
                     columns[DISKS_ACCEPTANCE], accepted);
        size_t occupied = 0;
        for (size_t i = 0; i < shape->all; i++)
            occupied += o->cell[i].n > 0;
        if (columns[DISKS_OCCUPIED] != (double)occupied / (double)shape->all)
            fail_msg("%s\noccupied cells of member %zu: %.9g, of the oracle %zu of %zu", b->what, m,
                     columns[DISKS_OCCUPIED], occupied, shape->all);
        if (shape->confined.is) {
            const struct places_case places = {.what = b->what,
                                               .member = m,
                                               .confined = &shape->confined,
                                               .walled = o->last[o->axis] != 0,
                                               .unit = o->unit,
                                               .gravity = o->gravity};
            int64_t *at = malloc(shape->n * sizeof *at);
            double energy = 0;
            assert_int_equal(ergo_oracle_disks_places(o, at), shape->n);
            for (size_t i = 0; i < shape->n; i++)
                energy += ergo_oracle_disks_energy(o, at[i]) / (double)shape->n;
            places_energy_compared(&places, columns[DISKS_FIELD_ENERGY], energy);
            for (unsigned c = 0; c < ERGO_CONFINED_CURVES; c++)
                places_compared(&places, point, c, bins_of_profiles[c], at,
                                s.curves[DISKS_CURVE_CONFINED + c] + m * bins_of_profiles[c]);
            free(at);
        }
        const double grown = (double)expl((long double)(o->volume - shape->rules.first) * 0x1p-36L);
        const double density = shape->npt ? shape->density / grown : shape->density;
        if (shape->npt && (fabs(columns[DISKS_DENSITY] / density - 1) > 1e-10 ||
                           (columns[DISKS_VOLUME_ACCEPTANCE] != 0) != o->volume_accepted))
            fail_msg("%s\ndensity of member %zu is %.12g, the oracle's %.12g", b->what, m,
                     columns[DISKS_DENSITY], density);
        for (size_t c = 0; c < 2 && fmin(shape->box[0], shape->box[1]) > 3.0 && !shape->confined.is;
             c++) {
            const size_t bins = b->state->launch.bins[c];
            uint64_t *limits = malloc((bins + 1) * sizeof *limits);
            uint64_t *counts = malloc((bins + 1) * sizeof *counts);
            uint32_t *narrow = malloc((bins + 1) * sizeof *narrow);
            double *values = malloc((bins + 1) * sizeof *values);
            double *areas = malloc((bins + 1) * sizeof *areas);
            disks_limits(point, shape, c, limits);
            const double along = grown * exp(-(double)o->stretch * 0x1p-36); /* of Lx^2 */
            for (size_t i = 0; i <= bins && shape->npt; i++)
                limits[i] = (uint64_t)ceil((double)limits[i] / along);
            ergo_oracle_disks_pairs(o, limits, bins, counts);
            for (size_t i = 0; i < bins; i++)
                narrow[i] = (uint32_t)counts[i];
            disks_areas(point, shape, c, limits, areas);
            disks_curve_convert(point, shape, density, c, areas, narrow, values);
            for (size_t i = 0; i < bins; i++)
                if (fabs(s.curves[c][m * bins + i] - values[i]) > 1e-9 * values[i])
                    fail_msg("%s\ncurve %zu of member %zu, bin %zu: %.9g, the oracle says %.9g",
                             b->what, c, m, i, s.curves[c][m * bins + i], values[i]);
            free(limits);
            free(counts);
            free(narrow);
            free(values);
            free(areas);
        }
        disks_blocks_compared(b, m, s.curves[DISKS_CURVE_DENSITY]);
        assert_false(ergo_oracle_disks_overlap(o));
    }
    free(s.columns);
    for (size_t c = 0; c < DISKS_CURVES_ALL; c++)
        free(s.curves[c]);
}

/* Only psi_6. */
static inline void disks_psi6_compared(struct disks_bench *b, uint64_t every) {
    const size_t members = b->batch->count;
    struct ergo_samples s = {.columns = calloc(members * DISKS_COLUMNS, sizeof(double))};
    for (size_t c = 0; c < DISKS_CURVES; c++)
        s.curves[c] = calloc(members * (b->state->launch.bins[c] + 1), sizeof(double));
    DISKS_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, 1, 1, every, 0));
    DISKS_OK(b, ergo_sampler_collect(b->ctx, b->model->ops, b->state, 1, &s));
    for (size_t m = 0; m < members; m++)
        disks_psi6_of_sample(b, m, s.columns + disks_n_columns(&b->state->shapes[m]) * m);
    free(s.columns);
    for (size_t c = 0; c < DISKS_CURVES; c++)
        free(s.curves[c]);
}

/* Tests everything once: start, sweeps, a sample, and sweeps where the step exceeds 32 bits. */
static inline void disks_run_case(struct disks_bench *b, const char *job, uint64_t sweeps) {
    disks_begin(b, job);
    disks_compare(b);
    disks_sweeps_compared(b, sweeps);
    disks_sample_compared(b, 2);
    b->step = b->state->e.step = UINT64_C(0x1fffffffe);
    disks_sweeps_compared(b, 4);
    disks_end(b);
}

#endif
