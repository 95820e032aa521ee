/*
 * One string from a kernel file and all it includes: drivers then need no include path (PoCL's -I
 * breaks on spaces) and the text is what the cache's key is made of.
 *
 * Rules: #include "x" is looked up beside the including file, then from the root, as a C compiler
 * with -Icl does; a file's text stands where it is first included, later includes of it vanish.
 * #include <x> and whatever stands in a host-only region (#ifndef __OPENCL_VERSION__, or the #else
 * of #ifdef) stay as they are for the preprocessor to skip: shared headers hold both.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "base/text.h"

enum { DEEPEST = 32, LONGEST_PATH = 256 };

struct flattener {
    struct ergo_context *ctx;
    const char *folder; /* $ERGOCL_CL_DIR, or NULL for the embedded files */
    struct ergo_text out;
    char (*seen)[LONGEST_PATH];
    size_t n_seen;
    const char *chain[DEEPEST]; /* files being read, outermost first */
    size_t lines[DEEPEST];      /* and the line each has come to */
    size_t depth;
};

/* ---- files ----------------------------------------------------------------------------------- */

/* "a/b/../c.h" -> "a/c.h". False if it leaves the root, is absolute or too long. */
static bool normalise(const char *folder, size_t folder_length, const char *path,
                      char out[LONGEST_PATH]) {
    char joined[LONGEST_PATH];
    int length = snprintf(joined, sizeof joined, "%.*s%s", (int)folder_length, folder, path);
    if (length < 0 || (size_t)length >= sizeof joined || *path == '/')
        return false;
    size_t n = 0;
    out[0] = '\0';
    for (char *part = joined; *part;) {
        size_t size = strcspn(part, "/");
        if (size == 2 && part[0] == '.' && part[1] == '.') {
            if (n == 0)
                return false;
            while (n && out[n - 1] != '/')
                n--;
            if (n)
                n--;
            out[n] = '\0';
        } else if (size && !(size == 1 && part[0] == '.')) {
            if (n)
                out[n++] = '/';
            memcpy(out + n, part, size);
            n += size;
            out[n] = '\0';
        }
        part += size;
        while (*part == '/')
            part++;
    }
    return n > 0;
}

/* *text is allocated; NULL with ERGO_OK: there is no such file. */
static enum ergo_status read_file(struct flattener *f, const char *path, char **text) {
    enum ergo_status status = ERGO_OK;
    struct ergo_text name = {0}, content = {0};
    FILE *file = NULL;
    char piece[4096];
    size_t got = 0;

    *text = NULL;
    ergo_text_append(&name, "%s/%s", f->folder, path);
    if (name.failed) {
        status = ERGO_FAIL(f->ctx, ERGO_E_MEMORY, "No memory to read kernel source %s", path);
        goto out;
    }
    file = fopen(name.data, "rb");
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        goto out;
    if (!file) {
        status = ERGO_FAIL(f->ctx, ERGO_E_IO, "Opening kernel source %s failed: %s", name.data,
                           strerror(errno));
        goto out;
    }
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        ergo_text_append_bytes(&content, piece, got);
    if (ferror(file)) {
        status = ERGO_FAIL(f->ctx, ERGO_E_IO, "Reading kernel source %s failed: %s", name.data,
                           strerror(errno));
        goto out;
    }
    if (content.length && memchr(content.data, '\0', content.length)) {
        status = ERGO_FAIL(f->ctx, ERGO_E_IO, "Kernel source %s is not text", name.data);
        goto out;
    }
    *text = ergo_text_take(&content);
    if (!*text)
        status = ERGO_FAIL(f->ctx, ERGO_E_MEMORY, "No memory to read kernel source %s", path);
out:
    if (file)
        fclose(file);
    ergo_text_free(&name);
    ergo_text_free(&content);
    return status;
}

static enum ergo_status read_source(struct flattener *f, const char *path, char **text) {
    if (f->folder)
        return read_file(f, path, text);
    *text = NULL;
    for (size_t i = 0; i < ergo_embedded_count; i++) {
        if (strcmp(ergo_embedded_files[i].path, path) != 0)
            continue;
        struct ergo_text copy = {0};
        ergo_text_append_bytes(&copy, ergo_embedded_files[i].text, ergo_embedded_files[i].length);
        *text = ergo_text_take(&copy);
        if (!*text)
            return ERGO_FAIL(f->ctx, ERGO_E_MEMORY, "No memory to copy kernel source %s", path);
        break;
    }
    return ERGO_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What the flattener must know of the text between lines. */
struct scan {
    bool comment;                /* inside a block comment */
    unsigned depth;              /* open #if's */
    unsigned host_depth;         /* depth of the host-only #if that is open, 0: none */
    bool device_if[DEEPEST * 2]; /* is #if number d an #ifdef __OPENCL_VERSION__? */
};

static const char *skip_blank(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static bool starts_with(const char *at, const char *word, const char **rest) {
    size_t length = strlen(word);
    if (strncmp(at, word, length) != 0 || isalnum((unsigned char)at[length]) || at[length] == '_')
        return false;
    *rest = skip_blank(at + length);
    return true;
}

static bool names_opencl(const char *at) {
    const char *rest = NULL;
    return starts_with(at, "__OPENCL_VERSION__", &rest) ||
           starts_with(at, "__OPENCL_C_VERSION__", &rest);
}

/* "defined(X)", "defined X", with X the compiler's own macro. */
static bool defined_opencl(const char *at) {
    const char *rest = NULL;
    if (!starts_with(at, "defined", &rest))
        return false;
    if (*rest == '(')
        rest = skip_blank(rest + 1);
    return names_opencl(rest);
}

/* Follow the conditionals as far as host-only regions go; the rest is the preprocessor's. */
static void follow_directive(struct scan *scan, const char *at) {
    const char *rest = NULL;
    bool host = false, device = false;
    if (starts_with(at, "ifdef", &rest)) {
        device = names_opencl(rest);
    } else if (starts_with(at, "ifndef", &rest)) {
        host = names_opencl(rest);
    } else if (starts_with(at, "if", &rest)) {
        host = *rest == '!' && defined_opencl(skip_blank(rest + 1));
        device = defined_opencl(rest);
    } else if (starts_with(at, "else", &rest)) {
        if (scan->host_depth && scan->host_depth == scan->depth)
            scan->host_depth = 0;
        else if (!scan->host_depth && scan->depth && scan->depth < DEEPEST * 2 &&
                 scan->device_if[scan->depth])
            scan->host_depth = scan->depth;
        return;
    } else if (starts_with(at, "endif", &rest)) {
        if (scan->host_depth == scan->depth)
            scan->host_depth = 0;
        if (scan->depth)
            scan->depth--;
        return;
    } else {
        return;
    }
    scan->depth++;
    if (scan->depth < DEEPEST * 2)
        scan->device_if[scan->depth] = device;
    if (host && !scan->host_depth)
        scan->host_depth = scan->depth;
}

/* Does a block comment reach past the end of this line? */
static bool comment_after(const char *line, size_t length, bool inside) {
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        const char next = i + 1 < length ? line[i + 1] : '\0';
        if (inside) {
            if (line[i] == '*' && next == '/') {
                inside = false;
                i++;
            }
        } else if (line[i] == '\\') {
            i++;
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && line[i] == '/' && next == '/') {
            return false;
        } else if (!quoted && line[i] == '/' && next == '*') {
            inside = true;
            i++;
        }
    }
    return inside;
}

/* ---- the recursion --------------------------------------------------------------------------- */

static enum ergo_status fail_include(struct flattener *f, const char *what, const char *name) {
    struct ergo_text chain = {0};
    for (size_t i = f->depth; i-- > 0;)
        ergo_text_append(&chain, "\n  %s line %zu of %s", i + 1 == f->depth ? "at" : "included at",
                         f->lines[i], f->chain[i]);
    enum ergo_status status =
        ERGO_FAIL(f->ctx, ERGO_E_IO, "Kernel source \"%s\" %s in %s%s", name, what,
                  f->folder ? f->folder : "the embedded files", chain.data ? chain.data : "");
    ergo_text_free(&chain);
    return status;
}

static bool was_seen(const struct flattener *f, const char *path) {
    for (size_t i = 0; i < f->n_seen; i++)
        if (strcmp(f->seen[i], path) == 0)
            return true;
    return false;
}

static enum ergo_status flatten_text(struct flattener *f, const char *path, const char *text);

/* `path` is normal and its text was read; emit it unless it stands there already. */
static enum ergo_status flatten_once(struct flattener *f, const char *path, const char *text) {
    if (was_seen(f, path))
        return ERGO_OK;
    if (f->depth == DEEPEST)
        return fail_include(f, "is included too deeply", path);
    char(*grown)[LONGEST_PATH] = realloc(f->seen, (f->n_seen + 1) * sizeof *grown);
    if (!grown)
        return ERGO_FAIL(f->ctx, ERGO_E_MEMORY, "No memory to flatten %s", path);
    f->seen = grown;
    snprintf(f->seen[f->n_seen++], LONGEST_PATH, "%s", path);
    f->chain[f->depth] = path;
    f->lines[f->depth++] = 0;
    ergo_text_append(&f->out, "/* file: %s */\n", path);
    enum ergo_status status = flatten_text(f, path, text);
    f->depth--;
    return status;
}

static enum ergo_status flatten_include(struct flattener *f, const char *from, const char *name) {
    char path[LONGEST_PATH];
    char *text = NULL;
    const char *slash = strrchr(from, '/');
    enum ergo_status status = ERGO_OK;
    if (slash && normalise(from, (size_t)(slash - from) + 1, name, path))
        status = read_source(f, path, &text);
    if (status == ERGO_OK && !text && normalise("", 0, name, path))
        status = read_source(f, path, &text);
    if (!text)
        return status == ERGO_OK ? fail_include(f, "was not found", name) : status;
    if (status == ERGO_OK) {
        bool again = was_seen(f, path);
        status = flatten_once(f, path, text);
        if (status == ERGO_OK && again)
            ergo_text_append(&f->out, "/* %s: above */\n", path);
        else
            ergo_text_append(&f->out, "/* file: %s, line %zu */\n", from,
                             f->lines[f->depth - 1] + 1);
    }
    free(text);
    return status;
}

static enum ergo_status flatten_text(struct flattener *f, const char *path, const char *text) {
    enum ergo_status status = ERGO_OK;
    struct scan scan = {0};
    size_t *line = &f->lines[f->depth - 1];
    while (*text && status == ERGO_OK) {
        const size_t length = strcspn(text, "\n");
        const char *at = skip_blank(text), *rest = NULL;
        bool replaced = false;
        ++*line;
        if (!scan.comment && *at == '#') {
            at = skip_blank(at + 1);
            if (starts_with(at, "include", &rest) && *rest == '"' && !scan.host_depth) {
                const size_t size = strcspn(rest + 1, "\"\n");
                char name[LONGEST_PATH];
                if (rest[1 + size] != '"' || size >= sizeof name)
                    return fail_include(f, "has no closing quote or is too long", "#include");
                memcpy(name, rest + 1, size);
                name[size] = '\0';
                status = flatten_include(f, path, name);
                replaced = true;
            } else {
                follow_directive(&scan, at);
            }
        }
        if (!replaced) {
            ergo_text_append_bytes(&f->out, text, length);
            ergo_text_append_bytes(&f->out, "\n", 1);
        }
        scan.comment = comment_after(text, length, scan.comment);
        text += length + (text[length] == '\n');
    }
    return status;
}

enum ergo_status ergo_program_flatten(struct ergo_context *ctx, const char *path, char **text) {
    enum ergo_status status = ERGO_OK;
    struct flattener f = {.ctx = ctx, .folder = getenv("ERGOCL_CL_DIR")};
    char normal[LONGEST_PATH] = "";
    char *source = NULL;

    *text = NULL;
    if (f.folder && !*f.folder)
        f.folder = NULL;
    if (normalise("", 0, path, normal))
        status = read_source(&f, normal, &source);
    if (status == ERGO_OK)
        status =
            source ? flatten_once(&f, normal, source) : fail_include(&f, "was not found", path);
    if (status == ERGO_OK) {
        *text = ergo_text_take(&f.out);
        if (!*text)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to flatten %s", path);
    }
    ergo_text_free(&f.out);
    free(f.seen);
    free(source);
    return status;
}
