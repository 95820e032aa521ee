/* Keys and tunables of all models of swendsen-wang. */
#include "samplers/swendsen_wang/sites/sites.h"

static const char *const lattices[] = {"square", "triangular", "honeycomb", NULL};
static const char *const updates[] = {"swendsen-wang", "wolff", NULL};

const struct ergo_key sw_size_keys[SW_SIZE_KEYS] = {
    {ERGO_KEY("/system/size", SIZE),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2, .max = 4194304, .min_items = 2, .max_items = 3, .unit = "sites",
     .help = "Lattice sides [Lx, Ly] or [Lx, Ly, Lz], periodic, odd ones too. A side of 2 has two "
             "bonds between the same neighbours."},
};

const struct ergo_key sw_sites_keys[SW_SITES_KEYS] = {
    {ERGO_KEY("/system/lattice", ENUM), .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"square\"", .stream = "", .choices = lattices, .unit = "",
     .help = "Neighbours of site (x, y). square: (x +- 1, y), (x, y +- 1), in three dimensions the "
             "simple cubic lattice; triangular: as square, and (x + 1, y + 1), (x - 1, y - 1); "
             "honeycomb, as bricks: (x +- 1, y), and (x, y + 1) where x + y is even, (x, y - 1) "
             "where it is odd, with even sides."},
    {ERGO_KEY("/system/update", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"swendsen-wang\"", .stream = "", .choices = updates, .unit = "",
     .help = "What a step is. swendsen-wang: a sweep, all clusters get new states; wolff: one "
             "cluster, that of a site drawn from all, gets another state (U. Wolff, Phys. Rev. "
             "Lett. 62, 361 (1989)). /run counts steps: one of wolff moves cluster_size "
             "sites, where a sweep moves all."},
};

const struct ergo_tunable sw_tunables[SW_TUNABLES] = {
    {"path",
     "0 automatic, 1 whole sweeps of a lattice in a work-group's local memory (up to 256 words of "
     "32 sites), 2 tiles and then their edges, three launches a sweep",
     0, 2, false},
    {"work_group", "work-items per group (a power of two)", 0, 1024, true},
    {"tile_words", "words of 32 sites in a tile's row (a power of two)", 0, 32, true},
    {"tile_rows", "rows of a tile (a power of two)", 0, 256, true},
    {"tile_group",
     "work-items that label a tile together (a power of two, at most four for each word)", 0, 1024,
     true},
};
