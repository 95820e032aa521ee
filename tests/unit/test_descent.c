/* Optimisation of all parameters of helium's wave function: schedule, spline, d ln psi / dp against
 * differences, a step of stochastic reconfiguration against its equation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/helium_vmc/descent.h"

static void close_to(const char *what, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %.12g, expected %.12g within %.2g", what, found, expected, tolerance);
}

static void events_are_where_the_job_says(void **state) {
    (void)state;
    const struct helium_schedule s = {
        .all = true, .start = 10, .every = 3, .quarter = 2, .updates = 5};
    uint64_t k = 0, step = 0;
    assert_int_equal(helium_event_next(&s, 0), 10 + 2 * 3 + 3);
    while ((step = helium_event_next(&s, step)) != UINT64_MAX)
        assert_int_equal(helium_event_at(&s, step), ++k);
    assert_int_equal(k, 7);
    assert_int_equal(helium_event_at(&s, 16), 0);
    assert_int_equal(helium_event_at(&s, 20), 0);
    assert_int_equal(helium_event_at(&s, 10 + 3 * 10), 0);
    assert_int_equal(helium_schedule_length(&s), 10 + 11 * 3);
    const struct helium_schedule none = {.every = 3, .updates = 5};
    assert_true(helium_event_next(&none, 0) == UINT64_MAX && helium_event_at(&none, 3) == 0);
}

static void splines_are_smooth(void **state) {
    (void)state;
    struct helium_spline s = {.knots = 0};
    helium_spline_place(&s, 6, 2, 6.5);
    close_to("width", s.width, 0.5, 1e-15);
    for (unsigned k = 0; k < 6; k++)
        s.c[k] = sin(k + 1.0);
    for (double r = 1.9; r < 6.6; r += 0.0713) {
        double f[3][3] = {{0}};
        for (int i = 0; i < 3; i++)
            helium_spline_add(&s, r + 1e-5 * (i - 1), f[i]);
        close_to("slope", f[1][1], (f[2][0] - f[0][0]) / 2e-5, 1e-8);
        close_to("curvature", f[1][2], (f[2][1] - f[0][1]) / 2e-5, 1e-3);
    }
    double end[3] = {0}, peak[3] = {0};
    helium_spline_add(&s, 6.5 - 1e-7, end);
    close_to("curvature at the end", end[2], 0, 1e-4);
    memset(s.c, 0, sizeof s.c);
    s.c[5] = 1;
    helium_spline_add(&s, 5.5, peak);
    close_to("peak", peak[0], 2.0 / 3, 1e-15);
}

enum { N = 20 };

/* ln psi from the model's functions alone. */
static double ln_psi(const struct helium_model *m, const int32_t *place) {
    double sum = 0, g[N][3] = {{0}};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            double d[3], r = 0, u[3], x[3];
            for (int k = 0; k < 3; k++) {
                d[k] = (int32_t)((uint32_t)place[N * k + i] - (uint32_t)place[N * k + j]) *
                       (m->side[k] * 0x1p-32);
                r += d[k] * d[k];
            }
            r = sqrt(r);
            helium_model_u(m, r, u);
            helium_triplet_xi(&m->triplet, r, x);
            sum += u[0];
            for (int k = 0; k < 3; k++) {
                g[i][k] += x[0] * d[k];
                g[j][k] -= x[0] * d[k];
            }
        }
    for (int i = 0; i < N; i++)
        sum -= 0.25 * m->triplet.strength *
               (g[i][0] * g[i][0] + g[i][1] * g[i][1] + g[i][2] * g[i][2]);
    return sum;
}

static void slopes_are_derivatives(void **state) {
    (void)state;
    struct helium_model m = {
        .n = N, .dimensions = 3, .b = 2.8, .half = 5, .core = 1.3, .lambda = 6};
    const struct helium_parameters which = {
        .b = true, .triplet = true, .knots = 5, .count = 9, .core = 1.3};
    int32_t place[3 * N];
    double p[9], first[9], slopes[9];
    m.triplet = (struct helium_triplet_model){
        .strength = -2, .centre = 1.8, .width = 1.6, .range = 5, .bits = 20};
    helium_spline_place(&m.spline, 5, 1.9, 5);
    for (int k = 0; k < 3; k++) {
        m.side[k] = 10 + k;
        for (int i = 0; i < N; i++) {
            const int site[3] = {i % 3, i / 3 % 3, i / 9};
            place[N * k + i] = (int32_t)(uint32_t)llround(
                (site[k] + 0.3 + 0.1 * sin(i * (2 * k + 3) + k)) * 3.4 / m.side[k] * 0x1p32);
        }
    }
    for (unsigned k = 0; k < 5; k++)
        m.spline.c[k] = 0.1 * sin(k + 2.0);
    helium_parameters_get(&which, &m, p);
    memcpy(first, p, sizeof p);
    helium_slopes(&which, &m, place, slopes);
    for (int k = 0; k < 9; k++) {
        const double h = 1e-4 * fmax(fabs(first[k]), 0.1);
        double f[2];
        for (int side = 0; side < 2; side++) {
            memcpy(p, first, sizeof p);
            p[k] += side ? h : -h;
            helium_parameters_set(&which, first, p, &m);
            f[side] = ln_psi(&m, place);
        }
        close_to("d ln psi / dp", slopes[k], (f[1] - f[0]) / (2 * h),
                 1e-6 * fmax(1, fabs(slopes[k])));
        if (!(fabs(slopes[k]) > 1e-3))
            fail_msg("parameter %d does nothing here", k);
    }
}

/* Wild parameters are limited, and what is no number becomes one. */
static void parameters_have_limits(void **state) {
    (void)state;
    struct helium_model m = {.n = N, .dimensions = 3, .b = 2.8, .half = 5, .core = 1.3};
    const struct helium_parameters which = {
        .b = true, .triplet = true, .knots = 1, .count = 5, .core = 1.3};
    const double first[5] = {2.8, 0, -2, 1.8, 1.6};
    double p[5] = {100, NAN, 5, -3, 1e9};
    m.triplet = (struct helium_triplet_model){
        .strength = -2, .centre = 1.8, .width = 1.6, .range = 5, .bits = 20};
    helium_spline_place(&m.spline, 1, 1.9, 5);
    helium_parameters_set(&which, first, p, &m);
    close_to("b", m.b, 1.3 * 2.8, 1e-12);
    close_to("coefficient", m.spline.c[0], -8, 0);
    close_to("strength", m.triplet.strength, -2e-6, 1e-15);
    close_to("centre", m.triplet.centre, 0, 0);
    close_to("width", m.triplet.width, 6.4, 1e-12);
    double u[3];
    helium_model_u(&m, m.core, u);
    assert_true(fabs(u[0]) < 40 && m.core < 0.6 * m.half && m.core > 1.35);

    /* what the parameters were before leaves nothing behind: a run that continues never had them */
    double again[5] = {2.8, 0, -2, 1.8, 1.6};
    helium_parameters_set(&which, first, again, &m);
    close_to("core", m.core, 1.3, 0);
}

/* Three parameters with correlated O: a step solves its equation; the second half's mean remains.
 */
static void a_step_solves_its_equation(void **state) {
    (void)state;
    enum { WALKERS = 400, ATOMS = 10 };
    const struct helium_schedule schedule = {.all = true, .every = 1, .quarter = 1, .updates = 4};
    const struct helium_parameters which = {.knots = 3, .count = 3};
    const double expected[3] = {-0.3, 20, 0.02};
    double numbers[3 * 3 + 9 + 2 * 5] = {0}, o[3 * WALKERS], energy[WALKERS];
    assert_int_equal(helium_descent_size(&schedule, &which) * sizeof *numbers, sizeof numbers);
    const struct helium_descent d = helium_descent_view(&schedule, &which, numbers);
    for (int w = 0; w < WALKERS; w++) {
        const double a = sin(w * 1.7), b = sin(w * 2.9 + 1), c = sin(w * 0.61 + 2);
        o[3 * w] = 5 + a;
        o[3 * w + 1] = 0.01 * (b + 0.5 * a);
        o[3 * w + 2] = 20 * (c - 0.7 * b);
        energy[w] = -7;
        for (int k = 0; k < 3; k++) /* E = const - sum O_k expected_k / rate: f = -S expected */
            energy[w] -= o[3 * w + k] * expected[k] * 0.01 / ATOMS;
    }
    assert_false(helium_descend(&schedule, &which, &d, ATOMS, 0.1, 1, o, energy, WALKERS));
    close_to("nothing before", d.now[0], 0, 0);
    assert_true(helium_descend(&schedule, &which, &d, ATOMS, 0.1, 2, o, energy, WALKERS));
    for (int k = 0; k < 3; k++)
        close_to("step", d.now[k], 0.001 * expected[k], 0.08 * 0.001 * fabs(expected[k]));
    for (uint64_t k = 3; k <= 5; k++)
        assert_true(helium_descend(&schedule, &which, &d, ATOMS, 0.1, k, o, energy, WALKERS));
    for (int k = 0; k < 3; k++) /* of 3 and 4 */
        close_to("mean", d.now[k], 0.0035 * expected[k], 0.08 * 0.0035 * fabs(expected[k]));

    /* a walker whose energy is far off counts as if it were at the limit of the others */
    const double plain = d.energy[0];
    double first[3];
    memset(numbers, 0, sizeof numbers);
    for (int far = 0; far < 2; far++) {
        double some[WALKERS];
        memcpy(some, energy, sizeof some);
        some[17] += far ? 1e6 : 0;
        memset(d.now, 0, 3 * sizeof *d.now);
        (void)helium_descend(&schedule, &which, &d, ATOMS, 0.1, 1, o, some, WALKERS);
        (void)helium_descend(&schedule, &which, &d, ATOMS, 0.1, 2, o, some, WALKERS);
        for (int k = 0; k < 3; k++)
            if (far)
                close_to("step beside one far off", d.now[k], first[k], 0.1 * fabs(first[k]));
            else
                first[k] = d.now[k];
    }
    assert_true(fabs(d.energy[0] - plain) > 1000);

    /* a long step is shortened: no coefficient changes by more than 0.2, and ln psi by no more than
     * a root mean square of 0.3 */
    for (int strong = 0; strong < 2; strong++) {
        double square = 0, largest = 0;
        for (int i = 0; i < 3 * WALKERS; i++)
            o[i] *= strong ? 1000 : 1;
        memset(numbers, 0, sizeof numbers);
        (void)helium_descend(&schedule, &which, &d, ATOMS, 1e6, 1, o, energy, WALKERS);
        (void)helium_descend(&schedule, &which, &d, ATOMS, 1e6, 2, o, energy, WALKERS);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) {
                square += d.now[k] * d.now[l] * d.metric[3 * (k > l ? k : l) + (k > l ? l : k)];
                largest = fmax(largest, fabs(d.now[k]));
            }
        close_to(strong ? "length" : "coefficient", strong ? sqrt(square) : largest,
                 strong ? 0.3 : 0.2, 1e-9);
    }

    double before[3];
    helium_descent_before(&schedule, &d, WALKERS, before);
    double mean = 0, spread = 0;
    for (int w = 0; w < WALKERS; w++)
        mean += energy[w] / WALKERS;
    for (int w = 0; w < WALKERS; w++)
        spread += (energy[w] - mean) * (energy[w] - mean) / WALKERS;
    close_to("energy before", before[0], mean, 1e-12);
    close_to("spread before", before[2], sqrt(spread), 1e-6);
    close_to("error before", before[1], sqrt(spread / WALKERS), 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_where_the_job_says), cmocka_unit_test(splines_are_smooth),
        cmocka_unit_test(slopes_are_derivatives),        cmocka_unit_test(parameters_have_limits),
        cmocka_unit_test(a_step_solves_its_equation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
