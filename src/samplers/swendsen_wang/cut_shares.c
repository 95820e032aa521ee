/* Shares of the ranks in a cut lattice: what the job says, or as fast as they are. */
#include <math.h>
#include <stdlib.h>

#include "samplers/swendsen_wang/cut.h"

double *sw_shares_initial(const struct ergo_batch *batch) {
    const char *text = ergo_point_text(batch->points[0], "/system/shares");
    const size_t ranks = (size_t)ergo_dist_count();
    double *weights = calloc(ranks, sizeof *weights);
    if (weights)
        ergo_dist_shares(text, ranks, weights);
    return weights;
}

enum { TRIAL_MS = 40 };

/* Sites per second of this rank's device, while all others work, too. */
static enum ergo_status measure_speed(struct ergo_context *ctx, struct sw_cut *s, double *speed) {
    double seconds = 0;
    uint64_t sweeps = 0;
    enum ergo_status status = ERGO_OK;
    ergo_dist_barrier();
    const double started = ergo_clock();
    for (; seconds < 1e-3 * TRIAL_MS && status == ERGO_OK; sweeps++) {
        ergo_engine_begin(&s->e, ctx);
        sw_cut_choose(s, 0);
        sw_cut_local(s, false, false);
        ergo_engine_finish(&s->e);
        status = ergo_engine_end(&s->e);
        seconds = ergo_clock() - started;
    }
    *speed = (double)sweeps * 32 * (double)sw_piece_words(&s->piece) / seconds;
    return status;
}

void sw_cut_log(struct ergo_context *ctx, const struct sw_cut *s) {
    const struct sw_piece *p = &s->piece;
    ergo_log(ctx, ERGO_LOG_INFO,
             "rank %d has rows %llu to %llu and sites %llu to %llu of them, %.3g %% of the lattice",
             s->rank, (unsigned long long)p->row0, (unsigned long long)(p->row0 + p->rows - 1),
             (unsigned long long)(32 * p->word0),
             (unsigned long long)(32 * (p->word0 + p->words - 1) + p->tail - 1),
             100.0 * (double)sw_piece_words(p) / (double)s->shape.words);
}

/* New shares where the speeds differ by more than a tenth. */
enum ergo_status sw_cut_share_by_speed(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t ranks = (size_t)s->layout.ranks;
    double speed = 0, least = INFINITY, most = 0;
    double *speeds = calloc(ranks, sizeof *speeds);
    if (!speeds)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the shares of %zu ranks", ranks);
    enum ergo_status status = measure_speed(ctx, s, &speed);
    if (status == ERGO_OK) {
        ergo_dist_collect(&speed, sizeof speed, speeds);
        for (size_t r = 0; r < ranks; r++) {
            least = speeds[r] < least ? speeds[r] : least;
            most = speeds[r] > most ? speeds[r] : most;
        }
        if (most > 1.1 * least)
            status = sw_cut_remake(ctx, s, speeds);
    }
    free(speeds);
    return status;
}

enum ergo_status sw_cut_recut(struct ergo_context *ctx, struct sw_cut *s, const double *weights) {
    const size_t members = s->e.batch->count;
    uint32_t **planes = calloc(members, sizeof *planes);
    enum ergo_status status =
        planes ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu lattices", members);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = sw_cut_gather(ctx, s, m, &planes[m]);
    if (status == ERGO_OK)
        status = sw_cut_remake(ctx, s, weights);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = sw_cut_scatter(ctx, s, m, planes[m]);
    for (size_t m = 0; planes && m < members; m++)
        free(planes[m]);
    free(planes);
    return status;
}

/* Seconds between comparisons; how much longer than necessary the slowest may take. */
static const double balance_every = 2, patience = 1.25;

enum ergo_status sw_cut_balance(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t ranks = (size_t)s->layout.ranks;
    const double now = ergo_clock();
    if (!ergo_dist_or(s->rank == 0 && now - s->balanced_at > balance_every && s->busy_sweeps > 3))
        return ERGO_OK;
    double *seconds = calloc(2 * ranks, sizeof *seconds);
    const double here = s->busy / (double)s->busy_sweeps;
    double slowest = 0, speed = 0, sites = 0;
    enum ergo_status status = ERGO_OK;
    if (!seconds)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the shares of %zu ranks", ranks);
    double *weights = seconds + ranks;
    ergo_dist_collect(&here, sizeof here, seconds);
    for (size_t r = 0; r < ranks; r++) {
        const double words = (double)sw_piece_words(&s->layout.pieces[r]);
        weights[r] = words / (seconds[r] > 0 ? seconds[r] : 1e-9);
        slowest = seconds[r] > slowest ? seconds[r] : slowest;
        speed += weights[r];
        sites += words;
    }
    if (slowest > patience * sites / speed) {
        status = sw_cut_recut(ctx, s, weights);
        if (status == ERGO_OK)
            sw_cut_log(ctx, s);
    }
    free(seconds);
    s->busy = 0;
    s->busy_sweeps = 0;
    s->balanced_at = ergo_clock();
    return status;
}
