/* What bonds across a side of a rectangle connect: see joining.h. */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/joining.h"
#include "base/memory.h"

enum { NEAR, FAR };
#define FAR_BIT 0x80000000u

void sw_bridges_free(struct sw_bridges *b) {
    free(b->of[NEAR]);
    free(b->of[FAR]);
    free(b->parts);
    free(b->links);
    free(b->numbers);
    free(b->firsts);
    *b = (struct sw_bridges){0};
}

/* Elements of parts: none between calls. */
static bool reserve_of(struct sw_bridges *b, int side, size_t n) {
    if (b->of[side] && n <= b->of_rooms[side])
        return true;
    b->of[side] = sw_reserve(b->of[side], sizeof(uint32_t), &b->of_rooms[side], n + 1);
    if (b->of[side])
        memset(b->of[side], 0xff, b->of_rooms[side] * sizeof(uint32_t));
    return b->of[side] != NULL;
}

static bool allocate(struct sw_bridges *b, size_t elements) {
    b->parts = sw_reserve(b->parts, sizeof(uint32_t), &b->rooms[0], elements);
    b->links = sw_reserve(b->links, sizeof(uint32_t), &b->rooms[1], elements);
    b->numbers = sw_reserve(b->numbers, sizeof(uint32_t), &b->rooms[2], elements);
    b->firsts = sw_reserve(b->firsts, sizeof(uint32_t), &b->rooms[3], 2 * (elements + 1));
    return b->parts && b->links && b->numbers && b->firsts;
}

static bool make_room(struct sw_list *list, size_t more) {
    if (list->items && list->n + more <= list->room)
        return true;
    const size_t room = 2 * (list->n + more) + 64;
    uint32_t *items = realloc(list->items, room * sizeof *items);
    if (!items)
        return false;
    list->items = items;
    list->room = room;
    return true;
}

static uint32_t element_of(struct sw_bridges *b, int side, uint32_t part, uint32_t *n) {
    uint32_t *element = &b->of[side][part];
    if (*element == SW_NO_PART) {
        *element = *n;
        b->parts[*n] = part | (side == FAR ? FAR_BIT : 0);
        b->links[*n] = *n << 2;
        ++*n;
    }
    return *element;
}

/* Elements of all bonds, joined; the first of a bridge is its root. */
static uint32_t join_bonds(struct sw_bridges *b, const uint32_t *near, const uint32_t *far,
                           size_t count) {
    uint32_t n = 0, last_near = SW_NO_PART, last_far = SW_NO_PART;
    for (size_t k = 0; k < count; k++) {
        if (near[k] == SW_NO_PART || (near[k] == last_near && far[k] == last_far))
            continue;
        last_near = near[k];
        last_far = far[k];
        uint32_t odd = sw_part_odd(last_near ^ last_far);
        const uint32_t a = element_of(b, NEAR, last_near & SW_PART_NUMBER, &n);
        const uint32_t c = element_of(b, FAR, last_far & SW_PART_NUMBER, &n);
        const uint32_t p = sw_root_of(b->links, a, &odd), q = sw_root_of(b->links, c, &odd);
        if (p == q) {
            b->wraps |= odd;
            continue;
        }
        b->links[p > q ? p : q] = (p > q ? q : p) << 2 | odd;
    }
    return n;
}

bool sw_bridges_find(struct sw_bridges *b, const uint32_t *near, const uint32_t *far, size_t count,
                     size_t n_near, size_t n_far, struct sw_list *near_list,
                     struct sw_list *far_list) {
    struct sw_list *lists[2] = {near_list, far_list};
    if (!reserve_of(b, NEAR, n_near) || !reserve_of(b, FAR, n_far) || !allocate(b, 2 * count) ||
        !make_room(near_list, count) || !make_room(far_list, count))
        return false;
    b->wraps = 0;
    const uint32_t n = join_bonds(b, near, far, count);
    uint32_t bridges = 0, odd = 0, at[2] = {(uint32_t)near_list->n, (uint32_t)far_list->n};
    for (uint32_t e = 0; e < n; e++) {
        const uint32_t root = sw_root_of(b->links, e, &odd);
        b->numbers[e] = root == e ? bridges++ : b->numbers[root];
        if (root == e)
            b->firsts[2 * b->numbers[e]] = b->firsts[2 * b->numbers[e] + 1] = 0;
        b->firsts[2 * b->numbers[e] + (b->parts[e] >> 31)]++;
    }
    for (uint32_t k = 0; k < 2 * bridges; k++) { /* numbers become places */
        const uint32_t items = b->firsts[k];
        b->firsts[k] = at[k & 1];
        at[k & 1] += items;
    }
    for (uint32_t e = 0; e < n; e++) {
        const uint32_t side = b->parts[e] >> 31, part = b->parts[e] & ~FAR_BIT;
        odd = 0;
        sw_root_of(b->links, e, &odd);
        lists[side]->items[b->firsts[2 * b->numbers[e] + side]++] = part | odd << SW_PART_BITS;
        b->of[side][part] = SW_NO_PART;
    }
    for (uint32_t k = 0; k < 2 * bridges; k++)
        lists[k & 1]->items[b->firsts[k] - 1] |= SW_BRIDGE_END;
    near_list->n = at[NEAR];
    far_list->n = at[FAR];
    return true;
}
