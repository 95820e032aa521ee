/* Which device a selector means: a pure function, so no device is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/bus.h"
#include "device/quirks.h"

struct fixture {
    const char *id, *name, *platform, *type, *pci;
    unsigned units, clock;
    bool usable;
};

/* A workstation: two equal GPUs and a bigger one, PoCL, a refused second CPU platform. */
static const struct fixture bench[] = {
    {"0:0", "NVIDIA A100", "NVIDIA CUDA", "gpu", "0000:01:00.0", 108, 1410, true},
    {"0:1", "NVIDIA A100 80GB", "NVIDIA CUDA", "gpu", "0000:41:00.0", 108, 1410, true},
    {"0:2", "NVIDIA H200", "NVIDIA CUDA", "gpu", "0001:01:00.0", 132, 1980, true},
    {"2:0", "pthread-Intel(R) Xeon(R)", "Portable Computing Language", "cpu", "", 32, 3000, true},
    {"3:0", "llvmpipe (LLVM 15.0.6)", "rusticl", "cpu", "", 8, 1555, false},
};
enum { BENCH = sizeof bench / sizeof bench[0] };

static void make_list(const struct fixture *from, size_t count, struct ergo_candidate *list) {
    memset(list, 0, count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        snprintf(list[i].summary.id, sizeof list[i].summary.id, "%s", from[i].id);
        snprintf(list[i].summary.name, sizeof list[i].summary.name, "%s", from[i].name);
        snprintf(list[i].summary.platform, sizeof list[i].summary.platform, "%s", from[i].platform);
        snprintf(list[i].summary.type, sizeof list[i].summary.type, "%s", from[i].type);
        snprintf(list[i].pci, sizeof list[i].pci, "%s", from[i].pci);
        snprintf(list[i].summary.verdict, sizeof list[i].summary.verdict, "%s",
                 from[i].usable ? "usable" : "refused: because");
        list[i].summary.compute_units = from[i].units;
        list[i].summary.usable = from[i].usable;
        list[i].clock_mhz = from[i].clock;
    }
}

/* Index of the chosen device, or minus the choice. */
static int choose(const char *selector) {
    struct ergo_candidate list[BENCH];
    size_t index = 99;
    make_list(bench, BENCH, list);
    enum ergo_choice choice = ergo_candidate_choose(selector, list, BENCH, &index, NULL);
    return choice == ERGO_CHOICE_FOUND ? (int)index : -(int)choice;
}

static void test_index(void **state) {
    (void)state;
    assert_int_equal(choose("0:0"), 0);
    assert_int_equal(choose("2:0"), 3);
    assert_int_equal(choose("02:00"), 3);
    assert_int_equal(choose("1:0"), -ERGO_CHOICE_NONE);
    assert_int_equal(choose("0:7"), -ERGO_CHOICE_NONE);
    assert_int_equal(choose("3:0"), -ERGO_CHOICE_REFUSED);
}

static void test_pci(void **state) {
    (void)state;
    assert_int_equal(choose("41:00.0"), 1);
    assert_int_equal(choose("0000:41:00.0"), 1);
    assert_int_equal(choose("0001:01:00.0"), 2);
    assert_int_equal(choose("01:00.0"), -ERGO_CHOICE_AMBIGUOUS);
    assert_int_equal(choose("02:00.0"), -ERGO_CHOICE_NONE);
}

static void test_name(void **state) {
    (void)state;
    assert_int_equal(choose("h200"), 2);
    assert_int_equal(choose("80gb"), 1);
    assert_int_equal(choose("nvidia a100"), 0); /* a whole name goes before a part */
    assert_int_equal(choose("a100"), -ERGO_CHOICE_AMBIGUOUS);
    assert_int_equal(choose("NVIDIA CUDA"), -ERGO_CHOICE_AMBIGUOUS);
    assert_int_equal(choose("portable"), 3);
    assert_int_equal(choose("PoCL"), 3);
    assert_int_equal(choose("llvmpipe"), -ERGO_CHOICE_REFUSED);
    assert_int_equal(choose("radeon"), -ERGO_CHOICE_NONE);
}

static void test_type(void **state) {
    (void)state;
    assert_int_equal(choose("gpu"), -ERGO_CHOICE_AMBIGUOUS);
    assert_int_equal(choose("CPU"), 3); /* the other one is refused */
    assert_int_equal(choose("accelerator"), -ERGO_CHOICE_NONE);
}

/* Index of the device that a rank gets, or -1: not dealt out. */
static int deal(const char *selector, size_t turn, const struct ergo_candidate *list) {
    size_t index = 99;
    return ergo_candidate_deal(selector, list, BENCH, turn, &index) ? (int)index : -1;
}

static void test_deal(void **state) {
    (void)state;
    struct ergo_candidate list[BENCH];
    make_list(bench, BENCH, list);
    for (size_t turn = 0; turn < 7; turn++)
        assert_int_equal(deal("GPU", turn, list), turn % 3); /* a type: whatever the models */
    assert_int_equal(deal("cpu", 0, list), -1);              /* one of them is usable */
    assert_int_equal(deal("h200", 0, list), -1);
    assert_int_equal(deal("a100", 0, list), -1); /* two models */
    assert_int_equal(deal("nvidia", 1, list), -1);
    assert_int_equal(deal("", 0, list), -1);
    assert_int_equal(deal("radeon", 0, list), -1);
    /* three of one model */
    for (size_t i = 1; i < 3; i++)
        snprintf(list[i].summary.name, sizeof list[i].summary.name, "%s", list[0].summary.name);
    for (size_t turn = 0; turn < 7; turn++) {
        assert_int_equal(deal("nvidia", turn, list), turn % 3);
        assert_int_equal(deal("NVIDIA A100", turn, list), turn % 3);
    }
    assert_int_equal(deal("01:00.0", 0, list), -1); /* two domains: one device is meant */
    list[1].summary.usable = false;
    assert_int_equal(deal("nvidia", 0, list), 0);
    assert_int_equal(deal("nvidia", 1, list), 2);
    /* the same name in another platform: the user is to say which */
    list[2].platform = (cl_platform_id)&list[0];
    assert_int_equal(deal("nvidia", 0, list), -1);
}

/* Equal devices are interchangeable; a device that is unequal in anything is not. */
static void test_equal(void **state) {
    (void)state;
    struct ergo_candidate list[BENCH];
    bool matched[BENCH];
    size_t index = 99;
    make_list(bench, BENCH, list);
    assert_int_equal(ergo_candidate_choose("nvidia", list, BENCH, &index, matched),
                     ERGO_CHOICE_AMBIGUOUS);
    assert_false(ergo_candidate_equal("nvidia", list, BENCH, matched)); /* three models */
    for (size_t i = 1; i < 3; i++) {
        list[i].summary = list[0].summary;
        snprintf(list[i].summary.id, sizeof list[i].summary.id, "0:%zu", i);
    }
    assert_int_equal(ergo_candidate_choose("nvidia", list, BENCH, &index, matched),
                     ERGO_CHOICE_AMBIGUOUS);
    assert_true(ergo_candidate_equal("nvidia", list, BENCH, matched));
    assert_int_equal(ergo_candidate_choose("01:00.0", list, BENCH, &index, matched),
                     ERGO_CHOICE_AMBIGUOUS);
    assert_false(ergo_candidate_equal("01:00.0", list, BENCH, matched)); /* one device is meant */
    assert_int_equal(ergo_candidate_choose("gpu", list, BENCH, &index, matched),
                     ERGO_CHOICE_AMBIGUOUS);
    assert_true(ergo_candidate_equal("gpu", list, BENCH, matched));
    snprintf(list[2].summary.driver, sizeof list[2].summary.driver, "580.2");
    assert_false(ergo_candidate_equal("gpu", list, BENCH, matched));
    list[2].summary.usable = false; /* what cannot be used does not matter */
    assert_true(ergo_candidate_equal("gpu", list, BENCH, matched));
    list[1].platform = (cl_platform_id)&list[0];
    assert_false(ergo_candidate_equal("gpu", list, BENCH, matched));
    list[1].platform = list[0].platform;
    list[1].summary.compute_units--; /* a part of a card */
    assert_false(ergo_candidate_equal("gpu", list, BENCH, matched));
}

/* The embedded profile is taken with 64-bit integers and rounding to nearest, which rusticl has. */
static void test_profile(void **state) {
    (void)state;
    /* Mesa's rusticl on radeonsi */
    static const char *const radeonsi =
        "cl_khr_byte_addressable_store cl_khr_create_command_queue cl_khr_expect_assume "
        "cl_khr_extended_versioning cl_khr_global_int32_base_atomics "
        "cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_il_program "
        "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_pci_bus_info "
        "cl_khr_spirv_no_integer_wrap_decoration cl_khr_suggested_local_work_size cl_khr_fp64 "
        "cles_khr_int64";
    const cl_device_fp_config nearest = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
    assert_null(ergo_profile_defect("EMBEDDED_PROFILE", radeonsi, nearest));
    assert_non_null(
        strstr(ergo_profile_defect("EMBEDDED_PROFILE", radeonsi, CL_FP_ROUND_TO_ZERO), "nearest"));
    assert_non_null(
        strstr(ergo_profile_defect("EMBEDDED_PROFILE", "cl_khr_fp64 cles_khr_int64_x", nearest),
               "cles_khr_int64"));
    assert_non_null(ergo_profile_defect("EMBEDDED_PROFILE", "", 0));
    assert_null(ergo_profile_defect("FULL_PROFILE", "", 0));
}

static void put_file(const char *folder, const char *name, const char *content) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

/* A folder like Linux's of the PCI bus: GPUs that no driver shows get the name of a package. */
static void test_bus(void **state) {
    (void)state;
    static const struct {
        const char *address, *vendor, *class;
    } bus[] = {
        {"0000:00:02.0", "0x8086", "0x030000"}, /* Intel's, as a VGA controller */
        {"0000:00:1f.0", "0x8086", "0x060100"}, /* no GPU */
        {"0000:03:00.0", "0x1002", "0x038000"}, {"0000:02:00.0", "0x1002", "0x120000"},
        {"0000:41:00.0", "0x10de", "0x030200"}, {"0000:c1:00.0", "0x10de", "0x030200"},
        {"0000:05:00.0", "0x1a03", "0x030000"},
    };
    char folder[] = "/tmp/ergo-bus-XXXXXX", path[256];
    struct ergo_candidate list[BENCH];
    struct ergo_text text = {0};
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof bus / sizeof bus[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, bus[i].address);
        assert_int_equal(mkdir(path, 0777), 0);
        put_file(path, "vendor", bus[i].vendor);
        put_file(path, "class", bus[i].class);
    }
    ergo_bus_explain(&text, folder, NULL, 0);
    assert_false(text.failed);
    assert_non_null(strstr(text.data, "AMD GPU (0000:02:00.0)"));
    assert_non_null(strstr(text.data, "rocm-opencl-icd"));
    assert_non_null(strstr(text.data, "mesa-opencl-icd"));
    assert_non_null(strstr(text.data, "Intel GPU (0000:00:02.0)"));
    assert_non_null(strstr(text.data, "intel-opencl-icd"));
    assert_non_null(strstr(text.data, "NVIDIA GPU (0000:41:00.0)"));
    assert_non_null(strstr(text.data, "nvidia-opencl-icd"));
    ergo_text_free(&text);
    /* what a driver shows is not missing: 0000:01:00.0, 0000:41:00.0, 0001:01:00.0, CPUs */
    make_list(bench, BENCH, list);
    ergo_bus_explain(&text, folder, list, BENCH);
    assert_non_null(strstr(text.data, "AMD GPU"));
    assert_null(strstr(text.data, "NVIDIA"));
    ergo_text_free(&text);
    ergo_bus_explain_none(&text, folder, list, BENCH);
    assert_non_null(strstr(text.data, "rocm-opencl-icd"));
    assert_null(strstr(text.data, "No GPU"));
    ergo_text_free(&text);
    list[2].pci[0] = '\0'; /* a GPU without an address may be any of them */
    ergo_bus_explain(&text, folder, list, BENCH);
    assert_null(text.data);
    ergo_bus_explain_none(&text, folder, list, BENCH);
    assert_non_null(strstr(text.data, "No GPU"));
    assert_non_null(strstr(text.data, "on the PCI bus"));
    ergo_text_free(&text);
    for (size_t i = 0; i < sizeof bus / sizeof bus[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/vendor", folder, bus[i].address);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s/class", folder, bus[i].address);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s", folder, bus[i].address);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    ergo_bus_explain(&text, folder, NULL, 0); /* no such folder: nothing to say */
    assert_null(text.data);
    /* but for somebody who wants a GPU */
    ergo_bus_explain_none(&text, folder, NULL, 0);
    assert_non_null(strstr(text.data, "can be looked for"));
    ergo_text_free(&text);
}

static void test_malformed(void **state) {
    (void)state;
    assert_int_equal(choose(""), -ERGO_CHOICE_MALFORMED);
    assert_int_equal(choose("1"), -ERGO_CHOICE_MALFORMED); /* would fit "LLVM 15.0.6" */
    assert_int_equal(choose("15"), -ERGO_CHOICE_MALFORMED);
    assert_int_equal(choose(":"), -ERGO_CHOICE_NONE);
    assert_int_equal(choose("0:"), -ERGO_CHOICE_NONE);
}

static void test_auto(void **state) {
    (void)state;
    struct ergo_candidate list[BENCH];
    size_t index = 99;
    make_list(bench, BENCH, list);
    assert_int_equal(ergo_candidate_choose("auto", list, BENCH, &index, NULL), ERGO_CHOICE_FOUND);
    assert_int_equal(index, 2); /* most compute units times clock */
    list[2].summary.usable = false;
    assert_int_equal(ergo_candidate_choose("Auto", list, BENCH, &index, NULL), ERGO_CHOICE_FOUND);
    assert_int_equal(index, 0); /* of equals the first */
    list[0].summary.usable = list[1].summary.usable = false;
    assert_int_equal(ergo_candidate_choose("auto", list, BENCH, &index, NULL), ERGO_CHOICE_FOUND);
    assert_int_equal(index, 3);
    list[3].summary.usable = false;
    assert_int_equal(ergo_candidate_choose("auto", list, BENCH, &index, NULL), ERGO_CHOICE_REFUSED);
    assert_int_equal(ergo_candidate_choose("auto", list, 0, &index, NULL), ERGO_CHOICE_NONE);
    /* An accelerator comes last, and a device without a clock still counts. */
    snprintf(list[0].summary.type, sizeof list[0].summary.type, "accelerator");
    list[0].summary.usable = true;
    list[0].clock_mhz = 0;
    assert_int_equal(ergo_candidate_choose("auto", list, BENCH, &index, NULL), ERGO_CHOICE_FOUND);
    assert_int_equal(index, 0);
    list[3].summary.usable = true;
    assert_int_equal(ergo_candidate_choose("auto", list, BENCH, &index, NULL), ERGO_CHOICE_FOUND);
    assert_int_equal(index, 3);
}

static void explain(const char *selector, size_t count, struct ergo_text *text) {
    struct ergo_candidate list[BENCH];
    bool matched[BENCH];
    size_t index = 0;
    make_list(bench, BENCH, list);
    enum ergo_choice choice = ergo_candidate_choose(selector, list, count, &index, matched);
    ergo_candidate_explain(text, choice, selector, "", list, count, matched);
    assert_false(text->failed);
}

static void test_explanations(void **state) {
    (void)state;
    struct ergo_text text = {0};
    explain("gpu", BENCH, &text); /* all that fit, and no others */
    assert_non_null(strstr(text.data, "0:0"));
    assert_non_null(strstr(text.data, "0:2"));
    assert_null(strstr(text.data, "2:0"));
    assert_non_null(strstr(text.data, "PCI 0001:01:00.0"));
    ergo_text_free(&text);
    explain("llvmpipe", BENCH, &text); /* the reason */
    assert_non_null(strstr(text.data, "refused: because"));
    assert_null(strstr(text.data, "A100"));
    ergo_text_free(&text);
    explain("radeon", BENCH, &text); /* what there is instead */
    assert_non_null(strstr(text.data, "radeon"));
    assert_non_null(strstr(text.data, "3:0"));
    ergo_text_free(&text);
    explain("auto", 0, &text); /* what to install */
    assert_non_null(strstr(text.data, "pocl"));
    ergo_text_free(&text);
}

static void test_quirks(void **state) {
    (void)state;
    struct ergo_device_summary summary = {.platform = "NVIDIA CUDA", .driver = "580.1"};
    struct ergo_quirks quirks;
    ergo_quirks_find(&summary, &quirks);
    assert_false(quirks.no_profiling);
    assert_string_equal(quirks.build_options, "");
    snprintf(summary.platform, sizeof summary.platform, "Oclgrind");
    ergo_quirks_find(&summary, &quirks);
    assert_true(quirks.no_profiling);
    assert_non_null(strstr(quirks.build_options, "-cl-opt-disable"));
    snprintf(summary.platform, sizeof summary.platform, "Portable Computing Language");
    ergo_quirks_find(&summary, &quirks);
    assert_non_null(strstr(quirks.build_options, "-DERGO_POCL_LOOPS"));
}

static void test_error_names(void **state) {
    (void)state;
    assert_string_equal(ergo_cl_name(-5), "CL_OUT_OF_RESOURCES");
    assert_string_equal(ergo_cl_name(-11), "CL_BUILD_PROGRAM_FAILURE");
    assert_string_equal(ergo_cl_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
    assert_string_equal(ergo_cl_name(-4242), "unknown OpenCL error");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),  cmocka_unit_test(test_pci),
        cmocka_unit_test(test_name),   cmocka_unit_test(test_type),
        cmocka_unit_test(test_deal),   cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_auto),   cmocka_unit_test(test_explanations),
        cmocka_unit_test(test_quirks), cmocka_unit_test(test_error_names),
        cmocka_unit_test(test_equal),  cmocka_unit_test(test_profile),
        cmocka_unit_test(test_bus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
