/* UTF-8: the characters of a text, and a text as a terminal may show it (ergo_message_show). */
#ifndef ERGO_BASE_UTF8_H
#define ERGO_BASE_UTF8_H

#include "base/text.h"

/* Bytes of the well-formed character at `at` (RFC 3629); 0: there is none before `end`. */
size_t ergo_utf8_length(const char *at, const char *end);
/* Appends `shown` as ergo_message_show has it. */
void ergo_utf8_append_shown(struct ergo_text *text, const char *shown);
/* As ergo_text_take, of a text for a terminal. */
char *ergo_utf8_take_shown(struct ergo_text *text);

#endif
