/* Models whose ladders the engine tempers: what needs no device, curves, states. */
#include "samplers/tempered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what can be said of a point ------------------------------------------------------------- */

bool ergo_is_tempered(const struct ergo_point *point) {
    return ergo_ladder_rungs(point) > 1;
}

enum ergo_status ergo_tempered_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ergo_ladder_check(ctx, point);
    if (status == ERGO_OK)
        status = ergo_feedback_check(ctx, point);
    if (ergo_is_tempered(point) && ergo_says(point->parameters->distribute, "lattice"))
        status = ergo_job_error(ctx, "/distribute",
                                "\"lattice\": a ladder of temperatures is not cut over ranks; use "
                                "\"points\"");
    return status;
}

/* The observable of a curve "ladder_X"; NULL: none. */
static const struct ergo_observable *observable_of(const struct ergo_model *model,
                                                   const char *curve) {
    const size_t prefix = strlen("ladder_");
    for (size_t o = 0; o < model->n_observables && strncmp(curve, "ladder_", prefix) == 0; o++)
        if (strcmp(model->observables[o].name, curve + prefix) == 0)
            return &model->observables[o];
    return NULL;
}

bool ergo_tempered_curve_size(const struct ergo_point *point, size_t c, size_t *size) {
    const struct ergo_model *model = point->job->model;
    const char *name = model->curves[c].name;
    const struct ergo_observable *of = observable_of(model, name);
    const size_t rungs = ergo_ladder_rungs(point);
    if (strncmp(name, "ladder_", 7) != 0 && strcmp(name, "round_trips") != 0)
        return false;
    *size = rungs < 2                             ? 0
            : of                                  ? (ergo_observable_shown(of, point) ? rungs : 0)
            : strcmp(name, "ladder_swaps") == 0   ? rungs - 1
            : strcmp(name, "ladder_moments") == 0 ? rungs * ergo_temper_moments(model)
            : strcmp(name, "ladder_temperatures") == 0 ? rungs
            : strcmp(name, "round_trips") == 0         ? 1
                                                       : 0;
    return true;
}

bool ergo_tempered_curve_x(const struct ergo_point *point, size_t c, double *x) {
    double t[ERGO_LADDER_MAX];
    size_t size;
    if (!ergo_tempered_curve_size(point, c, &size))
        return false;
    const struct ergo_model *model = point->job->model;
    const bool numbered = c == ergo_temper_curve(model, "ladder_temperatures") ||
                          c == ergo_temper_curve(model, "ladder_moments") ||
                          c == ergo_temper_curve(model, "round_trips");
    ergo_ladder_temperatures(point, t);
    for (size_t i = 0; i < size; i++)
        x[i] = numbered ? (double)i : t[i];
    return true;
}

size_t ergo_tempered_x(const struct ergo_point *point, size_t c) {
    const struct ergo_model *model = point->job->model;
    const bool found = ergo_is_tempered(point) && ergo_ladder_automatic(point) &&
                       strncmp(model->curves[c].x_label, "temperature", 11) == 0;
    return found ? ergo_temper_curve(model, "ladder_temperatures") : c;
}

/* ---- a batch on a device --------------------------------------------------------------------- */

enum ergo_status ergo_tempered_init(struct ergo_context *ctx, void *state) {
    struct ergo_engine *e = state;
    ergo_engine_begin(e, ctx);
    if (ergo_temper_of(e))
        ergo_temper_reset(e);
    return ergo_engine_end(e) == ERGO_OK ? ergo_engine_init(ctx, e) : ergo_engine_end(e);
}

/* ---- states ---------------------------------------------------------------------------------- */

enum ergo_status ergo_tempered_save(struct ergo_context *ctx, void *state, size_t member,
                                    struct ergo_text *text) {
    struct ergo_engine *e = state;
    const struct ergo_temper *t = ergo_temper_of(e);
    double all[ERGO_LADDER_MAX];
    uint32_t came[ERGO_LADDER_MAX];
    uint64_t moves[ERGO_LADDER_MAX];
    if (!t)
        return ergo_fields_save(ctx, e, member, text);
    ergo_engine_begin(e, ctx);
    ergo_temper_read(e, member, came, moves);
    enum ergo_status status = ergo_engine_end(e);
    ergo_temper_temperatures(t, member, all);
    if (t->feedback.automatic)
        ergo_text_append_bytes(text, all, 8 * (size_t)t->rungs);
    for (uint32_t r = 0; r < t->rungs; r++) {
        const uint8_t byte = came[r] != 0;
        ergo_text_append_bytes(text, &byte, 1);
    }
    ergo_text_append_bytes(text, moves, 8 * (size_t)t->rungs);
    for (uint32_t r = 0; r < t->rungs && status == ERGO_OK; r++)
        status = ergo_fields_save(ctx, e, member * t->rungs + r, text);
    return status;
}

/* What is before the states of the rungs. */
static size_t head_bytes(const struct ergo_temper *t) {
    return (t->feedback.automatic ? 17 : 9) * (size_t)t->rungs;
}

/* Can these be a ladder's temperatures and moves after so many steps? */
static bool possible(const struct ergo_temper *t, size_t ladder, uint64_t step, const double *all,
                     const uint32_t *came, const uint64_t *moves) {
    const uint32_t n = t->rungs;
    bool right =
        came[0] == 0 && came[n - 1] == 1 && ergo_feedback_possible(t->outer->points[ladder], all);
    for (uint32_t r = 0; r + 1 < n; r++)
        right = right && came[r] <= 1 && moves[r] <= ergo_feedback_tries(&t->feedback, step, r % 2);
    return right && moves[n - 1] <= moves[0];
}

static void set_if_other(struct ergo_engine *e, size_t ladder, const double *all) {
    const struct ergo_temper *t = ergo_temper_of(e);
    double now[ERGO_LADDER_MAX];
    ergo_temper_temperatures(t, ladder, now);
    if (memcmp(now, all, t->rungs * sizeof *all) != 0)
        ergo_temper_set(e, ladder, all);
}

/* The spins of all rungs. */
static enum ergo_status load_rungs(struct ergo_context *ctx, struct ergo_engine *e, size_t member,
                                   uint64_t step, const uint8_t *bytes, size_t length) {
    const uint32_t n = ergo_temper_of(e)->rungs;
    enum ergo_status status = ERGO_OK;
    for (uint32_t r = 0; r < n && status == ERGO_OK; r++)
        status =
            ergo_fields_load(ctx, e, member * n + r, step, bytes + r * (length / n), length / n);
    return status;
}

static enum ergo_status check_length(struct ergo_context *ctx, const struct ergo_temper *t,
                                     size_t member, size_t length) {
    return length >= head_bytes(t) && (length - head_bytes(t)) % t->rungs == 0
               ? ERGO_OK
               : ERGO_FAIL(
                     ctx, ERGO_E_IO,
                     "the saved state of member %zu has %zu bytes, which are none of a ladder "
                     "of %u temperatures",
                     member, length, t->rungs);
}

enum ergo_status ergo_tempered_load(struct ergo_context *ctx, void *state, size_t member,
                                    uint64_t step, const void *bytes, size_t length) {
    struct ergo_engine *e = state;
    struct ergo_temper *t = ergo_temper_of(e);
    const uint8_t *at = bytes;
    double all[ERGO_LADDER_MAX];
    uint32_t came[ERGO_LADDER_MAX];
    uint64_t moves[ERGO_LADDER_MAX];
    if (!t)
        return ergo_fields_load(ctx, e, member, step, bytes, length);
    if (check_length(ctx, t, member, length) != ERGO_OK)
        return ERGO_E_IO;
    ergo_temper_temperatures(t, member, all);
    if (t->feedback.automatic) {
        memcpy(all, at, 8 * (size_t)t->rungs);
        at += 8 * (size_t)t->rungs;
    }
    for (uint32_t r = 0; r < t->rungs; r++)
        came[r] = *at++;
    memcpy(moves, at, 8 * (size_t)t->rungs);
    if (!possible(t, member, step, all, came, moves))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu is damaged: no ladder of these "
                         "temperatures has made these exchanges",
                         member);
    e->step = step;
    ergo_engine_begin(e, ctx);
    set_if_other(e, member, all);
    ergo_temper_write(e, member, came, moves);
    if (ergo_engine_end(e) != ERGO_OK)
        return ergo_engine_end(e);
    return load_rungs(ctx, e, member, step, (const uint8_t *)bytes + head_bytes(t),
                      length - head_bytes(t));
}

enum ergo_status ergo_tempered_carry(struct ergo_context *ctx, void *state, size_t member,
                                     const void *bytes, size_t length) {
    const struct ergo_temper *t = ergo_temper_of(state);
    if (!t)
        return ergo_fields_load(ctx, state, member, 0, bytes, length);
    if (check_length(ctx, t, member, length) != ERGO_OK)
        return ERGO_E_IO;
    return load_rungs(ctx, state, member, 0, (const uint8_t *)bytes + head_bytes(t),
                      length - head_bytes(t));
}

/* ---- curves ----------------------------------------------------------------------------------
 *
 * Of bins of time, which are the units of errors: quantities that are not means are added as the
 * jackknife's pseudo-values, G f - (G - 1) f without the unit.
 */

struct bins {
    const struct ergo_model *model;
    size_t count, moments; /* moments: of a temperature */
    double *value;         /* [count][rung][moment] */
    double *mean;          /* [rung][moment] */
};

/* Which of a temperature's moments is this observable's? */
static size_t moment_of(const struct ergo_model *model, const char *name) {
    size_t at = 0;
    for (size_t o = 0; o < model->n_observables; o++) {
        if (strcmp(model->observables[o].name, name) == 0)
            break;
        at += ergo_observable_sampled(&model->observables[o]);
    }
    return at;
}

/* An observable from the moments of a temperature. */
static double value_of(const struct ergo_model *model, const struct ergo_observable *of,
                       const struct ergo_point *rung, const double *moments) {
    double inputs[8] = {0};
    if (ergo_observable_sampled(of))
        return moments[moment_of(model, of->name)];
    for (size_t i = 0; i < 8 && of->inputs[i]; i++)
        inputs[i] = moments[moment_of(model, of->inputs[i])];
    return of->derive(rung, inputs);
}

static bool bins_of(const struct ergo_model *model, const struct ergo_curve *from, uint32_t rungs,
                    struct bins *b) {
    b->model = model;
    b->moments = ergo_temper_moments(model);
    b->count = from->bin_length ? (size_t)(from->count / from->bin_length) : 0;
    const size_t size = rungs * b->moments;
    b->value = malloc((b->count * size + 1) * sizeof *b->value);
    b->mean = calloc(size, sizeof *b->mean);
    if (!b->value || !b->mean)
        return false;
    for (size_t i = 0; i < b->count * size; i++) {
        b->value[i] = from->bins[i] / (double)from->bin_length;
        b->mean[i % size] += b->value[i] / (double)b->count;
    }
    return true;
}

static void add_observable(const struct bins *b, const struct ergo_temper *t, size_t member,
                           const struct ergo_observable *of, struct ergo_curve *curve) {
    const double g = (double)b->count;
    double row[ERGO_LADDER_MAX], without[64];
    for (size_t k = 0; k < b->count; k++) {
        for (uint32_t r = 0; r < t->rungs; r++) {
            const struct ergo_point *rung = &t->points[member * t->rungs + r];
            const double *mean = b->mean + r * b->moments;
            const double *own = b->value + (k * t->rungs + r) * b->moments;
            if (ergo_observable_sampled(of) || b->count < 2) {
                row[r] = value_of(b->model, of, rung, own);
                continue;
            }
            for (size_t m = 0; m < b->moments && m < 64; m++)
                without[m] = mean[m] - (own[m] - mean[m]) / (g - 1);
            row[r] = g * value_of(b->model, of, rung, mean) -
                     (g - 1) * value_of(b->model, of, rung, without);
        }
        ergo_curve_add(curve, row);
    }
}

void ergo_ladder_add_moves(const struct ergo_feedback *feedback, uint64_t step, uint32_t rungs,
                           uint32_t copies, const uint64_t *moves, const uint64_t *trips,
                           struct ergo_curve *swaps, struct ergo_curve *round_trips) {
    const uint64_t counted = step - ergo_feedback_since(feedback, step);
    const double steps = counted ? (double)counted : 1;
    double rates[ERGO_LADDER_MAX], ways = 0;
    for (uint32_t r = 0; r + 1 < rungs; r++) {
        const uint64_t tries = ergo_feedback_tries(feedback, step, r % 2) * copies;
        rates[r] = tries ? 0 : NAN;
        for (uint32_t c = 0; c < copies && tries; c++)
            rates[r] += (double)moves[r * copies + c] / (double)tries;
    }
    for (uint32_t c = 0; c < copies; c++)
        ways += (double)trips[c] * 1e6 / (rungs * copies * steps);
    ergo_curve_add(swaps, rates);
    ergo_curve_add(round_trips, &ways);
}

enum ergo_status ergo_tempered_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                          struct ergo_curve *curves) {
    struct ergo_engine *e = state;
    const struct ergo_temper *t = ergo_temper_of(e);
    const struct ergo_model *model = e->batch->job->model;
    struct bins b = {0};
    double found[ERGO_LADDER_MAX];
    uint32_t came[ERGO_LADDER_MAX];
    uint64_t moves[ERGO_LADDER_MAX];
    if (!t)
        return ERGO_OK;
    ergo_engine_begin(e, ctx);
    ergo_temper_read(e, member, came, moves);
    if (!bins_of(model, &curves[ergo_temper_curve(model, "ladder_moments")], t->rungs, &b))
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for curves of a ladder");
    for (size_t c = 0; c < model->n_curves && e->status == ERGO_OK; c++) {
        const struct ergo_observable *of = observable_of(model, model->curves[c].name);
        size_t size;
        if (of && ergo_tempered_curve_size(t->outer->points[member], c, &size) && size)
            add_observable(&b, t, member, of, &curves[c]);
    }
    if (e->status == ERGO_OK) {
        ergo_ladder_add_moves(&t->feedback, e->step, t->rungs, 1, moves, moves + t->rungs - 1,
                              &curves[ergo_temper_curve(model, "ladder_swaps")],
                              &curves[ergo_temper_curve(model, "round_trips")]);
        ergo_temper_temperatures(t, member, found);
        ergo_curve_add(&curves[ergo_temper_curve(model, "ladder_temperatures")], found);
    }
    free(b.value);
    free(b.mean);
    return ergo_engine_end(e);
}
