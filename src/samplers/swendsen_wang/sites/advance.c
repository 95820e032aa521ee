/* Lattices of sites on a device: launches of steps with and without measurement, and samples made
 * from their sums. */
#include "samplers/swendsen_wang/sites/sites.h"

static struct ergo_grid over_tiles(const struct sw_sites_state *s) {
    return ergo_grid_groups(s->launch.tiles, s->launch.tile_group, s->e.batch->count);
}

/* Bonds, and labels in so many tiles. sized: sizes of clusters become 0. */
static void label(struct sw_sites_state *s, unsigned kernel, uint32_t tiles, bool sized) {
    if (s->shape.disordered && !s->coupled) {
        ERGO_LAUNCH(&s->e, SITES_COUPLE,
                    ergo_grid_items(s->shape.sites, s->launch.group, s->e.batch->count),
                    BUFFER(SITES_MEMBERS), BUFFER(SITES_WEAK));
        s->coupled = true;
    }
    ERGO_LAUNCH(&s->e, kernel, ergo_grid_groups(tiles, s->launch.tile_group, s->e.batch->count),
                BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), BUFFER(SITES_BONDS),
                BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_SIZES),
                U32(sized), BUFFER(SITES_CHANCES), BUFFER(SITES_WAYS), BUFFER(SITES_WEAK),
                BUFFER(SITES_HELD));
}

/* A slab's inside, while the next rank's layer is under way; then the rest. */
static void label_slab(struct sw_sites_state *s, bool sized) {
    const uint32_t inside = s->launch.inside;
    if (inside) {
        label(s, SITES_LABEL, inside, sized);
        clFlush(s->e.device->queue);
    }
    sw_slab_take_layer(s);
    label(s, inside ? SITES_LABEL_END : SITES_LABEL, s->launch.tiles - inside, sized);
}

/* A step. sample: its clusters are measured, too; SW_NO_SAMPLE: they are not. */
static void step(struct sw_sites_state *s, uint32_t sample) {
    const bool sized = sample != SW_NO_SAMPLE && s->clusters && !s->shape.wolff;
    if (s->cut)
        label_slab(s, sized);
    else
        label(s, SITES_LABEL, s->launch.tiles, sized);
    if (s->shape.adapts)
        ERGO_LAUNCH(&s->e, SITES_JOIN, over_tiles(s), BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS),
                    BUFFER(SITES_LABELS), BUFFER(SITES_WAYS), U32(0));
    else
        ERGO_LAUNCH(&s->e, SITES_JOIN, over_tiles(s), BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS),
                    BUFFER(SITES_LABELS), BUFFER(SITES_WRAPS), U32(sized ? sample : SW_NO_SAMPLE));
    if (s->shape.field)
        ERGO_LAUNCH(&s->e, SITES_HOLD, over_tiles(s), BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS),
                    BUFFER(SITES_LABELS), BUFFER(SITES_HELD));
    if (s->cut) {
        sw_slab_join(s, sized ? sample : SW_NO_SAMPLE);
        if (s->shape.adapts)
            sw_slab_share_ways(s);
        sw_slab_flip(s, sample);
    } else if (s->shape.wolff) {
        ERGO_LAUNCH(&s->e, SITES_FLIP_ONE, over_tiles(s), BUFFER(SITES_SPINS),
                    BUFFER(SITES_MEMBERS), BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS),
                    U64(s->e.step), BUFFER(SITES_GROWN), U32(sample), BUFFER(SITES_HELD));
    } else if (sized) {
        ERGO_LAUNCH(&s->e, SITES_FLIP_SIZES, over_tiles(s), BUFFER(SITES_SPINS),
                    BUFFER(SITES_MEMBERS), BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS),
                    U64(s->e.step), BUFFER(SITES_SIZES), BUFFER(SITES_HELD));
    } else {
        ERGO_LAUNCH(&s->e, SITES_FLIP, over_tiles(s), BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS),
                    BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), U64(s->e.step), BUFFER(SITES_HELD));
    }
    if (s->shape.adapts)
        ERGO_LAUNCH(&s->e, SITES_ADAPT, ergo_grid_items(1, 1, s->e.batch->count),
                    BUFFER(SITES_MEMBERS), BUFFER(SITES_CHANCES), BUFFER(SITES_WAYS),
                    U32(sw_adapt_shift(s->e.batch->points[0], s->e.step)), BUFFER(SITES_RECORD),
                    U32(sample));
    s->e.step++;
}

void sw_sites_steps(void *state, uint64_t steps) {
    struct sw_sites_state *s = state;
    for (uint64_t k = 0; k < steps; k++)
        step(s, SW_NO_SAMPLE);
    if (s->cut)
        sw_slab_take_layer(s);
}

void sw_sites_block(void *state, size_t count, uint64_t every) {
    struct sw_sites_state *s = state;
    const struct ergo_grid sums =
        ergo_grid_groups(s->launch.sum_groups, s->launch.group, s->e.batch->count);
    if (s->shape.waved) /* a sample leaves them so */
        ergo_engine_fill(&s->e, SITES_WAVES, 0);
    for (uint32_t i = 0; i < count && s->e.status == ERGO_OK; i++) {
        for (uint64_t k = 1; k < every; k++)
            step(s, SW_NO_SAMPLE);
        step(s, i);
        if (s->cut)
            sw_slab_take_layer(s);
        if (s->cut && s->shape.waved && !s->clusters)
            sw_slab_measure(s, i);
        if (s->clusters && !s->shape.wolff)
            ERGO_LAUNCH(&s->e, SITES_COUNT, sums, BUFFER(SITES_SIZES), BUFFER(SITES_CLUSTERS),
                        U32(i));
        if (s->pairs && s->cut) {
            sw_slab_pairs(s, i);
        } else if (s->pairs) { /* sizes have been counted */
            ERGO_LAUNCH(&s->e, SITES_NAME, over_tiles(s), BUFFER(SITES_FIRSTS),
                        BUFFER(SITES_LABELS), BUFFER(SITES_SIZES));
            ERGO_LAUNCH(&s->e, SITES_PAIR, over_tiles(s), BUFFER(SITES_SPINS),
                        BUFFER(SITES_MEMBERS), BUFFER(SITES_SIZES), U64(s->e.step - 1),
                        BUFFER(SITES_PAIRS), U32(i));
        }
        if (s->shape.waved && !s->cut) {
            ERGO_LAUNCH(&s->e, SITES_WAVE, over_tiles(s), BUFFER(SITES_SPINS),
                        BUFFER(SITES_MEMBERS), BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS),
                        BUFFER(SITES_LABELS), U64(s->e.step - 1), BUFFER(SITES_WAVES),
                        BUFFER(SITES_POWERS), U32(i));
            ERGO_LAUNCH(&s->e, SITES_WAVE_ROOTS, sums, BUFFER(SITES_WAVES), BUFFER(SITES_POWERS),
                        U32(i));
        }
        if (s->shape.model == SW_MODEL_POTTS)
            ERGO_LAUNCH(&s->e, SITES_MEASURE, sums, BUFFER(SITES_SPINS), BUFFER(SITES_SUMS), U32(i),
                        BUFFER(SITES_WEAK), BUFFER(SITES_WEAK_SUMS));
        else
            ERGO_LAUNCH(&s->e, SITES_MEASURE, sums, BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS),
                        BUFFER(SITES_SUMS), U32(i), BUFFER(SITES_WEAK));
    }
}

static void sw_sites_convert(const struct sw_sites_shape *h, struct sw_unit unit,
                             const struct sw_counts *c, const struct sw_found *found,
                             double *columns) {
    const struct sw_shape counted = {.q = h->q, .sites = h->sites};
    sw_convert(&counted, unit, c, columns);
    sw_disorder_energy(h, &unit, c, found, columns);
    if (h->wolff)
        columns[SW_COLUMN_IMPROVED] = (double)found->grown / (double)h->sites;
    columns[SW_COLUMN_WAVE2] = found->powers[0] * 0x1p-30 / (double)h->sites;
    columns[SW_COLUMN_WRAPS] = found->wraps ? 1.0 : 0.0;
    columns[SW_COLUMN_CHANCE] = (double)found->chance * 0x1p-32;
    for (size_t k = 0; k < 2; k++)
        columns[SW_COLUMN_HALF + k] =
            (double)found->pairs[k] / ((h->lz > 1 ? 3.0 : 2.0) * (double)h->sites);
    for (size_t d = 0; d < 3; d++)
        columns[SW_COLUMN_WRAPS_X + d] = found->wraps >> d & 1u ? 1.0 : 0.0;
}

/* What a slot's results of row `row` say of the step's clusters. */
static struct sw_found found_of(const struct sw_sites_state *s, unsigned slot, size_t row) {
    struct sw_found found = {0};
    if (s->cut)
        return sw_slab_found(s, slot, row);
    if (s->shape.wolff) {
        const uint32_t *grown = ergo_engine_host(&s->e, SITES_GROWN, slot, 0);
        found.grown = grown[3 * row];
        found.parts = (uint64_t)grown[3 * row + 2] << 32 | grown[3 * row + 1];
    } else if (s->shape.adapts) {
        const uint32_t *record = ergo_engine_host(&s->e, SITES_RECORD, slot, 0);
        found.chance = record[2 * row];
        found.wraps = s->clusters ? record[2 * row + 1] : 0;
    } else if (s->clusters) {
        found.wraps = ((const uint32_t *)ergo_engine_host(&s->e, SITES_WRAPS, slot, 0))[row];
    }
    const uint32_t *weak = ergo_engine_host(&s->e, SITES_WEAK_SUMS, slot, 0);
    for (size_t k = 0; k < 2 && s->shape.disordered && s->shape.model == SW_MODEL_POTTS; k++)
        found.weak[k] = weak[2 * row + k];
    const uint32_t *pairs = ergo_engine_host(&s->e, SITES_PAIRS, slot, 0);
    for (size_t k = 0; k < 2 && s->pairs; k++)
        found.pairs[k] = (uint64_t)pairs[4 * row + 2 * k + 1] << 32 | pairs[4 * row + 2 * k];
    const size_t powers = s->shape.model == SW_MODEL_POTTS ? 1 : SW_POWERS;
    const uint32_t *words = ergo_engine_host(&s->e, SITES_POWERS, slot, 0);
    for (size_t p = 0; p < powers && s->shape.waved; p++) {
        uint64_t limbs[SW_WAVES_LIMBS] = {0};
        sw_waves_take(limbs, words + 2 * SW_WAVE_LIMBS * (powers * row + p));
        found.powers[p] = sw_limbs_value(limbs, SW_WAVES_LIMBS, NULL);
    }
    return found;
}

/* A sample of unit vectors; numbers are pairs of words. */
static void vector_row(const struct sw_sites_state *s, size_t row, const uint32_t *words,
                       const struct sw_found *found, struct sw_unit unit, double *columns) {
    int64_t sums[SW_NUMBERS];
    for (size_t k = 0; k < SW_NUMBERS; k++)
        sums[k] = (int64_t)((uint64_t)words[2 * k + 1] << 32 | words[2 * k]);
    for (size_t k = 0; k < SW_NUMBERS && s->cut; k++)
        sums[k] = (int64_t)sw_slab_numbers(s, row)[k];
    sw_vectors_convert(&s->whole, unit, sums, found, columns);
}

bool sw_sites_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct sw_sites_state *s = state;
    const size_t slots = s->launch.sum_slots, q = s->shape.q;
    const bool sized = s->clusters && !s->shape.wolff;
    const uint32_t *sums = ergo_engine_host(&s->e, SITES_SUMS, slot, 0);
    const uint32_t *clusters = ergo_engine_host(&s->e, SITES_CLUSTERS, slot, 0);
    const struct sw_found found = found_of(s, slot, row->number);
    const size_t bins = sized ? 32 - (size_t)__builtin_clz(s->whole.sites) : 0;
    struct sw_counts c;
    if (s->shape.model != SW_MODEL_POTTS) {
        vector_row(s, row->number, sums + row->number * 2 * SW_NUMBERS, &found,
                   s->units[row->member], row->columns);
        return true;
    }
    if (s->cut)
        sw_slab_potts(s, row->number, &c);
    else
        sw_add_partial_sums((uint32_t)q, s->shape.sites, slots, sums + row->number * slots * q,
                            sized ? clusters + row->number * slots * SW_CLUSTER_FIELDS : NULL, &c);
    sw_sites_convert(&s->whole, s->units[row->member], &c, &found, row->columns);
    for (size_t b = 0; b < bins && row->curves[0]; b++)
        row->curves[0][row->number * bins + b] = (double)c.bins[b] / (double)s->whole.sites;
    return true;
}
