/* All warnings about a result, in one list: terminal, result.json and page print it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/warner.h"

/* Points at which something is the case; the first one, or the worst one, is named. */
struct where {
    size_t count; /* points */
    double worst;
    const struct ergo_member_result *member;
};

void ergo_warner_add(struct ergo_warner *w, struct ergo_text *text) {
    if (text->failed || !ergo_result_add_warning(w->result, text->data, text->length))
        w->status = ERGO_FAIL(w->ctx, ERGO_E_MEMORY, "no memory for a warning");
    ergo_text_free(text);
}

static void note(struct where *where, double size, const struct ergo_member_result *member) {
    if (!where->count++ || size > where->worst) {
        where->worst = size;
        where->member = member;
    }
}

/* "/system/temperature = 2.1, replica 3"; "" for a job of one point. */
void ergo_warner_point(struct ergo_text *text, const struct ergo_point *point, bool replica) {
    for (size_t i = 0; i < point->n_scanned; i++)
        ergo_text_append(text, "%s%s = %.12g", i ? ", " : "", point->scanned[i].pointer,
                         point->scanned[i].value);
    if (replica)
        ergo_text_append(text, "%sreplica %" PRIu32, point->n_scanned ? ", " : "", point->replica);
}

/* " at 3 of 12 points (first: /system/temperature = 2.27)", " at all 12 points"; of a single point
 * nothing. */
static void append_where(struct ergo_text *text, const struct ergo_warner *w,
                         const struct where *where, const char *which) {
    if (w->result->n_members < 2 || !where->member)
        return;
    const bool replicas = w->result->n_means > 0, all = where->count == w->result->n_members;
    ergo_text_append(text, all ? " at all" : " at %zu of", where->count);
    ergo_text_append(text, " %zu %s", w->result->n_members, replicas ? "chains" : "points");
    if (all && strcmp(which, "first") == 0)
        return;
    ergo_text_append(text, " (%s: ", which);
    ergo_warner_point(text, where->member->point, replicas);
    ergo_text_append(text, ")");
}

/* ---- errors that are refused ----------------------------------------------------------------- */

typedef bool (*test_function)(const struct ergo_member_result *m, size_t o);

static bool is_short(const struct ergo_member_result *m, size_t o) {
    return m->observables[o].trust == ERGO_TRUST_SHORT && ergo_warner_shown(m, o) &&
           !ergo_observable_is_acceptance(m->observables[o].observable);
}

static bool is_slow(const struct ergo_member_result *m, size_t o) {
    return m->observables[o].trust == ERGO_TRUST_SLOW && ergo_warner_shown(m, o);
}

static bool drifts(const struct ergo_member_result *m, size_t o) {
    return m->observables[o].trust == ERGO_TRUST_DRIFT && ergo_warner_shown(m, o);
}

static bool is_few(const struct ergo_member_result *m, size_t o) {
    return m->observables[o].trust == ERGO_TRUST_FEW && ergo_warner_shown(m, o);
}

/* Is an observable constant only because there are few samples? Others may well be constant: a
 * wrapping probability far from the critical point. */
static bool is_constant_so_far(const struct ergo_member_result *m, size_t o) {
    const struct ergo_observable_result *r = &m->observables[o];
    return r->trust == ERGO_TRUST_CONSTANT && r->estimate.samples < 100 &&
           !ergo_observable_tuned(r->observable, m->point) && ergo_warner_shown(m, o);
}

static bool is_not_finite(const struct ergo_member_result *m, size_t o) {
    return m->observables[o].trust == ERGO_TRUST_UNDEFINED &&
           ergo_observable_sampled(m->observables[o].observable) && ergo_warner_shown(m, o);
}

/* Members for which the test holds for one of the observables from .. end - 1. */
static struct where find(const struct ergo_warner *w, test_function test, size_t from, size_t end) {
    struct where where = {.count = 0};
    for (size_t i = 0; i < w->result->n_members; i++) {
        bool any = false;
        for (size_t o = from; o < end && !any; o++)
            any = test(&w->result->members[i], o);
        if (any)
            note(&where, 0, &w->result->members[i]);
    }
    return where;
}

/* Names of the observables for which the test holds anywhere: "energy, heat_capacity". */
static void append_names(struct ergo_text *text, const struct ergo_warner *w, test_function test) {
    const char *separator = "";
    for (size_t o = 0; o < w->model->n_observables; o++)
        if (find(w, test, o, o + 1).count) {
            ergo_text_append(text, "%s%s", separator, w->model->observables[o].name);
            separator = ", ";
        }
}

/* Where others share the verdict. */
static void append_shared(struct ergo_text *text, const struct ergo_warner *w,
                          enum ergo_trust trust) {
    for (size_t i = 0; i < w->result->n_members; i++)
        for (size_t o = 0; o < w->model->n_observables; o++)
            if (w->result->members[i].observables[o].because &&
                w->result->members[i].observables[o].trust == trust) {
                ergo_text_append(text, ". No other error of such a chain is trusted");
                return;
            }
}

static void warn_short(struct ergo_warner *w) {
    const struct where where = find(w, is_short, 0, w->model->n_observables);
    struct ergo_text text = {0};
    if (!where.member)
        return;
    ergo_text_append(&text, "the run is too short, or too correlated, for trustworthy errors of ");
    append_names(&text, w, is_short);
    append_where(&text, w, &where, "first");
    ergo_text_append(&text, ": run longer");
    append_shared(&text, w, ERGO_TRUST_SHORT);
    ergo_warner_add(w, &text);
}

static void warn_slow(struct ergo_warner *w) {
    for (size_t o = 0; o < w->model->n_observables; o++) {
        const struct where where = find(w, is_slow, o, o + 1);
        struct ergo_text text = {0};
        bool alone = true;
        if (!where.member)
            continue;
        for (size_t i = 0; i < w->result->n_members; i++)
            alone = alone && !(w->result->members[i].verdict && is_slow(&w->result->members[i], o));
        ergo_text_append(&text, "the error of %s cannot be trusted", w->model->observables[o].name);
        append_where(&text, w, &where, "first");
        ergo_text_append(&text, ": %s%s", w->model->observables[o].slow(where.member->point),
                         alone ? ". The other observables there are not affected" : "");
        ergo_warner_add(w, &text);
    }
}

static bool same_key(const struct ergo_warner *w, size_t a, size_t b) {
    const char *first = w->model->observables[a].more, *second = w->model->observables[b].more;
    return strcmp(first ? first : "", second ? second : "") == 0;
}

/* One line for each key that adds samples. */
static void warn_few(struct ergo_warner *w) {
    const size_t n = w->model->n_observables;
    for (size_t first = 0; first < n; first++) {
        const char *more = w->model->observables[first].more;
        const struct where where = find(w, is_few, first, first + 1);
        struct ergo_text text = {0};
        bool again = false;
        for (size_t o = 0; o < first && !again; o++)
            again = find(w, is_few, o, o + 1).count && same_key(w, o, first);
        if (again || !where.member)
            continue;
        ergo_text_append(&text, "too few independent samples for trustworthy errors of %s",
                         w->model->observables[first].name);
        for (size_t o = first + 1; o < n; o++)
            if (find(w, is_few, o, o + 1).count && same_key(w, o, first))
                ergo_text_append(&text, ", %s", w->model->observables[o].name);
        append_where(&text, w, &where, "first");
        ergo_text_append(&text, ": %" PRIu64 ", and 20 are needed; a longer run adds none%s%s%s",
                         where.member->observables[first].estimate.samples,
                         more ? ", more samples do (" : "", more ? more : "", more ? ")" : "");
        ergo_warner_add(w, &text);
    }
}

static void warn_constant(struct ergo_warner *w) {
    struct where where = {.count = 0};
    struct ergo_text text = {0};
    for (size_t i = 0; i < w->result->n_members; i++) {
        /* the first observable, usually the energy. z is 0 where the exact value is as close as so
         * many samples can tell */
        const struct ergo_observable_result *r = &w->result->members[i].observables[0];
        if (r->trust == ERGO_TRUST_CONSTANT && r->z != 0 &&
            ergo_warner_shown(&w->result->members[i], 0))
            note(&where, 0, &w->result->members[i]);
    }
    if (where.member) {
        ergo_text_append(&text, "%s never changed", w->model->observables[0].name);
        append_where(&text, w, &where, "first");
        ergo_text_append(&text, ": the chain is stuck, or too short to see a change; its error is "
                                "not known");
        ergo_warner_add(w, &text);
    }
    where = find(w, is_constant_so_far, 1, w->model->n_observables);
    if (where.member) {
        ergo_text_append(&text, "the errors are unknown for ");
        append_names(&text, w, is_constant_so_far);
        append_where(&text, w, &where, "first");
        ergo_text_append(&text, ": not one change in so few samples; run longer");
        ergo_warner_add(w, &text);
    }
}

static void warn_not_finite(struct ergo_warner *w) {
    const struct where where = find(w, is_not_finite, 0, w->model->n_observables);
    struct ergo_text text = {0};
    if (!where.member)
        return;
    ergo_text_append(&text, "some samples are not finite, and so have no mean: ");
    append_names(&text, w, is_not_finite);
    append_where(&text, w, &where, "first");
    ergo_warner_add(w, &text);
}

/* ---- the chain ------------------------------------------------------------------------------- */

static void warn_drift(struct ergo_warner *w) {
    const struct where where = find(w, drifts, 0, w->model->n_observables);
    const struct ergo_observable_result *most = NULL;
    const struct ergo_member_result *at = NULL;
    struct ergo_text text = {0};
    for (size_t i = 0; i < w->result->n_members; i++)
        for (size_t o = 0; o < w->model->n_observables; o++)
            if (drifts(&w->result->members[i], o) &&
                (!most || fabs(w->result->members[i].observables[o].drift) > fabs(most->drift))) {
                most = &w->result->members[i].observables[o];
                at = &w->result->members[i];
            }
    if (!most)
        return;
    const struct where shown = {where.count, 0, at};
    ergo_text_append(&text, "not equilibrated: ");
    append_names(&text, w, drifts);
    append_where(&text, w, &shown, "most");
    ergo_text_append(&text,
                     ". The first fifth of what was measured of %s is %.1f standard errors from "
                     "the last half: equilibrate longer",
                     most->observable->name, fabs(most->drift));
    append_shared(&text, w, ERGO_TRUST_DRIFT);
    ergo_warner_add(w, &text);
}

static bool has_displacement(const struct ergo_job *job, const struct ergo_point *point) {
    for (size_t k = 0; k < job->n_keys; k++) {
        const struct ergo_key *key = job->keys[k];
        if (strstr(key->pointer, "displacement") && (!key->acts || key->acts(point)))
            return true;
    }
    return false;
}

/* Does the share say anything of the steps? */
static bool judges_steps(const struct ergo_warner *w, const struct ergo_member_result *m,
                         double share) {
    double particles = NAN; /* of a model without a number of them, or not asked for */
    for (size_t o = 0; o < w->model->n_observables; o++)
        if (strcmp(w->model->observables[o].name, "particles") == 0)
            particles = m->observables[o].estimate.mean;
    return !w->model->judges_steps || w->model->judges_steps(m->point, particles, share);
}

/* Displacements that are nearly all accepted are too small, those nearly all refused too large. A
 * spin's acceptance is physics, that of an insertion too: where other moves have an acceptance of
 * their own, displacements do. */
static void warn_acceptance(struct ergo_warner *w) {
    size_t n = w->model->n_observables, at = n;
    struct where where = {.count = 0};
    struct ergo_text text = {0};
    for (size_t o = 0; o < n; o++)
        if (strcmp(w->model->observables[o].name, "acceptance_displacement") == 0 ||
            (at == n && strcmp(w->model->observables[o].name, "acceptance") == 0))
            at = o;
    if (at == n)
        return;
    for (size_t i = 0; i < w->result->n_members; i++) {
        const double mean = w->result->members[i].observables[at].estimate.mean;
        if (ergo_warner_shown(&w->result->members[i], at) && (mean < 0.1 || mean > 0.95) &&
            has_displacement(w->result->job, w->result->members[i].point) &&
            judges_steps(w, &w->result->members[i], mean))
            note(&where, fabs(mean - 0.5), &w->result->members[i]);
    }
    if (!where.member)
        return;
    const double mean = where.member->observables[at].estimate.mean;
    ergo_text_append(&text, "%s is %.3g", w->model->observables[at].name, mean);
    append_where(&text, w, &where, "most");
    ergo_text_append(&text, ": displacements should be %s", mean > 0.5 ? "larger" : "smaller");
    ergo_warner_add(w, &text);
}

static bool is_limited(const struct ergo_member_result *m, size_t o) {
    return m->observables[o].observable->limits && m->observables[o].estimate.mean > 0;
}

static void warn_limits(struct ergo_warner *w) {
    for (size_t o = 0; o < w->model->n_observables; o++) {
        const struct where where = find(w, is_limited, o, o + 1);
        struct ergo_text text = {0};
        if (!where.member)
            continue;
        ergo_text_append(&text, "%s is not 0", w->model->observables[o].name);
        append_where(&text, w, &where, "first");
        ergo_text_append(&text, ": %s", w->model->observables[o].limits);
        ergo_warner_add(w, &text);
    }
}

/* The longest autocorrelation time, in samples. That of a sign which flips now and then says
 * nothing about equilibration and is left out. */
static double longest_time(const struct ergo_warner *w, const struct ergo_member_result *m) {
    double tau = 0;
    for (size_t o = 0; o < w->model->n_observables; o++)
        if (ergo_observable_sampled(&w->model->observables[o]) &&
            m->observables[o].trust == ERGO_TRUST_FULL &&
            !(w->model->observables[o].slow && w->model->observables[o].slow(m->point)))
            tau = fmax(tau, m->observables[o].estimate.tau);
    return tau;
}

static void warn_hasty(struct ergo_warner *w) {
    struct where where = {.count = 0};
    struct ergo_text text = {0};
    for (size_t i = 0; i < w->result->n_members; i++) {
        const struct ergo_member_result *m = &w->result->members[i];
        const double tau = longest_time(w, m), length = (double)m->n_equilibration;
        if (ergo_member_measured(m) && length > 0 && length < 2 * tau)
            note(&where, tau / length, m);
    }
    if (!where.member)
        return;
    ergo_text_append(&text, "equilibration is shorter than two autocorrelation times");
    append_where(&text, w, &where, "most");
    ergo_warner_add(w, &text);
}

static void warn_unmeasured(struct ergo_warner *w) {
    struct where where = {.count = 0};
    struct ergo_text text = {0};
    for (size_t i = 0; i < w->result->n_members; i++)
        if (!ergo_member_measured(&w->result->members[i]) && ergo_result_has(w->result, i))
            note(&where, 0, &w->result->members[i]);
    if (!where.member)
        return;
    const struct ergo_member_result *m = where.member;
    const uint64_t equilibration = m->lead + m->n_equilibration * m->measure_every;
    ergo_text_append(&text, "nothing is measured yet");
    append_where(&text, w, &where, "first");
    if (m->steps < equilibration)
        ergo_text_append(&text, ": %s after %" PRIu64 " of %" PRIu64 " equilibration %ss",
                         w->result->status, m->steps, equilibration,
                         w->result->job->sampler->step_name);
    else
        ergo_text_append(&text, ": %s after %" PRIu64 " %ss, before the first sample",
                         w->result->status, m->steps, w->result->job->sampler->step_name);
    if (strcmp(w->result->status, "stopped") == 0)
        ergo_text_append(&text, "; ergocl resume continues");
    ergo_warner_add(w, &text);
}

/* ---- known values ---------------------------------------------------------------------------- */

static void warn_far(struct ergo_warner *w) {
    size_t looks = 0, far = 0;
    const struct ergo_observable_result *most = NULL;
    struct where where = {.count = 0};
    struct ergo_text text = {0};
    for (int pass = 0; pass < 2; pass++) {
        /* exceeded by chance in one run of a thousand, however many values there are */
        const double level = fmax(4, sqrt(2 * log(1000 * fmax(1, (double)looks))));
        for (size_t i = 0; i < w->result->n_members; i++) {
            const struct ergo_member_result *m = &w->result->members[i];
            bool here = false;
            for (size_t o = 0; o < w->model->n_observables; o++) {
                const struct ergo_observable_result *r = &m->observables[o];
                const double z = r->published && isnan(r->z) ? r->reference_z : r->z;
                if (!ergo_warner_shown(m, o) || isnan(z))
                    continue;
                looks += pass == 0;
                if (pass == 0 || !(fabs(z) > level))
                    continue;
                far++;
                if (!here || fabs(z) > where.worst) {
                    note(&where, fabs(z), m);
                    where.count -= here;
                    if (where.member == m)
                        most = r;
                }
                here = true;
            }
        }
    }
    if (!most)
        return;
    const bool exact = !isnan(most->z);
    char size[32];
    snprintf(size, sizeof size, "%.1f", where.worst);
    ergo_text_append(&text, "%s is %s standard errors from the %s value %.8g",
                     most->observable->name,
                     isfinite(where.worst) ? size : "more than any number of",
                     exact ? "exact" : "published", exact ? most->exact : most->reference);
    append_where(&text, w, &where, "most");
    if (far > 1)
        ergo_text_append(&text, "; %zu values are farther off than chance allows", far);
    ergo_warner_add(w, &text);
}

enum ergo_status ergo_result_warn(struct ergo_context *ctx, struct ergo_result *result) {
    static void (*const all[])(struct ergo_warner *) = {
        warn_unmeasured,  warn_not_finite,    ergo_warn_replicas, ergo_warn_samples,
        warn_drift,       ergo_warn_together, warn_hasty,         warn_constant,
        warn_short,       warn_few,           warn_slow,          warn_far,
        warn_acceptance,  warn_limits,        ergo_warn_trends,   ergo_warn_missed,
        ergo_warn_beyond, ergo_warn_alarms};
    struct ergo_warner w = {ctx, result, result->job->model, ERGO_OK};
    for (size_t i = 0; i < sizeof all / sizeof all[0] && w.status == ERGO_OK; i++)
        all[i](&w);
    return w.status;
}
