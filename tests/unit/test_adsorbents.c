/* Fields from files and atoms that do not move, without a device: how files are read, what a
 * particle's energy is, where a start puts particles, and what is refused. */
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

#include "job/cube.h"
#include "job/xyz.h"
#include "oracle/lj_serial.h"
#include "samplers/lj_gcmc/lj.h"

#include "context.h"

#define ATOMS                                                                                      \
    "'frozen': {'file': 'data/reference/lj-atoms.xyz', 'epsilon': [1.7, 0.6], "                    \
    "'sigma': [1.2, 0.9]}"
#define FIELD "'field': 'data/reference/lj-field.cube', 'field_unit': 0.8"

static const char *const head = "a\nb\n";

/* Keys of the system; after a '|' others. */
static enum ergo_status parse(const char *ensemble, const char *keys, struct ergo_job **job) {
    char text[900];
    const char *others = strchr(keys, '|');
    snprintf(text, sizeof text,
             "{'sampler': 'lj-fluid', 'system': {'ensemble': '%s'%s%s%.*s}, 'run': {'sweeps': "
             "100}%s}",
             ensemble, strstr(keys, "'box'") ? "" : ", 'box': [5, 5.5, 6.6]",
             strstr(keys, "'temperature'") ? "" : ", 'temperature': 1.3",
             (int)(others ? (size_t)(others - keys) : strlen(keys)), keys,
             others ? others + 1 : "");
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return ergo_job_parse(ctx, text, strlen(text), "adsorbents", NULL, 0, job);
}

static struct ergo_job *with(const char *keys) {
    struct ergo_job *job = NULL;
    if (parse("nvt", keys, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_cube(void **state) {
    (void)state;
    static const char good[] = "comment\n\n 1 0.0 0.0 0.0\n 2 1.5 0 0\n3 0 2.0 0.0\n -2 0 0 1\n"
                               "6 6.0 0 0 0\n1 2 3 4 5\n6 7 8\t9 inf -1e-2\r\n12\n";
    struct ergo_cube *c;
    if (ergo_cube_parse(ctx, "good", good, strlen(good), &c) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    assert_true(c->n[0] == 2 && c->n[1] == 3 && c->n[2] == 2);
    assert_true(c->side[0] == 3 && c->side[1] == 6 && c->side[2] == 2);
    assert_true(c->values[0] == 1 && c->values[9] == HUGE_VALF && c->values[10] == -1e-2f &&
                c->values[11] == 12 && c->least == -1e-2);
    ergo_cube_free(c);
}

static void test_wrong_cubes(void **state) {
    (void)state;
#define AXES "2 1 0 0\n2 0 1 0\n2 0 0 1\n"
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "before its third line"},
        {"0 0 0\n", "f, line 3: expected a whole number and three"},
        {"0.5 0 0 0\n" AXES "1 2 3 4 5 6 7 8\n", "f, line 3: expected a whole number"},
        {"-1 0 0 0\n" AXES, "f, line 3: several values for each point"},
        {"0 0 0 0 2\n" AXES, "f, line 3: several values for each point"},
        {"0 0 0.5 0\n" AXES "1 2 3 4 5 6 7 8\n", "f, line 3: the first point has to be"},
        {"0 0 0 0\n2 1 0 0\n2 0.1 1 0\n2 0 0 1\n", "f, line 5: axis 2: the box is rectangular"},
        {"0 0 0 0\n2 1 0 0\n2 0 -1 0\n2 0 0 1\n", "f, line 5: axis 2"},
        {"0 0 0 0\n2 1 0 0\n1 0 1 0\n2 0 0 1\n", "f, line 5: the points along axis 2"},
        {"0 0 0 0\n2 1 0 0\n2 0 1 0\n", "f, line 6: expected a whole number"},
        {"9 0 0 0\n" AXES "1 2 3 4 5 6 7 8\n", "ends within its atoms"},
        {"0 0 0 0\n" AXES "1 2 3 4\n5 6   7  \n", "f ends at line 9, after 7 of its values"},
        {"0 0 0 0\n" AXES "1 2 3 4\n5 x 7 8\n", "f, line 8: expected a number"},
        {"0 0 0 0\n" AXES "1 2 3 4\n5 nan 7 8\n", "f, line 8: values are numbers"},
        {"0 0 0 0\n" AXES "1 2 3 4\n5 -inf 7 8\n", "f, line 8: values are numbers"},
        {"0 0 0 0\n" AXES "1 2 3 4\n5 6 7 8\n\n9", "f, line 10: more values than"},
        {"0 0 0 0\n60000 1 0 0\n2 0 1 0\n60000 0 0 1\n1 2\n", "more than 2^27 points"},
        {"0 0 0 0\n600 1 0 0\n2 0 1 0\n60 0 0 1\n1 2\n", "too short"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_cube *c;
        char text[300];
        snprintf(text, sizeof text, "%s%s", *cases[i].text ? head : "a\n", cases[i].text);
        assert_int_equal(ergo_cube_parse(ctx, "f", text, strlen(text), &c), ERGO_E_IO);
        if (!strstr(ergo_error_message(ctx), cases[i].why))
            fail_msg("expected \"%s\": %s", cases[i].why, ergo_error_message(ctx));
        ergo_error_clear(ctx);
    }
}

static void test_species(void **state) {
    (void)state;
    static const char plain[] = "3\n\nO 1 2 3\nSi 4 5 6\nO 7 8 9\n";
    static const char late[] = "2\nProperties=pos:R:3:charge:R:1:species:S:1\n1 2 3 0.5 Xx\n4 5 6 "
                               "0.5 Yy\n";
    static const char none[] = "1\nProperties=pos:R:3\n1 2 3\n";
    struct ergo_xyz f;
    assert_int_equal(ergo_xyz_parse(ctx, "plain", plain, strlen(plain), &f), ERGO_OK);
    assert_true(f.n_species == 2 && f.species[0] == 0 && f.species[1] == 1 && f.species[2] == 0);
    assert_string_equal(f.names[0], "O");
    assert_string_equal(f.names[1], "Si");
    ergo_xyz_free(&f);
    assert_int_equal(ergo_xyz_parse(ctx, "late", late, strlen(late), &f), ERGO_OK);
    assert_true(f.n_species == 2 && f.species[1] == 1 && f.positions[3] == 4);
    assert_string_equal(f.names[1], "Yy");
    ergo_xyz_free(&f);
    assert_int_equal(ergo_xyz_parse(ctx, "none", none, strlen(none), &f), ERGO_OK);
    assert_true(f.n_species == 1 && f.names[0][0] == 0);
    ergo_xyz_free(&f);
}

/* ---- energies -------------------------------------------------------------------------------- */

static struct lj_tables tables_of(const struct ergo_job *job) {
    const struct lj_system s = lj_system_of(&job->points[0]);
    struct lj_tables tables = {0};
    if (lj_tables_read(ctx, &job->points[0], &tables) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    assert_true(lj_tables_make(&s, 1, &tables));
    return tables;
}

static const struct ergo_cube *cube;

/* 0.8 times the file, linear along each axis. */
static double field_of(const double at[3]) {
    static const double side[3] = {5, 5.5, 6.6};
    double t[3], sum = 0;
    size_t low[3];
    for (int k = 0; k < 3; k++) {
        const double place = at[k] / side[k] * (double)cube->n[k];
        low[k] = (size_t)place;
        t[k] = place - (double)low[k];
    }
    for (size_t i = 0; i < 8; i++) {
        const size_t x = (low[0] + (i & 1)) % cube->n[0], y = (low[1] + (i >> 1 & 1)) % cube->n[1];
        const size_t z = (low[2] + (i >> 2)) % cube->n[2];
        const double share =
            (i & 1 ? t[0] : 1 - t[0]) * (i & 2 ? t[1] : 1 - t[1]) * (i & 4 ? t[2] : 1 - t[2]);
        sum += share > 0 ? share * (double)cube->values[(x * cube->n[1] + y) * cube->n[2] + z] : 0;
    }
    return 0.8 * sum;
}

/* As the file has them, with epsilon and sigma of the pairs. */
static double atoms[7][5] = {{0.5, 0.6, 0.4}, {1.3, 5.1, 6.4}, {4.6, 2.2, 3.1}, {2.4, 3.9, 1.0},
                             {3.3, 0.3, 5.2}, {0.1, 3.3, 4.9}, {5.6, 1.7, 2.3}};

/* That of a single atom, or the field. */
static double highest(const struct ergo_oracle_lj *o, const double place[3]) {
    struct ergo_oracle_lj one = *o;
    double most = o->field ? o->field(place) : -INFINITY;
    one.field = NULL;
    one.n_frozen = 1;
    for (size_t k = 0; k < o->n_frozen; k++) {
        one.frozen = o->frozen + k;
        most = fmax(most, ergo_oracle_lj_outside(&one, place));
    }
    return most;
}

/* Energies are those of the serial program: of atoms of two species and of a field, each alone. */
static void compare(const char *keys, const struct ergo_oracle_lj *o, double bound) {
    struct ergo_job *job = with(keys);
    const struct ergo_point *point = &job->points[0];
    const struct lj_system s = lj_system_of(point);
    struct lj_tables tables = tables_of(job);
    struct lj_member m;
    struct lj_frozen rows[LJ_MOST_SPECIES];
    double worst = 0;
    size_t cores = 0;
    lj_member_fill(point, 0, NULL, &m);
    if (tables.atoms)
        lj_frozen_of(&s, tables.atoms, rows);
    cube = tables.voxels;
    for (uint32_t i = 0; i < 40000; i++) {
        const uint32_t at[3] = {i * 2654435761u, i * 2246822519u, i * 3266489917u};
        const double place[3] = {5.0 * at[0] * 0x1p-32, 5.5 * at[1] * 0x1p-32,
                                 6.6 * at[2] * 0x1p-32};
        const double u = ergo_oracle_lj_outside(o, place);
        int64_t energy;
        const bool free = lj_field_at(&m, &tables, rows, at, &energy);
        const double most = highest(o, place) / s.temperature;
        if (most < 99.9 ? !free : most > 100.1 && free)
            fail_msg("%g T at (%g, %g, %g) is %s", most, place[0], place[1], place[2],
                     free ? "free" : "a core");
        cores += !free;
        if (free)
            worst = fmax(worst, fabs(lj_energy_of(&s, energy) - u) / (5 + fabs(u)));
    }
    print_message("%zu cores, energies within %.1e\n", cores, worst);
    assert_true(worst < bound && cores > 100);
    lj_tables_free(&tables);
    ergo_job_destroy(job);
}

static void test_energies(void **state) {
    (void)state;
    struct ergo_oracle_lj o = {.side = {5, 5.5, 6.6}, .cutoff = 2.5, .temperature = 1.3};
    for (int i = 0; i < 7; i++) { /* Si, O, Si, O, O, Si, O */
        const bool si = i == 0 || i == 2 || i == 5;
        atoms[i][3] = sqrt(si ? 1.7 : 0.6);
        atoms[i][4] = si ? 1.1 : 0.95;
    }
    o.frozen = (const double(*)[5])atoms;
    o.n_frozen = 7;
    compare(", 'particles': 9, " ATOMS, &o, 4e-6);
    o.n_frozen = 0;
    o.field = field_of;
    compare(", 'particles': 9, " FIELD, &o, 4e-6);
}

#define MANY "/tmp/ergocl-many.xyz"

/* Atoms in many cells, found from all places, also where a point of a scan has another cutoff than
 * the first, whose cells they are. */
static void test_cells(void **state) {
    enum { N = 150 };
    static double many[N][5];
    struct ergo_oracle_lj o = {.side = {5, 5.5, 6.6}, .temperature = 1.3, .n_frozen = N};
    FILE *file = fopen(MANY, "w");
    (void)state;
    assert_non_null(file);
    fprintf(file, "%d\n\n", N);
    for (unsigned i = 0; i < N; i++) {
        for (unsigned k = 0; k < 3; k++) /* some at the box's edges */
            many[i][k] = floor(fmod((i + 1) * (0.618 + 0.214 * k), 1) * 20) / 20 * o.side[k];
        many[i][3] = 1;
        many[i][4] = 0.6;
        fprintf(file, "Si %.17g %.17g %.17g\n", many[i][0], many[i][1], many[i][2]);
    }
    assert_int_equal(fclose(file), 0);
    o.frozen = (const double(*)[5])many;
    struct ergo_job *job = with(", 'sigma': 0.6, 'particles': 1, 'frozen': {'file': '" MANY
                                "', 'epsilon': 1, 'sigma': 0.6}|, 'scan': {'/system/cutoff': "
                                "[0.7, 1.9, 0.3]}");
    struct lj_tables tables = tables_of(job);
    assert_true(tables.atoms->cells[0] == 14 && tables.atoms->cells[2] == 18);
    for (size_t p = 0; p < 3; p++) {
        const struct lj_system s = lj_system_of(&job->points[p]);
        struct lj_member m;
        struct lj_frozen rows[LJ_MOST_SPECIES];
        double worst = 0;
        size_t free = 0;
        o.cutoff = s.cutoff;
        lj_member_fill(&job->points[p], 0, NULL, &m);
        lj_frozen_of(&s, tables.atoms, rows);
        for (uint32_t i = 0; i < 6000; i++) {
            const uint32_t at[3] = {i * 2654435761u, i * 2246822519u, i * 3266489917u};
            double place[3], near = INFINITY;
            int64_t energy;
            for (size_t k = 0; k < 3; k++)
                place[k] = o.side[k] * at[k] * 0x1p-32;
            if (!lj_field_at(&m, &tables, rows, at, &energy))
                continue;
            /* the energy jumps at the cutoff, and rounding decides on which side an atom is */
            for (size_t j = 0; j < N; j++) {
                double r2 = 0;
                for (size_t k = 0; k < 3; k++) {
                    const double d = many[j][k] - place[k];
                    r2 += pow(d - o.side[k] * round(d / o.side[k]), 2);
                }
                near = fmin(near, fabs(sqrt(r2) / s.cutoff - 1));
            }
            const double u = ergo_oracle_lj_outside(&o, place);
            if (near > 1e-6)
                worst = fmax(worst, fabs(lj_energy_of(&s, energy) - u) / (5 + fabs(u)));
            free++;
        }
        print_message("cutoff %g: %zu places, within %.1e\n", s.cutoff, free, worst);
        assert_true(worst < 4e-6 && free > 3000);
    }
    lj_tables_free(&tables);
    ergo_job_destroy(job);
    assert_int_equal(unlink(MANY), 0);
}

/* The shift of a pair is its own energy at the cutoff; a species is what its name says. */
static void test_rows(void **state) {
    (void)state;
    struct ergo_job *job = with(", 'particles': 9, 'epsilon': 2, 'shifted': true, " ATOMS);
    const struct lj_system s = lj_system_of(&job->points[0]);
    struct lj_tables tables = tables_of(job);
    struct lj_frozen rows[LJ_MOST_SPECIES];
    assert_int_equal(tables.atoms->n_species, 2);
    lj_frozen_of(&s, tables.atoms, rows);
    for (int k = 0; k < 2; k++) {
        const double epsilon = sqrt(2 * (k ? 0.6 : 1.7)), sigma = k ? 0.95 : 1.1;
        const double x6 = pow(sigma / 2.5, 6), shift = 4 * epsilon * (x6 * x6 - x6);
        assert_true(fabs(lj_energy_of(&s, rows[k].shift) - shift) < 1e-8);
        assert_true(fabs((double)rows[k].inverse - 1 / (sigma * sigma)) < 1e-6);
        assert_true(fabs((double)rows[k].strength * 0x1p-30 - epsilon / 2) < 1e-6);
        const double r6 = pow(sigma, 6) / pow((double)rows[k].core2, 3);
        assert_true(fabs(4 * epsilon * (r6 * r6 - r6) / 130 - 1) < 1e-4);
    }
    lj_tables_free(&tables);
    ergo_job_destroy(job);
}

/* ---- starts and refusals --------------------------------------------------------------------- */

/* Particles on a lattice are not in a core, nor high up. */
static void test_start(void **state) {
    (void)state;
    struct ergo_job *job = with(", 'particles': 30, " ATOMS ", " FIELD);
    const struct ergo_point *point = &job->points[0];
    const struct lj_system s = lj_system_of(point);
    struct lj_tables tables = tables_of(job);
    struct lj_member m;
    struct lj_frozen rows[LJ_MOST_SPECIES];
    uint32_t *words, n;
    lj_member_fill(point, 0, NULL, &m);
    lj_frozen_of(&s, tables.atoms, rows);
    assert_int_equal(lj_start(ctx, point, 0, &tables, &words, &n), ERGO_OK);
    assert_int_equal(n, 30);
    for (uint32_t i = 0; i < n; i++) {
        int64_t energy;
        assert_true(lj_field_at(&m, &tables, rows, words + 3 * (size_t)i, &energy));
        assert_true(lj_energy_of(&s, energy) < 10.01 * 1.3);
        for (uint32_t j = 0; j < i; j++)
            assert_memory_not_equal(words + 3 * (size_t)i, words + 3 * (size_t)j, 12);
    }
    free(words);
    lj_tables_free(&tables);
    ergo_job_destroy(job);
}

#define HIGH "/tmp/ergocl-high.cube"

/* A field above 10 T everywhere. */
static void write_high(void) {
    FILE *file = fopen(HIGH, "w");
    assert_non_null(file);
    fprintf(file, "%s0 0 0 0\n2 2.5 0 0\n2 0 2.75 0\n2 0 0 3.3\n15 15 15 15 15 15 15 15\n", head);
    assert_int_equal(fclose(file), 0);
}

static void test_refused(void **state) {
    (void)state;
    write_high();
    static const struct {
        const char *ensemble, *keys, *why;
    } cases[] = {
        {"npt", ", 'pressure': 1, 'particles': 9, 'volume_every': 9, " FIELD,
         "key of model \"nvt\""},
        {"nvt", ", 'particles': 9, 'field_unit': 2", "with /system/field"},
        {"nvt", ", 'particles': 9, 'frozen': {'sigma': 2}", "with /system/frozen/file"},
        {"nvt", ", 'particles': 9, 'frozen': {'file': 'data/reference/lj-atoms.xyz', 'sigma': 1}",
         "/system/frozen/epsilon"},
        {"nvt",
         ", 'particles': 9, 'frozen': {'file': 'data/reference/lj-atoms.xyz', 'sigma': 1, "
         "'epsilon': [1, 1, 1]}",
         "has 2 species: give as many"},
        {"nvt", ", 'particles': 9, 'epsilon': 0, " ATOMS, "would not meet the atoms"},
        {"nvt", ", 'particles': 9, 'epsilon': 1e-7, 'temperature': 1e-6, " ATOMS, "0.001 to 1000"},
        {"nvt", ", 'particles': 9, 'tail_correction': true, " ATOMS, "uniform fluid"},
        {"muvt", ", 'activity': 1, 'decomposition': 'checkerboard', " FIELD, "checkerboard"},
        {"muvt", ", 'activity': 1, 'field': 'data/reference/lj-atoms.xyz'", "line 3: expected"},
        {"muvt", ", 'activity': 1, 'box': [5, 5.5, 6], " FIELD, "another shape"},
        {"muvt", ", 'activity': 1, 'box': [5, 5.5, 6], " ATOMS, "/system/box"},
        {"muvt", ", 'activity': 1, " FIELD ", 'temperature': 0.001", "lowest energy"},
        {"nvt", ", 'particles': 900, " ATOMS, "apart"},
        {"nvt",
         ", 'particles': 9, 'frozen': {'file': 'data/reference/lj-atoms.xyz', 'epsilon': 1e5, "
         "'sigma': 1}|, 'scan': {'/system/epsilon': [1, 0.05]}",
         "0.001 to 1000 (at /system/epsilon = 0.05)"},
        {"nvt", ", 'particles': 9, " ATOMS "|, 'scan': {'/system/sigma': [1, 2, 24]}",
         "below a fifth of it (at /system/sigma = 24)"},
        {"nvt", ", " ATOMS "|, 'scan': {'/system/particles': [9, 10, 900]}",
         "Start with fewer (at /system/particles = 900)"},
        {"muvt", ", 'activity': 1, " FIELD "|, 'scan': {'/system/temperature': [1, 0.001]}",
         "lowest energy"},
        {"nvt", ", 'particles': 9, 'field': '" HIGH "'", "no room for 9 particles"},
        {"nvt", ", 'particles': 20000000, 'temperature': 0.5, " ATOMS, "more than 2^24 particles"},
        {"nvt", ", 'particles': 9, 'start': 'data/reference/lj-atoms.xyz', 'cutoff': 1, " ATOMS,
         "particle 1 of data/reference/lj-atoms.xyz is where"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = NULL;
        const enum ergo_status status = parse(cases[i].ensemble, cases[i].keys, &job);
        if (status == ERGO_OK || !strstr(ergo_error_message(ctx), cases[i].why))
            fail_msg("%s: expected \"%s\": %s", cases[i].keys, cases[i].why,
                     status == ERGO_OK ? "taken" : ergo_error_message(ctx));
        ergo_error_clear(ctx);
        ergo_job_destroy(job);
    }
    assert_int_equal(unlink(HIGH), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube),    cmocka_unit_test(test_wrong_cubes),
        cmocka_unit_test(test_species), cmocka_unit_test(test_energies),
        cmocka_unit_test(test_cells),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_start),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
