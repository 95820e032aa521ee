/* Rules of ising and potts: where Metropolis samples, and what is said elsewhere. */
#include <math.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/models.h"

static bool is_potts(const struct ergo_point *point) {
    return of_lattice(point)->q > 0;
}

/* With fields or couplings of each site potts has no heat bath. */
static bool is_potts_of_sites(const struct ergo_point *point) {
    return is_potts(point) && bytes_shape_of(point).general;
}

bool model_metropolis_samples(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const struct ergo_value *ratio = &of_lattice(point)->disorder_ratio;
    const struct bytes_physics p = bytes_physics_of(point);
    const bool potts = is_potts(point);
    struct ergodic_lattice lattice = {.d = (uint32_t)size->items, .l = {1, 1, 1}, .b = p.b};
    /* one of two others is proposed by chance, and nothing goes in a cycle */
    if ((potts && of_lattice(point)->q > 2) ||
        ergo_says(of_lattice(point)->disorder.text, "gaussian"))
        return true;
    if (of_lattice(point)->disorder_file.present)
        return bytes_file_samples(point);
    for (uint32_t k = 0; k < lattice.d && k < 3; k++) {
        lattice.l[k] = size->size[k];
        lattice.j[k] = p.j[k];
    }
    lattice.signs = ergo_says(of_lattice(point)->disorder.text, "bimodal");
    lattice.missing = lattice.signs && ratio->present && ratio->real == 0;
    if (!potts && !of_lattice(point)->field_file.present) {
        if (p.h != 0 && ergo_says(of_lattice(point)->field_distribution.text, "gaussian"))
            return true;
        lattice.h = p.h;
    }
    /* a ratio makes other sums, which are not looked at */
    if (ratio->present && fabs(ratio->real) != 1)
        lattice.b = lattice.h = 0;
    return ergodic_lattice(&lattice);
}

const char *model_dynamics_instead(const struct ergo_point *point) {
    return is_potts_of_sites(point) || model_metropolis_samples(point) ? NULL : "heat-bath";
}

enum ergo_status model_dynamics_check(struct ergo_context *ctx, const struct ergo_point *point,
                                      bool samples) {
    if (samples || !ergo_says(of_lattice(point)->dynamics, "metropolis"))
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/dynamics",
                          "metropolis would flip all spins of a colour that feel no force, and "
                          "here sweeps may go in a cycle and not sample: %s",
                          is_potts_of_sites(point) ? "take model ising" : "use \"heat-bath\"");
}
