/*
 * Spin glasses: +-J in three dimensions near the transition (T = 1.1 to 2), 32 samples to a word,
 * bare sweeps and, under the same name with -pt, parallel tempering every 10 sweeps. An update is
 * one spin of one sample. Each case gives the bits of another path or group, and a small
 * one gives the plain oracle's bits.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/glass_serial.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

#define JOB(size, disorder, samples, swap)                                                         \
    "{\"sampler\": \"spin-lattice\", \"system\": {\"model\": \"spin-glass\", \"size\": " size      \
    ", \"disorder\": \"" disorder "\", \"samples\": " #samples                                     \
    ", \"temperature\": 1.1, \"ladder\": 16, \"temperature_max\": 2, \"swap_every\": " #swap       \
    "}, \"run\": {\"sweeps\": 1000, \"measure_every\": 100}}"

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"glass-8", GPU, JOB("[8, 8, 8]", "bimodal", 4096, 1000000)},
    {"glass-8-pt", GPU, JOB("[8, 8, 8]", "bimodal", 4096, 10)},
    {"glass-16", GPU, JOB("[16, 16, 16]", "bimodal", 1024, 1000000)},
    {"glass-16-pt", GPU, JOB("[16, 16, 16]", "bimodal", 1024, 10)},
    {"glass-32", GPU, JOB("[32, 32, 32]", "bimodal", 256, 1000000)},
    {"glass-32-pt", GPU, JOB("[32, 32, 32]", "bimodal", 256, 10)},
    {"glass-16-few", GPU, JOB("[16, 16, 16]", "bimodal", 32, 1000000)},
    {"glass-16-gaussian", GPU, JOB("[16, 16, 16]", "gaussian", 128, 1000000)},
    {"glass-8", CPU, JOB("[8, 8, 8]", "bimodal", 64, 1000000)},
    {"glass-8-pt", CPU, JOB("[8, 8, 8]", "bimodal", 64, 10)},
};

/* ---- the answer ------------------------------------------------------------------------------ */

enum { DIGEST_SWEEPS = 20, ORACLE_SWEEPS = 11, ORACLE_SAMPLES = 3 };

/* The case on 4 x 4 x 4, some samples of it. */
static enum ergo_status against_oracle(struct ergo_bench *bench, const char *job, unsigned path,
                                       struct ergo_text *out, bool *ok) {
    char set[32];
    snprintf(set, sizeof set, "/tuning/path=%u", path);
    const char *const sets[] = {"/system/size=[4, 4, 4]", "/system/samples=32",
                                "/system/swap_every=2", set, NULL};
    struct ergo_bench_run run;
    struct ergo_text saved = {0};
    enum ergo_status status = ergo_bench_open(bench, job, sets, 99, &run);
    if (status != ERGO_OK)
        return status;
    const struct ergo_point *point = run.batch->points[0];
    const struct glass_shape s = glass_shape_of(point);
    struct glass_oracle o = {.d = 3,
                             .l = {4, 4, 4},
                             .temperatures = (int)s.temperatures,
                             .copies = (int)s.copies,
                             .real = s.real,
                             .stream = point->stream,
                             .fraction = 0.5};
    double t[ERGO_LADDER_MAX], j[3 * 64];
    int *spins = calloc(64, s.slots * sizeof *spins), came[512] = {0};
    uint64_t moved[1024] = {0}; /* of slots, then of copies */
    char line[64];
    ergo_ladder_temperatures(point, t);
    memcpy(o.t, t, sizeof o.t);
    snprintf(line, sizeof line, "ergocl spin-glass disorder 99 %u", point->replica);
    o.disorder = ergo_hash64(line, strlen(line));
    status = spins ? ergo_bench_steps(&run, ORACLE_SWEEPS, NULL)
                   : ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the oracle");
    if (status == ERGO_OK)
        status = run.job->model->ops->save(bench->ctx, run.state, 0, &saved);
    bool same = status == ERGO_OK;
    for (int sample = 0; sample < ORACLE_SAMPLES && same; sample++) {
        glass_oracle_couplings(&o, sample, j);
        glass_oracle_start(&o, sample, spins);
        for (uint64_t step = 0; step < ORACLE_SWEEPS; step++) {
            glass_oracle_sweep(&o, sample, j, step, spins);
            if ((step + 1) % 2 == 0)
                glass_oracle_swap(&o, sample, j, step + 1, (int)((step + 1) / 2 & 1), spins, came,
                                  moved);
        }
        for (size_t k = 0; k < s.slots * (size_t)64 && same; k++) {
            uint32_t bits;
            memcpy(&bits, saved.data + 8 + 4 * k, 4);
            same = (int)(bits >> sample & 1) == (spins[k] > 0);
        }
    }
    *ok = *ok && same;
    ergo_text_append(out, "%s 4 x 4 x 4 %s the oracle", run.plan.path, same ? "=" : "DIFFERS FROM");
    ergo_text_free(&saved);
    free(spins);
    ergo_bench_close(&run);
    return status;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const group[] = {"/tuning/path=3", "/tuning/work_group=32", NULL};
    struct ergo_bench_run run;
    enum ergo_status status = ergo_bench_plan(bench, what->job, NULL, 99, &run);
    if (status != ERGO_OK)
        return status;
    const bool local = strcmp(run.plan.path, "local") == 0;
    ergo_bench_close(&run);
    status = against_oracle(bench, what->job, local ? 1 : 3, verdict, ok);
    if (status == ERGO_OK)
        status = ergo_bench_check_digests(bench, what->job, group, DIGEST_SWEEPS, 1, verdict, ok);
    return status;
}

/* ---- the floor ------------------------------------------------------------------------------- */

/*
 * A quad's site is 128 updates. One Philox call, some 80 integer operations (a product of 64 bits
 * counts twice); 24 exclusive ors of three, 32 operations in adders, 52 in comparing and choosing.
 * Bytes, from memory: a quad in and out, as much of the other colour in, couplings once for all
 * quads. Gaussian: 24 operations a spin instead.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    const struct glass_shape s = glass_shape_of(run->batch->points[0]);
    const double lanes = 4.0 * s.quads / s.slots;
    cost[ERGO_BENCH_INTEGER] = (80 + (s.real ? 24.0 * 128 : 24 + 32 + 52)) / 128 * lanes;
    if (strcmp(run->plan.path, "global") == 0 && run->plan.largest_buffer > (uint64_t)48 << 20)
        cost[ERGO_BENCH_COPY] =
            (48 + (s.real ? 32 : 1) * 4.0 * (2.0 * s.d) / s.quads) / 128 * lanes;
}

static const struct ergo_bench_axis axes[] = {
    {"path", {1, 3}},
    {"work_group", {256, 128, 64, 32}},
};

const struct ergo_bench_suite ergo_bench_glass = {
    .sampler = "spin-lattice",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
