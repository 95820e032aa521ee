/* Tables of the Potts models, which two implementations share: sw.h and sites/. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_TABLES_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_TABLES_H

#include "samplers/sampler.h"
#include "samplers/swendsen_wang/sw.h"

/* observables.c */
enum { SW_OBSERVABLES = 35, SW_CURVES = 2, SW_CONJUGATES = 1 };
enum { SW_CURVE_SIZES, SW_CURVE_CORRELATION };
extern const struct ergo_column sw_columns[SW_COLUMNS];
extern const struct ergo_observable sw_observables[SW_OBSERVABLES];
extern const struct ergo_conjugate sw_conjugates[SW_CONJUGATES];
extern const struct ergo_curve_info sw_curves[SW_CURVES];
bool sw_has_column(const struct ergo_point *point, size_t c);
size_t sw_curve_size(const struct ergo_point *point, size_t c);
void sw_curve_x(const struct ergo_point *point, size_t c, double *x);
/* Sites of the lattice. */
double sw_sites(const struct ergo_point *point);

#endif
