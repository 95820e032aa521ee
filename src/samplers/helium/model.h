/*
 * Pair functions of a point of the job in double precision, and the tables of cubic pieces that the
 * kernels evaluate. They use only IEEE basic operations and square roots, so that every host makes
 * the same tables.
 */
#ifndef ERGO_SAMPLERS_HELIUM_MODEL_H
#define ERGO_SAMPLERS_HELIUM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"
#include "samplers/radial.h"
#include "samplers/helium/external.h"
#include "samplers/helium/one_body.h"
#include "samplers/helium/spline.h"
#include "samplers/helium/triplet.h"

struct helium_cubic_host {
    float c[4]; /* value = ((c3 t + c2) t + c1) t + c0, t from the start of the piece */
};

enum helium_potential { HELIUM_AZIZ, HELIUM_AZIZ_1979, HELIUM_AZIZ_1995, HELIUM_LENNARD_JONES };
/* The potential that /system/potential names; false: none is called so. */
bool helium_potential_named(const char *name, enum helium_potential *potential);

struct helium_model {
    uint32_t n, dimensions;
    uint32_t added; /* walkers whose sums of energies are added up as integers; 0: none are */
    double density, b;
    double lambda;  /* hbar^2 / 2m, K A^2 */
    double side[3]; /* A; in two dimensions the third is the shortest of the others */
    double half;    /* half the shortest side, the cut of V and u, A */
    double core;    /* below this distance V and u keep their values, A */
    double step[3]; /* standard deviation of a displacement along each axis, in units of the side */
    struct helium_one_body one;
    struct helium_external external;
    enum helium_potential potential;
    double epsilon, sigma; /* of Lennard-Jones: K, A */
    double kink;           /* distance at which V'' jumps, A; 0: no jump */
    struct ergo_radial *v_curve,
        *f_curve;                        /* from files, or made; owned; NULL: built-in functions */
    bool symmetrised;                    /* f_curve is symmetrised about L/2 */
    struct helium_spline spline;         /* added to u */
    struct helium_triplet_model triplet; /* its terms of two atoms are part of u */
    /* Tails beyond the cut with g = 1, of V/N and of 1/N sum r V', in K; 0: not requested. */
    double tail_potential, tail_virial;
    int bits[4];    /* sums of V, r V', lap ln psi, (grad ln psi)^2 have units of 2^-bits K */
    double unit[4]; /* 2^-bits */
    uint64_t hash;  /* of the bytes of all files; 0: no files */
};

/* lambda = hbar^2 / (2 m k_B) of a mass in u, CODATA 2018: K A^2. */
double helium_lambda(double mass);
/* What needs no function: the box, and values of keys. */
void helium_model_box(const struct ergo_point *point, struct helium_model *model);
/* Box and built-in functions; files are not read. */
void helium_model_of(const struct ergo_point *point, struct helium_model *model);
/* The whole model, with functions from files. Errors of the job name a key. */
enum ergo_status helium_model_load(struct ergo_context *ctx, const struct ergo_point *point,
                                   uint32_t added, struct helium_model *model);
/* Set `step` to that of displacements with this root mean square of all components together, in
 * units of `unit`, A. */
void helium_model_step(struct helium_model *model, double rms, double unit);
/* The same bits on every host. */
double helium_cube_root(double x);
/* density^(-1/d) in d dimensions, A. */
double helium_apart(uint32_t dimensions, double density);
/* The volume, in two dimensions the area, between distances a and b. */
double helium_shell(uint32_t dimensions, double a, double b);
/* Set `core`, below which u keeps its value: there |u| would exceed the range of the fixed point.
 * Its probability exp(-2 |u|) is below 1e-27. */
void helium_model_core(struct helium_model *model);
void helium_model_free(struct helium_model *model);
/* Is this value of /system/potential or /system/wave_function the name of a file? */
bool helium_is_file(const char *text);

/* u, u', u'' at 0 < r < half (0 beyond): of the job's wave function; with the spline; and with the
 * triplet factor's terms of two atoms. */
void helium_model_pair_u(const struct helium_model *model, double r, double out[3]);
void helium_model_two_body(const struct helium_model *model, double r, double out[3]);
void helium_model_u(const struct helium_model *model, double r, double out[3]);
/* out: V and r V' at r, without the cut. */
void helium_model_v(const struct helium_model *model, double r, double out[2]);

/* fixed.c: set `bits` and `unit` from the largest and the usual energy of an atom. false: floats
 * cannot hold the largest, or the unit is too coarse for the usual one. Then `kind` is the sum,
 * and `most` and `usual` are these energies, K. */
bool helium_fixed_point(struct helium_model *model, int *kind, double *most, double *usual);

/* two_body.c: ln f of two atoms that are alone: -2 lambda lap f + V f = e f without nodes,
 * f = 1 and f' = 0 at `healing`, A. From where the wall is steep on; 0 from `healing` on. */
enum ergo_status helium_two_body(struct ergo_context *ctx, const struct helium_model *model,
                                 double healing, struct ergo_radial **curve);

/* tail.c: set the tails of V and r V', K per atom. */
void helium_tails(struct helium_model *model);

/* Arguments of the pair tables are x = (r / half)^2. The smallest in use. */
float helium_model_low(const struct helium_model *model);
/* Binades below 1 that hold helium_model_low. */
unsigned helium_model_binades(const struct helium_model *model);

/* Table of u in units of 2^-HELIUM_U_BITS, (binades << HELIUM_U_PIECES) pieces, with the offset
 * that makes truncation round to nearest. */
void helium_table_u(const struct helium_model *model, unsigned binades,
                    struct helium_cubic_host *table);
/* Table of the triplet factor: as many pieces of X, then of X'/r (cl/helium/triplet.h). */
void helium_table_triplet(const struct helium_model *model, unsigned binades,
                          struct helium_cubic_host *table);
/* Energy table: helium_energy_pieces() pieces for V, then as many for sqrt(lambda) u'/r, to be read
 * by helium_quartic_slope and helium_cubic_slope. The last piece replaces the upper part of the
 * piece with the kink. */
unsigned helium_energy_pieces(unsigned binades);
/* The argument at the kink, as bits of a float, and the number of floats up to the end of its
 * piece; 0: no kink. */
void helium_model_kink(const struct helium_model *model, uint32_t *begin, uint32_t *width);
void helium_table_energy(const struct helium_model *model, unsigned binades,
                         struct helium_cubic_host *table);
/* The cubic through f at the four nodes of [0, h]; and node i of [start, start + h]. */
struct helium_cubic_host helium_cubic_fit(const double f[4], double h);
double helium_cubic_node(double start, double h, int i);
/* HELIUM_R_SIZE pieces for the inverse of the normal tail, then for the logarithm. */
void helium_table_random(struct helium_cubic_host *table);

/* Upper tail of the standard normal distribution and its inverse (0 < p <= 1/2). */
double helium_normal_tail(double z);
double helium_normal_inverse(double p, double start);

#endif
