#include "device/claim.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "device/cache.h"

/* The cache folder may be shared by hosts, and the indices of devices by no two of them. */
static void name_lock(const struct ergo_candidate *one, char *name, size_t size) {
    char host[80] = "";
    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    snprintf(name, size, "device-%s-%s.lock", host, one->pci[0] ? one->pci : one->summary.id);
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-')
            *at = '_';
}

bool ergo_device_claim(struct ergo_context *ctx, const struct ergo_candidate *one, int *claim) {
    char name[128];
    *claim = 0;
    name_lock(one, name, sizeof name);
    char *folder = ergo_cache_folder(ctx);
    char *path = folder ? ergo_path_join(folder, name) : NULL;
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666) : -1;
    bool busy = false;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        busy = errno == EWOULDBLOCK;
        close(fd);
        fd = -1;
    }
    *claim = fd + 1;
    free(path);
    free(folder);
    return !busy;
}

void ergo_device_unclaim(int *claim) {
    if (*claim)
        close(*claim - 1);
    *claim = 0;
}

size_t ergo_device_first_free(struct ergo_context *ctx, const char *selector,
                              const struct ergo_candidate *list, size_t count, const bool *matched,
                              int *claim) {
    size_t equal = 0, first = 0, chosen = 0;
    bool found = false;
    *claim = 0;
    for (size_t i = 0; i < count; i++) {
        if (!matched[i] || !list[i].summary.usable)
            continue;
        first = equal++ ? first : i;
        if (!found && ergo_device_claim(ctx, &list[i], claim)) {
            chosen = i;
            found = true;
        }
    }
    chosen = found ? chosen : first;
    ergo_log(ctx, ERGO_LOG_INFO,
             found ? "\"%s\" fits %zu equal devices: taking %s, the first that no other ergocl uses"
                   : "\"%s\" fits %zu equal devices, and ergocl uses them all: sharing %s",
             selector, equal, list[chosen].summary.id);
    return chosen;
}
