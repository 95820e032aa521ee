/*
 * Audit of facilitated dynamics: a stretch of the run, repeated by the run's launches and by the
 * host's twin.
 *
 * The stretch begins within a sweep. Its first part, the lead, ends after a whole sweep, and there
 * the audit sets t = 0. So the stretch contains the reference configuration, the counts of the
 * curves' first times, and some samples. On lattices too large for whole sweeps it is one launch of
 * attempts, the reference, and one sample. As many word-lattices as the host has time for are
 * replayed, among them the last one. For the others, the last sample is counted on the host from
 * the spins at the end on the device. At step 0 the starting configuration is compared, too.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

/* Attempts of the twin, and sites of the closure test (fac_twin_frozen), in one audit: some 0.1
 * s each. */
static const uint64_t replay_attempts = UINT64_C(1) << 20, closure_sites = UINT64_C(1) << 20;
/* Most sweeps of the stretch. More would find nothing else. */
static const uint64_t replay_sweeps = 32;

struct stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    struct fac_state *s;
    uint32_t from;     /* first attempt of the lead */
    uint64_t attempts; /* number of attempts in the lead */
    bool whole;        /* the stretch has whole sweeps after the lead */
    size_t lattices;   /* word-lattices that are replayed */
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Number of sweeps that end in the lead. */
static uint64_t lead_sweeps(const struct stretch *t) {
    return (t->from + t->attempts) / t->s->shape.sites;
}

static void plan_stretch(struct stretch *t) {
    const struct fac_state *s = t->s;
    const struct fac_launch *l = &s->launch;
    const uint64_t sites = s->shape.sites, n = fac_lattices(s);
    const int64_t measure = ergo_point_int(s->e.batch->points[0], "/run/measure_every");
    const uint64_t run = (uint64_t)ergo_point_int(s->e.batch->points[0], "/run/sweeps");
    const bool halves = l->mode == FAC_MODE_LAMBDA;
    const size_t two = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most = l->block_sweeps < 2 ? 2 * l->attempts : 2 * l->block_sweeps * sites;
    most = least(most, replay_attempts);
    /* the lead begins within a sweep and ends with the next one */
    t->from = (uint32_t)(halves ? sites / 2 : sites - sites / 3);
    t->attempts = halves ? sites / 2 : sites + sites / 3;
    t->whole = t->attempts + two * sites <= most;
    t->r.samples = t->whole ? two : 1;
    t->r.every = 0;
    if (t->whole) {
        const uint64_t sweeps = least(least((most - t->attempts) / sites, replay_sweeps), run);
        t->r.every = least(measure > 0 ? (uint64_t)measure : 1, sweeps > two ? sweeps / two : 1);
        t->r.samples = (size_t)least(sweeps / t->r.every, s->e.block_samples);
        t->r.samples = t->r.samples > two ? t->r.samples : two;
    } else if (!halves) {
        t->attempts = least(t->attempts, most);
        t->from = (uint32_t)(sites - (t->attempts + 2) / 3);
    }
    const uint64_t fit = replay_attempts / (t->attempts + t->r.samples * t->r.every * sites);
    t->lattices = fit < 1 ? 1 : fit < n ? (size_t)fit : (size_t)n;
}

/* Is a word-lattice among `some` that are spread evenly over all? The last one always is. */
static bool is_among(const struct fac_state *s, size_t some, size_t lattice) {
    const size_t n = fac_lattices(s);
    return (lattice + 1) * some / n != lattice * some / n;
}

/* The replay asks for the lead without a sample (count 0), then for the samples. */
static enum ergo_status advance(struct ergo_context *ctx, void *opaque, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    const struct stretch *t = opaque;
    struct fac_state *s = t->s;
    if (count)
        return ergo_engine_advance(ctx, s, slot, count, every, first_sample);
    ergo_engine_begin(&s->e, ctx);
    fac_attempts(s, s->e.step, t->from, t->attempts);
    s->e.step += lead_sweeps(t);
    s->origin = s->e.step;
    fac_event(s);
    return ergo_engine_end(&s->e);
}

static enum ergo_status collect(struct ergo_context *ctx, void *opaque, unsigned slot,
                                struct ergo_samples *samples) {
    return ergo_engine_collect(ctx, ((struct stretch *)opaque)->s, slot, samples);
}

/* ---- a word-lattice -------------------------------------------------------------------------- */

struct lattice {
    uint32_t *spins, *first, *flipped;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static size_t member_of(const struct fac_state *s, size_t lattice) {
    return lattice / s->shape.words;
}

/* Sites that can never flip, by the closure test, must not have flipped. work: [2][sites]. */
static bool frozen_stay(const struct fac_state *s, const struct lattice *a, uint32_t *work) {
    fac_twin_frozen(&s->shape, a->first, work, work + s->shape.sites);
    for (size_t i = 0; i < s->shape.sites; i++)
        if (work[s->shape.sites + i] & a->flipped[i])
            return false;
    return true;
}

/* Check the state before the stretch: spins that differ from the reference have flipped, frozen
 * sites have not, and at step 0 the start is right. origin: step of the run's t = 0. work:
 * [2][sites]. Returns what is wrong, or NULL. */
static const char *before_wrong(const struct stretch *t, size_t l, const struct lattice *a,
                                uint64_t origin, uint32_t *work) {
    const struct fac_state *s = t->s;
    const size_t sites = s->shape.sites, n = fac_lattices(s);
    const size_t close = 1 + (size_t)(closure_sites / sites);
    const unsigned mode = model_start(s->e.batch->points[0]);
    bool same = true;
    if (t->r.step == 0 && !s->e.carried && is_among(s, t->lattices, l)) {
        fac_twin_start(&s->shape, &s->members[member_of(s, l)], (uint32_t)(l % s->shape.words),
                       mode, work);
        for (size_t i = 0; i < sites; i++)
            same = same && a->spins[i] == work[i] && a->flipped[i] == 0 &&
                   a->first[i] == (origin == 0 ? work[i] : 0);
    }
    if (!same)
        return "the start";
    for (size_t i = 0; i < sites && t->r.step >= origin; i++)
        same = same && !((a->spins[i] ^ a->first[i]) & ~a->flipped[i]);
    if (!same)
        return "spins that differ from t = 0 without a flip";
    if (t->r.step >= origin && is_among(s, close < n ? close : n, l) && !frozen_stay(s, a, work))
        return "flips of a frozen spin";
    return NULL;
}

/* Compare the counts of sample i, or if i < 0 the counts at time k of the curves. */
static bool same_counts(const struct stretch *t, size_t l, const struct lattice *a, int i,
                        size_t k) {
    const struct fac_state *s = t->s;
    const size_t sample = i < 0 ? 0 : (size_t)i;
    const uint32_t *counts = ergo_engine_host(&s->e, FAC_SAMPLES, 0, sample);
    uint64_t expected[FAC_COUNTS];
    bool same = true;
    fac_twin_count(&s->shape, a->spins, a->first, a->flipped, expected);
    for (unsigned c = 0; c < FAC_COUNTS; c++)
        same =
            same && expected[c] == (i < 0 ? fac_record(s, k, member_of(s, l), l % s->shape.words, c)
                                          : fac_sum_parts(s, counts, l, c));
    uint64_t squares[FAC_SQUARES] = {0};
    if (i < 0 && s->each)
        fac_twin_squares(&s->shape, a->spins, a->first, a->flipped, squares);
    for (unsigned c = 0; c < FAC_SQUARES && i < 0 && s->each; c++)
        same = same && squares[c] == fac_square(s, k, member_of(s, l), l % s->shape.words, c);
    return same;
}

/* Compare the curves at the time that the twin has reached. */
static bool same_record(const struct stretch *t, size_t l, const struct lattice *a, uint64_t time) {
    bool same = true;
    for (size_t k = 0; k < t->s->n_times; k++)
        if ((uint64_t)t->s->times[k] == time)
            same = same && same_counts(t, l, a, -1, k);
    return same;
}

static bool twin_sweep(const struct stretch *t, size_t l, uint64_t step, const struct lattice *a) {
    const struct fac_shape *shape = &t->s->shape;
    const struct fac_member *m = &t->s->members[member_of(t->s, l)];
    const uint32_t word = (uint32_t)(l % shape->words);
    if (t->s->launch.mode == FAC_MODE_LAMBDA)
        return fac_twin_half(shape, m, word, step, 0, a->spins, a->flipped) &&
               fac_twin_half(shape, m, word, step, 1, a->spins, a->flipped);
    fac_twin_attempts(shape, m, word, step, 0, shape->sites, a->spins, a->flipped);
    return true;
}

/* a: the word-lattice before the stretch; the twin moves it to the end. b: the end on the
 * device. */
static enum ergo_status replay(struct ergo_context *ctx, const struct stretch *t, size_t l,
                               const struct lattice *a, const struct lattice *b) {
    const struct fac_state *s = t->s;
    const struct fac_member *m = &s->members[member_of(s, l)];
    const size_t bytes = 4 * s->shape.sites;
    const uint32_t word = (uint32_t)(l % s->shape.words);
    const uint64_t origin = t->r.step + lead_sweeps(t);
    uint64_t step = origin;
    bool memory = true, samples = true;
    if (s->launch.mode == FAC_MODE_LAMBDA)
        memory = fac_twin_half(&s->shape, m, word, t->r.step, 1, a->spins, a->flipped);
    else
        fac_twin_attempts(&s->shape, m, word, t->r.step, t->from, t->attempts, a->spins,
                          a->flipped);
    memcpy(a->first, a->spins, bytes);
    memset(a->flipped, 0, bytes);
    bool curves = same_record(t, l, a, 0);
    for (size_t i = 0; i < t->r.samples && memory; i++) {
        for (uint64_t e = 0; e < t->r.every && memory; e++) {
            memory = twin_sweep(t, l, step++, a);
            curves = curves && same_record(t, l, a, step - origin);
        }
        samples = samples && same_counts(t, l, a, (int)i, 0);
    }
    const char *wrong = memcmp(a->spins, b->spins, bytes) != 0       ? "the lattices"
                        : memcmp(a->first, b->first, bytes) != 0     ? "the spins at t = 0"
                        : memcmp(a->flipped, b->flipped, bytes) != 0 ? "the flips since t = 0"
                        : !samples                                   ? "up spins or unequal bonds"
                        : !curves ? "up spins, phi or persistence of the curves"
                                  : NULL;
    return !memory ? no_memory(ctx)
           : wrong ? ergo_replay_differs(ctx, &t->r, member_of(s, l), wrong)
                   : ERGO_OK;
}

/* Compare one word-lattice. work: [8][sites]. Adds its counts in the last sample to *up and
 * *unequal. */
static enum ergo_status compare_lattice(struct ergo_context *ctx, const struct stretch *t, size_t l,
                                        uint64_t origin, uint32_t *work, uint64_t *up,
                                        uint64_t *unequal) {
    struct fac_state *s = t->s;
    const size_t sites = s->shape.sites, last = t->r.samples - 1;
    const struct lattice before = {work, work + sites, work + 2 * sites};
    const struct lattice after = {work + 3 * sites, work + 4 * sites, work + 5 * sites};
    uint64_t expected[FAC_COUNTS];
    ergo_engine_begin(&s->e, ctx);
    for (unsigned k = FAC_SPINS; k <= FAC_FLIPPED; k++) {
        memcpy(work + k * sites, (const uint32_t *)t->r.kept[k] + l * sites, 4 * sites);
        ergo_engine_read(&s->e, k, l * 4 * sites, 4 * sites, work + (3 + k) * sites);
    }
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status != ERGO_OK)
        return status;
    const char *wrong = before_wrong(t, l, &before, origin, work + 6 * sites);
    if (wrong)
        return ergo_replay_differs(ctx, &t->r, member_of(s, l), wrong);
    if (is_among(s, t->lattices, l))
        status = replay(ctx, t, l, &before, &after);
    else if (!same_counts(t, l, &after, (int)last, 0))
        status = ergo_replay_differs(ctx, &t->r, member_of(s, l), "up spins or unequal bonds");
    fac_twin_count(&s->shape, after.spins, after.first, after.flipped, expected);
    *up += expected[0];
    *unequal += expected[3];
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct stretch *t = (const struct stretch *)r;
    struct fac_state *s = t->s;
    uint64_t origin = 0;
    bool done = true;
    memcpy(&origin, r->kept[ERGO_REPLAY_EXTRA], sizeof origin);
    uint32_t *work = malloc(8 * 4 * s->shape.sites);
    enum ergo_status status = work ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        const double *found = r->found.columns + ((r->samples - 1) * r->members + m) * COLUMNS;
        double columns[COLUMNS];
        uint64_t up = 0, unequal = 0;
        for (size_t w = 0; w < s->shape.words && status == ERGO_OK; w++)
            status = compare_lattice(ctx, t, m * s->shape.words + w, origin, work, &up, &unequal);
        memcpy(columns, found, sizeof columns);
        fac_columns(s, m, up, unequal, columns);
        if (status == ERGO_OK && !ergo_replay_same(columns, found, COLUMNS))
            status = ergo_replay_differs(ctx, r, m, "energy or magnetization");
    }
    if (status == ERGO_OK)
        status = fac_segments_done(ctx, s, &done);
    if (status == ERGO_OK && !done)
        status = ergo_replay_differs(ctx, r, r->members - 1, "numbers of finished segments");
    free(work);
    return status;
}

/* Once t = 0 is reached, the spins at t = 0 and their counts are constants. */
static enum ergo_status audit_reference(struct ergo_context *ctx, const struct stretch *t) {
    struct fac_state *s = t->s;
    const size_t sites = s->shape.sites, n = fac_lattices(s);
    struct ergo_engine *e = &s->e;
    /* reads of counts may be in the queue */
    enum ergo_status status = ergo_device_finish(ctx, e->device);
    if (status != ERGO_OK || e->step < s->origin)
        return status;
    status = s->reference_kept.n
                 ? ergo_constants_check(ctx, e->device, &s->reference_kept, "spin-lattice")
                 : ergo_constant_note(ctx, e->device, &s->reference_kept, "spins at t = 0",
                                      e->buffers[FAC_FIRST].mem[0], 4 * sites * n);
    uint32_t *first = calloc(2 * sites, 4);
    if (status == ERGO_OK && !first)
        status = no_memory(ctx);
    for (size_t l = 0; l < n && status == ERGO_OK && s->n_times; l++) {
        if (!is_among(s, t->lattices, l))
            continue;
        const struct lattice a = {first, first, first + sites};
        ergo_engine_begin(e, ctx);
        ergo_engine_read(e, FAC_FIRST, 4 * sites * l, 4 * sites, first);
        status = ergo_engine_end(e);
        if (status == ERGO_OK && !same_counts(t, l, &a, -1, 0))
            status = ergo_replay_differs(ctx, &t->r, member_of(s, l), "counts at t = 0");
    }
    free(first);
    return status;
}

enum ergo_status fac_audit(struct ergo_context *ctx, void *opaque) {
    struct fac_state *s = opaque;
    struct stretch t = {.r = {.sampler = "spin-lattice",
                              .remedy = "/tuning/path",
                              .device = s->e.device,
                              .n_columns = COLUMNS,
                              .step = s->e.step,
                              .lead = 1,
                              .advance = advance,
                              .collect = collect,
                              .compare = compare},
                        .s = s};
    const struct ergo_replay_row more[] = {
        /* first, because compare reads it as kept[ERGO_REPLAY_EXTRA] */
        {"origin", ERGO_REPLAY_HOST, NULL, &s->origin, sizeof s->origin},
        {"segments", ERGO_REPLAY_HOST, NULL, &s->segments, sizeof s->segments},
        {"counts", ERGO_REPLAY_HOST, NULL, s->recorded, 4 * s->n_times * s->launch.counts_length},
        {"counts", ERGO_REPLAY_HOST, NULL, s->loaded,
         s->n_times * fac_lattices(s) * FAC_COUNTS * sizeof *s->loaded},
        {"counts of realisations", ERGO_REPLAY_HOST, NULL, s->lanes,
         4 * s->n_times * s->lanes_length},
        {"squares", ERGO_REPLAY_HOST, NULL, s->squares,
         s->n_times * fac_lattices(s) * FAC_SQUARES * sizeof *s->squares},
    };
    t.r.state = &t;
    plan_stretch(&t);
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = audit_reference(ctx, &t);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, more, s->each ? 6 : 4) : status;
}
