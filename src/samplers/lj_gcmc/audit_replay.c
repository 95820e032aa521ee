/*
 * A stretch of the run, replayed. The last members go through it, and the others stand still, for a
 * launch says where to go and they are told that they are there. Of a checkerboard too large to
 * follow, the active cells around the corner of the box are, as long as they see no others. Where a
 * chain stops for more room it gets it, as in the run, and gives it back at the end.
 *
 * At its end the running sums of all members are compared with sums from scratch on the device, and
 * those, by shares, with the host's.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/twin.h"

/* What the host may do: some tenths of a second, in moves, and in pairs of g(r). A stretch of
 * chains is longer than a window of their counters. */
enum { MOVES = LJ_WINDOW + 76, ALL_MOVES = 1 << 15, ALL_PARTICLES = 1 << 20, SUMMED = 1 << 15 };
static const double SECONDS = 0.1, PAIRS = 1e7;

struct stretch {
    struct lj_state *s;
    size_t first, count; /* members */
    uint64_t start, every, first_sample, interval;
    size_t samples, curves; /* curves: samples with g(r) */
    uint64_t blocks;        /* active cells that are followed */
    uint32_t end;           /* particles that g(r) is of */
    struct lj_twin *twins;  /* at the end */
    double *columns;        /* [samples][count][LJ_COLUMNS] */
    double *gr[2];          /* both curves: [curves][count][bins] */
    uint64_t *pairs;
    struct lj_chain *before;      /* [count] */
    cl_mem particles, cells, own; /* the run's, which may be too small in the stretch */
    uint32_t slots, capacity;
};

static double clamp(double x, double least, double most) {
    return fmin(fmax(x, least), most);
}

static void plan_chains(struct stretch *a, double length) {
    const struct lj_state *s = a->s;
    const double members = (double)s->batch->count, seconds = s->launch.step_seconds;
    const double units = s->device->summary.compute_units ? s->device->summary.compute_units : 1;
    const double moves = clamp(fmin(length, SECONDS / seconds), 2, MOVES);
    double most = 1;
    for (size_t m = 0; m < s->batch->count; m++)
        most = fmax(most, s->chains[m].particles);
    a->count = (size_t)clamp(
        fmin(fmin(ALL_MOVES / moves, ALL_PARTICLES / most), units * SECONDS / (seconds * moves)), 1,
        members);
    a->every = (uint64_t)ceil(moves / (double)a->samples);
    /* where only a few can be made, a window ends among them nevertheless */
    if (a->every * a->samples < LJ_WINDOW && length > LJ_WINDOW)
        a->start += LJ_WINDOW - a->start % LJ_WINDOW - a->every * a->samples / 2;
}

static void plan_board(struct stretch *a, double length) {
    const struct lj_state *s = a->s;
    const double each = (double)s->launch.board_blocks * s->system.trials * (double)a->samples;
    a->every = 2 * each <= ALL_MOVES && length >= 4 ? 2 : 1;
    a->count = (size_t)clamp(ALL_MOVES / (each * (double)a->every), 1, (double)s->batch->count);
    if (each > ALL_MOVES) /* the last sample has g(r), for what is before it is not known */
        a->blocks = ALL_MOVES / a->samples / s->system.trials, a->first_sample = a->interval - 1;
}

static bool has_curve(const struct stretch *a, size_t sample) {
    return a->s->launch.bins && (a->first_sample + sample) % a->interval == 0;
}

static void plan_stretch(struct stretch *a) {
    const struct ergo_point *point = a->s->batch->points[0];
    const double length = (double)ergo_point_int(point, "/run/equilibration") +
                          (double)ergo_point_int(point, "/run/sweeps");
    const uint64_t interval = (uint64_t)ergo_point_int(point, "/run/curve_every");
    double most = 1;
    a->start = a->s->step;
    /* g(r) ends a launch: of chains, which make many moves in one, two samples more */
    const size_t samples = a->s->launch.board_blocks ? 2 : 3;
    a->samples = a->s->launch.block_samples < samples ? a->s->launch.block_samples : samples;
    a->interval = interval ? interval : 1;
    a->blocks = UINT64_MAX;
    if (a->s->launch.board_blocks)
        plan_board(a, length);
    else
        plan_chains(a, length);
    a->first = a->s->batch->count - a->count;
    for (size_t i = 0; i < a->samples; i++)
        a->curves += has_curve(a, i);
    for (size_t m = a->first; m < a->s->batch->count; m++)
        most = fmax(most, a->s->chains[m].particles);
    a->end = (uint32_t)clamp(PAIRS / (most * (double)(a->count * (a->curves + !a->curves))), 2,
                             fmax(most, 2));
}

/* ---- the twins ------------------------------------------------------------------------------- */

static void expect_curve(struct stretch *a, size_t k, size_t curve, const struct lj_twin *t) {
    const struct lj_state *s = a->s;
    const size_t row = (curve * a->count + k) * s->launch.bins;
    lj_twin_pairs(t, a->end, s->bin_edges, s->launch.bins, a->pairs);
    lj_pairs_convert(s, t->n, a->pairs, a->gr[0] + row, a->gr[1] + row);
}

/* Through the stretch, with its samples. false: no memory. */
static bool go(struct stretch *a, size_t k) {
    struct lj_twin *t = &a->twins[k];
    const struct ergo_point *point = a->s->batch->points[a->first + k];
    const struct lj_system system = lj_system_of(point);
    const struct lj_jump jump = lj_jump_of(&system);
    size_t curve = 0;
    for (size_t i = 0; i < a->samples; i++) {
        for (uint64_t e = 0; e < a->every; e++)
            if (!lj_twin_step(t))
                return false;
        const struct lj_sample sample = lj_twin_sample(t);
        lj_columns_of(a->s, &system, &jump, &sample, t->step,
                      a->columns + (i * a->count + k) * LJ_COLUMNS);
        if (has_curve(a, i))
            expect_curve(a, k, curve++, t);
    }
    return true;
}

static bool is_partial(const struct stretch *a) {
    return a->blocks != UINT64_MAX;
}

/* The twins at the beginning; but for a large checkerboard's they go on to the end. */
static enum ergo_status open_twins(struct ergo_context *ctx, struct stretch *a) {
    struct lj_state *s = a->s;
    const size_t bins = a->curves * a->count * s->launch.bins + 1;
    const uint64_t trials = s->launch.board_blocks ? s->launch.board_blocks * s->system.trials : 1;
    const uint64_t all = a->every * a->samples * trials;
    const uint32_t more = all < LJ_MOST_PARTICLES ? (uint32_t)all : LJ_MOST_PARTICLES;
    a->twins = calloc(a->count, sizeof *a->twins);
    a->before = calloc(a->count, sizeof *a->before);
    a->columns = calloc(a->samples * a->count * LJ_COLUMNS, sizeof *a->columns);
    a->gr[0] = calloc(bins, sizeof *a->gr[0]);
    a->gr[1] = calloc(bins, sizeof *a->gr[1]);
    a->pairs = calloc(s->launch.bins + 1, sizeof *a->pairs);
    bool ok = a->twins && a->before && a->columns && a->gr[0] && a->gr[1] && a->pairs;
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < a->count && ok && status == ERGO_OK; k++) {
        const size_t m = a->first + k;
        uint32_t *words = NULL, n;
        status = lj_fetch(ctx, s, m, &words, &n);
        if (status != ERGO_OK)
            break;
        a->before[k] = s->chains[m];
        a->before[k].step = a->start;
        ok = lj_twin_init(&a->twins[k], s->batch->points[m], &a->before[k], words, more,
                          s->launch.board_blocks ? a->blocks : 0) &&
             (is_partial(a) || go(a, k));
        free(words);
    }
    return ok ? status : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static void close_stretch(struct stretch *a) {
    for (size_t k = 0; a->twins && k < a->count; k++)
        lj_twin_free(&a->twins[k]);
    free(a->twins);
    free(a->before);
    free(a->columns);
    free(a->gr[0]);
    free(a->gr[1]);
    free(a->pairs);
}

/* ---- on the device --------------------------------------------------------------------------- */

static void hold_buffers(struct stretch *a) {
    const struct lj_state *s = a->s;
    a->slots = s->slots;
    a->capacity = s->capacity;
    clRetainMemObject(a->particles = s->particles);
    clRetainMemObject(a->cells = s->cells);
    clRetainMemObject(a->own = s->own);
}

static void bring_back(cl_mem *now, cl_mem *before) {
    if (!*before)
        return;
    ergo_buffer_release(now);
    *now = *before;
    *before = NULL;
}

/* Before they are restored. */
static void give_back(struct stretch *a) {
    a->s->slots = a->slots;
    a->s->capacity = a->capacity;
    bring_back(&a->s->particles, &a->particles);
    bring_back(&a->s->cells, &a->cells);
    bring_back(&a->s->own, &a->own);
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct stretch *a = state;
    struct lj_state *s = a->s;
    for (size_t m = 0; m < s->batch->count; m++)
        s->chains[m].step = m < a->first ? a->start + count * every : a->start;
    s->step = a->start;
    hold_buffers(a);
    enum ergo_status status = ergo_buffer_write(ctx, s->device, s->chain_buffer, 0,
                                                s->batch->count * sizeof *s->chains, s->chains);
    if (status == ERGO_OK)
        status = lj_advance(ctx, s, slot, count, every, first_sample);
    if (status != ERGO_OK) {
        s->blocks[slot].busy = false;
        give_back(a);
    }
    return status;
}

static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    struct stretch *a = state;
    const enum ergo_status status = lj_collect(ctx, a->s, slot, samples);
    if (status != ERGO_OK)
        give_back(a);
    return status;
}

/* ---- what is compared ------------------------------------------------------------------------ */

static const char *wrong_sample(const struct stretch *a, const struct ergo_replay *r, size_t k) {
    const size_t m = a->first + k, bins = a->s->launch.bins;
    for (size_t i = 0; i < a->samples; i++) {
        const double *found = r->found.columns + (i * r->members + m) * LJ_COLUMNS;
        const double *expected = a->columns + (i * a->count + k) * LJ_COLUMNS;
        if (!ergo_replay_same(found, expected, LJ_COLUMN_TRIED))
            return "N, the energy or the virials of a sample";
        if (!ergo_replay_same(found + LJ_COLUMN_TRIED, expected + LJ_COLUMN_TRIED, 6))
            return "the counts of moves tried or accepted";
    }
    for (size_t curve = 0; curve < a->curves; curve++)
        for (int c = 0; c < 2; c++)
            if (!ergo_replay_same(r->found.curves[c] + (curve * r->members + m) * bins,
                                  a->gr[c] + (curve * a->count + k) * bins, bins))
                return "the pairs of g(r)";
    return NULL;
}

/* Sums of an activation over all active cells, and those of the ones that were followed. */
static const char *wrong_parts(const struct stretch *a, const struct lj_twin *t, size_t k,
                               const struct lj_part *parts) {
    const size_t members = a->s->batch->count, m = a->first + k;
    const struct lj_sample *last = &a->s->blocks[0].host_samples[(a->samples - 1) * members + m];
    struct lj_chain sums = a->before[k];
    struct lj_counts tried = {0}, accepted = {0};
    if (a->samples > 1) {
        sums.energy = last[-(ptrdiff_t)members].energy;
        sums.virial = last[-(ptrdiff_t)members].virial;
        sums.contacts = last[-(ptrdiff_t)members].contacts;
        sums.particles = last[-(ptrdiff_t)members].particles;
    }
    for (uint64_t b = 0; b < a->s->launch.board_blocks; b++) {
        const struct lj_part *p = &parts[b];
        struct lj_part expected;
        if (lj_twin_board_part(t, b, &expected) && memcmp(&expected, p, sizeof expected) != 0)
            return "the moves of an active cell";
        sums.energy += p->energy;
        sums.virial += p->virial;
        sums.contacts += p->contacts;
        sums.particles += (uint32_t)p->particles;
        tried.tried += p->tried & 0xffff;
        tried.accepted += p->tried >> 16;
        tried.accepted_deletion += a->s->system.trials - (p->tried & 0xffff) - (p->tried >> 16);
        accepted.tried += p->accepted & 0xffff;
        accepted.accepted += p->accepted >> 16;
        accepted.accepted_deletion += p->accepted_deletion;
    }
    return sums.energy != last->energy || sums.virial != last->virial ||
                   sums.contacts != last->contacts || sums.particles != last->particles ||
                   memcmp(&tried, &last->now, sizeof tried) != 0 ||
                   memcmp(&accepted, &last->last, sizeof accepted) != 0
               ? "the sums of a sample over the active cells"
               : NULL;
}

/* A large checkerboard: the twin goes on, told by the samples what it cannot know. */
static enum ergo_status follow_part(struct ergo_context *ctx, const struct ergo_replay *r,
                                    struct stretch *a, size_t k, const struct lj_twin *end,
                                    const char **wrong) {
    struct lj_state *s = a->s;
    struct lj_twin *t = &a->twins[k];
    const size_t members = s->batch->count, m = a->first + k;
    const size_t bytes = LJ_PART_BYTES * (size_t)s->launch.board_blocks;
    struct lj_part *parts = malloc(bytes);
    enum ergo_status status =
        parts ? ergo_buffer_read(ctx, s->device, s->board_parts, bytes * m, bytes, parts)
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t i = 0; i < a->samples && status == ERGO_OK; i++) {
        const struct lj_sample *sample = &s->blocks[0].host_samples[i * members + m];
        if (!lj_twin_step(t))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
        lj_twin_board_told(t, sample);
        const struct lj_system system = lj_system_of(s->batch->points[m]);
        lj_columns_of(s, &system, &s->jumps[m], sample, t->step,
                      a->columns + (i * a->count + k) * LJ_COLUMNS);
    }
    if (status == ERGO_OK && a->curves) {
        /* g(r) of the last sample alone */
        const size_t bins = s->launch.bins;
        for (size_t curve = 0; curve < a->curves; curve++)
            for (int c = 0; c < 2; c++)
                memcpy(a->gr[c] + (curve * a->count + k) * bins,
                       r->found.curves[c] + (curve * r->members + m) * bins, bins * sizeof(double));
        expect_curve(a, k, a->curves - 1, end);
    }
    if (status == ERGO_OK)
        *wrong = wrong_parts(a, t, k, parts);
    free(parts);
    return status;
}

static const char *wrong_chain(const struct stretch *a, const struct lj_twin *t,
                               const struct lj_chain *found, const uint32_t *words) {
    const struct lj_chain expected = lj_twin_chain(t);
    if (found->step != expected.step)
        return "the moves that were made";
    if (found->step_size != expected.step_size)
        return "the largest displacements";
    if (t->board && !lj_twin_board_same(t, words, found->particles))
        return "the particles";
    if (is_partial(a))
        return NULL;
    if (!t->board &&
        (found->particles != t->n || memcmp(words, t->p, (size_t)t->n * sizeof *t->p) != 0))
        return "the particles";
    return memcmp(found, &expected, sizeof expected) != 0 ? "the running sums or counts" : NULL;
}

/* Shares of the device's sums from scratch with the host's, from the last on. */
static const char *wrong_shares(const struct lj_state *s, const struct lj_twin *end,
                                const int64_t *shares, int64_t *left) {
    const uint32_t group = s->launch.total_group, parts = s->launch.total_parts;
    for (uint32_t p = parts; p-- > 0 && *left > 0; *left -= end->n / parts + 1) {
        const struct lj_twin_sums sums = lj_twin_total(end, group, parts, p);
        const int64_t *of = shares + LJ_TOTALS * p;
        if (sums.core || of[0] != sums.energy || of[1] != sums.virial || of[2] != sums.contacts)
            return "the sums from scratch";
    }
    return NULL;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t k, const int64_t *shares, int64_t *left) {
    struct stretch *a = r->state;
    struct lj_state *s = a->s;
    struct lj_twin *t = &a->twins[k], end = {0};
    const size_t m = a->first + k;
    uint32_t *words = NULL, n;
    const char *wrong = NULL;
    enum ergo_status status = lj_fetch(ctx, s, m, &words, &n);
    const struct lj_chain found = s->chains[m];
    if (status == ERGO_OK && t->board &&
        !lj_twin_init(&end, s->batch->points[m], &found, words, 0, 0))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    const struct lj_twin *const last = t->board ? &end : t;
    if (status == ERGO_OK && is_partial(a))
        status = follow_part(ctx, r, a, k, last, &wrong);
    if (status == ERGO_OK && !wrong)
        wrong = wrong_chain(a, t, &found, words);
    if (status == ERGO_OK && !wrong)
        wrong = wrong_sample(a, r, k);
    if (status == ERGO_OK && !wrong)
        wrong = wrong_shares(s, last, shares + LJ_TOTALS * m * s->launch.total_parts, left);
    lj_twin_free(&end);
    free(words);
    if (status == ERGO_OK && wrong)
        return ergo_replay_differs(ctx, r, m, wrong);
    return status == ERGO_OK && !t->board && s->system.neighbours != LJ_NONE
               ? lj_check_cells(ctx, s, m)
               : status;
}

/* The running sums of all members against those from scratch. */
static enum ergo_status compare_sums(struct ergo_context *ctx, const struct lj_state *s,
                                     const int64_t *shares) {
    for (size_t m = 0; m < s->batch->count; m++) {
        const struct lj_chain *c = &s->chains[m];
        const struct lj_totals t = lj_totals_of(s, m, shares);
        if (c->energy != t.energy || c->virial != t.virial || c->contacts != t.contacts ||
            t.overlaps || t.others)
            return ERGO_FAIL(
                ctx, ERGO_E_AUDIT,
                "audit of lj-gcmc failed on %s at move %" PRIu64 ", member %zu of %u particles: "
                "running energy %" PRId64 ", virial %" PRId64 " and contacts %" PRIx64
                ", from scratch %" PRId64 ", %" PRId64 " (units of 2^-30) and %" PRIx64 ", %" PRIu64
                " particles with an overlap, %" PRIu64 " whose pair energy is another",
                s->device->summary.name, c->step, m, c->particles, c->energy, c->virial,
                (uint64_t)c->contacts, t.energy, t.virial, (uint64_t)t.contacts, t.overlaps,
                t.others);
    }
    return ERGO_OK;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct stretch *a = r->state;
    struct lj_state *s = a->s;
    int64_t *shares = malloc(8 * LJ_TOTALS * s->batch->count * s->launch.total_parts);
    int64_t left = SUMMED;
    enum ergo_status status =
        shares ? lj_settle(ctx, s) : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = lj_total_shares(ctx, s, false, shares);
    for (size_t k = a->count; k-- > 0 && status == ERGO_OK;)
        status = compare_member(ctx, r, k, shares, &left);
    if (status == ERGO_OK)
        status = compare_sums(ctx, s, shares);
    free(shares);
    give_back(a);
    return status;
}

static enum ergo_status sums_alone(struct ergo_context *ctx, struct lj_state *s) {
    int64_t *shares = malloc(8 * LJ_TOTALS * s->batch->count * s->launch.total_parts);
    enum ergo_status status = shares ? lj_total_shares(ctx, s, false, shares)
                                     : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = compare_sums(ctx, s, shares);
    free(shares);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct ergo_replay_row state_row(const char *what, cl_mem *mem, size_t bytes,
                                        struct ergo_replay_part *part) {
    return (struct ergo_replay_row){what, ERGO_REPLAY_STATE, mem, part, bytes};
}

static enum ergo_status replay(struct ergo_context *ctx, struct stretch *a) {
    struct lj_state *s = a->s;
    const size_t members = s->batch->count, cells = (size_t)s->grid.cells;
    const size_t chains = members * sizeof *s->chains;
    const size_t counts = 4 * a->curves * members * s->launch.total_parts * (size_t)s->launch.bins;
    const size_t slotted = 16 * cells * s->slots;
    const bool board = s->launch.board_blocks != 0, planes = !s->launch.slotted;
    struct ergo_replay_part particles = {16 * (size_t)s->capacity * a->first, 0, 1};
    struct ergo_replay_part of_cells = {planes ? 16 * cells * a->first : slotted * a->first,
                                        16 * cells * members, planes ? s->slots : 1};
    struct ergo_replay_part own = {8 * cells * a->first, 8 * cells * members, s->slots};
    struct ergo_replay_row rows[ERGO_REPLAY_ROWS] = {
        {"step", ERGO_REPLAY_HOST, NULL, &s->step, sizeof s->step},
        {"chains on the host", ERGO_REPLAY_HOST, NULL, s->chains, chains},
        {"samples", ERGO_REPLAY_RESULT, &s->blocks[0].samples, NULL,
         a->samples * members * sizeof(struct lj_sample)},
    };
    size_t n = 3;
    rows[n++] = state_row("chains", &s->chain_buffer, chains, NULL);
    if (board) { /* the particles are a list made of the cells, before each use */
        rows[n++] = (struct ergo_replay_row){"particles", ERGO_REPLAY_RESULT, &s->particles, NULL,
                                             16 * members * (size_t)s->capacity};
        rows[n++] = state_row("full cells", &s->full, 4 * members, NULL);
        rows[n++] = state_row("sums of active cells", &s->board_parts,
                              LJ_PART_BYTES * (size_t)s->launch.board_blocks * members, NULL);
    } else {
        rows[n++] =
            state_row("particles", &s->particles, 16 * (size_t)s->capacity * a->count, &particles);
        rows[n++] = (struct ergo_replay_row){"sums of trial moves", ERGO_REPLAY_RESULT, &s->parts,
                                             NULL, 32 * members * s->launch.blocks};
    }
    if (s->system.neighbours != LJ_NONE)
        rows[n++] =
            state_row("cells", &s->cells, (planes ? 16 * cells : slotted) * a->count, &of_cells);
    if (s->launch.own)
        rows[n++] = state_row("pair energies", &s->own, 8 * cells * a->count, &own);
    if (counts)
        rows[n++] = (struct ergo_replay_row){"pair counts", ERGO_REPLAY_RESULT,
                                             &s->blocks[0].counts, NULL, counts};
    const size_t sizes[2] = {s->launch.bins, s->launch.bins};
    struct ergo_replay r = {.sampler = "lj-gcmc",
                            .remedy = "/tuning/work_group",
                            .device = s->device,
                            .state = a,
                            .rows = rows,
                            .n_rows = n,
                            .members = members,
                            .n_columns = LJ_COLUMNS,
                            .n_curves = s->launch.bins ? 2 : 0,
                            .curve_sizes = sizes,
                            .step = a->start,
                            .samples = a->samples,
                            .every = a->every,
                            .first_sample = a->first_sample,
                            .advance = advance,
                            .collect = collect,
                            .compare = compare};
    return ergo_replay(ctx, &r);
}

enum ergo_status lj_replay(struct ergo_context *ctx, struct lj_state *s) {
    struct stretch a = {.s = s};
    plan_stretch(&a);
    enum ergo_status status = open_twins(ctx, &a);
    const bool open = status == ERGO_OK;
    /* in two launches at least, as where there are many particles */
    s->pairs_end = a.end;
    s->pairs_each = (a.end + 1) / 2;
    if (status == ERGO_OK)
        status = replay(ctx, &a);
    if (open && status == ERGO_E_DEVICE) { /* a run that is done needs no more */
        ergo_log(ctx, ERGO_LOG_WARNING, "audit of lj-gcmc without a replay: %s",
                 ergo_error_message(ctx));
        ergo_error_clear(ctx);
        status = sums_alone(ctx, s);
    }
    s->pairs_end = UINT32_MAX;
    s->pairs_each = 0;
    close_stretch(&a);
    return status;
}
