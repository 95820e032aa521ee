/* The serial C program beside ergocl on the same lattice, in turns, by processor time. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/exact.h"
#include "serial_ising.h"

const char *const ergo_bench_serial_names[ERGO_BENCH_SERIALS] = {"xoshiro256++", "xoshiro256++ x 8",
                                                                 "philox"};
enum { CHECK_SWEEPS = 9, BINS = 20, SAMPLES = 100, EVERY = 50, LEAD = 20000 };

static enum ergo_status start(struct ergo_context *ctx, const struct ergo_bench_case *what, int g,
                              uint64_t stream, struct ergo_serial *s) {
    return ergo_serial_init(s, what->lx, what->ly, atof(ERGO_BENCH_TC),
                            (enum ergo_serial_generator)g, stream)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB, "the serial program cannot hold %zu x %zu", what->lx,
                           what->ly);
}

/* Its lattice in ergocl's canonical form. */
static enum ergo_status digest_of(struct ergo_context *ctx, const struct ergo_serial *s,
                                  const struct ising_shape *shape, uint64_t *digest) {
    const size_t bytes = s->lx / 8 * s->ly;
    uint32_t *words = calloc(1, shape->member_bytes);
    uint8_t *rows = malloc(bytes);
    enum ergo_status status = ERGO_OK;
    if (words && rows) {
        for (size_t c = 0; c < 2; c++) {
            for (size_t i = 0; i < s->words; i++) {
                words[c * 4 * shape->blocks + 2 * i] = (uint32_t)s->colour[c][i];
                words[c * 4 * shape->blocks + 2 * i + 1] = (uint32_t)(s->colour[c][i] >> 32);
            }
        }
        ising_pack(shape, words, rows);
        *digest = ergo_hash64(rows, bytes);
    } else {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a digest");
    }
    free(words);
    free(rows);
    return status;
}

/* Philox: ergocl's bits. */
static enum ergo_status check_bits(struct ergo_bench *bench, const struct ergo_bench_case *one,
                                   bool *ok) {
    const struct ergo_bench_shape shape = {0};
    struct ergo_bench_run run;
    struct ergo_serial s = {0};
    uint64_t a = 0, b = 0;
    enum ergo_status status = ergo_bench_open(bench->ctx, bench->device, one, &shape, 5, &run);
    if (status != ERGO_OK)
        return status;
    status = start(bench->ctx, one, ERGO_SERIAL_PHILOX, run.batch->points[0]->stream, &s);
    if (status == ERGO_OK)
        status = ergo_bench_sweep(&run, CHECK_SWEEPS, NULL);
    if (status == ERGO_OK)
        status = ergo_bench_digest(&run, 1, &a);
    if (status == ERGO_OK) {
        const struct ising_shape lattice = ising_shape_of(run.batch->points[0]);
        ergo_serial_sweeps(&s, CHECK_SWEEPS);
        status = digest_of(bench->ctx, &s, &lattice, &b);
    }
    *ok = status == ERGO_OK && a == b;
    ergo_serial_free(&s);
    ergo_bench_close(&run);
    return status;
}

/* z of the energy of 128 x 128 at Tc, by bins of 5,000 sweeps. */
static enum ergo_status check_energy(struct ergo_bench *bench, int g, double *z) {
    const struct ergo_bench_case what = {"128", 0, 128, 128, 1, false};
    struct ergo_serial s;
    struct ergo_ising_exact exact;
    double sum = 0, square = 0;
    enum ergo_status status = start(bench->ctx, &what, g, 20261121, &s);
    if (status != ERGO_OK)
        return status;
    ergo_ising_exact_torus(128, 128, atof(ERGO_BENCH_TC), 1.0, &exact);
    ergo_serial_sweeps(&s, LEAD);
    for (int b = 0; b < BINS; b++) {
        double bin = 0;
        for (int i = 0; i < SAMPLES; i++) {
            ergo_serial_sweeps(&s, EVERY);
            bin += ergo_serial_energy(&s) / SAMPLES;
        }
        sum += bin;
        square += bin * bin;
    }
    const double mean = sum / BINS;
    *z = (mean - exact.energy) / sqrt((square / BINS - mean * mean) / (BINS - 1));
    ergo_serial_free(&s);
    return ERGO_OK;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *one,
                              struct ergo_bench_serial *r) {
    static double z[ERGO_BENCH_SERIALS]; /* the same for all cases */
    static bool known;
    bool same = false;
    enum ergo_status status = check_bits(bench, one, &same);
    for (int g = 0; g < ERGO_BENCH_SERIALS && !known && status == ERGO_OK; g++)
        status = check_energy(bench, g, &z[g]);
    if (status != ERGO_OK)
        return status;
    known = true;
    r->ok = same && fabs(z[0]) < 4 && fabs(z[1]) < 4 && fabs(z[2]) < 4;
    snprintf(
        r->check, sizeof r->check,
        "philox %s ergocl's bits after %d sweeps; energy of 128x128: z = %+.1f, %+.1f, %+.1f%s",
        same ? "=" : "DIFFERS FROM", CHECK_SWEEPS, z[0], z[1], z[2], r->ok ? "" : " WRONG");
    return ERGO_OK;
}

enum ergo_status ergo_bench_serial_measure(struct ergo_bench *bench,
                                           const struct ergo_bench_case *what,
                                           struct ergo_bench_serial *r) {
    const struct ergo_bench_shape shape = {0};
    /* one lattice after the other is the same to the serial program as one lattice */
    struct ergo_bench_case one = *what;
    struct ergo_bench_run run = {0};
    struct ergo_serial s[ERGO_BENCH_SERIALS] = {{0}};
    double rate[ERGO_BENCH_SERIALS][ERGO_BENCH_REPEATS],
        ratio[ERGO_BENCH_SERIALS][ERGO_BENCH_REPEATS];
    double ergocl[ERGO_BENCH_REPEATS];
    uint64_t sweeps = 0;
    const double slice = bench->seconds / (4 * ERGO_BENCH_REPEATS);
    const double spins = (double)what->lx * (double)what->ly;
    const uint64_t serial_sweeps = (uint64_t)ceil(slice * 3e9 / spins);
    one.replicas = 1;
    one.scan = false;
    r->what = what;
    enum ergo_status status = check(bench, &one, r);
    for (int g = 0; g < ERGO_BENCH_SERIALS && status == ERGO_OK; g++) {
        status = start(bench->ctx, &one, g, 1, &s[g]);
        if (status == ERGO_OK)
            ergo_serial_sweeps(&s[g], serial_sweeps);
    }
    if (status == ERGO_OK)
        status = ergo_bench_open(bench->ctx, bench->device, what, &shape, 1, &run);
    if (status == ERGO_OK)
        status = ergo_bench_calibrate(&run, slice, &sweeps);
    for (int i = 0; i < ERGO_BENCH_REPEATS && status == ERGO_OK; i++) {
        struct ergo_bench_clocks t;
        status = ergo_bench_sweep(&run, sweeps, &t);
        ergocl[i] = run.spins * (double)sweeps * 1e-9 / t.cpu;
        for (int g = 0; g < ERGO_BENCH_SERIALS; g++) {
            const double begin = ergo_bench_thread_cpu();
            ergo_serial_sweeps(&s[g], serial_sweeps);
            rate[g][i] = spins * (double)serial_sweeps * 1e-9 / (ergo_bench_thread_cpu() - begin);
            ratio[g][i] = ergocl[i] / rate[g][i];
        }
    }
    if (status == ERGO_OK) {
        r->ergocl = ergo_bench_rate_of(ergocl, ERGO_BENCH_REPEATS);
        for (int g = 0; g < ERGO_BENCH_SERIALS; g++) {
            r->serial[g] = ergo_bench_rate_of(rate[g], ERGO_BENCH_REPEATS);
            r->ratio[g] = ergo_bench_rate_of(ratio[g], ERGO_BENCH_REPEATS);
        }
    }
    for (int g = 0; g < ERGO_BENCH_SERIALS; g++)
        ergo_serial_free(&s[g]);
    if (run.job)
        ergo_bench_close(&run);
    return status;
}
