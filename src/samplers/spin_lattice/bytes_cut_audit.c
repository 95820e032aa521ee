/*
 * Audit of a lattice with a byte per spin that is cut over ranks: a stretch of the run, by its
 * kernels and messages; it begins with halos that last for one sweep, so that edges are exchanged
 * in it. Of a small lattice rank 0 makes the same with the host's twin, whole. Of a large one each
 * rank follows the layers at both ends of its slab, from the neighbours' layers before the stretch
 * on, and counts the sites of its layers after it. Halos have to be what the neighbours have.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

/* Some 0.1 s each on the host: as in bytes_audit.c. */
static const uint64_t replay_spins = UINT64_C(1) << 22, pair_sites = UINT64_C(1) << 27;

struct cut_stretch {
    struct bytes_stretch t; /* first, because compare gets its address */
    uint64_t sweeps;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static size_t layer_bytes(const struct bytes_state *s) {
    return (size_t)(s->whole.sites / bytes_layers(&s->whole));
}

/* The same at all ranks. */
static void plan_stretch(struct cut_stretch *c, const struct bytes_state *s) {
    struct bytes_stretch *t = &c->t;
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t sites = s->whole.sites;
    const uint64_t spins = s->whole.kind == BYTES_POTTS_HEAT ? replay_spins / 4 : replay_spins;
    const uint64_t fit = spins / sites / 2, most = fit < 3 ? 3 : fit < 64 ? fit : 64;
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), s->e.curve_interval, most,
                     s->e.block_samples);
    c->sweeps = t->r.samples * t->r.every;
    t->whole = sites * c->sweeps <= 4 * spins || 2 * c->sweeps + 4 > s->slab.least;
    for (int k = 0; k < 3; k++) {
        t->box.first[k] = 0;
        t->box.count[k] = s->whole.l[k];
    }
    const uint64_t members = spins / (sites * c->sweeps);
    t->members = members < 1                   ? 1
                 : members < s->e.batch->count ? (size_t)members
                                               : s->e.batch->count;
    t->pair_stride = (uint32_t)(sites * s->launch.reach * s->whole.d / pair_sites) | 1;
    t->pair_first = 1;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* General fields and couplings of a lattice or layers of it, in the member's known unit. */
static enum ergo_status make_terms(struct ergo_context *ctx, const struct bytes_state *s,
                                   size_t member, const struct bytes_shape *of,
                                   struct bytes_disorder *d) {
    *d = (struct bytes_disorder){.of = {of->first_row * of->l[0], of->sites},
                                 .unit = s->units[member]};
    return of->general ? bytes_disorder_part(ctx, s->e.batch->points[member], false, d) : ERGO_OK;
}

static enum ergo_status compare_whole(struct ergo_context *ctx, const struct cut_stretch *c,
                                      const struct bytes_state *s, size_t member,
                                      const uint8_t *kept, const uint8_t *found) {
    struct bytes_state alone = *s;
    struct ergo_text before = {0}, after = {0};
    enum ergo_status status = ergo_slab_gather(ctx, &s->slab, kept, layer_bytes(s), &before);
    if (status == ERGO_OK)
        status = ergo_slab_gather(ctx, &s->slab, found, layer_bytes(s), &after);
    alone.shape = s->whole;
    alone.cut = false;
    if (status == ERGO_OK && ergo_ranks_rank() == 0) {
        struct bytes_disorder d = {0};
        status = make_terms(ctx, s, member, &s->whole, &d);
        if (status == ERGO_OK)
            status = bytes_replay(ctx, &c->t, &alone, member, s->whole.general ? &d : NULL,
                                  (uint8_t *)before.data, (const uint8_t *)after.data);
        bytes_disorder_free(&d);
    }
    ergo_text_free(&before);
    ergo_text_free(&after);
    return status;
}

/* ---- a slab ------------------------------------------------------------------------------------
 */

/* n layers of the slab from number `first` on, from before the stretch on. wide: the slab's layers
 * before it, with a margin of the neighbours'. */
static enum ergo_status follow_layers(struct ergo_context *ctx, const struct cut_stretch *c,
                                      const struct bytes_state *s, size_t member, uint8_t *wide,
                                      const uint8_t *found, size_t first, size_t n) {
    const struct ergo_slab *slab = &s->slab;
    const size_t layer = layer_bytes(s), margin = 2 * c->sweeps;
    const struct bytes_shape band = bytes_shape_of_layers(
        &s->whole, slab->first + slab->layers + first - margin, n + 2 * margin);
    struct bytes_box box = {{0, 0, 0}, {band.l[0], band.l[1], band.l[2]}};
    struct bytes_disorder d;
    enum ergo_status status = make_terms(ctx, s, member, &band, &d);
    box.first[band.d - 1] = (uint32_t)margin;
    box.count[band.d - 1] = (uint32_t)n;
    if (status == ERGO_OK) {
        uint8_t *own = wide + first * layer; /* its margin begins there */
        bytes_twin_box(&band, &s->members[member], band.general ? &d : NULL, c->t.r.step, c->sweeps,
                       &box, own);
        if (memcmp(own + margin * layer, found + (slab->halo + first) * layer, n * layer) != 0)
            status = ergo_replay_differs(ctx, &c->t.r, member, "the lattices");
    }
    bytes_disorder_free(&d);
    return status;
}

/* The first and last layers of the slab, of an even number. */
static enum ergo_status follow(struct ergo_context *ctx, const struct cut_stretch *c,
                               const struct bytes_state *s, size_t member, const uint8_t *kept,
                               const uint8_t *found) {
    const struct ergo_slab *slab = &s->slab;
    const size_t layer = layer_bytes(s), margin = 2 * c->sweeps, count = slab->count;
    const uint64_t fit = replay_spins / (layer * c->sweeps * 2) / 2 * 2;
    const size_t some = fit < 2 ? 2 : (size_t)fit;
    const bool all = 2 * (some + 2 * margin) >= count;
    uint8_t *wide = NULL;
    enum ergo_status status =
        ergo_slab_widen(ctx, slab, kept + slab->halo * layer, layer, margin, &wide);
    if (status == ERGO_OK)
        status = follow_layers(ctx, c, s, member, wide, found, 0, all ? count : some);
    if (status == ERGO_OK && !all)
        status = follow_layers(ctx, c, s, member, wide, found, count - some, some);
    free(wide);
    return status;
}

/* What the device has of these: the audit has checked that it is what the host wrote. */
static enum ergo_status read_terms(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                                   struct bytes_disorder *d) {
    const struct bytes_member *m = &s->members[member];
    const size_t length = bytes_terms_length(&s->shape);
    if (!s->shape.general)
        return ERGO_OK;
    int32_t *packed = malloc(4 * length);
    if (!packed)
        return no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, BYTES_TERMS, 4 * length * member, 4 * length, packed);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = bytes_terms_unpack(ctx, &s->shape, packed, d);
    d->unit = s->units[member];
    memcpy(d->j, m->j, sizeof d->j);
    d->field = m->field;
    d->crystal = m->crystal;
    free(packed);
    return status;
}

/* Of counts the sums over all ranks, modulo 2^32. */
static void sum(const uint64_t *wide, uint32_t *counts, size_t n) {
    for (size_t i = 0; i < n; i++)
        counts[i] = (uint32_t)wide[i];
}

/* The last sample: own layers counted, and those of all ranks added up. wide: with margins of
 * neighbours'. */
static enum ergo_status count(struct ergo_context *ctx, const struct cut_stretch *c,
                              struct bytes_state *s, size_t member, const uint8_t *wide,
                              size_t margin) {
    const struct bytes_stretch *t = &c->t;
    const struct ergo_slab *slab = &s->slab;
    const size_t members = s->e.batch->count, own = slab->count, q = s->whole.q;
    const size_t rows = (size_t)bytes_layer_rows(&s->whole), reach = s->launch.reach;
    const size_t pairs = s->whole.d * reach, layers = bytes_layers(&s->whole);
    const size_t numbers = s->shape.numbers, curves = pairs + q * layers;
    const struct bytes_shape band =
        bytes_shape_of_layers(&s->whole, slab->first + layers - margin, own + 2 * margin);
    const size_t n = numbers > curves ? numbers : curves, of_band = pairs + q * (own + 2 * margin);
    uint64_t *sums = calloc(n, sizeof *sums);
    uint32_t *counts = calloc(n > of_band ? n : of_band, sizeof *counts);
    struct bytes_disorder d = {0};
    enum ergo_status status = sums && counts ? read_terms(ctx, s, member, &d) : no_memory(ctx);
    if (status == ERGO_OK) {
        bytes_twin_count_rows(&s->shape, &s->members[member], s->whole.general ? &d : NULL, wide,
                              margin * rows, (margin + own) * rows, counts);
        status = bytes_sum_counts(ctx, &s->shape, counts, 1);
    }
    if (status == ERGO_OK)
        status =
            bytes_compare_counts(ctx, t, s, member, counts, (t->r.samples - 1) * members + member);
    if (status == ERGO_OK && ergo_replay_has_curve(&t->r, s->e.curve_interval, t->r.samples - 1)) {
        size_t before = 0;
        memset(sums, 0, n * sizeof *sums);
        if (!bytes_twin_pairs(&band, wide, margin * rows, (margin + own) * rows, (uint32_t)reach,
                              t->pair_first, t->pair_stride, counts))
            status = no_memory(ctx);
        if (s->launch.planes)
            bytes_twin_planes(&band, &s->members[member], wide, counts + pairs);
        for (size_t i = 0; i < pairs; i++)
            sums[i] = counts[i];
        for (size_t i = 0; i < q * own && s->launch.planes; i++)
            sums[pairs + q * slab->first + i] = counts[pairs + q * margin + i];
        if (status == ERGO_OK) {
            ergo_dist_sum_counts(sums, curves);
            sum(sums, counts, curves);
            for (size_t i = 0; i + 1 < t->r.samples; i++)
                before += ergo_replay_has_curve(&t->r, s->e.curve_interval, i);
            status = bytes_compare_curves(ctx, t, s, member, counts, before * members + member);
        }
    }
    bytes_disorder_free(&d);
    free(sums);
    free(counts);
    return status;
}

/* ---- together ----------------------------------------------------------------------------------
 */

/* Are the bytes of all layers states, with the signs of the random field? At step 0, are they the
 * job's start? */
static bool is_sound(const struct bytes_state *s, size_t member, const uint8_t *tall, bool start) {
    const struct bytes_shape *h = &s->shape;
    const struct bytes_member *m = &s->members[member];
    const char *mode = ergo_point_text(s->e.batch->points[member], "/system/start");
    const unsigned states = h->kind == BYTES_ISING && !s->fields ? 2 : h->states;
    const size_t lx = h->l[0], rows = (size_t)bytes_layer_rows(h);
    const size_t first = (s->slab.halo - s->slab.valid) * rows;
    const size_t end = (s->slab.halo + s->slab.count + s->slab.valid) * rows;
    uint8_t *expected = malloc(lx);
    bool sound = expected != NULL;
    for (size_t row = first; row < end && sound; row++) {
        const uint8_t *own = tall + row * lx;
        for (size_t x = 0; x < lx; x++)
            sound = sound && own[x] < states;
        if (!start && !s->fields)
            continue;
        for (size_t x = 0; x < lx; x++)
            expected[x] = own[x] & 1;
        if (start)
            bytes_twin_start_row(h, m, mode, row, expected);
        if (s->fields)
            bytes_twin_field_row(h, m, row, expected);
        sound = sound && memcmp(expected, own, lx) == 0;
    }
    free(expected);
    return sound;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct cut_stretch *c,
                                       struct bytes_state *s, size_t member, const uint8_t *kept,
                                       const uint8_t *raw) {
    const struct ergo_replay *r = &c->t.r;
    const struct ergo_slab *slab = &s->slab;
    const struct ergo_checkerboard board = bytes_board(&s->shape);
    const size_t layer = layer_bytes(s), margin = slab->halo;
    uint8_t *before = calloc(s->shape.sites, 1), *after = calloc(s->shape.sites, 1), *wide = NULL;
    enum ergo_status status = before && after ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_checkerboard_pack(&board, kept, before);
        ergo_checkerboard_pack(&board, raw, after);
    }
    if (status == ERGO_OK && r->step == 0 && !s->e.carried && !is_sound(s, member, before, true))
        status = ergo_replay_differs(ctx, r, member, "the start or the random field");
    if (status == ERGO_OK && !is_sound(s, member, after, false))
        status = ergo_replay_differs(ctx, r, member,
                                     "states of a spin, or the signs of its random field,");
    if (status == ERGO_OK)
        status = c->t.whole ? compare_whole(ctx, c, s, member, before, after)
                            : follow(ctx, c, s, member, before, after);
    if (status == ERGO_OK)
        status = ergo_slab_widen(ctx, slab, after + margin * layer, layer, margin, &wide);
    if (status == ERGO_OK && !ergo_slab_halos_agree(slab, after, wide, layer, margin))
        status = ergo_replay_differs(ctx, r, member, "halos of a slab");
    if (status == ERGO_OK && !c->t.whole)
        status = count(ctx, c, s, member, wide, margin);
    free(before);
    free(after);
    free(wide);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct cut_stretch *c = (const struct cut_stretch *)r;
    struct bytes_state *s = r->state;
    const size_t bytes = (size_t)(2 * s->shape.colour);
    uint8_t *raw = malloc(bytes), *kept = malloc(bytes);
    enum ergo_status status = raw && kept ? ERGO_OK : no_memory(ctx);
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        if (!ergo_replay_takes(r, c->t.members, m))
            continue;
        status = ergo_replay_before(ctx, r, BYTES_SPINS, m * bytes, bytes, kept);
        if (status == ERGO_OK)
            status = bytes_read(ctx, s, m, raw);
        if (status == ERGO_OK)
            status = compare_member(ctx, c, s, m, kept, raw);
    }
    free(kept);
    free(raw);
    return status;
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct bytes_state *s = state;
    s->slab.valid = 2; /* fewer than are right */
    return ergo_engine_advance(ctx, state, slot, count, every, first_sample);
}

enum ergo_status bytes_cut_audit(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    size_t sizes[LATTICE_CURVES];
    const struct ergo_replay_row valid[] = {
        {"halos", ERGO_REPLAY_HOST, NULL, &s->slab.valid, sizeof s->slab.valid}};
    struct cut_stretch c = {.t = {.r = {.n_columns = s->e.batch->job->model->n_columns,
                                        .n_curves = LATTICE_CURVES,
                                        .curve_sizes = sizes,
                                        .advance = advance,
                                        .compare = compare}}};
    ergo_slab_log(ctx, &s->slab);
    plan_stretch(&c, s);
    for (size_t k = 0; k < LATTICE_CURVES; k++)
        sizes[k] = bytes_curve_size(s->e.batch->points[0], k);
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &c.t.r, valid, 1);
    ergo_slab_log(NULL, &s->slab);
    return status;
}
