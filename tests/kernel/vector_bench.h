/*
 * Compares spins that are unit vectors on a device with the plain oracle in double precision, sweep
 * by sweep: from the device's state the oracle makes a sweep, and no component may differ by more
 * than rounding. The kernel test and the mutants share it.
 */
#ifndef ERGO_TESTS_KERNEL_VECTOR_BENCH_H
#define ERGO_TESTS_KERNEL_VECTOR_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "oracle/glass_serial.h"
#include "oracle/vector_serial.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"

/* Rounding after a sweep, with reflections at small fields; cost of a move over T near which the
 * two may decide differently. */
#define VECTOR_BENCH_NEAR 2e-4
#define VECTOR_BENCH_TIE 1e-5

#define VECTOR_BENCH_OK(ctx, what, call)                                                           \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", what, ergo_error_message(ctx));                                     \
    } while (0)

/* Couplings of the spin glass's first sample from its oracle, or those of a file of a lattice of
 * three dimensions in order. */
static inline const double *vector_bench_bonds(const struct ergo_point *point,
                                               const struct vector_oracle *o) {
    static double j[3 * 512];
    const struct ergo_value *seed = ergo_point_value(point, "/system/disorder_seed");
    const int n = vector_oracle_sites(o), directions = o->triangular ? 3 : o->d;
    assert_true(n <= 512);
    if (of_lattice(point)->disorder_file.present) {
        FILE *file = fopen(ergo_point_text(point, "/system/disorder_file"), "r");
        char line[200], axis;
        int x, y, z, read = 0;
        double value;
        assert_non_null(file);
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "%d %d %d %c %lf", &x, &y, &z, &axis, &value) == 5) {
                j[(axis - 'x') * n + x + o->l[0] * (y + o->l[1] * z)] = value;
                read++;
            }
        fclose(file);
        assert_int_equal(read, 3 * n);
        return j;
    }
    if (!of_lattice(point)->disorder.present)
        return NULL;
    char line[100];
    struct glass_oracle g = {.d = directions,
                             .l = {o->l[0], o->l[1], o->l[2]},
                             .real = ergo_says(of_lattice(point)->disorder.text, "gaussian"),
                             .fraction = of_lattice(point)->negative_fraction.present
                                             ? ergo_point_real(point, "/system/negative_fraction")
                                             : 0.5};
    snprintf(
        line, sizeof line, "ergocl spin-glass disorder %llu %u",
        (unsigned long long)(seed->present ? seed->seed : ergo_point_value(point, "/seed")->seed),
        point->replica);
    g.disorder = ergo_hash64(line, strlen(line));
    glass_oracle_couplings(&g, 0, j);
    for (int i = 0; i < directions * n && of_lattice(point)->disorder_ratio.present; i++)
        j[i] = j[i] < 0 ? ergo_point_real(point, "/system/disorder_ratio") : 1;
    return j;
}

/* A file of fields, read by other code than the job's. */
static inline const double *vector_bench_file(const struct ergo_point *point, int numbers) {
    static double f[64];
    char line[200];
    int n = 0;
    if (!of_lattice(point)->field_file.present)
        return NULL;
    FILE *file = fopen(ergo_point_text(point, "/system/field_file"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "#")] = '\0';
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
            assert_true(n < numbers && n < 64);
            f[n++] = atof(word);
        }
    }
    fclose(file);
    assert_int_equal(n, numbers);
    return f;
}

static inline struct vector_oracle vector_bench_oracle(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const char *model = ergo_point_text(point, "/system/model");
    struct vector_oracle o = {.d = size->items,
                              .l = {1, 1, 1},
                              .space = strcmp(model, "heisenberg") == 0,
                              .t = ergo_point_real(point, "/system/temperature"),
                              .j = ergo_point_real(point, "/system/coupling"),
                              .b = ergo_point_real(point, "/system/field"),
                              .step = ergo_point_real(point, "/system/step"),
                              .stream = point->stream};
    for (int k = 0; k < o.d; k++)
        o.l[k] = (int)size->size[k];
    o.triangular = ergo_says(of_lattice(point)->lattice.text, "triangular");
    if (strcmp(model, "clock") == 0)
        o.q = (int)ergo_point_int(point, "/system/q");
    else
        o.relax = (int)ergo_point_int(point, "/system/over_relaxation");
    if (o.space) {
        o.anisotropy = ergo_point_real(point, "/system/anisotropy");
        o.heat_bath = ergo_says(of_lattice(point)->dynamics, "heat-bath");
    }
    o.bonds = vector_bench_bonds(point, &o);
    o.given = vector_bench_file(point, (o.space ? 3 : 2) * vector_oracle_sites(&o));
    o.normal = ergo_says(of_lattice(point)->field_distribution.text, "gaussian");
    o.random = o.given ? 1 : 0;
    if (of_lattice(point)->random_field.present) {
        char line[100];
        const struct ergo_value *own = ergo_point_value(point, "/system/disorder_seed");
        o.random = ergo_point_real(point, "/system/random_field");
        snprintf(
            line, sizeof line, "ergocl random field %llu %u",
            (unsigned long long)(own->present ? own->seed : ergo_point_value(point, "/seed")->seed),
            point->replica);
        o.field = ergo_hash64(line, strlen(line));
    }
    return o;
}

/* A member's spins from its canonical state. */
static inline void vector_bench_spins(struct ergo_context *ctx, void *state,
                                      const struct ergo_sampler_ops *ops, size_t member,
                                      const struct vector_oracle *o, double (*spins)[3]) {
    struct ergo_text saved = {0};
    VECTOR_BENCH_OK(ctx, "save", ops->save(ctx, state, member, &saved));
    const uint8_t *b = (const uint8_t *)saved.data;
    const size_t n = (size_t)vector_oracle_sites(o);
    assert_int_equal(saved.length, o->q ? n : o->space ? 12 * n : 4 * n);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < 3 && o->space; c++) {
            const uint8_t *at = b + 12 * i + 4 * c;
            const uint32_t word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                                  (uint32_t)at[3] << 24;
            spins[i][c] = (int32_t)word * 0x1p-21;
        }
        if (o->space)
            continue;
        const double turn = o->q ? (double)b[i] / o->q
                                 : (b[4 * i] + 256.0 * b[4 * i + 1] + 65536.0 * b[4 * i + 2] +
                                    16777216.0 * b[4 * i + 3]) *
                                       0x1p-32;
        spins[i][0] = cos(2 * acos(-1) * turn);
        spins[i][1] = sin(2 * acos(-1) * turn);
        spins[i][2] = 0;
    }
    ergo_text_free(&saved);
}

static inline void vector_bench_same(const char *text, const char *what, size_t member,
                                     const struct vector_oracle *o, double (*found)[3],
                                     double (*expected)[3], double near) {
    for (int i = 0; i < vector_oracle_sites(o); i++)
        for (int c = 0; c < 3; c++)
            if (!(fabs(found[i][c] - expected[i][c]) < near))
                fail_msg("%s: after %s, member %zu has component %d of site %d %.7f, the oracle "
                         "%.7f",
                         text, what, member, c, i, found[i][c], expected[i][c]);
}

static inline void vector_bench_near(const char *text, const char *what, double found,
                                     double expected) {
    if (!(fabs(found - expected) < 1e-6 * fmax(1, fabs(expected))))
        fail_msg("%s: %s %.9g, the oracle %.9g", text, what, found, expected);
}

/* Runs the only batch of a job (' for "): its start, then a sweep and a sample, /run/sweeps times,
 * as if `late` steps had passed. Wave vectors that it lists are 0.5 -0.25 0.125, as many numbers as
 * there are dimensions. */
static inline void vector_bench_case(struct ergo_context *ctx, struct ergo_device *device,
                                     const char *job_text, uint64_t late) {
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", job_text);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    VECTOR_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const size_t members = batch->count, width = job->model->n_columns;
    const uint64_t sweeps = (uint64_t)ergo_point_int(batch->points[0], "/run/sweeps");
    struct vector_oracle o = vector_bench_oracle(batch->points[0]);
    const size_t n = (size_t)vector_oracle_sites(&o);
    static const double wave[3] = {0.5, -0.25, 0.125};
    const bool random = lattice_start(batch->points[0]) == 2;
    double(*found)[3] = malloc(n * sizeof *found),
    (*spins)[3] = malloc(members * n * sizeof *spins);
    double *columns = malloc(sizeof(double) * width * members),
           *structure = malloc(sizeof(double) * VECTOR_WAVES_MAX * members);
    struct ergo_samples samples = {.columns = columns, .curves = {structure}};
    assert_true(job->n_batches == 1);
    VECTOR_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    struct vector_state *s = state;
    VECTOR_BENCH_OK(ctx, text, ops->init(ctx, state));
    for (size_t m = 0; m < members; m++) {
        o = vector_bench_oracle(batch->points[m]);
        vector_bench_spins(ctx, state, ops, m, &o, found);
        vector_oracle_start(&o, spins + m * n);
        for (size_t i = 0; i < n && !random; i++)
            memcpy(spins[m * n + i], o.space ? (double[3]){0, 0, 1} : (double[3]){1, 0, 0},
                   sizeof *spins);
        vector_bench_same(text, "the start", m, &o, found, spins + m * n, 1e-6);
        memcpy(spins + m * n, found, n * sizeof *spins);
    }
    s->e.step += late;
    for (uint64_t sweep = 0; sweep < sweeps; sweep++) {
        const uint64_t step = s->e.step;
        VECTOR_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, 1, 1, 0));
        VECTOR_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
        for (size_t m = 0; m < members; m++) {
            struct vector_oracle_sample e;
            const double *c = columns + width * m;
            o = vector_bench_oracle(batch->points[m]);
            vector_bench_spins(ctx, state, ops, m, &o, found);
            /* a chain is the same everywhere: where this fails, take another seed for all time */
            if (vector_oracle_sweep(&o, step, spins + m * n) < VECTOR_BENCH_TIE)
                fail_msg("%s: a decision within rounding: another seed", text);
            vector_bench_same(text, "a sweep", m, &o, found, spins + m * n, VECTOR_BENCH_NEAR);
            memcpy(spins + m * n, found, n * sizeof *spins);
            vector_oracle_measure(&o, found, &e);
            vector_bench_near(text, "energy", c[VECTOR_ENERGY], e.energy);
            for (size_t k = 0; k < (o.space ? 3 : 2); k++)
                vector_bench_near(text, "magnetization", c[VECTOR_X + k], e.m[k]);
            vector_bench_near(text, "alignment", c[VECTOR_ALIGNMENT], e.alignment);
            vector_bench_near(text, "current2", c[VECTOR_CURRENT2], e.current2);
            vector_bench_near(text, "z2", c[VECTOR_Z2], e.z2);
            vector_bench_near(text, "vortices", c[VECTOR_VORTICES], e.vortices);
            vector_bench_near(text, "chirality", c[VECTOR_CHIRALITY], e.chirality);
            if (o.random > 0)
                vector_bench_near(text, "random_alignment", c[VECTOR_RANDOM_ALIGNMENT], e.along);
            for (size_t w = 0; w < s->waves.n; w++) {
                double k[3] = {0, 0, 0};
                for (size_t axis = 0; axis < 3; axis++)
                    k[axis] = w <= (size_t)o.d ? (w == axis + 1) / (double)o.l[axis]
                                               : wave[axis]; /* the listed one */
                vector_bench_near(text, "structure factor", structure[s->waves.n * m + w],
                                  vector_oracle_structure(&o, found, k));
            }
        }
    }
    free(found);
    free(spins);
    free(columns);
    free(structure);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

#endif
