/* Rates of a case, repeated, after its answers were checked. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 16 };

struct ergo_bench_rate ergo_bench_rate_of(double *values, size_t n) {
    if (n == 0)
        return (struct ergo_bench_rate){0, NAN, NAN, NAN};
    ergo_stats_sort(values, n);
    return (struct ergo_bench_rate){n, 0.5 * (values[(n - 1) / 2] + values[n / 2]), values[0],
                                    values[n - 1]};
}

enum ergo_status ergo_bench_calibrate(struct ergo_bench_run *run, double seconds, uint64_t *steps) {
    struct ergo_bench_clocks t = {0};
    uint64_t n = 1;
    enum ergo_status status = ERGO_OK;
    /* the first two passes compile and warm up; the others find the number of steps for the wanted
     * time */
    for (int pass = 0; pass < 24 && status == ERGO_OK; pass++) {
        status = ergo_bench_steps(run, n, &t);
        if (pass < 2 || status != ERGO_OK)
            continue;
        if (t.wall > 0.5 * seconds)
            break;
        const double more = fmin(8.0, seconds / fmax(t.wall, 1e-6));
        n = (uint64_t)ceil((double)n * fmax(more, 1.2));
    }
    /* a multiple of the steps that make a launch */
    n = (uint64_t)fmax(1.0, (double)n * seconds / fmax(t.wall, 1e-9));
    *steps = n < 80 ? n : n / 80 * 80;
    return status;
}

/* The resource that limits this path (README.md). On CPUs per core in use, because other programs
 * use the rest. */
static void find_limit(const struct ergo_bench *bench, const struct ergo_bench_run *run,
                       struct ergo_bench_result *r) {
    double cost[ERGO_BENCH_RESOURCES] = {0};
    r->limit = INFINITY;
    r->limited_by = "";
    if (r->suite->cost)
        r->suite->cost(run, cost);
    for (int i = 0; i < ERGO_BENCH_RESOURCES; i++) {
        const struct ergo_bench_ceiling *c = &bench->ceilings[i];
        const double limit = (bench->gpu ? c->rate : c->per_core) / cost[i];
        if (cost[i] > 0 && limit < r->limit) {
            r->limit = limit;
            r->limited_by = c->label;
        }
    }
}

enum ergo_status ergo_bench_measure(struct ergo_bench *bench, struct ergo_bench_result *r) {
    struct ergo_bench_run run;
    struct ergo_bench_clocks t;
    double wall[ERGO_BENCH_REPEATS], device[ERGO_BENCH_REPEATS], core[ERGO_BENCH_REPEATS];
    double used[ERGO_BENCH_REPEATS], sampled[ERGO_BENCH_REPEATS];
    size_t events = 0;
    enum ergo_status status = ergo_bench_open(bench, r->what->job, NULL, 1, &run);
    if (status != ERGO_OK)
        return status;
    snprintf(r->path, sizeof r->path, "%s", run.plan.path);
    snprintf(r->launch, sizeof r->launch, "%s", run.plan.launch);
    r->members = run.batch->count;
    find_limit(bench, &run, r);

    const double slice = bench->seconds / (2 * ERGO_BENCH_REPEATS);
    const uint64_t every = (uint64_t)ergo_point_int(run.batch->points[0], "/run/measure_every");
    uint64_t fit = 1; /* steps that take a slice */
    status = ergo_bench_calibrate(&run, slice, &fit);
    /* several blocks, as in a run, if they are short: the host's work on the last one is not
     * hidden. If a sample takes longer than the timed steps, three have to do. */
    const size_t least = fit < every ? 1 : (size_t)(fit / every);
    const size_t wish = BLOCKS * ergo_bench_block(&run, every);
    const size_t samples = wish < least ? least : wish < 4 * least ? wish : 4 * least;
    const double end = ergo_bench_wall() + 1.5 * bench->seconds;
    size_t n = 0;
    const uint64_t steps = r->steps = every * samples;
    const double work = run.plan.work_per_step * (double)steps * 1e-9;
    /* in turns, each first as often as the other and both as long, because a fluid that leaves its
     * lattice changes its rate */
    for (int i = -1; i < ERGO_BENCH_REPEATS && status == ERGO_OK; i++) {
        struct ergo_bench_clocks measured = {0};
        const bool bare_first = i & 1;
        if (i >= 0 && bare_first)
            status = ergo_bench_steps(&run, steps, &t);
        if (status == ERGO_OK)
            status = ergo_bench_sample(&run, samples, every, NULL, &measured);
        if (i < 0)
            continue;
        if (status == ERGO_OK && !bare_first)
            status = ergo_bench_steps(&run, steps, &t);
        if (status != ERGO_OK)
            break;
        sampled[n] = work / measured.wall;
        wall[n] = work / t.wall;
        core[n] = work / t.cpu;
        used[n] = t.cpu / t.wall;
        if (t.device > 0)
            device[events++] = work / t.device;
        if (++n >= 3 && ergo_bench_wall() > end)
            break;
    }
    /* As many sweeps as the kernels need `seconds` for, in whole samples. */
    const double wanted = r->what->classes & ERGO_BENCH_AS_GIVEN
                              ? (double)ergo_point_int(run.batch->points[0], "/run/sweeps")
                              : (double)fit * bench->seconds / slice;
    if (status == ERGO_OK)
        status = ergo_bench_whole_run(bench, r->what->job, run.plan.work_per_step,
                                      (uint64_t)fmax(1, round(wanted / (double)every)) * every,
                                      &r->whole);
    r->useful = 1;
    if (status == ERGO_OK && r->suite->useful)
        status = r->suite->useful(&run, &r->useful);
    if (status == ERGO_OK) {
        r->wall = ergo_bench_rate_of(wall, n);
        r->device = ergo_bench_rate_of(device, events);
        r->per_core = ergo_bench_rate_of(core, n);
        r->measured = ergo_bench_rate_of(sampled, n);
        r->share = (bench->gpu ? r->wall.median : r->per_core.median) / r->limit;
        r->cores = ergo_bench_rate_of(used, n).median;
    }
    ergo_bench_close(&run);
    return status;
}
