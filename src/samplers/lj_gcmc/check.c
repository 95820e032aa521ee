/* Checks of a job of lj-gcmc or lj-fluid that need no device. */
#include <math.h>

#include "samplers/lj_gcmc/cut.h"
#include "samplers/lj_gcmc/tables.h"

/* Exactly one form of the activity, or none if there are no insertions and deletions. */
static enum ergo_status check_activity(struct ergo_context *ctx, const struct ergo_point *point,
                                       bool used) {
    const bool activity = of_lj(point)->activity.present, beta_mu = of_lj(point)->beta_mu.present;
    const bool mu = of_lj(point)->mu.present, lambda = of_lj(point)->lambda.present;
    const int ways = activity + beta_mu + (mu || lambda);
    if (!used && ways)
        return ergo_job_error(ctx, "/system/moves",
                              "no insertions and deletions, yet an activity or chemical potential "
                              "is given: it would have no effect");
    if (used && ways != 1)
        return ergo_job_error(ctx, "/system",
                              "%s: give exactly one of activity, beta_mu, and mu with lambda",
                              ways ? "the activity is given more than once" : "no activity");
    if (used && mu != lambda)
        return ergo_job_error(ctx, mu ? "/system/mu" : "/system/lambda",
                              "mu and lambda need each other: z = exp(mu/T)/lambda^3");
    const struct lj_system s = lj_system_of(point);
    const double zv = s.activity * s.volume;
    if (used && !(zv >= 1e-12 && zv <= 1e12))
        return ergo_job_error(ctx,
                              activity  ? "/system/activity"
                              : beta_mu ? "/system/beta_mu"
                                        : "/system/mu",
                              "activity times volume is %.4g; allowed: 1e-12 to 1e12", zv);
    return ERGO_OK;
}

/* Two of the box, the particles and the density say all three. */
static enum ergo_status check_size(struct ergo_context *ctx, const struct ergo_point *point) {
    const bool box = of_particle(point)->box.present, particles = of_lj(point)->particles.given;
    const bool gibbs = lj_boxes_of(point) == 2;
    const double most = gibbs ? 16777216 : LJ_MOST_PARTICLES;
    if (!lj_has_density(point)) {
        if (!box)
            return ergo_job_error(ctx, "/system",
                                  "no box: give it, or particles and a density, which make it");
        if (gibbs && !particles)
            return ergo_job_error(ctx, "/system",
                                  "no particles: give them, or a density, which makes them");
        return ERGO_OK;
    }
    if (!gibbs && lj_start_file(point))
        return ergo_job_error(ctx, "/system/density",
                              "not with a file /system/start, which says how many particles there "
                              "are: leave it out, and give the box of the file");
    if (box == particles)
        return ergo_job_error(ctx, "/system/density",
                              box ? "found box, particles and density: any two of them say the "
                                    "third; leave one out"
                                  : "found neither box nor particles; give one of them");
    const double n = (double)lj_particles_of(point);
    double side[3];
    lj_sides_of(point, side);
    if (n < 1 || n > most)
        return ergo_job_error(ctx, particles ? "/system/particles" : "/system/density",
                              particles ? "%.10g, and a density: there are to be 1 to %.10g"
                                        : "this is %.10g particles in the box; allowed: 1 to %.10g",
                              n, most);
    if (!(side[0] <= 1e6)) /* also where a cube root overflows */
        return ergo_job_error(ctx, "/system/density",
                              "the volume of the box would be %.4g; allowed: up to 1e18",
                              n / of_lj(point)->density.real);
    return ERGO_OK;
}

/* The most particles of a box: in a Gibbs ensemble it may get those of the other. */
static double largest_number(const struct ergo_point *point, const struct lj_system *s) {
    double n = 0;
    for (unsigned box = 0; box < lj_boxes_of(point); box++)
        n += lj_box_particles(point, box);
    if (lj_is_open(point) || n == 0)
        n = fmax(n, 1.2 * s->volume / pow(s->sigma, 3));
    return fmin(n, LJ_MOST_PARTICLES);
}

/* The checkerboard is exact. Jobs for which it is not are refused. */
static enum ergo_status check_board(struct ergo_context *ctx, const struct lj_system *s,
                                    double shortest) {
    enum ergo_status status = ERGO_OK;
    if (!s->period)
        return status;
    if (s->tail && lj_tail_coefficient(s) > 0)
        status = ergo_job_error(ctx, "/system/tail_correction",
                                "not with decomposition checkerboard and a cutoff this short, "
                                "%.10g: the tail repels there, and its energy, which is "
                                "proportional to N^2, cannot be divided among active cells that "
                                "work at the same time",
                                s->cutoff);
    if (shortest < lj_board_smallest(s))
        status = ergo_job_error(ctx, "/system/box",
                                "the shortest side is %.10g; a checkerboard with this cutoff needs "
                                "at least %.10g, for two active cells and two gaps. Leave "
                                "/system/decomposition out for small systems",
                                shortest, lj_board_smallest(s));
    const double cells = lj_board_cells(s);
    if (cells > 0x7fffffff)
        status = ergo_job_error(ctx, "/system/box",
                                "a checkerboard of this box and this cutoff has %.3g cells; at "
                                "most 2^31 - 1 are possible: use a smaller box or a longer cutoff, "
                                "or leave /system/decomposition out",
                                cells);
    return status;
}

/* The moves of lj-gcmc and of the ensemble muvt. */
static enum ergo_status check_moves(struct ergo_context *ctx, const struct ergo_point *point) {
    const double displacement = of_lj(point)->moves_displacement;
    const double insertion = of_lj(point)->moves_insertion;
    const double deletion = of_lj(point)->moves_deletion;
    const bool open = insertion > 0 && deletion > 0;
    enum ergo_status status = ERGO_OK;
    if ((insertion > 0) != (deletion > 0))
        status = ergo_job_error(ctx, "/system/moves",
                                "insertions without deletions, or the reverse, sample nothing: "
                                "both shares 0 or both above");
    else if (!open && displacement == 0)
        status = ergo_job_error(ctx, "/system/moves", "all shares are 0: nothing would move");
    else if (check_activity(ctx, point, open) != ERGO_OK)
        status = ERGO_E_JOB;
    if (open && fmin(insertion, deletion) < 1e-6 * (displacement + insertion + deletion))
        status = ergo_job_error(ctx, "/system/moves",
                                "a share of insertions or deletions below 1e-6 of all moves");
    if (!open && insertion == 0 && deletion == 0 && displacement > 0 &&
        of_lj(point)->particles.integer == 0 && !lj_start_file(point))
        status = ergo_job_error(ctx, "/system/particles",
                                "0, and no insertions: the box would stay empty");
    return status;
}

/* Ensembles of a fixed number of particles. */
static enum ergo_status check_closed(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct lj_system *s) {
    enum ergo_status status = ERGO_OK;
    const bool matrix = lj_is_matrix(point);
    if (matrix)
        status = check_activity(ctx, point, true);
    if (matrix && of_lj(point)->decomposition.present)
        status = ergo_job_error(ctx, "/system/decomposition",
                                "not with method transition-matrix: leave it out");
    const uint32_t insertions = lj_ghosts_of(point);
    const bool empty = lj_has_fixed(point, 0); /* for Henry's constant */
    if (!matrix && empty && !(s->field && insertions > 0))
        status = ergo_job_error(
            ctx, "/system/particles",
            "0, and N is fixed in this ensemble: say how many there are, here or by a density or a "
            "file /system/start; 0 is for test insertions in a slit, a field or among frozen "
            "atoms");
    if (insertions > 0 && !empty && s->temperature < 0.5 * s->epsilon)
        status = ergo_job_error(ctx, "/run/insertions",
                                "at a temperature of %.10g epsilon test insertions have weights "
                                "that vary beyond all bounds, and their mean tells nothing: give 0 "
                                "below 0.5 epsilon",
                                s->temperature / s->epsilon);
    const double p = s->pressure * s->sigma * s->sigma * s->sigma / s->temperature;
    if (s->ensemble == LJ_NPT && !(p >= 1e-12 && p <= 1e12))
        status = ergo_job_error(ctx, "/system/pressure",
                                "beta P sigma^3 is %.4g; allowed: 1e-12 to 1e12", p);
    else if (s->ensemble == LJ_NPT && p * s->volume / pow(s->sigma, 3) > 1e10)
        status = ergo_job_error(ctx, "/system/pressure",
                                "beta P V is %.4g at the start, more than volume moves can count; "
                                "allowed: up to 1e10",
                                p * s->volume / pow(s->sigma, 3));
    struct lj_system small = *s;
    if (lj_boxes_of(point) == 2)
        small.volume = fmin(small.volume, lj_box_system(point, 1).volume);
    const double tail = fabs(lj_tail_energy(&small, largest_number(point, s))) / s->temperature;
    if (lj_has_volume(point) && tail > 1e10)
        status = ergo_job_error(ctx, "/system/tail_correction",
                                "the tail's energy of all particles would be %.4g T, more than "
                                "volume moves can count; allowed: up to 1e10 T",
                                tail);
    return status;
}

/* Two boxes: what the second one and the moves between them need. */
static enum ergo_status check_gibbs(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct lj_system *s) {
    const struct lj_system second = lj_box_system(point, 1);
    const double ratio = second.volume / s->volume;
    const double shortest = fmin(second.box[0], fmin(second.box[1], second.box[2]));
    const int64_t n = lj_particles_of(point) + of_lj(point)->second_particles;
    const int64_t every = of_particle(point)->volume_every;
    const int64_t transfers = of_lj(point)->transfers;
    enum ergo_status status = ERGO_OK;
    if (n < 2)
        status = ergo_job_error(ctx, "/system/particles",
                                "%lld in both boxes together: a vapour and a liquid need at least "
                                "2, and hundreds to be told apart",
                                (long long)n);
    if (s->volume > 0 && !(ratio >= 1e-3 && ratio <= 1e3)) /* no volume: the box is refused */
        status = ergo_job_error(ctx, "/system/second_volume",
                                "%.10g is %.4g times the volume of the first box; allowed: 0.001 "
                                "to 1000",
                                second.volume, ratio);
    else if (s->cutoff > shortest / 2)
        status = ergo_job_error(ctx, "/system/second_volume",
                                "the shortest side of the second box would be %.10g, less than two "
                                "cutoffs of %.10g",
                                shortest, s->cutoff);
    if (s->max_displacement > shortest / 2)
        status = ergo_job_error(ctx, "/system/max_displacement",
                                "%.10g is more than half the shortest side of the second box, "
                                "%.10g",
                                s->max_displacement, shortest / 2);
    /* transfers of a window are counted in 16 bits */
    if ((double)transfers * ceil((double)LJ_WINDOW / (double)every) >= 0x1p16)
        status = ergo_job_error(ctx, "/system/transfers",
                                "%lld before every %lld moves are more than are counted: at most "
                                "65535 in 1024 moves",
                                (long long)transfers, (long long)every);
    return status;
}

enum ergo_status lj_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    const double shortest = fmin(s.box[0], fmin(s.box[1], s.box[2]));
    const bool open = s.ensemble == LJ_MUVT;
    struct lj_tables tables = {0};                   /* large files are read once */
    if (lj_check_species(ctx, point, &s) != ERGO_OK) /* nothing else can be said then */
        return ERGO_E_JOB;
    if (lj_takes_density(point) && check_size(ctx, point) != ERGO_OK)
        return ERGO_E_JOB;
    enum ergo_status status = check_board(ctx, &s, shortest);
    if (s.ensemble == LJ_GIBBS && check_gibbs(ctx, point, &s) != ERGO_OK)
        status = ERGO_E_JOB;
    if ((open ? check_moves(ctx, point) : check_closed(ctx, point, &s)) != ERGO_OK)
        status = ERGO_E_JOB;
    if (s.cutoff > shortest / 2)
        status = ergo_job_error(ctx, "/system/cutoff",
                                "%.10g is more than half the shortest side, %.10g: a particle "
                                "would meet several images of another. Take more particles in a "
                                "larger box, or a shorter cutoff",
                                s.cutoff, shortest / 2);
    /* pairs in a shell have a counter of 32 bits; the limit is for the density of a dense liquid */
    const double most = largest_number(point, &s);
    const double contacts = 1.2 * 6.3 * pow(s.cutoff / s.sigma, 2) * lj_contact_width(&s) / s.sigma;
    if (most * contacts > 0x1p32)
        status =
            ergo_job_error(ctx, "/system/cutoff",
                           "%.10g is too long for so many particles: pairs at the cutoff could "
                           "no longer be counted",
                           s.cutoff);
    if (most > 0x1p26 && s.temperature > 50 * s.epsilon && s.epsilon > 0)
        status = ergo_job_error(ctx, "/system/temperature",
                                "%.10g: with more than 2^26 particles at most 50 epsilon is "
                                "allowed; beyond, energies leave the range of the arithmetic",
                                s.temperature);
    if (lj_cut_check(ctx, point) != ERGO_OK)
        status = ERGO_E_JOB;
    const enum ergo_status field = lj_check_field(ctx, point, &s, most, &tables);
    if (field != ERGO_OK)
        status = field;
    const enum ergo_status table = lj_check_table(ctx, point, &tables);
    if (table != ERGO_OK)
        status = table;
    if (s.repulsion <= s.attraction)
        status = ergo_job_error(ctx, "/system/repulsive_exponent",
                                "%u is not above /system/attractive_exponent, %u", s.repulsion,
                                s.attraction);
    if (s.cutoff < 0.2 * s.sigma)
        status = ergo_job_error(ctx, "/system/cutoff", "%.10g is below 0.2 sigma", s.cutoff);
    else if (s.cutoff < s.sigma && !of_lj(point)->cutoff.given) /* who means that writes it */
        status = ergo_job_error(ctx, "/system/cutoff",
                                "absent, and its default of %.10g is below sigma, %.10g, where "
                                "nothing attracts: write it in the job's unit of length, %.10g is "
                                "2.5 sigma",
                                s.cutoff, s.sigma, 2.5 * s.sigma);
    if (s.epsilon > 0 && (s.temperature > 100 * s.epsilon || s.temperature < 1e-3 * s.epsilon))
        status = ergo_job_error(ctx, "/system/temperature",
                                "%.10g: allowed are 0.001 to 100 epsilon (epsilon 0 for an ideal "
                                "gas); beyond, energies leave the range of the arithmetic. "
                                "k_B = 1: with T in K /system/epsilon, here %.10g, is in K, too",
                                s.temperature, s.epsilon);
    if (s.shifted && s.tail)
        status = ergo_job_error(ctx, "/system/tail_correction",
                                "a shifted potential has no tail to correct for");
    if (s.max_displacement > shortest / 2)
        status = ergo_job_error(
            ctx, "/system/max_displacement", "%.10g is more than half the shortest side, %.10g%s",
            s.max_displacement, shortest / 2,
            s.ensemble == LJ_MUVT ? "; leave it out to displace to anywhere" : "");
    const int64_t tune = of_lj(point)->tune_steps;
    if (tune && s.max_displacement == 0)
        status = ergo_job_error(ctx, "/system/tune_steps", "without max_displacement");
    if (tune > point->parameters->equilibration)
        status = ergo_job_error(ctx, "/system/tune_steps",
                                "%lld is longer than the equilibration: a chain that is steered "
                                "does not sample",
                                (long long)tune);
    if (point->parameters->anneal.present && !lj_is_open(point) &&
        ergo_says(point->parameters->anneal.text, "/system/particles"))
        status = ergo_job_error(ctx, "/anneal",
                                "found \"/system/particles\", but N is fixed: no point can start "
                                "in the last state of one with another N");
    if (status == ERGO_OK && !point->job->again)
        status = lj_start_check(ctx, point, &tables);
    lj_tables_free(&tables);
    return status;
}
