/* Facts of chains, which have no error: what is told of one, and of the replicas of a point. */
#include <math.h>

#include "result/result.h"

void ergo_fact_of_chain(struct ergo_observable_result *r) {
    const bool known = isfinite(r->estimate.mean);
    r->estimate = (struct ergo_estimate){.mean = r->estimate.mean,
                                         .error = known ? 0 : NAN,
                                         .error_binning = NAN,
                                         .tau = NAN,
                                         .tau_error = NAN,
                                         .samples = r->estimate.samples};
    r->trust = known ? ERGO_TRUST_FULL : ERGO_TRUST_UNDEFINED;
}

/* Chains that have a value: how many, their mean and its error, the least and the most. */
struct values {
    size_t n;
    double mean, error, least, most, squares; /* squares: the sum of all */
    uint64_t samples;
};

static struct values values_of(const struct ergo_member_result *from, size_t count, size_t o) {
    struct values v = {.least = INFINITY, .most = -INFINITY};
    double squares = 0;
    for (size_t k = 0; k < count; k++) {
        const struct ergo_estimate *e = &from[k].observables[o].estimate;
        v.samples += e->samples;
        if (!isfinite(e->mean))
            continue;
        const double off = e->mean - v.mean;
        v.mean += off / (double)++v.n;
        squares += off * (e->mean - v.mean);
        v.squares += e->mean * e->mean;
        v.least = fmin(v.least, e->mean);
        v.most = fmax(v.most, e->mean);
    }
    v.error = v.n > 1 ? sqrt(squares / (double)(v.n - 1) / (double)v.n) : NAN;
    return v;
}

bool ergo_fact_of_replicas(const struct ergo_member_result *from, size_t count, size_t o,
                           struct ergo_mean_result *mean) {
    const struct ergo_observable *observable = from->observables[o].observable;
    struct ergo_observable_result *r = &mean->observables[o];
    const struct values v = values_of(from, count, o);
    const double n = (double)count, share = (double)v.n / n;
    double value = NAN, error = 0;
    switch (observable->fact) {
    case ERGO_FACT_NONE:
        return false;
    case ERGO_FACT_LEAST:
        value = v.n ? v.least : NAN;
        break;
    case ERGO_FACT_MOST:
        value = v.n ? v.most : NAN;
        break;
    case ERGO_FACT_MEAN:
        value = v.n ? v.mean : NAN;
        error = v.error;
        break;
    case ERGO_FACT_ERROR: /* what each has scatters; what they have together, by 1/n */
        value = v.n ? sqrt(v.squares) / (double)v.n : NAN;
        error = v.error / sqrt(fmax((double)v.n, 1));
        break;
    case ERGO_FACT_SHARE: { /* the binomial's error */
        const double off = sqrt(share * (1 - share) / n);
        value = v.n ? observable->of_share(from->point, share) : NAN;
        error = 0.5 * fabs(observable->of_share(from->point, fmin(share + off, 1)) -
                           observable->of_share(from->point, fmax(share - off, 0.5 / n)));
        break;
    }
    }
    *r = from->observables[o];
    r->z = NAN;
    r->estimate.mean = value;
    r->estimate.error = isfinite(value) ? error : NAN;
    r->estimate.samples = v.samples;
    r->trust = isfinite(value) ? ERGO_TRUST_FULL : ERGO_TRUST_UNDEFINED;
    mean->scatters[o] =
        (struct ergo_scatter){.error_scatter = v.error, .error_chains = NAN, .chi2 = NAN};
    return true;
}
