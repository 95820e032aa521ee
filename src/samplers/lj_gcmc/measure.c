/* Sums over all pairs on the device, test insertions, and pair distances for g(r). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/lj_gcmc/cut.h"

static void no_memory(struct lj_state *s) {
    ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the energies");
}

static struct ergo_grid total_grid(const struct lj_state *s) {
    return ergo_grid_groups(s->launch.total_parts, s->launch.total_group, lj_chains(s));
}

/* ---- sums -------------------------------------------------------------------------------------
 */

/* Sums over all pairs in parts: LJ_TOTALS words from each of the launch.total_parts groups of each
 * chain. Every pair is counted from both particles. */
static void add_shares(struct lj_state *s, bool keep, int64_t *shares) {
    const size_t bytes = (size_t)s->e.buffers[LJ_SHARES].bytes;
    if (s->cut)
        lj_cut_list(s);
    /* so that results of an earlier launch are not taken for new ones */
    memset(shares, 0xff, bytes);
    ergo_engine_write(&s->e, LJ_SHARES, 0, bytes, shares);
    ERGO_LAUNCH(&s->e, LJ_TOTAL, total_grid(s), BUFFER(LJ_MEMBERS),
                BUFFER(s->cut ? LJ_LISTED : LJ_CHAINS), BUFFER(LJ_PARTICLES), BUFFER(LJ_CELLS),
                BUFFER(LJ_OFFSETS), BUFFER(LJ_SHARES), U32(s->capacity), U32(s->slots),
                BUFFER(LJ_PAIR_ENERGIES), U32(keep), BUFFER(LJ_TABLES), VALUE(s->shape));
    ergo_engine_read(&s->e, LJ_SHARES, 0, bytes, shares);
}

static struct lj_totals totals_of(const struct lj_state *s, size_t chain, const int64_t *shares) {
    struct lj_totals t = {0};
    for (size_t p = 0; p < s->launch.total_parts; p++) {
        const int64_t *of = shares + LJ_TOTALS * (chain * s->launch.total_parts + p);
        t.energy += of[0];
        t.virial += of[1];
        t.contacts += of[2];
        t.overlaps += (uint64_t)of[3];
        t.mismatches += (uint64_t)of[4];
    }
    if (s->cut)
        ergo_dist_sum_counts((uint64_t *)(void *)&t, sizeof t / sizeof(uint64_t));
    t.energy /= 2; /* the kernel counts every pair from both particles */
    t.virial /= 2;
    t.contacts /= 2;
    return t;
}

void lj_total_sums(struct lj_state *s, bool keep, struct lj_totals *totals) {
    int64_t *shares = malloc((size_t)s->e.buffers[LJ_SHARES].bytes);
    if (!shares) {
        no_memory(s);
        return;
    }
    add_shares(s, keep, shares);
    for (size_t m = 0; m < lj_chains(s); m++)
        totals[m] = totals_of(s, m, shares);
    s->stale = s->stale && (!keep || s->e.status != ERGO_OK);
    free(shares);
}

void lj_refresh_energies(struct lj_state *s) {
    const size_t chains = lj_chains(s);
    struct lj_totals *totals = calloc(chains, sizeof *totals);
    if (!totals) {
        no_memory(s);
        return;
    }
    lj_total_sums(s, true, totals);
    ergo_engine_read(&s->e, LJ_CHAINS, 0, chains * sizeof *s->chains, s->chains);
    for (size_t m = 0; m < chains && s->e.status == ERGO_OK; m++) {
        const struct lj_totals *t = &totals[m];
        struct lj_chain *c = &s->chains[m];
        if (c->energy != t->energy || c->virial != t->virial || t->overlaps)
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_AUDIT,
                             "audit of %s failed on %s: the state of member %zu at move %" PRIu64
                             " has energy %" PRId64 " and virial %" PRId64 ", its %u particles "
                             "have %" PRId64 " and %" PRId64 " (units of 2^-30), and %" PRIu64
                             " of them an overlap",
                             s->e.model->sampler, s->e.device->summary.name, m / s->boxes, c->step,
                             c->energy, c->virial, c->particles, t->energy, t->virial, t->overlaps);
        c->contacts = t->contacts;
    }
    lj_write_chains(s);
    free(totals);
}

/* ---- test insertions --------------------------------------------------------------------------
 */

void lj_ghosts_count(struct lj_state *s, size_t sample, uint64_t step) {
    if (s->launch.ghosts == 0)
        return;
    const uint32_t kinds = lj_ghost_kinds(&s->system);
    for (uint32_t k = 0; k < kinds; k++)
        ERGO_LAUNCH(&s->e, LJ_GHOST, total_grid(s), BUFFER(LJ_MEMBERS), BUFFER(LJ_CHAINS),
                    BUFFER(LJ_PARTICLES), BUFFER(LJ_CELLS), BUFFER(LJ_OFFSETS), BUFFER(LJ_GHOSTS),
                    U64(step), U64(lj_volumes_before(&s->launch, step)), U32(s->capacity),
                    U32(s->slots), U32(sample * kinds + k), U32(s->launch.ghosts), U32(k),
                    BUFFER(LJ_PAIR_ENERGIES), BUFFER(LJ_TABLES), VALUE(s->shape));
}

/* ---- pairs by distance ------------------------------------------------------------------------
 */

double lj_bin_width(const struct lj_state *s) {
    return s->system.cutoff / lj_gr_bins(s->e.batch->points[0]);
}

struct lj_reach lj_gr_reach(const struct lj_state *s) {
    return lj_grid_reach(&s->grid, s->system.box, lj_bin_width(s) * s->launch.bins);
}

/* Groups of particles of a launch, as estimated for a tenth of a second. A particle visits the
 * cells that the bins reach, here with a density of 1 per sigma^3. */
static double pairs_at_once(const struct lj_state *s) {
    const struct ergo_device *d = s->e.device;
    const double units = d->summary.compute_units ? d->summary.compute_units : 1;
    const double each_second = d->type == CL_DEVICE_TYPE_CPU ? 1e8 : 2e8;
    const double reach = lj_bin_width(s) * s->launch.bins;
    double volume = 1, cells = 1;
    for (int k = 0; k < 3; k++) {
        const double side = s->system.box[k] / s->grid.n[k];
        const double wide = fmin(s->system.box[k], 2 * reach + 3 * side);
        volume *= wide / s->system.sigma;
        cells *= wide / side;
    }
    return 0.1 * each_second * units / ((volume + cells) * (double)lj_chains(s)) /
           s->launch.total_group;
}

void lj_pairs_count(struct lj_state *s, size_t curve, uint64_t step) {
    if (s->launch.bins == 0)
        return;
    if (s->launch.board_blocks)
        lj_board_list(s);
    const uint32_t last = s->capacity, group = s->launch.total_group;
    struct ergo_pace *pace = &s->e.curve_pace;
    if (!pace->now)
        ergo_pace_start(pace, pairs_at_once(s));
    for (uint32_t begin = 0, end; begin < last && s->e.status == ERGO_OK; begin = end) {
        const uint64_t groups =
            ergo_engine_next(&s->e, pace, (last - begin - 1) / group + 1, UINT32_MAX);
        end = begin + (uint32_t)(last - begin < groups * group ? last - begin : groups * group);
        ERGO_LAUNCH(&s->e, LJ_PAIRS, total_grid(s), BUFFER(LJ_MEMBERS),
                    BUFFER(s->cut ? LJ_LISTED : LJ_CHAINS), BUFFER(LJ_PARTICLES), BUFFER(LJ_CELLS),
                    BUFFER(LJ_OFFSETS), BUFFER(LJ_EDGES), BUFFER(LJ_COUNTS), U64(step),
                    U32(s->capacity), U32(s->slots), U32(curve),
                    F32(s->system.sigma / lj_bin_width(s)), U32(begin), U32(end), VALUE(s->shape),
                    LOCAL(4 * s->launch.bins * lj_pair_kinds(&s->system)));
        ergo_engine_made(&s->e, pace, (end - begin - 1) / group + 1);
    }
}

/* Pairs per volume of the shell and of the box give rho^2 g(r), and divided by `ideal` g(r): the
 * sum of so many kinds of them. Unlike ones come from both sides. */
static void convert(const struct lj_state *s, size_t kinds, double sides, double ideal,
                    const uint64_t *pairs, double *gr, double *density) {
    const double width = lj_bin_width(s), v = s->system.volume;
    const size_t bins = s->launch.bins;
    for (size_t k = 0; k < bins; k++) {
        const double inner = (double)k * width, outer = inner + width;
        const double shell =
            4.0 / 3.0 * 3.14159265358979323846 * (outer * outer * outer - inner * inner * inner);
        uint64_t count = 0;
        for (size_t i = 0; i < kinds; i++)
            count += pairs[i * bins + k];
        const double found = (double)count / (v * shell) / sides;
        gr[k] = found / (ideal > 0 ? ideal : 1);
        if (density)
            density[k] = found;
    }
}

void lj_curve_rows_at(const struct lj_state *s, double *const curves[LJ_CURVES], size_t row,
                      double *rows[LJ_CURVES]) {
    for (size_t c = 0; c < LJ_CURVES; c++)
        rows[c] = s->curve_sizes[c] ? curves[c] + row * s->curve_sizes[c] : NULL;
}

/* g(r) divides by N (N - 1)/V^2 of the same sample, and that of two species by N_s N_t/V^2. */
void lj_pairs_convert(const struct lj_state *s, double n, const uint32_t *numbers,
                      const uint64_t *pairs, double *const rows[LJ_CURVES]) {
    const double v = s->system.volume;
    const size_t kinds = lj_pair_kinds(&s->system);
    convert(s, kinds, 1, n * (n - 1) / (v * v), pairs, rows[LJ_CURVE_GR],
            rows[LJ_CURVE_PAIR_DENSITY]);
    for (uint32_t b = 0, k = 0; b < s->system.species.n; b++)
        for (uint32_t a = 0; a <= b; a++, k++)
            convert(s, 1, a == b ? 1 : 2,
                    (double)numbers[a] * ((double)numbers[b] - (a == b)) / (v * v),
                    pairs + k * s->launch.bins, rows[LJ_CURVE_GR_OF + k],
                    rows[LJ_CURVE_DENSITY_OF + k]);
}
