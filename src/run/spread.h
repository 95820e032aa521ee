/*
 * Points of a job spread over ranks. The unit of progress is the point: its step, samples, and
 * state. Each rank has points of its own, and runs those of a batch that are at the same step
 * together. Ranks meet when one has nothing left to do or a device that failed, and soon after the
 * start: each says how fast it was, and points are dealt anew, between blocks of samples and with
 * their states, where that ends the run sooner. So a fast device has more, and one that becomes
 * slow loses some. A chain does not depend on what runs beside it or where, so none of this leaves
 * a trace. Ranks that cut systems run all points together, and never deal. Checkpoints (store.h):
 * each rank writes DIR/checkpoint-GENERATION-RANK with all it knows, at any time, and
 * DIR/checkpoint is their index. A resume with any number of ranks (also without MPI) reads them
 * all and begins the next generation. A run that has ended has one file again.
 *
 *     spread.c         what a rank has, in units; from the first deal to the results of all
 *     spread_deal.c    meetings, and points that change ranks
 *     spread_fail.c    devices that fail
 *     deal.c           who gets what
 */
#ifndef ERGO_RUN_SPREAD_H
#define ERGO_RUN_SPREAD_H

#include "run/work.h"

struct ergo_spread;

/* Of the points that the work has, from where they stand. old: files of ranks that the checkpoint
 * has. */
enum ergo_status ergo_spread_create(struct ergo_work *work, struct ergo_rank_files old);
void ergo_spread_destroy(struct ergo_work *work);

/* Runs all points; the device is open. Afterwards rank 0 has all results. */
enum ergo_status ergo_spread_run(struct ergo_work *work);

/* The current unit ends before its time: because the run stops, or its points are dealt anew. */
enum ergo_status ergo_spread_leave(struct ergo_work *work);
/* Between blocks: are all ranks ready to meet? Then they do, once no block is in flight;
 * session->stopped: the current unit is to be left. */
bool ergo_spread_due(struct ergo_work *work);
enum ergo_status ergo_spread_meet(struct ergo_work *work);
#endif
