/*
 * What a trial move is worth in one checkerboard scheme and in another: displacements of tagged
 * disks and the autocorrelation of |psi_6|, by a serial program (tests/oracle/disks_schemes.h).
 *
 *     disks-schemes ROWS SECONDS SEED CELLS MOVES ROUNDS DRAWN SQUARE BOTH D LINES [STRIDE]
 *
 * Prints one line of JSON: mean-square displacements at 1 to 8 strides, all in trials per disk, and
 * tau of |psi_6|; disks-schemes.py runs many and makes the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oracle/disks_schemes.h"
#include "stats/stats.h"

static const double PACKING_FRACTION = 0.698, CUTOFF = 1.5;
enum { LAGS = 8, LOOKS = 20 }; /* |psi_6| LOOKS times a stride */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_to(struct ergo_oracle_chain *c, double trials_per_disk) {
    while ((double)c->trials < trials_per_disk * c->n)
        ergo_oracle_chain_sweep(c);
}

int main(int argc, char **argv) {
    if (argc < 12) {
        fputs("disks-schemes ROWS SECONDS SEED CELLS MOVES ROUNDS DRAWN SQUARE BOTH D LINES "
              "[STRIDE]\n",
              stderr);
        return 2;
    }
    const int rows = atoi(argv[1]);
    const double limit = atof(argv[2]), stride = argc > 12 ? atof(argv[12]) : 2000.0;
    const struct ergo_oracle_scheme scheme = {.cells = atoi(argv[4]),
                                              .moves = atoi(argv[5]),
                                              .rounds = atoi(argv[6]),
                                              .drawn = atoi(argv[7]) != 0,
                                              .square = atoi(argv[8]) != 0,
                                              .both = atoi(argv[9]) != 0,
                                              .d = atof(argv[10]),
                                              .lines = atoi(argv[11])};
    const double start = seconds();
    struct ergo_oracle_chain c;
    if (!ergo_oracle_chain_init(&c, scheme, rows, PACKING_FRACTION, strtoull(argv[3], NULL, 10))) {
        fputs("no such checkerboard\n", stderr);
        return 1;
    }
    const size_t bytes = (size_t)c.n * sizeof(double);
    double *old = malloc(2 * LAGS * bytes), *series = NULL, msd[LAGS] = {0};
    size_t samples = 0, room = 0, strides = 0, terms[LAGS] = {0};
    double trials = 10.0 * stride; /* forgets the lattice */
    run_to(&c, trials);
    c.accepted = 0;
    const uint64_t first_trial = c.trials, first_update = c.updates, first_sweep = c.sweeps;
    while (old && (strides <= LAGS || seconds() - start < limit)) {
        for (size_t lag = 1; lag <= LAGS && lag <= strides; lag++) {
            const double *at = old + 2 * ((strides - lag) % LAGS) * (size_t)c.n;
            double sum = 0.0;
            for (int i = 0; i < c.n; i++)
                sum += (c.ux[i] - at[2 * i]) * (c.ux[i] - at[2 * i]) +
                       (c.uy[i] - at[2 * i + 1]) * (c.uy[i] - at[2 * i + 1]);
            msd[lag - 1] += sum / c.n;
            terms[lag - 1]++;
        }
        for (int i = 0; i < c.n; i++) {
            old[2 * ((strides % LAGS) * (size_t)c.n + (size_t)i)] = c.ux[i];
            old[2 * ((strides % LAGS) * (size_t)c.n + (size_t)i) + 1] = c.uy[i];
        }
        strides++;
        for (int k = 0; k < LOOKS; k++) {
            if (samples == room) {
                double *more = realloc(series, (room = 2 * room + 1024) * sizeof *series);
                if (!more)
                    return 1;
                series = more;
            }
            trials += stride / LOOKS;
            run_to(&c, trials);
            series[samples++] = ergo_oracle_chain_psi6(&c, CUTOFF);
        }
    }
    struct ergo_estimate e = {0};
    size_t overlaps = 0;
    ergo_stats_estimate(series, samples, &e);
    const double all = (double)(c.trials - first_trial), sweeps = (double)(c.sweeps - first_sweep);
    ergo_oracle_chain_pairs(&c, 1.0, &overlaps);
    printf("{\"rows\": %d, \"seed\": %s, \"cells\": %d, \"width\": %.4f, \"moves\": %d, "
           "\"rounds\": %d, "
           "\"drawn\": %d, \"square\": %d, \"both\": %d, \"d\": %g, \"lines\": %d, \"stride\": %g, "
           "\"trials_per_second\": %.4g, "
           "\"acceptance\": %.6f, \"occupied\": %.6f, \"psi6\": %.6f, \"samples\": %zu, \"tau\": "
           "%.1f, "
           "\"tau_error\": %.1f, \"overlaps\": %zu, \"msd\": [",
           rows, argv[3], scheme.cells, c.width, scheme.moves, scheme.rounds, scheme.drawn,
           scheme.square, scheme.both, scheme.d, scheme.lines, stride, all / (seconds() - start),
           (double)c.accepted / all,
           (double)(c.updates - first_update) /
               (sweeps * scheme.rounds * scheme.cells * scheme.cells),
           e.mean, samples, e.tau * stride / LOOKS, e.tau_error * stride / LOOKS, overlaps);
    for (int lag = 0; lag < LAGS; lag++)
        printf("%s%.6f", lag ? ", " : "", terms[lag] ? msd[lag] / (double)terms[lag] : 0.0);
    printf("], \"terms\": %zu}\n", terms[LAGS - 1]);
    free(old);
    free(series);
    ergo_oracle_chain_free(&c);
    return overlaps != 0;
}
