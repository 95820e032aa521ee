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
    /* C0, C1 would be overlong; beyond F4 lies nothing */
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

/* What stands for the character at *at, which moves behind it: itself, or an escape in `room`. */
static const char *next_shown(const char **at, const char *end, char room[8], size_t *length) {
    const unsigned char *p = (const unsigned char *)*at;
    const char *shown = *at;
    const size_t bytes = ergo_utf8_length(*at, end);
    const bool c1 = bytes == 2 && p[0] == 0xC2 && p[1] < 0xA0;
    *length = bytes;
    if (bytes == 0)
        *length = (size_t)snprintf(room, 8, "\\x%02X", (unsigned)p[0]);
    else if (*p == '\t')
        *length = (size_t)snprintf(room, 8, " ");
    else if ((*p < 0x20 && *p != '\n') || *p == 0x7F || c1)
        *length = (size_t)snprintf(room, 8, "\\u%04X", (unsigned)(c1 ? p[1] : p[0]));
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

char *ergo_utf8_take_shown(struct ergo_text *text) {
    struct ergo_text shown = {.failed = text->failed};
    if (text->data)
        ergo_utf8_append_shown(&shown, text->data);
    ergo_text_free(text);
    return ergo_text_take(&shown);
}
