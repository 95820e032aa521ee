/*
 * Files of fields, /system/field_file: text, a number for each site, or as many as a site has
 * states or samples, x fastest, then y, then z, separated by blanks or ends of lines. # begins a
 * comment.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/input.h"
#include "samplers/spin_lattice/models.h"

static const double file_most = 1e6; /* as the limits of the keys */

/* fields: [of a site][site]. false: an error, which `wrong` describes with its line. */
static bool read_numbers(char *text, uint64_t sites, uint64_t of_site, const char *each_has,
                         double *fields, char wrong[160]) {
    const uint64_t all = sites * of_site;
    const char *begin = text; /* of the line */
    char each[40] = "";
    uint64_t n = 0;
    unsigned long line = 1, last = 1;
    if (of_site > 1)
        snprintf(each, sizeof each, " with %llu %s each", (unsigned long long)of_site, each_has);
    for (char *at = text; *at != '\0';) {
        char *end = at;
        if (*at == '\n' || *at == ' ' || *at == '\t' || *at == '\r') {
            if (*at++ == '\n') {
                line++;
                begin = at;
            }
            continue;
        }
        if (*at == '#') {
            at += strcspn(at, "\n");
            continue;
        }
        const double number = strtod(at, &end);
        const size_t length = strcspn(at, " \t\r\n#");
        if (end != at + length || !isfinite(number)) {
            snprintf(wrong, 160, "line %lu, column %td: not a number", line, at - begin + 1);
            return false;
        }
        if (fabs(number) > file_most) {
            snprintf(wrong, 160, "line %lu, column %td: a number beyond %g", line, at - begin + 1,
                     file_most);
            return false;
        }
        if (n == all) {
            snprintf(wrong, 160, "line %lu: more numbers than the lattice's %llu sites%s", line,
                     (unsigned long long)sites, each);
            return false;
        }
        fields[n % of_site * sites + n / of_site] = number;
        n++;
        last = line;
        at = end;
    }
    if (n < all)
        snprintf(wrong, 160,
                 "line %lu: the file ends after %llu numbers; the lattice has %llu sites%s", last,
                 (unsigned long long)n, (unsigned long long)sites, each);
    return n == all;
}

enum ergo_status model_fields_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   uint64_t sites, uint64_t of_site, const char *each_has,
                                   double *fields) {
    const char *path = of_lattice(point)->field_file.text;
    char *text = NULL, wrong[160] = "";
    size_t length = 0;
    enum ergo_status status =
        ergo_input_read(ctx, point, "/system/field_file", (size_t)1 << 36, &text, &length);
    if (status == ERGO_OK && strlen(text) != length)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a file of fields: it is not text", path);
    if (status == ERGO_OK && !read_numbers(text, sites, of_site, each_has, fields, wrong))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a file of fields: %s", path, wrong);
    free(text);
    return ergo_error_at(ctx, status, "/system/field_file");
}

enum ergo_status model_fields_of(struct ergo_context *ctx, const struct ergo_point *point,
                                 uint64_t sites, uint64_t of_site, const char *each_has,
                                 struct model_sites of, double *fields) {
    double *all = malloc(sites * of_site * sizeof *all);
    const enum ergo_status status =
        all ? model_fields_read(ctx, point, sites, of_site, each_has, all)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the fields of the file");
    for (uint64_t k = 0; k < of_site && status == ERGO_OK; k++)
        for (uint64_t i = 0; i < of.n; i++)
            fields[k * of.n + i] = all[k * sites + (of.first + i) % sites];
    free(all);
    return status;
}

/* Numbers are rounded beside the largest, which sets their unit. */
static enum ergo_status check_ratio(struct ergo_context *ctx, const struct ergo_point *point,
                                    const double *fields, uint64_t n, int bits) {
    const struct ergo_value *h = &of_lattice(point)->random_field;
    const double scale = h->present ? h->real : 1, j = of_lattice(point)->coupling.real;
    double largest = 0;
    int exponent = 0;
    for (uint64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(fields[i]));
    (void)frexp(largest, &exponent);
    const double unit = ldexp(scale, exponent - bits);
    for (uint64_t i = 0; i < n && unit > 0; i++)
        if (!model_rounds(scale * fields[i], unit,
                          fmax(0x1p-20 * fabs(j), 0x1p-13 * point->parameters->temperature)))
            return ergo_job_error(ctx, "/system/field_file",
                                  "%g beside %g: fields are rounded to 2^-%d of the largest, and "
                                  "their ratio, %.2g, is too large",
                                  fields[i], largest, bits, largest / fabs(fields[i]));
    return ERGO_OK;
}

enum ergo_status model_fields_check(struct ergo_context *ctx, const struct ergo_point *point,
                                    uint64_t sites, uint64_t of_site, const char *each_has,
                                    int bits) {
    double *fields = malloc(sites * of_site * sizeof *fields);
    enum ergo_status status =
        fields ? model_fields_read(ctx, point, sites, of_site, each_has, fields)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the fields of the file");
    if (status == ERGO_OK)
        status = check_ratio(ctx, point, fields, sites * of_site, bits);
    free(fields);
    return status;
}
