/* Ranks: starting, what they do together, and who gets which device. */
#include "dist/dist.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entry.h"
#include "dist/wire.h"

enum { TAG_STOP = 1, TAG_GATHER, TAG_READY };
/* What the shared word of a host says about the message of a failure. */
enum { NOT_SAID, BEING_SAID, SAID };

static struct {
    const struct ergo_wire *wire; /* NULL: not started */
    int rank, count;
    int node_rank, node_count; /* among the ranks of this host */
    cpu_set_t *cores;          /* [node_count] that they may use */
    bool crowded;              /* more ranks than cores */
    bool told, heard;
    bool with_first; /* rank 0 is of this host */
    bool speaks;     /* of its failure */
    bool ready;      /* for the next meeting */
    int readies;     /* others that are, as far as was heard */
} dist = {.count = 1};

/*
 * How many processes a launcher has started, by what it says in the environment: Open MPI's mpirun,
 * Hydra (MPICH), srun through PMI or PMIx. 0: there is none; 1 also where it does not say how many.
 * MPI_Init without a launcher would start daemons, which sandboxes forbid.
 */
static int launched(void) {
    static const struct {
        const char *there, *size;
    } names[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_SIZE", "PMI_SIZE"},
                 {"PMI_RANK", "SLURM_STEP_NUM_TASKS"},
                 {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *size = getenv(names[i].size);
        if (getenv(names[i].there))
            return size && atoi(size) > 1 ? atoi(size) : 1;
    }
    return 0;
}

bool ergo_ranks_first(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    if (dist.wire)
        return dist.rank == 0;
    for (size_t i = 0; launched() > 1 && i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return atoi(rank) == 0;
    }
    return true;
}

const struct ergo_wire *ergo_dist_wire(void) {
    return dist.wire;
}

void ergo_ranks_library(char *text, size_t size) {
    if (!text || size == 0)
        return;
    if (ergo_mpi)
        ergo_mpi->name(text, size);
    else
        snprintf(text, size, "none");
}

/* Processes that do not see each other would each run the same job, in the same folder. */
static enum ergo_status refuse_strangers(struct ergo_context *ctx, int processes) {
    char library[128];
    if (!ergo_mpi)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%d processes were started together, but this ergocl was built without "
                         "MPI: each would run the whole job. Install Open MPI or MPICH and build "
                         "it again, or start one process",
                         processes);
    ergo_mpi->name(library, sizeof library);
    return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                     "%d processes were started together, but not by the mpirun of this ergocl's "
                     "MPI (%s): each would run the whole job. Use that one, or build ergocl with "
                     "the other MPI (make MPI=...)",
                     processes, library);
}

enum ergo_status ergo_ranks_start(struct ergo_context *ctx) {
    ERGO_ENTRY(ctx, ctx);
    const int processes = launched();
    cpu_set_t own;
    if (dist.wire || processes == 0)
        return ERGO_OK;
    if (!ergo_mpi)
        return processes > 1 ? refuse_strangers(ctx, processes) : ERGO_OK;
    if (!ergo_mpi->start(&dist.rank, &dist.count, &dist.node_rank, &dist.node_count))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "MPI could not be started");
    dist.wire = ergo_mpi;
    if (dist.count == 1 && processes > 1)
        return refuse_strangers(ctx, processes);
    dist.cores = calloc((size_t)dist.node_count, sizeof *dist.cores);
    if (!dist.cores)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the ranks of this host");
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        CPU_ZERO(&own); /* more cores than a set has: not divided */
    dist.wire->collect(true, &own, sizeof own, dist.cores);
    int users = 0;
    for (int r = 0; r < dist.node_count; r++) {
        cpu_set_t both;
        CPU_AND(&both, &own, &dist.cores[r]);
        users += CPU_COUNT(&both) > 0;
    }
    dist.crowded = users > CPU_COUNT(&own);
    int *ranks = calloc((size_t)dist.node_count, sizeof *ranks);
    if (!ranks)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the ranks of this host");
    dist.wire->collect(true, &dist.rank, sizeof dist.rank, ranks);
    for (int r = 0; r < dist.node_count; r++)
        dist.with_first = dist.with_first || ranks[r] == 0;
    free(ranks);
    return ERGO_OK;
}

bool ergo_ranks_speak(bool *elsewhere) {
    int before = NOT_SAID;
    *elsewhere = !ergo_ranks_first();
    if (!dist.wire || dist.count == 1)
        return true;
    *elsewhere = !dist.with_first;
    _Atomic int *word = dist.wire->word();
    dist.speaks = word ? atomic_compare_exchange_strong(word, &before, BEING_SAID) : true;
    return dist.speaks;
}

/* Whoever ends all ranks does not end the one that speaks before it has spoken; one that was itself
 * ended meanwhile, or stopped, is not waited for. */
static void let_it_be_said(void) {
    enum { PATIENCE_S = 10 };
    _Atomic int *word = dist.wire->word();
    const double begun = ergo_clock();
    if (dist.speaks && word)
        *word = SAID;
    while (word && *word == BEING_SAID && ergo_clock() - begun < PATIENCE_S)
        usleep(1000);
}

int ergo_ranks_finish(int exit_code) {
    if (!dist.wire)
        return exit_code;
    if (exit_code != 0 && exit_code != ergo_status_exit_code(ERGO_STOPPED)) {
        fflush(NULL);
        let_it_be_said();
        dist.wire->abort(exit_code); /* does not return */
    }
    dist.wire->barrier();
    ergo_dist_stop(false); /* what is still under way */
    dist.wire->end();
    free(dist.cores);
    dist.cores = NULL;
    dist.wire = NULL;
    dist.count = 1;
    return exit_code;
}

int ergo_ranks_rank(void) {
    return dist.rank;
}

int ergo_dist_count(void) {
    return dist.count;
}

bool ergo_dist_one_host(void) {
    return dist.node_count == dist.count;
}

int ergo_dist_bound(int *all) {
    cpu_set_t launcher;
    *all = 0;
    /* mpirun's daemon, or SLURM's, has started this process and is not bound */
    if (dist.count == 1 || sched_getaffinity(getppid(), sizeof launcher, &launcher) != 0)
        return 0;
    const int own = CPU_COUNT(&dist.cores[dist.node_rank]);
    *all = CPU_COUNT(&launcher);
    return ergo_dist_is_bound(own, *all, dist.node_count) ? own : 0;
}

bool ergo_dist_crowded(void) {
    return dist.crowded;
}

void ergo_dist_barrier(void) {
    if (dist.wire)
        dist.wire->barrier();
}

void ergo_dist_share(void *data, size_t bytes) {
    if (dist.wire)
        dist.wire->share(data, bytes);
}

static void reduce(enum ergo_wire_sum sum, uint64_t *values, size_t n) {
    if (dist.count > 1)
        dist.wire->reduce(sum, values, n);
}

void ergo_dist_sum_counts(uint64_t *values, size_t n) {
    reduce(ERGO_WIRE_SUM, values, n);
}

void ergo_dist_max_counts(uint64_t *values, size_t n) {
    reduce(ERGO_WIRE_MAX, values, n);
}

double ergo_dist_sum(double mine) {
    if (dist.count > 1)
        dist.wire->reduce_real(ERGO_WIRE_SUM, &mine);
    return mine;
}

double ergo_dist_max(double mine) {
    if (dist.count > 1)
        dist.wire->reduce_real(ERGO_WIRE_MAX, &mine);
    return mine;
}

double ergo_dist_min(double mine) {
    return -ergo_dist_max(-mine);
}

unsigned ergo_dist_or(unsigned bits) {
    uint64_t all = bits;
    reduce(ERGO_WIRE_OR, &all, 1);
    return (unsigned)all;
}

bool ergo_dist_any(bool mine) {
    return ergo_dist_or(mine) != 0;
}

void ergo_dist_collect(const void *mine, size_t bytes, void *all) {
    if (dist.count > 1)
        dist.wire->collect(false, mine, bytes, all);
    else
        memcpy(all, mine, bytes);
}

enum ergo_status ergo_dist_gather(struct ergo_context *ctx, const struct ergo_text *mine,
                                  ergo_dist_take take, void *user) {
    enum ergo_status status = ERGO_OK;
    if (dist.rank > 0)
        return ergo_dist_send(ctx, 0, TAG_GATHER, mine->data, mine->length);
    for (int r = 1; r < dist.count && status == ERGO_OK; r++) {
        struct ergo_text text = {0};
        status = ergo_dist_receive(ctx, r, TAG_GATHER, &text);
        if (status == ERGO_OK)
            status = take(user, r, text.data, text.length);
        ergo_text_free(&text);
    }
    return status;
}

/* ---- meetings -------------------------------------------------------------------------------- */

void ergo_dist_ready(void) {
    for (int r = 0; r < dist.count && !dist.ready; r++)
        if (r != dist.rank)
            dist.wire->tell(r, TAG_READY);
    dist.ready = true;
}

static void listen(void) {
    while (dist.count > 1 && dist.wire->heard(TAG_READY))
        dist.readies++;
}

bool ergo_dist_asked(void) {
    listen();
    return dist.readies > 0;
}

bool ergo_dist_all_ready(void) {
    listen();
    return dist.ready && dist.readies >= dist.count - 1;
}

void ergo_dist_met(void) {
    dist.ready = false;
    dist.readies -= dist.count - 1; /* a quick one may be ready for the next already */
}

/* ---- stop requests --------------------------------------------------------------------------- */

bool ergo_dist_stop(bool asked) {
    if (dist.count == 1)
        return asked;
    for (int r = 0; r < dist.count && asked && !dist.told; r++)
        if (r != dist.rank)
            dist.wire->tell(r, TAG_STOP);
    dist.told |= asked;
    while (dist.wire->heard(TAG_STOP))
        dist.heard = true;
    return asked || dist.heard;
}

/* ---- devices --------------------------------------------------------------------------------- */

static size_t items_of(const char *selector) {
    size_t items = 1;
    for (const char *c = selector; *c; c++)
        items += *c == ',';
    return items;
}

/* What a rank of this node gets of a list "A,B,...". */
static const char *item_of(const char *selector, int node_rank, size_t *length) {
    const size_t items = items_of(selector);
    for (size_t turn = (size_t)node_rank % items; turn > 0; turn--)
        selector = strchr(selector, ',') + 1;
    *length = strcspn(selector, ",");
    return selector;
}

/*
 * PoCL starts a thread for each core of the host in each rank, whatever else is there: ranks that
 * drive it would wait for each other's threads. Its environment is read when it is first asked.
 */
static enum ergo_status share_cores(struct ergo_context *ctx, const char *selector) {
    static const char name[] = "POCL_MAX_PTHREAD_COUNT";
    bool *same = calloc((size_t)dist.node_count, sizeof *same), alone = true;
    size_t length, other;
    const char *own = item_of(selector, dist.node_rank, &length);
    if (!same)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the ranks of this host");
    for (int r = 0; r < dist.node_count; r++) {
        const char *item = item_of(selector, r, &other);
        same[r] = other == length && strncmp(item, own, length) == 0;
        alone = alone && same[r];
    }
    unsigned threads = ergo_dist_threads(dist.cores, same, dist.node_count, dist.node_rank);
    free(same);
    /* One more than cores: PoCL's threads wait for each other as kernels end. 2048 x 512 sites on
     * two cores, a sweep of a cut lattice: 18.9 ms with two threads, 12.6 with three, 13.4 with
     * sixteen (PoCL 5.0). Beside a GPU its rank needs the core. */
    threads += alone && threads > 1;
    char number[16];
    snprintf(number, sizeof number, "%u", threads);
    if (threads > 0 && !getenv(name) && setenv(name, number, 0) == 0)
        ergo_log(ctx, ERGO_LOG_DEBUG,
                 "rank %d: %s=%u on a CPU through PoCL, its share of this host's cores (set it to "
                 "choose another number)",
                 dist.rank, name, threads);
    return ERGO_OK;
}

enum ergo_status ergo_dist_device(struct ergo_context *ctx, const char *selector, char *text,
                                  size_t size, size_t *turn) {
    size_t length = strlen(selector);
    *turn = 0;
    if (dist.count > 1) {
        const enum ergo_status status = share_cores(ctx, selector);
        if (status != ERGO_OK)
            return status;
        *turn = (size_t)dist.node_rank / items_of(selector);
        selector = item_of(selector, dist.node_rank, &length);
    }
    snprintf(text, size, "%.*s", (int)length, selector);
    return ERGO_OK;
}
