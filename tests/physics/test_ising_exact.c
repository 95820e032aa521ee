/*
 * Energies and heat capacities through the public API against Kaufman's exact values.
 *
 * Error budget, set beforehand: fixed seeds, 2 x 24 comparisons. Every |z| below 4.5 (two-sided
 * 6.8e-6 each, 3.3e-4 in all) and chi2 of each observable within the central 99.9% for 24 degrees
 * of freedom, 6.7 to 52.9. 24 chains of 20,000 measurements: 4.8e5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ergocl/ergocl.h"
#include "run/result.h"

static const char job_text[] =
    "{\"sampler\": \"spin-lattice\", \"seed\": \"2010\","
    " \"system\": {\"model\": \"ising\", \"size\": [8, 8], \"temperature\": 2, \"start\": \"up\"},"
    " \"run\": {\"equilibration\": 2000, \"sweeps\": 200000, \"measure_every\": 10,"
    " \"correlation_every\": 0},"
    " \"output\": {\"snapshots\": 0},"
    " \"scan\": {\"/system/size\": [[8, 8], [16, 16], [16, 12], [32, 32], [64, 64], [128, 128]],"
    " \"/system/temperature\": [1.8, 2.0, 2.5, 3.0]}}";

struct chi2 {
    double sum;
    size_t count;
};

static void add(struct chi2 *chi2, const struct ergo_member_result *m, size_t o) {
    const struct ergo_observable_result *r = &m->observables[o];
    printf("%-14s %3g x %3g T = %g: %.6f +- %.6f, exact %.6f, z = %+.2f\n", r->observable->name,
           (double)ergo_point_value(m->point, "/system/size")->size[0],
           (double)ergo_point_value(m->point, "/system/size")->size[1],
           ergo_point_real(m->point, "/system/temperature"), r->estimate.mean, r->estimate.error,
           r->exact, r->z);
    assert_true(isfinite(r->z));
    assert_true(fabs(r->z) < 4.5);
    chi2->sum += r->z * r->z;
    chi2->count++;
}

static void test_energies_and_heat_capacities(void **state) {
    (void)state;
    char folder[] = "/tmp/ergocl-physics-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    assert_int_equal(ergo_job_parse(ctx, job_text, sizeof job_text - 1, "exact", NULL, 0, &job),
                     ERGO_OK);
    const struct ergo_run_options options = {.directory = folder, .overwrite = true};
    const enum ergo_status status = ergo_run(ctx, job, &options, &result);
    if (status != ERGO_OK)
        print_error("%s\n", ergo_error_message(ctx));
    assert_int_equal(status, ERGO_OK);
    struct chi2 energy = {0, 0}, heat_capacity = {0, 0};
    for (size_t i = 0; i < result->n_members; i++)
        for (size_t o = 0; o < result->job->sampler->info->n_observables; o++) {
            const char *name = result->members[i].observables[o].observable->name;
            if (strcmp(name, "energy") == 0)
                add(&energy, &result->members[i], o);
            if (strcmp(name, "heat_capacity") == 0)
                add(&heat_capacity, &result->members[i], o);
        }
    printf("chi2 of energy %.1f / %zu, of heat capacity %.1f / %zu\n", energy.sum, energy.count,
           heat_capacity.sum, heat_capacity.count);
    assert_int_equal(energy.count, 24);
    assert_int_equal(heat_capacity.count, 24);
    assert_true(energy.sum > 6.7 && energy.sum < 52.9);
    assert_true(heat_capacity.sum > 6.7 && heat_capacity.sum < 52.9);
    ergo_result_destroy(result);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_energies_and_heat_capacities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
