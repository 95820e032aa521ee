/*
 * One lattice over ranks, a slab of rows on each (engine/slab.h): the second table of operations
 * (sampler.h). The kernels are those of a whole lattice, which take the slab with its halos for
 * one. What is counted is added up over the ranks, exactly, before samples are made of it.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

static enum ergo_status refuse(struct ergo_context *ctx, const struct ising_state *s,
                               const char *key, const char *why) {
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "%s: a lattice of %lld x %lld cannot be cut over %d ranks: %s", key,
                     (long long)s->whole.lx, (long long)s->whole.ly, ergo_dist_count(), why);
}

static enum ergo_status cut(struct ergo_context *ctx, struct ising_state *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    struct ergo_slab *slab = &s->slab;
    uint32_t reach = model_correlation_every(first) ? ising_reach(first) : 1;
    s->cut = true;
    s->whole = ising_shape_of(first);
    slab->colours = slab->per_sweep = 2;
    slab->bits = 8;
    const uint32_t granule = ising_granule(&s->whole);
    if (s->whole.ly % granule)
        return refuse(ctx, s, "/system/size/1",
                      "with this Lx, words of 32 sites begin a block of random numbers in every "
                      "fourth row; make Ly a multiple of 4, or Lx one of 128");
    slab->together = s->whole.row_words % 4 ? granule : 1; /* rows of a block */
    reach = reach > 2 * slab->together ? reach : 2 * slab->together;
    if (s->whole.blocks < 8)
        return refuse(ctx, s, "/system/size", "it has fewer than 2,048 sites");
    const enum ergo_status status =
        ergo_slab_cut(ctx, slab, first, (uint64_t)s->whole.ly, granule, reach);
    if (status != ERGO_OK)
        return status;
    const double rate = 2.5e12; /* of an H100 */
    const bool by_colour = ergo_slab_prefers_colours(
        first, (double)s->whole.lx / 4, (double)s->whole.lx * slab->least / (2 * rate));
    /* an exchange costs about as much as 3e7 updates of an H100, 12 us */
    const double row_sites = (double)s->whole.lx * (double)s->e.batch->count;
    ergo_slab_deepen(slab, by_colour, ergo_slab_updates(slab, first, 3e7, row_sites), reach, 0);
    const uint64_t top = slab->first + (uint64_t)s->whole.ly - slab->halo;
    s->shape = ising_shape_of_rows(&s->whole, top, slab->tall);
    slab->layer_words = s->shape.row_words;
    slab->pitch = 4 * s->shape.blocks;
    slab->pieces = 2 * s->e.batch->count;
    return ERGO_OK;
}

size_t ising_joined_numbers(const struct ising_state *s) {
    return 2 * (size_t)s->launch.reach + (size_t)s->whole.ly;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct ising_state *s = state;
    enum ergo_status status = cut(ctx, s);
    if (status == ERGO_OK)
        status = ising_configure(ctx, s);
    if (status != ERGO_OK)
        return status;
    const uint64_t row_words = s->shape.row_words;
    s->launch.from = (uint32_t)(s->slab.halo * row_words / 4);
    s->launch.to = (uint32_t)((s->slab.halo + s->slab.count) * row_words / 4);
    s->joined_curves = ergo_slab_configured(
        &s->e, &s->slab,
        (struct ergo_slab_rows){ISING_SPINS, ISING_EDGES, ISING_HALOS, ISING_PACK, ISING_UNPACK},
        "cut", ising_joined_numbers(s) * sizeof *s->joined_curves);
    return ergo_engine_end(&s->e);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* Curves of all ranks, added up. */
static enum ergo_status join(struct ergo_context *ctx, void *state, unsigned slot,
                             struct ergo_samples *samples) {
    struct ising_state *s = state;
    const size_t curves = samples->n_curve_samples * s->e.batch->count;
    const size_t pairs = 2 * (size_t)s->launch.reach, numbers = ising_joined_numbers(s);
    (void)ctx;
    for (size_t row = 0; row < curves; row++) {
        uint64_t *to = s->joined_curves + row * numbers;
        uint64_t *here = calloc(pairs + s->launch.rows_counted + 1, sizeof *here);
        if (!here)
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for curves");
        ising_add_curve_parts(s, slot, row, here);
        memset(to, 0, numbers * sizeof *to);
        memcpy(to, here, pairs * sizeof *to);
        for (size_t y = 0; y < s->slab.count && s->launch.rows_counted; y++)
            to[pairs + s->slab.first + y] = here[pairs + s->slab.halo + y];
        free(here);
    }
    if (curves)
        ergo_dist_sum_counts(s->joined_curves, curves * numbers);
    return ERGO_OK;
}

static const struct ergo_slab_model cuts = {.at = offsetof(struct ising_state, slab)};

static const struct ergo_engine_model slabs = {
    ISING_ENGINE, .configure = configure, .prepare = ising_prepare, .convert = join, .slab = &cuts};

const struct ergo_sampler_ops ising_cut_ops = {.engine = &slabs, ERGO_SLAB_OPS};
