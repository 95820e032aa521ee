/* Parallel tempering: temperatures of a job, exchanges in time, acceptance and round trips. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fields.h"
#include "engine/ladder.h"

/* ---- the job --------------------------------------------------------------------------------- */

/* r with r^n = x > 0, by products alone: libm's pow may differ in the last bit. */
static double root(double x, uint32_t n) {
    double low = x < 1 ? x : 1, high = x < 1 ? 1 : x;
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        double power = 1;
        for (uint32_t k = 0; k < n; k++)
            power *= middle;
        if (power > x)
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

enum { AUTOMATIC_RUNGS = 16 };

uint32_t ergo_ladder_rungs(const struct ergo_point *point) {
    const struct ergo_value *ladder = &point->parameters->ladder;
    return ladder->automatic ? AUTOMATIC_RUNGS : (uint32_t)ladder->integer;
}

bool ergo_ladder_automatic(const struct ergo_point *point) {
    const struct ergo_value *spacing = &point->parameters->ladder_spacing;
    return spacing->present ? strcmp(spacing->text, "auto") == 0
                            : point->parameters->ladder.automatic;
}

/* Numbers with commas between them, "1, 1.2, 1.5"; returns how many, 0: no such list. */
static uint32_t read_list(const char *text, double t[ERGO_LADDER_MAX]) {
    uint32_t n = 0;
    for (const char *at = text; n < ERGO_LADDER_MAX; at++) {
        char *end = NULL;
        t[n++] = strtod(at, &end);
        if (end == at)
            return 0;
        at = end + strspn(end, " \t");
        if (*at && *at != ',')
            return 0;
        if (!*at)
            return n;
    }
    return 0;
}

uint32_t ergo_ladder_temperatures(const struct ergo_point *point, double t[ERGO_LADDER_MAX]) {
    const uint32_t n = ergo_ladder_rungs(point);
    const struct ergo_value *top = &point->parameters->temperature_max;
    const struct ergo_value *given = &point->parameters->ladder_spacing;
    const char *spacing =
        given->present && strcmp(given->text, "auto") != 0 ? given->text : "geometric";
    const double cold = point->parameters->temperature;
    const struct ergo_value *list = &point->parameters->ladder_temperatures;
    t[0] = cold;
    if (list->present && read_list(list->text, t) == n)
        return n;
    t[0] = cold;
    if (n < 2 || !top->present)
        return n;
    const double ratio = strcmp(spacing, "geometric") == 0 ? root(top->real / cold, n - 1) : 1;
    for (uint32_t i = 1; i < n; i++) {
        const double f = (double)i / (n - 1);
        if (strcmp(spacing, "linear") == 0)
            t[i] = cold + f * (top->real - cold);
        else if (strcmp(spacing, "inverse") == 0)
            t[i] = 1 / ((1 - f) / cold + f / top->real);
        else
            t[i] = t[i - 1] * ratio;
    }
    t[n - 1] = top->real;
    return n;
}

uint32_t ergo_ladder_every(const struct ergo_point *point) {
    const struct ergo_value *every = &point->parameters->swap_every;
    return every->present ? (uint32_t)every->integer : 10;
}

static enum ergo_status check_list(struct ergo_context *ctx, const char *text, uint32_t n,
                                   double cold, double hot) {
    double t[ERGO_LADDER_MAX];
    const uint32_t found = read_list(text, t);
    bool right = found == n && t[0] >= cold && t[0] <= cold && t[n - 1] >= hot && t[n - 1] <= hot;
    for (uint32_t r = 1; r < n && right; r++)
        right = t[r] > t[r - 1];
    return right ? ERGO_OK
                 : ergo_job_error(ctx, "/system/ladder_temperatures",
                                  "\"%.64s\": %u numbers that grow, from /system/temperature %.17g "
                                  "to temperature_max %.17g, with commas between them",
                                  text, n, cold, hot);
}

enum ergo_status ergo_ladder_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    const struct ergo_value *top = &point->parameters->temperature_max;
    const double cold = point->parameters->temperature;
    const int64_t n = ergo_ladder_rungs(point);
    if (n > 1 && !top->present)
        status = ergo_job_error(ctx, "/system/temperature_max",
                                "missing; a ladder of %lld temperatures needs its hottest one",
                                (long long)n);
    if (n > 1 && top->present && !(top->real > cold))
        status = ergo_job_error(ctx, "/system/temperature_max",
                                "%g is not above /system/temperature %g", top->real, cold);
    const struct ergo_value *list = &point->parameters->ladder_temperatures;
    if (status == ERGO_OK && n > 1 && list->present)
        status = check_list(ctx, list->text, (uint32_t)n, cold, top->real);
    if (n == 1 && top->present)
        status = ergo_job_error(ctx, "/system/ladder",
                                "missing; temperature_max belongs to a ladder of 2 and more");
    return status;
}

float ergo_ladder_slope(const double *all, uint32_t rungs, uint32_t t, double unit) {
    return t + 1 < rungs ? (float)(unit / all[t] - unit / all[t + 1]) : 0;
}

void ergo_ladder_feed_back(uint32_t rungs, const double *rejected, double *all) {
    double beta[ERGO_LADDER_MAX], barrier[ERGO_LADDER_MAX] = {0};
    for (uint32_t r = 0; r < rungs; r++) {
        beta[r] = 1 / all[r];
        barrier[r] = r ? barrier[r - 1] + rejected[r - 1] : 0;
    }
    for (uint32_t r = 1, at = 0; r + 1 < rungs; r++) {
        const double wanted = barrier[rungs - 1] * r / (rungs - 1);
        while (at + 2 < rungs && barrier[at + 1] < wanted)
            at++;
        const double part = (wanted - barrier[at]) / (barrier[at + 1] - barrier[at]);
        all[r] = 1 / (beta[at] + part * (beta[at + 1] - beta[at]));
    }
}

/* Feedback comes at these parts of the equilibration: half of it, a quarter ... */
enum { HALVES = 6 };

struct ergo_feedback ergo_feedback_of(const struct ergo_point *point) {
    return (struct ergo_feedback){.automatic =
                                      ergo_ladder_rungs(point) > 1 && ergo_ladder_automatic(point),
                                  .rungs = ergo_ladder_rungs(point),
                                  .every = ergo_ladder_every(point),
                                  .equilibration = (uint64_t)point->parameters->equilibration};
}

enum ergo_status ergo_feedback_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_feedback f = ergo_feedback_of(point);
    return !f.automatic || f.equilibration >= 2 * f.every
               ? ERGO_OK
               : ergo_job_error(ctx, "/run/equilibration",
                                "%llu: temperatures are found by feedback from exchanges in its "
                                "first half, the first of which comes after %llu sweeps; thousands "
                                "of sweeps find good ones",
                                (unsigned long long)f.equilibration, (unsigned long long)f.every);
}

static uint64_t feedback_step(const struct ergo_feedback *f, unsigned halves) {
    return (f->equilibration >> halves) / f->every * f->every;
}

uint64_t ergo_feedback_since(const struct ergo_feedback *f, uint64_t step) {
    for (unsigned h = 1; h <= HALVES && f->automatic; h++)
        if (feedback_step(f, h) <= step)
            return feedback_step(f, h);
    return 0;
}

uint64_t ergo_feedback_next(const struct ergo_feedback *f, uint64_t step) {
    for (unsigned h = HALVES; h >= 1 && f->automatic; h--)
        if (feedback_step(f, h) > step)
            return feedback_step(f, h);
    return UINT64_MAX;
}

uint64_t ergo_feedback_tries(const struct ergo_feedback *f, uint64_t step, uint32_t parity) {
    return ergo_ladder_tries(step, f->every, parity) -
           ergo_ladder_tries(ergo_feedback_since(f, step), f->every, parity);
}

void ergo_feedback_learn(const struct ergo_feedback *f, uint64_t step, uint64_t each,
                         const uint64_t *accepted, double *all) {
    const uint64_t since = ergo_feedback_since(f, step - 1);
    double rejected[ERGO_LADDER_MAX];
    for (uint32_t r = 0; r + 1 < f->rungs; r++) {
        const double tries = (double)each * (double)(ergo_ladder_tries(step, f->every, r % 2) -
                                                     ergo_ladder_tries(since, f->every, r % 2));
        rejected[r] = (tries - (double)accepted[r] + 0.5) / (tries + 1);
    }
    ergo_ladder_feed_back(f->rungs, rejected, all);
}

bool ergo_feedback_possible(const struct ergo_point *point, const double *all) {
    double own[ERGO_LADDER_MAX];
    const uint32_t n = ergo_ladder_temperatures(point, own);
    bool right = n > 0 && all[0] == own[0] && all[n - 1] == own[n - 1];
    for (uint32_t r = 0; r + 1 < n; r++)
        right = right && all[r] < all[r + 1];
    return right;
}

void ergo_feedback_begin(const struct ergo_batch *batch, double *ladders) {
    double all[ERGO_LADDER_MAX];
    for (size_t m = 0; m < batch->count; m++) {
        const uint32_t rungs = ergo_ladder_temperatures(batch->points[m], all);
        memcpy(ladders + m * rungs, all, rungs * sizeof *all);
    }
}

size_t ergo_feedback_bytes(const struct ergo_feedback *f) {
    return f->automatic ? 8 * (size_t)f->rungs : 0;
}

bool ergo_feedback_valid(const struct ergo_field_row *r) {
    const struct ergo_engine *e = r->state;
    double all[ERGO_LADDER_MAX];
    memcpy(all, r->bytes, r->x->bytes);
    return ergo_feedback_possible(e->batch->points[r->member], all);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

uint64_t ergo_ladder_tries(uint64_t step, uint64_t every, uint32_t parity) {
    const uint64_t turns = step / every;
    return parity ? (turns + 1) / 2 : turns / 2;
}

/* ---- counts ---------------------------------------------------------------------------------- */

size_t ergo_ladder_counts(uint32_t rungs) {
    return rungs > 1 ? rungs + 2 : 0;
}

void ergo_ladder_count_tries(uint32_t rungs, uint64_t step, uint64_t every, double *counts) {
    for (uint32_t parity = 0; parity < 2 && rungs > 1; parity++)
        counts[rungs + parity] = (double)ergo_ladder_tries(step, every, parity);
}

/* The variance of the mean growth of count `at`, in units of that mean: of what it is more than a
 * share of the tries, from the differences of its means over neighbouring bins of time. These
 * overlap, so that neighbours are correlated. */
static double growth(const struct ergo_curve *curve, size_t at, size_t tries) {
    const size_t size = curve->size, bins = (size_t)(curve->count / curve->bin_length);
    const double *first = curve->bins, *last = curve->bins + (bins - 1) * size;
    double d[ERGO_CURVE_BINS], sum = 0;
    if (bins < 4 || !(last[at] > first[at]) || !(last[tries] > first[tries]))
        return 0;
    const size_t n = bins - 1;
    const double grown = last[at] - first[at], share = grown / (last[tries] - first[tries]);
    for (size_t b = 0; b < n; b++) {
        const double *one = curve->bins + b * size, *next = one + size;
        d[b] = next[at] - one[at] - share * (next[tries] - one[tries]);
    }
    for (size_t b = 0; b < n; b++)
        sum += d[b] * (d[b] + (b + 1 < n ? 2 * d[b + 1] : 0));
    return fmax(0, sum) * (double)n / ((double)(n - 1) * grown * grown);
}

double ergo_ladder_rates(const struct ergo_ladder *ladder, uint32_t t, double *rates,
                         size_t samples, const struct ergo_curve *curve, size_t at) {
    const uint32_t rungs = ladder->rungs, slots = rungs * ladder->copies;
    const bool trips = t + 1 == rungs;
    const uint32_t parity = trips ? 0 : t % 2; /* trips end in exchanges of the coldest pair */
    const uint64_t counted = ladder->steps - ladder->since, steps = counted ? counted : 1;
    const uint64_t tries = (ergo_ladder_tries(ladder->steps, ladder->every, parity) -
                            ergo_ladder_tries(ladder->since, ladder->every, parity)) *
                           ladder->copies;
    const double each = trips   ? 1e6 / ((double)slots * (double)steps)
                        : tries ? 1 / (double)tries
                                : NAN;
    double mean = 0;
    for (size_t k = 0; k < samples; k++) {
        rates[k] *= each;
        mean += rates[k] / (double)samples;
    }
    const double chance = trips ? 0 : mean * (1 - mean) * each / (double)samples;
    return mean * mean * growth(curve, at + t, at + rungs + parity) - chance;
}
