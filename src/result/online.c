/* What is kept of samples while they are measured: series where the job wants them, estimators. */
#include <stdlib.h>
#include <string.h>

#include "job/schedule.h"
#include "result/result.h"

enum { AT_ONCE = 128 }; /* rows of samples whose observables are made together */

/* A run's whole series beyond this are not kept unless the job says so. */
static const double kept_most = 256e6;

/* ---- series -----------------------------------------------------------------------------------
 */

enum ergo_kept ergo_result_kept(const struct ergo_job *job) {
    const char *wish = job->points[0].parameters->series;
    if (strcmp(wish, "auto") != 0)
        return strcmp(wish, "full") == 0     ? ERGO_KEPT_FULL
               : strcmp(wish, "blocks") == 0 ? ERGO_KEPT_BLOCKS
                                             : ERGO_KEPT_NONE;
    return ergo_result_series_bytes(job) <= kept_most ? ERGO_KEPT_FULL : ERGO_KEPT_BLOCKS;
}

double ergo_result_series_bytes(const struct ergo_job *job) {
    double numbers = 0, one = 0;
    for (size_t i = 0; i < job->n_points; i++) {
        const struct ergo_point *point = &job->points[i];
        size_t columns = 0;
        for (size_t c = 0; !point->replica && c < job->model->n_columns; c++)
            columns += ergo_point_has_column(point, c);
        if (!point->replica) /* the others are alike */
            one = (double)columns * (double)ergo_schedule_of(point).n_samples;
        numbers += one;
    }
    return 8 * numbers;
}

const char *ergo_kept_name(enum ergo_kept kept) {
    return kept == ERGO_KEPT_FULL ? "full" : kept == ERGO_KEPT_BLOCKS ? "blocks" : "none";
}

void ergo_result_say_kept(struct ergo_context *ctx, const struct ergo_job *job) {
    if (!ergo_says(job->points[0].parameters->series, "auto") ||
        ergo_result_kept(job) == ERGO_KEPT_FULL)
        return;
    ergo_log(ctx, ERGO_LOG_WARNING,
             "the samples would be %.3g GB, so they are not kept, only estimates and averages "
             "over blocks (/output/series \"full\" keeps them)",
             ergo_result_series_bytes(job) / 1e9);
}

/* ---- what is estimated ------------------------------------------------------------------------
 */

static size_t find_series(const struct ergo_measured *measured, const struct ergo_model *model,
                          const char *name) {
    size_t s = 0;
    while (s < measured->plan.n_series &&
           strcmp(model->observables[measured->observable[s]].name, name) != 0)
        s++;
    return s;
}

size_t ergo_measured_inputs(const struct ergo_measured *measured, const struct ergo_model *model,
                            const struct ergo_observable *observable,
                            size_t series[ERGO_STATS_COLUMNS_MAX]) {
    size_t n = 0;
    for (size_t k = 0; k < 8 && observable->inputs[k]; k++) {
        series[n] = find_series(measured, model, observable->inputs[k]);
        n += series[n] < measured->plan.n_series;
    }
    return n;
}

/* Is the observable in the result, an input of one that is, or does it say whether the others can
 * be believed? */
static bool is_wanted(const struct ergo_point *point, size_t o) {
    const struct ergo_model *model = point->job->model;
    bool wanted = ergo_point_asks(point, model->observables[o].name) ||
                  ergo_observable_warns(&model->observables[o]) ||
                  ergo_observable_speaks(&model->observables[o], point);
    for (size_t d = 0; d < model->n_observables; d++)
        for (size_t k = 0; k < 8 && model->observables[d].inputs[k]; k++)
            wanted = wanted ||
                     (strcmp(model->observables[d].inputs[k], model->observables[o].name) == 0 &&
                      ergo_point_asks(point, model->observables[d].name));
    return ergo_observable_sampled(&model->observables[o]) && wanted;
}

bool ergo_measured_create(const struct ergo_point *point, struct ergo_measured **measured) {
    const struct ergo_model *model = point->job->model;
    struct ergo_measured *m = *measured = calloc(1, sizeof *m);
    size_t(*inputs)[ERGO_STATS_COLUMNS_MAX] = calloc(model->n_observables + 1, sizeof *inputs);
    size_t *lengths = calloc(model->n_observables + 1, sizeof *lengths), n = 0;
    bool ok = m && inputs && lengths;
    if (ok)
        m->observable = calloc(model->n_observables + 1, sizeof *m->observable);
    ok = ok && m->observable;
    for (size_t o = 0; o < model->n_observables && ok; o++)
        if (is_wanted(point, o))
            m->observable[m->plan.n_series++] = o;
    for (size_t o = 0; o < model->n_observables && ok; o++)
        if (model->observables[o].derive && ergo_point_asks(point, model->observables[o].name)) {
            lengths[n] = ergo_measured_inputs(m, model, &model->observables[o], inputs[n]);
            n++;
        }
    ok = ok && ergo_online_plan(&m->plan, m->plan.n_series, n,
                                (const size_t(*)[ERGO_STATS_COLUMNS_MAX])inputs, lengths);
    free(inputs);
    free(lengths);
    return ok;
}

void ergo_measured_destroy(struct ergo_measured *measured) {
    if (!measured)
        return;
    ergo_online_plan_free(&measured->plan);
    free(measured->observable);
    free(measured);
}

/* ---- a member ---------------------------------------------------------------------------------
 */

bool ergo_member_measures(struct ergo_member_result *m, const struct ergo_measured *measured,
                          size_t n_measured) {
    m->measured = measured;
    m->online.plan = &measured->plan;
    m->n_measured = n_measured;
    const size_t wish = (size_t)m->point->parameters->blocks;
    m->n_blocks = wish < n_measured ? wish : n_measured;
    m->block_sums = calloc(m->n_blocks * measured->plan.n_series + 1, sizeof *m->block_sums);
    return m->block_sums != NULL;
}

void ergo_member_forget(struct ergo_member_result *m) {
    ergo_online_free(&m->online);
    free(m->block_sums);
    m->block_sums = NULL;
}

/* Samples of columns, [count][n_columns] or, where rows is NULL, of the series, are the next ones
 * that the estimators get. */
static bool feed(struct ergo_member_result *m, const double *rows, size_t count) {
    const struct ergo_model *model = m->point->job->model;
    const struct ergo_measured *measured = m->measured;
    const size_t n = measured->plan.n_series;
    double columns[ERGO_COLUMNS_MAX] = {0};
    double *values = malloc((n + 1) * AT_ONCE * sizeof *values);
    bool has[ERGO_COLUMNS_MAX], ok = values != NULL;
    for (size_t c = 0; c < model->n_columns; c++)
        has[c] = ergo_point_has_column(m->point, c);
    while (count && ok) {
        const size_t now = count < AT_ONCE ? count : AT_ONCE, first = (size_t)m->online.count;
        for (size_t i = 0; i < now; i++) {
            const size_t block =
                m->n_blocks ? ((first + i + 1) * m->n_blocks - 1) / m->n_measured : 0;
            for (size_t c = 0; c < model->n_columns; c++)
                if (has[c])
                    columns[c] = rows ? rows[i * model->n_columns + c]
                                      : m->series[c][m->n_equilibration + first + i];
            for (size_t s = 0; s < n; s++) {
                const double value = ergo_observable_sample(
                    &model->observables[measured->observable[s]], m->point, columns);
                values[i * n + s] = value;
                if (m->n_blocks)
                    m->block_sums[s * m->n_blocks + block] += value;
            }
        }
        ok = ergo_online_add(&m->online, values, now);
        rows = rows ? rows + now * model->n_columns : NULL;
        count -= now;
    }
    free(values);
    return ok;
}

bool ergo_member_catch_up(struct ergo_member_result *m) {
    const size_t n = ergo_member_taken(m);
    return !m->series || n <= m->online.count || feed(m, NULL, n - (size_t)m->online.count);
}

bool ergo_member_add(struct ergo_member_result *m, size_t first, size_t count, const double *rows) {
    const size_t n_columns = m->point->job->model->n_columns;
    for (size_t c = 0; m->series && c < n_columns; c++)
        for (size_t i = 0; m->series[c] && i < count; i++)
            m->series[c][first + i] = rows[i * n_columns + c];
    m->n_samples = first + count;
    if (m->series) /* after a resume, also what came before */
        return ergo_member_catch_up(m);
    const size_t skip = first >= m->n_equilibration          ? 0
                        : m->n_equilibration - first < count ? m->n_equilibration - first
                                                             : count;
    return feed(m, rows + skip * n_columns, count - skip);
}

size_t ergo_member_state_size(const struct ergo_member_result *m, size_t n_samples) {
    if (m->series)
        return 0;
    const size_t n = n_samples > m->n_equilibration ? n_samples - m->n_equilibration : 0;
    return ergo_online_size(&m->measured->plan, n) + m->n_blocks * m->measured->plan.n_series;
}

void ergo_member_save(const struct ergo_member_result *m, double *to) {
    const size_t n = m->n_blocks * m->measured->plan.n_series;
    to = ergo_online_save(&m->online, to);
    if (n)
        memcpy(to, m->block_sums, n * sizeof *to);
}

bool ergo_member_load(struct ergo_member_result *m, size_t n_samples, const double *from) {
    const size_t n = n_samples > m->n_equilibration ? n_samples - m->n_equilibration : 0;
    const size_t blocks = m->n_blocks * m->measured->plan.n_series;
    ergo_online_free(&m->online);
    if (blocks)
        memcpy(m->block_sums, from + ergo_online_size(&m->measured->plan, n),
               blocks * sizeof *from);
    return ergo_online_load(&m->online, n, from);
}
