/*
 * See parallel.h. Threads are made when they are first needed, and stay: blocks of samples come
 * every millisecond, and making threads for each would cost more than their work.
 */
#include "base/parallel.h"

#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/memory.h"

enum { MOST_THREADS = 64, PIECES_PER_CORE = 4 };

struct queue {
    atomic_size_t next;
    size_t n;
    void (*work)(size_t i, void *user);
    void *user;
    bool no_memory; /* for a piece of it (base/memory.h) */
};

/* One queue at a time. */
static struct {
    pthread_mutex_t owned; /* by the caller whose queue it is */
    pthread_mutex_t lock;  /* of what follows */
    pthread_cond_t begin, end;
    size_t threads;
    size_t places; /* threads that may still join */
    size_t at_work;
    struct queue *queue;
} pool = {.owned = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .begin = PTHREAD_COND_INITIALIZER,
          .end = PTHREAD_COND_INITIALIZER};

static void take_from(struct queue *q) {
    for (size_t i = atomic_fetch_add(&q->next, 1); i < q->n; i = atomic_fetch_add(&q->next, 1))
        q->work(i, q->user);
}

static void *join_queues(void *unused) {
    (void)unused;
    /* numbers have points here too, whatever the program's locale; this thread never ends */
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c)
        (void)uselocale(c);
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.places)
            pthread_cond_wait(&pool.begin, &pool.lock);
        struct queue *q = pool.queue;
        pool.places--;
        pool.at_work++;
        pthread_mutex_unlock(&pool.lock);
        ergo_memory_set_failed(false);
        take_from(q);
        pthread_mutex_lock(&pool.lock);
        q->no_memory = q->no_memory || ergo_memory_failed();
        if (--pool.at_work == 0)
            pthread_cond_signal(&pool.end);
    }
    return NULL;
}

static size_t cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

/* Have this many threads, if the system gives them. The pool is locked. */
static void have_threads(size_t wanted) {
    sigset_t all, before;
    pthread_t thread;
    if (pool.threads >= wanted)
        return;
    /* signals go to the threads of the program, which expect them */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.threads < wanted && pthread_create(&thread, NULL, join_queues, NULL) == 0) {
        pthread_detach(thread);
        pool.threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

size_t ergo_parallel_most(size_t n) {
    const size_t wanted = n < MOST_THREADS ? n : MOST_THREADS;
    const size_t available = wanted > 1 ? cores() : 1;
    return wanted < available ? wanted : available;
}

void ergo_parallel(size_t n, size_t most, void (*work)(size_t i, void *user), void *user) {
    struct queue q = {.n = n, .work = work, .user = user};
    const size_t wanted = ergo_parallel_most(n < most ? n : most);
    if (wanted < 2 || pthread_mutex_trylock(&pool.owned) != 0) {
        take_from(&q);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    have_threads(wanted - 1);
    pool.queue = &q;
    pool.places = wanted - 1;
    pthread_cond_broadcast(&pool.begin);
    pthread_mutex_unlock(&pool.lock);
    take_from(&q); /* this thread works, too, alone if there are no others */
    pthread_mutex_lock(&pool.lock);
    pool.places = 0; /* who has not come by now finds nothing left */
    while (pool.at_work)
        pthread_cond_wait(&pool.end, &pool.lock);
    pool.queue = NULL;
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.owned);
    ergo_memory_set_failed(ergo_memory_failed() || q.no_memory);
}

struct ranges {
    size_t n, length;
    void (*work)(size_t begin, size_t end, void *user);
    void *user;
};

static void work_on_range(size_t i, void *user) {
    const struct ranges *r = user;
    const size_t begin = i * r->length, rest = r->n - begin;
    r->work(begin, begin + (rest < r->length ? rest : r->length), r->user);
}

void ergo_parallel_ranges(size_t n, size_t least,
                          void (*work)(size_t begin, size_t end, void *user), void *user) {
    struct ranges r = {.n = n, .length = least, .work = work, .user = user};
    if (n > least) {
        const size_t pieces = PIECES_PER_CORE * cores();
        const size_t even = (n + pieces - 1) / pieces;
        r.length = even > least ? even : least;
    }
    ergo_parallel((n + r.length - 1) / r.length, (size_t)-1, work_on_range, &r);
}
