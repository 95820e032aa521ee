/* Files of the cache folder: one checked record each. */
#ifndef ERGO_DEVICE_CACHE_H
#define ERGO_DEVICE_CACHE_H

#include "base/text.h"

/* The folder ($ERGOCL_CACHE_DIR, $XDG_CACHE_HOME/ergocl, ~/.cache/ergocl), created; NULL: none of
 * them can be written, or, with errno ENOMEM, memory ran out. Caller frees. */
char *ergo_cache_folder(struct ergo_context *ctx);

enum ergo_cache_state {
    ERGO_CACHE_HIT,
    ERGO_CACHE_MISS,   /* no such file */
    ERGO_CACHE_DEFECT, /* unreadable, cut short, changed, or of another key */
    ERGO_CACHE_NO_MEMORY,
};

/*
 * A record is magic (8 bytes), key (32), SHA-256 of the payload (32), payload. Nothing of the
 * payload is returned before all of it was checked: PoCL crashes on corrupt binaries. *payload is
 * allocated, with a zero beyond its end. `kind` is the file's ending. *reason: of a defect.
 */
enum ergo_cache_state ergo_cache_read(const char *folder, const char *kind, const uint8_t key[32],
                                      char **payload, size_t *length, const char **reason);
/* Readers see the old file or the whole new one, whatever else is starting at the same time.
 * A failure is logged: "`what` is not cached: ...". */
bool ergo_cache_write(struct ergo_context *ctx, const char *folder, const char *kind,
                      const uint8_t key[32], const char *what, const void *payload, size_t length);

/*
 * Before a record is made that takes long: while another process makes one, this waits for it, for
 * minutes if need be, and says true: the record may be there now. Where there can be no lock it
 * does not wait. *claim has to be given back.
 */
bool ergo_cache_claim(const char *folder, const uint8_t key[32], int *claim);
void ergo_cache_unclaim(int *claim);

enum { ERGO_CACHE_NAME = 64 };
/* The file of a record: KEY.kind */
void ergo_cache_name(const char *kind, const uint8_t key[32], char name[ERGO_CACHE_NAME]);

#endif
