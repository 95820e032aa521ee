/*
 * Clusters across ranks, pairwise: groups of 1, 2, 4, ... consecutive ranks join what lies between
 * two of them. The first rank of a group holds no more of it than the clusters that reach the
 * group's outer edges; what is finished goes no further. Down the same way each rank learns the
 * names of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

struct node {
    uint32_t parent;
    int32_t x, y; /* lattices from the parent */
};

struct slot {
    uint64_t part; /* + 1; 0: free */
    uint32_t cluster;
    int32_t x, y;
};

struct sw_merge {
    struct node *nodes;
    uint32_t *ids; /* of roots in the reduced group */
    size_t node_room;
    struct slot *slots;
    size_t slot_count, slot_room; /* in use: a power of two */
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
    free(merge->slots);
    ergo_text_free(&merge->in);
    ergo_text_free(&merge->out);
    sw_group_free(&merge->other);
    free(merge);
}

void sw_group_free(struct sw_group *group) {
    free(group->names);
    free(group->sizes);
    free(group->ports);
    *group = (struct sw_group){0};
}

static bool cluster_room(struct sw_group *g, size_t n) {
    if (n <= g->cluster_room)
        return true;
    const size_t room = 2 * n + 64;
    uint64_t *names = realloc(g->names, room * sizeof *names);
    if (names)
        g->names = names;
    uint64_t *sizes = realloc(g->sizes, room * sizeof *sizes);
    if (sizes)
        g->sizes = sizes;
    if (!names || !sizes)
        return false;
    g->cluster_room = room;
    return true;
}

static bool port_room(struct sw_group *g, size_t n) {
    if (n <= g->port_room)
        return true;
    const size_t room = 2 * n + 64;
    struct sw_port *ports = realloc(g->ports, room * sizeof *ports);
    if (!ports)
        return false;
    g->ports = ports;
    g->port_room = room;
    return true;
}

bool sw_group_add_cluster(struct sw_group *g, uint64_t name, uint64_t size) {
    if (!cluster_room(g, g->n_clusters + 1))
        return false;
    g->names[g->n_clusters] = name;
    g->sizes[g->n_clusters++] = size;
    return true;
}

bool sw_group_add_port(struct sw_group *g, struct sw_port port) {
    if (!port_room(g, g->n_ports + 1))
        return false;
    g->ports[g->n_ports++] = port;
    return true;
}

bool sw_group_append(struct sw_group *g, const struct sw_group *other) {
    const size_t c = g->n_clusters, p = g->n_ports;
    if (!cluster_room(g, c + other->n_clusters) || !port_room(g, p + other->n_ports))
        return false;
    for (size_t k = 0; k < other->n_clusters; k++) {
        g->names[c + k] = other->names[k];
        g->sizes[c + k] = other->sizes[k];
    }
    for (size_t k = 0; k < other->n_ports; k++) {
        g->ports[p + k] = other->ports[k];
        g->ports[p + k].cluster += (uint32_t)c;
    }
    g->n_clusters = c + other->n_clusters;
    g->n_ports = p + other->n_ports;
    return true;
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static struct slot *slot_of(const struct sw_merge *m, uint64_t part) {
    uint64_t at = (part + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (at >>= 20;; at++) {
        struct slot *slot = &m->slots[at & (m->slot_count - 1)];
        if (slot->part == part + 1 || slot->part == 0)
            return slot;
    }
}

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

static bool is_inside(const struct sw_port *port, int first, int end) {
    return port->rank >= first && port->rank < end;
}

static bool prepare(struct sw_merge *m, const struct sw_group *g, size_t inside,
                    struct sw_record *record) {
    if (g->n_clusters > m->node_room) {
        const size_t room = 2 * g->n_clusters + 64;
        free(m->nodes);
        free(m->ids);
        m->nodes = malloc(room * sizeof *m->nodes);
        m->ids = malloc(room * sizeof *m->ids);
        m->node_room = m->nodes && m->ids ? room : 0;
        if (!m->node_room)
            return false;
    }
    size_t slots = 64;
    while (slots < 2 * inside)
        slots *= 2;
    if (slots > m->slot_room) {
        free(m->slots);
        m->slots = malloc(slots * sizeof *m->slots);
        m->slot_room = m->slots ? slots : 0;
        if (!m->slots)
            return false;
    }
    m->slot_count = slots;
    memset(m->slots, 0, m->slot_count * sizeof *m->slots);
    if (g->n_clusters > record->room) {
        const size_t room = 2 * g->n_clusters + 64;
        sw_record_free(record);
        record->next = malloc(room * sizeof *record->next);
        record->names = malloc(room * sizeof *record->names);
        if (!record->next || !record->names)
            return false;
        record->room = room;
    }
    record->count = g->n_clusters;
    for (uint32_t k = 0; k < g->n_clusters; k++)
        m->nodes[k] = (struct node){k, 0, 0};
    return true;
}

/* A port's two clusters are one. A second way between them that leads elsewhere goes around the
 * lattice (as in wraps.c). */
static void join(struct sw_merge *m, struct sw_group *g, const struct sw_port *port,
                 struct sw_cut_counts *counts) {
    const struct slot *far = slot_of(m, port->far);
    if (far->part == 0)
        return; /* not reached: each bond is known on both sides */
    int32_t ax, ay, bx, by;
    const uint32_t a = root_of(m->nodes, port->cluster, &ax, &ay);
    const uint32_t b = root_of(m->nodes, far->cluster, &bx, &by);
    /* origin of b's root seen from that of a's */
    const int32_t x = ax + port->x + port->dx - far->x - bx;
    const int32_t y = ay + port->y + port->dy - far->y - by;
    if (a == b) {
        if (counts && (x != 0 || y != 0))
            counts->wraps = 1;
        return;
    }
    m->nodes[b] = (struct node){a, x, y};
    g->sizes[a] += g->sizes[b];
    g->names[a] = g->names[a] < g->names[b] ? g->names[a] : g->names[b];
}

bool sw_group_reduce(struct sw_merge *m, struct sw_group *g, int first, int end,
                     struct sw_record *record, struct sw_cut_counts *counts) {
    size_t inside = 0, kept = 0;
    for (size_t p = 0; p < g->n_ports; p++)
        inside += is_inside(&g->ports[p], first, end);
    if (!prepare(m, g, inside, record))
        return false;
    for (size_t p = 0; p < g->n_ports; p++) {
        const struct sw_port *port = &g->ports[p];
        if (is_inside(port, first, end)) {
            struct slot *slot = slot_of(m, port->own);
            *slot = (struct slot){port->own + 1, port->cluster, port->x, port->y};
        }
    }
    for (size_t p = 0; p < g->n_ports; p++) /* both sides know each bond: once is enough */
        if (is_inside(&g->ports[p], first, end) && g->ports[p].own <= g->ports[p].far)
            join(m, g, &g->ports[p], counts);
    for (size_t k = 0; k < g->n_clusters; k++)
        m->ids[k] = SW_FINISHED;
    uint32_t n = 0;
    for (size_t p = 0; p < g->n_ports; p++) {
        struct sw_port port = g->ports[p];
        int32_t x, y;
        if (is_inside(&port, first, end))
            continue;
        const uint32_t root = root_of(m->nodes, port.cluster, &x, &y);
        if (m->ids[root] == SW_FINISHED)
            m->ids[root] = n++;
        port.cluster = m->ids[root];
        port.x += x;
        port.y += y;
        g->ports[kept++] = port;
    }
    g->n_ports = kept;
    for (uint32_t k = 0; k < g->n_clusters; k++) {
        int32_t x, y;
        const uint32_t root = root_of(m->nodes, k, &x, &y);
        record->next[k] = m->ids[root];
        record->names[k] = g->names[root];
        if (root == k && m->ids[root] == SW_FINISHED && counts)
            sw_cut_count(counts, g->sizes[root]);
    }
    /* the kept ones to their new places */
    uint64_t *moved = malloc((2 * (size_t)n + 1) * sizeof *moved);
    if (!moved)
        return false;
    for (uint32_t k = 0; k < g->n_clusters; k++)
        if (m->nodes[k].parent == k && m->ids[k] != SW_FINISHED) {
            moved[2 * m->ids[k]] = g->names[k];
            moved[2 * m->ids[k] + 1] = g->sizes[k];
        }
    for (uint32_t k = 0; k < n; k++) {
        g->names[k] = moved[2 * (size_t)k];
        g->sizes[k] = moved[2 * (size_t)k + 1];
    }
    free(moved);
    g->n_clusters = n;
    return true;
}

const struct sw_record *sw_merge_own(const struct sw_merge *m) {
    return &m->records[0];
}

bool sw_group_reduce_own(struct sw_merge *m, struct sw_group *g, int rank,
                         struct sw_cut_counts *counts) {
    return sw_group_reduce(m, g, rank, rank + 1, &m->records[0], counts);
}

/* ---- over ranks ------------------------------------------------------------------------------ */

static void pack(const struct sw_group *g, struct ergo_text *text) {
    const uint64_t head[2] = {g->n_clusters, g->n_ports};
    text->length = 0;
    ergo_text_append_bytes(text, head, sizeof head);
    if (g->n_clusters) {
        ergo_text_append_bytes(text, g->names, g->n_clusters * sizeof *g->names);
        ergo_text_append_bytes(text, g->sizes, g->n_clusters * sizeof *g->sizes);
    }
    if (g->n_ports)
        ergo_text_append_bytes(text, g->ports, g->n_ports * sizeof *g->ports);
}

static bool unpack(struct sw_group *g, const struct ergo_text *text) {
    uint64_t head[2];
    const char *at = text->data;
    if (text->length < sizeof head)
        return false;
    memcpy(head, at, sizeof head);
    at += sizeof head;
    if (text->length != sizeof head + 16 * head[0] + head[1] * sizeof *g->ports ||
        !cluster_room(g, (size_t)head[0] + 1) || !port_room(g, (size_t)head[1] + 1))
        return false;
    g->n_clusters = (size_t)head[0];
    g->n_ports = (size_t)head[1];
    memcpy(g->names, at, 8 * g->n_clusters);
    memcpy(g->sizes, at + 8 * g->n_clusters, 8 * g->n_clusters);
    memcpy(g->ports, at + 16 * g->n_clusters, g->n_ports * sizeof *g->ports);
    return true;
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to merge the clusters of several ranks");
}

/* Names of a level's clusters from those of the next level's. */
static void resolve(const struct sw_record *record, size_t from, size_t n, const uint64_t *final,
                    uint64_t *names) {
    for (size_t k = 0; k < n; k++) {
        const uint32_t next = record->next[from + k];
        names[k] = next == SW_FINISHED ? record->names[from + k] : final[next];
    }
}

enum ergo_status sw_merge_tree(struct ergo_context *ctx, struct sw_merge *m, struct sw_group *group,
                               uint64_t *names, struct sw_cut_counts *counts) {
    const int rank = ergo_ranks_rank(), ranks = ergo_dist_count();
    int parent = -1;
    size_t levels = 0;
    /* level 0: bonds of the rectangle with itself */
    if (!sw_group_reduce_own(m, group, rank, counts))
        return no_memory(ctx);
    levels++;
    for (int width = 1; width < ranks && parent < 0; width *= 2) {
        if (rank & width) {
            parent = rank - width;
            pack(group, &m->out);
            if (m->out.failed)
                return no_memory(ctx);
            const enum ergo_status status =
                ergo_dist_send(ctx, parent, TAG_UP, m->out.data, m->out.length);
            if (status != ERGO_OK)
                return status;
        } else if (rank + width < ranks) {
            struct sw_record *record = &m->records[levels++];
            const enum ergo_status status = ergo_dist_receive(ctx, rank + width, TAG_UP, &m->in);
            if (status != ERGO_OK)
                return status;
            const size_t first = group->n_clusters;
            if (!unpack(&m->other, &m->in) || !sw_group_append(group, &m->other) ||
                !sw_group_reduce(m, group, rank, rank + 2 * width, record, counts))
                return no_memory(ctx);
            record->first = first;
        }
    }
    /* and down: `in` holds the names of the clusters that left this level */
    m->in.length = 0;
    enum ergo_status status =
        parent < 0 ? ERGO_OK : ergo_dist_receive(ctx, parent, TAG_DOWN, &m->in);
    while (levels-- > 1 && status == ERGO_OK) {
        const struct sw_record *record = &m->records[levels];
        int width = 1; /* of the level: that of its (levels)th partner */
        for (size_t seen = 0;; width *= 2) {
            if (rank + width < ranks && ++seen == levels)
                break;
        }
        const size_t n = record->count;
        uint64_t *level = malloc((n + 1) * sizeof *level);
        if (!level)
            return no_memory(ctx);
        resolve(record, 0, n, (const uint64_t *)(const void *)m->in.data, level);
        status = ergo_dist_send(ctx, rank + width, TAG_DOWN, level + record->first,
                                8 * (n - record->first));
        m->in.length = 0;
        ergo_text_append_bytes(&m->in, level, 8 * record->first);
        if (m->in.failed)
            status = no_memory(ctx);
        free(level);
    }
    if (status == ERGO_OK)
        resolve(&m->records[0], 0, m->records[0].count, (const uint64_t *)(const void *)m->in.data,
                names);
    return status;
}
