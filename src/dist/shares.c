/* Shares of the ranks, as jobs give them. */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"

static bool is_word(const char *text) {
    return strcmp(text, "measured") == 0 || strcmp(text, "equal") == 0;
}

/* The k-th number in the text, in turn; 0: there is none, or one is not positive. */
static double share_of(const char *text, size_t k) {
    double first[256];
    size_t n = 0;
    for (const char *at = text; n < 256;) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || !(value > 0) || value > 1e9 || (*end && *end != ','))
            return 0;
        first[n++] = value;
        if (!*end)
            return first[k % n];
        at = end + 1;
    }
    return 0;
}

bool ergo_dist_shares_valid(const char *text) {
    return is_word(text) || share_of(text, 0) > 0;
}

void ergo_dist_shares(const char *text, size_t ranks, double *weights) {
    for (size_t r = 0; r < ranks; r++)
        weights[r] = is_word(text) ? 1 : share_of(text, r);
}
