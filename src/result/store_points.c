/* Points in transit: series, curves, pictures and state of one, as bytes. */
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
    ergo_stored_append_state(m, text);
    for (size_t c = 0; c < model->n_curves; c++) {
        const struct ergo_curve *curve = &m->binned[c];
        const uint64_t counts[2] = {curve->count, curve->bin_length};
        ergo_text_append_bytes(text, counts, sizeof counts);
        ergo_text_append_bytes(text, curve->bins, curve_bytes(curve));
    }
    for (size_t k = 0; k < m->n_pictures; k++) {
        const uint64_t size[3] = {m->picture_steps[k], m->pictures[k].width, m->pictures[k].height};
        ergo_text_append_bytes(text, size, sizeof size);
        ergo_text_append_bytes(text, m->pictures[k].rgb, (size_t)(size[1] * size[2] * 3));
    }
    ergo_text_append_bytes(text, state ? state : "", (size_t)length);
}

/* The pictures of a parcel; the member's own are replaced when `keep`. */
static bool unpack_pictures(struct ergo_member_result *m, uint64_t count, bool keep,
                            struct ergo_reader *reader) {
    for (size_t k = 0; keep && k < m->n_pictures; k++)
        free(m->pictures[k].rgb);
    if (keep)
        m->n_pictures = 0;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t size[3];
        if (!ergo_reader_copy(reader, size, sizeof size) ||
            !ergo_stored_picture_fits(m, size[0], size[1], size[2]))
            return false;
        const void *rgb = ergo_reader_take(reader, size[1] * size[2] * 3);
        if (!rgb)
            return false;
        if (!keep)
            continue;
        struct ergo_picture *p = &m->pictures[k];
        *p = (struct ergo_picture){(unsigned)size[1], (unsigned)size[2],
                                   malloc((size_t)(size[1] * size[2] * 3))};
        if (!p->rgb)
            return false;
        memcpy(p->rgb, rgb, (size_t)(size[1] * size[2] * 3));
        m->picture_steps[k] = size[0];
        m->n_pictures++;
    }
    return true;
}

/* Reads one parcel and keeps it if it is further than what is known of its point. */
static bool unpack_one(struct ergo_result *result, struct ergo_point_progress *progress,
                       struct ergo_reader *reader) {
    const struct ergo_model *model = result->job->model;
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
    for (size_t c = 0; c < model->n_columns && m->series; c++) {
        if (!m->series[c])
            continue;
        const void *series = ergo_reader_take(reader, head.n_samples * sizeof(double));
        if (!series)
            return false;
        if (keep && head.n_samples)
            memcpy(m->series[c], series, (size_t)head.n_samples * sizeof(double));
    }
    if (!ergo_stored_take_state(m, head.n_samples, keep, reader))
        return false;
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &m->binned[c];
        uint64_t counts[2];
        if (!ergo_reader_copy(reader, counts, sizeof counts))
            return false;
        const size_t bytes = curve_bytes(curve);
        const void *bins = ergo_reader_take(reader, bytes);
        if (!bins || !ergo_stored_curve_fits(model, c, counts[0], counts[1], head.n_samples))
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
    const void *state = ergo_reader_take(reader, head.state_length);
    if (!state)
        return false;
    if (keep) {
        char *own = malloc((size_t)head.state_length + 1);
        if (!own)
            return false;
        memcpy(own, state, (size_t)head.state_length);
        free(p->state);
        *p = (struct ergo_point_progress){head.step, head.samples, NULL, 0, p->ours};
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
