/* Compares spin glasses on a device with the plain oracle, bit for bit: a few sweeps and exchanges
 * of every sample, copy and temperature. The kernel test and the mutants share it. */
#ifndef ERGO_TESTS_KERNEL_GLASS_BENCH_H
#define ERGO_TESTS_KERNEL_GLASS_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/glass_serial.h"
#include "run/work.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

#define GLASS_BENCH_OK(ctx, what, call)                                                            \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", what, ergo_error_message(ctx));                                     \
    } while (0)

static inline struct glass_oracle glass_oracle_of(const struct ergo_point *point) {
    const struct glass_shape s = glass_shape_of(point);
    const struct ergo_value *fraction = ergo_point_value(point, "/system/negative_fraction");
    const struct ergo_value *seed = ergo_point_value(point, "/system/disorder_seed");
    const double j = ergo_point_real(point, "/system/coupling");
    struct glass_oracle o = {.d = (int)s.d,
                             .l = {(int)s.lx, (int)s.ly, (int)s.lz},
                             .temperatures = (int)s.temperatures,
                             .copies = (int)s.copies,
                             .heat = s.heat,
                             .real = !s.signs,
                             .logs = s.real,
                             .b = ergo_point_real(point, "/system/field") / j,
                             .normal =
                                 ergo_says(of_lattice(point)->field_distribution.text, "gaussian"),
                             .stream = point->stream,
                             .fraction = fraction->present ? fraction->real : 0.5};
    char line[100];
    double t[ERGO_LADDER_MAX];
    if (of_lattice(point)->random_field.present)
        o.h = ergo_point_real(point, "/system/random_field") / j;
    assert_true(j > 0 && ergo_ladder_temperatures(point, t) <= 16);
    for (int i = 0; i < o.temperatures; i++)
        o.t[i] = t[i] / j;
    snprintf(
        line, sizeof line, "ergocl spin-glass disorder %llu %u",
        (unsigned long long)(seed->present ? seed->seed : ergo_point_value(point, "/seed")->seed),
        point->replica);
    o.disorder = ergo_hash64(line, strlen(line));
    return o;
}

/* Compares what was measured of a sample's slot with its spins, of all slots; fields are rounded on
 * the device, to 2^-24 of the coupling. */
static inline void glass_bench_record(const char *what, const struct glass_shape *s,
                                      const struct glass_oracle *o, const double *j,
                                      const int *spins, size_t slot,
                                      const struct glass_record *found) {
    static const size_t pairs[4][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
    const size_t sites = s->sites, k = slot % s->copies;
    const size_t first = (slot - k + pairs[k][0]) * sites,
                 second = (slot - k + pairs[k][1]) * sites;
    const bool pair = s->copies == 4 || (s->copies == 2 && k == 0);
    const double e = glass_oracle_energy(o, j, spins + slot * sites);
    const double energy = s->real ? e * 0x1p24 : (e + (double)s->d * (double)sites) / 2;
    struct glass_record r = {0};
    for (size_t i = 0; i < sites; i++) {
        const bool unequal = pair && spins[first + i] != spins[second + i];
        int32_t wave[2];
        glass_wave(s, (uint32_t)(i / (sites / s->layers)), wave);
        r.up += spins[slot * sites + i] > 0;
        r.unequal += unequal;
        r.cosine += unequal ? wave[0] : 0;
        r.sine += unequal ? wave[1] : 0;
    }
    if (fabs(energy - (double)found->energy) > (s->field ? (double)sites : 0))
        fail_msg("%s: measured energy %lld of slot %zu, oracle %.1f", what,
                 (long long)found->energy, slot, energy);
    if (r.up != found->up || r.unequal != found->unequal || r.cosine != found->cosine ||
        r.sine != found->sine)
        fail_msg("%s: up spins, overlaps or waves of slot %zu are not the oracle's", what, slot);
}

/* Compares one member's saved state with the oracle, its records, [word][128 quads], and how often
 * each sample has moved, [word][rows][32]. */
static inline void glass_bench_member(const char *what, const struct ergo_point *point,
                                      const uint8_t *state, const struct glass_record *records,
                                      const uint64_t *moved, uint64_t step, uint64_t sweeps) {
    const struct glass_shape s = glass_shape_of(point);
    struct glass_oracle o = glass_oracle_of(point);
    const size_t sites = s.sites, slots = s.slots;
    const size_t ladder = s.temperatures > 1 ? 4 * slots + 8 * slots : 0;
    const size_t rows = glass_move_rows(&s);
    double *j = malloc((s.d + 1) * sites * sizeof *j), *f = j + s.d * sites;
    int *spins = malloc(slots * sites * sizeof *spins), from_hot[512];
    assert_true(j && spins && slots <= 512);
    for (uint32_t word = 0; word < s.words; word++) {
        const uint8_t *lattice = state + 8 + word * (4 * slots * sites + ladder);
        const uint8_t *walkers = lattice + 4 * slots * sites;
        uint64_t all[512 + 4] = {0}, number;
        for (int sample = 32 * (int)word; sample < 32 * (int)word + 32; sample++) {
            uint64_t own[512 + 4] = {0};
            glass_oracle_couplings(&o, sample, j);
            glass_oracle_fields(&o, sample, f);
            o.f = s.field ? f : NULL;
            glass_oracle_start(&o, sample, spins);
            for (size_t k = 0; k < slots; k++)
                from_hot[k] = s.temperatures > 1 && k >= slots - s.copies;
            for (uint64_t t = 0; t < sweeps; t++) {
                glass_oracle_sweep(&o, sample, j, step + t, spins);
                const uint64_t now = step + t + 1, every = s.cluster_every;
                if (s.temperatures > 1 && now % s.swap_every == 0)
                    glass_oracle_swap(&o, sample, j, now, (int)(now / s.swap_every & 1), spins,
                                      from_hot, own);
                if (every && now % every == 0)
                    glass_oracle_clusters(&o, sample, now, now / every, spins);
            }
            for (size_t row = 0; row < rows && s.temperatures > 1; row++) {
                all[row] += own[row];
                if (moved[(word * rows + row) * 32 + (size_t)sample % 32] != own[row])
                    fail_msg("%s: exchanges or round trips of sample %d in row %zu are not the "
                             "oracle's",
                             what, sample, row);
            }
            for (size_t k = 0; k < slots * sites; k++) {
                uint32_t bits;
                memcpy(&bits, lattice + 4 * k, 4);
                if ((int)(bits >> (sample % 32) & 1) != (spins[k] > 0))
                    fail_msg("%s: sample %d differs from the oracle in slot %zu at site %zu after "
                             "%llu sweeps",
                             what, sample, k / sites, k % sites, (unsigned long long)sweeps);
            }
            for (size_t k = 0; k < slots; k++)
                glass_bench_record(
                    what, &s, &o, j, spins, k,
                    &records[word * 128 * (size_t)s.quads + k * 32 + (size_t)sample % 32]);
            for (size_t k = 0; k < slots && s.temperatures > 1; k++) {
                uint32_t bits;
                memcpy(&bits, walkers + 4 * k, 4);
                if ((int)(bits >> (sample % 32) & 1) != from_hot[k])
                    fail_msg("%s: the walker of sample %d in slot %zu is not the oracle's", what,
                             sample, k);
            }
        }
        if (s.temperatures < 2)
            continue;
        for (size_t k = 0; k < slots; k++) { /* nothing is above the hottest ones */
            memcpy(&number, walkers + 4 * slots + 8 * k, 8);
            if (number != all[k < slots - s.copies ? k : k + s.copies])
                fail_msg("%s: exchanges or round trips are not counted as by the oracle", what);
        }
    }
    free(j);
    free(spins);
}

/* Runs the only batch of a job: start, and /run/sweeps as if `earlier` sweeps had passed. */
static inline void glass_bench_case(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *text, uint64_t earlier) {
    struct ergo_job *job = NULL;
    void *state = NULL;
    GLASS_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t sweeps = (uint64_t)ergo_point_int(batch->points[0], "/run/sweeps");
    assert_true(job->n_batches == 1);
    GLASS_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    GLASS_BENCH_OK(ctx, text, ops->init(ctx, state));
    struct glass_state *s = state;
    struct ergo_samples samples = {0};
    s->e.step += earlier;
    assert_true(ergo_samples_create(&samples, batch, 1));
    GLASS_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, 1, sweeps, 0));
    GLASS_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
    ergo_engine_begin(&s->e, ctx);
    glass_moves_take(s);
    GLASS_BENCH_OK(ctx, text, ergo_engine_end(&s->e));
    const struct glass_record *records = ergo_engine_host(&s->e, GLASS_RECORDS, 0, 0);
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_text saved = {0};
        GLASS_BENCH_OK(ctx, text, ops->save(ctx, state, m, &saved));
        glass_bench_member(text, batch->points[m], (const uint8_t *)saved.data,
                           records + m * s->shape.words * 128 * (size_t)s->shape.quads,
                           s->moved + m * s->shape.words * glass_move_rows(&s->shape) * 32, earlier,
                           sweeps);
        ergo_text_free(&saved);
    }
    ergo_samples_free(&samples);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

#endif
