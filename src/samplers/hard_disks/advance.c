/* Enqueue sweeps and measurements, and convert samples. */
#include <math.h>

#include "samplers/hard_disks/order.h"

static size_t members_of(const struct disks_state *s) {
    return s->e.batch->count;
}

/* Where the second plane begins, for the cells of all members. */
static uint64_t second_plane(const struct disks_state *s) {
    return s->launch.all_cells;
}

/* A work-item for each of `items` of each member. */
static struct ergo_grid over(const struct disks_state *s, size_t items) {
    const size_t largest = (size_t)s->e.device->summary.largest_group;
    const size_t group = s->launch.path == DISKS_PATH_GLOBAL ? s->launch.group : 64;
    return ergo_grid_items(items, group < largest ? group : largest, members_of(s));
}

/* A work-item for each cell of a checkerboard set. */
static struct ergo_grid over_set(const struct disks_state *s) {
    const struct disks_launch *l = &s->launch;
    return (struct ergo_grid){3,
                              {ergo_round_up(l->most_half[0], l->row),
                               ergo_round_up(l->most_half[1], l->rows), members_of(s)},
                              {l->row, l->rows, 1}};
}

/* ---- sweeps -----------------------------------------------------------------------------------
 */

static void sweeps_local(struct disks_state *s, uint64_t sweeps) {
    const struct disks_launch *l = &s->launch;
    const size_t memory = 2 * (size_t)l->most_cells * ERGO_HARD_BYTES * s->shapes[0].planes;
    while (sweeps && s->e.status == ERGO_OK) {
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, sweeps, l->launch_sweeps);
        ERGO_LAUNCH(&s->e, DISKS_SWEEPS_LOCAL, ergo_grid_groups(members_of(s), l->group, 1),
                    BUFFER(DISKS_CELLS), BUFFER(DISKS_MEMBERS), BUFFER(DISKS_RULES),
                    BUFFER(DISKS_SIZES), BUFFER(DISKS_GRIDS), BUFFER(DISKS_TALLY), U64(s->e.step),
                    U32(now), U32(s->shapes[0].volume_every), U32(l->most_cells),
                    U32(second_plane(s)), LOCAL(memory), BUFFER(DISKS_WALLS), BUFFER(DISKS_FIELDS));
        ergo_engine_made(&s->e, &s->e.pace, now);
        s->e.step += now;
        sweeps -= now;
    }
}

/* Make the shift of planned sweep k, from one copy to the other. */
static void shift(struct disks_state *s, uint32_t k) {
    ERGO_LAUNCH(&s->e, DISKS_SHIFT, over_set(s), BUFFER(DISKS_CELLS), BUFFER(DISKS_OTHER),
                BUFFER(DISKS_MEMBERS), BUFFER(DISKS_PLANS), BUFFER(DISKS_GRIDS), U32(k),
                U32(s->launch.plans), U32(second_plane(s)));
    ergo_engine_swap(&s->e, DISKS_CELLS, DISKS_OTHER);
}

static void sweep_global(struct disks_state *s, uint32_t k, bool note) {
    for (uint32_t set = 0; set < 4; set++)
        ERGO_LAUNCH(&s->e, DISKS_SUBSWEEP, over_set(s), BUFFER(DISKS_CELLS), BUFFER(DISKS_MEMBERS),
                    BUFFER(DISKS_PLANS), BUFFER(DISKS_TALLY), U64(s->e.step), U32(k),
                    U32(s->launch.plans), U32(set), U32(note), U32(second_plane(s)),
                    BUFFER(DISKS_WALLS), BUFFER(DISKS_FIELDS), BUFFER(DISKS_GRIDS));
    shift(s, k);
    s->e.step++;
}

/* Sweep k by tiles. It leaves its own shift to the next launch; `after`: the sweep before did so
 * too. */
static void sweep_tile(struct disks_state *s, uint32_t k, bool after, bool note) {
    const struct disks_launch *l = &s->launch;
    const uint32_t room = disks_tile_room(l->tile);
    ERGO_LAUNCH(&s->e, DISKS_SWEEP_TILE, ergo_grid_groups(l->tiles, l->group, members_of(s)),
                BUFFER(DISKS_CELLS), BUFFER(DISKS_OTHER), BUFFER(DISKS_MEMBERS),
                BUFFER(DISKS_PLANS), BUFFER(DISKS_GRIDS), BUFFER(DISKS_TALLY), U64(s->e.step),
                U32(k), U32(l->plans), U32(after), U32(note), U32(second_plane(s)), U32(l->tile[0]),
                U32(l->tile[1]), U32(room),
                LOCAL((size_t)room * ERGO_HARD_BYTES * s->shapes[0].planes));
    s->e.step++;
    ergo_engine_swap(&s->e, DISKS_CELLS, DISKS_OTHER);
}

/* A volume move, if one is due after the sweeps so far. It sees cells before or after their shift,
 * which leaves all distances alone. */
static void volume_move(struct disks_state *s) {
    const struct disks_launch *l = &s->launch;
    if (!s->shapes[0].npt || s->e.step % s->shapes[0].volume_every)
        return;
    ERGO_LAUNCH(&s->e, DISKS_CLOSEST_PAIR, ergo_grid_groups(l->sums, l->sum_group, members_of(s)),
                BUFFER(DISKS_CELLS), BUFFER(DISKS_MEMBERS), BUFFER(DISKS_RULES),
                BUFFER(DISKS_SIZES), BUFFER(DISKS_LEAST), U64(s->e.step - 1), U32(second_plane(s)));
    ERGO_LAUNCH(&s->e, DISKS_VOLUME_MOVE, ergo_grid_groups(members_of(s), l->sum_group, 1),
                BUFFER(DISKS_MEMBERS), BUFFER(DISKS_RULES), BUFFER(DISKS_LEAST), U32(l->sums),
                BUFFER(DISKS_SIZES), U64(s->e.step - 1));
}

void disks_steps(void *state, uint64_t sweeps) {
    struct disks_state *s = state;
    const bool tile = s->launch.path == DISKS_PATH_TILE;
    if (s->launch.path == DISKS_PATH_LOCAL) {
        sweeps_local(s, sweeps);
        return;
    }
    while (sweeps) {
        const uint32_t now = sweeps < s->launch.plans ? (uint32_t)sweeps : s->launch.plans;
        ERGO_LAUNCH(&s->e, DISKS_PLAN_SWEEPS, over(s, now), BUFFER(DISKS_MEMBERS),
                    BUFFER(DISKS_PLANS), U64(s->e.step), U32(now), U32(s->launch.plans));
        for (uint32_t k = 0; k < now; k++) {
            const bool note = k + 1 == sweeps;
            if (tile)
                sweep_tile(s, k, k > 0, note);
            else
                sweep_global(s, k, note);
            volume_move(s);
        }
        if (tile)
            shift(s, now - 1);
        sweeps -= now;
    }
}

/* ---- measurements -----------------------------------------------------------------------------
 */

void disks_measure(void *state, size_t sample) {
    struct disks_state *s = state;
    const struct disks_launch *l = &s->launch;
    ERGO_LAUNCH(&s->e, DISKS_MEASURE, ergo_grid_groups(l->sums, l->sum_group, members_of(s)),
                BUFFER(DISKS_CELLS), BUFFER(DISKS_MEMBERS), BUFFER(DISKS_TALLY), BUFFER(DISKS_SUMS),
                BUFFER(DISKS_SIZES), BUFFER(DISKS_SEEN), U32(sample), U32(members_of(s)),
                U32(second_plane(s)));
    if (s->shapes[0].confined.field)
        ERGO_LAUNCH(&s->e, DISKS_ENERGY, ergo_grid_groups(l->sums, l->sum_group, members_of(s)),
                    BUFFER(DISKS_CELLS), BUFFER(DISKS_MEMBERS), BUFFER(DISKS_WALLS),
                    BUFFER(DISKS_FIELDS), BUFFER(DISKS_GRIDS), BUFFER(DISKS_ENERGIES), U32(sample),
                    U32(members_of(s)), U32(second_plane(s)));
}

static void measure_profile(struct disks_state *s, size_t curve) {
    const struct disks_launch *l = &s->launch;
    ERGO_LAUNCH(
        &s->e, DISKS_PROFILE, over(s, l->most_cells), BUFFER(DISKS_CELLS), BUFFER(DISKS_MEMBERS),
        BUFFER(DISKS_WALLS), BUFFER(DISKS_GRIDS), BUFFER(DISKS_PROFILES + ERGO_CONFINED_PROFILE),
        BUFFER(DISKS_PROFILES + ERGO_CONFINED_LOW), BUFFER(DISKS_PROFILES + ERGO_CONFINED_HIGH),
        U32(curve), U32(members_of(s)), U32(l->profile_bins[ERGO_CONFINED_PROFILE]),
        U32(l->profile_bins[ERGO_CONFINED_LOW]), U32(second_plane(s)));
}

static void measure_pairs(struct disks_state *s, uint32_t which, size_t curve) {
    const struct disks_launch *l = &s->launch;
    uint32_t rows = 0;
    for (size_t i = 0; i < members_of(s); i++)
        rows = s->members[i].reach[which] > rows ? s->members[i].reach[which] : rows;
    const uint64_t wide = 2 * (uint64_t)rows + 1; /* cells of a row */
    for (uint32_t from = 0, now; from <= rows && s->e.status == ERGO_OK; from += now) {
        const uint64_t cells = ergo_engine_next(&s->e, &s->e.curve_pace, (rows + 1 - from) * wide,
                                                l->pair_rows * wide);
        now = cells < wide ? 1 : (uint32_t)(cells / wide);
        ERGO_LAUNCH(&s->e, DISKS_PAIRS, over(s, l->most_cells), BUFFER(DISKS_CELLS),
                    BUFFER(DISKS_MEMBERS), BUFFER(DISKS_SIZES), BUFFER(DISKS_LIMITS + which),
                    BUFFER(DISKS_COUNTS + which), U32(curve), U32(members_of(s)),
                    U32(l->bins[which]), U32(which), U32(second_plane(s)), U32(from),
                    U32(from + now));
        ergo_engine_made(&s->e, &s->e.curve_pace, now * wide);
    }
}

void disks_measure_curves(void *state, size_t curve) {
    struct disks_state *s = state;
    const struct disks_launch *l = &s->launch;
    for (uint32_t c = 0; c < 2; c++)
        if (l->bins[c])
            measure_pairs(s, c, curve);
    if (l->bins[DISKS_CURVE_DENSITY])
        ERGO_LAUNCH(&s->e, DISKS_BLOCKS, over(s, l->most_cells), BUFFER(DISKS_CELLS),
                    BUFFER(DISKS_MEMBERS), BUFFER(DISKS_COUNTS + DISKS_CURVE_DENSITY), U32(curve),
                    U32(members_of(s)), U32(l->bins[DISKS_CURVE_DENSITY]), U32(second_plane(s)));
    if (l->profile_bins[ERGO_CONFINED_PROFILE])
        measure_profile(s, curve);
    ergo_hard_read_curve(s, DISKS_PLACES, curve, disks_order_every(s->e.batch->points[0]));
}

/* ---- samples ----------------------------------------------------------------------------------
 */

static double disks_density_at(const struct disks_shape *shape, const struct ergo_volume *volume) {
    return shape->npt ? (double)shape->n / ergo_isobaric_volume(volume->size) : shape->density;
}

/* The columns of a sample from the device's sums. `accepted` and `tried` are passed separately,
 * with more bits. volume: at constant pressure. energy: in a field, in 2^-20. */
static void disks_columns(const struct disks_shape *shape, const struct disks_sum *sum,
                          struct disks_tally tally, const struct ergo_volume *volume,
                          int64_t energy, double *columns) {
    const double moves = (double)shape->moves_per_cell;
    columns[DISKS_PSI6_RE] = (double)sum->re * 0x1p-24 / (double)shape->n;
    columns[DISKS_PSI6_IM] = (double)sum->im * 0x1p-24 / (double)shape->n;
    columns[DISKS_ACCEPTANCE] =
        tally.tried ? (double)tally.accepted / (moves * (double)tally.tried) : 0.0;
    columns[DISKS_OCCUPIED] = (double)sum->occupied / (double)shape->all;
    columns[DISKS_FIELD_ENERGY] = ldexp((double)energy, -ERGO_FIELD_ENERGY_BITS) / (double)shape->n;
    if (!shape->npt)
        return;
    columns[DISKS_VOLUME_STEP] = (double)volume->step * 0x1p-36;
    columns[DISKS_DENSITY] = disks_density_at(shape, volume);
    columns[DISKS_VOLUME_ACCEPTANCE] = volume->accepted;
    columns[DISKS_LIMITED] = volume->limited;
    columns[DISKS_ASPECT] =
        shape->box[1] / shape->box[0] * exp(ldexp((double)volume->stretch[0], -36));
}

/* The volumes of a sample's members. */
static const struct ergo_volume *seen_of(const struct disks_state *s, unsigned slot,
                                         size_t sample) {
    return s->shapes[0].npt ? ergo_engine_host(&s->e, DISKS_SEEN, slot, sample) : NULL;
}

/* The parts of a row, added up. */
static struct disks_sum add_parts(const struct disks_state *s, unsigned slot, size_t row,
                                  struct disks_tally *tally) {
    const struct disks_sum *parts = ergo_engine_host(&s->e, DISKS_SUMS, slot, 0);
    struct disks_sum sum = {0};
    *tally = (struct disks_tally){0, 0};
    parts += row * s->launch.sums;
    for (size_t i = 0; i < s->launch.sums; i++) {
        sum.re += parts[i].re;
        sum.im += parts[i].im;
        sum.disks += parts[i].disks;
        sum.occupied += parts[i].occupied;
        tally->accepted += parts[i].accepted;
        tally->tried += parts[i].tried;
    }
    return sum;
}

/* The energy in the field of a row. */
static int64_t energy_of(const struct disks_state *s, unsigned slot, size_t row) {
    int64_t energy = 0;
    if (!s->shapes[0].confined.field)
        return 0;
    const int64_t *parts = ergo_engine_host(&s->e, DISKS_ENERGIES, slot, 0);
    for (size_t i = 0; i < s->launch.sums; i++)
        energy += parts[row * s->launch.sums + i];
    return energy;
}

bool disks_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct disks_state *s = state;
    const struct disks_shape *shape = &s->shapes[row->member];
    const struct ergo_volume *seen = seen_of(s, slot, row->sample);
    struct disks_tally tally;
    const struct disks_sum sum = add_parts(s, slot, row->number, &tally);
    seen = seen ? seen + row->member : NULL;
    disks_columns(shape, &sum, tally, seen, energy_of(s, slot, row->number), row->columns);
    return sum.disks == shape->n && (!seen || ergo_isobaric_right(&shape->rules.volume, seen));
}

enum ergo_status disks_refuse(struct ergo_context *ctx, const void *state, unsigned slot,
                              const struct ergo_samples *samples) {
    const struct disks_state *s = state;
    for (size_t row = 0; row < samples->count * members_of(s); row++) {
        const size_t m = row % members_of(s);
        struct disks_tally tally;
        const struct disks_sum sum = add_parts(s, slot, row, &tally);
        if (sum.disks != s->shapes[m].n)
            return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                             "audit of hard-disks failed on %s: member %zu has %llu disks at a "
                             "measurement, not %llu",
                             s->e.device->summary.name, m, (unsigned long long)sum.disks,
                             (unsigned long long)s->shapes[m].n);
        const struct ergo_volume *seen = seen_of(s, slot, row / members_of(s));
        if (seen && !ergo_isobaric_right(&s->shapes[m].rules.volume, seen + m))
            return ergo_isobaric_refuse(ctx, s->e.device->summary.name, m);
    }
    return ERGO_OK;
}

bool disks_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct disks_state *s = state;
    const size_t m = row->member;
    const struct ergo_point *point = s->e.batch->points[m];
    const struct ergo_volume *seen = seen_of(s, slot, row->taken);
    const double density = disks_density_at(&s->shapes[m], seen ? seen + m : NULL);
    for (size_t c = 0; c < DISKS_CURVES; c++) {
        const size_t bins = s->launch.bins[c];
        const uint32_t *counts =
            bins ? ergo_engine_host(&s->e, (unsigned)(DISKS_COUNTS + c), slot, row->sample) : NULL;
        if (bins)
            disks_curve_convert(point, &s->shapes[m], density, c,
                                c < 2 ? s->areas[c] + m * bins : NULL, counts + m * bins,
                                row->curves[c] + row->number * bins);
    }
    for (unsigned c = 0; c < ERGO_CONFINED_CURVES; c++) {
        const size_t bins = s->launch.profile_bins[c];
        const unsigned from = DISKS_PROFILES + ergo_confined_counts(c);
        const uint32_t *counts = bins ? ergo_engine_host(&s->e, from, slot, row->sample) : NULL;
        if (bins)
            ergo_confined_convert(point, &s->shapes[m].confined, c, bins, counts + m * bins,
                                  row->curves[DISKS_CURVE_CONFINED + c] + row->number * bins);
    }
    return disks_order_row(s, slot, row);
}
