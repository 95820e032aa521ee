/* See form.h. */
#include "job/form.h"

#include <string.h>

void ergo_form_axis(struct ergo_form_part *part, uint64_t length) {
    part->shape[part->n_dims++] = length;
}

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

void ergo_form_lattice(struct ergo_form *form, const uint64_t *sides, size_t n_sides,
                       unsigned element, uint64_t each) {
    static const char *const axes[2][5] = {
        {"", "x", "y x", "z y x", "w z y x"},
        {"", "x component", "y x component", "z y x component", "w z y x component"}};
    *form = (struct ergo_form){.n_parts = 1};
    struct ergo_form_part *part = &form->parts[0];
    *part = (struct ergo_form_part){
        .name = "spins", .axes = axes[each > 1][n_sides], .element = element};
    for (size_t i = n_sides; i-- > 0;)
        ergo_form_axis(part, sides[i]);
    if (each > 1)
        ergo_form_axis(part, each);
    form->bytes = (size_t)ergo_form_part_bytes(part);
}
