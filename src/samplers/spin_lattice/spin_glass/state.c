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
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"
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

size_t glass_state_bytes(const struct glass_shape *s) {
    return 8 + s->all * layout_of(s).whole + (s->automatic ? 8 * (size_t)s->rungs : 0);
}

size_t glass_part_bytes(const struct glass_shape *s) {
    const struct layout l = layout_of(s);
    return s->words * (l.bytes[SPINS] + l.bytes[CAME] + l.bytes[ACCEPTED] + l.bytes[TRIPS]);
}

void glass_state_place(const struct glass_shape *here, const char *part, char *whole) {
    const struct layout l = layout_of(here);
    for (size_t w = 0; w < here->words; w++)
        for (int k = 0; k < PARTS; part += l.bytes[k++])
            if (l.bytes[k])
                memcpy(whole + 8 + (here->first + w) * l.whole + l.before[k], part, l.bytes[k]);
}

/* ---- save and load --------------------------------------------------------------------------- */

enum ergo_status glass_save(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_text *text) {
    struct glass_state *s = opaque;
    ergo_text_append_bytes(text, &s->hashes[member], 8);
    const enum ergo_status status = glass_save_part(ctx, s, member, text);
    ergo_feedback_save(&s->feedback, s->ladders + member * s->shape.rungs, text);
    return status;
}

enum ergo_status glass_save_part(struct ergo_context *ctx, struct glass_state *s, size_t member,
                                 struct ergo_text *text) {
    const struct glass_shape *h = &s->shape;
    const struct layout parts = layout_of(h);
    const size_t stride = 4 * (size_t)h->quads, bytes = glass_lattice_bytes(h);
    const struct {
        unsigned row;
        size_t each; /* of a word-lattice on the device */
    } walkers[PARTS] = {[CAME] = {GLASS_FROM_HOT, 4 * stride},
                        [ACCEPTED] = {GLASS_ACCEPTED, 8 * (size_t)h->slots},
                        [TRIPS] = {GLASS_ROUND_TRIPS, 8 * (size_t)h->copies}};
    uint32_t *spins = malloc(bytes), *plain = malloc(parts.bytes[SPINS]);
    uint64_t *numbers = malloc(8 * stride);
    ergo_engine_begin(&s->e, ctx);
    if (!spins || !plain || !numbers)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory to save a lattice");
    for (size_t w = 0; w < h->words && s->e.status == ERGO_OK; w++) {
        const size_t l = member * h->words + w;
        ergo_engine_read(&s->e, GLASS_SPINS, l * bytes, bytes, spins);
        for (uint64_t site = 0; site < h->sites; site++)
            for (uint32_t slot = 0; slot < h->slots; slot++)
                plain[slot * h->sites + site] = spins[glass_place_of(h, site) * stride + slot];
        ergo_text_append_bytes(text, plain, parts.bytes[SPINS]);
        for (int k = CAME; k < PARTS; k++) {
            ergo_engine_read(&s->e, walkers[k].row, l * walkers[k].each, parts.bytes[k], numbers);
            ergo_text_append_bytes(text, numbers, parts.bytes[k]);
        }
    }
    if (text->failed)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for a state of %zu bytes",
                         glass_state_bytes(h));
    free(spins);
    free(plain);
    free(numbers);
    return ergo_engine_end(&s->e);
}

/* What is here of one word-lattice's state. False: bits where none can be. */
static bool unpack(const struct glass_shape *h, const uint8_t *from, uint32_t lanes,
                   uint32_t *spins, uint32_t *from_hot, uint64_t *accepted, uint64_t *trips) {
    const struct layout l = layout_of(h);
    const size_t stride = 4 * (size_t)h->quads;
    const uint32_t first = h->rung * h->copies, all = glass_all_slots(h);
    const uint8_t *at = from + l.before[SPINS];
    uint32_t word, outside = 0;
    for (uint32_t slot = 0; slot < h->slots; slot++)
        for (uint64_t site = 0; site < h->sites; site++, at += 4) {
            memcpy(&word, at, 4);
            outside |= word & ~lanes;
            spins[glass_place_of(h, site) * stride + slot] = word;
        }
    if (h->rungs < 2)
        return outside == 0;
    memcpy(from_hot, from + l.before[CAME], l.bytes[CAME]);
    memcpy(accepted, from + l.before[ACCEPTED], l.bytes[ACCEPTED]);
    memcpy(trips, from + l.before[TRIPS], l.bytes[TRIPS]);
    for (uint32_t slot = 0; slot < h->slots; slot++)
        outside |= first + slot < h->copies          ? from_hot[slot]
                   : first + slot >= all - h->copies ? from_hot[slot] ^ lanes
                                                     : from_hot[slot] & ~lanes;
    return outside == 0;
}

static void write_word(struct glass_state *s, size_t l, const uint32_t *spins,
                       const uint32_t *from_hot, const uint64_t *accepted, const uint64_t *trips) {
    const struct glass_shape *h = &s->shape;
    const size_t stride = 4 * (size_t)h->quads, bytes = glass_lattice_bytes(h);
    const size_t slots = 8 * (size_t)h->slots, copies = 8 * (size_t)h->copies;
    ergo_engine_write(&s->e, GLASS_SPINS, l * bytes, bytes, spins);
    ergo_engine_write(&s->e, GLASS_FROM_HOT, l * 4 * stride, 4 * stride, from_hot);
    ergo_engine_write(&s->e, GLASS_ACCEPTED, l * slots, slots, accepted);
    ergo_engine_write(&s->e, GLASS_ROUND_TRIPS, l * copies, copies, trips);
}

enum ergo_status glass_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    const size_t stride = 4 * (size_t)h->quads;
    const uint8_t *from = bytes;
    if (length != glass_state_bytes(h))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; %u words of %u x %u x %u "
                         "sites with %u slots have %zu",
                         member, length, h->all, h->lx, h->ly, h->lz, glass_all_slots(h),
                         glass_state_bytes(h));
    if (memcmp(from, &s->hashes[member], 8) != 0)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu belongs to other couplings, or is damaged: "
                         "has the file of couplings changed?",
                         member);
    uint32_t *spins = calloc(1, glass_lattice_bytes(h)), *from_hot = calloc(stride, 4);
    uint64_t *numbers = calloc(2 * stride, 8);
    const size_t whole = layout_of(h).whole;
    ergo_engine_begin(&s->e, ctx);
    if (!spins || !from_hot || !numbers)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory to load a lattice");
    from += 8 + h->first * whole;
    for (size_t w = 0; w < h->words && s->e.status == ERGO_OK; w++, from += whole) {
        if (!unpack(h, from, glass_lanes(h, h->first + (uint32_t)w), spins, from_hot, numbers,
                    numbers + stride))
            ergo_engine_note(
                &s->e, ERGO_FAIL(ctx, ERGO_E_IO,
                                 "the saved state of member %zu is damaged: bits of samples that "
                                 "are not there, or walkers that cannot have been where they were",
                                 member));
        write_word(s, member * h->words + w, spins, from_hot, numbers, numbers + stride);
    }
    if (s->e.status == ERGO_OK &&
        !ergo_feedback_load(&s->feedback, s->e.batch->points[member],
                            (const uint8_t *)bytes + length - ergo_feedback_bytes(&s->feedback),
                            s->ladders + member * h->rungs))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_IO,
                         "the saved state of member %zu is damaged: its temperatures do not grow "
                         "from the coldest to the hottest of the job",
                         member);
    if (s->feedback.automatic)
        glass_write_ladders(s);
    glass_moves_clear(s);
    s->e.step = step;
    free(spins);
    free(from_hot);
    free(numbers);
    return ergo_engine_end(&s->e);
}

enum ergo_status glass_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct glass_shape s = glass_shape_of(point);
    const struct layout l = layout_of(&s);
    const uint64_t shape[] = {s.all, s.rungs, s.copies, s.lz, s.ly, s.lx};
    *form = (struct ergo_form){.bytes = glass_state_bytes(&s), .n_parts = 2};
    form->parts[0] = (struct ergo_form_part){
        .name = "spins",
        .axes = s.d > 2 ? "word temperature copy z y x" : "word temperature copy y x",
        .help =
            "1 up, 0 down, of samples 32 word to 32 word + 31; temperatures from the coldest on",
        .element = 4,
        .systems = s.samples,
        .offset = 8,
        .stride = l.whole,
        .pieces = s.all};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (i != 3 || s.d > 2)
            ergo_form_axis(&form->parts[0], shape[i]);
    form->parts[1] = model_couplings_form;
    return timed_form(ctx, point, form);
}

/* Spins; walkers of ladders have been nowhere yet. */
enum ergo_status glass_carry(struct ergo_context *ctx, void *opaque, size_t member,
                             const void *bytes, size_t length) {
    struct glass_state *s = opaque;
    struct glass_shape whole = s->shape;
    whole.rung = 0;
    whole.temperatures = whole.rungs;
    whole.slots = glass_all_slots(&s->shape);
    const struct layout l = layout_of(&whole);
    uint8_t *start = malloc(length + 1);
    if (!start)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start");
    memcpy(start, bytes, length);
    uint8_t *at = start + 8;
    for (uint32_t w = 0; w < whole.all && length == glass_state_bytes(&s->shape) && l.bytes[CAME];
         w++, at += l.whole) {
        const uint32_t lanes = glass_lanes(&whole, w);
        memset(at + l.before[CAME], 0, l.whole - l.before[CAME]);
        for (uint32_t copy = 1; copy <= whole.copies; copy++) /* at the hot end */
            memcpy(at + l.before[ACCEPTED] - 4 * copy, &lanes, 4);
    }
    if (length == glass_state_bytes(&s->shape)) /* temperatures are to be found anew */
        memcpy(start + length - ergo_feedback_bytes(&s->feedback),
               s->ladders + member * whole.rungs, ergo_feedback_bytes(&s->feedback));
    const enum ergo_status status = glass_load(ctx, s, member, 0, start, length);
    free(start);
    return status;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Is the first copy up; does the second differ? */
static unsigned kind_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct glass_shape *h = v->shape;
    const uint32_t *at =
        (const uint32_t *)v->sites + glass_place_of(h, x + h->lx * row) * 4 * h->quads;
    return (at[0] & 1) | (h->copies > 1 ? (at[0] ^ at[1]) & 1 : 0) << 1;
}

/* The first sample at the coldest temperature: up and down of its first copy, pale where the second
 * differs. */
enum ergo_status glass_view(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_view *view) {
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    const size_t bytes = glass_lattice_bytes(h);
    *view = (struct ergo_view){
        .size = {h->lx, h->ly, h->lz},
        .shape = h,
        .sites = malloc(bytes),
        .state = kind_at,
        .colours = {{214, 160, 90}, {31, 58, 95}, {245, 222, 179}, {140, 160, 190}}};
    if (!view->sites)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, GLASS_SPINS, member * h->words * bytes, bytes, view->sites);
    return ergo_engine_end(&s->e);
}
