/*
 * Spins that are unit vectors: the kernels against the plain oracle of tests/oracle/vector_serial.h
 * in double precision. Every model, rule and lattice, sides of 2 and 3, rows that end within a
 * work-group; late steps.
 */
#include "vector_bench.h"
#include "fixture.h"

static const struct {
    const char *system;
    const char *wave;
    bool tiny; /* also where there is little time */
} cases[] = {
    {"'model': 'xy', 'size': [38], 'temperature': 0.5, 'field': 0.3, 'random_field': 0.6", "0.5",
     false},
    {"'model': 'xy', 'size': [6, 8], 'temperature': 0.9, 'step': 0.6, 'over_relaxation': 1",
     "0.5 -0.25", true},
    {"'model': 'xy', 'lattice': 'triangular', 'size': [9, 6], 'temperature': 0.4, 'coupling': -1, "
     "'over_relaxation': 2, 'start': 'up', 'field': 0.1",
     "0.5 -0.25", false},
    {"'model': 'clock', 'q': 3, 'size': [6, 4], 'temperature': 0.7", "0.5 -0.25", true},
    {"'model': 'clock', 'q': 200, 'size': [6, 2, 4], 'temperature': 1.4, 'step': 0.3, 'field': 0.4",
     "0.5 -0.25 0.125", false},
    {"'model': 'heisenberg', 'size': [6, 4, 2], 'temperature': 1.44, 'over_relaxation': 1, "
     "'field': -0.3",
     "0.5 -0.25 0.125", true},
    {"'model': 'heisenberg', 'size': [8, 4, 6], 'temperature': 1.4, 'over_relaxation': 2, "
     "'field': 0.2}, 'tuning': {'tile_sites': 4, 'tile_rows': 4",
     "0.5 -0.25 0.125", false},
    {"'model': 'heisenberg', 'size': [8, 2, 4], 'temperature': 1.4, 'over_relaxation': 1}, "
     "'tuning': {'tile_sites': 2",
     "0.5 -0.25 0.125", true},
    {"'model': 'heisenberg', 'size': [10, 4], 'temperature': 0.5, 'anisotropy': 0.8, "
     "'random_field': 0.7, 'disorder_seed': 3, 'step': 2",
     "0.5 -0.25", false},
    {"'model': 'heisenberg', 'lattice': 'triangular', 'size': [6, 9], 'temperature': 0.4, "
     "'coupling': -1, 'dynamics': 'heat-bath', 'over_relaxation': 1",
     "0.5 -0.25", true},
    {"'model': 'heisenberg', 'size': [4, 2, 2], 'temperature': 0.7, 'disorder_file': "
     "'data/reference/bonds-4x2x2.txt', 'random_field': 0.8, 'field_distribution': 'gaussian', "
     "'over_relaxation': 1, 'dynamics': 'heat-bath'",
     "0.5 -0.25 0.125", false},
    {"'model': 'heisenberg', 'size': [6, 4, 2], 'temperature': 0.9, 'disorder': 'gaussian', "
     "'random_field': 0.6, 'field': 0.2",
     "0.5 -0.25 0.125", true},
    {"'model': 'xy', 'lattice': 'triangular', 'size': [9, 6], 'temperature': 0.4, 'disorder': "
     "'bimodal', 'disorder_ratio': 0.25, 'over_relaxation': 1",
     "0.5 -0.25", false},
    {"'model': 'clock', 'q': 6, 'size': [4, 8], 'temperature': 0.7, 'field_file': "
     "'data/reference/fields-16x4.txt', 'disorder': 'gaussian'",
     "0.5 -0.25", true},
};

static void test_against_oracle(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char job[700];
        if (small && !cases[i].tiny)
            continue;
        snprintf(job, sizeof job,
                 "{'sampler': 'spin-lattice', 'seed': '5', 'replicas': 2, 'system': {%s}, 'run': "
                 "{'sweeps': %d, 'correlation_every': 1, 'wave_vectors': '%s'}}",
                 cases[i].system, small ? 1 : 4, cases[i].wave);
        vector_bench_case(ctx, device, job, 0);
        if (!small && cases[i].tiny)
            vector_bench_case(ctx, device, job, UINT64_C(0x1fffffffe));
    }
}

/* Over-relaxation on the device undoes itself, to the bit, and keeps the energy. */
static void reverse(const char *system) {
    char job_text[600];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(job_text, sizeof job_text,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"6\", \"system\": {%s, "
             "\"over_relaxation\": 1}, \"run\": {\"sweeps\": 9, \"correlation_every\": 0}}",
             system);
    VECTOR_BENCH_OK(ctx, system,
                    ergo_job_parse(ctx, job_text, strlen(job_text), "case", NULL, 0, &job));
    const struct ergo_sampler_ops *ops = job->model->ops;
    VECTOR_BENCH_OK(ctx, system, ergo_sampler_create(ctx, ops, &job->batches[0], device, &state));
    struct vector_state *s = state;
    struct ergo_text before = {0}, between = {0}, after = {0};
    double columns[3][VECTOR_COLUMNS];
    VECTOR_BENCH_OK(ctx, system, ops->init(ctx, state));
    VECTOR_BENCH_OK(ctx, system, ergo_sampler_advance(ctx, ops, state, 0, 0, 3, 0));
    const uint32_t colours = s->shape.colours;
    for (int i = 0; i < 3; i++) { /* colours in order, then in the reverse order */
        struct ergo_text *text = i == 0 ? &before : i == 1 ? &between : &after;
        VECTOR_BENCH_OK(ctx, system, ops->save(ctx, state, 0, text));
        struct ergo_samples samples = {.columns = columns[i]};
        VECTOR_BENCH_OK(ctx, system, ergo_sampler_advance(ctx, ops, state, 0, 1, 0, 0));
        VECTOR_BENCH_OK(ctx, system, ergo_sampler_collect(ctx, ops, state, 0, &samples));
        ergo_engine_begin(&s->e, ctx);
        for (uint32_t c = 0; c < colours && i < 2; c++)
            vector_relax(s, i ? colours - 1 - c : c);
        VECTOR_BENCH_OK(ctx, system, ergo_engine_end(&s->e));
    }
    assert_int_not_equal(memcmp(before.data, between.data, before.length), 0);
    assert_memory_equal(before.data, after.data, before.length);
    /* each bond's energy is rounded to 2^-30, and each reflection to some 1e-6 */
    assert_true(fabs(columns[1][VECTOR_ENERGY] - columns[0][VECTOR_ENERGY]) < 2e-6);
    assert_true(columns[2][VECTOR_ENERGY] == columns[0][VECTOR_ENERGY]);
    ergo_text_free(&before);
    ergo_text_free(&between);
    ergo_text_free(&after);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

static void test_reversal(void **state) {
    (void)state;
    reverse("\"model\": \"xy\", \"size\": [8, 6], \"temperature\": 0.9");
    reverse("\"model\": \"heisenberg\", \"size\": [6, 4, 4], \"temperature\": 1.4, \"field\": 0.2");
    reverse("\"model\": \"heisenberg\", \"size\": [16, 4, 4], \"temperature\": 1.4");
    reverse("\"model\": \"heisenberg\", \"lattice\": \"triangular\", \"size\": [6, 6], "
            "\"temperature\": 0.4, \"coupling\": -1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_oracle),
        cmocka_unit_test(test_reversal),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
