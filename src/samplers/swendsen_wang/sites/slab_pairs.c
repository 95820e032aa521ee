/*
 * Pairs of sites half and a quarter of a side apart, of a lattice in slabs (slab.c). Those along x
 * and y lie in one slab. Along z the layers that this rank's sites are compared with are other
 * ranks', or its own: all send the names of the clusters of their sites, of unit vectors the spins,
 * too, layer after layer in pieces of bounded size. Sums are whole numbers, which ranks add up.
 */

#include "dist/dist.h"
#include "samplers/swendsen_wang/sites/sites.h"

enum { TAG_PAIRS = ERGO_DIST_TAGS + 40, PIECE_BYTES = 1 << 24 };

/* Of unit vectors. */
static size_t spin_bytes(const struct sw_sites_state *s) {
    return s->whole.model == SW_MODEL_POTTS ? 0 : s->whole.spin_bytes;
}

/* Of a message with so many layers: names; spins, component after component; its number. */
static size_t message_bytes(const struct sw_sites_state *s, size_t layers) {
    const size_t spins = spin_bytes(s) * layers * sw_sites_layer(&s->whole);
    return 4 * layers * sw_sites_layer(&s->whole) + (spins + 3) / 4 * 4 + sizeof s->pair_messages;
}

static uint32_t piece_layers(const struct sw_sites_state *s) {
    const size_t fit = PIECE_BYTES / ((4 + spin_bytes(s)) * sw_sites_layer(&s->whole));
    return fit < 1 ? 1 : fit < s->slab.most ? (uint32_t)fit : s->slab.most;
}

/* A piece's layers may be of so many ranks as it has layers; and be asked for by three, whose slabs
 * have at most a layer less than this one. */
static size_t piece_bytes(const struct sw_sites_state *s, size_t layers) {
    return layers * message_bytes(s, 1);
}

void sw_slab_declare_pairs(struct sw_sites_state *s) {
    if (!s->pairs || ergo_dist_count() == 1)
        return;
    ergo_engine_buffer(&s->e, SITES_FAR_LAYERS, "layers of other ranks", ERGO_BUFFER_SCRATCH,
                       piece_bytes(s, piece_layers(s)));
    ergo_engine_flag(&s->e, SITES_FAR_LAYERS, ERGO_BUFFER_HOSTED);
}

void sw_slab_open_pairs(struct sw_sites_state *s) {
    const size_t asked = 3 * (size_t)piece_layers(s), most = s->slab.most;
    if (!s->pairs)
        return;
    s->firsts = ergo_engine_memory(&s->e, (size_t)ergo_dist_count() + 1, sizeof *s->firsts);
    s->pairs_out = ergo_engine_memory(&s->e, 1, piece_bytes(s, asked < most ? asked : most));
}

/* ---- which layers ---------------------------------------------------------------------------- */

/* All ranks tell where they begin. */
static void know_slabs(struct sw_sites_state *s) {
    if (s->firsts[s->rounds.ranks])
        return;
    ergo_dist_collect(&s->slab.first, sizeof s->slab.first, s->firsts);
    s->firsts[s->rounds.ranks] = s->slab.layers;
}

struct sw_slab_run sw_slab_run_of(const uint64_t *firsts, int ranks, int own, uint32_t layer,
                                  uint64_t apart, uint32_t most) {
    const uint64_t at = (firsts[own] + layer + apart) % firsts[ranks];
    int rank = 0;
    while (firsts[rank + 1] <= at)
        rank++;
    const uint64_t left = firsts[rank + 1] - at;
    return (struct sw_slab_run){.rank = rank,
                                .layer = layer,
                                .partner = (uint32_t)(at - firsts[rank]),
                                .layers = left < most ? (uint32_t)left : most};
}

struct sw_slab_run sw_slab_asked(struct sw_slab_run run, uint32_t begin, uint32_t layers) {
    const uint32_t end = run.partner + run.layers, last = begin + layers;
    const uint32_t from = run.partner > begin ? run.partner : begin, to = end < last ? end : last;
    run.layer += from - run.partner;
    run.partner = from;
    run.layers = to > from ? to - from : 0;
    return run;
}

static struct sw_slab_run run_of(const struct sw_sites_state *s, uint32_t layer, uint64_t apart,
                                 uint32_t most) {
    return sw_slab_run_of(s->firsts, s->rounds.ranks, s->rounds.rank, layer, apart, most);
}

/* ---- a piece --------------------------------------------------------------------------------- */

struct piece {
    size_t member, row;     /* row: of the samples */
    uint32_t k;             /* 0: half, 1: a quarter of the side */
    uint32_t begin, layers; /* layers of a slab, as many as there are */
};

static uint64_t apart_of(const struct sw_sites_state *s, const struct piece *p) {
    return s->slab.layers >> (p->k + 1);
}

static void compare(struct sw_sites_state *s, const struct piece *p, const struct sw_slab_run *r,
                    unsigned names, uint64_t first_name, unsigned spins, uint64_t first_spin,
                    uint64_t span) {
    const size_t layer = sw_sites_layer(&s->whole);
    ERGO_LAUNCH(&s->e, SITES_PAIR_FAR, ergo_grid_groups(s->launch.sum_groups, s->launch.group, 1),
                BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), BUFFER(SITES_SIZES), BUFFER(names),
                BUFFER(spins), U64(s->e.step - 1), U32(p->member), U32(r->layer * layer),
                U32(r->layers * layer), U64(first_name), U64(first_spin), U64(span), U32(p->k),
                BUFFER(SITES_PAIRS), U32(p->row));
}

static void compare_own(struct sw_sites_state *s, const struct piece *p,
                        const struct sw_slab_run *r) {
    const uint64_t at = r->partner * sw_sites_layer(&s->whole), span = sw_sites_span(s);
    compare(s, p, r, SITES_SIZES, p->member * s->shape.sites + at, SITES_SPINS,
            p->member * sw_sites_words(&s->shape) * span + at, span);
}

/* offset: of a message in what has arrived. */
static void compare_far(struct sw_sites_state *s, const struct piece *p,
                        const struct sw_slab_run *r, size_t offset) {
    const size_t sites = r->layers * sw_sites_layer(&s->whole);
    compare(s, p, r, SITES_FAR_LAYERS, offset / 4, SITES_FAR_LAYERS,
            (offset + 4 * sites) / sw_sites_word(&s->shape), sites);
}

static uint32_t *number_of(char *message, size_t bytes) {
    return (uint32_t *)(void *)(message + bytes - sizeof(uint32_t));
}

static void expect(struct sw_sites_state *s, const struct sw_slab_run *r, char *message) {
    const size_t bytes = message_bytes(s, r->layers);
    *number_of(message, bytes) = ~s->pair_messages;
    if (s->e.status == ERGO_OK)
        s->e.status =
            ergo_dist_post_receive(s->e.ctx, s->slab.posts, r->rank, TAG_PAIRS, message, bytes);
}

/* Of this slab's layers from r->layer on. */
static void send(struct sw_sites_state *s, const struct piece *p, const struct sw_slab_run *r,
                 char *message) {
    const size_t bytes = message_bytes(s, r->layers), each = sw_sites_word(&s->shape);
    const size_t sites = r->layers * sw_sites_layer(&s->whole),
                 at = r->layer * sw_sites_layer(&s->whole);
    const size_t words = spin_bytes(s) ? sw_sites_words(&s->shape) : 0;
    ergo_engine_read(&s->e, SITES_SIZES, 4 * (p->member * s->shape.sites + at), 4 * sites, message);
    for (size_t w = 0; w < words; w++)
        ergo_engine_read(&s->e, SITES_SPINS,
                         each * ((p->member * words + w) * sw_sites_span(s) + at), each * sites,
                         message + 4 * sites + w * each * sites);
    *number_of(message, bytes) = s->pair_messages;
    if (s->e.status == ERGO_OK)
        s->e.status =
            ergo_dist_post_send(s->e.ctx, s->slab.posts, r->rank, TAG_PAIRS, message, bytes);
}

/* Those of all ranks that ask for own layers in this piece: it lies `apart` layers before. */
static void send_all(struct sw_sites_state *s, const struct piece *p) {
    const uint64_t before = s->slab.layers - apart_of(s, p);
    char *to = s->pairs_out;
    for (uint32_t layer = 0, n; layer < s->slab.count && s->e.status == ERGO_OK; layer += n) {
        const struct sw_slab_run r = run_of(s, layer, before, s->slab.count - layer);
        const struct sw_slab_run asked = sw_slab_asked(r, p->begin, p->layers);
        n = r.layers;
        if (r.rank == s->rounds.rank || !asked.layers)
            continue;
        send(s, p, &asked, to);
        to += message_bytes(s, asked.layers);
    }
}

/* Receives, or compares what has arrived or is here. */
static void each_run(struct sw_sites_state *s, const struct piece *p, bool arrived) {
    char *far = ergo_engine_host(&s->e, SITES_FAR_LAYERS, 0, 0);
    const uint32_t last = p->begin + p->layers, end = last < s->slab.count ? last : s->slab.count;
    size_t at = 0;
    for (uint32_t layer = p->begin, n; layer < end && s->e.status == ERGO_OK; layer += n) {
        const struct sw_slab_run r = run_of(s, layer, apart_of(s, p), end - layer);
        const size_t bytes = message_bytes(s, r.layers);
        n = r.layers;
        if (r.rank == s->rounds.rank) {
            if (!arrived)
                compare_own(s, p, &r);
            continue;
        }
        if (!arrived) {
            expect(s, &r, far + at);
        } else if (*number_of(far + at, bytes) != s->pair_messages) {
            s->e.status = sw_rounds_lost(s->e.ctx, s->rounds.rank);
        } else {
            ergo_engine_write(&s->e, SITES_FAR_LAYERS, at, bytes, far + at);
            compare_far(s, p, &r, at);
        }
        at += bytes;
    }
}

static void do_piece(struct sw_sites_state *s, const struct piece *p) {
    each_run(s, p, false);
    if (s->rounds.ranks == 1)
        return;
    send_all(s, p);
    if (s->e.status == ERGO_OK)
        ergo_dist_posts_wait(s->slab.posts);
    each_run(s, p, true);
    s->pair_messages++;
}

void sw_slab_pairs(struct sw_sites_state *s, uint32_t sample) {
    const size_t members = s->e.batch->count;
    const uint32_t layers = piece_layers(s);
    const struct ergo_grid tiles = ergo_grid_groups(s->launch.tiles, s->launch.tile_group, members);
    know_slabs(s);
    ERGO_LAUNCH(&s->e, SITES_NAME_ROOTS, ergo_grid_items(s->shape.sites, s->launch.group, members),
                BUFFER(SITES_MEMBERS), BUFFER(SITES_LABELS), BUFFER(SITES_SIZES));
    ERGO_LAUNCH(&s->e, SITES_NAME, tiles, BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS),
                BUFFER(SITES_SIZES));
    ERGO_LAUNCH(&s->e, SITES_PAIR, tiles, BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS),
                BUFFER(SITES_SIZES), U64(s->e.step - 1), BUFFER(SITES_PAIRS), U32(sample));
    for (size_t m = 0; m < members; m++)
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t at = 0; at < s->slab.most && s->e.status == ERGO_OK; at += layers)
                do_piece(s, &(struct piece){m, sample * members + m, k, at, layers});
}
