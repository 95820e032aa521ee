/* See serial_disks.h. */
#include "serial_disks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

enum { SLOTS = 4 };
static const uint32_t NONE = UINT32_MAX;
static const float FAR = 1e6f;

/* ---- the usual way -----------------------------------------------------------------------------
 */

static inline uint32_t cell_of(const struct ergo_serial_disks *s, double x, double y) {
    /* rounding may give the index after the last cell */
    const uint32_t i = (uint32_t)(x / s->cell), j = (uint32_t)(y / s->cell);
    return (j < s->m ? j : s->m - 1) * s->m + (i < s->m ? i : s->m - 1);
}

static void random_init(struct ergo_serial_disks *s) {
    const uint32_t m = s->m;
    for (uint32_t c = 0; c < m * m; c++)
        for (uint32_t k = 0; k < 9; k++)
            s->around[9 * c + k] = (c / m + k / 3 + m - 1) % m * m + (c % m + k % 3 + m - 1) % m;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t c = cell_of(s, s->x[i], s->y[i]);
        s->list[SLOTS * c + s->count[c]++] = i;
    }
}

static inline bool random_free(const struct ergo_serial_disks *s, uint32_t i, double x, double y,
                               uint32_t c) {
    const double box = s->box, half = 0.5 * box;
    for (int k = 0; k < 9; k++) {
        const uint32_t other = s->around[9 * c + (uint32_t)k];
        for (uint32_t l = 0; l < s->count[other]; l++) {
            const uint32_t j = s->list[SLOTS * other + l];
            double dx = fabs(s->x[j] - x), dy = fabs(s->y[j] - y);
            dx = dx > half ? box - dx : dx;
            dy = dy > half ? box - dy : dy;
            if (dx * dx + dy * dy < 1.0 && j != i)
                return false;
        }
    }
    return true;
}

static void random_sweep(struct ergo_serial_disks *s) {
    const double box = s->box, scale = s->half * 0x1p-31;
    for (uint32_t t = 0; t < s->n; t++) {
        const uint64_t r = ergo_oracle_xoshiro(s->random), q = ergo_oracle_xoshiro(s->random);
        const uint32_t i = (uint32_t)((r >> 32) * s->n >> 32);
        double x = s->x[i] + (double)(int32_t)(uint32_t)q * scale;
        double y = s->y[i] + (double)(int32_t)(uint32_t)(q >> 32) * scale;
        x = x < 0 ? x + box : x >= box ? x - box : x;
        y = y < 0 ? y + box : y >= box ? y - box : y;
        const uint32_t to = cell_of(s, x, y);
        if (!random_free(s, i, x, y, to))
            continue;
        const uint32_t from = cell_of(s, s->x[i], s->y[i]);
        if (from != to) {
            uint32_t *list = s->list + SLOTS * (size_t)from, k = 0;
            while (list[k] != i)
                k++;
            list[k] = list[--s->count[from]];
            s->list[SLOTS * to + s->count[to]++] = i;
        }
        s->x[i] = x;
        s->y[i] = y;
        s->accepted++;
    }
}

/* ---- vectors -----------------------------------------------------------------------------------
 */

/* Images of a cell at the box's rim. */
static void mirror(const struct ergo_serial_disks *s, uint32_t cell) {
    const uint32_t stride = s->m + 2, i = cell % stride, j = cell / stride;
    if (i > 1 && i < s->m && j > 1 && j < s->m)
        return;
    const uint32_t column[2] = {i, i == 1 ? s->m + 1 : i == s->m ? 0 : i};
    const uint32_t row[2] = {j, j == 1 ? s->m + 1 : j == s->m ? 0 : j};
    for (int k = 1; k < 4; k++) {
        const uint32_t image = row[k / 2] * stride + column[k % 2];
        if (image == cell)
            continue;
        memcpy(s->px + SLOTS * (size_t)image, s->px + SLOTS * (size_t)cell, SLOTS * sizeof *s->px);
        memcpy(s->py + SLOTS * (size_t)image, s->py + SLOTS * (size_t)cell, SLOTS * sizeof *s->py);
    }
}

static void put(struct ergo_serial_disks *s, uint32_t cell, uint32_t disk, float x, float y) {
    uint32_t place = SLOTS * cell;
    while (s->label[place] != NONE)
        place++;
    s->label[place] = disk;
    s->where[disk] = place;
    s->px[place] = x;
    s->py[place] = y;
    mirror(s, cell);
}

static void vectors_init(struct ergo_serial_disks *s) {
    const uint32_t stride = s->m + 2, places = SLOTS * (stride * stride + 1);
    for (uint32_t p = 0; p < places; p++) {
        s->px[p] = s->py[p] = FAR;
        s->label[p] = NONE;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t c = cell_of(s, s->x[i], s->y[i]), u = c % s->m, v = c / s->m;
        put(s, (v + 1) * stride + u + 1, i, (float)(s->x[i] - u * s->cell),
            (float)(s->y[i] - v * s->cell));
    }
}

/* Disks closer than 1 in the cells around, the one at its old place among them. The fourth cell of
 * a row makes whole vectors; at two cells' distance it never counts. at: a cell's place in the row.
 */
static inline int close_disks(const float *restrict px, const float *restrict py, size_t row,
                              const float *restrict at, float x, float y, float w) {
    int n = 0;
    for (int v = -1; v < 2; v++) {
        const float height = y - (float)v * w;
        const float *qx = px + (ptrdiff_t)row * v - SLOTS, *qy = py + (ptrdiff_t)row * v - SLOTS;
        for (int k = 0; k < 4 * SLOTS; k++) {
            const float dx = qx[k] + at[k] - x, dy = qy[k] - height;
            n += dx * dx + dy * dy < 1.0f;
        }
    }
    return n;
}

static void vectors_sweep(struct ergo_serial_disks *s) {
    const float scale = (float)(s->half * 0x1p-31), w = (float)s->cell;
    const uint32_t m = s->m, stride = m + 2;
    float at[4 * SLOTS];
    for (int k = 0; k < 4 * SLOTS; k++)
        at[k] = w * (k < SLOTS ? -1.0f : k < 2 * SLOTS ? 0.0f : k < 3 * SLOTS ? 1.0f : 2.0f);
    for (uint32_t i = 0; i < s->n; i++) {
        const uint64_t q = ergo_oracle_xoshiro(s->random);
        const uint32_t place = s->where[i];
        const uint32_t cell = place / SLOTS;
        float x = s->px[place] + (float)(int32_t)(uint32_t)q * scale;
        float y = s->py[place] + (float)(int32_t)(uint32_t)(q >> 32) * scale;
        /* the cell of the new position; displacements are smaller than a cell */
        const int u = (x >= w) - (x < 0), v = (y >= w) - (y < 0);
        x -= (float)u * w;
        y -= (float)v * w;
        uint32_t to = cell + (uint32_t)(v * (int)stride + u);
        if (u != 0 || v != 0) { /* an image represents the cell itself */
            const uint32_t column = (to % stride + m - 1) % m + 1;
            const uint32_t row = (to / stride + m - 1) % m + 1;
            to = row * stride + column;
        }
        const size_t here = SLOTS * (size_t)to;
        if (close_disks(s->px + here, s->py + here, SLOTS * (size_t)stride, at, x, y, w) != 1)
            continue;
        s->accepted++;
        if (to == cell) {
            s->px[place] = x;
            s->py[place] = y;
            mirror(s, cell);
        } else {
            s->px[place] = s->py[place] = FAR;
            s->label[place] = NONE;
            mirror(s, cell);
            put(s, to, i, x, y);
        }
    }
}

/* ---- both --------------------------------------------------------------------------------------
 */

bool ergo_serial_disks_init(struct ergo_serial_disks *s, size_t n, double box, double displacement,
                            enum ergo_serial_disks_kind kind, uint64_t seed) {
    const size_t side = (size_t)ceil(sqrt((double)n)), m = (size_t)floor(box);
    *s = (struct ergo_serial_disks){.kind = kind,
                                    .n = (uint32_t)n,
                                    .m = (uint32_t)m,
                                    .box = box,
                                    .cell = box / (double)m,
                                    .half = displacement * sqrt(0.75)};
    const double spacing = box / (double)side;
    if (m < 3 || m > 30000 || n > (size_t)1 << 30 || spacing < 1.0)
        return false;
    const size_t cells = (m + 2) * (m + 2) + 1;
    s->x = malloc(n * sizeof *s->x);
    s->y = malloc(n * sizeof *s->y);
    if (kind == ERGO_SERIAL_DISKS_RANDOM) {
        s->list = calloc(cells * SLOTS, sizeof *s->list);
        s->around = calloc(cells * 9, sizeof *s->around);
        s->count = calloc(cells, sizeof *s->count);
    } else {
        s->px = calloc(cells * SLOTS, sizeof *s->px);
        s->py = calloc(cells * SLOTS, sizeof *s->py);
        s->label = calloc(cells * SLOTS, sizeof *s->label);
        s->where = calloc(n, sizeof *s->where);
    }
    const bool random = s->list && s->around && s->count;
    const bool vectors = s->px && s->py && s->label && s->where;
    if (!s->x || !s->y || !(random || vectors)) {
        ergo_serial_disks_free(s);
        return false;
    }
    ergo_oracle_xoshiro_seed(s->random, seed);
    for (size_t i = 0; i < n; i++) {
        const size_t column = i % side, row = i / side;
        s->x[i] = ((double)column + 0.5) * spacing;
        s->y[i] = ((double)row + 0.5) * spacing;
    }
    if (random)
        random_init(s);
    else
        vectors_init(s);
    return true;
}

void ergo_serial_disks_free(struct ergo_serial_disks *s) {
    free(s->x);
    free(s->y);
    free(s->list);
    free(s->around);
    free(s->count);
    free(s->px);
    free(s->py);
    free(s->label);
    free(s->where);
    memset(s, 0, sizeof *s);
}

void ergo_serial_disks_sweeps(struct ergo_serial_disks *s, uint64_t count) {
    for (uint64_t t = 0; t < count; t++) {
        if (s->kind == ERGO_SERIAL_DISKS_RANDOM)
            random_sweep(s);
        else
            vectors_sweep(s);
    }
}

void ergo_serial_disks_positions(const struct ergo_serial_disks *s, double *x, double *y) {
    if (s->kind == ERGO_SERIAL_DISKS_RANDOM) {
        memcpy(x, s->x, s->n * sizeof *x);
        memcpy(y, s->y, s->n * sizeof *y);
        return;
    }
    const uint32_t stride = s->m + 2;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t place = s->where[i], cell = place / SLOTS;
        const uint32_t column = cell % stride - 1, row = cell / stride - 1;
        x[i] = (double)s->px[place] + column * s->cell;
        y[i] = (double)s->py[place] + row * s->cell;
    }
}
