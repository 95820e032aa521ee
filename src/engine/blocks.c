/* Blocks of samples: enqueue, read back, hand on. And the replay of a stretch of them. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "engine/temper.h"

/* How many samples of a block carry curves. They are counted from the run's first sample. */
static size_t curves_of(const struct ergo_engine *e, uint64_t first, size_t count) {
    const uint64_t interval = e->curve_interval;
    return interval ? (size_t)((first + count + interval - 1) / interval -
                               (first + interval - 1) / interval)
                    : 0;
}

/* Bytes of results that a block has in its slot. */
static size_t used(const struct ergo_engine_buffer *b, size_t samples, size_t curves) {
    switch (b->kind) {
    case ERGO_BUFFER_SAMPLES:
        return (size_t)b->bytes * samples;
    case ERGO_BUFFER_CURVES:
        return (size_t)b->bytes * curves;
    default:
        return 0;
    }
}

size_t ergo_engine_curves_due(const struct ergo_engine *e, size_t first, size_t count) {
    return curves_of(e, e->slots[e->slot].first_sample + first, count);
}

bool ergo_engine_curve_due(const struct ergo_engine *e, size_t sample) {
    return ergo_engine_curves_due(e, sample, 1) != 0;
}

size_t ergo_engine_until_curve(const struct ergo_engine *e, size_t sample) {
    const uint64_t interval = e->curve_interval;
    const uint64_t at = e->slots[e->slot].first_sample + sample;
    return (size_t)((interval - at % interval) % interval);
}

uint64_t ergo_engine_curve_sample(const struct ergo_engine *e, unsigned slot, size_t curve) {
    const uint64_t interval = e->curve_interval, first = e->slots[slot].first_sample;
    return (first + interval - 1) / interval * interval + curve * interval;
}

size_t ergo_engine_curve_rows(const struct ergo_engine *e) {
    return ergo_parallel_most((size_t)fmax(1, 0.25 * ergo_memory() / (double)e->curve_row_bytes));
}

static bool is_tempered(const struct ergo_engine *e) {
    return e->temper && e->temper->active;
}

/* Is somebody waiting within so many steps? */
static bool is_watched(const struct ergo_engine *e, uint64_t steps) {
    const struct ergo_engine_watch *w = e->watch;
    return w && !w->asleep && (e->step == w->first || w->next(w, e->step) <= e->step + steps);
}

static void make_steps(struct ergo_engine *e, uint64_t steps) {
    const struct ergo_engine_watch *w = e->watch;
    const uint64_t end = e->step + steps;
    if (is_watched(e, 0))
        w->event(e);
    while (e->step < end && e->status == ERGO_OK) {
        const bool watched = is_watched(e, end - e->step);
        const uint64_t next = watched ? w->next(w, e->step) : end, to = next < end ? next : end;
        if (is_tempered(e))
            ergo_temper_steps(e, to - e->step);
        else
            e->model->steps(e, to - e->step);
        if (watched && e->step == next && e->status == ERGO_OK)
            w->event(e);
    }
}

void ergo_engine_block(void *state, size_t count, uint64_t every) {
    struct ergo_engine *e = state;
    size_t curve = 0;
    for (size_t i = 0; i < count && e->status == ERGO_OK; i++) {
        make_steps(e, every);
        e->model->measure(state, i);
        if (ergo_engine_curve_due(e, i) && e->model->measure_curves)
            e->model->measure_curves(state, curve++);
        if (i % 64 == 63)
            clFlush(e->device->queue);
    }
}

/* Enqueue the read of all results of the slot's block. The last read's event tells that all are on
 * the host. */
static void read_results(struct ergo_engine *e, struct ergo_engine_slot *slot) {
    for (size_t i = 0; i < ERGO_BUFFERS && e->status == ERGO_OK; i++) {
        const struct ergo_engine_buffer *b = &e->buffers[i];
        const size_t bytes = b->ends ? (size_t)b->bytes : used(b, slot->samples, slot->curves);
        if (bytes)
            e->status = ergo_buffer_read_later(e->ctx, e->device, b->mem[b->ends ? 0 : e->slot], 0,
                                               bytes, b->host[e->slot], &slot->ready);
    }
}

void ergo_engine_read_again(struct ergo_engine *e, unsigned slot) {
    e->slot = slot;
    read_results(e, &e->slots[slot]);
}

enum ergo_status ergo_engine_advance(struct ergo_context *ctx, void *state, unsigned which,
                                     size_t count, uint64_t every, uint64_t first_sample) {
    struct ergo_engine *e = state;
    struct ergo_engine_slot *slot = &e->slots[which];
    ergo_engine_begin(e, ctx);
    e->slot = which;
    slot->samples = count;
    slot->curves = curves_of(e, first_sample, count);
    if (count > e->block_samples || slot->curves > e->curve_capacity)
        ERGO_ENGINE_FAIL(
            e, ERGO_E_INTERNAL,
            "%s: a block of %zu samples, %zu with curves; there is room for %zu and %zu",
            e->model->sampler, count, slot->curves, e->block_samples, e->curve_capacity);
    slot->step = e->step;
    slot->every = every;
    slot->first_sample = first_sample;
    slot->busy = count > 0;
    for (size_t i = 0; i < ERGO_BUFFERS && count && e->status == ERGO_OK; i++)
        if (e->buffers[i].zeroed && used(&e->buffers[i], count, slot->curves))
            ergo_engine_zero(e, (unsigned)i, used(&e->buffers[i], count, slot->curves));
    if (count == 0)
        make_steps(e, every);
    else if (e->model->block && !is_tempered(e) && !is_watched(e, count * every))
        e->model->block(state, count, every);
    else
        ergo_engine_block(state, count, every);
    if (count)
        read_results(e, slot);
    if (e->status == ERGO_OK)
        clFlush(e->device->queue);
    return ergo_engine_end(e);
}

/* ---- on the host ------------------------------------------------------------------------------
 */

/* Rows of one kind, that several cores make. */
struct conversion {
    const struct ergo_engine *e;
    unsigned slot;
    const struct ergo_samples *samples;
    bool (*rows)(const void *state, unsigned slot, size_t begin, size_t end,
                 const struct ergo_samples *samples);
    atomic_bool failed;
};

static void convert_range(size_t begin, size_t end, void *user) {
    struct conversion *c = user;
    if (!c->rows(c->e, c->slot, begin, end, c->samples))
        c->failed = true;
}

static void convert_row(size_t row, void *user) {
    convert_range(row, row + 1, user);
}

/* Results of which a core makes rows in some microseconds. A smaller share is not worth waking it.
 */
static const uint64_t worthwhile = 1 << 14;

/* n rows of results of this kind. False: some cannot be. */
static bool convert_rows(const struct ergo_engine *e, unsigned slot, enum ergo_buffer_kind kind,
                         size_t samples_of_kind, const struct ergo_samples *samples) {
    struct conversion c = {e, slot, samples, NULL, false};
    const size_t members = e->batch->count;
    uint64_t bytes = 0; /* of a sample */
    c.rows = kind == ERGO_BUFFER_SAMPLES ? e->model->rows : e->model->curve_rows;
    for (size_t i = 0; i < ERGO_BUFFERS; i++) {
        const enum ergo_buffer_kind of = e->buffers[i].kind;
        bytes += of == kind || (of == ERGO_BUFFER_HOST && kind == ERGO_BUFFER_CURVES)
                     ? e->buffers[i].bytes
                     : 0;
    }
    if (c.rows && kind == ERGO_BUFFER_CURVES && e->curve_row_bytes)
        ergo_parallel(samples_of_kind * members, ergo_engine_curve_rows(e), convert_row, &c);
    else if (c.rows)
        ergo_parallel_ranges(samples_of_kind * members,
                             (size_t)(worthwhile * members / (bytes + 1)) + 1, convert_range, &c);
    return !c.failed;
}

static enum ergo_status convert(struct ergo_context *ctx, struct ergo_engine *e, unsigned slot,
                                struct ergo_samples *samples) {
    const struct ergo_engine_model *model = e->model;
    enum ergo_status status = model->convert ? model->convert(ctx, e, slot, samples) : ERGO_OK;
    if (status != ERGO_OK ||
        (convert_rows(e, slot, ERGO_BUFFER_SAMPLES, samples->count, samples) &&
         convert_rows(e, slot, ERGO_BUFFER_CURVES, samples->n_curve_samples, samples)))
        return status;
    status = model->refuse ? model->refuse(ctx, e, slot, samples) : ERGO_OK;
    return status == ERGO_OK
               ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for samples of %s", model->sampler)
               : status;
}

enum ergo_status ergo_engine_collect(struct ergo_context *ctx, void *state, unsigned which,
                                     struct ergo_samples *samples) {
    struct ergo_engine *e = state;
    struct ergo_engine_slot *slot = &e->slots[which];
    ergo_engine_begin(e, ctx);
    samples->count = slot->samples;
    samples->n_curve_samples = slot->curves;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, e->device, &slot->ready, NULL);
    if (status == ERGO_OK)
        status = is_tempered(e) ? ergo_temper_collect(ctx, e, which, samples, convert)
                                : convert(ctx, e, which, samples);
    slot->busy = false;
    return status;
}

/* For a copy. Drivers need some memory, too, and may say that there is none only when a copy is
 * used. */
static bool has_room(const struct ergo_engine *e, uint64_t bytes) {
    const uint64_t all = e->device->summary.global_memory;
    return e->plan.device_bytes + bytes <= all - all / 8;
}

enum ergo_status ergo_engine_replay(struct ergo_context *ctx, struct ergo_engine *e,
                                    struct ergo_replay *r, const struct ergo_replay_row *extra,
                                    size_t n_extra) {
    struct ergo_replay_row rows[ERGO_REPLAY_EXTRA + 8] = {0};
    const size_t curves = curves_of(e, r->first_sample, r->samples);
    if (n_extra > 8)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "%zu extra rows of a replay", n_extra);
    for (size_t i = 0; i < ERGO_BUFFERS; i++) {
        struct ergo_engine_buffer *b = &e->buffers[i];
        rows[i].what = b->what;
        rows[i].mem = &b->mem[0];
        rows[i].bytes = used(b, r->samples, curves);
        if (rows[i].bytes) {
            rows[i].kind = ERGO_REPLAY_RESULT;
        } else if (b->kind == ERGO_BUFFER_STATE || b->kind == ERGO_BUFFER_RESULT) {
            rows[i].kind = b->kind == ERGO_BUFFER_STATE ? ERGO_REPLAY_STATE : ERGO_REPLAY_RESULT;
            rows[i].bytes = (size_t)b->bytes;
            if (b->flags & ERGO_BUFFER_APART && has_room(e, b->bytes))
                rows[i].kind = ERGO_REPLAY_APART;
            if (b->each) {
                rows[i].mem = b->each;
                rows[i].kind = ERGO_REPLAY_EACH;
            }
        }
    }
    rows[ERGO_BUFFERS] = (struct ergo_replay_row){
        .what = "step", .kind = ERGO_REPLAY_HOST, .host = &e->step, .bytes = sizeof e->step};
    if (n_extra)
        memcpy(&rows[ERGO_REPLAY_EXTRA], extra, n_extra * sizeof *extra);
    r->sampler = e->model->sampler;
    r->device = e->device;
    r->state = r->state ? r->state : e;
    r->rows = rows;
    r->n_rows = ERGO_REPLAY_EXTRA + n_extra;
    r->members = e->batch->count;
    r->step = e->step;
    r->advance = r->advance ? r->advance : ergo_engine_advance;
    r->collect = r->collect ? r->collect : ergo_engine_collect;
    const enum ergo_status status = ergo_replay(ctx, r);
    ergo_engine_changed(e); /* it has put the state back */
    r->rows = NULL;
    return status;
}

enum ergo_status ergo_engine_check_constants(struct ergo_context *ctx, struct ergo_engine *e) {
    return ergo_constants_check(ctx, e->device, &e->constants, NULL, e->model->sampler);
}
