/*
 * What a sampler's author has to add: complete tables, an example job, contract jobs with which the
 * other tests can fail, golden digests, and texts made from the tables.
 */
#include "contract.h"
#include "run/known.h"

static void complain(const char *about, const char *what) {
    const char *model = contract.model && contract.model->name ? contract.model->name : "";
    fail_msg("%s %s: %s: %s", contract.sampler->name, model, about, what);
}

static bool filled(const char *text) {
    return text && *text;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* For every model of the sampler, in contract.model. */
static void each_model(void (*test)(void)) {
    for (size_t m = 0; m < contract.sampler->n_models; m++) {
        contract.model = contract.sampler->models[m];
        test();
    }
}

static const struct ergo_observable *observable_called(const char *name) {
    const struct ergo_model *model = contract.model;
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, name) == 0)
            return &model->observables[o];
    return NULL;
}

static bool is_curve(const char *name) {
    const struct ergo_model *model = contract.model;
    for (size_t c = 0; c < model->n_curves; c++)
        if (name && strcmp(model->curves[c].name, name) == 0)
            return true;
    return false;
}

static void check_observable(const struct ergo_observable *o) {
    if (!filled(o->help) || !o->unit)
        complain(o->name, "needs help, and a unit (\"\" for none)");
    if (observable_called(o->name) != o)
        complain(o->name, "is there twice");
    if ((ergo_observable_sampled(o)) + (o->derive != NULL) + (o->curve != NULL) != 1 ||
        (o->derive && !o->inputs[0]) || (o->curve && !is_curve(o->curve)))
        complain(o->name, "needs sample, or derive and its inputs, or from_curve and its curve");
    for (size_t i = 0; i < 8 && o->inputs[i]; i++) {
        const struct ergo_observable *input = observable_called(o->inputs[i]);
        if (!input || !ergo_observable_sampled(input))
            complain(o->inputs[i], "an input has to be an observable with samples");
    }
}

static void keys_of_model(void) {
    const struct ergo_sampler *sampler = contract.sampler;
    const struct ergo_model *model = contract.model;
    const struct ergo_key *key;
    for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++) {
        if (!key->acts != !filled(key->where))
            complain(key->pointer, "acts and where belong together");
        if (key->stream && !(key->flags & ERGO_KEY_CHAIN))
            complain(key->pointer, "says what counts in the stream, and is no key of the chain");
    }
    if ((sampler->model_key != NULL) != (model->name != NULL) ||
        (!sampler->model_key && sampler->n_models != 1))
        complain("model", "needs a name, and its sampler a key, where there are several");
    if (sampler->model_key && !filled(model->summary))
        complain("model", "needs a summary");
    const struct ergo_model *first = model->name ? ergo_model_find(sampler, model->name) : model;
    for (size_t r = 0; r < ERGO_KEY_ROWS_MAX; r++)
        if (first->keys[r].keys != model->keys[r].keys || first->keys[r].n != model->keys[r].n)
            complain("keys", "implementations of one model have the same keys");
    if (first != model && !first->serves)
        complain("serves", "of two implementations the first has to say what it serves");
}

static void tables(void) {
    const struct ergo_sampler *sampler = contract.sampler;
    const struct ergo_model *model = contract.model;
    const struct ergo_sampler_ops *ops = model->ops;
    if (!filled(sampler->summary) || !filled(sampler->citation) || !filled(sampler->step_name) ||
        !filled(sampler->rate_unit) || !model->programs[0] || !sampler->state_version)
        complain("tables", "summary, citation, step and rate unit, programs, state version");
    /* room for them in src/run */
    if (!model->n_columns || model->n_columns > ERGO_COLUMNS_MAX ||
        model->n_curves > ERGO_CURVES_MAX || !model->n_observables)
        complain("tables", "1 to 16 columns, at most 24 curves, 1 and more observables");
    for (size_t c = 0; c < model->n_columns; c++)
        if (!filled(model->columns[c].name) || !model->columns[c].unit ||
            !filled(model->columns[c].help))
            complain("columns", "each needs name, unit and help");
    for (size_t c = 0; c < model->n_curves; c++)
        if (!filled(model->curves[c].name) || !filled(model->curves[c].x_label) ||
            !model->curves[c].unit || !filled(model->curves[c].help))
            complain("curves", "each needs name, x label, unit and help");
    keys_of_model();
    for (size_t t = 0; t < model->n_tunables; t++)
        if (!filled(model->tunables[t].help) || model->tunables[t].min < 0 ||
            model->tunables[t].max < 1 || model->tunables[t].max < model->tunables[t].min)
            complain(model->tunables[t].name, "needs help, and a range beside 0, automatic");
    for (size_t o = 0; o < model->n_observables; o++)
        check_observable(&model->observables[o]);
    if (!ops || !ops->engine || !ops->init || !ops->save || !ops->load)
        complain("ops", "one is missing that is not optional");
    if (!model->check || (model->n_curves && (!model->curve_size || !model->curve_x)) ||
        (model->histograms && !model->histogram_bin))
        complain("functions of a point", "one is missing that is not optional");
    if (ops && ops->engine && ops->engine->fields && ops->engine->fields->n > ERGO_FIELDS)
        complain("fields", "are more than ERGO_FIELDS");
    if (ops->frame ? !model->trajectory : model->trajectory && !ops->view)
        complain("trajectory", "its name and the op frame, or view, go together");
    if (ops->view && (ops->picture || ops->frame))
        complain("ops", "pictures and frames are made of the view");
    if (ops->view && model->trajectory &&
        !(model->frame_suffix && strcmp(model->frame_suffix, "vti") == 0))
        complain("frame_suffix", "frames of a view are files of VTK");
}

static void tables_of_models(void) {
    each_model(tables);
}

static void test_tables(void **state) {
    (void)state;
    contract_each(tables_of_models);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* A sample that is weighted for another point is the same there, but for what says that it is not
 * weighted (recorded_at). */
static void check_weighted(const struct ergo_job *job, const char *pointer) {
    const struct ergo_model *model = job->model;
    const struct ergo_point *here = &job->points[0];
    struct ergo_point there;
    double columns[ERGO_COLUMNS_MAX];
    assert_true(ergo_point_copy(here, &there));
    for (size_t k = 0; k < job->n_keys; k++)
        if (strcmp(job->keys[k]->pointer, pointer) == 0)
            there.values[k].real *= 1.25;
    ergo_point_fill(&there);
    for (size_t c = 0; c < ERGO_COLUMNS_MAX; c++)
        columns[c] = 2 + (double)c;
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *of = &model->observables[o];
        if (!ergo_observable_sampled(of) || of->of_moves || (of->applies && !of->applies(here)) ||
            (of->recorded_at && strcmp(of->recorded_at, pointer) == 0))
            continue;
        const double x = ergo_observable_sample(of, here, columns),
                     y = ergo_observable_sample(of, &there, columns);
        if (x != y && !(isnan(x) && isnan(y)))
            fail_msg("%s: a sample of %s depends on %s, by which it is weighted",
                     model->name ? model->name : "", of->name, pointer);
    }
    free(there.values);
}

/* Number of job files in `pattern` of the sampler; all have to pass the checker. */
static size_t jobs_of_sampler(const char *pattern) {
    glob_t found = {0};
    size_t count = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct ergo_job *job = NULL;
        contract_ok(ergo_job_load(contract.ctx, found.gl_pathv[i], NULL, 0, &job),
                    found.gl_pathv[i]);
        count += strcmp(ergo_job_sampler(job), contract.sampler->name) == 0;
        for (size_t c = 0; c < job->model->n_conjugates; c++)
            for (size_t k = 0; job->model->conjugates[c].keys[k]; k++)
                check_weighted(job, job->model->conjugates[c].keys[k]);
        ergo_job_destroy(job);
    }
    globfree(&found);
    return count;
}

/* Jobs that would not show what the tests look for. */
static void check_contract_job(const cJSON *job, size_t least_samples) {
    const cJSON *scan = contract_scan(job), *run = cJSON_GetObjectItem(job, "run");
    const cJSON *seed = cJSON_GetObjectItem(job, "seed");
    const cJSON *replicas = cJSON_GetObjectItem(job, "replicas");
    const cJSON *lead = cJSON_GetObjectItem(run, "equilibration");
    const cJSON *sweeps = cJSON_GetObjectItem(run, "sweeps");
    const cJSON *every = cJSON_GetObjectItem(run, "measure_every");
    if (!scan || scan->next || cJSON_GetArraySize(scan) != 2 || !cJSON_IsNumber(scan->child) ||
        !cJSON_IsString(seed) || !replicas || replicas->valueint != 2)
        complain("contract job", "a seed, two replicas, and a scan of one key over two numbers");
    if (!lead || !sweeps || !every || every->valueint < 2 ||
        lead->valueint % every->valueint == 0 || sweeps->valueint % every->valueint == 0 ||
        (size_t)(sweeps->valueint / every->valueint) < least_samples)
        complain("contract job", "equilibration and sweeps leave a rest when divided by "
                                 "measure_every (>= 2); 2 samples and more in the tiny job, 16 and "
                                 "more in the other");
}

static void jobs(void) {
    const char *name = contract.sampler->name;
    char tiny[160];
    if (jobs_of_sampler("data/jobs/*.json") == 0)
        complain("data/jobs", "no example job");
    if (jobs_of_sampler(CONTRACT_JOBS "*.json") < 2)
        complain(CONTRACT_JOBS, "NAME.json and NAME-tiny.json are needed");
    snprintf(tiny, sizeof tiny, CONTRACT_JOBS "%s-tiny.json", name);
    cJSON *small = contract_read(tiny);
    if (!small)
        complain(tiny, "is missing");
    check_contract_job(contract.job, 16);
    check_contract_job(small, 2);
    cJSON_Delete(small);
}

static void test_jobs(void **state) {
    (void)state;
    contract_each(jobs);
}

/* Every contract job has its digests, every digest its job. */
static void test_golden_file(void **state) {
    (void)state;
    glob_t found = {0};
    cJSON *golden = contract_read("data/reference/digests.json");
    const cJSON *list, *known = cJSON_GetObjectItem(golden, "digests");
    assert_non_null(known);
    assert_int_equal(glob(CONTRACT_JOBS "*.json", 0, NULL, &found), 0);
    assert_int_equal(cJSON_GetArraySize(known), found.gl_pathc);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct ergo_job *job = NULL;
        const char *path = found.gl_pathv[i];
        contract_ok(ergo_job_load(contract.ctx, path, NULL, 0, &job), path);
        list = cJSON_GetObjectItemCaseSensitive(known, path);
        if ((size_t)cJSON_GetArraySize(list) != ergo_job_count_points(job))
            fail_msg("%s: not as many digests as points in data/reference/digests.json", path);
        ergo_job_destroy(job);
    }
    globfree(&found);
    cJSON_Delete(golden);
}

/* What a device is asked before it is believed (run/known.h). */
static void asks(void) {
    struct ergo_job *known = NULL;
    char *digests = NULL;
    struct ergo_job job = {.sampler = contract.sampler};
    for (size_t i = 0; i < ergo_n_samplers; i++) /* jobs have the models that are looked after */
        if (contract_real[i] == contract.sampler)
            for (size_t m = 0; m < contract.sampler->n_models; m++)
                if (contract.sampler->models[m] == contract.model)
                    job.model = ergo_samplers[i]->models[m];
    contract_ok(ergo_known_job(contract.ctx, &job, &known, &digests), "a known answer");
    if (!known)
        complain("a known answer", "is missing");
    if (known && (!digests || strlen(digests) != 17 * known->n_points))
        complain(known->name, "needs a digest for each point");
    ergo_job_destroy(known);
    free(digests);
}

static void known(void) {
    each_model(asks);
}

static void test_known(void **state) {
    (void)state;
    contract_each(known);
    for (size_t i = 0; i < ergo_known_file_count; i++) {
        const struct ergo_embedded *file = &ergo_known_files[i];
        const bool jobs = strcmp(file->path, "digests.json") != 0;
        char *text = NULL, path[128];
        size_t length = 0;
        snprintf(path, sizeof path, "%s%s", jobs ? CONTRACT_JOBS : "data/reference/", file->path);
        contract_ok(ergo_file_read(contract.ctx, NULL, path, 1 << 20, &text, &length), path);
        assert_int_equal(length, file->length);
        assert_memory_equal(text, file->text, length);
        free(text);
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Help of the model and the schema know every key and tunable, help every observable too. */
static void texts_of_model(void) {
    const struct ergo_sampler *sampler = contract.sampler;
    const struct ergo_model *model = contract.model;
    const struct ergo_key *key;
    char *help = NULL, *schema = NULL, *kernels = NULL, topic[128];
    snprintf(topic, sizeof topic, "%s%s%s", sampler->name, model->name ? " " : "",
             model->name ? model->name : "");
    contract_ok(ergo_help_text(contract.ctx, topic, &help), "help");
    contract_ok(ergo_schema_text(contract.ctx, &schema), "schema");
    contract_ok(ergo_kernels_text(contract.ctx, sampler->name, &kernels), "kernels");
    cJSON *tree = cJSON_Parse(schema);
    assert_non_null(tree);
    if (!strstr(help, sampler->name) || !strstr(schema, sampler->name) ||
        (model->name && (!strstr(help, model->name) || !strstr(schema, model->name))))
        complain("help and schema", "do not know the model");
    for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++)
        if (!strstr(help, key->pointer) || !strstr(schema, strrchr(key->pointer, '/') + 1))
            complain(key->pointer, "is not in help and schema");
    for (size_t t = 0; t < model->n_tunables; t++)
        if (!strstr(help, model->tunables[t].name) || !strstr(schema, model->tunables[t].name))
            complain(model->tunables[t].name, "is not in help and schema");
    for (size_t o = 0; o < model->n_observables; o++)
        if (!model->observables[o].hidden && !strstr(help, model->observables[o].name))
            complain(model->observables[o].name, "is not in help");
    for (size_t p = 0; p < 16 && model->programs[p]; p++)
        if (!strstr(kernels, model->programs[p]))
            complain(model->programs[p], "is not among the kernels");
    cJSON_Delete(tree);
    free(help);
    free(schema);
    free(kernels);
}

/* And of the sampler every model and key, and of a name those who have it. */
static void texts(void) {
    const struct ergo_sampler *sampler = contract.sampler;
    const struct ergo_key *key;
    char *help = NULL;
    each_model(texts_of_model);
    contract_ok(ergo_help_text(contract.ctx, sampler->name, &help), "help");
    if (!strstr(help, sampler->summary))
        complain("help", "does not say what the sampler is");
    for (size_t m = 0; m < sampler->n_models; m++) {
        const struct ergo_model *model = sampler->models[m];
        contract.model = model;
        if (model->name && !strstr(help, model->name))
            complain("help", "does not list the model");
        for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++) {
            char *page = NULL;
            if (!strstr(help, key->pointer))
                complain(key->pointer, "is not in the help of the sampler");
            contract_ok(ergo_help_text(contract.ctx, strrchr(key->pointer, '/') + 1, &page),
                        key->pointer);
            if (!strstr(page, sampler->name) || !strstr(page, key->pointer) ||
                (model->name && !strstr(page, model->name)))
                complain(key->pointer, "help on its name does not say whose it is");
            free(page);
        }
    }
    free(help);
}

static void test_texts(void **state) {
    (void)state;
    contract_each(texts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),      cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_golden_file), cmocka_unit_test(test_known),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
