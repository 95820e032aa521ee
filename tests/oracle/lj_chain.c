#include "oracle/lj_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/unit.h"
#include "lj_gcmc/core.h"

static const uint32_t NO_PARTICLE = UINT32_MAX;

/* ---- pairs ----------------------------------------------------------------------------------- */

float lj_oracle_distance2(const struct lj_member *m, const uint32_t a[3], const uint32_t b[3]) {
    float d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - b[k]) * m->scale[k];
    return fmaf(d[2], d[2], fmaf(d[1], d[1], d[0] * d[0]));
}

/* (sigma/r)^k of a Mie potential: the square of that of half of k, in whole steps of (sigma/r)^2,
 * and with an odd k once more sigma/r. */
static float power(float r2, int k) {
    if (k % 2)
        return power(r2, k - 1) * ergo_rsqrt(r2);
    if (k == 0)
        return 1;
    const float half = power(r2, k / 4 * 2);
    return k % 4 ? half * half * ergo_inverse(r2) : half * half;
}

/* u of a pair from a table, and r f in units of 32. */
static int64_t tabulated(const float *table, float r2, int64_t *virial) {
    const float beyond = r2 - table[0];
    const int cell = (int)fminf(beyond * table[1], LJ_PAIR_CELLS - 1);
    const float x = fmaf(beyond, table[1], -(float)cell);
    const float *const c = table + 4 * (size_t)(1 + cell);
    const float slope = fmaf(fmaf(3 * c[3], x, 2 * c[2]), x, c[1]);
    *virial = (int64_t)(-0x1p26f * (slope * table[1] * r2));
    return (int64_t)(fmaf(fmaf(fmaf(c[3], x, c[2]), x, c[1]), x, c[0]) * 0x1p30f);
}

/* A pair within the cutoff. (sigma/r)^12 and (sigma/r)^6 are truncated to multiples of 2^-30. */
void lj_oracle_pair(const struct lj_member *m, float r2, int64_t sign, struct lj_oracle_sums *to) {
    if (r2 < m->core2) {
        to->core = true;
        return;
    }
    const float inverse = ergo_inverse(r2), sixth = inverse * inverse * inverse;
    int64_t repulsion = (int64_t)(sixth * sixth * 0x1p30f);
    int64_t attraction = (int64_t)(sixth * 0x1p30f), virial = 2 * repulsion - attraction;
    if (m->exponents) {
        const int n = m->exponents & 0xff, k = (int)(m->exponents >> 8);
        repulsion = (int64_t)(power(r2, n) * 0x1p30f);
        attraction = (int64_t)(power(r2, k) * 0x1p30f);
        virial = (n * repulsion - k * attraction) >> 5;
    }
    if (m->tables) {
        attraction = 0;
        repulsion = tabulated((const float *)(uintptr_t)m->tables, r2, &virial);
    }
    to->energy += sign * (repulsion - attraction - m->shift);
    to->virial += sign * virial;
    if (r2 >= m->contact2[0]) /* the outer shell */
        to->contacts += sign;
    else if (r2 >= m->contact2[1])
        to->contacts += sign * ((int64_t)1 << 32);
}

/* The same of two species; *inside: they are within their cutoff. */
static void mixed_pair(const struct lj_rule *rule, float r2, int64_t sign,
                       struct lj_oracle_sums *to) {
    if (r2 >= rule->cutoff2)
        return;
    if (r2 < rule->core2) {
        to->core = true;
        return;
    }
    const float inverse = ergo_inverse(r2 * rule->inverse), sixth = inverse * inverse * inverse;
    const int64_t repulsion = (int64_t)(sixth * sixth * rule->strength);
    const int64_t attraction = (int64_t)(sixth * rule->strength);
    to->energy += sign * (repulsion - attraction - rule->shift);
    to->virial += sign * (2 * repulsion - attraction);
    if (r2 >= rule->contact2[1])
        to->contacts += sign * (r2 >= rule->contact2[0] ? rule->outer : rule->inner);
}

static uint32_t species_of(const uint32_t at[3]) {
    return at[0] % 4;
}

static const struct lj_rule *rule_of(const struct lj_oracle *t, const uint32_t a[3],
                                     const uint32_t b[3]) {
    return &t->mixture.pairs[species_of(a) * LJ_MOST_SPECIES + species_of(b)];
}

static size_t cell_of(const struct lj_oracle *t, const uint32_t at[3]) {
    size_t c = 0;
    for (int k = 2; k >= 0; k--)
        c = c * t->grid[k] + (size_t)((uint64_t)at[k] * t->grid[k] >> 32);
    return c;
}

void lj_oracle_add_pairs(const struct lj_oracle *t, const uint32_t at[3], uint32_t skip,
                         int64_t sign, struct lj_oracle_sums *to) {
    uint32_t c[3];
    /* the cell before, the particle's cell, and the next; each once if there are fewer than 3 */
    for (int k = 0; k < 3; k++)
        c[k] = (uint32_t)((uint64_t)at[k] * t->grid[k] >> 32) + t->grid[k] - (t->grid[k] > 2);
    const uint32_t *const g = t->grid;
    for (uint32_t z = 0; z < g[2] && z < 3; z++)
        for (uint32_t y = 0; y < g[1] && y < 3; y++)
            for (uint32_t x = 0; x < g[0] && x < 3; x++) {
                const size_t cell =
                    ((size_t)((c[2] + z) % g[2]) * g[1] + (c[1] + y) % g[1]) * g[0] +
                    (c[0] + x) % g[0];
                for (uint32_t j = t->first[cell]; j != NO_PARTICLE; j = t->next[j]) {
                    const float r2 = lj_oracle_distance2(&t->m, t->p[j], at);
                    if (j != skip && t->species)
                        mixed_pair(rule_of(t, t->p[j], at), r2, sign, to);
                    else if (j != skip && r2 < t->m.cutoff2)
                        lj_oracle_pair(&t->m, r2, sign, to);
                }
            }
}

void lj_oracle_add_field(const struct lj_oracle *t, const uint32_t at[3], int64_t count,
                         struct lj_oracle_sums *to) {
    int64_t energy;
    if (lj_field_at(&t->m, t->tables, t->frozen, at, &energy))
        to->energy += count * energy;
    else
        to->core = true;
}

/* ---- particles ------------------------------------------------------------------------------- */

static void enter(struct lj_oracle *t, uint32_t i) {
    uint32_t *first = &t->first[cell_of(t, t->p[i])];
    t->next[i] = *first;
    *first = i;
}

static void leave(struct lj_oracle *t, uint32_t i) {
    uint32_t *at = &t->first[cell_of(t, t->p[i])];
    while (*at != i)
        at = &t->next[*at];
    *at = t->next[i];
}

static void move_to(struct lj_oracle *t, uint32_t i, const uint32_t to[3]) {
    leave(t, i);
    memcpy(t->p[i], to, sizeof t->p[i]);
    enter(t, i);
}

/* Sides of cells are at least the cutoff, in the box that there is; without pairs a cell is only
 * where a particle is found again. Particles are entered anew where the grid changes. */
static void fit_grid(struct lj_oracle *t) {
    bool same = true;
    size_t cells = 1;
    for (int k = 0; k < 3; k++) {
        const double side = (double)t->m.scale[k] * 0x1p32, cutoff = sqrt((double)t->m.cutoff2);
        const double wide = t->m.ideal ? t->most : floor(side / cutoff / (1 + 1e-6));
        const uint32_t n = (uint32_t)fmin(t->most, fmax(1, wide));
        same = same && t->grid[k] == n;
        t->grid[k] = n;
        cells *= n;
    }
    if (same)
        return;
    memset(t->first, 0xff, cells * sizeof *t->first);
    for (uint32_t i = 0; i < t->n; i++)
        enter(t, i);
}

/* struct lj_counts has no deletions tried; they are the remaining ones of the `moves` in the
 * window. */
static void set_counts(struct lj_oracle *t, int window, const struct lj_counts *c, uint32_t moves) {
    t->tried[window][LJ_DISPLACEMENT] = c->tried & 0xffff;
    t->tried[window][LJ_INSERTION] = c->tried >> 16;
    t->tried[window][LJ_DELETION] = moves - (c->tried & 0xffff) - (c->tried >> 16);
    t->accepted[window][LJ_DISPLACEMENT] = c->accepted & 0xffff;
    t->accepted[window][LJ_INSERTION] = c->accepted >> 16;
    t->accepted[window][LJ_DELETION] = c->accepted_deletion;
}

void lj_oracle_set_box(struct lj_oracle *t, const struct lj_chain *chain) {
    for (int k = 0; k < 3; k++)
        t->m.scale[k] = ergo_as_float(chain->scale[k]);
    t->m.tail = t->tail * ergo_as_float(chain->thinner);
    fit_grid(t);
}

bool lj_oracle_init(struct lj_oracle *t, const struct ergo_point *point, size_t box,
                    const struct lj_chain *chain, const uint32_t *words, uint32_t more,
                    const struct lj_tables *tables) {
    const struct lj_system s = lj_box_system(point, box);
    memset(t, 0, sizeof *t);
    t->boxes = lj_boxes_of(point);
    t->tables = tables;
    lj_member_fill(point, box, tables->pair, &t->m);
    t->m.tables = (uintptr_t)(tables->pair ? tables->words : NULL);
    if (tables->atoms)
        lj_frozen_of(&s, tables->atoms, t->frozen);
    t->species = s.species.n;
    if (t->species)
        lj_mixture_of(point, &s, &t->m, &t->mixture);
    lj_species_count(&s, words, chain->particles, t->numbers);
    t->n = chain->particles;
    t->capacity = t->n + more;
    t->step = chain->step;
    t->step_size = chain->step_size;
    t->energy = chain->energy;
    t->virial = chain->virial;
    t->contacts = chain->contacts;
    t->box = *chain;
    t->tail = t->m.tail;
    if (lj_has_volume(point)) {
        t->rules = lj_rules_of(point, box);
        t->transfers = t->boxes == 2 ? (uint32_t)ergo_point_int(point, "/system/transfers") : 0;
        t->volume_every = (uint64_t)ergo_point_int(point, "/system/volume_every");
    }
    set_counts(t, 0, &chain->now, (uint32_t)(chain->step % LJ_WINDOW));
    set_counts(t, 1, &chain->last, LJ_WINDOW);
    t->p = malloc(((size_t)t->capacity + 1) * sizeof *t->p);
    t->next = malloc(((size_t)t->capacity + 1) * sizeof *t->next);
    t->most = (uint32_t)fmax(3, ceil(cbrt(t->n + 64.0))); /* few particles need few cells */
    t->first = malloc((size_t)t->most * t->most * t->most * sizeof *t->first);
    if (!t->p || !t->next || !t->first) {
        lj_oracle_free(t);
        return false;
    }
    memcpy(t->p, words, t->n * sizeof *t->p);
    if (t->volume_every)
        lj_oracle_set_box(t, chain);
    else
        fit_grid(t);
    if (s.period && !lj_oracle_board_init(t, point)) {
        lj_oracle_free(t);
        return false;
    }
    return true;
}

void lj_oracle_free(struct lj_oracle *t) {
    if (t->board)
        lj_oracle_board_free(t);
    free(t->p);
    free(t->first);
    free(t->next);
    memset(t, 0, sizeof *t);
}

static struct lj_counts counts_of(const struct lj_oracle *t, int window) {
    const uint32_t *const a = t->tried[window], *const b = t->accepted[window];
    return (struct lj_counts){a[LJ_DISPLACEMENT] | a[LJ_INSERTION] << 16,
                              b[LJ_DISPLACEMENT] | b[LJ_INSERTION] << 16, b[LJ_DELETION]};
}

struct lj_chain lj_oracle_chain(const struct lj_oracle *t) {
    struct lj_chain c = {.step = t->step,
                         .energy = t->energy,
                         .virial = t->virial,
                         .contacts = t->contacts,
                         .size = t->box.size,
                         .volumes = t->box.volumes,
                         .moved = t->box.moved,
                         .thinner = t->box.thinner,
                         .list = t->box.list,
                         .particles = t->n,
                         .step_size = t->step_size,
                         .status = LJ_RUNNING,
                         .now = counts_of(t, 0),
                         .last = counts_of(t, 1)};
    memcpy(c.scale, t->box.scale, sizeof c.scale);
    memcpy(c.numbers, t->numbers, sizeof c.numbers);
    if (t->board) {
        c.now = (struct lj_counts){t->tried[0][0], t->tried[0][1], t->tried[0][2]};
        c.last = (struct lj_counts){t->accepted[0][0], t->accepted[0][1], t->accepted[0][2]};
    }
    return c;
}

struct lj_sample lj_oracle_sample(const struct lj_oracle *t) {
    const struct lj_chain c = lj_oracle_chain(t);
    struct lj_sample sample = {.energy = c.energy,
                               .virial = c.virial,
                               .contacts = c.contacts,
                               .size = c.size,
                               .moved = c.moved,
                               .particles = c.particles,
                               .now = c.now,
                               .last = c.last};
    memcpy(sample.numbers, c.numbers, sizeof sample.numbers);
    return sample;
}

/* ---- moves ----------------------------------------------------------------------------------- */

static uint32_t upper(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 32);
}

struct lj_oracle_move lj_oracle_move_of(const struct lj_member *m, uint32_t n, struct ergo_words a,
                                        struct ergo_words b) {
    const uint32_t share = a.x >> 1;
    struct lj_oracle_move move = {.kind = LJ_DELETION, .word = a.w, .to = {b.x, b.y, b.z}};
    if (share < m->displacement)
        move.kind = LJ_DISPLACEMENT;
    else if (share < m->insertion)
        move.kind = LJ_INSERTION;
    move.impossible = n == 0 && move.kind != LJ_INSERTION;
    /* index = n f, where f is a fraction of 64 bits: a.y above a.z */
    move.index = (uint32_t)(((uint64_t)a.y * n + upper(a.z, n)) >> 32);
    return move;
}

/* `to` enters as drawn and becomes the new position, at most step_size from `from` along each
 * axis. The word's upper bit is the sign. */
void lj_oracle_shift(const struct lj_member *m, uint32_t step_size, const uint32_t from[3],
                     uint32_t to[3]) {
    for (int k = 0; k < 3; k++) {
        const uint32_t size = m->ratio[k] ? upper(step_size, m->ratio[k]) : step_size;
        const uint32_t by = upper(2 * (to[k] & 0x7fffffff) + 1, size);
        to[k] = to[k] & 0x80000000 ? from[k] - by : from[k] + by;
    }
}

bool lj_oracle_accepts(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                       int64_t change) {
    /* U_tail is proportional to N^2: (N + 1)^2 - N^2 and (N - 1)^2 - N^2 */
    float exponent = -(m->beta4 * (float)change);
    if (kind == LJ_INSERTION)
        exponent = fmaf(-m->tail, (float)(2 * n + 1), exponent);
    else if (kind == LJ_DELETION)
        exponent = fmaf(m->tail, (float)(2 * n - 1), exponent);
    return lj_oracle_decides(m, kind, word, n, exponent);
}

bool lj_oracle_decides(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                       float exponent) {
    const float u = ((float)word + 0.5f) * 0x1p-32f;
    if (exponent < -80)
        return false;
    const float weight = ergo_exp(fminf(exponent, 60));
    switch (kind) {
    case LJ_INSERTION:
        return ((float)n + 1) * u <= weight * m->zv;
    case LJ_DELETION:
        return m->zv * u <= weight * (float)n;
    default:
        return u <= weight;
    }
}

uint32_t lj_oracle_tuned(const struct lj_oracle *t) {
    const uint32_t by = t->step_size / 16;
    if (2 * t->accepted[0][LJ_DISPLACEMENT] > t->tried[0][LJ_DISPLACEMENT])
        return t->step_size > 0x70000000 ? 0x78000000 : t->step_size + by;
    return t->step_size > 0x1000 ? t->step_size - by : t->step_size;
}

/* The change of the sums by a trial move; core: it is rejected in any case. */
static struct lj_oracle_sums try_move(const struct lj_oracle *t,
                                      const struct lj_oracle_move *move) {
    struct lj_oracle_sums sums = {0};
    const bool out = move->kind != LJ_INSERTION;
    if (move->kind != LJ_DELETION)
        lj_oracle_add_field(t, move->to, 1, &sums);
    if (out)
        lj_oracle_add_field(t, t->p[move->index], -1, &sums);
    if (t->m.ideal)
        return sums;
    if (move->kind != LJ_DELETION)
        lj_oracle_add_pairs(t, move->to, out ? move->index : NO_PARTICLE, 1, &sums);
    if (out && !sums.core)
        lj_oracle_add_pairs(t, t->p[move->index], move->index, -1, &sums);
    return sums;
}

void lj_oracle_carry_out(struct lj_oracle *t, const struct lj_oracle_move *move) {
    if (t->species && move->kind != LJ_INSERTION)
        t->numbers[species_of(t->p[move->index])]--;
    if (t->species && move->kind != LJ_DELETION)
        t->numbers[species_of(move->to)]++;
    if (move->kind == LJ_DISPLACEMENT) {
        move_to(t, move->index, move->to);
    } else if (move->kind == LJ_INSERTION) {
        memcpy(t->p[t->n], move->to, sizeof t->p[0]);
        enter(t, t->n++);
    } else {
        const uint32_t last = --t->n;
        leave(t, last);
        if (move->index != last)
            move_to(t, move->index, t->p[last]);
    }
}

static struct ergo_words draw(const struct lj_oracle *t, uint32_t which) {
    return ergo_philox_words(t->m.box, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                             ERGO_DRAW(LJ_PURPOSE_MOVE, which), t->m.key0, t->m.key1);
}

/* (N + 1) ln(V'/V) - beta (U' - U), ln V in units of 2^-36. */
int64_t lj_oracle_volume_part(const struct lj_oracle *t, int64_t size, int64_t energy) {
    const float change = fminf(fmaxf((float)(energy - t->energy) * t->m.beta4, -0x1p20f), 0x1p20f);
    int64_t exponent = ((int64_t)t->n + 1) * (size - t->box.size) / 65536;
    exponent -= (int64_t)(change * 0x1p20f);
    if (t->rules.has_tail && t->n) {
        const int64_t gain =
            lj_volume_tail(&t->rules, t->n, size) - lj_volume_tail(&t->rules, t->n, t->box.size);
        exponent += t->rules.has_tail == 1 ? gain : -gain;
    }
    return exponent;
}

bool lj_oracle_volume_accepts(const struct lj_oracle *t, int64_t exponent) {
    return ergo_volume_accepts(exponent, lj_volume_words(&t->m, t->step, 1));
}

/* P V/T of a volume, in units of 2^-20. */
static int64_t work_of(const struct lj_oracle *t, int64_t size) {
    return (int64_t)ergo_volume_whole(ergo_volume_exp(t->rules.move.pressure + size), 20);
}

/* The volume move before this step: sums over all pairs in the trial's box. */
static void change_volume(struct lj_oracle *t) {
    struct lj_chain trial = t->box;
    const int64_t to = lj_volume_trial(&t->rules, &t->m, t->step, t->box.moved, t->box.size);
    const bool limited = to < t->rules.limits[0] || to > t->rules.limits[1];
    struct lj_oracle_sums sums = {.core = true};
    if (!limited) {
        lj_volume_set(&t->rules, to, &trial);
        lj_oracle_set_box(t, &trial);
        sums = lj_oracle_total(t);
    }
    const bool accepted =
        !sums.core && lj_oracle_volume_accepts(t, lj_oracle_volume_part(t, to, sums.energy) -
                                                      (work_of(t, to) - work_of(t, t->box.size)));
    lj_oracle_end_volume(t, &trial, &sums, accepted, limited);
}

void lj_oracle_end_volume(struct lj_oracle *t, const struct lj_chain *trial,
                          const struct lj_oracle_sums *sums, bool accepted, bool limited) {
    const uint64_t volumes = t->box.volumes + 1, turn = t->step / t->volume_every;
    uint32_t step = t->box.moved >> 2;
    if (t->step < t->rules.move.tuned) { /* grows by 3/parts, shrinks by 2/parts, counted in 17 */
        const uint32_t parts = turn < 248 ? 8 + (uint32_t)turn : 256;
        const uint32_t now = (step ? step : (uint32_t)(t->rules.move.step >> 6)) / 17;
        step = accepted ? now + (3 * now + parts - 1) / parts : now - 2 * now / parts;
        step = 17 * (step < (1U << 29) / 17 ? step : (1U << 29) / 17);
    }
    if (accepted) {
        t->box = *trial;
        t->energy = sums->energy;
        t->virial = sums->virial;
        t->contacts = sums->contacts;
    }
    t->box.volumes = volumes;
    t->box.moved = accepted | (unsigned)limited << 1 | step << 2;
    lj_oracle_set_box(t, &t->box);
}

/* Of a mixture: the species at the new place. Places of a species are four words apart along x. */
static void choose_species(const struct lj_oracle *t, uint32_t other, struct lj_oracle_move *move) {
    uint32_t drawn[3];
    memcpy(drawn, move->to, sizeof drawn);
    if (move->kind == LJ_INSERTION)
        move->to[0] = drawn[0] / 4 * 4 + upper(other, t->species);
    if (move->kind != LJ_DISPLACEMENT)
        return;
    const uint32_t *const from = t->p[move->index], own = species_of(from);
    if (other < t->mixture.identity) {
        memcpy(move->to, from, sizeof move->to);
        move->to[0] += (own + 1 + upper(drawn[0], t->species - 1)) % t->species - own;
    } else if (t->m.local_moves) {
        lj_oracle_shift(&t->m, t->step_size, from, move->to);
        const uint32_t back = from[0] - move->to[0], forth = move->to[0] - from[0];
        move->to[0] = from[0] + (drawn[0] >> 31 ? 0 - back / 4 * 4 : forth / 4 * 4);
    } else {
        move->to[0] = drawn[0] / 4 * 4 + own;
    }
}

/* exp(-beta dU) with tails, and the activities: S z_s V/(N + 1), N/(S z_s V), z_s'/z_s. */
static bool accepts_mixed(const struct lj_oracle *t, const struct lj_oracle_move *move,
                          int64_t change) {
    const uint32_t out = move->kind == LJ_INSERTION ? 0 : species_of(t->p[move->index]);
    const uint32_t in = species_of(move->to);
    const int less = move->kind != LJ_INSERTION, more = move->kind != LJ_DELETION;
    const float u = ((float)move->word + 0.5f) * 0x1p-32f, *const zv = t->mixture.zv;
    float exponent = -(t->m.beta4 * (float)change);
    for (uint32_t k = 0; k < t->species; k++) {
        const float twice = (float)(2 * t->numbers[k] + (more && k == in)) - (less && k == out);
        const float gain = more ? t->mixture.tail[in * LJ_MOST_SPECIES + k] : 0;
        const float loss = less ? t->mixture.tail[out * LJ_MOST_SPECIES + k] : 0;
        exponent = fmaf(loss - gain, twice, exponent);
    }
    if (exponent < -80)
        return false;
    const float weight = ergo_exp(fminf(exponent, 60));
    if (move->kind == LJ_INSERTION)
        return ((float)t->n + 1) * u <= weight * zv[in];
    if (move->kind == LJ_DELETION)
        return zv[out] * u <= weight * (float)t->n;
    return out == in ? u <= weight : zv[out] * u <= weight * zv[in];
}

/* A trial move of one box. */
static bool make_move(struct lj_oracle *t) {
    const struct ergo_words place = draw(t, 1);
    struct lj_oracle_move move = lj_oracle_move_of(&t->m, t->n, draw(t, 0), place);
    bool accepted = !move.impossible;
    if (accepted) {
        if (t->species)
            choose_species(t, place.w, &move);
        else if (move.kind == LJ_DISPLACEMENT && t->m.local_moves)
            lj_oracle_shift(&t->m, t->step_size, t->p[move.index], move.to);
        const struct lj_oracle_sums sums = try_move(t, &move);
        accepted = !sums.core &&
                   (t->species ? accepts_mixed(t, &move, sums.energy)
                               : lj_oracle_accepts(&t->m, move.kind, move.word, t->n, sums.energy));
        if (accepted) {
            if (move.kind == LJ_INSERTION && t->n == t->capacity)
                return false;
            lj_oracle_carry_out(t, &move);
            t->energy += sums.energy;
            t->virial += sums.virial;
            t->contacts += sums.contacts;
        }
    }
    t->tried[0][move.kind]++;
    t->accepted[0][move.kind] += accepted;
    if (++t->step % LJ_WINDOW == 0) {
        if (t->step <= t->m.tune_until)
            t->step_size = lj_oracle_tuned(t);
        memcpy(t->tried[1], t->tried[0], sizeof t->tried[0]);
        memcpy(t->accepted[1], t->accepted[0], sizeof t->accepted[0]);
        memset(t->tried[0], 0, sizeof t->tried[0]);
        memset(t->accepted[0], 0, sizeof t->accepted[0]);
    }
    return true;
}

bool lj_oracle_step(struct lj_oracle *t) {
    bool room = true;
    if (t->board)
        return lj_oracle_activate(t);
    if (t->volume_every && t->step % t->volume_every == 0) {
        if (t->boxes == 2)
            room = lj_oracle_exchange(t);
        else
            change_volume(t);
    }
    for (size_t b = 0; b < t->boxes && room; b++)
        room = make_move(&t[b]);
    return room;
}
