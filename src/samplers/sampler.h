/*
 * What a sampler is: two tables, `info` (data) and `ops` (functions).
 *
 * The run layer (src/run) owns the sequence
 *     check -> plan -> create -> init | load -> advance ... -> save -> audit -> destroy
 * A sampler never parses arguments, opens files, reads a clock, or calls MPI (one that can be cut
 * uses src/dist). It never sees one
 * system but a batch: members of equal shape that differ in parameters and stream.
 */
#ifndef ERGO_SAMPLERS_SAMPLER_H
#define ERGO_SAMPLERS_SAMPLER_H

#include "device/device.h"
#include "base/text.h"
#include "engine/plan.h"
#include "engine/samples.h"
#include "job/job.h"
#include "stats/stats.h"

/* A recorded column of the time series: one double per sample and member. */
struct ergo_column {
    const char *name, *unit, *help;
};

enum { ERGO_COLUMNS_MAX = 16 }; /* of one sampler */

/*
 * An observable of the result: a function of the columns of one sample (`sample`, e.g. m^2), or of
 * the means of other observables (`derive`, e.g. heat capacity from energy and energy2; `inputs`
 * are their names), or of the mean of a curve (`from_curve`, e.g. a pressure from a histogram of
 * distances; `curve` is its name). Exactly one of the three is set.
 */
struct ergo_observable {
    const char *name, *unit, *help;
    double (*sample)(const struct ergo_point *point, const double *columns);
    const char *inputs[8]; /* NULL-terminated; for derive */
    double (*derive)(const struct ergo_point *point, const double *means);
    const char *curve;
    double (*from_curve)(const struct ergo_point *point, const double *mean, size_t size);
    /* independent: the key whose larger value adds independent samples ("/system/samples"); what a
     * warning about too few of them says. */
    const char *more;
    bool independent; /* from_curve: the curve's samples are independent, and there is no tau */
    bool hidden;      /* only an input of others; not in the result (kept in the HDF5 file) */
    bool merit;       /* what a run is tuned by: independent samples of it per second are told */
    /* Of some models only: not in the result where it is false. NULL: always. */
    bool (*applies)(const struct ergo_point *point);
    /* Where its chain decorrelates far more slowly than the others' for a physical reason: the
     * reason, half a sentence for the warning about its error. NULL (also the function): nowhere.
     */
    const char *(*slow)(const struct ergo_point *point);
    /* The largest value that still is what the name says, and what a larger one is, in a few words.
     * Pages say so and leave such a point out of figures; files keep it. NULL: any. */
    double (*bound)(const struct ergo_point *point);
    const char *beyond;
};

/* Is the observable in the result of a point? */
static inline bool ergo_observable_shown(const struct ergo_observable *observable,
                                         const struct ergo_point *point) {
    return !observable->hidden && (!observable->applies || observable->applies(point)) &&
           ergo_point_asks(point, observable->name);
}

/* A function measured along an axis, e.g. correlation over distance. */
struct ergo_curve_info {
    const char *name, *x_label, *unit, *help;
};

/* A launch parameter: changes speed, never the chain. Job key: /tuning/<name>. */
struct ergo_tunable {
    const char *name, *help;
    int64_t min, max;  /* 0 in the job: automatic */
    bool power_of_two; /* other values are refused by the job checker */
};

struct ergo_sampler_info {
    const char *name;    /* "spin-lattice" */
    const char *summary; /* one line */
    const char *citation;
    const char *programs[16]; /* root .cl files, NULL-terminated: for `ergocl kernels` */
    const char *step_name;    /* "sweep" */
    const char *rate_unit;    /* "spin updates per second" */
    const struct ergo_key *keys;
    size_t n_keys;
    const struct ergo_column *columns;
    size_t n_columns;
    /* False: column c is not measured at this point, and nowhere written. NULL: all are. */
    bool (*has_column)(const struct ergo_point *point, size_t c);
    const struct ergo_observable *observables;
    size_t n_observables;
    /* Two observables that are plotted against each other over a scan ("density", "pressure"), and
     * a few words on it; NULL: none. */
    const char *relation_x, *relation_y, *relation_help;
    const struct ergo_curve_info *curves;
    size_t n_curves;
    /* By bits: curves to which end_curves alone adds, never collect; and those that are only inputs
     * of observables and end_curves, and in the HDF5 file alone. */
    uint32_t curves_at_end, curves_hidden;
    /* By bits: curves that are histograms of the columns (ops->histogram_bin); collect leaves them
     * alone, and every sample is in them, whatever curve_every says. */
    uint32_t histograms;
    /* By bits: curves kept as one sum over the run, without bins of time, in whole numbers: sums of
     * them are exact, and no order or division into blocks matters. collect hands them over once a
     * block, [members][size], the sum over its samples; to those that are of curves_at_end, too,
     * ops->count adds. */
    uint32_t curves_sums;
    const struct ergo_tunable *tunables;
    size_t n_tunables;
    uint32_t tunables_room;   /* by bits: room for particles, no matter of speed: ergo_tune's not */
    const char *frame_suffix; /* of the files of ops->frame; NULL: "xyz" */
    const char *trajectory;   /* what /output/trajectory_every writes; NULL: nothing */
    bool (*has_frames)(const struct ergo_point *point); /* ops->frame appends; NULL: always */
    uint32_t state_version;                             /* of what save writes */
};

/* A picture of a member: rgb is malloc'ed, 3 bytes per pixel, row by row from the top; no side is
 * longer than this. */
enum { ERGO_PICTURE_SIDE = 2048 };
struct ergo_picture {
    unsigned width, height;
    uint8_t *rgb;
};

struct ergo_sampler_ops {
    /* Contradictions between keys that the table cannot express: record all by ergo_job_error. */
    enum ergo_status (*check)(struct ergo_context *ctx, const struct ergo_point *point);
    /* Memory and launches on a device, or a refusal with the reason (ERGO_E_DEVICE). */
    enum ergo_status (*plan)(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan);
    /* Build programs, allocate. *state is the sampler's own. */
    enum ergo_status (*create)(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state);
    /* Starting configuration of every member at step 0. */
    enum ergo_status (*init)(struct ergo_context *ctx, void *state);
    /* Where a start takes long (NULL: nowhere): after init and before anything else a piece of it
     * of a tenth of a second, roughly, until *done. A stop comes between two. */
    enum ergo_status (*start)(struct ergo_context *ctx, void *state, bool *done);
    /*
     * Enqueue `count` times (`every` steps, then one sample); count 0: `every` steps, no sample.
     * Never waits: two blocks may be in flight, in `slot` 0 and 1. `first_sample` is the index of
     * the block's first sample in the run (decides which samples carry curves).
     */
    enum ergo_status (*advance)(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample);
    /* Wait for the block in `slot` and convert its samples; samples->columns has room for them. */
    enum ergo_status (*collect)(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
    /* Points on curve c (0: not measured), and its x values. */
    size_t (*curve_size)(const struct ergo_point *point, size_t c);
    void (*curve_x)(const struct ergo_point *point, size_t c, double *x);
    /* info->histograms: the point of curve c to which a sample adds *count; one beyond the curve's
     * size: to none, but the sample is counted. */
    size_t (*histogram_bin)(const struct ergo_point *point, size_t c, const double *columns,
                            double *count);
    /* Samples between curve samples (>= 1). */
    uint64_t (*curve_every)(const struct ergo_point *point);
    /* What was counted since the last call (or the start, or load) and is no part of the state,
     * added to sums by ergo_curve_add_sum; NULL op. Called once per member wherever states are
     * saved, so that a resume goes on from there, and before end_curves. */
    enum ergo_status (*count)(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_curve *curves);
    /* Curves over the time of the run, which are known at its end only, or NULL op: adds their
     * samples by ergo_curve_add, one for each independent realisation. Called once per member. */
    enum ergo_status (*end_curves)(struct ergo_context *ctx, void *state, size_t member,
                                   struct ergo_curve *curves);
    /*
     * A member's physical state in its canonical form (documented in the sampler's README; no
     * trace of the layout in memory). The digest is made of it and the step counter. save appends
     * to `text`; load takes the same bytes, checks them (ERGO_E_IO where they are no state), and
     * continues at `step`.
     */
    enum ergo_status (*save)(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
    enum ergo_status (*load)(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length);
    /* Recompute running quantities from scratch and compare; replay a few steps of the run's own
     * kernels on the host. ERGO_E_AUDIT with what differs; afterwards the state is as before. Each
     * launch made here has to matter, and of a device that reads back wrong bits nothing may pass:
     * so what is written back is measured, too. */
    enum ergo_status (*audit)(struct ergo_context *ctx, void *state);
    /* A picture of a member, or NULL op. */
    enum ergo_status (*picture)(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_picture *picture);
    /* The member's configuration as a file of extended XYZ (or of info->frame_suffix), appended to
     * `text`, or NULL op (then info->trajectory is NULL). Nothing appended: no file. */
    enum ergo_status (*frame)(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text);
    /* Exact value of an observable at a point, from theory; NAN: not known. What is constant by
     * nature (a density of conserved particles) has its value here: a series that never changed
     * has an error, 0, only where this says so. */
    double (*exact)(const struct ergo_point *point, const char *observable);
    /* Published value that has an error of its own (a simulation, an experiment), with its standard
     * error; NAN: not known. NULL op: none. */
    double (*published)(const struct ergo_point *point, const char *observable, double *error);
    /* Where chains of one point may end in different states that do not mix (stripes of a random
     * start below Tc, two phases): what to do, half a sentence for the warning; NULL: nothing
     * special. NULL op: nowhere. */
    const char *(*remedy)(const struct ergo_point *point);
    /* Steps between measurements of a job that does not say; NULL op: 1. It depends on nothing that
     * a longer run of the same job changes, and is the same in a batch. */
    uint64_t (*measure_every)(const struct ergo_point *point);
    /* Autocorrelation of what the job is for, in steps: the sum of the autocorrelation function
     * from 1 on, roughly. For /run/measure_every "auto"; NULL op: not offered. */
    double (*correlation)(const struct ergo_point *point);
    /* Calibrations, or NULL op: the key whose value 0 makes a point the reference of those that are
     * otherwise the same, if this point is of such a kind (NULL: not). Where the key is scanned and
     * 0 is among its values, observables and curves are compared with the reference's. */
    const char *(*reference)(const struct ergo_point *point);
    void (*destroy)(void *state);
    /*
     * The same functions for one system cut over all ranks (src/dist), or NULL: it cannot be cut.
     * All ranks call them alike, from plan to destroy, so these may wait for each other. Plans and
     * samples are equal on all ranks; save, picture and frame yield the whole at rank 0 and nothing
     * elsewhere; load is given the whole. Chains, samples and states are those of the other table.
     */
    const struct ergo_sampler_ops *cut;
    bool (*can_cut)(const struct ergo_point *point); /* NULL: any */
};

/* Is column c measured at a point? If not, results have no series of it. */
static inline bool ergo_column_measured(const struct ergo_sampler_info *info,
                                        const struct ergo_point *point, size_t c) {
    return !info->has_column || info->has_column(point, c);
}

struct ergo_sampler {
    const struct ergo_sampler_info *info;
    const struct ergo_sampler_ops *ops;
};

/* start.c: init and all of the start, where nothing may stop it. */
enum ergo_status ergo_sampler_start(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state);

/* registry.c: an explicit array; find.c. */
extern const struct ergo_sampler *const ergo_samplers[];
extern const size_t ergo_n_samplers;
const struct ergo_sampler *ergo_sampler_find(const char *name); /* NULL: unknown */

#endif
