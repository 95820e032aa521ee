/* See spread.h. */
#include "run/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dist/dist.h"

/* How far a point is; its state where it is neither at 0 nor at the end. */
struct progress {
    uint64_t step, samples;
    char *state;
    uint64_t length;
    bool ours; /* done or begun by this rank, in this session */
};

struct unit {
    struct ergo_batch batch;
    double work;
    uint64_t order;
};

struct ergo_spread {
    struct progress *progress; /* [n_points] */
    struct unit *units;
    size_t n_units;
    const struct unit *current;
    uint64_t generation, ranks, old_ranks; /* old: of the generation before; 0: none */
    bool resumed;
};

/* In the index and in each rank's file. */
struct header {
    uint64_t version, state_version, generation, ranks, n_points;
    double seconds;
};
enum { SPREAD_VERSION = 1 };

/* One point on its way to another rank or into a file; series, curves, pictures, state follow. */
struct parcel {
    uint64_t index, stream, steps, digest, n_samples, n_pictures, step, samples, state_length;
};

static enum ergo_status no_memory(struct ergo_run *run) {
    return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for the points of other ranks");
}

/* ---- parcels --------------------------------------------------------------------------------- */

static void pack(const struct ergo_run *run, size_t i, struct ergo_text *text) {
    const struct ergo_sampler_info *info = run->sampler->info;
    const struct ergo_member_result *m = &run->result->members[i];
    const struct progress *p = &run->spread->progress[i];
    const struct parcel head = {i,         m->point->stream, m->steps,
                                m->digest, m->n_samples,     m->n_pictures,
                                p->step,   p->samples,       p->length};
    ergo_text_append_bytes(text, &head, sizeof head);
    for (size_t c = 0; c < info->n_columns; c++)
        ergo_text_append_bytes(text, m->series[c], m->n_samples * sizeof(double));
    for (size_t c = 0; c < info->n_curves; c++) {
        const struct ergo_curve *curve = &run->curves[i][c];
        const uint64_t counts[2] = {curve->count, curve->bin_length};
        ergo_text_append_bytes(text, counts, sizeof counts);
        ergo_text_append_bytes(text, curve->bins, ERGO_CURVE_BINS * curve->size * sizeof(double));
    }
    for (size_t k = 0; k < m->n_pictures; k++) {
        const uint64_t size[3] = {m->picture_steps[k], m->pictures[k].width, m->pictures[k].height};
        ergo_text_append_bytes(text, size, sizeof size);
        ergo_text_append_bytes(text, m->pictures[k].rgb, (size_t)(size[1] * size[2] * 3));
    }
    ergo_text_append_bytes(text, p->state ? p->state : "", (size_t)p->length);
}

struct reader {
    const char *at;
    size_t rest;
};

static const void *take(struct reader *reader, uint64_t length) {
    if (length > reader->rest)
        return NULL;
    const void *at = reader->at;
    reader->at += length;
    reader->rest -= (size_t)length;
    return at;
}

static bool copy(struct reader *reader, void *to, uint64_t length) {
    const void *from = take(reader, length);
    if (from && length)
        memcpy(to, from, (size_t)length);
    return from != NULL;
}

/* The pictures of a parcel; the member's own are replaced when `keep`. */
static bool unpack_pictures(struct ergo_member_result *m, uint64_t count, bool keep,
                            struct reader *reader) {
    for (size_t k = 0; keep && k < m->n_pictures; k++)
        free(m->pictures[k].rgb);
    if (keep)
        m->n_pictures = 0;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t size[3];
        if (!copy(reader, size, sizeof size) || size[1] > 65536 || size[2] > 65536)
            return false;
        const void *rgb = take(reader, size[1] * size[2] * 3);
        if (!rgb)
            return false;
        if (!keep)
            continue;
        struct ergo_picture *p = &m->pictures[k];
        *p = (struct ergo_picture){(unsigned)size[1], (unsigned)size[2],
                                   malloc((size_t)(size[1] * size[2] * 3 + 1))};
        if (!p->rgb)
            return false;
        memcpy(p->rgb, rgb, (size_t)(size[1] * size[2] * 3));
        m->picture_steps[k] = size[0];
        m->n_pictures++;
    }
    return true;
}

/* One parcel, kept where it is further than what is known of its point. */
static bool unpack(struct ergo_run *run, struct reader *reader) {
    const struct ergo_sampler_info *info = run->sampler->info;
    struct parcel head;
    if (!copy(reader, &head, sizeof head) || head.index >= run->job->n_points ||
        head.n_pictures > 64)
        return false;
    struct ergo_member_result *m = &run->result->members[head.index];
    struct progress *p = &run->spread->progress[head.index];
    const struct ergo_schedule s = ergo_schedule_of(m->point);
    if (head.stream != m->point->stream || head.n_samples > s.n_samples || head.step > s.total ||
        head.samples != head.n_samples)
        return false;
    const bool keep = head.step > p->step;
    for (size_t c = 0; c < info->n_columns; c++) {
        const void *series = take(reader, head.n_samples * sizeof(double));
        if (!series)
            return false;
        if (keep && head.n_samples)
            memcpy(m->series[c], series, (size_t)head.n_samples * sizeof(double));
    }
    for (size_t c = 0; c < info->n_curves; c++) {
        struct ergo_curve *curve = &run->curves[head.index][c];
        uint64_t counts[2];
        if (!copy(reader, counts, sizeof counts))
            return false;
        const size_t bytes = ERGO_CURVE_BINS * curve->size * sizeof(double);
        const void *bins = take(reader, bytes);
        if (!bins || (counts[1] == 0 && counts[0] > 0))
            return false;
        if (keep) {
            curve->count = counts[0];
            curve->bin_length = counts[1];
            if (bytes)
                memcpy(curve->bins, bins, bytes);
        }
    }
    if (!unpack_pictures(m, head.n_pictures, keep, reader))
        return false;
    const void *state = take(reader, head.state_length);
    if (!state)
        return false;
    if (keep) {
        char *own = malloc((size_t)head.state_length + 1);
        if (!own)
            return false;
        memcpy(own, state, (size_t)head.state_length);
        free(p->state);
        *p = (struct progress){head.step, head.samples, own, head.state_length, p->ours};
        m->steps = head.steps;
        m->digest = head.digest;
        m->n_samples = (size_t)head.n_samples;
    }
    return true;
}

static bool unpack_all(struct ergo_run *run, const char *data, size_t length) {
    struct reader reader = {data, length};
    while (reader.rest)
        if (!unpack(run, &reader))
            return false;
    return true;
}

/* ---- begin ----------------------------------------------------------------------------------- */

enum ergo_status ergo_spread_create(struct ergo_run *run) {
    struct ergo_spread *s = calloc(1, sizeof *s);
    run->spread = s;
    if (s)
        s->progress = calloc(run->job->n_points, sizeof *s->progress);
    if (!s || !s->progress)
        return no_memory(run);
    s->ranks = (uint64_t)ergo_dist_count();
    return ERGO_OK;
}

void ergo_spread_destroy(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    if (!s)
        return;
    for (size_t i = 0; s->progress && i < run->job->n_points; i++)
        free(s->progress[i].state);
    for (size_t u = 0; u < s->n_units; u++)
        free(s->units[u].batch.points);
    free(s->units);
    free(s->progress);
    free(s);
    run->spread = NULL;
}

bool ergo_spread_is_index(const struct ergo_blobs *blobs) {
    return ergo_blobs_find(blobs, "spread") != NULL;
}

static enum ergo_status damaged(struct ergo_run *run, const char *file) {
    return ERGO_FAIL(
        run->ctx, ERGO_E_IO,
        "%s/%s does not fit the job in it; the file is damaged or from another version",
        run->folder, file);
}

static void rank_file(char *name, size_t size, uint64_t generation, uint64_t rank) {
    snprintf(name, size, "checkpoint-%" PRIu64 "-%" PRIu64 ".h5", generation, rank);
}

static bool read_header(const struct ergo_run *run, const struct ergo_blobs *blobs,
                        struct header *header) {
    const struct ergo_blob *blob = ergo_blobs_find(blobs, "spread");
    if (!blob || blob->length != sizeof *header)
        return false;
    memcpy(header, blob->data, sizeof *header);
    return header->version == SPREAD_VERSION && header->n_points == run->job->n_points &&
           header->state_version == run->sampler->info->state_version && header->ranks > 0 &&
           header->ranks < 1000000;
}

static enum ergo_status read_rank(struct ergo_run *run, const struct header *index, uint64_t rank) {
    struct ergo_blobs blobs = {0};
    struct header header;
    char name[64];
    rank_file(name, sizeof name, index->generation, rank);
    char *path = ergo_path_join(run->folder, name);
    enum ergo_status status = path ? ergo_checkpoint_read(run->ctx, path, &blobs) : no_memory(run);
    if (status == ERGO_OK) {
        const struct ergo_blob *parcels = ergo_blobs_find(&blobs, "parcels");
        if (!parcels || !read_header(run, &blobs, &header) ||
            header.generation != index->generation ||
            !unpack_all(run, parcels->data, parcels->length))
            status = damaged(run, name);
        else if (header.seconds > run->seconds_before)
            run->seconds_before = header.seconds;
    }
    ergo_blobs_free(&blobs);
    free(path);
    return status;
}

/* A plain checkpoint: batches before the current one are done, those after it not begun. */
static enum ergo_status adopt(struct ergo_run *run) {
    const struct ergo_blob *states = ergo_blobs_find(&run->restored, "states");
    const struct ergo_blob *lengths = ergo_blobs_find(&run->restored, "state_lengths");
    struct reader reader = {states ? states->data : "", states ? states->length : 0};
    for (size_t b = 0; b <= run->batch && b < run->job->n_batches; b++) {
        const struct ergo_batch *batch = &run->job->batches[b];
        for (size_t m = 0; m < batch->count; m++) {
            struct progress *p = &run->spread->progress[batch->points[m]->index];
            const struct ergo_schedule s = ergo_schedule_of(batch->points[m]);
            uint64_t length = 0;
            if (b < run->batch) {
                p->step = s.total;
                p->samples = s.n_samples;
                continue;
            }
            if (!states)
                continue;
            if (!lengths || lengths->length < (m + 1) * sizeof length)
                return damaged(run, "checkpoint.h5");
            memcpy(&length, (const char *)lengths->data + m * sizeof length, sizeof length);
            const void *bytes = take(&reader, length);
            p->state = bytes ? malloc((size_t)length + 1) : NULL;
            if (!p->state)
                return bytes ? no_memory(run) : damaged(run, "checkpoint.h5");
            memcpy(p->state, bytes, (size_t)length);
            p->length = length;
            p->step = run->step;
            p->samples = run->samples;
        }
    }
    return ERGO_OK;
}

enum ergo_status ergo_spread_restore(struct ergo_run *run) {
    enum ergo_status status = ergo_spread_create(run);
    if (status != ERGO_OK)
        return status;
    run->spread->resumed = true;
    if (!ergo_spread_is_index(&run->restored)) {
        status = adopt(run);
    } else {
        struct header index;
        if (!read_header(run, &run->restored, &index))
            return damaged(run, "checkpoint.h5");
        const struct ergo_blob *started = ergo_blobs_find(&run->restored, "started");
        if (started && started->length < sizeof run->result->started) {
            memset(run->result->started, 0, sizeof run->result->started);
            memcpy(run->result->started, started->data, started->length);
        }
        run->spread->generation = index.generation + 1;
        run->spread->old_ranks = index.ranks;
        for (uint64_t r = 0; r < index.ranks && status == ERGO_OK; r++)
            status = read_rank(run, &index, r);
    }
    ergo_blobs_free(&run->restored);
    run->has_restored_states = false;
    run->batch = 0;
    run->step = 0;
    run->samples = 0;
    return status;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static struct header header_of(const struct ergo_run *run) {
    return (struct header){SPREAD_VERSION,          run->sampler->info->state_version,
                           run->spread->generation, run->spread->ranks,
                           run->job->n_points,      ergo_run_seconds(run)};
}

/* What the sampler holds becomes the progress of the current unit's points. */
static enum ergo_status note_current(struct ergo_run *run) {
    const struct unit *unit = run->spread->current;
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; unit && run->state && m < unit->batch.count && status == ERGO_OK; m++) {
        struct progress *p = &run->spread->progress[unit->batch.points[m]->index];
        struct ergo_text text = {0};
        if (run->step == 0)
            continue;
        status = run->ops->save(run->ctx, run->state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = no_memory(run);
        if (status != ERGO_OK) {
            ergo_text_free(&text);
            break;
        }
        free(p->state);
        p->length = text.length;
        p->state = ergo_text_take(&text);
        p->step = run->step;
        p->samples = run->samples;
    }
    return status;
}

static enum ergo_status write_blobs(struct ergo_run *run, const char *name,
                                    struct ergo_blobs *blobs, bool ok) {
    char *path = ergo_path_join(run->folder, name);
    const enum ergo_status status =
        ok && path ? ergo_checkpoint_write(run->ctx, path, blobs) : no_memory(run);
    ergo_blobs_free(blobs);
    free(path);
    return status;
}

enum ergo_status ergo_spread_save(struct ergo_run *run) {
    struct ergo_blobs blobs = {0};
    struct ergo_text parcels = {0};
    char name[64];
    enum ergo_status status = note_current(run);
    if (status != ERGO_OK)
        return status;
    for (size_t i = 0; i < run->job->n_points; i++)
        if (run->spread->progress[i].step > 0)
            pack(run, i, &parcels);
    const struct header header = header_of(run);
    const bool ok =
        !parcels.failed && ergo_blobs_add(&blobs, "spread", &header, sizeof header) &&
        ergo_blobs_add(&blobs, "parcels", parcels.data ? parcels.data : "", parcels.length);
    ergo_text_free(&parcels);
    rank_file(name, sizeof name, run->spread->generation, (uint64_t)ergo_ranks_rank());
    return write_blobs(run, name, &blobs, ok);
}

static enum ergo_status write_index(struct ergo_run *run) {
    struct ergo_blobs blobs = {0};
    const struct header header = header_of(run);
    const char *job = run->job->canonical, *name = run->job->name;
    const char *started = run->result->started;
    const bool ok = ergo_blobs_add(&blobs, "job", job, strlen(job)) &&
                    ergo_blobs_add(&blobs, "name", name, strlen(name)) &&
                    ergo_blobs_add(&blobs, "started", started, strlen(started)) &&
                    ergo_blobs_add(&blobs, "spread", &header, sizeof header);
    return write_blobs(run, "checkpoint.h5", &blobs, ok);
}

static void remove_generation(const struct ergo_run *run, uint64_t generation, uint64_t ranks) {
    for (uint64_t r = 0; r < ranks; r++) {
        char name[64];
        rank_file(name, sizeof name, generation, r);
        char *path = ergo_path_join(run->folder, name);
        if (path)
            unlink(path);
        free(path);
    }
}

/* An earlier run goes only when this one can begin: kernels compile and memory suffices on all ranks.
 * (The others wait at the next barrier, where a rank that fails ends them.) */
static enum ergo_status prove(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    void *state = NULL;
    if (run->begun || !run->options->overwrite || !s->n_units)
        return ERGO_OK;
    const size_t u = (size_t)ergo_ranks_rank() % s->n_units;
    const enum ergo_status status =
        run->ops->create(run->ctx, &s->units[u].batch, run->device, &state);
    if (status != ERGO_OK)
        return status;
    run->ops->destroy(state);
    ergo_dist_barrier();
    return ERGO_OK;
}

/* Every rank's file first, then the index that names them, then away with the old ones: at any
 * moment some index is there whose files are all there. */
static enum ergo_status begin(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    enum ergo_status status = prove(run);
    if (status == ERGO_OK && ergo_ranks_rank() == 0 && !run->begun)
        status = ergo_run_begin(run); /* and away with an earlier run */
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    run->begun = true;
    status = ergo_spread_save(run);
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    if (ergo_ranks_rank() == 0) {
        status = write_index(run);
        if (status == ERGO_OK && s->generation)
            remove_generation(run, s->generation - 1, s->old_ranks);
    }
    return status;
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool add_unit(struct ergo_spread *s, const struct ergo_batch *batch,
                     struct ergo_point *const *points, size_t count) {
    struct unit *units = realloc(s->units, (s->n_units + 1) * sizeof *units);
    if (!units)
        return false;
    s->units = units;
    struct unit *unit = &units[s->n_units];
    *unit = (struct unit){.batch = {.job = batch->job, .count = count}};
    unit->batch.points = malloc(count * sizeof *points);
    if (!unit->batch.points)
        return false;
    memcpy(unit->batch.points, points, count * sizeof(struct ergo_point *));
    s->n_units++;
    return true;
}

/* Points of one batch at the same step, in pieces: two a rank, so that who is faster gets more. */
static bool split(struct ergo_run *run, const struct ergo_batch *batch) {
    struct ergo_spread *s = run->spread;
    struct ergo_point **group = malloc(batch->count * sizeof(struct ergo_point *));
    bool *used = calloc(batch->count, sizeof *used);
    bool ok = group && used;
    for (size_t first = 0; first < batch->count && ok; first++) {
        const struct progress *p = &s->progress[batch->points[first]->index];
        size_t count = 0;
        if (used[first] || p->step >= ergo_schedule_of(batch->points[first]).total)
            continue;
        for (size_t m = first; m < batch->count; m++) {
            const struct progress *other = &s->progress[batch->points[m]->index];
            if (used[m] || other->step != p->step || other->samples != p->samples)
                continue;
            used[m] = true;
            group[count++] = batch->points[m];
        }
        const size_t pieces = s->ranks > 1 ? 2 * (size_t)s->ranks : 1;
        const size_t each = (count + pieces - 1) / pieces;
        for (size_t at = 0; at < count && ok; at += each)
            ok = add_unit(s, batch, group + at, count - at < each ? count - at : each);
    }
    free(group);
    free(used);
    return ok;
}

static int by_work(const void *a, const void *b) {
    const struct unit *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

/* All ranks make the same units; rank 0 says how much work they are, so that all agree. */
static enum ergo_status make_units(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    enum ergo_status status = ERGO_OK;
    for (size_t b = 0; b < run->job->n_batches; b++)
        if (!split(run, &run->job->batches[b]))
            return no_memory(run);
    for (size_t u = 0; u < s->n_units && status == ERGO_OK; u++) {
        const struct ergo_point *first = s->units[u].batch.points[0];
        struct ergo_plan plan;
        status = run->ops->plan(run->ctx, &s->units[u].batch, run->device, &plan);
        if (status != ERGO_OK)
            return status;
        s->units[u].work =
            (double)(ergo_schedule_of(first).total - s->progress[first->index].step) *
            plan.work_per_step;
        s->units[u].order = u;
        ergo_dist_share(&s->units[u].work, sizeof s->units[u].work);
        run->work_total += s->units[u].work / (double)s->ranks;
    }
    if (s->n_units)
        qsort(s->units, s->n_units, sizeof *s->units, by_work);
    return status;
}

/* ---- run ------------------------------------------------------------------------------------- */

/* The states of a unit's points as the loop takes them. */
static enum ergo_status hand_states(struct ergo_run *run, const struct unit *unit) {
    struct ergo_text states = {0}, lengths = {0};
    const struct progress *first = &run->spread->progress[unit->batch.points[0]->index];
    run->step = first->step;
    run->samples = (size_t)first->samples;
    run->has_restored_states = first->step > 0;
    if (!run->has_restored_states)
        return ERGO_OK;
    for (size_t m = 0; m < unit->batch.count; m++) {
        const struct progress *p = &run->spread->progress[unit->batch.points[m]->index];
        ergo_text_append_bytes(&states, p->state ? p->state : "", (size_t)p->length);
        ergo_text_append_bytes(&lengths, &p->length, sizeof p->length);
    }
    const bool ok =
        !states.failed && !lengths.failed &&
        ergo_blobs_add(&run->restored, "states", states.data ? states.data : "", states.length) &&
        ergo_blobs_add(&run->restored, "state_lengths", lengths.data, lengths.length);
    ergo_text_free(&states);
    ergo_text_free(&lengths);
    return ok ? ERGO_OK : no_memory(run);
}

static enum ergo_status run_unit(struct ergo_run *run, struct unit *unit) {
    struct ergo_spread *s = run->spread;
    struct ergo_batch *const batches = run->job->batches;
    const size_t n_batches = run->job->n_batches;
    enum ergo_status status = hand_states(run, unit);
    for (size_t m = 0; m < unit->batch.count; m++)
        s->progress[unit->batch.points[m]->index].ours = true;
    s->current = unit;
    run->job->batches = &unit->batch;
    run->job->n_batches = 1;
    run->batch = 0;
    if (status == ERGO_OK)
        status = ergo_run_loop(run);
    run->job->batches = batches;
    run->job->n_batches = n_batches;
    if (run->state) { /* stopped, its states are noted; or failed */
        run->ops->destroy(run->state);
        run->state = NULL;
    }
    s->current = NULL;
    for (size_t m = 0; m < unit->batch.count && status == ERGO_OK && !run->stopped; m++) {
        struct progress *p = &s->progress[unit->batch.points[m]->index];
        const struct ergo_schedule schedule = ergo_schedule_of(unit->batch.points[m]);
        free(p->state);
        *p = (struct progress){schedule.total, schedule.n_samples, NULL, 0, true};
    }
    return status;
}

static enum ergo_status take_parcels(void *user, int rank, const char *data, size_t length) {
    struct ergo_run *run = user;
    return unpack_all(run, data, length)
               ? ERGO_OK
               : ERGO_FAIL(run->ctx, ERGO_E_INTERNAL, "the results of rank %d do not fit the job",
                           rank);
}

static enum ergo_status gather(struct ergo_run *run) {
    struct ergo_text parcels = {0};
    for (size_t i = 0; ergo_ranks_rank() > 0 && i < run->job->n_points; i++)
        if (run->spread->progress[i].ours && run->spread->progress[i].step > 0)
            pack(run, i, &parcels);
    const enum ergo_status status =
        parcels.failed ? no_memory(run) : ergo_dist_gather(run->ctx, &parcels, take_parcels, run);
    ergo_text_free(&parcels);
    return status;
}

enum ergo_status ergo_spread_run(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    enum ergo_status status = make_units(run);
    if (status == ERGO_OK)
        status = begin(run);
    if (status != ERGO_OK)
        return status;
    ergo_dist_counter_open();
    for (uint64_t u = ergo_dist_counter_next(); u < s->n_units && status == ERGO_OK;
         u = ergo_dist_counter_next()) {
        status = run_unit(run, &s->units[u]);
        if (run->stopped || status != ERGO_OK)
            break;
        ergo_log(run->ctx, ERGO_LOG_INFO, "rank %d has done piece %" PRIu64 " of %zu",
                 ergo_ranks_rank(), u + 1, s->n_units);
    }
    if (status != ERGO_OK)
        return status; /* the caller ends all ranks */
    status = ergo_spread_save(run);
    if (status != ERGO_OK)
        return status;
    ergo_dist_counter_close();
    run->stopped = ergo_dist_any(run->stopped);
    status = gather(run);
    if (status != ERGO_OK)
        return status;
    run->work_done = ergo_dist_sum(run->work_done);
    run->seconds_before = ergo_dist_max(ergo_run_seconds(run));
    run->sampling_started = 0;
    run->step = 0;
    run->batch = run->job->n_batches;
    if (!run->stopped && ergo_ranks_rank() == 0) {
        /* finished: a plain checkpoint, and resume only reports */
        const uint64_t generation = s->generation, ranks = s->ranks;
        ergo_spread_destroy(run);
        status = ergo_run_save(run);
        if (status == ERGO_OK)
            remove_generation(run, generation, ranks);
    }
    return status;
}
