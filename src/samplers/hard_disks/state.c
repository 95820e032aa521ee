/* A configuration on the host: cells, canonical bytes, the device's layouts, overlaps. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parallel.h"
#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"

size_t disks_config_cells(const struct disks_config *c) {
    return (size_t)c->cells[0] * c->cells[1];
}

bool disks_config_init(struct disks_config *c, const uint32_t cells[2]) {
    const size_t all = (size_t)cells[0] * cells[1];
    *c = (struct disks_config){.cells = {cells[0], cells[1]}};
    c->count = calloc(all, 1);
    c->x = calloc(all * DISKS_SLOTS, sizeof *c->x);
    c->y = calloc(all * DISKS_SLOTS, sizeof *c->y);
    if (c->count && c->x && c->y)
        return true;
    disks_config_free(c);
    return false;
}

void disks_config_free(struct disks_config *c) {
    free(c->count);
    free(c->x);
    free(c->y);
    *c = (struct disks_config){0};
}

size_t disks_config_place(struct disks_config *c, const struct disks_shape *s, const uint64_t *x,
                          const uint64_t *y) {
    memset(c->count, 0, disks_config_cells(c));
    c->grid[0] = c->grid[1] = 0;
    c->size = s->size;
    for (size_t i = 0; i < s->n; i++) {
        const size_t cell = (size_t)(y[i] / s->width) * c->cells[0] + (size_t)(x[i] / s->width);
        if (c->count[cell] == DISKS_SLOTS)
            return i;
        const size_t slot = cell * DISKS_SLOTS + c->count[cell]++;
        c->x[slot] = (uint32_t)(x[i] % s->width);
        c->y[slot] = (uint32_t)(y[i] % s->width);
    }
    return SIZE_MAX;
}

void disks_config_box(const struct disks_config *c, const struct disks_shape *s, double box[2]) {
    const struct ergo_volume *v = &c->size.volume;
    const double volume = s->npt ? ergo_isobaric_volume(v->size) : 0;
    const double grown = sqrt(volume / (s->box[0] * s->box[1]));
    const double stretch = s->per_axis ? exp(ldexp((double)v->stretch[0], -37)) : 1;
    for (int k = 0; k < 2; k++)
        box[k] = !s->npt          ? s->box[k]
                 : s->rectangular ? s->box[k] * grown * (k ? stretch : 1 / stretch)
                                  : sqrt(volume);
}

void disks_config_at(const struct disks_config *c, const struct disks_shape *s, size_t cell,
                     size_t k, uint64_t at[2]) {
    const uint64_t left = cell % c->cells[0] * s->width;
    const uint64_t low = cell / c->cells[0] * s->width;
    at[0] = (left + c->x[cell * DISKS_SLOTS + k] + c->grid[0]) % s->side[0];
    at[1] = (low + c->y[cell * DISKS_SLOTS + k] + c->grid[1]) % s->side[1];
}

bool disks_config_crosses(const struct disks_config *c, const struct disks_shape *s) {
    uint64_t at[2];
    for (size_t cell = 0; s->confined.is && cell < disks_config_cells(c); cell++)
        for (size_t k = 0; k < c->count[cell]; k++) {
            disks_config_at(c, s, cell, k, at);
            if (!ergo_confined_free(&s->confined, 2, at))
                return true;
        }
    return false;
}

void disks_config_positions(const struct disks_config *c, const struct disks_shape *s, double *x,
                            double *y) {
    double box[2], sigma[2]; /* in units of its axis */
    uint64_t at[2];
    size_t n = 0;
    disks_config_box(c, s, box);
    for (int k = 0; k < 2; k++)
        sigma[k] = s->npt ? (double)s->side[k] / box[k] : s->unit[k];
    for (size_t cell = 0; cell < disks_config_cells(c); cell++)
        for (size_t k = 0; k < c->count[cell]; k++, n++) {
            disks_config_at(c, s, cell, k, at);
            x[n] = (double)at[0] / sigma[0];
            y[n] = (double)at[1] / sigma[1];
        }
}

/* The closest pair of two disks; of several the one whose first cell is the first. */
struct closest {
    const struct disks_config *c;
    int64_t width;
    uint64_t ratio; /* (w_y/w_x)^2 */
    uint64_t least; /* r^2 */
    size_t cell[2];
    unsigned slot[2];
    pthread_mutex_t lock;
};

/* Of these cells, with half of their neighbours, so that each pair of cells occurs once. */
static void closest_of_cells(size_t begin, size_t end, void *user) {
    struct closest *all = user, mine = {.least = UINT64_MAX};
    const struct disks_config *c = all->c;
    const int64_t m = c->cells[0], rows = c->cells[1], w = all->width;
    static const int offsets[5][2] = {{0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};
    for (int64_t at = (int64_t)begin; at < (int64_t)end; at++)
        for (int o = 0; o < 5; o++) {
            const int64_t cx = at % m + offsets[o][0], cy = at / m + offsets[o][1];
            const int64_t other = (cy + rows) % rows * m + (cx + m) % m;
            for (unsigned i = 0; i < c->count[at]; i++)
                for (unsigned j = o == 0 ? i + 1 : 0; j < c->count[other]; j++) {
                    const int64_t dx = (int64_t)c->x[other * DISKS_SLOTS + j] -
                                       (int64_t)c->x[at * DISKS_SLOTS + i] + offsets[o][0] * w;
                    const int64_t dy = (int64_t)c->y[other * DISKS_SLOTS + j] -
                                       (int64_t)c->y[at * DISKS_SLOTS + i] + offsets[o][1] * w;
                    const uint64_t r2 = disks_r2(dx, dy, all->ratio);
                    if (r2 >= mine.least)
                        continue;
                    mine.least = r2;
                    mine.cell[0] = (size_t)at, mine.cell[1] = (size_t)other;
                    mine.slot[0] = i, mine.slot[1] = j;
                }
        }
    pthread_mutex_lock(&all->lock);
    if (mine.least < all->least || (mine.least == all->least && mine.cell[0] < all->cell[0])) {
        all->least = mine.least;
        memcpy(all->cell, mine.cell, sizeof mine.cell);
        memcpy(all->slot, mine.slot, sizeof mine.slot);
    }
    pthread_mutex_unlock(&all->lock);
}

uint64_t disks_config_closest(const struct disks_config *c, const struct disks_shape *s,
                              size_t cell[2], unsigned slot[2]) {
    enum { WORTHWHILE = 1 << 12 }; /* cells that are worth waking a core */
    struct closest all = {.c = c,
                          .width = s->width,
                          .ratio = s->npt ? c->size.ratio : s->ratio,
                          .least = UINT64_MAX,
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    ergo_parallel_ranges(disks_config_cells(c), WORTHWHILE, closest_of_cells, &all);
    if (cell) {
        memcpy(cell, all.cell, sizeof all.cell);
        memcpy(slot, all.slot, sizeof all.slot);
    }
    return all.least;
}

/* ---- canonical bytes --------------------------------------------------------------------------
 */

void disks_config_write(const struct disks_config *c, const struct disks_shape *s,
                        struct ergo_text *text) {
    if (s->npt)
        ergo_isobaric_append(text, &s->rules.volume, 2, s->per_axis, &c->size.volume);
    ergo_bytes_append(text, c->grid[0], 8);
    ergo_bytes_append(text, c->grid[1], 8);
    for (size_t cell = 0; cell < disks_config_cells(c); cell++) {
        ergo_bytes_append(text, c->count[cell], 1);
        for (size_t k = 0; k < c->count[cell]; k++) {
            ergo_bytes_append(text, c->x[cell * DISKS_SLOTS + k], 4);
            ergo_bytes_append(text, c->y[cell * DISKS_SLOTS + k], 4);
        }
    }
}

bool disks_config_read(struct disks_config *c, const struct disks_shape *s, const void *bytes,
                       size_t length, const char **reason) {
    const uint8_t *data = bytes;
    const size_t cells = disks_config_cells(c);
    const size_t head = s->npt ? ergo_isobaric_bytes(&s->rules.volume, 2, s->per_axis) : 0;
    size_t at = head + 16, n = 0;
    if (length != at + cells + 8 * s->n) {
        *reason = "its length is not that of as many disks and cells";
        return false;
    }
    uint64_t contact = s->contact;
    if (s->npt) {
        if (!ergo_isobaric_read(data, &s->rules.volume, 2, s->per_axis, &c->size.volume,
                                &contact)) {
            *reason = "its volume is not one that its cells allow";
            return false;
        }
        c->size = disks_size_at(s->rules, c->size.volume);
        const struct ergo_volume_rules allowed =
            disks_rules_at(s->rules.volume, s->width, c->size.ratio);
        if (contact < allowed.contact[0] || contact > allowed.contact[1]) {
            *reason = "its sides are not ones that its cells allow";
            return false;
        }
    }
    c->grid[0] = ergo_bytes_get(data + head, 8);
    c->grid[1] = ergo_bytes_get(data + head + 8, 8);
    if (c->grid[0] >= s->side[0] || c->grid[1] >= s->side[1]) {
        *reason = "its grid is outside of the box";
        return false;
    }
    for (size_t i = 0; i < cells; i++) {
        c->count[i] = at < length ? data[at++] : 255;
        if (c->count[i] > DISKS_SLOTS || at + 8 * (size_t)c->count[i] > length) {
            *reason = "a cell holds more than four disks";
            return false;
        }
        for (size_t k = 0; k < c->count[i]; k++, n++, at += 8) {
            const uint64_t x = ergo_bytes_get(data + at, 4), y = ergo_bytes_get(data + at + 4, 4);
            if (x >= s->width || y >= s->width) {
                *reason = "a disk is outside of its cell";
                return false;
            }
            c->x[i * DISKS_SLOTS + k] = (uint32_t)x;
            c->y[i * DISKS_SLOTS + k] = (uint32_t)y;
        }
    }
    if (n != s->n || at != length) {
        *reason = "it has another number of disks";
        return false;
    }
    if (disks_config_closest(c, s, NULL, NULL) < contact) {
        *reason = "disks overlap";
        return false;
    }
    if (disks_config_crosses(c, s)) {
        *reason = "a disk is in a wall";
        return false;
    }
    return true;
}

/* ---- the device's layout ----------------------------------------------------------------------
 */

size_t disks_planes(const struct disks_shape *s) {
    return s->packed ? 1 : 2;
}

/* Where the device keeps cell `cell`, numbered row by row. */
static size_t place_of(const struct disks_config *c, size_t cell) {
    const size_t h = c->cells[0] / 2, v = c->cells[1] / 2;
    const size_t x = cell % c->cells[0], y = cell / c->cells[0];
    return (x % 2 + y % 2 * 2) * h * v + y / 2 * h + x / 2;
}

void disks_config_to_raw(const struct disks_config *c, const struct disks_shape *s, void *raw,
                         size_t first, size_t second) {
    for (size_t cell = 0; cell < disks_config_cells(c); cell++) {
        const size_t at = first + place_of(c, cell);
        uint32_t *packed = (uint32_t *)raw + 4 * at;
        for (size_t k = 0; k < DISKS_SLOTS; k++) {
            const bool empty = k >= c->count[cell];
            const uint32_t x = c->x[cell * DISKS_SLOTS + k], y = c->y[cell * DISKS_SLOTS + k];
            float *wide = (float *)raw + 4 * (k < 2 ? at : at + second) + k % 2;
            if (s->packed) {
                packed[k] = empty ? DISKS_W_PACKED : x | y << 16;
                continue;
            }
            wide[0] = empty ? DISKS_FAR : (float)x;
            wide[2] = empty ? 0.0f : (float)y + (k == 1 && c->count[cell] > 2 ? DISKS_MORE : 0.0f);
        }
    }
}

void disks_config_from_raw(struct disks_config *c, const struct disks_shape *s, const void *raw,
                           size_t first, size_t second) {
    for (size_t cell = 0; cell < disks_config_cells(c); cell++) {
        const size_t at = first + place_of(c, cell);
        const float *one = (const float *)raw + 4 * at, *two = one + 4 * second;
        const uint32_t *packed = (const uint32_t *)raw + 4 * at;
        const bool more = !s->packed && one[3] > 0.5f * DISKS_MORE;
        c->count[cell] = 0;
        for (size_t k = 0; k < (more || s->packed ? DISKS_SLOTS : 2); k++) {
            const float *wide = (k < 2 ? one : two) + k % 2;
            const bool empty =
                s->packed ? (packed[k] & 0xffff) == DISKS_W_PACKED : !(wide[0] < 0.5f * DISKS_FAR);
            if (empty)
                continue;
            const size_t slot = cell * DISKS_SLOTS + c->count[cell]++;
            c->x[slot] = s->packed ? packed[k] & 0xffff : (uint32_t)wide[0];
            c->y[slot] = s->packed ? packed[k] >> 16
                                   : (uint32_t)(k == 1 && more ? wide[2] - DISKS_MORE : wide[2]);
        }
    }
}
