/*
 * The run as records of a checkpoint, and back. Integers and doubles are little-endian as in memory
 * (a big-endian host is refused by the device layer). All members share a record of each kind.
 * Whatever a checkpoint says may have been written by anyone: it goes nowhere unchecked, and no
 * more memory is taken than the job's own results could need.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "run/run.h"
#include "run/spread.h"

enum { META_VERSION = 4 };

const char *const ergo_run_records[] = {
    "job",    "name",   "started",  "meta",   "device",        "files",  "members",
    "series", "curves", "pictures", "states", "state_lengths", "spread", NULL,
};

/* Fixed-width: this is a file format. */
struct meta {
    uint64_t version, state_version, batch, step, samples, n_points;
    double seconds;
};

/* Where the last session ran, for a resume that only reports. */
struct last_device {
    char id[24], name[128], platform[128], driver[128];
    double work_done;
};

static struct last_device last_device_of(const struct ergo_run *run) {
    const struct ergo_device_summary *summary = &run->result->device;
    struct last_device last;
    memset(&last, 0, sizeof last); /* these bytes go into a file */
    snprintf(last.id, sizeof last.id, "%s", summary->id);
    snprintf(last.name, sizeof last.name, "%s", summary->name);
    snprintf(last.platform, sizeof last.platform, "%s", summary->platform);
    snprintf(last.driver, sizeof last.driver, "%s", summary->driver);
    last.work_done = run->work_done;
    return last;
}

/* Bins of a curve that hold samples: the others are zero and are not written. */
static size_t used_bins(const struct ergo_curve *curve) {
    return (size_t)((curve->count + curve->bin_length - 1) / curve->bin_length);
}

/* Per member, in job order. */
struct member_meta {
    uint64_t stream, steps, digest, n_samples, n_pictures;
};

static enum ergo_status no_memory(struct ergo_run *run) {
    return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a checkpoint");
}

static void append(struct ergo_text *text, const void *data, size_t length) {
    ergo_text_append_bytes(text, data, length);
}

bool ergo_run_add_text(struct ergo_blobs *blobs, const char *name, struct ergo_text *text) {
    const size_t length = text->length;
    return ergo_blobs_take(blobs, name, ergo_text_take(text), length);
}

/* Series, curves and pictures of every member, each kind one blob. */
static bool add_members(struct ergo_run *run, struct ergo_blobs *blobs) {
    const struct ergo_model *model = run->job->model;
    struct ergo_text metas = {0}, series = {0}, curves = {0}, pictures = {0};
    for (size_t i = 0; i < run->result->n_members; i++) {
        const struct ergo_member_result *m = &run->result->members[i];
        const struct member_meta meta = {m->point->stream, m->steps, m->digest, m->n_samples,
                                         m->n_pictures};
        append(&metas, &meta, sizeof meta);
        for (size_t c = 0; c < model->n_columns; c++)
            if (m->series[c])
                append(&series, m->series[c], m->n_samples * sizeof(double));
        for (size_t c = 0; c < model->n_curves; c++) {
            const struct ergo_curve *curve = &run->curves[i][c];
            const uint64_t head[2] = {curve->count, curve->bin_length};
            append(&curves, head, sizeof head);
            append(&curves, curve->bins, used_bins(curve) * curve->size * sizeof(double));
        }
        for (size_t k = 0; k < m->n_pictures; k++) {
            const struct ergo_picture *p = &m->pictures[k];
            const uint64_t head[3] = {m->picture_steps[k], p->width, p->height};
            append(&pictures, head, sizeof head);
            append(&pictures, p->rgb, (size_t)p->width * p->height * 3);
        }
    }
    bool ok = ergo_run_add_text(blobs, "members", &metas);
    ok = ergo_run_add_text(blobs, "series", &series) && ok;
    ok = ergo_run_add_text(blobs, "curves", &curves) && ok;
    return ergo_run_add_text(blobs, "pictures", &pictures) && ok;
}

/* States of the current batch's members. */
static enum ergo_status add_states(struct ergo_run *run, struct ergo_blobs *blobs) {
    struct ergo_text states = {0}, lengths = {0};
    enum ergo_status status = ERGO_OK;
    const size_t count = run->job->batches[run->batch].count;
    for (size_t m = 0; m < count && status == ERGO_OK; m++) {
        const size_t before = states.length;
        status = run->ops->save(run->ctx, run->state, m, &states);
        const uint64_t length = states.length - before;
        append(&lengths, &length, sizeof length);
    }
    const bool ok = ergo_run_add_text(blobs, "states", &states);
    if ((!ergo_run_add_text(blobs, "state_lengths", &lengths) || !ok) && status == ERGO_OK)
        status = no_memory(run);
    return status;
}

/* The audit comes after the reading: a device that began to fail in between is found out before
 * what it said is a checkpoint. (init makes the state of step 0 again: a start need not write
 * gigabytes.) */
static enum ergo_status add_audited_states(struct ergo_run *run, struct ergo_blobs *blobs) {
    if (!run->state || run->step == 0)
        return ERGO_OK;
    const enum ergo_status status = add_states(run, blobs);
    return status == ERGO_OK ? ergo_run_audit(run) : status;
}

enum ergo_status ergo_run_save(struct ergo_run *run) {
    if (run->spread)
        return ergo_spread_save(run);
    struct ergo_blobs blobs = {0};
    enum ergo_status status =
        run->state && run->step ? ergo_run_count(run, &run->job->batches[run->batch]) : ERGO_OK;
    if (status != ERGO_OK)
        return status;
    if (ergo_ranks_rank() > 0) { /* takes part in making states, and has nothing to write */
        status = add_audited_states(run, &blobs);
        ergo_blobs_free(&blobs);
        return status;
    }
    const struct meta meta = {
        META_VERSION, run->sampler->state_version, run->batch,           run->step,
        run->samples, run->job->n_points,          ergo_run_seconds(run)};
    const struct last_device device = last_device_of(run);
    const char *job = run->job->canonical;
    if (!ergo_blobs_add(&blobs, "job", job, strlen(job)) ||
        !ergo_blobs_add(&blobs, "name", run->job->name, strlen(run->job->name)) ||
        !ergo_blobs_add(&blobs, "started", run->result->started, strlen(run->result->started)) ||
        !ergo_blobs_add(&blobs, "meta", &meta, sizeof meta) ||
        !ergo_blobs_add(&blobs, "device", &device, sizeof device) ||
        !ergo_run_add_files(run, &blobs) || !add_members(run, &blobs))
        status = no_memory(run);
    if (status == ERGO_OK)
        status = add_audited_states(run, &blobs);
    if (status == ERGO_OK)
        status = ergo_run_hold_folder(run);
    if (status == ERGO_OK)
        status = ergo_checkpoint_write(run->ctx, &run->folder, ERGO_CHECKPOINT, &blobs);
    ergo_blobs_free(&blobs);
    return status;
}

/* ---- restore --------------------------------------------------------------------------------- */

/* Takes `length` bytes off the front of a blob; NULL when it has fewer. */
struct reader {
    const char *at;
    size_t rest;
};

static const void *take(struct reader *reader, uint64_t length) {
    if (!reader->at || length > reader->rest)
        return NULL;
    const void *at = reader->at;
    reader->at += length;
    reader->rest -= (size_t)length;
    return at;
}

static struct reader reader_of(const struct ergo_blobs *blobs, const char *name) {
    const struct ergo_blob *blob = ergo_blobs_find(blobs, name);
    return blob ? (struct reader){blob->data, blob->length} : (struct reader){NULL, 0};
}

static bool copy(struct reader *reader, void *to, size_t length) {
    const void *from = take(reader, length);
    if (from && length)
        memcpy(to, from, length);
    return from != NULL;
}

bool ergo_run_curve_fits(const struct ergo_model *model, size_t c, uint64_t count, uint64_t length,
                         uint64_t n_samples) {
    const bool of_samples = !(model->curves_at_end >> c & 1);
    const uint64_t most = of_samples ? n_samples : UINT64_C(1) << 53; /* what doubles count */
    if (!length || count > most)
        return false;
    if (model->curves_sums >> c & 1)
        return length == (count ? count : 1);
    if (length > 1 && count / (ERGO_CURVE_BINS / 2) < length)
        return false;
    return (count + length - 1) / length <= ERGO_CURVE_BINS;
}

bool ergo_run_stands_between(const struct ergo_schedule *s, uint64_t step, uint64_t samples) {
    const uint64_t sampled = s->lead + samples * s->every;
    return step <= s->total && samples <= s->n_samples && (!samples || step >= sampled) &&
           (samples == s->n_samples || step < sampled + s->every);
}

bool ergo_run_picture_fits(const struct ergo_member_result *m, uint64_t step, uint64_t width,
                           uint64_t height) {
    return step <= ergo_schedule_of(m->point).total && width > 0 && height > 0 &&
           width <= ERGO_PICTURE_SIDE && height <= ERGO_PICTURE_SIDE;
}

bool ergo_run_time_fits(double seconds) {
    return seconds >= 0 && seconds < 1e12; /* and no NAN */
}

static bool restore_meta(struct ergo_run *run, size_t i, struct reader *reader) {
    struct ergo_member_result *m = &run->result->members[i];
    const struct ergo_schedule schedule = ergo_schedule_of(m->point);
    struct member_meta meta;
    if (!copy(reader, &meta, sizeof meta) || meta.stream != m->point->stream ||
        meta.n_samples > schedule.n_samples || meta.steps > schedule.total ||
        meta.n_pictures > ERGO_RUN_PICTURES)
        return false;
    m->steps = meta.steps;
    m->digest = meta.digest;
    m->n_samples = (size_t)meta.n_samples;
    m->n_pictures = (size_t)meta.n_pictures; /* of which restore_pictures makes what they are */
    return true;
}

static bool restore_series(struct ergo_run *run, size_t i, struct reader *reader) {
    const struct ergo_member_result *m = &run->result->members[i];
    for (size_t c = 0; c < run->job->model->n_columns; c++)
        if (m->series[c] && !copy(reader, m->series[c], m->n_samples * sizeof(double)))
            return false;
    return true;
}

static bool restore_curves(struct ergo_run *run, size_t i, struct reader *reader) {
    const struct ergo_model *model = run->job->model;
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &run->curves[i][c];
        uint64_t head[2];
        if (!copy(reader, head, sizeof head) ||
            !ergo_run_curve_fits(model, c, head[0], head[1], run->result->members[i].n_samples))
            return false;
        curve->count = head[0];
        curve->bin_length = head[1];
        if (!copy(reader, curve->bins, used_bins(curve) * curve->size * sizeof(double)))
            return false;
    }
    return true;
}

static bool restore_pictures(struct ergo_run *run, size_t i, struct reader *reader) {
    struct ergo_member_result *m = &run->result->members[i];
    for (size_t k = 0; k < m->n_pictures; k++) {
        uint64_t head[3];
        if (!copy(reader, head, sizeof head) ||
            !ergo_run_picture_fits(m, head[0], head[1], head[2]))
            return false;
        const size_t bytes = (size_t)(head[1] * head[2] * 3);
        uint8_t *rgb = malloc(bytes);
        if (!rgb || !copy(reader, rgb, bytes)) {
            free(rgb);
            return false;
        }
        m->picture_steps[k] = head[0];
        m->pictures[k] = (struct ergo_picture){(unsigned)head[1], (unsigned)head[2], rgb};
    }
    return true;
}

static enum ergo_status damaged(struct ergo_run *run, const char *what) {
    return ERGO_FAIL(run->ctx, ERGO_E_IO,
                     "%s/" ERGO_CHECKPOINT
                     ": %s does not fit the job in it; the file is damaged or "
                     "from another version",
                     run->folder.path, what);
}

/* The record of all members; `most`: bytes that it may have. */
static enum ergo_status restore_members(struct ergo_run *run, const char *name, uint64_t most,
                                        bool (*restore)(struct ergo_run *, size_t,
                                                        struct reader *)) {
    struct ergo_blobs blobs = {0};
    enum ergo_status status = ergo_checkpoint_load(run->ctx, run->checkpoint, name, most, &blobs);
    struct reader reader = reader_of(&blobs, name);
    bool fits = true;
    for (size_t i = 0; i < run->result->n_members && status == ERGO_OK && fits; i++)
        fits = restore(run, i, &reader);
    if (status == ERGO_OK && (!fits || reader.rest))
        status = damaged(run, name);
    ergo_blobs_free(&blobs);
    return status;
}

/* Bytes of the members' records, once their counts are known. */
struct sizes {
    uint64_t series, curves, pictures;
};

static struct sizes sizes_of(const struct ergo_run *run) {
    const struct ergo_model *model = run->job->model;
    struct sizes sizes = {0, 0, 0};
    for (size_t i = 0; i < run->result->n_members; i++) {
        const struct ergo_member_result *m = &run->result->members[i];
        for (size_t c = 0; c < model->n_columns; c++)
            sizes.series += m->series[c] ? m->n_samples * sizeof(double) : 0;
        for (size_t c = 0; c < model->n_curves; c++) {
            const struct ergo_curve *curve = &run->curves[i][c];
            sizes.curves += 2 * sizeof(uint64_t) +
                            (curve->sum ? 1 : ERGO_CURVE_BINS) * curve->size * sizeof(double);
        }
        sizes.pictures += m->n_pictures * (3 * sizeof(uint64_t) +
                                           (uint64_t)3 * ERGO_PICTURE_SIDE * ERGO_PICTURE_SIDE);
    }
    return sizes;
}

static enum ergo_status restore_all_members(struct ergo_run *run) {
    enum ergo_status status = restore_members(
        run, "members", run->result->n_members * sizeof(struct member_meta), restore_meta);
    if (status != ERGO_OK)
        return status;
    const struct sizes sizes = sizes_of(run);
    status = restore_members(run, "series", sizes.series, restore_series);
    if (status == ERGO_OK)
        status = restore_members(run, "curves", sizes.curves, restore_curves);
    return status == ERGO_OK ? restore_members(run, "pictures", sizes.pictures, restore_pictures)
                             : status;
}

/* Could a run have been saved there? A step that the states or the samples do not belong to would
 * go on as another chain, without anyone noticing. */
static bool consistent(const struct ergo_run *run, const struct meta *meta, bool states) {
    const size_t batch = (size_t)meta->batch;
    for (size_t b = 0; b < run->job->n_batches; b++) {
        const struct ergo_schedule s = ergo_schedule_of(run->job->batches[b].points[0]);
        const uint64_t expected = b < batch ? s.n_samples : b == batch ? meta->samples : 0;
        for (size_t m = 0; m < run->job->batches[b].count; m++)
            if (run->result->members[run->job->batches[b].points[m]->index].n_samples != expected)
                return false;
        if (b != batch)
            continue;
        if ((meta->step && !states) || !ergo_run_stands_between(&s, meta->step, meta->samples))
            return false;
    }
    return batch < run->job->n_batches || (meta->step == 0 && meta->samples == 0);
}

/* As strftime wrote it: "2026-11-22T09:30:00Z". */
bool ergo_run_take_started(struct ergo_run *run, const struct ergo_blobs *blobs) {
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    const struct ergo_blob *blob = ergo_blobs_find(blobs, "started");
    if (!blob || blob->length != sizeof shape - 1)
        return false;
    const char *text = blob->data;
    for (size_t i = 0; i < blob->length; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    memcpy(run->result->started, text, sizeof shape);
    return true;
}

/* What stands in the small records. */
static enum ergo_status restore_head(struct ergo_run *run, struct meta *meta) {
    struct ergo_blobs blobs = {0};
    struct last_device last;
    enum ergo_status status =
        ergo_checkpoint_load(run->ctx, run->checkpoint, "meta", sizeof *meta, &blobs);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(run->ctx, run->checkpoint, "device", sizeof last, &blobs);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(run->ctx, run->checkpoint, "started",
                                      sizeof run->result->started, &blobs);
    if (status != ERGO_OK)
        goto out;
    struct reader head = reader_of(&blobs, "meta"), device = reader_of(&blobs, "device");
    if (!copy(&head, meta, sizeof *meta) || meta->version != META_VERSION)
        status = damaged(run, "its header");
    else if (meta->state_version != run->sampler->state_version)
        status = ERGO_FAIL(run->ctx, ERGO_E_IO,
                           "%s/" ERGO_CHECKPOINT " holds states of version %" PRIu64 " of %s; this "
                           "ergocl reads version %u",
                           run->folder.path, meta->state_version, run->sampler->name,
                           run->sampler->state_version);
    else if (meta->n_points != run->job->n_points || meta->batch > run->job->n_batches)
        status = damaged(run, "the number of points");
    else if (!ergo_run_time_fits(meta->seconds))
        status = damaged(run, "the time it took");
    else if (!copy(&device, &last, sizeof last) || !(last.work_done >= 0) ||
             !(last.work_done < 1e300))
        status = damaged(run, "the device or its work");
    else if (!ergo_run_take_started(run, &blobs))
        status = damaged(run, "the time of its start");
    if (status != ERGO_OK)
        goto out;
    struct ergo_device_summary *summary = &run->result->device;
    snprintf(summary->id, sizeof summary->id, "%.23s", last.id);
    snprintf(summary->name, sizeof summary->name, "%.127s", last.name);
    snprintf(summary->platform, sizeof summary->platform, "%.127s", last.platform);
    snprintf(summary->driver, sizeof summary->driver, "%.127s", last.driver);
    if (meta->batch == run->job->n_batches)
        run->work_done = last.work_done; /* otherwise the plan counts it */
out:
    ergo_blobs_free(&blobs);
    return status;
}

enum ergo_status ergo_run_restore(struct ergo_run *run) {
    struct meta meta;
    enum ergo_status status = restore_head(run, &meta);
    if (status == ERGO_OK)
        status = restore_all_members(run);
    if (status != ERGO_OK)
        return status;
    run->has_restored_states = ergo_checkpoint_has(run->checkpoint, "states");
    if (!consistent(run, &meta, run->has_restored_states))
        return damaged(run, "the step it was saved at");
    run->batch = (size_t)meta.batch;
    run->step = meta.step;
    run->samples = (size_t)meta.samples;
    run->seconds_before = meta.seconds;
    return ERGO_OK;
}

/* ---- states ---------------------------------------------------------------------------------- */

enum ergo_status ergo_run_read_states(struct ergo_run *run, double most) {
    const uint64_t lengths = run->job->batches[run->batch].count * sizeof(uint64_t);
    enum ergo_status status =
        ergo_checkpoint_load(run->ctx, run->checkpoint, "state_lengths", lengths, &run->restored);
    return status == ERGO_OK ? ergo_checkpoint_load(run->ctx, run->checkpoint, "states",
                                                    (uint64_t)most, &run->restored)
                             : status;
}

enum ergo_status ergo_run_load_states(struct ergo_run *run) {
    enum { TIMES = 16, MORE = 1 << 20 }; /* a byte for a bit, and something beside it */
    const size_t members = run->job->batches[run->batch].count;
    enum ergo_status status = ERGO_OK;
    /* points that were spread over ranks bring theirs */
    if (!ergo_blobs_find(&run->restored, "states"))
        status = ergo_run_read_states(run, TIMES * (double)run->result->device_bytes *
                                                   (run->cut ? ergo_dist_count() : 1) +
                                               MORE * (double)members);
    struct reader states = reader_of(&run->restored, "states");
    struct reader lengths = reader_of(&run->restored, "state_lengths");
    for (size_t m = 0; m < members && status == ERGO_OK; m++) {
        uint64_t length = 0;
        const void *bytes = NULL;
        if (copy(&lengths, &length, sizeof length))
            bytes = take(&states, length);
        if (!bytes)
            return damaged(run, "a member's state");
        status = run->ops->load(run->ctx, run->state, m, run->step, bytes, (size_t)length);
        if (status == ERGO_E_IO)
            (void)damaged(run, "a member's state");
    }
    if (status == ERGO_OK && (states.rest || lengths.rest))
        return damaged(run, "the members' states");
    ergo_blobs_free(&run->restored);
    ergo_checkpoint_close(run->checkpoint);
    run->checkpoint = NULL;
    return status;
}
