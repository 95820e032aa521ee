/*
 * One string from a kernel file and all it includes: drivers then need no include path (PoCL's -I
 * breaks on spaces, and its clCompileProgram where the path of its cache has one), and the text is
 * what the cache's key is made of.
 *
 * A line that begins with #include "x" becomes the text of x, a path from the root, where it comes
 * first, and nothing later: inside of a conditional only where it comes nowhere else. #include <x>
 * is for the host and stays, for the preprocessor to skip. By #line, compilers name the files that
 * people edit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "device/program.h"

enum { LARGEST_FILE = 1 << 24, LONGEST_PATH = 256 };

struct flattener {
    struct ergo_context *ctx;
    const char *folder; /* $ERGOCL_CL_DIR, or NULL for the embedded files */
    struct ergo_text out;
};

/* *text is allocated. */
static enum ergo_status read_source(struct flattener *f, const char *path, char **text) {
    *text = NULL;
    if (f->folder) {
        size_t length = 0;
        char *full = ergo_path_join(f->folder, path);
        enum ergo_status status =
            full ? ergo_file_read(f->ctx, NULL, full, LARGEST_FILE, text, &length)
                 : ERGO_FAIL(f->ctx, ERGO_E_MEMORY, "no memory to read kernel source %s", path);
        if (status == ERGO_OK && strlen(*text) < length)
            status = ERGO_FAIL(f->ctx, ERGO_E_IO, "kernel source %s is not text", full);
        free(full);
        return status;
    }
    for (size_t i = 0; i < ergo_embedded_count; i++)
        if (strcmp(ergo_embedded_files[i].path, path) == 0)
            return (*text = strdup(ergo_embedded_files[i].text))
                       ? ERGO_OK
                       : ERGO_FAIL(f->ctx, ERGO_E_MEMORY, "no memory for kernel source %s", path);
    return ERGO_FAIL(f->ctx, ERGO_E_IO, "kernel source %s is not among the embedded files", path);
}

/* Is this line #include "PATH"? */
static bool read_include(const char *line, char path[LONGEST_PATH]) {
    static const char word[] = "#include \"";
    if (strncmp(line, word, sizeof word - 1) != 0)
        return false;
    line += sizeof word - 1;
    const size_t length = strcspn(line, "\"\n");
    if (line[length] != '"' || length >= LONGEST_PATH)
        return false; /* the compiler will say what it thinks of it */
    memcpy(path, line, length);
    path[length] = '\0';
    return true;
}

static enum ergo_status flatten(struct flattener *f, const char *path) {
    struct ergo_text mark = {0};
    char *text = NULL, included[LONGEST_PATH];
    size_t line = 1;
    enum ergo_status status = ERGO_OK;

    ergo_text_append(&mark, "#line 1 \"%s\"\n", path);
    if (mark.failed || (f->out.data && strstr(f->out.data, mark.data)))
        goto out; /* it stands above */
    ergo_text_append(&f->out, "%s", mark.data);
    status = read_source(f, path, &text);
    for (const char *at = text; status == ERGO_OK && *at; line++) {
        const size_t length = strcspn(at, "\n");
        if (read_include(at, included)) {
            status = flatten(f, included);
            ergo_text_append(&f->out, "#line %zu \"%s\"\n", line + 1, path);
            if (status != ERGO_OK)
                (void)ERGO_FAIL(f->ctx, status, "included at line %zu of %s", line, path);
        } else {
            ergo_text_append_bytes(&f->out, at, length);
            ergo_text_append_bytes(&f->out, "\n", 1);
        }
        at += length + (at[length] == '\n');
    }
out:
    f->out.failed |= mark.failed;
    ergo_text_free(&mark);
    free(text);
    return status;
}

enum ergo_status ergo_program_flatten(struct ergo_context *ctx, const char *path, char **text) {
    struct flattener f = {.ctx = ctx, .folder = getenv("ERGOCL_CL_DIR")};
    if (f.folder && !*f.folder)
        f.folder = NULL;
    *text = NULL;
    enum ergo_status status = flatten(&f, path);
    if (status == ERGO_OK && !(*text = ergo_text_take(&f.out)))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to flatten kernel source %s", path);
    ergo_text_free(&f.out);
    return status;
}
