/*
 * Points of a job spread over ranks. The unit of progress is the point: its step, samples, and
 * state. Points of a batch that are at the same step run together, in pieces. Ranks take pieces
 * from a common list, largest first, each as soon as it has finished its last one, so a fast device
 * takes more. A chain does not depend on what runs beside it, so neither pieces nor ranks leave a
 * trace. Checkpoints: DIR/checkpoint is an index (job, generation, number of ranks), and each rank
 * writes DIR/checkpoint-GENERATION-RANK with all it knows, at any time. For each point the record
 * that is furthest counts. A resume with any number of ranks (also without MPI) reads them all and
 * begins the next generation. A finished run has a plain checkpoint again; a part of a run
 * (ergo_run_options.part) keeps these files.
 */
#ifndef ERGO_RUN_SPREAD_H
#define ERGO_RUN_SPREAD_H

#include "run/work.h"

struct ergo_spread;

/* For a new run. */
enum ergo_status ergo_spread_create(struct ergo_work *work);
/* For one that was read from a checkpoint, whose points are single (work->stored.progress). */
enum ergo_status ergo_spread_resume(struct ergo_work *work);
void ergo_spread_destroy(struct ergo_work *work);

/* Runs all points; the device is open. Afterwards rank 0 has all results. */
enum ergo_status ergo_spread_run(struct ergo_work *work);
#endif
