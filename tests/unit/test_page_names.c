/* What figures are called, in which order they come, and what is saved of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "page/sections.h"

static enum ergo_report_kind kind_of(const char *name, bool merit) {
    const struct ergo_observable observable = {.name = name, .merit = merit};
    return ergo_report_kind(&observable);
}

static void results_before_checks_before_moments(void **state) {
    (void)state;
    static const char *const results[] = {"energy",   "susceptibility", "binder", "psi6",
                                          "pressure", "moment_ratio",   "density"};
    static const char *const checks[] = {
        "acceptance", "acceptance_insertion", "psi2_plain",  "kinetic_difference", "energy_sigma",
        "ln_psi",     "swap_acceptance",      "round_trips", "effective_walkers"};
    static const char *const moments[] = {"magnetization2", "psi4", "overlap4", "energy2",
                                          "particles_energy"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_int_equal(kind_of(results[i], false), ERGO_REPORT_RESULT);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        assert_int_equal(kind_of(checks[i], false), ERGO_REPORT_CHECK);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        assert_int_equal(kind_of(moments[i], false), ERGO_REPORT_MOMENT);
    /* what a run is tuned by is what it is for */
    assert_int_equal(kind_of("magnetization2", true), ERGO_REPORT_RESULT);
    assert_int_equal(kind_of("", false), ERGO_REPORT_RESULT);
}

static void check(void (*put)(struct ergo_text *, const char *), const char *from,
                  const char *wanted) {
    struct ergo_text text = {0};
    put(&text, from);
    assert_string_equal(text.data ? text.data : "", wanted);
    ergo_text_free(&text);
}

static void put_unit(struct ergo_text *text, const char *unit) {
    ergo_html_name(text, unit, false);
}

static void signs_of_papers(void **state) {
    (void)state;
    check(ergo_html_prose, "1 - <m^4> / (3 <m^2>^2), N a", "1 - ⟨m⁴⟩ / (3 ⟨m²⟩²), N a");
    check(ergo_html_prose, "A side of x < 2 > y", "A side of x &#60; 2 &#62; y"); /* an article */
    check(ergo_html_prose, "<script>", "⟨script⟩");                               /* no markup */
    check(ergo_html_prose, "<b and a -> b", "⟨b and a -⟩ b");
    check(ergo_html_prose, "sqrt(2) pi, spin", "√(2) π, spin");
    check(ergo_html_prose, "|Psi_6| of `psi6` and beta P, not beta_mu",
          "|Ψ₆| of psi6 and β P, not beta_mu");
    check(ergo_html_prose, "10^-3 & so", "10⁻³ &#38; so");
    check(put_unit, "1/A^3", "1/Å³");
    check(put_unit, "k_B T / sigma^2", "k<sub>B</sub> T / σ²");
    check(put_unit, "energy_sigma", "energy sigma"); /* a name is a name */
    assert_string_equal(ergo_report_axis_name("susceptibility"), "χ");
    assert_string_equal(ergo_report_axis_name("wrapping"), "wrapping");
    assert_null(ergo_report_symbol("wrapping"));
}

/* What stands behind a comma is base64. */
static char *decode(const char *page, const char *kind) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strstr(strstr(page, kind), "base64,") + 7;
    char *out = calloc(strlen(at) + 1, 1);
    unsigned bits = 0, value = 0;
    for (size_t n = 0; *at != '"' && *at != '='; at++) {
        value = value << 6 | (unsigned)(strchr(digits, *at) - digits);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = (char)(value >> bits & 0xff);
        }
    }
    return out;
}

static void figures_are_saved(void **state) {
    (void)state;
    const double x[] = {1, 2, 4}, y[] = {0.5, NAN, -3}, error[] = {0.1, 0.2, NAN};
    const struct ergo_plot_series series = {
        .mark = ERGO_MARK_POINTS, .label = "L = 8, \"b\"", .n = 3, .x = x, .y = y, .error = error};
    const struct ergo_plot plot = {.alt = "a",
                                   .x_name = "T",
                                   .x_unit = "J/k_B",
                                   .y_name = "χ",
                                   .y_unit = "",
                                   .shade = NAN,
                                   .n_series = 1,
                                   .series = &series};
    struct ergo_text page = {0};
    ergo_report_save(&page, &plot, "a/b <c>");
    assert_non_null(strstr(page.data, "download=\"a-b--c-.csv\""));
    char *csv = decode(page.data, "text/csv"), *svg = decode(page.data, "image/svg+xml");
    assert_string_equal(csv, "series,T (J/k_B),χ,error\n"
                             "\"L = 8, \"\"b\"\"\",1,0.5,0.1\n"
                             "\"L = 8, \"\"b\"\"\",2,,0.2\n"
                             "\"L = 8, \"\"b\"\"\",4,-3,\n");
    assert_non_null(strstr(svg, "xmlns=\"http://www.w3.org/2000/svg\""));
    assert_non_null(strstr(svg, "L = 8, &#34;b&#34;"));
    assert_null(strstr(svg, "class=\"h\"")); /* nothing that a pointer brings up */
    assert_null(strstr(svg, "var("));
    free(csv);
    free(svg);
    ergo_text_free(&page);
}

/* A curve with a gap behind its first point: that point is seen, and no others get dashes. */
static void lone_points_are_seen(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4}, y[] = {1, NAN, 2, 3}, whole[] = {1, 2, 2, 3};
    struct ergo_plot_series series = {.mark = ERGO_MARK_LINE, .label = "", .n = 4, .x = x, .y = y};
    const struct ergo_plot plot = {.alt = "a",
                                   .x_name = "x",
                                   .y_name = "y",
                                   .shade = NAN,
                                   .x_unit = "",
                                   .y_unit = "",
                                   .n_series = 1,
                                   .series = &series};
    for (int k = 0; k < 2; k++) {
        struct ergo_text page = {0};
        series.y = k ? whole : y;
        ergo_report_save(&page, &plot, "a");
        char *svg = decode(page.data, "image/svg+xml"), *dash = strstr(svg, "m-1.5 0h3");
        assert_int_equal(dash != NULL, k == 0);
        assert_null(dash ? strstr(dash + 1, "m-1.5 0h3") : NULL);
        free(svg);
        ergo_text_free(&page);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_before_checks_before_moments),
        cmocka_unit_test(signs_of_papers),
        cmocka_unit_test(figures_are_saved),
        cmocka_unit_test(lone_points_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
