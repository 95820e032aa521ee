/* Samples of a block into the result: series, histograms, curves. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "run/work.h"

bool ergo_samples_create(struct ergo_samples *samples, const struct ergo_batch *batch,
                         size_t count) {
    const struct ergo_model *model = batch->job->model;
    const struct ergo_point *first = batch->points[0];
    const size_t with_curves = count ? (count - 1) / (size_t)ergo_point_curve_every(first) + 1 : 0;
    *samples = (struct ergo_samples){0};
    samples->columns = malloc(count * batch->count * model->n_columns * sizeof(double) + 1);
    bool ok = samples->columns != NULL;
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = ergo_point_curve_size(first, c);
        if (!size || ((model->curves_at_end | model->histograms) >> c & 1))
            continue;
        const size_t rows = model->curves_sums >> c & 1 ? 1 : with_curves;
        samples->curves[c] = malloc(rows * batch->count * size * sizeof(double) + 1);
        ok = ok && samples->curves[c];
    }
    return ok;
}

void ergo_samples_free(struct ergo_samples *samples) {
    free(samples->columns);
    for (size_t c = 0; c < ERGO_CURVES_MAX; c++)
        free(samples->curves[c]);
    *samples = (struct ergo_samples){0};
}

/* A collected block on its way into the result. */
struct storing {
    struct ergo_work *work;
    const struct ergo_batch *batch;
    const struct ergo_samples *samples;
    size_t first; /* sample of the run */
    atomic_bool failed;
};

/* A member's columns as rows without gaps, for its series and estimates; false: no memory. */
static bool store_samples(const struct storing *a, size_t m, double *rows) {
    const struct ergo_samples *s = a->samples;
    const size_t width = a->work->job->model->n_columns, members = a->batch->count;
    for (size_t i = 0; i < s->count; i++)
        memcpy(rows + i * width, s->columns + (i * members + m) * width, width * sizeof *rows);
    return ergo_member_add(ergo_work_member(a->work, m), a->first, s->count, rows);
}

/* Every sample of a member after equilibration goes into its histograms. */
static void store_histograms(const struct storing *a, size_t m) {
    const struct ergo_model *model = a->work->job->model;
    const struct ergo_samples *s = a->samples;
    const struct ergo_point *point = a->batch->points[m];
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &a->work->result->members[point->index].binned[c];
        for (size_t i = 0; (model->histograms >> c & 1) && curve->size && i < s->count; i++) {
            const double *columns = s->columns + (i * a->batch->count + m) * model->n_columns;
            double count = 0;
            if (a->first + i < a->work->schedule.n_equilibration)
                continue;
            const size_t at = model->histogram_bin(point, c, columns, &count);
            ergo_curve_add_at(curve, at, count);
        }
    }
}

static void store_curves(const struct storing *a, size_t m) {
    const struct ergo_model *model = a->work->job->model;
    const struct ergo_samples *s = a->samples;
    const struct ergo_point *point = a->batch->points[m];
    const uint64_t every = ergo_point_curve_every(point);
    struct ergo_curve *curves = a->work->result->members[point->index].binned;
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = curves[c].size;
        const bool sums = model->curves_sums >> c & 1;
        const uint64_t own = size ? ergo_point_every_of_curve(point, c) : 1;
        /* samples whose index is a multiple of `every` carry curves */
        uint64_t index = (a->first + every - 1) / every * every;
        if (s->curves[c] && sums && a->first >= a->work->schedule.n_equilibration)
            ergo_curve_add_sum(&curves[c], s->curves[c] + m * size, s->count);
        for (size_t j = 0; j < s->n_curve_samples && s->curves[c] && !sums; j++, index += every)
            if (index >= a->work->schedule.n_equilibration && index % own == 0)
                ergo_curve_add(&curves[c], s->curves[c] + (j * a->batch->count + m) * size);
    }
}

static void store_members(size_t begin, size_t end, void *user) {
    struct storing *a = user;
    const size_t width = a->work->job->model->n_columns;
    double *rows = malloc((a->samples->count * width + 1) * sizeof *rows);
    bool ok = rows != NULL;
    for (size_t m = begin; m < end && ok; m++) {
        ok = store_samples(a, m, rows);
        store_histograms(a, m);
        store_curves(a, m);
    }
    free(rows);
    if (!ok)
        a->failed = true;
}

/* Samples that are worth a core. */
enum { WORTHWHILE = 256 };

enum ergo_status ergo_work_store(struct ergo_work *work, const struct ergo_batch *batch,
                                 const struct ergo_samples *samples, size_t first) {
    struct storing a = {work, batch, samples, first, false};
    if (samples->count)
        ergo_parallel_ranges(batch->count, WORTHWHILE / samples->count + 1, store_members, &a);
    return a.failed ? ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for estimates") : ERGO_OK;
}
