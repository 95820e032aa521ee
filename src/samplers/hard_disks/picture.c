/* Extended XYZ frames and pictures, with local bond order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"

/* Of the disks of a cell: DISKS_SLOTS values. */
static void psi6_of_cell(const struct disks_member *member, const struct disks_shape *s,
                         const struct ergo_hard_cells *c, size_t cell, int32_t *re, int32_t *im) {
    const int64_t m = s->cells[0], rows = s->cells[1], at = (int64_t)cell;
    const float inverse_y = s->rectangular ? member->inverse * member->aspect[0] : member->inverse;
    const float w = (float)s->width[0];
    size_t around[25];
    for (int64_t k = 0; k < 25; k++) /* a bond reaches two cells at most */
        around[k] =
            (size_t)((at / m + k / 5 - 2 + 2 * rows) % rows * m + (at % m + k % 5 - 2 + 2 * m) % m);
    for (size_t i = 0; i < c->count[cell]; i++) {
        const float px = (float)ergo_hard_local(c, cell, i)[0];
        const float py = (float)ergo_hard_local(c, cell, i)[1];
        struct disks_bonds bonds = {0.0f, 0.0f, 0.0f};
        for (int64_t k = 0; k < 25; k++) {
            const int64_t ox = k % 5 - 2, oy = k / 5 - 2;
            const float left = px - (float)ox * w, low = py - (float)oy * w;
            const uint32_t *p = ergo_hard_local(c, around[k], 0);
            for (size_t j = 0; j < c->count[around[k]]; j++, p += 2)
                bonds = disks_bond(bonds, ((float)p[0] - left) * member->inverse,
                                   ((float)p[1] - low) * inverse_y, member->neighbour);
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
    const struct ergo_hard_cells *config;
    const size_t *first; /* disk of each row of cells */
    int32_t *re, *im;
};

static void psi6_rows(size_t begin, size_t end, void *user) {
    const struct psi6 *p = user;
    const size_t cells = p->shape->cells[0];
    size_t n = p->first[begin];
    for (size_t cell = begin * cells; cell < end * cells; n += p->config->count[cell++])
        psi6_of_cell(p->member, p->shape, p->config, cell, p->re + n, p->im + n);
}

/* NOLINTNEXTLINE(readability-non-const-parameter) psi6_rows writes them */
bool disks_psi6(const struct disks_member *member, const struct disks_shape *s,
                /* NOLINTNEXTLINE(readability-non-const-parameter) */
                const struct ergo_hard_cells *c, int32_t *re, int32_t *im) {
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

/* Read positions and local psi_6 of a member: x, y, re, im, n values each, malloc'ed together, and
 * the sides of its box. psi_6 has the values that the measurement on the device adds up. */
static enum ergo_status read_positions(struct ergo_context *ctx, struct disks_state *s,
                                       size_t member, double **data, double box[3]) {
    const struct disks_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    struct ergo_hard_cells config;
    enum ergo_status status = ergo_hard_fetch(ctx, s, member, &config);
    *data = NULL;
    if (status != ERGO_OK)
        return status;
    const struct disks_member now = disks_member_at(s, member, &config.volume);
    double *d = malloc(4 * n * sizeof *d);
    int32_t *psi6 = malloc(2 * n * sizeof *psi6);
    if (d && psi6 && disks_psi6(&now, shape, &config, psi6, psi6 + n)) {
        ergo_hard_positions(&config, d);
        for (size_t i = 0; i < 2 * n; i++)
            d[2 * n + i] = psi6[i] / (double)DISKS_PSI6_UNIT;
    } else {
        free(d);
        d = NULL;
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a frame or picture of %zu disks", n);
    }
    ergo_hard_box(&config, box);
    free(psi6);
    ergo_hard_free(&config);
    *data = d;
    return status;
}

struct frame {
    size_t n;
    const double *d; /* as read_positions has them */
};

static void append_disk(struct ergo_text *text, size_t i, const void *user) {
    const struct frame *f = user;
    /* X: no element to ASE, a type like any to others */
    ergo_text_append(text, "X %.9f %.9f 0 %.4f %.4f\n", f->d[i], f->d[f->n + i], f->d[2 * f->n + i],
                     f->d[3 * f->n + i]);
}

/* Nine decimals, so that positions read back are the same integers. */
enum ergo_status disks_frame(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct disks_state *s = opaque;
    const struct disks_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    double *d = NULL, box[3];
    const enum ergo_status status = read_positions(ctx, s, member, &d, box);
    if (status != ERGO_OK)
        return status;
    ergo_text_append(text,
                     "%zu\nLattice=\"%.12f 0 0 0 %.12f 0 0 0 1\" Properties=species:S:1:pos:R:3:"
                     "psi6:R:2 pbc=\"%c %c F\" diameter=1 step=%llu packing_fraction=%.15g\n",
                     n, box[0], box[1], shape->confined.walls.low[0] ? 'F' : 'T',
                     shape->confined.walls.low[1] ? 'F' : 'T', (unsigned long long)s->e.step,
                     (shape->npt ? (double)shape->n / (box[0] * box[1]) : shape->density) *
                         DISKS_PI / 4.0);
    ergo_text_append_rows(text, n, append_disk, &(struct frame){n, d});
    free(d);
    return ERGO_OK;
}

/* ---- picture ----------------------------------------------------------------------------------
 */

/* Hue from the angle of psi_6 (0 to 2 pi), paler for small |psi_6|. */
static void colour_of(double re, double im, uint8_t rgb[3]) {
    const double hue = 3.0 + 3.0 * atan2(im, re) / DISKS_PI, size = fmin(1.0, hypot(re, im));
    const double full[3] = {fabs(hue - 3.0) - 1.0, 2.0 - fabs(hue - 2.0), 2.0 - fabs(hue - 4.0)};
    for (int c = 0; c < 3; c++) {
        const double f = fmin(1.0, fmax(0.0, full[c]));
        rgb[c] = (uint8_t)(255.0 * (0.9 * (size * f + 0.75 * (1.0 - size))) + 0.5);
    }
}

enum ergo_status disks_picture(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_picture *picture) {
    struct disks_state *s = opaque;
    const struct disks_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    double *d = NULL, box[3];
    enum ergo_status status = read_positions(ctx, s, member, &d, box);
    if (status != ERGO_OK)
        return status;
    /* a disk is 16 pixels wide if that fits 1024, and at least one */
    const double scale = fmin(16.0, 1024.0 / fmax(box[0], box[1]));
    const unsigned width = (unsigned)ceil(box[0] * scale), height = (unsigned)ceil(box[1] * scale);
    picture->width = width;
    picture->height = height;
    picture->rgb = malloc((size_t)width * height * 3);
    if (!picture->rgb) {
        free(d);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
    }
    memset(picture->rgb, 255, (size_t)width * height * 3);
    const double pixels = (double)width / box[0], radius = fmax(0.5 * pixels, 0.6);
    for (size_t i = 0; i < n; i++) {
        uint8_t rgb[3];
        const double px = d[i] * pixels, py = d[n + i] * ((double)height / box[1]);
        colour_of(d[2 * n + i], d[3 * n + i], rgb);
        for (long v = (long)floor(py - radius); v <= (long)ceil(py + radius); v++) {
            for (long u = (long)floor(px - radius); u <= (long)ceil(px + radius); u++) {
                const double dx = (double)u + 0.5 - px, dy = (double)v + 0.5 - py;
                if (dx * dx + dy * dy > radius * radius)
                    continue;
                const size_t column = (size_t)((u + (long)width) % (long)width);
                const size_t row = height - 1 - (size_t)((v + (long)height) % (long)height);
                memcpy(picture->rgb + 3 * (row * width + column), rgb, 3);
            }
        }
    }
    free(d);
    return ERGO_OK;
}
