/*
 * The chains of helium-vmc and helium-dmc in serial C, bit for bit: one atom after the other, one
 * tooth of a comb after the other, sums of 64 bits. Shared with the kernels is the arithmetic of
 * single pairs, sites, random numbers, drifts and weights (core.h as C), which unit tests compare
 * with doubles, and the tables that the host makes. How pairs become sums, moves and measurements
 * is written separately.
 */
#ifndef ERGO_ORACLE_HELIUM_CHAIN_H
#define ERGO_ORACLE_HELIUM_CHAIN_H

#include "helium/triplet.h"
#include "helium_dmc/params.h"
#include "samplers/helium/liquid.h"

/* A walker. Tables have `binades` binades; those that a test does not need may be NULL. */
struct helium_oracle {
    const struct helium_member *member;
    const struct helium_cubic_host *u_table, *e_table, *random;
    unsigned binades;
    uint32_t n, walker, factor;
    int32_t *place;       /* [3][n] */
    const int32_t *sites; /* [3][n], then the one-body tables; NULL: no one-body factor */
    /* NULL, or a triplet factor, its table, G of all atoms [3][n], and memory for another G */
    const struct helium_triplet *triplet;
    const struct helium_cubic_host *t_table;
    int32_t *field, *next_field;
    int64_t ln_psi;
    uint32_t accepted, last; /* moves: in all, and of the last macroupdate */
};

/* The part of ln psi that atom i has by its site, if it is at a; and what it has there of its pairs
 * besides. */
int32_t helium_oracle_site(const struct helium_oracle *t, uint32_t i, const uint32_t a[3]);
int64_t helium_oracle_u(const struct helium_oracle *t, uint32_t i, const uint32_t a[3]);
/* Where atom i is. */
void helium_oracle_place(const struct helium_oracle *t, uint32_t i, uint32_t a[3]);
/* Compute G from the places. */
void helium_oracle_fields(struct helium_oracle *t);
/* 2 ln psi, the sum over ordered pairs, in units of 2^-HELIUM_U_BITS. */
int64_t helium_oracle_ln_psi(const struct helium_oracle *t);
/* Macroupdates. */
void helium_oracle_steps(struct helium_oracle *t, uint64_t step, uint64_t steps);
/* Add what atom i has of its site or table: to the sums over pairs of V, x dV/dx, u'/r and x
 * d(u'/r)/dx, and to the gradient. */
void helium_oracle_one(const struct helium_oracle *t, uint32_t i, float share[4], float raw[3]);
/* Atom i's shares of the energies, and its gradient: the sum of sqrt(lambda) u'/r times differences
 * of places, in 2^-32 of the sides. */
void helium_oracle_share(const struct helium_oracle *t, uint32_t i, float share[HELIUM_E_KINDS],
                         float raw[3]);
/* Add shares to a walker's sums, or mark those that do not fit. */
void helium_oracle_add(const struct helium_member *member, const float share[HELIUM_E_KINDS],
                       struct helium_sums *sums);
/* A measurement. */
struct helium_sums helium_oracle_energies(const struct helium_oracle *t);
/* Displacement p of the one-body density matrix after `step`: the sum of ratios over the atoms. */
int64_t helium_oracle_displaced(const struct helium_oracle *t, uint64_t step, uint32_t p,
                                uint32_t points);

/* ---- helium_population.c: helium-dmc ----------------------------------------------------------
 */

/* A member's walkers. */
struct helium_population {
    struct helium_oracle walker; /* what they share; its place is that of the walker at hand */
    const struct helium_dmc *dmc;
    uint32_t walkers;
    uint32_t remember;       /* steps whose growth is kept */
    uint32_t chosen, window; /* of pure curves: walkers, and steps of a window */
    /* [walkers][3][n]: after the step before the comb, after it, in the middle of the step */
    int32_t *next, *places, *middle;
    int32_t *euler;                  /* [3][n] of working memory */
    int64_t *next_records, *records; /* [walkers][HELIUM_DMC_RECORDS]; before, after the comb */
    struct helium_sums *sums;
    uint32_t *parents;                    /* whose places the walkers continue */
    uint64_t (*grown)[2];                 /* [remember]: mean energy and sum of weights of steps */
    uint32_t *next_ancestors, *ancestors; /* [walkers]; before, after the comb */
    int32_t *tags, *pure;                 /* their places; [chosen][3][n]: the last window's */
};

/* A step of walker number `walker`. from: its parent's places [3][n]; next, middle: places after
 * and in the middle of the step; sums: energies there. */
void helium_population_move(struct helium_population *p, uint64_t step, uint32_t walker,
                            const int32_t *from, int32_t *next, int32_t *middle,
                            struct helium_sums *sums);
/* A walker's records after that step. */
void helium_population_record(const struct helium_population *p, uint64_t step,
                              const struct helium_sums *sums, const int64_t *from, int64_t *next);
/* Whose places the walkers of the next step continue, from the sums of all walkers. grown: mean
 * energy and sum of the weights. */
void helium_population_comb(const struct helium_population *p, uint64_t step, uint64_t grown[2]);
/* All of that. */
void helium_population_step(struct helium_population *p, uint64_t step);

#endif
