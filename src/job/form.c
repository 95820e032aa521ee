/* See form.h. */
#include "job/form.h"

#include <string.h>

uint64_t ergo_form_part_bytes(const struct ergo_form_part *part) {
    uint64_t bytes = part->element;
    for (unsigned i = 0; i < part->n_dims; i++)
        bytes *= part->shape[i];
    return bytes;
}

static uint64_t pieces_of(const struct ergo_form_part *part) {
    return part->stride ? part->pieces : 1;
}

void ergo_form_take(const struct ergo_form_part *part, const void *state, void *array) {
    const uint64_t pieces = pieces_of(part);
    const size_t each = (size_t)(ergo_form_part_bytes(part) / pieces);
    for (uint64_t i = 0; i < pieces; i++)
        memcpy((char *)array + i * each, (const char *)state + part->offset + i * part->stride,
               each);
}

void ergo_form_put(const struct ergo_form_part *part, const void *array, void *state) {
    const uint64_t pieces = pieces_of(part);
    const size_t each = (size_t)(ergo_form_part_bytes(part) / pieces);
    for (uint64_t i = 0; i < pieces; i++)
        memcpy((char *)state + part->offset + i * part->stride, (const char *)array + i * each,
               each);
}
