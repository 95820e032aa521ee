/* The numbers of a result by the public API: each is the one that was asked for, and the same in
 * the table of comma-separated values. All numbers of the result differ. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "job/schedule.h"
#include "result/result.h"

enum { SCANNED = 4, REPLICAS = 3, POINTS = SCANNED * REPLICAS, EVERY = 2, SAMPLES = 45 };

static struct ergo_context *ctx;
static struct ergo_result *result;
static double next_number = 1;

static double number(void) {
    next_number += 0.37;
    return next_number;
}

static struct ergo_result *make(const char *text) {
    struct ergo_job *job = NULL;
    struct ergo_result *made = NULL;
    assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "getters", NULL, 0, &job), ERGO_OK);
    assert_int_equal(ergo_result_create(ctx, job, &made), ERGO_OK);
    made->status = "stopped";
    return made;
}

/* What the estimators made is replaced by numbers that all differ. */
static void mark(struct ergo_observable_result *r) {
    r->trust = ERGO_TRUST_FULL;
    r->estimate = (struct ergo_estimate){.mean = number(),
                                         .error = number(),
                                         .error_binning = number(),
                                         .tau = number(),
                                         .tau_error = number(),
                                         .samples = (uint64_t)(100 * number())};
    r->exact = number();
    r->z = number();
    r->reference = number();
    r->reference_error = number();
    r->reference_z = number();
}

static void fill(struct ergo_result *r) {
    const struct ergo_model *model = r->job->model;
    double row[ERGO_COLUMNS_MAX];
    for (size_t i = 0; i < r->n_members; i++) {
        struct ergo_member_result *m = &r->members[i];
        for (size_t k = 0; k < SAMPLES; k++) {
            for (size_t c = 0; c < model->n_columns; c++)
                row[c] = number();
            assert_true(ergo_member_add(m, k, 1, row));
        }
        for (size_t c = 0; c < model->n_curves; c++) {
            double *sample = calloc(m->binned[c].size + 1, sizeof *sample);
            for (int k = 0; k < 2 && m->binned[c].size && !m->binned[c].sum; k++)
                ergo_curve_add(&m->binned[c], sample);
            free(sample);
        }
        m->steps = i == 0 ? ergo_schedule_of(m->point).total : m->lead + SAMPLES * EVERY;
        m->digest = UINT64_C(0xabcdef0000000000) + i;
    }
    r->members[POINTS - 1].n_samples = 0; /* waits */
    r->members[POINTS - 1].steps = r->members[POINTS - 1].digest = 0;
    r->members[POINTS - 2].steps = r->members[POINTS - 2].digest = 0; /* in a batch that goes on */
    assert_int_equal(ergo_result_evaluate(ctx, r), ERGO_OK);
    for (size_t i = 0; i < r->n_members; i++) {
        for (size_t o = 0; o < model->n_observables; o++)
            mark(&r->members[i].observables[o]);
        for (size_t c = 0; c < model->n_curves; c++) {
            struct ergo_curve_result *curve = &r->members[i].curves[c];
            for (size_t k = 0; k < curve->size; k++) {
                curve->x[k] = number();
                curve->mean[k] = number();
                curve->error[k] = number();
            }
        }
    }
    for (size_t i = 0; i < r->n_means; i++)
        for (size_t o = 0; o < model->n_observables; o++) {
            mark(&r->means[i].observables[o]);
            r->means[i].scatters[o] =
                (struct ergo_scatter){number(), number(), number(), number(), i + 10 * o + 1, 0};
        }
    snprintf(r->device.name, sizeof r->device.name, "a device");
    ergo_result_set_rate(r, 12, 4);
}

static size_t number_of(enum ergo_result_part part, const char *name) {
    size_t index = 99;
    assert_int_equal(ergo_result_find(ctx, result, part, name, &index), ERGO_OK);
    return index;
}

/* ---- getters --------------------------------------------------------------------------------- */

static void parts_are_counted_and_named(void **state) {
    static const struct {
        enum ergo_result_part part;
        const char *name, *unit;
    } some[] = {{ERGO_RESULT_PARAMETERS, "/system/temperature", "J/k_B"},
                {ERGO_RESULT_PARAMETERS, "/system/size/1", "sites"},
                {ERGO_RESULT_OBSERVABLES, "energy", "J per site"},
                {ERGO_RESULT_OBSERVABLES, "heat_capacity", "k_B per site"},
                {ERGO_RESULT_CURVES, "correlation", ""},
                {ERGO_RESULT_COLUMNS, "magnetization", "per site"}};
    struct ergo_result_name name;
    size_t index;
    (void)state;
    assert_int_equal(ergo_result_count(result, ERGO_RESULT_POINTS), POINTS);
    assert_int_equal(ergo_result_count(result, ERGO_RESULT_MEANS), SCANNED);
    assert_int_equal(ergo_result_count(result, ERGO_RESULT_PARAMETERS), 3);
    assert_int_equal(ergo_result_count(result, ERGO_RESULT_COLUMNS), result->job->model->n_columns);
    assert_int_equal(ergo_result_count(result, ERGO_RESULT_DEVICES), 1);
    assert_int_equal(ergo_result_count(result, ERGO_RESULT_WARNINGS), result->n_warnings);
    assert_int_equal(ergo_result_count(result, (enum ergo_result_part)77), 0);
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        const size_t at = number_of(some[i].part, some[i].name);
        assert_int_equal(ergo_result_get_name(ctx, result, some[i].part, at, &name), ERGO_OK);
        assert_string_equal(name.name, some[i].name);
        assert_string_equal(name.unit, some[i].unit);
        assert_true(strlen(name.help) > 5);
        assert_true((name.axis != NULL) == (some[i].part == ERGO_RESULT_CURVES));
    }
    /* hidden ones are not there, and no name comes twice */
    const size_t n = ergo_result_count(result, ERGO_RESULT_OBSERVABLES);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(ergo_result_get_name(ctx, result, ERGO_RESULT_OBSERVABLES, i, &name),
                         ERGO_OK);
        assert_int_equal(number_of(ERGO_RESULT_OBSERVABLES, name.name), i);
        for (size_t o = 0; o < result->job->model->n_observables; o++)
            if (result->job->model->observables[o].hidden)
                assert_string_not_equal(result->job->model->observables[o].name, name.name);
    }
    assert_int_equal(ergo_result_find(ctx, result, ERGO_RESULT_OBSERVABLES, "enrgy", &index),
                     ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "no observable \"enrgy\"; did you mean "
                                                    "\"energy\"?"));
    ergo_error_clear(ctx);
    assert_int_equal(ergo_result_find(ctx, result, ERGO_RESULT_DEVICES, "a device", &index),
                     ERGO_E_JOB);
    ergo_error_clear(ctx);
}

static void the_run_is_told(void **state) {
    struct ergo_result_info info;
    struct ergo_device_summary device;
    (void)state;
    assert_int_equal(ergo_result_get_info(ctx, result, &info), ERGO_OK);
    assert_string_equal(info.name, "getters");
    assert_non_null(strstr(info.job, "\"replicas\":3"));
    assert_string_equal(info.sampler, "spin-lattice");
    assert_string_equal(info.model, "ising");
    assert_string_equal(info.status, "stopped");
    assert_string_equal(info.started, result->started);
    assert_string_equal(info.step_unit, "sweep");
    assert_string_equal(info.rate_unit, "spin updates per second");
    assert_string_equal(info.series, "full");
    assert_true(info.seed == UINT64_MAX);
    assert_true(info.rate == 3 && info.seconds == 4);
    assert_int_equal(ergo_result_get_device(ctx, result, 0, &device), ERGO_OK);
    assert_string_equal(device.name, "a device");
    assert_string_equal(ergo_result_warning(result, 0), result->warnings[0]);
    assert_string_equal(ergo_result_warning(result, result->n_warnings), "");
}

static void points_are_those_of_the_job(void **state) {
    struct ergo_result_point p;
    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        const struct ergo_member_result *m = &result->members[i];
        const bool waits = i == POINTS - 1;
        assert_int_equal(ergo_result_get_point(ctx, result, ERGO_RESULT_POINTS, i, &p), ERGO_OK);
        assert_int_equal(p.scan_index, i / REPLICAS);
        assert_int_equal(p.replica, i % REPLICAS);
        assert_int_equal(p.replicas, 1);
        assert_int_equal(p.measured, !waits);
        assert_string_equal(p.status, i == 0 ? "complete" : waits ? "waiting" : "stopped");
        assert_true(p.steps == (waits ? 0 : i == 0 ? p.planned : m->lead + SAMPLES * EVERY));
        assert_true(p.planned == 1000 + 11);
        assert_true(p.digest == m->digest);
        assert_true(p.stream == m->point->stream);
    }
    for (size_t i = 0; i < SCANNED; i++) {
        const bool last = i == SCANNED - 1;
        assert_int_equal(ergo_result_get_point(ctx, result, ERGO_RESULT_MEANS, i, &p), ERGO_OK);
        assert_int_equal(p.scan_index, i);
        assert_int_equal(p.replicas, REPLICAS);
        assert_int_equal(p.measured, last ? REPLICAS - 1 : REPLICAS);
        assert_string_equal(p.status, "stopped");
        assert_true(p.steps == (last ? 0 : result->members[1].lead + SAMPLES * EVERY));
        assert_true(p.digest == 0 && p.stream == 0);
    }
    assert_int_equal(ergo_result_get_point(ctx, result, ERGO_RESULT_POINTS, POINTS, &p),
                     ERGO_E_JOB);
    assert_int_equal(ergo_result_get_point(ctx, result, ERGO_RESULT_MEANS, SCANNED, &p),
                     ERGO_E_JOB);
    assert_int_equal(ergo_result_get_point(ctx, result, ERGO_RESULT_CURVES, 0, &p), ERGO_E_JOB);
    ergo_error_clear(ctx);
}

static struct ergo_result_value value_at(enum ergo_result_part part, size_t index,
                                         const char *pointer) {
    struct ergo_result_value value;
    assert_int_equal(ergo_result_get_value(ctx, result, part, index, pointer, &value), ERGO_OK);
    return value;
}

static void keys_have_their_values(void **state) {
    static const double temperatures[] = {2, 2.5};
    struct ergo_result_value v;
    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        const size_t scan = i / REPLICAS; /* the first axis varies slowest */
        v = value_at(ERGO_RESULT_POINTS, i, "/system/temperature");
        assert_int_equal(v.kind, ERGO_VALUE_NUMBER);
        const double temperature = v.number;
        v = value_at(ERGO_RESULT_POINTS, i, "/system/size/1");
        assert_int_equal(v.kind, ERGO_VALUE_NUMBER);
        assert_true(v.number == (double)result->members[i].point->scanned[1].value ||
                    v.number == (double)result->members[i].point->scanned[2].value);
        assert_true(temperature == temperatures[scan % 2] || temperature == temperatures[scan / 2]);
        assert_true(value_at(ERGO_RESULT_MEANS, scan, "/system/temperature").number == temperature);
    }
    v = value_at(ERGO_RESULT_POINTS, 0, "/system/size");
    assert_int_equal(v.kind, ERGO_VALUE_LIST);
    assert_int_equal(v.n_items, 2);
    assert_true(v.items[0] == 16 && (v.items[1] == 16 || v.items[1] == 32));
    v = value_at(ERGO_RESULT_POINTS, 0, "/seed");
    assert_int_equal(v.kind, ERGO_VALUE_SEED);
    assert_true(v.seed == UINT64_MAX);
    v = value_at(ERGO_RESULT_POINTS, 0, "/system/model");
    assert_int_equal(v.kind, ERGO_VALUE_TEXT);
    assert_string_equal(v.text, "ising");
    v = value_at(ERGO_RESULT_POINTS, 0, "/run/sweeps");
    assert_int_equal(v.kind, ERGO_VALUE_NUMBER);
    assert_true(v.number == 1000);
    v = value_at(ERGO_RESULT_POINTS, 0, "/output/blocks"); /* a default */
    assert_true(v.kind == ERGO_VALUE_NUMBER && v.number == 0);
    v = value_at(ERGO_RESULT_POINTS, 0, "/wall_time"); /* none */
    assert_int_equal(v.kind, ERGO_VALUE_ABSENT);
    assert_true(isnan(v.number));
    v = value_at(ERGO_RESULT_POINTS, 0, "/system/size/3");
    assert_int_equal(v.kind, ERGO_VALUE_ABSENT);
    for (const char *const *wrong =
             (const char *const[]){"/system/heat", "", "/seed/0", "/system", NULL};
         *wrong; wrong++)
        if (ergo_result_get_value(ctx, result, ERGO_RESULT_POINTS, 0, *wrong, &v) != ERGO_E_JOB)
            fail_msg("\"%s\" has a value", *wrong);
    ergo_error_clear(ctx);
}

static void same_estimate(const struct ergo_result_estimate *e,
                          const struct ergo_observable_result *r) {
    assert_true(e->present);
    assert_string_equal(e->unit, r->observable->unit);
    assert_true(e->mean == r->estimate.mean);
    assert_true(e->error == r->estimate.error);
    assert_true(e->tau == r->estimate.tau * EVERY);
    assert_true(e->tau_error == r->estimate.tau_error * EVERY);
    assert_true(e->samples == r->estimate.samples);
    assert_true(e->exact == r->exact);
    assert_true(e->z == r->z);
    assert_true(e->reference == r->reference);
    assert_true(e->reference_error == r->reference_error);
    assert_true(e->reference_z == r->reference_z);
    assert_null(e->untrusted);
}

static size_t model_row(const char *name) {
    size_t o = 0;
    while (strcmp(result->job->model->observables[o].name, name) != 0)
        o++;
    return o;
}

static void estimates_are_those_of_the_point(void **state) {
    static const char *const names[] = {"energy", "heat_capacity", "abs_magnetization", "binder"};
    struct ergo_result_estimate e;
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const size_t at = number_of(ERGO_RESULT_OBSERVABLES, names[n]);
        const size_t o = model_row(names[n]);
        for (size_t i = 0; i < POINTS; i++) {
            const struct ergo_observable_result *r = &result->members[i].observables[o];
            assert_int_equal(ergo_result_get_estimate(ctx, result, ERGO_RESULT_POINTS, i, at, &e),
                             ERGO_OK);
            same_estimate(&e, r);
            assert_true(e.error_binning == r->estimate.error_binning);
            assert_true(isnan(e.error_chains) && isnan(e.chi2) && e.dof == 0);
        }
        for (size_t i = 0; i < SCANNED; i++) {
            const struct ergo_scatter *s = &result->means[i].scatters[o];
            assert_int_equal(ergo_result_get_estimate(ctx, result, ERGO_RESULT_MEANS, i, at, &e),
                             ERGO_OK);
            same_estimate(&e, &result->means[i].observables[o]);
            assert_true(e.error_chains == s->error_chains && e.error_scatter == s->error_scatter);
            assert_true(e.chi2 == s->chi2 && e.tail == s->tail && e.dof == s->dof);
        }
    }
    result->members[2].observables[0].trust = ERGO_TRUST_DRIFT;
    result->members[2].observables[0].reference_error = 0; /* no reference */
    assert_int_equal(ergo_result_get_estimate(ctx, result, ERGO_RESULT_POINTS, 2, 0, &e), ERGO_OK);
    assert_string_equal(e.untrusted, "drift");
    assert_true(isnan(e.reference) && isnan(e.reference_z));
    assert_int_equal(ergo_result_get_estimate(ctx, result, ERGO_RESULT_POINTS, 0, 99, &e),
                     ERGO_E_JOB);
    ergo_error_clear(ctx);
}

static void arrays_are_those_of_the_point(void **state) {
    struct ergo_result_curve curve;
    struct ergo_result_series series;
    const size_t c = number_of(ERGO_RESULT_CURVES, "correlation");
    const size_t m = number_of(ERGO_RESULT_COLUMNS, "magnetization");
    size_t at = 0;
    (void)state;
    while (strcmp(result->job->model->curves[at].name, "correlation") != 0)
        at++;
    for (size_t i = 0; i < POINTS - 1; i++) {
        const struct ergo_member_result *member = &result->members[i];
        const struct ergo_curve_result *r = &member->curves[at];
        assert_int_equal(ergo_result_get_curve(ctx, result, i, c, &curve), ERGO_OK);
        assert_true(curve.size > 4 && curve.size == r->size);
        assert_ptr_equal(curve.x, r->x);
        assert_ptr_equal(curve.mean, r->mean);
        assert_ptr_equal(curve.error, r->error);
        assert_null(curve.reference_z);
        assert_int_equal(ergo_result_get_series(ctx, result, i, m, &series), ERGO_OK);
        assert_int_equal(series.size, SAMPLES);
        assert_int_equal(series.equilibration, member->n_equilibration);
        assert_ptr_equal(series.samples, member->series[m]);
        assert_true(series.lead == 1 && series.every == EVERY);
    }
    assert_int_equal(ergo_result_get_series(ctx, result, POINTS - 1, m, &series), ERGO_OK);
    assert_true(series.size == 0 && series.equilibration == 0);
    assert_int_equal(ergo_result_get_curve(ctx, result, POINTS, c, &curve), ERGO_E_JOB);
    assert_int_equal(ergo_result_get_series(ctx, result, 0, 99, &series), ERGO_E_JOB);
    ergo_error_clear(ctx);
}

/* Of a list that is not scanned. */
static void elements_of_lists(void **state) {
    struct ergo_result *other =
        make("{\"sampler\":\"spin-lattice\",\"system\":{\"model\":\"ising\","
             "\"size\":[16,48],\"temperature\":2},\"run\":{\"sweeps\":1}}");
    struct ergo_result_value v;
    (void)state;
    assert_int_equal(ergo_result_get_value(ctx, other, ERGO_RESULT_POINTS, 0, "/system/size/1", &v),
                     ERGO_OK);
    assert_true(v.kind == ERGO_VALUE_NUMBER && v.number == 48);
    ergo_result_destroy(other);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Cell k of a line, in place; "" beyond its end. */
static const char *cell(const char *line, size_t k) {
    static char text[256];
    for (; k; k--) {
        line += strcspn(line, ",\n");
        line += *line == ',';
    }
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, ",\n"), line);
    return text;
}

static size_t column_of(const char *head, const char *title) {
    for (size_t k = 0; k < 200; k++)
        if (strcmp(cell(head, k), title) == 0)
            return k;
    fail_msg("no column %s", title);
    return 0;
}

static const char *next_line(const char *line) {
    return strchr(line, '\n') + 1;
}

static bool cell_is(const char *line, size_t k, double value) {
    return strtod(cell(line, k), NULL) == value;
}

static void csv_has_all_rows(void **state) {
    const struct ergo_result *const list[] = {result};
    char *text = NULL;
    (void)state;
    assert_int_equal(ergo_result_csv(ctx, list, NULL, 1, &text), ERGO_OK);
    const size_t temperature = column_of(text, "/system/temperature [J/k_B]");
    const size_t replica = column_of(text, "replica"), digest = column_of(text, "digest");
    const size_t mean = column_of(text, "energy [J per site]");
    const size_t error = column_of(text, "energy.error [J per site]");
    const size_t tau = column_of(text, "energy.tau [sweep]");
    const size_t untrusted = column_of(text, "energy.untrusted");
    const size_t exact = column_of(text, "energy.exact [J per site]");
    const size_t reference = column_of(text, "energy.reference_error [J per site]");
    const size_t binder = column_of(text, "binder"), o = model_row("binder");
    const char *line = next_line(text);
    for (size_t i = 0; i < POINTS; i++) {
        const struct ergo_member_result *m = &result->members[i];
        const struct ergo_observable_result *e = &m->observables[0];
        char written[32] = "";
        assert_true(cell_is(line, temperature,
                            value_at(ERGO_RESULT_POINTS, i, "/system/temperature").number));
        assert_true(cell_is(line, replica, (double)(i % REPLICAS)));
        if (m->digest)
            snprintf(written, sizeof written, "%016llx", (unsigned long long)m->digest);
        assert_string_equal(cell(line, digest), written);
        assert_true(cell_is(line, mean, e->estimate.mean));
        assert_true(cell_is(line, error, e->estimate.error));
        assert_true(cell_is(line, tau, e->estimate.tau * EVERY));
        assert_true(cell_is(line, exact, e->exact));
        assert_true(cell_is(line, binder, m->observables[o].estimate.mean));
        assert_string_equal(cell(line, untrusted), e->trust == ERGO_TRUST_DRIFT ? "drift" : "");
        if (e->trust == ERGO_TRUST_FULL)
            assert_true(cell_is(line, reference, e->reference_error));
        else
            assert_string_equal(cell(line, reference), "");
        line = next_line(line);
        if (i % REPLICAS < REPLICAS - 1)
            continue;
        e = &result->means[i / REPLICAS].observables[0];
        assert_string_equal(cell(line, replica), "mean");
        assert_string_equal(cell(line, digest), "");
        assert_true(cell_is(line, mean, e->estimate.mean));
        assert_true(cell_is(line, error, e->estimate.error));
        line = next_line(line);
    }
    assert_string_equal(line, "");
    free(text);
}

static void csv_of_several_runs(void **state) {
    static const char *const names[] = {"a,\"b\"", "c"};
    struct ergo_result *other =
        make("{\"sampler\":\"hard-disks\",\"seed\":\"7\",\"system\":{\"n\":64,"
             "\"packing_fraction\":0.5},\"run\":{\"sweeps\":10}}");
    const struct ergo_result *const list[] = {result, other};
    char *text = NULL;
    (void)state;
    assert_int_equal(ergo_result_evaluate(ctx, other), ERGO_OK);
    assert_int_equal(ergo_result_csv(ctx, list, names, 2, &text), ERGO_OK);
    assert_memory_equal(text, "run,", 4);
    assert_memory_equal(next_line(text), "\"a,\"\"b\"\"\",", 10);
    const size_t seed = column_of(text, "/seed"), disks = column_of(text, "/system/n [disks]");
    const size_t energy = column_of(text, "energy [J per site]");
    const size_t psi6 = column_of(text, "psi6");
    assert_string_equal(cell(text, psi6 + 1), "psi6.error");
    const char *line = text, *last = text;
    for (; *line; line = next_line(line))
        last = line;
    assert_string_equal(cell(last, 0), "c");
    assert_string_equal(cell(last, seed), "7");
    assert_string_equal(cell(last, disks), "64");
    assert_string_equal(cell(last, energy), "");
    /* a quoted comma more */
    assert_string_equal(cell(next_line(text), seed + 1), "18446744073709551615");
    assert_string_equal(cell(next_line(text), disks + 1), "");
    free(text);
    assert_int_equal(ergo_result_csv(ctx, list, NULL, 0, &text), ERGO_E_JOB);
    assert_null(text);
    ergo_error_clear(ctx);
    ergo_result_destroy(other);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void a_stop_is_its_own(void **state) {
    struct ergo_stop *one = ergo_stop_create(), *other = ergo_stop_create();
    (void)state;
    assert_false(ergo_stop_is_requested(one));
    ergo_stop_request(one);
    assert_true(ergo_stop_is_requested(one));
    assert_false(ergo_stop_is_requested(other));
    ergo_run_request_stop();
    assert_false(ergo_stop_is_requested(other));
    ergo_run_withdraw_stop();
    ergo_stop_destroy(one);
    ergo_stop_destroy(other);
}

static int set_up(void **state) {
    (void)state;
    ctx = ergo_context_create();
    result = make("{\"sampler\":\"spin-lattice\",\"seed\":\"18446744073709551615\",\"replicas\":3,"
                  "\"system\":{\"model\":\"ising\",\"size\":[16,16],\"temperature\":2.3},"
                  "\"scan\":{\"/system/temperature\":[2,2.5],\"/system/size\":[[16,16],[16,32]]},"
                  "\"run\":{\"equilibration\":11,\"sweeps\":1000,\"measure_every\":2}}");
    fill(result);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ergo_result_destroy(result);
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_counted_and_named),
        cmocka_unit_test(the_run_is_told),
        cmocka_unit_test(points_are_those_of_the_job),
        cmocka_unit_test(keys_have_their_values),
        cmocka_unit_test(estimates_are_those_of_the_point),
        cmocka_unit_test(arrays_are_those_of_the_point),
        cmocka_unit_test(elements_of_lists),
        cmocka_unit_test(csv_has_all_rows),
        cmocka_unit_test(csv_of_several_runs),
        cmocka_unit_test(a_stop_is_its_own),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
