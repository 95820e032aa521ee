/* A batch on the device without the run layer: for tests of a sampler's own functions. */
#ifndef ERGO_TESTS_CONTRACT_BENCH_H
#define ERGO_TESTS_CONTRACT_BENCH_H

#include "start.h"
#include "contract.h"

struct bench {
    struct ergo_device *device;
    struct ergo_job *job;
    struct ergo_batch batch;
    struct ergo_point *points[16];
    const struct ergo_sampler_ops *ops;
    void *state;
    uint64_t state_bytes; /* as planned */
};

/* The members `order` of the contract job's first batch; count 0: all as they are. */
static inline void bench_open(struct bench *b, struct ergo_device *device, const size_t *order,
                              size_t count) {
    *b = (struct bench){.device = device, .ops = contract.model->ops};
    contract_ok(contract_parse(contract.job, NULL, 0, &b->job), "the contract job");
    const struct ergo_batch *all = &b->job->batches[0];
    b->batch = (struct ergo_batch){b->job, count ? count : all->count, b->points};
    assert_true(b->batch.count <= 16);
    for (size_t i = 0; i < b->batch.count; i++)
        b->points[i] = all->points[count ? order[i] : i];
}

/* Room for states; again: the states of before are given up. */
static inline void bench_create(struct bench *b) {
    struct ergo_plan plan;
    if (b->state)
        ergo_engine_destroy(b->state);
    b->state = NULL;
    contract_ok(ergo_sampler_plan(contract.ctx, b->ops, &b->batch, b->device, &plan), "plan");
    b->state_bytes = plan.state_bytes;
    contract_ok(ergo_sampler_create(contract.ctx, b->ops, &b->batch, b->device, &b->state),
                "create");
}

static inline void bench_init(struct bench *b) {
    bench_create(b);
    contract_ok(start_all(contract.ctx, b->ops, b->state), "start");
}

static inline void bench_advance(struct bench *b, uint64_t steps) {
    contract_ok(ergo_sampler_advance(contract.ctx, b->ops, b->state, 0, 0, steps, 0), "advance");
    contract_ok(ergo_device_finish(contract.ctx, b->device), "finish");
}

/* One sample after `every` steps, thrown away: what a sampler counts for it has been counted. */
static inline void bench_sample(struct bench *b, uint64_t every) {
    const struct ergo_model *model = contract.model;
    struct ergo_samples samples = {.columns =
                                       calloc(b->batch.count * model->n_columns, sizeof(double))};
    /* as the run layer does: no room for what is not measured, or added at the end alone */
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = ergo_point_curve_size(b->points[0], c);
        if (size && !(model->curves_at_end >> c & 1))
            samples.curves[c] = calloc(b->batch.count * size, sizeof(double));
    }
    contract_ok(ergo_sampler_advance(contract.ctx, b->ops, b->state, 0, 1, every, 0), "advance");
    contract_ok(ergo_sampler_collect(contract.ctx, b->ops, b->state, 0, &samples), "collect");
    assert_int_equal(samples.count, 1);
    free(samples.columns);
    for (size_t c = 0; c < model->n_curves; c++)
        free(samples.curves[c]);
}

static inline struct ergo_text bench_save(struct bench *b, size_t member) {
    struct ergo_text text = {0};
    contract_ok(b->ops->save(contract.ctx, b->state, member, &text), "save");
    assert_true(!text.failed && text.length > 0);
    return text;
}

static inline enum ergo_status bench_load(struct bench *b, size_t member, uint64_t step,
                                          const void *bytes, size_t length) {
    ergo_error_clear(contract.ctx);
    return b->ops->load(contract.ctx, b->state, member, step, bytes, length);
}

static inline bool bench_equal(const struct ergo_text *a, const struct ergo_text *b) {
    return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

/* Member i of `a` and member j of `b` are in the same state? */
static inline bool bench_same(struct bench *a, size_t i, struct bench *b, size_t j) {
    struct ergo_text x = bench_save(a, i), y = bench_save(b, j);
    const bool same = bench_equal(&x, &y);
    ergo_text_free(&x);
    ergo_text_free(&y);
    return same;
}

static inline void bench_close(struct bench *b) {
    if (b->state)
        ergo_engine_destroy(b->state);
    ergo_job_destroy(b->job);
}

#endif
