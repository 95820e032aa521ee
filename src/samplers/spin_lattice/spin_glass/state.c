/*
 * Spin glasses: the canonical state, pictures.
 *
 * Canonical state of a member: the first 8 bytes of the SHA-256 of its couplings (which the job
 * says, or its file); then for each word-lattice: its slots (temperature by temperature, copy by
 * copy), each site by site (x first), 4 bytes each, a bit per sample; with a ladder also, of each
 * slot, 4 bytes: which samples' walkers have been at the hot end since they were at the cold one;
 * of each pair of neighbours on the ladder, copy by copy, how many exchanges were accepted, 8
 * bytes; and of each copy the round trips, 8 bytes. With feedback the temperatures follow, and
 * walkers, exchanges and round trips are those since the last one. All little-endian; unused
 * samples' bits are zero.
 */
#include <string.h>

#include "base/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/two_times.h"

/* ---- the parts of a word-lattice's state ------------------------------------------------------
 */

enum { SPINS, CAME, ACCEPTED, TRIPS, PARTS };

/* Bytes of each that are here, and bytes of the whole before them. */
struct layout {
    size_t bytes[PARTS], before[PARTS], whole;
};

static struct layout layout_of(const struct glass_shape *s) {
    const size_t sites = s->sites, pair = 8 * (size_t)s->copies;
    const size_t slots = s->slots, all = glass_all_slots(s), first = (size_t)s->rung * s->copies;
    const bool ladder = s->rungs > 1, hot = s->rung + s->temperatures == s->rungs;
    struct layout l = {.bytes = {4 * sites * slots, ladder ? 4 * slots : 0,
                                 ladder ? (s->temperatures - hot) * pair : 0,
                                 ladder && s->rung == 0 ? pair : 0},
                       .before = {4 * sites * first}};
    l.before[CAME] = 4 * sites * all + 4 * first;
    l.before[ACCEPTED] = 4 * sites * all + 4 * all + 8 * first;
    l.before[TRIPS] = 4 * sites * all + 4 * all + (s->rungs - 1) * pair;
    l.whole = 4 * sites * all + (ladder ? 4 * all + s->rungs * pair : 0);
    return l;
}

void glass_state_move(const struct glass_shape *here, char *own, char *whole, bool place) {
    const struct layout l = layout_of(here);
    for (size_t w = 0; w < here->words; w++)
        for (int k = 0; k < PARTS; own += l.bytes[k++]) {
            char *at = whole + (here->first + w) * l.whole + l.before[k];
            if (l.bytes[k])
                memcpy(place ? at : own, place ? own : at, l.bytes[k]);
        }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void spins(const void *shape, struct ergo_extent *x) {
    const struct glass_shape *s = shape;
    const uint64_t all[] = {s->all, s->rungs, s->copies, s->lz, s->ly, s->lx};
    x->pieces = s->words;
    x->element = 4;
    x->bytes = layout_of(s).bytes[SPINS];
    x->whole = glass_lattice_bytes(s);
    x->axes = s->d > 2 ? "word temperature copy z y x" : "word temperature copy y x";
    x->help = "1 up, 0 down, of samples 32 word to 32 word + 31; temperatures from the coldest on";
    x->systems = s->samples;
    ergo_extent_shape(x, all, 3);
    ergo_extent_shape(x, all + (s->d > 2 ? 3 : 4), s->d);
}

/* Words of the canonical state lie site by site, those of the device slot by slot. */
static void take_spins(const struct ergo_field_row *r) {
    const struct glass_shape *h = r->shape;
    const size_t stride = 4 * (size_t)h->quads;
    for (uint64_t site = 0; site < h->sites; site++) {
        const uint32_t *from = (const uint32_t *)r->raw + glass_place_of(h, site) * stride;
        for (uint32_t slot = 0; slot < h->slots; slot++)
            memcpy(r->bytes + 4 * (slot * h->sites + site), from + slot, 4);
    }
}

static void put_spins(const struct ergo_field_row *r) {
    const struct glass_shape *h = r->shape;
    const size_t stride = 4 * (size_t)h->quads;
    for (uint64_t site = 0; site < h->sites; site++) {
        uint32_t *to = (uint32_t *)r->raw + glass_place_of(h, site) * stride;
        for (uint32_t slot = 0; slot < h->slots; slot++)
            memcpy(to + slot, r->bytes + 4 * (slot * h->sites + site), 4);
    }
}

static uint32_t lanes_of(const struct ergo_field_row *r) {
    const struct glass_shape *h = r->shape;
    return glass_lanes(h, h->first + (uint32_t)r->piece);
}

static bool spins_valid(const struct ergo_field_row *r) {
    const uint32_t lanes = lanes_of(r);
    uint32_t outside = 0;
    for (size_t i = 0; i < r->x->bytes; i += 4)
        outside |= (uint32_t)ergo_bytes_get(r->bytes + i, 4) & ~lanes;
    return outside == 0;
}

static void came(const void *shape, struct ergo_extent *x) {
    const struct glass_shape *s = shape;
    ergo_extent_numbers(x, layout_of(s).bytes[CAME] / 4, 4);
    x->pieces = s->words;
    x->raw = 16 * (size_t)s->quads;
}

/* Who is at an end of the ladder has been there. */
static bool came_valid(const struct ergo_field_row *r) {
    const struct glass_shape *h = r->shape;
    const uint32_t lanes = lanes_of(r), first = h->rung * h->copies, all = glass_all_slots(h);
    uint32_t wrong = 0;
    for (uint32_t slot = 0; slot < h->slots; slot++) {
        const uint32_t came = (uint32_t)ergo_bytes_get(r->bytes + 4 * (size_t)slot, 4);
        wrong |= first + slot < h->copies          ? came
                 : first + slot >= all - h->copies ? came ^ lanes
                                                   : came & ~lanes;
    }
    return wrong == 0;
}

static void accepted(const void *shape, struct ergo_extent *x) {
    const struct glass_shape *s = shape;
    ergo_extent_numbers(x, layout_of(s).bytes[ACCEPTED] / 8, 8);
    x->pieces = s->words;
    x->raw = 8 * (size_t)s->slots;
}

static void trips(const void *shape, struct ergo_extent *x) {
    const struct glass_shape *s = shape;
    ergo_extent_numbers(x, layout_of(s).bytes[TRIPS] / 8, 8);
    x->pieces = s->words;
}

static void temperatures(const void *shape, struct ergo_extent *x) {
    const struct glass_shape *s = shape;
    ergo_extent_numbers(x, s->automatic ? s->rungs : 0, 8);
}

static void *hash_of(void *state, size_t member) {
    return &((struct glass_state *)state)->hashes[member];
}

static void *ladder_of(void *state, size_t member) {
    const struct glass_state *s = state;
    return s->ladders + member * s->shape.rungs;
}

static void loaded(void *state, size_t member) {
    struct glass_state *s = state;
    (void)member;
    if (s->feedback.automatic)
        glass_write_ladders(s);
    glass_moves_clear(s);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Is the first copy up; does the second differ? */
static unsigned kind_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct glass_shape *h = v->shape;
    const uint32_t *at = (const uint32_t *)v->sites + x + h->lx * row;
    return (at[0] & 1) | (h->copies > 1 ? (at[0] ^ at[h->sites]) & 1 : 0) << 1;
}

/* The first sample at the coldest temperature: up and down of its first copy, pale where the second
 * differs. */
static void look(const void *state, struct ergo_view *view) {
    const struct glass_shape *h = &((const struct glass_state *)state)->shape;
    *view = (struct ergo_view){
        .size = {h->lx, h->ly, h->lz},
        .shape = h,
        .state = kind_at,
        .colours = {{214, 160, 90}, {31, 58, 95}, {245, 222, 179}, {140, 160, 190}}};
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct ergo_field field[] = {
    {ERGO_ON_HOST, "couplings", .extent = model_couplings, .host = hash_of, .constant = true},
    {GLASS_SPINS, "spins", .extent = spins, .take = take_spins, .put = put_spins,
     .valid = spins_valid},
    {GLASS_FROM_HOT, "walkers", .extent = came, .valid = came_valid, .beside = true},
    {GLASS_ACCEPTED, "exchanges", .extent = accepted, .beside = true},
    {GLASS_ROUND_TRIPS, "round trips", .extent = trips, .beside = true},
    {ERGO_ON_HOST, "temperatures", .extent = temperatures, .host = ladder_of,
     .valid = ergo_feedback_valid},
};
const struct ergo_fields glass_fields = {.shape = offsetof(struct glass_state, shape),
                                         .field = field,
                                         .n = sizeof field / sizeof *field,
                                         .loaded = loaded,
                                         .look = look};

enum ergo_status glass_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct glass_shape s = glass_shape_of(point);
    ergo_fields_form(&glass_fields, &s, form);
    return timed_form(ctx, point, form);
}
