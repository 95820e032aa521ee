/*
 * A lattice of sites in three dimensions over ranks, a slab of layers on each: the second table of
 * operations (sampler.h). A slab is labelled as a lattice of its own, but for the bonds from its
 * last layer to the first one of the next rank, whose spins it has. Each rank tells the one before
 * the clusters of its first layer; so that one knows which pairs of parts bonds join, and all pairs
 * go to all ranks (slab_pairs.h). The layer's spins travel while the inside is labelled. Bytes a
 * rank and sweep: a layer's spins, four for each of its sites, and the pairs of all. Spins are
 * measured, clusters are not.
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
    return ergo_point_value(point, "/system/size")->items > 2 &&
           strcmp(ergo_point_text(point, "/system/update"), "swendsen-wang") == 0 &&
           sw_is_sampled(point) && !sw_wants_clusters(point) && !sw_wants_pairs(point) &&
           !sw_correlates(point);
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
        "\"lattice\" cuts, beside plain squares, cubic lattices with update swendsen-wang, of "
        "which it measures spins: \"observables\": "
        "\"energy,order_parameter,binder\" in run, and others that need no clusters. Use "
        "\"points\" or \"auto\"");
}

/* ---- declared ---------------------------------------------------------------------------------
 */

static size_t layer_sites(const struct sw_sites_state *s) {
    return (size_t)s->whole.lx * s->whole.ly;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    const struct ergo_point *first = s->e.batch->points[0];
    const size_t members = s->e.batch->count;
    s->cut = true;
    s->whole = sw_sites_shape_of(first);
    enum ergo_status status = ergo_slab_cut(ctx, &s->slab, first, s->whole.lz, 1, LEAST_LAYERS);
    if (status == ERGO_OK)
        status = sw_sites_configure(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->e.block_samples = 64; /* the same at all ranks */
    s->joined =
        ergo_engine_memory(&s->e, s->e.block_samples * members, s->whole.q * sizeof *s->joined);
    s->far = ergo_engine_memory(&s->e, layer_sites(s), sizeof *s->far);
    s->layer = ergo_engine_memory(&s->e, 2 * members, layer_sites(s));
    snprintf(s->e.plan.path, sizeof s->e.plan.path, "sites, cut");
    const size_t length = strlen(s->e.plan.launch);
    snprintf(s->e.plan.launch + length, sizeof s->e.plan.launch - length,
             "; layers %llu to %llu of %llu", (unsigned long long)s->slab.first,
             (unsigned long long)(s->slab.first + s->slab.count - 1),
             (unsigned long long)s->slab.layers);
    return ergo_engine_end(&s->e);
}

void sw_slab_declare(struct sw_sites_state *s) {
    const uint64_t edges = 2 * s->e.batch->count * (uint64_t)layer_sites(s);
    ergo_engine_buffer(&s->e, SITES_EDGES, "edges", ERGO_BUFFER_SCRATCH, 4 * edges);
    ergo_engine_flag(&s->e, SITES_EDGES, ERGO_BUFFER_HOSTED);
    ergo_engine_buffer(&s->e, SITES_RENAMED, "parts with other names", ERGO_BUFFER_SCRATCH,
                       8 * edges);
    ergo_engine_flag(&s->e, SITES_RENAMED, ERGO_BUFFER_HOSTED);
    ergo_engine_buffer(&s->e, SITES_NAMES, "their names", ERGO_BUFFER_SCRATCH, 4 * edges);
    ergo_engine_flag(&s->e, SITES_NAMES, ERGO_BUFFER_HOSTED);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    if (!s->slab.posts && !(s->slab.posts = ergo_dist_posts_create()))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for messages of a slab");
    return sw_sites_prepare(ctx, state);
}

static void release(void *state) {
    struct sw_sites_state *s = state;
    ergo_slab_release(&s->slab);
    sw_pairs_free(&s->pairs_of);
    free(s->all_pairs);
}

/* ---- between ranks ----------------------------------------------------------------------------
 */

/* To the rank before this one, and from the next; begun only. */
static void post_back(struct sw_sites_state *s, const void *mine, void *theirs, size_t bytes) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    const int before = (own + ranks - 1) % ranks, next = (own + 1) % ranks;
    if (s->e.status == ERGO_OK)
        s->e.status =
            ergo_dist_post_receive(s->e.ctx, s->slab.posts, next, TAG_LAYER, theirs, bytes);
    if (s->e.status == ERGO_OK)
        s->e.status = ergo_dist_post_send(s->e.ctx, s->slab.posts, before, TAG_LAYER, mine, bytes);
}

static void send_back(struct sw_sites_state *s, const void *mine, void *theirs, size_t bytes) {
    post_back(s, mine, theirs, bytes);
    if (s->e.status == ERGO_OK)
        ergo_dist_posts_wait(s->slab.posts);
}

/* The spins of first layers. */
static void send_layer(struct sw_sites_state *s) {
    const size_t layer = layer_sites(s), members = s->e.batch->count, span = sw_sites_span(s);
    for (size_t m = 0; m < members; m++)
        ergo_engine_read(&s->e, SITES_SPINS, m * span, layer, s->layer + m * layer);
    post_back(s, s->layer, s->layer + members * layer, members * layer);
    s->under_way = true;
}

void sw_slab_take_layer(struct sw_sites_state *s) {
    const size_t layer = layer_sites(s), members = s->e.batch->count, span = sw_sites_span(s);
    if (!s->under_way)
        return;
    s->under_way = false;
    ergo_dist_posts_wait(s->slab.posts);
    for (size_t m = 0; m < members; m++)
        ergo_engine_write(&s->e, SITES_SPINS, m * span + s->shape.sites, layer,
                          s->layer + (members + m) * layer);
}

/* Pairs of all ranks to all. */
static void share_pairs(struct sw_sites_state *s) {
    const size_t ranks = (size_t)ergo_dist_count();
    const uint64_t mine = s->pairs_of.n;
    uint64_t *each = calloc(ranks, sizeof *each), all = 0;
    if (!each) {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the pairs of all ranks");
        return;
    }
    ergo_dist_collect(&mine, sizeof mine, each);
    for (size_t r = 0; r < ranks; r++)
        all += each[r];
    if (all > s->all_room) {
        free(s->all_pairs);
        s->all_pairs = malloc(2 * (size_t)all * sizeof *s->all_pairs);
        s->all_room = s->all_pairs ? 2 * (size_t)all : 0;
    }
    if (s->all_room < all)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the pairs of all ranks");
    else if (all)
        ergo_engine_note(&s->e, ergo_dist_collect_items(s->e.ctx, s->pairs_of.pairs, s->all_pairs,
                                                        sizeof *s->all_pairs, each));
    free(each);
    if (s->e.status == ERGO_OK && !sw_pairs_join(&s->pairs_of, s->all_pairs, (size_t)all))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the clusters of all ranks");
}

struct renaming {
    struct sw_sites_state *s;
    size_t member, n;
};

static void rename_part(void *user, uint32_t part, uint32_t name) {
    struct renaming *r = user;
    struct sw_sites_state *s = r->s;
    uint64_t *sites = ergo_engine_host(&s->e, SITES_RENAMED, 0, 0);
    uint32_t *names = ergo_engine_host(&s->e, SITES_NAMES, 0, 0);
    sites[r->n] = (uint64_t)r->member * s->shape.sites + (part - s->members[0].first);
    names[r->n++] = name;
}

void sw_slab_join(struct sw_sites_state *s) {
    const size_t layer = layer_sites(s), members = s->e.batch->count;
    const uint32_t first = s->members[0].first;
    uint32_t *edges = ergo_engine_host(&s->e, SITES_EDGES, 0, 0);
    struct renaming r = {.s = s};
    ERGO_LAUNCH(&s->e, SITES_EDGE, ergo_grid_items(2 * layer, s->launch.group, members),
                BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS),
                BUFFER(SITES_EDGES));
    ergo_engine_read(&s->e, SITES_EDGES, 0, 8 * layer * members, edges);
    for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++, edges += 2 * layer) {
        for (size_t k = 0; k < 2 * layer; k++)
            edges[k] = edges[k] == SW_NO_BOND ? SW_NO_BOND : edges[k] + first;
        send_back(s, edges, s->far, 4 * layer);
        if (s->e.status == ERGO_OK &&
            !sw_pairs_find(&s->pairs_of, edges + layer, s->far, layer, SW_NO_BOND))
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the pairs of a layer");
        if (s->e.status == ERGO_OK)
            share_pairs(s);
        r.member = m;
        if (s->e.status == ERGO_OK)
            sw_pairs_renamed(&s->pairs_of, first, s->shape.sites, rename_part, &r);
    }
    if (r.n && s->e.status == ERGO_OK) {
        ergo_engine_send(&s->e, SITES_RENAMED, 8 * r.n);
        ergo_engine_send(&s->e, SITES_NAMES, 4 * r.n);
        ERGO_LAUNCH(&s->e, SITES_MARK, ergo_grid_items(r.n, s->launch.group, 1),
                    BUFFER(SITES_SIZES), BUFFER(SITES_RENAMED), U32(r.n));
    }
}

void sw_slab_flip(struct sw_sites_state *s) {
    ERGO_LAUNCH(&s->e, SITES_FLIP,
                ergo_grid_groups(s->launch.tiles, s->launch.tile_group, s->e.batch->count),
                BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), BUFFER(SITES_FIRSTS),
                BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES), BUFFER(SITES_NAMES));
    send_layer(s);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* Sums of all ranks. */
static enum ergo_status join(struct ergo_context *ctx, void *state, unsigned slot,
                             struct ergo_samples *samples) {
    struct sw_sites_state *s = state;
    const size_t q = s->shape.q, rows = samples->count * s->e.batch->count;
    const uint32_t *sums = ergo_engine_host(&s->e, SITES_SUMS, slot, 0);
    (void)ctx;
    memset(s->joined, 0, rows * q * sizeof *s->joined);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < s->launch.sum_slots * q; i++)
            s->joined[row * q + i % q] += sums[row * s->launch.sum_slots * q + i];
    ergo_dist_sum_counts(s->joined, rows * q);
    return ERGO_OK;
}

void sw_slab_sums(const struct sw_sites_state *s, size_t row, struct sw_counts *c) {
    const uint64_t *sums = s->joined + row * s->shape.q;
    uint64_t others = 0;
    *c = (struct sw_counts){.unequal = sums[0]};
    for (size_t k = 1; k < s->shape.q; k++)
        others += c->states[k] = sums[k];
    c->states[0] = s->whole.sites - others;
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
    .convert = join,
    .rows = sw_sites_rows,
    .release = release,
};

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    return ergo_slab_plan(ctx, &model, batch, device, plan);
}

/* Rank 0's kernels before the others': theirs then find its results in the caches. */
static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    const bool first = ergo_ranks_rank() == 0;
    enum ergo_status status = ERGO_OK;
    *state = NULL;
    if (first)
        status = ergo_engine_create(ctx, &model, batch, device, state);
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    return first ? status : ergo_engine_create(ctx, &model, batch, device, state);
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
                                const void *layers, struct ergo_text *whole) {
    return ergo_slab_gather(ctx, &s->slab, layers, layer_sites(s), whole);
}

static enum ergo_status save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    struct sw_sites_state *s = state;
    struct ergo_text own = {0};
    enum ergo_status status = sw_sites_save(ctx, s, member, &own);
    if (status == ERGO_OK)
        status = sw_slab_gather(ctx, s, own.data, text);
    ergo_text_free(&own);
    return status;
}

static enum ergo_status load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct sw_sites_state *s = state;
    if (length != s->whole.sites)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %u sites has "
                         "as many",
                         member, length, s->whole.sites);
    for (size_t i = 0; i < length; i++) /* all ranks refuse, or none */
        if (((const uint8_t *)bytes)[i] >= s->whole.q)
            return sw_sites_damaged(ctx, member);
    const enum ergo_status status =
        sw_sites_load(ctx, s, member, step, (const uint8_t *)bytes + s->slab.first * layer_sites(s),
                      s->shape.sites);
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
    const enum ergo_status status = save(ctx, s, member, &text);
    sw_sites_view_of(&s->whole, view);
    view->sites = text.data; /* NULL on other ranks than the first */
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
