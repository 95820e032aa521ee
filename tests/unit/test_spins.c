/*
 * Ising and Potts models of spin-lattice and swendsen-wang, messages about a job without a device:
 * sizes that no kernel addresses and starts that never move are refused; advice where chains of a
 * point differ; which columns are recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "job/job.h"
#include "samplers/sampler.h"

static struct ergo_context *ctx;

/* A job, with ' for "; NULL: refused. */
static struct ergo_job *parse(const char *sampler, const char *rest) {
    char text[500];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text, "{'sampler': '%s', 'system': {%s%s}", sampler, rest,
             strstr(rest, "'run'") ? "" : ", 'run': {'sweeps': 100}");
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) != ERGO_OK)
        return NULL;
    return job;
}

static void test_refused(void **state) {
    static const struct {
        const char *sampler, *system, *says; /* says NULL: accepted */
    } cases[] = {
        {"spin-lattice", "'size': [262144, 131072], 'temperature': 2}", NULL},
        {"spin-lattice", "'size': [1048576, 65536], 'temperature': 2}", "2^36"},
        {"spin-lattice", "'size': [1048576, 1048576], 'temperature': 2}", "2^36"},
        {"spin-lattice", "'size': [2048, 2048, 1024], 'temperature': 2}", "2^31"},
        {"spin-lattice", "'model': 'potts', 'size': [65536, 65536], 'temperature': 2}", "2^31"},
        {"swendsen-wang", "'size': [32768, 32768], 'temperature': 2}, 'distribute': 'points'",
         NULL},
        {"swendsen-wang", "'size': [65536, 32768], 'temperature': 2}, 'distribute': 'points'",
         "2^30"},
        {"swendsen-wang",
         "'size': [65536, 65536], 'temperature': 2}, 'distribute': 'points', "
         "'run': {'sweeps': 100, 'observables': 'energy'}",
         NULL},
        {"swendsen-wang", "'size': [131072, 65536], 'temperature': 2}, 'distribute': 'points'",
         "2^32"},
        {"swendsen-wang", "'size': [131072, 65536], 'temperature': 2}, 'distribute': 'lattice'",
         NULL},
        {"swendsen-wang", "'size': [131072, 65536], 'temperature': 2}", NULL},
        {"swendsen-wang", "'size': [4194304, 4194304], 'temperature': 2}", "2^37"},
        {"swendsen-wang", "'size': [512, 1024, 1024], 'temperature': 2}", NULL},
        {"swendsen-wang", "'size': [1024, 1024, 1024], 'temperature': 2}", "2^29"},
        {"swendsen-wang", "'size': [65536, 65536, 65536], 'temperature': 2}", "2^29"},
        {"swendsen-wang", "'size': [32, 32, 32], 'temperature': 2}, 'distribute': 'lattice'", NULL},
        {"swendsen-wang",
         "'size': [32, 32, 32], 'temperature': 2, 'field': 0.5}, 'distribute': 'lattice'",
         "/distribute"},
        {"swendsen-wang",
         "'size': [32, 32], 'lattice': 'triangular', 'temperature': 2}, 'distribute': 'lattice'",
         "triangular"},
        {"swendsen-wang", "'size': [32, 32, 32], 'temperature': 2, 'merge': 'rounds'}",
         "acts only on square lattices"},
        {"swendsen-wang", "'size': [32, 31], 'lattice': 'honeycomb', 'temperature': 2}", "even"},
        {"swendsen-wang", "'size': [8, 8, 8], 'lattice': 'triangular', 'temperature': 2}",
         "two dimensions"},
        {"swendsen-wang",
         "'model': 'xy', 'size': [8, 8], 'hamiltonian': 'ising', 'temperature': 2}", "hamiltonian"},
        {"swendsen-wang",
         "'model': 'xy', 'size': [8, 8], 'temperature': 2}, 'distribute': 'lattice'", NULL},
        {"spin-lattice", "'size': [8, 8], 'temperature': 2, 'couplings': [1, -1], 'start': 'up'}",
         "whole lattice would flip"},
        {"spin-lattice", "'size': [8, 8], 'temperature': 2, 'couplings': [1, -1]}", NULL},
        {"spin-lattice",
         "'size': [8, 8], 'temperature': 2, 'couplings': [1, -1], 'start': 'up', 'field': 0.5}",
         NULL},
        {"spin-lattice",
         "'size': [8, 8], 'temperature': 2, 'couplings': [1, -1], 'start': 'up', 'dynamics': "
         "'heat-bath'}",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = parse(cases[i].sampler, cases[i].system);
        if ((job == NULL) != (cases[i].says != NULL))
            fail_msg("%s: %s", cases[i].system, job ? "accepted" : ergo_error_message(ctx));
        if (!job && !strstr(ergo_error_message(ctx), cases[i].says))
            fail_msg("%s: %s", cases[i].system, ergo_error_message(ctx));
        ergo_job_destroy(job);
        ergo_error_clear(ctx);
    }
}

static void test_remedy(void **state) {
    static const struct {
        const char *sampler, *system, *says;
    } cases[] = {
        {"spin-lattice", "'size': [128, 128], 'temperature': 2.1}", "stripes"},
        {"spin-lattice", "'size': [128, 128], 'temperature': 2.1, 'start': 'up'}", NULL},
        {"spin-lattice", "'size': [128, 128], 'temperature': 2.3}", NULL},
        {"spin-lattice", "'size': [16, 16], 'temperature': 2.1, 'coupling': -1}", "stripes"},
        {"spin-lattice", "'size': [4, 4], 'temperature': 1.5, 'field': 0.3}", "\"up\""},
        {"spin-lattice", "'size': [4, 4], 'temperature': 1.5, 'field': -0.3}", "\"down\""},
        {"spin-lattice", "'size': [64], 'temperature': 0.5}", NULL},
        {"spin-lattice", "'size': [16, 16], 'temperature': 2.5, 'couplings': [2, 1]}", "stripes"},
        {"spin-lattice", "'size': [16, 16], 'temperature': 1, 'couplings': [1, -1]}", NULL},
        {"spin-lattice", "'model': 'potts', 'q': 3, 'size': [64, 64], 'temperature': 0.9}",
         "stripes"},
        {"spin-lattice", "'model': 'potts', 'q': 3, 'size': [64, 64], 'temperature': 1.1}", NULL},
        {"spin-lattice", "'model': 'potts', 'q': 20, 'size': [64, 64], 'temperature': 0.588}",
         "first order"},
        {"spin-lattice", "'model': 'spin-glass', 'size': [8, 8], 'temperature': 0.5}", NULL},
        {"swendsen-wang", "'q': 20, 'size': [64, 64], 'temperature': 0.588}", "\"random\""},
        {"swendsen-wang", "'q': 20, 'size': [64, 64], 'temperature': 0.9}", NULL},
        {"swendsen-wang", "'q': 3, 'size': [64, 64], 'temperature': 0.99}", NULL},
        {"swendsen-wang", "'q': 3, 'size': [24, 24, 24], 'temperature': 1.82}", "first order"},
        {"swendsen-wang", "'q': 3, 'size': [24, 24, 24], 'temperature': 1.9}", NULL},
        {"swendsen-wang", "'q': 20, 'lattice': 'triangular', 'size': [8, 8], 'temperature': 0.91}",
         "first order"},
        {"swendsen-wang", "'q': 20, 'lattice': 'honeycomb', 'size': [8, 8], 'temperature': 0.91}",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = parse(cases[i].sampler, cases[i].system);
        if (!job)
            fail_msg("%s", ergo_error_message(ctx));
        const char *found = ergo_point_remedy(&job->points[0]);
        if ((found == NULL) != (cases[i].says == NULL) || (found && !strstr(found, cases[i].says)))
            fail_msg("%s: %s", cases[i].system, found ? found : "nothing");
        ergo_job_destroy(job);
    }
}

/* The third column, and with it all that is staggered, belongs to negative couplings. */
static void test_columns(void **state) {
    static const struct {
        const char *system;
        bool staggered;
    } cases[] = {
        {"'size': [8, 8], 'temperature': 2}", false},
        {"'size': [8, 8], 'temperature': 2, 'coupling': -1}", true},
        {"'size': [8, 8], 'temperature': 2, 'couplings': [1, -0.5]}", true},
        {"'size': [8], 'temperature': 2, 'coupling': -1}", true},
        {"'model': 'potts', 'size': [8, 8], 'temperature': 2, 'coupling': -1}", false},
        {"'model': 'east', 'size': [8, 8], 'temperature': 2, 'field': 1}", false},
        {"'model': 'spin-glass', 'size': [8, 8], 'temperature': 2, 'coupling': -1}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = parse("spin-lattice", cases[i].system);
        if (!job)
            fail_msg("%s", ergo_error_message(ctx));
        const struct ergo_model *model = job->model;
        assert_true(ergo_point_has_column(&job->points[0], 0));
        if (ergo_point_has_column(&job->points[0], 2) != cases[i].staggered)
            fail_msg("%s", cases[i].system);
        for (size_t o = 0; o < model->n_observables; o++)
            if (strstr(model->observables[o].name, "staggered_magnetization"))
                assert_true(ergo_observable_shown(&model->observables[o], &job->points[0]) ==
                            cases[i].staggered);
        ergo_job_destroy(job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_remedy),
                                       cmocka_unit_test(test_columns)};
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
