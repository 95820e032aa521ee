/* Which sums are needed: of series alone, and of those whose means are arguments together. */
#include "stats/online_state.h"
#include "base/memory.h"

#include <stdlib.h>

static bool contains(const struct ergo_online_group *group, const size_t *series, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t a = 0;
        while (a < group->n && group->series[a] != series[i])
            a++;
        if (a == group->n)
            return false;
    }
    return true;
}

const struct ergo_online_group *ergo_online_find(const struct ergo_online_plan *plan,
                                                 const size_t *series, size_t n) {
    for (size_t g = 0; g < plan->n_groups; g++)
        if (contains(&plan->groups[g], series, n))
            return &plan->groups[g];
    return NULL;
}

static uint16_t next_track(struct ergo_online_plan *plan) {
    return (uint16_t)plan->n_tracks++;
}

/* Long lists come first, so that the short ones are found in them. A series that begins no group
 * needs no track of its own: its variance is known from the group. */
bool ergo_online_plan(struct ergo_online_plan *plan, size_t n_series, size_t n,
                      const size_t (*inputs)[ERGO_STATS_COLUMNS_MAX], const size_t *lengths) {
    *plan = (struct ergo_online_plan){.n_series = n_series};
    plan->own = malloc((n_series + 1) * sizeof *plan->own);
    plan->home = calloc(n_series + 1, sizeof *plan->home);
    plan->groups = calloc(n + 1, sizeof *plan->groups);
    if (!plan->own || !plan->home || !plan->groups) {
        ergo_online_plan_free(plan);
        return false;
    }
    for (size_t length = ERGO_STATS_COLUMNS_MAX; length > 1; length--)
        for (size_t i = 0; i < n; i++) {
            if (lengths[i] != length || ergo_online_find(plan, inputs[i], length))
                continue;
            struct ergo_online_group *group = &plan->groups[plan->n_groups++];
            group->n = length;
            for (size_t a = 0; a < length; a++)
                group->series[a] = (uint16_t)inputs[i][a];
        }
    for (size_t s = 0; s < n_series; s++) {
        bool begins = false, within = false;
        for (size_t g = 0; g < plan->n_groups; g++)
            for (size_t a = 0; a < plan->groups[g].n; a++) {
                if (plan->groups[g].series[a] != s)
                    continue;
                begins |= a == 0;
                within = true;
                plan->home[s] = (uint16_t)g;
            }
        plan->own[s] = within && !begins ? ERGO_ONLINE_NONE : next_track(plan);
    }
    size_t at = 0;
    for (size_t g = 0; g < plan->n_groups; g++) {
        struct ergo_online_group *group = &plan->groups[g];
        group->at = at;
        at += group->n + ergo_online_pair(group->n, 0);
        for (size_t a = 0; a < group->n; a++)
            group->tracks[a] = a ? next_track(plan) : plan->own[group->series[0]];
        group->pairs = (uint16_t)plan->n_tracks;
        plan->n_tracks += ergo_online_pair(group->n, 0);
    }
    plan->n_fixed = at;
    return true;
}

void ergo_online_plan_free(struct ergo_online_plan *plan) {
    free(plan->own);
    free(plan->home);
    free(plan->groups);
    *plan = (struct ergo_online_plan){0};
}
