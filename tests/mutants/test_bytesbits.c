/* One job with a byte per spin against the plain oracle, bit for bit: test_bytesbits 'JOB', with '
 * for ". What kills a mutant of kind "bytesbits". */
#include "kernel/bytes_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    assert_non_null(ctx);
    BYTES_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    bytes_bench_case(ctx, device, mutant_job, 0);
    bytes_bench_case(ctx, device, mutant_job, UINT64_C(0x1fffffffe));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
