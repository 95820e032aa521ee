/*
 * Labels of clusters that go on where rounds did not reach, joined by all ranks: see joining.h.
 *
 * A rank has them in order. Of each it knows the smallest label that is of the same cluster, its
 * leader, which stands before it. So what is handed on is a list of labels as differences, each
 * with its leader's number, and two ranks' lists become one in a single pass.
 */
#include "samplers/swendsen_wang/joining.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum { HEAD = SW_REST_HEAD, NUMBER = 10 }; /* bytes: of a number, at the most */

void sw_rest_free(struct sw_rest *r) {
    free(r->labels);
    free(r->spare);
    free(r->heard);
    free(r->pairs);
    free(r->places);
    free(r->slots);
    free(r->sums);
    *r = (struct sw_rest){0};
}

/* ---- one list -------------------------------------------------------------------------------- */

/* *odd is changed by the way to the leader's owner. */
static uint32_t leader_of(struct sw_label *labels, uint32_t i, uint32_t *odd) {
    while (labels[i].leader != i) {
        struct sw_label *k = &labels[i];
        const struct sw_label *up = &labels[k->leader];
        if (up->leader != k->leader) {
            k->odd ^= up->odd;
            k->leader = up->leader;
        }
        *odd ^= k->odd;
        i = k->leader;
    }
    return i;
}

/* These two are of one cluster. */
static void join(struct sw_rest *r, uint32_t first, uint32_t second, uint32_t odd) {
    const uint32_t a = leader_of(r->labels, first, &odd);
    const uint32_t b = leader_of(r->labels, second, &odd);
    if (a == b)
        r->wraps |= odd;
    else if (b < a)
        r->labels[a] = (struct sw_label){r->labels[a].label, b, 0, odd};
    else
        r->labels[b] = (struct sw_label){r->labels[b].label, a, 0, odd};
}

/* All know their leaders, which are numbered. A leader stands before what it leads. */
static void settle(struct sw_rest *r) {
    r->n_leaders = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        struct sw_label *k = &r->labels[i];
        const struct sw_label *up = &r->labels[k->leader];
        if (k->leader == i) {
            k->number = r->n_leaders++;
            continue;
        }
        k->odd ^= up->odd;
        k->leader = up->leader;
    }
}

static int by_label(const void *a, const void *b) {
    const struct sw_label *p = a, *q = b;
    return p->label < q->label ? -1 : p->label > q->label;
}

static uint32_t index_of(const struct sw_rest *r, uint64_t label) {
    size_t low = 0, high = r->n;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (r->labels[middle].label <= label)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

struct sw_pair *sw_rest_pairs(struct sw_rest *r, size_t most) {
    return r->pairs = sw_reserve(r->pairs, sizeof *r->pairs, &r->rooms[0], most);
}

bool sw_rest_begin(struct sw_rest *r, size_t n_pairs) {
    size_t kept = 0;
    r->wraps = 0;
    r->labels = sw_reserve(r->labels, sizeof *r->labels, &r->rooms[1], 2 * n_pairs);
    if (!r->labels)
        return false;
    for (size_t k = 0; k < 2 * n_pairs; k++)
        r->labels[k].label = r->pairs[k / 2].labels[k % 2];
    if (n_pairs)
        qsort(r->labels, 2 * n_pairs, sizeof *r->labels, by_label);
    for (size_t k = 0; k < 2 * n_pairs; k++)
        if (k == 0 || r->labels[k].label != r->labels[kept - 1].label) {
            r->labels[kept] = (struct sw_label){r->labels[k].label, (uint32_t)kept, 0, 0};
            kept++;
        }
    r->n = kept;
    for (size_t k = 0; k < n_pairs; k++) {
        const struct sw_pair *pair = &r->pairs[k];
        join(r, index_of(r, pair->labels[0]), index_of(r, pair->labels[1]), pair->odd);
    }
    settle(r);
    return true;
}

/* ---- handed on ------------------------------------------------------------------------------- */

/* Seven bits a byte, the lowest first. */
static unsigned char *put(unsigned char *to, uint64_t value) {
    for (; value > 127; value >>= 7)
        *to++ = (unsigned char)(value | 128);
    *to++ = (unsigned char)value;
    return to;
}

static bool get(const unsigned char **at, const unsigned char *end, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const unsigned char byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

size_t sw_rest_room(const struct sw_rest *r) {
    return HEAD + 4 * NUMBER * r->n;
}

static void put32(unsigned char *to, uint32_t value) {
    for (int k = 0; k < 4; k++)
        to[k] = (unsigned char)(value >> 8 * k);
}

static uint32_t get32(const unsigned char *from) {
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* serial, number of labels, bytes in all; of each label: what it is more than the one before; 0,
 * or how many leaders before the next its leader is; of those that have one and with ways, the
 * way there. */
size_t sw_rest_hand(const struct sw_rest *r, bool ways, uint32_t serial, unsigned char *message) {
    unsigned char *to = message + HEAD;
    uint64_t before = 0;
    uint32_t leaders = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct sw_label *k = &r->labels[i];
        to = put(to, k->label - before);
        before = k->label;
        to = put(to, k->leader == i ? 0 : leaders - r->labels[k->leader].number);
        leaders += k->leader == i ? 1 : 0;
        if (ways && k->leader != i)
            to = put(to, k->odd);
    }
    put32(message, serial);
    put32(message + 4, (uint32_t)r->n);
    put32(message + 8, (uint32_t)(to - message));
    return (size_t)(to - message);
}

size_t sw_rest_length(const unsigned char *message) {
    return get32(message + 8);
}

/* The labels of a message: heard[n]. */
static bool read_labels(struct sw_rest *r, bool ways, const unsigned char *message, uint32_t n) {
    const unsigned char *at = message + HEAD, *end = message + sw_rest_length(message);
    uint64_t label = 0, more, back, odd = 0;
    uint32_t leaders = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!get(&at, end, &more) || !get(&at, end, &back) || back > leaders ||
            (ways && back && !get(&at, end, &odd)) || (i && !more))
            return false;
        label += more;
        if (!back)
            r->places[leaders++] = i;
        r->heard[i] = (struct sw_label){label, back ? r->places[leaders - back] : i, 0,
                                        back ? (uint32_t)odd : 0};
    }
    return at == end;
}

/* Both lists in order, into spare. Where the own ones and those heard are then: places, and behind
 * them. */
static void merge(struct sw_rest *r, uint32_t n_heard) {
    uint32_t own = 0, heard = 0, n = 0, *places = r->places, *heard_places = places + r->n;
    for (; own < r->n || heard < n_heard; n++) {
        const uint64_t a = own < r->n ? r->labels[own].label : UINT64_MAX;
        const uint64_t b = heard < n_heard ? r->heard[heard].label : UINT64_MAX;
        r->spare[n] = (struct sw_label){b, n, 0, 0};
        if (a <= b) {
            places[own] = n;
            r->spare[n] = r->labels[own];
            r->spare[n].leader = places[r->labels[own].leader];
            own++;
        }
        if (b <= a)
            heard_places[heard++] = n;
    }
    struct sw_label *labels = r->spare;
    r->spare = r->labels;
    r->labels = labels;
    const size_t room = r->rooms[1];
    r->rooms[1] = r->rooms[2];
    r->rooms[2] = room;
    for (uint32_t k = 0; k < n_heard; k++) {
        const struct sw_label *label = &r->heard[k];
        if (label->leader != k)
            join(r, heard_places[k], heard_places[label->leader], label->odd);
    }
    r->n = n;
    settle(r);
}

bool sw_rest_expect(struct sw_rest *r, const unsigned char *message) {
    const size_t n = get32(message + 4);
    r->heard = sw_reserve(r->heard, sizeof *r->heard, &r->rooms[3], n);
    r->places = sw_reserve(r->places, sizeof *r->places, &r->rooms[4], r->n + n);
    r->spare = sw_reserve(r->spare, sizeof *r->spare, &r->rooms[2], r->n + n);
    return r->heard && r->places && r->spare;
}

bool sw_rest_unite(struct sw_rest *r, bool ways, uint32_t serial, const unsigned char *message) {
    const uint32_t n = get32(message + 4);
    if (get32(message) != serial || !read_labels(r, ways, message, n))
        return false;
    merge(r, n);
    return true;
}

/* ---- for all ranks --------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct sw_rest *r, uint64_t label) {
    size_t slot = (size_t)((label * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (r->n_slots - 1);
    while (r->slots[slot] != NONE && r->labels[r->slots[slot]].label != label)
        slot = (slot + 1) & (r->n_slots - 1);
    return &r->slots[slot];
}

bool sw_rest_end(struct sw_rest *r) {
    r->n_slots = 64;
    while (r->n_slots < 4 * r->n)
        r->n_slots *= 2;
    r->slots = sw_reserve(r->slots, sizeof *r->slots, &r->rooms[5], r->n_slots);
    r->sums = sw_reserve(r->sums, sizeof *r->sums, &r->rooms[6], r->n_leaders);
    if (!r->slots || !r->sums)
        return false;
    memset(r->slots, 0xff, r->n_slots * sizeof *r->slots);
    for (uint32_t i = 0; i < r->n; i++)
        *slot_of(r, r->labels[i].label) = i;
    memset(r->sums, 0, r->n_leaders * sizeof *r->sums);
    return true;
}

const struct sw_label *sw_rest_leader(const struct sw_rest *r, uint64_t label) {
    const uint32_t i = *slot_of(r, label);
    return i == NONE ? NULL : &r->labels[r->labels[i].leader];
}
