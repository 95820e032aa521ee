/* Starting configurations: a lattice, or a file. */
#include <math.h>
#include <stdlib.h>

#include "job/xyz.h"
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"
#include "samplers/places.h"
#include "job/input.h"

/* A coordinate in units of 2^-32 of the side. */
static uint32_t to_word(double x, double side) {
    const double fraction = x / side - floor(x / side);
    return (uint32_t)(uint64_t)floor(fraction * 0x1p32 + 0.5); /* 2^32 wraps to 0 */
}

enum ergo_status lj_xyz_read(struct ergo_context *ctx, const struct ergo_point *point,
                             const char *pointer, const struct lj_system *s, struct ergo_xyz *frame,
                             uint32_t **words) {
    const char *path = ergo_input_name(point, pointer);
    *words = NULL;
    enum ergo_status status = ergo_xyz_read(ctx, point, pointer, frame);
    if (status != ERGO_OK)
        return status;
    for (int k = 0; k < 9 && frame->has_lattice && status == ERGO_OK; k++) {
        const double expected = k % 4 == 0 ? s->box[k / 4] : 0;
        if (fabs(frame->lattice[k] - expected) > 1e-6 * s->box[k / 3])
            status = ERGO_FAIL(ctx, ERGO_E_JOB,
                               "/system/box: the job's is %.10g x %.10g x %.10g, but that of %s is "
                               "%.10g x %.10g x %.10g%s",
                               s->box[0], s->box[1], s->box[2], path, frame->lattice[0],
                               frame->lattice[4], frame->lattice[8],
                               k % 4 ? " and not rectangular" : "");
    }
    if (status == ERGO_OK && frame->n > LJ_MOST_PARTICLES)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s: %s has %zu particles; at most 2^27", pointer, path,
                           frame->n);
    if (status == ERGO_OK)
        status = ergo_places_near(ctx, path, frame, s->box, 3, NULL);
    *words = status == ERGO_OK ? malloc(12 * (frame->n + 1)) : NULL;
    if (status == ERGO_OK && !*words)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu particles", frame->n);
    for (size_t i = 0; i < 3 * frame->n && status == ERGO_OK; i++)
        (*words)[i] = to_word(frame->positions[i], s->box[i % 3]);
    return status;
}

static enum ergo_status from_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct lj_system *s, uint32_t **words, uint32_t *count) {
    struct ergo_xyz frame;
    enum ergo_status status = lj_xyz_read(ctx, point, "/system/start", s, &frame, words);
    *count = (uint32_t)frame.n;
    if (status == ERGO_OK && s->species.n)
        status = lj_species_read(ctx, point, s, &frame, *words);
    ergo_xyz_free(&frame);
    return status;
}

const char *lj_start_file(const struct ergo_point *point) {
    /* the boxes of a Gibbs ensemble start on lattices */
    return lj_boxes_of(point) == 1 && of_particle(point)->start.present
               ? of_particle(point)->start.text
               : NULL;
}

/* ---- too close ---------------------------------------------------------------------------------
 */

/* What makes pairs of a chain. */
struct pairs {
    struct lj_member member;
    bool mixed;
    struct lj_mixture mixture; /* if so */
};

static float core2_of(const struct pairs *p, const uint32_t a[3], const uint32_t b[3]) {
    return p->mixed
               ? p->mixture
                     .pairs[LJ_MOST_SPECIES * (a[0] & LJ_SPECIES_MASK) + (b[0] & LJ_SPECIES_MASK)]
                     .core2
               : p->member.core2;
}

static bool overlap(const void *pairs, const uint32_t a[3], const uint32_t b[3]) {
    const struct pairs *p = pairs;
    return lj_words_distance2(&p->member, a, b) < core2_of(p, a, b);
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
    struct pairs pairs = {.mixed = s->species.n > 0};
    uint32_t reach[3];
    size_t pair[2];
    lj_member_fill(point, box, s->pair, &pairs.member);
    if (pairs.mixed)
        lj_mixture_of(point, s, &pairs.member, &pairs.mixture);
    const double core = sqrt((double)pairs.member.core2) * s->sigma;
    const bool sites = !path && !lj_has_voxels(point) && !lj_has_frozen(point);
    if (pairs.member.ideal || (sites && lattice_is_wide(s, count)))
        return ERGO_OK;
    for (int k = 0; k < 3; k++)
        reach[k] = (uint32_t)fmin(core * above / s->box[k] * 0x1p32 + 1, 0xffffffffp0);
    const enum ergo_status status =
        ergo_places_pair(ctx, words, count, reach, overlap, &pairs, pair);
    if (status != ERGO_OK || pair[0] == SIZE_MAX)
        return status;
    const double distance =
        s->sigma *
        sqrt((double)lj_words_distance2(&pairs.member, words + 3 * pair[0], words + 3 * pair[1]));
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "%s: particles %zu and %zu of %s are %.9g apart; allowed are %.9g and more: "
                     "closer, the energy of a pair is above 100 k_B T%s",
                     path  ? "/system/start"
                     : box ? "/system/second_particles"
                           : lj_number_key(point),
                     pair[1] + 1, pair[0] + 1, path ? path : "a lattice in this box", distance,
                     s->sigma *
                         sqrt((double)core2_of(&pairs, words + 3 * pair[0], words + 3 * pair[1])),
                     path ? "" : ". Start with fewer");
}

/* ---- in a field of a grid or of atoms --------------------------------------------------------
 */

/* What a place costs, as the chain has it. */
struct room {
    struct lj_member member;
    struct lj_frozen rows[LJ_MOST_SPECIES];
    const struct lj_tables *tables;
    float most; /* in units of the fixed point: sites of a lattice are not higher */
};

static void room_of(const struct ergo_point *point, const struct lj_system *s,
                    const struct lj_tables *tables, struct room *room) {
    memset(room, 0, sizeof *room);
    room->tables = tables;
    lj_member_fill(point, 0, tables->pair, &room->member);
    if (tables->atoms)
        lj_frozen_of(s, tables->atoms, room->rows);
    room->most = 10 / room->member.beta4;
}

static bool is_free(const struct room *room, const uint32_t at[3]) {
    int64_t energy;
    return lj_field_at(&room->member, room->tables, room->rows, at, &energy) &&
           (float)energy < room->most;
}

/* Those of `sites` lattice sites that are free, to words (room for all); their number. */
static uint32_t free_sites(const struct lj_system *s, const struct room *room, uint32_t sites,
                           uint32_t *words) {
    uint32_t free = 0;
    lj_lattice(s, sites, words);
    for (size_t i = 0; i < sites; i++)
        if (is_free(room, words + 3 * i))
            memmove(words + 3 * (size_t)free++, words + 3 * i, 3 * sizeof *words);
    return free;
}

/* The coarsest of lattices, each half as dense again as the one before, that has `count` free
 * sites; they are spread over these. */
static enum ergo_status place_free(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct lj_system *s, const struct lj_tables *tables,
                                   uint32_t count, uint32_t **words) {
    enum { MOST_SITES = 1 << 24 };
    const double most = fmin(MOST_SITES, 1000.0 * count + 1e5);
    struct room room;
    *words = NULL;
    if (count > MOST_SITES)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/system/particles: %u, but more than 2^24 particles in a field or among "
                         "atoms need a file as /system/start",
                         count);
    room_of(point, s, tables, &room);
    for (double sites = count; count; sites = ceil(sites * 1.5)) {
        if (sites > most)
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/particles: there is no room for %u particles: of %.3g sites "
                             "of a lattice fewer are where the field is below 10 k_B T. Start with "
                             "fewer, or with a file /system/start",
                             count, ceil(sites / 1.5));
        uint32_t *all = malloc(12 * (size_t)sites);
        const uint32_t free_ones = all ? free_sites(s, &room, (uint32_t)sites, all) : 0;
        for (uint32_t i = 0; i < count && free_ones >= count; i++)
            memmove(all + 3 * (size_t)i, all + 3 * (size_t)((uint64_t)i * free_ones / count),
                    3 * sizeof *all);
        if (!all || free_ones >= count) {
            *words = all;
            break;
        }
        free(all);
    }
    if (!count)
        *words = malloc(12);
    return *words ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u particles", count);
}

/* Particles of a file. */
static enum ergo_status check_field(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct lj_system *s, const struct lj_tables *tables,
                                    const uint32_t *words, uint32_t count) {
    struct room room;
    room_of(point, s, tables, &room);
    for (uint32_t i = 0; i < count && s->slit.width > 0; i++) {
        const double z = (double)words[3 * (size_t)i + 2] * 0x1p-32 * s->box[2];
        if (!(lj_slit_energy(&s->slit, z) < 99 * s->temperature))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/start: particle %u of %s is at z = %.9g, in a wall of the "
                             "slit from 0 to %.9g: its energy is above 100 k_B T",
                             i + 1, lj_start_file(point), z, s->slit.width);
    }
    for (uint32_t i = 0; i < count && (tables->voxels || tables->atoms); i++) {
        int64_t energy;
        if (!lj_field_at(&room.member, tables, room.rows, words + 3 * (size_t)i, &energy))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/start: particle %u of %s is where the field, or a pair with "
                             "an atom that does not move, is above 100 k_B T",
                             i + 1, lj_start_file(point));
    }
    return ERGO_OK;
}

/* s: of the box, with the table of its potential if it has one. */
static enum ergo_status start(struct ergo_context *ctx, const struct ergo_point *point,
                              const struct lj_system *s, size_t box, const struct lj_tables *tables,
                              uint32_t **words, uint32_t *count) {
    const char *path = lj_start_file(point);
    enum ergo_status status = ERGO_OK;
    *words = NULL;
    if (!path)
        *count = lj_box_particles(point, box);
    if (path) {
        status = from_file(ctx, point, s, words, count);
    } else if (tables->voxels || tables->atoms) {
        status = place_free(ctx, point, s, tables, *count, words);
    } else {
        *words = malloc(12 * ((size_t)*count + 1));
        if (*words)
            lj_lattice(s, *count, *words);
        else
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u particles", *count);
        if (*words && s->species.n)
            lj_species_assign(s, *count, *words);
    }
    if (status == ERGO_OK)
        status = check_pairs(ctx, point, s, box, *words, *count);
    if (status == ERGO_OK && path)
        status = check_field(ctx, point, s, tables, *words, *count);
    if (status != ERGO_OK) {
        free(*words);
        *words = NULL;
    }
    return status;
}

enum ergo_status lj_start(struct ergo_context *ctx, const struct ergo_point *point, size_t box,
                          const struct lj_tables *tables, uint32_t **words, uint32_t *count) {
    struct lj_system s = lj_box_system(point, box);
    s.pair = tables->pair;
    return start(ctx, point, &s, box, tables, words, count);
}

/* ---- checks without a device -----------------------------------------------------------------
 */

/* Can the job start at this point? Its files have been read. */
static enum ergo_status check_start(struct ergo_context *ctx, const struct ergo_point *point,
                                    struct lj_tables *tables) {
    enum ergo_status status = ERGO_OK;
    for (unsigned b = 0; b < lj_boxes_of(point) && status == ERGO_OK; b++) {
        struct lj_system s = lj_box_system(point, b);
        uint32_t *words = NULL, count = lj_box_particles(point, b);
        s.pair = tables->pair;
        if (tables->field)
            lj_field_table(&s, tables->field);
        if (!lj_start_file(point) && !tables->voxels && !tables->atoms &&
            lattice_is_wide(&s, count))
            continue;
        status = start(ctx, point, &s, b, tables, &words, &count);
        free(words);
    }
    return status;
}

/* Does `b` start as `a` does? They may differ in the reservoir. */
static bool starts_alike(const struct ergo_point *a, const struct ergo_point *b) {
    for (size_t i = 0; i < a->n_scanned; i++)
        if (a->scanned[i].value != b->scanned[i].value &&
            strcmp(a->scanned[i].pointer, "/system/activity") != 0 &&
            strcmp(a->scanned[i].pointer, "/system/beta_mu") != 0 &&
            strcmp(a->scanned[i].pointer, "/system/mu") != 0)
            return false;
    return true;
}

/* The other points of a scan, where they are right by themselves. */
static enum ergo_status check_others(struct ergo_context *ctx, const struct ergo_point *first,
                                     struct lj_tables *tables) {
    struct ergo_context *own = ergo_context_create(); /* to say which point it is */
    const struct ergo_point *last = first;
    enum ergo_status status = own ? ERGO_OK : ERGO_E_MEMORY;
    for (size_t i = 0; i < first->job->n_points && status == ERGO_OK; i++) {
        const struct ergo_point *point = &first->job->points[i];
        struct ergo_text where = {0};
        if (point->replica || starts_alike(last, point))
            continue;
        last = point;
        if (lj_check(own, point) == ERGO_OK)
            status = check_start(own, point, tables);
        if (status != ERGO_OK)
            ERGO_FAIL(ctx, status, "%s%s", ergo_error_message(own),
                      ergo_point_place(point, &where));
        ergo_error_clear(own);
        ergo_text_free(&where);
    }
    ergo_context_destroy(own);
    return status;
}

enum ergo_status lj_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                struct lj_tables *tables) {
    /* large files are read once, for all points */
    const bool files = lj_has_voxels(point) || lj_has_frozen(point);
    if (files && point->scan_index > 0)
        return ERGO_OK;
    enum ergo_status status = ERGO_OK;
    if (lj_has_slit(point)) {
        tables->words = tables->field = calloc(LJ_FIELD_LAYERS, 16);
        if (!tables->words)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the field of a slit");
    }
    if (status == ERGO_OK)
        status = check_start(ctx, point, tables);
    /* annealed points start where others end */
    if (status == ERGO_OK && files && !point->parameters->anneal.present)
        status = check_others(ctx, point, tables);
    return status;
}
