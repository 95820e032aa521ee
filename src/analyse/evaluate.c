/* Observables of a part at a target, from weighted samples; without each block of the jackknife. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"

enum { SERIES_MAX = 64 };

/* The sampled observables that others are made of, each once. */
struct series {
    size_t n, observable[SERIES_MAX];
};

static size_t find_observable(const struct ergo_model *model, const char *name) {
    size_t o = 0;
    while (o < model->n_observables && strcmp(model->observables[o].name, name) != 0)
        o++;
    return o;
}

/* Its place among the series; added where there is room. */
static size_t add_series(struct series *series, size_t observable) {
    size_t s = 0;
    while (s < series->n && series->observable[s] != observable)
        s++;
    if (s == series->n && s < SERIES_MAX)
        series->observable[series->n++] = observable;
    return s;
}

static bool collect(const struct ergo_model *model, const size_t *observables, size_t n,
                    struct series *series) {
    series->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ergo_observable *o = &model->observables[observables[i]];
        if (ergo_observable_sampled(o) && add_series(series, observables[i]) == SERIES_MAX)
            return false;
        for (size_t k = 0; k < 8 && o->inputs[k]; k++)
            if (add_series(series, find_observable(model, o->inputs[k])) == SERIES_MAX)
                return false;
    }
    return true;
}

static double observe(const struct ergo_model *model, const struct ergo_target *target,
                      struct series *series, const double *means, size_t observable) {
    const struct ergo_observable *o = &model->observables[observable];
    double inputs[8] = {0};
    if (ergo_observable_sampled(o))
        return means[add_series(series, observable)];
    for (size_t k = 0; k < 8 && o->inputs[k]; k++)
        inputs[k] = means[add_series(series, find_observable(model, o->inputs[k]))];
    return o->derive(&target->point, inputs);
}

/* Is a sample made from its columns alone, at a point other than where it was taken? */
static bool can_weigh_sample(const struct ergo_analysis *a, size_t o) {
    const struct ergo_observable *observable = &a->model->observables[o];
    if (!ergo_observable_sampled(observable) || observable->of_moves)
        return false;
    if (!observable->recorded_at)
        return true;
    for (size_t w = 0; w < a->n_wanted; w++)
        if (strcmp(a->wanted[w].pointer, observable->recorded_at) == 0)
            return false;
    for (size_t k = 0; k < a->job->n_keys; k++)
        for (size_t s = 0; s < a->n_systems; s++)
            for (size_t t = 1; t < a->systems[s].n_states; t++)
                if (strcmp(a->job->keys[k]->pointer, observable->recorded_at) == 0 &&
                    a->systems[s].states[t].point->values[k].real !=
                        a->systems[s].states[0].point->values[k].real)
                    return false;
    return true;
}

bool ergo_analysis_can_weigh(const struct ergo_analysis *a, size_t o) {
    const struct ergo_observable *observable = &a->model->observables[o];
    bool can = !observable->curve && (observable->derive || can_weigh_sample(a, o));
    for (size_t k = 0; k < 8 && observable->inputs[k]; k++) {
        const size_t input = find_observable(a->model, observable->inputs[k]);
        can = can && input < a->model->n_observables && can_weigh_sample(a, input);
    }
    for (size_t s = 0; s < a->n_systems && can; s++)
        can = !observable->applies || observable->applies(a->systems[s].states[0].point);
    return can;
}

struct sums {
    const struct ergo_part *part;
    const struct ergo_window *window;
    size_t row; /* of the window, among the part's; n_rows: there is none */
    const double *sums;
    size_t n_series;
};

static bool is_in(const struct sums *s, size_t value) {
    const struct ergo_mbar *m = &s->part->mbar;
    if (s->row == s->part->n_rows)
        return true;
    const double x = m->x[value * m->n_rows + s->row];
    return x >= s->window->low && x < s->window->high;
}

/* Means of all samples but those of block `without` (any other number: of all), by weights of
 * single values. Returns the share of the window. */
static double average(const struct sums *s, const double *weight, size_t without, double *means) {
    double total = 0, inside = 0;
    memset(means, 0, s->n_series * sizeof *means);
    for (size_t e = 0; e < s->part->n_entries; e++) {
        const size_t u = s->part->value_of[e];
        if (s->part->block_of[e] == without)
            continue;
        total += weight[u] * s->part->entry_count[e];
        if (!is_in(s, u))
            continue;
        inside += weight[u] * s->part->entry_count[e];
        for (size_t k = 0; k < s->n_series; k++)
            means[k] += weight[u] * s->sums[e * s->n_series + k];
    }
    for (size_t k = 0; k < s->n_series; k++)
        means[k] /= inside;
    return inside / total;
}

bool ergo_part_values(const struct ergo_part *part, const struct ergo_target *target,
                      const struct ergo_window *window, const size_t *observables, size_t n,
                      double *value, double *blocks, double *share) {
    const struct ergo_model *model = target->point.job->model;
    struct series series;
    double rows[ERGO_CONJUGATES_MAX], means[SERIES_MAX];
    if (!collect(model, observables, n, &series))
        return false;
    double *own = NULL;
    const double *sums = ergo_sums_at(part, target, series.observable, series.n, &own);
    double *weight = malloc((part->mbar.n_values + 1) * sizeof *weight);
    struct sums all = {part, window, part->n_rows, sums, series.n};
    for (size_t r = 0; r < part->n_rows; r++) {
        rows[r] = target->a[part->rows[r]];
        if (window && window->row == part->rows[r])
            all.row = r;
    }
    if (sums && weight) {
        const size_t n_blocks = blocks || share ? part->n_blocks : 0;
        for (size_t b = 0; b <= n_blocks; b++) {
            const size_t without = b ? b - 1 : SIZE_MAX;
            const double *log_sum =
                b ? part->block_log_sum + (b - 1) * part->mbar.n_values : part->log_sum;
            (void)ergo_mbar_weights(&part->mbar, log_sum, rows, weight);
            const double inside = average(&all, weight, without, means);
            if (share)
                share[b] = inside;
            for (size_t i = 0; i < n; i++) {
                double *to = b ? blocks ? &blocks[(b - 1) * n + i] : NULL : &value[i];
                if (to)
                    *to = observe(model, target, &series, means, observables[i]);
            }
        }
    }
    const bool ok = sums && weight;
    free(own);
    free(weight);
    return ok;
}

struct ergo_valued ergo_jackknife(double value, const double *blocks, size_t n_blocks,
                                  size_t stride, double *delta) {
    const double n = (double)n_blocks;
    double mean = 0, squares = 0;
    if (!n_blocks)
        return (struct ergo_valued){value, NAN};
    for (size_t b = 0; b < n_blocks; b++)
        mean += blocks[b * stride] / n;
    for (size_t b = 0; b < n_blocks; b++) {
        const double d = sqrt((n - 1) / n) * (blocks[b * stride] - mean);
        squares += d * d;
        if (delta)
            delta[b] = d;
    }
    return (struct ergo_valued){n * value - (n - 1) * mean, sqrt(squares)};
}
