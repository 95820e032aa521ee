/* A batch on a device, as the run layer drives it, and three clocks around it. */
#include "bench.h"

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

static enum ergo_status parse(struct ergo_context *ctx, const struct ergo_bench_case *what,
                              const struct ergo_bench_shape *shape, unsigned seed,
                              struct ergo_job **job) {
    struct ergo_text t = {0};
    ergo_text_append(&t,
                     "{\"sampler\": \"spin-lattice\", \"seed\": %u, \"replicas\": %zu, "
                     "\"system\": {\"size\": [%zu, %zu], \"temperature\": " ERGO_BENCH_TC
                     ", \"start\": \"up\"}, "
                     "\"run\": {\"sweeps\": 1000, \"measure_every\": 10, \"correlation_every\": 0}",
                     seed, what->replicas, what->lx, what->ly);
    ergo_text_append(&t,
                     ", \"tuning\": {\"path\": %u, \"work_group\": %u, \"tile_sweeps\": %u, "
                     "\"tile_rows\": %u, \"lanes\": %u}",
                     shape->path, shape->group, shape->sweeps, shape->rows, shape->lanes);
    if (what->scan)
        ergo_text_append(&t, ", \"scan\": {\"/system/temperature\": {\"from\": 2.4, \"to\": 2.1, "
                             "\"step\": -0.01}}");
    ergo_text_append(&t, "}");
    enum ergo_status status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a job");
    if (!t.failed) {
        ergo_error_clear(ctx);
        status = ergo_job_parse(ctx, t.data, t.length, "bench", NULL, 0, job);
    }
    ergo_text_free(&t);
    return status;
}

enum ergo_status ergo_bench_open(struct ergo_context *ctx, struct ergo_device *device,
                                 const struct ergo_bench_case *what,
                                 const struct ergo_bench_shape *shape, unsigned seed,
                                 struct ergo_bench_run *run) {
    memset(run, 0, sizeof *run);
    run->ctx = ctx;
    run->device = device;
    enum ergo_status status = parse(ctx, what, shape, seed, &run->job);
    if (status != ERGO_OK)
        return status;
    if (run->job->n_batches != 1) {
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "case %s makes %zu batches", what->name,
                           run->job->n_batches);
        goto out;
    }
    run->batch = &run->job->batches[0];
    run->sampler = run->job->sampler;
    run->spins = (double)what->lx * (double)what->ly * (double)run->batch->count;
    status = run->sampler->ops->plan(ctx, run->batch, device, &run->plan);
    if (status == ERGO_OK)
        status = run->sampler->ops->create(ctx, run->batch, device, &run->state);
    if (status == ERGO_OK)
        status = run->sampler->ops->init(ctx, run->state);
out:
    if (status != ERGO_OK)
        ergo_bench_close(run);
    return status;
}

void ergo_bench_close(struct ergo_bench_run *run) {
    if (run->state)
        run->sampler->ops->destroy(run->state);
    ergo_job_destroy(run->job);
    memset(run, 0, sizeof *run);
}

/* A marker's event ends when everything enqueued before it has. NULL where there are no markers. */
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
    /* an implementation whose markers mean something else shows here */
    const double device = begin > 0 && end > begin && end - begin < 1.05 * wall ? end - begin : -1;
    if (w->begin)
        clReleaseEvent(w->begin);
    if (w->end)
        clReleaseEvent(w->end);
    if (clocks)
        *clocks = (struct ergo_bench_clocks){wall, cpu, device};
}

enum ergo_status ergo_bench_sweep(struct ergo_bench_run *run, uint64_t sweeps,
                                  struct ergo_bench_clocks *clocks) {
    struct watch w;
    watch_start(&w, run->device);
    enum ergo_status status = run->sampler->ops->advance(run->ctx, run->state, 0, 0, sweeps, 0);
    watch_mark(&w, run->device);
    if (status == ERGO_OK)
        status = ergo_device_finish(run->ctx, run->device);
    watch_stop(&w, clocks);
    return status;
}

enum ergo_status ergo_bench_sample(struct ergo_bench_run *run, size_t samples, uint64_t every,
                                   double *energy, struct ergo_bench_clocks *clocks) {
    const struct ergo_sampler_ops *ops = run->sampler->ops;
    const size_t members = run->batch->count, width = run->sampler->info->n_columns;
    double per_block = run->plan.block_steps / (double)every;
    size_t block = per_block < 1 ? 1 : (size_t)per_block;
    if (block > run->plan.block_samples)
        block = run->plan.block_samples;
    struct ergo_samples s = {.columns = calloc(block * members * width, sizeof(double))};
    if (!s.columns)
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for samples");
    struct watch w;
    enum ergo_status status = ERGO_OK;
    const size_t blocks = (samples + block - 1) / block;
    size_t done = 0;
    watch_start(&w, run->device);
    /* block b is enqueued before b - 1 is collected */
    for (size_t b = 0; b <= blocks && status == ERGO_OK; b++) {
        if (b < blocks)
            status = ops->advance(run->ctx, run->state, b & 1,
                                  b + 1 < blocks ? block : samples - b * block, every, b * block);
        if (status != ERGO_OK || b == 0)
            continue;
        status = ops->collect(run->ctx, run->state, (b - 1) & 1, &s);
        for (size_t i = 0; energy && status == ERGO_OK && i < s.count * members; i++)
            energy[done * members + i] = s.columns[width * i];
        done += s.count;
    }
    watch_mark(&w, run->device);
    if (status == ERGO_OK)
        status = ergo_device_finish(run->ctx, run->device);
    watch_stop(&w, clocks);
    free(s.columns);
    return status;
}

enum ergo_status ergo_bench_digest(struct ergo_bench_run *run, size_t members, uint64_t *digest) {
    struct ergo_text t = {0};
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = run->sampler->ops->save(run->ctx, run->state, m, &t);
    if (status == ERGO_OK)
        *digest = ergo_hash64(t.data, t.length);
    ergo_text_free(&t);
    return status;
}
