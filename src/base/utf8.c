#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t ergo_utf8_length(const char *at, const char *end) {
    const unsigned char *p = (const unsigned char *)at;
    const size_t room = (size_t)(end - at);
    if (room == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    const size_t length = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    /* C0 and C1 would be overlong; nothing is beyond F4 */
    if (p[0] < 0xC2 || p[0] > 0xF4 || room < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90))
        return 0; /* overlong */
    if ((p[0] == 0xED && p[1] >= 0xA0) || (p[0] == 0xF4 && p[1] >= 0x90))
        return 0; /* surrogates; beyond U+10FFFF */
    return length;
}

size_t ergo_utf8_prefix(const char *at, const char *end) {
    const char *begin = at;
    for (size_t bytes = 1; bytes > 0; at += bytes)
        bytes = ergo_utf8_length(at, end);
    return (size_t)(at - begin);
}

/* DEL or C1; only the latter takes two bytes. */
static bool is_control(const char *at, size_t bytes) {
    const unsigned char *p = (const unsigned char *)at;
    return p[0] == 0x7F || (bytes == 2 && p[0] == 0xC2 && p[1] < 0xA0);
}

void ergo_utf8_append_json(struct ergo_text *text, const char *json) {
    const char *end = json + strlen(json), *plain = json;
    for (const char *at = json; at < end;) {
        if (*at >= ' ' && *at <= '~') { /* nearly all of it */
            at++;
            continue;
        }
        const size_t bytes = ergo_utf8_length(at, end);
        if (bytes && *at != '\t' && !is_control(at, bytes)) {
            at += bytes;
            continue;
        }
        ergo_text_append_bytes(text, plain, (size_t)(at - plain));
        if (*at == '\t')
            ergo_text_append_bytes(text, "  ", at > json && at[-1] == ':' ? 1 : 2);
        else if (bytes)
            ergo_text_append(text, "\\u%04x", (unsigned)(unsigned char)at[bytes - 1]);
        else
            ergo_text_append_bytes(text, ERGO_UTF8_REPLACEMENT, 3);
        plain = at += bytes ? bytes : 1;
    }
    ergo_text_append_bytes(text, plain, (size_t)(end - plain));
}

/* The text to show for the character at *at, which advances: itself, or an escape in `room`. */
static const char *next_shown(const char **at, const char *end, char room[8], size_t *length) {
    const unsigned char *p = (const unsigned char *)*at;
    const char *shown = *at;
    const size_t bytes = ergo_utf8_length(*at, end);
    *length = bytes;
    if (bytes == 0)
        *length = (size_t)snprintf(room, 8, "\\x%02X", (unsigned)p[0]);
    else if (*p == '\t')
        *length = (size_t)snprintf(room, 8, " ");
    else if ((*p < 0x20 && *p != '\n') || is_control(*at, bytes))
        *length = (size_t)snprintf(room, 8, "\\u%04X", (unsigned)p[bytes - 1]);
    else
        room = NULL;
    *at += bytes ? bytes : 1;
    return room ? room : shown;
}

size_t ergo_message_show(char *out, size_t size, const char *text) {
    const char *at = text ? text : "", *end = at + strlen(at);
    size_t all = 0, kept = 0, length = 0;
    while (at < end) {
        char room[8];
        const char *shown = next_shown(&at, end, room, &length);
        if (all + length < size) {
            memcpy(out + all, shown, length);
            kept = all + length;
        }
        all += length;
    }
    if (size)
        out[kept] = '\0';
    return all;
}

void ergo_utf8_append_shown(struct ergo_text *text, const char *shown) {
    const char *at = shown, *end = at + strlen(at);
    size_t length = 0;
    while (at < end) {
        char room[8];
        const char *piece = next_shown(&at, end, room, &length);
        ergo_text_append_bytes(text, piece, length);
    }
}

void ergo_utf8_append_word(struct ergo_text *text, const char *word, size_t most) {
    const char *at = word, *end = at + strlen(at);
    size_t length = 0;
    while (at < end) {
        char room[8];
        const char *begin = at, *piece = next_shown(&at, end, room, &length);
        if (at > word + most) {
            ergo_text_append(text, "...");
            return;
        }
        if (*begin == '\n' || *begin == '\t')
            ergo_text_append(text, *begin == '\n' ? "\\n" : "\\t");
        else
            ergo_text_append_bytes(text, piece, length);
    }
}

char *ergo_utf8_take_shown(struct ergo_text *text) {
    struct ergo_text shown = {.failed = text->failed || ergo_memory_failed()};
    if (text->data)
        ergo_utf8_append_shown(&shown, text->data);
    ergo_text_free(text);
    return ergo_text_take(&shown);
}
