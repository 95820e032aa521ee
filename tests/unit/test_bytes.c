/*
 * Models with a byte per spin without a device: choices of the heat bath as C; fields and couplings
 * against the plain oracle; structure factors of known waves.
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

#include <cmocka.h>

#include "base/text.h"
#include "oracle/bytes_serial.h"
#include "oracle/glass_serial.h"
#include "samplers/spin_lattice/bytes.h"

/* the kernels' heat bath of potts by weights, for the largest case; `here` says what is present */
static uint32_t here_d, here_q;
#define BYTES_D here_d
#define BYTES_Q here_q
#define BYTES_LX 4
#define BYTES_LY 2
#define BYTES_LZ 2
#define BYTES_MODEL 2
#define BYTES_FIELDS 0
#define BYTES_HEAT 1
#include "spin_lattice/bytes.h"

static struct ergo_job *job_of_model(struct ergo_context *ctx, const char *model,
                                     const char *system) {
    char text[400];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'spin-lattice', 'system': {'model': '%s', %s, 'temperature': 1.5}, "
             "'run': {'sweeps': 1}}",
             model, system);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) == ERGO_OK ? job : NULL;
}

static struct ergo_job *job_of(struct ergo_context *ctx, const char *system) {
    return job_of_model(ctx, "ising", system);
}

/* Normal fields: the oracle's, in integers; their moments. */
static void test_normal(void **state) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = job_of(ctx, "'size': [32, 32, 16], 'random_field': 0.7, 'field': 0.25, "
                                       "'field_distribution': 'gaussian'");
    struct bytes_disorder d;
    struct bytes_member m;
    double sum = 0, squares = 0, fourth = 0;
    (void)state;
    assert_non_null(job);
    const struct ergo_point *point = &job->points[0];
    const size_t n = bytes_shape_of(point).sites;
    bytes_member_fill(point, &m);
    assert_int_equal(bytes_disorder_make(ctx, point, &d), ERGO_OK);
    const struct bytes_oracle o = {.d = 3,
                                   .l = {32, 32, 16},
                                   .h = 0.7,
                                   .general = true,
                                   .normal = true,
                                   .field = (uint64_t)m.field1 << 32 | m.field0};
    double *f = malloc(n * sizeof *f);
    bytes_oracle_fields(&o, f);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(d.fields[i] * d.unit - 0.25 - 0.7 * f[i]) <= d.unit);
        sum += f[i];
        squares += f[i] * f[i];
        fourth += f[i] * f[i] * f[i] * f[i];
    }
    /* four standard deviations of the sampling: 1, sqrt 2 and sqrt 96 over sqrt n */
    assert_true(fabs(sum / (double)n) < 4 / sqrt((double)n));
    assert_true(fabs(squares / (double)n - 1) < 4 * sqrt(2 / (double)n));
    assert_true(fabs(fourth / (double)n - 3) < 4 * sqrt(96 / (double)n));
    bytes_disorder_free(&d);
    free(f);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
}

/* Random couplings: those of the first sample of a spin glass, beside a field of either sign. */
static void test_bonds(void **state) {
    enum { SITES = 4 * 6 * 2 };
    static const double ratio[3] = {1, 0.5, -1.25};
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct ergo_job *job =
            job_of(ctx, k ? "'size': [4, 6, 2], 'random_field': 0.7, 'couplings': [1, 0.5, -1.25], "
                            "'disorder': 'gaussian', 'disorder_seed': 7"
                          : "'size': [4, 6, 2], 'random_field': 0.7, 'couplings': [1, 0.5, -1.25], "
                            "'disorder': 'bimodal', 'negative_fraction': 0.2, 'dynamics': "
                            "'heat-bath'");
        const char *line = k ? "ergocl spin-glass disorder 7 0" : "ergocl spin-glass disorder 1 0";
        struct bytes_disorder d;
        struct bytes_member m;
        double f[SITES], j[3 * SITES];
        if (!job)
            fail_msg("%s", ergo_error_message(ctx));
        const struct ergo_point *point = &job->points[0];
        const struct glass_oracle g = {.d = 3,
                                       .l = {4, 6, 2},
                                       .real = k == 1,
                                       .fraction = 0.2,
                                       .disorder = ergo_hash64(line, strlen(line))};
        bytes_member_fill(point, &m);
        assert_int_equal(bytes_disorder_make(ctx, point, &d), ERGO_OK);
        const struct bytes_oracle o = {.d = 3,
                                       .l = {4, 6, 2},
                                       .h = 0.7,
                                       .general = true,
                                       .field = (uint64_t)m.field1 << 32 | m.field0};
        bytes_oracle_fields(&o, f);
        glass_oracle_couplings(&g, 0, j);
        for (int i = 0; i < 3 * SITES; i++) {
            assert_true(fabs(d.bonds[i] * d.unit - ratio[i / SITES] * j[i]) <= d.unit);
            assert_true(fabs(d.fields[i % SITES] * d.unit - 0.7 * f[i % SITES]) <= d.unit);
        }
        bytes_disorder_free(&d);
        ergo_job_destroy(job);
    }
    ergo_context_destroy(ctx);
}

static void test_file(void **state) {
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "line 1: the file ends after 0 numbers; the lattice has 4 sites"},
        {"1 2\n\n3\n\n", "line 3: the file ends after 3 numbers"},
        {"1 2 # 3\n3 4\n5", "line 3: more numbers than the lattice's 4 sites"},
        {"1 2\n3 x4", "line 2, column 3: not a number"},
        {"1 2\n3 4y", "line 2, column 3: not a number"},
        {"1,2\n3 4", "line 1, column 1: not a number"},
        {"1 inf 3 4", "line 1, column 3: not a number"},
        {"1 2 3\n1e7", "line 2, column 1: a number beyond 1e+06"},
        {"1 0.3 3\n1e6", "0.3 beside 1e+06"},
    };
    static const double fields[4] = {1, -2.5, 0.125, 3e2};
    struct ergo_context *ctx = ergo_context_create();
    char path[] = "/tmp/ergo-fields-XXXXXX", system[300];
    const int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(system, sizeof system, "'size': [2, 2], 'field': 1, 'field_file': '%s'", path);
    for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(i ? bad[i - 1].text : "# a comment\n1\t-2.5 \r\n.125 3e2#", file);
        fclose(file);
        struct ergo_job *job = job_of(ctx, system);
        if (i == 0) {
            struct bytes_disorder d;
            assert_non_null(job);
            assert_int_equal(bytes_disorder_make(ctx, &job->points[0], &d), ERGO_OK);
            for (int k = 0; k < 4; k++)
                assert_true(fabs(d.fields[k] * d.unit - 1 - fields[k]) <= d.unit);
            bytes_disorder_free(&d);
            ergo_job_destroy(job);
        } else {
            assert_null(job);
            if (!strstr(ergo_error_message(ctx), bad[i - 1].message) ||
                !strstr(ergo_error_message(ctx), "/system/field_file"))
                fail_msg("\"%s\": %s", bad[i - 1].text, ergo_error_message(ctx));
        }
    }
    /* potts: the states of a site one after the other, kept state by state */
    static const struct {
        const char *text, *message;
    } potts[] = {
        {"1 2 3\n4 5 6\n-1 -2 -3\n0 0 .5", NULL},
        {"1 2 3\n4 5 6\n-1 -2 -3", "line 3: the file ends after 9 numbers; the lattice has "
                                   "4 sites with 3 states each"},
        {"1 2 3 4 5 6 7 8 9 10 11 12\n13", "line 2: more numbers than the lattice's 4 sites"},
        {"1 2 nan 4 5 6 7 8 9 10 11 12", "line 1, column 5: not a number"}};
    snprintf(system, sizeof system, "'size': [2, 2], 'q': 3, 'field': 7, 'field_file': '%s'", path);
    for (size_t i = 0; i < sizeof potts / sizeof potts[0]; i++) {
        static const double expected[12] = {1, 4, -1, 0, 2, 5, -2, 0, 3, 6, -3, 0.5};
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(potts[i].text, file);
        fclose(file);
        struct ergo_job *job = job_of_model(ctx, "potts", system);
        if (potts[i].message) {
            assert_null(job);
            assert_non_null(strstr(ergo_error_message(ctx), potts[i].message));
        } else {
            struct bytes_disorder d;
            assert_non_null(job);
            assert_int_equal(bytes_disorder_make(ctx, &job->points[0], &d), ERGO_OK);
            for (int k = 0; k < 12; k++)
                assert_true(fabs(d.fields[k] * d.unit - expected[k]) <= d.unit);
            assert_true(fabs(d.field * d.unit - 7) <= d.unit);
            bytes_disorder_free(&d);
        }
        ergo_job_destroy(job);
        ergo_error_clear(ctx);
    }
    unlink(path);
    assert_null(job_of_model(ctx, "potts", system));
    assert_non_null(strstr(ergo_error_message(ctx), "cannot read"));
    ergo_context_destroy(ctx);
}

/* Couplings of a file that cancel along a side of 2: heat bath, and refused with Metropolis, in
 * both models. */
static void test_free_spins(void **state) {
    static const char *const models[][2] = {{"ising", ""},
                                            {"spin-glass", ", 'disorder': 'gaussian'"}};
    struct ergo_context *ctx = ergo_context_create();
    char path[] = "/tmp/ergo-bonds-XXXXXX", system[300];
    const int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (int cancels = 0; cancels < 2; cancels++)
        for (size_t i = 0; i < 2; i++) {
            FILE *file = fopen(path, "w");
            assert_non_null(file);
            for (int site = 0; site < 4; site++)
                fprintf(file, "%d %d x %d\n%d %d y %d\n", site % 2, site / 2, site == 1 ? -1 : 1,
                        site % 2, site / 2, site == 2 && cancels ? -1 : 1);
            fclose(file);
            snprintf(system, sizeof system, "'size': [2, 2], 'disorder_file': '%s'%s", path,
                     models[i][1]);
            struct ergo_job *job = job_of_model(ctx, models[i][0], system);
            assert_non_null(job);
            assert_string_equal(ergo_point_text(&job->points[0], "/system/dynamics"),
                                cancels ? "heat-bath" : "metropolis");
            ergo_job_destroy(job);
            strcat(system, ", 'dynamics': 'metropolis'");
            job = job_of_model(ctx, models[i][0], system);
            assert_true((job == NULL) == cancels);
            if (cancels)
                assert_non_null(strstr(ergo_error_message(ctx), "/system/dynamics"));
            ergo_job_destroy(job);
            ergo_error_clear(ctx);
        }
    unlink(path);
    ergo_context_destroy(ctx);
}

/* Fields of drawn states: each site prefers one, all alike often. Weak and strong bonds in the
 * fraction that the job says; what two states cannot do, and the heat bath of potts. */
static void test_states(void **state) {
    static const struct {
        const char *model, *system, *message;
    } bad[] = {
        {"potts", "'size': [4, 4], 'field': 1, 'dynamics': 'heat-bath'", "/system/dynamics"},
        {"potts", "'size': [8, 8], 'q': 2, 'disorder': 'bimodal', 'disorder_ratio': 0",
         "take model ising"},
        {"ising",
         "'size': [8, 8], 'disorder': 'bimodal', 'disorder_ratio': 0, 'dynamics': 'metropolis'",
         "use \"heat-bath\""},
        {"potts", "'size': [64, 2], 'q': 2, 'disorder': 'bimodal'", "take model ising"},
        {"potts", "'size': [4, 4], 'disorder_ratio': 0.5", "/system/disorder_ratio"},
    };
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job =
        job_of_model(ctx, "potts",
                     "'size': [64, 64], 'q': 3, 'random_field': 0.5, 'disorder': "
                     "'bimodal', 'disorder_ratio': 0.25, 'negative_fraction': "
                     "0.1");
    enum { N = 64 * 64 };
    struct bytes_disorder d;
    int preferred[3] = {0}, weak = 0;
    (void)state;
    assert_non_null(job);
    assert_int_equal(bytes_disorder_make(ctx, &job->points[0], &d), ERGO_OK);
    for (int i = 0; i < N; i++) {
        int n = 0;
        for (int k = 0; k < 3; k++) {
            const double f = d.fields[k * N + i] * d.unit;
            assert_true(fabs(f) <= d.unit || fabs(f - 0.5) <= d.unit);
            preferred[k] += f > 0.25;
            n += f > 0.25;
        }
        assert_int_equal(n, 1);
    }
    for (int i = 0; i < 2 * N; i++) {
        assert_true(fabs(d.bonds[i] * d.unit - 1) <= d.unit ||
                    fabs(d.bonds[i] * d.unit - 0.25) <= d.unit);
        weak += d.bonds[i] * d.unit < 0.5;
    }
    for (int k = 0; k < 3; k++) /* four standard deviations */
        assert_true(fabs(preferred[k] - N / 3.0) < 4 * sqrt(N * 2 / 9.0));
    assert_true(fabs(weak - 0.1 * 2 * N) < 4 * sqrt(2 * N * 0.09));
    bytes_disorder_free(&d);
    ergo_job_destroy(job);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(job_of_model(ctx, bad[i].model, bad[i].system));
        assert_non_null(strstr(ergo_error_message(ctx), bad[i].message));
        ergo_error_clear(ctx);
    }
    ergo_context_destroy(ctx);
}

/* All alike: S(0) = N, S(k) = 0. Halves of two states: S(k) is a square wave's. */
static void test_structure(void **state) {
    const struct bytes_shape s = {.d = 2, .l = {6, 8, 1}, .q = 3, .sites = 48};
    uint32_t planes[24] = {0};
    double out[2], wave[16];
    (void)state;
    bytes_wave(&s, wave);
    for (size_t p = 0; p < 8; p++)
        planes[3 * p + 1] = 6;
    bytes_structure(&s, false, wave, planes, out);
    assert_true(fabs(out[0] - 48) < 1e-9 && fabs(out[1]) < 1e-9);
    for (size_t p = 0; p < 4; p++) {
        planes[3 * p] = 6;
        planes[3 * p + 1] = 0;
    }
    bytes_structure(&s, false, wave, planes, out);
    /* states 0 and 1 have |sum of four neighbouring phases| = 2 / (2 sin(pi/8)) times 6 each */
    const double square = 6 / sin(acos(-1) / 8);
    assert_true(fabs(out[1] - 1.5 / 48 * 2 * square * square) < 1e-9);
    assert_true(fabs(out[0] - 1.5 / 48 * (8 * 8 + 8 * 8 + 16 * 16)) < 1e-9);
    /* sublattices in states 0 and 1: 3 sites of a plane less none, none less 3; S(Q) = 3/4 N */
    for (size_t p = 0; p < 8; p++) {
        planes[3 * p] = 3;
        planes[3 * p + 1] = (uint32_t)-3;
        planes[3 * p + 2] = 0;
    }
    bytes_structure(&s, true, wave, planes, out);
    assert_true(fabs(out[0] - 36) < 1e-9 && fabs(out[1]) < 1e-9);
}

/* Choices by the table against those by weights: for all neighbours, with random numbers at each
 * threshold and beside it, and at both ends; in either half of the third word. */
static void test_choices(void **state) {
    static const char *const systems[] = {"'size': [4], 'q': 2",
                                          "'size': [4], 'q': 3",
                                          "'size': [4, 2], 'q': 2, 'couplings': [1, -0.5]",
                                          "'size': [4, 2], 'q': 3",
                                          "'size': [4, 2, 2], 'q': 2",
                                          "'size': [4, 2, 2], 'q': 3, 'couplings': [1, 0.25, -3]"};
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        char system[200];
        snprintf(system, sizeof system, "%s, 'dynamics': 'heat-bath'", systems[k]);
        struct ergo_job *job = job_of_model(ctx, "potts", system);
        assert_non_null(job);
        const struct bytes_shape s = bytes_shape_of(&job->points[0]);
        const uint32_t n = bytes_choices(&s);
        uint32_t *words = malloc(4 * bytes_choices_length(&s));
        struct bytes_member m;
        uint32_t near[6], chosen = 0;
        assert_non_null(words);
        bytes_member_fill(&job->points[0], &m);
        bytes_choices_fill(&s, &m, words);
        here_d = s.d, here_q = s.q;
        for (uint32_t at = 0; at < n; at++) {
            struct bytes_choice c = {.states = words[4 * n + at]};
            for (uint32_t i = 0, rest = at; i < 6; i++, rest /= s.q)
                near[i] = i < 2 * s.d ? rest % s.q : 0;
            const struct bytes_around around = {near[0], near[1], near[2],
                                                near[3], near[4], near[5]};
            for (uint32_t i = 0; i < 2; i++)
                c.thresholds[i] = (uint64_t)words[4 * at + 2 * i + 1] << 32 | words[4 * at + 2 * i];
            const uint64_t numbers[] = {0,
                                        UINT64_MAX,
                                        UINT64_C(1) << 63,
                                        c.thresholds[0] - 1,
                                        c.thresholds[0],
                                        c.thresholds[0] + 1,
                                        c.thresholds[1] - 1,
                                        c.thresholds[1],
                                        c.thresholds[1] + 1};
            for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
                for (uint32_t third = 0; third < 4; third++) {
                    const uint32_t z[] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
                    const struct ergo_words r = {(uint32_t)(numbers[i] >> 32), (uint32_t)numbers[i],
                                                 z[third], 0};
                    const uint32_t by_weights = bytes_heat_bath(around, 0, r, m.table, m.low);
                    assert_int_equal(bytes_choose(c, r), by_weights);
                    chosen |= 1u << by_weights;
                }
            }
        }
        assert_int_equal(chosen, (1u << s.q) - 1);
        free(words);
        ergo_job_destroy(job);
    }
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices),    cmocka_unit_test(test_normal),
        cmocka_unit_test(test_bonds),      cmocka_unit_test(test_file),
        cmocka_unit_test(test_free_spins), cmocka_unit_test(test_states),
        cmocka_unit_test(test_structure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
