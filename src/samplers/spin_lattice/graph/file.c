/* Graphs in files that jobs name. What a large one needs is known before it is read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/input.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"

static const size_t file_most = (size_t)1 << 36; /* bytes */

enum {
    SMALL = 1 << 26,  /* bytes of a file that is simply read */
    SAMPLE = 1 << 16, /* bytes from which the lines of a large one are counted */
    EDGE_BYTES = 72   /* of the host: an edge in a list that doubles, both its ends, its bonds */
};

static enum graph_format format_of(const struct ergo_point *point) {
    return ergo_says(of_graph(point)->graph_format, "edges")    ? GRAPH_EDGES
           : ergo_says(of_graph(point)->graph_format, "maxcut") ? GRAPH_MAXCUT
           : ergo_says(of_graph(point)->graph_format, "qubo")   ? GRAPH_QUBO
                                                                : GRAPH_AUTO;
}

static const struct ergo_job_file *kept_file(const struct ergo_point *point) {
    const struct ergo_job_files *kept = &point->job->files;
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->files[i].pointer, "/system/graph") == 0)
            return &kept->files[i];
    return NULL;
}

/* From the beginning of the file, which a run has kept. */
bool graph_has_cut(const struct ergo_point *point) {
    const struct ergo_job_file *kept = graph_is_named(point) ? NULL : kept_file(point);
    return kept && graph_format_of(kept->text, format_of(point)) == GRAPH_MAXCUT;
}

/* Lines of `text`, SAMPLE bytes that begin anywhere. */
static double lines_of(const char *text) {
    double lines = 0;
    for (size_t i = 0; i < SAMPLE; i++)
        lines += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
    return lines;
}

/* Edges of a large file, by its first line, or about, by the length of lines in its middle; false:
 * `wrong` says why it is none, or `text` is empty: it cannot be read. */
static bool count_edges(int fd, uint64_t size, enum graph_format format, char text[SAMPLE + 1],
                        double *edges, char wrong[GRAPH_WRONG]) {
    uint64_t given = 0;
    text[SAMPLE] = '\0';
    if (!ergo_file_read_at(fd, 0, text, SAMPLE))
        return false;
    (void)ergo_text_plain(text, SAMPLE);
    char *end = strrchr(text, '\n'); /* whole lines */
    if (end)
        *end = '\0';
    if (!graph_parse_head(text, format, &given, wrong) ||
        !ergo_file_read_at(fd, size / 2, text, SAMPLE))
        return false;
    if (memchr(text, 0, SAMPLE)) {
        snprintf(wrong, GRAPH_WRONG, "it is not text");
        return false;
    }
    *edges = given ? (double)given : (double)size / SAMPLE * lines_of(text);
    if (*edges > 1.25 * GRAPH_EDGES_MAX) {
        snprintf(wrong, GRAPH_WRONG, "some %.2g lines with edges; at most 2^29", *edges);
        return false;
    }
    return true;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_point *point) {
    const char *path = of_graph(point)->graph;
    char wrong[GRAPH_WRONG] = "", *text = NULL;
    double edges = 0;
    uint64_t size = 0;
    int fd = -1;
    enum ergo_status status = ergo_file_open(ctx, NULL, path, &fd, &size);
    if (status != ERGO_OK || size <= SMALL)
        goto out;
    text = malloc(SAMPLE + 1);
    errno = 0;
    if (!text)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to look at %s", path);
    else if (!count_edges(fd, size, format_of(point), text, &edges, wrong))
        status = *wrong ? ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a graph: %s", path, wrong)
                        : ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: %s", path, strerror(errno));
    /* the text is there twice: what the checkpoint keeps, and what is parsed */
    else if (2 * (double)size + EDGE_BYTES * edges > ergo_memory())
        status =
            ERGO_FAIL(ctx, ERGO_E_MEMORY,
                      "%s has some %.2g edges in %.3g GiB, which take %.3g GiB of memory to "
                      "read and to order; this machine has %.3g GiB",
                      path, edges, (double)size / 0x1p30,
                      (2 * (double)size + EDGE_BYTES * edges) / 0x1p30, ergo_memory() / 0x1p30);
out:
    free(text);
    if (fd >= 0)
        close(fd);
    return status;
}

enum ergo_status graph_read(struct ergo_context *ctx, const struct ergo_point *point,
                            struct graph_problem *p) {
    const char *path = of_graph(point)->graph;
    char *text = NULL, wrong[GRAPH_WRONG];
    size_t length = 0;
    enum ergo_status status = kept_file(point) ? ERGO_OK : plan(ctx, point);
    if (status == ERGO_OK)
        status = ergo_input_read(ctx, point, "/system/graph", file_most, &text, &length);
    if (status == ERGO_OK && !graph_parse(text, length, format_of(point), p, wrong))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a graph: %s", path, wrong);
    free(text);
    return ergo_error_at(ctx, status, "/system/graph");
}
