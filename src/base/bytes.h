/* Whole numbers in files: little-endian, of 1 to 8 bytes. */
#ifndef ERGO_BASE_BYTES_H
#define ERGO_BASE_BYTES_H

#include <stdint.h>

#include "base/text.h"

static inline uint64_t ergo_bytes_get(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline void ergo_bytes_append(struct ergo_text *text, uint64_t value, int bytes) {
    uint8_t data[8];
    for (int i = 0; i < bytes; i++)
        data[i] = (uint8_t)(value >> (8 * i));
    ergo_text_append_bytes(text, data, (size_t)bytes);
}

#endif
