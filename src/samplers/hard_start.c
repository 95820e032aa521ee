/* See hard.h: starts from places, of lattices and of files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/xyz.h"
#include "samplers/hard.h"
#include "samplers/places.h"

static enum ergo_status no_memory(struct ergo_context *ctx, const struct ergo_hard *s) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu %s", (unsigned long long)s->n,
                     s->kind->many);
}

static bool in_wall(const struct ergo_hard *s, int k, double units) {
    return ergo_hard_walled(s, k) &&
           (units < (double)s->confined.walls.low[k] || units > (double)s->confined.walls.high[k]);
}

/* Places in whole units, 0 along axes that there are not. A particle that touches a wall may be
 * rounded into it. */
static enum ergo_status to_units(struct ergo_context *ctx, const struct ergo_hard *s,
                                 const char *start, const double *from, uint64_t (*at)[3]) {
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < (int)s->kind->dimensions; k++) {
            const double x = from[(size_t)k * s->n + i];
            double units = floor(x * s->unit[k] + 0.5);
            if (in_wall(s, k, units))
                units += units < (double)s->confined.walls.low[k] ? 1 : -1;
            if (in_wall(s, k, units))
                return ERGO_FAIL(ctx, ERGO_E_JOB,
                                 "/system/start: in \"%s\" %s %zu has %c = %.9g sigma, which is in "
                                 "a wall: centres are at %.9g to %.9g sigma",
                                 start, s->kind->one, i + 1, (int)"xyz"[k], x,
                                 (double)s -> confined.walls.low[k] / s->unit[k],
                                 (double)s->confined.walls.high[k] / s->unit[k]);
            units -= floor(units / (double)s->side[k]) * (double)s->side[k];
            at[i][k] = units >= (double)s->side[k] ? 0 : (uint64_t)units;
        }
    return ERGO_OK;
}

/* Number (from 1) of the particle in a slot: those of a cell are in their order. */
static size_t particle_at(const struct ergo_hard *s, const uint64_t (*at)[3], size_t cell,
                          unsigned slot) {
    unsigned seen = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t in = 0;
        for (unsigned k = s->kind->dimensions; k-- > 0;)
            in = in * s->cells[k] + (size_t)(at[i][k] / s->width[k]);
        if (in == cell && seen++ == slot)
            return i + 1;
    }
    return 0;
}

/* The message says by how much, because units are so small that distances may look equal. */
static enum ergo_status refuse_overlap(struct ergo_context *ctx, const struct ergo_hard *s,
                                       const char *start, const uint64_t (*at)[3], uint64_t r2,
                                       uint64_t contact, const size_t cell[2],
                                       const unsigned slot[2]) {
    const size_t a = particle_at(s, at, cell[0], slot[0]), b = particle_at(s, at, cell[1], slot[1]);
    const double found = sqrt((double)r2), least = sqrt((double)contact);
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/start: in \"%s\" %s %zu and %zu overlap: their distance is %.9g "
                     "sigma, %.3g less than the %.9g that are allowed",
                     start, s->kind->many, a < b ? a : b, a < b ? b : a, found / s->sigma,
                     (double)(contact - r2) / (found + least) / s->sigma, least / s->sigma);
}

/* Places along each axis are right to half a unit, distances to the diagonal of a unit, and contact
 * is rounded up. Particles that overlap by no more are moved apart. */
enum ergo_status ergo_hard_put(struct ergo_context *ctx, const char *start, uint64_t contact,
                               double more, const double *from, struct ergo_hard_cells *c) {
    const struct ergo_hard *s = c->shape;
    const bool flat = s->kind->dimensions == 2;
    const uint64_t side[3] = {s->side[0], s->side[1], flat ? 1u << 31 : s->side[2]};
    const double least = sqrt((double)contact);
    const double diagonal = sqrt(s->length[0] * s->length[0] + s->length[1] * s->length[1] +
                                 (flat ? 0 : s->length[2] * s->length[2]));
    uint64_t(*at)[3] = calloc(s->n, sizeof *at);
    size_t cell[2] = {0, 0};
    unsigned slot[2] = {0, 0};
    enum ergo_status status = at ? to_units(ctx, s, start, from, at) : no_memory(ctx, s);
    for (int tries = 0; status == ERGO_OK; tries++) {
        const size_t crowded = ergo_hard_place(c, (const uint64_t(*)[3])at);
        if (crowded != SIZE_MAX) {
            status = ERGO_FAIL(ctx, ERGO_E_JOB,
                               "/system/start: in \"%s\" %s %zu is in a cell with side %.4g sigma "
                               "that holds %u others: some overlap",
                               start, s->kind->one, crowded + 1, (double)s->width[0] / s->unit[0],
                               s->slots);
            break;
        }
        const uint64_t r2 = ergo_hard_closest(c, cell, slot);
        if (r2 >= contact)
            break;
        if (tries || sqrt((double)r2) < least - (diagonal + 1 + more))
            status =
                refuse_overlap(ctx, s, start, (const uint64_t(*)[3])at, r2, contact, cell, slot);
        else
            status = ergo_places_part(ctx, at, s->n, side, s->length, least,
                                      s->confined.is ? s->confined.walls.low : NULL,
                                      s->confined.walls.high);
    }
    free(at);
    return status;
}

/* Is the file's box the job's? */
static bool same_box(const struct ergo_hard *s, const struct ergo_xyz *frame) {
    const struct ergo_hard_kind *kind = s->kind;
    const double near =
        kind->near + kind->near_sides * s->box[0] + kind->near_roundings * frame->rounding;
    bool same = true;
    for (unsigned k = 0; k < s->kind->dimensions; k++)
        for (unsigned l = 0; l < s->kind->dimensions; l++)
            same = same && fabs(frame->lattice[3 * k + l] - (k == l ? s->box[k] : 0.0)) <=
                               (k == l ? near : kind->near_off * near);
    return same || !frame->has_lattice;
}

static enum ergo_status refuse_box(struct ergo_context *ctx, const struct ergo_hard *s,
                                   const char *path, const double *lattice) {
    char text[2][200];
    for (int i = 0; i < 2; i++)
        for (unsigned k = 0, at = 0; k < s->kind->dimensions; k++)
            at += (unsigned)snprintf(text[i] + at, sizeof text[i] - at, "%s%.9f", k ? " x " : "",
                                     i ? fmin(lattice[4 * k], 1e20) : s->box[k]);
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/box: the job's box is %s sigma; that of %s is %s: set /system/box or "
                     "/system/packing_fraction to it",
                     text[0], path, text[1]);
}

enum ergo_status ergo_hard_start_file(struct ergo_context *ctx, const struct ergo_point *point,
                                      struct ergo_hard_cells *c) {
    const struct ergo_hard *s = c->shape;
    const size_t dimensions = s->kind->dimensions;
    const char *path = of_particle(point)->start.text;
    const bool walls[3] = {ergo_hard_walled(s, 0), ergo_hard_walled(s, 1), ergo_hard_walled(s, 2)};
    struct ergo_xyz frame;
    enum ergo_status status = ergo_xyz_read(ctx, point, "/system/start", &frame);
    if (status != ERGO_OK)
        return status;
    double *at = malloc(dimensions * s->n * sizeof *at);
    if (!at)
        status = no_memory(ctx, s);
    else if (frame.n != s->n)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system/n: %llu, but %s has %zu %s",
                           (unsigned long long)s->n, path, frame.n, s->kind->many);
    else if (!same_box(s, &frame))
        status = refuse_box(ctx, s, path, frame.lattice);
    if (status == ERGO_OK)
        status = ergo_places_near(ctx, path, &frame, s->box, dimensions, walls);
    /* the box is rounded, too, and so are pairs across its sides */
    double more = 2 * sqrt((double)dimensions) * frame.rounding * s->sigma;
    for (size_t k = 0; k < dimensions && frame.has_lattice; k++)
        more += fabs(frame.lattice[4 * k] - s->box[k]) * s->sigma;
    for (size_t i = 0; i < dimensions * s->n && status == ERGO_OK; i++)
        at[i] = frame.positions[3 * (i % s->n) + i / s->n];
    ergo_xyz_free(&frame);
    if (status == ERGO_OK)
        status = ergo_hard_put(ctx, path, s->contact, more, at, c);
    free(at);
    return status;
}

enum ergo_status ergo_hard_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct ergo_hard *s) {
    struct ergo_hard_cells c;
    enum ergo_status status = ergo_hard_create(ctx, s, &c);
    if (status == ERGO_OK)
        status = s->kind->start(ctx, point, s, &c);
    ergo_hard_free(&c);
    return status;
}

enum ergo_status ergo_hard_check_size(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct particle_parameters *p = of_particle(point);
    if (p->packing_fraction.present == p->box.present)
        return ergo_job_error(ctx, "/system",
                              p->box.present
                                  ? "found packing_fraction and box; allowed: one of them"
                                  : "neither packing_fraction nor box is there; give one of them");
    return ERGO_OK;
}

enum ergo_status ergo_hard_check_bins(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct particle_parameters *p = of_particle(point);
    if (p->contact_range > 4096 * p->contact_bin)
        return ergo_job_error(ctx, "/run/contact_bin", "more than 4096 bins in contact_range");
    if (p->contact_range < p->contact_bin)
        return ergo_job_error(ctx, "/run/contact_bin", "wider than contact_range");
    return ERGO_OK;
}

bool ergo_hard_start_is_file(const char *start) {
    return strchr(start, '.') || strchr(start, '/');
}

/* ---- random starts --------------------------------------------------------------------------- */

void ergo_hard_grow_end(void *state) {
    struct ergo_hard_state *s = state;
    if (!s->growth.configs)
        return;
    for (size_t i = 0; i < s->e.batch->count; i++)
        ergo_hard_free(&s->growth.configs[i]);
    free(s->growth.configs);
    s->growth.configs = NULL;
    if (s->kind->grown)
        s->kind->grown(s);
}

enum ergo_status ergo_hard_grow_begin(struct ergo_context *ctx, void *state, uint32_t piece) {
    struct ergo_hard_state *s = state;
    const size_t count = s->e.batch->count;
    ergo_hard_grow_end(s);
    s->growth = (struct ergo_hard_growth){
        .configs = calloc(count, sizeof *s->growth.configs), .left = count, .piece = piece};
    return s->growth.configs
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %s at random", s->kind->many);
}

enum ergo_status ergo_hard_grow_piece(struct ergo_context *ctx, void *state, bool *done) {
    struct ergo_hard_state *s = state;
    struct ergo_hard_growth *g = &s->growth;
    enum ergo_status status = ERGO_OK;
    *done = !g->configs;
    if (*done)
        return ERGO_OK;
    for (uint32_t i = 0; i < g->piece && g->left && status == ERGO_OK; i++) {
        status = s->kind->grow(ctx, s);
        g->sweep++;
        if (status == ERGO_OK && g->sweep >= s->kind->grow_sweeps && g->sweep % ERGO_HARD_ASK == 0)
            status = s->kind->take(ctx, s);
        if (status == ERGO_OK && g->left && g->sweep >= ERGO_HARD_GROW_MOST)
            status =
                ERGO_FAIL(ctx, ERGO_E_JOB,
                          "/system/start: %zu of %zu systems of random %s still overlap after "
                          "%u sweeps; start from \"%s\" or from a file, or take a lower "
                          "packing fraction",
                          g->left, s->e.batch->count, s->kind->many, g->sweep, s->kind->lattice);
    }
    if (status == ERGO_OK)
        status = ergo_device_finish(ctx, s->e.device);
    if (status != ERGO_OK || g->left)
        return status;
    status = ergo_hard_begin(ctx, s, g->configs);
    ergo_hard_grow_end(s);
    *done = true;
    return status;
}
