/* ergocl-bench: see README.md. */
#include "bench.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ERGO_BENCH_COMMIT
#define ERGO_BENCH_COMMIT "unknown"
#endif

/* A case with its suite; the list has all. */
struct entry {
    const struct ergo_bench_suite *suite;
    const struct ergo_bench_case *what;
};

enum { NAMES = 64 };
struct names {
    const char *name[NAMES];
    size_t n;
};

struct options {
    const char *device, *json, *results, *commit, *date, *note;
    unsigned class; /* 0: chosen by the device */
    struct names cases, samplers;
    double seconds;
    bool list, explore;
};

static const char usage[] =
    "usage: ergocl-bench [options]\n"
    "  --device SEL        as of ergocl run (default: $ERGOCL_DEVICE, then auto)\n"
    "  --class gpu|cpu     which cases (default: by the device)\n"
    "  --sampler NAME...   only cases of these samplers\n"
    "  --case NAME...      only these cases, of either class; --list shows them\n"
    "  --seconds S         timed seconds per case (default 2); with --explore of the whole (120)\n"
    "  --explore           rates over paths, group sizes and tile shapes, no checks\n"
    "  --json FILE         write the results\n"
    "  --results DIR       show those of this folder's files beside them\n"
    "  --commit TEXT, --date TEXT, --note TEXT   for the file\n";

/* The words up to the next option; false: too many. */
static bool take_names(int argc, char **argv, int *i, struct names *names) {
    for (; *i + 1 < argc && argv[*i + 1][0] != '-'; (*i)++) {
        if (names->n == NAMES)
            return false;
        names->name[names->n++] = argv[*i + 1];
    }
    return true;
}

static bool parse_options(int argc, char **argv, struct options *o) {
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name, **value;
        } texts[] = {{"--device", &o->device}, {"--json", &o->json}, {"--results", &o->results},
                     {"--commit", &o->commit}, {"--date", &o->date}, {"--note", &o->note}};
        bool known = false;
        for (size_t t = 0; t < sizeof texts / sizeof texts[0] && !known; t++) {
            known = strcmp(argv[i], texts[t].name) == 0;
            if (known && i + 1 >= argc)
                return false;
            if (known)
                *texts[t].value = argv[++i];
        }
        if (known)
            continue;
        if (strcmp(argv[i], "--list") == 0) {
            o->list = true;
        } else if (strcmp(argv[i], "--explore") == 0) {
            o->explore = true;
        } else if (strcmp(argv[i], "--class") == 0 && i + 1 < argc) {
            i++;
            o->class = strcmp(argv[i], "gpu") == 0   ? ERGO_BENCH_GPU
                       : strcmp(argv[i], "cpu") == 0 ? ERGO_BENCH_CPU
                                                     : 0;
            if (!o->class)
                return false;
        } else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            o->seconds = strtod(argv[++i], NULL);
            if (!(o->seconds > 0))
                return false;
        } else if (strcmp(argv[i], "--case") == 0) {
            if (!take_names(argc, argv, &i, &o->cases))
                return false;
        } else if (strcmp(argv[i], "--sampler") == 0) {
            if (!take_names(argc, argv, &i, &o->samplers))
                return false;
        } else {
            return false;
        }
    }
    return true;
}

static bool among(const char *name, const struct names *names) {
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return names->n == 0;
}

static bool wanted(const struct options *o, const struct entry *e) {
    return among(e->suite->sampler, &o->samplers) && among(e->what->name, &o->cases) &&
           (o->cases.n > 0 || (e->what->classes & o->class));
}

/* Does every given name exist? */
static bool names_known(const struct options *o, const struct entry *entries, size_t n) {
    const struct names *lists[] = {&o->samplers, &o->cases};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->n; i++) {
            bool found = false;
            for (size_t e = 0; e < n; e++)
                found = found || strcmp(lists[l]->name[i],
                                        l ? entries[e].what->name : entries[e].suite->sampler) == 0;
            if (!found) {
                char shown[256];
                ergo_message_show(shown, sizeof shown, lists[l]->name[i]);
                fprintf(stderr, "there is no %s \"%s\"; see --list\n", l ? "case" : "sampler",
                        shown);
                return false;
            }
        }
    }
    return true;
}

/* "size 128,128, temperature 2.27" of the job's system, and its replicas: what tells cases apart.
 */
static void put_system(const char *job) {
    cJSON *parsed = cJSON_Parse(job), *item = NULL;
    const char *separator = "";
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(parsed, "system")) {
        char *value = cJSON_PrintUnformatted(item);
        if (!value || !item->string)
            continue;
        printf("%s%s ", separator, item->string);
        if (cJSON_IsNumber(item))
            printf(item->valuedouble < 1e6 ? "%.8g" : "%.3g", item->valuedouble);
        else
            for (const char *c = value; *c; c++)
                if (!strchr("[]{}\"", *c))
                    putchar(*c == ',' ? 'x' : *c == ':' ? ' ' : *c);
        separator = ", ";
        cJSON_free(value);
    }
    item = cJSON_GetObjectItem(parsed, "replicas");
    if (item && item->valuedouble > 1)
        printf("%s%.0f replicas", separator, item->valuedouble);
    cJSON_Delete(parsed);
}

static void list(const struct options *o, const struct entry *entries, size_t n) {
    printf("%-13s %-29s %-7s %s\n", "sampler", "case", "by class", "system");
    for (size_t e = 0; e < n; e++) {
        const struct ergo_bench_case *c = entries[e].what;
        if (!among(entries[e].suite->sampler, &o->samplers) ||
            (o->cases.n && !among(c->name, &o->cases)))
            continue;
        printf("%-13s %-29s %-3s %-3s ", entries[e].suite->sampler, c->name,
               c->classes & ERGO_BENCH_GPU ? "gpu" : "", c->classes & ERGO_BENCH_CPU ? "cpu" : "");
        if (o->cases.n)
            printf("%s", c->job); /* asked for by name: the whole job */
        else
            put_system(c->job);
        printf("\n");
    }
}

/* Moves the chosen entries to the front; returns how many. */
static size_t choose(const struct options *o, struct entry *entries, size_t n) {
    size_t kept = 0;
    for (size_t e = 0; e < n; e++)
        if (wanted(o, &entries[e]))
            entries[kept++] = entries[e];
    return kept;
}

static enum ergo_status explore(struct ergo_bench *bench, const struct options *o,
                                const struct entry *entries, size_t n) {
    enum ergo_status status = ERGO_OK;
    const double end = ergo_bench_wall() + (o->seconds > 0 ? o->seconds : 120);
    for (size_t e = 0; e < n && status == ERGO_OK; e++)
        status = ergo_bench_explore(bench, entries[e].suite, entries[e].what,
                                    (end - ergo_bench_wall()) / (double)(n - e));
    return status;
}

/* Measures the device's ceilings: the common ones, and those of the chosen suites. */
static enum ergo_status ceilings(struct ergo_bench *bench, const struct entry *entries, size_t n) {
    enum ergo_status status = ergo_bench_ceilings_measure(bench);
    for (size_t e = 0; e < n && status == ERGO_OK; e++) {
        const struct ergo_bench_suite *suite = entries[e].suite;
        const bool seen = e > 0 && entries[e - 1].suite == suite;
        if (!seen && suite->ceiling && bench->n_ceilings < ERGO_BENCH_CEILINGS_MAX)
            status = suite->ceiling(bench, &bench->ceilings[bench->n_ceilings++]);
    }
    return status;
}

static enum ergo_status measure(struct ergo_bench *bench, const struct entry *entries, size_t n) {
    enum ergo_status status = ceilings(bench, entries, n);
    for (size_t e = 0; e < n && status == ERGO_OK; e++) {
        struct ergo_bench_result *r = &bench->results[bench->n_results++];
        struct ergo_text verdict = {0};
        r->suite = entries[e].suite;
        r->what = entries[e].what;
        r->ok = true;
        fprintf(stderr, "%s %s: checking", r->suite->sampler, r->what->name);
        status = r->suite->check(bench, r->what, &verdict, &r->ok);
        snprintf(r->check, sizeof r->check, "%s", verdict.data ? verdict.data : "");
        ergo_text_free(&verdict);
        fprintf(stderr, r->ok && status == ERGO_OK ? ", measuring\n" : ": failed\n");
        if (status == ERGO_OK && r->ok) /* no rate for a wrong answer */
            status = ergo_bench_measure(bench, r);
        /* serial programs run at the suite's temperature, not at that of a user's job */
        const bool beside = !bench->gpu && !(r->what->classes & ERGO_BENCH_AS_GIVEN);
        if (status == ERGO_OK && r->ok && beside && r->suite->n_peers) {
            status = ergo_bench_peers_measure(bench, r);
            bench->failed = bench->failed || !r->peers_ok;
        }
        bench->failed = bench->failed || !r->ok;
    }
    return status;
}

int main(int argc, char **argv) {
    struct options o = {.commit = ERGO_BENCH_COMMIT, .note = ""};
    struct entry *entries = NULL;
    struct ergo_context *ctx = NULL;
    struct ergo_bench bench = {0};
    enum ergo_status status = ERGO_OK;
    int code = 2;
    char date[32];
    size_t n = 0;
    for (size_t s = 0; s < ergo_bench_n_suites; s++)
        n += ergo_bench_suites[s]->n_cases;
    entries = calloc(n + 1, sizeof *entries);
    bench.results = calloc(n + 1, sizeof *bench.results);
    ctx = ergo_context_create();
    if (!entries || !bench.results || !ctx) {
        fputs("no memory\n", stderr);
        code = 3;
        goto out;
    }
    n = 0;
    for (size_t s = 0; s < ergo_bench_n_suites; s++)
        for (size_t c = 0; c < ergo_bench_suites[s]->n_cases; c++)
            entries[n++] = (struct entry){ergo_bench_suites[s], &ergo_bench_suites[s]->cases[c]};
    if (!parse_options(argc, argv, &o)) {
        fputs(usage, stderr);
        goto out;
    }
    if (!names_known(&o, entries, n))
        goto out;
    if (o.list) {
        list(&o, entries, n);
        code = 0;
        goto out;
    }

    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    bench.ctx = ctx;
    bench.selector = o.device;
    bench.seconds = o.seconds > 0 ? o.seconds : 2;
    bench.commit = o.commit;
    bench.note = o.note;
    bench.date = o.date ? o.date : date;
    if (o.results)
        status = ergo_bench_recorded_read(&bench, o.results);
    if (status == ERGO_OK)
        status = ergo_device_open(ctx, o.device, &bench.device);
    if (status == ERGO_OK) {
        bench.gpu = bench.device->type != CL_DEVICE_TYPE_CPU;
        if (!o.class)
            o.class = bench.gpu ? ERGO_BENCH_GPU : ERGO_BENCH_CPU;
        n = choose(&o, entries, n);
        status = o.explore ? explore(&bench, &o, entries, n) : measure(&bench, entries, n);
    }
    if (status == ERGO_OK && !o.explore) {
        ergo_bench_print(&bench);
        if (o.json)
            status = ergo_bench_write(&bench, o.json);
    }
    if (status != ERGO_OK)
        fprintf(stderr, "ergocl-bench: %s\n", ergo_error_message(ctx));
    code = status != ERGO_OK ? (int)ergo_status_exit_code(status) : bench.failed ? 5 : 0;
out:
    ergo_device_close(bench.device);
    ergo_context_destroy(ctx);
    free(bench.recorded);
    free(bench.results);
    free(entries);
    return code;
}
