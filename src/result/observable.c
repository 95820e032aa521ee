/* One number of a result: may its error be shown, and what is it to be compared with? */
#include <math.h>

#include "result/result.h"

/* From here on r->error is either an error that may be shown, or absent. */
void ergo_observable_refuse(struct ergo_observable_result *r, enum ergo_trust trust) {
    r->trust = trust;
    if (r->estimate.constant) /* nothing to forget */
        r->estimate.tau = r->estimate.tau_error = NAN;
    if (trust == ERGO_TRUST_FULL)
        return;
    r->estimate.error = r->z = r->reference_z = NAN;
    if (trust == ERGO_TRUST_CONSTANT || trust == ERGO_TRUST_FEW)
        r->estimate.error_binning = NAN;
}

void ergo_observable_refer(const struct ergo_point *point, struct ergo_observable_result *r) {
    double error = 0;
    const double value = ergo_point_published(point, r->observable->name, &error);
    r->reference_error = 0;
    if (!isfinite(value) || !(error > 0))
        return;
    r->published = true;
    r->reference = value;
    r->reference_error = error;
    r->reference_z = (r->estimate.mean - value) / hypot(r->estimate.error, error);
}
