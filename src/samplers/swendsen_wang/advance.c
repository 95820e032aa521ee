/* Swendsen-Wang on a device: launches of sweeps with and without measurement, and samples made
 * from their sums. */
#include <string.h>

#include "samplers/swendsen_wang/sw.h"

/* One work-item for each of `items` items of each member. */
static struct ergo_grid over(const struct sw_state *s, size_t items) {
    return ergo_grid_items(items, s->launch.group, s->e.batch->count);
}

static struct ergo_grid over_tiles(const struct sw_state *s) {
    const struct sw_launch *l = &s->launch;
    return ergo_grid_groups(l->local ? 1 : (size_t)l->tiles, l->tile_group, s->e.batch->count);
}

/* ---- tiles: sample SW_NO_SAMPLE where clusters are not measured ------------------------------ */

/* Bonds, and labels in tiles. sample: also count the clusters that lie in one tile. before: also
 * count the spins, which are still those after sample `before`. SW_NO_SAMPLE: not measured. */
static void label_tiles(struct sw_state *s, uint32_t sample, uint32_t before) {
    if (sample != SW_NO_SAMPLE)
        ERGO_LAUNCH(&s->e, SW_LABEL_SIZES, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    BUFFER(SW_RIGHT), BUFFER(SW_DOWN), BUFFER(SW_RUN_LABELS), BUFFER(SW_PARTS),
                    BUFFER(SW_OPEN), BUFFER(SW_LABELS), U64(s->e.step), BUFFER(SW_SIZES),
                    BUFFER(SW_CLUSTERS), U32(sample), BUFFER(SW_SUMS), U32(before));
    else if (before != SW_NO_SAMPLE)
        ERGO_LAUNCH(&s->e, SW_LABEL_SPINS, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    BUFFER(SW_RIGHT), BUFFER(SW_DOWN), BUFFER(SW_RUN_LABELS), BUFFER(SW_PARTS),
                    BUFFER(SW_OPEN), BUFFER(SW_LABELS), U64(s->e.step), BUFFER(SW_SUMS),
                    U32(before));
    else
        ERGO_LAUNCH(&s->e, SW_LABEL_TILES, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    BUFFER(SW_RIGHT), BUFFER(SW_DOWN), BUFFER(SW_RUN_LABELS), BUFFER(SW_PARTS),
                    BUFFER(SW_OPEN), BUFFER(SW_LABELS), U64(s->e.step));
}

/* Join clusters across the edges of tiles, and around the lattice. sample: also record whether a
 * cluster leads around the lattice. */
static void join_tiles(struct sw_state *s, uint32_t sample) {
    const uint32_t rows = ((uint32_t)s->shape.ly - 1) / s->launch.tile_rows + 1;
    const uint32_t columns = (s->shape.row_words - 1) / s->launch.tile_words + 1;
    const size_t items = 32 * (size_t)s->shape.row_words * rows + (size_t)s->shape.ly * columns;
    ERGO_LAUNCH(&s->e, SW_JOIN_TILES, over(s, items), BUFFER(SW_RIGHT), BUFFER(SW_DOWN),
                BUFFER(SW_RUN_LABELS), BUFFER(SW_LABELS), U32(0), U32(rows), U32(0), U32(columns),
                BUFFER(SW_WRAPS), U32(sample));
}

/* Draw new states. sized: also add up the sizes of clusters of several tiles, and mark the parts
 * that are roots, for the next label_tiles or for SW_COUNT_ROOTS. */
static void flip(struct sw_state *s, bool sized) {
    if (sized)
        ERGO_LAUNCH(&s->e, SW_FLIP_SIZES, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    BUFFER(SW_RIGHT), BUFFER(SW_RUN_LABELS), BUFFER(SW_PARTS), BUFFER(SW_OPEN),
                    BUFFER(SW_LABELS), U64(s->e.step), BUFFER(SW_SIZES));
    else
        ERGO_LAUNCH(&s->e, SW_FLIP, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    BUFFER(SW_RIGHT), BUFFER(SW_RUN_LABELS), BUFFER(SW_PARTS), BUFFER(SW_OPEN),
                    BUFFER(SW_LABELS), U64(s->e.step));
    s->e.step++;
}

/* Correlations of the clusters of the sweep that flip() has ended. */
static void correlate(struct sw_state *s, uint32_t sample) {
    const uint32_t lx = (uint32_t)s->shape.lx, ly = (uint32_t)s->shape.ly;
    const size_t rows = sw_line_count(ly), columns = sw_line_count(lx);
    ERGO_LAUNCH(&s->e, SW_WAVE_TILES, over_tiles(s), BUFFER(SW_RIGHT), BUFFER(SW_RUN_LABELS),
                BUFFER(SW_OPEN), BUFFER(SW_LABELS), BUFFER(SW_WAVES_INSIDE),
                BUFFER(SW_WAVES_INSIDE), U32(ly), BUFFER(SW_WAVES), U32(sample));
    ERGO_LAUNCH(&s->e, SW_WAVE_ROOTS,
                ergo_grid_groups(s->launch.sum_groups, s->launch.group, s->e.batch->count),
                BUFFER(SW_OPEN), BUFFER(SW_LABELS), BUFFER(SW_WAVES_INSIDE), BUFFER(SW_WAVES),
                U32(sample));
    ERGO_LAUNCH(&s->e, SW_NAME_LINES, over(s, rows * lx + columns * ly), BUFFER(SW_RIGHT),
                BUFFER(SW_RUN_LABELS), BUFFER(SW_OPEN), BUFFER(SW_LABELS), BUFFER(SW_LINE_NAMES));
    /* the lines of one lattice are too few for a GPU */
    const uint32_t each = s->e.device->type == CL_DEVICE_TYPE_CPU ? s->distances : 2;
    ERGO_LAUNCH(&s->e, SW_COUNT_PAIRS,
                ergo_grid_groups((rows + columns) * ((s->distances - 1) / each + 1),
                                 s->launch.group, s->e.batch->count),
                BUFFER(SW_LINE_NAMES), U32(s->distances), U32(each), BUFFER(SW_PAIRS), U32(sample));
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* `sweeps` sweeps of a lattice in local memory. */
static void local_sweeps(struct sw_state *s, uint64_t sweeps) {
    while (sweeps > 0 && s->e.status == ERGO_OK) {
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, sweeps, s->launch.most_sweeps);
        ERGO_LAUNCH(&s->e, SW_LOCAL, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    U64(s->e.step), U32(now));
        ergo_engine_made(&s->e, &s->e.pace, now);
        s->e.step += now;
        sweeps -= now;
    }
}

/* `count` samples of a lattice in local memory, each after `every` sweeps. */
static void local_samples(struct sw_state *s, size_t count, uint64_t every) {
    for (uint64_t i = 0; i < count && s->e.status == ERGO_OK;) {
        const uint64_t fit =
            ergo_engine_next(&s->e, &s->e.pace, (count - i) * every, s->launch.most_sweeps) / every;
        const uint64_t now = fit ? fit : 1, with = fit ? every : 1;
        if (!fit)
            local_sweeps(s, every - 1);
        ERGO_LAUNCH(&s->e, SW_LOCAL_SAMPLES, over_tiles(s), BUFFER(SW_SPINS), BUFFER(SW_MEMBERS),
                    U64(s->e.step), U32(now * with), U32(with), U32(i), BUFFER(SW_SUMS),
                    U32(s->clusters), BUFFER(SW_CLUSTERS), BUFFER(SW_WRAPS));
        ergo_engine_made(&s->e, &s->e.pace, now * with);
        s->e.step += now * with;
        i += now;
    }
}

/* A sweep by tiles. */
static void sweep(struct sw_state *s, uint32_t sample, uint32_t before) {
    label_tiles(s, sample, before);
    join_tiles(s, sample);
    flip(s, sample != SW_NO_SAMPLE);
}

void sw_steps(void *state, uint64_t sweeps) {
    struct sw_state *s = state;
    if (s->launch.local)
        local_sweeps(s, sweeps);
    for (uint64_t k = 0; k < sweeps && !s->launch.local; k++)
        sweep(s, SW_NO_SAMPLE, SW_NO_SAMPLE);
}

/* A sweep and its measurement, by tiles. before: the sample whose spins this sweep counts, or
 * SW_NO_SAMPLE. later: the next sweep counts the spins of this sample. If clusters are not
 * measured, this is a plain sweep. */
static void measured(struct sw_state *s, uint32_t sample, uint32_t before, bool later) {
    sweep(s, s->clusters ? sample : SW_NO_SAMPLE, before);
    if (s->distances)
        correlate(s, sample);
    if (later)
        return;
    /* no label_tiles follows that would count the clusters of several tiles */
    if (s->clusters)
        ERGO_LAUNCH(&s->e, SW_COUNT_ROOTS, over_tiles(s), BUFFER(SW_PARTS), BUFFER(SW_SIZES),
                    BUFFER(SW_CLUSTERS), U32(sample));
    ERGO_LAUNCH(&s->e, SW_MEASURE,
                ergo_grid_groups(s->launch.sum_groups, s->launch.group, s->e.batch->count),
                BUFFER(SW_SPINS), BUFFER(SW_SUMS), U32(sample));
}

/* If every sweep is measured by tiles, the next sweep counts the spins of a sample, because it
 * reads them anyway. Correlations are measured by tiles. */
void sw_block(void *state, size_t count, uint64_t every) {
    struct sw_state *s = state;
    const bool count_later = every == 1;
    if (s->launch.local && !s->distances) {
        local_samples(s, count, every);
        return;
    }
    if (s->distances) /* sums of clusters; a sample leaves them so */
        ergo_engine_fill(&s->e, SW_WAVES_INSIDE, 0);
    for (uint32_t i = 0; i < count && s->e.status == ERGO_OK; i++) {
        sw_steps(s, every - 1);
        measured(s, i, count_later && i > 0 ? i - 1 : SW_NO_SAMPLE, count_later && i + 1 < count);
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

void sw_add_clusters(const uint32_t *fields, uint64_t *largest, uint64_t *bins, uint64_t *squares,
                     uint64_t *fourths) {
    *largest = fields[SW_FIELD_LARGEST] > *largest ? fields[SW_FIELD_LARGEST] : *largest;
    for (size_t l = 0; l < SW_SQUARE_LIMBS; l++)
        squares[l] += fields[SW_FIELD_SQUARES + l];
    for (size_t l = 0; l < SW_FOURTH_LIMBS; l++)
        fourths[l] += fields[SW_FIELD_FOURTHS + l];
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        bins[b] += fields[SW_FIELD_BINS + b];
    for (uint64_t n = 1, bin = 0; n <= SW_SMALL; n++) {
        const uint64_t clusters = fields[SW_FIELD_SMALL + n - 1];
        bin += n >> (bin + 1);
        bins[bin] += clusters;
        squares[0] += n * n * clusters;
        fourths[0] += n * n * n * n * clusters;
        if (clusters > 0 && n > *largest)
            *largest = n;
    }
}

double sw_limbs_value(const uint64_t *sums, size_t limbs, uint64_t *low) {
    uint64_t carry = 0, bits = 0;
    double value = 0, scale = 1;
    for (size_t l = 0; l < limbs; l++, scale *= 65536) {
        carry += sums[l];
        value += (double)(carry & 0xffff) * scale;
        bits |= l < 4 ? (carry & 0xffff) << (16 * l) : 0;
        carry >>= 16;
    }
    if (low)
        *low = bits;
    return value;
}

void sw_add_partial_sums(uint32_t q, uint64_t sites, size_t slots, const uint32_t *sums,
                         const uint32_t *clusters, struct sw_counts *c) {
    uint64_t others = 0, square_limbs[SW_SQUARE_LIMBS] = {0}, fourth_limbs[SW_FOURTH_LIMBS] = {0};
    *c = (struct sw_counts){0};
    for (size_t i = 0; i < slots; i++) {
        c->unequal += sums[i * q];
        for (size_t k = 1; k < q; k++)
            c->states[k] += sums[i * q + k];
        if (clusters)
            sw_add_clusters(clusters + i * SW_CLUSTER_FIELDS, &c->largest, c->bins, square_limbs,
                            fourth_limbs);
    }
    sw_limbs_value(square_limbs, SW_SQUARE_LIMBS, &c->squares);
    c->fourths = sw_limbs_value(fourth_limbs, SW_FOURTH_LIMBS, NULL);
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        c->clusters += c->bins[b];
    for (size_t k = 1; k < q; k++)
        others += c->states[k];
    c->states[0] = sites - others;
    if (c->clusters == 1)
        c->largest = sites; /* on the device 2^32 is 0 */
}

void sw_improve(const struct sw_shape *shape, uint64_t clusters, double squares, double fourths,
                double *columns) {
    const double n = (double)shape->sites, q = (double)shape->q, psi2 = squares / (n * n);
    columns[SW_COLUMN_IMPROVED] = clusters == 1 ? 1.0 : psi2;
    /* <psi^4> over the states of given clusters: psi = sum_c n_c e_c / N, where the unit vectors
     * e of a simplex have <(e_a e_b)^2> = 1/(q - 1) for a /= b */
    columns[SW_COLUMN_IMPROVED4] =
        clusters == 1 ? 1.0 : ((q + 1) * psi2 * psi2 - 2 * (fourths / (n * n) / (n * n))) / (q - 1);
}

struct sw_unit sw_unit_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const char *lattice = of_lattice(point)->lattice.text;
    const double bonds = strcmp(lattice, "triangular") == 0  ? 3.0
                         : strcmp(lattice, "honeycomb") == 0 ? 1.5
                                                             : (double)size->items;
    return (struct sw_unit){
        .coupling = of_lattice(point)->coupling.real, .bonds = bonds, .ising = sw_is_ising(point)};
}

void sw_convert(const struct sw_shape *shape, struct sw_unit unit, const struct sw_counts *c,
                double *columns) {
    const double n = (double)shape->sites, q = (double)shape->q, j = unit.coupling;
    const double unequal = (double)c->unequal / n;
    double most = 0, squares = 0;
    for (size_t k = 0; k < SW_COLUMNS; k++)
        columns[k] = 0;
    for (size_t k = 0; k < shape->q; k++) {
        const double share = (double)c->states[k] / n;
        most = share > most ? share : most;
        squares += share * share;
    }
    columns[SW_COLUMN_ENERGY] = unit.ising ? -j * (unit.bonds - 2.0 * unequal) : j * unequal;
    columns[SW_COLUMN_ORDER] = (q * most - 1) / (q - 1);
    columns[SW_COLUMN_PSI2] = (q * squares - 1) / (q - 1);
    sw_improve(shape, c->clusters, (double)c->squares, c->fourths, columns);
    columns[SW_COLUMN_CLUSTERS] = (double)c->clusters / n;
    columns[SW_COLUMN_LARGEST] = (double)c->largest / n;
}

/* curves: of all rows, or NULL. */
static void correlation_row(const struct sw_state *s, unsigned slot, size_t row, double *columns,
                            double *curves) {
    const uint32_t n = s->distances, *pairs = ergo_engine_host(&s->e, SW_PAIRS, slot, 0);
    const uint32_t *waves = ergo_engine_host(&s->e, SW_WAVES, slot, 0);
    struct sw_correlations c = {0};
    for (size_t k = 0; k < 2 * (size_t)n; k++)
        c.pairs[k / n][k % n] = pairs[2 * n * row + k];
    sw_waves_take(c.waves, waves + 2 * SW_WAVE_LIMBS * row);
    sw_correlate_convert(&s->shape, n, &c, columns,
                         curves ? curves + row * (n - SW_DISTANCE_CURVE) : NULL);
}

bool sw_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct sw_state *s = state;
    const size_t slots = s->launch.sum_slots;
    const uint32_t *sums = ergo_engine_host(&s->e, SW_SUMS, slot, 0);
    const uint32_t *clusters = ergo_engine_host(&s->e, SW_CLUSTERS, slot, 0);
    const uint32_t *wraps = ergo_engine_host(&s->e, SW_WRAPS, slot, 0);
    size_t bins = 0; /* as in curve_size */
    struct sw_counts c;
    while (s->clusters && bins < SW_CLUSTER_BINS && s->shape.sites >> bins)
        bins++;
    sw_add_partial_sums(s->shape.q, s->shape.sites, slots, sums + row->number * slots * s->shape.q,
                        s->clusters ? clusters + row->number * slots * SW_CLUSTER_FIELDS : NULL,
                        &c);
    sw_convert(&s->shape, s->units[row->member], &c, row->columns);
    row->columns[SW_COLUMN_WRAPS] = s->clusters && wraps[row->number] ? 1.0 : 0.0;
    if (s->distances)
        correlation_row(s, slot, row->number, row->columns, row->curves[1]);
    for (size_t b = 0; b < bins && row->curves[0]; b++)
        row->curves[0][row->number * bins + b] = (double)c.bins[b] / (double)s->shape.sites;
    return true;
}
