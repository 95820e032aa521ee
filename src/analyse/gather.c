/* Members of several results become chains of states of systems. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "result/format.h"

double ergo_point_number(const struct ergo_point *point, size_t key) {
    const struct ergo_value *value = &point->values[key];
    if (!value->present)
        return NAN;
    const enum ergo_key_type type = ergo_value_type(point->job->keys[key], value);
    return type == ERGO_KEY_REAL  ? value->real
           : type == ERGO_KEY_INT ? (double)value->integer
                                  : NAN;
}

void ergo_point_sides(const struct ergo_point *point, double sides[3]) {
    const struct ergo_value *box = ergo_point_value(point, "/system/box");
    for (size_t k = 0; k < 3; k++)
        sides[k] = box->items ? box->reals[k] : box->real;
}

size_t ergo_analysis_key(const struct ergo_analysis *a, const char *pointer) {
    for (size_t key = 0; key < a->job->n_keys; key++)
        if (strcmp(a->job->keys[key]->pointer, pointer) == 0)
            return key;
    return SIZE_MAX;
}

double ergo_analysis_number(const struct ergo_analysis *a, const struct ergo_point *point,
                            const char *pointer) {
    const size_t key = ergo_analysis_key(a, pointer);
    return key == SIZE_MAX ? NAN : ergo_point_number(point, key);
}

bool ergo_analysis_is_conjugate(const struct ergo_analysis *a, size_t key) {
    for (size_t c = 0; c < a->model->n_conjugates; c++)
        for (size_t k = 0; k < 5 && a->model->conjugates[c].keys[k]; k++)
            if (strcmp(a->model->conjugates[c].keys[k], a->job->keys[key]->pointer) == 0)
                return true;
    return false;
}

enum ergo_status ergo_analysis_note(struct ergo_context *ctx, struct ergo_analysis *a,
                                    const char *format, ...) {
    struct ergo_text text = {0};
    va_list args;
    va_start(args, format);
    ergo_text_append_va(&text, format, args);
    va_end(args);
    char *note = ergo_text_take(&text);
    char **notes = note ? realloc(a->notes, (a->n_notes + 1) * sizeof *notes) : NULL;
    if (!notes) {
        free(note);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an analysis");
    }
    notes[a->n_notes++] = note;
    a->notes = notes;
    return ERGO_OK;
}

/* ---- values of keys -------------------------------------------------------------------------- */

/* The contents of files count, not their names. What was chosen at each point was so among those
 * that sample the same weights. */
static bool same_value(const struct ergo_point *p, const struct ergo_point *q, size_t key) {
    const struct ergo_key *k = p->job->keys[key];
    const struct ergo_value *v = &p->values[key], *w = &q->values[key];
    const struct ergo_job_file *f = ergo_job_files_find(&p->job->files, k->pointer);
    const struct ergo_job_file *g = ergo_job_files_find(&q->job->files, k->pointer);
    if (f && g && v->present && w->present)
        return f->length == g->length && memcmp(f->text, g->text, f->length) == 0;
    return (k->instead && !v->given && !w->given) || ergo_value_same(k, v, w);
}

/* What a chain depends on beside its seed and replica, and what the seeds of disorder are. */
static bool is_physics(const struct ergo_key *key) {
    return strncmp(key->pointer, "/system/", 8) == 0 &&
           ((key->flags & (ERGO_KEY_CHAIN | ERGO_KEY_FILE)) || key->type == ERGO_KEY_SEED);
}

bool ergo_analysis_differs(const struct ergo_analysis *a, const struct ergo_point *p,
                           const struct ergo_point *q, size_t key, const char *const *but) {
    for (; *but; but++)
        if (strcmp(*but, a->job->keys[key]->pointer) == 0)
            return false;
    return is_physics(a->job->keys[key]) && !same_value(p, q, key);
}

bool ergo_analysis_alike(const struct ergo_analysis *a, const struct ergo_point *p,
                         const struct ergo_point *q, const char *const *but) {
    for (size_t k = 0; k < a->job->n_keys; k++)
        if (ergo_analysis_differs(a, p, q, k, but))
            return false;
    return true;
}

/* May the key differ between the states of a system? */
static bool is_of_state(const struct ergo_analysis *a, size_t key) {
    return key == a->axis || (!a->unweighted && ergo_analysis_is_conjugate(a, key));
}

static bool same_system(const struct ergo_analysis *a, const struct ergo_point *p,
                        const struct ergo_point *q) {
    for (size_t k = 0; k < a->job->n_keys; k++)
        if (is_physics(a->job->keys[k]) && !is_of_state(a, k) && !same_value(p, q, k))
            return false;
    return true;
}

static bool same_state(const struct ergo_analysis *a, const struct ergo_point *p,
                       const struct ergo_point *q) {
    for (size_t k = 0; k < a->job->n_keys; k++)
        if (is_of_state(a, k) && !same_value(p, q, k))
            return false;
    return true;
}

/* ---- the axis -------------------------------------------------------------------------------- */

static size_t distinct_values(const struct ergo_analysis *a, size_t key, double *room) {
    size_t n = 0, distinct = 0;
    for (size_t r = 0; r < a->n_runs; r++)
        for (size_t m = 0; m < a->results[r]->n_members; m++) {
            room[n] = ergo_point_number(a->results[r]->members[m].point, key);
            if (isnan(room[n++]))
                return 0;
        }
    ergo_stats_sort(room, n);
    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || room[i] != room[i - 1];
    return distinct;
}

/* The number of most values in which points differ; one that weights depend on goes before others,
 * and where nothing differs the first of these is the axis. */
static void choose_axis(struct ergo_analysis *a, double *room) {
    size_t most = 0;
    a->axis = a->job->n_keys;
    for (size_t k = 0; k < a->job->n_keys; k++) {
        const struct ergo_key *key = a->job->keys[k];
        if (key->type != ERGO_KEY_REAL || !is_physics(key))
            continue;
        const bool conjugate = ergo_analysis_is_conjugate(a, k) && !a->unweighted;
        const size_t n = distinct_values(a, k, room);
        if (n < (conjugate ? 1u : 2u))
            continue;
        const size_t rank = n == 1 ? 1 : conjugate ? n + SIZE_MAX / 2 : n;
        if (rank > most) {
            most = rank;
            a->axis = k;
        }
    }
}

/* ---- systems --------------------------------------------------------------------------------- */

void ergo_chain_columns(const struct ergo_chain *chain, size_t i, double *columns) {
    const struct ergo_member_result *m = chain->member;
    for (size_t k = 0; k < chain->n_columns; k++) {
        const double *series = m->series[chain->columns[k]];
        columns[chain->columns[k]] = series ? series[m->n_equilibration + i] : 0;
    }
}

static int by_x(const void *a, const void *b) {
    const struct ergo_state *s = a, *t = b;
    return s->x < t->x ? -1 : s->x > t->x ? 1 : (s->first > t->first) - (s->first < t->first);
}

/* Where couplings or fields are drawn: the seed that they have, beside the replica. */
static uint64_t disorder_of(const struct ergo_analysis *a, const struct ergo_point *point) {
    static const char *const seeds[] = {"/system/disorder_seed", "/seed"};
    for (size_t i = 0; i < 2 && ergo_point_samples_disorder(point); i++) {
        const size_t key = ergo_analysis_key(a, seeds[i]);
        if (key != SIZE_MAX && point->values[key].present)
            return point->values[key].seed;
    }
    return 0;
}

/* Its seed and replica: a sample that others may have, too. */
struct draw {
    uint64_t disorder;
    uint32_t replica;
};

static struct draw draw_of(const struct ergo_chain *chain) {
    return (struct draw){chain->disorder, chain->member->point->replica};
}

static int by_draw(const void *a, const void *b) {
    const struct draw *d = a, *e = b;
    if (d->disorder != e->disorder)
        return d->disorder < e->disorder ? -1 : 1;
    return (d->replica > e->replica) - (d->replica < e->replica);
}

/* Numbers the samples of a disorder, of all systems together. False: out of memory. */
static bool number_draws(struct ergo_analysis *a) {
    size_t n = 0;
    for (size_t s = 0; s < a->n_systems; s++)
        n += a->systems[s].n_chains;
    struct draw *draws = calloc(n + 1, sizeof *draws);
    if (!draws)
        return false;
    n = 0;
    for (size_t s = 0; s < a->n_systems; s++)
        for (size_t c = 0; c < a->systems[s].n_chains; c++)
            if (ergo_point_samples_disorder(a->systems[s].chains[c].member->point))
                draws[n++] = draw_of(&a->systems[s].chains[c]);
    qsort(draws, n, sizeof *draws, by_draw);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_draw(&draws[i], &draws[i - 1]) != 0)
            draws[a->n_draws++] = draws[i];
    for (size_t s = 0; s < a->n_systems; s++)
        for (size_t c = 0; c < a->systems[s].n_chains; c++) {
            struct ergo_chain *chain = &a->systems[s].chains[c];
            const struct draw draw = draw_of(chain);
            const struct draw *at = bsearch(&draw, draws, a->n_draws, sizeof draw, by_draw);
            chain->draw = at ? (size_t)(at - draws) : 0;
        }
    free(draws);
    return true;
}

static int by_sample(const void *a, const void *b) {
    const struct ergo_chain *c = a, *d = b;
    return c->draw != d->draw ? (c->draw > d->draw) - (c->draw < d->draw)
                              : (c->run > d->run) - (c->run < d->run);
}

/* Chains in order of states, of a disorder then of samples. False: out of memory. */
static bool fill(const struct ergo_analysis *a, struct ergo_system *system) {
    size_t at = 0;
    struct ergo_chain *sorted = calloc(system->n_chains + 1, sizeof *sorted);
    if (!sorted)
        return false;
    qsort(system->states, system->n_states, sizeof *system->states, by_x);
    for (size_t s = 0; s < system->n_states; s++) {
        struct ergo_state *state = &system->states[s];
        state->first = at;
        for (size_t c = 0; c < system->n_chains; c++)
            if (same_state(a, system->chains[c].member->point, state->point))
                sorted[at++] = system->chains[c];
        state->count = at - state->first;
        if (ergo_point_samples_disorder(state->point))
            qsort(sorted + state->first, state->count, sizeof *sorted, by_sample);
    }
    free(system->chains);
    system->chains = sorted;
    return true;
}

static struct ergo_system *system_of(struct ergo_analysis *a, const struct ergo_point *point) {
    for (size_t s = 0; s < a->n_systems; s++)
        if (same_system(a, a->systems[s].chains[0].member->point, point))
            return &a->systems[s];
    a->systems[a->n_systems].order = a->n_systems;
    return &a->systems[a->n_systems++];
}

/* False: out of memory. */
static bool add(struct ergo_analysis *a, const struct ergo_member_result *member, size_t run) {
    struct ergo_system *system = system_of(a, member->point);
    struct ergo_chain *chains =
        realloc(system->chains, (system->n_chains + 1) * sizeof *system->chains);
    if (!chains)
        return false;
    system->chains = chains;
    struct ergo_chain *chain = &chains[system->n_chains++];
    *chain = (struct ergo_chain){
        .member = member, .run = run, .disorder = disorder_of(a, member->point)};
    for (size_t c = 0; c < a->model->n_columns && member->series; c++)
        if (member->series[c] || (a->model->n_conjugates && c == a->model->conjugates[0].column))
            chain->columns[chain->n_columns++] = (uint8_t)c;
    for (size_t s = 0; s < system->n_states; s++)
        if (same_state(a, system->states[s].point, member->point))
            return true;
    struct ergo_state *states =
        realloc(system->states, (system->n_states + 1) * sizeof *system->states);
    if (!states)
        return false;
    system->states = states;
    states[system->n_states] = (struct ergo_state){
        .point = member->point,
        .first = system->n_states,
        .x = a->axis < a->job->n_keys ? ergo_point_number(member->point, a->axis) : NAN};
    system->n_states++;
    return true;
}

void ergo_analysis_append_value(const struct ergo_analysis *a, struct ergo_text *text,
                                const struct ergo_point *point, size_t k) {
    const struct ergo_key *key = a->job->keys[k];
    const struct ergo_value *value = &point->values[k];
    char name[ERGO_CONCISE], number[ERGO_CONCISE];
    const enum ergo_key_type type = ergo_value_type(key, value);
    ergo_text_append(text, "%s%s", text->length ? ", " : "",
                     ergo_format_pointer(name, key->pointer));
    if (!value->present)
        ergo_text_append(text, " not given");
    else if (type == ERGO_KEY_SIZE || type == ERGO_KEY_REALS)
        for (int i = 0; i < value->items; i++)
            ergo_text_append(
                text, "%s%s", i ? " x " : " ",
                ergo_format_short(
                    number, type == ERGO_KEY_SIZE ? (double)value->size[i] : value->reals[i], 9));
    else if (type == ERGO_KEY_REAL)
        ergo_text_append(text, " %s", ergo_format_short(number, value->real, 9));
    else if (type == ERGO_KEY_INT)
        ergo_text_append(text, " %" PRId64, value->integer);
    else if (type == ERGO_KEY_SEED)
        ergo_text_append(text, " %" PRIu64, value->seed);
    else if (type == ERGO_KEY_BOOL)
        ergo_text_append(text, " %s", value->boolean ? "true" : "false");
    else
        ergo_text_append(text, " %.60s", value->text ? value->text : "");
}

/* How many bytes of its pointer name the part of /system that a key is in: "/system/slit/width" has
 * "/system/slit"; 0: none. */
static size_t part_of(const char *pointer) {
    const char *slash = strrchr(pointer, '/');
    return strncmp(pointer, "/system/", 8) == 0 && slash > pointer + 7 ? (size_t)(slash - pointer)
                                                                       : 0;
}

/* A key in which systems differ. Where some have no part /system/slit at all, that is what they
 * differ in; values only where they differ among those that have one. */
static void append_difference(const struct ergo_analysis *a, struct ergo_text *text, size_t s,
                              size_t k) {
    const char *pointer = a->job->keys[k]->pointer;
    const struct ergo_point *point = a->systems[s].states[0].point, *given = NULL;
    const size_t part = part_of(pointer);
    bool lacks = false, differs = false;
    for (size_t t = 0; t < a->n_systems; t++) {
        const struct ergo_point *other = a->systems[t].states[0].point;
        if (!other->values[k].present)
            lacks = true;
        else if (given)
            differs |= !same_value(given, other, k);
        else
            given = other;
    }
    if (part && lacks) {
        char said[64];
        snprintf(said, sizeof said, "%s %.*s", point->values[k].present ? "with" : "without",
                 (int)(part - 8), pointer + 8);
        if (!text->length || !strstr(text->data, said))
            ergo_text_append(text, "%s%s", text->length ? ", " : "", said);
    }
    if (!part || !lacks || (differs && point->values[k].present))
        ergo_analysis_append_value(a, text, point, k);
}

/* The keys in which systems differ, and the side by which sizes are told apart. */
static void name_systems(struct ergo_analysis *a) {
    for (size_t s = 0; s < a->n_systems; s++) {
        struct ergo_system *system = &a->systems[s];
        const struct ergo_point *point = system->states[0].point;
        struct ergo_text text = {0};
        system->side = NAN;
        for (size_t k = 0; k < a->job->n_keys; k++) {
            const struct ergo_key *key = a->job->keys[k];
            const struct ergo_value *value = &point->values[k];
            bool differs = false;
            if (!is_physics(key) || is_of_state(a, k))
                continue;
            for (size_t t = 0; t < a->n_systems; t++)
                differs = differs || !same_value(point, a->systems[t].states[0].point, k);
            if (differs)
                append_difference(a, &text, s, k);
            if (isnan(system->side) && value->present && value->items && key->type == ERGO_KEY_SIZE)
                system->side = (double)value->size[value->items - 1];
        }
        snprintf(system->label, sizeof system->label, "%s", text.data ? text.data : "");
        ergo_text_free(&text);
    }
}

static int by_side(const void *a, const void *b) {
    const struct ergo_system *s = a, *t = b;
    return s->side < t->side   ? -1
           : s->side > t->side ? 1
                               : (s->order > t->order) - (s->order < t->order);
}

/* Why samples cannot be weighted; "" where they can. */
static void append_reason(const struct ergo_analysis *a, struct ergo_text *text) {
    for (size_t r = 0; r < a->n_runs && !text->length; r++) {
        const struct ergo_result *result = a->results[r];
        const char *reason = NULL;
        for (size_t m = 0; m < result->n_members && !reason; m++)
            reason = ergo_point_unweighted(result->members[m].point);
        if (reason)
            ergo_text_append(text, "%s: %s", a->names[r], reason);
        else if (result->kept != ERGO_KEPT_FULL)
            ergo_text_append(text,
                             "%s kept no series (/output/series is \"%s\"); a run with `--set "
                             "/output/series=full` keeps them",
                             a->names[r], ergo_kept_name(result->kept));
    }
}

static enum ergo_status check_models(struct ergo_context *ctx, const struct ergo_analysis *a) {
    for (size_t r = 0; r < a->n_runs; r++) {
        const struct ergo_job *job = a->results[r]->job;
        const char *name = job->model->name ? job->model->name : "";
        const char *first = a->model->name ? a->model->name : "";
        if (job->sampler != a->job->sampler || strcmp(name, first) != 0)
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "%s is a run of %s%s%s, %s of %s%s%s: runs that are analysed together "
                             "have one sampler and model",
                             a->names[0], a->job->sampler->name, *first ? " " : "", first,
                             a->names[r], job->sampler->name, *name ? " " : "", name);
    }
    return ERGO_OK;
}

enum ergo_status ergo_analysis_gather(struct ergo_context *ctx, struct ergo_analysis *a) {
    struct ergo_text reason = {0};
    size_t n = 0;
    enum ergo_status status = check_models(ctx, a);
    if (status != ERGO_OK)
        return status;
    for (size_t r = 0; r < a->n_runs; r++)
        n += a->results[r]->n_members;
    append_reason(a, &reason);
    if (reason.length)
        a->unweighted = ergo_text_take(&reason);
    double *room = calloc(n + 1, sizeof *room);
    a->systems = calloc(n + 1, sizeof *a->systems);
    bool ok = room && a->systems && !reason.failed;
    if (ok && a->n_wanted)
        a->axis = a->wanted[0].key;
    else if (ok)
        choose_axis(a, room);
    for (size_t r = 0; r < a->n_runs; r++)
        for (size_t m = 0; m < a->results[r]->n_members && ok; m++)
            if (ergo_member_measured(&a->results[r]->members[m]))
                ok = add(a, &a->results[r]->members[m], r);
    ok = ok && number_draws(a);
    for (size_t s = 0; s < a->n_systems && ok; s++)
        ok = fill(a, &a->systems[s]);
    if (ok) {
        name_systems(a);
        qsort(a->systems, a->n_systems, sizeof *a->systems, by_side);
    }
    free(room);
    if (!ok)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an analysis");
    return a->n_systems
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB,
                           "nothing to analyse: %s%s has measured nothing since the end of its "
                           "equilibration",
                           a->names[0], a->n_runs > 1 ? ", as all others," : "");
}
