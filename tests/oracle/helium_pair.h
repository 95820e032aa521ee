/*
 * Two atoms in a cubic box by quadrature: the results that variational Monte Carlo must find.
 * |psi|^2 depends on their distance alone, and is 1 beyond L/2. Plain double precision; it shares
 * nothing with ergocl but psi's form (helium_serial.h). Lengths in A, energies in K.
 */
#ifndef ERGO_ORACLE_HELIUM_PAIR_H
#define ERGO_ORACLE_HELIUM_PAIR_H

struct ergo_oracle_pair {
    double density, b, lambda;     /* 1/A^3, A, K A^2 */
    double (*potential)(double r); /* cut at L/2 */
};

/* Per atom: <V>, and lambda <(grad ln psi)^2>, which is the kinetic energy. */
struct ergo_oracle_pair_energy {
    double potential, kinetic;
};

struct ergo_oracle_pair_energy ergo_oracle_pair_energies(const struct ergo_oracle_pair *pair);
/* density^2 d(energy)/d(density), K/A^3, by differences of energies, with b proportional to
 * density^(-power). */
double ergo_oracle_pair_pressure(const struct ergo_oracle_pair *pair, double power);
/* The de Boer-Michels Lennard-Jones potential of helium: 10.22 K, 2.556 A. */
double ergo_oracle_helium_lennard_jones(double r);
/* int_h^infinity r^(d-1) V dr by Simpson's rule, on points with equal ratios of r. */
double ergo_oracle_helium_beyond(int dimensions, double (*potential)(double), double h);

#endif
