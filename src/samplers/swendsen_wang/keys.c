/* Keys and tunables of all models of swendsen-wang. */
#include "samplers/swendsen_wang/sites/sites.h"

static const char *const lattices[] = {"square", "triangular", "honeycomb", NULL};
static const char *const boundaries[] = {"periodic", "open", "antiperiodic", NULL};
static const char *const methods[] = {"sample", "probability-changing", NULL};
#define WHERE_ADAPTS "with method probability-changing"
static const char *const updates[] = {"swendsen-wang", "wolff", NULL};

const struct ergo_key sw_size_keys[SW_SIZE_KEYS] = {
    {LATTICE_SIZE(2, 3, 4194304), .help = "Lattice sides [Lx, Ly] or [Lx, Ly, Lz], odd ones too. A "
                                          "side of 2 has two bonds between the same neighbours."},
};

const struct ergo_key sw_sites_keys[SW_SITES_KEYS] = {
    {LATTICE_KEY(lattice, "/system/lattice", ENUM),
     .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE, .fallback = "\"square\"",
     .stream = "", .choices = lattices, .unit = "",
     .help = "Neighbours of site (x, y). square: (x +- 1, y), (x, y +- 1), in three dimensions the "
             "simple cubic lattice; triangular: as square, and (x + 1, y + 1), (x - 1, y - 1); "
             "honeycomb, as bricks: (x +- 1, y), and (x, y + 1) where x + y is even, (x, y - 1) "
             "where it is odd, with even sides."},
    {LATTICE_KEY(boundary, "/system/boundary", ENUM),
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE | ERGO_KEY_LIST, .fallback = "\"periodic\"",
     .stream = "", .choices = boundaries, .max_items = 3, .unit = "",
     .help = "Boundary conditions: periodic, open or antiperiodic (bonds across it have the other "
             "sign: of potts with q = 2, of clock with even q), or an array with one for each "
             "side."},
    {SW_KEY(update, "/system/update", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"swendsen-wang\"", .stream = "", .choices = updates, .unit = "",
     .help = "What a step is. swendsen-wang: a sweep, all clusters get new states; wolff: one "
             "cluster, that of a site drawn from all, gets another state (U. Wolff, Phys. Rev. "
             "Lett. 62, 361 (1989)). /run counts steps: one of wolff moves cluster_size "
             "sites, where a sweep moves all."},
};

const struct ergo_key sw_run_keys[SW_RUN_KEYS] = {
    {LATTICE_KEY(run_method, "/run/method", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"sample\"", .stream = "", .choices = methods, .unit = "",
     .help = "sample: the equilibrium at a temperature. probability-changing: with update "
             "swendsen-wang, each replica finds the critical temperature of its size by itself (Y. "
             "Tomita, Y. Okabe, Phys. Rev. Lett. 86, 572 (2001); unit vectors: Phys. Rev. B 65, "
             "184405 (2002)). After a sweep in which a cluster leads around the lattice the bond "
             "probability is lowered by a small step, after another one it is raised: it ends up "
             "and stays where a cluster leads around in half of the sweeps. The temperature of the "
             "job, if it has one, is where it begins."},
    {SW_KEY(probability_step, "/run/probability_step", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "0.0005", .stream = "",
     .min = 1e-9, .max = 0.1, .unit = "", .acts = sw_adapts, .where = WHERE_ADAPTS,
     .help = "Step of the bond probability 1 - exp(-J/T) in sweeps that are measured; of unit "
             "vectors the step of J/T. Rounded to 2^-32, of J/T to 2^-24. The width of the "
             "probability's distribution goes as its "
             "root, towards 0, and so does what it changes in means."},
    {SW_KEY(probability_step_first, "/run/probability_step_first", REAL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "0.01", .stream = "", .min = 1e-9,
     .max = 0.1, .unit = "", .acts = sw_adapts, .where = WHERE_ADAPTS,
     .help = "The step at the start. During equilibration it is halved, in parts of equal length, "
             "down to probability_step."},
    {SW_KEY(wrapping_share, "/run/wrapping_share", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "0.5",
     .stream = "", .min = 0, .max = 0.999, .unit = "", .acts = sw_adapts, .where = WHERE_ADAPTS,
     .help = "Share of sweeps in which a cluster leads around the lattice, that is held: upward "
             "and downward steps are as this to its rest, with probability_step as their mean. "
             "With the share of the infinite lattice at its critical point (of Ising squares some "
             "0.99) sizes converge faster than with 0.5, the method's own."},
    {SW_KEY(correlations, "/run/correlations", BOOL), .flags = ERGO_KEY_SHAPE, .fallback = "false",
     .unit = "", .acts = sw_may_correlate,
     .where = "with update swendsen-wang and periodic sides, without a field",
     .help = "Measure the second-moment correlation length by improved estimators, from clusters "
             "(U. Wolff, Nucl. Phys. B 322, 759 (1989)): correlation_length, of unit vectors "
             "correlation_length_improved; on square lattices with method sample also "
             "correlation_half, correlation_quarter, correlation_ratio and the curve correlation. "
             "The chain stays the same. A measured sweep takes longer, of small lattices several "
             "times as long, which /run/measure_every amends."},
};

const struct ergo_tunable sw_tunables[SW_TUNABLES] = {
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 whole sweeps of a lattice in a work-group's local memory (up to 256 words of "
     "32 sites), 2 tiles and then their edges, three launches a sweep",
     0, 2, false},
    {ERGO_TUNABLE_GROUP},
    {ERGO_TUNABLE(sw_parameters, tile_words), "words of 32 sites in a tile's row (a power of two)",
     0, 32, true},
    {ERGO_TUNABLE(lattice_parameters, tile_rows), "rows of a tile (a power of two)", 0, 256, true},
    {ERGO_TUNABLE(sw_parameters, tile_group),
     "work-items that label a tile together (a power of two, at most four for each word)", 0, 1024,
     true},
};
