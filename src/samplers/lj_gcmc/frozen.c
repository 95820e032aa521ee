/*
 * Atoms that do not move, from an XYZ file. A particle and an atom have the job's pair potential,
 * cut off at the same distance and shifted like it, with sigma and epsilon by the rules of Lorentz
 * and Berthelot. cl/lj_gcmc/params.h has the layout of the tables.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/xyz.h"
#include "samplers/lj_gcmc/lj.h"

/* Most atoms, and most cells along an axis. */
enum { MOST_ATOMS = 1 << 22, MOST_CELLS = 128 };

bool lj_has_frozen(const struct ergo_point *point) {
    return lj_takes_fields(point) && of_lj(point)->frozen_file.present;
}

void lj_atoms_free(struct lj_atoms *atoms) {
    if (!atoms)
        return;
    free(atoms->words);
    free(atoms->species);
    free(atoms->first);
    free(atoms->next);
    free(atoms);
}

/* The value of a key that is one number for all species, or a list of theirs. */
static double of_species(const struct ergo_value *value, size_t species) {
    return value->items > 0 ? value->reals[species] : value->real;
}

/* A list has to have as many numbers as there are species. */
static enum ergo_status check_species(struct ergo_context *ctx, const struct ergo_point *point,
                                      const struct ergo_xyz *frame) {
    static const char *const keys[] = {"/system/frozen/epsilon", "/system/frozen/sigma"};
    const char *path = of_lj(point)->frozen_file.text;
    const struct ergo_value *values[] = {&of_lj(point)->frozen_epsilon,
                                         &of_lj(point)->frozen_sigma};
    for (size_t i = 0; i < 2; i++) {
        const struct ergo_value *value = values[i];
        if (value->items > 0 && frame->n_species > LJ_MOST_SPECIES)
            return ergo_job_error(ctx, keys[i],
                                  "%s has more species than %d, which are the most that can have "
                                  "values of their own",
                                  path, LJ_MOST_SPECIES);
        if (value->items > 0 && (size_t)value->items != frame->n_species)
            return ergo_job_error(
                ctx, keys[i],
                "%d numbers, but %s has %zu species: give as many, in the order in "
                "which they come first, or one for all",
                value->items, path, frame->n_species);
    }
    return ERGO_OK;
}

static enum ergo_status fill(struct ergo_context *ctx, const struct ergo_point *point,
                             const struct ergo_xyz *frame, struct lj_atoms *atoms) {
    const struct ergo_value *epsilon = &of_lj(point)->frozen_epsilon;
    const struct ergo_value *sigma = &of_lj(point)->frozen_sigma;
    const bool apart = epsilon->items > 0 || sigma->items > 0;
    if (frame->n > MOST_ATOMS)
        return ergo_job_error(ctx, "/system/frozen/file", "%s has %zu atoms; at most %d",
                              of_lj(point)->frozen_file.text, frame->n, MOST_ATOMS);
    atoms->n = (uint32_t)frame->n;
    atoms->n_species = apart ? (uint32_t)frame->n_species : 1;
    atoms->species = calloc(frame->n, 1);
    if (!atoms->species)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu atoms", frame->n);
    if (apart)
        memcpy(atoms->species, frame->species, frame->n);
    for (uint32_t k = 0; k < atoms->n_species; k++) {
        atoms->epsilon[k] = of_species(epsilon, k);
        atoms->sigma[k] = of_species(sigma, k);
    }
    return ERGO_OK;
}

static size_t cell_of(const struct lj_atoms *a, size_t atom) {
    size_t cell = 0;
    for (size_t k = 3; k-- > 0;)
        cell =
            cell * a->cells[k] + (uint32_t)((uint64_t)a->words[3 * atom + k] * a->cells[k] >> 32);
    return cell;
}

static size_t cells_of(const struct lj_atoms *a) {
    return (size_t)a->cells[0] * a->cells[1] * a->cells[2];
}

static enum ergo_status enter(struct ergo_context *ctx, const struct lj_system *s,
                              struct lj_atoms *a) {
    for (int k = 0; k < 3; k++) {
        const double cells = floor(s->box[k] / (s->cutoff / LJ_FROZEN_REACH) / (1 + 1e-6));
        a->cells[k] = (uint32_t)fmin(MOST_CELLS, fmax(1, cells));
    }
    a->first = malloc(cells_of(a) * sizeof *a->first);
    a->next = malloc(a->n * sizeof *a->next);
    if (!a->first || !a->next)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for cells of %u atoms", a->n);
    memset(a->first, 0xff, cells_of(a) * sizeof *a->first);
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t *const first = &a->first[cell_of(a, i)];
        a->next[i] = *first;
        *first = i;
    }
    return ERGO_OK;
}

/* A file without Lattice may be in other units: a solid wider than the box is not meant. */
static enum ergo_status check_size(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct lj_system *s, const struct ergo_xyz *frame) {
    for (size_t k = 0; k < 3 && !frame->has_lattice; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < frame->n; i++) {
            low = fmin(low, frame->positions[3 * i + k]);
            high = fmax(high, frame->positions[3 * i + k]);
        }
        if (high - low > s->box[k] * (1 + 1e-6))
            return ergo_job_error(ctx, "/system/frozen/file",
                                  "atoms of %s are %.6g apart along %c, but the box is %.6g: "
                                  "positions are in sigma, within a box (or give Lattice there)",
                                  of_lj(point)->frozen_file.text, high - low, (char)('x' + k),
                                  s->box[k]);
    }
    return ERGO_OK;
}

enum ergo_status lj_atoms_read(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct lj_system *s, struct lj_atoms **atoms) {
    struct ergo_xyz frame;
    *atoms = NULL;
    if (!lj_has_frozen(point))
        return ERGO_OK;
    struct lj_atoms *a = calloc(1, sizeof *a);
    if (!a)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for atoms");
    enum ergo_status status = lj_xyz_read(ctx, point, "/system/frozen/file", s, &frame, &a->words);
    if (status == ERGO_OK)
        status = check_size(ctx, point, s, &frame);
    if (status == ERGO_OK)
        status = check_species(ctx, point, &frame);
    if (status == ERGO_OK)
        status = fill(ctx, point, &frame, a);
    if (status == ERGO_OK)
        status = enter(ctx, s, a);
    ergo_xyz_free(&frame);
    if (status != ERGO_OK) {
        lj_atoms_free(a);
        return status;
    }
    *atoms = a;
    return ERGO_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The system in which a particle and an atom are two particles. */
static struct lj_system pair_of(const struct lj_system *s, double epsilon, double sigma) {
    struct lj_system pair = *s;
    pair.epsilon = sqrt(s->epsilon * epsilon);
    pair.unit = s->unit / s->epsilon * pair.epsilon;
    pair.sigma = (s->sigma + sigma) / 2;
    return pair;
}

void lj_frozen_of(const struct lj_system *s, const struct lj_atoms *atoms,
                  struct lj_frozen rows[LJ_MOST_SPECIES]) {
    memset(rows, 0, LJ_MOST_SPECIES * sizeof *rows);
    for (uint32_t k = 0; k < atoms->n_species; k++) {
        const struct lj_system pair = pair_of(s, atoms->epsilon[k], atoms->sigma[k]);
        const double ratio = pair.sigma / s->sigma, strength = pair.unit / s->unit;
        rows[k].inverse = (float)(1 / (ratio * ratio));
        rows[k].core2 = (float)(lj_core2(&pair) * ratio * ratio);
        rows[k].strength = (float)(strength * 0x1p30);
        if (s->shifted)
            rows[k].shift = (int64_t)floor(lj_pair_at_cutoff(&pair) * strength * 0x1p30 + 0.5);
    }
}

/* The widest core of an atom, in the job's unit. */
static double lj_frozen_core(const struct lj_system *s, const struct lj_atoms *atoms) {
    struct lj_frozen rows[LJ_MOST_SPECIES];
    double core2 = 0;
    lj_frozen_of(s, atoms, rows);
    for (uint32_t k = 0; k < atoms->n_species; k++)
        core2 = fmax(core2, (double)rows[k].core2);
    return sqrt(core2) * s->sigma;
}

/* ---- tables ---------------------------------------------------------------------------------- */

size_t lj_atoms_bytes(const struct lj_atoms *a) {
    const size_t starts = a->n_species * (cells_of(a) + 1);
    return 4 * (starts + 3 * ((size_t)a->n + LJ_FROZEN_ROOM));
}

/* Each species' cells have an end. */
static size_t entry_of(const struct lj_atoms *a, size_t atom) {
    return a->species[atom] * (cells_of(a) + 1) + cell_of(a, atom);
}

void lj_atoms_table(const struct lj_atoms *a, uint32_t *table) {
    const size_t cells = cells_of(a), starts = a->n_species * (cells + 1);
    const size_t room = (size_t)a->n + LJ_FROZEN_ROOM;
    uint32_t *places = table + starts, begin = 0;
    memset(table, 0, lj_atoms_bytes(a));
    for (size_t i = 0; i < a->n; i++)
        table[entry_of(a, i)]++;
    for (size_t c = 0; c < starts; c++) {
        const uint32_t inside = table[c];
        table[c] = begin;
        begin += inside;
    }
    for (size_t i = 0; i < a->n; i++) {
        const uint32_t to = table[entry_of(a, i)]++;
        for (size_t k = 0; k < 3; k++)
            places[k * room + to] = a->words[3 * i + k];
    }
    /* each entry is now where its cell ends, which is where the next one begins */
    memmove(table + 1, table, (starts - 1) * sizeof *table);
    table[0] = 0;
}

/* ---- of a batch ------------------------------------------------------------------------------ */

void lj_frozen_fill(struct lj_state *s) {
    const struct lj_atoms *atoms = s->tables.atoms;
    for (size_t i = 0; atoms && i < s->e.batch->count; i++) { /* each has one box */
        struct lj_frozen rows[LJ_MOST_SPECIES];
        lj_frozen_of(&s->physics[i].system, atoms, rows);
        memcpy(lj_tables_rows(&s->tables, i), rows, atoms->n_species * sizeof *rows);
        s->members[i].frozen =
            s->tables.rows_at + (uint32_t)(i * atoms->n_species * sizeof *rows / 16);
    }
}

uint32_t lj_frozen_reach(const struct lj_state *s) {
    const struct lj_atoms *atoms = s->tables.atoms;
    double core = 0, side = INFINITY;
    for (size_t i = 0; atoms && i < s->e.batch->count; i++) {
        const struct lj_system y = lj_system_of(s->e.batch->points[i]);
        core = fmax(core, lj_frozen_core(&y, atoms));
    }
    for (int k = 0; atoms && k < 3; k++)
        side = fmin(side, s->system.box[k] / atoms->cells[k]);
    return core * (1 + 1e-5) > side ? LJ_FROZEN_REACH : 1;
}

uint32_t lj_frozen_near(const struct lj_atoms *atoms) {
    const double cells = (double)cells_of(atoms), near = 2 * LJ_FROZEN_REACH + 1;
    /* cells with three times as many as others are rare */
    return (uint32_t)fmin(atoms->n, 3 * atoms->n * fmin(1, near * near * near / cells)) +
           (uint32_t)(2 * near * near * atoms->n_species);
}

/* Build options of all that does not move. */
void lj_field_options(const struct lj_state *s, struct ergo_text *o) {
    const struct lj_tables *t = &s->tables;
    ergo_text_append(o, " -DLJ_FIELD=1 -DLJ_PROFILE_OF=%c", 'x' + s->system.axis);
    if (s->system.slit.width > 0)
        ergo_text_append(o, " -DLJ_SLIT=1");
    if (t->voxels)
        ergo_text_append(o,
                         " -DLJ_VOXELS=1 -DLJ_VOXELS_AT=%uu -DLJ_VOXELS_X=%uu -DLJ_VOXELS_Y=%uu "
                         "-DLJ_VOXELS_Z=%uu",
                         t->voxels_at, (unsigned)t->voxels->n[0], (unsigned)t->voxels->n[1],
                         (unsigned)t->voxels->n[2]);
    if (t->atoms)
        ergo_text_append(o,
                         " -DLJ_FROZEN=%uu -DLJ_FROZEN_AT=%uu -DLJ_FROZEN_ATOMS=%uu "
                         "-DLJ_FROZEN_NEAR=%u -DLJ_FROZEN_X=%u -DLJ_FROZEN_Y=%u -DLJ_FROZEN_Z=%u",
                         t->atoms->n_species, t->atoms_at, t->atoms->n + LJ_FROZEN_ROOM,
                         s->launch.atoms_near, t->atoms->cells[0], t->atoms->cells[1],
                         t->atoms->cells[2]);
}
