/* The Ising chain on the host, with the kernels' own functions: for audits and tests. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_TWIN_H
#define ERGO_SAMPLERS_SPIN_LATTICE_TWIN_H

#include "samplers/spin_lattice/ising.h"

/* Advance one member, in the device's layout (both colours, shape->member_bytes), by sweeps `step`
 * to `step + sweeps - 1`. About 1 us per 128 spins and sweep. */
void ising_twin_sweeps(const struct ergo_point *point, const struct ising_shape *shape,
                       uint32_t *words, uint64_t step, uint64_t sweeps);
/* The same, of which only `rows` rows from row `first` on (around the seam) come out right: half a
 * sweep after the other needs one row less on either side. Other rows are spoilt. */
void ising_twin_rows(const struct ergo_point *point, const struct ising_shape *shape,
                     uint32_t *words, uint64_t step, uint64_t sweeps, uint64_t first,
                     uint64_t rows);

#endif
