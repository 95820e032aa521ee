/*
 * Spin glasses over ranks: the second table of operations (sampler.h). What a rank has, words with
 * whole ladders or a part of one ladder, is share.c's to say. What is measured goes to all
 * ranks with each sample.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"

/* The same blocks on all ranks: the shortest that any of them wants. */
static enum ergo_status agree(struct ergo_context *ctx, struct glass_state *s) {
    struct ergo_plan *plan = &s->e.plan;
    const size_t ranks = s->shares->ranks;
    const double own[2] = {plan->block_steps, (double)s->e.block_samples};
    double *all = malloc(ranks * sizeof own);
    if (!all)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    ergo_dist_collect(own, sizeof own, all);
    for (size_t r = 0; r < ranks; r++) {
        plan->block_steps = fmin(plan->block_steps, all[2 * r]);
        s->e.block_samples = (size_t)fmin((double)s->e.block_samples, all[2 * r + 1]);
    }
    if (s->shares->block_samples)
        s->e.block_samples = s->shares->block_samples;
    free(all);
    return ERGO_OK;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct glass_state *s = state;
    const struct ergo_point *first = s->e.batch->points[0];
    const struct glass_shape all = glass_shape_of(first), *h = &s->shape;
    struct ergo_plan *plan = &s->e.plan;
    s->shares = glass_shares_create(first, s->e.given);
    if (!s->shares)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for shares");
    s->shape = glass_share_of(&all, s->shares, (size_t)ergo_ranks_rank());
    enum ergo_status status = glass_configure(ctx, s);
    if (status == ERGO_OK)
        status = agree(ctx, s);
    const size_t length = strlen(plan->launch);
    snprintf(plan->launch + length, sizeof plan->launch - length,
             "; of all %u words a chain %u, of %u temperatures %u", h->all, h->idle ? 0 : h->words,
             h->rungs, h->idle ? 0 : h->temperatures);
    return status;
}

static const struct ergo_engine_model share = {GLASS_MODEL, .configure = configure};

enum { TRIAL_MS = 40 };

/* Slots that this rank's device sweeps in a second, while all others work, too. */
static enum ergo_status measure_speed(struct ergo_context *ctx, struct glass_state *s,
                                      double *speed) {
    const uint32_t every = s->shape.swap_every;
    const bool idle = s->shape.idle;
    double seconds = 0;
    uint64_t sweeps = 0;
    enum ergo_status status = glass_init(ctx, s);
    s->shape.swap_every = UINT32_MAX; /* no exchange: it would wait for others */
    s->shape.idle = false;
    ergo_dist_barrier();
    const double started = ergo_clock();
    for (; seconds < 1e-3 * TRIAL_MS && status == ERGO_OK; sweeps++) {
        status = ergo_engine_advance(ctx, s, 0, 0, 1, 0);
        if (status == ERGO_OK)
            status = ergo_device_finish(ctx, s->e.device);
        seconds = ergo_clock() - started;
    }
    s->shape.swap_every = every;
    s->shape.idle = idle;
    *speed = (double)sweeps * s->shape.quads / seconds;
    return status;
}

/* New shares where the speeds of ranks that share a ladder differ by more than a tenth. */
static enum ergo_status share_by_speed(struct ergo_context *ctx, const struct ergo_batch *batch,
                                       struct ergo_device *device, void **state) {
    struct glass_state *s = *state;
    struct glass_shares *found = glass_shares_create(batch->points[0], s->shares);
    double own = 0, least = INFINITY, most = 0;
    enum ergo_status status =
        found ? measure_speed(ctx, s, &own) : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for shares");
    if (status == ERGO_OK) {
        ergo_dist_collect(&own, sizeof own, found->weights);
        for (size_t r = 0; r < found->ranks; r++) {
            least = fmin(least, found->weights[r]);
            most = fmax(most, found->weights[r]);
        }
        found->block_samples = s->e.block_samples;
    }
    if (status == ERGO_OK && most > 1.1 * least) {
        ergo_engine_destroy(s);
        status = ergo_engine_create_with(ctx, &share, batch, device, found, state);
    }
    free(found);
    return status;
}

static void tell(struct ergo_context *ctx, const struct glass_shape *h) {
    const int ranks = ergo_dist_count();
    const uint64_t quads = ((uint64_t)h->rungs * h->copies + 3) / 4;
    if (h->all * quads < (uint64_t)ranks && ergo_ranks_rank() == 0)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "%d ranks share %u words of 32 samples, each with %llu quads of slots (of a "
                 "temperature and copy), which stay whole: some ranks are idle",
                 ranks, h->all, (unsigned long long)quads);
    if (glass_shares_ladder(h) && !h->idle)
        ergo_log(ctx, ERGO_LOG_INFO, "rank %d has temperatures %u to %u of %u, of word %u",
                 ergo_ranks_rank(), h->rung + 1, h->rung + h->temperatures, h->rungs, h->first + 1);
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    const struct glass_shape whole = glass_shape_of(batch->points[0]);
    const bool divided = (size_t)ergo_dist_count() > whole.all && whole.quads > 1;
    enum ergo_status status = ergo_engine_create(ctx, &share, batch, device, state);
    if (status == ERGO_OK && divided && ((struct glass_state *)*state)->shares->by_speed)
        status = share_by_speed(ctx, batch, device, state);
    if (status == ERGO_OK)
        tell(ctx, &((struct glass_state *)*state)->shape);
    return status;
}

struct gathering {
    struct ergo_context *ctx;
    const struct glass_shares *shares;
    struct glass_shape whole;
    char *state;
};

static enum ergo_status take(void *user, int rank, const char *data, size_t length) {
    struct gathering *g = user;
    const struct glass_shape here = glass_share_of(&g->whole, g->shares, (size_t)rank);
    if (here.idle)
        return ERGO_OK;
    if (length != glass_part_bytes(&here))
        return ERGO_FAIL(g->ctx, ERGO_E_DEVICE,
                         "rank %d sent %zu bytes of its state instead of %zu", rank, length,
                         glass_part_bytes(&here));
    glass_state_place(&here, data, g->state);
    return ERGO_OK;
}

static enum ergo_status save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct glass_state *s = opaque;
    struct ergo_text own = {0};
    struct gathering g = {
        .ctx = ctx, .shares = s->shares, .whole = glass_shape_of(s->e.batch->points[0])};
    const bool writer = ergo_ranks_rank() == 0;
    enum ergo_status status = s->shape.idle ? ERGO_OK : glass_save_part(ctx, s, member, &own);
    if (writer && status == ERGO_OK) {
        const size_t bytes = glass_state_bytes(&g.whole);
        g.state = calloc(1, bytes);
        if (!g.state)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %zu bytes", bytes);
    }
    if (writer && status == ERGO_OK) {
        memcpy(g.state, &s->hashes[member], 8);
        status = take(&g, 0, own.data, own.length);
    }
    if (status == ERGO_OK)
        status = ergo_dist_gather(ctx, &own, take, &g);
    if (writer && status == ERGO_OK) {
        ergo_text_append_bytes(text, g.state, glass_state_bytes(&g.whole));
        if (text->failed)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the words of all ranks");
    }
    free(g.state);
    ergo_text_free(&own);
    return status;
}

static enum ergo_status view(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_view *view) {
    return ergo_ranks_rank() ? ERGO_OK : glass_view(ctx, opaque, member, view);
}

const struct ergo_sampler_ops glass_cut_ops = {
    .engine = &share,
    .create = create,
    .init = glass_init,
    .count = glass_count,
    .end_curves = glass_end_curves,
    .save = save,
    .load = glass_load,
    .audit = glass_audit,
    .view = view,
};
