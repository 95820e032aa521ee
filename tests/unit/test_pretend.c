/* ERGOCL_PRETEND: what a mask says, and what a device claims under it. No device is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/pretend.h"

static struct ergo_context *ctx;

static struct ergo_pretend good(const char *text) {
    struct ergo_pretend mask;
    if (ergo_pretend_parse(ctx, text, &mask) != ERGO_OK)
        fail_msg("%s: %s", text, ergo_error_message(ctx));
    return mask;
}

static void test_words(void **state) {
    (void)state;
    struct ergo_pretend m = good("gpu,vendor=amd,group=256,local=65536,units=304,wave=64,"
                                 "alloc=1048576,extensions=cl_khr_fp64+cl_khr_fp16");
    assert_true(m.type == CL_DEVICE_TYPE_GPU);
    assert_string_equal(m.vendor, "Advanced Micro Devices, Inc.");
    assert_int_equal(m.group, 256);
    assert_int_equal(m.local, 65536);
    assert_int_equal(m.units, 304);
    assert_int_equal(m.wave, 64);
    assert_int_equal(m.alloc, 1048576);
    assert_string_equal(m.extensions, "cl_khr_fp64 cl_khr_fp16");
    m = good("wave=8");
    assert_true(m.type == 0 && !m.vendor && !m.group && !m.units && !m.has_extensions);
    m = good("cpu,extensions=");
    assert_true(m.type == CL_DEVICE_TYPE_CPU && m.has_extensions);
    assert_string_equal(m.extensions, "");
}

/* The last word counts, so that a preset can be changed. */
static void test_presets(void **state) {
    (void)state;
    struct ergo_text names = {0};
    unsigned n = 0;
    ergo_pretend_presets(&names);
    for (char *rest = names.data, *name = strsep(&rest, " "); name;
         name = strsep(&rest, " "), n++) {
        const struct ergo_pretend m = good(name);
        assert_true(m.type == CL_DEVICE_TYPE_GPU && m.has_extensions);
        assert_true(m.group >= 64 && m.local >= 32768 && m.units && m.wave);
    }
    assert_int_equal(n, 8);
    ergo_text_free(&names);
    const struct ergo_pretend m = good("mi300x,group=64,vendor=intel,extensions=cl_khr_fp64");
    assert_int_equal(m.group, 64);
    assert_int_equal(m.units, 304);
    assert_string_equal(m.vendor, "Intel(R) Corporation");
    assert_string_equal(m.extensions, "cl_khr_fp64");
}

static void test_wrong(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"mi301x", "mi301x"},
        {"gpu,mi300x", "mi300x"}, /* a preset would undo what stands before it */
        {"GPU", "GPU"},
        {"gpu,", ""},
        {",gpu", ""},
        {"gpu group=64", "gpu group=64"},
        {"group", "group"},
        {"group=", "group="},
        {"group=0", "group=0"},
        {"group=-1", "group=-1"},
        {"group=64k", "group=64k"},
        {"group=99999999999999999999999", "group=99999999999999999999999"},
        {"units=18446744073709551617", "units=18446744073709551617"},
        {"wave=48", "wave=48"},
        {"wave=2048", "wave=2048"},
        {"quirks=", "quirks="},
        {"vendor=", "vendor="},
        {"arc,vendor=nobody", "vendor=nobody"},
        {"=64", "=64"},
        {"extensions=cl_khr_fp64;rm", "extensions=cl_khr_fp64;rm"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ergo_pretend m;
        char shown[80];
        assert_int_equal(ergo_pretend_parse(ctx, wrong[i][0], &m), ERGO_E_JOB);
        snprintf(shown, sizeof shown, "ERGOCL_PRETEND: \"%s\" is none", wrong[i][1]);
        if (!strstr(ergo_error_message(ctx), shown))
            fail_msg("%s: %s", wrong[i][0], ergo_error_message(ctx));
        assert_non_null(strstr(ergo_error_message(ctx), "mi300x"));
        assert_non_null(strstr(ergo_error_message(ctx), "wave="));
        ergo_error_clear(ctx);
    }
    char longer[2000] = "extensions=";
    memset(longer + 11, 'x', sizeof longer - 12);
    struct ergo_pretend m;
    assert_int_equal(ergo_pretend_parse(ctx, longer, &m), ERGO_E_JOB);
    ergo_error_clear(ctx);
}

static struct ergo_candidate pocl(void) {
    struct ergo_candidate one = {.type = CL_DEVICE_TYPE_CPU, .wave = 32};
    struct ergo_device_summary *s = &one.summary;
    snprintf(s->name, sizeof s->name, "pthread-EPYC");
    snprintf(s->type, sizeof s->type, "cpu");
    snprintf(one.vendor, sizeof one.vendor, "AuthenticAMD");
    s->compute_units = 2;
    s->largest_group = 4096;
    s->local_memory = 100000;
    s->largest_buffer = UINT64_C(1) << 31;
    s->fp64 = s->atomics64 = true;
    return one;
}

static void test_apply(void **state) {
    (void)state;
    struct ergo_candidate one = pocl();
    struct ergo_pretend m = good("mi300x");
    ergo_pretend_apply(&m, "mi300x", &one);
    assert_true(one.masked && one.type == CL_DEVICE_TYPE_GPU);
    assert_string_equal(one.summary.type, "gpu");
    assert_string_equal(one.summary.name, "pretended mi300x on pthread-EPYC");
    assert_string_equal(one.vendor, "Advanced Micro Devices, Inc.");
    assert_int_equal(one.summary.compute_units, 304);
    assert_int_equal(one.summary.largest_group, 256);
    assert_int_equal(one.summary.local_memory, 65536);
    assert_int_equal(one.wave, 64);
    assert_true(one.summary.fp64 && one.summary.atomics64);

    /* what the device cannot do, no mask gives it */
    one = pocl();
    one.summary.fp64 = false;
    m = good("pvc,group=8192,alloc=4294967296");
    ergo_pretend_apply(&m, "pvc,group=8192,alloc=4294967296", &one);
    assert_int_equal(one.summary.largest_group, 4096);
    assert_int_equal(one.summary.local_memory, 100000);
    assert_true(one.summary.largest_buffer == UINT64_C(1) << 31);
    assert_true(!one.summary.fp64 && one.summary.atomics64);

    one = pocl();
    m = good("apple");
    ergo_pretend_apply(&m, "apple", &one);
    assert_true(!one.summary.fp64 && !one.summary.atomics64);

    /* quirks are those of the device unless the mask names others */
    one = pocl();
    one.quirks = (struct ergo_quirks){.finish_forgets = true, .build_options = "-DOWN"};
    m = good("mi300x");
    ergo_pretend_apply(&m, "mi300x", &one);
    assert_string_equal(one.quirks.build_options, "-DOWN");
    m = good("mi300x,quirks=none");
    ergo_pretend_apply(&m, "mi300x,quirks=none", &one);
    assert_string_equal(one.quirks.build_options, "");
    assert_false(one.quirks.finish_forgets);
    m = good("gpu,quirks=Oclgrind");
    ergo_pretend_apply(&m, "gpu,quirks=Oclgrind", &one);
    assert_true(one.quirks.no_fill);
    m = good("pvc,quirks=Intel(R) OpenCL Graphics/Intel(R) Data Center GPU Max 1550");
    ergo_pretend_apply(&m, "pvc,quirks=...", &one);
    assert_string_equal(one.quirks.build_options, "-cl-intel-enable-auto-large-GRF-mode");

    /* both masks begin alike, and are remembered apart */
    static const char *const alike[] = {"gpu,extensions=cl_khr_fp64+cl_khr_int64_base_atomics",
                                        "gpu,extensions=cl_khr_fp64+cl_khr_int64_base_atomicz"};
    struct ergo_candidate two[2];
    for (int i = 0; i < 2; i++) {
        two[i] = pocl();
        m = good(alike[i]);
        ergo_pretend_apply(&m, alike[i], &two[i]);
    }
    assert_string_not_equal(two[0].summary.name, two[1].summary.name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_apply),
    };
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
