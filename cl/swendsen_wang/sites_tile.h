/*
 * Tiles of SW_TX x SW_TY x SW_TZ sites (powers of two), a work-group of SW_GROUP work-items for
 * each. Dimension 1 is the member. Work-items take sites in turn, so neighbours read neighbouring
 * bytes.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_TILE_H
#define ERGO_CL_SWENDSEN_WANG_SITES_TILE_H

#include "swendsen_wang/group.h"
#include "swendsen_wang/joins.h"
#include "swendsen_wang/sites.h"

#define SW_TILE_GROUP __attribute__((reqd_work_group_size(SW_GROUP, 1, 1)))
/* Rounds that lower trees of labels. One work-item goes through a tile in order, where one round
 * leads each site to its root; among many each round halves the ways. */
#define SW_JUMPS (SW_GROUP == 1 ? 1u : 2u)
#define SW_TILE (SW_TX * SW_TY * SW_TZ)
#define SW_TILES_X ((SW_LX + SW_TX - 1u) / SW_TX)
#define SW_TILES_Y ((SW_LY + SW_TY - 1u) / SW_TY)

/* Site n of the group's tile. */
struct sw_tile_site {
    uint tx, ty, tz; /* in the tile */
    uint x, y, z;    /* in the lattice, or beyond it */
    uint inside;
    uint index;
};

ERGO_INLINE struct sw_tile_site sw_tile_site_of(uint n) {
    const uint tile = (uint)get_group_id(0), row = tile / SW_TILES_X;
    struct sw_tile_site s;
    s.tx = n % SW_TX;
    s.ty = n / SW_TX % SW_TY;
    s.tz = n / (SW_TX * SW_TY);
    s.x = tile % SW_TILES_X * SW_TX + s.tx;
    s.y = row % SW_TILES_Y * SW_TY + s.ty;
    s.z = row / SW_TILES_Y * SW_TZ + s.tz;
    s.inside = s.x < SW_LX && s.y < SW_LY && s.z < SW_LZ ? 1u : 0u;
    s.index = s.inside ? sw_site_index(s.x, s.y, s.z) : 0u;
    return s;
}

/* Site n of the tile that has this index, or SW_TILE if it lies in another tile. */
ERGO_INLINE uint sw_tile_place(uint index) {
    const struct sw_tile_site corner = sw_tile_site_of(0u);
    const uint x = index % SW_LX - corner.x, rows = index / SW_LX;
    const uint y = rows % SW_LY - corner.y, z = rows / SW_LY - corner.z;
    return x < SW_TX && y < SW_TY && z < SW_TZ ? (z * SW_TY + y) * SW_TX + x : SW_TILE;
}

/* Does the site's bond in this direction leave the tile, or lead around the lattice? */
ERGO_INLINE uint sw_tile_leaves(struct sw_tile_site s, uint direction) {
    const uint diagonal = SW_LATTICE == SW_LATTICE_TRIANGULAR && direction == 2u ? 1u : 0u;
    const uint x = s.tx + 1u == SW_TX || s.x + 1u == SW_LX ? 1u : 0u;
    const uint y = s.ty + 1u == SW_TY || s.y + 1u == SW_LY ? 1u : 0u;
    const uint z = s.tz + 1u == SW_TZ || s.z + 1u == SW_LZ ? 1u : 0u;
    return direction == 0u ? x : direction == 1u ? y : diagonal ? x | y : z;
}

/* How far back in the tile the site before is whose bond in this direction ends here; 0: it lies in
 * another tile. */
ERGO_INLINE uint sw_tile_back(struct sw_tile_site s, uint direction) {
    const uint diagonal = SW_LATTICE == SW_LATTICE_TRIANGULAR && direction == 2u ? 1u : 0u;
    if (direction == 0u)
        return s.tx ? 1u : 0u;
    if (direction == 1u)
        return s.ty ? SW_TX : 0u;
    if (diagonal)
        return s.tx && s.ty ? SW_TX + 1u : 0u;
    return s.tz ? SW_TX * SW_TY : 0u;
}

#endif
