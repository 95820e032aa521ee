/* Tables of the Potts models, which two implementations share: sw.h and sites/. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_TABLES_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_TABLES_H

#include "samplers/lattice/moments.h"
#include "samplers/swendsen_wang/sw.h"

/* observables.c */
enum { SW_OBSERVABLES = 35, SW_CURVES = 2 };
enum { SW_CURVE_SIZES, SW_CURVE_CORRELATION };
extern const struct ergo_column sw_columns[SW_COLUMNS];
extern const struct ergo_observable sw_observables[SW_OBSERVABLES];
extern const struct ergo_curve_info sw_curves[SW_CURVES];
bool sw_has_column(const struct ergo_point *point, size_t c);
size_t sw_curve_size(const struct ergo_point *point, size_t c);
void sw_curve_x(const struct ergo_point *point, size_t c, double *x);

/* Also of unit vectors. */
/* clang-format off */
#define SW_CORRELATION_RATIO(where)                                                                \
    {ERGO_NAMED("correlation_ratio", ""),                                                          \
     .help = "correlation_half / correlation_quarter: curves of all sizes cross at the transition "\
             "(Y. Tomita, Y. Okabe, Phys. Rev. B 66, 180401 (2002)), and of a Kosterlitz-Thouless "\
             "transition merge below it. Of Potts models on square lattices of two dimensions "    \
             "with method sample: with /run/correlations",                                         \
     .inputs = {"correlation_half", "correlation_quarter"}, .derive = ergo_mean_ratio,             \
     .crosses = true, .applies = (where)}
#define SW_CORRELATION_QUARTER(column, where)                                                      \
    {ERGO_NAMED("correlation_quarter", ""),                                                        \
     .help = "the same, a quarter of a side apart; sides of 4 and more", ERGO_COLUMN(column),      \
     .of_moves = true, .applies = (where)}
/* clang-format on */

#endif
