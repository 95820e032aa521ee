/* The triplet factor of a walker in serial C, as the kernels find it (cl/helium/triplet.h). */
#include "helium/triplet.h"
#include "samplers/helium/liquid.h"

static helium_cubic piece(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

/* Where x is in the table; `y` is x, clamped. */
static uint32_t piece_of(const struct helium_atoms *t, float x, float *y) {
    *y = helium_clamp(x, t->member->low);
    return helium_piece(*y, HELIUM_U_PIECES) - ((127 - t->binades) << HELIUM_U_PIECES);
}

static struct helium_vector field_of(const struct helium_atoms *t, const int32_t *field,
                                     uint32_t i) {
    return (struct helium_vector){field[i], field[t->n + i], field[2 * t->n + i]};
}

static void set_field(const struct helium_atoms *t, int32_t *field, uint32_t i,
                      struct helium_vector g) {
    field[i] = g.x;
    field[t->n + i] = g.y;
    field[2 * t->n + i] = g.z;
}

static struct helium_vector sum_of(struct helium_vector a, struct helium_vector b, int32_t times) {
    return (struct helium_vector){a.x + times * b.x, a.y + times * b.y, a.z + times * b.z};
}

/* What atom j adds to G of an atom at a. */
static struct helium_vector part_of(const struct helium_atoms *t, const uint32_t a[3], uint32_t j) {
    float d[3], y;
    helium_atoms_difference(t, a, j, d);
    const float x = helium_atoms_distance2(t, d);
    const uint32_t k = piece_of(t, x, &y);
    const float value = helium_poly(piece(t->t_table, k), helium_within(y, HELIUM_U_PIECES));
    return x < 1 ? helium_triplet_part(value, d, t->member) : (struct helium_vector){0, 0, 0};
}

void helium_atoms_field(const struct helium_atoms *t, int32_t *field) {
    for (uint32_t i = 0; i < t->n; i++) {
        struct helium_vector g = {0, 0, 0};
        uint32_t a[3];
        helium_atoms_place(t, i, a);
        for (uint32_t j = 0; j < t->n; j++)
            if (j != i)
                g = sum_of(g, part_of(t, a, j), 1);
        set_field(t, field, i, g);
    }
}

static int64_t square_of(const struct helium_atoms *t, struct helium_vector g) {
    return t->triplet->sign * helium_triplet_square(g, t->triplet->shift);
}

int64_t helium_atoms_triplet(const struct helium_atoms *t) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        sum -= square_of(t, field_of(t, t->field, i));
    return sum;
}

int64_t helium_atoms_triplet_change(const struct helium_atoms *t, uint32_t i, const uint32_t a[3],
                                    int32_t *field) {
    struct helium_vector own = {0, 0, 0};
    uint32_t old[3];
    int64_t change = 0;
    helium_atoms_place(t, i, old);
    for (uint32_t j = 0; j < t->n; j++) {
        if (j == i)
            continue;
        const struct helium_vector from = part_of(t, old, j), to = part_of(t, a, j);
        const struct helium_vector was = field_of(t, t->field, j);
        const struct helium_vector is = sum_of(sum_of(was, to, -1), from, 1);
        change -= square_of(t, is) - square_of(t, was);
        own = sum_of(own, to, 1);
        set_field(t, field, j, is);
    }
    change -= square_of(t, own) - square_of(t, field_of(t, t->field, i));
    set_field(t, field, i, own);
    return change;
}

float helium_atoms_triplet_share(const struct helium_atoms *t, uint32_t i, float raw[3]) {
    struct helium_triplet_sums run = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const uint32_t size = t->binades << HELIUM_U_PIECES;
    const struct helium_vector own = field_of(t, t->field, i);
    uint32_t a[3];
    helium_atoms_place(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3], y;
        helium_atoms_difference(t, a, j, d);
        const float x = helium_atoms_distance2(t, d);
        if (j == i || !(x < 1))
            continue;
        const uint32_t k = piece_of(t, x, &y);
        helium_triplet_pair(y, d, piece(t->t_table, k), piece(t->t_table, size + k), own,
                            field_of(t, t->field, j), t->member, &run);
    }
    return helium_triplet_add(&run, t->triplet, raw);
}
