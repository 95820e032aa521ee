/*
 * Spin glasses over ranks: the second table of operations (sampler.h). What a rank has, words with
 * whole ladders or a part of one ladder, is share.c's to say. What is measured goes to all
 * ranks with each sample.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"

enum { BEFORE = 8 }; /* bytes of a state that are before the words */

/* The same blocks on all ranks, the shortest that any of them wants, and as the plan has promised:
 * also after a trial. */
static void agree(struct glass_state *s) {
    s->e.plan.block_steps = ergo_dist_min(s->e.plan.block_steps);
    if (!s->block_samples)
        s->block_samples = (size_t)ergo_dist_min((double)s->e.block_samples);
    s->e.block_samples = s->block_samples;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct glass_state *s = state;
    const struct ergo_point *first = s->e.batch->points[0];
    const struct glass_shape all = glass_shape_of(first), *h = &s->shape;
    struct ergo_plan *plan = &s->e.plan;
    if (!s->shares)
        s->shares = ergo_shares_create(ctx, first);
    if (!s->shares)
        return ERGO_E_MEMORY;
    s->shape = glass_share_of(&all, s->shares, (size_t)ergo_ranks_rank());
    const enum ergo_status status = glass_configure(ctx, s);
    if (status == ERGO_OK)
        agree(s);
    const size_t length = strlen(plan->launch);
    snprintf(plan->launch + length, sizeof plan->launch - length,
             "; of all %u words a chain %u, of %u temperatures %u", h->all, h->idle ? 0 : h->words,
             h->rungs, h->idle ? 0 : h->temperatures);
    return status;
}

static const struct ergo_engine_model share = {GLASS_MODEL, .configure = configure};

/* A sweep without exchanges, which would wait for others; also of a rank that is idle. */
static enum ergo_status sweep_alone(struct ergo_context *ctx, void *state) {
    struct glass_state *s = state;
    const struct glass_shape shape = s->shape;
    s->shape.swap_every = UINT32_MAX;
    s->feedback.automatic = false;
    s->shape.idle = false;
    enum ergo_status status = ergo_engine_advance(ctx, s, 0, 0, 1, 0);
    if (status == ERGO_OK)
        status = ergo_device_finish(ctx, s->e.device);
    s->shape = shape;
    s->feedback.automatic = shape.automatic;
    return status;
}

/* Shares of words, or of ladders, by a trial. */
static enum ergo_status share_by_speed(struct ergo_context *ctx, struct glass_state *s) {
    bool uneven = false;
    enum ergo_status status = ergo_engine_init(ctx, s);
    if (status == ERGO_OK)
        status = ergo_shares_try(ctx, s->shares, (double)s->shape.words * s->shape.quads,
                                 sweep_alone, s, &uneven);
    if (!uneven)
        return status;
    glass_border_destroy(s->border);
    s->border = NULL;
    return ergo_engine_remake(ctx, s);
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
    const size_t ranks = (size_t)ergo_dist_count();
    const bool divided = ranks < whole.all || (ranks > whole.all && whole.quads > 1);
    enum ergo_status status = ergo_engine_create(ctx, &share, batch, device, state);
    if (status == ERGO_OK && divided && ((struct glass_state *)*state)->shares->measured)
        status = share_by_speed(ctx, *state);
    if (status == ERGO_OK) {
        tell(ctx, &((struct glass_state *)*state)->shape);
    } else {
        ergo_engine_destroy(*state);
        *state = NULL;
    }
    return status;
}

struct gathering {
    struct ergo_context *ctx;
    const struct ergo_shares *shares;
    struct glass_shape whole;
    char *state; /* of all words; NULL: this rank does not write */
};

/* What a share's words have in states, and what is before them: the hash of the couplings. */
static size_t words_bytes(const struct glass_shape *s) {
    struct ergo_form form;
    ergo_fields_form(&glass_fields, s, &form);
    return form.bytes - BEFORE - (s->automatic ? 8 * (size_t)s->rungs : 0);
}

static enum ergo_status take(void *user, int rank, const char *data, size_t length) {
    struct gathering *g = user;
    const struct glass_shape here = glass_share_of(&g->whole, g->shares, (size_t)rank);
    if (here.idle)
        return ERGO_OK;
    if (length < BEFORE + words_bytes(&here))
        return ERGO_FAIL(g->ctx, ERGO_E_DEVICE,
                         "rank %d sent %zu bytes of its state instead of %zu", rank, length,
                         BEFORE + words_bytes(&here));
    glass_state_move(&here, (char *)(uintptr_t)data + BEFORE, g->state + BEFORE, true);
    return ERGO_OK;
}

/* Rank 0 has the hash and the temperatures in its own part, before and behind the words. */
static enum ergo_status save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct glass_state *s = opaque;
    struct ergo_text own = {0};
    struct gathering g = {
        .ctx = ctx, .shares = s->shares, .whole = glass_shape_of(s->e.batch->points[0])};
    const size_t words = words_bytes(&g.whole);
    enum ergo_status status = ergo_fields_save(ctx, s, member, &own);
    const size_t behind = BEFORE + words_bytes(&s->shape);
    if (ergo_ranks_rank() == 0 && status == ERGO_OK) {
        g.state = ergo_text_extend(text, own.length + words - words_bytes(&s->shape));
        if (!g.state)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the words of all ranks");
    }
    if (g.state && status == ERGO_OK) {
        memcpy(g.state, own.data, BEFORE);
        memcpy(g.state + BEFORE + words, own.data + behind, own.length - behind);
        status = take(&g, 0, own.data, own.length);
    }
    if (status == ERGO_OK)
        status = ergo_dist_gather(ctx, &own, take, &g);
    ergo_text_free(&own);
    return status;
}

/* The part of a whole state that is this rank's, loaded or carried. */
static enum ergo_status part(struct ergo_context *ctx, struct glass_state *s, size_t member,
                             uint64_t step, const char *bytes, size_t length, bool carry) {
    const struct glass_shape whole = glass_shape_of(s->e.batch->points[0]);
    const size_t all = BEFORE + words_bytes(&whole), mine = BEFORE + words_bytes(&s->shape);
    const size_t tail = s->shape.automatic ? 8 * (size_t)s->shape.rungs : 0;
    if (length != all + tail)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, all + tail);
    char *own = malloc(mine + tail);
    if (!own)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    memcpy(own, bytes, BEFORE);
    glass_state_move(&s->shape, own + BEFORE, (char *)(uintptr_t)bytes + BEFORE, false);
    memcpy(own + mine, bytes + all, tail);
    const enum ergo_status status = carry
                                        ? ergo_fields_carry(ctx, s, member, own, mine + tail)
                                        : ergo_fields_load(ctx, s, member, step, own, mine + tail);
    free(own);
    return status;
}

static enum ergo_status load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    return part(ctx, state, member, step, bytes, length, false);
}

static enum ergo_status carry(struct ergo_context *ctx, void *state, size_t member,
                              const void *bytes, size_t length) {
    return part(ctx, state, member, 0, bytes, length, true);
}

static enum ergo_status view(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_view *view) {
    return ergo_ranks_rank() ? ERGO_OK : ergo_fields_view(ctx, opaque, member, view);
}

static bool adapts(const void *opaque) {
    return ((const struct glass_state *)opaque)->shares->measured;
}

const struct ergo_sampler_ops glass_cut_ops = {
    .engine = &share,
    .create = create,
    .adapts = adapts,
    .init = ergo_engine_init,
    .count = glass_count,
    .end_curves = glass_end_curves,
    .save = save,
    .load = load,
    .carry = carry,
    .view = view,
};
