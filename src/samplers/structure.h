/* The structure factor S(k) = |sum over particles of exp(i k r)|^2 / N of places in a periodic box
 * of right angles, in two or three dimensions, at all of its wave vectors at once. Lengths in
 * sigma. */
#ifndef ERGO_SAMPLERS_STRUCTURE_H
#define ERGO_SAMPLERS_STRUCTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places of n particles in the box, 0 <= at[axis][i] < side[axis]; side and at have as many axes as
 * there are dimensions. */
struct ergo_places {
    const double *side;
    size_t n;
    const double *const *at;
};

struct ergo_structure {
    unsigned dimensions;
    size_t mesh[3]; /* points along each axis, powers of two; 1 along a third that is none */
    size_t shells;  /* of wave numbers: of `wave` around wave, 2 wave, ... */
    double wave;
    double lattice; /* the peak is looked for within a fifth of this wave number */
};

/* side: the longest that the box will have. Wave numbers go up to `most`. The mesh sees each wave
 * vector with others, at 2 pi over its spacing from it and more: that is `finer` times `most`, and
 * of their S (most / (finer most - most))^8 is added at the largest wave numbers. */
struct ergo_structure ergo_structure_plan(unsigned dimensions, const double *side, size_t shells,
                                          double most, double finer);
/* The smallest power of two, from 4 on, for which parts of `side` are no longer than `most`. */
size_t ergo_structure_parts(double side, double most);
/* Memory of an analysis. */
uint64_t ergo_structure_bytes(const struct ergo_structure *plan);

/* sk: mean of S over the vectors of each shell, [shells]. peak: the vector with the largest S of
 * those within a fifth of the lattice's, [dimensions]. False: no memory. */
bool ergo_structure_analyse(const struct ergo_structure *plan, const struct ergo_places *places,
                            double *sk, double *peak);
/* S of one wave vector, without a mesh. */
double ergo_structure_at(const struct ergo_places *places, unsigned dimensions, const double *k);

#endif
