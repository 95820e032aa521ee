/* The generator of serial programs that do not follow ergocl's chain: xoshiro256++ (Blackman,
 * Vigna, ACM TOMS 47, 36 (2021)), seeded by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), as its
 * authors advise. Inline, because bench/ measures programs that use it. */
#ifndef ERGO_ORACLE_XOSHIRO_H
#define ERGO_ORACLE_XOSHIRO_H

#include <stdint.h>

static inline uint64_t ergo_oracle_splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline void ergo_oracle_xoshiro_seed(uint64_t s[4], uint64_t seed) {
    for (int i = 0; i < 4; i++)
        s[i] = ergo_oracle_splitmix64(&seed);
}

static inline uint64_t ergo_oracle_rotate(uint64_t x, int k) {
    return x << k | x >> (64 - k);
}

static inline uint64_t ergo_oracle_xoshiro(uint64_t s[4]) {
    const uint64_t result = ergo_oracle_rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = ergo_oracle_rotate(s[3], 45);
    return result;
}

/* In [0, 1): 53 bits of a number. */
static inline double ergo_oracle_xoshiro_uniform(uint64_t s[4]) {
    return (double)(ergo_oracle_xoshiro(s) >> 11) * 0x1p-53;
}

#endif
