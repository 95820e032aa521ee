/*
 * Optimisation of all parameters of a wave function by stochastic reconfiguration (S. Sorella,
 * Phys. Rev. Lett. 80, 4558 (1998)): with O_k = d ln psi / d p_k, a step of `rate` in imaginary
 * time is
 *
 *     dp = -rate S^-1 f,   S_kl = <O_k O_l> - <O_k><O_l>,   f_k = <O_k E> - <O_k><E>.
 *
 * Walkers at one macroupdate are the sample of a step. Only IEEE basic operations, in a fixed
 * order.
 */
#ifndef ERGO_SAMPLERS_HELIUM_VMC_DESCENT_H
#define ERGO_SAMPLERS_HELIUM_VMC_DESCENT_H

#include "samplers/helium/model.h"

/* When parameters change: event k = 1, 2, ... is after macroupdate `start` + (quarter + k) `every`.
 * The first `quarter` events only measure, the other `updates` change them. */
struct helium_schedule {
    bool all; /* false: nothing is to be optimised */
    uint64_t start, every, quarter, updates;
};
struct helium_schedule helium_schedule_of(const struct ergo_point *point);
/* Macroupdates of the equilibration that it takes. */
uint64_t helium_schedule_length(const struct helium_schedule *schedule);
/* The number of the event after macroupdate step - 1; 0: none. And the next such step, beyond
 * `step`; UINT64_MAX: there is none. */
uint64_t helium_event_at(const struct helium_schedule *schedule, uint64_t step);
uint64_t helium_event_next(const struct helium_schedule *schedule, uint64_t step);

enum { HELIUM_MOST_PARAMETERS = HELIUM_MOST_KNOTS + 4 };

/* Which there are, in this order: b, coefficients of the spline, strength, centre and width. */
struct helium_parameters {
    bool b, triplet;
    unsigned knots, count;
    double core; /* the model's as the job begins, A: its tables reach no further in */
};
/* Gives the model its spline, with coefficients 0. */
struct helium_parameters helium_parameters_of(const struct ergo_point *point,
                                              struct helium_model *model);
void helium_parameters_get(const struct helium_parameters *which, const struct helium_model *model,
                           double *p);
/* Parameters that no run may have are limited; `p` gets what was taken. first: those of the job. */
void helium_parameters_set(const struct helium_parameters *which, const double *first, double *p,
                           struct helium_model *model);
/* O of a walker, from its places [3][n]. */
void helium_slopes(const struct helium_parameters *which, const struct helium_model *model,
                   const int32_t *place, double *slopes);

/* A member's optimisation: numbers that are saved with its state. */
struct helium_descent {
    double *first, *now; /* [count] of parameters: the job's, those in use */
    double *sum;         /* [count] over the second half of the updates */
    double *metric;      /* [count][count]: S, a running mean */
    double *energy;      /* [events]: mean energy per atom, K */
    double *square;      /* [events]: mean squared energy per atom of a walker */
};
size_t helium_descent_size(const struct helium_schedule *schedule,
                           const struct helium_parameters *which);
struct helium_descent helium_descent_view(const struct helium_schedule *schedule,
                                          const struct helium_parameters *which, double *numbers);
/* Event number k, with O [walkers][count] and energies per atom of the walkers. true: parameters
 * have changed. Energies far off are limited, in place. */
bool helium_descend(const struct helium_schedule *schedule, const struct helium_parameters *which,
                    const struct helium_descent *d, uint32_t n, double rate, uint64_t k,
                    const double *slopes, double *energies, uint32_t walkers);

/* Before the first update: mean energy per atom, its error, and the spread of a walker's. */
void helium_descent_before(const struct helium_schedule *schedule, const struct helium_descent *d,
                           uint32_t walkers, double out[3]);

#endif
