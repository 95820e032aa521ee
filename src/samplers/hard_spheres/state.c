/* A configuration on the host: cells, canonical bytes, the device's layout, overlaps. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parallel.h"
#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

static size_t cells_of(const struct spheres_config *c) {
    return (size_t)c->cells[0] * c->cells[1] * c->cells[2];
}

bool spheres_config_init(struct spheres_config *c, const uint32_t cells[3]) {
    *c = (struct spheres_config){.cells = {cells[0], cells[1], cells[2]}};
    c->count = calloc(cells_of(c), 1);
    c->place = malloc(cells_of(c) * SPHERES_MANY * sizeof *c->place);
    if (c->count && c->place)
        return true;
    spheres_config_free(c);
    return false;
}

void spheres_config_free(struct spheres_config *c) {
    free(c->count);
    free(c->place);
    *c = (struct spheres_config){0};
}

size_t spheres_config_place(struct spheres_config *c, const struct spheres_shape *s,
                            const uint64_t (*at)[3]) {
    memset(c->count, 0, cells_of(c));
    memset(c->grid, 0, sizeof c->grid);
    for (size_t i = 0; i < s->n; i++) {
        size_t cell = 0;
        for (int k = 2; k >= 0; k--)
            cell = cell * c->cells[k] + (size_t)(at[i][k] / s->width[k]);
        if (c->count[cell] == s->slots)
            return i;
        struct spheres_place *p = &c->place[cell * SPHERES_MANY + c->count[cell]++];
        for (int k = 0; k < 3; k++)
            p->at[k] = (uint32_t)(at[i][k] % s->width[k]);
    }
    return SIZE_MAX;
}

/* A cell's place along the axes, from its number. */
static void cell_at(const struct spheres_config *c, size_t cell, size_t at[3]) {
    at[0] = cell % c->cells[0];
    at[1] = cell / c->cells[0] % c->cells[1];
    at[2] = cell / c->cells[0] / c->cells[1];
}

void spheres_config_at(const struct spheres_config *c, const struct spheres_shape *s, size_t cell,
                       size_t i, uint64_t place[3]) {
    size_t at[3];
    cell_at(c, cell, at);
    for (int k = 0; k < 3; k++)
        place[k] = (at[k] * s->width[k] + c->grid[k] + c->place[cell * SPHERES_MANY + i].at[k]) %
                   s->side[k];
}

bool spheres_config_crosses(const struct spheres_config *c, const struct spheres_shape *s) {
    uint64_t place[3];
    for (size_t cell = 0; s->confined.is && cell < cells_of(c); cell++)
        for (size_t i = 0; i < c->count[cell]; i++) {
            spheres_config_at(c, s, cell, i, place);
            if (!ergo_confined_free(&s->confined, 3, place))
                return true;
        }
    return false;
}

void spheres_config_positions(const struct spheres_config *c, const struct spheres_shape *s,
                              double (*positions)[3]) {
    double sigma[3] = {s->sigma, s->sigma, s->sigma}, box[3]; /* in units of its axis */
    size_t n = 0;
    uint64_t at[3];
    if (s->npt) {
        spheres_box_at(s, &c->volume, box);
        for (int k = 0; k < 3; k++)
            sigma[k] = (double)s->side[k] / box[k];
    }
    for (size_t cell = 0; cell < cells_of(c); cell++)
        for (size_t i = 0; i < c->count[cell]; i++, n++) {
            spheres_config_at(c, s, cell, i, at);
            for (int k = 0; k < 3; k++)
                positions[n][k] = (double)at[k] / sigma[k];
        }
}

/* Squared distance of two spheres; the second one's cell lies `away` from the first one's. */
static uint64_t distance2(const struct spheres_shape *s, const struct spheres_metric *metric,
                          const struct spheres_place *a, const struct spheres_place *b,
                          const int away[3]) {
    int64_t d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (int64_t)b->at[k] - (int64_t)a->at[k] + away[k] * (int64_t)s->width[k];
    return spheres_r2(d[0], d[1], d[2], *metric);
}

/* A pair of spheres, and of closest ones that with the first cell. */
struct closest {
    const struct spheres_config *c;
    const struct spheres_shape *s;
    const struct spheres_metric *metric;
    uint64_t r2;
    size_t cell[2];
    unsigned slot[2];
    pthread_mutex_t lock;
};

static void closest_of_cells(size_t begin, size_t end, void *user) {
    struct closest *all = user, found = {.r2 = UINT64_MAX};
    const struct spheres_config *c = all->c;
    for (size_t one = begin; one < end; one++) {
        size_t at[3];
        cell_at(c, one, at);
        for (int o = 13; o < 27 && c->count[one]; o++) { /* each pair of cells once */
            const int away[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
            size_t two = 0;
            for (int k = 2; k >= 0; k--)
                two = two * c->cells[k] +
                      (at[k] + c->cells[k] + (size_t)(int64_t)away[k]) % c->cells[k];
            for (unsigned i = 0; i < c->count[one]; i++)
                for (unsigned j = o == 13 ? i + 1 : 0; j < c->count[two]; j++) {
                    const uint64_t r2 =
                        distance2(all->s, all->metric, &c->place[one * SPHERES_MANY + i],
                                  &c->place[two * SPHERES_MANY + j], away);
                    if (r2 < found.r2)
                        found = (struct closest){.r2 = r2, .cell = {one, two}, .slot = {i, j}};
                }
        }
    }
    pthread_mutex_lock(&all->lock);
    if (found.r2 < all->r2 || (found.r2 == all->r2 && found.cell[0] < all->cell[0])) {
        all->r2 = found.r2;
        memcpy(all->cell, found.cell, sizeof all->cell);
        memcpy(all->slot, found.slot, sizeof all->slot);
    }
    pthread_mutex_unlock(&all->lock);
}

uint64_t spheres_config_closest(const struct spheres_config *c, const struct spheres_shape *s,
                                size_t cell[2], unsigned slot[2]) {
    const struct spheres_metric metric = spheres_metric_at(c->volume);
    enum { WORTHWHILE = 1 << 10 }; /* cells that are worth waking a core */
    struct closest all = {
        .c = c, .s = s, .metric = &metric, .r2 = UINT64_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
    ergo_parallel_ranges(cells_of(c), WORTHWHILE, closest_of_cells, &all);
    if (cell && all.r2 != UINT64_MAX) {
        memcpy(cell, all.cell, sizeof all.cell);
        memcpy(slot, all.slot, sizeof all.slot);
    }
    return all.r2;
}

/* ---- canonical bytes ------------------------------------------------------------------------- */

void spheres_config_write(const struct spheres_config *c, const struct spheres_shape *s,
                          struct ergo_text *text) {
    if (s->npt)
        ergo_isobaric_append(text, &s->rules, 3, s->per_axis, &c->volume);
    for (int k = 0; k < 3; k++)
        ergo_bytes_append(text, c->grid[k], 8);
    for (size_t cell = 0; cell < cells_of(c); cell++) {
        ergo_bytes_append(text, c->count[cell], 1);
        for (size_t i = 0; i < c->count[cell]; i++)
            for (int k = 0; k < 3; k++)
                ergo_bytes_append(text, c->place[cell * SPHERES_MANY + i].at[k], 4);
    }
}

bool spheres_config_read(struct spheres_config *c, const struct spheres_shape *s, const void *bytes,
                         size_t length, const char **reason) {
    const uint8_t *data = bytes;
    const size_t cells = cells_of(c),
                 head = s->npt ? ergo_isobaric_bytes(&s->rules, 3, s->per_axis) : 0;
    size_t at = head + 24, n = 0;
    if (length != at + cells + 12 * s->n) {
        *reason = "its length is not that of as many spheres and cells";
        return false;
    }
    c->contact = s->contact;
    if (s->npt && !ergo_isobaric_read(data, &s->rules, 3, s->per_axis, &c->volume, &c->contact)) {
        *reason = "its volume is not one that its cells allow";
        return false;
    }
    if (s->per_axis) {
        const struct ergo_volume_rules allowed = spheres_rules_at(
            s->rules, s->width[0], s->width[1], s->width[2], spheres_metric_at(c->volume));
        if (c->contact < allowed.contact[0] || c->contact > allowed.contact[1]) {
            *reason = "its sides are not ones that its cells allow";
            return false;
        }
    }
    for (int k = 0; k < 3; k++) {
        c->grid[k] = ergo_bytes_get(data + head + 8 * (size_t)k, 8);
        if (c->grid[k] >= s->side[k]) {
            *reason = "its grid is outside of the box";
            return false;
        }
    }
    for (size_t cell = 0; cell < cells; cell++) {
        c->count[cell] = at < length ? data[at++] : 255;
        if (c->count[cell] > s->slots || at + 12 * (size_t)c->count[cell] > length) {
            *reason = "a cell holds more spheres than fit";
            return false;
        }
        for (size_t i = 0; i < c->count[cell]; i++, n++)
            for (int k = 0; k < 3; k++, at += 4) {
                const uint64_t x = ergo_bytes_get(data + at, 4);
                if (x >= s->width[k]) {
                    *reason = "a sphere is outside of its cell";
                    return false;
                }
                c->place[cell * SPHERES_MANY + i].at[k] = (uint32_t)x;
            }
    }
    if (n != s->n || at != length) {
        *reason = "it has another number of spheres";
        return false;
    }
    if (spheres_config_closest(c, s, NULL, NULL) < c->contact) {
        *reason = "spheres overlap";
        return false;
    }
    if (spheres_config_crosses(c, s)) {
        *reason = "a sphere is in a wall";
        return false;
    }
    return true;
}

/* ---- the device's layout --------------------------------------------------------------------- */

size_t spheres_raw_place(const uint32_t cells[3], size_t cell) {
    const size_t x = cell % cells[0], y = cell / cells[0] % cells[1],
                 z = cell / cells[0] / cells[1];
    const size_t set = x % 2 + 2 * (y % 2) + 4 * (z % 2);
    return ((set * (cells[2] / 2) + z / 2) * (cells[1] / 2) + y / 2) * (cells[0] / 2) + x / 2;
}

void spheres_config_to_raw(const struct spheres_config *c, unsigned slots, void *raw, size_t first,
                           size_t plane) {
    uint64_t *words = raw;
    for (size_t cell = 0; cell < cells_of(c); cell++) {
        const size_t at = first + spheres_raw_place(c->cells, cell);
        for (unsigned i = 0; i < slots; i++) {
            const uint32_t *p = c->place[cell * SPHERES_MANY + i].at;
            words[2 * (i / 2 * plane + at) + i % 2] =
                i >= c->count[cell] ? SPHERES_EMPTY
                                    : p[0] | (uint64_t)p[1] << 21 | (uint64_t)p[2] << 42 |
                                          (i + 1U < c->count[cell] ? SPHERES_NEXT : 0);
        }
    }
}

void spheres_config_from_raw(struct spheres_config *c, unsigned slots, const void *raw,
                             size_t first, size_t plane) {
    const uint64_t *words = raw;
    for (size_t cell = 0; cell < cells_of(c); cell++) {
        const size_t at = first + spheres_raw_place(c->cells, cell);
        uint64_t word = words[2 * at];
        c->count[cell] = 0;
        if (word == SPHERES_EMPTY)
            continue;
        for (unsigned i = 0; i < slots; i++) {
            word = words[2 * (i / 2 * plane + at) + i % 2];
            c->place[cell * SPHERES_MANY + c->count[cell]++] = (struct spheres_place){
                {(uint32_t)word & SPHERES_AXIS, (uint32_t)(word >> 21) & SPHERES_AXIS,
                 (uint32_t)(word >> 42) & SPHERES_AXIS}};
            if (!(word & SPHERES_NEXT))
                break;
        }
    }
}
