/* One job of spins on a graph against the enumeration of its states: test_graphphysics 'JOB', with
 * ' for ". What kills a mutant of kind "graphphysics". */
#include "mutants/mutant.h"
#include "physics/graph_physics.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct graph_verdict v = {0};
    assert_non_null(ctx);
    GRAPH_BENCH_OK(ctx, "device", ergo_device_open(ctx, NULL, &device));
    if (strstr(mutant_job, "wang-landau") && strstr(mutant_job, "square"))
        graph_density(ctx, device, mutant_job, 8, &v);
    else if (strstr(mutant_job, "wang-landau") || strstr(mutant_job, "ladder") ||
             strstr(mutant_job, "population"))
        graph_temperatures(ctx, device, mutant_job, &v);
    else
        graph_enumerated(ctx, device, mutant_job, &v);
    print_message("%zu comparisons, largest |z| %.2f\n", v.n, v.worst);
    if (graph_judge(&v))
        fail_msg("not the exact values: %s", graph_judge(&v));
    ergo_device_close(device);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
