/* The Ising chain on the host: for audits and tests. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_ISING_TWIN_H
#define ERGO_SAMPLERS_SPIN_LATTICE_ISING_TWIN_H

#include "samplers/spin_lattice/ising.h"

/* Advance one member, in the device's layout (both colours, shape->member_bytes), by sweeps `step`
 * to `step + sweeps - 1`. Some 10 ns per spin and sweep. */
void ising_twin_sweeps(const struct ergo_point *point, const struct ising_shape *shape,
                       uint32_t *words, uint64_t step, uint64_t sweeps);
/* The same, of which only `rows` rows from row `first` on (around the seam) come out right: half a
 * sweep after the other needs one row less on either side. Other rows are spoilt. */
void ising_twin_rows(const struct ergo_point *point, const struct ising_shape *shape,
                     uint32_t *words, uint64_t step, uint64_t sweeps, uint64_t first,
                     uint64_t rows);
/* Are blocks `from` to `to` - 1 of both colours as the job's start has them? */
bool ising_twin_is_start(const struct ergo_point *point, const struct ising_shape *shape,
                         const uint32_t *words, uint64_t from, uint64_t to);

#endif
