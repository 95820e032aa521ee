/* Flattening, and records of the cache; no device is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/cache.h"
#include "device/program.h"

/* A folder of its own per test, with a space in its name: those break people's paths. */
struct room {
    char folder[64];
    struct ergo_context *ctx;
    char log[400]; /* the last message */
};

static void keep_log(void *user, enum ergo_log_level level, const char *message) {
    struct room *room = user;
    (void)level;
    snprintf(room->log, sizeof room->log, "%s", message);
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
    ergo_context_set_log(room->ctx, ERGO_LOG_DEBUG, keep_log, room);
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
    put(room, "s/k.h", "\n#include \"common/b.h\"\nint k;\n");
    put(room, "s/main.cl",
        "#include \"common/a.h\"\n#include \"s/k.h\" /* ours */\n"
        "#include \"common/a.h\"\nint end;\n");
    char *text = flatten(room, "s/main.cl");
    assert_string_equal(text, "#line 1 \"s/main.cl\"\n"
                              "#line 1 \"common/a.h\"\n"
                              "#line 1 \"common/b.h\"\n"
                              "int b;\n"
                              "#line 2 \"common/a.h\"\n"
                              "int a;\n"
                              "#line 2 \"s/main.cl\"\n"
                              "#line 1 \"s/k.h\"\n"
                              "\n"
                              "#line 3 \"s/k.h\"\n"
                              "int k;\n"
                              "#line 3 \"s/main.cl\"\n"
                              "#line 4 \"s/main.cl\"\n"
                              "int end;\n");
    free(text);
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

/* What is no include of ours is the compiler's. */
static void test_left_alone(void **state) {
    struct room *room = *state;
    static const char text[] = "#include <stdint.h>\n // #include \"comment.h\"\n"
                               "#include \"open\nint a;\n#included \"b.h\"\n";
    put(room, "a.h", text);
    char *flat = flatten(room, "a.h");
    assert_string_equal(flat + strlen("#line 1 \"a.h\"\n"), text);
    free(flat);
}

static void test_missing_include(void **state) {
    struct room *room = *state;
    put(room, "s/main.cl", "\n#include \"s/one.h\"\n");
    put(room, "s/one.h", "\n\n#include \"nowhere.h\"\n");
    refuse(room, "s/main.cl",
           (const char *const[]){"nowhere.h", "line 3 of s/one.h", "line 2 of s/main.cl",
                                 room->folder, NULL});
    refuse(room, "nothing.cl", (const char *const[]){"nothing.cl", NULL});
    put(room, "zero.cl", "int a;\n");
    char path[300];
    snprintf(path, sizeof path, "%s/zero.cl", room->folder);
    write_bytes(path, "int\0a;", 6);
    refuse(room, "zero.cl", (const char *const[]){"zero.cl", "not text", NULL});
}

static void test_embedded(void **state) {
    struct room *room = *state;
    unsetenv("ERGOCL_CL_DIR");
    char *text = flatten(room, "common/probe.cl");
    assert_non_null(strstr(text, "__kernel void probe_arithmetic"));
    assert_int_equal(count_words(text, "#line 1 \"common/compat.h\"\n"), 1);
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
    char *data = NULL;
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
    char name[ERGO_CACHE_NAME];
    struct ergo_text text = {0};
    assert_true(
        ergo_cache_write(room->ctx, room->folder, "test", key, "this", payload, sizeof payload));
    ergo_cache_name("test", key, name);
    ergo_text_append(&text, "%s/%s", room->folder, name);
    *path = ergo_text_take(&text);
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

/* Who wants a record that another process makes waits until that is done, and no longer. */
static void test_claim(void **state) {
    struct room *room = *state;
    int claim = 0, ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)ergo_cache_claim(room->folder, key, &claim);
        const bool told = claim && write(ready[1], "", 1) == 1;
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        _exit(!told);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    uint8_t other[32] = {2};
    assert_false(ergo_cache_claim(room->folder, other, &claim));
    assert_true(claim);
    ergo_cache_unclaim(&claim);
    assert_true(ergo_cache_claim(room->folder, key, &claim));
    ergo_cache_unclaim(&claim);
    assert_false(ergo_cache_claim(room->folder, key, &claim));
    ergo_cache_unclaim(&claim);
    assert_int_equal(claim, 0);
    /* no lock, no wait */
    assert_false(ergo_cache_claim("/proc/1/nowhere", key, &claim));
    assert_int_equal(claim, 0);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
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
    char missing[200];
    snprintf(missing, sizeof missing, "%s/missing", room->folder);
    room->log[0] = '\0';
    assert_false(
        ergo_cache_write(room->ctx, missing, "test", key, "this", payload, sizeof payload));
    assert_non_null(strstr(room->log, "this is not cached: "));
    assert_non_null(strstr(room->log, missing));
    assert_string_equal(ergo_error_message(room->ctx), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nesting_and_once), TEST(test_cycle),      TEST(test_left_alone),
        TEST(test_missing_include),  TEST(test_embedded),   TEST(test_folder),
        TEST(test_round_trip),       TEST(test_claim),      TEST(test_wrong_key),
        TEST(test_bit_flips),        TEST(test_truncation), TEST(test_unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
