/*
 * Audit: the constants in device memory, the cells against the particle list, and a replayed
 * stretch of the run with its measurements against the host's twin.
 *
 * The last members of the batch are replayed. The others do not move, because a launch gets the
 * step at which it ends, and for them the chain's step is already there. Of a checkerboard too
 * large for the host, the twin follows only active cells near the corner of the box whose
 * neighbourhoods are known. A chain that runs out of memory during the replay gets more, as in the
 * run. After the audit the buffers have their old sizes.
 *
 * At the end of the stretch, the running sums of all members are compared with sums over all pairs
 * on the device. Partial sums of those are compared with the host's.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/lj_gcmc/cut.h"
#include "samplers/lj_gcmc/stretch.h"

enum ergo_status lj_check_cells(struct ergo_context *ctx, struct lj_state *s, size_t chain) {
    const size_t cells = lj_cells(s);
    uint32_t *words = NULL, n = 0;
    uint32_t *planes = calloc(4 * cells * s->slots, 4);
    enum ergo_status status =
        planes ? lj_fetch(ctx, s, chain, &words, &n)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of %zu cells", cells);
    if (status == ERGO_OK) {
        lj_cells_read(s, chain, planes);
        status = ergo_engine_end(&s->e);
    }
    uint64_t inside = 0, missing = 0;
    uint32_t here = 0;
    size_t from, to;
    lj_cut_right(s, &from, &to);
    for (size_t c = from; c < to && status == ERGO_OK; c++)
        inside += planes[lj_cell_count_word(s, c)];
    for (uint32_t i = 0; i < n && status == ERGO_OK; i++) {
        const uint64_t c = lj_cut_cell(s, words + 3 * (size_t)i);
        if (c < from || c >= to) /* another rank's */
            continue;
        here++;
        const uint32_t count = planes[lj_cell_count_word(s, c)];
        bool found = false;
        for (uint32_t p = 0; p < count && p < s->slots && !found; p++)
            found = planes[lj_cell_word(s, c, p, 0)] == words[3 * (size_t)i] &&
                    planes[lj_cell_word(s, c, p, 1)] == words[3 * (size_t)i + 1] &&
                    planes[lj_cell_word(s, c, p, 2)] == words[3 * (size_t)i + 2];
        missing += !found;
    }
    if (status == ERGO_OK && (missing || inside != here))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of %s failed on %s at move %" PRIu64 ", member %zu: %u "
                           "particles, %" PRIu64 " in the cells, %" PRIu64 " not in their cell",
                           s->e.model->sampler, s->e.device->summary.name, s->e.step,
                           chain / s->boxes, here, inside, missing);
    free(words);
    free(planes);
    return status;
}

/* ---- the stretch ------------------------------------------------------------------------------
 */

/* Limits of the host's work, some tenths of a second: trial moves, particles of the twins, and
 * pairs of g(r). A stretch is longer than one window of the move counters (MOVES). With few
 * chains it is longer still, because that shows smaller errors of the acceptance. */
enum { MOVES = LJ_WINDOW + 76, ALL_MOVES = 1 << 15, ALL_PARTICLES = 1 << 20 };
static const double SECONDS = 0.1, PAIRS = 1e7;

static double clamp(double x, double least, double most) {
    return fmin(fmax(x, least), most);
}

/* Volume moves, and transfers with them, may be rarer than a stretch is long: start shortly before
 * one then, if possible where a window of the counters ends too. */
static void meet_volume_move(struct lj_stretch *a) {
    const uint64_t every = a->s->launch.volume_every, length = a->every * a->samples;
    uint64_t unit = every;
    if (!every || (every - a->start % every) % every < length)
        return;
    while (length < LJ_WINDOW && unit % LJ_WINDOW) /* at most ten times */
        unit *= 2;
    a->start += unit - a->start % unit - length / 2;
}

static void plan_chains(struct lj_stretch *a, double length) {
    const struct lj_state *s = a->s;
    const double members = (double)s->e.batch->count, seconds = s->launch.step_seconds;
    const double units =
        s->e.device->summary.compute_units ? s->e.device->summary.compute_units : 1;
    const struct lj_launch *const l = &s->launch;
    const double all = ALL_MOVES / lj_stretch_work(s);
    double most = 1;
    for (size_t c = 0; c < lj_chains(s); c++)
        most = fmax(most, (double)s->boxes * s->chains[c].particles);
    /* what the host has to do in a step, in moves: a transfer is two, a volume move N */
    const double work =
        (double)s->boxes +
        (l->volume_every ? (2.0 * l->transfers + most) / (double)l->volume_every : 0);
    const double share = clamp(all / (members * work), MOVES, fmax(MOVES, all / (2 * work)));
    const double moves = clamp(fmin(length, SECONDS / seconds), 2, share);
    a->count = (size_t)clamp(
        fmin(fmin(all / (work * moves), ALL_PARTICLES / most), units * SECONDS / (seconds * moves)),
        1, members);
    a->every = (uint64_t)ceil(moves / (double)a->samples);
    /* if only few moves fit, start so that a window of the counters ends among them */
    if (a->every * a->samples < LJ_WINDOW && length > LJ_WINDOW / 3.0)
        a->start += LJ_WINDOW - a->start % LJ_WINDOW - a->every * a->samples / 2;
    meet_volume_move(a);
}

static void plan_board(struct lj_stretch *a, double length) {
    const struct lj_state *s = a->s;
    const double each = (double)s->launch.board_blocks * s->system.trials * (double)a->samples;
    a->every = 2 * each <= ALL_MOVES && length >= 4 ? 2 : 1;
    a->count = (size_t)clamp(ALL_MOVES / (each * (double)a->every), 1, (double)s->e.batch->count);
    /* g(r) in the last sample, because the host knows only the positions after it */
    if (each > ALL_MOVES)
        a->blocks = ALL_MOVES / a->samples / s->system.trials, a->first_sample = a->interval - 1;
}

/* Does this sample of the stretch carry g(r)? */
static bool has_curve(const struct lj_stretch *a, size_t sample) {
    return a->s->launch.bins && (a->first_sample + sample) % a->interval == 0;
}

static void plan_stretch(struct lj_stretch *a) {
    const struct ergo_point *point = a->s->e.batch->points[0];
    /* the first audit may be as long as a short run; later ones are shorter */
    const double length = ((double)ergo_point_int(point, "/run/equilibration") +
                           (double)ergo_point_int(point, "/run/sweeps")) /
                          (a->s->e.step ? 3 : 1);
    const uint64_t interval = lj_curve_every(point);
    double most = 1;
    a->start = a->s->e.step;
    /* A launch ends at each g(r). Chains make many moves in one launch, so they get a third
     * sample. */
    const size_t samples = a->s->launch.board_blocks ? 2 : 3;
    a->samples = a->s->e.block_samples < samples ? a->s->e.block_samples : samples;
    a->interval = interval ? interval : 1;
    a->blocks = UINT64_MAX;
    if (a->s->launch.board_blocks)
        plan_board(a, length);
    else
        plan_chains(a, length);
    a->first = a->s->e.batch->count - a->count;
    for (size_t i = 0; i < a->samples; i++)
        a->curves += has_curve(a, i);
    for (size_t c = a->first * a->s->boxes; c < lj_chains(a->s); c++)
        most = fmax(most, a->s->chains[c].particles);
    a->end = (uint32_t)clamp(PAIRS / (most * (double)(a->count * (a->curves + !a->curves))), 2,
                             fmax(most, 2));
}

/* ---- the twins ------------------------------------------------------------------------------- */

/* Of a box that is cut, each rank counts the first ones of its own. */
static void expect_pairs(struct lj_stretch *a, const struct lj_twin *t) {
    const struct lj_state *s = a->s;
    const size_t ranks = s->cut ? (size_t)ergo_dist_count() : 1;
    uint32_t first = 0;
    memset(a->pairs, 0, s->launch.bins * lj_pair_kinds(&s->system) * sizeof *a->pairs);
    if (lj_stretch_partial(a)) {
        lj_twin_pairs(t, 0, a->own < a->end ? a->own : a->end, s->bin_edges, s->launch.bins,
                      a->pairs);
        if (s->cut)
            ergo_dist_sum_counts(a->pairs, s->launch.bins);
        return;
    }
    for (size_t r = 0; r < ranks; r++) {
        uint32_t next = first; /* the list is in the order of layers */
        const uint64_t behind = r + 1 < ranks ? s->at.slabs[r + 1].layer : UINT64_MAX;
        while (next < t->n && (!s->cut || (uint64_t)t->p[next][2] * s->grid.n[2] >> 32 < behind))
            next++;
        lj_twin_pairs(t, first, next - first < a->end ? next : first + a->end, s->bin_edges,
                      s->launch.bins, a->pairs);
        first = next;
    }
}

void lj_stretch_expect(struct lj_stretch *a, size_t k, size_t curve, const struct lj_twin *t) {
    const struct lj_state *s = a->s;
    double *rows[LJ_CURVES];
    lj_curve_rows_at(s, a->expected, curve * a->count + k, rows);
    if (s->system.field) {
        lj_twin_profile(t, a->end, s->system.axis, lj_profile_bins(s), s->launch.bins, a->pairs);
        lj_profile_convert(s, a->pairs, rows[LJ_CURVE_PROFILE]);
        return;
    }
    expect_pairs(a, t);
    lj_pairs_convert(s, lj_stretch_partial(a) ? a->all : t->n, t->numbers, a->pairs, rows);
}

/* Move the twin of the stretch's k-th member through the stretch, with its samples. false: no
 * memory. */
static bool run_twin(struct lj_stretch *a, size_t k) {
    const size_t boxes = a->s->boxes;
    struct lj_twin *t = &a->twins[boxes * k];
    size_t curve = 0;
    for (size_t i = 0; i < a->samples; i++) {
        for (uint64_t e = 0; e < a->every; e++)
            if (!lj_twin_step(t))
                return false;
        struct lj_sample sample[2];
        int64_t ghosts[2 * LJ_GHOST_SUMS];
        for (size_t b = 0; b < boxes; b++) {
            sample[b] = lj_twin_sample(&t[b]);
            lj_twin_ghosts(&t[b], a->s->launch.ghosts, ghosts + b * LJ_GHOST_SUMS);
        }
        lj_columns_of(a->s, a->first + k, sample, a->s->launch.ghosts ? ghosts : NULL, t->step,
                      a->columns + (i * a->count + k) * LJ_COLUMNS);
        if (has_curve(a, i))
            lj_stretch_expect(a, k, curve++, t);
    }
    return true;
}

bool lj_stretch_partial(const struct lj_stretch *a) {
    return a->blocks != UINT64_MAX;
}

/* Create the twins and move them through the stretch. Twins of a partly followed checkerboard
 * stay at its start (follow_part in audit_compare.c). */
static enum ergo_status open_twins(struct ergo_context *ctx, struct lj_stretch *a) {
    struct lj_state *s = a->s;
    const uint64_t blocks = a->blocks < s->launch.board_blocks ? a->blocks : s->launch.board_blocks;
    const uint64_t all = a->every * a->samples * (blocks ? blocks * s->system.trials : 1);
    const struct lj_window window =
        blocks ? lj_window_of(&s->system, a->blocks,
                              s->cut ? (uint32_t)s->at.slab.first / s->system.period : 0)
               : (struct lj_window){0};
    const uint32_t more = all < LJ_MOST_PARTICLES ? (uint32_t)all : LJ_MOST_PARTICLES;
    const size_t chains = a->count * s->boxes;
    a->twins = calloc(chains, sizeof *a->twins);
    a->before = calloc(chains, sizeof *a->before);
    a->columns = calloc(a->samples * a->count * LJ_COLUMNS, sizeof *a->columns);
    a->pairs = calloc(s->launch.bins * lj_pair_kinds(&s->system) + 1, sizeof *a->pairs);
    bool ok = a->twins && a->before && a->columns && a->pairs;
    for (size_t c = 0; c < LJ_CURVES && ok; c++)
        if (s->curve_sizes[c])
            ok = (a->expected[c] = calloc(a->curves * a->count * s->curve_sizes[c] + 1,
                                          sizeof *a->expected[c])) != NULL;
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < chains && ok && status == ERGO_OK; k++) {
        const size_t c = a->first * s->boxes + k;
        uint32_t *words = NULL, n;
        status = lj_stretch_partial(a) ? lj_fetch_window(ctx, s, c, a->blocks, &words, &n)
                                       : lj_fetch(ctx, s, c, &words, &n);
        if (status != ERGO_OK) {
            free(words);
            break;
        }
        a->before[k] = s->chains[c];
        a->before[k].step = a->start;
        a->before[k].volumes = lj_volumes_before(&s->launch, a->start);
        /* a box may get the particles of the other one */
        struct lj_chain start = a->before[k];
        start.particles = n;
        ok = lj_twin_init(&a->twins[k], s->e.batch->points[c / s->boxes], c % s->boxes, &start,
                          words, s->boxes == 2 ? s->chains[c ^ 1].particles : more,
                          blocks ? &window : NULL, &s->tables);
        free(words);
        if (ok && blocks)
            lj_twin_board_count(&a->twins[k], s->chains[c].particles);
    }
    for (size_t k = 0; k < a->count && ok && status == ERGO_OK && !lj_stretch_partial(a); k++)
        ok = run_twin(a, k);
    return ok ? status : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static void close_stretch(struct lj_stretch *a) {
    for (size_t k = 0; a->twins && k < a->count * a->s->boxes; k++)
        lj_twin_free(&a->twins[k]);
    free(a->twins);
    free(a->before);
    free(a->columns);
    for (size_t c = 0; c < LJ_CURVES; c++)
        free(a->expected[c]);
    free(a->pairs);
}

/* ---- on the device --------------------------------------------------------------------------- */

static const unsigned growing_buffers[] = {LJ_PARTICLES, LJ_CELLS, LJ_PAIR_ENERGIES};

static void hold_buffers(struct lj_stretch *a) {
    a->slots = a->s->slots;
    a->capacity = a->s->capacity;
    for (size_t i = 0; i < sizeof growing_buffers / sizeof growing_buffers[0]; i++)
        ergo_engine_hold(&a->s->e, growing_buffers[i]);
}

/* The sizes before the stretch. Called before the replay restores the buffers. */
static void restore_sizes(struct lj_stretch *a) {
    a->s->slots = a->slots;
    a->s->capacity = a->capacity;
    for (size_t i = 0; i < sizeof growing_buffers / sizeof growing_buffers[0]; i++)
        ergo_engine_give_back(&a->s->e, growing_buffers[i]);
}

static void set_step(struct lj_state *s, size_t chain, uint64_t step) {
    s->chains[chain].step = step;
    s->chains[chain].volumes = lj_volumes_before(&s->launch, step);
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct lj_stretch *a = state;
    struct lj_state *s = a->s;
    for (size_t c = 0; c < lj_chains(s); c++)
        set_step(s, c, c < a->first * s->boxes ? a->start + count * every : a->start);
    hold_buffers(a);
    ergo_engine_begin(&s->e, ctx);
    lj_write_chains(s);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = ergo_engine_advance(ctx, s, slot, count, every, first_sample);
    if (status != ERGO_OK) {
        s->e.slots[slot].busy = false;
        restore_sizes(a);
    }
    return status;
}

static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    struct lj_stretch *a = state;
    const enum ergo_status status = ergo_engine_collect(ctx, a->s, slot, samples);
    if (status != ERGO_OK)
        restore_sizes(a);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const enum ergo_status status = lj_stretch_compare(ctx, r);
    restore_sizes(r->state);
    return status;
}

/* Of each buffer only the pieces of the replayed members are saved and restored. */
static enum ergo_status replay_stretch(struct ergo_context *ctx, struct lj_stretch *a) {
    struct lj_state *s = a->s;
    const size_t chains = lj_chains(s), cells = lj_cells(s);
    const size_t first = a->first * s->boxes, count = a->count * s->boxes;
    const bool planes = !s->launch.slotted;
    const size_t cell_bytes = planes ? 16 * cells : 16 * cells * s->slots;
    struct ergo_replay_part parts[3] = {
        {16 * (size_t)s->capacity * first, 0, 1},
        {cell_bytes * first, 16 * cells * chains, planes ? s->slots : 1},
        {8 * cells * first, 8 * cells * chains, s->slots}};
    const size_t each[3] = {16 * (size_t)s->capacity, cell_bytes, 8 * cells};
    const struct ergo_replay_row extra = {"chains on the host", ERGO_REPLAY_HOST, NULL, s->chains,
                                          chains * sizeof *s->chains};
    const uint64_t step = s->e.step;
    struct ergo_replay r = {.remedy = "/tuning/work_group",
                            .state = a,
                            .n_columns = LJ_COLUMNS,
                            .n_curves = s->launch.bins ? LJ_CURVES : 0,
                            .curve_sizes = s->curve_sizes,
                            .samples = a->samples,
                            .every = a->every,
                            .first_sample = a->first_sample,
                            .advance = advance,
                            .collect = collect,
                            .compare = compare};
    /* all cells of a checkerboard stay where they are, and the stretch goes on in a copy */
    const bool apart = s->launch.board_blocks && a->count == s->e.batch->count;
    for (size_t i = apart ? 2 : s->launch.board_blocks ? 1 : 0; i < 3; i++) {
        s->e.buffers[growing_buffers[i]].window = &parts[i];
        s->e.buffers[growing_buffers[i]].window_bytes = each[i] * count;
    }
    s->e.step = a->start;
    const enum ergo_status status = ergo_engine_replay(ctx, &s->e, &r, &extra, 1);
    s->e.step = step;
    for (size_t i = 0; i < 3; i++)
        s->e.buffers[growing_buffers[i]].window = NULL;
    return status;
}

static enum ergo_status replay(struct ergo_context *ctx, struct lj_state *s) {
    struct lj_stretch a = {.s = s};
    plan_stretch(&a);
    enum ergo_status status = open_twins(ctx, &a);
    const bool open = status == ERGO_OK;
    /* at least two launches for g(r), as with many particles */
    s->pairs_end = a.end;
    s->pairs_each = (a.end + 1) / 2;
    if (status == ERGO_OK)
        status = replay_stretch(ctx, &a);
    /* the replay needs more memory than the device has, but the run is valid without it */
    if (open && status == ERGO_E_DEVICE && !s->cut) {
        ergo_log(ctx, ERGO_LOG_WARNING, "audit of %s without a replay: %s", s->e.model->sampler,
                 ergo_error_message(ctx));
        ergo_error_clear(ctx);
        status = lj_compare_sums(ctx, s);
    }
    s->pairs_end = UINT32_MAX;
    s->pairs_each = 0;
    close_stretch(&a);
    return status;
}

/* ---- the audit --------------------------------------------------------------------------------
 */

enum ergo_status lj_audit(struct ergo_context *ctx, void *opaque) {
    struct lj_state *s = opaque;
    const size_t chains = lj_chains(s), stride = chains / 256 + 1;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = lj_settle(ctx, s);
    if (s->stale && status == ERGO_OK) { /* after a load nothing is stored yet to compare with */
        lj_refresh_energies(s);
        status = ergo_engine_end(&s->e);
    }
    for (size_t m = 0; m < chains && status == ERGO_OK; m++)
        if (s->chains[m].step != s->e.step)
            status =
                ERGO_FAIL(ctx, ERGO_E_AUDIT,
                          "audit of %s failed on %s: member %zu is at move %" PRIu64 " of %" PRIu64,
                          s->e.model->sampler, s->e.device->summary.name, m / s->boxes,
                          s->chains[m].step, s->e.step);
    for (size_t c = 0; c < chains && status == ERGO_OK; c++) {
        if (s->step_sizes[c] && s->step_sizes[c] != s->chains[c].step_size)
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of %s failed on %s: the largest displacement of member %zu "
                               "has changed in the device's memory, although it is tuned",
                               s->e.model->sampler, s->e.device->summary.name, c / s->boxes);
        lj_note_step_size(s, c);
    }
    /* a sample of the members: reading the cells of thousands of chains would take longer than
     * the run */
    const bool large =
        s->launch.board_blocks && s->launch.board_blocks > ALL_MOVES / 2 / s->system.trials;
    for (size_t m = 0; m < chains && status == ERGO_OK; m += stride)
        status = large ? lj_check_layers(ctx, s, m) : lj_check_cells(ctx, s, m);
    return status == ERGO_OK ? replay(ctx, s) : status;
}
