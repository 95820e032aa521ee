/*
 * Cluster updates on cubic, triangular and honeycomb lattices, and Wolff's, through the public API
 * against all states of tiny lattices (tests/oracle/sites_serial.h).
 *
 * Error budget, set before the first run. Seeds are fixed, nothing is retried. Replicas of a point
 * are averaged; of each such mean |z| < 4.6 (4e-6), at most 160 of them: 7e-4.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "oracle/sites_serial.h"
#include "physics/run_physics.h"
#include "samplers/swendsen_wang/sw.h"

enum { REPLICAS = 16 };
static const double z_max = 4.6;
static struct ergo_context *ctx;

static void compare(const cJSON *tree, const char *what, const char *name, double expected) {
    double mean = 0, variance = 0;
    for (int r = 0; r < REPLICAS; r++) {
        const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "points"), r);
        const cJSON *o = cJSON_GetObjectItem(cJSON_GetObjectItem(point, "observables"), name);
        const cJSON *error = cJSON_GetObjectItem(o, "error");
        assert_true(cJSON_IsNumber(error));
        mean += cJSON_GetObjectItem(o, "mean")->valuedouble / REPLICAS;
        variance += error->valuedouble * error->valuedouble / REPLICAS / REPLICAS;
    }
    const double z = (mean - expected) / sqrt(variance);
    print_message("  %-26s %-17s %.6f(%.6f), exact %.6f: z = %+.2f\n", what, name, mean,
                  sqrt(variance), expected, z);
    if (!(fabs(z) < z_max))
        fail_msg("%s: z of %s is %.2f", what, name, z);
}

/* Where a site is, so that bonds have the length 1. */
static void place(const struct sites_oracle *o, int i, double at[3]) {
    const int x = i % o->l[0], y = i / o->l[0] % o->l[1], z = i / o->l[0] / o->l[1];
    at[0] = x;
    at[1] = y;
    at[2] = z;
    if (o->lattice == SITES_TRIANGULAR) {
        at[0] = x - y / 2.0;
        at[1] = y * sqrt(3) / 2;
    } else if (o->lattice == SITES_HONEYCOMB) {
        at[0] = x * sqrt(3) / 2;
        at[1] = 1.5 * y + ((x + y) % 2 ? -0.25 : 0.25);
    }
}

/* Second moment, along the last side. */
static double length_of(const struct sites_oracle *o, const struct sites_exact *x) {
    const int last = o->l[2] > 1 ? 2 : 1, side = o->l[last], layer = o->sites / side;
    double first[3], next[3];
    int inside = 0;
    for (int k = 0; k < o->n_bonds; k++) {
        const int a = o->bonds[k].a, b = o->bonds[k].b;
        double squares = 0;
        place(o, a, first);
        place(o, b, next);
        for (int d = 0; d < 3; d++)
            squares += (next[d] - first[d]) * (next[d] - first[d]);
        if (b > a && b % o->l[0] >= a % o->l[0] && b % o->l[0] <= a % o->l[0] + 1 &&
            b / o->l[0] % o->l[1] <= a / o->l[0] % o->l[1] + 1 && b / layer <= a / layer + 1) {
            assert_float_equal(squares, 1, 1e-12); /* it closes around no edge */
            inside++;
        }
    }
    assert_true(inside > 0);
    /* a site of the same kind in the next row, and its height over this one */
    const int rows = o->lattice == SITES_HONEYCOMB ? 1 : side > 1;
    const int twin = layer * rows + (o->lattice == SITES_HONEYCOMB ? 1 : 0);
    place(o, 0, first);
    place(o, twin, next);
    const double apart = (next[last] - first[last]) / rows;
    return sqrt(o->sites * x->psi2 / x->structure - 1) * apart / (2 * sin(acos(-1) / side));
}

/* psi4 of clusters and pairs in clusters are of sweeps alone. */
static void check(const char *what, struct sites_oracle o, const char *system, bool wolff,
                  int sweeps) {
    const bool long_sides = o.l[0] >= 4 && o.l[1] >= 4;
    const bool closed = !o.open[0] && !o.open[1] && !o.open[2];
    const bool anti = o.anti[0] || o.anti[1] || o.anti[2], waved = closed && !anti && !wolff;
    char job[600];
    assert_true(sites_oracle_init(&o));
    const struct sites_exact x = sites_oracle_enumerate(&o);
    snprintf(job, sizeof job,
             "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': %d, 'system': {%s, 'q': %d, "
             "'temperature': %.9g%s}, 'run': {'equilibration': 50, 'sweeps': %d%s}, 'output': "
             "{'snapshots': 0}}",
             REPLICAS, system, o.q, o.t, wolff ? ", 'update': 'wolff'" : "", sweeps,
             waved ? ", 'correlations': true" : "");
    cJSON *tree = physics_run(ctx, job, what);
    const struct {
        const char *name;
        double value;
    } all[] = {{"energy", x.energy},
               {"heat_capacity", x.heat_capacity},
               {"order_parameter", x.m},
               {"order_parameter2", x.m2},
               {"order_parameter4", x.m4},
               {"psi2_plain", x.psi2},
               {"psi2", x.psi2},
               {"psi4_plain", x.psi4},
               {"psi4", x.psi4},
               {"correlation_half", x.half},
               {"correlation_quarter", x.quarter}};
    for (size_t k = 0; k < sizeof all / sizeof all[0] - (wolff ? 3 : long_sides ? 0 : 1); k++)
        if (k < (anti ? 6 : closed ? 11 : 9))
            compare(tree, what, all[k].name, all[k].value);
    if (waved)
        compare(tree, what, "correlation_length", length_of(&o, &x));
    cJSON_Delete(tree);
    sites_oracle_free(&o);
}

static void test_cubic(void **unused) {
    (void)unused;
    check("2 x 2 x 2, q = 3", (struct sites_oracle){.l = {2, 2, 2}, .q = 3, .j = 1, .t = 2.2},
          "'size': [2, 2, 2]", false, 2500);
    check("2 x 2 x 3, q = 2", (struct sites_oracle){.l = {2, 2, 3}, .q = 2, .j = 1, .t = 2.3},
          "'size': [2, 2, 3]", false, 2500);
}

/* Do means of replicas spread as their errors say? chi^2 of 15 degrees of freedom: beyond these
 * with a chance of 1e-4 each. */
static void spread(const cJSON *tree, const char *what, const char *name) {
    double mean = 0, chi2 = 0, values[REPLICAS], errors[REPLICAS];
    for (int r = 0; r < REPLICAS; r++) {
        const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "points"), r);
        const cJSON *o = cJSON_GetObjectItem(cJSON_GetObjectItem(point, "observables"), name);
        values[r] = cJSON_GetObjectItem(o, "mean")->valuedouble;
        errors[r] = cJSON_GetObjectItem(o, "error")->valuedouble;
        mean += values[r] / REPLICAS;
    }
    for (int r = 0; r < REPLICAS; r++)
        chi2 += (values[r] - mean) * (values[r] - mean) / (errors[r] * errors[r]);
    print_message("  %-26s %-17s chi^2 of %d means: %.1f\n", what, name, REPLICAS, chi2);
    if (!(chi2 > 2.7 && chi2 < 44.3))
        fail_msg("%s: chi^2 of %s is %.1f", what, name, chi2);
}

/* Correlations on square lattices (/run/correlations), by clusters. */
static void correlations(const char *what, struct sites_oracle o, int path) {
    char job[600];
    assert_true(sites_oracle_init(&o));
    const struct sites_exact x = sites_oracle_enumerate(&o);
    snprintf(job, sizeof job,
             "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': %d, 'system': {'size': [%d, "
             "%d], 'q': %d, 'temperature': %.9g}, 'run': {'equilibration': 50, 'sweeps': 6000, "
             "'measure_every': 3, 'correlations': true}, 'tuning': {'path': %d}, 'output': "
             "{'snapshots': 0}}",
             REPLICAS, o.l[0], o.l[1], o.q, o.t, path);
    cJSON *tree = physics_run(ctx, job, what);
    const struct {
        const char *name;
        double value;
    } all[] = {{"energy", x.energy},
               {"psi2", x.psi2},
               {"correlation_half", x.half},
               {"correlation_length", length_of(&o, &x)},
               {"correlation_quarter", x.quarter},
               {"correlation_ratio", x.half / x.quarter}};
    for (size_t k = 0; k < (o.l[0] < 4 || o.l[1] < 4 ? 4 : 6); k++) {
        compare(tree, what, all[k].name, all[k].value);
        if (k >= 2)
            spread(tree, what, all[k].name);
    }
    cJSON_Delete(tree);
    sites_oracle_free(&o);
}

static void test_correlations(void **unused) {
    (void)unused;
    correlations("square 4 x 4, q = 2",
                 (struct sites_oracle){.l = {4, 4, 1}, .q = 2, .j = 1, .t = 1.2}, 0);
    correlations("square 3 x 5, q = 2",
                 (struct sites_oracle){.l = {3, 5, 1}, .q = 2, .j = 1, .t = 1.4}, 2);
}

/* That of the latest sweep's clusters: squares of their sums of cos and sin, over N. */
static double structure_of_clusters(const struct sites_oracle *o) {
    const uint32_t side = (uint32_t)o->l[1];
    double sum = 0;
    for (uint32_t wave = 0; wave < 2; wave++) {
        int64_t of[256] = {0};
        assert_in_range(o->sites, 1, 256);
        for (int i = 0; i < o->sites; i++)
            of[o->cluster[i]] += sw_wave_weight((uint32_t)(i / o->l[0]), side, wave);
        for (int i = 0; i < o->sites; i++)
            sum += (double)of[i] * (double)of[i];
    }
    return sum * 0x1p-30 / o->sites;
}

/* Estimators by clusters and by spins have the same mean, and the former the smaller variance: of
 * the oracle's, sweep by sweep above T_c. */
static void test_variance(void **unused) {
    enum { SIDE = 16, SWEEPS = 4000, BLOCK = 40 };
    double sums[2][2] = {{0}}, blocks[2] = {0}, gain = 0, block = 0;
    struct sites_oracle o = {.l = {SIDE, SIDE, 1}, .q = 2, .j = 1, .t = 1.3, .stream = 5};
    (void)unused;
    assert_true(sites_oracle_init(&o));
    sites_oracle_start(&o);
    for (uint64_t step = 0; step < SWEEPS; step++) {
        sites_oracle_sweep(&o, step);
        const double values[2] = {structure_of_clusters(&o), sites_oracle_structure(&o, o.spins)};
        for (int k = 0; k < 2; k++) {
            sums[k][0] += values[k] / SWEEPS;
            sums[k][1] += values[k] * values[k] / SWEEPS;
        }
        block += (values[0] - values[1]) / BLOCK;
        if (step % BLOCK == BLOCK - 1) {
            blocks[0] += block;
            blocks[1] += block * block;
            block = 0;
        }
    }
    const double n = SWEEPS / BLOCK, mean = blocks[0] / n;
    const double z = mean / sqrt((blocks[1] / n - mean * mean) / (n - 1));
    gain = (sums[1][1] - sums[1][0] * sums[1][0]) / (sums[0][1] - sums[0][0] * sums[0][0]);
    print_message("  S(k) of clusters %.4f, of spins %.4f, z = %+.2f; variance %.1f times less\n",
                  sums[0][0], sums[1][0], z, gain);
    assert_true(fabs(z) < z_max);
    assert_true(gain > 2);
    sites_oracle_free(&o);
}

static void test_plane(void **unused) {
    (void)unused;
    check("triangular 4 x 4, q = 2",
          (struct sites_oracle){
              .l = {4, 4, 1}, .lattice = SITES_TRIANGULAR, .q = 2, .j = 1, .t = 2.0},
          "'size': [4, 4], 'lattice': 'triangular'", false, 1200);
    check(
        "honeycomb 4 x 2, q = 3",
        (struct sites_oracle){.l = {4, 2, 1}, .lattice = SITES_HONEYCOMB, .q = 3, .j = 1, .t = 0.7},
        "'size': [4, 2], 'lattice': 'honeycomb'", false, 2500);
}

/* Unit vectors on 2 x 2 at T = 1, and the energy; half a side away are neighbours, so G(L/2) is
 * their mean s.s'. */
static void vectors(const char *what, const char *system, double energy, double half) {
    char job[600];
    snprintf(job, sizeof job,
             "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': %d, 'system': {%s, 'size': "
             "[2, 2], 'temperature': 1}, 'run': {'equilibration': 50, 'sweeps': 2500}, 'output': "
             "{'snapshots': 0}}",
             REPLICAS, system);
    cJSON *tree = physics_run(ctx, job, what);
    compare(tree, what, "energy", energy);
    if (half > 0)
        compare(tree, what, "correlation_half", half);
    cJSON_Delete(tree);
}

/* Rings of four bonds, double ones where sides are periodic: -sum I_n^3 I_n'/sum I_n^4 at J/T or 2
 * J/T, in space of spherical Bessel functions, 2 l + 1 times. Antiperiodic: along x the two bonds
 * of neighbours cancel, and pairs along y are left, -I1(2)/I0(2). */
static void test_vectors(void **unused) {
    (void)unused;
    vectors("xy", "'model': 'xy'", -2 * 0.779560922692, 0.779560922692);
    if (!getenv("ERGOCL_TEST_FULL")) /* each lattice is compiled for */
        return;
    vectors("heisenberg", "'model': 'heisenberg'", -2 * 0.605891569899, 0.605891569899);
    vectors("xy, antiperiodic", "'model': 'xy', 'boundary': ['antiperiodic', 'periodic']",
            -0.697774657964, 0);
    vectors("xy, open", "'model': 'xy', 'boundary': 'open'", -0.505196539768, 0);
}

static void test_sides(void **unused) {
    (void)unused;
    check("2 x 3 x 2 with sides, q = 2",
          (struct sites_oracle){
              .l = {2, 3, 2}, .open = {true}, .anti = {[2] = true}, .q = 2, .j = 1, .t = 2.0},
          "'size': [2, 3, 2], 'boundary': ['open', 'periodic', 'antiperiodic']", false, 2500);
    check("Wolff, 4 x 3, antiperiodic",
          (struct sites_oracle){.l = {4, 3, 1}, .anti = {true}, .q = 2, .j = 1, .t = 1.1},
          "'size': [4, 3], 'boundary': ['antiperiodic', 'periodic']", true, 4000);
    if (!getenv("ERGOCL_TEST_FULL")) /* each lattice is compiled for */
        return;
    check("open triangle, q = 3",
          (struct sites_oracle){.l = {3, 3, 1},
                                .lattice = SITES_TRIANGULAR,
                                .open = {true, true},
                                .q = 3,
                                .j = 1,
                                .t = 1.1},
          "'size': [3, 3], 'lattice': 'triangular', 'boundary': 'open'", false, 2500);
}

static void test_wolff(void **unused) {
    (void)unused;
    check("Wolff, 4 x 4, q = 2", (struct sites_oracle){.l = {4, 4, 1}, .q = 2, .j = 1, .t = 1.2},
          "'size': [4, 4]", true, 4000);
    check("Wolff, 3 x 3, q = 3", (struct sites_oracle){.l = {3, 3, 1}, .q = 3, .j = 1, .t = 1.0},
          "'size': [3, 3]", true, 4000);
    check("Wolff, 2 x 2 x 3, q = 2",
          (struct sites_oracle){.l = {2, 2, 3}, .q = 2, .j = 1, .t = 2.3}, "'size': [2, 2, 3]",
          true, 4000);
}

/* The stationary distribution of states and bond probabilities together, and what it does to means.
 * Probabilities are multiples of 1/32, to 2^-32. */
static void adapts(const char *what, struct sites_oracle o, const char *system, double share,
                   int up, int down) {
    enum { LEVELS = 32 };
    char job[600];
    assert_true(sites_oracle_init(&o));
    const struct sites_adapting x = sites_oracle_adapting(&o, LEVELS, LEVELS / 2, up, down);
    snprintf(job, sizeof job,
             "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': %d, 'system': {%s, 'q': %d, "
             "'temperature': 1.4426950408889634}, 'run': {'equilibration': 50, 'sweeps': 2500, "
             "'method': 'probability-changing', 'probability_step': 0.0625, "
             "'probability_step_first': 0.0625, 'wrapping_share': %.9g}, 'output': "
             "{'snapshots': 0}}",
             REPLICAS, system, o.q, share);
    cJSON *tree = physics_run(ctx, job, what);
    const struct {
        const char *name;
        double value;
    } all[] = {{"bond_probability", x.p},
               {"bond_probability_width", sqrt(x.p2 - x.p * x.p)},
               {"clusters", x.clusters},
               {"energy", x.energy},
               {"psi2_plain", x.psi2}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        compare(tree, what, all[k].name, all[k].value);
    cJSON_Delete(tree);
    sites_oracle_free(&o);
}

static void test_adapting(void **unused) {
    (void)unused;
    adapts("adapting, 2 x 2, q = 3", (struct sites_oracle){.l = {2, 2, 1}, .q = 3, .j = 1},
           "'size': [2, 2]", 0.5, 2, 2);
    if (!getenv("ERGOCL_TEST_FULL"))
        return;
    adapts("adapting, triangular 2 x 2",
           (struct sites_oracle){.l = {2, 2, 1}, .lattice = SITES_TRIANGULAR, .q = 2, .j = 1},
           "'size': [2, 2], 'lattice': 'triangular'", 0.75, 3, 1);
}

/* Errors know for how long p remembers: clusters that are large lower it, so that later ones are
 * smaller. The spread of 128 means is known to 6%, four of which are a quarter. Bins that are as
 * long see less than all of it: errors may be 1.5 times too large, but were 1.8 times. */
static void test_adapting_errors(void **unused) {
    static const char *const names[] = {"largest_cluster", "wrapping_x", "energy"};
    (void)unused;
    cJSON *tree = physics_run(
        ctx,
        "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': 128, 'system': {'size': [8, 8], "
        "'hamiltonian': 'ising', 'temperature': 2.4}, 'run': {'method': 'probability-changing', "
        "'probability_step': 0.002, 'equilibration': 1000, 'sweeps': 4000}, 'output': "
        "{'snapshots': 0}}",
        "adapting, errors");
    const cJSON *means = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "means"), 0);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const cJSON *o = cJSON_GetObjectItem(cJSON_GetObjectItem(means, "observables"), names[k]);
        const double ratio = sqrt(cJSON_GetObjectItem(o, "chi2")->valuedouble /
                                  cJSON_GetObjectItem(o, "dof")->valuedouble);
        print_message("  %s: scatter over error %.3f\n", names[k], ratio);
        if (!(ratio > 1 / 1.5 && ratio < 1.25))
            fail_msg("errors of %s are not those of the scatter", names[k]);
    }
    cJSON_Delete(tree);
}

/* ---- random couplings, dilution, a field ----------------------------------------------------- */

static uint64_t disorder_key(int replica) {
    char line[80];
    const int n = snprintf(line, sizeof line, "ergocl spin-glass disorder 31 %d", replica);
    return ergo_hash64(line, (size_t)n);
}

/* Each replica has its own sample: all states of each. ising: units of j and field are Ising's. */
static void random_bonds(const char *what, struct sites_oracle o, const char *system, bool wolff,
                         bool ising, int sweeps) {
    const double j = o.j, field = o.field, unit = ising ? 2 : 1;
    struct sites_exact mean = {0};
    double response = 0;
    char job[700];
    o.j *= unit;
    o.field *= unit;
    for (int r = 0; r < REPLICAS; r++) {
        double couplings = 0;
        o.disorder = disorder_key(r);
        assert_true(sites_oracle_init(&o));
        const struct sites_exact x = sites_oracle_enumerate(&o);
        const double n = o.sites;
        for (int k = 0; k < o.n_bonds; k++)
            couplings += o.bonds[k].weak ? o.ratio : 1;
        mean.energy += (x.energy - (ising ? j * couplings / n - field : 0)) / REPLICAS;
        mean.heat_capacity += x.heat_capacity / REPLICAS;
        mean.m += x.m / REPLICAS;
        mean.m2 += x.m2 / REPLICAS;
        mean.psi2 += x.psi2 / REPLICAS;
        mean.psi4 += x.psi4 / REPLICAS;
        mean.half += x.half / REPLICAS;
        mean.first += x.first / REPLICAS;
        response += n * (x.first2 - x.first * x.first) / o.t / REPLICAS;
        sites_oracle_free(&o);
    }
    int at = snprintf(job, sizeof job,
                      "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': %d, 'system': {%s, "
                      "'q': %d, 'temperature': %.9g%s",
                      REPLICAS, system, o.q, o.t, wolff ? ", 'update': 'wolff'" : "");
    if (o.fraction > 0)
        at += snprintf(job + at, sizeof job - (size_t)at,
                       ", 'disorder': 'bimodal', 'negative_fraction': %.9g, 'disorder_ratio': %.9g",
                       o.fraction, o.ratio);
    if (field > 0)
        at += snprintf(job + at, sizeof job - (size_t)at, ", 'field': %.9g", field);
    snprintf(job + at, sizeof job - (size_t)at,
             "%s}, 'run': {'equilibration': 50, 'sweeps': %d}, 'output': {'snapshots': 0}}",
             ising ? ", 'hamiltonian': 'ising'" : "", sweeps);
    cJSON *tree = physics_run(ctx, job, what);
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"energy", mean.energy},
        {"heat_capacity", mean.heat_capacity},
        {"order_parameter", mean.m},
        {"order_parameter2", mean.m2},
        {"psi2_plain", mean.psi2},
        {field > 0 ? "first_state" : "psi2", field > 0 ? mean.first : mean.psi2},
        {field > 0 ? "first_state_susceptibility" : "psi4", field > 0 ? response : mean.psi4},
        {field > 0 ? "magnetization" : "correlation_half",
         field > 0 ? (o.q * mean.first - 1) / (o.q - 1) : mean.half}};
    for (size_t k = 0; k < sizeof all / sizeof all[0] - (wolff && field == 0 ? 2 : 0); k++)
        compare(tree, what, all[k].name, all[k].value);
    cJSON_Delete(tree);
}

static void test_disorder(void **unused) {
    (void)unused;
    random_bonds("2 x 2 x 3, diluted",
                 (struct sites_oracle){
                     .l = {2, 2, 3}, .q = 2, .j = 1, .t = 1.6, .fraction = 0.3, .ratio = 0},
                 "'size': [2, 2, 3]", false, false, 2500);
    random_bonds(
        "2 x 2 x 2, two couplings, field",
        (struct sites_oracle){
            .l = {2, 2, 2}, .q = 3, .j = 1, .t = 1.7, .fraction = 0.4, .ratio = 0.35, .field = 0.2},
        "'size': [2, 2, 2]", false, false, 2500);
    random_bonds("square 4 x 3, diluted, Ising's units, field",
                 (struct sites_oracle){
                     .l = {4, 3, 1}, .q = 2, .j = 1, .t = 1.5, .fraction = 0.2, .field = 0.1},
                 "'size': [4, 3]", false, true, 2500);
    random_bonds("Wolff, 4 x 3, field",
                 (struct sites_oracle){.l = {4, 3, 1}, .q = 3, .j = 1, .t = 1.0, .field = 0.03},
                 "'size': [4, 3]", true, false, 4000);
}

/* Clocks of six hours, all states of each sample. */
static void test_disordered_clocks(void **unused) {
    enum { Q = 6, SITES = 6, STATES = 46656 };
    struct sites_oracle o = {.l = {3, 2, 1}, .q = Q, .fraction = 0.4, .ratio = 0.3};
    double energy = 0, m2 = 0, cosine[Q], sine[Q];
    (void)unused;
    for (int k = 0; k < Q; k++) {
        cosine[k] = cos(2 * acos(-1) * k / Q);
        sine[k] = sin(2 * acos(-1) * k / Q);
    }
    for (int r = 0; r < REPLICAS; r++) {
        double z = 0, e = 0, squares = 0;
        o.disorder = disorder_key(r);
        assert_true(sites_oracle_init(&o));
        for (int state = 0; state < STATES; state++) {
            double h = 0, x = 0, y = 0;
            int s[SITES], rest = state;
            for (int i = 0; i < SITES; i++, rest /= Q) {
                s[i] = rest % Q;
                x += cosine[s[i]] / SITES;
                y += sine[s[i]] / SITES;
            }
            for (int k = 0; k < o.n_bonds; k++)
                h -= (o.bonds[k].weak ? o.ratio : 1) *
                     cosine[(s[o.bonds[k].a] - s[o.bonds[k].b] + Q) % Q];
            z += exp(-h / 1.1);
            e += exp(-h / 1.1) * h / SITES;
            squares += exp(-h / 1.1) * (x * x + y * y);
        }
        energy += e / z / REPLICAS;
        m2 += squares / z / REPLICAS;
        sites_oracle_free(&o);
    }
    cJSON *tree = physics_run(
        ctx,
        "{'sampler': 'swendsen-wang', 'seed': '31', 'replicas': 16, 'system': {'model': 'clock', "
        "'size': [3, 2], 'temperature': 1.1, 'disorder': 'bimodal', 'negative_fraction': 0.4, "
        "'disorder_ratio': 0.3}, 'run': {'equilibration': 50, 'sweeps': 2500}, 'output': "
        "{'snapshots': 0}}",
        "clocks, two couplings");
    compare(tree, "clocks, two couplings", "energy", energy);
    compare(tree, "clocks, two couplings", "order_parameter2", m2);
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cubic),
        cmocka_unit_test(test_correlations),
        cmocka_unit_test(test_variance),
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_wolff),
        cmocka_unit_test(test_adapting),
        cmocka_unit_test(test_adapting_errors),
        cmocka_unit_test(test_disorder),
        cmocka_unit_test(test_disordered_clocks),
    };
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
