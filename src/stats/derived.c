/* Derivatives of functions of means. */
#include "stats/covariance.h"

#include <math.h>

enum { STEPS = 16 /* smallest step: 4^-16 of the standard error */ };

/*
 * df/dm_a by central differences. A step of one standard error is the range over which f matters,
 * and far above rounding even where f is a small difference such as e2 - e^2. Where f is too curved
 * for it, or not finite (log of a variance that a lone step makes negative), the step shrinks. D(h)
 * and D(h/4) give Richardson's (16 D(h/4) - D(h)) / 15, whose distance from D(h/4) tells its
 * accuracy; the best is taken. The search ends once that distance grows: at smaller steps rounding
 * dominates, until f does not change at all and a derivative of 0 would look perfect.
 */
double ergo_stats_derivative(ergo_stats_function function, void *user, double *at, size_t a,
                             double step) {
    double centre = at[a], best = NAN, best_doubt = INFINITY, last = NAN;
    for (int k = 0; k < STEPS && step > 0; k++, step *= 0.25) {
        volatile double up = centre + step, down = centre - step; /* the steps after rounding */
        at[a] = up;
        double f_up = function(at, user);
        at[a] = down;
        double f_down = function(at, user);
        double now = (f_up - f_down) / (up - down);
        double refined = (16 * now - last) / 15;
        double doubt = fabs(refined - now);
        if (isfinite(doubt) && doubt < best_doubt) {
            best = refined;
            best_doubt = doubt;
        }
        if (best_doubt <= 1e-10 * fabs(best) || (isfinite(doubt) && doubt > 8 * best_doubt))
            break;
        last = now;
    }
    at[a] = centre;
    return best;
}
