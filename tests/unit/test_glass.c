/* Spin glasses: the kernels' functions as C, acceptance tables, ladders, couplings drawn and from
 * files, shares of ranks. */
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

#include "oracle/glass_serial.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

#define GLASS_LX 4u
#define GLASS_LY 4u
#define GLASS_LZ 4u
#define GLASS_D 3
#define GLASS_HEAT 0
#define GLASS_REAL 0
#define GLASS_T 2
#define GLASS_COPIES 2u
#include "spin_lattice/glass.h"

#include "context.h"

static struct ergo_job *job_of(const char *system) {
    char text[600];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"4\", \"system\": {\"model\": "
             "\"spin-glass\", %s}, \"run\": {\"sweeps\": 10}}",
             system);
    ergo_error_clear(ctx);
    if (ergo_job_parse(ctx, text, strlen(text), "unit", NULL, 0, &job) != ERGO_OK)
        return NULL;
    return job;
}

/* 1 <= r <= hi, or r = 0 and a second draw below lo: together hi 2^32 + lo of 2^64. */
static void test_accept(void **state) {
    (void)state;
    const uint32_t table[2] = {1000, 77};
    assert_true(glass_accept(table, 0, 1, 0, 0) == 0xffffffffu);
    assert_true(glass_accept(table, 0, 1000, 0, 0) == 0xffffffffu);
    assert_true(glass_accept(table, 0, 1001, 0, 0) == 0);
    assert_true(glass_accept(table, 0, 0xffffffffu, 0, 0) == 0);
    assert_true(glass_accept(table, 0, 0, 1, 76) == 0xffffffffu);
    assert_true(glass_accept(table, 0, 0, 1, 77) == 0);
    assert_true(glass_accept(table, 0, 1001, 1, 0) == 0); /* another slot's tie */
    assert_true(glass_accept(table, 0, 1000, 1, 99) == 0xffffffffu);
}

static void test_tables(void **state) {
    (void)state;
    static const char *const rules[] = {"metropolis", "heat-bath"};
    for (int heat = 0; heat < 2; heat++) {
        char system[200];
        snprintf(
            system, sizeof system,
            "\"size\": [4, 4, 4], \"temperature\": 0.5, \"ladder\": 3, \"temperature_max\": 2, "
            "\"coupling\": -2, \"dynamics\": \"%s\"",
            rules[heat]);
        struct ergo_job *job = job_of(system);
        assert_non_null(job);
        uint32_t tables[2 * 2 * GLASS_CLASSES * 4];
        float slopes[3];
        double t[ERGO_LADDER_MAX];
        const struct glass_shape s = glass_shape_of(&job->points[0]);
        assert_int_equal(ergo_ladder_temperatures(&job->points[0], t), 3);
        glass_tables(&job->points[0], &s, t, tables, slopes);
        assert_true(t[0] == 0.5 && fabs(t[1] - 1) < 1e-12 && t[2] == 2);
        assert_true(fabs(slopes[0] - 2.0 * 2 * (1 / 0.5 - 1)) < 1e-5 && slopes[2] == 0);
        for (int slot = 0; slot < 6; slot++)
            for (int m = 0; m <= 6; m++) {
                const double w = exp(-2.0 * 2 * (6 - 2 * m) / t[slot / 2]);
                const double p = heat ? w / (1 + w) : fmin(1, w);
                const uint32_t *own = tables + slot / 4 * (2 * GLASS_CLASSES * 4) + slot % 4;
                const double found = (own[8 * m] + own[8 * m + 4] * 0x1p-32) * 0x1p-32;
                assert_true(fabs(found - p) <= 1e-14 * p + 0x1p-63);
            }
        ergo_job_destroy(job);
    }
}

static void test_drawn(void **state) {
    (void)state;
    struct ergo_job *job =
        job_of("\"size\": [16, 16, 16], \"temperature\": 1, \"negative_fraction\": 0.2");
    assert_non_null(job);
    struct glass_shape s = glass_shape_of(&job->points[0]);
    size_t length = glass_couplings_length(&s), negative = 0;
    uint32_t *j = malloc(4 * 32 * length);
    assert_non_null(j);
    assert_int_equal(glass_couplings(ctx, &job->points[0], &s, 3, j), ERGO_OK);
    for (size_t i = 0; i < length; i++)
        negative += (size_t)__builtin_popcount(j[i]);
    const double n = 32.0 * (double)length;
    const double z = ((double)negative - 0.2 * n) / sqrt(0.16 * n);
    ergo_job_destroy(job);
    job = job_of("\"size\": [16, 16, 16], \"temperature\": 1, \"disorder\": \"gaussian\"");
    assert_non_null(job);
    s = glass_shape_of(&job->points[0]);
    length = glass_couplings_length(&s);
    assert_int_equal(glass_couplings(ctx, &job->points[0], &s, 3, j), ERGO_OK);
    double m[5] = {0};
    for (size_t i = 0; i < length; i++)
        for (int k = 1; k < 5; k++)
            m[k] += pow((int32_t)j[i] * 0x1p-24, k) / (double)length;
    const double zs[4] = {m[1] * sqrt(n), (m[2] - 1) * sqrt(n / 2), m[3] * sqrt(n / 15),
                          (m[4] - 3) * sqrt(n / 96)};
    print_message("negative ones z = %.2f; Gaussian moments z = %.2f %.2f %.2f %.2f\n", z, zs[0],
                  zs[1], zs[2], zs[3]);
    assert_true(fabs(z) < 4);
    for (int k = 0; k < 4; k++)
        assert_true(fabs(zs[k]) < 4);
    ergo_job_destroy(job);
    free(j);
}

/* A file of 2 x 2 x 2, 24 bonds; `change`: line i is replaced by `line`. */
static void write_file(const char *path, int samples, int change, const char *line) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "# couplings\n\n");
    for (int k = 0; k < samples; k++) {
        fprintf(f, "sample %d\n", k);
        for (int i = 0; i < 24; i++)
            if (k == 0 && i == change)
                fprintf(f, "%s", line);
            else
                fprintf(f, "%d %d %d %c %s\n", i % 2, i / 2 % 2, i / 4 % 2, 'x' + i / 8,
                        (i + k) % 3 ? "1" : "-1.0");
    }
    fclose(f);
}

static void test_file(void **state) {
    (void)state;
    static const struct {
        const char *line, *message;
    } bad[] = {
        {"", "bonds are missing"},        {"0 0 0 x 1\n", "second time"},
        {"1 1 2 x 1\n", "not a site"},    {"1 1 x 1\n", "not a site"},
        {"1 0 1 w 1\n", "no axis"},       {"1 0 1 x\n", "no coupling"},
        {"1 0 1 x 1 1\n", "no coupling"}, {"1 0 1 x 0.5\n", "not 1 or -1"},
    };
    char path[] = "/tmp/ergo-glass-XXXXXX", system[300];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(system, sizeof system,
             "\"size\": [2, 2, 2], \"temperature\": 1, \"dynamics\": \"heat-bath\", "
             "\"disorder_file\": \"%s\", \"samples\": 2",
             path);
    write_file(path, 2, -1, "");
    struct ergo_job *job = job_of(system);
    if (!job)
        fail_msg("%s", ergo_error_message(ctx));
    const struct glass_shape s = glass_shape_of(&job->points[0]);
    uint32_t j[24];
    assert_int_equal(glass_couplings(ctx, &job->points[0], &s, 0, j), ERGO_OK);
    assert_true(s.last == 3 && s.words == 1);
    for (int i = 0; i < 24; i++)
        assert_true(j[i] == ((i % 3 ? 0u : 1u) | ((i + 1) % 3 ? 0u : 2u)));
    ergo_job_destroy(job);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_file(path, 2, 5, bad[i].line);
        assert_null(job_of(system));
        if (!strstr(ergo_error_message(ctx), bad[i].message))
            fail_msg("\"%s\": %s", bad[i].line, ergo_error_message(ctx));
    }
    write_file(path, 1, -1, "");
    assert_null(job_of(system));
    assert_non_null(strstr(ergo_error_message(ctx), "1 samples, not 2"));
    unlink(path);
    assert_null(job_of(system));
}

/* data/reference/glass.md: an independent program's values of the 4 x 4 sample. */
static void test_enumeration(void **state) {
    (void)state;
    static const double table[4][7] = {
        {0.5, -1.2489700779, 0.0164719295, 0.6739292812, 0.4895883494, 0.3010872370, 0.0224582479},
        {1, -1.1949004608, 0.2161606356, 0.5788788068, 0.3940293756, 0.2261143406, 0.0289411455},
        {1.5, -1.0510827690, 0.3301644217, 0.4211130594, 0.2416432169, 0.1133386400, 0.0407409398},
        {2, -0.8874906311, 0.3100884938, 0.3254777647, 0.1570201688, 0.0580447886, 0.0479844431}};
    struct ergo_job *job = job_of("\"size\": [4, 4], \"temperature\": 1, \"disorder_file\": "
                                  "\"data/reference/glass-4x4.txt\"");
    if (!job)
        fail_msg("%s", ergo_error_message(ctx));
    const struct glass_shape s = glass_shape_of(&job->points[0]);
    const struct glass_oracle o = {.d = 2, .l = {4, 4, 1}, .temperatures = 1, .copies = 2};
    uint32_t bits[32];
    double j[32];
    assert_int_equal(glass_couplings(ctx, &job->points[0], &s, 0, bits), ERGO_OK);
    for (int i = 0; i < 32; i++)
        j[i] = bits[i] & 1 ? -1 : 1;
    for (int i = 0; i < 4; i++) {
        struct glass_exact x;
        const double t = table[i][0];
        glass_oracle_exact(&o, j, t, false, &x);
        const double found[7] = {t,    x.e, 16 * (x.e2 - x.e * x.e) / t / t, x.abs_q, x.q2,
                                 x.q4, x.m2};
        assert_true(fabs(x.ground + 1.25) < 1e-12);
        for (int k = 0; k < 7; k++)
            assert_true(fabs(found[k] - table[i][k]) < 1e-9);
    }
    ergo_job_destroy(job);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\"size\": [4, 5], \"temperature\": 1",
        "\"size\": [4, 4], \"temperature\": 1, \"dynamics\": \"metropolis\"",
        "\"size\": [4, 4], \"temperature\": 1, \"samples\": 33",
        "\"size\": [4, 4], \"temperature\": 1, \"copies\": 3",
        "\"size\": [4, 4], \"temperature\": 1, \"ladder\": 3",
        "\"size\": [4, 4], \"temperature\": 1, \"ladder\": 3, \"temperature_max\": 1",
        "\"size\": [4, 4], \"temperature\": 1, \"temperature_max\": 2",
        "\"size\": [4, 4], \"temperature\": 1, \"coupling\": 0",
        "\"size\": [4, 4], \"temperature\": 1, \"field\": 60",
        "\"size\": [4, 4], \"temperature\": 1, \"negative_fraction\": 1.1",
        "\"size\": [80, 100, 6000], \"temperature\": 1, \"disorder\": \"gaussian\"",
        ("\"size\": [64, 64, 64], \"temperature\": 1, \"samples\": 2097152, \"ladder\": 32, "
         "\"temperature_max\": 2"),
        "\"size\": [4, 4], \"temperature\": 1}, \"output\": {\"trajectory_every\": 10",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (job_of(bad[i]))
            fail_msg("taken: %s", bad[i]);
}

/* Each temperature of each word on one rank, parts of a ladder one after the other, and nobody
 * without work before the last of them. */
static void check_shares(const struct glass_shape *s, const struct ergo_shares *shares) {
    uint8_t seen[5 * 16] = {0};
    assert_true((size_t)s->all * s->rungs <= sizeof seen);
    struct glass_shape last = {.idle = true};
    for (size_t r = 0; r < shares->ranks; r++) {
        const struct glass_shape h = glass_share_of(s, shares, r);
        assert_true(h.words > 0 && h.temperatures > 0 && h.first + h.words <= s->all);
        assert_true(h.rung + h.temperatures <= s->rungs && h.slots == h.temperatures * h.copies);
        assert_true(h.quads == (h.slots + 3) / 4 && h.rung * h.copies % 4 == 0);
        assert_false(h.idle && (r == 0 || shares->ranks <= s->all));
        for (uint32_t w = h.first; w < h.first + h.words && !h.idle; w++)
            for (uint32_t t = h.rung; t < h.rung + h.temperatures; t++)
                assert_int_equal(seen[w * s->rungs + t]++, 0);
        if (h.rung > 0 && !h.idle)
            assert_true(!last.idle && last.first == h.first &&
                        last.rung + last.temperatures == h.rung);
        last = h;
    }
    for (size_t i = 0; i < (size_t)s->all * s->rungs; i++)
        assert_int_equal(seen[i], 1);
}

static void test_shares(void **state) {
    (void)state;
    struct ergo_shares *shares = malloc(sizeof *shares + 9 * sizeof shares->weights[0]);
    assert_non_null(shares);
    for (shares->ranks = 1; shares->ranks <= 9; shares->ranks++)
        for (uint32_t all = 1; all <= 5; all++)
            for (uint32_t rungs = 1; rungs <= 16; rungs++)
                for (uint32_t copies = 1; copies <= 4; copies *= 2)
                    for (int unlike = 0; unlike < 3; unlike++) {
                        const uint32_t slots = rungs * copies, quads = (slots + 3) / 4;
                        const struct glass_shape s = {.all = all,
                                                      .words = all,
                                                      .rungs = rungs,
                                                      .temperatures = rungs,
                                                      .copies = copies,
                                                      .slots = slots,
                                                      .quads = quads};
                        for (size_t r = 0; r < shares->ranks; r++)
                            shares->weights[r] = unlike == 0   ? 1
                                                 : unlike == 1 ? 1 + (double)(r % 3)
                                                               : (r % 2 ? 1e6 : 1e-6);
                        check_shares(&s, shares);
                    }
    /* in proportion */
    const struct glass_shape s = {.all = 1,
                                  .words = 1,
                                  .rungs = 16,
                                  .temperatures = 16,
                                  .copies = 2,
                                  .slots = 32,
                                  .quads = 8};
    shares->ranks = 2;
    shares->weights[0] = 1;
    shares->weights[1] = 3;
    assert_int_equal(glass_share_of(&s, shares, 0).temperatures, 4);
    assert_int_equal(glass_share_of(&s, shares, 1).rung, 4);
    free(shares);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept),  cmocka_unit_test(test_tables),
        cmocka_unit_test(test_drawn),   cmocka_unit_test(test_file),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
