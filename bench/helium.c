/*
 * Liquid helium at b = 3.07 A, displacements of 0.4 density^(-1/3): 37% of the moves are taken.
 *
 * Every case must give the same bits by another path.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serial_helium.h"

#define JOB(n, walkers, every)                                                                     \
    "{\"sampler\": \"helium-vmc\", \"system\": {\"n\": " #n ", \"walkers\": " #walkers             \
    "}, \"run\": {\"sweeps\": 1000, \"measure_every\": " #every ", \"structure_every\": 0}}"

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"helium-64", GPU, JOB(64, 8448, 4)},      {"helium-512", GPU, JOB(512, 2112, 3)},
    {"helium-1000", GPU, JOB(1000, 1188, 3)},  {"helium-2048", GPU, JOB(2048, 528, 3)},
    {"helium-4096", GPU, JOB(4096, 528, 3)},   {"helium-40960x16", GPU, JOB(40960, 16, 3)},
    {"helium-1000x16", GPU, JOB(1000, 16, 4)}, {"helium-64x16", GPU, JOB(64, 16, 100)},
    {"helium-64x64", CPU, JOB(64, 64, 4)},     {"helium-512x16", CPU, JOB(512, 16, 4)},
};

/* ---- the answer ------------------------------------------------------------------------------ */

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const registers[] = {"/tuning/path=4", NULL};
    static const char *const blocks[] = {"/tuning/path=5", NULL};
    static const char *const group[] = {"/tuning/path=5", "/tuning/work_group=64", NULL};
    struct ergo_bench_run run;
    enum ergo_status status = ergo_bench_plan(bench, what->job, NULL, 99, &run);
    if (status != ERGO_OK)
        return status;
    const int64_t n = ergo_point_int(run.batch->points[0], "/system/n");
    const char *const *sets = strcmp(run.plan.path, "blocks") != 0 ? blocks
                              : n <= 4096                          ? registers
                                                                   : group;
    ergo_bench_close(&run);
    return ergo_bench_check_digests(bench, what->job, sets, n > 4096 ? 1 : 3, 1, verdict, ok);
}

/* ---- the floor ------------------------------------------------------------------------------- */

/*
 * A pair visit: u at the new place, and for the 0.37 of the trials that are taken at the old one,
 * too. Each is eight float operations (three products or fma for r^2, its scale, the distance
 * within the piece, three fma of the cubic), eight of integers (three differences, two bounds,
 * mask, shift, sum) and four conversions, of one instruction each: together under multiply-adds,
 * whose slots they take. A Philox call a trial: 1/N a visit.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    const double n = (double)ergo_point_int(run->batch->points[0], "/system/n");
    cost[ERGO_BENCH_PHILOX] = 1 / n;
    cost[ERGO_BENCH_FMA] = 1.37 * 20;
}

/* ---- the serial programs --------------------------------------------------------------------- */

static const double DENSITY = 0.02186, B = 3.07, DISPLACEMENT = 0.4;

static enum ergo_status peer_start(struct ergo_context *ctx, const struct ergo_point *point,
                                   int kind, void **program) {
    struct ergo_serial_helium *s = calloc(1, sizeof *s);
    *program = s;
    if (!s || !ergo_serial_helium_init(s, (size_t)ergo_point_int(point, "/system/n"), DENSITY, B,
                                       DISPLACEMENT, (enum ergo_serial_helium_kind)kind, 1))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial program");
    ergo_serial_helium_macroupdates(s, 20);
    return ERGO_OK;
}

static double peer_step(void *program, uint64_t steps) {
    struct ergo_serial_helium *s = program;
    ergo_serial_helium_macroupdates(s, steps);
    return (double)s->n * (double)s->n * (double)steps;
}

static void peer_stop(void *program) {
    if (program)
        ergo_serial_helium_free(program);
    free(program);
}

static const struct ergo_bench_peer peers[] = {
    {"floats", ERGO_SERIAL_HELIUM_PLAIN, peer_start, peer_step, peer_stop},
    {"floats, sums kept", ERGO_SERIAL_HELIUM_CACHED, peer_start, peer_step, peer_stop},
};
enum { PEERS = sizeof peers / sizeof peers[0], BINS = 20, SAMPLES = 100 };

/* ln psi / N of 64 atoms: the double-precision oracle of tests/oracle, 24,000 macroupdates. */
static const double LN_PSI = -1.19332, LN_PSI_ERROR = 0.00057;

static enum ergo_status check_one(struct ergo_bench *bench, int kind, double *z) {
    struct ergo_serial_helium s;
    double sum = 0, square = 0;
    if (!ergo_serial_helium_init(&s, 64, DENSITY, B, DISPLACEMENT,
                                 (enum ergo_serial_helium_kind)kind, 20261121))
        return ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the serial program");
    ergo_serial_helium_macroupdates(&s, 1000);
    for (int b = 0; b < BINS; b++) {
        double bin = 0;
        for (int i = 0; i < SAMPLES; i++) {
            ergo_serial_helium_macroupdates(&s, 5);
            bin += ergo_serial_helium_ln_psi(&s) / SAMPLES;
        }
        sum += bin;
        square += bin * bin;
    }
    const double mean = sum / BINS, error = sqrt((square / BINS - mean * mean) / (BINS - 1));
    *z = (mean - LN_PSI) / hypot(error, LN_PSI_ERROR);
    ergo_serial_helium_free(&s);
    return ERGO_OK;
}

static enum ergo_status check_peers(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_text *verdict, bool *ok) {
    static double z[PEERS]; /* the same for all cases */
    static bool known;
    enum ergo_status status = ERGO_OK;
    (void)what;
    for (size_t p = 0; p < PEERS && !known && status == ERGO_OK; p++)
        status = check_one(bench, peers[p].variant, &z[p]);
    if (status != ERGO_OK)
        return status;
    known = true;
    ergo_text_append(verdict, "ln psi of 64 atoms:");
    for (size_t p = 0; p < PEERS; p++) {
        *ok = *ok && fabs(z[p]) < 4;
        ergo_text_append(verdict, "%s z = %+.1f%s", p ? "," : "", z[p],
                         fabs(z[p]) < 4 ? "" : " WRONG");
    }
    return ERGO_OK;
}

static const struct ergo_bench_axis axes[] = {
    {"path", {4, 5, 6}},
    {"work_group", {32, 64, 128, 256, 512}},
};

const struct ergo_bench_suite ergo_bench_helium = {
    .sampler = "helium-vmc",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .peers = peers,
    .n_peers = PEERS,
    .check_peers = check_peers,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
