/* Spins of a site on a device (SW_MODEL), how they are stored, and what a step does to them. */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_SPIN_H
#define ERGO_CL_SWENDSEN_WANG_SITES_SPIN_H

#include "swendsen_wang/sites_vectors.h"

/* A member has all sites of a component, of a slab with the layer behind it, then of the next. */
#if SW_MODEL == SW_MODEL_HEISENBERG
#define SW_COMPONENTS 3u
typedef float sw_word;
typedef ergo_vector sw_spin;
#define SW_SPIN_OF(first, span) ergo_vector_of((first)[0], (first)[span], (first)[2u * (span)])
#elif SW_MODEL == SW_MODEL_XY
#define SW_COMPONENTS 1u
typedef uint sw_word;
typedef uint sw_spin;
#define SW_SPIN_OF(first, span) ((first)[0])
#else
#define SW_COMPONENTS 1u
typedef uchar sw_word;
typedef uint sw_spin;
#define SW_SPIN_OF(first, span) ((uint)(first)[0])
#endif
#define SW_SPIN(spins, site) SW_SPIN_OF((spins) + (site), SW_SPAN)

ERGO_INLINE void sw_spin_store(__global sw_word *spins, uint site, sw_spin s) {
#if SW_MODEL == SW_MODEL_HEISENBERG
    spins[site] = s.x;
    spins[site + SW_SPAN] = s.y;
    spins[site + 2u * SW_SPAN] = s.z;
#else
    spins[site] = (sw_word)s;
#endif
}

#if SW_MODEL != SW_MODEL_POTTS
#define SW_MIRROR(m, step) sw_mirror_of((m), (step), SW_MODEL == SW_MODEL_CLOCK ? SW_Q : 0u)

ERGO_INLINE float sw_part(sw_spin s, const struct sw_mirror *mirror) {
#if SW_MODEL == SW_MODEL_HEISENBERG
    return ergo_dot(s, mirror->direction);
#elif SW_MODEL == SW_MODEL_XY
    return sw_part_angle(s, mirror->angle);
#else
    return sw_part_clock(s, mirror->angle, SW_Q);
#endif
}

ERGO_INLINE sw_spin sw_mirrored(sw_spin s, const struct sw_mirror *mirror) {
#if SW_MODEL == SW_MODEL_HEISENBERG
    return sw_mirrored_vector(s, mirror->direction);
#elif SW_MODEL == SW_MODEL_XY
    return sw_mirrored_angle(s, mirror->angle);
#else
    return sw_mirrored_clock(s, mirror->angle, SW_Q);
#endif
}
#endif

#endif
