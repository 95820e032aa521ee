/* A batch on a device, as the run layer drives it, and three clocks around it. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double ergo_bench_wall(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double ergo_bench_cpu(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double ergo_bench_thread_cpu(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static enum ergo_status parse(struct ergo_context *ctx, const char *job, const char *const *sets,
                              unsigned seed, struct ergo_job **out) {
    const char *all[16];
    char seed_text[32];
    size_t n = 0;
    snprintf(seed_text, sizeof seed_text, "/seed=%u", seed);
    all[n++] = seed_text;
    for (; sets && *sets; sets++) {
        if (n == sizeof all / sizeof all[0])
            return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "too many values to set in a benchmark's job");
        all[n++] = *sets;
    }
    ergo_error_clear(ctx);
    return ergo_job_parse(ctx, job, strlen(job), "bench", all, n, out);
}

enum ergo_status ergo_bench_plan(struct ergo_bench *bench, const char *job, const char *const *sets,
                                 unsigned seed, struct ergo_bench_run *run) {
    memset(run, 0, sizeof *run);
    run->ctx = bench->ctx;
    run->device = bench->device;
    enum ergo_status status = parse(run->ctx, job, sets, seed, &run->job);
    if (status != ERGO_OK)
        return status;
    run->batch = &run->job->batches[0];
    run->sampler = run->job->sampler;
    if (run->job->n_batches != 1)
        status = ERGO_FAIL(run->ctx, ERGO_E_INTERNAL, "a benchmark's job makes %zu batches: %s",
                           run->job->n_batches, job);
    else
        status =
            ergo_sampler_plan(run->ctx, run->job->model->ops, run->batch, run->device, &run->plan);
    if (status != ERGO_OK)
        ergo_bench_close(run);
    return status;
}

enum ergo_status ergo_bench_create(struct ergo_bench_run *run) {
    enum ergo_status status =
        ergo_sampler_create(run->ctx, run->job->model->ops, run->batch, run->device, &run->state);
    if (status == ERGO_OK)
        status = run->job->model->ops->init(run->ctx, run->state);
    return status;
}

enum ergo_status ergo_bench_open(struct ergo_bench *bench, const char *job, const char *const *sets,
                                 unsigned seed, struct ergo_bench_run *run) {
    enum ergo_status status = ergo_bench_plan(bench, job, sets, seed, run);
    if (status == ERGO_OK && (status = ergo_bench_create(run)) != ERGO_OK)
        ergo_bench_close(run);
    return status;
}

void ergo_bench_close(struct ergo_bench_run *run) {
    if (run->state)
        ergo_engine_destroy(run->state);
    ergo_job_destroy(run->job);
    memset(run, 0, sizeof *run);
}

/* A marker: its event ends when everything enqueued before it has. NULL if the device has no
 * markers. */
static cl_event mark(struct ergo_device *device) {
    cl_event event = NULL;
    if (device->quirks.no_profiling ||
        clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &event) != CL_SUCCESS)
        return NULL;
    return event;
}

static double end_of(cl_event event) {
    cl_ulong end = 0;
    if (!event || clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                          NULL) != CL_SUCCESS)
        return -1;
    return (double)end * 1e-9;
}

struct watch {
    double wall, cpu;
    cl_event begin, end;
};

static void watch_start(struct watch *w, struct ergo_device *device) {
    w->end = NULL;
    w->begin = mark(device);
    w->cpu = ergo_bench_cpu();
    w->wall = ergo_bench_wall();
}

/* Call watch_mark after the last launch, watch_stop after waiting. */
static void watch_mark(struct watch *w, struct ergo_device *device) {
    w->end = mark(device);
}

static void watch_stop(struct watch *w, struct ergo_bench_clocks *clocks) {
    const double wall = ergo_bench_wall() - w->wall, cpu = ergo_bench_cpu() - w->cpu;
    const double begin = end_of(w->begin), end = end_of(w->end);
    /* rejects markers that mean something else */
    const double device = begin > 0 && end > begin && end - begin < 1.05 * wall ? end - begin : -1;
    if (w->begin)
        clReleaseEvent(w->begin);
    if (w->end)
        clReleaseEvent(w->end);
    if (clocks)
        *clocks = (struct ergo_bench_clocks){wall, cpu, device};
}

enum ergo_status ergo_bench_steps(struct ergo_bench_run *run, uint64_t steps,
                                  struct ergo_bench_clocks *clocks) {
    struct watch w;
    watch_start(&w, run->device);
    enum ergo_status status =
        ergo_sampler_advance(run->ctx, run->job->model->ops, run->state, 0, 0, steps, 0);
    watch_mark(&w, run->device);
    if (status == ERGO_OK)
        status = ergo_device_finish(run->ctx, run->device);
    watch_stop(&w, clocks);
    return status;
}

/* Memory for a block of samples, with curves where the job has them. */
static bool samples_allocate(const struct ergo_bench_run *run, size_t block,
                             struct ergo_samples *s) {
    const struct ergo_model *model = run->job->model;
    const struct ergo_point *first = run->batch->points[0];
    const size_t members = run->batch->count;
    const size_t curve_samples = (block - 1) / (size_t)ergo_point_curve_every(first) + 1;
    s->columns = calloc(block * members * model->n_columns + 1, sizeof(double));
    bool ok = s->columns != NULL;
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = ergo_point_curve_size(first, c);
        s->curves[c] = size ? calloc(curve_samples * members * size, sizeof(double)) : NULL;
        ok = ok && (!size || s->curves[c]);
    }
    return ok;
}

static void samples_free(struct ergo_samples *s) {
    free(s->columns);
    for (size_t c = 0; c < sizeof s->curves / sizeof s->curves[0]; c++)
        free(s->curves[c]);
}

size_t ergo_bench_block(const struct ergo_bench_run *run, uint64_t every) {
    const size_t wish = (size_t)(run->plan.block_steps / (double)every);
    const size_t most = run->plan.block_samples ? run->plan.block_samples : 1;
    return wish == 0 ? 1 : wish < most ? wish : most;
}

enum ergo_status ergo_bench_sample(struct ergo_bench_run *run, size_t samples, uint64_t every,
                                   double *columns, struct ergo_bench_clocks *clocks) {
    const struct ergo_sampler_ops *ops = run->job->model->ops;
    const size_t width = run->batch->count * run->job->model->n_columns;
    const size_t most = ergo_bench_block(run, every);
    const size_t block = samples == 0 ? 1 : most < samples ? most : samples;
    struct ergo_samples s = {0};
    struct watch w;
    enum ergo_status status = ERGO_OK;
    if (!samples_allocate(run, block, &s)) {
        status = ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for samples");
        goto out;
    }
    const size_t blocks = (samples + block - 1) / block;
    size_t done = 0;
    watch_start(&w, run->device);
    /* block b is enqueued before b - 1 is collected */
    for (size_t b = 0; b <= blocks && status == ERGO_OK; b++) {
        if (b < blocks)
            status = ergo_sampler_advance(run->ctx, ops, run->state, b & 1,
                                          b + 1 < blocks ? block : samples - b * block, every,
                                          b * block);
        if (status != ERGO_OK || b == 0)
            continue;
        status = ergo_sampler_collect(run->ctx, ops, run->state, (b - 1) & 1, &s);
        if (columns && status == ERGO_OK)
            memcpy(columns + done * width, s.columns, s.count * width * sizeof *columns);
        done += s.count;
    }
    watch_mark(&w, run->device);
    if (status == ERGO_OK)
        status = ergo_device_finish(run->ctx, run->device);
    watch_stop(&w, clocks);
out:
    samples_free(&s);
    return status;
}

enum ergo_status ergo_bench_digest(struct ergo_bench_run *run, size_t most, uint64_t *digest) {
    struct ergo_text t = {0};
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < run->batch->count && m < most && status == ERGO_OK; m++)
        status = run->job->model->ops->save(run->ctx, run->state, m, &t);
    if (status == ERGO_OK)
        *digest = ergo_hash64(t.data, t.length);
    ergo_text_free(&t);
    return status;
}

enum ergo_status ergo_bench_same_as(struct ergo_bench *bench, const char *job,
                                    const char *const *sets, uint64_t steps,
                                    ergo_bench_oracle *oracle, struct ergo_plan *plan, bool *same) {
    struct ergo_bench_run run;
    struct ergo_text states = {0};
    uint64_t digest = 0;
    enum ergo_status status = ergo_bench_open(bench, job, sets, 99, &run);
    if (status != ERGO_OK)
        return status;
    status = ergo_bench_steps(&run, steps, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_digest(&run, SIZE_MAX, &digest);
    for (size_t m = 0; m < run.batch->count && status == ERGO_OK; m++)
        status = oracle(bench->ctx, run.batch->points[m], &states);
    *same = status == ERGO_OK && digest == ergo_hash64(states.data, states.length);
    *plan = run.plan;
    ergo_text_free(&states);
    ergo_bench_close(&run);
    return status;
}

enum ergo_status ergo_bench_check_digests(struct ergo_bench *bench, const char *job,
                                          const char *const *sets, uint64_t steps, size_t most,
                                          struct ergo_text *verdict, bool *ok) {
    struct ergo_plan plans[2];
    uint64_t digest[2] = {0, 0};
    enum ergo_status status = ERGO_OK;
    for (int i = 0; i < 2 && status == ERGO_OK; i++) {
        struct ergo_bench_run run;
        status = ergo_bench_open(bench, job, i ? sets : NULL, 99, &run);
        if (status != ERGO_OK)
            break;
        plans[i] = run.plan;
        if (i && strcmp(plans[0].path, plans[1].path) == 0 &&
            strcmp(plans[0].launch, plans[1].launch) == 0) {
            ergo_bench_close(&run);
            ergo_text_append(verdict, "; there is no other launch here");
            return ERGO_OK;
        }
        status = ergo_bench_steps(&run, steps, NULL);
        if (status == ERGO_OK)
            status = ergo_bench_digest(&run, most, &digest[i]);
        ergo_bench_close(&run);
    }
    if (status != ERGO_OK)
        return status;
    *ok = *ok && digest[0] == digest[1];
    ergo_text_append(verdict, "; %s %s %s with", plans[0].path,
                     digest[0] == digest[1] ? "=" : "DIFFERS FROM", plans[1].path);
    for (; *sets; sets++)
        ergo_text_append(verdict, " %s", strncmp(*sets, "/tuning/", 8) == 0 ? *sets + 8 : *sets);
    return ERGO_OK;
}
