/*
 * Every device of every platform is opened and probed; then the probe itself is tested, with broken
 * kernels that it must refuse; then the cache, on real programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/cache.h"
#include "device/probe.h"
#include "device/program.h"
#include "base/text.h"

extern char **environ;

struct room {
    char folder[64], kernels[100], cache[100];
    struct ergo_context *ctx;
    struct ergo_device_summary *list;
    size_t count;
    struct ergo_text log;
};

static void keep_log(void *user, enum ergo_log_level level, const char *message) {
    (void)level;
    struct room *room = user;
    ergo_text_append(&room->log, "%s\n", message);
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

/* A cache of its own per test, so that nothing earlier answers for it. */
static int set_up(void **state) {
    struct room *room = calloc(1, sizeof *room);
    *state = room;
    if (!room)
        return -1;
    snprintf(room->folder, sizeof room->folder, "/tmp/ergo probe XXXXXX");
    room->ctx = ergo_context_create();
    if (!room->ctx || !mkdtemp(room->folder))
        return -1;
    snprintf(room->kernels, sizeof room->kernels, "%s/cl", room->folder);
    snprintf(room->cache, sizeof room->cache, "%s/cache", room->folder);
    ergo_context_set_log(room->ctx, ERGO_LOG_INFO, keep_log, room);
    setenv("ERGOCL_CACHE_DIR", room->cache, 1);
    unsetenv("ERGOCL_CL_DIR");
    unsetenv("ERGOCL_DEVICE");
    return ergo_device_list(room->ctx, false, &room->list, &room->count) == ERGO_OK ? 0 : -1;
}

static int tear_down(void **state) {
    struct room *room = *state;
    unsetenv("ERGOCL_CL_DIR");
    remove_tree(room->folder);
    ergo_text_free(&room->log);
    ergo_context_destroy(room->ctx);
    free(room->list);
    free(room);
    return 0;
}

static struct ergo_device *open_device(struct room *room, const char *id) {
    struct ergo_device *device = NULL;
    if (ergo_device_open(room->ctx, id, &device) != ERGO_OK)
        fail_msg("%s", ergo_error_message(room->ctx));
    assert_non_null(device);
    return device;
}

static void write_bytes(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* ---- the devices ----------------------------------------------------------------------------- */

static void test_every_device(void **state) {
    struct room *room = *state;
    struct ergo_device_summary *probed = NULL;
    size_t count = 0;
    assert_int_equal(ergo_device_list(room->ctx, true, &probed, &count), ERGO_OK);
    assert_int_equal(count, room->count);
    if (count == 0)
        print_message("no OpenCL device: nothing was tested\n");
    for (size_t i = 0; i < count; i++) {
        print_message("%s  %s: %s\n", probed[i].id, probed[i].name, probed[i].verdict);
        assert_true(probed[i].usable);
        assert_non_null(strstr(probed[i].verdict, "correctly rounded"));
        struct ergo_device *device = open_device(room, probed[i].id);
        assert_true(device->probed);
        char verdict[512] = "";
        assert_int_equal(ergo_device_probe(room->ctx, device, verdict, sizeof verdict), ERGO_OK);
        assert_non_null(strstr(verdict, "passed"));
        ergo_device_close(device);
    }
    free(probed);
}

static void test_buffers_and_launches(void **state) {
    struct room *room = *state;
    for (size_t i = 0; i < room->count; i++) {
        struct ergo_device *device = open_device(room, room->list[i].id);
        struct ergo_context *ctx = room->ctx;
        cl_mem mem = NULL;
        cl_program program = NULL;
        cl_kernel kernel = NULL;
        cl_event event = NULL;
        size_t largest = 0;
        double seconds = 0.0;
        uint8_t bytes[4099], zeros[4099] = {0};
        uint32_t sums[PROBE_GROUPS];

        memset(bytes, 1, sizeof bytes); /* an odd size, so that the fill's pattern is tested */
        assert_int_equal(ergo_buffer_create(ctx, device, "odd", sizeof bytes, NULL, &mem), ERGO_OK);
        assert_int_equal(ergo_buffer_read(ctx, device, mem, 0, sizeof bytes, bytes), ERGO_OK);
        assert_memory_equal(bytes, zeros, sizeof bytes);
        assert_int_equal(ergo_buffer_write(ctx, device, mem, 4098, 1, "x"), ERGO_OK);
        assert_int_equal(ergo_buffer_read(ctx, device, mem, 4097, 2, bytes), ERGO_OK);
        assert_memory_equal(bytes, "\0x", 2);
        ergo_buffer_release(&mem);
        assert_null(mem);
        ergo_buffer_release(&mem);

        size_t huge = (size_t)room->list[i].largest_buffer + 1;
        assert_int_equal(ergo_buffer_create(ctx, device, "huge", huge, NULL, &mem), ERGO_E_DEVICE);
        assert_null(mem);
        assert_non_null(strstr(ergo_error_message(ctx), "\"huge\""));
        ergo_error_clear(ctx);

        assert_int_equal(ergo_program_build(ctx, device, "common/probe.cl", "", &program), ERGO_OK);
        assert_int_equal(ergo_kernel_create(ctx, device, program, "no_such", &kernel),
                         ERGO_E_DEVICE);
        assert_non_null(strstr(ergo_error_message(ctx), "no_such"));
        ergo_error_clear(ctx);
        assert_int_equal(ergo_kernel_create(ctx, device, program, "probe_barriers", &kernel),
                         ERGO_OK);
        assert_int_equal(ergo_kernel_largest_group(ctx, device, kernel, "probe_barriers", &largest),
                         ERGO_OK);
        assert_true(largest >= 64);
        assert_int_equal(ergo_buffer_create(ctx, device, "sums", sizeof sums, NULL, &mem), ERGO_OK);
        const struct ergo_arg args[] = {ERGO_ARG(mem), ERGO_ARG_LOCAL(64 * sizeof(uint32_t))};
        const size_t global[2] = {128, 1}, uneven[2] = {100, 1}, local[2] = {64, 1};
        assert_int_equal(ergo_kernel_launch(ctx, device, kernel, "probe_barriers", args, 2, 1,
                                            uneven, local, &event),
                         ERGO_E_INTERNAL);
        assert_null(event);
        ergo_error_clear(ctx);
        assert_int_equal(ergo_kernel_launch(ctx, device, kernel, "probe_barriers", args, 2, 1,
                                            global, local, &event),
                         ERGO_OK);
        assert_int_equal(ergo_event_wait(ctx, device, &event, &seconds), ERGO_OK);
        assert_null(event);
        assert_true(seconds != 0.0 && seconds < 100.0);
        if (!device->quirks.no_profiling)
            assert_true(seconds > 0.0);
        assert_int_equal(ergo_device_finish(ctx, device), ERGO_OK);
        assert_int_equal(ergo_buffer_read(ctx, device, mem, 0, sizeof sums, sums), ERGO_OK);
        uint32_t scratch[64];
        assert_int_equal(sums[1], ergo_probe_expect_barriers(1, 64, scratch));
        ergo_buffer_release(&mem);
        clReleaseKernel(kernel);
        clReleaseProgram(program);
        ergo_device_close(device);
    }
}

static void test_selectors(void **state) {
    struct room *room = *state;
    struct ergo_device *device = NULL;
    assert_int_equal(ergo_device_open(room->ctx, "no such device", &device), ERGO_E_DEVICE);
    assert_null(device);
    assert_non_null(strstr(ergo_error_message(room->ctx), "No "));
    ergo_error_clear(room->ctx);
    if (room->count == 0)
        return;
    device = open_device(room, NULL);
    ergo_device_close(device);
    setenv("ERGOCL_DEVICE", room->list[room->count - 1].id, 1);
    device = open_device(room, NULL);
    assert_string_equal(device->summary.id, room->list[room->count - 1].id);
    ergo_device_close(device);
    setenv("ERGOCL_DEVICE", "99:99", 1);
    assert_int_equal(ergo_device_open(room->ctx, NULL, &device), ERGO_E_DEVICE);
    assert_non_null(strstr(ergo_error_message(room->ctx), "ERGOCL_DEVICE"));
    unsetenv("ERGOCL_DEVICE");
}

/* ---- broken kernels -------------------------------------------------------------------------- */

/* The embedded files of common/, with one text of one file replaced. */
static void write_kernels(const struct room *room, const char *path, const char *from,
                          const char *to) {
    char full[400];
    bool replaced = false;
    mkdir(room->kernels, 0777);
    snprintf(full, sizeof full, "%s/common", room->kernels);
    mkdir(full, 0777);
    for (size_t i = 0; i < ergo_embedded_count; i++) {
        const struct ergo_embedded *one = &ergo_embedded_files[i];
        struct ergo_text text = {0};
        if (strncmp(one->path, "common/", 7) != 0)
            continue;
        const char *at = strcmp(one->path, path) == 0 ? strstr(one->text, from) : NULL;
        if (at) {
            ergo_text_append_bytes(&text, one->text, (size_t)(at - one->text));
            ergo_text_append(&text, "%s%s", to, at + strlen(from));
            replaced = true;
        } else {
            ergo_text_append(&text, "%s", one->text);
        }
        snprintf(full, sizeof full, "%s/%s", room->kernels, one->path);
        write_bytes(full, text.data, text.length);
        ergo_text_free(&text);
    }
    if (!replaced)
        fail_msg("\"%s\" is not in %s: mend this test", from, path);
    setenv("ERGOCL_CL_DIR", room->kernels, 1);
}

static void test_broken_kernels(void **state) {
    struct room *room = *state;
    static const struct {
        const char *path, *from, *to, *verdict;
    } faults[] = {
        {"common/probe.cl", "as_uint(fma(a, b, c))", "as_uint(a * b + c)", "check of fma "},
        {"common/probe.cl", "as_uint(a * b + c)", "as_uint(fma(a, b, c))", "without contraction"},
        {"common/probe.cl", "convert_int_rte(a)", "convert_int_rtz(a)", "convert_int_rte"},
        {"common/probe.cl", "mul_hi(u, v)", "(u >> 32) * (v >> 32)", "mul_hi of ulong"},
        {"common/probe.cl", "atomic_sub(&cells[CELL_SUB], word)",
         "atomic_sub(&cells[CELL_SUB], word | 1u)", "atomic_sub"},
        {"common/probe.cl", "atomic_or(&mine[2], bit & word)", "atomic_and(&mine[2], bit & word)",
         "local atomic_or"},
        {"common/probe.cl", "word * 1664525u + item", "word * 1664525u", "barriers"},
        {"common/rng.h", "0x9E3779B9u", "0x9E3779BAu", "Philox"},
        {"common/probe.cl", "__kernel void probe_arithmetic", "__kernel vodi probe_arithmetic",
         "probe.cl"},
        {"common/probe.cl", "#include \"common/rng.h\"", "#include \"common/ring.h\"", "ring.h"},
    };
    for (size_t i = 0; i < room->count; i++) {
        for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
            struct ergo_device *device = NULL;
            write_kernels(room, faults[f].path, faults[f].from, faults[f].to);
            ergo_error_clear(room->ctx);
            assert_int_equal(ergo_device_open(room->ctx, room->list[i].id, &device), ERGO_E_DEVICE);
            assert_null(device);
            if (!strstr(ergo_error_message(room->ctx), faults[f].verdict))
                fail_msg("\"%s\" is not in: %s", faults[f].verdict, ergo_error_message(room->ctx));
        }
        unsetenv("ERGOCL_CL_DIR");
        /* A failure is not remembered against the device. */
        ergo_device_close(open_device(room, room->list[i].id));
    }
    if (room->count == 0)
        return;
    struct ergo_device_summary *list = NULL;
    size_t count = 0;
    write_kernels(room, faults[0].path, faults[0].from, faults[0].to);
    ergo_error_clear(room->ctx);
    assert_int_equal(ergo_device_list(room->ctx, true, &list, &count), ERGO_OK);
    assert_string_equal(ergo_error_message(room->ctx), ""); /* a refused device is no failure */
    for (size_t i = 0; i < count; i++) {
        assert_false(list[i].usable);
        assert_non_null(strstr(list[i].verdict, "refused: "));
        assert_non_null(strstr(list[i].verdict, "fma"));
    }
    free(list);
    struct ergo_device *device = NULL;
    assert_int_equal(ergo_device_open(room->ctx, "auto", &device), ERGO_E_DEVICE);
}

/* Division is a capability, not a condition. */
static void test_inexact_division(void **state) {
    struct room *room = *state;
    write_kernels(room, "common/probe.cl", "as_uint(a / b)", "as_uint(a * (1.0f / b))");
    for (size_t i = 0; i < room->count; i++) {
        struct ergo_device *device = open_device(room, room->list[i].id);
        assert_false(device->exact_division);
        assert_non_null(strstr(device->summary.verdict, "not correctly rounded"));
        ergo_device_close(device);
        device = open_device(room, room->list[i].id); /* now remembered */
        assert_false(device->exact_division);
        ergo_device_close(device);
    }
}

/* Whether kernels get the device's fma() or ours is measured, remembered, and part of each build.
 */
static void test_slow_fma(void **state) {
    struct room *room = *state;
    static const struct {
        const char *instead;
        bool software;
    } chains[] = {
        {"x * a + b", false},
        {"no_such_fma(x, a, b)", true},
        {"fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(x, a, b), a, b), a, b), "
         "a, "
         "b), a, b), a, b), a, b), a, b), a, b), a, b), a, b), a, b), a, b), a, b), a, b), a, b)",
         true},
    };
    for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++) {
        write_kernels(room, "common/probe_fma.cl", "fma(x, a, b)", chains[c].instead);
        for (size_t i = 0; i < room->count * 2; i++) { /* the second time it is remembered */
            struct ergo_device *device = open_device(room, room->list[i / 2].id);
            struct ergo_text options = {0};
            assert_true(device->software_fma == chains[c].software);
            ergo_program_options(device, "-DMORE", &options);
            assert_true(!strstr(options.data, " -DERGO_SOFTWARE_FMA -DMORE") ==
                        !chains[c].software);
            ergo_text_free(&options);
            ergo_device_close(device);
        }
    }
}

/* ---- the cache on real programs -------------------------------------------------------------- */

/* Path of the first file of a kind; false if there is none. */
static bool find_cached(const struct room *room, const char *kind, char path[600]) {
    DIR *dir = opendir(room->cache);
    bool found = false;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && !found; entry = readdir(dir)) {
        const char *dot = strrchr(entry->d_name, '.');
        found = dot && strcmp(dot + 1, kind) == 0;
        if (found)
            snprintf(path, 600, "%s/%s", room->cache, entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

static void build_again(struct room *room, struct ergo_device *device, bool defect) {
    cl_program program = NULL;
    ergo_text_free(&room->log);
    if (ergo_program_build(room->ctx, device, "common/probe.cl", "-DERGO_TEST", &program) !=
        ERGO_OK)
        fail_msg("%s", ergo_error_message(room->ctx));
    clReleaseProgram(program);
    bool rebuilt = room->log.data && strstr(room->log.data, "building it again");
    if (rebuilt != defect)
        fail_msg("expected %s: %s", defect ? "a rebuild" : "no rebuild",
                 room->log.data ? room->log.data : "(nothing logged)");
}

static void test_damaged_cache(void **state) {
    struct room *room = *state;
    for (size_t i = 0; i < room->count; i++) {
        char path[600];
        struct ergo_device *device = open_device(room, room->list[i].id);
        remove_tree(room->cache);
        build_again(room, device, false);
        if (!ergo_program_kept(device)) {
            assert_false(find_cached(room, "program", path));
            ergo_device_close(device);
            continue;
        }
        assert_true(find_cached(room, "program", path));
        build_again(room, device, false);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        static uint8_t bytes[1 << 22];
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_true(size > 100 && size < sizeof bytes);
        const size_t places[] = {0, 7, 20, 50, 60, 72, size / 2, size - 1};
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            bytes[places[p]] ^= 4;
            write_bytes(path, bytes, size);
            bytes[places[p]] ^= 4;
            build_again(room, device, true);
            build_again(room, device, false); /* mended */
            write_bytes(path, bytes, places[p]);
            build_again(room, device, true);
        }
        /* A whole record whose binary the driver's loader refuses. Its key stands in the file. */
        assert_true(ergo_cache_write(room->ctx, room->cache, "program", bytes + 8, "this",
                                     "k\0not a binary", 15));
        build_again(room, device, true);
        build_again(room, device, false);
        ergo_device_close(device);
    }
}

static void test_damaged_memory(void **state) {
    struct room *room = *state;
    for (size_t i = 0; i < room->count; i++) {
        char path[600];
        remove_tree(room->cache);
        ergo_device_close(open_device(room, room->list[i].id));
        assert_true(find_cached(room, "probe", path));
        write_bytes(path, "passed exact_division=1 atomics64=1\n", 36);
        ergo_text_free(&room->log);
        ergo_device_close(open_device(room, room->list[i].id));
        assert_true(room->log.data && strstr(room->log.data, "probing again"));
    }
}

static void test_no_cache(void **state) {
    struct room *room = *state;
    setenv("ERGOCL_CACHE_DIR", "", 1);
    for (size_t i = 0; i < room->count; i++)
        ergo_device_close(open_device(room, room->list[i].id));
    char path[600];
    assert_false(find_cached(room, "probe", path));
    assert_false(find_cached(room, "program", path));
}

/* What the processes of test_concurrent_starts do. */
static int run_child(void) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device_summary *list = NULL;
    size_t count = 0;
    int failed = !ctx || ergo_device_list(ctx, true, &list, &count) != ERGO_OK;
    for (size_t i = 0; i < count; i++)
        failed |= !list[i].usable;
    free(list);
    ergo_context_destroy(ctx);
    return failed;
}

static void test_concurrent_starts(void **state) {
    struct room *room = *state;
    enum { CHILDREN = 4 };
    pid_t child[CHILDREN];
    char self[] = "/proc/self/exe", mode[] = "--child";
    char *const argv[] = {self, mode, NULL};
    for (int i = 0; i < CHILDREN; i++)
        assert_int_equal(posix_spawn(&child[i], self, NULL, NULL, argv, environ), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    /* What they left is whole. */
    for (size_t i = 0; i < room->count; i++)
        ergo_device_close(open_device(room, room->list[i].id));
    assert_true(!room->log.data || !strstr(room->log.data, "again"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEST(test_every_device),      TEST(test_buffers_and_launches),
        TEST(test_selectors),         TEST(test_broken_kernels),
        TEST(test_slow_fma),          TEST(test_damaged_cache),
        TEST(test_inexact_division),  TEST(test_damaged_cache),
        TEST(test_damaged_memory),    TEST(test_no_cache),
        TEST(test_concurrent_starts),
    };
    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return run_child();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
