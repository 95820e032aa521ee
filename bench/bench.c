/* ergocl-bench: see README.md. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ERGO_BENCH_COMMIT
#define ERGO_BENCH_COMMIT "unknown"
#endif

static const struct ergo_bench_case cases[] = {
    {"2048", ERGO_BENCH_GPU | ERGO_BENCH_CPU, 2048, 2048, 1, false},
    {"4096", ERGO_BENCH_GPU, 4096, 4096, 1, false},
    {"16384", ERGO_BENCH_GPU, 16384, 16384, 1, false},
    {"65536", ERGO_BENCH_GPU, 65536, 65536, 1, false},
    {"replicas-1024x128", ERGO_BENCH_GPU, 128, 128, 1024, false},
    {"512", ERGO_BENCH_CPU, 512, 512, 1, false},
    {"replicas-64x128", ERGO_BENCH_CPU, 128, 128, 64, false},
    {"scan-31x128", ERGO_BENCH_GPU | ERGO_BENCH_CPU, 128, 128, 1, true},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

struct options {
    const char *device, *json, *commit, *date, *note;
    unsigned class; /* 0: by the device */
    const char *names[N_CASES];
    size_t n_names;
    double seconds;
    bool list, explore;
};

static const char usage[] =
    "usage: ergocl-bench [options]\n"
    "  --device SEL     as of ergocl run (default: $ERGOCL_DEVICE, then auto)\n"
    "  --class gpu|cpu  which cases (default: by the device)\n"
    "  --case NAME...   only these; --list shows them\n"
    "  --seconds S      timed seconds per case (default 2); with --explore of the whole (120)\n"
    "  --explore        rates over paths, group sizes and tile shapes, no checks\n"
    "  --json FILE      write the results\n"
    "  --commit TEXT, --date TEXT, --note TEXT   for the file\n";

static bool parse_options(int argc, char **argv, struct options *o) {
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name, **value;
        } texts[] = {{"--device", &o->device},
                     {"--json", &o->json},
                     {"--commit", &o->commit},
                     {"--date", &o->date},
                     {"--note", &o->note}};
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
            for (; i + 1 < argc && argv[i + 1][0] != '-'; i++) {
                if (o->n_names == N_CASES)
                    return false;
                o->names[o->n_names++] = argv[i + 1];
            }
        } else {
            return false;
        }
    }
    return true;
}

static bool wanted(const struct options *o, const struct ergo_bench_case *c) {
    for (size_t i = 0; i < o->n_names; i++)
        if (strcmp(o->names[i], c->name) == 0)
            return true;
    return o->n_names == 0 && (c->classes & o->class);
}

static bool names_known(const struct options *o) {
    for (size_t i = 0; i < o->n_names; i++) {
        bool found = false;
        for (size_t c = 0; c < N_CASES; c++)
            found = found || strcmp(o->names[i], cases[c].name) == 0;
        if (!found) {
            fprintf(stderr, "there is no case \"%s\"; see --list\n", o->names[i]);
            return false;
        }
    }
    return true;
}

static enum ergo_status explore(struct ergo_bench *bench, const struct options *o) {
    enum ergo_status status = ERGO_OK;
    size_t left = 0;
    for (size_t c = 0; c < N_CASES; c++)
        left += wanted(o, &cases[c]);
    const double end = ergo_bench_wall() + (o->seconds > 0 ? o->seconds : 120);
    printf("%-18s %-7s %5s %7s %5s %11s   least .. most\n", "case", "path", "group", "sweeps",
           "rows", "updates/ns");
    for (size_t c = 0; c < N_CASES && status == ERGO_OK; c++)
        if (wanted(o, &cases[c]))
            status =
                ergo_bench_explore(bench, &cases[c], (end - ergo_bench_wall()) / (double)left--);
    return status;
}

static enum ergo_status measure(struct ergo_bench *bench, const struct options *o) {
    enum ergo_status status = ergo_bench_ceilings_measure(bench);
    for (size_t c = 0; c < N_CASES && status == ERGO_OK; c++) {
        if (!wanted(o, &cases[c]))
            continue;
        struct ergo_bench_result *r = &bench->results[bench->n_results++];
        r->what = &cases[c];
        fprintf(stderr, "%s: checking", r->what->name);
        status = ergo_bench_check(bench, r->what, r->check, sizeof r->check, &r->ok);
        fprintf(stderr, r->ok && status == ERGO_OK ? ", measuring\n" : ": failed\n");
        bench->failed = bench->failed || !r->ok;
        if (status == ERGO_OK && r->ok) /* no rate for a wrong answer */
            status = ergo_bench_measure(bench, r->what, r);
        if (status == ERGO_OK && r->ok && !bench->gpu) {
            struct ergo_bench_serial *s = &bench->serials[bench->n_serials++];
            status = ergo_bench_serial_measure(bench, r->what, s);
            bench->failed = bench->failed || !s->ok;
        }
    }
    return status;
}

int main(int argc, char **argv) {
    struct options o = {.commit = ERGO_BENCH_COMMIT, .note = ""};
    struct ergo_bench_result results[N_CASES] = {{0}};
    struct ergo_bench_serial serials[N_CASES] = {{0}};
    char date[32];
    if (!parse_options(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    if (o.list) {
        for (size_t c = 0; c < N_CASES; c++)
            printf("%-18s %zu x %zu, %zu replica%s%s  (%s%s)\n", cases[c].name, cases[c].lx,
                   cases[c].ly, cases[c].replicas, cases[c].replicas > 1 ? "s" : "",
                   cases[c].scan ? ", 31 temperatures" : "",
                   cases[c].classes & ERGO_BENCH_GPU ? "gpu " : "",
                   cases[c].classes & ERGO_BENCH_CPU ? "cpu" : "");
        return 0;
    }
    if (!names_known(&o))
        return 2;

    struct ergo_context *ctx = ergo_context_create();
    if (!ctx) {
        fputs("no memory\n", stderr);
        return 3;
    }
    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    struct ergo_bench bench = {.ctx = ctx,
                               .results = results,
                               .serials = serials,
                               .seconds = o.seconds > 0 ? o.seconds : 2,
                               .commit = o.commit,
                               .note = o.note,
                               .date = o.date ? o.date : date};
    enum ergo_status status = ergo_device_open(ctx, o.device, &bench.device);
    if (status == ERGO_OK) {
        bench.gpu = bench.device->type != CL_DEVICE_TYPE_CPU;
        if (!o.class)
            o.class = bench.gpu ? ERGO_BENCH_GPU : ERGO_BENCH_CPU;
        status = o.explore ? explore(&bench, &o) : measure(&bench, &o);
    }
    if (status == ERGO_OK && !o.explore) {
        ergo_bench_print(&bench);
        if (o.json)
            status = ergo_bench_write(&bench, o.json);
    }
    if (status != ERGO_OK)
        fprintf(stderr, "ergocl-bench: %s\n", ergo_error_message(ctx));
    ergo_device_close(bench.device);
    ergo_context_destroy(ctx);
    return status != ERGO_OK ? ergo_status_exit_code(status) : bench.failed ? 5 : 0;
}
