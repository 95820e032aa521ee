/*
 * Two phases with the same weight (Borgs, Kappler, Phys. Lett. A 171, 37 (1992)): the histogram of
 * the key's column (N for an activity, the energy for a temperature) has two peaks, and the value
 * of the key is looked for where the samples on either side of the minimum between them weigh the
 * same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"

enum { BINS = 60, SMOOTH = 4, GRID = 61, STEPS = 60, ROUNDS = 4 };
/* The valley has at most this share of the lower peak. */
static const double valley_most = 0.7;

struct search {
    const struct ergo_analysis *a;
    const struct ergo_system *system;
    const struct ergo_part *part;
    size_t row; /* of the part's values: the column with two peaks */
    double *weight;
};

/* Weights at a value of the key; without a block: `without` < n_blocks. */
static bool weigh(const struct search *s, double x, size_t without) {
    const struct ergo_part *part = s->part;
    double at[ERGO_SCAN_MAX], rows[ERGO_CONJUGATES_MAX];
    struct ergo_target target;
    for (size_t w = 0; w < s->a->n_wanted; w++)
        at[w] = s->system->states[0].point->values[s->a->wanted[w].key].real;
    at[0] = x;
    if (!ergo_target_create(s->a, s->system, at, &target))
        return false;
    for (size_t r = 0; r < part->n_rows; r++)
        rows[r] = target.a[part->rows[r]];
    ergo_target_free(&target);
    (void)ergo_mbar_weights(&part->mbar,
                            without < part->n_blocks
                                ? part->block_log_sum + without * part->mbar.n_values
                                : part->log_sum,
                            rows, s->weight);
    return true;
}

static double column(const struct search *s, size_t value) {
    return s->part->mbar.x[value * s->part->n_rows + s->row];
}

/* Weight below the split over all. */
static double share_below(const struct search *s, double split, size_t without) {
    double below = 0, all = 0;
    for (size_t e = 0; e < s->part->n_entries; e++) {
        const size_t u = s->part->value_of[e];
        if (s->part->block_of[e] == without)
            continue;
        const double w = s->weight[u] * s->part->entry_count[e];
        all += w;
        below += column(s, u) < split ? w : 0;
    }
    return below / all;
}

static double variance(const struct search *s) {
    double mean = 0, squares = 0;
    for (size_t u = 0; u < s->part->mbar.n_values; u++)
        mean += s->weight[u] * s->part->mbar.count[u] * column(s, u);
    for (size_t u = 0; u < s->part->mbar.n_values; u++)
        squares += s->weight[u] * s->part->mbar.count[u] * pow(column(s, u) - mean, 2);
    return squares;
}

/* ---- the histogram --------------------------------------------------------------------------- */

struct histogram {
    size_t n;
    double low, width, density[BINS];
    size_t peaks[2], valley; /* bins */
    bool two;
};

/* Between the values that all but a thousandth of the weight has, smoothed. Values on a lattice
 * (whole numbers of particles) get bins of whole numbers of them. */
static void fill(const struct search *s, struct histogram *h) {
    const struct ergo_mbar *m = &s->part->mbar;
    double least = INFINITY, low = INFINITY, high = -INFINITY, most = 0;
    for (size_t u = 0; u < m->n_values; u++)
        most = fmax(most, s->weight[u] * m->count[u]);
    for (size_t u = 0; u < m->n_values; u++) {
        if (s->weight[u] * m->count[u] < 1e-4 * most)
            continue;
        low = fmin(low, column(s, u));
        high = fmax(high, column(s, u));
    }
    for (size_t u = 1; u < m->n_values; u++) {
        const double gap = fabs(column(s, u) - column(s, u - 1));
        least = gap > 1e-9 * (high - low) ? fmin(least, gap) : least;
    }
    h->width = (high - low) / (BINS - 1);
    if (least > h->width / 50) /* a lattice of values, not a continuum */
        h->width = fmax(1, ceil(h->width / least)) * least;
    h->low = low - h->width / 2;
    h->n = h->width > 0 ? (size_t)fmin(floor((high - h->low) / h->width) + 1, BINS) : 0;
    memset(h->density, 0, sizeof h->density);
    for (size_t u = 0; u < m->n_values && h->n; u++) {
        const double bin = floor((column(s, u) - h->low) / h->width);
        if (bin >= 0 && bin < (double)h->n)
            h->density[(size_t)bin] += s->weight[u] * m->count[u] / h->width;
    }
}

static void smooth(const struct histogram *h, double *to) {
    double from[BINS];
    memcpy(to, h->density, sizeof from);
    for (int k = 0; k < SMOOTH; k++) {
        memcpy(from, to, sizeof from);
        for (size_t i = 0; i < h->n; i++)
            to[i] = (from[i ? i - 1 : 0] + 2 * from[i] + from[i + 1 < h->n ? i + 1 : i]) / 4;
    }
}

/* The two peaks with the deepest valley between them, in terms of the lower one. */
static void find_peaks(struct histogram *h) {
    double d[BINS], best = valley_most;
    smooth(h, d);
    h->two = false;
    for (size_t i = 0; i < h->n; i++)
        for (size_t j = i + 2; j < h->n; j++) {
            size_t valley = i;
            double top = 0;
            for (size_t k = i; k <= j; k++) {
                valley = d[k] < d[valley] ? k : valley;
                top = fmax(top, d[k]);
            }
            const double lower = fmin(d[i], d[j]), quotient = d[valley] / lower;
            /* the ends are the highest of their sides */
            double left = 0, right = 0;
            for (size_t k = 0; k < h->n; k++) {
                left = k < valley ? fmax(left, d[k]) : left;
                right = k > valley ? fmax(right, d[k]) : right;
            }
            if (quotient < best && d[i] >= left && d[j] >= right && top > 0) {
                best = quotient;
                h->two = true;
                h->peaks[0] = i;
                h->peaks[1] = j;
                h->valley = valley;
            }
        }
}

/* ---- where the weights are the same ---------------------------------------------------------- */

/* The value in [low, high] where half of the weight is below the split; NAN: not in there. */
static double solve(const struct search *s, double split, double low, double high, size_t without) {
    double at_low, at_high, middle = NAN;
    if (!weigh(s, low, without))
        return NAN;
    at_low = share_below(s, split, without) - 0.5;
    if (!weigh(s, high, without))
        return NAN;
    at_high = share_below(s, split, without) - 0.5;
    if (!(at_low * at_high < 0))
        return NAN;
    for (int i = 0; i < STEPS && high - low > 1e-14 * fabs(high); i++) {
        middle = (low + high) / 2;
        if (!weigh(s, middle, without))
            return NAN;
        const double now = share_below(s, split, without) - 0.5;
        if ((now > 0) == (at_low > 0))
            low = middle;
        else
            high = middle;
    }
    return middle;
}

/* Where the column fluctuates most, both phases are there. */
static double start(const struct search *s) {
    double best = NAN, most = -1;
    for (int i = 0; i < GRID; i++) {
        const double x = s->part->low + (s->part->high - s->part->low) * i / (GRID - 1);
        if (!weigh(s, x, SIZE_MAX))
            return NAN;
        const double now = variance(s);
        if (now > most) {
            most = now;
            best = x;
        }
    }
    return best;
}

/* Depth of the valley in units of kT: ln of the peaks' mean height over it. */
static double barrier_of(const struct histogram *h) {
    double d[BINS];
    smooth(h, d);
    return log(sqrt(d[h->peaks[0]] * d[h->peaks[1]]) / d[h->valley]);
}

/* Mean of the column on one side of the split. */
static double phase_mean(const struct search *s, double split, bool above, size_t without) {
    double sum = 0, all = 0;
    for (size_t e = 0; e < s->part->n_entries; e++) {
        const size_t u = s->part->value_of[e];
        if (s->part->block_of[e] == without || (column(s, u) >= split) != above)
            continue;
        const double w = s->weight[u] * s->part->entry_count[e];
        all += w;
        sum += w * column(s, u);
    }
    return sum / all;
}

/* Observables of one phase, in a window of the samples, at a value of the key; blocks may be NULL.
 */
static bool values_at(const struct search *s, const struct ergo_window *window, double x,
                      double *value, double *blocks) {
    double axis[ERGO_SCAN_MAX];
    struct ergo_target target;
    for (size_t w = 0; w < s->a->n_wanted; w++)
        axis[w] = s->system->states[0].point->values[s->a->wanted[w].key].real;
    axis[0] = x;
    if (!ergo_target_create(s->a, s->system, axis, &target))
        return false;
    const bool ok = ergo_part_values(s->part, &target, window, s->a->observables,
                                     s->a->n_observables, value, blocks, NULL);
    ergo_target_free(&target);
    return ok;
}

/* at[1 + n_blocks]: where the weights are the same, of all samples and without each block. The
 * values without a block are those at at[0], and by their slope those at their own place. */
static bool fill_phase(const struct search *s, struct ergo_coexistence *c, size_t phase,
                       const double *at) {
    const size_t n = s->a->n_observables, n_b = s->part->n_blocks;
    const struct ergo_window window = {s->part->rows[s->row], phase ? c->split : -INFINITY,
                                       phase ? INFINITY : c->split};
    const double h = 1e-3 * (s->part->high - s->part->low);
    struct ergo_coexisting *p = &c->phases[phase];
    double *value = calloc(3 * (n + 1), sizeof *value);
    double *blocks = calloc((n_b + 1) * (n + 1), sizeof *blocks);
    double *up = value ? value + n + 1 : NULL, *down = value ? up + n + 1 : NULL;
    p->values = calloc(n + 1, sizeof *p->values);
    bool ok = value && blocks && p->values && values_at(s, &window, at[0], value, blocks) &&
              values_at(s, &window, at[0] + h, up, NULL) &&
              values_at(s, &window, at[0] - h, down, NULL);
    for (size_t i = 0; i < n && ok; i++) {
        for (size_t b = 0; b < n_b; b++)
            blocks[b * n + i] += (up[i] - down[i]) / (2 * h) * (at[b + 1] - at[0]);
        p->values[i] = ergo_jackknife(value[i], blocks + i, n_b, n, NULL);
    }
    for (size_t b = 0; b <= n_b && ok; b++) {
        const size_t without = b ? b - 1 : SIZE_MAX;
        ok = weigh(s, at[b], without);
        if (ok && b)
            blocks[b - 1] = phase_mean(s, c->split, phase == 1, without);
        else if (ok)
            value[0] = phase_mean(s, c->split, phase == 1, without);
    }
    if (ok) {
        const struct ergo_valued x = ergo_jackknife(value[0], blocks, n_b, 1, NULL);
        p->x = x.value;
        p->x_error = x.error;
    }
    free(value);
    free(blocks);
    return ok;
}

static bool refuse(struct ergo_coexistence *c, const char *why) {
    struct ergo_text text = {0};
    ergo_text_append(&text, "%s", why);
    free(c->why_not);
    c->why_not = ergo_text_take(&text);
    return c->why_not != NULL;
}

/* False: out of memory. */
static bool find(const struct search *s, struct ergo_coexistence *c) {
    const struct ergo_part *part = s->part;
    struct histogram h;
    double at[ERGO_ANALYSE_BLOCKS + 1];
    at[0] = start(s);
    if (isnan(at[0]) || !weigh(s, at[0], SIZE_MAX))
        return refuse(c, "its samples are too few");
    fill(s, &h);
    find_peaks(&h);
    for (int round = 0; round < ROUNDS && h.two; round++) {
        c->split = h.low + ((double)h.valley + 0.5) * h.width;
        const double next = solve(s, c->split, part->low, part->high, SIZE_MAX);
        if (isnan(next))
            return refuse(c, "the value at which its phases have the same weight is outside of the "
                             "overlap");
        const bool stands = fabs(next - at[0]) <= 1e-9 * fabs(next);
        at[0] = next;
        if (!weigh(s, next, SIZE_MAX))
            return false;
        fill(s, &h);
        find_peaks(&h);
        if (stands)
            break;
    }
    if (h.two && ergo_part_left(part, s->weight) < ERGO_ANALYSE_INDEPENDENT)
        return refuse(c, "where its phases have the same weight too few independent samples are "
                         "left: a point in between");
    if (!h.two)
        return refuse(c, "its histogram has one peak: there are no two phases, or only one was "
                         "visited");
    for (size_t b = 0; b < part->n_blocks; b++) {
        at[b + 1] = solve(s, c->split, part->low, part->high, b);
        if (isnan(at[b + 1])) /* without one block the other phase is gone */
            return refuse(c, "it went from one phase to the other too rarely; a longer run");
    }
    const struct ergo_valued v = ergo_jackknife(at[0], at + 1, part->n_blocks, 1, NULL);
    c->at = v.value;
    c->at_error = v.error;
    c->barrier = barrier_of(&h);
    c->n_bins = h.n;
    c->bins = calloc(h.n + 1, sizeof *c->bins);
    c->density = calloc(h.n + 1, sizeof *c->density);
    if (!c->bins || !c->density)
        return false;
    for (size_t i = 0; i < h.n; i++) {
        c->bins[i] = h.low + ((double)i + 0.5) * h.width;
        c->density[i] = h.density[i];
    }
    free(c->why_not);
    c->why_not = NULL;
    return fill_phase(s, c, 0, at) && fill_phase(s, c, 1, at);
}

static bool find_in(const struct ergo_analysis *a, struct ergo_coexistence *c) {
    const struct ergo_system *system = &a->systems[c->system];
    if (!refuse(c, "none of its points is long enough"))
        return false;
    for (size_t p = 0; p < system->n_parts && c->why_not; p++) {
        struct search s = {.a = a, .system = system, .part = system->parts[p]};
        while (s.row < s.part->n_rows &&
               &a->model->conjugates[s.part->rows[s.row]] != a->coexisting)
            s.row++;
        if (s.row == s.part->n_rows || isnan(s.part->low))
            continue;
        s.weight = malloc((s.part->mbar.n_values + 1) * sizeof *s.weight);
        const bool ok = s.weight && find(&s, c);
        free(s.weight);
        if (!ok)
            return false;
    }
    return true;
}

enum ergo_status ergo_analysis_coexist(struct ergo_context *ctx, struct ergo_analysis *a) {
    a->coexistences = calloc(a->n_systems + 1, sizeof *a->coexistences);
    bool ok = a->coexistences != NULL;
    for (size_t s = 0; s < a->n_systems && ok; s++) {
        a->coexistences[a->n_coexistences].system = s;
        ok = find_in(a, &a->coexistences[a->n_coexistences++]);
    }
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for coexistence");
}
