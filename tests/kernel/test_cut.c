/*
 * The kernels of a cut lattice against the serial oracle, bit for bit. One rank has the whole
 * lattice as its rectangle, which borders on itself. So halos, bonds between rectangles, lists of
 * parts and merging are all used. (tests/mpi has several ranks.) Compares spins and all
 * measurements, with all ways of merging; words that are not full, a single word, two rows.
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

#include "fixture.h"
#include "oracle/philox_ref.h"
#include "oracle/potts_serial.h"
#include "samplers/swendsen_wang/cut.h"

static const struct ergo_sampler_ops *ops;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message(ctx));                                    \
    } while (0)

static const struct cut_case {
    bool tiny; /* also under Oclgrind */
    int lx, ly, q;
    const char *more; /* of the system, of the tuning */
    const char *tuning;
} cases[] = {
    {true, 5, 7, 3, "", ""},
    {true, 40, 6, 3, "", "\"tile_words\": 1, \"tile_rows\": 4, \"work_group\": 2"},
    {false, 130, 75, 2, "", "\"tile_words\": 2, \"tile_rows\": 16, \"tile_group\": 8"},
    {true, 40, 6, 3, "",
     "\"tile_words\": 1, \"tile_rows\": 4, \"work_group\": 2, \"tile_group\": 4"},
    {true, 40, 6, 3, "", "\"tile_words\": 1, \"tile_rows\": 4, \"tile_group\": 16"},
    {false, 40, 2, 3, ", \"merge\": \"rounds\"", "\"tile_words\": 1, \"tile_rows\": 4"},
    {false, 130, 75, 2, ", \"merge\": \"rounds\"", "\"tile_words\": 2, \"tile_rows\": 16"},
    {false, 130, 75, 2, ", \"merge\": \"gather\", \"hamiltonian\": \"ising\"",
     "\"tile_words\": 2, \"tile_rows\": 16"},
    {false, 97, 64, 9, ", \"start\": \"ordered\"", "\"tile_words\": 2, \"tile_rows\": 16"},
};

static void compare_spins(void *state, size_t m, const struct ergo_oracle_potts *o) {
    struct ergo_text text = {0};
    OK(ops->save(ctx, state, m, &text));
    const size_t row = ((size_t)o->Lx + 7) / 8, planes = text.length / row / (size_t)o->Ly;
    for (int y = 0; y < o->Ly; y++)
        for (int x = 0; x < o->Lx; x++) {
            unsigned spin = 0;
            for (size_t b = 0; b < planes; b++)
                spin |=
                    ((uint8_t)text.data[((size_t)y * planes + b) * row + (size_t)x / 8] >> (x % 8) &
                     1u)
                    << b;
            if (spin != o->spins[y * o->Lx + x])
                fail_msg("site (%d, %d): %u, oracle %u", x, y, spin, o->spins[y * o->Lx + x]);
        }
    ergo_text_free(&text);
}

static void compare_columns(const double *c, const struct ergo_oracle_potts *o,
                            const struct ergo_oracle_potts_clusters *k, bool ising) {
    const double n = (double)o->Lx * o->Ly, u = (double)ergo_oracle_potts_unequal(o) / n;
    assert_true(c[SW_COLUMN_ENERGY] == (ising ? -(2 - 2 * u) : u));
    assert_true(c[SW_COLUMN_CLUSTERS] == (double)k->clusters / n);
    assert_true(c[SW_COLUMN_LARGEST] == (double)k->largest / n);
    assert_true(c[SW_COLUMN_IMPROVED] == k->sum_squares / (n * n));
    assert_true(c[SW_COLUMN_WRAPS] == (k->wraps_x || k->wraps_y));
}

static void run_case(const struct cut_case *c) {
    char text[1024];
    struct ergo_job *job = NULL;
    void *state = NULL;
    const double tc = 1 / log(1 + sqrt(c->q)) * (strstr(c->more, "ising") ? 2 : 1);
    snprintf(text, sizeof text,
             "{\"sampler\": \"swendsen-wang\", \"seed\": \"18446744073709551557\", \"system\": "
             "{\"size\": [%d, %d], \"q\": %d, \"temperature\": 1%s}, \"run\": {\"sweeps\": 1}, "
             "\"tuning\": {%s}, \"scan\": {\"/system/temperature\": [%.9f, %.9f, 0.02]}}",
             c->lx, c->ly, c->q, c->more, c->tuning, tc, 0.9 * tc);
    OK(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    print_message("    %d x %d, q = %d%s\n", c->lx, c->ly, c->q, c->more);
    OK(ergo_sampler_create(ctx, ops, batch, device, &state));
    OK(ops->init(ctx, state));
    double *columns = calloc(batch->count * SW_COLUMNS, sizeof *columns);
    struct ergo_oracle_potts oracles[3];
    assert_int_equal(batch->count, 3);
    for (size_t m = 0; m < 3; m++) {
        const struct ergo_point *p = batch->points[m];
        const double j = sw_is_ising(p) ? 2 : 1;
        assert_true(ergo_oracle_potts_init(
            &oracles[m], c->lx, c->ly, c->q, j, ergo_point_real(p, "/system/temperature"),
            !strstr(c->more, "ordered"), ergo_oracle_philox, p->stream));
        compare_spins(state, m, &oracles[m]);
    }
    uint64_t t = 0;
    for (int block = 0; block < 3; block++) {
        if (block == 1) /* cut anew on the way */
            OK(sw_cut_recut(ctx, state));
        struct ergo_samples samples = {.columns = columns};
        OK(ergo_sampler_advance(ctx, ops, state, 0, 0, 1, 0)); /* not measured, then measured */
        OK(ergo_sampler_advance(ctx, ops, state, 1, 1, 2, 0));
        OK(ergo_sampler_collect(ctx, ops, state, 1, &samples));
        for (size_t m = 0; m < 3; m++) {
            for (uint64_t s = 0; s < 3; s++)
                ergo_oracle_potts_sweep(&oracles[m], t + s);
            const struct ergo_oracle_potts_clusters k = ergo_oracle_potts_clusters(&oracles[m]);
            compare_spins(state, m, &oracles[m]);
            compare_columns(columns + m * SW_COLUMNS, &oracles[m], &k,
                            sw_is_ising(batch->points[m]));
        }
        t += 3;
    }
    for (size_t m = 0; m < 3; m++)
        ergo_oracle_potts_free(&oracles[m]);
    ergo_engine_destroy(state);
    free(columns);
    ergo_job_destroy(job);
}

static void test_cases(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        if (cases[k].tiny || !small)
            run_case(&cases[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    ops = ergo_sampler_find("swendsen-wang")->models[0]->cut;
    return cmocka_run_group_tests(tests, fixture_open, fixture_close) ? 1 : 0;
}
