/* Start of the chains, canonical states, and frames. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "samplers/lj_gcmc/lj.h"

/* What made this point start in the last state of another one. */
static const char *carried_by(const struct ergo_point *point) {
    return point->previous ? "/anneal" : "/start/run";
}

static void refuse_overlap(struct lj_state *s, size_t chain, bool carried) {
    const struct ergo_point *point = s->e.batch->points[chain / s->boxes];
    const bool file = lj_start_file(point);
    const uint32_t n = s->chains[chain].particles;
    if (carried)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_JOB,
                         "%s: of the %u particles that point %zu would start with, some are so "
                         "close that the energy of a pair is above 100 k_B T with the values of "
                         "/system there: take smaller steps, or start it without",
                         carried_by(point), n, point->index);
    else
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_JOB,
                         "%s: %u particles %s are so close that the energy of a pair is "
                         "above 100 k_B T: start with fewer",
                         file               ? "/system/start"
                         : chain % s->boxes ? "/system/second_particles"
                                            : lj_number_key(point),
                         n, file ? "of the file" : "on a lattice in this box");
}

/* Sums over pairs of the starting configurations. Overlapping particles are refused. carried: they
 * are of another point, whose potential may be another. */
static enum ergo_status start_sums(struct ergo_context *ctx, struct lj_state *s, bool carried) {
    const size_t chains = lj_chains(s);
    struct lj_totals *totals = calloc(chains, sizeof *totals);
    if (!totals)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies");
    lj_write_chains(s);
    lj_total_sums(s, true, totals);
    for (size_t m = 0; m < chains; m++) {
        if (totals[m].overlaps)
            refuse_overlap(s, m, carried);
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
    for (size_t c = 0; c < lj_chains(s) && status == ERGO_OK; c++) {
        const size_t m = c / s->boxes, box = c % s->boxes;
        const struct ergo_point *point = batch->points[m];
        const struct lj_system system = lj_box_system(point, box);
        /* replicas of a scan point have the same start: read a file once */
        if (s->boxes > 1 || m == 0 || point->scan_index != batch->points[m - 1]->scan_index) {
            free(words);
            status = lj_start(ctx, point, box, &s->tables, &words, &n);
        }
        s->chains[c] = (struct lj_chain){.particles = n, .step_size = lj_step_size(&system)};
        if (s->rules)
            lj_volume_set(&s->rules[c], lj_volume_start(&s->rules[c - box], s->boxes, box),
                          &s->chains[c]);
        lj_species_count(&system, words, status == ERGO_OK ? n : 0, s->chains[c].numbers);
        if (status == ERGO_OK)
            lj_place(s, c, words, n);
    }
    free(words);
    return status == ERGO_OK ? start_sums(ctx, s, false) : status;
}

/* ---- the canonical state ---------------------------------------------------------------------
 * Little-endian: energy, virial (8 bytes each), N, largest displacement, the counts of the window
 * that has begun and of the one before (struct lj_counts; 4 bytes each), where volumes change ln V
 * in 2^-36 (8 bytes) and lj_chain.moved (4), then 12 bytes a particle in their
 * order, which is part of the chain: which particle is picked depends on it. Of a Gibbs ensemble
 * the boxes follow each other. */

enum { HEADER = 48, HEADER_NPT = HEADER + 12 };

static size_t header_bytes(const struct lj_state *s) {
    return s->rules ? HEADER_NPT : HEADER;
}

static enum ergo_status save_chain(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                   struct ergo_text *text) {
    uint32_t *words = NULL, n = 0;
    const enum ergo_status status = lj_fetch(ctx, s, chain, &words, &n);
    if (status != ERGO_OK)
        return status;
    if (s->cut && ergo_ranks_rank() > 0) { /* the whole is rank 0's */
        free(words);
        return ERGO_OK;
    }
    const struct lj_chain *c = &s->chains[chain];
    if (s->step_sizes[chain] && s->step_sizes[chain] != c->step_size) {
        free(words);
        return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                         "audit of %s failed on %s: the largest displacement of member %zu has "
                         "changed in the device's memory, although it is tuned",
                         s->e.model->sampler, s->e.device->summary.name, chain / s->boxes);
    }
    if (s->rules && !lj_volume_right(&s->rules[chain], c->moved)) {
        free(words);
        return ergo_isobaric_refuse(ctx, s->e.device->summary.name, chain / s->boxes);
    }
    lj_note_step_size(s, chain);
    const struct lj_counts *const counts[2] = {&c->now, &c->last};
    ergo_bytes_append(text, (uint64_t)c->energy, 8);
    ergo_bytes_append(text, (uint64_t)c->virial, 8);
    ergo_bytes_append(text, n, 4);
    ergo_bytes_append(text, c->step_size, 4);
    for (int k = 0; k < 2; k++) {
        ergo_bytes_append(text, counts[k]->tried, 4);
        ergo_bytes_append(text, counts[k]->accepted, 4);
        ergo_bytes_append(text, counts[k]->accepted_deletion, 4);
    }
    if (s->rules) {
        ergo_bytes_append(text, (uint64_t)c->size, 8);
        ergo_bytes_append(text, c->moved, 4);
    }
    ergo_text_append_bytes(text, words, 12 * (size_t)n);
    free(words);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %u particles", n)
                        : ERGO_OK;
}

enum ergo_status lj_save(struct ergo_context *ctx, void *opaque, size_t member,
                         struct ergo_text *text) {
    struct lj_state *s = opaque;
    enum ergo_status status = lj_settle(ctx, s);
    for (size_t b = 0; b < s->boxes && status == ERGO_OK; b++)
        status = save_chain(ctx, s, s->boxes * member + b, text);
    return status;
}

static struct lj_counts get_counts(const unsigned char *at) {
    return (struct lj_counts){(uint32_t)ergo_bytes_get(at, 4), (uint32_t)ergo_bytes_get(at + 4, 4),
                              (uint32_t)ergo_bytes_get(at + 8, 4)};
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

/* Bytes of the chain whose state begins at `at`; 0: there are not so many. */
static size_t chain_bytes(const struct lj_state *s, const unsigned char *at, size_t length) {
    const size_t header = header_bytes(s);
    const uint64_t n = length >= header ? ergo_bytes_get(at + 16, 4) : 0;
    return length >= header && n <= LJ_MOST_PARTICLES && 12 * n <= length - header
               ? header + 12 * (size_t)n
               : 0;
}

/* Volumes of a state that no moves lead to. */
static bool wrong_volumes(const struct lj_state *s, size_t member, const unsigned char *const *at) {
    const struct lj_volume_rules *rules = s->rules + s->boxes * member;
    int64_t sizes[2];
    bool wrong = false;
    for (size_t b = 0; b < s->boxes; b++) {
        sizes[b] = (int64_t)ergo_bytes_get(at[b] + HEADER, 8);
        wrong |= lj_volume_limited(&rules[b], sizes[b]) ||
                 !lj_volume_right(&rules[b], (uint32_t)ergo_bytes_get(at[b] + HEADER + 8, 4));
    }
    for (size_t b = 0; b < s->boxes && s->boxes == 2 && !wrong; b++)
        wrong = lj_gibbs_size(rules, sizes[0] - sizes[1], (uint32_t)b) != sizes[b];
    return wrong;
}

static enum ergo_status load_chain(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                   uint64_t step, const unsigned char *at) {
    const size_t header = header_bytes(s);
    const uint64_t n = ergo_bytes_get(at + 16, 4);
    uint32_t *words = malloc(12 * ((size_t)n + 1));
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load %" PRIu64 " particles", n);
    memcpy(words, at + header, 12 * (size_t)n);
    if (s->launch.board_blocks && !in_order(s, words, (uint32_t)n)) {
        free(words);
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu is not ordered by cells: it is damaged, or "
                         "of a run without decomposition",
                         chain);
    }
    uint32_t numbers[LJ_MOST_SPECIES];
    if (!lj_species_count(&s->system, words, (uint32_t)n, numbers)) {
        free(words);
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has a particle of no species: it is "
                         "damaged",
                         chain / s->boxes);
    }
    s->chains[chain] = (struct lj_chain){
        .step = step,
        .energy = (int64_t)ergo_bytes_get(at, 8),
        .virial = (int64_t)ergo_bytes_get(at + 8, 8),
        .particles = (uint32_t)n,
        .step_size = (uint32_t)ergo_bytes_get(at + 20, 4),
        .now = get_counts(at + 24),
        .last = get_counts(at + 36),
    };
    memcpy(s->chains[chain].numbers, numbers, sizeof numbers);
    if (s->rules) {
        s->chains[chain].volumes = lj_volumes_before(&s->launch, step);
        s->chains[chain].moved = (uint32_t)ergo_bytes_get(at + HEADER + 8, 4);
        lj_volume_set(&s->rules[chain], (int64_t)ergo_bytes_get(at + HEADER, 8), &s->chains[chain]);
    }
    lj_place(s, chain, words, (uint32_t)n);
    ergo_engine_write(&s->e, LJ_CHAINS, chain * sizeof *s->chains, sizeof *s->chains,
                      &s->chains[chain]);
    free(words);
    return ERGO_OK;
}

/* Where the states of the boxes begin. False: there are fewer bytes than they have, or more. */
static bool find_boxes(const struct lj_state *s, const void *bytes, size_t length,
                       const unsigned char **at) {
    size_t left = length, size = 1;
    for (size_t b = 0; b < s->boxes && size; b++, left -= size) {
        at[b] = (const unsigned char *)bytes + (length - left);
        size = chain_bytes(s, at[b], left);
    }
    return size && !left;
}

enum ergo_status lj_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                         const void *bytes, size_t length) {
    struct lj_state *s = opaque;
    const unsigned char *at[2] = {bytes, bytes};
    if (!find_boxes(s, bytes, length, at))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes, which fits no number of "
                         "particles: it is damaged",
                         member, length);
    if (s->rules && wrong_volumes(s, member, at))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has a volume beyond the limits of its "
                         "moves: it is damaged",
                         member);
    enum ergo_status status = ERGO_OK;
    s->e.step = step;
    ergo_engine_begin(&s->e, ctx);
    for (size_t b = 0; b < s->boxes && status == ERGO_OK; b++)
        status = load_chain(ctx, s, s->boxes * member + b, step, at[b]);
    return status == ERGO_OK ? ergo_engine_end(&s->e) : status;
}

/* ---- a start in the last state of another point ----------------------------------------------
 */

/* Give a carried volume to a box. Of two boxes ln(V1/V2) stays, because the job says V1 + V2. */
static enum ergo_status carry_volume(struct ergo_context *ctx, const struct lj_state *s,
                                     size_t member, size_t box, int64_t size, int64_t ratio,
                                     unsigned char *at) {
    const struct ergo_point *point = s->e.batch->points[member];
    const struct lj_volume_rules *rules = s->rules + s->boxes * member;
    const struct lj_system system = lj_system_of(point);
    const int64_t most = (int64_t)1 << 41; /* beyond, a state is damaged, and lj_load says so */
    if (s->boxes == 2 && ratio > -most && ratio < most)
        size = lj_gibbs_size(rules, ratio, (uint32_t)box);
    memcpy(at, &size, 8);
    memset(at + 8, 0, 4);
    if (size <= -most || size >= most || !lj_volume_limited(&rules[box], size))
        return ERGO_OK;
    return ergo_job_error(ctx, carried_by(point),
                          "%s of the state in which point %zu would start has the volume %.6g, "
                          "but the sides and the cutoff of that point allow only %.6g to %.6g: "
                          "take smaller steps, or another box",
                          s->boxes == 1 ? "the box"
                          : box         ? "the second box"
                                        : "the first box",
                          point->index, lj_volume_of(&system, size),
                          lj_volume_of(&system, rules[box].limits[0]),
                          lj_volume_of(&system, rules[box].limits[1]));
}

/* Where N is fixed, it is the job's. */
static enum ergo_status check_number(struct ergo_context *ctx, const struct ergo_point *point,
                                     uint64_t n) {
    uint64_t wanted = 0;
    for (unsigned b = 0; b < lj_boxes_of(point); b++)
        wanted += lj_box_particles(point, b);
    if (lj_is_open(point) || lj_start_file(point) || n == wanted)
        return ERGO_OK;
    return ergo_job_error(
        ctx, of_lj(point)->particles.given ? "/system/particles" : lj_number_key(point),
        "the job says %" PRIu64 "%s, but the state in which point %zu would "
        "start (%s) has %" PRIu64 ", and N is fixed",
        wanted, lj_boxes_of(point) == 2 ? " in both boxes" : "", point->index, carried_by(point),
        n);
}

/* The same of each species. at: the states of the boxes. */
static enum ergo_status check_numbers(struct ergo_context *ctx, const struct lj_state *s,
                                      const struct ergo_point *point, unsigned char *const *at) {
    uint32_t found[LJ_MOST_SPECIES] = {0}, wanted[LJ_MOST_SPECIES] = {0};
    for (size_t b = 0; b < s->boxes; b++) {
        const struct lj_system system = lj_box_system(point, b);
        const uint32_t n = (uint32_t)ergo_bytes_get(at[b] + 16, 4);
        uint32_t own[LJ_MOST_SPECIES];
        for (uint32_t i = 0; i < n; i++)
            found[ergo_bytes_get(at[b] + header_bytes(s) + 12 * (size_t)i, 4) & LJ_SPECIES_MASK]++;
        lj_species_split(&system, s->boxes == 2 ? lj_box_particles(point, b) : n, own);
        for (size_t k = 0; k < LJ_MOST_SPECIES; k++)
            wanted[k] += own[k];
    }
    for (uint32_t k = 0; k < s->system.species.n && !lj_is_open(point); k++)
        if (found[k] != wanted[k])
            return ergo_job_error(ctx, "/system/species/fractions",
                                  "%u particles would be of species %u, but the state in which "
                                  "point %zu would start (%s) has %u, and N is fixed",
                                  wanted[k], k + 1, point->index, carried_by(point), found[k]);
    return ERGO_OK;
}

/* Make the state of another point one of this member's: what belongs to its run begins anew, and
 * the largest displacement is the job's. */
static enum ergo_status adopt(struct ergo_context *ctx, const struct lj_state *s, size_t member,
                              unsigned char *const *at) {
    const struct ergo_point *point = s->e.batch->points[member];
    enum ergo_status status = ERGO_OK;
    int64_t sizes[2] = {0, 0};
    uint64_t n = 0;
    for (size_t b = 0; b < s->boxes; b++) {
        sizes[b] = s->rules ? (int64_t)ergo_bytes_get(at[b] + HEADER, 8) : 0;
        n += ergo_bytes_get(at[b] + 16, 4);
    }
    for (size_t b = 0; b < s->boxes && status == ERGO_OK; b++) {
        const struct lj_system system = lj_box_system(point, b);
        const uint32_t step_size = lj_step_size(&system);
        memcpy(at[b] + 20, &step_size, 4);
        memset(at[b] + 24, 0, HEADER - 24);
        if (s->rules)
            status = carry_volume(ctx, s, member, b, sizes[b], sizes[0] - sizes[1], at[b] + HEADER);
    }
    if (status == ERGO_OK)
        status = check_number(ctx, point, n);
    if (status == ERGO_OK && s->system.species.n)
        status = check_numbers(ctx, s, point, at);
    return status;
}

/* Particles; the sums over pairs are made anew. Members come in their order. */
enum ergo_status lj_carry(struct ergo_context *ctx, void *opaque, size_t member, const void *bytes,
                          size_t length) {
    struct lj_state *s = opaque;
    unsigned char *start = malloc(length + 1);
    const unsigned char *from[2];
    enum ergo_status status = ERGO_OK;
    if (!start)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start");
    memcpy(start, bytes, length);
    if (find_boxes(s, start, length, from)) { /* otherwise lj_load says so */
        unsigned char *at[2] = {start, start};
        for (size_t b = 0; b < s->boxes; b++)
            at[b] += from[b] - start;
        status = adopt(ctx, s, member, at);
    }
    if (status == ERGO_OK)
        status = lj_load(ctx, opaque, member, 0, start, length);
    free(start);
    if (status != ERGO_OK || member + 1 < s->e.batch->count)
        return status;
    ergo_engine_begin(&s->e, ctx);
    return start_sums(ctx, s, true);
}

struct frame {
    const uint32_t *words; /* three for each particle */
    const double *box;
    bool mixture;
    char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME];
};

static void append_particle(struct ergo_text *text, size_t i, const void *user) {
    const struct frame *f = user;
    const uint32_t *at = f->words + 3 * i;
    /* X: no element to ASE, a type like any to others; 11 digits tell any two positions apart */
    ergo_text_append(
        text, "%s %.11g %.11g %.11g\n", f->mixture ? f->names[at[0] & LJ_SPECIES_MASK] : "X",
        at[0] * 0x1p-32 * f->box[0], at[1] * 0x1p-32 * f->box[1], at[2] * 0x1p-32 * f->box[2]);
}

static enum ergo_status frame_of(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                 struct ergo_text *text) {
    const struct lj_system system = lj_system_of(s->e.batch->points[chain / s->boxes]);
    uint32_t *words = NULL, n = 0;
    const enum ergo_status status = lj_fetch(ctx, s, chain, &words, &n);
    if (status != ERGO_OK)
        return status;
    if (s->cut && ergo_ranks_rank() > 0) {
        free(words);
        return ERGO_OK;
    }
    struct lj_system now = system;
    lj_box_of(&system, &s->chains[chain], now.box);
    now.volume = now.box[0] * now.box[1] * now.box[2];
    const double *b = now.box;
    const double energy = lj_energy_of(&system, s->chains[chain].energy) +
                          lj_tail_of(&now, n, s->chains[chain].numbers);
    ergo_text_append(text,
                     "%u\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Properties=species:S:1:pos:R:3 "
                     "pbc=\"T T T\" step=%" PRIu64 " energy=%.17g",
                     n, b[0], b[1], b[2], s->chains[chain].step, energy);
    if (s->boxes == 2)
        ergo_text_append(text, " box=%zu", chain % 2 + 1);
    struct frame frame = {words, b, system.species.n > 0, {""}};
    if (frame.mixture)
        lj_species_names(s->e.batch->points[chain / s->boxes], frame.names);
    for (uint32_t k = 0; k < system.species.n; k++)
        ergo_text_append(text, "%s%s", k ? " " : " types=\"", frame.names[k]);
    ergo_text_append(text, frame.mixture ? "\"" : "");
    ergo_text_append(text, "\n");
    ergo_text_append_rows(text, n, append_particle, &frame);
    free(words);
    return ERGO_OK;
}

/* A frame for each box. */
enum ergo_status lj_frame(struct ergo_context *ctx, void *opaque, size_t member,
                          struct ergo_text *text) {
    struct lj_state *s = opaque;
    enum ergo_status status = lj_settle(ctx, s);
    for (size_t b = 0; b < s->boxes && status == ERGO_OK; b++)
        status = frame_of(ctx, s, s->boxes * member + b, text);
    return status;
}
