/* Enqueue sweeps and measurements, and convert samples. */
#include <math.h>

#include "samplers/hard_spheres/order.h"

static size_t members_of(const struct spheres_state *s) {
    return s->e.batch->count;
}

/* A work-item for each of `items` of each member. */
static struct ergo_grid over(const struct spheres_state *s, size_t items) {
    const size_t largest = (size_t)s->e.device->summary.largest_group;
    return ergo_grid_items(items, largest < 64 ? largest : 64, members_of(s));
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

void spheres_plan_sweeps(struct spheres_state *s, uint64_t step, uint32_t count, uint32_t purpose) {
    ERGO_LAUNCH(&s->e, SPHERES_PLAN_SWEEPS, over(s, count), BUFFER(SPHERES_MEMBERS),
                BUFFER(SPHERES_PLANS), U64(step), U32(count), U32(s->launch.plans), U32(purpose));
}

void spheres_sweep(struct spheres_state *s, uint64_t step, uint32_t k, bool note,
                   enum spheres_buffer contacts, uint32_t purpose) {
    const struct spheres_launch *l = &s->launch;
    const struct ergo_grid set =
        ergo_grid_items((size_t)(l->most_cells / 8) * l->team, l->group, members_of(s));
    for (uint32_t sub = 0; sub < 8; sub++)
        ERGO_LAUNCH(&s->e, SPHERES_SUBSWEEP, set, BUFFER(SPHERES_CELLS), BUFFER(SPHERES_MEMBERS),
                    BUFFER(contacts), BUFFER(SPHERES_PLANS), BUFFER(SPHERES_TALLY),
                    BUFFER(SPHERES_WALLS), BUFFER(SPHERES_FIELDS), BUFFER(SPHERES_GRIDS), U64(step),
                    U32(k), U32(l->plans), U32(sub), U32(note), U32(l->all_cells), U32(purpose));
    ERGO_LAUNCH(&s->e, SPHERES_SHIFT, over(s, l->most_cells), BUFFER(SPHERES_CELLS),
                BUFFER(SPHERES_OTHER), BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_PLANS),
                BUFFER(SPHERES_GRIDS), U32(k), U32(l->plans), U32(l->all_cells));
    ergo_engine_swap(&s->e, SPHERES_CELLS, SPHERES_OTHER);
}

void spheres_closest_pairs(struct spheres_state *s, bool tried) {
    const struct spheres_launch *l = &s->launch;
    ERGO_LAUNCH(&s->e, SPHERES_CLOSEST_PAIR, ergo_grid_groups(l->sums, l->sum_group, members_of(s)),
                BUFFER(SPHERES_CELLS), BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_VOLUMES),
                BUFFER(SPHERES_LEAST), U64(s->e.step), U32(tried), U32(l->all_cells));
}

static void volume_move(struct spheres_state *s) {
    const struct spheres_launch *l = &s->launch;
    spheres_closest_pairs(s, true);
    ERGO_LAUNCH(&s->e, SPHERES_VOLUME_MOVE, ergo_grid_groups(members_of(s), l->sum_group, 1),
                BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_RULES), BUFFER(SPHERES_LEAST), U32(l->sums),
                BUFFER(SPHERES_VOLUMES), BUFFER(SPHERES_CONTACTS), U64(s->e.step));
}

void spheres_steps(void *state, uint64_t sweeps) {
    struct spheres_state *s = state;
    while (sweeps) {
        const uint32_t now = sweeps < s->launch.plans ? (uint32_t)sweeps : s->launch.plans;
        spheres_plan_sweeps(s, s->e.step, now, 0);
        for (uint32_t k = 0; k < now; k++, s->e.step++) {
            spheres_sweep(s, s->e.step, k, k + 1 == sweeps, SPHERES_CONTACTS, 0);
            if (s->shapes[0].npt && (s->e.step + 1) % s->shapes[0].volume_every == 0)
                volume_move(s);
        }
        sweeps -= now;
    }
}

/* ---- measurements ---------------------------------------------------------------------------- */

void spheres_measure(void *state, size_t sample) {
    struct spheres_state *s = state;
    const struct spheres_launch *l = &s->launch;
    ERGO_LAUNCH(&s->e, SPHERES_MEASURE, ergo_grid_groups(l->sums, l->sum_group, members_of(s)),
                BUFFER(SPHERES_CELLS), BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_TALLY),
                BUFFER(SPHERES_SUMS), BUFFER(SPHERES_VOLUMES), BUFFER(SPHERES_SEEN), U32(sample),
                U32(members_of(s)), U32(l->all_cells));
    if (s->shapes[0].confined.field)
        ERGO_LAUNCH(&s->e, SPHERES_ENERGY, ergo_grid_groups(l->sums, l->sum_group, members_of(s)),
                    BUFFER(SPHERES_CELLS), BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_WALLS),
                    BUFFER(SPHERES_FIELDS), BUFFER(SPHERES_GRIDS), BUFFER(SPHERES_ENERGIES),
                    U32(sample), U32(members_of(s)), U32(l->all_cells));
}

static void measure_profile(struct spheres_state *s, size_t curve) {
    const struct spheres_launch *l = &s->launch;
    ERGO_LAUNCH(&s->e, SPHERES_PROFILE, over(s, l->most_cells), BUFFER(SPHERES_CELLS),
                BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_WALLS), BUFFER(SPHERES_GRIDS),
                BUFFER(SPHERES_COUNTS + SPHERES_CURVE_PROFILE),
                BUFFER(SPHERES_COUNTS + SPHERES_PAIR_CURVES + ERGO_CONFINED_LOW),
                BUFFER(SPHERES_COUNTS + SPHERES_PAIR_CURVES + ERGO_CONFINED_HIGH), U32(curve),
                U32(members_of(s)), U32(l->bins[SPHERES_CURVE_PROFILE]),
                U32(l->bins[SPHERES_PAIR_CURVES + ERGO_CONFINED_LOW]), U32(l->all_cells));
}

static void measure_pairs(struct spheres_state *s, uint32_t which, size_t curve) {
    const struct spheres_launch *l = &s->launch;
    uint32_t most[3] = {0, 0, 0};
    for (size_t i = 0; i < members_of(s); i++)
        for (int k = 0; k < 3; k++)
            if (s->members[i].reach[which][k] > most[k])
                most[k] = s->members[i].reach[which][k];
    const uint64_t layer = (2 * (uint64_t)most[0] + 1) * (2 * (uint64_t)most[1] + 1); /* cells */
    for (uint32_t from = 0, now; from <= most[2] && s->e.status == ERGO_OK; from += now) {
        const uint64_t cells = ergo_engine_next(
            &s->e, &s->e.curve_pace, (most[2] + 1 - from) * layer, l->pair_layers * layer);
        now = cells < layer ? 1 : (uint32_t)(cells / layer);
        ERGO_LAUNCH(&s->e, SPHERES_PAIRS, over(s, l->most_cells), BUFFER(SPHERES_CELLS),
                    BUFFER(SPHERES_MEMBERS), BUFFER(SPHERES_LIMITS + which),
                    BUFFER(SPHERES_COUNTS + which), U32(curve), U32(members_of(s)),
                    U32(l->bins[which]), U32(which), U32(l->all_cells), U32(from), U32(from + now),
                    U32(l->most_cells));
        ergo_engine_made(&s->e, &s->e.curve_pace, now * layer);
    }
}

void spheres_measure_curves(void *state, size_t curve) {
    struct spheres_state *s = state;
    for (uint32_t c = 0; c < SPHERES_PAIR_CURVES; c++)
        if (s->launch.bins[c])
            measure_pairs(s, c, curve);
    if (s->launch.bins[SPHERES_CURVE_PROFILE])
        measure_profile(s, curve);
    ergo_hard_read_curve(s, SPHERES_PLACES, curve, spheres_order_every(s->e.batch->points[0]));
}

/* ---- samples --------------------------------------------------------------------------------- */

static void spheres_columns(const struct spheres_shape *shape, const struct spheres_total *total,
                            const struct ergo_volume *volume, double *columns) {
    const double moves = (double)shape->moves_per_cell * (double)total->tried;
    columns[SPHERES_ACCEPTANCE] = total->tried ? (double)total->accepted / moves : 0.0;
    columns[SPHERES_OCCUPIED] = (double)total->occupied / (double)shape->all;
    columns[SPHERES_DENSITY] =
        volume ? (double)shape->n / ergo_isobaric_volume(volume->size) : shape->density;
    columns[SPHERES_VOLUME_ACCEPTANCE] = volume ? volume->accepted : 0.0;
    columns[SPHERES_VOLUME_STEP] = volume ? (double)volume->step * 0x1p-36 : 0.0;
    columns[SPHERES_LIMITED] = volume ? volume->limited : 0.0;
    columns[SPHERES_FIELD_ENERGY] =
        ldexp((double)total->energy, -ERGO_FIELD_ENERGY_BITS) / (double)shape->n;
    for (int k = 0; k < 2; k++)
        columns[SPHERES_ASPECT_Y + k] =
            (double)shape->side[k + 1] / (double)shape->side[0] *
            (shape->per_axis ? exp(ldexp((double)volume->stretch[k], -36)) : 1.0);
}

/* The parts of a row, added up. */
static struct spheres_total add_parts(const struct spheres_state *s, unsigned slot, size_t row) {
    const struct spheres_sum *parts = ergo_engine_host(&s->e, SPHERES_SUMS, slot, 0);
    struct spheres_total total = {0};
    parts += row * s->launch.sums;
    const int64_t *energies =
        s->shapes[0].confined.field ? ergo_engine_host(&s->e, SPHERES_ENERGIES, slot, 0) : NULL;
    energies = energies ? energies + row * s->launch.sums : NULL;
    for (size_t i = 0; i < s->launch.sums; i++) {
        total.spheres += parts[i].spheres;
        total.occupied += parts[i].occupied;
        total.accepted += parts[i].accepted;
        total.tried += parts[i].tried;
        total.energy += energies ? energies[i] : 0;
    }
    return total;
}

bool spheres_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct spheres_state *s = state;
    const struct spheres_shape *shape = &s->shapes[row->member];
    const struct spheres_total total = add_parts(s, slot, row->number);
    const struct ergo_volume *seen = ergo_engine_host(&s->e, SPHERES_SEEN, slot, 0);
    seen = shape->npt ? seen + row->number : NULL;
    spheres_columns(shape, &total, seen, row->columns);
    return total.spheres == shape->n && (!seen || ergo_isobaric_right(&shape->isobaric, seen));
}

enum ergo_status spheres_refuse(struct ergo_context *ctx, const void *state, unsigned slot,
                                const struct ergo_samples *samples) {
    const struct spheres_state *s = state;
    for (size_t row = 0; row < samples->count * members_of(s); row++) {
        const size_t m = row % members_of(s);
        const struct spheres_total total = add_parts(s, slot, row);
        if (total.spheres != s->shapes[m].n)
            return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                             "audit of hard-spheres failed on %s: member %zu has %llu spheres at a "
                             "measurement, not %llu",
                             s->e.device->summary.name, m, (unsigned long long)total.spheres,
                             (unsigned long long)s->shapes[m].n);
        const struct ergo_volume *seen = ergo_engine_host(&s->e, SPHERES_SEEN, slot, 0);
        if (s->shapes[m].npt && !ergo_isobaric_right(&s->shapes[m].isobaric, seen + row))
            return ergo_isobaric_refuse(ctx, s->e.device->summary.name, m);
    }
    return ERGO_OK;
}

bool spheres_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct spheres_state *s = state;
    for (size_t c = 0; c < SPHERES_CURVES; c++) {
        const size_t bins = s->launch.bins[c], m = row->member;
        const size_t from =
            c == SPHERES_PAIR_CURVES + ERGO_CONFINED_WEIGHT ? (size_t)SPHERES_CURVE_PROFILE : c;
        const uint32_t *counts =
            bins ? ergo_engine_host(&s->e, (unsigned)(SPHERES_COUNTS + from), slot, row->sample)
                 : NULL;
        if (bins)
            spheres_curve_convert(s->e.batch->points[m], &s->shapes[m], c, counts + m * bins,
                                  row->curves[c] + row->number * bins);
    }
    return spheres_order_row(s, slot, row);
}
