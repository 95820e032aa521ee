/*
 * The canonical state of a member, little-endian: for each walker its places (int32, x of all
 * atoms, then y, then z) and its records of the potential energy (int64, the newest first; none
 * without forward walking), as the next step will begin from them; of each step that is remembered
 * for energy_corrected, step s at s % correction_steps, the mean energy and the sum of the weights
 * (int64, uint64; zeros before step 0); with forward_structure each walker's ancestor (uint32), the
 * places of all ancestors and those of the last window; at the end, where pair functions are from
 * files, a hash of these (uint64).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/helium_dmc/dmc.h"

static void put32(struct ergo_text *text, uint32_t x) {
    const uint8_t b[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    ergo_text_append_bytes(text, b, 4);
}

static void put64(struct ergo_text *text, uint64_t x) {
    put32(text, (uint32_t)x);
    put32(text, (uint32_t)(x >> 32));
}

static uint32_t get32(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint64_t get64(const uint8_t *b) {
    return (uint64_t)get32(b) | (uint64_t)get32(b + 4) << 32;
}

static size_t records_of(const struct dmc_state *s) {
    return s->shape.every ? HELIUM_DMC_RECORDS : 0;
}

/* A member's walkers, each malloc'ed. */
struct walkers {
    int32_t *places;
    int64_t *records;
    uint32_t *parents;
    uint64_t *grown;
    struct dmc_forward forward;
};

static void free_walkers(struct walkers *w) {
    free(w->places);
    free(w->records);
    free(w->parents);
    free(w->grown);
    dmc_forward_free(&w->forward);
}

static enum ergo_status make_walkers(struct ergo_context *ctx, const struct dmc_state *s,
                                     struct walkers *w) {
    const size_t count = s->shape.walkers;
    w->places = malloc(count * (size_t)s->shape.walker_bytes);
    w->records = malloc(count * 8 * records_of(s) + 1);
    w->parents = malloc(count * sizeof *w->parents);
    w->grown = malloc(16 * (size_t)s->shape.remember + 1);
    const bool forward = dmc_forward_make(&s->shape, &w->forward);
    return w->places && w->records && w->parents && w->grown && forward
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu walkers", count);
}

static enum ergo_status fetch(struct ergo_context *ctx, struct dmc_state *s, size_t member,
                              struct walkers *w) {
    const size_t count = s->shape.walkers, bytes = count * (size_t)s->shape.walker_bytes;
    const size_t records = count * 8 * records_of(s);
    const enum ergo_status status = make_walkers(ctx, s, w);
    if (status != ERGO_OK)
        return status;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, DMC_POSITIONS, member * bytes, bytes, w->places);
    ergo_engine_read(&s->e, DMC_PARENTS, member * count * 4, count * 4, w->parents);
    if (records)
        ergo_engine_read(&s->e, DMC_RECORDS, member * records, records, w->records);
    const size_t grown = 16 * (size_t)s->shape.remember;
    if (grown)
        ergo_engine_read(&s->e, DMC_GROWN, member * grown, grown, w->grown);
    dmc_forward_read(s, member, &w->forward);
    for (uint32_t k = 0; k < count && ergo_engine_end(&s->e) == ERGO_OK; k++)
        if ((w->parents[k] += k) >= count)
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_AUDIT,
                             "audit of helium-dmc failed on %s: walker %u of member %zu continues "
                             "one that does not exist",
                             s->e.device->summary.name, k, member);
    return ergo_engine_end(&s->e);
}

enum ergo_status dmc_save(struct ergo_context *ctx, void *opaque, size_t member,
                          struct ergo_text *text) {
    struct dmc_state *s = opaque;
    const size_t size = 3 * (size_t)s->shape.n, records = records_of(s);
    struct walkers walkers = {0};
    enum ergo_status status = fetch(ctx, s, member, &walkers);
    for (size_t w = 0; w < s->shape.walkers && status == ERGO_OK; w++) {
        const size_t from = walkers.parents[w];
        for (size_t k = 0; k < size; k++)
            put32(text, (uint32_t)walkers.places[from * size + k]);
        for (size_t k = 0; k < records; k++)
            put64(text, (uint64_t)walkers.records[from * records + k]);
    }
    for (size_t k = 0; k < 2 * (size_t)s->shape.remember && status == ERGO_OK; k++)
        put64(text, walkers.grown[k]);
    for (size_t w = 0; w < s->shape.walkers && s->shape.chosen && status == ERGO_OK; w++)
        put32(text, walkers.forward.ancestors[walkers.parents[w]]);
    for (size_t k = 0; k < s->shape.walkers * size && s->shape.chosen && status == ERGO_OK; k++)
        put32(text, (uint32_t)walkers.forward.tags[k]);
    for (size_t k = 0; k < s->shape.chosen * size && status == ERGO_OK; k++)
        put32(text, (uint32_t)walkers.forward.pure[k]);
    const uint64_t hash = helium_model_hash(&s->models[member]);
    if (status == ERGO_OK && hash)
        put64(text, hash);
    if (status == ERGO_OK && text->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the state of member %zu", member);
    free_walkers(&walkers);
    return status;
}

/* What a run can have recorded: sums of a walker stay below 2^62 / (2 walkers). */
static bool is_record(const struct dmc_state *s, int64_t record) {
    const int64_t most = (INT64_C(1) << 61) / s->shape.walkers;
    return record <= most && record >= -most;
}

enum ergo_status dmc_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                          const void *data, size_t length) {
    struct dmc_state *s = opaque;
    const uint8_t *at = data;
    const size_t n = s->shape.n, count = s->shape.walkers, records = records_of(s);
    const uint64_t hash = helium_model_hash(&s->models[member]);
    const size_t grown = 16 * (size_t)s->shape.remember;
    const size_t forward = s->shape.chosen ? 4 * count + (count + s->shape.chosen) * 12 * n : 0;
    const size_t expected = count * (12 * n + 8 * records) + grown + forward + (hash ? 8 : 0);
    struct walkers walkers = {0};
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; %zu walkers of %zu atoms "
                         "have %zu",
                         member, length, count, n, expected);
    if (hash && get64(at + length - 8) != hash)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the files that /system names are not those "
                         "that the run began with: put them back, or begin a new run");
    enum ergo_status status = make_walkers(ctx, s, &walkers);
    for (size_t w = 0; w < count && status == ERGO_OK; w++) {
        walkers.parents[w] = 0;
        for (size_t k = 0; k < 3 * n; k++, at += 4)
            walkers.places[w * 3 * n + k] = (int32_t)get32(at);
        if (!helium_places_fit(&s->models[member], walkers.places + w * 3 * n))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu has an atom out of the plane: it is "
                               "damaged",
                               member);
        for (size_t k = 0; k < records && status == ERGO_OK; k++, at += 8) {
            walkers.records[w * records + k] = (int64_t)get64(at);
            if (!is_record(s, walkers.records[w * records + k]))
                status = ERGO_FAIL(ctx, ERGO_E_IO,
                                   "the saved state of member %zu has an energy that no run has: "
                                   "it is damaged",
                                   member);
        }
    }
    for (size_t k = 0; k < grown / 8 && status == ERGO_OK; k++, at += 8) {
        walkers.grown[k] = get64(at);
        /* mean energies, and weights, which are not negative either */
        const int64_t signed_one = (int64_t)walkers.grown[k], most = INT64_C(1) << 62;
        if (signed_one > most || signed_one < (k % 2 ? 0 : -most))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu has a weight that no run has: it is "
                               "damaged",
                               member);
    }
    for (size_t w = 0; w < count && forward && status == ERGO_OK; w++, at += 4)
        if ((walkers.forward.ancestors[w] = get32(at)) >= count)
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu has an ancestor that no run has: it "
                               "is damaged",
                               member);
    for (size_t k = 0; k < count * 3 * n && forward && status == ERGO_OK; k++, at += 4)
        walkers.forward.tags[k] = (int32_t)get32(at);
    for (size_t k = 0; k < s->shape.chosen * 3 * n && status == ERGO_OK; k++, at += 4)
        walkers.forward.pure[k] = (int32_t)get32(at);
    if (status == ERGO_OK) {
        const size_t bytes = count * 12 * n;
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_write(&s->e, DMC_POSITIONS, member * bytes, bytes, walkers.places);
        ergo_engine_write(&s->e, DMC_PARENTS, member * count * 4, count * 4, walkers.parents);
        if (records)
            ergo_engine_write(&s->e, DMC_RECORDS, member * count * 8 * records, count * 8 * records,
                              walkers.records);
        if (grown)
            ergo_engine_write(&s->e, DMC_GROWN, member * grown, grown, walkers.grown);
        dmc_forward_write(s, member, &walkers.forward);
        status = ergo_engine_end(&s->e);
    }
    s->e.step = step;
    free_walkers(&walkers);
    return status;
}

/* Walkers, who have no ancestors yet. */
enum ergo_status dmc_carry(struct ergo_context *ctx, void *opaque, size_t member, const void *data,
                           size_t length) {
    struct dmc_state *s = opaque;
    const size_t n = s->shape.n, count = s->shape.walkers, each = 12 * n + 8 * records_of(s);
    const uint8_t *at = data;
    if (length < count * each || (length - count * each) % 4)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; %zu walkers of %zu atoms "
                         "have %zu",
                         member, length, count, n, count * each);
    int32_t *places = malloc(count * 12 * n);
    if (!places)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu walkers", count);
    for (size_t w = 0; w < count; w++)
        for (size_t k = 0; k < 3 * n; k++)
            places[w * 3 * n + k] = (int32_t)get32(at + w * each + 4 * k);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_write(&s->e, DMC_POSITIONS, member * count * 12 * n, count * 12 * n, places);
    free(places);
    return ergo_engine_end(&s->e);
}

enum ergo_status dmc_frame(struct ergo_context *ctx, void *opaque, size_t member,
                           struct ergo_text *text) {
    struct dmc_state *s = opaque;
    const uint32_t wish =
        (uint32_t)ergo_point_int(s->e.batch->points[member], "/run/frame_walkers");
    const uint32_t count = wish < s->shape.walkers ? wish : s->shape.walkers;
    struct walkers walkers = {0};
    const enum ergo_status status = fetch(ctx, s, member, &walkers);
    for (uint32_t w = 0; w < count && status == ERGO_OK; w++) {
        char more[80];
        snprintf(more, sizeof more, "time_step=%" PRIu64 " walker=%u", s->e.step, w);
        helium_frame_append(text, &s->models[member], more,
                            walkers.places + (size_t)walkers.parents[w] * 3 * s->shape.n);
    }
    free_walkers(&walkers);
    return status;
}
