/* One job of a fully connected spin glass against enumeration: test_densephysics 'JOB', with ' for
 * ". What kills a mutant of kind "densephysics". */
#include "mutants/mutant.h"
#include "physics/dense_physics.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct dense_verdict v = {0};
    assert_non_null(ctx);
    DENSE_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    dense_physics_job(ctx, device, mutant_job, &v);
    const char *reason = dense_judge(&v);
    print_message("%zu moments, largest |z| %.2f\n", v.n, v.worst);
    if (reason)
        fail_msg("not the exact values: %s", reason);
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
