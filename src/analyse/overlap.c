/* Which states overlap, how many independent samples a target has, and the range inside. */
#include <math.h>
#include <stdlib.h>

#include "analyse/analyse.h"
#include "base/parallel.h"

/* Places at which the interval between two states is looked at, and halvings of one that an end is
 * in. */
enum { BETWEEN = 8, HALVINGS = 40 };

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

/* K (K/E)^2: Kish's number is 1 / sum p^2 of the weights p, entropy's E = exp(-sum p ln p), both of
 * samples 2 tau apart. K <= E but for rounding. */
double ergo_part_left(const struct ergo_part *part, const double *weight) {
    double squares = 0, entropy = 0;
    for (size_t u = 0; u < part->mbar.n_values; u++) {
        const double tau2 = part->correlated[u] / part->mbar.count[u];
        squares += part->correlated[u] * weight[u] * weight[u];
        if (weight[u] > 0)
            entropy -= part->mbar.count[u] * weight[u] * log(tau2 * weight[u]);
    }
    if (!(squares > 0))
        return 0;
    const double fewer = fmax(0, entropy + log(squares)); /* ln(E/K) */
    return exp(-2 * fewer) / squares;
}

double ergo_part_independent(const struct ergo_part *part, const double *rows, double *weight) {
    (void)ergo_mbar_weights(&part->mbar, part->log_sum, rows, weight);
    return ergo_part_left(part, weight);
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

/* Is x on the axis, with the base's values of other keys, inside of the overlap? Out of memory: no.
 */
static bool is_inside(const struct ergo_analysis *a, const struct ergo_part *part, double x) {
    double at[ERGO_SCAN_MAX], *weight = malloc((part->mbar.n_values + 1) * sizeof *weight);
    struct ergo_target target;
    for (size_t w = 0; w < a->n_wanted; w++)
        at[w] = part->system->states[0].point->values[a->wanted[w].key].real;
    at[0] = x;
    bool inside = weight && ergo_target_create(a, part->system, at, &target);
    if (inside) {
        inside = independent_at(part, &target, weight) >= ERGO_ANALYSE_INDEPENDENT;
        ergo_target_free(&target);
    }
    free(weight);
    return inside;
}

/* The last value inside, between one that is and one that is not. */
static double find_edge(const struct ergo_analysis *a, const struct ergo_part *part, double inside,
                        double outside) {
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (inside + outside) / 2;
        *(is_inside(a, part, middle) ? &inside : &outside) = middle;
    }
    return inside;
}

/* The last value inside, from the first or last state, in steps of that direction; no further than
 * ten times the value or a tenth of it (of either sign: ten times the value or 10): where a ground
 * state was sampled, there is no end. Samples become fewer on the way, but before a ground state
 * there can be fewer than at it (half, of 60,000 samples), and such a dip is an end: steps grow
 * slowly, so that none leaps over it. */
static double find_end(const struct ergo_analysis *a, const struct ergo_part *part, double inside,
                       double direction) {
    const struct ergo_key *key = a->job->keys[a->axis];
    const bool positive = inside > 0 && key->max != 0 && key->min >= 0;
    double least = positive ? inside / 10 : inside - 10 * fmax(1, fabs(inside));
    double most = positive ? inside * 10 : inside + 10 * fmax(1, fabs(inside));
    if (key->min != 0 || key->max != 0) {
        most = fmin(most, key->max);
        least = fmax(least, key->min);
    }
    double step = 1e-3 * (inside != 0 ? fabs(inside) : 1);
    for (;; step *= 1.25) {
        const double next = fmin(most, fmax(least, inside + direction * step));
        if (!is_inside(a, part, next))
            return find_edge(a, part, inside, next);
        if (next == most || next == least)
            return next;
        inside = next;
    }
}

struct places {
    const struct ergo_analysis *a;
    const struct ergo_part *part;
    double *x;
    bool *inside;
};

static void look(size_t i, void *user) {
    const struct places *p = user;
    p->inside[i] = is_inside(p->a, p->part, p->x[i]);
}

bool ergo_part_find_ranges(const struct ergo_analysis *a, struct ergo_part *part) {
    const size_t n = (part->n_states - 1) * BETWEEN + 1;
    struct places p = {a, part, calloc(n, sizeof *p.x), calloc(n, sizeof *p.inside)};
    part->ranges = calloc(n, sizeof *part->ranges);
    const bool ok = p.x && p.inside && part->ranges;
    part->low = part->high = NAN;
    for (size_t i = 0; i < n && ok && a->n_wanted; i++) { /* states are in order of x */
        const double left = part->system->states[part->states[i / BETWEEN]].x,
                     t = (double)(i % BETWEEN);
        p.x[i] = left;
        if (t > 0)
            p.x[i] += t / BETWEEN * (part->system->states[part->states[i / BETWEEN + 1]].x - left);
    }
    if (ok && a->n_wanted)
        ergo_parallel(n, SIZE_MAX, look, &p);
    for (size_t i = 0, end; i < n && ok; i = end + 1) {
        for (end = i; end < n && p.inside[end]; end++)
            continue;
        if (end == i)
            continue;
        struct ergo_range *r = &part->ranges[part->n_ranges++];
        r->low = i ? find_edge(a, part, p.x[i], p.x[i - 1]) : find_end(a, part, p.x[0], -1);
        r->high =
            end < n ? find_edge(a, part, p.x[end - 1], p.x[end]) : find_end(a, part, p.x[n - 1], 1);
        part->low = part->n_ranges == 1 ? r->low : part->low;
        part->high = r->high;
    }
    free(p.x);
    free(p.inside);
    return ok;
}

void ergo_part_append_ranges(struct ergo_text *text, const struct ergo_part *part) {
    enum { MOST = 6 };
    for (size_t r = 0; r < part->n_ranges && r < MOST; r++)
        ergo_text_append(text, "%s%.6g to %.6g", r ? ", " : "", part->ranges[r].low,
                         part->ranges[r].high);
    if (part->n_ranges > MOST)
        ergo_text_append(text, " and %zu more", part->n_ranges - MOST);
}
