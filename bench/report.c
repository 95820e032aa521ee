/* The table for people and the file for results/. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/format.h"

const char *ergo_bench_unit(const char *sampler, char text[64]) {
    const char *unit = ergo_sampler_find(sampler)->info->rate_unit;
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

static void put_number(struct ergo_text *t, const char *key, double value) {
    ergo_json_key(t, key);
    if (isfinite(value))
        ergo_text_append(t, "%.5g", value);
    else
        ergo_text_append(t, "null");
}

static void put_rate(struct ergo_text *t, const char *key, struct ergo_bench_rate r) {
    ergo_json_key(t, key);
    if (r.n)
        ergo_text_append(t, "{\"median\": %.5g, \"min\": %.5g, \"max\": %.5g, \"n\": %zu}",
                         r.median, r.least, r.most, r.n);
    else
        ergo_text_append(t, "null");
}

static void put_head(struct ergo_text *t, const struct ergo_bench_result *r) {
    char unit[64], per_ns[80];
    snprintf(per_ns, sizeof per_ns, "%s per ns", ergo_bench_unit(r->suite->sampler, unit));
    ergo_json_pair(t, "sampler", r->suite->sampler);
    ergo_json_pair(t, "name", r->what->name);
    ergo_json_pair(t, "unit", per_ns);
}

static void put_case(struct ergo_text *t, const struct ergo_bench_result *r) {
    ergo_text_append(t, "{");
    put_head(t, r);
    ergo_json_pair(t, "job", r->what->job);
    ergo_json_pair_number(t, "members", (double)r->members);
    ergo_json_pair(t, "path", r->path);
    ergo_json_pair(t, "launch", r->launch);
    ergo_json_pair_number(t, "sweeps", (double)r->steps);
    put_rate(t, "rate", r->wall);
    put_rate(t, "rate_device_events", r->device);
    put_rate(t, "rate_with_measurement", r->measured);
    put_rate(t, "rate_per_core", r->per_core);
    put_number(t, "useful", r->useful);
    put_number(t, "cores", r->cores);
    put_number(t, "limit", r->limit);
    ergo_json_pair(t, "limited_by", r->limited_by ? r->limited_by : "");
    put_number(t, "share", isfinite(r->limit) ? r->share : NAN);
    ergo_json_pair(t, "check", r->check);
    ergo_text_append(t, ", \"ok\": %s}", r->ok ? "true" : "false");
}

static void put_peers(struct ergo_text *t, const struct ergo_bench_result *r) {
    ergo_text_append(t, "{");
    put_head(t, r);
    put_rate(t, "ergocl_per_core", r->ergocl);
    ergo_text_append(t, ", \"programs\": [");
    for (size_t p = 0; p < r->suite->n_peers; p++) {
        ergo_text_append(t, "%s{", p ? ", " : "");
        ergo_json_pair(t, "generator", r->suite->peers[p].name);
        put_rate(t, "rate", r->peers[p]);
        put_rate(t, "ratio", r->ratio[p]);
        ergo_text_append(t, "}");
    }
    ergo_text_append(t, "]");
    ergo_json_pair(t, "check", r->peers_check);
    ergo_text_append(t, ", \"ok\": %s}", r->peers_ok ? "true" : "false");
}

static void put_ceilings(struct ergo_text *t, const struct ergo_bench *bench) {
    char key[96];
    for (size_t i = 0; i < bench->n_ceilings; i++) {
        const struct ergo_bench_ceiling *c = &bench->ceilings[i];
        snprintf(key, sizeof key, "%s_per_ns", c->key);
        put_number(t, key, c->rate);
        snprintf(key, sizeof key, "%s_per_core_ns", c->key);
        if (!bench->gpu)
            put_number(t, key, c->per_core);
    }
}

enum ergo_status ergo_bench_write(const struct ergo_bench *bench, const char *path) {
    const struct ergo_device_summary *d = &bench->device->summary;
    struct ergo_text t = {0}, pretty = {0};
    enum ergo_status status = ERGO_OK;
    ergo_text_append(&t, "{");
    ergo_json_pair(&t, "program", "ergocl-bench " ERGO_VERSION);
    ergo_json_pair(&t, "commit", bench->commit);
    ergo_json_pair(&t, "date", bench->date);
    ergo_json_pair(&t, "note", bench->note);
    ergo_json_pair(&t, "class", bench->gpu ? "gpu" : "cpu");
    ergo_text_append(&t, ", \"device\": {");
    ergo_json_pair(&t, "name", d->name);
    ergo_json_pair(&t, "platform", d->platform);
    ergo_json_pair(&t, "driver", d->driver);
    ergo_json_pair(&t, "version", d->version);
    ergo_text_append(&t, ", \"compute_units\": %u}", d->compute_units);
    ergo_json_pair(&t, "serial_compiler", __VERSION__);
    ergo_text_append(&t, ", \"ceilings\": {");
    put_ceilings(&t, bench);
    ergo_text_append(&t, "}, \"cases\": [");
    for (size_t i = 0; i < bench->n_results; i++) {
        ergo_text_append(&t, "%s", i ? ", " : "");
        put_case(&t, &bench->results[i]);
    }
    ergo_text_append(&t, "], \"serial\": [");
    for (size_t i = 0, n = 0; i < bench->n_results; i++) {
        if (!bench->results[i].peers_check[0])
            continue;
        ergo_text_append(&t, "%s", n++ ? ", " : "");
        put_peers(&t, &bench->results[i]);
    }
    ergo_text_append(&t, "]}");
    if (!t.failed)
        ergo_json_pretty(&pretty, t.data);
    ergo_text_append(&pretty, "\n");
    if (t.failed || pretty.failed) {
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the results");
        goto out;
    }
    status = ergo_file_write(bench->ctx, NULL, path, pretty.data, pretty.length);
out:
    ergo_text_free(&t);
    ergo_text_free(&pretty);
    return status;
}
