/*
 * The end of a replayed stretch against the twins: chains, samples, g(r), and sums over all pairs.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "dist/dist.h"
#include "samplers/lj_gcmc/cut.h"
#include "samplers/lj_gcmc/stretch.h"

/* particles whose sums the host computes again: some tenths of a second */
enum { SUMMED = 1 << 15 };

static const char *wrong_sample(const struct lj_stretch *a, const struct ergo_replay *r, size_t k) {
    const size_t m = a->first + k;
    for (size_t i = 0; i < a->samples; i++) {
        const double *found = r->found.columns + (i * r->members + m) * LJ_COLUMNS;
        const double *expected = a->columns + (i * a->count + k) * LJ_COLUMNS;
        if (a->s->boxes == 2) {
            if (!ergo_replay_same(found, expected, LJ_GIBBS_COLUMNS))
                return "a sample of the boxes";
            continue;
        }
        if (!ergo_replay_same(found, expected, LJ_COLUMN_TRIED))
            return "N, the energy or the virials of a sample";
        if (!ergo_replay_same(found + LJ_COLUMN_TRIED, expected + LJ_COLUMN_TRIED, 6))
            return "the counts of moves tried or accepted";
        if (!ergo_replay_same(found + LJ_COLUMN_GHOSTS, expected + LJ_COLUMN_GHOSTS, 1))
            return "the weights of test insertions";
        if (!ergo_replay_same(found + LJ_COLUMN_VOLUME, expected + LJ_COLUMN_VOLUME, 3))
            return "the volume";
        if (!ergo_replay_same(found + LJ_COLUMN_RISES, expected + LJ_COLUMN_RISES, 2))
            return "the transition matrix";
        if (!ergo_replay_same(found + LJ_COLUMN_SPECIES, expected + LJ_COLUMN_SPECIES,
                              LJ_MOST_SPECIES))
            return "the particles of each species";
        if (!ergo_replay_same(found + LJ_COLUMN_GHOSTS_OF, expected + LJ_COLUMN_GHOSTS_OF,
                              LJ_MOST_SPECIES))
            return "the weights of test insertions of each species";
    }
    for (size_t curve = 0; curve < a->curves; curve++) {
        double *found[LJ_CURVES], *expected[LJ_CURVES];
        lj_curve_rows_at(a->s, r->found.curves, curve * r->members + m, found);
        lj_curve_rows_at(a->s, a->expected, curve * a->count + k, expected);
        for (size_t c = 0; c < LJ_CURVES; c++)
            if (found[c] && !ergo_replay_same(found[c], expected[c], a->s->curve_sizes[c]))
                return c == LJ_CURVE_PROFILE ? "the density profile"
                       : c >= LJ_CURVE_GR_OF ? "the pairs of two species"
                                             : "the pairs of g(r)";
    }
    return NULL;
}

static const struct lj_sample *sample_of(const struct lj_state *s, size_t sample, size_t member) {
    return (const struct lj_sample *)ergo_engine_host(&s->e, LJ_SAMPLES, 0, sample) + member;
}

/* Sums of the activation over all active cells against the sample, and the followed active cells
 * against the twin. */
static const char *wrong_parts(const struct lj_stretch *a, const struct lj_twin *t, size_t k,
                               const struct lj_part *parts) {
    const size_t m = a->first + k;
    const struct lj_sample *last = sample_of(a->s, a->samples - 1, m);
    struct lj_chain sums = a->before[k];
    struct lj_counts tried, accepted;
    if (a->samples > 1) {
        const struct lj_sample *before = sample_of(a->s, a->samples - 2, m);
        sums.energy = before->energy;
        sums.virial = before->virial;
        sums.contacts = before->contacts;
        sums.particles = before->particles;
    }
    struct lj_turn turn = {0};
    uint64_t from, to;
    lj_cut_blocks(a->s, &from, &to);
    for (uint64_t b = from; b < to; b++) {
        const struct lj_part *p = &parts[b];
        struct lj_part expected;
        if (lj_twin_board_part(t, b, &expected) && memcmp(&expected, p, sizeof expected) != 0)
            return "the moves of an active cell";
        turn.energy += p->energy;
        turn.virial += p->virial;
        turn.contacts += p->contacts;
        turn.particles += (uint64_t)(int64_t)p->particles;
        turn.tried[0] += p->tried & 0xffff;
        turn.tried[1] += p->tried >> 16;
        turn.tried[2] += a->s->system.trials - (p->tried & 0xffff) - (p->tried >> 16);
        turn.accepted[0] += p->accepted & 0xffff;
        turn.accepted[1] += p->accepted >> 16;
        turn.accepted[2] += p->accepted_deletion;
    }
    if (a->s->cut)
        ergo_dist_sum_counts((uint64_t *)(void *)&turn, sizeof turn / sizeof(uint64_t));
    sums.energy += turn.energy;
    sums.virial += turn.virial;
    sums.contacts += turn.contacts;
    sums.particles += (uint32_t)turn.particles;
    tried = (struct lj_counts){(uint32_t)turn.tried[0], (uint32_t)turn.tried[1],
                               (uint32_t)turn.tried[2]};
    accepted = (struct lj_counts){(uint32_t)turn.accepted[0], (uint32_t)turn.accepted[1],
                                  (uint32_t)turn.accepted[2]};
    return sums.energy != last->energy || sums.virial != last->virial ||
                   sums.contacts != last->contacts || sums.particles != last->particles ||
                   memcmp(&tried, &last->now, sizeof tried) != 0 ||
                   memcmp(&accepted, &last->last, sizeof accepted) != 0
               ? "the sums of a sample over the active cells"
               : NULL;
}

/* A checkerboard followed in part: move the twin on and take from the samples the counts of all
 * active cells. */
static enum ergo_status follow_part(struct ergo_context *ctx, const struct ergo_replay *r,
                                    struct lj_stretch *a, size_t k, const struct lj_twin *end,
                                    const char **wrong) {
    struct lj_state *s = a->s;
    struct lj_twin *t = &a->twins[k];
    const size_t m = a->first + k, bytes = LJ_PART_BYTES * (size_t)s->launch.board_blocks;
    struct lj_part *parts = malloc(bytes);
    if (!parts)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    ergo_engine_read(&s->e, LJ_ACTIVE_CELLS, bytes * m, bytes, parts);
    enum ergo_status status = ergo_engine_end(&s->e);
    for (size_t i = 0; i < a->samples && status == ERGO_OK; i++) {
        const struct lj_sample *sample = sample_of(s, i, m);
        if (!lj_twin_step(t))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
        lj_twin_board_set_counts(t, sample);
        lj_columns_of(s, m, sample, NULL, t->step, a->columns + (i * a->count + k) * LJ_COLUMNS);
    }
    if (status == ERGO_OK && a->curves) {
        /* g(r) of the last sample only */
        const size_t bins = s->launch.bins;
        for (size_t curve = 0; curve < a->curves; curve++)
            for (int c = 0; c < 2; c++)
                memcpy(a->expected[c] + (curve * a->count + k) * bins,
                       r->found.curves[c] + (curve * r->members + m) * bins, bins * sizeof(double));
        lj_stretch_expect(a, k, a->curves - 1, end);
    }
    if (status == ERGO_OK)
        *wrong = wrong_parts(a, t, k, parts);
    free(parts);
    return status;
}

static const char *wrong_chain(const struct lj_stretch *a, const struct lj_twin *t,
                               const struct lj_chain *found, const uint32_t *words, uint32_t n) {
    const struct lj_chain expected = lj_twin_chain(t);
    if (found->step != expected.step)
        return "the moves that were made";
    if (found->step_size != expected.step_size)
        return "the largest displacements";
    if (t->board && !lj_twin_board_same(t, words, n))
        return "the particles";
    if (lj_stretch_partial(a))
        return NULL;
    if (!t->board &&
        (found->particles != t->n || memcmp(words, t->p, (size_t)t->n * sizeof *t->p) != 0))
        return "the particles";
    return memcmp(found, &expected, sizeof expected) != 0 ? "the running sums or counts" : NULL;
}

/* Partial sums over all pairs on the device against the host's, beginning with the last
 * particles. */
struct shares {
    const struct lj_state *s;
    const struct lj_twin *end;
    const int64_t *shares;
    uint32_t first, count; /* of the particles of `end` */
    atomic_bool wrong;
};

static void compare_share(size_t i, void *user) {
    struct shares *a = user;
    const uint32_t parts = a->s->launch.total_parts, p = parts - 1 - (uint32_t)i;
    const struct lj_twin_sums sums =
        lj_twin_total(a->end, a->first, a->count, a->s->launch.total_group, parts, p);
    const int64_t *of = a->shares + LJ_TOTALS * p;
    if (sums.core || of[0] != sums.energy || of[1] != sums.virial || of[2] != sums.contacts)
        a->wrong = true;
}

static const char *wrong_shares(const struct lj_state *s, const struct lj_twin *end,
                                const int64_t *shares, int64_t *left) {
    struct shares a = {.s = s,
                       .end = end,
                       .shares = shares,
                       .first = s->cut ? (uint32_t)s->at.first : 0,
                       .count = s->cut ? (uint32_t)s->at.count : end->n};
    const uint32_t parts = s->launch.total_parts;
    uint32_t n = 0;
    for (; n<parts && * left> 0; *left -= end->n / parts + 1)
        n++;
    ergo_parallel(n, SIZE_MAX, compare_share, &a);
    return a.wrong ? "the sums from scratch" : NULL;
}

/* Of a checkerboard followed in part: all partial sums of the first particles alone. */
static enum ergo_status compare_first(struct ergo_context *ctx, const struct lj_stretch *a,
                                      size_t chain, const struct lj_twin *end, const char **wrong) {
    struct lj_state *s = a->s;
    int64_t *shares = malloc((size_t)s->e.buffers[LJ_SHARES].bytes);
    if (!shares)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    lj_total_first(s, chain, a->own, shares);
    struct shares of = {.s = s,
                        .end = end,
                        .shares = shares + LJ_TOTALS * chain * s->launch.total_parts,
                        .count = a->own};
    if (s->e.status == ERGO_OK)
        ergo_parallel(s->launch.total_parts, SIZE_MAX, compare_share, &of);
    *wrong = of.wrong ? "the sums from scratch" : NULL;
    free(shares);
    return ergo_engine_end(&s->e);
}

/* k: of the replayed chains. */
static enum ergo_status compare_chain(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t k, const int64_t *shares, int64_t *left) {
    struct lj_stretch *a = r->state;
    struct lj_state *s = a->s;
    struct lj_twin *t = &a->twins[k], end = {0};
    const size_t chain = a->first * s->boxes + k, m = chain / s->boxes;
    const bool part = lj_stretch_partial(a);
    uint32_t *words = NULL, *first = NULL, n, seen = 0;
    const char *wrong = NULL;
    enum ergo_status status = part ? lj_fetch_window(ctx, s, chain, a->blocks, &words, &n)
                                   : lj_fetch(ctx, s, chain, &words, &n);
    const struct lj_chain found = s->chains[chain];
    struct lj_chain last_one = found;
    if (status == ERGO_OK && part)
        status = lj_fetch_first(ctx, s, chain, SUMMED, &first, &seen, &a->own);
    a->all = found.particles;
    last_one.particles = part ? seen : found.particles;
    if (status == ERGO_OK && t->board &&
        !lj_twin_init(&end, s->e.batch->points[m], 0, &last_one, part ? first : words, 0, NULL,
                      &s->tables))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    const struct lj_twin *const last = t->board ? &end : t;
    if (status == ERGO_OK && part)
        status = follow_part(ctx, r, a, k, last, &wrong);
    if (status == ERGO_OK && !wrong)
        wrong = wrong_chain(a, t, &found, words, n);
    if (status == ERGO_OK && !wrong)
        wrong = wrong_sample(a, r, k / s->boxes);
    if (status == ERGO_OK && !wrong && !part)
        wrong = wrong_shares(s, last, shares + LJ_TOTALS * chain * s->launch.total_parts, left);
    if (status == ERGO_OK && !wrong && part)
        status = compare_first(ctx, a, chain, last, &wrong);
    lj_twin_free(&end);
    free(words);
    free(first);
    if (status == ERGO_OK && wrong)
        return ergo_replay_differs(ctx, r, m, wrong);
    return status == ERGO_OK && !t->board ? lj_check_cells(ctx, s, chain) : status;
}

/* Running sums of all members against sums over all pairs. */
static enum ergo_status compare_sums(struct ergo_context *ctx, const struct lj_state *s,
                                     const int64_t *shares) {
    for (size_t m = 0; m < lj_chains(s); m++) {
        const struct lj_chain *c = &s->chains[m];
        const struct lj_totals t = lj_totals_of(s, m, shares);
        if (c->energy != t.energy || c->virial != t.virial || c->contacts != t.contacts ||
            t.overlaps || t.mismatches)
            return ERGO_FAIL(
                ctx, ERGO_E_AUDIT,
                "audit of %s failed on %s at move %" PRIu64 ", member %zu of %u particles: "
                "running energy %" PRId64 ", virial %" PRId64 " and contacts %" PRIx64
                ", from scratch %" PRId64 ", %" PRId64 " (units of 2^-30) and %" PRIx64 ", %" PRIu64
                " particles with an overlap, %" PRIu64 " with a wrong stored pair energy",
                s->e.model->sampler, s->e.device->summary.name, c->step, m / s->boxes, c->particles,
                c->energy, c->virial, (uint64_t)c->contacts, t.energy, t.virial,
                (uint64_t)t.contacts, t.overlaps, t.mismatches);
    }
    return ERGO_OK;
}

/* The device's partial sums over all pairs; malloc'ed. */
static enum ergo_status new_shares(struct ergo_context *ctx, struct lj_state *s, int64_t **shares) {
    *shares = malloc((size_t)s->e.buffers[LJ_SHARES].bytes);
    if (!*shares)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    ergo_engine_begin(&s->e, ctx);
    lj_total_shares(s, false, *shares);
    return ergo_engine_end(&s->e);
}

enum ergo_status lj_stretch_compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct lj_stretch *a = r->state;
    struct lj_state *s = a->s;
    int64_t *shares = NULL, left = (int64_t)(SUMMED / lj_stretch_work(s));
    enum ergo_status status = lj_settle(ctx, s);
    if (status == ERGO_OK)
        status = new_shares(ctx, s, &shares);
    for (size_t k = a->count * s->boxes; k-- > 0 && status == ERGO_OK;)
        status = compare_chain(ctx, r, k, shares, &left);
    if (status == ERGO_OK)
        status = compare_sums(ctx, s, shares);
    free(shares);
    return status;
}

enum ergo_status lj_compare_sums(struct ergo_context *ctx, struct lj_state *s) {
    int64_t *shares = NULL;
    enum ergo_status status = new_shares(ctx, s, &shares);
    if (status == ERGO_OK)
        status = compare_sums(ctx, s, shares);
    free(shares);
    return status;
}
