/* The measurements on the host, with the same sums as the kernels, to the last bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"
#include "samplers/histogram.h"

void disks_twin_psi6_cell(const struct disks_member *member, const struct disks_shape *s,
                          const struct disks_config *c, size_t cell, int32_t *re, int32_t *im) {
    const int64_t m = s->cells[0], rows = s->cells[1], at = (int64_t)cell;
    const float inverse_y = s->rectangular ? member->inverse * member->aspect[0] : member->inverse;
    const float w = (float)s->width;
    size_t around[25];
    for (int64_t k = 0; k < 25; k++) /* a bond reaches two cells at most */
        around[k] =
            (size_t)((at / m + k / 5 - 2 + 2 * rows) % rows * m + (at % m + k % 5 - 2 + 2 * m) % m);
    for (size_t i = 0; i < c->count[cell]; i++) {
        const float px = (float)c->x[cell * DISKS_SLOTS + i];
        const float py = (float)c->y[cell * DISKS_SLOTS + i];
        struct disks_bonds bonds = {0.0f, 0.0f, 0.0f};
        for (int64_t k = 0; k < 25; k++) {
            const int64_t ox = k % 5 - 2, oy = k / 5 - 2;
            const float left = px - (float)ox * w, low = py - (float)oy * w;
            const size_t first = around[k] * DISKS_SLOTS;
            for (size_t j = first; j < first + c->count[around[k]]; j++)
                bonds = disks_bond(bonds, ((float)c->x[j] - left) * member->inverse,
                                   ((float)c->y[j] - low) * inverse_y, member->neighbour);
        }
        const float scale =
            bonds.count > 0.0f ? disks_inverse(bonds.count) * DISKS_PSI6_UNIT : 0.0f;
        re[i] = (int32_t)lrintf(bonds.re * scale);
        im[i] = (int32_t)lrintf(bonds.im * scale);
    }
}

struct psi6 {
    const struct disks_member *member;
    const struct disks_shape *shape;
    const struct disks_config *config;
    const size_t *first; /* disk of each row of cells */
    int32_t *re, *im;
};

static void psi6_rows(size_t begin, size_t end, void *user) {
    const struct psi6 *p = user;
    const size_t cells = p->shape->cells[0];
    size_t n = p->first[begin];
    for (size_t cell = begin * cells; cell < end * cells; n += p->config->count[cell++])
        disks_twin_psi6_cell(p->member, p->shape, p->config, cell, p->re + n, p->im + n);
}

/* NOLINTNEXTLINE(readability-non-const-parameter) psi6_rows writes them */
bool disks_twin_psi6(const struct disks_member *member, const struct disks_shape *s,
                     /* NOLINTNEXTLINE(readability-non-const-parameter) */
                     const struct disks_config *c, int32_t *re, int32_t *im) {
    const size_t cells = s->cells[0], rows = s->cells[1];
    size_t *first = malloc(rows * sizeof *first), n = 0;
    if (!first)
        return false;
    for (size_t cell = 0; cell < cells * rows; n += c->count[cell++])
        if (cell % cells == 0)
            first[cell / cells] = n;
    struct psi6 all = {member, s, c, first, re, im};
    ergo_parallel_ranges(rows, 8, psi6_rows, &all);
    free(first);
    return true;
}

/* Count pairs of disks of two cells by distance. The second cell lies (ox, oy) cells away. */
static void count_pairs(const struct disks_shape *s, const struct disks_config *c, size_t cell,
                        size_t other, int64_t ox, int64_t oy, const uint64_t *limits, size_t bins,
                        uint32_t *counts) {
    const bool same = ox == 0 && oy == 0;
    const int64_t w = s->width;
    for (size_t i = 0; i < c->count[cell]; i++)
        for (size_t j = same ? i + 1 : 0; j < c->count[other]; j++) {
            const size_t p = cell * DISKS_SLOTS + i, q = other * DISKS_SLOTS + j;
            const int64_t dx = (int64_t)c->x[q] - (int64_t)c->x[p] + ox * w;
            const int64_t dy = (int64_t)c->y[q] - (int64_t)c->y[p] + oy * w;
            const uint64_t now = disks_r2(dx, dy, s->npt ? c->size.ratio : s->ratio);
            const uint64_t r2 = s->npt ? disks_at_start(now, c->size.growth) : now;
            const size_t bin = ergo_histogram_bin(limits, bins, r2);
            if (bin < bins)
                counts[bin]++;
        }
}

struct pairs {
    const struct disks_shape *s;
    const struct disks_config *c;
    uint32_t reach;
    const uint64_t *limits;
    size_t bins;
};

static void pairs_of_cells(size_t begin, size_t end, const void *user, uint32_t *counts) {
    const struct pairs *a = user;
    const int64_t m = a->s->cells[0], rows = a->s->cells[1];
    const int64_t far = a->reach, wraps = (far / m + 1) * m;
    for (int64_t cell = (int64_t)begin; cell < (int64_t)end; cell++)
        for (int64_t oy = 0; oy <= far; oy++) /* each pair once */
            for (int64_t ox = oy ? -far : 0; ox <= far; ox++) {
                const int64_t other = (cell / m + oy) % rows * m + (cell % m + ox + wraps) % m;
                count_pairs(a->s, a->c, (size_t)cell, (size_t)other, ox, oy, a->limits, a->bins,
                            counts);
            }
}

bool disks_twin_pairs(const struct disks_shape *s, const struct disks_config *c, size_t cells,
                      uint32_t reach, const uint64_t *limits, size_t bins, uint32_t *counts) {
    enum { WORTHWHILE = 1 << 10 }; /* cells that are worth waking a core */
    const size_t all = disks_cells(s);
    const struct pairs a = {s, c, reach, limits, bins};
    return ergo_histogram_count(cells < all ? cells : all, WORTHWHILE, bins, pairs_of_cells, &a,
                                counts);
}

void disks_twin_blocks(const struct disks_config *c, size_t blocks, uint32_t block, size_t bins,
                       uint32_t *counts) {
    const size_t m = c->cells[0], side = m / block, rows = c->cells[1] / block;
    memset(counts, 0, bins * sizeof *counts);
    for (size_t id = 0; id < side * rows && id < blocks; id++) {
        size_t n = 0;
        for (size_t k = 0; k < (size_t)block * block; k++)
            n += c->count[(id / side * block + k / block) * m + id % side * block + k % block];
        counts[n < bins ? n : bins - 1]++;
    }
}

/* ---- places -----------------------------------------------------------------------------------
 */

int64_t disks_twin_energy(const struct disks_shape *s, const struct disks_config *c,
                          const int64_t *field, size_t cell) {
    int64_t sum = 0;
    uint64_t at[2];
    for (size_t k = 0; k < c->count[cell]; k++) {
        disks_config_at(c, s, cell, k, at);
        sum += ergo_confined_energy(&s->confined, field, at);
    }
    return sum;
}

void disks_twin_profile(const struct disks_shape *s, const struct disks_config *c, unsigned curve,
                        size_t bins, uint32_t *counts) {
    uint64_t at[2];
    memset(counts, 0, bins * sizeof *counts);
    for (size_t cell = 0; cell < disks_config_cells(c); cell++)
        for (size_t k = 0; k < c->count[cell]; k++) {
            disks_config_at(c, s, cell, k, at);
            ergo_confined_count(&s->confined, curve, bins, at, counts);
        }
}
