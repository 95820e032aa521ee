/* Series, curves and pictures of all members, a record of each kind. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "job/schedule.h"
#include "result/store.h"

/* Bins of a curve that hold samples: the others are zero and are not written. */
static size_t used_bins(const struct ergo_curve *curve) {
    return (size_t)((curve->count + curve->bin_length - 1) / curve->bin_length);
}

/* Per member, in job order. */
struct member_meta {
    uint64_t stream, steps, digest, n_samples, n_pictures;
};

/* Where the series of each member go in their record. */
struct places {
    const struct ergo_result *result;
    size_t *at; /* [n_members], owned */
    char *record;
};

static size_t series_bytes(const struct ergo_result *result, size_t i) {
    const struct ergo_member_result *m = &result->members[i];
    size_t bytes = 0;
    for (size_t c = 0; m->series && c < result->job->model->n_columns; c++)
        bytes += m->series[c] ? m->n_samples * sizeof(double) : 0;
    return bytes;
}

static void copy_series(size_t i, void *user) {
    const struct places *places = user;
    const struct ergo_member_result *m = &places->result->members[i];
    char *at = places->record + places->at[i];
    for (size_t c = 0; m->series && c < places->result->job->model->n_columns; c++)
        if (m->series[c]) {
            memcpy(at, m->series[c], m->n_samples * sizeof(double));
            at += m->n_samples * sizeof(double);
        }
}

/* The largest record, hundreds of megabytes: of its size at once, and copied by all cores. */
static bool add_series(const struct ergo_result *result, struct ergo_blobs *blobs) {
    struct places places = {result, calloc(result->n_members + 1, sizeof *places.at), NULL};
    size_t length = 0;
    for (size_t i = 0; places.at && i < result->n_members; i++) {
        places.at[i] = length;
        length += series_bytes(result, i);
    }
    places.record = places.at ? malloc(length + 1) : NULL;
    if (places.record) {
        ergo_parallel(result->n_members, result->n_members + 1, copy_series, &places);
        places.record[length] = 0;
    }
    free(places.at);
    return ergo_blobs_take(blobs, "series", places.record, length);
}

/* Series, curves and pictures of every member, each kind one blob. */
bool ergo_stored_add_members(const struct ergo_result *result, struct ergo_blobs *blobs) {
    const struct ergo_model *model = result->job->model;
    struct ergo_text metas = {0}, online = {0}, curves = {0}, pictures = {0};
    for (size_t i = 0; i < result->n_members; i++) {
        const struct ergo_member_result *m = &result->members[i];
        const struct member_meta meta = {m->point->stream, m->steps, m->digest, m->n_samples,
                                         m->n_pictures};
        ergo_text_append_bytes(&metas, &meta, sizeof meta);
        ergo_stored_append_state(m, &online);
        for (size_t c = 0; c < model->n_curves; c++) {
            const struct ergo_curve *curve = &m->binned[c];
            const uint64_t head[2] = {curve->count, curve->bin_length};
            ergo_text_append_bytes(&curves, head, sizeof head);
            ergo_text_append_bytes(&curves, curve->bins,
                                   used_bins(curve) * curve->size * sizeof(double));
        }
        ergo_stored_append_pictures(m, &pictures);
    }
    bool ok = ergo_stored_add_text(blobs, "members", &metas);
    ok = add_series(result, blobs) && ok;
    if (result->kept != ERGO_KEPT_FULL)
        ok = ergo_stored_add_text(blobs, "online", &online) && ok;
    ergo_text_free(&online);
    ok = ergo_stored_add_text(blobs, "curves", &curves) && ok;
    return ergo_stored_add_text(blobs, "pictures", &pictures) && ok;
}

/* ---- restore --------------------------------------------------------------------------------- */

bool ergo_stored_curve_fits(const struct ergo_model *model, size_t c, uint64_t count,
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

void ergo_stored_append_pictures(const struct ergo_member_result *m, struct ergo_text *text) {
    for (size_t k = 0; k < m->n_pictures; k++) {
        const struct ergo_picture *p = &m->pictures[k];
        const uint64_t head[3] = {m->picture_steps[k], p->width, p->height};
        ergo_text_append_bytes(text, head, sizeof head);
        ergo_text_append_bytes(text, p->rgb, (size_t)p->width * p->height * 3);
    }
}

bool ergo_stored_take_pictures(struct ergo_member_result *m, uint64_t count, bool keep,
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

static bool restore_meta(struct ergo_result *result, size_t i, struct ergo_reader *reader) {
    struct ergo_member_result *m = &result->members[i];
    const struct ergo_schedule schedule = ergo_schedule_of(m->point);
    struct member_meta meta;
    if (!ergo_reader_copy(reader, &meta, sizeof meta) || meta.stream != m->point->stream ||
        meta.n_samples > schedule.n_samples || meta.steps > schedule.total ||
        meta.n_pictures > ERGO_RESULT_PICTURES)
        return false;
    m->steps = meta.steps;
    m->digest = meta.digest;
    m->n_samples = (size_t)meta.n_samples;
    m->n_pictures = (size_t)meta.n_pictures;
    return true;
}

bool ergo_stored_take_series(struct ergo_member_result *m, uint64_t n_samples, bool keep,
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

static bool restore_series(struct ergo_result *result, size_t i, struct ergo_reader *reader) {
    return ergo_stored_take_series(&result->members[i], result->members[i].n_samples, true, reader);
}

static bool restore_online(struct ergo_result *result, size_t i, struct ergo_reader *reader) {
    return ergo_stored_take_state(&result->members[i], result->members[i].n_samples, true, reader);
}

static bool restore_curves(struct ergo_result *result, size_t i, struct ergo_reader *reader) {
    const struct ergo_model *model = result->job->model;
    const struct ergo_member_result *m = &result->members[i];
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &m->binned[c];
        uint64_t head[2];
        if (!ergo_reader_copy(reader, head, sizeof head) ||
            !ergo_stored_curve_fits(model, c, head[0], head[1], m->n_samples))
            return false;
        curve->count = head[0];
        curve->bin_length = head[1];
        if (!ergo_reader_copy(reader, curve->bins, used_bins(curve) * curve->size * sizeof(double)))
            return false;
    }
    return true;
}

static bool restore_pictures(struct ergo_result *result, size_t i, struct ergo_reader *reader) {
    struct ergo_member_result *m = &result->members[i];
    const size_t n = m->n_pictures; /* as restore_meta has read it */
    m->n_pictures = 0;
    return ergo_stored_take_pictures(m, n, true, reader);
}

enum ergo_status ergo_stored_restore(struct ergo_stored *stored, const char *name, uint64_t most,
                                     bool (*restore_one)(struct ergo_result *, size_t,
                                                         struct ergo_reader *)) {
    struct ergo_blobs blobs = {0};
    enum ergo_status status =
        ergo_checkpoint_load(stored->ctx, stored->checkpoint, name, most, &blobs);
    struct ergo_reader reader = ergo_reader_of(&blobs, name);
    bool fits = true;
    for (size_t i = 0; i < stored->result->n_members && status == ERGO_OK && fits; i++)
        fits = restore_one(stored->result, i, &reader);
    if (status == ERGO_OK && (!fits || reader.rest))
        status = ergo_stored_damaged(stored, ERGO_CHECKPOINT, name);
    ergo_blobs_free(&blobs);
    return status;
}

/* Bytes of the members' records, once their counts are known. */
struct sizes {
    uint64_t series, online, curves, pictures;
};

static struct sizes sizes_of(const struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    struct sizes sizes = {0, 0, 0, 0};
    for (size_t i = 0; i < result->n_members; i++) {
        const struct ergo_member_result *m = &result->members[i];
        sizes.series += series_bytes(result, i);
        sizes.online += ergo_member_state_size(m, m->n_samples) * sizeof(double);
        for (size_t c = 0; c < model->n_curves; c++) {
            const struct ergo_curve *curve = &m->binned[c];
            sizes.curves += 2 * sizeof(uint64_t) +
                            (curve->sum ? 1 : ERGO_CURVE_BINS) * curve->size * sizeof(double);
        }
        sizes.pictures += m->n_pictures * (3 * sizeof(uint64_t) +
                                           (uint64_t)3 * ERGO_PICTURE_SIDE * ERGO_PICTURE_SIDE);
    }
    return sizes;
}

enum ergo_status ergo_stored_read_members(struct ergo_stored *stored) {
    const size_t n = stored->result->n_members;
    enum ergo_status status =
        ergo_stored_restore(stored, "members", n * sizeof(struct member_meta), restore_meta);
    if (status != ERGO_OK)
        return status;
    const struct sizes sizes = sizes_of(stored->result);
    status = ergo_stored_restore(stored, "series", sizes.series, restore_series);
    if (status == ERGO_OK)
        status = ergo_stored_restore(stored, "online", sizes.online, restore_online);
    if (status == ERGO_OK)
        status = ergo_stored_restore(stored, "curves", sizes.curves, restore_curves);
    return status == ERGO_OK
               ? ergo_stored_restore(stored, "pictures", sizes.pictures, restore_pictures)
               : status;
}
