/* The starting lattice, as cl/helium/lattice.cl makes it. */
#include "helium/core.h"
#include "samplers/helium/liquid.h"

void helium_lattice_sites(const struct ergo_point *point, uint32_t sites[4]) {
    const uint64_t n = (uint64_t)of_quantum(point)->n;
    const uint32_t dimensions = helium_dimensions(point);
    uint64_t total = 0;
    int64_t aspect[3];
    helium_aspect(point, aspect);
    for (uint32_t fine = 1; total < n; fine++) { /* sites along the shortest side, as a rule */
        int64_t least = aspect[0];
        for (uint32_t k = 1; k < dimensions; k++)
            least = aspect[k] < least ? aspect[k] : least;
        total = 1;
        for (uint32_t k = 0; k < 3; k++) {
            sites[k] = k < dimensions ? (uint32_t)((fine * aspect[k] + least / 2) / least) : 1;
            total *= sites[k];
        }
    }
    sites[3] = 0;
}

void helium_lattice_start(const uint32_t sites[4], const struct helium_member *member, uint32_t n,
                          uint32_t walker, int32_t *place) {
    const uint64_t all = (uint64_t)sites[0] * sites[1] * sites[2];
    const uint32_t dimensions = (uint32_t)member->dimensions;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t site = i * all / n;
        const uint64_t at[3] = {site % sites[0], site / sites[0] % sites[1],
                                site / sites[0] / sites[1]};
        const struct ergo_words w = ergo_philox_words(
            walker * n + i, 0, 0, ERGO_DRAW(HELIUM_PURPOSE_START, 0), member->key0, member->key1);
        const uint32_t words[3] = {w.x, w.y, w.z};
        for (uint32_t k = 0; k < 3; k++) {
            const uint64_t width = UINT64_C(0x100000000) / sites[k];
            const uint64_t away = (width / 5 * (words[k] >> 16) >> 16) - width / 10;
            const uint32_t found = (uint32_t)(at[k] * width + width / 2 + away);
            place[k * n + i] = k < dimensions ? (int32_t)found : 0;
        }
    }
}
