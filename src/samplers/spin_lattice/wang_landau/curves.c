/*
 * Wang-Landau walks: what is told at the end of a run. In each estimate all states together are
 * 2^N. ln g is that of the mean g; energies and so on at a temperature follow from it. Errors are
 * the jackknife's over the estimates, whose pseudo-values are added.
 */
#include <math.h>
#include <stdlib.h>

#include "samplers/spin_lattice/graph/graph.h"
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
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* values[KINDS][points] from ln g. */
static void evaluate(const struct walk_graph *g, const struct ergo_point *point, const double *ln_g,
                     size_t points, double *values) {
    double scale[2];
    walk_scale(g, scale);
    for (size_t i = 0; i < points; i++) {
        const double t = walk_temperature(point, scale, i);
        const struct canonical c = canonical_of(g, ln_g, t);
        values[i] = c.e / g->n;
        values[points + i] = c.e2 / (t * t * g->n);
        values[2 * points + i] = -t * c.ln_z / g->n;
        values[3 * points + i] = (c.e / t + c.ln_z) / g->n;
    }
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
 * number `without`. (The mean of ln g would be too small by half of its variance.) sum: of all, of
 * exp(ln g - most). */
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

/* Adds ln g, and what follows from it at the temperatures. */
static bool add_means(const struct walk_state *s, size_t member, const double *all,
                      struct ergo_curve *curves) {
    const struct ergo_point *point = s->e.batch->points[member];
    const size_t levels = (size_t)s->graph.levels.count, estimates = s->shape.estimates;
    const size_t points = (size_t)ergo_point_int(point, "/run/temperature_points");
    const size_t size = levels + KINDS * points;
    double *of_all = malloc(2 * size * sizeof *of_all);
    struct total *totals = malloc(levels * sizeof *totals);
    const double n = (double)estimates;
    const bool ok = of_all && totals;
    if (!ok)
        goto out;
    double *part = of_all + size;
    total_of(estimates, levels, all, totals);
    mean_of(estimates, levels, all, totals, SIZE_MAX, of_all);
    evaluate(&s->graph, point, of_all, points, of_all + levels);
    for (size_t k = 0; k < estimates; k++) {
        mean_of(estimates, levels, all, totals, estimates > 1 ? k : SIZE_MAX, part);
        evaluate(&s->graph, point, part, points, part + levels);
        for (size_t i = 0; i < size; i++)
            part[i] = n * of_all[i] - (n - 1) * part[i];
        for (size_t i = 0; i < levels; i++) /* no level that some estimate has not found */
            part[i] += 0 * all[k * levels + i];
        ergo_curve_add(&curves[CURVE_LN_G], part);
        for (size_t q = 0; q < KINDS; q++)
            ergo_curve_add(&curves[kinds[q]], part + levels + q * points);
    }
out:
    free(of_all);
    free(totals);
    return ok;
}

enum ergo_status walk_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                 struct ergo_curve *curves) {
    struct walk_state *s = state;
    const size_t levels = (size_t)s->graph.levels.count, estimates = s->shape.estimates;
    double *all = malloc(estimates * levels * sizeof *all), lowest = INFINITY;
    struct walk_estimate a;
    bool ok = walk_estimate_create(s, &a) && all;
    ergo_engine_begin(&s->e, ctx);
    for (size_t k = 0; k < estimates && ok; k++) {
        double *own = all + k * levels, facts[WALK_FACTS];
        walk_read(s, member * estimates + k, &a);
        if (ergo_engine_end(&s->e) != ERGO_OK)
            break;
        facts[WALK_FOUND] = (double)ln_g_of(&s->graph, &a, own);
        facts[WALK_LN_F] = (double)a.status.f * 0x1p-32;
        facts[WALK_INVERSE] = a.status.inverse;
        for (size_t i = levels; i-- > 0;)
            if (!isnan(own[i]) && walk_energy(&s->graph, i) < lowest)
                lowest = walk_energy(&s->graph, i);
        ergo_curve_add(&curves[CURVE_WALK], facts);
    }
    if (ok && ergo_engine_end(&s->e) == ERGO_OK) {
        for (int i = 0; i < 2; i++) /* twice: a fact */
            ergo_curve_add(&curves[CURVE_LOWEST], &lowest);
        ok = add_means(s, member, all, curves);
    }
    walk_estimate_free(&a);
    free(all);
    if (!ok)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for ln g of %zu estimates", estimates);
    return ergo_engine_end(&s->e);
}
