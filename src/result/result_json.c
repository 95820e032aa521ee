/* result.json, for scripts: `ergocl help result` says what is in it. */
#include "result/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"

static void append_device(struct ergo_text *text, size_t rank,
                          const struct ergo_device_summary *device) {
    ergo_text_append(text, "%s { \"rank\": %zu, ", rank ? "," : "", rank);
    ergo_json_pair(text, "id", device->id);
    ergo_json_pair(text, "name", device->name);
    ergo_json_pair(text, "driver", device->driver);
    ergo_text_append(text, " }");
}

static void append_array(struct ergo_text *text, const char *name, const double *x, size_t n) {
    ergo_json_key(text, name);
    ergo_text_append_bytes(text, "[", 1);
    for (size_t i = 0; i < n; i++) {
        if (i)
            ergo_text_append_bytes(text, ", ", 2);
        ergo_json_number(text, x[i]);
    }
    ergo_text_append_bytes(text, "]", 1);
}

/* Of an observable of a point: behind mean and error, which both have. */
static void append_rest(struct ergo_text *text, const struct ergo_observable_result *o,
                        uint64_t measure_every) {
    const struct ergo_estimate *estimate = &o->estimate;
    ergo_json_pair_number(text, "tau", estimate->tau * (double)measure_every); /* in steps */
    ergo_json_pair_number(text, "tau_error", estimate->tau_error * (double)measure_every);
    ergo_text_append(text, ", \"samples\": %" PRIu64 ", ", estimate->samples);
    ergo_json_pair(text, "unit", o->observable->unit ? o->observable->unit : "");
    if (estimate->too_short && o->trust != ERGO_TRUST_UNDEFINED && o->trust != ERGO_TRUST_NONE)
        ergo_text_append(text, ", \"too_short\": true");
    if (o->trust != ERGO_TRUST_FULL)
        ergo_json_pair(text, "untrusted", ergo_trust_name(o->trust));
    if (!isnan(o->exact)) {
        ergo_json_pair_number(text, "exact", o->exact);
        ergo_json_pair_number(text, "z", o->z);
    }
    if (o->reference_error > 0) {
        ergo_json_pair_number(text, "reference", o->reference);
        ergo_json_pair_number(text, "reference_error", o->reference_error);
        ergo_json_pair_number(text, "reference_z", o->reference_z);
    }
    ergo_text_append(text, " }");
}

static void append_value(struct ergo_text *text, const struct ergo_observable_result *o) {
    ergo_json_string(text, o->observable->name);
    ergo_text_append(text, ": { \"mean\": ");
    ergo_json_number(text, o->estimate.mean);
    ergo_json_pair_number(text, "error", o->estimate.error);
}

static void append_observable(struct ergo_text *text, const struct ergo_observable_result *o,
                              uint64_t measure_every) {
    append_value(text, o);
    ergo_json_pair_number(text, "error_binning", o->estimate.error_binning);
    append_rest(text, o, measure_every);
}

static void append_curves(struct ergo_text *text, const struct ergo_member_result *member,
                          const struct ergo_sampler_info *info) {
    const char *separator = "";
    ergo_text_append(text, "\n      \"curves\": {");
    for (size_t c = 0; c < info->n_curves; c++) {
        const struct ergo_curve_result *curve = &member->curves[c];
        if (!curve->size || (info->curves_hidden >> c & 1))
            continue;
        ergo_text_append(text, "%s\n        ", separator);
        ergo_json_string(text, curve->info->name);
        ergo_text_append(text, ": { ");
        ergo_json_pair(text, "x_label", curve->info->x_label ? curve->info->x_label : "");
        ergo_json_pair(text, "unit", curve->info->unit ? curve->info->unit : "");
        append_array(text, "x", curve->x, curve->size);
        append_array(text, "mean", curve->mean, curve->size);
        append_array(text, "error", curve->error, curve->size);
        if (curve->reference_z)
            append_array(text, "reference_z", curve->reference_z, curve->size);
        ergo_text_append(text, " }");
        separator = ",";
    }
    ergo_text_append(text, *separator ? "\n      }" : "}");
}

static void append_parameters(struct ergo_text *text, const struct ergo_point *point) {
    ergo_text_append(text, "    { \"parameters\": {");
    for (size_t i = 0; i < point->n_scanned; i++) {
        ergo_text_append(text, i ? ", " : " ");
        ergo_json_string(text, point->scanned[i].pointer);
        ergo_text_append(text, ": ");
        ergo_json_number(text, point->scanned[i].value);
    }
    ergo_text_append(text, "%s}", point->n_scanned ? " " : "");
}

static void append_point(struct ergo_text *text, const struct ergo_member_result *member,
                         const struct ergo_sampler_info *info) {
    const struct ergo_point *point = member->point;
    const char *separator = "";
    append_parameters(text, point);
    ergo_text_append(text, ", \"replica\": %" PRIu32 ", \"steps\": %" PRIu64 ", \"digest\": ",
                     point->replica, member->steps);
    if (member->steps)
        ergo_text_append(text, "\"%016" PRIx64 "\"", member->digest);
    else
        ergo_text_append(text, "null");
    ergo_text_append(text, ", \"stream\": \"%016" PRIx64 "\",\n      \"observables\": {",
                     point->stream);
    for (size_t o = 0; o < info->n_observables; o++) {
        if (!ergo_observable_shown(member->observables[o].observable, point))
            continue;
        ergo_text_append(text, "%s\n        ", separator);
        append_observable(text, &member->observables[o], member->measure_every);
        separator = ",";
    }
    ergo_text_append(text, *separator ? "\n      }," : "},");
    append_curves(text, member, info);
    ergo_text_append(text, "\n    }");
}

/* All replicas of a point together. */
static void append_mean(struct ergo_text *text, const struct ergo_result *result,
                        const struct ergo_mean_result *mean) {
    const struct ergo_sampler_info *info = result->job->sampler->info;
    const struct ergo_member_result *first = &result->members[mean->first];
    const char *separator = "";
    append_parameters(text, first->point);
    ergo_text_append(text, ", \"replicas\": %zu, \"measured\": %zu", mean->replicas,
                     mean->measured);
    if (mean->n_apart) {
        ergo_text_append(text, ", \"apart\": [");
        for (size_t k = 0; k < mean->n_apart; k++)
            ergo_text_append(text, "%s%" PRIu32, k ? ", " : "", mean->apart[k]);
        ergo_text_append(text, "]");
    }
    ergo_text_append(text, ",\n      \"observables\": {");
    for (size_t o = 0; o < info->n_observables; o++) {
        const struct ergo_scatter *scatter = &mean->scatters[o];
        if (!ergo_observable_shown(&info->observables[o], first->point))
            continue;
        ergo_text_append(text, "%s\n        ", separator);
        append_value(text, &mean->observables[o]);
        ergo_json_pair_number(text, "error_scatter", scatter->error_scatter);
        ergo_json_pair_number(text, "error_chains", scatter->error_chains);
        ergo_json_pair_number(text, "chi2", scatter->chi2);
        ergo_text_append(text, ", \"dof\": %zu", scatter->dof);
        append_rest(text, &mean->observables[o], first->measure_every);
        separator = ",";
    }
    ergo_text_append(text, *separator ? "\n      }\n    }" : "}\n    }");
}

/* With the rate: like all that a clock measured, it differs from run to run. */
static void append_merit(struct ergo_text *text, const struct ergo_result *result) {
    struct ergo_merit merit;
    if (!ergo_format_merit(result, &merit))
        return;
    ergo_text_append(text, ",\n    \"decorrelation\": { ");
    ergo_json_pair(text, "observable", merit.observable->name);
    ergo_json_pair_number(text, "independent_per_second", merit.independent);
    ergo_json_pair_number(text, "error", merit.independent_error);
    ergo_json_pair_number(text, "steps_per_second", merit.steps_per_second);
    ergo_json_pair_number(text, "tau", merit.tau);
    ergo_json_pair_number(text, "tau_error", merit.tau_error);
    ergo_text_append(text, merit.too_short ? ", \"too_short\": true }" : " }");
}

static void append_seed(struct ergo_text *text, const struct ergo_result *result) {
    const struct ergo_value *seed = NULL;
    if (result->n_members)
        seed = ergo_format_value(result->members[0].point, "/seed");
    else if (result->job->n_points)
        seed = ergo_format_value(&result->job->points[0], "/seed");
    if (seed) /* as text: JSON readers keep doubles */
        ergo_text_append(text, "\"%" PRIu64 "\"", seed->seed);
    else
        ergo_text_append(text, "null");
}

enum ergo_status ergo_result_json(struct ergo_context *ctx, const struct ergo_result *result,
                                  char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, result, text);
    const struct ergo_sampler_info *info = result->job->sampler->info;
    struct ergo_text out = {0};

    ergo_text_append(&out, "{\n  ");
    ergo_json_pair(&out, "ergocl", ERGO_VERSION);
    ergo_json_pair(&out, "sampler", info->name);
    ergo_text_append(&out, ", \"seed\": ");
    append_seed(&out, result);
    ergo_json_pair(&out, "status", result->status);
    ergo_text_append(&out, ",\n  ");
    ergo_json_pair(&out, "name", result->job->name);
    ergo_json_pair(&out, "started", result->started);
    ergo_json_pair(&out, "step_unit", info->step_name);
    ergo_text_append(&out, ",\n  \"device\": [");
    append_device(&out, 0, result->n_devices ? &result->devices[0] : &result->device);
    for (size_t r = 1; r < result->n_devices; r++)
        append_device(&out, r, &result->devices[r]);
    ergo_text_append(&out, " ],\n  \"points\": [");
    for (size_t m = 0; m < result->n_members; m++) {
        ergo_text_append(&out, m ? ",\n" : "\n");
        append_point(&out, &result->members[m], info);
    }
    ergo_text_append(&out, "%s],", result->n_members ? "\n  " : "");
    if (result->n_means) {
        ergo_text_append(&out, "\n  \"means\": [");
        for (size_t i = 0; i < result->n_means; i++) {
            ergo_text_append(&out, i ? ",\n" : "\n");
            append_mean(&out, result, &result->means[i]);
        }
        ergo_text_append(&out, "\n  ],");
    }
    ergo_text_append(&out, "\n  \"rate\": { \"value\": ");
    ergo_json_number(&out, result->rate);
    ergo_json_pair(&out, "unit", info->rate_unit);
    ergo_json_pair_number(&out, "seconds", result->seconds);
    if (isfinite(result->host_seconds)) {
        ergo_json_pair_number(&out, "host_seconds", result->host_seconds);
        ergo_json_pair_number(&out, "host_hidden_seconds", result->hidden_seconds);
    }
    append_merit(&out, result);
    ergo_text_append(&out, " },\n  \"warnings\": [");
    for (size_t w = 0; w < result->n_warnings; w++) {
        ergo_text_append(&out, w ? ",\n    " : "\n    ");
        ergo_json_string(&out, result->warnings[w]);
    }
    ergo_text_append(&out, "%s],\n  ", result->n_warnings ? "\n  " : "");
    if (result->comparison) {
        ergo_json_pair(&out, "comparison", result->comparison);
        ergo_text_append(&out, ",\n  ");
    }
    ergo_text_append(&out, "\"job\": ");
    if (result->job->canonical)
        ergo_text_append_bytes(&out, result->job->canonical, strlen(result->job->canonical));
    else
        ergo_text_append(&out, "null");
    ergo_text_append(&out, "\n}\n");

    *text = ergo_text_take(&out);
    if (!*text)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making result.json: out of memory");
    return ERGO_OK;
}

enum ergo_status ergo_result_write_json(struct ergo_context *ctx, const struct ergo_folder *folder,
                                        const struct ergo_result *result) {
    char *text = NULL;
    enum ergo_status status = ergo_result_json(ctx, result, &text);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, folder, "result.json", text, strlen(text));
    free(text);
    return status;
}
