/*
 * What all samplers of liquid helium share besides the pair functions (model.h): keys and their
 * checks, starts, the serial twin of an atom's energies, curves.
 */
#ifndef ERGO_SAMPLERS_HELIUM_LIQUID_H
#define ERGO_SAMPLERS_HELIUM_LIQUID_H

#include "helium/params.h"
#include "samplers/helium/model.h"
#include "samplers/sampler.h"

/* ---- keys.c, check.c --------------------------------------------------------------------------
 */

enum { HELIUM_N_LIQUID_KEYS = 13, HELIUM_N_STRUCTURE_KEYS = 7 };
/* The atoms, their box, V and psi; curves and frames. */
extern const struct ergo_key helium_liquid_keys[HELIUM_N_LIQUID_KEYS];
extern const struct ergo_key helium_structure_keys[HELIUM_N_STRUCTURE_KEYS];
#define HELIUM_LIQUID_KEYS                                                                         \
    { helium_liquid_keys, HELIUM_N_LIQUID_KEYS }
#define HELIUM_STRUCTURE_KEYS                                                                      \
    { helium_structure_keys, HELIUM_N_STRUCTURE_KEYS }
uint32_t helium_dimensions(const struct ergo_point *point);
/* Proportions of the sides; in two dimensions the third is 1. */
void helium_aspect(const struct ergo_point *point, int64_t aspect[3]);
bool helium_is_schiff_verlet(const struct ergo_point *point);
bool helium_is_two_body(const struct ergo_point *point);
/* The liquid and /system/walkers, /system/start. added: as of helium_model_load. */
enum ergo_status helium_check_liquid(struct ergo_context *ctx, const struct ergo_point *point,
                                     uint32_t added);

/* ---- members ----------------------------------------------------------------------------------
 */

/* Everything but the tuning of displacements. */
void helium_member_of(const struct ergo_point *point, const struct helium_model *model,
                      struct helium_member *member);
/* Energies of a walker in K per atom: V and r V' with their tails, -lambda lap ln psi, and
 * lambda |grad ln psi|^2. */
struct helium_energies {
    double potential, virial, laplacian, gradient;
};
struct helium_energies helium_energies_of(const struct helium_model *model,
                                          const struct helium_sums *sums);

/* ---- lattice.c, start.c -----------------------------------------------------------------------
 */

/* Sites of the starting lattice along each side, in proportion to the sides, at least n in all. */
void helium_lattice_sites(const struct ergo_point *point, uint32_t sites[4]);
/* Places [3][n] of a walker: atom i is at site i S / n of S sites, at most a tenth of the site's
 * width away from its middle. */
void helium_lattice_start(const uint32_t sites[4], const struct helium_member *member, uint32_t n,
                          uint32_t walker, int32_t *place);
/* Read `walkers` walkers [3][n] from the frames of the job's file, in turn if there are
 * fewer frames. places NULL: only check the file. */
enum ergo_status helium_start_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct helium_model *model, uint32_t walkers,
                                   int32_t *places);
/* Does the host make the first places of a point? From a file, near the sites, or in a plane. */
bool helium_start_by_host(const struct ergo_point *point);
/* The first places of a member's walkers, also where a kernel makes them. lattice: as of
 * helium_lattice_sites. */
enum ergo_status helium_start_places(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct helium_model *model,
                                     const struct helium_member *member, const uint32_t lattice[4],
                                     uint32_t walkers, int32_t *places);
/* Write those of all members of a batch to a buffer. */
enum ergo_status helium_start_write(struct ergo_context *ctx, struct ergo_engine *e,
                                    unsigned buffer, const struct helium_model *models,
                                    const struct helium_member *members, const uint32_t lattice[4],
                                    uint32_t walkers);
/* Can a run have these places of a walker? In two dimensions the third coordinates are 0. */
bool helium_places_fit(const struct helium_model *model, const int32_t *place);
enum ergo_status helium_start_parse(struct ergo_context *ctx, const char *path, const char *text,
                                    size_t length, const struct helium_model *model,
                                    uint32_t walkers, int32_t *places);

/* A walker as a frame; more: further properties of it, "walker=3". */
void helium_frame_append(struct ergo_text *text, const struct helium_model *model, const char *more,
                         const int32_t *place);

/* ---- atoms.c: what the kernels find of an atom ------------------------------------------------
 */

struct helium_triplet;

struct helium_atoms {
    const struct helium_member *member;
    const struct helium_cubic_host *e_table; /* of `binades` binades */
    const struct helium_cubic_host *u_table; /* likewise; only for helium_atoms_u */
    unsigned binades;
    uint32_t n;
    const int32_t *place; /* [3][n] */
    const int32_t *sites; /* likewise; NULL: no one-body factor */
    /* NULL, or the triplet factor, its table, and G of all atoms, [3][n] */
    const struct helium_triplet *triplet;
    const struct helium_cubic_host *t_table;
    const int32_t *field;
};
void helium_atoms_place(const struct helium_atoms *atoms, uint32_t i, uint32_t a[3]);
/* a minus the position of atom j, to the nearest image, in 2^-32 of the sides; and the square of
 * such a difference in units of the cut. */
void helium_atoms_difference(const struct helium_atoms *atoms, const uint32_t a[3], uint32_t j,
                             float d[3]);
float helium_atoms_distance2(const struct helium_atoms *atoms, const float d[3]);
/* The part of ln psi that atom i has by its site, if it is at a. */
int32_t helium_atoms_site(const struct helium_atoms *atoms, uint32_t i, const uint32_t a[3]);
/* That and the sum of u over the pairs of atom i. */
int64_t helium_atoms_u(const struct helium_atoms *atoms, uint32_t i, const uint32_t a[3]);
/* Add what atom i has of its site or table: to the sums over pairs of V, x dV/dx, u'/r and x
 * d(u'/r)/dx, and to `raw`. */
void helium_atoms_one(const struct helium_atoms *atoms, uint32_t i, float share[4], float raw[3]);
/* Atom i's shares of the energies, and the sum of sqrt(lambda) u'/r times differences of places,
 * in 2^-32 of the sides. */
void helium_atoms_share(const struct helium_atoms *atoms, uint32_t i, float share[HELIUM_E_KINDS],
                        float raw[3]);
/* Add a share to the totals; `marks` gets those that do not fit. Then the sums of these totals. */
void helium_atoms_add(const struct helium_member *member, const float share[HELIUM_E_KINDS],
                      int64_t total[HELIUM_E_KINDS], uint64_t *marks);
void helium_atoms_total(const int64_t total[HELIUM_E_KINDS], uint64_t marks,
                        struct helium_sums *sums);
/* The sums of a walker, but for ln psi and accepted moves. */
void helium_atoms_sums(const struct helium_atoms *atoms, struct helium_sums *sums);

/* ---- triplet.c, triplet_atoms.c ---------------------------------------------------------------
 */

void helium_triplet_fill(const struct helium_model *model, const struct helium_member *member,
                         struct helium_triplet *triplet);
/* G of all atoms from their places, to field [3][n]. */
void helium_atoms_field(const struct helium_atoms *atoms, int32_t *field);
/* The part of ln psi that is not in u, in units of 2^-HELIUM_U_BITS. */
int64_t helium_atoms_triplet(const struct helium_atoms *atoms);
/* What it changes by if atom i goes to a. field: G then, [3][n]. */
int64_t helium_atoms_triplet_change(const struct helium_atoms *atoms, uint32_t i,
                                    const uint32_t a[3], int32_t *field);
/* Add the factor's gradient to an atom's `raw`; returns its share of the laplacian's slope. */
float helium_atoms_triplet_share(const struct helium_atoms *atoms, uint32_t i, float raw[3]);

/* ---- structure.c ------------------------------------------------------------------------------
 */

/* Curves from positions [walkers][3][n] in 2^-32 of the sides; pure functions. */
size_t helium_gr_size(const struct ergo_point *point);
void helium_gr_x(const struct ergo_point *point, double *x);
void helium_gr(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *gr);
/* The pair distribution by vectors: bins^2 cells; 0: not measured. */
size_t helium_pair_map_size(const struct ergo_point *point);
void helium_pair_map_x(const struct ergo_point *point, double *x);
void helium_pair_map(const struct ergo_point *point, const struct helium_model *model,
                     const int32_t *places, uint32_t walkers, double *map);
#define HELIUM_PAIR_MAP(MIXED)                                                                     \
    {                                                                                              \
        "pair_map", "cell", "",                                                                    \
            "pairs by the vector between them, over those of as many atoms spread evenly over "    \
            "the box, on pair_map_bins^2 cells row by row. In three dimensions columns are the "   \
            "distance along x and y, from 0 to half the shorter of these sides, rows that along "  \
            "z, from 0 to half that side; in two, columns are x and rows y, from minus half to "   \
            "half the sides" MIXED                                                                 \
    }
size_t helium_sk_size(const struct ergo_point *point);
void helium_sk_x(const struct ergo_point *point, double *x);
void helium_sk(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *sk);
/* Sums of weights times cos(k d), for the wave vectors of helium_sk_x, means over equal k. d:
 * [3][count], in 2^-32 of the sides. */
void helium_cosines(const struct ergo_point *point, const struct helium_model *model,
                    const int32_t *d, size_t count, const double *weights, double *out);

#endif
