/* Starting configurations: a lattice, or a file. */
#include <math.h>
#include <stdlib.h>

#include "io/xyz.h"
#include "samplers/lj_gcmc/lj.h"

/* Whole units of 2^-32 of a side. */
static uint32_t to_word(double x, double side) {
    const double fraction = x / side - floor(x / side);
    return (uint32_t)(uint64_t)floor(fraction * 0x1p32 + 0.5); /* 1 is 0 again */
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
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system/start: %s has %zu particles; at most 2^26",
                           path, frame.n);
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
    return ergo_point_value(point, "/system/start")->present
               ? ergo_point_text(point, "/system/start")
               : NULL;
}

enum ergo_status lj_start(struct ergo_context *ctx, const struct ergo_point *point,
                          uint32_t **words, uint32_t *count) {
    const struct lj_system s = lj_system_of(point);
    const char *path = lj_start_file(point);
    *words = NULL;
    if (path)
        return from_file(ctx, point, &s, words, count);
    *count = (uint32_t)ergo_point_int(point, "/system/particles");
    *words = malloc(12 * ((size_t)*count + 1));
    if (!*words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u particles", *count);
    lj_lattice(&s, *count, *words);
    return ERGO_OK;
}
