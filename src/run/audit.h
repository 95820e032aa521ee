/*
 * Audits by replay: one job and seed give the same bits on every OpenCL implementation. So a
 * stretch of the run, measurements included, is made once more, from the state in which it began,
 * on another implementation of the machine (/audit/device), and states and samples have to be
 * equal. Where there is no other, the device makes it again, in long
 * runs in groups of another size.
 *
 * Another implementation works in a thread of its own, beside the run; the run's own device cannot,
 * and the run waits for it. Of many members a few are made again, and a stretch is as long as their
 * cost allows. A system that is cut over ranks is replayed whole, by rank 0. Nothing of this is in
 * a model.
 */
#ifndef ERGO_RUN_AUDIT_H
#define ERGO_RUN_AUDIT_H

#include "engine/samples.h"
#include "job/job.h"

struct ergo_work;
struct ergo_audit;

/* A block of the run: `count` times `every` steps and a sample; count 0: `every` steps. */
struct ergo_audit_block {
    uint64_t step;       /* before it */
    size_t first, count; /* samples */
    uint64_t every;
};

/* A batch begins whose state is not made yet: its members to replay, and the device, at the first
 * batch. Nothing happens where runs are not audited. */
enum ergo_status ergo_audit_batch(struct ergo_work *work, const struct ergo_batch *batch);
/* How many of the next steps, of `rest` to the end, are to be a block of their own that is
 * replayed; 0: none. */
uint64_t ergo_audit_due(struct ergo_work *work, uint64_t rest);
/* Steps of the run's last block, which is replayed; 0: there is no time for it. */
uint64_t ergo_audit_last(const struct ergo_work *work);
/* Before a state is saved on the way: has nothing been replayed since the last time, so that a
 * stretch of the next steps has to be first? It is due then. A device that begins to fail writes no
 * checkpoint (but at a stop, which does not wait for one). */
bool ergo_audit_wants(struct ergo_work *work);
bool ergo_audit_wanted(const struct ergo_work *work); /* it was asked for, and is still to come */
void ergo_audit_saved(struct ergo_work *work);
/* A state that was read for a checkpoint or a digest: as the last stretch left it, where that ended
 * here? ERGO_E_AUDIT: the device has given another one. */
enum ergo_status ergo_audit_state(struct ergo_work *work, size_t member, const char *bytes,
                                  size_t length);
/* Around such a block, with no other in flight: states before; samples as they are collected;
 * states after, and the replay begins. */
enum ergo_status ergo_audit_before(struct ergo_work *work, const struct ergo_audit_block *block);
void ergo_audit_samples(struct ergo_work *work, const struct ergo_samples *samples);
enum ergo_status ergo_audit_after(struct ergo_work *work);
/* Waits for a replay that has begun. ERGO_E_AUDIT: the devices differ, with the first place where
 * they do. */
enum ergo_status ergo_audit_settle(struct ergo_work *work);
/* What has been replayed, into the result. */
void ergo_audit_close(struct ergo_work *work);

#endif
