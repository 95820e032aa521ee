/* Ranks, through MPI. */
#include "dist/dist.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "base/entry.h"

enum { TAG_STOP = 1, TAG_LENGTH, TAG_BYTES };

static struct {
    bool started;
    int rank, count;
    int node_rank, node_count; /* among the ranks of this host */
    cpu_set_t *cores;          /* [node_count] that they may use */
    bool crowded;              /* more ranks than cores */
    bool told, heard;
    bool counting;
    MPI_Win window;
    uint64_t *counter;
    uint64_t alone;
} dist = {.count = 1};

/* Launchers say so in the environment: Open MPI's mpirun, PMIx (srun), Hydra. MPI_Init without one
 * would start daemons, which sandboxes forbid. */
static bool under_launcher(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return true;
    return false;
}

enum ergo_status ergo_ranks_start(struct ergo_context *ctx) {
    ERGO_ENTRY(ctx, ctx);
    if (dist.started || !under_launcher())
        return ERGO_OK;
    int provided = 0;
    MPI_Comm node;
    cpu_set_t own;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "MPI could not be started");
    dist.started = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &dist.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &dist.count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, dist.rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &dist.node_rank);
    MPI_Comm_size(node, &dist.node_count);
    dist.cores = calloc((size_t)dist.node_count, sizeof *dist.cores);
    if (!dist.cores)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the ranks of this host");
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        CPU_ZERO(&own); /* more cores than a set has: not divided */
    MPI_Allgather(&own, sizeof own, MPI_BYTE, dist.cores, sizeof own, MPI_BYTE, node);
    MPI_Comm_free(&node);
    int users = 0;
    for (int r = 0; r < dist.node_count; r++) {
        cpu_set_t both;
        CPU_AND(&both, &own, &dist.cores[r]);
        users += CPU_COUNT(&both) > 0;
    }
    dist.crowded = users > CPU_COUNT(&own);
    return ERGO_OK;
}

int ergo_ranks_finish(int exit_code) {
    if (!dist.started)
        return exit_code;
    if (exit_code != 0 && exit_code != ergo_status_exit_code(ERGO_STOPPED)) {
        fflush(NULL);
        MPI_Abort(MPI_COMM_WORLD, exit_code); /* all ranks; does not return */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ergo_dist_stop(false); /* what is still under way */
    MPI_Finalize();
    free(dist.cores);
    dist.cores = NULL;
    dist.started = false;
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

bool ergo_dist_crowded(void) {
    return dist.crowded;
}

void ergo_dist_barrier(void) {
    if (dist.started)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI counts in int. */
static const size_t piece = (size_t)1 << 30;

void ergo_dist_share(void *data, size_t length) {
    for (size_t at = 0; dist.started && at < length; at += piece)
        MPI_Bcast((char *)data + at, (int)(length - at < piece ? length - at : piece), MPI_BYTE, 0,
                  MPI_COMM_WORLD);
}

static double reduce(double mine, MPI_Op op) {
    double all = mine;
    if (dist.started)
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

bool ergo_dist_any(bool mine) {
    return reduce(mine ? 1.0 : 0.0, MPI_MAX) > 0;
}

double ergo_dist_sum(double mine) {
    return reduce(mine, MPI_SUM);
}

double ergo_dist_max(double mine) {
    return reduce(mine, MPI_MAX);
}

static enum ergo_status receive(struct ergo_context *ctx, int from, ergo_dist_take take,
                                void *user) {
    uint64_t length = 0;
    MPI_Recv(&length, 1, MPI_UINT64_T, from, TAG_LENGTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *data = malloc(length + 1);
    if (!data)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the %llu bytes of rank %d",
                         (unsigned long long)length, from);
    for (size_t at = 0; at < length; at += piece)
        MPI_Recv(data + at, (int)(length - at < piece ? length - at : piece), MPI_BYTE, from,
                 TAG_BYTES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const enum ergo_status status = take(user, from, data, (size_t)length);
    free(data);
    return status;
}

enum ergo_status ergo_dist_gather(struct ergo_context *ctx, const struct ergo_text *mine,
                                  ergo_dist_take take, void *user) {
    if (dist.rank == 0) {
        enum ergo_status status = ERGO_OK;
        for (int r = 1; r < dist.count && status == ERGO_OK; r++)
            status = receive(ctx, r, take, user);
        return status;
    }
    const uint64_t length = mine->length;
    MPI_Send(&length, 1, MPI_UINT64_T, 0, TAG_LENGTH, MPI_COMM_WORLD);
    for (size_t at = 0; at < length; at += piece)
        MPI_Send(mine->data + at, (int)(length - at < piece ? length - at : piece), MPI_BYTE, 0,
                 TAG_BYTES, MPI_COMM_WORLD);
    return ERGO_OK;
}

/* ---- the counter ----------------------------------------------------------------------------- */

void ergo_dist_counter_open(void) {
    dist.alone = 0;
    if (!dist.started)
        return;
    MPI_Win_allocate(dist.rank == 0 ? sizeof *dist.counter : 0, sizeof *dist.counter, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &dist.counter, &dist.window);
    if (dist.rank == 0)
        *dist.counter = 0;
    dist.counting = true;
    MPI_Barrier(MPI_COMM_WORLD);
}

uint64_t ergo_dist_counter_next(void) {
    const uint64_t one = 1;
    uint64_t mine = 0;
    if (!dist.counting)
        return dist.alone++;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dist.window);
    MPI_Fetch_and_op(&one, &mine, MPI_UINT64_T, 0, 0, MPI_SUM, dist.window);
    MPI_Win_unlock(0, dist.window);
    return mine;
}

void ergo_dist_counter_close(void) {
    if (!dist.counting)
        return;
    MPI_Barrier(MPI_COMM_WORLD); /* nobody counts any more */
    MPI_Win_free(&dist.window);
    dist.counting = false;
}

/* ---- stop requests --------------------------------------------------------------------------- */

bool ergo_dist_stop(bool asked) {
    int there = 0;
    MPI_Status status;
    if (!dist.started || dist.count == 1)
        return asked;
    if (asked && !dist.told) {
        dist.told = true;
        for (int r = 0; r < dist.count; r++) {
            MPI_Request request;
            if (r == dist.rank)
                continue;
            MPI_Isend(NULL, 0, MPI_BYTE, r, TAG_STOP, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
    }
    for (MPI_Iprobe(MPI_ANY_SOURCE, TAG_STOP, MPI_COMM_WORLD, &there, &status); there;
         MPI_Iprobe(MPI_ANY_SOURCE, TAG_STOP, MPI_COMM_WORLD, &there, &status)) {
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        dist.heard = true;
    }
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
    bool *same = calloc((size_t)dist.node_count, sizeof *same);
    size_t length, other;
    const char *own = item_of(selector, dist.node_rank, &length);
    if (!same)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the ranks of this host");
    for (int r = 0; r < dist.node_count; r++) {
        const char *item = item_of(selector, r, &other);
        same[r] = other == length && strncmp(item, own, length) == 0;
    }
    const unsigned threads = ergo_dist_threads(dist.cores, same, dist.node_count, dist.node_rank);
    free(same);
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
                                  size_t size) {
    snprintf(text, size, "%s", selector);
    if (dist.count == 1)
        return ERGO_OK;
    const enum ergo_status status = share_cores(ctx, selector);
    if (status != ERGO_OK)
        return status;
    size_t length;
    const char *item = item_of(selector, dist.node_rank, &length);
    char *own = strndup(item, length);
    if (!own)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a device's name");
    const size_t turn = (size_t)dist.node_rank / items_of(selector);
    const enum ergo_status dealt = ergo_device_deal(ctx, own, turn, text, size);
    free(own);
    return dealt;
}
