/* For the twin: sites.h and sites_vectors.h compiled as C. They take the lattice from macros, which
 * read this; each file that includes it has its own, and sets it in each thread. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_SITES_TWIN_LATTICE_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_SITES_TWIN_LATTICE_H

#include "samplers/swendsen_wang/sites/sites.h"

static _Thread_local struct sw_sites_shape lattice;

#define SW_Q lattice.q
#define SW_LX lattice.lx
#define SW_LY lattice.ly
#define SW_LZ lattice.lz
#define SW_LATTICE lattice.lattice
#define SW_DIRECTIONS lattice.directions
#define SW_OPEN lattice.open
#define SW_ANTI lattice.anti
#define SW_DISORDER lattice.disordered
#define SW_FIELD lattice.field
#include "swendsen_wang/sites_vectors.h"

static inline void place_of(uint32_t site, uint32_t *x, uint32_t *y, uint32_t *z) {
    *x = site % lattice.lx;
    *y = site / lattice.lx % lattice.ly;
    *z = site / lattice.lx / lattice.ly;
}

/* The place of the next site. */
static inline void move_on(uint32_t *x, uint32_t *y, uint32_t *z) {
    if (++*x < lattice.lx)
        return;
    *x = 0;
    if (++*y < lattice.ly)
        return;
    *y = 0;
    ++*z;
}

#endif
