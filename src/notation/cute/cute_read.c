/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_read.c - the row cute: a CuTe layout as a relation.
 *
 *   ((2,2),(2,3)):((2,12),(1,4))     a dim per top mode, its first leaf fastest; places 0 .. cosize-1 on memory
 *   (6,9):(2@1,1@0)                  axes c0 and c1
 */
#include <stdio.h>

#include "notation/cute/cute_row.h"

/* ---- axes ---- */

/* The name of the axis of a stride: "c1_0" for 1@0@1. */
static tesela_status cute_axis_name(const tesela_cute *cute, int32_t i, char name[TESELA_AXIS_NAME],
                                    tesela_error *err) {
  size_t n = 0;
  for (int32_t k = cute->n_path[i] - 1; k >= 0 && n < TESELA_AXIS_NAME; k--)
    n += (size_t)snprintf(name + n, TESELA_AXIS_NAME - n, n ? "_%u" : "c%u", (unsigned)cute->path[i][k]);
  return n < TESELA_AXIS_NAME
             ? TESELA_OK
             : tesela__fail(err, TESELA_E_LIMIT, -1, "the path of a basis stride is too long for a name");
}

static bool cute_has_stride(const tesela_cute *cute, int32_t i) {
  return cute->extent[i] > 1 && cute->stride[i] != 0;
}

/* Add the axes of basis strides, by name, or "memory". */
static tesela_status cute_add_axes(const tesela_cute *cute, tesela_layout *out, tesela_error *err) {
  char names[TESELA_CUTE_LEAVES][TESELA_AXIS_NAME];
  int32_t n = 0, axis;
  bool plain = cute->bits > 0 || cute->offset != 0;
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < cute->n && status == TESELA_OK; i++) {
    char name[TESELA_AXIS_NAME] = "";
    int32_t at = 0;
    if (!cute_has_stride(cute, i)) continue;
    if (cute->n_path[i] == 0) {
      plain = true;
      continue;
    }
    status = cute_axis_name(cute, i, name, err);
    while (at < n && strcmp(names[at], name) < 0) at++;
    if (at < n && strcmp(names[at], name) == 0) continue;
    memmove(names[at + 1], names[at], (size_t)(n - at) * sizeof names[0]);
    memcpy(names[at], name, sizeof name);
    n++;
  }
  if (status == TESELA_OK && plain && n > 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "basis strides together with strides in places, an offset or a swizzle");
  if (n == 0) return status == TESELA_OK ? tesela_layout_add_axis(out, "memory", &axis, err) : status;
  for (int32_t i = 0; i < n && status == TESELA_OK; i++)
    status = tesela_layout_add_axis(out, names[i], &axis, err);
  return status;
}

static tesela_status cute_find_axis(const tesela_cute *cute, int32_t i, const tesela_layout *layout,
                                    int32_t *axis, tesela_error *err) {
  char name[TESELA_AXIS_NAME] = "";
  *axis = 0;
  if (!cute_has_stride(cute, i) || cute->n_path[i] == 0) return TESELA_OK;
  tesela_status status = cute_axis_name(cute, i, name, err);
  while (*axis < layout->n_axes - 1 && strcmp(layout->axis[*axis].name, name) != 0) ++*axis;
  return status;
}

/* ---- places ---- */

/* A dim as the leaves first .. end-1, the last of which is slowest. */
static tesela_status cute_place_dim(const tesela_cute *cute, int32_t dim, int32_t first, int32_t end,
                                    int64_t size, tesela_layout *out, tesela_error *err) {
  int32_t digit = dim, axis = 0, low = 0;
  tesela_status status = TESELA_OK;
  for (int32_t i = end - 1; i >= first && status == TESELA_OK; i--, digit = low) {
    size /= cute->extent[i];
    low = digit;
    if (i > first) status = tesela_layout_split(out, digit, size, &low, err);
    if (status == TESELA_OK) status = cute_find_axis(cute, i, out, &axis, err);
    if (status == TESELA_OK)
      status = tesela_layout_place(out, digit, axis, cute->extent[i] > 1 ? cute->stride[i] : 0, err);
  }
  return status;
}

static tesela_status cute_relate(const tesela_cute *cute, tesela_dtype dtype, int32_t bits,
                                 tesela_layout *out, tesela_error *err) {
  int32_t first[TESELA_CUTE_LEAVES + 1], rank = tesela__cute_tops(cute, first);
  int64_t shape[TESELA_MAX_RANK];
  if (rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d modes", TESELA_MAX_RANK);
  for (int32_t d = 0; d < rank; d++) {
    shape[d] = 1;
    for (int32_t i = first[d]; i < first[d + 1]; i++)
      shape[d] *= cute->extent[i]; /* the parser checked the size */
  }
  tesela_status status = tesela_layout_begin(out, dtype, bits, rank, shape, err);
  if (status == TESELA_OK) status = cute_add_axes(cute, out, err);
  for (int32_t d = 0; d < rank && status == TESELA_OK; d++)
    status = cute_place_dim(cute, d, first[d], first[d + 1], shape[d], out, err);
  if (status == TESELA_OK && cute->offset != 0)
    status = tesela_layout_set_axis(out, 0, cute->offset, -1, err);
  if (status == TESELA_OK && cute->bits > 0)
    status = tesela_layout_add_swizzle(
        out, (tesela_swizzle){0, (int16_t)cute->bits, (int16_t)cute->base, (int16_t)cute->shift}, err);
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

/* The first elements along each dim. */
static tesela_status cute_valid_part(const tesela_xla_shape *array, tesela_layout *layout,
                                     tesela_error *err) {
  tesela_status status = TESELA_OK;
  if (array->rank != layout->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, 0,
                        "the layout has %" PRId32 " modes; the array has %" PRId32 " dims", layout->rank,
                        array->rank);
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    if (array->dim[d] > layout->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, 0,
                          "mode %" PRId32 " has %" PRId64 " coordinates; the array has %" PRId64, d,
                          layout->shape[d], array->dim[d]);
    if (array->dim[d] < layout->shape[d])
      status = tesela_layout_slice(layout, d, 0, array->dim[d], 1, layout, err);
  }
  return status;
}

tesela_status tesela__any_read_cute(const char *text, size_t length,
                                    const tesela_layout_read_options *options, tesela_any_layout *out,
                                    tesela_error *err) {
  tesela_cute cute;
  int32_t bits;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tesela_cute_parse(&cute, text, length, err);
  if (status != TESELA_OK) return status;
  out->kind = TESELA_KIND_RELATION;
  if (options->as)
    status = tesela__tv_read(&cute, options, &out->relation, err);
  else
    status = cute_relate(&cute, dtype, bits, &out->relation, err);
  return status == TESELA_OK && options->array ? cute_valid_part(options->array, &out->relation, err)
                                               : status;
}
