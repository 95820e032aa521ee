/*
 * The serial checkerboards with labels (oracle/disks_schemes.h): ergocl's own scheme against the
 * oracle of its chain, by acceptance and occupied cells; other programs' schemes against plain
 * Metropolis, by close pairs.
 *
 * Error budget, set beforehand: every |z| < 4, errors from 30 blocks; eight comparisons. Mutants
 * seen to fail: trials may leave their cell; squares for circles; reflections not in the middle.
 * (Not seen here: in turn without the shuffle.)
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "oracle/disks_schemes.h"
#include "oracle/disks_serial.h"
#include "stats/stats.h"

enum { BLOCKS = 30 };
static const double PI = 3.14159265358979323846;
static const struct ergo_oracle_scheme own = {.cells = 16, .moves = 4, .rounds = 1, .d = 0.16};

struct blocks {
    double value[BLOCKS];
};

static void assert_same(const char *what, const struct blocks *a, const struct blocks *b) {
    struct ergo_estimate e[2];
    ergo_stats_estimate(a->value, BLOCKS, &e[0]);
    ergo_stats_estimate(b->value, BLOCKS, &e[1]);
    const double z = (e[0].mean - e[1].mean) / hypot(e[0].error_binning, e[1].error_binning);
    print_message("%s: %.6f and %.6f, z = %.1f\n", what, e[0].mean, e[1].mean, z);
    assert_true(fabs(z) < 4);
}

/* The same lattice in ergocl's integers. */
static struct ergo_oracle_disks oracle_of(const struct ergo_oracle_chain *c) {
    struct ergo_oracle_disks o = {.cells = c->scheme.cells,
                                  .rows = c->scheme.cells,
                                  .ratio = UINT64_C(1) << 62,
                                  .width = 1 << 22,
                                  .moves = c->scheme.moves,
                                  .shuffle_particles = true,
                                  .shuffle_checkerboard = true,
                                  .key = {7, 11}};
    const double sigma = (double)o.width / c->width;
    o.contact = (uint64_t)ceil(sigma * sigma);
    o.step = o.step_y = (float)(c->scheme.d * sigma / 131072.0);
    o.cell = calloc((size_t)(o.cells * o.cells), sizeof *o.cell);
    assert_non_null(o.cell);
    for (int i = 0; i < c->n; i++) {
        const double x = c->x[i] / c->width, y = c->y[i] / c->width;
        struct ergo_oracle_cell *cell = &o.cell[(int64_t)y * o.cells + (int64_t)x];
        assert_true(cell->n < 4);
        cell->x[cell->n] = (int64_t)((x - floor(x)) * (double)o.width);
        cell->y[cell->n++] = (int64_t)((y - floor(y)) * (double)o.width);
    }
    return o;
}

static void test_own(void **state) {
    (void)state;
    enum { WARM_UP = 1000, SWEEPS = 60 };
    struct ergo_oracle_chain c;
    struct blocks acceptance[2], occupied[2];
    assert_true(
        ergo_oracle_chain_init(&c, own, 16, 0.6, 1)); /* at 0.698 blocks would be correlated */
    struct ergo_oracle_disks o = oracle_of(&c);
    uint64_t step = 0;
    while (step < WARM_UP) {
        ergo_oracle_disks_sweep(&o, step++);
        ergo_oracle_chain_sweep(&c);
    }
    for (int b = 0; b < BLOCKS; b++) {
        const double cells = (double)(o.cells * o.cells) * SWEEPS;
        uint64_t accepted = 0, tried = 0;
        c.accepted = c.trials = c.updates = 0;
        for (int t = 0; t < SWEEPS; t++) {
            ergo_oracle_disks_sweep(&o, step++);
            accepted += o.accepted;
            tried += o.tried;
            ergo_oracle_chain_sweep(&c);
        }
        acceptance[0].value[b] = (double)accepted / (4.0 * (double)tried);
        acceptance[1].value[b] = (double)c.accepted / (double)c.trials;
        occupied[0].value[b] = (double)tried / cells;
        occupied[1].value[b] = (double)c.updates / cells;
    }
    assert_false(o.lost);
    assert_same("acceptance", &acceptance[0], &acceptance[1]);
    assert_same("occupied cells", &occupied[0], &occupied[1]);
    free(o.cell);
    ergo_oracle_chain_free(&c);
}

static void test_others(void **state) {
    (void)state;
    enum { ROWS = 8, WARM_UP = 500, SAMPLES = 400, BINS = 1 };
    static const struct {
        const char *name;
        struct ergo_oracle_scheme scheme;
    } others[] = {
        {"ergocl", {.cells = 8, .moves = 4, .rounds = 1, .d = 0.16}},
        {"SoftDisks",
         {.cells = 4, .moves = 16, .rounds = 1, .drawn = true, .square = true, .d = 0.16}},
        {"HOOMD-blue 2",
         {.cells = 8, .moves = 1, .rounds = 4, .drawn = true, .both = true, .d = 0.2}},
        {"lines", {.cells = 8, .moves = 2, .rounds = 1, .lines = 1}},
        {"reflections", {.cells = 8, .moves = 2, .rounds = 1, .lines = 2}},
        {"ergocl, reflections", {.cells = 8, .moves = 2, .rounds = 1, .lines = 3}},
    };
    const double box = sqrt(ROWS * ROWS * PI / (4 * 0.6));
    struct blocks plain;
    struct ergo_oracle_plain p = {0};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        struct ergo_oracle_chain c;
        struct blocks pairs;
        size_t overlaps;
        assert_true(ergo_oracle_chain_init(&c, others[k].scheme, ROWS, 0.6, 5 + k));
        if (k == 0) { /* the same start */
            assert_true(ergo_oracle_plain_init(&p, (size_t)c.n, box, 0.2, c.x, c.y, 3));
            for (int t = 0; t < 4 * WARM_UP; t++)
                ergo_oracle_plain_sweep(&p);
            for (int b = 0; b < BLOCKS; b++) {
                uint64_t count = 0;
                for (int t = 0; t < 4 * SAMPLES; t++) {
                    ergo_oracle_plain_sweep(&p);
                    ergo_oracle_plain_contacts(&p, 0.05, BINS, &count);
                }
                plain.value[b] = (double)count / (4 * SAMPLES);
            }
        }
        for (int t = 0; t < WARM_UP; t++)
            ergo_oracle_chain_sweep(&c);
        for (int b = 0; b < BLOCKS; b++) {
            double count = 0;
            for (int t = 0; t < SAMPLES; t++) {
                ergo_oracle_chain_sweep(&c);
                count += (double)ergo_oracle_chain_pairs(&c, 1.05, &overlaps);
                assert_int_equal(overlaps, 0);
            }
            pairs.value[b] = count / SAMPLES;
        }
        assert_same(others[k].name, &plain, &pairs);
        ergo_oracle_chain_free(&c);
    }
    ergo_oracle_plain_free(&p);
}

static void test_refused(void **state) {
    (void)state;
    struct ergo_oracle_chain c;
    struct ergo_oracle_scheme s = own;
    assert_false(ergo_oracle_chain_init(&c, s, 15, 0.698, 1)); /* odd */
    s.cells = 18;                                              /* narrower than a disk */
    assert_false(ergo_oracle_chain_init(&c, s, 16, 0.698, 1));
    s.cells = 15;
    assert_false(ergo_oracle_chain_init(&c, s, 16, 0.698, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
