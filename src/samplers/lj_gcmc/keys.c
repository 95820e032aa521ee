/* The job keys of lj-gcmc. */
#include "samplers/lj_gcmc/tables.h"

static const char *const neighbours[] = {"none", "cells", "microcells", NULL};
static const char *const decompositions[] = {"checkerboard", NULL};

enum {
    PHYSICS = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
    POSITIVE = PHYSICS | ERGO_KEY_EXCLUDES_MIN,
};

/* Where keys act. */
static bool has_displacements(const struct ergo_point *point) {
    return ergo_point_real(point, "/system/moves/displacement") > 0;
}

static bool starts_on_lattice(const struct ergo_point *point) {
    return !ergo_point_value(point, "/system/start")->present;
}

static bool is_board(const struct ergo_point *point) {
    return ergo_point_value(point, "/system/decomposition")->present;
}

static bool is_serial(const struct ergo_point *point) {
    return !is_board(point);
}

const struct ergo_key lj_keys[LJ_N_KEYS] = {
    {.pointer = "/system/box",
     .type = ERGO_KEY_REALS,
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = 1e6,
     .min_items = 3,
     .max_items = 3,
     .unit = "length",
     .help = "Sides [Lx, Ly, Lz] of the periodic box, in the job's unit of length: sigma, unless "
             "/system/sigma says otherwise."},
    {.pointer = "/system/temperature",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_REQUIRED | POSITIVE,
     .min = 0,
     .max = 1e12,
     .unit = "energy/k_B",
     .help = "Temperature T (k_B = 1), at most 100 epsilon; T* = T/epsilon."},
    {.pointer = "/system/activity",
     .type = ERGO_KEY_REAL,
     .flags = POSITIVE,
     .min = 0,
     .max = 1e12,
     .unit = "1/length^3",
     .help = "Activity z = exp(mu/T)/Lambda^3: the density of an ideal gas. Exactly one of "
             "activity, beta_mu, and mu with lambda is given."},
    {.pointer = "/system/beta_mu",
     .type = ERGO_KEY_REAL,
     .flags = PHYSICS,
     .min = -600,
     .max = 600,
     .unit = "",
     .help = "Reduced chemical potential mu/T - 3 ln Lambda = ln z."},
    {.pointer = "/system/mu",
     .type = ERGO_KEY_REAL,
     .flags = PHYSICS,
     .min = -1e12,
     .max = 1e12,
     .unit = "energy",
     .help = "Chemical potential mu; with lambda, z = exp(mu/T)/Lambda^3 (Eqs. 4 and 5 with the "
             "right sign: see the sampler's README)."},
    {.pointer = "/system/lambda",
     .type = ERGO_KEY_REAL,
     .flags = POSITIVE,
     .min = 0,
     .max = 1e6,
     .unit = "length",
     .help = "Thermal de Broglie wavelength Lambda; with mu."},
    {.pointer = "/system/cutoff",
     .type = ERGO_KEY_REAL,
     .flags = POSITIVE | ERGO_KEY_SHAPE,
     .fallback = "2.5",
     .min = 0,
     .max = 1e6,
     .unit = "length",
     .help = "Pairs at this distance or beyond do not interact (Eq. 1 truncated); at most half the "
             "shortest side."},
    {.pointer = "/system/shifted",
     .type = ERGO_KEY_BOOL,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "false",
     .unit = "",
     .help = "Shift the pair energy to be zero at the cutoff."},
    {.pointer = "/system/tail_correction",
     .type = ERGO_KEY_BOOL,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "false",
     .unit = "",
     .help = "Add the energy of a uniform fluid beyond the cutoff, N rho (8 pi/3) (r_c^-9/3 - "
             "r_c^-3) in reduced units, to the energy and to every acceptance."},
    {.pointer = "/system/epsilon",
     .type = ERGO_KEY_REAL,
     .flags = PHYSICS,
     .fallback = "1",
     .min = 0,
     .max = 1e12,
     .unit = "energy",
     .help = "Depth of the potential; 0 is the ideal gas."},
    {.pointer = "/system/sigma",
     .type = ERGO_KEY_REAL,
     .flags = POSITIVE | ERGO_KEY_SHAPE,
     .fallback = "1",
     .min = 0,
     .max = 1e6,
     .unit = "length",
     .help = "Particle diameter in the unit of box, cutoff, lambda and activity."},
    {.pointer = "/system/moves/displacement",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "0.3",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .help = "Share of displacements among the trial moves (paper, section 4); the three shares "
             "are divided by their sum."},
    {.pointer = "/system/moves/insertion",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "0.35",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .help = "Share of insertions, at a uniform position. Different from the share of deletions "
             "it is corrected for in the acceptance."},
    {.pointer = "/system/moves/deletion",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "0.35",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .help = "Share of deletions, of a random particle. Both 0: the canonical ensemble, which "
             "needs /system/particles and no activity."},
    {.pointer = "/system/max_displacement",
     .type = ERGO_KEY_REAL,
     .flags = POSITIVE,
     .min = 0,
     .max = 1e6,
     .unit = "length",
     .help = "Displace by at most this along each axis; absent: to anywhere in the box (the "
             "paper).",
     .acts = has_displacements,
     .where = "where /system/moves has displacements"},
    {.pointer = "/system/tune_steps",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "0",
     .min = 0,
     .max = 9007199254740992.0,
     .unit = "moves",
     .help = "Steer max_displacement towards half of the displacements accepted during so many "
             "first moves, every 1024 moves by a sixteenth (checkerboard: activations, every one); "
             "not longer than the equilibration, "
             "since a chain that is steered does not sample."},
    {.pointer = "/system/particles",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0",
     .min = 0,
     .max = 16777216,
     .unit = "",
     .help = "Particles at the start, on a cubic lattice; 0: an empty box.",
     .acts = starts_on_lattice,
     .where = "without a file /system/start, which says how many there are"},
    {.pointer = "/system/start",
     .type = ERGO_KEY_STRING,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_FILE,
     .unit = "",
     .help = "Name of an extended XYZ file whose first frame is the start, e.g. a snapshot of "
             "another run; its box is the job's. Absent: a lattice of `particles`."},
    {.pointer = "/system/neighbours",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE,
     .choices = neighbours,
     .unit = "",
     .help = "How partners within the cutoff are found: none (all pairs, section 3.1), cells of at "
             "least the cutoff (section 3.2), microcells of about sigma^3 (section 3.3); absent: "
             "cells on CPUs, else microcells. The chain is the same to the bit.",
     .acts = is_serial,
     .where = "without decomposition checkerboard, which has cells of its own"},
    {.pointer = "/system/decomposition",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = decompositions,
     .unit = "",
     .help =
         "checkerboard: one large system on the whole device. Active cells whose distance is at "
         "least the cutoff make cell_trials moves each, all at once, then other cells do; a "
         "step of run is such an activation. Absent: one move after the other."},
    {.pointer = "/system/gap_cells",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2,
     .max = 8,
     .unit = "",
     .help = "Of a checkerboard: cells across the gap between active cells, which are two cells "
             "wide; absent: 2.",
     .acts = is_board,
     .where = "with decomposition checkerboard"},
    {.pointer = "/system/cell_trials",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 512,
     .unit = "moves",
     .help = "Of a checkerboard: trial moves of an active cell in an activation; absent: 32.",
     .acts = is_board,
     .where = "with decomposition checkerboard"},
    {.pointer = "/run/curve_every",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "100",
     .min = 0,
     .max = 1e12,
     .unit = "measurements",
     .help = "Measure g(r) with every so many measurements; P(N) is of them all. 0: neither."},
    {.pointer = "/run/gr_bins",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "50",
     .min = 2,
     .max = 1000,
     .unit = "",
     .help = "Bins of g(r) up to the cutoff; it goes on to twice the cutoff or half the shortest "
             "side."},
};
