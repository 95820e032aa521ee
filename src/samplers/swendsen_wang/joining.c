/* Clusters of several rectangles, by rounds between neighbours: see joining.h. */
#include "samplers/swendsen_wang/joining.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

#define UNKNOWN UINT64_MAX

/* Words of a message: its serial, its number of records. A record has a number and a label, if
 * they are asked for with the ways below it, or a number and sums. */
enum { HEAD = 2, RECORD = 1 + 2 * SW_SUM_NUMBERS };

void *sw_reserve(void *array, size_t item, size_t *room, size_t n) {
    if (array && n <= *room)
        return array;
    free(array);
    array = malloc(item * (n + n / 4 + 64));
    *room = array ? n + n / 4 + 64 : 0;
    return array;
}

void sw_joining_free(struct sw_joining *j) {
    free(j->cluster_of);
    free(j->odd);
    free(j->clusters);
    free(j->bridges);
    free(j->touched);
    free(j->changed);
    free(j->told);
    free(j->words);
    sw_rest_free(&j->rest);
    *j = (struct sw_joining){0};
}

size_t sw_joining_room(size_t n_bridges) {
    return HEAD + n_bridges * RECORD;
}

static bool allocate(struct sw_joining *j, size_t parts, size_t bridges, size_t words) {
    size_t *rooms = j->part_rooms;
    j->cluster_of = sw_reserve(j->cluster_of, sizeof *j->cluster_of, &rooms[0], parts);
    j->clusters = sw_reserve(j->clusters, sizeof *j->clusters, &rooms[1], parts);
    j->changed = sw_reserve(j->changed, sizeof *j->changed, &rooms[2], parts);
    j->told = sw_reserve(j->told, sizeof *j->told, &rooms[3], parts);
    j->touched = sw_reserve(j->touched, sizeof *j->touched, &rooms[4], parts);
    j->odd = sw_reserve(j->odd, sizeof *j->odd, &rooms[5], parts);
    j->bridges = sw_reserve(j->bridges, sizeof *j->bridges, &j->bridge_room, bridges);
    j->words = sw_reserve(j->words, sizeof *j->words, &j->word_room, words);
    return j->cluster_of && j->odd && j->clusters && j->changed && j->told && j->touched &&
           j->bridges && j->words;
}

/* ---- clusters of a rectangle ----------------------------------------------------------------- */

/* Parts of a bridge become one. */
static void join_parts(struct sw_joining *j, struct sw_side *side) {
    uint32_t first = NONE, from_first = 0; /* the latter: from the bridge */
    side->n_bridges = 0;
    for (size_t k = 0; k < side->n_items; k++) {
        uint32_t odd = sw_part_odd(side->items[k]);
        const uint32_t root = sw_root_of(j->cluster_of, side->items[k] & SW_PART_NUMBER, &odd);
        if (first == NONE) {
            first = root;
            from_first = odd;
        } else if (root == first) {
            j->wraps |= odd ^ from_first;
        } else {
            const uint32_t high = root > first ? root : first;
            const uint32_t between = odd ^ from_first;
            from_first = root > first ? from_first : odd;
            first = root > first ? first : root;
            j->cluster_of[high] = first << 2 | between;
        }
        if (side->items[k] & SW_BRIDGE_END) {
            side->n_bridges++;
            first = NONE;
        }
    }
}

/* Links become numbers of clusters: a root has the smallest number of its parts. */
static void number_clusters(struct sw_joining *j, const struct sw_parts *parts) {
    j->n_clusters = 0;
    for (uint32_t i = 0; i < parts->n_parts; i++) {
        const uint32_t link = j->cluster_of[i];
        const bool root = link >> 2 == i;
        const uint32_t c = root ? (uint32_t)j->n_clusters++ : j->cluster_of[link >> 2];
        struct sw_cluster *cluster = &j->clusters[c];
        if (root)
            *cluster = (struct sw_cluster){
                .name = UNKNOWN, .from = NONE, .bridges = NONE, .last = NONE, .parent = c};
        if (parts->names[i] < cluster->name)
            cluster->name = parts->names[i];
        cluster->sum.sites += parts->sizes ? parts->sizes[i] : 0;
        for (size_t wave = 0; wave < j->n_waves; wave++)
            cluster->sum.waves[wave] += parts->waves[i * j->n_waves + wave];
        j->cluster_of[i] = c;
        j->odd[i] = link & 3u;
    }
    for (size_t c = 0; c < j->n_clusters; c++)
        j->clusters[c].label = j->clusters[c].name;
}

static void number_bridges(struct sw_joining *j, const struct sw_side *side, uint32_t number) {
    uint32_t b = (uint32_t)side->first;
    for (size_t k = 0; k < side->n_items; k++) {
        if (!(side->items[k] & SW_BRIDGE_END))
            continue;
        const uint32_t part = side->items[k] & SW_PART_NUMBER, c = j->cluster_of[part];
        j->bridges[b] =
            (struct sw_bridge){.label = UNKNOWN,
                               .cluster = c,
                               .next = j->clusters[c].bridges,
                               .side = number,
                               .apart = (uint8_t)(j->odd[part] ^ sw_part_odd(side->items[k]))};
        if (j->clusters[c].bridges == NONE)
            j->clusters[c].last = b;
        j->clusters[c].bridges = b++;
    }
}

bool sw_joining_begin(struct sw_joining *j, struct sw_parts *parts, uint32_t serial,
                      uint32_t rounds) {
    size_t bridges = 0, words = 0;
    for (size_t s = 0; s < parts->n_sides; s++)
        bridges += parts->sides[s].n_items;
    if (!allocate(j, parts->n_parts, bridges, 2 * (parts->n_sides * HEAD + bridges * RECORD)))
        return false;
    j->ways = parts->ways || parts->sizes;
    j->n_waves = parts->sizes ? parts->n_waves : 0;
    j->wraps = 0;
    j->narrow = parts->narrow;
    j->serial = serial;
    j->rounds = rounds;
    j->round = 0;
    j->n_parts = parts->n_parts;
    j->n_bridges = j->n_changed = j->n_told = 0;
    for (uint32_t i = 0; i < parts->n_parts; i++)
        j->cluster_of[i] = i << 2;
    for (size_t s = 0; s < parts->n_sides; s++) {
        struct sw_side *side = &parts->sides[s];
        join_parts(j, side);
        side->first = j->n_bridges;
        j->n_bridges += side->n_bridges;
        side->out = j->words + words;
        side->in = side->out + sw_joining_room(side->n_bridges);
        words += 2 * sw_joining_room(side->n_bridges);
    }
    for (uint32_t i = 0; i < parts->n_parts; i++) {
        uint32_t odd = 0;
        const uint32_t root = sw_root_of(j->cluster_of, i, &odd);
        j->cluster_of[i] = root << 2 | odd;
    }
    number_clusters(j, parts);
    for (size_t s = 0; s < parts->n_sides; s++)
        number_bridges(j, &parts->sides[s], (uint32_t)s);
    sw_joining_note(j);
    return true;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void begin_messages(struct sw_joining *j, struct sw_side *sides, size_t n_sides) {
    for (size_t s = 0; s < n_sides; s++) {
        sides[s].out[0] = j->serial;
        sides[s].out[1] = 0;
        sides[s].out_words = HEAD;
    }
    j->serial++;
}

static void put64(struct sw_side *side, uint64_t value) {
    side->out[side->out_words++] = (uint32_t)value;
    side->out[side->out_words++] = (uint32_t)(value >> 32);
}

static void put_label(const struct sw_joining *j, struct sw_side *side, uint64_t label,
                      uint32_t odd) {
    const uint64_t both = j->ways ? label << SW_ODD_BITS | odd : label;
    side->out[side->out_words++] = (uint32_t)both;
    if (!j->narrow)
        side->out[side->out_words++] = (uint32_t)(both >> 32);
}

static uint64_t get64(const uint32_t *words) {
    return words[0] | (uint64_t)words[1] << 32;
}

/* The cluster that this one is part of. */
static struct sw_cluster *whole_of(struct sw_joining *j, uint32_t c) {
    struct sw_cluster *k = j->clusters;
    while (k[c].parent != c) {
        k[c].parent = k[k[c].parent].parent;
        c = k[c].parent;
    }
    return &k[c];
}

static void change(struct sw_joining *j, struct sw_cluster *c) {
    j->touched[c - j->clusters] = 1;
    if (!c->changed)
        j->changed[j->n_changed++] = (uint32_t)(c - j->clusters);
    c->changed = true;
}

/* numbered: not all bridges of a side in order. */
static void tell_bridge(struct sw_joining *j, struct sw_side *sides, uint32_t b, bool numbered) {
    struct sw_bridge *bridge = &j->bridges[b];
    struct sw_side *side = &sides[bridge->side];
    const struct sw_cluster *c = whole_of(j, bridge->cluster);
    bridge->label = c->label;
    bridge->odd = c->odd;
    side->out[1]++;
    if (numbered)
        side->out[side->out_words++] = b - (uint32_t)side->first;
    put_label(j, side, c->label, c->odd ^ bridge->apart ^ side->odd);
}

void sw_joining_tell(struct sw_joining *j, struct sw_side *sides, size_t n_sides) {
    begin_messages(j, sides, n_sides);
    if (j->round++ == 0) {
        for (uint32_t b = 0; b < j->n_bridges; b++)
            tell_bridge(j, sides, b, false);
        return;
    }
    uint32_t *told = j->changed;
    const size_t room = j->part_rooms[2];
    j->changed = j->told;
    j->told = told;
    j->part_rooms[2] = j->part_rooms[3];
    j->part_rooms[3] = room;
    j->n_told = j->n_changed;
    j->n_changed = 0;
    for (size_t k = 0; k < j->n_told; k++) {
        struct sw_cluster *c = whole_of(j, told[k]);
        if (!c->changed)
            continue; /* told already, with another that is part of it */
        c->changed = false;
        for (uint32_t b = c->bridges; b != NONE; b = j->bridges[b].next)
            if (j->bridges[b].label != c->label)
                tell_bridge(j, sides, b, true);
    }
}

static void hear_label(struct sw_joining *j, uint32_t b, uint64_t label, uint32_t odd) {
    struct sw_bridge *bridge = &j->bridges[b];
    struct sw_cluster *c = whole_of(j, bridge->cluster);
    if (label > bridge->label) /* the other side learns this one's meanwhile */
        return;
    odd ^= bridge->apart;
    /* Both have told the label: their two ways to its owner close one. Later it would be too late:
     * when the label has changed, both sides keep the other's way alone, and twice odd is even. */
    if (label == bridge->label && j->ways)
        j->wraps |= odd ^ bridge->odd;
    bridge->label = label;
    bridge->odd = (uint8_t)odd;
    if (label >= c->label)
        return;
    c->label = label;
    c->odd = bridge->odd;
    c->from = b;
    c->when = j->round;
    change(j, c);
}

static uint64_t next_label(const struct sw_joining *j, const uint32_t **at) {
    const uint64_t low = *(*at)++;
    return j->narrow ? low : low | (uint64_t) * (*at)++ << 32;
}

static bool is_due(const struct sw_joining *j, const struct sw_side *side, size_t most) {
    return side->in[0] == j->serial - 1 && side->in[1] <= most;
}

bool sw_joining_hear(struct sw_joining *j, const struct sw_side *side) {
    const bool numbered = j->round > 1;
    const uint32_t *at = side->in + HEAD, first = (uint32_t)side->first;
    if (!is_due(j, side, side->n_bridges) || (!numbered && side->in[1] != side->n_bridges))
        return false;
    for (uint32_t k = 0; k < side->in[1]; k++) {
        const uint32_t number = numbered ? *at++ : k;
        if (number >= side->n_bridges)
            return false;
        const uint64_t both = next_label(j, &at);
        if (j->ways)
            hear_label(j, first + number, both >> SW_ODD_BITS, both & ((1u << SW_ODD_BITS) - 1));
        else
            hear_label(j, first + number, both, 0);
    }
    return true;
}

void sw_joining_note(struct sw_joining *j) {
    memset(j->touched, 0, j->n_clusters);
}

/* ---- what inside connects -------------------------------------------------------------------- */

static void unite(struct sw_joining *j, struct sw_cluster *a, struct sw_cluster *b) {
    if (a == b)
        return;
    b->parent = (uint32_t)(a - j->clusters);
    j->touched[b - j->clusters] = 1;
    if (a->bridges == NONE)
        a->bridges = b->bridges;
    else if (b->bridges != NONE)
        j->bridges[a->last].next = b->bridges;
    a->last = b->last == NONE ? a->last : b->last;
    a->label = b->label < a->label ? b->label : a->label;
    change(j, a);
}

void sw_joining_connect(struct sw_joining *j, uint32_t part, uint32_t other, uint64_t name) {
    struct sw_cluster *c = whole_of(j, j->cluster_of[part]);
    j->touched[j->cluster_of[part]] = 1;
    unite(j, c, whole_of(j, j->cluster_of[other]));
    if (name < c->label) {
        c->label = name;
        change(j, c);
    }
}

/* ---- what is left ---------------------------------------------------------------------------- */

bool sw_joining_rest(struct sw_joining *j) {
    size_t n = 0;
    struct sw_pair *pairs = sw_rest_pairs(&j->rest, j->n_bridges);
    if (!pairs)
        return false;
    for (size_t k = 0; k < j->n_changed; k++) {
        struct sw_cluster *c = whole_of(j, j->changed[k]);
        const bool again = !c->changed;
        c->changed = false;
        for (uint32_t b = again ? NONE : c->bridges; b != NONE; b = j->bridges[b].next) {
            const struct sw_bridge *bridge = &j->bridges[b];
            if (bridge->label != c->label)
                pairs[n++] = (struct sw_pair){{bridge->label, c->label}, bridge->odd ^ c->odd};
        }
    }
    return sw_rest_begin(&j->rest, n);
}

size_t sw_joining_hand(struct sw_joining *j, unsigned char *message) {
    return sw_rest_hand(&j->rest, j->ways, j->serial++, message);
}

bool sw_joining_unite(struct sw_joining *j, const unsigned char *message) {
    return sw_rest_unite(&j->rest, j->ways, j->serial - 1, message);
}

bool sw_joining_finish(struct sw_joining *j) {
    if (!sw_rest_end(&j->rest))
        return false;
    j->wraps |= j->rest.wraps;
    for (size_t b = 0; b < j->n_bridges && j->ways; b++) {
        const struct sw_bridge *bridge = &j->bridges[b];
        const struct sw_cluster *c = &j->clusters[bridge->cluster];
        j->wraps |= bridge->label == c->label ? bridge->odd ^ c->odd : 0u;
    }
    for (size_t c = 0; c < j->n_clusters && j->rest.n; c++) {
        const struct sw_label *leader = sw_rest_leader(&j->rest, j->clusters[c].label);
        if (leader) {
            j->clusters[c].label = leader->label;
            j->touched[c] = 1;
        }
    }
    for (uint32_t c = 0; c < j->n_clusters; c++)
        if (j->clusters[c].parent != c)
            j->clusters[c].label = whole_of(j, c)->label;
    return true;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

void sw_joining_count(struct sw_joining *j, struct sw_side *sides, size_t n_sides) {
    begin_messages(j, sides, n_sides);
    for (size_t k = 0; k < j->n_clusters; k++) {
        struct sw_cluster *c = &j->clusters[k];
        if (c->from == NONE || c->when != j->round)
            continue;
        struct sw_side *side = &sides[j->bridges[c->from].side];
        side->out[1]++;
        side->out[side->out_words++] = c->from - (uint32_t)side->first;
        put64(side, c->sum.sites);
        for (size_t wave = 0; wave < j->n_waves; wave++)
            put64(side, c->sum.waves[wave]);
        c->sum = (struct sw_sum){0};
    }
    j->round--;
}

bool sw_joining_counted(struct sw_joining *j, const struct sw_side *side) {
    const uint32_t *at = side->in + HEAD;
    if (!is_due(j, side, side->n_bridges))
        return false;
    for (uint32_t k = 0; k < side->in[1]; k++, at += 3 + 2 * j->n_waves) {
        if (at[0] >= side->n_bridges)
            return false;
        struct sw_cluster *c = &j->clusters[j->bridges[side->first + at[0]].cluster];
        c->sum.sites += get64(at + 1);
        for (size_t wave = 0; wave < j->n_waves; wave++)
            c->sum.waves[wave] += get64(at + 3 + 2 * wave);
    }
    return true;
}

void sw_joining_late(struct sw_joining *j, sw_joining_take take, void *user) {
    for (size_t k = 0; k < j->n_clusters; k++) {
        const struct sw_cluster *c = &j->clusters[k];
        const struct sw_label *leader = c->sum.sites ? sw_rest_leader(&j->rest, c->label) : NULL;
        struct sw_sum *sum = leader ? &j->rest.sums[leader->number] : NULL;
        if (sum) {
            sum->sites += c->sum.sites;
            for (size_t wave = 0; wave < j->n_waves; wave++)
                sum->waves[wave] += c->sum.waves[wave];
        } else if (c->sum.sites) {
            take(user, &c->sum);
        }
    }
}

void sw_joining_sum(const struct sw_joining *j, sw_joining_take take, void *user) {
    for (size_t k = 0; k < j->n_clusters && j->rest.n; k++) {
        const struct sw_cluster *c = &j->clusters[k];
        const struct sw_label *leader =
            c->name == c->label ? sw_rest_leader(&j->rest, c->label) : NULL;
        if (leader)
            take(user, &j->rest.sums[leader->number]);
    }
}
