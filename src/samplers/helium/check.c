/* Checks of a liquid beyond the table of its keys. */
#include <math.h>

#include "helium/params.h"
#include "samplers/helium/liquid.h"

/*
 * Below `core`, V and u keep their values. This does no harm if pairs hardly come there: with |u| =
 * 10 there are exp(-20) times the pairs of an ideal gas.
 */
static enum ergo_status check_core(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct helium_model *model) {
    double u[3];
    helium_model_u(model, model->core, u);
    if (model->b > 0 && fabs(u[0]) < 10)
        return ergo_job_error(
            ctx, "/system/b",
            "%g A lets pairs come closer than %.3g A, where V and u keep their values: energies "
            "would not be those of these functions. At least %.3g A here, or 0 for an ideal gas",
            model->b, model->core, model->b * pow(10 / fabs(u[0]), 0.2) + 0.005);
    if (model->b == 0 && model->epsilon > 0 &&
        ergo_says(of_quantum(point)->potential, "lennard-jones"))
        return ergo_job_error(ctx, "/system/b",
                              "0: the mean of the lennard-jones potential over an ideal gas is "
                              "infinite; use a b above 0, another potential, or an epsilon of 0 "
                              "for none");
    return ERGO_OK;
}

static enum ergo_status check_functions(struct ergo_context *ctx, const struct ergo_point *point,
                                        uint32_t added) {
    const char *potential = of_quantum(point)->potential;
    const char *wave_function = of_quantum(point)->wave_function;
    const bool from_file = helium_is_file(wave_function);
    enum ergo_status status = ERGO_OK;
    enum helium_potential named;
    if (!helium_is_file(potential) && !helium_potential_named(potential, &named))
        status = ergo_job_error(ctx, "/system/potential",
                                "found \"%s\"; allowed: \"aziz-hfd-b-he\", \"aziz-hfdhe2\", "
                                "\"aziz-hfd-b3-fci1\", \"lennard-jones\", or the name of a file, "
                                "with a dot or a slash in it",
                                potential);
    if (!from_file && !helium_is_schiff_verlet(point) && !helium_is_two_body(point))
        status =
            ergo_job_error(ctx, "/system/wave_function",
                           "found \"%s\"; allowed: \"schiff-verlet\", \"two-body\", or the name of "
                           "a file, with a dot or a slash in it",
                           wave_function);
    if (status != ERGO_OK)
        return status;
    struct helium_model model;
    helium_model_of(point, &model);
    for (uint32_t k = 0; k < model.dimensions; k++)
        if (!(model.side[k] <= 1e6))
            return ergo_job_error(ctx, "/system/density",
                                  "%g: a side of the box would be %.4g A; at most 1e6 A are "
                                  "possible",
                                  model.density, model.side[k]);
    status = helium_check_one_body(ctx, point, &model);
    if (status == ERGO_OK)
        status = helium_triplet_check(ctx, point, model.half);
    if (status == ERGO_OK)
        status = helium_model_load(ctx, point, added, &model);
    if (status != ERGO_OK)
        return status;
    if (model.core > 0.6 * model.half && !helium_is_schiff_verlet(point))
        status = ergo_job_error(
            ctx, "/system/wave_function",
            "%s: begins at %.4g A, or |u| is above %d up to %.4g A, too far out "
            "for a box of half side %.4g A",
            wave_function, model.f_curve->r[0], HELIUM_U_LIMIT, model.core, model.half);
    else if (model.core > 0.6 * model.half)
        status = ergo_job_error(ctx, "/system/b",
                                "%g A is too large for a box of half side %.4g A: the wave "
                                "function would vanish (below exp(-%d)) for pairs closer than %.4g "
                                "A; use more atoms or a smaller b",
                                model.b, model.half, HELIUM_U_LIMIT, model.core);
    if (status == ERGO_OK && helium_is_schiff_verlet(point))
        status = check_core(ctx, point, &model);
    if (status == ERGO_OK && of_quantum(point)->start.present && !point->job->again)
        status = helium_start_read(ctx, point, &model, (uint32_t)of_quantum(point)->walkers, NULL);
    helium_model_free(&model);
    return status;
}

enum ergo_status helium_check_liquid(struct ergo_context *ctx, const struct ergo_point *point,
                                     uint32_t added) {
    enum ergo_status status = ERGO_OK;
    const int64_t n = of_quantum(point)->n;
    const int64_t walkers = of_quantum(point)->walkers;
    if (n * walkers > INT64_C(4294967296))
        status =
            ergo_job_error(ctx, "/system/walkers",
                           "%lld walkers of %lld atoms; random numbers have addresses of 32 "
                           "bits: at most %lld walkers, more as /replicas",
                           (long long)walkers, (long long)n, (long long)(INT64_C(4294967296) / n));
    const struct ergo_value *aspect = &of_quantum(point)->aspect;
    const int items = (int)helium_dimensions(point);
    if (aspect->given && aspect->items != items)
        return ergo_job_error(ctx, "/system/aspect",
                              "found %d numbers; in %s dimensions (/system/dimensions) there are "
                              "%d sides",
                              aspect->items, items == 2 ? "two" : "three", items);
    const enum ergo_status functions = check_functions(ctx, point, added);
    return status == ERGO_OK ? functions : status;
}
