/* UTF-8: the characters of a text, and a text as a terminal may show it (ergo_message_show). */
#ifndef ERGO_BASE_UTF8_H
#define ERGO_BASE_UTF8_H

#include "base/text.h"

/* U+FFFD, for bytes that are no UTF-8. */
#define ERGO_UTF8_REPLACEMENT "\xEF\xBF\xBD"

/* Bytes of the well-formed character at `at` (RFC 3629); 0: there is none before `end`. */
size_t ergo_utf8_length(const char *at, const char *end);
/* Bytes of `at` to `end` up to the first that is no UTF-8. */
size_t ergo_utf8_prefix(const char *at, const char *end);
/* Appends JSON that cJSON printed from any texts: bytes that are no UTF-8 become U+FFFD, DEL and
 * C1, which a terminal obeys, are escaped. Tabs, which are never in a string there, become blanks.
 */
void ergo_utf8_append_json(struct ergo_text *text, const char *json);
/* Appends `word` on one line, cut after about `most` bytes with "...": names in messages. */
void ergo_utf8_append_word(struct ergo_text *text, const char *word, size_t most);
/* Appends `shown` as ergo_message_show has it. */
void ergo_utf8_append_shown(struct ergo_text *text, const char *shown);
/* As ergo_text_take, of a text for a terminal. */
char *ergo_utf8_take_shown(struct ergo_text *text);

#endif
