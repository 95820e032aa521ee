/* ergo_analyse: reads runs, looks at the options, and asks for what they say. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "base/entry.h"
#include "base/parallel.h"
#include "result/format.h"
#include "page/sections.h"
#include "result/store.h"

enum ergo_status ergo_analysis_no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an analysis");
}

/* ---- runs and options ------------------------------------------------------------------------ */

static enum ergo_status load(struct ergo_context *ctx, struct ergo_analysis *a,
                             const char *const *directories) {
    enum ergo_status status = ERGO_OK;
    /* look at all folders, so that one call names all that are no runs */
    for (size_t r = 0; r < a->n_runs; r++) {
        a->names[r] = malloc(strlen(directories[r]) + 1);
        if (!a->names[r])
            return ergo_analysis_no_memory(ctx);
        strcpy(a->names[r], directories[r]);
        const enum ergo_status one = ergo_result_load(ctx, directories[r], &a->results[r]);
        status = status == ERGO_OK ? one : status;
        for (size_t q = 0; q < r && one == ERGO_OK && status == ERGO_OK; q++)
            for (size_t m = 0; m < a->results[r]->n_members; m++)
                for (size_t n = 0; n < a->results[q]->n_members && status == ERGO_OK; n++)
                    if (a->results[r]->members[m].point->stream ==
                            a->results[q]->members[n].point->stream &&
                        a->results[r]->job->sampler == a->results[q]->job->sampler)
                        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                                           "%s and %s have a chain in common (same seed, replica "
                                           "and parameters): its samples would count twice. %s",
                                           directories[q], directories[r],
                                           a->results[q]->n_parts && a->results[r]->n_parts
                                               ? "Parts of one run are merged first: ergocl merge"
                                               : "Leave one out, or run it with another seed");
    }
    return status;
}

static enum ergo_status read_keys(struct ergo_context *ctx, struct ergo_analysis *a,
                                  const struct ergo_analyse_options *o) {
    enum ergo_status status = ERGO_OK;
    if (o->n_reweight > ERGO_SCAN_MAX)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "--reweight: at most %d keys", ERGO_SCAN_MAX);
    for (size_t i = 0; i < o->n_reweight && status == ERGO_OK; i++) {
        struct ergo_wanted_key *wanted = &a->wanted[a->n_wanted++];
        status = ergo_target_parse(ctx, a, "--reweight", o->reweight[i], true, wanted);
        for (size_t k = 0; k < i && status == ERGO_OK; k++)
            if (a->wanted[k].key == wanted->key)
                status =
                    ERGO_FAIL(ctx, ERGO_E_JOB, "--reweight: %s is given twice", wanted->pointer);
    }
    a->critical = o->critical;
    if (status == ERGO_OK && o->critical) {
        if (o->n_reweight || o->coexistence)
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "--critical beside --reweight or --coexistence: one after the other");
        /* samples are weighted for other values of all keys that the job has of weights */
        for (size_t k = 0; k < a->job->n_keys && a->n_wanted < ERGO_SCAN_MAX; k++)
            if (ergo_analysis_is_conjugate(a, k) && a->job->points[0].values[k].present)
                a->wanted[a->n_wanted++] =
                    (struct ergo_wanted_key){a->job->keys[k]->pointer, k, 0, NULL};
    }
    if (status != ERGO_OK || !o->coexistence)
        return status;
    struct ergo_wanted_key key;
    status = ergo_target_parse(ctx, a, "--coexistence", o->coexistence, false, &key);
    if (status != ERGO_OK)
        return status;
    if (a->n_wanted && (a->n_wanted > 1 || a->wanted[0].key != key.key))
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "--coexistence %s with --reweight of another key: one after the other",
                         o->coexistence);
    if (!a->n_wanted)
        a->wanted[a->n_wanted++] = key;
    /* the last row that the key is in: an activity is N's, though mu acts by the temperature, too
     */
    for (size_t c = 0; c < a->model->n_conjugates; c++)
        for (size_t k = 0; k < 5 && a->model->conjugates[c].keys[k]; k++)
            if (strcmp(a->model->conjugates[c].keys[k], key.pointer) == 0)
                a->coexisting = &a->model->conjugates[c];
    return ERGO_OK;
}

/* Keys that are asked for have to be in all jobs, and no other key of weights may differ. */
static enum ergo_status check_keys(struct ergo_context *ctx, struct ergo_analysis *a, bool asked) {
    for (size_t s = 0; s < a->n_systems; s++)
        for (size_t t = 0; t < a->systems[s].n_states; t++) {
            const struct ergo_point *point = a->systems[s].states[t].point;
            for (size_t w = 0; w < a->n_wanted; w++)
                if (!point->values[a->wanted[w].key].present)
                    return ERGO_FAIL(ctx, ERGO_E_JOB,
                                     "%s is not in the job of %s: name the key that is",
                                     a->wanted[w].pointer, a->names[a->systems[s].chains[0].run]);
            for (size_t k = 0; k < a->job->n_keys; k++) {
                bool wanted = !ergo_analysis_is_conjugate(a, k);
                for (size_t w = 0; w < a->n_wanted; w++)
                    wanted = wanted || a->wanted[w].key == k;
                const double first = ergo_point_number(a->systems[s].states[0].point, k);
                const double now = ergo_point_number(point, k);
                if (wanted || first == now || (isnan(first) && isnan(now)))
                    continue;
                if (asked)
                    return ERGO_FAIL(
                        ctx, ERGO_E_JOB,
                        "points differ in %s, too: give it as well, by --reweight %s=...",
                        a->job->keys[k]->pointer, a->job->keys[k]->pointer);
                a->n_wanted = 0; /* there is no axis */
                a->axis = a->job->n_keys;
                return ERGO_OK;
            }
        }
    return ERGO_OK;
}

static bool is_slow(const struct ergo_analysis *a, size_t o) {
    const struct ergo_observable *observable = &a->model->observables[o];
    for (size_t s = 0; s < a->n_systems && observable->slow; s++)
        for (size_t t = 0; t < a->systems[s].n_states; t++)
            if (observable->slow(a->systems[s].states[t].point))
                return true;
    return false;
}

static enum ergo_status choose_observables(struct ergo_context *ctx, struct ergo_analysis *a,
                                           const struct ergo_analyse_options *o) {
    const struct ergo_point *point = a->systems[0].states[0].point;
    a->observables = calloc(a->model->n_observables + o->n_observables + 1, sizeof(size_t));
    if (o->n_observables)
        a->asked = calloc(a->model->n_observables + 1, sizeof *a->asked);
    if (!a->observables || (o->n_observables && !a->asked))
        return ergo_analysis_no_memory(ctx);
    for (size_t i = 0; i < o->n_observables; i++) {
        struct ergo_quantity q;
        enum ergo_status status =
            ergo_quantity_parse(ctx, a, "--observable", o->observables[i], &q);
        if (status == ERGO_OK && q.power != 0)
            status = ERGO_FAIL(ctx, ERGO_E_JOB, "--observable: \"%s\" has no power of L",
                               o->observables[i]);
        if (status == ERGO_OK)
            a->asked[q.observable] = true;
        if (status == ERGO_OK && (a->unweighted || ergo_analysis_can_weigh(a, q.observable)))
            a->observables[a->n_observables++] = q.observable;
        else if (status == ERGO_OK)
            status = ergo_analysis_note(
                ctx, a,
                "%s cannot be weighted: it is not made of single samples of configurations, or was "
                "recorded for one value of a key",
                a->model->observables[q.observable].name);
        if (status != ERGO_OK)
            return status;
    }
    for (size_t k = 0; k < a->model->n_observables && !o->n_observables; k++)
        if (ergo_observable_shown(&a->model->observables[k], point) &&
            ergo_analysis_can_weigh(a, k) && !is_slow(a, k))
            a->observables[a->n_observables++] = k;
    return ERGO_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct weighing {
    struct ergo_analysis *a;
    bool *done; /* [systems] */
};

static void weigh_system(size_t s, void *user) {
    struct weighing *w = user;
    w->done[s] = ergo_system_weigh(w->a, &w->a->systems[s]);
}

static enum ergo_status weigh_all(struct ergo_context *ctx, struct ergo_analysis *a) {
    struct weighing w = {a, calloc(a->n_systems + 1, sizeof *w.done)};
    enum ergo_status status = w.done ? ERGO_OK : ergo_analysis_no_memory(ctx);
    if (w.done)
        ergo_parallel(a->n_systems, SIZE_MAX, weigh_system, &w);
    for (size_t s = 0; s < a->n_systems && status == ERGO_OK; s++)
        if (!w.done[s])
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY,
                               "weighing the samples of %s%s%zu points failed: there is too little "
                               "memory, or the points are too far apart for common weights",
                               a->systems[s].label, *a->systems[s].label ? ", " : "",
                               a->systems[s].n_states);
    free(w.done);
    return status;
}

static enum ergo_status weigh(struct ergo_context *ctx, struct ergo_analysis *a) {
    enum ergo_status status = weigh_all(ctx, a);
    for (size_t s = 0; s < a->n_systems && status == ERGO_OK; s++) {
        struct ergo_system *system = &a->systems[s];
        for (size_t p = 0; p < system->n_parts && status == ERGO_OK; p++) {
            const struct ergo_part *part = system->parts[p];
            const struct ergo_chain *slow = &system->chains[part->slow_chain];
            char label[200];
            if (part->n_blocks)
                continue;
            ergo_report_label(label, sizeof label, a->results[slow->run], slow->member);
            status = ergo_analysis_note(
                ctx, a,
                "%s%stoo short for errors: the chains of %s%s%s have fewer than %d autocorrelation "
                "times of the slowest observable together, or one has fewer than %d; longer runs "
                "have them, or --observable chooses what is faster",
                system->label, *system->label ? ": " : "", a->names[slow->run], *label ? ", " : "",
                label, ERGO_ANALYSE_BLOCKS_MIN * ERGO_ANALYSE_BLOCK_TAU, ERGO_ANALYSE_CHAIN_TAU);
        }
    }
    if (status == ERGO_OK && a->n_systems && a->systems[0].n_parts > 1 && !a->wanted[0].n)
        status = ergo_analysis_note(ctx, a,
                                    "the points of %s do not all overlap: there are %zu parts, "
                                    "whose samples are weighted apart; points in between join them",
                                    *a->systems[0].label ? a->systems[0].label : a->names[0],
                                    a->systems[0].n_parts);
    return status;
}

/* Histograms of runs that are too narrow for them: what is analysed are series, which have all. */
static enum ergo_status note_ends(struct ergo_context *ctx, struct ergo_analysis *a) {
    enum ergo_status status = ERGO_OK;
    for (size_t r = 0; r < a->n_runs; r++)
        for (size_t c = 0; c < a->model->n_curves && status == ERGO_OK; c++) {
            const struct ergo_result_beyond b = ergo_result_beyond(a->results[r], c);
            if (b.chains)
                status = ergo_analysis_note(
                    ctx, a,
                    "%s of %s ends at %.10g, and up to %.3g%% of a chain's samples are beyond: it "
                    "is not the whole distribution%s",
                    a->model->curves[c].name, a->names[r], b.last, 100 * b.share,
                    a->unweighted ? "" : ". What is told here is made of the samples themselves");
        }
    return status;
}

static enum ergo_status read_window(struct ergo_context *ctx, const char *text, double *low,
                                    double *high) {
    char *end;
    *low = -INFINITY;
    *high = INFINITY;
    if (!text)
        return ERGO_OK;
    *low = strtod(text, &end);
    bool ok = end != text && *end == ':';
    text = ok ? end + 1 : text;
    *high = strtod(text, &end);
    ok = ok && end != text && !*end && isfinite(*low) && isfinite(*high) && *low < *high;
    return ok ? ERGO_OK
              : ERGO_FAIL(ctx, ERGO_E_JOB, "--window: write FROM:TO, two numbers of the axis");
}

/* What curves of sizes are compared by. */
static enum ergo_status choose_quantities(struct ergo_context *ctx, struct ergo_analysis *a,
                                          const struct ergo_analyse_options *o) {
    enum ergo_status status = ERGO_OK;
    const bool sizes = a->n_systems > 1 && a->axis < a->job->n_keys;
    a->scales = o->fit != NULL;
    a->crosses = o->crossing != NULL;
    if ((o->fit || o->crossing) && !sizes)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: %s", o->fit ? "--fit" : "--crossing",
                         a->n_systems > 1 ? "no number differs between the points"
                                          : "runs of two sizes or more are needed");
    if (o->fit)
        status = ergo_quantity_parse(ctx, a, "--fit", o->fit, &a->scaling_of);
    if (status == ERGO_OK && o->crossing)
        status = ergo_quantity_parse(ctx, a, "--crossing", o->crossing, &a->crossing);
    /* the first that is made of configurations, else the first: what can be weighted is exact */
    const struct ergo_observable *best = NULL;
    for (size_t k = 0; k < a->model->n_observables && sizes && !a->crosses; k++) {
        const struct ergo_observable *now = &a->model->observables[k];
        if (now->crosses && a->systems[0].side < a->systems[1].side &&
            ergo_observable_shown(now, a->systems[0].states[0].point) &&
            (!best || (!ergo_analysis_can_weigh(a, (size_t)(best - a->model->observables)) &&
                       ergo_analysis_can_weigh(a, k))))
            best = now;
    }
    if (best) {
        a->crosses = true;
        status = ergo_quantity_parse(ctx, a, "--crossing", best->name, &a->crossing);
    }
    return status;
}

enum ergo_status ergo_analysis_make(struct ergo_context *ctx, struct ergo_analysis *a,
                                    const struct ergo_analyse_options *o) {
    const bool asked = o->n_reweight || o->coexistence || o->critical;
    const double correction = o->correction > 0 ? o->correction : NAN;
    double low, high;
    a->job = a->results[0]->job;
    a->model = a->job->model;
    a->axis = a->job->n_keys;
    enum ergo_status status = read_window(ctx, o->window, &low, &high);
    if (status == ERGO_OK)
        status = read_keys(ctx, a, o);
    if (status == ERGO_OK)
        status = ergo_analysis_gather(ctx, a);
    if (status != ERGO_OK)
        return status;
    if (asked && a->unweighted)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "samples cannot be weighted. %s", a->unweighted);
    if (!a->unweighted && !a->n_wanted && a->axis < a->job->n_keys &&
        ergo_analysis_is_conjugate(a, a->axis)) {
        a->wanted[0] = (struct ergo_wanted_key){a->job->keys[a->axis]->pointer, a->axis, 0, NULL};
        a->n_wanted = 1;
    }
    if (!a->unweighted)
        status = check_keys(ctx, a, asked || o->crossing);
    else if (a->model->n_conjugates)
        status = ergo_analysis_note(ctx, a, "samples are not weighted. %s", a->unweighted);
    if (status == ERGO_OK)
        status = choose_observables(ctx, a, o);
    if (status == ERGO_OK)
        status = choose_quantities(ctx, a, o);
    if (status == ERGO_OK && !a->unweighted)
        status = weigh(ctx, a);
    if (status == ERGO_OK)
        status = ergo_analysis_pool(ctx, a);
    if (status == ERGO_OK && !a->unweighted && !a->critical)
        status = ergo_analysis_reweight(ctx, a);
    if (status == ERGO_OK && a->scales)
        status = ergo_analysis_scale(ctx, a, low, high, correction);
    if (status == ERGO_OK && a->crosses)
        status = ergo_analysis_cross(ctx, a, correction);
    if (status == ERGO_OK && a->coexisting)
        status = ergo_analysis_coexist(ctx, a);
    if (status == ERGO_OK && a->critical)
        status = ergo_analysis_find_critical(ctx, a);
    if (status == ERGO_OK)
        status = note_ends(ctx, a);
    if (status == ERGO_OK)
        status = ergo_analysis_matrix(ctx, a);
    if (status == ERGO_OK)
        status = ergo_analysis_excess(ctx, a);
    if (status == ERGO_OK && !a->n_pooled && !a->n_rows && !a->n_crossings && !a->n_coexistences &&
        !a->n_criticals && !a->n_matrices && !a->n_excesses && !a->n_notes && !a->scales)
        status = ergo_analysis_note(
            ctx, a, "nothing to add to what `ergocl table` prints: no point has several chains, %s",
            a->model->n_conjugates ? "and --reweight names no other values"
                                   : "and samples of this model are not weighted for others");
    return status;
}

enum ergo_status ergo_analyse(struct ergo_context *ctx, const char *const *directories,
                              size_t n_directories, const struct ergo_analyse_options *options,
                              struct ergo_analysis **analysis) {
    ERGO_CLEAR(analysis);
    ERGO_ENTRY(ctx, directories, analysis);
    const struct ergo_analyse_options none = {0};
    const struct ergo_analyse_options *o = options ? options : &none;
    enum ergo_status status =
        ergo_entry_texts(ctx, __func__, "directories", directories, n_directories);
    if (status == ERGO_OK && o->n_reweight)
        status = ergo_entry_texts(ctx, __func__, "options->reweight", o->reweight, o->n_reweight);
    if (status == ERGO_OK && o->n_observables)
        status = ergo_entry_texts(ctx, __func__, "options->observables", o->observables,
                                  o->n_observables);
    if (status == ERGO_OK && !n_directories)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "an analysis needs at least one run folder");
    if (status == ERGO_OK && !(o->correction >= 0 && o->correction <= 100))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "--correction: an exponent above 0, at most 100");
    if (status != ERGO_OK)
        return status;
    struct ergo_analysis *a = calloc(1, sizeof *a);
    if (!a)
        return ergo_analysis_no_memory(ctx);
    a->n_runs = n_directories;
    a->names = calloc(n_directories, sizeof *a->names);
    a->results = calloc(n_directories, sizeof(struct ergo_result *));
    status = a->names && a->results ? load(ctx, a, directories) : ergo_analysis_no_memory(ctx);
    if (status == ERGO_OK)
        status = ergo_analysis_make(ctx, a, o);
    status = ergo_memory_told(ctx, status);
    if (status == ERGO_OK)
        *analysis = a;
    else
        ergo_analysis_destroy(a);
    return status;
}

void ergo_analysis_destroy(struct ergo_analysis *a) {
    if (!a)
        return;
    for (size_t r = 0; r < a->n_runs; r++) {
        if (a->names)
            free(a->names[r]);
        if (a->results)
            ergo_result_destroy(a->results[r]);
    }
    for (size_t s = 0; s < a->n_systems; s++) {
        for (size_t p = 0; p < a->systems[s].n_parts; p++)
            ergo_part_destroy(a->systems[s].parts[p]);
        free(a->systems[s].parts);
        free(a->systems[s].states);
        free(a->systems[s].chains);
    }
    for (size_t w = 0; w < ERGO_SCAN_MAX; w++)
        free(a->wanted[w].values);
    for (size_t i = 0; i < a->n_pooled; i++)
        free(a->pooled[i].weights);
    for (size_t i = 0; i < a->n_rows; i++)
        free(a->rows[i].values);
    for (size_t i = 0; i < a->n_crossings; i++)
        free(a->crossings[i].delta);
    for (size_t i = 0; i < a->n_coexistences; i++) {
        struct ergo_coexistence *c = &a->coexistences[i];
        free(c->why_not);
        free(c->phases[0].values);
        free(c->phases[1].values);
        free(c->bins);
        free(c->density);
    }
    for (size_t i = 0; i < a->n_notes; i++)
        free(a->notes[i]);
    free(a->scaling.why_not);
    free(a->coexistences);
    free(a->criticals);
    for (size_t i = 0; i < a->n_matrices; i++)
        ergo_matrix_free(&a->matrices[i]);
    free(a->matrices);
    free(a->excesses);
    free(a->crossings);
    free(a->rows);
    free(a->pooled);
    free(a->observables);
    free(a->asked);
    free(a->systems);
    free(a->unweighted);
    free(a->notes);
    free(a->results);
    free(a->names);
    free(a);
}
