/*
 * Sums of samples at a target. A curve is evaluated at a hundred targets, and samples are the same
 * at all of them, but for what the energy has of other columns (ergo_target's shift): only their
 * weights differ. So sums are kept.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"

enum { KEPT_MOST = 8 }; /* a reweighted field has others at each value */

struct kept {
    size_t n, *observables;
    double shift[ERGO_CONJUGATES_MAX];
    double *sums;
};

struct ergo_sums {
    pthread_mutex_t lock;
    size_t n;
    struct kept kept[KEPT_MOST];
};

struct ergo_sums *ergo_sums_create(void) {
    struct ergo_sums *all = calloc(1, sizeof *all);
    if (all)
        pthread_mutex_init(&all->lock, NULL);
    return all;
}

void ergo_sums_destroy(struct ergo_sums *all) {
    for (size_t i = 0; all && i < all->n; i++) {
        free(all->kept[i].observables);
        free(all->kept[i].sums);
    }
    if (all)
        pthread_mutex_destroy(&all->lock);
    free(all);
}

/* sums[entry][observable] of the samples, as they would be recorded at the target. */
static double *make(const struct ergo_part *part, const struct ergo_target *target,
                    const size_t *observables, size_t n_observables) {
    const struct ergo_system *system = part->system;
    const struct ergo_model *model = target->point.job->model;
    double columns[ERGO_COLUMNS_MAX] = {0}, own[ERGO_CONJUGATES_MAX], shift[ERGO_CONJUGATES_MAX];
    double *sums = calloc(part->n_entries * n_observables + 1, sizeof *sums);
    size_t at = 0;
    for (size_t k = 0; k < part->n_states && sums; k++) {
        const struct ergo_state *state = &system->states[part->states[k]];
        ergo_target_of(system, state->point, own, shift);
        for (size_t c = state->first; c < state->first + state->count; c++) {
            const struct ergo_chain *chain = &system->chains[c];
            const size_t n = ergo_member_taken(chain->member);
            for (size_t i = 0; i < n; i++, at++) {
                double *sum = sums + (size_t)part->entry_of[at] * n_observables;
                ergo_chain_columns(chain, i, columns);
                for (size_t r = 1; r < model->n_conjugates; r++)
                    if (target->shift[r] != shift[r])
                        columns[model->conjugates[0].column] +=
                            (target->shift[r] - shift[r]) * columns[model->conjugates[r].column];
                for (size_t s = 0; s < n_observables; s++)
                    sum[s] += ergo_observable_sample(&model->observables[observables[s]],
                                                     &target->point, columns);
            }
        }
    }
    return sums;
}

static const double *find(const struct ergo_sums *all, const struct ergo_target *target,
                          const size_t *observables, size_t n) {
    const size_t rows = target->point.job->model->n_conjugates;
    for (size_t i = 0; i < all->n; i++) {
        const struct kept *k = &all->kept[i];
        bool same = k->n == n && memcmp(k->observables, observables, n * sizeof *observables) == 0;
        for (size_t r = 1; r < rows; r++)
            same = same && k->shift[r] == target->shift[r];
        if (same)
            return k->sums;
    }
    return NULL;
}

/* False: there is no room, or no memory. */
static bool keep(struct ergo_sums *all, const struct ergo_target *target, const size_t *observables,
                 /* NOLINTNEXTLINE(readability-non-const-parameter): it is freed later */
                 size_t n, double *sums) {
    size_t *list = all->n < KEPT_MOST ? malloc((n + 1) * sizeof *list) : NULL;
    if (!list)
        return false;
    struct kept *k = &all->kept[all->n++];
    *k = (struct kept){.n = n, .observables = list, .sums = sums};
    memcpy(list, observables, n * sizeof *list);
    memcpy(k->shift, target->shift, sizeof k->shift);
    return true;
}

const double *ergo_sums_at(const struct ergo_part *part, const struct ergo_target *target,
                           const size_t *observables, size_t n, double **own) {
    *own = NULL;
    pthread_mutex_lock(&part->sums->lock); /* who waits for sums finds them kept */
    const double *sums = find(part->sums, target, observables, n);
    if (!sums && part->sums->n < KEPT_MOST) {
        double *made = make(part, target, observables, n);
        if (made && !keep(part->sums, target, observables, n, made))
            *own = made;
        sums = made;
    }
    const bool full = !sums && part->sums->n == KEPT_MOST;
    pthread_mutex_unlock(&part->sums->lock);
    return full ? *own = make(part, target, observables, n) : sums;
}
