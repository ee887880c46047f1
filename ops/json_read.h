/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.h - members of JSON objects, read by name with their types checked: an error names the member.
 *
 *   jr_object in = {object, "host", &err, NULL};
 *   jr_ints(&in, "size", 32, &rank, shape) && jr_int(&in, "offset", 0, &offset) && jr_done(&in, "size|strides|offset")
 *
 * Every function returns false after filling err; a missing member gets its default, or is an error.
 */
#ifndef TESELA_CLI_JSON_READ_H
#define TESELA_CLI_JSON_READ_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/ops.h>

typedef struct jr_object {
  const tesela_value *value;
  const char *name; /* for messages: "host", "ops[3]" */
  tesela_error *err;
  const tesela_target *target; /* of device layouts: the default, and known by its name. May be NULL */
} jr_object;

#define JR_NEEDED INT64_MIN /* as a default: the member is required */

/* Fill err. Returns false. */
bool jr_fail(const jr_object *in, tesela_status status, const char *format, ...) TESELA_PRINTF(3, 4);

bool jr_has(const jr_object *in, const char *key);
bool jr_int(const jr_object *in, const char *key, int64_t otherwise, int64_t *value);
/* As jr_int, and least <= value <= most. */
bool jr_int_in(const jr_object *in, const char *key, int64_t otherwise, int64_t least, int64_t most,
               int64_t *value);
bool jr_real(const jr_object *in, const char *key, double otherwise, double *value);
bool jr_flag(const jr_object *in, const char *key, bool *value); /* false if it is missing */
/* *text stays NULL if it is missing and `otherwise` is NULL; JR_TEXT_NEEDED: it is required. */
bool jr_text(const jr_object *in, const char *key, const char *otherwise, const char **text);
extern const char JR_TEXT_NEEDED[];
/* A list of at most `room` integers. *n stays -1 if it is missing and not needed. */
bool jr_ints(const jr_object *in, const char *key, bool needed, int32_t room, int32_t *n, int64_t *values);
/* An object, named for messages. out->value is NULL if it is missing and not needed. */
bool jr_member(const jr_object *in, const char *key, bool needed, jr_object *out);
/* A list; NULL if it is missing and not needed. */
bool jr_list(const jr_object *in, const char *key, bool needed, const tesela_value **list);

/* Is every member one of the words "a|b|c"? Otherwise the error names it and suggests another. */
bool jr_done(const jr_object *in, const char *words);

#endif
