/* The job keys of lj-gcmc and lj-fluid, in rows that their models share. */
#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

static const char *const decompositions[] = {"checkerboard", NULL};

enum {
    PHYSICS = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
    POSITIVE = PHYSICS | ERGO_KEY_EXCLUDES_MIN,
};

static const char *const methods[] = {"sample", "transition-matrix", NULL};

/* Where keys act. */
static bool is_sampled(const struct ergo_point *point) {
    return !lj_is_matrix(point);
}

static bool is_pure(const struct ergo_point *point) {
    return !lj_has_species(point);
}

static bool has_activities(const struct ergo_point *point) {
    return lj_has_species(point) && lj_is_open(point);
}

static bool changes_identities(const struct ergo_point *point) {
    return has_activities(point) && lj_has_displacements(point);
}

static bool starts_on_lattice(const struct ergo_point *point) {
    return !of_particle(point)->start.present;
}

static bool is_board(const struct ergo_point *point) {
    return of_lj(point)->decomposition.present;
}

static bool has_no_slit(const struct ergo_point *point) {
    return lj_has_field(point) && !lj_has_slit(point);
}

static bool has_no_field(const struct ergo_point *point) {
    return !lj_has_field(point);
}

#define BOX                                                                                        \
    PARTICLE_KEY(box, "/system/box", REAL), .min = 0, .max = 1e6, .min_items = 3, .max_items = 3,  \
                                            .unit = "length"
#define SIDES                                                                                      \
    "Sides [Lx, Ly, Lz] of the periodic box, or the side L of a cubic one, in the job's unit of "  \
    "length: sigma, unless /system/sigma says otherwise; at least two cutoffs."

enum {
    SIZE = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_SCAN | ERGO_KEY_EXCLUDES_MIN,
};

#define TEMPERATURE                                                                                \
    {                                                                                              \
        JOB_KEY(temperature, "/system/temperature", REAL),                                         \
            .flags = ERGO_KEY_REQUIRED | POSITIVE, .min = 0, .max = 1e12, .unit = "energy/k_B",    \
            .help = "Temperature T (k_B = 1), at least 0.001 and at "                              \
                    "most 100 epsilon (0: any); T* = T/epsilon."                                   \
    }

const struct ergo_key lj_keys_box[LJ_KEYS_BOX_N] = {
    {BOX, .flags = SIZE | ERGO_KEY_LIST | ERGO_KEY_REQUIRED, .help = SIDES},
    TEMPERATURE,
};

const struct ergo_key lj_keys_size[LJ_KEYS_SIZE_N] = {
    {BOX, .flags = SIZE | ERGO_KEY_LIST,
     .help = SIDES " Where the volume changes (npt, gibbs): at the start. Absent: a cube for "
                   "particles and density."},
    {LJ_KEY(density, "/system/density", REAL), .flags = SIZE, .stream = "", .min = 0, .max = 1e12,
     .unit = "1/length^3",
     .help = "N/V, in the place of box or of particles, whichever is not given; where the volume "
             "changes (npt, gibbs) of the (first) box at the start. With particles: a cube with "
             "exactly this density. With box: the nearest whole number of particles, so that the "
             "density is off by up to half a particle; `density` in results is N/V.",
     .acts = has_no_field, .where = "without a slit, a field or frozen atoms"},
    TEMPERATURE,
};

const struct ergo_key lj_keys_activity[LJ_KEYS_ACTIVITY_N] = {
    {LJ_KEY(activity, "/system/activity", REAL), .flags = POSITIVE, .min = 0, .max = 1e12,
     .unit = "1/length^3",
     .help =
         "Activity z = exp(mu/T)/Lambda^3: the density of an ideal gas; times the volume at least "
         "1e-12, at most 1e12. Exactly one of "
         "activity, beta_mu, and mu with lambda is given."},
    {LJ_KEY(beta_mu, "/system/beta_mu", REAL), .flags = PHYSICS, .min = -600, .max = 600,
     .unit = "", .help = "Reduced chemical potential mu/T - 3 ln Lambda = ln z."},
    {LJ_KEY(mu, "/system/mu", REAL), .flags = PHYSICS, .min = -1e12, .max = 1e12, .unit = "energy",
     .help = "Chemical potential mu; with lambda, z = exp(mu/T)/Lambda^3 (Eqs. 4 and 5 with the "
             "right sign: see the sampler's README)."},
    {LJ_KEY(lambda, "/system/lambda", REAL), .flags = POSITIVE, .min = 0, .max = 1e6,
     .unit = "length", .help = "Thermal de Broglie wavelength Lambda; with mu."},
};

const struct ergo_key lj_keys_potential[LJ_KEYS_POTENTIAL_N] = {
    {LJ_KEY(cutoff, "/system/cutoff", REAL), .flags = POSITIVE | ERGO_KEY_SHAPE, .fallback = "2.5",
     .min = 0, .max = 1e6, .unit = "length",
     .help =
         "Pairs at this distance or beyond do not interact (Eq. 1 truncated); at least 0.2 sigma, "
         "at most half the shortest side."},
    {LJ_KEY(shifted, "/system/shifted", BOOL), .flags = ERGO_KEY_CHAIN, .fallback = "false",
     .unit = "", .help = "Shift the pair energy to be zero at the cutoff."},
    {LJ_KEY(tail_correction, "/system/tail_correction", BOOL), .flags = ERGO_KEY_CHAIN,
     .fallback = "false", .unit = "",
     .help = "Add the energy of a uniform fluid beyond the cutoff, N rho (8 pi/3) (r_c^-9/3 - "
             "r_c^-3) in reduced units, to the energy and to every acceptance. On a checkerboard "
             "the cutoff has to be where the potential attracts."},
    {LJ_KEY(epsilon, "/system/epsilon", REAL), .flags = PHYSICS, .fallback = "1", .min = 0,
     .max = 1e12, .unit = "energy", .help = "Depth of the potential; 0 is the ideal gas.",
     .acts = is_pure, .where = "without /system/species"},
    {LJ_KEY(sigma, "/system/sigma", REAL), .flags = POSITIVE | ERGO_KEY_SHAPE, .fallback = "1",
     .min = 0, .max = 1e6, .unit = "length",
     .help = "Particle diameter in the unit of box, cutoff, lambda and activity.", .acts = is_pure,
     .where = "without /system/species"},
};

const struct ergo_key lj_keys_mie[LJ_KEYS_MIE_N] = {
    {LJ_KEY(potential, "/system/potential", STRING),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD,
     .fallback = "\"lennard-jones\"", .stream = "", .unit = "",
     .help = "lennard-jones, 4 epsilon [(sigma/r)^12 - (sigma/r)^6]. mie: C epsilon [(sigma/r)^n - "
             "(sigma/r)^m], C = n/(n - m) (n/m)^(m/(n - m)), so that the depth is epsilon. "
             "Or the name of a file (with a dot or a slash in it) with lines \"r u\", r in sigma "
             "and u in epsilon, from where u is 20 T and more to the cutoff: a cubic spline "
             "between these points, infinite before the first."},
    {LJ_KEY(repulsive_exponent, "/system/repulsive_exponent", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "12", .stream = "",
     .min = 5, .max = 48, .unit = "",
     .help = "n of a Mie potential, above m. Even exponents are a little faster.",
     .acts = lj_is_mie, .where = "with potential mie"},
    {LJ_KEY(attractive_exponent, "/system/attractive_exponent", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "6", .stream = "",
     .min = 4, .max = 47, .unit = "", .help = "m of a Mie potential.", .acts = lj_is_mie,
     .where = "with potential mie"},
};

#define SPECIES_LIST(name)                                                                         \
    LJ_KEY(species_##name, "/system/species/" #name, REALS), .stream = "", .min_items = 2,         \
                                                             .max_items = LJ_MOST_SPECIES
#define PAIR_LIST(name)                                                                            \
    LJ_KEY(species_##name, "/system/species/" #name, REALS), .stream = "", .min_items = 1,         \
                                                             .max_items = 3
#define WITH_SPECIES .acts = lj_has_species, .where = "with /system/species/names"

enum { SPECIES = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN };

const struct ergo_key lj_keys_species[LJ_KEYS_SPECIES_N] = {
    {LJ_KEY(species_names, "/system/species/names", STRING), .stream = "", .flags = SPECIES,
     .unit = "",
     .help = "A mixture: names of 2 to 4 species, with blanks between them: \"A B\". Files of "
             "configurations have them as elements. The lists of the other keys are in this order. "
             "Absent: one species."},
    {SPECIES_LIST(epsilon), .flags = SPECIES, .min = 0, .max = 1e12, .unit = "energy",
     .help = "Depth of the potential between two particles of each species; all 0: a mixture of "
             "ideal gases.",
     WITH_SPECIES},
    {SPECIES_LIST(sigma), .flags = SPECIES | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e6,
     .unit = "length", .help = "Diameter of each species.", WITH_SPECIES},
    {PAIR_LIST(pair_epsilon), .flags = SPECIES, .min = 0, .max = 1e12, .unit = "energy",
     .help =
         "Depth of the potential between unlike species, of two [1-2], of three [1-2, 1-3, 2-3]; "
         "absent, and with four species: sqrt(epsilon1 epsilon2) (Berthelot).",
     WITH_SPECIES},
    {PAIR_LIST(pair_sigma), .flags = SPECIES | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e6,
     .unit = "length",
     .help =
         "Its diameter, in the same order; absent, and with four: (sigma1 + sigma2)/2 (Lorentz).",
     WITH_SPECIES},
    {LJ_KEY(species_cutoff_in_sigma, "/system/species/cutoff_in_sigma", BOOL), .stream = "",
     .flags = SPECIES, .fallback = "false", .unit = "",
     .help = "true: /system/cutoff is in units of each pair's sigma (2.5 sigma_ij of W. Kob, H. C. "
             "Andersen, Phys. Rev. E 51, 4626 (1995)). false: it is one distance for all pairs.",
     WITH_SPECIES},
    {SPECIES_LIST(fractions), .flags = ERGO_KEY_CHAIN, .min = 0, .max = 1, .unit = "",
     .help = "Shares of the species in the particles, whose sum is 1: at the start, and where N is "
             "fixed for good; rounded to whole particles, the last species has the rest.",
     .acts = lj_species_needs_fractions,
     .where = "with /system/species/names; of muvt where N is fixed, or the start is a lattice of "
              "particles"},
    {SPECIES_LIST(activity), .flags = ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "",
     .help = "Activity of each species in units of /system/activity (or beta_mu, or mu and "
             "lambda), which can be scanned.",
     .acts = has_activities,
     .where = "in ensemble muvt with /system/species/names, where /system/moves has insertions"},
    {LJ_KEY(species_identity_changes, "/system/species/identity_changes", REAL), .stream = "",
     .flags = ERGO_KEY_CHAIN, .fallback = "0", .min = 0, .max = 1, .unit = "",
     .help = "Share of the displacements that are instead a change of a particle's species, to "
             "each other one with the same probability (D. A. Kofke, E. D. Glandt, Mol. Phys. 64, "
             "1105 (1988)), at the given activities.",
     .acts = changes_identities,
     .where = "in ensemble muvt with /system/species/names, where /system/moves has all three"},
};

const struct ergo_key lj_keys_moves[LJ_KEYS_MOVES_N] = {
    {LJ_KEY(moves_displacement, "/system/moves/displacement", REAL), .flags = ERGO_KEY_CHAIN,
     .fallback = "0.3", .min = 0, .max = 1e6, .unit = "",
     .help = "Share of displacements among the trial moves (paper, section 4); the three shares "
             "are divided by their sum.",
     .acts = is_sampled, .where = "with method sample"},
    {LJ_KEY(moves_insertion, "/system/moves/insertion", REAL), .flags = ERGO_KEY_CHAIN,
     .fallback = "0.35", .min = 0, .max = 1e6, .unit = "",
     .help = "Share of insertions, at a uniform position. Different from the share of deletions "
             "it is corrected for in the acceptance.",
     .acts = is_sampled, .where = "with method sample"},
    {LJ_KEY(moves_deletion, "/system/moves/deletion", REAL), .flags = ERGO_KEY_CHAIN,
     .fallback = "0.35", .min = 0, .max = 1e6, .unit = "",
     .help = "Share of deletions, of a random particle. Both 0: the canonical ensemble, which "
             "needs /system/particles and no activity.",
     .acts = is_sampled, .where = "with method sample"},
    {PARTICLE_KEY(max_displacement, "/system/max_displacement", REAL), .flags = POSITIVE, .min = 0,
     .max = 1e6, .unit = "length",
     .help = "Displace by at most this along each axis; absent: to anywhere in the box (the "
             "paper).",
     .acts = lj_has_displacements, .where = "where /system/moves has displacements"},
};

const struct ergo_key lj_keys_start[LJ_KEYS_START_N] = {
    {LJ_KEY(tune_steps, "/system/tune_steps", INT), .flags = ERGO_KEY_CHAIN, .fallback = "0",
     .min = 0, .max = 9007199254740992.0, .unit = "moves",
     .help = "Steer max_displacement towards half of the displacements accepted during so many "
             "first moves, every 1024 moves by a sixteenth (checkerboard: activations, every one); "
             "not longer than the equilibration, "
             "since a chain that is steered does not sample."},
    {LJ_KEY(particles, "/system/particles", INT), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0", .min = 0, .max = 134217728, .unit = "",
     .help =
         "Particles at the start, on a cubic lattice; 0: an empty box, which stays empty at "
         "constant N: there only in a slit, a field or among frozen atoms, for test insertions.",
     .acts = starts_on_lattice,
     .where = "without a file /system/start, which says how many there are"},
    {PARTICLE_KEY(start, "/system/start", STRING), .flags = ERGO_KEY_CHAIN | ERGO_KEY_FILE,
     .unit = "",
     .help = "Name of an extended XYZ file whose first frame is the start, e.g. a snapshot of "
             "another run; its box is the job's. Absent: a lattice of `particles`."},
};

const struct ergo_key lj_keys_board[LJ_KEYS_BOARD_N] = {
    {LJ_KEY(decomposition, "/system/decomposition", ENUM),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .choices = decompositions,
     .unit = "",
     .help =
         "checkerboard: one large system on the whole device. Active cells whose distance is at "
         "least the cutoff make cell_trials moves each, all at once, then other cells do; a "
         "step of run is such an activation. Absent: one move after the other."},
    {LJ_KEY(gap_cells, "/system/gap_cells", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 2, .max = 8, .unit = "",
     .help = "Of a checkerboard: cells across the gap between active cells, which are two cells "
             "wide; absent: 2.",
     .acts = is_board, .where = "with decomposition checkerboard"},
    {LJ_KEY(cell_trials, "/system/cell_trials", INT), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1, .max = 512, .unit = "moves",
     .help = "Of a checkerboard: trial moves of an active cell in an activation; absent: 32.",
     .acts = is_board, .where = "with decomposition checkerboard"},
};

const struct ergo_key lj_keys_curves[LJ_KEYS_CURVES_N] = {
    {LJ_KEY(curve_every, "/run/curve_every", INT), .flags = ERGO_KEY_SHAPE, .fallback = "100",
     .min = 0, .max = 1e12, .unit = "measurements",
     .help = "Measure g(r) with every so many measurements; P(N) is of them all. 0: neither."},
    {LJ_KEY(gr_bins, "/run/gr_bins", INT), .flags = ERGO_KEY_SHAPE, .fallback = "50", .min = 2,
     .max = 1000, .unit = "",
     .help = "Bins of g(r) up to the cutoff; it goes on to twice the cutoff or half the shortest "
             "side. Of a mixture there is one of all particles, and one of each two species.",
     .acts = has_no_field, .where = "without a slit, a field or frozen atoms"},
};

static const char *const axes[] = {"x", "y", "z", NULL};

#define SLIT_KEY(name) LJ_KEY(slit_##name, "/system/slit/" #name, REAL), .min = 0, .max = 1e12
#define IN_SLIT .acts = lj_has_slit, .where = "with /system/slit/width"
#define IN_FIELD .acts = lj_has_field, .where = "with a slit, a field or frozen atoms"
#define WITH_ATOMS .acts = lj_has_frozen, .where = "with /system/frozen/file"

enum { FROZEN = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN };

const struct ergo_key lj_keys_field[LJ_KEYS_FIELD_N] = {
    {SLIT_KEY(width), .stream = "", .flags = ERGO_KEY_FORM | POSITIVE | ERGO_KEY_SHAPE,
     .unit = "length",
     .help =
         "Two walls of a layered solid such as graphite, whose first layers are in the planes z "
         "= 0 and z = H: this is H. Particles have the energy w(z) + w(H - z) there, w(z) = 2 "
         "pi density epsilon sigma^2 spacing [2/5 (sigma/z)^10 - (sigma/z)^4 - sigma^4/(3 "
         "spacing (z + 0.61 spacing)^3)] (W. A. Steele, Surf. Sci. 36, 317 (1973)). The third "
         "side of the box is at least H and a cutoff, at most 81.92 slit/sigma; where u > 100 T "
         "there are no particles. Absent: no walls."},
    {SLIT_KEY(epsilon), .stream = "", .flags = POSITIVE | ERGO_KEY_SHAPE, .unit = "energy",
     .help = "Depth of the potential between a particle and an atom of the solid; 2 pi density "
             "epsilon sigma^2 spacing is at least 0.001 and at most 1e5 T.",
     IN_SLIT},
    {SLIT_KEY(sigma), .stream = "", .flags = POSITIVE | ERGO_KEY_SHAPE, .unit = "length",
     .help = "Diameter of that potential.", IN_SLIT},
    {SLIT_KEY(density), .stream = "", .flags = POSITIVE | ERGO_KEY_SHAPE, .unit = "1/length^3",
     .help = "Atoms of the solid per volume; of graphite 114 per nm^3.", IN_SLIT},
    {SLIT_KEY(spacing), .stream = "", .flags = POSITIVE | ERGO_KEY_SHAPE, .unit = "length",
     .help = "Distance of the solid's layers; of graphite 0.335 nm.", IN_SLIT},
    {SLIT_KEY(bulk_density), .flags = ERGO_KEY_SCAN, .unit = "1/length^3",
     .help = "Density of the bulk fluid at this temperature and activity, of a run without a slit: "
             "with it there is `excess_adsorption`. Not one for a scan over these: there `ergocl "
             "analyse` of both runs puts equal activities together, with errors.",
     IN_SLIT},
    {SLIT_KEY(excess_width), .flags = ERGO_KEY_SCAN | ERGO_KEY_EXCLUDES_MIN, .unit = "length",
     .help = "Of excess_adsorption, also that of `ergocl analyse`: the height that the bulk fluid "
             "would fill; absent: `width`, from nuclei to nuclei.",
     IN_SLIT},
    {PARTICLE_KEY(field, "/system/field", STRING), .stream = "",
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_FILE, .unit = "",
     .help = "Name of a Gaussian cube file: the energy of a particle on a regular grid over the "
             "box, periodic (the point after the last is the first and not in the file), linear "
             "along each axis between neighbouring points. The grid has the shape of the box; its "
             "lengths may be in another unit. Where u > 100 T there are no particles; inf is a "
             "wall up to the next points."},
    {LJ_KEY(field_unit, "/system/field_unit", REAL), .stream = "", .flags = POSITIVE,
     .fallback = "1", .min = 0, .max = 1e12, .unit = "energy",
     .help = "What 1 in the file is, in the job's unit of energy.", .acts = lj_has_voxels,
     .where = "with /system/field"},
    {LJ_KEY(frozen_file, "/system/frozen/file", STRING), .stream = "",
     .flags = FROZEN | ERGO_KEY_FILE, .unit = "",
     .help = "Name of an XYZ file with atoms that do not move, in the job's box and unit of "
             "length: an adsorbent. A particle and an atom have the job's pair potential, cutoff "
             "and shift with sigma = (sigma1 + sigma2)/2, epsilon = sqrt(epsilon1 epsilon2)."},
    {LJ_KEY(frozen_epsilon, "/system/frozen/epsilon", REAL), .stream = "",
     .flags = FROZEN | ERGO_KEY_LIST | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12, .min_items = 1,
     .max_items = LJ_MOST_SPECIES, .unit = "energy",
     .help =
         "Epsilon of an atom with another one: a number, or a list for the file's species, in "
         "the order in which they come there. That of a pair is at least 0.001 and at most 1000 "
         "times that of two particles.",
     WITH_ATOMS},
    {LJ_KEY(frozen_sigma, "/system/frozen/sigma", REAL), .stream = "",
     .flags = FROZEN | ERGO_KEY_LIST | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e6, .min_items = 1,
     .max_items = LJ_MOST_SPECIES, .unit = "length",
     .help = "Sigma of an atom with another one, in the same way.", WITH_ATOMS},
    {ERGO_KEY("/system/excess_volume", REAL), .flags = ERGO_KEY_SCAN, .min = 0, .max = 1e18,
     .unit = "length^3",
     .help = "Of `ergocl analyse` alone, beside a run of the bulk fluid: the volume that it would "
             "fill in a field or among atoms, such as that which helium sees. In a slit it is "
             "slit/excess_width.",
     .acts = has_no_slit, .where = "with /system/field or /system/frozen/file, without a slit"},
    {PARTICLE_KEY(profile_bins, "/run/profile_bins", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "100", .min = 2, .max = 2000, .unit = "",
     .help = "Layers of the density profile, from wall to wall of a slit, or over the box; it is "
             "measured as often as curve_every says.",
     IN_FIELD},
    {LJ_KEY(profile_axis, "/run/profile_axis", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"z\"",
     .choices = axes, .unit = "", .help = "Axis of the density profile.", IN_FIELD},
};

const struct ergo_key lj_keys_method[LJ_KEYS_METHOD_N] = {
    {LJ_KEY(run_method, "/run/method", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"sample\"", .choices = methods, .unit = "",
     .help =
         "sample: particles come and go. transition-matrix: N is fixed, and insertions and "
         "deletions are only tried; a scan over particles gives ln Pi(N), and `ergocl analyse` "
         "its two phases (J. R. Errington, J. Chem. Phys. 118, 9915 (2003), with windows of one "
         "N)."},
    {LJ_KEY(insertions, "/run/insertions", INT), .flags = ERGO_KEY_SHAPE, .fallback = "64",
     .min = 1, .max = LJ_MOST_GHOSTS, .unit = "",
     .help = "Of a transition matrix: insertions that are tried at each measurement, beside a "
             "deletion of each particle.",
     .acts = lj_is_matrix, .where = "with method transition-matrix"},
};

#define TUNED ", which is then tuned during the equilibration until 2/5 of the trials are accepted."
const struct ergo_key lj_keys_npt[LJ_KEYS_NPT_N] = {
    {PARTICLE_KEY(pressure, "/system/pressure", REAL), .flags = ERGO_KEY_REQUIRED | POSITIVE,
     .min = 0, .max = 1e12, .unit = "energy/length^3",
     .help = "Pressure P of the npt ensemble; beta P sigma^3 is at least 1e-12, at "
             "most 1e12, and beta P V at the start at most 1e10."},
    {PARTICLE_KEY(max_volume_change, "/system/max_volume_change", REAL), .flags = PHYSICS,
     .fallback = "0", .min = 0, .max = 0.5, .unit = "",
     .help = "Largest trial change of ln V; 0: 0.02 at first" TUNED},
    {PARTICLE_KEY(volume_every, "/system/volume_every", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 1e12, .unit = "moves",
     .help = "A trial change of the volume before every so many moves: it costs as much as N of "
             "them, so N is a good number."},
};

#define TUNE_STEPS                                                                                 \
    LJ_KEY(tune_steps, "/system/tune_steps", INT), .flags = ERGO_KEY_CHAIN, .fallback = "0",       \
                                                   .min = 0, .max = 9007199254740992.0,            \
                                                   .unit = "moves"

const struct ergo_key lj_keys_gibbs[LJ_KEYS_GIBBS_N] = {
    {LJ_KEY(particles, "/system/particles", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN, .min = 0,
     .max = 16777216, .unit = "",
     .help = "Particles of the first box at the start, on a cubic lattice, at most what it has "
             "room for; absent: from density. "
             "Those of both boxes together stay."},
    {LJ_KEY(second_particles, "/system/second_particles", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_CHAIN, .min = 0, .max = 16777216,
     .unit = "", .help = "The same of the second box, at most what its volume has room for."},
    {LJ_KEY(second_volume, "/system/second_volume", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0,
     .max = 1e18, .unit = "length^3",
     .help =
         "Volume of the second box at the start, which has the shape of /system/box; absent: "
         "the same volume. At least 0.001 and at most 1000 times that of the first, with sides of "
         "at least two cutoffs. What both have together stays."},
    {PARTICLE_KEY(max_volume_change, "/system/max_volume_change", REAL), .flags = PHYSICS,
     .fallback = "0", .min = 0, .max = 0.5, .unit = "",
     .help = "Largest trial change of ln(V1/V2); 0: 0.05 at first" TUNED},
    {PARTICLE_KEY(volume_every, "/system/volume_every", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 1e12, .unit = "moves",
     .help = "Before every so many moves (of each box) a trial exchange of volume, which costs as "
             "much as N of them, and the trial transfers: half the number of particles is good."},
    {LJ_KEY(transfers, "/system/transfers", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 65536, .unit = "",
     .help = "Trial transfers of a particle to a uniform place in the other box, of either box "
             "with the same probability, each time. At most 65535 in 1024 moves. A few per "
             "cent of the particles should change boxes each time."},
    {TUNE_STEPS, .help = "Steer max_displacement of each box towards half of its displacements "
                         "accepted during so many first moves, every 1024 moves by a sixteenth; "
                         "not longer than the equilibration, since a chain that is steered does "
                         "not sample."},
};

const struct ergo_key lj_keys_closed[LJ_KEYS_CLOSED_N] = {
    {PARTICLE_KEY(max_displacement, "/system/max_displacement", REAL), .flags = POSITIVE,
     .fallback = "0.2", .min = 0, .max = 1e6, .unit = "length",
     .help =
         "Displace by at most this along each axis; where the volume changes, at the start's: it "
         "stays the same fraction of the box."},
    {LJ_KEY(insertions, "/run/insertions", INT), .flags = ERGO_KEY_SHAPE, .min = 0,
     .max = LJ_MOST_GHOSTS, .unit = "",
     .help =
         "Test insertions at each measurement, for the chemical potential (B. Widom, J. Chem. "
         "Phys. 39, 2808 (1963)), or Henry's constant without particles; of a mixture so many of "
         "each species. 0: none. Absent: 64, of a mixture 0. Among particles they take T/epsilon "
         "of 0.5 and more."},
};
