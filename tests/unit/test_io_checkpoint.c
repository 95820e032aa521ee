/* Checkpoints: what was put in comes out, no damaged or forged file is read, and memory is taken
 * for the records alone, once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "records.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 }; /* maps terabytes: no limit on memory */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

enum { MOST = 1 << 30 };

struct fixture {
    struct ergo_context *ctx;
    char folder[64];
    char path[96];
    char damaged[96];
    char *bytes; /* of the small file at `path` */
    size_t length;
};

static void fill(struct ergo_blobs *blobs) {
    static const uint8_t state[] = {0, 1, 2, 0xff, 0, 7};
    memset(blobs, 0, sizeof *blobs);
    assert_true(ergo_blobs_add(blobs, "job", "{\"seed\":\"1\"}", 12));
    assert_true(ergo_blobs_add(blobs, "state/0", state, sizeof state));
    assert_true(ergo_blobs_add(blobs, "state/1", NULL, 0));
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct ergo_blobs blobs;
    if (!f)
        return -1;
    f->ctx = ergo_context_create();
    snprintf(f->folder, sizeof f->folder, "/tmp/ergo-test-XXXXXX");
    if (!f->ctx || !mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/checkpoint", f->folder);
    snprintf(f->damaged, sizeof f->damaged, "%s/damaged", f->folder);
    fill(&blobs);
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->path, &blobs), ERGO_OK);
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->path, 1 << 20, &f->bytes, &f->length),
                     ERGO_OK);
    ergo_blobs_free(&blobs);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int result = system(command);
    ergo_context_destroy(f->ctx);
    free(f->bytes);
    free(f);
    return result;
}

/* Not ergo_file_write: thousands of files need no sync. */
static void put(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void expect_refused(struct fixture *f) {
    struct ergo_blobs blobs;
    ergo_error_clear(f->ctx);
    assert_int_equal(records_read(f->ctx, NULL, f->damaged, MOST, &blobs), ERGO_E_IO);
    assert_int_equal(blobs.count, 0);
    assert_null(blobs.blobs);
    assert_non_null(strstr(ergo_error_message(f->ctx), f->damaged));
}

static void blobs_come_back(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs, expected;
    fill(&expected);
    assert_int_equal(records_read(f->ctx, NULL, f->path, MOST, &blobs), ERGO_OK);
    assert_int_equal(blobs.count, expected.count);
    for (size_t i = 0; i < expected.count; i++) {
        const struct ergo_blob *blob = ergo_blobs_find(&blobs, expected.blobs[i].name);
        assert_non_null(blob);
        assert_int_equal(blob->length, expected.blobs[i].length);
        assert_memory_equal(blob->data, expected.blobs[i].data, blob->length + 1);
    }
    assert_null(ergo_blobs_find(&blobs, "state"));
    ergo_blobs_free(&blobs);
    ergo_blobs_free(&expected);
}

static void the_same_state_is_the_same_file(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs;
    char *bytes;
    size_t length;
    fill(&blobs);
    sleep(1); /* so that a time inside would show */
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->damaged, &blobs), ERGO_OK);
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->damaged, 1 << 20, &bytes, &length), ERGO_OK);
    assert_int_equal(length, f->length);
    assert_memory_equal(bytes, f->bytes, length);
    free(bytes);
    ergo_blobs_free(&blobs);
}

static void every_truncation_is_refused(void **state) {
    struct fixture *f = *state;
    for (size_t length = 0; length < f->length; length++) {
        put(f->damaged, f->bytes, length);
        expect_refused(f);
    }
    char *longer = calloc(1, f->length + 1);
    assert_non_null(longer);
    memcpy(longer, f->bytes, f->length);
    put(f->damaged, longer, f->length + 1);
    free(longer);
    expect_refused(f);
}

/* Whatever is damaged is named: the head, or a record. */
static void every_flipped_bit_is_refused(void **state) {
    struct fixture *f = *state;
    enum { HEAD = 16 + 3 * 72 + 32, JOB = HEAD + 12, STATE = JOB + 6 };
    assert_int_equal(f->length, STATE);
    for (size_t i = 0; i < f->length; i++)
        for (int bit = 0; bit < 8; bit++) {
            f->bytes[i] = (char)(f->bytes[i] ^ 1 << bit);
            put(f->damaged, f->bytes, f->length);
            expect_refused(f);
            f->bytes[i] = (char)(f->bytes[i] ^ 1 << bit);
            if (i >= HEAD)
                assert_non_null(
                    strstr(ergo_error_message(f->ctx),
                           i < JOB ? "record 'job' is damaged" : "record 'state/0' is damaged"));
        }
}

/* ---- files with right checksums ------------------------------------------------------------- */

struct forged {
    const char *name;
    const void *data;
    size_t length;
    uint64_t announced; /* 0: the length */
};

static size_t put_number(uint8_t *to, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    return bytes;
}

/* At f->damaged; the bytes of the head. */
static size_t forge(struct fixture *f, const struct forged *records, size_t count,
                    uint32_t announced_count) {
    uint8_t file[8192] = "ERGOCKPT";
    size_t at = 8;
    at += put_number(file + at, 3, 4);
    at += put_number(file + at, announced_count, 4);
    for (size_t i = 0; i < count; i++) {
        memset(file + at, 0, 32);
        memcpy(file + at, records[i].name, strnlen(records[i].name, 32));
        at += 32;
        at += put_number(file + at, records[i].announced ? records[i].announced : records[i].length,
                         8);
        ergo_sha256(records[i].data, records[i].length, file + at);
        at += 32;
    }
    uint8_t sha[32];
    ergo_sha256(file, at, sha);
    memcpy(file + at, sha, sizeof sha);
    at += sizeof sha;
    const size_t head = at;
    for (size_t i = 0; i < count; i++) {
        memcpy(file + at, records[i].data, records[i].length);
        at += records[i].length;
    }
    put(f->damaged, (char *)file, at);
    return head;
}

static void expect_said(struct fixture *f, const char *what) {
    expect_refused(f);
    if (!strstr(ergo_error_message(f->ctx), what))
        fail_msg("\"%s\" is not in: %s", what, ergo_error_message(f->ctx));
}

static void forged_heads_are_refused(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs;
    const struct forged good[] = {{"a", "1", 1, 0}, {"b", "22", 2, 0}};
    forge(f, good, 2, 2);
    assert_int_equal(records_read(f->ctx, NULL, f->damaged, MOST, &blobs), ERGO_OK);
    assert_int_equal(blobs.count, 2);
    ergo_blobs_free(&blobs);

    const struct forged twice[] = {{"a", "1", 1, 0}, {"a", "2", 1, 0}};
    forge(f, twice, 2, 2);
    expect_said(f, "two records 'a'");
    const struct forged nameless[] = {{"", "1", 1, 0}};
    forge(f, nameless, 1, 1);
    expect_said(f, "has a record ''");
    const struct forged endless[] = {{"0123456789012345678901234567890123456789", "1", 1, 0}};
    forge(f, endless, 1, 1);
    expect_said(f, "has a record '0123456789");
    /* lengths: more than there is, less, sums beyond 2^64, and a record that begins behind the end
     */
    static const struct {
        uint64_t first, second;
        const char *said;
    } lengths[] = {{1, 3, "was cut short"},
                   {1, 1, "is too long"},
                   {3, UINT64_MAX, "was cut short"},
                   {UINT64_MAX, 4, "was cut short"},
                   {UINT64_MAX - 7, 8, "was cut short"},
                   {UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 3, "was cut short"}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct forged lying[] = {{"a", "1", 1, lengths[i].first},
                                       {"b", "22", 2, lengths[i].second}};
        forge(f, lying, 2, 2);
        expect_said(f, lengths[i].said);
    }
    /* where one record ends and the next begins is checked by both */
    const struct forged moved[] = {{"a", "1", 1, 2}, {"b", "22", 2, 1}};
    forge(f, moved, 2, 2);
    expect_said(f, "record 'a' is damaged");
    forge(f, good, 2, 65);
    expect_said(f, "the number of records");
    forge(f, good, 2, UINT32_MAX);
    expect_said(f, "the number of records");
    forge(f, good, 0, 0);
    assert_int_equal(records_read(f->ctx, NULL, f->damaged, MOST, &blobs), ERGO_OK);
    assert_int_equal(blobs.count, 0);
    ergo_blobs_free(&blobs);
    /* bytes behind a name's end, with a right checksum */
    forge(f, (struct forged[]){{"a\0b", "1", 1, 0}}, 1, 1);
    char *bytes;
    size_t length;
    uint8_t sha[32];
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->damaged, MOST, &bytes, &length), ERGO_OK);
    bytes[16 + 31] = 'x';
    ergo_sha256(bytes, 16 + 72, sha);
    memcpy(bytes + 16 + 72, sha, sizeof sha);
    put(f->damaged, bytes, length);
    expect_said(f, "a name");
    /* another beginning, with a right checksum */
    bytes[16 + 31] = 0;
    bytes[0] = 'e';
    ergo_sha256(bytes, 16 + 72, sha);
    memcpy(bytes + 16 + 72, sha, sizeof sha);
    put(f->damaged, bytes, length);
    free(bytes);
    expect_said(f, "does not begin like a checkpoint");
}

static void other_names_are_refused(void **state) {
    struct fixture *f = *state;
    static const char *const all[] = {"state/0", "state/1", "more", "job", NULL};
    static const char *const some[] = {"job", "state/1", NULL};
    struct ergo_checkpoint *checkpoint = NULL;
    assert_int_equal(ergo_checkpoint_open(f->ctx, NULL, f->path, all, &checkpoint), ERGO_OK);
    assert_true(ergo_checkpoint_has(checkpoint, "state/1"));
    assert_false(ergo_checkpoint_has(checkpoint, "more"));
    ergo_checkpoint_close(checkpoint);
    assert_int_equal(ergo_checkpoint_open(f->ctx, NULL, f->path, some, &checkpoint), ERGO_E_IO);
    assert_null(checkpoint);
    assert_non_null(strstr(ergo_error_message(f->ctx), "'state/0'"));
}

/* One record comes without the others; one that is too long, or is damaged, does not. */
static void records_come_one_by_one(void **state) {
    struct fixture *f = *state;
    struct ergo_checkpoint *checkpoint = NULL;
    struct ergo_blobs blobs = {0, 0, NULL};
    f->bytes[f->length - 1] ^= 1;
    put(f->damaged, f->bytes, f->length);
    assert_int_equal(ergo_checkpoint_open(f->ctx, NULL, f->damaged, NULL, &checkpoint), ERGO_OK);
    assert_int_equal(ergo_checkpoint_load(f->ctx, checkpoint, "job", 12, &blobs), ERGO_OK);
    assert_int_equal(ergo_checkpoint_load(f->ctx, checkpoint, "more", 12, &blobs), ERGO_OK);
    assert_int_equal(blobs.count, 1);
    assert_string_equal(blobs.blobs[0].data, "{\"seed\":\"1\"}");
    assert_int_equal(ergo_checkpoint_load(f->ctx, checkpoint, "job", 11, &blobs), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "12 bytes, at most 11"));
    assert_int_equal(ergo_checkpoint_load(f->ctx, checkpoint, "state/0", 6, &blobs), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "'state/0' is damaged"));
    assert_int_equal(blobs.count, 1);
    ergo_checkpoint_close(checkpoint);
    ergo_blobs_free(&blobs);
}

static void other_versions_are_named(void **state) {
    struct fixture *f = *state;
    f->bytes[8] = 2;
    put(f->damaged, f->bytes, f->length);
    expect_said(f, "it is of version 2, this ergocl reads version 3");
}

static void what_is_no_file_is_refused(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs;
    static const char *const names[] = {"/", "/dev/zero", "/dev/null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(records_read(f->ctx, NULL, names[i], MOST, &blobs), ERGO_E_IO);
}

/* The head has the SHA-256 of those of the pieces, and no bit of any piece goes unseen. */
static void large_records_are_checked(void **state) {
    struct fixture *f = *state;
    enum { PIECE = 1 << 20, LENGTH = 2 * PIECE + 4321, HEAD = 16 + 72 + 32 };
    static const size_t flipped[] = {0, PIECE - 1, PIECE, 2 * PIECE, LENGTH - 1};
    struct ergo_blobs blobs = {0};
    uint8_t *large = malloc(LENGTH), shas[3][32], sha[32];
    char *file;
    size_t length;
    for (size_t i = 0; i < LENGTH; i++)
        large[i] = (uint8_t)(i * i >> 7);
    assert_true(ergo_blobs_add(&blobs, "large", large, LENGTH));
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->damaged, &blobs), ERGO_OK);
    ergo_blobs_free(&blobs);
    for (size_t k = 0; k < 3; k++)
        ergo_sha256(large + k * PIECE, k < 2 ? PIECE : LENGTH - 2 * PIECE, shas[k]);
    ergo_sha256(shas, sizeof shas, sha);
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->damaged, MOST, &file, &length), ERGO_OK);
    assert_int_equal(length, HEAD + LENGTH);
    assert_memory_equal(file + 16 + 40, sha, sizeof sha);
    assert_int_equal(records_read(f->ctx, NULL, f->damaged, MOST, &blobs), ERGO_OK);
    assert_memory_equal(ergo_blobs_find(&blobs, "large")->data, large, LENGTH);
    ergo_blobs_free(&blobs);
    for (size_t k = 0; k < sizeof flipped / sizeof *flipped; k++) {
        file[HEAD + flipped[k]] ^= 8;
        put(f->damaged, file, length);
        file[HEAD + flipped[k]] ^= 8;
        expect_said(f, "SHA-256 differs");
    }
    free(file);
    free(large);
}

static void names_are_checked(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs = {0, 0, NULL};
    char name[33];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_false(ergo_blobs_add(&blobs, name, "", 0));
    assert_true(ergo_blobs_add(&blobs, "twice", "a", 1));
    assert_true(ergo_blobs_add(&blobs, "twice", "b", 1));
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->damaged, &blobs), ERGO_E_INTERNAL);
    assert_non_null(strstr(ergo_error_message(f->ctx), "twice"));
    assert_int_equal(access(f->damaged, F_OK), -1);
    ergo_blobs_free(&blobs);
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { MIB = 1 << 20, LARGE = 64 };

/* From here on at most `more` MiB beyond what is mapped; returns what the limit was. */
static rlim_t allow(size_t more) {
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more * MIB;
    if (!SANITIZED)
        assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    return before;
}

static void allow_all(rlim_t before) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Written without a copy, and read with one. */
static void large_blobs_come_back(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs = {0, 0, NULL}, again;
    const size_t length = (size_t)LARGE * MIB;
    uint8_t *data = malloc(length);
    assert_non_null(data);
    for (size_t i = 0; i < length; i++)
        data[i] = (uint8_t)(i * 2654435761U >> 13);
    assert_true(ergo_blobs_take(&blobs, "state/large", data, length));
    rlim_t before = allow(LARGE / 2);
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->path, &blobs), ERGO_OK);
    allow_all(before);
    before = allow(LARGE + LARGE / 2);
    assert_int_equal(records_read(f->ctx, NULL, f->path, MOST, &again), ERGO_OK);
    allow_all(before);
    assert_int_equal(again.count, 1);
    assert_int_equal(again.blobs[0].length, length);
    assert_int_equal(memcmp(again.blobs[0].data, data, length), 0);
    ergo_blobs_free(&again);
    ergo_blobs_free(&blobs);
}

/* 40 GiB of nothing, which take no room on the disk: as long as the head says, but more than the
 * reader allows. */
static void huge_records_are_refused_before_memory_is_taken(void **state) {
    struct fixture *f = *state;
    const uint64_t huge = (uint64_t)40 << 30;
    struct ergo_checkpoint *checkpoint = NULL;
    struct ergo_blobs blobs = {0, 0, NULL};
    const struct forged records[] = {{"job", "{}", 2, 0}, {"series", "", 0, huge}};
    const size_t head = forge(f, records, 2, 2);
    if (truncate(f->damaged, (off_t)(head + 2 + huge)) != 0)
        skip(); /* no such files here */
    const rlim_t before = allow(LARGE);
    expect_said(f, "'series' has 42949672960 bytes, at most 1073741824");
    assert_int_equal(ergo_checkpoint_open(f->ctx, NULL, f->damaged, NULL, &checkpoint), ERGO_OK);
    assert_int_equal(ergo_checkpoint_load(f->ctx, checkpoint, "job", MOST, &blobs), ERGO_OK);
    assert_int_equal(blobs.blobs[0].length, 2);
    ergo_checkpoint_close(checkpoint);
    ergo_blobs_free(&blobs);
    allow_all(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blobs_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_state_is_the_same_file, setup, teardown),
        cmocka_unit_test_setup_teardown(every_truncation_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(every_flipped_bit_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_heads_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(other_names_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(records_come_one_by_one, setup, teardown),
        cmocka_unit_test_setup_teardown(other_versions_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(large_records_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(large_blobs_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(huge_records_are_refused_before_memory_is_taken, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
