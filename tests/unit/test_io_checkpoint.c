/* Checkpoints: what was put in comes out, and no damaged file is read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"

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
    assert_true(ergo_blobs_add(blobs, "batch0/state/000000", state, sizeof state));
    assert_true(ergo_blobs_add(blobs, "batch0/state/000001", NULL, 0));
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
    snprintf(f->path, sizeof f->path, "%s/checkpoint.h5", f->folder);
    snprintf(f->damaged, sizeof f->damaged, "%s/damaged.h5", f->folder);
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
    assert_int_equal(ergo_checkpoint_read(f->ctx, NULL, f->damaged, &blobs), ERGO_E_IO);
    assert_int_equal(blobs.count, 0);
    assert_null(blobs.blobs);
    assert_non_null(strstr(ergo_error_message(f->ctx), f->damaged));
}

static void blobs_come_back(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs, expected;
    fill(&expected);
    assert_int_equal(ergo_checkpoint_read(f->ctx, NULL, f->path, &blobs), ERGO_OK);
    assert_int_equal(blobs.count, expected.count);
    for (size_t i = 0; i < expected.count; i++) {
        const struct ergo_blob *blob = ergo_blobs_find(&blobs, expected.blobs[i].name);
        assert_non_null(blob);
        assert_int_equal(blob->length, expected.blobs[i].length);
        assert_memory_equal(blob->data, expected.blobs[i].data, blob->length + 1);
    }
    assert_null(ergo_blobs_find(&blobs, "batch0"));
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

static void every_flipped_bit_is_refused(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < f->length; i++) {
        /* every bit of the header, one of each byte after it */
        for (int bit = 0; bit < 8; bit += i < 512 ? 1 : 8) {
            char mask = (char)(1 << (i < 512 ? bit : (int)(i % 8)));
            f->bytes[i] = (char)(f->bytes[i] ^ mask);
            put(f->damaged, f->bytes, f->length);
            expect_refused(f);
            f->bytes[i] = (char)(f->bytes[i] ^ mask);
        }
    }
}

static void other_versions_are_named(void **state) {
    struct fixture *f = *state;
    char *version = strstr(f->bytes, "version 1");
    assert_non_null(version);
    version[8] = '2';
    put(f->damaged, f->bytes, f->length);
    expect_refused(f);
    assert_non_null(strstr(ergo_error_message(f->ctx), "version 2"));
}

static void names_are_checked(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs = {0, 0, NULL};
    char name[80];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_false(ergo_blobs_add(&blobs, name, "", 0));
    assert_true(ergo_blobs_add(&blobs, "twice", "a", 1));
    assert_true(ergo_blobs_add(&blobs, "twice", "b", 1));
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->damaged, &blobs), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "twice"));
    assert_int_equal(access(f->damaged, F_OK), -1);
    ergo_blobs_free(&blobs);
}

static void large_blobs_come_back(void **state) {
    struct fixture *f = *state;
    struct ergo_blobs blobs = {0, 0, NULL}, again;
    size_t length = (size_t)64 << 20;
    uint8_t *data = malloc(length);
    assert_non_null(data);
    for (size_t i = 0; i < length; i++)
        data[i] = (uint8_t)(i * 2654435761U >> 13);
    assert_true(ergo_blobs_add(&blobs, "state/large", data, length));
    assert_int_equal(ergo_checkpoint_write(f->ctx, NULL, f->path, &blobs), ERGO_OK);
    assert_int_equal(ergo_checkpoint_read(f->ctx, NULL, f->path, &again), ERGO_OK);
    assert_int_equal(again.count, 1);
    assert_int_equal(again.blobs[0].length, length);
    assert_int_equal(memcmp(again.blobs[0].data, data, length), 0);
    ergo_blobs_free(&again);
    ergo_blobs_free(&blobs);
    free(data);
}

static void h5py_opens_it(void **state) {
    struct fixture *f = *state;
    char command[512];
    if (system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0)
        skip();
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c \"import h5py; f = h5py.File('%s', 'r'); "
             "assert f['job'][:].tobytes() == b'{\\\"seed\\\":\\\"1\\\"}', f['job'][:]; "
             "assert list(f['batch0/state/000000'][:]) == [0, 1, 2, 255, 0, 7]; "
             "assert f['batch0/state/000001'].shape == (0,)\"",
             f->path);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blobs_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_state_is_the_same_file, setup, teardown),
        cmocka_unit_test_setup_teardown(every_truncation_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(every_flipped_bit_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(other_versions_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(large_blobs_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(h5py_opens_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
