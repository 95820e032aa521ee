/*
 * The run as named blobs of a checkpoint, and back. Integers and doubles are little-endian as in
 * memory (a big-endian host is refused by the device layer). All members of a batch share a blob:
 * thousands of members must not become thousands of HDF5 objects.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "run/run.h"
#include "run/spread.h"

enum { META_VERSION = 2 };

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

static bool add_text(struct ergo_blobs *blobs, const char *name, struct ergo_text *text) {
    const bool ok =
        !text->failed && ergo_blobs_add(blobs, name, text->data ? text->data : "", text->length);
    ergo_text_free(text);
    return ok;
}

/* Series, curves and pictures of every member, each kind one blob. */
static bool add_members(struct ergo_run *run, struct ergo_blobs *blobs) {
    const struct ergo_sampler_info *info = run->sampler->info;
    struct ergo_text metas = {0}, series = {0}, curves = {0}, pictures = {0};
    for (size_t i = 0; i < run->result->n_members; i++) {
        const struct ergo_member_result *m = &run->result->members[i];
        const struct member_meta meta = {m->point->stream, m->steps, m->digest, m->n_samples,
                                         m->n_pictures};
        append(&metas, &meta, sizeof meta);
        for (size_t c = 0; c < info->n_columns; c++)
            if (m->series[c])
                append(&series, m->series[c], m->n_samples * sizeof(double));
        for (size_t c = 0; c < info->n_curves; c++) {
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
    bool ok = add_text(blobs, "members", &metas);
    ok = add_text(blobs, "series", &series) && ok;
    ok = add_text(blobs, "curves", &curves) && ok;
    return add_text(blobs, "pictures", &pictures) && ok;
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
    const bool ok = add_text(blobs, "states", &states);
    if ((!add_text(blobs, "state_lengths", &lengths) || !ok) && status == ERGO_OK)
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
    const struct meta meta = {META_VERSION,         run->sampler->info->state_version,
                              run->batch,           run->step,
                              run->samples,         run->job->n_points,
                              ergo_run_seconds(run)};
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

static const void *take(struct reader *reader, size_t length) {
    if (!reader->at || length > reader->rest)
        return NULL;
    const void *at = reader->at;
    reader->at += length;
    reader->rest -= length;
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

bool ergo_run_curve_fits(const struct ergo_sampler_info *info, size_t c, uint64_t count,
                         uint64_t length, uint64_t n_samples) {
    const bool of_samples = !(info->curves_at_end >> c & 1);
    if (!length || (of_samples && count > n_samples))
        return false;
    if (info->curves_sums >> c & 1)
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

static bool restore_member(struct ergo_run *run, size_t i, struct reader *metas,
                           struct reader *series, struct reader *curves, struct reader *pictures) {
    const struct ergo_sampler_info *info = run->sampler->info;
    struct ergo_member_result *m = &run->result->members[i];
    const struct ergo_schedule schedule = ergo_schedule_of(m->point);
    struct member_meta meta;
    if (!copy(metas, &meta, sizeof meta) || meta.stream != m->point->stream ||
        meta.n_samples > schedule.n_samples || meta.steps > schedule.total ||
        meta.n_pictures > ERGO_RUN_PICTURES)
        return false;
    m->steps = meta.steps;
    m->digest = meta.digest;
    m->n_samples = (size_t)meta.n_samples;
    for (size_t c = 0; c < info->n_columns; c++)
        if (m->series[c] && !copy(series, m->series[c], m->n_samples * sizeof(double)))
            return false;
    for (size_t c = 0; c < info->n_curves; c++) {
        struct ergo_curve *curve = &run->curves[i][c];
        uint64_t head[2];
        if (!copy(curves, head, sizeof head))
            return false;
        if (!ergo_run_curve_fits(info, c, head[0], head[1], meta.n_samples))
            return false;
        curve->count = head[0];
        curve->bin_length = head[1];
        if (!copy(curves, curve->bins, used_bins(curve) * curve->size * sizeof(double)))
            return false;
    }
    for (size_t k = 0; k < meta.n_pictures; k++) {
        uint64_t head[3];
        struct ergo_picture *p = &m->pictures[k];
        if (!copy(pictures, head, sizeof head) || head[1] > 65536 || head[2] > 65536)
            return false;
        p->rgb = malloc((size_t)(head[1] * head[2] * 3 + 1));
        if (!p->rgb)
            return false;
        m->n_pictures = k + 1;
        m->picture_steps[k] = head[0];
        p->width = (unsigned)head[1];
        p->height = (unsigned)head[2];
        if (!copy(pictures, p->rgb, (size_t)(head[1] * head[2] * 3)))
            return false;
    }
    return true;
}

static enum ergo_status damaged(struct ergo_run *run, const char *what) {
    return ERGO_FAIL(run->ctx, ERGO_E_IO,
                     "%s/" ERGO_CHECKPOINT
                     ": %s does not fit the job in it; the file is damaged or from "
                     "another version",
                     run->folder.path, what);
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

enum ergo_status ergo_run_restore(struct ergo_run *run, const struct ergo_blobs *blobs) {
    struct meta meta;
    struct reader head = reader_of(blobs, "meta");
    if (!copy(&head, &meta, sizeof meta) || meta.version != META_VERSION)
        return damaged(run, "its header");
    if (meta.state_version != run->sampler->info->state_version)
        return ERGO_FAIL(run->ctx, ERGO_E_IO,
                         "%s/" ERGO_CHECKPOINT " holds states of version %" PRIu64
                         " of %s; this ergocl "
                         "reads version %u",
                         run->folder.path, meta.state_version, run->sampler->info->name,
                         run->sampler->info->state_version);
    if (meta.n_points != run->job->n_points || meta.batch > run->job->n_batches)
        return damaged(run, "the number of points");
    struct reader metas = reader_of(blobs, "members"), series = reader_of(blobs, "series");
    struct reader curves = reader_of(blobs, "curves"), pictures = reader_of(blobs, "pictures");
    for (size_t i = 0; i < run->result->n_members; i++)
        if (!restore_member(run, i, &metas, &series, &curves, &pictures))
            return damaged(run, "a member's data");
    if (metas.rest || series.rest || curves.rest || pictures.rest)
        return damaged(run, "the members' data");
    struct reader started = reader_of(blobs, "started");
    const size_t length = started.rest < sizeof run->result->started - 1
                              ? started.rest
                              : sizeof run->result->started - 1;
    memset(run->result->started, 0, sizeof run->result->started);
    copy(&started, run->result->started, length);
    struct last_device last;
    struct reader device = reader_of(blobs, "device");
    if (!copy(&device, &last, sizeof last))
        return damaged(run, "the device's name");
    struct ergo_device_summary *summary = &run->result->device;
    snprintf(summary->id, sizeof summary->id, "%.23s", last.id);
    snprintf(summary->name, sizeof summary->name, "%.127s", last.name);
    snprintf(summary->platform, sizeof summary->platform, "%.127s", last.platform);
    snprintf(summary->driver, sizeof summary->driver, "%.127s", last.driver);
    run->batch = (size_t)meta.batch;
    if (run->batch == run->job->n_batches)
        run->work_done = last.work_done; /* otherwise the plan counts it */
    run->step = meta.step;
    run->samples = (size_t)meta.samples;
    run->seconds_before = meta.seconds;
    run->has_restored_states = ergo_blobs_find(blobs, "states") != NULL;
    if (!consistent(run, &meta, run->has_restored_states))
        return damaged(run, "the step it was saved at");
    return ERGO_OK;
}

enum ergo_status ergo_run_load_states(struct ergo_run *run) {
    struct reader states = reader_of(&run->restored, "states");
    struct reader lengths = reader_of(&run->restored, "state_lengths");
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < run->job->batches[run->batch].count && status == ERGO_OK; m++) {
        uint64_t length = 0;
        const void *bytes = NULL;
        if (copy(&lengths, &length, sizeof length))
            bytes = take(&states, (size_t)length);
        if (!bytes)
            return damaged(run, "a member's state");
        status = run->ops->load(run->ctx, run->state, m, run->step, bytes, (size_t)length);
    }
    if (status == ERGO_OK && (states.rest || lengths.rest))
        return damaged(run, "the members' states");
    ergo_blobs_free(&run->restored);
    return status;
}
