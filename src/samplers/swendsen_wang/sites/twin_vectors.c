/* The twin's spins that are unit vectors: parts along the mirror, flips, sums, in the order of
 * sites. The arithmetic of a spin is that of cl/swendsen_wang/sites_vectors.h compiled as C. */
#include "base/portable.h"
#include "samplers/swendsen_wang/sites/twin_lattice.h"

static ergo_vector vector_at(const struct sw_vectors *v, size_t i) {
    const float *s = v->spins;
    const size_t n = v->shape->sites;
    return ergo_vector_of(s[i], s[i + n], s[i + 2 * n]);
}

static void put_vector(const struct sw_vectors *v, size_t i, ergo_vector s) {
    float *to = v->spins;
    const size_t n = v->shape->sites;
    to[i] = s.x;
    to[i + n] = s.y;
    to[i + 2 * n] = s.z;
}

static uint32_t angle_at(const struct sw_vectors *v, size_t i) {
    return v->shape->model == SW_MODEL_XY
               ? ((const uint32_t *)v->spins)[i]
               : vector_direction(((const uint8_t *)v->spins)[i], v->shape->q);
}

static struct sw_mirror mirror_of(const struct sw_vectors *v) {
    return sw_mirror_of(v->member, v->step, v->shape->model == SW_MODEL_CLOCK ? v->shape->q : 0);
}

void sw_vectors_start(const struct sw_vectors *v, uint32_t begin, uint32_t end, bool random) {
    for (uint32_t i = begin; i < end; i++) {
        const struct ergo_words r = ergo_philox_words(i, 0, 0, ERGO_DRAW(SW_PURPOSE_START, 0),
                                                      v->member->key0, v->member->key1);
        if (v->shape->model == SW_MODEL_HEISENBERG)
            put_vector(v, i, random ? vector_start(r.x, r.y) : ergo_vector_of(0, 0, 1));
        else if (v->shape->model == SW_MODEL_XY)
            ((uint32_t *)v->spins)[i] = random ? r.x : 0;
        else
            ((uint8_t *)v->spins)[i] = random ? (uint8_t)sw_one_of(v->shape->q, r.x, r.y) : 0;
    }
}

ERGO_WITH_FMA void sw_vectors_parts(const struct sw_vectors *v, uint32_t begin, uint32_t end,
                                    float *parts) {
    const struct sw_mirror mirror = mirror_of(v);
    for (uint32_t i = begin; i < end; i++)
        parts[i] = v->shape->model == SW_MODEL_HEISENBERG
                       ? ergo_dot(vector_at(v, i), mirror.direction)
                   : v->shape->model == SW_MODEL_XY
                       ? sw_part_angle(angle_at(v, i), mirror.angle)
                       : sw_part_clock(((const uint8_t *)v->spins)[i], mirror.angle, v->shape->q);
}

ERGO_WITH_FMA void sw_vectors_flip(const struct sw_vectors *v, uint32_t begin, uint32_t end,
                                   const uint32_t *labels) {
    const struct sw_mirror mirror = mirror_of(v);
    uint8_t *bytes = v->spins;
    for (uint32_t i = begin; i < end; i++) {
        if (labels && !sw_site_flips(v->member, labels[i], v->step))
            continue;
        if (v->shape->model == SW_MODEL_HEISENBERG)
            put_vector(v, i, sw_mirrored_vector(vector_at(v, i), mirror.direction));
        else if (v->shape->model == SW_MODEL_XY)
            ((uint32_t *)v->spins)[i] = sw_mirrored_angle(angle_at(v, i), mirror.angle);
        else
            bytes[i] = (uint8_t)sw_mirrored_clock(bytes[i], mirror.angle, v->shape->q);
    }
}

static void add_component(int64_t *sums, size_t component, float s, uint32_t wave) {
    sums[SW_NUMBER_TOTAL + component] += vector_fixed(s);
    sums[SW_NUMBER_WAVES + 2 * component] += vector_fixed(s * ergo_cos(wave));
    sums[SW_NUMBER_WAVES + 2 * component + 1] += vector_fixed(s * ergo_sin(wave));
}

/* turns: the other end counts as its opposite. */
static void add_bond(const struct sw_vectors *v, uint32_t i, uint32_t next, uint32_t direction,
                     bool turns, int64_t *sums) {
    int64_t *currents = sums + SW_NUMBER_CURRENTS + 3 * direction;
    const float j = v->weak ? sw_site_coupling(v->member, v->weak[i], direction) : 1;
    if (v->shape->model != SW_MODEL_HEISENBERG) {
        const uint32_t turn = angle_at(v, next) + (turns ? 0x80000000u : 0u) - angle_at(v, i);
        sums[SW_NUMBER_BONDS] += vector_fixed(j * ergo_cos(turn));
        currents[0] += vector_fixed(j * ergo_sin(turn));
        return;
    }
    const ergo_vector s = vector_at(v, i), other = vector_at(v, next);
    const ergo_vector t = turns ? ergo_vector_of(0 - other.x, 0 - other.y, 0 - other.z) : other;
    sums[SW_NUMBER_BONDS] += vector_fixed(j * ergo_dot(s, t));
    currents[0] += vector_coupled(j, s.y, s.z, t.y, t.z);
    currents[1] += vector_coupled(j, s.z, s.x, t.z, t.x);
    currents[2] += vector_coupled(j, s.x, s.y, t.x, t.y);
}

ERGO_WITH_FMA void sw_vectors_sum(const struct sw_vectors *v, uint32_t begin, uint32_t end,
                                  int64_t *sums) {
    const struct sw_sites_shape *h = v->shape;
    const bool flat = h->lz == 1, space = h->model == SW_MODEL_HEISENBERG;
    lattice = *h;
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t x = i % h->lx, y = i / h->lx % h->ly, z = i / h->lx / h->ly;
        const uint32_t wave = flat ? sw_wave(y, h->ly) : sw_wave(z, h->lz);
        uint32_t around;
        if (space) {
            const ergo_vector s = vector_at(v, i);
            add_component(sums, 0, s.x, wave);
            add_component(sums, 1, s.y, wave);
            add_component(sums, 2, s.z, wave);
        } else {
            add_component(sums, 0, ergo_cos(angle_at(v, i)), wave);
            add_component(sums, 1, ergo_sin(angle_at(v, i)), wave);
        }
        if (!space && flat && h->lattice == SW_LATTICE_SQUARE) {
            const uint32_t x1 = (x + 1) % h->lx, y1 = (y + 1) % h->ly;
            sums[SW_NUMBER_VORTICES] +=
                vector_vortex(angle_at(v, i), angle_at(v, x1 + h->lx * y),
                              angle_at(v, x1 + h->lx * y1), angle_at(v, x + h->lx * y1));
        }
        for (uint32_t d = 0; d < h->directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const uint32_t next = sw_site_next(x, y, z, d, &around);
                add_bond(v, i, next, d, sw_site_turns(around), sums);
            }
    }
}
