/*
 * A checkerboard over ranks: the second table of operations (sampler.h). Each rank has a slab of
 * whole blocks along z, with a block of its neighbours before and behind it (engine/slab.h). After
 * an activation ranks exchange the cells that were active at their edges, and add up what all
 * active cells have done, in whole numbers. So the chain with its sums, counts and samples is the
 * same on all of them, and only the cells are of a slab.
 *
 * All ranks have as many slots in a cell, and make room together, when an active cell of one of
 * them has none: what was not finished is then launched again, as in a box that is not cut.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/lj_gcmc/cut.h"

_Static_assert(sizeof(struct lj_turn) == LJ_TURN_BYTES, "lj_turn has no padding");

/* ---- job --------------------------------------------------------------------------------------
 */

static bool lj_cut_serves(const struct ergo_point *point) {
    return lj_system_of(point).period != 0;
}

bool lj_cut_is_worth(const struct ergo_point *point, size_t ranks) {
    const struct lj_system s = lj_system_of(point);
    uint32_t blocks[3];
    if (!lj_cut_serves(point))
        return false;
    /* an exchange takes about as long as so many active cells of a GPU */
    const double each = 5000;
    return (double)lj_board_blocks(&s, blocks) >= each * (double)ranks && blocks[2] >= 2 * ranks;
}

enum ergo_status lj_cut_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!ergo_says(point->parameters->distribute, "lattice") || lj_cut_serves(point))
        return ERGO_OK;
    return ergo_job_error(ctx, "/distribute",
                          "\"lattice\" cuts one large box with /system/decomposition "
                          "checkerboard, and this one has none. Use \"points\" or \"auto\"");
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static uint32_t layer_blocks(const struct lj_state *s) {
    return s->grid.n[0] / s->system.period * (s->grid.n[1] / s->system.period);
}

static uint32_t first_block(const struct lj_state *s) {
    return (uint32_t)s->at.slab.first / s->system.period;
}

static uint32_t count_blocks(const struct lj_state *s) {
    return s->at.slab.count / s->system.period;
}

bool lj_cut_shares(const struct lj_state *s) {
    return s->cut && ergo_dist_count() > 1;
}

/* The active cells that are this rank's: from *from to *to - 1. Of a box that is not cut, all. */
static void lj_cut_blocks(const struct lj_state *s, uint64_t *from, uint64_t *to) {
    *from = s->cut ? (uint64_t)first_block(s) * layer_blocks(s) : 0;
    *to = s->cut ? *from + (uint64_t)count_blocks(s) * layer_blocks(s) : s->launch.board_blocks;
}

/* Layers of cells in memory that are in use. */
static uint32_t used(const struct lj_state *s) {
    return s->at.slab.count + 2 * s->at.slab.halo;
}

uint32_t lj_cut_low(const struct lj_state *s) {
    const uint32_t n = s->grid.n[2];
    return ((uint32_t)s->at.slab.first + n - s->at.slab.halo) % n;
}

uint64_t lj_cut_cell(const struct lj_state *s, const uint32_t *words) {
    const uint64_t cell = lj_grid_cell(&s->grid, words), n = s->grid.n[2];
    const uint64_t layer = (uint64_t)s->grid.n[0] * s->grid.n[1], z = cell / layer;
    if (!s->cut)
        return cell;
    const uint64_t here = (z + n - lj_cut_low(s)) % n;
    return here < used(s) ? here * layer + cell % layer : UINT64_MAX;
}

static void pack(void *state);
static void unpack(void *state);

/* Blocks beside a slab that it has to know. Of g(r) those that its bins reach; the first layer of
 * them may be wrong, because an active cell of the block before it may reach into it, of which a
 * slab knows nothing. */
static uint32_t halo_blocks(const struct lj_state *s) {
    return s->launch.bins ? (uint32_t)lj_gr_reach(s).high[2] / s->system.period + 1 : 1;
}

/* Edges of all members in planes that a cell has at the start; where they become more, messages
 * follow one another. */
enum ergo_status lj_cut_shape(struct ergo_context *ctx, struct lj_state *s) {
    struct ergo_slab *slab = &s->at.slab;
    struct lj_launch *l = &s->launch;
    const uint32_t period = s->system.period, layers = s->grid.n[2];
    const uint32_t deep = halo_blocks(s);
    const size_t members = s->e.batch->count;
    slab->colours = slab->per_sweep = 1;
    slab->together = period;
    slab->bits = 8;
    slab->pieces = members;
    slab->pack = pack;
    slab->unpack = unpack;
    const enum ergo_status status = ergo_slab_cut(ctx, slab, NULL, layers, period, deep * period);
    if (status != ERGO_OK)
        return status;
    ergo_slab_deepen(slab, true, 1, deep * period, 16.0 * s->grid.n[0] * s->grid.n[1] * l->slots);
    s->at.planes = l->slots;
    slab->edge_bytes =
        16 * members * l->slots * deep * LJ_ACTIVE * LJ_ACTIVE * LJ_ACTIVE * layer_blocks(s);
    if (!of_lj(s->e.batch->points[0])->capacity)
        l->capacity = (uint32_t)fmax(64, ceil(1.05 * l->capacity * slab->most / layers));
    s->at.turns = ergo_engine_memory(&s->e, members, sizeof *s->at.turns);
    s->at.shares = ergo_engine_memory(&s->e, members * l->shares, sizeof *s->at.shares);
    s->at.listed = ergo_engine_memory(&s->e, members, sizeof *s->at.listed);
    s->at.slabs = ergo_engine_memory(&s->e, (size_t)ergo_dist_count(), sizeof *s->at.slabs);
    s->e.block_samples = 64; /* the same at all ranks */
    if (l->bins)
        s->at.pairs =
            ergo_engine_memory(&s->e, (63 / lj_curve_every(s->e.batch->points[0]) + 1) * members,
                               l->bins * sizeof *s->at.pairs);
    return ergo_engine_end(&s->e);
}

void lj_cut_declare(struct lj_state *s) {
    struct ergo_engine *e = &s->e;
    ergo_engine_buffer(e, LJ_LISTED, "chains of the list", ERGO_BUFFER_SCRATCH,
                       e->batch->count * sizeof *s->at.listed);
    ergo_slab_declare(
        e, &s->at.slab,
        (struct ergo_slab_rows){.state = LJ_CELLS, .out = LJ_CUT_EDGES, .in = LJ_CUT_HALOS});
}

void lj_cut_kernels(struct lj_state *s, const char *board) {
    static const char *const path = "lj_gcmc/board_cut.cl";
    struct ergo_text o = {0};
    ergo_text_append(&o, "%s -DLJ_END_GROUP=%u -DLJ_SUM_GROUP=%u", board, s->launch.end_group,
                     s->launch.sum_group);
    if (o.failed)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for build options");
    if (lj_cut_shares(s)) {
        ergo_engine_kernel(&s->e, LJ_CUT_PACK, path, o.data, "lj_cut_pack");
        ergo_engine_kernel(&s->e, LJ_CUT_UNPACK, path, o.data, "lj_cut_unpack");
        ergo_engine_kernel(&s->e, LJ_CUT_SUM, path, o.data, "lj_cut_sum");
        ergo_engine_kernel(&s->e, LJ_CUT_JOIN, path, o.data, "lj_cut_join");
    }
    ergo_engine_kernel(&s->e, LJ_BOARD_LIST, path, o.data, "lj_cut_list");
    ergo_text_free(&o);
}

/* ---- an activation --------------------------------------------------------------------------- */

static struct ergo_grid over_edges(const struct lj_state *s) {
    const struct ergo_slab *slab = &s->at.slab;
    return ergo_grid_items(2 * slab->edge_bytes / 16 / s->e.batch->count, slab->group,
                           s->e.batch->count);
}

static void pack(void *state) {
    struct lj_state *s = state;
    ERGO_LAUNCH(&s->e, LJ_CUT_PACK, over_edges(s), BUFFER(LJ_MEMBERS), BUFFER(LJ_CHAINS),
                BUFFER(LJ_CELLS), BUFFER(LJ_CUT_EDGES), U32(first_block(s)), U32(count_blocks(s)),
                U32(s->at.slab.halo / s->system.period), U32(s->at.plane), U32(s->at.planes),
                U32(s->slots), VALUE(s->shape));
}

static void unpack(void *state) {
    struct lj_state *s = state;
    ERGO_LAUNCH(&s->e, LJ_CUT_UNPACK, over_edges(s), BUFFER(LJ_MEMBERS), BUFFER(LJ_CHAINS),
                BUFFER(LJ_CELLS), BUFFER(LJ_CUT_HALOS), U32(first_block(s)), U32(count_blocks(s)),
                U32(s->at.slab.halo / s->system.period), U32(s->at.plane), U32(s->at.planes),
                U32(s->slots), U32(used(s)), VALUE(s->shape));
}

/* The active cells of the blocks in layers `from` to `to` - 1 of the memory. */
static void update(void *state, unsigned colour, uint64_t from, uint64_t to) {
    struct lj_state *s = state;
    const uint64_t before = first_block(s), period = s->system.period, halo = s->at.slab.halo;
    (void)colour;
    lj_board_activate(s, (before + (from - halo) / period) * layer_blocks(s),
                      (before + (to - halo) / period) * layer_blocks(s), s->at.to);
}

/* What active cells have done so far, of all ranks. */
static void add_up(struct lj_state *s) {
    const struct lj_launch *l = &s->launch;
    const size_t members = s->e.batch->count, words = LJ_TURN_BYTES / sizeof(uint64_t);
    uint64_t from, to, *sums = (uint64_t *)(void *)s->at.turns;
    lj_cut_blocks(s, &from, &to);
    ERGO_LAUNCH(&s->e, LJ_CUT_SUM, ergo_grid_groups(l->shares, l->sum_group, members),
                BUFFER(LJ_CHAINS), BUFFER(LJ_ACTIVE_CELLS), BUFFER(LJ_FULL), BUFFER(LJ_TURNS),
                U64(s->at.to), U32(from), U32(to), VALUE(s->shape));
    ergo_engine_read(&s->e, LJ_TURNS, 0, members * l->shares * LJ_TURN_BYTES, s->at.shares);
    if (s->e.status != ERGO_OK)
        return;
    memset(s->at.turns, 0, members * LJ_TURN_BYTES);
    for (size_t i = 0; i < members * l->shares * words; i++)
        sums[i / (words * l->shares) * words + i % words] +=
            ((const uint64_t *)(const void *)s->at.shares)[i];
    ergo_dist_sum_counts(sums, members * words);
}

/* Makes room where a rank had none. False: there was room everywhere. */
static bool make_room(struct lj_state *s) {
    const size_t members = s->e.batch->count;
    bool lacking = false;
    for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++)
        lacking |= s->at.turns[m].cells_full || s->at.turns[m].tiles_full;
    if (!lacking)
        return false;
    ergo_engine_read(&s->e, LJ_CHAINS, 0, members * sizeof *s->chains, s->chains);
    for (size_t m = 0; m < members; m++)
        s->chains[m].status = s->at.turns[m].tiles_full   ? LJ_TILE_FULL
                              : s->at.turns[m].cells_full ? LJ_CELL_FULL
                                                          : LJ_RUNNING;
    lj_grow(s);
    return s->e.status == ERGO_OK;
}

/* A launch that was lost does not move the chain on, and the audit notices. */
static bool is_complete(const struct lj_state *s) {
    bool complete = s->e.status == ERGO_OK;
    for (size_t m = 0; m < s->e.batch->count; m++)
        complete = complete && s->at.turns[m].blocks == s->launch.board_blocks;
    return complete;
}

void lj_cut_launch(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t to) {
    const size_t members = s->e.batch->count;
    s->at.to = to;
    do {
        s->at.plane = 0;
        ergo_slab_half_sweep(&s->e, &s->at.slab, s->system.period, update, 0);
        while ((s->at.plane += s->at.planes) < s->slots)
            ergo_slab_swap(&s->e, &s->at.slab);
        add_up(s);
    } while (make_room(s));
    if (!is_complete(s))
        return;
    ergo_engine_write(&s->e, LJ_TURNS, 0, members * sizeof *s->at.turns, s->at.turns);
    ERGO_LAUNCH(&s->e, LJ_CUT_JOIN, ergo_grid_groups(members, 1, 1), BUFFER(LJ_MEMBERS),
                BUFFER(LJ_CHAINS), BUFFER(LJ_TURNS), BUFFER(LJ_SAMPLES), U64(slot->step), U64(to),
                U64(slot->every ? slot->every : 1), U32(slot->samples));
}

/* ---- particles ------------------------------------------------------------------------------- */

void lj_cut_list(struct lj_state *s) {
    const size_t members = s->e.batch->count;
    uint32_t most;
    do {
        most = 0;
        ergo_engine_fill(&s->e, LJ_LISTED, 0); /* so that a launch which is lost is noticed */
        ERGO_LAUNCH(&s->e, LJ_BOARD_LIST, ergo_grid_groups(members, s->launch.end_group, 1),
                    BUFFER(LJ_CHAINS), BUFFER(LJ_CELLS), BUFFER(LJ_PARTICLES), BUFFER(LJ_LISTED),
                    U32(s->capacity), U32(s->at.slab.halo), U32(s->at.slab.count), VALUE(s->shape));
        ergo_engine_read(&s->e, LJ_LISTED, 0, members * sizeof *s->at.listed, s->at.listed);
        for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++)
            most = s->at.listed[m].particles > most ? s->at.listed[m].particles : most;
        if (most > s->capacity)
            lj_grow_particles(s, most);
        else
            most = 0;
    } while (most && s->e.status == ERGO_OK);
}

/* This rank's, 3 words each; malloc'ed. */
static uint32_t *own_particles(struct lj_state *s, size_t chain, uint32_t n) {
    uint32_t *words = malloc(16 * ((size_t)n + 1));
    if (!words)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory to read back %u particles", n);
    else
        ergo_engine_read(&s->e, LJ_PARTICLES, 16 * (size_t)s->capacity * chain, 16 * (size_t)n,
                         words);
    for (size_t i = 0; words && s->e.status == ERGO_OK && i < n; i++)
        memmove(words + 3 * i, words + 4 * i, 12);
    return words;
}

/* The lists of all ranks, which are in the order of the cells. */
static enum ergo_status join_lists(struct lj_state *s, size_t chain, const uint32_t *own,
                                   uint32_t **words, uint32_t *count) {
    const size_t ranks = (size_t)ergo_dist_count();
    const struct lj_cut_slab mine = {.layer = s->at.slab.first,
                                     .particles = s->at.listed[chain].particles};
    uint64_t *counts = calloc(ranks, sizeof *counts), all = 0;
    enum ergo_status status = counts ? ERGO_OK : ERGO_E_MEMORY;
    ergo_dist_collect(&mine, sizeof mine, s->at.slabs);
    for (size_t r = 0; counts && r < ranks; r++) {
        if (r == (size_t)ergo_ranks_rank())
            s->at.first = all;
        counts[r] = s->at.slabs[r].particles;
        all += counts[r];
    }
    s->at.count = mine.particles;
    *words = counts ? malloc(12 * ((size_t)all + 1)) : NULL;
    if (!*words)
        status = ERGO_FAIL(s->e.ctx, ERGO_E_MEMORY, "no memory for %llu particles of all ranks",
                           (unsigned long long)all);
    else if (all != s->chains[chain].particles)
        status = ERGO_FAIL(s->e.ctx, ERGO_E_AUDIT,
                           "audit of %s failed on %s: the slabs of all ranks have %llu particles, "
                           "the chain %u",
                           s->e.model->sampler, s->e.device->summary.name, (unsigned long long)all,
                           s->chains[chain].particles);
    else
        status = ergo_dist_collect_items(s->e.ctx, own, *words, 12, counts);
    *count = (uint32_t)all;
    free(counts);
    return status;
}

enum ergo_status lj_cut_fetch(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                              uint32_t **words, uint32_t *count) {
    *words = NULL;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, LJ_CHAINS, chain * sizeof *s->chains, sizeof *s->chains,
                     &s->chains[chain]);
    uint32_t *own = own_particles(s, chain, s->at.listed[chain].particles);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = join_lists(s, chain, own, words, count);
    free(own);
    if (status != ERGO_OK) {
        free(*words);
        *words = NULL;
    }
    return status;
}

/* ---- g(r) ------------------------------------------------------------------------------------ */

void lj_cut_join_pairs(struct lj_state *s, unsigned slot, size_t curves) {
    const size_t members = s->e.batch->count, bins = s->launch.bins, parts = s->launch.total_parts;
    for (size_t row = 0; row < curves * members; row++) {
        const uint32_t *counts = ergo_engine_host(&s->e, LJ_COUNTS, slot, row / members);
        uint64_t *to = s->at.pairs + row * bins;
        memset(to, 0, bins * sizeof *to);
        for (size_t i = 0; i < parts * bins; i++)
            to[i % bins] += counts[row % members * parts * bins + i];
    }
    ergo_dist_sum_counts(s->at.pairs, curves * members * bins);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct lj_state *s = state;
    struct ergo_plan *plan = &s->e.plan;
    s->cut = true;
    const enum ergo_status status = lj_configure(ctx, state);
    const size_t length = strlen(plan->launch);
    const struct ergo_slab *slab = &s->at.slab;
    plan->launches_per_step = 8;
    if (status == ERGO_OK)
        snprintf(plan->launch + length, sizeof plan->launch - length,
                 "; layers %llu to %llu of %llu", (unsigned long long)slab->first,
                 (unsigned long long)(slab->first + slab->count - 1),
                 (unsigned long long)slab->layers);
    return status;
}

static const struct ergo_slab_model slabs = {.at = offsetof(struct lj_state, at.slab)};

#define ENGINE(name)                                                                               \
    {                                                                                              \
        LJ_ENGINE(name), .configure = configure, .prepare = lj_prepare, .release = lj_release,     \
                         .slab = &slabs                                                            \
    }
static const struct ergo_engine_model gcmc = ENGINE("lj-gcmc"), fluid = ENGINE("lj-fluid");

#define OPS(model)                                                                                 \
    {                                                                                              \
        .engine = &(model), .init = lj_init, .save = lj_save, .load = lj_load, .carry = lj_carry,  \
        .frame = lj_frame                                                                          \
    }
const struct ergo_sampler_ops lj_cut_ops = OPS(gcmc), lj_fluid_cut_ops = OPS(fluid);
