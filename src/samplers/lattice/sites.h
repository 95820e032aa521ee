/*
 * Lattices with a byte for each site, in natural order, x fastest: all that has to be said to the
 * engine, for a model whose sites are updated in a few colours, a launch for each. A model says
 * what it is by a struct lattice_rule, and has three kernels:
 *
 *     NAME_start(spins, members, mode)            mode: lattice_start
 *     NAME_sweep(spins, members, colour, step)    sites / colours work-items
 *     NAME_measure(spins, sums, sample)           a work-item for each row
 *
 * In dimension 0 of work-items there are a few more than that, dimension 1 is members. Sides are
 * build options, LX, LY and LZ. sums: [sample][member][sum], int, which are 0 at first.
 */
#ifndef ERGO_SAMPLERS_LATTICE_SITES_H
#define ERGO_SAMPLERS_LATTICE_SITES_H

#include "samplers/sampler.h"

struct lattice_rule {
    const char *program, *kernels[3];
    uint32_t states; /* values of a byte are below it */
    uint32_t colours,
        sums; /* colours: 2^d at most, so that they divide every lattice of even sides */
    /* What kernels know of a member: two uints, the key of its random numbers, and what fill adds.
     */
    size_t member_bytes;
    void (*fill)(const struct ergo_point *point, void *member);
    /* Columns of a sample, from its sums over the sites divided by their number. */
    void (*columns)(const struct ergo_point *point, const double *sums, double *columns);
};

/* Sides of a point's lattice, 1 beyond its dimensions. Returns the number of sites. */
uint64_t lattice_sides(const struct ergo_point *point, uint32_t sides[3]);
/* /system/start as the kernels of all models have it: 2 random, 1 up, 0 down. */
unsigned lattice_start(const struct ergo_point *point);
/* A probability in units of 2^-32, at most 1 - 2^-32. */
uint32_t lattice_chance(double p);
/* Refuses odd sides, and more than `most` sites. */
enum ergo_status lattice_check_size(struct ergo_context *ctx, const struct ergo_point *point,
                                    double most);
/* Sites in so many states, a byte each. up: of two states, the second is up. */
void lattice_look(const uint32_t sides[3], unsigned states, bool up, struct ergo_view *view);

/* ---- of models with rules, which include spin_lattice/models.h ------------------------------- */

extern const struct ergo_tunable lattice_group; /* work-items of a group */
/* Sides are even, and sums of up to 7 for each site fit 32 bits. */
enum ergo_status lattice_check(struct ergo_context *ctx, const struct ergo_point *point);
enum ergo_status lattice_form(struct ergo_context *ctx, const struct ergo_point *point,
                              struct ergo_form *form);
extern const struct ergo_sampler_ops lattice_ops;
/* What such a model's table says in common; its columns begin with the energy. */
#define LATTICE_MODEL(rule_)                                                                       \
    .rule = &(rule_), .check = lattice_check, .form = lattice_form, .ops = &lattice_ops,           \
    .conjugates = lattice_conjugates, .n_conjugates = 1, .tunables = &lattice_group,               \
    .n_tunables = 1, .has_frames = model_has_frames, .frame_suffix = "vti",                        \
    .trajectory = "configurations as VTK image data"

#endif
