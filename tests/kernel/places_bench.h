/* Profiles and energies of hard particles in a field, as measured and as an oracle has them, by the
 * job's numbers and in doubles. */
#ifndef ERGO_TESTS_KERNEL_PLACES_BENCH_H
#define ERGO_TESTS_KERNEL_PLACES_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "samplers/confined.h"

static inline double number_or_none(const struct ergo_point *point, const char *pointer) {
    const struct ergo_value *value = ergo_point_value(point, pointer);
    return value->present ? value->real : 0;
}

struct places_case {
    const char *what;
    size_t member;
    const struct ergo_confinement *confined;
    bool walled;          /* along the axis */
    double unit, gravity; /* units of sigma; of the job */
};

static inline void places_energy_compared(const struct places_case *p, double found,
                                          double expected) {
    if (p->confined->field && fabs(found - expected) > 2e-5)
        fail_msg("%s\nenergy in the field of member %zu: %.9g, the oracle says %.9g", p->what,
                 p->member, found, expected);
}

/* A curve of particles at these places. */
static inline void places_compared(const struct places_case *p, const struct ergo_point *point,
                                   unsigned curve, size_t bins, const int64_t *places,
                                   const double *values) {
    const bool near = curve == ERGO_CONFINED_LOW || curve == ERGO_CONFINED_HIGH;
    const double low = p->walled ? 0.5 : 0, length = p->confined->length - 2 * low;
    const double all = near ? ergo_point_real(point, "/run/contact_range") : length;
    double weight = 0;
    for (size_t bin = bins; bin-- > 0;) {
        double count = 0;
        for (size_t i = 0; i < p->confined->n; i++) {
            const double z = (double)places[i] / p->unit - low;
            const double away = curve == ERGO_CONFINED_HIGH ? length - z : z;
            count += floor(away / all * (double)bins) == (double)bin;
        }
        const double half = p->gravity / p->confined->area * 0.5 * count;
        weight += half;
        const double expected =
            curve == ERGO_CONFINED_WEIGHT ? weight : count / p->confined->area / all * (double)bins;
        weight += half;
        if (fabs(values[bin] - expected) > 1e-3 * (1 + expected))
            fail_msg("%s\ncurve %u of member %zu, bin %zu: %.9g, the oracle says %.9g", p->what,
                     curve, p->member, bin, values[bin], expected);
    }
}

#endif
