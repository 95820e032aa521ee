/*
 * External potentials and one-body factors from tables, of a trap by the distance from its middle,
 * of a slab by the height over its middle plane: cubics on equal pieces (of r^2, of z) that kernels
 * read behind the sites (cl/helium/params.h). What has no file of its own is harmonic.
 */
#ifndef ERGO_SAMPLERS_HELIUM_EXTERNAL_H
#define ERGO_SAMPLERS_HELIUM_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/job.h"

struct helium_model;
struct helium_member;
struct ergo_radial;

struct helium_external {
    struct ergo_radial *v, *w; /* V and ln phi from files; owned; NULL: harmonic */
    double begin, end;         /* of the table, A */
    double top;                /* the largest ln phi in it */
    double middle;             /* mean place of an atom of phi along a slab's axis, A */
};

/* HELIUM_ONE_NONE, _SITES, _TRAP or _SLAB of cl/helium/params.h. */
uint32_t helium_one_table(const struct ergo_point *point);
bool helium_external_is_harmonic(const struct ergo_point *point);
bool helium_factor_is_gaussian(const struct ergo_point *point);

/* Read the files of a point and check that they suit; set `one.c` to that of a Gaussian as wide as
 * phi. */
enum ergo_status helium_external_load(struct ergo_context *ctx, const struct ergo_point *point,
                                      struct helium_model *model);
void helium_external_free(struct helium_model *model);
/* V and ln phi of an atom, with their first two derivatives, at a distance or height x. */
void helium_external_at(const struct helium_model *model, double x, double v[3], double w[3]);
/* Words of the table, behind the sites; 0: none. Of what is harmonic it has x^2 and -x^2/2, with
 * the member's factors one_v and one_w. */
size_t helium_external_words(const struct ergo_point *point);
void helium_external_table(const struct helium_model *model, int32_t *out);
void helium_external_member(const struct helium_model *model, struct helium_member *member);
/* As helium_site_shares. */
void helium_external_shares(const struct helium_model *model, double usual[4], double largest[4]);

#endif
