/* Single points: their records in files and for other ranks, and points put back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "job/schedule.h"
#include "result/store.h"

/* Fixed-width: this is a file format. Series, estimators, curves and pictures follow. */
struct point {
    uint64_t index, stream, steps, digest, step, samples, n_pictures;
};

/* Bytes follow; none: the state in which a point has ended was not kept. */
struct state {
    uint64_t index, step, length;
};

/* ---- estimators and curves: what samples were added to ----------------------------------------
 */

static size_t all_bytes(const struct ergo_curve *curve) {
    return (curve->sum ? 1 : ERGO_CURVE_BINS) * curve->size * sizeof(double);
}

/* Of bins that hold samples: the others are zero and are not written. */
static size_t used_bytes(const struct ergo_curve *curve, uint64_t count, uint64_t length) {
    return (size_t)((count + length - 1) / length) * curve->size * sizeof(double);
}

/* The estimators of a member whose series is not kept, else nothing. */
static void append_estimators(const struct ergo_member_result *m, size_t n_samples,
                              struct ergo_text *text) {
    const size_t size = ergo_member_state_size(m, n_samples) * sizeof(double);
    double *state = size ? malloc(size) : NULL;
    text->failed |= size && !state;
    if (!state)
        return;
    ergo_member_save(m, state);
    ergo_text_append_bytes(text, state, size);
    free(state);
}

static bool take_estimators(struct ergo_member_result *m, uint64_t n_samples, bool keep,
                            struct ergo_reader *reader) {
    const size_t size = ergo_member_state_size(m, (size_t)n_samples) * sizeof(double);
    if (m->series) /* of which they are made */
        return true;
    const void *bytes = ergo_reader_take(reader, size);
    if (!bytes || !keep)
        return bytes != NULL;
    double *state = malloc(size + 1); /* the record is not aligned */
    if (state)
        memcpy(state, bytes, size);
    const bool ok = state && ergo_member_load(m, (size_t)n_samples, state);
    free(state);
    return ok;
}

bool ergo_point_curve_fits(const struct ergo_model *model, size_t c, uint64_t count,
                           uint64_t length, uint64_t n_samples) {
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

static void append_sums(const struct ergo_member_result *m, size_t n_samples,
                        struct ergo_text *text) {
    append_estimators(m, n_samples, text);
    for (size_t c = 0; c < m->point->job->model->n_curves; c++) {
        const struct ergo_curve *curve = &m->binned[c];
        const uint64_t counts[2] = {curve->count, curve->bin_length};
        ergo_text_append_bytes(text, counts, sizeof counts);
        ergo_text_append_bytes(text, curve->bins, used_bytes(curve, counts[0], counts[1]));
    }
}

/* Of a member with that many samples; kept when `keep`. */
static bool take_sums(struct ergo_member_result *m, uint64_t n_samples, bool keep,
                      struct ergo_reader *reader) {
    const struct ergo_model *model = m->point->job->model;
    if (!take_estimators(m, n_samples, keep, reader))
        return false;
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &m->binned[c];
        uint64_t counts[2];
        if (!ergo_reader_copy(reader, counts, sizeof counts) ||
            !ergo_point_curve_fits(model, c, counts[0], counts[1], n_samples))
            return false;
        const size_t bytes = used_bytes(curve, counts[0], counts[1]);
        const void *bins = ergo_reader_take(reader, bytes);
        if (!bins)
            return false;
        if (!keep || !curve->size)
            continue;
        curve->count = counts[0];
        curve->bin_length = counts[1];
        memset(curve->bins, 0, all_bytes(curve));
        memcpy(curve->bins, bins, bytes);
    }
    return true;
}

/* ---- series and pictures --------------------------------------------------------------------- */

static bool take_series(struct ergo_member_result *m, uint64_t n_samples, bool keep,
                        struct ergo_reader *reader) {
    const size_t bytes = (size_t)n_samples * sizeof(double);
    for (size_t c = 0; c < m->point->job->model->n_columns && m->series; c++) {
        const void *series = m->series[c] ? ergo_reader_take(reader, bytes) : NULL;
        if (m->series[c] && !series)
            return false;
        if (series && keep && bytes)
            memcpy(m->series[c], series, bytes);
    }
    return true;
}

static void append_pictures(const struct ergo_member_result *m, struct ergo_text *text) {
    for (size_t k = 0; k < m->n_pictures; k++) {
        const struct ergo_picture *p = &m->pictures[k];
        const uint64_t head[3] = {m->picture_steps[k], p->width, p->height};
        ergo_text_append_bytes(text, head, sizeof head);
        ergo_text_append_bytes(text, p->rgb, (size_t)p->width * p->height * 3);
    }
}

static bool take_pictures(struct ergo_member_result *m, uint64_t count, bool keep,
                          struct ergo_reader *reader) {
    while (keep && m->n_pictures)
        free(m->pictures[--m->n_pictures].rgb);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t head[3];
        if (!ergo_reader_copy(reader, head, sizeof head) ||
            head[0] > ergo_schedule_of(m->point).total || !head[1] || !head[2] ||
            head[1] > ERGO_PICTURE_SIDE || head[2] > ERGO_PICTURE_SIDE)
            return false;
        const size_t bytes = (size_t)(head[1] * head[2] * 3);
        const void *rgb = ergo_reader_take(reader, bytes);
        uint8_t *own = rgb && keep ? malloc(bytes) : NULL;
        if (!rgb || (keep && !own))
            return false;
        if (!keep)
            continue;
        m->pictures[m->n_pictures] =
            (struct ergo_picture){(unsigned)head[1], (unsigned)head[2], memcpy(own, rgb, bytes)};
        m->picture_steps[m->n_pictures++] = head[0];
    }
    return true;
}

/* ---- a point --------------------------------------------------------------------------------- */

static bool has_ended(const struct ergo_member_result *m, uint64_t step) {
    return step == ergo_schedule_of(m->point).total;
}

void ergo_point_append(const struct ergo_result *result, const struct ergo_point_progress *progress,
                       size_t i, struct ergo_text *text) {
    const struct ergo_member_result *m = &result->members[i];
    const struct ergo_point_progress *p = &progress[i];
    const struct point head = {i,       m->point->stream, m->steps,     m->digest,
                               p->step, p->samples,       m->n_pictures};
    ergo_text_append_bytes(text, &head, sizeof head);
    for (size_t c = 0; c < result->job->model->n_columns && m->series; c++)
        if (m->series[c])
            ergo_text_append_bytes(text, m->series[c], (size_t)p->samples * sizeof(double));
    append_sums(m, (size_t)p->samples, text);
    append_pictures(m, text);
}

bool ergo_point_take(struct ergo_result *result, struct ergo_point_progress *progress,
                     struct ergo_reader *reader) {
    struct point head;
    if (!ergo_reader_copy(reader, &head, sizeof head) || head.index >= result->n_members ||
        head.n_pictures > ERGO_RESULT_PICTURES)
        return false;
    struct ergo_member_result *m = &result->members[head.index];
    struct ergo_point_progress *p = &progress[head.index];
    const struct ergo_schedule s = ergo_schedule_of(m->point);
    if (head.stream != m->point->stream || head.steps > head.step ||
        (head.step == s.total && head.steps < s.total) ||
        !ergo_schedule_allows(&s, head.step, head.samples))
        return false;
    const bool keep = head.step > p->step;
    if (!take_series(m, head.samples, keep, reader) || !take_sums(m, head.samples, keep, reader) ||
        !take_pictures(m, head.n_pictures, keep, reader))
        return false;
    if (keep) {
        ergo_progress_drop_state(p);
        p->step = head.step;
        p->samples = head.samples;
        m->steps = head.steps;
        m->digest = head.digest;
        m->n_samples = (size_t)head.samples;
    }
    return true;
}

void ergo_point_append_state(const struct ergo_result *result,
                             const struct ergo_point_progress *progress, size_t i,
                             struct ergo_text *text) {
    const struct ergo_member_result *m = &result->members[i];
    const struct ergo_point_progress *p = &progress[i];
    const bool ended = has_ended(m, p->step);
    const char *bytes = ended ? m->state : p->state;
    const struct state head = {i, p->step, !bytes ? 0 : ended ? m->state_length : p->length};
    ergo_text_append_bytes(text, &head, sizeof head);
    ergo_text_append_bytes(text, bytes ? bytes : "", (size_t)head.length);
}

void ergo_point_give_state(const struct ergo_result *result, struct ergo_point_progress *progress,
                           size_t i, struct ergo_text *text) {
    struct ergo_point_progress *p = &progress[i];
    const struct state head = {i, p->step, p->length};
    const size_t length = sizeof head + (size_t)p->length;
    if (p->state && !text->data) {
        char *all = realloc(p->state, length + 1);
        text->failed = !all;
        if (!all)
            return;
        memmove(all + sizeof head, all, (size_t)p->length);
        memcpy(all, &head, sizeof head);
        all[length] = 0;
        *text = (struct ergo_text){.data = all, .length = length, .capacity = length + 1};
        p->state = NULL;
    } else {
        ergo_point_append_state(result, progress, i, text);
    }
    ergo_progress_drop_state(p);
}

bool ergo_point_take_state(struct ergo_result *result, struct ergo_point_progress *progress,
                           struct ergo_reader *reader, char **record) {
    struct state head;
    if (!ergo_reader_copy(reader, &head, sizeof head) || head.index >= result->n_members)
        return false;
    const void *bytes = ergo_reader_take(reader, head.length);
    struct ergo_member_result *m = &result->members[head.index];
    struct ergo_point_progress *p = &progress[head.index];
    const bool ended = has_ended(m, head.step);
    if (!bytes || head.step > p->step || (head.step && !head.length && !ended) ||
        (!head.step && head.length)) /* a rank whose device failed as it left sends step 0 */
        return false;
    if (!head.length || head.step < p->step || (ended ? m->state : p->state))
        return true;
    const bool alone = record && *record + sizeof head == bytes && !reader->rest;
    char *own = alone ? *record : malloc((size_t)head.length);
    if (!own)
        return false;
    memmove(own, bytes, (size_t)head.length);
    if (alone)
        *record = NULL;
    if (ended) {
        ergo_result_keep_state(result, m, own, (size_t)head.length);
    } else {
        p->state = own;
        p->length = head.length;
    }
    return true;
}

void ergo_point_pack(const struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i, struct ergo_text *text) {
    ergo_point_append(result, progress, i, text);
    ergo_point_append_state(result, progress, i, text);
}

bool ergo_points_unpack(struct ergo_result *result, struct ergo_point_progress *progress,
                        const char *data, size_t length) {
    struct ergo_reader reader = {data, length};
    while (reader.rest)
        if (!ergo_point_take(result, progress, &reader) ||
            !ergo_point_take_state(result, progress, &reader, NULL))
            return false;
    return true;
}

double ergo_points_most(const struct ergo_result *result) {
    enum { HEADS = 1 << 20 };
    double most = ergo_result_bytes(result->job);
    for (size_t i = 0; i < result->n_members; i++)
        most += HEADS +
                (double)(result->members[i].n_blocks * result->measured->plan.n_series *
                         sizeof(double)) +
                3.0 * ERGO_RESULT_PICTURES * ERGO_PICTURE_SIDE * ERGO_PICTURE_SIDE;
    return fmin(most, ergo_memory());
}

void ergo_progress_drop_state(struct ergo_point_progress *progress) {
    free(progress->state);
    progress->state = NULL;
    progress->length = 0;
}

void ergo_progress_forget(struct ergo_point_progress *progress) {
    ergo_progress_drop_state(progress);
    free(progress->mark);
    *progress = (struct ergo_point_progress){0};
}

void ergo_progress_free(struct ergo_point_progress *progress, size_t n) {
    for (size_t i = 0; progress && i < n; i++)
        ergo_progress_forget(&progress[i]);
    free(progress);
}

/* ---- back to an earlier step ------------------------------------------------------------------
 */

/* What a mark holds, before the sums. */
struct mark {
    uint64_t steps, digest;
};

bool ergo_point_mark(const struct ergo_result *result, struct ergo_point_progress *progress,
                     size_t i) {
    const struct ergo_member_result *m = &result->members[i];
    const struct mark mark = {m->steps, m->digest};
    struct ergo_text text = {0};
    ergo_text_append_bytes(&text, &mark, sizeof mark);
    append_sums(m, (size_t)progress[i].samples, &text);
    const bool ok = !text.failed;
    if (ok) {
        free(progress[i].mark);
        progress[i].mark_length = text.length;
        progress[i].mark = ergo_text_take(&text);
    }
    ergo_text_free(&text);
    return ok;
}

/* The sums of a member that has measured nothing. */
static bool clear_sums(const struct ergo_result *result, struct ergo_member_result *m) {
    const size_t n_measured = m->n_measured;
    for (size_t c = 0; c < result->job->model->n_curves; c++) {
        struct ergo_curve *curve = &m->binned[c];
        curve->count = 0;
        curve->bin_length = 1;
        memset(curve->bins, 0, all_bytes(curve));
    }
    ergo_member_forget(m);
    return ergo_member_measures(m, result->measured, n_measured);
}

bool ergo_point_back(struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i) {
    struct ergo_member_result *m = &result->members[i];
    const struct ergo_point_progress *p = &progress[i];
    struct ergo_reader reader = {p->mark, (size_t)p->mark_length};
    struct mark mark = {0, 0};
    m->n_samples = (size_t)p->samples;
    while (m->n_pictures && m->picture_steps[m->n_pictures - 1] > p->step)
        free(m->pictures[--m->n_pictures].rgb);
    if (!clear_sums(result, m))
        return false;
    if (p->step > 0 && (!ergo_reader_copy(&reader, &mark, sizeof mark) ||
                        !take_sums(m, m->n_samples, true, &reader)))
        return false;
    m->steps = mark.steps;
    m->digest = mark.digest;
    return true;
}
