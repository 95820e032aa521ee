/* Flattening and the cache's records: no device is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/cache.h"
#include "device/program.h"

/* A folder of its own per test, with a space in its name: those break people's paths. */
struct room {
    char folder[64];
    struct ergo_context *ctx;
};

static void stay_silent(void *user, enum ergo_log_level level, const char *message) {
    (void)user;
    (void)level;
    (void)message;
}

static int set_up(void **state) {
    struct room *room = calloc(1, sizeof *room);
    if (!room)
        return -1;
    snprintf(room->folder, sizeof room->folder, "/tmp/ergo test XXXXXX");
    room->ctx = ergo_context_create();
    *state = room;
    if (!room->ctx || !mkdtemp(room->folder))
        return -1;
    ergo_context_set_log(room->ctx, ERGO_LOG_DEBUG, stay_silent, NULL);
    return setenv("ERGOCL_CL_DIR", room->folder, 1);
}

static void remove_tree(const char *path) {
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        char below[600];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        remove_tree(below);
    }
    if (dir)
        closedir(dir);
    remove(path);
}

static int tear_down(void **state) {
    struct room *room = *state;
    unsetenv("ERGOCL_CL_DIR");
    remove_tree(room->folder);
    ergo_context_destroy(room->ctx);
    free(room);
    return 0;
}

static void write_bytes(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* One level of folders is enough. */
static void put(const struct room *room, const char *path, const char *text) {
    char full[300];
    snprintf(full, sizeof full, "%s/%s", room->folder, path);
    char *slash = strrchr(full, '/');
    *slash = '\0';
    mkdir(full, 0777);
    *slash = '/';
    write_bytes(full, text, strlen(text));
}

static char *flatten(struct room *room, const char *path) {
    char *text = NULL;
    if (ergo_program_flatten(room->ctx, path, &text) != ERGO_OK)
        fail_msg("%s", ergo_error_message(room->ctx));
    return text;
}

static void refuse(struct room *room, const char *path, const char *const *words) {
    char *text = NULL;
    ergo_error_clear(room->ctx);
    assert_int_equal(ergo_program_flatten(room->ctx, path, &text), ERGO_E_IO);
    assert_null(text);
    for (; *words; words++)
        if (!strstr(ergo_error_message(room->ctx), *words))
            fail_msg("\"%s\" is not in: %s", *words, ergo_error_message(room->ctx));
}

static size_t count_words(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

/* ---- flattening ------------------------------------------------------------------------------ */

static void test_nesting_and_once(void **state) {
    struct room *room = *state;
    put(room, "common/a.h", "#include \"common/b.h\"\nint a;\n");
    put(room, "common/b.h", "int b;");
    put(room, "s/k.h", "  #  include \"../common/./b.h\"\nint k;\n");
    put(room, "s/main.cl",
        "#include \"common/a.h\"\n#include \"k.h\" /* ours */\n"
        "#include \"common/a.h\"\nint end;\n");
    char *text = flatten(room, "s/main.cl");
    assert_string_equal(text, "/* file: s/main.cl */\n"
                              "/* file: common/a.h */\n"
                              "/* file: common/b.h */\n"
                              "int b;\n"
                              "/* file: common/a.h, line 2 */\n"
                              "int a;\n"
                              "/* file: s/main.cl, line 2 */\n"
                              "/* file: s/k.h */\n"
                              "/* common/b.h: above */\n"
                              "int k;\n"
                              "/* file: s/main.cl, line 3 */\n"
                              "/* common/a.h: above */\n"
                              "int end;\n");
    free(text);
}

static void test_beside_before_root(void **state) {
    struct room *room = *state;
    put(room, "core.h", "int root;\n");
    put(room, "s/core.h", "int beside;\n");
    put(room, "s/main.cl", "#include \"core.h\"\n");
    put(room, "t/main.cl", "#include \"core.h\"\n");
    char *beside = flatten(room, "s/main.cl"), *root = flatten(room, "t/main.cl");
    assert_non_null(strstr(beside, "int beside;"));
    assert_non_null(strstr(root, "int root;"));
    free(beside);
    free(root);
}

static void test_cycle(void **state) {
    struct room *room = *state;
    put(room, "a.h", "#include \"b.h\"\nint a;\n");
    put(room, "b.h", "#include \"a.h\"\nint b;\n");
    char *text = flatten(room, "a.h");
    assert_int_equal(count_words(text, "int a;"), 1);
    assert_int_equal(count_words(text, "int b;"), 1);
    free(text);
}

/* Shared headers: what only the host compiles is not looked for. */
static void test_host_only_regions(void **state) {
    struct room *room = *state;
    put(room, "a.h",
        "#include <stdint.h>\n"
        "#ifndef __OPENCL_VERSION__\n#include \"host1.h\"\n#if 1\n#else\n"
        "#include \"host2.h\"\n#endif\n#else\n#include \"device.h\"\n#endif\n"
        "#ifdef __OPENCL_C_VERSION__\n#include \"device.h\"\n#else\n"
        "#include \"host3.h\"\n#endif\n"
        "#if !defined(__OPENCL_VERSION__)\n#include \"host4.h\"\n#endif\n"
        "/* \n#include \"comment1.h\"\n*/ // #include \"x\n"
        "// #include \"comment2.h\"\nchar c[] = \"/*\";\n#include \"last.h\"\n");
    put(room, "device.h", "int device;\n");
    put(room, "last.h", "int last;\n");
    char *text = flatten(room, "a.h");
    assert_int_equal(count_words(text, "int device;"), 1);
    assert_int_equal(count_words(text, "int last;"), 1);
    assert_int_equal(count_words(text, "#include \"host"), 4); /* left for the preprocessor */
    assert_int_equal(count_words(text, "#include <stdint.h>"), 1);
    free(text);
}

static void test_missing_include(void **state) {
    struct room *room = *state;
    put(room, "s/main.cl", "\n#include \"one.h\"\n");
    put(room, "s/one.h", "\n\n#include \"nowhere.h\"\n");
    refuse(room, "s/main.cl",
           (const char *const[]){"nowhere.h", "line 3 of s/one.h", "line 2 of s/main.cl",
                                 room->folder, NULL});
    refuse(room, "nothing.cl", (const char *const[]){"nothing.cl", NULL});
    put(room, "up.cl", "#include \"../up.cl\"\n");
    refuse(room, "up.cl", (const char *const[]){"../up.cl", NULL});
    put(room, "abs.cl", "#include \"/etc/hostname\"\n");
    refuse(room, "abs.cl", (const char *const[]){"/etc/hostname", NULL});
    put(room, "open.cl", "#include \"open\n");
    refuse(room, "open.cl", (const char *const[]){"closing quote", NULL});
}

static void test_too_deep(void **state) {
    struct room *room = *state;
    for (int i = 0; i < 40; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "deep%d.h", i);
        snprintf(text, sizeof text, "#include \"deep%d.h\"\n", i + 1);
        put(room, name, text);
    }
    refuse(room, "deep0.h", (const char *const[]){"deeply", NULL});
}

static void test_embedded(void **state) {
    struct room *room = *state;
    unsetenv("ERGOCL_CL_DIR");
    char *text = flatten(room, "common/probe.cl");
    assert_non_null(strstr(text, "__kernel void probe_arithmetic"));
    assert_int_equal(count_words(text, "/* file: common/compat.h */"), 1);
    assert_null(strstr(text, "#include \""));
    free(text);
    refuse(room, "common/nothing.cl", (const char *const[]){"embedded", NULL});
    for (size_t i = 0; i < ergo_embedded_count; i++)
        assert_int_equal(strlen(ergo_embedded_files[i].text), ergo_embedded_files[i].length);
}

/* ---- the cache folder ------------------------------------------------------------------------ */

static void test_folder(void **state) {
    struct room *room = *state;
    char path[300], expected[400];
    snprintf(path, sizeof path, "%s/a/b", room->folder);
    setenv("ERGOCL_CACHE_DIR", path, 1);
    char *folder = ergo_cache_folder(room->ctx);
    assert_non_null(folder);
    assert_string_equal(folder, path);
    assert_int_equal(access(folder, W_OK), 0);
    free(folder);

    setenv("ERGOCL_CACHE_DIR", "", 1);
    assert_null(ergo_cache_folder(room->ctx));

    unsetenv("ERGOCL_CACHE_DIR");
    setenv("XDG_CACHE_HOME", path, 1);
    snprintf(expected, sizeof expected, "%s/ergocl", path);
    folder = ergo_cache_folder(room->ctx);
    assert_non_null(folder);
    assert_string_equal(folder, expected);
    free(folder);

    /* Below a file nothing can be made, not even by root; relative XDG folders do not count. */
    put(room, "file", "");
    snprintf(path, sizeof path, "%s/file/x", room->folder);
    setenv("ERGOCL_CACHE_DIR", path, 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", path, 1);
    assert_null(ergo_cache_folder(room->ctx));
    unsetenv("HOME");
    unsetenv("ERGOCL_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    assert_null(ergo_cache_folder(room->ctx));
    assert_int_equal(access("relative", F_OK), -1);
}

/* ---- records --------------------------------------------------------------------------------- */

static const uint8_t key[32] = {1, 2, 3, 4, [31] = 255};
static const char payload[] = "kernel_a;kernel_b\0\x7f"
                              "ELF";

static enum ergo_cache_state load(const struct room *room, const uint8_t wanted[32]) {
    uint8_t *data = NULL;
    size_t length = 0;
    const char *reason = NULL;
    enum ergo_cache_state state =
        ergo_cache_read(room->folder, "test", wanted, &data, &length, &reason);
    if (state == ERGO_CACHE_HIT) {
        assert_int_equal(length, sizeof payload);
        assert_memory_equal(data, payload, length);
    } else {
        assert_null(data);
        assert_true(reason && *reason);
    }
    free(data);
    return state;
}

static uint8_t *store(const struct room *room, char **path, size_t *size) {
    const char *reason = NULL;
    assert_true(ergo_cache_write(room->folder, "test", key, payload, sizeof payload, &reason));
    *path = ergo_cache_path(room->folder, "test", key);
    FILE *file = fopen(*path, "rb");
    assert_non_null(file);
    uint8_t *bytes = calloc(1000, 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1000, file);
    fclose(file);
    assert_true(*size > sizeof payload && *size < 1000);
    return bytes;
}

static void test_round_trip(void **state) {
    struct room *room = *state;
    char *path = NULL;
    size_t size = 0, files = 0;
    assert_int_equal(load(room, key), ERGO_CACHE_MISS);
    free(store(room, &path, &size));
    free(path);
    assert_int_equal(load(room, key), ERGO_CACHE_HIT);
    free(store(room, &path, &size)); /* replaces */
    free(path);
    assert_int_equal(load(room, key), ERGO_CACHE_HIT);
    DIR *dir = opendir(room->folder); /* and leaves nothing beside it */
    assert_non_null(dir);
    while (readdir(dir))
        files++;
    closedir(dir);
    assert_int_equal(files, 3);
}

static void test_wrong_key(void **state) {
    struct room *room = *state;
    char *path = NULL;
    size_t size = 0;
    uint8_t other[32];
    memcpy(other, key, sizeof other);
    other[31] ^= 1; /* not part of the file's name */
    free(store(room, &path, &size));
    assert_int_equal(load(room, other), ERGO_CACHE_DEFECT);
    free(path);
}

static void test_bit_flips(void **state) {
    struct room *room = *state;
    char *path = NULL;
    size_t size = 0;
    uint8_t *bytes = store(room, &path, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        write_bytes(path, bytes, size);
        assert_int_equal(load(room, key), ERGO_CACHE_DEFECT);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    write_bytes(path, bytes, size);
    assert_int_equal(load(room, key), ERGO_CACHE_HIT);
    free(bytes);
    free(path);
}

static void test_truncation(void **state) {
    struct room *room = *state;
    char *path = NULL;
    size_t size = 0;
    uint8_t *bytes = store(room, &path, &size);
    for (size_t length = 0; length < size; length++) {
        write_bytes(path, bytes, length);
        assert_int_equal(load(room, key), ERGO_CACHE_DEFECT);
    }
    write_bytes(path, bytes, size + 1); /* and too long */
    assert_int_equal(load(room, key), ERGO_CACHE_DEFECT);
    free(bytes);
    free(path);
}

static void test_unwritable(void **state) {
    struct room *room = *state;
    const char *reason = NULL;
    char missing[200];
    snprintf(missing, sizeof missing, "%s/missing", room->folder);
    assert_false(ergo_cache_write(missing, "test", key, payload, sizeof payload, &reason));
    assert_true(reason && *reason);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nesting_and_once),
        TEST(test_beside_before_root),
        TEST(test_cycle),
        TEST(test_host_only_regions),
        TEST(test_missing_include),
        TEST(test_too_deep),
        TEST(test_embedded),
        TEST(test_folder),
        TEST(test_round_trip),
        TEST(test_wrong_key),
        TEST(test_bit_flips),
        TEST(test_truncation),
        TEST(test_unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
