/* Numbers that follow from a job: cells, units, histograms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hard_disks/core.h"
#include "samplers/hard_disks/order.h"

/* Needs an even number of cells per side with sigma <= w, and w < sqrt(2) sigma so that five disks
 * do not fit in a cell. In whole units: disks of one set in cells one cell apart must not meet
 * (contact <= W^2); and of five disks in a square of side a, two are at most a / sqrt(2) apart (2
 * contact > (W - 1)^2). */
static bool cells_fit(double box, uint64_t cells, uint32_t width) {
    const double units = (double)width * (double)cells / box;
    const double contact = ceil(units * units), w = (double)width;
    return contact <= w * w && 2.0 * contact > (w - 1) * (w - 1);
}

/* The number of cells whose width is nearest to the best one. About one disk per cell is best, but
 * cells must not be so small that their walls end too many moves. Where the volume changes, cells
 * are neither near sigma nor near sqrt(2) sigma at the start. */
static uint64_t auto_cells(double box, double density, uint32_t width, bool npt) {
    const double wish = npt ? 1.18 : fmax(1.0 / sqrt(density), 1.06);
    const uint64_t most = 2 * (uint64_t)floor(0.5 * box);
    uint64_t best = 0;
    for (uint64_t m = most; m >= 2 && box / (double)m < sqrt(2.0); m -= 2)
        if (cells_fit(box, m, width) &&
            (!best || fabs(box / (double)m - wish) < fabs(box / (double)best - wish)))
            best = m;
    return best;
}

/* Cells hold no five disks and disks of one set do not meet, as above. */
static void size_of(const struct ergo_point *point, struct disks_shape *s) {
    const struct ergo_volume_rules allowed = disks_rules_at(s->rules.volume, s->width[0], s->ratio);
    s->volume_every = (uint32_t)of_particle(point)->volume_every;
    s->rules.volume = ergo_isobaric_rules(point, s->n, s->box[0] * s->box[1], s->sigma, 2,
                                          allowed.contact, &s->rules.first);
    s->rules.per_axis = s->per_axis;
    s->isobaric = s->rules.volume;
    s->volume = (struct ergo_volume){.size = s->rules.first, .step = s->rules.volume.step};
    s->contact = disks_size_at(s->rules, s->volume).contact;
}

/* What constant volume alone has. */
static void variants_of(const struct ergo_point *point, struct disks_shape *s) {
    s->block = (uint32_t)of_disks(point)->block_cells;
    s->leave = of_disks(point)->leave_cell;
    s->shuffle = of_disks(point)->shuffle_particles;
    s->shuffle_sets = of_disks(point)->shuffle_checkerboard;
    s->planes = ergo_says(of_disks(point)->coordinates, "packed") ? 1 : 2;
}

/* Sides of the box: as they are given, or of a square one. */
static void sides_of(const struct ergo_point *point, struct disks_shape *s) {
    const struct ergo_value *phi = &of_particle(point)->packing_fraction;
    const struct ergo_value *side = &of_particle(point)->box;
    for (int k = 0; k < 2; k++)
        s->box[k] = !side->present ? sqrt((double)s->n * DISKS_PI / (4.0 * phi->real))
                    : side->items  ? side->reals[k]
                                   : side->real;
    /* walls are so wide that bonds of psi_6 do not cross them */
    const double more = fmax(0.0, of_disks(point)->neighbour_cutoff - 1.0);
    for (unsigned k = 0; k < 2; k++)
        s->board[k] = !s->npt && ergo_confined_walled(point, k)
                          ? ergo_confined_board(s->box[k] + more)
                          : s->box[k];
    s->rectangular = s->per_axis || s->board[0] != s->board[1];
}

/* Cells of one side, and its units. */
static bool divide(struct disks_shape *s, int k, uint64_t wish, char *reason) {
    const double box = s->board[k];
    const uint64_t cells = wish ? wish : auto_cells(box, s->density, s->width[0], s->npt);
    if (cells == 0 || cells % 2 || !cells_fit(box, cells, s->width[0])) {
        if (wish)
            snprintf(reason, 300,
                     "%lld cells a side: allowed is an even number with 1 <= box / cells < sqrt 2; "
                     "the box is %.6g sigma",
                     (long long)wish, box);
        else
            snprintf(reason, 300,
                     "no checkerboard fits a box of %.6g sigma: an even number of cells a side, 1 "
                     "to sqrt 2 sigma wide, needs a box from 2 to 2.82, 4 to 5.65, or 6 on; the "
                     "smallest box is 2, the next larger one here %.3g",
                     box,
                     box < 2.0   ? 2.0
                     : box < 4.0 ? 4.0
                                 : 6.0);
        return false;
    }
    s->cells[k] = (uint32_t)cells;
    s->half[k] = s->cells[k] / 2;
    s->side[k] = (uint64_t)s->width[0] * s->cells[k];
    return true;
}

bool disks_shape_of(const struct ergo_point *point, struct disks_shape *s, char *reason) {
    const int64_t wish = of_disks(point)->cells;
    memset(s, 0, sizeof *s);
    s->kind = &disks_kind;
    s->slots = DISKS_SLOTS;
    s->planes = 2;
    s->cells[2] = 1;
    s->n = (uint64_t)of_particle(point)->n;
    s->moves_per_cell = (uint32_t)of_particle(point)->moves_per_cell;
    s->npt = ergo_is_isobaric(point);
    s->per_axis = s->npt && ergo_isobaric_per_axis(point);
    sides_of(point, s);
    if (fmax(s->board[0], s->board[1]) > DISKS_BOX_MAX) {
        snprintf(reason, 300, "%lld disks need a box of %.6g sigma; at most %g are possible",
                 (long long)s->n, s->box[0], DISKS_BOX_MAX);
        return false;
    }
    s->density = (double)s->n / (s->box[0] * s->box[1]);
    s->shuffle = s->shuffle_sets = true;
    if (!s->npt)
        variants_of(point, s);
    s->width[0] = s->width[1] = s->planes == 1 ? DISKS_W_PACKED : DISKS_W_WIDE;
    if (!divide(s, 0, (uint64_t)wish, reason) || !divide(s, 1, (uint64_t)wish, reason))
        return false;
    s->sigma = (double)s->side[0] / s->board[0];
    s->aspect = 1.0;
    s->ratio = DISKS_SQUARE;
    if (s->rectangular) {
        s->aspect = s->board[1] / s->cells[1] / (s->board[0] / s->cells[0]);
        s->rules.aspect = ergo_volume_log(s->aspect * s->aspect);
        s->ratio = ergo_volume_whole(ergo_volume_exp(s->rules.aspect), 62);
    }
    s->length[0] = 1.0;
    s->length[1] = s->aspect;
    s->length[2] = 1.0; /* starts are parted in three dimensions */
    s->all = (uint64_t)s->cells[0] * s->cells[1];
    s->contact = (uint64_t)ceil(s->sigma * s->sigma);
    const struct ergo_volume_rules allowed = disks_rules_at(s->rules.volume, s->width[0], s->ratio);
    if (s->rectangular && (s->contact < allowed.contact[0] || s->contact > allowed.contact[1])) {
        snprintf(reason, 300, "no checkerboard fits a box of %.9g x %.9g sigma", s->board[0],
                 s->board[1]);
        return false;
    }
    for (int k = 0; k < 2; k++)
        s->unit[k] = (double)s->side[k] / s->board[k];
    if (!s->npt)
        s->confined = ergo_confined_of(point, 2, s->box, s->side, s->unit, s->n);
    if (s->npt)
        size_of(point, s);
    return true;
}

size_t disks_n_columns(const struct disks_shape *s) {
    return s->npt ? DISKS_COLUMNS : DISKS_DENSITY;
}

bool disks_reflects(const struct ergo_point *point) {
    return ergo_says(of_disks(point)->moves, "reflections");
}

static double contact_range(const struct ergo_point *point) {
    return of_particle(point)->contact_range;
}

/* By how much both sides of the start may shrink, until the narrower cells are sigma wide. */
static double smallest_share(const struct disks_shape *s) {
    return 1.0 / fmin(s->box[0] / s->cells[0], s->box[1] / s->cells[1]);
}

/* Half of the box; at constant pressure of the smallest, in which a cell is sigma wide. */
static double gr_max(const struct ergo_point *point, const struct disks_shape *s) {
    const double box = fmin(s->box[0], s->box[1]);
    const double half = !s->npt       ? 0.5 * box
                        : s->per_axis ? (double)(s->half[0] < s->half[1] ? s->half[0] : s->half[1])
                        : s->rectangular ? box * smallest_share(s) * 0.5
                                         : (double)s->half[0];
    return fmin(of_particle(point)->gr_max, half);
}

static uint32_t reach_of(const struct disks_shape *s, double distance) {
    const double sigma = s->npt ? (double)s->width[0] : s->sigma; /* at most */
    const double narrow = s->npt ? 1.0 : fmin(1.0, s->aspect);
    return (uint32_t)ceil(distance * sigma / ((double)s->width[0] * narrow));
}

void disks_member_fill(const struct ergo_point *point, const struct disks_shape *s,
                       struct disks_member *member) {
    const double cutoff = of_disks(point)->neighbour_cutoff;
    /* in units of the axis where sigma has more of them */
    const double room = 0.5 * ((double)s->width[0] - s->sigma / fmin(1.0, s->aspect));
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    const uint32_t narrow = s->cells[0] < s->cells[1] ? s->cells[0] : s->cells[1];
    memcpy(member->cells, s->cells, sizeof member->cells);
    memcpy(member->columns, s->half, sizeof member->columns);
    member->block = s->block < narrow ? s->block : narrow;
    member->reach[0] = reach_of(s, 1.0 + contact_range(point));
    member->reach[1] = reach_of(s, gr_max(point, s));
    const double step = of_particle(point)->max_displacement.real * s->sigma / 131072.0;
    member->step[0] = (float)step;
    member->step[1] = (float)(step / s->aspect);
    /* Disks of two active cells that leave their cells by this much, in whole units, still do not
     * meet. */
    if (s->leave && room > 1.0)
        member->leave = (float)(floor(room) - 1.0);
    /* cl/hard_disks/moves.h explains these bounds; they include the rounding of both */
    const double margin = s->rectangular ? DISKS_MARGIN : 0x1.2p-20;
    member->low = (float)((double)s->contact * (1.0 - margin));
    member->high = (float)((double)s->contact * (1.0 + margin));
    member->contact_high = (float)s->contact;
    member->contact_low = (float)((double)s->contact - (double)member->contact_high);
    member->inverse = (float)(1.0 / s->sigma);
    member->neighbour = (float)(cutoff * cutoff);
    member->contact = s->contact;
    member->ratio = s->ratio;
    member->aspect[0] = (float)s->aspect;
    member->aspect[1] = (float)(1.0 / s->aspect);
    member->square = (float)(s->aspect * s->aspect);
    if (s->npt)
        *member = disks_resized(*member, s->rules, disks_size_at(s->rules, s->volume));
}

/* ---- curves -----------------------------------------------------------------------------------
 */

/* Bins of a histogram over a range, at least one. */
static size_t bins_of(double range, double width) {
    return (size_t)fmax(1.0, floor(range / width + 0.5));
}

bool disks_confined(const struct ergo_point *point) {
    return !ergo_is_isobaric(point) && ergo_confined(point);
}

uint64_t disks_curve_every(const struct ergo_point *point) {
    const uint64_t every = (uint64_t)of_particle(point)->curves_every;
    return every ? every : disks_order_every(point);
}

size_t disks_curve_size(const struct ergo_point *point, size_t curve) {
    if (curve >= DISKS_CURVE_CONFINED)
        return ergo_confined_size(point, 2, (unsigned)(curve - DISKS_CURVE_CONFINED));
    if (curve >= DISKS_CURVE_NUMBERS)
        return disks_order_size(point, curve);
    if (disks_confined(point))
        return 0;
    if (curve == DISKS_CURVE_CONTACT)
        return bins_of(contact_range(point), of_particle(point)->contact_bin);
    /* the same number of bins in every box: a shorter range has finer bins */
    const double range = of_particle(point)->gr_max;
    if (curve == DISKS_CURVE_GR)
        return range > 0 ? bins_of(range, of_particle(point)->gr_bin) : 0;
    if (ergo_is_isobaric(point)) /* its blocks would have other sizes in each sample */
        return 0;
    /* a cell holds at most four disks, and the numbers begin at 0 */
    const int64_t block = of_disks(point)->block_cells;
    return block ? (size_t)(4 * block * block + 1) : 0;
}

/* Edges of a pair histogram's bins in sigma. */
static double edge(const struct ergo_point *point, const struct disks_shape *s, size_t curve,
                   size_t i) {
    const double size = (double)disks_curve_size(point, curve);
    return curve == DISKS_CURVE_CONTACT ? 1.0 + contact_range(point) * (double)i / size
                                        : gr_max(point, s) * (double)i / size;
}

void disks_limits(const struct ergo_point *point, const struct disks_shape *s, size_t curve,
                  uint64_t *limits) {
    const size_t size = disks_curve_size(point, curve);
    for (size_t i = 0; i <= size; i++) {
        const double r = edge(point, s, curve, i) * s->sigma;
        limits[i] = (uint64_t)ceil(r * r);
    }
    if (curve == DISKS_CURVE_CONTACT)
        limits[0] = s->contact; /* the same number except for rounding */
}

/* Whole-numbered points (x, y) with r^2 < limit: four quarters without axes, and the axes. */
static uint64_t points_below(const struct disks_shape *s, uint64_t limit) {
    uint64_t y = (uint64_t)(sqrt((double)limit) / s->aspect) + 1, inside = 0, x = 1;
    while (disks_r2(0, (int64_t)y, s->ratio) >= limit && y > 0)
        y--;
    const uint64_t high = y;
    for (; x * x < limit; x++) {
        while (disks_r2((int64_t)x, (int64_t)y, s->ratio) >= limit)
            y--;
        inside += y;
    }
    return 4 * inside + 2 * (x - 1) + 2 * high + (limit > 0);
}

void disks_areas(const struct ergo_point *point, const struct disks_shape *s, size_t curve,
                 const uint64_t *limits, double *areas) {
    const size_t size = disks_curve_size(point, curve);
    const bool counted = s->planes == 1 && curve == DISKS_CURVE_CONTACT;
    uint64_t inner = counted ? points_below(s, limits[0]) : 0;
    for (size_t i = 0; i < size; i++) {
        const double a = edge(point, s, curve, i), b = edge(point, s, curve, i + 1);
        areas[i] = DISKS_PI * (b - a) * (b + a);
        if (counted) {
            const uint64_t outer = points_below(s, limits[i + 1]);
            areas[i] = (double)(outer - inner) * s->aspect / (s->sigma * s->sigma);
            inner = outer;
        }
    }
}

/* Eq. 6: the radius at which a density linear in r equals its mean over the ring. */
static double ring_mean(double a, double b) {
    return 2.0 / 3.0 * (b * b + b * a + a * a) / (b + a);
}

void disks_curve_x(const struct ergo_point *point, size_t curve, double *x) {
    struct disks_shape s;
    char reason[300];
    const size_t size = disks_curve_size(point, curve);
    if (!disks_shape_of(point, &s, reason))
        return;
    if (curve >= DISKS_CURVE_CONFINED) {
        ergo_confined_x(&s.confined, (unsigned)(curve - DISKS_CURVE_CONFINED), size, x);
        return;
    }
    if (curve >= DISKS_CURVE_NUMBERS) {
        disks_order_x(point, curve, x);
        return;
    }
    const double block = fmin(s.block, fmin(s.cells[0], s.cells[1]));
    const double area = block * s.box[0] / s.cells[0] * block * s.box[1] / s.cells[1];
    for (size_t i = 0; i < size; i++)
        x[i] = curve == DISKS_CURVE_DENSITY
                   ? (double)i * DISKS_PI / (4.0 * area)
                   : ring_mean(edge(point, &s, curve, i), edge(point, &s, curve, i + 1));
}

void disks_curve_convert(const struct ergo_point *point, const struct disks_shape *s,
                         double density, size_t curve, const double *areas, const uint32_t *counts,
                         double *values) {
    const size_t size = disks_curve_size(point, curve);
    const double n = (double)s->n;
    if (curve == DISKS_CURVE_DENSITY) { /* shares of the sub-blocks */
        double all = 0;
        for (size_t i = 0; i < size; i++)
            all += counts[i];
        for (size_t i = 0; i < size; i++)
            values[i] = counts[i] / all;
        return;
    }
    for (size_t i = 0; i < size; i++) { /* Eq. 5, whose n counts each pair twice */
        const double met = 2.0 * counts[i] / (n * density * areas[i]);
        values[i] = s->npt && curve == DISKS_CURVE_CONTACT /* Eq. 4, of each by its own density */
                        ? density * (1.0 + 0.5 * DISKS_PI * density * met)
                        : met * n / (n - 1);
    }
}
