/* helium-dmc: tables of the sampler, and what a job tells without a device. */
#include "samplers/helium_dmc/helium_dmc.h"

#include "base/divisor.h"
#include "engine/shares.h"
#include "samplers/helium_dmc/dmc.h"

#define SHAPE_CHAIN (ERGO_KEY_SHAPE | ERGO_KEY_CHAIN)

static bool walks_forward(const struct ergo_point *point) {
    return of_dmc(point)->forward_steps.integer > 0;
}

static const struct ergo_key keys[] = {
    {QUANTUM_KEY(walkers, "/system/walkers", INT),
     .flags = ERGO_KEY_FORM | SHAPE_CHAIN | ERGO_KEY_SCAN, .fallback = "512", .min = 2,
     .max = 1048576, .unit = "",
     .help = "Population: the number of walkers of a point, which the comb keeps. Its bias falls "
             "as 1/walkers: scan it."},
    {DMC_KEY(time_step, "/system/time_step", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "0.001", .min = 0,
     .max = 1, .unit = "1/K",
     .help = "Time step tau. Errors of energies are of the order tau^2 (Chin, Phys. Rev. A 42, "
             "6991 (1990); Boronat and Casulleras, Phys. Rev. B 49, 8920 (1994)): scan it."},
    {DMC_KEY(forward_steps, "/system/forward_steps", INT), .flags = ERGO_KEY_FORM | SHAPE_CHAIN,
     .fallback = "320", .min = 0, .max = 1e9, .unit = "steps",
     .help =
         "Window of forward walking, a multiple of 16: potential_pure is V of the ancestors so "
         "long ago (Casulleras and Boronat, Phys. Rev. B 52, 3654 (1995)); the curve "
         "potential_forward shows whether it is long enough. Ancestors before the first step have "
         "its V, so at most /run/equilibration, if given. 0: none."},
    {DMC_KEY(forward_structure, "/system/forward_structure", BOOL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE, .fallback = "false", .unit = "",
     .help =
         "Also g(r), S(k) and, with sites, the spread around these in the ground state: curves "
         "gr_pure, sk_pure, spread_pure, of /run/structure_walkers ancestors, which are new every "
         "forward_steps: /run/measure_every x /run/structure_every has to be a multiple of these. "
         "They are up to 2 forward_steps old: /run/equilibration is at least that, and "
         "what psi's distribution needs besides. The chain is the same.",
     .acts = walks_forward, .where = "with forward_steps above 0"},
    {DMC_KEY(correction_steps, "/system/correction_steps", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "0", .min = 0, .max = 65536, .unit = "steps",
     .help =
         "Steps before a measurement whose weights energy_corrected takes into account: 0.2/K and "
         "more in helium, less than /run/equilibration. With more than forward_steps "
         "potential_pure_corrected, too. The chain is the same. 0: none."},
    {QUANTUM_KEY(start, "/system/start", STRING), .flags = SHAPE_CHAIN | ERGO_KEY_FILE, .unit = "",
     .help = "Extended XYZ file whose frames are the walkers' first configurations (in turn, where "
             "there are fewer frames), in the job's box: snapshots of a run of helium-vmc, for "
             "instance (/run/frame_walkers). Absent: a lattice."},
    {JOB_SHARES,
     .help = "Shares of the ranks in a population cut over them (\"distribute\": \"lattice\"), "
             "walkers in a row; the chain does not depend on it. measured (if not given): by a "
             "short trial at the start, and again when the run has become slower; equal; or "
             "numbers > 0, \"3,1\", dealt out to the ranks in turn."},
};

static const struct ergo_column columns[] = {
    [DMC_ENERGY] = {"energy", "K per atom", "local energy, mixed"},
    [DMC_POTENTIAL] = {"potential", "K per atom", "V/N, mixed"},
    [DMC_GROWTH] = {"energy_growth", "K per atom", "from the sum of all weights"},
    [DMC_SQUARE] = {"energy2", "K^2", "square of a walker's local energy per atom, mixed"},
    [DMC_EFFECTIVE] = {"effective_walkers", "", "(sum w)^2 / (walkers sum w^2) of one step"},
    [DMC_PURE] = {"potential_pure", "K per atom", "V/N of the walkers' ancestors"},
    [DMC_LATE] = {"log_weight_half", "", "ln of the mean weights of half of the steps remembered"},
    [DMC_LONG] = {"log_weight", "", "ln of the mean weights of the steps remembered"},
};

#define SAMPLE(name, value)                                                                        \
    static double name(const struct ergo_point *point, const double *c) {                          \
        (void)point;                                                                               \
        return value;                                                                              \
    }
SAMPLE(sample_kinetic, c[DMC_ENERGY] - c[DMC_POTENTIAL])
SAMPLE(sample_kinetic_pure, c[DMC_ENERGY] - c[DMC_PURE])
SAMPLE(sample_late_energy, c[DMC_LATE] * c[DMC_ENERGY])
SAMPLE(sample_long_energy, c[DMC_LONG] * c[DMC_ENERGY])
SAMPLE(sample_long_pure, c[DMC_LONG] * c[DMC_PURE])
SAMPLE(sample_long_kinetic, c[DMC_LONG] * (c[DMC_ENERGY] - c[DMC_PURE]))

/* Means of X, L and L X. */
static double derive_corrected(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[0] + (m[2] - m[0] * m[1]);
}

static bool corrects(const struct ergo_point *point) {
    return of_dmc(point)->correction_steps.integer > 0;
}

/* The steps remembered reach back to the ancestors, and beyond. */
static bool corrects_pure(const struct ergo_point *point) {
    return walks_forward(point) &&
           of_dmc(point)->correction_steps.integer > of_dmc(point)->forward_steps.integer;
}

static bool pure_structure(const struct ergo_point *point) {
    return walks_forward(point) && of_dmc(point)->forward_structure;
}

static bool pure_solid(const struct ergo_point *point) {
    return helium_measures_solid(point) && pure_structure(point);
}

static bool has_column(const struct ergo_point *point, size_t c) {
    return c >= DMC_LATE ? corrects(point) : c != DMC_PURE || walks_forward(point);
}

#define MIXED "; mixed: the ground state's is near 2 x this - that of helium-vmc with the same psi"

#define BIASED " (forward_structure), with a bias of order 1/walkers: scan these"

/* First what is to be quoted. */
static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy_corrected", "K per atom"),
     .help = "energy of the ground state without the bias of the population, to first order in "
             "1/walkers: energy + its covariance with the ln of the mean weights of "
             "/system/correction_steps before it",
     .inputs = {"energy", "log_weight", "log_weight_energy"}, .derive = derive_corrected,
     .applies = corrects},
    {ERGO_NAMED("energy", "K per atom"),
     .help = "mixed estimate of the ground state's energy: mean local energy. Too high by a bias "
             "of order 1/walkers, which energy_corrected has not",
     ERGO_COLUMN(DMC_ENERGY), .merit = true},
    {ERGO_NAMED("potential_pure_corrected", "K per atom"),
     .help = "potential_pure without the bias of the population, as energy_corrected; with "
             "correction_steps above forward_steps",
     .inputs = {"potential_pure", "log_weight", "log_weight_potential_pure"},
     .derive = derive_corrected, .applies = corrects_pure},
    {ERGO_NAMED("kinetic_pure_corrected", "K per atom"), .help = "likewise of kinetic_pure",
     .inputs = {"kinetic_pure", "log_weight", "log_weight_kinetic_pure"},
     .derive = derive_corrected, .applies = corrects_pure},
    {ERGO_NAMED("potential_pure", "K per atom"),
     .help = "V/N in the ground state, by forward walking over /system/forward_steps, with a bias "
             "of order 1/walkers, which potential_pure_corrected has not",
     ERGO_COLUMN(DMC_PURE), .applies = walks_forward},
    {ERGO_NAMED("kinetic_pure", "K per atom"), .help = "energy - potential_pure, likewise",
     .sample = sample_kinetic_pure, .applies = walks_forward},
    {ERGO_NAMED("energy_growth", "K per atom"),
     .help = "growth estimate of energy: mean energy - ln(mean weight) / (N tau) of a step",
     ERGO_COLUMN(DMC_GROWTH)},
    {ERGO_NAMED("potential", "K per atom"),
     .help = "V/N, mixed: between that of psi and that of the ground state",
     ERGO_COLUMN(DMC_POTENTIAL)},
    {ERGO_NAMED("kinetic", "K per atom"), .help = "energy - potential, mixed",
     .sample = sample_kinetic},
    {ERGO_NAMED("energy_sigma", "K per atom"),
     .help = "spread of one walker's local energy: 0 where psi is exact",
     .inputs = {"energy", "energy2"}, .derive = ergo_mean_width},
    {ERGO_NAMED("effective_walkers", ""),
     .help = "part of the population that a step's weights are worth, (sum w)^2 / (walkers sum "
             "w^2): near 1 where the step is short",
     ERGO_COLUMN(DMC_EFFECTIVE), .of_moves = true},
    {ERGO_NAMED("energy_corrected_half", "K per atom"),
     .help = "energy_corrected with half of those steps: where both agree, there are enough",
     .inputs = {"energy", "log_weight_half", "log_weight_half_energy"}, .derive = derive_corrected,
     .applies = corrects},
    {ERGO_NAMED("log_weight", ""), .help = "input", ERGO_COLUMN(DMC_LONG), .hidden = true,
     .applies = corrects},
    {ERGO_NAMED("log_weight_energy", "K per atom"), .help = "input", .sample = sample_long_energy,
     .hidden = true, .applies = corrects},
    {ERGO_NAMED("log_weight_half", ""), .help = "input", ERGO_COLUMN(DMC_LATE), .hidden = true,
     .applies = corrects},
    {ERGO_NAMED("log_weight_half_energy", "K per atom"), .help = "input",
     .sample = sample_late_energy, .hidden = true, .applies = corrects},
    {ERGO_NAMED("log_weight_potential_pure", "K per atom"), .help = "input",
     .sample = sample_long_pure, .hidden = true, .applies = corrects_pure},
    {ERGO_NAMED("log_weight_kinetic_pure", "K per atom"), .help = "input",
     .sample = sample_long_kinetic, .hidden = true, .applies = corrects_pure},
    HELIUM_LINDEMANN,
    {ERGO_NAMED("lindemann_pure", ""), .help = "the same in the ground state" BIASED,
     .curve = "spread_pure", .from_curve = helium_lindemann, .applies = pure_solid},
    HELIUM_CONDENSATE(MIXED),
    {ERGO_NAMED("energy2", "K^2"), .help = "input", ERGO_COLUMN(DMC_SQUARE), .hidden = true},
};

static const struct ergo_curve_info curves[] = {
    [DMC_GR] = {"gr", "r / A", "", "pair distribution function g(r), 1 in an ideal gas; mixed"},
    [DMC_SK] = {"sk", "k / (1/A)", "", "static structure factor S(k), mixed"},
    [DMC_WALK] = {"potential_forward", "forward time * K", "K per atom",
                  "V/N of the walkers' ancestors against the time since then: mixed at 0, pure "
                  "where it is flat; its last point is potential_pure"},
    HELIUM_SITE_CURVES,
    [DMC_GR_PURE] = {"gr_pure", "r / A", "", "g(r) in the ground state, 1 in an ideal gas" BIASED},
    [DMC_SK_PURE] = {"sk_pure", "k / (1/A)", "", "S(k) in the ground state" BIASED},
    [DMC_SPREAD_PURE] = {"spread_pure", "axis (1, 2, 3)", "A^2",
                         "spread in the ground state" BIASED},
    HELIUM_DENSITY_CURVES(MIXED),
    HELIUM_PAIR_MAP(MIXED),
};

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 a work-group a walker, 2 many work-groups a walker", 0, 2, false},
    {ERGO_TUNABLE(quantum_parameters, energy_group), "work-items of a walker (a power of two)", 0,
     1024, true},
    {ERGO_TUNABLE(dmc_parameters, comb_group),
     "work-items that comb the walkers of a point (a power of two)", 0, 1024, true},
};

/* A sample for each new set of ancestors: more would be copies, with errors too small. And none of
 * an ancestor from step 0. */
static enum ergo_status check_pure(struct ergo_context *ctx, const struct ergo_point *point) {
    const long long window = of_dmc(point)->forward_steps.integer;
    const long long apart = point->parameters->measure_every.integer;
    const long long every = of_quantum(point)->structure_every;
    const long long equilibration = point->parameters->equilibration;
    enum ergo_status status = ERGO_OK;
    if (every == 0)
        return ergo_job_error(ctx, "/system/forward_structure",
                              "true: curves are of every /run/structure_every-th measurement, and "
                              "that is 0: none");
    const long long least =
        window / (long long)ergo_common_divisor((uint64_t)window, (uint64_t)apart);
    if (every % least != 0)
        status = ergo_job_error(ctx, "/run/structure_every",
                                "%lld x /run/measure_every %lld is no multiple of "
                                "/system/forward_steps %lld, which bring new places for pure "
                                "curves (/system/forward_structure): use %lld",
                                every, apart, window, (every / least + 1) * least);
    if (equilibration < 2 * window)
        status = ergo_job_error(ctx, "/run/equilibration",
                                "%lld: pure curves (/system/forward_structure) are of places up to "
                                "twice /system/forward_steps ago, so the first ones would be of "
                                "the start: at least %lld, better more",
                                equilibration, 2 * window);
    return status;
}

/* The drift of half a step leads at most to the top of the one-body factor. That of a file need not
 * be Gaussian: the drift is limited where it bends more. */
static enum ergo_status check_step(struct ergo_context *ctx, const struct ergo_point *point) {
    const double tau = of_dmc(point)->time_step;
    struct helium_model m;
    helium_model_of(point, &m);
    if (point->job->again || !helium_has_sites(point) || tau * m.lambda * m.one.c <= 1)
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/time_step",
                          "%g/K: half a step would take an atom beyond the middle of its one-body "
                          "factor, whose localisation is %.3g/A^2: try %.2g/K",
                          tau, m.one.c, 0.1 / (m.lambda * m.one.c));
}

/* Steps that a sample looks back on are not the start's: the first ones would tell of that, and in
 * a run without so many steps nothing would be corrected. */
static enum ergo_status check_windows(struct ergo_context *ctx, const struct ergo_point *point) {
    static const char *const windows[] = {"/system/correction_steps", "/system/forward_steps"};
    const long long equilibration = point->parameters->equilibration;
    for (int k = 0; k < 2 && !point->job->again; k++) {
        const struct ergo_value *given =
            k ? &of_dmc(point)->forward_steps : &of_dmc(point)->correction_steps;
        const long long window = given->integer;
        if (given->given && window > 0 && window > equilibration - (k == 0))
            return ergo_job_error(ctx, windows[k],
                                  "%lld: samples look back on so many steps, and "
                                  "/run/equilibration is %lld: the first ones would be of the "
                                  "start. Use a longer equilibration, or fewer steps (0: none)",
                                  window, equilibration);
    }
    return ERGO_OK;
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    const int64_t window = of_dmc(point)->forward_steps.integer;
    enum ergo_status status = ERGO_OK;
    if (window % (HELIUM_DMC_RECORDS - 1) != 0)
        status = ergo_job_error(ctx, "/system/forward_steps",
                                "%lld is no multiple of %d, the records of a window: %lld",
                                (long long)window, HELIUM_DMC_RECORDS - 1,
                                (long long)(window / (HELIUM_DMC_RECORDS - 1) + 1) *
                                    (HELIUM_DMC_RECORDS - 1));
    else if (pure_structure(point))
        status = check_pure(ctx, point);
    status = status == ERGO_OK ? check_windows(ctx, point) : status;
    const uint32_t added = 2 * (uint32_t)of_quantum(point)->walkers;
    const enum ergo_status liquid = helium_check_liquid(ctx, point, added);
    const enum ergo_status shares = ergo_shares_check(ctx, point);
    status = status == ERGO_OK ? liquid : status;
    status = status == ERGO_OK ? check_step(ctx, point) : status;
    return status == ERGO_OK ? shares : status;
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    if (!of_quantum(point)->structure_every)
        return 0;
    if (c == DMC_MAP)
        return helium_pair_map_size(point);
    if (c >= DMC_OF_DENSITY)
        return helium_density_size(point, c - DMC_OF_DENSITY);
    if (c >= DMC_GR_PURE && !pure_structure(point))
        return 0;
    if (c == DMC_SPREAD_PURE)
        return helium_site_curve_size(point, HELIUM_SPREAD);
    c = c == DMC_GR_PURE ? DMC_GR : c == DMC_SK_PURE ? DMC_SK : c;
    if (c >= DMC_SITE_CURVES)
        return helium_site_curve_size(point, c - DMC_SITE_CURVES);
    return c == DMC_GR            ? helium_gr_size(point)
           : c == DMC_SK          ? helium_sk_size(point)
           : walks_forward(point) ? HELIUM_DMC_RECORDS
                                  : 0;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    if (c == DMC_SPREAD_PURE)
        c = DMC_SITE_CURVES + HELIUM_SPREAD;
    if (c == DMC_GR || c == DMC_GR_PURE)
        helium_gr_x(point, x);
    else if (c == DMC_SK || c == DMC_SK_PURE)
        helium_sk_x(point, x);
    else if (c == DMC_MAP)
        helium_pair_map_x(point, x);
    else if (c >= DMC_OF_DENSITY)
        helium_density_x(point, c - DMC_OF_DENSITY, x);
    else if (c >= DMC_SITE_CURVES)
        helium_site_curve_x(point, c - DMC_SITE_CURVES, x);
    for (int k = 0; c == DMC_WALK && k < HELIUM_DMC_RECORDS; k++)
        x[k] = k * of_dmc(point)->time_step * dmc_shape_of(point).every;
}

static const struct ergo_sampler_ops ops = {
    .engine = &dmc_engine,
    .init = dmc_init,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = ergo_fields_carry,
    .frame = dmc_frame,
};

static const char *const first_job[] = {"/system/n=16",           "/system/tail_correction=true",
                                        "/system/walkers=32",     "/system/forward_steps=160",
                                        "/run/equilibration=400", "/run/sweeps=2000",
                                        "/run/measure_every=4",   NULL};

static const struct ergo_model model = {
    .programs = {"helium/lattice.cl", "helium_dmc/step.cl", "helium_dmc/spread.cl",
                 "helium_dmc/comb.cl", "helium_dmc/trace.cl", "helium/density.cl"},
    .first = first_job,
    .parameters = sizeof(struct dmc_parameters),
    .keys = {HELIUM_LIQUID_KEYS,
             HELIUM_ONE_BODY_KEYS,
             HELIUM_TRIPLET_KEYS,
             {keys, sizeof keys / sizeof keys[0]},
             HELIUM_STRUCTURE_KEYS},
    ERGO_TABLE(columns, columns),
    .has_column = has_column,
    ERGO_TABLE(observables, observables),
    ERGO_TABLE(curves, curves),
    .curves_grids = 1u << DMC_MAP,
    ERGO_TABLE(tunables, tunables),
    .trajectory = "extended XYZ of the first walkers (/run/frame_walkers), a frame each",
    .check = check,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = helium_curve_every,
    .ops = &ops,
    .cut = &dmc_cut_ops,
    .cuts = dmc_pays_to_cut,
};

static const struct ergo_model *const models[] = {&model};

const struct ergo_sampler ergo_helium_dmc = {
    .name = "helium-dmc",
    .summary = "Diffusion Monte Carlo of liquid helium-4: the ground state, by importance sampling",
    .citation = "J. Boronat and J. Casulleras, Monte Carlo analysis of an interatomic potential "
                "for He, Phys. Rev. B 49, 8920 (1994)",
    .step_name = "time step",
    .rate_unit = "pair visits per second",
    .state_version = 2,
    .models = models,
    .n_models = 1,
};
