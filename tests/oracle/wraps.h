/* Does a cluster of a periodic lattice lead around it? From labels of its inside, in which no
 * cluster does. pairs: labels that bonds around the lattice join, first `rows` entries across the
 * right edge, then those across the lower edge. Two times SW_NO_BOND means no bond. */
#ifndef ORACLE_WRAPS_H
#define ORACLE_WRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_wraps;
struct sw_wraps *sw_wraps_create(size_t most_pairs); /* NULL: no memory */
void sw_wraps_destroy(struct sw_wraps *wraps);
void sw_wraps_find(struct sw_wraps *wraps, const uint32_t *pairs, size_t rows, size_t count,
                   bool *around_x, bool *around_y);

#endif
