/* Samplers and models by name, and what models leave out. */
#include "job/model.h"

#include <string.h>

#include "base/text.h"

const struct ergo_sampler *ergo_sampler_find(const char *name) {
    for (size_t i = 0; i < ergo_n_samplers; i++)
        if (strcmp(ergo_samplers[i]->name, name) == 0)
            return ergo_samplers[i];
    return NULL;
}

const struct ergo_model *ergo_model_find(const struct ergo_sampler *sampler, const char *name) {
    for (size_t i = 0; i < sampler->n_models; i++)
        if (sampler->models[i]->name && strcmp(sampler->models[i]->name, name) == 0)
            return sampler->models[i];
    return NULL;
}

/* A job may say which method it means where there is only one. */
static const char *const methods[] = {"sample", NULL};
static const struct ergo_key only_method = {
    ERGO_KEY("/run/method", ENUM), .flags = ERGO_KEY_HOW, .choices = methods, .unit = "",
    .help =
        "sample, the only method: the equilibrium, or the dynamics, at the job's point. (Points "
        "that are annealed one after the other: /anneal.)"};

static bool has_methods(const struct ergo_model *model) {
    for (size_t r = 0; r < ERGO_KEY_ROWS_MAX; r++)
        for (size_t k = 0; k < model->keys[r].n; k++)
            if (!strcmp(model->keys[r].keys[k].pointer, only_method.pointer))
                return true;
    return false;
}

const struct ergo_key *ergo_model_key(const struct ergo_model *model, size_t k) {
    for (size_t r = 0; r < ERGO_KEY_ROWS_MAX; k -= model->keys[r].n, r++)
        if (k < model->keys[r].n)
            return &model->keys[r].keys[k];
    return k == 0 && !has_methods(model) ? &only_method : NULL;
}

bool ergo_model_repeats(const struct ergo_sampler *sampler, size_t i) {
    return i > 0 && sampler->models[i]->name &&
           strcmp(sampler->models[i]->name, sampler->models[i - 1]->name) == 0;
}

void ergo_model_title(struct ergo_text *out, const struct ergo_sampler *sampler,
                      const struct ergo_model *model) {
    if (model && model->name)
        ergo_text_append(out, "model \"%s\" of ", model->name);
    ergo_text_append(out, "%s", sampler->name);
}

double ergo_observable_sample(const struct ergo_observable *observable,
                              const struct ergo_point *point, const double *columns) {
    if (!observable->power)
        return observable->sample(point, columns);
    const double x = columns[observable->column];
    double power = observable->absolute ? fabs(x) : x;
    for (unsigned k = 1; k < observable->power; k++)
        power *= x;
    return power;
}

double ergo_observable_of_curve(const struct ergo_observable *observable,
                                const struct ergo_point *point, const double *mean, size_t size) {
    if (observable->from_curve)
        return observable->from_curve(point, mean, size);
    const size_t at = (size_t)observable->element + (observable->element < 0 ? size : 0);
    return at < size ? mean[at] : NAN;
}

bool ergo_point_has_column(const struct ergo_point *point, size_t c) {
    const struct ergo_model *model = point->job->model;
    return c < model->n_columns && (!model->has_column || model->has_column(point, c));
}

bool ergo_point_has_frames(const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    return model->trajectory && (!model->has_frames || model->has_frames(point));
}

size_t ergo_point_curve_size(const struct ergo_point *point, size_t c) {
    const struct ergo_model *model = point->job->model;
    return model->curve_size ? model->curve_size(point, c) : 0;
}

uint64_t ergo_point_curve_every(const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    return model->curve_every ? model->curve_every(point) : 1;
}

uint64_t ergo_point_every_of_curve(const struct ergo_point *point, size_t c) {
    const struct ergo_model *model = point->job->model;
    return model->every_of_curve ? model->every_of_curve(point, c) : ergo_point_curve_every(point);
}

double ergo_point_exact(const struct ergo_point *point, const char *observable) {
    const struct ergo_model *model = point->job->model;
    return model->exact ? model->exact(point, observable) : NAN;
}

double ergo_point_published(const struct ergo_point *point, const char *observable, double *error) {
    const struct ergo_model *model = point->job->model;
    return model->published ? model->published(point, observable, error) : NAN;
}

const char *ergo_point_remedy(const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    return model->remedy ? model->remedy(point) : NULL;
}

const char *ergo_point_reference(const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    return model->reference ? model->reference(point) : NULL;
}

bool ergo_point_samples_disorder(const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    return model->samples_disorder && model->samples_disorder(point);
}

const char *ergo_point_unweighted(const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    const char *reason = model->unweighted ? model->unweighted(point) : NULL;
    if (!reason && ergo_point_samples_disorder(point))
        reason = "its couplings or fields are drawn, so that each seed and replica weighs "
                 "configurations in its own way (those from files are the same for all)";
    return reason || model->n_conjugates ? reason
                                         : "its columns do not say what its configurations weigh";
}

bool ergo_observable_tuned(const struct ergo_observable *observable,
                           const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    return observable->of_moves && model->tuned && model->tuned(point);
}
