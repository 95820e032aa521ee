/*
 * The serial oracle of cluster updates on a list of bonds: Swendsen and Wang (Phys. Rev. Lett. 58,
 * 86 (1987)) and Wolff (Phys. Rev. Lett. 62, 361 (1989)) for the q-state Potts model, H = -J sum
 * (delta(s, s') - 1), k_B = 1, on periodic lattices; and averages over all states of tiny ones.
 *
 * Site (x, y, z) has the id (z Ly + y) Lx + x. Bonds, in this order of a site, modulo the sides:
 *
 *   square      (x, y)-(x + 1, y), (x, y)-(x, y + 1); in three dimensions also z
 *   triangular  these two, and (x, y)-(x + 1, y + 1)
 *   honeycomb   (x, y)-(x + 1, y), and (x, y)-(x, y + 1) where x + y is even
 *
 * On a side of 2 two bonds may join the same pair of sites.
 *
 * Disorder: bond k of a site, `direction`, has a coupling j or ratio j, the latter with probability
 * fraction. Field (all spins prefer state 0): H gets -sum B delta(s, 0). By a ghost spin in state 0
 * (Kasteleyn and Fortuin, J. Phys. Soc. Jpn. Suppl. 26, 11 (1969); Swendsen and Wang): a site in
 * state 0 has a bond to it with probability 1 - exp(-B/T), and its cluster stays as it is.
 *
 * The chain is ergocl's, bit for bit. Philox key: (stream low, stream high); counter (entity, t
 * low, t high, purpose << 24 | draw), t the step, from 0.
 *
 *   Bonds, purpose 1, entity the site's id, draw 0: word d decides its bond in direction d (0 x, 1
 * y, 2 z or the diagonal). A bond between equal spins is active iff the word is below round((1 -
 * exp(-J/T)) 2^32). Swendsen-Wang, purpose 2, entity the smallest id of a cluster: its state
 * floor(q (2^32 r_0 + r_1) / 2^64). Start, purpose 3: the same for each site, t = 0. Wolff, purpose
 * 4, entity 0: the seed floor(N (2^32 r_0 + r_1) / 2^64); its cluster's states grow by 1 + floor((q
 * - 1) (2^32 r_2 + r_3) / 2^64) modulo q.
 *
 * No bond crosses an open side. One that crosses an antiperiodic side (q = 2) counts as equal where
 * its spins are unequal, and Swendsen-Wang's draws decide whether clusters change (then all
 * lattices with such a side), s -> s xor draw.
 *
 * Disorder, key that of the disorder, purpose 6, entity 3 site + direction, t = 0: bit k of a
 * number below 2^32, from the highest on, is the lowest bit of word k of draws 0, 1, .. of four
 * words each; the bond has ratio j iff the number is below round(fraction 2^32). A bond of coupling
 * ratio j is active iff its word is below round((1 - exp(-ratio J/T)) 2^32). Field: word 3 of
 * purpose 1, draw 0, decides the site's bond to the ghost spin.
 *
 * Probability-changing (Tomita and Okabe, Phys. Rev. Lett. 86, 572 (2001)): bonds between equal
 * spins are active with a probability of the chain's own, in units of 2^-32. After a sweep in which
 * a closed path of active bonds goes around the lattice an odd number of times in some direction it
 * falls by `down`, to 1 at the least, after another it rises by `up`, to 2^32 - 1 at the most.
 */
#ifndef ERGO_ORACLE_SITES_SERIAL_H
#define ERGO_ORACLE_SITES_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

enum sites_oracle_lattice { SITES_SQUARE, SITES_TRIANGULAR, SITES_HONEYCOMB };

struct sites_bond {
    int a, b;      /* sites; a owns it */
    int direction; /* 0 .. 2 */
    bool turned;   /* prefers unequal spins */
    bool weak;     /* has ratio j */
};

struct sites_oracle {
    int l[3]; /* l[2] = 1: two dimensions */
    enum sites_oracle_lattice lattice;
    int q;
    bool open[3], anti[3]; /* sides; others are periodic */
    double j, t;
    uint64_t stream;
    double fraction, ratio; /* of weak bonds */
    uint64_t disorder;      /* the key of the disorder */
    double field;
    bool adapts;
    uint32_t chance, up, down; /* of chains that adapt */
    /* made by init */
    int sites, n_bonds;
    struct sites_bond *bonds;
    uint8_t *spins;
    int *cluster; /* scratch: the smallest id of a site's cluster */
    bool *active; /* scratch: bonds */
    bool *held;   /* scratch: clusters with a bond to the ghost spin, at their smallest ids */
};

bool sites_oracle_init(struct sites_oracle *o);
void sites_oracle_free(struct sites_oracle *o);
void sites_oracle_start(struct sites_oracle *o);
/* Step number t. */
void sites_oracle_sweep(struct sites_oracle *o, uint64_t t);
/* After a sweep, of its bonds: does a closed path of them go around the lattice an odd number of
 * times in some direction? And what that does to `chance`, with steps doubled `shift` times. */
bool sites_oracle_wraps(const struct sites_oracle *o);
void sites_oracle_adapt(struct sites_oracle *o, int shift);
/* The size of the cluster. */
int sites_oracle_wolff(struct sites_oracle *o, uint64_t t);

/* Exact averages: per site; m = (q max n_k/N - 1)/(q - 1); psi^2 = (q sum (n_k/N)^2 - 1)/(q - 1).
 */
struct sites_exact {
    double energy, heat_capacity, m, m2, m4, psi2, psi4, first, first2; /* n_0/N, its square */
    double half,
        quarter;      /* (q delta - 1)/(q - 1) of sites L/2 and L/4 apart, mean over the sides */
    double structure; /* the same of all pairs times cos(k (r - r')), over N, k = 2 pi/L along the
                         last side */
};
/* That of a state. */
double sites_oracle_structure(const struct sites_oracle *o, const uint8_t *s);
/* q^N states, at most 2^24. */
struct sites_exact sites_oracle_enumerate(const struct sites_oracle *o);

/*
 * Exact means of chains that adapt, whose chance is a multiple of 1/levels and moves by up/levels
 * or -down/levels within 0 .. 1: the stationary distribution of states and chances together, by all
 * states and all sets of bonds (at most 12). p: the chance of a sweep; clusters: of its bonds;
 * energy, psi2: of the spins after it. Begins at the chance start/levels.
 */
struct sites_adapting {
    double p, p2, clusters, energy, psi2;
};
struct sites_adapting sites_oracle_adapting(struct sites_oracle *o, int levels, int start, int up,
                                            int down);

#endif
