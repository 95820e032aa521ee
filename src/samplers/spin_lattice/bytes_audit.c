/*
 * Audit of models with a byte per spin: a stretch of the run, repeated by the run's launches and by
 * the host's twin.
 *
 * Small lattices are compared as a whole, sample by sample, for as many members as the host has
 * time for, among them the last one. Of a large lattice the twin follows a box around the corner
 * where all periodic boundaries meet. Measurements of such a lattice, and of members that are not
 * replayed, are checked for the last sample: the host counts the spins at the end on the device. At
 * step 0 the starting configuration is compared, too.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

/* Some 0.1 s each on the host: spin updates of the twin, and sites of pair counts. */
static const uint64_t replay_spins = UINT64_C(1) << 22, pair_sites = UINT64_C(1) << 27;
/* Most sweeps of the stretch. More would find nothing else. */
static const uint64_t replay_sweeps = 64;

static bool has_curve(const struct bytes_stretch *t, const struct bytes_state *s, size_t sample) {
    return ergo_replay_has_curve(&t->r, s->e.curve_interval, sample);
}

/* Shorten one side after the other, the last one first, to some sites around the boundary, until
 * the twin has at most `most` updates. */
static void plan_box(struct bytes_stretch *t, const struct bytes_state *s, uint64_t most) {
    const uint64_t sweeps = t->r.samples * t->r.every;
    uint64_t sites = s->shape.sites;
    t->whole = true;
    for (uint32_t k = 0; k < 3; k++) {
        t->box.first[k] = 0;
        t->box.count[k] = s->shape.l[k];
    }
    for (uint32_t k = s->shape.d; k-- > 0 && sites * sweeps > most;) {
        const uint64_t others = sites / s->shape.l[k], fit = most / (others * sweeps);
        const uint64_t n = fit < 2 ? 2 : fit;
        if (n + 4 * sweeps >= s->shape.l[k]) /* each sweep needs two more sites on either side */
            continue;
        t->whole = false;
        t->box.count[k] = (uint32_t)n;
        t->box.first[k] = s->shape.l[k] - (uint32_t)(n / 2);
        sites = others * (n + 2 * sweeps);
    }
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Plan the stretch like the run, if the host has time for that. The last sample has curves. */
static void plan_stretch(struct bytes_stretch *t, const struct bytes_state *s) {
    const struct bytes_launch *l = &s->launch;
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t sites = s->shape.sites, interval = s->e.curve_interval;
    const int64_t measure = ergo_point_int(point, "/run/measure_every");
    const uint64_t run = (uint64_t)(ergo_point_int(point, "/run/equilibration") +
                                    ergo_point_int(point, "/run/sweeps"));
    const size_t count = s->e.batch->count, two = s->e.block_samples < 2 ? 1 : 2;
    const uint64_t spins = s->shape.kind == BYTES_POTTS_HEAT ? replay_spins / 4 : replay_spins;
    uint64_t most = spins / sites / (count < 2 ? 1 : 2);
    most = least(least(most, replay_sweeps), least(l->block_sweeps, run));
    most = most > two ? most : two;
    ergo_replay_plan(&t->r, measure, interval, most, s->e.block_samples);
    plan_box(t, s, spins);
    /* curves of a huge lattice take long, so leave them to an audit at the end */
    if (!t->whole && s->e.step == 0 && interval > t->r.samples)
        t->r.first_sample = 1;
    const uint64_t fit = t->whole ? spins / (sites * t->r.samples * t->r.every) : 1;
    t->members = fit < 1 ? 1 : fit < count ? (size_t)fit : count;
    const uint64_t of_each = interval ? t->r.samples / interval + 1 : 0;
    const uint64_t curves = t->members * of_each + count - t->members;
    t->pair_stride = (uint32_t)(curves * sites * l->reach * s->shape.d / pair_sites) | 1;
    t->pair_first = (uint32_t)(1 + s->e.step % t->pair_stride);
    if (t->pair_first > l->reach)
        t->pair_first = 1;
}

/* ---- samples --------------------------------------------------------------------------------- */

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

/* Compare curve `c` at the distances that are counted. */
static bool same_curve(const struct bytes_stretch *t, const struct ergo_samples *expected, size_t c,
                       size_t row) {
    const size_t size = t->r.curve_sizes[c];
    const double *found = t->r.found.curves[c] + row * size;
    if (c == CURVE_STRUCTURE)
        return ergo_replay_same(expected->curves[c], found, size);
    bool same = ergo_replay_same(expected->curves[c], found, 1);
    for (size_t r = t->pair_first; r < size; r += t->pair_stride)
        same = same && ergo_replay_same(expected->curves[c] + r, found + r, 1);
    return same;
}

enum ergo_status bytes_compare_curves(struct ergo_context *ctx, const struct bytes_stretch *t,
                                      const struct bytes_state *s, size_t member,
                                      const uint32_t *counts, size_t row) {
    double *values = malloc((4 * ((size_t)s->launch.reach + 1) + 2) * sizeof *values);
    struct ergo_samples expected = {0};
    size_t used = 0;
    bool same = true;
    if (!values)
        return no_memory(ctx);
    for (size_t c = 0; c < LATTICE_CURVES; c++)
        if (t->r.curve_sizes[c]) {
            expected.curves[c] = values + used;
            used += t->r.curve_sizes[c];
        }
    bytes_curves(s, member, counts, 0, &expected);
    for (size_t c = 0; c < LATTICE_CURVES; c++)
        if (t->r.curve_sizes[c])
            same = same && same_curve(t, &expected, c, row);
    free(values);
    return same ? ERGO_OK
                : ergo_replay_differs(ctx, &t->r, member, "correlations or structure factor");
}

/* Compare the curves of a lattice with the curve sample `curve`. */
static enum ergo_status compare_curves(struct ergo_context *ctx, const struct bytes_stretch *t,
                                       const struct bytes_state *s, size_t member,
                                       const uint8_t *sites, size_t curve) {
    const struct bytes_launch *l = &s->launch;
    const size_t rows = (size_t)s->shape.l[1] * s->shape.l[2];
    uint32_t *counts =
        malloc(4 * ((size_t)s->shape.d * l->reach + (size_t)s->shape.q * bytes_layers(&s->shape)));
    bool memory = counts != NULL;
    if (memory && l->reach)
        memory = bytes_twin_pairs(&s->shape, sites, 0, rows, l->reach, t->pair_first,
                                  t->pair_stride, counts);
    if (memory && l->planes)
        bytes_twin_planes(&s->shape, &s->members[member], sites, counts + s->shape.d * l->reach);
    const enum ergo_status status =
        memory ? bytes_compare_curves(ctx, t, s, member, counts, curve * s->e.batch->count + member)
               : no_memory(ctx);
    free(counts);
    return status;
}

enum ergo_status bytes_compare_counts(struct ergo_context *ctx, const struct bytes_stretch *t,
                                      const struct bytes_state *s, size_t member,
                                      const uint32_t *counts, size_t row) {
    const size_t width = s->e.batch->job->model->n_columns;
    const double *found = t->r.found.columns + width * row;
    double columns[ISING_COLUMNS];
    memcpy(columns, found, width * sizeof *found);
    bytes_columns(&s->physics[member], &s->whole, s->units[member], counts, columns);
    return ergo_replay_same(columns, found, width)
               ? ERGO_OK
               : ergo_replay_differs(ctx, &t->r, member, "energy or magnetization");
}

/* Compare a sample of a member whose lattice is `sites`. */
static enum ergo_status compare_sample(struct ergo_context *ctx, const struct bytes_stretch *t,
                                       const struct bytes_state *s, size_t member, size_t sample,
                                       const struct bytes_disorder *d, const uint8_t *sites) {
    uint32_t *counts = malloc(4 * (size_t)s->shape.numbers);
    size_t curves = 0; /* curve samples before this one */
    if (!counts)
        return no_memory(ctx);
    bytes_twin_count(&s->shape, &s->members[member], d, sites, counts);
    const enum ergo_status status =
        bytes_compare_counts(ctx, t, s, member, counts, sample * s->e.batch->count + member);
    free(counts);
    if (status != ERGO_OK)
        return status;
    for (size_t i = 0; i < sample; i++)
        curves += has_curve(t, s, i);
    return has_curve(t, s, sample) ? compare_curves(ctx, t, s, member, sites, curves) : ERGO_OK;
}

/* ---- the chain ------------------------------------------------------------------------------- */

static bool in_box(const struct bytes_stretch *t, const struct bytes_state *s, uint32_t k,
                   uint64_t at, uint64_t margin) {
    const uint64_t l = s->shape.l[k], n = t->box.count[k] + 2 * margin;
    return n >= l || (at + l - (t->box.first[k] + l - margin) % l) % l < n;
}

static bool row_in_box(const struct bytes_stretch *t, const struct bytes_state *s, size_t row,
                       uint64_t margin) {
    return in_box(t, s, 1, row % s->shape.l[1], margin) &&
           in_box(t, s, 2, row / s->shape.l[1], margin);
}

/* Unpack the rows around the box in natural order. At step 0, returns whether they are the job's
 * start. */
static bool unpack_before(const struct bytes_stretch *t, const struct bytes_state *s, size_t member,
                          const uint8_t *raw, uint8_t *sites, uint8_t *row_sites) {
    const char *start = ergo_point_text(s->e.batch->points[member], "/system/start");
    const struct bytes_member *m = &s->members[member];
    const struct ergo_checkerboard board = bytes_board(&s->shape);
    const size_t lx = s->shape.l[0];
    const bool begun = t->r.step > 0 || s->e.carried;
    bool same = true;
    for (size_t row = 0; row < (size_t)s->shape.l[1] * s->shape.l[2]; row++) {
        uint8_t *own = sites + row * lx;
        if (!row_in_box(t, s, row, 2 * t->r.samples * t->r.every))
            continue;
        ergo_checkerboard_pack_row(&board, raw, row, own);
        if (!row_in_box(t, s, row, 0) || !(s->fields || !begun))
            continue;
        if (!begun)
            bytes_twin_start_row(&s->shape, m, start, row, row_sites);
        for (size_t x = 0; x < lx && begun; x++)
            row_sites[x] = own[x] & 1;
        if (s->fields)
            bytes_twin_field_row(&s->shape, m, row, row_sites);
        same = same && memcmp(row_sites, own, lx) == 0;
    }
    return same;
}

static bool same_box(const struct bytes_stretch *t, const struct bytes_state *s, const uint8_t *a,
                     const uint8_t *b) {
    const size_t lx = s->shape.l[0];
    bool same = true;
    for (size_t row = 0; row < (size_t)s->shape.l[1] * s->shape.l[2]; row++) {
        if (!row_in_box(t, s, row, 0) || memcmp(a + row * lx, b + row * lx, lx) == 0)
            continue;
        for (size_t x = 0; x < lx; x++)
            same = same && (a[row * lx + x] == b[row * lx + x] || !in_box(t, s, 0, x, 0));
    }
    return same;
}

enum ergo_status bytes_replay(struct ergo_context *ctx, const struct bytes_stretch *t,
                              const struct bytes_state *s, size_t member,
                              const struct bytes_disorder *d, uint8_t *before,
                              const uint8_t *after) {
    const struct bytes_member *m = &s->members[member];
    enum ergo_status status = ERGO_OK;
    uint64_t step = t->r.step;
    if (!t->whole)
        bytes_twin_box(&s->shape, m, d, step, t->r.samples * t->r.every, &t->box, before);
    for (size_t i = 0; i < t->r.samples && t->whole && status == ERGO_OK; i++) {
        for (uint64_t e = 0; e < t->r.every; e++)
            bytes_twin_sweep(&s->shape, m, d, step++, before);
        status = compare_sample(ctx, t, s, member, i, d, before);
    }
    if (status == ERGO_OK && !same_box(t, s, before, after))
        status = ergo_replay_differs(ctx, &t->r, member, "the lattices");
    return status;
}

/* Are all bytes valid states, and the signs of the random fields unchanged? */
static bool is_sound(struct bytes_state *s, size_t member, const uint8_t *sites) {
    const unsigned states = s->shape.kind == BYTES_ISING && !s->fields ? 2 : s->shape.states;
    uint64_t sum = 1;
    unsigned most = 0;
    for (size_t i = 0; i < s->shape.sites; i++)
        most = sites[i] > most ? sites[i] : most;
    for (size_t i = 0; i + 8 <= s->shape.sites && s->fields; i += 8) {
        uint64_t eight;
        memcpy(&eight, sites + i, 8);
        sum = ergo_constants_add(sum, eight & UINT64_C(0x0202020202020202));
    }
    const bool same = s->field_sums[member] == 0 || s->field_sums[member] == sum;
    s->field_sums[member] = sum;
    return most < states && same;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct bytes_stretch *t,
                                       struct bytes_state *s, size_t member, uint8_t *raw) {
    const struct bytes_shape *h = &s->shape;
    const struct ergo_checkerboard board = bytes_board(h);
    const bool replayed = ergo_replay_takes(&t->r, t->members, member);
    struct bytes_disorder d = {0};
    uint8_t *after = calloc(h->sites, 1), *before = calloc(replayed ? h->sites : 1, 1);
    uint8_t *row_sites = malloc(h->l[0]);
    enum ergo_status status = after && before && row_sites ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK && t->members_terms) {
        status = bytes_terms_unpack(ctx, h, t->members_terms + member * bytes_terms_length(h), &d);
        d.unit = s->units[member];
        memcpy(d.j, s->members[member].j, sizeof d.j);
        d.field = s->members[member].field;
        d.crystal = s->members[member].crystal;
    }
    const size_t bytes = (size_t)(2 * h->colour);
    if (status == ERGO_OK && replayed)
        status = ergo_replay_before(ctx, &t->r, BYTES_SPINS, bytes * member, bytes, raw);
    if (status == ERGO_OK && replayed && !unpack_before(t, s, member, raw, before, row_sites))
        status = ergo_replay_differs(ctx, &t->r, member, "the start or the random field");
    if (status == ERGO_OK)
        status = bytes_read(ctx, s, member, raw);
    if (status == ERGO_OK)
        ergo_checkerboard_pack(&board, raw, after);
    if (status == ERGO_OK && !is_sound(s, member, after))
        status = ergo_replay_differs(ctx, &t->r, member,
                                     "states of a spin, or the signs of its random field,");
    if (status == ERGO_OK && replayed)
        status = bytes_replay(ctx, t, s, member, t->members_terms ? &d : NULL, before, after);
    if (status == ERGO_OK && !(replayed && t->whole))
        status = compare_sample(ctx, t, s, member, t->r.samples - 1, t->members_terms ? &d : NULL,
                                after);
    bytes_disorder_free(&d);
    free(after);
    free(before);
    free(row_sites);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct bytes_stretch t = *(const struct bytes_stretch *)r;
    struct bytes_state *s = r->state;
    const size_t terms = 4 * bytes_terms_length(&s->shape) * r->members;
    uint8_t *raw = malloc(2 * s->shape.colour);
    int32_t *all = malloc(terms + 1);
    enum ergo_status status = raw && all ? ERGO_OK : no_memory(ctx);
    /* the audit has checked that these constants are what the host wrote */
    ergo_engine_begin(&s->e, ctx);
    if (status == ERGO_OK && terms)
        ergo_engine_read(&s->e, BYTES_TERMS, 0, terms, all);
    status = status == ERGO_OK ? ergo_engine_end(&s->e) : status;
    t.members_terms = terms ? all : NULL;
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++)
        status = compare_member(ctx, &t, s, m, raw);
    free(raw);
    free(all);
    return status;
}

enum ergo_status bytes_audit(struct ergo_context *ctx, void *opaque) {
    struct bytes_state *s = opaque;
    size_t sizes[LATTICE_CURVES];
    struct bytes_stretch t = {.r = {.n_columns = s->e.batch->job->model->n_columns,
                                    .n_curves = LATTICE_CURVES,
                                    .curve_sizes = sizes,
                                    .step = s->e.step,
                                    .members = s->e.batch->count,
                                    .compare = compare}};
    plan_stretch(&t, s);
    for (size_t c = 0; c < LATTICE_CURVES; c++)
        sizes[c] = bytes_curve_size(s->e.batch->points[0], c);
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0) : status;
}
