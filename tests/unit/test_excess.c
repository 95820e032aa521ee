/*
 * Excess adsorption of `ergocl analyse` without a device: numbers of particles that are drawn, in
 * pores and in bulk fluids of several reservoirs. Seeds are fixed; budgets were set before the
 * first run.
 */
#include "analyse_results.h"

#define RUN(seed, system, scan)                                                                    \
    "{\"sampler\":\"lj-fluid\",\"seed\":\"" seed "\",\"replicas\":2,\"system\":{\"ensemble\":"     \
    "\"muvt\"," system "},\"run\":{\"equilibration\":0,\"sweeps\":1000,\"measure_every\":1,"       \
    "\"curve_every\":0},\"scan\":{" scan "},\"output\":{\"series\":\"full\"}}"
#define SLIT                                                                                       \
    "\"box\":[5,5,7],\"temperature\":1.5,\"activity\":1,\"slit\":{\"width\":4,\"epsilon\":0.1,"    \
    "\"sigma\":1,\"density\":5,\"spacing\":1"
#define BULK "\"box\":[6,6,6],\"temperature\":1.5,\"beta_mu\":-3"
#define ATOMS                                                                                      \
    "\"box\":[5,5.5,6.6],\"temperature\":1.5,\"activity\":1,\"frozen\":{\"file\":"                 \
    "\"data/reference/lj-atoms.xyz\",\"epsilon\":1,\"sigma\":1}"
#define ACTIVITIES "\"/system/activity\":[0.1,0.2,0.4]"

/* <N>: 60 z in a pore, and z V T in the bulk, so that another temperature is another density. */
static double mean_of(const struct ergo_point *point) {
    const struct ergo_value *ln_z = ergo_point_value(point, "/system/beta_mu");
    const double z = ln_z->present ? exp(ln_z->real) : ergo_point_real(point, "/system/activity");
    const bool pore = ergo_point_value(point, "/system/slit/width")->present ||
                      ergo_point_value(point, "/system/frozen/file")->present;
    return z * (pore ? 60 : 216 * ergo_point_real(point, "/system/temperature"));
}

static void fill(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    seed = point->stream;
    for (size_t i = 0; i < n; i++)
        rows[i * n_columns] = mean_of(point) + 3 * normal();
}

static struct ergo_analysis *of(const char *const *jobs, size_t n) {
    struct ergo_result *results[4];
    for (size_t i = 0; i < n; i++)
        results[i] = make_result(jobs[i], fill);
    return analyse(results, n, &(struct ergo_analyse_options){0}, ERGO_OK);
}

/* The bulk fluid of the same reservoir is found behind that of another temperature and among other
 * activities; the room is a height of a slit, and a volume among atoms. */
static void test_values(void **state) {
    static const char *const jobs[] = {
        RUN("1", SLIT ",\"excess_width\":3}", ACTIVITIES),
        RUN("2", "\"box\":[6,6,6],\"temperature\":1.6,\"activity\":1", ACTIVITIES),
        /* ln 0.4, ln 0.1 */
        RUN("3", BULK, "\"/system/beta_mu\":[-0.916290731874155,-2.302585092994046]"),
        RUN("4", ATOMS ",\"excess_volume\":90", ACTIVITIES)};
    static const double room[] = {3, 90}, loading[] = {60. / 25, 60};
    (void)state;
    struct ergo_analysis *a = of(jobs, 4);
    assert_int_equal(a->n_excesses, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct ergo_excess *e = &a->excesses[i];
        const double z = i % 2 ? 0.4 : 0.1, of_pore = loading[i / 2] * z, rho = 1.5 * z;
        assert_int_equal(e->per_area, i < 2);
        assert_near(e->room, room[i / 2], 0);
        assert_near(e->temperature, 1.5, 0);
        assert_near(exp(e->log_activity), z, 1e-12);
        /* 2,000 independent samples, whose standard deviation is 3 */
        const double error = 3 / sqrt(2000), of_bulk = error / 216;
        const double of_loading = i < 2 ? error / 25 : error;
        assert_near(e->loading.value, of_pore, 5 * of_loading);
        assert_near(e->bulk.value, rho, 5 * of_bulk);
        const double expected = hypot(of_loading, room[i / 2] * of_bulk);
        assert_near(e->excess.value, of_pore - room[i / 2] * rho, 5 * expected);
        assert_near(e->excess.value, e->loading.value - e->room * e->bulk.value, 1e-12);
        assert_near(e->excess.error / expected, 1, 0.3);
        assert_near(e->excess.error, hypot(e->loading.error, e->room * e->bulk.error), 1e-12);
    }
    assert_int_equal(a->n_notes, 1);
    assert_non_null(strstr(a->notes[0], "2 points have no excess adsorption: no run of the bulk"));
    ergo_analysis_destroy(a);
}

/* Without excess_width the room is the width; without excess_volume there is none. */
static void test_rooms(void **state) {
    static const char *const jobs[] = {RUN("5", SLIT "}", "\"/system/activity\":[0.1]"),
                                       RUN("6", ATOMS, "\"/system/activity\":[0.1]"),
                                       RUN("7", BULK, "\"/system/beta_mu\":[-2.302585092994046]")};
    (void)state;
    struct ergo_analysis *a = of(jobs, 3);
    assert_int_equal(a->n_excesses, 1);
    assert_near(a->excesses[0].room, 4, 0);
    assert_int_equal(a->n_notes, 1);
    assert_non_null(strstr(a->notes[0], "1 point has no excess adsorption: /system/excess_volume"));
    ergo_analysis_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_rooms)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
