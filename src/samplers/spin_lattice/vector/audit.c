/*
 * Audit of spins that are unit vectors: a stretch of the run, repeated by the run's launches and by
 * the host's twin.
 *
 * Small lattices are compared as a whole, sample by sample, for as many members as the host has
 * time for, among them the last one. Of a large lattice the twin follows the planes on either side
 * of the last dimension's boundary, and where that is long, of these the rows on either side of the
 * boundary in y. Measurements of such a lattice, and of members that are not
 * replayed, are checked for the last sample: the host counts the spins at the end on the device. At
 * step 0 the starting configuration is compared, too.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"

/* Most sweeps of the stretch. More would find nothing else. */
static const uint64_t replay_sweeps = 64;

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Like the run, if the host has time for that. */
void vector_plan_stretch(struct vector_stretch *t, const struct vector_state *s) {
    const struct vector_shape *h = &s->whole;
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t work = h->sites * (1 + h->relax);
    const uint64_t run = (uint64_t)(ergo_point_int(point, "/run/equilibration") +
                                    ergo_point_int(point, "/run/sweeps"));
    const size_t count = s->e.batch->count, two = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most =
        least(least(VECTOR_REPLAY_SPINS / work / (count < 2 ? 1 : 2), replay_sweeps), run);
    most = most > two ? most : two;
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), s->e.curve_interval, most,
                     s->e.block_samples);
    const uint64_t fit = VECTOR_REPLAY_SPINS / (work * t->r.samples * t->r.every);
    t->members = fit < 1 ? 1 : fit < count ? (size_t)fit : count;
}

static void choose_slab(struct vector_stretch *t, const struct vector_state *s) {
    const struct vector_shape *h = &s->whole;
    const uint64_t sweeps = t->r.samples * t->r.every, margin = vector_twin_margin(h, sweeps);
    const uint32_t side = h->l[h->d - 1];
    t->whole = h->sites * (1 + h->relax) * sweeps <= VECTOR_REPLAY_SPINS || 2 + 2 * margin >= side;
    t->slab = t->whole ? vector_slab_of(h, 0, side)
                       : vector_twin_window(h, vector_slab_of(h, side - 1, 2), sweeps);
}

static bool has_waves(const struct vector_stretch *t, const struct vector_state *s, size_t sample) {
    return s->waves.n && ergo_replay_has_curve(&t->r, s->e.curve_interval, sample);
}

/* Add those of the first planes of a part. */
static void add_sums(const struct vector_state *s, size_t member, const struct vector_terms *d,
                     bool waves, const struct vector_part *part, uint32_t planes,
                     struct vector_sums *sums) {
    const struct vector_waves none = {0};
    vector_twin_count(&s->whole, &s->members[member], d, waves ? &s->waves : &none, part, planes,
                      sums);
}

enum ergo_status vector_compare_sample(struct ergo_context *ctx, const struct vector_stretch *t,
                                       const struct vector_state *s, size_t member, size_t sample,
                                       const struct vector_sums *sums) {
    const size_t count = s->e.batch->count;
    const double *found = t->r.found.columns + VECTOR_COLUMNS * (sample * count + member);
    double columns[VECTOR_COLUMNS];
    vector_columns(&s->whole, &s->physics[member], sums->sites, columns);
    if (!ergo_replay_same(columns, found, VECTOR_COLUMNS))
        return ergo_replay_differs(ctx, &t->r, member,
                                   "energy, magnetization, currents or vortices");
    if (!has_waves(t, s, sample))
        return ERGO_OK;
    size_t curves = 0; /* curve samples before this one */
    for (size_t i = 0; i < sample; i++)
        curves += ergo_replay_has_curve(&t->r, s->e.curve_interval, i);
    const double *structure =
        t->r.found.curves[VECTOR_CURVE_STRUCTURE] + s->waves.n * (curves * count + member);
    for (uint32_t w = 0; w < s->waves.n; w++) {
        const double expected = vector_structure(&s->whole, sums->waves[w]);
        if (!ergo_replay_same(&expected, structure + w, 1))
            return ergo_replay_differs(ctx, &t->r, member, "structure factors");
    }
    return ERGO_OK;
}

/* A slab within a part, row by row: row `i` of the slab in the part. A chain's rows are sites. */
static const uint32_t *row_within(const struct vector_shape *h, const struct vector_part *part,
                                  struct vector_slab slab, size_t i) {
    const uint32_t side = h->l[h->d - 1];
    const size_t plane = (slab.first + side - part->slab.first) % side + i / slab.rows;
    const size_t row = (slab.row + h->l[1] - part->slab.row) % h->l[1] + i % slab.rows;
    const size_t length = vector_words(h, (struct vector_slab){0, 1, 0, 1});
    return part->sites + length * (part->slab.rows * plane + row);
}

/* Are these the sites of the job's start? */
static bool is_start(const struct vector_state *s, size_t member, const struct vector_part *part,
                     struct vector_slab slab) {
    const struct vector_shape *h = &s->whole;
    const bool random = model_start(s->e.batch->points[member]) == 2;
    const size_t each = h->components, row = h->d == 1 ? 1 : h->l[0];
    uint32_t spin[3];
    for (size_t i = 0; i < (size_t)slab.rows * slab.count; i++) {
        const uint32_t *sites = row_within(h, part, slab, i);
        const uint64_t plane = (slab.first + i / slab.rows) % h->l[h->d - 1];
        const uint64_t y = h->d == 3 ? (slab.row + i % slab.rows) % h->l[1] : 0;
        const uint64_t first = row * (y + (h->d == 3 ? h->l[1] : 1) * plane);
        for (size_t x = 0; x < row; x++) {
            vector_twin_start(h, &s->members[member], random, first + x, spin);
            if (memcmp(spin, sites + each * x, 4 * each) != 0)
                return false;
        }
    }
    return true;
}

/* Has the twin, within its part, the slab that the device has? */
static bool same_slab(const struct vector_shape *h, const struct vector_part *twin,
                      const struct vector_part *device) {
    const size_t length = vector_words(h, (struct vector_slab){0, 1, 0, 1});
    for (size_t i = 0; i < (size_t)device->slab.rows * device->slab.count; i++)
        if (memcmp(row_within(h, twin, device->slab, i), device->sites + length * i, 4 * length) !=
            0)
            return false;
    return true;
}

/* Part of a lattice before and after the stretch; the twin moves the first to the second. */
struct pair {
    struct vector_reader reader;
    struct vector_part before, after;
};

static void pair_close(struct pair *p) {
    vector_reader_close(&p->reader);
    free(p->before.sites);
    free(p->after.sites);
}

/* The slab, before the stretch with its margin. */
static enum ergo_status pair_read(struct ergo_context *ctx, const struct vector_stretch *t,
                                  struct vector_state *s, size_t member, struct pair *p) {
    const struct vector_shape *h = &s->shape;
    *p = (struct pair){.after.slab = t->slab, .before.slab = t->slab};
    if (!t->whole)
        p->before.slab = vector_twin_around(h, t->slab, t->r.samples * t->r.every);
    p->before.sites = malloc(4 * vector_words(h, p->before.slab));
    p->after.sites = malloc(4 * vector_words(h, p->after.slab));
    if (!vector_reader_open(&p->reader, s, p->before.slab) || !p->before.sites || !p->after.sites)
        return no_memory(ctx);
    enum ergo_status status = vector_read(ctx, &p->reader, member, &p->after);
    p->reader.before = &t->r;
    return status == ERGO_OK ? vector_read(ctx, &p->reader, member, &p->before) : status;
}

enum ergo_status vector_replay(struct ergo_context *ctx, const struct vector_stretch *t,
                               const struct vector_state *s, size_t member,
                               const struct vector_terms *d, const struct vector_part *before,
                               const struct vector_part *after) {
    const struct vector_shape *h = &s->whole;
    const struct vector_member *m = &s->members[member];
    enum ergo_status status = ERGO_OK;
    uint64_t step = t->r.step;
    if (step == 0 && !s->e.carried && !is_start(s, member, before, t->slab))
        return ergo_replay_differs(ctx, &t->r, member, "the starts");
    if (!t->whole)
        vector_twin_slab(h, m, d, step, t->r.samples * t->r.every, t->slab, before);
    for (size_t i = 0; i < t->r.samples && t->whole && status == ERGO_OK; i++) {
        struct vector_sums sums = {0};
        for (uint64_t e = 0; e < t->r.every; e++)
            vector_twin_sweep(h, m, d, step++, before->sites);
        add_sums(s, member, d, has_waves(t, s, i), before, t->slab.count, &sums);
        status = vector_compare_sample(ctx, t, s, member, i, &sums);
    }
    if (status == ERGO_OK && !same_slab(h, before, after))
        status = ergo_replay_differs(ctx, &t->r, member, "the lattices");
    return status;
}

enum ergo_status vector_add_layers(struct ergo_context *ctx, const struct vector_stretch *t,
                                   struct vector_state *s, size_t member,
                                   const struct vector_terms *d, uint32_t from, uint32_t to,
                                   struct vector_sums *sums) {
    const struct vector_shape *h = &s->shape;
    const uint32_t side = h->l[h->d - 1], some = vector_planes(h);
    const uint32_t first = (uint32_t)(s->first / (h->sites / side)), all = s->whole.l[h->d - 1];
    const struct vector_slab most = vector_slab_of(h, 0, some < side ? some + 1 : side);
    struct vector_part part = {most, malloc(4 * vector_words(h, most))};
    struct vector_reader reader;
    enum ergo_status status =
        vector_reader_open(&reader, s, most) && part.sites ? ERGO_OK : no_memory(ctx);
    for (uint32_t now; from < to && status == ERGO_OK; from += now) {
        now = to - from < some ? to - from : some;
        part.slab = now < side ? vector_slab_of(h, from, now + 1) : most;
        status = vector_read(ctx, &reader, member, &part);
        part.slab.first = (first + part.slab.first) % all; /* of the lattice */
        if (status == ERGO_OK)
            add_sums(s, member, d, has_waves(t, s, t->r.samples - 1), &part, now, sums);
    }
    vector_reader_close(&reader);
    free(part.sites);
    return status;
}

/* The last sample, from the lattice at the end on the device. */
static enum ergo_status compare_last(struct ergo_context *ctx, const struct vector_stretch *t,
                                     struct vector_state *s, size_t member,
                                     const struct vector_terms *d) {
    struct vector_sums sums = {0};
    const enum ergo_status status =
        vector_add_layers(ctx, t, s, member, d, 0, s->shape.l[s->shape.d - 1], &sums);
    return status == ERGO_OK ? vector_compare_sample(ctx, t, s, member, t->r.samples - 1, &sums)
                             : status;
}

/* The audit has checked that these constants are what the host wrote. */
enum ergo_status vector_read_terms(struct ergo_context *ctx, struct vector_state *s, size_t member,
                                   struct vector_terms *d) {
    const size_t length = vector_terms_length(&s->shape);
    float *packed = malloc(4 * length + 1);
    d->of.first = s->first;
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
    const struct vector_stretch *t = (const struct vector_stretch *)r;
    struct vector_state *s = r->state;
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        const bool replayed = ergo_replay_takes(r, t->members, m);
        struct vector_terms d = {0};
        if (vector_terms_length(&s->shape))
            status = vector_read_terms(ctx, s, m, &d);
        if (replayed && status == ERGO_OK) {
            struct pair p;
            status = pair_read(ctx, t, s, m, &p);
            if (status == ERGO_OK)
                status = vector_replay(ctx, t, s, m, &d, &p.before, &p.after);
            pair_close(&p);
        }
        if (status == ERGO_OK && !(replayed && t->whole))
            status = compare_last(ctx, t, s, m, &d);
        vector_terms_free(&d);
    }
    return status;
}

enum ergo_status vector_audit(struct ergo_context *ctx, void *opaque) {
    struct vector_state *s = opaque;
    const size_t sizes[VECTOR_CURVES] = {s->waves.n};
    struct vector_stretch t = {.r = {.n_columns = VECTOR_COLUMNS,
                                     .n_curves = VECTOR_CURVES,
                                     .curve_sizes = sizes,
                                     .step = s->e.step,
                                     .members = s->e.batch->count,
                                     .compare = compare}};
    vector_plan_stretch(&t, s);
    choose_slab(&t, s);
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0) : status;
}
