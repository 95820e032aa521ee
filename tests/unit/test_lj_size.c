/* Boxes, particles and densities of lj-fluid: any two of them say the third. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

#include "context.h"

static const char *const ensembles[] = {
    "", "'ensemble': 'npt', 'pressure': 0.3, 'volume_every': 50, ",
    "'ensemble': 'gibbs', 'second_particles': 7, 'volume_every': 50, 'transfers': 2, "};

static enum ergo_status parse(const char *ensemble, const char *keys, const char *others,
                              struct ergo_job **job) {
    char text[600];
    snprintf(text, sizeof text,
             "{'sampler': 'lj-fluid', 'system': {%s'temperature': 1.4, 'cutoff': 2%s}, 'run': "
             "{'sweeps': 100}%s}",
             ensemble, keys, others);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return ergo_job_parse(ctx, text, strlen(text), "size", NULL, 0, job);
}

static void expect(const char *ensemble, const char *keys, const char *others, size_t point,
                   uint32_t n, double x, double y, double z) {
    struct ergo_job *job = NULL;
    double columns[LJ_COLUMNS] = {0};
    if (parse(ensemble, keys, others, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    const struct ergo_point *p = &job->points[point];
    const struct lj_system s = lj_system_of(p);
    columns[LJ_COLUMN_VOLUME] = x * y * z;
    assert_int_equal(lj_box_particles(p, 0), n);
    assert_true(fabs(s.box[0] / x - 1) < 1e-14 && fabs(s.box[1] / y - 1) < 1e-14);
    assert_true(fabs(s.box[2] / z - 1) < 1e-14 && fabs(s.volume / (x * y * z) - 1) < 1e-14);
    assert_true(fabs(lj_volume_at(p, columns) / s.volume - 1) < 1e-14);
    ergo_job_destroy(job);
}

static void test_sizes(void **state) {
    (void)state;
    for (int e = 0; e < 3; e++) {
        const char *with = ensembles[e];
        const double side = cbrt(100 / 0.3);
        expect(with, ", 'box': [6, 7, 8], 'particles': 100", "", 0, 100, 6, 7, 8);
        expect(with, ", 'box': 6.5, 'particles': 100", "", 0, 100, 6.5, 6.5, 6.5);
        expect(with, ", 'density': 0.3, 'particles': 100", "", 0, 100, side, side, side);
        expect(with, ", 'box': [6, 7, 8], 'density': 0.3", "", 0, 101, 6, 7, 8); /* 100.8 */
        expect(with, ", 'box': [6, 7, 8], 'density': 0.299", "", 0, 100, 6, 7, 8);
        expect(with, ", 'box': 5", ", 'scan': {'/system/density': [0.1, 0.2]}", 1, 25, 5, 5, 5);
        expect(with, ", 'density': 0.3", ", 'scan': {'/system/box': [5, 6]}", 1, 65, 6, 6, 6);
        expect(with, ", 'particles': 50", ", 'scan': {'/system/density': [0.1, 0.4]}", 1, 50, 5, 5,
               5);
    }
}

static void refused(const char *ensemble, const char *keys, const char *why) {
    struct ergo_job *job = NULL;
    assert_int_not_equal(parse(ensemble, keys, "", &job), ERGO_OK);
    if (!strstr(ergo_error_message(ctx), why))
        fail_msg("\"%s\" is not in: %s", why, ergo_error_message(ctx));
}

static void test_refused(void **state) {
    (void)state;
    for (int e = 0; e < 3; e++) {
        const char *with = ensembles[e];
        refused(with, ", 'box': 6, 'particles': 60, 'density': 0.3",
                "/system/density: found box, particles and density");
        refused(with, ", 'density': 0.3", "/system/density: found neither box nor particles");
        refused(with, ", 'particles': 60", "/system: no box");
        refused(with, ", 'box': 6, 'density': 0.001", "/system/density: this is 0 particles");
        refused(with, ", 'particles': 60, 'density': 1e-18", "/system/density: the volume");
        refused(with, ", 'particles': 60, 'density': 1e-300", "/system/density: the volume");
        refused(with, ", 'particles': 1000, 'density': 3", "/system/density: particles 1 and 2");
    }
    refused(ensembles[2], ", 'box': 6", "/system: no particles");
    refused("", ", 'box': 6, 'density': 0.3, 'start': 'a.xyz'",
            "/system/density: not with a file /system/start");
    refused("", ", 'box': 6, 'density': 0.3, 'field': 'a.cube'", "only without a slit");
    refused("'ensemble': 'muvt', ", ", 'box': 6, 'density': 0.3",
            "/system/density: unknown key for model \"muvt\" of lj-fluid (it is a key of model "
            "\"nvt\", \"npt\", \"gibbs\"); allowed here: ");
}

/* What a share of accepted displacements says of the steps. */
static void test_steps(void **state) {
    static const struct {
        const char *keys;
        double particles, accepted;
        bool judged;
    } cases[] = {
        {", 'max_displacement': 0.3, 'box': 6", 60, 0.05, true},
        {", 'max_displacement': 0.3, 'box': 6", 60, 0.98, true},
        {", 'max_displacement': 0.3, 'box': 6", 7.9, 0.05, false},
        {", 'max_displacement': 0.3, 'box': 6", NAN, 0.05, true}, /* not asked for */
        {", 'max_displacement': 3, 'box': 6", 60, 0.98, false},
        {", 'box': 6", 60, 0.98, false}, /* to anywhere */
        {", 'box': 6", 60, 0.05, true},
        /* active cells of a 512th of the box */
        {", 'max_displacement': 0.3, 'box': 17, 'decomposition': 'checkerboard'", 1500, 0.05,
         false},
        {", 'max_displacement': 0.3, 'box': 17, 'decomposition': 'checkerboard'", 1600, 0.05, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = NULL;
        if (parse("'ensemble': 'muvt', 'activity': 0.1, ", cases[i].keys, "", &job) != ERGO_OK)
            fail_msg("%s", ergo_error_message(ctx));
        assert_int_equal(
            job->model->judges_steps(&job->points[0], cases[i].particles, cases[i].accepted),
            cases[i].judged);
        ergo_job_destroy(job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests_name("lj_size", tests, context_open, context_close);
}
