/* A sum of cubic B-splines on equal knots, which ends with two derivatives at `half`. Only IEEE
 * basic operations. */
#ifndef ERGO_SAMPLERS_HELIUM_SPLINE_H
#define ERGO_SAMPLERS_HELIUM_SPLINE_H

enum { HELIUM_MOST_KNOTS = 40 };

struct helium_spline {
    unsigned knots;      /* coefficients; 0: the function is 0 */
    double begin, width; /* the first one is not 0 from `begin` on, each over 4 widths */
    double c[HELIUM_MOST_KNOTS];
};

void helium_spline_place(struct helium_spline *s, unsigned knots, double begin, double end);
/* Values, slopes and curvatures at r of the four that may not be 0; returns the first one's number,
 * which may be below 0, as the last one's may be beyond the end. */
int helium_spline_basis(const struct helium_spline *s, double r, double out[4][3]);
/* Add it to a function, its slope and its curvature. */
void helium_spline_add(const struct helium_spline *s, double r, double out[3]);

#endif
