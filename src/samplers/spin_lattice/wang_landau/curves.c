/*
 * Wang-Landau walks: what is told at the end of a run. In each estimate all states together are
 * 2^N. ln g is that of the mean g; energies and so on at a temperature follow from it. Errors are
 * the jackknife's over the estimates, whose pseudo-values are added. An estimate of ln g has a bias
 * of the order of its variance, which no mean over estimates takes away: so it is compared with the
 * error (WALK_BIAS).
 */
#include <math.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

static const double ln_2 = 0.693147180559945309417;

/* ln of the sum of exp(x - e/t) over levels that were found, and the means of e and e^2. */
struct canonical {
    double ln_z, e, e2;
};

static struct canonical canonical_of(const struct walk_graph *g, const double *ln_g, double t) {
    struct canonical c = {-INFINITY, 0, 0};
    double most = -INFINITY, z = 0;
    const double middle = walk_energy(g, g->levels.count / 2);
    for (size_t i = 0; i < g->levels.count; i++)
        if (!isnan(ln_g[i]))
            most = fmax(most, ln_g[i] - walk_energy(g, i) / t);
    for (size_t i = 0; i < g->levels.count; i++) {
        if (isnan(ln_g[i]))
            continue;
        const double e = walk_energy(g, i), w = exp(ln_g[i] - e / t - most);
        z += w;
        c.e += w * (e - middle);
        c.e2 += w * (e - middle) * (e - middle);
    }
    c.e /= z;
    c.e2 = c.e2 / z - c.e * c.e; /* the variance */
    c.e += middle;
    c.ln_z = most + log(z);
    return c;
}

static const int kinds[] = {CURVE_CHAIN_ENERGY, CURVE_CHAIN_HEAT, CURVE_FREE_ENERGY,
                            CURVE_CHAIN_ENTROPY};
enum { KINDS = sizeof kinds / sizeof kinds[0], EXPONENTIALS = 100000 /* some ms */ };

struct evaluation {
    const struct walk_graph *g;
    const struct ergo_point *point;
    const double *ln_g;
    double *values, range[2];
    size_t points;
};

static void evaluate_some(size_t begin, size_t end, void *user) {
    const struct evaluation *e = user;
    for (size_t i = begin; i < end; i++) {
        const double t = walk_temperature(e->point, e->range, i), n = e->g->n;
        const struct canonical c = canonical_of(e->g, e->ln_g, t);
        double *to = e->values + i;
        to[0] = c.e / n;
        to[e->points] = c.e2 / (t * t * n);
        to[2 * e->points] = -t * c.ln_z / n;
        to[3 * e->points] = (c.e / t + c.ln_z) / n;
    }
}

/* values[KINDS][points] from ln g. */
static void evaluate(const struct walk_graph *g, const struct ergo_point *point, const double *ln_g,
                     size_t points, double *values) {
    struct evaluation e = {.g = g, .point = point, .ln_g = ln_g, .points = points};
    e.values = values;
    walk_range(point, g, e.range);
    ergo_parallel_ranges(points, 1 + EXPONENTIALS / g->levels.count, evaluate_some, &e);
}

/* ln g of an estimate, NAN where no walker was; returns levels that were found. */
static size_t ln_g_of(const struct walk_graph *g, const struct walk_estimate *a, double *ln_g) {
    double most = -INFINITY, sum = 0;
    size_t found = 0;
    for (size_t i = 0; i < g->levels.count; i++) {
        const bool seen = a->counts[i] || a->visited[i] & WALK_SEEN;
        ln_g[i] = seen ? (double)walk_ln_g(a->ln_g[i], a->status.f, a->counts[i]) * 0x1p-32 : NAN;
        found += seen;
        most = seen ? fmax(most, ln_g[i]) : most;
    }
    for (size_t i = 0; i < g->levels.count; i++)
        sum += isnan(ln_g[i]) ? 0 : exp(ln_g[i] - most);
    for (size_t i = 0; i < g->levels.count; i++)
        ln_g[i] += g->n * ln_2 - most - log(sum);
    return found;
}

/* all[estimates][levels]: ln of the mean g of level i over the estimates that have found it but
 * number `without`. (The mean of ln g would be smaller by half of its variance; g itself has a bias
 * of that order too.) sum: of all, of exp(ln g - most). */
static double mean_at(size_t estimates, size_t levels, const double *all, size_t i, size_t without,
                      double most, double sum, size_t found) {
    const double own = without < estimates ? exp(all[without * levels + i] - most) : 0;
    if (isnan(own) || own == 0)
        return found ? most + log(sum / (double)found) : NAN;
    if (found < 2)
        return NAN;
    if (sum - own < 1e-6 * own) { /* it outweighs the others, whose sum is lost beside it */
        double left = -INFINITY, rest = 0;
        for (size_t k = 0; k < estimates; k++)
            left = k == without ? left : fmax(left, all[k * levels + i]);
        for (size_t k = 0; k < estimates; k++)
            rest +=
                k == without || isnan(all[k * levels + i]) ? 0 : exp(all[k * levels + i] - left);
        return left + log(rest / (double)(found - 1));
    }
    return most + log((sum - own) / (double)(found - 1));
}

/* What mean_at needs of each level. */
struct total {
    double most, sum;
    size_t found;
};

static void total_of(size_t estimates, size_t levels, const double *all, struct total *totals) {
    for (size_t i = 0; i < levels; i++) {
        struct total t = {-INFINITY, 0, 0};
        for (size_t k = 0; k < estimates; k++)
            t.most = fmax(t.most, all[k * levels + i]);
        for (size_t k = 0; k < estimates; k++)
            if (!isnan(all[k * levels + i])) {
                t.sum += exp(all[k * levels + i] - t.most);
                t.found++;
            }
        totals[i] = t;
    }
}

static void mean_of(size_t estimates, size_t levels, const double *all, const struct total *totals,
                    size_t without, double *mean) {
    for (size_t i = 0; i < levels; i++)
        mean[i] = mean_at(estimates, levels, all, i, without, totals[i].most, totals[i].sum,
                          totals[i].found);
}

/* What a level's pseudo-values are away from their mean's value, added up. */
struct scatter {
    double sum, squares;
};

/* The largest scatter of an estimate's ln g, halved: over an error smaller by sqrt(estimates) it
 * tells how many errors a bias of half of the variance is. NAN: one estimate, no scatter. */
static double bias_of(const struct scatter *scatters, size_t levels, size_t estimates) {
    const double n = (double)estimates;
    double most = NAN;
    for (size_t i = 0; i < levels && estimates > 1; i++) {
        const struct scatter *s = &scatters[i];
        const double variance = (s->squares - s->sum * s->sum / n) / (n - 1);
        most = fmax(most, 0.5 * sqrt(n * fmax(variance, 0)));
    }
    return most;
}

bool walk_add_means(const struct walk_state *s, size_t member, const double *all, double *facts,
                    struct ergo_curve *curves) {
    const struct ergo_point *point = s->e.batch->points[member];
    const size_t levels = (size_t)s->graph.levels.count, estimates = s->shape.estimates;
    const size_t points = (size_t)of_graph(point)->temperature_points;
    const size_t size = levels + KINDS * points;
    double *of_all = malloc(2 * size * sizeof *of_all);
    struct total *totals = malloc(levels * sizeof *totals);
    struct scatter *scatters = calloc(levels, sizeof *scatters);
    const double n = (double)estimates;
    const bool ok = of_all && totals && scatters;
    size_t lowest = 0;
    if (!ok)
        goto out;
    double *part = of_all + size;
    total_of(estimates, levels, all, totals);
    mean_of(estimates, levels, all, totals, SIZE_MAX, of_all);
    evaluate(&s->graph, point, of_all, points, of_all + levels);
    while (lowest + 1 < levels && !totals[lowest].found)
        lowest++;
    for (size_t k = 0; k < estimates; k++) {
        double *own = facts + k * WALK_FACTS;
        mean_of(estimates, levels, all, totals, estimates > 1 ? k : SIZE_MAX, part);
        evaluate(&s->graph, point, part, points, part + levels);
        for (size_t i = 0; i < size; i++)
            part[i] = n * of_all[i] - (n - 1) * part[i];
        own[WALK_COMPLETE] = 1;
        for (size_t i = 0; i < levels; i++) {
            part[i] += 0 * all[k * levels + i]; /* no level that some estimate has not found */
            scatters[i].sum += part[i] - of_all[i];
            scatters[i].squares += (part[i] - of_all[i]) * (part[i] - of_all[i]);
            if (totals[i].found && isnan(all[k * levels + i]))
                own[WALK_COMPLETE] = 0;
        }
        own[WALK_GROUND] = part[lowest];
        ergo_curve_add(&curves[CURVE_LN_G], part);
        for (size_t q = 0; q < KINDS; q++)
            ergo_curve_add(&curves[kinds[q]], part + levels + q * points);
    }
    for (size_t k = 0; k < estimates; k++) {
        facts[k * WALK_FACTS + WALK_BIAS] = bias_of(scatters, levels, estimates);
        ergo_curve_add(&curves[CURVE_WALK], facts + k * WALK_FACTS);
    }
out:
    free(of_all);
    free(totals);
    free(scatters);
    return ok;
}

enum ergo_status walk_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                 struct ergo_curve *curves) {
    struct walk_state *s = state;
    const size_t levels = (size_t)s->graph.levels.count, estimates = s->shape.estimates;
    double *all = malloc(estimates * levels * sizeof *all), lowest = INFINITY;
    double *facts = calloc(estimates * WALK_FACTS, sizeof *facts);
    struct walk_estimate a;
    bool ok = walk_estimate_create(s, &a) && all && facts;
    ergo_engine_begin(&s->e, ctx);
    for (size_t k = 0; k < estimates && ok; k++) {
        double *own = all + k * levels, *fact = facts + k * WALK_FACTS;
        walk_read(s, member * estimates + k, &a);
        if (ergo_engine_end(&s->e) != ERGO_OK)
            break;
        fact[WALK_FOUND] = (double)ln_g_of(&s->graph, &a, own);
        fact[WALK_LN_F] = (double)a.status.f * 0x1p-32;
        fact[WALK_INVERSE] = a.status.inverse;
        for (size_t i = levels; i-- > 0;)
            if (!isnan(own[i]) && walk_energy(&s->graph, i) < lowest)
                lowest = walk_energy(&s->graph, i);
    }
    if (ok && ergo_engine_end(&s->e) == ERGO_OK) {
        for (int i = 0; i < 2; i++) /* twice: a fact */
            ergo_curve_add(&curves[CURVE_LOWEST], &lowest);
        ok = walk_add_means(s, member, all, facts, curves);
    }
    walk_estimate_free(&a);
    free(all);
    free(facts);
    if (!ok)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for ln g of %zu estimates", estimates);
    return ergo_engine_end(&s->e);
}
