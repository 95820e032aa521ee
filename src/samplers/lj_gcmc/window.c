/*
 * What the host looks at of a checkerboard that is too large to be followed whole: all cells in one
 * pass, layer by layer, and then only the particles near a corner, and those of the first layers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/lj_gcmc/cut.h"
#include "samplers/lj_gcmc/stretch.h"

/* ---- layers of cells ------------------------------------------------------------------------- */

static size_t layer_cells(const struct lj_state *s) {
    return (size_t)s->grid.n[0] * s->grid.n[1];
}

static uint32_t *new_layer(struct lj_state *s) {
    uint32_t *planes = malloc(16 * layer_cells(s) * s->slots);
    if (!planes)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for an audit of cells");
    return planes;
}

/* Read layer `z` of the box, as many planes as have particles. */
static void read_layer(struct lj_state *s, size_t chain, uint32_t z, uint32_t *planes) {
    const size_t area = layer_cells(s), all = lj_cells(s);
    const uint32_t n = s->grid.n[2], here = (z + n - lj_cut_low(s)) % n;
    uint32_t most = 1;
    for (uint32_t p = 0; p < most && s->e.status == ERGO_OK; p++) {
        ergo_engine_read(&s->e, LJ_CELLS, 16 * ((p * lj_chains(s) + chain) * all + here * area),
                         16 * area, planes + 4 * area * p);
        for (size_t c = 0; p == 0 && s->e.status == ERGO_OK && c < area; c++)
            most = planes[4 * c + 3] > most ? planes[4 * c + 3] : most;
        most = most < s->slots ? most : s->slots;
    }
}

/* First layer of this rank's, and their number. */
static uint32_t own_layers(const struct lj_state *s, uint32_t *first) {
    *first = s->cut ? (uint32_t)s->at.slab.first : 0;
    return s->cut ? s->at.slab.count : s->grid.n[2];
}

/* ---- all cells ------------------------------------------------------------------------------- */

static uint64_t mixed(const uint32_t *p) {
    const uint64_t a = ((uint64_t)p[0] << 32 | p[1]) * UINT64_C(0x9E3779B97F4A7C15);
    const uint64_t b = ((a ^ a >> 29) + p[2]) * UINT64_C(0xBF58476D1CE4E5B9);
    return b ^ b >> 32;
}

/* Adds the particles of a layer, and a sum that tells them from others, to sums[2]. Returns how
 * many are not in the cell that they are in. */
static uint64_t sum_layer(const struct lj_state *s, uint32_t z, const uint32_t *planes,
                          uint64_t sums[2]) {
    const size_t area = layer_cells(s);
    uint64_t wrong = 0;
    for (size_t c = 0; c < area; c++) {
        const uint32_t count = planes[4 * c + 3];
        wrong += count > s->slots;
        sums[0] += count;
        for (uint32_t p = 0; p < count && p < s->slots; p++) {
            const uint32_t *at = planes + 4 * (area * p + c);
            wrong += lj_grid_cell(&s->grid, at) != z * area + c;
            sums[1] += mixed(at);
        }
    }
    return wrong;
}

enum ergo_status lj_check_layers(struct ergo_context *ctx, struct lj_state *s, size_t chain) {
    const size_t n = s->grid.n[2], area = layer_cells(s);
    uint64_t *here = calloc(n, 2 * sizeof *here), *all = calloc(n, 2 * sizeof *all);
    uint64_t wrong = 0, inside = 0;
    uint32_t first;
    size_t from, to;
    const uint32_t count = own_layers(s, &first);
    ergo_engine_begin(&s->e, ctx);
    uint32_t *planes = here && all ? new_layer(s) : NULL;
    lj_cut_right(s, &from, &to);
    for (size_t i = from / area; planes && i < to / area && s->e.status == ERGO_OK; i++) {
        const uint32_t z = (uint32_t)((lj_cut_low(s) + i) % n);
        read_layer(s, chain, z, planes);
        if (s->e.status == ERGO_OK)
            wrong += sum_layer(s, z, planes, here + 2 * (size_t)z);
    }
    for (uint32_t i = 0; all && here && i < count; i++)
        memcpy(all + 2 * ((first + i) % n), here + 2 * ((first + i) % n), 2 * sizeof *all);
    if (all && s->cut) /* each layer is one rank's */
        ergo_dist_sum_counts(all, 2 * n);
    for (size_t z = 0; all && z < n; z++)
        inside += all[2 * z];
    /* layers beside a slab are as the neighbour has them */
    for (size_t i = from / area; all && here && i < to / area; i++) {
        const size_t z = (lj_cut_low(s) + i) % n;
        wrong += memcmp(here + 2 * z, all + 2 * z, 2 * sizeof *all) != 0;
    }
    enum ergo_status status = ergo_engine_end(&s->e);
    if (!planes && status == ERGO_OK)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of cells");
    if (status == ERGO_OK && (wrong || inside != s->chains[chain].particles))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of %s failed on %s at move %" PRIu64 ", member %zu: %u "
                           "particles, %" PRIu64 " in the cells, %" PRIu64
                           " not in their cell or not as the neighbours' have them",
                           s->e.model->sampler, s->e.device->summary.name, s->e.step,
                           chain / s->boxes, s->chains[chain].particles, inside, wrong);
    free(planes);
    free(here);
    free(all);
    return status;
}

/* ---- some particles -------------------------------------------------------------------------- */

struct words {
    uint32_t *p; /* 3 each */
    size_t n, capacity;
};

static bool append(struct words *to, const uint32_t *p) {
    if (to->n == to->capacity) {
        const size_t capacity = 2 * to->capacity + 1024;
        uint32_t *more = realloc(to->p, 12 * capacity);
        if (!more)
            return false;
        to->p = more;
        to->capacity = capacity;
    }
    memcpy(to->p + 3 * to->n++, p, 12);
    return true;
}

/* Those of a layer in the order of the cells; windows: only of these, which differ along z alone.
 */
static void append_layer(struct lj_state *s, size_t chain, uint32_t z, uint32_t *planes,
                         const struct lj_window *windows, struct words *to) {
    const size_t area = layer_cells(s);
    bool ok = true;
    read_layer(s, chain, z, planes);
    for (size_t c = 0; c < area && s->e.status == ERGO_OK; c++)
        for (uint32_t p = 0; p < planes[4 * c + 3] && p < s->slots; p++) {
            const uint32_t *at = planes + 4 * (area * p + c);
            if (!windows || (lj_window_has(windows, 0, at[0]) && lj_window_has(windows, 1, at[1])))
                ok = ok && append(to, at);
        }
    if (!ok)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for an audit's particles");
}

/* The lists of all ranks, in their order, in place of this rank's. */
static enum ergo_status join(struct lj_state *s, struct words *own) {
    const size_t ranks = (size_t)ergo_dist_count();
    uint64_t *counts = calloc(ranks, sizeof *counts), all = 0;
    const uint64_t mine = own->n;
    if (counts)
        ergo_dist_collect(&mine, sizeof mine, counts);
    for (size_t r = 0; counts && r < ranks; r++)
        all += counts[r];
    uint32_t *words = counts ? malloc(12 * ((size_t)all + 1)) : NULL;
    const enum ergo_status status =
        words ? ergo_dist_collect_items(s->e.ctx, own->p, words, 12, counts)
              : ERGO_FAIL(s->e.ctx, ERGO_E_MEMORY, "no memory for an audit's particles");
    free(counts);
    free(own->p);
    *own = (struct words){words, (size_t)all, (size_t)all};
    return status;
}

enum ergo_status lj_fetch_window(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                 uint64_t blocks, uint32_t **words, uint32_t *count) {
    const size_t ranks = s->cut ? (size_t)ergo_dist_count() : 1;
    struct lj_window *windows = calloc(ranks, sizeof *windows);
    struct words own = {0};
    uint32_t first;
    const uint32_t layers = own_layers(s, &first), n = s->grid.n[2];
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, LJ_CHAINS, chain * sizeof *s->chains, sizeof *s->chains,
                     &s->chains[chain]);
    uint32_t *planes = new_layer(s);
    const struct lj_window mine = lj_window_of(&s->system, blocks, first / s->system.period);
    if (windows && s->cut)
        ergo_dist_collect(&mine, sizeof mine, windows);
    else if (windows)
        *windows = mine;
    for (uint32_t i = 0; windows && planes && i < layers && s->e.status == ERGO_OK; i++) {
        const uint32_t z = (first + i) % n;
        bool wanted = false;
        for (size_t r = 0; r < ranks; r++)
            wanted = wanted ||
                     lj_window_has(&windows[r], 2, (uint32_t)((((uint64_t)z << 32) + n - 1) / n));
        if (wanted)
            append_layer(s, chain, z, planes, &mine, &own);
    }
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK && (!windows || !planes))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit's particles");
    if (s->cut && status == ERGO_OK)
        status = join(s, &own);
    if (!own.p && status == ERGO_OK) /* none */
        own.p = calloc(1, 12);
    free(planes);
    free(windows);
    *words = own.p;
    *count = (uint32_t)own.n;
    return status;
}

/* The list on the device begins with these. */
static enum ergo_status check_list(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                   const uint32_t *words, uint32_t count) {
    uint32_t *listed = malloc(16 * ((size_t)count + 1));
    bool same = true;
    if (!listed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit's particles");
    ergo_engine_read(&s->e, LJ_PARTICLES, 16 * (size_t)s->capacity * chain, 16 * (size_t)count,
                     listed);
    for (size_t i = 0; i < count && s->e.status == ERGO_OK; i++)
        same = same && memcmp(listed + 4 * i, words + 3 * i, 12) == 0;
    free(listed);
    if (!same)
        return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                         "audit of %s failed on %s: the list of particles is not that of the cells",
                         s->e.model->sampler, s->e.device->summary.name);
    return ergo_engine_end(&s->e);
}

enum ergo_status lj_fetch_first(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                uint32_t most, uint32_t **words, uint32_t *count, uint32_t *own) {
    const double box[3] = {s->system.box[0] / s->system.sigma, s->system.box[1] / s->system.sigma,
                           s->system.box[2] / s->system.sigma};
    uint32_t reach = s->system.period - LJ_ACTIVE, first, layers = 0;
    struct words to = {0};
    const uint32_t mine = own_layers(s, &first), n = s->grid.n[2];
    if (s->launch.bins) {
        const struct lj_reach r =
            lj_grid_reach(&s->grid, box, lj_bin_width(s) / s->system.sigma * s->launch.bins);
        reach = (uint32_t)r.high[2] > reach ? (uint32_t)r.high[2] : reach;
    }
    ergo_engine_begin(&s->e, ctx);
    uint32_t *planes = new_layer(s);
    for (; planes && layers < mine && to.n < most && s->e.status == ERGO_OK; layers++)
        append_layer(s, chain, (first + layers) % n, planes, NULL, &to);
    *own = to.n < most ? (uint32_t)to.n : most;
    /* the neighbours behind and before them, each layer once */
    const uint32_t behind = reach < n - layers ? reach : n - layers;
    const uint32_t before = reach < n - layers - behind ? reach : n - layers - behind;
    for (uint32_t i = 0; planes && i < behind + before && s->e.status == ERGO_OK; i++)
        append_layer(s, chain, (first + n + (i < behind ? layers + i : behind - i - 1)) % n, planes,
                     NULL, &to);
    free(planes);
    *words = to.p ? to.p : calloc(1, 12);
    *count = (uint32_t)to.n;
    const enum ergo_status status = ergo_engine_end(&s->e);
    return status == ERGO_OK ? check_list(ctx, s, chain, *words, *own) : status;
}
