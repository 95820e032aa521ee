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
    VECTOR_ENERGY = LATTICE_VECTOR_ENERGY,
    VECTOR_X,
    VECTOR_Y,
    VECTOR_Z,
    VECTOR_ALIGNMENT,
    VECTOR_CURRENT2,
    VECTOR_Z2 = LATTICE_VECTOR_COLUMNS,
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
    uint64_t first;        /* number of the first site here */
    int64_t *joined_waves; /* of a slab: sums over all ranks, as VECTOR_WAVE_COUNTS has them */
    struct vector_member *members;
    struct vector_physics *physics; /* [members] */
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
/* As the kernels have them; floats of a member. s: of what is on the device. */
size_t vector_terms_length(const struct vector_shape *s);
void vector_terms_pack(const struct vector_shape *s, const struct vector_terms *d, float *packed);

/* columns.c: what the sums over sites and bonds mean, as doubles. */
/* columns[VECTOR_COLUMNS] from the sums of vector_params.h; those that are not measured are 0. */
void vector_columns(const void *state, size_t member, const uint64_t *totals, double *columns);
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
    .state_bytes = sizeof(struct vector_state), .fields = &vector_fields, .start = vector_begin,   \
    .steps = vector_steps, .measure = vector_measure, .measure_curves = vector_measure_curves,     \
    .columns = vector_columns, .curve_row = vector_curve_row
/* What prepares: couplings and fields, wave vectors. */
enum ergo_status vector_constants(struct ergo_context *ctx, void *state);
void vector_begin(void *state);
void vector_steps(void *state, uint64_t sweeps);
void vector_measure(void *state, size_t sample);
void vector_measure_curves(void *state, size_t curve);
bool vector_curve_row(const void *state, unsigned slot, const struct ergo_row *row);

/* state.c */
/* Number of the site at (x, y, z) on a device. */
size_t vector_place(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z);
enum ergo_status vector_form(struct ergo_context *ctx, const struct ergo_point *point,
                             struct ergo_form *form);
extern const struct ergo_fields vector_fields;

#endif
