/* One job of spins that are unit vectors against the plain oracle, sweep by sweep: test_vectorbits
 * 'JOB', with ' for ". What kills a mutant of kind "vectorbits". */
#include "kernel/vector_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    assert_non_null(ctx);
    VECTOR_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    vector_bench_case(ctx, device, mutant_job, UINT64_C(0x1fffffffe));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
