/*
 * A bosonic fluid in double precision on the host: pair functions of a point of the job, and the
 * tables of cubic pieces that the kernels evaluate. Pure functions of their arguments, and of IEEE
 * basic operations and square roots alone: every host makes the same tables.
 */
#ifndef ERGO_SAMPLERS_HELIUM_VMC_MODEL_H
#define ERGO_SAMPLERS_HELIUM_VMC_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"
#include "samplers/helium_vmc/curve.h"

struct helium_cubic_host {
    float c[4]; /* value = ((c3 t + c2) t + c1) t + c0, t from the start of the piece */
};

enum helium_potential { HELIUM_AZIZ, HELIUM_LENNARD_JONES };

struct helium_model {
    uint32_t n;
    double density, b;
    double lambda;  /* hbar^2 / 2m, K A^2 */
    double side[3]; /* A */
    double half;    /* half the shortest side: cut-off of V and u, A */
    double core;    /* below this distance V and u keep their value here, A */
    double step[3]; /* standard deviation of a displacement per component, units of the side */
    enum helium_potential potential;
    double epsilon, sigma;                  /* of Lennard-Jones: K, A */
    double kink;                            /* distance at which V'' jumps; 0: nowhere */
    struct helium_curve *v_curve, *f_curve; /* from files, owned; NULL: named forms */
    bool symmetrised;                       /* f_curve: about L/2 */
    /* What the cut leaves out of V/N and of 1/N sum r V' if g = 1 beyond it: K; 0: not wanted. */
    double tail_potential, tail_virial;
    int bits[4];    /* sums of V, r V', lap ln psi, (grad ln psi)^2 are in units of 2^-bits K */
    double unit[4]; /* 2^-bits */
};

/* lambda = hbar^2 / (2 m k_B) of a mass in u, CODATA 2018: K A^2. */
double helium_lambda(double mass);
/* Without what files say: box, named forms. */
void helium_model_of(const struct ergo_point *point, struct helium_model *model);
/* All of it. Errors of the job name its key. */
enum ergo_status helium_model_load(struct ergo_context *ctx, const struct ergo_point *point,
                                   struct helium_model *model);
void helium_model_free(struct helium_model *model);
/* Is this value of /system/potential or /system/wave_function the name of a file? */
bool helium_is_file(const char *text);
/* Of the files' bytes; 0: there are none. */
uint64_t helium_model_hash(const struct helium_model *model);

/* u, u', u'' at 0 < r < half (0 beyond). */
void helium_model_u(const struct helium_model *model, double r, double out[3]);
/* V and r V', whatever r; the cut is the caller's. */
void helium_model_v(const struct helium_model *model, double r, double out[2]);

/* fixed.c: `bits`, from what atoms can have at most. False: floats cannot hold it, or too little
 * would be left of what pairs have as a rule; then of the kind `kind`, `most` and `usual`, K. */
bool helium_fixed_point(struct helium_model *model, int *kind, double *most, double *usual);

/* tail.c: the two tails of a named potential, K per atom. */
void helium_tails(struct helium_model *model);

/* A distance as the argument of the pair tables, and the smallest argument in use. */
float helium_model_low(const struct helium_model *model);
/* Binades below 1 that hold helium_model_low. */
unsigned helium_model_binades(const struct helium_model *model);

/* (binades << HELIUM_U_PIECES) pieces of 2^HELIUM_U_BITS u, ready for truncation. */
void helium_table_u(const struct helium_model *model, unsigned binades,
                    struct helium_cubic_host *table);
/* helium_energy_pieces() times four powers of t, each a vector of four: V, r V', sqrt(lambda)
 * u'/r, -lambda (u'' + 2u'/r). The last piece is for the part beyond the kink of the piece that has
 * it. */
unsigned helium_energy_pieces(unsigned binades);
/* Bits of the argument at the kink and their number up to the end of its piece; 0: no kink. */
void helium_model_kink(const struct helium_model *model, uint32_t *begin, uint32_t *width);
void helium_table_energy(const struct helium_model *model, unsigned binades,
                         struct helium_cubic_host *table);
/* HELIUM_R_SIZE pieces of the inverse normal tail, then of the logarithm. */
void helium_table_random(struct helium_cubic_host *table);

/* Upper tail of the standard normal distribution and its inverse (0 < p <= 1/2). */
double helium_normal_tail(double z);
double helium_normal_inverse(double p, double start);

#endif
