/*
 * What all samplers of liquid helium share besides the pair functions (model.h): keys and their
 * checks, starts, curves.
 */
#ifndef ERGO_SAMPLERS_HELIUM_LIQUID_H
#define ERGO_SAMPLERS_HELIUM_LIQUID_H

#include "helium/params.h"
#include "samplers/helium/model.h"
#include "samplers/helium/parameters.h"
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
/* Marks of energies that the sums could not hold, of all walkers. */
uint64_t helium_marks_of(const struct helium_sums *sums, uint32_t walkers);

/* Write tables of all members, of so many pieces each, to a declared constant; a member that shares
 * the model of the one before it has the same. And the table of random numbers. */
void helium_write_table(struct ergo_engine *e, unsigned row, const struct helium_model *models,
                        bool (*shared)(const struct ergo_batch *batch, size_t member),
                        unsigned binades, size_t pieces,
                        void (*make)(const struct helium_model *model, unsigned binades,
                                     struct helium_cubic_host *table));
void helium_write_random(struct ergo_engine *e, unsigned row);

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
/* The first places of a member's walkers, also where a kernel makes them. lattice: as of
 * helium_lattice_sites. */
enum ergo_status helium_start_places(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct helium_model *model,
                                     const struct helium_member *member, const uint32_t lattice[4],
                                     uint32_t walkers, int32_t *places);
/* Write those of all members of a batch to a buffer, or launch the kernel helium_start. */
enum ergo_status helium_start_write(struct ergo_context *ctx, struct ergo_engine *e,
                                    const unsigned rows[3], const struct helium_model *models,
                                    const struct helium_member *members, const uint32_t lattice[4],
                                    uint32_t walkers);
enum { HELIUM_START_PLACES, HELIUM_START_MEMBERS, HELIUM_START_KERNEL }; /* rows[] */
/* Can a run have these places of a walker? In two dimensions the third coordinates are 0. */
bool helium_places_fit(const struct helium_model *model, const void *places);
enum ergo_status helium_start_parse(struct ergo_context *ctx, const char *path, const char *text,
                                    size_t length, const struct helium_model *model,
                                    uint32_t walkers, int32_t *places);

/* A walker as a frame; more: further properties of it, "walker=3". */
void helium_frame_append(struct ergo_text *text, const struct helium_model *model, const char *more,
                         const int32_t *place);

struct helium_triplet;

/* ---- triplet.c --------------------------------------------------------------------------------
 */

void helium_triplet_fill(const struct helium_model *model, const struct helium_member *member,
                         struct helium_triplet *triplet);

/* ---- structure.c ------------------------------------------------------------------------------
 */

/* Walkers that curves are computed from; 0: no curves. Measurements from one with curves to the
 * next. */
uint32_t helium_structure_walkers(const struct ergo_point *point);
uint64_t helium_curve_every(const struct ergo_point *point);
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
