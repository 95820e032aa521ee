/* Start of the chains, canonical states, and frames. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

/* Sums over pairs of the starting configurations. Overlapping particles are refused. */
static enum ergo_status start_sums(struct ergo_context *ctx, struct lj_state *s) {
    const size_t members = s->e.batch->count;
    struct lj_totals *totals = calloc(members, sizeof *totals);
    if (!totals)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies");
    lj_write_chains(s);
    lj_total_sums(s, true, totals);
    for (size_t m = 0; m < members; m++) {
        const bool file = lj_start_file(s->e.batch->points[m]);
        if (totals[m].overlaps)
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_JOB,
                             "%s: %u particles %s are so close that the energy of a pair is "
                             "above 100 k_B T: start with fewer",
                             file ? "/system/start" : "/system/particles", s->chains[m].particles,
                             file ? "of the file" : "on a lattice in this box");
        s->chains[m].energy = totals[m].energy;
        s->chains[m].virial = totals[m].virial;
        s->chains[m].contacts = totals[m].contacts;
    }
    free(totals);
    lj_write_chains(s);
    return ergo_engine_end(&s->e);
}

enum ergo_status lj_init(struct ergo_context *ctx, void *opaque) {
    struct lj_state *s = opaque;
    const struct ergo_batch *batch = s->e.batch;
    uint32_t *words = NULL, n = 0;
    enum ergo_status status = ERGO_OK;
    s->e.step = 0;
    ergo_engine_begin(&s->e, ctx);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        const struct ergo_point *point = batch->points[m];
        const struct lj_system system = lj_system_of(point);
        /* replicas of a scan point have the same start: read a file once */
        if (m == 0 || point->scan_index != batch->points[m - 1]->scan_index) {
            free(words);
            status = lj_start(ctx, point, &words, &n);
        }
        s->chains[m] = (struct lj_chain){.particles = n, .step_size = lj_step_size(&system)};
        if (s->rules)
            lj_volume_set(&s->rules[m], s->rules[m].start, &s->chains[m]);
        if (status == ERGO_OK)
            lj_place(s, m, words, n);
    }
    free(words);
    return status == ERGO_OK ? start_sums(ctx, s) : status;
}

/* ---- the canonical state ---------------------------------------------------------------------
 * Little-endian: energy, virial (8 bytes each), N, largest displacement, the counts of the window
 * that has begun and of the one before (struct lj_counts; 4 bytes each), at constant pressure ln V
 * in 2^-36 (8 bytes) and what became of the last volume move (4), then 12 bytes a particle in their
 * order, which is part of the chain: which particle is picked depends on it. */

enum { HEADER = 48, HEADER_NPT = HEADER + 12 };

static size_t header_bytes(const struct lj_state *s) {
    return s->rules ? HEADER_NPT : HEADER;
}

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

enum ergo_status lj_save(struct ergo_context *ctx, void *opaque, size_t member,
                         struct ergo_text *text) {
    struct lj_state *s = opaque;
    uint32_t *words = NULL, n = 0;
    enum ergo_status status = lj_settle(ctx, s);
    if (status == ERGO_OK)
        status = lj_fetch(ctx, s, member, &words, &n);
    if (status != ERGO_OK)
        return status;
    const struct lj_chain *c = &s->chains[member];
    unsigned char header[HEADER_NPT], particle[12];
    put(header, (uint64_t)c->energy, 8);
    put(header + 8, (uint64_t)c->virial, 8);
    put(header + 16, n, 4);
    put(header + 20, c->step_size, 4);
    const struct lj_counts *const counts[2] = {&c->now, &c->last};
    for (int k = 0; k < 2; k++) {
        put(header + 24 + 12 * k, counts[k]->tried, 4);
        put(header + 28 + 12 * k, counts[k]->accepted, 4);
        put(header + 32 + 12 * k, counts[k]->accepted_deletion, 4);
    }
    if (s->rules) {
        put(header + HEADER, (uint64_t)c->size, 8);
        put(header + HEADER + 8, c->moved, 4);
    }
    ergo_text_append_bytes(text, header, header_bytes(s));
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            put(particle + 4 * k, words[3 * (size_t)i + (size_t)k], 4);
        ergo_text_append_bytes(text, particle, 12);
    }
    free(words);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %u particles", n)
                        : ERGO_OK;
}

static struct lj_counts get_counts(const unsigned char *at) {
    return (struct lj_counts){(uint32_t)get(at, 4), (uint32_t)get(at + 4, 4),
                              (uint32_t)get(at + 8, 4)};
}

/* On a checkerboard the order of particles is that of the cells. Are these in order? */
static bool in_order(const struct lj_state *s, const uint32_t *words, uint32_t n) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t cell = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        if (cell < last)
            return false;
        last = cell;
    }
    return true;
}

enum ergo_status lj_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                         const void *bytes, size_t length) {
    struct lj_state *s = opaque;
    const unsigned char *at = bytes;
    const size_t header = header_bytes(s);
    const uint64_t n = length >= header ? get(at + 16, 4) : 0;
    if (length < header || length != header + 12 * n || n > LJ_MOST_PARTICLES)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes, which fits no number of "
                         "particles: it is damaged",
                         member, length);
    if (s->rules && (lj_volume_limited(&s->rules[member], (int64_t)get(at + HEADER, 8)) ||
                     get(at + HEADER + 8, 4) > 2))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has a volume beyond the limits of its "
                         "moves: it is damaged",
                         member);
    uint32_t *words = malloc(12 * ((size_t)n + 1));
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load %" PRIu64 " particles", n);
    for (size_t i = 0; i < 3 * n; i++)
        words[i] = (uint32_t)get(at + header + 4 * i, 4);
    if (s->launch.board_blocks && !in_order(s, words, (uint32_t)n)) {
        free(words);
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu is not ordered by cells: it is damaged, or "
                         "of a run without decomposition",
                         member);
    }
    s->chains[member] = (struct lj_chain){
        .step = step,
        .energy = (int64_t)get(at, 8),
        .virial = (int64_t)get(at + 8, 8),
        .particles = (uint32_t)n,
        .step_size = (uint32_t)get(at + 20, 4),
        .now = get_counts(at + 24),
        .last = get_counts(at + 36),
    };
    if (s->rules) {
        s->chains[member].volumes = lj_volumes_before(step, s->launch.volume_every);
        s->chains[member].moved = (uint32_t)get(at + HEADER + 8, 4);
        lj_volume_set(&s->rules[member], (int64_t)get(at + HEADER, 8), &s->chains[member]);
    }
    s->e.step = step;
    ergo_engine_begin(&s->e, ctx);
    lj_place(s, member, words, (uint32_t)n);
    ergo_engine_write(&s->e, LJ_CHAINS, member * sizeof *s->chains, sizeof *s->chains,
                      &s->chains[member]);
    free(words);
    return ergo_engine_end(&s->e);
}

/* Particles and their sums; the largest displacement is the job's again. */
enum ergo_status lj_carry(struct ergo_context *ctx, void *opaque, size_t member, const void *bytes,
                          size_t length) {
    const struct lj_state *s = opaque;
    const struct lj_system system = lj_system_of(s->e.batch->points[member]);
    unsigned char *start = malloc(length + HEADER);
    if (!start)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start");
    memcpy(start, bytes, length);
    put(start + 20, lj_step_size(&system), 4);
    if (length >= HEADER)
        memset(start + 24, 0, HEADER - 24);
    if (s->rules && length >= HEADER_NPT)
        memset(start + HEADER + 8, 0, 4);
    const enum ergo_status status = lj_load(ctx, opaque, member, 0, start, length);
    free(start);
    return status;
}

struct frame {
    const uint32_t *words; /* three for each particle */
    const double *box;
};

static void append_particle(struct ergo_text *text, size_t i, const void *user) {
    const struct frame *f = user;
    const uint32_t *at = f->words + 3 * i;
    /* X: no element to ASE, a type like any to others; 11 digits tell any two positions apart */
    ergo_text_append(text, "X %.11g %.11g %.11g\n", at[0] * 0x1p-32 * f->box[0],
                     at[1] * 0x1p-32 * f->box[1], at[2] * 0x1p-32 * f->box[2]);
}

enum ergo_status lj_frame(struct ergo_context *ctx, void *opaque, size_t member,
                          struct ergo_text *text) {
    struct lj_state *s = opaque;
    const struct lj_system system = lj_system_of(s->e.batch->points[member]);
    uint32_t *words = NULL, n = 0;
    enum ergo_status status = lj_settle(ctx, s);
    if (status == ERGO_OK)
        status = lj_fetch(ctx, s, member, &words, &n);
    if (status != ERGO_OK)
        return status;
    struct lj_system now = system;
    lj_box_of(&system, &s->chains[member], now.box);
    now.volume = now.box[0] * now.box[1] * now.box[2];
    const double *b = now.box;
    const double energy =
        lj_energy_of(system.epsilon, s->chains[member].energy) + lj_tail_energy(&now, n);
    ergo_text_append(text,
                     "%u\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Properties=species:S:1:pos:R:3 "
                     "pbc=\"T T T\" step=%" PRIu64 " energy=%.17g\n",
                     n, b[0], b[1], b[2], s->chains[member].step, energy);
    ergo_text_append_rows(text, n, append_particle, &(struct frame){words, b});
    free(words);
    return ERGO_OK;
}
