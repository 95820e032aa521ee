/*
 * Diffusion Monte Carlo of liquid helium: drift, weights and the comb as pure functions (C and
 * OpenCL C). The physics of a walker is in cl/helium.
 */
#ifndef ERGO_CL_HELIUM_DMC_CORE_H
#define ERGO_CL_HELIUM_DMC_CORE_H

#include "common/comb.h"
#include "common/exp.h"
#include "helium/core.h"
#include "helium_dmc/params.h"

/* Is lambda tau times the curvature of ln of an atom's one-body factor at most 1, so that half a
 * step does not leap over the factor's top? force, slope: what it adds to a helium_share. */
ERGO_INLINE uint helium_dmc_resolves(float force, float slope, const struct helium_dmc *dmc) {
    const float across = force * dmc->drift, along = fma(2.0f, slope, force) * dmc->drift;
    return across >= -1.0f && across <= 1.0f && along >= -1.0f && along <= 1.0f;
}

/* The displacement by the drift of `halves` half steps, from an atom's gradient as helium_share has
 * it, in 2^-32 of the side. one: the one-body factor's part of it, where the step resolves that,
 * else 0. The drift is limited where two atoms, or an atom and a wall, are so close that the step
 * is too long for the gradient there. Far out in a trap it is as large, and right: so the limit
 * is beyond `one`. */
ERGO_INLINE int helium_dmc_drift(float gradient, float one, float halves, uint axis,
                                 const struct helium_dmc *dmc) {
    const float by = one * dmc->drift;
    const float most = halves * (dmc->most[axis] + (by < 0.0f ? -by : by));
    float d = gradient * (halves * dmc->drift);
    d = d < -most ? -most : d;
    return helium_shift(d < most ? d : most);
}

/* The place between two. */
ERGO_INLINE int helium_dmc_halfway(int from, int to) {
    return (int)((uint)from + (uint)((int)((uint)to - (uint)from) / 2));
}

/* The local energy of a walker in the unit that its member's sums have in common. */
ERGO_INLINE long helium_dmc_energy(long potential, long laplacian, long gradient,
                                   const struct helium_dmc *dmc) {
    return (potential >> dmc->shift[0]) + (laplacian >> dmc->shift[1]) -
           (gradient >> dmc->shift[2]);
}

/* -tau (E - mean), limited. */
ERGO_INLINE float helium_dmc_exponent(long energy, long mean, const struct helium_dmc *dmc) {
    const float x = (float)(mean - energy) * dmc->tau;
    return x < HELIUM_DMC_LEAST ? HELIUM_DMC_LEAST : x < HELIUM_DMC_MOST ? x : HELIUM_DMC_MOST;
}

/* The weight of a whole step. marks: of energies that the sums do not hold; such a walker ends. */
ERGO_INLINE ulong helium_dmc_weight(float exponent, uint marks) {
    const float scale = (float)(1 << HELIUM_DMC_WEIGHT_BITS);
    return marks ? 0 : (ulong)(ergo_exp(exponent) * scale + 0.5f);
}

/* The place among the walkers of all members of number `row` of those that a launch has: `begin` to
 * end - 1 of each member's `count`. */
ERGO_INLINE uint helium_dmc_index(uint row, uint count, uint begin, uint end) {
    const uint which = row / (end - begin);
    return which * count + begin + (row - which * (end - begin));
}

/* The c-th of `chosen` walkers, which are far apart: neighbours have the same ancestors. */
ERGO_INLINE uint helium_dmc_chosen(uint c, uint count, uint chosen) {
    return (uint)((ulong)c * count / chosen);
}

/* The random word of a step's comb. */
ERGO_INLINE uint helium_dmc_word(ulong step, uint key0, uint key1) {
    return ergo_philox_words(0, (uint)step, (uint)(step >> 32), ERGO_DRAW(HELIUM_PURPOSE_COMB, 0),
                             key0, key1)
        .x;
}

#endif
