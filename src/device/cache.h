/* Files of the cache folder: one checked record each. */
#ifndef ERGO_DEVICE_CACHE_H
#define ERGO_DEVICE_CACHE_H

#include "base/text.h"

enum ergo_cache_state {
    ERGO_CACHE_HIT,
    ERGO_CACHE_MISS,   /* no such file */
    ERGO_CACHE_DEFECT, /* unreadable, cut short, changed, or of another key */
    ERGO_CACHE_NO_MEMORY,
};

/*
 * A record is magic (8 bytes), version (4), key (32), payload length (8), SHA-256 of the payload
 * (32), payload; numbers little-endian. Nothing of the payload is returned before all of it was
 * checked: PoCL crashes on corrupt binaries. `kind` is the file's ending.
 */
enum ergo_cache_state ergo_cache_read(const char *folder, const char *kind, const uint8_t key[32],
                                      uint8_t **payload, size_t *length, const char **reason);
/* Written under a name of its own, synced, renamed: readers see the old file or the whole new one,
 * whatever else is starting at the same time. */
bool ergo_cache_write(const char *folder, const char *kind, const uint8_t key[32],
                      const void *payload, size_t length, const char **reason);
/* folder/KEY.kind; caller frees, NULL when memory ran out. */
char *ergo_cache_path(const char *folder, const char *kind, const uint8_t key[32]);

#endif
