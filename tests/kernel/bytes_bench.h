/* Compares models with a byte per spin on a device with the plain oracle, bit for bit. The kernel
 * test and the mutants share it. */
#ifndef ERGO_TESTS_KERNEL_BYTES_BENCH_H
#define ERGO_TESTS_KERNEL_BYTES_BENCH_H

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
#include "oracle/bytes_serial.h"
#include "oracle/glass_serial.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

#define BYTES_BENCH_OK(ctx, what, call)                                                            \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", what, ergo_error_message(ctx));                                     \
    } while (0)

/* A file of fields, read by other code than the job's. */
static inline const double *bytes_bench_file(const struct ergo_point *point, int numbers) {
    static double f[64];
    char line[200];
    int n = 0;
    if (!ergo_point_value(point, "/system/field_file")->present)
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

/* Couplings of the spin glass's first sample from its oracle, or those of a file in order. */
static inline const double *bytes_bench_bonds(const struct ergo_point *point,
                                              const struct bytes_shape *s) {
    static double j[3 * 1024];
    const struct ergo_value *seed = ergo_point_value(point, "/system/disorder_seed");
    const struct ergo_value *fraction = ergo_point_value(point, "/system/negative_fraction");
    const int n = (int)s->sites;
    if (!s->bonds)
        return NULL;
    assert_true(s->sites <= 1024);
    if (ergo_point_value(point, "/system/disorder_file")->present) {
        FILE *file = fopen(ergo_point_text(point, "/system/disorder_file"), "r");
        char line[200], axis;
        int x, y, z, read = 0;
        double value;
        assert_non_null(file);
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "%d %d %d %c %lf", &x, &y, &z, &axis, &value) == 5) {
                j[(axis - 'x') * n + x + (int)s->l[0] * (y + (int)s->l[1] * z)] = value;
                read++;
            }
        fclose(file);
        assert_int_equal(read, 3 * n);
        return j;
    }
    char line[128];
    struct glass_oracle g = {
        .d = (int)s->d,
        .l = {(int)s->l[0], (int)s->l[1], (int)s->l[2]},
        .real = strcmp(ergo_point_text(point, "/system/disorder"), "gaussian") == 0,
        .fraction = fraction->present ? fraction->real : 0.5};
    const struct ergo_value *ratio = ergo_point_value(point, "/system/disorder_ratio");
    snprintf(
        line, sizeof line, "ergocl spin-glass disorder %llu %u",
        (unsigned long long)(seed->present ? seed->seed : ergo_point_value(point, "/seed")->seed),
        point->replica);
    g.disorder = ergo_hash64(line, strlen(line));
    glass_oracle_couplings(&g, 0, j);
    for (int i = 0; i < (int)s->d * n && ratio->present; i++)
        j[i] = j[i] < 0 ? ratio->real : 1;
    return j;
}

static inline struct bytes_oracle bytes_bench_oracle(const struct ergo_point *point,
                                                     const struct bytes_member *m) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    struct bytes_oracle o = {.d = (int)s.d,
                             .q = s.kind == BYTES_ISING ? 0 : (int)s.q,
                             .capel = s.kind == BYTES_BLUME_CAPEL,
                             .t = p.t,
                             .b = p.b,
                             .h = p.h,
                             .crystal = p.crystal,
                             .heat_bath = s.heat_bath,
                             .stream = point->stream,
                             .field = (uint64_t)m->field1 << 32 | m->field0,
                             .general = s.general};
    for (int k = 0; k < 3; k++) {
        o.l[k] = (int)s.l[k];
        o.j[k] = p.j[k];
    }
    o.normal = ergo_says(of_lattice(point)->field_distribution.text, "gaussian");
    o.given = bytes_bench_file(point, bytes_oracle_numbers(&o));
    o.bonds = bytes_bench_bonds(point, &s);
    return o;
}

/* (-1)^(the sum of the coordinates along directions with a negative coupling) */
static inline int bytes_bench_sign(const struct bytes_oracle *o, int i) {
    const int at[3] = {i % o->l[0], i / o->l[0] % o->l[1], i / o->l[0] / o->l[1]};
    int turns = 0;
    for (int k = 0; k < o->d; k++)
        turns += o->j[k] < 0 ? at[k] : 0;
    return turns % 2 ? -1 : 1;
}

/* Computes a member's curves of the only curve sample from its sites, with pairs and plane waves
 * one by one. */
static inline void bytes_bench_curves(const char *text, const struct bytes_oracle *o,
                                      const uint8_t *sites, size_t member, size_t reach,
                                      bool structure, const struct ergo_samples *samples) {
    static const int curve[3] = {CURVE_CORRELATION_X, CURVE_CORRELATION_Y, CURVE_CORRELATION_Z};
    const int n = bytes_oracle_sites(o), q = o->q == 0 ? 2 : o->q, last = o->l[o->d - 1];
    const int step[3] = {1, o->l[0], o->l[0] * o->l[1]};
    for (size_t r = 1; r <= reach; r++) {
        double mean = 0;
        for (int k = 0; k < o->d; k++) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                const int at = i / step[k] % o->l[k];
                const int to = i + ((at + (int)r) % o->l[k] - at) * step[k];
                sum += ((double)q * (sites[i] == sites[to]) - 1) / (q - 1) / n;
            }
            mean += sum / o->d;
            if (fabs(samples->curves[curve[k]][member * (reach + 1) + r] - sum) > 1e-9)
                fail_msg("%s: correlation %.9g at distance %zu along %d, the oracle %.9g", text,
                         samples->curves[curve[k]][member * (reach + 1) + r], r, k, sum);
        }
        assert_true(fabs(samples->curves[CURVE_CORRELATION][member * (reach + 1) + r] - mean) <
                    1e-9);
    }
    for (int wave = 0; wave < 2 && structure; wave++) {
        double sum = 0;
        for (int a = 0; a < q; a++) {
            double re = 0, im = 0;
            for (int i = 0; i < n; i++) {
                const double phase = wave * 2 * acos(-1) * (i / step[o->d - 1]) / last;
                const double own = bytes_bench_sign(o, i) * ((sites[i] == a) - 1.0 / q);
                re += own * cos(phase);
                im += own * sin(phase);
            }
            sum += (re * re + im * im) * q / (q - 1) / n;
        }
        if (fabs(samples->curves[CURVE_STRUCTURE][2 * member + (size_t)wave] - sum) > 1e-6)
            fail_msg("%s: structure factor %d is %.9g, by the oracle %.9g", text, wave,
                     samples->curves[CURVE_STRUCTURE][2 * member + (size_t)wave], sum);
    }
}

/* A member's sample, with curves or without. */
static inline void bytes_bench_sample(const char *text, const struct bytes_oracle *o,
                                      const double *f, const uint8_t *sites,
                                      const struct ergo_point *point, const double *columns) {
    const double e = bytes_oracle_energy(o, f, sites), p = bytes_oracle_order(o, sites);
    const int n = bytes_oracle_sites(o);
    const bool anti = o->q == 0 && (o->j[0] < 0 || (o->d > 1 && o->j[1] < 0) || o->j[2] < 0);
    double staggered = 0;
    if (fabs(columns[0] - e) > (o->general ? 1e-7 : 1e-9) || fabs(columns[1] - p) > 1e-9)
        fail_msg("%s: replica %u has energy %.9g, order %.9g; the oracle %.9g, %.9g", text,
                 point->replica, columns[0], columns[1], e, p);
    for (int i = 0; i < n; i++)
        staggered += bytes_bench_sign(o, i) * (2.0 * sites[i] - 1) / n;
    if (o->q)
        assert_true(fabs(columns[2] - bytes_oracle_third(o, sites)) < 1e-9);
    else
        assert_true(ergo_point_has_column(point, 2) == anti);
    if (anti && fabs(columns[2] - staggered) > 1e-9)
        fail_msg("%s: replica %u has a staggered magnetization of %.9g; the oracle %.9g", text,
                 point->replica, columns[2], staggered);
}

/* Runs the only batch of a job (' for ") as if `late` had passed: /run/sweeps sweeps and a sample,
 * with curves where there are any, and both again. */
static inline void bytes_bench_case(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *job_text, uint64_t late) {
    enum { SAMPLES = 2 };
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", job_text);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    BYTES_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t sweeps = (uint64_t)ergo_point_int(batch->points[0], "/run/sweeps");
    assert_true(job->n_batches == 1);
    BYTES_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    BYTES_BENCH_OK(ctx, text, ops->init(ctx, state));
    struct bytes_state *s = state;
    const size_t width = job->model->n_columns;
    double *columns = malloc(sizeof(double) * width * batch->count * SAMPLES);
    struct ergo_samples samples = {.columns = columns};
    const size_t reach = bytes_reach(batch->points[0]);
    for (size_t c = 0; c < CURVE_STRUCTURE + 1; c++)
        samples.curves[c] = malloc(sizeof(double) * (reach + 2) * batch->count);
    s->e.step += late;
    BYTES_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, SAMPLES, sweeps, 0));
    BYTES_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
    assert_int_equal(samples.n_curve_samples, reach > 0);
    for (size_t m = 0; m < batch->count; m++) {
        const struct ergo_point *point = batch->points[m];
        const struct bytes_oracle o = bytes_bench_oracle(point, &s->members[m]);
        const size_t n = s->shape.sites;
        struct ergo_text saved = {0};
        uint8_t *sites = malloc(n);
        double *f = malloc((size_t)bytes_oracle_numbers(&o) * sizeof *f);
        bytes_oracle_fields(&o, f);
        bytes_oracle_start(&o, sites);
        for (size_t i = 0; i < SAMPLES; i++) {
            for (uint64_t t = 0; t < sweeps; t++)
                bytes_oracle_sweep(&o, f, late + i * sweeps + t, sites);
            bytes_bench_sample(text, &o, f, sites, point, columns + width * (i * batch->count + m));
            if (reach && i == 0)
                bytes_bench_curves(text, &o, sites, m, reach, bytes_has_structure(point), &samples);
        }
        BYTES_BENCH_OK(ctx, text, ops->save(ctx, state, m, &saved));
        for (size_t i = 0; i < n; i++)
            if ((uint8_t)saved.data[i] != sites[i])
                fail_msg("%s: member %zu differs from the oracle at site %zu", text, m, i);
        ergo_text_free(&saved);
        free(sites);
        free(f);
    }
    free(columns);
    for (size_t c = 0; c < CURVE_STRUCTURE + 1; c++)
        free(samples.curves[c]);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

#endif
