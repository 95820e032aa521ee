/*
 * Spin glasses: audits. A stretch of the run with its measurements, of some word-lattices, by the
 * kernels and by the host's twins: spins, walkers, exchanges and round trips, energies, up spins,
 * overlaps and their waves. At step 0 the start, too. In the stretch there are exchanges of either
 * parity as often as every other sweep, whatever the job says, so that every kernel of a ladder is
 * in it. Of a word-lattice too large for that only temperatures at both ends of the ladder are
 * looked at, and the shortest stretch that has all exchanges; what those at the edge of a window
 * exchange with the others is not known.
 *
 * Ranks that share a ladder call this alike: their twins exchange as they do.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"

enum {
    AUDIT_EVERY = 2,
    AUDIT_CLUSTERS = 3,
    AUDIT_SWEEPS = 6,
    AUDIT_EXCHANGES = 3,
    AUDIT_MET =
        1 << 25 /* sites of samples that the twin's cluster moves look at, some 50 ns each */
};

/* Updates of a word's site and slot on the host, 50 ns each; of real couplings ten times that. */
static const double audit_updates = 1 << 20;

/* ---- what is looked at ----------------------------------------------------------------------- */

/* All of this is the same on all ranks. */
static double updates_of_sweep(const struct glass_shape *h) {
    return (double)h->sites * glass_all_slots(h) * (h->real ? 10 : 1);
}

/* Before a measurement; with fewer, some kernels of a ladder are not in the stretch. */
static uint64_t sweeps_of(const struct glass_shape *h) {
    const double fit = audit_updates / updates_of_sweep(h);
    const bool all = h->rungs > 1 || h->cluster_every || fit >= AUDIT_SWEEPS;
    return all ? AUDIT_SWEEPS : fit < 1 ? 1 : (uint64_t)fit;
}

static double updates_of(const struct glass_shape *h) {
    return updates_of_sweep(h) * (double)sweeps_of(h);
}

static size_t looked_at(const struct glass_state *s, size_t samples) {
    const size_t lattices = glass_lattices(s);
    const double fit = audit_updates / ((double)samples * updates_of(&s->shape));
    return fit < 1 ? 1 : fit < (double)lattices ? (size_t)fit : lattices;
}

/* Temperatures here: all, or as many at both ends as there is time for. Each exchange with one that
 * is not known takes one of them: those at the ends, which ranks share, are known to the last. */
static void choose(const struct glass_shape *h, size_t samples, bool *known) {
    const double fit = audit_updates / ((double)samples * updates_of(h)) * h->rungs / 2;
    const size_t least = samples * AUDIT_EXCHANGES + 1, wide = fit > 1e6 ? 1000000 : (size_t)fit;
    const size_t width = wide < least ? least : wide;
    for (size_t t = 0; t < h->temperatures; t++)
        known[t] = t < width || t + width >= h->temperatures;
}

/* Samples of a word of which cluster moves are followed, as bits: all 32, of huge lattices fewer.
 */
static uint32_t followed(const struct glass_shape *h) {
    const double moves = h->cluster_every ? (double)AUDIT_SWEEPS / AUDIT_CLUSTERS : 0;
    const double met = (double)h->sites * h->temperatures * h->copies / 2 * moves;
    const double fit = met > 0 ? AUDIT_MET / met : 32;
    return fit >= 32 ? UINT32_MAX : fit < 1 ? 1 : (1u << (uint32_t)fit) - 1;
}

/* Room for a word-lattice on the host. */
struct room {
    uint32_t *couplings, *tables, *spins, *from_hot, *moves, *found;
    int64_t *energies;
    struct glass_record *records;
    uint64_t *moved, *numbers; /* moved: in the stretch, [row][32] */
    float slopes[ERGO_LADDER_MAX];
    bool known[ERGO_LADDER_MAX], counted[ERGO_LADDER_MAX]; /* counted: exchanges with the next */
    uint32_t bits;                                         /* samples that are followed */
};

static void room_free(struct room *r) {
    free(r->couplings);
    free(r->tables);
    free(r->spins);
    free(r->from_hot);
    free(r->moves);
    free(r->found);
    free(r->energies);
    free(r->records);
    free(r->moved);
    free(r->numbers);
}

static bool room_allocate(const struct glass_shape *h, struct room *r) {
    const size_t rows = glass_move_rows(h), slots = 4 * (size_t)h->quads;
    r->couplings = malloc(4 * glass_couplings_length(h));
    r->tables = malloc((size_t)h->quads * 2 * GLASS_CLASSES * 16);
    r->spins = malloc(glass_lattice_bytes(h));
    r->from_hot = malloc(4 * slots);
    r->moves = malloc(128 * rows);
    r->found = malloc(glass_lattice_bytes(h));
    r->energies = malloc(8 * 32 * slots);
    r->records = malloc(32 * slots * sizeof *r->records);
    r->moved = malloc(8 * 32 * rows);
    r->numbers = malloc(8 * (rows + slots));
    return r->couplings && r->tables && r->spins && r->from_hot && r->moves && r->found &&
           r->energies && r->records && r->moved && r->numbers;
}

static uint32_t word_of(const struct glass_shape *h, size_t l) {
    return h->first + (uint32_t)(l % h->words);
}

/* ---- a word-lattice -------------------------------------------------------------------------- */

/* Word-lattice l before the stretch. */
static enum ergo_status begin(struct ergo_context *ctx, const struct ergo_replay *r, size_t l,
                              struct room *room) {
    const struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const size_t slots = 4 * (size_t)h->quads, words = slots * h->sites;
    const struct ergo_point *point = s->e.batch->points[l / h->words];
    memcpy(room->spins, (const uint32_t *)r->kept[GLASS_SPINS] + l * words, 4 * words);
    memcpy(room->from_hot, (const uint32_t *)r->kept[GLASS_FROM_HOT] + l * slots, 4 * slots);
    memset(room->moved, 0, 8 * 32 * glass_move_rows(h));
    choose(h, r->samples, room->known);
    room->bits = followed(h);
    memcpy(room->counted, room->known, sizeof room->known);
    glass_tables(point, h, s->ladders + l / h->words * h->rungs, room->tables, room->slopes);
    return glass_couplings(ctx, point, h, word_of(h, l), room->couplings);
}

static enum ergo_status compare_start(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t l, const struct room *room) {
    const struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const struct ergo_point *point = s->e.batch->points[l / h->words];
    const uint32_t key[2] = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)};
    const uint32_t mode = model_start(point);
    const size_t stride = 4 * (size_t)h->quads;
    glass_twin_start(h, key, word_of(h, l), mode, room->found);
    for (size_t i = 0; i < h->sites; i++)
        if (memcmp(room->found + i * stride, room->spins + i * stride, 4 * (size_t)h->slots) != 0)
            return ergo_replay_differs(ctx, r, l / h->words, "spins of the start");
    return ERGO_OK;
}

/* An exchange at `step`, of the twins. */
static enum ergo_status exchange(struct ergo_context *ctx, const struct ergo_replay *r, size_t l,
                                 uint64_t step, struct room *room) {
    const struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const struct ergo_point *point = s->e.batch->points[l / h->words];
    const uint32_t key[2] = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)};
    const uint32_t parity = ergo_ladder_parity(step, AUDIT_EVERY);
    glass_twin_energies(h, room->couplings, room->spins, room->known, room->energies);
    glass_twin_swap(h, key, room->slopes, room->energies, word_of(h, l), step, parity, room->known,
                    room->spins, room->from_hot, room->moved);
    for (uint32_t t = ergo_ladder_own_parity(h->rung, parity); t + 1 < h->temperatures; t += 2)
        room->counted[t] = room->counted[t] && room->known[t];
    return glass_border_due(s, parity) ? glass_border_twin(ctx, s, l, step, parity, room->energies,
                                                           room->spins, room->from_hot, room->moved)
                                       : ERGO_OK;
}

/* What sample i of the stretch has of word-lattice l, or what is wrong with it. */
static const char *compare_sample(const struct ergo_replay *r, size_t l, size_t i,
                                  const struct room *room) {
    const struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const struct glass_record *found =
        (const struct glass_record *)ergo_engine_host(&s->e, GLASS_RECORDS, 0, i) +
        l * 128 * (size_t)h->quads;
    glass_twin_records(h, room->couplings, room->spins, room->known, room->energies, room->records);
    for (size_t k = 0; k < 32 * (size_t)h->slots; k++) {
        const struct glass_record *a = &found[k], *b = &room->records[k];
        if (!room->known[k / 32 / h->copies] || !(room->bits >> k % 32 & 1))
            continue;
        if (a->energy != b->energy)
            return "the measured energies";
        if (a->up != b->up || a->unequal != b->unequal)
            return "the up spins or the overlaps";
        if (a->cosine != b->cosine || a->sine != b->sine)
            return "the waves of the overlaps";
    }
    return NULL;
}

/* Exchanges and round trips up to now, of words, against those of samples: [row], the rows of
 * `moves`. */
static bool same_numbers(const struct ergo_replay *r, size_t l, const struct room *room,
                         const uint64_t *found) {
    const struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const size_t rows = room->bits == UINT32_MAX ? glass_move_rows(h) : 0; /* sums over samples */
    for (size_t row = 0; row < rows; row++) {
        const bool trips = row >= h->slots;
        const uint64_t *before = trips
                                     ? (const uint64_t *)r->kept[GLASS_ROUND_TRIPS] + l * h->copies
                                     : (const uint64_t *)r->kept[GLASS_ACCEPTED] + l * h->slots;
        uint64_t all = before[trips ? row - h->slots : row];
        for (uint32_t bit = 0; bit < 32; bit++)
            all += room->moved[row * 32 + bit];
        if (room->counted[trips ? 0 : row / h->copies] && all != found[row])
            return false;
    }
    return true;
}

static const char *compare_counts(const struct ergo_replay *r, size_t l, size_t i,
                                  const struct room *room) {
    const struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const size_t lattices = glass_lattices(s);
    if (h->rungs < 2)
        return NULL;
    const uint64_t *counts = ergo_engine_host(&s->e, GLASS_NUMBERS, 0, i);
    memcpy(room->numbers, counts + l * h->slots, 8 * (size_t)h->slots);
    memcpy(room->numbers + h->slots, counts + lattices * h->slots + l * h->copies,
           8 * (size_t)h->copies);
    return same_numbers(r, l, room, room->numbers) ? NULL
                                                   : "the exchanges or round trips of a sample";
}

/* Of a buffer the `bytes` of word-lattice l. */
static void fetch(struct glass_state *s, unsigned row, size_t l, size_t bytes, void *to) {
    ergo_engine_read(&s->e, row, l * bytes, bytes, to);
}

/* Spins and walkers, and how often each sample has exchanged. */
static enum ergo_status compare_end(struct ergo_context *ctx, const struct ergo_replay *r, size_t l,
                                    const struct room *room, const char **wrong) {
    struct glass_state *s = r->state;
    const struct glass_shape *h = &s->shape;
    const size_t stride = 4 * (size_t)h->quads, rows = glass_move_rows(h);
    const uint32_t *before = (const uint32_t *)r->kept[GLASS_MOVED] + l * 32 * rows;
    ergo_engine_begin(&s->e, ctx);
    fetch(s, GLASS_SPINS, l, glass_lattice_bytes(h), room->found);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (size_t i = 0; i < h->sites; i++)
        for (uint32_t slot = 0; slot < h->slots; slot++)
            if (room->known[slot / h->copies] &&
                (room->found[i * stride + slot] ^ room->spins[i * stride + slot]) & room->bits)
                *wrong = "the spins";
    if (h->rungs < 2 || *wrong)
        return ERGO_OK;
    fetch(s, GLASS_FROM_HOT, l, 4 * stride, room->found);
    fetch(s, GLASS_MOVED, l, 128 * rows, room->moves);
    fetch(s, GLASS_ACCEPTED, l, 8 * (size_t)h->slots, room->numbers);
    fetch(s, GLASS_ROUND_TRIPS, l, 8 * (size_t)h->copies, room->numbers + h->slots);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (uint32_t slot = 0; slot < h->slots; slot++)
        if (room->known[slot / h->copies] &&
            (room->found[slot] ^ room->from_hot[slot]) & room->bits)
            *wrong = "who has been at the hottest temperature";
    for (size_t k = 0; k < 32 * rows; k++) {
        const size_t row = k / 32;
        const uint32_t bit = k % 32, t = (uint32_t)(row < h->slots ? row / h->copies : 0);
        const uint64_t old = glass_moves_of(before + 32 * row, bit);
        if (room->counted[t] && room->bits >> bit & 1 &&
            glass_moves_of(room->moves + 32 * row, bit) != ((old + room->moved[k]) & UINT32_MAX))
            *wrong = "the counted exchanges or round trips";
    }
    if (!same_numbers(r, l, room, room->numbers))
        *wrong = "the counted exchanges or round trips";
    return ERGO_OK;
}

static enum ergo_status compare_word(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t l, struct room *room) {
    const struct glass_state *s = r->state;
    struct glass_shape stretch = s->shape;
    const struct glass_shape *h = &stretch;
    const struct ergo_point *point = s->e.batch->points[l / h->words];
    const uint32_t key[2] = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)};
    const char *wrong = NULL;
    stretch.cluster_every = s->shape.cluster_every ? AUDIT_CLUSTERS : 0;
    enum ergo_status status = begin(ctx, r, l, room);
    if (status == ERGO_OK && r->step == 0 && !s->e.carried)
        status = compare_start(ctx, r, l, room);
    for (uint64_t k = 0; k < r->samples * r->every && !wrong && status == ERGO_OK; k++) {
        const uint64_t step = r->step + k;
        glass_twin_sweep(h, key, room->tables, room->couplings, word_of(h, l), step, room->known,
                         room->spins);
        if (h->rungs > 1 && ergo_ladder_due(step + 1, AUDIT_EVERY))
            status = exchange(ctx, r, l, step + 1, room);
        if (status == ERGO_OK && glass_clusters(h, step + 1))
            glass_twin_clusters(h, key, word_of(h, l), step + 1, room->known, room->bits,
                                room->found, room->spins);
        if (status != ERGO_OK || (k + 1) % r->every != 0)
            continue;
        wrong = compare_sample(r, l, (size_t)(k / r->every), room);
        if (!wrong)
            wrong = compare_counts(r, l, (size_t)(k / r->every), room);
    }
    if (!wrong && status == ERGO_OK)
        status = compare_end(ctx, r, l, room, &wrong);
    return wrong && status == ERGO_OK ? ergo_replay_differs(ctx, r, l / h->words, wrong) : status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct glass_state *s = r->state;
    const size_t lattices = glass_lattices(s), looked = looked_at(s, r->samples);
    struct room room = {0};
    if (s->shape.idle)
        return ERGO_OK;
    enum ergo_status status = room_allocate(&s->shape, &room)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t k = 0; k < looked && status == ERGO_OK; k++)
        status = compare_word(ctx, r, (k + 1) * lattices / looked - 1, &room);
    room_free(&room);
    return status;
}

/* ---- the stretch ----------------------------------------------------------------------------- */

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct glass_state *s = state;
    const uint32_t swap_every = s->shape.swap_every, cluster_every = s->shape.cluster_every;
    s->shape.swap_every = AUDIT_EVERY;
    s->shape.cluster_every = cluster_every ? AUDIT_CLUSTERS : 0;
    s->feedback.automatic = false;
    const enum ergo_status status =
        ergo_engine_advance(ctx, state, slot, count, every, first_sample);
    s->shape.swap_every = swap_every;
    s->shape.cluster_every = cluster_every;
    s->feedback.automatic = s->shape.automatic;
    return status;
}

enum ergo_status glass_audit(struct ergo_context *ctx, void *opaque) {
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    const struct ergo_point *point = s->e.batch->points[0];
    const struct ergo_replay_row sweeps = {"sweeps", ERGO_REPLAY_HOST, NULL, &s->untaken,
                                           sizeof s->untaken};
    size_t sizes[CURVE_SAMPLES + 1] = {0};
    sizes[CURVE_HALVES] = glass_curve_size(point, CURVE_HALVES);
    sizes[CURVE_SAMPLES] = glass_curve_size(point, CURVE_SAMPLES);
    /* two samples, where these are a tenth of a second's sweeps */
    const bool two = s->e.block_samples > 1 &&
                     ergo_plan_launch(&s->e.plan, s->launch.launch_sweeps) >= 2 * AUDIT_SWEEPS &&
                     2 * updates_of(h) <= audit_updates;
    struct ergo_replay r = {.remedy = "/tuning/path",
                            .n_columns = COLUMNS,
                            .n_curves = CURVE_SAMPLES + 1,
                            .curve_sizes = sizes,
                            .samples = glass_everywhere(s, two) ? 2 : 1,
                            .every = sweeps_of(h),
                            .advance = advance,
                            .compare = compare};
    ergo_engine_begin(&s->e, ctx);
    if (h->rungs > 1 && s->untaken >> 30) /* not within the stretch */
        glass_moves_take(s);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &r, &sweeps, 1) : status;
}
