/* Spin glasses on a device: shape, launch, buffers. Internal to the model. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_SPIN_GLASS_GLASS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_SPIN_GLASS_GLASS_H

#include "engine/engine.h"
#include "engine/ladder.h"
#include "engine/shares.h"
#include "samplers/sampler.h"
#include "samplers/spin_lattice/overlaps.h"
#include "spin_lattice/glass_params.h"

/* Of a sample, at one temperature: means over its copies or pairs of them. */
enum {
    GLASS_E,     /* energy per site, in the unit of the coupling */
    GLASS_E2,    /* its square */
    GLASS_EE,    /* product of two copies' */
    GLASS_ABS_Q, /* |q|, q^2, q^4, and |q_k|^2 of the smallest wave */
    GLASS_Q2,
    GLASS_Q4,
    GLASS_QK2,
    GLASS_ABS_M, /* |m|, m^2, m^4 */
    GLASS_M2,
    GLASS_M4,
    GLASS_M,  /* m */
    GLASS_QQ, /* four copies: products of overlaps of pairs without a common copy */
    GLASS_MOMENTS
};

/* What is told of the coldest temperature beside enum overlap_number: the curve `moments`. */
enum { GLASS_LENGTH = OVERLAP_NUMBERS, GLASS_HEAT, GLASS_CONNECTED, GLASS_RESULTS };

/* Moments are added up as whole numbers: of copies, in units of a power of two which is so large
 * that the sum over all measurements of the job is exact. */
struct glass_units {
    double energy[2]; /* of a record: energy[0] + energy[1] * what is counted, whole */
    double inverse[GLASS_MOMENTS], value[GLASS_MOMENTS]; /* 1/unit; of one, the moment */
};

struct glass_shape {
    uint32_t lx, ly, lz, d;
    uint64_t sites, half;        /* half: of one colour */
    bool signs, field;           /* couplings are +-1; spins are in fields */
    uint32_t samples, all, last; /* samples; word-lattices; samples in use of the last, a mask */
    uint32_t first, words;       /* word-lattices here: all, or a rank's share */
    bool idle;                   /* the share is none: a quad stands there and never moves */
    uint32_t rungs, rung;        /* temperatures of the ladder; those before the first one here */
    /* here, all or a rank's share of whole quads; slots: without the padding of the last quad */
    uint32_t temperatures, copies, slots, quads;
    uint32_t layers, swap_every;
    uint32_t cluster_every; /* sweeps between cluster moves; 0: none */
    bool real, heat;        /* couplings are not +-1; heat bath */
    bool automatic;         /* states end with temperatures that feedback has found */
};

struct glass_launch {
    bool local;
    uint32_t group;         /* work-items per group of a sweep */
    uint32_t site_group;    /* and of kernels with an item per site */
    uint32_t cluster_group; /* and of cluster moves, a multiple of 32 */
    uint32_t levels, parts; /* measuring: groups of 2^levels; per quad so many for the energy */
    uint64_t launch_sweeps; /* local: at most */
    /* A whole ladder in a group of quads * ladder_lanes, with so much room in local memory; its
     * last 2^count_levels lanes add up. Else exchanges have launches of their own. */
    bool whole;
    uint32_t count_levels;
    uint32_t ladder_lanes;
    size_t ladder_room;
    size_t records; /* per sample of the batch */
    cl_uint2 words; /* word-lattices here, and before them */
    uint32_t last;  /* samples in use of the last one here */
};

enum glass_buffer {
    GLASS_SPINS,
    GLASS_COUPLINGS,
    GLASS_TABLES,
    GLASS_KEYS,
    GLASS_SLOPES,
    GLASS_WAVES,
    GLASS_ENERGIES,
    GLASS_COUNTS,
    GLASS_MASKS, /* who exchanges */
    GLASS_FROM_HOT,
    GLASS_ACCEPTED,
    GLASS_ROUND_TRIPS,
    GLASS_MOVED, /* exchanges and round trips of samples, in planes of bits */
    GLASS_ROOM,  /* of clusters */
    GLASS_RECORDS,
    GLASS_NUMBERS, /* with a sample: accepted exchanges, [lattice][slot]; round trips,
                      [lattice][copy] */
    /* two of each, of the ladder's end here that meets a colder rank, and a hotter one */
    GLASS_END_LOOK,
    GLASS_END_SWAPS = GLASS_END_LOOK + 2,
    GLASS_END_LIST = GLASS_END_SWAPS + 2,
    GLASS_END_SPINS = GLASS_END_LIST + 2
};
enum glass_kernel {
    GLASS_SWEEP,
    GLASS_START,
    GLASS_SWAP,
    GLASS_EXCHANGE,
    GLASS_WHOLE, /* ladders */
    GLASS_CLUSTER,
    GLASS_ENERGY,
    GLASS_OVERLAP,
    GLASS_RECORD,
    GLASS_BORDER_ENERGIES,
    GLASS_BORDER_RECORD,
    GLASS_BORDER_PACK,
    GLASS_BORDER_MERGE
};

struct glass_state {
    struct ergo_engine e;
    struct glass_shape shape;
    struct glass_launch launch;
    struct glass_units *units; /* of each member */
    double *sums;     /* of the block that is collected: [lattice][temperature][32][moment], P(q) */
    uint64_t *moved;  /* exchanges and round trips of samples, of the device's: rows as there */
    uint64_t untaken; /* sweeps since they were taken */
    uint64_t *hashes; /* of each member's couplings */
    struct ergo_feedback feedback;
    double *ladders;             /* temperatures, [member][rung], of whole ladders */
    struct ergo_shares *shares;  /* of all ranks, where words or ladders are cut; else NULL */
    size_t block_samples;        /* then, of the plan */
    struct glass_border *border; /* where this one's share of a ladder meets others'; or NULL */
};

/* job.c: what can be said of a point without a device. */
struct glass_shape glass_shape_of(const struct ergo_point *point);
/* Of the temperatures here; all: of the whole ladder. tables: [quads][2 * GLASS_CLASSES][4],
 * slopes: [temperatures]. */
void glass_tables(const struct ergo_point *point, const struct glass_shape *s, const double *all,
                  uint32_t *tables, float *slopes);
/* What weighs the energies of temperatures t and t + 1 of the ladder in an exchange, or 0. */
float glass_slope(const struct ergo_point *point, const struct glass_shape *s, const double *all,
                  uint32_t t);
void glass_units_of(const struct ergo_point *point, const struct glass_shape *s,
                    struct glass_units *units);
enum ergo_status glass_extends(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to);
enum ergo_status glass_check(struct ergo_context *ctx, const struct ergo_point *point);
size_t glass_curve_size(const struct ergo_point *point, size_t c);
void glass_curve_x(const struct ergo_point *point, size_t c, double *x);
double glass_exact(const struct ergo_point *point, const char *observable);
/* Bins of P(q), and the bin of so many unequal sites. */
size_t glass_q_bins(const struct glass_shape *s);
size_t glass_q_bin(const struct glass_shape *s, uint64_t unequal);

/* couplings.c: couplings of word-lattice `word`, [direction x, y, z][site]: the bit is one
 * where J < 0, or, real, [direction][site][32] in units of 2^-24 of the coupling; fields are one
 * more direction. From the file: every word. */
size_t glass_couplings_length(const struct glass_shape *s); /* 32-bit words of a word-lattice */
enum ergo_status glass_couplings(struct ergo_context *ctx, const struct ergo_point *point,
                                 const struct glass_shape *s, uint32_t word, uint32_t *couplings);
/* A number of the normal distribution, below 8, in units of 2^-24, of (entity, step, sample). */
int32_t glass_normal(const uint32_t key[2], uint32_t entity, uint32_t step, uint32_t purpose,
                     uint32_t sample);
/* Do fields fit, and does /system/field_file, if given? If not, a job error is recorded. */
enum ergo_status glass_field_check(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct glass_shape *s);
/* The Philox key of drawn couplings: of seed (or /system/disorder_seed) and replica. */
void glass_disorder_key(const struct ergo_point *point, uint32_t key[2]);
/* Is /system/disorder_file as it should be? If not, a job error is recorded. */
enum ergo_status glass_file_check(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct glass_shape *s);
/* With the bonds of a file, of any size or beside a field: does Metropolis sample (ergodic.h)? */
bool glass_file_samples(const struct ergo_point *point, const struct glass_shape *s);
/* The first sample's couplings of some sites, [direction][site], for models of one to three
 * dimensions; of s the sides, one sample, real. */
enum ergo_status glass_first_sample(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct glass_shape *s, struct model_sites of, double *j);

/* Samples in use of word-lattice `word` of all. */
uint32_t glass_lanes(const struct glass_shape *s, uint32_t word);
/* Are clusters moved after so many sweeps? Copies are then pairs in one of three ways, in turn. */
static inline bool glass_clusters(const struct glass_shape *s, uint64_t step) {
    return s->cluster_every && step % s->cluster_every == 0;
}
static inline uint32_t glass_cluster_turn(const struct glass_shape *s, uint64_t step) {
    return s->copies == 4 ? (uint32_t)(step / s->cluster_every % 3) : 0;
}
uint32_t glass_all_slots(const struct glass_shape *s); /* of the whole ladder */

/* plan.c */
size_t
glass_packed_length(const struct glass_shape *s); /* couplings of a word-lattice, as packed */
uint64_t glass_place_of(const struct glass_shape *s, uint64_t site); /* colour * half + h */
/* Couplings as drawn, as the device has them: of each site those of all its bonds. */
void glass_pack_couplings(const struct glass_shape *s, const uint32_t *couplings, uint32_t *packed);
size_t glass_lattice_bytes(const struct glass_shape *s); /* on the device, of a word-lattice */
size_t glass_lattices(const struct glass_state *s);      /* of all members */
size_t glass_ladder_bytes(const struct glass_shape *s, const struct glass_launch *l);
/* Room for counters of GLASS_OWN planes and for their sums, in planes (glass_plane, glass_count.h).
 */
enum { GLASS_ROOM_8 = 8 + 1 };
/* How the batch's share of a rank, s->shape, runs on the device. */
enum ergo_status glass_configure(struct ergo_context *ctx, struct glass_state *s);

/* device.c */
enum ergo_status glass_prepare(struct ergo_context *ctx, void *state);
void glass_release(void *state);
void glass_start(void *state);
/* s->ladders to the device. */
void glass_write_ladders(struct glass_state *s);
/* Walkers have been nowhere, but for those at the hot end; nothing is counted. */
void glass_clear_walkers(struct glass_state *s);
/* Cosine and sine of the smallest wave along the layers, as integers. */
void glass_wave(const struct glass_shape *s, uint32_t layer, int32_t wave[2]);
/* All of an engine's model but `configure`. */
#define GLASS_MODEL                                                                                \
    .sampler = "spin-lattice", .smaller = "a smaller lattice, fewer samples or temperatures",      \
    .state_bytes = sizeof(struct glass_state), .fields = &glass_fields, .prepare = glass_prepare,  \
    .start = glass_start, .steps = glass_steps, .measure = glass_measure,                          \
    .measure_curves = glass_read_numbers, .convert = glass_convert, .release = glass_release

/* advance.c: sweeps, exchanges where they are due; measurements. */
void glass_steps(void *state, uint64_t sweeps);
void glass_measure(void *state, size_t sample);
void glass_read_numbers(void *state, size_t sample);

/* share.c: word-lattices and temperatures over ranks. */
/* What rank r has of s, the whole: words as equal as can be, temperatures of a word by weights. */
struct glass_shape glass_share_of(const struct glass_shape *s, const struct ergo_shares *shares,
                                  size_t r);
/* Of each member's words: `mine`, [member][words here][row here], to all ranks, [member][all][row].
 * Of a row each temperature has `width` bytes; then `tail` bytes that the coldest one brings.
 * A copy where nothing is cut. */
enum ergo_status glass_words(struct ergo_context *ctx, const struct glass_state *s, size_t members,
                             size_t width, size_t tail, const void *mine, void *all);

/* border.c: exchanges of temperatures that lie on different ranks. Both ranks draw the same
 * decision. */
bool glass_shares_ladder(const struct glass_shape *s);
void glass_border_declare(struct glass_state *s, const char *options);
enum ergo_status glass_border_create(struct ergo_context *ctx, struct glass_state *s);
void glass_border_destroy(struct glass_border *border); /* NULL-safe */
/* After new temperatures. */
void glass_border_heat(struct glass_state *s);
/* Is there an exchange with another rank at an exchange of this parity? */
bool glass_border_due(const struct glass_state *s, uint32_t parity);
/* An exchange at `step`; energies have been counted. begin sends them; finish waits for the others'
 * and lets configurations change places. */
void glass_border_begin(struct glass_state *s, uint32_t parity);
void glass_border_finish(struct glass_state *s, uint64_t step, uint32_t parity);

/* sums.c: what is measured of each sample, and how often it exchanged. */
size_t glass_sums_length(const struct glass_shape *s); /* of a word-lattice */
void glass_sums_create(struct glass_state *s);         /* errors are noted */
enum ergo_status glass_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples);
/* Rows of GLASS_MOVED of a word-lattice: of the colder slots exchanges, of the copies round trips.
 */
size_t glass_move_rows(const struct glass_shape *s);
void glass_moves_clear(struct glass_state *s);
void glass_moves_take(struct glass_state *s);
enum ergo_status glass_count(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_curve *curves);
/* curves.c */
enum ergo_status glass_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves);

/* state.c */
extern const struct ergo_fields glass_fields;
/* Between the words that a share `here` has, one behind the other, and their places in the whole
 * (`place`), or the other way. */
void glass_state_move(const struct glass_shape *here, char *own, char *whole, bool place);
enum ergo_status glass_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);

/* The default of /system/dynamics where it is not metropolis, else NULL (job.c). */
const char *glass_instead(const struct ergo_point *point);

#endif
