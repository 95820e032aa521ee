/* One-body factors: keys, lattices and traps, and what kernels get of them. */
#include "samplers/helium/one_body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "helium/core.h"
#include "samplers/helium/liquid.h"

/* Rectangular cells: edges, and places of the atoms in sixths of these. */
static const struct lattice {
    const char *name;
    uint32_t atoms;
    double edge2[3]; /* squares of the edges, in units of the first */
    double nearest2; /* square of the distance of nearest sites, likewise */
    uint8_t sixths[4][3];
} lattices[] = {
    [HELIUM_NO_SITES] = {"none", 1, {1, 1, 1}, 1, {{0}}},
    [HELIUM_HCP] = {"hcp", 4, {1, 3, 8.0 / 3}, 1, {{0, 0, 0}, {3, 3, 0}, {0, 2, 3}, {3, 5, 3}}},
    [HELIUM_FCC] = {"fcc", 4, {1, 1, 1}, 0.5, {{0, 0, 0}, {3, 3, 0}, {3, 0, 3}, {0, 3, 3}}},
    [HELIUM_BCC] = {"bcc", 2, {1, 1, 1}, 0.75, {{0, 0, 0}, {3, 3, 3}}},
    [HELIUM_TRIANGULAR] = {"triangular", 2, {1, 3, 1}, 1, {{0, 0, 0}, {3, 3, 0}}},
    [HELIUM_TRAP] = {"trap", 1, {1, 1, 1}, 1, {{0}}},
    [HELIUM_SLAB] = {"slab", 1, {1, 1, 1}, 1, {{0}}},
};

static const char *const names[] = {"none",       "hcp",  "fcc",  "bcc",
                                    "triangular", "trap", "slab", NULL};

/* c of a lattice by itself, in density^(2/3): near the least energy of solid helium. And in two
 * dimensions, in units of the density. */
#define LOCALISATION 11.0
#define LOCALISATION_2D 9.0
/* |psi|^2 of an atom is exp(-c r^2): least c r^2 at half the shortest side, where the factor's
 * slope jumps; in a trap at a quarter, so that no atom sees another's image. */
#define AT_SIDE 12.0

/* ---- keys ------------------------------------------------------------------------------------ */

static enum helium_one_kind kind_of(const struct ergo_point *point) {
    const char *name = of_quantum(point)->one_body;
    int kind = HELIUM_SLAB;
    while (kind > 0 && strcmp(lattices[kind].name, name) != 0)
        kind--;
    return (enum helium_one_kind)kind;
}

bool helium_has_sites(const struct ergo_point *point) {
    return kind_of(point) != HELIUM_NO_SITES;
}

bool helium_is_confined(const struct ergo_point *point) {
    return kind_of(point) >= HELIUM_TRAP;
}

bool helium_one_is_solid(const struct helium_one_body *one) {
    return one->kind > HELIUM_NO_SITES && one->kind < HELIUM_TRAP;
}

bool helium_is_solid(const struct ergo_point *point) {
    return helium_has_sites(point) && !helium_is_confined(point);
}

static bool has_width(const struct ergo_point *point) {
    return helium_has_sites(point) && helium_factor_is_gaussian(point);
}

static bool is_harmonic(const struct ergo_point *point) {
    return helium_is_confined(point) && helium_external_is_harmonic(point);
}

#define SHAPE_CHAIN (ERGO_KEY_SHAPE | ERGO_KEY_CHAIN)

const struct ergo_key helium_one_body_keys[HELIUM_N_ONE_BODY_KEYS] = {
    {QUANTUM_KEY(one_body, "/system/one_body", ENUM),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "\"none\"", .stream = "",
     .choices = names, .unit = "",
     .help =
         "Factor exp(-c/2 |r - R|^2) of each atom in psi, beside the pairs'. hcp, fcc, bcc: R is "
         "the atom's site of a lattice that the density fixes (a solid: L. H. Nosanow, Phys. Rev. "
         "146, 120 (1966)); n is 4, 4, 2 atoms times the cells, which are as many along the sides "
         "as /system/aspect says, times an integer (hcp: aspect [5, 3, 3], n = 180; its cell is "
         "1 : sqrt(3) : sqrt(8/3)). triangular: that of two dimensions, n = 2 atoms times the "
         "cells "
         "of 1 : sqrt(3) (aspect [5, 3], n = 30 and 120). trap: R is the middle of the box, and V "
         "has the harmonic "
         "potential hbar omega |r - R|^2 / (2 a^2) of /system/trap_length a; the box, by "
         "/system/density, must be so large that atoms do not reach its sides. slab: the same "
         "along "
         "the third axis (of three dimensions) alone, with periodic sides along the others: a film "
         "between two surfaces "
         "(trap_length 1e5: free ones)."},
    {QUANTUM_KEY(localisation, "/system/localisation", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0", .stream = "", .min = 0, .max = 1000,
     .unit = "1/A^2",
     .help = "c of the one-body factor. 0: 11 density^(2/3) of a lattice (in two dimensions 9 "
             "density), "
             "near the least energy of solid helium; of a trap or slab 1/trap_length^2, the ground "
             "state without interactions.",
     .acts = has_width, .where = "with a Gaussian one_body factor"},
    {QUANTUM_KEY(trap_length, "/system/trap_length", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_EXCLUDES_MIN, .fallback = "3", .min = 0, .max = 1e5,
     .unit = "A",
     .help =
         "Oscillator length a = sqrt(hbar/(m omega)) of the trap: hbar omega = 2 lambda / a^2 = "
         "12.1193 K A^2 / a^2 for helium-4.",
     .acts = is_harmonic, .where = "with one_body trap or slab and a harmonic external potential"},
    {QUANTUM_KEY(external, "/system/external", STRING),
     .flags = SHAPE_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD, .fallback = "\"harmonic\"", .stream = "",
     .unit = "",
     .help = "External potential of each atom of a trap or slab. harmonic: by trap_length; or the "
             "name of a file (with a dot or a slash in it) with lines \"x V\" in A and K, between "
             "which it is a cubic spline. x is the distance from the middle of a trap, up to half "
             "the shortest side at least; of a slab the height over the middle plane, which may be "
             "negative, from minus half to half the third side.",
     .acts = helium_is_confined, .where = "with one_body trap or slab"},
    {QUANTUM_KEY(one_body_factor, "/system/one_body_factor", STRING),
     .flags = SHAPE_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD, .fallback = "\"gaussian\"", .stream = "",
     .unit = "",
     .help = "Factor of each atom of a trap or slab in psi. gaussian: by localisation; or the name "
             "of a file with lines \"x w\" for a factor exp(w(x)), x as in /system/external: ln of "
             "the ground state in the external potential, where that is what holds the atoms.",
     .acts = helium_is_confined, .where = "with one_body trap or slab"},
};

/* ---- the factor ------------------------------------------------------------------------------ */

static uint64_t power_of(uint64_t s, uint32_t dimensions) {
    return dimensions == 2 ? s * s : s * s * s;
}

/* The largest s for which s^d times so many atoms are no more than n, at least 1. */
static uint32_t times_of(uint32_t n, uint64_t atoms, uint32_t dimensions) {
    uint32_t s = 1;
    while (power_of(s + 1, dimensions) * atoms <= n)
        s++;
    return s;
}

struct helium_one_body helium_one_body_of(const struct ergo_point *point,
                                          const struct helium_model *m) {
    struct helium_one_body one = {.kind = kind_of(point), .dimensions = m->dimensions};
    const struct lattice *l = &lattices[one.kind];
    int64_t aspect[3];
    helium_aspect(point, aspect);
    const uint64_t cells = (uint64_t)(aspect[0] * aspect[1] * aspect[2]);
    const uint32_t times = times_of(m->n, l->atoms * cells, m->dimensions);
    const double a = is_harmonic(point) ? of_quantum(point)->trap_length : 0;
    for (uint32_t k = 0; k < 3; k++) {
        const bool moves = k < m->dimensions;
        one.edge[k] = sqrt(l->edge2[k]);
        one.cells[k] = moves ? times * (uint32_t)aspect[k] : 1;
        one.along[k] = moves && (one.kind != HELIUM_SLAB || k == 2);
    }
    if (one.kind == HELIUM_NO_SITES)
        return one;
    const double spacing = helium_apart(m->dimensions, m->density);
    const double wish = m->dimensions == 2 ? LOCALISATION_2D : LOCALISATION;
    one.c = of_quantum(point)->localisation;
    if (one.c == 0)
        one.c = a > 0 ? 1 / (a * a) : wish / (spacing * spacing);
    one.spring = a > 0 ? m->lambda / (a * a * a * a) : 0;
    return one;
}

void helium_site_of(const struct helium_one_body *one, uint32_t i, uint32_t site[3]) {
    const struct lattice *l = &lattices[one->kind];
    const uint32_t cell = i / l->atoms, *cells = one->cells;
    const uint64_t at[3] = {cell % cells[0], cell / cells[0] % cells[1],
                            cell / cells[0] / cells[1]};
    for (uint32_t k = 0; k < 3; k++)
        site[k] = k >= one->dimensions ? 0
                  : one->kind >= HELIUM_TRAP
                      ? 0x80000000u
                      : (uint32_t)(((6 * at[k] + l->sixths[i % l->atoms][k]) << 32) /
                                   (6 * (uint64_t)cells[k]));
}

void helium_sites(const struct helium_model *m, int32_t *sites) {
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t site[3] = {0, 0, 0};
        if (m->one.kind != HELIUM_NO_SITES)
            helium_site_of(&m->one, i, site);
        for (uint32_t k = 0; k < 3; k++)
            sites[k * m->n + i] = (int32_t)site[k];
    }
    if (m->external.v || m->external.w)
        helium_external_table(m, sites + 3 * (size_t)m->n);
}

size_t helium_sites_words(const struct ergo_point *point) {
    return 3 * (size_t)of_quantum(point)->n + helium_external_words(point);
}

double helium_nearest_sites(const struct helium_model *m) {
    return m->side[0] / m->one.cells[0] * sqrt(lattices[m->one.kind].nearest2);
}

double helium_model_spacing(const struct helium_model *m) {
    return m->one.kind == HELIUM_TRAP ? 1 / sqrt(m->one.c)
                                      : helium_apart(m->dimensions, m->density);
}

void helium_member_sites(const struct helium_model *m, struct helium_member *member) {
    member->site_u = (float)ldexp(0.5 * m->one.c, HELIUM_U_BITS);
    member->site_v = (float)(2 * m->one.spring);
    for (int k = 0; k < 3; k++) {
        const double along = m->one.along[k];
        member->site_length[k] = (float)(along * m->side[k] * 0x1p-32);
        member->site_force[k] = (float)(-sqrt(m->lambda) * m->one.c * along);
    }
    member->site_mean =
        (float)(-sqrt(m->lambda) * m->one.c *
                (m->one.along[0] + m->one.along[1] + m->one.along[2]) / m->dimensions);
    if (m->external.v || m->external.w)
        helium_external_member(m, member);
}

/* An atom at its site alone has |r - R|^2 = d/(2c) on average; exp(-64) is the probability of
 * 64/c. */
void helium_site_shares(const struct helium_model *m, double usual[4], double largest[4]) {
    if (m->external.v || m->external.w) {
        helium_external_shares(m, usual, largest);
        return;
    }
    const double c = m->one.c, at[2] = {c > 0 ? 0.5 * m->dimensions / c : 0, c > 0 ? 64 / c : 0};
    double *shares[2] = {usual, largest};
    for (int k = 0; k < 2; k++) {
        shares[k][0] += 2 * m->one.spring * at[k];
        shares[k][1] += 4 * m->one.spring * at[k];
        shares[k][2] += m->dimensions * m->lambda * c;
        shares[k][3] += sqrt(m->lambda * at[k]) * c;
    }
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Edge of the first cloud of a trap: twice the factor's length, or 3 A for each atom of a row if
 * pairs keep apart. As a power of two of the box. */
static unsigned shrunk(const struct helium_model *m) {
    const double row = m->dimensions == 2 ? sqrt(m->n) : helium_cube_root(m->n);
    const double apart = m->b > 0 || m->f_curve ? 3 * row : 0;
    const double edge = fmax(2 / sqrt(m->one.c), apart);
    unsigned halvings = 0;
    while (ldexp(2 * m->half, -(int)halvings - 1) > edge)
        halvings++;
    return halvings;
}

/* A lattice in a film of that thickness, 3 A for each layer if pairs keep apart. */
static void slab_start(const struct helium_model *m, const struct helium_member *member,
                       uint32_t walker, int32_t *place) {
    const double area = m->side[0] * m->side[1];
    const double film = m->b > 0 || m->f_curve ? 27 * m->n / area : 0;
    const double thick = fmin(fmax(2 / sqrt(m->one.c), film), m->side[2] / 2);
    const double apart = helium_cube_root(area * thick / m->n);
    const uint64_t part = (uint64_t)(thick / m->side[2] * 0x1p32);
    const uint32_t middle =
        0x80000000u + (uint32_t)(int64_t)(m->external.middle / m->side[2] * 0x1p32);
    uint32_t sites[4] = {1, 1, 1, 0};
    for (int k = 0; k < 2; k++)
        sites[k] = (uint32_t)fmax(1, floor(m->side[k] / apart));
    sites[2] = (m->n + sites[0] * sites[1] - 1) / (sites[0] * sites[1]);
    helium_lattice_start(sites, member, m->n, walker, place);
    for (uint32_t i = 0; i < m->n; i++) {
        int32_t *z = &place[2 * m->n + i];
        const int64_t away = (int64_t)(uint32_t)*z - INT64_C(0x80000000);
        *z = (int32_t)(middle + (uint32_t)(away * (int64_t)part / (INT64_C(1) << 32)));
    }
}

void helium_sites_start(const struct helium_model *m, const uint32_t lattice[4],
                        const struct helium_member *member, uint32_t walker, int32_t *place) {
    if (m->one.kind == HELIUM_SLAB) {
        slab_start(m, member, walker, place);
        return;
    }
    helium_lattice_start(lattice, member, m->n, walker, place);
    const unsigned halvings = m->one.kind == HELIUM_TRAP ? shrunk(m) : 0;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t site[3];
        helium_site_of(&m->one, i, site);
        const struct ergo_words w =
            ergo_philox_words(walker * m->n + i, 0, 0, ERGO_DRAW(HELIUM_PURPOSE_START, 0),
                              member->key0, member->key1);
        const uint32_t words[3] = {w.x, w.y, w.z};
        for (uint32_t k = 0; k < 3; k++) {
            int32_t *at = &place[k * m->n + i];
            const int64_t away = (int64_t)(uint32_t)*at - INT64_C(0x80000000);
            const uint64_t width = UINT64_C(0x100000000) / m->one.cells[k];
            const uint64_t jitter = (width / 10 * (words[k] >> 16) >> 16) - width / 20;
            *at = (int32_t)(k >= m->dimensions ? 0
                            : m->one.kind == HELIUM_TRAP
                                ? site[k] + (uint32_t)(away / (INT64_C(1) << halvings))
                                : site[k] + (uint32_t)jitter);
        }
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The proportions of up to 64 cells along each side that hold `cells` cells in the box nearest to a
 * cube, or a square. Returns its longest side over its shortest; infinite: there are none. */
static double nearest_cube(const struct lattice *l, uint32_t dimensions, uint32_t cells,
                           int64_t found[3]) {
    double best = INFINITY;
    for (uint32_t x = 1; x <= 64; x++)
        for (uint32_t y = 1; y <= 64 && cells % x == 0; y++) {
            const uint32_t rest = cells / x, z = rest % y == 0 ? rest / y : 0;
            const double side[3] = {x * sqrt(l->edge2[0]), y * sqrt(l->edge2[1]),
                                    dimensions == 2 ? x * sqrt(l->edge2[0])
                                                    : z * sqrt(l->edge2[2])};
            const double most = fmax(side[0], fmax(side[1], side[2]));
            const double ratio = most / fmin(side[0], fmin(side[1], side[2]));
            if (z == 0 || z > (dimensions == 2 ? 1 : 64) || !(ratio < best))
                continue;
            best = ratio;
            found[0] = x;
            found[1] = y;
            found[2] = z;
        }
    return best;
}

/* "[5, 3, 3]", in two dimensions "[5, 3]". */
static void say_aspect(uint32_t dimensions, const int64_t aspect[3], char text[80]) {
    int length = snprintf(text, 80, "[%lld, %lld", (long long)aspect[0], (long long)aspect[1]);
    if (dimensions == 3)
        length += snprintf(text + length, 80 - (size_t)length, ", %lld", (long long)aspect[2]);
    snprintf(text + length, 80 - (size_t)length, "]");
}

static enum ergo_status misfit(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct helium_model *m) {
    const struct lattice *l = &lattices[m->one.kind];
    const uint32_t dimensions = m->dimensions;
    int64_t aspect[3], cube[3] = {0};
    helium_aspect(point, aspect);
    const uint64_t atoms = l->atoms * (uint64_t)(aspect[0] * aspect[1] * aspect[2]);
    const uint64_t s = times_of(m->n, atoms, dimensions), below = power_of(s, dimensions) * atoms;
    const uint64_t above = below > m->n ? below : power_of(s + 1, dimensions) * atoms;
    char other[120] = "", smaller[40] = "", found[80], better[80];
    say_aspect(dimensions, aspect, found);
    if (m->n % l->atoms == 0 && nearest_cube(l, dimensions, m->n / l->atoms, cube) < 1.5) {
        say_aspect(dimensions, cube, better);
        snprintf(other, sizeof other, "; or keep n, with /system/aspect %s", better);
    }
    if (below < m->n)
        snprintf(smaller, sizeof smaller, "%llu or ", (unsigned long long)below);
    return ergo_job_error(ctx, "/system/n",
                          "%u atoms do not fill a box of %s cells (%u atoms each) in proportion to "
                          "/system/aspect %s: %s%llu do%s",
                          m->n, l->name, l->atoms, found, smaller, (unsigned long long)above,
                          other);
}

/* Density of helium in a droplet that pairs keep from shrinking, 1/A^3, and in a plane, 1/A^2. */
#define DROPLET 0.022
#define DROPLET_2D 0.044
/* Shortest length of a factor, in units of the longest side: 2^10 steps of a position. */
#define RESOLVED 0x1p-22

/* Atoms of a trap that keep each other apart: the droplet of n ends at half the half side. */
static enum ergo_status check_droplet(struct ergo_context *ctx, const struct ergo_point *point,
                                      const struct helium_model *m) {
    const double pi = 3.14159265358979323846, reach = m->half / 2;
    const bool plane = m->dimensions == 2;
    const double volume = plane ? m->n / (pi * DROPLET_2D) : 3 * m->n / (4 * pi * DROPLET);
    const double room = plane ? reach * reach : reach * reach * reach;
    if ((helium_is_schiff_verlet(point) && m->b == 0) || volume <= room)
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/density",
                          "%g: half a side of the box is %.4g A, and a droplet of %u atoms in the "
                          "trap has a radius of %.3g A, more than half of that: at most a density "
                          "of %.2g, for a larger box",
                          m->density, m->half, m->n,
                          plane ? sqrt(volume) : helium_cube_root(volume),
                          0.99 * m->density * room / volume);
}

/* The film between the surfaces of a slab ends at a quarter of the box. */
static enum ergo_status check_film(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct helium_model *m) {
    if ((helium_is_schiff_verlet(point) && m->b == 0) || m->density <= DROPLET / 2)
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/density",
                          "%g: a film of %u atoms would be %.3g A thick, more than half of the "
                          "%.4g A of the box across it: at most %g, for a larger box",
                          m->density, m->n, m->n / (DROPLET * m->side[0] * m->side[1]), m->side[2],
                          DROPLET / 2);
}

static enum ergo_status check_resolved(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct helium_model *m) {
    const double side = fmax(m->side[0], fmax(m->side[1], m->side[2])), least = RESOLVED * side;
    if (is_harmonic(point) && of_quantum(point)->trap_length < least)
        return ergo_job_error(ctx, "/system/trap_length",
                              "%g A: positions are in steps of the box, whose side is %.4g A: at "
                              "least %.2g A, or a higher /system/density",
                              of_quantum(point)->trap_length, side, 1.01 * least);
    if (1 / sqrt(m->one.c) < least)
        return ergo_job_error(ctx, "/system/localisation",
                              "%.4g A^-2, a length of %.2g A: positions are in steps of the box, "
                              "whose side is %.4g A: at most %.2g A^-2, or a higher "
                              "/system/density",
                              m->one.c, 1 / sqrt(m->one.c), side, 0.99 / (least * least));
    return ERGO_OK;
}

enum ergo_status helium_check_one_body(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct helium_model *m) {
    const struct helium_one_body *one = &m->one;
    const bool trap = helium_is_confined(point), slab = one->kind == HELIUM_SLAB;
    const bool planar = one->kind == HELIUM_TRIANGULAR, plane = m->dimensions == 2;
    if (one->kind == HELIUM_NO_SITES)
        return ERGO_OK;
    static const char *const files[2][2] = {{"/system/external", "harmonic"},
                                            {"/system/one_body_factor", "gaussian"}};
    for (int k = 0; k < 2; k++) {
        const char *found = k ? of_quantum(point)->one_body_factor : of_quantum(point)->external;
        if (trap && strcmp(found, files[k][1]) != 0 && !helium_is_file(found))
            return ergo_job_error(ctx, files[k][0],
                                  "found \"%s\"; allowed: \"%s\", or the name of a file, with a "
                                  "dot or a slash in it",
                                  found, files[k][1]);
    }
    if (trap && !helium_external_is_harmonic(point) && has_width(point) &&
        of_quantum(point)->localisation == 0)
        return ergo_job_error(ctx, "/system/localisation",
                              "0, which is that of a harmonic trap: an external potential from a "
                              "file needs a localisation above 0, or a /system/one_body_factor");
    if (one->kind != HELIUM_TRAP && planar != plane)
        return ergo_job_error(ctx, "/system/one_body",
                              "%s in %s dimensions (/system/dimensions): there are %s",
                              lattices[one->kind].name, plane ? "two" : "three",
                              plane ? "triangular, trap" : "hcp, fcc, bcc, trap, slab");
    if (trap && of_quantum(point)->tail_correction)
        return ergo_job_error(
            ctx, "/system/tail_correction",
            "true: a trap or slab has no uniform density, with which a tail is found");
    if (!trap &&
        (uint64_t)lattices[one->kind].atoms * one->cells[0] * one->cells[1] * one->cells[2] != m->n)
        return misfit(ctx, point, m);
    const double reach = slab   ? m->side[2] / 4
                         : trap ? m->half / 2
                                : m->half,
                 found = one->c * reach * reach;
    const enum ergo_status resolved = has_width(point) ? check_resolved(ctx, point, m) : ERGO_OK;
    if (resolved != ERGO_OK)
        return resolved;
    if (found >= AT_SIDE || !has_width(point)) /* of files: helium_external_load */
        return slab ? check_film(ctx, point, m) : trap ? check_droplet(ctx, point, m) : ERGO_OK;
    if (slab)
        return ergo_job_error(ctx, "/system/density",
                              "%g: the box is %.4g A across the slab, and atoms with a "
                              "localisation of %.4g A^-2 are a quarter of that from its middle "
                              "with probability exp(-%.2g): at most a density of %.2g, or a third "
                              "number of /system/aspect %.2g times as large",
                              m->density, m->side[2], one->c, found,
                              0.99 * m->density * pow(found / AT_SIDE, 1.5),
                              1.01 * pow(AT_SIDE / found, 0.75));
    if (trap)
        return ergo_job_error(ctx, "/system/density",
                              "%g: half a side of the box is %.4g A, and atoms of a trap with a "
                              "localisation of %.4g A^-2 reach half of that with probability "
                              "exp(-%.2g): at most a density of %.2g, for a larger box",
                              m->density, m->half, one->c, found,
                              0.99 * m->density * pow(found / AT_SIDE, 0.5 * m->dimensions));
    return ergo_job_error(ctx, "/system/localisation",
                          "%.4g A^-2: an atom reaches half the shortest side of the box, %.4g A, "
                          "with probability exp(-%.2g): at least %.2g, or more atoms",
                          one->c, m->half, found, 1.01 * AT_SIDE / (reach * reach));
}
