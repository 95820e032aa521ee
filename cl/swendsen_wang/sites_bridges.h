/* Layers at both ends of a slab: sites_bridges.cl. */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_BRIDGES_H
#define ERGO_CL_SWENDSEN_WANG_SITES_BRIDGES_H

#include "swendsen_wang/sites.h"

#define SW_ITEMS (2u * SW_LAYER)
#define SW_LEAD 0x80000000u
#define SW_THROUGH 0x40000000u

struct sw_bridge {
    uint near, far; /* the least name of this slab, and of the other rank's; or SW_NO_BOND */
    uint through;   /* of either rank */
    uint name;      /* then: from the host */
};

/* Sums of a part over its sites, two words each: sites; if waves are summed, those. */
#ifndef SW_PART_SUMS
#define SW_PART_SUMS 0u
#endif
#define SW_LIST_WORDS (4u + 2u * SW_PART_SUMS)

/* An item of the member's, of faces and sums. The first layer's sums travel, so these stand first;
 * then comes a number of the host's. */
ERGO_INLINE ulong sw_face_at(uint item, uint index, uint members) {
    const ulong at = (ulong)index * SW_LAYER + item % SW_LAYER;
    return item < SW_LAYER ? at : (ulong)members * SW_LAYER + 1UL + at;
}

ERGO_INLINE ulong sw_sums_at(uint item, uint index, uint members) {
    const ulong at = SW_PART_SUMS * ((ulong)index * SW_LAYER + item % SW_LAYER);
    return 2UL * (item < SW_LAYER ? (ulong)members * SW_LAYER * SW_PART_SUMS + 1UL + at : at);
}

#endif
