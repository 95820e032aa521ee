/* The table for people and the file for results/. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/format.h"

static void print_rate(const char *label, struct ergo_bench_rate r) {
    if (r.n)
        printf("    %-34s %9.2f   %.2f .. %.2f\n", label, r.median, r.least, r.most);
}

static void print_case(const struct ergo_bench *bench, const struct ergo_bench_result *r) {
    printf("\n%s: %s\n  check: %s: %s\n", r->what->name, r->path, r->ok ? "ok" : "FAILED",
           r->check);
    if (!r->ok || !r->wall.n)
        return;
    printf("  %s; %llu sweeps a time\n", r->launch, (unsigned long long)r->sweeps);
    print_rate("sweeps alone, updates/ns", r->wall);
    print_rate("by device events", r->device);
    print_rate("with energy and m every 10 sweeps", r->measured);
    if (!bench->gpu)
        print_rate("sweeps alone, per core", r->per_core);
    printf("    %-34s %9.2f   by %s%s: share %.0f%%\n", "limit", r->limit, r->limited_by,
           bench->gpu ? "" : ", per core", 100 * r->share);
}

static void print_serial(const struct ergo_bench_serial *s) {
    printf("\nserial C program, %zux%zu, updates per ns of processor time, in turns with %s\n"
           "  check: %s: %s\n",
           s->what->lx, s->what->ly, s->what->name, s->ok ? "ok" : "FAILED", s->check);
    if (!s->ok || !s->ergocl.n)
        return;
    print_rate("ergocl, per core", s->ergocl);
    for (int g = 0; g < ERGO_BENCH_SERIALS; g++) {
        char label[64];
        print_rate(ergo_bench_serial_names[g], s->serial[g]);
        snprintf(label, sizeof label, "  ergocl / %s", ergo_bench_serial_names[g]);
        print_rate(label, s->ratio[g]);
    }
}

void ergo_bench_print(const struct ergo_bench *bench) {
    const struct ergo_device_summary *d = &bench->device->summary;
    const struct ergo_bench_ceilings *c = &bench->ceilings;
    printf("%s (%s), driver %s\nergocl %s, commit %s, %s\n", d->name, d->platform, d->driver,
           ERGO_VERSION, bench->commit, bench->date);
    printf("this device, measured now: %.2f Philox4x32-10 blocks/ns (enough for %.0f updates/ns), "
           "%.0f decisions/ns without memory, copies at %.1f bytes/ns\n",
           c->philox, 16 * c->philox, c->decide, c->copy);
    if (!bench->gpu)
        printf("per core: %.3f Philox blocks/ns (%.2f updates/ns), %.2f decisions/ns\n",
               c->philox_cpu, 16 * c->philox_cpu, c->decide_cpu);
    printf("rates: median, least .. most of %d; an update is one spin offered a flip\n",
           ERGO_BENCH_REPEATS);
    for (size_t i = 0; i < bench->n_results; i++)
        print_case(bench, &bench->results[i]);
    for (size_t i = 0; i < bench->n_serials; i++)
        print_serial(&bench->serials[i]);
}

static void put_text(struct ergo_text *t, const char *key, const char *value) {
    ergo_text_append(t, "\"%s\": ", key);
    ergo_json_string(t, value);
    ergo_text_append(t, ", ");
}

static void put_number(struct ergo_text *t, const char *key, double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.5g", value);
    ergo_text_append(t, "\"%s\": %s, ", key, isfinite(value) ? digits : "null");
}

static void put_rate(struct ergo_text *t, const char *key, struct ergo_bench_rate r) {
    if (r.n)
        ergo_text_append(t,
                         "\"%s\": {\"median\": %.5g, \"min\": %.5g, \"max\": %.5g, \"n\": %zu}, ",
                         key, r.median, r.least, r.most, r.n);
    else
        ergo_text_append(t, "\"%s\": null, ", key);
}

static void put_case(struct ergo_text *t, const struct ergo_bench_result *r) {
    ergo_text_append(t, "{");
    put_text(t, "name", r->what->name);
    ergo_text_append(t, "\"size\": [%zu, %zu], \"replicas\": %zu, \"points\": %d, ", r->what->lx,
                     r->what->ly, r->what->replicas, r->what->scan ? 31 : 1);
    put_text(t, "path", r->path);
    put_text(t, "launch", r->launch);
    ergo_text_append(t, "\"sweeps\": %llu, ", (unsigned long long)r->sweeps);
    put_rate(t, "rate", r->wall);
    put_rate(t, "rate_device_events", r->device);
    put_rate(t, "rate_with_measurement", r->measured);
    put_rate(t, "rate_per_core", r->per_core);
    put_number(t, "cores", r->cores);
    put_number(t, "limit", r->limit);
    put_text(t, "limited_by", r->limited_by ? r->limited_by : "");
    put_number(t, "share", r->share);
    put_text(t, "check", r->check);
    ergo_text_append(t, "\"ok\": %s}", r->ok ? "true" : "false");
}

static void put_serial(struct ergo_text *t, const struct ergo_bench_serial *s) {
    ergo_text_append(t, "{");
    put_text(t, "name", s->what->name);
    ergo_text_append(t, "\"size\": [%zu, %zu], ", s->what->lx, s->what->ly);
    put_rate(t, "ergocl_per_core", s->ergocl);
    ergo_text_append(t, "\"programs\": [");
    for (int g = 0; g < ERGO_BENCH_SERIALS; g++) {
        ergo_text_append(t, "%s{", g ? ", " : "");
        put_text(t, "generator", ergo_bench_serial_names[g]);
        put_rate(t, "rate", s->serial[g]);
        put_rate(t, "ratio", s->ratio[g]);
        t->length -= t->failed ? 0 : 2; /* the last comma */
        ergo_text_append(t, "}");
    }
    ergo_text_append(t, "], ");
    put_text(t, "check", s->check);
    ergo_text_append(t, "\"ok\": %s}", s->ok ? "true" : "false");
}

enum ergo_status ergo_bench_write(const struct ergo_bench *bench, const char *path) {
    const struct ergo_device_summary *d = &bench->device->summary;
    struct ergo_text t = {0}, pretty = {0};
    enum ergo_status status = ERGO_OK;
    ergo_text_append(&t, "{");
    put_text(&t, "program", "ergocl-bench " ERGO_VERSION);
    put_text(&t, "commit", bench->commit);
    put_text(&t, "date", bench->date);
    put_text(&t, "note", bench->note);
    put_text(&t, "class", bench->gpu ? "gpu" : "cpu");
    ergo_text_append(&t, "\"device\": {");
    put_text(&t, "name", d->name);
    put_text(&t, "platform", d->platform);
    put_text(&t, "driver", d->driver);
    put_text(&t, "version", d->version);
    ergo_text_append(&t, "\"compute_units\": %u}, ", d->compute_units);
    put_text(&t, "serial_compiler", __VERSION__);
    put_text(&t, "unit", "spin updates per ns");
    ergo_text_append(&t, "\"ceilings\": {");
    put_number(&t, "philox_blocks_per_ns", bench->ceilings.philox);
    put_number(&t, "decisions_per_ns", bench->ceilings.decide);
    put_number(&t, "philox_blocks_per_core_ns", bench->ceilings.philox_cpu);
    put_number(&t, "decisions_per_core_ns", bench->ceilings.decide_cpu);
    put_number(&t, "copy_bytes_per_ns", bench->ceilings.copy);
    t.length -= t.failed ? 0 : 2;
    ergo_text_append(&t, "}, \"cases\": [");
    for (size_t i = 0; i < bench->n_results; i++) {
        ergo_text_append(&t, "%s", i ? ", " : "");
        put_case(&t, &bench->results[i]);
    }
    ergo_text_append(&t, "], \"serial\": [");
    for (size_t i = 0; i < bench->n_serials; i++) {
        ergo_text_append(&t, "%s", i ? ", " : "");
        put_serial(&t, &bench->serials[i]);
    }
    ergo_text_append(&t, "]}");
    if (!t.failed)
        ergo_json_pretty(&pretty, t.data);
    ergo_text_append(&pretty, "\n");
    if (t.failed || pretty.failed) {
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for the results");
        goto out;
    }
    FILE *file = fopen(path, "w");
    const bool written = file && fwrite(pretty.data, 1, pretty.length, file) == pretty.length;
    if (!file || (fclose(file) != 0) || !written)
        status = ERGO_FAIL(bench->ctx, ERGO_E_IO, "writing %s failed: %s", path, strerror(errno));
out:
    ergo_text_free(&t);
    ergo_text_free(&pretty);
    return status;
}
