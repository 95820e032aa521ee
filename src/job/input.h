/* Files that a job names. */
#ifndef ERGO_JOB_INPUT_H
#define ERGO_JOB_INPUT_H

#include "job/job.h"

/* The file that a key names at a point; NULL: none. */
const char *ergo_input_path(const struct ergo_point *point, const struct ergo_key *key);
/* What is in it, as by ergo_file_read; from the job's memory where it is kept. */
enum ergo_status ergo_input_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const char *pointer, size_t limit, char **text, size_t *length);

#endif
