/*
 * A lattice of sites over ranks, a slab of layers (in two dimensions of rows) on each: the second
 * table of operations (sampler.h). A slab is labelled as a lattice of its own, but for the bonds
 * from its last layer to the first one of the next rank, whose spins it has. Ranks tell both
 * neighbours the parts of clusters on the layers at the cuts, and devices join what bonds across
 * one cut connect (cl/swendsen_wang/sites_bridges.cl). Most of it is a whole cluster. Hosts join
 * the rest by rounds (rounds.h): clusters with a part that goes through a slab. The layer's spins
 * travel while the inside is labelled. Bytes a rank and sweep: a layer's spins, eight for each of
 * its sites, and those of rounds. In a measured sweep the sizes of parts travel, too, while spins
 * get new states (slab_counts.c); and names of sites, for pairs (slab_pairs.c).
 */
#include <stdio.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/swendsen_wang/sites/sites.h"

/* Tags of messages to the rank before this one, and to the next. */
enum { TAG_BACK = ERGO_DIST_TAGS + 26, TAG_ON };
/* A slab of one layer would have the blocks of two dimensions (cl/swendsen_wang/sites_block.h). */
enum { LEAST_LAYERS = 2 };

/* ---- job --------------------------------------------------------------------------------------
 */

static bool serves(const struct ergo_point *point) {
    return !ergo_says(of_lattice(point)->lattice.text, "triangular") && sw_is_plain(point);
}

/* Rows of a honeycomb lattice differ in turn. */
static uint32_t granule(const struct sw_sites_shape *h) {
    return h->lattice == SW_LATTICE_HONEYCOMB ? 2 : 1;
}

bool sw_slab_is_worth(const struct ergo_point *point, size_t ranks) {
    const int last = of_lattice(point)->size.items - 1;
    return serves(point) && of_lattice(point)->size.size[last] >= (int64_t)(LEAST_LAYERS * ranks);
}

enum ergo_status sw_slab_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!ergo_says(point->parameters->distribute, "lattice") || serves(point))
        return ERGO_OK;
    return ergo_job_error(
        ctx, "/distribute",
        "\"lattice\" cuts no triangular lattices, whose sites have two neighbours in the next row: "
        "use \"points\" or \"auto\"");
}

/* ---- declared ---------------------------------------------------------------------------------
 */

static size_t layer_sites(const struct sw_sites_state *s) {
    return sw_sites_layer(&s->whole);
}

/* Of a message with a layer's spins: of all members, and its number. */
static size_t layer_bytes(const struct sw_sites_state *s) {
    return s->e.batch->count * layer_sites(s) * s->whole.spin_bytes + sizeof s->exchanges;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    const struct ergo_point *first = s->e.batch->points[0];
    s->cut = true;
    s->whole = sw_sites_shape_of(first);
    const uint32_t layers = sw_sites_layers(&s->whole);
    if (layers < (uint32_t)(LEAST_LAYERS * ergo_dist_count()))
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/distribute: a lattice of %u %s cannot be cut over %d ranks, which need "
                         "%d each; use fewer ranks, or \"points\"",
                         layers, s->whole.lz > 1 ? "layers" : "rows", ergo_dist_count(),
                         LEAST_LAYERS);
    enum ergo_status status =
        ergo_slab_cut(ctx, &s->slab, NULL, layers, granule(&s->whole), LEAST_LAYERS);
    if (status == ERGO_OK)
        status = sw_sites_configure(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->part_names = ergo_engine_memory(&s->e, 4 * layer_sites(s), sizeof *s->part_names);
    s->items = ergo_engine_memory(&s->e, 4 * layer_sites(s), sizeof *s->items);
    s->seeds = ergo_engine_memory(&s->e, s->e.batch->count, sizeof *s->seeds);
    s->ways = ergo_engine_memory(&s->e, s->e.batch->count, 3 * sizeof *s->ways);
    sw_slab_open_counts(s);
    sw_slab_open_pairs(s);
    snprintf(s->e.plan.path, sizeof s->e.plan.path, "sites, cut");
    const size_t length = strlen(s->e.plan.launch);
    snprintf(s->e.plan.launch + length, sizeof s->e.plan.launch - length,
             "; layers %llu to %llu of %llu", (unsigned long long)s->slab.first,
             (unsigned long long)(s->slab.first + s->slab.count - 1),
             (unsigned long long)s->slab.layers);
    return ergo_engine_end(&s->e);
}

void sw_slab_buffer(struct sw_sites_state *s, unsigned row, const char *what, uint64_t bytes,
                    bool hosted) {
    ergo_engine_buffer(&s->e, row, what, ERGO_BUFFER_SCRATCH, bytes);
    if (hosted)
        ergo_engine_flag(&s->e, row, ERGO_BUFFER_HOSTED);
}

void sw_slab_declare(struct sw_sites_state *s) {
    sw_slab_buffer(s, SITES_LAYER, "the first layer", layer_bytes(s), true);
    sw_slab_buffer(s, SITES_NEXT_LAYER, "the next rank's layer", layer_bytes(s), true);
    ergo_engine_flag(&s->e, SITES_LAYER, ERGO_BUFFER_BESIDE);
    ergo_engine_flag(&s->e, SITES_NEXT_LAYER, ERGO_BUFFER_BESIDE);
    if (s->shape.adapts)
        ergo_engine_flag(&s->e, SITES_WAYS, ERGO_BUFFER_HOSTED);
    if (s->shape.wolff)
        sw_slab_buffer(s, SITES_SEEDS, "Wolff's seeds", 4 * s->e.batch->count, true);
    sw_slab_declare_join(s);
    sw_slab_declare_counts(s);
    sw_slab_declare_pairs(s);
}

/* Below and above, where a slab alone has itself. */
static enum ergo_status make_sides(struct sw_sites_state *s) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    const size_t layer = layer_sites(s);
    const uint32_t around = s->whole.lz > 1 ? SW_AROUND_Z : SW_AROUND_Y;
    const struct sw_border below = {
        .rank = (own + 1) % ranks, .way = SW_WAY_DOWN, .odd = own == ranks - 1 ? around : 0};
    struct sw_border borders[2] = {below, below};
    borders[1].rank = (own + ranks - 1) % ranks;
    borders[1].way = SW_WAY_UP;
    borders[1].odd = own == 0 ? around : 0;
    s->rounds.rank = own;
    s->rounds.ranks = ranks;
    s->rounds.posts = s->slab.posts;
    const enum ergo_status status = sw_rounds_prepare(&s->e, &s->rounds, borders, 2, 2 * layer);
    if (status == ERGO_OK) /* which part is known: add_part */
        memset(s->rounds.index_of, 0xff, 2 * layer * sizeof *s->rounds.index_of);
    return status;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    if (!s->slab.posts && !(s->slab.posts = ergo_dist_posts_create()))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for messages of a slab");
    return make_sides(s);
}

static void release(void *state) {
    struct sw_sites_state *s = state;
    ergo_slab_release(&s->slab);
    sw_rounds_free(&s->rounds);
}

/* Where steps since the last save spent their time. */
static void log_times(struct ergo_context *ctx, struct sw_sites_state *s) {
    const struct sw_slab_times *t = &s->times;
    const double n = 1e-6 * (double)t->steps; /* of microseconds */
    if (t->steps)
        ergo_log(ctx, ERGO_LOG_INFO,
                 "rank %d of %d: %u layers of %zu sites, %llu steps; us a step: layer %.1f parts "
                 "%.1f faces %.1f list %.1f joining %.1f sums %.1f; %.1f entries",
                 s->rounds.rank, s->rounds.ranks, s->slab.count, layer_sites(s),
                 (unsigned long long)t->steps, t->layer / n, t->parts / n, t->faces / n,
                 t->listing / n, t->joining / n, t->sums / n, 1e-6 * t->listed / n);
    s->times = (struct sw_slab_times){0};
}

/* ---- between ranks ----------------------------------------------------------------------------
 */

/* A message to a rank, and one from another; begun only. Their last word is their number, which is
 * that of the exchange. */
static void post(struct sw_sites_state *s, int to, int from, int tag, void *mine, void *theirs,
                 size_t bytes) {
    memcpy((char *)mine + bytes - sizeof s->exchanges, &s->exchanges, sizeof s->exchanges);
    if (s->e.status == ERGO_OK)
        s->e.status = ergo_dist_post_receive(s->e.ctx, s->slab.posts, from, tag, theirs, bytes);
    if (s->e.status == ERGO_OK)
        s->e.status = ergo_dist_post_send(s->e.ctx, s->slab.posts, to, tag, mine, bytes);
}

/* To the rank before this one, and from the next. */
static void post_back(struct sw_sites_state *s, void *mine, void *theirs, size_t bytes) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    post(s, (own + ranks - 1) % ranks, (own + 1) % ranks, TAG_BACK, mine, theirs, bytes);
}

static void post_on(struct sw_sites_state *s, void *mine, void *theirs, size_t bytes) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    post(s, (own + 1) % ranks, (own + ranks - 1) % ranks, TAG_ON, mine, theirs, bytes);
}

/* Waits for `count` messages, one behind the other. Are they of this exchange? */
static void finish(struct sw_sites_state *s, const char *theirs, size_t bytes, size_t count) {
    const uint32_t due = s->exchanges++;
    uint32_t number;
    if (s->e.status != ERGO_OK)
        return;
    ergo_dist_posts_wait(s->slab.posts);
    for (size_t k = 1; k <= count && s->e.status == ERGO_OK; k++) {
        memcpy(&number, theirs + k * bytes - sizeof number, sizeof number);
        if (number != due)
            s->e.status = sw_rounds_lost(s->e.ctx, s->rounds.rank);
    }
}

void sw_slab_swap(struct sw_sites_state *s, char *mine, char *theirs, size_t bytes) {
    post_on(s, mine, theirs + bytes, bytes);
    post_back(s, mine + bytes, theirs, bytes);
    finish(s, theirs, bytes, 2);
}

void sw_slab_swap_back(struct sw_sites_state *s, void *mine, void *theirs, size_t bytes) {
    post_back(s, mine, theirs, bytes);
    finish(s, theirs, bytes, 1);
}

static struct ergo_grid over_layer(const struct sw_sites_state *s) {
    return ergo_grid_items(layer_sites(s), s->launch.group, s->e.batch->count);
}

/* The spins of first layers. They go while the device does what follows. */
static void send_layer(struct sw_sites_state *s) {
    ERGO_LAUNCH(&s->e, SITES_PACK, over_layer(s), BUFFER(SITES_SPINS), BUFFER(SITES_LAYER));
    ergo_engine_fetch(&s->e, SITES_LAYER, 0, layer_bytes(s),
                      ergo_engine_host(&s->e, SITES_LAYER, 0, 0));
    s->under_way = true;
}

void sw_slab_take_layer(struct sw_sites_state *s) {
    const size_t bytes = layer_bytes(s);
    if (!s->under_way)
        return;
    s->under_way = false;
    ergo_engine_lap(&s->e);
    ergo_engine_await(&s->e, SITES_LAYER);
    sw_slab_swap_back(s, ergo_engine_host(&s->e, SITES_LAYER, 0, 0),
                      ergo_engine_host(&s->e, SITES_NEXT_LAYER, 0, 0), bytes);
    ergo_engine_send(&s->e, SITES_NEXT_LAYER, bytes);
    ERGO_LAUNCH(&s->e, SITES_UNPACK, over_layer(s), BUFFER(SITES_SPINS), BUFFER(SITES_NEXT_LAYER));
    s->times.layer += ergo_engine_lap(&s->e);
}

/* ---- new spins --------------------------------------------------------------------------------
 */

void sw_slab_share_ways(struct sw_sites_state *s) {
    const size_t members = s->e.batch->count;
    uint32_t *ways = ergo_engine_host(&s->e, SITES_WAYS, 0, 0); /* inside; then all */
    ergo_engine_read(&s->e, SITES_WAYS, 0, members * sizeof *ways, ways);
    for (size_t m = 0; m < members; m++)
        for (size_t d = 0; d < 3; d++)
            s->ways[3 * m + d] |= ways[m] >> d & 1u;
    ergo_dist_max_counts(s->ways, 3 * members);
    for (size_t m = 0; m < members; m++) {
        const uint64_t *of = s->ways + 3 * m;
        ways[m] = (uint32_t)(of[0] | of[1] << 1 | of[2] << 2);
    }
    ergo_engine_send(&s->e, SITES_WAYS, members * sizeof *ways);
}

/* Wolff's seeds: the rank that has one tells all of its cluster's name. */
static void share_seeds(struct sw_sites_state *s) {
    const size_t members = s->e.batch->count;
    uint32_t *seeds = ergo_engine_host(&s->e, SITES_SEEDS, 0, 0);
    ERGO_LAUNCH(&s->e, SITES_SEED, ergo_grid_items(1, 1, members), BUFFER(SITES_MEMBERS),
                BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES),
                BUFFER(SITES_SEEDS));
    ergo_engine_read(&s->e, SITES_SEEDS, 0, members * sizeof *seeds, seeds);
    for (size_t m = 0; m < members; m++) /* no name is 0 then, and nobody's */
        s->seeds[m] = s->e.status == ERGO_OK ? (uint64_t)(uint32_t)(seeds[m] + 1) : 0;
    ergo_dist_max_counts(s->seeds, members);
    for (size_t m = 0; m < members; m++)
        seeds[m] = (uint32_t)s->seeds[m] - 1;
    ergo_engine_send(&s->e, SITES_SEEDS, members * sizeof *seeds);
}

static void flip(struct sw_sites_state *s, unsigned kernel, uint32_t tiles) {
    ERGO_LAUNCH(&s->e, kernel, ergo_grid_groups(tiles, s->launch.tile_group, s->e.batch->count),
                BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), BUFFER(SITES_FIRSTS),
                BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES));
}

void sw_slab_flip(struct sw_sites_state *s, uint32_t sample) {
    const uint32_t tiles = s->launch.tiles, inside = s->launch.inside;
    s->times.steps++;
    if (s->shape.wolff) {
        share_seeds(s);
        ERGO_LAUNCH(&s->e, SITES_FLIP_ONE,
                    ergo_grid_groups(tiles, s->launch.tile_group, s->e.batch->count),
                    BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), BUFFER(SITES_FIRSTS),
                    BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES), BUFFER(SITES_SEEDS),
                    BUFFER(SITES_GROWN), U32(sample));
        send_layer(s);
        return;
    }
    flip(s, SITES_FLIP, tiles - inside); /* with the first layer */
    send_layer(s);
    if (inside)
        flip(s, SITES_FLIP_REST, inside);
    clFlush(s->e.device->queue);
    ergo_engine_lap(&s->e);
    if (sample != SW_NO_SAMPLE && s->clusters)
        sw_slab_count(s, sample);
    s->times.sums += ergo_engine_lap(&s->e);
}

/* ---- operations -------------------------------------------------------------------------------
 */

static void start(void *state) {
    sw_sites_start(state);
    ergo_engine_finish(state);
    send_layer(state);
    sw_slab_take_layer(state);
}

static const struct ergo_engine_model model = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice, more ranks",
    .state_bytes = sizeof(struct sw_sites_state),
    .fields = &sw_sites_fields,
    .configure = configure,
    .prepare = prepare,
    .start = start,
    .steps = sw_sites_steps,
    .block = sw_sites_block,
    .convert = sw_slab_collect,
    .row = sw_sites_row,
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

/* Bytes of the layers here, and of a layer; behind those of all there may be the chance. */
static size_t layers_bytes(const struct sw_sites_state *s, const struct sw_sites_shape *h) {
    return (size_t)h->sites * s->whole.spin_bytes;
}

static enum ergo_status save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    struct sw_sites_state *s = state;
    struct ergo_text own = {0};
    log_times(ctx, s);
    enum ergo_status status = ergo_fields_save(ctx, s, member, &own);
    if (status == ERGO_OK)
        status =
            ergo_slab_gather(ctx, &s->slab, own.data, s->whole.spin_bytes * layer_sites(s), text);
    const size_t layers = layers_bytes(s, &s->shape);
    if (status == ERGO_OK && s->rounds.rank == 0)
        ergo_text_append_bytes(text, own.data + layers, own.length - layers);
    ergo_text_free(&own);
    return status;
}

static enum ergo_status load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct sw_sites_state *s = state;
    const size_t layer = s->whole.spin_bytes * layer_sites(s), mine = layers_bytes(s, &s->shape);
    const size_t all = layers_bytes(s, &s->whole), behind = ergo_fields_bytes(&s->e, member) - mine;
    if (length != all + behind)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, all + behind);
    struct ergo_text own = {0};
    ergo_text_append_bytes(&own, (const char *)bytes + s->slab.first * layer, mine);
    ergo_text_append_bytes(&own, (const char *)bytes + all, behind);
    enum ergo_status status = own.failed
                                  ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice")
                                  : ergo_fields_load(ctx, s, member, step, own.data, own.length);
    ergo_text_free(&own);
    if (ergo_dist_max(status != ERGO_OK) > 0) /* all ranks refuse, or none */
        return status != ERGO_OK
                   ? status
                   : ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu is damaged: another rank has seen it",
                               member);
    ergo_engine_begin(&s->e, ctx);
    send_layer(s);
    sw_slab_take_layer(s);
    return ergo_engine_end(&s->e);
}

static enum ergo_status view(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_view *view) {
    struct ergo_text text = {0};
    const enum ergo_status status = save(ctx, state, member, &text);
    sw_sites_look(state, view);
    view->sites = text.data; /* NULL on other ranks than the first */
    return status;
}

const struct ergo_sampler_ops sw_slab_ops = {
    .engine = &model,
    .plan = plan,
    .create = create,
    .init = ergo_engine_init,
    .save = save,
    .load = load,
    .view = view,
};
