/*
 * Lennard-Jones without a device: the oracle against published static energies and exact weights
 * of small N, the kernels' functions compiled as C, and the cell grids.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lj_gcmc/core.h"
#include "oracle/lj_serial.h"
#include "samplers/lj_gcmc/lj.h"

#include "context.h"

/* data/reference/lj.md */
static const struct {
    int n;
    double side, offset, energy, virial, inserted, fifth;
} statics[] = {
    {6, 8, 0, -526.9796899577, -2132.2829928455, -7.9360248466, -4.5992998176},
    {7, 8.2, 0.1, -871.5896561198, 6001.3595694728, -1.9961438617, -6.1992711852},
    {4, 5, 0, -193.3696117601, -450.5006260201, -8.2776113221, -6.8578489232},
};

static void test_static(void **state) {
    (void)state;
    double r[343][3];
    for (int c = 0; c < 3; c++) {
        const double l = statics[c].side, at = 2 * l / statics[c].n + statics[c].offset;
        struct ergo_oracle_lj o = {
            .side = {l, l, l}, .cutoff = 2.5, .r = r, .n = (size_t)pow(statics[c].n, 3)};
        double virial;
        ergo_oracle_lj_static(statics[c].n, l, statics[c].offset, r);
        assert_true(fabs(ergo_oracle_lj_total(&o, &virial) - statics[c].energy) < 1e-8);
        assert_true(fabs(virial - statics[c].virial) < 1e-7);
        assert_true(fabs(ergo_oracle_lj_one(&o, (double[3]){at, at, at}, o.n) -
                         statics[c].inserted) < 1e-9);
        assert_true(fabs(ergo_oracle_lj_one(&o, r[5], 5) - statics[c].fifth) < 1e-9);

        /* the kernels' arithmetic: 2^-32 of a side, fp32 pairs, sums of 2^-30 */
        struct lj_member m = {.cutoff2 = 6.25f, .core2 = 0.3f};
        lj_position p[343];
        long long energy = 0, w = 0;
        for (int k = 0; k < 3; k++)
            m.scale[k] = (float)(l * 0x1p-32);
        for (size_t i = 0; i < o.n; i++) {
            p[i] = (lj_position){(uint)(r[i][0] / l * 0x1p32), (uint)(r[i][1] / l * 0x1p32),
                                 (uint)(r[i][2] / l * 0x1p32)};
            for (size_t j = 0; j < i; j++) {
                const float r2 = lj_distance2(p[i], p[j], m.scale);
                lj_long e, v;
                if (r2 >= m.cutoff2)
                    continue;
                lj_pair(r2, &m, &e, &v);
                energy += e;
                w += v;
            }
        }
        const struct lj_system one = {.epsilon = 1, .unit = 4};
        print_message("U %.10f, off by %.1e; W off by %.1e\n", lj_energy_of(&one, energy),
                      lj_energy_of(&one, energy) - statics[c].energy,
                      lj_virial_of(&one, w) - statics[c].virial);
        assert_true(fabs(lj_energy_of(&one, energy) - statics[c].energy) < 2e-4);
        assert_true(fabs(lj_virial_of(&one, w) - statics[c].virial) < 4e-3);
    }
}

/* P(1)/P(0) = zV, P(2)/P(1) = z (V - 2 B2)/2; B2 at T* = 2, r_c = 2.5 is -1.046413958. Visits are
 * correlated; 4.9 standard errors from 64 runs. */
static void test_small_n(void **state) {
    (void)state;
    enum { RUNS = 64, MOVES = 40000 };
    const double v = 125, z = 0.01;
    double ratio[2][RUNS];
    for (int k = 0; k < RUNS; k++) {
        struct ergo_oracle_lj o = {
            .side = {5, 5, 5}, .cutoff = 2.5, .temperature = 2, .activity = z};
        double visits[3] = {0};
        ergo_oracle_lj_seed(&o, (uint64_t)k);
        for (int i = 0; i < MOVES; i++) {
            assert_true(ergo_oracle_lj_move(&o));
            if (o.n < 3)
                visits[o.n]++;
        }
        ratio[0][k] = visits[1] / visits[0];
        ratio[1][k] = visits[2] / visits[1];
        free(o.r);
    }
    const double exact[2] = {z * v, z * (v + 2 * 1.046413958) / 2};
    for (int q = 0; q < 2; q++) {
        double mean = 0, square = 0;
        for (int k = 0; k < RUNS; k++)
            mean += ratio[q][k] / RUNS;
        for (int k = 0; k < RUNS; k++)
            square += (ratio[q][k] - mean) * (ratio[q][k] - mean);
        const double error = sqrt(square / (RUNS - 1) / RUNS);
        print_message("P(%d)/P(%d) = %.4f(%.4f), exact %.4f\n", q + 1, q, mean, error, exact[q]);
        assert_true(fabs(mean - exact[q]) < 4.9 * error);
    }
}

static void test_functions(void **state) {
    (void)state;
    double worst = 0;
    for (float x = 1e-3f; x < 1e4f; x *= 1.0003f)
        worst = fmax(worst, fabs((double)ergo_inverse(x) * (double)x - 1));
    print_message("1/x: %.2g\n", worst);
    assert_true(worst < 1.3e-7);
    worst = 0;
    for (float x = -80; x <= 60; x += 0.00237f)
        worst = fmax(worst, fabs((double)ergo_exp(x) / exp((double)x) - 1));
    print_message("exp: %.2g\n", worst);
    assert_true(worst < 3e-7);

    /* displacements: both signs alike, within the largest */
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t word = i * 2654435761u, size = 1u << (i % 31), ratio = i * 40503u;
        const uint32_t up = lj_shift_by(7, word & 0x7fffffff, size, ratio) - 7;
        const uint32_t down = 7 - lj_shift_by(7, word | 0x80000000u, size, ratio);
        assert_int_equal(up, down);
        assert_true(up <= size);
    }
    for (uint32_t tries = 2; tries < 100; tries++)
        for (uint32_t size = 0x1000; size < 0x80000000u; size += 12345678) {
            assert_true(size >= 0x78000000u || lj_tuned(size, tries, tries) > size);
            assert_true(lj_tuned(size, tries, 0) <= size);
            assert_true(lj_tuned(size, tries, tries) <= 0x80000000u);
        }
}

/* Acceptance over many words against the probability in double precision. */
static void test_acceptance(void **state) {
    (void)state;
    struct lj_member m = {.beta4 = (float)(4 / 1.5 * 0x1p-30), .zv = 30, .tail = -0.003f};
    const struct {
        uint32_t kind, n;
        double u, expected;
    } cases[] = {
        {LJ_DISPLACEMENT, 10, 1.5, exp(-1.0)},
        {LJ_DISPLACEMENT, 10, -2, 1},
        {LJ_INSERTION, 39, 1, 30.0 / 40 * exp(-1 / 1.5 + 0.003 * 79)},
        {LJ_DELETION, 20, 0.5, 20.0 / 30 * exp(-0.5 / 1.5 - 0.003 * 39)},
        {LJ_DISPLACEMENT, 10, 1000, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const int64_t energy = (int64_t)(cases[c].u / 4 * 0x1p30);
        /* the threshold: accepted below, rejected above */
        const double limit = cases[c].expected * 0x1p32;
        if (cases[c].expected > 0)
            assert_true(lj_accept(&m, cases[c].kind, (uint)fmin(limit * 0.999999, 0xffffffff),
                                  cases[c].n, energy));
        if (cases[c].expected < 1)
            assert_false(
                lj_accept(&m, cases[c].kind, (uint)(limit * 1.000001 + 1), cases[c].n, energy));
    }
}

/* Every pair of cells that can hold partners within the cutoff is in the list, once. */
/* The jump's virial of a fluid whose y = g exp(u/T) is 1 + a x + b x^2, x = r - r_c, from the pairs
 * that its shells hold: 2 pi r_c^3 V T (exp(u_c/T) - 1) Y with Y = exp(-u_c/T) y(r_c), here in
 * units of V/2, but for 3/8 of d^2 y''. */
static void test_jump(void **state) {
    (void)state;
    const double pi = 3.14159265358979323846, cutoffs[] = {1.2, 2.5, 4};
    for (int i = 0; i < 3; i++) {
        struct lj_system s = {
            .epsilon = 1.3, .unit = 5.2, .sigma = 0.9, .cutoff = cutoffs[i], .temperature = 1.7};
        const double d = lj_contact_width(&s), rc = s.cutoff, a = 0.7, b = -2;
        const struct lj_jump jump = lj_jump_of(&s);
        double pairs[2] = {0, 0}, w, scale = pow(s.sigma, 2);
        const double at_cutoff = s.epsilon * ergo_oracle_lj_pair(rc * rc / scale, 100, &w);
        for (int k = 0; k < 2; k++)
            for (int n = 0; n < 100000; n++) {
                const double x = -d * (k + (n + 0.5) / 100000), r = rc + x;
                const double u = s.epsilon * ergo_oracle_lj_pair(r * r / scale, 100, &w);
                pairs[k] += 4 * pi * r * r * (1 + a * x + b * x * x) * exp(-u / s.temperature) *
                            (d / 100000);
            }
        const double found = jump.outer * pairs[0] + jump.inner * pairs[1];
        const double expected =
            4 * pi * rc * rc * rc * s.temperature * -expm1(-at_cutoff / s.temperature);
        assert_true(fabs(found / expected - 1) < 0.5 * d * d * fabs(2 * b));
        s.shifted = true;
        assert_true(lj_jump_of(&s).outer == 0 && lj_jump_of(&s).inner == 0);
    }
    const struct lj_jump one = {3, 0.5};
    assert_true(lj_impulsive_of(&one, (int64_t)7 << 32 | 2) == 9.5);
}

static void test_grid(void **state) {
    (void)state;
    static const struct {
        double box[3], cutoff, side;
    } cases[] = {{{7.3, 12.05, 9}, 2.5, 1}, {{5, 5, 5}, 2.5, 1},    {{8, 6, 7}, 2.5, 0.63},
                 {{4, 4, 4}, 0.8, 1},       {{12, 13, 14}, 5, 1.7}, {{6, 30, 5.1}, 2.5, 1},
                 {{2, 2, 2}, 1, 3}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (int wide = 0; wide < 2; wide++) {
            struct lj_grid g;
            assert_true(lj_grid_make(&g, cases[c].box, cases[c].cutoff,
                                     wide ? cases[c].cutoff : cases[c].side, INFINITY));
            uint8_t *seen = calloc(g.cells, 1);
            for (uint32_t i = 0; i < g.n_offsets; i++) {
                uint32_t at[3];
                for (int k = 0; k < 3; k++) {
                    const int n = (int)g.n[k];
                    at[k] = (uint32_t)(((int8_t)(g.offsets[i] >> (8 * k)) + 2 * n) % n);
                }
                assert_int_equal(seen[(at[2] * g.n[1] + at[1]) * g.n[0] + at[0]]++, 0);
            }
            for (uint32_t z = 0; z < g.n[2]; z++)
                for (uint32_t y = 0; y < g.n[1]; y++)
                    for (uint32_t x = 0; x < g.n[0]; x++) {
                        const uint32_t at[3] = {x, y, z};
                        double gap2 = 0;
                        for (int k = 0; k < 3; k++) {
                            const uint32_t d = at[k] < g.n[k] - at[k] ? at[k] : g.n[k] - at[k];
                            const double gap = d ? (d - 1) * cases[c].box[k] / g.n[k] : 0;
                            gap2 += gap * gap;
                        }
                        if (gap2 < cases[c].cutoff * cases[c].cutoff)
                            assert_int_equal(seen[(z * g.n[1] + y) * g.n[0] + x], 1);
                    }
            free(seen);
            free(g.offsets);
        }
    }
}

/* Cells of dilute boxes are no more than they may be, and not far fewer; dense ones stay as they
 * are. */
static void test_dilute(void **state) {
    static const struct {
        double box[3], most;
        uint64_t least;
    } cases[] = {{{1e4, 1e4, 1e4}, 65536, 40000}, {{1e6, 1e6, 1e6}, 65536, 40000},
                 {{1e6, 5, 5}, 65536, 1024},      {{1e6, 1e6, 5}, 65536, 40000},
                 {{1e6, 1e6, 1e6}, 1, 1},         {{40, 40, 40}, 65536, 64000},
                 {{40, 41, 39}, 64000, 40 * 1599}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lj_grid g;
        assert_true(lj_grid_make(&g, cases[c].box, 2.5, 1, cases[c].most));
        assert_int_equal(g.cells, (uint64_t)g.n[0] * g.n[1] * g.n[2]);
        assert_in_range(g.cells, cases[c].least, (uint64_t)cases[c].most);
        free(g.offsets);
    }
}

/* The lists of the kernels: from anywhere in the box every place within the cutoff is in a cell of
 * the list of that corner of the cell, which comes once, and within the core in its first cells. */
static void test_lists(void **state) {
    (void)state;
    static const struct {
        double box[3], cutoff, core, side;
    } cases[] = {{{7.3, 12.05, 9}, 2.5, 0.7, 1}, {{5, 5, 5}, 2.5, 0.8, 1},
                 {{8, 6, 7}, 2.5, 0.75, 0.63},   {{4, 4, 4}, 0.8, 0.8, 1},
                 {{6, 30, 5.1}, 2.5, 0.7, 1},    {{2, 2, 2}, 1, 0.7, 3},
                 {{30, 31, 32}, 14.5, 0.7, 1}};
    uint64_t random = 1;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lj_grid g;
        size_t count;
        assert_true(lj_grid_make(&g, cases[c].box, cases[c].cutoff, cases[c].side, INFINITY));
        uint32_t *lists = lj_grid_lists(&g, cases[c].box, cases[c].cutoff, cases[c].core, &count);
        uint32_t *place = malloc(g.cells * sizeof *place);
        assert_true(lists && place && g.parts == (c == 6 ? 1 : 2));
        for (int trial = 0; trial < 200; trial++) {
            uint32_t p[3], middle[3], part[3], list = 0;
            bool mirror[3];
            for (int k = 2; k >= 0; k--) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                p[k] = (uint32_t)(random >> 32);
                const uint32_t inside = p[k] * g.n[k];
                middle[k] =
                    (2 * (uint32_t)((uint64_t)p[k] * g.n[k] >> 32) + 1) * (0x80000000u / g.n[k]);
                mirror[k] = inside >> 31;
                part[k] = g.parts == 1 ? 0 : (mirror[k] ? ~inside : inside) >> 30;
                list = list * g.parts + part[k];
            }
            const uint32_t *head = lists + 4 * (size_t)list;
            assert_true(head[0] + head[1] <= count && head[2] <= head[1]);
            memset(place, 0, g.cells * sizeof *place);
            for (uint32_t i = 0; i < head[1]; i++) {
                uint32_t at[3];
                for (int k = 0; k < 3; k++) {
                    const uint32_t by = lists[4 * (size_t)(head[0] + i) + (size_t)k];
                    at[k] = middle[k] + (mirror[k] ? 0 - by : by);
                }
                uint32_t *found = &place[lj_grid_cell(&g, at)];
                assert_int_equal(*found, 0);
                *found = i + 1;
            }
            for (int other = 0; other < 2000; other++) {
                uint32_t q[3];
                double r2 = 0;
                for (int k = 0; k < 3; k++) {
                    random = random * 6364136223846793005u + 1442695040888963407u;
                    const double d = (double)(int32_t)(random >> 32) * 0x1p-31 *
                                     (other % 2 ? cases[c].core : cases[c].cutoff);
                    q[k] = p[k] + (uint32_t)(int64_t)(d / cases[c].box[k] * 0x1p32);
                    const double back = (int32_t)(q[k] - p[k]) * 0x1p-32 * cases[c].box[k];
                    r2 += back * back;
                }
                const uint32_t at = place[lj_grid_cell(&g, q)];
                if (r2 < cases[c].cutoff * cases[c].cutoff)
                    assert_true(at > 0);
                if (r2 < cases[c].core * cases[c].core)
                    assert_true(at <= head[2]);
            }
        }
        free(place);
        free(lists);
        free(g.offsets);
    }
}

/* ---- jobs and starts ------------------------------------------------------------------------- */

static struct ergo_job *parse(const char *system) {
    char text[800];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{\"sampler\": \"lj-gcmc\", \"run\": {\"sweeps\": 9}, \"system\": "
             "{\"temperature\": 2, %s}}",
             system);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    ergo_error_clear(ctx);
    return ergo_job_parse(ctx, text, strlen(text), "unit", NULL, 0, &job) == ERGO_OK ? job : NULL;
}

static void refused(const char *system, const char *message) {
    assert_null(parse(system));
    if (!strstr(ergo_error_message(ctx), message))
        fail_msg("\"%s\" is not in: %s", message, ergo_error_message(ctx));
}

#define BOARD "'activity': 0.1, 'decomposition': 'checkerboard'"

static void test_jobs(void **state) {
    (void)state;
    refused(BOARD ", 'box': [12, 12, 12], 'cutoff': 0.6, 'tail_correction': true",
            "the tail repels there");
    refused(BOARD ", 'box': [12, 9.9, 12]", "needs at least 10.00001");
    refused(BOARD ", 'box': [8.3, 9, 9], 'gap_cells': 3", "needs at least 8.33334");
    refused("'activity': 0.1, 'box': [12, 12, 12], 'neighbours': 'cells'", "this key is gone");
    refused("'activity': 0.1, 'box': [12, 12, 12], 'cell_trials': 3",
            "it acts only with decomposition checkerboard");
    refused("'activity': 0.1, 'box': [12, 12, 12], 'particles': 3, 'start': 'a.xyz'",
            "says how many");
}

/* The largest boxes that keys allow: numbers of cells and of bins that no integer here holds. */
static void test_vast(void **state) {
    (void)state;
    refused("'activity': 1e-8, 'decomposition': 'checkerboard', 'box': [1e6, 1e6, 1e6], 'cutoff': "
            "0.4, 'sigma': 0.4",
            "7.38e+19 cells");
    struct ergo_job *job = parse("'activity': 1e-8, 'epsilon': 0, 'box': [1e6, 1e6, 1e6]");
    assert_non_null(job);
    const struct lj_system s = lj_system_of(&job->points[0]);
    uint32_t width;
    const size_t bins = lj_histogram_size(&s, &width);
    assert_true(bins <= 1024 && bins * (uint64_t)width > 1u << 26);
    ergo_job_destroy(job);
}

/* Gaps are wider than the cutoff, whatever the side; blocks are as many as there can be. */
static void test_boards(void **state) {
    (void)state;
    for (int side = 1000; side < 4000; side += 7) {
        char system[200];
        snprintf(system, sizeof system, BOARD ", 'box': [%d.0e-2, 20, 31.7]", side);
        struct ergo_job *job = parse(system);
        if (!job) {
            assert_true(side < 1001);
            continue;
        }
        const struct lj_system s = lj_system_of(&job->points[0]);
        struct lj_grid grid;
        struct lj_member m;
        uint32_t blocks[3];
        assert_true(lj_grid_board(&grid, &s));
        const uint64_t all = lj_board_blocks(&s, blocks);
        assert_int_equal(all, (uint64_t)blocks[0] * blocks[1] * blocks[2]);
        for (int k = 0; k < 3; k++) {
            const double cell = s.box[k] / grid.n[k];
            assert_true(blocks[k] >= 2 && grid.n[k] == 4 * blocks[k]);
            assert_true(2 * cell > 2.5 && s.box[k] / (blocks[k] + 1) < 5.00001);
        }
        lj_member_fill(&job->points[0], 0, NULL, &m);
        assert_true(fabs(m.zv - 0.1 * s.volume / (8.0 * (double)all)) < 1e-5 * m.zv);
        free(grid.offsets);
        ergo_job_destroy(job);
    }
}

/* What a frame says of positions is exact. */
static void test_start(void **state) {
    (void)state;
    const char *path = "/tmp/ergo-unit-lj-start.xyz";
    static const double box[3] = {12.3, 7, 9.1};
    uint32_t words[300], *got = NULL, n = 0;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "100\nLattice=\"12.3 0 0 0 7 0 0 0 9.1\" Properties=species:S:1:pos:R:3\n");
    for (uint32_t i = 0; i < 300; i++) {
        words[i] = i == 5 ? 0xffffffffu : i * 2654435761u;
        fprintf(file, "%s%.11g%s", i % 3 ? " " : "LJ ", words[i] * 0x1p-32 * box[i % 3],
                i % 3 == 2 ? "\n" : "");
    }
    fclose(file);
    struct ergo_job *job =
        parse("'activity': 0.1, 'box': [12.3, 7, 9.1], 'start': '/tmp/ergo-unit-lj-start.xyz', "
              "'epsilon': 0");
    assert_non_null(job);
    assert_int_equal(lj_start(ctx, &job->points[0], 0, &(struct lj_tables){0}, &got, &n), ERGO_OK);
    assert_int_equal(n, 100);
    assert_memory_equal(got, words, sizeof words);
    free(got);
    ergo_job_destroy(job);
    refused("'activity': 0.1, 'box': [12.3, 7, 9], 'start': '/tmp/ergo-unit-lj-start.xyz'",
            "12.3 x 7 x 9.1");
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static),    cmocka_unit_test(test_small_n),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_acceptance),
        cmocka_unit_test(test_grid),      cmocka_unit_test(test_lists),
        cmocka_unit_test(test_jump),      cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_boards),    cmocka_unit_test(test_start),
        cmocka_unit_test(test_vast),      cmocka_unit_test(test_dilute),
    };
    return cmocka_run_group_tests_name("lj", tests, context_open, context_close);
}
