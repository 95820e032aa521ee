/* The samplers of this build. To add one: its files, and a line here. */
#include "samplers/sampler.h"
#include "samplers/hard_disks/hard_disks.h"
#include "samplers/hard_spheres/hard_spheres.h"
#include "samplers/helium_dmc/helium_dmc.h"
#include "samplers/helium_vmc/helium_vmc.h"
#include "samplers/lj_gcmc/lj_gcmc.h"
#include "samplers/spin_lattice/spin_lattice.h"
#include "samplers/swendsen_wang/swendsen_wang.h"

static const struct ergo_sampler *const samplers[] = {
    &ergo_hard_disks, &ergo_hard_spheres, &ergo_helium_dmc,   &ergo_helium_vmc,
    &ergo_lj_fluid,   &ergo_lj_gcmc,      &ergo_spin_lattice, &ergo_swendsen_wang,
};
const struct ergo_sampler *const *ergo_samplers = samplers;
size_t ergo_n_samplers = sizeof samplers / sizeof samplers[0];
