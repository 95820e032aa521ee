/*
 * Swendsen-Wang at the critical temperature of q = 2, every sweep measured in the rate with
 * measurement: single lattices, and many small ones in one batch.
 *
 * Every case must give the serial oracle's bits on a lattice of several tiles, the same bits of the
 * whole by tiles of another shape, and Kaufman's energy.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"
#include "oracle/potts_serial.h"
#include "samplers/swendsen_wang/sw.h"

#define TC "1.134592657106511" /* 1/ln(1 + sqrt 2) */
#define JOB(lx, ly, replicas)                                                                      \
    "{\"sampler\": \"swendsen-wang\", \"system\": {\"q\": 2, \"size\": [" #lx ", " #ly             \
    "], \"temperature\": " TC "}, \"run\": {\"sweeps\": 1000, \"measure_every\": 1}, "             \
    "\"replicas\": " #replicas "}"

#define RUN                                                                                        \
    "{\"sampler\": \"swendsen-wang\", \"system\": {\"q\": 2, \"size\": [64, 64], "                 \
    "\"temperature\": " TC                                                                         \
    "}, \"run\": {\"sweeps\": 50000, \"measure_every\": 1}, \"replicas\": 256}"

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"sw-1024", GPU | CPU, JOB(1024, 1024, 1)},
    {"sw-4096", GPU, JOB(4096, 4096, 1)},
    {"sw-16384", GPU, JOB(16384, 16384, 1)},
    {"sw-64x256", GPU, JOB(256, 256, 64)},
    {"sw-256", CPU, JOB(256, 256, 1)},
    {"sw-16x128", CPU, JOB(128, 128, 16)},
    {"run-sw-256x64", GPU | ERGO_BENCH_AS_GIVEN, RUN},
};

/* ---- the answer ------------------------------------------------------------------------------ */

enum {
    ORACLE_SWEEPS = 9,
    DIGEST_SWEEPS = 5,
    DIGEST_MEMBERS = 16,
    CHAINS = 16, /* of 64 x 64 */
    LEAD = 100,
    SAMPLES = 400,
};

/* The canonical state by the oracle (q = 2: one bit a spin). */
static enum ergo_status oracle_rows(struct ergo_context *ctx, const struct ergo_point *point,
                                    struct ergo_text *text) {
    const int64_t *size = ergo_point_value(point, "/system/size")->size;
    const int lx = (int)size[0], ly = (int)size[1];
    struct ergo_oracle_potts o;
    if (!ergo_oracle_potts_init(&o, lx, ly, 2, 1.0, ergo_point_real(point, "/system/temperature"),
                                true, ergo_oracle_philox, point->stream))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial oracle");
    for (uint64_t t = 0; t < ORACLE_SWEEPS; t++)
        ergo_oracle_potts_sweep(&o, t);
    for (int y = 0; y < ly; y++) {
        for (int x = 0; x < lx; x += 8) {
            uint8_t byte = 0;
            for (int b = 0; b < 8 && x + b < lx; b++)
                byte |= (uint8_t)(o.spins[(size_t)y * (size_t)lx + (size_t)(x + b)] << b);
            ergo_text_append_bytes(text, &byte, 1);
        }
    }
    ergo_oracle_potts_free(&o);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial oracle")
                        : ERGO_OK;
}

/* Sides that neither words nor tiles divide. */
static enum ergo_status against_oracle(struct ergo_bench *bench, const char *job,
                                       struct ergo_text *verdict, bool *ok) {
    static const char *const sets[] = {"/system/size=[301, 203]", "/replicas=2", NULL};
    struct ergo_plan plan;
    bool same = false;
    const enum ergo_status status =
        ergo_bench_same_as(bench, job, sets, ORACLE_SWEEPS, oracle_rows, &plan, &same);
    if (status == ERGO_OK) {
        *ok = *ok && same;
        ergo_text_append(verdict, "%s 301 x 203 %s the oracle", plan.path,
                         same ? "=" : "DIFFERS FROM");
    }
    return status;
}

/* z of the energy of independent chains, 64 x 64. */
static enum ergo_status energy(struct ergo_bench *bench, const char *job, double *z) {
    static const char *const sets[] = {"/system/size=[64, 64]", "/replicas=16", NULL};
    struct ergo_bench_run run;
    double sum = 0, square = 0;
    double *columns = malloc((size_t)SAMPLES * CHAINS * SW_COLUMNS * sizeof *columns);
    if (!columns)
        return ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for samples");
    enum ergo_status status = ergo_bench_open(bench, job, sets, 7, &run);
    if (status != ERGO_OK) {
        free(columns);
        return status;
    }
    status = ergo_bench_steps(&run, LEAD, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_sample(&run, SAMPLES, 1, columns, NULL);
    for (size_t m = 0; m < CHAINS && status == ERGO_OK; m++) {
        double mean = 0;
        for (size_t i = 0; i < SAMPLES; i++)
            mean += columns[(i * CHAINS + m) * SW_COLUMNS + SW_COLUMN_ENERGY] / SAMPLES;
        sum += mean / CHAINS;
        square += mean * mean / CHAINS;
    }
    if (status == ERGO_OK)
        *z = (sum - ergo_point_exact(run.batch->points[0], "energy")) /
             sqrt((square - sum * sum) / (CHAINS - 1));
    free(columns);
    ergo_bench_close(&run);
    return status;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const other_tiles[] = {"/tuning/path=2", "/tuning/tile_words=2",
                                              "/tuning/tile_rows=16", NULL};
    static double z; /* the same for all cases */
    static bool known;
    enum ergo_status status = against_oracle(bench, what->job, verdict, ok);
    if (status == ERGO_OK && !known)
        status = energy(bench, what->job, &z);
    if (status != ERGO_OK)
        return status;
    known = true;
    const bool right = fabs(z) < 4;
    *ok = *ok && right;
    ergo_text_append(verdict, "; energy of 64 x 64 off by z = %+.1f%s", z, right ? "" : " WRONG");
    return ergo_bench_check_digests(bench, what->job, other_tiles, DIGEST_SWEEPS, DIGEST_MEMBERS,
                                    verdict, ok);
}

/* ---- the floor ------------------------------------------------------------------------------- */

/*
 * At Tc of q = 2, for a word of 32 sites (README.md): Philox calls, 2 for the planes of each
 * direction, one for an undecided bond in 256 of the 64 (1 + 1/sqrt 2)/2 between equal spins, and
 * one for a new state, of CLUSTERS a site. Bytes: 8 for the spin, in and out; 28 for words of
 * bonds, roots, open parts; 16.5 runs' 16-bit roots out and in. What fits a cache costs none.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    static const double CLUSTERS = 0.127, EQUAL = 0.85355, RUNS = 16.5;
    const struct sw_shape s = sw_shape_of(run->batch->points[0]);
    const double members = (double)run->batch->count;
    cost[ERGO_BENCH_PHILOX] = (4 + 64 * EQUAL / 256) / 32 + CLUSTERS;
    if (strcmp(run->plan.path, "tiles") == 0 &&
        (double)s.words * members * (20 + 2 * RUNS) > (double)(48u << 20))
        cost[ERGO_BENCH_COPY] = (8 + 28 + 4 * RUNS) / 32;
}

static const struct ergo_bench_axis axes[] = {
    {"tile_words", {4, 2, 8}},
    {"tile_rows", {64, 32, 128, 16}},
    {"tile_group", {256, 128, 512, 1024, 1}},
    {"work_group", {128, 64, 256}},
};

const struct ergo_bench_suite ergo_bench_potts = {
    .sampler = "swendsen-wang",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
