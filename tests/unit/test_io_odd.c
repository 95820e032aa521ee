/* Pages, pictures and JSON of odd results: NaN, infinities, extreme numbers, markup in names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "compare/compare.h"
#include "odd_result.h"

static struct ergo_context *ctx;
static char folder[] = "/tmp/ergo-odd-XXXXXX";
static const double odd[] = {0.0,    -0.0,   -1,     NAN,   INFINITY, -INFINITY, 1e308, -1e308,
                             5e-324, 1e-308, 1e-300, 1e300, 1e301,    -1e301,    1e-15, 1e20};

static void drawn(const struct ergo_result *result, const char *what, double value) {
    const char *wrong = odd_draw(ctx, result);
    if (wrong)
        fail_msg("%s %g: %s", what, value, wrong);
}

/* Each number by itself, in a scan and alone. */
static void any_number_is_drawn(void **state) {
    (void)state;
    for (int scan = 1; scan <= 2; scan++) {
        const struct synthetic_options options = {scan, 1, 1, 2, 60, 0, 1};
        struct ergo_result *result = synthetic_result(&options);
        struct ergo_member_result *m = &result->members[0];
        for (size_t o = 0; o < 4; o += 3) {
            struct ergo_observable_result *r = &m->observables[o];
            double *const places[] = {&r->estimate.mean,
                                      &r->estimate.error,
                                      &r->estimate.tau,
                                      &r->estimate.tau_error,
                                      &r->exact,
                                      &r->z,
                                      &r->reference_z,
                                      &m->curves[0].mean[0],
                                      &m->curves[0].error[0],
                                      &m->curves[0].x[0],
                                      &result->rate,
                                      &result->seconds};
            for (size_t p = 0; p < sizeof places / sizeof places[0]; p++)
                for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
                    const double before = *places[p];
                    *places[p] = odd[i];
                    drawn(result, "a number", odd[i]);
                    *places[p] = before;
                }
        }
        synthetic_free(result);
    }
}

/* Whole series of a kind: their ticks, bins, times; and estimates made of them. */
static void any_series_is_drawn(void **state) {
    const struct synthetic_options options = {2, 1, 2, 2, 60, 0, 1};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
            struct ergo_result *result = synthetic_result(&options);
            for (size_t m = 0; m < result->n_members; m++) {
                double *series = result->members[m].series[m % 2];
                for (size_t s = 0; s < 60; s++) /* runs of different lengths */
                    series[s] = s * s % 7 < 3 ? odd[i] : odd[k];
                synthetic_observe(&result->members[m]);
            }
            free(result->means);
            result->means = NULL;
            assert_int_equal(ergo_result_means(ctx, result), ERGO_OK);
            assert_int_equal(ergo_result_warn(ctx, result), ERGO_OK);
            drawn(result, "a series", odd[i]);
            synthetic_free(result);
        }
}

/* "0 x 0" ended the program. Others are shown; the files that can be are made. */
static void pictures_without_pixels_are_left_out(void **state) {
    const struct synthetic_options options = {2, 1, 1, 4, 40, 2, 1};
    char path[64];
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct ergo_result *result = synthetic_result(&options);
        for (size_t m = 0; m < result->n_members; m++)
            for (size_t i = 0; i < result->members[m].n_pictures; i++)
                if (all || m == 0)
                    result->members[m].pictures[i].width = result->members[m].pictures[i].height =
                        0;
        drawn(result, "pictures", all);
        struct ergo_folder opened;
        assert_int_equal(ergo_folder_open(ctx, folder, &opened), ERGO_OK);
        assert_int_equal(ergo_page_write_pictures(ctx, &opened, result), ERGO_OK);
        assert_int_equal(ergo_page_write(ctx, &opened, result), ERGO_OK);
        ergo_folder_close(&opened);
        snprintf(path, sizeof path, "%s/configurations.png", folder);
        assert_int_equal(access(path, F_OK) == 0, !all);
        remove(path);
        synthetic_free(result);
    }
}

/* Curves and maps whose errors are trusted, and those that are not, for whatever reason. */
static void any_trust_of_curves_is_drawn(void **state) {
    const struct synthetic_options options = {2, 1, 1, 2, 60, 0, 1};
    struct ergo_result *result = synthetic_result(&options);
    struct ergo_model model = *result->job->model;
    (void)state;
    result->job->model = &model;
    for (uint32_t grids = 0; grids < 2; grids++)
        for (unsigned trust = 0; trust < ERGO_TRUSTS; trust++) {
            model.curves_grids = grids;
            for (size_t m = 0; m < result->n_members; m++) {
                result->members[m].curves[0].size = 4;
                result->members[m].curves[0].trust = m ? ERGO_TRUST_FULL : (enum ergo_trust)trust;
            }
            drawn(result, grids ? "a map" : "a curve", trust);
        }
    synthetic_free(result);
}

/* Times, rates and energies that a clock, a driver or a counter made up. */
static void any_comparison_is_drawn(void **state) {
    const struct synthetic_options options = {1, 1, 1, 2, 40, 0, 1};
    char path[64], *text = NULL, *page = NULL;
    size_t length = 0;
    (void)state;
    struct ergo_result *a = synthetic_result(&options), *b = synthetic_result(&options);
    char name[] = "<b onload=\"x\">\x1b[31m", message[] = "</td><script>";
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct ergo_compared_device devices[3] = {
            {.selector = name, .folder = name, .result = a, .seconds = odd[i]},
            {.selector = name, .folder = name, .result = b, .joules = odd[i], .joules_work = 1},
            {.selector = name, .folder = name, .message = message}};
        const struct ergo_comparison c = {.n_devices = 3, .devices = devices, .first_device = 3};
        struct ergo_arena arena = {0};
        struct ergo_json *root = NULL;
        a->rate = a->seconds = odd[i];
        b->rate = odd[sizeof odd / sizeof odd[0] - 1 - i];
        for (size_t k = 0; k < ERGO_PHASES; k++)
            b->phases[k] = odd[(i + k) % (sizeof odd / sizeof odd[0])];
        snprintf(b->device.name, sizeof b->device.name, "%s", name);
        assert_int_equal(ergo_comparison_write_page(ctx, &c, folder), ERGO_OK);
        snprintf(path, sizeof path, "%s/compare.html", folder);
        assert_int_equal(ergo_file_read(ctx, NULL, path, 1 << 24, &page, &length), ERGO_OK);
        if (page_wrong(page))
            fail_msg("%g: %.100s", odd[i], page_wrong(page));
        assert_int_equal(ergo_comparison_json(ctx, &c, &text), ERGO_OK);
        assert_int_equal(ergo_json_parse(ctx, "j", text, strlen(text), &arena, &root), ERGO_OK);
        ergo_arena_free(&arena);
        free(text);
        free(page);
        assert_int_equal(ergo_comparison_table(ctx, &c, &text), ERGO_OK);
        free(text);
    }
    synthetic_free(a);
    synthetic_free(b);
}

/* Random changes, as fuzz_page makes them, and what it has found. */
static void any_bytes_are_drawn(void **state) {
    uint64_t random = 3;
    uint8_t bytes[300];
    (void)state;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) /* small ones mean more */
            bytes[i] = (uint8_t)(synthetic_random(&random) >> (synthetic_random(&random) % 6));
        bytes[0] = (uint8_t)synthetic_random(&random);
        const char *wrong = odd_result(ctx, bytes, sizeof bytes);
        if (wrong)
            fail_msg("round %d: %s", round, wrong);
    }
}

/* A page of which page_wrong says nothing would be one whatever it says. */
static void what_is_wrong_is_found(void **state) {
    static const char *const bodies[] = {"<b>x",
                                         "</b>",
                                         "<script>1</script>",
                                         "<p onclick=\"x\">x</p>",
                                         "<path d=\"M1 nan\"/>",
                                         "<rect x=\"-inf\"/>",
                                         "<p class=x></p>",
                                         "<b><i></b></i>",
                                         "a \x1b",
                                         "<a href=\"http:x\"></a>",
                                         "< b",
                                         "<img src=\"x.png\">"};
    char page[200];
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        snprintf(page, sizeof page, "<!DOCTYPE html>\n<html>%s</html>\n", bodies[i]);
        assert_non_null(page_wrong(page));
    }
    assert_null(page_wrong("<!DOCTYPE html>\n<html><body class=\"nav\"><p>nan &#60; inf</p>"
                           "<img alt=\"info\" src=\"data:image/png;base64,\"></body></html>\n"));
}

static int set_up(void **state) {
    (void)state;
    ctx = ergo_context_create();
    return ctx && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ergo_context_destroy(ctx);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_is_drawn),
        cmocka_unit_test(any_series_is_drawn),
        cmocka_unit_test(pictures_without_pixels_are_left_out),
        cmocka_unit_test(any_trust_of_curves_is_drawn),
        cmocka_unit_test(any_comparison_is_drawn),
        cmocka_unit_test(any_bytes_are_drawn),
        cmocka_unit_test(what_is_wrong_is_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
