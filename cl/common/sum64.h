/* Sums of 64-bit integers for devices whose atomics have 32 bits. */
#ifndef ERGO_CL_SUM64_H
#define ERGO_CL_SUM64_H

/* Add a 64-bit number to two words, modulo 2^64. The order of additions does not matter. */
#define ERGO_ADD_LONG(words, low, high)                                                            \
    do {                                                                                           \
        const uint ergo_low = (low), ergo_was = atomic_add(&(words)[0], ergo_low);                 \
        atomic_add(&(words)[1], (high) + (uint)(ergo_was + ergo_low < ergo_was));                  \
    } while (0)

#endif
