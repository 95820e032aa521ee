/*
 * A lattice of sites in three dimensions over ranks, a slab of layers on each: the second table of
 * operations (sampler.h). A slab is labelled as a lattice of its own, but for the bonds from its
 * last layer to the first one of the next rank, whose spins it has. Each rank tells the one before
 * the parts of clusters on its first layer; so that one knows what bonds join, and ranks join the
 * parts by rounds (rounds.h). The layer's spins travel while the inside is labelled. Bytes a rank
 * and sweep: a layer's spins, four for each of its sites, and those of rounds.
 * In a measured sweep the sizes of parts travel, too, and are added up as clusters
 * are joined. Pairs of sites are not measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/swendsen_wang/sites/sites.h"

enum { TAG_LAYER = ERGO_DIST_TAGS + 26 };
/* A slab of one layer would have the blocks of two dimensions (cl/swendsen_wang/sites_block.h). */
enum { LEAST_LAYERS = 2 };

/* ---- job --------------------------------------------------------------------------------------
 */

static bool serves(const struct ergo_point *point) {
    return ergo_point_value(point, "/system/size")->items > 2 && sw_is_sampled(point) &&
           !(sw_wants_pairs(point) && sw_may_correlate(point));
}

bool sw_slab_is_worth(const struct ergo_point *point, size_t ranks) {
    return serves(point) &&
           ergo_point_value(point, "/system/size")->size[2] >= (int64_t)(LEAST_LAYERS * ranks);
}

enum ergo_status sw_slab_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (strcmp(ergo_point_text(point, "/distribute"), "lattice") != 0 || serves(point))
        return ERGO_OK;
    return ergo_job_error(
        ctx, "/distribute",
        "\"lattice\" cuts, beside plain squares, cubic lattices with method sample, of which "
        "it measures all but pairs of sites: name \"observables\" in run without "
        "correlation_half, correlation_quarter and correlation_ratio. Or use "
        "\"points\" or \"auto\"");
}

/* ---- declared ---------------------------------------------------------------------------------
 */

static size_t layer_sites(const struct sw_sites_state *s) {
    return (size_t)s->whole.lx * s->whole.ly;
}

/* Of a message with a layer's spins: of all members, and its number. */
static size_t layer_bytes(const struct sw_sites_state *s) {
    return s->e.batch->count * layer_sites(s) * s->whole.spin_bytes + sizeof s->sent;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    const struct ergo_point *first = s->e.batch->points[0];
    s->cut = true;
    s->whole = sw_sites_shape_of(first);
    enum ergo_status status = ergo_slab_cut(ctx, &s->slab, NULL, s->whole.lz, 1, LEAST_LAYERS);
    if (status == ERGO_OK)
        status = sw_sites_configure(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->far = ergo_engine_memory(&s->e, layer_sites(s) + 1, sizeof *s->far);
    s->layer = ergo_engine_memory(&s->e, 2, layer_bytes(s));
    s->part_names = ergo_engine_memory(&s->e, 2 * layer_sites(s), sizeof *s->part_names);
    s->seeds = ergo_engine_memory(&s->e, s->e.batch->count, sizeof *s->seeds);
    sw_slab_open_counts(s);
    snprintf(s->e.plan.path, sizeof s->e.plan.path, "sites, cut");
    const size_t length = strlen(s->e.plan.launch);
    snprintf(s->e.plan.launch + length, sizeof s->e.plan.launch - length,
             "; layers %llu to %llu of %llu", (unsigned long long)s->slab.first,
             (unsigned long long)(s->slab.first + s->slab.count - 1),
             (unsigned long long)s->slab.layers);
    return ergo_engine_end(&s->e);
}

void sw_slab_declare(struct sw_sites_state *s) {
    const uint64_t members = s->e.batch->count, edges = 2 * members * layer_sites(s);
    ergo_engine_buffer(&s->e, SITES_EDGES, "edges", ERGO_BUFFER_SCRATCH, 4 * (edges + members));
    ergo_engine_flag(&s->e, SITES_EDGES, ERGO_BUFFER_HOSTED);
    ergo_engine_buffer(&s->e, SITES_ROOTS, "parts on edges", ERGO_BUFFER_SCRATCH, 4 * edges);
    ergo_engine_flag(&s->e, SITES_ROOTS, ERGO_BUFFER_HOSTED);
    ergo_engine_buffer(&s->e, SITES_NAMES, "their names", ERGO_BUFFER_SCRATCH, 4 * edges);
    ergo_engine_buffer(&s->e, SITES_RENAMED, "parts with other names", ERGO_BUFFER_SCRATCH,
                       8 * edges);
    ergo_engine_flag(&s->e, SITES_RENAMED, ERGO_BUFFER_HOSTED);
    ergo_engine_buffer(&s->e, SITES_NEW_NAMES, "these names", ERGO_BUFFER_SCRATCH, 4 * edges);
    ergo_engine_flag(&s->e, SITES_NEW_NAMES, ERGO_BUFFER_HOSTED);
    if (s->shape.wolff) {
        ergo_engine_buffer(&s->e, SITES_SEEDS, "Wolff's seeds", ERGO_BUFFER_SCRATCH, 4 * members);
        ergo_engine_flag(&s->e, SITES_SEEDS, ERGO_BUFFER_HOSTED);
    }
    sw_slab_declare_counts(s);
}

/* Below and above, where a slab alone has itself. */
static enum ergo_status make_sides(struct sw_sites_state *s) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    const size_t layer = layer_sites(s);
    const struct sw_border below = {.rank = (own + 1) % ranks,
                                    .way = SW_WAY_DOWN,
                                    .odd = own == ranks - 1 ? SW_AROUND_Z : 0,
                                    .sites = layer,
                                    .most_far = 2 * layer};
    struct sw_border borders[2] = {below, below};
    borders[1].rank = (own + ranks - 1) % ranks;
    borders[1].way = SW_WAY_UP;
    borders[1].odd = own == 0 ? SW_AROUND_Z : 0;
    s->rounds.rank = own;
    s->rounds.ranks = ranks;
    s->rounds.posts = s->slab.posts;
    return sw_rounds_prepare(&s->e, &s->rounds, borders, 2, 2 * layer);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    if (!s->slab.posts && !(s->slab.posts = ergo_dist_posts_create()))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for messages of a slab");
    const enum ergo_status status = make_sides(s);
    return status == ERGO_OK ? sw_sites_prepare(ctx, state) : status;
}

static void release(void *state) {
    struct sw_sites_state *s = state;
    ergo_slab_release(&s->slab);
    sw_rounds_free(&s->rounds);
}

/* ---- between ranks ----------------------------------------------------------------------------
 */

/* Messages to the rank before this one, and from the next; begun only. Their last word is their
 * number. */
static void post_back(struct sw_sites_state *s, void *mine, void *theirs, size_t bytes) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    const int before = (own + ranks - 1) % ranks, next = (own + 1) % ranks;
    memcpy((char *)mine + bytes - sizeof s->sent, &s->sent, sizeof s->sent);
    s->sent++;
    if (s->e.status == ERGO_OK)
        s->e.status =
            ergo_dist_post_receive(s->e.ctx, s->slab.posts, next, TAG_LAYER, theirs, bytes);
    if (s->e.status == ERGO_OK)
        s->e.status = ergo_dist_post_send(s->e.ctx, s->slab.posts, before, TAG_LAYER, mine, bytes);
}

static void await(struct sw_sites_state *s, const void *theirs, size_t bytes) {
    uint32_t number;
    if (s->e.status != ERGO_OK)
        return;
    ergo_dist_posts_wait(s->slab.posts);
    memcpy(&number, (const char *)theirs + bytes - sizeof number, sizeof number);
    if (number != s->due++)
        s->e.status = sw_rounds_lost(s->e.ctx, s->rounds.rank);
}

/* The spins of first layers. */
static void send_layer(struct sw_sites_state *s) {
    const size_t each = sw_sites_word(&s->shape), layer = each * layer_sites(s);
    const size_t pieces = s->e.batch->count * sw_sites_words(&s->shape);
    for (size_t k = 0; k < pieces; k++)
        ergo_engine_read(&s->e, SITES_SPINS, k * each * sw_sites_span(s), layer,
                         s->layer + k * layer);
    post_back(s, s->layer, s->layer + layer_bytes(s), layer_bytes(s));
    s->under_way = true;
}

void sw_slab_take_layer(struct sw_sites_state *s) {
    const size_t each = sw_sites_word(&s->shape), layer = each * layer_sites(s);
    const size_t pieces = s->e.batch->count * sw_sites_words(&s->shape);
    const uint8_t *next = s->layer + layer_bytes(s);
    if (!s->under_way)
        return;
    s->under_way = false;
    await(s, next, layer_bytes(s));
    for (size_t k = 0; k < pieces; k++)
        ergo_engine_write(&s->e, SITES_SPINS, each * (k * sw_sites_span(s) + s->shape.sites), layer,
                          next + k * layer);
}

/* ---- clusters of several slabs ---------------------------------------------------------------
 */

/* Parts on the edges get numbers, which the host learns. */
static void number_parts(struct sw_sites_state *s, uint32_t sample) {
    const size_t edges = 2 * layer_sites(s), members = s->e.batch->count;
    const struct ergo_grid grid = ergo_grid_items(edges, s->launch.group, members);
    ERGO_LAUNCH(&s->e, SITES_CLAIM, grid, BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS),
                BUFFER(SITES_LABELS), BUFFER(SITES_EDGES), BUFFER(SITES_SIZES));
    ERGO_LAUNCH(&s->e, SITES_NUMBER, grid, BUFFER(SITES_MEMBERS), BUFFER(SITES_SIZES),
                BUFFER(SITES_EDGES), BUFFER(SITES_ROOTS), BUFFER(SITES_NAMES));
    if (sample != SW_NO_SAMPLE)
        sw_slab_measure_parts(s, sample);
    ergo_engine_fetch(&s->e, SITES_ROOTS, 0, 4 * edges * members,
                      ergo_engine_host(&s->e, SITES_ROOTS, 0, 0));
    ergo_engine_fetch(&s->e, SITES_EDGES, 0, 4 * (edges + 1) * members,
                      ergo_engine_host(&s->e, SITES_EDGES, 0, 0));
    ergo_engine_await(&s->e, SITES_ROOTS);
    ergo_engine_await(&s->e, SITES_EDGES);
}

/* Of a member, with all ranks: names of its parts. counts: of clusters, too; NULL: not. */
static void join_parts(struct sw_sites_state *s, size_t member, struct sw_cut_counts *counts) {
    const size_t layer = layer_sites(s);
    uint32_t *edges = ergo_engine_host(&s->e, SITES_EDGES, 0, 0);
    const uint32_t *roots = ergo_engine_host(&s->e, SITES_ROOTS, 0, 0);
    edges += member * (2 * layer + 1);
    post_back(s, edges + layer, s->far, 4 * (layer + 1));
    await(s, s->far, 4 * (layer + 1));
    if (s->e.status == ERGO_OK)
        s->e.status = sw_rounds_bridge(s->e.ctx, &s->rounds, edges, s->far, false);
    for (size_t i = 0; i < s->rounds.n_parts && s->e.status == ERGO_OK; i++)
        s->part_names[i] =
            s->members[0].first + (uint64_t)roots[member * 2 * layer + s->rounds.parts[i]];
    struct sw_parts parts = {.narrow = true,
                             .n_parts = s->rounds.n_parts,
                             .names = s->part_names,
                             .n_sides = s->rounds.n_sides,
                             .sides = s->rounds.sides};
    if (counts && s->e.status == ERGO_OK)
        sw_slab_take_parts(s, member, edges, counts, &parts);
    if (s->e.status == ERGO_OK)
        s->e.status =
            sw_rounds_join(s->e.ctx, &s->rounds, &parts, counts ? sw_slab_take : NULL, counts);
    if (counts)
        counts->wraps |= s->rounds.joining.wraps;
}

/* A list for the device of those with other names; n: entries so far, and with these. */
static size_t list_names(struct sw_sites_state *s, size_t member, size_t n) {
    uint64_t *renamed = ergo_engine_host(&s->e, SITES_RENAMED, 0, 0);
    uint32_t *names = ergo_engine_host(&s->e, SITES_NEW_NAMES, 0, 0);
    for (size_t i = 0; i < s->rounds.n_parts; i++) {
        const uint64_t name = sw_joining_name(&s->rounds.joining, i);
        if (name == s->part_names[i])
            continue;
        renamed[n] = 2 * (uint64_t)member * layer_sites(s) + s->rounds.parts[i];
        names[n++] = (uint32_t)name;
    }
    return n;
}

/* Of a sample. */
static void join_counted(struct sw_sites_state *s, uint32_t sample, size_t member) {
    struct sw_cut_counts *counts = &s->edge_counts[s->e.slot][sample * s->e.batch->count + member];
    *counts = (struct sw_cut_counts){0};
    join_parts(s, member, counts);
}

void sw_slab_measure(struct sw_sites_state *s, uint32_t sample) {
    sw_slab_measure_parts(s, sample);
    ergo_engine_await(&s->e, SITES_PART_WAVES);
    for (size_t m = 0; m < s->e.batch->count && s->e.status == ERGO_OK; m++)
        join_counted(s, sample, m);
}

void sw_slab_join(struct sw_sites_state *s, uint32_t sample) {
    size_t n = 0;
    number_parts(s, sample);
    for (size_t m = 0; m < s->e.batch->count && s->e.status == ERGO_OK; m++) {
        if (sample == SW_NO_SAMPLE)
            join_parts(s, m, NULL);
        else
            join_counted(s, sample, m);
        if (s->e.status == ERGO_OK)
            n = list_names(s, m, n);
    }
    if (!n || s->e.status != ERGO_OK)
        return;
    ergo_engine_send(&s->e, SITES_RENAMED, 8 * n);
    ergo_engine_send(&s->e, SITES_NEW_NAMES, 4 * n);
    ERGO_LAUNCH(&s->e, SITES_RENAME, ergo_grid_items(n, s->launch.group, 1), BUFFER(SITES_NAMES),
                BUFFER(SITES_RENAMED), BUFFER(SITES_NEW_NAMES), U32(n));
}

/* Wolff's seeds: the rank that has one tells all of its cluster's name. */
static void share_seeds(struct sw_sites_state *s) {
    const size_t members = s->e.batch->count;
    uint32_t *seeds = ergo_engine_host(&s->e, SITES_SEEDS, 0, 0);
    ERGO_LAUNCH(&s->e, SITES_SEED, ergo_grid_items(1, 1, members), BUFFER(SITES_MEMBERS),
                BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES),
                BUFFER(SITES_NAMES), BUFFER(SITES_SEEDS));
    ergo_engine_read(&s->e, SITES_SEEDS, 0, members * sizeof *seeds, seeds);
    for (size_t m = 0; m < members; m++) /* no name is 0 then, and nobody's */
        s->seeds[m] = s->e.status == ERGO_OK ? (uint64_t)(uint32_t)(seeds[m] + 1) : 0;
    ergo_dist_max_counts(s->seeds, members);
    for (size_t m = 0; m < members; m++)
        seeds[m] = (uint32_t)s->seeds[m] - 1;
    ergo_engine_send(&s->e, SITES_SEEDS, members * sizeof *seeds);
}

void sw_slab_flip(struct sw_sites_state *s, uint32_t sample) {
    const struct ergo_grid tiles =
        ergo_grid_groups(s->launch.tiles, s->launch.tile_group, s->e.batch->count);
    if (s->shape.wolff) {
        share_seeds(s);
        ERGO_LAUNCH(&s->e, SITES_FLIP_ONE, tiles, BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS),
                    BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES),
                    BUFFER(SITES_NAMES), BUFFER(SITES_SEEDS), BUFFER(SITES_GROWN), U32(sample));
    } else {
        ERGO_LAUNCH(&s->e, SITES_FLIP, tiles, BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS),
                    BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES),
                    BUFFER(SITES_NAMES));
    }
    send_layer(s);
}

/* ---- operations -------------------------------------------------------------------------------
 */

static const struct ergo_engine_model model = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice, more ranks",
    .state_bytes = sizeof(struct sw_sites_state),
    .configure = configure,
    .prepare = prepare,
    .steps = sw_sites_steps,
    .block = sw_sites_block,
    .convert = sw_slab_collect,
    .rows = sw_sites_rows,
    .release = release,
};

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    return ergo_slab_plan(ctx, &model, batch, device, plan);
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    return ergo_slab_in_turn(ctx, &model, batch, device, state);
}

static enum ergo_status init(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    const enum ergo_status status = sw_sites_init(ctx, s);
    if (status != ERGO_OK)
        return status;
    ergo_engine_begin(&s->e, ctx);
    send_layer(s);
    sw_slab_take_layer(s);
    return ergo_engine_end(&s->e);
}

enum ergo_status sw_slab_gather(struct ergo_context *ctx, struct sw_sites_state *s,
                                const void *layers, size_t each, struct ergo_text *whole) {
    return ergo_slab_gather(ctx, &s->slab, layers, each * layer_sites(s), whole);
}

static enum ergo_status save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    struct sw_sites_state *s = state;
    struct ergo_text own = {0};
    enum ergo_status status = sw_sites_save(ctx, s, member, &own);
    if (status == ERGO_OK)
        status = sw_slab_gather(ctx, s, own.data, s->whole.spin_bytes, text);
    ergo_text_free(&own);
    return status;
}

static enum ergo_status load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct sw_sites_state *s = state;
    const size_t each = s->whole.spin_bytes;
    if (length != each * s->whole.sites)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %u sites has "
                         "%zu",
                         member, length, s->whole.sites, each * s->whole.sites);
    void *spins = malloc(length);
    if (!spins)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    const bool good = sw_sites_decode(&s->whole, bytes, spins); /* all ranks refuse, or none */
    free(spins);
    if (!good)
        return sw_sites_damaged(ctx, member);
    const enum ergo_status status = sw_sites_load(
        ctx, s, member, step, (const uint8_t *)bytes + each * s->slab.first * layer_sites(s),
        each * s->shape.sites);
    if (status != ERGO_OK)
        return status;
    ergo_engine_begin(&s->e, ctx);
    send_layer(s);
    sw_slab_take_layer(s);
    return ergo_engine_end(&s->e);
}

static enum ergo_status view(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_view *view) {
    struct sw_sites_state *s = state;
    struct ergo_text text = {0};
    enum ergo_status status = save(ctx, s, member, &text);
    sw_sites_view_of(&s->whole, view);
    view->sites = NULL; /* on other ranks than the first */
    if (status == ERGO_OK && text.data) {
        view->sites = malloc(text.length);
        if (view->sites)
            sw_sites_decode(&s->whole, (const uint8_t *)text.data, view->sites);
        else
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back a lattice");
    }
    ergo_text_free(&text);
    return status;
}

const struct ergo_sampler_ops sw_slab_ops = {
    .engine = &model,
    .plan = plan,
    .create = create,
    .init = init,
    .save = save,
    .load = load,
    .audit = sw_sites_audit,
    .view = view,
};
