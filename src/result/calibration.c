/* Calibrations: points of a scan against the one where the scanned key is 0 (the model's
 * `reference`). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

/* A point agrees when every value of every curve is this close, in errors of the difference. A
 * curve has some hundred values, strongly correlated: by chance one point in a hundred fails. */
#define WITHIN 4.0

/* Index of the calibration's key among the scanned ones; n_scanned if the scan is no calibration.
 */
static size_t scanned_key(const struct ergo_point *point) {
    const char *key = ergo_point_reference(point);
    size_t i = 0;
    while (i < point->n_scanned && !(key && strcmp(point->scanned[i].pointer, key) == 0))
        i++;
    return i;
}

static const struct ergo_member_result *reference_of(const struct ergo_result *result,
                                                     const struct ergo_point *point, size_t key) {
    for (size_t i = 0; i < result->n_members; i++) {
        const struct ergo_member_result *m = &result->members[i];
        bool same = m->point->replica == point->replica && m->point->scanned[key].value == 0;
        for (size_t k = 0; k < point->n_scanned && same; k++)
            same = k == key || m->point->scanned[k].value == point->scanned[k].value;
        if (same)
            return m;
    }
    return NULL;
}

struct worst {
    double z, x;
    const char *name;
};

static enum ergo_status compare_curve(struct ergo_context *ctx, struct ergo_curve_result *c,
                                      const struct ergo_curve_result *with, struct worst *worst) {
    c->reference_z = malloc(c->size * sizeof *c->reference_z);
    if (!c->reference_z)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a comparison");
    for (size_t i = 0; i < c->size; i++) {
        const double error = hypot(c->error[i], with->error[i]);
        const double z = error > 0 ? (c->mean[i] - with->mean[i]) / error : NAN;
        c->reference_z[i] = z;
        if (fabs(z) > fabs(worst->z))
            *worst = (struct worst){z, c->x[i], c->info->name};
    }
    return ERGO_OK;
}

static enum ergo_status compare_member(struct ergo_context *ctx, struct ergo_member_result *m,
                                       const struct ergo_member_result *with, struct worst *worst) {
    enum ergo_status status = ERGO_OK;
    for (size_t o = 0; o < m->point->job->model->n_observables; o++) {
        struct ergo_observable_result *r = &m->observables[o];
        const struct ergo_estimate *other = &with->observables[o].estimate;
        const double error = hypot(r->estimate.error, other->error);
        if (!(error > 0) || !isfinite(other->mean))
            continue;
        r->published = false;
        r->reference = other->mean;
        r->reference_error = other->error;
        r->reference_z = (r->estimate.mean - other->mean) / error;
    }
    for (size_t c = 0; c < m->point->job->model->n_curves && status == ERGO_OK; c++)
        if (m->curves[c].size && m->curves[c].size == with->curves[c].size)
            status = compare_curve(ctx, &m->curves[c], &with->curves[c], worst);
    return status;
}

static void describe(struct ergo_text *text, const struct ergo_point *point, size_t key,
                     const struct worst *worst) {
    const char *separator = " (";
    ergo_text_append(text, "%g", point->scanned[key].value);
    for (size_t k = 0; k < point->n_scanned; k++)
        if (k != key) {
            ergo_text_append(text, "%s%s %g", separator, point->scanned[k].pointer,
                             point->scanned[k].value);
            separator = ", ";
        }
    if (point->replica) {
        ergo_text_append(text, "%sreplica %u", separator, point->replica);
        separator = ", ";
    }
    if (worst)
        ergo_text_append(text, "%s%s at %g: z %.1f", separator, worst->name, worst->x, worst->z);
    ergo_text_append(text, worst || separator[0] == ',' ? ")" : "");
}

enum ergo_status ergo_result_calibrate(struct ergo_context *ctx, struct ergo_result *result) {
    struct ergo_text agree = {0}, differ = {0}, unknown = {0}, text = {0};
    enum ergo_status status = ERGO_OK;
    const char *pointer = NULL;
    for (size_t i = 0; i < result->n_members && status == ERGO_OK; i++) {
        struct ergo_member_result *m = &result->members[i];
        const size_t key = scanned_key(m->point);
        if (key == m->point->n_scanned || m->point->scanned[key].value == 0)
            continue;
        const struct ergo_member_result *with = reference_of(result, m->point, key);
        struct worst worst = {0};
        if (!with || !with->steps || !m->steps)
            continue;
        pointer = m->point->scanned[key].pointer;
        status = compare_member(ctx, m, with, &worst);
        const bool good = fabs(worst.z) < WITHIN;
        struct ergo_text *list = !worst.name ? &unknown : good ? &agree : &differ;
        ergo_text_append(list, list->length ? ", " : "");
        describe(list, m->point, key, good ? NULL : &worst);
    }
    if (pointer && status == ERGO_OK) {
        ergo_text_append(&text, "%s against 0: within error, that is |z| < %g in every curve: %s",
                         pointer, WITHIN, agree.length ? agree.data : "none");
        if (differ.length)
            ergo_text_append(&text, "; not: %s", differ.data);
        if (unknown.length)
            ergo_text_append(&text, "; without errors, so they cannot be compared: %s",
                             unknown.data);
        result->comparison = ergo_text_take(&text);
        if (!result->comparison)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a comparison");
    }
    ergo_text_free(&agree);
    ergo_text_free(&differ);
    ergo_text_free(&unknown);
    ergo_text_free(&text);
    return status;
}
