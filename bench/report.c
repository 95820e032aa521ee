/* The table on the terminal, and the file for results/. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/format.h"
#include "base/json_out.h"

const char *ergo_bench_unit(const char *sampler, char text[64]) {
    const char *unit = ergo_sampler_find(sampler)->rate_unit;
    const char *end = strstr(unit, " per second");
    snprintf(text, 64, "%.*s", end ? (int)(end - unit) : (int)strlen(unit), unit);
    return text;
}

double ergo_bench_scale(double rate, const char **name) {
    *name = rate >= 0.5 ? "/ns" : " M/s";
    return rate >= 0.5 ? 1 : 1000;
}

static void print_rate(const char *label, struct ergo_bench_rate r, double factor) {
    if (r.n)
        printf("    %-34s %9.2f   %.2f .. %.2f\n", label, factor * r.median, factor * r.least,
               factor * r.most);
}

static void print_part(const char *label, double part) {
    printf("    %-34s %9.2f\n", label, part);
}

static void print_case(const struct ergo_bench *bench, const struct ergo_bench_result *r) {
    char unit[64];
    const char *scale;
    printf("\n%s, %s: %s\n  check: %s: %s\n", r->suite->sampler, r->what->name, r->path,
           r->ok ? "ok" : "FAILED", r->check);
    if (!r->ok || !r->wall.n)
        return;
    const double factor = ergo_bench_scale(r->wall.median, &scale);
    printf("  %s; %llu steps a time; %s%s:\n", r->launch, (unsigned long long)r->steps,
           ergo_bench_unit(r->suite->sampler, unit), scale);
    print_rate("steps alone", r->wall, factor);
    print_rate("by device events", r->device, factor);
    print_rate("with measurement", r->measured, factor);
    print_part("  of that without", r->measured.median / r->wall.median);
    printf("    %-34s %9.2f   %llu steps in %.2f s, %.2f s of them sampling\n", "whole run",
           factor * r->whole.rate, (unsigned long long)r->whole.steps, r->whole.seconds,
           r->whole.sampling);
    print_part("  of the steps alone", r->whole.rate / r->wall.median);
    if (!bench->gpu)
        print_rate("steps alone, per core", r->per_core, factor);
    if (r->useful < 1)
        printf("    %-34s %9.3f\n", "useful share of them", r->useful);
    if (isfinite(r->limit))
        printf("    %-34s %9.2f   by %s%s: share %.0f%%\n", "limit", factor * r->limit,
               r->limited_by, bench->gpu ? "" : ", per core", 100 * r->share);
    ergo_bench_recorded_print(bench, r, factor);
}

static void print_peers(const struct ergo_bench_result *r) {
    char unit[64];
    const char *scale;
    if (!r->peers_check[0])
        return;
    const double factor = ergo_bench_scale(r->ergocl.median, &scale);
    printf("\nserial C programs, in turns with %s, %s; %s%s of processor time\n  check: %s: %s\n",
           r->suite->sampler, r->what->name, ergo_bench_unit(r->suite->sampler, unit), scale,
           r->peers_ok ? "ok" : "FAILED", r->peers_check);
    print_rate("ergocl, per core, useful", r->ergocl, factor);
    for (size_t p = 0; p < r->suite->n_peers && r->ergocl.n; p++) {
        char label[64];
        print_rate(r->suite->peers[p].name, r->peers[p], factor);
        snprintf(label, sizeof label, "  ergocl / %s", r->suite->peers[p].name);
        print_rate(label, r->ratio[p], 1);
    }
}

void ergo_bench_print(const struct ergo_bench *bench) {
    const struct ergo_device_summary *d = &bench->device->summary;
    printf("%s (%s), driver %s\nergocl %s, commit %s, %s\nthis device, measured now, per ns%s:\n",
           d->name, d->platform, d->driver, ERGO_VERSION, bench->commit, bench->date,
           bench->gpu ? "" : " (and per core)");
    for (size_t i = 0; i < bench->n_ceilings; i++) {
        const struct ergo_bench_ceiling *c = &bench->ceilings[i];
        printf("    %-24s %9.2f", c->label, c->rate);
        if (!bench->gpu)
            printf(" (%.3f)", c->per_core);
        printf("\n");
    }
    printf("rates: median, least .. most of %d\n", ERGO_BENCH_REPEATS);
    for (size_t i = 0; i < bench->n_results; i++)
        print_case(bench, &bench->results[i]);
    for (size_t i = 0; i < bench->n_results; i++)
        print_peers(&bench->results[i]);
}

static void put_number(struct ergo_json_out *out, const char *key, double value) {
    if (isfinite(value))
        ergo_out_raw(out, key, "%.5g", value);
    else
        ergo_out_text(out, key, NULL);
}

static void put_rate(struct ergo_json_out *out, const char *key, struct ergo_bench_rate r) {
    if (!r.n) {
        ergo_out_text(out, key, NULL);
        return;
    }
    ergo_out_object(out, key);
    put_number(out, "median", r.median);
    put_number(out, "min", r.least);
    put_number(out, "max", r.most);
    ergo_out_raw(out, "n", "%zu", r.n);
    ergo_out_close(out, 1);
}

static void put_head(struct ergo_json_out *out, const struct ergo_bench_result *r) {
    char unit[64], per_ns[80];
    snprintf(per_ns, sizeof per_ns, "%s per ns", ergo_bench_unit(r->suite->sampler, unit));
    ergo_out_text(out, "sampler", r->suite->sampler);
    ergo_out_text(out, "name", r->what->name);
    ergo_out_text(out, "unit", per_ns);
}

static void put_whole(struct ergo_json_out *out, const struct ergo_bench_whole *whole) {
    if (!isfinite(whole->seconds) || !whole->steps) {
        ergo_out_text(out, "whole_run", NULL);
        return;
    }
    ergo_out_object(out, "whole_run");
    ergo_out_number(out, "sweeps", (double)whole->steps);
    put_number(out, "seconds", whole->seconds);
    put_number(out, "sampling_seconds", whole->sampling);
    put_number(out, "rate", whole->rate);
    ergo_out_close(out, 1);
}

static void put_case(struct ergo_json_out *out, const struct ergo_bench_result *r) {
    ergo_out_object(out, NULL);
    put_head(out, r);
    ergo_out_text(out, "job", r->what->job);
    ergo_out_number(out, "members", (double)r->members);
    ergo_out_text(out, "path", r->path);
    ergo_out_text(out, "launch", r->launch);
    ergo_out_number(out, "sweeps", (double)r->steps);
    put_rate(out, "rate", r->wall);
    put_rate(out, "rate_device_events", r->device);
    put_rate(out, "rate_with_measurement", r->measured);
    put_rate(out, "rate_per_core", r->per_core);
    put_whole(out, &r->whole);
    put_number(out, "useful", r->useful);
    put_number(out, "cores", r->cores);
    put_number(out, "limit", r->limit);
    ergo_out_text(out, "limited_by", r->limited_by ? r->limited_by : "");
    put_number(out, "share", isfinite(r->limit) ? r->share : NAN);
    ergo_out_text(out, "check", r->check);
    ergo_out_bool(out, "ok", r->ok);
    ergo_out_close(out, 1);
}

static void put_peers(struct ergo_json_out *out, const struct ergo_bench_result *r) {
    ergo_out_object(out, NULL);
    put_head(out, r);
    put_rate(out, "ergocl_per_core", r->ergocl);
    ergo_out_array(out, "programs");
    for (size_t p = 0; p < r->suite->n_peers; p++) {
        ergo_out_object(out, NULL);
        ergo_out_text(out, "generator", r->suite->peers[p].name);
        put_rate(out, "rate", r->peers[p]);
        put_rate(out, "ratio", r->ratio[p]);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
    ergo_out_text(out, "check", r->peers_check);
    ergo_out_bool(out, "ok", r->peers_ok);
    ergo_out_close(out, 1);
}

static void put_ceilings(struct ergo_json_out *out, const struct ergo_bench *bench) {
    char key[96];
    for (size_t i = 0; i < bench->n_ceilings; i++) {
        const struct ergo_bench_ceiling *c = &bench->ceilings[i];
        snprintf(key, sizeof key, "%s_per_ns", c->key);
        put_number(out, key, c->rate);
        snprintf(key, sizeof key, "%s_per_core_ns", c->key);
        if (!bench->gpu)
            put_number(out, key, c->per_core);
    }
}

enum ergo_status ergo_bench_write(const struct ergo_bench *bench, const char *path) {
    const struct ergo_device_summary *d = &bench->device->summary;
    struct ergo_json_out out = {0};
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "program", "ergocl-bench " ERGO_VERSION);
    ergo_out_text(&out, "commit", bench->commit);
    ergo_out_text(&out, "date", bench->date);
    ergo_out_text(&out, "note", bench->note);
    ergo_out_text(&out, "class", bench->gpu ? "gpu" : "cpu");
    ergo_out_object(&out, "device");
    ergo_out_text(&out, "name", d->name);
    ergo_out_text(&out, "platform", d->platform);
    ergo_out_text(&out, "driver", d->driver);
    ergo_out_text(&out, "version", d->version);
    ergo_out_raw(&out, "compute_units", "%u", d->compute_units);
    ergo_out_close(&out, 1);
    ergo_out_text(&out, "serial_compiler", __VERSION__);
    ergo_out_object(&out, "ceilings");
    put_ceilings(&out, bench);
    ergo_out_close(&out, 1);
    ergo_out_array(&out, "cases");
    for (size_t i = 0; i < bench->n_results; i++)
        put_case(&out, &bench->results[i]);
    ergo_out_close(&out, 1);
    ergo_out_array(&out, "serial");
    for (size_t i = 0; i < bench->n_results; i++)
        if (bench->results[i].peers_check[0])
            put_peers(&out, &bench->results[i]);
    char *text = ergo_out_take(&out, false);
    const enum ergo_status status =
        text ? ergo_file_write(bench->ctx, NULL, path, text, strlen(text))
             : ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the results");
    free(text);
    return status;
}
