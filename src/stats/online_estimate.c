/* Estimates from a state: of a series, and of a function of several. */
#include "stats/online_state.h"

#include <math.h>
#include <string.h>

enum { LAGS = ERGO_STATS_LAGS, WHOLE = ERGO_STATS_WHOLE, LEVELS = 64 };

/* ---- short series, which are there as they are ------------------------------------------------
 */

static const double *samples_of(const struct ergo_online *o, size_t s) {
    return o->waiting + s * o->capacity;
}

/* Deviations from their mean; in units of the largest one, so that no square over- or underflows.
 */
static void estimate_short(const double *x, size_t n, double window,
                           struct ergo_estimate *estimate) {
    struct ergo_levels levels = {.n = n, .window = window};
    double d[WHOLE], scale = 0;
    bool constant = true, finite = true;
    for (size_t i = 0; i < n; i++) {
        finite = finite && isfinite(x[i]);
        constant = constant && x[i] == x[0];
    }
    ergo_stats_estimate_none(n, estimate);
    if (n == 0 || !finite)
        return;
    estimate->mean = ergo_stats_mean(x, n);
    if (n < 4 || !isfinite(estimate->mean))
        return;
    if (constant) {
        ergo_stats_estimate_constant(estimate);
        return;
    }
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(x[i] - estimate->mean));
    if (!isfinite(scale))
        return;
    for (size_t i = 0; i < n; i++)
        d[i] = (x[i] - estimate->mean) / scale;
    levels.top = d;
    ergo_stats_estimate_levels(&levels, scale, estimate);
}

/* ---- sums -------------------------------------------------------------------------------------
 */

static double mean_of(const struct ergo_online *o, size_t s) {
    if (!o->fixed)
        return ergo_stats_mean(samples_of(o, s), (size_t)o->count);
    const struct ergo_online_series *series = ergo_online_series_of(o, s);
    return series->broken > 0 ? NAN : series->origin + series->sum / (double)o->count;
}

/* A sum of tracks, p = sum_a c_a z_a, about its mean. Its covariances are sums of those of the
 * tracks, with these weights; both in units of `scale` and of the tracks' own. */
struct sum {
    size_t n_tracks, n_linear;
    size_t tracks[ERGO_STATS_COLUMNS_MAX * (ERGO_STATS_COLUMNS_MAX + 1) / 2];
    double weights[ERGO_STATS_COLUMNS_MAX * (ERGO_STATS_COLUMNS_MAX + 1) / 2];
    double linear[ERGO_STATS_COLUMNS_MAX]; /* of the first n_linear tracks: p itself */
    double scale;                          /* 0: constant */
};

/* Adds the covariances of a track, to be multiplied by `weight`, for the first n_lags lags. */
static void add_covariances(const struct ergo_online *o, size_t l, size_t track, double weight,
                            double *gamma, size_t n_lags) {
    const struct ergo_online_level *all = ergo_online_level_of(o, 0, track);
    const struct ergo_online_level *level = ergo_online_level_of(o, l, track);
    const double mean = all->sum / (double)o->count;
    double ends = 0; /* values without a partner, before and behind */
    for (size_t lag = 0; lag < n_lags; lag++) {
        const double pairs = (double)((o->count >> l) - lag);
        const double products =
            level->lagged[lag] - mean * (2 * level->sum - ends) + pairs * mean * mean;
        gamma[lag] += weight * products / pairs;
        ends += lag < LAGS ? level->head[lag] + level->tail[LAGS - 1 - lag] : 0;
    }
}

static void sum_covariances(const struct ergo_online *o, const struct sum *p, size_t l,
                            double *gamma, size_t n_lags) {
    memset(gamma, 0, n_lags * sizeof *gamma);
    for (size_t t = 0; t < p->n_tracks; t++)
        add_covariances(o, l, p->tracks[t], p->weights[t], gamma, n_lags);
    gamma[0] = fmax(gamma[0], 0); /* rounding */
}

/* Sum of squares about the level's own mean. */
static double sum_squares(const struct ergo_online *o, const struct sum *p, size_t l) {
    double sum = 0;
    for (size_t t = 0; t < p->n_tracks; t++) {
        const struct ergo_online_level *level = ergo_online_level_of(o, l, p->tracks[t]);
        sum +=
            p->weights[t] * (level->lagged[0] - level->sum * level->sum / (double)(o->count >> l));
    }
    return fmax(sum, 0);
}

static void of_track(const struct ergo_online *o, size_t track, struct sum *p) {
    p->n_tracks = p->n_linear = 1;
    p->tracks[0] = track;
    p->weights[0] = p->linear[0] = 1;
    p->scale = ergo_online_units(o)[track];
}

/* sum_a g_a y_a of a group. y_a = z_a + sum_{b < a} k_ab z_b. With u = z / size the covariance of
 * u_a and u_b is half of what that of u_a + u_b has more than both of its own. */
static void of_group(const struct ergo_online *o, const struct ergo_online_group *group,
                     const double *gradient, struct sum *p) {
    const double *sizes = ergo_online_group_of(o, group), *k = sizes + group->n;
    const double *units = ergo_online_units(o);
    double c[ERGO_STATS_COLUMNS_MAX];
    const size_t n = group->n;
    memcpy(c, gradient, n * sizeof *c);
    for (size_t a = n; a-- > 0;)
        for (size_t b = 0; b < a; b++)
            c[b] += k[ergo_online_pair(a, b)] * gradient[a];
    p->scale = 0;
    p->n_tracks = p->n_linear = n;
    for (size_t a = 0; a < n; a++)
        p->scale = fmax(p->scale, fabs(c[a]) * units[group->tracks[a]]);
    for (size_t a = 0; a < n && p->scale > 0; a++) {
        p->tracks[a] = group->tracks[a];
        p->linear[a] = c[a] * units[group->tracks[a]] / p->scale;
        p->weights[a] = p->linear[a] * p->linear[a];
        for (size_t b = 0; b < a; b++) {
            const size_t pair = group->pairs + ergo_online_pair(a, b), t = p->n_tracks++;
            const double of_a = c[a] * sizes[a] / p->scale, of_b = c[b] * sizes[b] / p->scale;
            const double u_a = units[group->tracks[a]] / sizes[a];
            const double u_b = units[group->tracks[b]] / sizes[b];
            p->tracks[t] = pair;
            p->weights[t] = (of_a * units[pair]) * (of_b * units[pair]);
            p->weights[a] -= (of_a * u_a) * (of_b * u_a);
            p->weights[b] -= (of_a * u_b) * (of_b * u_b);
        }
    }
}

/* All but the mean. */
static void estimate_sum(const struct ergo_online *o, const struct sum *p,
                         struct ergo_estimate *estimate) {
    double gamma[LEVELS * (LAGS + 1)], squares[LEVELS], top[WHOLE];
    const size_t m = (size_t)(o->count >> o->closed);
    gamma[0] = 0;
    if (p->scale > 0)
        sum_covariances(o, p, 0, gamma, 1);
    if (!(gamma[0] > 0)) {
        ergo_stats_estimate_constant(estimate);
        return;
    }
    for (size_t l = 0; l < o->closed; l++) {
        squares[l] = sum_squares(o, p, l);
        sum_covariances(o, p, l, gamma + l * (LAGS + 1), LAGS + 1);
    }
    memset(top, 0, sizeof top);
    for (size_t a = 0; a < p->n_linear; a++) {
        const double mean = ergo_online_level_of(o, 0, p->tracks[a])->sum / (double)o->count;
        for (size_t i = 0; i < m; i++)
            top[i] += p->linear[a] * (o->top[p->tracks[a] * WHOLE + i] - mean);
    }
    const struct ergo_levels levels = {(size_t)o->count, o->closed, o->window, gamma, squares, top};
    ergo_stats_estimate_levels(&levels, p->scale, estimate);
}

/* ---- a series ---------------------------------------------------------------------------------
 */

/* A series as a sum of tracks: its own, or those of its group. */
static void of_series(const struct ergo_online *o, size_t s, struct sum *p) {
    const struct ergo_online_plan *plan = o->plan;
    double gradient[ERGO_STATS_COLUMNS_MAX];
    if (!plan->own || plan->own[s] != ERGO_ONLINE_NONE) {
        of_track(o, plan->own ? plan->own[s] : s, p);
        return;
    }
    const struct ergo_online_group *group = &plan->groups[plan->home[s]];
    for (size_t a = 0; a < group->n; a++)
        gradient[a] = group->series[a] == s ? 1 : 0;
    of_group(o, group, gradient, p);
}

void ergo_online_estimate(const struct ergo_online *o, size_t s, struct ergo_estimate *estimate) {
    struct sum p;
    if (!o->fixed) {
        estimate_short(o->waiting ? samples_of(o, s) : NULL, (size_t)o->count, o->window, estimate);
        return;
    }
    ergo_stats_estimate_none((size_t)o->count, estimate);
    estimate->mean = mean_of(o, s);
    if (!isfinite(estimate->mean))
        return;
    if (!(ergo_online_series_of(o, s)->varies > 0)) {
        ergo_stats_estimate_constant(estimate);
        return;
    }
    of_series(o, s, &p);
    estimate_sum(o, &p, estimate);
}

double ergo_online_drift(const struct ergo_online *o, size_t s) {
    double means[ERGO_ONLINE_BINS];
    if (!o->fixed)
        return o->waiting ? ergo_stats_drift(samples_of(o, s), (size_t)o->count) : 0;
    const uint64_t length = ergo_online_bin(o->count);
    const size_t full = (size_t)(o->count / length);
    for (size_t b = 0; b < full; b++)
        means[b] = ergo_online_bins_of(o, s)[b] / (double)length;
    return ergo_stats_drift(means, full);
}

bool ergo_online_one_way(const struct ergo_online *o, size_t s, double *first, double *last) {
    double means[ERGO_ONLINE_BINS];
    if (!o->fixed)
        return o->waiting && ergo_stats_one_way(samples_of(o, s), (size_t)o->count, first, last);
    const uint64_t length = ergo_online_bin(o->count);
    const size_t full = (size_t)(o->count / length);
    for (size_t b = 0; b < full; b++)
        means[b] =
            ergo_online_series_of(o, s)->origin + ergo_online_bins_of(o, s)[b] / (double)length;
    return ergo_stats_one_way(means, full, first, last);
}

bool ergo_online_autocorrelation(const struct ergo_online *o, size_t s, size_t level, double *rho,
                                 size_t n_lags) {
    struct sum p;
    if (!o->fixed)
        return level == 0 && o->waiting &&
               ergo_stats_autocorrelation(samples_of(o, s), (size_t)o->count, rho, n_lags);
    if (level >= o->closed || n_lags > LAGS + 1)
        return false;
    of_series(o, s, &p);
    if (!(p.scale > 0))
        return false;
    sum_covariances(o, &p, level, rho, n_lags);
    const double variance = rho[0];
    for (size_t lag = 0; lag < n_lags; lag++)
        rho[lag] /= variance;
    return variance > 0 && isfinite(rho[n_lags - 1]);
}

/* ---- a function of means ----------------------------------------------------------------------
 */

enum {
    BLOCKS_MAX = 256,
    BLOCKS_MIN = 8
};                                    /* with 256 the jackknife's own noise is 1/16 of a bias
                                       * that is itself small */
static const double BLOCK_TAU = 20.0; /* block length: bias is found to about tau/length = 5% */

struct call {
    const struct ergo_online *online;
    const size_t *series;
    size_t n;
    ergo_stats_function function;
    void *user;
    double means[ERGO_STATS_COLUMNS_MAX], value;
};

/* Sum of deviations from the mean over bins begin to end, of `length` samples. */
static double bins_sum(const struct call *call, size_t a, size_t begin, size_t end, double length) {
    const struct ergo_online *o = call->online;
    double sum = 0;
    for (size_t b = begin; b < end; b++)
        sum += o->fixed ? ergo_online_bins_of(o, call->series[a])[b]
                        : samples_of(o, call->series[a])[b] - call->means[a];
    if (!o->fixed)
        return sum;
    const struct ergo_online_series *series = ergo_online_series_of(o, call->series[a]);
    return sum - (double)(end - begin) * length * (series->sum / (double)o->count);
}

/* The longest autocorrelation time of the arguments. */
static double longest_tau(const struct call *call) {
    double longest = 0;
    for (size_t a = 0; a < call->n; a++) {
        struct ergo_estimate e;
        ergo_online_estimate(call->online, call->series[a], &e);
        longest = fmax(longest, e.tau); /* not a number: of none */
    }
    return longest;
}

/* Samples of a block. Where an argument remembers for longer than the projected series (a sum over
 * a window of the past beside what it is a covariance with), blocks are longer than its memory, if
 * enough are left: shorter ones share it, and know only a part of the bias. */
static double block_length(const struct call *call, double tau) {
    const double own = ceil(BLOCK_TAU * tau), n = (double)call->online->count;
    const double most = fmax(own, floor(n / (2 * BLOCKS_MIN)));
    return fmin(fmax(own, ceil(BLOCK_TAU / 2 * longest_tau(call))), most);
}

/* f with its bias of order 1/n removed: B f - (B - 1) mean of f over all but one block. Blocks are
 * bins together; the last one has the rest, too. */
static double jackknife(const struct call *call, double tau) {
    const uint64_t length = call->online->fixed ? ergo_online_bin(call->online->count) : 1;
    const double n = (double)call->online->count, wanted = block_length(call, tau);
    const size_t bins = (size_t)(call->online->count / length);
    const size_t together =
        (size_t)fmax(fmin(ceil(wanted / (double)length), n), ceil((double)bins / BLOCKS_MAX));
    const size_t blocks = together ? bins / together : 0;
    if (!(tau >= 0) || blocks < BLOCKS_MIN)
        return call->value;
    /* Sum of f_without_block - f: differences keep the digits; weighted so that blocks of unequal
     * length leave a linear f as it is. */
    double shift = 0, others[ERGO_STATS_COLUMNS_MAX] = {0};
    for (size_t b = 0; b < blocks; b++) {
        const bool last = b + 1 == blocks;
        double without[ERGO_STATS_COLUMNS_MAX], count = (double)together * (double)length;
        if (last)
            count = n - count * (double)b;
        for (size_t a = 0; a < call->n; a++) {
            const double sum =
                last ? -others[a]
                     : bins_sum(call, a, b * together, (b + 1) * together, (double)length);
            others[a] += sum;
            without[a] = call->means[a] - sum / (n - count);
        }
        shift += (call->function(without, call->user) - call->value) * (n - count) / n;
    }
    const double corrected = call->value - shift;
    return isfinite(corrected) ? corrected : call->value;
}

/* One standard error of series a, without correlations: the size of a step. */
static double step_of(const struct call *call, size_t a) {
    const struct ergo_online *o = call->online;
    const double n = (double)o->count;
    struct sum p;
    double squares = 0;
    if (o->fixed) {
        of_series(o, call->series[a], &p);
        if (p.scale > 0)
            sum_covariances(o, &p, 0, &squares, 1);
        return p.scale > 0 ? p.scale * sqrt(squares / n) : 0;
    }
    for (size_t i = 0; i < o->count; i++) {
        const double d = samples_of(o, call->series[a])[i] - call->means[a];
        squares += d * d;
    }
    return sqrt(squares) / n;
}

static void estimate_projected(const struct call *call, const double *gradient,
                               struct ergo_estimate *estimate) {
    const struct ergo_online *o = call->online;
    double projected[WHOLE], of_all[ERGO_STATS_COLUMNS_MAX] = {0};
    struct sum p;
    if (o->fixed) {
        const struct ergo_online_group *group = ergo_online_find(o->plan, call->series, call->n);
        for (size_t a = 0; group && a < group->n; a++)
            for (size_t i = 0; i < call->n; i++)
                of_all[a] += group->series[a] == call->series[i] ? gradient[i] : 0;
        if (group) {
            of_group(o, group, of_all, &p);
        } else {
            of_series(o, call->series[0], &p);
            p.scale *= fabs(gradient[0]);
        }
        estimate_sum(o, &p, estimate);
        return;
    }
    for (size_t i = 0; i < o->count; i++) {
        projected[i] = 0;
        for (size_t a = 0; a < call->n; a++)
            projected[i] += gradient[a] * (samples_of(o, call->series[a])[i] - call->means[a]);
    }
    estimate_short(projected, (size_t)o->count, o->window, estimate);
}

void ergo_online_derived(const struct ergo_online *o, const size_t *series, size_t n,
                         ergo_stats_function function, void *user, struct ergo_estimate *estimate) {
    struct call call = {.online = o, .series = series, .n = n, .function = function, .user = user};
    double gradient[ERGO_STATS_COLUMNS_MAX] = {0};
    struct ergo_estimate bad;
    ergo_stats_estimate_none((size_t)o->count, estimate);
    if (!o->count || n == 0 || n > ERGO_STATS_COLUMNS_MAX)
        return;
    for (size_t a = 0; a < n; a++)
        call.means[a] = mean_of(o, series[a]);
    call.value = function(call.means, user);
    if (!isfinite(call.value))
        return;
    estimate->mean = call.value;
    bad = *estimate;
    if (o->count < 4)
        return;
    for (size_t a = 0; a < n; a++) {
        const double step = step_of(&call, a);
        gradient[a] = step > 0 ? ergo_stats_derivative(function, user, call.means, a, step) : 0;
    }
    estimate_projected(&call, gradient, estimate);
    if (isnan(estimate->error))
        *estimate = bad;
    else
        estimate->mean = jackknife(&call, estimate->tau);
}
