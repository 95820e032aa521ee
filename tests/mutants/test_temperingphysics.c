/* One job of tempered lattices against exact values: test_temperingphysics 'JOB', with ' for ".
 * What kills a mutant of kind "temperingphysics". */
#include "mutants/mutant.h"
#include "physics/tempering_physics.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct tempering_verdict v = {0};
    assert_non_null(ctx);
    VECTOR_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    tempering_job(ctx, device, mutant_job, &v);
    print_message("%zu comparisons, largest |z| %.2f\n", v.n, v.worst);
    if (tempering_judge(&v))
        fail_msg("not the exact values: %s", tempering_judge(&v));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
