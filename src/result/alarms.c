/* Warnings that a model has of its own: what the means of some observables say (`alarm`); intervals
 * of curves that no measurement meets; histograms that end before the samples do. And what goes one
 * way all through a run. */
#include <math.h>

#include "job/schedule.h"
#include "result/format.h"
#include "result/warner.h"

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

/* "in 3 of 8 points", where there are several. */
static void append_share(struct ergo_text *text, const struct ergo_result *r, const char *before,
                         size_t count, const char *after) {
    if (r->n_members > 1)
        ergo_text_append(text, "%s %zu of %zu %s%s", before, count, r->n_members,
                         r->n_means ? "chains" : "points", after);
}

/* A shortened run may have no measurement for its curves. */
void ergo_warn_missed(struct ergo_warner *w) {
    const struct ergo_job *job = w->result->job;
    for (size_t k = ergo_schedule_missed(job, 0); k < job->n_keys;
         k = ergo_schedule_missed(job, k + 1)) {
        const struct ergo_schedule s = ergo_schedule_of(&job->points[0]);
        struct ergo_text text = {0};
        ergo_text_append(&text,
                         "of the run's measurements, numbers %zu to %zu with those of the "
                         "equilibration, none is a multiple of %s, %lld: no curves that go by it",
                         s.n_equilibration, s.n_samples ? s.n_samples - 1 : 0,
                         job->keys[k]->pointer, (long long)job->points[0].values[k].integer);
        ergo_warner_add(w, &text);
    }
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

void ergo_warn_beyond(struct ergo_warner *w) {
    for (size_t c = 0; c < w->model->n_curves; c++) {
        const struct ergo_result_beyond b = ergo_result_beyond(w->result, c);
        struct ergo_text text = {0};
        if (!b.chains)
            continue;
        append_share(&text, w->result, "in", b.chains, " ");
        ergo_text_append(&text,
                         "%s ends at %.10g, and up to %.3g%% of the samples are beyond: it is not "
                         "the whole distribution. Means and the series have all samples",
                         w->model->curves[c].name, b.last, 100 * b.share);
        ergo_warner_add(w, &text);
    }
}

void ergo_warn_alarms(struct ergo_warner *w) {
    for (size_t o = 0; o < w->model->n_observables; o++) {
        size_t count = 0;
        const char *says = w->model->observables[o].alarm ? alarm_of(w->result, o, &count) : NULL;
        struct ergo_text text = {0};
        if (!says)
            continue;
        append_share(&text, w->result, "in", count, " ");
        ergo_text_append(&text, "%s", says);
        ergo_warner_add(w, &text);
    }
}

/* Chains in which it is so; *first: one of them. */
static size_t count(const struct ergo_result *r, size_t o,
                    const struct ergo_observable_result **first) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_members; i++) {
        const struct ergo_observable_result *at = &r->members[i].observables[o];
        if (!at->one_way || !ergo_warner_shown(&r->members[i], o))
            continue;
        *first = n++ ? *first : at;
    }
    return n;
}

/* It is too short for errors: its start is far from where it goes. To run longer alone would keep
 * the way there in the mean. */
void ergo_warn_trends(struct ergo_warner *w) {
    const struct ergo_result *r = w->result;
    const struct ergo_observable_result *shown = NULL, *first = NULL;
    struct ergo_text names = {0}, text = {0};
    char from[ERGO_CONCISE], to[ERGO_CONCISE];
    size_t most = 0;
    for (size_t o = 0; o < w->model->n_observables; o++) {
        const size_t n = count(r, o, &first);
        if (!n || n < r->n_members / 10) /* one of many may do so by chance */
            continue;
        ergo_text_append(&names, "%s%s", names.length ? ", " : "", w->model->observables[o].name);
        shown = shown ? shown : first;
        most = n > most ? n : most;
    }
    if (!shown)
        return;
    ergo_text_append(&text, "%s", names.data ? names.data : "");
    append_share(&text, r, " at", most, "");
    ergo_text_append(&text,
                     " went one way all the time, %s from %s in the first fifth of what was "
                     "measured to %s in the last: the start is far from equilibrium. Equilibrate "
                     "longer, or start nearer to what comes out",
                     shown->observable->name, ergo_format_short(from, shown->first, 4),
                     ergo_format_short(to, shown->last, 4));
    text.failed |= names.failed;
    ergo_text_free(&names);
    ergo_warner_add(w, &text);
}
