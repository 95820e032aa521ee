/*
 * Audit of spins that are unit vectors: a stretch of the run, repeated by the run's launches and by
 * the host's twin.
 *
 * Small lattices are compared as a whole, sample by sample, for as many members as the host has
 * time for, among them the last one. Of a large lattice the twin follows the planes on either side
 * of the last dimension's boundary. Measurements of such a lattice, and of members that are not
 * replayed, are checked for the last sample: the host counts the spins at the end on the device. At
 * step 0 the starting configuration is compared, too.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"

/* Some 0.1 s on the host: spin updates of the twin. */
static const uint64_t replay_spins = UINT64_C(1) << 19;
/* Most sweeps of the stretch. More would find nothing else. */
static const uint64_t replay_sweeps = 64;

struct stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* members that are replayed */
    struct vector_slab slab;
    bool whole; /* the slab is the lattice */
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Plan the stretch like the run, if the host has time for that. */
static void plan_stretch(struct stretch *t, const struct vector_state *s) {
    const struct vector_shape *h = &s->shape;
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t work = h->sites * (1 + h->relax), side = h->l[h->d - 1];
    const uint64_t run = (uint64_t)(ergo_point_int(point, "/run/equilibration") +
                                    ergo_point_int(point, "/run/sweeps"));
    const size_t count = s->e.batch->count, two = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most = least(least(replay_spins / work / (count < 2 ? 1 : 2), replay_sweeps), run);
    most = most > two ? most : two;
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), s->e.curve_interval, most,
                     s->e.block_samples);
    const uint64_t sweeps = t->r.samples * t->r.every, margin = vector_twin_margin(h, sweeps);
    t->whole = work * sweeps <= replay_spins || 2 + 2 * margin >= side;
    t->slab = t->whole ? (struct vector_slab){0, (uint32_t)side}
                       : (struct vector_slab){(uint32_t)side - 1, 2};
    const uint64_t fit = t->whole ? replay_spins / (work * sweeps) : 1;
    t->members = fit < 1 ? 1 : fit < count ? (size_t)fit : count;
}

/* Compare a sample of a member whose lattice is `sites`. */
static enum ergo_status compare_sample(struct ergo_context *ctx, const struct stretch *t,
                                       const struct vector_state *s, size_t member,
                                       const struct vector_terms *d, size_t sample,
                                       const uint32_t *sites) {
    const size_t count = s->e.batch->count;
    const double *found = t->r.found.columns + VECTOR_COLUMNS * (sample * count + member);
    int64_t sums[VECTOR_NUMBERS_SPACE];
    double columns[VECTOR_COLUMNS];
    vector_twin_count(&s->shape, &s->members[member], d, sites, sums);
    vector_columns(&s->shape, &s->physics[member], sums, columns);
    if (!ergo_replay_same(columns, found, VECTOR_COLUMNS))
        return ergo_replay_differs(ctx, &t->r, member,
                                   "energy, magnetization, currents or vortices");
    if (!s->waves.n || !ergo_replay_has_curve(&t->r, s->e.curve_interval, sample))
        return ERGO_OK;
    size_t curves = 0; /* curve samples before this one */
    for (size_t i = 0; i < sample; i++)
        curves += ergo_replay_has_curve(&t->r, s->e.curve_interval, i);
    const double *structure =
        t->r.found.curves[VECTOR_CURVE_STRUCTURE] + s->waves.n * (curves * count + member);
    for (uint32_t w = 0; w < s->waves.n; w++) {
        int64_t wave[VECTOR_WAVE_NUMBERS];
        vector_twin_wave(&s->shape, s->waves.k[w], sites, wave);
        const double expected = vector_structure(&s->shape, wave);
        if (!ergo_replay_same(&expected, structure + w, 1))
            return ergo_replay_differs(ctx, &t->r, member, "structure factors");
    }
    return ERGO_OK;
}

static bool in_slab(const struct stretch *t, const struct vector_state *s, size_t site) {
    const struct vector_shape *h = &s->shape;
    const size_t side = h->l[h->d - 1], plane = site / ((size_t)h->sites / side);
    return (plane + side - t->slab.first) % side < t->slab.count;
}

/* The words of sites in the slab: at step 0 those of the job's start, then the same. */
static bool is_start(const struct stretch *t, const struct vector_state *s, size_t member,
                     const uint32_t *sites) {
    const bool random = model_start(s->e.batch->points[member]) == 2;
    const size_t each = s->shape.components;
    uint32_t spin[3];
    for (size_t i = 0; i < s->shape.sites; i++) {
        if (!in_slab(t, s, i))
            continue;
        vector_twin_start(&s->shape, &s->members[member], random, i, spin);
        if (memcmp(spin, sites + each * i, 4 * each) != 0)
            return false;
    }
    return true;
}

static bool same_slab(const struct stretch *t, const struct vector_state *s, const uint32_t *a,
                      const uint32_t *b) {
    const size_t each = s->shape.components;
    for (size_t i = 0; i < s->shape.sites; i++)
        if (in_slab(t, s, i) && memcmp(a + each * i, b + each * i, 4 * each) != 0)
            return false;
    return true;
}

/* before: the member's lattice before the stretch; the twin moves it to the end. after: the end on
 * the device. */
static enum ergo_status replay(struct ergo_context *ctx, const struct stretch *t,
                               const struct vector_state *s, size_t member,
                               const struct vector_terms *d, uint32_t *before,
                               const uint32_t *after) {
    const struct vector_member *m = &s->members[member];
    enum ergo_status status = ERGO_OK;
    uint64_t step = t->r.step;
    if (step == 0 && !is_start(t, s, member, before))
        return ergo_replay_differs(ctx, &t->r, member, "the starts");
    if (!t->whole)
        vector_twin_slab(&s->shape, m, d, step, t->r.samples * t->r.every, t->slab, before);
    for (size_t i = 0; i < t->r.samples && t->whole && status == ERGO_OK; i++) {
        for (uint64_t e = 0; e < t->r.every; e++)
            vector_twin_sweep(&s->shape, m, d, step++, before);
        status = compare_sample(ctx, t, s, member, d, i, before);
    }
    if (status == ERGO_OK && !same_slab(t, s, before, after))
        status = ergo_replay_differs(ctx, &t->r, member, "the lattices");
    return status;
}

/* A member's couplings and fields, from the device: the audit has checked that these constants are
 * what the host wrote. */
static enum ergo_status read_terms(struct ergo_context *ctx, struct vector_state *s, size_t member,
                                   struct vector_terms *d) {
    const size_t length = vector_terms_length(&s->shape);
    float *packed = malloc(4 * length + 1);
    if (!packed)
        return no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, VECTOR_NUMBERS_OF_SITES, 4 * length * member, 4 * length, packed);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = vector_terms_unpack(ctx, &s->shape, packed, d);
    free(packed);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct stretch *t = (const struct stretch *)r;
    struct vector_state *s = r->state;
    const size_t words = s->shape.components * (size_t)s->shape.sites;
    uint32_t *raw = malloc(4 * words), *before = malloc(4 * words), *after = malloc(4 * words);
    enum ergo_status status = raw && before && after ? ERGO_OK : no_memory(ctx);
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        const bool replayed = ergo_replay_takes(r, t->members, m);
        struct vector_terms d = {0};
        status = vector_read(ctx, s, m, raw);
        if (status == ERGO_OK && vector_terms_length(&s->shape))
            status = read_terms(ctx, s, m, &d);
        if (status != ERGO_OK)
            break;
        vector_unpack(&s->shape, raw, after);
        if (replayed) {
            vector_unpack(&s->shape, (const uint32_t *)r->kept[VECTOR_SPINS] + words * m, before);
            status = replay(ctx, t, s, m, &d, before, after);
        }
        if (status == ERGO_OK && !(replayed && t->whole))
            status = compare_sample(ctx, t, s, m, &d, r->samples - 1, after);
        vector_terms_free(&d);
    }
    free(raw);
    free(before);
    free(after);
    return status;
}

enum ergo_status vector_audit(struct ergo_context *ctx, void *opaque) {
    struct vector_state *s = opaque;
    const size_t sizes[VECTOR_CURVES] = {s->waves.n};
    struct stretch t = {.r = {.n_columns = VECTOR_COLUMNS,
                              .n_curves = VECTOR_CURVES,
                              .curve_sizes = sizes,
                              .step = s->e.step,
                              .members = s->e.batch->count,
                              .compare = compare}};
    plan_stretch(&t, s);
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0) : status;
}
