/*
 * Known answers: a device that is asked for the first time runs a tiny job of the model, whose end
 * this program knows (data/reference/digests.json). That finds what no replay can, where the run's
 * device is the only implementation of the machine: kernels that it always gets wrong in the same
 * way. The right answer is remembered, as the probe's verdict is: per device, driver, options and
 * kernels.
 */
#ifndef ERGO_RUN_KNOWN_H
#define ERGO_RUN_KNOWN_H

#include "device/program.h"
#include "job/job.h"

/* The jobs, and digests.json: files of their folders, embedded. */
extern const struct ergo_embedded ergo_known_files[];
extern const size_t ergo_known_file_count;

/* The job that is asked for a job of its model, *known NULL: there is none; and the digests of its
 * points in order, as hexadecimal words. Caller frees both. */
enum ergo_status ergo_known_job(struct ergo_context *ctx, const struct ergo_job *job,
                                struct ergo_job **known, char **digests);

/* ERGO_E_AUDIT: the device gives another answer. *how: "asked", "remembered", or NULL where there
 * is no such job; any other failure (no memory, say) tells nothing of the answer. */
enum ergo_status ergo_known_ask(struct ergo_context *ctx, struct ergo_device *device,
                                const struct ergo_job *job, const char **how);

#endif
