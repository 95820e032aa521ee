/* Compares facilitated dynamics on a device with the plain oracle, bit for bit: a job of at most
 * three sweeps, every realisation of every member. The kernel test and the mutants share it. */
#ifndef ERGO_TESTS_KERNEL_FACILITATED_BENCH_H
#define ERGO_TESTS_KERNEL_FACILITATED_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/facilitated.h"
#include "samplers/spin_lattice/facilitated/facilitated.h"

#define FAC_BENCH_OK(ctx, what, call)                                                              \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", what, ergo_error_message(ctx));                                     \
    } while (0)

/* The bit of a realisation in one of a word-lattice's three canonical lattices. */
static inline unsigned fac_bench_bit(const struct fac_shape *s, const char *state, size_t word,
                                     size_t lattice, size_t site, unsigned lane) {
    const uint8_t *bytes = (const uint8_t *)state;
    const size_t size = s->lanes == 32 ? 4 * s->sites : (s->sites + 7) / 8;
    const size_t bit = s->lanes == 32 ? 32 * site + lane : site;
    return bytes[(3 * word + lattice) * size + bit / 8] >> (bit % 8) & 1;
}

/* What the kernels count, of a word-lattice: up spins, those equal to t = 0, those that never
 * flipped, unequal bonds; squares of the second and the third of single realisations. */
struct fac_bench_counts {
    uint64_t n[FAC_COUNTS], squares[FAC_SQUARES];
};

/* Adds a realisation. */
static inline void fac_bench_count(const struct fac_shape *s, const uint8_t *spins,
                                   const uint8_t *first, const uint8_t *flipped,
                                   struct fac_bench_counts *counts) {
    const size_t lx = s->lx, layer = lx * s->ly;
    uint64_t n[FAC_COUNTS] = {0};
    for (size_t i = 0; i < s->sites; i++) {
        const size_t x = i % lx, row = i - x, corner = i - i % layer;
        n[0] += spins[i];
        n[1] += spins[i] == first[i];
        n[2] += !flipped[i];
        n[3] += spins[i] != spins[row + (x + 1) % lx];
        n[3] += spins[i] != spins[corner + (i + lx) % layer];
        n[3] += spins[i] != spins[(i + layer) % s->sites];
    }
    for (unsigned c = 0; c < FAC_COUNTS; c++)
        counts->n[c] += n[c];
    for (unsigned c = 0; c < FAC_SQUARES; c++)
        counts->squares[c] += n[1 + c] * n[1 + c];
}

/* One realisation: the start, and `sweeps` sweeps from `step` on. Adds to counts[t]. */
static inline void fac_bench_lane(const char *what, const struct ergo_point *point,
                                  const struct fac_shape *s, const char *state, size_t word,
                                  unsigned lane, uint64_t step, uint64_t sweeps,
                                  struct fac_bench_counts *counts) {
    const struct fac_physics p = fac_physics_of(point);
    const bool heat = strcmp(ergo_point_text(point, "/system/dynamics"), "heat-bath") == 0;
    const struct fac_oracle o = {
        (int)s->lx, (int)s->ly, s->directions, (int)s->needed,
        p.j / p.t,  p.b / p.t,  heat,          s->d == 3 ? (int)(s->sites / s->lx / s->ly) : 0};
    uint8_t *spins = malloc(3 * s->sites), *first = spins + s->sites, *flipped = first + s->sites;
    assert_non_null(spins);
    memset(flipped, 0, s->sites);
    fac_oracle_start(&o, point->stream, (uint32_t)word, (int)lane, first);
    memcpy(spins, first, s->sites);
    for (uint64_t t = 0;; t++) {
        fac_bench_count(s, spins, first, flipped, &counts[t]);
        if (t == sweeps)
            break;
        if (s->lambda)
            fac_oracle_lambda_sweep(&o, (int)s->lambda, (enum fac_oracle_division)s->division,
                                    point->stream, (uint32_t)word, (int)lane, step + t, spins,
                                    flipped);
        else
            fac_oracle_sweep(&o, point->stream, (uint32_t)word, (int)lane, step + t, spins,
                             flipped);
    }
    for (size_t i = 0; i < s->sites; i++)
        if (fac_bench_bit(s, state, word, 0, i, lane) != spins[i] ||
            fac_bench_bit(s, state, word, 1, i, lane) != first[i] ||
            fac_bench_bit(s, state, word, 2, i, lane) != flipped[i])
            fail_msg("%s: realisation %u of word-lattice %zu differs from the oracle at site %zu "
                     "after %llu sweeps",
                     what, lane, word, i, (unsigned long long)sweeps);
    free(spins);
}

/* The counts of a time of the curves. */
static inline void fac_bench_record(const char *what, const struct fac_state *s, size_t time,
                                    size_t member, size_t word,
                                    const struct fac_bench_counts *counts) {
    for (unsigned c = 0; c < FAC_COUNTS; c++)
        if (fac_record(s, time, member, word, c) != counts->n[c])
            fail_msg("%s: number %u is %llu at t = %zu, %llu by the oracle", what, c,
                     (unsigned long long)fac_record(s, time, member, word, c), time,
                     (unsigned long long)counts->n[c]);
    for (unsigned c = 0; c < FAC_SQUARES && s->each; c++)
        if (fac_square(s, time, member, word, c) != counts->squares[c])
            fail_msg("%s: sum %u of squares is %llu at t = %zu, %llu by the oracle", what, c,
                     (unsigned long long)fac_square(s, time, member, word, c), time,
                     (unsigned long long)counts->squares[c]);
}

/* Runs the only batch of a job: start, and /run/sweeps (at most 3) as if `late` sweeps had passed.
 */
static inline void fac_bench_case(struct ergo_context *ctx, struct ergo_device *device,
                                  const char *text, uint64_t late) {
    struct ergo_job *job = NULL;
    void *state = NULL;
    FAC_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t sweeps = (uint64_t)ergo_point_int(batch->points[0], "/run/sweeps");
    assert_true(job->n_batches == 1 && sweeps <= 3);
    FAC_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    FAC_BENCH_OK(ctx, text, ops->init(ctx, state));
    struct fac_state *s = state;
    s->e.step += late;
    FAC_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, 0, sweeps, 0));
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_text saved = {0};
        FAC_BENCH_OK(ctx, text, ops->save(ctx, state, m, &saved));
        for (size_t w = 0; w < s->shape.words; w++) {
            struct fac_bench_counts counts[4] = {0};
            for (unsigned lane = 0; lane < s->shape.lanes; lane++)
                fac_bench_lane(text, batch->points[m], &s->shape, saved.data, w, lane, late, sweeps,
                               counts);
            for (size_t t = 0; t <= sweeps && late == 0; t++)
                fac_bench_record(text, s, t, m, w, &counts[t]);
        }
        ergo_text_free(&saved);
    }
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

#endif
