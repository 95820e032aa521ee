/*
 * Is a page well made, whatever it shows? Tags are of those that pages use, closed in their order;
 * attributes are quoted; numbers in attributes are numbers; nothing is run or fetched.
 */
#ifndef ERGO_TESTS_PAGE_CHECK_H
#define ERGO_TESTS_PAGE_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Not what a fuzzer is to explore. */
#if defined(__clang__)
#define PAGE_PLAIN __attribute__((no_sanitize("coverage", "address", "undefined")))
#else
#define PAGE_PLAIN
#endif

static const char *const page_tags[] = {
    "a",     "b",          "body",  "circle", "code",   "dd",      "details", "div",    "dl",
    "dt",    "figcaption", "h3",    "label",  "option", "select",  "figure",  "footer", "g",
    "h1",    "h2",         "head",  "html",   "i",      "img",     "li",      "link",   "main",
    "meta",  "p",          "path",  "pre",    "rect",   "section", "small",   "span",   "style",
    "sub",   "summary",    "svg",   "table",  "tbody",  "td",      "text",    "th",     "thead",
    "title", "tr",         "tspan", "ul"};
static const char *const page_void[] = {"img", "link", "meta"};
/* Attributes that hold text of others; all the rest are numbers, classes and names of our own. */
static const char *const page_texts[] = {"alt", "aria-label", "content", "download", "href", "src"};

PAGE_PLAIN static bool page_among(const char *const *list, size_t count, const char *name,
                                  size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && strncmp(list[i], name, length) == 0)
            return true;
    return false;
}
#define PAGE_AMONG(list, name, length)                                                             \
    page_among(list, sizeof(list) / sizeof(list)[0], name, length)

/* Behind the attributes of a tag, at its '>'; NULL: wrong. */
PAGE_PLAIN static const char *page_attributes(const char *at) {
    while (*at == ' ') {
        const char *name = ++at;
        at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
        const size_t length = (size_t)(at - name);
        if (!length || at[0] != '=' || at[1] != '"' || strncmp(name, "on", 2) == 0)
            return NULL;
        const char *value = at + 2, *end = strchr(value, '"');
        if (!end || memchr(value, '<', (size_t)(end - value)))
            return NULL;
        if (length == 4 && strncmp(name, "href", 4) == 0 && *value != '#' &&
            strncmp(value, "data:", 5) != 0)
            return NULL;
        if (length == 3 && strncmp(name, "src", 3) == 0 &&
            strncmp(value, "data:image/png;", 15) != 0)
            return NULL;
        const bool ours = !PAGE_AMONG(page_texts, name, length);
        for (const char *p = value; ours && p + 3 <= end; p++)
            if ((p[0] == 'n' && p[1] == 'a' && p[2] == 'n') ||
                (p[0] == 'i' && p[1] == 'n' && p[2] == 'f'))
                return NULL;
        at = end + 1;
    }
    return strncmp(at, "/>", 2) == 0 || *at == '>' ? at : NULL;
}

/* NULL: a page; else where it is none. */
PAGE_PLAIN static const char *page_wrong(const char *page) {
    enum { DEPTH = 64 };
    struct {
        const char *name;
        size_t length;
    } open[DEPTH];
    size_t depth = 0;
    if (strncmp(page, "<!DOCTYPE html>\n", 16) != 0)
        return page;
    for (const char *at = page + 16; *at;) {
        if (*at != '<') {
            if ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t')
                return at;
            at++;
            continue;
        }
        const char *start = at;
        const bool closes = at[1] == '/';
        const char *name = at + 1 + closes;
        const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (!PAGE_AMONG(page_tags, name, length))
            return start;
        if (closes) {
            if (!depth || name[length] != '>' || open[depth - 1].length != length ||
                strncmp(open[depth - 1].name, name, length) != 0)
                return start;
            depth--;
            at = name + length + 1;
            continue;
        }
        at = page_attributes(name + length);
        if (!at)
            return start;
        const bool ends = *at == '/' || PAGE_AMONG(page_void, name, length);
        at += *at == '/' ? 2 : 1;
        if (ends)
            continue;
        if (depth == DEPTH)
            return start;
        open[depth].name = name;
        open[depth++].length = length;
        if (length == 5 && strncmp(name, "style", 5) == 0) {
            at = strstr(at, "</style>");
            if (!at)
                return start;
        }
    }
    return depth ? open[depth - 1].name : NULL;
}

#endif
