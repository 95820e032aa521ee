/* Clocks of a run, requests to stop, progress. */
#include "run/session.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/entry.h"
#include "dist/dist.h"

static atomic_bool stop_requested; /* lock-free: also for signal handlers */

struct ergo_stop {
    atomic_bool requested;
};

struct ergo_stop *ergo_stop_create(void) {
    return calloc(1, sizeof(struct ergo_stop));
}

void ergo_stop_destroy(struct ergo_stop *stop) {
    free(stop);
}

void ergo_stop_request(struct ergo_stop *stop) {
    if (stop)
        stop->requested = true;
}

bool ergo_stop_is_requested(const struct ergo_stop *stop) {
    return stop && stop->requested;
}

void ergo_run_request_stop(void) {
    stop_requested = true;
}

bool ergo_session_stop_is_requested(const struct ergo_stop *stop) {
    return stop_requested || ergo_stop_is_requested(stop);
}

void ergo_run_withdraw_stop(void) {
    stop_requested = false;
}

double ergo_session_seconds(const struct ergo_session *session) {
    return session->seconds_before +
           (session->sampling_started > 0 ? ergo_clock() - session->sampling_started : 0);
}

void ergo_session_clock_start(struct ergo_session *session) {
    session->sampling_started = ergo_clock();
}

void ergo_session_clock_rest(struct ergo_session *session) {
    session->seconds_before = ergo_session_seconds(session);
    session->sampling_started = 0;
}

void ergo_session_worked(struct ergo_session *session, uint64_t steps, double work_per_step) {
    session->work_done += (double)steps * work_per_step;
    session->progressed = true;
    ergo_eta_step(&session->eta, (double)steps, ergo_session_seconds(session));
}

bool ergo_session_must_stop(const struct ergo_session *session) {
    const bool asked = ergo_session_stop_is_requested(session->options->stop);
    if (session->apart ? ergo_dist_stop(asked) : asked)
        return true;
    return session->progressed && ergo_clock() - session->started >= session->wall_time;
}

void ergo_session_report(struct ergo_session *session, const char *rate_unit, const char *phase,
                         bool force) {
    const double now = ergo_clock();
    if (!session->options->progress || (!force && now - session->last_progress < 0.2))
        return;
    session->last_progress = now;
    const double seconds = ergo_session_seconds(session);
    const double done = session->work_done, total = session->work_total;
    bool rough = false;
    const double left = ergo_eta_left(&session->eta, &rough);
    const struct ergo_progress p = {
        .done = done,
        .total = total,
        .seconds = seconds,
        .eta = left,
        .rate = seconds > 0 ? done / seconds : 0,
        .rate_unit = rate_unit,
        .phase = phase,
        .rough = rough,
    };
    const unsigned depth = ergo_entry_lend();
    session->options->progress(session->options->user, &p);
    ergo_entry_take_back(depth);
}

const char *ergo_session_device(const struct ergo_session *session, const struct ergo_job *job) {
    const char *selector = session->options->device;
    if (!selector)
        selector = getenv("ERGOCL_DEVICE");
    return selector && *selector ? selector : job->points[0].parameters->device;
}
