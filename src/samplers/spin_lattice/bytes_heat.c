/* Heat bath of potts: the choice of a state as a table over the states of all neighbours. It gives
 * the choices that the weights give (cl/spin_lattice/bytes.h), without their sums and products. */
#include <string.h>

#include "samplers/spin_lattice/bytes.h"

uint32_t bytes_choices(const struct bytes_shape *s) {
    uint32_t n = s->kind == BYTES_POTTS_HEAT && s->q <= 3;
    for (uint32_t k = 0; k < 2 * s->d; k++)
        n *= s->q;
    return n;
}

size_t bytes_choices_length(const struct bytes_shape *s) {
    const size_t n = bytes_choices(s);
    return 4 * (n + (n + 3) / 4);
}

/* The least 64-bit number r for which part <= floor(total r / 2^64); part < total < 2^63. */
static uint64_t least_reaching(uint64_t part, uint64_t total) {
    uint64_t quotient = 0;
    for (int bit = 0; bit < 64; bit++) { /* long division of 2^64 part by total */
        part *= 2;
        quotient = 2 * quotient + (part >= total);
        part -= part >= total ? total : 0;
    }
    return quotient + (part > 0);
}

/* One entry: states of the neighbours, in their order. */
static void fill_choice(const struct bytes_shape *s, const struct bytes_member *member,
                        const uint32_t near[6], uint64_t thresholds[2], uint32_t *states) {
    static const uint32_t step[3] = {1, 3, 9};
    uint32_t order[3], distinct = 0, seen = 0;
    uint64_t weight[3] = {0}, total = 0, sum = 0;
    for (uint32_t k = 0; k < 2 * s->d; k++) {
        uint32_t index = 0;
        if (seen >> near[k] & 1)
            continue;
        for (uint32_t i = 0; i < 2 * s->d; i++)
            index += near[i] == near[k] ? step[i / 2] : 0;
        seen |= 1u << near[k];
        weight[distinct] = (uint64_t)member->table[index] << 32 | member->low[index];
        total += weight[distinct];
        order[distinct++] = near[k];
    }
    const uint32_t met = distinct;
    total += (s->q - met) * ((uint64_t)member->table[0] << 32 | member->low[0]);
    for (uint32_t state = 0; state < s->q; state++)
        if (!(seen >> state & 1))
            order[distinct++] = state;
    *states = 0;
    for (uint32_t i = 0; i < 2; i++) {
        sum += i < met ? weight[i] : 0;
        thresholds[i] = i < met && sum < total ? least_reaching(sum, total) : UINT64_MAX;
    }
    for (uint32_t i = 0; i < 6; i++) { /* thresholds passed and the half of the third word */
        const uint32_t passed = i / 2 < met ? i / 2 : met;
        const uint32_t at = passed == met && s->q - met == 2 ? met + i % 2 : passed;
        *states |= order[at < s->q ? at : s->q - 1] << 4 * i;
    }
}

void bytes_choices_fill(const struct bytes_shape *s, const struct bytes_member *member,
                        uint32_t *words) {
    const uint32_t n = bytes_choices(s);
    memset(words, 0, 4 * bytes_choices_length(s));
    for (uint32_t at = 0; at < n; at++) {
        uint32_t near[6], rest = at;
        uint64_t thresholds[2];
        for (uint32_t k = 0; k < 2 * s->d; k++, rest /= s->q)
            near[k] = rest % s->q;
        fill_choice(s, member, near, thresholds, &words[4 * n + at]);
        for (uint32_t i = 0; i < 4; i++)
            words[4 * at + i] = (uint32_t)(thresholds[i / 2] >> (i % 2 ? 32 : 0));
    }
}
