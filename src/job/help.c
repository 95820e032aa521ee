/* `ergocl help`: which page is asked for, and the written ones; help_tables.c has the others. */
#include <string.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "job/build.h"

static void put_overview(struct ergo_text *out) {
    ergo_text_append(out, "Samplers (`ergocl help SAMPLER` lists keys and observables)\n\n");
    for (size_t i = 0; i < ergo_n_samplers; i++)
        ergo_help_named(out, ergo_samplers[i]->name, "", ergo_samplers[i]->summary);
    ergo_text_append(out,
                     "\nTopics (`ergocl help TOPIC`)\n\n"
                     "  job             what a job file holds\n"
                     "  devices         how a device is selected and judged\n"
                     "  result          what a run folder holds\n"
                     "  errors          which errors are trusted, and of replicas\n"
                     "  configurations  frames of lattices, packed\n"
                     "  extend          runs that go further, and runs in parts\n"
                     "  exit-codes      what the program's exit code means\n"
                     "  environment     the variables the program reads\n"
                     "  words           units, steps, and what other programs call otherwise\n"
                     "\nNames (`ergocl help NAME`): a model, a key, an observable, a curve, a\n"
                     "column or a tunable, of whatever sampler: `ergocl help temperature`.\n"
                     "All texts: `ergocl help --search WORDS`.\n");
}

static void put_job(struct ergo_text *out) {
    ergo_text_append(
        out,
        "A job is one JSON object (UTF-8, no comments). Example:\n\n"
        "  {\n"
        "    \"sampler\": \"spin-lattice\",\n"
        "    \"seed\": \"42\",\n"
        "    \"system\": { \"size\": [128, 128], \"temperature\": 2.269185314213 },\n"
        "    \"run\": { \"equilibration\": 2000, \"sweeps\": 20000, \"measure_every\": 10 },\n"
        "    \"scan\": { \"/system/temperature\": { \"from\": 2.4, \"to\": 2.1, \"step\": -0.01 } "
        "}\n"
        "  }\n\n"
        "Unknown keys are errors. Integers beyond 2^53 are written as strings, because JSON\n"
        "programs round them. --set /system/temperature=2.3 changes a value for one run.\n\n"
        "Keys of all samplers (`ergocl help SAMPLER` has the rest)\n\n");
    for (size_t k = 0; k < ergo_job_n_common_keys; k++)
        ergo_help_key(out, &ergo_job_common_keys[k]);
    ergo_text_append(out, "  /scan\n");
    ergo_help_filled(
        out, ERGO_HELP_INDENT,
        "takes an object of JSON pointers, each with a list [2.1, 2.2], a range {\"from\", "
        "\"to\", \"step\"}, or {\"from\", \"to\", \"count\"} with \"spacing\" \"linear\" or "
        "\"log\"; both ends are included.");
    ergo_help_filled(
        out, ERGO_HELP_INDENT,
        "Several pointers make a grid, the first varies slowest. \"/system/size/0\" is one "
        "element of an array; \"/system/size\": [[16, 16], [32, 32]] changes all. A point "
        "of a range is the same as its value typed by hand, and its chain is the same as "
        "if it ran alone.");
}

static const char devices_page[] =
    "A device is selected by --device, else ERGOCL_DEVICE, else \"device\" in the job, else\n"
    "\"auto\":\n\n"
    "  auto       the best GPU, else a CPU; refused devices are skipped\n"
    "  gpu, cpu   the device of that type (or accelerator); several are an error that lists "
    "them\n"
    "  1:0        platform and device by index, as `ergocl devices` lists them\n"
    "  01:00.0    the PCI address, as lspci prints it (0000:01:00.0 with its domain)\n"
    "  NAME       part of the device's or platform's name, in any case\n\n"
    "Under mpirun the devices of a type, or of one model by a NAME that they share, are dealt out "
    "to\n"
    "the ranks of a host in turn, and so is a list A,B,... of selectors.\n\n"
    "At first use a device is probed: a small kernel checks fused multiply-add,\n"
    "rounding, integer width, atomics, barriers and known answers of the random numbers.\n"
    "`ergocl devices` says in a sentence what a device can do or why it is refused. A job and\n"
    "its seed give the same chain, bit for bit, on every device that passes.\n";

static const char extend_page[] =
    "A run is never finished. ergocl resume DIR --set ... goes on from the states in which its\n"
    "chains have ended, or stand; the results are those of a run that asked for all of it at\n"
    "once, to the last bit:\n\n"
    "  --set /run/sweeps=400000          longer, in the sampler's steps\n"
    "  --set /replicas=8                 more chains of each point\n"
    "  --set '/scan={\"/PTR\": [...]}'    the points that it has, and more, in any order\n\n"
    "So does ergocl run JOB.json -o DIR, where DIR has a finished run of the same job that is\n"
    "shorter or has fewer points. What would make another run of it is refused with the key;\n"
    "keys that no chain depends on (/device, /output, /checkpoint, /wall_time, /tuning ...) may\n"
    "have any value. Not possible: more samples of a run whose averages over /output/blocks\n"
    "would get another length and whose samples were not kept (/output/series); points that\n"
    "renumber others whose trajectory is written; spin glasses beyond 65,536 measurements,\n"
    "where sums need other units; final states that were not kept (/checkpoint/final_states).\n\n"
    "ergocl run JOB.json --part K/N -o DIR runs a share of the points and replicas, with nothing\n"
    "between the machines: an array of a batch system, nodes that may be taken away, devices of\n"
    "different vendors. In its result.json \"part\" is \"K/N\", and \"points\" are its own. Each\n"
    "part is resumed by itself. ergocl merge DIR... -o WHOLE unites them, as of one run, which\n"
    "can be reported, resumed and extended. A part that is missing or not finished is named;\n"
    "points that two parts have must agree to the bit (exit code 5 otherwise).\n";

static const char configurations_page[] =
    "With \"output\": {\"configurations_every\": N} a run of spin-lattice or swendsen-wang writes\n"
    "DIR/configurations.h5: the configuration of each chain at the first measurement at or after\n"
    "each N steps (\"configurations_spacing\": \"logarithmic\": after 1, 2, 3, 4, 5, 6, 8, 10, 12, "
    "15,\n"
    "20, 25 ... times N), as the model has it: Ising spins in two dimensions and on graphs a "
    "bit\n"
    "each, spin glasses a bit for each sample, bytes, angles of 32 bits, three components.\n\n"
    "  batch0, batch1 ...  points (replicas included) that agree in size and length, in each:\n"
    "  point, replica      [points], numbers as in result.json\n"
    "  stream              [points], key of the random numbers\n"
    "  parameters/...      [points], what was scanned, under its JSON pointer\n"
    "  step                [points, frames], steps done when the frame was taken, equilibration\n"
    "                      included, as samples/step of series.h5; -1: not written yet\n"
    "  spins               [points, frames, ...], in one piece, little-endian. Attributes:\n"
    "    axes              names of the other dimensions: \"y x\", \"word temperature copy z y "
    "x\"\n"
    "    description       what a value says\n"
    "    bits              so many sites along the last axis are packed into bytes: site i is bit\n"
    "                      i % 8, counted from the lowest, of byte i // 8\n"
    "    systems           so many systems along the axis \"word\": bit k of word w is that of\n"
    "                      system 32 w + k (a sample, a realisation)\n"
    "    scale             a value is the stored number times it (angles in radians, components)\n"
    "    axis \"plane\"      digits of a binary number, the lowest first\n"
    "  couplings, chance   what a start needs beside the spins, in some models\n\n"
    "Attributes of the file: ergocl (version), sampler, model, seed, step_unit, job, layout. All\n"
    "frames have their place from the beginning; the text before HDF5's own part says at which\n"
    "offset each array begins, for programs without HDF5. The file is whole at any moment, can be\n"
    "read while the run writes, and is the same to the byte after a kill and a resume, on each\n"
    "device and number of ranks. A run that is extended keeps its frames.\n\n"
    "  {\"start\": {\"run\": \"DIR\", \"frame\": 3}}    chains start in that frame (counted from "
    "0)\n\n"
    "  import ergocl                             # Python: all of this unpacked\n"
    "  with ergocl.configurations(\"DIR\") as c:\n"
    "      spins, steps = c.spins(point=0, frame=3), c.steps(0)\n"
    "      ages = c.two_times([10, 100])  # C(t_w + t, t_w) = <q>, chi4 = N var q, and errors\n";

static const char errors_page[] =
    "An error that cannot be trusted is null, \"(?)\" in tables, and \"untrusted\" says why:\n"
    "\n"
    "  too-short          fewer than 100 autocorrelation times (50 independent samples), or\n"
    "                     no plateau: run longer (also \"too_short\": true; error_binning, if\n"
    "                     given, is too small)\n"
    "  drift              the beginning differs from the end: equilibrate longer\n"
    "  constant           never changed. If n independent samples are all the same, other values\n"
    "                     have a weight below 3/n, but their distance is unknown. Where \"exact\"\n"
    "                     is this value, to 9 digits, the error is 0\n"
    "  few-samples        fewer than 20 independent samples, of a disorder 10: a longer run\n"
    "                     adds none, the key that the warning names does\n"
    "  slow               too short for a physical reason, which the warning gives\n"
    "  undefined          the mean has no finite value (a correlation length where there is\n"
    "                     none)\n"
    "  replicas-disagree  of a mean over replicas: see below\n"
    "  not-measured       the run stopped before the first sample\n"
    "\n"
    "A chain has one verdict. Where an observable shows that it has not equilibrated, stands\n"
    "still, or is too short for its slowest motion, all other errors of the chain are refused\n"
    "for this reason, and \"because\" names the observable. (Not by one that is slow by its\n"
    "physics, and not of independent realisations.) The errors of its curves are kept, and\n"
    "\"untrusted\" beside them. What /run/observables asks for does not change the verdict.\n"
    "\n"
    "Jobs with \"replicas\" have \"means\": for each scan point its \"parameters\", how many\n"
    "\"replicas\" there are and how many \"measured\", and \"observables\" as above. \"mean\" "
    "gives\n"
    "all replicas the same weight. \"error_chains\" comes from their own errors, sqrt(sum\n"
    "error^2) / n; \"error_scatter\" from the scatter of their means, sqrt(variance / n);\n"
    "\"chi2\" for \"dof\" is (n - 1) variance over the mean error^2. \"error\" is error_chains\n"
    "where every chain has a trusted error and they agree, of 20 chains and more error_scatter\n"
    "where that is larger; error_scatter where there are 10 chains or more and at most a tenth\n"
    "of them drifts, stands still or has fewer than 20 autocorrelation times; else null. A\n"
    "point has one verdict, too: replicas that disagree in one observable, or drift all\n"
    "together, leave no other mean an error. Replicas disagree where\n"
    "the F test of scatter against errors says so (a false alarm in one run of 1000), or\n"
    "where some of 10 or more lie far from the median (6 standard deviations, more if there\n"
    "are few): \"apart\" has their numbers. Then each of them may be right about the state it\n"
    "is in, and their mean is no average over states.\n"
    "Samples of a disorder: error_scatter from 10 on, and no chi2.\n";

static const char result_page[] =
    "A run writes into one folder (-o DIR; default: the name of the job):\n\n"
    "  result.json         means, errors and autocorrelation times of all points, for scripts\n"
    "  report.html         the same with curves and warnings, for people; ergocl report DIR...\n"
    "                      makes it again, or one of several runs\n"
    "  series.h5           HDF5: samples/NAME [point, sample], curves; see its \"layout\"\n"
    "  configurations.h5   frames, packed: ergocl help configurations\n"
    "  configurations.png  the last pictures on one sheet; snapshots/ has all of them\n"
    "  trajectory/         configurations (/output/trajectory_every), a file each, or in GSD\n"
    "  blocks/             averages over blocks of measurements (/output/blocks), a file a point\n"
    "  checkpoint          from which ergocl resume DIR continues, with the files of the job\n\n"
    "In result.json each of \"points\" has its \"parameters\" (what was scanned), \"chosen\"\n"
    "(defaults of its own), \"replica\", \"steps\", \"digest\", \"stream\" (the key of its\n"
    "random numbers), \"observables\" and \"curves\".\n"
    "Each observable has \"mean\", \"error\" (one standard error, autocorrelation included),\n"
    "\"error_binning\" (the same by binning), \"tau\" with \"tau_error\" (integrated\n"
    "autocorrelation time, in steps), \"samples\" and \"unit\"; \"exact\" and \"z\" = (mean - "
    "exact)\n"
    "/ error where theory has a value; \"reference\", \"reference_error\" and \"reference_z\" (by\n"
    "both errors) beside a published value that has an error of its own, or beside the\n"
    "reference point of a calibration. A curve has \"x_label\", \"unit\" and the arrays \"x\",\n"
    "\"mean\", \"error\". What is not known is null. tau is null for what is made from a\n"
    "curve, whose samples are only kept in bins. The digest is of the state and the step: it\n"
    "is the same on every device, for every launch, and after any interruption.\n"
    "\n"
    "An error that cannot be trusted is null; \"untrusted\" says why, \"because\" by which\n"
    "observable. Jobs with \"replicas\" have \"means\". Both: ergocl help errors.\n"
    "\n"
    "Beside the points: \"status\" (complete, stopped or audit-failed), \"device\" (of each\n"
    "rank), \"rate\" (what a clock measured), \"warnings\" (as terminal and page), and \"job\", "
    "the\n"
    "whole job as it ran.\n\n"
    "ergocl compare writes compare.json and compare.html into its folder, a run folder for each\n"
    "device, and, where devices do not agree, vendor.txt and vendor-kernels.cl.\n";

static const char exit_codes_page[] =
    "   0  done\n"
    "   2  the job or the command line is wrong\n"
    "   3  no usable device, it failed, or memory ran out\n"
    "   4  a file could not be read or written\n"
    "   5  an audit failed: the state is wrong. result.json says so, beside what was measured;\n"
    "      ergocl resume goes back to the checkpoint before, --device to another device\n"
    "  75  stopped with a checkpoint (signal or wall time): ergocl resume DIR\n\n"
    "Anything else is a bug.\n";

static const char environment_page[] =
    "  ERGOCL_DEVICE     device selector, between --device and the job's \"device\"\n"
    "  ERGOCL_CACHE_DIR  folder of compiled kernels and probe verdicts; default\n"
    "                    $XDG_CACHE_HOME/ergocl, else ~/.cache/ergocl\n"
    "  ERGOCL_CL_DIR     read the kernels from this folder instead of the program (for people\n"
    "                    who edit them)\n"
    "  ERGOCL_CONFIG_DIR folder of tuning.json, what `ergocl tune` found; default\n"
    "                    $XDG_CONFIG_HOME/ergocl, else ~/.config/ergocl; set and empty: none\n"
    "  XDG_CACHE_HOME    see ERGOCL_CACHE_DIR\n"
    "  XDG_CONFIG_HOME   see ERGOCL_CONFIG_DIR\n"
    "  NO_COLOR          when set and not empty: no colours on the terminal\n";

static const char words_page[] =
    "Units. k_B = 1 and no key has a unit of its own: lengths are in one unit, energies and\n"
    "temperatures in another. With epsilon = sigma = 1, the defaults, these are reduced units,\n"
    "T* = k_B T/epsilon and rho* = N sigma^3/V. For argon in K and A: \"epsilon\": 119.8,\n"
    "\"sigma\": 3.405, and box, cutoff, steps in A, temperature in K; a pressure comes out in\n"
    "K/A^3, of which one is 138.065 bar. Hard particles have the diameter 1 and no temperature:\n"
    "their pressures are beta P sigma^d. Helium: K and A. Spins: J.\n\n"
    "Steps. \"sweeps\" and \"equilibration\" count the sampler's steps: of spins and hard\n"
    "particles a sweep over all, of lj-fluid and lj-gcmc one trial move (on a checkerboard an\n"
    "activation), so that N of them are what LAMMPS, HOOMD-blue and RASPA call a sweep, step or\n"
    "cycle. tau, the autocorrelation time, is in the same steps: an error can be trusted after\n"
    "some 100 tau (help errors).\n\n"
    "What others call               is here\n"
    "  T, Temp, beta                  temperature, of beta 1/beta\n"
    "  rcut, r_c, Rcut                cutoff, in the unit of length\n"
    "  LRC, tail yes                  tail_correction\n"
    "  VDWForceSwitch, shift          shifted: by u(r_c), without a switch\n"
    "  GCMC, GEMC, TMMC               ensemble muvt, gibbs; method transition-matrix of muvt\n"
    "  fugacity f                     activity z = f/(k_B T). f is the pressure of an ideal gas\n"
    "                                 only: else an isotherm of the bulk fluid tells which f\n"
    "                                 a pressure has\n"
    "  chemical potential             mu with lambda, or beta_mu; mu - 3 T ln Lambda = T ln z\n"
    "  rdf, g(r)                      the curve gr: ergocl table DIR --curve gr\n"
    "  Widom                          insertions\n"
    "  framework, host                frozen (atoms), field (a grid), slit (two walls)\n"
    "  mixture, components            species\n"
    "  eta, phi                       packing_fraction, N pi sigma^3/(6 V), of disks\n"
    "                                 N pi sigma^2/(4 A), not the density\n"
    "  restart                        ergocl resume DIR; \"start\": {\"run\": DIR} of a new run\n"
    "  PrintEvery, thermo             measure_every; files with frames: trajectory_every\n"
    "  random seed                    seed; absent: 1, so runs without one are the same run\n"
    "A wrong word in a job is refused, with the right one where it is known.\n";

static const struct {
    const char *name, *page;
} topics[] = {
    {"job", NULL},
    {"devices", devices_page},
    {"result", result_page},
    {"errors", errors_page},
    {"configurations", configurations_page},
    {"extend", extend_page},
    {"exit-codes", exit_codes_page},
    {"environment", environment_page},
    {"words", words_page},
};
enum { N_TOPICS = sizeof topics / sizeof topics[0] };

static enum ergo_status unknown_topic(struct ergo_context *ctx, const char *topic,
                                      struct ergo_arena *arena) {
    struct ergo_text list = {0}, shown = {0};
    size_t n = 0;
    const char **names = ergo_help_names(arena, N_TOPICS, &n);
    if (!names)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while writing help");
    for (size_t i = 0; i < N_TOPICS; i++)
        names[n++] = topics[i].name;
    for (size_t i = 0; i < ergo_n_samplers; i++)
        ergo_text_append(&list, "%s, ", ergo_samplers[i]->name);
    for (size_t i = 0; i < N_TOPICS; i++)
        ergo_text_append(&list, "%s, ", topics[i].name);
    ergo_utf8_append_word(&shown, topic, 64);
    const char *near = strlen(topic) <= 64 ? ergo_text_nearest(topic, names, n) : NULL;
    const bool in_texts = ergo_help_mentions(topic);
    enum ergo_status status = ERGO_FAIL(
        ctx, ERGO_E_JOB,
        "no help on \"%s\"%s%s%s%s%s%s; topics: %sand names of models, keys and what is measured",
        shown.data ? shown.data : "",
        in_texts ? ", but texts have it: ergocl help --search \"" : "", in_texts ? shown.data : "",
        in_texts ? "\"" : "", ERGO_MEANT(near), list.data ? list.data : "");
    ergo_text_free(&list);
    ergo_text_free(&shown);
    return status;
}

/* A name beside a sampler's or a model's, in either order: "pressure lj-fluid", "gibbs transfers".
 */
static bool put_of_named(struct ergo_text *out, const char *named, size_t length, const char *name,
                         struct ergo_arena *arena) {
    char of[64] = "";
    bool found = false;
    if (length < sizeof of)
        memcpy(of, named, length);
    for (size_t i = 0; i < ergo_n_samplers && !found; i++)
        if (!strcmp(ergo_samplers[i]->name, of) || ergo_model_find(ergo_samplers[i], of))
            found = ergo_help_name(out, name, ergo_samplers[i], arena);
    return found;
}

/* What jobs call otherwise ("rdf"), and the only name that begins so ("tail"). */
static bool put_meant(struct ergo_text *out, const char *topic, struct ergo_arena *arena) {
    static const char *const explained[] = {"units", "tau", "step", "steps", "sweep", "glossary"};
    const char *space = strchr(topic, ' '), *last = strrchr(topic, ' '), *word;
    size_t n = 0;
    for (size_t i = 0; i < sizeof explained / sizeof explained[0]; i++)
        if (!strcmp(topic, explained[i])) {
            ergo_text_append(out, "%s", words_page);
            return true;
        }
    const char *before = last ? ergo_arena_copy(arena, topic, (size_t)(last - topic)) : NULL;
    if (before && (put_of_named(out, topic, (size_t)(space - topic), space + 1, arena) ||
                   put_of_named(out, last + 1, strlen(last + 1), before, arena)))
        return true;
    for (size_t i = 0; (word = ergo_word_meant(topic, i)) != NULL; i++)
        if (ergo_help_name(out, word, NULL, arena))
            return true;
    const char **names = ergo_help_names(arena, 0, &n);
    word = names ? ergo_word_begun(topic, names, n) : NULL;
    return word && ergo_help_name(out, word, NULL, arena);
}

/* Of a sampler; `rest` is what stands behind its name: "", " potts", " temperature". */
static bool put_of_sampler(struct ergo_text *out, const struct ergo_sampler *sampler,
                           const char *rest, struct ergo_arena *arena) {
    if (!*rest) {
        ergo_help_sampler(out, sampler, arena);
        return true;
    }
    const struct ergo_model *model = ergo_model_find(sampler, rest + 1);
    const char *last = strrchr(rest, ' ');
    if (!model && ergo_help_name(out, rest + 1, sampler, arena))
        return true;
    if (!model) /* SAMPLER MODEL NAME */
        return last > rest && ergo_help_name(out, last + 1, sampler, arena);
    ergo_help_model(out, sampler, model, arena);
    return true;
}

/* The page on a topic; false: there is none. */
static bool put_topic(struct ergo_text *out, const char *topic, struct ergo_arena *arena) {
    const size_t word = strcspn(topic, " ");
    for (size_t i = 0; i < ergo_n_samplers; i++)
        if (strlen(ergo_samplers[i]->name) == word && !strncmp(ergo_samplers[i]->name, topic, word))
            return put_of_sampler(out, ergo_samplers[i], topic + word, arena);
    for (size_t i = 0; i < N_TOPICS; i++) {
        if (strcmp(topics[i].name, topic) != 0)
            continue;
        if (topics[i].page)
            ergo_text_append(out, "%s", topics[i].page);
        else
            put_job(out);
        return true;
    }
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        const struct ergo_model *model = ergo_model_find(ergo_samplers[i], topic);
        if (model) {
            ergo_help_model(out, ergo_samplers[i], model, arena);
            for (size_t k = i + 1, any = 0; k < ergo_n_samplers; k++)
                if (ergo_model_find(ergo_samplers[k], topic))
                    ergo_text_append(out, "%s%s %s",
                                     any++ ? ", " : "\nOther samplers have one, too: ",
                                     ergo_samplers[k]->name, topic);
            ergo_text_append(out, "\n");
            return true;
        }
    }
    return ergo_help_name(out, topic, NULL, arena) || put_meant(out, topic, arena);
}

enum ergo_status ergo_help_text(struct ergo_context *ctx, const char *topic, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, text);
    enum ergo_status status = ERGO_OK;
    struct ergo_arena arena = {0};
    struct ergo_text out = {0};
    bool found = true;
    if (topic)
        found = put_topic(&out, topic, &arena);
    else
        put_overview(&out);
    if (!found && !arena.failed && !out.failed) {
        status = unknown_topic(ctx, topic, &arena);
    } else {
        *text = arena.failed ? NULL : ergo_text_take(&out);
        if (!*text)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while writing help");
    }
    ergo_text_free(&out);
    ergo_arena_free(&arena);
    return status;
}
