/* Pure functions of helium-vmc: pair functions, their tables as the kernels read them, random
 * numbers, the chain, estimators. Reference values: data/reference/helium.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helium_vmc/core.h"
#include "oracle/helium_chain.h"
#include "oracle/helium_pair.h"
#include "oracle/helium_serial.h"
#include "run/cost.h"
#include "samplers/helium_vmc/helium.h"

static void close_to(const char *what, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %.12g, expected %.12g within %.2g", what, found, expected, tolerance);
}

static struct helium_model liquid(uint32_t n, double b) {
    struct helium_model m = {.n = n,
                             .dimensions = 3,
                             .density = 0.02186,
                             .b = b,
                             .potential = HELIUM_AZIZ,
                             .kink = 1.4826 * 2.963};
    const double side = cbrt(n / m.density);
    m.lambda = helium_lambda(4.002602);
    m.half = side / 2;
    m.core = 0.5;
    for (int k = 0; k < 3; k++) {
        m.side[k] = side;
        m.step[k] = 0.4 / sqrt(3.0) * cbrt(1 / m.density) / side;
    }
    double u[3];
    for (helium_model_u(&m, m.core, u); fabs(u[0]) > 31.9; helium_model_u(&m, m.core, u))
        m.core += 1e-4;
    return m;
}

static void aziz_potential_has_the_published_values(void **state) {
    (void)state;
    static const double values[][2] = {
        {2.963, -10.948002363}, {2.0, 537.955391},       {2.5, 20.47271201},
        {3.5, -6.269835654},    {4.0, -2.933623266},     {5.0, -0.728647171},
        {6.0, -0.235096686},    {8.0, -0.0403712799},    {10.0, -0.010414594404},
        {2.63692051, 0},        {2.9629, -10.948001891}, {2.9631, -10.948001889}};
    const struct helium_model m = liquid(64, 3.07);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double v[2], low[2], high[2];
        const double r = values[i][0];
        helium_model_v(&m, r, v);
        helium_model_v(&m, r - 1e-5, low);
        helium_model_v(&m, r + 1e-5, high);
        /* distances are given to 1e-8 A */
        close_to("V", v[0], values[i][1], 1e-7 + 1e-8 * (fabs(values[i][1]) + fabs(v[1]) / r));
        close_to("r V'", v[1], r * (high[0] - low[0]) / 2e-5, 1e-6 * (1 + fabs(v[1])));
        close_to("V of the oracle", ergo_oracle_helium_potential(r), v[0],
                 1e-10 * (1 + fabs(v[0])));
    }
    close_to("hbar^2/2m", m.lambda, 6.0596499629, 1e-9);
}

/* By name: depth and its place as published, the zero (2.6390, 2.6370, 2.6408 A), slopes. */
static void potentials_have_their_wells(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double epsilon, rm, sigma;
    } rows[] = {{"aziz-hfdhe2", 10.8, 2.9673, 2.639},
                {"aziz-hfd-b-he", 10.948, 2.963, 2.637},
                {"aziz-hfd-b3-fci1", 10.956, 2.9683, 2.640790}};
    for (size_t i = 0; i < 3; i++) {
        struct helium_model m = liquid(64, 3.07);
        double v[2], low[2], high[2];
        assert_true(helium_potential_named(rows[i].name, &m.potential));
        helium_model_v(&m, rows[i].rm, v);
        close_to("depth", v[0], -rows[i].epsilon, 1e-3);
        close_to("slope at the minimum", v[1], 0, 0.05); /* constants are rounded */
        helium_model_v(&m, rows[i].sigma, v);
        close_to("V at its zero", v[0] / v[1] * rows[i].sigma, 0, 6e-4);
        for (double r = 1.8; r < 6; r += 0.07) {
            helium_model_v(&m, r, v);
            helium_model_v(&m, r - 1e-5, low);
            helium_model_v(&m, r + 1e-5, high);
            close_to("r V'", v[1], r * (high[0] - low[0]) / 2e-5, 1e-6 * (1 + fabs(v[1])));
        }
    }
    enum helium_potential found;
    assert_false(helium_potential_named("aziz", &found));
    assert_true(helium_potential_named("lennard-jones", &found) && found == HELIUM_LENNARD_JONES);
}

static void u_is_the_oracles_and_smooth(void **state) {
    (void)state;
    const struct helium_model m = liquid(64, 3.07);
    for (double r = 1.5; r < m.half - 1e-3; r += 0.01) {
        double u[3], o[3], low[3], high[3];
        helium_model_u(&m, r, u);
        ergo_oracle_helium_u(r, m.b, 2 * m.half, o);
        helium_model_u(&m, r - 1e-5, low);
        helium_model_u(&m, r + 1e-5, high);
        for (int k = 0; k < 3; k++)
            close_to("u", u[k], o[k], 1e-12 * (1 + fabs(o[k])));
        close_to("u'", u[1], (high[0] - low[0]) / 2e-5, 1e-6 * (1 + fabs(u[1])));
        close_to("u''", u[2], (high[1] - low[1]) / 2e-5, 1e-6 * (1 + fabs(u[2])));
    }
    double end[3];
    helium_model_u(&m, m.half * (1 - 1e-9), end);
    close_to("u at the cut-off", end[0], 0, 1e-12);
    close_to("u' at the cut-off", end[1], 0, 1e-9);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static helium_cubic cubic(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

/* The stated error of u: 1e-6 of itself plus half a unit of the fixed point. */
static void table_of_u_is_good_to_a_millionth(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 64, 1000, 40960};
    for (size_t s = 0; s < 4; s++) {
        const struct helium_model m = liquid(sizes[s], sizes[s] == 2 ? 1.0 : 3.07);
        const unsigned binades = helium_model_binades(&m);
        struct helium_cubic_host *table = malloc((binades << HELIUM_U_PIECES) * sizeof *table);
        assert_non_null(table);
        helium_table_u(&m, binades, table);
        const uint32_t base = (127 - binades) << HELIUM_U_PIECES;
        double worst = 0;
        for (double r = m.core; r < m.half; r *= 1.00002) {
            const float x = (float)(r * r / (m.half * m.half)), low = helium_model_low(&m);
            const float y = helium_clamp(x, low);
            const uint32_t k = helium_piece(y, HELIUM_U_PIECES) - base;
            assert_true(k < binades << HELIUM_U_PIECES);
            const int found = (int)helium_poly(cubic(table, k), helium_within(y, HELIUM_U_PIECES));
            double u[3];
            helium_model_u(&m, m.half * sqrt((double)y), u);
            const double error = fabs(found * 0x1p-21 - u[0]),
                         allowed = 1e-6 * fabs(u[0]) + 0x1p-22;
            worst = fmax(worst, error / allowed);
        }
        print_message("u, n = %u: %.2f of the stated error\n", sizes[s], worst);
        assert_true(worst < 1);
        /* beyond the cut-off exactly nothing, at contact no more than the fixed point holds */
        const float top = helium_clamp(2.5f, helium_model_low(&m));
        assert_int_equal((int)helium_poly(cubic(table, helium_piece(top, HELIUM_U_PIECES) - base),
                                          helium_within(top, HELIUM_U_PIECES)),
                         0);
        const float contact = helium_clamp(0, helium_model_low(&m));
        const int most =
            (int)helium_poly(cubic(table, helium_piece(contact, HELIUM_U_PIECES) - base),
                             helium_within(contact, HELIUM_U_PIECES));
        assert_true(abs(most) <= HELIUM_U_LIMIT << HELIUM_U_BITS);
        free(table);
    }
}

/* Energies: 1e-6 of the terms; also on both sides of the kink of the potential's damping (4.393 A),
 * each of which has a piece. */
static void tables_of_energies_are_good_to_a_millionth(void **state) {
    (void)state;
    static const uint32_t sizes[] = {64, 1000};
    for (size_t s = 0; s < 2; s++) {
        const struct helium_model m = liquid(sizes[s], 3.07);
        const unsigned binades = helium_model_binades(&m);
        struct helium_cubic_host *table =
            malloc(2 * (size_t)helium_energy_pieces(binades) * sizeof *table);
        assert_non_null(table);
        helium_table_energy(&m, binades, table);
        const uint32_t base = (127 - binades) << HELIUM_E_PIECES;
        double worst[4] = {0};
        uint32_t kink, width;
        helium_model_kink(&m, &kink, &width);
        assert_true(width > 0);
        for (double r = 1.6; r < m.half; r *= 1.00003) {
            const float y = helium_clamp((float)(r * r / (m.half * m.half)), helium_model_low(&m));
            const double exact_r = m.half * sqrt((double)y);
            const uint32_t pieces = helium_energy_pieces(binades);
            const uint32_t k = ergo_as_uint(y) - kink < width
                                   ? pieces - 1
                                   : helium_piece(y, HELIUM_E_PIECES) - base;
            double u[3], v[2];
            helium_model_u(&m, exact_r, u);
            helium_model_v(&m, exact_r, v);
            const double expected[4] = {v[0], v[1], sqrt(m.lambda) * u[1] / exact_r,
                                        -m.lambda * (u[2] + 2 * u[1] / exact_r)};
            /* what cancels near zeros of V and r V' */
            const double wall = fabs(v[0]) + fabs(v[1]) / 6;
            const double sizes_of[4] = {wall, 6 * wall, fabs(expected[2]) + 1e-4,
                                        m.lambda * (u[2] < 0 ? -u[2] : u[2]) + 1e-4};
            const float t = helium_within(y, HELIUM_E_PIECES);
            helium_cubic c[2];
            memcpy(&c[0], table + k, sizeof c[0]);
            memcpy(&c[1], table + pieces + k, sizeof c[1]);
            const struct helium_slope potential = helium_quartic_slope(c[0], t),
                                      force = helium_cubic_slope(c[1], t);
            const double found[4] = {potential.value, 2.0 * (double)y * (double)potential.slope,
                                     force.value,
                                     -sqrt(m.lambda) * (3 * (double)force.value +
                                                        2.0 * (double)y * (double)force.slope)};
            for (uint32_t q = 0; q < 4; q++) {
                const double error = fabs(found[q] - expected[q]) / sizes_of[q];
                worst[q] = fmax(worst[q], error);
            }
        }
        print_message("energies, n = %u: errors %.1e %.1e %.1e %.1e of the terms\n", sizes[s],
                      worst[0], worst[1], worst[2], worst[3]);
        for (int q = 0; q < 4; q++)
            assert_true(worst[q] < 1e-6);
        free(table);
    }
}

/* ---- tails, units ---------------------------------------------------------------------------- */

/* Against sums by hand; and the virial's is -d V dE/dV / N of the potential's in a growing box. */
static void tails_are_integrals(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 16, 64, 1000}; /* two: within the damping's kink */
    for (size_t s = 0; s < 16; s++) {
        const uint32_t dimensions = s < 8 ? 3 : 2;
        struct helium_model m[3];
        for (int k = 0; k < 3; k++) {
            const double factor = 1 + 1e-4 * (k - 1);
            m[k] = liquid(sizes[s % 4], 2);
            m[k].half *= factor;
            m[k].dimensions = dimensions;
            m[k].density /= dimensions == 2 ? factor * factor : factor * factor * factor;
            if (s % 8 > 3) {
                m[k].potential = HELIUM_LENNARD_JONES;
                m[k].epsilon = 10.22;
                m[k].sigma = 2.556;
                m[k].kink = 0;
            }
            helium_tails(&m[k]);
        }
        const double expected =
            (dimensions - 1) * 3.14159265358979 * 0.02186 *
            ergo_oracle_helium_beyond((int)dimensions,
                                      s % 8 > 3 ? ergo_oracle_helium_lennard_jones
                                                : ergo_oracle_helium_potential,
                                      m[1].half);
        close_to("tail of V", m[1].tail_potential, expected, 2e-8 * fabs(expected));
        close_to("tail of r V'", m[1].tail_virial,
                 (m[2].tail_potential - m[0].tail_potential) / 2e-4, 1e-6 * fabs(m[1].tail_virial));
    }
}

static int bits_of(uint32_t n, double b, enum helium_potential potential, double epsilon,
                   double sigma, double mass, int kind) {
    struct helium_model m = liquid(n, b);
    double most, usual;
    int bad;
    m.potential = potential;
    m.epsilon = epsilon;
    m.sigma = sigma;
    m.lambda = helium_lambda(mass);
    return helium_fixed_point(&m, &bad, &most, &usual) ? m.bits[kind] : -1000 - bad;
}

/* 2^-20 K in liquid helium; steep walls and light atoms have larger units, weak
 * potentials smaller ones; what floats cannot hold is refused by its kind. */
static void units_follow_the_job(void **state) {
    (void)state;
    static const uint32_t sizes[] = {16, 64, 1000, 4096, 40960};
    for (size_t i = 0; i < 5; i++)
        for (int k = 0; k < HELIUM_E_KINDS; k++)
            close_to("bits", bits_of(sizes[i], 3.07, HELIUM_AZIZ, 0, 0, 4.0026, k), 20, 0);
    assert_true(bits_of(64, 1.2, HELIUM_LENNARD_JONES, 1e6, 2.556, 4.0026, 0) < 12);
    assert_true(bits_of(64, 3.07, HELIUM_LENNARD_JONES, 1e-6, 2.556, 4.0026, 0) > 32);
    assert_int_equal(bits_of(64, 3.07, HELIUM_LENNARD_JONES, 1e6, 2.556, 4.0026, 3), 20);
    assert_true(bits_of(64, 3.07, HELIUM_AZIZ, 0, 0, 4e-6, 3) < 20);
    assert_int_equal(bits_of(64, 3.07, HELIUM_AZIZ, 0, 0, 4e-6, 0), 20);
    assert_int_equal(bits_of(64, 3.07, HELIUM_AZIZ, 0, 0, 1e-25, 0), -1002);
    assert_int_equal(bits_of(64, 3.07, HELIUM_LENNARD_JONES, 1e6, 100, 4.0026, 0), -1000);
    assert_int_equal(bits_of(64, 3.07, HELIUM_LENNARD_JONES, 0, 2.556, 4.0026, 0), 20);
}

/* ---- functions from files -------------------------------------------------------------------- */

static void a_spline_is_exact_for_cubics(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_text text = {0};
    struct ergo_radial *curve = NULL;
    ergo_text_append(&text, "# r f\n\n");
    for (double r = 0.5; r < 4; r *= 1.13)
        ergo_text_append(&text, "  %.17g\t%.17g # a comment\r\n", r, 2 + r * (3 + r * (-1 + r)));
    assert_int_equal(ergo_radial_parse(ctx, "a.txt", text.data, text.length, &curve), ERGO_OK);
    const double first = curve->r[0], last = curve->r[curve->n - 1];
    for (double at = first; at < last + 0.01; at += 0.01) {
        const double r = fmin(at, last); /* at both ends, too */
        double out[3];
        ergo_radial_at(curve, r, out);
        close_to("f", out[0], 2 + r * (3 + r * (-1 + r)), 1e-12);
        close_to("f'", out[1], 3 - 2 * r + 3 * r * r, 1e-11);
        close_to("f''", out[2], -2 + 6 * r, 1e-9);
    }
    double out[3];
    ergo_radial_at(curve, 0.1, out);
    close_to("f before the first point", out[0], 2 + 0.5 * (3 + 0.5 * (-1 + 0.5)), 1e-15);
    close_to("f' there", out[1], 0, 0);
    ergo_radial_free(curve);
    ergo_text_free(&text);
    ergo_context_destroy(ctx);
}

static void files_are_refused_with_their_line(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1 2\n2 3\n3 4\n", "has 3 points"},
        {"1 2\n2 3\n2 4\n5 6\n", "a.txt, line 3: the distance does not follow"},
        {"1 2\n# c\n2\n3 4\n5 6\n", "line 3: expected two numbers"},
        {"1 2\n2 x\n3 4\n5 6\n", "line 2: expected two numbers"},
        {"1 2\n2 3 4\n3 4\n5 6\n", "line 2: expected two numbers"},
        {"1 2\n2 inf\n3 4\n5 6\n", "line 2: distances have to be"},
        {"0 2\n2 3\n3 4\n5 6\n", "line 1: distances have to be"},
        {"1 2\n2 1e999\n3 4\n5 6\n", "line 2: distances have to be"},
        {"", "has 0 points"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_context *ctx = ergo_context_create();
        struct ergo_radial *curve = NULL;
        assert_int_equal(ergo_radial_parse(ctx, "a.txt", cases[i][0], strlen(cases[i][0]), &curve),
                         ERGO_E_IO);
        assert_null(curve);
        if (!strstr(ergo_error_message(ctx), cases[i][1]))
            fail_msg("\"%s\", expected \"%s\"", ergo_error_message(ctx), cases[i][1]);
        ergo_context_destroy(ctx);
    }
}

/* The named forms, sampled every 0.01 A: what a user's file of them would give. Stated: 1e-5 of the
 * terms for V and u, 1e-3 for what has second derivatives. */
static void sampled_functions_are_the_named_ones(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    const struct helium_model m = liquid(64, 3.07);
    struct helium_model sampled = m;
    struct ergo_text v = {0}, f = {0};
    for (double r = 1.3; r < 2 * m.half; r += 0.01) {
        double out[2];
        helium_model_v(&m, r, out);
        ergo_text_append(&v, "%.17g %.17g\n", r, out[0]);
        ergo_text_append(&f, "%.17g %.17g\n", r, -0.5 * pow(3.07 / r, 5));
    }
    assert_int_equal(ergo_radial_parse(ctx, "v", v.data, v.length, &sampled.v_curve), ERGO_OK);
    assert_int_equal(ergo_radial_parse(ctx, "f", f.data, f.length, &sampled.f_curve), ERGO_OK);
    sampled.symmetrised = true;
    for (double r = 1.5; r < m.half - 0.01; r += 0.00137) {
        double a[3], b[3], va[2], vb[2];
        helium_model_u(&m, r, a);
        helium_model_u(&sampled, r, b);
        helium_model_v(&m, r, va);
        helium_model_v(&sampled, r, vb);
        close_to("u", b[0], a[0], 1e-6 * (fabs(a[0]) + 1e-3));
        close_to("u'", b[1], a[1], 1e-5 * (fabs(a[1]) + 1e-3));
        close_to("u''", b[2], a[2], 1e-3 * (fabs(a[2]) + 1e-3));
        close_to("V", vb[0], va[0], 1e-5 * (fabs(va[0]) + fabs(va[1])));
    }
    helium_model_free(&sampled);
    ergo_text_free(&v);
    ergo_text_free(&f);
    ergo_context_destroy(ctx);
}

/* u of both signs: half a unit of the fixed point, a whole one where the sign changes. */
static void positive_u_is_rounded_too(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct helium_model m = liquid(64, 0);
    struct ergo_text f = {0};
    for (double r = 0.4; r < m.half + 0.1; r += 0.02)
        ergo_text_append(&f, "%.17g %.17g\n", r, 0.3 * cos(r * 3.14159265358979 / m.half));
    assert_int_equal(ergo_radial_parse(ctx, "f", f.data, f.length, &m.f_curve), ERGO_OK);
    const unsigned binades = helium_model_binades(&m);
    struct helium_cubic_host *table = malloc((binades << HELIUM_U_PIECES) * sizeof *table);
    assert_non_null(table);
    helium_table_u(&m, binades, table);
    const uint32_t base = (127 - binades) << HELIUM_U_PIECES;
    double sum = 0, worst = 0;
    size_t count = 0;
    for (double r = m.core; r < m.half; r += 1e-4, count++) {
        const float y = helium_clamp((float)(r * r / (m.half * m.half)), helium_model_low(&m));
        const int found = (int)helium_poly(cubic(table, helium_piece(y, HELIUM_U_PIECES) - base),
                                           helium_within(y, HELIUM_U_PIECES));
        double u[3];
        helium_model_u(&m, m.half * sqrt((double)y), u);
        assert_true(u[0] > -1e-9);
        worst = fmax(worst, fabs(found - u[0] * 0x1p21));
        sum += found - u[0] * 0x1p21;
    }
    print_message("positive u: error at most %.2f units, %.3f on average\n", worst,
                  sum / (double)count);
    assert_true(worst < 1.5 && fabs(sum / (double)count) < 0.1);
    free(table);
    helium_model_free(&m);
    ergo_text_free(&f);
    ergo_context_destroy(ctx);
}

/* Eq. 12 for the device's time; Eqs. 13 and 14: not so often that the host is what one waits for.
 */
static void how_often_to_measure(void **state) {
    (void)state;
    static const struct {
        struct ergo_cost cost;
        uint64_t every;
    } cases[] = {
        {{.step = 1, .measure = 8, .host = 0.1}, 6}, /* sqrt(2 2 8) = 5.7 */
        {{.step = 1, .measure = 8, .host = 20}, 12}, /* the host needs 20 */
        {{.step = 1, .measure = 0, .host = 0}, 1},   /* costs nothing */
        {{.step = 10, .measure = 1, .host = 0}, 1},  /* 0.6 */
        {{.step = 0, .measure = 1, .host = 0}, 1},   /* not known */
        {{.step = 1e-9, .measure = 1, .host = 5}, 1000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(ergo_cost_best_every(&cases[i].cost, 2), cases[i].every);
}

/* ---- random numbers -------------------------------------------------------------------------- */

static void normal_numbers_are_normal(void **state) {
    (void)state;
    close_to("tail(0)", helium_normal_tail(0), 0.5, 1e-15);
    close_to("tail(1.96)", helium_normal_tail(1.959963984540054), 0.025, 1e-15);
    close_to("tail(6)", helium_normal_tail(6) * 1e9, 0.9865876450376946, 1e-12);
    close_to("tail either side of 2.5", helium_normal_tail(2.5 - 1e-12) - helium_normal_tail(2.5),
             0, 1e-13);
    close_to("inverse", helium_normal_inverse(0.025, 0), 1.959963984540054, 1e-13);

    static struct helium_cubic_host table[2 * HELIUM_R_SIZE];
    helium_table_random(table);
    const helium_cubic *normal = (const helium_cubic *)(const void *)table;
    const helium_cubic *logarithm = normal + HELIUM_R_SIZE;
    double two = 0, four = 0, worst = 0, worst_log = 0;
    const uint32_t stride = 1024; /* words at equal distances: the moments as integrals */
    uint32_t count = 0;
    for (uint32_t word = stride / 2; word < 0x80000000u; word += stride, count++) {
        const float z = helium_normal(normal, word);
        assert_true(z >= 0 && helium_normal(normal, word | 0x80000000u) == -z);
        two += (double)z * z;
        four += (double)z * z * z * z;
        if (count % 997 == 0 && count) {
            worst = fmax(worst, fabs(z - helium_normal_inverse((word + 0.5) * 0x1p-32, 0)));
            worst_log = fmax(worst_log, fabs(helium_bound(logarithm, word) * 0x1p-20 -
                                             log((word + 0.5) * 0x1p-32)));
        }
    }
    print_message("normal: variance %.8f, fourth moment %.7f, error %.1e; logarithm: error %.1e\n",
                  two / count, four / count, worst, worst_log);
    close_to("variance", two / count, 1, 1e-5); /* the stride cuts the tail at 5.1 */
    close_to("fourth moment", four / count, 3, 5e-4);
    assert_true(worst < 2e-6 && worst_log < 2.5e-6);
    for (uint32_t word = 0; word < 1000; word++) { /* the far tail */
        close_to("tail of the table", helium_normal(normal, word),
                 helium_normal_inverse((word + 0.5) * 0x1p-32, 5), 2e-5);
        close_to("logarithm", helium_bound(logarithm, word) * 0x1p-20, log((word + 0.5) * 0x1p-32),
                 4e-6);
    }
    assert_int_equal(helium_bound(logarithm, 0xffffffffu), 0);
    assert_true(helium_normal(normal, 0x7fffffffu) >= 0);
}

static void displacements_are_symmetric_and_bounded(void **state) {
    (void)state;
    assert_int_equal(helium_shift(1e30f), -helium_shift(-1e30f));
    assert_int_equal(helium_shift(-12.9f), -12);
    assert_int_equal(helium_shift(12.9f), 12);
    /* 2 change > ln uniform, both ways of a boundary */
    assert_true(helium_accepts(-5, -5) && !helium_accepts(-6, -5) && helium_accepts(0, 0));
    assert_int_equal(helium_tune_factor(65536, 100, 100, 32768), 65536 * 5 / 4);
    assert_int_equal(helium_tune_factor(65536, 50, 100, 32768), 65536);
    assert_int_equal(helium_tune_factor(64, 0, 100, 32768), 64);
}

/* ---- configurations -------------------------------------------------------------------------- */

/* The static configuration of the reference page. */
static void static_positions(double side, int cells, double *r) {
    const double a = side / cells;
    for (int i = 0; i < cells * cells * cells; i++) {
        const int site[3] = {i % cells, i / cells % cells, i / cells / cells};
        const int step[3] = {3, 5, 7};
        for (int k = 0; k < 3; k++)
            r[3 * i + k] = (site[k] + 0.5) * a + 0.15 * a * sin(k + 1 + step[k] * i);
    }
}

static void static_configuration_of_the_reference(void **state) {
    (void)state;
    double r[192];
    int32_t place[192];
    const struct helium_model m = liquid(64, 3.07);
    struct ergo_oracle_helium h = {.n = 64, .b = 3.07, .lambda = m.lambda, .position = r};
    for (int k = 0; k < 3; k++)
        h.side[k] = m.side[k];
    static_positions(m.side[0], 4, r);
    struct ergo_oracle_helium_energy e;
    ergo_oracle_helium_energies(&h, &e);
    close_to("L", m.side[0], 14.3057271897, 1e-9);
    close_to("ln psi", e.ln_psi, -72.3068392928, 1e-8);
    close_to("V/N", e.potential, -20.1938120388, 1e-8);
    close_to("Tlap/N", e.laplacian, 15.2941480254, 1e-8);
    close_to("Tgrad/N", e.gradient, 12.6881868413, 1e-8);
    const double d[3] = {0.5, -0.4, 0.3};
    close_to("2 dlnpsi", 2 * ergo_oracle_helium_change(&h, 5, d), -0.4618548546, 1e-9);

    /* the chain's integers, from the same places */
    static struct helium_cubic_host table[32 << HELIUM_U_PIECES];
    const unsigned binades = helium_model_binades(&m);
    struct helium_member member = {.low = helium_model_low(&m), .dimensions = 3};
    helium_table_u(&m, binades, table);
    for (int k = 0; k < 3; k++) {
        member.scale[k] = 0x1p-31f;
        for (int i = 0; i < 64; i++)
            place[64 * k + i] = (int32_t)(uint32_t)llround(r[3 * i + k] / m.side[k] * 0x1p32);
    }
    struct helium_oracle chain = {
        .member = &member, .u_table = table, .binades = binades, .n = 64, .place = place};
    const double before = (double)helium_oracle_ln_psi(&chain) * 0x1p-22;
    close_to("ln psi of the chain", before, -72.3068392928, 2e-5);
    for (int k = 0; k < 3; k++)
        place[64 * k + 5] += (int32_t)llround(d[k] / m.side[k] * 0x1p32);
    close_to("2 dlnpsi of the chain", 2 * ((double)helium_oracle_ln_psi(&chain) * 0x1p-22 - before),
             -0.4618548546, 5e-6);
}

/* N = 2 in a box of 8 A, exactly: integrals over the relative position, here on a grid. */
static void two_atoms_by_quadrature(void **state) {
    (void)state;
    static const double rows[2][4] = {{3.07, -1.038891492, 0.910309466, 0.910309466},
                                      {2.80, -0.875564803, 0.738458762, 0.738458762}};
    for (int row = 0; row < 2; row++) {
        struct helium_model m = liquid(2, 1);
        const int points = 160;
        double weight = 0, potential = 0, laplacian = 0, gradient = 0;
        m.b = rows[row][0];
        m.half = 4;
        for (int i = 0; i < points; i++)
            for (int j = 0; j < points; j++)
                for (int k = 0; k < points; k++) {
                    const double h = 4.0 / points, x = h * (i + 0.5), y = h * (j + 0.5),
                                 z = h * (k + 0.5), r = sqrt(x * x + y * y + z * z);
                    double u[3], v[2];
                    helium_model_u(&m, r, u);
                    if (u[0] < -30)
                        continue;
                    const double w = exp(2 * u[0]);
                    weight += w;
                    if (r >= 4)
                        continue;
                    helium_model_v(&m, r, v);
                    potential += w * v[0] / 2;
                    gradient += w * m.lambda * u[1] * u[1];
                    laplacian -= w * m.lambda * (u[2] + 2 * u[1] / r + u[1] * u[1]);
                }
        close_to("V/N", potential / weight, rows[row][1], 2e-4);
        close_to("T_lap/N", laplacian / weight, rows[row][2], 2e-4);
        close_to("T_grad/N", gradient / weight, rows[row][3], 2e-4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aziz_potential_has_the_published_values),
        cmocka_unit_test(potentials_have_their_wells),
        cmocka_unit_test(u_is_the_oracles_and_smooth),
        cmocka_unit_test(table_of_u_is_good_to_a_millionth),
        cmocka_unit_test(how_often_to_measure),
        cmocka_unit_test(a_spline_is_exact_for_cubics),
        cmocka_unit_test(files_are_refused_with_their_line),
        cmocka_unit_test(sampled_functions_are_the_named_ones),
        cmocka_unit_test(positive_u_is_rounded_too),
        cmocka_unit_test(tables_of_energies_are_good_to_a_millionth),
        cmocka_unit_test(tails_are_integrals),
        cmocka_unit_test(units_follow_the_job),
        cmocka_unit_test(normal_numbers_are_normal),
        cmocka_unit_test(displacements_are_symmetric_and_bounded),
        cmocka_unit_test(static_configuration_of_the_reference),
        cmocka_unit_test(two_atoms_by_quadrature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
