/* Axes of a page's figures: numbers that grow by factors, a 0 among them, values that are not what
 * their name says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/sections.h"
#include "test_io_synthetic.h"

static void factors_or_steps(void **state) {
    static const struct {
        double numbers[12];
        size_t n;
        bool factors;
        double zero;
    } cases[] = {
        {{1, 2, 4, 8, 16}, 5, true, 0},
        {{16, 1, 4, 2, 8, 8, 1}, 7, true, 0}, /* replicas, in any order */
        {{1, 2, 4}, 3, true, 0},
        {{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, 11, true, 0.5}, /* Fig. 5 of the paper */
        {{0, 64, 0, 128, 256}, 5, true, 32},
        {{0, 1, 10, 100}, 4, true, 0.1},
        {{0, 1, 1.5, 2.25, 3.375, 5.0625}, 6, true, 0.5},
        {{1, 2, 5, 10, 20, 50}, 6, true, 0},
        {{1, 2, 3, 4, 5, 6}, 6, false, 0},
        {{0, 1, 2, 3, 4, 5}, 6, false, 0},
        {{0, 1}, 2, false, 0},
        {{2, 2.2, 2.42, 2.662}, 4, false, 0}, /* factors, but all of a size */
        {{1, 2, 2.2, 2.25, 2.27, 2.3, 2.4, 3, 4}, 9, false, 0},
        {{-1, 1, 2, 4}, 4, false, 0},
        {{0, 0, 0}, 3, false, 0},
        {{7}, 1, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double numbers[12], zero = -1;
        memcpy(numbers, cases[i].numbers, sizeof numbers);
        const bool factors = ergo_report_goes_in_factors(numbers, cases[i].n, &zero);
        if (factors != cases[i].factors || zero != cases[i].zero)
            fail_msg("case %zu: %d, zero at %g", i, factors, zero);
    }
}

static char *plot_text(const double *x, size_t n, bool is_log, double zero) {
    static const double y[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const struct ergo_plot_series series = {.mark = ERGO_MARK_POINTS, .n = n, .x = x, .y = y};
    const struct ergo_plot plot = {.alt = "",
                                   .x_name = "x",
                                   .x_unit = "",
                                   .y_name = "y",
                                   .y_unit = "",
                                   .x_log = is_log,
                                   .x_zero = zero,
                                   .shade = NAN,
                                   .n_series = 1,
                                   .series = &series};
    struct ergo_text text = {0};
    assert_true(ergo_svg_plot(&text, &plot));
    return ergo_text_take(&text);
}

/* The labels below the axis, in order: "0 1 10 100". */
static void x_labels(const char *svg, char *labels, size_t size) {
    static const char begin[] = "<text class=\"n\" text-anchor=\"middle\" x=\"";
    size_t used = 0;
    labels[0] = '\0';
    for (const char *at = strstr(svg, begin); at; at = strstr(at + 1, begin)) {
        const char *label = strchr(at, '>') + 1;
        used += (size_t)snprintf(labels + used, size - used, "%s%.*s", used ? " " : "",
                                 (int)strcspn(label, "<"), label);
    }
}

static void nought_stands_behind_a_break(void **state) {
    static const double places[] = {0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    static const char stroke[] = "l3 -9";
    char labels[256];
    (void)state;
    char *svg = plot_text(places, 11, true, 0.5);
    x_labels(svg, labels, sizeof labels);
    assert_string_equal(labels, "0 1 10 100");
    const char *first = strstr(svg, stroke);
    assert_non_null(first);
    assert_non_null(strstr(first + 1, stroke));
    free(svg);
    svg = plot_text(places, 11, true, 0);
    x_labels(svg, labels, sizeof labels);
    assert_string_equal(labels, "1 10 100");
    assert_null(strstr(svg, stroke));
    free(svg);
}

/* A range that is no range, however large the numbers. */
static void one_huge_number_has_an_axis(void **state) {
    static const double x[] = {1e17, 1e17, 1e17};
    (void)state;
    char *svg = plot_text(x, 3, false, 0);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    free(svg);
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* The figure that is called `name`, to its end; the caller frees. */
static char *figure_of(const char *page, const char *name) {
    char title[96];
    snprintf(title, sizeof title, "<figure><figcaption><b>%s</b>", name);
    const char *from = strstr(page, title);
    assert_non_null(from);
    return strndup(from, (size_t)(strstr(from, "</figure>") - from));
}

static double synthetic_bound(const struct ergo_point *point) {
    (void)point;
    return 0.8;
}

/* |m| stands for a length here: of five temperatures two are ordered. */
static void what_is_beyond_its_bound_is_not_drawn(void **state) {
    const struct synthetic_options options = {5, 1, 1, 8, 2000, 0, 2};
    static const char beyond[] = "longer than <the lattice>";
    struct ergo_observable bounded = synthetic_observables[2];
    struct ergo_observable observables[SYNTHETIC_OBSERVABLES];
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_result *result = synthetic_result(&options);
    struct ergo_text page = {0};
    (void)state;
    bounded.bound = synthetic_bound;
    bounded.beyond = beyond;
    memcpy(observables, synthetic_observables, sizeof observables);
    observables[2] = bounded;
    struct ergo_model model = synthetic_model;
    model.observables = observables;
    result->job->model = &model;
    size_t ordered = 0;
    for (size_t m = 0; m < result->n_members; m++) {
        result->members[m].observables[2].observable = &observables[2];
        ordered += result->members[m].observables[2].estimate.mean > 0.8;
    }
    assert_int_equal(ordered, 2);
    ergo_report_begin(&page, "bounds");
    assert_int_equal(ergo_report_run(ctx, &page, result), ERGO_OK);
    ergo_report_end(&page);
    char *figure = figure_of(page.data, "abs magnetization");
    assert_non_null(
        strstr(figure, "; not drawn: 2 points, longer than &#60;the lattice&#62;</small>"));
    assert_int_equal(count_of(figure, "<circle class=\"m"), 3);
    free(figure);
    figure = figure_of(page.data, "magnetization2");
    assert_null(strstr(figure, "not drawn"));
    assert_int_equal(count_of(figure, "<circle class=\"m"), 5);
    free(figure);
    assert_int_equal(count_of(page.data, "<small>longer than &#60;the lattice&#62;</small>"), 2);
    ergo_text_free(&page);
    /* scripts have all of them */
    char *json = NULL;
    assert_int_equal(ergo_result_json(ctx, result, &json), ERGO_OK);
    assert_null(strstr(json, "null"));
    free(json);
    synthetic_free(result);
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_or_steps),
        cmocka_unit_test(nought_stands_behind_a_break),
        cmocka_unit_test(one_huge_number_has_an_axis),
        cmocka_unit_test(what_is_beyond_its_bound_is_not_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
