/* Euclid's algorithm. */
#ifndef ERGO_BASE_DIVISOR_H
#define ERGO_BASE_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor; of 0 and a number it is that number. */
static inline uint64_t ergo_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
