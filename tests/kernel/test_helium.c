/*
 * The helium kernels against the oracle, bit for bit, through the sampler's own operations: start,
 * moves, tuning, multiplication, sums kept from launch to launch, energies and curves' places, on
 * every path.
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
#include "helium_bench.h"

static bool rusticl;

/* Frames, read as a start, are the same walkers again, to the last bit; then once more from the
 * first, where a job has more walkers than a file has frames. */
static void check_frames(struct helium_bench *b) {
    const struct helium_shape *shape = &b->s->shape;
    const size_t size = 3 * (size_t)shape->n, count = shape->walkers;
    int32_t *places = malloc((count + 1) * size * sizeof *places);
    assert_non_null(places);
    for (size_t m = 0; m < b->job->n_points; m++) {
        struct ergo_text text = {0};
        HELIUM_OK(b, b->ops->frame(ctx, b->s, m, &text));
        HELIUM_OK(b, helium_start_parse(ctx, "frames", text.data, text.length, &b->s->models[m],
                                        shape->walkers + 1, places));
        for (size_t w = 0; w <= count; w++)
            assert_memory_equal(places + w * size, helium_bench_walkers(b, m)[w % count].place,
                                size * sizeof *places);
        ergo_text_free(&text);
    }
    free(places);
}

/* ln psi of a sample is the mean of the walkers that moved before it. */
static void check_column(struct helium_bench *b, size_t sample) {
    const uint32_t active = helium_active(&b->s->shape, b->step);
    for (size_t m = 0; m < b->job->n_points; m++) {
        const double *row = b->columns + (sample * b->job->n_points + m) * b->job->model->n_columns;
        double mean = 0;
        for (uint32_t w = 0; w < active; w++)
            mean += (double)helium_bench_walkers(b, m)[w].ln_psi * 0x1p-21 / b->s->shape.n;
        assert_true(fabs(row[5] - mean / active) < 1e-12);
    }
}

/* Steps alone. */
static void advance(struct helium_bench *b, uint64_t steps) {
    HELIUM_OK(b, ergo_sampler_advance(ctx, b->ops, b->s, 1, 0, steps, 0));
    helium_bench_steps(b, steps);
    helium_compare_states(b);
    helium_compare_atoms(b);
}

/* Blocks of samples in both slots, steps alone, a state saved and loaded. */
static void check(const char *system, int path, int group) {
    struct helium_bench b = {.ctx = ctx, .device = device};
    char json[1024];
    if (rusticl && path == HELIUM_PATH_LANES)
        return; /* never chosen there */
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-vmc\", \"seed\": \"18446744073709551557\", %s, \"tuning\": "
             "{\"path\": %d, \"work_group\": %d, \"tile\": %d}}",
             system, path, group, path == HELIUM_PATH_BLOCKS ? (small ? 2 : 16) : 0);
    helium_bench_begin(&b, json);
    assert_int_equal(b.s->launch.path, path ? path : HELIUM_PATH_TRIPLET);
    helium_compare_states(&b);
    check_frames(&b);
    HELIUM_OK(&b, ergo_sampler_advance(ctx, b.ops, b.s, 0, 2, 2, 0));
    HELIUM_OK(&b, ergo_sampler_advance(ctx, b.ops, b.s, 1, 3, 1, 2));
    helium_bench_collect(&b, 0);
    helium_compare_block(&b, 0);
    check_column(&b, 1);
    helium_bench_collect(&b, 1);
    helium_compare_block(&b, 1);
    check_column(&b, 2);
    helium_compare_states(&b);
    helium_compare_atoms(&b);
    advance(&b, small ? 4 : 30);
    /* Oclgrind takes the first 8 bytes of what clEnqueueWriteBuffer wrote anew for uninitialised */
    for (size_t m = 0; m < b.job->n_points && !small; m++) {
        struct ergo_text text = {0};
        HELIUM_OK(&b, b.ops->save(ctx, b.s, m, &text));
        HELIUM_OK(&b, b.ops->load(ctx, b.s, m, b.step, text.data, text.length));
        ergo_text_free(&text);
    }
    advance(&b, 2);
    helium_compare_samples(&b, 1, 1);
    helium_bench_end(&b);
}

/* Physics by name: tails of vectors and groups, a box that is no cube, starts, scans. */
static const char *const systems[] = {
    "\"system\": {\"n\": 13, \"b\": 2.5, \"walkers\": 3}, "
    "\"scan\": {\"/system/b\": [2.5, 0, 1.9]}, \"run\": {\"sweeps\": 9, \"frame_walkers\": 9}",
    "\"system\": {\"n\": 40, \"walkers\": 5, \"start_walkers\": 2, \"start_steps\": 32, "
    "\"target_acceptance\": 0.5}, \"run\": {\"equilibration\": 40, \"sweeps\": 9, "
    "\"frame_walkers\": 9, "
    "\"structure_every\": 2, \"optimise\": \"b\"}",
    "\"system\": {\"n\": 71, \"aspect\": [1, 2, 1], \"b\": 2.6, \"walkers\": 2}, \"run\": "
    "{\"sweeps\": 9, \"structure_every\": 1, \"frame_walkers\": 9}",
    "\"system\": {\"n\": 2, \"b\": 1, \"walkers\": 2, \"displacement\": 3}, \"run\": {\"sweeps\": "
    "9, \"frame_walkers\": 9}",
    "\"system\": {\"n\": 5, \"b\": 1.5, \"walkers\": 2}, \"run\": {\"sweeps\": 9, "
    "\"frame_walkers\": 9}",
    "\"system\": {\"n\": 139, \"b\": 2.6, \"walkers\": 2}, \"run\": {\"sweeps\": 9, "
    "\"frame_walkers\": 9}",
    "\"system\": {\"n\": 40, \"aspect\": [5, 2, 1], \"one_body\": \"hcp\", \"density\": 0.03, "
    "\"localisation\": 2, \"b\": 2, \"walkers\": 3}, \"run\": {\"sweeps\": 9, \"frame_walkers\": "
    "9}",
    "\"system\": {\"n\": 5, \"one_body\": \"trap\", \"density\": 5e-5, \"b\": 1.5, \"walkers\": "
    "2}, "
    "\"run\": {\"sweeps\": 9, \"frame_walkers\": 9}",
    "\"system\": {\"n\": 40, \"b\": 2.6, \"walkers\": 3, \"triplet\": {\"strength\": -3, "
    "\"centre\": 1.5, \"width\": 1.8}}, \"run\": {\"sweeps\": 9, \"structure_every\": 1, "
    "\"density_matrix_points\": 3, \"frame_walkers\": 9}",
};

/* Two atoms at distances around the kink of the potential: V and r V' to a millionth. */
static void energies_at_the_kink(void **state) {
    (void)state;
    enum { WALKERS = 64 };
    const size_t walkers = small ? 8 : WALKERS;
    struct helium_bench b = {.ctx = ctx, .device = device};
    int32_t place[WALKERS][3][2] = {0};
    struct helium_sums sums[WALKERS];
    char json[256];
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-vmc\", \"system\": {\"n\": 2, \"density\": 0.001, \"b\": "
             "1, \"walkers\": %zu}, \"run\": {\"sweeps\": 9}}",
             walkers);
    helium_bench_begin(&b, json);
    const struct helium_model *m = &b.s->models[0];
    for (size_t w = 0; w < walkers; w++)
        place[w][0][1] = (int32_t)((4.3 + 0.2 * (double)w / (double)walkers) / m->side[0] * 0x1p32);
    ergo_engine_begin(&b.s->e, ctx);
    ergo_engine_write(&b.s->e, HELIUM_POSITIONS, 0, walkers * sizeof place[0], place);
    helium_energy(b.s, HELIUM_SUMS, 0, true);
    ergo_engine_read(&b.s->e, HELIUM_SUMS, 0, walkers * sizeof sums[0], sums);
    HELIUM_OK(&b, ergo_engine_end(&b.s->e));
    for (size_t w = 0; w < walkers; w++) {
        double v[2];
        helium_model_v(m, (double)place[w][0][1] * 0x1p-32 * m->side[0], v);
        const double allowed = 1e-6 * (fabs(v[0]) + fabs(v[1])) + 0x1p-20;
        const double found[2] = {0.5 * 0x1p-20 * (double)sums[w].potential,
                                 0.5 * 0x1p-20 * (double)sums[w].virial};
        for (int k = 0; k < 2; k++)
            if (!(fabs(found[k] - v[k]) < allowed))
                fail_msg("distance %zu: %.9g, expected %.9g within %.1g", w, found[k], v[k],
                         allowed);
    }
    helium_bench_end(&b);
}

static void registers_path(void **state) {
    (void)state;
    check(systems[small ? 4 : 0], HELIUM_PATH_REGISTERS, 4);
    if (small)
        return;
    check(systems[2], HELIUM_PATH_REGISTERS, 8);  /* nine rows: sums in local memory */
    check(systems[6], HELIUM_PATH_REGISTERS, 16); /* sites; a row that is not full */
    if (rusticl)                                  /* compiles for seconds */
        return;
    check(systems[1], HELIUM_PATH_REGISTERS, 32);
    check(systems[3], HELIUM_PATH_REGISTERS, 2);
}

static void blocks_path(void **state) {
    (void)state;
    check(systems[small ? 4 : 0], HELIUM_PATH_BLOCKS, small ? 2 : 4);
    if (small)
        return;
    check(systems[6], HELIUM_PATH_BLOCKS, 16);
    if (rusticl)
        return;
    check(systems[2], HELIUM_PATH_BLOCKS, 16);
    check(systems[1], HELIUM_PATH_BLOCKS, 8); /* two groups a tile */
    check(systems[3], HELIUM_PATH_BLOCKS, 1);
}

static void pairs_path(void **state) {
    (void)state;
    check(systems[small ? 4 : 0], HELIUM_PATH_PAIRS, 64);
    if (small)
        return;
    check(systems[1], HELIUM_PATH_PAIRS, 128); /* two blocks of trials */
    check(systems[6], HELIUM_PATH_PAIRS, 64);
    if (rusticl)
        return;
    check(systems[2], HELIUM_PATH_PAIRS, 64);
    check(systems[3], HELIUM_PATH_PAIRS, 256);
}

static void lanes_path(void **state) {
    (void)state;
    if (device->type != CL_DEVICE_TYPE_CPU)
        return;
    check(systems[small ? 3 : 0], HELIUM_PATH_LANES, 0);
    if (small)
        return;
    check(systems[1], HELIUM_PATH_LANES, 0);
    check(systems[2], HELIUM_PATH_LANES, 0);
    check(systems[3], HELIUM_PATH_LANES, 0);
    check(systems[5], HELIUM_PATH_LANES, 0); /* two chunks of vectors */
    check(systems[6], HELIUM_PATH_LANES, 0);
    check(systems[7], HELIUM_PATH_LANES, 0);
}

static void triplet_path(void **state) {
    (void)state;
    if (!small && !rusticl)
        check(systems[8], HELIUM_PATH_AUTO, 16);
}

/* A state whose ln psi is not that of its atoms is no state of the chain. */
static void a_moved_atom_is_noticed(void **state) {
    (void)state;
    static const char json[] = "{\"sampler\": \"helium-vmc\", \"system\": {\"n\": 5, \"b\": 1.5, "
                               "\"walkers\": 2}, \"run\": {\"sweeps\": 9}}";
    struct helium_bench b = {.ctx = ctx, .device = device};
    helium_bench_begin(&b, json);
    for (int moved = 0; moved < 2; moved++) {
        struct ergo_text text = {0};
        HELIUM_OK(&b, b.ops->save(ctx, b.s, 0, &text));
        text.data[text.length - 1] =
            (char)(text.data[text.length - 1] ^ moved); /* a z of the last walker */
        HELIUM_OK(&b, b.ops->load(ctx, b.s, 0, 0, text.data, text.length));
        assert_int_equal(ergo_sampler_advance(ctx, b.ops, b.s, 0, 0, 1, 0),
                         moved ? ERGO_E_AUDIT : ERGO_OK);
        ergo_text_free(&text);
    }
    assert_non_null(strstr(ergo_error_message(ctx), "walker 1 of member 0"));
    ergo_error_clear(ctx);
    helium_bench_end(&b);
}

static int open_device(void **unused) {
    const int failed = fixture_open(unused);
    rusticl = !failed && strstr(device->summary.platform, "rusticl") != NULL;
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_path),
        cmocka_unit_test(blocks_path),
        cmocka_unit_test(pairs_path),
        cmocka_unit_test(lanes_path),
        cmocka_unit_test(energies_at_the_kink),
        cmocka_unit_test(triplet_path),
        cmocka_unit_test(a_moved_atom_is_noticed),
    };
    return cmocka_run_group_tests(tests, open_device, fixture_close);
}
