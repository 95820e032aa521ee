/*
 * Compares a helium-dmc job on a device with the oracle's population of each member, exactly:
 * states, energies, growth, records, what curves are made of. Kernel tests and mutants share it.
 */
#ifndef ERGO_TESTS_KERNEL_DMC_BENCH_H
#define ERGO_TESTS_KERNEL_DMC_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/helium_chain.h"
#include "samplers/helium_dmc/dmc.h"

#define DMC_OK(bench, call)                                                                        \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message((bench)->ctx));                           \
    } while (0)

enum { DMC_BENCH_MEMBERS = 2, DMC_BENCH_MEMORIES = 20 * DMC_BENCH_MEMBERS };

struct dmc_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    struct ergo_job *job;
    const struct ergo_sampler_ops *ops;
    struct dmc_state *s;
    struct helium_population members[DMC_BENCH_MEMBERS];
    uint64_t step;
    double *columns, *curves[DMC_CURVES]; /* of a sample */
    void *memories[DMC_BENCH_MEMORIES];
    size_t n_memories;
};

/* Zeros, until the end. */
static inline void *dmc_bench_memory(struct dmc_bench *b, size_t count, size_t size) {
    void *made = calloc(count + 1, size);
    assert_true(made && b->n_memories < DMC_BENCH_MEMORIES);
    b->memories[b->n_memories++] = made;
    return made;
}

static inline void dmc_bench_start(struct dmc_bench *b, size_t m) {
    const struct dmc_state *s = b->s;
    const struct dmc_shape *h = &s->shape;
    const struct ergo_point *point = &b->job->points[m];
    const size_t count = h->walkers, size = 3 * (size_t)h->n;
    const size_t u = (size_t)s->launch.binades << HELIUM_U_PIECES;
    const size_t e = 2 * (size_t)helium_energy_pieces(s->launch.binades);
    struct helium_cubic_host *tables =
        dmc_bench_memory(b, 3 * u + e + 2 * HELIUM_R_SIZE, sizeof *tables);
    struct helium_population *p = &b->members[m];
    helium_table_u(&s->models[m], s->launch.binades, tables);
    helium_table_energy(&s->models[m], s->launch.binades, tables + u);
    if (s->launch.triplet)
        helium_table_triplet(&s->models[m], s->launch.binades, tables + u + e);
    helium_table_random(tables + 3 * u + e);
    *p = (struct helium_population){
        .walker = {.member = &s->members[m],
                   .u_table = tables,
                   .e_table = tables + u,
                   .random = tables + 3 * u + e,
                   .binades = s->launch.binades,
                   .n = h->n,
                   .sites = helium_has_sites(point) ? s->sites : NULL,
                   .triplet = s->launch.triplet ? &s->triplets[m] : NULL,
                   .t_table = tables + u + e,
                   .field = dmc_bench_memory(b, size, 4),
                   .next_field = dmc_bench_memory(b, size, 4)},
        .dmc = &s->steps[m],
        .walkers = h->walkers,
        .remember = h->remember,
        .chosen = h->chosen,
        .window = h->window,
        .next = dmc_bench_memory(b, count * size, 4),
        .places = dmc_bench_memory(b, count * size, 4),
        .middle = dmc_bench_memory(b, count * size, 4),
        .euler = dmc_bench_memory(b, size, 4),
        .next_records = dmc_bench_memory(b, count * HELIUM_DMC_RECORDS, 8),
        .records = dmc_bench_memory(b, count * HELIUM_DMC_RECORDS, 8),
        .sums = dmc_bench_memory(b, count, sizeof *p->sums),
        .parents = dmc_bench_memory(b, count, 4),
        .grown = dmc_bench_memory(b, h->remember, sizeof *p->grown),
        .next_ancestors = dmc_bench_memory(b, count, 4),
        .ancestors = dmc_bench_memory(b, count, 4),
        .tags = dmc_bench_memory(b, count * size, 4),
        .pure = dmc_bench_memory(b, h->chosen * size, 4)};
    DMC_OK(b, helium_start_places(b->ctx, point, &s->models[m], &s->members[m], h->sites,
                                  h->walkers, p->places));
}

/* b: ctx and device. */
static inline void dmc_bench_begin(struct dmc_bench *b, const char *json) {
    void *state = NULL;
    b->ops = ergo_sampler_find("helium-dmc")->models[0]->ops;
    DMC_OK(b, ergo_job_parse(b->ctx, json, strlen(json), "test", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    assert_true(b->job->n_points <= DMC_BENCH_MEMBERS);
    DMC_OK(b, ergo_sampler_create(b->ctx, b->ops, &b->job->batches[0], b->device, &state));
    b->s = state;
    DMC_OK(b, b->ops->init(b->ctx, state));
    for (size_t m = 0; m < b->job->n_points; m++)
        dmc_bench_start(b, m);
    b->columns = calloc(b->job->n_points * DMC_COLUMNS, sizeof(double));
    for (size_t c = 0; c < DMC_CURVES; c++) {
        const size_t size = ergo_point_curve_size(&b->job->points[0], c);
        b->curves[c] = size ? calloc(b->job->n_points * size, sizeof(double)) : NULL;
        assert_true(b->columns && (b->curves[c] || !size));
    }
}

static inline void dmc_bench_end(struct dmc_bench *b) {
    while (b->n_memories)
        free(b->memories[--b->n_memories]);
    free(b->columns);
    for (size_t c = 0; c < DMC_CURVES; c++)
        free(b->curves[c]);
    ergo_engine_destroy(b->s);
    ergo_job_destroy(b->job);
}

static inline void dmc_bench_steps(struct dmc_bench *b, uint64_t steps) {
    for (uint64_t k = 0; k < steps; k++, b->step++)
        for (size_t m = 0; m < b->job->n_points; m++)
            helium_population_step(&b->members[m], b->step);
}

/* ---- what is compared ------------------------------------------------------------------------ */

/* The next bytes of something on the device, and what the oracle has. Returns those behind. */
static inline const char *dmc_bench_same(const struct dmc_bench *b, const char *what, size_t member,
                                         const char *found, const void *expected, size_t bytes) {
    if (memcmp(found, expected, bytes) != 0)
        fail_msg("not the oracle's: %s of member %zu after step %llu", what, member,
                 (unsigned long long)b->step);
    return found + bytes;
}

/* The canonical state (of little-endian hosts), but for the hash of files at its end. */
static inline void dmc_compare_states(struct dmc_bench *b) {
    const struct dmc_shape *h = &b->s->shape;
    const size_t count = h->walkers, size = 3 * (size_t)h->n;
    const size_t records = h->every ? HELIUM_DMC_RECORDS : 0;
    for (size_t m = 0; m < b->job->n_points; m++) {
        const struct helium_population *p = &b->members[m];
        struct ergo_text text = {0};
        DMC_OK(b, b->ops->save(b->ctx, b->s, m, &text));
        const char *at = text.data;
        for (size_t w = 0; w < count; w++) {
            at = dmc_bench_same(b, "the atoms of a walker", m, at, p->places + w * size,
                                h->walker_bytes);
            at = dmc_bench_same(b, "a walker's records", m, at, p->records + w * HELIUM_DMC_RECORDS,
                                8 * records);
        }
        at = dmc_bench_same(b, "the growth of the last steps", m, at, p->grown,
                            sizeof *p->grown * h->remember);
        if (h->chosen) {
            at = dmc_bench_same(b, "the ancestors", m, at, p->ancestors, 4 * count);
            at = dmc_bench_same(b, "their places", m, at, p->tags, count * h->walker_bytes);
            at = dmc_bench_same(b, "those of the last window", m, at, p->pure,
                                h->chosen * h->walker_bytes);
        }
        assert_in_range(text.length - (size_t)(at - text.data), 0, 8);
        ergo_text_free(&text);
    }
}

static inline void dmc_compare_curves(struct dmc_bench *b, size_t m) {
    const struct dmc_shape *h = &b->s->shape;
    const size_t bytes = h->structure_walkers * (size_t)h->walker_bytes;
    const size_t pure = h->chosen * (size_t)h->walker_bytes, each = 2 * (size_t)h->points;
    struct helium_population *p = &b->members[m];
    const char *places = ergo_engine_host(&b->s->e, DMC_PLACES, 0, 0);
    dmc_bench_same(b, "the places for g(r) and S(k)", m, places + m * bytes, p->middle, bytes);
    if (pure) {
        places = ergo_engine_host(&b->s->e, DMC_PURE_SAMPLE, 0, 0);
        dmc_bench_same(b, "the places for pure curves", m, places + m * pure, p->pure, pure);
    }
    for (uint32_t w = 0; w < h->structure_walkers && each; w++) {
        const int64_t *ratios = ergo_engine_host(&b->s->e, DMC_RATIOS, 0, 0);
        ratios += (m * h->structure_walkers + w) * each;
        p->walker.walker = w;
        p->walker.place = p->middle + w * 3 * (size_t)h->n;
        helium_oracle_fields(&p->walker);
        for (uint32_t k = 0; k < each; k++)
            if (ratios[k] != helium_oracle_displaced(&p->walker, b->step, k, h->points))
                fail_msg("not the oracle's: displaced atoms of walker %u", w);
    }
}

/* A sample after `steps` steps, with curves if there are any; and the state. */
static inline void dmc_compare_sample(struct dmc_bench *b, uint64_t steps) {
    const struct dmc_shape *h = &b->s->shape;
    const size_t sums = h->walkers * sizeof(struct helium_sums), grown = 16 * (size_t)h->remember;
    struct ergo_samples samples = {.columns = b->columns};
    memcpy(samples.curves, b->curves, sizeof b->curves);
    DMC_OK(b, ergo_sampler_advance(b->ctx, b->ops, b->s, 0, 1, steps, 0));
    const enum ergo_status status = ergo_sampler_collect(b->ctx, b->ops, b->s, 0, &samples);
    if (status != ERGO_E_JOB) /* energies that run away would end a run */
        DMC_OK(b, status);
    ergo_error_clear(b->ctx);
    dmc_bench_steps(b, steps);
    for (size_t m = 0; m < b->job->n_points; m++) {
        const struct helium_population *p = &b->members[m];
        const char *found = ergo_engine_host(&b->s->e, DMC_SAMPLE, 0, 0);
        dmc_bench_same(b, "the energies", m, found + m * sums, p->sums, sums);
        if (grown) {
            found = ergo_engine_host(&b->s->e, DMC_HISTORY, 0, 0);
            dmc_bench_same(b, "the sampled growth", m, found + m * grown, p->grown, grown);
        }
        for (size_t k = 0; k < HELIUM_DMC_RECORDS && h->every; k++) {
            const int64_t *forward = ergo_engine_host(&b->s->e, DMC_FORWARD, 0, 0);
            int64_t sum = 0;
            for (uint32_t w = 0; w < h->walkers; w++)
                sum += p->next_records[w * HELIUM_DMC_RECORDS + k];
            if (forward[m * HELIUM_DMC_RECORDS + k] != sum)
                fail_msg("not the oracle's: the forward walks of member %zu", m);
        }
        if (b->s->e.slots[0].curves)
            dmc_compare_curves(b, m);
    }
    dmc_compare_states(b);
}

#endif
