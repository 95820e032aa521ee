/* Answers before clocks. Every case must give the serial oracle's bits on a lattice small enough
 * for it, on the path and with the row length that will be timed; large ones the same bits by two
 * paths; and the physics must be right. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/ising_serial.h"
#include "samplers/spin_lattice/exact.h"
#include "serial_ising.h"

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

/* Digest after ORACLE_SWEEPS; *path is the path taken. */
static enum ergo_status digest_by(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                  const struct ergo_bench_shape *shape, size_t members,
                                  uint64_t *digest, char path[64], struct ergo_text *oracle) {
    struct ergo_bench_run run;
    enum ergo_status status = ergo_bench_open(bench->ctx, bench->device, what, shape, 99, &run);
    if (status != ERGO_OK)
        return status;
    if (members > run.batch->count)
        members = run.batch->count;
    snprintf(path, 64, "%s", run.plan.path);
    status = ergo_bench_sweep(&run, ORACLE_SWEEPS, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_digest(&run, members, digest);
    for (size_t m = 0; oracle && m < members && status == ERGO_OK; m++)
        status = oracle_rows(bench->ctx, run.batch->points[m], oracle);
    ergo_bench_close(&run);
    return status;
}

static unsigned path_number(const char *name) {
    return strcmp(name, "local") == 0 ? 1 : strcmp(name, "tile") == 0 ? 2 : 3;
}

/* The path that the case takes by itself. */
static enum ergo_status path_of(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                char path[64]) {
    struct ergo_bench_run run;
    const struct ergo_bench_shape shape = {0};
    enum ergo_status status = ergo_bench_open(bench->ctx, bench->device, what, &shape, 99, &run);
    if (status != ERGO_OK)
        return status;
    snprintf(path, 64, "%s", run.plan.path);
    ergo_bench_close(&run);
    return ERGO_OK;
}

static enum ergo_status against_oracle(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                       const char *path, struct ergo_text *out, bool *ok) {
    struct ergo_bench_case small = *what;
    struct ergo_bench_shape shape = {.path = path_number(path)};
    struct ergo_text rows = {0};
    char taken[64] = "";
    uint64_t digest = 0;
    if (small.ly * small.lx > (size_t)1 << 18)
        small.ly = ORACLE_ROWS;
    if (small.replicas > ORACLE_REPLICAS)
        small.replicas = ORACLE_REPLICAS;
    enum ergo_status status = digest_by(bench, &small, &shape, SIZE_MAX, &digest, taken, &rows);
    if (status == ERGO_OK) {
        const bool same = digest == ergo_hash64(rows.data, rows.length);
        const bool same_path = strcmp(taken, path) == 0;
        *ok = *ok && same && same_path;
        ergo_text_append(out, "%s %zux%zu %s the oracle%s", taken, small.lx, small.ly,
                         same ? "=" : "DIFFERS FROM", same_path ? "" : " (ANOTHER PATH)");
    }
    ergo_text_free(&rows);
    return status;
}

/* The whole case by its own path and by another, if there is one. */
static enum ergo_status against_itself(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                       const char *path, struct ergo_text *out, bool *ok) {
    const bool global = strcmp(path, "global") == 0;
    const struct ergo_bench_shape mine = {0};
    const struct ergo_bench_shape other = {.path = global ? 2 : 3, .group = global ? 256 : 64};
    char path_mine[64] = "", path_other[64] = "";
    uint64_t a = 0, b = 0;
    enum ergo_status status = digest_by(bench, what, &mine, DIGEST_MEMBERS, &a, path_mine, NULL);
    if (status == ERGO_OK)
        status = digest_by(bench, what, &other, DIGEST_MEMBERS, &b, path_other, NULL);
    if (status == ERGO_OK) {
        *ok = *ok && a == b;
        ergo_text_append(out, "; %s %s %s in groups of %u", path_mine,
                         a == b ? "=" : "DIFFERS FROM", path_other, other.group);
    }
    return status;
}

/* Mean energy of each member over `samples` samples. */
static enum ergo_status energies(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                 uint64_t equilibration, size_t samples, uint64_t every,
                                 double **mean, size_t *members, double *exact) {
    struct ergo_bench_run run;
    const struct ergo_bench_shape shape = {0};
    double *series = NULL;
    *mean = NULL;
    enum ergo_status status = ergo_bench_open(bench->ctx, bench->device, what, &shape, 7, &run);
    if (status != ERGO_OK)
        return status;
    *members = run.batch->count;
    *mean = calloc(*members, sizeof **mean);
    series = calloc(samples * *members, sizeof *series);
    if (!*mean || !series)
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for energies");
    if (status == ERGO_OK)
        status = ergo_bench_sweep(&run, equilibration, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_sample(&run, samples, every, series, NULL);
    for (size_t i = 0; i < samples * *members && status == ERGO_OK; i++)
        (*mean)[i % *members] += series[i] / (double)samples;
    for (size_t m = 0; exact && m < *members && status == ERGO_OK; m++)
        exact[m] = run.sampler->ops->exact(run.batch->points[m], "energy");
    free(series);
    ergo_bench_close(&run);
    return status;
}

static enum ergo_status physics(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                struct ergo_text *out, bool *ok) {
    double *mean = NULL, exact[64] = {0};
    size_t members = 0;
    enum ergo_status status;
    if (what->scan) {
        const uint64_t lead = bench->gpu ? 20000 : 4000;
        status = energies(bench, what, lead, 100, bench->gpu ? 200 : 50, &mean, &members, exact);
        double worst = 0;
        for (size_t m = 0; m < members && status == ERGO_OK; m++)
            worst = fmax(worst, fabs(mean[m] - exact[m]));
        /* one chain each, and slow near Tc: a coarse bound; the bits are the proof */
        if (status == ERGO_OK) {
            *ok = *ok && worst < 0.03;
            ergo_text_append(out, "; energies within %.3f of the exact ones%s", worst,
                             worst < 0.03 ? "" : " TOO FAR");
        }
    } else if (what->replicas >= 16) {
        const uint64_t lead = bench->gpu ? 40000 : 10000;
        status = energies(bench, what, lead, 100, bench->gpu ? 200 : 100, &mean, &members, NULL);
        struct ergo_ising_exact e = {0, 0};
        ergo_ising_exact_torus((int64_t)what->lx, (int64_t)what->ly, atof(ERGO_BENCH_TC), 1.0, &e);
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
        status = energies(bench, what, QUENCH_SWEEPS - 10, 1, 10, &mean, &members, NULL);
        if (status == ERGO_OK) {
            const double l = sqrt((double)what->lx * (double)what->ly);
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

enum ergo_status ergo_bench_check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                  char *verdict, size_t size, bool *ok) {
    struct ergo_text out = {0};
    char path[64] = "";
    *ok = true;
    enum ergo_status status = path_of(bench, what, path);
    if (status == ERGO_OK)
        status = against_oracle(bench, what, path, &out, ok);
    if (status == ERGO_OK)
        status = against_itself(bench, what, path, &out, ok);
    if (status == ERGO_OK)
        status = physics(bench, what, &out, ok);
    if (status == ERGO_OK && out.failed)
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for a verdict");
    snprintf(verdict, size, "%s", out.data ? out.data : "");
    ergo_text_free(&out);
    return status;
}
