/* The one-body density matrix and the momentum distribution. */
#include "samplers/helium/density.h"

#include <stdlib.h>

#include "helium/density.h"

uint32_t helium_density_points(const struct ergo_point *point) {
    return of_quantum(point)->structure_every ? (uint32_t)of_quantum(point)->density_matrix_points
                                              : 0;
}

static float pitch_of(uint32_t points) {
    return 1.0f / (float)points;
}

/* ---- curves ----------------------------------------------------------------------------------
 */

/* In a trap or slab the condensate has no wave vector. */
bool helium_has_condensate(const struct ergo_point *point) {
    return helium_density_points(point) > 0 && !helium_is_confined(point);
}

double helium_condensate(const struct ergo_point *point, const double *momentum, size_t size) {
    (void)size;
    return momentum[0] / (double)of_quantum(point)->n;
}

double helium_plateau(const struct ergo_point *point, const double *matrix, size_t size) {
    const bool plane = helium_dimensions(point) == 2;
    double sum = 0, weights = 0;
    for (size_t p = 0; p < size; p++)
        if (4 * (p + 1) >= 3 * size) {
            const double r = (double)(p + 1), weight = plane ? r : r * r;
            sum += weight * matrix[p];
            weights += weight;
        }
    return sum / weights;
}

size_t helium_density_size(const struct ergo_point *point, size_t curve) {
    const uint32_t points = helium_density_points(point);
    return points == 0 || curve == HELIUM_DENSITY_MATRIX ? points : helium_sk_size(point) + 1;
}

void helium_density_x(const struct ergo_point *point, size_t curve, double *x) {
    const uint32_t points = helium_density_points(point);
    struct helium_model model;
    helium_model_box(point, &model);
    if (curve == HELIUM_MOMENTUM) {
        x[0] = 0;
        helium_sk_x(point, x + 1);
        return;
    }
    for (uint32_t p = 0; p < points; p++)
        x[p] = model.half * (p + 1) / points;
}

bool helium_density_add(const struct ergo_point *point, const struct helium_model *model,
                        const struct helium_member *member, uint32_t walker, uint64_t step,
                        const int64_t *sums, size_t curve, double weight, double *out) {
    const uint32_t points = helium_density_points(point);
    const double unit = weight / (double)(1 << HELIUM_RATIO_BITS);
    if (curve == HELIUM_DENSITY_MATRIX) {
        for (uint32_t p = 0; p < points; p++)
            out[p] += unit / model->n * (double)sums[p];
        return true;
    }
    const size_t size = helium_density_size(point, curve);
    int32_t *places = malloc(12 * (size_t)points + 1);
    double *ratios = malloc((points + 1) * sizeof *ratios),
           *wave = malloc((size + 1) * sizeof *wave);
    const bool memory = places && ratios && wave;
    for (uint32_t p = 0; p < points && memory; p++) {
        uint32_t d[3];
        helium_displacement(member, walker, step, points + p, points, pitch_of(points), d);
        for (size_t k = 0; k < 3; k++)
            places[k * points + p] = (int32_t)d[k];
        ratios[p] = unit / points * (double)sums[points + p];
    }
    if (memory) {
        for (uint32_t p = 0; p < points; p++)
            out[0] += ratios[p];
        helium_cosines(point, model, places, points, ratios, wave);
        for (size_t i = 1; i < size; i++)
            out[i] += wave[i - 1];
    }
    free(places);
    free(ratios);
    free(wave);
    return memory;
}

/* ---- launches --------------------------------------------------------------------------------
 */

struct helium_density_launch helium_density_choose(const struct ergo_device *device, uint32_t n,
                                                   uint32_t wish, bool triplet) {
    const uint64_t most = device->summary.local_memory;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double atoms = n < HELIUM_SLICE ? n : HELIUM_SLICE;
    struct helium_density_launch l = {.group = wish < 64 ? wish : 64};
    while (l.group > 1 && (8 * HELIUM_TOGETHER * (uint64_t)l.group + 256 > most ||
                           l.group > device->summary.largest_group))
        l.group /= 2;
    l.local = 16 * (uint64_t)n + 8 * HELIUM_TOGETHER * (uint64_t)l.group + 256 <= most;
    ergo_pace_start(&l.pace, 0.1 * units * (gpu ? 1e9 : 5e7) /
                                 (atoms * (1 + HELIUM_TOGETHER * (triplet ? 4 : 1)) * n));
    return l;
}

uint64_t helium_density_loops(uint32_t n, uint32_t group, bool triplet) {
    const uint64_t slice = n < HELIUM_SLICE ? n : HELIUM_SLICE;
    const uint64_t atoms = (slice + group - 1) / group, visits = triplet ? 2 : 1;
    return atoms * (1 + HELIUM_TOGETHER * visits) * n + 2 * (uint64_t)n + HELIUM_TOGETHER * group;
}

void helium_density_displace(struct ergo_engine *e, const struct helium_density_rows *rows,
                             struct helium_density_launch *launch, uint32_t n, uint32_t walkers,
                             uint32_t chosen, uint32_t points, bool triplet, size_t curve) {
    enum { OF_TRIPLET = 3 };
    const size_t homes = e->batch->count * chosen;
    const uint64_t groups =
        homes * ((2 * (uint64_t)points + HELIUM_TOGETHER - 1) / HELIUM_TOGETHER);
    for (uint32_t slice = 0; slice < n; slice += HELIUM_SLICE)
        for (uint64_t begin = 0; begin < groups && ergo_engine_end(e) == ERGO_OK;) {
            const uint64_t now = ergo_engine_next(e, &launch->pace, groups - begin, UINT64_MAX);
            const struct ergo_arg args[] = {
                BUFFER(rows->places),
                BUFFER(rows->members),
                BUFFER(rows->u_tables),
                BUFFER(rows->sites),
                U64(e->step),
                U32(walkers),
                U32(chosen),
                U32(points),
                F32(pitch_of(points)),
                U64(curve * homes),
                U64(begin),
                U32(slice),
                BUFFER(rows->sums),
                BUFFER(rows->triplets),
                BUFFER(rows->t_tables),
                BUFFER(rows->fields),
            };
            ergo_engine_launch(e, rows->kernel, ergo_grid_groups(now, launch->group, 1), args,
                               sizeof args / sizeof args[0] - (triplet ? 0 : OF_TRIPLET));
            ergo_engine_made(e, &launch->pace, now);
            begin += now;
        }
}
