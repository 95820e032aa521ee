/* What a run leaves. The run fills it; files and pages are made from it. */
#ifndef ERGO_RESULT_RESULT_H
#define ERGO_RESULT_RESULT_H

#include "base/file.h"
#include "job/model.h"
#include "stats/online.h"

/* Where the wall time of a run goes. */
enum ergo_phase {
    ERGO_PHASE_DEVICE,  /* opening it, with the probe when it is new */
    ERGO_PHASE_BUILD,   /* programs, from source or the cache */
    ERGO_PHASE_PREPARE, /* buffers, starting state, first launches (at which some drivers compile)
                         */
    ERGO_PHASE_SAMPLE,
    ERGO_PHASE_AUDIT, /* with checkpoints and digests */
    ERGO_PHASE_FILES, /* estimates and writing */
    ERGO_PHASES
};

struct ergo_observable_result {
    const struct ergo_observable *observable;
    /* tau in samples; writers multiply by measure_every. Where trust is not ERGO_TRUST_FULL the
     * error is NAN; error_binning may be set, and is then too small. */
    struct ergo_estimate estimate;
    enum ergo_trust trust;
    const struct ergo_observable *because; /* the one that shows it; NULL: itself */
    double drift; /* of the first fifth from the last half, as ergo_stats_drift */
    bool one_way; /* ERGO_TRUST_SHORT: all fifths of it rise, or fall, from the first to the last */
    double first, last;
    double exact; /* NAN: not known */
    double z;     /* (mean - exact) / error; NAN: not known */
    /* A value to compare with that has an error of its own (error 0: none), and the difference in
     * units of the error of the difference. In a calibration it is the reference point's value,
     * else `published`. */
    double reference, reference_error, reference_z;
    bool published;
};

struct ergo_curve_result {
    const struct ergo_curve_info *info;
    size_t size;
    double *x, *mean, *error;              /* owned */
    enum ergo_trust trust;                 /* of its errors, which are kept */
    const struct ergo_observable *because; /* as of an observable */
    double *reference_z;                   /* owned; of a calibration, else NULL; NAN: no error */
};

/* What is kept of the samples beside estimates (/output/series). */
enum ergo_kept { ERGO_KEPT_FULL, ERGO_KEPT_BLOCKS, ERGO_KEPT_NONE };

/* The observables that samples give, and what is estimated of them. */
struct ergo_measured {
    struct ergo_online_plan plan;
    size_t *observable; /* [plan.n_series] of the model */
};

struct ergo_member_result {
    const struct ergo_point *point;
    uint64_t steps; /* done, equilibration included; 0: not begun, and no digest */
    uint64_t digest;
    uint64_t lead; /* sample i (from 0) was taken after lead + (i + 1) measure_every steps */
    uint64_t measure_every; /* steps between samples */
    size_t n_samples;       /* all, equilibration included */
    size_t n_equilibration; /* of them before measuring began */
    /* [n_columns][n_samples], owned; a column is NULL: not measured; all: not kept */
    double **series;
    const struct ergo_measured *measured; /* of the result */
    struct ergo_online online;            /* the samples after equilibration */
    size_t n_measured;                    /* of them at the end of the run */
    size_t n_blocks;                      /* averages that the job wants; */
    double *block_sums;                   /* [plan.n_series][n_blocks], owned */
    /* [n_curves], owned: the curves' samples so far; NULL once the run has ended */
    struct ergo_curve *binned;
    struct ergo_observable_result *observables; /* [model->n_observables], hidden ones included */
    struct ergo_curve_result *curves;           /* [model->n_curves], size 0: not measured */
    enum ergo_trust verdict;                    /* on the chain (verdict.c), and what shows it */
    const struct ergo_observable *because;
    size_t n_pictures;
    char *state; /* owned; canonical, of `digest`; NULL: not kept */
    size_t state_length;
    struct ergo_picture *pictures; /* owned; first to last snapshot */
    uint64_t *picture_steps;
};
/* Has it samples beyond equilibration? */
static inline bool ergo_member_measured(const struct ergo_member_result *member) {
    return member->n_samples > member->n_equilibration;
}
/* So many. */
static inline size_t ergo_member_taken(const struct ergo_member_result *member) {
    return ergo_member_measured(member) ? member->n_samples - member->n_equilibration : 0;
}

/*
 * An observable over the replicas of a scan point (replicas.c). The mean is that of the replicas'
 * means, all with the same weight. error_chains: from the replicas' own errors, sqrt(sum error^2) /
 * n, NAN unless all are trusted. error_scatter: sqrt(variance of the means / n), independent of the
 * chains' own errors; from few replicas it is poorly known (relative error sqrt(1 / (2 n - 2))).
 * chi2: deviations of the means from their mean over the chains' variance, with dof degrees of
 * freedom.
 */
struct ergo_scatter {
    double error_scatter, error_chains, chi2, tail; /* tail: the probability of this chi2 or a
                                                     * larger one */
    size_t dof;                                     /* 0: nothing to compare */
    size_t lost;                                    /* chains that are not equilibrated, or too
                                                     * short to have forgotten their start */
};

/* Chains or samples of a disorder whose scatter is an error: it is then known to 23%, as a chain's
 * has to be. */
enum { ERGO_SCATTER_LEAST = 10 };
/* Is a chain, that may be too short for an error of its own, long enough to have forgotten its
 * start? Several of them together have an error. */
bool ergo_observable_forgot_start(const struct ergo_observable_result *r);

struct ergo_mean_result {
    size_t first, replicas; /* members[first] ... */
    size_t measured;        /* of them with samples */
    /* [n_observables], as of a member: error is error_chains where all chains are trusted and
     * agree, of 20 chains and more error_scatter if that is larger; else error_scatter, of 10
     * chains or more with 20 autocorrelation times each (but a tenth of them); none where chains
     * disagree in any observable (ERGO_TRUST_REPLICAS), or drift together. Of samples of a
     * disorder, which are not compared, error_scatter from 10 of them on, none of fewer
     * (ERGO_TRUST_FEW). */
    struct ergo_observable_result *observables;
    struct ergo_scatter *scatters;         /* [n_observables] */
    const struct ergo_observable *because; /* all other means are refused by this one; or NULL */
    size_t n_apart;  /* replicas far from the others, where replicas disagree: */
    uint32_t *apart; /* their numbers */
};

/* Stretches of the run that were made again: on which device (empty: none, and why), of at most so
 * many members of a batch, steps and seconds in all. Of the last session, first rank. */
struct ergo_result_audits {
    char device[400], reason[400];
    bool varied;       /* by another implementation, or in groups of another size */
    const char *known; /* of a device without another: "asked" for a known answer, which was right,
                          or "remembered"; NULL: neither */
    size_t stretches, members;
    uint64_t steps;
    double seconds;
};

struct ergo_result {
    struct ergo_job *job; /* owned: a result outlives the call's job */
    const char *status;   /* "complete", "stopped", "audit-failed" */
    char started[32];     /* UTC, ISO 8601 */
    struct ergo_device_summary device;
    size_t n_devices;                    /* with several ranks: of each, in order; else 0 */
    struct ergo_device_summary *devices; /* owned */
    char merge[16]; /* of systems cut over ranks: how pieces are joined (struct ergo_plan) */
    enum ergo_kept kept;
    struct ergo_measured *measured; /* owned */
    size_t n_members;
    struct ergo_member_result *members; /* in job order */
    size_t n_means;                     /* scan points with several replicas; 0: there are none */
    struct ergo_mean_result *means;     /* owned, in one piece with what it points to */
    double rate, seconds; /* work per second, wall seconds of sampling over all sessions */
    /* last session, first rank: the host's work on measurements, and the part of it during which
     * the device worked; NAN: not known */
    double host_seconds, hidden_seconds;
    double phases[ERGO_PHASES]; /* seconds; of one session that did all of it, else parts of it */
    struct ergo_result_audits audits;
    uint64_t device_bytes;  /* of the largest batch's buffers, as planned */
    unsigned built, loaded; /* programs: from source, from the cache */
    size_t n_warnings;
    char **warnings;        /* owned sentences */
    unsigned part, n_parts; /* of the job's points, for machines without a network; 0: all */
    uint32_t *part_of;      /* [n_members], owned; NULL: all are of this run */
    double kept_states;     /* bytes of states that are kept; beyond what is allowed no more are */
    bool dropped_states;
    char *comparison; /* owned; of a calibration: what agrees with the reference; NULL: none */
};

enum { ERGO_RESULT_PICTURES = 64 }; /* of a point: what /output/snapshots allows */

/* Of a job with nothing measured yet. Takes the job, also at a failure; *result may be there then.
 */
enum ergo_status ergo_result_create(struct ergo_context *ctx, struct ergo_job *job,
                                    struct ergo_result **result);
/* Of work done in seconds of sampling. */
void ergo_result_set_rate(struct ergo_result *result, double work, double seconds);
/* The run has ended. */
void ergo_result_drop_binned(struct ergo_result *result);
/* Host memory for series and curves of all points, and for writing them to a checkpoint. */
double ergo_result_bytes(const struct ergo_job *job);

/* From here on a part of the run; ERGO_E_JOB: there are not so many points. */
enum ergo_status ergo_result_set_part(struct ergo_context *ctx, struct ergo_result *result,
                                      unsigned part, unsigned n_parts);
/* Is member i of this run, or another part's? */
bool ergo_result_has(const struct ergo_result *result, size_t i);
/* Have all points that are of it ended? */
bool ergo_result_is_complete(const struct ergo_result *result);

/* state.c: the line before a state of which its digest is made, and the digest:
 * the first 8 bytes of SHA-256 over "ergocl state 1 <sampler> <state version> <step>\n" and the
 * canonical state. It depends on the chain alone. */
void ergo_state_head(const struct ergo_job *job, uint64_t step, struct ergo_text *text);
bool ergo_state_digest(const struct ergo_job *job, uint64_t step, const char *state, size_t length,
                       uint64_t *digest);
/* Of final states of at most so many bytes, of all points: the memory for those that are kept and
 * for all results; and in a line for people what is kept, with memory and disk. */
double ergo_states_memory(const struct ergo_job *job, double bytes);
void ergo_states_say(const struct ergo_job *job, double bytes, struct ergo_text *text);
/* Would this member's last state, of so many bytes, stay? */
bool ergo_result_keeps(const struct ergo_result *result, const struct ergo_member_result *member,
                       size_t length);
/* The state in which a point has ended, owned from here on; it stays where
 * /checkpoint/final_states allows it, and until the chain that starts from it has ended. */
void ergo_result_keep_state(struct ergo_result *result, struct ergo_member_result *member,
                            char *state, size_t length);

/* online.c: what is kept of the samples of a job; the bytes of all its series. */
enum ergo_kept ergo_result_kept(const struct ergo_job *job);
const char *ergo_kept_name(enum ergo_kept kept);
/* A line where the job leaves it open and the samples are too many to be kept. */
void ergo_result_say_kept(struct ergo_context *ctx, const struct ergo_job *job);
double ergo_result_series_bytes(const struct ergo_job *job);
/* The observables of a point, and of all others of its job. False: out of memory. */
bool ergo_measured_create(const struct ergo_point *point, struct ergo_measured **measured);
void ergo_measured_destroy(struct ergo_measured *measured);
/* The series whose means a derived observable is made of; their number. */
size_t ergo_measured_inputs(const struct ergo_measured *measured, const struct ergo_model *model,
                            const struct ergo_observable *observable,
                            size_t series[ERGO_STATS_COLUMNS_MAX]);
/* An empty member, with that many measurements at the end of the run. False: out of memory. */
bool ergo_member_measures(struct ergo_member_result *member, const struct ergo_measured *measured,
                          size_t n_measured);
/* Frees what ergo_member_measures made and samples have filled. */
void ergo_member_forget(struct ergo_member_result *member);
/*
 * The next samples, rows[count][n_columns], of which the first is sample number `first`; they go
 * into the series, if it is kept, and after equilibration into the estimators. Members are
 * independent: threads may add to several. False: out of memory.
 */
bool ergo_member_add(struct ergo_member_result *member, size_t first, size_t count,
                     const double *rows);
/* The estimators get what they have not yet seen of a series that is kept: after a resume, and of
 * points of other ranks. */
bool ergo_member_catch_up(struct ergo_member_result *member);
/* The estimators as doubles, for a checkpoint, where no series is kept (else: none). */
size_t ergo_member_state_size(const struct ergo_member_result *member, size_t n_samples);
void ergo_member_save(const struct ergo_member_result *member, double *to);
bool ergo_member_load(struct ergo_member_result *member, size_t n_samples, const double *from);

/* evaluate.c: estimates, exact values, means, comparisons, warnings: everything that result.json
 * needs. */
enum ergo_status ergo_result_evaluate(struct ergo_context *ctx, struct ergo_result *result);
/* verdict.c: does it tell whether a chain has equilibrated? It is measured then, asked for or not.
 */
bool ergo_observable_speaks(const struct ergo_observable *observable,
                            const struct ergo_point *point);
/* The same, or of a curve: where it is measured, its bins show a drift or remember for too long,
 * and replicas that disagree. */
bool ergo_observable_tells(const struct ergo_observable *observable,
                           const struct ergo_point *point);
/* What moves did: a noisy sign of what a chain does, and where its samples look back over many
 * moves, longer correlated than anything that is slow. */
bool ergo_observable_is_acceptance(const struct ergo_observable *observable);
/* After the estimates of a chain. Its longest window and autocorrelation time, in
 * samples; its verdict, shared by all its errors; one of them that shares it. */
double ergo_chain_window(const struct ergo_member_result *member, double *tau);
void ergo_chain_judge(struct ergo_member_result *member);
void ergo_observable_share(struct ergo_observable_result *r,
                           const struct ergo_observable_result *why);
/* Is it long enough, in all that speaks for it, to have forgotten its start? */
bool ergo_chain_forgot_start(const struct ergo_member_result *member);
/* replicas.c: means, from the members' estimates. */
enum ergo_status ergo_result_means(struct ergo_context *ctx, struct ergo_result *result);
/* From which size on a drift counts: what one run in a thousand exceeds without any, over all its
 * chains and observables. */
double ergo_result_drift_level(const struct ergo_result *result);
/* calibration.c: each point with its reference (the model's `reference`), after the estimates. */
enum ergo_status ergo_result_calibrate(struct ergo_context *ctx, struct ergo_result *result);
/* verdict.c: takes the error away unless it is trusted; the published value as reference. */
void ergo_observable_refuse(struct ergo_observable_result *r, enum ergo_trust trust);
void ergo_observable_refer(const struct ergo_point *point, struct ergo_observable_result *r);
/* facts.c: of a chain's fact after its estimate; of a point's replicas, where the observable is one
 * (else false). */
void ergo_fact_of_chain(struct ergo_observable_result *r);
bool ergo_fact_of_replicas(const struct ergo_member_result *from, size_t count, size_t o,
                           struct ergo_mean_result *mean);
/* A sentence more in the list of warnings; false: no memory. */
bool ergo_result_add_warning(struct ergo_result *result, const char *text, size_t length);
/* Adds all warnings about the estimates and means to the list. */
enum ergo_status ergo_result_warn(struct ergo_context *ctx, struct ergo_result *result);
/* Of curve c, if it is a histogram of whole numbers: in how many chains samples are beyond its last
 * bin; the largest share of a chain's samples, and the last number that this one has. */
struct ergo_result_beyond {
    size_t chains;
    double share, last;
};
struct ergo_result_beyond ergo_result_beyond(const struct ergo_result *result, size_t c);

/* Averages over /output/blocks blocks of measurements: DIR/blocks/pPOINT.dat, and for series.h5.
 * Of a run that was stopped: the blocks that have begun, the last one over the samples it has. */
size_t ergo_blocks_count(const struct ergo_member_result *member); /* 0: none */
double ergo_blocks_mean(const struct ergo_model *model, const struct ergo_member_result *member,
                        const struct ergo_observable *observable, size_t block);
enum ergo_status ergo_result_write_blocks(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);

/* DIR/result.json, DIR/series.h5. */
enum ergo_status ergo_result_write_json(struct ergo_context *ctx, const struct ergo_folder *folder,
                                        const struct ergo_result *result);
enum ergo_status ergo_result_write_series(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);

#endif
