/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - protobuf's wire format, read without a schema: fields one by one, each checked against the end of its message.
 */
#ifndef TESELA_SRC_RECORDS_WIRE_H
#define TESELA_SRC_RECORDS_WIRE_H

#include "base/base.h"

/* A message, or what is left of it. A part of a message has the same `start`, so errors name the byte of the file. */
typedef struct tesela__wire {
  const unsigned char *start, *p, *end;
  const char *wrong; /* why reading stopped before the end, or NULL */
  int64_t at;        /* byte of the error */
} tesela__wire;

enum { TESELA__WIRE_NUMBER = 0, TESELA__WIRE_BYTES = 2 };

typedef struct tesela__wire_field {
  uint32_t number;
  int type;       /* TESELA__WIRE_NUMBER, TESELA__WIRE_BYTES; fields of 4 and 8 bytes are skipped */
  uint64_t value; /* of a number; of a list of numbers in bytes see tesela__wire_list */
  const unsigned char *bytes;
  size_t n;
} tesela__wire_field;

/* The next field; false at the end of the message, or with `wrong` set. */
bool tesela__wire_next(tesela__wire *wire, tesela__wire_field *field);
/* The message in a field of bytes. */
tesela__wire tesela__wire_inside(const tesela__wire *wire, const tesela__wire_field *field);
/* Append the numbers of a repeated field, packed or one alone; false, with `wrong`, beyond `most` or past the end. */
bool tesela__wire_list(tesela__wire *wire, const tesela__wire_field *field, int64_t *list, int most, int *n);
/* Take over an error of a message inside. */
bool tesela__wire_after(tesela__wire *wire, const tesela__wire *inside);

#endif
