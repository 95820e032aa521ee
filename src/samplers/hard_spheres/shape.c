/* Numbers that follow from a job: cells and units. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

/* Cells must be at least sigma wide, so that spheres of one set in different cells never meet, and
 * below sqrt(2) sigma, so that fourteen do not fit (params.h). */
static const double widest = 1.414;

/* Cells along a side of the box. About one sphere per cell is best, but cells must not be so small
 * that their walls end too many moves. Where the volume changes, cells are neither near sigma nor
 * near 1.414 sigma at the start. 0: no even number fits. */
static uint32_t cells_along(double side, double density, bool npt) {
    const double wish = npt ? 1.18 : fmin(fmax(cbrt(1.0 / density), 1.06), 1.3);
    uint32_t best = 0;
    for (uint32_t m = 2 * (uint32_t)floor(0.5 * side); m >= 2; m -= 2) {
        const double w = side / m;
        if (w >= widest)
            break;
        if (!best || fabs(w - wish) < fabs(side / best - wish))
            best = m;
    }
    return best;
}

static void refuse(char *reason, double side) {
    snprintf(reason, 300,
             "no checkerboard fits a side of %.6g sigma: an even number of cells, 1 to 1.414 sigma "
             "wide, needs sides from 2 to 2.82, 4 to 5.65, or 6 on; the next larger one here is %g",
             side,
             side < 2.0   ? 2.0
             : side < 4.0 ? 4.0
                          : 6.0);
}

/* Whole numbers of units for all cells; the widest ones have SPHERES_W. */
static bool units_of(struct spheres_shape *s, const double sides[3], char *reason) {
    int wide = 0;
    for (int k = 1; k < 3; k++)
        if (sides[k] / s->cells[k] > sides[wide] / s->cells[wide])
            wide = k;
    s->sigma = (double)SPHERES_W * s->cells[wide] / sides[wide];
    s->contact = (uint64_t)ceil(s->sigma * s->sigma);
    s->density = (double)s->n;
    s->all = 1;
    for (int k = 0; k < 3; k++) {
        const double asked = sides[k], wall = s->box[k];
        s->width[k] = (uint32_t)floor(asked * s->sigma / s->cells[k] + 0.5);
        if (s->width[k] > SPHERES_W)
            s->width[k] = SPHERES_W;
        if ((uint64_t)s->width[k] * s->width[k] < s->contact) /* cells of sigma, rounded */
            s->width[k]++;
        s->side[k] = (uint64_t)s->width[k] * s->cells[k];
        s->box[k] = wall < asked ? wall : k == wide ? asked : (double)s->side[k] / s->sigma;
        s->density /= s->box[k];
        s->all *= s->cells[k];
        if ((uint64_t)s->width[k] * s->width[k] < s->contact) {
            refuse(reason, asked);
            return false;
        }
    }
    s->planes = SPHERES_MANY / 2;
    s->slots = s->sigma * 2.0 > sqrt(3.0) * SPHERES_W * 1.000001 ? SPHERES_FEW : SPHERES_MANY;
    return true;
}

void spheres_box_at(const struct ergo_hard *s, const struct ergo_volume *volume, double box[3]) {
    double sides = 1.0, longer = 0;
    for (int k = 0; k < 3; k++)
        sides *= (double)s->side[k];
    const double sigma = cbrt(sides / ergo_isobaric_volume(volume->size));
    for (int k = 0; k < 2; k++)
        longer += ldexp((double)volume->stretch[k], -36) / 3;
    for (int k = 0; k < 3; k++) {
        const double stretch = k ? ldexp((double)volume->stretch[k - 1], -36) - longer : -longer;
        box[k] = (double)s->side[k] / sigma * (s->per_axis ? exp(stretch) : 1);
    }
}

/* The rules of volume moves. */
static void rules_of(const struct ergo_point *point, struct spheres_shape *s) {
    uint64_t narrow = s->width[0];
    for (int k = 1; k < 3; k++)
        narrow = s->width[k] < narrow ? s->width[k] : narrow;
    s->slots = SPHERES_MANY;
    s->per_axis = ergo_isobaric_per_axis(point);
    s->volume_every = (uint32_t)of_particle(point)->volume_every;
    const uint64_t contact[2] = {(uint64_t)SPHERES_W * SPHERES_W / 2 + 1, narrow * narrow};
    s->isobaric = ergo_isobaric_rules(point, s->n, s->box[0] * s->box[1] * s->box[2], s->sigma, 3,
                                      contact, &s->volume.size);
    s->volume.step = s->isobaric.step;
    s->contact = ergo_volume_contact(s->isobaric.scale, s->volume.size, 3);
}

bool spheres_shape_of(const struct ergo_point *point, struct spheres_shape *s, char *reason) {
    const struct ergo_value *phi = &of_particle(point)->packing_fraction;
    const struct ergo_value *box = &of_particle(point)->box;
    memset(s, 0, sizeof *s);
    s->kind = &spheres_kind;
    s->n = (uint64_t)of_particle(point)->n;
    s->moves_per_cell = (uint32_t)of_particle(point)->moves_per_cell;
    s->npt = ergo_is_isobaric(point);
    double density = (double)s->n, sides[3];
    for (int k = 0; k < 3; k++) {
        s->box[k] =
            box->present ? box->reals[k] : cbrt((double)s->n * SPHERES_PI / (6.0 * phi->real));
        density /= s->box[k];
    }
    for (int k = 0; k < 3; k++) {
        if (s->box[k] > SPHERES_BOX_MAX) {
            snprintf(reason, 300, "a side of %.6g sigma; at most %g are possible", s->box[k],
                     SPHERES_BOX_MAX);
            return false;
        }
        const bool walled = !s->npt && ergo_confined_walled(point, (unsigned)k);
        sides[k] = walled ? ergo_confined_board(s->box[k]) : s->box[k];
        s->cells[k] = cells_along(sides[k], density, s->npt);
        if (!s->cells[k]) {
            refuse(reason, s->box[k]);
            return false;
        }
    }
    if (!units_of(s, sides, reason))
        return false;
    for (int k = 0; k < 3; k++) {
        s->unit[k] = s->sigma;
        s->length[k] = 1;
    }
    if (!s->npt)
        s->confined = ergo_confined_of(point, 3, s->box, s->side, s->unit, s->n);
    if (s->npt)
        rules_of(point, s);
    return true;
}

unsigned spheres_listed(const struct spheres_shape *s) {
    return 4 * ((unsigned)ceil(27.0 * (double)s->n / (double)s->all) / 4 + 4);
}

void spheres_member_fill(const struct ergo_point *point, const struct spheres_shape *s,
                         struct spheres_member *member) {
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    member->step = (uint32_t)fmax(1.0, floor(of_particle(point)->max_displacement.real * s->sigma));
    for (size_t c = 0; c < SPHERES_PAIR_CURVES && !s->confined.is && !s->npt; c++)
        for (int k = 0; k < 3; k++)
            member->reach[c][k] =
                (uint32_t)ceil(spheres_curve_end(point, s, c) * s->sigma / (double)s->width[k]);
    for (int k = 0; k < 3; k++) {
        member->cells[k] = s->cells[k];
        member->width[k] = s->width[k];
    }
}
