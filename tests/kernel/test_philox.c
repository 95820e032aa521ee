/* The devices' Philox4x32-10 against Random123's own header, on random and on edge counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Not our code, and not written for our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

#include "device/probe.h"
#include "device/program.h"

enum { LAUNCHES = 8, WORDS = 6 };

static void reference(const uint32_t *in, uint32_t out[4]) {
    philox4x32_ctr_t counter = {{in[0], in[1], in[2], in[3]}};
    philox4x32_key_t seed = {{in[4], in[5]}};
    philox4x32_ctr_t answer = philox4x32_R(10, counter, seed);
    memcpy(out, answer.v, 4 * sizeof *out);
}

/* Random words, with some all zeros or all ones: carries and sign bits. */
static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t word = (uint32_t)(*state >> 32);
    return word % 16 == 0 ? 0u : word % 16 == 1 ? 0xffffffffu : word;
}

static void check_device(const char *id) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem in_mem = NULL, out_mem = NULL;
    const size_t n_in = (size_t)PROBE_ITEMS * PROBE_INPUTS;
    const size_t n_out = (size_t)PROBE_ITEMS * PROBE_COLUMNS;
    const size_t global[2] = {PROBE_ITEMS, 1}, local[2] = {PROBE_GROUP, 1};
    uint32_t *in = calloc(n_in, sizeof *in), *out = calloc(n_out, sizeof *out);
    uint64_t state = 42;
    assert_true(ctx && in && out);
    if (ergo_device_open(ctx, id, &device) != ERGO_OK ||
        ergo_program_build(ctx, device, "common/probe.cl", "", &program) != ERGO_OK ||
        ergo_kernel_create(ctx, device, program, "probe_arithmetic", &kernel) != ERGO_OK ||
        ergo_buffer_create(ctx, device, "in", n_in * sizeof *in, NULL, &in_mem) != ERGO_OK ||
        ergo_buffer_create(ctx, device, "out", n_out * sizeof *out, NULL, &out_mem) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    const struct ergo_arg args[] = {ERGO_ARG(in_mem), ERGO_ARG(out_mem)};
    ergo_probe_make_inputs(in);
    for (int launch = 0; launch < LAUNCHES; launch++) {
        for (size_t item = 0; item < PROBE_ITEMS && launch > 0; item++)
            for (size_t word = 0; word < WORDS; word++)
                in[item * PROBE_INPUTS + PROBE_COUNTER + word] = draw(&state);
        if (ergo_buffer_write(ctx, device, in_mem, 0, n_in * sizeof *in, in) != ERGO_OK ||
            ergo_kernel_launch(ctx, device, kernel, "probe_arithmetic", args, 2, 1, global, local,
                               NULL) != ERGO_OK ||
            ergo_buffer_read(ctx, device, out_mem, 0, n_out * sizeof *out, out) != ERGO_OK)
            fail_msg("%s", ergo_error_message(ctx));
        for (size_t item = 0; item < PROBE_ITEMS; item++) {
            uint32_t expected[4];
            reference(in + item * PROBE_INPUTS + PROBE_COUNTER, expected);
            assert_memory_equal(out + item * PROBE_COLUMNS + PROBE_PHILOX, expected,
                                sizeof expected);
        }
    }
    print_message("%s (%s): %d blocks agree with Random123\n", device->summary.name,
                  device->summary.platform, LAUNCHES * PROBE_ITEMS);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    ergo_buffer_release(&in_mem);
    ergo_buffer_release(&out_mem);
    ergo_device_close(device);
    ergo_context_destroy(ctx);
    free(in);
    free(out);
}

static void test_known_answers(void **state) {
    (void)state;
    static const uint32_t answers[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        reference(answers[i], out);
        assert_memory_equal(out, answers[i] + WORDS, sizeof out);
    }
}

static void test_every_device(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device_summary *list = NULL;
    size_t count = 0;
    assert_non_null(ctx);
    assert_int_equal(ergo_device_list(ctx, false, &list, &count), ERGO_OK);
    if (count == 0)
        print_message("no OpenCL device: nothing was tested\n");
    for (size_t i = 0; i < count; i++)
        check_device(list[i].id);
    free(list);
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_every_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
