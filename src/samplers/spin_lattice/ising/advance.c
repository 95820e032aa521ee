/* The 2D Ising model on a device: sweeps, measurements, and samples made from their counts. */
#include "samplers/spin_lattice/ising/ising.h"

#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/params.h"

/* Local path, one launch: for each of `samples` samples, `every` sweeps and a measurement into
 * the slot, from sample `first` on. samples 0: only `every` sweeps. */
static void launch_local(struct ising_state *s, size_t samples, uint64_t every, size_t first) {
    const struct ising_launch *l = &s->launch;
    const size_t members = s->e.batch->count;
    const struct ergo_grid grid = {1, {members * l->group}, {l->group}};
    const uint64_t sweeps = every * (samples ? samples : 1);
    struct ergo_arg args[11] = {
        BUFFER(ISING_SPINS), BUFFER(ISING_MEMBERS), U64(s->e.step), U32(samples), U32(every),
        U32(first),          BUFFER(ISING_SAMPLES)};
    const struct ergo_arg bits = BUFFER(ISING_BITS);
    const struct ergo_arg kept[3] = {BUFFER(ISING_SNAPSHOTS),
                                     U32(l->snapshots ? ergo_engine_until_curve(&s->e, first) : 0),
                                     U32(s->e.curve_interval)};
    size_t n = 7;
    if (l->ahead) {
        ERGO_LAUNCH(&s->e, ISING_DRAW,
                    ergo_grid_items(2 * s->shape.blocks * sweeps, s->measure_group, members),
                    BUFFER(ISING_BITS), BUFFER(ISING_MEMBERS), U64(s->e.step), U32(sweeps));
        args[n++] = bits;
    }
    for (size_t i = 0; i < 3 && l->snapshots; i++)
        args[n++] = kept[i];
    ergo_engine_launch(&s->e, ISING_SWEEP, grid, args, n);
    s->e.step += sweeps;
}

static void sweep_by_halves(struct ising_state *s, uint64_t sweeps) {
    const size_t items = s->launch.lanes ? (s->shape.blocks + 7) / 8 : s->shape.blocks;
    const struct ergo_grid grid = ergo_grid_items(items, s->sweep_group, s->e.batch->count);
    for (uint64_t i = 0; i < 2 * sweeps; i++) {
        ERGO_LAUNCH(&s->e, ISING_SWEEP, grid, BUFFER(ISING_SPINS), BUFFER(ISING_MEMBERS),
                    U32(i % 2), U64(s->e.step));
        s->e.step += i % 2;
    }
}

/* Launches of nearly equal length: 10 sweeps with at most 4 in a launch are 4 + 3 + 3. */
static void sweep_by_tiles(struct ising_state *s, uint64_t sweeps) {
    const size_t stripes = ((size_t)s->shape.ly + s->launch.rows - 1) / s->launch.rows;
    const struct ergo_grid grid = ergo_grid_groups(stripes, s->launch.group, s->e.batch->count);
    uint64_t launches = (sweeps + s->launch.sweeps - 1) / s->launch.sweeps;
    for (; launches; launches--) {
        const uint64_t now = (sweeps + launches - 1) / launches;
        ERGO_LAUNCH(&s->e, ISING_SWEEP, grid, BUFFER(ISING_SPINS), BUFFER(ISING_OTHER),
                    BUFFER(ISING_MEMBERS), U64(s->e.step), U32(now));
        ergo_engine_swap(&s->e, ISING_SPINS, ISING_OTHER);
        s->e.step += now;
        sweeps -= now;
    }
}

void ising_steps(void *state, uint64_t sweeps) {
    struct ising_state *s = state;
    if (s->launch.path == ISING_PATH_GLOBAL)
        sweep_by_halves(s, sweeps);
    else if (s->launch.path == ISING_PATH_TILE)
        sweep_by_tiles(s, sweeps);
    else
        for (uint64_t now; sweeps && s->e.status == ERGO_OK; sweeps -= now) {
            now = ergo_engine_next(&s->e, &s->e.pace, sweeps, s->launch.launch_sweeps);
            launch_local(s, 0, now, 0);
            ergo_engine_made(&s->e, &s->e.pace, now);
        }
}

static void measure(struct ising_state *s, size_t sample) {
    const size_t group = s->measure_group;
    ERGO_LAUNCH(&s->e, ISING_MEASURE,
                ergo_grid_groups(s->launch.measure_groups, group, s->e.batch->count),
                BUFFER(ISING_SPINS), BUFFER(ISING_SAMPLES), U32(sample),
                LOCAL(s->launch.sums * group * sizeof(cl_uint)));
}

/* Curves number `curve` and following, of `count` lattices of each member. */
static void measure_curves(struct ising_state *s, enum ising_buffer spins, size_t curve,
                           size_t count) {
    const struct ising_launch *l = &s->launch;
    const size_t group = s->correlate_group, members = s->e.batch->count;
    const size_t pairs = 2 * (size_t)l->reach * l->correlate_parts;
    const size_t batches = (l->reach + ISING_AT_ONCE - 1) / ISING_AT_ONCE;
    const size_t groups = 2 * batches * l->correlate_parts;
    size_t lanes = 1; /* of a row */
    while (2 * lanes <= s->shape.row_words && lanes < 32 && 2 * lanes <= group)
        lanes *= 2;
    const struct ergo_grid all = {3, {groups * group, members, count}, {group, 1, 1}};
    const struct ergo_grid rows = {
        3, {ergo_round_up(lanes * l->rows_counted, group), members, count}, {group, 1, 1}};
    ERGO_LAUNCH(&s->e, ISING_CORRELATE, all, BUFFER(spins), BUFFER(ISING_CURVES), U32(curve),
                U32(l->reach), U32(l->correlate_parts), U32(l->curve_numbers),
                LOCAL(ISING_AT_ONCE * group * sizeof(cl_uint)));
    if (l->rows_counted)
        ERGO_LAUNCH(&s->e, ISING_COUNT_ROWS, rows, BUFFER(spins), BUFFER(ISING_MEMBERS),
                    BUFFER(ISING_CURVES), U32(curve), U32(pairs), U32(l->curve_numbers), U32(lanes),
                    LOCAL(group * sizeof(cl_uint)));
}

/* Number of samples, from `first` on, that one launch of the local path makes. It ends with a
 * sample that carries curves, or where there is no room for another snapshot. 0: one launch cannot
 * make the sweeps before a sample. */
static size_t samples_at_once(struct ising_state *s, size_t first, size_t count, uint64_t every) {
    size_t n = count - first, kept = s->launch.snapshots ? s->launch.snapshots : 1;
    if (s->e.curve_interval) {
        const size_t end =
            ergo_engine_until_curve(&s->e, first) + (kept - 1) * (size_t)s->e.curve_interval + 1;
        n = n < end ? n : end;
    }
    return (size_t)(ergo_engine_next(&s->e, &s->e.pace, n * every, s->launch.launch_sweeps) /
                    every);
}

void ising_block(void *state, size_t count, uint64_t every) {
    struct ising_state *s = state;
    const bool local = s->launch.path == ISING_PATH_LOCAL;
    size_t curve = 0;
    for (size_t i = 0, now = 0; i < count && s->e.status == ERGO_OK; i += now) {
        now = local ? samples_at_once(s, i, count, every) : 0;
        if (now) {
            launch_local(s, now, every, i);
            ergo_engine_made(&s->e, &s->e.pace, now * every);
        } else if (local) {
            ising_steps(s, every - 1);
            launch_local(s, 1, 1, i);
        } else {
            ising_steps(s, every);
            measure(s, i);
        }
        now = now ? now : 1;
        const size_t curves = ergo_engine_curves_due(&s->e, i, now);
        if (curves)
            measure_curves(s, s->launch.snapshots ? ISING_SNAPSHOTS : ISING_SPINS, curve, curves);
        curve += curves;
    }
}

/* ---- what comes of them ---------------------------------------------------------------------- */

/* Add up the partial counts of row `row` (sample times members plus member). */
static struct ising_counts add_parts(const struct ising_state *s, unsigned slot, size_t row) {
    const size_t parts = s->launch.measure_groups, sums = s->launch.sums;
    const uint32_t *all = ergo_engine_host(&s->e, ISING_SAMPLES, slot, 0);
    struct ising_counts c = {0, 0, 0};
    for (const uint32_t *at = all + row * parts * sums, *end = at + parts * sums; at < end;
         at += sums) {
        c.up += at[0];
        c.unequal += at[1];
        c.first += sums > 2 ? at[2] : 0;
    }
    return c;
}

struct ising_physics ising_physics_of(const struct ergo_point *point) {
    return (struct ising_physics){ergo_point_real(point, "/system/coupling"),
                                  ergo_point_real(point, "/system/field")};
}

void ising_columns(struct ising_physics p, const struct ising_shape *shape, struct ising_counts c,
                   double *columns) {
    const double sites = (double)shape->lx * (double)shape->ly;
    const double magnetization = 2.0 * (double)c.up / sites - 1.0;
    /* of 2N bonds, `unequal` join opposite spins */
    columns[COLUMN_ENERGY] = -p.j * (2.0 - 2.0 * (double)c.unequal / sites) - p.b * magnetization;
    columns[COLUMN_MAGNETIZATION] = magnetization;
    columns[COLUMN_STAGGERED] = (4.0 * (double)c.first - 2.0 * (double)c.up) / sites;
}

void ising_curves(const struct ising_state *s, size_t member, const uint64_t *pairs,
                  uint32_t *planes, size_t row, const struct ergo_samples *samples) {
    const size_t reach = s->launch.reach, size = reach + 1;
    const double sites = (double)s->shape.lx * (double)s->shape.ly;
    const bool anti = s->members[member].anti != 0;
    double *mean = samples->curves[CURVE_CORRELATION] + row * size;
    double *axis[2] = {samples->curves[CURVE_CORRELATION_X] + row * size,
                       samples->curves[CURVE_CORRELATION_Y] + row * size};
    for (size_t y = 0; y < s->launch.rows_counted; y++)
        planes[2 * y] = (anti ? 0 : (uint32_t)s->shape.lx) - planes[2 * y + 1];
    if (s->launch.rows_counted)
        bytes_structure(&s->planes, anti, s->wave, planes,
                        samples->curves[CURVE_STRUCTURE] + 2 * row);
    mean[0] = axis[0][0] = axis[1][0] = 1.0;
    for (size_t r = 1; r <= reach; r++) {
        for (size_t a = 0; a < 2; a++)
            axis[a][r] = 1.0 - 2.0 * (double)pairs[a * reach + r - 1] / sites;
        mean[r] = 0.5 * (axis[0][r] + axis[1][r]);
    }
}

bool ising_rows(const void *state, unsigned slot, size_t begin, size_t end,
                const struct ergo_samples *samples) {
    const struct ising_state *s = state;
    const size_t members = s->e.batch->count;
    for (size_t row = begin, m = begin % members; row < end; row++) {
        ising_columns(s->physics[m], &s->shape, add_parts(s, slot, row),
                      samples->columns + ISING_COLUMNS * row);
        m = m + 1 < members ? m + 1 : 0;
    }
    return true;
}

bool ising_curve_rows(const void *state, unsigned slot, size_t begin, size_t end,
                      const struct ergo_samples *samples) {
    const struct ising_state *s = state;
    const size_t reach = s->launch.reach, parts = s->launch.correlate_parts;
    uint64_t *pairs = calloc(2 * reach + 1, sizeof *pairs);
    uint32_t *planes = malloc((8 * (size_t)s->launch.rows_counted) + 1);
    const bool memory = pairs && planes;
    const uint32_t *counts = ergo_engine_host(&s->e, ISING_CURVES, slot, 0);
    counts += begin * s->launch.curve_numbers;
    for (size_t row = begin; row < end && memory; row++, counts += s->launch.curve_numbers) {
        for (size_t k = 0; k < 2 * reach; k++) {
            pairs[k] = 0;
            for (size_t p = 0; p < parts; p++)
                pairs[k] += counts[k * parts + p];
        }
        for (size_t y = 0; y < s->launch.rows_counted; y++)
            planes[2 * y + 1] = counts[2 * reach * parts + y];
        ising_curves(s, row % s->e.batch->count, pairs, planes, row, samples);
    }
    free(pairs);
    free(planes);
    return memory;
}
