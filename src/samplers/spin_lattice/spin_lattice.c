/* spin-lattice: its models. */
#include "samplers/spin_lattice/spin_lattice.h"

#include "samplers/spin_lattice/list.h"

static const struct ergo_key model_key = {
    .pointer = "/system/model",
    .type = ERGO_KEY_ENUM,
    .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
    .fallback = "\"ising\"",
    .unit = "",
    .help = "Model; `ergocl help spin-lattice MODEL` lists its keys, observables and curves.",
};

#define ADDRESS(name) &(name),
static const struct ergo_model *const models[] = {SPIN_LATTICE_MODELS(ADDRESS)};

const struct ergo_sampler ergo_spin_lattice = {
    .name = "spin-lattice",
    .summary = "Lattice spin models: Ising, Potts, Blume-Capel, XY, clock, Heisenberg models at "
               "equilibrium, facilitated "
               "dynamics "
               "near a glass transition",
    .citation = "T. Levy, G. Cohen, E. Rabani, Simulating lattice spin models on GPUs, "
                "J. Chem. Theory Comput. 6, 3293 (2010)",
    .step_name = "sweep",
    .rate_unit = "spin updates per second",
    .state_version = 1,
    .model_key = &model_key,
    .models = models,
    .n_models = sizeof models / sizeof models[0],
};
