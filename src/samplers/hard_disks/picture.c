/* Extended XYZ frames and pictures, with local bond order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

/* Read positions and local psi_6 of a member: x, y, re, im, n values each, malloc'ed together, and
 * the sides of its box. psi_6 has the values that the measurement on the device adds up. */
static enum ergo_status read_positions(struct ergo_context *ctx, struct disks_state *s,
                                       size_t member, double **data, double box[2]) {
    const struct disks_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    struct disks_config config;
    enum ergo_status status = disks_fetch(ctx, s, member, &config);
    *data = NULL;
    if (status != ERGO_OK)
        return status;
    const struct disks_member now = disks_member_at(s, member, &config);
    double *d = malloc(4 * n * sizeof *d);
    int32_t *psi6 = malloc(2 * n * sizeof *psi6);
    if (d && psi6 && disks_twin_psi6(&now, shape, &config, psi6, psi6 + n)) {
        disks_config_positions(&config, shape, d, d + n);
        for (size_t i = 0; i < 2 * n; i++)
            d[2 * n + i] = psi6[i] / (double)DISKS_PSI6_UNIT;
    } else {
        free(d);
        d = NULL;
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a frame or picture of %zu disks", n);
    }
    disks_config_box(&config, shape, box);
    free(psi6);
    disks_config_free(&config);
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
    double *d = NULL, box[2];
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
    double *d = NULL, box[2];
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
