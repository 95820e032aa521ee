/*
 * ergo_analyse of real runs by the public functions: Ising by clusters against Kaufman (Phys. Rev.
 * 76, 1232 (1949)), over five standard deviations of the energy to either side; the critical point,
 * 2/ln(1 + sqrt 2) (Onsager 1944); Potts with ten states at its transition of first order, 1/ln(1 +
 * sqrt q) (Wu, Rev. Mod. Phys. 54, 235 (1982)). Seeds are fixed. Budget, set beforehand: every z
 * below 4.
 */
#include "run_physics.h"

#include <math.h>

#include "context.h"
#include "samplers/spin_lattice/exact.h"

static double number(const cJSON *object, const char *name, const char *member) {
    const cJSON *item = cJSON_GetObjectItem(object, name);
    item = member ? cJSON_GetObjectItem(item, member) : item;
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

#define ISING(size, scan, sweeps)                                                                  \
    "{'sampler':'swendsen-wang','seed':'2211','system':{'q':2,'hamiltonian':'ising','size':" size  \
    ",'temperature':2.27,'start':'ordered'},'run':{'equilibration':300,'sweeps':" sweeps           \
    ",'measure_every':1,'observables':'energy,heat_capacity,order_parameter,binder'},'scan':"      \
    "{" scan "},'output':{'series':'full','snapshots':0}}"

/* At Tc the energy per site of 32 x 32 is -1.434 with a standard deviation of 0.094: five of them
 * are -1.90, of T = 1.67, and -0.96, of T = 2.80. */
static void test_kaufman(void **state) {
    const char *reweight[] = {"temperature=1.66:2.82:0.04"};
    const char *names[] = {"energy", "heat_capacity"};
    const struct ergo_analyse_options options = {
        .reweight = reweight, .n_reweight = 1, .observables = names, .n_observables = 2};
    double worst = 0, squares = 0, lowest = 0, highest = -2;
    (void)state;
    cJSON *tree = physics_analyse(
        ctx,
        ISING("[32,32]",
              "'/system/temperature':[1.7,1.85,1.98,2.08,2.16,2.22,2.28,2.34,2.42,2.52,2.64,2.78]",
              "4000"),
        "analyse", &options);
    const cJSON *rows = cJSON_GetObjectItem(tree, "reweighted");
    assert_int_equal(cJSON_GetArraySize(rows), 30);
    for (int i = 0; i < cJSON_GetArraySize(rows); i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i);
        const cJSON *values = cJSON_GetObjectItem(row, "observables");
        const double t =
            number(cJSON_GetObjectItem(row, "parameters"), "/system/temperature", NULL);
        struct ergo_ising_exact exact;
        assert_true(ergo_ising_exact_torus(32, 32, t, 1, &exact));
        for (int k = 0; k < 2; k++) {
            const double error = number(values, names[k], "error");
            const double z =
                (number(values, names[k], "mean") - (k ? exact.heat_capacity : exact.energy)) /
                error;
            assert_true(error > 0 && error < (k ? 0.15 : 0.01));
            worst = fmax(worst, fabs(z));
            squares += z * z / 60;
        }
        lowest = fmin(lowest, exact.energy);
        highest = fmax(highest, exact.energy);
    }
    printf("60 values at energies from %.3f to %.3f: largest z %.2f, mean z^2 %.2f\n", lowest,
           highest, worst, squares);
    assert_true(lowest < -1.434 - 5 * 0.094 && highest > -1.434 + 5 * 0.094);
    assert_true(worst < 4);
    cJSON_Delete(tree);
}

/* As a fit of all sizes and by crossings. With $ERGOCL_TEST_FULL L = 8 to 64 with corrections to
 * scaling (L^-7/4: the regular part of <m^2>), to 1e-3 in a minute of a core; to 1e-4 takes 100
 * times as long, on a GPU. */
static void test_critical(void **state) {
    const bool full = getenv("ERGOCL_TEST_FULL") != NULL;
    const struct ergo_analyse_options options = {
        .crossing = "binder", .fit = "binder", .correction = full ? 1.75 : 0};
    const double tc = 2 / log(1 + sqrt(2));
    (void)state;
    cJSON *tree = physics_analyse(
        ctx,
        full ? ISING("[8,8]",
                     "'/system/size':[[8,8],[16,16],[32,32],[64,64]],'/system/temperature':"
                     "[2.255,2.262,2.269,2.276,2.283]",
                     "100000")
             : ISING("[8,8]",
                     "'/system/size':[[8,8],[16,16],[32,32]],'/system/temperature':"
                     "[2.24,2.26,2.28,2.3]",
                     "6000"),
        "analyse", &options);
    const cJSON *crossings = cJSON_GetObjectItem(tree, "crossings");
    const cJSON *scaling = cJSON_GetObjectItem(tree, "scaling");
    const cJSON *limit = cJSON_GetObjectItem(crossings, "large_sizes");
    const cJSON *ways[] = {limit, scaling};
    for (int i = 0; i < 2; i++) {
        const double t = number(ways[i], "at", "mean"), error = number(ways[i], "at", "error");
        printf("%s: Tc %.6f, error %.6f, z %.2f\n", i ? "scaling" : "crossings", t, error,
               (t - tc) / error);
        assert_true(error > 0 && fabs(t - tc) < 4 * error);
        assert_true(error < (full ? 1e-3 : 0.01));
    }
    const double inverse_nu = number(scaling, "inverse_nu", "mean");
    assert_true(fabs(inverse_nu - 1) < 4 * number(scaling, "inverse_nu", "error"));
    cJSON_Delete(tree);
}

/* Potts with q = 3, whose corrections, L^-0.8, no option names: 1/ln(1 + sqrt 3). */
static void test_three_states(void **state) {
    static const char *const quantities[] = {"binder", "moment_ratio"};
    const double tc = 1 / log(1 + sqrt(3));
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct ergo_analyse_options options = {.crossing = quantities[i],
                                                     .fit = quantities[i]};
        cJSON *tree = physics_analyse(
            ctx,
            "{'sampler':'swendsen-wang','seed':'3','system':{'q':3,'size':[8,8],'temperature':1,"
            "'start':'ordered'},'run':{'equilibration':200,'sweeps':4000,'measure_every':1,"
            "'observables':'order_parameter,binder,moment_ratio'},'scan':{'/system/size':[[16,16],"
            "[32,32],[48,48]],'/system/temperature':[0.97,0.98,0.99,1,1.01]},"
            "'output':{'series':'full','snapshots':0}}",
            "analyse", &options);
        const cJSON *crossings = cJSON_GetObjectItem(tree, "crossings");
        const cJSON *scaling = cJSON_GetObjectItem(tree, "scaling");
        const cJSON *ways[] = {cJSON_GetObjectItem(crossings, "large_sizes"), scaling};
        for (int k = 0; k < 2; k++) {
            const double t = number(ways[k], "at", "mean"), error = number(ways[k], "at", "error");
            printf("%s, %s: Tc %.6f, error %.6f, z %.2f\n", quantities[i],
                   k ? "scaling" : "crossings", t, error, (t - tc) / error);
            assert_true(error > 0 && error < 0.01 && fabs(t - tc) < 4 * error);
        }
        assert_true(isnan(number(scaling, "power", "mean"))); /* of what crosses it is 0 */
        assert_true(number(scaling, "smallest", NULL) > number(scaling, "without", NULL));
        cJSON_Delete(tree);
    }
}

/* The ordered phases, all ten together, and the disordered one weigh the same a little above Tc =
 * 0.701232; in terms of 1/T by ln q / (N de), de = 0.69605 the latent heat (Baxter 1973), from
 * where the ten weigh ten times as much. The energies of the phases on 12 x 12 are near those of
 * the infinite lattice, -1.66425 and -0.96821 of H = -J sum delta, which is 2 below. */
static void test_potts(void **state) {
    const struct ergo_analyse_options options = {.coexistence = "temperature"};
    const double tc = 1 / log(1 + sqrt(10)), shift = log(10) / (144 * 0.69605);
    (void)state;
    cJSON *tree = physics_analyse(
        ctx,
        "{'sampler':'swendsen-wang','seed':'10','system':{'q':10,'size':[12,12],'temperature':0.7},"
        "'run':{'equilibration':500,'sweeps':60000,'measure_every':4,'observables':"
        "'energy,order_parameter'},'scan':{'/system/temperature':[0.708,0.718]},"
        "'output':{'series':'full','snapshots':0}}",
        "analyse", &options);
    const cJSON *c = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "coexistence"), 0);
    const double t = number(c, "at", "mean"), error = number(c, "at", "error");
    const cJSON *below = cJSON_GetObjectItem(c, "below"), *above = cJSON_GetObjectItem(c, "above");
    printf("equal weights at %.5f(%.5f), 1/T %.4f, expected %.4f; energies %.4f(%.4f), "
           "%.4f(%.4f)\n",
           t, error, 1 / t, 1 / tc - shift, number(below, "energy", "mean"),
           number(below, "energy", "error"), number(above, "energy", "mean"),
           number(above, "energy", "error"));
    assert_true(error > 0 && error < 0.002);
    assert_true(fabs(1 / t - 1 / tc + shift) < 0.01);
    assert_true(fabs(number(below, "energy", "mean") - (2 - 1.66425)) < 0.08);
    assert_true(fabs(number(above, "energy", "mean") - (2 - 0.96821)) < 0.12);
    assert_true(number(c, "barrier", NULL) > 0.3);
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kaufman),
        cmocka_unit_test(test_critical),
        cmocka_unit_test(test_three_states),
        cmocka_unit_test(test_potts),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
