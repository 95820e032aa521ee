/* One job of spins on a graph against the plain oracle, bit for bit: test_graphbits 'JOB', with '
 * for ". What kills a mutant of kind "graphbits". */
#include "kernel/graph_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    assert_non_null(ctx);
    GRAPH_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    graph_bench_case(ctx, device, mutant_job, 0);
    graph_bench_case(ctx, device, mutant_job, UINT64_C(0x1fffffffe));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
