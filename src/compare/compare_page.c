/* compare.html: the comparison on one page without network or scripts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "page/sections.h"
#include "job/json.h"

static const char *const phase_names[ERGO_PHASES] = {
    "opening the device", "building programs",      "preparing",
    "sampling",           "audits and checkpoints", "results and files"};

/* "12.3 MiB" by powers of 1024. */
static void format_bytes(char *out, size_t size, double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int k = 0;
    for (; k < 4 && bytes >= 1024; k++)
        bytes /= 1024;
    snprintf(out, size, "%.3g %s", bytes, units[k]);
}

static void format_seconds(char *out, size_t size, double s) {
    if (s >= 1)
        snprintf(out, size, "%.3g s", s);
    else if (s >= 1e-3)
        snprintf(out, size, "%.3g ms", 1e3 * s);
    else
        snprintf(out, size, "%.3g µs", 1e6 * s);
}

/* A row of a bar chart: text, bar, number. */
static void append_bar(struct ergo_text *text, const char *name, double part, unsigned color,
                       const char *number) {
    ergo_text_append(text, "<div class=\"bar\"><span>");
    ergo_html_escape(text, name);
    ergo_text_append(text, "</span><div><i class=\"c%u\" style=\"width:%.2f%%\"></i><b>", color % 8,
                     100 * fmin(fmax(part, 0), 1) * 0.62);
    ergo_html_escape(text, number);
    ergo_text_append(text, "</b></div></div>\n");
}

static void append_devices(struct ergo_text *text, const struct ergo_comparison *c) {
    ergo_text_append(text, "<h2>Do they agree?</h2>\n<div class=\"scroll\"><table class=\"runs\">"
                           "<thead><tr><th>device</th><th>states and samples</th>"
                           "<th>platform</th><th>driver</th><th>digest of the first point</th></tr>"
                           "</thead><tbody>\n");
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        ergo_text_append(text, "<tr><td>");
        ergo_html_escape(text, ergo_comparison_name(d));
        ergo_text_append(text, "<small>");
        ergo_html_escape(text, d->selector);
        ergo_text_append(text, "</small></td><td>");
        ergo_text_append(text, "%s", ergo_comparison_verdict(c, i));
        if (d->message) {
            ergo_text_append(text, "<small>");
            ergo_html_escape(text, d->message);
            ergo_text_append(text, "</small>");
        }
        ergo_text_append(text, "</td><td>");
        ergo_html_escape(text, d->result ? d->result->device.platform : "");
        ergo_text_append(text, "</td><td>");
        ergo_html_escape(text, d->result ? d->result->device.driver : "");
        ergo_text_append(text, "</td><td><code>");
        if (d->result && d->result->n_members)
            ergo_text_append(text, "%016" PRIx64, d->result->members[0].digest);
        ergo_text_append(text, "</code></td></tr>\n");
    }
    ergo_text_append(text, "</tbody></table></div>\n");
    if (c->first_device < c->n_devices || c->vendor_file) {
        ergo_text_append(text, "<div class=\"warn\"><p>");
        struct ergo_text first = {0};
        ergo_comparison_append_first(&first, c);
        if (first.data)
            ergo_html_escape(text, first.data);
        ergo_text_append(text, "</p>");
        if (c->vendor_file) {
            ergo_text_append(text, "<p>For the device's vendor: <code>");
            ergo_html_escape(text, c->vendor_file);
            ergo_text_append(text, "</code>, with probes, digests, the bytes that differ, and the "
                                   "kernels beside it.</p>");
        }
        ergo_text_append(text, "</div>\n");
        ergo_text_free(&first);
    }
}

static void append_speed(struct ergo_text *text, const struct ergo_comparison *c) {
    double most = 0;
    char number[200], rate[160];
    const double base = c->devices[c->reference].result->rate;
    for (size_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].result)
            most = fmax(most, c->devices[i].result->rate);
    ergo_text_append(text, "<h2>Speed</h2>\n");
    for (size_t i = 0; i < c->n_devices && most > 0; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        if (!d->result)
            continue;
        ergo_report_rate(rate, sizeof rate, d->result->rate,
                         ergo_comparison_job(c)->sampler->rate_unit);
        if (i == c->reference)
            snprintf(number, sizeof number, "%s, the reference", rate);
        else
            snprintf(number, sizeof number, "%s, %.3g times the reference", rate,
                     d->result->rate / base);
        append_bar(text, ergo_comparison_name(d), d->result->rate / most, (unsigned)i, number);
    }
}

/* "1.2e-09 J"; rates count units of work, so "spin updates per second" names them. */
static void append_energy(struct ergo_text *text, const struct ergo_comparison *c) {
    const char *unit = ergo_comparison_job(c)->sampler->rate_unit;
    const char *end = strstr(unit, " per second");
    const int length = end ? (int)(end - unit) : (int)strlen(unit);
    char number[160];
    double most = 0;
    for (size_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].joules_work > 0)
            most = fmax(most, c->devices[i].joules / c->devices[i].joules_work);
    if (!(most > 0)) {
        ergo_text_append(text,
                         "<p class=\"soft\">No device reports its energy here, or the runs were "
                         "shorter than a second.</p>\n");
        return;
    }
    ergo_text_append(text,
                     "<h2>Energy</h2>\n<p class=\"soft\">By the driver's counter, of the whole "
                     "device, while it sampled.</p>\n");
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        if (!(d->joules_work > 0))
            continue;
        snprintf(number, sizeof number, "%.3g nJ for one of the %.*s",
                 1e9 * d->joules / d->joules_work, length, unit);
        append_bar(text, ergo_comparison_name(d), d->joules / d->joules_work / most, (unsigned)i,
                   number);
    }
}

static void append_phases(struct ergo_text *text, const struct ergo_comparison *c) {
    char number[64];
    double most = 0;
    for (size_t i = 0; i < c->n_devices; i++)
        for (size_t k = 0; k < ERGO_PHASES && c->devices[i].result; k++)
            most = fmax(most, c->devices[i].result->phases[k]);
    ergo_text_append(text, "<h2>Where the time goes</h2>\n<p class=\"soft\">Wall time of the whole "
                           "run by phases; all bars have one scale.</p>\n<div class=\"grid\">\n");
    for (size_t i = 0; i < c->n_devices && most > 0; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        if (!d->result)
            continue;
        ergo_text_append(text, "<figure><figcaption><b>");
        ergo_html_escape(text, ergo_comparison_name(d));
        ergo_text_append(text,
                         "</b><small>%.3g s in all; %u programs built, %u from the cache"
                         "</small></figcaption>\n",
                         d->seconds, d->result->built, d->result->loaded);
        for (size_t k = 0; k < ERGO_PHASES; k++) {
            format_seconds(number, sizeof number, d->result->phases[k]);
            append_bar(text, phase_names[k], d->result->phases[k] / most, (unsigned)i, number);
        }
        ergo_text_append(text, "</figure>\n");
    }
    ergo_text_append(text, "</div>\n");
}

static int by_time(const void *a, const void *b) {
    const struct ergo_profile_kernel *x = *(const struct ergo_profile_kernel *const *)a;
    const struct ergo_profile_kernel *y = *(const struct ergo_profile_kernel *const *)b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds)
                                    : (x > y) - (x < y); /* in one array */
}

static void append_kernel(struct ergo_text *text, const struct ergo_profile_kernel *k, double all,
                          double copy_rate) {
    char mean[32], bytes[32];
    const double rate = k->seconds > 0 ? k->bytes / k->seconds : 0;
    format_seconds(mean, sizeof mean, k->seconds / (double)(k->launches ? k->launches : 1));
    format_bytes(bytes, sizeof bytes, k->bytes / (double)(k->launches ? k->launches : 1));
    ergo_text_append(text, "<tr><td>");
    ergo_html_escape(text, k->name);
    ergo_text_append(text, "</td><td>%" PRIu64 "</td><td>%s</td><td>%.1f%%</td><td>%s</td>",
                     k->launches, mean, all > 0 ? 100 * k->seconds / all : 0.0, bytes);
    const double share = copy_rate > 0 && !k->transfer ? rate / copy_rate : 0;
    if (rate > 0)
        ergo_text_append(text, rate < 1e11 ? "<td>%.3g</td>" : "<td>%.0f</td>", 1e-9 * rate);
    else
        ergo_text_append(text, "<td>-</td>");
    if (share > 1)
        ergo_text_append(text, "<td>&gt; 100%%</td></tr>\n");
    else if (share > 0)
        ergo_text_append(text, "<td>%.1f%%</td></tr>\n", 100 * share);
    else
        ergo_text_append(text, "<td>-</td></tr>\n");
}

static void append_kernels(struct ergo_text *text, const struct ergo_comparison *c) {
    ergo_text_append(text,
                     "<h2>Kernels</h2>\n<p class=\"soft\">Of a shorter run of the same job. "
                     "Bytes are the sizes of the buffers that a launch is given: what moves "
                     "if it goes through each of them once. Many kernels touch only parts, or "
                     "keep data in caches; then the share of the copy rate means nothing.</p>\n");
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct ergo_compared_device *d = &c->devices[i];
        const struct ergo_profile *p = d->profile;
        const struct ergo_profile_kernel *sorted[ERGO_PROFILE_KERNELS];
        char memory[32], number[64];
        double all = 0;
        if (!p || !p->n_kernels)
            continue;
        for (size_t k = 0; k < p->n_kernels; k++) {
            sorted[k] = &p->kernels[k];
            all += p->kernels[k].seconds;
        }
        qsort(sorted, p->n_kernels, sizeof *sorted, by_time);
        format_bytes(memory, sizeof memory, (double)d->result->device_bytes);
        ergo_text_append(text, "<figure class=\"kernels\"><figcaption><b>");
        ergo_html_escape(text, ergo_comparison_name(d));
        ergo_text_append(text,
                         "</b><small>timed by %s; copies %.0f GB/s, in and out; device memory %s"
                         "</small></figcaption>\n",
                         p->waits
                             ? "the host's clock, launch by launch: the device has no event times"
                             : "the device's events",
                         1e-9 * d->copy_rate, memory);
        for (size_t k = 0; k < p->n_kernels && k < 6 && all > 0; k++) {
            snprintf(number, sizeof number, "%.1f%%", 100 * sorted[k]->seconds / all);
            append_bar(text, sorted[k]->name, sorted[k]->seconds / all, (unsigned)i, number);
        }
        ergo_text_append(text, "<div class=\"scroll\"><table><thead><tr><th>kernel</th>"
                               "<th>launches</th><th>mean</th><th>share</th><th>bytes</th>"
                               "<th>GB/s</th><th>of copying</th></tr></thead><tbody>\n");
        for (size_t k = 0; k < p->n_kernels; k++)
            append_kernel(text, sorted[k], all, d->copy_rate);
        ergo_text_append(text, "</tbody></table></div></figure>\n");
    }
}

static void append_all(struct ergo_text *text, const struct ergo_comparison *c) {
    const struct ergo_job *job = ergo_comparison_job(c);
    const bool agrees = ergo_comparison_agrees(c);
    char *pretty = ergo_json_pretty(job->canonical);
    ergo_text_append(text, "<h1>");
    ergo_html_escape(text, job->name);
    ergo_text_append(text, "<span class=\"pill %s\">%s</span></h1>\n<p class=\"soft\">",
                     agrees ? "done" : "stopped", agrees ? "same bits" : "no agreement");
    ergo_html_escape(text, job->sampler->name);
    ergo_text_append(
        text, ": one job on %zu devices, bit for bit. Made by ergocl " ERGO_VERSION ".</p>\n",
        c->n_devices);
    append_devices(text, c);
    append_speed(text, c);
    append_energy(text, c);
    append_phases(text, c);
    append_kernels(text, c);
    ergo_text_append(text, "<h2>Job</h2>\n<details><summary>The job</summary><pre>");
    ergo_html_escape(text, pretty);
    ergo_text_append(text, "</pre></details>\n<footer>Numbers: compare.json. Each device's run has "
                           "a folder with its own report.</footer>\n");
    text->failed |= !pretty;
    free(pretty);
}

enum ergo_status ergo_comparison_write_page(struct ergo_context *ctx,
                                            const struct ergo_comparison *c,
                                            const char *directory) {
    struct ergo_text text = {0};
    struct ergo_folder folder;
    enum ergo_status status = ergo_folder_open(ctx, directory, &folder);
    ergo_report_begin(&text, ergo_comparison_job(c)->name);
    append_all(&text, c);
    ergo_report_end(&text);
    if (status == ERGO_OK)
        status = text.failed
                     ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for compare.html")
                     : ergo_file_write(ctx, &folder, "compare.html", text.data, text.length);
    ergo_text_free(&text);
    ergo_folder_close(&folder);
    return status;
}
