/*
 * Fully connected spin glasses: the canonical state.
 *
 * Of a member: the first 8 bytes of the SHA-256 of its couplings' (of those of each realisation's,
 * row by row, 16 bits each); then for each realisation its slots (temperature by temperature, copy
 * by copy), of each ceil(n/8) bytes, bit i % 8 of byte i / 8 is spin i, up = 1; of each slot the
 * flips since the start, 8 bytes; with a ladder also a byte of each slot: has its walker been at
 * the hot end since it was at the cold one; of each pair of neighbours on the ladder, copy by copy,
 * the accepted exchanges, 8 bytes; of each copy the round trips, 8 bytes. With feedback the
 * temperatures follow, and flips, exchanges and round trips are those since the last one.
 * Little-endian, unused bits zero.
 */
#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

static void spins(const void *state, struct ergo_extent *x) {
    const struct dense_state *s = state;
    const struct dense_shape *h = &s->shape;
    const uint64_t shape[] = {h->samples, h->rungs, h->copies, ergo_bits_bytes(h->n)};
    x->pieces = h->samples;
    x->rows = h->slots;
    x->bits = h->n;
    x->bytes = ergo_bits_bytes(h->n);
    x->whole = h->slots * dense_padded(s);
    x->axes = "sample temperature copy spin";
    x->help = "1 up, 0 down; temperatures from the coldest on";
    ergo_extent_shape(x, shape, 4);
}

/* Each slot's spins are at its place. What a broken device left is no reason to read elsewhere. */
static void take_spins(const struct ergo_field_row *r) {
    const struct dense_state *s = r->state;
    const uint32_t slots = s->shape.slots, place = s->places[r->piece * slots + r->row] % slots;
    const int8_t *from = (const int8_t *)r->raw + place * dense_padded(s);
    memset(r->bytes, 0, r->x->bytes);
    for (size_t i = 0; i < s->shape.n; i++)
        r->bytes[i / 8] = (uint8_t)(r->bytes[i / 8] | (from[i] > 0) << i % 8);
}

static void put_spins(const struct ergo_field_row *r) {
    const struct dense_state *s = r->state;
    int8_t *to = (int8_t *)r->raw + r->row * dense_padded(s);
    for (size_t i = 0; i < s->shape.n; i++)
        to[i] = ergo_bits_get(r->bytes, i) ? 1 : -1;
}

static void flips(const void *state, struct ergo_extent *x) {
    const struct dense_shape *h = &((const struct dense_state *)state)->shape;
    ergo_extent_numbers(x, h->slots, 8);
    x->pieces = h->samples;
}

static uint64_t number_at(const uint8_t *bytes, size_t i) {
    return ergo_bytes_get(bytes + 8 * i, 8);
}

static bool flips_valid(const struct ergo_field_row *r) {
    const struct dense_shape *h = &((const struct dense_state *)r->state)->shape;
    bool right = true;
    for (size_t slot = 0; slot < h->slots; slot++) /* n step, without an overflow */
        right = right && number_at(r->bytes, slot) / h->n <= r->step;
    return right;
}

static void came(const void *state, struct ergo_extent *x) {
    const struct dense_shape *h = &((const struct dense_state *)state)->shape;
    ergo_extent_numbers(x, h->rungs > 1 ? h->slots : 0, 1);
    x->pieces = h->samples;
    x->wide = 4;
    x->below = 2;
}

static bool came_valid(const struct ergo_field_row *r) {
    const struct dense_shape *h = &((const struct dense_state *)r->state)->shape;
    bool right = true;
    for (size_t c = 0; c < h->copies; c++)
        right = right && r->bytes[c] == 0 && r->bytes[h->slots - 1 - c] == 1;
    return right;
}

static void accepted(const void *state, struct ergo_extent *x) {
    const struct dense_shape *h = &((const struct dense_state *)state)->shape;
    ergo_extent_numbers(x, (size_t)(h->rungs - 1) * h->copies, 8);
    x->pieces = h->samples;
    x->raw = 8 * (size_t)h->slots;
}

static bool accepted_valid(const struct ergo_field_row *r) {
    const struct dense_state *s = r->state;
    const uint32_t copies = s->shape.copies;
    bool right = true;
    for (uint32_t k = 0; k < (s->shape.rungs - 1) * copies; k++)
        right = right && number_at(r->bytes, k) <=
                             ergo_feedback_tries(&s->feedback, r->step, k / copies % 2);
    return right;
}

static void trips(const void *state, struct ergo_extent *x) {
    const struct dense_shape *h = &((const struct dense_state *)state)->shape;
    ergo_extent_numbers(x, h->rungs > 1 ? h->copies : 0, 8);
    x->pieces = h->samples;
}

static bool trips_valid(const struct ergo_field_row *r) {
    bool right = true;
    for (size_t c = 0; c < r->x->bytes / 8; c++)
        right =
            right && number_at(r->bytes, c) <= number_at(ergo_field_beside(r, DENSE_ACCEPTED), c);
    return right;
}

static void temperatures(const void *state, struct ergo_extent *x) {
    ergo_extent_numbers(x, ergo_feedback_bytes(&((const struct dense_state *)state)->feedback) / 8,
                        8);
}

static void *hash_of(void *state, size_t member) {
    return &((struct dense_state *)state)->hashes[member];
}

static void *ladder_of(void *state, size_t member) {
    const struct dense_state *s = state;
    return s->ladders + member * s->shape.rungs;
}

static void saving(void *state, size_t member) {
    struct dense_state *s = state;
    const size_t slots = (size_t)s->shape.samples * s->shape.slots;
    ergo_engine_read(&s->e, DENSE_PLACES, 4 * slots * member, 4 * slots, s->places);
}

static void loaded(void *state, size_t member) {
    struct dense_state *s = state;
    const size_t slots = (size_t)s->shape.samples * s->shape.slots;
    for (size_t i = 0; i < slots; i++)
        s->places[i] = (uint32_t)(i % s->shape.slots);
    ergo_engine_write(&s->e, DENSE_PLACES, 4 * slots * member, 4 * slots, s->places);
    if (s->feedback.automatic)
        dense_write_ladders(s);
    dense_launch_fields(s, member * slots, slots);
    ergo_engine_finish(&s->e);
}

static const struct ergo_field field[] = {
    {ERGO_ON_HOST, "couplings", .extent = model_couplings, .host = hash_of, .constant = true},
    {DENSE_SPINS, "spins", .extent = spins, .take = take_spins, .put = put_spins},
    {DENSE_FLIPS, "flips", .extent = flips, .valid = flips_valid, .beside = true},
    {DENSE_CAME, "walkers", .extent = came, .valid = came_valid, .beside = true},
    {DENSE_ACCEPTED, "exchanges", .extent = accepted, .valid = accepted_valid, .beside = true},
    {DENSE_TRIPS, "round trips", .extent = trips, .valid = trips_valid, .beside = true},
    {ERGO_ON_HOST, "temperatures", .extent = temperatures, .host = ladder_of,
     .valid = ergo_feedback_valid},
};
const struct ergo_fields dense_fields = {
    .field = field, .n = sizeof field / sizeof *field, .saving = saving, .loaded = loaded};

enum ergo_status dense_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct dense_state s = {.shape = dense_shape_of(point),
                                  .feedback = ergo_feedback_of(point)};
    (void)ctx;
    ergo_fields_form(&dense_fields, &s, form);
    return ERGO_OK;
}
