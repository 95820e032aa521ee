/* Messages from rank to rank. Of one rank without MPI they stay in the process. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dist/dist.h"
#include "dist/wire.h"

/* A message of a rank to itself where there is no MPI. */
struct letter {
    int tag;
    const void *from;
    void *to;
    size_t bytes;
};

struct ergo_dist_posts {
    struct ergo_wire_posts wire;
    size_t n_letters, letter_room;
    struct letter *letters;
};

struct ergo_dist_posts *ergo_dist_posts_create(void) {
    return calloc(1, sizeof(struct ergo_dist_posts));
}

void ergo_dist_posts_destroy(struct ergo_dist_posts *posts) {
    if (!posts)
        return;
    free(posts->wire.requests);
    free(posts->letters);
    free(posts);
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for messages between ranks");
}

static bool put_letter(struct ergo_dist_posts *p, struct letter letter) {
    if (p->n_letters == p->letter_room) {
        const size_t room = 2 * p->letter_room + 8;
        struct letter *more = realloc(p->letters, room * sizeof *more);
        if (!more)
            return false;
        p->letters = more;
        p->letter_room = room;
    }
    p->letters[p->n_letters++] = letter;
    return true;
}

enum ergo_status ergo_dist_post_send(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                                     int to, int tag, const void *data, size_t bytes) {
    const struct ergo_wire *wire = ergo_dist_wire();
    const bool posted = wire ? wire->post_send(&posts->wire, to, tag, data, bytes)
                             : put_letter(posts, (struct letter){tag, data, NULL, bytes});
    return posted ? ERGO_OK : no_memory(ctx);
}

enum ergo_status ergo_dist_post_receive(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                                        int from, int tag, void *data, size_t bytes) {
    const struct ergo_wire *wire = ergo_dist_wire();
    const bool posted = wire ? wire->post_receive(&posts->wire, from, tag, data, bytes)
                             : put_letter(posts, (struct letter){tag, NULL, data, bytes});
    return posted ? ERGO_OK : no_memory(ctx);
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

static void wait_for(struct ergo_wire_posts *posts) {
    const double started = ergo_clock();
    while (posts->count > 0 && !ergo_dist_wire()->done(posts))
        pause_after(started);
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
    wait_for(&posts->wire);
}

/* Empty, with room that stays for the next message. */
static enum ergo_status make_room(struct ergo_context *ctx, struct ergo_text *text, size_t bytes) {
    text->length = 0;
    if (bytes < text->capacity)
        return ERGO_OK;
    char *more = realloc(text->data, bytes + 1);
    if (!more)
        return no_memory(ctx);
    text->data = more;
    text->capacity = bytes + 1;
    return ERGO_OK;
}

enum ergo_status ergo_dist_send(struct ergo_context *ctx, int to, int tag, const void *data,
                                size_t bytes) {
    const uint64_t length = bytes;
    (void)ctx;
    ergo_dist_wire()->send(to, tag, &length, sizeof length);
    ergo_dist_wire()->send(to, tag, data, bytes);
    return ERGO_OK;
}

enum ergo_status ergo_dist_receive(struct ergo_context *ctx, int from, int tag,
                                   struct ergo_text *text) {
    const struct ergo_wire *wire = ergo_dist_wire();
    const double started = ergo_clock();
    uint64_t length = 0;
    while (!wire->arrived(from, tag))
        pause_after(started);
    wire->receive(from, tag, &length, sizeof length);
    const enum ergo_status status = make_room(ctx, text, (size_t)length);
    if (status != ERGO_OK)
        return status;
    wire->receive(from, tag, text->data, (size_t)length);
    text->length = (size_t)length;
    return ERGO_OK;
}

enum ergo_status ergo_dist_collect_items(struct ergo_context *ctx, const void *mine, void *all,
                                         size_t bytes, const uint64_t *counts) {
    const int ranks = ergo_dist_count(), own = ergo_ranks_rank();
    struct ergo_wire_posts posts = {0};
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
    const bool posted =
        ergo_dist_wire()->post_collect(&posts, mine, lengths[own], all, bytes, lengths, firsts);
    wait_for(&posts);
    free(posts.requests);
    free(lengths);
    return posted ? ERGO_OK : no_memory(ctx);
}

void ergo_dist_meet(void) {
    struct ergo_wire_posts posts = {0};
    if (ergo_dist_count() == 1)
        return;
    if (!ergo_dist_wire()->post_barrier(&posts))
        ergo_dist_wire()->barrier(); /* no memory for a polite one */
    wait_for(&posts);
    free(posts.requests);
}
