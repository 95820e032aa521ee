/*
 * Graphs from files. The page of the sampler (README.md) describes the formats for users.
 *
 *   edges    "i j J" and "h i H", vertices from 0, or from 1 where no 0 occurs; "n COUNT"; #
 * remarks maxcut   "n m", then m lines "i j [w]", vertices from 1 qubo     "p qubo 0 SIZE NODES
 * COUPLERS", then "i i Q" and "i j Q", vertices from 0; c remarks
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "samplers/spin_lattice/graph/problem.h"

static const double most = 1e12; /* of a coupling or a field */

void graph_problem_free(struct graph_problem *p) {
    free(p->edges);
    free(p->fields);
    *p = (struct graph_problem){0};
}

/* ---- words ----------------------------------------------------------------------------------- */

enum { WORDS = 7 };
struct reader {
    const char *at;
    size_t line;
    size_t n; /* words of the line; more than WORDS count as WORDS */
    const char *word[WORDS];
    size_t length[WORDS];
    char *wrong;
};

static bool refuse(struct reader *r, const char *format, ...) ERGO_PRINTF(2, 3);
static bool refuse(struct reader *r, const char *format, ...) {
    va_list args;
    const int n = snprintf(r->wrong, GRAPH_WRONG, "line %zu: ", r->line);
    va_start(args, format);
    vsnprintf(r->wrong + n, GRAPH_WRONG - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* The next line that has words. A remark begins with #, or is a line that begins with the letter
 * `remark`. False: the file ends. */
static bool next_line(struct reader *r, char remark) {
    while (*r->at != '\0') {
        r->n = 0;
        r->line++;
        while (*r->at != '\n' && *r->at != '\0') {
            if (*r->at == '#') {
                r->at += strcspn(r->at, "\n");
                break;
            }
            const size_t length = strcspn(r->at, " \t\r\n#");
            if (length == 0) {
                r->at++;
                continue;
            }
            if (r->n < WORDS) {
                r->word[r->n] = r->at;
                r->length[r->n++] = length;
            }
            r->at += length;
        }
        r->at += *r->at == '\n';
        if (r->n && !(remark && r->length[0] == 1 && r->word[0][0] == remark))
            return true;
    }
    return false;
}

static bool is_word(const struct reader *r, size_t k, const char *word) {
    return k < r->n && r->length[k] == strlen(word) && memcmp(r->word[k], word, r->length[k]) == 0;
}

static bool whole(struct reader *r, size_t k, const char *what, uint64_t least, uint64_t largest,
                  uint64_t *out) {
    bool good = true;
    *out = 0;
    for (size_t i = 0; i < r->length[k] && good; i++) {
        const char c = r->word[k][i];
        good = c >= '0' && c <= '9' && *out <= largest;
        *out = 10 * *out + (uint64_t)(c - '0');
    }
    return (good && *out >= least && *out <= largest) ||
           refuse(r, "word %zu is not a %s, from %llu on and in range", k + 1, what,
                  (unsigned long long)least);
}

static bool number(struct reader *r, size_t k, double *out) {
    char *end = NULL;
    *out = strtod(r->word[k], &end);
    if (end != r->word[k] + r->length[k] || !isfinite(*out))
        return refuse(r, "word %zu is not a finite number", k + 1);
    if (fabs(*out) > most)
        return refuse(r, "word %zu is a number beyond %g", k + 1, most);
    return true;
}

/* ---- edges ----------------------------------------------------------------------------------- */

struct build {
    struct graph_problem *p;
    size_t room;
    uint32_t *lines; /* [room], of edges; the last bits of line numbers do for messages */
    bool *given;     /* [n], fields that the file gives; NULL: none yet */
    size_t fields_room;
};

/* A line may add an edge: a file of so many bytes has at most so many. */
static bool has_room(struct reader *r, struct build *b) {
    if (b->p->m == GRAPH_EDGES_MAX)
        return refuse(r, "more than 2^29 edges");
    if (b->p->m < b->room)
        return true;
    const size_t room = b->room ? 2 * b->room : 1024;
    struct graph_edge *edges = realloc(b->p->edges, room * sizeof *edges);
    if (edges)
        b->p->edges = edges;
    uint32_t *lines = realloc(b->lines, room * sizeof *lines);
    if (lines)
        b->lines = lines;
    if (!edges || !lines)
        return refuse(r, "no memory for more than %zu edges", b->p->m);
    b->room = room;
    return true;
}

static bool add_edge(struct reader *r, struct build *b, uint64_t i, uint64_t j, double w) {
    if (i == j)
        return refuse(r, "an edge from a vertex to itself, a loop");
    if (!has_room(r, b))
        return false;
    const uint32_t x = (uint32_t)(i < j ? i : j), y = (uint32_t)(i < j ? j : i);
    b->lines[b->p->m] = (uint32_t)r->line;
    b->p->edges[b->p->m++] = (struct graph_edge){x, y, w};
    return true;
}

static bool add_field(struct reader *r, struct build *b, uint64_t i, double h) {
    if (i >= b->fields_room) {
        size_t room = b->fields_room ? b->fields_room : 1024;
        while (room <= i)
            room *= 2;
        double *fields = realloc(b->p->fields, room * sizeof *fields);
        if (fields)
            b->p->fields = fields;
        bool *given = realloc(b->given, room * sizeof *given);
        if (given)
            b->given = given;
        if (!fields || !given)
            return refuse(r, "no memory for the fields of %zu vertices", room);
        for (size_t k = b->fields_room; k < room; k++) {
            fields[k] = 0;
            given[k] = false;
        }
        b->fields_room = room;
    }
    if (b->given[i])
        return refuse(r, "a second field of the same vertex");
    b->given[i] = true;
    b->p->fields[i] = h;
    return true;
}

/* Looks for two edges between the same vertices; the one that comes first in the file is told. */
static bool is_simple(struct reader *r, const struct build *b) {
    const struct graph_problem *p = b->p;
    size_t *first = calloc((size_t)p->n + 2, sizeof *first), found = SIZE_MAX;
    size_t *of = malloc((p->m + 1) * sizeof *of), *seen = calloc((size_t)p->n + 1, sizeof *seen);
    if (!first || !of || !seen) {
        snprintf(r->wrong, GRAPH_WRONG, "no memory for %zu edges", p->m);
        free(first), free(of), free(seen);
        return false;
    }
    for (size_t e = 0; e < p->m; e++)
        first[p->edges[e].i + 2]++;
    for (size_t i = 2; i < (size_t)p->n + 2; i++)
        first[i] += first[i - 1];
    for (size_t e = 0; e < p->m; e++)
        of[first[p->edges[e].i + 1]++] = e;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = first[i]; k < first[i + 1]; k++) {
            const size_t e = of[k];
            if (e < found && seen[p->edges[e].j] == i + 1)
                found = e;
            seen[p->edges[e].j] = i + 1;
        }
    free(first);
    free(of);
    free(seen);
    if (found == SIZE_MAX)
        return true;
    r->line = b->lines[found];
    return refuse(r, "a second edge between the same vertices");
}

/* Few edges and a huge number of vertices: a mistake, or an attack on memory. */
static bool fits(struct reader *r, uint64_t n, uint64_t lines) {
    if (n <= (1 << 20) || n / 64 <= lines)
        return true;
    return refuse(r, "too many vertices for so few lines with edges or fields");
}

/* Number of lines that could hold an edge from here on. */
static uint64_t lines_left(const struct reader *r) {
    uint64_t lines = 1;
    for (const char *at = strchr(r->at, '\n'); at; at = strchr(at + 1, '\n'))
        lines++;
    return lines;
}

/* ---- formats --------------------------------------------------------------------------------- */

static bool read_edges(struct reader *r, struct build *b) {
    struct graph_problem *p = b->p;
    const uint64_t lines = 1 + lines_left(r);
    uint64_t largest = 0, count = 0;
    bool zero = false, some = false, more = true;
    for (; more; more = next_line(r, 0)) {
        uint64_t i = 0, j = 0, k = is_word(r, 0, "h");
        double w = 0;
        if (is_word(r, 0, "n")) {
            if (r->n != 2 || count)
                return refuse(r, "\"n COUNT\" stands once, with one number");
            if (!whole(r, 1, "number of vertices up to 2^27", 1, GRAPH_VERTICES_MAX, &count) ||
                !fits(r, count, lines))
                return false;
            continue;
        }
        if (r->n != 3)
            return refuse(r, "%zu words where \"i j J\" or \"h i H\" was expected", r->n);
        if (!whole(r, 1, "vertex", 0, GRAPH_VERTICES_MAX, &i) || !number(r, 2, &w) ||
            (!k && !whole(r, 0, "vertex", 0, GRAPH_VERTICES_MAX, &j)))
            return false;
        zero = zero || i == 0 || (!k && j == 0);
        largest = i > largest ? i : largest;
        largest = j > largest ? j : largest;
        if (count && largest >= count + (zero ? 0u : 1u))
            return refuse(r, "a vertex is out of range of \"n COUNT\", from %d on", !zero);
        some = true;
        if (!fits(r, largest, lines))
            return false;
        if (!(k ? add_field(r, b, i, w) : add_edge(r, b, i, j, w)))
            return false;
    }
    p->base = zero ? 0 : 1;
    if (count && largest - p->base >= count && some)
        return refuse(r, "a vertex is out of range of \"n COUNT\", from %u on", p->base);
    p->n = (uint32_t)(count ? count : some ? largest + 1 - p->base : 0);
    if (p->n == 0)
        return refuse(r, "no edges");
    for (size_t e = 0; e < p->m; e++) {
        p->edges[e].i -= p->base;
        p->edges[e].j -= p->base;
    }
    if (p->fields && p->base) {
        memmove(p->fields, p->fields + 1, (b->fields_room - 1) * sizeof *p->fields);
        p->fields[b->fields_room - 1] = 0;
    }
    return true;
}

static bool maxcut_head(struct reader *r, uint64_t *n, uint64_t *m) {
    if (r->n != 2)
        return refuse(
            r, "%zu words where \"n m\", the numbers of vertices and edges, were expected", r->n);
    return whole(r, 0, "number of vertices up to 2^27", 1, GRAPH_VERTICES_MAX, n) &&
           whole(r, 1, "number of edges up to 2^29", 0, GRAPH_EDGES_MAX, m) && fits(r, *n, *m);
}

/* E = -cut = sum of w (s s' - 1) / 2 */
static bool read_maxcut(struct reader *r, struct build *b) {
    struct graph_problem *p = b->p;
    uint64_t n = 0, m = 0;
    if (!maxcut_head(r, &n, &m))
        return false;
    p->n = (uint32_t)n;
    p->base = 1;
    while (next_line(r, 0)) {
        uint64_t i = 0, j = 0;
        double w = 1;
        if (r->n < 2 || r->n > 3)
            return refuse(r, "%zu words where \"i j\" or \"i j w\" was expected", r->n);
        if (!whole(r, 0, "vertex", 1, n, &i) || !whole(r, 1, "vertex", 1, n, &j) ||
            (r->n == 3 && !number(r, 2, &w)))
            return false;
        if (p->m == m)
            return refuse(r, "more edges than the first line says");
        if (i == j)
            return refuse(r, "an edge from a vertex to itself, a loop");
        if (!add_edge(r, b, i - 1, j - 1, -w / 2))
            return false;
        p->offset -= w / 2;
    }
    return p->m == m ||
           refuse(r, "the file ends after %zu edges, fewer than the first line says", p->m);
}

static bool qubo_head(struct reader *r, uint64_t *n, uint64_t *nodes, uint64_t *couplers) {
    if (r->n != 6 || !is_word(r, 0, "p") || !is_word(r, 1, "qubo"))
        return refuse(r, "\"p qubo 0 SIZE NODES COUPLERS\" was expected");
    return whole(r, 3, "number of vertices up to 2^27", 1, GRAPH_VERTICES_MAX, n) &&
           whole(r, 4, "number of diagonal elements", 0, *n, nodes) &&
           whole(r, 5, "number of couplers up to 2^29", 0, GRAPH_EDGES_MAX, couplers) &&
           fits(r, *n, *nodes + *couplers);
}

/* E = sum of Q x x', x = (1 + s) / 2 */
static bool read_qubo(struct reader *r, struct build *b) {
    struct graph_problem *p = b->p;
    uint64_t n = 0, nodes = 0, couplers = 0, of_nodes = 0;
    if (!qubo_head(r, &n, &nodes, &couplers))
        return false;
    p->n = (uint32_t)n;
    double *sum = calloc(n, sizeof *sum); /* of Q / 4 of the couplers at each vertex */
    bool good = sum || refuse(r, "no memory for %llu vertices", (unsigned long long)n);
    while (good && next_line(r, 'c')) {
        uint64_t i = 0, j = 0;
        double q = 0;
        good = r->n == 3 || refuse(r, "%zu words where \"i j Q\" was expected", r->n);
        good = good && whole(r, 0, "vertex", 0, n - 1, &i) && whole(r, 1, "vertex", 0, n - 1, &j) &&
               number(r, 2, &q);
        if (!good)
            break;
        if (i == j) {
            good = (of_nodes++ < nodes ||
                    refuse(r, "more diagonal elements than the first line says")) &&
                   add_field(r, b, i, -q / 2);
            p->offset += q / 2;
        } else {
            good = (p->m < couplers || refuse(r, "more couplers than the first line says")) &&
                   add_edge(r, b, i, j, -q / 4);
            p->offset += q / 4;
            sum[i] += q / 4;
            sum[j] += q / 4;
        }
    }
    if (good && (of_nodes != nodes || p->m != couplers))
        good = refuse(r,
                      "the file ends after %llu diagonal elements and %zu couplers, fewer than the "
                      "first line says",
                      (unsigned long long)of_nodes, p->m);
    for (uint64_t i = 0; i < n && good; i++)
        if (sum[i] != 0) {
            const double had = i < b->fields_room ? p->fields[i] : 0;
            if (i < b->fields_room)
                b->given[i] = false;
            good = add_field(r, b, i, had - sum[i]);
        }
    free(sum);
    return good;
}

/* Of the first line: is it none of another program's? */
static bool is_known(struct reader *r) {
    return !is_word(r, 0, "p") || is_word(r, 1, "qubo") ||
           refuse(r, "a DIMACS file, which has no couplings; as MaxCut its first line is \"n m\", "
                     "and the others are \"i j\", without \"e\"");
}

static enum graph_format guess(const struct reader *r) {
    return is_word(r, 0, "p")                 ? GRAPH_QUBO
           : r->n == 2 && !is_word(r, 0, "n") ? GRAPH_MAXCUT
                                              : GRAPH_EDGES;
}

enum graph_format graph_format_of(const char *text, enum graph_format format) {
    struct reader r = {.at = text};
    /* "c" begins a remark of qbsolv's files, and no line of the others */
    return format == GRAPH_AUTO && next_line(&r, 'c') ? guess(&r) : format;
}

bool graph_parse_head(const char *text, enum graph_format format, uint64_t *edges,
                      char wrong[GRAPH_WRONG]) {
    struct reader r = {.at = text, .wrong = wrong};
    uint64_t n = 0, nodes = 0;
    *edges = 0;
    wrong[0] = '\0';
    if (!next_line(&r, 'c')) /* remarks alone, so far */
        return true;
    if (!is_known(&r))
        return false;
    format = format == GRAPH_AUTO ? guess(&r) : format;
    return format == GRAPH_MAXCUT ? maxcut_head(&r, &n, edges)
           : format == GRAPH_QUBO ? qubo_head(&r, &n, &nodes, edges)
                                  : true;
}

bool graph_parse(const char *text, size_t length, enum graph_format format, struct graph_problem *p,
                 char wrong[GRAPH_WRONG]) {
    struct reader r = {.at = text, .wrong = wrong};
    struct build b = {.p = p};
    *p = (struct graph_problem){0};
    wrong[0] = '\0';
    if (strlen(text) != length) {
        snprintf(wrong, GRAPH_WRONG, "it is not text");
        return false;
    }
    bool good = next_line(&r, 'c') ? is_known(&r) : refuse(&r, "the file is empty");
    format = good && format == GRAPH_AUTO ? guess(&r) : format;
    p->format = format;
    if (good)
        good = format == GRAPH_QUBO     ? read_qubo(&r, &b)
               : format == GRAPH_MAXCUT ? read_maxcut(&r, &b)
                                        : read_edges(&r, &b);
    good = good && is_simple(&r, &b);
    if (good) { /* exactly n fields */
        double *fields = calloc(p->n, sizeof *fields);
        const size_t n = b.fields_room < p->n ? b.fields_room : p->n;
        good = fields || refuse(&r, "no memory for %u vertices", p->n);
        if (fields && n)
            memcpy(fields, p->fields, n * sizeof *fields);
        free(p->fields);
        p->fields = fields;
    }
    free(b.lines);
    free(b.given);
    if (!good)
        graph_problem_free(p);
    return good;
}
