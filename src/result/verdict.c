/*
 * The verdict on a chain. Its observables have one state in common: where one of them shows that it
 * has not equilibrated, stands still, or is too short for its slowest mode, no other can tell, and
 * all its errors are refused with that reason. What is slow by its physics (a sign that no other
 * observable knows) speaks for itself alone, and so does what is no mean over the chain.
 */
#include <math.h>
#include <string.h>

#include "result/result.h"

bool ergo_observable_is_acceptance(const struct ergo_observable *x) {
    return strstr(x->name, "acceptance");
}

bool ergo_observable_tells(const struct ergo_observable *x, const struct ergo_point *point) {
    return (ergo_observable_sampled(x) || (x->curve && !x->independent)) &&
           ergo_observable_may_show(x, point) &&
           (!x->of_moves || ergo_observable_is_acceptance(x)) && !(x->slow && x->slow(point));
}

/* Whatever /run/observables asks for, so that the verdict does not depend on it. */
bool ergo_observable_speaks(const struct ergo_observable *x, const struct ergo_point *point) {
    return ergo_observable_sampled(x) && ergo_observable_tells(x, point);
}

static bool speaks(const struct ergo_member_result *m, size_t o) {
    return ergo_observable_speaks(m->observables[o].observable, m->point);
}

double ergo_chain_window(const struct ergo_member_result *m, double *tau) {
    double window = *tau = 0;
    for (size_t o = 0; o < m->point->job->model->n_observables; o++) {
        const struct ergo_observable_result *r = &m->observables[o];
        if (!speaks(m, o) || ergo_observable_is_acceptance(r->observable) || r->estimate.constant)
            continue;
        window = fmax(window, r->estimate.window);
        *tau = fmax(*tau, r->estimate.tau);
    }
    return window;
}

/* The energy, or what a model has instead, never changed, and no move was accepted: what still
 * varies, a weight of insertions that were only tried, knows one configuration. */
static bool stands(const struct ergo_member_result *m) {
    bool moved = m->observables[0].trust != ERGO_TRUST_CONSTANT || !speaks(m, 0);
    for (size_t o = 0; o < m->point->job->model->n_observables; o++)
        moved = moved || (ergo_observable_is_acceptance(m->observables[o].observable) &&
                          speaks(m, o) && m->observables[o].estimate.mean > 0);
    return !moved;
}

static const struct ergo_observable_result *reason_of(const struct ergo_member_result *m) {
    const struct ergo_observable_result *why = stands(m) ? &m->observables[0] : NULL;
    for (size_t o = 0; o < m->point->job->model->n_observables; o++) {
        const struct ergo_observable_result *r = &m->observables[o];
        if (ergo_observable_tells(r->observable, m->point) &&
            ((r->trust == ERGO_TRUST_DRIFT && (!why || why->trust != ERGO_TRUST_DRIFT)) ||
             (r->trust == ERGO_TRUST_SHORT && !ergo_observable_is_acceptance(r->observable) &&
              (ergo_observable_sampled(r->observable) || r->estimate.slow) && !why)))
            why = r;
    }
    return why;
}

void ergo_observable_share(struct ergo_observable_result *r,
                           const struct ergo_observable_result *why) {
    if (r->trust != ERGO_TRUST_FULL || r->estimate.constant || r->observable->fact ||
        r->observable->independent)
        return;
    ergo_observable_refuse(r, why->trust);
    r->because = why->observable;
}

void ergo_chain_judge(struct ergo_member_result *m) {
    const struct ergo_observable_result *why = reason_of(m);
    for (size_t o = 0; o < m->point->job->model->n_observables; o++) {
        struct ergo_observable_result *r = &m->observables[o];
        if (r->trust == ERGO_TRUST_SHORT && r->observable->slow && r->observable->slow(m->point) &&
            !(why && why->trust == ERGO_TRUST_SHORT))
            r->trust = ERGO_TRUST_SLOW;
        if (why)
            ergo_observable_share(r, why);
    }
    m->verdict = why ? why->trust : ERGO_TRUST_FULL;
    m->because = why ? why->observable : NULL;
}

bool ergo_chain_forgot_start(const struct ergo_member_result *m) {
    bool forgot = m->verdict == ERGO_TRUST_FULL || m->verdict == ERGO_TRUST_SHORT;
    for (size_t o = 0; o < m->point->job->model->n_observables && forgot; o++)
        forgot = m->observables[o].trust != ERGO_TRUST_SHORT || m->observables[o].because ||
                 !speaks(m, o) || ergo_observable_is_acceptance(m->observables[o].observable) ||
                 ergo_observable_forgot_start(&m->observables[o]);
    return forgot;
}

/* ---- one number: may its error be shown, and what is it to be compared with? ------------------
 */

/* From here on r->error is either an error that may be shown, or absent. */
void ergo_observable_refuse(struct ergo_observable_result *r, enum ergo_trust trust) {
    r->trust = trust;
    if (r->estimate.constant) /* nothing to forget */
        r->estimate.tau = r->estimate.tau_error = NAN;
    if (trust == ERGO_TRUST_FULL)
        return;
    r->estimate.error = r->z = r->reference_z = NAN;
    if (trust == ERGO_TRUST_CONSTANT || trust == ERGO_TRUST_FEW)
        r->estimate.error_binning = NAN;
}

void ergo_observable_refer(const struct ergo_point *point, struct ergo_observable_result *r) {
    double error = 0;
    const double value = ergo_point_published(point, r->observable->name, &error);
    r->reference_error = 0;
    if (!isfinite(value) || !(error > 0))
        return;
    r->published = true;
    r->reference = value;
    r->reference_error = error;
    r->reference_z = (r->estimate.mean - value) / hypot(r->estimate.error, error);
}
