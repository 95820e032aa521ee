/* Models with a byte per spin on a device: shape, launch, buffers. Internal to the sampler
 * spin-lattice. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_BYTES_H
#define ERGO_SAMPLERS_SPIN_LATTICE_BYTES_H

#include "base/bits.h"
#include "engine/engine.h"
#include "engine/slab.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/bytes_params.h"

/* Values of the macro BYTES_MODEL; `rule` of a model's table, where neither ising nor potts. */
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
    /* counts of curves over all ranks: [curves][members][of a whole lattice] */
    uint32_t *joined_curves;
    struct bytes_launch launch;
    struct bytes_member *members;
    bool fields;                   /* members have random fields */
    struct bytes_physics *physics; /* [members] */
    double *units;                 /* [members], unit of the general fields */
    double *wave;                  /* of bytes_wave */
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
double bytes_exact(const struct ergo_point *point, const char *observable);
/* Energy and magnetization (potts: order parameter) per site, from the counts of a sample. */
void bytes_columns(const void *state, size_t member, const uint64_t *counts, double *columns);

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
/* Signs of ising's random field in a row, drawn: bit 1 of the sites where they are positive. The
 * sites of a colour begin at `colours` and are `step` bytes apart. */
void bytes_field_signs(const struct bytes_shape *s, const struct bytes_member *member, uint64_t row,
                       uint8_t *const colours[2], size_t step);
void bytes_disorder_fill(const struct ergo_point *point, const struct bytes_disorder *d,
                         struct bytes_member *member);
/* Fields and couplings in the layout of the kernels. Length: numbers of a member. */
size_t bytes_terms_length(const struct bytes_shape *s);
void bytes_terms_pack(const struct bytes_shape *s, const struct bytes_disorder *d, int32_t *packed);

/* bytes_plan.c */
enum ergo_status bytes_configure(struct ergo_context *ctx, void *state);
void bytes_fill(void *state); /* the parameters of all members */
/* Random words in fours that are drawn ahead for the blocks of a colour. */
uint64_t bytes_fours(const struct bytes_shape *s);

/* bytes.c: the engine's functions of both tables. */
#define BYTES_ENGINE                                                                               \
    .sampler = "spin-lattice", .smaller = "a smaller lattice",                                     \
    .state_bytes = sizeof(struct bytes_state), .fields = &bytes_fields, .start = bytes_begin,      \
    .steps = bytes_steps, .measure = bytes_measure, .measure_curves = bytes_measure_curves,        \
    .block = bytes_block, .columns = bytes_columns, .curve_row = bytes_curve_row
/* What prepares: sizes of work-groups; parameters, fields and couplings. */
enum ergo_status bytes_groups(struct ergo_context *ctx, void *state);
enum ergo_status bytes_constants(struct ergo_context *ctx, void *state);
void bytes_begin(void *state);
void bytes_steps(void *state, uint64_t sweeps);
void bytes_measure(void *state, size_t sample);
void bytes_measure_curves(void *state, size_t curve);
void bytes_block(void *state, size_t count, uint64_t every);
bool bytes_curve_row(const void *state, unsigned slot, const struct ergo_row *row);

/* bytes_state.c */
enum ergo_status bytes_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);
extern const struct ergo_fields bytes_fields;

size_t bytes_joined_numbers(const struct bytes_state *s); /* bytes_cut.c: a slab on each rank */

#endif
