/* Warnings that a model has of its own: what the means of some observables say (`alarm`); and
 * intervals of curves that no measurement meets. */
#include <math.h>
#include <string.h>

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

enum ergo_status ergo_result_alarms(struct ergo_context *ctx, struct ergo_result *r) {
    const struct ergo_model *model = r->job->model;
    enum ergo_status status = warn_missed(ctx, r);
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
