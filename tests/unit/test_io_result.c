/* Results: result.json, series.h5, the table, pictures and the report, from a synthetic run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <png.h>

#include "result/format.h"
#include "page/pictures.h"
#include "base/json_out.h"
#include "test_io_synthetic.h"

static struct ergo_context *ctx;
static struct ergo_result *result; /* a scan of 3 temperatures, 2 replicas */
static char folder[64];
static struct ergo_folder opened;

static int setup(void **state) {
    struct synthetic_options options = {3, 1, 2, 8, 2000, 2, 2};
    (void)state;
    ctx = ergo_context_create();
    snprintf(folder, sizeof folder, "/tmp/ergo-test-XXXXXX");
    if (!ctx || !mkdtemp(folder) || ergo_folder_open(ctx, folder, &opened) != ERGO_OK)
        return -1;
    result = synthetic_result(&options);
    return 0;
}

static int teardown(void **state) {
    char command[128];
    (void)state;
    ergo_folder_close(&opened);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    synthetic_free(result);
    ergo_context_destroy(ctx);
    return system(command);
}

static cJSON *parse_result(void) {
    char *text;
    assert_int_equal(ergo_result_json(ctx, result, &text), ERGO_OK);
    cJSON *json = cJSON_ParseWithOpts(text, NULL, 1);
    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *at(const cJSON *json, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!item)
        print_error("no member '%s'\n", name);
    assert_non_null(item);
    return item;
}

static void json_is_as_documented(void **state) {
    (void)state;
    cJSON *json = parse_result();
    assert_string_equal(at(json, "ergocl")->valuestring, ERGO_VERSION);
    assert_string_equal(at(json, "sampler")->valuestring, "spin-lattice");
    assert_string_equal(at(json, "seed")->valuestring, "18446744073709551615");
    assert_string_equal(at(json, "status")->valuestring, "complete");
    assert_string_equal(at(json, "started")->valuestring, "2025-01-31T12:00:00Z");
    assert_string_equal(at(at(json, "device")->child, "name")->valuestring,
                        "Plain C \"reference\"");
    assert_int_equal(cJSON_GetArraySize(at(json, "points")), 6);
    assert_int_equal(cJSON_GetArraySize(at(json, "warnings")), 0);
    assert_true(at(at(json, "rate"), "value")->valuedouble == 2.9e8);
    assert_string_equal(at(at(at(json, "job"), "system"), "model")->valuestring, "ising");
    const cJSON *point = cJSON_GetArrayItem(at(json, "points"), 3);
    const struct ergo_member_result *member = &result->members[3];
    assert_true(at(at(point, "parameters"), "/system/temperature")->valuedouble == 2.5);
    assert_int_equal(at(point, "replica")->valueint, 1);
    assert_int_equal(at(point, "steps")->valueint, 4000);
    assert_int_equal(strlen(at(point, "digest")->valuestring), 16);
    assert_true(strtoull(at(point, "digest")->valuestring, NULL, 16) == member->digest);
    const cJSON *energy = at(at(point, "observables"), "energy");
    const struct ergo_estimate *estimate = &member->observables[0].estimate;
    /* the same doubles, to the last bit */
    assert_true(at(energy, "mean")->valuedouble == estimate->mean);
    assert_true(at(energy, "error")->valuedouble == estimate->error);
    assert_true(at(energy, "error_binning")->valuedouble == estimate->error_binning);
    assert_true(at(energy, "tau")->valuedouble == estimate->tau * 2);
    assert_true(at(energy, "exact")->valuedouble == member->observables[0].exact);
    assert_true(at(energy, "z")->valuedouble == member->observables[0].z);
    assert_int_equal(at(energy, "samples")->valueint, 1600);
    assert_string_equal(at(energy, "unit")->valuestring, "J per site");
    assert_null(cJSON_GetObjectItem(at(point, "observables"), "energy2")); /* hidden */
    assert_null(cJSON_GetObjectItem(at(at(point, "observables"), "abs_magnetization"), "exact"));
    const cJSON *curve = at(at(point, "curves"), "correlation");
    assert_int_equal(cJSON_GetArraySize(at(curve, "x")), 4);
    assert_int_equal(cJSON_GetArraySize(at(curve, "mean")), 4);
    cJSON_Delete(json);
}

static void near(double x, double y) {
    if (!(fabs(x - y) <= 1e-12 * fabs(y)))
        fail_msg("%.17g is not %.17g", x, y);
}

/* Chains of one point: the time is theirs. Of a scan nobody knows whose it is. */
static void decorrelation_per_second(void **state) {
    (void)state;
    const struct synthetic_options options = {1, 1, 2, 8, 3000, 0, 4};
    struct ergo_result *scan = result;
    char *table;
    cJSON *json = parse_result();
    assert_null(cJSON_GetObjectItem(at(json, "rate"), "decorrelation"));
    cJSON_Delete(json);
    result = synthetic_result(&options);
    const struct ergo_estimate *a = &result->members[0].observables[0].estimate,
                               *b = &result->members[1].observables[0].estimate;
    json = parse_result();
    const cJSON *merit = at(at(json, "rate"), "decorrelation");
    /* 2 chains of 3000 samples after every 4 sweeps, in 3.125 s */
    const double tau = 4 * (a->tau + b->tau) / 2, speed = 2 * 12000 / 3.125;
    const double error = 4 * hypot(a->tau_error, b->tau_error) / 2;
    assert_string_equal(at(merit, "observable")->valuestring, "energy");
    near(at(merit, "tau")->valuedouble, tau);
    near(at(merit, "tau_error")->valuedouble, error);
    near(at(merit, "steps_per_second")->valuedouble, speed);
    const double independent = speed / (2 * tau);
    near(at(merit, "independent_per_second")->valuedouble, independent);
    near(at(merit, "error")->valuedouble, independent * error / tau);
    assert_null(cJSON_GetObjectItem(merit, "too_short"));
    cJSON_Delete(json);
    assert_int_equal(ergo_result_table(ctx, result, &table), ERGO_OK);
    assert_non_null(strstr(table, "independent samples of energy per second: "));
    assert_non_null(strstr(table, "(7680 sweeps per second, tau "));
    assert_null(strstr(table, "(?)"));
    free(table);
    result->members[1].observables[0].estimate.too_short = true;
    json = parse_result();
    assert_true(cJSON_IsTrue(at(at(at(json, "rate"), "decorrelation"), "too_short")));
    cJSON_Delete(json);
    assert_int_equal(ergo_result_table(ctx, result, &table), ERGO_OK);
    assert_non_null(strstr(table, ")(?) (7680"));
    free(table);
    result->members[1].observables[0].estimate.tau = NAN;
    json = parse_result();
    assert_null(cJSON_GetObjectItem(at(json, "rate"), "decorrelation"));
    cJSON_Delete(json);
    synthetic_free(result);
    result = scan;
}

static void what_is_not_a_number_is_null(void **state) {
    (void)state;
    struct ergo_observable_result *energy = &result->members[0].observables[0];
    struct ergo_observable_result before = *energy;
    energy->estimate.error = NAN;
    energy->estimate.tau = INFINITY;
    energy->z = -INFINITY;
    energy->estimate.too_short = true;
    energy->trust = ERGO_TRUST_SHORT;
    cJSON *json = parse_result();
    const cJSON *observable = at(at(at(json, "points")->child, "observables"), "energy");
    assert_true(cJSON_IsNull(at(observable, "error")));
    assert_true(cJSON_IsNull(at(observable, "tau")));
    assert_true(cJSON_IsNull(at(observable, "z")));
    assert_true(cJSON_IsNumber(at(observable, "exact")));
    assert_true(cJSON_IsTrue(at(observable, "too_short")));
    assert_string_equal(at(observable, "untrusted")->valuestring, "too-short");
    cJSON_Delete(json);
    /* and nothing else stumbles over it */
    char *table;
    assert_int_equal(ergo_result_table(ctx, result, &table), ERGO_OK);
    assert_non_null(strstr(table, "(?)"));
    free(table);
    assert_int_equal(ergo_page_write(ctx, &opened, result), ERGO_OK);
    assert_int_equal(ergo_result_write_series(ctx, &opened, result), ERGO_OK);
    *energy = before;
}

/* A published value and its error, beside exact ones: named for what they are. */
static void references_are_not_exact(void **state) {
    (void)state;
    struct ergo_observable_result before[6], mean[3];
    for (int m = 0; m < 6; m++) {
        struct ergo_observable_result *r = &result->members[m].observables[2];
        before[m] = *r;
        r->published = true;
        r->reference = 0.5;
        r->reference_error = 0.012;
        r->reference_z = 2;
        if (m < 3) {
            mean[m] = result->means[m].observables[2];
            result->means[m].observables[2].published = true;
            result->means[m].observables[2].reference_z = 2.5;
        }
    }
    cJSON *json = parse_result();
    const cJSON *o = at(at(at(json, "points")->child, "observables"), "abs_magnetization");
    assert_true(at(o, "reference")->valuedouble == 0.5 && at(o, "reference_z")->valuedouble == 2 &&
                at(o, "reference_error")->valuedouble == 0.012);
    assert_null(cJSON_GetObjectItem(o, "exact"));
    cJSON_Delete(json);
    char *table;
    assert_int_equal(ergo_result_table(ctx, result, &table), ERGO_OK);
    assert_non_null(strstr(table, "reference  z(ref)"));
    assert_non_null(strstr(table, "0.500(12)"));
    assert_non_null(strstr(table, "chi2/dof against exact and reference values: energy "));
    assert_non_null(strstr(table, "abs_magnetization 18.8/3")); /* means, which share the value */
    free(table);
    for (int m = 0; m < 6; m++) {
        result->members[m].observables[2] = before[m];
        if (m < 3)
            result->means[m].observables[2] = mean[m];
    }
}

static char *written(double number, const char *string) {
    struct ergo_json_out out = {0};
    if (string)
        ergo_out_text(&out, NULL, string);
    else
        ergo_out_number(&out, NULL, number);
    return ergo_out_take(&out, true);
}

static void expect_written(double number, const char *string, const char *expected) {
    char *text = written(number, string);
    assert_string_equal(text, expected);
    free(text);
}

static void numbers_and_texts_survive(void **state) {
    (void)state;
    static const double numbers[] = {0.1, 1.0 / 3, 0.1 + 0.2, -1e-300, 5e-324, 123456789012345678.0,
                                     0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *number = written(numbers[i], NULL);
        assert_true(strtod(number, NULL) == numbers[i]);
        free(number);
    }
    expect_written(0.1, NULL, "0.1"); /* shortest */
    expect_written(NAN, NULL, "null");
    expect_written(-INFINITY, NULL, "null");
    expect_written(0, "a\"b\\c\n\x01 \xc3\xa9 \xff \xed\xa0\x80",
                   "\"a\\\"b\\\\c\\n\\u0001 \xc3\xa9 \xef\xbf\xbd "
                   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    /* what a terminal would obey; a character that is cut */
    expect_written(0, "\x7f\xc2\x9b\xc2\xa0\xc2", "\"\\u007f\\u009b\xc2\xa0\xef\xbf\xbd\"");
    struct ergo_text text = {0};
    ergo_html_escape(&text, "<a href='x'>&\"");
    assert_string_equal(text.data, "&#60;a href=&#39;x&#39;&#62;&#38;&#34;");
    ergo_text_free(&text);
    ergo_html_name(&text, "heat_capacity k_B A^-3", false);
    assert_string_equal(text.data, "heat capacity k<sub>B</sub> Å⁻³");
    ergo_text_free(&text);
}

static void errors_are_concise(void **state) {
    (void)state;
    static const struct {
        double value, error;
        const char *text;
    } cases[] = {
        {-1.4190812, 0.00012, "-1.41908(12)"},
        {0.5, 0.0996, "0.50(10)"},
        {0.5, 0.00949, "0.5000(95)"},
        {12.34, 1.4, "12.3(1.4)"},
        {1234.4, 56, "1234(56)"},
        {1234.4, 9.96, "1234(10)"},
        {3, 0.996, "3.0(1.0)"},
        {1.234567e-7, 1.2e-9, "1.235(12)e-7"},
        {2.5e9, 3e7, "2.500(30)e9"},
        {1, 0, "1(0)"},
        {0.25, NAN, "0.25(?)"},
        {NAN, NAN, "-"},
        {0, 0.00012, "0.00000(12)"},
        {123456, 0.5, "123456.00(50)"},
        /* neither has digits of the other */
        {1e308, 1e-308, "1e+308(1e-308)"},
        {1, 1e-17, "1(1e-17)"},
        {5e-324, 5e-324, "4.94065645841247e-324(4.9e-324)"},
        {1e-310, 1e300, "0.0(1.0)e300"},
    };
    char buffer[ERGO_CONCISE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(ergo_format_concise(buffer, cases[i].value, cases[i].error),
                            cases[i].text);
}

/* Too many rows: a row for all replicas of a point, which is there beside them in any case. */
static void replicas_share_a_row(void **state) {
    (void)state;
    const struct synthetic_options options = {14, 1, 3, 8, 3000, 0, 1};
    struct ergo_result *many = synthetic_result(&options);
    char *table, expected[ERGO_CONCISE];
    double mean = 0, squares = 0;
    for (int r = 0; r < 3; r++) {
        mean += many->members[39 + r].observables[0].estimate.mean / 3;
        squares += pow(many->members[39 + r].observables[0].estimate.error, 2);
    }
    assert_int_equal(ergo_result_table(ctx, many, &table), ERGO_OK);
    assert_non_null(strstr(table, "means over the replicas of each point"));
    assert_non_null(strstr(table, ergo_format_concise(expected, mean, sqrt(squares) / 3)));
    assert_null(strstr(table, "more in"));
    free(table);
    synthetic_free(many);
}

static void the_table_fits(void **state) {
    (void)state;
    char *table;
    assert_int_equal(ergo_result_table(ctx, result, &table), ERGO_OK);
    assert_int_equal(strncmp(table, "temperature  replica  ", 22), 0);
    assert_non_null(strstr(table, "exact"));
    assert_non_null(strstr(table, "chi2/dof"));
    assert_non_null(strstr(table, "/6, heat_capacity"));
    assert_null(strstr(table, "energy2"));
    size_t width = 0, lines = 0;
    for (const char *p = table; *p; p++) {
        width = *p == '\n' ? 0 : width + 1;
        lines += *p == '\n';
        assert_true(width < 160);
    }
    assert_int_equal(
        lines, 13); /* title, six chains, three means, what they are, what else there is, chi2 */
    free(table);
    const char *names[] = {"heat_capacity", "energy"}, *wrong[] = {"energy", "heat"};
    assert_int_equal(ergo_result_table_of(ctx, result, names, 2, &table), ERGO_OK);
    assert_true(strstr(table, "heat_capacity") < strstr(table, "energy"));
    assert_null(strstr(table, "magnetization"));
    assert_null(strstr(table, "also measured"));
    free(table);
    assert_int_equal(ergo_result_table_of(ctx, result, wrong, 2, &table), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "\"heat\""));
    assert_null(table);
}

static void series_agree_with_the_json(void **state) {
    (void)state;
    char command[256];
    assert_int_equal(ergo_result_write_json(ctx, &opened, result), ERGO_OK);
    assert_int_equal(ergo_result_write_series(ctx, &opened, result), ERGO_OK);
    if (access("tests/cli/check_series.py", R_OK))
        skip();
    snprintf(command, sizeof command, "/usr/bin/python3 tests/cli/check_series.py '%s' >/dev/null",
             folder);
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void pictures_are_the_pixels(void **state) {
    (void)state;
    char path[160];
    assert_int_equal(ergo_page_write_pictures(ctx, &opened, result), ERGO_OK);
    snprintf(path, sizeof path, "%s/snapshots/point-0005-step-000004000.png", folder);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    assert_int_equal(image.width, 8);
    assert_int_equal(image.height, 8);
    uint8_t pixels[8 * 8 * 3];
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    assert_memory_equal(pixels, result->members[5].pictures[1].rgb, sizeof pixels);

    /* three temperatures of replica 0 side by side, 8 pixels made 128 */
    snprintf(path, sizeof path, "%s/configurations.png", folder);
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, 3 * 128 + 4 * 8);
    assert_int_equal(image.height, 128 + 2 * 8);
    png_image_free(&image);
}

static void tiles_keep_their_means(void **state) {
    (void)state;
    struct ergo_picture large = {1001, 600, NULL}, tile;
    large.rgb = malloc((size_t)3 * large.width * large.height);
    assert_non_null(large.rgb);
    memset(large.rgb, 200, (size_t)3 * large.width * large.height);
    assert_true(ergo_picture_tile(&large, 128, 512, &tile));
    assert_int_equal(tile.width, 501);
    assert_int_equal(tile.height, 300);
    for (size_t i = 0; i < (size_t)3 * tile.width * tile.height; i++)
        assert_int_equal(tile.rgb[i], 200);
    free(tile.rgb);
    free(large.rgb);
    struct ergo_picture none = {0, 0, NULL};
    struct ergo_text png = {0};
    assert_int_equal(ergo_png_encode(ctx, &none, &png), ERGO_E_INTERNAL);
    ergo_error_clear(ctx);
}

static void the_report_is_self_contained(void **state) {
    (void)state;
    char path[128], *page;
    size_t length;
    result->n_warnings = 1;
    result->warnings = calloc(1, sizeof *result->warnings);
    assert_non_null(result->warnings);
    result->warnings[0] = strdup("<script>alert(1)</script>");
    result->members[0].curves[0].trust = ERGO_TRUST_SHORT;
    result->members[0].curves[0].because = result->members[0].observables[0].observable;
    assert_int_equal(ergo_page_write(ctx, &opened, result), ERGO_OK);
    snprintf(path, sizeof path, "%s/report.html", folder);
    assert_int_equal(ergo_file_read(ctx, NULL, path, 1 << 24, &page, &length), ERGO_OK);
    assert_non_null(strstr(page, "</html>"));
    assert_non_null(strstr(page, "data:image/png;base64,"));
    assert_non_null(strstr(page, "prefers-color-scheme"));
    assert_non_null(strstr(page, "(?): errors that are not trusted, energy: too short"));
    assert_null(strstr(page, "<script")); /* the warning is text */
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https:"));
    static const char *const broken[] = {" nan", "\"nan", "Mnan", "Lnan", "Vnan", "\"inf", " inf"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_null(strstr(page, broken[i]));
    free(page);
}

static void a_missing_folder_is_an_error(void **state) {
    (void)state;
    char path[] = "/tmp/ergo-test-XXXXXX";
    struct ergo_folder gone;
    assert_non_null(mkdtemp(path));
    assert_int_equal(ergo_folder_open(ctx, path, &gone), ERGO_OK);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(ergo_result_write_json(ctx, &gone, result), ERGO_E_IO);
    assert_int_equal(ergo_result_write_series(ctx, &gone, result), ERGO_E_IO);
    assert_int_equal(ergo_page_write(ctx, &gone, result), ERGO_E_IO);
    assert_int_equal(ergo_page_write_pictures(ctx, &gone, result), ERGO_E_IO);
    ergo_error_clear(ctx);
    ergo_folder_close(&gone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_as_documented),
        cmocka_unit_test(decorrelation_per_second),
        cmocka_unit_test(what_is_not_a_number_is_null),
        cmocka_unit_test(references_are_not_exact),
        cmocka_unit_test(numbers_and_texts_survive),
        cmocka_unit_test(errors_are_concise),
        cmocka_unit_test(the_table_fits),
        cmocka_unit_test(replicas_share_a_row),
        cmocka_unit_test(series_agree_with_the_json),
        cmocka_unit_test(pictures_are_the_pixels),
        cmocka_unit_test(tiles_keep_their_means),
        cmocka_unit_test(the_report_is_self_contained),
        cmocka_unit_test(a_missing_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
