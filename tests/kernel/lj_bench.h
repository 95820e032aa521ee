/* Compares a Lennard-Jones job on a device with the oracle's chain of each member, exactly. Kernel
 * tests and mutants share it. */
#ifndef ERGO_TESTS_KERNEL_LJ_BENCH_H
#define ERGO_TESTS_KERNEL_LJ_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/lj_chain.h"
#include "table_file.h"

/* Starts the chains of a member's boxes on lattices, with sums over all pairs. */
static inline void lj_oracle_start(struct ergo_context *ctx, struct lj_oracle *t,
                                   const struct ergo_point *point, const struct lj_tables *tables) {
    const size_t boxes = lj_boxes_of(point);
    for (size_t b = 0; b < boxes; b++) {
        const struct lj_system s = lj_box_system(point, b);
        struct lj_chain chain = {.particles = lj_box_particles(point, b),
                                 .step_size = lj_step_size(&s)};
        uint32_t *words, n;
        assert_int_equal(lj_start(ctx, point, b, tables, &words, &n), ERGO_OK);
        if (lj_has_volume(point)) {
            const struct lj_volume_rules rules[2] = {lj_rules_of(point, 0),
                                                     lj_rules_of(point, boxes - 1)};
            lj_volume_set(&rules[b], lj_volume_start(rules, boxes, b), &chain);
        }
        assert_true(lj_oracle_init(&t[b], point, b, &chain, words, 100000, tables));
        free(words);
        const struct lj_oracle_sums sums = lj_oracle_total(&t[b]);
        assert_false(sums.core);
        t[b].energy = sums.energy;
        t[b].virial = sums.virial;
        t[b].contacts = sums.contacts;
    }
}

static inline void lj_oracle_steps(struct lj_oracle *t, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        assert_true(lj_oracle_step(t));
}

#define LJ_SLIT_KEYS                                                                               \
    "'slit': {'width': 3.9, 'epsilon': 0.2, 'sigma': 0.95, 'density': 5, 'spacing': 0.9}"

#define LJ_FROZEN_KEYS                                                                             \
    "'frozen': {'file': 'data/reference/lj-atoms.xyz', 'epsilon': [1.7, 0.6], 'sigma': [1.2, "     \
    "0.9]}"

struct lj_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    uint64_t moves, grown, pairs; /* pairs: bins of g(r) compared */
};

#define LJ_OK(bench, what, call)                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s\n%s: %s", what, #call, ergo_error_message((bench)->ctx));                 \
    } while (0)

static inline void lj_compare_state(struct lj_bench *b, const char *what, void *state, size_t chain,
                                    const struct lj_oracle *t) {
    struct lj_state *s = state;
    uint32_t *words, n;
    LJ_OK(b, what, lj_fetch(b->ctx, s, chain, &words, &n));
    const struct lj_chain *c = &s->chains[chain], expected = lj_oracle_chain(t);
    if (memcmp(c, &expected, sizeof expected) != 0 || memcmp(words, t->p, 12 * (size_t)n) != 0)
        fail_msg("%s\nnot the oracle's chain: chain %zu at move %llu: N %u, energy %lld, virial "
                 "%lld, contacts %llx; the oracle has %u, %lld, %lld, %llx",
                 what, chain, (unsigned long long)c->step, n, (long long)c->energy,
                 (long long)c->virial, (unsigned long long)c->contacts, t->n, (long long)t->energy,
                 (long long)t->virial, (unsigned long long)t->contacts);
    free(words);
}

/* The device's sums over all pairs are the oracle's, and the pair energies that it keeps are those
 * of the particles. */
static inline void lj_compare_totals(struct lj_bench *b, const char *what, struct lj_state *s,
                                     const struct lj_oracle *t) {
    struct lj_totals *found = calloc(lj_chains(s), sizeof *found);
    assert_non_null(found);
    ergo_engine_begin(&s->e, b->ctx);
    if (s->stale)
        lj_refresh_energies(s);
    lj_total_sums(s, false, found);
    LJ_OK(b, what, ergo_engine_end(&s->e));
    for (size_t c = 0; c < lj_chains(s); c++)
        if (found[c].energy != t[c].energy || found[c].virial != t[c].virial ||
            found[c].contacts != t[c].contacts || found[c].overlaps || found[c].mismatches)
            fail_msg("%s\nnot the oracle's sums from scratch: chain %zu has %lld, %lld, %llx and "
                     "%llu overlaps, %llu wrong energies of particles",
                     what, c, (long long)found[c].energy, (long long)found[c].virial,
                     (unsigned long long)found[c].contacts, (unsigned long long)found[c].overlaps,
                     (unsigned long long)found[c].mismatches);
    free(found);
}

/* Saves and loads the chains. They must have the same sums at once, and continue. */
static inline void lj_compare_saved(struct lj_bench *b, const char *what, void *state,
                                    const struct ergo_batch *batch, struct lj_oracle *oracles,
                                    uint64_t moves) {
    const struct ergo_sampler_ops *ops = ergo_sampler_find("lj-gcmc")->models[0]->ops;
    const size_t boxes = ((struct lj_state *)state)->boxes;
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_text saved = {0};
        LJ_OK(b, what, ops->save(b->ctx, state, m, &saved));
        LJ_OK(b, what,
              ops->load(b->ctx, state, m, oracles[boxes * m].step, saved.data, saved.length));
        ergo_text_free(&saved);
    }
    lj_compare_totals(b, what, state, oracles);
    LJ_OK(b, what, ergo_sampler_advance(b->ctx, ops, state, 0, 0, moves, 0));
    LJ_OK(b, what, lj_settle(b->ctx, state));
    for (size_t m = 0; m < batch->count; m++)
        lj_oracle_steps(&oracles[boxes * m], moves);
    for (size_t c = 0; c < boxes * batch->count; c++)
        lj_compare_state(b, what, state, c, &oracles[c]);
    lj_compare_totals(b, what, state, oracles);
}

/* Compares the curves of a sample with those from all pairs. They are equal to the bit, because
 * numbers of pairs are integers. */
static inline void lj_compare_pairs(struct lj_bench *b, const char *what, void *state,
                                    const struct lj_oracle *t, double *const found[LJ_CURVES]) {
    const struct lj_state *s = state;
    const uint32_t bins = s->launch.bins;
    const size_t all = bins * lj_pair_kinds(&s->system);
    uint64_t *pairs = calloc(all, sizeof *pairs);
    double *values = calloc(LJ_CURVES * (size_t)bins, sizeof *values), *expected[LJ_CURVES];
    assert_true(pairs && values);
    for (size_t c = 0; c < LJ_CURVES; c++)
        expected[c] = found[c] ? values + c * bins : NULL;
    if (s->system.field) {
        lj_oracle_profile(t, s->system.axis, lj_profile_bins(s), bins, pairs);
        lj_profile_convert(s, pairs, expected[LJ_CURVE_PROFILE]);
    } else {
        lj_oracle_pairs(t, s->bin_edges, bins, pairs);
        lj_pairs_convert(s, t->n, t->numbers, pairs, expected);
    }
    for (size_t c = 0; c < LJ_CURVES; c++)
        for (uint32_t k = 0; found[c] && k < bins; k++)
            if (found[c][k] != expected[c][k])
                fail_msg("%s\nnot the oracle's pairs: curve %zu, bin %u has %g, all pairs have %g",
                         what, c, k, found[c][k], expected[c][k]);
    b->pairs += all;
    free(pairs);
    free(values);
}

/* Runs a job (' for ") and its oracle: `samples` samples, one every `every` moves, in blocks of
 * two.
 */
static inline void lj_compare(struct lj_bench *b, const char *text, size_t samples,
                              uint64_t every) {
    struct ergo_job *job = NULL;
    void *state = NULL;
    char *json = strdup(text);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    LJ_OK(b, text, ergo_job_parse(b->ctx, json, strlen(json), "case", NULL, 0, &job));
    free(json);
    const struct ergo_sampler_ops *ops = job->model->ops;
    const struct ergo_batch *batch = &job->batches[0];
    assert_int_equal(job->n_batches, 1);
    LJ_OK(b, text, ergo_sampler_create(b->ctx, ops, batch, b->device, &state));
    LJ_OK(b, text, ops->init(b->ctx, state));
    ergo_pace_start(&((struct lj_state *)state)->e.curve_pace, 1); /* g(r) in several launches */
    const size_t boxes = lj_boxes_of(batch->points[0]);
    struct lj_oracle *oracles = calloc(boxes * batch->count, sizeof *oracles);
    const uint64_t curves = lj_curve_every(batch->points[0]);
    size_t sizes[LJ_CURVES]; /* the histogram is not collected */
    for (size_t c = 0; c < LJ_CURVES; c++)
        sizes[c] = ergo_point_curve_size(batch->points[0], c);
    struct ergo_samples got = {.columns = calloc(2 * batch->count * LJ_COLUMNS, sizeof(double))};
    for (int c = 0; c < LJ_CURVES; c++)
        got.curves[c] = calloc(2 * batch->count * (sizes[c] + 1), sizeof(double));
    for (size_t m = 0; m < batch->count; m++)
        lj_oracle_start(b->ctx, &oracles[boxes * m], batch->points[m],
                        &((struct lj_state *)state)->tables);

    LJ_OK(b, text,
          ergo_sampler_advance(b->ctx, ops, state, 0, 0, every / 2, 0)); /* without samples */
    for (size_t m = 0; m < batch->count; m++)
        lj_oracle_steps(&oracles[boxes * m], every / 2);
    /* two blocks in flight: what the second has done when the first is found to have stopped */
    const size_t blocks = (samples + 1) / 2;
    LJ_OK(b, text, ergo_sampler_advance(b->ctx, ops, state, 0, 2, every, 0));
    for (size_t k = 0; k < blocks; k++) {
        if (k + 1 < blocks)
            LJ_OK(b, text,
                  ergo_sampler_advance(b->ctx, ops, state, (k + 1) & 1, 2, every, 2 * (k + 1)));
        LJ_OK(b, text, ergo_sampler_collect(b->ctx, ops, state, k & 1, &got));
        for (size_t i = 0, curve = 0; i < 2; i++) {
            const bool pairs = curves && (2 * k + i) % curves == 0;
            for (size_t m = 0; m < batch->count; m++) {
                struct lj_oracle *t = &oracles[boxes * m];
                const double *c = got.columns + (i * batch->count + m) * LJ_COLUMNS;
                double expected[LJ_COLUMNS];
                lj_oracle_steps(t, every);
                b->moves += every;
                const uint32_t ghosts = lj_ghosts_of(batch->points[m]);
                struct lj_sample sample[2];
                int64_t weights[2 * LJ_GHOST_SUMS];
                for (size_t box = 0; box < boxes; box++) {
                    sample[box] = lj_oracle_sample(&t[box]);
                    lj_oracle_ghosts(&t[box], ghosts, weights + box * LJ_GHOST_SUMS);
                }
                lj_columns_of(state, m, sample, ghosts ? weights : NULL, t->step, expected);
                if (memcmp(c, expected, sizeof expected) != 0)
                    fail_msg("%s\nnot the oracle's sample %zu of member %zu: N %g, U %.17g; the "
                             "oracle has %u, %lld",
                             text, 2 * k + i, m, c[0], c[1], t->n, (long long)t->energy);
                double *rows[LJ_CURVES];
                lj_curve_rows_at(state, got.curves, curve * batch->count + m, rows);
                if (pairs)
                    lj_compare_pairs(b, text, state, t, rows);
            }
            curve += pairs;
        }
    }
    LJ_OK(b, text, lj_settle(b->ctx, state));
    for (size_t c = 0; c < boxes * batch->count; c++)
        lj_compare_state(b, text, state, c, &oracles[c]);
    lj_compare_totals(b, text, state, oracles);
    lj_compare_saved(b, text, state, batch, oracles, every / 2);
    b->grown += ((struct lj_state *)state)->grown;
    for (size_t c = 0; c < boxes * batch->count; c++)
        lj_oracle_free(&oracles[c]);
    for (int c = 0; c < LJ_CURVES; c++)
        free(got.curves[c]);
    free(oracles);
    free(got.columns);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

static inline int lj_bench_open(struct lj_bench *b) {
    memset(b, 0, sizeof *b);
    b->ctx = ergo_context_create();
    if (!b->ctx || ergo_device_open(b->ctx, NULL, &b->device) != ERGO_OK) {
        print_message("%s\n", b->ctx ? ergo_error_message(b->ctx) : "no memory");
        return -1;
    }
    print_message("on %s (%s)\n", b->device->summary.name, b->device->summary.platform);
    return 0;
}

#endif
