/* Keys of a liquid, for all samplers of it. */

#include "samplers/helium/liquid.h"

#define SHAPE_CHAIN (ERGO_KEY_SHAPE | ERGO_KEY_CHAIN)

static bool named_potential(const struct ergo_point *point) {
    return !helium_is_file(of_quantum(point)->potential);
}

/* Conditions under which keys act. */
bool helium_is_schiff_verlet(const struct ergo_point *point) {
    return ergo_says(of_quantum(point)->wave_function, "schiff-verlet");
}

bool helium_is_two_body(const struct ergo_point *point) {
    return ergo_says(of_quantum(point)->wave_function, "two-body");
}

static bool is_from_file(const struct ergo_point *point) {
    return helium_is_file(of_quantum(point)->wave_function);
}

static bool is_lennard_jones(const struct ergo_point *point) {
    return ergo_says(of_quantum(point)->potential, "lennard-jones");
}

static bool measures_structure(const struct ergo_point *point) {
    return of_quantum(point)->structure_every > 0;
}

uint32_t helium_dimensions(const struct ergo_point *point) {
    return (uint32_t)of_quantum(point)->dimensions;
}

void helium_aspect(const struct ergo_point *point, int64_t aspect[3]) {
    const struct ergo_value *value = &of_quantum(point)->aspect;
    for (int k = 0; k < 3; k++)
        aspect[k] = k < value->items ? value->size[k] : 1;
}

const struct ergo_key helium_liquid_keys[HELIUM_N_LIQUID_KEYS] = {
    {QUANTUM_KEY(n, "/system/n", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | SHAPE_CHAIN, .min = 2,
     .max = 65536, .unit = "atoms",
     .help = "Atoms in the periodic box; on a lattice only numbers that fill its cells."},
    {QUANTUM_KEY(dimensions, "/system/dimensions", INT), .flags = ERGO_KEY_FORM | SHAPE_CHAIN,
     .fallback = "3", .stream = "", .min = 2, .max = 3, .unit = "",
     .help = "2: all atoms are in a plane, in a periodic rectangle, by the pair potential of three "
             "dimensions (S. Giorgini, J. Boronat, J. Casulleras, Phys. Rev. B 54, 6099 (1996))."},
    {QUANTUM_KEY(density, "/system/density", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .fallback = "0.02186", .min = 0, .max = 1, .unit = "1/A^3",
     .help =
         "Number density, such that a side is at most 1e6 A; 0.02186 (21.86 nm^-3) is liquid "
         "helium-4 at zero pressure (Lutsyshyn "
         "2015, section 7). In two dimensions in 1/A^2: 0.04344 at zero pressure (Giorgini 1996)."},
    {QUANTUM_KEY(aspect, "/system/aspect", SIZE), .flags = ERGO_KEY_FORM | SHAPE_CHAIN,
     .fallback = "[1, 1, 1]", .min = 1, .max = 64, .min_items = 2, .max_items = 3, .unit = "",
     .help =
         "Proportions of the box's sides, in two dimensions two numbers; the cut-off is half the "
         "shortest."},
    {QUANTUM_KEY(b, "/system/b", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "3.07",
     .min = 0, .max = 100, .unit = "A",
     .help = "Parameter of the wave function, f(r) = -(b/r)^5/2 (Eq. 9); 0: an ideal gas. The "
             "paper's sample run is reproduced with 3.0672, not with the 3.07 of its text.",
     .acts = helium_is_schiff_verlet, .where = "with wave_function schiff-verlet"},
    {QUANTUM_KEY(mass, "/system/mass", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "4.002602",
     .min = 0, .max = 1000, .unit = "u",
     .help = "Mass of an atom: hbar^2/2m = 6.05965 K A^2 for helium-4."},
    {QUANTUM_KEY(potential, "/system/potential", STRING),
     .flags = SHAPE_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD, .fallback = "\"aziz-hfd-b-he\"",
     .unit = "",
     .help = "Pair potential, cut at half the shortest side. aziz-hfd-b-he: HFD-B(HE), Aziz, "
             "McCourt, Wong, Mol. Phys. 61, 1487 (1987); aziz-hfdhe2: HFDHE2, J. Chem. Phys. 70, "
             "4330 (1979); aziz-hfd-b3-fci1: HFD-B3-FCI1, Phys. Rev. Lett. 74, 1586 (1995); "
             "lennard-jones; or the name of a file "
             "(with a dot or a slash in it) with lines \"r V\" in A and K, between which it is a "
             "cubic spline."},
    {QUANTUM_KEY(tail_correction, "/system/tail_correction", BOOL), .flags = ERGO_KEY_SHAPE,
     .fallback = "false", .unit = "",
     .help = "Add to potential, energy and pressure what the cut leaves out if g(r) = 1 beyond it: "
             "2 pi density times the integral of r^2 V, and for the virial of r^3 V' (in two "
             "dimensions pi density times those of r V and r^2 V'). psi has no "
             "correlations there, so the kinetic energy has no such part. The chain is the same.",
     .acts = named_potential, .where = "on named potentials"},
    {QUANTUM_KEY(epsilon, "/system/epsilon", REAL), .flags = ERGO_KEY_SCAN, .fallback = "10.22",
     .min = 0, .max = 1e6, .unit = "K",
     .help = "lennard-jones: depth (10.22 K: de Boer and Michels).", .acts = is_lennard_jones,
     .where = "with potential lennard-jones"},
    {QUANTUM_KEY(sigma, "/system/sigma", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_EXCLUDES_MIN,
     .fallback = "2.556", .min = 0, .max = 100, .unit = "A", .help = "lennard-jones: diameter.",
     .acts = is_lennard_jones, .where = "with potential lennard-jones"},
    {QUANTUM_KEY(wave_function, "/system/wave_function", STRING),
     .flags = SHAPE_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD, .fallback = "\"schiff-verlet\"",
     .unit = "",
     .help = "psi = exp(sum u(r)). schiff-verlet: u(r) = f(r) + f(L-r) - 2 f(L/2) up to L/2, 0 "
             "beyond, L the shortest side, f of Eq. 9 (Eq. 8 as printed is a misprint); two-body: "
             "exp(u) is the "
             "state of two atoms alone, -2 lambda lap f + V f = e f, with f = 1 and f' = 0 at "
             "/system/healing (Pandharipande and "
             "Bethe, Phys. Rev. C 7, 1312 (1973)), for diffusion Monte Carlo; or the "
             "name of a file (with a dot or a slash in it) with lines \"r f\", r in A, between "
             "which f is a cubic spline."},
    {QUANTUM_KEY(healing, "/system/healing", REAL), .flags = ERGO_KEY_SCAN, .fallback = "0",
     .min = 0, .max = 1000, .unit = "A",
     .help = "two-body: from this distance on u is 0; at most half the shortest side. 0: 5.5 A, or "
             "half "
             "the shortest side where that is less.",
     .acts = helium_is_two_body, .where = "with wave_function two-body"},
    {QUANTUM_KEY(symmetrised, "/system/symmetrised", BOOL), .flags = ERGO_KEY_SHAPE,
     .fallback = "true", .unit = "",
     .help = "A wave function from a file: true: as above, from f up to L; false: u(r) = f(r) - "
             "f(L/2), whose slope should be 0 at L/2 (kinetic_difference tells).",
     .acts = is_from_file, .where = "with a wave_function from a file"},
};

const struct ergo_key helium_structure_keys[HELIUM_N_STRUCTURE_KEYS] = {
    {QUANTUM_KEY(frame_walkers, "/run/frame_walkers", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "1", .min = 1, .max = 1048576, .unit = "",
     .help = "Walkers (the first ones) in snapshots and trajectories: a frame each, one file."},
    {QUANTUM_KEY(structure_every, "/run/structure_every", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "20", .min = 0, .max = 1e12, .unit = "measurements",
     .help = "Measure g(r) and S(k), on the host, with every so many measurements; 0: never."},
    {QUANTUM_KEY(structure_walkers, "/run/structure_walkers", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "4", .min = 1, .max = 1048576, .unit = "",
     .help = "Walkers (the first ones) that g(r) and S(k) are taken from."},
    {QUANTUM_KEY(gr_bins, "/run/gr_bins", INT), .flags = ERGO_KEY_SHAPE, .fallback = "100",
     .min = 1, .max = 10000, .unit = "", .help = "Bins of g(r), up to half the shortest side."},
    {QUANTUM_KEY(sk_max, "/run/sk_max", REAL), .flags = ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN,
     .fallback = "4", .min = 0, .max = 100, .unit = "1/A",
     .help = "Largest wave number of S(k); wave vectors along axes, face and space diagonals (in "
             "two dimensions axes and diagonals)."},
    {QUANTUM_KEY(pair_map_bins, "/run/pair_map_bins", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "0", .min = 0, .max = 256, .unit = "",
     .help =
         "Cells along each side of pair_map, the pair distribution by vectors, which is measured "
         "with g(r): for solids, films, and whatever is not the same in all directions. 0: none.",
     .acts = measures_structure, .where = "with structure_every above 0"},
    {QUANTUM_KEY(density_matrix_points, "/run/density_matrix_points", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "0", .min = 0, .max = 4096, .unit = "",
     .help =
         "Displacements of the one-body density matrix (W. L. McMillan, Phys. Rev. 138, A442 "
         "(1965)): with each sample of g(r) every atom of /run/structure_walkers walkers is "
         "thought "
         "to be at so many distances up to half the shortest side, along a random direction, and "
         "at as many places anywhere in the box, and psi(R')/psi(R) is averaged: curves "
         "density_matrix, momentum, and condensate_fraction. Each costs about what a "
         "macroupdate does. The chain is the same. 0: none.",
     .acts = measures_structure, .where = "with structure_every above 0"},
};
