/* Judges of mutants of which one job is compared with a plain oracle, bit for bit. */
#ifndef ERGO_TESTS_MUTANTS_BITS_H
#define ERGO_TESTS_MUTANTS_BITS_H

#include "device/device.h"
#include "mutants/mutant.h"

/* Compares a job on a device with its oracle, from this step on. */
typedef void (*mutant_case)(struct ergo_context *ctx, struct ergo_device *device, const char *job,
                            uint64_t step);

static mutant_case mutant_compare;
static uint64_t mutant_far;

static void mutant_test_bits(void **state) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    (void)state;
    assert_non_null(ctx);
    if (ergo_device_open(ctx, NULL, &device) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    mutant_compare(ctx, device, mutant_job, 0);
    mutant_compare(ctx, device, mutant_job, mutant_far);
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

/* far: a step that soon fills more than 32 bits. The exit code is that of mutant_main. */
static inline int mutant_bits(int argc, char **argv, mutant_case compare, uint64_t far) {
    mutant_compare = compare;
    mutant_far = far;
    return mutant_main(argc, argv, mutant_test_bits);
}

#endif
