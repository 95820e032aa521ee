/* The keys all samplers share, and searches in key tables. */
#include "job/build.h"
#include "job/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53 */

static const char *const kept[] = {"auto", "full", "blocks", "none", NULL};
static const char *const final_states[] = {"auto", "keep", "drop", NULL};
static const char *const trajectory_formats[] = {"xyz", "gsd", NULL};
static const char *const spacings[] = {"even", "logarithmic", NULL};
static const char *const distributions[] = {"auto", "points", "lattice", NULL};

static bool writes_trajectory(const struct ergo_point *point) {
    return point->parameters->trajectory_every == 0 || ergo_point_has_frames(point);
}

/* Frames of particles are XYZ, those of lattices are not. */
static bool writes_particles(const struct ergo_point *point) {
    return point->parameters->trajectory_every > 0 && ergo_point_has_frames(point) &&
           !point->job->model->frame_suffix;
}

static bool writes_configurations(const struct ergo_point *point) {
    const struct ergo_schedule s = ergo_schedule_of(point);
    return point->parameters->configurations_every == 0 ||
           ergo_schedule_frames(&s, ergo_schedule_configurations(point->job)) > 0;
}

static bool wants_configurations(const struct ergo_point *point) {
    return point->parameters->configurations_every > 0;
}

static bool starts_from_run(const struct ergo_point *point) {
    return point->parameters->start_run.present;
}

/* Sampler, seed and replica enter the stream by name, and a chain does not depend on how long it
 * runs or what is written of it. */
const struct ergo_key ergo_job_common_keys[] = {
    {ERGO_KEY("/$schema", STRING), .flags = ERGO_KEY_HOW, .unit = "",
     .help = "Address of the JSON schema, for editors; not used."},
    {ERGO_KEY("/description", STRING), .flags = ERGO_KEY_HOW, .unit = "",
     .help = "A remark; not used."},
    {ERGO_KEY("/sampler", ENUM), .flags = ERGO_KEY_REQUIRED, .unit = "",
     .help = "What to run; `ergocl help SAMPLER` lists its keys."},
    {JOB_KEY(seed, "/seed", SEED), .fallback = "\"1\"", .unit = "",
     .help = "Seed of the random numbers. The same job and seed give the same chain on every "
             "device."},
    {JOB_KEY(replicas, "/replicas", INT), .fallback = "1", .min = 1, .max = 1048576, .unit = "",
     .help = "Independent chains per scan point; replica r keeps its chain when more are added."},
    {JOB_KEY(anneal, "/anneal", STRING), .flags = ERGO_KEY_CHAIN, .stream = "", .unit = "",
     .help =
         "A pointer of /scan, \"/system/temperature\", along whose values the points follow one "
         "another, in the scan's order: each starts from the last state of the one before it, "
         "replica by replica, and then has its own equilibration (Levy, Cohen, Rabani 2010: "
         "\"temperature was stepwise reduced\"). Such points run one after the other; replicas "
         "and other values of the scan run side by side, and over ranks. Absent: each point has "
         "the job's start."},
    {JOB_KEY(start_run, "/start/run", STRING), .unit = "",
     .help = "Folder of a finished run, in whose last states the chains start, instead of "
             "/system/start: replica r in that of its replica r modulo their number. Model and "
             "size are the same; what belongs to a run and not to a configuration (times, counts, "
             "tuned steps) begins anew. The states become part of the checkpoint. With /anneal, "
             "the first points start so. Absent: as /system/start says."},
    {JOB_KEY(start_point, "/start/point", INT), .min = 0, .max = EXACT, .unit = "",
     .help = "Scan point of that run, counted from 0, in which all points start. Absent: the one "
             "with the same values of what it scanned, or its only one.",
     .acts = starts_from_run, .where = "with /start/run"},
    {JOB_KEY(start_frame, "/start/frame", INT), .min = 0, .max = EXACT, .unit = "",
     .help = "Frame of that run's configurations.h5 (/output/configurations_every), counted from "
             "0, in which the chains start; the run need not be at its end. Absent: its last "
             "states.",
     .acts = starts_from_run, .where = "with /start/run"},
    {JOB_KEY(equilibration, "/run/equilibration", INT), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .fallback = "0", .min = 0, .max = EXACT, .unit = "steps",
     .help = "Steps of the sampler before the first measurement."},
    {JOB_KEY(sweeps, "/run/sweeps", INT),
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE, .min = 1, .max = EXACT,
     .unit = "steps", .help = "Steps of the sampler while measuring, after equilibration."},
    {JOB_KEY(measure_every, "/run/measure_every", INT),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_AUTO, .fallback = "1", .min = 1,
     .max = EXACT, .unit = "steps",
     .help = "Steps between measurements. Its default in lj-gcmc and lj-fluid, whose step is a "
             "single move, is "
             "the volume of the box in sigma^3; of an annealed graph it makes at most 256 samples. "
             "\"auto\" (helium-vmc): the number that gives the "
             "least error in a given time, from timings at the start; it is kept with the run. "
             "The chain does not depend on it; it decides which states are measured."},
    {JOB_KEY(observables, "/run/observables", STRING), .fallback = "\"all\"", .unit = "",
     .help =
         "Observables and curves in the result: names, \"energy,psi2\", or all. What none of them "
         "needs is not measured where that saves time (swendsen-wang: clusters). The chain and "
         "the other values do not depend on it."},
    {JOB_KEY(device, "/device", STRING), .flags = ERGO_KEY_HOW, .fallback = "\"auto\"", .unit = "",
     .help = "Where to run: auto, gpu, cpu, PLATFORM:DEVICE by index, or part of a name; "
             "--device and ERGOCL_DEVICE come first."},
    {JOB_KEY(distribute, "/distribute", ENUM), .flags = ERGO_KEY_HOW, .fallback = "\"auto\"",
     .choices = distributions, .unit = "",
     .help =
         "How the ranks of mpirun share the work; no chain depends on it. points: each rank gets "
         "whole scan points and replicas; lattice: each system is cut into pieces, one chain "
         "after the other (if the sampler can; spin glasses: samples are dealt out, and "
         "ladders of temperatures where ranks are more than words of samples; helium-dmc: the "
         "walkers of a population); auto: lattice "
         "where there are fewer chains than ranks and the sampler can, unless a trial at the "
         "start finds that one of several unlike devices has more than 0.8 of the speed of all: "
         "it is faster alone."},
    {JOB_KEY(checkpoint_every, "/checkpoint/every_seconds", REAL), .flags = ERGO_KEY_HOW,
     .fallback = "600", .min = 0, .max = 1e9, .unit = "s",
     .help = "Wall time between checkpoints; 0: only when the run is stopped."},
    {JOB_KEY(final_states, "/checkpoint/final_states", ENUM), .flags = ERGO_KEY_HOW,
     .fallback = "\"auto\"", .choices = final_states, .unit = "",
     .help = "Whether the checkpoint keeps the states in which chains have ended, from which "
             "`ergocl resume --set /run/sweeps=N` lengthens them. keep: always; drop: never, which "
             "saves memory and disk; auto: up to 1 GB over all points."},
    {JOB_KEY(wall_time, "/wall_time", TIME), .flags = ERGO_KEY_HOW | ERGO_KEY_EXCLUDES_MIN,
     .min = 0, .max = 1e9, .unit = "s",
     .help = "Checkpoint and stop (exit code 75) after this wall time; absent: no limit."},
    {JOB_KEY(snapshots, "/output/snapshots", INT), .flags = ERGO_KEY_HOW, .fallback = "1", .min = 0,
     .max = 64, .unit = "",
     .help = "Pictures per point, evenly spaced, the last one at the end; 0: none."},
    {JOB_KEY(trajectory_every, "/output/trajectory_every", INT), .flags = ERGO_KEY_HOW,
     .fallback = "0", .min = 0, .max = EXACT, .unit = "steps",
     .help = "Steps between configurations written to the trajectory; 0: none.",
     .acts = writes_trajectory,
     .where = "on systems whose configurations are written: no lattices beyond 2^22 sites"},
    {JOB_KEY(trajectory_format, "/output/trajectory_format", ENUM), .flags = ERGO_KEY_HOW,
     .fallback = "\"xyz\"", .choices = trajectory_formats, .unit = "",
     .help = "xyz: extended XYZ, a file for each configuration, trajectory/pPOINT-STEP.xyz; gsd: a "
             "file for each point, trajectory/pPOINT.gsd, as HOOMD-blue writes and OVITO, freud "
             "and gsd.hoomd read it (schema hoomd 1.4: positions in fp32).",
     .acts = writes_particles,
     .where = "with /output/trajectory_every, where configurations are particles"},
    {JOB_KEY(configurations_every, "/output/configurations_every", INT), .flags = ERGO_KEY_HOW,
     .fallback = "0", .min = 0, .max = EXACT, .unit = "steps",
     .help = "Steps between configurations of all chains in configurations.h5, packed as the model "
             "has them, at the first measurement at or after each multiple; 0: none. Its layout "
             "is in `ergocl help configurations` and in the file.",
     .acts = writes_configurations,
     .where = "in models of spin-lattice and swendsen-wang, up to /run/sweeps"},
    {JOB_KEY(configurations_spacing, "/output/configurations_spacing", ENUM), .flags = ERGO_KEY_HOW,
     .fallback = "\"even\"", .choices = spacings, .unit = "",
     .help = "even: at each multiple of configurations_every; logarithmic: after 1, 2, 3, 4, 5, 6, "
             "8, 10, 12, 15, 20, 25, "
             "30, 40, 50, 60, 80, 100 ... times as many steps of the measured run, for functions "
             "of two times "
             "(`ergocl help configurations`).",
     .acts = wants_configurations, .where = "with /output/configurations_every"},
    {JOB_KEY(blocks, "/output/blocks", INT), .flags = ERGO_KEY_HOW, .fallback = "0", .min = 0,
     .max = 1e6, .unit = "",
     .help = "Blocks of consecutive measurements whose averages are written, a line each, to "
             "blocks/pPOINT.dat, and to series.h5; 0: none."},
    {JOB_KEY(series, "/output/series", ENUM), .flags = ERGO_KEY_HOW, .fallback = "\"auto\"",
     .choices = kept, .unit = "",
     .help = "What is kept of the samples; means, errors and autocorrelation times are the same. "
             "full: all of them, in memory, in checkpoints and in series.h5. blocks: the averages "
             "of /output/blocks alone; the rest of series.h5 is as before. none: no series.h5. "
             "auto: full up to 256 MB of samples over all points, else blocks. Time "
             "series and histograms in report.html need full."},
    {JOB_KEY(audit_every, "/audit/every_seconds", REAL), .flags = ERGO_KEY_HOW, .fallback = "0",
     .min = 0, .max = 1e9, .unit = "s",
     .help = "Wall time between audits, which make a stretch of the run again and compare; 0: only "
             "those at the start, with each checkpoint and at the end."},
    {JOB_KEY(audit_device, "/audit/device", STRING), .flags = ERGO_KEY_HOW, .fallback = "\"auto\"",
     .unit = "",
     .help =
         "Where stretches of the run are made again, and have to give the same bits: a device "
         "as in /device; auto: another OpenCL implementation of this machine, a CPU's first, "
         "or where there is none the same device in groups of another size, which is asked once "
         "for the known end of a small job; none: nowhere."},
};
const size_t ergo_job_n_common_keys = sizeof ergo_job_common_keys / sizeof ergo_job_common_keys[0];

const char *ergo_key_choice(const struct ergo_key *key, size_t i) {
    if (key->choices)
        return key->choices[i];
    return i < ergo_n_samplers ? ergo_samplers[i]->name : NULL;
}

/* The key that chooses a model, with the models' names. */
static const struct ergo_key *model_key(const struct ergo_sampler *sampler,
                                        struct ergo_arena *arena) {
    struct ergo_key *key = ergo_arena_alloc(arena, 1, sizeof *key);
    const char **names = ergo_arena_alloc(arena, sampler->n_models + 1, sizeof *names);
    size_t n = 0;
    if (!key || !names)
        return NULL;
    for (size_t m = 0; m < sampler->n_models; m++)
        if (!ergo_model_repeats(sampler, m))
            names[n++] = sampler->models[m]->name;
    names[n] = NULL;
    *key = *sampler->model_key;
    key->choices = names;
    return key;
}

static const struct ergo_key *tuning_key(const struct ergo_tunable *tunable,
                                         struct ergo_arena *arena) {
    struct ergo_key *key = ergo_arena_alloc(arena, 1, sizeof *key);
    struct ergo_text pointer = {0};
    ergo_text_append(&pointer, "/tuning/%s", tunable->name);
    if (key)
        *key = (struct ergo_key){
            .pointer = pointer.data ? ergo_arena_copy(arena, pointer.data, pointer.length) : NULL,
            .type = ERGO_KEY_INT,
            .at = tunable->at,
            .holds = tunable->at ? ERGO_HOLDS_INT : ERGO_HOLDS_NOTHING,
            .flags = ERGO_KEY_HOW,
            .fallback = "0",
            .min = (double)tunable->min,
            .max = (double)tunable->max,
            .unit = "",
            .help = tunable->help,
        };
    ergo_text_free(&pointer);
    return key && key->pointer ? key : NULL;
}

const struct ergo_key **ergo_keys_of(const struct ergo_sampler *sampler,
                                     const struct ergo_model *model, struct ergo_arena *arena,
                                     size_t *n_keys) {
    size_t n = ergo_job_n_common_keys + 1 + (model ? model->n_tunables : 0);
    for (size_t i = 0; model && ergo_model_key(model, i); i++)
        n++;
    const struct ergo_key **keys = ergo_arena_alloc(arena, n, sizeof *keys);
    size_t k = 0;
    if (!keys)
        return NULL;
    for (size_t i = 0; i < ergo_job_n_common_keys; i++)
        keys[k++] = &ergo_job_common_keys[i];
    if (sampler && sampler->model_key && !(keys[k++] = model_key(sampler, arena)))
        return NULL;
    for (size_t i = 0; model && ergo_model_key(model, i); i++)
        keys[k++] = ergo_model_key(model, i);
    for (size_t i = 0; model && i < model->n_tunables; i++)
        if (!(keys[k++] = tuning_key(&model->tunables[i], arena)))
            return NULL;
    *n_keys = k;
    return keys;
}

size_t ergo_keys_find(const struct ergo_key *const *keys, size_t n_keys, const char *pointer) {
    for (size_t i = 0; i < n_keys; i++)
        if (!strcmp(keys[i]->pointer, pointer))
            return i;
    return SIZE_MAX;
}

/* Tunables take 0 for "automatic" beside their range. */
static bool zero_is_automatic(const struct ergo_key *key) {
    return key->pointer && !strncmp(key->pointer, "/tuning/", 8);
}

bool ergo_key_has_range(const struct ergo_key *key) {
    return key->min != 0 || key->max != 0;
}

bool ergo_key_in_range(const struct ergo_key *key, double value) {
    if (!ergo_key_has_range(key) || (value == 0 && zero_is_automatic(key)))
        return true;
    bool above = key->flags & ERGO_KEY_EXCLUDES_MIN ? value > key->min : value >= key->min;
    return above && value <= key->max;
}

bool ergo_key_in_range_int(const struct ergo_key *key, int64_t value) {
    if (!ergo_key_has_range(key) || (value == 0 && zero_is_automatic(key)))
        return true;
    const double limit = 9223372036854775808.0; /* 2^63: doubles from here on bound nothing */
    if (key->max < limit && (key->max < -limit || value > (int64_t)floor(key->max)))
        return false;
    if (key->min < -limit)
        return true;
    if (key->min >= limit || value < (int64_t)ceil(key->min))
        return false;
    return !(key->flags & ERGO_KEY_EXCLUDES_MIN) || (double)value > key->min;
}

struct ergo_key ergo_key_element(const struct ergo_key *key) {
    struct ergo_key element = *key;
    element.type =
        key->type == ERGO_KEY_REALS || key->type == ERGO_KEY_REAL ? ERGO_KEY_REAL : ERGO_KEY_INT;
    element.flags &= ~(unsigned)ERGO_KEY_LIST;
    if (key->type == ERGO_KEY_SIZE && !ergo_key_has_range(key)) {
        element.min = 1;
        element.max = EXACT;
    }
    return element;
}

struct ergo_key ergo_key_scanned(const struct ergo_key *key) {
    return key->type == ERGO_KEY_REAL ? ergo_key_element(key) : *key;
}

/* 1048576, 0.16, 1e12, 2^53 */
static void append_bound(struct ergo_text *out, double bound) {
    char text[32];
    if (bound == EXACT) {
        ergo_text_append(out, "2^53");
        return;
    }
    snprintf(text, sizeof text, "%g", bound);
    const char *plus = strchr(text, '+');
    if (fabs(bound) < 1e7 || strtod(text, NULL) != bound || !plus)
        ergo_text_append_number(out, bound);
    else /* without the plus and the zero of "1e+09" */
        ergo_text_append(out, "%.*s%s", (int)(plus - text), text, plus + 1 + (plus[1] == '0'));
}

static void append_range(struct ergo_text *out, const struct ergo_key *key) {
    const bool open = key->flags & ERGO_KEY_EXCLUDES_MIN;
    /* Bounds as large as these only keep arithmetic safe: the message leaves them out. */
    const bool low = key->min > -1e300, high = key->max < 1e300;
    if (!ergo_key_has_range(key) || (!low && !high))
        return;
    if (low && high && !open) {
        ergo_text_append(out, " from ");
        append_bound(out, key->min);
        ergo_text_append(out, " to ");
        append_bound(out, key->max);
        return;
    }
    if (low) {
        ergo_text_append(out, open ? " > " : " >= ");
        append_bound(out, key->min);
    }
    if (high) {
        ergo_text_append(out, low ? " and <= " : " <= ");
        append_bound(out, key->max);
    }
}

void ergo_key_allowed(struct ergo_text *out, const struct ergo_key *key) {
    switch (key->type) {
    case ERGO_KEY_REAL:
        ergo_text_append(out, "a number");
        append_range(out, key);
        if (key->flags & ERGO_KEY_LIST)
            ergo_text_append(out, ", or an array of %s%d of them",
                             key->min_items < key->max_items ? "up to " : "", key->max_items);
        break;
    case ERGO_KEY_INT:
        ergo_text_append(out, "an integer");
        append_range(out, key);
        if (key->flags & ERGO_KEY_AUTO)
            ergo_text_append(out, ", or \"auto\"");
        if (zero_is_automatic(key))
            ergo_text_append(out, key->min > 0 ? ", or 0 for automatic" : "; 0: automatic");
        break;
    case ERGO_KEY_SEED:
        ergo_text_append(out, "a string of decimal digits up to \"18446744073709551615\", or an "
                              "integer from 0 to 2^53");
        return;
    case ERGO_KEY_BOOL:
        ergo_text_append(out, "true or false");
        return;
    case ERGO_KEY_ENUM:
        for (size_t i = 0; ergo_key_choice(key, i); i++)
            ergo_text_append(out, "%s\"%s\"", i ? ", " : "", ergo_key_choice(key, i));
        if (key->flags & ERGO_KEY_LIST)
            ergo_text_append(out, ", or an array of 1 to %d of them", key->max_items);
        return;
    case ERGO_KEY_STRING:
        ergo_text_append(out, "a string");
        return;
    case ERGO_KEY_SIZE:
    case ERGO_KEY_REALS: {
        const struct ergo_key element = ergo_key_element(key);
        ergo_text_append(out, "an array of ");
        if (key->min_items == key->max_items)
            ergo_text_append(out, "%d", key->max_items);
        else
            ergo_text_append(out, "%d to %d", key->min_items, key->max_items);
        ergo_text_append(out, key->type == ERGO_KEY_SIZE ? " integers" : " numbers");
        append_range(out, &element);
        break;
    }
    case ERGO_KEY_TIME:
        ergo_text_append(out, "\"HH:MM:SS\", or seconds as a number");
        append_range(out, key);
        return;
    }
    if (key->unit && *key->unit)
        ergo_text_append(out, " (in %s)", key->unit);
}

size_t ergo_keys_children(const struct ergo_key *const *keys, size_t n_keys, const char *prefix,
                          const char **names, size_t most, struct ergo_arena *arena) {
    size_t n = 0, length = strlen(prefix);
    for (size_t i = 0; i < n_keys && n < most; i++) {
        const char *pointer = keys[i]->pointer;
        if (strncmp(pointer, prefix, length) != 0 || pointer[length] != '/')
            continue;
        const char *token = pointer + length + 1;
        size_t size = strcspn(token, "/");
        bool known = false;
        for (size_t j = 0; j < n; j++)
            known = known || (strlen(names[j]) == size && !strncmp(names[j], token, size));
        if (known)
            continue;
        names[n] = ergo_arena_copy(arena, token, size);
        n += names[n] != NULL;
    }
    return n;
}
