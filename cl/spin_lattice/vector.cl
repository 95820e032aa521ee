/* Spins that are unit vectors: entry points. vector_sites.h has the options and the layout. */
#include "common/sum64.h"
#include "spin_lattice/vector_sites.h"

/* Number of the site at (x, y, z) in the lattice. */
ERGO_INLINE uint vector_site(__global const struct vector_member *m, uint x, uint y, uint z) {
    return x + VECTOR_LX * (VECTOR_IN_LATTICE(y, 2, m->first) +
                            VECTOR_LY * VECTOR_IN_LATTICE(z, 3, m->first));
}

/* Dimension 0: sites, in natural order; 1: members. */
__kernel void vector_start_all(__global vector_word *spins,
                               __global const struct vector_member *members, uint random) {
    const uint item = (uint)get_global_id(0), member = (uint)get_global_id(1);
    if (item >= VECTOR_SITES)
        return;
    const uint row = item / VECTOR_LX, x = item - row * VECTOR_LX;
    const uint z = row / VECTOR_LY, y = row - z * VECTOR_LY;
    __global const struct vector_member *m = members + member;
    const struct ergo_words w = ergo_philox_words(
        vector_site(m, x, y, z), 0u, 0u, ERGO_DRAW(VECTOR_PURPOSE_START, 0), m->key0, m->key1);
#if VECTOR_SPACE
    const vector_spin s = random ? vector_start(w.x, w.y) : ergo_vector_of(0.0f, 0.0f, 1.0f);
#else
    const vector_spin s = random ? vector_start_angle(w.x, VECTOR_Q) : 0u;
#endif
    vector_store(spins + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES, vector_word_of(x, y, z),
                 s);
}

/*
 * A work-item has the sites number i of the colour's rows in `depth` layers, of those from
 * `from` to `to` - 1. Dimensions: sites of the colour in a row; then, in three dimensions, y and
 * columns, in two columns and 1; of the last one, so many times members.
 */
#define VECTOR_COLUMNS(from, to, depth) (((to) - (from) + (depth)-1u) / (depth))

/* What a work-item begins with: its member, row and layers. */
#define VECTOR_BEGIN(spins, members, colour, from, to, depth)                                      \
    const uint i = (uint)get_global_id(0), across = (uint)get_global_id(1);                        \
    const uint last = (uint)get_global_id(2), columns = VECTOR_COLUMNS(from, to, depth);           \
    const uint member = VECTOR_D == 3 ? last / columns : last;                                     \
    const uint number = VECTOR_D == 3 ? last - member * columns : VECTOR_D == 2 ? across : 0u;     \
    if (i >= VECTOR_ROW || across >= (VECTOR_D == 3 ? VECTOR_LY : columns))                        \
        return;                                                                                    \
    __global const struct vector_member *m = (members) + member;                                   \
    __global vector_word *own = (spins) + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES;        \
    VECTOR_OF_MEMBER(member)                                                                       \
    const uint begin = (from) + depth * number, end = min(begin + depth, to);                      \
    ergo_vector column[3];                                                                         \
    vector_column(own, i, across, begin, colour, column)

/* The site in a layer, and its local field. */
#define VECTOR_SITE(layer, colour)                                                                 \
    const uint y = VECTOR_D == 2 ? (layer) : across, z = VECTOR_D == 3 ? (layer) : 0u;             \
    const uint x = vector_x(i, y, z, colour), at = vector_place(x, y, z);                          \
    const uint word = vector_word_of(x, y, z);                                                     \
    const uint site = vector_site(m, x, y, z);                                                     \
    vector_column_on(own, i, across, layer, colour, column);                                       \
    const vector_spin old = vector_load(own, word);                                                \
    const ergo_vector h =                                                                          \
        vector_local(m, vector_around(own, x, y, z, column VECTOR_PASS), site, at VECTOR_PASS)

/* Let `terms` be those of the member. */
#if VECTOR_STORED
#define VECTOR_OF_MEMBER(member) terms += (ulong)(member) * (VECTOR_PLANES * VECTOR_SITES);
#else
#define VECTOR_OF_MEMBER(member)
#endif

/* The random field of a site, in its member's unit. */
ERGO_INLINE ergo_vector vector_field_at(__global const struct vector_member *m, uint site,
                                        uint at VECTOR_TERMS) {
#if VECTOR_RANDOM == 2
    const uint from = VECTOR_BOND_PLANES * VECTOR_SITES + at;
    return ergo_vector_of(terms[from], terms[from + VECTOR_SITES],
                          VECTOR_SPACE ? terms[from + VECTOR_SPACE * 2u * VECTOR_SITES] : 0.0f);
#else
    return vector_random(site, m->field0, m->field1, VECTOR_SPACE);
#endif
}

/* The local field of a site. */
ERGO_INLINE ergo_vector vector_local(__global const struct vector_member *m, ergo_vector sum,
                                     uint site, uint at VECTOR_TERMS) {
    ergo_vector h = ergo_vector_of(vector_field(sum.x, m->coupling, VECTOR_SPACE ? 0.0f : m->field),
                                   vector_field(sum.y, m->coupling, 0.0f),
                                   vector_field(sum.z, m->coupling, m->field));
#if VECTOR_RANDOM
    const ergo_vector n = vector_field_at(m, site, at VECTOR_PASS);
    h.x = ERGO_FMA(m->random, n.x, h.x);
    h.y = ERGO_FMA(m->random, n.y, h.y);
    h.z = ERGO_FMA(m->random, n.z, h.z);
#endif
    return h;
}

/* Metropolis, or heat bath (VECTOR_HEAT), of all sites of a colour in some layers. */
__kernel void vector_sweep(__global vector_word *spins,
                           __global const struct vector_member *members, uint colour, uint from,
                           uint to, uint depth, ulong step VECTOR_TERMS) {
    VECTOR_BEGIN(spins, members, colour, from, to, depth);
    for (uint layer = begin; layer < end; layer++) {
        VECTOR_SITE(layer, colour);
        const struct ergo_words w =
            ergo_philox_words(site, (uint)step, (uint)(step >> 32),
                              ERGO_DRAW(VECTOR_PURPOSE_SWEEP, 0), m->key0, m->key1);
#if !VECTOR_SPACE
        const vector_spin new = vector_turn(old, h.x, h.y, m->beta, m->width, VECTOR_Q, w);
#elif VECTOR_HEAT
        const vector_spin new = vector_heat(h, m->beta, w);
#else
        const vector_spin new = vector_tilt(old, h, m->beta, m->step, m->anisotropy, w);
#endif
        vector_store(own, word, new);
    }
}

/* Over-relaxation of all sites of a colour in some layers. */
__kernel void vector_relax(__global vector_word *spins,
                           __global const struct vector_member *members, uint colour, uint from,
                           uint to, uint depth VECTOR_TERMS) {
    VECTOR_BEGIN(spins, members, colour, from, to, depth);
    for (uint layer = begin; layer < end; layer++) {
        VECTOR_SITE(layer, colour);
#if VECTOR_SPACE
        vector_store(own, word, ergo_unit_reflect(old, h));
#else
        vector_store(own, word, vector_relax_angle(old, h.x, h.y));
#endif
    }
}

#define VECTOR_NUMBERS (VECTOR_SPACE ? VECTOR_NUMBERS_SPACE : VECTOR_NUMBERS_PLANE)

/* What the site at (x, y, z) and its bonds ahead add to a sample. */
ERGO_INLINE void vector_count(__global const vector_word *own,
                              __global const struct vector_member *m, uint x, uint y, uint z,
                              long *sum VECTOR_TERMS) {
    const vector_spin s = vector_load(own, vector_word_of(x, y, z));
#if VECTOR_SPACE
    const ergo_vector v = s;
    sum[VECTOR_TOTAL + 2] += vector_fixed(v.z);
    sum[VECTOR_SQUARES] += vector_fixed(v.z * v.z);
#else
    const ergo_vector v = ergo_vector_of(ergo_cos(s), ergo_sin(s), 0.0f);
#if VECTOR_D == 2
    const uint x1 = vector_next(x, VECTOR_LX), y1 = vector_next(y, VECTOR_LY);
    const uint right = own[vector_word_of(x1, y, z)], up = own[vector_word_of(x, y1, z)],
               across = own[vector_word_of(x1, y1, z)];
#if VECTOR_TRIANGULAR /* one triangle points up, one down */
    sum[VECTOR_SQUARES] += vector_chirality(s, right, across);
    sum[VECTOR_SQUARES] -= vector_chirality(s, across, up);
#else
    sum[VECTOR_SQUARES] += vector_vortex(s, right, across, up);
#endif
#endif
#endif
    sum[VECTOR_TOTAL] += vector_fixed(v.x);
    sum[VECTOR_TOTAL + 1] += vector_fixed(v.y);
#if VECTOR_RANDOM
    sum[VECTOR_ALONG] += vector_fixed(ergo_dot(
        v, vector_field_at(m, vector_site(m, x, y, z), vector_place(x, y, z) VECTOR_PASS)));
#endif
    ERGO_UNROLL
    for (uint k = 0; k < VECTOR_DIRECTIONS; k++) {
        const vector_spin t = vector_load(own, vector_ahead(k, x, y, z));
#if VECTOR_COUPLED
        const float j = terms[k * VECTOR_SITES + vector_place(x, y, z)];
#if VECTOR_SPACE
        sum[VECTOR_BONDS] += vector_fixed(j * ergo_dot(s, t));
        sum[VECTOR_CURRENTS + 3u * k] += vector_coupled(j, s.y, s.z, t.y, t.z);
        sum[VECTOR_CURRENTS + 3u * k + 1u] += vector_coupled(j, s.z, s.x, t.z, t.x);
        sum[VECTOR_CURRENTS + 3u * k + 2u] += vector_coupled(j, s.x, s.y, t.x, t.y);
#else
        sum[VECTOR_BONDS] += vector_fixed(j * ergo_cos(t - s));
        sum[VECTOR_CURRENTS + k] += vector_fixed(j * ergo_sin(t - s));
#endif
#elif VECTOR_SPACE
        sum[VECTOR_BONDS] += vector_fixed(ergo_dot(s, t));
        sum[VECTOR_CURRENTS + 3u * k] += vector_cross(s.y, s.z, t.y, t.z);
        sum[VECTOR_CURRENTS + 3u * k + 1u] += vector_cross(s.z, s.x, t.z, t.x);
        sum[VECTOR_CURRENTS + 3u * k + 2u] += vector_cross(s.x, s.y, t.x, t.y);
#else
        sum[VECTOR_BONDS] += vector_fixed(ergo_cos(t - s));
        sum[VECTOR_CURRENTS + k] += vector_fixed(ergo_sin(t - s));
#endif
    }
}

/* A work-item's sites of layers `from` to `to` - 1: neighbours are read by work-items in step on
 * GPUs, and by a core one after the other, which would else fetch a line of memory for each. */
#if VECTOR_RUN > 1
#define VECTOR_EACH_SITE(site, stride)                                                             \
    for (uint first = VECTOR_LAYER * from + VECTOR_RUN * (uint)get_global_id(0);                   \
         first < VECTOR_LAYER * to; first += VECTOR_RUN * (stride))                                \
        for (uint site = first; site < min(first + VECTOR_RUN, VECTOR_LAYER * to); site++)
#else
#define VECTOR_EACH_SITE(site, stride)                                                             \
    for (uint site = VECTOR_LAYER * from + (uint)get_global_id(0); site < VECTOR_LAYER * to;       \
         site += (stride))
#endif

/* Add a sample's sums to `counts`. Dimension 0: any number of work-items; 1: members. */
__kernel void vector_measure(__global const vector_word *spins,
                             __global const struct vector_member *members, __global uint *counts,
                             uint sample, uint from, uint to, __local uint *part VECTOR_TERMS) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint member = (uint)get_global_id(1), stride = (uint)get_global_size(0);
    __global const vector_word *own = spins + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES;
    long sum[VECTOR_NUMBERS];
    VECTOR_OF_MEMBER(member)
    for (uint k = item; k < 2u * VECTOR_NUMBERS; k += size)
        part[k] = 0u;
    ERGO_UNROLL
    for (uint k = 0; k < VECTOR_NUMBERS; k++)
        sum[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    VECTOR_EACH_SITE(site, stride) {
        const uint row = site / VECTOR_LX, z = row / VECTOR_LY;
        vector_count(own, members + member, site - row * VECTOR_LX, row - z * VECTOR_LY, z,
                     sum VECTOR_PASS);
    }
    ERGO_UNROLL
    for (uint k = 0; k < VECTOR_NUMBERS; k++)
        ERGO_ADD_LONG(part + 2u * k, (uint)sum[k], (uint)((ulong)sum[k] >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *into =
        counts + 2u * VECTOR_NUMBERS * ((ulong)sample * get_global_size(1) + member);
    for (uint k = item; k < VECTOR_NUMBERS; k += size)
        ERGO_ADD_LONG(into + 2u * k, part[2u * k], part[2u * k + 1u]);
}

/*
 * Add a wave's sums to `counts`: of s cos(k r) and s sin(k r). Dimension 0: any number of
 * work-items; 1: waves of a member, then members.
 */
__kernel void vector_waves(__global const vector_word *spins,
                           __global const struct vector_member *members, __global const uint *waves,
                           __global uint *counts, uint sample, uint n_waves, uint from, uint to,
                           __local uint *part) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint which = (uint)get_global_id(1), stride = (uint)get_global_size(0);
    const uint member = which / n_waves, wave = which - member * n_waves;
    const uint k[3] = {waves[3u * wave], waves[3u * wave + 1u], waves[3u * wave + 2u]};
    __global const vector_word *own = spins + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES;
    long sum[VECTOR_WAVE_NUMBERS] = {0, 0, 0, 0, 0, 0};
    for (uint i = item; i < 2u * VECTOR_WAVE_NUMBERS; i += size)
        part[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    VECTOR_EACH_SITE(site, stride) {
        const uint row = site / VECTOR_LX, x = site - row * VECTOR_LX;
        const uint z = row / VECTOR_LY, y = row - z * VECTOR_LY;
        const vector_spin s = vector_load(own, vector_word_of(x, y, z));
        const uint phase = vector_phase(k, x, VECTOR_IN_LATTICE(y, 2, members[member].first),
                                        VECTOR_IN_LATTICE(z, 3, members[member].first));
        const float c = ergo_cos(phase), d = ergo_sin(phase);
#if VECTOR_SPACE
        const ergo_vector v = s;
        sum[4] += vector_fixed(v.z * c);
        sum[5] += vector_fixed(v.z * d);
#else
        const ergo_vector v = ergo_vector_of(ergo_cos(s), ergo_sin(s), 0.0f);
#endif
        sum[0] += vector_fixed(v.x * c);
        sum[1] += vector_fixed(v.x * d);
        sum[2] += vector_fixed(v.y * c);
        sum[3] += vector_fixed(v.y * d);
    }
    ERGO_UNROLL
    for (uint i = 0; i < VECTOR_WAVE_NUMBERS; i++)
        ERGO_ADD_LONG(part + 2u * i, (uint)sum[i], (uint)((ulong)sum[i] >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *into =
        counts + 2u * VECTOR_WAVE_NUMBERS * ((ulong)sample * get_global_size(1) + which);
    for (uint i = item; i < VECTOR_WAVE_NUMBERS; i += size)
        ERGO_ADD_LONG(into + 2u * i, part[2u * i], part[2u * i + 1u]);
}
