/* Starting configurations: a lattice, or a file. */
#include <math.h>
#include <stdlib.h>

#include "job/xyz.h"
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"
#include "samplers/places.h"

/* A coordinate in units of 2^-32 of the side. */
static uint32_t to_word(double x, double side) {
    const double fraction = x / side - floor(x / side);
    return (uint32_t)(uint64_t)floor(fraction * 0x1p32 + 0.5); /* 2^32 wraps to 0 */
}

static enum ergo_status from_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct lj_system *s, uint32_t **words, uint32_t *count) {
    const char *path = lj_start_file(point);
    struct ergo_xyz frame;
    enum ergo_status status = ergo_xyz_read(ctx, point, "/system/start", &frame);
    if (status != ERGO_OK)
        return status;
    for (int k = 0; k < 9 && frame.has_lattice && status == ERGO_OK; k++) {
        const double expected = k % 4 == 0 ? s->box[k / 4] : 0;
        if (fabs(frame.lattice[k] - expected) > 1e-6 * s->box[k / 3])
            status =
                ERGO_FAIL(ctx, ERGO_E_JOB,
                          "/system/box: the job's is %.10g x %.10g x %.10g, but that of %s is "
                          "%.10g x %.10g x %.10g%s",
                          s->box[0], s->box[1], s->box[2], path, frame.lattice[0], frame.lattice[4],
                          frame.lattice[8], k % 4 ? " and not rectangular" : "");
    }
    if (status == ERGO_OK && frame.n > LJ_MOST_PARTICLES)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system/start: %s has %zu particles; at most 2^27",
                           path, frame.n);
    if (status == ERGO_OK)
        status = ergo_places_near(ctx, path, &frame, s->box, 3);
    *words = status == ERGO_OK ? malloc(12 * (frame.n + 1)) : NULL;
    if (status == ERGO_OK && !*words)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu particles", frame.n);
    for (size_t i = 0; i < 3 * frame.n && status == ERGO_OK; i++)
        (*words)[i] = to_word(frame.positions[i], s->box[i % 3]);
    *count = (uint32_t)frame.n;
    ergo_xyz_free(&frame);
    return status;
}

const char *lj_start_file(const struct ergo_point *point) {
    /* the boxes of a Gibbs ensemble start on lattices */
    return lj_boxes_of(point) == 1 && ergo_point_value(point, "/system/start")->present
               ? ergo_point_text(point, "/system/start")
               : NULL;
}

/* ---- too close ---------------------------------------------------------------------------------
 */

static lj_position position(const uint32_t *word) {
    return (lj_position){word[0], word[1], word[2]};
}

static bool overlap(const void *member, const uint32_t a[3], const uint32_t b[3]) {
    const struct lj_member *m = member;
    return lj_distance2(position(a), position(b), m->scale) < m->core2;
}

static const double above = 1 + 1e-6; /* margin for the rounding of fp32 distances */

/* Are the sites of lj_lattice farther apart than the core? Then no pair needs a check. */
static bool lattice_is_wide(const struct lj_system *s, uint32_t count) {
    const double core = sqrt(lj_core2(s)) * s->sigma;
    uint32_t n[3];
    double spacing[3];
    bool wide = true;
    lj_lattice_sites(s, count, n, spacing);
    for (int k = 0; k < 3; k++)
        wide &= n[k] == 1 || spacing[k] > core * above;
    return wide;
}

static enum ergo_status check_pairs(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct lj_system *s, size_t box, const uint32_t *words,
                                    uint32_t count) {
    const char *path = lj_start_file(point);
    struct lj_member member;
    uint32_t reach[3];
    size_t pair[2];
    lj_member_fill(point, box, s->pair, &member);
    const double core = sqrt((double)member.core2) * s->sigma;
    if (member.ideal || (!path && lattice_is_wide(s, count)))
        return ERGO_OK;
    for (int k = 0; k < 3; k++)
        reach[k] = (uint32_t)fmin(core * above / s->box[k] * 0x1p32 + 1, 0xffffffffp0);
    const enum ergo_status status =
        ergo_places_pair(ctx, words, count, reach, overlap, &member, pair);
    if (status != ERGO_OK || pair[0] == SIZE_MAX)
        return status;
    const double distance =
        s->sigma * sqrt((double)lj_distance2(position(words + 3 * pair[0]),
                                             position(words + 3 * pair[1]), member.scale));
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "%s: particles %zu and %zu of %s are %.9g apart; allowed are %.9g and more: "
                     "closer, the energy of a pair is above 100 k_B T%s",
                     path  ? "/system/start"
                     : box ? "/system/second_particles"
                           : "/system/particles",
                     pair[1] + 1, pair[0] + 1, path ? path : "a lattice in this box", distance,
                     core, path ? "" : ". Start with fewer");
}

static enum ergo_status check_walls(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct lj_system *s, const uint32_t *words,
                                    uint32_t count) {
    for (uint32_t i = 0; i < count && s->slit.width > 0; i++) {
        const double z = (double)words[3 * (size_t)i + 2] * 0x1p-32 * s->box[2];
        if (!(lj_slit_energy(&s->slit, z) < 99 * s->temperature))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/start: particle %u of %s is at z = %.9g, in a wall of the "
                             "slit from 0 to %.9g: its energy is above 100 k_B T",
                             i + 1, lj_start_file(point), z, s->slit.width);
    }
    return ERGO_OK;
}

/* s: of the box, with the table of its potential if it has one. */
static enum ergo_status start(struct ergo_context *ctx, const struct ergo_point *point,
                              const struct lj_system *s, size_t box, uint32_t **words,
                              uint32_t *count) {
    const char *path = lj_start_file(point);
    enum ergo_status status = ERGO_OK;
    *words = NULL;
    if (path) {
        status = from_file(ctx, point, s, words, count);
    } else {
        *count = lj_box_particles(point, box);
        *words = malloc(12 * ((size_t)*count + 1));
        if (*words)
            lj_lattice(s, *count, *words);
        else
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u particles", *count);
    }
    if (status == ERGO_OK)
        status = check_pairs(ctx, point, s, box, *words, *count);
    if (status == ERGO_OK && path)
        status = check_walls(ctx, point, s, *words, *count);
    if (status != ERGO_OK) {
        free(*words);
        *words = NULL;
    }
    return status;
}

enum ergo_status lj_start(struct ergo_context *ctx, const struct ergo_point *point, size_t box,
                          const struct ergo_radial *pair, uint32_t **words, uint32_t *count) {
    struct lj_system s = lj_box_system(point, box);
    s.pair = pair;
    return start(ctx, point, &s, box, words, count);
}

enum ergo_status lj_start_check(struct ergo_context *ctx, const struct ergo_point *point) {
    struct ergo_radial *pair = NULL;
    enum ergo_status status = lj_table_read(ctx, point, &pair);
    for (unsigned b = 0; b < lj_boxes_of(point) && status == ERGO_OK; b++) {
        struct lj_system s = lj_box_system(point, b);
        uint32_t *words = NULL, count = lj_box_particles(point, b);
        s.pair = pair;
        if (!lj_start_file(point) && lattice_is_wide(&s, count))
            continue;
        status = start(ctx, point, &s, b, &words, &count);
        free(words);
    }
    ergo_radial_free(pair);
    return status;
}
