/* Rates of a case, repeated, after its answers were checked. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct ergo_bench_rate ergo_bench_rate_of(double *values, size_t n) {
    if (n == 0)
        return (struct ergo_bench_rate){0, NAN, NAN, NAN};
    qsort(values, n, sizeof *values, ascending);
    return (struct ergo_bench_rate){n, 0.5 * (values[(n - 1) / 2] + values[n / 2]), values[0],
                                    values[n - 1]};
}

enum ergo_status ergo_bench_calibrate(struct ergo_bench_run *run, double seconds,
                                      uint64_t *sweeps) {
    struct ergo_bench_clocks t = {0};
    uint64_t n = 1;
    enum ergo_status status = ERGO_OK;
    /* the first two compile and warm up; the rest lead to the wished time */
    for (int pass = 0; pass < 24 && status == ERGO_OK; pass++) {
        status = ergo_bench_sweep(run, n, &t);
        if (pass < 2 || status != ERGO_OK)
            continue;
        if (t.wall > 0.5 * seconds)
            break;
        const double more = fmin(8.0, seconds / fmax(t.wall, 1e-6));
        n = (uint64_t)ceil((double)n * fmax(more, 1.2));
    }
    /* whole groups of sampled and tiled sweeps */
    n = (uint64_t)fmax(1.0, (double)n * seconds / fmax(t.wall, 1e-9));
    *sweeps = n < 80 ? n : n / 80 * 80;
    return status;
}

/*
 * The least that this algorithm needs (README.md): eight Philox calls for 128 spins; and, where the
 * lattice goes through memory once per colour, 3/8 byte per update: a bit each of own and other
 * colour in, own out, for each of two half-sweeps. A stripe with halos reads and writes once per
 * launch.
 */
static void limit_of(const struct ergo_bench *bench, const struct ising_launch *l,
                     struct ergo_bench_result *r) {
    /* CPUs: per core in use, because other people's programs take the rest */
    const double philox =
        (bench->gpu ? bench->ceilings.philox : bench->ceilings.philox_cpu) * 128.0 / 8.0;
    double bytes = 0;
    if (l->path == ISING_PATH_GLOBAL)
        bytes = 3.0 / 8.0;
    else if (l->path == ISING_PATH_TILE)
        bytes = (2.0 + 4.0 * l->sweeps / l->rows) / (8.0 * l->sweeps);
    const double copy = bytes > 0 ? bench->ceilings.copy / bytes : INFINITY;
    r->limit = fmin(philox, copy);
    r->limited_by = philox < copy ? "Philox" : "memory";
}

enum ergo_status ergo_bench_measure(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_bench_result *r) {
    const struct ergo_bench_shape shape = {0};
    struct ergo_bench_run run;
    struct ergo_bench_clocks t;
    double wall[ERGO_BENCH_REPEATS], device[ERGO_BENCH_REPEATS], core[ERGO_BENCH_REPEATS];
    double used[ERGO_BENCH_REPEATS], sampled[ERGO_BENCH_REPEATS];
    size_t events = 0;
    enum ergo_status status = ergo_bench_open(bench->ctx, bench->device, what, &shape, 1, &run);
    if (status != ERGO_OK)
        return status;
    snprintf(r->path, sizeof r->path, "%s", run.plan.path);
    snprintf(r->launch, sizeof r->launch, "%s", run.plan.launch);
    limit_of(bench, &((const struct ising_state *)run.state)->launch, r);

    const double slice = bench->seconds / (2 * ERGO_BENCH_REPEATS);
    status = ergo_bench_calibrate(&run, slice, &r->sweeps);
    for (int i = 0; i < ERGO_BENCH_REPEATS && status == ERGO_OK; i++) {
        status = ergo_bench_sweep(&run, r->sweeps, &t);
        const double work = run.spins * (double)r->sweeps * 1e-9;
        wall[i] = work / t.wall;
        core[i] = work / t.cpu;
        used[i] = t.cpu / t.wall;
        if (t.device > 0)
            device[events++] = work / t.device;
    }
    const size_t samples = r->sweeps < 20 ? 2 : (size_t)(r->sweeps / 10);
    for (int i = -1; i < ERGO_BENCH_REPEATS && status == ERGO_OK; i++) {
        status = ergo_bench_sample(&run, samples, 10, NULL, &t);
        if (i >= 0)
            sampled[i] = run.spins * 10.0 * (double)samples * 1e-9 / t.wall;
    }
    if (status == ERGO_OK) {
        r->wall = ergo_bench_rate_of(wall, ERGO_BENCH_REPEATS);
        r->device = ergo_bench_rate_of(device, events);
        r->per_core = ergo_bench_rate_of(core, ERGO_BENCH_REPEATS);
        r->measured = ergo_bench_rate_of(sampled, ERGO_BENCH_REPEATS);
        r->share = (bench->gpu ? r->wall.median : r->per_core.median) / r->limit;
        r->cores = ergo_bench_rate_of(used, ERGO_BENCH_REPEATS).median;
    }
    ergo_bench_close(&run);
    return status;
}
