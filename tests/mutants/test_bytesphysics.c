/* One job with a byte per spin against the enumeration of its states: test_bytesphysics 'JOB', with
 * ' for ". What kills a mutant of kind "bytesphysics". */
#include "mutants/mutant.h"
#include "physics/bytes_physics.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct bytes_verdict v = {0};
    assert_non_null(ctx);
    BYTES_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    if (strstr(mutant_job, "random_field"))
        bytes_enumerated_fields(ctx, device, mutant_job, &v);
    else
        bytes_enumerated(ctx, device, mutant_job, &v);
    print_message("%zu comparisons, largest |z| %.2f\n", v.n, v.worst);
    if (bytes_judge(&v))
        fail_msg("not the exact values: %s", bytes_judge(&v));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
