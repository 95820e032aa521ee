/*
 * What a job knows of samplers: their models, and of each its keys, what a run of it measures, and
 * what can be said of a point without a device. The functions that need one are
 * `struct ergo_sampler_ops` (samplers/sampler.h), to which a model only points.
 */
#ifndef ERGO_JOB_MODEL_H
#define ERGO_JOB_MODEL_H

#include <math.h>

#include "base/text.h"
#include "job/form.h"
#include "job/job.h"

/* A recorded column of the time series: one double per sample and member. */
struct ergo_column {
    const char *name, *unit, *help;
};

enum { ERGO_COLUMNS_MAX = 26 }; /* of one model */

/* What an observable is that is no estimate but a fact of a chain, without an error: the lowest
 * energy that it has seen, say. And what is told of a point's replicas. */
enum ergo_fact {
    ERGO_FACT_NONE,  /* an estimate */
    ERGO_FACT_LEAST, /* the least of theirs */
    ERGO_FACT_MOST,
    ERGO_FACT_MEAN,  /* their mean, whose error is of their scatter */
    ERGO_FACT_ERROR, /* a standard error: that of their mean */
    ERGO_FACT_SHARE  /* of_share, of the share of replicas that have a value (not NAN) */
};

/*
 * An observable of the result: of the columns of one sample (e.g. m^2: a `power` of `column`, or
 * else `sample`), or of the means of other observables (`derive`, e.g. heat capacity from energy
 * and energy2; `inputs` are their names), or of the mean of the curve of that name (its number
 * `element`, from the end where that is negative; or `from_curve`, e.g. a pressure from a histogram
 * of distances). Exactly one of the three is set. A model's table begins with what is to be quoted:
 * terminals, tables and pages keep its order. `sample` looks at no key by which samples are
 * weighted for other points (conjugates), but for one that `recorded_at` names.
 */
struct ergo_observable {
    const char *name, *unit, *help;
    size_t column;
    unsigned power; /* 0: of no column alone */
    bool absolute;  /* of its absolute value */
    double (*sample)(const struct ergo_point *point, const double *columns);
    const char *inputs[8]; /* NULL-terminated; for derive */
    double (*derive)(const struct ergo_point *point, const double *means);
    const char *curve;
    int element;
    double (*from_curve)(const struct ergo_point *point, const double *mean, size_t size);
    /* independent: the key whose larger value adds independent samples ("/system/samples"); what a
     * warning about too few of them says. */
    const char *more;
    bool independent;    /* the curve's samples are independent, and there is no tau */
    bool hidden;         /* only an input of others; not in the result (kept in the HDF5 file) */
    enum ergo_fact fact; /* of a curve */
    double (*of_share)(const struct ergo_point *point, double share); /* ERGO_FACT_SHARE */
    bool merit; /* what a run is tuned by: independent samples of it per second are told */
    /* Not of the configuration alone, but of how the chain moved (acceptances, clusters of bonds)
     * or of what a key says of this point: not to be weighted for another point. And the key whose
     * value went into the columns, so that they are right for this value only. */
    bool of_moves;
    const char *recorded_at;
    bool crosses; /* curves of all sizes cross at the critical point (ergocl analyse) */
    /* Where it is not 0, results are those of a limited ensemble: what a warning says. */
    const char *limits;
    /* At some points only: not in the result where it is false. NULL: always. */
    bool (*applies)(const struct ergo_point *point);
    /* Where its chain decorrelates far more slowly than the others' for a physical reason: the
     * reason, half a sentence for the warning about its error. NULL (also the function): nowhere.
     */
    const char *(*slow)(const struct ergo_point *point);
    /* What a mean says that people have to know before they believe the others: a sentence without
     * its full stop, for a warning; NULL (also the function): nothing. */
    const char *(*alarm)(const struct ergo_point *point, double mean);
    /* The largest value that still is what the name says, and what a larger one is, in a few words.
     * Pages say so and leave such a point out of figures; files keep it. NULL: any. */
    double (*bound)(const struct ergo_point *point);
    const char *beyond;
};

/* How an observable's row begins: ERGO_NAMED("energy", "J"). */
#define ERGO_NAMED(name_, unit_) .name = (name_), .unit = (unit_)
/* The mean of a column, or of a power of it. */
#define ERGO_COLUMN(column_) ERGO_POWER(column_, 1)
#define ERGO_POWER(column_, power_) .column = (column_), .power = (power_)

/* Is it of samples? */
static inline bool ergo_observable_sampled(const struct ergo_observable *observable) {
    return observable->sample || observable->power;
}

/* Is it measured in any case, because warnings about the others come from it? */
static inline bool ergo_observable_warns(const struct ergo_observable *observable) {
    return ergo_observable_sampled(observable) && (observable->alarm || observable->limits);
}

/* Could /run/observables ask for it? */
static inline bool ergo_observable_may_show(const struct ergo_observable *observable,
                                            const struct ergo_point *point) {
    return !observable->hidden && (!observable->applies || observable->applies(point));
}
/* Is the observable in the result of a point? */
static inline bool ergo_observable_shown(const struct ergo_observable *observable,
                                         const struct ergo_point *point) {
    return ergo_observable_may_show(observable, point) && ergo_point_asks(point, observable->name);
}

/*
 * What the weight of a configuration is made of, so that samples taken at one point can be weighted
 * for another (ergocl analyse). At a point it is exp(sum of coefficient(point) X) over the rows
 * that have a coefficient, X being the column as it is recorded at that very point. The first row
 * is the energy. A row with in_energy is a part of that column, in_energy(point) times its own
 * column: so the energy of the same configuration is known for other values of its keys, too.
 */
struct ergo_conjugate {
    size_t column;
    double (*coefficient)(const struct ergo_point *point); /* NULL: by the energy alone */
    double (*in_energy)(const struct ergo_point *point);   /* NULL: no part of the energy */
    const char *keys[5]; /* on which these two depend; NULL-terminated */
};
enum { ERGO_CONJUGATES_MAX = 4 };

/* A function measured along an axis, e.g. correlation over distance. */
struct ergo_curve_info {
    const char *name, *x_label, *unit, *help;
};

/* A curve of two halves over the same x, of which pages draw the first over the second; result.json
 * and series.h5 have both. */
struct ergo_curve_ratio {
    const char *curve, *name, *unit, *help; /* name: what the ratio is */
};

/* A launch parameter: changes speed, never the chain. Job key: /tuning/<name>. */
struct ergo_tunable {
    const char *name;
    size_t at; /* of an int64_t in the model's parameter struct (ERGO_TUNABLE) */
    const char *help;
    int64_t min, max;  /* 0 in the job: automatic */
    bool power_of_two; /* other values are refused by the job checker */
};

/* How a tunable's row begins: ERGO_TUNABLE(ergo_parameters, work_group). */
#define ERGO_TUNABLE(type_, member_) .name = #member_, .at = offsetof(struct type_, member_)
#define ERGO_TUNABLE_GROUP                                                                         \
    ERGO_TUNABLE(ergo_parameters, work_group), "work-items per group (a power of two)", 0, 1024,   \
        true

/* A key or tunable of an earlier version: refused, with what to write instead. */
struct ergo_gone {
    const char *pointer, *instead;
};

/* Keys in a row; a model's table is made of some, so that models can share them. */
struct ergo_key_rows {
    const struct ergo_key *keys;
    size_t n;
};
enum { ERGO_KEY_ROWS_MAX = 11 };

/* A picture of a member: rgb is malloc'ed, 3 bytes per pixel, row by row from the top; no side is
 * longer than this. */
enum { ERGO_PICTURE_SIDE = 2048 };
struct ergo_picture {
    unsigned width, height;
    uint8_t *rgb;
};

struct ergo_sampler_ops;

/* All rows of an array, in a model: ERGO_TABLE(columns, ising_columns). */
#define ERGO_TABLE(field, rows) .field = (rows), .n_##field = sizeof(rows) / sizeof(rows)[0]

struct ergo_model {
    const char *name;         /* "potts"; NULL: the only model of its sampler */
    const char *summary;      /* what it is, in a sentence or a few; NULL: as the sampler's */
    const char *programs[16]; /* root .cl files, NULL-terminated: for `ergocl kernels` */
    /* Two models of one name, one after the other in the sampler's list, are two implementations of
     * it: the same keys, of which the first that serves a job's points is taken. NULL: any. Points
     * of a job agree on what it looks at. */
    bool (*serves)(const struct ergo_point *point);
    /* What code that several models share has to know of this one, by a struct of that code. */
    const void *rule;
    struct ergo_key_rows keys[ERGO_KEY_ROWS_MAX];
    size_t parameters; /* bytes of its parameter struct, which begins with ergo_parameters */
    /* A job that runs for seconds anywhere (`ergocl new`): "/system/size=[32, 32]", values as JSON;
     * every required key is there. NULL-terminated. */
    const char *const *first;
    /* Lines of the random streams' text ("/system/field=0") that come from no key of the table:
     * a key that chains of the first version had. NULL-terminated; NULL: none. */
    const char *const *stream_lines;
    const struct ergo_column *columns;
    size_t n_columns;
    const struct ergo_observable *observables;
    size_t n_observables;
    /* NULL: samples cannot be weighted for other points. */
    const struct ergo_conjugate *conjugates;
    size_t n_conjugates;
    /* Two observables that are plotted against each other over a scan ("density", "pressure"), and
     * a few words on it; NULL: none. */
    const char *relation_x, *relation_y, *relation_help;
    const struct ergo_curve_info *curves;
    size_t n_curves;
    /* By bits: curves to which end_curves alone adds, never collect; and those that are only inputs
     * of observables and end_curves, and in the HDF5 file alone. */
    uint32_t curves_at_end, curves_hidden;
    /* By bits: curves that are histograms of the columns (histogram_bin); collect leaves them
     * alone, and every sample is in them, whatever curve_every says. */
    uint32_t histograms;
    /* By bits: curves kept as one sum over the run, without bins of time, in whole numbers: sums of
     * them are exact, and no order or division into blocks matters. collect hands them over once a
     * block, [members][size], the sum over its samples; to those that are of curves_at_end, too,
     * ops->count adds. */
    uint32_t curves_sums;
    /* By bits: curves that are square grids, row by row: pages draw maps, the first row lowest. */
    uint32_t curves_grids;
    /* By bits: curves that pages draw over a linear axis, however far it reaches. */
    uint32_t curves_linear;
    const struct ergo_curve_ratio *ratio; /* NULL: none */
    const struct ergo_tunable *tunables;
    size_t n_tunables;
    const struct ergo_gone *gone;
    size_t n_gone;
    uint32_t tunables_room;   /* by bits: room for particles, no matter of speed: ergo_tune's not */
    const char *frame_suffix; /* of files with configurations; NULL: "xyz" */
    const char *trajectory;   /* what /output/trajectory_every writes; NULL: nothing */

    /* ---- what can be said of a point; those without a word on NULL have to be there ---------- */

    /* Where the configuration is in a canonical state, for /output/configurations_every; points of
     * a batch have the same. NULL: no such files. */
    enum ergo_status (*form)(struct ergo_context *ctx, const struct ergo_point *point,
                             struct ergo_form *form);

    /* Contradictions between keys that the table cannot express: record all by ergo_job_error. */
    enum ergo_status (*check)(struct ergo_context *ctx, const struct ergo_point *point);
    /* False: column c is not measured at this point, and nowhere written. NULL: all are. */
    bool (*has_column)(const struct ergo_point *point, size_t c);
    /* Are moves tuned during the equilibration, so that the chain depends on how long that is?
     * NULL: never. */
    bool (*tuned)(const struct ergo_point *point);
    /* Are there files of configurations? NULL: always. */
    bool (*has_frames)(const struct ergo_point *point);
    /* Points on curve c (0: not measured), and its x values. NULL: there are no curves. */
    size_t (*curve_size)(const struct ergo_point *point, size_t c);
    void (*curve_x)(const struct ergo_point *point, size_t c, double *x);
    /* The curve whose values are the x of curve c, where a run has found them; c: curve_x has them.
     * NULL: curve_x always. */
    size_t (*x_from)(const struct ergo_point *point, size_t c);
    /* histograms: the point of curve c to which a sample adds *count; one beyond the curve's size:
     * to none, but the sample is counted. NULL: there are none. */
    size_t (*histogram_bin)(const struct ergo_point *point, size_t c, const double *columns,
                            double *count);
    /* Samples between curve samples (>= 1). NULL: 1. */
    uint64_t (*curve_every)(const struct ergo_point *point);
    /* The same of curve c, a multiple of curve_every: of the samples between it has no rows that
     * count. NULL: curve_every. */
    uint64_t (*every_of_curve)(const struct ergo_point *point, size_t c);
    /* Exact value of an observable at a point, from theory; NAN: not known. What is constant by
     * nature (a density of conserved particles) has its value here: a series that never changed
     * has an error, 0, only where this says so. NULL: of none. */
    double (*exact)(const struct ergo_point *point, const char *observable);
    /* Published value that has an error of its own (a simulation, an experiment), with its standard
     * error; NAN: not known. NULL: none. */
    double (*published)(const struct ergo_point *point, const char *observable, double *error);
    /* Where chains of one point may end in different states that do not mix (stripes of a random
     * start below Tc, two phases): what to do, half a sentence for the warning; NULL (also the
     * function): nothing special. */
    const char *(*remedy)(const struct ergo_point *point);
    /* Steps between measurements of a job that does not say; NULL: 1. It depends on nothing that a
     * longer run of the same job changes, and is the same in a batch. */
    uint64_t (*measure_every)(const struct ergo_point *point);
    /* An extension gives the point `from` of a run the length of `to`: records why that is not
     * possible, by ergo_job_error. NULL: it always is. */
    enum ergo_status (*extends)(struct ergo_context *ctx, const struct ergo_point *from,
                                const struct ergo_point *to);
    /* Bytes at the end of a state of which the run's length says how many there are: zero until
     * their time has come. NULL: none. */
    size_t (*state_tail)(const struct ergo_point *point);
    /* Autocorrelation of what the job is for, in steps: the sum of the autocorrelation function
     * from 1 on, roughly. For /run/measure_every "auto"; NULL: not offered. */
    double (*correlation)(const struct ergo_point *point);
    /* Calibrations: the key whose value 0 makes a point the reference of those that are otherwise
     * the same, if this point is of such a kind (NULL, also the function: not). Where the key is
     * scanned and 0 is among its values, observables and curves are compared with the reference's.
     */
    const char *(*reference)(const struct ergo_point *point);
    /* Does a share of accepted displacements tell that steps should be larger or smaller, at this
     * mean number of particles? Not where trials have nobody to move. NULL: it always does. */
    bool (*judges_steps)(const struct ergo_point *point, double particles, double accepted);
    /* Why samples of this point cannot be weighted for others, half a sentence ("each replica has
     * couplings of its own"); NULL (also the function, where there are conjugates): they can, but
     * for samples of a disorder. */
    const char *(*unweighted)(const struct ergo_point *point);
    /* Are replicas samples of a disorder, each with couplings or fields of its own, so that their
     * means differ, and the error of the mean over them is that of their scatter? NULL: never. */
    bool (*samples_disorder)(const struct ergo_point *point);

    /* ---- what needs a device: samplers/sampler.h --------------------------------------------- */

    const struct ergo_sampler_ops *ops;
    /*
     * The same functions for one system cut over all ranks (src/dist), or NULL: it cannot be cut.
     * All ranks call them alike, from plan to destroy, so these may wait for each other. Plans and
     * samples are equal on all ranks; save, picture and frame yield the whole at rank 0 and nothing
     * elsewhere; load is given the whole. Chains, samples and states are those of the other table.
     */
    const struct ergo_sampler_ops *cut;
    /* "distribute": "auto": is it worth while to cut this point's system over so many ranks? NULL:
     * it is. */
    bool (*cuts)(const struct ergo_point *point, size_t ranks);
};

struct ergo_sampler {
    const char *name;    /* "spin-lattice" */
    const char *summary; /* one line */
    const char *citation;
    const char *step_name;  /* "sweep" */
    const char *rate_unit;  /* "spin updates per second" */
    uint32_t state_version; /* of what save writes */
    /* The key that chooses among the models (ENUM with a fallback; its choices are their names);
     * NULL: there is one. */
    const struct ergo_key *model_key;
    const struct ergo_model *const *models;
    size_t n_models;
};

/* samplers/registry.c; tests set others before main. */
extern const struct ergo_sampler *const *ergo_samplers;
extern size_t ergo_n_samplers;

/* model.c */
const struct ergo_sampler *ergo_sampler_find(const char *name); /* NULL: unknown */
/* The first model of that name; NULL: unknown. */
const struct ergo_model *ergo_model_find(const struct ergo_sampler *sampler, const char *name);
/* Its keys in order, without the model's; NULL behind the last. */
const struct ergo_key *ergo_model_key(const struct ergo_model *model, size_t k);
/* Is models[i] another implementation of models[i - 1]? Lists for people leave it out. */
bool ergo_model_repeats(const struct ergo_sampler *sampler, size_t i);
/* "model \"potts\" of spin-lattice", or "helium-vmc" where there is only one. */
void ergo_model_title(struct ergo_text *out, const struct ergo_sampler *sampler,
                      const struct ergo_model *model);

/* Of a sample; of the mean of its curve. */
double ergo_observable_sample(const struct ergo_observable *observable,
                              const struct ergo_point *point, const double *columns);
double ergo_observable_of_curve(const struct ergo_observable *observable,
                                const struct ergo_point *point, const double *mean, size_t size);

/* What the model says of a point, where it says nothing the default (see above). */
bool ergo_point_has_column(const struct ergo_point *point, size_t c);
/* Is it of moves whose sizes are tuned, each replica's by itself? */
bool ergo_observable_tuned(const struct ergo_observable *observable,
                           const struct ergo_point *point);
bool ergo_point_has_frames(const struct ergo_point *point);
size_t ergo_point_curve_size(const struct ergo_point *point, size_t c);
uint64_t ergo_point_curve_every(const struct ergo_point *point);
uint64_t ergo_point_every_of_curve(const struct ergo_point *point, size_t c);
double ergo_point_exact(const struct ergo_point *point, const char *observable);
double ergo_point_published(const struct ergo_point *point, const char *observable, double *error);
const char *ergo_point_remedy(const struct ergo_point *point);
const char *ergo_point_reference(const struct ergo_point *point);
const char *ergo_point_unweighted(const struct ergo_point *point);
bool ergo_point_samples_disorder(const struct ergo_point *point);

#endif
