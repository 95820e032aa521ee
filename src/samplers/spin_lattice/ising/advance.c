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

static struct ergo_grid over_blocks(const struct ising_state *s, uint64_t blocks) {
    return ergo_grid_items(s->launch.lanes ? (blocks + 7) / 8 : blocks, s->sweep_group,
                           s->e.batch->count);
}

static void sweep_by_halves(struct ising_state *s, uint64_t sweeps) {
    const struct ergo_grid grid = over_blocks(s, s->shape.blocks);
    for (uint64_t i = 0; i < 2 * sweeps; i++) {
        ERGO_LAUNCH(&s->e, ISING_SWEEP, grid, BUFFER(ISING_SPINS), BUFFER(ISING_MEMBERS),
                    U32(i % 2), U64(s->e.step));
        s->e.step += i % 2;
    }
}

/* Half a sweep of some rows of a slab. */
static void sweep_rows(void *state, unsigned colour, uint64_t from, uint64_t to) {
    struct ising_state *s = state;
    const uint64_t first = from * s->shape.row_words / 4, end = to * s->shape.row_words / 4;
    ERGO_LAUNCH(&s->e, ISING_SWEEP, over_blocks(s, end - first), BUFFER(ISING_SPINS),
                BUFFER(ISING_MEMBERS), U32(colour), U64(s->e.step), U32(first), U32(end));
}

/* Rows that are whole blocks, or whole chunks of the vector kernels (32 words). */
static uint32_t rows_at_once(const struct ising_state *s) {
    uint32_t rows = s->launch.lanes ? 32 : 4;
    while (rows % 2 == 0 && s->shape.row_words * (rows / 2) % (s->launch.lanes ? 32 : 4) == 0)
        rows /= 2;
    return rows;
}

static void sweep_slab(struct ising_state *s, uint64_t sweeps) {
    const uint32_t unit = rows_at_once(s);
    for (uint64_t i = 0; i < 2 * sweeps && s->e.status == ERGO_OK; i++) {
        ergo_slab_half_sweep(&s->e, &s->slab, unit, sweep_rows, i % 2);
        s->e.step += i % 2;
    }
}

/* Launches of nearly equal length: 10 sweeps with at most 4 in a launch are 4 + 3 + 3. */
static void sweep_by_tiles(struct ising_state *s, uint64_t sweeps) {
    const size_t stripes = ((size_t)s->shape.ly + s->launch.rows - 1) / s->launch.rows;
    const struct ergo_grid grid = ergo_grid_groups(stripes, s->launch.group, s->e.batch->count);
    const uint64_t most = s->launch.sweeps;
    while (sweeps && s->e.status == ERGO_OK) {
        const uint64_t launches = (sweeps + most - 1) / most;
        uint64_t now = (sweeps + launches - 1) / launches;
        const uint32_t lost = 2 * ergo_slab_step(&s->slab); /* layers of halos by a sweep */
        if (s->cut)
            ergo_slab_need(&s->e, &s->slab, lost);
        if (s->cut && now > s->slab.valid / lost)
            now = s->slab.valid / lost;
        ERGO_LAUNCH(&s->e, ISING_SWEEP, grid, BUFFER(ISING_SPINS), BUFFER(ISING_OTHER),
                    BUFFER(ISING_MEMBERS), U64(s->e.step), U32(now));
        ergo_engine_swap(&s->e, ISING_SPINS, ISING_OTHER);
        s->e.step += now;
        sweeps -= now;
        if (s->cut) {
            s->slab.valid -= lost * (uint32_t)now;
            ergo_slab_need(&s->e, &s->slab, 1); /* over which bonds are counted */
        }
    }
}

void ising_steps(void *state, uint64_t sweeps) {
    struct ising_state *s = state;
    if (s->launch.path == ISING_PATH_GLOBAL && s->cut)
        sweep_slab(s, sweeps);
    else if (s->launch.path == ISING_PATH_GLOBAL)
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

/* With the two last arguments for a slab. */
static void launch_range(struct ising_state *s, unsigned kernel, struct ergo_grid grid,
                         const struct ergo_arg *args, size_t n) {
    struct ergo_arg all[9];
    const struct ergo_arg range[2] = {U32(s->launch.from), U32(s->launch.to)};
    memcpy(all, args, n * sizeof *args);
    memcpy(all + n, range, sizeof range);
    ergo_engine_launch(&s->e, kernel, grid, all, s->cut ? n + 2 : n);
}

void ising_measure(void *state, size_t sample) {
    struct ising_state *s = state;
    const size_t group = s->measure_group;
    const struct ergo_arg args[] = {BUFFER(ISING_SPINS), BUFFER(ISING_SAMPLES), U32(sample),
                                    LOCAL(s->launch.sums * group * sizeof(cl_uint))};
    launch_range(s, ISING_MEASURE,
                 ergo_grid_groups(s->launch.measure_groups, group, s->e.batch->count), args, 4);
}

/* Curves number `curve` and following, of `count` lattices of each member. */
static void measure_curves(struct ising_state *s, enum ising_buffer spins, size_t curve,
                           size_t count) {
    const struct ising_launch *l = &s->launch;
    if (!l->curve_numbers) /* samples with curves of a ladder alone */
        return;
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
    const struct ergo_arg args[] = {BUFFER(spins),
                                    BUFFER(ISING_CURVES),
                                    U32(curve),
                                    U32(l->reach),
                                    U32(l->correlate_parts),
                                    U32(l->curve_numbers),
                                    LOCAL(ISING_AT_ONCE * group * sizeof(cl_uint))};
    if (s->cut)
        ergo_slab_need(&s->e, &s->slab, l->reach);
    launch_range(s, ISING_CORRELATE, all, args, 7);
    if (l->rows_counted)
        ERGO_LAUNCH(&s->e, ISING_COUNT_ROWS, rows, BUFFER(spins), BUFFER(ISING_MEMBERS),
                    BUFFER(ISING_CURVES), U32(curve), U32(pairs), U32(l->curve_numbers), U32(lanes),
                    LOCAL(group * sizeof(cl_uint)));
}

void ising_measure_curves(void *state, size_t curve) {
    measure_curves(state, ISING_SPINS, curve, 1);
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
            ising_measure(s, i);
        }
        now = now ? now : 1;
        const size_t curves = ergo_engine_curves_due(&s->e, i, now);
        if (curves)
            measure_curves(s, s->launch.snapshots ? ISING_SNAPSHOTS : ISING_SPINS, curve, curves);
        curve += curves;
    }
}

/* ---- what comes of them ---------------------------------------------------------------------- */

struct ising_physics ising_physics_of(const struct ergo_point *point) {
    return (struct ising_physics){of_lattice(point)->coupling.real, of_lattice(point)->field.real};
}

void ising_columns(const void *state, size_t member, const uint64_t *sums, double *columns) {
    const struct ising_state *s = state;
    const struct ising_physics p = s->physics[member];
    const double sites = (double)s->whole.lx * (double)s->whole.ly;
    const double up = (double)sums[0], unequal = (double)sums[1];
    const double first = s->launch.sums > 2 ? (double)sums[2] : 0; /* up ones of colour 0 */
    const double magnetization = 2.0 * up / sites - 1.0;
    /* of 2N bonds, `unequal` join opposite spins */
    columns[COLUMN_ENERGY] = -p.j * (2.0 - 2.0 * unequal / sites) - p.b * magnetization;
    columns[COLUMN_MAGNETIZATION] = magnetization;
    columns[COLUMN_STAGGERED] = (4.0 * first - 2.0 * up) / sites;
}

/* Curves of a row. pairs[axis][r - 1]: pairs of opposite spins at
 * distance r. planes[y][2]: the second number is up spins, of staggered ones those of colour 0 less
 * those of colour 1. */
static void curves_of(const struct ising_state *s, const uint64_t *pairs, uint32_t *planes,
                      const struct ergo_row *row) {
    const size_t reach = s->launch.reach, size = reach + 1;
    const double sites = (double)s->whole.lx * (double)s->whole.ly;
    const bool anti = s->members[row->member].anti != 0;
    double *mean = row->curves[CURVE_CORRELATION] + row->number * size;
    double *axis[2] = {row->curves[CURVE_CORRELATION_X] + row->number * size,
                       row->curves[CURVE_CORRELATION_Y] + row->number * size};
    for (size_t y = 0; y < (size_t)s->whole.ly && s->launch.rows_counted; y++)
        planes[2 * y] = (anti ? 0 : (uint32_t)s->whole.lx) - planes[2 * y + 1];
    if (s->launch.rows_counted)
        bytes_structure(&s->planes, anti, s->wave, planes,
                        row->curves[CURVE_STRUCTURE] + 2 * row->number);
    mean[0] = axis[0][0] = axis[1][0] = 1.0;
    for (size_t r = 1; r <= reach; r++) {
        for (size_t a = 0; a < 2; a++)
            axis[a][r] = 1.0 - 2.0 * (double)pairs[a * reach + r - 1] / sites;
        mean[r] = 0.5 * (axis[0][r] + axis[1][r]);
    }
}

void ising_add_curve_parts(const struct ising_state *s, unsigned slot, size_t row,
                           uint64_t *numbers) {
    const struct ising_launch *l = &s->launch;
    const size_t pairs = 2 * (size_t)l->reach, parts = l->correlate_parts;
    const uint32_t *counts = ergo_engine_host(&s->e, ISING_CURVES, slot, 0);
    counts += row * l->curve_numbers;
    for (size_t k = 0; k < pairs; k++) {
        numbers[k] = 0;
        for (size_t p = 0; p < parts; p++)
            numbers[k] += counts[k * parts + p];
    }
    for (size_t y = 0; y < l->rows_counted; y++)
        numbers[pairs + y] = counts[pairs * parts + y];
}

bool ising_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct ising_state *s = state;
    const size_t pairs = 2 * (size_t)s->launch.reach, ly = (size_t)s->whole.ly;
    if (!s->launch.curve_numbers)
        return true;
    uint64_t *own = calloc(pairs + ly, sizeof *own);
    uint32_t *planes = malloc(2 * ly * sizeof *planes);
    const bool memory = own && planes;
    const uint64_t *numbers = own;
    if (s->cut)
        numbers = s->joined_curves + row->number * ising_joined_numbers(s);
    else if (memory)
        ising_add_curve_parts(s, slot, row->number, own);
    for (size_t y = 0; y < ly && memory && s->launch.rows_counted; y++)
        planes[2 * y + 1] = (uint32_t)numbers[pairs + y];
    if (memory)
        curves_of(s, numbers, planes, row);
    free(own);
    free(planes);
    return memory;
}
