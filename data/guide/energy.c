#include <ergocl/ergocl.h>
#include <stdio.h>

int main(int argc, char **argv) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    struct ergo_run_options options = {.directory = "from-c"};
    size_t energy = 0;
    if (argc < 2)
        return 2;
    enum ergo_status status = ergo_job_load(ctx, argv[1], NULL, 0, &job);
    if (status == ERGO_OK)
        status = ergo_run(ctx, job, &options, &result);
    if (status == ERGO_OK)
        status = ergo_result_find(ctx, result, ERGO_RESULT_OBSERVABLES, "energy", &energy);
    for (size_t i = 0; status == ERGO_OK && i < ergo_result_count(result, ERGO_RESULT_POINTS); i++) {
        struct ergo_result_estimate e;
        status = ergo_result_get_estimate(ctx, result, ERGO_RESULT_POINTS, i, energy, &e);
        if (status == ERGO_OK)
            printf("point %zu: energy %.4f +- %.4f %s\n", i, e.mean, e.error, e.unit);
    }
    if (status != ERGO_OK)
        fprintf(stderr, "%s\n", ergo_error_message(ctx));
    ergo_result_destroy(result);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
    return ergo_status_exit_code(status);
}
