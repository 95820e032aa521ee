/* Compares fully connected spin glasses on a device with the plain oracle, bit for bit: some sweeps
 * and exchanges of every realisation, copy and temperature, and what is measured of them. The
 * kernel test and the mutants share it. */
#ifndef ERGO_TESTS_KERNEL_DENSE_BENCH_H
#define ERGO_TESTS_KERNEL_DENSE_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/dense_serial.h"
#include "run/work.h"
#include "samplers/spin_lattice/dense/dense.h"

#define DENSE_BENCH_OK(ctx, what, call)                                                            \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", what, ergo_error_message(ctx));                                     \
    } while (0)

static inline struct dense_oracle dense_oracle_of(const struct ergo_point *point) {
    const struct ergo_value *seed = ergo_point_value(point, "/system/disorder_seed");
    struct dense_oracle o = {
        .n = (int)ergo_point_int(point, "/system/n"),
        .copies = (int)ergo_point_int(point, "/system/copies"),
        .h = ergo_point_real(point, "/system/field"),
        .heat = strcmp(ergo_point_text(point, "/system/dynamics"), "heat-bath") == 0,
        .stream = point->stream};
    const char *model = point->job->model->name;
    char line[100];
    double t[ERGO_LADDER_MAX];
    o.temperatures = (int)ergo_ladder_temperatures(point, t);
    assert_true(o.temperatures <= 16);
    memcpy(o.t, t, (size_t)o.temperatures * sizeof *t);
    if (strcmp(model, "random-orthogonal") == 0)
        o.disorder = DENSE_ORACLE_ORTHOGONAL;
    else if (strcmp(ergo_point_text(point, "/system/disorder"), "gaussian") == 0)
        o.disorder = DENSE_ORACLE_GAUSSIAN;
    snprintf(
        line, sizeof line, "ergocl %s disorder %llu %u", model,
        (unsigned long long)(seed->present ? seed->seed : ergo_point_value(point, "/seed")->seed),
        point->replica);
    o.key = ergo_hash64(line, strlen(line));
    return o;
}

static inline void dense_bench_number(const char *what, const uint8_t *at, uint64_t number,
                                      int sample, const char *of) {
    uint64_t found;
    memcpy(&found, at, 8);
    if (found != number)
        fail_msg("%s: sample %d has %llu %s, the oracle %llu", what, sample,
                 (unsigned long long)found, of, (unsigned long long)number);
}

/* What is measured of a realisation's slots at the end. */
static inline void dense_bench_records(const char *what, const struct dense_oracle *o, int sample,
                                       const double *j, const int *spins,
                                       const struct dense_record *records, double unit) {
    for (int k = 0; k < o->temperatures * o->copies; k++) {
        const int *own = spins + k * o->n,
                  *other = k % o->copies + 1 < o->copies ? own + o->n : own;
        const double energy = 0.5 * unit * (double)records[k].energy;
        uint32_t up = 0, unequal = 0;
        for (int i = 0; i < o->n; i++) {
            up += own[i] > 0;
            unequal += own[i] != other[i];
        }
        if (records[k].up != up || records[k].unequal != unequal ||
            fabs(energy - dense_oracle_energy(o, j, own)) > 0.2 * unit)
            fail_msg(
                "%s: sample %d has energy %.9g, %u up, %u unequal in slot %d; the oracle %.9g, "
                "%u, %u",
                what, sample, energy, records[k].up, records[k].unequal, k,
                dense_oracle_energy(o, j, own), up, unequal);
    }
}

/* Compares one member's saved state, and its last sample, with the oracle. */
static inline void dense_bench_member(const char *what, const struct ergo_point *point,
                                      const uint8_t *state, const struct dense_record *records,
                                      double unit, uint64_t step, uint64_t sweeps) {
    const struct dense_oracle o = dense_oracle_of(point);
    const int n = o.n, slots = o.temperatures * o.copies, rungs = o.temperatures;
    const uint64_t every = ergo_ladder_every(point);
    double *j = malloc(sizeof *j * (size_t)(n * n));
    int *spins = malloc(sizeof *spins * (size_t)(slots * n)), came[64];
    assert_true(j && spins && slots <= 64);
    state += 8;
    for (int sample = 0; sample < ergo_point_int(point, "/system/samples"); sample++) {
        uint64_t flips[64] = {0}, accepted[64] = {0}, trips[2] = {0};
        dense_oracle_couplings(&o, sample, j);
        dense_oracle_start(&o, sample, spins);
        for (int k = 0; k < slots; k++)
            came[k] = k >= slots - o.copies;
        for (uint64_t t = 0; t < sweeps; t++) {
            const uint64_t now = step + t + 1;
            dense_oracle_sweep(&o, sample, j, step + t, spins, flips);
            if (rungs > 1 && now % every == 0)
                dense_oracle_swap(&o, sample, j, now, (int)(now / every & 1), spins, came, accepted,
                                  trips);
        }
        dense_bench_records(what, &o, sample, j, spins, records + sample * slots, unit);
        for (int k = 0; k < slots; k++, state += (n + 7) / 8)
            for (int i = 0; i < n; i++)
                if ((state[i / 8] >> i % 8 & 1) != (spins[k * n + i] > 0))
                    fail_msg("%s: sample %d differs from the oracle in slot %d at site %d", what,
                             sample, k, i);
        for (int k = 0; k < slots; k++, state += 8)
            dense_bench_number(what, state, flips[k], sample, "flips");
        for (int k = 0; k < slots && rungs > 1; k++)
            if (*state++ != came[k])
                fail_msg("%s: the walker of sample %d in slot %d is not the oracle's", what, sample,
                         k);
        for (int k = 0; k < slots - o.copies; k++, state += 8)
            dense_bench_number(what, state, accepted[k], sample, "exchanges");
        for (int k = 0; k < o.copies && rungs > 1; k++, state += 8)
            dense_bench_number(what, state, trips[k], sample, "round trips");
    }
    free(j);
    free(spins);
}

/* Runs the only batch of a job: start, and /run/sweeps as if `earlier` sweeps had passed. */
static inline void dense_bench_case(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *text, uint64_t earlier) {
    struct ergo_job *job = NULL;
    void *state = NULL;
    DENSE_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t sweeps = (uint64_t)ergo_point_int(batch->points[0], "/run/sweeps");
    assert_true(job->n_batches == 1);
    DENSE_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    DENSE_BENCH_OK(ctx, text, ops->init(ctx, state));
    struct dense_state *s = state;
    struct ergo_samples samples = {0};
    s->e.step += earlier;
    assert_true(ergo_samples_create(&samples, batch, 1));
    DENSE_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, 1, sweeps, 0));
    DENSE_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
    const struct dense_record *records = ergo_engine_host(&s->e, DENSE_RECORDS, 0, 0);
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_text saved = {0};
        DENSE_BENCH_OK(ctx, text, ops->save(ctx, state, m, &saved));
        dense_bench_member(text, batch->points[m], (const uint8_t *)saved.data,
                           records + m * s->shape.samples * s->shape.slots, dense_unit(&s->shape),
                           earlier, sweeps);
        ergo_text_free(&saved);
    }
    ergo_samples_free(&samples);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

#endif
