/* Compares one Ising batch on a device with one serial oracle per member, exactly. The Ising kernel
 * tests share it. */
#ifndef ERGO_TESTS_KERNEL_ISING_BENCH_H
#define ERGO_TESTS_KERNEL_ISING_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/ising_serial.h"
#include "oracle/philox_ref.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/list.h"
#include "samplers/spin_lattice/models.h"

struct ising_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    const struct ergo_model *model;
    bool full;    /* ERGOCL_TEST_FULL: all cases */
    bool small;   /* ERGOCL_TEST_SMALL, for Oclgrind: few and tiny cases */
    bool mesa;    /* its compiler takes 5 to 45 s for a kernel with lanes, so few of them */
    bool cpu;     /* only CPUs get kernels with lanes */
    bool pocl;    /* its compiler never ends on some kernels, which are left out */
    double sites; /* spin updates compared so far */
    size_t cases;

    char what[1024]; /* the case at hand, for messages */
    struct ergo_job *job;
    const struct ergo_batch *batch;
    void *state;
    struct ergo_oracle_ising *oracles; /* [batch->count] */
    uint64_t step;
};

#define ISING_OK(bench, call)                                                                      \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s\n%s: %s", (bench)->what, #call, ergo_error_message((bench)->ctx));        \
    } while (0)

static inline bool ising_env(const char *name) {
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

static inline int ising_bench_open(struct ising_bench *b) {
    memset(b, 0, sizeof *b);
    b->ctx = ergo_context_create();
    b->model = &ising_model;
    if (!b->ctx)
        return -1;
    if (ergo_device_open(b->ctx, NULL, &b->device) != ERGO_OK) {
        print_message("%s\n", ergo_error_message(b->ctx));
        return -1;
    }
    b->cpu = b->device->type == CL_DEVICE_TYPE_CPU;
    b->mesa = strstr(b->device->summary.platform, "rusticl") != NULL;
    b->pocl = strstr(b->device->summary.platform, "Portable Computing Language") != NULL;
    b->small = ising_env("ERGOCL_TEST_SMALL");
    b->full = ising_env("ERGOCL_TEST_FULL");
    print_message("on %s (%s)%s\n", b->device->summary.name, b->device->summary.platform,
                  b->full    ? ", all cases"
                  : b->small ? ", few cases"
                             : "");
    return 0;
}

static inline void ising_bench_close(struct ising_bench *b) {
    ergo_device_close(b->device);
    ergo_context_destroy(b->ctx);
}

static inline enum ergo_oracle_start ising_start_of(const struct ergo_point *point) {
    const char *start = ergo_point_text(point, "/system/start");
    return strcmp(start, "up") == 0     ? ERGO_ORACLE_UP
           : strcmp(start, "down") == 0 ? ERGO_ORACLE_DOWN
                                        : ERGO_ORACLE_RANDOM;
}

static inline void ising_oracle_of(const struct ergo_point *point, struct ergo_oracle_ising *o) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const bool heat = strcmp(ergo_point_text(point, "/system/dynamics"), "heat-bath") == 0;
    assert_true(ergo_oracle_ising_init(
        o, (int)size->size[0], (int)size->size[1], ergo_point_real(point, "/system/coupling"),
        ergo_point_real(point, "/system/field"), ergo_point_real(point, "/system/temperature"),
        heat ? ERGO_ORACLE_HEAT_BATH : ERGO_ORACLE_METROPOLIS, ising_start_of(point),
        ergo_oracle_philox, point->stream));
}

/* Creates and initialises the only batch of a job. `what` is its text for messages. */
static inline void ising_begin(struct ising_bench *b, const char *job) {
    snprintf(b->what, sizeof b->what, "%s", job);
    ISING_OK(b, ergo_job_parse(b->ctx, job, strlen(job), "case", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    b->batch = &b->job->batches[0];
    b->step = 0;
    ISING_OK(b, ergo_sampler_create(b->ctx, b->model->ops, b->batch, b->device, &b->state));
    ISING_OK(b, b->model->ops->init(b->ctx, b->state));
    b->oracles = calloc(b->batch->count, sizeof *b->oracles);
    assert_non_null(b->oracles);
    for (size_t m = 0; m < b->batch->count; m++)
        ising_oracle_of(b->batch->points[m], &b->oracles[m]);
    b->cases++;
}

static inline void ising_end(struct ising_bench *b) {
    ergo_engine_destroy(b->state);
    for (size_t m = 0; m < b->batch->count; m++)
        ergo_oracle_ising_free(&b->oracles[m]);
    free(b->oracles);
    ergo_job_destroy(b->job);
    b->job = NULL;
}

/* The oracle's state in canonical bytes: bit x % 8 of byte x / 8 of row y, up = 1. */
static inline uint8_t *ising_oracle_rows(const struct ergo_oracle_ising *o, size_t *length) {
    const size_t row = ((size_t)o->Lx + 7) / 8;
    *length = row * (size_t)o->Ly;
    uint8_t *rows = calloc(*length, 1);
    assert_non_null(rows);
    for (int y = 0; y < o->Ly; y++)
        for (int x = 0; x < o->Lx; x++)
            if (ergo_oracle_ising_spin(o, x, y) > 0)
                rows[(size_t)y * row + (size_t)x / 8] |= (uint8_t)(1u << (x % 8));
    return rows;
}

static inline void ising_compare_states(struct ising_bench *b) {
    for (size_t m = 0; m < b->batch->count; m++) {
        struct ergo_text text = {0};
        size_t length;
        uint8_t *rows = ising_oracle_rows(&b->oracles[m], &length);
        ISING_OK(b, b->model->ops->save(b->ctx, b->state, m, &text));
        assert_int_equal(text.length, length);
        if (memcmp(text.data, rows, length) != 0)
            fail_msg("%s\nmember %zu differs from the oracle after %llu sweeps", b->what, m,
                     (unsigned long long)b->step);
        free(rows);
        ergo_text_free(&text);
    }
}

static inline void ising_oracle_sweeps(struct ising_bench *b, uint64_t sweeps) {
    for (size_t m = 0; m < b->batch->count; m++)
        for (uint64_t t = 0; t < sweeps; t++)
            ergo_oracle_ising_sweep(&b->oracles[m], b->step + t);
    b->step += sweeps;
    b->sites +=
        (double)b->batch->count * (double)sweeps * b->oracles[0].Lx * (double)b->oracles[0].Ly;
}

/* Makes sweeps without a measurement on both sides, and compares. */
static inline void ising_sweeps(struct ising_bench *b, uint64_t sweeps) {
    ISING_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, 0, 0, sweeps, 0));
    ising_oracle_sweeps(b, sweeps);
    ising_compare_states(b);
}

/* <s(0) s(r)> along one axis by its definition. */
static inline double ising_correlation(const struct ergo_oracle_ising *o, int axis, int r) {
    int64_t sum = 0;
    for (int y = 0; y < o->Ly; y++)
        for (int x = 0; x < o->Lx; x++)
            sum +=
                ergo_oracle_ising_spin(o, x, y) *
                ergo_oracle_ising_spin(o, axis ? x : (x + r) % o->Lx, axis ? (y + r) % o->Ly : y);
    return (double)sum / ((double)o->Lx * o->Ly);
}

/* sum (-1)^(x + y) s / N */
static inline double ising_staggered(const struct ergo_oracle_ising *o) {
    int64_t sum = 0;
    for (int y = 0; y < o->Ly; y++)
        for (int x = 0; x < o->Lx; x++)
            sum += ((x + y) % 2 ? -1 : 1) * ergo_oracle_ising_spin(o, x, y);
    return (double)sum / ((double)o->Lx * o->Ly);
}

/* sum s exp(i k r)|^2 / N with k = (0, 2 pi wave / Ly), for wave 0 or 1. anti: k is relative to the
 * zone's corner (pi, pi). */
static inline double ising_structure(const struct ergo_oracle_ising *o, int wave, bool anti) {
    double re = 0, im = 0;
    for (int y = 0; y < o->Ly; y++)
        for (int x = 0; x < o->Lx; x++) {
            const double phase = 2 * acos(-1) * wave * y / o->Ly + anti * acos(-1) * (x + y);
            re += ergo_oracle_ising_spin(o, x, y) * cos(phase);
            im += ergo_oracle_ising_spin(o, x, y) * sin(phase);
        }
    return (re * re + im * im) / ((double)o->Lx * o->Ly);
}

/* One block of samples in `slot`: enqueued now, compared by ising_collect_block. */
struct ising_block {
    unsigned slot;
    size_t count;
    uint64_t every, first;
};

static inline void ising_enqueue(struct ising_bench *b, const struct ising_block *block) {
    ISING_OK(b, ergo_sampler_advance(b->ctx, b->model->ops, b->state, block->slot, block->count,
                                     block->every, block->first));
}

static inline void ising_same(struct ising_bench *b, const char *name, size_t member, size_t at,
                              double got, double want) {
    /* Both are integers divided by the number of sites, times J or B. Different ones differ by far
     * more than rounding. */
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%s\n%s[%zu] of member %zu is %.17g, the oracle says %.17g (sweep %llu)", b->what,
                 name, at, member, got, want, (unsigned long long)b->step);
}

static inline void ising_collect_block(struct ising_bench *b, const struct ising_block *block) {
    const struct ergo_sampler_ops *ops = b->model->ops;
    const struct ergo_point *first = b->batch->points[0];
    const size_t members = b->batch->count, reach = ergo_point_curve_size(first, 0);
    const uint64_t interval = (uint64_t)ergo_point_int(first, "/run/correlation_every");
    struct ergo_samples s = {0};
    s.columns = calloc(block->count * members * ISING_COLUMNS, sizeof(double));
    for (size_t c = 0; c < 3; c++)
        s.curves[c] = calloc(block->count * members * (reach + 1), sizeof(double));
    s.curves[CURVE_STRUCTURE] = calloc(block->count * members * 2, sizeof(double));
    assert_true(s.columns && s.curves[0] && s.curves[1] && s.curves[2] &&
                s.curves[CURVE_STRUCTURE]);
    ISING_OK(b, ergo_sampler_collect(b->ctx, ops, b->state, block->slot, &s));
    assert_int_equal(s.count, block->count);
    size_t curves = 0;
    for (size_t i = 0; i < block->count; i++) {
        ising_oracle_sweeps(b, block->every);
        const bool curve = interval && (block->first + i) % interval == 0;
        for (size_t m = 0; m < members; m++) {
            const struct ergo_oracle_ising *o = &b->oracles[m];
            const double n = (double)o->Lx * o->Ly,
                         *column = s.columns + ISING_COLUMNS * (i * members + m);
            const bool anti = ergo_point_real(b->batch->points[m], "/system/coupling") < 0;
            ising_same(b, "energy", m, i, column[0], ergo_oracle_ising_energy(o));
            ising_same(b, "magnetization", m, i, column[1],
                       (double)ergo_oracle_ising_magnetization(o) / n);
            assert_true(b->model->has_column(b->batch->points[m], 2) == anti);
            if (anti)
                ising_same(b, "staggered_magnetization", m, i, column[2], ising_staggered(o));
            for (size_t r = 0; curve && r < reach; r++) {
                const size_t at = (curves * members + m) * reach + r;
                const double x = ising_correlation(o, 0, (int)r),
                             y = ising_correlation(o, 1, (int)r);
                ising_same(b, "correlation", m, r, s.curves[0][at], 0.5 * (x + y));
                ising_same(b, "correlation_x", m, r, s.curves[1][at], x);
                ising_same(b, "correlation_y", m, r, s.curves[2][at], y);
            }
            for (int wave = 0; curve && wave < 2; wave++) {
                const double want = ising_structure(o, wave, anti);
                const double got =
                    s.curves[CURVE_STRUCTURE][(curves * members + m) * 2 + (size_t)wave];
                ising_same(b, "structure_factor", m, (size_t)wave, got / (1 + want),
                           want / (1 + want));
            }
        }
        curves += curve;
    }
    assert_int_equal(s.n_curve_samples, curves);
    free(s.columns);
    for (size_t c = 0; c < 3; c++)
        free(s.curves[c]);
    free(s.curves[CURVE_STRUCTURE]);
}

/* The steps of every case: start, sweeps alone, two blocks of samples in flight. */
static inline void ising_run_case(struct ising_bench *b) {
    const struct ising_block blocks[2] = {{0, 3, 1, 0}, {1, 2, b->small ? 2 : 5, 3}};
    ising_compare_states(b);
    ising_sweeps(b, 2);
    ising_enqueue(b, &blocks[0]);
    ising_enqueue(b, &blocks[1]);
    ising_collect_block(b, &blocks[0]);
    ising_collect_block(b, &blocks[1]);
    ising_compare_states(b);
}

#endif
