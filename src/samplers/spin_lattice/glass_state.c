/*
 * Spin glasses: the canonical state, audits, pictures.
 *
 * Canonical state of a member: the first 8 bytes of the SHA-256 of its couplings (which the job
 * says, or its file); then for each word-lattice: its slots (temperature by temperature, copy by
 * copy), each site by site (x first), 4 bytes each, a bit per sample; with a ladder also, of each
 * slot, 4 bytes: which samples' walkers have been at the hot end since they were at the cold one;
 * of each pair of neighbours on the ladder, copy by copy, how many exchanges were accepted, 8
 * bytes; and of each copy the round trips, 8 bytes. All little-endian; unused samples' bits are
 * zero.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/glass.h"
#include "samplers/spin_lattice/models.h"

/* Spins (sites x slots x 32) that are looked at in one audit. */
static const double audit_spins = 1 << 23;

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
    return 8 + s->all * layout_of(s).whole;
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
    return glass_save_part(ctx, s, member, text);
}

enum ergo_status glass_save_part(struct ergo_context *ctx, struct glass_state *s, size_t member,
                                 struct ergo_text *text) {
    const struct glass_shape *h = &s->shape;
    const struct layout parts = layout_of(h);
    const size_t stride = 4 * (size_t)h->quads, bytes = glass_lattice_bytes(h);
    uint32_t *spins = malloc(bytes), *plain = malloc(parts.bytes[SPINS]);
    uint64_t *numbers = malloc(8 * stride);
    enum ergo_status status = spins && plain && numbers
                                  ? ergo_device_finish(ctx, s->device)
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to save a lattice");
    for (size_t w = 0; w < h->words && status == ERGO_OK; w++) {
        const size_t l = member * h->words + w;
        status = ergo_buffer_read(ctx, s->device, s->spins, l * bytes, bytes, spins);
        if (status != ERGO_OK)
            break;
        for (uint64_t site = 0; site < h->sites; site++)
            for (uint32_t slot = 0; slot < h->slots; slot++)
                plain[slot * h->sites + site] = spins[glass_place_of(h, site) * stride + slot];
        ergo_text_append_bytes(text, plain, parts.bytes[SPINS]);
        const struct {
            cl_mem mem;
            size_t each; /* of a word-lattice on the device */
        } walkers[PARTS] = {{NULL, 0},
                            {s->came, 4 * stride},
                            {s->accepted, 8 * h->slots},
                            {s->trips, 8 * h->copies}};
        for (int k = CAME; k < PARTS && status == ERGO_OK; k++) {
            if (parts.bytes[k])
                status = ergo_buffer_read(ctx, s->device, walkers[k].mem, l * walkers[k].each,
                                          parts.bytes[k], numbers);
            ergo_text_append_bytes(text, numbers, parts.bytes[k]);
        }
    }
    if (status == ERGO_OK && text->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %zu bytes",
                           glass_state_bytes(h));
    free(spins);
    free(plain);
    free(numbers);
    return status;
}

/* What is here of one word-lattice's state. False: bits where none can be. */
static bool unpack(const struct glass_shape *h, const uint8_t *from, uint32_t lanes,
                   uint32_t *spins, uint32_t *came, uint64_t *accepted, uint64_t *trips) {
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
    memcpy(came, from + l.before[CAME], l.bytes[CAME]);
    memcpy(accepted, from + l.before[ACCEPTED], l.bytes[ACCEPTED]);
    memcpy(trips, from + l.before[TRIPS], l.bytes[TRIPS]);
    for (uint32_t slot = 0; slot < h->slots; slot++)
        outside |= first + slot < h->copies          ? came[slot]
                   : first + slot >= all - h->copies ? came[slot] ^ lanes
                                                     : came[slot] & ~lanes;
    return outside == 0;
}

static enum ergo_status write_word(struct ergo_context *ctx, struct glass_state *s, size_t l,
                                   const uint32_t *spins, const uint32_t *came,
                                   const uint64_t *accepted, const uint64_t *trips) {
    const struct glass_shape *h = &s->shape;
    const size_t stride = 4 * (size_t)h->quads, bytes = glass_lattice_bytes(h);
    enum ergo_status status = ergo_buffer_write(ctx, s->device, s->spins, l * bytes, bytes, spins);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->came, l * 4 * stride, 4 * stride, came);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->accepted, l * 8 * h->slots,
                                   8 * (size_t)h->slots, accepted);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->trips, l * 8 * h->copies,
                                   8 * (size_t)h->copies, trips);
    return status;
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
    uint32_t *spins = calloc(1, glass_lattice_bytes(h)), *came = calloc(stride, 4);
    uint64_t *numbers = calloc(2 * stride, 8);
    enum ergo_status status = spins && came && numbers
                                  ? ergo_device_finish(ctx, s->device)
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    const size_t whole = layout_of(h).whole;
    from += 8 + h->first * whole;
    for (size_t w = 0; w < h->words && status == ERGO_OK; w++) {
        if (!unpack(h, from, glass_lanes(h, h->first + (uint32_t)w), spins, came, numbers,
                    numbers + stride))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu is damaged: bits of samples that "
                               "are not there, or walkers that cannot have been where they were",
                               member);
        if (status == ERGO_OK)
            status =
                write_word(ctx, s, member * h->words + w, spins, came, numbers, numbers + stride);
        from += whole;
    }
    if (status == ERGO_OK)
        status = glass_moves_clear(ctx, s);
    s->step = step;
    free(spins);
    free(came);
    free(numbers);
    return status;
}

/* ---- audit ----------------------------------------------------------------------------------- */

/* All that advancing changes, and what the audit compares. */
struct copy {
    uint32_t *spins, *came, *moves;
    uint64_t *accepted, *trips;
};

static void copy_free(struct copy *c) {
    free(c->spins);
    free(c->came);
    free(c->moves);
    free(c->accepted);
    free(c->trips);
}

static enum ergo_status transfer(struct ergo_context *ctx, struct glass_state *s, struct copy *c,
                                 bool read) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = s->batch->count * h->words;
    const struct {
        cl_mem mem;
        void *data;
        size_t bytes;
    } parts[] = {{s->spins, c->spins, glass_lattice_bytes(h) * lattices},
                 {s->came, c->came, 16 * h->quads * lattices},
                 {s->moves, c->moves, 128 * glass_move_rows(h) * lattices},
                 {s->accepted, c->accepted, 8 * h->slots * lattices},
                 {s->trips, c->trips, 8 * h->copies * lattices}};
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == ERGO_OK; i++)
        status =
            read
                ? ergo_buffer_read(ctx, s->device, parts[i].mem, 0, parts[i].bytes, parts[i].data)
                : ergo_buffer_write(ctx, s->device, parts[i].mem, 0, parts[i].bytes, parts[i].data);
    return status;
}

static bool copy_allocate(const struct glass_state *s, struct copy *c) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = s->batch->count * h->words;
    c->spins = malloc(glass_lattice_bytes(h) * lattices);
    c->came = malloc(16 * h->quads * lattices);
    c->moves = malloc(128 * glass_move_rows(h) * lattices);
    c->accepted = malloc(8 * h->slots * lattices);
    c->trips = malloc(8 * h->copies * lattices);
    return c->spins && c->came && c->moves && c->accepted && c->trips;
}

static uint32_t word_of(const struct glass_shape *h, size_t l) {
    return h->first + (uint32_t)(l % h->words);
}

static enum ergo_status fails(struct ergo_context *ctx, const struct glass_state *s, size_t l,
                              const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of spin-lattice failed on %s (%s) at sweep %llu, member %zu, word %u: "
                     "%s",
                     s->device->summary.name, s->device->summary.driver,
                     (unsigned long long)s->step, l / s->shape.words, word_of(&s->shape, l), what);
}

/* Room for one word-lattice on the host. */
struct room {
    uint32_t *couplings, *packed, *tables, *spins, *came;
    int64_t *energies;
    uint64_t *moved; /* in the audit's sweeps: [row][32] */
};

static void room_free(struct room *r) {
    free(r->couplings);
    free(r->packed);
    free(r->tables);
    free(r->spins);
    free(r->came);
    free(r->energies);
    free(r->moved);
}

static bool room_allocate(const struct glass_shape *h, struct room *r) {
    const size_t length = glass_couplings_length(h);
    r->couplings = malloc(4 * length);
    r->packed = malloc(8 * length);
    r->tables = malloc((size_t)h->quads * 2 * GLASS_CLASSES * 16);
    r->spins = malloc(glass_lattice_bytes(h));
    r->came = malloc(16 * (size_t)h->quads);
    r->energies = malloc(8 * 128 * (size_t)h->quads);
    r->moved = malloc(8 * 32 * glass_move_rows(h));
    return r->couplings && r->packed && r->tables && r->spins && r->came && r->energies && r->moved;
}

/* What the device counts of a word-lattice, counted plainly. */
static const char *compare_counts(const struct glass_shape *h, const struct room *r,
                                  const uint32_t *spins, const struct glass_record *records) {
    const size_t stride = 4 * (size_t)h->quads;
    for (uint32_t slot = 0; slot < h->slots; slot++)
        for (uint32_t b = 0; b < 32; b++) {
            const struct glass_record *record = records + slot * 32 + b;
            /* the pair of this slot's number */
            const uint32_t base = slot / 4 * 4, place = slot % 4;
            const bool pair = h->copies == 4 || (h->copies == 2 && place % 2 == 0);
            const uint32_t one = h->copies == 2 ? slot : base + (place == 1 ? 2 : place == 3);
            const uint32_t two = h->copies == 2 ? slot + 1
                                                : base + (place == 0   ? 1
                                                          : place == 2 ? 2
                                                                       : 3);
            uint32_t up = 0, unequal = 0;
            for (size_t i = 0; i < h->sites; i++) {
                up += spins[i * stride + slot] >> b & 1;
                if (pair)
                    unequal += (spins[i * stride + one] ^ spins[i * stride + two]) >> b & 1;
            }
            if (record->energy != r->energies[slot * 32 + b])
                return "the device finds another energy than the host";
            if (record->up != up || (pair && record->unequal != unequal))
                return "the device does not count what the host counts";
        }
    return NULL;
}

/* Sweeps of the audit's own, through the kernels of the run: exchanges of either parity, as often
 * as every other sweep, whatever the job says. */
enum { AUDIT_SWEEPS = 4, AUDIT_EVERY = 2 };

static enum ergo_status advance_audit(struct ergo_context *ctx, struct glass_state *s) {
    const uint32_t every = s->shape.swap_every;
    const uint64_t step = s->step;
    s->shape.swap_every = AUDIT_EVERY;
    const enum ergo_status status = glass_advance_sweeps(ctx, s, AUDIT_SWEEPS);
    s->shape.swap_every = every;
    s->step = step;
    return status;
}

static enum ergo_status advance_twin(struct ergo_context *ctx, const struct glass_state *s,
                                     const struct room *r, size_t l, const float *slopes) {
    const struct glass_shape *h = &s->shape;
    const struct ergo_point *point = s->batch->points[l / h->words];
    const uint32_t key[2] = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)};
    const uint32_t word = word_of(h, l);
    enum ergo_status status = ERGO_OK;
    for (uint64_t t = s->step; t < s->step + AUDIT_SWEEPS && status == ERGO_OK; t++) {
        const uint32_t parity = (uint32_t)((t + 1) / AUDIT_EVERY & 1);
        glass_twin_sweep(h, key, r->tables, r->packed, word, t, r->spins);
        if (h->rungs < 2 || (t + 1) % AUDIT_EVERY != 0)
            continue;
        glass_twin_energies(h, r->couplings, r->spins, r->energies);
        glass_twin_swap(h, key, slopes, r->energies, word, t + 1, parity, r->spins, r->came,
                        r->moved);
        if (glass_ends_due(s, parity))
            status =
                glass_ends_twin(ctx, s, l, t + 1, parity, r->energies, r->spins, r->came, r->moved);
    }
    return status;
}

/* Has each sample of word-lattice l exchanged as often as its twin, and words as their samples? */
static bool counted_alike(const struct glass_shape *h, size_t l, const uint64_t *moved,
                          const struct copy *before, const struct copy *after) {
    const size_t rows = glass_move_rows(h);
    bool same = true;
    for (size_t row = 0; row < rows && h->rungs > 1; row++) {
        const uint32_t *old = before->moves + (l * rows + row) * 32;
        const uint32_t *new = after->moves + (l * rows + row) * 32;
        const size_t slot = l * h->slots + row, trip = l * h->copies + row - h->slots;
        uint64_t all = row < h->slots ? before->accepted[slot] : before->trips[trip];
        for (uint32_t bit = 0; bit < 32; bit++) {
            all += moved[row * 32 + bit];
            same = same && glass_moves_of(new, bit) ==
                               ((glass_moves_of(old, bit) + moved[row * 32 + bit]) & UINT32_MAX);
        }
        same = same && all == (row < h->slots ? after->accepted[slot] : after->trips[trip]);
    }
    return same;
}

static enum ergo_status audit_word(struct ergo_context *ctx, const struct glass_state *s,
                                   struct room *r, size_t l, const struct copy *before,
                                   const struct copy *after, const struct glass_record *records) {
    const struct glass_shape *h = &s->shape;
    const size_t stride = 4 * (size_t)h->quads, words = stride * h->sites;
    const struct ergo_point *point = s->batch->points[l / h->words];
    float slopes[GLASS_LADDER_MAX];
    enum ergo_status status = glass_couplings(ctx, point, h, word_of(h, l), r->couplings);
    if (status != ERGO_OK)
        return status;
    glass_pack_couplings(h, r->couplings, r->packed);
    glass_tables(point, h, r->tables, slopes);
    memcpy(r->spins, before->spins + l * words, 4 * words);
    memcpy(r->came, before->came + l * stride, 4 * stride);
    memset(r->moved, 0, 8 * 32 * glass_move_rows(h));
    glass_twin_energies(h, r->couplings, r->spins, r->energies);
    const char *wrong = compare_counts(h, r, r->spins, records + l * stride * 32);
    if (wrong)
        return fails(ctx, s, l, wrong);
    status = advance_twin(ctx, s, r, l, slopes);
    if (status != ERGO_OK)
        return status;
    bool same = memcmp(r->came, after->came + l * stride, 4 * stride) == 0;
    for (size_t i = 0; i < h->sites && same; i++) /* the padding of the last quad is free */
        same = memcmp(r->spins + i * stride, after->spins + l * words + i * stride,
                      4 * (size_t)h->slots) == 0;
    if (same && !counted_alike(h, l, r->moved, before, after))
        return fails(ctx, s, l, "the device does not count the exchanges that it makes");
    return same ? ERGO_OK
                : fails(ctx, s, l,
                        "from the same lattices, the next sweeps and exchanges give others on the "
                        "host. The device's compiler or hardware is wrong for these kernels: try "
                        "another device, or /tuning/path");
}

enum ergo_status glass_audit(struct ergo_context *ctx, void *opaque) {
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    const size_t lattices = s->batch->count * h->words;
    const double fit = audit_spins / ((double)h->sites * glass_all_slots(h) * 32);
    const size_t looked = fit < 1 ? 1 : fit < (double)lattices ? (size_t)fit : lattices;
    struct copy before = {0}, after = {0};
    struct room room = {0};
    struct glass_record *records = malloc(s->launch.records * sizeof *records);
    enum ergo_status status = ERGO_OK;
    const bool enough =
        copy_allocate(s, &before) && copy_allocate(s, &after) && room_allocate(h, &room) && records;
    if (!glass_everywhere(s, enough) || !enough) { /* or the others' twins would wait for ours */
        ergo_log(ctx, ERGO_LOG_WARNING, "no memory to copy the lattices: not audited");
        goto out;
    }
    if (h->idle)
        goto out;
    status = transfer(ctx, s, &before, true);
    if (status == ERGO_OK)
        status = glass_measure_now(ctx, s, records);
    if (status == ERGO_OK)
        status = advance_audit(ctx, s);
    if (status == ERGO_OK)
        status = transfer(ctx, s, &after, true);
    if (status == ERGO_OK)
        status = transfer(ctx, s, &before, false);
    for (size_t k = 0; k < looked && status == ERGO_OK; k++)
        status =
            audit_word(ctx, s, &room, (k + 1) * lattices / looked - 1, &before, &after, records);
out:
    copy_free(&before);
    copy_free(&after);
    room_free(&room);
    free(records);
    return status;
}

/* ---- picture --------------------------------------------------------------------------------- */

/* The first sample at the coldest temperature, layer z = 0: up and down of its first copy, pale
 * where the second differs. */
enum ergo_status glass_picture(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_picture *picture) {
    static const uint8_t colours[4][3] = {
        {214, 160, 90}, {31, 58, 95}, {245, 222, 179}, {140, 160, 190}};
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    const size_t longest = h->lx > h->ly ? h->lx : h->ly, cell = (longest + 1023) / 1024;
    const size_t stride = 4 * (size_t)h->quads, bytes = glass_lattice_bytes(h);
    memset(picture, 0, sizeof *picture);
    picture->width = (unsigned)(h->lx / cell ? h->lx / cell : 1);
    picture->height = (unsigned)(h->ly / cell ? h->ly / cell : 1);
    picture->rgb = malloc((size_t)picture->width * picture->height * 3);
    uint32_t *spins = malloc(bytes);
    enum ergo_status status =
        picture->rgb && spins
            ? ergo_buffer_read(ctx, s->device, s->spins, member * h->words * bytes, bytes, spins)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
    for (size_t y = 0; y < picture->height && status == ERGO_OK; y++)
        for (size_t x = 0; x < picture->width; x++) {
            const uint32_t *at = spins + glass_place_of(h, x * cell + h->lx * y * cell) * stride;
            const uint32_t differs = h->copies > 1 ? (at[0] ^ at[1]) & 1 : 0;
            memcpy(picture->rgb + 3 * (y * picture->width + x), colours[(at[0] & 1) | differs << 1],
                   3);
        }
    free(spins);
    if (status != ERGO_OK) {
        free(picture->rgb);
        picture->rgb = NULL;
    }
    return status;
}
