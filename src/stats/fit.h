/* Fits by least squares, and the small linear algebra that they need. Numbers in, numbers out. */
#ifndef ERGO_STATS_FIT_H
#define ERGO_STATS_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* a[n][n], symmetric, of which the lower triangle is read, becomes L with a = L L^T (upper triangle
 * unspecified). False: it is not positive definite. */
bool ergo_fit_cholesky(double *a, size_t n);
/* b becomes a^-1 b. */
void ergo_fit_solve(const double *l, size_t n, double *b);

/* The probability that chi^2 with dof degrees of freedom is that large or larger. */
double ergo_fit_tail(double chi2, size_t dof);

enum { ERGO_FIT_PARAMETERS = 12 };

/* What a model predicts for all data, predicted[n]. */
typedef void (*ergo_fit_model)(const double *parameters, double *predicted, void *user);

struct ergo_fit {
    double chi2, tail; /* tail: the probability of this chi2 or a larger one, 1 where dof is 0 */
    size_t dof;
    double value[ERGO_FIT_PARAMETERS], error[ERGO_FIT_PARAMETERS];
};

/*
 * Least squares by Levenberg's and Marquardt's method. value[n_parameters] of *fit holds the start.
 * The covariance of the n data y is covariance[n][n], or, where that is NULL, error[n]^2 on its
 * diagonal. False: no memory, fewer data than parameters, a covariance that is not positive
 * definite, no convergence, or parameters that the data do not determine.
 */
bool ergo_fit_least_squares(ergo_fit_model model, void *user, const double *y, const double *error,
                            const double *covariance, size_t n, size_t n_parameters,
                            struct ergo_fit *fit);

/*
 * The same fit, by error[n] alone, where data are not independent: y[i] owes owed[i][k] to piece k
 * of n_pieces independent ones. The errors are those of what the parameters owe, to first order.
 * chi^2 is then a sum of squares that are not independent, and its tail that of a chi^2
 * distribution with the same mean and variance (Satterthwaite, Biometrics Bull. 2, 110 (1946)).
 * False: no memory.
 */
bool ergo_fit_share(ergo_fit_model model, void *user, const double *error, const double *owed,
                    size_t n, size_t n_pieces, size_t n_parameters, struct ergo_fit *fit);

/* The polynomial of that degree (at most 5) through n data with errors (all > 0), at x = `at`:
 * sum weight[i] y[i]. False: fewer different x than coefficients. */
bool ergo_fit_polynomial(const double *x, const double *error, size_t n, size_t degree, double at,
                         double *weight);

/* Value at x0 of the least-squares polynomial of that degree (0 to 8) through n points. */
double ergo_fit_extrapolate(const double *x, const double *y, size_t n, int degree, double x0);

#endif
