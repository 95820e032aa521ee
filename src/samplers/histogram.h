/* Histograms of the twins of hard particles: bins of squared distances, counted by all cores. */
#ifndef ERGO_SAMPLERS_HISTOGRAM_H
#define ERGO_SAMPLERS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bin b with limits[b] <= value < limits[b + 1]; `bins` where there is none. limits: [bins +
 * 1], which grow. */
size_t ergo_histogram_bin(const uint64_t *limits, size_t bins, uint64_t value);

/* Calls work(begin, end, user, counts) for ranges that together are [0, n), by all cores
 * (base/parallel.h), and adds up their counts into counts[bins]. False: no memory. */
bool ergo_histogram_count(size_t n, size_t least, size_t bins,
                          void (*work)(size_t begin, size_t end, const void *user,
                                       uint32_t *counts),
                          const void *user, uint32_t *counts);

#endif
