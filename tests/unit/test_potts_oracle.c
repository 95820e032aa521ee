/*
 * The serial oracle of Swendsen-Wang against exact values, before anything is compared with the
 * oracle: with its own generator and with Philox; q = 2 and 3, at and above Tc. Error budget: fixed
 * seeds, 40 comparisons of |z| < 4.5 (7e-6 each): 3e-4. Correlations are short (tau below 3 sweeps
 * at 4 x 4), so errors are from 64 bins of 500 sweeps. Mutants seen to fail here: q - 1 states to
 * choose from, p = 1 - exp(-2 J/T), no bond across the lower edge.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle/philox_ref.h"
#include "oracle/potts_serial.h"
#include "samplers/spin_lattice/exact.h"

enum { BINS = 64, BIN = 500 };

static void check(const char *what, const double *bins, double exact) {
    double mean = 0, square = 0;
    for (int b = 0; b < BINS; b++) {
        mean += bins[b] / BINS;
        square += bins[b] * bins[b] / BINS;
    }
    const double error = sqrt((square - mean * mean) / (BINS - 1)), z = (mean - exact) / error;
    print_message("    %-10s %.6f(%.6f), exact %.6f: z = %+.2f\n", what, mean, error, exact, z);
    assert_true(error > 0 && fabs(z) < 4.5);
}

static void compare(int L, int q, double T, bool philox, double e, double m, double m2, double psi2,
                    double psi4) {
    struct ergo_oracle_potts o;
    double energy[BINS] = {0}, max1[BINS] = {0}, max2[BINS] = {0}, plain[BINS] = {0},
           fourth[BINS] = {0}, improved[BINS] = {0};
    const double n = (double)L * L;
    assert_true(ergo_oracle_potts_init(&o, L, L, q, 1, T, true, philox ? ergo_oracle_philox : NULL,
                                       20260101));
    uint64_t t = 0;
    while (t < 200)
        ergo_oracle_potts_sweep(&o, t++);
    for (int b = 0; b < BINS; b++) {
        for (int i = 0; i < BIN; i++) {
            int64_t counts[8], most = 0;
            double squares = 0;
            ergo_oracle_potts_sweep(&o, t++);
            ergo_oracle_potts_counts(&o, counts);
            for (int k = 0; k < q; k++) {
                most = counts[k] > most ? counts[k] : most;
                squares += (double)(counts[k] * counts[k]);
            }
            const double max = (q * (double)most / n - 1) / (q - 1);
            const double psi = (q * squares / n / n - 1) / (q - 1);
            energy[b] += (double)ergo_oracle_potts_unequal(&o) / n / BIN;
            max1[b] += max / BIN;
            max2[b] += max * max / BIN;
            plain[b] += psi / BIN;
            fourth[b] += psi * psi / BIN;
            improved[b] += ergo_oracle_potts_clusters(&o).sum_squares / n / n / BIN;
        }
    }
    print_message("%d x %d, q = %d, T = %.4f, %s\n", L, L, q, T, philox ? "Philox" : "SplitMix64");
    check("energy", energy, e);
    if (m > 0) {
        check("m_max", max1, m);
        check("m_max^2", max2, m2);
        check("psi2", plain, psi2);
        check("improved", improved, psi2);
        check("psi4", fourth, psi4);
    }
    ergo_oracle_potts_free(&o);
}

static void test_exact(void **unused) {
    (void)unused;
    const double tc2 = 1 / log(1 + sqrt(2)), tc3 = 1 / log(1 + sqrt(3));
    for (int philox = 0; philox < 2; philox++) {
        compare(4, 2, tc2, philox, 0.217188106181, 0.843860444813, 0.761358908569, 0.761358908569,
                0.665691213267);
        compare(4, 3, tc3, philox, 0.289937724495, 0.844236323943, 0.753196062494, 0.762794431467,
                0.651930400611);
        compare(4, 3, 2, philox, 1.061734383155, 0.314633808257, 0.131900452826, 0.157678249101,
                0.046471858870);
        compare(6, 3, tc3, philox, 0.326264131194, 0, 0, 0, 0);
    }
}

/* The table's q = 2 rows from an independent source: Potts is Ising with half the coupling. */
static void test_table(void **unused) {
    (void)unused;
    struct ergo_ising_moments m;
    assert_true(ergo_ising_enumerate(4, 4, 1 / log(1 + sqrt(2)), 0.5, 0, &m));
    assert_true(fabs(m.energy + 1 - 0.217188106181) < 1e-11);
    assert_true(fabs(m.heat_capacity - 0.783266825929) < 1e-11);
    assert_true(fabs(m.abs_magnetization - 0.843860444813) < 1e-11);
    assert_true(fabs(m.magnetization2 - 0.761358908569) < 1e-11);
    assert_true(fabs(m.magnetization4 - 0.665691213267) < 1e-11);
}

/* Clusters made by hand: at T near 0 one wraps both ways; at T = infinity all are single. */
static void test_clusters(void **unused) {
    (void)unused;
    struct ergo_oracle_potts o;
    assert_true(ergo_oracle_potts_init(&o, 33, 5, 3, 1, 1e-3, false, ergo_oracle_philox, 7));
    ergo_oracle_potts_sweep(&o, 0);
    struct ergo_oracle_potts_clusters c = ergo_oracle_potts_clusters(&o);
    assert_true(c.clusters == 1 && c.largest == 165 && c.wraps_x && c.wraps_y);
    /* a column of one state: wraps along y alone */
    for (int i = 0; i < 165; i++)
        o.spins[i] = (uint8_t)(i % 33 == 4 ? 0 : 1 + (i % 33 + i / 33) % 2);
    ergo_oracle_potts_sweep(&o, 1);
    c = ergo_oracle_potts_clusters(&o);
    assert_true(c.wraps_y && !c.wraps_x && c.largest >= 5);
    o.T = 1e15;
    ergo_oracle_potts_sweep(&o, 2);
    c = ergo_oracle_potts_clusters(&o);
    assert_true(c.clusters == 165 && c.largest == 1 && !c.wraps_x && !c.wraps_y);
    ergo_oracle_potts_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
