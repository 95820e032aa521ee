/*
 * Ising runs through the public API, from the job's text to result.json, against exact results:
 * B. Kaufman, Phys. Rev. 76, 1232 (1949) for any torus, enumeration of all states up to 24 sites,
 * and the printed values of data/reference. The error budget is in ising_physics.h.
 *
 * Checkerboard Metropolis without a field neither leaves nor enters states in which every spin has
 * two up and two down neighbours (data/reference/ising.md). On 4 x 4 it is therefore run from all
 * up and at T <= 2.5 only, where test_trap_weight shows these states to weigh less than 2e-5: a
 * bias of a hundredth of the errors here. Above, heat bath.
 */
#include "ising_physics.h"

#define TC "2.269185314213022"

struct run {
    const char *name, *job; /* what follows the sampler */
};

static const struct run runs[] = {
    {"4x4",
     "'seed': '1', 'replicas': 6, 'system': {'size': [4, 4], 'temperature': 1, 'start': 'up'}, "
     "'run': {'equilibration': 1000, 'sweeps': 200000, 'measure_every': 5}, "
     "'scan': {'/system/temperature': [1.5, 2.0, 2.26918531421302, 2.5]}"},
    {"4x4 heat bath", "'seed': '2', 'replicas': 4, 'system': {'size': [4, 4], 'temperature': 1, "
                      "'dynamics': 'heat-bath'}, 'run': {'equilibration': 1000, 'sweeps': 100000, "
                      "'measure_every': 4}, 'scan': {'/system/temperature': [2.0, 2.5, 5.0]}"},
    {"4x4 in fields, heat bath",
     "'seed': '3', 'system': {'size': [4, 4], 'temperature': 1, 'dynamics': 'heat-bath'}, "
     "'run': {'equilibration': 1000, 'sweeps': 100000, 'measure_every': 4}, "
     "'scan': {'/system/temperature': [2.2, 3.5], '/system/field': [-0.4, 0.1, 1]}"},
    {"4x4 in a field, Metropolis",
     "'seed': '4', 'replicas': 2, 'system': {'size': [4, 4], 'temperature': 1, 'field': 0.2}, "
     "'run': {'equilibration': 1000, 'sweeps': 100000, 'measure_every': 4}, "
     "'scan': {'/system/temperature': [2.2, 4]}"},
    {"6x4 antiferromagnet in a field",
     "'seed': '5', 'replicas': 2, 'system': {'size': [6, 4], 'temperature': 1, 'coupling': -1, "
     "'field': 0.8, 'dynamics': 'heat-bath'}, 'run': {'equilibration': 1000, 'sweeps': 100000, "
     "'measure_every': 4}, 'scan': {'/system/temperature': [2, 3]}"},
    {"8x8",
     "'seed': '6', 'replicas': 4, 'system': {'size': [8, 8], 'temperature': 1, 'start': 'up'}, "
     "'run': {'equilibration': 2000, 'sweeps': 100000, 'measure_every': 5}, "
     "'scan': {'/system/temperature': [1.8, 2, " TC ", 2.5, 4]}"},
    /* The test that condemned R250: A. M. Ferrenberg, D. P. Landau, Y. J. Wong, Phys. Rev. Lett.
     * 69, 3382 (1992), there with errors of 3e-4 in u (single spin flips) and 1e-3 in c. */
    {"16x16 at Tc",
     "'seed': '7', 'replicas': 32, 'system': {'size': [16, 16], 'temperature': " TC
     ", 'start': 'up'}, 'run': {'equilibration': 5000, 'sweeps': 400000, 'measure_every': 10}"},
    {"16x16",
     "'seed': '8', 'replicas': 2, 'system': {'size': [16, 16], 'temperature': 1, 'start': 'up'}, "
     "'run': {'equilibration': 2000, 'sweeps': 100000, 'measure_every': 5}, "
     "'scan': {'/system/temperature': [1, 1.9, 2.3, 3]}"},
    {"32x32",
     "'seed': '9', 'replicas': 2, 'system': {'size': [32, 32], 'temperature': 1, 'start': 'up'}, "
     "'run': {'equilibration': 10000, 'sweeps': 200000, 'measure_every': 20}, "
     "'scan': {'/system/temperature': [2.1, " TC ", 2.4, 3]}"},
    {"64x64",
     "'seed': '10', 'replicas': 2, 'system': {'size': [64, 64], 'temperature': 1, 'start': 'up'}, "
     "'run': {'equilibration': 5000, 'sweeps': 60000, 'measure_every': 10}, "
     "'scan': {'/system/temperature': [2, 2.15, 2.45, 3.2]}"},
    {"128x128",
     "'seed': '11', 'replicas': 2, 'system': {'size': [128, 128], 'temperature': 1, "
     "'start': 'up'}, 'run': {'equilibration': 5000, 'sweeps': 40000, 'measure_every': 10}, "
     "'scan': {'/system/temperature': [2, 2.5, 3.2]}"},
    {"66x6 antiferromagnet, one work-item a block",
     "'seed': '12', 'replicas': 2, 'system': {'size': [66, 6], 'temperature': 1, 'coupling': -1}, "
     "'run': {'equilibration': 2000, 'sweeps': 20000, 'measure_every': 4}, 'tuning': {'lanes': 2, "
     "'path': 1}, 'scan': {'/system/temperature': [2.4, 3]}"},
    {"200x12 in stripes, J = 2",
     "'seed': '13', 'system': {'size': [200, 12], 'temperature': 5, 'coupling': 2}, "
     "'run': {'equilibration': 1000, 'sweeps': 10000, 'measure_every': 5}, 'tuning': {'lanes': 2, "
     "'path': 2, 'tile_sweeps': 2, 'work_group': 4}"},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static struct ergo_context *ctx;
static cJSON *reference;
static struct physics_verdict verdict;

/* Values printed in data/reference; they go before our own exact.c. */
static bool reference_value(const struct ergo_point *point, const char *name, double *value) {
    static const char *const tables[] = {"torus", "enumerated"};
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    if (ergo_point_real(point, "/system/coupling") != 1 ||
        ergo_point_real(point, "/system/field") != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        const cJSON *entry, *table = cJSON_GetObjectItem(reference, tables[i]);
        cJSON_ArrayForEach(entry, cJSON_GetObjectItem(table, "values")) {
            const cJSON *sides = cJSON_GetObjectItem(entry, "size");
            const cJSON *found = cJSON_GetObjectItem(entry, name);
            if (found && cJSON_GetArrayItem(sides, 0)->valueint == size->size[0] &&
                cJSON_GetArrayItem(sides, 1)->valueint == size->size[1] &&
                fabs(cJSON_GetObjectItem(entry, "temperature")->valuedouble -
                     ergo_point_real(point, "/system/temperature")) < 1e-12) {
                *value = found->valuedouble;
                return true;
            }
        }
    }
    return false;
}

static size_t n_reference;

/* One point of result.json. `pool`: sums of z of energy and heat capacity over the run. */
static void compare_point(const char *name, const struct ergo_point *point, const cJSON *found,
                          double pool[2]) {
    char where[120];
    const cJSON *entry;
    size_t compared = 0;
    snprintf(where, sizeof where, "%.60s at T = %.6g, B = %.3g, replica %u", name,
             ergo_point_real(point, "/system/temperature"), ergo_point_real(point, "/system/field"),
             point->replica);
    cJSON_ArrayForEach(entry, cJSON_GetObjectItem(found, "observables")) {
        double exact, printed;
        if (!physics_exact(point, entry->string, &exact))
            continue;
        if (reference_value(point, entry->string, &printed)) {
            assert_true(fabs(printed - exact) < 1e-9);
            exact = printed;
            n_reference++;
        }
        const cJSON *mean = cJSON_GetObjectItem(entry, "mean");
        const cJSON *error = cJSON_GetObjectItem(entry, "error");
        const cJSON *tau = cJSON_GetObjectItem(entry, "tau");
        const cJSON *samples = cJSON_GetObjectItem(entry, "samples");
        if (!cJSON_IsNumber(mean) || !cJSON_IsNumber(error) || !cJSON_IsNumber(tau) ||
            !cJSON_IsNumber(samples))
            fail_msg("%s: %s is not complete in result.json", where, entry->string);
        physics_compare(&verdict, where, entry->string, mean->valuedouble, error->valuedouble,
                        tau->valuedouble, (size_t)samples->valuedouble, exact);
        const double z = (mean->valuedouble - exact) / error->valuedouble;
        pool[0] += strcmp(entry->string, "energy") == 0 ? z : 0;
        pool[1] += strcmp(entry->string, "heat_capacity") == 0 ? z : 0;
        if (compared++ == 0)
            verdict.samples += (size_t)samples->valuedouble;
    }
    assert_true(compared >= 2);
}

static void compare_run(const struct run *run) {
    struct ergo_job *job = NULL;
    cJSON *tree = physics_run(ctx, run->name, run->job, &job);
    const cJSON *points = cJSON_GetObjectItem(tree, "points");
    double pool[2] = {0, 0};
    for (size_t i = 0; i < job->n_points; i++)
        compare_point(run->name, &job->points[i], cJSON_GetArrayItem(points, (int)i), pool);
    /* all chains of a run together: a common small bias adds up */
    const double root = sqrt((double)job->n_points);
    const double worst = fmax(fabs(pool[0]), fabs(pool[1])) / root;
    verdict.n += 2;
    if (worst > verdict.worst) {
        verdict.worst = worst;
        snprintf(verdict.where, sizeof verdict.where, "all chains of %s together", run->name);
    }
    print_message("%-45s z of all chains: energy %+.2f, heat capacity %+.2f\n", run->name,
                  pool[0] / root, pool[1] / root);
    cJSON_Delete(tree);
    ergo_job_destroy(job);
}

static void test_exact_values(void **state) {
    (void)state;
    for (size_t i = 0; i < RUNS; i++)
        compare_run(&runs[i]);
    const char *reason = physics_judge(&verdict);
    print_message(
        "%zu comparisons (%zu with printed values) of %zu measurements, largest |z| %.2f, "
        "chi^2 of energy %.1f / %zu, of heat capacity %.1f / %zu\n",
        verdict.n, n_reference, verdict.samples, verdict.worst, verdict.chi2[0], verdict.chains[0],
        verdict.chi2[1], verdict.chains[1]);
    if (reason)
        fail_msg("%s", reason);
    assert_true(verdict.samples >= 200000);
    assert_true(n_reference >= 100);
}

/* Weight of the states that Metropolis never sees, on 4 x 4 at T = 2.5, the highest used above. */
static void test_trap_weight(void **state) {
    (void)state;
    size_t traps = 0;
    double z = 0;
    for (unsigned s = 0; s < 65536; s++) {
        int bonds = 0;
        bool trapped = true;
        for (int i = 0; i < 16; i++) {
            const int x = i % 4, y = i / 4, spin = 2 * (int)(s >> i & 1) - 1;
            const int to[4] = {(x + 1) % 4 + 4 * y, (x + 3) % 4 + 4 * y, x + 4 * ((y + 1) % 4),
                               x + 4 * ((y + 3) % 4)};
            int sum = 0;
            for (int k = 0; k < 4; k++)
                sum += 2 * (int)(s >> to[k] & 1) - 1;
            bonds += spin * (2 * (int)(s >> to[0] & 1) - 1 + 2 * (int)(s >> to[2] & 1) - 1);
            trapped = trapped && sum == 0;
        }
        traps += trapped;
        z += exp(bonds / 2.5);
    }
    assert_true(traps > 0);
    print_message("%zu trapped states of energy 0, weight %.2g\n", traps, (double)traps / z);
    assert_true((double)traps / z < 2e-5);
}

/* The criterion itself: it must refuse small errors, large errors, and short series. */
static void test_criterion(void **state) {
    (void)state;
    static const struct {
        double scale;
        size_t samples;
        bool agrees;
    } cases[] = {{1, 1000, true}, {2, 1000, false}, {0.5, 1000, false}, {1, 90, false}};
    for (size_t i = 0; i < 4; i++) {
        struct physics_verdict v = {0};
        for (int k = 0; k < 50; k++) /* normal quantiles: as a right program gives */
            physics_compare(&v, "here", "energy", cases[i].scale * 0.35 * (k % 10 - 4.5), 1, 1,
                            cases[i].samples, 0);
        assert_int_equal(physics_judge(&v) == NULL, cases[i].agrees);
    }
    struct physics_verdict v = {0};
    physics_compare(&v, "here", "binder", NAN, 1, 1, 1000, 0);
    assert_non_null(physics_judge(&v));
}

static int set_up(void **state) {
    (void)state;
    static char text[65536];
    FILE *file = fopen("data/reference/ising.json", "rb");
    if (!file)
        return -1;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    reference = cJSON_Parse(text);
    ctx = ergo_context_create();
    return reference && ctx ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    cJSON_Delete(reference);
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_criterion),
        cmocka_unit_test(test_trap_weight),
        cmocka_unit_test(test_exact_values),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
