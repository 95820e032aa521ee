/*
 * Tiles of SW_TX x SW_TY x SW_TZ sites (powers of two), a work-group of SW_GROUP work-items for
 * each. Dimension 1 is the member. Work-items take sites in turn, so neighbours read neighbouring
 * bytes.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_TILE_H
#define ERGO_CL_SWENDSEN_WANG_SITES_TILE_H

#include "swendsen_wang/group.h"
#include "swendsen_wang/joins.h"
#include "swendsen_wang/sites_block.h"

#define SW_TILE_GROUP __attribute__((reqd_work_group_size(SW_GROUP, 1, 1)))
#define SW_TILE (SW_TX * SW_TY * SW_TZ)
#define SW_TILES_X ((SW_LX + SW_TX - 1u) / SW_TX)
#define SW_TILES_Y ((SW_LY + SW_TY - 1u) / SW_TY)

/* The tile of a launch's first work-group: a slab labels its last tiles by themselves, when it has
 * the next rank's layer. */
#ifndef SW_TILE_FIRST
#define SW_TILE_FIRST 0u
#endif

/* Site n of the group's tile. */
struct sw_tile_site {
    uint tx, ty, tz; /* in the tile */
    uint x, y, z;    /* in the lattice, or beyond it */
    uint inside;
    uint index;
};

ERGO_INLINE struct sw_tile_site sw_tile_site_of(uint n) {
    const uint tile = (uint)get_group_id(0) + SW_TILE_FIRST, row = tile / SW_TILES_X;
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

/* The first site of a site's part of a cluster. firsts: of each site the place of that in the tile
 * of both, since a part lies in one tile. */
ERGO_INLINE uint sw_first_of(__global const ushort *firsts, uint site) {
    const uint place = firsts[site], x = site % SW_LX, rows = site / SW_LX;
    const uint y = rows % SW_LY, z = rows / SW_LY;
    return sw_site_index(x - x % SW_TX + place % SW_TX, y - y % SW_TY + place / SW_TX % SW_TY,
                         z - z % SW_TZ + place / (SW_TX * SW_TY));
}

/* The last of the tile's sites along each direction, beyond which the lattice closes or another
 * tile begins. */
struct sw_tile_ends {
    uint x, y, z;
};

ERGO_INLINE struct sw_tile_ends sw_tile_ends(void) {
    const struct sw_tile_site corner = sw_tile_site_of(0u);
    struct sw_tile_ends e;
    e.x = SW_LX - corner.x < SW_TX ? SW_LX - corner.x - 1u : SW_TX - 1u;
    e.y = SW_LY - corner.y < SW_TY ? SW_LY - corner.y - 1u : SW_TY - 1u;
    e.z = SW_LZ - corner.z < SW_TZ ? SW_LZ - corner.z - 1u : SW_TZ - 1u;
    return e;
}

#define SW_BLOCKS (SW_TILE / SW_BLOCK)
#define SW_BLOCKS_X (SW_TX / SW_BX)
#define SW_BLOCKS_Y (SW_TY / SW_BY)

/* The place of a block's first site, and how far site i is from it. */
ERGO_INLINE uint sw_block_place(uint b) {
    const uint row = b / SW_BLOCKS_X;
    return SW_BX * (b % SW_BLOCKS_X) +
           SW_TX * (SW_BY * (row % SW_BLOCKS_Y) + SW_TY * SW_BZ * (row / SW_BLOCKS_Y));
}

ERGO_INLINE uint sw_block_offset(uint i) {
    return i % SW_BX + SW_TX * (i / SW_BX % SW_BY + SW_TY * (i / (SW_BX * SW_BY)));
}

/* Sites of the block whose bond in a direction leaves the tile, or leads around the lattice. */
struct sw_sides {
    uint x, y, z;
};

ERGO_INLINE struct sw_sides sw_block_leaves(uint place) {
    const struct sw_tile_ends e = sw_tile_ends();
    const uint x = e.x - place % SW_TX, y = e.y - place / SW_TX % SW_TY;
    const uint z = e.z - place / (SW_TX * SW_TY);
    struct sw_sides s;
    s.x = x < SW_BX ? 0x1111u << x : 0u;
    s.y = y < SW_BY ? (SW_LZ > 1u ? 0x0f0fu : 0x000fu) << 4u * y : 0u;
    s.z = SW_DIAGONAL ? s.x | s.y : z < SW_BZ ? 0x00ffu << 8u * z : 0u;
    return s;
}

/* The bonds that may leave the tile or lead around, of directions 0, 1, 2. */
#define SW_FACE_X (SW_TY * SW_TZ)
#define SW_FACE_Y (SW_TX * SW_TZ)
#define SW_FACE_Z (SW_DIRECTIONS < 3u ? 0u : SW_DIAGONAL ? SW_TX + SW_TY : SW_TX * SW_TY)
#define SW_FACES (SW_FACE_X + SW_FACE_Y + SW_FACE_Z)

/* Bond k of these: its site's place plus SW_PLACES times its direction, or SW_NO_BOND if there is
 * no such site, or another number has it. */
ERGO_INLINE uint sw_tile_face(uint k, struct sw_tile_ends e) {
    uint x = e.x, y = e.y, z = e.z, direction = 0u;
    if (k < SW_FACE_X) {
        y = k % SW_TY;
        z = k / SW_TY;
    } else if (k < SW_FACE_X + SW_FACE_Y) {
        direction = 1u;
        x = (k - SW_FACE_X) % SW_TX;
        z = (k - SW_FACE_X) / SW_TX;
    } else if (!SW_DIAGONAL || k < SW_FACE_X + SW_FACE_Y + SW_TX) {
        direction = 2u;
        x = (k - SW_FACE_X - SW_FACE_Y) % SW_TX;
        y = SW_DIAGONAL ? e.y : (k - SW_FACE_X - SW_FACE_Y) / SW_TX;
    } else {
        direction = 2u;
        y = k - SW_FACE_X - SW_FACE_Y - SW_TX;
        if (y == e.y)
            return SW_NO_BOND;
    }
    if (x > e.x || y > e.y || z > e.z)
        return SW_NO_BOND;
    return x + SW_TX * (y + SW_TY * z) + SW_PLACES * direction;
}

#endif
