/* /start/run: last states of another run, in which the chains of a job start. */
#ifndef ERGO_RESULT_ORIGIN_H
#define ERGO_RESULT_ORIGIN_H

#include "job/job.h"

bool ergo_origin_given(const struct ergo_point *point);
/* Reads them, checks that they fit the job, and makes them one of its files, which its checkpoints
 * hold. Nothing where the job names no run. ERGO_E_JOB, ERGO_E_IO with the pointer and what is
 * wrong. */
enum ergo_status ergo_origin_keep(struct ergo_context *ctx, struct ergo_job *job);
/* As keep would, without keeping anything. */
enum ergo_status ergo_origin_check(struct ergo_context *ctx, const struct ergo_job *job);
/* The state in which a point starts; the job's own memory. */
enum ergo_status ergo_origin_state(struct ergo_context *ctx, const struct ergo_point *point,
                                   const void **bytes, size_t *length);
/* A state that does not fit after all: the last message, with the key before it. ERGO_E_JOB. */
enum ergo_status ergo_origin_refuse(struct ergo_context *ctx, const struct ergo_point *point);

#endif
