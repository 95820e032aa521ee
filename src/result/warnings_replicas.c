/* Warnings about replicas: too few samples of a disorder, and chains that disagree. */
#include <inttypes.h>
#include <math.h>

#include "result/warner.h"

static bool decides(const struct ergo_warner *w, const struct ergo_mean_result *mean, size_t o,
                    enum ergo_trust trust) {
    const struct ergo_observable_result *r = &mean->observables[o];
    return r->trust == trust &&
           ergo_warner_tells(r, mean->because, w->result->members[mean->first].point);
}

static bool disagrees(const struct ergo_warner *w, const struct ergo_mean_result *mean, size_t o) {
    return decides(w, mean, o, ERGO_TRUST_REPLICAS);
}

/* "replicas 3, 17 and 40 more of 64 are apart": names a few; result.json has all. */
static void append_apart(struct ergo_text *text, const struct ergo_mean_result *mean) {
    const size_t most = 8;
    ergo_text_append(text, "; apart from the others: replica%s ", mean->n_apart == 1 ? "" : "s");
    for (size_t k = 0; k < mean->n_apart && k < most; k++)
        ergo_text_append(text, "%s%" PRIu32, k ? ", " : "", mean->apart[k]);
    if (mean->n_apart > most)
        ergo_text_append(text, " and %zu more", mean->n_apart - most);
    ergo_text_append(text, " of %zu", mean->replicas);
}

static void append_extreme(struct ergo_text *text, const struct ergo_member_result *m, size_t o) {
    const struct ergo_estimate *e = &m->observables[o].estimate;
    if (e->error > 0)
        ergo_text_append(text, "%.6g +- %.2g (replica %" PRIu32 ")", e->mean, e->error,
                         m->point->replica);
    else
        ergo_text_append(text, "%.6g (replica %" PRIu32 ")", e->mean, m->point->replica);
}

static void append_numbers(struct ergo_text *text, const struct ergo_warner *w,
                           const struct ergo_mean_result *mean, size_t o) {
    const struct ergo_member_result *from = &w->result->members[mean->first];
    const struct ergo_member_result *low = NULL, *high = NULL;
    const struct ergo_scatter *scatter = &mean->scatters[o];
    for (size_t k = 0; k < mean->replicas; k++) {
        const struct ergo_observable_result *r = &from[k].observables[o];
        if (r->trust == ERGO_TRUST_NONE)
            continue;
        if (!low || r->estimate.mean < low->observables[o].estimate.mean)
            low = &from[k];
        if (!high || r->estimate.mean > high->observables[o].estimate.mean)
            high = &from[k];
    }
    if (!low || !high)
        return;
    ergo_text_append(text, "%s from ", w->model->observables[o].name);
    append_extreme(text, low, o);
    ergo_text_append(text, " to ");
    append_extreme(text, high, o);
    if (isfinite(scatter->chi2))
        ergo_text_append(text, ", chi^2 %.3g for %zu", scatter->chi2, scatter->dof);
}

void ergo_warn_samples(struct ergo_warner *w) {
    for (size_t i = 0; i < w->result->n_means; i++) {
        const struct ergo_mean_result *mean = &w->result->means[i];
        const struct ergo_member_result *first = &w->result->members[mean->first];
        struct ergo_text text = {0};
        bool few = false;
        for (size_t o = 0; o < w->model->n_observables; o++)
            few = few ||
                  (mean->observables[o].trust == ERGO_TRUST_FEW && ergo_warner_shown(first, o));
        if (!few || mean->replicas >= ERGO_SCATTER_LEAST ||
            !ergo_point_samples_disorder(first->point))
            continue;
        ergo_text_append(&text,
                         "means over %zu samples of the disorder have no error: /replicas %d or "
                         "more",
                         mean->replicas, ERGO_SCATTER_LEAST);
        ergo_warner_add(w, &text);
        return; /* it is the same at all points */
    }
}

/* What no chain shows, but all together. */
void ergo_warn_together(struct ergo_warner *w) {
    for (size_t i = 0; i < w->result->n_means; i++)
        for (size_t o = 0; o < w->model->n_observables; o++) {
            const struct ergo_mean_result *mean = &w->result->means[i];
            const struct ergo_observable_result *r = &mean->observables[o];
            struct ergo_text text = {0};
            if (mean->scatters[o].lost || !decides(w, mean, o, ERGO_TRUST_DRIFT))
                continue;
            ergo_text_append(&text, "not equilibrated");
            if (w->result->n_means > 1) {
                ergo_text_append(&text, " (first: ");
                ergo_warner_point(&text, w->result->members[mean->first].point, false);
                ergo_text_append(&text, ")");
            }
            ergo_text_append(&text,
                             ": of %s the first fifth of what %zu replicas measured is, all "
                             "together, %.1f standard errors from the last half. No error of such "
                             "a point is trusted: equilibrate longer",
                             r->observable->name, mean->replicas, fabs(r->drift));
            ergo_warner_add(w, &text);
            return;
        }
}

/* Where replicas differ most, by the first observable that shows it, usually the energy. */
void ergo_warn_replicas(struct ergo_warner *w) {
    const struct ergo_mean_result *worst = NULL;
    size_t count = 0, first = w->model->n_observables;
    double most = -1;
    struct ergo_text text = {0};
    const char *separator = ". Also ";
    for (size_t i = 0; i < w->result->n_means; i++) {
        double size = -1;
        for (size_t o = 0; o < w->model->n_observables; o++) {
            const struct ergo_scatter *s = &w->result->means[i].scatters[o];
            if (disagrees(w, &w->result->means[i], o))
                size = fmax(size, s->dof ? s->chi2 / (double)s->dof : 0);
        }
        count += size >= 0;
        if (size > most) {
            most = size;
            worst = &w->result->means[i];
        }
    }
    if (!worst)
        return;
    const struct ergo_point *point = w->result->members[worst->first].point;
    ergo_text_append(&text, "replicas disagree");
    if (w->result->n_means > 1) {
        ergo_text_append(&text, " at %zu of %zu points (most: ", count, w->result->n_means);
        ergo_warner_point(&text, point, false);
        ergo_text_append(&text, ")");
    }
    ergo_text_append(&text, ", and their mean has no trustworthy error: ");
    for (size_t o = 0; o < w->model->n_observables; o++) {
        if (!disagrees(w, worst, o))
            continue;
        if (first == w->model->n_observables) {
            first = o;
            append_numbers(&text, w, worst, o);
            if (worst->n_apart)
                append_apart(&text, worst);
            continue;
        }
        ergo_text_append(&text, "%s%s", separator, w->model->observables[o].name);
        separator = ", ";
    }
    const char *remedy = ergo_point_remedy(point);
    ergo_text_append(&text, "%s%s", remedy ? ". Remedy: " : "", remedy ? remedy : "");
    ergo_warner_add(w, &text);
}
