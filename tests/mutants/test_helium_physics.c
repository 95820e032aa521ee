/*
 * 64 atoms against the serial program (data/reference/helium.md) by statistics alone:
 * test_helium_physics 'JOB', with ' for ". What kills a mutant of kind "helium_physics"; the
 * sampler is called without the run around it, whose audit would see that the chain is not the
 * host's.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mutants/mutant.h"
#include "samplers/helium_vmc/helium.h"

static void test_job(void **state) {
    (void)state;
    enum { BLOCK = 50, BLOCKS = 8 };
    static const double expected[4] = {-19.74036, 15.13871, 15.11785, 0.36787};
    static const double errors[4] = {0.003, 0.004, 0.006, 0.0002};
    struct ergo_context *ctx = ergo_context_create();
    const struct ergo_model *model = ergo_sampler_find("helium-vmc")->models[0];
    const size_t stride = model->n_columns;
    struct ergo_device *device = NULL;
    struct ergo_job *job = NULL;
    void *chain = NULL;
    if (ergo_job_parse(ctx, mutant_job, strlen(mutant_job), "mutant", NULL, 0, &job) != ERGO_OK ||
        ergo_device_open(ctx, NULL, &device) != ERGO_OK ||
        ergo_sampler_create(ctx, model->ops, &job->batches[0], device, &chain) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    enum { N = BLOCK * BLOCKS };
    double *columns = malloc(N * stride * sizeof *columns);
    assert_non_null(columns);
    enum ergo_status status = model->ops->init(ctx, chain);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(ctx, model->ops, chain, 0, 0, 300, 0);
    for (size_t i = 0; i < BLOCKS && status == ERGO_OK; i++) {
        struct ergo_samples samples = {.columns = columns + i * BLOCK * stride};
        status = ergo_sampler_advance(ctx, model->ops, chain, 0, BLOCK, 4, i * BLOCK);
        if (status == ERGO_OK)
            status = ergo_sampler_collect(ctx, model->ops, chain, 0, &samples);
    }
    if (status != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    double worst = 0;
    for (size_t c = 0; c < 4; c++) {
        double series[N];
        struct ergo_estimate e;
        for (size_t i = 0; i < N; i++)
            series[i] = columns[i * stride + c];
        ergo_stats_estimate(series, N, &e);
        const double z = (e.mean - expected[c]) / sqrt(e.error * e.error + errors[c] * errors[c]);
        print_message("column %zu: %.5f +- %.5f, expected %.5f, z %.2f\n", c, e.mean, e.error,
                      expected[c], z);
        worst = fmax(worst, isfinite(z) ? fabs(z) : INFINITY);
    }
    if (!(worst < 4.5))
        fail_msg("not the exact values: largest |z| %.2f", worst);
    free(columns);
    ergo_engine_destroy(chain);
    ergo_device_close(device);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
