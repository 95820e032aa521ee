/*
 * The helium kernels against the host's twin, bit for bit, through the sampler's own operations:
 * start, moves, tuning, multiplication, and sums kept from launch to launch, on every path. The
 * audit compares energies with double precision.
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
#include "helium_vmc/core.h"
#include "samplers/helium_vmc/helium.h"

static const struct ergo_model *model;
static bool rusticl;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message(ctx));                                    \
    } while (0)

struct bench {
    struct ergo_job *job;
    struct helium_state *s;
    struct helium_twin *twins; /* [members][walkers] */
    struct helium_cubic_host *tables, *random;
    uint64_t step;
};

/* The lattice of a liquid; what the host writes for atoms with sites is taken as it is. */
static void start_lattice(const struct helium_shape *shape, struct helium_twin *t) {
    const uint32_t n = shape->n, *sites = shape->sites;
    const uint64_t total = (uint64_t)sites[0] * sites[1] * sites[2];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t site = (uint32_t)(i * total / n);
        const uint32_t at[3] = {site % sites[0], site / sites[0] % sites[1],
                                site / sites[0] / sites[1]};
        const struct ergo_words w =
            ergo_philox_words(t->walker * n + i, 0, 0, ERGO_DRAW(HELIUM_PURPOSE_START, 0),
                              t->member->key0, t->member->key1);
        const uint32_t words[3] = {w.x, w.y, w.z};
        for (uint32_t k = 0; k < 3; k++)
            t->place[k * n + i] =
                (int32_t)helium_start_coordinate(at[k], UINT64_C(0x100000000) / sites[k], words[k]);
    }
}

static void start_twin(const struct helium_state *s, size_t member, struct helium_twin *t) {
    if (t->sites)
        helium_sites_start(&s->models[member], s->shape.sites, t->member, t->walker, t->place);
    else
        start_lattice(&s->shape, t);
    t->factor = HELIUM_FACTOR_ONE;
    t->accepted = 0;
    t->ln_psi = helium_twin_ln_psi(t) / 2;
}

static void begin(struct bench *b, const char *json) {
    memset(b, 0, sizeof *b);
    OK(ergo_job_parse(ctx, json, strlen(json), "test", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    void *state = NULL;
    OK(ergo_sampler_create(ctx, model->ops, &b->job->batches[0], device, &state));
    b->s = state;
    OK(model->ops->init(ctx, state));
    const struct helium_shape *shape = &b->s->shape;
    const size_t members = b->job->n_points, all = members * shape->walkers;
    const size_t size = (size_t)b->s->launch.binades << HELIUM_U_PIECES;
    b->twins = calloc(all, sizeof *b->twins);
    b->tables = malloc(members * size * sizeof *b->tables);
    b->random = malloc(2 * HELIUM_R_SIZE * sizeof *b->random);
    assert_true(b->twins && b->tables && b->random);
    helium_table_random(b->random);
    for (size_t m = 0; m < members; m++) {
        helium_table_u(&b->s->models[m], b->s->launch.binades, b->tables + m * size);
        for (uint32_t w = 0; w < shape->walkers; w++) {
            struct helium_twin *t = &b->twins[m * shape->walkers + w];
            *t = (struct helium_twin){
                .member = &b->s->members[m],
                .u_table = b->tables + m * size,
                .random = b->random,
                .binades = b->s->launch.binades,
                .n = shape->n,
                .walker = w,
                .sites = helium_has_sites(b->s->e.batch->points[0]) ? b->s->sites : NULL,
                .place = malloc(12 * (size_t)shape->n)};
            assert_non_null(t->place);
            start_twin(b->s, m, t);
        }
    }
}

static void end(struct bench *b) {
    for (size_t i = 0; i < b->job->n_points * b->s->shape.walkers; i++)
        free(b->twins[i].place);
    free(b->twins);
    free(b->tables);
    free(b->random);
    ergo_engine_destroy(b->s);
    ergo_job_destroy(b->job);
}

/* The twins through start stage, tuning and multiplication, a macroupdate at a time. */
static void advance_twins(struct bench *b, uint64_t steps) {
    const struct helium_shape *shape = &b->s->shape;
    for (uint64_t end_step = b->step + steps; b->step < end_step;) {
        const uint32_t active = helium_active(shape, b->step);
        const bool starting = b->step < shape->start_steps;
        for (size_t m = 0; m < b->job->n_points; m++) {
            struct helium_twin *t = b->twins + m * shape->walkers;
            uint64_t accepted = 0;
            for (uint32_t w = 0; w < active; w++)
                helium_twin_steps(&t[w], b->step, 1);
            if (starting && t->member->target && (b->step + 1) % HELIUM_TUNE_EVERY == 0) {
                for (uint32_t w = 0; w < active; w++) {
                    accepted += t[w].accepted;
                    t[w].accepted = 0;
                }
                const uint32_t factor = helium_tune_factor(
                    t->factor, accepted, (uint64_t)active * shape->n * HELIUM_TUNE_EVERY,
                    t->member->target);
                for (uint32_t w = 0; w < shape->walkers; w++)
                    t[w].factor = factor;
            }
            for (uint32_t w = active; b->step + 1 == shape->start_steps && w < shape->walkers;
                 w++) {
                memcpy(t[w].place, t[w % active].place, 12 * (size_t)shape->n);
                t[w].ln_psi = t[w % active].ln_psi;
                t[w].accepted = t[w % active].accepted;
            }
        }
        b->step++;
    }
}

static uint32_t word(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The canonical state against the twins: factor, ln psi, window, positions. */
static void compare(struct bench *b) {
    const struct helium_shape *shape = &b->s->shape;
    for (size_t m = 0; m < b->job->n_points; m++) {
        struct ergo_text text = {0};
        OK(model->ops->save(ctx, b->s, m, &text));
        const uint8_t *at = (const uint8_t *)text.data;
        assert_int_equal(word(at), b->twins[m * shape->walkers].factor);
        at += 4;
        for (uint32_t w = 0; w < shape->walkers; w++) {
            const struct helium_twin *t = &b->twins[m * shape->walkers + w];
            const uint64_t ln_psi = (uint64_t)word(at) | (uint64_t)word(at + 4) << 32;
            if ((int64_t)ln_psi != t->ln_psi || word(at + 8) != t->accepted)
                fail_msg("member %zu, walker %u, step %llu: ln psi %lld, %u accepted; expected "
                         "%lld, %u",
                         m, w, (unsigned long long)b->step, (long long)ln_psi, word(at + 8),
                         (long long)t->ln_psi, t->accepted);
            at += 12;
            for (uint32_t k = 0; k < 3 * shape->n; k++, at += 4)
                if (word(at) != (uint32_t)t->place[k])
                    fail_msg("member %zu, walker %u, step %llu: coordinate %u differs", m, w,
                             (unsigned long long)b->step, k);
        }
        ergo_text_free(&text);
    }
}

/* Frames, read as a start, are the same walkers again, to the last bit; then once more from the
 * first, where a job has more walkers than a file has frames. */
static void check_frames(struct bench *b) {
    const struct helium_shape *shape = &b->s->shape;
    const size_t size = 3 * (size_t)shape->n, count = shape->walkers;
    int32_t *places = malloc((count + 1) * size * sizeof *places);
    assert_non_null(places);
    for (size_t m = 0; m < b->job->n_points; m++) {
        struct ergo_text text = {0};
        OK(model->ops->frame(ctx, b->s, m, &text));
        OK(helium_start_parse(ctx, "frames", text.data, text.length, &b->s->models[m],
                              shape->walkers + 1, places));
        for (size_t w = 0; w <= count; w++)
            assert_memory_equal(places + w * size, b->twins[m * count + w % count].place,
                                size * sizeof *places);
        ergo_text_free(&text);
    }
    free(places);
}

/* Blocks of samples in both slots, steps alone, an audit, a state saved and loaded. */
static void check(const char *system, int path, int group) {
    struct bench b;
    char json[1024];
    if (rusticl && path == HELIUM_PATH_LANES)
        return; /* never chosen there */
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-vmc\", \"seed\": \"18446744073709551557\", %s, \"tuning\": "
             "{\"path\": %d, \"work_group\": %d, \"tile\": %d}}",
             system, path, group, path == HELIUM_PATH_BLOCKS ? (small ? 2 : 16) : 0);
    begin(&b, json);
    assert_int_equal(b.s->launch.path, path);
    compare(&b);
    check_frames(&b);
    const struct ergo_sampler_ops *ops = model->ops;
    const size_t members = b.job->n_points;
    double *columns = malloc(3 * members * b.job->model->n_columns * sizeof *columns),
           *curve[3] = {NULL};
    for (size_t c = 0; c < 3; c++)
        curve[c] = malloc((3 * members * ergo_point_curve_size(&b.job->points[0], c) + 1) *
                          sizeof(double));
    struct ergo_samples samples = {.columns = columns, .curves = {curve[0], curve[1], curve[2]}};
    if (ergo_point_curve_size(&b.job->points[0], 2) == 0)
        samples.curves[2] = NULL;
    OK(ergo_sampler_advance(ctx, ops, b.s, 0, 2, 2, 0));
    OK(ergo_sampler_advance(ctx, ops, b.s, 1, 3, 1, 2));
    OK(ergo_sampler_collect(ctx, ops, b.s, 0, &samples));
    OK(ergo_sampler_collect(ctx, ops, b.s, 1, &samples));
    advance_twins(&b, 7);
    compare(&b);
    for (size_t m = 0; m < members; m++) { /* the last sample's ln psi is a mean over walkers */
        const uint32_t active = helium_active(&b.s->shape, b.step);
        double mean = 0;
        for (uint32_t w = 0; w < active; w++)
            mean += (double)b.twins[m * b.s->shape.walkers + w].ln_psi * 0x1p-21 / b.s->shape.n;
        const double found = columns[(2 * members + m) * b.job->model->n_columns + 5];
        assert_true(found - mean / active < 1e-12 && mean / active - found < 1e-12);
    }
    OK(ops->audit(ctx, b.s));
    OK(ergo_sampler_advance(ctx, ops, b.s, 0, 0, small ? 4 : 30, 0));
    advance_twins(&b, small ? 4 : 30);
    compare(&b);
    /* Oclgrind takes the first 8 bytes of what clEnqueueWriteBuffer wrote anew for uninitialised */
    for (size_t m = 0; m < members && !small; m++) {
        struct ergo_text text = {0};
        OK(ops->save(ctx, b.s, m, &text));
        OK(ops->load(ctx, b.s, m, b.step, text.data, text.length));
        ergo_text_free(&text);
    }
    OK(ergo_sampler_advance(ctx, ops, b.s, 1, 0, 2, 0));
    advance_twins(&b, 2);
    compare(&b);
    OK(ops->audit(ctx, b.s));
    free(columns);
    for (size_t c = 0; c < 3; c++)
        free(curve[c]);
    end(&b);
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
};

/* Two atoms at distances around the kink of the potential: V and r V' to a millionth. */
static void energies_at_the_kink(void **state) {
    (void)state;
    enum { WALKERS = 64 };
    const size_t walkers = small ? 8 : WALKERS;
    struct bench b;
    int32_t place[WALKERS][3][2] = {0};
    struct helium_sums sums[WALKERS];
    char json[256];
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-vmc\", \"system\": {\"n\": 2, \"density\": 0.001, \"b\": "
             "1, \"walkers\": %zu}, \"run\": {\"sweeps\": 9}}",
             walkers);
    begin(&b, json);
    const struct helium_model *m = &b.s->models[0];
    for (size_t w = 0; w < walkers; w++)
        place[w][0][1] = (int32_t)((4.3 + 0.2 * (double)w / (double)walkers) / m->side[0] * 0x1p32);
    ergo_engine_begin(&b.s->e, ctx);
    ergo_engine_write(&b.s->e, HELIUM_POSITIONS, 0, walkers * sizeof place[0], place);
    helium_energy(b.s, HELIUM_SUMS, 0, true);
    ergo_engine_read(&b.s->e, HELIUM_SUMS, 0, walkers * sizeof sums[0], sums);
    OK(ergo_engine_end(&b.s->e));
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
    end(&b);
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

static int open_device(void **unused) {
    model = ergo_sampler_find("helium-vmc")->models[0];
    const int failed = fixture_open(unused);
    rusticl = !failed && strstr(device->summary.platform, "rusticl") != NULL;
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_path),       cmocka_unit_test(blocks_path),
        cmocka_unit_test(pairs_path),           cmocka_unit_test(lanes_path),
        cmocka_unit_test(energies_at_the_kink),
    };
    return cmocka_run_group_tests(tests, open_device, fixture_close);
}
