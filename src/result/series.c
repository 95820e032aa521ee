/*
 * series.h5: everything measured, for anyone with h5py. `layout` describes it, here and in the file
 * itself.
 */
#include "result/format.h"
#include "result/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char layout[] =
    "All arrays are over the points, replicas included, in job order; NaN: no such number. "
    "parameters/...: each scanned parameter under its JSON pointer, and the replica, [points]. "
    "points/NAME, [points]: stream, digest, steps, measure_every, samples and, the first of these, "
    "equilibration_samples. "
    "samples/NAME, [points, samples]: a dataset for each recorded column, equilibration included "
    "(skip the first equilibration_samples of a row before averaging); a point with fewer samples "
    "than others has NaN behind them; with /output/series \"blocks\" there are none. samples/step: "
    "steps done at each sample. "
    "blocks/NAME, [points, blocks]: averages over consecutive blocks of measurements "
    "(/output/blocks). "
    "curves/NAME/x, mean, error, [points, size]. "
    "observables/NAME/mean, error, error_binning, tau (in steps), samples, exact, z, [points]. "
    "samples/step and curves/NAME/x are a single row where all points share it. "
    "Dimensions have labels, and scales (HDF5's dimension scales, h5py's dims): of points the "
    "parameters, of samples their step, of curves x, where all points share it. "
    "64-bit identifiers and the seed are text.";

/* ---- arrays [points, n] ---------------------------------------------------------------------- */

/* What a row of an array is taken from. */
struct rows {
    const struct ergo_result *result;
    size_t index; /* of the column, curve or observable */
    bool shared;  /* one row for all points */
    size_t first; /* of the rows; a curve's: */
    size_t at;    /* in struct ergo_curve_result */
};

/* Copies numbers [begin, begin + count) of n, NaN beyond. */
static void copy_real(double *to, const double *from, size_t n, size_t begin, size_t count) {
    const size_t have = from && n > begin ? n - begin : 0, some = have < count ? have : count;
    if (some)
        memcpy(to, from + begin, some * sizeof *to);
    for (size_t i = some; i < count; i++)
        to[i] = NAN;
}

static void fill_samples(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct rows *rows = from;
    const struct ergo_member_result *m = &rows->result->members[row];
    copy_real(to, m->series ? m->series[rows->index] : NULL, m->n_samples, begin, count);
}

static void fill_steps(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct rows *rows = from;
    const struct ergo_member_result *m = &rows->result->members[row];
    uint64_t *steps = to;
    for (size_t i = 0; i < count; i++)
        steps[i] = rows->shared || begin + i < m->n_samples
                       ? m->lead + (begin + i + 1) * m->measure_every
                       : 0;
}

static void fill_blocks(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct rows *rows = from;
    const struct ergo_model *model = rows->result->job->model;
    const struct ergo_member_result *m = &rows->result->members[row];
    const size_t have = ergo_blocks_count(m);
    double *means = to;
    for (size_t i = 0; i < count; i++)
        means[i] = begin + i < have
                       ? ergo_blocks_mean(model, m, &model->observables[rows->index], begin + i)
                       : NAN;
}

/* Of a curve the array that is there in its struct; where all points share it, of a row for all. */
static void fill_curve(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct rows *rows = from;
    const struct ergo_curve_result *c =
        &rows->result->members[rows->first + row].curves[rows->index];
    copy_real(to, *(double *const *)(const void *)((const char *)c + rows->at), c->size, begin,
              count);
}

static void write_samples(struct ergo_series_writer *w) {
    const struct ergo_result *result = w->result;
    const struct ergo_model *model = result->job->model;
    struct rows rows = {.result = result, .shared = true};
    const struct ergo_member_result *first = result->members;
    size_t longest = 0;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_member_result *member = &result->members[m];
        if (member->series && member->n_samples > longest)
            longest = member->n_samples;
        rows.shared = rows.shared && member->lead == first->lead &&
                      member->measure_every == first->measure_every;
    }
    if (!longest)
        return;
    const struct ergo_array steps = {ERGO_ARRAY_COUNT, rows.shared ? 0 : result->n_members, longest,
                                     fill_steps, &rows};
    const hid_t step = ergo_series_open(w, w->file, "samples/step", &steps, "",
                                        "steps done when the sample was taken");
    if (rows.shared)
        ergo_series_make_scale(w, step, "step");
    const hid_t scale = rows.shared ? step : -1;
    for (size_t c = 0; c < model->n_columns; c++) {
        char path[160];
        bool recorded = false;
        for (size_t m = 0; m < result->n_members; m++)
            recorded = recorded || (result->members[m].series && result->members[m].series[c]);
        if (!recorded)
            continue;
        rows.index = c;
        const struct ergo_array samples = {ERGO_ARRAY_REAL, result->n_members, longest,
                                           fill_samples, &rows};
        snprintf(path, sizeof path, "samples/%.140s", model->columns[c].name);
        ergo_series_dataset(w, w->file, path, &samples, model->columns[c].unit,
                            model->columns[c].help, "samples", scale);
    }
    ergo_series_close(w, step);
}

static void write_blocks(struct ergo_series_writer *w) {
    const struct ergo_result *result = w->result;
    const struct ergo_model *model = result->job->model;
    size_t most = 0;
    for (size_t m = 0; m < result->n_members; m++)
        if (ergo_blocks_count(&result->members[m]) > most)
            most = ergo_blocks_count(&result->members[m]);
    for (size_t o = 0; o < model->n_observables && most; o++) {
        const struct ergo_observable *observable = &model->observables[o];
        const struct rows rows = {.result = result, .index = o};
        const struct ergo_array blocks = {ERGO_ARRAY_REAL, result->n_members, most, fill_blocks,
                                          &rows};
        char path[160];
        if (!ergo_observable_sampled(observable) ||
            !ergo_observable_shown(observable, result->members[0].point))
            continue;
        snprintf(path, sizeof path, "blocks/%.140s", observable->name);
        ergo_series_dataset(w, w->file, path, &blocks, observable->unit, observable->help, "blocks",
                            -1);
    }
}

/* The first member that has the longest curve c, which all others share if `shared`; n_members:
 * none has it. */
static size_t longest_curve(const struct ergo_result *result, size_t c, bool *shared) {
    size_t at = result->n_members;
    *shared = true;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_curve_result *one = &result->members[m].curves[c];
        const struct ergo_curve_result *longest =
            at < result->n_members ? &result->members[at].curves[c] : NULL;
        if (!one->size)
            continue;
        *shared =
            *shared && (!longest || (one->size == longest->size &&
                                     !memcmp(one->x, longest->x, one->size * sizeof(double))));
        if (!longest || one->size > longest->size)
            at = m;
    }
    return at;
}

static void write_curves(struct ergo_series_writer *w) {
    const struct ergo_result *result = w->result;
    for (size_t c = 0; c < result->job->model->n_curves; c++) {
        bool shared = false;
        const size_t at = longest_curve(result, c, &shared);
        if (at == result->n_members)
            continue;
        const struct ergo_curve_result *longest = &result->members[at].curves[c];
        struct rows rows = {.result = result,
                            .index = c,
                            .first = shared ? at : 0,
                            .at = offsetof(struct ergo_curve_result, x)};
        struct ergo_array array = {ERGO_ARRAY_REAL, shared ? 0 : result->n_members, longest->size,
                                   fill_curve, &rows};
        char path[160];
        snprintf(path, sizeof path, "curves/%.140s", longest->info->name);
        hid_t group = ergo_series_open_group(w, w->file, path);
        ergo_series_attribute(w, group, "description", longest->info->help);
        const hid_t x = ergo_series_open(w, group, "x", &array, longest->info->x_label, NULL);
        if (shared)
            ergo_series_make_scale(w, x, longest->info->x_label);
        array.rows = result->n_members;
        rows.first = 0;
        rows.at = offsetof(struct ergo_curve_result, mean);
        ergo_series_dataset(w, group, "mean", &array, longest->info->unit, NULL, "x",
                            shared ? x : -1);
        rows.at = offsetof(struct ergo_curve_result, error);
        ergo_series_dataset(w, group, "error", &array, longest->info->unit,
                            "one standard error of the mean", "x", shared ? x : -1);
        ergo_series_close(w, x);
        ergo_series_close_group(w, group);
    }
}

/* ---- arrays [points] ------------------------------------------------------------------------- */

/* A number that `pick` takes from each point. */
struct over_points {
    const struct ergo_result *result;
    double (*pick)(const struct ergo_member_result *member, size_t index);
    size_t index;
};

static void fill_picked(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct over_points *over = from;
    double *values = to;
    (void)row;
    for (size_t i = 0; i < count; i++)
        values[i] = over->pick(&over->result->members[begin + i], over->index);
}

typedef double (*pick_function)(const struct ergo_member_result *member, size_t index);

static void write_over_points(struct ergo_series_writer *w, hid_t at, const char *name,
                              pick_function pick, size_t index, const char *unit,
                              const char *help) {
    const struct over_points over = {w->result, pick, index};
    const struct ergo_array array = {ERGO_ARRAY_REAL, 0, w->result->n_members, fill_picked, &over};
    ergo_series_dataset(w, at, name, &array, unit, help, NULL, -1);
}

/* The same as a scale of all other arrays over points, which stays open. */
static void write_scale(struct ergo_series_writer *w, const char *path, const char *name,
                        pick_function pick, size_t index, const char *unit, const char *help) {
    const struct over_points over = {w->result, pick, index};
    const struct ergo_array array = {ERGO_ARRAY_REAL, 0, w->result->n_members, fill_picked, &over};
    const hid_t set = ergo_series_open(w, w->file, path, &array, unit, help);
    ergo_series_make_scale(w, set, name);
    if (set >= 0)
        w->scales[w->n_scales++] = set;
}

static double pick_scanned(const struct ergo_member_result *m, size_t i) {
    return m->point->scanned[i].value;
}
static double pick_replica(const struct ergo_member_result *m, size_t i) {
    (void)i;
    return (double)m->point->replica;
}
static double pick_mean(const struct ergo_member_result *m, size_t i) {
    return m->observables[i].estimate.mean;
}
static double pick_error(const struct ergo_member_result *m, size_t i) {
    return m->observables[i].estimate.error;
}
static double pick_binning(const struct ergo_member_result *m, size_t i) {
    return m->observables[i].estimate.error_binning;
}
static double pick_tau(const struct ergo_member_result *m, size_t i) {
    return m->observables[i].estimate.tau * (double)m->measure_every;
}
static double pick_samples(const struct ergo_member_result *m, size_t i) {
    return (double)m->observables[i].estimate.samples;
}
static double pick_exact(const struct ergo_member_result *m, size_t i) {
    return m->observables[i].exact;
}
static double pick_z(const struct ergo_member_result *m, size_t i) {
    return m->observables[i].z;
}

/* The same for 64-bit counts. */
struct counts {
    const struct ergo_result *result;
    uint64_t (*pick)(const struct ergo_member_result *member);
};

static void fill_counts(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct counts *counts = from;
    uint64_t *values = to;
    (void)row;
    for (size_t i = 0; i < count; i++)
        values[i] = counts->pick(&counts->result->members[begin + i]);
}

/* Identifiers, as in result.json. */
static void fill_identifiers(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct counts *counts = from;
    char *texts = to;
    (void)row;
    for (size_t i = 0; i < count; i++) {
        char text[ERGO_ARRAY_TEXT + 1];
        snprintf(text, sizeof text, "%016" PRIx64,
                 counts->pick(&counts->result->members[begin + i]));
        memcpy(texts + i * ERGO_ARRAY_TEXT, text, ERGO_ARRAY_TEXT);
    }
}

static uint64_t pick_stream(const struct ergo_member_result *m) {
    return m->point->stream;
}
static uint64_t pick_digest(const struct ergo_member_result *m) {
    return m->digest;
}
static uint64_t pick_steps(const struct ergo_member_result *m) {
    return m->steps;
}
static uint64_t pick_every(const struct ergo_member_result *m) {
    return m->measure_every;
}
static uint64_t pick_taken(const struct ergo_member_result *m) {
    return m->n_samples;
}
static uint64_t pick_equilibration(const struct ergo_member_result *m) {
    return m->n_equilibration;
}

static void write_points(struct ergo_series_writer *w) {
    static const struct {
        const char *name;
        enum ergo_array_kind kind;
        uint64_t (*pick)(const struct ergo_member_result *member);
        const char *help;
    } all[] = {
        {"points/stream", ERGO_ARRAY_TEXTS, pick_stream, "key of the point's random numbers"},
        {"points/digest", ERGO_ARRAY_TEXTS, pick_digest, "of the state after the last step"},
        {"points/steps", ERGO_ARRAY_COUNT, pick_steps, "steps done, equilibration included"},
        {"points/measure_every", ERGO_ARRAY_COUNT, pick_every, "steps between samples"},
        {"points/samples", ERGO_ARRAY_COUNT, pick_taken, "samples, equilibration included"},
        {"points/equilibration_samples", ERGO_ARRAY_COUNT, pick_equilibration,
         "samples before measuring began"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const struct counts counts = {w->result, all[k].pick};
        const struct ergo_array array = {
            all[k].kind, 0, w->result->n_members,
            all[k].kind == ERGO_ARRAY_TEXTS ? fill_identifiers : fill_counts, &counts};
        ergo_series_dataset(w, w->file, all[k].name, &array, "", all[k].help, NULL, -1);
    }
}

/* Does another observable, of the job's model, have the same name as observable o? */
static bool is_others(const struct ergo_model *model, size_t o, const struct ergo_point *point) {
    bool twice = false;
    for (size_t k = 0; k < model->n_observables; k++)
        twice = twice ||
                (k != o && strcmp(model->observables[k].name, model->observables[o].name) == 0);
    return twice && !model->observables[o].applies(point);
}

static void write_parameters(struct ergo_series_writer *w) {
    const struct ergo_result *result = w->result;
    char path[160];
    const struct ergo_point *first = result->n_members ? result->members[0].point : NULL;
    for (size_t i = 0; first && i < first->n_scanned; i++) {
        const struct ergo_key *key = ergo_format_key(result->job, first->scanned[i].pointer);
        snprintf(path, sizeof path, "parameters%.140s", first->scanned[i].pointer);
        write_scale(w, path, first->scanned[i].pointer, pick_scanned, i, key ? key->unit : "",
                    key ? key->help : NULL);
    }
    write_scale(w, "parameters/replica", "replica", pick_replica, 0, "", NULL);
}

static void write_tables(struct ergo_series_writer *w) {
    const struct ergo_result *result = w->result;
    const struct ergo_model *model = result->job->model;
    const struct ergo_point *first = result->n_members ? result->members[0].point : NULL;
    char path[160];
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *observable = &model->observables[o];
        const char *unit = observable->unit ? observable->unit : "";
        if (first && (!ergo_point_asks(first, observable->name) || is_others(model, o, first)))
            continue;
        snprintf(path, sizeof path, "observables/%.140s", observable->name);
        hid_t at = ergo_series_open_group(w, w->file, path);
        ergo_series_attribute(w, at, "unit", unit);
        ergo_series_attribute(w, at, "description", observable->help);
        write_over_points(w, at, "mean", pick_mean, o, unit, NULL);
        write_over_points(w, at, "error", pick_error, o, unit,
                          "one standard error of the mean, autocorrelation included");
        write_over_points(w, at, "error_binning", pick_binning, o, unit,
                          "the same from logarithmic binning");
        write_over_points(w, at, "tau", pick_tau, o, result->job->sampler->step_name,
                          "integrated autocorrelation time");
        write_over_points(w, at, "samples", pick_samples, o, "", NULL);
        write_over_points(w, at, "exact", pick_exact, o, unit, NULL);
        write_over_points(w, at, "z", pick_z, o, "", "(mean - exact) / error");
        ergo_series_close_group(w, at);
    }
}

static void write_all(struct ergo_series_writer *w) {
    const struct ergo_result *result = w->result;
    const struct ergo_value *seed =
        result->n_members ? ergo_format_value(result->members[0].point, "/seed") : NULL;
    char number[32] = "";
    if (seed)
        snprintf(number, sizeof number, "%" PRIu64, seed->seed);
    ergo_series_attribute(w, w->file, "ergocl", ERGO_VERSION);
    ergo_series_attribute(w, w->file, "sampler", result->job->sampler->name);
    ergo_series_attribute(w, w->file, "citation", result->job->sampler->citation);
    ergo_series_attribute(w, w->file, "status", result->status);
    ergo_series_attribute(w, w->file, "started", result->started);
    ergo_series_attribute(w, w->file, "seed", number);
    ergo_series_attribute(w, w->file, "step_unit", result->job->sampler->step_name);
    ergo_series_attribute(w, w->file, "device", result->device.name);
    ergo_series_attribute(w, w->file, "driver", result->device.driver);
    ergo_series_attribute(w, w->file, "job", result->job->canonical);
    ergo_series_attribute(w, w->file, "layout", layout);
    write_parameters(w);
    write_points(w);
    write_samples(w);
    write_blocks(w);
    write_curves(w);
    write_tables(w);
}

enum ergo_status ergo_result_write_series(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result) {
    enum ergo_status status = ERGO_OK;
    struct ergo_hdf5_session session;
    struct ergo_series_writer w = {.file = -1, .string = -1, .links = -1, .result = result};
    uint8_t *image = NULL;
    size_t length = 0, expected = 65536;

    if (result->kept == ERGO_KEPT_NONE)
        return ERGO_OK;
    for (size_t m = 0; m < result->n_members && result->kept == ERGO_KEPT_FULL; m++)
        expected += 8 * result->members[m].n_samples;
    ergo_hdf5_begin(&session);
    ergo_series_begin(&w);
    w.file = ergo_hdf5_create(expected);
    w.failed = w.failed || w.file < 0;
    if (!w.failed)
        write_all(&w);
    for (size_t i = 0; i < w.n_scales; i++)
        ergo_series_close(&w, w.scales[i]);
    if (w.failed || !ergo_hdf5_image(w.file, &image, &length))
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot make %s/series.h5: %s", folder->path, session.reason);
    ergo_series_end(&w);
    ergo_hdf5_end(&session);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, folder, "series.h5", image, length);
    free(image);
    return status;
}
