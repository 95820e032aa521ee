/*
 * Audit: state and measurements of the device against the host.
 *
 * For every walker, the running ln psi against the sum over all pairs. For as many walkers as the
 * host has time for, a replayed stretch of the run with its measurements: positions, sums of u of
 * the atoms, ln psi, accepted moves, energies, and the positions from which g(r) and S(k) are
 * computed. Displaced atoms, from these. While walkers start, also the macroupdates that end with a
 * tuning of the displacement and with the copies of walkers. At step 0, the starting configuration.
 */
#include <stdlib.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"
#include "samplers/helium_vmc/helium_vmc.h"

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of helium-vmc");
}

/* ---- stretches ------------------------------------------------------------------------------- */

/* Energies beyond the fixed point end a run, with an error of the job. An audit ignores them,
 * because the run may never measure at these macroupdates. */
static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    const enum ergo_status status = ergo_engine_collect(ctx, state, slot, samples);
    if (status != ERGO_E_JOB)
        return status;
    ergo_error_clear(ctx);
    return ERGO_OK;
}

static enum ergo_status replay(struct ergo_context *ctx, struct helium_state *s, uint64_t step,
                               size_t samples, uint64_t every) {
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t now = s->e.step;
    const struct ergo_replay_row rebuild = {.what = "rebuild",
                                            .kind = ERGO_REPLAY_HOST,
                                            .host = &s->rebuild,
                                            .bytes = sizeof s->rebuild};
    size_t sizes[HELIUM_CURVES];
    for (size_t c = 0; c < HELIUM_CURVES; c++)
        sizes[c] = ergo_point_curve_size(point, c);
    struct ergo_replay r = {.remedy = "/tuning/path and /tuning/work_group",
                            .n_columns = point->job->model->n_columns,
                            .n_curves = HELIUM_CURVES,
                            .curve_sizes = sizes,
                            .samples = samples,
                            .every = every,
                            .advance = samples * every == 1 && helium_tunes_at(s, step + 1)
                                           ? helium_advance_tuned
                                           : ergo_engine_advance,
                            .collect = collect,
                            .compare = helium_compare};
    /* sums that the stretch rebuilds are cleared first, so that old ones are not taken for new
     * ones */
    const enum ergo_buffer_kind kind = s->e.buffers[HELIUM_ATOM_SUMS].kind;
    if (s->rebuild && kind == ERGO_BUFFER_STATE)
        s->e.buffers[HELIUM_ATOM_SUMS].kind = ERGO_BUFFER_RESULT;
    s->e.step = step;
    s->replays = true;
    const enum ergo_status status = ergo_engine_replay(ctx, &s->e, &r, &rebuild, 1);
    s->replays = false;
    s->e.step = now;
    s->e.buffers[HELIUM_ATOM_SUMS].kind = kind;
    return status;
}

/* From the run's step: two samples of three macroupdates each, or fewer, so that the host can
 * follow at least one walker and nothing of the start (tuning, copies) falls into the stretch. */
static enum ergo_status replay_chain(struct ergo_context *ctx, struct helium_state *s) {
    const double pairs = (double)s->shape.n * s->shape.n;
    const uint64_t launch = ergo_plan_launch(&s->e.plan, s->launch.launch_steps), step = s->e.step;
    uint64_t next = UINT64_MAX; /* step after which something of the start is due */
    if (step < s->shape.start_steps)
        next = s->members[0].target ? (step / HELIUM_TUNE_EVERY + 1) * HELIUM_TUNE_EVERY
                                    : s->shape.start_steps;
    next = step < s->shape.start_steps && next > s->shape.start_steps ? s->shape.start_steps : next;
    size_t samples = s->e.block_samples > 1 && launch > 1 ? 2 : 1;
    uint64_t every = 3;
    while (every > 1 && ((double)samples * pairs * (2 * (double)every + 2) > helium_audit_pairs ||
                         samples * every > launch || step + samples * every >= next))
        every--;
    if ((double)samples * pairs * 4 > helium_audit_pairs || step + samples * every >= next)
        samples = every = 1;
    return replay(ctx, s, step, samples, every);
}

/* The next macroupdate that ends with a tuning, and the one that ends with the copies, if the
 * start is not over. */
static enum ergo_status replay_start(struct ergo_context *ctx, struct helium_state *s) {
    /* acceptances near the target, far below and far above it: the last two reach the limit of a
     * quarter */
    static const uint32_t as[3] = {15, 0, 48};
    const uint64_t end = s->shape.start_steps;
    const uint64_t tuned = (s->e.step / HELIUM_TUNE_EVERY + 1) * HELIUM_TUNE_EVERY;
    enum ergo_status status = ERGO_OK;
    for (int i = 0; i < 3 && s->e.step < end && helium_tunes_at(s, tuned) && status == ERGO_OK;
         i++) {
        s->tuned_as = as[i];
        status = replay(ctx, s, tuned - 1, 1, 1);
    }
    if (status == ERGO_OK && s->e.step < end && helium_multiplies_at(s, end) && !(end == tuned))
        status = replay(ctx, s, end - 1, 1, 1);
    return status;
}

/* ---- what there is --------------------------------------------------------------------------- */

static enum ergo_status differs(struct ergo_context *ctx, const struct helium_state *s,
                                size_t member, const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of helium-vmc failed on %s (%s) at macroupdate %llu: %s of member %zu "
                     "differ between the device and the host",
                     s->e.device->summary.name, s->e.device->summary.driver,
                     (unsigned long long)s->e.step, what, member);
}

/* Running ln psi of all walkers against all pairs, by the kernel that made the first one. */
static enum ergo_status compare_running(struct ergo_context *ctx, struct helium_state *s) {
    const size_t all = s->e.batch->count * s->shape.walkers;
    struct helium_walker *walkers = malloc(all * sizeof *walkers + 1);
    struct helium_sums *sums = malloc(all * sizeof *sums + 1);
    enum ergo_status status = walkers && sums ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        /* so that an old result is not taken for a new one */
        ergo_engine_fill(&s->e, HELIUM_SUMS, 0xff);
        helium_energy(s, HELIUM_SUMS, 0, true);
        ergo_engine_read(&s->e, HELIUM_SUMS, 0, all * sizeof *sums, sums);
        ergo_engine_read(&s->e, HELIUM_WALKERS, 0, all * sizeof *walkers, walkers);
        status = ergo_engine_end(&s->e);
    }
    for (size_t i = 0; i < all && status == ERGO_OK; i++)
        if (2 * walkers[i].ln_psi != sums[i].ln_psi)
            status = differs(ctx, s, i / s->shape.walkers,
                             "the running ln psi of a walker and that of all its pairs");
    free(walkers);
    free(sums);
    return status;
}

/* Starting configurations of each member's last walkers, as many as the host has time for. */
static enum ergo_status compare_beginning(struct ergo_context *ctx, struct helium_state *s) {
    const struct helium_shape *h = &s->shape;
    const size_t bytes = h->walker_bytes;
    int32_t *expected = malloc(bytes * h->walkers), *found = malloc(bytes);
    enum ergo_status status = expected && found ? ERGO_OK : no_memory(ctx);
    double spent = 0;
    ergo_engine_begin(&s->e, ctx);
    for (size_t m = s->e.batch->count;
         m-- > 0 && spent < helium_audit_pairs && status == ERGO_OK;) {
        status = helium_start_places(ctx, s->e.batch->points[m], &s->models[m], &s->members[m],
                                     h->sites, h->walkers, expected);
        for (uint32_t w = h->walkers; w-- > 0 && spent < helium_audit_pairs && status == ERGO_OK;) {
            int32_t *place = expected + 3 * (size_t)w * h->n;
            ergo_engine_read(&s->e, HELIUM_POSITIONS, (m * h->walkers + w) * bytes, bytes, found);
            status = ergo_engine_end(&s->e);
            if (status == ERGO_OK && memcmp(found, place, bytes) != 0)
                status = differs(ctx, s, m, "the atoms of the start");
            spent += 8 * (double)h->n;
        }
    }
    free(expected);
    free(found);
    return status;
}

static enum ergo_status compare_factors(struct ergo_context *ctx, struct helium_state *s) {
    enum ergo_status status = ERGO_OK;
    ergo_engine_begin(&s->e, ctx);
    for (size_t m = 0; m < s->e.batch->count && status == ERGO_OK; m++) {
        uint32_t factor = 0;
        ergo_engine_read(&s->e, HELIUM_FACTORS, 4 * m, 4, &factor);
        status = ergo_engine_end(&s->e);
        if (status == ERGO_OK && s->members[m].target == 0 && factor != HELIUM_FACTOR_ONE)
            status = differs(ctx, s, m, "the displacements");
    }
    return status;
}

enum ergo_status helium_audit(struct ergo_context *ctx, void *opaque) {
    struct helium_state *s = opaque;
    const double pairs = (double)s->shape.n * s->shape.n;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = compare_factors(ctx, s);
    if (status == ERGO_OK && s->e.step == 0 && !s->e.carried)
        status = compare_beginning(ctx, s);
    if (status == ERGO_OK)
        status = compare_running(ctx, s);
    if (status == ERGO_OK)
        status = replay_chain(ctx, s);
    if (status == ERGO_OK)
        status = replay_start(ctx, s);
    if (status == ERGO_OK && pairs > helium_most_pairs)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "the audit did not compare the energies of %u atoms with the host's: that would "
                 "take seconds",
                 s->shape.n);
    return status;
}
