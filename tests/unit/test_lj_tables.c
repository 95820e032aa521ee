/* Potentials from files and slits without a device: the tables that kernels look up, what the host
 * derives from them, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "oracle/lj_serial.h"
#include "oracle/lj_chain.h"

#include "context.h"

static char table[] = "/tmp/ergocl-table-XXXXXX";

#define SLIT                                                                                       \
    "'slit': {'width': 4.4, 'epsilon': 0.12, 'sigma': 0.95, 'density': 5, 'spacing': 0.9%s}"

static enum ergo_status parse(const char *ensemble, const char *keys, struct ergo_job **job) {
    char text[900];
    snprintf(text, sizeof text,
             "{'sampler': 'lj-fluid', 'system': {'ensemble': '%s', 'box': [5, 5.5, 7], "
             "'temperature': 1.4%s}, 'run': {'sweeps': 100}}",
             ensemble, keys);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return ergo_job_parse(ctx, text, strlen(text), "tables", NULL, 0, job);
}

/* u = 4 (r^-12 - r^-6) at n points from `from` to `to`, and then `more`. */
static void write_table(int n, double from, double to, const char *more) {
    FILE *file = fopen(table, "w");
    assert_non_null(file);
    fprintf(file, "# sigma, epsilon\n");
    for (int i = 0; i < n; i++) {
        const double r = from + (to - from) * i / (n - 1);
        fprintf(file, "%.17g %.17g\n", r, 4 * (pow(r, -12) - pow(r, -6)));
    }
    fprintf(file, "%s", more);
    assert_int_equal(fclose(file), 0);
}

static struct ergo_job *with_table(const char *keys) {
    struct ergo_job *job = NULL;
    char all[300];
    snprintf(all, sizeof all, ", 'particles': 10, 'potential': '%s'%s", table, keys);
    if (parse("nvt", all, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

/* A table of Lennard-Jones is Lennard-Jones: 1,200 points leave the spline's error of 1e-6 of the
 * repulsive part, and fp32 another 1e-6 of it. */
static void test_pairs(void **state) {
    (void)state;
    write_table(1200, 0.6, 2.6, "");
    struct ergo_job *job = with_table("");
    struct lj_system s = lj_system_of(&job->points[0]), lj = s;
    struct lj_tables tables = {0};
    struct lj_member m;
    double worst = 0, worst_virial = 0;
    assert_int_equal(lj_tables_read(ctx, &job->points[0], &tables), ERGO_OK);
    s.pair = tables.pair;
    assert_true(lj_tables_make(&s, 1, &tables));
    lj_member_fill(&job->points[0], 0, tables.pair, &m);
    m.tables = (uintptr_t)tables.words;
    lj.tabulated = false;
    assert_true(fabs(lj_core2(&s) / lj_core2(&lj) - 1) < 1e-6);
    for (double r2 = 1.0001 * (double)m.core2; r2 < 6.25; r2 *= 1.0007) {
        struct lj_oracle_sums sums = {0};
        double w, scale = pow(r2, -6) + pow(r2, -3);
        const double u = ergo_oracle_lj_pair((double)(float)r2, 9, &w);
        lj_oracle_pair(&m, (float)r2, 1, &sums);
        worst = fmax(worst, fabs(lj_energy_of(&s, sums.energy) - u) / (4 * scale));
        worst_virial = fmax(worst_virial, fabs(lj_virial_of(&s, sums.virial) - w) / (24 * scale));
    }
    print_message("a table of Lennard-Jones: u within %.1e, r f within %.1e of its parts\n", worst,
                  worst_virial);
    assert_true(worst < 2e-6 && worst_virial < 2e-5);
    const struct lj_jump jump = lj_jump_of(&s), expected = lj_jump_of(&lj);
    assert_true(fabs(jump.outer / expected.outer - 1) < 1e-5);
    lj_tables_free(&tables);
    ergo_job_destroy(job);
}

static void refused(const char *ensemble, const char *keys, const char *why) {
    struct ergo_job *job = NULL;
    assert_int_not_equal(parse(ensemble, keys, &job), ERGO_OK);
    if (!strstr(ergo_error_message(ctx), why))
        fail_msg("\"%s\" is not in: %s", why, ergo_error_message(ctx));
}

static void test_refused_tables(void **state) {
    (void)state;
    char keys[300];
    snprintf(keys, sizeof keys, ", 'particles': 10, 'potential': '%s'", table);
    write_table(200, 0.6, 2.4, "");
    refused("nvt", keys, "ends at r = 2.4, before the cutoff of 2.5");
    write_table(200, 0.9, 2.6, "");
    refused("nvt", keys, "starts too late: at its first point, r = 0.9, u is 4.");
    write_table(200, 0.6, 2.4, "2.5 nan\n2.6 0\n");
    refused("nvt", keys, "line 202");
    write_table(200, 0.6, 2.4, "2.3 0\n2.6 0\n");
    refused("nvt", keys, "distances have to grow");
    write_table(200, 0.6, 2.4, "2.45 -40\n2.55 0\n");
    refused("nvt", keys, "epsilon at r = 2.");
    write_table(3, 0.6, 2.6, "");
    refused("nvt", keys, "a spline needs four");
    write_table(200, 0.6, 2.6, "");
    strcat(keys, ", 'tail_correction': true");
    refused("nvt", keys, "not with a potential from a file");
    refused("nvt", ", 'particles': 10, 'potential': 'morse'", "found \"morse\"");
    refused("nvt", ", 'particles': 10, 'potential': './none.txt'", "./none.txt");
}

static struct ergo_job *with_slit(const char *keys) {
    struct ergo_job *job = NULL;
    char all[600];
    snprintf(all, sizeof all, ", 'particles': 20, 'activity': 0.03, " SLIT, keys);
    if (parse("muvt", all, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

static double observable(const struct ergo_point *point, const char *name, const double *columns) {
    const struct ergo_model *model = point->job->model;
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, name) == 0)
            return model->observables[o].applies && !model->observables[o].applies(point)
                       ? (double)NAN
                       : ergo_observable_sample(&model->observables[o], point, columns);
    return NAN;
}

static const struct ergo_oracle_lj oracle = {
    .side = {5, 5.5, 7}, .temperature = 1.4, .slit = {4.4, 0.12, 0.95, 5, 0.9}};

/* The field's energies are the oracle's, walls are where u > 100 T, and a lattice is between them.
 */
static void test_field(void **state) {
    (void)state;
    struct ergo_job *job = with_slit("");
    const struct lj_system s = lj_system_of(&job->points[0]);
    struct lj_tables tables = {0};
    struct lj_oracle t = {.tables = &tables};
    uint32_t words[3 * 20];
    double henry = 0, worst = 0;
    assert_true(lj_tables_make(&s, 1, &tables));
    lj_member_fill(&job->points[0], 0, NULL, &t.m);
    for (uint32_t k = 0; k < 70000; k++) {
        const uint32_t at[3] = {0, 0, k * 61356u};
        const double u = ergo_oracle_lj_wall(&oracle, 7 * (double)at[2] * 0x1p-32);
        struct lj_oracle_sums sums = {0};
        lj_oracle_add_field(&t, at, 1, &sums);
        if (u < 99 * s.temperature) {
            assert_false(sums.core);
            worst = fmax(worst, fabs(lj_energy_of(&s, sums.energy) - u) / (5 + fabs(u)));
        } else if (u > 101 * s.temperature) {
            assert_true(sums.core && sums.energy == 0);
        }
        henry += u < 100 * s.temperature ? exp(-u / s.temperature) * 7 / 70000 : 0;
    }
    print_message("the field within %.1e\n", worst);
    assert_true(worst < 1e-6);
    assert_true(fabs(lj_slit_henry(&s) / henry - 1) < 1e-4);
    lj_lattice(&s, 20, words);
    for (int i = 0; i < 20; i++)
        assert_true(ergo_oracle_lj_wall(&oracle, 7 * (double)words[3 * i + 2] * 0x1p-32) < 0.1);
    lj_tables_free(&tables);
    ergo_job_destroy(job);
}

/* 33 particles on 5 x 5.5; the bulk of 0.04 in a height of 4.4, or of what the job says. */
static void test_adsorption(void **state) {
    (void)state;
    const double columns[LJ_COLUMNS] = {[LJ_COLUMN_PARTICLES] = 33};
    struct ergo_job *job = with_slit(", 'bulk_density': 0.04");
    const struct ergo_point *point = &job->points[0];
    assert_true(fabs(observable(point, "adsorption", columns) - 1.2) < 1e-12);
    assert_true(fabs(observable(point, "density", columns) - 33 / (5 * 5.5 * 4.4)) < 1e-12);
    assert_true(fabs(observable(point, "excess_adsorption", columns) - (1.2 - 0.04 * 4.4)) < 1e-12);
    assert_true(isnan(observable(point, "pressure", columns)));
    ergo_job_destroy(job);
    job = with_slit(", 'bulk_density': 0.04, 'excess_width': 3");
    assert_true(fabs(observable(&job->points[0], "excess_adsorption", columns) - (1.2 - 0.04 * 3)) <
                1e-12);
    ergo_job_destroy(job);
    job = with_slit(", 'bulk_density': 0.04");
    struct ergo_job *scan = NULL;
    const char *sets[] = {"/scan={\"/system/activity\": [0.03, 0.04]}"};
    assert_int_equal(
        ergo_job_parse(ctx, job->canonical, strlen(job->canonical), "scan", sets, 1, &scan),
        ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "at one temperature and activity"));
    ergo_error_clear(ctx);
    sets[0] = "/scan={\"/system/slit/bulk_density\": [0.03, 0.04]}";
    assert_int_equal(
        ergo_job_parse(ctx, job->canonical, strlen(job->canonical), "scan", sets, 1, &scan),
        ERGO_OK);
    ergo_job_destroy(scan);
    ergo_job_destroy(job);
    job = with_slit("");
    assert_true(isnan(observable(&job->points[0], "excess_adsorption", columns)));
    ergo_job_destroy(job);
}

/* What is derived from one input. */
static double derived(const struct ergo_point *point, const char *name, double mean) {
    const struct ergo_model *model = point->job->model;
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, name) == 0 && model->observables[o].applies(point)) {
            assert_non_null(model->observables[o].inputs[0]);
            assert_null(model->observables[o].inputs[1]);
            return model->observables[o].derive(point, &mean);
        }
    return INFINITY;
}

/* Henry's constant of an empty slit is area times Henry's integral over T, the heat at no loading
 * that of one particle; of a scan each has its own points, and there is no other number. */
static void test_empty(void **state) {
    (void)state;
    const char *low[] = {"/system/temperature=0.45", "/system/particles=1"};
    struct ergo_job *job = NULL, *cold = NULL, *scan = NULL;
    char keys[300];
    snprintf(keys, sizeof keys, ", 'particles': 0, " SLIT, "");
    refused("nvt", ", 'particles': 0", "0 is for test insertions in a slit");
    if (parse("nvt", keys, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    const struct ergo_point *point = &job->points[0];
    const struct lj_system s = lj_system_of(point);
    const double henry = 5 * 5.5 * lj_slit_henry(&s);
    assert_true(fabs(derived(point, "henry_constant", henry) * 1.4 / henry - 1) < 1e-12);
    assert_true(fabs(ergo_point_exact(point, "henry_constant") * 1.4 / henry - 1) < 1e-12);
    assert_true(ergo_point_exact(point, "density") == 0);
    assert_true(isinf(derived(point, "isosteric_heat", -2)));
    const size_t length = strlen(job->canonical);
    assert_int_equal(ergo_job_parse(ctx, job->canonical, length, "cold", low, 1, &cold), ERGO_OK);
    ergo_job_destroy(cold);
    assert_int_equal(ergo_job_parse(ctx, job->canonical, length, "cold", low, 2, &cold),
                     ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "give 0 below 0.5 epsilon"));
    ergo_error_clear(ctx);
    const char *none[] = {"/run/insertions=0"};
    assert_int_equal(ergo_job_parse(ctx, job->canonical, length, "none", none, 1, &cold),
                     ERGO_E_JOB);
    ergo_error_clear(ctx);
    const char *both[] = {"/scan={\"/system/particles\": [5, 1, 0, 2]}"};
    assert_int_equal(ergo_job_parse(ctx, job->canonical, length, "scan", both, 1, &scan), ERGO_OK);
    for (int i = 0; i < 4; i++) {
        const double k = derived(&scan->points[i], "henry_constant", 14);
        const double q = derived(&scan->points[i], "isosteric_heat", -2);
        assert_true(i == 2 ? fabs(k - 10) < 1e-12 : isnan(k));
        assert_true(i == 1 ? fabs(q - 3.4) < 1e-12 : isnan(q));
    }
    assert_true(isnan(ergo_point_exact(&scan->points[3], "henry_constant")));
    assert_true(fabs(ergo_point_exact(&scan->points[3], "density") - 2 / (27.5 * 4.4)) < 1e-15);
    ergo_job_destroy(scan);
    ergo_job_destroy(job);
}

static void test_refused_slits(void **state) {
    (void)state;
    static const struct {
        const char *ensemble, *keys, *why;
    } cases[] = {
        {"muvt", ", 'activity': 0.1, 'slit': {'width': 4}", "/system/slit/epsilon"},
        {"muvt", ", 'activity': 0.1, 'slit': {'epsilon': 4}", "with /system/slit/width"},
        {"npt", ", 'pressure': 1, 'particles': 9, 'volume_every': 9, 'slit': {'width': 4}", "slit"},
        {"muvt",
         ", 'activity': 0.1, 'slit': {'width': 4.6, 'epsilon': 0.1, 'sigma': 1, 'density': 5, "
         "'spacing': 1}",
         "across the walls"},
        {"muvt",
         ", 'activity': 0.1, 'slit': {'width': 0.8, 'epsilon': 0.1, 'sigma': 1, 'density': 5, "
         "'spacing': 1}",
         "too narrow"},
        {"nvt",
         ", 'particles': 9, 'tail_correction': true, 'slit': {'width': 4, 'epsilon': 0.1, "
         "'sigma': 1, 'density': 5, 'spacing': 1}",
         "not in a slit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused(cases[i].ensemble, cases[i].keys, cases[i].why);
}

/* Boxes for which the field's layers are too thick, or the profile's bins too many. */
static void test_high_boxes(void **state) {
    (void)state;
    static const struct {
        const char *sets[3], *why;
    } cases[] = {
        {{"/system/box=[5, 5.5, 77.8]"}, NULL},
        {{"/system/box=[5, 5.5, 77.9]"}, "use 6.9, the slit's width and a cutoff; up to 77.824"},
        {{"/system/box=[5, 5.5, 99]", "/system/slit/width=76"}, "/system/slit/width"},
        {{"/system/box=[5, 5.5, 72.01]", "/run/profile_bins=2000", "/system/slit/width=2.2"}, NULL},
        {{"/system/box=[5, 5.5, 72.1]", "/run/profile_bins=2000", "/system/slit/width=2.2"},
         "at most 1999, or use 4.7"},
    };
    struct ergo_job *job = with_slit("");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *high = NULL;
        const size_t n = cases[i].sets[2] ? 3 : cases[i].sets[1] ? 2 : 1;
        const enum ergo_status status = ergo_job_parse(ctx, job->canonical, strlen(job->canonical),
                                                       "high", cases[i].sets, n, &high);
        if (cases[i].why ? status == ERGO_OK || !strstr(ergo_error_message(ctx), cases[i].why)
                         : status != ERGO_OK)
            fail_msg("%s: %s", cases[i].sets[0], high ? "taken" : ergo_error_message(ctx));
        ergo_error_clear(ctx);
        ergo_job_destroy(high);
    }
    ergo_job_destroy(job);
}

static int open_all(void **state) {
    const int file = mkstemp(table);
    return file < 0 || close(file) ? -1 : context_open(state);
}

static int close_all(void **state) {
    unlink(table);
    return context_close(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),      cmocka_unit_test(test_refused_tables),
        cmocka_unit_test(test_field),      cmocka_unit_test(test_adsorption),
        cmocka_unit_test(test_empty),      cmocka_unit_test(test_refused_slits),
        cmocka_unit_test(test_high_boxes),
    };
    return cmocka_run_group_tests_name("tables", tests, open_all, close_all);
}
