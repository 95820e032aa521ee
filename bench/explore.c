/* Rates over launch shapes, to choose the defaults of a device. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { REPEATS = 5, AXES = 6 };

struct search {
    struct ergo_bench *bench;
    const struct ergo_bench_case *what;
    struct ergo_text seen; /* launches seen so far, a line each: several values may give the same
                            * launch */
    double best;
    char best_words[256];
};

/* Tries a shape. One that cannot run here is left out, without an error. */
static void try_shape(struct search *s, const char *const *sets, const char *words) {
    struct ergo_bench_run run;
    struct ergo_bench_clocks t;
    char line[sizeof run.plan.path + sizeof run.plan.launch + 8];
    double rate[REPEATS];
    uint64_t n = 0;
    if (ergo_bench_plan(s->bench, s->what->job, sets, 1, &run) != ERGO_OK) {
        ergo_error_clear(s->bench->ctx);
        return;
    }
    snprintf(line, sizeof line, "\n%s: %s\n", run.plan.path, run.plan.launch);
    if (s->seen.data && strstr(s->seen.data, line))
        goto out;
    ergo_text_append(&s->seen, "%s", line);
    enum ergo_status status = ergo_bench_create(&run);
    if (status == ERGO_OK)
        status = ergo_bench_calibrate(&run, 0.03, &n);
    for (int i = 0; i < REPEATS && status == ERGO_OK; i++) {
        status = ergo_bench_steps(&run, n, &t);
        rate[i] = run.plan.work_per_step * (double)n * 1e-9 / t.wall;
    }
    if (status == ERGO_OK) {
        const struct ergo_bench_rate r = ergo_bench_rate_of(rate, REPEATS);
        const char *scale;
        const double factor = ergo_bench_scale(r.median, &scale);
        printf("%-18s %9.2f (%.2f .. %.2f)%s  %s: %s\n    %s\n", s->what->name, factor * r.median,
               factor * r.least, factor * r.most, scale, run.plan.path, run.plan.launch, words);
        if (r.median > s->best) {
            s->best = r.median;
            snprintf(s->best_words, sizeof s->best_words, "%s", words);
        }
    } else {
        printf("%-18s failed: %s\n    %s\n", s->what->name, ergo_error_message(s->bench->ctx),
               words);
        ergo_error_clear(s->bench->ctx);
    }
    fflush(stdout);
out:
    ergo_bench_close(&run);
}

enum ergo_status ergo_bench_explore(struct ergo_bench *bench, const struct ergo_bench_suite *suite,
                                    const struct ergo_bench_case *what, double seconds) {
    const double end = ergo_bench_wall() + seconds;
    struct search s = {.bench = bench, .what = what};
    char text[AXES][64];
    const char *sets[AXES + 1] = {NULL};
    size_t at[AXES] = {0}, axis = 0;
    const size_t n = suite->n_axes < AXES ? suite->n_axes : AXES;
    bool all = true;
    do {
        struct ergo_text words = {0};
        for (size_t a = 0; a < n; a++) {
            snprintf(text[a], sizeof text[a], "/tuning/%s=%u", suite->axes[a].tunable,
                     suite->axes[a].values[at[a]]);
            sets[a] = text[a];
            ergo_text_append(&words, "%s--set %s", a ? " " : "", text[a]);
        }
        try_shape(&s, sets, words.data ? words.data : "automatic");
        ergo_text_free(&words);
        /* next combination, as an odometer: the last axis changes fastest */
        for (axis = n; axis > 0; axis--) {
            if (suite->axes[axis - 1].values[++at[axis - 1]])
                break;
            at[axis - 1] = 0;
        }
        all = ergo_bench_wall() < end;
    } while (axis > 0 && all);
    if (s.best > 0) {
        const char *scale;
        const double factor = ergo_bench_scale(s.best, &scale);
        printf("best of %s: %.2f%s with %s%s\n", what->name, factor * s.best, scale, s.best_words,
               all ? "" : " (time ran out before all were tried)");
    }
    ergo_text_free(&s.seen);
    return ERGO_OK;
}
