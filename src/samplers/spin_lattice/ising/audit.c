/*
 * Audit of the Ising model: a stretch of the run, repeated by the run's launches and by the host's
 * twin.
 *
 * Small lattices are compared as a whole, sample by sample, for as many members as the host has
 * time for. The last member is always among them, because its place in the buffers is the most
 * error-prone. Of a large lattice the twin follows some rows on both sides of the periodic
 * boundary. Measurements of such a lattice, and of members that are not replayed, are checked for
 * the last sample: the host counts the spins at the end on the device. At step 0 the starting
 * configuration is compared, too.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/ising/ising.h"

/* A tenth of a second each on the host: spin updates of the twin, and words of pair counts. */
static const uint64_t replay_spins = UINT64_C(1) << 23, pair_words = UINT64_C(1) << 24;
/* Most sweeps of the stretch. More would find nothing else. */
static const uint64_t replay_sweeps = 128;

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool is_whole(const struct ising_stretch *t, const struct ising_state *s) {
    return t->rows == (uint64_t)s->shape.ly;
}

static bool has_curve(const struct ising_stretch *t, const struct ising_state *s, size_t sample) {
    return ergo_replay_has_curve(&t->r, s->e.curve_interval, sample);
}

/* As the run measures, if that is in reason; the last sample has curves. As long as the host can
 * afford: some draws are needed by one block in 500 only. */
static void plan_stretch(struct ising_stretch *t, const struct ising_state *s) {
    const struct ising_launch *l = &s->launch;
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t lx = (uint64_t)s->shape.lx, ly = (uint64_t)s->shape.ly, sites = lx * ly;
    const uint64_t interval = s->e.curve_interval;
    const int64_t measure = ergo_point_int(point, "/run/measure_every");
    const uint64_t run = (uint64_t)(ergo_point_int(point, "/run/equilibration") +
                                    ergo_point_int(point, "/run/sweeps"));
    const uint64_t lead = l->path == ISING_PATH_TILE ? l->sweeps : 2; /* at least one full launch */
    const size_t count = s->e.batch->count, two = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most = replay_spins / sites / (count < 2 ? 1 : 2);
    most = least(least(most, replay_sweeps),
                 least(ergo_plan_launch(&s->e.plan, l->launch_sweeps), run));
    most = most > lead + two ? most - lead : two;
    t->r.lead = lead;
    ergo_replay_plan(&t->r, measure, interval, most, s->e.block_samples);
    t->first = 0;
    t->rows = ly;
    t->members = 1;
    const uint64_t sweeps = lead + t->r.samples * t->r.every, rows = replay_spins / lx / sweeps;
    if (rows + 4 * sweeps < ly) { /* each sweep needs two more rows on either side */
        t->rows = rows < 2 ? 2 : rows;
        t->first = ly - t->rows / 2;
        /* curves of a huge lattice take long, so leave them to an audit at the end */
        if (s->e.step == 0 && interval > t->r.samples)
            t->r.first_sample = 1;
    } else {
        const uint64_t fit = replay_spins / (sites * sweeps);
        t->members = fit < 1 ? 1 : fit < count ? (size_t)fit : count;
    }
    const uint64_t of_each = interval ? t->r.samples / interval + 1 : 0;
    const uint64_t curves = t->members * of_each + count - t->members;
    t->pair_stride = (size_t)(curves * s->shape.words * l->reach / pair_words) | 1;
    t->pair_first = (size_t)(1 + s->e.step % t->pair_stride);
    if (t->pair_first > l->reach)
        t->pair_first = 1;
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool same_curves(const struct ising_stretch *t, const struct ising_state *s,
                        const struct ergo_samples *expected, size_t row) {
    const struct ergo_samples *found = &t->r.found;
    const size_t reach = s->launch.reach;
    bool same = s->launch.rows_counted == 0 ||
                ergo_replay_same(expected->curves[CURVE_STRUCTURE],
                                 found->curves[CURVE_STRUCTURE] + 2 * row, 2);
    for (size_t c = CURVE_CORRELATION; c <= CURVE_CORRELATION_Y; c++) {
        const double *at = found->curves[c] + row * (reach + 1);
        same = same && ergo_replay_same(expected->curves[c], at, 1);
        for (size_t r = t->pair_first; r <= reach; r += t->pair_stride)
            same = same && ergo_replay_same(expected->curves[c] + r, at + r, 1);
    }
    return same;
}

enum ergo_status ising_compare_curves(struct ergo_context *ctx, const struct ising_stretch *t,
                                      const struct ising_state *s, size_t member,
                                      const uint64_t *pairs, uint32_t *planes, size_t row) {
    const size_t reach = s->launch.reach;
    double *memory = calloc(3 * (reach + 1) + 2, sizeof *memory);
    struct ergo_samples expected = {0};
    if (!memory)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t c = 0; c < 3; c++)
        expected.curves[CURVE_CORRELATION + c] = memory + c * (reach + 1);
    expected.curves[CURVE_STRUCTURE] = memory + 3 * (reach + 1);
    ising_curves(s, member, pairs, planes, 0, &expected);
    const bool same = same_curves(t, s, &expected, row);
    free(memory);
    return same ? ERGO_OK
                : ergo_replay_differs(ctx, &t->r, member, "correlations or structure factor");
}

/* Compare the curves of a lattice in canonical form with the curve sample `curve`. */
static enum ergo_status compare_curves(struct ergo_context *ctx, const struct ising_stretch *t,
                                       const struct ising_state *s, size_t member,
                                       const uint8_t *rows, size_t curve) {
    const size_t reach = s->launch.reach, ly = (size_t)s->shape.ly;
    const bool anti = ergo_point_real(s->e.batch->points[member], "/system/coupling") < 0;
    uint64_t *pairs = calloc(2 * reach, sizeof *pairs);
    uint32_t *planes = calloc(2 * ly, sizeof *planes);
    enum ergo_status status = ERGO_OK;
    if (!pairs || !planes ||
        !ising_count_pairs(&s->shape, rows, ly, reach, t->pair_first, t->pair_stride, pairs))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK) {
        ising_count_rows(&s->shape, rows, anti, planes);
        status = ising_compare_curves(ctx, t, s, member, pairs, planes,
                                      curve * s->e.batch->count + member);
    }
    free(pairs);
    free(planes);
    return status;
}

enum ergo_status ising_compare_counts(struct ergo_context *ctx, const struct ising_stretch *t,
                                      const struct ising_state *s, size_t member,
                                      struct ising_counts counts, size_t row) {
    double columns[ISING_COLUMNS];
    if (s->launch.sums < 3)
        counts.first = 0;
    ising_columns(s->physics[member], &s->whole, counts, columns);
    return ergo_replay_same(columns, t->r.found.columns + ISING_COLUMNS * row, ISING_COLUMNS)
               ? ERGO_OK
               : ergo_replay_differs(ctx, &t->r, member, "energy or magnetization");
}

/* Compare a sample of a member whose lattice is `words`. rows: memory for its canonical form. */
static enum ergo_status compare_sample(struct ergo_context *ctx, const struct ising_stretch *t,
                                       const struct ising_state *s, size_t member, size_t sample,
                                       const uint32_t *words, uint8_t *rows) {
    const size_t count = s->e.batch->count;
    size_t curves = 0; /* curve samples before this one */
    const struct ergo_checkerboard board = ising_board(&s->shape);
    ergo_checkerboard_pack(&board, words, rows);
    const enum ergo_status status = ising_compare_counts(
        ctx, t, s, member, ising_count(&s->shape, rows, rows), sample * count + member);
    if (status != ERGO_OK)
        return status;
    for (size_t i = 0; i < sample; i++)
        curves += has_curve(t, s, i);
    return has_curve(t, s, sample) ? compare_curves(ctx, t, s, member, rows, curves) : ERGO_OK;
}

/* ---- the chain ------------------------------------------------------------------------------- */

enum ergo_status ising_replay_whole(struct ergo_context *ctx, const struct ising_stretch *t,
                                    const struct ising_state *s, size_t member, uint32_t *words,
                                    const uint32_t *after, uint8_t *rows) {
    const struct ergo_point *point = s->e.batch->points[member];
    enum ergo_status status = ERGO_OK;
    uint64_t step = t->r.step + t->r.lead;
    ising_twin_sweeps(point, &s->shape, words, t->r.step, t->r.lead);
    for (size_t i = 0; i < t->r.samples && status == ERGO_OK; i++, step += t->r.every) {
        ising_twin_sweeps(point, &s->shape, words, step, t->r.every);
        status = compare_sample(ctx, t, s, member, i, words, rows);
    }
    if (status == ERGO_OK && memcmp(words, after, s->shape.member_bytes) != 0)
        status = ergo_replay_differs(ctx, &t->r, member, "the lattices");
    return status;
}

/* The rows of the stretch are up to two pieces of each colour, before (0) and behind (1) the
 * boundary. Returns the number of words, and *first from the start of the colour. */
static size_t window_piece(const struct ising_stretch *t, const struct ising_state *s, int piece,
                           size_t *first) {
    const uint64_t ly = (uint64_t)s->shape.ly, end = t->first + t->rows;
    const uint64_t rows = piece == 0 ? (end < ly ? end : ly) - t->first : end > ly ? end - ly : 0;
    *first = (size_t)(piece == 0 ? t->first * s->shape.row_words : 0);
    return (size_t)(rows * s->shape.row_words);
}

/* As replay_whole for the rows of the stretch. The words around them, which the twin gets wrong,
 * are restored. */
static enum ergo_status replay_window(struct ergo_context *ctx, const struct ising_stretch *t,
                                      const struct ising_state *s, size_t member, uint32_t *words,
                                      const uint32_t *after) {
    const uint64_t sweeps = t->r.lead + t->r.samples * t->r.every;
    const size_t colour = 4 * s->shape.blocks;
    size_t edge = (size_t)((t->rows + 4 * sweeps + 2) * s->shape.row_words + 8);
    edge = edge < colour / 2 ? edge : colour / 2;
    uint32_t *edges = malloc(4 * edge * sizeof *edges);
    bool same = true;
    if (!edges)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t k = 0; k < 4; k++)
        memcpy(edges + k * edge, words + (k / 2) * colour + (k % 2) * (colour - edge), 4 * edge);
    ising_twin_rows(s->e.batch->points[member], &s->shape, words, t->r.step, sweeps, t->first,
                    t->rows);
    for (int k = 0; k < 4; k++) {
        size_t first;
        const size_t n = window_piece(t, s, k % 2, &first), at = (size_t)(k / 2) * colour + first;
        same = same && memcmp(words + at, after + at, 4 * n) == 0;
    }
    for (size_t k = 0; k < 4; k++)
        memcpy(words + (k / 2) * colour + (k % 2) * (colour - edge), edges + k * edge, 4 * edge);
    free(edges);
    return same ? ERGO_OK : ergo_replay_differs(ctx, &t->r, member, "the lattices");
}

/* Lattices at the end of the stretch, from member `first` on. */
struct lattices {
    size_t first;
    const uint32_t *after;
};

static enum ergo_status compare_member(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t m, void *user) {
    const struct ising_stretch *t = (const struct ising_stretch *)r;
    const struct lattices *lattices = user;
    const struct ising_state *s = r->state;
    const size_t bytes = s->shape.member_bytes;
    const struct ergo_checkerboard board = ising_board(&s->shape);
    const uint32_t *after = lattices->after + (m - lattices->first) * (bytes / 4);
    uint32_t *kept = (uint32_t *)r->kept[ISING_SPINS] + m * (bytes / 4);
    const bool replayed = ergo_replay_takes(r, t->members, m), whole = replayed && is_whole(t, s);
    const uint64_t edge = whole ? s->shape.blocks : t->rows * s->shape.row_words / 8 + 1;
    uint32_t *before = malloc(whole ? bytes : 1);
    uint8_t *rows = malloc(ergo_checkerboard_bytes(&board));
    enum ergo_status status =
        before && rows ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK && replayed && r->step == 0 &&
        !(ising_twin_is_start(s->e.batch->points[m], &s->shape, kept, 0, edge) &&
          ising_twin_is_start(s->e.batch->points[m], &s->shape, kept, s->shape.blocks - edge,
                              s->shape.blocks)))
        status = ergo_replay_differs(ctx, r, m, "the start");
    if (status == ERGO_OK && whole) {
        memcpy(before, kept, bytes);
        status = ising_replay_whole(ctx, t, s, m, before, after, rows);
    } else if (status == ERGO_OK && replayed) {
        status = replay_window(ctx, t, s, m, kept, after);
    }
    if (status == ERGO_OK && !whole)
        status = compare_sample(ctx, t, s, m, r->samples - 1, after, rows);
    free(before);
    free(rows);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    enum { AT_ONCE = 1 << 26 }; /* bytes of lattices, if they are not larger */
    struct ising_state *s = r->state;
    const size_t bytes = s->shape.member_bytes, fit = AT_ONCE / bytes + 1;
    const size_t some = fit < r->members ? fit : r->members;
    uint32_t *after = malloc(some * bytes);
    enum ergo_status status =
        after ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t m = 0; m < r->members && status == ERGO_OK; m += some) {
        const size_t end = m + some < r->members ? m + some : r->members;
        struct lattices lattices = {m, after};
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_read(&s->e, ISING_SPINS, m * bytes, (end - m) * bytes, after);
        status = ergo_engine_end(&s->e);
        if (status == ERGO_OK)
            status = ergo_replay_each(ctx, r, m, end, compare_member, &lattices);
    }
    free(after);
    return status;
}

enum ergo_status ising_audit(struct ergo_context *ctx, void *opaque) {
    struct ising_state *s = opaque;
    size_t sizes[LATTICE_CURVES];
    struct ising_stretch t = {.r = {.remedy = "/tuning/path or /tuning/lanes",
                                    .n_columns = ISING_COLUMNS,
                                    .n_curves = LATTICE_CURVES,
                                    .curve_sizes = sizes,
                                    .compare = compare}};
    plan_stretch(&t, s);
    for (size_t c = 0; c < LATTICE_CURVES; c++)
        sizes[c] = ising_curve_size(s->e.batch->points[0], c);
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0) : status;
}
