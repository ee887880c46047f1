/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_read.h - the fields of a device layout's text, shared by readers and printers.
 *
 *   device_fields.c  `name=value` fields, from one table
 *   device_parse.c   the notation of a text, its leading host shape, the public reader
 *   device_host.c    which fields go together; the host side of a text
 *   device_build.c   fields -> device layout, through the constructors of device.h
 *   device_print.c   the printed forms and the tuples
 *   device_short.c   the short form
 *
 * A printer fills in fields, builds a layout from them, and prints them only if that equals the given layout. So the
 * reader alone decides what a notation can express.
 */
#ifndef TESELA_SRC_DEVICE_READ_H
#define TESELA_SRC_DEVICE_READ_H

#include <tesela/notation.h>

#include "base/base.h"
#include "notation/xla/xla_read.h"

/* symbol, name, in the short form?, in SpyreTensorLayout?, kind of value, description for messages */
#define TESELA__DEVICE_FIELD_MAP(X)                                                                 \
  X(DIM_ORDER, "dim_order", true, false, LIST, "a list of host dims, [0,1]")                        \
  X(ORDER, "order", true, false, ORDER, "the name of an order")                                     \
  X(TARGET, "target", true, false, TARGET, "the name of a target")                                  \
  X(STICK, "stick", true, false, NUMBER, "bytes of a stick")                                        \
  X(PAD_TO, "pad_to", true, false, PADS, "host dims and extents, {0:96}")                           \
  X(DIMS, "dims", true, false, DIMS, "device dims as (host dim, step, extent), [(1,64,4),(0,1,8)]") \
  X(STICK_DIMS, "stick_dims", true, false, NUMBER, "how many device dims make up a stick")          \
  X(DEVICE_SIZE, "device_size", true, true, LIST, "a list of extents, [4,1000,64]")                 \
  X(STRIDE_MAP, "stride_map", true, true, LIST, "a list of host elements, [64,200,1]")              \
  X(DEVICE_STRIDES, "device_strides", true, true, LIST, "a list of strides, [64000,64,1]")          \
  X(DIM_MAP, "dim_map", false, true, LIST, "a list of host dims, [1, 0, 1]")                        \
  X(NUM_STICK_DIMS, "num_stick_dims", false, true, NUMBER, "how many device dims make up a stick")  \
  X(FORMAT, "format", false, true, FORMAT, "\"Dense\", \"Sparse\" or \"SparseMulti\"")              \
  X(DEVICE_DTYPE, "device_dtype", true, true, DTYPE, "the type of an element on the device")        \
  X(DEVICE_BITS, "device_bits", true, false, NUMBER, "bits of an element on the device")            \
  X(ARRANGEMENT, "element_arrangement", false, true, ARRANGEMENT, "ElementArrangement.STANDARD")

typedef enum tesela__device_field {
#define TESELA__ROW(symbol, name, in_short, in_printed, value, text) TESELA__DEVICE_##symbol,
  TESELA__DEVICE_FIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
      TESELA__DEVICE_FIELDS
} tesela__device_field;

typedef struct tesela__device_list {
  int32_t n;
  int64_t number[TESELA_DEVICE_DIMS];
} tesela__device_list;

typedef enum tesela__device_form {
  TESELA__DEVICE_FORM_SHORT,
  TESELA__DEVICE_FORM_TUPLES,
  TESELA__DEVICE_FORM_PRINTED,
} tesela__device_form;

typedef struct tesela__device_text {
  const tesela_device_text_options *options; /* of the caller, never NULL */
  tesela__device_form form;
  size_t form_at;
  bool have_host; /* the text starts with dtype, rank and shape */
  tesela_dtype dtype;
  int32_t rank;
  int64_t shape[TESELA_MAX_RANK];
  size_t host_at;
  uint32_t seen;                    /* bit f: field f is present */
  size_t at[TESELA__DEVICE_FIELDS]; /* byte of its value */
  tesela__device_list dim_order, size, stride_map, strides, dim_map;
  int32_t n_dims;
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
  tesela_device_padding padding;
  tesela_order order;
  const tesela_target *target;
  int64_t stick, stick_dims, device_bits;
  tesela_dtype device_dtype;
  tesela_stick_format format;
} tesela__device_text;

static inline bool tesela__device_has(const tesela__device_text *text, tesela__device_field field) {
  return text->seen >> field & 1;
}
static inline void tesela__device_say(tesela__device_text *text, tesela__device_field field) {
  text->seen |= (uint32_t)1 << field;
}

/* ---- numbers and lists ---- */

/* An integer that fits in 64 bits. */
static inline tesela_status tesela__device_number(tesela__reader *in, const char *what, int64_t *number) {
  return tesela__read_any_integer(in, what, TESELA_E_RANGE, number);
}
/* "[1,2]", or "(1, 2)" with a comma allowed after the last; at most `most` numbers. */
static inline tesela_status tesela__device_numbers(tesela__reader *in, char open, const char *what,
                                                   int32_t most, tesela__device_list *list) {
  return tesela__read_integers(in, open, open == '(', what, TESELA_E_RANGE, most, list->number, &list->n);
}

/* ---- device_fields.c ---- */

/* name=value, ... ')' of a form. The reader is after its '('. */
tesela_status tesela__device_read_fields(tesela__reader *in, tesela__device_text *text);
/* The format name of a type, "SEN169_FP16", or NULL. */
const char *tesela__device_format_name(tesela_dtype dtype);

/* ---- device_parse.c ---- */

/* Does a text begin like a device layout, perhaps misspelt? */
bool tesela__device_near(const char *text, size_t length);

/* ---- device_host.c ---- */

/* The conversion of a text to a layout. */
typedef struct tesela__device_building {
  const tesela__device_text *text;
  const tesela_device_text_options *options;
  const tesela_target *target;
  tesela_target own; /* a copy of the target with the text's stick bytes */
  tesela_device_host host;
  tesela_error *err;
} tesela__device_building;

/* The byte of a field's value, or of the form if the field is absent. */
int64_t tesela__device_at(const tesela__device_building *b, tesela__device_field field);
/* Set the position of a constructor's error to byte `at` of the text. */
tesela_status tesela__device_placed(const tesela__device_building *b, tesela_status status, int64_t at);
/* Check that the fields go together and that their lists have matching lengths. */
tesela_status tesela__device_check(const tesela__device_building *b);
/* Fill in target and host. */
tesela_status tesela__device_find_host(tesela__device_building *b);

/* ---- device_build.c ---- */

/* The layout of a text. Errors point at the wrong field. */
tesela_status tesela__device_build(const tesela__device_text *text, const tesela_device_text_options *options,
                                   tesela_device_layout *layout, tesela_error *err);
/* Does the text, read with the host side of this layout, give exactly this layout? */
bool tesela__device_says(const tesela__device_text *text, const tesela_device_layout *layout);

/* ---- device_short.c ---- */

void tesela__device_put_list(tesela__sink *sink, const char *between, int32_t n, const int64_t *number);
void tesela__device_put_host(tesela__sink *sink, const tesela_device_host *host); /* f16[1000,200] */

tesela_status tesela__device_print_short(const tesela_device_layout *layout, tesela__sink *sink,
                                         tesela_error *err);

#endif
