/* What people look at: local bond order, extended XYZ frames, pictures. On the host, in doubles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

/* Disks by square buckets at least `cutoff` wide. */
struct buckets {
    size_t side, *first, *members; /* members[first[b]] to members[first[b + 1] - 1] */
    double width;
};

static size_t bucket_of(const struct buckets *b, double x, double y) {
    size_t i = (size_t)(x / b->width), j = (size_t)(y / b->width);
    i = i < b->side ? i : b->side - 1;
    j = j < b->side ? j : b->side - 1;
    return j * b->side + i;
}

static void buckets_free(struct buckets *b) {
    free(b->first);
    free(b->members);
}

static bool buckets_init(struct buckets *b, const struct disks_shape *s, double cutoff,
                         const double *x, const double *y) {
    b->side = (size_t)floor(s->box / cutoff);
    b->side = b->side ? b->side : 1;
    b->width = s->box / (double)b->side;
    b->first = calloc(b->side * b->side + 2, sizeof *b->first);
    b->members = malloc(s->n * sizeof *b->members);
    if (!b->first || !b->members) {
        buckets_free(b);
        return false;
    }
    for (size_t i = 0; i < s->n; i++)
        b->first[bucket_of(b, x[i], y[i]) + 2]++;
    for (size_t k = 2; k < b->side * b->side + 2; k++)
        b->first[k] += b->first[k - 1];
    for (size_t i = 0; i < s->n; i++)
        b->members[b->first[bucket_of(b, x[i], y[i]) + 1]++] = i;
    return true;
}

/* Of its images, the one of disk j that is nearest to disk i. */
static double image(double d, double box) {
    return d - box * floor(d / box + 0.5);
}

bool disks_local_psi6(const struct disks_shape *s, double cutoff, const double *x, const double *y,
                      double *re, double *im) {
    struct buckets b;
    if (!buckets_init(&b, s, cutoff, x, y))
        return false;
    const size_t side = b.side, span = side < 3 ? side : 3;
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = bucket_of(&b, x[i], y[i]);
        double sum_re = 0, sum_im = 0, count = 0;
        for (size_t k = 0; k < span * span; k++) {
            const size_t column = (at % side + k % span + side - (span > 2)) % side;
            const size_t row = (at / side + k / span + side - (span > 2)) % side;
            const size_t bucket = row * side + column;
            for (size_t l = b.first[bucket]; l < b.first[bucket + 1]; l++) {
                const size_t j = b.members[l];
                const double dx = image(x[j] - x[i], s->box), dy = image(y[j] - y[i], s->box);
                if (j == i || dx * dx + dy * dy > cutoff * cutoff)
                    continue;
                const double angle = 6.0 * atan2(dy, dx);
                sum_re += cos(angle);
                sum_im += sin(angle);
                count += 1.0;
            }
        }
        re[i] = count > 0 ? sum_re / count : 0.0;
        im[i] = count > 0 ? sum_im / count : 0.0;
    }
    buckets_free(&b);
    return true;
}

/* Positions and local psi_6 of a member: x, y, re, im, n values each, one block to free. */
static enum ergo_status look(struct ergo_context *ctx, struct disks_state *s, size_t member,
                             double **data) {
    const struct disks_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    struct disks_config config;
    enum ergo_status status = disks_fetch(ctx, s, member, &config);
    *data = NULL;
    if (status != ERGO_OK)
        return status;
    double *d = malloc(4 * n * sizeof *d);
    if (d)
        disks_config_positions(&config, shape, d, d + n);
    if (!d ||
        !disks_local_psi6(shape, ergo_point_real(s->batch->points[member], "/run/neighbour_cutoff"),
                          d, d + n, d + 2 * n, d + 3 * n)) {
        free(d);
        d = NULL;
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to look at %zu disks", n);
    }
    disks_config_free(&config);
    *data = d;
    return status;
}

/* Nine decimals: the positions read back are the same whole units. */
enum ergo_status disks_frame(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct disks_state *s = opaque;
    const struct disks_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    double *d = NULL;
    const enum ergo_status status = look(ctx, s, member, &d);
    if (status != ERGO_OK)
        return status;
    ergo_text_append(text,
                     "%zu\nLattice=\"%.12f 0 0 0 %.12f 0 0 0 1\" Properties=species:S:1:pos:R:3:"
                     "psi6:R:2 pbc=\"T T F\" diameter=1 step=%llu packing_fraction=%.15g\n",
                     n, shape->box, shape->box, (unsigned long long)s->step,
                     shape->density * DISKS_PI / 4.0);
    for (size_t i = 0; i < n; i++)
        ergo_text_append(text, "D %.9f %.9f 0 %.4f %.4f\n", d[i], d[n + i], d[2 * n + i],
                         d[3 * n + i]);
    free(d);
    return ERGO_OK;
}

/* ---- picture ----------------------------------------------------------------------------------
 */

/* Hue by the angle of psi_6 (0 to 2 pi), paler where it is small. */
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
    double *d = NULL;
    memset(picture, 0, sizeof *picture);
    enum ergo_status status = look(ctx, s, member, &d);
    if (status != ERGO_OK)
        return status;
    /* a disk is 16 pixels wide where that fits 1024, and at least one */
    const double scale = fmin(16.0, 1024.0 / shape->box);
    const unsigned side = (unsigned)ceil(shape->box * scale);
    picture->width = picture->height = side;
    picture->rgb = malloc((size_t)side * side * 3);
    if (!picture->rgb) {
        free(d);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
    }
    memset(picture->rgb, 255, (size_t)side * side * 3);
    const double pixels = (double)side / shape->box, radius = fmax(0.5 * pixels, 0.6);
    for (size_t i = 0; i < n; i++) {
        uint8_t rgb[3];
        const double px = d[i] * pixels, py = d[n + i] * pixels;
        colour_of(d[2 * n + i], d[3 * n + i], rgb);
        for (long v = (long)floor(py - radius); v <= (long)ceil(py + radius); v++) {
            for (long u = (long)floor(px - radius); u <= (long)ceil(px + radius); u++) {
                const double dx = (double)u + 0.5 - px, dy = (double)v + 0.5 - py;
                if (dx * dx + dy * dy > radius * radius)
                    continue;
                const size_t column = (size_t)((u + (long)side) % (long)side);
                const size_t row = side - 1 - (size_t)((v + (long)side) % (long)side);
                memcpy(picture->rgb + 3 * (row * side + column), rgb, 3);
            }
        }
    }
    free(d);
    return ERGO_OK;
}
