/* One job of spins that are unit vectors on a closed chain against its transfer matrix:
 * test_vectorphysics 'JOB', with ' for ". What kills a mutant of kind "vectorphysics". */
#include "mutants/mutant.h"
#include "physics/vector_physics.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct vector_verdict v = {0};
    assert_non_null(ctx);
    VECTOR_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    vector_ring(ctx, device, mutant_job, &v);
    print_message("%zu comparisons, largest |z| %.2f\n", v.n, v.worst);
    if (vector_judge(&v))
        fail_msg("not the exact values: %s", vector_judge(&v));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
