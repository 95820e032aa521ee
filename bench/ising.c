/*
 * The Ising model at its critical temperature, J = 1, B = 0, all spins up at the start.
 *
 * Every case must give the serial oracle's bits on a lattice small enough for it, on the path and
 * with the row length that will be timed; large ones the same bits by two paths; and the physics
 * must be right.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/ising_serial.h"
#include "samplers/spin_lattice/exact.h"
#include "engine/fields.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "serial_ising.h"
#include "spin_lattice/params.h"

#define TC "2.269185314213022"
#define JOB(lx, ly, more)                                                                          \
    "{\"sampler\": \"spin-lattice\", \"system\": {\"size\": [" #lx ", " #ly                        \
    "], \"temperature\": " TC ", \"start\": \"up\"}, "                                             \
    "\"run\": {\"sweeps\": 1000, \"measure_every\": 10, \"correlation_every\": 0}" more "}"
#define RUN(lx, ly, every, chains)                                                                 \
    "{\"sampler\": \"spin-lattice\", \"system\": {\"size\": [" #lx ", " #ly                        \
    "], \"temperature\": " TC ", \"start\": \"up\"}, \"replicas\": " #chains                       \
    ", \"run\": {\"sweeps\": 100000, \"measure_every\": " #every "}}"
/* data/jobs/quickstart.json */
#define QUICKSTART                                                                                 \
    "{\"sampler\": \"spin-lattice\", \"system\": {\"model\": \"ising\", \"size\": [128, 128], "    \
    "\"temperature\": 2.4, \"start\": \"up\"}, \"run\": {\"equilibration\": 4000, "                \
    "\"sweeps\": 300000, \"measure_every\": 10}, \"scan\": {\"/system/temperature\": {\"from\": "  \
    "2.4, "                                                                                        \
    "\"to\": 2.1, \"step\": -0.01}}}"

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"2048", GPU | CPU, JOB(2048, 2048, "")},
    {"4096", GPU, JOB(4096, 4096, "")},
    {"16384", GPU, JOB(16384, 16384, "")},
    {"65536", GPU, JOB(65536, 65536, "")},
    {"replicas-1024x128", GPU, JOB(128, 128, ", \"replicas\": 1024")},
    {"512", CPU, JOB(512, 512, "")},
    {"replicas-64x128", CPU, JOB(128, 128, ", \"replicas\": 64")},
    {"128", GPU, JOB(128, 128, "")},
    {"replicas-16x256", GPU, JOB(256, 256, ", \"replicas\": 16")},
    {"quickstart", GPU | CPU | ERGO_BENCH_AS_GIVEN, QUICKSTART},
    {"run-64x64", GPU | ERGO_BENCH_AS_GIVEN, RUN(64, 64, 1, 64)},
    {"run-256x256", GPU | ERGO_BENCH_AS_GIVEN, RUN(256, 256, 10, 256)},
};

/* ---- the answer -------------------------------------------------------------------------------
 */

enum {
    ORACLE_SWEEPS = 9, /* two tile launches of four, and one by half-sweeps */
    ORACLE_ROWS = 32,  /* of a large lattice */
    ORACLE_REPLICAS = 3,
    DIGEST_MEMBERS = 16,
    QUENCH_SWEEPS = 200,
};
/*
 * Energy per site 200 sweeps after the all-up state at Tc: 210 lattices of 2048 x 2048 of the
 * serial program with its own generators (one word at a time: -1.43045(22), eight: -1.43015(12));
 * the equilibrium is at -1.41421. Correlations reach about 200^(1/2.17) = 11 sites by then, so
 * every lattice from 512 on has this energy, with a scatter of QUENCH_SD / L.
 */
static const double QUENCH_ENERGY = -1.43023, QUENCH_ERROR = 0.00011, QUENCH_SD = 3.3;

static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    ergo_serial_philox(counter, key, out);
}

/* The canonical state of a member, by the oracle. */
static enum ergo_status oracle_rows(struct ergo_context *ctx, const struct ergo_point *point,
                                    struct ergo_text *text) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const int lx = (int)size->size[0], ly = (int)size->size[1];
    struct ergo_oracle_ising o;
    if (!ergo_oracle_ising_init(&o, lx, ly, 1.0, 0.0, ergo_point_real(point, "/system/temperature"),
                                ERGO_ORACLE_METROPOLIS, ERGO_ORACLE_UP, philox, point->stream))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial oracle");
    for (uint64_t t = 0; t < ORACLE_SWEEPS; t++)
        ergo_oracle_ising_sweep(&o, t);
    for (int y = 0; y < ly; y++) {
        for (int x = 0; x < lx; x += 8) {
            uint8_t byte = 0;
            for (int b = 0; b < 8 && x + b < lx; b++)
                byte |= (uint8_t)((ergo_oracle_ising_spin(&o, x + b, y) > 0) << b);
            ergo_text_append_bytes(text, &byte, 1);
        }
    }
    ergo_oracle_ising_free(&o);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial oracle")
                        : ERGO_OK;
}

static enum ergo_status against_oracle(struct ergo_bench *bench, const struct ergo_bench_run *full,
                                       const char *job, struct ergo_text *out, bool *ok) {
    const struct ergo_value *size = ergo_point_value(full->batch->points[0], "/system/size");
    const bool large = size->size[0] * size->size[1] > (int64_t)1 << 18;
    const bool scan = full->batch->points[0]->n_scanned > 0;
    const size_t replicas = scan || full->batch->count < ORACLE_REPLICAS ? 1 : ORACLE_REPLICAS;
    const unsigned path = strcmp(full->plan.path, "local") == 0  ? ISING_PATH_LOCAL
                          : strcmp(full->plan.path, "tile") == 0 ? ISING_PATH_TILE
                                                                 : ISING_PATH_GLOBAL;
    const long long lx = size->size[0], ly = large ? ORACLE_ROWS : size->size[1];
    char size_set[64], replicas_set[32], path_set[32];
    snprintf(size_set, sizeof size_set, "/system/size=[%lld, %lld]", lx, ly);
    snprintf(replicas_set, sizeof replicas_set, "/replicas=%zu", replicas);
    snprintf(path_set, sizeof path_set, "/tuning/path=%u", path);
    const char *const sets[] = {size_set, replicas_set, path_set, NULL};
    struct ergo_plan plan;
    bool same = false;
    const enum ergo_status status =
        ergo_bench_same_as(bench, job, sets, ORACLE_SWEEPS, oracle_rows, &plan, &same);
    if (status == ERGO_OK) {
        const bool same_path = strcmp(plan.path, full->plan.path) == 0;
        *ok = *ok && same && same_path;
        ergo_text_append(out, "%s %lldx%lld %s the oracle%s", plan.path, lx, ly,
                         same ? "=" : "DIFFERS FROM", same_path ? "" : " (ANOTHER PATH)");
    }
    return status;
}

/* Mean energy of each member over `samples` samples; and the exact ones. */
static enum ergo_status energies(struct ergo_bench *bench, const char *job, uint64_t equilibration,
                                 size_t samples, uint64_t every, double **mean, double *exact) {
    struct ergo_bench_run run;
    double *series = NULL;
    *mean = NULL;
    enum ergo_status status = ergo_bench_open(bench, job, NULL, 7, &run);
    if (status != ERGO_OK)
        return status;
    const size_t members = run.batch->count, width = run.job->model->n_columns;
    *mean = calloc(members, sizeof **mean);
    series = calloc(samples * members * width, sizeof *series);
    if (!*mean || !series)
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for energies");
    if (status == ERGO_OK)
        status = ergo_bench_steps(&run, equilibration, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_sample(&run, samples, every, series, NULL);
    for (size_t i = 0; i < samples * members && status == ERGO_OK; i++)
        (*mean)[i % members] += series[width * i] / (double)samples;
    for (size_t m = 0; exact && m < members && status == ERGO_OK; m++)
        exact[m] = ergo_point_exact(run.batch->points[m], "energy");
    free(series);
    ergo_bench_close(&run);
    return status;
}

static enum ergo_status physics(struct ergo_bench *bench, const struct ergo_bench_run *full,
                                const char *job, struct ergo_text *out, bool *ok) {
    const struct ergo_point *first = full->batch->points[0];
    const int64_t *side = ergo_point_value(first, "/system/size")->size;
    const size_t members = full->batch->count;
    double *mean = NULL, exact[64] = {0};
    enum ergo_status status;
    if (first->n_scanned > 0) {
        const uint64_t lead = bench->gpu ? 20000 : 4000;
        status = energies(bench, job, lead, 100, bench->gpu ? 200 : 50, &mean, exact);
        double worst = 0;
        for (size_t m = 0; m < members && status == ERGO_OK; m++)
            worst = fmax(worst, fabs(mean[m] - exact[m]));
        /* one chain each, and slow near Tc, so the bound is coarse; the bits are the proof */
        if (status == ERGO_OK) {
            *ok = *ok && worst < 0.03;
            ergo_text_append(out, "; energies within %.3f of the exact ones%s", worst,
                             worst < 0.03 ? "" : " TOO FAR");
        }
    } else if (members >= 16) {
        const uint64_t lead = bench->gpu ? 40000 : 10000;
        status = energies(bench, job, lead, 100, bench->gpu ? 200 : 100, &mean, NULL);
        struct ergo_ising_exact e = {0, 0};
        ergo_ising_exact_torus(side[0], side[1], atof(TC), 1.0, &e);
        double sum = 0, square = 0;
        for (size_t m = 0; m < members && status == ERGO_OK; m++) {
            sum += mean[m];
            square += mean[m] * mean[m];
        }
        if (status == ERGO_OK) {
            const double n = (double)members, average = sum / n;
            const double error = sqrt((square / n - average * average) / (n - 1));
            const double z = (average - e.energy) / error;
            *ok = *ok && fabs(z) < 4;
            ergo_text_append(out, "; energy %.5f, exact %.5f, z = %+.1f%s", average, e.energy, z,
                             fabs(z) < 4 ? "" : " WRONG");
        }
    } else {
        status = energies(bench, job, QUENCH_SWEEPS - 10, 1, 10, &mean, NULL);
        if (status == ERGO_OK) {
            const double l = sqrt((double)side[0] * (double)side[1]);
            const double error = hypot(QUENCH_ERROR, QUENCH_SD / l);
            const double z = (mean[0] - QUENCH_ENERGY) / error;
            *ok = *ok && fabs(z) < 5;
            ergo_text_append(out, "; energy after %d sweeps %.5f, expected %.5f, z = %+.1f%s",
                             QUENCH_SWEEPS, mean[0], QUENCH_ENERGY, z, fabs(z) < 5 ? "" : " WRONG");
        }
    }
    free(mean);
    return status;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const tile[] = {"/tuning/path=2", "/tuning/work_group=256", NULL};
    static const char *const global[] = {"/tuning/path=3", "/tuning/work_group=64", NULL};
    struct ergo_bench_run run;
    enum ergo_status status = ergo_bench_plan(bench, what->job, NULL, 99, &run);
    if (status != ERGO_OK)
        return status;
    status = against_oracle(bench, &run, what->job, verdict, ok);
    if (status == ERGO_OK)
        status = ergo_bench_check_digests(bench, what->job,
                                          strcmp(run.plan.path, "global") == 0 ? tile : global,
                                          ORACLE_SWEEPS, DIGEST_MEMBERS, verdict, ok);
    if (status == ERGO_OK)
        status = physics(bench, &run, what->job, verdict, ok);
    ergo_bench_close(&run);
    return status;
}

/* ---- the floor --------------------------------------------------------------------------------
 */

/*
 * The least that this algorithm needs (README.md): eight Philox calls for 128 spins; and, where the
 * lattice goes through memory once per colour, 3/8 byte per update: a bit each of own and other
 * colour in, own out, for each of two half-sweeps. A stripe with halos reads and writes once per
 * launch.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    const struct ising_launch *l = &((const struct ising_state *)run->state)->launch;
    cost[ERGO_BENCH_PHILOX] = 8.0 / 128.0;
    if (l->path == ISING_PATH_GLOBAL)
        cost[ERGO_BENCH_COPY] = 3.0 / 8.0;
    else if (l->path == ISING_PATH_TILE)
        cost[ERGO_BENCH_COPY] = (2.0 + 4.0 * l->sweeps / l->rows) / (8.0 * l->sweeps);
}

/* The sampler's decisions on spins that stay in registers (no loads, no stores, no neighbours): the
 * price of random numbers and comparison alone. Behind the flattened cl/spin_lattice/core.h. */
static const char decide_source[] =
    "#ifdef ISING_LANES\n"
    "#define BENCH_LANES 8u\n"
    "#define BENCH_PARTS 2\n"
    "#else\n"
    "#define BENCH_LANES 1u\n"
    "#define BENCH_PARTS 4\n"
    "#endif\n"
    "__kernel void bench_decide(__global uint *out, uint rounds, uint key) {\n"
    "    const uint id = (uint)get_global_id(0);\n"
    "    struct ising_member member;\n"
    "    member.key0 = member.key1 = key;\n"
    "    ising_vec spins[BENCH_PARTS];\n"
    "    for (int l = 0; l < BENCH_PARTS; l++)\n"
    "        spins[l] = ~ISING_VEC(0u);\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        struct ising_word s[BENCH_PARTS];\n"
    "        for (int l = 0; l < BENCH_PARTS; l++) {\n"
    "            struct ising_bonds_vec n;\n"
    "            n.up = n.down = n.same = spins[l];\n"
    "            n.side = spins[l] ^ ISING_VEC(0x000f000fu);\n"
    "            s[l] = ising_open(spins[l], n, ~ISING_VEC(0u), &member);\n"
    "        }\n"
    "        ising_decide(s, BENCH_LANES * id, i, i & 1, &member);\n"
    "        for (int l = 0; l < BENCH_PARTS; l++)\n"
    "            spins[l] ^= s[l].flip;\n"
    "    }\n"
    "    out[id] = ISING_ANY(spins[0] | spins[BENCH_PARTS - 1]) ? 1u : 0u;\n"
    "}\n";

/* Measured with the kernels and options that the sampler uses here. */
static enum ergo_status decisions(struct ergo_bench *bench, struct ergo_bench_ceiling *out) {
    struct ergo_bench_run run;
    char options[256];
    *out = (struct ergo_bench_ceiling){.key = "decisions", .label = "Ising decisions"};
    enum ergo_status status = ergo_bench_open(bench, JOB(512, 512, ""), NULL, 1, &run);
    if (status != ERGO_OK)
        return status;
    const struct ising_state *state = run.state;
    const struct ising_member *member = &state->members[0];
    const bool lanes = state->launch.lanes;
    snprintf(options, sizeof options,
             "-DISING_SPACE=__global -DISING_LX=2048u -DISING_LY=2048u -DISING_CLASSES=2 "
             "-DISING_FULL -DISING_FIXED -DISING_HIGH0=%uu -DISING_LOW0=%uu -DISING_HIGH1=%uu "
             "-DISING_LOW1=%uu",
             member->high[0], member->low[0], member->high[1], member->low[1]);
    const struct ergo_bench_probe probe = {
        .before = lanes ? "#define ISING_LANES\n" : "",
        .path = lanes ? "spin_lattice/lanes.h" : "spin_lattice/core.h",
        .source = decide_source,
        .options = options,
        .kernel = "bench_decide",
        .work = lanes ? 1024 : 128,
    };
    ergo_bench_close(&run);
    return ergo_bench_probe(bench, &probe, out);
}

/* ---- the serial program -----------------------------------------------------------------------
 */

enum { PEERS = 3, BINS = 20, SAMPLES = 100, EVERY = 50, LEAD = 20000 };

/* At Tc for scans, too. To a serial program, many lattices one after the other are the same as one.
 */
static enum ergo_status peer_begin(struct ergo_context *ctx, size_t lx, size_t ly, int generator,
                                   uint64_t stream, struct ergo_serial *s) {
    return ergo_serial_init(s, lx, ly, atof(TC), (enum ergo_serial_generator)generator, stream)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB, "the serial program cannot hold %zu x %zu", lx, ly);
}

static enum ergo_status peer_start(struct ergo_context *ctx, const struct ergo_point *point,
                                   int generator, void **program) {
    const int64_t *side = ergo_point_value(point, "/system/size")->size;
    struct ergo_serial *s = calloc(1, sizeof *s);
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the serial program");
    *program = s;
    return peer_begin(ctx, (size_t)side[0], (size_t)side[1], generator, 1, s);
}

static double peer_step(void *program, uint64_t steps) {
    struct ergo_serial *s = program;
    ergo_serial_sweeps(s, steps);
    return (double)s->lx * (double)s->ly * (double)steps;
}

static void peer_stop(void *program) {
    if (program)
        ergo_serial_free(program);
    free(program);
}

static const struct ergo_bench_peer peers[PEERS] = {
    {"xoshiro256++", ERGO_SERIAL_XOSHIRO, peer_start, peer_step, peer_stop},
    {"xoshiro256++ x 8", ERGO_SERIAL_XOSHIRO8, peer_start, peer_step, peer_stop},
    {"philox", ERGO_SERIAL_PHILOX, peer_start, peer_step, peer_stop},
};

/* Its lattice in ergocl's canonical form. */
static enum ergo_status digest_of(struct ergo_context *ctx, const struct ergo_serial *s,
                                  const struct ising_shape *shape, uint64_t *digest) {
    const size_t bytes = (size_t)shape->ly * ergo_bits_bytes((size_t)shape->lx);
    uint32_t *words = calloc(1, shape->member_bytes);
    uint8_t *rows = malloc(bytes);
    enum ergo_status status = ERGO_OK;
    if (words && rows) {
        for (size_t c = 0; c < 2; c++) {
            for (size_t i = 0; i < s->words; i++) {
                words[c * 4 * shape->blocks + 2 * i] = (uint32_t)s->colour[c][i];
                words[c * 4 * shape->blocks + 2 * i + 1] = (uint32_t)(s->colour[c][i] >> 32);
            }
        }
        (void)ergo_field_arrange(ising_fields.field, shape, false, words, rows);
        *digest = ergo_hash64(rows, bytes);
    } else {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a digest");
    }
    free(words);
    free(rows);
    return status;
}

/* Philox: ergocl's bits. */
static enum ergo_status check_bits(struct ergo_bench *bench, const char *job, bool *ok) {
    static const char *const sets[] = {"/replicas=1", "/scan={}", NULL};
    struct ergo_bench_run run;
    struct ergo_serial s = {0};
    uint64_t a = 0, b = 0;
    enum ergo_status status = ergo_bench_open(bench, job, sets, 5, &run);
    if (status != ERGO_OK)
        return status;
    const struct ising_shape shape = ising_shape_of(run.batch->points[0]);
    status = peer_begin(bench->ctx, (size_t)shape.lx, (size_t)shape.ly, ERGO_SERIAL_PHILOX,
                        run.batch->points[0]->stream, &s);
    if (status == ERGO_OK)
        status = ergo_bench_steps(&run, ORACLE_SWEEPS, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_digest(&run, 1, &a);
    if (status == ERGO_OK) {
        ergo_serial_sweeps(&s, ORACLE_SWEEPS);
        status = digest_of(bench->ctx, &s, &shape, &b);
    }
    *ok = status == ERGO_OK && a == b;
    ergo_serial_free(&s);
    ergo_bench_close(&run);
    return status;
}

/* z of the energy of 128 x 128 at Tc, by bins of 5,000 sweeps. */
static enum ergo_status check_energy(struct ergo_bench *bench, int generator, double *z) {
    struct ergo_serial s;
    struct ergo_ising_exact exact;
    double sum = 0, square = 0;
    enum ergo_status status = peer_begin(bench->ctx, 128, 128, generator, 20261121, &s);
    if (status != ERGO_OK)
        return status;
    ergo_ising_exact_torus(128, 128, atof(TC), 1.0, &exact);
    ergo_serial_sweeps(&s, LEAD);
    for (int b = 0; b < BINS; b++) {
        double bin = 0;
        for (int i = 0; i < SAMPLES; i++) {
            ergo_serial_sweeps(&s, EVERY);
            bin += ergo_serial_energy(&s) / SAMPLES;
        }
        sum += bin;
        square += bin * bin;
    }
    const double mean = sum / BINS;
    *z = (mean - exact.energy) / sqrt((square / BINS - mean * mean) / (BINS - 1));
    ergo_serial_free(&s);
    return ERGO_OK;
}

static enum ergo_status check_peers(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_text *verdict, bool *ok) {
    static double z[PEERS]; /* the same for all cases */
    static bool known;
    bool same = false;
    enum ergo_status status = check_bits(bench, what->job, &same);
    for (int g = 0; g < PEERS && !known && status == ERGO_OK; g++)
        status = check_energy(bench, peers[g].variant, &z[g]);
    if (status != ERGO_OK)
        return status;
    known = true;
    *ok = same && fabs(z[0]) < 4 && fabs(z[1]) < 4 && fabs(z[2]) < 4;
    ergo_text_append(
        verdict,
        "philox %s ergocl's bits after %d sweeps; energy of 128x128: z = %+.1f, %+.1f, %+.1f%s",
        same ? "=" : "DIFFERS FROM", ORACLE_SWEEPS, z[0], z[1], z[2], *ok ? "" : " WRONG");
    return ERGO_OK;
}

static const struct ergo_bench_axis axes[] = {
    {"path", {1, 3, 2}},
    {"work_group", {256, 128, 512, 64, 32}},
    {"tile_sweeps", {4, 2, 8, 3, 6, 1, 5}},
    {"tile_rows", {16, 32, 8, 64}},
};

const struct ergo_bench_suite ergo_bench_ising = {
    .sampler = "spin-lattice",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .ceiling = decisions,
    .peers = peers,
    .n_peers = PEERS,
    .check_peers = check_peers,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
