/*
 * Grand canonical Lennard-Jones at T* = 1.35, r_c = 2.5, from a reduced density of 0.6 on: single
 * chains, thousands of them, and one large system on a checkerboard.
 *
 * Every case must give the same bits by cells of another size and another work-group,
 * its running energy must be that of a sum from scratch, and the sampler the published averages.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"
#include "serial_lj.h"

#define JOB(side, particles, every, system, more)                                                  \
    "{\"sampler\": \"lj-gcmc\", \"system\": {\"box\": [" side ", " side ", " side                  \
    "], \"temperature\": 1.35, \"activity\": 0.13, \"cutoff\": 2.5, "                              \
    "\"particles\": " #particles system                                                            \
    "}, \"run\": {\"sweeps\": 100000000, \"measure_every\": " #every ", \"curve_every\": 0}" more  \
    "}"
#define BOARD ", \"decomposition\": \"checkerboard\""

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"lj-4096", GPU | CPU, JOB("18.97", 4096, 10000, "", "")},
    {"lj-32768", GPU | CPU, JOB("37.94", 32768, 10000, "", "")},
    {"lj-262144", GPU, JOB("75.88", 262144, 10000, "", "")},
    {"lj-8448x4096", GPU, JOB("18.97", 4096, 10000, "", ", \"replicas\": 8448")},
    {"lj-64x1000", GPU, JOB("11.86", 1000, 10000, "", ", \"replicas\": 64")},
    {"lj-isotherm", GPU,
     "{\"sampler\": \"lj-gcmc\", \"replicas\": 52, \"system\": {\"box\": [12, 12, 12], "
     "\"temperature\": 1.5, \"activity\": 0.01, \"cutoff\": 3, \"tail_correction\": true, "
     "\"particles\": 300}, "
     "\"run\": {\"sweeps\": 100000000, \"measure_every\": 10000, \"curve_every\": 0}, "
     "\"scan\": {\"/system/activity\": {\"from\": 0.01, \"to\": 0.2, \"step\": 0.01}}}"},
    {"lj-16x4096", CPU, JOB("18.97", 4096, 10000, "", ", \"replicas\": 16")},
    {"lj-board-32768", CPU, JOB("37.94", 32768, 10, BOARD, "")},
    {"lj-board-262144", GPU, JOB("75.88", 262144, 10, BOARD, "")},
    {"lj-board-2M", GPU, JOB("149.4", 2000000, 10, BOARD, "")},
};

/* ---- the answer -------------------------------------------------------------------------------
 */

enum { DIGEST_MOVES = 2000, DIGEST_ACTIVATIONS = 3, DIGEST_MEMBERS = 8, CHECK_REPLICAS = 16 };

/* Against the data/reference/lj.md point T* = 2, z = 0.2, box of 8. */
static const double KNOWN[2][2] = {{141.6706, 0.1104}, {-1.63571, 0.00144}};

static bool is_board(const struct ergo_bench_case *what) {
    return strstr(what->job, "checkerboard") != NULL;
}

/* z of <N> and U/N from independent chains. */
static enum ergo_status averages(struct ergo_bench *bench, bool board, double z[2]) {
    enum { SAMPLES = 400 };
    char job[600];
    snprintf(job, sizeof job,
             "{\"sampler\": \"lj-gcmc\", \"replicas\": %d, \"system\": {\"box\": [8, 8, 8], "
             "\"temperature\": 2, \"activity\": 0.2, \"particles\": 140%s}, \"run\": {\"sweeps\": "
             "1000000, \"measure_every\": 10, \"curve_every\": 0}}",
             CHECK_REPLICAS, board ? BOARD ", \"gap_cells\": 4" : "");
    struct ergo_bench_run run;
    double *columns = malloc((size_t)SAMPLES * CHECK_REPLICAS * LJ_COLUMNS * sizeof *columns);
    double sum[2] = {0, 0}, square[2] = {0, 0};
    if (!columns)
        return ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for samples");
    enum ergo_status status = ergo_bench_open(bench, job, NULL, 7, &run);
    if (status != ERGO_OK) {
        free(columns);
        return status;
    }
    status = ergo_bench_steps(&run, board ? 800 : 20000, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_sample(&run, SAMPLES, board ? 10 : 500, columns, NULL);
    for (size_t m = 0; m < CHECK_REPLICAS && status == ERGO_OK; m++) {
        double n = 0, u = 0;
        for (size_t i = 0; i < SAMPLES; i++) {
            n += columns[(i * CHECK_REPLICAS + m) * LJ_COLUMNS + LJ_COLUMN_PARTICLES];
            u += columns[(i * CHECK_REPLICAS + m) * LJ_COLUMNS + LJ_COLUMN_ENERGY];
        }
        const double value[2] = {n / SAMPLES, u / n};
        for (int k = 0; k < 2; k++) {
            sum[k] += value[k] / CHECK_REPLICAS;
            square[k] += value[k] * value[k] / CHECK_REPLICAS;
        }
    }
    for (int k = 0; k < 2; k++)
        z[k] = (sum[k] - KNOWN[k][0]) /
               hypot(KNOWN[k][1], sqrt((square[k] - sum[k] * sum[k]) / (CHECK_REPLICAS - 1)));
    free(columns);
    ergo_bench_close(&run);
    return status;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const cells[] = {"/tuning/microcell=150", "/tuning/work_group=64", NULL};
    static const char *const group[] = {"/tuning/work_group=64", NULL};
    static double z[2][2]; /* the same for all cases */
    static bool known[2];
    const int board = is_board(what);
    const char *const *another = board ? group : cells;
    const enum ergo_status status = known[board] ? ERGO_OK : averages(bench, board, z[board]);
    if (status != ERGO_OK)
        return status;
    known[board] = true;
    const bool right = fabs(z[board][0]) < 4 && fabs(z[board][1]) < 4;
    *ok = *ok && right;
    ergo_text_append(verdict, "T* = 2, z = 0.2: N and U/N off by z = %+.1f, %+.1f%s", z[board][0],
                     z[board][1], right ? "" : " WRONG");
    return ergo_bench_check_digests(bench, what->job, another,
                                    board ? DIGEST_ACTIVATIONS : DIGEST_MOVES, DIGEST_MEMBERS,
                                    verdict, ok);
}

/*
 * Nobody can leave out: two Philox calls; the pairs within the cutoff, 39 at density 0.6, of the
 * insertions and displacements that hit no core (a quarter of 65%), and of the 2.5% of moves that
 * are accepted, whose neighbours' energies change (old places and deletions need no sums then):
 * 0.19 neighbourhoods a move; 17 multiply-adds or multiplications a pair. Bytes: 12 a pair, of
 * chains that do not fit the cache.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    const double pairs = 0.19 * 39;
    cost[ERGO_BENCH_PHILOX] = 2;
    cost[ERGO_BENCH_FMA] = 17 * pairs;
    if (run->batch->count > 1000)
        cost[ERGO_BENCH_COPY] = 12 * pairs;
}

/* ---- the serial program -----------------------------------------------------------------------
 */

static enum ergo_status peer_start(struct ergo_context *ctx, const struct ergo_point *point,
                                   int variant, void **program) {
    const struct lj_system sys = lj_system_of(point);
    struct ergo_serial_lj *s = calloc(1, sizeof *s);
    (void)variant;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial program");
    *program = s;
    return ergo_serial_lj_start(s, sys.box, sys.cutoff, sys.temperature, sys.activity,
                                (size_t)ergo_point_int(point, "/system/particles"), 1)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB, "the serial program cannot hold this box");
}

static double peer_step(void *program, uint64_t steps) {
    ergo_serial_lj_moves(program, steps);
    return (double)steps;
}

static void peer_stop(void *program) {
    if (program)
        ergo_serial_lj_free(program);
    free(program);
}

static const struct ergo_bench_peer peers[] = {
    {"cell list", 0, peer_start, peer_step, peer_stop},
};

/* The running energy, and the averages at T* = 2, z = 0.2. */
static enum ergo_status check_peers(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_text *verdict, bool *ok) {
    enum { BINS = 20, SAMPLES = 200, EVERY = 300 };
    static const double side[3] = {8, 8, 8};
    double sum[2] = {0, 0}, square[2] = {0, 0}, z[2];
    struct ergo_serial_lj s;
    (void)what;
    if (!ergo_serial_lj_start(&s, side, 2.5, 2, 0.2, 140, 20261121))
        return ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the serial program");
    ergo_serial_lj_moves(&s, 20000);
    for (int b = 0; b < BINS; b++) {
        double n = 0, u = 0;
        for (int i = 0; i < SAMPLES; i++) {
            ergo_serial_lj_moves(&s, EVERY);
            n += (double)s.count / SAMPLES;
            u += s.energy / SAMPLES;
        }
        const double value[2] = {n, u / n};
        for (int k = 0; k < 2; k++) {
            sum[k] += value[k] / BINS;
            square[k] += value[k] * value[k] / BINS;
        }
    }
    for (int k = 0; k < 2; k++)
        z[k] = (sum[k] - KNOWN[k][0]) /
               hypot(KNOWN[k][1], sqrt((square[k] - sum[k] * sum[k]) / (BINS - 1)));
    const double drift = fabs(ergo_serial_lj_total(&s) - s.energy);
    *ok = fabs(z[0]) < 4 && fabs(z[1]) < 4 && drift < 1e-6 && !s.failed;
    ergo_text_append(verdict, "running energy within %.1g; T* = 2: z = %+.1f, %+.1f%s", drift, z[0],
                     z[1], *ok ? "" : " WRONG");
    ergo_serial_lj_free(&s);
    return ERGO_OK;
}

static const struct ergo_bench_axis axes[] = {
    {"work_group", {32, 64, 128, 256, 512, 1024}},
    {"teams", {16, 8, 32, 4, 2, 1}},
};

const struct ergo_bench_suite ergo_bench_lj = {
    .sampler = "lj-gcmc",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .peers = peers,
    .n_peers = sizeof peers / sizeof peers[0],
    .check_peers = check_peers,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
