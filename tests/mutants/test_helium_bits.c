/*
 * One helium-vmc job against the host's twin: test_helium_bits 'JOB', with ' for ". What kills a
 * mutant of kind "helium_bits": the sampler's own audit, which compares the chain bit for bit and
 * energies in double precision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mutants/mutant.h"
#include "samplers/helium_vmc/helium.h"

static void test_job(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    const struct ergo_model *model = ergo_sampler_find("helium-vmc")->models[0];
    struct ergo_device *device = NULL;
    struct ergo_job *job = NULL;
    void *chain = NULL;
    if (ergo_job_parse(ctx, mutant_job, strlen(mutant_job), "mutant", NULL, 0, &job) != ERGO_OK ||
        ergo_device_open(ctx, NULL, &device) != ERGO_OK ||
        ergo_sampler_create(ctx, model->ops, &job->batches[0], device, &chain) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    enum ergo_status status = model->ops->init(ctx, chain);
    for (int i = 0; i < 3 && status == ERGO_OK; i++) {
        status = ergo_sampler_advance(ctx, model->ops, chain, 0, 0, 2, 0);
        if (status == ERGO_OK)
            status = model->ops->audit(ctx, chain);
    }
    if (status == ERGO_E_AUDIT)
        fail_msg("not the oracle's: %s", ergo_error_message(ctx));
    if (status != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    ergo_engine_destroy(chain);
    ergo_device_close(device);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
