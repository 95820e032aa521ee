/* Launches of time steps and of measurements. */
#include "samplers/helium_dmc/dmc.h"

/* A step's potential energies become records: 2: all of a walker's; 1: the newest; 0: none. */
static uint32_t push_of(const struct dmc_state *s) {
    return s->e.step == 0 ? 2 : s->shape.every && (s->e.step + 1) % s->shape.every == 0 ? 1 : 0;
}

/* A work-group a walker, or for several. */
static void step_groups(struct dmc_state *s) {
    const struct dmc_launch *l = &s->launch;
    const size_t crews = ((size_t)dmc_own(s) + l->mates - 1) / l->mates;
    const struct ergo_grid grid =
        ergo_grid_groups(s->e.batch->count * crews, (size_t)l->group * l->mates, 1);
    if (l->triplet)
        ERGO_LAUNCH(&s->e, DMC_STEP, grid, BUFFER(DMC_POSITIONS), BUFFER(DMC_PARENTS),
                    BUFFER(DMC_RECORDS), BUFFER(DMC_MEMBERS), BUFFER(DMC_STEPS),
                    BUFFER(DMC_E_TABLES), BUFFER(DMC_RANDOM), BUFFER(DMC_SITES), U64(s->e.step),
                    WALKERS(s), U32(push_of(s)), BUFFER(DMC_TRIPLETS), BUFFER(DMC_T_TABLES),
                    BUFFER(DMC_FIELDS), BUFFER(DMC_NEXT), BUFFER(DMC_NEXT_RECORDS),
                    BUFFER(DMC_EULER), BUFFER(DMC_MIDDLE), BUFFER(DMC_SUMS));
    else
        ERGO_LAUNCH(&s->e, DMC_STEP, grid, BUFFER(DMC_POSITIONS), BUFFER(DMC_PARENTS),
                    BUFFER(DMC_RECORDS), BUFFER(DMC_MEMBERS), BUFFER(DMC_STEPS),
                    BUFFER(DMC_E_TABLES), BUFFER(DMC_RANDOM), BUFFER(DMC_SITES), U64(s->e.step),
                    WALKERS(s), U32(push_of(s)), BUFFER(DMC_NEXT), BUFFER(DMC_NEXT_RECORDS),
                    BUFFER(DMC_EULER), BUFFER(DMC_MIDDLE), BUFFER(DMC_SUMS));
}

static struct ergo_grid spread_grid(const struct dmc_state *s) {
    return ergo_grid_groups(s->launch.shares, s->launch.group, s->e.batch->count * dmc_own(s));
}

/* Half the drift of atoms at `from`, to `to`. */
static void drift_half(struct dmc_state *s, enum dmc_buffer from, enum dmc_buffer to,
                       uint32_t mean) {
    if (s->launch.triplet)
        ERGO_LAUNCH(&s->e, DMC_DRIFT_HALF, spread_grid(s), BUFFER(from), BUFFER(DMC_NEXT),
                    BUFFER(DMC_MEMBERS), BUFFER(DMC_STEPS), BUFFER(DMC_E_TABLES), BUFFER(DMC_SITES),
                    WALKERS(s), U32(mean), BUFFER(DMC_TRIPLETS), BUFFER(DMC_T_TABLES),
                    BUFFER(DMC_FIELDS), BUFFER(to));
    else
        ERGO_LAUNCH(&s->e, DMC_DRIFT_HALF, spread_grid(s), BUFFER(from), BUFFER(DMC_NEXT),
                    BUFFER(DMC_MEMBERS), BUFFER(DMC_STEPS), BUFFER(DMC_E_TABLES), BUFFER(DMC_SITES),
                    WALKERS(s), U32(mean), BUFFER(to));
}

static void drift_whole(struct dmc_state *s) {
    if (s->launch.triplet)
        ERGO_LAUNCH(&s->e, DMC_DRIFT_WHOLE, spread_grid(s), BUFFER(DMC_MIDDLE), BUFFER(DMC_MEMBERS),
                    BUFFER(DMC_STEPS), BUFFER(DMC_E_TABLES), BUFFER(DMC_SITES), WALKERS(s),
                    BUFFER(DMC_TRIPLETS), BUFFER(DMC_T_TABLES), BUFFER(DMC_FIELDS),
                    BUFFER(DMC_NEXT), BUFFER(DMC_PARTS));
    else
        ERGO_LAUNCH(&s->e, DMC_DRIFT_WHOLE, spread_grid(s), BUFFER(DMC_MIDDLE), BUFFER(DMC_MEMBERS),
                    BUFFER(DMC_STEPS), BUFFER(DMC_E_TABLES), BUFFER(DMC_SITES), WALKERS(s),
                    BUFFER(DMC_NEXT), BUFFER(DMC_PARTS));
}

/* G of all atoms at these places. */
static void find_fields(struct dmc_state *s, enum dmc_buffer places) {
    if (s->launch.triplet)
        ERGO_LAUNCH(&s->e, DMC_FIELD,
                    ergo_grid_items(s->shape.n, 32, s->e.batch->count * dmc_own(s)), BUFFER(places),
                    BUFFER(DMC_MEMBERS), BUFFER(DMC_T_TABLES), WALKERS(s), BUFFER(DMC_FIELDS));
}

/* Many work-groups a walker. */
static void step_spread(struct dmc_state *s) {
    const size_t all = s->e.batch->count * dmc_own(s);
    ERGO_LAUNCH(&s->e, DMC_DIFFUSE, ergo_grid_items(s->shape.n, 32, all), BUFFER(DMC_POSITIONS),
                BUFFER(DMC_PARENTS), BUFFER(DMC_MEMBERS), BUFFER(DMC_RANDOM), U64(s->e.step),
                WALKERS(s), BUFFER(DMC_NEXT));
    find_fields(s, DMC_NEXT);
    drift_half(s, DMC_NEXT, DMC_EULER, 0);
    find_fields(s, DMC_EULER);
    drift_half(s, DMC_EULER, DMC_MIDDLE, 1);
    find_fields(s, DMC_MIDDLE);
    drift_whole(s);
    ERGO_LAUNCH(&s->e, DMC_COLLECT, ergo_grid_groups(1, 32, all), BUFFER(DMC_PARTS),
                BUFFER(DMC_PARENTS), BUFFER(DMC_RECORDS), BUFFER(DMC_STEPS), WALKERS(s),
                U32(push_of(s)), BUFFER(DMC_NEXT_RECORDS), BUFFER(DMC_SUMS));
}

static void step_walkers(struct dmc_state *s) {
    if (s->launch.lanes)
        step_spread(s);
    else
        step_groups(s);
    ergo_engine_swap(&s->e, DMC_POSITIONS, DMC_NEXT);
    ergo_engine_swap(&s->e, DMC_RECORDS, DMC_NEXT_RECORDS);
}

static void comb(struct dmc_state *s) {
    if (s->cut) {
        dmc_cut_comb(s);
        return;
    }
    ERGO_LAUNCH(&s->e, DMC_COMB, ergo_grid_groups(s->e.batch->count, s->launch.comb, 1),
                BUFFER(DMC_SUMS), BUFFER(DMC_MEMBERS), BUFFER(DMC_STEPS), U64(s->e.step),
                U32(s->shape.walkers), U32(s->shape.remember), BUFFER(DMC_WEIGHTS),
                BUFFER(DMC_PARENTS), BUFFER(DMC_GROWN));
}

void dmc_steps(void *state, uint64_t steps) {
    struct dmc_state *s = state;
    while (steps && ergo_engine_end(&s->e) == ERGO_OK) {
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, steps, UINT64_MAX);
        for (uint64_t k = 0; k < now; k++) {
            step_walkers(s);
            dmc_forward_step(s);
            comb(s);
            s->e.step++;
        }
        ergo_engine_made(&s->e, &s->e.pace, now);
        steps -= now;
    }
}

void dmc_measure(void *state, size_t sample) {
    struct dmc_state *s = state;
    const size_t members = s->e.batch->count;
    const size_t words = members * s->shape.walkers * (HELIUM_SUMS_BYTES / 8);
    if (s->cut)
        dmc_cut_share(s, DMC_SUMS, DMC_ALL, 0, s->shape.walkers);
    ERGO_LAUNCH(&s->e, DMC_KEEP, ergo_grid_items(words, 32, 1), BUFFER(DMC_SUMS), U32(words),
                U32(sample), BUFFER(DMC_SAMPLE));
    const size_t grown = members * s->shape.remember * 2;
    if (grown)
        ERGO_LAUNCH(&s->e, DMC_KEEP, ergo_grid_items(grown, 32, 1), BUFFER(DMC_GROWN), U32(grown),
                    U32(sample), BUFFER(DMC_HISTORY));
    if (s->shape.every)
        ERGO_LAUNCH(
            &s->e, DMC_SUM_RECORDS, ergo_grid_groups(HELIUM_DMC_RECORDS, s->launch.comb, members),
            BUFFER(DMC_RECORDS), WALKERS(s), U32(members), U32(sample), BUFFER(DMC_FORWARD));
    if (s->shape.every && s->cut)
        dmc_cut_sum(s, sample);
}

static void displace(struct dmc_state *s, size_t curve) {
    static const struct helium_density_rows rows = {
        .kernel = DMC_DISPLACE,
        .places = DMC_MIDDLE,
        .members = DMC_MEMBERS,
        .u_tables = DMC_U_TABLES,
        .sites = DMC_SITES,
        .sums = DMC_RATIOS,
        .triplets = DMC_TRIPLETS,
        .t_tables = DMC_T_TABLES,
        .fields = DMC_FIELDS,
    };
    helium_density_displace(&s->e, &rows, &s->launch.density, s->shape.n, s->shape.walkers,
                            s->shape.structure_walkers, s->shape.points, s->launch.triplet, curve);
}

/* Read the places of the first walkers of each member, as of this point in the queue. */
void dmc_measure_curves(void *state, size_t curve) {
    struct dmc_state *s = state;
    const size_t each = (size_t)s->shape.walker_bytes, bytes = s->shape.structure_walkers * each;
    if (s->cut)
        dmc_cut_share(s, DMC_MIDDLE, DMC_ALL, 0, s->shape.structure_walkers);
    for (size_t m = 0; m < s->e.batch->count; m++)
        ergo_engine_read_curve(&s->e, DMC_MIDDLE, m * s->shape.walkers * each, bytes, DMC_PLACES,
                               curve, m * bytes);
    dmc_forward_curve(s, curve);
    if (s->shape.points)
        displace(s, curve);
}
