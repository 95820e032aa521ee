/* Jobs against the key tables: types, ranges, suggestions, everything at once, --set. */
#include "test_job_toy.h"

static void test_minimal(void **state) {
    (void)state;
    struct toy toy = expect_good(TOY_JOB("", ""));
    const struct ergo_job *job = toy.job;
    const struct ergo_point *point = &job->points[0];
    assert_string_equal(ergo_job_name(job), "job");
    assert_string_equal(ergo_job_sampler(job), "toy-lattice");
    assert_int_equal(ergo_job_count_points(job), 1);
    assert_int_equal(job->n_batches, 1);
    assert_int_equal(job->batches[0].count, 1);
    assert_ptr_equal(job->batches[0].points[0], point);
    assert_ptr_equal(point->job, job);
    assert_int_equal(job->n_keys, ergo_job_n_common_keys + 1 +
                                      sizeof toy_keys / sizeof toy_keys[0] + 1 +
                                      1); /* a tunable, and /run/method */
    assert_true(ergo_point_real(point, "/system/temperature") == 2.5);
    assert_string_equal(ergo_point_text(point, "/system/model"), "alpha");
    assert_int_equal(ergo_point_int(point, "/system/n"), 10);
    assert_true(ergo_point_real(point, "/system/n") == 10);
    assert_false(ergo_point_bool(point, "/system/fast"));
    assert_int_equal(ergo_point_value(point, "/seed")->seed, 1);
    assert_int_equal(ergo_point_int(point, "/replicas"), 1);
    assert_int_equal(ergo_point_int(point, "/run/sweeps"), 100);
    assert_int_equal(ergo_point_int(point, "/run/measure_every"), 1);
    assert_int_equal(ergo_point_int(point, "/run/equilibration"), 0);
    assert_int_equal(ergo_point_int(point, "/tuning/block"), 0);
    assert_string_equal(ergo_point_text(point, "/device"), "auto");
    assert_true(ergo_point_real(point, "/checkpoint/every_seconds") == 600);
    assert_int_equal(ergo_point_int(point, "/output/snapshots"), 1);
    assert_false(ergo_point_value(point, "/wall_time")->present);
    assert_false(ergo_point_value(point, "/system/disorder")->present);
    assert_true(ergo_point_value(point, "/system/n")->present);
    assert_false(ergo_point_value(point, "/system/n")->given);
    assert_true(ergo_point_value(point, "/system/size")->given);
    assert_int_equal(ergo_point_value(point, "/system/size")->items, 2);
    assert_int_equal(ergo_point_value(point, "/system/box")->items, 2);
    assert_true(ergo_point_value(point, "/system/box")->reals[1] == 2.5);
    toy_free(&toy);
    toy = expect_good(TOY_JOB(",\"box\":[7.3,12.05,1]", ""));
    assert_int_equal(ergo_point_value(&toy.job->points[0], "/system/box")->items, 3);
    assert_true(ergo_point_value(&toy.job->points[0], "/system/box")->reals[1] == 12.05);
    toy_free(&toy);
    expect_error(TOY_JOB(",\"box\":[1]", ""), "/system/box: found an array of 1",
                 "an array of 2 to 3 numbers");
    expect_error(TOY_JOB(",\"box\":[1,0.25]", ""), "/system/box/1: found 0.25", "out of range");
}

/* Every key with a value of every kind: either it is taken, or there is one line that names the
 * key, what was found, and what is allowed. */
static void test_every_type(void **state) {
    (void)state;
    enum {
        NUL = 1,
        BOOL = 2,
        NUMBER = 4,
        FRACTION = 8,
        STRING = 16,
        DIGITS = 32,
        ARRAY = 64,
        OBJECT = 128,
        TIME = 256,
        HUGE_REAL = 512
    };
    static const struct {
        int kind;
        const char *text, *found;
    } values[] = {
        {NUL, "null", "found null"},
        {BOOL, "true", "found true"},
        {NUMBER, "12", "found 12"},
        {FRACTION, "0.25", "found 0.25"},
        {STRING, "\"hello\"", "found the string \"hello\""},
        {DIGITS, "\"12\"", "found the string \"12\""},
        {ARRAY, "[4,4,4,4]", "found an array of 4"},
        {OBJECT, "{}", "found an object"},
        {TIME, "\"01:02:03\"", "found the string \"01:02:03\""},
        {HUGE_REAL, "1e999", "found 1e999"},
    };
    static const struct {
        const char *name;
        int takes;
        const char *allowed;
    } keys[] = {
        {"model", 0, "allowed: \"alpha\", \"beta\""},
        {"size", 0, "allowed: an array of 1 to 3 integers from 2 to 1024 (in sites)"},
        {"temperature", NUMBER | FRACTION, "allowed: a number > 0 (in J/k_B)"},
        {"field", NUMBER | FRACTION, "allowed: a number from -1000000 to 1000000 (in J)"},
        {"n", NUMBER | DIGITS, "allowed: an integer"},
        {"disorder", NUMBER | DIGITS, "allowed: a string of decimal digits"},
        {"fast", BOOL, "allowed: true or false"},
        {"start", STRING | DIGITS | TIME, "allowed: a string"},
        {"pause", NUMBER | FRACTION | TIME, "allowed: \"HH:MM:SS\", or seconds as a number"},
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char text[512], pointer[64];
            snprintf(text, sizeof text,
                     "{\"sampler\":\"toy-lattice\",\"run\":{\"sweeps\":1},\"system\":{%s%s"
                     "\"%s\":%s}}",
                     strcmp(keys[k].name, "size") ? "\"size\":[8]," : "",
                     strcmp(keys[k].name, "temperature") ? "\"temperature\":1," : "", keys[k].name,
                     values[v].text);
            snprintf(pointer, sizeof pointer, "job.json: /system/%s: %s", keys[k].name,
                     values[v].found);
            if (keys[k].takes & values[v].kind) {
                struct toy toy = expect_good(text);
                toy_free(&toy);
            } else {
                expect_error(text, pointer, keys[k].allowed);
            }
        }
    }
}

static void test_ranges(void **state) {
    (void)state;
    expect_error(TOY_HEAD "\"system\":{\"size\":[8],\"temperature\":0}}",
                 "/system/temperature: found 0, which is out of range; allowed: a number > 0",
                 NULL);
    expect_error(TOY_JOB(",\"field\":-1000001", ""), "/system/field: found -1000001", "range");
    expect_error(TOY_HEAD "\"system\":{\"size\":[8,1],\"temperature\":1}}",
                 "/system/size/1: found 1, which is out of range", "from 2 to 1024");
    expect_error(TOY_HEAD "\"system\":{\"size\":[8,2.5],\"temperature\":1}}",
                 "/system/size/1: found 2.5, which is no integer", NULL);
    expect_error(TOY_HEAD "\"system\":{\"size\":[],\"temperature\":1}}", "found an array of 0",
                 NULL);
    expect_error(TOY_JOB("", ",\"replicas\":0"), "/replicas: found 0", "from 1 to 1048576");
    expect_error(TOY_JOB("", ",\"replicas\":-1"), "/replicas: found -1", NULL);
    expect_error(TOY_JOB("", ",\"tuning\":{\"block\":1}"), "/tuning/block: found 1",
                 "from 2 to 64, or 0 for automatic");
    expect_error(TOY_JOB("", ",\"wall_time\":0"), "/wall_time: found 0", NULL);
    expect_error(TOY_JOB("", ",\"wall_time\":\"1:00\""), "/wall_time: found the string", NULL);
    expect_error(TOY_JOB("", ",\"wall_time\":\"1:60:00\""), "/wall_time", NULL);
    expect_error(TOY_JOB("", ",\"wall_time\":\"-1:00:00\""), "/wall_time", NULL);
    expect_error(TOY_JOB("", ",\"wall_time\":\"00:00:00\""), "/wall_time", "out of range");
    expect_error(TOY_JOB(",\"model\":\"alhpa\"", ""), "/system/model", "did you mean \"alpha\"?");
    expect_error(TOY_JOB(",\"field\":1e-400", ""), "which a double cannot hold", NULL);
    expect_error(
        "{\"sampler\":\"toy-lattice\",\"run\":{\"sweeps\":5,\"measure_every\":6}," TOY_SYSTEM "}}",
        "/run/measure_every: found 6, more than /run/sweeps (5)", NULL);
    struct toy toy = expect_good(TOY_JOB(",\"pause\":\"100:01:02\"", ",\"wall_time\":\"02:00:00\","
                                                                     "\"tuning\":{\"block\":64}"));
    assert_true(ergo_point_real(toy.job->points, "/wall_time") == 7200);
    assert_true(ergo_point_real(toy.job->points, "/system/pause") == 360062);
    assert_int_equal(ergo_point_int(toy.job->points, "/tuning/block"), 64);
    toy_free(&toy);
}

static void expect_seed(const char *token, uint64_t seed) {
    char text[512];
    snprintf(text, sizeof text, TOY_JOB("", ",\"seed\":%s"), token);
    struct toy toy = expect_good(text);
    assert_true(ergo_point_value(toy.job->points, "/seed")->seed == seed);
    toy_free(&toy);
}

static void expect_no_seed(const char *token, const char *why) {
    char text[512];
    snprintf(text, sizeof text, TOY_JOB("", ",\"seed\":%s"), token);
    expect_error(text, "job.json: /seed: found ", why);
}

static void test_exact_integers(void **state) {
    (void)state;
    expect_seed("0", 0);
    expect_seed("9007199254740991", 9007199254740991);
    expect_seed("9007199254740992", 9007199254740992);
    expect_no_seed("9007199254740993", "write it as the string \"9007199254740993\"");
    expect_no_seed("18446744073709551615", "write it as the string \"18446744073709551615\"");
    expect_seed("\"9007199254740991\"", 9007199254740991);
    expect_seed("\"9007199254740993\"", 9007199254740993);
    expect_seed("\"18446744073709551615\"", UINT64_MAX);
    expect_seed("\"007\"", 7);
    expect_seed("1e3", 1000);
    expect_no_seed("18446744073709551616", "64 bits");
    expect_no_seed("\"18446744073709551616\"", "64 bits");
    expect_no_seed("\"99999999999999999999999999999\"", "64 bits");
    expect_no_seed("1e30", "64 bits");
    expect_no_seed("-1", "negative");
    expect_no_seed("1.5", "no integer");
    static const char *const texts[] = {"\"-1\"",  "\"\"",    "\"1e3\"", "\" 1\"",
                                        "\"0x1\"", "\"1.0\"", "\"+1\"",  "\"1 \""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_no_seed(texts[i], "decimal digits");

    struct toy toy = expect_good(TOY_JOB(",\"n\":\"-9223372036854775808\"", ""));
    assert_true(ergo_point_int(toy.job->points, "/system/n") == INT64_MIN);
    toy_free(&toy);
    toy = expect_good(TOY_JOB(",\"n\":\"9223372036854775807\"", ""));
    assert_true(ergo_point_int(toy.job->points, "/system/n") == INT64_MAX);
    toy_free(&toy);
    expect_error(TOY_JOB(",\"n\":\"9223372036854775808\"", ""), "64 bits", NULL);
    expect_error(TOY_JOB(",\"n\":\"-9223372036854775809\"", ""), "64 bits", NULL);
    expect_error(TOY_JOB(",\"n\":-9007199254740993", ""), "string \"-9007199254740993\"", NULL);
    toy = expect_good(TOY_JOB(",\"n\":-2.0e4", ""));
    assert_int_equal(ergo_point_int(toy.job->points, "/system/n"), -20000);
    toy_free(&toy);
}

static void test_suggestions(void **state) {
    (void)state;
    expect_error(
        TOY_JOB(",\"feild\":1", ""),
        "job.json: /system/feild: unknown key; did you mean \"field\"? allowed here: model, "
        "size, box, temperature, field, n, disorder, fast, start, pause, moves",
        NULL);
    expect_error(TOY_JOB(",\"Field\":1", ""), "/system/Field: unknown key",
                 "did you mean \"field\"?");
    expect_error(TOY_JOB("", ",\"measure_every\":5"), "/measure_every: unknown key",
                 "did you mean \"/run/measure_every\"?");
    expect_error(TOY_JOB("", ",\"mesure_every\":5"), "/mesure_every: unknown key",
                 "did you mean \"/run/measure_every\"?");
    expect_error(TOY_JOB("", ",\"temperature\":5"), "did you mean \"/system/temperature\"?", NULL);
    expect_error(TOY_JOB(",\"activity\":5", ""), "/system/activity",
                 "it is a key of sampler \"toy-gas\"");
    expect_error(TOY_JOB(",\"moves\":{\"displacment\":1}", ""), "/system/moves/displacment",
                 "did you mean \"displacement\"?");
    /* words of other programs, and beginnings; no guess at another place from afar */
    expect_error(TOY_JOB(",\"Temp\":1", ""), "/system/Temp: unknown key",
                 "did you mean \"temperature\"?");
    expect_error(TOY_JOB(",\"T\":1", ""), "did you mean \"temperature\"?", NULL);
    expect_error(TOY_JOB(",\"box_length\":1", ""), "did you mean \"box\"?", NULL);
    expect_error(TOY_JOB("", ",\"random-seed\":1"), "did you mean \"seed\"?", NULL);
    expect_error(TOY_JOB(",\"RunSteps\":1", ""), "did you mean \"/run/sweeps\"?", NULL);
    expect_error(TOY_JOB(",\"disp\":1", ""), "did you mean \"/system/moves/displacement\"?", NULL);
    expect_error(TOY_JOB(",\"sweepz\":1", ""), "did you mean \"/run/sweeps\"?", NULL);
    expect_error(TOY_JOB(",\"sweexx\":1", ""), "/system/sweexx: unknown key; allowed here", NULL);
    expect_error(TOY_JOB(",\"model\":\"alp\"", ""), "did you mean \"alpha\"?", NULL);
    expect_error(TOY_JOB(",\"pe\":1", ""), "/system/pe: unknown key; allowed here", NULL);
    expect_error(TOY_JOB("", ",\"skan\":{}"), "did you mean \"scan\"?", "replicas");
    expect_error(TOY_JOB(",\"a/b~c\":1", ""), "job.json: /system/a~1b~0c: unknown key", NULL);
    expect_error(TOY_JOB(",\"\":1", ""), "job.json: /system/: unknown key", NULL);
    expect_error(TOY_JOB(",\"\\u001b[31m\\n\":1", ""), "/system/\\u001B[31m\\n: unknown", NULL);
    expect_error(TOY_JOB(",\"moves\":1", ""),
                 "/system/moves: found 1; allowed: an object with the "
                 "keys displacement",
                 NULL);
    expect_error(TOY_JOB("", ",\"output\":[]"), "/output: found an array of 0", "snapshots");
    expect_error("{\"sampler\":\"toy-latice\",\"run\":{\"sweeps\":1}," TOY_SYSTEM "}}",
                 "/sampler: found the string \"toy-latice\", did you mean \"toy-lattice\"?",
                 "\"toy-gas\"");
    expect_error("{\"run\":{\"sweeps\":1}," TOY_SYSTEM "}}", "job.json: /sampler: missing",
                 "toy-gas");
    expect_error(TOY_HEAD "\"system\":{\"size\":[4]}}", "job.json: /system/temperature: missing",
                 "a number > 0");
    expect_error("{\"sampler\":\"toy-lattice\"," TOY_SYSTEM "}}", "/run/sweeps: missing", NULL);
    expect_error("[]", "found an array of 0; a job is an object", NULL);
}

static void test_all_at_once(void **state) {
    (void)state;
    struct toy toy = toy_parse(
        "{\"sampler\":\"toy-lattice\",\"seed\":1.5,\"seeed\":1,\"run\":{\"sweep\":5},\"system\":{"
        "\"temperature\":-1,\"fast\":1,\"fast\":0},\"scan\":{\"/system/"
        "feld\":[1],"
        "\"/system/field\":[]},\"output\":{\"snapshots\":99}}");
    assert_int_equal(toy.status, ERGO_E_JOB);
    static const char *const parts[] = {
        "job.json:1:101: /system/fast: duplicate key",
        "/seed: found 1.5",
        "/seeed: unknown key",
        "/run/sweep: unknown key; did you mean \"sweeps\"",
        "/system/temperature: found -1",
        "/system/fast: found 1",
        "/system/fast: found 0",
        "/output/snapshots: found 99",
        "/scan/~1system~1feld: no key has this pointer; did you mean \"/system/field\"?",
        "/scan/~1system~1field: a list of 0 values",
        "/run/sweeps: missing",
        "/system/size: missing",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        expect_contains(toy.message, parts[i]);
    assert_int_equal(count_lines(toy.message), sizeof parts / sizeof parts[0]);
    toy_free(&toy);
}

/* Which keys a model has is not known of one that is not there: nothing else is said of them. */
static void test_unknown_model(void **state) {
    (void)state;
    expect_error(TOY_JOB(",\"model\":\"gamma\",\"depth\":-3", ""),
                 "/system/model: found the string \"gamma\"", "allowed: \"alpha\", \"beta\"");
    expect_error("{\"sampler\":\"toy-lattice\",\"run\":{\"sweeps\":1},\"system\":{\"model\":7},"
                 "\"scan\":{\"/system/depth\":[1,2]},\"tuning\":{\"block\":3}}",
                 "/system/model: found 7", NULL);
}

/* A key of another model is refused by the tables, and told whose it is. */
static void test_other_models_keys(void **state) {
    (void)state;
    static const char message[] = "/system/depth: unknown key for model \"alpha\" of toy-lattice "
                                  "(it is a key of model \"beta\")";
    expect_error(TOY_JOB(",\"depth\":2", ""), message, NULL);
    expect_error(TOY_JOB(",\"depth\":2,\"model\":\"alpha\"", ""), message, NULL);
    expect_error(TOY_JOB("", ",\"scan\":{\"/system/depth\":[1,2]}"),
                 "/scan/~1system~1depth: no key has this pointer", NULL);
    expect_error(TOY_JOB(",\"activity\":2", ""),
                 "unknown key for model \"alpha\" of toy-lattice (it is a key of sampler "
                 "\"toy-gas\")",
                 NULL);
}

static void test_sampler_check(void **state) {
    (void)state;
    expect_error(TOY_JOB(",\"start\":\"nowhere\"", ""),
                 "job.json: /system/start: there is no such start", NULL);
    /* the same at all points: said once, without a place */
    struct toy toy = toy_parse(TOY_JOB(",\"start\":\"nowhere\"",
                                       ",\"replicas\":3,\"scan\":{\"/system/temperature\":"
                                       "[50,150,250]}"));
    assert_int_equal(count_lines(toy.message), 2);
    expect_contains(toy.message, "job.json: /system/start: there is no such start\n");
    expect_contains(toy.message, "job.json: /system/temperature: too hot (at /system/temperature = "
                                 "150, and 1 more scan points)");
    toy_free(&toy);
}

/* Asked of a sampler that has none, a trajectory would silently be missing. */
static void test_trajectory(void **state) {
    (void)state;
    static const char gas[] =
        "{\"sampler\":\"toy-gas\",\"run\":{\"sweeps\":9},\"system\":{\"activity\":1},"
        "\"output\":{\"trajectory_every\":%s}}";
    static const struct {
        const char *value, *error; /* NULL: taken */
    } cases[] = {{"0", NULL},
                 {"\"0\"", NULL},
                 {"7", "/output/trajectory_every: found 7, but toy-gas writes no trajectory"},
                 {"\"9007199254740992\"", "found 9007199254740992, but toy-gas"},
                 {"-7", "/output/trajectory_every: found -7, which is out of range"}};
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, gas, cases[i].value);
        struct toy toy = {0};
        if (cases[i].error)
            expect_error(text, cases[i].error, NULL);
        else
            toy = expect_good(text);
        toy_free(&toy);
    }
    struct toy toy = expect_good(TOY_JOB("", ",\"output\":{\"trajectory_every\":7}"));
    assert_int_equal(ergo_point_int(&toy.job->points[0], "/output/trajectory_every"), 7);
    toy_free(&toy);
    /* beside the other errors, not after them */
    toy = toy_parse("{\"sampler\":\"toy-gas\",\"output\":{\"trajectory_every\":7}}");
    expect_contains(toy.message, "toy-gas writes no trajectory");
    expect_contains(toy.message, "/run/sweeps: missing");
    toy_free(&toy);
}

/* A key that acts at none of the points is refused, given or scanned; its default is not. */
static void test_effects(void **state) {
    (void)state;
    static const char message[] = "/system/depth: has no effect in this job of model \"beta\"; it "
                                  "acts only with a field: leave it out";
    expect_error(TOY_JOB(",\"depth\":2,\"model\":\"beta\"", ""), message, NULL);
    expect_error(TOY_JOB(",\"model\":\"beta\"", ",\"scan\":{\"/system/depth\":[1,2]}"), message,
                 NULL);
    struct toy toy = expect_good(TOY_JOB(",\"depth\":2,\"model\":\"beta\",\"field\":3", ""));
    toy_free(&toy);
    /* at one point of a scan is enough: a calibration has a reference without it */
    toy = expect_good(
        TOY_JOB(",\"depth\":2,\"model\":\"beta\"", ",\"scan\":{\"/system/field\":[0,1]}"));
    toy_free(&toy);
    /* beside what the sampler says */
    toy = toy_parse(TOY_JOB(",\"depth\":2,\"model\":\"beta\",\"start\":\"nowhere\"", ""));
    expect_contains(toy.message, message);
    expect_contains(toy.message, "there is no such start");
    toy_free(&toy);
}

static void test_sets(void **state) {
    (void)state;
    const char *const sets[] = {"/system/temperature=3.5",
                                "/system/model=beta",
                                "/output/snapshots=2",
                                "/system/size/1=16",
                                "/seed=\"18446744073709551615\"",
                                "/device=NVIDIA H200",
                                "/system/temperature=3.25"};
    struct toy toy = toy_parse_sets(TOY_JOB("", ""), sets, sizeof sets / sizeof sets[0]);
    if (!toy.job)
        fail_msg("%s", toy.message);
    const struct ergo_point *point = toy.job->points;
    assert_true(ergo_point_real(point, "/system/temperature") == 3.25);
    assert_string_equal(ergo_point_text(point, "/system/model"), "beta");
    assert_int_equal(ergo_point_int(point, "/output/snapshots"), 2);
    assert_int_equal(ergo_point_value(point, "/system/size")->size[1], 16);
    assert_true(ergo_point_value(point, "/seed")->seed == UINT64_MAX);
    assert_string_equal(ergo_point_text(point, "/device"), "NVIDIA H200");
    assert_string_equal(
        toy.job->canonical,
        "{\"sampler\":\"toy-lattice\",\"run\":{\"sweeps\":100},\"system\":{\"size\":"
        "[8,16],\"temperature\":3.25,\"model\":\"beta\"},\"output\":{\"snapshots\":2},"
        "\"seed\":\"18446744073709551615\",\"device\":\"NVIDIA H200\"}");
    toy_free(&toy);

    static const struct {
        const char *set, *part;
    } bad[] = {
        {"/system/temperature", "--set \"/system/temperature\": write it as"},
        {"system.temperature=1", "--set \"system.temperature=1\": write it as"},
        {"", "--set \"\": write it as"},
        {"=1", "--set \"=1\": write it as"},
        {"/=1", "the pointer has an empty name"},
        {"/system//x=1", "the pointer has an empty name"},
        {"/system/a~2=1", "~0"},
        {"/system/size/5=1", "the array has no such element"},
        {"/system/size/-=1", "the array has no such element"},
        {"/system/temperature/x=1", "goes through a value that is no object"},
        {"/system/temprature=1", "/system/temprature: unknown key"},
        {"/system/temperature=hot",
         "/system/temperature: found the string \"hot\"; allowed: a number > 0 (in J/k_B) (from "
         "--set \"/system/temperature=hot\")"},
        {"/system/temperature=1e999", "(from --set \"/system/temperature=1e999\")"},
        {"/system/temperature={\"a\":1,\"a\":2}", "(from --set"},
        {"/system/temperature=\xFF", "--set number 1 is not valid UTF-8"},
        {"/seed=9007199254740993", "write it as the string"},
        {"/system/temprature=null", "null takes a key away, and the job has none of this name"},
        {"/sampler=null", "/sampler: missing"},
        {"/system/size/0=null", "/system/size/0: found null"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        toy = toy_parse_sets(TOY_JOB("", ""), &bad[i].set, 1);
        assert_int_equal(toy.status, ERGO_E_JOB);
        expect_contains(toy.message, bad[i].part);
        toy_free(&toy);
    }
    const char *scanned = "/system/temperature=1", *ends = "/scan={}";
    const char *text = TOY_JOB("", ",\"scan\":{\"/system/temperature\":[2,3]}");
    toy = toy_parse_sets(text, &scanned, 1);
    expect_contains(toy.message, "/system/temperature: is scanned by the job");
    toy_free(&toy);
    toy = toy_parse_sets(text, &ends, 1);
    assert_int_equal(ergo_job_count_points(toy.job), 1);
    toy_free(&toy);

    /* null takes a key away: the first, the last, one in between; what comes next goes behind those
     * that stay */
    const char *const away[] = {"/sampler=null",       "/device=null",     "/scan=null",
                                "/device=gpu",         "/run/sweeps=null", "/run/sweeps=7",
                                "/sampler=toy-lattice"};
    toy = toy_parse_sets(TOY_JOB("", ",\"device\":\"cpu\",\"scan\":{}"), away, 7);
    if (!toy.job)
        fail_msg("%s", toy.message);
    expect_contains(toy.job->canonical, "{\"run\":{\"sweeps\":7},\"system\":");
    expect_contains(toy.job->canonical, ",\"device\":\"gpu\",\"sampler\":\"toy-lattice\"}");
    toy_free(&toy);
}

static void test_canonical(void **state) {
    (void)state;
    static const char *const texts[] = {
        TOY_JOB("", ""),
        TOY_JOB(
            ",\"n\":\"9223372036854775807\",\"field\":-1.25e-1,\"start\":\"\\u00e9\\n\\\"\\\\\"",
            ",\"seed\":9007199254740992,\"scan\":{\"/system/temperature\":{\"from\":2.4,\"to\":"
            "2.1,\"step\":-0.01},\"/system/size/"
            "0\":[4,8]},\"description\":\"x\",\"$schema\":\"y\""),
    };
    for (size_t i = 0; i < 2; i++) {
        struct toy a = expect_good(texts[i]), b = expect_good(a.job->canonical);
        assert_string_equal(a.job->canonical, b.job->canonical);
        assert_int_equal(a.job->n_points, b.job->n_points);
        for (size_t p = 0; p < a.job->n_points; p++) {
            const struct ergo_point *x = &a.job->points[p], *y = &b.job->points[p];
            assert_true(x->stream == y->stream);
            for (size_t k = 0; k < a.job->n_keys; k++) {
                const struct ergo_value *u = &x->values[k], *v = &y->values[k];
                assert_true(u->real == v->real && u->integer == v->integer && u->seed == v->seed);
                assert_true(u->items == v->items && u->given == v->given);
                assert_true(!memcmp(u->size, v->size, sizeof u->size));
                assert_true(!u->text == !v->text && (!u->text || !strcmp(u->text, v->text)));
            }
        }
        toy_free(&a);
        toy_free(&b);
    }
}

/* A number and a list of it alone are the same value; 0.5 and [0.5, 0.5] are not. */
static void test_same_values(void **state) {
    const struct ergo_key key = {.type = ERGO_KEY_REAL, .flags = ERGO_KEY_LIST};
    const struct ergo_value one = {.present = true, .real = 0.5},
                            listed = {.present = true, .items = 1, .reals = {0.5, 0.5}},
                            other = {.present = true, .items = 1, .reals = {0.3}},
                            two = {.present = true, .items = 2, .reals = {0.5, 0.5}},
                            none = {.present = false};
    (void)state;
    assert_true(ergo_value_same(&key, &one, &listed) && ergo_value_same(&key, &listed, &one));
    assert_true(ergo_value_same(&key, &two, &two) && ergo_value_same(&key, &none, &none));
    assert_false(ergo_value_same(&key, &one, &other) || ergo_value_same(&key, &other, &one));
    assert_false(ergo_value_same(&key, &one, &two) || ergo_value_same(&key, &two, &listed));
    assert_false(ergo_value_same(&key, &one, &none) || ergo_value_same(&key, &none, &two));
}

static void test_load(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    assert_int_equal(ergo_job_load(ctx, "/no/such/file.json", NULL, 0, &job), ERGO_E_IO);
    expect_contains(ergo_error_message(ctx), "/no/such/file.json: the job cannot be opened");
    ergo_error_clear(ctx);
    assert_int_equal(ergo_job_load(ctx, "/", NULL, 0, &job), ERGO_E_IO);
    ergo_error_clear(ctx);
    char path[] = "/tmp/ergocl-test-XXXXXX.json";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    fputs(TOY_JOB("", ""), file);
    fclose(file);
    assert_int_equal(ergo_job_load(ctx, path, NULL, 0, &job), ERGO_OK);
    assert_int_equal(strlen(ergo_job_name(job)), strlen("ergocl-test-XXXXXX"));
    ergo_job_destroy(job);
    remove(path);
    static const char *const names[][2] = {
        {"a/b/ising.json", "ising"}, {"ising", "ising"}, {"x.json.json", "x"},
        {".json", ".json"},          {"a/", "job"},      {"..", "job"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = TOY_JOB("", "");
        assert_int_equal(ergo_job_parse(ctx, text, strlen(text), names[i][0], NULL, 0, &job),
                         ERGO_OK);
        assert_string_equal(ergo_job_name(job), names[i][1]);
        ergo_job_destroy(job);
    }
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimal),       cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_ranges),        cmocka_unit_test(test_exact_integers),
        cmocka_unit_test(test_suggestions),   cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_unknown_model), cmocka_unit_test(test_other_models_keys),
        cmocka_unit_test(test_sampler_check), cmocka_unit_test(test_sets),
        cmocka_unit_test(test_trajectory),    cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_same_values),   cmocka_unit_test(test_load),
        cmocka_unit_test(test_effects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
