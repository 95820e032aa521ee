/* Parallel tempering by members of a batch: the batch of rungs, exchanges, feedback, samples. */
#include "engine/temper.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/model.h"

_Static_assert(sizeof(struct ergo_ladder_term) == ERGO_LADDER_TERM_BYTES, "no padding");
_Static_assert(sizeof(struct ergo_ladder_rung) == ERGO_LADDER_RUNG_BYTES, "no padding");

/* ---- the batch of rungs ---------------------------------------------------------------------- */

static struct ergo_value *temperature_of(struct ergo_point *point) {
    return (struct ergo_value *)(uintptr_t)ergo_point_value(point, "/system/temperature");
}

/* A rung's stream: of its ladder's, whatever its temperature is. */
static uint64_t stream_of(const struct ergo_point *ladder, uint32_t rung) {
    struct ergo_text text = {0};
    ergo_text_append(&text, "ergocl rung %llu %u", (unsigned long long)ladder->stream, rung);
    const uint64_t stream = ergo_hash64(text.data, text.length);
    ergo_text_free(&text);
    return stream;
}

static void job_temperatures(struct ergo_temper *t) {
    double all[ERGO_LADDER_MAX];
    for (size_t l = 0; l < t->ladders; l++) {
        ergo_ladder_temperatures(t->outer->points[l], all);
        for (uint32_t r = 0; r < t->rungs; r++)
            temperature_of(&t->points[l * t->rungs + r])->real = all[r];
    }
}

enum ergo_status ergo_temper_expand(struct ergo_context *ctx, struct ergo_engine *e) {
    const struct ergo_point *first = e->batch->points[0];
    const uint32_t rungs = e->model->temper ? ergo_ladder_rungs(first) : 1;
    const size_t keys = e->batch->job->n_keys;
    if (rungs < 2)
        return ERGO_OK;
    const size_t n = e->batch->count * rungs;
    struct ergo_temper *t = e->temper = calloc(1, sizeof *t);
    if (t) {
        t->points = calloc(n, sizeof *t->points);
        t->list = calloc(n, sizeof(struct ergo_point *));
        t->values = calloc(n * keys, sizeof *t->values);
        t->came = calloc(n, sizeof *t->came);
        t->moves = calloc(n, sizeof *t->moves);
    }
    if (!t || !t->points || !t->list || !t->values || !t->came || !t->moves)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu rungs of ladders", n);
    t->rungs = rungs;
    t->every = ergo_ladder_every(first);
    t->automatic = ergo_ladder_automatic(first);
    t->ladders = e->batch->count;
    t->outer = e->batch;
    t->active = true;
    for (size_t m = 0; m < n; m++) {
        const struct ergo_point *ladder = e->batch->points[m / rungs];
        t->points[m] = *ladder;
        t->points[m].values = t->values + m * keys;
        memcpy(t->points[m].values, ladder->values, keys * sizeof *t->values);
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
        free(t->values);
        free(t->came);
        free(t->moves);
    }
    free(t);
    e->temper = NULL;
}

double ergo_temper_temperature(const struct ergo_temper *t, size_t ladder, uint32_t rung) {
    return temperature_of(&t->points[ladder * t->rungs + rung])->real;
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
    t->interval = e->curve_interval;
    if (!e->curve_interval) { /* samples of the ladder's curves */
        const struct ergo_model *model = e->batch->job->model;
        e->curve_interval = model->curve_every ? model->curve_every(e->batch->points[0]) : 1;
    }
}

void ergo_temper_suspend(struct ergo_engine *e, bool suspend) {
    struct ergo_temper *t = e->temper;
    const uint64_t interval = e->curve_interval;
    t->active = !suspend;
    e->curve_interval = t->interval;
    t->interval = interval;
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

void ergo_temper_prepare(struct ergo_engine *e) {
    const struct ergo_temper *t = e->temper;
    const size_t n = t->inner.count;
    struct ergo_ladder_term *terms = calloc(t->ladders, ERGO_LADDER_TERMS * sizeof *terms);
    struct ergo_ladder_rung *rungs = calloc(n, sizeof *rungs);
    double all[ERGO_LADDER_MAX];
    for (size_t l = 0; l < t->ladders && terms && rungs; l++) {
        const uint64_t stream = t->outer->points[l]->stream;
        e->model->temper->terms(e, l * t->rungs, terms + l * ERGO_LADDER_TERMS);
        for (uint32_t r = 0; r < t->rungs; r++)
            all[r] = ergo_temper_temperature(t, l, r);
        for (uint32_t r = 0; r < t->rungs; r++)
            rungs[l * t->rungs + r] =
                (struct ergo_ladder_rung){.slope = ergo_ladder_slope(all, t->rungs, r, 1),
                                          .key0 = (uint32_t)stream,
                                          .key1 = (uint32_t)(stream >> 32)};
    }
    if (terms && rungs) {
        ergo_engine_constant(e, ERGO_TEMPER_TERMS, terms);
        ergo_engine_constant(e, ERGO_TEMPER_RUNGS, rungs);
        begin_walks(e);
    } else {
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for ladders");
    }
    free(terms);
    free(rungs);
}

/* Work-items of groups of these kernels. */
enum { GROUP = 64 };

/* The energies as they are now, and decisions of a parity. */
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

static size_t spin_words(const struct ergo_engine *e) {
    return (size_t)e->buffers[e->model->temper->spins].bytes / 4 / e->temper->inner.count;
}

static void exchange(struct ergo_engine *e, uint32_t parity) {
    const struct ergo_temper *t = e->temper;
    ERGO_LAUNCH(e, ERGO_TEMPER_EXCHANGE,
                ergo_grid_items(spin_words(e), ergo_engine_group(e, ERGO_TEMPER_EXCHANGE, GROUP),
                                t->ladders * ergo_ladder_pairs(t->rungs, parity)),
                BUFFER(e->model->temper->spins), BUFFER(ERGO_TEMPER_DECISIONS), U64(spin_words(e)),
                U32(t->rungs), U32(parity));
}

/* ---- temperatures by feedback ----------------------------------------------------------------- */

/* Feedback comes at these parts of the equilibration: half of it, a quarter ... */
enum { HALVES = 6 };

static uint64_t feedback_step(const struct ergo_temper *t, unsigned halves) {
    const uint64_t all = (uint64_t)ergo_point_int(t->outer->points[0], "/run/equilibration");
    return (all >> halves) / t->every * t->every;
}

uint64_t ergo_temper_since(const struct ergo_temper *t, uint64_t step) {
    for (unsigned h = 1; h <= HALVES && t->automatic; h++)
        if (feedback_step(t, h) <= step)
            return feedback_step(t, h);
    return 0;
}

/* The state of the model stays, while its parameters become those of the rungs' temperatures. */
static void renew(struct ergo_engine *e) {
    struct ergo_context *ctx = e->ctx;
    void *kept[ERGO_MODEL_BUFFERS] = {0};
    for (unsigned i = 0; i < ERGO_MODEL_BUFFERS; i++) {
        const struct ergo_engine_buffer *b = &e->buffers[i];
        if (b->kind != ERGO_BUFFER_STATE || e->status != ERGO_OK)
            continue;
        kept[i] = malloc((size_t)b->bytes);
        if (kept[i])
            ergo_engine_read(e, i, 0, (size_t)b->bytes, kept[i]);
        else
            ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory to keep the %s", b->what);
    }
    if (e->status == ERGO_OK)
        ergo_engine_note(e, ergo_engine_remake(ctx, e));
    for (unsigned i = 0; i < ERGO_MODEL_BUFFERS; i++) {
        if (kept[i])
            ergo_engine_write(e, i, 0, (size_t)e->buffers[i].bytes, kept[i]);
        free(kept[i]);
    }
}

static void put(struct ergo_temper *t, size_t ladder, const double *temperatures) {
    for (uint32_t r = 0; r < t->rungs; r++)
        temperature_of(&t->points[ladder * t->rungs + r])->real = temperatures[r];
}

void ergo_temper_set(struct ergo_engine *e, size_t ladder, const double *temperatures) {
    put(e->temper, ladder, temperatures);
    renew(e);
}

static void feed_back(struct ergo_engine *e, uint64_t since) {
    struct ergo_temper *t = e->temper;
    double all[ERGO_LADDER_MAX], rejected[ERGO_LADDER_MAX];
    ergo_engine_read(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
    for (size_t l = 0; l < t->ladders && e->status == ERGO_OK; l++) {
        for (uint32_t r = 0; r < t->rungs; r++) {
            const double tries = (double)(ergo_ladder_tries(e->step, t->every, r % 2) -
                                          ergo_ladder_tries(since, t->every, r % 2));
            rejected[r] = (tries - (double)t->moves[l * t->rungs + r] + 0.5) / (tries + 1);
            all[r] = ergo_temper_temperature(t, l, r);
        }
        ergo_ladder_feed_back(t->rungs, rejected, all);
        put(t, l, all);
    }
    renew(e);
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
        if (ergo_temper_since(t, e->step) == e->step && t->automatic)
            feed_back(e, ergo_temper_since(t, e->step - 1));
    }
}

void ergo_temper_reset(struct ergo_engine *e) {
    if (e->temper->automatic) {
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
        n += model->observables[o].sample != NULL;
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
            if (model->observables[o].sample)
                *moments++ = model->observables[o].sample(&t->points[ladder * t->rungs + r],
                                                          columns + r * model->n_columns);
}

/* From rows of all rungs to those of ladders. */
static void pick(const struct ergo_engine *e, unsigned slot, const struct ergo_samples *inner,
                 struct ergo_samples *samples) {
    const struct ergo_temper *t = e->temper;
    const struct ergo_model *model = e->batch->job->model;
    const size_t width = model->n_columns, n = t->inner.count, of = ergo_temper_curve(model, "ladder_moments");
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

enum ergo_status ergo_temper_collect(struct ergo_context *ctx, struct ergo_engine *e, unsigned slot,
                                     struct ergo_samples *samples,
                                     enum ergo_status (*convert)(struct ergo_context *ctx,
                                                                 struct ergo_engine *e,
                                                                 unsigned slot,
                                                                 struct ergo_samples *samples)) {
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

/* ---- audit ----------------------------------------------------------------------------------- */

/* Bytes of configurations that an audit of exchanges looks at: of each rung at most so many. */
enum { LOOKED_AT = 1 << 16 };

struct audit {
    struct ergo_engine *e;
    size_t ladder, words, look; /* words of a member's counts; bytes of a member */
    uint32_t *counts;
    struct ergo_ladder_term terms[ERGO_LADDER_TERMS];
    struct ergo_ladder_rung *rungs;
    uint32_t *came, *came_now, *from; /* from: the rung whose configuration is here */
    uint64_t *moves, *moves_now;
    char *before, *after;
};

static void read_spins(const struct audit *a, char *to) {
    const size_t bytes = 4 * spin_words(a->e), n = a->e->temper->rungs;
    for (size_t r = 0; r < n; r++)
        ergo_engine_read(a->e, a->e->model->temper->spins,
                         (a->ladder * n + r) * bytes + bytes - a->look, a->look, to + r * a->look);
}

/* An exchange of one parity, on both. False: they differ. */
static bool same_exchange(struct audit *a, uint32_t parity) {
    struct ergo_engine *e = a->e;
    const uint32_t n = e->temper->rungs;
    const size_t words = a->words;
    decide(e, parity);
    exchange(e, parity);
    const unsigned slot = e->slot;
    e->slot = ERGO_TEMPER_SLOT;
    ergo_engine_read(e, e->model->temper->counts, 4 * a->ladder * n * words, 4 * n * words,
                     a->counts);
    e->slot = slot;
    for (uint32_t t = parity; t + 1 < n && e->status == ERGO_OK; t += 2) {
        const uint32_t *cold = a->counts + t * words, held = a->from[t];
        const uint32_t accepted = ergo_ladder_exchanges(
            ergo_ladder_worse(cold, cold + words, a->terms), t, e->step, a->rungs[t]);
        a->moves[n - 1] += ergo_ladder_walk(&a->came[t], &a->came[t + 1], accepted, 1, t, n);
        a->moves[t] += accepted;
        if (accepted) {
            a->from[t] = a->from[t + 1];
            a->from[t + 1] = held;
        }
    }
    ergo_temper_read(e, a->ladder, a->came_now, a->moves_now);
    read_spins(a, a->after);
    bool same = memcmp(a->came, a->came_now, n * sizeof *a->came) == 0 &&
                memcmp(a->moves, a->moves_now, n * sizeof *a->moves) == 0;
    for (uint32_t t = 0; t < n; t++)
        same = same && memcmp(a->after + t * a->look, a->before + a->from[t] * a->look,
                              a->look) == 0;
    return same || e->status != ERGO_OK;
}

static bool audit_room(struct audit *a) {
    struct ergo_engine *e = a->e;
    const size_t n = e->temper->rungs, bytes = 4 * spin_words(e);
    a->words = (size_t)e->buffers[e->model->temper->counts].bytes / 4 / e->temper->inner.count;
    a->look = bytes < LOOKED_AT ? bytes : LOOKED_AT;
    a->counts = malloc(4 * n * a->words);
    a->rungs = malloc(n * sizeof *a->rungs);
    a->came = calloc(3 * n, sizeof *a->came);
    a->moves = calloc(2 * n, sizeof *a->moves);
    a->before = malloc(2 * n * a->look);
    if (!a->counts || !a->rungs || !a->came || !a->moves || !a->before)
        return false;
    a->came_now = a->came + n;
    a->from = a->came + 2 * n;
    a->moves_now = a->moves + n;
    a->after = a->before + n * a->look;
    return true;
}

enum ergo_status ergo_temper_audit(struct ergo_context *ctx, struct ergo_engine *e) {
    struct ergo_temper *t = e->temper;
    /* each audit looks at another ladder */
    struct audit a = {.e = e, .ladder = (size_t)(e->step / t->every % t->ladders)};
    const size_t n = t->rungs;
    bool same = true;
    ergo_engine_begin(e, ctx);
    if (!audit_room(&a))
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory to audit exchanges");
    else {
        ergo_engine_read(e, ERGO_TEMPER_TERMS, a.ladder * sizeof a.terms, sizeof a.terms, a.terms);
        ergo_engine_read(e, ERGO_TEMPER_RUNGS, a.ladder * n * sizeof *a.rungs, n * sizeof *a.rungs,
                         a.rungs);
        ergo_engine_read(e, ERGO_TEMPER_CAME, 0, 4 * t->inner.count, t->came);
        ergo_engine_read(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
        memcpy(a.came, t->came + a.ladder * n, n * sizeof *a.came);
        memcpy(a.moves, t->moves + a.ladder * n, n * sizeof *a.moves);
        read_spins(&a, a.before);
        for (uint32_t parity = 0; parity < 2 && same && ergo_ladder_pairs(t->rungs, parity);
             parity++) {
            for (uint32_t r = 0; r < n; r++)
                a.from[r] = r;
            same = same_exchange(&a, parity);
            exchange(e, parity); /* back */
        }
        read_spins(&a, a.after);
        same = same && memcmp(a.before, a.after, n * a.look) == 0;
        ergo_engine_write(e, ERGO_TEMPER_CAME, 0, 4 * t->inner.count, t->came);
        ergo_engine_write(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
    }
    free(a.counts);
    free(a.rungs);
    free(a.came);
    free(a.moves);
    free(a.before);
    if (ergo_engine_end(e) == ERGO_OK && !same)
        ERGO_ENGINE_FAIL(e, ERGO_E_AUDIT,
                         "audit of %s failed on %s (%s): exchanges of ladder %zu at step %llu "
                         "differ between the device and the host. Do not use these results",
                         e->model->sampler, e->device->summary.name, e->device->summary.driver,
                         a.ladder, (unsigned long long)e->step);
    return ergo_engine_end(e);
}
