/* Random ferromagnetic couplings and dilution, and the field of the ghost spin
 * (cl/swendsen_wang/sites.h): keys, checks and parameters. */
#include <math.h>

#include "base/portable.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/swendsen_wang/sites/sites.h"

bool sw_is_disordered(const struct ergo_point *point) {
    return of_lattice(point)->disorder.present;
}

/* A field of 0 that is given may be one of a scan. Unit vectors have no such key. */
bool sw_has_field(const struct ergo_point *point) {
    return sw_is_potts(point) && of_lattice(point)->field.present;
}

bool sw_is_plain(const struct ergo_point *point) {
    return !sw_is_disordered(point) && !sw_has_field(point);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const char *const disorders[] = {"bimodal", NULL};

#define WITH_DISORDER .acts = sw_is_disordered, .where = "with disorder"

const struct ergo_key sw_disorder_keys[SW_DISORDER_KEYS] = {
    {LATTICE_DISORDER(disorders),
     .help = "Random couplings J_ij >= 0, in units of /system/coupling: bimodal, 1 or "
             "disorder_ratio (0: bonds are missing). Each replica has a sample of its own, the one "
             "that spin-lattice's ising, potts, xy, clock and heisenberg have with the same seed "
             "and replica."},
    {LATTICE_DISORDER_SEED,
     .help = "The seed of random couplings; /seed if not given. They depend on it and on the "
             "replica, not on the temperature: a scan over it has the same ones.",
     WITH_DISORDER},
    {LATTICE_KEY(negative_fraction, "/system/negative_fraction", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0, .max = 1, .unit = "",
     .help = "The probability that a bond has the coupling disorder_ratio; 0.5 if not given. (The "
             "name is spin-lattice's, where that coupling may be negative.)",
     WITH_DISORDER},
    {LATTICE_KEY(disorder_ratio, "/system/disorder_ratio", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0, .max = 1, .unit = "",
     .help = "Required with disorder: the other coupling, drawn with negative_fraction, over the "
             "first. 0: bonds are missing; else a random ferromagnet of strong and weak bonds. "
             "Negative ones frustrate, and clusters do not serve then: model spin-glass of "
             "spin-lattice has them.",
     WITH_DISORDER},
};

const struct ergo_key sw_field_keys[SW_FIELD_KEYS] = {
    {LATTICE_KEY(field, "/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0,
     .max = 1e6, .unit = "J",
     .help = "Field B on the first state, 0 (start ordered): -B for each site in it, as in "
             "spin-lattice's potts; hamiltonian ising: -B s, s = 1 in state 0. By one ghost spin "
             "in state 0, to which sites in state 0 have a bond with probability 1 - exp(-B/T), of "
             "Ising's units 1 - exp(-2 B/T) (Kasteleyn and Fortuin 1969): clusters with such a "
             "bond stay as they are. What takes sums over clusters for moments is not there: psi2, "
             "psi4, moment_ratio, cluster_susceptibility, correlations.",
     .acts = sw_is_sampled, .where = "with method sample"},
};

/* ---- checks and parameters ------------------------------------------------------------------- */

static double ratio_of(const struct ergo_point *point) {
    return of_lattice(point)->disorder_ratio.real;
}

bool sw_samples_differ(const struct ergo_point *point) {
    const struct ergo_value *fraction = &of_lattice(point)->negative_fraction;
    return sw_is_disordered(point) && ratio_of(point) != 1 &&
           !(fraction->present && (fraction->real == 0 || fraction->real == 1));
}

enum ergo_status sw_disorder_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const bool disordered = sw_is_disordered(point);
    if (!sw_is_plain(point) && ergo_says(point->parameters->distribute, "lattice"))
        return ergo_job_error(ctx, "/distribute",
                              "\"lattice\" cuts lattices without %s over ranks; use \"points\", "
                              "which spreads replicas and scan points",
                              disordered ? "disorder" : "a field");
    if (!disordered)
        return ERGO_OK;
    if (!of_lattice(point)->disorder_ratio.present)
        return ergo_job_error(ctx, "/system/disorder_ratio",
                              "missing; needed with disorder: a number from 0 (bonds are missing) "
                              "to 1, the other coupling over the first. (Without it spin-lattice "
                              "takes -1, which frustrates)");
    if (sw_adapts(point) && ratio_of(point) != 0 && sw_is_potts(point))
        return ergo_job_error(ctx, "/system/disorder_ratio",
                              "%g, and method probability-changing with model potts has one bond "
                              "probability, that of the strong bonds: use 0, missing bonds",
                              ratio_of(point));
    return ERGO_OK;
}

void sw_disorder_fill(const struct ergo_point *point, struct sw_site_member *member) {
    const double of_unit = sw_is_ising(point) ? 2 : 1;
    if (sw_has_field(point))
        member->ghost =
            sw_chance_of(1 - ergo_portable_exp(-of_unit * of_lattice(point)->field.real /
                                               point->parameters->temperature),
                         SW_ALWAYS_GHOST, &member->always);
    if (!sw_is_disordered(point))
        return;
    const struct ergo_value *fraction = &of_lattice(point)->negative_fraction;
    uint32_t key[2];
    glass_disorder_key(point, key);
    member->seed0 = key[0];
    member->seed1 = key[1];
    member->share =
        sw_chance_of(fraction->present ? fraction->real : 0.5, SW_ALL_WEAK, &member->always);
    member->ratio = (float)ratio_of(point);
    if (sw_is_potts(point) && ratio_of(point) > 0)
        member->weak = sw_chance_of(
            1 - ergo_portable_exp(-of_unit * ratio_of(point) * of_lattice(point)->coupling.real /
                                  point->parameters->temperature),
            SW_ALWAYS_WEAK, &member->always);
}

void sw_disorder_unit(const struct ergo_point *point, struct sw_unit *unit) {
    unit->ratio = sw_is_disordered(point) ? ratio_of(point) : 1;
    unit->field = sw_has_field(point) ? of_lattice(point)->field.real : 0;
}

void sw_disorder_energy(const struct sw_sites_shape *h, const struct sw_unit *unit,
                        const struct sw_counts *c, const struct sw_found *found, double *columns) {
    const double n = (double)h->sites, j = unit->coupling, first = (double)c->states[0] / n;
    const double unequal = (double)found->weak[0] / n, weak = (double)found->weak[1] / n;
    if (h->disordered) /* of the weak bonds, instead of as many strong ones */
        columns[SW_COLUMN_ENERGY] +=
            unit->ising ? j * ((1 - unit->ratio) * weak + 2 * unit->ratio * unequal)
                        : j * unit->ratio * unequal;
    if (!h->field)
        return;
    columns[SW_COLUMN_ENERGY] -= unit->field * (unit->ising ? 2 * first - 1 : first);
    columns[SW_COLUMN_FIRST_STATE] = first;
}
