/* Walkers from and for extended XYZ files, one for each frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/input.h"
#include "job/xyz.h"
#include "samplers/helium/liquid.h"
#include "samplers/places.h"

#define FILE_MOST ((size_t)4 << 30)

/* A coordinate in units of 2^-32 of the side. The digits of frames (1e-10 A) give back the same
 * integer. */
static uint32_t to_units(double x, double side) {
    const double part = x / side, whole = floor(part);
    return (uint32_t)(uint64_t)llround((part - whole) * 0x1p32);
}

static bool same(const void *unused, const uint32_t a[3], const uint32_t b[3]) {
    (void)unused;
    return memcmp(a, b, 12) == 0;
}

/* Small distances are allowed. Two atoms in the same place are an error, because u has no
 * gradient there. */
static enum ergo_status check_pairs(struct ergo_context *ctx, const char *path,
                                    const struct helium_model *m, const uint32_t *words) {
    static const uint32_t reach[3] = {1, 1, 1};
    size_t pair[2];
    enum ergo_status status = ergo_places_pair(ctx, words, m->n, reach, same, NULL, pair);
    if (status == ERGO_OK && pair[0] != SIZE_MAX)
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/start: %s: atoms %zu and %zu are in the same place; a distance "
                           "of %.2g A or more has to be between them",
                           path, pair[1] + 1, pair[0] + 1,
                           fmin(m->side[0], fmin(m->side[1], m->side[2])) * 0x1p-32);
    return status;
}

/* In a solid atoms belong to sites. Farther away than a neighbour's, psi is so small that the
 * walker would never be met. */
static enum ergo_status check_site(struct ergo_context *ctx, const char *path,
                                   const struct helium_model *m, uint32_t i, const uint32_t *word) {
    uint32_t site[3];
    double r2 = 0;
    if (!helium_one_is_solid(&m->one))
        return ERGO_OK;
    helium_site_of(&m->one, i, site);
    for (int k = 0; k < 3; k++) {
        const double d = m->side[k] * 0x1p-32 * (int32_t)(word[k] - site[k]);
        r2 += d * d;
    }
    const double nearest = helium_nearest_sites(m);
    return r2 < nearest * nearest
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/start: %s: atom %u is %.3g A from its site (%.4g, %.4g, %.4g "
                           "A), farther than a neighbouring site: atoms have to be in the order of "
                           "the sites of /system/one_body, as in snapshots of such a run",
                           path, i + 1, sqrt(r2), m->side[0] * 0x1p-32 * site[0],
                           m->side[1] * 0x1p-32 * site[1], m->side[2] * 0x1p-32 * site[2]);
}

/* Check a frame and take its positions. words: [n][3], scratch; places: of the walker, [3][n],
 * or NULL. */
static enum ergo_status take_frame(struct ergo_context *ctx, const char *path,
                                   const struct helium_model *m, const struct ergo_xyz *frame,
                                   uint32_t *words, int32_t *places) {
    const double *l = frame->lattice;
    const bool trap = m->one.kind == HELIUM_TRAP;
    const bool open[3] = {trap, trap, trap || m->one.kind == HELIUM_SLAB || m->dimensions < 3};
    if (frame->n != m->n)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "/system/n: %u, but %s has %zu atoms", m->n, path,
                         frame->n);
    for (size_t k = 0; k < 9 && frame->has_lattice; k++)
        if (!(fabs(l[k] - (k % 4 == 0 ? m->side[k / 4] : 0)) <= 1e-6))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/start: the job's box is %.9f x %.9f x %.9f A; that of %s "
                             "differs: set /system/density and /system/aspect to it",
                             m->side[0], m->side[1], m->side[2], path);
    enum ergo_status status = ergo_places_near(ctx, path, frame, m->side, 3, open);
    for (size_t i = 0; i < 3 * frame->n && status == ERGO_OK; i++) {
        words[i] = to_units(frame->positions[i], m->side[i % 3]);
        if (i % 3 >= m->dimensions && words[i] != 0)
            status = ERGO_FAIL(ctx, ERGO_E_JOB,
                               "/system/start: %s: atom %zu is at z = %.10g A: in two dimensions "
                               "all are at 0",
                               path, i / 3 + 1, frame->positions[i]);
    }
    if (status == ERGO_OK)
        status = check_pairs(ctx, path, m, words);
    for (uint32_t i = 0; i < frame->n && status == ERGO_OK; i++)
        status = check_site(ctx, path, m, i, words + 3 * (size_t)i);
    for (size_t i = 0; i < 3 * frame->n && places && status == ERGO_OK; i++)
        places[i % 3 * m->n + i / 3] = (int32_t)words[i];
    return status;
}

/* Skip the n + 2 lines of a frame. */
static const char *after_frame(const char *at, const char *end, size_t n) {
    for (size_t line = 0; line < n + 2 && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    while (at < end && (*at == '\n' || *at == '\r' || *at == ' '))
        at++;
    return at;
}

enum ergo_status helium_start_parse(struct ergo_context *ctx, const char *path, const char *text,
                                    size_t length, const struct helium_model *m, uint32_t walkers,
                                    int32_t *places) {
    const char *at = text, *end = text + length;
    const size_t size = 3 * (size_t)m->n;
    uint32_t *words = malloc(4 * size), frames = 0;
    enum ergo_status status =
        words ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u atoms", m->n);
    while ((at < end || frames == 0) && frames < walkers && status == ERGO_OK) {
        struct ergo_xyz frame;
        char name[512];
        snprintf(name, sizeof name, "%.400s (frame %u)", path, frames + 1);
        status = ergo_error_at(ctx, ergo_xyz_parse(ctx, name, at, (size_t)(end - at), &frame),
                               "/system/start");
        if (status != ERGO_OK)
            break;
        status = take_frame(ctx, name, m, &frame, words, places ? places + frames * size : NULL);
        at = ergo_gsd_is(text, length) ? end : after_frame(at, end, frame.n);
        ergo_xyz_free(&frame);
        frames++;
    }
    free(words);
    for (uint32_t w = frames; places && w < walkers && status == ERGO_OK; w++)
        memcpy(places + w * size, places + w % frames * size, size * sizeof *places);
    return status;
}

enum ergo_status helium_start_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct helium_model *m, uint32_t walkers,
                                   int32_t *places) {
    const char *path = of_quantum(point)->start.text;
    char *text = NULL;
    size_t length = 0;
    enum ergo_status status =
        ergo_input_read(ctx, point, "/system/start", FILE_MOST, &text, &length);
    if (status == ERGO_OK)
        status = helium_start_parse(ctx, path, text, length, m, walkers, places);
    free(text);
    return status;
}

/* Does the host make the first places of a point? From a file, near the sites, or in a plane. */
static bool by_host(const struct ergo_point *point) {
    return of_quantum(point)->start.present || helium_has_sites(point) ||
           helium_dimensions(point) == 2;
}

bool helium_places_fit(const struct helium_model *m, const void *places) {
    const uint8_t *bytes = places;
    for (size_t i = 8 * m->n; i < 12 * m->n && m->dimensions == 2; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

enum ergo_status helium_start_places(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct helium_model *m,
                                     const struct helium_member *member, const uint32_t lattice[4],
                                     uint32_t walkers, int32_t *places) {
    if (of_quantum(point)->start.present)
        return helium_start_read(ctx, point, m, walkers, places);
    for (uint32_t w = 0; w < walkers; w++)
        if (helium_has_sites(point))
            helium_sites_start(m, lattice, member, w, places + w * 3 * (size_t)m->n);
        else
            helium_lattice_start(lattice, member, m->n, w, places + w * 3 * (size_t)m->n);
    return ERGO_OK;
}

enum ergo_status helium_start_write(struct ergo_context *ctx, struct ergo_engine *e,
                                    const unsigned rows[3], const struct helium_model *models,
                                    const struct helium_member *members, const uint32_t lattice[4],
                                    uint32_t walkers) {
    if (!by_host(e->batch->points[0])) {
        ERGO_LAUNCH(e, rows[HELIUM_START_KERNEL],
                    ergo_grid_items((size_t)walkers * models[0].n, 32, e->batch->count),
                    BUFFER(rows[HELIUM_START_PLACES]), BUFFER(rows[HELIUM_START_MEMBERS]),
                    U32(walkers), U32(lattice[0]), U32(lattice[1]), U32(lattice[2]));
        return ergo_engine_end(e);
    }
    const size_t bytes = walkers * 12 * (size_t)models[0].n;
    int32_t *places = malloc(bytes);
    enum ergo_status status =
        places ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u walkers", walkers);
    for (size_t i = 0; i < e->batch->count && status == ERGO_OK; i++) {
        status = helium_start_places(ctx, e->batch->points[i], &models[i], &members[i], lattice,
                                     walkers, places);
        if (status == ERGO_OK)
            ergo_engine_write(e, rows[HELIUM_START_PLACES], i * bytes, bytes, places);
    }
    free(places);
    return status;
}

void helium_frame_append(struct ergo_text *text, const struct helium_model *m, const char *more,
                         const int32_t *place) {
    const size_t n = m->n;
    ergo_text_append(text,
                     "%zu\nLattice=\"%.9f 0 0 0 %.9f 0 0 0 %.9f\" Properties=species:S:1:pos:R:3 "
                     "pbc=\"%s\" %s\n",
                     n, m->side[0], m->side[1], m->side[2],
                     m->one.kind == HELIUM_TRAP   ? "F F F"
                     : m->one.kind == HELIUM_SLAB ? "T T F"
                     : m->dimensions == 2         ? "T T F"
                                                  : "T T T",
                     more);
    for (size_t i = 0; i < n; i++) {
        double r[3];
        for (size_t k = 0; k < 3; k++)
            r[k] = m->side[k] * 0x1p-32 * (double)(uint32_t)place[k * n + i];
        ergo_text_append(text, "He %.10f %.10f %.10f\n", r[0], r[1], r[2]);
    }
}
