/* spin-lattice: its models. */
#include "samplers/spin_lattice/spin_lattice.h"

#include "samplers/spin_lattice/models.h"

static const struct ergo_key model_key = {
    .pointer = "/system/model",
    .type = ERGO_KEY_ENUM,
    .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
    .fallback = "\"ising\"",
    .unit = "",
    .help = "Model; `ergocl help spin-lattice MODEL` lists its keys, observables and curves.",
};

static const struct ergo_model *const models[] = {
    &ising_model,
    &ising_lattice_model,
    &potts_model,
    &blume_capel_model,
    &north_east_model,
    &north_or_east_model,
    &east_model,
    &fredrickson_andersen_model,
    &spin_glass_model,
    &graph_model,
    &graph_walk_model,
    &sherrington_kirkpatrick_model,
    &random_orthogonal_model,
    &xy_model,
    &clock_model,
    &heisenberg_model,
};

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
