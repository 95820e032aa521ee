/* A comparison as the table of a terminal and as JSON. */
#include <inttypes.h>
#include <math.h>

#include "compare/compare.h"
#include "base/entry.h"
#include "base/utf8.h"
#include "base/text.h"
#include "result/format.h"
#include "base/json_out.h"
#include "samplers/sampler.h"

/* The three kernels that take most of the time of each device. */
static void append_kernels(struct ergo_text *t, const struct ergo_comparison *c) {
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        const struct ergo_profile *p = d->profile;
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
    const struct ergo_sampler *sampler = ergo_comparison_job(c)->sampler;
    const double base = c->devices[c->reference].result->rate;
    ergo_text_append(&t, "%s: %s on %zu device%s, rates in %s\n\n", ergo_comparison_job(c)->name,
                     sampler->name, c->n_devices, c->n_devices == 1 ? "" : "s", sampler->rate_unit);
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

static void put_costs(struct ergo_json_out *out, const struct ergo_compared_device *d) {
    static const char *const phases[ERGO_PHASES] = {"device", "build", "prepare",
                                                    "sample", "audit", "files"};
    const struct ergo_profile *p = d->profile;
    ergo_out_object(out, "phases");
    for (size_t k = 0; k < ERGO_PHASES; k++)
        ergo_out_number(out, phases[k], d->result->phases[k]);
    ergo_out_close(out, 1);
    ergo_out_raw(out, "device_bytes", "%" PRIu64, d->result->device_bytes);
    ergo_out_raw(out, "programs_built", "%u", d->result->built);
    ergo_out_raw(out, "programs_cached", "%u", d->result->loaded);
    ergo_out_number(out, "copy_bytes_per_second", d->copy_rate > 0 ? d->copy_rate : NAN);
    ergo_out_number(out, "joules", d->joules_work > 0 ? d->joules : NAN);
    ergo_out_number(out, "work_of_these_joules", d->joules_work > 0 ? d->joules_work : NAN);
    ergo_out_text(out, "kernels_timed_by", !p ? NULL : p->waits ? "host" : "events");
    ergo_out_array(out, "kernels");
    for (size_t k = 0; p && k < p->n_kernels; k++) {
        ergo_out_object(out, NULL);
        ergo_out_text(out, "name", p->kernels[k].name);
        ergo_out_raw(out, "launches", "%" PRIu64, p->kernels[k].launches);
        ergo_out_number(out, "seconds", p->kernels[k].seconds);
        ergo_out_number(out, "bytes", p->kernels[k].bytes);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

static void put_device(struct ergo_json_out *out, const struct ergo_compared_device *d) {
    ergo_out_object(out, NULL);
    ergo_out_text(out, "selector", d->selector);
    ergo_out_text(out, "folder", d->folder);
    ergo_out_number(out, "wall_seconds", d->seconds);
    if (d->message)
        ergo_out_text(out, "error", d->message);
    if (d->result) {
        ergo_out_text(out, "name", d->result->device.name);
        ergo_out_text(out, "platform", d->result->device.platform);
        ergo_out_text(out, "driver", d->result->device.driver);
        ergo_out_number(out, "rate", d->result->rate);
        ergo_out_number(out, "seconds", d->result->seconds);
        ergo_out_number(out, "host_seconds", d->result->host_seconds);
        ergo_out_raw(out, "points_that_differ", "%zu", d->n_different);
        ergo_out_bool(out, "same_samples", d->same_samples);
        ergo_out_array(out, "digests");
        for (size_t m = 0; m < d->result->n_members; m++)
            ergo_out_raw(out, NULL, "\"%016" PRIx64 "\"", d->result->members[m].digest);
        ergo_out_close(out, 1);
        put_costs(out, d);
    }
    ergo_out_close(out, 1);
}

enum ergo_status ergo_comparison_json(struct ergo_context *ctx,
                                      const struct ergo_comparison *comparison, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, comparison, text);
    const struct ergo_comparison *c = comparison;
    struct ergo_json_out out = {0};
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "ergocl", ERGO_VERSION);
    ergo_out_bool(&out, "agree", ergo_comparison_agrees(c));
    ergo_out_text(&out, "rate_unit", ergo_comparison_job(c)->sampler->rate_unit);
    ergo_out_raw(&out, "reference", "%zu", c->reference);
    if (c->first_device < c->n_devices) {
        ergo_out_object(&out, "first_difference");
        ergo_out_raw(&out, "device", "%zu", c->first_device);
        ergo_out_raw(&out, "point", "%zu", c->first_point);
        ergo_out_raw(&out, "last_same_step", "%" PRIu64, c->last_same);
        ergo_out_raw(&out, "first_different_step", "%" PRIu64, c->first_step);
        ergo_out_text(&out, "kernel", c->kernel);
        ergo_out_text(&out, "buffer", c->buffer);
        ergo_out_close(&out, 1);
    } else {
        ergo_out_text(&out, "first_difference", NULL);
    }
    ergo_out_text(&out, "vendor_file", c->vendor_file);
    ergo_out_array(&out, "devices");
    for (size_t i = 0; i < c->n_devices; i++)
        put_device(&out, &c->devices[i]);
    ergo_out_close(&out, 1);
    ergo_out_raw(&out, "job", "%s", ergo_comparison_job(c)->canonical);
    return ergo_out_give(ctx, &out, text);
}
