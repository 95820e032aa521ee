/* Walls and fields of jobs: what is refused and why, energies of places, densities from counts. No
 * device. */
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

#include "samplers/hard_spheres/spheres.h"

#include "context.h"

static struct ergo_job *job_of(const char *system, const char *run) {
    char text[1000];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'hard-spheres', 'system': {'n': 20, %s}, 'run': {'sweeps': 1%s}}", system,
             run);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    ergo_error_clear(ctx);
    if (ergo_job_parse(ctx, text, strlen(text), "job", NULL, 0, &job) != ERGO_OK)
        return NULL;
    return job;
}

static void write_table(const char *path, const char *rows) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(rows, file);
    fclose(file);
}

static void test_refused(void **state) {
    static const struct {
        const char *system, *run, *table, *says;
    } cases[] = {
        {"'box': [4.2, 4.2, 5], 'gravity': 1", "", NULL, "/system/gravity: found 1 without walls"},
        {"'box': [4.2, 4.2, 5], 'walls': ['z']", ", 'order_every': 1", NULL,
         "/run/order_every: the analysis is of a periodic"},
        {"'box': [4.2, 4.2, 5]", ", 'order_every': 3, 'curves_every': 2", NULL,
         "/run/order_every: 3 is no multiple of /run/curves_every, 2"},
        {"'box': [4.2, 1e4, 6]", ", 'order_every': 1, 'sk_max': 60", NULL,
         "/run/sk_max: the transform of 20 spheres in a box of 4.2 x 10000 x 6 sigma up to k = 60"},
        {"'box': [4.2, 1e5, 14]", ", 'order_every': 1", NULL,
         "/run/order_every: the transform of 20 spheres in a box of 4.2 x 100000 x 14 sigma up to "
         "k"},
        {"'box': [4.2, 4.2, 5]", ", 'sk_max': 20", NULL, "/run/sk_max: has no effect"},
        {"'box': [4.2, 4.2, 5], 'walls': ['z'], 'axis': 'x', 'gravity': 1", "", NULL,
         "/system/gravity: found 1 without walls along x"},
        {"'box': [4.2, 4.2, 1], 'walls': ['z']", "", NULL, "/system/box"},
        {"'box': [4.2, 4.2, 3.3]", "", NULL, "no checkerboard fits a side of 3.3 sigma"},
        {"'box': [4.2, 4.2, 5], 'walls': ['z', 'none']", "", NULL, "each axis once"},
        {"'box': [4.2, 4.2, 5], 'walls': ['z', 'z']", "", NULL, "each axis once"},
        {"'box': [4.2, 4.2, 5], 'axis': 'x'", "", NULL, "it acts only with walls or a field"},
        {"'box': [4.2, 4.2, 5], 'walls': 'z'", ", 'gr_max': 2", NULL,
         "it acts only without walls and fields"},
        {"'box': [4.2, 4.2, 5], 'harmonic': 1", ", 'contact_bin': 0.001", NULL,
         "it acts only without a field, or with walls along its axis"},
        {"'box': [4.2, 8.2, 1.4], 'walls': 'z'", ", 'contact_range': 0.45", NULL,
         "wider than the 0.4 sigma"},
        {"'box': [4.2, 4.2, 5], 'harmonic': 1000000", "", NULL, "/system/harmonic: found 1e+06"},
        {"'box': [4.2, 4.2, 400], 'walls': 'z', 'gravity': 9999", "", NULL, "k_B T in this box"},
        {"'box': [2.1, 2.1, 3.5], 'walls': 'z'", "", NULL, "/system"},
        {"'box': [4.2, 4.2, 5], 'walls': 'z', 'ensemble': 'npt', 'pressure': 1", "", NULL,
         "/system/walls: unknown key"},
        {"'box': [4.2, 4.2, 5], 'walls': 'z', 'field': './table'", "", "0 1\n4 2\n",
         "the file reaches from 0 to 4 sigma; centres are at 0.5"},
        {"'box': [4.2, 4.2, 5], 'field': './table'", "", "0 1\n5 2\n", "beta u is 1 at one end"},
        {"'box': [4.2, 4.2, 5], 'field': './table'", "", "0 1\n", "two and more are needed"},
        {"'box': [4.2, 4.2, 5], 'field': './table'", "", "0 1\n0 2\n", "heights have to grow"},
        {"'box': [4.2, 4.2, 5], 'field': './table'", "", "0 one\n", "expected two numbers"},
        {"'box': [4.2, 4.2, 5], 'walls': 'z', 'field': './table'", "",
         "0 0\n2 0\n2.0001 50\n2.0004 50\n2.0005 0\n5 0\n", "beta u is 50 at 2.00"},
        {"'box': [4.2, 4.2, 5], 'walls': 'z', 'field': './table'", "",
         "0 30\n1 0\n2 30\n2.0001 0\n2.0004 0\n2.0005 30\n5 30\n", "beta u is 0 at 2.0001"},
        {"'box': [4.2, 4.2, 5], 'field': './nothing'", "", NULL, "/system/field"},
        {"'box': [4.2, 4.2, 5], 'walls': 'z', 'start': './table'", "",
         "20\nLattice=\"4.2 0 0 0 4.2 0 0 0 5\"\nX 1 1 0.4\n", "/system/start"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].table)
            write_table("table", cases[i].table);
        struct ergo_job *job = job_of(cases[i].system, cases[i].run);
        if (job || !strstr(ergo_error_message(ctx), cases[i].says))
            fail_msg("%s: %s, not \"%s\"", cases[i].system, job ? "taken" : ergo_error_message(ctx),
                     cases[i].says);
    }
    unlink("table");
}

static struct spheres_shape shape_of(const struct ergo_job *job) {
    struct spheres_shape shape;
    char reason[300];
    assert_non_null(job);
    assert_true(spheres_shape_of(&job->points[0], &shape, reason));
    return shape;
}

/* Energies of all sorts together, at places between and at nodes, below a wall's height too. */
static void test_energies(void **state) {
    (void)state;
    write_table("table", "# a step of two slopes\n0.4 1\n2 3 # here\n4.6, 3\n");
    struct ergo_job *job = job_of("'box': [4.2, 4.2, 5], 'walls': 'z', 'gravity': 0.7, 'harmonic': "
                                  "-0.3, 'field': './table'",
                                  "");
    const struct spheres_shape s = shape_of(job);
    int64_t *nodes = malloc(ERGO_FIELD_NODES * sizeof *nodes);
    assert_int_equal(ergo_confined_nodes(ctx, &job->points[0], &s.confined, nodes), ERGO_OK);
    const uint64_t low = s.confined.walls.low[2], high = s.confined.walls.high[2];
    assert_true(fabs((double)low / s.sigma - 0.5) < 1e-6);
    assert_true(fabs((double)high / s.sigma - 4.5) < 2e-6);
    for (int i = 0; i <= 1000; i++) {
        const uint64_t place[3] = {0, 0, low + (high - low) * (uint64_t)i / 1000};
        const double z = (double)place[2] / s.sigma;
        const double known =
            0.7 * z - 0.15 * (z - 2.5) * (z - 2.5) + (z < 2 ? 1 + 2 * (z - 0.4) / 1.6 : 3);
        const double found = ldexp((double)ERGO_FIELD_AT(nodes, s.confined.walls.shift, place[2]),
                                   -ERGO_FIELD_ENERGY_BITS);
        if (fabs(found - known) > 1e-3)
            fail_msg("beta u at %.6f is %.6f, not %.6f", z, found, known);
        assert_true(ergo_confined_free(&s.confined, 3, place));
    }
    const uint64_t in_wall[3] = {0, 0, low - 1}, in_other[3] = {0, 0, high + 1};
    assert_false(ergo_confined_free(&s.confined, 3, in_wall));
    assert_false(ergo_confined_free(&s.confined, 3, in_other));
    free(nodes);
    ergo_job_destroy(job);
    unlink("table");
}

/* 20 spheres: the profile's sum is N / A, the weight is counted from above, the excess of a flat
 * profile is that of the walls' dead layers. */
static void test_curves(void **state) {
    enum { BINS = 8 };
    static const uint32_t counts[BINS] = {6, 4, 3, 1, 1, 3, 1, 1};
    double profile[BINS], weight[BINS], x[BINS], sum = 0;
    (void)state;
    struct ergo_job *job =
        job_of("'box': [4.2, 4.2, 5], 'walls': 'z', 'gravity': 0.7", ", 'profile_bins': 8");
    const struct spheres_shape s = shape_of(job);
    const double area = 4.2 * 4.2;
    ergo_confined_x(&s.confined, ERGO_CONFINED_PROFILE, BINS, x);
    ergo_confined_convert(&job->points[0], &s.confined, ERGO_CONFINED_PROFILE, BINS, counts,
                          profile);
    ergo_confined_convert(&job->points[0], &s.confined, ERGO_CONFINED_WEIGHT, BINS, counts, weight);
    for (int i = 0; i < BINS; i++)
        sum += profile[i] * (x[1] - x[0]);
    assert_true(fabs(sum - 20 / area) < 1e-5);
    assert_true(fabs(x[0] - 0.75) < 1e-5);
    assert_true(fabs(weight[0] - 0.7 * 17 / area) < 1e-5);
    assert_true(fabs(weight[7] - 0.7 * 0.5 / area) < 1e-6);
    assert_true(fabs(ergo_confined_central(NULL, profile, BINS) - 1 / area / 0.5) < 1e-5);
    const double excess = ergo_confined_excess(&s.confined, profile, BINS);
    assert_true(fabs(excess - 0.5 * (20 / area - 5 * 1 / area / 0.5)) < 1e-5);
    ergo_job_destroy(job);
}

/* g(r) of N points spread evenly is 1, and Z = 1 + (2 pi / 3) n(1), with n(r) the density of others
 * around a sphere: that of the contact curve's bins here. */
static void test_ideal(void **state) {
    enum { SPHERES = 20, MOST = 1000, MANY = 1000000 };
    static double values[MOST];
    static uint32_t counts[MOST];
    (void)state;
    struct ergo_job *job = job_of("'box': [5, 5, 5]", "");
    const struct ergo_point *point = &job->points[0];
    struct spheres_shape s;
    char reason[300];
    assert_true(spheres_shape_of(point, &s, reason));
    for (size_t c = 0; c < SPHERES_PAIR_CURVES; c++) {
        const size_t size = spheres_curve_size(point, c);
        const double first = c == SPHERES_CURVE_CONTACT ? 1 : 0;
        const double width = (spheres_curve_end(point, &s, c) - first) / (double)size;
        assert_true(size && size <= MOST);
        for (size_t i = 0; i < size; i++) {
            const double a = first + width * (double)i, b = a + width;
            const double shell = 4 * 3.14159265358979324 / 3 * (b * b * b - a * a * a);
            counts[i] = (uint32_t)round(1.0 * MANY * SPHERES * (SPHERES - 1) / 2 * shell / 125);
        }
        spheres_curve_convert(point, &s, c, counts, values);
        for (size_t i = 0; i < size; i++)
            assert_true(fabs(values[i] / MANY - 1) < 0.55 / fmax(1, counts[i]) + 1e-9);
    }
    const size_t size = spheres_curve_size(point, SPHERES_CURVE_CONTACT);
    for (size_t i = 0; i < size; i++)
        values[i] = 1;
    assert_true(fabs(spheres_compressibility(point, values, size) - 1 -
                     2 * 3.14159265358979324 / 3 * (SPHERES - 1) / 125) < 1e-9);
    ergo_job_destroy(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_energies),
                                       cmocka_unit_test(test_curves), cmocka_unit_test(test_ideal)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
