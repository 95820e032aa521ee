/*
 * Audit of a lattice of unit vectors that is cut over ranks: a stretch of the run, by its kernels
 * and messages; it begins with halos that last for one sweep at most, so that edges are exchanged
 * in it. Of a small lattice rank 0 makes the same with the host's twin, whole. Of a large one each
 * rank follows the layers at both ends of its slab, or some rows of these, from the neighbours'
 * layers before the stretch on, and counts the sites of its layers after it. Halos have to be what
 * the neighbours have.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"

enum { END = 2 }; /* layers at each end of a slab that are followed */

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static size_t layer_bytes(const struct vector_state *s) {
    return 4 * vector_words(&s->whole, vector_slab_of(&s->whole, 0, 1));
}

static uint32_t margin_of(const struct vector_stretch *t, const struct vector_state *s) {
    return (uint32_t)vector_twin_margin(&s->whole, t->r.samples * t->r.every);
}

/* The same at all ranks. */
static void choose_slab(struct vector_stretch *t, const struct vector_state *s) {
    const struct vector_shape *h = &s->whole;
    const uint64_t sweeps = t->r.samples * t->r.every;
    const uint32_t margin = margin_of(t, s), layers = vector_layers(h);
    t->whole = h->sites * (1 + h->relax) * sweeps <= 4 * VECTOR_REPLAY_SPINS ||
               margin + END > s->slab.least || END + 2 * margin >= layers;
    t->slab = t->whole ? vector_slab_of(h, 0, layers)
                       : vector_twin_window(h, vector_slab_of(h, 0, END), sweeps);
}

/* Some of the device's layers, now or as before the stretch; malloc'ed. */
static enum ergo_status read_layers(struct ergo_context *ctx, const struct vector_stretch *t,
                                    struct vector_state *s, size_t member, bool before,
                                    struct vector_slab slab, uint32_t **sites) {
    struct vector_part part = {slab, malloc(4 * vector_words(&s->shape, slab) + 1)};
    struct vector_reader reader;
    enum ergo_status status =
        vector_reader_open(&reader, s, slab) && part.sites ? ERGO_OK : no_memory(ctx);
    reader.before = before ? &t->r : NULL;
    if (status == ERGO_OK)
        status = vector_read(ctx, &reader, member, &part);
    vector_reader_close(&reader);
    *sites = part.sites;
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Couplings and fields of some sites, in the member's known units. */
static enum ergo_status make_terms(struct ergo_context *ctx, const struct vector_state *s,
                                   size_t member, struct model_sites of, struct vector_terms *d) {
    *d = (struct vector_terms){.of = of,
                               .bond_unit = s->physics[member].bond_unit,
                               .field_unit = s->physics[member].field_unit};
    return vector_terms_length(&s->whole)
               ? vector_terms_make(ctx, s->e.batch->points[member], false, d)
               : ERGO_OK;
}

static enum ergo_status compare_whole(struct ergo_context *ctx, const struct vector_stretch *t,
                                      struct vector_state *s, size_t member) {
    struct ergo_text whole[2] = {{0}};
    enum ergo_status status = ERGO_OK;
    for (int k = 0; k < 2 && status == ERGO_OK; k++) {
        uint32_t *tall = NULL;
        status = read_layers(ctx, t, s, member, k == 0, vector_slab_of(&s->shape, 0, s->slab.tall),
                             &tall);
        if (status == ERGO_OK)
            status = ergo_slab_gather(ctx, &s->slab, tall, layer_bytes(s), &whole[k]);
        free(tall);
    }
    if (status == ERGO_OK && ergo_ranks_rank() == 0) {
        const struct vector_part before = {t->slab, (uint32_t *)(void *)whole[0].data},
                                 after = {t->slab, (uint32_t *)(void *)whole[1].data};
        struct vector_terms d;
        status = make_terms(ctx, s, member, (struct model_sites){0, s->whole.sites}, &d);
        if (status == ERGO_OK)
            status = vector_replay(ctx, t, s, member, &d, &before, &after);
        vector_terms_free(&d);
    }
    ergo_text_free(&whole[0]);
    ergo_text_free(&whole[1]);
    return status;
}

/* ---- a slab ---------------------------------------------------------------------------------- */

/* An end of the slab, from its layer `into` on: `before` has these layers with their margin. */
static enum ergo_status follow_end(struct ergo_context *ctx, const struct vector_stretch *t,
                                   struct vector_state *s, size_t member, uint32_t into,
                                   /* NOLINTNEXTLINE(readability-non-const-parameter): the twin */
                                   uint32_t *before) {
    const struct ergo_slab *slab = &s->slab;
    const uint32_t layers = vector_layers(&s->whole);
    const uint64_t layer = s->whole.sites / layers;
    struct vector_stretch here = *t;
    here.slab.first = (uint32_t)((slab->first + into) % layers);
    const struct vector_part from = {
        vector_twin_around(&s->whole, here.slab, t->r.samples * t->r.every), before};
    struct vector_part to = {here.slab, NULL};
    struct vector_slab own = here.slab; /* as the device numbers layers */
    struct vector_terms d;
    own.first = slab->halo + into;
    enum ergo_status status = make_terms(
        ctx, s, member, (struct model_sites){from.slab.first * layer, from.slab.count * layer}, &d);
    if (status == ERGO_OK)
        status = read_layers(ctx, t, s, member, false, own, &to.sites);
    if (status == ERGO_OK)
        status = vector_replay(ctx, &here, s, member, &d, &from, &to);
    free(to.sites);
    vector_terms_free(&d);
    return status;
}

/* The first and last layers of the slab, from before the stretch on. */
static enum ergo_status follow(struct ergo_context *ctx, const struct vector_stretch *t,
                               struct vector_state *s, size_t member) {
    const struct ergo_slab *slab = &s->slab;
    const uint32_t margin = margin_of(t, s), some = END + margin;
    struct vector_slab near = vector_twin_around(&s->whole, t->slab, t->r.samples * t->r.every);
    near.count = 1;
    const size_t layer = 4 * vector_words(&s->whole, near);
    const size_t beside = layer * margin, own = layer * some;
    uint8_t *top = malloc(beside + own), *bottom = malloc(beside + own);
    uint32_t *first = NULL, *last = NULL;
    enum ergo_status status = top && bottom ? ERGO_OK : no_memory(ctx);
    near.count = some;
    near.first = slab->halo;
    if (status == ERGO_OK)
        status = read_layers(ctx, t, s, member, true, near, &first);
    near.first = slab->halo + slab->count - some;
    if (status == ERGO_OK)
        status = read_layers(ctx, t, s, member, true, near, &last);
    if (status == ERGO_OK) {
        memcpy(top + beside, first, own);
        memcpy(bottom, last, own);
        status =
            ergo_slab_trade(ctx, slab, first, bottom + own - beside, top, bottom + own, beside);
    }
    if (status == ERGO_OK)
        status = follow_end(ctx, t, s, member, 0, (uint32_t *)(void *)top);
    if (status == ERGO_OK)
        status = follow_end(ctx, t, s, member, slab->count - END, (uint32_t *)(void *)bottom);
    free(first);
    free(last);
    free(top);
    free(bottom);
    return status;
}

/* Are the halos on the device, as far as they are said to be right, the neighbours' layers? */
static enum ergo_status compare_halos(struct ergo_context *ctx, const struct vector_stretch *t,
                                      struct vector_state *s, size_t member) {
    const struct ergo_slab *slab = &s->slab;
    const uint32_t valid = slab->valid, halo = slab->halo, end = halo + slab->count;
    const uint32_t at[4] = {halo - valid, halo, end - valid, end}; /* of halos and edges */
    const size_t bytes = layer_bytes(s) * valid;
    uint32_t *sites[4] = {NULL};
    uint8_t *theirs = malloc(2 * bytes + 1);
    enum ergo_status status = theirs ? ERGO_OK : no_memory(ctx);
    for (int k = 0; k < 4 && status == ERGO_OK; k++)
        status = read_layers(ctx, t, s, member, false, vector_slab_of(&s->shape, at[k], valid),
                             &sites[k]);
    if (status == ERGO_OK)
        status = ergo_slab_trade(ctx, slab, sites[1], sites[2], theirs, theirs + bytes, bytes);
    if (status == ERGO_OK &&
        (memcmp(theirs, sites[0], bytes) != 0 || memcmp(theirs + bytes, sites[3], bytes) != 0))
        status = ergo_replay_differs(ctx, &t->r, member, "halos of a slab");
    for (int k = 0; k < 4; k++)
        free(sites[k]);
    free(theirs);
    return status;
}

/* The last sample: own layers counted, and those of all ranks added up. */
static enum ergo_status compare_last(struct ergo_context *ctx, const struct vector_stretch *t,
                                     struct vector_state *s, size_t member) {
    const uint32_t from = s->slab.halo, to = from + s->slab.count;
    struct vector_sums sums = {0};
    struct vector_terms d = {0};
    enum ergo_status status = ERGO_OK;
    if (vector_terms_length(&s->shape))
        status = vector_read_terms(ctx, s, member, &d);
    if (status == ERGO_OK)
        status = vector_add_layers(ctx, t, s, member, &d, from, to, &sums);
    vector_terms_free(&d);
    if (status != ERGO_OK)
        return status;
    ergo_dist_sum_counts((uint64_t *)(void *)&sums, sizeof sums / sizeof(uint64_t));
    return vector_compare_sample(ctx, t, s, member, t->r.samples - 1, &sums);
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct vector_stretch *t = (const struct vector_stretch *)r;
    struct vector_state *s = r->state;
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        const bool replayed = ergo_replay_takes(r, t->members, m);
        if (replayed)
            status = t->whole ? compare_whole(ctx, t, s, m) : follow(ctx, t, s, m);
        if (status == ERGO_OK)
            status = compare_halos(ctx, t, s, m);
        if (status == ERGO_OK && !(replayed && t->whole))
            status = compare_last(ctx, t, s, m);
    }
    return status;
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct vector_state *s = state;
    if (s->slab.valid > s->shape.colours) /* no more than are right */
        s->slab.valid = s->shape.colours;
    return ergo_engine_advance(ctx, state, slot, count, every, first_sample);
}

enum ergo_status vector_cut_audit(struct ergo_context *ctx, void *opaque) {
    struct vector_state *s = opaque;
    const size_t sizes[VECTOR_CURVES] = {s->waves.n};
    const struct ergo_replay_row valid[] = {
        {"halos", ERGO_REPLAY_HOST, NULL, &s->slab.valid, sizeof s->slab.valid}};
    struct vector_stretch t = {.r = {.n_columns = VECTOR_COLUMNS,
                                     .n_curves = VECTOR_CURVES,
                                     .curve_sizes = sizes,
                                     .step = s->e.step,
                                     .members = s->e.batch->count,
                                     .advance = advance,
                                     .compare = compare}};
    ergo_slab_log(ctx, &s->slab);
    vector_plan_stretch(&t, s);
    choose_slab(&t, s);
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &t.r, valid, 1);
    ergo_slab_log(NULL, &s->slab);
    return status;
}
