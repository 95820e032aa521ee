/* result.json, for scripts. `ergocl help result` describes it. */
#include "result/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json_out.h"
#include "base/parallel.h"

static void put_device(struct ergo_json_out *out, size_t rank,
                       const struct ergo_device_summary *device) {
    ergo_out_object(out, NULL);
    ergo_out_raw(out, "rank", "%zu", rank);
    ergo_out_text(out, "id", device->id);
    ergo_out_text(out, "name", device->name);
    ergo_out_text(out, "driver", device->driver);
    ergo_out_close(out, 1);
}

/* The rest of an observable at a point, after mean and error. */
static void put_rest(struct ergo_json_out *out, const struct ergo_observable_result *o,
                     uint64_t measure_every) {
    const struct ergo_estimate *estimate = &o->estimate;
    ergo_out_number(out, "tau", estimate->tau * (double)measure_every); /* in steps */
    ergo_out_number(out, "tau_error", estimate->tau_error * (double)measure_every);
    ergo_out_raw(out, "samples", "%" PRIu64, estimate->samples);
    ergo_out_text(out, "unit", o->observable->unit ? o->observable->unit : "");
    if (estimate->too_short && o->trust != ERGO_TRUST_UNDEFINED && o->trust != ERGO_TRUST_NONE)
        ergo_out_bool(out, "too_short", true);
    if (o->trust != ERGO_TRUST_FULL)
        ergo_out_text(out, "untrusted", ergo_trust_name(o->trust));
    if (o->because)
        ergo_out_text(out, "because", o->because->name);
    if (!isnan(o->exact)) {
        ergo_out_number(out, "exact", o->exact);
        ergo_out_number(out, "z", o->z);
    }
    if (o->reference_error > 0) {
        ergo_out_number(out, "reference", o->reference);
        ergo_out_number(out, "reference_error", o->reference_error);
        ergo_out_number(out, "reference_z", o->reference_z);
    }
}

static void put_value(struct ergo_json_out *out, const struct ergo_observable_result *o) {
    ergo_out_object(out, o->observable->name);
    ergo_out_number(out, "mean", o->estimate.mean);
    ergo_out_number(out, "error", o->estimate.error);
}

static void put_curves(struct ergo_json_out *out, const struct ergo_member_result *member,
                       const struct ergo_model *model) {
    ergo_out_object(out, "curves");
    for (size_t c = 0; c < model->n_curves; c++) {
        const struct ergo_curve_result *curve = &member->curves[c];
        if (!curve->size || (model->curves_hidden >> c & 1))
            continue;
        ergo_out_object(out, curve->info->name);
        ergo_out_text(out, "x_label", curve->info->x_label ? curve->info->x_label : "");
        ergo_out_text(out, "unit", curve->info->unit ? curve->info->unit : "");
        ergo_out_numbers(out, "x", curve->x, curve->size);
        ergo_out_numbers(out, "mean", curve->mean, curve->size);
        ergo_out_numbers(out, "error", curve->error, curve->size);
        if (curve->trust != ERGO_TRUST_FULL)
            ergo_out_text(out, "untrusted", ergo_trust_name(curve->trust));
        if (curve->because)
            ergo_out_text(out, "because", curve->because->name);
        if (curve->reference_z)
            ergo_out_numbers(out, "reference_z", curve->reference_z, curve->size);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

static void put_parameters(struct ergo_json_out *out, const struct ergo_point *point) {
    ergo_out_object(out, "parameters");
    for (size_t i = 0; i < point->n_scanned; i++)
        ergo_out_number(out, point->scanned[i].pointer, point->scanned[i].value);
    ergo_out_close(out, 1);
}

/* What was chosen for the point (struct ergo_key, instead). */
static void put_chosen(struct ergo_json_out *out, const struct ergo_point *point) {
    ergo_out_object(out, "chosen");
    for (size_t k = 0; k < point->job->n_keys; k++)
        if (point->job->keys[k]->instead && !point->values[k].given)
            ergo_out_text(out, point->job->keys[k]->pointer, point->values[k].text);
    ergo_out_close(out, 1);
}

static void put_point(struct ergo_json_out *out, const struct ergo_member_result *member,
                      const struct ergo_model *model) {
    const struct ergo_point *point = member->point;
    ergo_out_object(out, NULL);
    put_parameters(out, point);
    put_chosen(out, point);
    ergo_out_raw(out, "replica", "%" PRIu32, point->replica);
    ergo_out_raw(out, "steps", "%" PRIu64, member->steps);
    if (member->steps)
        ergo_out_raw(out, "digest", "\"%016" PRIx64 "\"", member->digest);
    else
        ergo_out_text(out, "digest", NULL);
    ergo_out_raw(out, "stream", "\"%016" PRIx64 "\"", point->stream);
    ergo_out_object(out, "observables");
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable_result *one = &member->observables[o];
        if (!ergo_observable_shown(one->observable, point))
            continue;
        put_value(out, one);
        ergo_out_number(out, "error_binning", one->estimate.error_binning);
        put_rest(out, one, member->measure_every);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
    put_curves(out, member, model);
    ergo_out_close(out, 1);
}

/* Points are many, and their numbers take longest: all cores make the text. A piece of the points
 * is printed as if it were alone in the document, so that its lines begin where they would. */
enum { PIECE = 64 };

struct pieces {
    const struct ergo_result *result;
    char **texts; /* owned; NULL: there was no memory */
};

static void print_piece(size_t i, void *user) {
    ERGO_C_LOCALE; /* of this thread */
    struct pieces *pieces = user;
    const struct ergo_result *result = pieces->result;
    struct ergo_json_out out = {0};
    ergo_out_object(&out, NULL);
    ergo_out_array(&out, "points");
    for (size_t m = PIECE * i; m < PIECE * (i + 1) && m < result->n_members; m++)
        if (ergo_result_has(result, m))
            put_point(&out, &result->members[m], result->job->model);
    pieces->texts[i] = ergo_out_take(&out, false);
}

static void put_points(struct ergo_json_out *out, const struct ergo_result *result) {
    const size_t n = (result->n_members + PIECE - 1) / PIECE;
    struct pieces pieces = {result, calloc(n + 1, sizeof *pieces.texts)};
    struct ergo_text all = {0};
    bool ok = pieces.texts != NULL, any = false;
    if (ok)
        ergo_parallel(n, n, print_piece, &pieces);
    ergo_text_append(&all, "[");
    for (size_t i = 0; pieces.texts && i < n; i++) {
        const char *text = pieces.texts[i], *from = text ? strchr(text, '[') + 1 : NULL;
        ok = ok && text;
        if (ok) {
            const size_t length = (size_t)(strrchr(text, ']') - from);
            const bool empty = length == strspn(from, " \n"); /* all points are of other parts */
            ergo_text_append_bytes(&all, ", ", any && !empty ? 2 : 0);
            ergo_text_append_bytes(&all, from, empty ? 0 : length);
            any = any || !empty;
        }
        free(pieces.texts[i]);
    }
    free(pieces.texts);
    ergo_text_append(&all, "]");
    out->failed = out->failed || !ok;
    ergo_out_raw_text(out, "points", &all);
}

/* All replicas of a point together. */
static void put_mean(struct ergo_json_out *out, const struct ergo_result *result,
                     const struct ergo_mean_result *mean) {
    const struct ergo_model *model = result->job->model;
    const struct ergo_member_result *first = &result->members[mean->first];
    ergo_out_object(out, NULL);
    put_parameters(out, first->point);
    ergo_out_raw(out, "replicas", "%zu", mean->replicas);
    ergo_out_raw(out, "measured", "%zu", mean->measured);
    if (mean->n_apart) {
        ergo_out_array(out, "apart");
        for (size_t k = 0; k < mean->n_apart; k++)
            ergo_out_raw(out, NULL, "%" PRIu32, mean->apart[k]);
        ergo_out_close(out, 1);
    }
    ergo_out_object(out, "observables");
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_scatter *scatter = &mean->scatters[o];
        if (!ergo_observable_shown(&model->observables[o], first->point))
            continue;
        put_value(out, &mean->observables[o]);
        ergo_out_number(out, "error_scatter", scatter->error_scatter);
        ergo_out_number(out, "error_chains", scatter->error_chains);
        ergo_out_number(out, "chi2", scatter->chi2);
        ergo_out_raw(out, "dof", "%zu", scatter->dof);
        put_rest(out, &mean->observables[o], first->measure_every);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 2);
}

/* Stands with the rate: both depend on the clock and differ from run to run. */
static void put_merit(struct ergo_json_out *out, const struct ergo_result *result) {
    struct ergo_merit merit;
    if (!ergo_format_merit(result, &merit))
        return;
    ergo_out_object(out, "decorrelation");
    ergo_out_text(out, "observable", merit.observable->name);
    ergo_out_number(out, "independent_per_second", merit.independent);
    ergo_out_number(out, "error", merit.independent_error);
    ergo_out_number(out, "steps_per_second", merit.steps_per_second);
    ergo_out_number(out, "tau", merit.tau);
    ergo_out_number(out, "tau_error", merit.tau_error);
    if (merit.too_short)
        ergo_out_bool(out, "too_short", true);
    ergo_out_close(out, 1);
}

static void put_seed(struct ergo_json_out *out, const struct ergo_result *result) {
    const struct ergo_value *seed = NULL;
    if (result->n_members)
        seed = ergo_format_value(result->members[0].point, "/seed");
    else if (result->job->n_points)
        seed = ergo_format_value(&result->job->points[0], "/seed");
    if (seed) /* as text: JSON readers keep doubles */
        ergo_out_raw(out, "seed", "\"%" PRIu64 "\"", seed->seed);
    else
        ergo_out_text(out, "seed", NULL);
}

static void put_rate(struct ergo_json_out *out, const struct ergo_result *result) {
    ergo_out_object(out, "rate");
    ergo_out_number(out, "value", result->rate);
    ergo_out_text(out, "unit", result->job->sampler->rate_unit);
    ergo_out_number(out, "seconds", result->seconds);
    if (isfinite(result->host_seconds)) {
        ergo_out_number(out, "host_seconds", result->host_seconds);
        ergo_out_number(out, "host_hidden_seconds", result->hidden_seconds);
    }
    put_merit(out, result);
    ergo_out_close(out, 1);
}

static void put_audits(struct ergo_json_out *out, const struct ergo_result_audits *audits) {
    if (!*audits->device && !*audits->reason)
        return;
    ergo_out_object(out, "audits");
    ergo_out_text(out, "device", *audits->device ? audits->device : NULL);
    if (*audits->reason)
        ergo_out_text(out, "reason", audits->reason);
    ergo_out_bool(out, "varied", audits->varied);
    if (audits->known)
        ergo_out_text(out, "known_answer", audits->known);
    ergo_out_number(out, "stretches", (double)audits->stretches);
    ergo_out_number(out, "members", (double)audits->members);
    ergo_out_number(out, "steps", (double)audits->steps);
    ergo_out_number(out, "seconds", audits->seconds);
    ergo_out_close(out, 1);
}

enum ergo_status ergo_result_json(struct ergo_context *ctx, const struct ergo_result *result,
                                  char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, result, text);
    struct ergo_json_out out = {0};
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "ergocl", ERGO_VERSION);
    ergo_out_text(&out, "sampler", result->job->sampler->name);
    put_seed(&out, result);
    ergo_out_text(&out, "status", result->status);
    if (result->n_parts)
        ergo_out_raw(&out, "part", "\"%u/%u\"", result->part, result->n_parts);
    ergo_out_text(&out, "name", result->job->name);
    ergo_out_text(&out, "started", result->started);
    ergo_out_text(&out, "step_unit", result->job->sampler->step_name);
    ergo_out_array(&out, "device");
    put_device(&out, 0, result->n_devices ? &result->devices[0] : &result->device);
    for (size_t r = 1; r < result->n_devices; r++)
        put_device(&out, r, &result->devices[r]);
    ergo_out_close(&out, 1);
    if (*result->merge)
        ergo_out_text(&out, "merge", result->merge);
    ergo_out_text(&out, "series", ergo_kept_name(result->kept));
    put_points(&out, result);
    if (result->n_means) {
        ergo_out_array(&out, "means");
        for (size_t i = 0; i < result->n_means; i++)
            if (result->means[i].measured || !result->n_parts)
                put_mean(&out, result, &result->means[i]);
        ergo_out_close(&out, 1);
    }
    put_rate(&out, result);
    put_audits(&out, &result->audits);
    ergo_out_array(&out, "warnings");
    for (size_t w = 0; w < result->n_warnings; w++)
        ergo_out_text(&out, NULL, result->warnings[w]);
    ergo_out_close(&out, 1);
    if (result->comparison)
        ergo_out_text(&out, "comparison", result->comparison);
    ergo_out_raw(&out, "job", "%s", result->job->canonical ? result->job->canonical : "null");
    *text = ergo_out_take(&out, false);
    return *text ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "making result.json: out of memory");
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
