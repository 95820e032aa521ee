/*
 * Spin glasses with their word-lattices over ranks: the second table of operations (sampler.h).
 *
 * A rank has a range of each member's words, with their ladders whole: words share nothing but the
 * job, so that no rank waits for another in a sweep or an exchange. What they measure goes to all
 * ranks with each sample. A ladder itself is not divided: ranks beyond the number of words are
 * idle.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/glass.h"
#include "samplers/spin_lattice/models.h"

/* Word-lattices before those of rank r; rank 0 is never idle. */
static uint32_t before(const struct glass_shape *s, size_t r) {
    const size_t ranks = (size_t)ergo_dist_count();
    return (uint32_t)((s->all * r + ranks - 1) / ranks);
}

static struct glass_shape share_of(const struct ergo_point *point) {
    struct glass_shape s = glass_shape_of(point);
    const size_t rank = (size_t)ergo_ranks_rank();
    s.first = before(&s, rank);
    s.words = before(&s, rank + 1) - s.first;
    s.idle = s.words == 0;
    if (s.idle) {
        s.first = s.all - 1;
        s.words = 1;
    }
    return s;
}

enum ergo_status glass_words(struct ergo_context *ctx, const struct glass_state *s, size_t members,
                             size_t width, const void *mine, void *all) {
    const struct glass_shape *h = &s->shape;
    if (!s->cut) {
        memcpy(all, mine, members * h->words * width);
        return ERGO_OK;
    }
    const size_t ranks = (size_t)ergo_dist_count(), most = (h->all + ranks - 1) / ranks;
    const size_t share = members * most * width;
    char *own = calloc(1, share), *from = malloc(ranks * share);
    enum ergo_status status =
        own && from ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for other ranks' words");
    if (status == ERGO_OK) {
        if (!h->idle)
            memcpy(own, mine, members * h->words * width);
        ergo_dist_collect(own, share, from);
        for (size_t r = 0; r < ranks; r++) {
            const size_t first = before(h, r), words = before(h, r + 1) - first;
            for (size_t m = 0; m < members && words; m++)
                memcpy((char *)all + (m * h->all + first) * width,
                       from + r * share + m * words * width, words * width);
        }
    }
    free(own);
    free(from);
    return status;
}

/* The same blocks on all ranks: the shortest that any of them wants. */
static enum ergo_status plan_share(struct ergo_context *ctx, const struct ergo_batch *batch,
                                   const struct ergo_device *device, struct glass_shape *shape,
                                   struct glass_launch *launch, struct ergo_plan *plan) {
    *shape = share_of(batch->points[0]);
    const enum ergo_status status = glass_launch_plan(ctx, batch, device, shape, launch, plan);
    if (status != ERGO_OK)
        return status;
    const size_t ranks = (size_t)ergo_dist_count();
    const double own[2] = {plan->block_steps, (double)plan->block_samples};
    double *all = malloc(ranks * sizeof own);
    if (!all)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    ergo_dist_collect(own, sizeof own, all);
    for (size_t r = 0; r < ranks; r++) {
        plan->block_steps = fmin(plan->block_steps, all[2 * r]);
        plan->block_samples = (size_t)fmin((double)plan->block_samples, all[2 * r + 1]);
    }
    free(all);
    launch->block_samples = plan->block_samples;
    const size_t length = strlen(plan->launch);
    snprintf(plan->launch + length, sizeof plan->launch - length, "; of all %u words a chain %u",
             shape->all, shape->idle ? 0 : shape->words);
    return ERGO_OK;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    struct glass_shape shape;
    struct glass_launch launch;
    return plan_share(ctx, batch, device, &shape, &launch, plan);
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    struct glass_shape shape;
    struct glass_launch launch;
    struct ergo_plan unused;
    *state = NULL;
    enum ergo_status status = plan_share(ctx, batch, device, &shape, &launch, &unused);
    if (status == ERGO_OK)
        status = glass_create(ctx, batch, device, &shape, &launch, state);
    if (status != ERGO_OK)
        return status;
    struct glass_state *s = *state;
    s->ops = &glass_cut_ops;
    s->cut = true;
    if (s->shape.all < (uint32_t)ergo_dist_count() && ergo_ranks_rank() == 0)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "%d ranks share %u words of 32 samples: the others are idle (a ladder is not "
                 "divided)",
                 ergo_dist_count(), s->shape.all);
    return ERGO_OK;
}

static enum ergo_status advance(struct ergo_context *ctx, void *opaque, unsigned which,
                                size_t count, uint64_t every, uint64_t first_sample) {
    struct glass_state *s = opaque;
    if (!s->shape.idle)
        return glass_advance(ctx, opaque, which, count, every, first_sample);
    s->slots[which].samples = count;
    s->step += count ? count * every : every;
    return ERGO_OK;
}

struct gathering {
    struct ergo_context *ctx;
    struct ergo_text *text;
};

static enum ergo_status take(void *user, int rank, const char *data, size_t length) {
    struct gathering *g = user;
    (void)rank;
    ergo_text_append_bytes(g->text, data, length);
    return ERGO_OK;
}

/* Words follow each other in the state as in the ranks. */
static enum ergo_status save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    const struct glass_state *s = opaque;
    struct ergo_text none = {0}, own = {0};
    struct gathering g = {.ctx = ctx, .text = text};
    enum ergo_status status = ERGO_OK;
    if (ergo_ranks_rank() == 0)
        status = glass_save(ctx, opaque, member, text);
    else if (!s->shape.idle)
        status = glass_save(ctx, opaque, member, &own);
    if (status == ERGO_OK)
        status = ergo_dist_gather(ctx, ergo_ranks_rank() ? &own : &none, take, &g);
    if (status == ERGO_OK && text->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the words of all ranks");
    ergo_text_free(&own);
    return status;
}

static enum ergo_status audit(struct ergo_context *ctx, void *opaque) {
    const struct glass_state *s = opaque;
    return s->shape.idle ? ERGO_OK : glass_audit(ctx, opaque);
}

static enum ergo_status picture(struct ergo_context *ctx, void *opaque, size_t member,
                                struct ergo_picture *picture) {
    memset(picture, 0, sizeof *picture);
    return ergo_ranks_rank() ? ERGO_OK : glass_picture(ctx, opaque, member, picture);
}

const struct ergo_sampler_ops glass_cut_ops = {
    .check = glass_check,
    .plan = plan,
    .create = create,
    .init = glass_init,
    .advance = advance,
    .collect = glass_collect,
    .curve_size = glass_curve_size,
    .curve_x = glass_curve_x,
    .curve_every = glass_curve_every,
    .end_curves = glass_end_curves,
    .save = save,
    .load = glass_load,
    .audit = audit,
    .picture = picture,
    .exact = glass_exact,
    .destroy = glass_destroy,
};
