/*
 * Clusters of several slabs (slab.c): ranks tell each other the parts on their layers at the cuts,
 * devices join what bonds across a cut connect (cl/swendsen_wang/sites_bridges.cl), and hosts the
 * clusters that go through a slab, by rounds (rounds.h).
 */
#include <stdlib.h>

#include "samplers/swendsen_wang/sites/sites.h"

static size_t layer_sites(const struct sw_sites_state *s) {
    return sw_sites_layer(&s->whole);
}

/* Of a message with the parts on a layer, of all members, and its number. */
static size_t face_bytes(const struct sw_sites_state *s) {
    return 4 * (s->e.batch->count * layer_sites(s) + 1);
}

void sw_slab_declare_join(struct sw_sites_state *s) {
    const uint64_t edges = 2 * s->e.batch->count * layer_sites(s);
    const uint64_t entry = 4 * sw_slab_entry_words(s);
    sw_slab_buffer(s, SITES_EDGES, "edges", 4 * edges, false);
    sw_slab_buffer(s, SITES_ROOTS, "parts on edges", 4 * edges, false);
    sw_slab_buffer(s, SITES_CLAIMS, "parts on both", 4 * edges, false);
    sw_slab_buffer(s, SITES_FACES, "parts of bonds across a cut", 2 * face_bytes(s), true);
    sw_slab_buffer(s, SITES_FAR_FACES, "parts of other ranks", 2 * face_bytes(s), true);
    ergo_engine_flag(&s->e, SITES_FACES, ERGO_BUFFER_BESIDE);
    ergo_engine_flag(&s->e, SITES_FAR_FACES, ERGO_BUFFER_BESIDE);
    sw_slab_buffer(s, SITES_LINKS, "labels of these bonds", 4 * edges, false);
    sw_slab_buffer(s, SITES_BRIDGES, "bridges", 16 * edges, false);
    sw_slab_buffer(s, SITES_LIST, "bridges for the host", 8 + entry * 2 * edges, true);
    sw_slab_buffer(s, SITES_RENAMED, "bridges with names", 8 * edges, true);
    sw_slab_buffer(s, SITES_NEW_NAMES, "these names", 4 * edges, true);
}

/* ---- on the device ----------------------------------------------------------------------------
 */

struct ergo_grid sw_slab_over_edges(const struct sw_sites_state *s) {
    return ergo_grid_items(2 * layer_sites(s), s->launch.group, s->e.batch->count);
}

/* Parts on the edges get numbers, of which neighbours learn. */
static void number_parts(struct sw_sites_state *s) {
    ERGO_LAUNCH(&s->e, SITES_CLAIM, sw_slab_over_edges(s), BUFFER(SITES_BONDS),
                BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS), BUFFER(SITES_EDGES),
                BUFFER(SITES_SIZES), BUFFER(SITES_CLAIMS));
    ERGO_LAUNCH(&s->e, SITES_MARK, sw_slab_over_edges(s), BUFFER(SITES_EDGES), BUFFER(SITES_SIZES));
    ERGO_LAUNCH(&s->e, SITES_NUMBER, sw_slab_over_edges(s), BUFFER(SITES_SIZES),
                BUFFER(SITES_EDGES), BUFFER(SITES_ROOTS), BUFFER(SITES_CLAIMS));
    ERGO_LAUNCH(&s->e, SITES_FACE, sw_slab_over_edges(s), BUFFER(SITES_MEMBERS),
                BUFFER(SITES_EDGES), BUFFER(SITES_ROOTS), BUFFER(SITES_CLAIMS), BUFFER(SITES_FACES),
                BUFFER(SITES_LINKS), BUFFER(SITES_BRIDGES), BUFFER(SITES_LIST));
    ergo_engine_fetch(&s->e, SITES_FACES, 0, 2 * face_bytes(s),
                      ergo_engine_host(&s->e, SITES_FACES, 0, 0));
    ERGO_LAUNCH(&s->e, SITES_SETTLE,
                ergo_grid_groups(s->launch.tiles, s->launch.tile_group, s->e.batch->count),
                BUFFER(SITES_FIRSTS), BUFFER(SITES_LABELS));
}

/* Bridges of both cuts, when neighbours' parts are there. */
static void build_bridges(struct sw_sites_state *s, uint32_t sample) {
    const size_t bytes = face_bytes(s);
    char *mine = ergo_engine_host(&s->e, SITES_FACES, 0, 0);
    char *far = ergo_engine_host(&s->e, SITES_FAR_FACES, 0, 0);
    ergo_engine_lap(&s->e);
    clFlush(s->e.device->queue);
    ergo_engine_await(&s->e, SITES_FACES);
    s->times.parts += ergo_engine_lap(&s->e);
    sw_slab_swap(s, mine, far, bytes);
    ergo_engine_send(&s->e, SITES_FAR_FACES, 2 * bytes);
    ERGO_LAUNCH(&s->e, SITES_BRIDGE, sw_slab_over_edges(s), BUFFER(SITES_FACES),
                BUFFER(SITES_FAR_FACES), BUFFER(SITES_LINKS),
                BUFFER(s->shape.adapts ? SITES_WAYS : SITES_WRAPS),
                U32(s->shape.adapts ? 0 : sample));
    ERGO_LAUNCH(&s->e, SITES_GATHER, sw_slab_over_edges(s), BUFFER(SITES_FACES),
                BUFFER(SITES_FAR_FACES), BUFFER(SITES_LINKS), BUFFER(SITES_BRIDGES));
    s->times.faces += ergo_engine_lap(&s->e);
}

/* ---- the host's part of it: listed bridges (sites_bridges.cl) ---------------------------------
 */

enum { MEMBER, BRIDGE, PART, NAME, SUMS }; /* words of an entry */
/* Entries that are read at once. */
enum { FIRST_ENTRIES = 512 };

size_t sw_slab_entry_words(const struct sw_sites_state *s) {
    return SUMS + 2 * sw_slab_sums(s);
}

/* By member and bridge, those that are parts before the one that is the bridge. */
static int by_place(const void *a, const void *b) {
    const uint32_t *p = a, *q = b;
    for (size_t k = MEMBER; k <= PART; k++)
        if (p[k] != q[k])
            return p[k] < q[k] ? -1 : 1;
    return 0;
}

/* Their number, in order; *list: the first. */
static size_t read_list(struct sw_sites_state *s, uint32_t sized, uint32_t **list) {
    const size_t words = sw_slab_entry_words(s), edges = 2 * layer_sites(s) * s->e.batch->count;
    uint32_t *all = ergo_engine_host(&s->e, SITES_LIST, 0, 0);
    size_t first = 8 + 4 * words * (FIRST_ENTRIES < 2 * edges ? FIRST_ENTRIES : 2 * edges);
    ERGO_LAUNCH(&s->e, SITES_LISTING, sw_slab_over_edges(s), BUFFER(SITES_EDGES),
                BUFFER(SITES_FACES), BUFFER(SITES_LINKS), BUFFER(SITES_BRIDGES), BUFFER(SITES_LIST),
                BUFFER(SITES_TOTALS), BUFFER(SITES_PART_SUMS), U32(sized));
    ergo_engine_read(&s->e, SITES_LIST, 0, first, all);
    const size_t n = s->e.status == ERGO_OK ? all[0] : 0, bytes = 8 + 4 * words * n;
    if (n > 2 * edges)
        s->e.status = ERGO_FAIL(s->e.ctx, ERGO_E_DEVICE,
                                "rank %d: %s lists more clusters between slabs than there are; try "
                                "another device",
                                s->rounds.rank, s->e.device->summary.name);
    else if (bytes > first)
        ergo_engine_read(&s->e, SITES_LIST, first, bytes - first, (char *)all + first);
    *list = all + 2;
    if (s->e.status != ERGO_OK)
        return 0;
    if (n)
        qsort(*list, n, 4 * words, by_place);
    return n;
}

/* One more part for rounds. */
static uint32_t add_part(struct sw_sites_state *s, const uint32_t *entry) {
    const size_t sums = sw_slab_sums(s), i = s->rounds.n_parts++;
    s->part_names[i] = entry[NAME];
    for (size_t k = 0; k < sums; k++) {
        const uint64_t sum = entry[SUMS + 2 * k] | (uint64_t)entry[SUMS + 2 * k + 1] << 32;
        if (k)
            s->part_waves[i * (sums - 1) + k - 1] = sum;
        else /* unit vectors have waves alone: a part is then one site */
            s->part_sizes[i] = s->clusters ? (uint32_t)sum : 1;
    }
    return (uint32_t)i;
}

/* Parts and sides for rounds from the `n` entries of a member. */
static void take_entries(struct sw_sites_state *s, const uint32_t *entries, size_t n) {
    const size_t words = sw_slab_entry_words(s), layer = layer_sites(s);
    struct sw_rounds *r = &s->rounds;
    r->n_parts = 0;
    for (size_t k = 0; k < 2; k++) {
        r->sides[k].items = s->items + k * 2 * layer;
        r->sides[k].n_items = 0;
    }
    for (size_t k = 0; k < n; k++) {
        const uint32_t *entry = entries + k * words;
        const bool last = entry[PART] == SW_NO_PART;
        uint32_t *known = last ? NULL : &r->index_of[entry[PART] & SW_PART_NUMBER];
        const uint32_t i = !known || *known == SW_NO_PART ? add_part(s, entry) : *known;
        if (known)
            *known = i;
        struct sw_side *side = &r->sides[entry[BRIDGE] < layer ? 0 : 1];
        s->items[(size_t)(side - r->sides) * 2 * layer + side->n_items++] =
            i | (last ? SW_BRIDGE_END : entry[PART] & ~SW_PART_NUMBER);
    }
    for (size_t k = 0; k < n; k++)
        if (entries[k * words + PART] != SW_NO_PART)
            r->index_of[entries[k * words + PART] & SW_PART_NUMBER] = SW_NO_PART;
}

/* Of a member, with all ranks. counts: of clusters, too; NULL: not. */
static void join_entries(struct sw_sites_state *s, size_t member, const uint32_t *entries, size_t n,
                         struct sw_cut_counts *counts) {
    take_entries(s, entries, n);
    struct sw_parts parts = {.narrow = true,
                             .ways = s->shape.adapts,
                             .n_parts = s->rounds.n_parts,
                             .names = s->part_names,
                             .n_sides = s->rounds.n_sides,
                             .sides = s->rounds.sides};
    if (counts) {
        parts.sizes = s->part_sizes;
        parts.n_waves = sw_sites_waves(&s->shape);
        parts.waves = s->part_waves;
        *counts = (struct sw_cut_counts){0};
    }
    s->e.status = sw_rounds_join(s->e.ctx, &s->rounds, &parts, counts ? sw_cut_take : NULL, counts);
    for (size_t d = 0; d < 3; d++)
        s->ways[3 * member + d] = s->rounds.joining.wraps >> d & 1u;
    if (counts)
        counts->wraps |= s->rounds.joining.wraps;
}

/* For the device: listed bridges' names. m: so many so far, and with these. */
static size_t list_names(struct sw_sites_state *s, const uint32_t *entries, size_t n, size_t m) {
    const size_t words = sw_slab_entry_words(s);
    uint64_t *renamed = ergo_engine_host(&s->e, SITES_RENAMED, 0, 0);
    uint32_t *names = ergo_engine_host(&s->e, SITES_NEW_NAMES, 0, 0);
    size_t at[2] = {0, 0};
    for (size_t k = 0; k < n; k++) {
        const uint32_t *entry = entries + k * words;
        const size_t side = entry[BRIDGE] < layer_sites(s) ? 0 : 1;
        const uint32_t item = s->rounds.sides[side].items[at[side]++];
        if (!(item & SW_BRIDGE_END))
            continue;
        renamed[m] = 2 * (uint64_t)entry[MEMBER] * layer_sites(s) + entry[BRIDGE];
        names[m++] = (uint32_t)sw_joining_name(&s->rounds.joining, item & SW_PART_NUMBER);
    }
    return m;
}

/* All members' listed bridges. sample: clusters are counted, too; SW_NO_SAMPLE: not. */
static void join_listed(struct sw_sites_state *s, uint32_t sample) {
    const size_t words = sw_slab_entry_words(s), members = s->e.batch->count;
    uint32_t *list;
    ergo_engine_lap(&s->e);
    const size_t n = read_list(s, sample != SW_NO_SAMPLE, &list);
    s->times.listing += ergo_engine_lap(&s->e);
    s->times.listed += (double)n;
    s->n_renamed = 0;
    for (size_t m = 0, from = 0, to = 0; m < members && s->e.status == ERGO_OK; m++, from = to) {
        while (to < n && list[to * words + MEMBER] == m)
            to++;
        join_entries(s, m, list + from * words, to - from,
                     sample == SW_NO_SAMPLE ? NULL
                                            : &s->edge_counts[s->e.slot][sample * members + m]);
        if (s->e.status == ERGO_OK)
            s->n_renamed = list_names(s, list + from * words, to - from, s->n_renamed);
    }
    s->times.joining += ergo_engine_lap(&s->e);
}

void sw_slab_measure(struct sw_sites_state *s, uint32_t sample) {
    sw_slab_measure_parts(s, sample);
    sw_slab_total(s);
    ergo_engine_zero(&s->e, SITES_LIST, 8); /* the step has had one */
    join_listed(s, sample);
    sw_slab_count(s, sample);
}

/* Names of parts, when hosts know those of listed bridges. */
static void name_parts(struct sw_sites_state *s) {
    const size_t n = s->n_renamed;
    if (n) {
        ergo_engine_send(&s->e, SITES_RENAMED, 8 * n);
        ergo_engine_send(&s->e, SITES_NEW_NAMES, 4 * n);
        ERGO_LAUNCH(&s->e, SITES_RENAME, ergo_grid_items(n, s->launch.group, 1),
                    BUFFER(SITES_BRIDGES), BUFFER(SITES_RENAMED), BUFFER(SITES_NEW_NAMES), U32(n));
    }
    ERGO_LAUNCH(&s->e, SITES_PART_NAMES, sw_slab_over_edges(s), BUFFER(SITES_MEMBERS),
                BUFFER(SITES_EDGES), BUFFER(SITES_ROOTS), BUFFER(SITES_CLAIMS), BUFFER(SITES_LINKS),
                BUFFER(SITES_BRIDGES), BUFFER(SITES_SIZES));
}

void sw_slab_join(struct sw_sites_state *s, uint32_t sample) {
    number_parts(s);
    if (sample != SW_NO_SAMPLE)
        sw_slab_measure_parts(s, sample);
    build_bridges(s, sample);
    if (sample != SW_NO_SAMPLE)
        sw_slab_total(s);
    join_listed(s, sample);
    name_parts(s);
}
