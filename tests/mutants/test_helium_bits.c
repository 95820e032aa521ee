/*
 * One job of helium-vmc or helium-dmc against the oracle: test_helium_bits 'JOB', with ' for ".
 * What kills a mutant of kind "helium_bits".
 */
#include "kernel/dmc_bench.h"
#include "kernel/helium_bench.h"
#include "mutants/mutant.h"

static void variational(struct ergo_context *ctx, struct ergo_device *device) {
    struct helium_bench b = {.ctx = ctx, .device = device};
    helium_bench_begin(&b, mutant_job);
    helium_compare_states(&b);
    for (int i = 0; i < 4; i++) /* beyond a start of 20 macroupdates */
        helium_compare_samples(&b, 2, 3);
    helium_bench_end(&b);
}

static void diffusion(struct ergo_context *ctx, struct ergo_device *device) {
    struct dmc_bench b = {.ctx = ctx, .device = device};
    dmc_bench_begin(&b, mutant_job);
    dmc_compare_states(&b);
    for (int i = 0; i < 7; i++) /* beyond a window of 16 steps */
        dmc_compare_sample(&b, i < 2 ? 1 : 4);
    dmc_bench_end(&b);
}

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    if (ergo_device_open(ctx, NULL, &device) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    (strstr(mutant_job, "helium-dmc") ? diffusion : variational)(ctx, device);
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
