/* Parallel tempering by members of a batch: the batch of rungs, exchanges, feedback, samples. */
#include "engine/temper.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/model.h"

_Static_assert(sizeof(struct ergo_ladder_term) == ERGO_LADDER_TERM_BYTES, "no padding");
_Static_assert(sizeof(struct ergo_ladder_rung) == ERGO_LADDER_RUNG_BYTES, "no padding");

/* ---- the batch of rungs ---------------------------------------------------------------------- */

/* A rung's stream: of its ladder's, whatever its temperature is. */
static uint64_t stream_of(const struct ergo_point *ladder, uint32_t rung) {
    struct ergo_text text = {0};
    ergo_text_append(&text, "ergocl rung %llu %u", (unsigned long long)ladder->stream, rung);
    const uint64_t stream = ergo_hash64(text.data, text.length);
    ergo_text_free(&text);
    return stream;
}

static void put(struct ergo_temper *t, size_t ladder, const double *temperatures) {
    for (uint32_t r = 0; r < t->rungs; r++)
        t->points[ladder * t->rungs + r].parameters->temperature = temperatures[r];
}

static void job_temperatures(struct ergo_temper *t) {
    double all[ERGO_LADDER_MAX];
    for (size_t l = 0; l < t->ladders; l++) {
        ergo_ladder_temperatures(t->outer->points[l], all);
        put(t, l, all);
    }
}

enum ergo_status ergo_temper_expand(struct ergo_context *ctx, struct ergo_engine *e) {
    const struct ergo_point *first = e->model->temper ? e->batch->points[0] : NULL;
    const uint32_t rungs = first ? ergo_ladder_rungs(first) : 1;
    if (rungs < 2)
        return ERGO_OK;
    const size_t bytes = ergo_job_parameters_size(e->batch->job);
    const size_t n = e->batch->count * rungs;
    struct ergo_temper *t = e->temper = calloc(1, sizeof *t);
    if (t) {
        t->points = calloc(n, sizeof *t->points);
        t->list = calloc(n, sizeof(struct ergo_point *));
        t->parameters = calloc(n, bytes);
        t->came = calloc(n, sizeof *t->came);
        t->moves = calloc(n, sizeof *t->moves);
    }
    if (!t || !t->points || !t->list || !t->parameters || !t->came || !t->moves)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu rungs of ladders", n);
    t->rungs = rungs;
    t->every = ergo_ladder_every(first);
    t->feedback = ergo_feedback_of(first);
    t->ladders = e->batch->count;
    t->outer = e->batch;
    for (size_t m = 0; m < n; m++) {
        const struct ergo_point *ladder = e->batch->points[m / rungs];
        t->points[m] = *ladder;
        t->points[m].parameters = (void *)(t->parameters + m * bytes);
        memcpy(t->points[m].parameters, ladder->parameters, bytes);
        t->points[m].stream = stream_of(ladder, (uint32_t)(m % rungs));
        t->list[m] = &t->points[m];
    }
    job_temperatures(t);
    t->inner = (struct ergo_batch){.job = e->batch->job, .count = n, .points = t->list};
    e->batch = &t->inner;
    return ERGO_OK;
}

void ergo_temper_free(struct ergo_engine *e) {
    struct ergo_temper *t = e->temper;
    if (t) {
        free(t->points);
        free(t->list);
        free(t->parameters);
        free(t->came);
        free(t->moves);
    }
    free(t);
    e->temper = NULL;
}

void ergo_temper_temperatures(const struct ergo_temper *t, size_t ladder, double *all) {
    for (uint32_t r = 0; r < t->rungs; r++)
        all[r] = t->points[ladder * t->rungs + r].parameters->temperature;
}

/* ---- on the device --------------------------------------------------------------------------- */

void ergo_temper_declare(struct ergo_engine *e) {
    struct ergo_temper *t = e->temper;
    const uint64_t n = t->inner.count;
    ergo_engine_buffer(e, ERGO_TEMPER_TERMS, "terms of energies", ERGO_BUFFER_CONSTANT,
                       t->ladders * (ERGO_LADDER_TERMS * ERGO_LADDER_TERM_BYTES));
    ergo_engine_buffer(e, ERGO_TEMPER_RUNGS, "rungs", ERGO_BUFFER_CONSTANT,
                       n * ERGO_LADDER_RUNG_BYTES);
    ergo_engine_buffer(e, ERGO_TEMPER_CAME, "ways of walkers", ERGO_BUFFER_STATE, 4 * n);
    ergo_engine_buffer(e, ERGO_TEMPER_MOVES, "accepted exchanges", ERGO_BUFFER_STATE, 8 * n);
    ergo_engine_buffer(e, ERGO_TEMPER_DECISIONS, "decisions", ERGO_BUFFER_SCRATCH, 4 * n);
    ergo_engine_kernel(e, ERGO_TEMPER_DECIDE, "common/ladder.cl", NULL, "ladder_decide");
    ergo_engine_kernel(e, ERGO_TEMPER_EXCHANGE, "common/ladder.cl", NULL, "ladder_exchange");
    if (t->feedback.automatic) /* saved, besides what is on the device */
        e->plan.state_bytes += 8 * n;
    if (!e->curve_interval) { /* samples of the ladder's curves */
        const struct ergo_model *model = e->batch->job->model;
        e->curve_interval = model->curve_every ? model->curve_every(e->batch->points[0]) : 1;
    }
}

/* Where walkers start: at the hottest rung one has been there. */
static void begin_walks(struct ergo_engine *e) {
    struct ergo_temper *t = e->temper;
    for (size_t m = 0; m < t->inner.count; m++) {
        t->came[m] = m % t->rungs + 1 == t->rungs;
        t->moves[m] = 0;
    }
    ergo_engine_write(e, ERGO_TEMPER_CAME, 0, 4 * t->inner.count, t->came);
    ergo_engine_write(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
}

/* What the device knows of a ladder's rungs. */
static void rungs_of(const struct ergo_temper *t, size_t ladder, struct ergo_ladder_rung *rungs) {
    const uint64_t stream = t->outer->points[ladder]->stream;
    double all[ERGO_LADDER_MAX];
    ergo_temper_temperatures(t, ladder, all);
    for (uint32_t r = 0; r < t->rungs; r++)
        rungs[r] = (struct ergo_ladder_rung){.slope = ergo_ladder_slope(all, t->rungs, r, 1),
                                             .key0 = (uint32_t)stream,
                                             .key1 = (uint32_t)(stream >> 32)};
}

static void write_constants(struct ergo_engine *e) {
    const struct ergo_temper *t = e->temper;
    struct ergo_ladder_term *terms = calloc(t->ladders, ERGO_LADDER_TERMS * sizeof *terms);
    struct ergo_ladder_rung *rungs = calloc(t->inner.count, sizeof *rungs);
    for (size_t l = 0; l < t->ladders && terms && rungs; l++) {
        e->model->temper->terms(e, l * t->rungs, terms + l * ERGO_LADDER_TERMS);
        rungs_of(t, l, rungs + l * t->rungs);
    }
    if (terms && rungs) {
        ergo_engine_constant(e, ERGO_TEMPER_TERMS, terms);
        ergo_engine_constant(e, ERGO_TEMPER_RUNGS, rungs);
    } else {
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for ladders");
    }
    free(terms);
    free(rungs);
}

void ergo_temper_prepare(struct ergo_engine *e) {
    write_constants(e);
    begin_walks(e);
}

/* Work-items of groups of these kernels. */
enum { GROUP = 64 };

/* Enqueues the energies as they are now, and decisions of a parity. */
static void decide(struct ergo_engine *e, uint32_t parity) {
    const struct ergo_temper *t = e->temper;
    const struct ergo_engine_buffer *b = &e->buffers[e->model->temper->counts];
    const size_t words = (size_t)b->bytes / 4 / t->inner.count;
    const size_t pairs = t->ladders * ergo_ladder_pairs(t->rungs, parity);
    const unsigned slot = e->slot;
    e->slot = ERGO_TEMPER_SLOT;
    if (b->zeroed)
        ergo_engine_zero(e, e->model->temper->counts, (size_t)b->bytes);
    e->model->measure(e, 0);
    ERGO_LAUNCH(e, ERGO_TEMPER_DECIDE,
                ergo_grid_items(pairs, ergo_engine_group(e, ERGO_TEMPER_DECIDE, GROUP), 1),
                BUFFER(e->model->temper->counts), BUFFER(ERGO_TEMPER_TERMS),
                BUFFER(ERGO_TEMPER_RUNGS), BUFFER(ERGO_TEMPER_CAME), BUFFER(ERGO_TEMPER_MOVES),
                BUFFER(ERGO_TEMPER_DECISIONS), U32(words), U32(t->ladders), U32(t->rungs),
                U32(parity), U64(e->step));
    e->slot = slot;
}

static void exchange(struct ergo_engine *e, uint32_t parity) {
    const struct ergo_temper *t = e->temper;
    const uint64_t words = e->buffers[e->model->temper->spins].bytes / 4 / t->inner.count;
    ERGO_LAUNCH(e, ERGO_TEMPER_EXCHANGE,
                ergo_grid_items(words, ergo_engine_group(e, ERGO_TEMPER_EXCHANGE, GROUP),
                                t->ladders * ergo_ladder_pairs(t->rungs, parity)),
                BUFFER(e->model->temper->spins), BUFFER(ERGO_TEMPER_DECISIONS), U64(words),
                U32(t->rungs), U32(parity));
}

/* ---- temperatures by feedback -----------------------------------------------------------------
 */

/* Parameters become those of the rungs' temperatures. */
static void renew(struct ergo_engine *e) {
    e->model->temper->fill(e);
    if (e->status == ERGO_OK && e->model->prepare)
        ergo_engine_note(e, e->model->prepare(e->ctx, e));
    ergo_engine_constants(e);
    write_constants(e);
}

void ergo_temper_set(struct ergo_engine *e, size_t ladder, const double *temperatures) {
    put(e->temper, ladder, temperatures);
    renew(e);
}

static void feed_back(struct ergo_engine *e) {
    struct ergo_temper *t = e->temper;
    double all[ERGO_LADDER_MAX];
    ergo_engine_read(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
    for (size_t l = 0; l < t->ladders && e->status == ERGO_OK; l++) {
        ergo_temper_temperatures(t, l, all);
        ergo_feedback_learn(&t->feedback, e->step, 1, t->moves + l * t->rungs, all);
        put(t, l, all);
    }
    renew(e);
    begin_walks(e);
}

/* ---- steps ----------------------------------------------------------------------------------- */

void ergo_temper_steps(struct ergo_engine *e, uint64_t steps) {
    struct ergo_temper *t = e->temper;
    const uint64_t end = e->step + steps;
    while (e->step < end && e->status == ERGO_OK) {
        const uint64_t next = ergo_ladder_next(e->step, t->every);
        e->model->steps(e, (next < end ? next : end) - e->step);
        if (!ergo_ladder_due(e->step, t->every))
            continue;
        const uint32_t parity = ergo_ladder_parity(e->step, t->every);
        if (ergo_ladder_pairs(t->rungs, parity)) {
            decide(e, parity);
            exchange(e, parity);
        }
        if (ergo_feedback_due(&t->feedback, e->step))
            feed_back(e);
    }
}

void ergo_temper_reset(struct ergo_engine *e) {
    if (e->temper->feedback.automatic) {
        job_temperatures(e->temper);
        renew(e);
    }
    begin_walks(e);
}

void ergo_temper_read(struct ergo_engine *e, size_t ladder, uint32_t *came, uint64_t *moves) {
    const size_t n = e->temper->rungs, at = ladder * n;
    ergo_engine_read(e, ERGO_TEMPER_CAME, 4 * at, 4 * n, came);
    ergo_engine_read(e, ERGO_TEMPER_MOVES, 8 * at, 8 * n, moves);
}

void ergo_temper_write(struct ergo_engine *e, size_t ladder, const uint32_t *came,
                       const uint64_t *moves) {
    const size_t n = e->temper->rungs, at = ladder * n;
    ergo_engine_write(e, ERGO_TEMPER_CAME, 4 * at, 4 * n, came);
    ergo_engine_write(e, ERGO_TEMPER_MOVES, 8 * at, 8 * n, moves);
}

/* ---- samples --------------------------------------------------------------------------------- */

size_t ergo_temper_moments(const struct ergo_model *model) {
    size_t n = 0;
    for (size_t o = 0; o < model->n_observables; o++)
        n += ergo_observable_sampled(&model->observables[o]);
    return n;
}

size_t ergo_temper_curve(const struct ergo_model *model, const char *name) {
    size_t c = 0;
    while (c < model->n_curves && strcmp(model->curves[c].name, name) != 0)
        c++;
    return c;
}

/* The moments of a sample of a ladder. */
static void add_moments(const struct ergo_temper *t, size_t ladder, const double *columns,
                        double *moments) {
    const struct ergo_model *model = t->inner.job->model;
    for (uint32_t r = 0; r < t->rungs; r++)
        for (size_t o = 0; o < model->n_observables; o++)
            if (ergo_observable_sampled(&model->observables[o]))
                *moments++ = ergo_observable_sample(&model->observables[o],
                                                    &t->points[ladder * t->rungs + r],
                                                    columns + r * model->n_columns);
}

/* From rows of all rungs to those of ladders. */
static void pick(const struct ergo_engine *e, unsigned slot, const struct ergo_samples *inner,
                 struct ergo_samples *samples) {
    const struct ergo_temper *t = e->temper;
    const struct ergo_model *model = e->batch->job->model;
    const size_t width = model->n_columns, n = t->inner.count,
                 of = ergo_temper_curve(model, "ladder_moments");
    const size_t moments = t->rungs * ergo_temper_moments(model);
    const uint64_t every = e->curve_interval, first = e->slots[slot].first_sample;
    for (size_t i = 0, curve = 0; i < samples->count; i++) {
        const bool carries = (first + i) % every == 0;
        for (size_t l = 0; l < t->ladders; l++) {
            const double *from = inner->columns + (i * n + l * t->rungs) * width;
            memcpy(samples->columns + (i * t->ladders + l) * width, from, width * sizeof *from);
            if (carries)
                add_moments(t, l, from, samples->curves[of] + (curve * t->ladders + l) * moments);
        }
        curve += carries;
    }
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = inner->curves[c] ? model->curve_size(e->batch->points[0], c) : 0;
        for (size_t i = 0; i < samples->n_curve_samples * t->ladders && size; i++)
            memcpy(samples->curves[c] + i * size, inner->curves[c] + i * t->rungs * size,
                   size * sizeof(double));
    }
}

enum ergo_status
ergo_temper_collect(struct ergo_context *ctx, struct ergo_engine *e, unsigned slot,
                    struct ergo_samples *samples,
                    enum ergo_status (*convert)(struct ergo_context *ctx, struct ergo_engine *e,
                                                unsigned slot, struct ergo_samples *samples)) {
    const struct ergo_model *model = e->batch->job->model;
    const size_t n = e->batch->count, of = ergo_temper_curve(model, "ladder_moments");
    struct ergo_samples inner = {.count = samples->count,
                                 .n_curve_samples = samples->n_curve_samples};
    inner.columns = malloc(inner.count * n * model->n_columns * sizeof(double));
    bool memory = inner.columns != NULL;
    for (size_t c = 0; c < model->n_curves && memory; c++) {
        const bool own = c != of && !(model->curves_at_end >> c & 1);
        const size_t size = own ? model->curve_size(e->batch->points[0], c) : 0;
        if (!size || !inner.n_curve_samples)
            continue;
        inner.curves[c] = malloc(inner.n_curve_samples * n * size * sizeof(double));
        memory = inner.curves[c] != NULL;
    }
    const enum ergo_status status =
        memory ? convert(ctx, e, slot, &inner)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for samples of %zu temperatures", n);
    if (status == ERGO_OK)
        pick(e, slot, &inner, samples);
    free(inner.columns);
    for (size_t c = 0; c < model->n_curves; c++)
        free(inner.curves[c]);
    return status;
}
