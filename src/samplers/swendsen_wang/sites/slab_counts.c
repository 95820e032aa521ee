/*
 * What is measured of a lattice in slabs (slab.c). Clusters that reach no edge are counted on the
 * device. Of parts that do, it has the sizes and, for correlations, sums of waves. Those on the
 * first layer go to the rank before, whose device adds up and counts bridges that are clusters. Of
 * listed bridges hosts add them up as ranks join the parts, and a cluster is counted by one rank.
 */
#include <string.h>

#include "samplers/swendsen_wang/sites/sites.h"

static size_t edge_sites(const struct sw_sites_state *s) {
    return 2 * sw_sites_layer(&s->whole);
}

static size_t spin_numbers(const struct sw_sites_state *s) {
    return s->whole.model == SW_MODEL_POTTS ? s->whole.q : SW_NUMBERS;
}

/* Of a sample: sums over spins that ranks add up; then of Wolff's cluster its sites, and parts; or
 * pairs. */
static size_t numbers(const struct sw_sites_state *s) {
    return spin_numbers(s) + (s->shape.wolff || s->pairs ? 2 : 0);
}

/* Of all clusters; not with Wolff's update. */
static bool counts_clusters(const struct sw_sites_state *s) {
    return (s->clusters && !s->shape.wolff) || s->shape.waved;
}

void sw_slab_open_counts(struct sw_sites_state *s) {
    const size_t members = s->e.batch->count, edges = edge_sites(s);
    const size_t most = counts_clusters(s) && members > 1 ? 64 / members : 64;
    s->e.block_samples = most ? most : 1; /* the same at all ranks */
    const size_t rows = s->e.block_samples * members;
    s->joined = ergo_engine_memory(&s->e, rows, numbers(s) * sizeof *s->joined);
    if (!counts_clusters(s))
        return;
    s->part_sizes = ergo_engine_memory(&s->e, 2 * edges, sizeof *s->part_sizes);
    s->part_waves = ergo_engine_memory(&s->e, 2 * edges, SW_SUM_WAVES * sizeof *s->part_waves);
    for (size_t slot = 0; slot < 2; slot++)
        s->edge_counts[slot] = ergo_engine_memory(&s->e, rows, sizeof *s->edge_counts[slot]);
    s->counts = ergo_engine_memory(&s->e, rows, sizeof *s->counts);
    s->e.plan.host_bytes += 3 * rows * sizeof *s->counts;
}

size_t sw_slab_sums(const struct sw_sites_state *s) {
    return counts_clusters(s) ? 1 + sw_sites_waves(&s->shape) : 0;
}

/* Of a message with the sums of all parts on a layer, of all members, and its number. */
static size_t sums_bytes(const struct sw_sites_state *s) {
    return 8 * (s->e.batch->count * edge_sites(s) / 2 * sw_slab_sums(s) + 1);
}

void sw_slab_declare_counts(struct sw_sites_state *s) {
    if (!counts_clusters(s))
        return;
    sw_slab_buffer(s, SITES_PART_SUMS, "sums of parts on edges", 2 * sums_bytes(s), true);
    sw_slab_buffer(s, SITES_FAR_SUMS, "those of the next rank", sums_bytes(s), true);
    sw_slab_buffer(s, SITES_TOTALS, "sums of bridges", 2 * sums_bytes(s), false);
}

/* ---- of a sweep ------------------------------------------------------------------------------ */

void sw_slab_measure_parts(struct sw_sites_state *s, uint32_t sample) {
    const size_t members = s->e.batch->count;
    const struct ergo_grid tiles = ergo_grid_groups(s->launch.tiles, s->launch.tile_group, members);
    ergo_engine_fill(&s->e, SITES_PART_SUMS, 0);
    if (s->clusters)
        ERGO_LAUNCH(&s->e, SITES_PARTS_SIZE, tiles, BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS),
                    BUFFER(SITES_SIZES), BUFFER(SITES_PART_SUMS));
    if (s->shape.waved) {
        /* unit vectors: after the step, as their parts then are */
        ERGO_LAUNCH(&s->e, SITES_WAVE, tiles, BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS),
                    BUFFER(SITES_BONDS), BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS),
                    U64(s->e.step - 1), BUFFER(SITES_WAVES), BUFFER(SITES_POWERS), U32(sample));
        ERGO_LAUNCH(&s->e, SITES_PARTS_WAVE, sw_slab_over_edges(s), BUFFER(SITES_EDGES),
                    BUFFER(SITES_ROOTS), BUFFER(SITES_WAVES), BUFFER(SITES_PART_SUMS));
    }
    ergo_engine_fetch(&s->e, SITES_PART_SUMS, 0, sums_bytes(s),
                      ergo_engine_host(&s->e, SITES_PART_SUMS, 0, 0));
}

void sw_slab_total(struct sw_sites_state *s) {
    ergo_engine_fill(&s->e, SITES_TOTALS, 0);
    ERGO_LAUNCH(&s->e, SITES_TOTAL, sw_slab_over_edges(s), BUFFER(SITES_EDGES),
                BUFFER(SITES_CLAIMS), BUFFER(SITES_LINKS), BUFFER(SITES_BRIDGES),
                BUFFER(SITES_PART_SUMS), BUFFER(SITES_TOTALS));
}

void sw_slab_count(struct sw_sites_state *s, uint32_t sample) {
    const size_t members = s->e.batch->count, bytes = sums_bytes(s);
    void *far = ergo_engine_host(&s->e, SITES_FAR_SUMS, 0, 0);
    ergo_engine_await(&s->e, SITES_PART_SUMS);
    sw_slab_swap_back(s, ergo_engine_host(&s->e, SITES_PART_SUMS, 0, 0), far, bytes);
    ergo_engine_send(&s->e, SITES_FAR_SUMS, bytes);
    ERGO_LAUNCH(&s->e, SITES_TOTAL_FAR, sw_slab_over_edges(s), BUFFER(SITES_FAR_FACES),
                BUFFER(SITES_FAR_SUMS), BUFFER(SITES_LINKS), BUFFER(SITES_BRIDGES),
                BUFFER(SITES_TOTALS));
    if (s->clusters) { /* some 2,000 items a group */
        const size_t group = s->launch.group, groups = (edge_sites(s) + 2047) / 2048;
        ERGO_LAUNCH(&s->e, SITES_COUNT_BRIDGES, ergo_grid_groups(groups, group, members),
                    BUFFER(SITES_BRIDGES), BUFFER(SITES_TOTALS), BUFFER(SITES_CLUSTERS),
                    U32(sample));
    }
    if (s->shape.waved) {
        ERGO_LAUNCH(&s->e, SITES_GIVE_WAVES, sw_slab_over_edges(s), BUFFER(SITES_MEMBERS),
                    BUFFER(SITES_BRIDGES), BUFFER(SITES_TOTALS), BUFFER(SITES_WAVES));
        ERGO_LAUNCH(&s->e, SITES_WAVE_ROOTS,
                    ergo_grid_groups(s->launch.sum_groups, s->launch.group, members),
                    BUFFER(SITES_WAVES), BUFFER(SITES_POWERS), U32(sample));
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Clusters of a sample and member over all ranks. */
static void join_counts(struct sw_sites_state *s, unsigned slot, size_t row) {
    const uint32_t *fields = ergo_engine_host(&s->e, SITES_CLUSTERS, slot, 0);
    const uint32_t *wraps = ergo_engine_host(&s->e, SITES_WRAPS, slot, 0);
    const uint32_t *words = ergo_engine_host(&s->e, SITES_POWERS, slot, 0);
    const size_t slots = s->launch.sum_slots, waves = sw_sites_waves(&s->shape);
    struct sw_cut_counts *c = &s->counts[row];
    *c = s->edge_counts[slot][row];
    for (size_t k = 0; k < slots && s->clusters; k++)
        sw_add_clusters(fields + (row * slots + k) * SW_CLUSTER_FIELDS, &c->largest, c->bins,
                        c->squares, c->fourths);
    c->wraps |= s->clusters ? wraps[row] : 0;
    for (size_t p = 0; p + 1 < waves; p++)
        sw_waves_take(p ? c->parts : c->correlations.waves,
                      words + 2 * SW_WAVE_LIMBS * ((waves - 1) * row + p));
    sw_cut_count_reduce(c);
}

static uint64_t word_pair(const uint32_t *words) {
    return (uint64_t)words[1] << 32 | words[0];
}

enum ergo_status sw_slab_collect(struct ergo_context *ctx, void *state, unsigned slot,
                                 struct ergo_samples *samples) {
    struct sw_sites_state *s = state;
    const size_t rows = samples->count * s->e.batch->count, n = spin_numbers(s);
    const uint32_t *sums = ergo_engine_host(&s->e, SITES_SUMS, slot, 0);
    const uint32_t *grown = ergo_engine_host(&s->e, SITES_GROWN, slot, 0);
    const uint32_t *pairs = ergo_engine_host(&s->e, SITES_PAIRS, slot, 0);
    (void)ctx;
    memset(s->joined, 0, rows * numbers(s) * sizeof *s->joined);
    for (size_t row = 0; row < rows; row++) {
        uint64_t *to = s->joined + row * numbers(s);
        for (size_t i = 0; i < n && s->whole.model != SW_MODEL_POTTS; i++)
            to[i] = word_pair(sums + 2 * (row * n + i));
        for (size_t i = 0; i < s->launch.sum_slots * n && s->whole.model == SW_MODEL_POTTS; i++)
            to[i % n] += sums[row * s->launch.sum_slots * n + i];
        if (s->shape.wolff) {
            to[n] = grown[3 * row];
            to[n + 1] = word_pair(grown + 3 * row + 1);
        }
        for (size_t k = 0; k < 2 && s->pairs; k++)
            to[n + k] = word_pair(pairs + 4 * row + 2 * k);
    }
    ergo_dist_sum_counts(s->joined, rows * numbers(s));
    for (size_t row = 0; row < rows && counts_clusters(s); row++)
        join_counts(s, slot, row);
    return ERGO_OK;
}

const uint64_t *sw_slab_numbers(const struct sw_sites_state *s, size_t row) {
    return s->joined + row * numbers(s);
}

void sw_slab_potts(const struct sw_sites_state *s, size_t row, struct sw_counts *c) {
    const uint64_t *sums = sw_slab_numbers(s, row);
    uint64_t others = 0;
    *c = (struct sw_counts){.unequal = sums[0]};
    for (size_t k = 1; k < s->shape.q; k++)
        others += c->states[k] = sums[k];
    c->states[0] = s->whole.sites - others;
    if (!counts_clusters(s))
        return;
    const struct sw_cut_counts *all = &s->counts[row];
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        c->clusters += c->bins[b] = all->bins[b];
    c->largest = all->largest;
    sw_limbs_value(all->squares, SW_CUT_SQUARES, &c->squares);
    c->fourths = sw_limbs_value(all->fourths, SW_CUT_FOURTHS, NULL);
}

struct sw_found sw_slab_found(const struct sw_sites_state *s, unsigned slot, size_t row) {
    const uint64_t *numbers_of = sw_slab_numbers(s, row) + spin_numbers(s);
    const uint32_t *record = ergo_engine_host(&s->e, SITES_RECORD, slot, 0);
    struct sw_found found = {0};
    if (s->shape.wolff) {
        found.grown = (uint32_t)numbers_of[0];
        found.parts = numbers_of[1];
    }
    for (size_t k = 0; k < 2 && s->pairs; k++)
        found.pairs[k] = numbers_of[k];
    if (s->shape.adapts)
        found.chance = record[2 * row];
    if (!counts_clusters(s))
        return found;
    const struct sw_cut_counts *all = &s->counts[row];
    if (s->clusters) /* with method probability-changing all know the step's ways */
        found.wraps = s->shape.adapts ? record[2 * row + 1] : (uint32_t)all->wraps;
    found.powers[0] = sw_limbs_value(all->correlations.waves, SW_WAVES_LIMBS, NULL);
    found.powers[1] = sw_limbs_value(all->parts, SW_WAVES_LIMBS, NULL);
    return found;
}
