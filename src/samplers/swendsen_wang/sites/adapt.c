/* Method probability-changing: the chance with which a member draws bonds, and its steps
 * (cl/swendsen_wang/sites.h). */
#include <math.h>

#include "samplers/swendsen_wang/sites/sites.h"

bool sw_adapts(const struct ergo_point *point) {
    return ergo_says(of_lattice(point)->run_method, "probability-changing");
}

bool sw_is_sampled(const struct ergo_point *point) {
    return !sw_adapts(point);
}

bool sw_has_temperature(const struct ergo_point *point) {
    return point->parameters->temperature > 0;
}

enum ergo_status sw_temperature_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (sw_adapts(point) || sw_has_temperature(point))
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/temperature",
                          "missing; needed: a number > 0, the temperature in the energy unit of "
                          "the coupling. (Only /run/method probability-changing needs none)");
}

const char *sw_unweighted(const struct ergo_point *point) {
    return sw_adapts(point) ? "the temperature changes from step to step" : NULL;
}

enum ergo_status sw_adapt_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!sw_adapts(point))
        return ERGO_OK;
    if (ergo_says(of_sw(point)->update, "wolff"))
        return ergo_job_error(ctx, "/run/method",
                              "\"probability-changing\" looks for clusters that lead around the "
                              "lattice among all clusters of a sweep, and /system/update wolff "
                              "grows one: use \"swendsen-wang\"");
    if (of_sw(point)->probability_step_first < of_sw(point)->probability_step)
        return ergo_job_error(ctx, "/run/probability_step_first",
                              "%g is less than /run/probability_step, %g, down to which it is "
                              "halved",
                              of_sw(point)->probability_step_first, of_sw(point)->probability_step);
    return ERGO_OK;
}

/* A chance of 1: of potts a probability, of unit vectors J/T. */
static double unit_of(const struct ergo_point *point) {
    return sw_is_potts(point) ? 0x1p32 : 0x1p24;
}

/* A whole number from `least` on. */
static uint32_t rounded(double value, double least) {
    const double nearest = floor(value + 0.5);
    return (uint32_t)fmin(fmax(nearest, least), 4294967295.0);
}

void sw_adapt_fill(const struct ergo_point *point, struct sw_site_member *member) {
    const double share = of_sw(point)->wrapping_share;
    const uint32_t both = rounded(2 * of_sw(point)->probability_step * unit_of(point), 2);
    member->up = rounded(share * both, 1);
    member->up = member->up < both ? member->up : both - 1;
    member->down = both - member->up;
}

uint32_t sw_adapt_start(const struct ergo_point *point, const struct sw_site_member *member) {
    if (unit_of(point) == 0x1p32)
        return member->always ? UINT32_MAX : member->threshold ? member->threshold : 1;
    if (!sw_has_temperature(point))
        return 1u << 24;
    return rounded(0x1p24 * of_lattice(point)->coupling.real / point->parameters->temperature, 1);
}

uint32_t sw_adapt_shift(const struct ergo_point *point, uint64_t step) {
    const uint64_t steps = (uint64_t)point->parameters->equilibration;
    if (step >= steps)
        return 0;
    const double last = of_sw(point)->probability_step;
    const double first = of_sw(point)->probability_step_first;
    uint32_t doubled = 0;
    while (ldexp(last, (int)doubled + 1) <= first)
        doubled++;
    const uint64_t part = (steps + doubled) / (doubled + 1);
    return step / part >= doubled ? 0 : doubled - (uint32_t)(step / part);
}
