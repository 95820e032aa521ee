/*
 * The canonical state of a member, little-endian: the displacement factor (uint32), then for each
 * walker ln psi (int64, 2^-21), accepted moves of the tuning window (uint32), and the positions
 * (int32, x of all atoms, then y, then z); where all parameters are optimised, the numbers of
 * descent.h (doubles); at the end, where pair functions are from files, a hash
 * of these (uint64): with others the chain would be another one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

static const struct helium_model *model_of(const struct ergo_field_row *r) {
    return &((const struct helium_state *)r->state)->models[r->member];
}

static void factor(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, 1, 4);
}

static bool factor_valid(const struct ergo_field_row *r) {
    const uint64_t factor = ergo_bytes_get(r->bytes, 4);
    return factor >= 64 && factor <= 1048576;
}

/* ln psi and the moves of the window. */
static void walkers(const void *state, struct ergo_extent *x) {
    x->pieces = ((const struct helium_state *)state)->shape.walkers;
    x->bytes = 12;
    x->raw = HELIUM_WALKER_BYTES;
}

static void take_walker(const struct ergo_field_row *r) {
    const struct helium_walker *walker = r->raw;
    memcpy(r->bytes, &walker->ln_psi, 8);
    memcpy(r->bytes + 8, &walker->window, 4);
}

static void put_walker(const struct ergo_field_row *r) {
    struct helium_walker *walker = r->raw;
    memcpy(&walker->ln_psi, r->bytes, 8);
    memcpy(&walker->window, r->bytes + 8, 4);
}

static void positions(const void *state, struct ergo_extent *x) {
    const struct helium_shape *h = &((const struct helium_state *)state)->shape;
    ergo_extent_numbers(x, 3 * (size_t)h->n, 4);
    x->pieces = h->walkers;
    x->axes = "walker axis atom";
}

static bool positions_valid(const struct ergo_field_row *r) {
    return helium_places_fit(model_of(r), r->bytes);
}

static void numbers(const void *state, struct ergo_extent *x) {
    const struct helium_optimisation *o = &((const struct helium_state *)state)->optimisation;
    const bool all = o->schedule.all;
    ergo_extent_numbers(x, all ? helium_descent_size(&o->schedule, &o->which[x->member]) : 0, 8);
}

static void *numbers_of(void *state, size_t member) {
    return ((struct helium_state *)state)->optimisation.numbers[member];
}

static bool numbers_valid(const struct ergo_field_row *r) {
    return helium_optimisation_may(r->state, r->member, r->bytes);
}

static void hash(const void *state, struct ergo_extent *x) {
    const struct helium_state *s = state;
    ergo_extent_numbers(x, s->models[x->member].hash != 0, 8);
}

static void *hash_of(void *state, size_t member) {
    return &((struct helium_state *)state)->models[member].hash;
}

static void loaded(void *state, size_t member) {
    struct helium_state *s = state;
    if (s->optimisation.schedule.all)
        helium_optimisation_use(s, member);
    s->rebuild = s->unproven = true;
}

static const struct ergo_field field[] = {
    {HELIUM_FACTORS, "displacement", .extent = factor, .valid = factor_valid},
    {HELIUM_WALKERS, "walkers", .extent = walkers, .take = take_walker, .put = put_walker},
    {HELIUM_POSITIONS, "positions", .extent = positions, .valid = positions_valid, .beside = true},
    {ERGO_ON_HOST, "parameters of a wave function", .extent = numbers, .host = numbers_of,
     .valid = numbers_valid, .own = true},
    {ERGO_ON_HOST, "files of /system", .extent = hash, .host = hash_of, .constant = true},
};
const struct ergo_fields helium_fields = {
    .field = field, .n = sizeof field / sizeof *field, .loaded = loaded};

/* Positions: ln psi is the job's wave function's, and the displacement as it says. */
enum ergo_status helium_carry(struct ergo_context *ctx, void *opaque, size_t member,
                              const void *data, size_t length) {
    struct helium_state *s = opaque;
    const enum ergo_status status = ergo_fields_carry(ctx, s, member, data, length);
    s->unproven = false;
    return status == ERGO_OK && member + 1 == s->e.batch->count ? helium_begin_walkers(ctx, s)
                                                                : status;
}

/* Frames of the first walkers, lengths in A. */
enum ergo_status helium_frame(struct ergo_context *ctx, void *opaque, size_t member,
                              struct ergo_text *text) {
    struct helium_state *s = opaque;
    const uint32_t wish = (uint32_t)of_quantum(s->e.batch->points[member])->frame_walkers;
    const uint32_t count = wish < s->shape.walkers ? wish : s->shape.walkers;
    const size_t each = (size_t)s->shape.walker_bytes, first = member * s->shape.walkers;
    struct helium_walker *walkers = malloc(count * sizeof *walkers);
    int32_t *places = malloc(count * each);
    ergo_engine_begin(&s->e, ctx);
    if (!walkers || !places)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for frames of %u walkers", count);
    ergo_engine_read(&s->e, HELIUM_WALKERS, first * sizeof *walkers, count * sizeof *walkers,
                     walkers);
    ergo_engine_read(&s->e, HELIUM_POSITIONS, first * each, count * each, places);
    for (size_t w = 0; w < count && ergo_engine_end(&s->e) == ERGO_OK; w++) {
        char more[100];
        snprintf(more, sizeof more, "macroupdate=%" PRIu64 " walker=%zu ln_psi=%.6f", s->e.step, w,
                 (double)walkers[w].ln_psi / (double)(1 << HELIUM_U_BITS));
        helium_frame_append(text, &s->models[member], more, places + w * 3 * s->shape.n);
    }
    free(walkers);
    free(places);
    return ergo_engine_end(&s->e);
}
