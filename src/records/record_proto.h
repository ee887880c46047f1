/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_proto.h - parts of the reader of HloProto.
 */
#ifndef TESELA_SRC_RECORD_PROTO_H
#define TESELA_SRC_RECORD_PROTO_H

#include "records/records.h"
#include "records/wire.h"

typedef struct tesela__proto_text {
  char text[512];
  size_t n; /* 0: the shape is a tuple, or has no text here */
} tesela__proto_text;

/* The text of the member `index` of a ShapeProto. false with wire->wrong for bytes that are not protobuf. */
bool tesela__proto_shape(tesela__wire *wire, const int64_t *index, int n_index, bool *is_tuple,
                         tesela__proto_text *text);

/* Read an HloProto into file->program; damage is a difference, and wire->wrong. */
bool tesela__record_proto_in(tesela__record_file *file, tesela__wire *wire);
/* Say where the bytes of a file are damaged. */
bool tesela__record_break_at(tesela__record_file *file, const tesela__wire *wire);

#endif
