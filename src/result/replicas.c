/*
 * The replicas of a scan point: their mean with its error, and whether they agree. One chain cannot
 * tell that it never left a metastable state; several can. If all sample the same distribution and
 * their quoted errors are right, the variance of their means over the mean of their squared errors
 * is a ratio of two estimates of one variance, and follows the F distribution. The errors are
 * pooled, because a chain without a rare event quotes too small an error and a chain with one too
 * large an error. Replicas that are samples of a disorder differ, and are not compared: each counts
 * once, and their scatter is the error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

/* The probability of a false warning in a whole run, over all points and observables. */
static const double false_alarms = 1e-3;
/* Quoted errors are known to about a fifth: a smaller ratio of variances is no disagreement. */
static const double least_quotient = 1.5;

enum {
    SCATTER_JUDGES = 20,  /* chains from which on their scatter counts where it is larger */
    SCATTER_TAU = 20,     /* autocorrelation times that each of them has to have */
    CONSTANT_LEAST = 100, /* a series that never changed in this many samples has variance 0 */
    DEGREES_MOST = 1000000,
    APART_LEAST = 5, /* least replicas among which outliers can be named */
    APART_SIGMA = 6,
};

/* Has the chain an error that can be used? (0 if it never changed itself; not where the energy, or
 * what stands for it, never changed.) */
static bool is_usable(const struct ergo_observable_result *r) {
    return r->trust == ERGO_TRUST_FULL || (r->trust == ERGO_TRUST_CONSTANT && !r->because &&
                                           r->estimate.samples >= CONSTANT_LEAST);
}

static double error_of(const struct ergo_observable_result *r) {
    return r->trust == ERGO_TRUST_FULL ? r->estimate.error : 0;
}

/* Degrees of freedom of a chain's variance. It is proportional to tau, so they follow from tau's
 * uncertainty. */
static double degrees(const struct ergo_observable_result *r) {
    const struct ergo_estimate *e = &r->estimate;
    if (r->observable->from_curve)
        return fmin((double)e->samples, 0.5 * ERGO_CURVE_BINS) - 1;
    const double relative = e->tau_error / e->tau;
    return relative > 0 ? fmin(fmax(2 / (relative * relative), 4), DEGREES_MOST) : DEGREES_MOST;
}

bool ergo_observable_forgot_start(const struct ergo_observable_result *r) {
    return r->trust == ERGO_TRUST_FULL || r->trust == ERGO_TRUST_FEW ||
           (r->trust == ERGO_TRUST_SHORT &&
            (double)r->estimate.samples >= SCATTER_TAU * r->estimate.tau);
}

/* The replicas' numbers of one observable. */
struct sums {
    size_t n, n_usable, n_full, n_tau;
    double mean, variance; /* of the means */
    double usable_mean, usable_variance, squares, degrees;
    double tau, tau_square;
    uint64_t samples;
    double drift; /* of all together */
    bool finite;
    size_t lost;           /* chains whose means are not of equilibrium */
    enum ergo_trust worst; /* of those that are not trusted, the first */
};

static struct sums sum_up(const struct ergo_member_result *from, size_t count, size_t o) {
    struct sums s = {.finite = true};
    for (size_t k = 0; k < count; k++) {
        const struct ergo_observable_result *r = &from[k].observables[o];
        if (r->trust == ERGO_TRUST_NONE)
            continue;
        s.n++;
        s.finite = s.finite && isfinite(r->estimate.mean);
        s.lost +=
            !ergo_chain_forgot_start(&from[k]) || !(r->because || ergo_observable_forgot_start(r));
        s.drift += r->drift;
        s.mean += (r->estimate.mean - s.mean) / (double)s.n;
        s.samples += r->estimate.samples;
        if (r->estimate.tau > 0) {
            s.n_tau++;
            s.tau += r->estimate.tau;
            s.tau_square += r->estimate.tau_error * r->estimate.tau_error;
        }
        if (r->trust == ERGO_TRUST_FULL)
            s.n_full++;
        else if (!s.worst)
            s.worst = r->trust;
        if (!is_usable(r))
            continue;
        s.n_usable++;
        s.usable_mean += (r->estimate.mean - s.usable_mean) / (double)s.n_usable;
        s.squares += error_of(r) * error_of(r);
        s.degrees += degrees(r);
    }
    s.drift /= sqrt((double)(s.n ? s.n : 1));
    for (size_t k = 0; k < count; k++) {
        const struct ergo_observable_result *r = &from[k].observables[o];
        if (r->trust == ERGO_TRUST_NONE)
            continue;
        s.variance += pow(r->estimate.mean - s.mean, 2) / (double)(s.n > 1 ? s.n - 1 : 1);
        if (is_usable(r))
            s.usable_variance += pow(r->estimate.mean - s.usable_mean, 2) /
                                 (double)(s.n_usable > 1 ? s.n_usable - 1 : 1);
    }
    return s;
}

static void compare(const struct sums *s, struct ergo_scatter *scatter) {
    const double pooled = s->squares / (double)s->n_usable;
    const double rounding = 1e-13 * fabs(s->usable_mean);
    if (s->n_usable < 2)
        return;
    scatter->dof = s->n_usable - 1;
    const double quotient = s->usable_variance <= rounding * rounding ? 0
                            : pooled > 0                              ? s->usable_variance / pooled
                                                                      : INFINITY;
    scatter->chi2 = quotient * (double)scatter->dof;
    scatter->tail = quotient < least_quotient
                        ? 1
                        : ergo_stats_f_tail(quotient, (double)scatter->dof, s->degrees);
}

/* ---- which are apart ------------------------------------------------------------------------- */

static double median(double *x, size_t n) {
    ergo_stats_sort(x, n);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/*
 * Marks replicas whose mean lies far from the median, and returns how many. None are marked if
 * those are half of all, or if there are few replicas. The unit of distance is the standard
 * deviation that belongs to this median deviation, or a typical chain's error, whichever is larger.
 * Chains without an error of their own count too: a chain that leaves a striped state on its way is
 * too short by itself. room: [replicas].
 */
static size_t mark_apart(const struct ergo_member_result *from, size_t count, size_t o,
                         double *room, bool *apart) {
    size_t n = 0, n_usable = 0, far = 0;
    double squares = 0;
    for (size_t k = 0; k < count; k++) {
        const struct ergo_observable_result *r = &from[k].observables[o];
        if (r->trust != ERGO_TRUST_NONE)
            room[n++] = r->estimate.mean;
        if (is_usable(r)) {
            squares += error_of(r) * error_of(r);
            n_usable++;
        }
    }
    if (n < APART_LEAST)
        return 0;
    const double centre = median(room, n);
    for (size_t k = 0; k < n; k++)
        room[k] = fabs(room[k] - centre);
    const double typical = n_usable ? sqrt(squares / (double)n_usable) : 0;
    const double sigma = fmax(1.4826 * median(room, n), typical);
    const double limit = APART_SIGMA * (1 + 10 / (double)n) * sigma; /* with few replicas sigma
                                                                      * is known poorly */
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < count; k++) {
            const struct ergo_observable_result *r = &from[k].observables[o];
            if (r->trust == ERGO_TRUST_NONE || !(fabs(r->estimate.mean - centre) > limit))
                continue;
            if (pass == 0)
                far++;
            else if (2 * far < n && sigma > 0)
                apart[k] = true;
        }
    return 2 * far < n && sigma > 0 ? far : 0;
}

/* ---- means ----------------------------------------------------------------------------------- */

/* A chain of ten may be on its way: its mean then scatters as much as it is off. */
static bool scatters(const struct sums *s) {
    return s->n >= ERGO_SCATTER_LEAST && 10 * s->lost <= s->n;
}

/* n_apart: replicas that are far from the others. */
static enum ergo_trust trust_of(const struct sums *s, const struct ergo_scatter *scatter,
                                double level, size_t n_apart, bool disordered) {
    if (!s->n)
        return ERGO_TRUST_NONE;
    if (!s->finite)
        return ERGO_TRUST_UNDEFINED;
    if (disordered)
        return s->n < ERGO_SCATTER_LEAST ? ERGO_TRUST_FEW
               : scatters(s)             ? ERGO_TRUST_FULL
                                         : s->worst;
    if (scatter->dof && scatter->tail < level)
        return ERGO_TRUST_REPLICAS;
    if (s->n_full == s->n || (scatters(s) && !n_apart))
        return ERGO_TRUST_FULL;
    return n_apart && s->n >= ERGO_SCATTER_LEAST ? ERGO_TRUST_REPLICAS : s->worst;
}

/* Some observables cannot average out in one chain by their physics (a magnetisation that keeps its
 * sign). Where the replicas show this, no chain's own error can be trusted, and nothing is wrong.
 */
static void refute(struct ergo_member_result *from, size_t count, size_t o) {
    for (size_t k = 0; k < count; k++) {
        struct ergo_observable_result *r = &from[k].observables[o];
        if (!is_usable(r))
            continue;
        ergo_observable_refuse(r, ERGO_TRUST_SLOW);
    }
}

/* Scratch memory for the replicas of a point, sized for the point with the most. */
struct room {
    double *numbers;
    bool *apart, *any; /* replicas that are outliers in one observable; in any that is shown */
};

static void merge(const struct ergo_result *result, struct ergo_mean_result *mean, size_t o,
                  double level, const struct room *room) {
    struct ergo_member_result *from = &result->members[mean->first];
    if (ergo_fact_of_replicas(from, mean->replicas, o, mean))
        return;
    const struct ergo_observable *observable = from->observables[o].observable;
    /* replicas are not of one distribution: of other disorder, or of moves that each has tuned */
    const bool disordered =
        ergo_point_samples_disorder(from->point) || ergo_observable_tuned(observable, from->point);
    const bool slow = observable->slow && observable->slow(from->point);
    struct sums s = sum_up(from, mean->replicas, o);
    struct ergo_observable_result *r = &mean->observables[o];
    struct ergo_scatter *scatter = &mean->scatters[o];
    *scatter = (struct ergo_scatter){.error_scatter = NAN, .error_chains = NAN, .chi2 = NAN};
    if (s.finite && !disordered)
        compare(&s, scatter);
    scatter->lost = s.lost;
    if (scatter->dof && scatter->tail < level && slow) {
        refute(from, mean->replicas, o);
        s = sum_up(from, mean->replicas, o);
        scatter->dof = 0;
        scatter->chi2 = NAN;
    }
    *r = from->observables[o];
    r->because = NULL;
    r->drift = s.drift;
    r->one_way = false;
    r->z = NAN;
    r->reference_error = 0; /* in a calibration each chain was compared by itself */
    r->estimate =
        (struct ergo_estimate){.mean = s.n && s.finite ? s.mean : NAN,
                               .error_binning = NAN,
                               .tau = s.n_tau ? s.tau / (double)s.n_tau : NAN,
                               .tau_error = s.n_tau ? sqrt(s.tau_square) / (double)s.n_tau : NAN,
                               .samples = s.samples};
    for (size_t k = 0; k < mean->replicas; k++) /* one replica may lack a value */
        if (!isnan(from[k].observables[o].exact))
            r->exact = from[k].observables[o].exact;
    if (s.n > 1 && s.finite)
        scatter->error_scatter = sqrt(s.variance / (double)s.n);
    if (s.n && s.n_full == s.n)
        scatter->error_chains = sqrt(s.squares) / (double)s.n;
    /* from few chains the scatter is known to less than their own errors are */
    r->estimate.error = s.n_full < s.n || disordered ? scatter->error_scatter
                        : s.n < SCATTER_JUDGES
                            ? scatter->error_chains
                            : fmax(scatter->error_chains, scatter->error_scatter);
    memset(room->apart, 0, mean->replicas * sizeof *room->apart);
    const size_t n_apart = s.finite && !disordered && !slow
                               ? mark_apart(from, mean->replicas, o, room->numbers, room->apart)
                               : 0;
    ergo_observable_refuse(r, trust_of(&s, scatter, level, n_apart, disordered));
    if (r->trust == ERGO_TRUST_REPLICAS && ergo_observable_shown(observable, from->point))
        for (size_t k = 0; k < mean->replicas; k++)
            room->any[k] |= room->apart[k];
    if (r->estimate.error > 0)
        r->z = (r->estimate.mean - r->exact) / r->estimate.error;
    else if (r->estimate.error == 0)
        r->z = from->observables[o].z;
    ergo_observable_refer(from->point, r);
}

/* ---- all points ------------------------------------------------------------------------------ */

static size_t replicas_at(const struct ergo_result *result, size_t first) {
    size_t count = 1;
    while (first + count < result->n_members && result->members[first + count].point->scan_index ==
                                                    result->members[first].point->scan_index)
        count++;
    return count;
}

/* Means, then observables, scatters and numbers of replicas, in one piece. */
static bool allocate(struct ergo_result *result) {
    const size_t n_observables = result->job->model->n_observables;
    size_t n = 0, n_replicas = 0;
    for (size_t m = 0; m < result->n_members; m += replicas_at(result, m))
        if (replicas_at(result, m) > 1) {
            n++;
            n_replicas += replicas_at(result, m);
        }
    result->n_means = n;
    if (!n)
        return true;
    result->means = calloc(
        1, n * (sizeof *result->means + n_observables * (sizeof(struct ergo_observable_result) +
                                                         sizeof(struct ergo_scatter))) +
               n_replicas * sizeof(uint32_t));
    if (!result->means)
        return false;
    struct ergo_observable_result *observables =
        (struct ergo_observable_result *)(void *)(result->means + n);
    struct ergo_scatter *scatters =
        (struct ergo_scatter *)(void *)(observables + n * n_observables);
    uint32_t *numbers = (uint32_t *)(void *)(scatters + n * n_observables);
    struct ergo_mean_result *mean = result->means;
    for (size_t m = 0; m < result->n_members; m += replicas_at(result, m)) {
        if (replicas_at(result, m) < 2)
            continue;
        *mean = (struct ergo_mean_result){.first = m,
                                          .replicas = replicas_at(result, m),
                                          .observables = observables,
                                          .scatters = scatters,
                                          .apart = numbers};
        observables += n_observables;
        scatters += n_observables;
        numbers += mean++->replicas;
    }
    return true;
}

/* One verdict for a point, too: where one observable shows that chains are in different states, or
 * all together still go somewhere, no other mean has an error. */
static void judge(const struct ergo_result *result, struct ergo_mean_result *mean) {
    const struct ergo_model *model = result->job->model;
    const struct ergo_point *point = result->members[mean->first].point;
    const double level = ergo_result_drift_level(result);
    const struct ergo_observable_result *why = NULL;
    if (ergo_point_samples_disorder(point))
        return;
    for (size_t o = 0; o < model->n_observables; o++) {
        struct ergo_observable_result *r = &mean->observables[o];
        if (!ergo_observable_tells(&model->observables[o], point))
            continue;
        if (r->trust == ERGO_TRUST_FULL && fabs(r->drift) > level)
            ergo_observable_refuse(r, ERGO_TRUST_DRIFT);
        if (r->trust == ERGO_TRUST_REPLICAS || (r->trust == ERGO_TRUST_DRIFT && !why))
            why = why && why->trust == ERGO_TRUST_REPLICAS ? why : r;
    }
    mean->because = why ? why->observable : NULL;
    for (size_t o = 0; o < model->n_observables && why; o++)
        ergo_observable_share(&mean->observables[o], why);
}

static void merge_all(const struct ergo_result *result, struct ergo_mean_result *mean, double level,
                      const struct room *room) {
    const struct ergo_member_result *from = &result->members[mean->first];
    memset(room->any, 0, mean->replicas * sizeof *room->any);
    for (size_t k = 0; k < mean->replicas; k++)
        mean->measured += ergo_member_measured(&from[k]);
    for (size_t o = 0; o < result->job->model->n_observables; o++)
        merge(result, mean, o, level, room);
    judge(result, mean);
    for (size_t k = 0; k < mean->replicas; k++)
        if (room->any[k])
            mean->apart[mean->n_apart++] = from[k].point->replica;
}

enum ergo_status ergo_result_means(struct ergo_context *ctx, struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    const size_t n = result->n_members + 1;
    struct room room = {calloc(n, sizeof(double)), calloc(n, sizeof(bool)),
                        calloc(n, sizeof(bool))};
    size_t looks = 0;
    const bool ok = allocate(result) && room.numbers && room.apart && room.any;
    for (size_t i = 0; i < result->n_means && ok; i++)
        for (size_t o = 0; o < model->n_observables; o++)
            looks += ergo_observable_may_show(&model->observables[o],
                                              result->members[result->means[i].first].point);
    for (size_t i = 0; i < result->n_means && ok; i++)
        merge_all(result, &result->means[i], false_alarms / (double)(looks ? looks : 1), &room);
    free(room.numbers);
    free(room.apart);
    free(room.any);
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for means over replicas");
}
