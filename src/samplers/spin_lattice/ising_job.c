/* The Ising model: what can be said of a job without a device, and its ops. */
#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/ising.h"
#include "samplers/spin_lattice/models.h"

enum ergo_status ising_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const char *const side[] = {"/system/size/0", "/system/size/1"};
    for (int i = 0; i < size->items && i < 2; i++)
        if (size->size[i] % 2)
            status = ergo_job_error(ctx, side[i],
                                    "%lld is odd; the checkerboard update needs even sides, for "
                                    "example %lld or %lld",
                                    (long long)size->size[i], (long long)size->size[i] - 1,
                                    (long long)size->size[i] + 1);
    /* words, and eight of a block together, are numbered with 32 bits */
    const struct ising_shape shape = ising_shape_of(point);
    if (shape.blocks >= 1u << 28)
        status = ergo_job_error(
            ctx, "/system/size",
            "%lld x %lld are %llu words of 32 sites of a colour; kernels number "
            "fewer than 2^30 of them: 2^36 sites",
            (long long)shape.lx, (long long)shape.ly, (unsigned long long)shape.words);
    if (ergo_point_real(point, "/system/coupling") == 0.0 &&
        ergo_point_real(point, "/system/field") == 0.0 &&
        strcmp(ergo_point_text(point, "/system/dynamics"), "metropolis") == 0)
        status = ergo_job_error(ctx, "/system/coupling",
                                "0 with /system/field 0: every Metropolis flip would be accepted "
                                "and nothing sampled; give a coupling or a field, or use dynamics "
                                "\"heat-bath\"");
    /* with a field or without: the smallest acceptance is 1 - cost, and tau grows with 1 / cost */
    const double cost = 8 * fabs(ergo_point_real(point, "/system/coupling")) +
                        2 * fabs(ergo_point_real(point, "/system/field"));
    const double t = ergo_point_real(point, "/system/temperature");
    if (cost > 0 && cost < 1e-3 * t &&
        strcmp(ergo_point_text(point, "/system/dynamics"), "metropolis") == 0)
        status =
            ergo_job_error(ctx, "/system/temperature",
                           "%g is more than 1000 (8 |J| + 2 |B|): Metropolis would accept nearly "
                           "every flip, and the lattice only change its sign from sweep to sweep; "
                           "use dynamics \"heat-bath\"",
                           t);
    return status;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    struct ising_launch launch;
    return ising_launch_plan(ctx, batch, device, &launch, plan);
}

size_t ising_curve_size(const struct ergo_point *point, size_t c) {
    if (c == CURVE_STRUCTURE)
        return bytes_curve_size(point, c);
    return c <= CURVE_CORRELATION_Y && ergo_point_int(point, "/run/correlation_every")
               ? ising_reach(point) + 1
               : 0;
}

void ising_curve_x(const struct ergo_point *point, size_t c, double *x) {
    if (c == CURVE_STRUCTURE)
        bytes_curve_x(point, c, x);
    for (size_t i = 0; i < ising_curve_size(point, c) && c != CURVE_STRUCTURE; i++)
        x[i] = (double)i;
}

double ising_exact(const struct ergo_point *point, const char *observable) {
    const bool energy = strcmp(observable, "energy") == 0;
    if (!energy && strcmp(observable, "heat_capacity") != 0)
        return NAN;
    if (ergo_point_real(point, "/system/field") != 0.0)
        return NAN;
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    struct ergo_ising_exact e;
    if (!ergo_ising_exact_torus(size->size[0], size->size[1],
                                ergo_point_real(point, "/system/temperature"),
                                ergo_point_real(point, "/system/coupling"), &e))
        return NAN;
    return energy ? e.energy : e.heat_capacity;
}

const struct ergo_sampler_ops ising_ops = {
    .plan = plan,
    .create = ising_create,
    .init = ising_init,
    .advance = ising_advance,
    .collect = ising_collect,
    .save = ising_save,
    .load = ising_load,
    .audit = ising_audit,
    .picture = ising_picture,
    .frame = ising_frame,
    .destroy = ising_destroy,
};
