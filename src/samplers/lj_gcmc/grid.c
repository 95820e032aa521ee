/* The cell grid, and the list of cells that may hold a partner within the cutoff. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

struct offset {
    int d[3];
    /* squared distances: between the nearest points of the cells, and between their centres */
    double gap2, centre2;
};

static int by_distance(const void *left, const void *right) {
    const struct offset *a = left, *b = right;
    if (a->gap2 != b->gap2)
        return a->gap2 < b->gap2 ? -1 : 1;
    if (a->centre2 != b->centre2)
        return a->centre2 < b->centre2 ? -1 : 1;
    for (int k = 2; k >= 0; k--)
        if (a->d[k] != b->d[k])
            return a->d[k] < b->d[k] ? -1 : 1;
    return 0;
}

struct lj_reach lj_grid_reach(const struct lj_grid *grid, const double box[3], double distance) {
    struct lj_reach r;
    for (int k = 0; k < 3; k++) {
        /* a pair is at most this many cells apart; the factor covers rounding */
        const int n = (int)grid->n[k];
        const double cells = fmin(ceil(distance * n / box[k] * (1 + 1e-6)), n);
        r.ring[k] = 2 * (int)cells + 1 >= n;
        r.low[k] = r.ring[k] ? -((n - 1) / 2) : -(int)cells;
        r.high[k] = r.ring[k] ? n / 2 : (int)cells;
    }
    return r;
}

/* The remaining fields of a grid with n set. false: no memory, or offsets of more than 127
 * cells. */
static bool find_offsets(struct lj_grid *grid, const double box[3], double cutoff) {
    const struct lj_reach reach = lj_grid_reach(grid, box, cutoff);
    const int *const low = reach.low, *const high = reach.high;
    double width[3];
    grid->cull = true;
    grid->cells = 1;
    for (int k = 0; k < 3; k++) {
        grid->cells *= grid->n[k];
        width[k] = box[k] / grid->n[k];
        /* in a ring a cell may be nearer in the other direction */
        grid->cull = grid->cull && !reach.ring[k];
        if (low[k] < -127 || high[k] > 127)
            return false;
    }
    const size_t most = (size_t)(high[0] - low[0] + 1) * (size_t)(high[1] - low[1] + 1) *
                        (size_t)(high[2] - low[2] + 1);
    struct offset *found = malloc(most * sizeof *found);
    grid->offsets = malloc(most * sizeof *grid->offsets);
    if (!found || !grid->offsets) {
        free(found);
        free(grid->offsets);
        grid->offsets = NULL;
        return false;
    }
    for (int z = low[2]; z <= high[2]; z++) {
        for (int y = low[1]; y <= high[1]; y++) {
            for (int x = low[0]; x <= high[0]; x++) {
                struct offset o = {.d = {x, y, z}};
                for (int k = 0; k < 3; k++) {
                    const double gap = o.d[k] ? (abs(o.d[k]) - 1) * width[k] : 0;
                    o.gap2 += gap * gap;
                    o.centre2 += o.d[k] * width[k] * o.d[k] * width[k];
                }
                if (o.gap2 <= cutoff * cutoff * (1 + 1e-6))
                    found[grid->n_offsets++] = o;
            }
        }
    }
    qsort(found, grid->n_offsets, sizeof *found, by_distance);
    for (uint32_t i = 0; i < grid->n_offsets; i++) {
        const int *d = found[i].d;
        grid->offsets[i] =
            ((uint32_t)d[0] & 0xff) | ((uint32_t)d[1] & 0xff) << 8 | ((uint32_t)d[2] & 0xff) << 16;
        grid->near += found[i].gap2 == 0;
    }
    free(found);
    grid->parts = grid->n_offsets > 8192 ? 1 : 2; /* finer parts would take too much memory */
    return true;
}

bool lj_grid_make(struct lj_grid *grid, const double box[3], double cutoff, double side,
                  double most) {
    double cells;
    memset(grid, 0, sizeof *grid);
    do {
        cells = 1;
        for (int k = 0; k < 3; k++) {
            grid->n[k] = (uint32_t)fmax(1, fmin(floor(box[k] / side), 1024));
            cells *= grid->n[k];
        }
        side *= 1.1;
    } while (cells > most);
    return find_offsets(grid, box, cutoff);
}

bool lj_grid_scale(struct lj_grid *grid, const struct lj_grid *from, const double box[3],
                   double cutoff) {
    memset(grid, 0, sizeof *grid);
    memcpy(grid->n, from->n, sizeof grid->n);
    const bool found = find_offsets(grid, box, cutoff);
    grid->parts = from->parts;
    return found;
}

bool lj_grid_board(struct lj_grid *grid, const struct lj_system *s) {
    const double box[3] = {s->box[0] / s->sigma, s->box[1] / s->sigma, s->box[2] / s->sigma};
    memset(grid, 0, sizeof *grid);
    lj_board_blocks(s, grid->n);
    for (int k = 0; k < 3; k++)
        grid->n[k] *= s->period;
    return find_offsets(grid, box, s->cutoff / s->sigma);
}

/* Distance along one axis, in cells, from a part of a cell to the cell `d` further, by the
 * shorter way around the box. The part is the part-th of `parts` equal slices of the cell's
 * lower half. */
static double part_gap(int d, uint32_t n, uint32_t part, uint32_t parts) {
    const double low = 0.5 * part / parts, high = 0.5 * (part + 1) / parts;
    double least = INFINITY;
    for (int image = -1; image <= 1; image++) {
        const double cell = d + image * (double)n;
        least = fmin(least, fmax(0, fmax(cell - high, low - (cell + 1))));
    }
    return least;
}

struct near_cell {
    bool core; /* a particle in it may be inside the core */
    int d[3];
};

/* Cells for the core first; then in the order of memory, so that work-items side by side read cells
 * side by side. */
static int by_place(const void *left, const void *right) {
    const struct near_cell *a = left, *b = right;
    if (a->core != b->core)
        return a->core ? -1 : 1;
    for (int k = 2; k >= 0; k--)
        if (a->d[k] != b->d[k])
            return a->d[k] < b->d[k] ? -1 : 1;
    return 0;
}

static uint32_t lists_of(const struct lj_grid *grid) {
    return grid->parts * grid->parts * grid->parts;
}

size_t lj_grid_list_bytes(const struct lj_grid *grid) {
    return 16 * (size_t)lists_of(grid) * (grid->n_offsets + (size_t)1);
}

uint32_t *lj_grid_lists(const struct lj_grid *grid, const double box[3], double cutoff, double core,
                        size_t *count) {
    const uint32_t parts = grid->parts, lists = lists_of(grid);
    uint32_t *words = calloc(1, lj_grid_list_bytes(grid));
    struct near_cell *found = malloc((grid->n_offsets + 1) * sizeof *found);
    size_t end = lists;
    for (uint32_t l = 0; words && found && l < lists; l++) {
        const uint32_t part[3] = {l % parts, l / parts % parts, l / parts / parts};
        uint32_t n = 0, near = 0;
        for (uint32_t i = 0; i < grid->n_offsets; i++) {
            struct near_cell c = {0};
            double gap2 = 0;
            for (int k = 0; k < 3; k++) {
                const int byte = (int)(grid->offsets[i] >> 8 * k & 0xff);
                c.d[k] = byte > 127 ? byte - 256 : byte;
                const double gap =
                    part_gap(c.d[k], grid->n[k], part[k], parts) * box[k] / grid->n[k];
                gap2 += gap * gap;
            }
            c.core = gap2 <= core * core * (1 + 1e-5);
            near += c.core;
            if (gap2 <= cutoff * cutoff * (1 + 1e-6))
                found[n++] = c;
        }
        qsort(found, n, sizeof *found, by_place);
        uint32_t *head = words + 4 * (size_t)l;
        head[0] = (uint32_t)end;
        head[1] = n;
        head[2] = near;
        head[3] = 0;
        for (uint32_t i = 0; i < n; i++, end++)
            for (int k = 0; k < 4; k++)
                words[4 * end + (size_t)k] =
                    k < 3 ? (uint32_t)(int64_t)floor(found[i].d[k] * (0x1p32 / grid->n[k])) : 0;
    }
    if (!found) {
        free(words);
        words = NULL;
    }
    free(found);
    *count = end;
    return words;
}

uint64_t lj_grid_cell(const struct lj_grid *grid, const uint32_t *words) {
    uint64_t c[3];
    for (int k = 0; k < 3; k++)
        c[k] = (uint64_t)words[k] * grid->n[k] >> 32;
    return (c[2] * grid->n[1] + c[1]) * grid->n[0] + c[0];
}
