/* A comparison as the table of a terminal and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "core/text.h"
#include "io/format.h"
#include "samplers/sampler.h"

static const struct ergo_job *job_of(const struct ergo_comparison *c) {
    return c->devices[c->reference].result->job;
}

static const char *verdict(const struct ergo_comparison *c, size_t i) {
    const struct ergo_compared_device *d = &c->devices[i];
    if (!d->result)
        return "failed";
    if (i == c->reference)
        return "reference";
    return d->n_different ? "DIFFERS" : d->same_samples ? "same bits" : "SAMPLES DIFFER";
}

static const char *name_of(const struct ergo_compared_device *d) {
    return d->result ? d->result->device.name : d->selector;
}

static void append_first(struct ergo_text *t, const struct ergo_comparison *c) {
    const struct ergo_compared_device *d = &c->devices[c->first_device];
    ergo_text_append(t, "\n%s ends in other states at %zu of %zu points (first: point %zu)",
                     name_of(d), d->n_different, job_of(c)->n_points, c->first_point);
    if (c->first_step)
        ergo_text_append(
            t, ": states are equal after %" PRIu64 " steps, and after %" PRIu64 " they are not",
            c->last_same, c->first_step);
    ergo_text_append(t, ".\n");
}

enum ergo_status ergo_comparison_table(struct ergo_context *ctx, const struct ergo_comparison *c,
                                       char **out) {
    struct ergo_text t = {0};
    const struct ergo_sampler_info *info = job_of(c)->sampler->info;
    const double base = c->devices[c->reference].result->rate;
    ergo_text_append(&t, "%s: %s on %zu devices, rates in %s\n\n", job_of(c)->name, info->name,
                     c->n_devices, info->rate_unit);
    ergo_text_append(&t, "  %-14s  %12s  %8s  %8s  %8s  %s\n", "states", "rate", "ratio",
                     "sampling", "all", "device");
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        if (d->result)
            ergo_text_append(&t, "  %-14s  %12.4g  %8.3g  %6.3g s  %6.3g s  %s (%s)\n",
                             verdict(c, i), d->result->rate, d->result->rate / base,
                             d->result->seconds, d->seconds, name_of(d),
                             d->result->device.platform);
        else
            ergo_text_append(&t, "  %-14s  %12s  %8s  %8s  %6.3g s  %s: %s\n", verdict(c, i), "-",
                             "-", "-", d->seconds, d->selector, d->message ? d->message : "");
    }
    if (c->first_device < c->n_devices)
        append_first(&t, c);
    *out = ergo_text_take(&t);
    return *out ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a table");
}

static void append_number(struct ergo_text *t, const char *key, double value) {
    ergo_text_append(t, ", \"%s\": ", key);
    ergo_json_number(t, value);
}

static void append_string(struct ergo_text *t, const char *key, const char *value) {
    ergo_text_append(t, ", \"%s\": ", key);
    ergo_json_string(t, value);
}

static void append_device(struct ergo_text *t, const struct ergo_compared_device *d) {
    ergo_text_append(t, "    { \"selector\": ");
    ergo_json_string(t, d->selector);
    append_string(t, "folder", d->folder);
    append_number(t, "wall_seconds", d->seconds);
    if (!d->result) {
        append_string(t, "error", d->message ? d->message : "");
        ergo_text_append(t, " }");
        return;
    }
    append_string(t, "name", d->result->device.name);
    append_string(t, "platform", d->result->device.platform);
    append_string(t, "driver", d->result->device.driver);
    append_number(t, "rate", d->result->rate);
    append_number(t, "seconds", d->result->seconds);
    append_number(t, "host_seconds", d->result->host_seconds);
    ergo_text_append(t,
                     ",\n      \"points_that_differ\": %zu, \"same_samples\": %s, \"digests\": [",
                     d->n_different, d->same_samples ? "true" : "false");
    for (size_t m = 0; m < d->result->n_members; m++)
        ergo_text_append(t, "%s\"%016" PRIx64 "\"", m ? ", " : "", d->result->members[m].digest);
    ergo_text_append(t, "] }");
}

enum ergo_status ergo_comparison_json(struct ergo_context *ctx, const struct ergo_comparison *c,
                                      char **out) {
    struct ergo_text t = {0};
    ergo_text_append(&t, "{\n  \"ergocl\": \"" ERGO_VERSION "\", \"agree\": %s, \"rate_unit\": ",
                     ergo_comparison_agrees(c) ? "true" : "false");
    ergo_json_string(&t, job_of(c)->sampler->info->rate_unit);
    ergo_text_append(&t, ",\n  \"reference\": %zu, \"first_difference\": ", c->reference);
    if (c->first_device < c->n_devices)
        ergo_text_append(&t,
                         "{ \"device\": %zu, \"point\": %zu, \"last_same_step\": %" PRIu64
                         ", \"first_different_step\": %" PRIu64 " }",
                         c->first_device, c->first_point, c->last_same, c->first_step);
    else
        ergo_text_append(&t, "null");
    ergo_text_append(&t, ",\n  \"devices\": [");
    for (size_t i = 0; i < c->n_devices; i++) {
        ergo_text_append(&t, i ? ",\n" : "\n");
        append_device(&t, &c->devices[i]);
    }
    ergo_text_append(&t, "\n  ],\n  \"job\": %s\n}\n", job_of(c)->canonical);
    *out = ergo_text_take(&t);
    return *out ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for JSON");
}
