/*
 * Hard disks against what is known: the exact pressure of two disks, event-chain Monte Carlo
 * (data/reference/hard_disks.json names the source), and plain serial Monte Carlo in doubles
 * (tests/oracle), through the public API.
 *
 * Error budget, set before the first run: 35 comparisons, |z| < 4.2 each (two-sided normal tails of
 * 9.4e-4 together), chi^2 over all below its 99.9% quantile (Wilson and Hilferty). Fixed seeds:
 * never retried.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "oracle/disks_serial.h"
#include "physics/run_physics.h"
#include "samplers/hard_disks/disks.h"
#include "stats/stats.h"

#include "context.h"

#define Z_MAX 4.2
static size_t comparisons;
static double chi2;

static void compare(const char *what, double mean, double error, double known, double known_error) {
    const double z = (mean - known) / hypot(error, known_error);
    print_message("%-28s %.6g(%.2g), known %.6g(%.2g), z = %+.2f\n", what, mean, error, known,
                  known_error, z);
    comparisons++;
    chi2 += z * z;
    if (!(fabs(z) < Z_MAX))
        fail_msg("%s: z = %.2f", what, z);
}

/* Runs a job, in whose text "MOVES" stands for the moves of its kind; its points. The caller
 * deletes the tree. */
static cJSON *run(const char *name, const char *job_text, const char *moves,
                  struct ergo_job **job) {
    char folder[128], text[1000], *json = NULL;
    const char *at = strstr(job_text, "\"MOVES\"");
    snprintf(text, sizeof text, "%.*s%s%s", at ? (int)(at - job_text) : 0, job_text,
             at ? moves : "", at ? at + strlen("\"MOVES\"") : job_text);
    struct ergo_result *result = NULL;
    snprintf(folder, sizeof folder, "%s/disks-%s-%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             name, (long)getpid());
    static const char *const unaudited[] = {"/audit/device=none"};
    const struct ergo_run_options options = {.directory = folder, .overwrite = true};
    if (ergo_job_parse(ctx, text, strlen(text), name, unaudited, 1, job) != ERGO_OK ||
        ergo_run(ctx, *job, &options, &result) != ERGO_OK ||
        ergo_result_json(ctx, result, &json) != ERGO_OK)
        fail_msg("%s: %s", name, ergo_error_message(ctx));
    cJSON *tree = cJSON_Parse(json);
    free(json);
    ergo_result_destroy(result);
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    return tree;
}

static const cJSON *pressure_of(const cJSON *point) {
    return cJSON_GetObjectItem(cJSON_GetObjectItem(point, "observables"), "pressure");
}

static double number(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* Mean of the replicas of every scan point against known values. */
static void compare_points(const char *name, const cJSON *tree, const struct ergo_job *job,
                           size_t replicas, const double (*known)[2]) {
    const cJSON *point = cJSON_GetObjectItem(tree, "points")->child;
    for (size_t i = 0; i < job->n_points / replicas; i++) {
        double sum = 0, variance = 0;
        char what[80];
        for (size_t r = 0; r < replicas; r++, point = point->next) {
            sum += number(pressure_of(point), "mean");
            variance += pow(physics_error(pressure_of(point)), 2);
        }
        snprintf(what, sizeof what, "%s, point %zu", name, i);
        compare(what, sum / (double)replicas, sqrt(variance) / (double)replicas, known[i][0],
                known[i][1]);
    }
}

static const char displacements[] = "\"moves\": \"displacements\"";
static const char reflections[] = "\"moves\": \"reflections\", \"moves_per_cell\": 2";

static void test_two(void **state) {
    const char *moves = *state;
    static const char job_text[] =
        "{\"sampler\": \"hard-disks\", \"seed\": \"11\", \"replicas\": 4, \"system\": {\"n\": 2, "
        "\"box\": 4, \"MOVES\"}, \"scan\": {\"/system/box\": [4, 5, 6, 8, 10]}, \"run\": "
        "{\"equilibration\": "
        "100, \"sweeps\": 60000, \"measure_every\": 5, \"contact_range\": 0.1, \"contact_bin\": "
        "0.005, \"contact_degree\": 1, \"gr_max\": 0, \"block_cells\": 0}, \"output\": "
        "{\"snapshots\": 0}}";
    /* Z L^2 ... : exact, 4 / (pi L^2) Z phi; the digits of data/reference/hard_disks.json */
    static const double known[][2] = {{0.1402701292, 0},
                                      {0.0857489873, 0},
                                      {0.0582113892, 0},
                                      {0.0320565835, 0},
                                      {0.0203243490, 0}};
    struct ergo_job *job = NULL;
    cJSON *tree = run("two", job_text, moves, &job);
    for (size_t i = 0; i < 5; i++)
        assert_true(fabs(disks_exact_pressure(&job->points[4 * i]) - known[i][0]) < 1e-9);
    compare_points("two disks", tree, job, 4, known);
    cJSON_Delete(tree);
    ergo_job_destroy(job);
}

/* degree 3 over 0.05: its bias is below 1e-4 at these densities */
#define RUN_OF_MANY                                                                                \
    "\"measure_every\": 5, \"contact_range\": 0.05, \"contact_bin\": 0.001, \"contact_degree\": "  \
    "3, \"gr_max\": 0, \"block_cells\": 0}, \"output\": {\"snapshots\": 0}}"

static void test_event_chain(void **state) {
    const char *moves = *state;
    static const char small[] =
        "{\"sampler\": \"hard-disks\", \"seed\": \"12\", \"replicas\": 8, "
        "\"system\": {\"n\": 64, \"packing_fraction\": 0.3, \"MOVES\"}, \"scan\": "
        "{\"/system/packing_fraction\": [0.3, 0.5]}, \"run\": "
        "{\"equilibration\": 2000, \"sweeps\": 20000, " RUN_OF_MANY;
    static const double small_known[][2] = {{0.783467, 0.000093}, {2.597301, 0.000422}};
    static const char large[] =
        "{\"sampler\": \"hard-disks\", \"seed\": \"13\", \"replicas\": 4, "
        "\"system\": {\"n\": 256, \"packing_fraction\": 0.5, \"MOVES\"}, \"scan\": "
        "{\"/system/packing_fraction\": [0.2, 0.5, 0.65]}, \"run\": "
        "{\"equilibration\": 2000, \"sweeps\": 5000, " RUN_OF_MANY;
    static const double large_known[][2] = {
        {0.399401, 0.000022}, {2.610057, 0.000298}, {6.953147, 0.001762}};
    struct ergo_job *job = NULL;
    cJSON *tree = run("small", small, moves, &job);
    compare_points("64 disks", tree, job, 8, small_known);
    cJSON_Delete(tree);
    ergo_job_destroy(job);
    tree = run("large", large, moves, &job);
    compare_points("256 disks", tree, job, 4, large_known);
    cJSON_Delete(tree);
    ergo_job_destroy(job);
}

/* g(r) next to contact, bin by bin, against the plain chain: 16 disks, packed coordinates, a random
 * start, another displacement and number of moves. */
static void test_plain(void **state) {
    const char *moves = *state == displacements
                            ? "\"max_displacement\": 0.3, \"moves_per_cell\": 3"
                            : "\"moves\": \"reflections\", \"moves_per_cell\": 1";
    enum { BINS = 10, BLOCKS = 64, SWEEPS = 4000 };
    static const char text[] =
        "{\"sampler\": \"hard-disks\", \"seed\": \"14\", \"replicas\": 4, \"system\": {\"n\": 16, "
        "\"packing_fraction\": 0.6, \"coordinates\": \"packed\", \"start\": \"random\", "
        "\"MOVES\"}, \"run\": {\"equilibration\": 1000, "
        "\"sweeps\": 40000, \"measure_every\": 4, \"contact_range\": 0.04, \"contact_bin\": 0.004, "
        "\"gr_max\": 0, \"block_cells\": 0}, \"output\": {\"snapshots\": 0}}";
    struct ergo_job *job = NULL;
    struct disks_shape shape;
    char reason[300];
    double x[16], y[16], values[BLOCKS][BINS], areas[BINS];
    uint64_t limits[BINS + 1];
    struct ergo_oracle_plain plain;
    cJSON *tree = run("plain", text, moves, &job);
    assert_true(disks_shape_of(&job->points[0], &shape, reason));
    shape.planes = 2; /* the plain chain is on no grid */
    disks_limits(&job->points[0], &shape, DISKS_CURVE_CONTACT, limits);
    disks_areas(&job->points[0], &shape, DISKS_CURVE_CONTACT, limits, areas);
    assert_true(disks_lattice(&shape, true, x, y));
    assert_true(ergo_oracle_plain_init(&plain, 16, shape.box[0], 0.3, x, y, 99));
    for (int i = 0; i < 2000; i++)
        ergo_oracle_plain_sweep(&plain);
    for (int b = 0; b < BLOCKS; b++) {
        uint64_t counts[BINS] = {0};
        uint32_t narrow[BINS];
        for (int i = 0; i < SWEEPS; i++) {
            ergo_oracle_plain_sweep(&plain);
            ergo_oracle_plain_contacts(&plain, 0.04, BINS, counts);
        }
        for (size_t i = 0; i < BINS; i++)
            narrow[i] = (uint32_t)counts[i];
        disks_curve_convert(&job->points[0], &shape, shape.density, DISKS_CURVE_CONTACT, areas,
                            narrow, values[b]);
    }
    ergo_oracle_plain_free(&plain);
    for (size_t i = 0; i < BINS; i += 3) {
        double mean = 0, variance = 0, sum = 0, errors = 0;
        char what[64];
        for (int b = 0; b < BLOCKS; b++)
            mean += values[b][i] / SWEEPS / BLOCKS;
        for (int b = 0; b < BLOCKS; b++)
            variance += pow(values[b][i] / SWEEPS - mean, 2) / (BLOCKS - 1.0) / BLOCKS;
        for (const cJSON *p = cJSON_GetObjectItem(tree, "points")->child; p; p = p->next) {
            const cJSON *curve = cJSON_GetObjectItem(cJSON_GetObjectItem(p, "curves"), "contact");
            sum += cJSON_GetArrayItem(cJSON_GetObjectItem(curve, "mean"), (int)i)->valuedouble / 4;
            errors +=
                pow(cJSON_GetArrayItem(cJSON_GetObjectItem(curve, "error"), (int)i)->valuedouble,
                    2) /
                16;
        }
        snprintf(what, sizeof what, "g(r), bin %zu", i);
        compare(what, sum, sqrt(errors), mean, sqrt(variance));
    }
    cJSON_Delete(tree);
    ergo_job_destroy(job);
}

/*
 * Random starts where crystals are stable are no crystals: psi_6 right after the start. Were the
 * orientations of some twenty disks each independent, it would be (20 / 576)^1/2 = 0.19; the
 * lattice they come from has 1. Every member has a start of its own, at either end of a scan.
 */
static void test_random(void **state) {
    (void)state;
    static const char text[] =
        "{\"sampler\": \"hard-disks\", \"seed\": \"15\", \"replicas\": 4, \"system\": {\"n\": 576, "
        "\"packing_fraction\": 0.72, \"start\": \"random\"}, \"scan\": "
        "{\"/system/packing_fraction\": [0.72, 0.76]}, \"run\": {\"sweeps\": 1, "
        "\"curves_every\": 0}, \"output\": {\"snapshots\": 0}}";
    struct ergo_job *job = NULL;
    cJSON *tree = run("random", text, "", &job);
    double sum = 0, before = 0;
    for (const cJSON *p = cJSON_GetObjectItem(tree, "points")->child; p; p = p->next) {
        const double psi6 =
            number(cJSON_GetObjectItem(cJSON_GetObjectItem(p, "observables"), "psi6"), "mean");
        print_message("random start: psi_6 %.4f\n", psi6);
        assert_true(psi6 < 0.6 && psi6 != before);
        sum += psi6 / 8;
        before = psi6;
    }
    assert_true(sum < 0.4);
    cJSON_Delete(tree);
    ergo_job_destroy(job);
}

/* Two disks at constant pressure: the weight of a volume is V (V - pi) exp(-beta P V), between the
 * volumes that two cells a side allow. */
static void test_two_npt(void **state) {
    static const double pressure = 0.5, low = 4, high = 8;
    double mean, error, weight = 0, density = 0;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double v = low + (high - low) * (i + 0.5) / 100000;
        const double w = v * (v - DISKS_PI) * exp(-pressure * v);
        weight += w;
        density += w * 2 / v;
    }
    cJSON *tree = physics_run(
        ctx,
        "{'sampler': 'hard-disks', 'seed': '14', 'replicas': 8, 'system': {'n': 2, 'box': 2.4, "
        "'ensemble': 'npt', 'pressure': 0.5, 'max_volume_change': 0.4, 'max_displacement': 0.6}, "
        "'run': {'equilibration': 50, 'sweeps': 4000, 'measure_every': 4, 'curves_every': 0}, "
        "'output': {'snapshots': 0}}",
        "two, npt");
    physics_value(tree, 0, 8, "density", &mean, &error);
    compare("two disks, npt: density", mean, error, density / weight, 0);
    cJSON_Delete(tree);
}

/* Two disks where sides change one by one: the weight of a box is the same with V = Lx Ly, flat in
 * Lx and Ly, where two cells a side allow it (at least 2, and Lx^2 + Ly^2 < 16). And the pressure
 * of two disks in a box with different sides: only its area counts. */
static void test_two_boxes(void **state) {
    enum { GRID = 1500 };
    static const double pressure = 0.5;
    double mean, error, weight = 0, density = 0, aspect = 0;
    (void)state;
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            const double lx = 2 + 1.5 * (i + 0.5) / GRID, ly = 2 + 1.5 * (j + 0.5) / GRID;
            const double v = lx * ly;
            if (lx * lx + ly * ly >= 16)
                continue;
            const double w = v * (v - DISKS_PI) * exp(-pressure * v);
            weight += w;
            density += w * 2 / v;
            aspect += w * ly / lx;
        }
    cJSON *tree = physics_run(
        ctx,
        "{'sampler': 'hard-disks', 'seed': '17', 'replicas': 8, 'system': {'n': 2, 'box': [2.3, "
        "2.6], 'ensemble': 'npt', 'volume_moves': 'per-axis', 'pressure': 0.5, "
        "'max_volume_change': 0.4, 'max_displacement': 0.6}, 'run': {'equilibration': 50, "
        "'sweeps': 6000, 'measure_every': 4, 'curves_every': 0}, 'output': {'snapshots': 0}}",
        "two, per axis");
    physics_value(tree, 0, 8, "density", &mean, &error);
    compare("two disks, per axis: density", mean, error, density / weight, 0);
    physics_value(tree, 0, 8, "aspect_ratio", &mean, &error);
    compare("two disks, per axis: Ly / Lx", mean, error, aspect / weight, 0);
    cJSON_Delete(tree);
    tree = physics_run(
        ctx,
        "{'sampler': 'hard-disks', 'seed': '18', 'replicas': 4, 'system': {'n': 2, 'box': [2.05, "
        "5.6]}, 'run': {'equilibration': 100, 'sweeps': 20000, 'measure_every': 5, "
        "'contact_range': 0.1, 'contact_bin': 0.005, 'contact_degree': 1, 'gr_max': 0, "
        "'block_cells': 0}, 'output': {'snapshots': 0}}",
        "two, box");
    physics_value(tree, 0, 4, "pressure", &mean, &error);
    const double area = 2.05 * 5.6, rho = 2 / area;
    compare("two disks, 2.05 x 5.6: pressure", mean, error,
            rho * (1 + 0.25 * DISKS_PI * rho * area / (area - DISKS_PI)), 0);
    cJSON_Delete(tree);
}

/* Constant pressure in a liquid, against the serial program; and there and in a crystal the
 * pressure from contacts, whose mean is the job's for any N. */
static void test_npt(void **state) {
    enum { N = 30, BLOCKS = 20, SWEEPS = 2500 };
    struct ergo_oracle_plain plain;
    double x[N], y[N], mean, error, sum = 0, square = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[i] = 1.2 * (double)(i % 6);
        y[i] = 1.2 * (double)(i / 6);
    }
    assert_true(ergo_oracle_plain_init(&plain, N, 7.2, 0.3, x, y, 6));
    for (size_t b = 0; b <= BLOCKS; b++) { /* the first one equilibrates */
        double density = 0;
        for (size_t t = 0; t < SWEEPS; t++) {
            ergo_oracle_plain_sweep(&plain);
            ergo_oracle_plain_volume(&plain, 2, 0.06);
            density += N / (plain.box * plain.box) / SWEEPS;
        }
        sum += b ? density : 0;
        square += b ? density * density : 0;
    }
    ergo_oracle_plain_free(&plain);
    cJSON *tree = physics_run(
        ctx,
        "{'sampler': 'hard-disks', 'seed': '15', 'replicas': 4, 'system': {'n': 30, "
        "'packing_fraction': 0.45, 'ensemble': 'npt', 'pressure': 2, 'max_volume_change': 0.06}, "
        "'run': {'equilibration': 500, 'sweeps': 20000, 'measure_every': 4, 'contact_range': 0.1, "
        "'contact_bin': 0.001, 'contact_degree': 3, 'gr_max': 0}, 'output': {'snapshots': 0}}",
        "npt");
    physics_value(tree, 0, 4, "density", &mean, &error);
    compare("30 disks, npt: density", mean, error, sum / BLOCKS,
            sqrt((square / BLOCKS - pow(sum / BLOCKS, 2)) / (BLOCKS - 1)));
    physics_value(tree, 0, 4, "pressure", &mean, &error);
    compare("30 disks, npt: pressure", mean, error, 2, 0);
    physics_value(tree, 0, 4, "volume_limited", &mean, &error);
    assert_true(mean == 0);
    cJSON_Delete(tree);
    tree = physics_run(
        ctx,
        "{'sampler': 'hard-disks', 'seed': '16', 'replicas': 4, 'system': {'n': 56, "
        "'packing_fraction': 0.73, 'ensemble': 'npt', 'pressure': 12}, "
        "'run': {'equilibration': 1000, 'sweeps': 12000, 'measure_every': 4, 'contact_range': "
        "0.04, 'contact_bin': 0.0004, 'contact_degree': 4, 'gr_max': 0}, 'output': {'snapshots': "
        "0}}",
        "npt, crystal");
    physics_value(tree, 0, 4, "pressure", &mean, &error);
    compare("56 disks, npt: pressure", mean, error, 12, 0);
    cJSON_Delete(tree);
}

static void test_budget(void **state) {
    (void)state;
    const double n = (double)comparisons, a = 2 / (9 * n), q = 1 - a + 3.09 * sqrt(a);
    print_message("%zu comparisons, chi^2 %.1f\n", comparisons, chi2);
    assert_true(comparisons > 0 && comparisons <= 35);
    assert_true(chi2 < n * q * q * q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_two, (void *)displacements),
        cmocka_unit_test_prestate(test_two, (void *)reflections),
        cmocka_unit_test_prestate(test_event_chain, (void *)displacements),
        cmocka_unit_test_prestate(test_event_chain, (void *)reflections),
        cmocka_unit_test_prestate(test_plain, (void *)displacements),
        cmocka_unit_test_prestate(test_plain, (void *)reflections),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_two_npt),
        cmocka_unit_test(test_two_boxes),
        cmocka_unit_test(test_npt),
        cmocka_unit_test(test_budget)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
