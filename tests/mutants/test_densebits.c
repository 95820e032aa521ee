/* One job of a fully connected spin glass against the plain oracle, bit for bit: test_densebits
 * 'JOB', with ' for ". What kills a mutant of kind "densebits". */
#include "kernel/dense_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    assert_non_null(ctx);
    DENSE_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    dense_bench_case(ctx, device, mutant_job, 0);
    dense_bench_case(ctx, device, mutant_job, UINT64_C(0x1fffffffd));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
