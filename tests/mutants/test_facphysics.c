/* One job of facilitated dynamics on a tiny torus against the exact Markov operator and its frozen
 * sites: test_facphysics 'JOB', with ' for ". What kills a mutant of kind "facphysics". */
#include "mutants/mutant.h"
#include "physics/facilitated_physics.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct fac_verdict v = {0};
    assert_non_null(ctx);
    if (ergo_device_open(ctx, NULL, &device) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    fac_markov_job(ctx, device, "the job", mutant_job, &v);
    const char *reason = fac_judge(&v);
    print_message("%zu comparisons, largest |z| %.2f, %zu frozen sites, of which %zu flipped\n",
                  v.n, v.worst, v.frozen, v.broken);
    if (reason)
        fail_msg("not the exact values: %s", reason);
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
