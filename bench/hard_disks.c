/*
 * Hard disks at packing fraction 0.698, just below melting, from a hexagonal lattice.
 *
 * Every case must give the serial oracle's bits for a system small enough for it, on the path that
 * will be timed; the whole case the same bits by another path or launch.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/disks_serial.h"
#include "serial_disks.h"

#define JOB(n, replicas)                                                                           \
    "{\"sampler\": \"hard-disks\", \"replicas\": " #replicas ", \"system\": {\"n\": " #n           \
    ", \"packing_fraction\": 0.698}, \"run\": {\"sweeps\": 1000, \"measure_every\": 100, "         \
    "\"gr_max\": 0, \"block_cells\": 0}}"

/* The same by two reflections a cell. */
#define REFLECTIONS(n, replicas)                                                                   \
    "{\"sampler\": \"hard-disks\", \"replicas\": " #replicas ", \"system\": {\"n\": " #n           \
    ", \"packing_fraction\": 0.698, \"moves\": \"reflections\", \"moves_per_cell\": 2}, \"run\": " \
    "{\"sweeps\": 1000, \"measure_every\": 100, \"gr_max\": 0, \"block_cells\": 0}}"

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"disks-256", GPU | CPU, JOB(65536, 1)},
    {"disks-1024", GPU, JOB(1048576, 1)},
    {"disks-4096", GPU, JOB(16777216, 1)},
    {"disks-32x256", GPU, JOB(65536, 32)},
    {"disks-64x64", GPU, JOB(4096, 64)},
    {"disks-64", CPU, JOB(4096, 1)},
    {"disks-8x32", CPU, JOB(1024, 8)},
    {"reflect-256", GPU, REFLECTIONS(65536, 1)},
    {"reflect-1024", GPU, REFLECTIONS(1048576, 1)},
    {"reflect-4096", GPU, REFLECTIONS(16777216, 1)},
    {"reflect-64x64", GPU, REFLECTIONS(4096, 64)},
};

static const double PI = 3.14159265358979323846;

/* ---- the answer -------------------------------------------------------------------------------
 */

enum { ORACLE_SWEEPS = 20, ORACLE_REPLICAS = 2, DIGEST_SWEEPS = 9, DIGEST_MEMBERS = 4 };

static bool reflects(const struct ergo_point *point) {
    return strcmp(ergo_point_text(point, "/system/moves"), "reflections") == 0;
}

static double box_of(const struct ergo_point *point) {
    return sqrt((double)ergo_point_int(point, "/system/n") * PI /
                (4.0 * ergo_point_real(point, "/system/packing_fraction")));
}

static uint64_t number(const uint8_t *bytes, int n) {
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static void append_number(struct ergo_text *text, uint64_t value, int n) {
    uint8_t bytes[8];
    for (int i = 0; i < n; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    ergo_text_append_bytes(text, bytes, (size_t)n);
}

/* The oracle in a member's canonical state, all else from the job's numbers and the definition in
 * src/samplers/hard_disks/README.md. False: not such a state, or no memory. */
static bool oracle_read(struct ergo_oracle_disks *o, const struct ergo_point *point,
                        const uint8_t *bytes, size_t length) {
    size_t n = 0, at = 16;
    *o = (struct ergo_oracle_disks){
        .width = 1 << 22,
        .ratio = UINT64_C(1) << 62,
        .moves = (int)ergo_point_int(point, "/system/moves_per_cell"),
        .shuffle_particles = true,
        .shuffle_checkerboard = true,
        .reflect = reflects(point),
        .key = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)}};
    while (at < length) {
        at += 1 + 8 * (size_t)bytes[at];
        n++;
    }
    o->cells = o->rows = lround(sqrt((double)n));
    if (at != length || (size_t)(o->cells * o->cells) != n ||
        !(o->cell = calloc(n + 1, sizeof *o->cell)))
        return false;
    const double sigma = (double)(o->cells * o->width) / box_of(point);
    o->contact = (uint64_t)ceil(sigma * sigma);
    o->step = o->step_y =
        (float)(ergo_point_real(point, "/system/max_displacement") * sigma / 131072.0);
    o->grid[0] = (int64_t)number(bytes, 8);
    o->grid[1] = (int64_t)number(bytes + 8, 8);
    at = 16;
    for (size_t c = 0; c < n; c++) {
        o->cell[c].n = bytes[at++] & 7;
        for (int k = 0; k < o->cell[c].n && k < 4; k++, at += 8) {
            o->cell[c].x[k] = (int64_t)number(bytes + at, 4);
            o->cell[c].y[k] = (int64_t)number(bytes + at + 4, 4);
        }
    }
    return true;
}

static void oracle_write(const struct ergo_oracle_disks *o, struct ergo_text *text) {
    append_number(text, (uint64_t)o->grid[0], 8);
    append_number(text, (uint64_t)o->grid[1], 8);
    for (int64_t c = 0; c < o->cells * o->cells; c++) {
        append_number(text, (uint64_t)o->cell[c].n, 1);
        for (int k = 0; k < o->cell[c].n; k++) {
            append_number(text, (uint64_t)o->cell[c].x[k], 4);
            append_number(text, (uint64_t)o->cell[c].y[k], 4);
        }
    }
}

/* States of all members, ORACLE_SWEEPS later, by the oracle: its digest. */
static enum ergo_status oracle_digest(struct ergo_bench_run *run, uint64_t *digest, bool *lost) {
    struct ergo_text all = {0};
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < run->batch->count && status == ERGO_OK; m++) {
        struct ergo_text start = {0};
        struct ergo_oracle_disks o = {0};
        status = run->job->model->ops->save(run->ctx, run->state, m, &start);
        if (status == ERGO_OK &&
            !oracle_read(&o, run->batch->points[m], (const uint8_t *)start.data, start.length))
            status = ERGO_FAIL(run->ctx, ERGO_E_INTERNAL, "no canonical state of hard disks");
        for (uint64_t t = 0; t < ORACLE_SWEEPS && status == ERGO_OK; t++)
            ergo_oracle_disks_sweep(&o, t);
        if (status == ERGO_OK)
            oracle_write(&o, &all);
        *lost = *lost || o.lost;
        free(o.cell);
        ergo_text_free(&start);
    }
    if (status == ERGO_OK)
        *digest = ergo_hash64(all.data, all.length);
    ergo_text_free(&all);
    return status;
}

static unsigned path_number(const char *name) {
    return strcmp(name, "local") == 0 ? 1 : strcmp(name, "tile") == 0 ? 2 : 3;
}

/* A small system on the same path: the smallest that takes it. */
static enum ergo_status open_small(struct ergo_bench *bench, const struct ergo_bench_run *full,
                                   const char *job, struct ergo_bench_run *run) {
    static const long long sizes[] = {4096, 16384, 65536};
    const long long n = ergo_point_int(full->batch->points[0], "/system/n");
    const size_t count = full->batch->count;
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char size[48], replicas[32], path[32];
        snprintf(size, sizeof size, "/system/n=%lld", n < sizes[i] ? n : sizes[i]);
        snprintf(replicas, sizeof replicas, "/replicas=%zu",
                 count < ORACLE_REPLICAS ? count : ORACLE_REPLICAS);
        snprintf(path, sizeof path, "/tuning/path=%u", path_number(full->plan.path));
        const char *const sets[] = {size, replicas, path, NULL};
        status = ergo_bench_open(bench, job, sets, 99, run);
        if (status != ERGO_OK || strcmp(run->plan.path, full->plan.path) == 0 || n < sizes[i])
            return status;
        if (i + 1 < sizeof sizes / sizeof sizes[0])
            ergo_bench_close(run);
    }
    return status;
}

static enum ergo_status against_oracle(struct ergo_bench *bench, const struct ergo_bench_run *full,
                                       const char *job, struct ergo_text *out, bool *ok) {
    struct ergo_bench_run run;
    uint64_t mine = 0, oracle = 0;
    bool lost = false;
    enum ergo_status status = open_small(bench, full, job, &run);
    if (status != ERGO_OK)
        return status;
    status = oracle_digest(&run, &oracle, &lost);
    if (status == ERGO_OK)
        status = ergo_bench_steps(&run, ORACLE_SWEEPS, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_digest(&run, SIZE_MAX, &mine);
    if (status == ERGO_OK) {
        const bool same = mine == oracle && !lost;
        const bool same_path = strcmp(run.plan.path, full->plan.path) == 0;
        *ok = *ok && same && same_path;
        ergo_text_append(out, "%s N = %lld %s the oracle%s", run.plan.path,
                         (long long)ergo_point_int(run.batch->points[0], "/system/n"),
                         same ? "=" : "DIFFERS FROM", same_path ? "" : " (ANOTHER PATH)");
    }
    ergo_bench_close(&run);
    return status;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const global[] = {"/tuning/path=3", "/tuning/work_group=32", NULL};
    static const char *const tile[] = {"/tuning/path=2", "/tuning/work_group=32", NULL};
    struct ergo_bench_run run, other;
    enum ergo_status status = ergo_bench_plan(bench, what->job, NULL, 99, &run);
    if (status != ERGO_OK)
        return status;
    /* another path, or where there is none another group */
    const char *const *sets = strcmp(run.plan.path, "global") == 0 ? tile : global;
    if (ergo_bench_plan(bench, what->job, sets, 99, &other) != ERGO_OK) {
        ergo_error_clear(bench->ctx);
        sets++;
    } else {
        ergo_bench_close(&other);
    }
    status = against_oracle(bench, &run, what->job, verdict, ok);
    if (status == ERGO_OK)
        status = ergo_bench_check_digests(bench, what->job, sets, DIGEST_SWEEPS, DIGEST_MEMBERS,
                                          verdict, ok);
    ergo_bench_close(&run);
    return status;
}

/* ---- the floor --------------------------------------------------------------------------------
 */

/*
 * A trial move: half a Philox call; about 25 operations for the displacement (two polynomials of a
 * sine, rounding, the cell's walls); and four for each other disk in a cell that the disk of
 * diameter 2 about the new centre touches (of w^2 + 4w + pi, by the density). Two coordinates of 4
 * bytes a disk come in and go out: once a sweep from tiles; from memory, all disks in and a quarter
 * of them out in each of four sub-sweeps. Nothing is counted for what lives in a cache.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    const struct ergo_point *point = run->batch->points[0];
    const double n = (double)ergo_point_int(point, "/system/n"), box = box_of(point);
    const double moves = (double)ergo_point_int(point, "/system/moves_per_cell");
    const double cells = run->plan.work_per_step / moves / (double)run->batch->count;
    const double w = box / sqrt(cells), density = n / (box * box);
    const double others = density * (w * w + 4.0 * w + PI) - 1.0;
    cost[ERGO_BENCH_PHILOX] = 0.5;
    /* a reflection: ten operations a disk for the free part of the line, four for the overlap */
    cost[ERGO_BENCH_FMA] = reflects(point) ? 12.0 + 14.0 * others : 25.0 + 4.0 * others;
    if (run->plan.largest_buffer < (uint64_t)16 << 20)
        return;
    if (strcmp(run->plan.path, "tile") == 0)
        cost[ERGO_BENCH_COPY] = 16.0 * n / (cells * moves);
    else if (strcmp(run->plan.path, "global") == 0)
        cost[ERGO_BENCH_COPY] = 40.0 * n / (cells * moves);
}

/* Share of moves in cells with disks: moves are counted for every cell, and those of empty cells
 * are no trials. */
static enum ergo_status useful(struct ergo_bench_run *run, double *share) {
    const struct ergo_model *model = run->job->model;
    const size_t members = run->batch->count;
    double *columns = calloc(members * model->n_columns, sizeof *columns);
    if (!columns)
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a sample");
    enum ergo_status status = ergo_bench_sample(run, 1, 10, columns, NULL);
    for (size_t c = 0; c < model->n_columns; c++) {
        if (strcmp(model->columns[c].name, "occupied") != 0)
            continue;
        *share = 0;
        for (size_t m = 0; m < members; m++)
            *share += columns[m * model->n_columns + c] / (double)members;
    }
    free(columns);
    return status;
}

/* ---- the serial programs ----------------------------------------------------------------------
 */

enum { LEAD = 300, CHECK_N = 256, CHECK_LEAD = 5000, BINS = 20, SAMPLES = 200, EVERY = 10 };

/*
 * Pairs a disk closer than 1.05, N = 256, packing fraction 0.6: the plain serial oracle of
 * tests/oracle, whose pressure is compared with published ones in tests/physics.
 */
static const double PAIRS = 0.4918, PAIRS_ERROR = 0.0002;

static enum ergo_status peer_start(struct ergo_context *ctx, const struct ergo_point *point,
                                   int kind, void **program) {
    struct ergo_serial_disks *s = calloc(1, sizeof *s);
    *program = s;
    if (!s || !ergo_serial_disks_init(s, (size_t)ergo_point_int(point, "/system/n"), box_of(point),
                                      ergo_point_real(point, "/system/max_displacement"),
                                      (enum ergo_serial_disks_kind)kind, 1))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial program");
    ergo_serial_disks_sweeps(s, LEAD); /* the lattice melts */
    return ERGO_OK;
}

static double peer_step(void *program, uint64_t steps) {
    struct ergo_serial_disks *s = program;
    ergo_serial_disks_sweeps(s, steps);
    return (double)s->n * (double)steps;
}

static void peer_stop(void *program) {
    if (program)
        ergo_serial_disks_free(program);
    free(program);
}

static const struct ergo_bench_peer peers[] = {
    {"random disk, doubles", ERGO_SERIAL_DISKS_RANDOM, peer_start, peer_step, peer_stop},
    {"vectors", ERGO_SERIAL_DISKS_VECTORS, peer_start, peer_step, peer_stop},
};
enum { PEERS = sizeof peers / sizeof peers[0] };

/* Pairs a disk closer than 1.05, and the least distance^2 so far. */
static double count_pairs(const struct ergo_serial_disks *s, double *least) {
    double x[CHECK_N], y[CHECK_N];
    uint64_t count = 0;
    ergo_serial_disks_positions(s, x, y);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t j = 0; j < i; j++) {
            const double dx = fabs(x[i] - x[j]), dy = fabs(y[i] - y[j]);
            const double u = fmin(dx, s->box - dx), v = fmin(dy, s->box - dy);
            *least = fmin(*least, u * u + v * v);
            count += u * u + v * v < 1.05 * 1.05;
        }
    }
    return (double)count / (double)s->n;
}

/* z of the number of close pairs, and the least distance. */
static enum ergo_status check_pairs(struct ergo_bench *bench, int kind, double *z, double *least) {
    struct ergo_serial_disks s;
    double sum = 0, square = 0;
    *least = 4;
    if (!ergo_serial_disks_init(&s, CHECK_N, sqrt(CHECK_N * PI / (4.0 * 0.6)), 0.16,
                                (enum ergo_serial_disks_kind)kind, 20261121))
        return ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the serial program");
    ergo_serial_disks_sweeps(&s, CHECK_LEAD);
    for (int b = 0; b < BINS; b++) {
        double bin = 0;
        for (int i = 0; i < SAMPLES; i++) {
            ergo_serial_disks_sweeps(&s, EVERY);
            bin += count_pairs(&s, least) / SAMPLES;
        }
        sum += bin;
        square += bin * bin;
    }
    const double mean = sum / BINS;
    const double error = sqrt((square / BINS - mean * mean) / (BINS - 1));
    *z = (mean - PAIRS) / hypot(error, PAIRS_ERROR);
    *least = sqrt(*least);
    ergo_serial_disks_free(&s);
    return ERGO_OK;
}

static enum ergo_status check_peers(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_text *verdict, bool *ok) {
    static double z[PEERS], least[PEERS]; /* the same for all cases */
    static bool known;
    enum ergo_status status = ERGO_OK;
    (void)what;
    for (size_t p = 0; p < PEERS && !known && status == ERGO_OK; p++)
        status = check_pairs(bench, peers[p].variant, &z[p], &least[p]);
    if (status != ERGO_OK)
        return status;
    known = true;
    ergo_text_append(verdict, "pairs closer than 1.05 in N = %d at 0.6:", CHECK_N);
    for (size_t p = 0; p < PEERS; p++) {
        /* floats are rounded when a disk moves to another cell */
        const bool apart = least[p] > (peers[p].variant == ERGO_SERIAL_DISKS_RANDOM ? 1 : 1 - 5e-7);
        *ok = *ok && fabs(z[p]) < 4 && apart;
        ergo_text_append(verdict, "%s z = %+.1f%s, none closer than %.7f%s", p ? ";" : "", z[p],
                         fabs(z[p]) < 4 ? "" : " WRONG", least[p], apart ? "" : " OVERLAP");
    }
    return ERGO_OK;
}

static const struct ergo_bench_axis axes[] = {
    {"path", {1, 3, 2}},
    {"work_group", {64, 128, 256, 32, 512, 16, 8}},
    {"tile", {0, 24, 20, 16, 28}},
};

const struct ergo_bench_suite ergo_bench_hard_disks = {
    .sampler = "hard-disks",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .useful = useful,
    .peers = peers,
    .n_peers = PEERS,
    .check_peers = check_peers,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
