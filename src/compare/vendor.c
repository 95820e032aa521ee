/* For devices that differ: the first kernel that does, and the file with which a vendor can
 * reproduce it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "base/file.h"

/* The first launch after which a buffer differs, where both devices made the same launches up to it
 * and have the same buffers. */
static void compare_traces(struct ergo_comparison *c, const struct ergo_profile *a,
                           const struct ergo_profile *b) {
    if (a->n_launches > ERGO_PROFILE_LAUNCHES || b->n_launches > ERGO_PROFILE_LAUNCHES)
        return; /* the first launches are no longer in the trace */
    for (size_t i = 0; i < a->n_launches && i < b->n_launches; i++) {
        const struct ergo_profile_launch *x = &a->launches[i], *y = &b->launches[i];
        if (strcmp(a->kernels[x->kernel].name, b->kernels[y->kernel].name) != 0 || !x->hashes ||
            !y->hashes)
            return;
        for (size_t k = 0; k < x->n_buffers && k < y->n_buffers; k++) {
            /* sizes differ: padding to other work-groups */
            if (a->buffers[k].bytes != b->buffers[k].bytes ||
                strcmp(a->buffers[k].what, b->buffers[k].what) != 0 || x->hashes[k] == y->hashes[k])
                continue;
            c->launch = i;
            c->kernel = strdup(a->kernels[x->kernel].name);
            c->buffer = strdup(a->buffers[k].what);
            return;
        }
    }
}

static void append_hex(struct ergo_text *t, const char *name, const char *state, size_t length,
                       size_t at) {
    ergo_text_append(t, "    %-24s", name);
    for (size_t i = at; i < at + 16 && i < length; i++)
        ergo_text_append(t, " %02x", (unsigned)(unsigned char)state[i]);
    ergo_text_append(t, "\n");
}

/* Lists where the canonical states differ, byte by byte. */
static void append_states(struct ergo_text *t, const struct ergo_result *a,
                          const struct ergo_result *b) {
    for (size_t m = 0, shown = 0; m < a->n_members && shown < 8; m++) {
        const struct ergo_member_result *x = &a->members[m], *y = &b->members[m];
        size_t first = SIZE_MAX, count = 0;
        if (!x->state || !y->state || x->digest == y->digest)
            continue;
        for (size_t i = 0; i < x->state_length && i < y->state_length; i++)
            if (x->state[i] != y->state[i] && count++ == 0)
                first = i;
        shown++;
        ergo_text_append(t, "  point %zu: states of %zu and %zu bytes, %zu bytes differ", m,
                         x->state_length, y->state_length, count);
        if (!count) {
            ergo_text_append(t, " (one is longer)\n");
            continue;
        }
        ergo_text_append(t, ", the first at %zu:\n", first);
        append_hex(t, "reference", x->state, x->state_length, first);
        append_hex(t, "other", y->state, y->state_length, first);
    }
}

static void append_probe(struct ergo_context *ctx, struct ergo_text *t, const char *selector) {
    struct ergo_device *device = NULL;
    char verdict[512] = "";
    if (ergo_device_open(ctx, selector, &device) == ERGO_OK) {
        const struct ergo_device_summary *s = &device->summary;
        const bool passed = ergo_device_probe(ctx, device, verdict, sizeof verdict) == ERGO_OK;
        ergo_text_append(t,
                         "  id        %s\n  name      %s\n  platform  %s\n  version   %s\n"
                         "  driver    %s\n  options   %s\n  units     %u\n  memory    %" PRIu64
                         " bytes, local %" PRIu64 ", largest group %" PRIu64
                         "\n  probe     %s%s%s\n",
                         s->id, s->name, s->platform, s->version, s->driver, device->options,
                         s->compute_units, s->global_memory, s->local_memory, s->largest_group,
                         passed ? "passed" : "FAILED", *verdict ? ": " : "", verdict);
    } else {
        ergo_text_append(t, "  %s: %s\n", selector, ergo_error_message(ctx));
    }
    ergo_error_clear(ctx);
    ergo_device_close(device);
}

static void append_launches(struct ergo_text *t, const char *name, const struct ergo_profile *p) {
    ergo_text_append(t, "  %s:", name);
    for (size_t k = 0; k < p->n_kernels; k++)
        if (!p->kernels[k].transfer)
            ergo_text_append(t, " %s (%" PRIu64 ")", p->kernels[k].name, p->kernels[k].launches);
    ergo_text_append(t, "\n");
}

/* Runs both devices once more up to the first step that differs, and traces every launch. */
static enum ergo_status run_watched(struct ergo_context *ctx, struct ergo_comparison *c,
                                    const char *directory, struct ergo_job **job,
                                    struct ergo_result *results[2],
                                    struct ergo_profile *profiles[2]) {
    const struct ergo_point *point = &ergo_comparison_job(c)->points[c->first_point];
    const uint64_t equilibration = (uint64_t)point->parameters->equilibration;
    char *folder = NULL;
    enum ergo_status status = ergo_folder_within(ctx, directory, "bisection", &folder);
    if (status == ERGO_OK)
        status = ergo_comparison_short_job(ctx, c, c->first_step, equilibration, job);
    for (size_t i = 0; i < 2 && status == ERGO_OK; i++) {
        const struct ergo_run_watch watch = {
            .profile = &profiles[i], .trace = true, .states = true, .unaudited = true};
        const struct ergo_run_options options = {
            .directory = folder,
            .device = c->devices[i ? c->first_device : c->reference].selector,
            .overwrite = true,
            .watch = &watch};
        status = ergo_run(ctx, *job, &options, &results[i]);
    }
    free(folder);
    return status;
}

static void append_difference(struct ergo_context *ctx, struct ergo_text *t,
                              struct ergo_comparison *c, const char *directory) {
    struct ergo_result *results[2] = {NULL, NULL};
    struct ergo_profile *profiles[2] = {NULL, NULL};
    struct ergo_job *job = NULL;
    const bool watched =
        c->first_step && run_watched(ctx, c, directory, &job, results, profiles) == ERGO_OK;
    if (watched && profiles[0] && profiles[1])
        compare_traces(c, profiles[0], profiles[1]);
    ergo_comparison_append_first(t, c);
    ergo_text_append(t, "\n");
    if (watched) {
        ergo_text_append(t, "\nCanonical states after %" PRIu64 " steps:\n", c->first_step);
        append_states(t, results[0], results[1]);
        if (profiles[0] && profiles[1]) {
            ergo_text_append(t, "\nKernels, with their numbers of launches up to there:\n");
            append_launches(t, "reference", profiles[0]);
            append_launches(t, "other", profiles[1]);
        }
        if (c->kernel)
            ergo_text_append(t,
                             "\nAfter launch %" PRIu64
                             " (from 0), of %s, the buffer \"%s\" differs; "
                             "before it all buffers were equal.\n",
                             c->launch, c->kernel, c->buffer);
        else
            ergo_text_append(t, "\nThe kernel is not known: the devices make different launches, "
                                "or too many to trace.\n");
    } else if (*ergo_error_message(ctx)) {
        ergo_text_append(t, "\nTracing the launches failed: %s\n", ergo_error_message(ctx));
        ergo_error_clear(ctx);
    }
    if (job)
        ergo_text_append(t, "\nThe shortest job that shows it:\n%s\n", job->canonical);
    ergo_job_destroy(job);
    for (size_t i = 0; i < 2; i++) {
        ergo_result_destroy(results[i]);
        ergo_profile_destroy(profiles[i]);
    }
}

static enum ergo_status write_kernels(struct ergo_context *ctx, const struct ergo_comparison *c,
                                      const struct ergo_folder *folder) {
    char *text = NULL;
    enum ergo_status status = ergo_kernels_text(ctx, ergo_comparison_job(c)->sampler->name, &text);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, folder, "vendor-kernels.cl", text, strlen(text));
    free(text);
    return status;
}

enum ergo_status ergo_comparison_diagnose(struct ergo_context *ctx, struct ergo_comparison *c,
                                          const char *directory) {
    struct ergo_text t = {0};
    ergo_text_append(&t, "ergocl " ERGO_VERSION ": OpenCL devices that do not agree\n\n"
                         "The kernels in vendor-kernels.cl (beside this file) use integers, fp32 "
                         "+ - *, fma and\ncomparisons without contraction, and "
                         "random numbers that no work-group size\nchanges: every device has to "
                         "give the same bits.\n\n");
    if (c->first_device < c->n_devices)
        append_difference(ctx, &t, c, directory);
    for (size_t i = 0; i < c->n_devices; i++) {
        struct ergo_compared_device *d = &c->devices[i];
        ergo_text_append(&t, "\nDevice %zu: %s\n", i, ergo_comparison_verdict(c, i));
        append_probe(ctx, &t, d->selector);
        if (d->message)
            ergo_text_append(&t, "  failed with: %s\n", d->message);
        for (size_t m = 0; d->result && m < d->result->n_members && m < 16; m++)
            ergo_text_append(&t, "  digest of point %zu after %" PRIu64 " steps: %016" PRIx64 "\n",
                             m, d->result->members[m].steps, d->result->members[m].digest);
    }
    ergo_text_append(&t,
                     "\nTo reproduce it: save the job as job.json, then\n"
                     "  ergocl devices --check\n  ergocl compare job.json -o again --devices \"");
    for (size_t i = 0; i < c->n_devices; i++)
        ergo_text_append(&t, "%s%s", i ? "," : "", c->devices[i].selector);
    ergo_text_append(&t, "\"\n\nThe whole job:\n%s\n", ergo_comparison_job(c)->canonical);
    c->vendor_file = ergo_path_join(directory, "vendor.txt");
    struct ergo_folder folder;
    enum ergo_status status = ergo_folder_open(ctx, directory, &folder);
    if (status == ERGO_OK)
        status = t.failed || !c->vendor_file
                     ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for vendor.txt")
                     : ergo_file_write(ctx, &folder, "vendor.txt", t.data, t.length);
    if (status == ERGO_OK)
        status = write_kernels(ctx, c, &folder);
    ergo_folder_close(&folder);
    ergo_text_free(&t);
    return status;
}
