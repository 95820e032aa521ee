/*
 * A result like a run's, made without a device: Metropolis on small Ising lattices by plain C, so
 * that reports look like reports and means of series are what result.json says.
 */
#ifndef ERGO_TESTS_IO_SYNTHETIC_H
#define ERGO_TESTS_IO_SYNTHETIC_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/derived.h"
#include "result/result.h"
#include "result/result.h"
#include "samplers/spin_lattice/exact.h"

enum { SYNTHETIC_KEYS = 6, SYNTHETIC_OBSERVABLES = 6, SYNTHETIC_DISTANCES = 16 };

static const struct ergo_key synthetic_keys[SYNTHETIC_KEYS] = {
    {JOB_KEY(seed, "/seed", SEED), .unit = "", .help = "Seed."},
    {JOB_KEY(temperature, "/system/temperature", REAL), .unit = "J/k_B", .help = "T."},
    {.pointer = "/system/size", .type = ERGO_KEY_SIZE, .unit = "sites", .help = "Size."},
    {JOB_KEY(snapshots, "/output/snapshots", INT), .unit = "", .help = "Pictures."},
    {JOB_KEY(blocks, "/output/blocks", INT), .unit = "", .help = "Blocks."},
    {JOB_KEY(observables, "/run/observables", STRING), .unit = "", .help = "Names."},
};
static const struct ergo_key *const synthetic_key_list[SYNTHETIC_KEYS] = {
    &synthetic_keys[0], &synthetic_keys[1], &synthetic_keys[2],
    &synthetic_keys[3], &synthetic_keys[4], &synthetic_keys[5]};

static const struct ergo_column synthetic_columns[2] = {
    {"energy", "J per site", "energy per site"},
    {"magnetization", "", "mean spin"},
};

static double synthetic_energy(const struct ergo_point *p, const double *c) {
    (void)p;
    return c[0];
}
static double synthetic_energy2(const struct ergo_point *p, const double *c) {
    (void)p;
    return c[0] * c[0];
}
static double synthetic_abs(const struct ergo_point *p, const double *c) {
    (void)p;
    return fabs(c[1]);
}
static double synthetic_m2(const struct ergo_point *p, const double *c) {
    (void)p;
    return c[1] * c[1];
}
static double synthetic_m4(const struct ergo_point *p, const double *c) {
    (void)p;
    return pow(c[1], 4);
}
static double synthetic_heat(const struct ergo_point *p, const double *m) {
    double T = p->values[1].real, L = (double)p->values[2].size[0];
    return (m[1] - m[0] * m[0]) * L * L / (T * T);
}
static const struct ergo_observable synthetic_observables[SYNTHETIC_OBSERVABLES] = {
    {.name = "energy",
     .unit = "J per site",
     .help = "Energy per site.",
     .sample = synthetic_energy,
     .merit = true},
    {.name = "energy2",
     .unit = "J^2",
     .help = "Square.",
     .sample = synthetic_energy2,
     .hidden = true},
    {.name = "abs_magnetization",
     .unit = "",
     .help = "Mean of the absolute magnetisation per site.",
     .sample = synthetic_abs},
    {.name = "heat_capacity",
     .unit = "k_B per site",
     .help = "From the fluctuations of the energy.",
     .inputs = {"energy", "energy2", NULL},
     .derive = synthetic_heat},
    {.name = "magnetization2",
     .unit = "",
     .help = "Mean square magnetisation.",
     .sample = synthetic_m2},
    {.name = "magnetization4",
     .unit = "",
     .help = "Its <fourth> power & \"quotes\".",
     .sample = synthetic_m4},
};
static const struct ergo_curve_info synthetic_curves[1] = {
    {"correlation", "distance (lattice constants)", "", "Spin correlation along the axes."}};

static double synthetic_exact(const struct ergo_point *p, const char *observable) {
    struct ergo_ising_exact exact;
    if (!ergo_ising_exact_torus(p->values[2].size[0], p->values[2].size[1], p->values[1].real, 1,
                                &exact))
        return NAN;
    return strcmp(observable, "energy") == 0          ? exact.energy
           : strcmp(observable, "heat_capacity") == 0 ? exact.heat_capacity
                                                      : NAN;
}

static const struct ergo_model synthetic_model = {.keys = {{synthetic_keys, SYNTHETIC_KEYS}},
                                                  .columns = synthetic_columns,
                                                  .n_columns = 2,
                                                  .observables = synthetic_observables,
                                                  .n_observables = SYNTHETIC_OBSERVABLES,
                                                  .curves = synthetic_curves,
                                                  .n_curves = 1,
                                                  .exact = synthetic_exact};
static const struct ergo_model *const synthetic_models[] = {&synthetic_model};
static const struct ergo_sampler synthetic_sampler = {
    .name = "spin-lattice",
    .summary = "Spins on a lattice: Metropolis and heat bath.",
    .citation = "N. Metropolis et al., J. Chem. Phys. 21, 1087 (1953)",
    .step_name = "sweep",
    .rate_unit = "spin updates per second",
    .models = synthetic_models,
    .n_models = 1};

struct synthetic_options {
    int n_temperatures; /* 1: no scan */
    int n_sizes;        /* lattices of size, 2 size, ... scanned too when > 1 */
    int replicas, size, samples, pictures, every;
};

static uint64_t synthetic_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void synthetic_picture(struct ergo_picture *picture, const int8_t *spin, int L) {
    picture->width = picture->height = (unsigned)L;
    picture->rgb = malloc((size_t)(3 * L * L));
    for (int i = 0; picture->rgb && i < L * L; i++) {
        static const uint8_t colors[2][3] = {{20, 40, 90}, {245, 235, 210}};
        memcpy(picture->rgb + 3 * i, colors[spin[i] > 0], 3);
    }
}

static void synthetic_simulate(struct ergo_member_result *m, int pictures) {
    const struct ergo_point *p = m->point;
    int L = (int)p->values[2].size[0], N = L * L;
    double T = p->values[1].real;
    int8_t *spin = malloc((size_t)N);
    uint64_t state = p->stream;
    struct ergo_curve curve;
    double correlation[SYNTHETIC_DISTANCES];
    int distances = L / 2 < SYNTHETIC_DISTANCES ? L / 2 : SYNTHETIC_DISTANCES;
    if (!spin || !ergo_curve_init(&curve, (size_t)distances))
        abort();
    memset(spin, 1, (size_t)N);
    size_t drawn = 0;
    for (size_t s = 0; s < m->n_samples; s++) {
        for (uint64_t k = 0; k < m->measure_every * (uint64_t)N; k++) {
            int i = (int)(synthetic_random(&state) % (uint64_t)N), x = i % L, y = i / L;
            int sum = spin[y * L + (x + 1) % L] + spin[y * L + (x + L - 1) % L] +
                      spin[(y + 1) % L * L + x] + spin[(y + L - 1) % L * L + x];
            double cost = 2.0 * spin[i] * sum;
            if (cost <= 0 || (double)(synthetic_random(&state) >> 11) * 0x1p-53 < exp(-cost / T))
                spin[i] = (int8_t)-spin[i];
        }
        int E = 0, M = 0;
        for (int i = 0; i < N; i++) {
            E -= spin[i] * (spin[i / L * L + (i % L + 1) % L] + spin[(i / L + 1) % L * L + i % L]);
            M += spin[i];
        }
        m->series[0][s] = (double)E / N;
        m->series[1][s] = (double)M / N;
        if (s >= m->n_equilibration && s % 4 == 0) {
            for (int d = 0; d < distances; d++) {
                int sum = 0;
                for (int i = 0; i < N; i++)
                    sum += spin[i] * spin[i / L * L + (i % L + d) % L];
                correlation[d] = (double)sum / N;
            }
            ergo_curve_add(&curve, correlation);
        }
        if (pictures && (s + 1) * (size_t)pictures / m->n_samples > drawn) {
            synthetic_picture(&m->pictures[drawn], spin, L);
            m->picture_steps[drawn++] = (s + 1) * m->measure_every;
        }
    }
    m->n_pictures = drawn;
    m->curves[0].size = (size_t)distances;
    ergo_curve_result(&curve, m->curves[0].mean, m->curves[0].error);
    ergo_curve_free(&curve);
    m->digest = ergo_hash64(spin, (size_t)N);
    free(spin);
}

static double synthetic_derive(const double *means, void *user) {
    return synthetic_heat(user, means);
}

static void synthetic_observe(struct ergo_member_result *m) {
    size_t n = m->n_samples - m->n_equilibration;
    double *samples[SYNTHETIC_OBSERVABLES] = {NULL};
    for (int o = 0; o < SYNTHETIC_OBSERVABLES; o++) {
        struct ergo_observable_result *r = &m->observables[o];
        r->observable = &synthetic_observables[o];
        if (ergo_observable_sampled(r->observable)) {
            samples[o] = malloc(n * sizeof *samples[o]);
            for (size_t i = 0; i < n; i++) {
                double c[2] = {m->series[0][m->n_equilibration + i],
                               m->series[1][m->n_equilibration + i]};
                samples[o][i] = ergo_observable_sample(r->observable, m->point, c);
            }
            ergo_stats_estimate(samples[o], n, &r->estimate);
        } else {
            const double *inputs[2] = {samples[0], samples[1]};
            union {
                const void *given;
                void *plain;
            } user = {m->point};
            ergo_stats_derived(inputs, 2, n, synthetic_derive, user.plain, &r->estimate);
        }
        r->exact = synthetic_exact(m->point, r->observable->name);
        r->trust = ergo_trust_of(&r->estimate, false, r->exact);
        if (r->trust != ERGO_TRUST_FULL)
            r->estimate.error = NAN;
        r->z = (r->estimate.mean - r->exact) / r->estimate.error;
    }
    for (int o = 0; o < SYNTHETIC_OBSERVABLES; o++)
        free(samples[o]);
}

static void synthetic_member(struct ergo_member_result *m, const struct ergo_point *point,
                             const struct synthetic_options *o) {
    m->point = point;
    m->measure_every = (uint64_t)o->every;
    m->n_samples = (size_t)o->samples;
    m->n_equilibration = (size_t)o->samples / 5;
    m->steps = m->n_samples * m->measure_every;
    m->series = calloc(2, sizeof *m->series);
    m->series[0] = calloc(m->n_samples, sizeof(double));
    m->series[1] = calloc(m->n_samples, sizeof(double));
    m->observables = calloc(SYNTHETIC_OBSERVABLES, sizeof *m->observables);
    m->curves = calloc(1, sizeof *m->curves);
    m->curves[0].info = &synthetic_curves[0];
    m->curves[0].x = calloc(SYNTHETIC_DISTANCES, sizeof(double));
    m->curves[0].mean = calloc(SYNTHETIC_DISTANCES, sizeof(double));
    m->curves[0].error = calloc(SYNTHETIC_DISTANCES, sizeof(double));
    for (int d = 0; d < SYNTHETIC_DISTANCES; d++)
        m->curves[0].x[d] = d;
    m->pictures = calloc((size_t)o->pictures + 1, sizeof *m->pictures);
    m->picture_steps = calloc((size_t)o->pictures + 1, sizeof *m->picture_steps);
    synthetic_simulate(m, o->pictures);
    synthetic_observe(m);
}

static struct ergo_result *synthetic_result(const struct synthetic_options *o) {
    struct ergo_result *result = calloc(1, sizeof *result);
    struct ergo_job *job = calloc(1, sizeof *job);
    size_t n = (size_t)(o->n_temperatures * o->n_sizes * o->replicas);
    job->name = strdup("ising-energy");
    job->canonical = strdup("{\"sampler\":\"spin-lattice\",\"seed\":\"18446744073709551615\","
                            "\"system\":{\"model\":\"ising\",\"size\":[16,16]}}");
    job->sampler = &synthetic_sampler;
    job->model = &synthetic_model;
    job->n_keys = SYNTHETIC_KEYS;
    job->keys = synthetic_key_list;
    job->n_points = n;
    job->points = calloc(n, sizeof *job->points);
    result->job = job;
    result->status = "complete";
    snprintf(result->started, sizeof result->started, "2025-01-31T12:00:00Z");
    snprintf(result->device.id, sizeof result->device.id, "0:0");
    snprintf(result->device.name, sizeof result->device.name, "Plain C \"reference\"");
    snprintf(result->device.driver, sizeof result->device.driver, "1.0");
    result->n_members = n;
    result->members = calloc(n, sizeof *result->members);
    result->rate = 2.9e8;
    result->seconds = 3.125;
    for (size_t i = 0; i < n; i++) {
        struct ergo_point *p = &job->points[i];
        int r = (int)i % o->replicas, t = (int)i / o->replicas % o->n_temperatures;
        int s = (int)i / o->replicas / o->n_temperatures;
        p->job = job;
        p->index = i;
        p->scan_index = i / (size_t)o->replicas;
        p->replica = (uint32_t)r;
        p->values = calloc(1, SYNTHETIC_KEYS * sizeof *p->values + sizeof *p->parameters);
        p->parameters = (void *)(p->values + SYNTHETIC_KEYS);
        p->values[0].seed = UINT64_MAX;
        p->values[1].real =
            o->n_temperatures > 1 ? 1.5 + 2.0 * t / (o->n_temperatures - 1) : 2.269185314213;
        p->values[2].items = 2;
        p->values[2].size[0] = p->values[2].size[1] = o->size << s;
        p->values[5].text = "all";
        ergo_point_fill(p);
        p->stream = ergo_hash64(&i, sizeof i);
        if (o->n_sizes > 1)
            p->scanned[p->n_scanned++] =
                (struct ergo_scanned){"/system/size/0", (double)p->values[2].size[0]};
        if (o->n_temperatures > 1)
            p->scanned[p->n_scanned++] =
                (struct ergo_scanned){"/system/temperature", p->values[1].real};
        synthetic_member(&result->members[i], p, o);
    }
    if (ergo_result_means(NULL, result) != ERGO_OK)
        abort();
    return result;
}

static void synthetic_free(struct ergo_result *result) {
    for (size_t i = 0; i < result->n_members; i++) {
        struct ergo_member_result *m = &result->members[i];
        free(m->series[0]);
        free(m->series[1]);
        free(m->series);
        free(m->observables);
        free(m->curves[0].x);
        free(m->curves[0].mean);
        free(m->curves[0].error);
        free(m->curves);
        for (size_t k = 0; k < m->n_pictures; k++)
            free(m->pictures[k].rgb);
        free(m->pictures);
        free(m->picture_steps);
        free(result->job->points[i].values);
    }
    for (size_t w = 0; w < result->n_warnings; w++)
        free(result->warnings[w]);
    free(result->warnings);
    free(result->means);
    free(result->members);
    free(result->job->points);
    free(result->job->name);
    free(result->job->canonical);
    free(result->job);
    free(result);
}

#endif
