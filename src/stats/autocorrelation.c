#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#include "stats/covariance.h"
#include "base/memory.h"

bool ergo_stats_autocorrelation(const double *x, size_t n, double *rho, size_t n_lags) {
    double mean = ergo_stats_mean(x, n);
    double scale = 0;
    bool finite = n > 0 && isfinite(mean);
    for (size_t i = 0; i < n; i++) {
        finite = finite && isfinite(x[i]);
        scale = fmax(scale, fabs(x[i] - mean));
    }
    double *d = finite ? malloc(n * sizeof *d) : NULL;
    if (d == NULL) {
        for (size_t t = 0; t < n_lags; t++)
            rho[t] = NAN;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        d[i] = scale > 0 ? (x[i] - mean) / scale : 0;
    double gamma0 = ergo_stats_covariance(d, n, 0);
    for (size_t t = 0; t < n_lags; t++) {
        if (t == 0)
            rho[t] = 1;
        else
            rho[t] = t < n && gamma0 > 0 ? ergo_stats_covariance(d, n, t) / gamma0 : 0;
    }
    free(d);
    return true;
}
