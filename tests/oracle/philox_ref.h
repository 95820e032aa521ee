/* Philox4x32-10 by Random123's own header (Salmon et al., SC'11), for oracles. */
#ifndef ERGO_ORACLE_PHILOX_REF_H
#define ERGO_ORACLE_PHILOX_REF_H

#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#include <Random123/philox.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

static inline void ergo_oracle_philox(const uint32_t counter[4], const uint32_t key[2],
                                      uint32_t out[4]) {
    philox4x32_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
    philox4x32_key_t k = {{key[0], key[1]}};
    philox4x32_ctr_t r = philox4x32_R(10, c, k);
    for (int i = 0; i < 4; i++)
        out[i] = r.v[i];
}

#endif
