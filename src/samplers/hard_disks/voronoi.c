#include "samplers/hard_disks/voronoi.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bins -------------------------------------------------------------------------------------
 */

static size_t bin_of(const struct disks_bins *b, unsigned axis, double at) {
    const size_t i = (size_t)(at / b->width[axis]);
    return i < b->bins[axis] ? i : b->bins[axis] - 1;
}

bool disks_bins_init(struct disks_bins *b, const struct disks_plane *plane) {
    const double wish = sqrt(2 * plane->side[0] * plane->side[1] / (double)plane->n);
    *b = (struct disks_bins){.first = NULL};
    for (unsigned a = 0; a < 2; a++) {
        b->bins[a] = (size_t)fmax(1, floor(plane->side[a] / wish));
        b->width[a] = plane->side[a] / (double)b->bins[a];
    }
    const size_t all = b->bins[0] * b->bins[1];
    uint32_t *at = malloc((plane->n + 1) * sizeof *at);
    b->first = calloc(all + 2, sizeof *b->first);
    b->disk = malloc((plane->n + 1) * sizeof *b->disk);
    b->x = malloc((plane->n + 1) * sizeof *b->x);
    b->y = malloc((plane->n + 1) * sizeof *b->y);
    if (!at || !b->first || !b->disk || !b->x || !b->y) {
        free(at);
        disks_bins_free(b);
        return false;
    }
    for (size_t i = 0; i < plane->n; i++) {
        at[i] = (uint32_t)(bin_of(b, 1, plane->y[i]) * b->bins[0] + bin_of(b, 0, plane->x[i]));
        b->first[at[i] + 2]++;
    }
    for (size_t i = 2; i < all + 2; i++)
        b->first[i] += b->first[i - 1];
    for (size_t i = 0; i < plane->n; i++) { /* afterwards first[c + 1] is where c + 1 begins */
        const uint32_t to = b->first[at[i] + 1]++;
        b->disk[to] = (uint32_t)i;
        b->x[to] = plane->x[i];
        b->y[to] = plane->y[i];
    }
    free(at);
    return true;
}

void disks_bins_free(struct disks_bins *b) {
    free(b->first);
    free(b->disk);
    free(b->x);
    free(b->y);
    *b = (struct disks_bins){.first = NULL};
}

/* ---- a cell -----------------------------------------------------------------------------------
 */

/* A corner, and the disk beyond the side from there to the next corner; relative to the disk. */
struct corner {
    double x, y, dx, dy;
};

struct candidate {
    double dx, dy, r2;
};

/* A cell under construction, with room for more. */
struct work {
    struct corner *corners, *cut;
    size_t n, room;
    struct candidate *near;
    size_t n_near, near_room;
};

static void work_free(struct work *w) {
    free(w->corners);
    free(w->cut);
    free(w->near);
}

/* A cut adds at most two corners. */
static bool corners_fit(struct work *w) {
    if (w->n + 2 <= w->room)
        return true;
    const size_t room = 2 * w->room + 32;
    void *corners = realloc(w->corners, room * sizeof *w->corners);
    if (!corners)
        return false;
    w->corners = corners;
    void *cut = realloc(w->cut, room * sizeof *w->cut);
    if (!cut)
        return false;
    w->cut = cut;
    w->room = room;
    return true;
}

static bool near_fit(struct work *w, size_t n) {
    if (n <= w->near_room)
        return true;
    void *near = realloc(w->near, 2 * n * sizeof *w->near);
    if (!near)
        return false;
    w->near = near;
    w->near_room = 2 * n;
    return true;
}

static struct corner between(const struct corner *a, double outside_a, const struct corner *b,
                             double outside_b) {
    const double t = outside_a / (outside_a - outside_b);
    return (struct corner){a->x + t * (b->x - a->x), a->y + t * (b->y - a->y), 0, 0};
}

/* What is nearer to the disk than to (dx, dy). */
static bool cut_off(struct work *w, const struct candidate *c) {
    size_t n = 0;
    if (!corners_fit(w))
        return false;
    const struct corner *last = &w->corners[w->n - 1];
    double before = last->x * c->dx + last->y * c->dy - 0.5 * c->r2;
    for (size_t k = 0; k < w->n; k++) {
        const struct corner *now = &w->corners[k];
        const double outside = now->x * c->dx + now->y * c->dy - 0.5 * c->r2;
        if (before <= 0 && outside > 0) { /* the new side begins */
            w->cut[n] = between(last, before, now, outside);
            w->cut[n].dx = c->dx;
            w->cut[n++].dy = c->dy;
        } else if (before > 0 && outside <= 0) { /* the rest of the old one */
            w->cut[n] = between(last, before, now, outside);
            w->cut[n].dx = last->dx;
            w->cut[n++].dy = last->dy;
        }
        if (outside <= 0)
            w->cut[n++] = *now;
        last = now;
        before = outside;
    }
    struct corner *old = w->corners;
    w->corners = w->cut;
    w->cut = old;
    w->n = n;
    return true;
}

/* Twice the distance of the farthest corner: disks beyond it do not matter. */
static double reach2(const struct work *w) {
    double most = 0;
    for (size_t k = 0; k < w->n; k++)
        most = fmax(most, w->corners[k].x * w->corners[k].x + w->corners[k].y * w->corners[k].y);
    return 4 * most;
}

/* The image of the rectangle in which bin b of n is: floor(b / n), mostly without a division. */
static int64_t image_of(int64_t b, int64_t n) {
    return b >= 0 ? (b < n ? 0 : b / n) : -((n - 1 - b) / n);
}

/* The disks of bin (bx, by), which may be in an image of the rectangle, in order of distance. */
static bool look(struct work *w, const struct disks_plane *plane, const struct disks_bins *b,
                 uint32_t self, const double at[2], int64_t bx, int64_t by) {
    const int64_t nx = (int64_t)b->bins[0], ny = (int64_t)b->bins[1];
    const int64_t ix = image_of(bx, nx), iy = image_of(by, ny);
    const size_t bin = (size_t)((by - iy * ny) * nx + bx - ix * nx);
    const double left = (double)ix * plane->side[0] - at[0],
                 low = (double)iy * plane->side[1] - at[1];
    if (!near_fit(w, w->n_near + b->first[bin + 1] - b->first[bin]))
        return false;
    for (uint32_t i = b->first[bin]; i < b->first[bin + 1]; i++) {
        if (i == self && ix == 0 && iy == 0)
            continue;
        const struct candidate c = {b->x[i] + left, b->y[i] + low,
                                    (b->x[i] + left) * (b->x[i] + left) +
                                        (b->y[i] + low) * (b->y[i] + low)};
        size_t k = w->n_near++;
        for (; k > 0 && w->near[k - 1].r2 > c.r2; k--)
            w->near[k] = w->near[k - 1];
        w->near[k] = c;
    }
    return true;
}

/* The bins at `ring` bins from (bx, by), a square, or one bin. */
static bool look_around(struct work *w, const struct disks_plane *plane, const struct disks_bins *b,
                        uint32_t self, const double at[2], int64_t bx, int64_t by, int64_t ring) {
    bool ok = true;
    for (int64_t y = -ring; y <= ring && ok; y++)
        for (int64_t x = -ring; x <= ring && ok; x += y == -ring || y == ring ? 1 : 2 * ring)
            ok = look(w, plane, b, self, at, bx + x, by + y);
    return ok;
}

/* The cell of disk `self` of the bins, which is in bin (bx, by). */
static bool make_cell(struct work *w, const struct disks_plane *plane, const struct disks_bins *b,
                      uint32_t self, int64_t bx, int64_t by) {
    const double at[2] = {b->x[self], b->y[self]}, least = fmin(b->width[0], b->width[1]);
    const double x = 0.5 * plane->side[0], y = 0.5 * plane->side[1];
    const struct corner corners[4] = {
        {-x, -y, 0, -2 * y}, {x, -y, 2 * x, 0}, {x, y, 0, 2 * y}, {-x, y, -2 * x, 0}};
    w->n = 0;
    if (w->room < 4 && !corners_fit(w))
        return false;
    memcpy(w->corners, corners, sizeof corners);
    w->n = 4;
    w->n_near = 0;
    bool ok = look_around(w, plane, b, self, at, bx, by, 0);
    double far2 = reach2(w);
    /* all disks nearer than `ring` widths of a bin have been seen */
    for (int64_t ring = 1; ok; ring++) {
        ok = look_around(w, plane, b, self, at, bx, by, ring);
        for (size_t k = 0; k < w->n_near && w->near[k].r2 < far2 && ok; k++) {
            ok = cut_off(w, &w->near[k]);
            far2 = reach2(w);
        }
        if (far2 <= (double)ring * least * ((double)ring * least))
            break;
        w->n_near = 0;
    }
    return ok;
}

static double length_of(const struct work *w, size_t k) {
    const struct corner *a = &w->corners[k], *b = &w->corners[k + 1 < w->n ? k + 1 : 0];
    return sqrt((b->x - a->x) * (b->x - a->x) + (b->y - a->y) * (b->y - a->y));
}

/* What is wanted of a cell. exp(6 i theta) is the sixth power of a direction. */
static struct disks_voronoi measure(const struct work *w) {
    struct disks_voronoi cell = {0, 0, 0, 0};
    double around = 0;
    for (size_t k = 0; k < w->n; k++) {
        const double length = length_of(w, k);
        const struct corner *a = &w->corners[k], *b = &w->corners[k + 1 < w->n ? k + 1 : 0];
        const double r2 = a->dx * a->dx + a->dy * a->dy;
        const double c = (a->dx * a->dx - a->dy * a->dy) / r2, s = 2 * a->dx * a->dy / r2;
        cell.re += length * (c * c * c - 3 * c * s * s);
        cell.im += length * (3 * c * c * s - s * s * s);
        cell.area += 0.5 * (a->x * b->y - a->y * b->x);
        around += length;
    }
    cell.re /= around;
    cell.im /= around;
    for (size_t k = 0; k < w->n; k++)
        cell.sides += length_of(w, k) > 1e-6 * around;
    return cell;
}

bool disks_voronoi_cells(const struct disks_plane *plane, const struct disks_bins *b,
                         struct disks_voronoi *cells) {
    struct work w = {.n = 0};
    bool ok = true;
    for (size_t bin = 0; bin < b->bins[0] * b->bins[1] && ok; bin++)
        for (uint32_t i = b->first[bin]; i < b->first[bin + 1] && ok; i++) {
            ok = make_cell(&w, plane, b, i, (int64_t)(bin % b->bins[0]),
                           (int64_t)(bin / b->bins[0]));
            if (ok)
                cells[b->disk[i]] = measure(&w);
        }
    work_free(&w);
    return ok;
}
