/* See parallel.h. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

struct queue {
    atomic_size_t next;
    size_t n;
    void (*work)(size_t i, void *user);
    void *user;
};

static void *take_from(void *opaque) {
    struct queue *q = opaque;
    for (size_t i = atomic_fetch_add(&q->next, 1); i < q->n; i = atomic_fetch_add(&q->next, 1))
        q->work(i, q->user);
    return NULL;
}

static size_t cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

void ergo_parallel(size_t n, size_t most, void (*work)(size_t i, void *user), void *user) {
    struct queue q = {.n = n, .work = work, .user = user};
    pthread_t threads[MOST_THREADS];
    sigset_t all, before;
    size_t wanted = cores(), made = 0;
    wanted = wanted < n ? wanted : n;
    wanted = wanted < most ? wanted : most;
    wanted = wanted < MOST_THREADS ? wanted : MOST_THREADS;
    /* signals go to the threads of the program, which expect them */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (made + 1 < wanted && pthread_create(&threads[made], NULL, take_from, &q) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)take_from(&q); /* this thread works, too, alone if there are no others */
    while (made > 0)
        pthread_join(threads[--made], NULL);
}
