/*
 * series.h5: everything measured, for anyone with h5py. `layout` describes it, here and in the file
 * itself.
 */
#include "result/format.h"
#include "result/hdf5.h"
#include "result/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char layout[] =
    "points/NNNN: one group per point and replica, in job order. Attributes: the scanned "
    "parameters under their JSON pointers, replica, seed, stream, digest, steps, measure_every, "
    "equilibration_samples, step_unit. Datasets: one per recorded column, [n_samples], "
    "equilibration included (the first equilibration_samples of them; skip these before "
    "averaging), and 'step', the number of steps done at each sample; with /output/series "
    "\"blocks\" there are none of these. "
    "points/NNNN/curves/NAME: x, mean, error. "
    "points/NNNN/blocks/NAME: averages over consecutive blocks of measurements (/output/blocks). "
    "parameters/...: each scanned parameter and the replica as one array over the points. "
    "observables/NAME: mean, error, error_binning, tau (in steps), samples, exact, z as arrays "
    "over the points; NaN where not known. "
    "64-bit identifiers and the seed are text.";

/* After a failure `failed` is true, and all further calls do nothing. */
struct writer {
    hid_t file;
    hid_t string; /* UTF-8 of variable length: h5py gives str */
    hid_t links;  /* property: makes missing groups */
    bool deflate;
    bool failed;
};

static void attribute(struct writer *w, hid_t object, const char *name, hid_t stored, hid_t given,
                      const void *value) {
    if (w->failed)
        return;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t at = space < 0 ? -1 : H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    w->failed = at < 0 || H5Awrite(at, given, value) < 0;
    if (at >= 0)
        H5Aclose(at);
    if (space >= 0)
        H5Sclose(space);
}

static void attribute_text(struct writer *w, hid_t object, const char *name, const char *value) {
    const char *text = value ? value : "";
    attribute(w, object, name, w->string, w->string, &text);
}

static void attribute_count(struct writer *w, hid_t object, const char *name, uint64_t value) {
    attribute(w, object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

static void attribute_real(struct writer *w, hid_t object, const char *name, double value) {
    attribute(w, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

static hid_t open_group(struct writer *w, hid_t at, const char *name) {
    if (w->failed)
        return -1;
    hid_t group = H5Gcreate2(at, name, w->links, H5P_DEFAULT, H5P_DEFAULT);
    w->failed = group < 0;
    return group;
}

static void close_group(struct writer *w, hid_t group) {
    if (group >= 0 && H5Gclose(group) < 0)
        w->failed = true;
}

/*
 * Short arrays are stored as they are: chunks and filters would cost more than they save.
 * Deflate 1: 155 MB/s and a factor 4.5 on series of a lattice model, level 6 only 26 MB/s for 5.1.
 * Shuffling bytes first helps counters, but costs lattice series a quarter (3.3), whose values
 * come from a small set of doubles. (h5py 3.7, one core, 24 x 24 Ising.)
 */
static hid_t creation_of(const struct writer *w, hsize_t n, bool counter) {
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (creation < 0)
        return -1;
    /* no times of creation: the same run gives the same file */
    bool ok = H5Pset_obj_track_times(creation, 0) >= 0;
    if (n >= 256) {
        hsize_t chunk = n < 65536 ? n : 65536;
        ok = ok && H5Pset_chunk(creation, 1, &chunk) >= 0;
        if (w->deflate)
            ok = ok && (!counter || H5Pset_shuffle(creation) >= 0) &&
                 H5Pset_deflate(creation, 1) >= 0;
        ok = ok && H5Pset_fletcher32(creation) >= 0;
    }
    if (ok)
        return creation;
    H5Pclose(creation);
    return -1;
}

static void dataset(struct writer *w, hid_t at, const char *name, hid_t stored, hid_t given,
                    const void *data, size_t count, const char *unit, const char *help) {
    if (w->failed)
        return;
    hsize_t n = count;
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t creation = creation_of(w, n, H5Tget_class(stored) == H5T_INTEGER);
    hid_t set = space < 0 || creation < 0
                    ? -1
                    : H5Dcreate2(at, name, stored, space, w->links, creation, H5P_DEFAULT);
    w->failed = set < 0 || (n && H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0);
    if (unit)
        attribute_text(w, set, "unit", unit);
    if (help)
        attribute_text(w, set, "description", help);
    if (set >= 0 && H5Dclose(set) < 0)
        w->failed = true;
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
}

static void dataset_real(struct writer *w, hid_t at, const char *name, const double *data,
                         size_t count, const char *unit, const char *help) {
    dataset(w, at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, data, count, unit, help);
}

static void write_steps(struct writer *w, hid_t group, const struct ergo_member_result *member) {
    uint64_t *steps = calloc(member->n_samples + 1, sizeof *steps);
    if (!steps) {
        w->failed = true;
        return;
    }
    for (size_t i = 0; i < member->n_samples; i++)
        steps[i] = member->lead + (i + 1) * member->measure_every;
    dataset(w, group, "step", H5T_STD_U64LE, H5T_NATIVE_UINT64, steps, member->n_samples, "",
            "steps done when the sample was taken");
    free(steps);
}

static void write_curves(struct writer *w, hid_t group, const struct ergo_member_result *member,
                         size_t n_curves) {
    for (size_t c = 0; c < n_curves; c++) {
        const struct ergo_curve_result *curve = &member->curves[c];
        if (!curve->size)
            continue;
        char path[128];
        snprintf(path, sizeof path, "curves/%.100s", curve->info->name);
        hid_t at = open_group(w, group, path);
        attribute_text(w, at, "description", curve->info->help);
        dataset_real(w, at, "x", curve->x, curve->size, curve->info->x_label, NULL);
        dataset_real(w, at, "mean", curve->mean, curve->size, curve->info->unit, NULL);
        dataset_real(w, at, "error", curve->error, curve->size, curve->info->unit,
                     "one standard error of the mean");
        close_group(w, at);
    }
}

static void write_blocks(struct writer *w, hid_t group, const struct ergo_member_result *member,
                         const struct ergo_model *model) {
    const size_t count = ergo_blocks_count(member);
    double *means = count ? malloc(count * sizeof *means) : NULL;
    if (!means) {
        w->failed = w->failed || count;
        return;
    }
    hid_t at = open_group(w, group, "blocks");
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *observable = &model->observables[o];
        if (!observable->sample || !ergo_observable_shown(observable, member->point))
            continue;
        for (size_t b = 0; b < count; b++)
            means[b] = ergo_blocks_mean(model, member, observable, b);
        dataset_real(w, at, observable->name, means, count, observable->unit, observable->help);
    }
    close_group(w, at);
    free(means);
}

static void write_point(struct writer *w, hid_t points, size_t index,
                        const struct ergo_member_result *member, const struct ergo_model *model) {
    const struct ergo_point *point = member->point;
    const struct ergo_value *seed = ergo_format_value(point, "/seed");
    char text[32];
    snprintf(text, sizeof text, "%04zu", index);
    hid_t group = open_group(w, points, text);
    for (size_t i = 0; i < point->n_scanned; i++)
        attribute_real(w, group, point->scanned[i].pointer, point->scanned[i].value);
    attribute_count(w, group, "replica", point->replica);
    snprintf(text, sizeof text, "%" PRIu64, seed ? seed->seed : 0);
    attribute_text(w, group, "seed", seed ? text : "");
    snprintf(text, sizeof text, "%016" PRIx64, point->stream);
    attribute_text(w, group, "stream", text);
    snprintf(text, sizeof text, "%016" PRIx64, member->digest);
    attribute_text(w, group, "digest", text);
    attribute_count(w, group, "steps", member->steps);
    attribute_count(w, group, "measure_every", member->measure_every);
    attribute_count(w, group, "equilibration_samples", member->n_equilibration);
    attribute_text(w, group, "step_unit", point->job->sampler->step_name);
    if (member->series)
        write_steps(w, group, member);
    for (size_t c = 0; member->series && c < model->n_columns; c++)
        if (ergo_point_has_column(point, c))
            dataset_real(w, group, model->columns[c].name, member->series[c], member->n_samples,
                         model->columns[c].unit, model->columns[c].help);
    write_curves(w, group, member, model->n_curves);
    write_blocks(w, group, member, model);
    close_group(w, group);
}

/* Writes one array over the points, of a number that `pick` takes from each member. */
typedef double (*pick_function)(const struct ergo_member_result *member, size_t index);

static void write_over_points(struct writer *w, hid_t at, const char *name,
                              const struct ergo_result *result, pick_function pick, size_t index,
                              const char *unit, const char *help) {
    double *values = calloc(result->n_members + 1, sizeof *values);
    if (!values) {
        w->failed = true;
        return;
    }
    for (size_t m = 0; m < result->n_members; m++)
        values[m] = pick(&result->members[m], index);
    dataset_real(w, at, name, values, result->n_members, unit, help);
    free(values);
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

/* Does another observable, of the job's model, have the same name as observable o? */
static bool is_others(const struct ergo_model *model, size_t o, const struct ergo_point *point) {
    bool twice = false;
    for (size_t k = 0; k < model->n_observables; k++)
        twice = twice ||
                (k != o && strcmp(model->observables[k].name, model->observables[o].name) == 0);
    return twice && !model->observables[o].applies(point);
}

static void write_tables(struct writer *w, const struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    char path[160];
    const struct ergo_point *first = result->n_members ? result->members[0].point : NULL;
    for (size_t i = 0; first && i < first->n_scanned; i++) {
        const struct ergo_key *key = ergo_format_key(result->job, first->scanned[i].pointer);
        snprintf(path, sizeof path, "parameters%.140s", first->scanned[i].pointer);
        write_over_points(w, w->file, path, result, pick_scanned, i, key ? key->unit : "",
                          key ? key->help : NULL);
    }
    write_over_points(w, w->file, "parameters/replica", result, pick_replica, 0, "", NULL);
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *observable = &model->observables[o];
        const char *unit = observable->unit ? observable->unit : "";
        if (first && (!ergo_point_asks(first, observable->name) || is_others(model, o, first)))
            continue;
        snprintf(path, sizeof path, "observables/%.140s", observable->name);
        hid_t at = open_group(w, w->file, path);
        attribute_text(w, at, "unit", unit);
        attribute_text(w, at, "description", observable->help);
        write_over_points(w, at, "mean", result, pick_mean, o, unit, NULL);
        write_over_points(w, at, "error", result, pick_error, o, unit,
                          "one standard error of the mean, autocorrelation included");
        write_over_points(w, at, "error_binning", result, pick_binning, o, unit,
                          "the same from logarithmic binning");
        write_over_points(w, at, "tau", result, pick_tau, o, result->job->sampler->step_name,
                          "integrated autocorrelation time");
        write_over_points(w, at, "samples", result, pick_samples, o, "", NULL);
        write_over_points(w, at, "exact", result, pick_exact, o, unit, NULL);
        write_over_points(w, at, "z", result, pick_z, o, "", "(mean - exact) / error");
        close_group(w, at);
    }
}

static void write_all(struct writer *w, const struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    attribute_text(w, w->file, "ergocl", ERGO_VERSION);
    attribute_text(w, w->file, "sampler", result->job->sampler->name);
    attribute_text(w, w->file, "citation", result->job->sampler->citation);
    attribute_text(w, w->file, "status", result->status);
    attribute_text(w, w->file, "started", result->started);
    attribute_text(w, w->file, "device", result->device.name);
    attribute_text(w, w->file, "driver", result->device.driver);
    attribute_text(w, w->file, "job", result->job->canonical);
    attribute_text(w, w->file, "layout", layout);
    hid_t points = open_group(w, w->file, "points");
    for (size_t m = 0; m < result->n_members && !w->failed; m++)
        write_point(w, points, m, &result->members[m], model);
    close_group(w, points);
    write_tables(w, result);
}

enum ergo_status ergo_result_write_series(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result) {
    enum ergo_status status = ERGO_OK;
    struct ergo_hdf5_session session;
    struct writer w = {-1, -1, -1, false, false};
    uint8_t *image = NULL;
    size_t length = 0, expected = 65536;

    if (result->kept == ERGO_KEPT_NONE)
        return ERGO_OK;
    for (size_t m = 0; m < result->n_members && result->kept == ERGO_KEPT_FULL; m++)
        expected += 8 * result->members[m].n_samples;
    ergo_hdf5_begin(&session);
    w.file = ergo_hdf5_create(expected);
    w.string = H5Tcopy(H5T_C_S1);
    w.links = H5Pcreate(H5P_LINK_CREATE);
    w.deflate = H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
    w.failed = w.file < 0 || w.string < 0 || w.links < 0 ||
               H5Tset_size(w.string, H5T_VARIABLE) < 0 ||
               H5Tset_cset(w.string, H5T_CSET_UTF8) < 0 ||
               H5Pset_create_intermediate_group(w.links, 1) < 0;
    if (!w.failed)
        write_all(&w, result);
    if (w.failed || !ergo_hdf5_image(w.file, &image, &length))
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot make %s/series.h5: %s", folder->path, session.reason);
    if (w.links >= 0)
        H5Pclose(w.links);
    if (w.string >= 0)
        H5Tclose(w.string);
    if (w.file >= 0)
        H5Fclose(w.file);
    ergo_hdf5_end(&session);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, folder, "series.h5", image, length);
    free(image);
    return status;
}
