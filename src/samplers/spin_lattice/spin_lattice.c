/* spin-lattice: the sampler, which chooses the model's ops. */
#include "samplers/spin_lattice/spin_lattice.h"

#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/glass.h"

static const struct ergo_tunable tunables[] = {
    {"path",
     "0 automatic, 1 one member per work-group in local memory, 2 stripes with halos, "
     "3 half a sweep per launch. Facilitated dynamics: 1 windows of attempts in a work-group, "
     "2 many work-groups with tiles and halos, 3 one work-item for each 32 realisations",
     0, 3, false},
    {"work_group", "work-items per group (a power of two); facilitated: attempts per window", 0,
     1024, true},
    {"tile_sweeps", "path 2: sweeps per launch", 0, 16, false},
    {"tile_rows", "path 2: rows per work-group; a byte per spin: rows per work-item, 1, 2, 4 or 8",
     0, 4096, false},
    {"tile_columns", "path 2, facilitated: columns per work-group", 0, 4096, false},
    {"halo", "path 2, facilitated: sites around a tile; where it was too small, work is repeated",
     0, 64, false},
    {"segment", "path 2, facilitated: attempts between exchanges of tiles", 0, 262144, false},
    {"lanes", "kernels with explicit vectors of eight, on CPUs only: 0 automatic, 1 yes, 2 no", 0,
     2, false},
};

/* Of spin glasses none: 32 samples share a word, and no picture tells a glass. */
static bool has_frames(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    double sites = 1;
    for (int k = 0; k < size->items; k++)
        sites *= (double)size->size[k];
    return !glass_is(point) && sites <= MODEL_FRAME_SITES;
}

static const struct ergo_sampler_info info = {
    .name = "spin-lattice",
    .summary = "Lattice spin models: Ising and Potts models at equilibrium, facilitated dynamics "
               "near a glass transition",
    .citation = "T. Levy, G. Cohen, E. Rabani, Simulating lattice spin models on GPUs, "
                "J. Chem. Theory Comput. 6, 3293 (2010)",
    .programs = {"spin_lattice/ising_global.cl", "spin_lattice/ising_local.cl",
                 "spin_lattice/ising_tile.cl", "spin_lattice/ising_lanes_local.cl",
                 "spin_lattice/ising_lanes_global.cl", "spin_lattice/ising_lanes_tile.cl",
                 "spin_lattice/facilitated.cl", "spin_lattice/facilitated_tiles.cl",
                 "spin_lattice/facilitated_lambda.cl", "spin_lattice/bytes.cl",
                 "spin_lattice/glass.cl", "spin_lattice/glass_local.cl",
                 "spin_lattice/glass_temper.cl", "spin_lattice/glass_measure.cl",
                 "spin_lattice/glass_border.cl"},
    .step_name = "sweep",
    .rate_unit = "spin updates per second",
    .keys = spin_lattice_keys,
    .n_keys = SPIN_LATTICE_KEYS,
    .columns = spin_lattice_columns,
    .n_columns = COLUMNS,
    .has_column = spin_lattice_has_column,
    .observables = spin_lattice_observables,
    .n_observables = SPIN_LATTICE_OBSERVABLES,
    .curves = spin_lattice_curves,
    .n_curves = CURVES,
    .curves_at_end = ((1u << CURVE_HALVES) - (1u << CURVE_LADDER_ENERGY)) | 1u << CURVE_EXCHANGES |
                     1u << CURVE_ROUND_TRIPS | ((1u << (CURVE_FROZEN + 1)) - (1u << CURVE_PHI)),
    .curves_hidden = 1u << CURVE_MOMENTS | 1u << CURVE_HALVES | 1u << CURVE_SAMPLES |
                     1u << CURVE_EXCHANGES | 1u << CURVE_ROUND_TRIPS,
    .curves_sums = 1u << CURVE_SAMPLES | 1u << CURVE_EXCHANGES,
    .tunables = tunables,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .frame_suffix = "vti",
    .trajectory =
        "configurations as VTK image data, a value for each site (of facilitated dynamics the "
        "first realisation), of lattices up to 2^22 sites; of spin glasses none",
    .has_frames = has_frames,
    .state_version = 1,
};

/* ---- models ---------------------------------------------------------------------------------- */

static const struct ergo_sampler_ops *model_of(const struct ergo_point *point) {
    return model_is_facilitated(point) ? &facilitated_ops
           : glass_is(point)           ? &glass_ops
           : bytes_is(point)           ? &bytes_ops
                                       : &ising_ops;
}

/* Every state begins with its model's ops. */
static const struct ergo_sampler_ops *model_in(const void *state) {
    return *(const struct ergo_sampler_ops *const *)state;
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    if (model_is_facilitated(point) && ergo_point_value(point, "/system/size")->items != 2)
        return ergo_job_error(ctx, "/system/size", "facilitated dynamics has two dimensions");
    if (!glass_is(point) && strcmp(ergo_point_text(point, "/distribute"), "lattice") == 0)
        status =
            ergo_job_error(ctx, "/distribute",
                           "\"lattice\": of the models only spin-glass can be cut into pieces");
    const enum ergo_status other = model_of(point)->check(ctx, point);
    return status == ERGO_OK ? other : status;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    return model_of(batch->points[0])->plan(ctx, batch, device, plan);
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    return model_of(batch->points[0])->create(ctx, batch, device, state);
}

static enum ergo_status init(struct ergo_context *ctx, void *state) {
    return model_in(state)->init(ctx, state);
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    return model_in(state)->advance(ctx, state, slot, count, every, first_sample);
}

static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    return model_in(state)->collect(ctx, state, slot, samples);
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    return model_of(point)->curve_size(point, c);
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    model_of(point)->curve_x(point, c, x);
}

static uint64_t curve_every(const struct ergo_point *point) {
    return model_of(point)->curve_every(point);
}

static enum ergo_status count(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_curve *own) {
    const struct ergo_sampler_ops *model = model_in(state);
    return model->count ? model->count(ctx, state, member, own) : ERGO_OK;
}

static enum ergo_status end_curves(struct ergo_context *ctx, void *state, size_t member,
                                   struct ergo_curve *own) {
    const struct ergo_sampler_ops *model = model_in(state);
    return model->end_curves ? model->end_curves(ctx, state, member, own) : ERGO_OK;
}

static enum ergo_status save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    return model_in(state)->save(ctx, state, member, text);
}

static enum ergo_status load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    return model_in(state)->load(ctx, state, member, step, bytes, length);
}

static enum ergo_status audit(struct ergo_context *ctx, void *state) {
    return model_in(state)->audit(ctx, state);
}

static enum ergo_status picture(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_picture *picture) {
    return model_in(state)->picture(ctx, state, member, picture);
}

static enum ergo_status frame(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text) {
    const struct ergo_sampler_ops *model = model_in(state);
    return model->frame ? model->frame(ctx, state, member, text) : ERGO_OK;
}

static double exact(const struct ergo_point *point, const char *observable) {
    return model_of(point)->exact(point, observable);
}

static const char *remedy(const struct ergo_point *point) {
    return model_of(point)->remedy ? model_of(point)->remedy(point) : NULL;
}

static const char *reference(const struct ergo_point *point) {
    return model_of(point)->reference ? model_of(point)->reference(point) : NULL;
}

static void destroy(void *state) {
    if (state)
        model_in(state)->destroy(state);
}

static const struct ergo_sampler_ops ops = {
    .check = check,
    .plan = plan,
    .create = create,
    .init = init,
    .advance = advance,
    .collect = collect,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = curve_every,
    .count = count,
    .end_curves = end_curves,
    .save = save,
    .load = load,
    .audit = audit,
    .picture = picture,
    .frame = frame,
    .exact = exact,
    .remedy = remedy,
    .reference = reference,
    .destroy = destroy,
    .cut = &glass_cut_ops,
    .can_cut = glass_is,
};

const struct ergo_sampler ergo_spin_lattice = {&info, &ops};
