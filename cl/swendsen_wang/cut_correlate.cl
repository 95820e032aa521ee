/* Correlations by clusters of a rectangle of a cut lattice (correlate.h): sw_waves, sw_wave_roots,
 * and the clusters of sites on lines, for the host. */
#include "swendsen_wang/cut_edges.h"
#include "swendsen_wang/waves.cl"

/* Representatives of the sites of `rows` lines from number first_row on, of those spread over a
 * side of `ly` rows; then of columns, of those over lx. names[line][site of the rectangle]. */
__kernel void sw_cut_line_names(SW_RECT rect, __global const uint *right, __global const uint *runs,
                                __global const uint *open, __global const uint *labels,
                                __global const ulong *names, __global ulong *lines, uint first_row,
                                uint rows, uint first_column, uint columns, uint lx, uint ly) {
    const uint k = (uint)get_global_id(0), width = 32u * (rect->words - 1u) + rect->tail;
    const uint of_rows = rows * width;
    if (k >= of_rows + columns * rect->rows)
        return;
    const uint x = k < of_rows ? k % width
                               : (uint)(sw_line_at(first_column + (k - of_rows) / rect->rows, lx) -
                                        32UL * rect->word0);
    const uint y = k < of_rows ? (uint)(sw_line_at(first_row + k / width, ly) - rect->row0)
                               : (k - of_rows) % rect->rows;
    const uint word = y * rect->words + x / 32u;
    uint root = sw_part(rect, runs, x / 32u, y, ~(right[word] << 1), x % 32u);
    if (open[root >> 5] >> (root & 31u) & 1u)
        root = sw_find_still(labels, root);
    lines[k] = sw_cut_name(rect, names, root);
}
