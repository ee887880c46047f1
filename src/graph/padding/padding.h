/* SPDX-License-Identifier: Apache-2.0 */
/*
 * padding.h - declarations that the files of padding share.
 *
 *   padding_view.c      the places of a layout beyond each dim, and a tensor's dims in its buffer
 *   padding_build.c     what each operator reads in the padding of its result, and beyond folded dims
 *   padding_value.c     values: of fills, of functions of values that may be unknown
 *   padding_evaluate.c  a pass over the program with given fills
 *   graph_padding.c           the functions of graph.h
 *
 * The program is analysed once (build); passes with other fills are then quick, as suggestions need.
 */
#ifndef TESELA_SRC_GRAPH_PADDING_H
#define TESELA_SRC_GRAPH_PADDING_H

#include <tesela/graph.h>

#include "base/base.h"
#include "graph/program/graph.h"
#include "graph/run/run.h"

/* ---- layouts and views ---- */

/* The reach of a layout: indices 0 .. to[d]-1 of dim d have places. `unit` lanes of dim d are in a stick. */
typedef struct tesela__pad_dims {
  bool any;     /* it has padding */
  bool regular; /* every place is a digit of each device dim, and the digits of a dim count it without gaps */
  bool synthetic; /* lanes that no index reaches */
  int64_t to[TESELA_GRAPH_RANK], unit[TESELA_GRAPH_RANK];
} tesela__pad_dims;

tesela_status tesela__pad_dims_of(const tesela_device_layout *layout, tesela__pad_dims *dims,
                                  tesela_error *err);

/* A dim of a buffer, or several without padding that count as one. */
typedef struct tesela__pad_coordinate {
  int64_t extent, stride, to, unit;
  int64_t offset; /* of the tensor's first element */
} tesela__pad_coordinate;

/* A node's tensor on its buffer. */
typedef struct tesela__pad_view {
  bool known; /* each of its dims moves along one coordinate */
  bool whole; /* it shows every element of the buffer once */
  tesela__pad_dims buffer;
  int32_t n;
  tesela__pad_coordinate coordinate[TESELA_GRAPH_RANK];
  int32_t at[TESELA_GRAPH_RANK]; /* coordinate of each dim, or -1 */
  int64_t by[TESELA_GRAPH_RANK];
} tesela__pad_view;

tesela_status tesela__pad_view_of(const tesela_graph *graph, int32_t node, tesela__pad_view *view,
                                  tesela_error *err);
/* Does only dim d move along its coordinate? */
bool tesela__pad_alone(const tesela__pad_view *view, int32_t rank, int32_t d);

/* ---- facts of a program that do not depend on fills ---- */

/* The content of the places where an operand is read. */
typedef enum tesela__pad_sight {
  TESELA__PAD_ELEMENTS, /* elements of the tensor, for any index */
  TESELA__PAD_PADDING,
  TESELA__PAD_HIDDEN, /* elements outside the view, or unknown */
  TESELA__PAD_OUTSIDE
} tesela__pad_sight;

typedef struct tesela__pad_node {
  bool any;   /* its buffer has padding */
  bool open;  /* the operands do not determine the padding of its result */
  bool whole; /* its tensor shows every element of the buffer once */
  uint8_t
      cases; /* bit m: some padding of the result reads the operands of set m in their padding, and the others at elements */
  tesela_dtype dtype, device; /* of the buffer */
} tesela__pad_node;

/* A folded dim that is read beyond its extent. */
typedef struct tesela__pad_group {
  int32_t node, first, n; /* operands */
  int32_t dim[2];         /* of each operand, or -1 */
  tesela__pad_sight sight[2];
  int64_t from, to;
} tesela__pad_group;

/* A value of class tesela__run_class_of(the tensor's type), or unknown. */
typedef struct tesela__pad_value {
  bool known;
  tesela__run_value v;
} tesela__pad_value;

struct tesela_padding {
  tesela_allocator allocator;
  const tesela_graph *graph;
  int32_t count, n_inputs, n_groups, n_reads;
  size_t group_room;
  tesela__pad_node *node;
  tesela__pad_group *group; /* in the order of nodes */
  tesela_padding_read *read;
  tesela_padding_fill *input, copy;
  /* of the last pass: each node's buffer after the node */
  tesela__pad_value *hold;    /* in all of its padding */
  tesela__pad_value *uniform; /* in all of its elements */
};

/* Fill in node, group; padding->node has room. */
tesela_status tesela__padding_build(tesela_padding *padding, tesela_error *err);

/* ---- values ---- */

/* A fill as a value of a tensor. TESELA_E_RANGE. */
tesela_status tesela__pad_fill_value(const tesela_padding_fill *fill, const tesela__pad_node *type,
                                     tesela__pad_value *value, tesela_error *err);
bool tesela__pad_same(tesela_dtype dtype, const tesela__pad_value *a, const tesela__pad_value *b);
/* A value converted to one that the type and its device type hold; unknown if they cannot hold it, or for NaN. */
tesela__pad_value tesela__pad_round(const tesela__pad_node *type, tesela__run_class class,
                                    tesela__run_value value);
/* fn of up to three operands, some unknown. */
tesela__pad_value tesela__pad_apply(tesela_fn fn, int32_t n, const tesela__pad_node *const *type,
                                    const tesela__pad_value *v, const tesela__pad_node *result);
/* A fold of any number of copies of v. */
tesela__pad_value tesela__pad_fold(tesela_fn fn, const tesela__pad_node *type, const tesela__pad_value *v,
                                   const tesela__pad_node *result);
/* The neutral value of a fold; unknown for mean. */
tesela__pad_value tesela__pad_neutral(tesela_fn fn, const tesela__pad_node *type);
bool tesela__pad_is_neutral(tesela_fn fn, const tesela__pad_node *type, const tesela__pad_value *v);
bool tesela__pad_is_zero(tesela_dtype dtype, const tesela__pad_value *v);
bool tesela__pad_is_finite(tesela_dtype dtype, const tesela__pad_value *v);
tesela_padding_state tesela__pad_state(tesela_padding_kind kind, tesela_dtype dtype,
                                       const tesela__pad_value *v);

/* The fold over an operator's folded dims; TESELA_FN_MEAN if it has no neutral value. */
tesela_fn tesela__pad_fold_of(const tesela_node *node);

/* ---- a pass ---- */

/* Compute hold, uniform and reads from one value for each input's padding. Returns the number of reads that are FINE. */
int32_t tesela__padding_evaluate(tesela_padding *padding, const tesela__pad_value *input);

#endif
