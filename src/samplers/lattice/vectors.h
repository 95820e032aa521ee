/* Unit vectors in the canonical states of lattices: x, y and z of each site in units of 2^-21, each
 * a signed number of four bytes; on devices floats. */
#ifndef ERGO_SAMPLERS_LATTICE_VECTORS_H
#define ERGO_SAMPLERS_LATTICE_VECTORS_H

#include <string.h>

#include "common/compat.h"
#include "engine/fields.h"

static inline int32_t lattice_component(const uint8_t *bytes, size_t i) {
    int32_t word;
    memcpy(&word, bytes + 4 * i, 4);
    return word;
}

/* The bits of a float, from and to number i of a row. */
static inline uint32_t lattice_component_float(const uint8_t *bytes, size_t i) {
    return ergo_as_uint((float)lattice_component(bytes, i) * 0x1p-21f);
}

static inline void lattice_component_set(uint8_t *bytes, size_t i, uint32_t bits) {
    const int32_t word = (int32_t)(ergo_as_float(bits) * 0x1p21f);
    memcpy(bytes + 4 * i, &word, 4);
}

/* Are all of a row of length 1? Reflections let lengths wander, by 1e-6 times the root of their
 * number. */
static inline bool lattice_unit_vectors(const struct ergo_field_row *r) {
    bool good = true;
    for (size_t i = 0; i < r->x->bytes / 4; i += 3) {
        double length2 = 0;
        for (size_t c = 0; c < 3; c++) {
            const double component = lattice_component(r->bytes, i + c) * 0x1p-21;
            length2 += component * component;
        }
        good = good && length2 > 0.99 && length2 < 1.01;
    }
    return good;
}

#endif
