/* Numbers and names, as the writers of results need them. */
#ifndef ERGO_RESULT_FORMAT_H
#define ERGO_RESULT_FORMAT_H

#include "result/result.h"

/* Text inside HTML or SVG, attributes included. */
void ergo_html_escape(struct ergo_text *text, const char *string);

/* The same for names and units: "k_B" gets its index, "J^2" its power, other underscores become
 * spaces. svg: by tspan, else by sub. */
void ergo_html_name(struct ergo_text *text, const char *name, bool svg);
/* Prose of key tables with signs for what keyboards lack: "<m^2>" becomes "⟨m²⟩". */
void ergo_html_prose(struct ergo_text *text, const char *string);

/* "-1.41908(12)": the error in units of the last digits, two digits of it. buffer: 64 bytes. */
enum { ERGO_CONCISE = 64 };
const char *ergo_format_concise(char buffer[ERGO_CONCISE], double value, double error);
/* At most `digits` significant digits, "-" for NaN. */
const char *ergo_format_short(char buffer[ERGO_CONCISE], double value, int digits);

/* With `decimals` digits behind the point, "-" for NaN. */
const char *ergo_format_fixed(char buffer[ERGO_CONCISE], double value, int decimals);

/* Last word of a JSON pointer for people: "temperature", "size[0]". */
const char *ergo_format_pointer(char buffer[ERGO_CONCISE], const char *pointer);

/* Table entry of a scanned pointer ("/system/size/0" is found as "/system/size"), NULL if none. */
const struct ergo_key *ergo_format_key(const struct ergo_job *job, const char *pointer);
/* Value of a key of the point, NULL when the job has no such key: no abort as ergo_point_value. */
const struct ergo_value *ergo_format_value(const struct ergo_point *point, const char *pointer);

/* How fast the chains forget the observable with `merit`, all together. Its samples are as good as
 * `independent` ones for every second: steps per second over 2 tau. */
struct ergo_merit {
    const struct ergo_observable *observable;
    double tau, tau_error; /* in steps, mean of the chains */
    double steps_per_second;
    double independent, independent_error;
    bool too_short; /* some chain is, for its tau */
};
/* False: no such observable, no tau, no time; or a scan, whose points share the time in ways that
 * nobody knows. */
bool ergo_format_merit(const struct ergo_result *result, struct ergo_merit *merit);

/* Is its exact value what the job says (the density of a fixed N in a fixed V), so that it tests
 * nothing? */
bool ergo_format_is_given(const struct ergo_observable_result *r);

/* Sum of z^2 over the members for observable number `o`, against exact values, else (of means over
 * replicas, if there are some) against published ones; returns how many z went in, and of what. */
size_t ergo_format_chi2(const struct ergo_result *result, size_t o, double *chi2, bool *exact,
                        bool *published);

#endif
