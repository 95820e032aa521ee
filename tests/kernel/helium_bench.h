/*
 * Compares a helium-vmc job on a device with the oracle's walkers of each member, exactly: states,
 * atoms' sums of u, energies, what curves are made of. Kernel tests and mutants share it.
 */
#ifndef ERGO_TESTS_KERNEL_HELIUM_BENCH_H
#define ERGO_TESTS_KERNEL_HELIUM_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helium_vmc/core.h"
#include "oracle/helium_chain.h"
#include "samplers/helium_vmc/helium.h"

#define HELIUM_OK(bench, call)                                                                     \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", #call, ergo_error_message((bench)->ctx));                           \
    } while (0)

struct helium_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    struct ergo_job *job;
    const struct ergo_sampler_ops *ops;
    struct helium_state *s;
    struct helium_oracle *walkers;         /* [members][walkers] */
    struct helium_cubic_host *tables;      /* of all members, then of random numbers */
    int32_t *places, *fields, *next_field; /* of the walkers; for all of them */
    uint64_t step;
    double *columns, *curves[HELIUM_CURVES]; /* of a block of up to HELIUM_BENCH_BLOCK samples */
};
enum { HELIUM_BENCH_BLOCK = 4 };

static inline struct helium_oracle *helium_bench_walkers(const struct helium_bench *b, size_t m) {
    return b->walkers + m * b->s->shape.walkers;
}

static inline void helium_bench_start(struct helium_bench *b) {
    const struct helium_state *s = b->s;
    const struct helium_shape *h = &s->shape;
    const size_t members = b->job->n_points, size = 3 * (size_t)h->n;
    const size_t u = (size_t)s->launch.binades << HELIUM_U_PIECES;
    const size_t e = 2 * (size_t)helium_energy_pieces(s->launch.binades), each = 3 * u + e;
    b->tables = calloc(members * each + 2 * HELIUM_R_SIZE, sizeof *b->tables);
    b->walkers = calloc(members * h->walkers, sizeof *b->walkers);
    b->places = calloc(members * h->walkers * size, sizeof *b->places);
    b->fields = calloc(members * h->walkers * size, sizeof *b->fields);
    b->next_field = calloc(size, sizeof *b->next_field);
    assert_true(b->tables && b->walkers && b->places && b->fields && b->next_field);
    helium_table_random(b->tables + members * each);
    for (size_t m = 0; m < members; m++) {
        const struct ergo_point *point = &b->job->points[m];
        struct helium_cubic_host *tables = b->tables + m * each;
        int32_t *places = b->places + m * h->walkers * size;
        helium_table_u(&s->models[m], s->launch.binades, tables);
        helium_table_energy(&s->models[m], s->launch.binades, tables + u);
        if (s->launch.triplet)
            helium_table_triplet(&s->models[m], s->launch.binades, tables + u + e);
        HELIUM_OK(b, helium_start_places(b->ctx, point, &s->models[m], &s->members[m], h->sites,
                                         h->walkers, places));
        for (uint32_t w = 0; w < h->walkers; w++) {
            struct helium_oracle *t = &helium_bench_walkers(b, m)[w];
            *t = (struct helium_oracle){.member = &s->members[m],
                                        .u_table = tables,
                                        .e_table = tables + u,
                                        .random = b->tables + members * each,
                                        .binades = s->launch.binades,
                                        .n = h->n,
                                        .walker = w,
                                        .factor = HELIUM_FACTOR_ONE,
                                        .place = places + w * size,
                                        .sites = helium_has_sites(point) ? s->sites : NULL,
                                        .triplet = s->launch.triplet ? &s->triplets[m] : NULL,
                                        .t_table = tables + u + e,
                                        .field = b->fields + (m * h->walkers + w) * size,
                                        .next_field = b->next_field};
            helium_oracle_fields(t);
            t->ln_psi = helium_oracle_ln_psi(t) / 2;
        }
    }
}

/* b: ctx and device. */
static inline void helium_bench_begin(struct helium_bench *b, const char *json) {
    void *state = NULL;
    b->ops = ergo_sampler_find("helium-vmc")->models[0]->ops;
    HELIUM_OK(b, ergo_job_parse(b->ctx, json, strlen(json), "test", NULL, 0, &b->job));
    assert_int_equal(b->job->n_batches, 1);
    HELIUM_OK(b, ergo_sampler_create(b->ctx, b->ops, &b->job->batches[0], b->device, &state));
    b->s = state;
    HELIUM_OK(b, b->ops->init(b->ctx, state));
    helium_bench_start(b);
    const size_t rows = HELIUM_BENCH_BLOCK * b->job->n_points;
    b->columns = calloc(rows * b->job->model->n_columns, sizeof(double));
    assert_non_null(b->columns);
    for (size_t c = 0; c < HELIUM_CURVES; c++) {
        const size_t size = ergo_point_curve_size(&b->job->points[0], c);
        b->curves[c] = size ? calloc(rows * size, sizeof(double)) : NULL;
        assert_true(b->curves[c] || !size);
    }
}

static inline void helium_bench_end(struct helium_bench *b) {
    free(b->columns);
    for (size_t c = 0; c < HELIUM_CURVES; c++)
        free(b->curves[c]);
    free(b->tables);
    free(b->walkers);
    free(b->places);
    free(b->fields);
    free(b->next_field);
    ergo_engine_destroy(b->s);
    ergo_job_destroy(b->job);
}

/* The oracle's next macroupdate of a member: start stage, tuning, copies. */
static inline void helium_bench_step(struct helium_bench *b, size_t member) {
    const struct helium_shape *h = &b->s->shape;
    const uint32_t active = helium_active(h, b->step);
    struct helium_oracle *t = helium_bench_walkers(b, member);
    uint64_t accepted = 0;
    for (uint32_t w = 0; w < active; w++)
        helium_oracle_steps(&t[w], b->step, 1);
    if (b->step >= h->start_steps)
        return;
    if (t->member->target && (b->step + 1) % HELIUM_TUNE_EVERY == 0) {
        for (uint32_t w = 0; w < active; w++) {
            accepted += t[w].accepted;
            t[w].accepted = 0;
        }
        const uint64_t tried = (uint64_t)active * h->n * HELIUM_TUNE_EVERY;
        const uint32_t factor = helium_tune_factor(t->factor, accepted, tried, t->member->target);
        for (uint32_t w = 0; w < h->walkers; w++)
            t[w].factor = factor;
    }
    for (uint32_t w = active; b->step + 1 == h->start_steps && w < h->walkers; w++) {
        const struct helium_oracle *from = &t[w % active];
        memcpy(t[w].place, from->place, h->walker_bytes);
        memcpy(t[w].field, from->field, h->walker_bytes);
        t[w].ln_psi = from->ln_psi;
        t[w].accepted = from->accepted;
        t[w].last = from->last;
    }
}

static inline void helium_bench_steps(struct helium_bench *b, uint64_t steps) {
    for (uint64_t k = 0; k < steps; k++, b->step++)
        for (size_t m = 0; m < b->job->n_points; m++)
            helium_bench_step(b, m);
}

/* ---- what is compared ------------------------------------------------------------------------ */

static inline uint32_t helium_bench_word(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline void helium_bench_differs(const struct helium_bench *b, size_t member,
                                        uint32_t walker, const char *what) {
    fail_msg("not the oracle's: %s of member %zu, walker %u, after macroupdate %llu", what, member,
             walker, (unsigned long long)b->step);
}

/* The canonical state: factor, ln psi, window, places. */
static inline void helium_compare_states(struct helium_bench *b) {
    const struct helium_shape *h = &b->s->shape;
    for (size_t m = 0; m < b->job->n_points; m++) {
        const struct helium_oracle *t = helium_bench_walkers(b, m);
        struct ergo_text text = {0};
        HELIUM_OK(b, b->ops->save(b->ctx, b->s, m, &text));
        const uint8_t *at = (const uint8_t *)text.data;
        if (helium_bench_word(at) != t->factor)
            helium_bench_differs(b, m, 0, "the tuned displacement");
        at += 4;
        for (uint32_t w = 0; w < h->walkers; w++, t++) {
            const uint64_t high = helium_bench_word(at + 4);
            if ((int64_t)(helium_bench_word(at) | high << 32) != t->ln_psi)
                helium_bench_differs(b, m, w, "ln psi");
            if (helium_bench_word(at + 8) != t->accepted)
                helium_bench_differs(b, m, w, "accepted moves");
            at += 12;
            for (uint32_t k = 0; k < 3 * h->n; k++, at += 4)
                if (helium_bench_word(at) != (uint32_t)t->place[k])
                    helium_bench_differs(b, m, w, "an atom");
        }
        ergo_text_free(&text);
    }
}

/* Sums of u that moves keep. */
static inline void helium_compare_atoms(struct helium_bench *b) {
    const struct helium_shape *h = &b->s->shape;
    int64_t *sums = malloc(8 * (size_t)h->n);
    assert_non_null(sums);
    for (size_t i = 0; i < b->job->n_points * h->walkers && !b->s->rebuild; i++) {
        const struct helium_oracle *t = &b->walkers[i];
        if (t->triplet || t->walker >= helium_active(h, b->step))
            continue;
        ergo_engine_begin(&b->s->e, b->ctx);
        ergo_engine_read(&b->s->e, HELIUM_ATOM_SUMS, i * 8 * h->n, (size_t)8 * h->n, sums);
        HELIUM_OK(b, ergo_engine_end(&b->s->e));
        for (uint32_t k = 0; k < h->n; k++) {
            uint32_t a[3];
            helium_oracle_place(t, k, a);
            if (sums[k] != helium_oracle_u(t, k, a))
                helium_bench_differs(b, i / h->walkers, t->walker, "an atom's sum of u");
        }
    }
    free(sums);
}

static inline void helium_compare_curve(struct helium_bench *b, size_t m, uint32_t w, unsigned slot,
                                        size_t curve) {
    const struct helium_shape *h = &b->s->shape;
    const struct helium_oracle *t = &helium_bench_walkers(b, m)[w];
    const size_t row = m * h->structure_walkers + w, size = 3 * (size_t)h->n;
    const int32_t *places = ergo_engine_host(&b->s->e, HELIUM_PLACES, slot, curve);
    if (memcmp(places + row * size, t->place, h->walker_bytes) != 0)
        helium_bench_differs(b, m, w, "the places for g(r) and S(k)");
    for (uint32_t p = 0; p < 2 * h->points; p++) {
        const int64_t *ratios = ergo_engine_host(&b->s->e, HELIUM_RATIOS, slot, curve);
        if (ratios[row * 2 * h->points + p] != helium_oracle_displaced(t, b->step, p, h->points))
            helium_bench_differs(b, m, w, "the displaced atoms of the density matrix");
    }
}

/* A block that was collected: moves the oracle's walkers through it. */
static inline void helium_compare_block(struct helium_bench *b, unsigned slot) {
    const struct helium_shape *h = &b->s->shape;
    const struct ergo_engine_slot *block = &b->s->e.slots[slot];
    size_t curve = 0;
    for (size_t i = 0; i < block->samples; i++) {
        helium_bench_steps(b, block->every);
        const bool curves =
            b->s->e.curve_interval && (block->first_sample + i) % b->s->e.curve_interval == 0;
        const struct helium_sums *found = ergo_engine_host(&b->s->e, HELIUM_SUMS, slot, i);
        for (size_t m = 0; m < b->job->n_points; m++)
            for (uint32_t w = 0; w < h->walkers; w++) {
                const struct helium_sums sums =
                    helium_oracle_energies(&helium_bench_walkers(b, m)[w]);
                if (memcmp(found++, &sums, sizeof sums) != 0)
                    helium_bench_differs(b, m, w, "the measured energies");
                if (curves && w < h->structure_walkers)
                    helium_compare_curve(b, m, w, slot, curve);
            }
        curve += curves;
    }
    assert_int_equal(curve, block->curves);
}

static inline void helium_bench_collect(struct helium_bench *b, unsigned slot) {
    struct ergo_samples samples = {.columns = b->columns};
    memcpy(samples.curves, b->curves, sizeof b->curves);
    HELIUM_OK(b, ergo_sampler_collect(b->ctx, b->ops, b->s, slot, &samples));
}

/* `samples` samples (at most HELIUM_BENCH_BLOCK), one after `every` macroupdates each. */
static inline void helium_compare_samples(struct helium_bench *b, size_t samples, uint64_t every) {
    HELIUM_OK(b, ergo_sampler_advance(b->ctx, b->ops, b->s, 0, samples, every, 0));
    helium_bench_collect(b, 0);
    helium_compare_block(b, 0);
    helium_compare_states(b);
    helium_compare_atoms(b);
}

#endif
