/*
 * How configurations lie in the canonical states of a model's chains (samplers/sampler.h), for
 * files that hold configurations alone: arrays, each of pieces that are `stride` bytes apart. Bytes
 * that are in no array belong to a run (times, counts, where walkers have been) and not to a
 * configuration: they are zero at a start.
 */
#ifndef ERGO_JOB_FORM_H
#define ERGO_JOB_FORM_H

#include "job/job.h"

/* 2 pi/2^32: angles of 32 bits in radians */
#define ERGO_FORM_TURN 0x1.921fb54442d18p-30

enum { ERGO_FORM_PARTS = 2, ERGO_FORM_DIMS = 7 };

struct ergo_form_part {
    const char *name; /* of a dataset: "spins" */
    const char *axes; /* "z y x", in the order of shape */
    const char *help; /* what a value says */
    unsigned element; /* bytes of an element, little-endian: 1 or 4 */
    bool is_signed;
    uint32_t systems; /* an axis "word" has so many systems, 32 in a number: bit k of word w is that
                       * of system 32 w + k; 0: there is none */
    uint64_t bits;    /* sites along the last axis, packed into bytes, the lowest bit first; 0: an
                       * element is a site */
    double scale;     /* a value is an element times this; 0: it is the element */
    unsigned n_dims;
    uint64_t shape[ERGO_FORM_DIMS];
    size_t offset, stride; /* in a state; stride 0: the array is in one piece */
    uint64_t pieces;
};

struct ergo_form {
    size_t bytes; /* of a state */
    size_t n_parts;
    struct ergo_form_part parts[ERGO_FORM_PARTS];
};

/* Bytes of the array, as it is in files: the pieces one after the other. */
uint64_t ergo_form_part_bytes(const struct ergo_form_part *part);
/* From a state to the array, and back. */
void ergo_form_take(const struct ergo_form_part *part, const void *state, void *array);
void ergo_form_put(const struct ergo_form_part *part, const void *array, void *state);

#endif
