/* Broken, huge and malicious jobs: an answer within a second of CPU time, never a crash. Meant to
 * run under ASan and UBSan too. */
#include "test_job_toy.h"

#include <time.h>
#include <unistd.h>

static const char whole[] =
    "{\"$schema\":\"x\",\"sampler\":\"toy-lattice\",\"seed\":\"18446744073709551615\",\"replicas\":"
    "2,"
    "\"system\":{\"model\":\"beta\",\"size\":[8,16],\"temperature\":2.25e0,\"fast\":true,\"start\":"
    "\"\\u00e9\\n\\ud83d\\ude00\",\"moves\":{\"displacement\":0.5}},\"run\":{\"equilibration\":5,"
    "\"sweeps\":20,\"measure_every\":2},\"scan\":{\"/system/temperature\":{\"from\":2.4,\"to\":2.1,"
    "\"step\":-0.1},\"/system/size/0\":[4,8],\"/system/field\":{\"from\":1,\"to\":2,\"count\":2,"
    "\"spacing\":\"log\"}},\"wall_time\":\"02:00:00\",\"output\":{\"snapshots\":4},\"tuning\":{"
    "\"block\":4}}";

/* Parse; wrong jobs must say why. Returns whether it was accepted. */
static bool survive(struct ergo_context *ctx, const char *text, size_t length) {
    struct ergo_job *job = NULL;
    clock_t start = clock();
    enum ergo_status status = ergo_job_parse(ctx, text, length, "h", NULL, 0, &job);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 1)
        fail_msg("took %.2f s: %.100s", seconds, text);
    if (status == ERGO_OK) {
        assert_non_null(job);
        assert_true(job->n_points > 0 && job->n_batches > 0);
    } else {
        assert_int_equal(status, ERGO_E_JOB);
        assert_null(job);
        const char *message = ergo_error_message(ctx);
        assert_true(!strncmp(message, "h:", 2));
        if (strlen(message) > 100000)
            fail_msg("a message of %zu bytes", strlen(message));
        for (const char *p = message; *p; p++) /* nothing a terminal would obey */
            if (((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7F)
                fail_msg("control character in: %s", message);
    }
    ergo_job_destroy(job);
    ergo_error_clear(ctx);
    return status == ERGO_OK;
}

/* From an exact allocation, so that ASan sees a read beyond the end. */
static bool survive_copy(struct ergo_context *ctx, const char *text, size_t length) {
    char *copy = malloc(length ? length : 1);
    if (length)
        memcpy(copy, text, length);
    bool good = survive(ctx, copy, length);
    free(copy);
    return good;
}

static void test_truncated(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    assert_true(survive(ctx, whole, sizeof whole - 1));
    for (size_t length = 0; length < sizeof whole - 1; length++)
        assert_false(survive_copy(ctx, whole, length));
    ergo_context_destroy(ctx);
}

static void test_flipped(void **state) {
    (void)state;
    static const unsigned char bytes[] = {0,   ' ', '"',  '\\', '{',  '}', '[', ']',
                                          ',', ':', '0',  '9',  '-',  '.', 'e', 'u',
                                          '/', '~', 0x7F, 0x80, 0xC3, 0xFF};
    struct ergo_context *ctx = ergo_context_create();
    char *copy = malloc(sizeof whole - 1);
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        memcpy(copy, whole, sizeof whole - 1);
        for (size_t b = 0; b < sizeof bytes; b++) {
            copy[i] = (char)bytes[b];
            survive(ctx, copy, sizeof whole - 1);
        }
        copy[i] = (char)(whole[i] ^ 0x20); /* the other case */
        survive(ctx, copy, sizeof whole - 1);
    }
    free(copy);
    ergo_context_destroy(ctx);
}

static uint32_t lcg(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Pieces moved, repeated, and cut out at random places: mostly well-formed tokens in wrong order.
 */
static void test_spliced(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    uint32_t random = 1;
    const size_t n = sizeof whole - 1;
    for (int round = 0; round < 4000; round++) {
        size_t from = lcg(&random) % n, length = lcg(&random) % 24, to = lcg(&random) % n;
        length = length > n - from ? n - from : length;
        char *copy = malloc(n + length);
        memcpy(copy, whole, to);
        memcpy(copy + to, whole + from, length);
        size_t skip = lcg(&random) % 3 ? 0 : length;
        size_t rest = to + skip < n ? n - to - skip : 0;
        memcpy(copy + to + length, whole + to + skip, rest);
        survive(ctx, copy, to + length + rest);
        free(copy);
    }
    ergo_context_destroy(ctx);
}

/* `head`, then `part` n times, then `tail`. */
static bool survive_repeated(const char *head, const char *part, size_t n, const char *tail) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_text text = {0};
    ergo_text_append(&text, "%s", head);
    for (size_t i = 0; i < n; i++)
        ergo_text_append_bytes(&text, part, strlen(part));
    ergo_text_append(&text, "%s", tail);
    bool good = survive(ctx, text.data, text.length);
    ergo_text_free(&text);
    ergo_context_destroy(ctx);
    return good;
}

static void test_huge(void **state) {
    (void)state;
    assert_false(survive_repeated("", " ", 15 << 20, ""));
    assert_true(survive_repeated(TOY_JOB("", ""), " \n", 1 << 20, ""));
    assert_false(survive_repeated("", " ", 100 << 20, "{}"));
    assert_false(survive_repeated("", "[", 8 << 20, ""));
    assert_false(survive_repeated("", "{\"a\":", 2 << 20, ""));
    assert_false(survive_repeated("{\"sampler\":", "1", 8 << 20, "}"));
    assert_false(survive_repeated("{\"seed\":\"", "9", 8 << 20, "\"}"));
    assert_false(survive_repeated("{\"sampler\":\"", "toy", 4 << 20, "\"}"));
    assert_false(survive_repeated("{\"", "key", 4 << 20, "\":1}"));
    assert_false(survive_repeated("{\"sampler\":\"", "\\u001b", 2 << 20, "\"}"));
    assert_false(survive_repeated("{", "\"a\":1,", 250000, "\"b\":2}")); /* duplicates */
    assert_false(survive_repeated(TOY_HEAD TOY_SYSTEM "},\"scan\":{\"/system/temperature\":[1",
                                  ",1", 500000, "]}}"));
    assert_false(survive_repeated(TOY_HEAD TOY_SYSTEM "},\"scan\":{\"/system/temperature\":[1",
                                  ",-1", 90000, "]}}"));
    assert_false(survive_repeated("[1", ",2", 1 << 20, "]"));
    assert_false(survive_repeated("{\"seed\":1", "0", 990, "}"));
    assert_false(survive_repeated("{\"seed\":1e", "9", 990, "}"));
    assert_false(survive_repeated("{\"seed\":0.", "0", 980, "1}"));
    assert_true(survive_repeated(TOY_JOB("", ",\"seed\":\""), "", 0, "") == false);
}

/* Half a million keys nobody knows, all different. */
static void test_many_unknown(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_text text = {0};
    ergo_text_append(&text, TOY_HEAD TOY_SYSTEM "}");
    for (int i = 0; i < 300000; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, ",\"temperature%d\":1", i);
        ergo_text_append_bytes(&text, key, (size_t)length);
    }
    ergo_text_append(&text, "}");
    struct ergo_job *job = NULL;
    clock_t start = clock();
    assert_int_equal(ergo_job_parse(ctx, text.data, text.length, "h", NULL, 0, &job), ERGO_E_JOB);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1.5);
    assert_int_equal(count_lines(ergo_error_message(ctx)), 101);
    expect_contains(ergo_error_message(ctx), "h: and 299900 more errors");
    ergo_text_free(&text);
    ergo_context_destroy(ctx);
}

/* The largest scan there may be, which is slow only because it is made. */
static void test_largest_scan(void **state) {
    (void)state;
    struct toy toy = expect_good(TOY_JOB(
        "", ",\"scan\":{\"/system/temperature\":{\"from\":0.001,\"to\":50,\"step\":0.001}}"));
    assert_int_equal(toy.job->n_points, 50000);
    toy_free(&toy);
    toy = expect_good(TOY_JOB("", ",\"replicas\":200000"));
    assert_int_equal(toy.job->n_points, 200000);
    assert_int_equal(toy.job->batches[0].count, 200000);
    toy_free(&toy);
}

/* From a file: refused by what was read, not after all of it was. */
static void test_huge_file(void **state) {
    (void)state;
    char path[] = "/tmp/ergocl-test-XXXXXX.json";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)1 << 33), 0); /* sparse: 8 GiB of zero bytes */
    close(fd);
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    clock_t start = clock();
    assert_int_equal(ergo_job_load(ctx, path, NULL, 0, &job), ERGO_E_JOB);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    expect_contains(ergo_error_message(ctx), "larger than 16 MiB");
    ergo_context_destroy(ctx);
    remove(path);
}

static void test_hostile_sets(void **state) {
    (void)state;
    static const char *const sets[] = {
        "/",
        "/=",
        "//=1",
        "=",
        "/a",
        "/a=",
        "/scan=1",
        "/system=1",
        "/sampler=[]",
        "/~=1",
        "/~1=1",
        "/a/b/c/d/e=1",
        "/system/size/99999999999999999999=1",
        "/system/size=[",
        "/system/size=[[[[",
        "/seed=\"\\u0000\"",
        "/run/sweeps=1e400",
        "/x=\x1B[31m",
        "/\x1B=1",
        "/scan/~1system~1n=[1,2]",
        "/scan/~1system~1n/from=1",
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        struct toy toy = toy_parse_sets(whole, &sets[i], 1);
        for (const char *p = toy.message; *p; p++)
            assert_true((unsigned char)*p >= 0x20 || *p == '\n');
        toy_free(&toy);
    }
    /* a pointer a megabyte long, and one with half a million levels */
    for (int slashes = 0; slashes < 2; slashes++) {
        char *set = malloc((1 << 20) + 1);
        memset(set, 'a', 1 << 20);
        set[1 << 20] = '\0';
        set[0] = '/';
        memcpy(set + (1 << 20) - 2, "=1", 2);
        for (size_t i = 0; slashes && i < (1 << 20) - 2; i += 2)
            set[i] = '/';
        const char *one = set;
        struct toy toy = toy_parse_sets(whole, &one, 1);
        assert_int_equal(toy.status, ERGO_E_JOB);
        assert_true(strlen(toy.message) < 2000);
        toy_free(&toy);
        free(set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_spliced),      cmocka_unit_test(test_huge),
        cmocka_unit_test(test_many_unknown), cmocka_unit_test(test_largest_scan),
        cmocka_unit_test(test_huge_file),    cmocka_unit_test(test_hostile_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
