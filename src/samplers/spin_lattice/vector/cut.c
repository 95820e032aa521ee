/*
 * One lattice of unit vectors over ranks, a slab of layers of its last direction on each
 * (engine/slab.h): the second table of operations (sampler.h). The kernels are those of a whole
 * lattice, which take the slab with its halos for one. Sums over sites are added up over the ranks,
 * exactly, before samples are made of them.
 */
#include "dist/dist.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

static enum ergo_status cut(struct ergo_context *ctx, struct vector_state *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    struct ergo_slab *slab = &s->slab;
    s->cut = true;
    s->whole = vector_shape_of(first);
    const struct vector_shape *h = &s->whole;
    const uint64_t layers = vector_layers(h), layer = h->sites / layers;
    slab->colours = h->colours;
    slab->per_sweep = h->colours * (1 + h->relax);
    slab->bits = 8;
    const enum ergo_status status = ergo_slab_cut(ctx, slab, first, layers, h->colours, 1);
    if (status != ERGO_OK)
        return status;
    const double rate = 6e10; /* of an H100 */
    const double update = (double)layer * slab->least / (h->colours * rate);
    const bool by_colour =
        ergo_slab_prefers_colours(first, 4.0 * h->components * (double)layer, update);
    /* an exchange costs about as much as 1e6 updates of an H100, 20 us */
    const double layer_sites = (double)layer * (double)s->e.batch->count;
    ergo_slab_deepen(slab, by_colour, ergo_slab_updates(slab, first, 1e6, layer_sites), 1,
                     4.0 * h->components * (double)layer);
    s->shape = vector_shape_of_layers(h, slab->tall);
    s->first = (slab->first + layers - slab->halo) % layers * layer;
    slab->layer_words = h->components * layer / h->colours;
    slab->pitch = h->components * s->shape.sites / h->colours;
    slab->pieces = (size_t)h->colours * s->e.batch->count;
    return ERGO_OK;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct vector_state *s = state;
    enum ergo_status status = cut(ctx, s);
    if (status == ERGO_OK)
        status = vector_configure(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->from = s->slab.halo;
    s->to = s->slab.halo + s->slab.count;
    s->joined_waves =
        ergo_slab_configured(&s->e, &s->slab,
                             (struct ergo_slab_rows){VECTOR_SPINS, VECTOR_EDGES, VECTOR_HALOS,
                                                     VECTOR_PACK, VECTOR_UNPACK},
                             s->shape.space ? "vectors, cut" : "angles, cut",
                             s->waves.n * VECTOR_WAVE_NUMBERS * sizeof *s->joined_waves);
    return ergo_engine_end(&s->e);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* Waves of all ranks, added up. */
static enum ergo_status join(struct ergo_context *ctx, void *state, unsigned slot,
                             struct ergo_samples *samples) {
    struct vector_state *s = state;
    const size_t waves = VECTOR_WAVE_NUMBERS * s->waves.n;
    const size_t n = samples->n_curve_samples * s->e.batch->count * waves;
    const uint32_t *halves = n ? ergo_engine_host(&s->e, VECTOR_WAVE_COUNTS, slot, 0) : NULL;
    (void)ctx;
    for (size_t i = 0; i < n; i++)
        s->joined_waves[i] = vector_sum(halves + 2 * i);
    ergo_dist_sum_counts((uint64_t *)s->joined_waves, n);
    return ERGO_OK;
}

static const struct ergo_slab_model cuts = {.at = offsetof(struct vector_state, slab),
                                            .settle = vector_constants};

static const struct ergo_engine_model slabs = {VECTOR_ENGINE, .configure = configure,
                                               .convert = join, .slab = &cuts};

const struct ergo_sampler_ops vector_cut_ops = {.engine = &slabs, ERGO_SLAB_OPS};
