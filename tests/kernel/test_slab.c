/*
 * A lattice as one slab that borders on itself, with halos and exchanges, against the same lattice
 * whole: the same states and samples, bit for bit, on all paths that can be cut. (tests/mpi has
 * several ranks; that the whole is right is for test_ising and test_bytes.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/slab.h"
#include "fixture.h"
#include "samplers/sampler.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message(ctx));                                    \
    } while (0)

static const struct slab_case {
    int size; /* 0: also under Oclgrind; 2: where a test may take its time (ERGOCL_TEST_FULL) */
    const char *system, *tuning;
} cases[] = {
    /* rows of 4 and of 5 words: slabs and halos of even rows, and of multiples of four */
    {1, "\"size\": [256, 20], \"coupling\": -1", "\"path\": 3, \"halo_sweeps\": 2"},
    {2, "\"size\": [310, 20], \"coupling\": -1", "\"path\": 3, \"lanes\": 2, \"halo_sweeps\": 2"},
    {2, "\"size\": [256, 40], \"coupling\": -1",
     "\"path\": 2, \"halo_sweeps\": 3, \"tile_sweeps\": 2"},
    /* rows of one word: four of them share a block of random numbers; hot, so that it is used up */
    {1, "\"size\": [64, 48], \"coupling\": 0.5", "\"path\": 3, \"halo_sweeps\": 1"},
    {0, "\"size\": [12, 4, 10], \"random_field\": 0.5, \"coupling\": -1",
     "\"path\": 3, \"halo_sweeps\": 2"},
    {1, "\"size\": [12, 4, 10], \"random_field\": 0.5, \"coupling\": -1",
     "\"path\": 3, \"halo_sweeps\": 1, \"halo_colours\": 1"},
    {2, "\"size\": [256, 20], \"coupling\": -1", "\"path\": 3, \"halo_colours\": 1"},
    {2, "\"model\": \"potts\", \"q\": 3, \"dynamics\": \"heat-bath\", \"size\": [38, 20]",
     "\"path\": 3, \"halo_sweeps\": 1"},
    /* couplings and fields of each site */
    {1,
     "\"model\": \"blume-capel\", \"size\": [12, 4, 10], \"disorder\": \"gaussian\", "
     "\"random_field\": 0.3",
     "\"path\": 3, \"halo_sweeps\": 2"},
    {2, "\"size\": [12, 20], \"disorder\": \"gaussian\", \"random_field\": 0.5",
     "\"path\": 3, \"halo_colours\": 1"},
    {2,
     "\"model\": \"potts\", \"q\": 5, \"size\": [12, 4, 10], \"random_field\": 0.3, "
     "\"disorder\": \"bimodal\", \"disorder_ratio\": 0.5",
     "\"path\": 3, \"halo_sweeps\": 1"},
    /* unit vectors: halos that last for a part of a sweep, a colour, several sweeps; three colours;
     * couplings and fields of each site */
    {0,
     "\"model\": \"heisenberg\", \"size\": [6, 4, 10], \"over_relaxation\": 2, \"field\": 0.3, "
     "\"disorder\": \"gaussian\", \"random_field\": 0.7, \"field_distribution\": \"gaussian\"",
     "\"tile_rows\": 3"},
    {1,
     "\"model\": \"heisenberg\", \"size\": [8, 4, 10], \"dynamics\": \"heat-bath\", "
     "\"over_relaxation\": 1",
     "\"halo_colours\": 1"},
    {1, "\"model\": \"xy\", \"size\": [10, 24], \"random_field\": 0.5, \"over_relaxation\": 1",
     "\"halo_sweeps\": 2"},
    {2, "\"model\": \"xy\", \"lattice\": \"triangular\", \"size\": [9, 24], \"coupling\": -1",
     "\"halo_sweeps\": 1"},
};
/* Boxes on a checkerboard: active cells that reach over the end of their block, halos of one block
 * and of two, which g(r) needs; cells that are full. */
static const struct slab_case boards[] = {
    {0,
     "\"box\": [4.2, 4.3, 6.3], \"cutoff\": 1, \"particles\": 20, \"cell_trials\": 2, "
     "\"tail_correction\": true",
     "\"work_group\": 4"},
    {1,
     "\"box\": [8.1, 8.2, 16.3], \"cutoff\": 2, \"particles\": 30, \"cell_trials\": 8, "
     "\"max_displacement\": 0.4, \"tune_steps\": 20",
     "\"slots\": 1, \"tile\": 32, \"capacity\": 1"},
};
enum { SAMPLES = 3, COLUMNS = 20, CURVES = 5, LENGTH = 64 };

/* What a chain of two members has left. */
struct outcome {
    struct ergo_text states[2];
    double columns[SAMPLES * 2 * COLUMNS];
    double curves[CURVES][SAMPLES * 2 * LENGTH];
    size_t n_curves;
};

static void run(const struct ergo_job *job, const struct ergo_sampler_ops *ops, uint64_t sweeps,
                struct outcome *o) {
    void *state = NULL;
    struct ergo_samples samples = {.columns = o->columns};
    for (size_t c = 0; c < job->model->n_curves; c++)
        samples.curves[c] = o->curves[c];
    OK(ergo_sampler_create(ctx, ops, &job->batches[0], device, &state));
    OK(ops->init(ctx, state));
    const size_t count = small ? 1 : SAMPLES;
    OK(ergo_sampler_advance(ctx, ops, state, 0, 0, small ? 1 : sweeps, 0));
    if (!small && ops->audit) /* a replay by the same kernels, which Oclgrind has seen then */
        OK(ops->audit(ctx, state));
    OK(ergo_sampler_advance(ctx, ops, state, 0, count, 3, 0));
    OK(ergo_sampler_collect(ctx, ops, state, 0, &samples));
    assert_int_equal(samples.count, count);
    o->n_curves = samples.n_curve_samples;
    for (size_t m = 0; m < 2; m++)
        OK(ops->save(ctx, state, m, &o->states[m]));
    if (small)
        goto out;
    if (ops->audit)
        OK(ops->audit(ctx, state));
    /* loaded, it goes on as before */
    OK(ops->load(ctx, state, 1, sweeps + 9, o->states[1].data, o->states[1].length));
    OK(ops->load(ctx, state, 0, sweeps + 9, o->states[0].data, o->states[0].length));
    OK(ergo_sampler_advance(ctx, ops, state, 0, 0, 5, 0));
    for (size_t m = 0; m < 2; m++)
        OK(ops->save(ctx, state, m, &o->states[m]));
out:
    ergo_engine_destroy(state);
}

/* The job as a whole and as a slab. */
static void compare(const struct slab_case *c, const char *text, uint64_t sweeps) {
    struct ergo_job *job = NULL;
    static struct outcome whole, cut;
    memset(&whole, 0, sizeof whole);
    memset(&cut, 0, sizeof cut);
    print_message("    %s\n", c->system);
    OK(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    assert_int_equal(job->batches[0].count, 2);
    run(job, job->model->ops, sweeps, &whole);
    run(job, job->model->cut, sweeps, &cut);
    assert_int_equal(whole.n_curves, cut.n_curves);
    assert_memory_equal(whole.columns, cut.columns, sizeof whole.columns);
    assert_memory_equal(whole.curves, cut.curves, sizeof whole.curves);
    for (size_t m = 0; m < 2; m++) {
        assert_int_equal(whole.states[m].length, cut.states[m].length);
        assert_memory_equal(whole.states[m].data, cut.states[m].data, whole.states[m].length);
        ergo_text_free(&whole.states[m]);
        ergo_text_free(&cut.states[m]);
    }
    ergo_job_destroy(job);
}

static void run_case(const struct slab_case *c) {
    char text[800];
    const uint64_t sweeps = strstr(c->system, "[64, ") ? 100 : 7; /* blocks are seldom used up */
    const char *curves = strstr(c->system, "blume-capel") ? ""
                         : strstr(c->system, "heisenberg") || strstr(c->system, "xy")
                             ? ", \"correlation_every\": 2"
                             : ", \"correlation_every\": 2, \"correlation_max\": 3";
    snprintf(text, sizeof text,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"7\", \"system\": {%s, \"start\": "
             "\"random\", \"temperature\": 2}, \"run\": {\"sweeps\": 99%s}, \"tuning\": {%s}, "
             "\"scan\": {\"/system/temperature\": [2, 1.3]}, \"distribute\": \"lattice\"}",
             c->system, curves, c->tuning);
    compare(c, text, sweeps);
}

static void run_board(const struct slab_case *c) {
    char text[800];
    snprintf(text, sizeof text,
             "{\"sampler\": \"lj-gcmc\", \"seed\": \"7\", \"system\": {%s, \"activity\": 0.3, "
             "\"decomposition\": \"checkerboard\", \"temperature\": 2}, \"run\": "
             "{\"equilibration\": 20, \"sweeps\": 79, \"curve_every\": %d, \"gr_bins\": 5}, "
             "\"tuning\": {%s}, \"scan\": {\"/system/temperature\": [2, 1.3]}, \"distribute\": "
             "\"lattice\"}",
             c->system, c->size ? 2 : 0, c->tuning);
    compare(c, text, 30);
}

static void test_cases(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        if (cases[k].size <= (small ? 0 : getenv("ERGOCL_TEST_FULL") ? 2 : 1))
            run_case(&cases[k]);
    for (size_t k = 0; k < sizeof boards / sizeof boards[0]; k++)
        if (small == !boards[k].size)
            run_board(&boards[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close) ? 1 : 0;
}
