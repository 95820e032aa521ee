/*
 * The kernels of helium-dmc against the host's twin, bit for bit, through the sampler's own
 * operations: start, steps, the comb, records, saved and loaded states, in groups of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "helium_dmc/core.h"
#include "samplers/helium_dmc/dmc.h"

static const struct ergo_model *model;
static bool rusticl;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message(ctx));                                    \
    } while (0)

/* A member's walkers by the twin alone, from step 0. */
struct walkers {
    struct dmc_twin twin;
    struct helium_cubic_host *table, *random;
    int32_t *places, *next, *middle, *euler;
    int64_t *records, *next_records;
    struct helium_sums *sums;
    uint32_t *parents;
};

static void begin(struct walkers *w, const struct dmc_state *s, size_t member) {
    const size_t count = s->shape.walkers, size = 3 * (size_t)s->shape.n;
    const size_t tables = 2 * (size_t)helium_energy_pieces(s->launch.binades);
    *w = (struct walkers){.table = malloc(tables * sizeof *w->table),
                          .random = malloc(2 * HELIUM_R_SIZE * sizeof *w->random),
                          .places = malloc(4 * count * size),
                          .next = malloc(4 * count * size),
                          .middle = malloc(4 * count * size),
                          .euler = malloc(4 * size),
                          .records = calloc(count * HELIUM_DMC_RECORDS, 8),
                          .next_records = calloc(count * HELIUM_DMC_RECORDS, 8),
                          .sums = malloc(count * sizeof *w->sums),
                          .parents = malloc(count * sizeof *w->parents)};
    assert_true(w->table && w->random && w->places && w->next && w->middle && w->euler &&
                w->records && w->next_records && w->sums && w->parents);
    helium_table_energy(&s->models[member], s->launch.binades, w->table);
    helium_table_random(w->random);
    w->twin = (struct dmc_twin){.member = &s->members[member],
                                .dmc = &s->steps[member],
                                .e_table = w->table,
                                .random = w->random,
                                .binades = s->launch.binades,
                                .n = s->shape.n,
                                .walkers = s->shape.walkers,
                                .euler = w->euler};
    for (uint32_t k = 0; k < count; k++)
        helium_lattice_start(s->shape.sites, &s->members[member], s->shape.n, k,
                             w->places + k * size);
}

static void end(struct walkers *w) {
    free(w->table);
    free(w->random);
    free(w->places);
    free(w->next);
    free(w->middle);
    free(w->euler);
    free(w->records);
    free(w->next_records);
    free(w->sums);
    free(w->parents);
}

static void advance(struct walkers *w, uint64_t step) {
    const uint32_t count = w->twin.walkers;
    const size_t size = 3 * (size_t)w->twin.n, records = HELIUM_DMC_RECORDS;
    for (uint32_t k = 0; k < count; k++) {
        dmc_twin_step(&w->twin, step, k, w->places + k * size, w->next + k * size,
                      w->middle + k * size, &w->sums[k]);
        dmc_twin_records(&w->twin, step, &w->sums[k], w->records + k * records,
                         w->next_records + k * records);
    }
    uint64_t grown[2];
    dmc_twin_comb(&w->twin, step, w->sums, w->parents, grown);
    for (uint32_t k = 0; k < count; k++) {
        memcpy(w->places + k * size, w->next + w->parents[k] * size, 4 * size);
        memcpy(w->records + k * records, w->next_records + w->parents[k] * records, 8 * records);
    }
}

/* The canonical state: places and records of each walker. */
static void compare(struct dmc_state *s, size_t member, const struct walkers *w) {
    const size_t size = 12 * (size_t)s->shape.n;
    const size_t records = s->shape.every ? 8 * HELIUM_DMC_RECORDS : 0;
    struct ergo_text text = {0};
    OK(model->ops->save(ctx, s, member, &text));
    assert_int_equal(text.length, s->shape.walkers * (size + records));
    for (size_t k = 0; k < s->shape.walkers; k++) { /* little-endian hosts */
        const char *at = text.data + k * (size + records);
        if (memcmp(at, w->places + k * size / 4, size) != 0)
            fail_msg("member %zu, walker %zu, step %llu: atoms differ", member, k,
                     (unsigned long long)s->e.step);
        if (memcmp(at + size, w->records + k * HELIUM_DMC_RECORDS, records) != 0)
            fail_msg("member %zu, walker %zu, step %llu: records differ", member, k,
                     (unsigned long long)s->e.step);
    }
    ergo_text_free(&text);
}

static void check(const char *system, int path, int group, int comb) {
    struct ergo_job *job = NULL;
    char json[1024];
    void *state = NULL;
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-dmc\", \"seed\": \"18446744073709551557\", %s, \"run\": "
             "{\"equilibration\": 48, \"sweeps\": 9}, \"tuning\": "
             "{\"path\": %d, \"energy_group\": %d, \"comb_group\": %d}}",
             system, path, group, comb);
    OK(ergo_job_parse(ctx, json, strlen(json), "test", NULL, 0, &job));
    assert_int_equal(job->n_batches, 1);
    OK(ergo_sampler_create(ctx, model->ops, &job->batches[0], device, &state));
    struct dmc_state *s = state;
    OK(model->ops->init(ctx, state));
    const size_t members = job->n_points;
    struct walkers *w = malloc(members * sizeof *w);
    assert_non_null(w);
    for (size_t m = 0; m < members; m++)
        begin(&w[m], s, m);
    for (uint64_t step = 0; step < (small ? 3 : 12); step += step < 2 ? 1 : 5) {
        const uint64_t steps = step < 2 ? 1 : 5;
        OK(ergo_sampler_advance(ctx, model->ops, state, 0, 0, steps, 0));
        for (size_t m = 0; m < members; m++) {
            for (uint64_t k = 0; k < steps; k++)
                advance(&w[m], step + k);
            compare(s, m, &w[m]);
        }
        if (small)
            continue;
        for (size_t m = 0; m < members; m++) { /* saved and loaded */
            struct ergo_text text = {0};
            OK(model->ops->save(ctx, s, m, &text));
            OK(model->ops->load(ctx, s, m, s->e.step, text.data, text.length));
            ergo_text_free(&text);
        }
        OK(model->ops->audit(ctx, state));
    }
    for (size_t m = 0; m < members; m++)
        end(&w[m]);
    free(w);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

/* Physics by name: tails of groups and blocks, two atoms, a box that is no cube, scans. */
static const char *const systems[] = {
    "\"system\": {\"n\": 13, \"b\": 2.3, \"walkers\": 9, \"time_step\": 0.004, \"forward_steps\": "
    "48}, \"scan\": {\"/system/time_step\": [0.004, 0.006]}",
    "\"system\": {\"n\": 71, \"aspect\": [1, 2, 1], \"b\": 2.6, \"walkers\": 3, \"time_step\": "
    "0.003, \"forward_steps\": 0}",
    "\"system\": {\"n\": 2, \"density\": 0.004, \"b\": 2.8, \"walkers\": 33, \"time_step\": 0.02, "
    "\"forward_steps\": 16}",
    "\"system\": {\"n\": 5, \"b\": 2, \"walkers\": 2, \"time_step\": 0.003, \"forward_steps\": 16}",
};

static void automatic(void **state) {
    (void)state;
    for (size_t i = small ? 3 : 0; i < (small ? 4 : rusticl ? 1 : 3); i++)
        check(systems[i], 0, 0, 0);
}

static void groups(void **state) {
    (void)state;
    check(systems[small ? 3 : 0], 1, 4, 4);
    if (small || rusticl) /* compiles for seconds */
        return;
    check(systems[1], 1, 32, 2);
    check(systems[2], 1, 8, 16);
}

/* Work-groups share walkers: three blocks of partners, of which the last is not full, for two
 * work-items an atom; two members, one work-item an atom. */
static void spread(void **state) {
    (void)state;
    check(systems[1], 2, 64, 0);
    if (small || rusticl)
        return;
    check(systems[0], 2, 0, 0);
}

static int open_device(void **unused) {
    model = ergo_sampler_find("helium-dmc")->models[0];
    const int failed = fixture_open(unused);
    rusticl = !failed && strstr(device->summary.platform, "rusticl") != NULL;
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic),
        cmocka_unit_test(groups),
        cmocka_unit_test(spread),
    };
    return cmocka_run_group_tests(tests, open_device, fixture_close);
}
