/*
 * Audit of lattices that are too large for the host's twin: the last member makes one sweep of the
 * run, and then, from the same lattice, two. The second sweep is checked from the spins after the
 * first, which are known then.
 *
 * For each last sweep, some rows at the lower edge of the lattice and row 0, which follows them,
 * are checked as far as possible without the rest: their bonds are drawn again, both ends of each
 * active bond have the same representative, and the state of each site is the one drawn by its
 * representative. For the last sample, the sums over all spins are compared; for a sample before
 * it, that it is the same whether or not another follows.
 *
 * Up to 2^24 sites, clusters are counted again from the device's bonds. Beyond that, only
 * conditions are checked that the sums over clusters of any lattice fulfil. Then the audit does not
 * know how many clusters of each size there are, whether labels outside the rows are right, or
 * whether a cluster leads around the lattice.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"
#include "samplers/swendsen_wang/tables.h"

/* core.h takes the lattice's shape from macros; when compiled as C they read this. */
static _Thread_local struct { uint32_t q, words, ly, lx, tail; } whole;

#define SW_Q whole.q
#define SW_WORDS whole.words
#define SW_LY whole.ly
#define SW_TAIL whole.tail
#include "swendsen_wang/core.h"

/* Sites of the rows that are checked. */
static const uint64_t band_sites = 1u << 19;
/* Most sites of which clusters are counted: a third of a second, 200 MB. */
static const uint64_t counted_sites = 1u << 24;

struct audit {
    struct sw_state *s;
    size_t member;
    struct sw_member params; /* from the job, not from the device */
    uint64_t step;           /* of the sweep that is checked */
    uint32_t first, rows;
    uint32_t *before, *after;       /* planes of the whole member */
    uint32_t *right, *down, *names; /* of the rows */
    double columns[SW_COLUMNS];     /* sample of the first sweep */
};

static enum ergo_status read_rows(struct ergo_context *ctx, const struct audit *a) {
    struct sw_state *s = a->s;
    const uint64_t words = s->shape.row_words, bytes = s->shape.member_bytes;
    const uint64_t at = 4 * (s->shape.words * a->member + words * a->first);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SW_SPINS, bytes * a->member, bytes, a->after);
    ergo_engine_read(&s->e, SW_RIGHT, at, 4 * words * a->rows, a->right);
    ergo_engine_read(&s->e, SW_DOWN, at, 4 * words * a->rows, a->down);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = sw_audit_names(ctx, s, a->member, words * a->first, words * a->rows, a->names);
    if (status == ERGO_OK) /* row 0 follows the last one */
        status = sw_audit_names(ctx, s, a->member, 0, words, a->names + 32 * words * a->rows);
    return status;
}

static bool same_clusters(uint32_t bonds, const uint32_t *names, const uint32_t *neighbours) {
    for (; bonds; bonds &= bonds - 1) {
        const int bit = __builtin_ctz(bonds);
        if (names[bit] != neighbours[bit])
            return false;
    }
    return true;
}

/* Are the states of a word those drawn by the representatives `names`? names NULL: for a start,
 * by the sites themselves. */
static bool states_are_drawn(const struct audit *a, uint32_t i, uint32_t y, const uint32_t *names,
                             bool random) {
    const struct sw_member *m = &a->params;
    const size_t word = (size_t)y * a->s->shape.row_words + i;
    for (uint32_t bit = 0; bit <= sw_last_bit(i); bit++) {
        const uint32_t site = names ? names[bit] : 32 * (uint32_t)word + bit;
        const uint32_t state =
            random ? sw_state(sw_global_site(site), names ? SW_PURPOSE_SPIN : SW_PURPOSE_START,
                              (uint32_t)a->step, (uint32_t)(a->step >> 32), m->key0, m->key1)
                   : 0;
        for (size_t p = 0; p < a->s->shape.planes; p++)
            if ((a->after[p * a->s->shape.words + word] >> bit & 1u) != (state >> p & 1u))
                return false;
    }
    return true;
}

/* Check bonds, labels and states of the rows. Returns what is wrong, or NULL. */
static const char *rows_differ(const struct audit *a) {
    const struct sw_member *m = &a->params;
    const uint32_t words = a->s->shape.row_words, low = (uint32_t)a->step,
                   high = (uint32_t)(a->step >> 32);
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t i = 0; i < words; i++) {
            const size_t at = (size_t)row * words + i;
            const uint32_t *names = a->names + 32 * at, y = a->first + row, last = sw_last_bit(i);
            const uint32_t *next = i + 1 == words ? names - 32 * (size_t)i : names + 32;
            uint32_t side, under;
            sw_twin_equal(&a->s->shape, a->before, i, y, &side, &under);
            side = sw_bonds(side, sw_global_word(i, y), 0, low, high, m->key0, m->key1, m->high,
                            m->low, m->always);
            under = sw_bonds(under, sw_global_word(i, y), 1, low, high, m->key0, m->key1, m->high,
                             m->low, m->always);
            if (side != a->right[at] || under != a->down[at])
                return "bonds of the last sweep";
            if (!same_clusters(side & ~(1u << last), names, names + 1) ||
                (side >> last & 1u && names[last] != next[0]) ||
                !same_clusters(under, names, names + 32 * (size_t)words))
                return "labels at the two ends of a bond";
            if (!states_are_drawn(a, i, y, names, true))
                return "the states of a site and of its cluster";
        }
    return NULL;
}

/* Sum of powers in limbs of 16 bits, modulo 12. 2^16 and its powers are 4 modulo 12. */
static uint64_t modulo_12(const uint64_t *limbs, size_t n) {
    uint64_t sum = limbs[0] % 12;
    for (size_t l = 1; l < n; l++)
        sum += 4 * (limbs[l] % 12);
    return sum % 12;
}

/* n^2 equals n modulo 2, n^4 equals n^2 modulo 12, and each size lies in its bin. */
bool sw_clusters_fit(uint64_t sites, const uint64_t *bins, size_t n_bins, uint64_t largest,
                     const uint64_t *squares, size_t n_squares, const uint64_t *fourths,
                     size_t n_fourths) {
    double least = 0, most = 0, least2 = 0, most2 = 0, sum2 = 0, size = 1;
    uint64_t clusters = 0;
    size_t highest = 0;
    for (size_t b = 0; b < n_bins; b++, size *= 2) {
        const double n = (double)bins[b], end = 2 * size - 1;
        clusters += bins[b];
        highest = bins[b] ? b : highest;
        least += n * size;
        most += n * end;
        least2 += n * size * size;
        most2 += n * end * end;
    }
    if (clusters == 1) /* a size of 2^32 is 0 on one device */
        return true;
    size = 1;
    for (size_t l = 0; l < n_squares; l++, size *= 65536)
        sum2 += (double)squares[l] * size;
    return least <= (double)sites && (double)sites <= most && largest >> highest == 1 &&
           least2 <= sum2 && sum2 <= most2 && squares[0] % 2 == sites % 2 &&
           modulo_12(squares, n_squares) == modulo_12(fourths, n_fourths);
}

static bool clusters_fit(const struct sw_state *s, const uint32_t *places) {
    uint64_t largest = 0, bins[SW_CLUSTER_BINS] = {0};
    uint64_t squares[SW_SQUARE_LIMBS] = {0}, fourths[SW_FOURTH_LIMBS] = {0};
    for (size_t k = 0; k < s->launch.sum_slots; k++)
        sw_add_clusters(places + k * SW_CLUSTER_FIELDS, &largest, bins, squares, fourths);
    return sw_clusters_fit(s->shape.sites, bins, SW_CLUSTER_BINS, largest, squares, SW_SQUARE_LIMBS,
                           fourths, SW_FOURTH_LIMBS);
}

/* Compare all columns of the last sample; c: the counts of its spins. Clusters by Hoshen and
 * Kopelman. */
static enum ergo_status compare_clusters(struct ergo_context *ctx, const struct ergo_replay *r,
                                         const struct audit *a, const struct sw_counts *c) {
    struct sw_state *s = a->s;
    const size_t words = 4 * (size_t)s->shape.words;
    const size_t last = (r->samples - 1) * r->members + a->member;
    struct sw_twin t;
    enum ergo_status status = sw_twin_open(&t, &s->shape)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_note(&s->e, status);
    ergo_engine_read(&s->e, SW_RIGHT, words * a->member, words, t.right);
    ergo_engine_read(&s->e, SW_DOWN, words * a->member, words, t.down);
    status = ergo_engine_end(&s->e);
    if (status == ERGO_OK) {
        sw_twin_count_clusters(&s->shape, &t);
        t.counts.unequal = c->unequal;
        memcpy(t.counts.states, c->states, sizeof c->states);
        const char *wrong = NULL;
        status = sw_sample_differs(ctx, &s->shape, s->e.batch->points[a->member], true,
                                   s->distances, &t, r, last, &wrong);
        status = wrong ? ergo_replay_differs(ctx, r, a->member, wrong) : status;
    }
    sw_twin_close(&t);
    return status;
}

/* Check the last sample, and the one before it if there is one. */
static enum ergo_status compare_samples(struct ergo_context *ctx, const struct ergo_replay *r,
                                        struct audit *a) {
    const struct sw_state *s = a->s;
    const size_t last = (r->samples - 1) * r->members + a->member;
    const double *found = r->found.columns + last * SW_COLUMNS;
    const uint32_t *clusters = ergo_engine_host(&s->e, SW_CLUSTERS, 0, 0);
    double columns[SW_COLUMNS];
    struct sw_counts c = {0};
    sw_twin_count_spins(&s->shape, a->after, &c);
    sw_convert(&s->shape, s->units[a->member], &c, columns);
    if (!ergo_replay_same(columns, found, SW_COLUMN_PSI2 + 1))
        return ergo_replay_differs(ctx, r, a->member, "counts of spins and bonds");
    if (s->clusters && !clusters_fit(s, clusters + last * s->launch.sum_slots * SW_CLUSTER_FIELDS))
        return ergo_replay_differs(ctx, r, a->member, "number and sizes of clusters");
    if (r->samples > 1 &&
        !ergo_replay_same(a->columns, r->found.columns + a->member * SW_COLUMNS, SW_COLUMNS))
        return ergo_replay_differs(ctx, r, a->member, "samples with and without one after them");
    memcpy(a->columns, found, sizeof a->columns);
    return s->clusters && s->shape.sites <= counted_sites ? compare_clusters(ctx, r, a, &c)
                                                          : ERGO_OK;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r,
                                struct audit *a) {
    const enum ergo_status status = read_rows(ctx, a);
    const char *wrong = status == ERGO_OK ? rows_differ(a) : NULL;
    if (wrong)
        return ergo_replay_differs(ctx, r, a->member, wrong);
    return status == ERGO_OK && r->samples ? compare_samples(ctx, r, a) : status;
}

static enum ergo_status compare_first(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct audit *a = r->user;
    const size_t bytes = (size_t)a->s->shape.member_bytes;
    memcpy(a->before, (const char *)r->kept[SW_SPINS] + a->member * bytes, bytes);
    a->step = r->step;
    return compare(ctx, r, a);
}

static enum ergo_status compare_second(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct audit *a = r->user;
    uint32_t *before = a->after;
    a->after = a->before;
    a->before = before;
    a->step = r->step + 1;
    return compare(ctx, r, a);
}

static enum ergo_status compare_start(struct ergo_context *ctx, const struct ergo_replay *r,
                                      struct audit *a) {
    struct sw_state *s = a->s;
    const bool random =
        strcmp(ergo_point_text(s->e.batch->points[a->member], "/system/start"), "random") == 0;
    const size_t bytes = (size_t)s->shape.member_bytes;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SW_SPINS, bytes * a->member, bytes, a->after);
    const enum ergo_status status = ergo_engine_end(&s->e);
    bool same = true;
    a->step = 0;
    for (uint32_t row = 0; row < a->rows && status == ERGO_OK; row++)
        for (uint32_t i = 0; i < s->shape.row_words && same; i++)
            same = states_are_drawn(a, i, a->first + row, NULL, random);
    return same ? status : ergo_replay_differs(ctx, r, a->member, "the spins of the start");
}

static enum ergo_status replays(struct ergo_context *ctx, struct audit *a) {
    struct sw_state *s = a->s;
    const bool each =
        ergo_point_int(s->e.batch->points[0], "/run/measure_every") == 1 && s->e.block_samples > 1;
    size_t sizes[SW_CURVES];
    struct ergo_replay r = {.sampler = s->e.model->sampler,
                            .remedy = "/tuning/tile_rows",
                            .device = s->e.device,
                            .user = a,
                            .n_columns = SW_COLUMNS,
                            .n_curves = SW_CURVES,
                            .curve_sizes = sizes,
                            .samples = each ? 1 : 0,
                            .every = 1,
                            .compare = compare_first};
    sw_replay_curves(&s->shape, s->clusters, s->distances, sizes);
    enum ergo_status status = s->started && s->e.step == 0 ? compare_start(ctx, &r, a) : ERGO_OK;
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &r, NULL, 0);
    r.samples = each ? 2 : 1;
    r.every = each ? 1 : 2;
    r.compare = compare_second;
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &r, NULL, 0) : status;
}

enum ergo_status sw_audit_rows(struct ergo_context *ctx, struct sw_state *s) {
    const size_t bytes = (size_t)s->shape.member_bytes;
    const uint64_t words = s->shape.row_words, fit = band_sites / (32 * words) + 1;
    const uint64_t ly = (uint64_t)s->shape.ly;
    struct audit a = {.s = s, .member = s->e.batch->count - 1};
    a.rows = (uint32_t)(fit < ly ? fit : ly);
    a.first = (uint32_t)(ly - a.rows);
    sw_member_fill(s->e.batch->points[a.member], &a.params);
    whole.q = s->shape.q;
    whole.words = s->shape.row_words;
    whole.ly = (uint32_t)ly;
    whole.lx = (uint32_t)s->shape.lx;
    whole.tail = s->shape.tail;
    a.before = malloc(bytes);
    a.after = malloc(bytes);
    a.right = malloc(4 * words * a.rows);
    a.down = malloc(4 * words * a.rows);
    a.names = malloc(128 * words * (a.rows + 1));
    const enum ergo_status status = a.before && a.after && a.right && a.down && a.names
                                        ? replays(ctx, &a)
                                        : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    free(a.before);
    free(a.after);
    free(a.right);
    free(a.down);
    free(a.names);
    return status;
}
