/* Warnings that a model has of its own: what the means of some observables say (`alarm`);
 * intervals of curves that no measurement meets; and histograms that end before the samples do. */
#include <math.h>

#include "job/schedule.h"
#include "result/result.h"

/* What the first chain says whose mean of observable o says something; NULL: none does. *count: how
 * many do. */
static const char *alarm_of(const struct ergo_result *r, size_t o, size_t *count) {
    const char *first = NULL;
    *count = 0;
    for (size_t i = 0; i < r->n_members; i++) {
        const struct ergo_member_result *m = &r->members[i];
        const struct ergo_observable_result *at = &m->observables[o];
        const char *says = m->n_samples > m->n_equilibration && isfinite(at->estimate.mean)
                               ? at->observable->alarm(m->point, at->estimate.mean)
                               : NULL;
        first = first ? first : says;
        *count += says != NULL;
    }
    return first;
}

/* A shortened run may have no measurement for its curves. */
static enum ergo_status warn_missed(struct ergo_context *ctx, struct ergo_result *r) {
    const struct ergo_job *job = r->job;
    enum ergo_status status = ERGO_OK;
    for (size_t k = ergo_schedule_missed(job, 0); k < job->n_keys && status == ERGO_OK;
         k = ergo_schedule_missed(job, k + 1)) {
        const struct ergo_schedule s = ergo_schedule_of(&job->points[0]);
        struct ergo_text text = {0};
        ergo_text_append(&text,
                         "of the run's measurements, numbers %zu to %zu with those of the "
                         "equilibration, none is a multiple of %s, %lld: no curves that go by it",
                         s.n_equilibration, s.n_samples ? s.n_samples - 1 : 0,
                         job->keys[k]->pointer, (long long)job->points[0].values[k].integer);
        if (text.failed || !ergo_result_add_warning(r, text.data, text.length))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a warning");
        ergo_text_free(&text);
    }
    return status;
}

/* Bins sum to 1 but for samples beyond the last one; rounding stays below 1e-10. */
struct ergo_result_beyond ergo_result_beyond(const struct ergo_result *r, size_t c) {
    struct ergo_result_beyond b = {.chains = 0};
    for (size_t i = 0; i < r->n_members && (r->job->model->histograms >> c & 1); i++) {
        const struct ergo_curve_result *curve = &r->members[i].curves[c];
        double inside = 0;
        for (size_t k = 0; k < curve->size; k++)
            inside += curve->mean[k];
        if (curve->size < 2)
            continue;
        const double width = curve->x[1] - curve->x[0], share = 1 - inside * width;
        if (!(share > 1e-10))
            continue;
        b.chains++;
        if (share > b.share) {
            b.share = share;
            b.last = curve->x[curve->size - 1] + 0.5 * (width - 1);
        }
    }
    return b;
}

static enum ergo_status warn_beyond(struct ergo_context *ctx, struct ergo_result *r) {
    enum ergo_status status = ERGO_OK;
    for (size_t c = 0; c < r->job->model->n_curves && status == ERGO_OK; c++) {
        const struct ergo_result_beyond b = ergo_result_beyond(r, c);
        struct ergo_text text = {0};
        if (!b.chains)
            continue;
        if (r->n_members > 1)
            ergo_text_append(&text, "in %zu of %zu %s ", b.chains, r->n_members,
                             r->n_means ? "chains" : "points");
        ergo_text_append(&text,
                         "%s ends at %.10g, and up to %.3g%% of the samples are beyond: it is not "
                         "the whole distribution. Means and the series have all samples",
                         r->job->model->curves[c].name, b.last, 100 * b.share);
        if (text.failed || !ergo_result_add_warning(r, text.data, text.length))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a warning");
        ergo_text_free(&text);
    }
    return status;
}

enum ergo_status ergo_result_alarms(struct ergo_context *ctx, struct ergo_result *r) {
    const struct ergo_model *model = r->job->model;
    enum ergo_status status = warn_missed(ctx, r);
    if (status == ERGO_OK)
        status = warn_beyond(ctx, r);
    for (size_t o = 0; o < model->n_observables && status == ERGO_OK; o++) {
        size_t count = 0;
        const char *says = model->observables[o].alarm ? alarm_of(r, o, &count) : NULL;
        struct ergo_text text = {0};
        if (!says)
            continue;
        if (r->n_members > 1)
            ergo_text_append(&text, "in %zu of %zu %s ", count, r->n_members,
                             r->n_means ? "chains" : "points");
        ergo_text_append(&text, "%s", says);
        if (text.failed || !ergo_result_add_warning(r, text.data, text.length))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a warning");
        ergo_text_free(&text);
    }
    return status;
}
