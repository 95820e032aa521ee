/*
 * Which rank has which points: the first deal, and meetings of ranks that work on points of their
 * own. Each says how fast it was and where its
 * points are; rank 0 decides whether they are dealt anew. Who has nothing left to do, or a device
 * that failed, asks for one; and all do once, early, when they have been measured.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dist/dist.h"
#include "run/deal.h"
#include "run/spread_parts.h"

/* Seconds. measurable: sampling after which a speed can be told. first: when all are compared for
 * the first time. anew_most: longer beginnings are not thrown away. patience_*: between questions
 * of a rank that got nothing. */
static const double measurable = 0.25, first = 0.5, anew_most = 2, patience_least = 2,
                    patience_most = 60;

/* What a rank says of itself. */
struct seat {
    double speed, prepare, seconds;
    uint64_t dead, stopped, idle;
};

static double since(const struct ergo_work *work) {
    return ergo_session_seconds(work->session) - work->spread->since_seconds;
}

bool ergo_spread_due(struct ergo_work *work) {
    if (work->cut)
        return false;
    const bool early = work->spread->meetings == 0 && work->spread->ranks > 1;
    if (since(work) >= measurable && (ergo_dist_asked() || (early && since(work) >= first)))
        ergo_dist_ready();
    return ergo_dist_all_ready();
}

/* ---- deals of points (deal.h); those that follow one another stay together ------------------- */

static double left_of(const struct ergo_work *work, size_t k) {
    const struct ergo_spread *s = work->spread;
    const uint64_t total = ergo_spread_total(work, s->order[k]);
    return s->steps[k] < total ? (double)(total - s->steps[k]) * s->weights[k] : 0;
}

/* Is point k done, and awaited by one that has not begun and starts from its last state? */
static bool awaited(const struct ergo_work *work, size_t k) {
    const struct ergo_spread *s = work->spread;
    const struct ergo_point *next = s->order[k]->next;
    return next && s->steps[s->place[next->index]] == 0 &&
           s->steps[k] == ergo_schedule_of(s->order[k]).total;
}

/* Seconds that points take as they are, or `anew` as they are dealt then; left, owners: of
 * [n_points], in order. Points that have ended stay where they are. Below 0: no memory. */
static double deal_points(const struct ergo_work *work, const double *left, const double *speeds,
                          const double *starts, uint32_t *owners, bool anew) {
    const struct ergo_spread *s = work->spread;
    double *chains = calloc(s->n_chains + 1, sizeof *chains), seconds = -1;
    uint32_t *of = calloc(s->n_chains + 1, sizeof *of);
    const struct ergo_deal d = {s->n_chains, (size_t)s->ranks, chains, speeds, starts, of};
    for (size_t k = 0; k < work->job->n_points && chains && of; k++) {
        chains[s->chains[k]] += left[k];
        of[s->chains[k]] = owners[k]; /* of a chain with points left, these have an owner last */
    }
    if (chains && of && (!anew || ergo_deal(&d)))
        seconds = ergo_deal_seconds(&d);
    for (size_t k = 0; k < work->job->n_points && anew && seconds >= 0; k++)
        if (left[k] > 0 || owners[k] == ERGO_DEAL_NOBODY)
            owners[k] = of[s->chains[k]];
    free(chains);
    free(of);
    return seconds;
}

/* Points of nobody, in equal parts where no rank was measured yet. */
enum ergo_status ergo_spread_deal_first(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    const size_t n = work->job->n_points;
    double *left = calloc(n, sizeof *left), *speeds = calloc((size_t)s->ranks, sizeof *speeds);
    bool ok = left && speeds;
    s->fresh = true;
    for (size_t k = 0; k < n && ok; k++) {
        left[k] = left_of(work, k);
        s->fresh = s->fresh && s->steps[k] == 0;
        s->owners[k] = ERGO_DEAL_NOBODY;
    }
    for (size_t r = 0; r < s->ranks && ok; r++)
        speeds[r] = work->speeds ? work->speeds[r] : 1;
    if (work->speeds)
        s->speed = work->speeds[ergo_ranks_rank()];
    ok = ok && deal_points(work, left, speeds, NULL, s->owners, true) >= 0;
    free(left);
    free(speeds);
    if (!ok)
        return ergo_spread_no_memory(work);
    ergo_dist_share(s->owners, n * sizeof *s->owners);
    s->deals = 1;
    return ergo_spread_make_units(work);
}

/* ---- the decision, on rank 0 ----------------------------------------------------------------- */

static enum ergo_spread_verdict is_over(const struct ergo_work *work, const struct seat *seats) {
    const struct ergo_spread *s = work->spread;
    bool stopped = false, lost = true, done = true;
    for (size_t r = 0; r < s->ranks; r++) {
        stopped |= seats[r].stopped != 0;
        lost = lost && seats[r].dead;
    }
    for (size_t k = 0; k < work->job->n_points; k++)
        done = done && s->steps[k] >= ergo_spread_total(work, s->order[k]);
    return done      ? ERGO_SPREAD_DONE
           : stopped ? ERGO_SPREAD_STOP
           : lost    ? ERGO_SPREAD_LOST
                     : ERGO_SPREAD_ON;
}

/* A rank that was not measured yet is as fast as others are on average. */
static void guess_speeds(const struct seat *seats, size_t ranks, double *speeds) {
    double sum = 0, known = 0;
    for (size_t r = 0; r < ranks; r++)
        if (!seats[r].dead && seats[r].speed > 0) {
            sum += seats[r].speed;
            known++;
        }
    for (size_t r = 0; r < ranks; r++)
        speeds[r] = seats[r].dead        ? 0
                    : seats[r].speed > 0 ? seats[r].speed
                    : known > 0          ? sum / known
                                         : 1;
}

/* Is a deal worth what it costs? left: room for [n_points]; speeds, starts: [ranks]. */
static bool deal(struct ergo_work *work, const struct seat *seats, double *left, double *speeds,
                 double *starts) {
    struct ergo_spread *s = work->spread;
    const size_t n = work->job->n_points;
    double lost = 0, leaving = 0;
    bool dead = false;
    guess_speeds(seats, (size_t)s->ranks, speeds);
    for (size_t r = 0; r < s->ranks; r++) {
        starts[r] = seats[r].prepare;
        if (!seats[r].idle) /* states, and an audit, as at the beginning of a unit */
            leaving = fmax(leaving, seats[r].prepare);
        lost = fmax(lost, seats[r].seconds);
        dead = dead || seats[r].dead;
    }
    for (size_t k = 0; k < n; k++) {
        left[k] = left_of(work, k);
        s->dealt[k] = s->owners[k];
    }
    const double now = deal_points(work, left, speeds, NULL, s->dealt, false);
    /* Points of a batch that are at different steps run one after the other, and small ones do not
     * fill a GPU by themselves: early on, all begin again together. */
    s->anew = s->fresh && s->deals == 1 && !dead && lost < anew_most;
    for (size_t k = 0; k < n && s->anew; k++) {
        left[k] = (double)ergo_spread_total(work, s->order[k]) * s->weights[k];
        s->dealt[k] = ERGO_DEAL_NOBODY;
    }
    const double then = deal_points(work, left, speeds, starts, s->dealt, true);
    if (now < 0 || then < 0)
        return false;
    const double cost = 0.1 + (s->anew ? lost : leaving);
    ergo_log(
        work->ctx, ERGO_LOG_DEBUG,
        "meeting %zu: %.3g s to go as points are dealt, %.3g s and %.2g s for it if dealt anew",
        s->meetings, now, then, cost);
    return now - then > cost + 0.05 * now || isinf(now);
}

static enum ergo_status decide(struct ergo_work *work, const struct seat *seats) {
    struct ergo_spread *s = work->spread;
    s->verdict = is_over(work, seats);
    if (s->verdict != ERGO_SPREAD_ON)
        return ERGO_OK;
    double *left = calloc(work->job->n_points, sizeof *left);
    double *speeds = calloc(2 * (size_t)s->ranks, sizeof *speeds);
    const bool ok = left && speeds;
    bool idle = true;
    for (size_t r = 0; r < s->ranks; r++)
        idle = idle && seats[r].idle;
    if (ok && deal(work, seats, left, speeds, speeds + s->ranks))
        s->verdict = ERGO_SPREAD_DEAL;
    free(left);
    free(speeds);
    if (idle && s->verdict == ERGO_SPREAD_ON) /* a defect, and no reason to wait for ever */
        return ERGO_FAIL(work->ctx, ERGO_E_INTERNAL, "points are left that no rank makes");
    return ok ? ERGO_OK : ergo_spread_no_memory(work);
}

/* ---- meetings -------------------------------------------------------------------------------- */

static void measure(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    const double seconds = since(work), done = work->session->work_done - s->since_work;
    if (seconds < measurable)
        return;
    if (done > 0)
        s->speed = done / seconds;
    s->since_work = work->session->work_done;
    s->since_seconds = ergo_session_seconds(work->session);
}

/* Steps of this rank's points; of others nothing. */
static void tell_steps(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    for (size_t k = 0; k < work->job->n_points; k++)
        s->steps[k] = ergo_spread_owns(work, k) ? work->progress[s->order[k]->index].step : 0;
    const struct ergo_spread_unit *unit = s->current;
    for (size_t k = 0, m = 0; unit && k < work->job->n_points && m < unit->batch.count; k++)
        if (s->order[k] == unit->batch.points[m]) {
            s->steps[k] = work->step;
            m++;
        }
}

enum ergo_status ergo_spread_meet(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    struct seat *seats = calloc((size_t)s->ranks, sizeof *seats);
    enum ergo_status status = ERGO_OK;
    if (!seats)
        return ergo_spread_no_memory(work);
    measure(work);
    tell_steps(work);
    const double so_far = work->result->phases[ERGO_PHASE_PREPARE] - s->prepared;
    const struct seat mine = {
        s->speed, s->current ? so_far : s->prepare, ergo_session_seconds(work->session),
        s->dead,  work->session->stopped,           !s->current && s->at == s->n_units};
    ergo_dist_meet();
    ergo_dist_met();
    ergo_dist_collect(&mine, sizeof mine, seats);
    ergo_dist_max_counts(s->steps, work->job->n_points);
    if (ergo_ranks_rank() == 0)
        status = decide(work, seats);
    free(seats);
    if (status != ERGO_OK)
        return status;
    ergo_dist_share(&s->verdict, sizeof s->verdict);
    ergo_dist_share(&s->anew, sizeof s->anew);
    if (s->verdict == ERGO_SPREAD_DEAL)
        ergo_dist_share(s->dealt, work->job->n_points * sizeof *s->dealt);
    s->meetings++;
    s->ask_at = s->meetings > 1 ? ergo_clock() + s->patience : 0;
    s->patience = fmin(fmax(2 * s->patience, patience_least), patience_most);
    if (s->verdict != ERGO_SPREAD_ON && s->current)
        work->session->stopped = true; /* this unit is left */
    return ERGO_OK;
}

enum ergo_status ergo_spread_wait(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    const struct timespec rest = {0, 1000000};
    const double began = ergo_clock();
    bool saved = false;
    enum ergo_status status = ERGO_OK;
    while (!ergo_dist_all_ready() && status == ERGO_OK) {
        if (ergo_session_must_stop(work->session))
            work->session->stopped = true;
        if (s->dead || work->session->stopped || ergo_dist_asked() || ergo_clock() >= s->ask_at)
            ergo_dist_ready();
        if (!saved && ergo_clock() - began > 1) { /* what this rank has done is kept meanwhile */
            saved = true;
            status = ergo_work_checkpoint(work);
        }
        nanosleep(&rest, NULL);
    }
    return status == ERGO_OK ? ergo_spread_meet(work) : status;
}

/* ---- after a deal ---------------------------------------------------------------------------- */

/* Does the point go from one to the other? One that has ended, too, if the one that starts from its
 * last state goes. */
static bool goes(const struct ergo_work *work, size_t k, uint64_t from, uint64_t to) {
    const struct ergo_spread *s = work->spread;
    if (s->owners[k] != from || s->steps[k] == 0)
        return false;
    if (!awaited(work, k))
        return s->dealt[k] == to && s->steps[k] < ergo_spread_total(work, s->order[k]);
    const size_t next = s->place[s->order[k]->next->index];
    return s->dealt[next] == to && s->owners[next] != to;
}

static enum ergo_status send(struct ergo_work *work, uint64_t to) {
    struct ergo_spread *s = work->spread;
    const uint64_t own = (uint64_t)ergo_ranks_rank();
    struct ergo_text parcels = {0};
    for (size_t k = 0; k < work->job->n_points; k++)
        if (goes(work, k, own, to)) {
            const size_t i = s->order[k]->index;
            ergo_point_pack(work->result, work->progress, i, &parcels);
            /* the result of one that has ended stays this rank's */
            work->progress[i].ours = s->steps[k] == ergo_spread_total(work, s->order[k]);
        }
    const enum ergo_status status =
        parcels.failed
            ? ergo_spread_no_memory(work)
            : ergo_dist_send(work->ctx, (int)to, ERGO_DIST_TAGS, parcels.data, parcels.length);
    ergo_text_free(&parcels);
    return status;
}

static enum ergo_status receive(struct ergo_work *work, uint64_t from) {
    struct ergo_text parcels = {0};
    enum ergo_status status = ergo_dist_receive(work->ctx, (int)from, ERGO_DIST_TAGS, &parcels);
    if (status == ERGO_OK)
        status = ergo_spread_take(work, (int)from, parcels.data, parcels.length);
    ergo_text_free(&parcels);
    return status;
}

/* Pairs of ranks in one order for all, so that no two wait for each other. */
static enum ergo_status move(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    const uint64_t own = (uint64_t)ergo_ranks_rank();
    enum ergo_status status = ERGO_OK;
    for (uint64_t from = 0; from < s->ranks; from++)
        for (uint64_t to = 0; to < s->ranks && status == ERGO_OK; to++) {
            size_t count = 0;
            for (size_t k = 0;
                 from != to && (from == own || to == own) && k < work->job->n_points && !count; k++)
                count += goes(work, k, from, to);
            if (count)
                status = from == own ? send(work, to) : receive(work, from);
        }
    return status;
}

static enum ergo_status begin_again(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    for (size_t i = 0; i < work->job->n_points; i++) {
        ergo_progress_forget(&work->progress[i]);
        if (!ergo_point_back(work->result, work->progress, i))
            return ergo_spread_no_memory(work);
    }
    work->session->work_done = s->since_work = 0;
    return ERGO_OK;
}

enum ergo_status ergo_spread_exchange(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = s->anew ? begin_again(work) : move(work);
    memcpy(s->owners, s->dealt, work->job->n_points * sizeof *s->owners);
    s->deals++;
    s->verdict = ERGO_SPREAD_ON;
    work->session->stopped = false;
    if (status == ERGO_OK && !s->dead)
        status = ergo_spread_make_units(work);
    else
        ergo_spread_forget_units(s);
    s->patience = patience_least;
    return status;
}
