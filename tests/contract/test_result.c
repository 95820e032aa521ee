/* result.json is whole: every name that scripts may rely on, of the right kind, for every point. */
#define CONTRACT_SERIES
#include "contract.h"

static const char *where; /* for messages */

static const cJSON *member(const cJSON *object, const char *name, int type) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!item || (item->type & 0xff) != type) {
        fail_msg("%s: %s: \"%s\" is %s", contract.sampler->name, where, name,
                 item ? "of another type" : "missing");
        abort(); /* not reached, which the analyser does not know */
    }
    if (type == cJSON_Number)
        assert_true(isfinite(item->valuedouble));
    return item;
}

static double number(const cJSON *object, const char *name) {
    return member(object, name, cJSON_Number)->valuedouble;
}

static const char *string(const cJSON *object, const char *name) {
    return member(object, name, cJSON_String)->valuestring;
}

/* Lower-case hexadecimal digits. */
static void is_hex(const char *text, size_t length) {
    assert_int_equal(strlen(text), length);
    assert_int_equal(strspn(text, "0123456789abcdef"), length);
}

/* Of some curves an observable has no value (a correlation length where nothing is correlated), and
 * in the file null. */
static bool has_no_value(const struct ergo_observable *observable,
                         const struct ergo_member_result *result) {
    const struct ergo_model *model = contract.model;
    for (size_t c = 0; c < model->n_curves && observable->curve; c++) {
        const struct ergo_curve_result *curve = &result->curves[c];
        if (curve->size && strcmp(model->curves[c].name, observable->curve) == 0)
            return isnan(
                ergo_observable_of_curve(observable, result->point, curve->mean, curve->size));
    }
    return false;
}

static void check_reason(const char *reason) {
    bool known = false;
    for (enum ergo_trust t = ERGO_TRUST_FULL; t < ERGO_TRUSTS; t++)
        known |= ergo_trust_name(t) && strcmp(ergo_trust_name(t), reason) == 0;
    if (!known)
        fail_msg("%s: \"%s\" is no reason", where, reason);
}

/* Of a series that never changed, and of independent samples, there is no tau. */
static void check_time(const cJSON *found) {
    const cJSON *tau = cJSON_GetObjectItemCaseSensitive(found, "tau");
    assert_non_null(tau);
    assert_true(cJSON_IsNull(tau) || (isfinite(tau->valuedouble) && tau->valuedouble >= 0));
}

static void check_observables(const cJSON *observables, const struct ergo_member_result *result,
                              double samples) {
    const struct ergo_model *model = contract.model;
    const struct ergo_point *point = result->point;
    size_t shown = 0;
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *observable = &model->observables[o];
        if (!ergo_observable_shown(observable, point)) {
            bool other = false; /* of a model that shares the name */
            for (size_t k = 0; k < model->n_observables; k++)
                other = other || (strcmp(model->observables[k].name, observable->name) == 0 &&
                                  ergo_observable_shown(&model->observables[k], point));
            if (other)
                continue;
            assert_null(cJSON_GetObjectItemCaseSensitive(observables, observable->name));
            continue;
        }
        where = "observables";
        const cJSON *found = member(observables, observable->name, cJSON_Object);
        where = observable->name;
        shown++;
        if (has_no_value(observable, result)) {
            member(found, "mean", cJSON_NULL);
            member(found, "error", cJSON_NULL);
            assert_string_equal(string(found, "untrusted"), "undefined");
            continue;
        }
        number(found, "mean");
        if (cJSON_GetObjectItemCaseSensitive(found,
                                             "untrusted")) { /* then no error, and a reason */
            member(found, "error", cJSON_NULL);
            check_reason(string(found, "untrusted"));
        } else {
            assert_true(number(found, "error") >= 0);
        }
        check_time(found);
        /* what comes from a curve has the curve's samples */
        assert_true(observable->curve ? number(found, "samples") <= samples
                                      : number(found, "samples") == samples);
        assert_string_equal(string(found, "unit"), observable->unit);
    }
    assert_true(shown > 0);
    assert_int_equal(cJSON_GetArraySize(observables), shown);
}

static void check_curves(const cJSON *curves, const struct ergo_point *point) {
    const struct ergo_model *model = contract.model;
    int shown = 0;
    for (size_t c = 0; c < model->n_curves; c++) {
        static const char *const arrays[] = {"x", "mean", "error"};
        const size_t size = contract.model->curve_size(point, c);
        if (!size || model->curves_hidden >> c & 1) /* of the HDF5 file alone */
            continue;
        where = "curves";
        const cJSON *found = member(curves, model->curves[c].name, cJSON_Object);
        where = model->curves[c].name;
        assert_string_equal(string(found, "x_label"), model->curves[c].x_label);
        assert_string_equal(string(found, "unit"), model->curves[c].unit);
        for (int a = 0; a < 3; a++) {
            const cJSON *item, *array = member(found, arrays[a], cJSON_Array);
            assert_int_equal(cJSON_GetArraySize(array), size);
            cJSON_ArrayForEach(item, array) assert_true(cJSON_IsNumber(item));
        }
        shown++;
    }
    assert_int_equal(cJSON_GetArraySize(curves), shown);
}

static void check_point(const cJSON *found, const struct ergo_member_result *result, double steps,
                        double samples) {
    const struct ergo_point *point = result->point;
    where = "points";
    is_hex(string(found, "digest"), 16);
    is_hex(string(found, "stream"), 16);
    assert_true(number(found, "replica") == point->replica);
    assert_true(number(found, "steps") == steps);
    const cJSON *parameters = member(found, "parameters", cJSON_Object);
    assert_int_equal(cJSON_GetArraySize(parameters), point->n_scanned);
    for (size_t i = 0; i < point->n_scanned; i++)
        assert_true(number(parameters, point->scanned[i].pointer) == point->scanned[i].value);
    check_observables(member(found, "observables", cJSON_Object), result, samples);
    check_curves(cJSON_GetObjectItemCaseSensitive(found, "curves"), point);
}

static void check_head(const cJSON *tree, const char *status) {
    where = "result.json";
    assert_string_equal(string(tree, "ergocl"), ERGO_VERSION);
    assert_string_equal(string(tree, "sampler"), contract.sampler->name);
    assert_string_equal(string(tree, "status"), status);
    assert_string_equal(string(tree, "seed"),
                        cJSON_GetObjectItem(contract.job, "seed")->valuestring);
    const cJSON *devices = member(tree, "device", cJSON_Array), *rate;
    assert_int_equal(cJSON_GetArraySize(devices), 1);
    where = "device";
    assert_true(number(devices->child, "rank") == 0);
    assert_true(*string(devices->child, "id") && *string(devices->child, "name") &&
                *string(devices->child, "driver"));
    where = "rate";
    rate = member(tree, "rate", cJSON_Object);
    assert_true(number(rate, "value") > 0 && number(rate, "seconds") > 0);
    assert_string_equal(string(rate, "unit"), contract.sampler->rate_unit);
}

/* Every scan point has its mean over the replicas, as documented, from what the points say. */
static void check_means(const cJSON *tree) {
    const cJSON *means = member(tree, "means", cJSON_Array), *points;
    points = member(tree, "points", cJSON_Array);
    assert_int_equal(cJSON_GetArraySize(means), 2);
    for (int i = 0; i < 2; i++) {
        const cJSON *mean = cJSON_GetArrayItem(means, i), *first, *second, *entry;
        first = member(cJSON_GetArrayItem(points, 2 * i), "observables", cJSON_Object);
        second = member(cJSON_GetArrayItem(points, 2 * i + 1), "observables", cJSON_Object);
        where = "means";
        assert_true(number(mean, "replicas") == 2 && number(mean, "measured") == 2);
        assert_true(cJSON_Compare(
            member(mean, "parameters", cJSON_Object),
            member(cJSON_GetArrayItem(points, 2 * i), "parameters", cJSON_Object), true));
        const cJSON *observables = member(mean, "observables", cJSON_Object);
        assert_int_equal(cJSON_GetArraySize(observables), cJSON_GetArraySize(first));
        cJSON_ArrayForEach(entry, observables) {
            static const char *const rest[] = {"error_scatter", "error_chains", "chi2", "dof"};
            const cJSON *a = member(first, entry->string, cJSON_Object);
            const cJSON *b = member(second, entry->string, cJSON_Object);
            where = entry->string;
            for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++)
                assert_non_null(cJSON_GetObjectItemCaseSensitive(entry, rest[k]));
            assert_true(!cJSON_IsNull(cJSON_GetObjectItem(entry, "error")) ||
                        *string(entry, "untrusted"));
            if (cJSON_IsNumber(cJSON_GetObjectItem(entry, "mean"))) {
                const double expected = 0.5 * (number(a, "mean") + number(b, "mean"));
                assert_true(fabs(number(entry, "mean") - expected) <=
                            1e-12 * fabs(expected) + 1e-300);
            }
        }
    }
}

static void complete(void) {
    struct ergo_result *result = contract_run(contract.job, NULL, NULL);
    char *path = ergo_path_join(contract.folder, "result.json"), *text = NULL, *file = NULL;
    size_t length = 0;
    contract_ok(ergo_result_json(contract.ctx, result, &text), "result.json as text");
    contract_ok(ergo_file_read(contract.ctx, NULL, path, 1 << 26, &file, &length), "result.json");
    assert_string_equal(text, file);
    const char *end = NULL;
    cJSON *tree = cJSON_ParseWithOpts(text, &end, true); /* and nothing after it */
    assert_non_null(tree);
    check_head(tree, "complete");
    const cJSON *run = cJSON_GetObjectItem(contract.job, "run"), *points;
    where = "the contract job";
    const double sweeps = number(run, "sweeps"), every = number(run, "measure_every");
    where = "result.json";
    points = member(tree, "points", cJSON_Array);
    assert_int_equal(cJSON_GetArraySize(points), 4);
    for (int i = 0; i < 4; i++)
        check_point(cJSON_GetArrayItem(points, i), &result->members[i],
                    sweeps + number(run, "equilibration"), floor(sweeps / every));
    check_means(tree);
    cJSON_Delete(tree);
    free(text);
    free(file);
    free(path);
    ergo_result_destroy(result);
}

static void test_complete(void **state) {
    (void)state;
    contract_each(complete);
}

/* A stopped run reports what it has, and says that it is stopped. */
static void stopped(void) {
    struct ergo_result *result = NULL;
    char *text = NULL;
    contract.block_samples = 1;
    contract.block_steps = 1;
    contract.stop_after = 1;
    assert_int_equal(contract_try(contract.job, NULL, 0, &result), ERGO_STOPPED);
    ergo_run_withdraw_stop();
    contract_ok(ergo_result_json(contract.ctx, result, &text), "result.json as text");
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    check_head(tree, "stopped");
    assert_int_equal(ergo_status_exit_code(ERGO_STOPPED), 75);
    cJSON_Delete(tree);
    free(text);
    ergo_result_destroy(result);
}

static void test_stopped(void **state) {
    (void)state;
    contract_each(stopped);
}

/* Only what is asked for is there, with the values that it has among all others. */
static void expect_asked(const cJSON *all, const char *asked, bool is_curve) {
    char set[128], *text = NULL;
    snprintf(set, sizeof set, "/run/observables=%s", asked);
    /* what is measured for other observables alone is refused then */
    cJSON *job = cJSON_Duplicate(contract.job, true);
    if (!strstr(asked, "correlation"))
        cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(job, "run"),
                                                "correlations");
    struct ergo_result *result = contract_run(job, set, NULL);
    cJSON_Delete(job);
    contract_ok(ergo_result_json(contract.ctx, result, &text), set);
    cJSON *tree = cJSON_Parse(text);
    where = set;
    const cJSON *point, *whole = member(all, "points", cJSON_Array)->child;
    cJSON_ArrayForEach(point, member(tree, "points", cJSON_Array)) {
        const cJSON *observables = member(point, "observables", cJSON_Object);
        const cJSON *curves = cJSON_GetObjectItemCaseSensitive(point, "curves");
        assert_string_equal(string(point, "digest"), string(whole, "digest"));
        assert_int_equal(cJSON_GetArraySize(observables), !is_curve);
        assert_int_equal(curves ? cJSON_GetArraySize(curves) : 0, is_curve);
        const char *kind = is_curve ? "curves" : "observables";
        assert_true(cJSON_Compare(member(is_curve ? curves : observables, asked, cJSON_Object),
                                  member(member(whole, kind, cJSON_Object), asked, cJSON_Object),
                                  true));
        whole = whole->next;
    }
    cJSON_Delete(tree);
    free(text);
    ergo_result_destroy(result);
}

static void asked(void) {
    const struct ergo_model *model = contract.model;
    struct ergo_result *result = contract_run(contract.job, NULL, NULL);
    char *text = NULL;
    contract_ok(ergo_result_json(contract.ctx, result, &text), "all");
    cJSON *all = cJSON_Parse(text);
    const struct ergo_member_result *first = &result->members[0];
    const char *last = NULL, *curve = NULL;
    for (size_t o = 0; o < model->n_observables; o++)
        if (ergo_observable_shown(&model->observables[o], first->point)) {
            if (!last) /* the first, and the last */
                expect_asked(all, model->observables[o].name, false);
            last = model->observables[o].name;
        }
    expect_asked(all, last, false);
    for (size_t c = 0; c < model->n_curves && !curve; c++)
        if (first->curves[c].size && !(model->curves_hidden >> c & 1u))
            curve = model->curves[c].name;
    if (curve)
        expect_asked(all, curve, true);
    cJSON_Delete(all);
    free(text);
    ergo_result_destroy(result);
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(contract.job, "run"),
                                            "correlations");
    const char *const sets[] = {"/run/observables=no_such_thing"};
    assert_int_equal(contract_try(contract.job, sets, 1, &result), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(contract.ctx), "no_such_thing"));
}

static void test_asked(void **state) {
    (void)state;
    contract_each(asked);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static char *read_result(const char *name, size_t *length) {
    char *path = ergo_path_join(contract.folder, name), *bytes = NULL;
    contract_ok(ergo_file_read(contract.ctx, NULL, path, 1 << 26, &bytes, length), name);
    free(path);
    return bytes;
}

/* The file of a complete run as these bytes: resuming the run makes it again, to the last bit. */
static void made_again(const char *name, const char *bytes, size_t length, const char *good,
                       size_t good_length) {
    char *path = ergo_path_join(contract.folder, name);
    struct ergo_result *result = NULL;
    size_t again_length = 0;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    const struct ergo_run_options options = {0};
    contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), name);
    contract_ok(ergo_result_write_page(contract.ctx, result, contract.folder), name);
    ergo_result_destroy(result);
    char *again = read_result(name, &again_length);
    if (again_length != good_length || memcmp(again, good, good_length) != 0)
        fail_msg("%s: %s (%zu of %zu bytes) was not made again", contract.sampler->name, name,
                 length, good_length);
    free(again);
    free(path);
}

/* A bit flipped, and the file cut off, at places all over the series and the report
 * ($ERGOCL_TEST_FULL: more of them): what is written for others is never read back. */
static void damaged(void) {
    static const char *const names[] = {"series.h5", "report.html"};
    const size_t places = getenv("ERGOCL_TEST_FULL") ? 400 : 8;
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL);
    contract_ok(ergo_result_write_page(contract.ctx, whole, contract.folder), "a page");
    ergo_result_destroy(whole);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        size_t length = 0;
        char *good = read_result(names[k], &length), *bad = malloc(length);
        assert_non_null(bad);
        memcpy(bad, good, length);
        for (size_t i = 0; i < places; i++) {
            const size_t at = length * i / places;
            bad[at] ^= (char)(1u << i % 8);
            made_again(names[k], bad, length, good, length);
            bad[at] = good[at];
            made_again(names[k], good, at, good, length);
        }
        free(good);
        free(bad);
    }
}

static void test_damaged(void **state) {
    (void)state;
    contract_each_tiny(damaged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
