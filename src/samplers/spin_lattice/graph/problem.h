/* Graphs with couplings and fields, as a file or a job describes them: no device, no job. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_PROBLEM_H
#define ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GRAPH_VERTICES_MAX = 1 << 27,
    GRAPH_EDGES_MAX = 1 << 29,
    GRAPH_SHELLS_MAX = 4, /* couplings to first, second ... neighbours */
    GRAPH_REACH = 3,      /* cells that a bond of a lattice may reach */
    GRAPH_WRONG = 200     /* bytes of a message */
};

enum graph_format { GRAPH_AUTO, GRAPH_EDGES, GRAPH_MAXCUT, GRAPH_QUBO };

struct graph_edge {
    uint32_t i, j;
    double w; /* J */
};

/* H = offset - sum over edges of w s_i s_j - sum of fields s_i */
struct graph_problem {
    enum graph_format format; /* of the file; GRAPH_AUTO: a named lattice */
    uint32_t n;               /* vertices */
    uint32_t base;            /* the number that the file gives to the first vertex */
    size_t m;
    struct graph_edge *edges;
    double *fields; /* [n] */
    double offset;
};

void graph_problem_free(struct graph_problem *p);

/* parse.c: a file's text, which ends with a zero. false: `wrong` says why, with the line; nothing
 * is left allocated. */
bool graph_parse(const char *text, size_t length, enum graph_format format, struct graph_problem *p,
                 char wrong[GRAPH_WRONG]);

/* The numbers of the first line, of the beginning of a file: edges that it promises, 0 where it has
 * no such number. false: `wrong` says why they are refused. */
bool graph_parse_head(const char *text, enum graph_format format, uint64_t *edges,
                      char wrong[GRAPH_WRONG]);

/* What the first line of a file says, if `format` does not. */
enum graph_format graph_format_of(const char *text, enum graph_format format);

/* lattice.c */
enum graph_side { GRAPH_PERIODIC, GRAPH_OPEN, GRAPH_ANTIPERIODIC };
struct graph_lattice {
    const char *name;
    uint32_t d, sites, scale; /* of a cell; coordinates are in units of 1/scale of its edges */
    uint32_t shells;          /* how many kinds of neighbours may be coupled */
    int oblique;              /* products of the cell's edges: 2 of one with itself, else this */
    int at[8][4];
};
const struct graph_lattice *graph_lattice_find(const char *name); /* NULL: unknown */
/* Sites, without overflow up to 2^53. */
double graph_lattice_sites(const struct graph_lattice *lattice, const int64_t *size);
/* j[n]: couplings to the neighbours of the first n distances. Bonds that lead to one neighbour by
 * several ways count as one, with the sum of their couplings. */
bool graph_lattice_make(const struct graph_lattice *lattice, const int64_t *size,
                        const enum graph_side *sides, const double *j, uint32_t n,
                        struct graph_problem *p, char wrong[GRAPH_WRONG]);
/* Square of the distance between site `from` and site `to` of the cell that is `cell` away, and
 * that of nearest neighbours, in one unit. */
double graph_lattice_square(const struct graph_lattice *lattice, uint32_t from, uint32_t to,
                            const int cell[4]);
double graph_lattice_nearest(const struct graph_lattice *lattice);

/* long_range.c: all pairs of sites, with j / r^exponent. r, in units of the distance of nearest
 * neighbours, is that to the nearest image across periodic sides; sides are periodic or open. */
enum { GRAPH_LONG_SITES_MAX = 4096 };
bool graph_long_range_make(const struct graph_lattice *lattice, const int64_t *size,
                           const enum graph_side *sides, double j, double exponent,
                           struct graph_problem *p, char wrong[GRAPH_WRONG]);

#endif
