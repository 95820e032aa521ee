/* Two bosons in a periodic box or square whose ground states are known: oracle/helium_ground.h. */
#ifndef ERGO_TEST_HELIUM_PAIRS_H
#define ERGO_TEST_HELIUM_PAIRS_H

#include "helium_physics.h"
#include "oracle/helium_ground.h"
#include "oracle/helium_serial.h"
#include "samplers/helium/model.h"

/* Write V of the pair and a trial function, ./v and ./f; returns the keys that name them. */
static inline const char *helium_pair(const struct ergo_oracle_smooth *smooth, const char *density,
                                      double height, char keys[512]) {
    FILE *files[2] = {fopen("v", "w"), fopen("f", "w")};
    assert_true(files[0] && files[1]);
    for (double r = 0.3; r < 4.006; r += 0.005) {
        fprintf(files[0], "%.17g %.17g\n", r, ergo_oracle_smooth_v(r, smooth));
        fprintf(files[1], "%.17g %.17g\n", r, ergo_oracle_smooth_u(smooth, height, r));
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(fclose(files[k]), 0);
    snprintf(keys, 512,
             "\"n\": 2, \"density\": %s, \"potential\": \"./v\", \"wave_function\": \"./f\", "
             "\"symmetrised\": false",
             density);
    return keys;
}

static inline double helium_aziz(double r, const void *unused) {
    (void)unused;
    return ergo_oracle_helium_potential(r);
}

/* Two helium atoms, HFD-B(HE), cut at half a side of 8 A: from `points` and 3/2 times as many along
 * each half side, extrapolated. */
static inline struct ergo_oracle_ground helium_two_atoms(int dimensions, int points) {
    const double lambda = helium_lambda(4.002602);
    const struct ergo_oracle_ground a =
        ergo_oracle_ground_state(dimensions, 8, lambda, helium_aziz, NULL, 2e3, points);
    struct ergo_oracle_ground b =
        ergo_oracle_ground_state(dimensions, 8, lambda, helium_aziz, NULL, 2e3, 3 * points / 2);
    print_message("  %d: %.5f %.5f, %d: %.5f %.5f\n", points, a.energy, a.potential, 3 * points / 2,
                  b.energy, b.potential);
    b.energy += (b.energy - a.energy) / (9.0 / 4 - 1);
    b.potential += (b.potential - a.potential) / (9.0 / 4 - 1);
    return b;
}

#endif
