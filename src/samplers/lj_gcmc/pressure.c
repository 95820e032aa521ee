/* The pressure and its parts, of a sample. */
#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

static const double PI = 3.14159265358979323846;

/* The box is looked up alone, because a run asks for every sample, and of a density no cube root is
 * taken. The volume is a column where it changes. */
double lj_volume_at(const struct ergo_point *point, const double *c) {
    double box[3];
    if (lj_ensemble_of(point) == LJ_NPT)
        return c[LJ_COLUMN_VOLUME];
    if (lj_has_density(point) && !of_particle(point)->box.present)
        return (double)lj_particles_of(point) / of_lj(point)->density.real;
    lj_sides_of(point, box);
    return box[0] * box[1] * box[2];
}

/* P = -dF/dV at fixed N and r_c for the energy that is simulated, term by term. Averages over N
 * at fixed z give T d ln Xi/dV. */
double lj_pressure_virial(const struct ergo_point *point, const double *c) {
    return c[LJ_COLUMN_VIRIAL] / (3 * lj_volume_at(point, c));
}

/* lj_jump_of (potential.c) derives W_imp. */
double lj_pressure_impulsive(const struct ergo_point *point, const double *c) {
    return c[LJ_COLUMN_IMPULSIVE] / (3 * lj_volume_at(point, c));
}

/* -dU_tail/dV with U_tail = a N^2/V, the energy in the acceptances: U_tail/V. The usual P_tail
 * (lj_pressure_corrected) is this term plus the impulsive term with g(r_c) = 1, to first order in
 * u(r_c)/T. Here the impulsive term is measured. */
double lj_pressure_tail(const struct ergo_point *point, const double *c) {
    if (!of_lj(point)->tail_correction)
        return 0;
    struct lj_system s = lj_system_of(point);
    s.volume = lj_volume_at(point, c);
    const double energy = s.species.n ? lj_species_tail(&s, c + LJ_COLUMN_SPECIES) / s.volume
                                      : lj_tail_energy(&s, c[LJ_COLUMN_PARTICLES]);
    return energy / s.volume;
}

double lj_pressure_whole(const struct ergo_point *point, const double *c) {
    const double v = lj_volume_at(point, c);
    return c[LJ_COLUMN_PARTICLES] * point->parameters->temperature / v +
           c[LJ_COLUMN_VIRIAL] / (3 * v) + c[LJ_COLUMN_IMPULSIVE] / (3 * v) +
           lj_pressure_tail(point, c);
}

/* P_tail/rho^2 of pairs with g(r) = 1 beyond r_c: -(2 pi/3) times the integral of r^3 du/dr, by
 * parts (2 pi/3) r_c^3 u(r_c) and 2 pi times that of r^2 u. */
static double usual_tail(const struct lj_system *pair) {
    const double rc = pair->cutoff;
    return 2 * PI / 3 * rc * rc * rc * pair->unit * lj_pair_at_cutoff(pair) +
           lj_tail_coefficient(pair);
}

double lj_pressure_corrected(const struct ergo_point *point, const double *c) {
    const double v = lj_volume_at(point, c), *of = c + LJ_COLUMN_SPECIES;
    const struct lj_system s = lj_system_of(point);
    double pairs = 0;
    if (!s.species.n)
        pairs = c[LJ_COLUMN_PARTICLES] * c[LJ_COLUMN_PARTICLES] * usual_tail(&s);
    for (uint32_t a = 0; a < s.species.n; a++)
        for (uint32_t b = 0; b < s.species.n; b++) {
            const struct lj_system pair = lj_species_pair(&s, a, b);
            pairs += of[a] * of[b] * usual_tail(&pair);
        }
    return c[LJ_COLUMN_PARTICLES] * s.temperature / v + c[LJ_COLUMN_VIRIAL] / (3 * v) +
           pairs / (v * v);
}
