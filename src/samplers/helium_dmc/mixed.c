/*
 * Samples from the sums of all walkers, on the host while the device works.
 *
 * A measurement is in the middle of the step, where half of the weight exp(-tau (E - mean)) belongs
 * before it and half behind it: means of the mixed distribution have the weights' square roots.
 * All of a walker's sums are there, so the mean energy and the weights are the comb's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "helium_dmc/core.h"
#include "samplers/helium_dmc/dmc.h"

static const struct helium_sums *sums_of(const struct dmc_state *s, unsigned slot, size_t sample,
                                         size_t member) {
    const struct helium_sums *sums = ergo_engine_host(&s->e, DMC_SAMPLE, slot, sample);
    return sums + member * s->shape.walkers;
}

static int64_t energy_of(const struct helium_sums *sums, const struct helium_dmc *dmc) {
    return helium_dmc_energy(sums->potential, sums->laplacian, sums->gradient, dmc);
}

/* As the comb finds it. */
static int64_t mean_of(const struct helium_dmc *dmc, const struct helium_sums *sums,
                       uint32_t walkers) {
    int64_t sum = 0;
    for (uint32_t w = 0; w < walkers; w++)
        sum += energy_of(&sums[w], dmc);
    return sum / (int64_t)walkers;
}

struct dmc_spread dmc_spread_of(const struct helium_model *model, const struct helium_dmc *dmc,
                                const struct helium_sums *sums, uint32_t walkers) {
    const int64_t mean = mean_of(dmc, sums, walkers);
    struct dmc_spread spread = {0};
    double squares = 0, all = 0, all2 = 0;
    for (uint32_t w = 0; w < walkers; w++) {
        const int64_t e = energy_of(&sums[w], dmc);
        const double away = (double)(mean - e) * (double)dmc->tau;
        const double weight = (double)helium_dmc_weight(helium_dmc_exponent(e, mean, dmc), 0);
        squares += fmin(away * away, (double)(HELIUM_DMC_MOST * HELIUM_DMC_MOST));
        all += weight;
        all2 += weight * weight;
        spread.limited += fabs(away) >= (double)HELIUM_DMC_MOST;
        spread.kinetic +=
            (double)sums[w].laplacian * model->unit[2] - (double)sums[w].gradient * model->unit[3];
    }
    spread.kinetic /= walkers;
    spread.deviation = sqrt(squares / walkers);
    spread.effective = all2 > 0 ? all * all / (all2 * walkers) : 0;
    return spread;
}

/* Mean kinetic energies of walkers that run away are far below 0, which no state has, in units of
 * 1/tau: where psi is too soft for V, or too narrow, the local energy falls without a bound, and
 * walkers there outgrow the others. In the end they are alike, and their weights tell nothing. */
#define KINETIC_LEAST (-4.0)

bool dmc_runs_away(const struct dmc_spread *spread, uint32_t walkers, double tau) {
    return (spread->limited > 3 && 4 * (uint64_t)spread->limited > walkers) ||
           spread->effective < 0.05 || spread->kinetic * tau < KINETIC_LEAST;
}

static double tau_of(const struct dmc_state *s, size_t member) {
    return of_dmc(s->e.batch->points[member])->time_step;
}

static struct dmc_spread spread_at(const struct dmc_state *s, size_t m,
                                   const struct helium_sums *sums) {
    return dmc_spread_of(&s->models[m], &s->steps[m], sums, s->shape.walkers);
}

static double pure_of(const struct dmc_state *s, size_t member, const int64_t *records, int k) {
    const struct helium_model *model = &s->models[member];
    return (double)records[k] * (0.5 * model->unit[0] / model->n) / s->shape.walkers +
           model->tail_potential;
}

void dmc_estimate(const struct helium_model *model, const struct helium_dmc *dmc, double tau,
                  double unit, const struct helium_sums *sums, uint32_t walkers,
                  double columns[DMC_COLUMNS]) {
    const int64_t mean = mean_of(dmc, sums, walkers);
    const double n = model->n;
    double halves = 0, energy = 0, potential = 0, square = 0, all = 0, all2 = 0;
    for (uint32_t w = 0; w < walkers; w++) {
        const struct helium_energies e = helium_energies_of(model, &sums[w]);
        const float exponent = helium_dmc_exponent(energy_of(&sums[w], dmc), mean, dmc);
        const double weight = (double)helium_dmc_weight(exponent, 0) * 0x1p-24;
        const double half = ergo_portable_exp(0.5 * (double)exponent);
        const double local = e.potential + (e.laplacian - e.gradient);
        halves += half;
        energy += half * local;
        potential += half * e.potential;
        square += half * local * local;
        all += weight;
        all2 += weight * weight;
    }
    columns[DMC_ENERGY] = energy / halves;
    columns[DMC_POTENTIAL] = potential / halves;
    columns[DMC_SQUARE] = square / halves;
    columns[DMC_GROWTH] =
        (double)mean * unit / n + model->tail_potential - log(all / walkers) / (tau * n);
    columns[DMC_EFFECTIVE] = all * all / (all2 * walkers);
    columns[DMC_PURE] = 0;
    for (int c = DMC_LATE; c < DMC_COLUMNS; c++)
        columns[c] = 0;
}

double dmc_log_weight(const struct dmc_shape *shape, double tau, double unit, uint64_t step,
                      const uint64_t *grown, uint32_t steps) {
    double sum = 0;
    for (uint32_t k = 0; k < steps && k <= step; k++) {
        const uint64_t *g = grown + 2 * ((step - k) % shape->remember);
        const double weight = (double)g[1] * 0x1p-24 / shape->walkers;
        if (g[1])
            sum += (k ? 1 : 0.5) * (log(weight) - tau * unit * (double)(int64_t)g[0]);
    }
    return sum;
}

/* What the energies before a sample have to do with its own. */
static void add_weights(const struct dmc_state *s, unsigned which, size_t sample, size_t m,
                        double columns[DMC_COLUMNS]) {
    const struct ergo_engine_slot *slot = &s->e.slots[which];
    const uint64_t *grown = ergo_engine_host(&s->e, DMC_HISTORY, which, sample);
    const uint64_t step = slot->step + (sample + 1) * slot->every - 1;
    const double tau = tau_of(s, m);
    const uint32_t all = s->shape.remember;
    grown += m * 2 * all;
    columns[DMC_LATE] = dmc_log_weight(&s->shape, tau, s->unit[m], step, grown, all / 2);
    columns[DMC_LONG] = dmc_log_weight(&s->shape, tau, s->unit[m], step, grown, all);
}

static const int64_t *records_of(const struct dmc_state *s, unsigned slot, size_t sample,
                                 size_t member) {
    if (!s->shape.every)
        return NULL;
    const int64_t *records = ergo_engine_host(&s->e, DMC_FORWARD, slot, sample);
    return records + member * HELIUM_DMC_RECORDS;
}

bool dmc_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct dmc_state *s = state;
    const size_t m = row->member, sample = row->sample;
    const struct helium_sums *sums = sums_of(s, slot, sample, m);
    const struct dmc_spread spread = spread_at(s, m, sums);
    const int64_t *records = records_of(s, slot, sample, m);
    dmc_estimate(&s->models[m], &s->steps[m], tau_of(s, m), s->unit[m], sums, s->shape.walkers,
                 row->columns);
    if (records)
        row->columns[DMC_PURE] = pure_of(s, m, records, HELIUM_DMC_RECORDS - 1);
    if (s->shape.remember)
        add_weights(s, slot, sample, m, row->columns);
    return helium_marks_of(sums, s->shape.walkers) == 0 &&
           !dmc_runs_away(&spread, s->shape.walkers, tau_of(s, m));
}

enum ergo_status dmc_refuse(struct ergo_context *ctx, const void *state, unsigned which,
                            const struct ergo_samples *samples) {
    const struct dmc_state *s = state;
    const struct ergo_engine_slot *slot = &s->e.slots[which];
    const size_t members = s->e.batch->count;
    for (size_t i = 0; i < samples->count * members; i++) {
        const size_t m = i % members, sample = i / members;
        const struct helium_sums *sums = sums_of(s, which, sample, m);
        const struct dmc_spread spread = spread_at(s, m, sums);
        const uint64_t marks = helium_marks_of(sums, s->shape.walkers);
        const unsigned long long step = slot->step + (sample + 1) * slot->every;
        const double tau = tau_of(s, m);
        if (dmc_runs_away(&spread, s->shape.walkers, tau))
            return ergo_job_error(
                ctx, "/system/time_step",
                "%g/K: at step %llu %u of %u walkers have weights at a limit, all of them are "
                "worth %.3g walkers, and the mean kinetic energy of a walker is %.3g K: energies "
                "run away. Try %.2g/K, or a wave function whose local energy varies less; the last "
                "checkpoint is kept",
                tau, step, spread.limited, s->shape.walkers, spread.effective * s->shape.walkers,
                spread.kinetic, tau * fmin(0.5, 0.3 / spread.deviation));
        if (marks)
            return ergo_job_error(
                ctx, "/system/time_step",
                "%g/K: at step %llu an energy of an atom is beyond what the sums can hold (%.3g K "
                "of potential): two atoms of a walker came too close. Try %.2g/K, a wave function "
                "that keeps atoms apart, or another /system/start; the last checkpoint is kept",
                tau, step, (double)s->members[m].limit[0], 0.5 * tau);
    }
    return ERGO_OK;
}

/* ---- curves -----------------------------------------------------------------------------------
 */

/* A curve of one configuration. */
static void structure_of(const struct ergo_point *point, const struct helium_model *model, size_t c,
                         const int32_t *place, double *out) {
    if (c == DMC_GR)
        helium_gr(point, model, place, 1, out);
    else if (c == DMC_SK)
        helium_sk(point, model, place, 1, out);
    else if (c == DMC_MAP)
        helium_pair_map(point, model, place, 1, out);
    else
        helium_site_curve(point, model, c - DMC_SITE_CURVES, place, 1, out);
}

/* Descendants carry the weights of pure curves. */
static void add_pure(const struct dmc_state *s, size_t member, size_t c, const int32_t *places,
                     double *out) {
    const struct ergo_point *point = s->e.batch->points[member];
    const struct helium_model *model = &s->models[member];
    const uint32_t walkers = s->shape.chosen;
    if (walkers == 0)
        return;
    if (c == DMC_GR_PURE)
        helium_gr(point, model, places, walkers, out);
    else if (c == DMC_SK_PURE)
        helium_sk(point, model, places, walkers, out);
    else
        helium_site_curve(point, model, HELIUM_SPREAD, places, walkers, out);
}

/* The mean of a curve over walkers, with the weights of the mixed distribution. step: of the
 * sample; ratios: of displaced atoms. */
static bool add_structure(const struct dmc_state *s, size_t member, size_t c, uint64_t step,
                          const struct helium_sums *sums, const int32_t *places,
                          const int64_t *ratios, double *out) {
    const struct ergo_point *point = s->e.batch->points[member];
    const size_t size = ergo_point_curve_size(point, c);
    const int64_t mean = mean_of(&s->steps[member], sums, s->shape.walkers);
    double *one = malloc(size * sizeof *one + 1), halves = 0;
    bool whole = one != NULL;
    for (size_t i = 0; one && i < size; i++)
        out[i] = 0;
    for (uint32_t w = 0; whole && w < s->shape.structure_walkers; w++) {
        const struct helium_dmc *dmc = &s->steps[member];
        const float exponent = helium_dmc_exponent(energy_of(&sums[w], dmc), mean, dmc);
        const double half = ergo_portable_exp(0.5 * (double)exponent);
        halves += half;
        if (c >= DMC_OF_DENSITY && c != DMC_MAP) {
            whole = helium_density_add(point, &s->models[member], &s->members[member], w, step,
                                       ratios + (size_t)w * 2 * s->shape.points, c - DMC_OF_DENSITY,
                                       half, out);
            continue;
        }
        structure_of(point, &s->models[member], c, places + 3 * (size_t)s->shape.n * w, one);
        for (size_t i = 0; i < size; i++)
            out[i] += half * one[i];
    }
    for (size_t i = 0; whole && i < size; i++)
        out[i] /= halves;
    free(one);
    return whole;
}

bool dmc_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct dmc_state *s = state;
    const struct ergo_engine_slot *block = &s->e.slots[slot];
    const struct dmc_shape *h = &s->shape;
    const size_t m = row->member, sample = row->taken;
    bool whole = true;
    const int64_t *records = records_of(s, slot, sample, m);
    const int32_t *places = ergo_engine_host(&s->e, DMC_PLACES, slot, row->sample);
    const int32_t *pure =
        h->chosen ? ergo_engine_host(&s->e, DMC_PURE_SAMPLE, slot, row->sample) : NULL;
    const int64_t *ratios =
        h->points ? ergo_engine_host(&s->e, DMC_RATIOS, slot, row->sample) : NULL;
    for (size_t c = 0; c < DMC_CURVES && whole; c++) {
        const size_t size = ergo_point_curve_size(s->e.batch->points[m], c);
        if (c == DMC_WALK || !row->curves[c])
            continue;
        if (c >= DMC_GR_PURE && c <= DMC_SPREAD_PURE)
            add_pure(s, m, c, pure + m * 3 * h->chosen * h->n, row->curves[c] + row->number * size);
        else
            whole = add_structure(s, m, c, block->step + (sample + 1) * block->every,
                                  sums_of(s, slot, sample, m),
                                  places + m * 3 * h->structure_walkers * h->n,
                                  ratios ? ratios + m * h->structure_walkers * 2 * h->points : NULL,
                                  row->curves[c] + row->number * size);
    }
    for (int r = 0; records && r < HELIUM_DMC_RECORDS; r++)
        row->curves[DMC_WALK][row->number * HELIUM_DMC_RECORDS + (size_t)r] =
            pure_of(s, m, records, r);
    return whole;
}
