/*
 * A lattice as one slab (or rectangle) that borders on itself, with halos and exchanges, against
 * the same lattice whole: the same states and samples, bit for bit, on all paths that can be cut.
 * (tests/mpi has several ranks; that the whole is right is for test_ising, test_bytes, test_potts.)
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

#define PLANE "\"q\": 3, \"size\": [70, 37], \"temperature\": 1.05"
#define TILES "\"tile_words\": 2, \"tile_rows\": 4"
#define LAYERS "\"tile_rows\": 4, \"tile_group\": 4"

static const struct slab_case {
    const char *name;
    int size; /* 0: also under Oclgrind; 2: where a test may take its time (ERGOCL_TEST_FULL) */
    const char *system, *tuning;
} cases[] = {
    /* rows of 4 and of 5 words: slabs and halos of even rows, and of multiples of four */
    {"ising", 1, "\"size\": [256, 20], \"coupling\": -1", "\"path\": 3, \"halo_sweeps\": 2"},
    {"ising", 2, "\"size\": [310, 20], \"coupling\": -1",
     "\"path\": 3, \"lanes\": 2, \"halo_sweeps\": 2"},
    {"ising", 2, "\"size\": [256, 40], \"coupling\": -1",
     "\"path\": 2, \"halo_sweeps\": 3, \"tile_sweeps\": 2"},
    /* rows of one word: four of them share a block of random numbers; hot, so that it is used up */
    {"ising", 1, "\"size\": [64, 48], \"coupling\": 0.5", "\"path\": 3, \"halo_sweeps\": 1"},
    {"bytes", 0, "\"size\": [12, 4, 10], \"random_field\": 2, \"coupling\": -1",
     "\"path\": 3, \"halo_sweeps\": 2"},
    {"bytes", 1, "\"size\": [12, 4, 10], \"random_field\": 2, \"coupling\": -1",
     "\"path\": 3, \"halo_sweeps\": 1, \"halo_colours\": 1"},
    {"ising", 2, "\"size\": [256, 20], \"coupling\": -1", "\"path\": 3, \"halo_colours\": 1"},
    {"bytes", 2, "\"model\": \"potts\", \"q\": 3, \"dynamics\": \"heat-bath\", \"size\": [38, 20]",
     "\"path\": 3, \"halo_sweeps\": 1"},
    /* couplings and fields of each site */
    {"bytes-terms", 1,
     "\"model\": \"blume-capel\", \"size\": [12, 4, 10], \"disorder\": \"gaussian\", "
     "\"random_field\": 0.3",
     "\"path\": 3, \"halo_sweeps\": 2"},
    {"bytes-terms", 2, "\"size\": [12, 20], \"disorder\": \"gaussian\", \"random_field\": 0.5",
     "\"path\": 3, \"halo_colours\": 1"},
    {"bytes-terms", 2,
     "\"model\": \"potts\", \"q\": 5, \"size\": [12, 4, 10], \"random_field\": 0.3, "
     "\"disorder\": \"bimodal\", \"disorder_ratio\": 0.5",
     "\"path\": 3, \"halo_sweeps\": 1"},
    /* unit vectors: halos that last for a part of a sweep, a colour, several sweeps; three colours;
     * couplings and fields of each site */
    {"vectors", 0,
     "\"model\": \"heisenberg\", \"size\": [6, 4, 10], \"over_relaxation\": 2, \"field\": 0.3, "
     "\"disorder\": \"gaussian\", \"random_field\": 0.7, \"field_distribution\": \"gaussian\"",
     "\"tile_rows\": 3"},
    {"vectors", 1,
     "\"model\": \"heisenberg\", \"size\": [8, 4, 10], \"dynamics\": \"heat-bath\", "
     "\"over_relaxation\": 1",
     "\"halo_colours\": 1"},
    {"vectors", 1,
     "\"model\": \"xy\", \"size\": [10, 24], \"random_field\": 0.5, \"over_relaxation\": 1",
     "\"halo_sweeps\": 2"},
    {"vectors", 2,
     "\"model\": \"xy\", \"lattice\": \"triangular\", \"size\": [9, 24], \"coupling\": -1",
     "\"halo_sweeps\": 1"},
};
/* Boxes on a checkerboard: active cells that reach over the end of their block, halos of one block
 * and of two, which g(r) needs; cells that are full. */
static const struct slab_case boards[] = {
    {"board", 0,
     "\"box\": [4.2, 4.3, 6.3], \"cutoff\": 1, \"particles\": 20, \"cell_trials\": 2, "
     "\"tail_correction\": true",
     "\"work_group\": 4"},
    {"board", 1,
     "\"box\": [8.1, 8.2, 16.3], \"cutoff\": 2, \"particles\": 30, \"cell_trials\": 8, "
     "\"max_displacement\": 0.4, \"tune_steps\": 20",
     "\"slots\": 1, \"tile\": 32, \"capacity\": 1"},
};
/* Clusters: pieces of the plane by both ways of merging, ahead of the next sweep, with tiles;
 * layers. What stands behind the sweeps of `run`, and at the end of the job. */
static const struct cluster_case {
    const char *name, *system, *tuning, *run, *more;
} clusters[] = {
    {"cut", PLANE ", \"merge\": \"rounds\"", TILES, "", ""},
    {"cut-ahead", PLANE ", \"merge\": \"rounds\"", TILES, ", \"measure_every\": 3",
     ", \"replicas\": 1"},
    {"cut-correlated", PLANE ", \"merge\": \"rounds\"", TILES ", \"tile_group\": 8",
     ", \"correlations\": true", ""},
    {"cut-gather", PLANE ", \"merge\": \"gather\"", TILES, "", ""},
    {"cut-spins", PLANE ", \"merge\": \"gather\"", TILES, ", \"observables\": \"energy\"", ""},
    {"cut-tiles", PLANE ", \"merge\": \"gather\"", TILES ", \"tile_group\": 8", "", ""},
    {"slab", "\"q\": 3, \"size\": [20, 10, 9], \"temperature\": 1.7", LAYERS,
     ", \"observables\": \"energy,clusters\"", ""},
    {"slab-pairs", "\"q\": 3, \"size\": [20, 10, 9], \"temperature\": 1.7", LAYERS, "", ""},
    {"slab-vectors", "\"model\": \"xy\", \"size\": [20, 10, 9], \"temperature\": 1.9", LAYERS, "",
     ""},
    {"slab-correlated", "\"q\": 3, \"size\": [20, 10, 9], \"temperature\": 1.75", LAYERS,
     ", \"correlations\": true, \"observables\": \"correlation_length\"", ""},
    {"slab-wolff",
     "\"q\": 3, \"size\": [20, 10, 9], \"update\": \"wolff\", \"temperature\": 1.5, "
     "\"start\": \"ordered\"",
     LAYERS, ", \"observables\": \"psi2\"", ""},
    {"slab-odd", "\"q\": 2, \"size\": [6, 5, 2], \"temperature\": 2", "\"tile_rows\": 4",
     ", \"observables\": \"wrapping_x\"", ", \"replicas\": 50"},
    {"slab-sides",
     "\"q\": 2, \"size\": [20, 10, 9], \"temperature\": 1.7, \"boundary\": [\"antiperiodic\", "
     "\"periodic\", \"open\"]",
     LAYERS, ", \"observables\": \"energy\"", ""},
};
enum {
    CASES = sizeof cases / sizeof cases[0],
    BOARDS = sizeof boards / sizeof boards[0],
    CLUSTERS = sizeof clusters / sizeof clusters[0]
};
enum { SAMPLES = 3, MEMBERS = 50, COLUMNS = 64, CURVES = 5, LENGTH = 64 };

/* What a chain of some members has left. */
struct outcome {
    struct ergo_text states[MEMBERS];
    double columns[SAMPLES * MEMBERS * COLUMNS];
    double curves[CURVES][SAMPLES * MEMBERS * LENGTH];
    size_t n_curves;
};

static void run(const struct ergo_job *job, const struct ergo_sampler_ops *ops, uint64_t sweeps,
                struct outcome *o) {
    void *state = NULL;
    struct ergo_samples samples = {.columns = o->columns};
    const size_t members = job->batches[0].count;
    for (size_t c = 0; c < job->model->n_curves; c++)
        samples.curves[c] = o->curves[c];
    OK(ergo_sampler_create(ctx, ops, &job->batches[0], device, &state));
    OK(ops->init(ctx, state));
    const size_t count = small || members > 2 ? 1 : SAMPLES;
    OK(ergo_sampler_advance(ctx, ops, state, 0, 0, small ? 1 : sweeps, 0));
    OK(ergo_sampler_advance(ctx, ops, state, 0, count, 3, 0));
    OK(ergo_sampler_collect(ctx, ops, state, 0, &samples));
    assert_int_equal(samples.count, count);
    o->n_curves = samples.n_curve_samples;
    for (size_t m = 0; m < members; m++)
        OK(ops->save(ctx, state, m, &o->states[m]));
    if (small)
        goto out;
    /* loaded, it goes on as before */
    for (size_t m = members; m-- > 0;)
        OK(ops->load(ctx, state, m, sweeps + 9, o->states[m].data, o->states[m].length));
    OK(ergo_sampler_advance(ctx, ops, state, 0, 0, 5, 0));
    for (size_t m = 0; m < members; m++)
        OK(ops->save(ctx, state, m, &o->states[m]));
out:
    ergo_engine_destroy(state);
}

/* The job as a whole and as a slab. */
static void compare(const char *system, const char *text, uint64_t sweeps) {
    struct ergo_job *job = NULL;
    static struct outcome whole, cut;
    memset(&whole, 0, sizeof whole);
    memset(&cut, 0, sizeof cut);
    print_message("    %s\n", system);
    OK(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const size_t members = job->batches[0].count;
    assert_in_range(members, 1, MEMBERS);
    run(job, job->model->ops, sweeps, &whole);
    run(job, job->model->cut, sweeps, &cut);
    assert_int_equal(whole.n_curves, cut.n_curves);
    if (memcmp(whole.columns, cut.columns, sizeof whole.columns) != 0 ||
        memcmp(whole.curves, cut.curves, sizeof whole.curves) != 0)
        fail_msg("%s: other samples than the whole's", system);
    for (size_t m = 0; m < members; m++) {
        assert_int_equal(whole.states[m].length, cut.states[m].length);
        if (memcmp(whole.states[m].data, cut.states[m].data, whole.states[m].length) != 0)
            fail_msg("%s: other states than the whole's", system);
        ergo_text_free(&whole.states[m]);
        ergo_text_free(&cut.states[m]);
    }
    ergo_job_destroy(job);
}

static bool is_due(const struct slab_case *c) {
    return c->size <= (small ? 0 : getenv("ERGOCL_TEST_FULL") ? 2 : 1);
}

static void test_layers(void **state) {
    const struct slab_case *c = *state;
    char text[800];
    if (!is_due(c))
        return;
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
    compare(c->system, text, sweeps);
}

static void test_boards(void **state) {
    const struct slab_case *c = *state;
    char text[800];
    if (small != !c->size)
        return;
    snprintf(text, sizeof text,
             "{\"sampler\": \"lj-gcmc\", \"seed\": \"7\", \"system\": {%s, \"activity\": 0.3, "
             "\"decomposition\": \"checkerboard\", \"temperature\": 2}, \"run\": "
             "{\"equilibration\": 20, \"sweeps\": 79, \"curve_every\": %d, \"gr_bins\": 5}, "
             "\"tuning\": {%s}, \"scan\": {\"/system/temperature\": [2, 1.3]}, \"distribute\": "
             "\"lattice\"}",
             c->system, c->size ? 2 : 0, c->tuning);
    compare(c->system, text, 30);
}

static void test_clusters(void **state) {
    const struct cluster_case *c = *state;
    char text[800];
    if (small && strcmp(c->name, "slab") != 0)
        return;
    snprintf(text, sizeof text,
             "{\"sampler\": \"swendsen-wang\", \"seed\": \"7\", \"system\": {%s%s}, "
             "\"run\": {\"sweeps\": 99%s}, \"tuning\": {%s}, \"distribute\": \"lattice\"%s}",
             c->system, strstr(c->system, "start") ? "" : ", \"start\": \"random\"", c->run,
             c->tuning, *c->more ? c->more : ", \"replicas\": 2");
    compare(c->system, text, 4);
}

static void add(struct CMUnitTest **to, const char *name, CMUnitTestFunction test, const void *c) {
    *(*to)++ =
        (struct CMUnitTest){.name = name, .test_func = test, .initial_state = (void *)(uintptr_t)c};
}

int main(void) {
    struct CMUnitTest tests[CASES + BOARDS + CLUSTERS], *to = tests;
    for (size_t k = 0; k < CASES; k++)
        add(&to, cases[k].name, test_layers, &cases[k]);
    for (size_t k = 0; k < BOARDS; k++)
        add(&to, boards[k].name, test_boards, &boards[k]);
    for (size_t k = 0; k < CLUSTERS; k++)
        add(&to, clusters[k].name, test_clusters, &clusters[k]);
    return cmocka_run_group_tests(tests, fixture_open, fixture_close) ? 1 : 0;
}
