/* Rates over launch shapes, for whoever chooses the defaults of a device. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const unsigned groups[] = {256, 128, 512, 64, 32};
static const unsigned sweeps[] = {4, 2, 8, 3, 6, 1, 5};
static const unsigned rows[] = {16, 32, 8, 64};

enum { REPEATS = 5 };

struct best {
    struct ergo_bench_shape shape;
    double rate;
};

/* A shape that cannot run here is not an error: it is left out. */
static void try_shape(struct ergo_bench *bench, const struct ergo_bench_case *what,
                      const struct ergo_bench_shape *shape, struct best *best) {
    static const char *const names[] = {"", "local", "tile", "global"};
    struct ergo_bench_run run;
    struct ergo_bench_clocks t;
    double rate[REPEATS];
    uint64_t n = 0;
    if (ergo_bench_open(bench->ctx, bench->device, what, shape, 1, &run) != ERGO_OK) {
        ergo_error_clear(bench->ctx);
        return;
    }
    const struct ising_launch *l = &((const struct ising_state *)run.state)->launch;
    enum ergo_status status = ERGO_OK;
    /* the plan takes another path or a smaller group where the wish does not fit */
    const bool fixed_group = l->lanes && shape->path == ISING_PATH_LOCAL;
    if (strcmp(run.plan.path, names[shape->path]) != 0 ||
        (fixed_group ? shape->group != groups[0] : l->group != shape->group))
        goto out;
    status = ergo_bench_calibrate(&run, 0.03, &n);
    /* whole tile launches */
    n = shape->path == 2 ? (n + shape->sweeps - 1) / shape->sweeps * shape->sweeps : n;
    for (int i = 0; i < REPEATS && status == ERGO_OK; i++) {
        status = ergo_bench_sweep(&run, n, &t);
        rate[i] = run.spins * (double)n * 1e-9 / t.wall;
    }
    if (status == ERGO_OK) {
        const struct ergo_bench_rate r = ergo_bench_rate_of(rate, REPEATS);
        printf("%-18s %-7s %5u %7u %5u %11.1f   %.1f .. %.1f\n", what->name, run.plan.path,
               l->group, shape->sweeps, shape->rows, r.median, r.least, r.most);
        fflush(stdout);
        if (r.median > best->rate)
            *best = (struct best){*shape, r.median};
    }
out:
    if (status != ERGO_OK) {
        printf("%-18s %-7s %5u %7u %5u   failed: %s\n", what->name, names[shape->path],
               shape->group, shape->sweeps, shape->rows, ergo_error_message(bench->ctx));
        ergo_error_clear(bench->ctx);
    }
    ergo_bench_close(&run);
}

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum ergo_status ergo_bench_explore(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    double seconds) {
    const double end = ergo_bench_wall() + seconds;
    struct best best = {.rate = 0};
    bool all = true;
    for (unsigned path = 1; path <= 3; path++) {
        if (path == 2)
            continue; /* the many: last */
        for (size_t g = 0; g < COUNT(groups) && (all = ergo_bench_wall() < end); g++) {
            const struct ergo_bench_shape s = {.path = path, .group = groups[g]};
            try_shape(bench, what, &s, &best);
        }
    }
    for (size_t g = 0; g < COUNT(groups) && all; g++) {
        for (size_t k = 0; k < COUNT(sweeps) && all; k++) {
            for (size_t r = 0; r < COUNT(rows) && (all = ergo_bench_wall() < end); r++) {
                const struct ergo_bench_shape s = {
                    .path = 2, .group = groups[g], .sweeps = sweeps[k], .rows = rows[r]};
                try_shape(bench, what, &s, &best);
            }
        }
    }
    if (best.rate > 0)
        printf("best of %-10s path %u, work_group %u, tile_sweeps %u, tile_rows %u: %.1f "
               "updates/ns%s\n",
               what->name, best.shape.path, best.shape.group, best.shape.sweeps, best.shape.rows,
               best.rate, all ? "" : " (time ran out before all were tried)");
    return ERGO_OK;
}
