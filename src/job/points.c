/* Points of a checked job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/build.h"

/* Put value i of the axis into the values of a point. */
static void axis_apply(const struct ergo_build *build, const struct ergo_axis *axis, size_t i,
                       struct ergo_value *values) {
    struct ergo_value *value = &values[axis->key];
    const double *scanned = axis->values + i * axis->width;
    value->present = value->given = true;
    if (build->keys[axis->key]->type != ERGO_KEY_SIZE) {
        value->real = *scanned;
        value->items = 0;
        if (build->keys[axis->key]->type == ERGO_KEY_INT)
            value->integer = (int64_t)*scanned;
    } else if (axis->element >= 0) {
        value->size[axis->element] = (int64_t)*scanned;
    } else {
        value->items = (int)axis->width;
        for (size_t j = 0; j < axis->width; j++)
            value->size[j] = (int64_t)scanned[j];
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

struct chain_line {
    const char *order;          /* the line begins with it: a pointer */
    const struct ergo_key *key; /* NULL: `order` is the whole line */
    size_t index;               /* in the job's keys */
};

static int compare_lines(const void *a, const void *b) {
    const struct chain_line *x = a, *y = b;
    return strcmp(x->order, y->order);
}

/*
 * The random stream of a point. Part of the promise: never change it without a new first line.
 *
 *     ergocl stream 1\n
 *     <sampler>\n
 *     seed=<decimal>\n
 *     replica=<decimal>\n
 *     <pointer>=<value>\n      for each CHAIN key with a value, sorted by pointer (bytes)
 *
 * Values: reals as printf's %.17g ("-0" is "0"), integers in decimals, true or false, texts as
 * they are with \ and line breaks written \\ and \n, sizes "16,16". A default counts like a value
 * given, unless the key (`stream`) or the model (`stream_lines`) say otherwise. The stream is the
 * first 8 bytes of the SHA-256 of this text, big-endian.
 */
static void stream_chain_text(const struct chain_line *sorted, size_t n_sorted,
                              const struct ergo_value *values, struct ergo_text *out) {
    for (size_t i = 0; i < n_sorted; i++) {
        const struct ergo_key *key = sorted[i].key;
        const struct ergo_value *value = key ? &values[sorted[i].index] : NULL;
        if (!key) {
            ergo_text_append(out, "%s\n", sorted[i].order);
        } else if (!value->given && key->stream) {
            if (*key->stream)
                ergo_text_append(out, "%s=%s\n", key->pointer, key->stream);
        } else if (value->present) {
            ergo_text_append(out, "%s=", key->pointer);
            ergo_value_canonical(out, key, value);
            ergo_text_append(out, "\n");
        }
    }
}

static void make_streams(struct ergo_build *build, struct ergo_job *job, uint64_t seed,
                         size_t replicas) {
    const char *const *fixed = build->model->stream_lines;
    size_t n_sorted = 0, n_fixed = 0;
    while (fixed && fixed[n_fixed])
        n_fixed++;
    struct chain_line *sorted = malloc((build->n_keys + n_fixed) * sizeof *sorted);
    struct ergo_text chain = {0}, text = {0};
    if (!sorted) {
        ergo_build_no_memory(build);
        return;
    }
    for (size_t i = 0; i < n_fixed; i++)
        sorted[n_sorted++] = (struct chain_line){fixed[i], NULL, 0};
    for (size_t k = 0; k < build->n_keys; k++)
        if (build->keys[k]->flags & ERGO_KEY_CHAIN)
            sorted[n_sorted++] = (struct chain_line){build->keys[k]->pointer, build->keys[k], k};
    qsort(sorted, n_sorted, sizeof *sorted, compare_lines);
    for (size_t s = 0; s < build->n_scan && !text.failed; s++) {
        chain.length = 0;
        stream_chain_text(sorted, n_sorted, job->points[s * replicas].values, &chain);
        for (size_t r = 0; r < replicas; r++) {
            text.length = 0;
            ergo_text_append(&text, "ergocl stream 1\n%s\nseed=%llu\nreplica=%zu\n",
                             build->sampler->name, (unsigned long long)seed, r);
            ergo_text_append_bytes(&text, chain.data, chain.length);
            if (!text.failed && !chain.failed)
                job->points[s * replicas + r].stream = ergo_hash64(text.data, text.length);
        }
    }
    if (text.failed || chain.failed)
        ergo_build_no_memory(build);
    ergo_text_free(&chain);
    ergo_text_free(&text);
    free(sorted);
}

/* ---- the model's own check ------------------------------------------------------------------- */

struct finding {
    char *message;       /* "pointer: what is wrong", from ergo_job_error */
    size_t count, first; /* scan points that have it, and the first of them */
};

struct findings {
    size_t n;
    struct finding list[ERGO_ERRORS_MAX];
};

static bool findings_add(struct findings *findings, const char *message, size_t length,
                         size_t scan_index) {
    for (size_t i = 0; i < findings->n; i++) {
        struct finding *finding = &findings->list[i];
        if (!strncmp(finding->message, message, length) && !finding->message[length]) {
            finding->count++;
            return true;
        }
    }
    char *copy = findings->n < ERGO_ERRORS_MAX ? strndup(message, length) : NULL;
    if (!copy)
        return false;
    findings->list[findings->n++] = (struct finding){copy, 1, scan_index};
    return true;
}

const char *ergo_point_place(const struct ergo_point *point, struct ergo_text *text) {
    for (size_t i = 0; i < point->n_scanned; i++) {
        ergo_text_append(text, "%s%s = ", i ? ", " : " (at ", point->scanned[i].pointer);
        ergo_text_append_number(text, point->scanned[i].value);
    }
    if (point->n_scanned > 0)
        ergo_text_append(text, ")");
    return text->data ? text->data : "";
}

static void report_finding(struct ergo_build *build, const struct ergo_job *job, size_t replicas,
                           const struct finding *finding) {
    struct ergo_text where = {0};
    if (finding->count < build->n_scan && !strstr(finding->message, " (at /"))
        ergo_point_place(&job->points[finding->first * replicas], &where);
    if (where.data && finding->count > 1) {
        where.data[--where.length] = '\0'; /* the bracket */
        ergo_text_append(&where, ", and %zu more scan points)", finding->count - 1);
    }
    ergo_build_error(build, NULL, NULL, "%s%s", finding->message, where.data ? where.data : "");
    ergo_text_free(&where);
}

static enum ergo_status check_tunables(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    enum ergo_status status = ERGO_OK;
    for (size_t t = 0; t < model->n_tunables; t++) {
        char pointer[80];
        if (!model->tunables[t].power_of_two)
            continue;
        snprintf(pointer, sizeof pointer, "/tuning/%s", model->tunables[t].name);
        const int64_t value = ergo_point_int(point, pointer);
        if (value & (value - 1))
            status =
                ergo_job_error(ctx, pointer, "%lld is not a power of two (0 chooses automatically)",
                               (long long)value);
    }
    return status;
}

static enum ergo_status check_automatic(struct ergo_context *ctx, const struct ergo_point *point) {
    struct ergo_text title = {0};
    if (!point->parameters->measure_every.automatic || point->job->model->correlation)
        return ERGO_OK;
    ergo_model_title(&title, point->job->sampler, point->job->model);
    const enum ergo_status status =
        ergo_job_error(ctx, "/run/measure_every",
                       "found \"auto\", which %s does not offer; allowed: an integer >= 1",
                       title.data ? title.data : "");
    ergo_text_free(&title);
    return status;
}

/* Refuses keys that the job gives and that have no effect at any of its points. */
static void check_effects(struct ergo_build *build, const struct ergo_job *job, size_t replicas) {
    for (size_t k = 0; k < build->n_keys; k++) {
        const struct ergo_key *key = build->keys[k];
        bool given = false, acts = false;
        for (size_t s = 0; key->acts && s < build->n_scan && !acts; s++) {
            const struct ergo_point *point = &job->points[s * replicas];
            given = given || point->values[k].given;
            acts = point->values[k].given && key->acts(point);
        }
        if (!given || acts)
            continue;
        const char *name = build->model->name;
        ergo_build_error(build, key->pointer, NULL,
                         "has no effect%s%s%s; it acts only %s: leave it out (--set %s=null)",
                         name ? " in this job of model \"" : " in this job", name ? name : "",
                         name ? "\"" : "", key->where, key->pointer);
    }
}

/* Curve c is in the result of this point, which the model has checked. */
static bool has_curve(const struct ergo_point *point, size_t c) {
    return !(point->job->model->curves_hidden >> c & 1u) && ergo_point_curve_size(point, c) > 0;
}

/* Is it one of the names that a result can have at this point? */
static bool is_observable(const struct ergo_point *point, const char *name, size_t length) {
    const struct ergo_model *model = point->job->model;
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *observable = &model->observables[o];
        if (strlen(observable->name) == length && !strncmp(observable->name, name, length) &&
            ergo_observable_may_show(observable, point))
            return true;
    }
    for (size_t c = 0; c < model->n_curves; c++)
        if (strlen(model->curves[c].name) == length &&
            !strncmp(model->curves[c].name, name, length))
            return has_curve(point, c);
    return false;
}

static enum ergo_status unknown_observable(struct ergo_context *ctx, const struct ergo_point *point,
                                           const char *name, size_t length) {
    const struct ergo_model *model = point->job->model;
    struct ergo_text title = {0}, known = {0};
    ergo_model_title(&title, point->job->sampler, model);
    for (size_t o = 0; o < model->n_observables; o++)
        if (ergo_observable_may_show(&model->observables[o], point))
            ergo_text_append(&known, ", %s", model->observables[o].name);
    for (size_t c = 0; c < model->n_curves; c++)
        if (has_curve(point, c))
            ergo_text_append(&known, ", %s", model->curves[c].name);
    const enum ergo_status status = ergo_job_error(
        ctx, "/run/observables",
        "%s has nothing called \"%.*s\" here; allowed: \"all\", or names with commas between "
        "them, of%s",
        title.data ? title.data : "", length < 64 ? (int)length : 64, name,
        known.data && !known.failed ? known.data + 1 : " its observables");
    ergo_text_free(&title);
    ergo_text_free(&known);
    return status;
}

static enum ergo_status check_observables(struct ergo_context *ctx,
                                          const struct ergo_point *point) {
    const char *asked = point->parameters->observables;
    if (strcmp(asked, "all") == 0)
        return ERGO_OK;
    while (1) {
        const size_t length = strcspn(asked, ",");
        if (!is_observable(point, asked, length))
            return unknown_observable(ctx, point, asked, length);
        if (!asked[length])
            return ERGO_OK;
        asked += length + 1;
    }
}

/* What the model's tables and its own check say of a point; all of it is recorded in ctx. */
static enum ergo_status check_point(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    enum ergo_status all[] = {check_tunables(ctx, point), check_automatic(ctx, point),
                              model->check ? model->check(ctx, point) : ERGO_OK, ERGO_OK};
    if (all[2] == ERGO_OK) /* sizes of curves are asked of points that are right only */
        all[3] = check_observables(ctx, point);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != ERGO_OK)
            return all[i];
    return ergo_error_status(ctx);
}

static void model_check(struct ergo_build *build, struct ergo_job *job, size_t replicas) {
    /* a context of its own, because messages are sorted before they are shown */
    struct ergo_context *ctx = ergo_context_create();
    struct findings *findings = calloc(1, sizeof *findings);
    if (!ctx || !findings) {
        ergo_build_no_memory(build);
        goto out;
    }
    ergo_context_set_log(ctx, ERGO_LOG_DEBUG, ergo_log_forward, build->ctx);
    bool room = true;
    for (size_t s = 0; s < build->n_scan && room && build->status == ERGO_OK; s++) {
        const struct ergo_point *point = &job->points[s * replicas];
        const enum ergo_status status = check_point(ctx, point);
        if (status == ERGO_OK)
            continue;
        const char *message = ergo_error_message(ctx);
        if (status != ERGO_E_JOB)
            build->status = ERGO_FAIL(build->ctx, status, "%s: %s", build->name, message);
        if (!*message)
            message = "/system: the sampler refuses these values";
        while (room && *message && build->status == ERGO_OK) {
            size_t length = strcspn(message, "\n");
            room = length == 0 || findings_add(findings, message, length, s);
            message += length + (message[length] == '\n');
        }
        ergo_error_clear(ctx);
    }
    for (size_t i = 0; i < findings->n; i++)
        report_finding(build, job, replicas, &findings->list[i]);
out:
    for (size_t i = 0; findings && i < findings->n; i++)
        free(findings->list[i].message);
    free(findings);
    ergo_context_destroy(ctx);
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Conditions between common keys, for keys that are not scanned. */
static void check_common(struct ergo_build *build, const struct ergo_job *job, size_t replicas) {
    size_t sweeps = ergo_keys_find(build->keys, build->n_keys, "/run/sweeps");
    size_t every = ergo_keys_find(build->keys, build->n_keys, "/run/measure_every");
    for (size_t s = 0; s < build->n_scan; s++) {
        const struct ergo_value *values = job->points[s * replicas].values;
        if (!values[every].given || values[every].integer <= values[sweeps].integer)
            continue;
        ergo_build_error(build, "/run/measure_every", NULL,
                         "found %lld, more than /run/sweeps (%lld): nothing would be measured",
                         (long long)values[every].integer, (long long)values[sweeps].integer);
        return;
    }
}

/* Where the job does not say how often to measure: the model's own interval, at least once. */
static void default_interval(const struct ergo_build *build, const struct ergo_job *job,
                             size_t replicas) {
    const size_t sweeps = ergo_keys_find(build->keys, build->n_keys, "/run/sweeps");
    const size_t every = ergo_keys_find(build->keys, build->n_keys, "/run/measure_every");
    const struct ergo_model *model = build->model;
    for (size_t s = 0; s < build->n_scan && model->measure_every; s++) {
        const struct ergo_point *point = &job->points[s * replicas];
        if (point->values[every].given)
            continue;
        const uint64_t own = model->measure_every(point);
        const int64_t most = point->values[sweeps].integer;
        point->values[every].integer = own < (uint64_t)most ? (int64_t)own : most;
        point->values[every].real = (double)point->values[every].integer;
        ergo_point_fill(point);
    }
}

/* Defaults that depend on the point. */
static void default_choices(const struct ergo_build *build, const struct ergo_job *job,
                            size_t replicas) {
    for (size_t s = 0; s < build->n_scan; s++)
        for (size_t k = 0; k < build->n_keys; k++) {
            const struct ergo_point *point = &job->points[s * replicas];
            const char *other = build->keys[k]->instead && !point->values[k].given
                                    ? build->keys[k]->instead(point)
                                    : NULL;
            if (!other)
                continue;
            point->values[k].text = other;
            ergo_point_fill(point);
        }
}

/* Of several implementations the first that serves the points (ergo_model.serves). */
static void choose_implementation(struct ergo_build *build, struct ergo_job *job) {
    const struct ergo_sampler *sampler = build->sampler;
    size_t m = 0;
    while (sampler->models[m] != build->model)
        m++;
    while (sampler->models[m]->serves && !sampler->models[m]->serves(&job->points[0]))
        m++;
    job->model = build->model = sampler->models[m];
}

void ergo_points_make(struct ergo_build *build, struct ergo_job *job) {
    const size_t n_keys = build->n_keys;
    const size_t i_replicas = ergo_keys_find(build->keys, n_keys, "/replicas");
    const size_t i_seed = ergo_keys_find(build->keys, n_keys, "/seed");
    const size_t replicas = (size_t)build->base[i_replicas].integer;
    if (replicas > ERGO_POINTS_MAX / build->n_scan) {
        ergo_build_error(build, "/replicas", NULL,
                         "%zu replicas of %zu scan points are more than %d chains", replicas,
                         build->n_scan, ERGO_POINTS_MAX);
        return;
    }
    job->n_points = build->n_scan * replicas;
    job->points = ergo_arena_alloc(build->arena, job->n_points, sizeof *job->points);
    const size_t bytes = ergo_job_parameters_size(job);
    char *parameters = ergo_arena_alloc(build->arena, build->n_scan, bytes);
    struct ergo_value *values =
        ergo_arena_alloc(build->arena, build->n_scan * n_keys, sizeof *values);
    if (!job->points || !values || !parameters) {
        ergo_build_no_memory(build);
        return;
    }
    for (size_t s = 0; s < build->n_scan; s++) {
        size_t positions[ERGO_SCAN_MAX];
        struct ergo_value *own = values + s * n_keys;
        struct ergo_point point = {.job = job, .values = own, .scan_index = s};
        memcpy(own, build->base, n_keys * sizeof *own);
        ergo_scan_positions(build, s, positions);
        for (size_t a = 0; a < build->n_axes; a++) {
            const struct ergo_axis *axis = &build->axes[a];
            axis_apply(build, axis, positions[a], own);
            for (size_t i = 0; i < axis->width; i++)
                point.scanned[point.n_scanned++] = (struct ergo_scanned){
                    axis->pointers[i], axis->values[positions[a] * axis->width + i]};
        }
        point.parameters = (struct ergo_parameters *)(void *)(parameters + s * bytes);
        ergo_point_fill(&point);
        for (size_t r = 0; r < replicas; r++) {
            point.index = s * replicas + r;
            point.replica = (uint32_t)r;
            job->points[point.index] = point;
        }
    }
    choose_implementation(build, job);
    if (build->errors == 0) {
        default_interval(build, job, replicas);
        default_choices(build, job, replicas);
    }
    check_common(build, job, replicas);
    ergo_order_check(build);
    make_streams(build, job, build->base[i_seed].seed, replicas);
    if (build->errors == 0 && build->status == ERGO_OK) {
        check_effects(build, job, replicas);
        model_check(build, job, replicas);
    }
    if (build->errors == 0 && build->status == ERGO_OK)
        ergo_order_make(build, job, replicas);
}
