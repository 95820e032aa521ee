/* Estimates of functions of means, from series that are there as arrays. */
#include "oracle/derived.h"

#include "stats/covariance.h"
#include "stats/online.h"

void ergo_stats_derived(const double *const *columns, size_t n_columns, size_t n,
                        ergo_stats_function function, void *user, struct ergo_estimate *estimate) {
    enum { AT_ONCE = 256 };
    double rows[AT_ONCE * ERGO_STATS_COLUMNS_MAX];
    size_t all[1][ERGO_STATS_COLUMNS_MAX];
    struct ergo_online_plan plan;
    ergo_stats_estimate_none(n, estimate);
    if (n == 0 || n_columns == 0 || n_columns > ERGO_STATS_COLUMNS_MAX)
        return;
    for (size_t a = 0; a < n_columns; a++)
        all[0][a] = a;
    bool ok = ergo_online_plan(&plan, n_columns, 1, (const size_t(*)[ERGO_STATS_COLUMNS_MAX])all,
                               &n_columns);
    struct ergo_online online = {.plan = &plan};
    for (size_t i = 0; i < n && ok;) {
        const size_t count = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (size_t k = 0; k < count; k++, i++)
            for (size_t a = 0; a < n_columns; a++)
                rows[k * n_columns + a] = columns[a][i];
        ok = ergo_online_add(&online, rows, count);
    }
    if (ok) {
        ergo_online_finish(&online);
        ergo_online_derived(&online, all[0], n_columns, function, user, estimate);
    }
    ergo_online_free(&online);
    ergo_online_plan_free(&plan);
}
