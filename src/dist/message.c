/* Messages from rank to rank. Of one rank without MPI they stay in the process. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dist/dist.h"

/* Below the samplers' tags (dist.h) are those of dist.c. */
enum { PIECE = 1 << 30 };

/* A message of a rank to itself where there is no MPI. */
struct letter {
    int tag;
    const void *from;
    void *to;
    size_t bytes;
};

struct ergo_dist_posts {
    size_t count, room; /* requests of MPI */
    MPI_Request *requests;
    size_t n_letters, letter_room;
    struct letter *letters;
};

static bool has_mpi(void) {
    int flag = 0;
    MPI_Initialized(&flag);
    return flag != 0;
}

struct ergo_dist_posts *ergo_dist_posts_create(void) {
    return calloc(1, sizeof(struct ergo_dist_posts));
}

void ergo_dist_posts_destroy(struct ergo_dist_posts *posts) {
    if (!posts)
        return;
    free(posts->requests);
    free(posts->letters);
    free(posts);
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for messages between ranks");
}

static MPI_Request *next_request(struct ergo_dist_posts *p) {
    if (p->count == p->room) {
        const size_t room = 2 * p->room + 8;
        MPI_Request *more = realloc(p->requests, room * sizeof *more);
        if (!more)
            return NULL;
        p->requests = more;
        p->room = room;
    }
    return &p->requests[p->count++];
}

static enum ergo_status put_letter(struct ergo_context *ctx, struct ergo_dist_posts *p,
                                   struct letter letter) {
    if (p->n_letters == p->letter_room) {
        const size_t room = 2 * p->letter_room + 8;
        struct letter *more = realloc(p->letters, room * sizeof *more);
        if (!more)
            return no_memory(ctx);
        p->letters = more;
        p->letter_room = room;
    }
    p->letters[p->n_letters++] = letter;
    return ERGO_OK;
}

enum ergo_status ergo_dist_post_send(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                                     int to, int tag, const void *data, size_t bytes) {
    if (!has_mpi())
        return put_letter(ctx, posts, (struct letter){tag, data, NULL, bytes});
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request *request = next_request(posts);
        if (!request)
            return no_memory(ctx);
        MPI_Isend((const char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE,
                  to, tag, MPI_COMM_WORLD, request);
    }
    return ERGO_OK;
}

enum ergo_status ergo_dist_post_receive(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                                        int from, int tag, void *data, size_t bytes) {
    if (!has_mpi())
        return put_letter(ctx, posts, (struct letter){tag, NULL, data, bytes});
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request *request = next_request(posts);
        if (!request)
            return no_memory(ctx);
        MPI_Irecv((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, from,
                  tag, MPI_COMM_WORLD, request);
    }
    return ERGO_OK;
}

/* MPI waits by polling. Where ranks share cores, that takes time from the very rank that is waited
 * for. So this waits with short sleeps: at once where ranks are more than cores, elsewhere after
 * `patience` seconds. */
static void pause_after(double started) {
    const double patience = ergo_dist_crowded() ? 0 : 2e-3;
    const struct timespec rest = {0, 50000};
    if (ergo_clock() - started > patience)
        nanosleep(&rest, NULL);
}

static void wait_for(int count, MPI_Request *requests) {
    const double started = ergo_clock();
    for (int done = count == 0; !done;) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done)
            pause_after(started);
    }
}

/* Gives each letter to the first receiver of its tag, in order of posting. */
static void deliver(struct ergo_dist_posts *p) {
    for (size_t s = 0; s < p->n_letters; s++)
        for (size_t r = 0; p->letters[s].from && r < p->n_letters; r++)
            if (p->letters[r].to && p->letters[r].tag == p->letters[s].tag) {
                memcpy(p->letters[r].to, p->letters[s].from, p->letters[s].bytes);
                p->letters[r].to = NULL;
                p->letters[s].from = NULL;
            }
    p->n_letters = 0;
}

void ergo_dist_posts_wait(struct ergo_dist_posts *posts) {
    deliver(posts);
    wait_for((int)posts->count, posts->requests);
    posts->count = 0;
}

enum ergo_status ergo_dist_send(struct ergo_context *ctx, int to, int tag, const void *data,
                                size_t bytes) {
    (void)ctx;
    const uint64_t length = bytes;
    MPI_Send(&length, 1, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
    for (size_t at = 0; at < bytes; at += PIECE)
        MPI_Send((const char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE,
                 to, tag, MPI_COMM_WORLD);
    return ERGO_OK;
}

enum ergo_status ergo_dist_receive(struct ergo_context *ctx, int from, int tag,
                                   struct ergo_text *text) {
    uint64_t length = 0;
    const double started = ergo_clock();
    for (int there = 0; !there;) {
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there)
            pause_after(started);
    }
    MPI_Recv(&length, 1, MPI_UINT64_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text->length = 0;
    if (length >= text->capacity) { /* memory is kept for the next message */
        char *more = realloc(text->data, (size_t)length + 1);
        if (!more)
            return no_memory(ctx);
        text->data = more;
        text->capacity = (size_t)length + 1;
    }
    for (size_t at = 0; at < length; at += PIECE)
        MPI_Recv(text->data + at, (int)(length - at < PIECE ? length - at : PIECE), MPI_BYTE, from,
                 tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text->length = (size_t)length;
    return ERGO_OK;
}

enum ergo_status ergo_dist_swap(struct ergo_context *ctx, struct ergo_dist_posts *posts, size_t n,
                                const int *peers, int tag, const struct ergo_text *mine,
                                struct ergo_text *theirs) {
    const int own = ergo_ranks_rank();
    uint64_t *lengths = calloc(2 * n + 1, sizeof *lengths);
    enum ergo_status status = lengths ? ERGO_OK : no_memory(ctx);
    for (size_t k = 0; k < n && status == ERGO_OK; k++) {
        theirs[k].length = 0;
        lengths[k] = mine[k].length;
        if (peers[k] == own) {
            ergo_text_append_bytes(&theirs[k], mine[k].data ? mine[k].data : "", mine[k].length);
            status = theirs[k].failed ? no_memory(ctx) : ERGO_OK;
            continue;
        }
        status = ergo_dist_post_receive(ctx, posts, peers[k], tag, &lengths[n + k], 8);
        if (status == ERGO_OK)
            status = ergo_dist_post_send(ctx, posts, peers[k], tag, &lengths[k], 8);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(posts);
    for (size_t k = 0; k < n && status == ERGO_OK; k++) {
        if (peers[k] == own)
            continue;
        if (lengths[n + k] >= theirs[k].capacity) {
            char *more = realloc(theirs[k].data, (size_t)lengths[n + k] + 1);
            if (!more) {
                status = no_memory(ctx);
                break;
            }
            theirs[k].data = more;
            theirs[k].capacity = (size_t)lengths[n + k] + 1;
        }
        theirs[k].length = (size_t)lengths[n + k];
        status =
            ergo_dist_post_receive(ctx, posts, peers[k], tag, theirs[k].data, theirs[k].length);
        if (status == ERGO_OK)
            status = ergo_dist_post_send(ctx, posts, peers[k], tag, mine[k].data, mine[k].length);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(posts);
    free(lengths);
    return status;
}

static void reduce_counts(uint64_t *values, size_t n, MPI_Op op) {
    if (ergo_dist_count() > 1)
        MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_UINT64_T, op, MPI_COMM_WORLD);
}

void ergo_dist_sum_counts(uint64_t *values, size_t n) {
    reduce_counts(values, n, MPI_SUM);
}

void ergo_dist_max_counts(uint64_t *values, size_t n) {
    reduce_counts(values, n, MPI_MAX);
}

unsigned ergo_dist_or(unsigned bits) {
    if (ergo_dist_count() > 1)
        MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
    return bits;
}

void ergo_dist_collect(const void *mine, size_t bytes, void *all) {
    if (ergo_dist_count() > 1)
        MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        memcpy(all, mine, bytes);
}

enum ergo_status ergo_dist_collect_items(struct ergo_context *ctx, const void *mine, void *all,
                                         size_t bytes, const uint64_t *counts) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    if (ranks == 1) {
        memcpy(all, mine, bytes * (size_t)counts[0]);
        return ERGO_OK;
    }
    int *lengths = calloc(2 * (size_t)ranks, sizeof *lengths);
    if (!lengths)
        return no_memory(ctx);
    int *firsts = lengths + ranks;
    for (int r = 0, at = 0; r < ranks; at += lengths[r++]) {
        lengths[r] = (int)counts[r];
        firsts[r] = at;
    }
    MPI_Datatype item;
    MPI_Request request;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    MPI_Iallgatherv(mine, lengths[own], item, all, lengths, firsts, item, MPI_COMM_WORLD, &request);
    wait_for(1, &request);
    MPI_Type_free(&item);
    free(lengths);
    return ERGO_OK;
}

void ergo_dist_meet(void) {
    MPI_Request request;
    if (ergo_dist_count() == 1)
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(1, &request);
}
