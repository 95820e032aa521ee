/* Blocks of samples: enqueue, read back, hand on. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "dist/dist.h"
#include "engine/temper.h"
#include "job/model.h"

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

/* Is somebody waiting within so many steps? */
static bool is_watched(const struct ergo_engine *e, uint64_t steps) {
    const struct ergo_engine_watch *w = e->watch;
    return w && (e->step == w->first || w->next(w, e->step) <= e->step + steps);
}

static void make_steps(struct ergo_engine *e, uint64_t steps) {
    const struct ergo_engine_watch *w = e->watch;
    const uint64_t end = e->step + steps;
    if (is_watched(e, 0))
        w->event(e);
    while (e->step < end && e->status == ERGO_OK) {
        const bool watched = is_watched(e, end - e->step);
        const uint64_t next = watched ? w->next(w, e->step) : end, to = next < end ? next : end;
        if (e->temper)
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

/* A device that loses its launches, without an error, does not number them either. */
static uint32_t number(struct ergo_engine *e) {
    const uint32_t alive = ++e->alive;
    ERGO_LAUNCH(e, ERGO_ALIVE_KERNEL, ergo_grid_items(1, 1, 1), BUFFER(ERGO_ALIVE), U32(alive));
    return alive;
}

static enum ergo_status lost(struct ergo_context *ctx, const struct ergo_engine *e, uint64_t step) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of %s failed on %s (%s): before step %llu it has lost launches "
                     "without an error: try another device",
                     e->model->sampler, e->device->summary.name, e->device->summary.driver,
                     (unsigned long long)step);
}

/* Enqueue the read of all results of the slot's block. The last read's event tells that all are on
 * the host. */
static void read_results(struct ergo_engine *e, struct ergo_engine_slot *slot) {
    slot->alive = number(e);
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
    else if (e->model->block && !e->temper && !is_watched(e, count * every))
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
    bool curves;
    const struct ergo_samples *samples;
    bool (*row)(const void *state, unsigned slot, const struct ergo_row *row);
    atomic_bool failed;
};

static void convert_range(size_t begin, size_t end, void *user) {
    struct conversion *c = user;
    const size_t members = c->e->batch->count, columns = c->e->batch->job->model->n_columns;
    struct ergo_row row = {.sample = begin / members, .member = begin % members};
    row.curves = c->samples->curves;
    for (row.number = begin; row.number < end; row.number++) {
        row.taken = row.sample;
        if (c->curves)
            row.taken = (size_t)(ergo_engine_curve_sample(c->e, c->slot, row.sample) -
                                 c->e->slots[c->slot].first_sample);
        else
            row.columns = c->samples->columns + row.number * columns;
        if (!c->row(c->e, c->slot, &row)) {
            c->failed = true;
            return;
        }
        row.member++;
        if (row.member == members) {
            row.member = 0;
            row.sample++;
        }
    }
}

static void convert_row(size_t row, void *user) {
    convert_range(row, row + 1, user);
}

/* Results of which a core makes rows in some microseconds. A smaller share is not worth waking it.
 */
static const uint64_t worthwhile = 1 << 14;

/* Row `number` of the sums, added up over its parts. */
static void add_parts(const struct ergo_engine *e, unsigned slot, size_t number, uint64_t *sums) {
    const struct ergo_totals *t = &e->totals;
    const size_t words = t->narrow + 2 * t->wide;
    const uint32_t *from = ergo_engine_host(e, t->row, slot, 0);
    memset(sums, 0, 8 * (t->narrow + t->wide));
    from += number * t->parts * words;
    for (size_t p = 0; p < t->parts; p++, from += words) {
        for (size_t k = 0; k < t->narrow; k++)
            sums[k] += from[k];
        for (size_t k = t->narrow; k < words; k += 2)
            sums[(t->narrow + k) / 2] += (uint64_t)from[k + 1] << 32 | from[k];
    }
}

static bool row_of_totals(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct ergo_engine *e = state;
    const struct ergo_totals *t = &e->totals;
    uint64_t own[ERGO_TOTALS], *sums = own;
    if (t->joined)
        sums = t->joined + row->number * (t->narrow + t->wide);
    else
        add_parts(e, slot, row->number, sums);
    e->model->columns(state, row->member, sums, row->columns);
    return true;
}

/* Of all ranks. */
static void join_totals(const struct ergo_engine *e, unsigned slot, size_t rows) {
    const struct ergo_totals *t = &e->totals;
    const size_t n = t->narrow + t->wide;
    for (size_t row = 0; row < rows && t->joined; row++)
        add_parts(e, slot, row, t->joined + row * n);
    if (t->joined)
        ergo_dist_sum_counts(t->joined, rows * n);
}

/* n rows of results of this kind. False: some cannot be. */
static bool convert_rows(const struct ergo_engine *e, unsigned slot, enum ergo_buffer_kind kind,
                         size_t samples_of_kind, const struct ergo_samples *samples) {
    const bool curves = kind == ERGO_BUFFER_CURVES;
    struct conversion c = {
        e, slot, curves, samples, curves ? e->model->curve_row : e->model->row, false};
    if (!curves && e->model->columns)
        c.row = row_of_totals;
    const size_t members = e->batch->count;
    uint64_t bytes = 0; /* of a sample */
    for (size_t i = 0; i < ERGO_BUFFERS; i++) {
        const enum ergo_buffer_kind of = e->buffers[i].kind;
        bytes += of == kind || (of == ERGO_BUFFER_HOST && curves) ? e->buffers[i].bytes : 0;
    }
    if (c.row && curves && e->curve_row_bytes)
        ergo_parallel(samples_of_kind * members, ergo_engine_curve_rows(e), convert_row, &c);
    else if (c.row)
        ergo_parallel_ranges(samples_of_kind * members,
                             (size_t)(worthwhile * members / (bytes + 1)) + 1, convert_range, &c);
    return !c.failed;
}

static enum ergo_status convert(struct ergo_context *ctx, struct ergo_engine *e, unsigned slot,
                                struct ergo_samples *samples) {
    const struct ergo_engine_model *model = e->model;
    join_totals(e, slot, samples->count * e->batch->count);
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
    if (status == ERGO_OK && *(uint32_t *)ergo_engine_host(e, ERGO_ALIVE, which, 0) != slot->alive)
        status = lost(ctx, e, slot->step + slot->samples * slot->every);
    if (status == ERGO_OK)
        status = e->temper ? ergo_temper_collect(ctx, e, which, samples, convert)
                           : convert(ctx, e, which, samples);
    slot->busy = false;
    return status;
}

enum ergo_status ergo_engine_check(struct ergo_context *ctx, struct ergo_engine *e) {
    uint32_t found = 0;
    ergo_engine_begin(e, ctx);
    const uint32_t expected = number(e);
    ergo_engine_read(e, ERGO_ALIVE, 0, sizeof found, &found);
    enum ergo_status status = ergo_engine_end(e);
    if (status == ERGO_OK && found != expected)
        status = lost(ctx, e, e->step);
    if (status == ERGO_OK)
        status = ergo_constants_check(ctx, e->device, &e->constants, NULL, e->model->sampler);
    return status;
}
