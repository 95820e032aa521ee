/*
 * Runs in several sessions, on all devices in turn: what test_resume and test_damage share.
 */
#ifndef ERGO_TESTS_SESSIONS_H
#define ERGO_TESTS_SESSIONS_H

#include "contract.h"

/* Devices to resume on. */
static struct ergo_device_summary *devices;
static size_t n_devices;

static bool at_home; /* on the test's own device only: others compile for seconds, every time */

/* Where the resumed sessions take place: on each usable device once, then on the test's own (some
 * compile for seconds, every time). */
static inline const char *device_of(size_t resumed) {
    for (size_t i = 0; i < n_devices && !at_home; i++)
        if (devices[i].usable && resumed-- == 0)
            return devices[i].id;
    return NULL;
}

static inline char *checkpoint_path(void) {
    char *path = ergo_path_join(contract.folder, "checkpoint");
    assert_non_null(path);
    return path;
}

/* After a first session that ended with `status`: sessions that are stopped until the run is
 * complete, each one `growth` times as long as the one before. The number of all. */
static inline size_t continue_in_sessions(enum ergo_status status, uint64_t growth,
                                          struct ergo_result **result) {
    size_t sessions = 1;
    while (status == ERGO_STOPPED && sessions < 1000) {
        assert_string_equal((*result)->status, "stopped");
        ergo_result_destroy(*result);
        ergo_run_withdraw_stop();
        const struct ergo_run_options options = contract_options(device_of(sessions - 1));
        contract.steps = 0;
        contract.stop_after *= growth;
        ergo_error_clear(contract.ctx);
        status = ergo_resume(contract.ctx, contract.folder, &options, result);
        sessions++;
    }
    ergo_run_withdraw_stop();
    contract.stop_after = 0;
    contract_ok(status, "a session");
    assert_string_equal((*result)->status, "complete");
    return sessions;
}

static inline int sessions_set_up(void **state) {
    if (contract_set_up(state) != 0)
        return -1;
    bool usable = false;
    if (ergo_device_list(contract.ctx, true, &devices, &n_devices) != ERGO_OK)
        return -1;
    for (size_t i = 0; i < n_devices; i++)
        usable = usable || devices[i].usable;
    return usable ? 0 : -1;
}

static inline int sessions_tear_down(void **state) {
    free(devices);
    return contract_tear_down(state);
}

#endif
