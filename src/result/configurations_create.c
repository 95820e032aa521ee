/* A new configurations.h5, by HDF5: all datasets, with room for all frames, of which none is
 * written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/configurations.h"
#include "result/series.h"

static const char layout[] =
    "Groups batch0, batch1, ... have the points, replicas included, that agree in size and length. "
    "In each: point, [points]: their numbers, as in result.json and series.h5; replica, stream; "
    "parameters/...: each scanned parameter under its JSON pointer. step, [points, frames]: steps "
    "(equilibration included) after which a frame was taken; -1: not written yet. spins, "
    "[points, frames, ...]: the configurations; its attribute axes names the other dimensions, "
    "description says what a value is. Where there is an attribute bits, so many sites along the "
    "last axis are packed into bytes: site i is bit i % 8 of byte i // 8 (numpy.unpackbits, "
    "bitorder='little'). Where there is an attribute systems, the axis word has so many systems, "
    "32 "
    "in a number: bit k of word w is that of system 32 w + k. Along an axis plane is the binary "
    "number of a state, the lowest bit first. Where there is an attribute scale, a value is the "
    "stored number times it. Other arrays: what a start needs beside the spins. Numbers are "
    "little-endian. Arrays are in one piece each, at offsets that the text says with which the "
    "file "
    "begins. In Python: ergocl.configurations(FOLDER)";

/* What is being written. */
struct creation {
    struct ergo_series_writer w; /* its attributes and failures */
    const struct ergo_job *job;
    hid_t early, plain; /* creation properties: room without a write; times are not tracked */
};

static hid_t element_of(const struct ergo_form_part *part) {
    return part->element == 1 ? H5T_STD_U8LE : part->is_signed ? H5T_STD_I32LE : H5T_STD_U32LE;
}

/* A dataset; negative after a failure. */
static hid_t create(struct creation *k, hid_t at, const char *name, hid_t type, unsigned n,
                    const hsize_t *shape, hid_t properties) {
    if (k->w.failed)
        return -1;
    const hid_t space = H5Screate_simple((int)n, shape, NULL);
    const hid_t set =
        space < 0 ? -1 : H5Dcreate2(at, name, type, space, k->w.links, properties, H5P_DEFAULT);
    k->w.failed = set < 0;
    if (space >= 0)
        H5Sclose(space);
    return set;
}

/* Where a dataset is, which is closed; one without elements is nowhere. */
static uint64_t place(struct creation *k, hid_t set, uint64_t elements) {
    const haddr_t at = set < 0 ? HADDR_UNDEF : elements ? H5Dget_offset(set) : 0;
    k->w.failed = k->w.failed || at == HADDR_UNDEF;
    ergo_series_close(&k->w, set);
    return k->w.failed ? 0 : (uint64_t)at;
}

/* A column over the points: numbers, written now. */
static uint64_t column(struct creation *k, hid_t at, const char *name, hid_t type, hid_t memory,
                       uint64_t points, const void *data, const char *unit, const char *help) {
    const hsize_t shape[] = {points};
    const hid_t set = create(k, at, name, type, 1, shape, k->plain);
    k->w.failed = k->w.failed || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0;
    if (set >= 0 && unit)
        ergo_series_attribute(&k->w, set, "unit", unit);
    if (set >= 0 && help)
        ergo_series_attribute(&k->w, set, "description", help);
    return place(k, set, points);
}

static void put_part(struct creation *k, hid_t at, const struct ergo_form_part *part,
                     struct ergo_frames_group *group, struct ergo_frames_part *where) {
    hsize_t shape[2 + ERGO_FORM_DIMS] = {group->points, group->frames};
    for (unsigned i = 0; i < part->n_dims; i++)
        shape[2 + i] = part->shape[i];
    const hid_t set =
        create(k, at, part->name, element_of(part), 2 + part->n_dims, shape, k->early);
    if (k->w.failed)
        return;
    ergo_series_attribute(&k->w, set, "axes", part->axes);
    ergo_series_attribute(&k->w, set, "description", part->help);
    if (part->bits)
        ergo_series_number(&k->w, set, "bits", (double)part->bits);
    if (part->systems)
        ergo_series_number(&k->w, set, "systems", part->systems);
    if (part->scale != 0)
        ergo_series_number(&k->w, set, "scale", part->scale);
    where->offset = place(k, set, group->points * group->frames);
}

static void put_parameters(struct creation *k, hid_t at, const struct ergo_batch *batch,
                           double *values) {
    const struct ergo_point *first = batch->points[0];
    char path[160];
    for (size_t i = 0; i < first->n_scanned; i++) {
        snprintf(path, sizeof path, "parameters%.140s", first->scanned[i].pointer);
        for (size_t m = 0; m < batch->count; m++)
            values[m] = batch->points[m]->scanned[i].value;
        column(k, at, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, batch->count, values, NULL, NULL);
    }
}

static bool put_group(struct creation *k, const struct ergo_batch *batch,
                      const struct ergo_form *form, const char *name,
                      struct ergo_frames_group *group) {
    const size_t n = (size_t)group->points, frames = (size_t)(group->points * group->frames);
    int64_t *numbers = malloc((3 * n + frames + 1) * sizeof *numbers);
    double *values = malloc((n + 1) * sizeof *values);
    const hid_t at = ergo_series_open_group(&k->w, k->w.file, name);
    const bool memory = numbers && values;
    if (memory && !k->w.failed) {
        int64_t *points = numbers, *replicas = points + n, *streams = replicas + n,
                *steps = streams + n;
        for (size_t m = 0; m < n; m++) {
            points[m] = (int64_t)batch->points[m]->index;
            replicas[m] = batch->points[m]->replica;
            memcpy(&streams[m], &batch->points[m]->stream, sizeof streams[m]);
        }
        for (size_t i = 0; i < frames; i++)
            steps[i] = -1;
        column(k, at, "point", H5T_STD_I64LE, H5T_NATIVE_INT64, n, points, NULL, NULL);
        column(k, at, "replica", H5T_STD_I64LE, H5T_NATIVE_INT64, n, replicas, NULL, NULL);
        group->stream = column(k, at, "stream", H5T_STD_U64LE, H5T_NATIVE_UINT64, n, streams, NULL,
                               "key of the random numbers");
        put_parameters(k, at, batch, values);
        const hsize_t shape[] = {n, group->frames};
        const hid_t set = create(k, at, "step", H5T_STD_I64LE, 2, shape, k->plain);
        k->w.failed = k->w.failed ||
                      H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, steps) < 0;
        if (!k->w.failed)
            ergo_series_attribute(&k->w, set, "unit", k->job->sampler->step_name);
        group->step = place(k, set, frames);
        for (size_t i = 0; i < form->n_parts; i++)
            put_part(k, at, &form->parts[i], group, &group->parts[i]);
    }
    ergo_series_close_group(&k->w, at);
    free(numbers);
    free(values);
    return memory;
}

static void put_attributes(struct creation *k) {
    char seed[32];
    const struct ergo_job *job = k->job;
    const struct ergo_value *value = &job->points[0].parameters->seed;
    snprintf(seed, sizeof seed, "%" PRIu64, value->seed);
    ergo_series_attribute(&k->w, k->w.file, "ergocl", ERGO_VERSION);
    ergo_series_attribute(&k->w, k->w.file, "sampler", job->sampler->name);
    ergo_series_attribute(&k->w, k->w.file, "model", job->model->name ? job->model->name : "");
    ergo_series_attribute(&k->w, k->w.file, "citation", job->sampler->citation);
    ergo_series_attribute(&k->w, k->w.file, "seed", seed);
    ergo_series_attribute(&k->w, k->w.file, "step_unit", job->sampler->step_name);
    ergo_series_attribute(&k->w, k->w.file, "job", job->canonical);
    ergo_series_attribute(&k->w, k->w.file, "layout", layout);
}

/* The file begins with room for the head. Large arrays begin at pages, so that ranks on different
 * machines do not write to the same one. */
static hid_t open_file(int fd, size_t head) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = -1;
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (access >= 0 && creation >= 0 && H5Pset_fapl_sec2(access) >= 0 &&
        H5Pset_alignment(access, 65536, 4096) >= 0 && H5Pset_userblock(creation, head) >= 0)
#if H5_VERSION_GE(1, 10, 7) /* some file systems have no locks, and the file is nobody else's yet  \
                             */
        if (H5Pset_file_locking(access, false, true) >= 0)
#endif
            file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return file;
}

static bool open_properties(struct creation *k) {
    ergo_series_begin(&k->w);
    k->early = H5Pcreate(H5P_DATASET_CREATE);
    k->plain = H5Pcreate(H5P_DATASET_CREATE);
    return !k->w.failed && k->early >= 0 && k->plain >= 0 &&
           H5Pset_alloc_time(k->early, H5D_ALLOC_TIME_EARLY) >= 0 &&
           H5Pset_fill_time(k->early, H5D_FILL_TIME_NEVER) >= 0 &&
           H5Pset_obj_track_times(k->early, 0) >= 0 &&
           H5Pset_alloc_time(k->plain, H5D_ALLOC_TIME_EARLY) >= 0 &&
           H5Pset_obj_track_times(k->plain, 0) >= 0;
}

enum ergo_status ergo_configurations_create(struct ergo_context *ctx, const char *name, int fd,
                                            struct ergo_configurations *c) {
    struct ergo_hdf5_session session;
    struct creation k = {
        .w = {.file = -1, .string = -1, .links = -1}, .job = c->job, .early = -1, .plain = -1};
    bool memory = true;
    char group[32];
    ergo_hdf5_begin(&session);
    k.w.failed = !open_properties(&k);
    k.w.file = k.w.failed ? -1 : open_file(fd, ergo_configurations_head_room(c));
    k.w.failed = k.w.failed || k.w.file < 0;
    if (!k.w.failed)
        put_attributes(&k);
    for (size_t g = 0; g < c->n_groups && !k.w.failed && memory; g++) {
        snprintf(group, sizeof group, "batch%zu", g);
        memory = put_group(&k, &c->job->batches[g], &c->forms[g], group, &c->groups[g]);
    }
    if (k.early >= 0)
        H5Pclose(k.early);
    if (k.plain >= 0)
        H5Pclose(k.plain);
    k.w.failed = !ergo_series_end(&k.w) || k.w.failed;
    ergo_hdf5_end(&session);
    if (!memory || (!k.w.failed && !ergo_configurations_put_head(c)))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to make %s", name);
    return k.w.failed ? ERGO_FAIL(ctx, ERGO_E_IO, "cannot make %s: %s", name, session.reason)
                      : ERGO_OK;
}
