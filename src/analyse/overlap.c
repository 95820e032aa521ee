/* Which states overlap, how many independent samples a target has, and the range inside. */
#include <math.h>
#include <stdlib.h>

#include "analyse/analyse.h"

/* Two states belong together where a sample of one is taken for one of the other with this
 * probability; below it their f are known too badly (a tenth of what Klimovich, Shirts, Mobley, J.
 * Comput. Aided Mol. Des. 29, 397 (2015) ask for between neighbours, because chains of overlaps
 * count). */
static const double overlap_least = 0.003;
bool ergo_part_split(const struct ergo_part *whole, size_t *of) {
    const size_t n = whole->n_states;
    double *overlap = calloc(n * n, sizeof *overlap);
    bool ok = overlap && ergo_mbar_overlap(&whole->mbar, whole->f, overlap);
    for (size_t s = 0; s < n; s++)
        of[s] = s;
    for (bool changed = ok; changed;) {
        changed = false;
        for (size_t s = 0; s < n; s++)
            for (size_t t = 0; t < n; t++)
                if (of[t] < of[s] &&
                    fmin(overlap[s * n + t], overlap[t * n + s]) >= overlap_least) {
                    of[s] = of[t];
                    changed = true;
                }
    }
    free(overlap);
    return ok;
}

double ergo_part_independent(const struct ergo_part *part, const double *rows, double *weight) {
    double squares = 0;
    (void)ergo_mbar_weights(&part->mbar, part->log_sum, rows, weight);
    for (size_t u = 0; u < part->mbar.n_values; u++)
        squares += part->correlated[u] * weight[u] * weight[u];
    return squares > 0 ? 1 / squares : 0;
}

static double independent_at(const struct ergo_part *part, const struct ergo_target *target,
                             double *weight) {
    double rows[ERGO_CONJUGATES_MAX];
    for (size_t r = 0; r < part->n_rows; r++)
        rows[r] = target->a[part->rows[r]];
    return ergo_part_independent(part, rows, weight);
}

const struct ergo_part *ergo_system_part(const struct ergo_system *system,
                                         const struct ergo_target *target, double *independent) {
    const struct ergo_part *best = NULL;
    *independent = -1;
    for (size_t p = 0; p < system->n_parts; p++) {
        double *weight = malloc((system->parts[p]->mbar.n_values + 1) * sizeof *weight);
        const double now = weight ? independent_at(system->parts[p], target, weight) : NAN;
        free(weight);
        if (isnan(now))
            return NULL;
        if (now > *independent) {
            *independent = now;
            best = system->parts[p];
        }
    }
    return best;
}

/* Is x on the axis, with the base's values of other keys, inside of the overlap? */
static bool is_inside(const struct ergo_analysis *a, const struct ergo_part *part, double x,
                      double *weight) {
    double at[ERGO_SCAN_MAX];
    struct ergo_target target;
    for (size_t w = 0; w < a->n_wanted; w++)
        at[w] = part->system->states[0].point->values[a->wanted[w].key].real;
    at[0] = x;
    if (!ergo_target_create(a, part->system, at, &target))
        return false;
    const bool inside = independent_at(part, &target, weight) >= ERGO_ANALYSE_INDEPENDENT;
    ergo_target_free(&target);
    return inside;
}

/* The last value inside, from one that is, in steps of that direction; no further than ten times
 * the value or a tenth of it (of either sign: ten times the value or 10): where a ground state was
 * sampled, there is no end. */
static double find_end(const struct ergo_analysis *a, const struct ergo_part *part, double inside,
                       double direction, double *weight) {
    const struct ergo_key *key = a->job->keys[a->axis];
    const bool positive = inside > 0 && key->max != 0 && key->min >= 0;
    double least = positive ? inside / 10 : inside - 10 * fmax(1, fabs(inside));
    double most = positive ? inside * 10 : inside + 10 * fmax(1, fabs(inside)), outside = NAN;
    if (key->min != 0 || key->max != 0) {
        most = fmin(most, key->max);
        least = fmax(least, key->min);
    }
    double step = 1e-3 * (inside != 0 ? fabs(inside) : 1);
    for (bool last = false; isnan(outside) && !last; step *= 2) {
        const double next = fmin(most, fmax(least, inside + direction * step));
        last = next == most || next == least;
        if (is_inside(a, part, next, weight))
            inside = next;
        else
            outside = next;
    }
    for (int i = 0; i < 40 && !isnan(outside); i++) {
        const double middle = (inside + outside) / 2;
        if (is_inside(a, part, middle, weight))
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

bool ergo_part_find_range(const struct ergo_analysis *a, struct ergo_part *part) {
    const struct ergo_system *system = part->system;
    part->low = part->high = NAN;
    if (a->n_wanted == 0)
        return true;
    double *weight = malloc((part->mbar.n_values + 1) * sizeof *weight);
    for (size_t k = 0; weight && k < part->n_states; k++) { /* states are in order of x */
        const double x = system->states[part->states[k]].x;
        if (!is_inside(a, part, x, weight))
            continue;
        part->low = isnan(part->low) ? x : part->low;
        part->high = x;
    }
    if (weight && !isnan(part->low)) {
        part->low = find_end(a, part, part->low, -1, weight);
        part->high = find_end(a, part, part->high, 1, weight);
    }
    free(weight);
    return weight != NULL;
}
