/* Correlations by improved estimators (cl/swendsen_wang/correlate.h) on the host: what is asked
 * for, and samples from sums. */

#include "samplers/swendsen_wang/sites/sites.h"

/* Observables that clusters' correlations are measured for; others have them anyway, or not. */
bool sw_correlates(const struct ergo_point *point) {
    static const char *const of_squares[] = {"correlation", "correlation_half"};
    static const char *const of_quarters[] = {"correlation_quarter", "correlation_ratio"};
    const bool squares = sw_serves_square(point);
    bool asked = ergo_point_asks(point, sw_is_potts(point) ? "correlation_length"
                                                           : "correlation_length_improved");
    for (size_t k = 0; k < 2 && squares; k++)
        asked = asked || ergo_point_asks(point, of_squares[k]) ||
                (sw_has_quarter(point) && ergo_point_asks(point, of_quarters[k]));
    return asked && of_sw(point)->correlations;
}

enum ergo_status sw_correlate_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!of_sw(point)->correlations || sw_correlates(point))
        return ERGO_OK;
    return ergo_job_error(ctx, "/run/correlations",
                          "true, and /run/observables asks for nothing that it measures here: add "
                          "correlation_length%s%s, for example",
                          sw_is_potts(point) ? "" : "_improved",
                          !sw_serves_square(point) ? ""
                          : sw_has_quarter(point)  ? " or correlation_ratio"
                                                   : " or correlation_half");
}

uint32_t sw_distances_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    int64_t least = size->size[0];
    for (int k = 1; k < size->items; k++)
        least = size->size[k] < least ? size->size[k] : least;
    return sw_distance_count((uint32_t)least);
}

/* ---- sums ------------------------------------------------------------------------------------ */

void sw_waves_add(uint64_t limbs[SW_WAVES_LIMBS], int64_t value) {
    const uint64_t a = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const uint64_t low = a & 0xffffffff, high = a >> 32;
    /* below 2^52: nothing overflows */
    const uint64_t parts[3] = {low * low, 2 * low * high, high * high};
    for (size_t k = 0; k < 3; k++)
        for (size_t l = 0; l < 4; l++)
            limbs[2 * k + l] += parts[k] >> (16 * l) & 0xffff;
}

void sw_waves_take(uint64_t limbs[SW_WAVES_LIMBS], const uint32_t *words) {
    for (size_t k = 0; k < SW_WAVE_LIMBS; k++) {
        const uint64_t sum = words[2 * k] | (uint64_t)words[2 * k + 1] << 32;
        limbs[2 * k] += sum & 0xffff;
        limbs[2 * k + 1] += sum >> 16;
    }
}

void sw_correlate_convert(const struct sw_shape *shape, uint32_t distances,
                          const struct sw_correlations *c, double *columns, double *curve) {
    const uint32_t sides[2] = {(uint32_t)shape->lx, (uint32_t)shape->ly};
    const double n[2] = {(double)sides[0] * sw_line_count(sides[1]),
                         (double)sides[1] * sw_line_count(sides[0])};
    for (size_t k = 0; k < distances; k++) {
        const double share = 0.5 * ((double)c->pairs[0][k] / n[0] + (double)c->pairs[1][k] / n[1]);
        if (k < SW_DISTANCE_CURVE)
            columns[SW_COLUMN_HALF + k] = share;
        else if (curve)
            curve[k - SW_DISTANCE_CURVE] = share;
    }
    columns[SW_COLUMN_WAVE2] =
        sw_limbs_value(c->waves, SW_WAVES_LIMBS, NULL) * 0x1p-30 / (double)shape->sites;
}

void sw_correlate_line(const uint64_t *names, uint32_t side, uint32_t distances, uint64_t *pairs) {
    for (uint32_t k = 0; k < distances; k++) {
        const uint32_t apart = sw_distance(k, side);
        for (uint32_t at = 0; at < side; at++)
            pairs[k] += names[at] == names[at + apart < side ? at + apart : at + apart - side];
    }
}
