/* The table of reweighted observables: one row for each value of the keys that are asked for. */
#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/analyse.h"
#include "base/parallel.h"

/* Of a table that nobody asked for: about as many, and one at each state. */
enum { ROWS_DEFAULT = 21 };

struct rows {
    const struct ergo_analysis *a;
    atomic_bool failed;
};

static void fill_row(size_t i, void *user) {
    struct rows *rows = user;
    const struct ergo_analysis *a = rows->a;
    struct ergo_reweighted *row = &a->rows[i];
    const struct ergo_system *system = &a->systems[row->system];
    const size_t n = a->n_observables;
    struct ergo_target target = {0};
    double *value = calloc(n + 1, sizeof *value);
    double *blocks = calloc(ERGO_ANALYSE_BLOCKS * (n + 1), sizeof *blocks);
    row->values = calloc(n + 1, sizeof *row->values);
    bool ok = value && blocks && row->values && ergo_target_create(a, system, row->at, &target);
    const struct ergo_part *part = ok ? ergo_system_part(system, &target, &row->independent) : NULL;
    ok = part != NULL;
    if (ok && row->independent >= ERGO_ANALYSE_INDEPENDENT) {
        ok = ergo_part_values(part, &target, NULL, a->observables, n, value, blocks, NULL);
        for (size_t k = 0; k < n && ok; k++)
            row->values[k] = ergo_jackknife(value[k], blocks + k, part->n_blocks, n, NULL);
    }
    if (!ok)
        rows->failed = true;
    ergo_target_free(&target);
    free(value);
    free(blocks);
}

/* The axis at row i of those that nobody chose: states, with as many rows between two of them. */
static double default_at(const struct ergo_system *system, size_t i, size_t between) {
    const struct ergo_state *state = &system->states[i / between];
    const double t = (double)(i % between) / (double)between;
    return t > 0 ? (1 - t) * state[0].x + t * state[1].x : state[0].x;
}

/* One row for each value, or each combination of them. */
static size_t add_rows(struct ergo_analysis *a, size_t s) {
    const struct ergo_system *system = &a->systems[s];
    const size_t steps = system->n_states - 1;
    const size_t between = steps && steps < ROWS_DEFAULT ? (ROWS_DEFAULT - 1) / steps : 1;
    size_t n = 1;
    if (!a->wanted[0].n)
        n = steps ? steps * between + 1 : 0;
    for (size_t w = 0; w < a->n_wanted && a->wanted[0].n; w++)
        n *= a->wanted[w].n;
    for (size_t i = 0; i < n && a->rows; i++) {
        struct ergo_reweighted *row = &a->rows[a->n_rows++];
        *row = (struct ergo_reweighted){.system = s};
        if (!a->wanted[0].n)
            row->at[0] = default_at(system, i, between);
        size_t rest = i;
        for (size_t w = a->n_wanted; w-- > 0 && a->wanted[0].n;) {
            row->at[w] = a->wanted[w].values[rest % a->wanted[w].n];
            rest /= a->wanted[w].n;
        }
    }
    return n;
}

enum ergo_status ergo_analysis_reweight(struct ergo_context *ctx, struct ergo_analysis *a) {
    enum { ROWS_MAX = 1000000 };
    struct rows rows = {a, false};
    double n = 0, samples = 0;
    bool inside = false;
    if (!a->n_observables || !a->n_wanted)
        return ERGO_OK;
    for (size_t s = 0; s < a->n_systems; s++) {
        n += (double)add_rows(a, s);
        for (size_t c = 0; c < a->systems[s].n_chains; c++)
            samples += (double)ergo_member_taken(a->systems[s].chains[c].member);
    }
    if (n > ROWS_MAX)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "--reweight: %.3g points; at most %d", n, ROWS_MAX);
    a->rows = calloc((size_t)n + 1, sizeof *a->rows);
    if (!a->rows)
        return ergo_analysis_no_memory(ctx);
    for (size_t s = 0; s < a->n_systems; s++)
        (void)add_rows(a, s);
    ergo_parallel(a->n_rows, ergo_analysis_cores(samples * (double)a->n_rows), fill_row, &rows);
    if (rows.failed)
        return ergo_analysis_no_memory(ctx);
    struct ergo_text ranges = {0};
    for (size_t s = 0; s < a->n_systems; s++) {
        const struct ergo_system *system = &a->systems[s];
        for (size_t p = 0; p < system->n_parts; p++) {
            if (system->parts[p]->n_ranges)
                ergo_text_append(&ranges, "%s%s%s", ranges.length ? "; " : "", system->label,
                                 *system->label ? ": " : "");
            ergo_part_append_ranges(&ranges, system->parts[p]);
        }
    }
    size_t outside = 0;
    for (size_t i = 0; i < a->n_rows; i++) {
        inside = inside || a->rows[i].independent >= ERGO_ANALYSE_INDEPENDENT;
        outside += a->rows[i].independent < ERGO_ANALYSE_INDEPENDENT;
    }
    const char *short_ones = "none: points are too short, with fewer than 100 independent samples";
    enum ergo_status status = ERGO_OK;
    if (outside && !inside && a->wanted[0].n)
        status =
            ERGO_FAIL(ctx, ERGO_E_JOB,
                      "--reweight: outside of the overlap of the samples, where fewer than %d "
                      "independent ones would be left for the error to rest on. %s allowed: %s",
                      ERGO_ANALYSE_INDEPENDENT, a->wanted[0].pointer,
                      ranges.length ? ranges.data : short_ones);
    else if (outside)
        status = ergo_analysis_note(
            ctx, a,
            "%zu of %zu values are outside of the overlap of the samples, "
            "where fewer than %d independent ones would be left for the error to "
            "rest on. %s "
            "inside: %s",
            outside, a->n_rows, ERGO_ANALYSE_INDEPENDENT, a->wanted[0].pointer,
            ranges.length ? ranges.data : short_ones);
    ergo_text_free(&ranges);
    return status;
}
