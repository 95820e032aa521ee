#include "samplers/lattice/moments.h"
#include "samplers/lattice/parameters.h"

double lattice_sites(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    double n = 1;
    for (int k = 0; k < size->items; k++)
        n *= (double)size->size[k];
    return n;
}

static double temperature(const struct ergo_point *point) {
    return point->parameters->temperature;
}

double lattice_weight_of_energy(const struct ergo_point *point) {
    return -lattice_sites(point) / temperature(point);
}

double lattice_field_in_energy(const struct ergo_point *point) {
    return -of_lattice(point)->field.real;
}

const struct ergo_conjugate lattice_conjugates[2] = {
    {0, .coefficient = lattice_weight_of_energy, .keys = {"/system/temperature"}},
    {1, .in_energy = lattice_field_in_energy, .keys = {"/system/field"}},
};

double lattice_heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = temperature(point);
    return lattice_sites(point) * (m[1] - m[0] * m[0]) / (t * t);
}

double lattice_susceptibility(const struct ergo_point *point, const double *m) {
    return lattice_sites(point) * (m[1] - m[0] * m[0]) / temperature(point);
}

double lattice_cluster_susceptibility(const struct ergo_point *point, const double *m) {
    return lattice_sites(point) * m[0] / temperature(point);
}

double lattice_binder(const struct ergo_point *point, const double *m) {
    (void)point;
    return 1.0 - m[1] / (3.0 * m[0] * m[0]);
}

/* ---- unit vectors ---------------------------------------------------------------------------- */

double lattice_vector_m2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LATTICE_VECTOR_X] * c[LATTICE_VECTOR_X] + c[LATTICE_VECTOR_Y] * c[LATTICE_VECTOR_Y] +
           c[LATTICE_VECTOR_Z] * c[LATTICE_VECTOR_Z];
}

double lattice_vector_m(const struct ergo_point *point, const double *c) {
    return sqrt(lattice_vector_m2(point, c));
}

double lattice_vector_m4(const struct ergo_point *point, const double *c) {
    return lattice_vector_m2(point, c) * lattice_vector_m2(point, c);
}

/* Of that many terms of the alignment for one of the twist. */
static double helicity(const struct ergo_point *point, const double *m, double terms) {
    const double j = of_lattice(point)->coupling.real;
    const double d = of_lattice(point)->size.items;
    return (terms * j * m[0] - j * j * m[1] / temperature(point)) / (2 * terms - 1) / d;
}

double lattice_helicity_plane(const struct ergo_point *point, const double *m) {
    return helicity(point, m, 1);
}

double lattice_helicity_space(const struct ergo_point *point, const double *m) {
    return helicity(point, m, 2);
}

/* Bonds of the triangular lattice have the directions (1, 0), (-1/2, sqrt 3/2) and their sum, with
 * products -1/2, 1/2, 1/2. */
double lattice_current2(const int64_t *currents, uint32_t directions, uint32_t each,
                        bool triangular) {
    double total = 0;
    for (uint32_t c = 0; c < each; c++) {
        double i[3] = {0, 0, 0};
        for (uint32_t k = 0; k < directions; k++) {
            i[k] = (double)currents[each * k + c] * 0x1p-30;
            total += i[k] * i[k];
        }
        if (triangular)
            total += i[0] * i[2] + i[1] * i[2] - i[0] * i[1];
    }
    return total;
}
