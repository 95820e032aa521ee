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
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

static size_t row_bytes(const struct dense_shape *h) {
    return (h->n + 7) / 8;
}

static size_t pile_bytes(const struct dense_shape *h) {
    const size_t slots = h->slots, moves = 8 * ((size_t)(h->rungs - 1) + 1) * h->copies;
    return slots * (row_bytes(h) + 8) + (h->rungs > 1 ? slots + moves : 0);
}

static size_t bytes_of(const struct dense_shape *h) {
    return 8 + h->samples * pile_bytes(h);
}

static size_t state_bytes(const struct dense_state *s) {
    return bytes_of(&s->shape) + ergo_feedback_bytes(&s->feedback);
}

/* A realisation's part of the buffers. */
struct pile {
    int8_t *spins; /* [place][padded] */
    uint32_t *places, *came;
    uint64_t *flips, *accepted, *trips;
};

static bool pile_create(const struct dense_state *s, struct pile *p) {
    const size_t slots = s->shape.slots;
    p->spins = calloc(slots, dense_padded(s));
    p->places = calloc(2 * slots, sizeof *p->places);
    p->flips = calloc(3 * slots, sizeof *p->flips);
    if (!p->spins || !p->places || !p->flips)
        return false;
    p->came = p->places + slots;
    p->accepted = p->flips + slots;
    p->trips = p->flips + 2 * slots;
    return true;
}

static void pile_free(struct pile *p) {
    free(p->spins);
    free(p->places);
    free(p->flips);
}

/* Reads or writes the part of realisation `pile` of all members. */
static void transfer(struct dense_state *s, size_t pile, struct pile *p, bool write) {
    const struct dense_shape *h = &s->shape;
    const size_t slots = h->slots;
    const struct {
        enum dense_buffer row;
        size_t bytes;
        void *data;
        bool ladder;
    } parts[] = {{DENSE_SPINS, slots * dense_padded(s), p->spins, false},
                 {DENSE_PLACES, 4 * slots, p->places, false},
                 {DENSE_FLIPS, 8 * slots, p->flips, false},
                 {DENSE_CAME, 4 * slots, p->came, true},
                 {DENSE_ACCEPTED, 8 * slots, p->accepted, true},
                 {DENSE_TRIPS, 8 * (size_t)h->copies, p->trips, true}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].ladder && h->rungs < 2)
            continue;
        if (write)
            ergo_engine_write(&s->e, parts[i].row, pile * parts[i].bytes, parts[i].bytes,
                              parts[i].data);
        else
            ergo_engine_read(&s->e, parts[i].row, pile * parts[i].bytes, parts[i].bytes,
                             parts[i].data);
    }
}

/* ---- save ------------------------------------------------------------------------------------ */

/* bytes: pile_bytes, zeroed. */
static void pack(const struct dense_state *s, const struct pile *p, uint8_t *bytes) {
    const struct dense_shape *h = &s->shape;
    const size_t row = row_bytes(h), pairs = (size_t)(h->rungs - 1) * h->copies;
    for (size_t slot = 0; slot < h->slots; slot++, bytes += row) {
        /* what a broken device left is no reason to read elsewhere */
        const int8_t *spins = p->spins + p->places[slot] % h->slots * dense_padded(s);
        for (size_t i = 0; i < h->n; i++)
            bytes[i / 8] = (uint8_t)(bytes[i / 8] | (spins[i] > 0) << i % 8);
    }
    memcpy(bytes, p->flips, 8 * (size_t)h->slots);
    bytes += 8 * (size_t)h->slots;
    if (h->rungs < 2)
        return;
    for (size_t slot = 0; slot < h->slots; slot++)
        *bytes++ = p->came[slot] != 0;
    memcpy(bytes, p->accepted, 8 * pairs);
    memcpy(bytes + 8 * pairs, p->trips, 8 * (size_t)h->copies);
}

enum ergo_status dense_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text) {
    struct dense_state *s = state;
    const struct dense_shape *h = &s->shape;
    struct pile p = {0};
    uint8_t *bytes = malloc(pile_bytes(h));
    ergo_engine_begin(&s->e, ctx);
    if (!pile_create(s, &p) || !bytes)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory to save a realisation");
    ergo_text_append_bytes(text, &s->hashes[member], 8);
    for (size_t k = 0; k < h->samples && s->e.status == ERGO_OK; k++) {
        transfer(s, member * h->samples + k, &p, false);
        if (s->e.status != ERGO_OK)
            break;
        memset(bytes, 0, pile_bytes(h));
        pack(s, &p, bytes);
        ergo_text_append_bytes(text, bytes, pile_bytes(h));
    }
    ergo_feedback_save(&s->feedback, s->ladders + member * h->rungs, text);
    if (text->failed)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for a state of %zu bytes",
                         state_bytes(s));
    pile_free(&p);
    free(bytes);
    return ergo_engine_end(&s->e);
}

/* ---- load ------------------------------------------------------------------------------------ */

/* False: what can be no state after `step` sweeps. */
static bool unpack(const struct dense_state *s, uint64_t step, const uint8_t *bytes,
                   struct pile *p) {
    const struct dense_shape *h = &s->shape;
    const size_t row = row_bytes(h), pairs = (size_t)(h->rungs - 1) * h->copies;
    bool right = true;
    for (uint32_t slot = 0; slot < h->slots; slot++, bytes += row) {
        int8_t *spins = p->spins + slot * dense_padded(s);
        p->places[slot] = slot;
        for (size_t i = 0; i < h->n; i++)
            spins[i] = bytes[i / 8] >> i % 8 & 1 ? 1 : -1;
        right = right && (h->n % 8 == 0 || bytes[row - 1] >> h->n % 8 == 0);
    }
    memcpy(p->flips, bytes, 8 * (size_t)h->slots);
    bytes += 8 * (size_t)h->slots;
    for (size_t slot = 0; slot < h->slots; slot++) /* n step, without an overflow */
        right = right && p->flips[slot] / h->n <= step;
    if (h->rungs < 2)
        return right;
    for (size_t slot = 0; slot < h->slots; slot++) {
        p->came[slot] = bytes[slot];
        right = right && (slot < h->copies               ? bytes[slot] == 0
                          : slot + h->copies >= h->slots ? bytes[slot] == 1
                                                         : bytes[slot] <= 1);
    }
    memset(p->accepted, 0, 8 * (size_t)h->slots);
    memcpy(p->accepted, bytes + h->slots, 8 * pairs);
    memcpy(p->trips, bytes + h->slots + 8 * pairs, 8 * (size_t)h->copies);
    for (size_t k = 0; k < pairs; k++)
        right = right && p->accepted[k] <=
                             ergo_feedback_tries(&s->feedback, step, (uint32_t)(k / h->copies % 2));
    for (size_t c = 0; c < h->copies; c++)
        right = right && p->trips[c] <= p->accepted[c];
    return right;
}

enum ergo_status dense_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct dense_state *s = state;
    const struct dense_shape *h = &s->shape;
    const uint8_t *from = bytes;
    struct pile p = {0};
    if (length != state_bytes(s))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; %u realisations of %u spins "
                         "with %u slots have %zu",
                         member, length, h->samples, h->n, h->slots, state_bytes(s));
    if (memcmp(from, &s->hashes[member], 8) != 0)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu belongs to other couplings, or is damaged",
                         member);
    ergo_engine_begin(&s->e, ctx);
    if (!pile_create(s, &p))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory to load a realisation");
    from += 8;
    for (size_t k = 0; k < h->samples && s->e.status == ERGO_OK; k++, from += pile_bytes(h)) {
        if (!unpack(s, step, from, &p))
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_IO,
                             "the saved state of member %zu is damaged: bits of spins that are not "
                             "there, or more flips, exchanges or round trips than tries",
                             member);
        transfer(s, member * h->samples + k, &p, true);
    }
    pile_free(&p);
    if (s->e.status == ERGO_OK && !ergo_feedback_load(&s->feedback, s->e.batch->points[member],
                                                      from, s->ladders + member * h->rungs))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_IO,
                         "the saved state of member %zu is damaged: its temperatures do not grow "
                         "from the coldest to the hottest of the job",
                         member);
    if (s->feedback.automatic)
        dense_write_ladders(s);
    s->e.step = step;
    dense_launch_fields(s, member * h->samples * h->slots, (size_t)h->samples * h->slots);
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}

enum ergo_status dense_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct dense_shape s = dense_shape_of(point);
    const uint64_t shape[] = {s.samples, s.rungs, s.copies, row_bytes(&s)};
    (void)ctx;
    const struct ergo_feedback feedback = ergo_feedback_of(point);
    *form =
        (struct ergo_form){.bytes = bytes_of(&s) + ergo_feedback_bytes(&feedback), .n_parts = 2};
    form->parts[0] =
        (struct ergo_form_part){.name = "spins",
                                .axes = "sample temperature copy spin",
                                .help = "1 up, 0 down; temperatures from the coldest on",
                                .element = 1,
                                .bits = s.n,
                                .offset = 8,
                                .stride = pile_bytes(&s),
                                .pieces = s.samples};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        ergo_form_axis(&form->parts[0], shape[i]);
    form->parts[1] = model_couplings_form;
    return ERGO_OK;
}

/* Spins: none has flipped yet, and walkers of ladders have been nowhere. */
enum ergo_status dense_carry(struct ergo_context *ctx, void *state, size_t member,
                             const void *bytes, size_t length) {
    struct dense_state *s = state;
    const struct dense_shape *h = &s->shape;
    const size_t all = state_bytes(s);
    const size_t spins = h->slots * row_bytes(h), came = spins + 8 * (size_t)h->slots;
    uint8_t *start = malloc(length + 1);
    if (!start)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start");
    memcpy(start, bytes, length);
    uint8_t *at = start + 8;
    for (size_t k = 0; k < h->samples && length == all; k++, at += pile_bytes(h)) {
        memset(at + spins, 0, pile_bytes(h) - spins);
        if (h->rungs > 1) /* the hot end */
            memset(at + came + h->slots - h->copies, 1, h->copies);
    }
    if (length == all) /* temperatures are to be found anew */
        memcpy(at, s->ladders + member * h->rungs, ergo_feedback_bytes(&s->feedback));
    const enum ergo_status status = dense_load(ctx, state, member, 0, start, length);
    free(start);
    return status;
}
