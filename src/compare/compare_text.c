/* A comparison as the table of a terminal and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "base/entry.h"
#include "base/utf8.h"
#include "base/text.h"
#include "result/format.h"
#include "samplers/sampler.h"

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
    ergo_text_append(t, "%s ends in other states at %zu of %zu points (first: point %zu)",
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

/* The three kernels that take most of the time of each device. */
static void append_kernels(struct ergo_text *t, const struct ergo_comparison *c) {
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        const struct ergo_profile *p = d->profiled ? d->profiled->profile : NULL;
        double all = 0, before = INFINITY;
        for (size_t k = 0; p && k < p->n_kernels; k++)
            all += p->kernels[k].seconds;
        if (!p || !(all > 0))
            continue;
        ergo_text_append(t, "  %s:", ergo_comparison_name(d));
        for (int rank = 0; rank < 3; rank++) { /* by falling times */
            const struct ergo_profile_kernel *next = NULL;
            for (size_t k = 0; k < p->n_kernels; k++)
                if (p->kernels[k].seconds < before &&
                    (!next || p->kernels[k].seconds > next->seconds))
                    next = &p->kernels[k];
            if (!next || !(next->seconds > 0))
                break;
            before = next->seconds;
            ergo_text_append(t, "%s %s %.0f%%", rank ? "," : "", next->name,
                             100 * next->seconds / all);
        }
        ergo_text_append(t, "\n");
    }
}

enum ergo_status ergo_comparison_table(struct ergo_context *ctx,
                                       const struct ergo_comparison *comparison, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, comparison, text);
    const struct ergo_comparison *c = comparison;
    struct ergo_text t = {0};
    const struct ergo_sampler_info *info = ergo_comparison_job(c)->sampler->info;
    const double base = c->devices[c->reference].result->rate;
    ergo_text_append(&t, "%s: %s on %zu devices, rates in %s\n\n", ergo_comparison_job(c)->name,
                     info->name, c->n_devices, info->rate_unit);
    ergo_text_append(&t, "  %-14s  %12s  %8s  %8s  %8s  %s\n", "states", "rate", "ratio",
                     "sampling", "all", "device");
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        if (d->result)
            ergo_text_append(&t, "  %-14s  %12.4g  %8.3g  %6.3g s  %6.3g s  %s (%s)\n",
                             ergo_comparison_verdict(c, i), d->result->rate, d->result->rate / base,
                             d->result->seconds, d->seconds, ergo_comparison_name(d),
                             d->result->device.platform);
        if (d->result && d->message)
            ergo_text_append(&t, "  %-14s  %s\n", "", d->message);
        if (!d->result)
            ergo_text_append(&t, "  %-14s  %12s  %8s  %8s  %6.3g s  %s: %s\n",
                             ergo_comparison_verdict(c, i), "-", "-", "-", d->seconds, d->selector,
                             d->message ? d->message : "");
    }
    ergo_text_append(&t, "\nDevice time by kernel:\n");
    append_kernels(&t, c);
    if (c->first_device < c->n_devices) {
        ergo_text_append(&t, "\n");
        ergo_comparison_append_first(&t, c);
        ergo_text_append(&t, "\n");
    }
    if (c->vendor_file)
        ergo_text_append(&t, "For the device's vendor: %s\n", c->vendor_file);
    *text = ergo_utf8_take_shown(&t);
    return *text ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a table");
}

static void append_costs(struct ergo_text *t, const struct ergo_compared_device *d) {
    static const char *const phases[ERGO_PHASES] = {"device", "build", "prepare",
                                                    "sample", "audit", "files"};
    const struct ergo_profile *p = d->profiled ? d->profiled->profile : NULL;
    ergo_text_append(t, "\"phases\": {");
    for (size_t k = 0; k < ERGO_PHASES; k++) {
        ergo_text_append(t, "%s\"%s\": ", k ? ", " : " ", phases[k]);
        ergo_json_number(t, d->result->phases[k]);
    }
    ergo_text_append(t,
                     " },\n      \"device_bytes\": %" PRIu64 ", \"programs_built\": %u, "
                     "\"programs_cached\": %u",
                     d->result->device_bytes, d->result->built, d->result->loaded);
    ergo_json_pair_number(t, "copy_bytes_per_second", d->copy_rate > 0 ? d->copy_rate : NAN);
    ergo_json_pair_number(t, "joules", d->joules_work > 0 ? d->joules : NAN);
    ergo_json_pair_number(t, "work_of_these_joules", d->joules_work > 0 ? d->joules_work : NAN);
    ergo_text_append(t, ", \"kernels_timed_by\": %s,\n      \"kernels\": [",
                     !p         ? "null"
                     : p->waits ? "\"host\""
                                : "\"events\"");
    for (size_t k = 0; p && k < p->n_kernels; k++) {
        ergo_text_append(t, "%s{ \"name\": ", k ? ",\n        " : "\n        ");
        ergo_json_string(t, p->kernels[k].name);
        ergo_text_append(t, ", \"launches\": %" PRIu64, p->kernels[k].launches);
        ergo_json_pair_number(t, "seconds", p->kernels[k].seconds);
        ergo_json_pair_number(t, "bytes", p->kernels[k].bytes);
        ergo_text_append(t, " }");
    }
    ergo_text_append(t, "]");
}

static void append_device(struct ergo_text *t, const struct ergo_compared_device *d) {
    ergo_text_append(t, "    { \"selector\": ");
    ergo_json_string(t, d->selector);
    ergo_json_pair(t, "folder", d->folder);
    ergo_json_pair_number(t, "wall_seconds", d->seconds);
    if (d->message)
        ergo_json_pair(t, "error", d->message);
    if (!d->result) {
        ergo_text_append(t, " }");
        return;
    }
    ergo_json_pair(t, "name", d->result->device.name);
    ergo_json_pair(t, "platform", d->result->device.platform);
    ergo_json_pair(t, "driver", d->result->device.driver);
    ergo_json_pair_number(t, "rate", d->result->rate);
    ergo_json_pair_number(t, "seconds", d->result->seconds);
    ergo_json_pair_number(t, "host_seconds", d->result->host_seconds);
    ergo_text_append(t,
                     ",\n      \"points_that_differ\": %zu, \"same_samples\": %s, \"digests\": [",
                     d->n_different, d->same_samples ? "true" : "false");
    for (size_t m = 0; m < d->result->n_members; m++)
        ergo_text_append(t, "%s\"%016" PRIx64 "\"", m ? ", " : "", d->result->members[m].digest);
    ergo_text_append(t, "],\n      ");
    append_costs(t, d);
    ergo_text_append(t, " }");
}

enum ergo_status ergo_comparison_json(struct ergo_context *ctx,
                                      const struct ergo_comparison *comparison, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, comparison, text);
    const struct ergo_comparison *c = comparison;
    struct ergo_text t = {0};
    ergo_text_append(&t, "{\n  \"ergocl\": \"" ERGO_VERSION "\", \"agree\": %s, \"rate_unit\": ",
                     ergo_comparison_agrees(c) ? "true" : "false");
    ergo_json_string(&t, ergo_comparison_job(c)->sampler->info->rate_unit);
    ergo_text_append(&t, ",\n  \"reference\": %zu, \"first_difference\": ", c->reference);
    if (c->first_device < c->n_devices) {
        ergo_text_append(&t,
                         "{ \"device\": %zu, \"point\": %zu, \"last_same_step\": %" PRIu64
                         ", \"first_different_step\": %" PRIu64 ", \"kernel\": ",
                         c->first_device, c->first_point, c->last_same, c->first_step);
        ergo_json_string(&t, c->kernel);
        ergo_json_pair(&t, "buffer", c->buffer);
        ergo_text_append(&t, " }");
    } else {
        ergo_text_append(&t, "null");
    }
    ergo_text_append(&t, ", \"vendor_file\": ");
    ergo_json_string(&t, c->vendor_file);
    ergo_text_append(&t, ",\n  \"devices\": [");
    for (size_t i = 0; i < c->n_devices; i++) {
        ergo_text_append(&t, i ? ",\n" : "\n");
        append_device(&t, &c->devices[i]);
    }
    ergo_text_append(&t, "\n  ],\n  \"job\": %s\n}\n", ergo_comparison_job(c)->canonical);
    *text = ergo_text_take(&t);
    return *text ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for JSON");
}
