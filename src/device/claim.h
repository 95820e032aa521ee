/* Which of several equal devices is free? Advisory locks between processes of one user. */
#ifndef ERGO_DEVICE_CLAIM_H
#define ERGO_DEVICE_CLAIM_H

#include "device/candidate.h"

/*
 * A lock on a file of the cache folder, named by host and device, that says "an ergocl works here".
 * *claim: the file's descriptor plus 1, for ergo_device_unclaim; 0 where there is no cache folder,
 * or no lock on its file system. False: another process, or this one, has the lock. A failure is no
 * error: then the device counts as free.
 */
bool ergo_device_claim(struct ergo_context *ctx, const struct ergo_candidate *one, int *claim);
void ergo_device_unclaim(int *claim); /* sets 0 */

/* The first matched usable device that is free, claimed; or the first of all. For lists of which
 * ergo_candidate_equal is true. Says so on the log. */
size_t ergo_device_first_free(struct ergo_context *ctx, const char *selector,
                              const struct ergo_candidate *list, size_t count, const bool *matched,
                              int *claim);

#endif
