/* Scans, points, streams, batches. */
#include "job/schedule.h"
#include "test_job_toy.h"

#include <math.h>

#define SCAN(axes) TOY_JOB("", ",\"scan\":{" axes "}")

static double temperature(const struct toy *toy, size_t p) {
    return ergo_point_real(&toy->job->points[p], "/system/temperature");
}

/* Points of a range are the doubles that the compiler makes of the decimals. */
static void expect_temperatures(const char *range, const double *values, size_t n) {
    char text[1024];
    snprintf(text, sizeof text, SCAN("\"/system/temperature\":%s"), range);
    struct toy toy = expect_good(text);
    if (toy.job->n_points != n)
        fail_msg("%s: %zu points", range, toy.job->n_points);
    for (size_t i = 0; i < n; i++) {
        if (temperature(&toy, i) != values[i])
            fail_msg("%s: point %zu is %.17g, not %.17g", range, i, temperature(&toy, i),
                     values[i]);
        assert_int_equal(toy.job->points[i].n_scanned, 1);
        assert_string_equal(toy.job->points[i].scanned[0].pointer, "/system/temperature");
        assert_true(toy.job->points[i].scanned[0].value == values[i]);
    }
    toy_free(&toy);
}
#define EXPECT_TEMPERATURES(range, ...)                                                            \
    expect_temperatures(range, (const double[]){__VA_ARGS__},                                      \
                        sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void test_exact_ranges(void **state) {
    (void)state;
    double down[31];
    for (int i = 0; i <= 30; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d.%02d", (240 - i) / 100, (240 - i) % 100);
        down[i] = strtod(text, NULL);
    }
    assert_true(down[10] == 2.3);
    expect_temperatures("{\"from\":2.4,\"to\":2.1,\"step\":-0.01}", down, 31);
    expect_temperatures("{\"from\":2.4,\"to\":2.1,\"count\":31}", down, 31);
    EXPECT_TEMPERATURES("[2.5,0.1,7]", 2.5, 0.1, 7);
    EXPECT_TEMPERATURES("{\"from\":0.1,\"to\":0.5,\"step\":0.1}", 0.1, 0.2, 0.3, 0.4, 0.5);
    EXPECT_TEMPERATURES("{\"from\":1e-7,\"to\":4e-7,\"step\":1E-7}", 1e-7, 2e-7, 3e-7, 4e-7);
    EXPECT_TEMPERATURES("{\"from\":2.269185314213,\"to\":2.269185314215,\"step\":1e-12}",
                        2.269185314213, 2.269185314214, 2.269185314215);
    EXPECT_TEMPERATURES("{\"from\":1,\"to\":1,\"step\":5}", 1);
    EXPECT_TEMPERATURES("{\"from\":1,\"to\":1,\"count\":1}", 1);
    EXPECT_TEMPERATURES("{\"from\":1,\"to\":2,\"step\":0.333333333333}", 1, 1.333333333333,
                        1.666666666666, 2);
    EXPECT_TEMPERATURES("{\"from\":1,\"to\":2,\"count\":3,\"spacing\":\"linear\"}", 1, 1.5, 2);
    EXPECT_TEMPERATURES("{\"from\":0.01,\"to\":100,\"count\":5,\"spacing\":\"log\"}", 0.01, 0.1, 1,
                        10, 100);
    EXPECT_TEMPERATURES("{\"from\":100,\"to\":0.01,\"count\":5,\"spacing\":\"log\"}", 100, 10, 1,
                        0.1, 0.01);
    EXPECT_TEMPERATURES("{\"from\":2,\"to\":1,\"count\":4}", 2, 1.66666666667, 1.33333333333, 1);
}

/* Through zero there must be a zero, not the rounding noise of the ends. */
static void test_through_zero(void **state) {
    (void)state;
    static const char *const ranges[] = {
        "{\"from\":-0.3,\"to\":0.3,\"step\":0.1}",
        "{\"from\":-0.3,\"to\":0.3,\"count\":7}",
        "{\"from\":0.3,\"to\":-0.3,\"step\":-0.1}",
        "{\"from\":-0.3,\"to\":0.30000000000,\"step\":0.10000000000000000000}",
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, SCAN("\"/system/field\":%s"), ranges[i]);
        struct toy toy = expect_good(text);
        assert_int_equal(toy.job->n_points, 7);
        double zero = ergo_point_real(&toy.job->points[3], "/system/field");
        assert_true(zero == 0 && !signbit(zero));
        double near = ergo_point_real(&toy.job->points[i == 2 ? 2 : 4], "/system/field");
        assert_true(near == 0.1);
        toy_free(&toy);
    }
    struct toy toy =
        expect_good(SCAN("\"/system/field\":{\"from\":-1000,\"to\":1000,\"step\":0.025}"));
    assert_int_equal(toy.job->n_points, 80001);
    assert_true(ergo_point_real(&toy.job->points[40001], "/system/field") == 0.025);
    toy_free(&toy);
}

static void test_integer_ranges(void **state) {
    (void)state;
    struct toy toy = expect_good(
        SCAN("\"/system/n\":{\"from\":-4,\"to\":1e1,\"step\":7},\"/run/sweeps\":{\"from\":10,"
             "\"to\":10000,\"count\":4,\"spacing\":\"log\"}"));
    assert_int_equal(toy.job->n_points, 12);
    assert_int_equal(ergo_point_int(&toy.job->points[4], "/system/n"), 3);
    assert_int_equal(ergo_point_int(&toy.job->points[4], "/run/sweeps"), 10);
    assert_int_equal(ergo_point_int(&toy.job->points[7], "/run/sweeps"), 10000);
    assert_true(ergo_point_real(&toy.job->points[7], "/run/sweeps") == 10000);
    toy_free(&toy);
    toy = expect_good(SCAN("\"/system/n\":[9007199254740992,\"-9007199254740992\"]"));
    assert_true(ergo_point_int(toy.job->points, "/system/n") == INT64_C(9007199254740992));
    toy_free(&toy);
    expect_error(SCAN("\"/system/n\":[\"9007199254740993\"]"), "beyond 2^53 cannot be scanned",
                 NULL);
    expect_error(SCAN("\"/system/n\":{\"from\":1,\"to\":2,\"step\":0.5}"),
                 "the range contains 1.5, no integer", NULL);
    expect_error(SCAN("\"/run/sweeps\":{\"from\":1,\"to\":3,\"count\":9,\"spacing\":\"log\"}"),
                 "occurs twice", "finer");
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *axes, *part;
    } cases[] = {
        {"\"/system/temperature\":[]", "/scan/~1system~1temperature: a list of 0 values"},
        {"\"/system/temperature\":3", "found 3; allowed: a list of values, or a range"},
        {"\"/system/temperature\":[1,\"2\"]", "/scan/~1system~1temperature/1: found the string"},
        {"\"/system/temperature\":[1,2,-3]", "/scan/~1system~1temperature/2: found -3, which is "
                                             "out of range"},
        {"\"/system/temperature\":[1,2,1.0]", "the value 1 occurs twice"},
        {"\"/system/field\":[0,-0.0]", "the value 0 occurs twice"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2}", "either \"step\" or \"count\""},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":1,\"count\":2}",
         "either \"step\" or \"count\""},
        {"\"/system/temperature\":{\"from\":1,\"step\":1}", "temperature/to: missing"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":0}", "step 0 does not lead"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":-0.1}", "its sign is wrong"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":0.3}",
         "misses its end 2: its values next to it are 1.9 and 2.2"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":1e-9}", "at most 100000 points"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":1e-300}", "at most 100000 points"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":5e-324}", "at most 100000 points"},
        {"\"/system/field\":{\"from\":-1.7e308,\"to\":1.7e308,\"step\":1}", "does not lead"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"count\":0}", "/count: found 0"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"count\":100001}", "/count: found 100001"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"count\":1}", "one value needs equal ends"},
        {"\"/system/temperature\":{\"from\":1,\"to\":1,\"count\":2}", "one value needs equal ends"},
        {"\"/system/temperature\":{\"from\":1,\"to\":2,\"step\":1,\"spacing\":\"log\"}",
         "\"spacing\" goes with \"count\""},
        {"\"/system/field\":{\"from\":-1,\"to\":2,\"count\":3,\"spacing\":\"log\"}", "ends > 0"},
        {"\"/system/field\":{\"from\":1,\"to\":2,\"count\":3,\"spacing\":\"lag\"}",
         "did you mean \"log\"?"},
        {"\"/system/field\":{\"from\":1,\"to\":2,\"stop\":1,\"count\":3}",
         "field/stop: unknown key; did you mean \"step\"?"},
        {"\"/system/field\":{\"from\":1e999,\"to\":2,\"count\":3}", "a double cannot hold"},
        {"\"/system/temperature\":{\"from\":-1,\"to\":1,\"step\":0.5}",
         "the range contains -1, out of range; allowed: a number > 0"},
        {"\"/seed\":[1,2]", "use \"replicas\""},
        {"\"/system/model\":[\"alpha\"]", "this key cannot be scanned"},
        {"\"/replicas\":[1,2]", "this key cannot be scanned"},
        {"\"system/temperature\":[1]", "did you mean \"/system/temperature\"?"},
        {"\"/system/temprature\":[1]", "did you mean \"/system/temperature\"?"},
        {"\"\":[1]", "/scan/: no key has this pointer"},
        {"\"/system/size/2\":[4]", "/system/size has 2 elements"},
        {"\"/system/size/3\":[4]", "no key has this pointer"},
        {"\"/system/size/00\":[4]", "no key has this pointer"},
        {"\"/system/size/0\":[4,1]", "/scan/~1system~1size~10/1: found 1, which is out of range"},
        {"\"/system/size\":{\"from\":1,\"to\":2,\"step\":1}", "allowed: a list of sizes"},
        {"\"/system/size\":[4,8]", NULL},
        {"\"/system/size\":[[4,4],[8]]", "an array of 1 beside one of 2"},
        {"\"/system/size\":[[4,4],[8,8],[4,4]]", "the value 4, 4 occurs twice"},
        {"\"/system/size\":[[4,4]],\"/system/size/0\":[2]", "scanned twice"},
        {"\"/system/temperature\":[1],\"/system/field\":[1],\"/system/n\":[1],\"/run/sweeps\":[9],"
         "\"/run/equilibration\":[1]",
         "more than 4 scanned values per point"},
        {"\"/system/temperature\":{\"from\":1,\"to\":1000,\"step\":1},\"/system/"
         "field\":{\"from\":1,"
         "\"to\":1000,\"step\":1}",
         "the grid has more than 100000 points"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, SCAN("%s"), cases[i].axes);
        if (cases[i].part) {
            expect_error(text, cases[i].part, "job.json: /scan");
        } else {
            struct toy toy = toy_parse(text);
            assert_int_equal(toy.status, ERGO_E_JOB);
            toy_free(&toy);
        }
    }
    expect_error(TOY_JOB("", ",\"scan\":[]"), "/scan: found an array of 0", NULL);
    expect_error(TOY_JOB("", ",\"replicas\":1048576,\"scan\":{\"/system/n\":[1,2]}"),
                 "/replicas: 1048576 replicas of 2 scan points are more than", NULL);
}

/* First pointer slowest; replicas fastest; a scanned key needs no value of its own. */
static void test_grid(void **state) {
    (void)state;
    struct toy toy = expect_good(
        TOY_HEAD "\"system\":{\"size\":[8,8]},\"replicas\":2,\"scan\":{\"/system/field\":[1,2],"
                 "\"/system/temperature\":[5,4,3],\"/system/size/1\":[16]}}");
    assert_int_equal(toy.job->n_points, 12);
    for (size_t p = 0; p < 12; p++) {
        const struct ergo_point *point = &toy.job->points[p];
        assert_int_equal(point->index, p);
        assert_int_equal(point->scan_index, p / 2);
        assert_int_equal(point->replica, p % 2);
        assert_true(ergo_point_real(point, "/system/field") == 1.0 + (double)(p / 6));
        assert_true(ergo_point_real(point, "/system/temperature") == 5.0 - (double)(p / 2 % 3));
        assert_int_equal(ergo_point_value(point, "/system/size")->size[0], 8);
        assert_int_equal(ergo_point_value(point, "/system/size")->size[1], 16);
        assert_int_equal(point->n_scanned, 3);
        assert_string_equal(point->scanned[0].pointer, "/system/field");
        assert_string_equal(point->scanned[2].pointer, "/system/size/1");
        assert_true(point->scanned[2].value == 16);
    }
    assert_int_equal(toy.job->n_batches, 1);
    toy_free(&toy);
    toy = expect_good(TOY_HEAD "\"system\":{\"temperature\":1},\"scan\":{\"/system/size\":[[4,4],"
                               "[8,16]]}}");
    assert_int_equal(toy.job->n_points, 2);
    assert_int_equal(toy.job->points[1].n_scanned, 2);
    assert_string_equal(toy.job->points[1].scanned[1].pointer, "/system/size/1");
    assert_true(toy.job->points[1].scanned[1].value == 16);
    assert_int_equal(ergo_point_value(&toy.job->points[1], "/system/size")->size[0], 8);
    assert_int_equal(toy.job->n_batches, 2);
    toy_free(&toy);
}

static void test_batches(void **state) {
    (void)state;
    /* shape axes first and third, temperature between: points of a shape are not adjacent */
    struct toy toy = expect_good(
        TOY_JOB("", ",\"replicas\":2,\"scan\":{\"/system/n\":[3,1],\"/system/temperature\":[1,2,3],"
                    "\"/run/sweeps\":[20,10]}"));
    const struct ergo_job *job = toy.job;
    assert_int_equal(job->n_points, 24);
    assert_int_equal(job->n_batches, 4);
    size_t seen = 0, first_before = 0;
    for (size_t b = 0; b < job->n_batches; b++) {
        const struct ergo_batch *batch = &job->batches[b];
        assert_ptr_equal(batch->job, job);
        assert_int_equal(batch->count, 6);
        assert_true(b == 0 || batch->points[0]->index > first_before);
        first_before = batch->points[0]->index;
        for (size_t i = 0; i < batch->count; i++, seen++) {
            const struct ergo_point *point = batch->points[i];
            assert_true(i == 0 || point->index > batch->points[i - 1]->index);
            assert_int_equal(ergo_point_int(point, "/system/n"), b / 2 ? 1 : 3);
            assert_int_equal(ergo_point_int(point, "/run/sweeps"), b % 2 ? 10 : 20);
        }
    }
    assert_int_equal(seen, 24);
    toy_free(&toy);
}

static uint64_t stream_of(const char *text, size_t p) {
    struct toy toy = expect_good(text);
    uint64_t stream = toy.job->points[p].stream;
    toy_free(&toy);
    return stream;
}

/* Values from Python's hashlib over the text that points.c documents. */
static void test_golden_streams(void **state) {
    (void)state;
    assert_true(stream_of(TOY_JOB("", ",\"seed\":\"42\""), 0) == UINT64_C(0x5b2650e6847b8683));
    assert_true(stream_of(TOY_JOB("", ",\"seed\":42,\"replicas\":4,\"scan\":{\"/system/temperature"
                                      "\":{\"from\":2.4,\"to\":2.1,\"step\":-0.01}}"),
                          10 * 4 + 3) == UINT64_C(0x1192b7f8cd50901f));
    assert_true(
        stream_of("{\"sampler\":\"toy-lattice\",\"run\":{\"sweeps\":1},\"seed\":"
                  "\"18446744073709551615\",\"system\":{\"disorder\":\"18446744073709551615\","
                  "\"fast\":true,\"field\":-0.1,\"model\":\"beta\",\"n\":\"-9223372036854775808\","
                  "\"size\":[8,8,4],\"start\":\"a\\nb\\\\c\\u00e9\",\"temperature\":1e-300}}",
                  0) == UINT64_C(0x1c37d6bd4efe28b3));
}

/* A point has the same stream alone, in a scan, in a grid, among replicas, however long it runs. */
static void test_stream_independence(void **state) {
    (void)state;
    uint64_t alone = stream_of(TOY_HEAD "\"system\":{\"size\":[8,8],\"temperature\":2.3}}", 0);
    static const char *const same[] = {
        "\"system\":{\"size\":[8,8],\"temperature\":2.3,\"field\":0,\"model\":\"alpha\"}",
        "\"system\":{\"size\":[8,8],\"temperature\":2.30,\"field\":-0.0},\"seed\":1",
        "\"system\":{\"temperature\":23e-1,\"size\":[8.0,\"8\"]},\"seed\":\"01\",\"device\":\"x\"",
        "\"system\":{\"size\":[8,8],\"temperature\":2.3,\"moves\":{\"displacement\":0.1}}",
        "\"system\":{\"size\":[8,8],\"temperature\":2.3},\"wall_time\":9,\"replicas\":7",
        "\"system\":{\"size\":[8,8],\"temperature\":2.3},\"tuning\":{\"block\":8}",
        "\"system\":{\"size\":[8,8]},\"scan\":{\"/system/temperature\":[2.3,1]}",
        "\"system\":{\"size\":[9,8],\"temperature\":2.3},\"scan\":{\"/system/size/0\":[8,4]}",
        "\"system\":{\"size\":[8,8],\"temperature\":2.3},\"scan\":{\"/run/sweeps\":[7,8]}",
        "\"system\":{\"size\":[8,8],\"temperature\":2.3},\"scan\":{\"/run/equilibration\":[7,8]}",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, TOY_HEAD "%s}", same[i]);
        if (stream_of(text, 0) != alone)
            fail_msg("%s", text);
    }
    struct toy toy = expect_good(
        TOY_JOB("", ",\"scan\":{\"/system/temperature\":{\"from\":2.4,\"to\":2.1,\"step\":-0.01}},"
                    "\"replicas\":3"));
    assert_true(toy.job->points[30].stream == alone);
    uint64_t replica = toy.job->points[32].stream;
    for (size_t p = 0; p < toy.job->n_points; p++)
        for (size_t q = 0; q < p; q++)
            assert_true(toy.job->points[p].stream != toy.job->points[q].stream);
    toy_free(&toy);
    assert_true(
        stream_of(TOY_HEAD "\"system\":{\"size\":[8,8],\"temperature\":2.3},\"replicas\":9}", 2) ==
        replica);
    assert_true(stream_of(TOY_HEAD "\"seed\":2,\"system\":{\"size\":[8,8],\"temperature\":2.3}}",
                          0) != alone);
    assert_true(stream_of(TOY_HEAD
                          "\"system\":{\"size\":[8,8],\"temperature\":2.3,\"start\":\"up\\n"
                          "/system/temperature=2.3\"}}",
                          0) != alone);
}

/* An interval in measurements that is longer than the run is told, its default is not. The first
 * step's number is 0, also with an equilibration. */
static void test_intervals(void **state) {
    (void)state;
    static const struct {
        const char *run;
        bool good;
    } cases[] = {
        {"\"sweeps\":12,\"measure_every\":3", true},
        {"\"sweeps\":12,\"measure_every\":3,\"curves_every\":0", true},
        {"\"sweeps\":12,\"measure_every\":3,\"curves_every\":100", true},
        {"\"equilibration\":9,\"sweeps\":12,\"measure_every\":3,\"curves_every\":6", true},
        {"\"equilibration\":9,\"sweeps\":12,\"measure_every\":3,\"curves_every\":7", false},
        {"\"equilibration\":21,\"sweeps\":12,\"measure_every\":3,\"curves_every\":7", true},
        {"\"equilibration\":24,\"sweeps\":12,\"measure_every\":3,\"curves_every\":7", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"sampler\":\"toy-lattice\",\"run\":{%s}," TOY_SYSTEM ",\"model\":\"beta\"}}",
                 cases[i].run);
        struct toy toy = expect_good(text);
        const size_t missed = ergo_schedule_missed(toy.job, 0), n = toy.job->n_keys;
        assert_int_equal(missed == n, cases[i].good);
        if (missed < n) {
            assert_string_equal(toy.job->keys[missed]->pointer, "/run/curves_every");
            assert_int_equal(ergo_schedule_missed(toy.job, missed + 1), n);
        }
        toy_free(&toy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_ranges),
        cmocka_unit_test(test_through_zero),
        cmocka_unit_test(test_integer_ranges),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_golden_streams),
        cmocka_unit_test(test_stream_independence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
