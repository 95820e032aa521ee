/* Points in transit: series, curves, pictures and state of one, as bytes; and points put back. */
#include <stdlib.h>

#include "job/schedule.h"
#include "result/store.h"

/* One point on its way to another rank or into a file; series, curves, pictures, state follow. */
struct parcel {
    uint64_t index, stream, steps, digest, n_samples, n_pictures, step, samples, state_length;
};

static size_t curve_bytes(const struct ergo_curve *curve) {
    return (curve->sum ? 1 : ERGO_CURVE_BINS) * curve->size * sizeof(double);
}

/* What samples were added to: the estimators of a member whose series is not kept, and curves. */
static void pack_sums(const struct ergo_result *result, const struct ergo_member_result *m,
                      struct ergo_text *text) {
    ergo_stored_append_state(m, text);
    for (size_t c = 0; c < result->job->model->n_curves; c++) {
        const struct ergo_curve *curve = &m->binned[c];
        const uint64_t counts[2] = {curve->count, curve->bin_length};
        ergo_text_append_bytes(text, counts, sizeof counts);
        ergo_text_append_bytes(text, curve->bins, curve_bytes(curve));
    }
}

void ergo_point_pack(const struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i, struct ergo_text *text) {
    const struct ergo_model *model = result->job->model;
    const struct ergo_member_result *m = &result->members[i];
    const struct ergo_point_progress *p = &progress[i];
    const bool ended = p->step == ergo_schedule_of(m->point).total;
    const char *state = ended ? m->state : p->state;
    const uint64_t length = !state ? 0 : ended ? m->state_length : p->length;
    const struct parcel head = {i,         m->point->stream, m->steps,
                                m->digest, m->n_samples,     m->n_pictures,
                                p->step,   p->samples,       length};
    ergo_text_append_bytes(text, &head, sizeof head);
    for (size_t c = 0; c < model->n_columns && m->series; c++)
        if (m->series[c])
            ergo_text_append_bytes(text, m->series[c], m->n_samples * sizeof(double));
    pack_sums(result, m, text);
    ergo_stored_append_pictures(m, text);
    ergo_text_append_bytes(text, state ? state : "", (size_t)length);
}

/* Of a member with that many samples; kept when `keep`. */
static bool unpack_sums(const struct ergo_result *result, struct ergo_member_result *m,
                        uint64_t n_samples, bool keep, struct ergo_reader *reader) {
    const struct ergo_model *model = result->job->model;
    if (!ergo_stored_take_state(m, n_samples, keep, reader))
        return false;
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &m->binned[c];
        uint64_t counts[2];
        if (!ergo_reader_copy(reader, counts, sizeof counts))
            return false;
        const size_t bytes = curve_bytes(curve);
        const void *bins = ergo_reader_take(reader, bytes);
        if (!bins || !ergo_stored_curve_fits(model, c, counts[0], counts[1], n_samples))
            return false;
        if (keep) {
            curve->count = counts[0];
            curve->bin_length = counts[1];
            if (bytes)
                memcpy(curve->bins, bins, bytes);
        }
    }
    return true;
}

/* Reads one parcel and keeps it if it is further than what is known of its point. */
static bool unpack_one(struct ergo_result *result, struct ergo_point_progress *progress,
                       struct ergo_reader *reader) {
    struct parcel head;
    if (!ergo_reader_copy(reader, &head, sizeof head) || head.index >= result->n_members ||
        head.n_pictures > ERGO_RESULT_PICTURES)
        return false;
    struct ergo_member_result *m = &result->members[head.index];
    struct ergo_point_progress *p = &progress[head.index];
    const struct ergo_schedule s = ergo_schedule_of(m->point);
    if (head.stream != m->point->stream || head.steps > s.total || head.samples != head.n_samples ||
        !ergo_schedule_allows(&s, head.step, head.samples) ||
        (head.step > 0 && head.step < s.total && !head.state_length))
        return false;
    const bool keep = head.step > p->step;
    if (!ergo_stored_take_series(m, head.n_samples, keep, reader) ||
        !unpack_sums(result, m, head.n_samples, keep, reader) ||
        !ergo_stored_take_pictures(m, head.n_pictures, keep, reader))
        return false;
    const void *state = ergo_reader_take(reader, head.state_length);
    if (!state)
        return false;
    if (keep) {
        char *own = malloc((size_t)head.state_length + 1);
        if (!own)
            return false;
        memcpy(own, state, (size_t)head.state_length);
        free(p->state);
        p->step = head.step;
        p->samples = head.samples;
        p->state = NULL;
        p->length = 0;
        if (head.step < s.total) {
            p->state = own;
            p->length = head.state_length;
        } else if (head.state_length) {
            ergo_result_keep_state(result, m, own, (size_t)head.state_length);
        } else {
            free(own);
        }
        m->steps = head.steps;
        m->digest = head.digest;
        m->n_samples = (size_t)head.n_samples;
    }
    return true;
}

bool ergo_points_unpack(struct ergo_result *result, struct ergo_point_progress *progress,
                        const char *data, size_t length) {
    struct ergo_reader reader = {data, length};
    while (reader.rest)
        if (!unpack_one(result, progress, &reader))
            return false;
    return true;
}

void ergo_progress_forget(struct ergo_point_progress *progress) {
    free(progress->state);
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
    pack_sums(result, m, &text);
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
        memset(curve->bins, 0, curve_bytes(curve));
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
                        !unpack_sums(result, m, m->n_samples, true, &reader)))
        return false;
    m->steps = mark.steps;
    m->digest = mark.digest;
    return true;
}
