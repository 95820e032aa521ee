/*
 * Audits: what the device keeps, makes and measures against what the host finds.
 *
 * Every walker: the running ln psi against the sum over all pairs. A stretch of the run, with its
 * measurements, replayed by twins of as many walkers as there is time for: places, sums of atoms,
 * ln psi, accepted moves, energies, the places that g(r) and S(k) are from. While walkers start,
 * two more stretches, of the macroupdates that end with a tuning and with copies. At step 0 the
 * start.
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

/* Energies that the fixed point does not hold end a run with the key that is to blame; not an
 * audit, which is at macroupdates that no measurement of the run may be at. */
static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    const enum ergo_status status = helium_collect(ctx, state, slot, samples);
    if (status != ERGO_E_JOB)
        return status;
    ergo_error_clear(ctx);
    return ERGO_OK;
}

static enum ergo_status replay(struct ergo_context *ctx, struct helium_state *s, uint64_t step,
                               size_t samples, uint64_t every) {
    const struct helium_shape *h = &s->shape;
    const size_t all = s->batch->count * h->walkers, most = s->launch.block_samples;
    const uint64_t now = s->step;
    struct ergo_replay_row rows[10] = {
        [HELIUM_ROW_POSITIONS] = {"walkers' atoms", ERGO_REPLAY_STATE, &s->positions, NULL,
                                  all * h->walker_bytes},
        [HELIUM_ROW_WALKERS] = {"walkers", ERGO_REPLAY_STATE, &s->walkers, NULL,
                                all * HELIUM_WALKER_BYTES},
        [HELIUM_ROW_FACTORS] = {"displacements", ERGO_REPLAY_STATE, &s->factors, NULL,
                                4 * s->batch->count},
        {"sums of atoms", s->rebuild ? ERGO_REPLAY_RESULT : ERGO_REPLAY_STATE, &s->atom_sums, NULL,
         all * h->n * 8},
        {"samples", ERGO_REPLAY_RESULT, &s->slots[0].sums, NULL, all * most * HELIUM_SUMS_BYTES},
        {"step", ERGO_REPLAY_HOST, NULL, &s->step, sizeof s->step},
        {"rebuild", ERGO_REPLAY_HOST, NULL, &s->rebuild, sizeof s->rebuild}};
    size_t n_rows = 7;
    if (s->attempts)
        rows[n_rows++] =
            (struct ergo_replay_row){"sums of trials", ERGO_REPLAY_RESULT, &s->attempts, NULL,
                                     all * helium_attempt_bytes(h, &s->launch)};
    if (s->decisions)
        rows[n_rows++] =
            (struct ergo_replay_row){"accepted moves", ERGO_REPLAY_RESULT, &s->decisions, NULL,
                                     all * helium_decision_bytes(&s->launch)};
    if (s->energy_parts)
        rows[n_rows++] =
            (struct ergo_replay_row){"parts of energies", ERGO_REPLAY_RESULT, &s->energy_parts,
                                     NULL, all * s->launch.energy_pieces * HELIUM_SUMS_BYTES};
    const struct ergo_point *point = s->batch->points[0];
    size_t sizes[3];
    for (size_t c = 0; c < 3; c++)
        sizes[c] = ergo_point_curve_size(point, c);
    struct ergo_replay r = {.sampler = "helium-vmc",
                            .remedy = "/tuning/path and /tuning/work_group",
                            .device = s->device,
                            .state = s,
                            .rows = rows,
                            .n_rows = n_rows,
                            .members = s->batch->count,
                            .n_columns = point->job->model->n_columns,
                            .n_curves = 3,
                            .curve_sizes = sizes,
                            .step = step,
                            .samples = samples,
                            .every = every,
                            .advance = samples * every == 1 && helium_tunes_at(s, step + 1)
                                           ? helium_advance_tuned
                                           : helium_advance,
                            .collect = collect,
                            .compare = helium_compare};
    s->step = step;
    const enum ergo_status status = ergo_replay(ctx, &r);
    s->step = now;
    return status;
}

/* From the run's own step: two samples of three macroupdates where there is time for one walker at
 * least, and no start in it that ends. */
static enum ergo_status replay_chain(struct ergo_context *ctx, struct helium_state *s) {
    const double pairs = (double)s->shape.n * s->shape.n;
    const uint64_t launch = s->launch.launch_steps, step = s->step;
    uint64_t next = UINT64_MAX; /* step after which something of the start is due */
    if (step < s->shape.start_steps)
        next = s->members[0].target ? (step / HELIUM_TUNE_EVERY + 1) * HELIUM_TUNE_EVERY
                                    : s->shape.start_steps;
    next = step < s->shape.start_steps && next > s->shape.start_steps ? s->shape.start_steps : next;
    size_t samples = s->launch.block_samples > 1 && launch > 1 ? 2 : 1;
    uint64_t every = 3;
    while (every > 1 && ((double)samples * pairs * (2 * (double)every + 2) > helium_audit_pairs ||
                         samples * every > launch || step + samples * every >= next))
        every--;
    if ((double)samples * pairs * 4 > helium_audit_pairs || step + samples * every >= next)
        samples = every = 1;
    return replay(ctx, s, step, samples, every);
}

/* The macroupdates that end with a tuning and with copies, while there are such ahead. */
static enum ergo_status replay_start(struct ergo_context *ctx, struct helium_state *s) {
    /* nearly as wanted; so few and so many accepted moves that it changes by a quarter */
    static const uint32_t as[3] = {15, 0, 48};
    const uint64_t end = s->shape.start_steps;
    const uint64_t tuned = (s->step / HELIUM_TUNE_EVERY + 1) * HELIUM_TUNE_EVERY;
    enum ergo_status status = ERGO_OK;
    for (int i = 0; i < 3 && s->step < end && helium_tunes_at(s, tuned) && status == ERGO_OK; i++) {
        s->tuned_as = as[i];
        status = replay(ctx, s, tuned - 1, 1, 1);
    }
    if (status == ERGO_OK && s->step < end && helium_multiplies_at(s, end) && !(end == tuned))
        status = replay(ctx, s, end - 1, 1, 1);
    return status;
}

/* ---- what there is --------------------------------------------------------------------------- */

static enum ergo_status differs(struct ergo_context *ctx, const struct helium_state *s,
                                size_t member, const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of helium-vmc failed on %s (%s) at macroupdate %llu: %s of member %zu "
                     "differ between the device and the host",
                     s->device->summary.name, s->device->summary.driver,
                     (unsigned long long)s->step, what, member);
}

/* All walkers: running ln psi against all pairs, by the kernel that began it. */
static enum ergo_status compare_running(struct ergo_context *ctx, struct helium_state *s) {
    const size_t all = s->batch->count * s->shape.walkers, bytes = all * HELIUM_SUMS_BYTES;
    struct helium_walker *walkers = malloc(all * sizeof *walkers + 1);
    struct helium_sums *sums = malloc(bytes + 1);
    enum ergo_status status = walkers && sums ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK) {
        memset(sums, 0xff, bytes); /* what is there may be the right answer */
        status = ergo_buffer_write(ctx, s->device, s->slots[0].sums, 0, bytes, sums);
    }
    if (status == ERGO_OK)
        status = helium_run_energy(ctx, s, s->slots[0].sums, 0, true);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->slots[0].sums, 0, bytes, sums);
    if (status == ERGO_OK)
        status =
            ergo_buffer_read(ctx, s->device, s->walkers, 0, all * HELIUM_WALKER_BYTES, walkers);
    for (size_t i = 0; i < all && status == ERGO_OK; i++)
        if (2 * walkers[i].ln_psi != sums[i].ln_psi)
            status = differs(ctx, s, i / s->shape.walkers,
                             "the running ln psi of a walker and that of all its pairs");
    free(walkers);
    free(sums);
    return status;
}

/* The members' last walkers, as many as there is time for. */
static enum ergo_status compare_beginning(struct ergo_context *ctx, struct helium_state *s) {
    const struct helium_shape *h = &s->shape;
    const size_t bytes = h->walker_bytes;
    const bool file = ergo_point_value(s->batch->points[0], "/system/start")->present;
    int32_t *expected = malloc(bytes * h->walkers), *found = malloc(bytes);
    enum ergo_status status = expected && found ? ERGO_OK : no_memory(ctx);
    double spent = 0;
    for (size_t m = s->batch->count; m-- > 0 && spent < helium_audit_pairs && status == ERGO_OK;) {
        if (file)
            status =
                helium_start_read(ctx, s->batch->points[m], &s->models[m], h->walkers, expected);
        for (uint32_t w = h->walkers; w-- > 0 && spent < helium_audit_pairs && status == ERGO_OK;) {
            struct helium_twin t = {.member = &s->members[m],
                                    .n = h->n,
                                    .walker = w,
                                    .place = expected + 3 * (size_t)w * h->n};
            if (!file)
                helium_twin_start(h, &t);
            status = ergo_buffer_read(ctx, s->device, s->positions, (m * h->walkers + w) * bytes,
                                      bytes, found);
            if (status == ERGO_OK && memcmp(found, t.place, bytes) != 0)
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
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        uint32_t factor = 0;
        status = ergo_buffer_read(ctx, s->device, s->factors, 4 * m, 4, &factor);
        if (status == ERGO_OK && s->members[m].target == 0 && factor != HELIUM_FACTOR_ONE)
            status = differs(ctx, s, m, "the displacements");
    }
    return status;
}

enum ergo_status helium_audit(struct ergo_context *ctx, void *opaque) {
    struct helium_state *s = opaque;
    const double pairs = (double)s->shape.n * s->shape.n;
    enum ergo_status status = ergo_constants_check(ctx, s->device, &s->constants, "helium-vmc");
    if (status == ERGO_OK)
        status = compare_factors(ctx, s);
    if (status == ERGO_OK && s->step == 0)
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
