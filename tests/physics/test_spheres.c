/*
 * Hard spheres against what is known (data/reference/hard_spheres.md): two spheres exactly, the
 * fluid's equation of state with its correction for N, and plain serial Monte Carlo in doubles.
 *
 * Error budget, set before the first run: |z| < 4.2 for each comparison (two-sided normal tails of
 * 2.7e-5 each). Fixed seeds: never retried. With $ERGOCL_TEST_FULL ten times as long.
 */
#include <math.h>

#include "oracle/spheres_serial.h"
#include "oracle/xoshiro.h"
#include "physics/run_physics.h"
#include "stats/stats.h"

#include "context.h"

#define Z_MAX 4.2
static const double pi = 3.14159265358979323846;

static void compare(const char *what, double mean, double error, double known, double known_error) {
    const double z = (mean - known) / hypot(error, known_error);
    print_message("%-36s %.6g(%.2g), known %.6g(%.2g), z = %+.2f\n", what, mean, error, known,
                  known_error, z);
    if (!(fabs(z) < Z_MAX))
        fail_msg("%s: z = %.2f", what, z);
}

/* 32 spheres on every other site of a cubic lattice: fcc. */
static void lattice(double (*at)[3], double side) {
    for (int site = 0, n = 0; site < 64; site++) {
        const int place[3] = {site % 4, site / 4 % 4, site / 16};
        if ((place[0] + place[1] + place[2]) % 2)
            continue;
        for (int k = 0; k < 3; k++)
            at[n][k] = place[k] * side / 4;
        n++;
    }
}

/* Point i of a curve, the mean over replicas. */
static void curve_value(const cJSON *tree, int replicas, const char *name, int i, double *mean,
                        double *error) {
    *mean = *error = 0;
    for (int r = 0; r < replicas; r++) {
        const cJSON *curve = cJSON_GetObjectItem(
            cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "points"), r),
                                "curves"),
            name);
        *mean += cJSON_GetNumberValue(cJSON_GetArrayItem(cJSON_GetObjectItem(curve, "mean"), i)) /
                 replicas;
        *error =
            hypot(*error,
                  cJSON_GetNumberValue(cJSON_GetArrayItem(cJSON_GetObjectItem(curve, "error"), i)) /
                      replicas);
    }
}

static const char *length(const char *brief, const char *full) {
    return getenv("ERGOCL_TEST_FULL") ? full : brief;
}

static void test_two(void **state) {
    static const double boxes[][3] = {{2, 2.4, 2.8}, {4, 4.5, 2.1}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char job[1000];
        double mean, error;
        snprintf(
            job, sizeof job,
            "{'sampler': 'hard-spheres', 'seed': '11', 'replicas': 8, 'system': {'n': 2, 'box': "
            "[%g, %g, %g]}, 'run': {'equilibration': 50, 'sweeps': %s, 'measure_every': 3, "
            "'contact_range': 0.1, 'contact_bin': 0.005, 'contact_degree': 1, 'gr_max': 0}, "
            "'output': {'snapshots': 0}}",
            boxes[i][0], boxes[i][1], boxes[i][2], length("3000", "100000"));
        cJSON *tree = physics_run(ctx, job, "two");
        physics_value(tree, 0, 8, "compressibility_factor", &mean, &error);
        const double volume = boxes[i][0] * boxes[i][1] * boxes[i][2];
        compare("two spheres", mean, error, 1 + 2 * pi / 3 / (volume - 4 * pi / 3), 0);
        cJSON_Delete(tree);
    }
}

/* Two spheres at constant pressure, P = 0.15: the weight of a box is V (V - 4 pi / 3) exp(-beta P
 * V), between the sides that two cells allow, 2 to sqrt(8). Over V, where all sides change
 * together; where they change one by one, over each of them, with one V less: a step in ln V has
 * the Jacobian V, and one of each side's logarithm Lx Ly Lz = V, while the measure is dV and dLx
 * dLy dLz. */
static double weight_of(double v) {
    return v * (v - 4 * pi / 3) * exp(-0.15 * v);
}

static double density_by_volume(void) {
    enum { GRID = 100000 };
    double weight = 0, density = 0;
    for (int i = 0; i < GRID; i++) {
        const double v = 8 + (22.627417 - 8) * (i + 0.5) / GRID;
        weight += weight_of(v);
        density += weight_of(v) * 2 / v;
    }
    return density / weight;
}

static double density_by_sides(void) {
    enum { GRID = 100 };
    double weight = 0, density = 0;
    for (int i = 0; i < GRID * GRID * GRID; i++) {
        double v = 1;
        for (int k = 0, rest = i; k < 3; k++, rest /= GRID)
            v *= 2 + (sqrt(8) - 2) * (rest % GRID + 0.5) / GRID;
        weight += weight_of(v);
        density += weight_of(v) * 2 / v;
    }
    return density / weight;
}

static void test_two_npt(void **state) {
    double mean, error;
    char job[1000];
    (void)state;
    for (int sides = 0; sides < 2; sides++) {
        snprintf(job, sizeof job,
                 "{'sampler': 'hard-spheres', 'seed': '14', 'replicas': 8, 'system': {'n': 2, "
                 "'box': [2.3, 2.3, 2.3], 'ensemble': 'npt', 'pressure': 0.15, "
                 "'max_volume_change': 0.4, 'max_displacement': 0.4%s}, 'run': {'equilibration': "
                 "50, 'sweeps': %s, 'measure_every': 3}, 'output': {'snapshots': 0}}",
                 sides ? ", 'volume_moves': 'per-axis'" : "", length("3000", "100000"));
        cJSON *tree = physics_run(ctx, job, "two, npt");
        physics_value(tree, 0, 8, "density", &mean, &error);
        compare("two spheres, npt: density", mean, error,
                sides ? density_by_sides() : density_by_volume(), 0);
        cJSON_Delete(tree);
    }
}

/* Two spheres between walls 1.9 apart, in gravity g: the weight of heights z1, z2 over the lowest
 * place is exp(-g (z1 + z2)) (A - pi (1 - (z1 - z2)^2)), where the box is so wide that a sphere
 * meets one image alone. Densities at the walls, which the contact theorem takes for pressures, the
 * energy, and densities in each third of the heights. */
static void two_in_gravity(double g, double area, double *low, double *high, double *energy,
                           double thirds[3]) {
    enum { GRID = 999 };
    const double free = 0.9, width = free / GRID;
    double all = 0, height = 0, ends[2] = {0, 0}, parts[3] = {0, 0, 0};
    for (int i = 0; i < GRID; i++) {
        const double z = (i + 0.5) * width;
        for (int j = 0; j < GRID; j++) {
            const double other = (j + 0.5) * width;
            const double weight =
                exp(-g * (z + other)) * (area - pi * (1 - (z - other) * (z - other)));
            all += weight * width * width;
            height += weight * width * width * z;
            parts[3 * i / GRID] += weight * width * width;
        }
        ends[0] += exp(-g * z) * (area - pi * (1 - z * z)) * width;
        ends[1] += exp(-g * (z + free)) * (area - pi * (1 - (free - z) * (free - z))) * width;
    }
    *low = 2 * ends[0] / all / area;
    *high = 2 * ends[1] / all / area;
    *energy = g * (height / all + 0.5);
    for (int k = 0; k < 3; k++)
        thirds[k] = 2 * parts[k] / all / (area * free / 3);
}

static void test_two_in_gravity(void **state) {
    double mean, error, low, high, energy, thirds[3];
    char job[1000];
    (void)state;
    snprintf(
        job, sizeof job,
        "{'sampler': 'hard-spheres', 'seed': '16', 'replicas': 8, 'system': {'n': 2, 'box': "
        "[2.2, 2.2, 1.9], 'walls': 'z', 'gravity': 1.5, 'max_displacement': 0.4}, 'run': "
        "{'equilibration': 50, 'sweeps': %s, 'measure_every': 2, 'contact_range': 0.4, "
        "'contact_bin': 0.02, 'contact_degree': 2, 'profile_bins': 3}, 'output': {'snapshots': 0}}",
        length("4000", "200000"));
    cJSON *tree = physics_run(ctx, job, "two, gravity");
    two_in_gravity(1.5, 2.2 * 2.2, &low, &high, &energy, thirds);
    physics_value(tree, 0, 8, "wall_pressure_low", &mean, &error);
    compare("two spheres, lower wall", mean, error, low, 0);
    physics_value(tree, 0, 8, "wall_pressure_high", &mean, &error);
    compare("two spheres, upper wall", mean, error, high, 0);
    physics_value(tree, 0, 8, "field_energy", &mean, &error);
    compare("two spheres, energy in the field", mean, error, energy, 0);
    for (int i = 0; i < 3; i++) {
        curve_value(tree, 8, "profile", i, &mean, &error);
        compare("two spheres, third of the heights", mean, error, thirds[i], 0);
    }
    cJSON_Delete(tree);
}

/* eta Z of the fluid: Kolafa, Labik, Malijevsky 2004. */
static double fluid(double eta) {
    const double x = eta / (1 - eta);
    return eta * (1 + 4 * x + 6 * x * x + 2.3647684 * pow(x, 3) - 0.8698551 * pow(x, 4) +
                  1.1062803 * pow(x, 5) - 1.1014221 * pow(x, 6) + 0.66605866 * pow(x, 7) -
                  0.03633431 * pow(x, 8) - 0.20965164 * pow(x, 10) + 0.10555569 * pow(x, 14) -
                  0.00872380 * pow(x, 22));
}

/* Z of N spheres. */
static double fluid_of(double eta, double n) {
    const double h = 1e-4;
    const double first = (fluid(eta + h) - fluid(eta - h)) / (2 * h);
    const double second = (fluid(eta + h) - 2 * fluid(eta) + fluid(eta - h)) / (h * h);
    return fluid(eta) / eta - eta * second / (2 * n * first);
}

/* ---- order ------------------------------------------------------------------------------------
 */

/* The integral of 4 pi r f(r) sin(k r) / k from a to b, by Simpson's rule. */
static double sine_transform(double (*f)(double, const double *), const double *p, double k,
                             double a, double b) {
    enum { STEPS = 400 };
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double r = a + (b - a) * i / STEPS;
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * f(r, p) * r * sin(k * r);
    }
    return 4 * pi / k * sum * (b - a) / (3 * STEPS);
}

/* -c(r) of Percus and Yevick inside of the core (M. S. Wertheim, Phys. Rev. Lett. 10, 321 (1963)),
 * and its g(r) next to contact. p: packing fraction, sigma, and of the tail height and slope. */
static double core(double r, const double *p) {
    const double all = pow((1 + 2 * p[0]) / pow(1 - p[0], 2), 2);
    const double half = pow((1 + p[0] / 2) / pow(1 - p[0], 2), 2);
    return all - 6 * p[0] * half * r + p[0] / 2 * all * r * r * r;
}

static double contact(double r, const double *p) {
    return (1 + p[0] / 2) / pow(1 - p[0], 2) -
           4.5 * p[0] * (1 + p[0]) / pow(1 - p[0], 3) * (r / p[1] - 1);
}

static double tail(double r, const double *p) {
    return p[2] / r * exp(-p[3] * (r - 1)) * cos(p[3] * (r - 1));
}

/* S(k) of L. Verlet and J.-J. Weis, Phys. Rev. A 5, 939 (1972): that of Percus and Yevick of
 * smaller spheres, whose g(r) is 0 up to contact and has a tail there. */
static double structure_of(double k, double eta) {
    const double small = eta - eta * eta / 16, size = cbrt(small / eta);
    double p[4] = {small, size, 0, 0};
    p[2] = 0.75 * small * small * (1 - 0.7117 * small - 0.114 * small * small) / pow(1 - small, 4);
    p[3] = 24 * p[2] / (small * contact(size, p));
    return 1 / (1 + 6 * small / pi * sine_transform(core, p, k * size, 0, 1)) +
           6 * eta / pi *
               (sine_transform(tail, p, k, 1, 1 + 20 / p[3]) -
                sine_transform(contact, p, k, size, 1));
}

/* Its mean over the vectors of a cubic box in the shell around k. */
static double shell_of(double k, double wave, double side, double eta) {
    enum { MOST = 20, LONGEST = 1000 };
    static double value[LONGEST];
    double sum = 0, count = 0;
    memset(value, 0, sizeof value);
    for (int i = 0, m = 2 * MOST + 1; i < m * m * m; i++) {
        const int h[3] = {i % m - MOST, i / m % m - MOST, i / m / m - MOST};
        const int square = h[0] * h[0] + h[1] * h[1] + h[2] * h[2];
        const double q = 2 * pi / side * sqrt(square);
        if (!square || square >= LONGEST || fabs(q - k) >= 0.5 * wave)
            continue;
        if (value[square] == 0)
            value[square] = structure_of(q, eta);
        sum += value[square];
        count++;
    }
    return sum / count;
}

/* S(k) of the fluid; Verlet and Weis are right to 0.003 at these densities. */
static void compare_structure(const cJSON *tree, double eta, size_t point, double n) {
    const cJSON *points = cJSON_GetObjectItem(tree, "points"), *pair[2];
    for (int r = 0; r < 2; r++)
        pair[r] = cJSON_GetObjectItem(
            cJSON_GetObjectItem(cJSON_GetArrayItem(points, (int)(2 * point) + r), "curves"), "sk");
    const int size = cJSON_GetArraySize(cJSON_GetObjectItem(pair[0], "x"));
    const double wave = 10.0 / size;
    assert_int_equal(size, 8);
    for (int i = 0; i < size; i++) {
        double mean = 0, error = 0;
        char what[60];
        for (int r = 0; r < 2; r++) {
            mean += 0.5 * cJSON_GetNumberValue(
                              cJSON_GetArrayItem(cJSON_GetObjectItem(pair[r], "mean"), i));
            error = hypot(error, 0.5 * cJSON_GetNumberValue(cJSON_GetArrayItem(
                                           cJSON_GetObjectItem(pair[r], "error"), i)));
        }
        snprintf(what, sizeof what, "S(%.4g) at eta %g", wave * (i + 1), eta);
        compare(what, mean, error, shell_of(wave * (i + 1), wave, cbrt(n * pi / 6 / eta), eta),
                0.003);
    }
}

/* Spheres that stay at the sites of fcc while the sides of their box change one by one. */
static cJSON *crystal_run(int equilibration, int sweeps, int measure_every, int order_every) {
    char job[1000];
    snprintf(job, sizeof job,
             "{'sampler': 'hard-spheres', 'seed': '18', 'system': {'n': 32, 'box': [7, 7.1, 7.2], "
             "'ensemble': 'npt', 'pressure': 0.1, 'volume_moves': 'per-axis', 'volume_every': 1, "
             "'max_volume_change': 0.2, 'max_displacement': 1e-6}, 'run': {'equilibration': %d, "
             "'sweeps': %d, 'measure_every': %d, 'order_every': %d}, 'output': {'snapshots': 0}}",
             equilibration, sweeps, measure_every, order_every);
    return physics_run(ctx, job, "crystal");
}

/* Spheres that stay at the sites of fcc, in a box whose sides change one by one: Q_6 of its bonds
 * by P_6 of their angles, and S = N at (111) or (200). */
static void test_crystal(void **state) {
    double density, aspect[2], q6, local, solid, peak, k0, none, expected = 0, wave[4] = {0};
    (void)state;
    cJSON *tree = crystal_run(40, 4, 4, 5);
    physics_value(tree, 0, 1, "density", &density, &none);
    physics_value(tree, 0, 1, "aspect_ratio_y", &aspect[0], &none);
    physics_value(tree, 0, 1, "aspect_ratio_z", &aspect[1], &none);
    physics_value(tree, 0, 1, "q6", &q6, &none);
    physics_value(tree, 0, 1, "q6_local", &local, &none);
    physics_value(tree, 0, 1, "solid_fraction", &solid, &none);
    physics_value(tree, 0, 1, "structure_peak", &peak, &none);
    physics_value(tree, 0, 1, "structure_peak_k", &k0, &none);
    cJSON_Delete(tree);
    const double lx = cbrt(32 / (density * aspect[0] * aspect[1]));
    const double side[3] = {lx, lx * aspect[0], lx * aspect[1]};
    assert_true(fabs(side[0] - 7) > 0.1 && fabs(side[1] - 7.1) > 0.1 && fabs(side[2] - 7.2) > 0.1);
    for (int pair = 0; pair < 144; pair++) {
        double d[2][3], product = 0, square[2] = {0, 0};
        for (int b = 0; b < 2; b++) {
            const int bond = b ? pair % 12 : pair / 12, zero = bond / 4;
            for (int k = 0, sign = bond % 4; k < 3; k++) {
                d[b][k] = k == zero ? 0 : side[k] * (sign % 2 ? 1 : -1);
                sign = k == zero ? sign : sign / 2;
                square[b] += d[b][k] * d[b][k];
            }
        }
        for (int k = 0; k < 3; k++)
            product += d[0][k] * d[1][k];
        const double z2 = product * product / (square[0] * square[1]);
        expected += (((231 * z2 - 315) * z2 + 105) * z2 - 5) / 16 / 144;
    }
    for (int k = 0; k < 3; k++) {
        wave[3] += pow(4 * pi / side[k], 2);
        wave[k] = 8 * pi / side[k];
    }
    wave[3] = sqrt(wave[3]);
    print_message("Q_6 %.6f, P_6 of bonds says %.6f; k_0 %.6f\n", q6, sqrt(expected), k0);
    assert_true(fabs(q6 - sqrt(expected)) < 1e-4 && fabs(local - q6) < 1e-4 && solid == 1);
    assert_true(fabs(peak - 32) < 1e-3);
    for (int k = 0; k < 4; k++)
        wave[k] = fabs(wave[k] - k0);
    assert_true(fmin(fmin(wave[0], wave[1]), fmin(wave[2], wave[3])) < 1e-6);
}

/* Samples 15 and 16 of a block, both, the second and the first alone: each by the box that it had.
 */
static void test_boxes_of_samples(void **state) {
    double k0[3], none;
    (void)state;
    for (int every = 1; every <= 3; every++) {
        cJSON *tree = crystal_run(15, 2, 1, every);
        physics_value(tree, 0, 1, "structure_peak_k", &k0[every - 1], &none);
        cJSON_Delete(tree);
    }
    print_message("k_0 %.6f, %.6f, mean %.6f\n", k0[2], k0[1], k0[0]);
    assert_true(fabs(k0[1] - k0[2]) > 1e-4);
    assert_true(fabs(0.5 * (k0[1] + k0[2]) - k0[0]) < 1e-9);
}

static void test_fluid(void **state) {
    static const double etas[] = {0.1, 0.3, 0.4, 0.45};
    char job[1000], what[60];
    (void)state;
    assert_true(fabs(fluid(0.49) / 0.49 - 12.170358) < 1e-6);
    snprintf(
        job, sizeof job,
        "{'sampler': 'hard-spheres', 'seed': '12', 'replicas': 2, 'system': {'n': 240, "
        "'packing_fraction': 0.1}, 'scan': {'/system/packing_fraction': [0.1, 0.3, 0.4, 0.45]}, "
        "'run': {'equilibration': 400, 'sweeps': %s, 'measure_every': 4, 'contact_range': 0.1, "
        "'contact_bin': 0.0005, 'gr_max': 0, 'order_every': 15}, 'output': {'snapshots': 0}}",
        length("1500", "15000"));
    cJSON *tree = physics_run(ctx, job, "fluid");
    for (size_t i = 0; i < 4; i++) {
        double mean, error;
        physics_value(tree, i, 2, "compressibility_factor", &mean, &error);
        snprintf(what, sizeof what, "240 spheres, eta %g", etas[i]);
        compare(what, mean, error, fluid_of(etas[i], 240), 0);
        if (i < 2)
            compare_structure(tree, etas[i], i, 240);
    }
    cJSON_Delete(tree);
}

/* A slit: the pressure on its walls is that of the fluid at the density in the middle (contact
 * theorem), where the walls are far apart; and both walls together carry the weight of all spheres.
 */
static void test_walls(void **state) {
    double low, high, error[3], centre;
    char job[1000];
    const bool full = getenv("ERGOCL_TEST_FULL") != NULL;
    (void)state;
    snprintf(
        job, sizeof job,
        "{'sampler': 'hard-spheres', 'seed': '17', 'replicas': 2, 'system': {'n': %s, 'walls': "
        "'z', 'max_displacement': 0.2%s}, 'run': {'equilibration': %s, 'sweeps': %s, "
        "'measure_every': 2, 'contact_range': 0.1, 'contact_bin': 0.005}, 'output': "
        "{'snapshots': 0}}",
        full ? "1000, 'box': [10, 10, 20]" : "60, 'box': [4.4, 4.4, 6.5]",
        full ? "" : ", 'gravity': 0.7", full ? "2000" : "300", full ? "20000" : "6000");
    cJSON *tree = physics_run(ctx, job, "walls");
    physics_value(tree, 0, 2, "wall_pressure_low", &low, &error[0]);
    physics_value(tree, 0, 2, "wall_pressure_high", &high, &error[1]);
    if (!full) {
        compare("weight on both walls", low - high, hypot(error[0], error[1]),
                0.7 * 60 / (4.4 * 4.4), 0);
    } else {
        physics_value(tree, 0, 2, "central_density", &centre, &error[2]);
        const double eta = pi / 6 * centre, h = 1e-4;
        const double slope = (fluid(eta + h) - fluid(eta - h)) / (2 * h);
        compare("pressure on the walls", 0.5 * (low + high), 0.5 * hypot(error[0], error[1]),
                fluid(eta) * 6 / pi, slope * error[2]);
    }
    cJSON_Delete(tree);
}

/* Constant pressure against constant volume and the serial program: 32 spheres at the same beta P.
 */
static void test_npt(void **state) {
    enum { N = 32, BLOCKS = 20 };
    const size_t sweeps = getenv("ERGOCL_TEST_FULL") ? 5000 : 400;
    char job[1000];
    double at[N][3], mean, error, sum = 0, square = 0;
    struct ergo_oracle_balls balls = {.n = N, .side = {4.4, 4.4, 4.4}, .step = 0.35, .at = at};
    (void)state;
    lattice(at, 4.4);
    ergo_oracle_xoshiro_seed(balls.random, 6);
    for (size_t b = 0; b <= BLOCKS; b++) { /* the first one equilibrates */
        double density = 0;
        for (size_t t = 0; t < sweeps; t++) {
            ergo_oracle_balls_sweep(&balls);
            ergo_oracle_balls_volume(&balls, 1.2, 0.08);
            density += N / (balls.side[0] * balls.side[1] * balls.side[2]) / (double)sweeps;
        }
        sum += b ? density : 0;
        square += b ? density * density : 0;
    }
    snprintf(job, sizeof job,
             "{'sampler': 'hard-spheres', 'seed': '15', 'replicas': 2, 'system': {'n': %d, 'box': "
             "[4.6, 4.6, 4.6], 'ensemble': 'npt', 'pressure': 1.2, 'max_volume_change': 0.08, "
             "'max_displacement': 0.25}, 'run': {'equilibration': 300, 'sweeps': %s, "
             "'measure_every': 3}, 'output': {'snapshots': 0}}",
             N, length("12000", "100000"));
    cJSON *tree = physics_run(ctx, job, "npt");
    physics_value(tree, 0, 2, "density", &mean, &error);
    const double plain = sum / BLOCKS;
    compare("32 spheres, npt: density", mean, error, plain,
            sqrt((square / BLOCKS - plain * plain) / (BLOCKS - 1)));
    cJSON_Delete(tree);
}

/* The contact histogram of a small system, bin by bin, where no equation of state helps. */
static void test_plain(void **state) {
    enum { N = 32, BINS = 5, BLOCKS = 40 };
    static const double side = 4.1, range = 0.25;
    const size_t sweeps = getenv("ERGOCL_TEST_FULL") ? 5000 : 250;
    char job[1000];
    double at[N][3], sum[BINS] = {0}, square[BINS] = {0};
    struct ergo_oracle_balls balls = {.n = N, .side = {side, side, side}, .step = 0.3, .at = at};
    (void)state;
    lattice(at, side);
    ergo_oracle_xoshiro_seed(balls.random, 5);
    for (size_t b = 0; b <= BLOCKS; b++) { /* the first one equilibrates */
        uint64_t counts[BINS] = {0};
        for (size_t t = 0; t < sweeps; t++) {
            ergo_oracle_balls_sweep(&balls);
            ergo_oracle_balls_contacts(&balls, range, BINS, counts);
        }
        for (size_t i = 0; i < BINS && b; i++) {
            const double a = 1 + range * (double)i / BINS, c = 1 + range * (double)(i + 1) / BINS;
            const double g = 2.0 * (double)counts[i] / (double)sweeps /
                             (N * (N - 1) / pow(side, 3) * 4 / 3 * pi * (c * c * c - a * a * a));
            sum[i] += g;
            square[i] += g * g;
        }
    }
    snprintf(job, sizeof job,
             "{'sampler': 'hard-spheres', 'seed': '13', 'replicas': 4, 'system': {'n': %d, 'box': "
             "[%g, %g, %g], 'max_displacement': 0.2}, 'run': {'equilibration': 200, 'sweeps': %s, "
             "'measure_every': 4, 'contact_range': %g, 'contact_bin': %g, 'contact_degree': 3, "
             "'gr_max': 0}, 'output': {'snapshots': 0}}",
             N, side, side, side, length("4000", "40000"), range, range / BINS);
    cJSON *tree = physics_run(ctx, job, "plain");
    for (int i = 0; i < BINS; i++) {
        double mean, error;
        char what[60];
        curve_value(tree, 4, "contact", i, &mean, &error);
        const double plain = sum[i] / BLOCKS;
        snprintf(what, sizeof what, "32 spheres, bin %d of g(r)", i);
        compare(what, mean, error, plain,
                sqrt((square[i] / BLOCKS - plain * plain) / (BLOCKS - 1)));
    }
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_two_npt),
        cmocka_unit_test(test_fluid),
        cmocka_unit_test(test_two_in_gravity),
        cmocka_unit_test(test_walls),
        cmocka_unit_test(test_npt),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_crystal),
        cmocka_unit_test(test_boxes_of_samples),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
