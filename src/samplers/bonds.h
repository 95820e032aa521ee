/*
 * Bond-orientational order of particles in a periodic box of right angles, by the host
 * (P. J. Steinhardt, D. R. Nelson, M. Ronchetti, Phys. Rev. B 28, 784 (1983)). A particle's
 * neighbours are its nearest ones, always as many: images too, where the box is small.
 */
#ifndef ERGO_SAMPLERS_BONDS_H
#define ERGO_SAMPLERS_BONDS_H

#include "samplers/structure.h"

enum { ERGO_BONDS_MOST = 16 }; /* neighbours */

struct ergo_bonds {
    double q6;       /* Q_6: of the mean of Y_6m over all bonds */
    double averaged; /* mean over particles of q_6 averaged over a particle and its neighbours */
    double solid;    /* share of particles with at least `most` connected neighbours */
};
#define ERGO_BONDS_CONNECTED 0.7 /* correlation of q_6m of connected neighbours, or more */

/* Memory of an analysis. */
uint64_t ergo_bonds_bytes(uint64_t n);

/* In three dimensions. neighbours: of each particle, at most ERGO_BONDS_MOST; connected: of them in
 * a solid. False: no memory. */
bool ergo_bonds_analyse(const struct ergo_places *places, unsigned neighbours, unsigned connected,
                        struct ergo_bonds *found);

/* The 13 real numbers y[] of a direction (unit vector) of which products and squares are those of
 * Y_6m: y(a) y(b) = P_6(cos of the angle between a and b). */
enum { ERGO_BONDS_PARTS = 13 };
void ergo_bonds_direction(const double *unit, double *y);

#endif
