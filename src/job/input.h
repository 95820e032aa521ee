/* Files that a job names. */
#ifndef ERGO_JOB_INPUT_H
#define ERGO_JOB_INPUT_H

#include "job/job.h"

/* What the key at `pointer`, a text, says. */
const char *ergo_input_name(const struct ergo_point *point, const char *pointer);
/* Its contents, as by ergo_file_read; from the job's memory if they are kept there. */
enum ergo_status ergo_input_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const char *pointer, size_t limit, char **text, size_t *length);

/* What is in the files that a job's chains depend on becomes part of the job: they are read once.
 */
enum ergo_status ergo_input_keep(struct ergo_context *ctx, struct ergo_job *job);

#endif
