/* Compares spins on graphs on a device with the plain oracle, bit for bit. The kernel test and the
 * mutants share it. */
#ifndef ERGO_TESTS_KERNEL_GRAPH_BENCH_H
#define ERGO_TESTS_KERNEL_GRAPH_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "oracle/graph_serial.h"
#include "run/tuning.h"
#include "run/work.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

#define GRAPH_BENCH_OK(ctx, what, call)                                                            \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s: %s", what, ergo_error_message(ctx));                                     \
    } while (0)

/* The files of data/reference, whose numbers of vertices the oracle is told. */
static inline void graph_bench_oracle(const struct ergo_point *point, struct graph_oracle *o) {
    const char *name = ergo_point_text(point, "/system/graph");
    const double field = ergo_point_real(point, "/system/field");
    const struct ergo_value *j = ergo_point_value(point, "/system/couplings");
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const char *boundary = ergo_point_text(point, "/system/boundary");
    bool good = false;
    if (strstr(name, "edges"))
        good = graph_oracle_read(o, name, 'e', 13, 0, field);
    else if (strstr(name, "maxcut"))
        good = graph_oracle_read(o, name, 'm', 10, 1, field);
    else if (strstr(name, "qubo"))
        good = graph_oracle_read(o, name, 'q', 9, 0, field);
    else {
        double couplings[4] = {ergo_point_real(point, "/system/coupling"), 0, 0, 0};
        int l[4] = {1, 1, 1, 1};
        char sides[5] = "pppp";
        for (int k = 0; k < j->items && j->present; k++)
            couplings[k] = j->reals[k];
        for (int k = 0; k < size->items; k++) {
            l[k] = (int)size->size[k];
            boundary += *boundary == ' ';
            sides[k] = boundary[0];
            if (strchr(boundary, ','))
                boundary = strchr(boundary, ',') ? strchr(boundary, ',') + 1 : boundary;
        }
        if (ergo_point_value(point, "/system/long_range")->present)
            good = graph_oracle_long(o, name, l, sides, couplings[0],
                                     ergo_point_real(point, "/system/long_range"), field);
        else
            good = graph_oracle_lattice(o, name, l, sides, couplings, j->present ? j->items : 1,
                                        field);
    }
    assert_true(good);
}

static inline struct ergo_job *graph_bench_job(struct ergo_context *ctx, const char *job_text) {
    char text[900];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text, "%s", job_text);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    GRAPH_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    assert_true(job->n_batches == 1);
    return job;
}

/* The temperature of a sweep: the only geometric schedule here has both ends in the job. */
static inline double graph_bench_temperature(const struct ergo_point *point, uint64_t step) {
    if (strcmp(ergo_point_text(point, "/run/method"), "anneal") != 0)
        return ergo_point_real(point, "/system/temperature");
    const double first = ergo_point_real(point, "/run/temperature_initial");
    const double last = ergo_point_real(point, "/run/temperature_final");
    const double n = (double)ergo_point_int(point, "/run/sweeps");
    const double f = fmin((double)step / (n - 1), 1);
    const char *how = ergo_point_text(point, "/run/schedule");
    return strcmp(how, "linear") == 0    ? first + f * (last - first)
           : strcmp(how, "inverse") == 0 ? 1 / ((1 - f) / first + f / last)
                                         : first * pow(last / first, f);
}

static inline int graph_bench_spin(const uint8_t *bits, int v) {
    return bits[v / 8] >> v % 8 & 1 ? 1 : -1;
}

/* The lowest states that a saved member has: those of the oracle's chain, each once. */
static inline void graph_bench_lowest(const char *text, const struct graph_oracle *o,
                                      const uint8_t *saved, size_t keep, const double *energies,
                                      const uint64_t *hashes, size_t samples) {
    const size_t each = ((size_t)o->n + 7) / 8 + 8;
    for (size_t k = 0; k < keep; k++) {
        /* the k-th lowest energy of different configurations of the chain */
        double lowest = INFINITY, before = INFINITY;
        size_t rank = 0;
        (void)before;
        double *sorted = malloc((samples + 1) * sizeof *sorted);
        for (size_t i = 0; i < samples; i++) {
            bool again = false;
            for (size_t b = 0; b < i; b++)
                again = again || hashes[b] == hashes[i];
            if (!again)
                sorted[rank++] = energies[i];
        }
        for (size_t a = 0; a < rank; a++)
            for (size_t b = a + 1; b < rank; b++)
                if (sorted[b] < sorted[a]) {
                    const double swap = sorted[a];
                    sorted[a] = sorted[b];
                    sorted[b] = swap;
                }
        lowest = k < rank ? sorted[k] : NAN;
        free(sorted);
        size_t found = 0, below = 0;
        for (size_t p = 0; p < keep; p++) {
            const uint8_t *own = saved + (p + 1) * each;
            int s[512];
            bool empty = true;
            for (int b = 0; b < 8; b++)
                empty = empty && own[b] == 0xff;
            for (int v = 0; v < o->n; v++)
                s[v] = graph_bench_spin(own + 8, v);
            const double energy = empty ? NAN : graph_oracle_energy(o, s);
            found += isnan(lowest) ? empty : fabs(energy - lowest) < 1e-5;
            below += !isnan(lowest) && energy < lowest - 1e-5;
        }
        if (!found || (!isnan(lowest) && below > k))
            fail_msg("%s: lowest state %zu has energy %.9g by the oracle, and is not kept", text, k,
                     lowest);
    }
}

/* When the target was first seen. */
static inline void graph_bench_hit(const char *text, const struct ergo_point *point,
                                   const uint8_t *saved, const double *energies, size_t sweeps,
                                   uint64_t late) {
    const double target = ergo_point_real(point, "/run/target_energy");
    uint64_t hit, expected = GRAPH_NEVER;
    memcpy(&hit, saved, 8);
    for (size_t t = sweeps; t-- > 0;)
        expected = energies[t] < target + 1e-6 ? late + t + 1 : expected;
    if (hit != expected)
        fail_msg("%s: the target was seen at sweep %llu, by the oracle at %llu", text,
                 (unsigned long long)hit, (unsigned long long)expected);
}

/* A saved member is loaded as it was: spins, lowest states, and of these the sums and marks, which
 * the host computes and the device has measured. */
static inline void graph_bench_load(struct ergo_context *ctx, const char *text,
                                    const struct ergo_sampler_ops *ops, struct graph_state *s,
                                    size_t m, const struct ergo_text *saved) {
    struct graph_found before[GRAPH_KEEP_MAX], after[GRAPH_KEEP_MAX];
    const size_t bytes = s->keep * sizeof *before;
    struct ergo_text again = {0};
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, GRAPH_FOUND, m * bytes, bytes, before);
    GRAPH_BENCH_OK(ctx, text, ergo_engine_end(&s->e));
    GRAPH_BENCH_OK(ctx, text, ops->load(ctx, s, m, s->e.step, saved->data, saved->length));
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_fill(&s->e, GRAPH_PACKED, 0); /* what was written is not what is read */
    ergo_engine_read(&s->e, GRAPH_FOUND, m * bytes, bytes, after);
    GRAPH_BENCH_OK(ctx, text, ergo_engine_end(&s->e));
    GRAPH_BENCH_OK(ctx, text, ops->save(ctx, s, m, &again));
    if (again.length != saved->length || memcmp(again.data, saved->data, again.length) != 0)
        fail_msg("%s: member %zu is loaded otherwise, by the oracle of what was saved", text, m);
    for (uint32_t k = 0; k < s->keep; k++)
        if (before[k].sum != after[k].sum || before[k].mark != after[k].mark)
            fail_msg("%s: lowest state %u of member %zu has another sum or mark by the oracle",
                     text, k, m);
    ergo_text_free(&again);
}

/* The last sample is that of the saved state's spins, and of a population its families. */
static inline void graph_bench_sample(const char *text, const struct graph_state *s,
                                      const struct graph_oracle *o, size_t m, const char *saved) {
    const size_t width = s->chains.width, one = ((size_t)o->n + 7) / 8;
    const uint32_t *numbers = ergo_engine_host(&s->e, GRAPH_COUNTS, 0, 0);
    const uint32_t *families = NULL;
    int spins[512];
    for (size_t w = 0; w < width; w++) {
        double found[GRAPH_COLUMNS], up = 0;
        for (int v = 0; v < o->n; v++) {
            spins[v] = graph_bench_spin((const uint8_t *)saved + w * one, v);
            up += spins[v];
        }
        graph_columns(s, numbers + (m * width + w) * GRAPH_NUMBERS, found);
        if (fabs(found[COLUMN_TOTAL] - graph_oracle_energy(o, spins)) > 1e-5 ||
            fabs(found[COLUMN_GRAPH_M] - up / o->n) > 1e-12)
            fail_msg("%s: chain %zu of member %zu is measured otherwise by the oracle", text, w, m);
    }
    if (s->chains.population)
        families = ergo_engine_host(&s->e, GRAPH_FAMILIES_SAMPLES, 0, 0);
    if (families && memcmp(families + m * width, saved + width * one, 4 * width) != 0)
        fail_msg("%s: families of member %zu are not those of the oracle, the state", text, m);
}

/* No kept state at the target is older than the sweep at which the target was first seen; without
 * one it was never seen. With looks after all sweeps. */
static inline void graph_bench_target(const char *text, const struct graph_oracle *o, double target,
                                      uint32_t keep, const struct ergo_text *saved) {
    const size_t one = ((size_t)o->n + 7) / 8;
    const uint8_t *from = (const uint8_t *)saved->data + saved->length - keep * (one + 8);
    uint64_t hit, first = GRAPH_NEVER, seen;
    int spins[512];
    memcpy(&hit, from - 8, 8);
    for (uint32_t k = 0; k < keep; k++, from += one + 8) {
        memcpy(&seen, from, 8);
        for (int v = 0; v < o->n; v++)
            spins[v] = graph_bench_spin(from + 8, v);
        if (seen < first && graph_oracle_energy(o, spins) < target + 1e-6)
            first = seen;
    }
    if (hit > first || (first == GRAPH_NEVER && hit != first))
        fail_msg("%s: the target was seen at sweep %llu, of the kept states by the oracle at %llu",
                 text, (unsigned long long)hit, (unsigned long long)first);
}

/* More than one chain a member, in the groups of the job and in groups of one: the same states, and
 * samples that are those of the states. */
static inline void graph_bench_chains(struct ergo_context *ctx, struct ergo_device *device,
                                      const char *text) {
    struct ergo_job *job = graph_bench_job(ctx, text);
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *point = batch->points[0];
    const struct ergo_sampler_ops *ops = job->model->ops;
    struct graph_oracle o = {0};
    struct ergo_samples samples = {0};
    struct ergo_text saved[2][2] = {0};
    assert_int_equal(batch->count, 2);
    assert_true(ergo_samples_create(&samples, batch, 1));
    graph_bench_oracle(point, &o);
    for (int turn = 0; turn < 2; turn++) {
        void *state = NULL;
        GRAPH_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
        GRAPH_BENCH_OK(ctx, text, ops->init(ctx, state));
        GRAPH_BENCH_OK(ctx, text,
                       ergo_sampler_advance(ctx, ops, state, 0, 1,
                                            (uint64_t)ergo_point_int(point, "/run/sweeps"), 0));
        GRAPH_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
        for (size_t m = 0; m < 2; m++) {
            struct ergo_text *own = &saved[turn][m];
            GRAPH_BENCH_OK(ctx, text, ops->save(ctx, state, m, own));
            graph_bench_sample(text, state, &o, m, own->data);
            if (graph_has_target(point))
                graph_bench_target(text, &o, ergo_point_real(point, "/run/target_energy"),
                                   ((struct graph_state *)state)->keep, own);
            graph_bench_load(ctx, text, ops, state, m, own);
            if (memcmp(own->data, saved[0][m].data, own->length) != 0)
                fail_msg("%s: groups of one make other states than those of the job", text);
        }
        ergo_engine_destroy(state);
        ergo_tuning_set(batch, "work_group", 1);
    }
    for (int k = 0; k < 4; k++)
        ergo_text_free(&saved[k / 2][k % 2]);
    ergo_samples_free(&samples);
    graph_oracle_free(&o);
    ergo_job_destroy(job);
}

/* Wang-Landau walks: a member's last sample is that of its saved state. Of its first walker the
 * energy, of its estimates the means of levels found and of ln f. */
static inline void graph_bench_walk(const char *text, const struct walk_state *s,
                                    const struct graph_oracle *o, const struct ergo_text *saved,
                                    const double *sample) {
    const size_t levels = s->graph.levels.count, estimates = s->shape.estimates;
    const uint8_t *from = (const uint8_t *)saved->data;
    const uint8_t *rest = from + ((size_t)o->n + 7) / 8 * estimates * s->shape.walkers;
    double found = 0, ln_f = 0;
    int spins[64];
    for (int v = 0; v < o->n; v++)
        spins[v] = graph_bench_spin(from, v);
    for (size_t e = 0; e < estimates; e++, rest += 16 * levels + 9) {
        uint64_t f;
        for (size_t i = 0; i < levels; i++)
            found += rest[12 * levels + 4 * i + 3] >> 7; /* WALK_SEEN */
        memcpy(&f, rest + 16 * levels, 8);
        ln_f += (double)f * 0x1p-32;
    }
    if (fabs(sample[COLUMN_TOTAL] - graph_oracle_energy(o, spins)) > 1e-5 ||
        fabs(sample[COLUMN_LEVELS] - found / (double)estimates) > 1e-9 ||
        fabs(sample[COLUMN_LN_F] - ln_f / (double)estimates) > 1e-12)
        fail_msg("%s: a sample has energy %.9g, %.9g levels, ln f %.9g; the oracle %.9g, %.9g, "
                 "%.9g of the state",
                 text, sample[COLUMN_TOTAL], sample[COLUMN_LEVELS], sample[COLUMN_LN_F],
                 graph_oracle_energy(o, spins), found / (double)estimates,
                 ln_f / (double)estimates);
}

/* The only batch of such a job. */
static inline void graph_bench_walks(struct ergo_context *ctx, struct ergo_device *device,
                                     const char *text) {
    struct ergo_job *job = graph_bench_job(ctx, text);
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = job->model->ops;
    const uint64_t sweeps = (uint64_t)ergo_point_int(batch->points[0], "/run/sweeps");
    struct graph_oracle o = {0};
    double columns[2 * GRAPH_COLUMNS];
    struct ergo_samples samples = {.columns = columns};
    void *state = NULL;
    assert_int_equal(batch->count, 2);
    graph_bench_oracle(batch->points[0], &o);
    GRAPH_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    GRAPH_BENCH_OK(ctx, text, ops->init(ctx, state));
    GRAPH_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, 1, sweeps, 0));
    GRAPH_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
    for (size_t m = 0; m < 2; m++) {
        struct ergo_text saved = {0};
        GRAPH_BENCH_OK(ctx, text, ops->save(ctx, state, m, &saved));
        graph_bench_walk(text, state, &o, &saved, columns + m * GRAPH_COLUMNS);
        ergo_text_free(&saved);
    }
    graph_oracle_free(&o);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

/* Runs the only batch of a job (' for "): /run/sweeps sweeps as if `late` had passed, a sample
 * after each. */
static inline void graph_bench_case(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *text, uint64_t late) {
    if (strstr(text, "wang-landau")) {
        graph_bench_walks(ctx, device, text);
        return;
    }
    if (strstr(text, "ladder") || strstr(text, "population")) {
        graph_bench_chains(ctx, device, text);
        return;
    }
    struct ergo_job *job = graph_bench_job(ctx, text);
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_sampler_ops *ops = job->model->ops;
    const struct ergo_point *first = batch->points[0];
    const size_t sweeps = (size_t)ergo_point_int(first, "/run/sweeps");
    const bool heat = strcmp(ergo_point_text(first, "/system/dynamics"), "heat-bath") == 0;
    struct graph_oracle o = {0};
    void *state = NULL;
    GRAPH_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    GRAPH_BENCH_OK(ctx, text, ops->init(ctx, state));
    struct graph_state *s = state;
    double *columns = malloc(sizeof(double) * GRAPH_COLUMNS * batch->count * sweeps);
    struct ergo_samples samples = {.columns = columns};
    s->e.step += late;
    GRAPH_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, sweeps, 1, 0));
    GRAPH_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
    graph_bench_oracle(first, &o);
    assert_int_equal(o.n, s->net.n);
    int *order = malloc((size_t)o.n * sizeof(int)), *slot = malloc((size_t)o.n * sizeof(int));
    int *spins = malloc((size_t)o.n * sizeof(int));
    double *energies = malloc(sweeps * sizeof *energies);
    uint64_t *hashes = malloc(sweeps * sizeof *hashes);
    if (graph_oracle_order(&o, order, slot) != (int)s->net.slots)
        fail_msg("%s: %u slots; the oracle has others", text, s->net.slots);
    for (size_t m = 0; m < batch->count; m++) {
        const uint64_t stream = batch->points[m]->stream;
        struct ergo_text saved = {0};
        graph_oracle_start(&o, slot, stream, spins);
        for (size_t t = 0; t < sweeps; t++) {
            const double *found = columns + GRAPH_COLUMNS * (t * batch->count + m);
            double up = 0;
            hashes[t] = 1;
            graph_oracle_sweep(&o, order, slot, stream,
                               graph_bench_temperature(batch->points[m], late + t), heat, late + t,
                               spins);
            for (int v = 0; v < o.n; v++) {
                up += spins[v];
                hashes[t] = (hashes[t] ^ (uint64_t)(spins[v] + 2)) * UINT64_C(0x100000001b3);
            }
            energies[t] = graph_oracle_energy(&o, spins);
            if (fabs(found[COLUMN_TOTAL] - energies[t]) > 1e-5 ||
                fabs(found[COLUMN_GRAPH_M] - up / o.n) > 1e-12)
                fail_msg("%s: member %zu after sweep %zu has energy %.9g, magnetization %.9g; the "
                         "oracle %.9g, %.9g",
                         text, m, t, found[COLUMN_TOTAL], found[COLUMN_GRAPH_M], energies[t],
                         up / o.n);
        }
        GRAPH_BENCH_OK(ctx, text, ops->save(ctx, state, m, &saved));
        for (int v = 0; v < o.n; v++)
            if (graph_bench_spin((const uint8_t *)saved.data, v) != spins[v])
                fail_msg("%s: member %zu differs from the oracle at vertex %d", text, m, v);
        graph_bench_lowest(text, &o, (const uint8_t *)saved.data, s->keep, energies, hashes,
                           sweeps);
        if (graph_has_target(batch->points[m]) && s->look_every == 1)
            graph_bench_hit(text, batch->points[m], (const uint8_t *)saved.data + (o.n + 7) / 8,
                            energies, sweeps, late);
        graph_bench_load(ctx, text, ops, s, m, &saved);
        ergo_text_free(&saved);
    }
    free(columns);
    free(order);
    free(slot);
    free(spins);
    free(energies);
    free(hashes);
    graph_oracle_free(&o);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

#endif
