/* Correlations by clusters of lattices on one device (correlate.h). Dimension 1 is the member. */
#include "swendsen_wang/waves.cl"

#define SW_ROW_LINES sw_line_count(SW_LY)
#define SW_LINE_SITES (SW_ROW_LINES * SW_ALL_LX + sw_line_count(SW_ALL_LX) * SW_LY)

/* Representatives of the sites of rows, then of those of columns: names[member][line][site]. */
__kernel void sw_line_names(__global const uint *right, __global const uint *runs,
                            __global const uint *open, __global const uint *labels,
                            __global uint *names) {
    const uint k = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint columns = SW_ROW_LINES * SW_ALL_LX;
    if (k >= SW_LINE_SITES)
        return;
    const uint x = k < columns ? k % SW_ALL_LX : sw_line_at((k - columns) / SW_LY, SW_ALL_LX);
    const uint y = k < columns ? sw_line_at(k / SW_ALL_LX, SW_LY) : (k - columns) % SW_LY;
    const uint word = y * SW_WORDS + x / 32u;
    uint root = sw_part(runs + (ulong)index * SW_RUNS, x / 32u, y,
                        ~(right[(ulong)index * SW_PLANE_WORDS + word] << 1), x % 32u);
    if (open[(ulong)index * SW_PLANE_WORDS + (root >> 5)] >> (root & 31u) & 1u)
        root = sw_find_still(labels + (ulong)index * SW_SITES, root);
    names[(ulong)index * SW_LINE_SITES + k] = root;
}

/* Pairs in one cluster, work-groups for each line, and for `each` of its distances:
 * pairs[sample][member][2][distances], first along rows. */
__kernel void sw_line_pairs(__global const uint *names, uint distances, uint each,
                            __global uint *pairs, uint sample) {
    __local uint fields[SW_DISTANCES];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint groups = (distances + each - 1u) / each, index = (uint)get_group_id(1);
    const uint line = (uint)get_group_id(0) / groups;
    const uint first = (uint)get_group_id(0) % groups * each, end = min(first + each, distances);
    const uint column = line < SW_ROW_LINES ? 0u : 1u, side = column ? SW_LY : SW_ALL_LX;
    __global const uint *own =
        names + (ulong)index * SW_LINE_SITES +
        (column ? SW_ROW_LINES * SW_ALL_LX + (line - SW_ROW_LINES) * SW_LY : line * SW_ALL_LX);
    for (uint k = first + item; k < end; k += size)
        fields[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = first; k < end; k++) {
        const uint apart = sw_distance(k, side);
        uint found = 0u;
        for (uint at = item; at < side; at += size)
            found += own[at] == own[at + apart < side ? at + apart : at + apart - side] ? 1u : 0u;
        if (found)
            atomic_add(&fields[k], found);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to =
        pairs + (2UL * ((ulong)sample * get_num_groups(1) + index) + column) * distances;
    for (uint k = first + item; k < end; k += size)
        if (fields[k])
            atomic_add(&to[k], fields[k]);
}
