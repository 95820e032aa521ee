/* What a job would need on a device, and the kernels as text: nothing here runs a chain. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "device/program.h"
#include "job/schedule.h"
#include "result/result.h"
#include "run/cost.h"
#include "run/tuning.h"

/* Seconds that a plan waits for a start: a million disks at random are compressed in minutes on a
 * CPU. */
static const double patience = 5;
static const char *const rough = "expected time: not known before a run on this device; the rate "
                                 "and the time left are shown while it runs";

static void append_time(struct ergo_text *out, double seconds) {
    ergo_text_append(out, "expected time: %.3g s", seconds);
    if (seconds >= 172800)
        ergo_text_append(out, " (%.2g days)", seconds / 86400);
    else if (seconds >= 7200)
        ergo_text_append(out, " (%.2g hours)", seconds / 3600);
    else if (seconds >= 120)
        ergo_text_append(out, " (%.2g minutes)", seconds / 60);
    ergo_text_append(out, ", measurements not counted\n");
}

enum ergo_status ergo_plan_text(struct ergo_context *ctx, const struct ergo_job *job,
                                const char *selector, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, job, text);
    struct ergo_device *device = NULL;
    struct ergo_text out = {0};
    struct ergo_job *own = NULL;
    enum ergo_status status = ergo_tuning_open(ctx, job, selector, &own, &device);
    if (status != ERGO_OK)
        return status;
    ergo_text_append(&out, "device       %s  %s (%s)\n", device->summary.id, device->summary.name,
                     device->summary.platform);
    double total_seconds = 0, states = 0;
    bool known = true;
    for (size_t b = 0; b < own->n_batches && status == ERGO_OK; b++) {
        const struct ergo_batch *batch = &own->batches[b];
        const struct ergo_schedule s = ergo_schedule_of(batch->points[0]);
        struct ergo_plan plan;
        status = ergo_sampler_plan(ctx, own->model->ops, batch, device, &plan);
        if (status != ERGO_OK)
            break;
        states += (double)plan.state_bytes;
        const bool measurements = own->model->correlation != NULL;
        struct ergo_cost cost;
        const double step = ergo_cost_measure(ctx, own->model, batch, device, &plan, NULL, patience,
                                              measurements, &cost) == ERGO_OK
                                ? cost.step
                                : -1;
        known = known && step >= 0;
        total_seconds += step * (double)s.total;
        ergo_text_append(&out,
                         "batch %zu of %zu: %zu points, %llu %ss, %zu samples each\n"
                         "  kernels    %s: %s\n"
                         "  launches   %.3g per %s\n"
                         "  memory     device %.4g MiB (largest buffer %.4g MiB), host %.4g MiB\n",
                         b + 1, own->n_batches, batch->count, (unsigned long long)s.total,
                         own->sampler->step_name, s.n_samples, plan.path, plan.launch,
                         plan.launches_per_step, own->sampler->step_name,
                         (double)plan.device_bytes / 1048576, (double)plan.largest_buffer / 1048576,
                         ((double)plan.host_bytes + ergo_result_bytes(own)) / 1048576);
        if (step > 0)
            ergo_text_append(&out, "  rate       %.3g %s (a short trial)\n",
                             plan.work_per_step / step, own->sampler->rate_unit);
        if (step > 0 && measurements)
            ergo_text_append(
                &out,
                "  measuring  %.3g s on the device (%.2g %ss), %.2g s of the host: measure_every "
                "%llu would be best\n",
                cost.measure, cost.measure / step, own->sampler->step_name, cost.host,
                (unsigned long long)ergo_cost_best_every(
                    &cost, own->model->correlation(batch->points[0])));
    }
    if (status == ERGO_OK) {
        ergo_states_say(own, states, &out);
        ergo_text_append(&out, "\n");
    }
    if (status == ERGO_OK && known)
        append_time(&out, total_seconds);
    else if (status == ERGO_OK)
        ergo_text_append(&out, "%s\n", rough);
    ergo_device_close(device);
    ergo_job_destroy(own);
    if (status == ERGO_OK && !(*text = ergo_utf8_take_shown(&out)))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    ergo_text_free(&out);
    return status;
}

static enum ergo_status unknown_sampler(struct ergo_context *ctx, const char *name) {
    const char *names[32];
    size_t n = 0;
    struct ergo_text list = {0};
    for (; n < ergo_n_samplers && n < sizeof names / sizeof names[0]; n++) {
        names[n] = ergo_samplers[n]->name;
        ergo_text_append(&list, "%s%s", n ? ", " : "", names[n]);
    }
    const char *near = ergo_text_nearest(name, names, n);
    enum ergo_status status =
        ERGO_FAIL(ctx, ERGO_E_JOB, "there is no sampler \"%.64s\"%s%s%s; samplers: %s", name,
                  ERGO_MEANT(near), list.data ? list.data : "");
    ergo_text_free(&list);
    return status;
}

/* The programs of models[m] that no model before it has. */
static enum ergo_status append_programs(struct ergo_context *ctx, struct ergo_text *out,
                                        const struct ergo_sampler *sampler, size_t m) {
    enum ergo_status status = ERGO_OK;
    const char *program;
    for (size_t p = 0; p < 16 && (program = sampler->models[m]->programs[p]) != NULL; p++) {
        bool known = false;
        for (size_t b = 0; b < m && !known; b++)
            for (size_t q = 0; q < 16 && sampler->models[b]->programs[q]; q++)
                known = known || strcmp(sampler->models[b]->programs[q], program) == 0;
        char *flat = NULL;
        if (known)
            continue;
        status = ergo_program_flatten(ctx, program, &flat);
        if (status != ERGO_OK)
            break;
        ergo_text_append(out, "/* ==== program %s ==== */\n%s\n", program, flat);
        free(flat);
    }
    return status;
}

enum ergo_status ergo_kernels_text(struct ergo_context *ctx, const char *name, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, text);
    struct ergo_text out = {0};
    enum ergo_status status = ERGO_OK;
    if (name && !ergo_sampler_find(name))
        return unknown_sampler(ctx, name);
    for (size_t i = 0; i < ergo_n_samplers && status == ERGO_OK; i++) {
        const struct ergo_sampler *sampler = ergo_samplers[i];
        if (name && strcmp(name, sampler->name) != 0)
            continue;
        for (size_t m = 0; m < sampler->n_models && status == ERGO_OK; m++)
            status = append_programs(ctx, &out, sampler, m);
    }
    if (status == ERGO_OK && !(*text = ergo_text_take(&out)))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the kernels' text");
    ergo_text_free(&out);
    return status;
}
