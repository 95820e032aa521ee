/* Memory that all ranks of a host see, where all ranks are on one. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dist/dist.h"

struct ergo_dist_shared {
    char *memory;
    size_t each, all; /* bytes */
};

/* The shared memory object keeps its name until all ranks have mapped it. NULL: no such memory
 * here. */
static char *map(const char *name, size_t bytes, bool first) {
    const int file = shm_open(name, first ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
    if (file < 0)
        return NULL;
    void *memory = MAP_FAILED;
    /* allocates all of it now, so that later writes cannot fail */
    if (!first || posix_fallocate(file, 0, (off_t)bytes) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

struct ergo_dist_shared *ergo_dist_shared_create(size_t bytes) {
    static unsigned made;
    const bool first = ergo_ranks_rank() == 0;
    struct ergo_dist_shared *s = calloc(1, sizeof *s);
    char name[64];
    if (!ergo_dist_one_host()) {
        free(s);
        return NULL;
    }
    snprintf(name, sizeof name, "/ergocl-%ld-%u", (long)getpid(), made++);
    ergo_dist_share(name, sizeof name);
    if (s) {
        s->each = (bytes + 4095) / 4096 * 4096;
        s->all = s->each * (size_t)ergo_dist_count();
        s->memory = first ? map(name, s->all, true) : NULL;
    }
    ergo_dist_barrier();
    if (s && !first)
        s->memory = map(name, s->all, false);
    const bool failed = ergo_dist_or(!s || !s->memory) != 0;
    if (first)
        shm_unlink(name);
    if (failed) {
        ergo_dist_shared_destroy(s);
        return NULL;
    }
    return s;
}

void ergo_dist_shared_destroy(struct ergo_dist_shared *s) {
    if (s && s->memory)
        munmap(s->memory, s->all);
    free(s);
}

void *ergo_dist_shared_of(const struct ergo_dist_shared *s, int rank) {
    return s->memory + s->each * (size_t)rank;
}

void ergo_dist_shared_meet(void) {
    atomic_thread_fence(memory_order_seq_cst);
    ergo_dist_meet();
    atomic_thread_fence(memory_order_seq_cst);
}
