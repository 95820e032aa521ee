/* Histograms of the twins of hard particles. */
#include "samplers/histogram.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

size_t ergo_histogram_bin(const uint64_t *limits, size_t bins, uint64_t value) {
    size_t low = 0, high = bins;
    if (value < limits[0] || value >= limits[bins])
        return bins;
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (value < limits[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

struct shared {
    void (*work)(size_t begin, size_t end, const void *user, uint32_t *counts);
    const void *user;
    size_t bins;
    uint32_t *counts;
    atomic_bool failed;
    pthread_mutex_t lock; /* of the counts */
};

static void count_range(size_t begin, size_t end, void *user) {
    struct shared *s = user;
    uint32_t *own = calloc(s->bins, sizeof *own);
    if (!own) {
        s->failed = true;
        return;
    }
    s->work(begin, end, s->user, own);
    pthread_mutex_lock(&s->lock);
    for (size_t b = 0; b < s->bins; b++)
        s->counts[b] += own[b];
    pthread_mutex_unlock(&s->lock);
    free(own);
}

bool ergo_histogram_count(size_t n, size_t least, size_t bins,
                          void (*work)(size_t begin, size_t end, const void *user,
                                       uint32_t *counts),
                          const void *user, uint32_t *counts) {
    struct shared s = {work, user, bins, counts, false, PTHREAD_MUTEX_INITIALIZER};
    memset(counts, 0, bins * sizeof *counts);
    ergo_parallel_ranges(n, least, count_range, &s);
    return !s.failed;
}
