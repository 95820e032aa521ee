/*
 * One lattice with a byte per spin over ranks, a slab of layers of its last direction on each
 * (engine/slab.h): the second table of operations (sampler.h). The kernels are those of a whole
 * lattice, which take the slab with its halos for one. What is counted is added up over the ranks,
 * exactly, before samples are made of it.
 */
#include <stdlib.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool has_signs(const struct bytes_state *s) {
    bool signs = false;
    for (size_t m = 0; m < s->e.batch->count; m++)
        signs = signs || bytes_physics_of(s->e.batch->points[m]).h != 0;
    return signs && !s->whole.general;
}

static enum ergo_status cut(struct ergo_context *ctx, struct bytes_state *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    struct ergo_slab *slab = &s->slab;
    const uint32_t reach = bytes_reach(first) ? bytes_reach(first) : 1;
    s->cut = true;
    s->whole = bytes_shape_of(first);
    slab->colours = slab->per_sweep = 2;
    /* of ising the second bit is the sign of the site's random field */
    slab->bits =
        ergo_slab_bits(s->whole.kind == BYTES_ISING && !has_signs(s) ? 2 : s->whole.states);
    const uint64_t layers = bytes_layers(&s->whole);
    const enum ergo_status status = ergo_slab_cut(ctx, slab, first, layers, 2, reach);
    if (status != ERGO_OK)
        return status;
    const double layer = (double)s->whole.sites / (double)layers, rate = 8e11; /* of an H100 */
    const bool by_colour =
        ergo_slab_prefers_colours(first, layer * slab->bits / 8, layer * slab->least / (2 * rate));
    /* an exchange costs about as much as 3e6 updates of an H100, 20 us */
    const double layer_sites = layer * (double)s->e.batch->count;
    ergo_slab_deepen(slab, by_colour, ergo_slab_updates(slab, first, 3e6, layer_sites), reach,
                     s->whole.d > 2 ? layer : 0);
    s->shape = bytes_shape_of_layers(&s->whole, slab->first + layers - slab->halo, slab->tall);
    slab->layer_words = bytes_layer_rows(&s->shape) * s->shape.pitch / 4;
    slab->pitch = s->shape.colour / 4;
    slab->pieces = 2 * s->e.batch->count;
    return ERGO_OK;
}

size_t bytes_joined_numbers(const struct bytes_state *s) {
    return (size_t)s->whole.d * s->launch.reach +
           (s->launch.planes ? (size_t)s->whole.q * bytes_layers(&s->whole) : 0);
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    enum ergo_status status = cut(ctx, s);
    if (status == ERGO_OK)
        status = bytes_configure(ctx, s);
    if (status != ERGO_OK)
        return status;
    const uint64_t rows = bytes_layer_rows(&s->shape);
    s->launch.from = (uint32_t)(s->slab.halo * rows);
    s->launch.to = (uint32_t)((s->slab.halo + s->slab.count) * rows);
    s->joined_curves = ergo_slab_configured(
        &s->e, &s->slab,
        (struct ergo_slab_rows){BYTES_SPINS, BYTES_EDGES, BYTES_HALOS, BYTES_PACK, BYTES_UNPACK},
        "bytes, cut", bytes_joined_numbers(s) * sizeof *s->joined_curves);
    return ergo_engine_end(&s->e);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* Counts of all ranks, added up. */
static enum ergo_status join(struct ergo_context *ctx, void *state, unsigned slot,
                             struct ergo_samples *samples) {
    struct bytes_state *s = state;
    const size_t q = s->whole.q, numbers = bytes_joined_numbers(s);
    const size_t pairs = (size_t)s->whole.d * s->launch.reach;
    const size_t curves = numbers ? samples->n_curve_samples * s->e.batch->count : 0;
    uint64_t *wide = calloc(curves * numbers + 1, sizeof *wide);
    if (!wide)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the counts of all ranks");
    for (size_t row = 0; row < curves; row++) {
        const uint32_t *here = ergo_engine_host(&s->e, BYTES_CURVE_COUNTS, slot, 0);
        uint64_t *to = wide + row * numbers;
        here += row * s->launch.curve_length;
        for (size_t i = 0; i < pairs; i++)
            to[i] = here[i];
        for (size_t i = 0; i < q * s->slab.count && s->launch.planes; i++)
            to[pairs + q * s->slab.first + i] = here[pairs + q * s->slab.halo + i];
    }
    ergo_dist_sum_counts(wide, curves * numbers);
    for (size_t i = 0; i < curves * numbers; i++)
        s->joined_curves[i] = (uint32_t)wide[i];
    free(wide);
    return ERGO_OK;
}

/* General fields and couplings have a unit that is the same at all ranks. */
static const struct ergo_slab_model cuts = {.at = offsetof(struct bytes_state, slab),
                                            .settle = bytes_constants};

static const struct ergo_engine_model slabs = {
    BYTES_ENGINE, .configure = configure, .prepare = bytes_groups, .convert = join, .slab = &cuts};

const struct ergo_sampler_ops bytes_cut_ops = {.engine = &slabs, ERGO_SLAB_OPS};
