/*
 * Errors at the ends of the ranges of reweighting, of log-normal weights: N is normal with a
 * standard deviation of 20, so exp(x N) is where x is the shift of beta mu. Independent samples,
 * seeds are fixed, budgets of scatter and reach were set before the first run.
 */
#include "analyse_results.h"

enum { CHAINS = 100 };
static const double mean_n = 200, deviation = 20;

static void fill_normal(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    seed = point->stream;
    for (size_t s = 0; s < n; s++) {
        rows[s * n_columns] = round(mean_n + deviation * normal());
        rows[s * n_columns + 1] = -rows[s * n_columns];
    }
}

/* The error of N at x, in quoted ones. */
static double z_at(const struct ergo_analysis *a, const struct ergo_part *part, double x) {
    const double at[ERGO_SCAN_MAX] = {x};
    struct ergo_target target;
    double value, blocks[ERGO_ANALYSE_BLOCKS];
    size_t n = 0;
    while (strcmp(a->model->observables[n].name, "particles") != 0)
        n++;
    assert_true(ergo_target_create(a, &a->systems[0], at, &target));
    assert_true(ergo_part_values(part, &target, NULL, &n, 1, &value, blocks, NULL));
    ergo_target_free(&target);
    const struct ergo_valued v = ergo_jackknife(value, blocks, part->n_blocks, 1, NULL);
    return (v.value - mean_n - x * deviation * deviation) / v.error;
}

/* By 100 of Kish's samples the scatter is 1.7 quoted errors of 1,000 samples and 2.8 of 6,000. What
 * is given reaches to where 100 exp(2 s^2) are the samples. */
static void test_log_normal(void **state) {
    static const unsigned lengths[] = {1000, 6000};
    const char *reweight[] = {"beta_mu=0"};
    const struct ergo_analyse_options o = {.reweight = reweight, .n_reweight = 1};
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        double squares = 0, reach = 0;
        for (unsigned c = 0; c < CHAINS; c++) {
            char text[512];
            snprintf(text, sizeof text,
                     "{\"sampler\":\"lj-gcmc\",\"seed\":\"%u\",\"system\":{\"box\":[5,5,5],"
                     "\"temperature\":1,\"beta_mu\":0},\"run\":{\"equilibration\":0,\"sweeps\":%u,"
                     "\"measure_every\":1,\"curve_every\":0},\"output\":{\"series\":\"full\"}}",
                     c, lengths[l]);
            struct ergo_result *result = make_result(text, fill_normal);
            struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
            const struct ergo_part *part = a->systems[0].parts[0];
            /* where they were taken all count, but for the scatter of tau */
            assert_true(a->rows[0].independent > 0.65 * lengths[l]);
            squares += pow(z_at(a, part, part->low), 2) + pow(z_at(a, part, part->high), 2);
            reach += (part->high - part->low) / 2 * deviation / CHAINS;
            ergo_analysis_destroy(a);
        }
        const double scatter = sqrt(squares / (2 * CHAINS));
        printf("%u samples: ends at %.2f standard deviations, scatter over error %.2f\n",
               lengths[l], reach, scatter);
        assert_true(scatter < 1.6);
        assert_true(reach > 0.9 * sqrt(log(lengths[l] / 100.0) / 2));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_log_normal)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
