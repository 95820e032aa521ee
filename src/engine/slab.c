/* See slab.h. */
#include "engine/slab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "engine/fields.h"

/* Above those of samplers, which may have posts of their own under way. */
enum { TAG_UP = ERGO_DIST_TAGS + 24, TAG_DOWN };

static int neighbour(int step) {
    const int ranks = ergo_dist_count();
    return (ergo_ranks_rank() + step + ranks) % ranks;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Slabs of `units` granules, each of `fewest` at least and else by weights. */
static void divide(struct ergo_slab *s, uint64_t units, uint64_t fewest) {
    const size_t ranks = s->shares->ranks, own = (size_t)ergo_ranks_rank();
    const uint64_t rest = units - ranks * (fewest - 1);
    s->least = UINT32_MAX;
    s->most = 0;
    for (size_t r = 0; r < ranks; r++) {
        const uint64_t from = ergo_share_before(rest, s->shares->weights, ranks, r);
        const uint64_t to = ergo_share_before(rest, s->shares->weights, ranks, r + 1);
        const uint32_t count = (uint32_t)(to - from + fewest - 1) * s->granule;
        s->least = count < s->least ? count : s->least;
        s->most = count > s->most ? count : s->most;
        if (r == own) {
            s->first = (from + r * (fewest - 1)) * s->granule;
            s->count = count;
        }
    }
}

enum ergo_status ergo_slab_cut(struct ergo_context *ctx, struct ergo_slab *s,
                               const struct ergo_point *point, uint64_t layers, uint32_t granule,
                               uint32_t reach) {
    const uint64_t ranks = (uint64_t)ergo_dist_count(), units = layers / granule;
    const uint64_t fewest = (reach + granule - 1) / granule;
    if (!s->shares)
        s->shares = ergo_shares_create(ctx, point);
    if (!s->shares)
        return ERGO_E_MEMORY;
    if (units < ranks)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/distribute: a %s of %llu layers cannot be cut over %llu ranks, which "
                         "need %u each; use fewer ranks, or \"points\"",
                         s->pack ? "box" : "lattice", (unsigned long long)layers,
                         (unsigned long long)ranks, granule);
    if (units < ranks * fewest && s->pack)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/distribute: of %llu layers each of %llu ranks would have fewer than the "
                         "%u that neighbours need; use fewer ranks, or \"points\"",
                         (unsigned long long)layers, (unsigned long long)ranks,
                         (uint32_t)fewest * granule);
    if (units < ranks * fewest)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/run/correlation_max: of %llu layers each of %llu ranks would have fewer "
                         "than the %u that correlations are measured over; use fewer ranks, a "
                         "smaller distance, or correlation_every 0",
                         (unsigned long long)layers, (unsigned long long)ranks, reach);
    s->layers = layers;
    s->granule = granule;
    divide(s, units, 1);
    if (s->least < reach)
        divide(s, units, fewest);
    return ERGO_OK;
}

/* Kernels know the number of layers in a buffer. Ranks of another number, or with other shares,
 * find them built where it is rounded up. But thin slabs of large layers would then take several
 * times the memory that they need, each as much as the whole lattice: no more than an eighth is
 * added, or so many bytes. */
static const uint32_t build_layers = 16;
static const double build_bytes = 1 << 22;

static uint32_t round_up(uint32_t n, uint32_t granule) {
    return (n + granule - 1) / granule * granule;
}

bool ergo_slab_prefers_colours(const struct ergo_point *point, double layer_bytes, double update) {
    const int64_t wish = point->parameters->halo_colours;
    const double copies = 3 * 2 * 2 * layer_bytes / 20e9;
    return wish ? wish == 1 : update > 40e-6 && copies > update;
}

uint32_t ergo_slab_updates(const struct ergo_slab *s, const struct ergo_point *point,
                           double exchange, double layer_sites) {
    const uint32_t wish = (uint32_t)point->parameters->halo_sweeps;
    const double best = sqrt(exchange / (2 * layer_sites)), most = s->least / 16.0;
    return wish ? wish * s->per_sweep : 2 * (uint32_t)fmax(1, fmin(best, most));
}

static uint32_t layers_to_build(uint32_t need, uint32_t granule, double layer_bytes) {
    uint32_t unit = build_layers * granule;
    while (unit > granule && round_up(need, unit) - need > need / 8 &&
           (round_up(need, unit) - need) * layer_bytes > build_bytes)
        unit /= 2;
    return round_up(need, unit);
}

void ergo_slab_deepen(struct ergo_slab *s, bool by_colour, uint32_t updates, uint32_t reach,
                      double layer_bytes) {
    s->by_colour = by_colour;
    updates = by_colour ? s->colours : updates;
    updates *= ergo_slab_step(s); /* layers */
    s->halo = round_up(updates > reach ? updates : reach, s->granule);
    s->halo = s->halo < s->least ? s->halo : s->least;
    s->tall = layers_to_build(s->most + 2 * s->halo, s->granule, layer_bytes);
    s->valid = 0;
}

unsigned ergo_slab_bits(uint32_t n) {
    return n <= 2 ? 1 : n <= 4 ? 2 : n <= 16 ? 4 : 8;
}

/* Appends to a plan's text which layers are here, and how halos are exchanged. */
static void describe(const struct ergo_slab *s, char *text, size_t size) {
    const size_t length = strlen(text);
    char every[48] = "after each colour";
    const uint32_t updates = s->halo / ergo_slab_step(s);
    if (!s->by_colour && updates < s->per_sweep)
        snprintf(every, sizeof every, "every %u updates of a colour", updates);
    else if (!s->by_colour)
        snprintf(every, sizeof every, "every %u sweeps", updates / s->per_sweep);
    snprintf(text + length, size - length,
             "; layers %llu to %llu of %llu, halos of %u, exchanged %s",
             (unsigned long long)s->first, (unsigned long long)(s->first + s->count - 1),
             (unsigned long long)s->layers, s->halo, every);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* A block has as many steps as the slowest can make. */
enum ergo_status ergo_slab_plan(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                const struct ergo_batch *batch, const struct ergo_device *device,
                                struct ergo_plan *plan) {
    const enum ergo_status status = ergo_engine_plan(ctx, model, batch, device, plan);
    plan->block_steps = ergo_dist_min(status == ERGO_OK ? plan->block_steps : 1);
    return status;
}

enum ergo_status ergo_slab_sweep_alone(struct ergo_context *ctx, void *state) {
    const enum ergo_status status = ergo_engine_advance(ctx, state, 0, 0, 1, 0);
    return status == ERGO_OK ? ergo_device_finish(ctx, ((struct ergo_engine *)state)->device)
                             : status;
}

static const struct ergo_slab_model *model_of(const void *state) {
    return ((const struct ergo_engine *)state)->model->slab;
}

static enum ergo_status settle(struct ergo_context *ctx, void *state) {
    const struct ergo_slab_model *model = model_of(state);
    if (!model->settle)
        return ERGO_OK;
    ergo_engine_begin(state, ctx);
    ergo_engine_note(state, model->settle(ctx, state));
    ergo_engine_constants(state);
    return ergo_engine_end(state);
}

static enum ergo_status share_by_speed(struct ergo_context *ctx, void *state) {
    struct ergo_slab *s = ergo_slab_of(state);
    bool uneven = false;
    enum ergo_status status = ergo_slab_init(ctx, state);
    s->alone = true;
    if (status == ERGO_OK)
        status = ergo_shares_try(ctx, s->shares, s->count, ergo_slab_sweep_alone, state, &uneven);
    s->alone = false;
    if (status == ERGO_OK && uneven)
        status = ergo_engine_remake(ctx, state);
    return status == ERGO_OK && uneven ? settle(ctx, state) : status;
}

enum ergo_status ergo_slab_in_turn(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                   const struct ergo_batch *batch, struct ergo_device *device,
                                   void **state) {
    const bool first = ergo_ranks_rank() == 0;
    enum ergo_status status = ERGO_OK;
    *state = NULL;
    if (first)
        status = ergo_engine_create(ctx, model, batch, device, state);
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    return first ? status : ergo_engine_create(ctx, model, batch, device, state);
}

enum ergo_status ergo_slab_create(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                  const struct ergo_batch *batch, struct ergo_device *device,
                                  void **state) {
    enum ergo_status status = ergo_slab_in_turn(ctx, model, batch, device, state);
    if (status == ERGO_OK)
        status = settle(ctx, *state);
    if (status == ERGO_OK && ergo_slab_adapts(*state))
        status = share_by_speed(ctx, *state);
    if (status != ERGO_OK) {
        ergo_engine_destroy(*state);
        *state = NULL;
        return status;
    }
    const struct ergo_slab *s = ergo_slab_of(*state);
    ergo_log(ctx, ERGO_LOG_INFO, "rank %d has layers %llu to %llu, %.3g %% of the lattice",
             ergo_ranks_rank(), (unsigned long long)s->first,
             (unsigned long long)(s->first + s->count - 1), 100.0 * s->count / (double)s->layers);
    return ERGO_OK;
}

/* ---- a sampler's operations ------------------------------------------------------------------ */

bool ergo_slab_adapts(const void *state) {
    return ergo_slab_of(state)->shares->measured;
}

enum ergo_status ergo_slab_init(struct ergo_context *ctx, void *state) {
    struct ergo_slab *s = ergo_slab_of(state);
    const enum ergo_status status = ergo_engine_init(ctx, state);
    s->valid = s->halo; /* the start is drawn there, too */
    return status;
}

/* For bench/slabs.py: what exchanges have cost since the last save. */
static void log_exchanges(struct ergo_context *ctx, struct ergo_slab *s) {
    if (s->exchanges)
        ergo_log(
            ctx, ERGO_LOG_INFO,
            "rank %d of %d: %u layers of %llu, %llu exchanges of halos, %.0f bytes and %.1f us "
            "of waiting each",
            ergo_ranks_rank(), ergo_dist_count(), s->count, (unsigned long long)s->layers,
            (unsigned long long)s->exchanges, (double)s->bytes / (double)s->exchanges,
            1e6 * s->waited / (double)s->exchanges);
    s->bytes = s->exchanges = 0;
    s->waited = 0;
}

enum ergo_status ergo_slab_save(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_text *text) {
    struct ergo_slab *s = ergo_slab_of(state);
    struct ergo_text tall = {0};
    log_exchanges(ctx, s);
    enum ergo_status status = ergo_fields_save(ctx, state, member, &tall);
    if (status == ERGO_OK)
        status = ergo_slab_gather(ctx, s, tall.data, tall.length / s->tall, text);
    ergo_text_free(&tall);
    return status;
}

enum ergo_status ergo_slab_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                                const void *bytes, size_t length) {
    struct ergo_slab *s = ergo_slab_of(state);
    const size_t layer = ergo_fields_bytes(state, member) / s->tall;
    if (length != layer * s->layers)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes, not %llu layers of %zu",
                         member, length, (unsigned long long)s->layers, layer);
    uint8_t *tall = NULL;
    enum ergo_status status = ergo_slab_take(ctx, s, bytes, layer, &tall);
    if (status == ERGO_OK)
        status = ergo_fields_load(ctx, state, member, step, tall, layer * s->tall);
    s->valid = s->halo;
    free(tall);
    return status;
}

/* ---- on the device --------------------------------------------------------------------------- */

/* What is exchanged: `layers` of all pieces, or (pieces of members times colours) of one colour. */
struct parcel {
    uint32_t layers;
    size_t pieces;
    uint64_t words, pitch, first; /* of a piece; of the first one */
    uint64_t sent;                /* words of a piece */
};

/* Of several words that are sent as one, the last may be less. */
static uint64_t sent_words(const struct ergo_slab *s, uint64_t words) {
    const uint64_t fold = 8 / s->bits;
    return (words + fold - 1) / fold;
}

static struct parcel whole_halo(const struct ergo_slab *s) {
    const uint64_t words = s->halo * s->layer_words;
    return (struct parcel){s->halo, s->pieces, words, s->pitch, 0, sent_words(s, words)};
}

static struct parcel one_layer(const struct ergo_slab *s, unsigned colour) {
    return (struct parcel){1,
                           s->pieces / s->colours,
                           s->layer_words,
                           s->colours * s->pitch,
                           colour * s->pitch,
                           sent_words(s, s->layer_words)};
}

static size_t edge_bytes(const struct ergo_slab *s, const struct parcel *p) {
    return s->pack ? s->edge_bytes : 4 * (size_t)p->sent * p->pieces;
}

void ergo_slab_declare(struct ergo_engine *e, struct ergo_slab *s, struct ergo_slab_rows rows) {
    static const char *const path = "common/slab.cl";
    const unsigned flags = ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE;
    const struct parcel most = whole_halo(s);
    char options[24];
    snprintf(options, sizeof options, "-DSLAB_BITS=%uu", s->bits);
    s->rows = rows;
    ergo_engine_buffer(e, rows.out, "edges", ERGO_BUFFER_SCRATCH, 2 * edge_bytes(s, &most));
    ergo_engine_flag(e, rows.out, flags);
    ergo_engine_buffer(e, rows.in, "halos", ERGO_BUFFER_SCRATCH, 2 * edge_bytes(s, &most));
    ergo_engine_flag(e, rows.in, flags);
    if (s->pack)
        return;
    ergo_engine_kernel(e, rows.pack, path, options, "slab_pack");
    ergo_engine_kernel(e, rows.unpack, path, options, "slab_unpack");
}

void *ergo_slab_configured(struct ergo_engine *e, struct ergo_slab *s, struct ergo_slab_rows rows,
                           const char *path, size_t bytes) {
    struct ergo_plan *plan = &e->plan;
    e->block_samples = 64; /* the same at all ranks */
    ergo_slab_declare(e, s, rows);
    snprintf(plan->path, sizeof plan->path, "%s", path);
    describe(s, plan->launch, sizeof plan->launch);
    return e->curve_interval
               ? ergo_engine_memory(
                     e, ((e->block_samples - 1) / e->curve_interval + 1) * e->batch->count, bytes)
               : NULL;
}

void ergo_slab_prepare(struct ergo_engine *e, struct ergo_slab *s) {
    const size_t wish = e->device->type == CL_DEVICE_TYPE_CPU ? 16 : 64;
    s->group = s->pack ? wish : ergo_engine_group(e, s->rows.pack, wish);
    if (!s->posts && !(s->posts = ergo_dist_posts_create()))
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for messages of a slab");
}

void ergo_slab_release(struct ergo_slab *s) {
    ergo_dist_posts_destroy(s->posts);
    free(s->shares);
    *s = (struct ergo_slab){0};
}

static struct ergo_grid over_parcel(const struct ergo_slab *s, const struct parcel *p) {
    return ergo_grid_items(2 * (size_t)p->sent, s->group, p->pieces);
}

static void send_edges(struct ergo_engine *e, struct ergo_slab *s, struct parcel p) {
    if (s->alone)
        return;
    if (s->pack)
        s->pack(e);
    else
        ERGO_LAUNCH(e, s->rows.pack, over_parcel(s, &p), BUFFER(s->rows.state), BUFFER(s->rows.out),
                    U32(p.words), U64(p.pitch), U64(p.first + s->halo * s->layer_words),
                    U64(p.first + (s->halo + s->count - p.layers) * s->layer_words));
    ergo_engine_fetch(e, s->rows.out, 0, 2 * edge_bytes(s, &p),
                      e->status == ERGO_OK ? ergo_engine_host(e, s->rows.out, 0, 0) : NULL);
    if (e->status == ERGO_OK)
        clFlush(e->device->queue);
}

/* `bytes` of each rank to the rank before (up) and behind (down), and theirs. Collective. */
static enum ergo_status trade(struct ergo_context *ctx, const struct ergo_slab *s, const void *up,
                              const void *down, void *from_above, void *from_below, size_t bytes) {
    const int above = neighbour(-1), below = neighbour(1);
    enum ergo_status status =
        ergo_dist_post_receive(ctx, s->posts, above, TAG_DOWN, from_above, bytes);
    if (status == ERGO_OK)
        status = ergo_dist_post_receive(ctx, s->posts, below, TAG_UP, from_below, bytes);
    if (status == ERGO_OK)
        status = ergo_dist_post_send(ctx, s->posts, above, TAG_UP, up, bytes);
    if (status == ERGO_OK)
        status = ergo_dist_post_send(ctx, s->posts, below, TAG_DOWN, down, bytes);
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->posts);
    return status;
}

static void exchange(struct ergo_engine *e, struct ergo_slab *s, struct parcel p) {
    const size_t bytes = edge_bytes(s, &p);
    s->valid = p.layers;
    if (s->alone)
        return;
    if (e->status == ERGO_OK)
        clFlush(e->device->queue);
    ergo_engine_await(e, s->rows.out);
    if (e->status != ERGO_OK)
        return;
    const char *out = ergo_engine_host(e, s->rows.out, 0, 0);
    char *in = ergo_engine_host(e, s->rows.in, 0, 0);
    const double started = ergo_clock();
    ergo_engine_note(e, trade(e->ctx, s, out, out + bytes, in, in + bytes, bytes));
    s->waited += ergo_clock() - started;
    s->bytes += 2 * bytes;
    s->exchanges++;
    ergo_engine_send(e, s->rows.in, 2 * bytes);
    if (s->unpack) {
        s->unpack(e);
        return;
    }
    ERGO_LAUNCH(e, s->rows.unpack, over_parcel(s, &p), BUFFER(s->rows.state), BUFFER(s->rows.in),
                U32(p.words), U64(p.pitch), U64(p.first + (s->halo - p.layers) * s->layer_words),
                U64(p.first + (s->halo + s->count) * s->layer_words));
}

void ergo_slab_swap(struct ergo_engine *e, struct ergo_slab *s) {
    send_edges(e, s, whole_halo(s));
    exchange(e, s, whole_halo(s));
}

void ergo_slab_need(struct ergo_engine *e, struct ergo_slab *s, uint32_t layers) {
    if (s->valid < layers)
        ergo_slab_swap(e, s);
}

void ergo_slab_half_sweep(struct ergo_engine *e, struct ergo_slab *s, uint32_t unit,
                          ergo_slab_update update, unsigned colour) {
    /* layers of the halos that are right afterwards; updating more of them does no harm */
    const uint32_t step = ergo_slab_step(s);
    const uint32_t margin = s->by_colour ? 0 : (s->valid - 1) / step * step;
    s->valid = s->by_colour ? s->valid : margin;
    const struct parcel p = s->by_colour && !s->pack ? one_layer(s, colour) : whole_halo(s);
    const uint32_t from = (s->halo - margin) / unit * unit;
    const uint32_t to = round_up(s->halo + s->count + margin, unit);
    const uint32_t top = round_up(s->halo + p.layers, unit);
    const uint32_t bottom = (s->halo + s->count - p.layers) / unit * unit;
    const bool apart = margin == 0 && top < bottom; /* edges first */
    update(e, colour, from, apart ? top : to);
    if (margin > 0)
        return;
    if (apart)
        update(e, colour, bottom, to);
    send_edges(e, s, p);
    if (apart)
        update(e, colour, top, bottom);
    exchange(e, s, p);
}

/* ---- between ranks --------------------------------------------------------------------------- */

enum ergo_status ergo_slab_take(struct ergo_context *ctx, const struct ergo_slab *s,
                                const void *whole, size_t bytes, uint8_t **tall) {
    *tall = malloc(bytes * s->tall);
    if (!*tall)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    for (size_t y = 0; y < s->tall; y++)
        memcpy(*tall + y * bytes,
               (const uint8_t *)whole + (s->first + s->layers - s->halo + y) % s->layers * bytes,
               bytes);
    return ERGO_OK;
}

static enum ergo_status append(void *user, int rank, const char *data, size_t length) {
    (void)rank;
    ergo_text_append_bytes(user, data, length);
    return ERGO_OK;
}

enum ergo_status ergo_slab_gather(struct ergo_context *ctx, const struct ergo_slab *s,
                                  const void *tall, size_t bytes, struct ergo_text *whole) {
    const bool first = ergo_ranks_rank() == 0;
    const struct ergo_text mine = {.data = (char *)(uintptr_t)tall + bytes * s->halo,
                                   .length = bytes * s->count};
    if (first)
        ergo_text_append_bytes(whole, mine.data, mine.length);
    const enum ergo_status status = ergo_dist_gather(ctx, &mine, append, whole);
    return status == ERGO_OK && first && whole->failed
               ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the layers of all ranks")
               : status;
}
