/*
 * Clusters on lattices of two and three dimensions, a spin for each site: pure functions, also
 * compiled as C.
 *
 * SW_LX, SW_LY, SW_LZ: sides, SW_LZ = 1 in two dimensions. Site index and id: x + Lx (y + Ly z).
 * SW_LATTICE: which sites are neighbours. A site owns the bonds to its next sites in the directions
 * 0 .. SW_DIRECTIONS - 1, all around the lattice:
 *
 *     square      0 (x + 1, y, z), 1 (x, y + 1, z), in three dimensions 2 (x, y, z + 1)
 *     triangular  0 (x + 1, y), 1 (x, y + 1), 2 (x + 1, y + 1)
 *     honeycomb   as bricks, Lx and Ly even: 0 (x + 1, y), 1 (x, y + 1) where x + y is even
 *
 * SW_OPEN, SW_ANTI: sides that are open, and antiperiodic, by the bits below. No bond crosses an
 * open side. One that crosses an antiperiodic side has the other sign: it prefers unequal spins
 * (potts, q = 2), or opposite ones.
 *
 * SW_DISORDER 1: a bond is strong or weak; which, is drawn once. SW_FIELD 1 (potts): sites in state
 * 0 may have a bond to one ghost spin, whose state is 0 always (P. W. Kasteleyn, C. M. Fortuin, J.
 * Phys. Soc. Jpn. Suppl. 26, 11 (1969); R. H. Swendsen, J.-S. Wang, Phys. Rev. Lett. 58, 86
 * (1987)): a cluster with such a bond stays as it is.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_H
#define ERGO_CL_SWENDSEN_WANG_SITES_H

#include "swendsen_wang/state.h"

#define SW_N (SW_LX * SW_LY * SW_LZ) /* sites */

/* SW_SLAB 1: layers, in two dimensions rows, of a lattice cut over ranks. Behind them in memory is
 * the layer after, of another rank. Ids of sites are indices plus the member's `first`. */
#ifndef SW_SLAB
#define SW_SLAB 0
#endif
#define SW_FLAT (SW_LZ == 1u)
#define SW_LAYER (SW_FLAT ? SW_LX : SW_LX * SW_LY)
#define SW_SPAN (SW_N + SW_SLAB * SW_LAYER)
/* Layers of the whole lattice. */
#ifndef SW_ALL_LAYERS
#define SW_ALL_LAYERS (SW_FLAT ? SW_LY : SW_LZ)
#endif
/* How far back from behind the last layer the next one is in memory. */
#define SW_AROUND_LAYERS (SW_SLAB ? 0u : SW_N)
/* The same of a layer's last row and its first one. */
#define SW_AROUND_ROWS (SW_SLAB && SW_FLAT ? 0u : SW_LX * SW_LY)
/* The direction that leads to the next layer. (Triangular lattices, which have two, are not cut.)
 */
#define SW_ONWARD (SW_FLAT ? 1u : 2u)

/* Of a slab: the mark of a root whose cluster reaches an edge: this bit, and its number there. Of
 * other roots the same word has the number of sites, if these are counted. */
#define SW_MARK 0x80000000u
/* An edge's word: a root or a number below 2^29, and the sides along x and y that the way to the
 * root crosses an odd number of times. */
#define SW_EDGE_SHIFT 29
#define SW_EDGE_NUMBER 0x1fffffffu

#ifndef SW_DISORDER
#define SW_DISORDER 0
#endif
#ifndef SW_FIELD
#define SW_FIELD 0
#endif

/* 1: the lattice has an antiperiodic side, if only at another rank. */
#ifndef SW_TURNED
#define SW_TURNED SW_ANTI
#endif

ERGO_INLINE uint sw_site_index(uint x, uint y, uint z) {
    return (z * SW_LY + y) * SW_LX + x;
}

/* The next site. *around: the edges of the lattice that the bond crosses. */
ERGO_INLINE uint sw_site_next(uint x, uint y, uint z, uint direction, uint *around) {
    const uint diagonal = SW_LATTICE == SW_LATTICE_TRIANGULAR && direction == 2u ? 1u : 0u;
    const uint along_x = direction == 0u ? 1u : diagonal;
    const uint along_y = direction == 1u ? 1u : diagonal;
    const uint along_z = direction == 2u ? 1u - diagonal : 0u;
    *around = 0u;
    if (along_x) {
        *around |= x + 1u == SW_LX ? SW_AROUND_X : 0u;
        x = x + 1u == SW_LX ? 0u : x + 1u;
    }
    if (along_y) {
        *around |= y + 1u == SW_LY ? SW_AROUND_Y : 0u;
        y = !(SW_SLAB && SW_FLAT) && y + 1u == SW_LY ? 0u : y + 1u;
    }
    if (along_z) {
        *around |= z + 1u == SW_LZ ? SW_AROUND_Z : 0u; /* of a slab: its end */
        z = SW_SLAB == 0 && z + 1u == SW_LZ ? 0u : z + 1u;
    }
    return sw_site_index(x, y, z);
}

/* Does a bond of the site in this direction lead out of a slab? */
ERGO_INLINE uint sw_site_leaves(uint y, uint z, uint direction) {
    const uint last = SW_FLAT ? y + 1u == SW_LY : z + 1u == SW_LZ;
    return SW_SLAB && direction == SW_ONWARD ? last : 0u;
}

/* Does the site own a bond in this direction? */
ERGO_INLINE uint sw_site_owns(uint x, uint y, uint z, uint direction) {
    uint around = 0u;
    if (SW_OPEN)
        sw_site_next(x, y, z, direction, &around);
    if (around & SW_OPEN)
        return 0u;
    return SW_LATTICE == SW_LATTICE_HONEYCOMB && direction == 1u ? ~(x + y) & 1u : 1u;
}

/* 1: a bond across these sides has the other sign. */
ERGO_INLINE uint sw_site_turns(uint around) {
    const uint sides = around & SW_ANTI;
    return (sides ^ sides >> 1 ^ sides >> 2) & 1u;
}

/* The site before: the one whose next site in this direction is (x, y, z). On a honeycomb it need
 * not own that bond. *bx, *by: its place. */
ERGO_INLINE uint sw_site_before(uint x, uint y, uint z, uint direction, uint *bx, uint *by) {
    const uint diagonal = SW_LATTICE == SW_LATTICE_TRIANGULAR && direction == 2u ? 1u : 0u;
    const uint along_x = direction == 0u ? 1u : diagonal;
    const uint along_y = direction == 1u ? 1u : diagonal;
    const uint along_z = direction == 2u ? 1u - diagonal : 0u;
    if (along_x)
        x = x == 0u ? SW_LX - 1u : x - 1u;
    if (along_y)
        y = y == 0u ? SW_LY - 1u : y - 1u;
    if (along_z)
        z = z == 0u ? SW_LZ - 1u : z - 1u;
    *bx = x;
    *by = y;
    return sw_site_index(x, y, z);
}

/* Directions along which sides lie, and the site half or a quarter of a side further along one. */
#define SW_SIDES (SW_LZ > 1u ? 3u : 2u)
#define SW_SIDES_HERE (SW_SIDES - SW_SLAB) /* of a slab: those that lie in it */

ERGO_INLINE uint sw_site_apart(uint x, uint y, uint z, uint side, uint share) {
    if (side == 0u)
        x = (x + SW_LX / share) % SW_LX;
    else if (side == 1u)
        y = (y + SW_LY / share) % SW_LY;
    else
        z = (z + SW_LZ / share) % SW_LZ;
    return sw_site_index(x, y, z);
}

/* The random numbers of a site's bonds, one for each direction. */
ERGO_INLINE struct ergo_words sw_site_words(const struct sw_site_member *m, uint index,
                                            ulong step) {
    return ergo_philox_words(m->first + index, (uint)step, (uint)(step >> 32),
                             ERGO_DRAW(SW_PURPOSE_BOND, 0), m->key0, m->key1);
}

/* The active ones among the bonds in `open`, which join equal spins, by bits; weak: those of the
 * site that are. */
ERGO_INLINE uint sw_site_activate(const struct sw_site_member *m, uint index, ulong step, uint open,
                                  uint weak) {
    const struct ergo_words r = sw_site_words(m, index, step);
    uint below = (r.x < m->threshold ? 1u : 0u) | (r.y < m->threshold ? 2u : 0u) |
                 (r.z < m->threshold ? 4u : 0u);
    below = m->always & SW_ALWAYS ? 7u : below;
    if (SW_DISORDER) {
        const uint lower =
            (r.x < m->weak ? 1u : 0u) | (r.y < m->weak ? 2u : 0u) | (r.z < m->weak ? 4u : 0u);
        below = (below & ~weak) | ((m->always & SW_ALWAYS_WEAK ? 7u : lower) & weak);
    }
    if (SW_FIELD && (m->always & SW_ALWAYS_GHOST || r.w < m->ghost))
        below |= SW_GHOST_BOND;
    return open & below;
}

/* With disorder: the weak bonds of a site, by bits. A bond is weak if the number below 2^32 is
 * below the share whose bits, the highest first, are the lowest ones of random words: so the first
 * sample of a spin glass in spin-lattice has the same. */
ERGO_INLINE uint sw_site_weak(const struct sw_site_member *m, uint index) {
    uint weak = m->always & SW_ALL_WEAK ? 7u : 0u;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        for (uint bit = 0, undecided = 1u; bit < 32u && undecided; bit += 4u) {
            const struct ergo_words r =
                ergo_philox_words(3u * (m->first + index) + d, 0u, 0u,
                                  ERGO_DRAW(SW_PURPOSE_COUPLING, bit / 4u), m->seed0, m->seed1);
            const uint number = (r.x & 1u) << 3 | (r.y & 1u) << 2 | (r.z & 1u) << 1 | (r.w & 1u);
            const uint part = m->share >> (28u - bit) & 15u;
            weak |= number < part ? 1u << d : 0u;
            undecided = number == part ? 1u : 0u;
        }
    return weak;
}

/*
 * Method probability-changing (Y. Tomita, Y. Okabe, Phys. Rev. Lett. 86, 572 (2001)). A member has
 * a chance, which takes the place of its temperature: of potts the bond probability in units of
 * 2^-32, of unit vectors J/T in units of 2^-24. Where a cluster leads around the lattice, `down` is
 * subtracted after the step, else `up` is added; both are doubled `shift` times.
 */
ERGO_INLINE uint sw_site_changed(const struct sw_site_member *m, uint chance, uint shift,
                                 uint around) {
    const uint up = m->up << shift, down = m->down << shift;
    if (around)
        return chance > down ? chance - down : 1u;
    return 0xffffffffu - chance > up ? chance + up : 0xffffffffu;
}

/* Conversions of 24 bits and less are exact. */
ERGO_INLINE void sw_site_take(struct sw_site_member *m, uint chance) {
    m->threshold = chance;
    m->always &= ~SW_ALWAYS;
    m->coupling = ((float)(chance >> 8) * 256.0f + (float)(chance & 255u)) * 0x1p-23f;
}

/* Wolff's cluster: the id of the site from which it grows, uniform over all, and what is added to
 * the states (modulo q) of its sites, uniform over 1 .. q - 1. */
struct sw_seed {
    uint site, shift;
};

ERGO_INLINE struct sw_seed sw_site_seed(const struct sw_site_member *m, ulong step) {
    const struct ergo_words r = ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                                                  ERGO_DRAW(SW_PURPOSE_SEED, 0), m->key0, m->key1);
    struct sw_seed seed;
    seed.site = sw_one_of(SW_LAYER * SW_ALL_LAYERS, r.x, r.y);
    seed.shift = 1u + sw_one_of(SW_Q - 1u, r.z, r.w);
    return seed;
}

#endif
