/*
 * The samples of a system for MBAR: which rows of the weights differ, which states overlap, samples
 * with equal values joined, and everything once more without each block of the jackknife.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "base/parallel.h"

/* Different from rounding. */
static const double differs_by = 1e-12;

/* Columns of a sample with the energy that it has at the base point. */
static void base_columns(const struct ergo_chain *chain, const double *shift, size_t i,
                         double *columns) {
    const struct ergo_model *model = chain->member->point->job->model;
    ergo_chain_columns(chain, i, columns);
    for (size_t c = 1; c < model->n_conjugates; c++)
        if (shift[c] != 0)
            columns[model->conjugates[0].column] -= shift[c] * columns[model->conjugates[c].column];
}

void ergo_part_destroy(struct ergo_part *part) {
    if (!part)
        return;
    free(part->states);
    free(part->inefficiency);
    free((double *)part->mbar.x);
    free((double *)part->mbar.a);
    free((double *)part->mbar.n);
    free((double *)part->mbar.count);
    free(part->correlated);
    free(part->f);
    free(part->log_sum);
    free(part->value_of);
    free(part->block_of);
    free(part->entry_count);
    free(part->entry_of);
    free(part->block_log_sum);
    free(part->ranges);
    ergo_sums_destroy(part->sums);
    free(part);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool differ(double v, double w) {
    return fabs(v - w) > differs_by * fmax(fabs(v), fabs(w));
}

/* By which conjugates weights differ: between states, or where a wanted key changes. */
static bool find_rows(const struct ergo_analysis *a, const struct ergo_system *system,
                      bool active[ERGO_CONJUGATES_MAX]) {
    double first[ERGO_CONJUGATES_MAX], now[ERGO_CONJUGATES_MAX], shift[ERGO_CONJUGATES_MAX];
    const struct ergo_point *base = system->states[0].point;
    ergo_target_of(system, base, first, shift);
    for (size_t s = 1; s < system->n_states; s++) {
        ergo_target_of(system, system->states[s].point, now, shift);
        for (size_t c = 0; c < a->model->n_conjugates; c++)
            active[c] = active[c] || differ(first[c], now[c]);
    }
    for (size_t w = 0; w < a->n_wanted; w++) {
        double at[ERGO_SCAN_MAX] = {0};
        struct ergo_target target;
        for (size_t v = 0; v < a->n_wanted; v++)
            at[v] = base->values[a->wanted[v].key].real;
        at[w] += 0.01 * (at[w] != 0 ? at[w] : 1);
        if (!ergo_target_create(a, system, at, &target))
            return false;
        for (size_t c = 0; c < a->model->n_conjugates; c++)
            active[c] = active[c] || differ(first[c], target.a[c]);
        ergo_target_free(&target);
    }
    return true;
}

/* ---- autocorrelation ------------------------------------------------------------------------- */

/* tau in samples of the slowest series that is made of samples and asked for, or a weight's. */
static double slowest_tau(const struct ergo_analysis *a, const struct ergo_part *part,
                          const struct ergo_chain *chain, const double *shift) {
    const size_t n = ergo_member_taken(chain->member), n_o = a->model->n_observables;
    const struct ergo_point *point = chain->member->point;
    double *series = malloc((n + 1) * sizeof *series), columns[ERGO_COLUMNS_MAX] = {0}, tau = 0.5;
    bool *used = calloc(n_o + 1, sizeof *used);
    struct ergo_estimate estimate;
    for (size_t i = 0; used && i < a->n_observables; i++) {
        const struct ergo_observable *o = &a->model->observables[a->observables[i]];
        used[a->observables[i]] = ergo_observable_sampled(o);
        for (size_t k = 0; k < 8 && o->inputs[k]; k++)
            for (size_t p = 0; p < n_o; p++)
                used[p] = used[p] || strcmp(a->model->observables[p].name, o->inputs[k]) == 0;
    }
    for (size_t o = 0; series && used && o < n_o + part->n_rows; o++) {
        if (o < n_o && (!used[o] || !ergo_observable_sampled(&a->model->observables[o])))
            continue;
        for (size_t i = 0; i < n; i++) {
            base_columns(chain, shift, i, columns);
            series[i] = o < n_o ? ergo_observable_sample(&a->model->observables[o], point, columns)
                                : columns[a->model->conjugates[part->rows[o - n_o]].column];
        }
        ergo_stats_estimate(series, n, &estimate);
        if (!estimate.constant)
            tau = isnan(estimate.tau) ? (double)n : fmax(tau, estimate.tau);
    }
    if (!series || !used)
        tau = NAN;
    free(series);
    free(used);
    return tau;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct sample {
    double x[ERGO_CONJUGATES_MAX];
    uint32_t block, number;
};

static int by_values(const void *a, const void *b) {
    const struct sample *s = a, *t = b;
    for (size_t r = 0; r < ERGO_CONJUGATES_MAX; r++)
        if (s->x[r] != t->x[r])
            return s->x[r] < t->x[r] ? -1 : 1;
    return s->block != t->block ? (s->block < t->block ? -1 : 1)
                                : (s->number > t->number) - (s->number < t->number);
}

static bool same_values(const struct sample *s, const struct sample *t) {
    for (size_t r = 0; r < ERGO_CONJUGATES_MAX; r++)
        if (s->x[r] != t->x[r])
            return false;
    return true;
}

/* Joins samples with equal values to one value, and of one block to one entry. */
static bool join(struct ergo_part *part, struct sample *samples, const double *inefficiency) {
    const size_t n = part->n_samples, rows = part->n_rows;
    qsort(samples, n, sizeof *samples, by_values);
    size_t n_values = 0, n_entries = 0;
    for (size_t i = 0; i < n; i++) {
        const bool value = i == 0 || !same_values(&samples[i], &samples[i - 1]);
        n_values += value;
        n_entries += value || samples[i].block != samples[i - 1].block;
    }
    double *x = calloc(n_values * rows + 1, sizeof *x),
           *count = calloc(n_values + 1, sizeof *count);
    part->mbar.x = x;
    part->mbar.count = count;
    part->correlated = calloc(n_values + 1, sizeof *part->correlated);
    part->value_of = calloc(n_entries + 1, sizeof *part->value_of);
    part->block_of = calloc(n_entries + 1, sizeof *part->block_of);
    part->entry_count = calloc(n_entries + 1, sizeof *part->entry_count);
    part->entry_of = calloc(n + 1, sizeof *part->entry_of);
    if (!x || !count || !part->correlated || !part->value_of || !part->block_of ||
        !part->entry_count || !part->entry_of)
        return false;
    part->mbar.n_values = n_values;
    part->mbar.n_rows = rows;
    part->n_entries = n_entries;
    size_t u = 0, e = 0;
    for (size_t i = 0; i < n; i++) {
        const bool value = i && !same_values(&samples[i], &samples[i - 1]);
        u += value;
        e += value || (i && samples[i].block != samples[i - 1].block);
        memcpy(x + u * rows, samples[i].x, rows * sizeof *x);
        count[u]++;
        part->correlated[u] += inefficiency[samples[i].number];
        part->value_of[e] = (uint32_t)u;
        part->block_of[e] = samples[i].block;
        part->entry_count[e]++;
        part->entry_of[samples[i].number] = (uint32_t)e;
    }
    return true;
}

/* Reads the samples of the part's states; block b of all states together is block b. */
static bool read_samples(const struct ergo_analysis *a, struct ergo_part *part) {
    const struct ergo_system *system = part->system;
    double columns[ERGO_COLUMNS_MAX] = {0}, coefficients[ERGO_CONJUGATES_MAX];
    double shift[ERGO_CONJUGATES_MAX];
    double *n_of = calloc(part->n_states, sizeof *n_of);
    double *all_a = calloc(part->n_states * part->n_rows + 1, sizeof *all_a);
    part->mbar.n = n_of;
    part->mbar.a = all_a;
    part->mbar.n_states = part->n_states;
    struct sample *samples = calloc(part->n_samples + 1, sizeof *samples);
    double *inefficiency = calloc(part->n_samples + 1, sizeof *inefficiency);
    bool ok = n_of && all_a && samples && inefficiency;
    size_t at = 0;
    for (size_t k = 0; k < part->n_states && ok; k++) {
        const struct ergo_state *state = &system->states[part->states[k]];
        ergo_target_of(system, state->point, coefficients, shift);
        for (size_t r = 0; r < part->n_rows; r++)
            all_a[k * part->n_rows + r] = coefficients[part->rows[r]];
        size_t all = 0, before = 0;
        for (size_t c = state->first; c < state->first + state->count; c++)
            all += ergo_member_taken(system->chains[c].member);
        for (size_t c = state->first; c < state->first + state->count; c++) {
            const size_t n = ergo_member_taken(system->chains[c].member);
            for (size_t i = 0; i < n; i++, at++, before++) {
                base_columns(&system->chains[c], shift, i, columns);
                for (size_t r = 0; r < part->n_rows; r++)
                    samples[at].x[r] = columns[a->model->conjugates[part->rows[r]].column];
                samples[at].block = (uint32_t)(before * part->n_blocks / all);
                samples[at].number = (uint32_t)at;
                inefficiency[at] = part->inefficiency[k];
            }
        }
        n_of[k] = (double)all;
    }
    ok = ok && join(part, samples, inefficiency);
    free(samples);
    free(inefficiency);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A start of f: by the mean values of the states. */
static bool start(struct ergo_part *part) {
    const struct ergo_mbar *m = &part->mbar;
    double *means = calloc(m->n_states * m->n_rows + 1, sizeof *means);
    if (!means)
        return false;
    size_t at = 0;
    for (size_t k = 0; k < m->n_states; k++)
        for (size_t i = 0; i < (size_t)m->n[k]; i++, at++)
            for (size_t r = 0; r < m->n_rows; r++)
                means[k * m->n_rows + r] +=
                    m->x[part->value_of[part->entry_of[at]] * m->n_rows + r] / m->n[k];
    ergo_mbar_start(m, means, part->f);
    free(means);
    return true;
}

/* Samples of state k in a block. */
static double block_length(const struct ergo_part *part, size_t k, size_t block) {
    const size_t n = (size_t)part->mbar.n[k], b = part->n_blocks;
    const size_t length = ((block + 1) * n + b - 1) / b - (block * n + b - 1) / b;
    return (double)length;
}

struct blocks {
    struct ergo_part *part;
    bool *ok;
};

static void solve_block(size_t b, void *user) {
    const struct blocks *all = user;
    const struct ergo_part *part = all->part;
    struct ergo_mbar m = part->mbar;
    double *n = calloc(m.n_states, sizeof *n), *f = calloc(m.n_states, sizeof *f);
    double *count = calloc(m.n_values, sizeof *count);
    if (n && f && count) {
        memcpy(f, part->f, m.n_states * sizeof *f);
        memcpy(count, m.count, m.n_values * sizeof *count);
        for (size_t e = 0; e < part->n_entries; e++)
            if (part->block_of[e] == b)
                count[part->value_of[e]] -= part->entry_count[e];
        for (size_t k = 0; k < m.n_states; k++)
            n[k] = m.n[k] - block_length(part, k, b);
        m.n = n;
        m.count = count;
        all->ok[b] = ergo_mbar_solve(&m, f, part->block_log_sum + b * m.n_values);
    }
    free(n);
    free(f);
    free(count);
}

static bool solve(struct ergo_part *part) {
    const struct ergo_mbar *m = &part->mbar;
    part->f = calloc(m->n_states, sizeof *part->f);
    part->log_sum = calloc(m->n_values + 1, sizeof *part->log_sum);
    return part->f && part->log_sum && start(part) && ergo_mbar_solve(m, part->f, part->log_sum);
}

static bool solve_blocks(struct ergo_part *part) {
    bool ok = true, each[ERGO_ANALYSE_BLOCKS] = {false};
    struct blocks blocks = {part, each};
    part->block_log_sum =
        calloc(part->n_blocks * part->mbar.n_values + 1, sizeof *part->block_log_sum);
    if (!part->block_log_sum)
        return false;
    const double work = (double)(part->mbar.n_values * part->n_states * part->n_blocks);
    ergo_parallel(part->n_blocks, ergo_analysis_cores(work), solve_block, &blocks);
    for (size_t b = 0; b < part->n_blocks; b++)
        ok = ok && each[b];
    return ok;
}

/* How long blocks have to be. The chains of a state are cut as one series: they are independent. A
 * chain of its own has to be long enough for its tau. */
static bool find_blocks(const struct ergo_analysis *a, struct ergo_part *part) {
    const struct ergo_system *system = part->system;
    double coefficients[ERGO_CONJUGATES_MAX], shift[ERGO_CONJUGATES_MAX], fewest = INFINITY;
    for (size_t k = 0; k < part->n_states; k++) {
        const struct ergo_state *state = &system->states[part->states[k]];
        double sum = 0, slowest = 0, samples = 0;
        size_t slow = state->first;
        bool each = true;
        ergo_target_of(system, state->point, coefficients, shift);
        for (size_t c = state->first; c < state->first + state->count; c++) {
            const double tau = slowest_tau(a, part, &system->chains[c], shift);
            const double n = (double)ergo_member_taken(system->chains[c].member);
            if (isnan(tau))
                return false;
            sum += 2 * tau / (double)state->count;
            each = each && n >= ERGO_ANALYSE_CHAIN_TAU * tau;
            slow = tau > slowest ? c : slow;
            slowest = fmax(slowest, tau);
            samples += n;
        }
        part->n_samples += (size_t)samples;
        part->inefficiency[k] = fmax(1, sum);
        if ((each ? samples / slowest : 0) < fewest) {
            fewest = each ? samples / slowest : 0;
            part->slow_chain = slow;
        }
    }
    const double blocks = fmin(floor(fewest / ERGO_ANALYSE_BLOCK_TAU), ERGO_ANALYSE_BLOCKS);
    part->n_blocks = blocks >= ERGO_ANALYSE_BLOCKS_MIN ? (size_t)blocks : 0;
    return true;
}

/* A part of the states that are marked by `which`, without blocks. NULL: out of memory, or no f was
 * found. */
static struct ergo_part *make_part(const struct ergo_analysis *a, const struct ergo_system *system,
                                   const bool active[ERGO_CONJUGATES_MAX], const size_t *of,
                                   size_t which) {
    struct ergo_part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->system = system;
    part->states = calloc(system->n_states, sizeof *part->states);
    part->inefficiency = calloc(system->n_states, sizeof *part->inefficiency);
    part->sums = ergo_sums_create();
    for (size_t c = 0; c < a->model->n_conjugates; c++)
        if (active[c])
            part->rows[part->n_rows++] = c;
    for (size_t s = 0; part->states && s < system->n_states; s++)
        if (of[s] == which)
            part->states[part->n_states++] = s;
    if (part->states && part->inefficiency && part->sums && find_blocks(a, part) &&
        part->n_samples < UINT32_MAX && read_samples(a, part) && solve(part))
        return part;
    ergo_part_destroy(part);
    return NULL;
}

/* ---- a system -------------------------------------------------------------------------------- */

bool ergo_system_weigh(const struct ergo_analysis *a, struct ergo_system *system) {
    bool active[ERGO_CONJUGATES_MAX] = {false}, ok = true;
    size_t *of = calloc(system->n_states, sizeof *of);
    system->parts = calloc(system->n_states, sizeof(struct ergo_part *));
    struct ergo_part *whole = NULL;
    if (of && system->parts && find_rows(a, system, active))
        whole = make_part(a, system, active, of, 0);
    if (!whole || !ergo_part_split(whole, of)) {
        ergo_part_destroy(whole);
        free(of);
        return false;
    }
    for (size_t s = 0; s < system->n_states && ok; s++) {
        if (of[s] != s)
            continue;
        struct ergo_part *part = whole;
        bool all = true;
        for (size_t t = 0; t < system->n_states; t++)
            all = all && of[t] == s;
        if (!all)
            part = make_part(a, system, active, of, s);
        else
            whole = NULL;
        ok = part && solve_blocks(part) && ergo_part_find_ranges(a, part);
        if (part)
            system->parts[system->n_parts++] = part;
    }
    ergo_part_destroy(whole);
    free(of);
    return ok;
}
