/* Which errors are trusted, comparison of replicas, and the warnings: from synthetic chains. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

static uint64_t random_state;

static double uniform(void) { /* splitmix64, in (0, 1) */
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* AR(1): tau = (1 + phi) / (1 - phi) / 2, variance 1. */
static void fill(double *x, size_t n, double phi, double mean) {
    double now = normal();
    for (size_t i = 0; i < n; i++) {
        x[i] = mean + now;
        now = phi * now + sqrt(1 - phi * phi) * normal();
    }
}

/* ---- a result of one scan point -------------------------------------------------------------- */

enum { REPLICAS_MAX = 64, SAMPLES_MAX = 20000 };

static double sample(const struct ergo_point *point, const double *columns) {
    (void)point;
    return columns[0];
}
static double from_curve(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point, (void)size;
    return mean[0];
}
static const char *slow(const struct ergo_point *point) {
    (void)point;
    return "it keeps its sign";
}
static const char *remedy(const struct ergo_point *point) {
    (void)point;
    return "start from \"up\"";
}
static double published(const struct ergo_point *point, const char *name, double *error) {
    (void)point, (void)name;
    *error = 0.3;
    return 1;
}

static struct ergo_observable observable;
static struct ergo_key key = {.pointer = "/run/observables", .type = ERGO_KEY_STRING};
static const struct ergo_key *const keys[] = {&key};
static struct ergo_value all = {.present = true, .text = "all"};
static struct ergo_model model;
static const struct ergo_sampler sampler = {.name = "toy", .step_name = "sweep"};
static struct ergo_job job;
static struct ergo_point points[REPLICAS_MAX];
static struct ergo_member_result members[REPLICAS_MAX];
static struct ergo_observable_result results[REPLICAS_MAX];
static struct ergo_result result;
static struct ergo_context *ctx;

static void clear(void) {
    for (size_t w = 0; w < result.n_warnings; w++)
        free(result.warnings[w]);
    free(result.warnings);
    free(result.means);
    memset(&result, 0, sizeof result);
}

static void begin(size_t replicas) {
    clear();
    observable = (struct ergo_observable){.name = "energy", .unit = "J", .sample = sample};
    model = (struct ergo_model){.observables = &observable, .n_observables = 1};
    job = (struct ergo_job){.sampler = &sampler,
                            .model = &model,
                            .n_keys = 1,
                            .keys = keys,
                            .n_points = replicas,
                            .points = points};
    static struct ergo_parameters parameters = {.observables = "all"};
    for (size_t r = 0; r < replicas; r++) {
        points[r] = (struct ergo_point){.job = &job,
                                        .values = &all,
                                        .parameters = &parameters,
                                        .index = r,
                                        .replica = (uint32_t)r};
        members[r] = (struct ergo_member_result){
            .point = &points[r], .measure_every = 1, .observables = &results[r]};
        results[r] = (struct ergo_observable_result){
            .observable = &observable, .trust = ERGO_TRUST_NONE, .exact = NAN, .z = NAN};
    }
    result.job = &job;
    result.status = "complete";
    result.n_members = replicas;
    result.members = members;
}

static void measure(size_t r, const double *x, size_t n) {
    members[r].n_samples = n;
    ergo_stats_estimate(x, n, &results[r].estimate);
    ergo_observable_refuse(
        &results[r], ergo_trust_of(&results[r].estimate, observable.independent, results[r].exact));
}

static const struct ergo_observable_result *finish(void) {
    assert_int_equal(ergo_result_means(ctx, &result), ERGO_OK);
    assert_int_equal(ergo_result_warn(ctx, &result), ERGO_OK);
    return result.n_means ? &result.means[0].observables[0] : NULL;
}

static double series[SAMPLES_MAX];

/* All replicas with one mean but that of `odd` shifted. */
static void chains(size_t replicas, size_t n, double phi, size_t odd, double shift) {
    begin(replicas);
    for (size_t r = 0; r < replicas; r++) {
        fill(series, n, phi, r == odd ? shift : 0);
        measure(r, series, n);
    }
}

static bool said(const char *what) {
    for (size_t w = 0; w < result.n_warnings; w++)
        if (strstr(result.warnings[w], what))
            return true;
    return false;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Tables of the F distribution (Abramowitz and Stegun 26.9), and its limits. */
static void the_tail_of_f(void **state) {
    static const double known[][4] = {{4.965, 1, 10, 0.05},
                                      {4.103, 5, 20, 0.01},
                                      {1.8307, 10, 1e7, 0.05},
                                      {161.4, 1, 1, 0.05},
                                      {2.9782, 10, 10, 0.05}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const double p = ergo_stats_f_tail(known[i][0], known[i][1], known[i][2]);
        if (fabs(p / known[i][3] - 1) > 1e-3)
            fail_msg("%g: %g instead of %g", known[i][0], p, known[i][3]);
    }
    assert_true(ergo_stats_f_tail(0, 3, 4) == 1 && ergo_stats_f_tail(INFINITY, 3, 4) == 0);
    assert_true(fabs(ergo_stats_f_tail(16, 1, 1e6) / 6.334e-5 - 1) < 0.01); /* four sigma */
    assert_true(ergo_stats_f_tail(1e9, 63, 1000) < 1e-100);
}

/* Honest chains: the mean's error covers, chi^2 is what it should be, nobody is warned. */
static void honest_replicas(void **state) {
    enum { RUNS = 600, REPLICAS = 4 };
    double square = 0, chi2 = 0, quoted = 0;
    size_t beyond = 0, alarms = 0;
    (void)state;
    random_state = 11;
    for (int i = 0; i < RUNS; i++) {
        chains(REPLICAS, 4000, 0.8, REPLICAS, 0); /* tau 4.5 */
        const struct ergo_observable_result *mean = finish();
        const struct ergo_scatter *s = &result.means[0].scatters[0];
        assert_int_equal(s->dof, REPLICAS - 1);
        chi2 += s->chi2 / RUNS;
        alarms += result.n_warnings > 0;
        if (mean->trust != ERGO_TRUST_FULL)
            continue;
        assert_true(mean->estimate.error == s->error_chains);
        beyond += fabs(mean->estimate.mean) > mean->estimate.error;
        square += mean->estimate.mean * mean->estimate.mean / RUNS;
        quoted += mean->estimate.error / RUNS;
    }
    print_message("honest: chi2 %.2f of 3, error/spread %.3f, beyond one sigma %.3f, alarms %zu\n",
                  chi2, quoted / sqrt(square), (double)beyond / RUNS, alarms);
    /* a spread of 600 is known to 3%, the fraction beyond to 0.019, four of each; of alarms at most
     * one run in a thousand, 0.6 expected: P(> 4) = 4e-4 */
    assert_true(fabs(quoted / sqrt(square) - 1) < 0.12);
    assert_true(fabs((double)beyond / RUNS - 0.317) < 0.076);
    assert_true(fabs(chi2 - 3) < 0.6);
    assert_true(alarms <= 4);
}

/* Chains too short for errors of their own, but not for one together: from their scatter. */
static void short_replicas(void **state) {
    enum { RUNS = 600, REPLICAS = 12 };
    double square = 0, quoted = 0;
    size_t used = 0, beyond = 0, apart = 0;
    (void)state;
    random_state = 12;
    for (int i = 0; i < RUNS; i++) {
        chains(REPLICAS, 285, 0.8182, REPLICAS, 0); /* tau 5: 57 of them */
        const struct ergo_observable_result *mean = finish();
        apart += mean->trust == ERGO_TRUST_REPLICAS;
        if (mean->trust != ERGO_TRUST_FULL)
            continue;
        used++;
        assert_true(mean->estimate.error == result.means[0].scatters[0].error_scatter);
        beyond += fabs(mean->estimate.mean) > mean->estimate.error;
        square += mean->estimate.mean * mean->estimate.mean;
        quoted += mean->estimate.error;
    }
    print_message("short: %zu of %d used, error/spread %.3f, beyond one sigma %.3f, apart %zu\n",
                  used, RUNS, quoted / (double)used / sqrt(square / (double)used),
                  (double)beyond / (double)used, apart);
    assert_true(used > RUNS / 2 && apart <= 4);
    /* Student's t of 11: 0.339 */
    assert_true(fabs(quoted / (double)used / sqrt(square / (double)used) - 1) < 0.15);
    assert_true(fabs((double)beyond / (double)used - 0.339) < 0.08);
    /* fewer of them, or shorter ones, have none */
    chains(6, 285, 0.8182, 6, 0);
    assert_int_equal(finish()->trust, ERGO_TRUST_SHORT);
    chains(12, 40, 0.8182, 12, 0);
    assert_true(finish()->trust == ERGO_TRUST_SHORT &&
                isnan(result.means[0].observables[0].estimate.error));
}

/* One that is apart is found and named; of two nobody knows which. */
static void replicas_that_disagree(void **state) {
    (void)state;
    random_state = 13;
    chains(8, 4000, 0.8, 5, 1);
    model.remedy = remedy;
    const struct ergo_observable_result *mean = finish();
    assert_int_equal(mean->trust, ERGO_TRUST_REPLICAS);
    assert_true(isnan(mean->estimate.error) && isfinite(mean->estimate.mean));
    assert_true(result.means[0].scatters[0].error_scatter > 0.05);
    assert_true(result.means[0].n_apart == 1 && result.means[0].apart[0] == 5);
    assert_true(said("replicas disagree") && said("(replica 5)") &&
                said("apart from the others: replica 5 of 8") && said("start from \"up\""));
    chains(2, 4000, 0.8, 1, 1);
    assert_int_equal(finish()->trust, ERGO_TRUST_REPLICAS);
    assert_true(result.means[0].n_apart == 0 && said("replicas disagree") && !said("apart"));
    /* two deviations are no disagreement */
    chains(2, 4000, 0, 1, 0.03);
    assert_int_equal(finish()->trust, ERGO_TRUST_FULL);
}

/* From 20 chains on the larger error counts. A flagged chain of many takes none from their mean,
 * one of ten does; so does what only all of them together show. */
static void many_replicas(void **state) {
    enum { N = 64 };
    (void)state;
    random_state = 20;
    size_t larger = 0;
    for (int i = 0; i < 20; i++) {
        chains(24, 1000, 0, 24, 0);
        const struct ergo_observable_result *mean = finish();
        const struct ergo_scatter *s = &result.means[0].scatters[0];
        assert_true(mean->estimate.error == fmax(s->error_chains, s->error_scatter));
        larger += s->error_scatter > s->error_chains;
    }
    assert_true(larger > 2 && larger < 18);
    for (size_t flagged = 1; flagged < 9; flagged += 6) {
        chains(N, 1000, 0, N, 0);
        for (size_t r = 0; r < flagged; r++) {
            ergo_observable_refuse(&results[r], ERGO_TRUST_DRIFT);
            members[r].verdict = ERGO_TRUST_DRIFT;
        }
        const struct ergo_observable_result *mean = finish();
        assert_int_equal(mean->trust, flagged < 7 ? ERGO_TRUST_FULL : ERGO_TRUST_DRIFT);
        assert_true(flagged == 7 ||
                    mean->estimate.error == result.means[0].scatters[0].error_scatter);
    }
    for (int together = 0; together < 2; together++) {
        chains(N, 1000, 0, N, 0);
        for (size_t r = 0; r < N; r++)
            results[r].drift = together || r % 2 ? 1.5 : -1.5;
        assert_int_equal(finish()->trust, together ? ERGO_TRUST_DRIFT : ERGO_TRUST_FULL);
        assert_int_equal(said("not equilibrated: of energy the first fifth of what 64 replicas"),
                         together);
    }
}

static bool samples_disorder(const struct ergo_point *point) {
    (void)point;
    return true;
}

/* Samples of a disorder have means of their own: the error is of their scatter, and there is no
 * disagreement; of few there is none. */
static void samples_of_disorder(void **state) {
    (void)state;
    random_state = 19;
    for (size_t n = 6; n <= 12; n += 6) {
        begin(n);
        model.samples_disorder = samples_disorder;
        for (size_t r = 0; r < n; r++) {
            fill(series, 4000, 0.5, (double)(r % 3));
            measure(r, series, 4000);
        }
        const struct ergo_observable_result *mean = finish();
        assert_int_equal(mean->trust, n < 10 ? ERGO_TRUST_FEW : ERGO_TRUST_FULL);
        if (n == 12) {
            /* 0, 1, 2 four times: variance 8/11 */
            assert_true(mean->estimate.error == result.means[0].scatters[0].error_scatter);
            assert_true(fabs(mean->estimate.error / sqrt(8.0 / 11 / 12) - 1) < 0.05);
        }
        assert_int_equal(result.n_warnings, n < 10);
        assert_int_equal(said("means over 6 samples of the disorder have no error: /replicas 10"),
                         n < 10);
        assert_int_equal(result.means[0].n_apart, 0);
    }
}

/* The replica that is apart may be the lowest; where some are, another observable whose chains are
 * too short for errors of their own has none of their scatter either. */
static void one_replica_is_apart(void **state) {
    enum { N = 12 };
    static struct ergo_observable two[2];
    static struct ergo_observable_result of_two[N][2];
    (void)state;
    random_state = 18;
    chains(N, 4000, 0, 3, -1);
    assert_int_equal(finish()->trust, ERGO_TRUST_REPLICAS);
    assert_true(result.means[0].n_apart == 1 && result.means[0].apart[0] == 3);
    for (int kind = 0; kind < 4; kind++) { /* kinds 2 and 3: made from a curve */
        const int differ = kind & 1;
        chains(N, 4000, 0, 3, differ ? -1 : 0);
        two[0] = two[1] = observable;
        two[0].sample = kind & 2 ? NULL : sample;
        two[0].curve = kind & 2 ? "curve" : NULL;
        two[1].name = "pressure";
        model.observables = two;
        model.n_observables = 2;
        for (size_t r = 0; r < N; r++) {
            of_two[r][0] = results[r];
            of_two[r][0].observable = &two[0];
            fill(series, 40, 0, 5);
            measure(r, series, 40);
            assert_int_equal(results[r].trust, ERGO_TRUST_SHORT);
            of_two[r][1] = results[r];
            of_two[r][1].observable = &two[1];
            members[r].n_samples = 4000;
            members[r].observables = of_two[r];
        }
        finish();
        const struct ergo_observable_result *mean = result.means[0].observables;
        assert_int_equal(mean[0].trust, differ ? ERGO_TRUST_REPLICAS : ERGO_TRUST_FULL);
        assert_int_equal(mean[1].trust, differ ? ERGO_TRUST_REPLICAS : ERGO_TRUST_FULL);
        assert_int_equal(isnan(mean[1].estimate.error), differ);
        assert_true(mean[1].because == (differ ? &two[0] : NULL));
        of_two[0][0].trust = ERGO_TRUST_DRIFT;
        for (int independent = 0; independent < 2; independent++) {
            two[0].independent = independent;
            of_two[0][1].trust = ERGO_TRUST_FULL;
            ergo_chain_judge(&members[0]);
            assert_int_equal(of_two[0][1].trust,
                             independent && kind & 2 ? ERGO_TRUST_FULL : ERGO_TRUST_DRIFT);
        }
        two[0].independent = false;
        of_two[0][0].trust = ERGO_TRUST_SHORT;
        for (int slow_bins = 0; slow_bins < 2; slow_bins++) {
            of_two[0][0].estimate.slow = slow_bins;
            of_two[0][1].trust = ERGO_TRUST_FULL;
            ergo_chain_judge(&members[0]);
            assert_int_equal(of_two[0][1].trust,
                             slow_bins || !(kind & 2) ? ERGO_TRUST_SHORT : ERGO_TRUST_FULL);
        }
    }
}

/* Frozen chains: alike they say nothing, in different states everything. */
static void frozen_replicas(void **state) {
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        begin(6);
        for (size_t r = 0; r < 6; r++) {
            for (size_t i = 0; i < 1000; i++)
                series[i] = differ && r == 2 ? -1.5 : -2;
            measure(r, series, 1000);
            assert_int_equal(results[r].trust, ERGO_TRUST_CONSTANT);
            assert_true(isnan(results[r].estimate.error) && isnan(results[r].estimate.tau));
        }
        const struct ergo_observable_result *mean = finish();
        assert_int_equal(mean->trust, differ ? ERGO_TRUST_REPLICAS : ERGO_TRUST_CONSTANT);
        assert_true(said("energy never changed at all 6 chains"));
        assert_int_equal(said("replicas disagree"), differ);
    }
    /* what varies, where another observable never changed: means differ by their noise alone */
    chains(6, 1000, 0.5, 6, 0);
    for (size_t r = 0; r < 6; r++) {
        ergo_observable_refuse(&results[r], ERGO_TRUST_CONSTANT);
        results[r].because = &observable;
    }
    assert_int_equal(finish()->trust, ERGO_TRUST_CONSTANT);
    assert_false(said("replicas disagree"));
    /* theory knows that there is nothing else */
    begin(1);
    results[0].exact = -2 * (1 + 1e-12);
    for (size_t i = 0; i < 1000; i++)
        series[i] = -2;
    measure(0, series, 1000);
    assert_true(results[0].trust == ERGO_TRUST_FULL && results[0].estimate.error == 0);
    finish();
    assert_int_equal(result.n_warnings, 0);
}

/* A sign that a chain keeps: the others refute its error, and that is physics, not a fault. */
static void a_sign_is_kept(void **state) {
    (void)state;
    random_state = 14;
    begin(6);
    observable.slow = slow;
    for (size_t r = 0; r < 6; r++) {
        fill(series, 4000, 0.5, r % 2 ? 10 : -10);
        measure(r, series, 4000);
        assert_int_equal(results[r].trust, ERGO_TRUST_FULL);
    }
    assert_int_equal(finish()->trust, ERGO_TRUST_SLOW);
    for (size_t r = 0; r < 6; r++)
        assert_true(results[r].trust == ERGO_TRUST_SLOW && isnan(results[r].estimate.error));
    assert_true(said("it keeps its sign") && !said("replicas disagree") && !said("run longer"));
    begin(12); /* each knows it by itself, and none is apart from the others for it */
    observable.slow = slow;
    for (size_t r = 0; r < 12; r++) {
        fill(series, 4000, 0.5, r % 3 ? 10 : -10);
        measure(r, series, 4000);
        ergo_observable_refuse(&results[r], ERGO_TRUST_SLOW);
    }
    assert_int_equal(finish()->trust, ERGO_TRUST_SLOW);
    assert_true(!said("replicas disagree"));
}

static double first_of(const double *mean, size_t size, void *user) {
    (void)size, (void)user;
    return mean[0];
}

/* Standard errors of four chains, which are no estimates: that of their mean. */
static void errors_are_joined(void **state) {
    (void)state;
    static const double errors[4] = {0.3, 0.4, 0.5, 0.2};
    begin(4);
    observable.fact = ERGO_FACT_ERROR;
    for (size_t r = 0; r < 4; r++) {
        results[r].estimate = (struct ergo_estimate){.mean = errors[r], .samples = 9};
        results[r].trust = ERGO_TRUST_FULL;
    }
    const struct ergo_observable_result *mean = finish();
    assert_non_null(mean);
    assert_true(fabs(mean->estimate.mean - sqrt(0.54) / 4) < 1e-12);
}

/* Reasons other than length: "run longer" is said where it helps alone. */
static void reasons(void **state) {
    struct ergo_curve curve;
    (void)state;
    random_state = 15;
    for (int n = 8; n <= 40; n += 32) { /* independent realisations */
        begin(1);
        observable = (struct ergo_observable){.name = "phi",
                                              .unit = "",
                                              .curve = "phi",
                                              .from_curve = from_curve,
                                              .independent = true,
                                              .more = "/system/samples"};
        assert_true(ergo_curve_init(&curve, 1));
        for (int i = 0; i < n; i++) {
            const double x = normal();
            ergo_curve_add(&curve, &x);
        }
        members[0].n_samples = 1;
        ergo_curve_derived(&curve, first_of, NULL, &results[0].estimate);
        ergo_curve_free(&curve);
        const bool few = n < 20;
        ergo_observable_refuse(&results[0], ergo_trust_of(&results[0].estimate, true, NAN));
        assert_int_equal(results[0].trust, few ? ERGO_TRUST_FEW : ERGO_TRUST_FULL);
        assert_int_equal(isnan(results[0].estimate.error), few);
        finish();
        assert_int_equal(result.n_warnings, few);
        assert_true(!said("run longer"));
        assert_true(!few ||
                    said("of phi: 8, and 20 are needed; a longer run adds none, more samples "
                         "do (/system/samples)"));
    }
    begin(1); /* a length that is undefined */
    observable.sample = NULL;
    observable.curve = "curve";
    members[0].n_samples = 100;
    results[0].estimate =
        (struct ergo_estimate){.mean = NAN, .error = NAN, .samples = 100, .too_short = true};
    ergo_observable_refuse(&results[0], ergo_trust_of(&results[0].estimate, false, NAN));
    assert_int_equal(results[0].trust, ERGO_TRUST_UNDEFINED);
    finish();
    assert_int_equal(result.n_warnings, 0);
    begin(1); /* a sample that is no number is another matter */
    for (size_t i = 0; i < 1000; i++)
        series[i] = i == 500 ? NAN : 1;
    measure(0, series, 1000);
    finish();
    assert_true(said("not finite"));
    begin(1);
    members[0].steps = 120;
    members[0].n_equilibration = 1000;
    members[0].n_samples = 120;
    result.status = "stopped";
    finish();
    assert_int_equal(result.n_warnings, 1);
    assert_true(
        said("nothing is measured yet: stopped after 120 of 1000 equilibration sweeps; ergocl "
             "resume continues"));
}

/* A published value has an error, which counts; an exact value goes before it. */
static void published_values(void **state) {
    (void)state;
    random_state = 16;
    chains(2, 4000, 0, 2, 0);
    model.published = published;
    for (size_t r = 0; r < 2; r++) {
        ergo_observable_refer(&points[r], &results[r]);
        const struct ergo_estimate *e = &results[r].estimate;
        assert_true(results[r].published && results[r].reference == 1 &&
                    results[r].reference_error == 0.3);
        assert_true(fabs(results[r].reference_z - (e->mean - 1) / hypot(e->error, 0.3)) < 1e-12);
    }
    const struct ergo_observable_result *mean = finish();
    assert_true(mean->published && isnan(mean->z));
    assert_true(fabs(mean->reference_z -
                     (mean->estimate.mean - 1) / hypot(mean->estimate.error, 0.3)) < 1e-12);
    assert_int_equal(result.n_warnings, 0); /* 3.3 sigma */
    chains(1, 4000, 0, 0, 4);
    model.published = published;
    ergo_observable_refer(&points[0], &results[0]);
    finish();
    assert_true(said("from the published value 1"));
}

/* A series that begins elsewhere: found; a stationary one: not in a thousand. */
static void drifts(void **state) {
    size_t found = 0;
    (void)state;
    random_state = 17;
    for (int i = 0; i < 1000; i++) {
        fill(series, 2000, 0.8, 0);
        found += ergo_stats_drift(series, 2000) > sqrt(2 * log(1000));
    }
    assert_true(found <= 5); /* at 3.7 sigma, of errors known to 10%: 1 or so expected */
    fill(series, 4000, 0.8, 0);
    for (size_t i = 0; i < 4000; i++)
        series[i] += 3 * exp(-(double)i / 300);
    assert_true(ergo_stats_drift(series, 4000) > 5);
    assert_true(ergo_stats_drift(series, 3) == 0);
}

static int setup(void **state) {
    (void)state;
    ctx = ergo_context_create();
    return ctx ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    clear();
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tail_of_f),
        cmocka_unit_test(honest_replicas),
        cmocka_unit_test(short_replicas),
        cmocka_unit_test(replicas_that_disagree),
        cmocka_unit_test(many_replicas),
        cmocka_unit_test(frozen_replicas),
        cmocka_unit_test(one_replica_is_apart),
        cmocka_unit_test(samples_of_disorder),
        cmocka_unit_test(a_sign_is_kept),
        cmocka_unit_test(reasons),
        cmocka_unit_test(errors_are_joined),
        cmocka_unit_test(published_values),
        cmocka_unit_test(drifts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
