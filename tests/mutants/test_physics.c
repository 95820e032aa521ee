/*
 * One job against exact values by statistics alone: test_physics 'JOB', with ' for ". What kills a
 * mutant of kind "physics". The verdict is that of tests/physics/test_ising_exact.c; the sampler is
 * called without the run around it, whose audit would see that the chain is not the host's.
 */
#include "oracle/derived.h"
#include "mutants/mutant.h"
#include "physics/ising_physics.h"
#include "samplers/spin_lattice/models.h"

static double heat_capacity(const double *means, void *user) {
    const struct ergo_point *point = user;
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const double t = ergo_point_real(point, "/system/temperature");
    return (double)(size->size[0] * size->size[1]) * (means[1] - means[0] * means[0]) / (t * t);
}

enum { KINDS = 5 };
static const char *const names[KINDS] = {"energy", "heat_capacity", "abs_magnetization",
                                         "magnetization2", "magnetization"};

static void judge_member(struct physics_verdict *v, const struct ergo_point *point,
                         const double *columns, size_t stride, size_t n) {
    double *series[KINDS];
    struct ergo_estimate e;
    char where[100];
    for (size_t c = 0; c < KINDS; c++) {
        series[c] = malloc(n * sizeof(double));
        assert_non_null(series[c]);
    }
    for (size_t i = 0; i < n; i++) {
        const double u = columns[i * stride + COLUMN_ENERGY],
                     m = columns[i * stride + COLUMN_MAGNETIZATION];
        const double values[KINDS] = {u, u * u, fabs(m), m * m, m};
        for (size_t c = 0; c < KINDS; c++)
            series[c][i] = values[c];
    }
    snprintf(where, sizeof where, "point %zu", (size_t)point->index);
    for (size_t c = 0; c < KINDS; c++) {
        double exact;
        if (!physics_exact(point, names[c], &exact))
            continue;
        if (c == 1)
            ergo_stats_derived((const double *const *)series, 2, n, heat_capacity, (void *)point,
                               &e);
        else
            ergo_stats_estimate(series[c], n, &e);
        physics_compare(v, where, names[c], e.mean, e.error, e.tau, n, exact);
    }
    for (size_t c = 0; c < KINDS; c++)
        free(series[c]);
}

static void test_job(void **state) {
    (void)state;
    enum { BLOCK = 500 };
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_device *device = NULL;
    struct ergo_job *job = NULL;
    void *chain = NULL;
    if (ergo_job_parse(ctx, mutant_job, strlen(mutant_job), "mutant", NULL, 0, &job) != ERGO_OK ||
        ergo_device_open(ctx, NULL, &device) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_model *model = job->model;
    const struct ergo_point *first = batch->points[0];
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t n = (size_t)ergo_point_int(first, "/run/sweeps") / every / BLOCK * BLOCK;
    const size_t stride = batch->count * model->n_columns;
    double *columns = malloc(n * stride * sizeof(double));
    assert_true(columns && job->n_batches == 1);
    enum ergo_status status = ergo_sampler_create(ctx, model->ops, batch, device, &chain);
    if (status == ERGO_OK)
        status = model->ops->init(ctx, chain);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(ctx, model->ops, chain, 0, 0,
                                      (uint64_t)ergo_point_int(first, "/run/equilibration"), 0);
    for (size_t i = 0; i < n && status == ERGO_OK; i += BLOCK) {
        struct ergo_samples samples = {.columns = columns + i * stride};
        status = ergo_sampler_advance(ctx, model->ops, chain, 0, BLOCK, every, i);
        if (status == ERGO_OK)
            status = ergo_sampler_collect(ctx, model->ops, chain, 0, &samples);
    }
    if (status != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    struct physics_verdict verdict = {0};
    for (size_t m = 0; m < batch->count; m++)
        judge_member(&verdict, batch->points[m], columns + m * model->n_columns, stride, n);
    const char *reason = physics_judge(&verdict);
    print_message("%zu comparisons with exact values, largest |z| %.2f (%s)\n", verdict.n,
                  verdict.worst, verdict.where);
    if (reason)
        fail_msg("not the exact values: %s", reason);
    free(columns);
    ergo_engine_destroy(chain);
    ergo_device_close(device);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
