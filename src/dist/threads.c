/* The cores of a host, divided among the ranks that work on them; pure. */
#include "dist/dist.h"

bool ergo_dist_is_bound(int own, int all, int n) {
    return n > 1 && own > 0 && own < all / n;
}

unsigned ergo_dist_threads(const cpu_set_t *masks, const bool *takes_part, int n, int own) {
    double share = 0;
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        double users = 0, left = 1;
        if (!CPU_ISSET(core, &masks[own]))
            continue;
        for (int r = 0; r < n; r++) {
            if (r == own || (takes_part[r] && CPU_ISSET(core, &masks[r])))
                users++;
            else if (!takes_part[r] && CPU_ISSET(core, &masks[r]))
                left -= 1.0 / CPU_COUNT(&masks[r]); /* its one thread runs on one of these */
        }
        share += left > 0 ? left / users : 0;
    }
    if (CPU_COUNT(&masks[own]) == 0)
        return 0;
    return share < 1 ? 1 : (unsigned)(share + 1e-6); /* thirds do not add up to one */
}
