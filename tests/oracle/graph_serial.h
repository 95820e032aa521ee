/* Spins on graphs from a matrix of couplings in double precision: lattices by real distances,
 * files, averages by enumeration, the chain one vertex at a time. */
#ifndef ERGO_TESTS_ORACLE_GRAPH_SERIAL_H
#define ERGO_TESTS_ORACLE_GRAPH_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

struct graph_oracle {
    int n;
    double *j;  /* [n][n] */
    bool *bond; /* [n][n], where there is an edge, of whatever coupling */
    double *h;
    double offset;
};
void graph_oracle_free(struct graph_oracle *o);

/* sides: a letter for each direction, p, o or a; couplings[shells] */
bool graph_oracle_lattice(struct graph_oracle *o, const char *name, const int *size,
                          const char *sides, const double *couplings, int shells, double field);
/* All pairs, coupling / r^exponent, r to the nearest image across sides p, in units of the distance
 * of nearest neighbours. */
bool graph_oracle_long(struct graph_oracle *o, const char *name, const int *size, const char *sides,
                       double coupling, double exponent, double field);
/* format: e edges, m maxcut, q qubo; n vertices, numbered from `base` on */
bool graph_oracle_read(struct graph_oracle *o, const char *path, char format, int n, int base,
                       double field);

double graph_oracle_energy(const struct graph_oracle *o, const int *s); /* total */

struct graph_oracle_means {
    double energy, abs_m, m2, m4; /* per site, |m|, m^2, m^4 */
    double heat, free_energy;     /* per site: of the heat capacity, -T ln Z */
    double lowest;                /* total */
    int n_lowest;
};
struct graph_oracle_means graph_oracle_enumerate(const struct graph_oracle *o, double t);

/* order[n]: vertices in the order of a sweep; word[n]: each one's slot. Returns the slots. */
int graph_oracle_order(const struct graph_oracle *o, int *order, int *slot);
void graph_oracle_start(const struct graph_oracle *o, const int *slot, uint64_t stream, int *s);
void graph_oracle_sweep(const struct graph_oracle *o, const int *order, const int *slot,
                        uint64_t stream, double t, bool heat_bath, uint64_t step, int *s);

#endif
