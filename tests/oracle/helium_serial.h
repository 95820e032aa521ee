/*
 * The serial oracle of liquid helium-4 by variational Monte Carlo (Y. Lutsyshyn, Comput. Phys.
 * Commun. 187, 162 (2015)): plain double precision, sqrt, pow and exp of the C library, one atom at
 * a time, nothing shared with ergocl. Lengths in A, energies in K.
 *
 * psi = exp(sum_{i<j} u(r_ij)), u(r) = f(r) + f(L-r) - 2 f(L/2) for r <= L/2, else 0, f(r) =
 * -(b/r)^5 / 2, L the shortest side. (Eq. 8 as printed is the form of a pair factor exp(u); as an
 * exponent it would diverge to +infinity at contact and not depend on b.) Potential HFD-B(HE) (R.
 * A. Aziz, F. R. W. McCourt, C. C. K. Wong, Mol. Phys. 61, 1487 (1987)), cut at L/2.
 */
#ifndef ERGO_ORACLE_HELIUM_SERIAL_H
#define ERGO_ORACLE_HELIUM_SERIAL_H

#include <stdint.h>

struct ergo_oracle_helium {
    int n;
    double side[3], b, lambda; /* A, A, K A^2 */
    double *position;          /* [n][3], A, within the box */
    /* One-body factor exp(-c/2 |r - site|^2) and potential spring |r - site|^2; NULL: none. */
    const double *site; /* [n][3], A */
    double c, spring;   /* 1/A^2, K/A^2 */
    int free;           /* along so many axes neither acts (2: a slab) */
    int plane;          /* 1: two dimensions; all z are 0, and side[2] is not the shortest */
    uint64_t generator; /* SplitMix64 */
    uint64_t accepted, tried;
};

/* Per atom, K; ln_psi of all atoms; pressure term (1/N) sum_{i<j} r V'(r). */
struct ergo_oracle_helium_energy {
    double ln_psi, potential, laplacian, gradient, virial;
};

double ergo_oracle_helium_potential(double r);
/* u(r), u'(r), u''(r) for shortest side L. */
void ergo_oracle_helium_u(double r, double b, double side, double out[3]);
void ergo_oracle_helium_energies(const struct ergo_oracle_helium *h,
                                 struct ergo_oracle_helium_energy *energy);
/* ln psi(atom moved by d) - ln psi. */
double ergo_oracle_helium_change(const struct ergo_oracle_helium *h, int atom, const double d[3]);
/* Within (0, 1). */
double ergo_oracle_helium_uniform(struct ergo_oracle_helium *h);
/* n trials of one atom each, picked at random; Gaussian displacements of `step` per component. */
void ergo_oracle_helium_macroupdate(struct ergo_oracle_helium *h, double step);

#endif
