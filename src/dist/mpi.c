/* Ranks through MPI, whichever: the only file that knows it. An error of MPI ends all ranks (its
 * default handler). */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "dist/wire.h"
#include "base/memory.h"

/* MPI counts in int. */
enum { PIECE = 1 << 30 };

static MPI_Comm node; /* the ranks of this host */
static MPI_Win window = MPI_WIN_NULL;
static _Atomic int *shared; /* in `window`, which is node rank 0's */

static int piece_of(size_t rest) {
    return rest < PIECE ? (int)rest : PIECE;
}

/* MPI's text may be of several lines and words apart: "MPICH Version:      4.0.2\n...". */
static void name(char *text, size_t size) {
    char whole[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    size_t n = 0;
    MPI_Get_library_version(whole, &length);
    for (const char *at = whole; *at && !strchr(",\n", *at) && n + 1 < size; at++) {
        const char letter = *at == '\t' ? ' ' : *at;
        if (letter != ' ' || (n > 0 && text[n - 1] != ' '))
            text[n++] = letter;
    }
    text[n] = '\0';
}

static _Atomic int *word(void) {
    return shared;
}

/* Without memory to share there is no word; that is no failure. */
static void share_a_word(int node_rank) {
    MPI_Aint size = 0;
    int unit = 0;
    void *own = NULL;
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    const bool made = MPI_Win_allocate_shared(node_rank == 0 ? sizeof *shared : 0, sizeof *shared,
                                              MPI_INFO_NULL, node, &own, &window) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(node, MPI_ERRORS_ARE_FATAL);
    int all = made;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, node);
    if (!all)
        return; /* a window that some have is never freed */
    if (node_rank == 0)
        *(_Atomic int *)own = 0;
    MPI_Barrier(node);
    if (MPI_Win_shared_query(window, 0, &size, &unit, &own) == MPI_SUCCESS)
        shared = own;
}

static bool start(int *rank, int *count, int *node_rank, int *node_count) {
    int provided = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return false;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, node_rank);
    MPI_Comm_size(node, node_count);
    share_a_word(*node_rank);
    return true;
}

static void end(void) {
    if (shared)
        MPI_Win_free(&window);
    shared = NULL;
    MPI_Comm_free(&node);
    MPI_Finalize();
}

static void abort_all(int exit_code) {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
}

/* ---- of all ranks together ------------------------------------------------------------------- */

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static void share(void *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PIECE)
        MPI_Bcast((char *)data + at, piece_of(bytes - at), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static MPI_Op op_of(enum ergo_wire_sum sum) {
    return sum == ERGO_WIRE_SUM ? MPI_SUM : sum == ERGO_WIRE_MAX ? MPI_MAX : MPI_BOR;
}

static void reduce(enum ergo_wire_sum sum, uint64_t *values, size_t n) {
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_UINT64_T, op_of(sum), MPI_COMM_WORLD);
}

static void reduce_real(enum ergo_wire_sum sum, double *value) {
    MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, op_of(sum), MPI_COMM_WORLD);
}

static void collect(bool of_node, const void *mine, size_t bytes, void *all) {
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                  of_node ? node : MPI_COMM_WORLD);
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool arrived(int from, int tag) {
    int there = 0;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    return there != 0;
}

static void send_now(int to, int tag, const void *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PIECE)
        MPI_Send((const char *)data + at, piece_of(bytes - at), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void receive_now(int from, int tag, void *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PIECE)
        MPI_Recv((char *)data + at, piece_of(bytes - at), MPI_BYTE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static MPI_Request *next_request(struct ergo_wire_posts *p) {
    if (p->count == p->room) {
        const size_t room = 2 * p->room + 8;
        void *more = realloc(p->requests, room * sizeof(MPI_Request));
        if (!more)
            return NULL;
        p->requests = more;
        p->room = room;
    }
    return (MPI_Request *)p->requests + p->count++;
}

static bool post_send(struct ergo_wire_posts *p, int to, int tag, const void *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request *request = next_request(p);
        if (!request)
            return false;
        MPI_Isend((const char *)data + at, piece_of(bytes - at), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                  request);
    }
    return true;
}

static bool post_receive(struct ergo_wire_posts *p, int from, int tag, void *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request *request = next_request(p);
        if (!request)
            return false;
        MPI_Irecv((char *)data + at, piece_of(bytes - at), MPI_BYTE, from, tag, MPI_COMM_WORLD,
                  request);
    }
    return true;
}

static bool post_barrier(struct ergo_wire_posts *p) {
    MPI_Request *request = next_request(p);
    if (request)
        MPI_Ibarrier(MPI_COMM_WORLD, request);
    return request != NULL;
}

static bool post_collect(struct ergo_wire_posts *p, const void *mine, int n, void *all,
                         size_t bytes, const int *lengths, const int *firsts) {
    MPI_Datatype item;
    MPI_Request *request = next_request(p);
    if (!request)
        return false;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    MPI_Iallgatherv(mine, n, item, all, lengths, firsts, item, MPI_COMM_WORLD, request);
    MPI_Type_free(&item); /* it goes when the collection is done */
    return true;
}

/* Not MPI_Testall: gcc 12 warns of MPICH's MPI_STATUSES_IGNORE. */
static bool done(struct ergo_wire_posts *p) {
    for (size_t i = 0; i < p->count; i++) {
        int flag = 0;
        MPI_Test((MPI_Request *)p->requests + i, &flag, MPI_STATUS_IGNORE);
        if (!flag)
            return false;
    }
    p->count = 0;
    return true;
}

/* ---- words in passing ------------------------------------------------------------------------ */

static void tell(int to, int tag) {
    MPI_Request request;
    MPI_Isend(NULL, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request); /* nobody waits for it */
} /* NOLINT(clang-analyzer-optin.mpi.MPI-Checker) */

static bool heard(int tag) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
    if (there)
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return there != 0;
}

static const struct ergo_wire mpi = {
    .name = name,
    .start = start,
    .word = word,
    .end = end,
    .abort = abort_all,
    .barrier = barrier,
    .share = share,
    .reduce = reduce,
    .reduce_real = reduce_real,
    .collect = collect,
    .arrived = arrived,
    .send = send_now,
    .receive = receive_now,
    .post_send = post_send,
    .post_receive = post_receive,
    .post_barrier = post_barrier,
    .post_collect = post_collect,
    .done = done,
    .tell = tell,
    .heard = heard,
};
const struct ergo_wire *const ergo_mpi = &mpi;
