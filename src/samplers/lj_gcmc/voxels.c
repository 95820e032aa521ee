/*
 * A field from a file: values on a grid over the box, linear along each axis between neighbouring
 * points. So it is nowhere lower than its lowest value, and no well lies next to a wall that is not
 * in the file. It is off by about h^2/8 of the second derivative, h being the distance of points.
 */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"

bool lj_has_voxels(const struct ergo_point *point) {
    return lj_takes_fields(point) && of_particle(point)->field.present;
}

enum ergo_status lj_voxels_read(struct ergo_context *ctx, const struct ergo_point *point,
                                const struct lj_system *s, struct ergo_cube **cube) {
    *cube = NULL;
    const enum ergo_status status =
        lj_has_voxels(point) ? ergo_cube_read(ctx, point, "/system/field", cube) : ERGO_OK;
    for (int k = 1; *cube && k < 3; k++) {
        const double there = (*cube)->side[k] / (*cube)->side[0], here = s->box[k] / s->box[0];
        if (fabs(there - here) <= 1e-3 * here)
            continue;
        const struct ergo_cube c = **cube;
        ergo_cube_free(*cube);
        *cube = NULL;
        return ergo_job_error(ctx, "/system/field",
                              "the grid of %s fills %.6g x %.6g x %.6g (points times their "
                              "distance), which has another shape than the box of %.6g x %.6g x "
                              "%.6g. The point after the last is the first again, and is not in "
                              "the file",
                              of_particle(point)->field.text, c.side[0], c.side[1], c.side[2],
                              s->box[0], s->box[1], s->box[2]);
    }
    return status;
}

size_t lj_voxels_points(const struct ergo_cube *cube) {
    return cube->n[0] * cube->n[1] * cube->n[2];
}

void lj_voxels_table(const struct ergo_cube *cube, float *table) {
    for (size_t i = 0; i < lj_voxels_points(cube); i++)
        table[i] = cube->values[i] < LJ_WALL ? cube->values[i] : LJ_WALL;
}
