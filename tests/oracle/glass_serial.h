/*
 * Spin glasses, written plainly: one sample, spins as numbers, sums of J s s' in double precision,
 * and exact averages by enumeration. H = -sum J_ij s_i s_j - sum f_i s_i on a periodic lattice of 2
 * or 3 dimensions. Site = x + Lx (y + Ly z); bond [direction][site] joins a site to its neighbour
 * in the positive direction.
 */
#ifndef ERGO_ORACLE_GLASS_SERIAL_H
#define ERGO_ORACLE_GLASS_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

struct glass_oracle {
    int d, l[3]; /* l[2] = 1 in two dimensions */
    int temperatures, copies;
    double t[16];              /* in units of the coupling */
    bool heat, real, logs;     /* real: gaussian couplings; logs: flips are decided by logarithms */
    double b, h;               /* fields b + h f, in units of the coupling */
    bool normal;               /* f is gaussian, else +-1 */
    const double *f;           /* fields of the sample that is looked at; NULL: none */
    uint64_t stream, disorder; /* Philox keys of chain and couplings */
    double fraction;           /* of J = -1 */
};

int glass_oracle_sites(const struct glass_oracle *o);
/* Draw couplings as a job does. sample: its number among all words, 32 to a word. */
void glass_oracle_couplings(const struct glass_oracle *o, int sample, double *j);
/* Draw fields as a job does. */
void glass_oracle_fields(const struct glass_oracle *o, int sample, double *f);
/* spins[slot][site], slot = copies * temperature + copy. */
void glass_oracle_start(const struct glass_oracle *o, int sample, int *spins);
void glass_oracle_sweep(const struct glass_oracle *o, int sample, const double *j, uint64_t step,
                        int *spins);
/* came[slot]: was this walker at the hot end more recently than at the cold one? moved[slot] counts
 * accepted exchanges with the hotter slot; behind them, of each copy, arrivals at the cold end. */
void glass_oracle_swap(const struct glass_oracle *o, int sample, const double *j, uint64_t step,
                       int parity, int *spins, int *came, uint64_t *moved);
/* Houdayer's moves after `step` sweeps, number `turn` of them: of each temperature's copies two and
 * two. */
void glass_oracle_clusters(const struct glass_oracle *o, int sample, uint64_t step, uint64_t turn,
                           int *spins);
double glass_oracle_energy(const struct glass_oracle *o, const double *j, const int *spins);

/* Exact averages of one sample at temperature t, of at most 16 sites. */
enum { GLASS_EXACT_SITES = 16 };
struct glass_exact {
    double ground; /* lowest energy per site */
    /* per site; q_k for the longest wave along the last direction */
    double e, e2, q, abs_q, q2, q4, qk2;
    double m, abs_m, m2, m4;
    double p[GLASS_EXACT_SITES + 1]; /* probability of this number of unequal sites of two copies */
    double left_out; /* weight of the states that Metropolis neither leaves nor enters */
};
/* metropolis: without the states counted in left_out. */
void glass_oracle_exact(const struct glass_oracle *o, const double *j, double t, bool metropolis,
                        struct glass_exact *exact);

#endif
