/* Models with a byte per spin on a device: shape, launch, buffers. Internal to the sampler
 * spin-lattice. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_BYTES_H
#define ERGO_SAMPLERS_SPIN_LATTICE_BYTES_H

#include "base/bits.h"
#include "engine/engine.h"
#include "engine/slab.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/bytes_params.h"

/* Values of the macro BYTES_MODEL. */
enum bytes_kind { BYTES_ISING, BYTES_POTTS, BYTES_POTTS_HEAT, BYTES_BLUME_CAPEL };

struct bytes_shape {
    uint32_t d, l[3]; /* sides; 1 beyond the d dimensions */
    uint32_t q;
    enum bytes_kind kind;
    uint64_t sites;
    uint32_t pitch;  /* bytes of a row of one colour */
    uint64_t colour; /* bytes of all sites of a colour */
    uint32_t states; /* values of a byte that are counted */
    bool general;    /* fields and couplings are integers, of each site or bond or of all */
    bool bonds;      /* general: each bond has its coupling */
    uint32_t fields; /* general: fields of a site: 1, of potts q or none */
    bool heat_bath;
    /* counts of a sample: 3 + states; ising also up spins at sites with positive sign */
    uint32_t counts;
    uint32_t numbers; /* words of a sample; general: 2 more, for a sum of 64 bits */
    /* of layers of a lattice: their first row, and how many rows the lattice has */
    uint64_t first_row, all_rows;
};

struct bytes_physics {
    double t, j[3], b, h; /* b: of potts on the first state; h: strength of the random field */
    double crystal;       /* blume_capel: crystal field */
};

/* General fields and couplings as integers, in multiples of `unit`. Sites are in natural order,
 * x fastest. */
struct bytes_disorder {
    struct model_sites of;
    double unit;     /* energy, a power of two */
    int32_t *fields; /* [of a site][site], with the uniform one; potts: [state][site], without it */
    int32_t j[3], field, crystal; /* field: potts, uniform */
    int32_t *bonds; /* [axis][site], to the neighbour in the positive direction; NULL: all are j */
};

struct bytes_launch {
    uint32_t group, strip; /* strip: rows of a work-item */
    uint32_t measure_groups;
    bool local;             /* a lattice in local memory, many sweeps a launch */
    uint32_t local_group;   /* work-items of such a launch, a group */
    uint64_t launch_sweeps; /* most sweeps of such a launch */
    uint32_t ahead;         /* sweeps whose random words a launch of their own draws; 0: none */
    uint64_t block_sweeps;  /* sweeps per block, roughly 0.1 s */
    uint32_t reach, planes; /* of the curves; 0: none */
    uint32_t curve_length;  /* counts per curve sample and member */
    uint32_t from, to;      /* rows that are measured: of a slab, its own */
};

enum bytes_buffer {
    BYTES_SPINS,
    BYTES_MEMBERS,
    BYTES_TERMS,
    BYTES_CHANCES, /* heat bath of potts: choices of all members */
    BYTES_DRAWN,   /* random words drawn ahead */
    BYTES_COUNTS,
    BYTES_CURVE_COUNTS,
    BYTES_EDGES, /* of a slab, both outgoing and incoming */
    BYTES_HALOS
};
enum bytes_kernel {
    BYTES_SWEEP,
    BYTES_DRAW,
    BYTES_START,
    BYTES_MEASURE,
    BYTES_CORRELATE,
    BYTES_PLANES,
    BYTES_ENERGY, /* the sum of 64 bits for general fields */
    BYTES_PACK,   /* of a slab */
    BYTES_UNPACK
};

struct bytes_state {
    struct ergo_engine e;
    struct bytes_shape shape; /* of what is on this device */
    struct bytes_shape whole; /* of the lattice */
    bool cut;                 /* what is here is a slab of it */
    struct ergo_slab slab;
    /* counts over all ranks: [samples][members][numbers]; [curves][members][of a whole lattice] */
    uint32_t *joined, *joined_curves;
    struct bytes_launch launch;
    struct bytes_member *members;
    bool fields;                   /* members have random fields */
    struct bytes_physics *physics; /* [members] */
    double *units;                 /* [members], unit of the general fields */
    double *wave;                  /* of bytes_wave */
    /* [members], checksum of the signs of the random field; 0: not known yet */
    uint64_t *field_sums;
};

/* bytes_job.c: what a job tells without a device. */
struct bytes_shape bytes_shape_of(const struct ergo_point *point);
/* Layers of that lattice, of the last direction: `layers` from layer `first` on, around its end. */
struct bytes_shape bytes_shape_of_layers(const struct bytes_shape *whole, uint64_t first,
                                         uint64_t layers);
static inline uint32_t bytes_layers(const struct bytes_shape *s) {
    return s->l[s->d - 1];
}
static inline uint64_t bytes_layer_rows(const struct bytes_shape *s) {
    return s->d > 2 ? s->l[1] : 1;
}
/* Is it worth while to cut the lattice over so many ranks? */
bool bytes_pays_to_cut(const struct ergo_point *point, size_t ranks);
/* Bits of the directions with a negative coupling, along which the signs of an antiferromagnet
 * alternate. The wave vector of its order is pi along these. Also for the Ising model with a bit
 * per spin. */
uint32_t bytes_staggered_axes(const struct ergo_point *point);
const char *bytes_remedy(const struct ergo_point *point); /* also for ising/ */
struct bytes_physics bytes_physics_of(const struct ergo_point *point);
void bytes_member_fill(const struct ergo_point *point, struct bytes_member *member);
enum ergo_status bytes_check(struct ergo_context *ctx, const struct ergo_point *point);
/* The part of bytes_check about random fields and couplings. */
enum ergo_status bytes_check_disorder(struct ergo_context *ctx, const struct ergo_point *point);
/* Refuse odd sides, and more than `most` sites. */
enum ergo_status bytes_check_size(struct ergo_context *ctx, const struct ergo_point *point,
                                  double most);
double bytes_exact(const struct ergo_point *point, const char *observable);
/* Energy and magnetization (potts: order parameter) per site, from the counts of a sample. unit:
 * of general fields. */
void bytes_columns(const struct bytes_physics *p, const struct bytes_shape *s, double unit,
                   const uint32_t *counts, double *columns);

/* largest distance of correlations; 0: none */
uint32_t bytes_reach(const struct ergo_point *point);
/* The curve "structure_factor". These three also serve the Ising model with a bit per spin. */
bool bytes_has_structure(const struct ergo_point *point);
size_t bytes_curve_size(const struct ergo_point *point, size_t c);
/* With the curves of ladders. */
size_t bytes_tempered_curve_size(const struct ergo_point *point, size_t c);
void bytes_curve_x(const struct ergo_point *point, size_t c, double *x);
double bytes_correlation_length(const struct ergo_point *point, const double *mean, size_t size);
double bytes_longest_side(const struct ergo_point *point); /* in sites */
/* A row of observables, of models with a magnetisation. */
#define BYTES_CORRELATION_LENGTH                                                                   \
    {                                                                                              \
        ERGO_NAMED("correlation_length", "sites"),                                                 \
            .help = "second moment, along the last dimension: sqrt(S(Q)/S(Q + k) - 1) / (2 "       \
                    "sin(k/2)), k = 2 pi / L, Q as in structure_factor. S(Q) = N <m^2> "           \
                    "(antiferromagnets: m_s), from which nothing is subtracted: below the "        \
                    "critical temperature this is no correlation length, but over L it crosses "   \
                    "there for all L",                                                             \
            .curve = "structure_factor", .from_curve = bytes_correlation_length,                   \
            .applies = bytes_has_structure, .bound = bytes_longest_side,                           \
            .beyond = "longer than the lattice: order"                                             \
    }
/* The smallest wave: cosine and sine at each plane of the last direction, wave[plane][2]. */
void bytes_wave(const struct bytes_shape *s, double *wave);
/* out: S(0) and S(k). planes[plane][q]: sites in each state. staggered: S(Q) and S(Q + k) from
 * sites with positive sign minus those with negative sign, modulo 2^32. */
void bytes_structure(const struct bytes_shape *s, bool staggered, const double *wave,
                     const uint32_t *planes, double out[2]);

/* bytes_heat.c */
/* Heat bath of potts with at most three states: entries of the table of choices; else 0. Then the
 * table as the kernel reads it, of so many words. */
uint32_t bytes_choices(const struct bytes_shape *s);
size_t bytes_choices_length(const struct bytes_shape *s);
void bytes_choices_fill(const struct bytes_shape *s, const struct bytes_member *member,
                        uint32_t *words);

/* bytes_disorder.c */
/* Check /system/field_file; records a job error. */
enum ergo_status bytes_file_check(struct ergo_context *ctx, const struct ergo_point *point);
/* Check /system/disorder_file; records a job error. */
enum ergo_status bytes_bonds_check(struct ergo_context *ctx, const struct ergo_point *point);
/* With the bonds of a file: does Metropolis of two states sample (ergodic.h)? */
bool bytes_file_samples(const struct ergo_point *point);
enum ergo_status bytes_disorder_make(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct bytes_disorder *d);
/* Of the sites d->of, whole layers, in d->unit; 0: it is found, by all ranks together or for these
 * sites. */
enum ergo_status bytes_disorder_part(struct ergo_context *ctx, const struct ergo_point *point,
                                     bool together, struct bytes_disorder *d);
void bytes_disorder_free(struct bytes_disorder *d);
void bytes_disorder_fill(const struct ergo_point *point, const struct bytes_disorder *d,
                         struct bytes_member *member);
/* Fields and couplings in the layout of the kernels. Length: numbers of a member. */
size_t bytes_terms_length(const struct bytes_shape *s);
void bytes_terms_pack(const struct bytes_shape *s, const struct bytes_disorder *d, int32_t *packed);
/* The reverse of bytes_terms_pack; does not set unit and j. ERGO_E_MEMORY. */
enum ergo_status bytes_terms_unpack(struct ergo_context *ctx, const struct bytes_shape *s,
                                    const int32_t *packed, struct bytes_disorder *d);

/* bytes_plan.c */
enum ergo_status bytes_configure(struct ergo_context *ctx, void *state);
void bytes_fill(void *state); /* the parameters of all members */
/* Random words in fours that are drawn ahead for the blocks of a colour. */
uint64_t bytes_fours(const struct bytes_shape *s);

/* bytes.c: the engine's functions of both tables. */
#define BYTES_ENGINE                                                                               \
    .sampler = "spin-lattice", .smaller = "a smaller lattice",                                     \
    .state_bytes = sizeof(struct bytes_state), .steps = bytes_steps, .measure = bytes_measure,     \
    .measure_curves = bytes_measure_curves, .block = bytes_block, .rows = bytes_rows,              \
    .curve_rows = bytes_curve_rows
/* What prepares: sizes of work-groups; parameters, fields and couplings. */
void bytes_groups(struct bytes_state *s);
enum ergo_status bytes_constants(struct ergo_context *ctx, struct bytes_state *s);
enum ergo_status bytes_init(struct ergo_context *ctx, void *state);
void bytes_steps(void *state, uint64_t sweeps);
void bytes_measure(void *state, size_t sample);
void bytes_measure_curves(void *state, size_t curve);
void bytes_block(void *state, size_t count, uint64_t every);
bool bytes_rows(const void *state, unsigned slot, size_t begin, size_t end,
                const struct ergo_samples *samples);
bool bytes_curve_rows(const void *state, unsigned slot, size_t begin, size_t end,
                      const struct ergo_samples *samples);
/* Curves of sample `row` from its counts: equal pairs [axis][r - 1], then planes. */
void bytes_curves(const struct bytes_state *s, size_t member, const uint32_t *counts, size_t row,
                  const struct ergo_samples *samples);

/* bytes_state.c */
/* Read a member's spins in the device's layout. */
enum ergo_status bytes_read(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                            uint8_t *raw);
enum ergo_status bytes_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);
enum ergo_status bytes_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text);
enum ergo_status bytes_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length);
struct ergo_checkerboard bytes_board(const struct bytes_shape *shape);
enum ergo_status bytes_view(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_view *view);
struct ergo_view bytes_view_of(const struct bytes_shape *shape); /* without sites */

/* bytes_audit.c */
enum ergo_status bytes_audit(struct ergo_context *ctx, void *state);
struct bytes_box {
    uint32_t first[3], count[3];
};
/* A stretch of an audit. */
struct bytes_stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* members that are replayed */
    struct bytes_box box; /* of each replayed member */
    bool whole;           /* the box is the lattice */
    /* distances of correlations that are compared: first, first + stride, ... On large batches
     * these are not all, and later audits take others. */
    uint32_t pair_first;
    uint32_t pair_stride;
    const int32_t *members_terms; /* of all members; NULL: no general fields */
};
/* before: the member's lattice before the stretch, which the twin moves to the end. after: the end
 * on the device. */
enum ergo_status bytes_replay(struct ergo_context *ctx, const struct bytes_stretch *t,
                              const struct bytes_state *s, size_t member,
                              const struct bytes_disorder *d, uint8_t *before,
                              const uint8_t *after);
/* What the twin has counted of a lattice, against row `row` of the samples found; of those with
 * curves. */
enum ergo_status bytes_compare_counts(struct ergo_context *ctx, const struct bytes_stretch *t,
                                      const struct bytes_state *s, size_t member,
                                      const uint32_t *counts, size_t row);
enum ergo_status bytes_compare_curves(struct ergo_context *ctx, const struct bytes_stretch *t,
                                      const struct bytes_state *s, size_t member,
                                      const uint32_t *counts, size_t row);

/* bytes_cut.c: a slab of a lattice on each rank. bytes_cut_audit.c: its audit. */
size_t bytes_joined_numbers(const struct bytes_state *s);
enum ergo_status bytes_cut_audit(struct ergo_context *ctx, void *state);

/* bytes_twin.c: the chain on the host, on sites in natural order, x fastest. A random field sets
 * a bit of the sites. Row number: y + ly z. */
void bytes_twin_fields(const struct bytes_shape *shape, const struct bytes_member *member,
                       uint8_t *sites);
void bytes_twin_field_row(const struct bytes_shape *shape, const struct bytes_member *member,
                          size_t row, uint8_t *sites);
void bytes_twin_start_row(const struct bytes_shape *shape, const struct bytes_member *member,
                          const char *start, size_t row, uint8_t *sites);
/* d: general fields and couplings; otherwise NULL. */
void bytes_twin_sweep(const struct bytes_shape *shape, const struct bytes_member *member,
                      const struct bytes_disorder *d, uint64_t step, uint8_t *sites);
/* Several sweeps, after which only the sites in a box are right. Up to 2 sites per sweep around
 * it are wrong. A side of the box may be that of the lattice. */
void bytes_twin_box(const struct bytes_shape *shape, const struct bytes_member *member,
                    const struct bytes_disorder *d, uint64_t step, uint64_t sweeps,
                    const struct bytes_box *box, uint8_t *sites);
void bytes_twin_count(const struct bytes_shape *shape, const struct bytes_member *member,
                      const struct bytes_disorder *d, const uint8_t *sites, uint32_t *counts);
/* The same of rows `begin` to `end` - 1 alone: what they add to the counts. Of pairs: those whose
 * first site is there. */
void bytes_twin_count_rows(const struct bytes_shape *shape, const struct bytes_member *member,
                           const struct bytes_disorder *d, const uint8_t *sites, size_t begin,
                           size_t end, uint32_t *counts);
/* Sums of counts over ranks: `rows` samples, in place. Those of a sample are modulo 2^32, the sum
 * of general fields, of two words, modulo 2^64. */
enum ergo_status bytes_sum_counts(struct ergo_context *ctx, const struct bytes_shape *shape,
                                  uint32_t *counts, size_t rows);
/* counts[axis][r - 1]: equal pairs at the distances r = first, first + stride, ... up to reach,
 * whose first site is in rows `begin` to `end` - 1. false: no memory. */
bool bytes_twin_pairs(const struct bytes_shape *shape, const uint8_t *sites, size_t begin,
                      size_t end, uint32_t reach, uint32_t first, uint32_t stride,
                      uint32_t *counts);
/* counts[plane][q]: sites in each state in each plane of the last direction, for
 * bytes_structure. */
void bytes_twin_planes(const struct bytes_shape *shape, const struct bytes_member *member,
                       const uint8_t *sites, uint32_t *counts);
#endif
