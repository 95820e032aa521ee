/*
 * Curves of several sizes: where they cross, fits of finite-size scaling, and where crossings go
 * to. Against enumeration, and values that scale by construction. Seeds are fixed; budgets were set
 * before the first run.
 */
#include "analyse_results.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

static double binder_of(int l, double t) {
    struct ergo_ising_moments exact;
    assert_true(ergo_ising_enumerate(l, l, t, 1, 0, &exact));
    return exact.binder;
}

/* Binder's cumulants of 2 x 2 and 4 x 4, which cross where enumeration says. */
static void test_crossing(void **state) {
    double low = 1.5, high = 4, squares = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        const double t = (low + high) / 2;
        *(binder_of(2, t) < binder_of(4, t) ? &low : &high) = t;
    }
    for (unsigned k = 0; k < 20; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 ISING("", "20000",
                       "\"/system/size\":[[2,2],[4,4]],\"/system/temperature\":[1.8,2.2,2.6]"),
                 100 + k);
        struct ergo_result *result = make_result(text, fill_ising);
        struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
        assert_int_equal(a->n_crossings, 1); /* Binder's, by itself */
        const struct ergo_crossing *c = &a->crossings[0];
        assert_null(c->why_not);
        assert_true(c->x_error > 0 && c->x_error < 0.2);
        squares += pow((c->x - low) / c->x_error, 2);
        assert_near(c->y, binder_of(2, low), 4 * c->y_error);
        assert_false(a->extrapolation.done);
        ergo_analysis_destroy(a);
    }
    printf("chi2 of 20 crossings: %.1f\n", squares);
    assert_true(squares > 5.9 && squares < 45.3); /* 0.1% on either side */
}

static void fill_nothing(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    (void)point;
    seed = 1;
    for (size_t i = 0; i < n * n_columns; i++)
        rows[i] = normal();
}

/* Puts values that scale, with noise, in the place of estimates: y = L^power F((T - 2.3) L^0.9),
 * and where `drift` is set a correction L^-omega. */
static void put_drift(struct ergo_result *result, const char *name, double power, double drift,
                      double omega, double error) {
    const struct ergo_model *model = result->job->model;
    for (size_t m = 0; m < result->n_members; m++)
        for (size_t o = 0; o < model->n_observables; o++) {
            struct ergo_observable_result *r = &result->members[m].observables[o];
            const struct ergo_point *point = result->members[m].point;
            const double l = (double)ergo_point_value(point, "/system/size")->size[1];
            const double u = (ergo_point_real(point, "/system/temperature") - 2.3) * pow(l, 0.9);
            if (strcmp(model->observables[o].name, name) != 0)
                continue;
            r->trust = ERGO_TRUST_FULL;
            r->estimate.error = error * pow(l, power);
            r->estimate.mean =
                pow(l, power) * (0.6 - 0.3 * u + 0.08 * u * u + drift * pow(l, -omega)) +
                r->estimate.error * normal();
        }
}

static void put_scaling(struct ergo_result *result, const char *name, double power, double drift,
                        double error) {
    seed = 77;
    put_drift(result, name, power, drift, 1.5, error);
}

#define SIZES(sizes)                                                                               \
    "{\"sampler\":\"spin-lattice\",\"seed\":\"1\",\"system\":{\"model\":\"ising\",\"size\":[4,4]," \
    "\"temperature\":2.5},\"run\":{\"sweeps\":300,\"measure_every\":1},\"scan\":{"                 \
    "\"/system/size\":[" sizes                                                                     \
    "],\"/system/temperature\":{\"from\":2.2,\"to\":2.4,\"step\":0.025}},"                         \
    "\"output\":{\"series\":\"blocks\"}}"

static void test_scaling(void **state) {
    static const struct {
        const char *name, *quantity;
        double power, free_power;
    } cases[] = {
        {"binder", "binder", 0, NAN},
        {"correlation_length", "correlation_length/L", 1, NAN},
        {"abs_magnetization", "abs_magnetization", -0.125, -0.125},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct ergo_result *result = make_result(SIZES("[8,8],[16,16],[32,32]"), fill_nothing);
        put_scaling(result, cases[i].name, cases[i].power, 0, 0.002);
        struct ergo_analysis *a =
            analyse(&result, 1, &(struct ergo_analyse_options){.fit = cases[i].quantity}, ERGO_OK);
        const struct ergo_scaling *s = &a->scaling;
        assert_null(s->why_not);
        assert_int_equal(s->n, 18); /* without the smallest size */
        assert_near(s->x.value, 2.3, 4 * s->x.error);
        assert_near(s->inverse_nu.value, 0.9, 4 * s->inverse_nu.error);
        assert_true(s->x.error < 0.01 && s->inverse_nu.error < 0.1 && s->tail > 0.001);
        assert_true(s->power_free == !isnan(cases[i].free_power));
        if (s->power_free)
            assert_near(s->power.value, cases[i].free_power, 4 * s->power.error);
        ergo_analysis_destroy(a);
    }
    struct ergo_result *result = make_result(SIZES("[8,8],[16,16],[32,32]"), fill_nothing);
    put_scaling(result, "binder", 0, 0, 0.002);
    struct ergo_analysis *a =
        analyse(&result, 1, &(struct ergo_analyse_options){.fit = "binder", .window = "2.24:2.36"},
                ERGO_OK);
    assert_int_equal(a->scaling.n, 10);
    assert_near(a->scaling.x.value, 2.3, 4 * a->scaling.x.error);
    ergo_analysis_destroy(a);
}

/* Crossings of what cannot be reweighted, interpolated; they drift, and go to 2.3. */
static void test_extrapolation(void **state) {
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct ergo_result *result =
            make_result(SIZES("[8,8],[16,16],[32,32],[64,64],[128,128]"), fill_nothing);
        put_scaling(result, "correlation_length", 1, 1, 1e-4);
        struct ergo_analysis *a =
            analyse(&result, 1,
                    &(struct ergo_analyse_options){.crossing = "correlation_length/L",
                                                   .correction = given ? 2.4 : 0},
                    ERGO_OK);
        const struct ergo_extrapolation *e = &a->extrapolation;
        assert_int_equal(a->n_crossings, 4);
        assert_true(2.3 - a->crossings[0].x > 50 * a->crossings[0].x_error); /* a drift */
        assert_true(e->done && e->fixed == given && e->tail > 0.001 && e->used >= (given ? 2 : 3));
        assert_true(e->x_error < 1e-3);
        assert_near(e->x, 2.3, 4 * e->x_error);
        assert_near(e->exponent, 2.4, 0.2); /* 1/nu + omega */
        ergo_analysis_destroy(a);
    }
}

/* Curves that bend more between their points than a cubic through six does, as of large sizes near
 * the transition: y = 0.6 - 0.3 tanh((T - 2.3) L^0.9 + 0.7). Their crossings are at 2.3 all the
 * same: of 40 seeds sum z^2 is at most 79 (0.02%), and errors are below a quarter of the distance
 * of points. */
static void test_steep(void **state) {
    double squares[2] = {0}, errors[2] = {0};
    (void)state;
    for (unsigned k = 0; k < 40; k++) {
        struct ergo_result *result = make_result(SIZES("[16,16],[32,32],[64,64]"), fill_nothing);
        seed = 300 + k;
        for (size_t m = 0; m < result->n_members; m++)
            for (size_t o = 0; o < result->job->model->n_observables; o++) {
                struct ergo_observable_result *r = &result->members[m].observables[o];
                const struct ergo_point *point = result->members[m].point;
                const double l = (double)ergo_point_value(point, "/system/size")->size[1];
                const double t = ergo_point_real(point, "/system/temperature");
                if (strcmp(r->observable->name, "correlation_length") != 0)
                    continue;
                r->trust = ERGO_TRUST_FULL;
                r->estimate.error = 0.001 * l;
                r->estimate.mean = l * (0.6 - 0.3 * tanh((t - 2.3) * pow(l, 0.9) + 0.7)) +
                                   r->estimate.error * normal();
            }
        struct ergo_analysis *a =
            analyse(&result, 1, &(struct ergo_analyse_options){.crossing = "correlation_length/L"},
                    ERGO_OK);
        assert_int_equal(a->n_crossings, 2);
        for (size_t c = 0; c < 2; c++) {
            assert_true(a->crossings[c].x_error > 0);
            squares[c] += pow((a->crossings[c].x - 2.3) / a->crossings[c].x_error, 2);
            errors[c] += a->crossings[c].x_error / 40;
        }
        ergo_analysis_destroy(a);
    }
    printf("steep curves: sum z^2 of 40: %.1f and %.1f; errors %.2g, %.2g\n", squares[0],
           squares[1], errors[0], errors[1]);
    for (size_t c = 0; c < 2; c++)
        assert_true(squares[c] < 79 && errors[c] < 0.025 / 4);
}

/* Corrections to scaling that no fit is told of, as of the Potts model with q = 3 and of the Ising
 * model in two dimensions, and none. Errors of fits and of crossings cover: sum z^2 of 40 seeds is
 * at most 79 (0.02%), where errors of the noise alone give 244 for T_c and 127 for 1/nu with
 * L^-0.8. And they are no larger than four times those. */
static void test_corrections(void **state) {
    static const struct { double drift, omega; } cases[] = {{0, 1}, {0.1, 0.8}, {0.4, 1.75}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double squares[3] = {0}, errors = 0;
        size_t notes = 0;
        for (unsigned k = 0; k < 40; k++) {
            struct ergo_result *result =
                make_result(SIZES("[16,16],[32,32],[64,64]"), fill_nothing);
            seed = 200 + k;
            put_drift(result, "binder", 0, cases[i].drift, cases[i].omega, 0.004);
            struct ergo_analysis *a =
                analyse(&result, 1, &(struct ergo_analyse_options){.fit = "binder"}, ERGO_OK);
            const struct ergo_scaling *s = &a->scaling;
            assert_true(!s->why_not && a->extrapolation.done);
            assert_true(s->without >= 16 && s->smallest > s->without && isfinite(s->shift));
            const double z[] = {(s->x.value - 2.3) / s->x.error,
                                (s->inverse_nu.value - 0.9) / s->inverse_nu.error,
                                (a->extrapolation.x - 2.3) / a->extrapolation.x_error};
            for (size_t j = 0; j < 3; j++)
                squares[j] += z[j] * z[j];
            errors += s->x.error / 40;
            for (size_t n = 0; n < a->n_notes; n++)
                notes += strstr(a->notes[n], "disagree") != NULL;
            ergo_analysis_destroy(a);
        }
        printf(
            "%g L^-%g: sum z^2 of 40: T_c %.1f, 1/nu %.1f, crossings %.1f; error %.2g; %zu notes\n",
            cases[i].drift, cases[i].omega, squares[0], squares[1], squares[2], errors, notes);
        for (size_t j = 0; j < 3; j++)
            assert_true(squares[j] < 79);
        assert_true(errors < 4 * 0.00027 && (i || notes <= 1));
    }
}

/* ---- disorder -------------------------------------------------------------------------------- */

enum { DRAWS = 40 };

/* As put_scaling, of samples of a disorder: each has a transition of its own, 2.3 + 0.05 x normal,
 * at all sizes and temperatures, and noise at each. */
static void put_samples(struct ergo_result *result, unsigned of) {
    const struct ergo_model *model = result->job->model;
    double off[DRAWS];
    seed = 100 + of;
    for (size_t r = 0; r < DRAWS; r++)
        off[r] = 0.05 * normal();
    for (size_t m = 0; m < result->n_members; m++)
        for (size_t o = 0; o < model->n_observables; o++) {
            struct ergo_observable_result *r = &result->members[m].observables[o];
            const struct ergo_point *point = result->members[m].point;
            const double l = pow((double)ergo_point_value(point, "/system/size")->size[1], 0.9);
            const double u = (ergo_point_real(point, "/system/temperature") - 2.3) * l;
            if (strcmp(model->observables[o].name, "binder") != 0)
                continue;
            r->trust = ERGO_TRUST_FULL;
            r->estimate.mean = 0.6 - 0.3 * (u - off[point->replica] * l) + 0.08 * u * u;
            r->estimate.mean += 0.1 * normal();
        }
}

/* Points that share their samples deviate together. So errors of crossings, of their limit and of
 * fits cover only where a sample is taken from all points at once: of 40 seeds sum z^2 is 40, with
 * errors from 40 samples 42 +- 10, and 18 to 79 is 0.1% on either side. Those of limits and fits
 * have what the smallest size moves, too: three times the noise of 40 would be 4. */
static void test_samples(void **state) {
    double squares[4] = {0};
    (void)state;
    for (unsigned k = 0; k < 40; k++) {
        struct ergo_result *result =
            make_result("{\"sampler\":\"spin-lattice\",\"seed\":\"1\",\"replicas\":40,"
                        "\"system\":{\"model\":\"ising\",\"size\":[4,4],\"temperature\":2.5,"
                        "\"disorder\":\"bimodal\"},\"run\":{\"sweeps\":20,\"measure_every\":1,"
                        "\"correlation_every\":0},\"scan\":{\"/system/size\":[[8,8],[16,16],"
                        "[32,32]],\"/system/temperature\":{\"from\":2.2,\"to\":2.4,\"step\":"
                        "0.05}},\"output\":{\"series\":\"blocks\"}}",
                        fill_nothing);
        put_samples(result, k);
        struct ergo_analysis *a = analyse(
            &result, 1, &(struct ergo_analyse_options){.fit = "binder", .correction = 2}, ERGO_OK);
        assert_int_equal(a->n_draws, DRAWS);
        assert_int_equal(a->n_crossings, 2);
        assert_true(a->extrapolation.done && !a->scaling.why_not);
        const double z[] = {(a->crossings[0].x - 2.3) / a->crossings[0].x_error,
                            (a->extrapolation.x - 2.3) / a->extrapolation.x_error,
                            (a->scaling.x.value - 2.3) / a->scaling.x.error,
                            (a->scaling.inverse_nu.value - 0.9) / a->scaling.inverse_nu.error};
        for (size_t i = 0; i < 4; i++)
            squares[i] += z[i] * z[i];
        ergo_analysis_destroy(a);
    }
    printf("sum z^2 of 40: crossings %.1f, limits %.1f, T_c of fits %.1f, 1/nu %.1f\n", squares[0],
           squares[1], squares[2], squares[3]);
    for (size_t i = 0; i < 4; i++)
        assert_true(squares[i] > (i ? 4 : 18) && squares[i] < 79);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),     cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_scaling),     cmocka_unit_test(test_extrapolation),
        cmocka_unit_test(test_corrections), cmocka_unit_test(test_steep),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
