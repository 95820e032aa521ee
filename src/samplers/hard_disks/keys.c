/* hard-disks: the tables of keys. */

#include "samplers/hard_disks/disks.h"

static const char *const coordinates[] = {"wide", "packed", NULL};
static const char *const moves[] = {"displacements", "reflections", NULL};

static bool is_displaced(const struct ergo_point *point) {
    return !disks_reflects(point);
}

bool disks_is_bulk(const struct ergo_point *point) {
    return !disks_confined(point);
}

static bool has_no_walls(const struct ergo_point *point) {
    return ergo_is_isobaric(point) || !ergo_confined_has_walls(point);
}

/* At constant volume: are there walls along the axis of profiles; without a field? */
bool disks_is_walled(const struct ergo_point *point) {
    return ergo_confined_walled(point, ergo_confined_axis(point, 2));
}

bool disks_is_slit(const struct ergo_point *point) {
    return disks_is_walled(point) && !ergo_confined_has_field(point);
}

/* Is there a density at contact, of two disks or at a wall? */
static bool has_contact(const struct ergo_point *point) {
    return disks_is_bulk(point) || disks_is_walled(point);
}

#define IN_BULK .acts = disks_is_bulk, .where = "without walls and fields"

const struct ergo_key disks_keys[DISKS_KEYS] = {
    ERGO_HARD_N("disks"),
    {PARTICLE_KEY(packing_fraction, "/system/packing_fraction", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0,
     .max = 0.906, .unit = "",
     .help = "Share of the box that is covered, phi = N pi / (4 L^2); only where a checkerboard of "
             "cells fits the box. This or box, not both. The "
             "liquid ends near 0.700, the hexatic begins near 0.716 (Bernard and Krauth 2011). At "
             "constant pressure that of the start."},
    {PARTICLE_KEY(box, "/system/box", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_LIST, .min = 1.01,
     .max = DISKS_BOX_MAX, .min_items = 2, .max_items = 2, .unit = "sigma",
     .help =
         "Side L of a square box, or sides [Lx, Ly]; at constant pressure those of the start. "
         "The checkerboard needs 2 to 2.82, 4 to 5.65, or 6 and more along each axis without "
         "walls. A "
         "triangular crystal fits where Lx : Ly is that of whole numbers of columns and rows, 2 "
         ": sqrt 3 a pair."},
    {DISKS_KEY(moves, "/system/moves", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "\"displacements\"", .stream = "", .choices = moves, .unit = "",
     .help = "Trial moves: displacements, uniform in a circle (the paper's), or reflections of a "
             "disk in "
             "the middle of the free part of a line through it, along x and y in turn, which "
             "decorrelate psi_6 2.3 to 3 times as much a sweep with moves_per_cell 2 (1.8 times a "
             "second of a GPU); with 4 they gain nothing a second."},
    {PARTICLE_KEY(max_displacement, "/system/max_displacement", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "0.16", .min = 0,
     .max = 1, .unit = "sigma",
     .help = "Radius d of the circle in which trial displacements are uniform (paper, section 3.3: "
             "0.16 decorrelates fastest near melting). At constant pressure it grows and shrinks "
             "with the box: sigma is that of the start.",
     .acts = is_displaced, .where = "where /system/moves is displacements"},
    {PARTICLE_KEY(moves_per_cell, "/system/moves_per_cell", INT),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "4", .min = 1, .max = 64,
     .unit = "",
     .help = "Trial moves n_M of a cell in a sub-sweep, in turn over its disks (section 3.3)."},
    {DISKS_KEY(cells, "/system/cells", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0", .min = 0,
     .max = 65534, .unit = "",
     .help =
         "Cells along a side, even, so that 1 <= w < sqrt 2 (section 3.1); 0: about as many "
         "as there are disks, which is fastest (w is 1/sqrt(density), not below 1.06); at constant "
         "pressure w is about 1.18 at the start, so that the box has room either way.",
     .acts = has_no_walls, .where = "without walls"},
    {PARTICLE_KEY(start, "/system/start", STRING),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD,
     .fallback = "\"hexagonal\"", .unit = "",
     .help = "Starting configuration: hexagonal, square, random (a lattice of small disks that "
             "melts, and grows while they move; up to a packing fraction of 0.76), or the name of "
             "an extended XYZ file (with a dot or a slash in it) whose box is the job's."},
    ERGO_HARD_CURVE_KEYS("disk", "0.02", "0.0001", "5", "5 is free of bias at 1e-5. ", "5", 100,
                         has_contact, disks_is_bulk),
    {DISKS_KEY(neighbour_cutoff, "/run/neighbour_cutoff", REAL), .flags = ERGO_KEY_SHAPE,
     .fallback = "1.5", .min = 1, .max = 2, .unit = "sigma",
     .help = "Bonds of psi_6: from each disk to every image of a disk (nearest or not, its own "
             "too) at this distance or less between centres."},
};

const struct ergo_key disks_keys_nvt[DISKS_KEYS_NVT] = {
    {DISKS_KEY(coordinates, "/system/coordinates", ENUM),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "\"wide\"",
     .choices = coordinates, .unit = "",
     .help =
         "Whole-numbered coordinates in the cell: wide, in steps of w/2^22 (3e-7 sigma); packed, "
         "of w/65535 (2e-5 sigma), in half the memory."},
    {DISKS_KEY(shuffle_particles, "/system/shuffle_particles", BOOL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "true", .unit = "",
     .help = "Shuffle a cell's disks before moving them. false is WRONG on purpose (Table 1)."},
    {DISKS_KEY(shuffle_checkerboard, "/system/shuffle_checkerboard", BOOL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "true", .unit = "",
     .help =
         "Shuffle the four checkerboard sets before every sweep. false breaks detailed balance, "
         "though no effect on the pressure is seen (Table 1)."},
    {DISKS_KEY(leave_cell, "/system/leave_cell", BOOL), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "false", .unit = "",
     .help = "Let centres leave their cell, by up to (w - sigma)/2 so that disks of two active "
             "cells never meet. true is WRONG on purpose (section 2.4)."},
    {DISKS_KEY(block_cells, "/run/block_cells", INT), .flags = ERGO_KEY_SHAPE, .fallback = "8",
     .min = 0, .max = 64, .unit = "cells",
     .help = "Side of the square sub-blocks of the density histogram; 0: none.", IN_BULK},
};

const struct ergo_key disks_keys_npt[DISKS_KEYS_NPT] = {
    ERGO_HARD_PRESSURE("2",
                       "P* = beta P sigma^2 of the npt ensemble. Liquid and hexatic phase meet at "
                       "9.185."),
};
