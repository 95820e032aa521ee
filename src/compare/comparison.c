/* A comparison: what it says of each device, and shorter jobs of the same kind. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/compare.h"

void ergo_comparison_destroy(struct ergo_comparison *c) {
    if (!c)
        return;
    for (size_t i = 0; i < c->n_devices; i++) {
        free(c->devices[i].selector);
        free(c->devices[i].folder);
        free(c->devices[i].message);
        ergo_result_destroy(c->devices[i].result);
        ergo_profile_destroy(c->devices[i].profile);
    }
    free(c->kernel);
    free(c->buffer);
    free(c->vendor_file);
    free(c->devices);
    free(c);
}

const struct ergo_job *ergo_comparison_job(const struct ergo_comparison *c) {
    return c->devices[c->reference].result->job;
}

const char *ergo_comparison_verdict(const struct ergo_comparison *c, size_t i) {
    const struct ergo_compared_device *d = &c->devices[i];
    if (!d->result)
        return "failed";
    if (i == c->reference)
        return "reference";
    if (d->n_different)
        return "DIFFERS";
    if (!d->same_samples)
        return "SAMPLES DIFFER";
    return d->message ? "AUDIT FAILED" : "same bits";
}

const char *ergo_comparison_name(const struct ergo_compared_device *d) {
    return d->result ? d->result->device.name : d->selector;
}

void ergo_comparison_append_first(struct ergo_text *t, const struct ergo_comparison *c) {
    if (c->first_device >= c->n_devices)
        return;
    const struct ergo_compared_device *d = &c->devices[c->first_device];
    ergo_text_append(t, "%s ends in different states at %zu of %zu points (first: point %zu)",
                     ergo_comparison_name(d), d->n_different, ergo_comparison_job(c)->n_points,
                     c->first_point);
    if (c->first_step)
        ergo_text_append(
            t, ": states are equal after %" PRIu64 " steps, and after %" PRIu64 " they are not",
            c->last_same, c->first_step);
    if (c->kernel)
        ergo_text_append(t,
                         "; the first launch that leaves other contents in a buffer (\"%s\") is of "
                         "the kernel %s",
                         c->buffer, c->kernel);
    ergo_text_append(t, ".");
}

bool ergo_comparison_agrees(const struct ergo_comparison *c) {
    bool agrees = c != NULL;
    for (size_t i = 0; agrees && i < c->n_devices; i++)
        agrees = agrees && c->devices[i].result && !c->devices[i].message &&
                 !c->devices[i].n_different && c->devices[i].same_samples;
    return agrees;
}

enum ergo_status ergo_comparison_short_job(struct ergo_context *ctx,
                                           const struct ergo_comparison *c, uint64_t steps,
                                           uint64_t most, struct ergo_job **job) {
    const struct ergo_job *whole = ergo_comparison_job(c);
    const uint64_t equilibration = steps - 1 < most ? steps - 1 : most;
    const uint64_t sweeps = steps - equilibration;
    const uint64_t every = (uint64_t)whole->points[0].parameters->measure_every.integer;
    char lengths[3][64];
    const char *const sets[] = {lengths[0], lengths[1], lengths[2], "/output/snapshots=0"};
    snprintf(lengths[0], sizeof lengths[0], "/run/equilibration=%llu",
             (unsigned long long)equilibration);
    snprintf(lengths[1], sizeof lengths[1], "/run/sweeps=%llu", (unsigned long long)sweeps);
    /* a job that measures nothing would be refused; measuring changes no state */
    snprintf(lengths[2], sizeof lengths[2], "/run/measure_every=%llu",
             (unsigned long long)(every < sweeps ? every : sweeps));
    return ergo_job_again(ctx, whole, sets, 4, job);
}
