/* Serial programs for liquid helium, single precision, one walker: the bar for a CPU's core. */
#ifndef ERGO_BENCH_SERIAL_HELIUM_H
#define ERGO_BENCH_SERIAL_HELIUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ergo_serial_helium_kind {
    ERGO_SERIAL_HELIUM_PLAIN,  /* old and new distances in each trial */
    ERGO_SERIAL_HELIUM_CACHED, /* each atom's sum kept: old distances of accepted trials only */
};

struct ergo_serial_helium {
    enum ergo_serial_helium_kind kind;
    size_t n, padded;         /* atoms; to whole vectors */
    float *x, *y, *z;         /* [padded], fractions of the box */
    float *sum, *fresh, *old; /* [padded] */
    float b, step;            /* of the box: parameter of psi; displacement of a component */
    uint64_t state[2];        /* xoroshiro128+ */
    uint64_t tried, accepted;
};

/* From a simple cubic lattice. */
bool ergo_serial_helium_init(struct ergo_serial_helium *s, size_t n, double density, double b,
                             double displacement, enum ergo_serial_helium_kind kind, uint64_t seed);
void ergo_serial_helium_free(struct ergo_serial_helium *s);
void ergo_serial_helium_macroupdates(struct ergo_serial_helium *s, uint64_t count);
double ergo_serial_helium_ln_psi(const struct ergo_serial_helium *s); /* per atom, in doubles */

#endif
