/* Spins that are unit vectors (models xy, clock, heisenberg): shape, launch, buffers. Internal to
 * the sampler spin-lattice. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_VECTOR_VECTOR_H
#define ERGO_SAMPLERS_SPIN_LATTICE_VECTOR_VECTOR_H

#include "engine/engine.h"
#include "engine/slab.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/vector_params.h"

struct vector_shape {
    uint32_t d, l[3]; /* sides; 1 beyond the d dimensions */
    bool triangular;
    bool space; /* heisenberg: three components; else an angle */
    uint32_t q; /* directions of clock; 0: any */
    bool heat_bath;
    bool random;         /* random fields, */
    bool stored;         /* whose components are stored */
    bool coupled;        /* each bond has its coupling */
    uint32_t relax;      /* over-relaxations in a sweep */
    uint32_t colours;    /* 2; triangular 3 */
    uint32_t directions; /* of bonds, at a site: d; triangular 3 */
    uint32_t components; /* words of a spin */
    uint32_t numbers;    /* of a sample */
    uint64_t sites;
};

/* The point's numbers as doubles. */
struct vector_physics {
    double t, j, b, anisotropy;
    double random; /* strength of the random field */
    /* units of stored couplings and fields, powers of two; 1 where there are none */
    double bond_unit, field_unit;
};

/* Random couplings and stored fields of a member at some sites, in natural order, in parts of a
 * unit that none of the lattice's exceeds: multiples of 2^-24. */
struct vector_terms {
    struct model_sites of;
    double bond_unit, field_unit;
    float *bonds;  /* [direction][site], to the neighbour ahead; NULL: none */
    float *fields; /* [component][site]; NULL: none */
};

enum vector_column {
    VECTOR_ENERGY,
    VECTOR_X,
    VECTOR_Y,
    VECTOR_Z,
    VECTOR_ALIGNMENT,
    VECTOR_CURRENT2,
    VECTOR_Z2,
    VECTOR_VORTICES,
    VECTOR_CHIRALITY,
    VECTOR_RANDOM_ALIGNMENT,
    VECTOR_COLUMNS
};
enum { VECTOR_CURVE_STRUCTURE, VECTOR_CURVES };

/* Wave vectors of the structure factor: 0, the smallest along each direction, those of the job; in
 * units of 2^-32 of a turn a site. */
enum { VECTOR_WAVES_LISTED = 16, VECTOR_WAVES_MAX = 4 + VECTOR_WAVES_LISTED };
struct vector_waves {
    uint32_t n, k[VECTOR_WAVES_MAX][3];
};

enum vector_buffer {
    VECTOR_SPINS,
    VECTOR_MEMBERS,
    VECTOR_NUMBERS_OF_SITES, /* couplings and fields */
    VECTOR_WAVES,
    VECTOR_COUNTS,
    VECTOR_WAVE_COUNTS,
    VECTOR_EDGES, /* of a slab, both outgoing and incoming */
    VECTOR_HALOS
};
enum vector_kernel {
    VECTOR_START,
    VECTOR_SWEEP,
    VECTOR_RELAX,
    VECTOR_MEASURE,
    VECTOR_COUNT_WAVES,
    VECTOR_PACK, /* of a slab */
    VECTOR_UNPACK
};

struct vector_state {
    struct ergo_engine e;
    struct vector_shape shape; /* of what is on this device */
    struct vector_shape whole; /* of the lattice */
    bool cut;                  /* what is here is a slab of it */
    struct ergo_slab slab;
    uint64_t first; /* number of the first site here */
    /* of a slab: sums over all ranks, as VECTOR_COUNTS and VECTOR_WAVE_COUNTS have them */
    int64_t *joined, *joined_waves;
    struct vector_member *members;
    struct vector_physics *physics; /* [members] */
    uint32_t group;                 /* work-items of a group */
    uint32_t depth;                 /* layers that a work-item updates */
    uint32_t wide, relax_depth;     /* sites of a row, and layers, that it over-relaxes; */
    uint32_t wide_group;            /* several sites: at most so many work-items */
    uint32_t from, to;              /* layers that are measured: of a slab, its own */
    uint32_t measure_groups;
    uint32_t run;              /* successive sites that a work-item measures */
    struct vector_waves waves; /* n 0: no structure factor */
};

/* Layers: planes, in two dimensions rows; a chain is one. */
static inline uint32_t vector_layers(const struct vector_shape *s) {
    return s->d > 1 ? s->l[s->d - 1] : 1;
}

/* job.c: what a job tells without a device. */
struct vector_shape vector_shape_of(const struct ergo_point *point);
/* So many layers of that lattice. */
struct vector_shape vector_shape_of_layers(const struct vector_shape *whole, uint32_t layers);
/* Is it worth while to cut the lattice over so many ranks? */
bool vector_pays_to_cut(const struct ergo_point *point, size_t ranks);
struct vector_physics vector_physics_of(const struct ergo_point *point);
void vector_member_fill(const struct ergo_point *point, struct vector_member *member);
enum ergo_status vector_check(struct ergo_context *ctx, const struct ergo_point *point);
bool vector_has_column(const struct ergo_point *point, size_t c);
/* n 0: the structure factor is not measured. False: /run/wave_vectors cannot be read. */
bool vector_waves_of(const struct ergo_point *point, struct vector_waves *waves);
double vector_exact(const struct ergo_point *point, const char *observable);

/* disorder.c */
/* d->of and the units are set; those that are 0 are found, by all ranks together or for this one's
 * sites. */
enum ergo_status vector_terms_make(struct ergo_context *ctx, const struct ergo_point *point,
                                   bool together, struct vector_terms *d);
void vector_terms_free(struct vector_terms *d);
/* Are files as they should be? If not, a job error is recorded. */
enum ergo_status vector_terms_check(struct ergo_context *ctx, const struct ergo_point *point);
/* As the kernels have them; floats of a member. s: of what is on the device. Unpacking leaves units
 * and the number of the first site alone; ERGO_E_MEMORY. */
size_t vector_terms_length(const struct vector_shape *s);
void vector_terms_pack(const struct vector_shape *s, const struct vector_terms *d, float *packed);
enum ergo_status vector_terms_unpack(struct ergo_context *ctx, const struct vector_shape *s,
                                     const float *packed, struct vector_terms *d);

/* columns.c: what the sums over sites and bonds mean, as doubles. */
/* columns[VECTOR_COLUMNS] from the sums of vector_params.h; those that are not measured are 0. */
void vector_columns(const struct vector_shape *s, const struct vector_physics *p,
                    const int64_t *sums, double *columns);
/* S(k), from the sums of a wave. */
double vector_structure(const struct vector_shape *s, const int64_t *sums);
/* Two 32-bit halves of a sum. */
int64_t vector_sum(const uint32_t *halves);

/* plan.c */
enum ergo_status vector_configure(struct ergo_context *ctx, void *state);
void vector_fill(void *state); /* the parameters of all members */

/* advance.c: enqueue an over-relaxation of all sites of a colour. The engine's functions of both
 * tables. */
void vector_relax(struct vector_state *s, uint32_t colour);
#define VECTOR_ENGINE                                                                              \
    .sampler = "spin-lattice", .smaller = "a smaller lattice",                                     \
    .state_bytes = sizeof(struct vector_state), .steps = vector_steps, .measure = vector_measure,  \
    .measure_curves = vector_measure_curves, .rows = vector_rows, .curve_rows = vector_curve_rows
/* What prepares: sizes of work-groups; parameters, couplings and fields. */
void vector_groups(struct vector_state *s);
enum ergo_status vector_constants(struct ergo_context *ctx, struct vector_state *s);
enum ergo_status vector_init(struct ergo_context *ctx, void *state);
void vector_steps(void *state, uint64_t sweeps);
void vector_measure(void *state, size_t sample);
void vector_measure_curves(void *state, size_t curve);
bool vector_rows(const void *state, unsigned slot, size_t begin, size_t end,
                 const struct ergo_samples *samples);
bool vector_curve_rows(const void *state, unsigned slot, size_t begin, size_t end,
                       const struct ergo_samples *samples);

/* The planes [first, first + count) of the last dimension, modulo its side; of each in three
 * dimensions the rows [row, row + rows) along y, modulo their number, else rows is 1. */
struct vector_slab {
    uint32_t first, count, row, rows;
};
/* Whole planes. */
static inline struct vector_slab vector_slab_of(const struct vector_shape *s, uint32_t first,
                                                uint32_t count) {
    return (struct vector_slab){first, count, 0, s->d == 3 ? s->l[1] : 1};
}
/* Their sites in natural order, x fastest: an angle or three components (the bits of floats) a
 * site. */
struct vector_part {
    struct vector_slab slab;
    uint32_t *sites;
};

/* state.c */
/* Number of the site at (x, y, z) on a device, and where it has component `c`, in words. */
size_t vector_place(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z);
size_t vector_at(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z, uint32_t c);
/* Words of a slab. */
size_t vector_words(const struct vector_shape *s, struct vector_slab slab);
/* Planes to be read at a time: all, or some MiB. */
uint32_t vector_planes(const struct vector_shape *s);
/* Memory to read slabs of up to that size; false: there is none. */
struct vector_reader {
    struct vector_state *s;
    const struct ergo_replay *before; /* as before this stretch; NULL: as it is now */
    uint32_t *raw;                    /* owned */
};
bool vector_reader_open(struct vector_reader *r, struct vector_state *s, struct vector_slab most);
void vector_reader_close(struct vector_reader *r);
/* Sets part->sites, which has vector_words(part->slab). */
enum ergo_status vector_read(struct ergo_context *ctx, const struct vector_reader *r, size_t member,
                             const struct vector_part *part);
enum ergo_status vector_form(struct ergo_context *ctx, const struct ergo_point *point,
                             struct ergo_form *form);
enum ergo_status vector_save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
enum ergo_status vector_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length);
enum ergo_status vector_view(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_view *view);
struct ergo_view vector_view_of(const struct vector_shape *shape); /* without sites */
size_t vector_state_bytes(const struct vector_shape *s);           /* of a saved member */

/* twin.c: the chain on the host. d: what is stored of the whole lattice, if anything is. */
void vector_twin_start(const struct vector_shape *s, const struct vector_member *m, bool random,
                       uint64_t site, uint32_t *spin);
/* sites: of the whole lattice */
void vector_twin_sweep(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, uint64_t step, uint32_t *sites);
/* Sweeps of a part that has the slab with its margin, or the whole lattice; after them only the
 * slab is right. */
void vector_twin_slab(const struct vector_shape *s, const struct vector_member *m,
                      const struct vector_terms *d, uint64_t step, uint64_t sweeps,
                      struct vector_slab slab, const struct vector_part *part);
/* Planes beyond the slab, on either side, that so many sweeps read, and rows if it has not all. */
uint64_t vector_twin_margin(const struct vector_shape *s, uint64_t sweeps);
struct vector_slab vector_twin_around(const struct vector_shape *s, struct vector_slab slab,
                                      uint64_t sweeps);
/* Of these planes all rows, or those around y = 0 that the twin has time for. */
struct vector_slab vector_twin_window(const struct vector_shape *s, struct vector_slab planes,
                                      uint64_t sweeps);
/* Sums over sites and bonds, and of waves. */
struct vector_sums {
    int64_t sites[VECTOR_NUMBERS_SPACE], waves[VECTOR_WAVES_MAX][VECTOR_WAVE_NUMBERS];
};
/* Adds the sums over the first `planes` planes of a part, which has the one behind them, too; a
 * chain's is the whole lattice. */
void vector_twin_count(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, const struct vector_waves *waves,
                       const struct vector_part *part, uint32_t planes, struct vector_sums *sums);

/* audit.c */
enum ergo_status vector_audit(struct ergo_context *ctx, void *state);
/* A stretch of an audit. */
struct vector_stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* members that are replayed */
    struct vector_slab slab;
    bool whole; /* the slab is the lattice */
};
enum { VECTOR_REPLAY_SPINS = 1 << 19 }; /* spin updates of the twin, some 0.1 s on the host */
/* Plans the samples of a stretch, and counts its members; the same at all ranks. */
void vector_plan_stretch(struct vector_stretch *t, const struct vector_state *s);
/* A slab before the stretch, with its margin on either side, and after it; the twin moves the first
 * to the second. Sums of the whole lattice are compared sample by sample. */
enum ergo_status vector_replay(struct ergo_context *ctx, const struct vector_stretch *t,
                               const struct vector_state *s, size_t member,
                               const struct vector_terms *d, const struct vector_part *before,
                               const struct vector_part *after);
/* Adds the sums of the device's layers `from` to `to` - 1 as they are now, read in pieces. */
enum ergo_status vector_add_layers(struct ergo_context *ctx, const struct vector_stretch *t,
                                   struct vector_state *s, size_t member,
                                   const struct vector_terms *d, uint32_t from, uint32_t to,
                                   struct vector_sums *sums);
/* Compares a sample of a member with the sums of its lattice. */
enum ergo_status vector_compare_sample(struct ergo_context *ctx, const struct vector_stretch *t,
                                       const struct vector_state *s, size_t member, size_t sample,
                                       const struct vector_sums *sums);
/* A member's couplings and fields, from the device. */
enum ergo_status vector_read_terms(struct ergo_context *ctx, struct vector_state *s, size_t member,
                                   struct vector_terms *d);

/* cut_audit.c */
enum ergo_status vector_cut_audit(struct ergo_context *ctx, void *state);

#endif
