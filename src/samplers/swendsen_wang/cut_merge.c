/*
 * Clusters across ranks, pairwise: groups of 1, 2, 4, ... consecutive ranks join what lies between
 * two of them. The first rank of a group holds no more of it than the clusters that reach the
 * group's outer edges; what is finished goes no further. Down the same way each rank learns the
 * names of its clusters.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

struct node {
    uint32_t parent;
    int32_t x, y; /* lattices from the parent */
};

struct sw_merge {
    struct node *nodes;
    uint32_t *ids;   /* of roots in the reduced group */
    uint64_t *moved; /* names and sizes on their way to new places */
    size_t node_capacity;
    struct sw_record records[40]; /* a level each */
    struct ergo_text in, out;
    struct sw_group other;
};

enum { TAG_UP = ERGO_DIST_TAGS, TAG_DOWN };

struct sw_merge *sw_merge_create(void) {
    return calloc(1, sizeof(struct sw_merge));
}

void sw_record_free(struct sw_record *record) {
    free(record->next);
    free(record->names);
    *record = (struct sw_record){0};
}

void sw_merge_destroy(struct sw_merge *merge) {
    if (!merge)
        return;
    for (size_t k = 0; k < sizeof merge->records / sizeof merge->records[0]; k++)
        sw_record_free(&merge->records[k]);
    free(merge->nodes);
    free(merge->ids);
    free(merge->moved);
    ergo_text_free(&merge->in);
    ergo_text_free(&merge->out);
    sw_group_free(&merge->other);
    free(merge);
}

void sw_group_free(struct sw_group *group) {
    free(group->names);
    free(group->sizes);
    free(group->blocks);
    free(group->ports);
    *group = (struct sw_group){0};
}

/* Capacity for n items of an array that keeps what it has. */
static bool grow(void **array, size_t item, size_t n) {
    void *more = realloc(*array, item * n);
    if (more)
        *array = more;
    return more != NULL;
}

bool sw_group_reserve(struct sw_group *g, size_t clusters, size_t blocks, size_t ports) {
    if (clusters > g->cluster_capacity) {
        const size_t capacity = 2 * clusters + 64;
        if (!grow((void **)&g->names, sizeof *g->names, capacity) ||
            !grow((void **)&g->sizes, sizeof *g->sizes, capacity))
            return false;
        g->cluster_capacity = capacity;
    }
    if (blocks > g->block_capacity) {
        const size_t capacity = 2 * blocks + 16;
        if (!grow((void **)&g->blocks, sizeof *g->blocks, capacity))
            return false;
        g->block_capacity = capacity;
    }
    if (ports > g->port_capacity) {
        const size_t capacity = 2 * ports + 64;
        if (!grow((void **)&g->ports, sizeof *g->ports, capacity))
            return false;
        g->port_capacity = capacity;
    }
    return true;
}

bool sw_group_append(struct sw_group *g, const struct sw_group *other) {
    const size_t c = g->n_clusters, b = g->n_blocks, p = g->n_ports;
    if (!sw_group_reserve(g, c + other->n_clusters, b + other->n_blocks, p + other->n_ports))
        return false;
    for (size_t k = 0; k < other->n_clusters; k++) {
        g->names[c + k] = other->names[k];
        g->sizes[c + k] = other->sizes[k];
    }
    for (size_t k = 0; k < other->n_blocks; k++)
        g->blocks[b + k] = other->blocks[k];
    for (size_t k = 0; k < other->n_ports; k++) {
        g->ports[p + k] = other->ports[k];
        g->ports[p + k].cluster += (uint32_t)c;
    }
    g->n_clusters = c + other->n_clusters;
    g->n_blocks = b + other->n_blocks;
    g->n_ports = p + other->n_ports;
    return true;
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static uint32_t root_of(struct node *nodes, uint32_t at, int32_t *x, int32_t *y) {
    *x = *y = 0;
    while (nodes[at].parent != at) {
        struct node *n = &nodes[at];
        const struct node *up = &nodes[n->parent];
        if (up->parent != n->parent) { /* halve the path */
            n->x += up->x;
            n->y += up->y;
            n->parent = up->parent;
        }
        *x += n->x;
        *y += n->y;
        at = n->parent;
    }
    return at;
}

static bool prepare(struct sw_merge *m, const struct sw_group *g, struct sw_record *record) {
    if (g->n_clusters > m->node_capacity) {
        const size_t capacity = 2 * g->n_clusters + 64;
        free(m->nodes);
        free(m->ids);
        free(m->moved);
        m->nodes = malloc(capacity * sizeof *m->nodes);
        m->ids = malloc(capacity * sizeof *m->ids);
        m->moved = malloc(2 * capacity * sizeof *m->moved);
        m->node_capacity = m->nodes && m->ids && m->moved ? capacity : 0;
        if (!m->node_capacity)
            return false;
    }
    if (g->n_clusters > record->capacity) {
        const size_t capacity = 2 * g->n_clusters + 64;
        sw_record_free(record);
        record->next = malloc(capacity * sizeof *record->next);
        record->names = malloc(capacity * sizeof *record->names);
        if (!record->next || !record->names)
            return false;
        record->capacity = capacity;
    }
    record->count = g->n_clusters;
    for (uint32_t k = 0; k < g->n_clusters; k++)
        m->nodes[k] = (struct node){k, 0, 0};
    return true;
}

/* A bond makes the clusters of its two parts one. A second way between them that leads elsewhere
 * goes around the lattice (as in wraps.c). */
static void join(struct sw_merge *m, struct sw_group *g, const struct sw_block *block,
                 const struct sw_port *near, const struct sw_port *far,
                 struct sw_cut_counts *counts) {
    int32_t ax, ay, bx, by;
    const uint32_t a = root_of(m->nodes, near->cluster, &ax, &ay);
    const uint32_t b = root_of(m->nodes, far->cluster, &bx, &by);
    /* origin of b's root seen from that of a's */
    const int32_t x = ax + near->x + block->dx - far->x - bx;
    const int32_t y = ay + near->y + block->dy - far->y - by;
    if (a == b) {
        if (counts && (x != 0 || y != 0))
            counts->wraps = 1;
        return;
    }
    m->nodes[b] = (struct node){a, x, y};
    g->sizes[a] += g->sizes[b];
    g->names[a] = g->names[a] < g->names[b] ? g->names[a] : g->names[b];
}

static bool is_inside(const struct sw_block *block, int first, int end) {
    return block->far >= first && block->far < end;
}

/* Each bond is in two blocks, at the same place in both; the bonds of which one, to go over? */
static bool is_leading(const struct sw_block *b) {
    if (b->rank != b->far)
        return b->rank < b->far;
    return b->dx > 0 || (b->dx == 0 && b->dy > 0);
}

/* Ports of the same bonds seen from the other side; NULL: a bug, or a lost message. */
static const struct sw_port *mirror(const struct sw_group *g, const struct sw_block *b) {
    size_t at = 0;
    for (size_t k = 0; k < g->n_blocks; at += g->blocks[k++].count) {
        const struct sw_block *o = &g->blocks[k];
        if (o->rank == b->far && o->far == b->rank && o->dx == -b->dx && o->dy == -b->dy)
            return o->count == b->count ? g->ports + at : NULL;
    }
    return NULL;
}

static bool join_inside(struct sw_merge *m, struct sw_group *g, int first, int end,
                        struct sw_cut_counts *counts) {
    size_t at = 0;
    for (size_t k = 0; k < g->n_blocks; at += g->blocks[k++].count) {
        const struct sw_block *b = &g->blocks[k];
        if (!is_inside(b, first, end) || !is_leading(b) || !b->count)
            continue;
        const struct sw_port *far = mirror(g, b);
        if (!far)
            return false;
        for (size_t p = 0; p < b->count; p++)
            join(m, g, b, &g->ports[at + p], &far[p], counts);
    }
    return true;
}

/* The ports that lead out of the group, with new numbers of their clusters. */
static uint32_t keep_outside(struct sw_merge *m, struct sw_group *g, int first, int end) {
    size_t at = 0, ports = 0, blocks = 0;
    uint32_t n = 0;
    for (size_t k = 0; k < g->n_clusters; k++)
        m->ids[k] = SW_FINISHED;
    for (size_t k = 0; k < g->n_blocks; k++) {
        const struct sw_block block = g->blocks[k];
        if (is_inside(&block, first, end)) {
            at += block.count;
            continue;
        }
        for (size_t p = 0; p < block.count; p++, at++) {
            struct sw_port port = g->ports[at];
            int32_t x, y;
            const uint32_t root = root_of(m->nodes, port.cluster, &x, &y);
            if (m->ids[root] == SW_FINISHED)
                m->ids[root] = n++;
            port.cluster = m->ids[root];
            port.x = (int16_t)(port.x + x);
            port.y = (int16_t)(port.y + y);
            g->ports[ports++] = port;
        }
        g->blocks[blocks++] = block;
    }
    g->n_ports = ports;
    g->n_blocks = blocks;
    return n;
}

bool sw_group_reduce(struct sw_merge *m, struct sw_group *g, int first, int end,
                     struct sw_record *record, struct sw_cut_counts *counts) {
    if (!prepare(m, g, record) || !join_inside(m, g, first, end, counts))
        return false;
    const uint32_t n = keep_outside(m, g, first, end);
    for (uint32_t k = 0; k < g->n_clusters; k++) {
        int32_t x, y;
        const uint32_t root = root_of(m->nodes, k, &x, &y), id = m->ids[root];
        record->next[k] = id;
        record->names[k] = g->names[root];
        if (root != k)
            continue;
        if (id != SW_FINISHED) {
            m->moved[2 * (size_t)id] = g->names[k];
            m->moved[2 * (size_t)id + 1] = g->sizes[k];
        } else if (counts) {
            sw_cut_count(counts, g->sizes[k]);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        g->names[k] = m->moved[2 * (size_t)k];
        g->sizes[k] = m->moved[2 * (size_t)k + 1];
    }
    g->n_clusters = n;
    return true;
}

/* ---- over ranks ------------------------------------------------------------------------------ */

static void pack(const struct sw_group *g, bool sized, struct ergo_text *text) {
    const uint64_t head[3] = {g->n_clusters, g->n_blocks, g->n_ports};
    text->length = 0;
    ergo_text_append_bytes(text, head, sizeof head);
    if (g->n_clusters)
        ergo_text_append_bytes(text, g->names, g->n_clusters * sizeof *g->names);
    if (g->n_clusters && sized)
        ergo_text_append_bytes(text, g->sizes, g->n_clusters * sizeof *g->sizes);
    if (g->n_blocks)
        ergo_text_append_bytes(text, g->blocks, g->n_blocks * sizeof *g->blocks);
    if (g->n_ports)
        ergo_text_append_bytes(text, g->ports, g->n_ports * sizeof *g->ports);
}

static bool unpack(struct sw_group *g, bool sized, const struct ergo_text *text) {
    uint64_t head[3];
    const char *at = text->data;
    if (text->length < sizeof head)
        return false;
    memcpy(head, at, sizeof head);
    at += sizeof head;
    const size_t names = 8 * (size_t)head[0], blocks = (size_t)head[1] * sizeof *g->blocks;
    const size_t ports = (size_t)head[2] * sizeof *g->ports;
    if (text->length != sizeof head + (sized ? 2 : 1) * names + blocks + ports ||
        !sw_group_reserve(g, (size_t)head[0] + 1, (size_t)head[1] + 1, (size_t)head[2] + 1))
        return false;
    g->n_clusters = (size_t)head[0];
    g->n_blocks = (size_t)head[1];
    g->n_ports = (size_t)head[2];
    memcpy(g->names, at, names);
    at += names;
    memset(g->sizes, 0, names);
    if (sized) {
        memcpy(g->sizes, at, names);
        at += names;
    }
    memcpy(g->blocks, at, blocks);
    memcpy(g->ports, at + blocks, ports);
    return true;
}

static enum ergo_status no_merge(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY,
                     "the clusters of several ranks could not be merged: no memory, or a message "
                     "was not what it should be");
}

/* Names of a level's clusters from those of the next level's. */
static void resolve(const struct sw_record *record, size_t from, size_t n, const uint64_t *final,
                    uint64_t *names) {
    for (size_t k = 0; k < n; k++) {
        const uint32_t next = record->next[from + k];
        names[k] = next == SW_FINISHED ? record->names[from + k] : final[next];
    }
}

/* Up: until a group of which this rank is not the first. *children: their ranks, level by level. */
static enum ergo_status climb(struct ergo_context *ctx, struct sw_merge *m, struct sw_group *group,
                              struct sw_cut_counts *counts, int *children, size_t *levels,
                              int *parent) {
    const int rank = ergo_ranks_rank(), ranks = ergo_dist_count();
    enum ergo_status status = ERGO_OK;
    *levels = 1; /* 0: bonds of the rectangle with itself */
    *parent = -1;
    if (!sw_group_reduce(m, group, rank, rank + 1, &m->records[0], counts))
        return no_merge(ctx);
    for (int width = 1; width < ranks && *parent < 0 && status == ERGO_OK; width *= 2) {
        if (rank & width) {
            *parent = rank - width;
            pack(group, counts != NULL, &m->out);
            status = m->out.failed
                         ? no_merge(ctx)
                         : ergo_dist_send(ctx, *parent, TAG_UP, m->out.data, m->out.length);
        } else if (rank + width < ranks) {
            struct sw_record *record = &m->records[*levels];
            children[(*levels)++] = rank + width;
            status = ergo_dist_receive(ctx, rank + width, TAG_UP, &m->in);
            if (status != ERGO_OK)
                break;
            const size_t first = group->n_clusters;
            if (!unpack(&m->other, counts != NULL, &m->in) || !sw_group_append(group, &m->other) ||
                !sw_group_reduce(m, group, rank, rank + 2 * width, record, counts))
                status = no_merge(ctx);
            record->first = first;
        }
    }
    return status;
}

enum ergo_status sw_merge_tree(struct ergo_context *ctx, struct sw_merge *m, struct sw_group *group,
                               uint64_t *names, struct sw_cut_counts *counts) {
    int children[40], parent = -1;
    size_t levels = 0;
    enum ergo_status status = climb(ctx, m, group, counts, children, &levels, &parent);
    /* and down: `in` holds the names of the clusters that left a level */
    m->in.length = 0;
    if (status == ERGO_OK && parent >= 0)
        status = ergo_dist_receive(ctx, parent, TAG_DOWN, &m->in);
    while (levels-- > 1 && status == ERGO_OK) {
        const struct sw_record *record = &m->records[levels];
        const uint64_t *final = (const uint64_t *)(const void *)m->in.data;
        uint64_t *level = malloc((record->count + 1) * sizeof *level);
        if (!level)
            return no_merge(ctx);
        resolve(record, 0, record->count, final, level);
        status = ergo_dist_send(ctx, children[levels], TAG_DOWN, level + record->first,
                                8 * (record->count - record->first));
        m->in.length = 0;
        ergo_text_append_bytes(&m->in, level, 8 * record->first);
        if (m->in.failed)
            status = no_merge(ctx);
        free(level);
    }
    if (status == ERGO_OK)
        resolve(&m->records[0], 0, m->records[0].count, (const uint64_t *)(const void *)m->in.data,
                names);
    return status;
}
