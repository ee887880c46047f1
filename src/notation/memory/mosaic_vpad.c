/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mosaic_vpad.c - vector registers of TPUs, of 8 x 128 x 32 bits, in Mosaic's notation.
 *
 *   #tpu.vpad<"32,{0,3},(8,128)">       width, where the first element is, tile of the last two dims
 *
 * Registers are numbered row-major, like their sublanes, lanes and the elements in 32 bits; `*` is a copy in each sublane or lane;
 * -1 and -2 are implicit dims of extent 1.
 *
 * To write a layout, all tiles, implicit dims and copies are tried: the place of element 0 is the offset.
 */
#include "base/base.h"
#include "notation/memory/memory.h"

enum { TPU_SUBLANES = 8, TPU_LANES = 128 };

typedef struct tpu_vpad {
  int64_t bits, offset[2], tile[2]; /* offset -1: copies */
  bool minor, second_minor;         /* implicit */
} tpu_vpad;

static tesela_status tpu_read_vpad(tesela__reader *r, tpu_vpad *v) {
  tesela_status status = TESELA_OK;
  *v = (tpu_vpad){.bits = 0};
  if (tesela__read_take_text(r, "none"))
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at - 4, "the value is not in vector registers");
  status = tesela__read_integer(r, "width", 1, 32, &v->bits);
  if (status == TESELA_OK && (v->bits & (v->bits - 1)) != 0)
    status = tesela__read_fail(r, TESELA_E_RANGE, r->at,
                               "the width is %" PRId64 "; expected 1, 2, 4, 8, 16 or 32", v->bits);
  if (status == TESELA_OK) status = tesela__read_expect(r, ',', "after the width");
  if (status == TESELA_OK) status = tesela__read_expect(r, '{', "before the offsets");
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    v->offset[k] = -1;
    if (!tesela__read_take(r, '*')) status = tesela__read_integer(r, "offset", 0, INT32_MAX, &v->offset[k]);
    if (status == TESELA_OK) status = tesela__read_expect(r, k ? '}' : ',', "after the offset");
  }
  if (status == TESELA_OK) status = tesela__read_expect(r, ',', "after the offsets");
  if (status == TESELA_OK) status = tesela__read_expect(r, '(', "before the tile");
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    status = tesela__read_integer(r, "tile extent", 1, INT32_MAX, &v->tile[k]);
    if (status == TESELA_OK) status = tesela__read_expect(r, k ? ')' : ',', "after the tile extent");
  }
  while (status == TESELA_OK && tesela__read_take(r, ',')) {
    int64_t dim;
    status = tesela__read_integer(r, "implicit dim", -2, -1, &dim);
    if (status == TESELA_OK) *(dim == -1 ? &v->minor : &v->second_minor) = true;
  }
  return status;
}

static tesela_status tpu_check_vpad(const tesela__reader *r, const tpu_vpad *v) {
  int64_t packing = 32 / v->bits;
  if (v->tile[1] != TPU_LANES || v->tile[0] % packing != 0 || TPU_SUBLANES * packing % v->tile[0] != 0)
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, 0,
                             "tiles of %" PRId64 "x%" PRId64
                             " are not read; expected 128 columns, and rows that fill 32 bits "
                             "and divide the %" PRId64 " rows of a register",
                             v->tile[0], v->tile[1], TPU_SUBLANES * packing);
  for (int k = 0; k < 2; k++) {
    int64_t slice = k ? TPU_LANES * (TPU_SUBLANES * packing / v->tile[0]) : v->tile[0];
    if (v->offset[k] >= slice)
      return tesela__read_fail(r, TESELA_E_RANGE, 0, "an offset is %" PRId64 "; expected 0 to %" PRId64,
                               v->offset[k], slice - 1);
  }
  return TESELA_OK;
}

/* The digit of one of the last two dims: implicit ones are holes of extent 1, `*` is a replica over the whole register. */
static tesela_status tpu_vpad_dim(const tpu_vpad *v, int which, bool implicit, int32_t dim, int64_t slice,
                                  tesela_layout *out, int32_t *digit, tesela_error *err) {
  if (!implicit && v->offset[which] < 0 && out->shape[dim] != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, 0,
                        "copies along a dim of %" PRId64 " elements: `*` is read for dims of extent 1",
                        out->shape[dim]);
  if (v->offset[which] < 0) {
    if (slice == 1) return tesela_layout_add_digit(out, TESELA_HOLE, 1, digit, err);
    return tesela_layout_add_digit(out, TESELA_REPLICA, slice, digit, err);
  }
  if (!implicit) return tesela_layout_shift(out, dim, v->offset[which], digit, err);
  return tesela_layout_add_digit(out, TESELA_HOLE, 1, digit, err);
}

static tesela_status tpu_lower_vpad(const tpu_vpad *v, const tesela_xla_shape *array, tesela_dtype dtype,
                                    tesela_layout *out, tesela_error *err) {
  int64_t packing = 32 / v->bits, tiles = TPU_SUBLANES * packing / v->tile[0],
          size = TPU_SUBLANES * TPU_LANES * packing;
  int64_t next = 1, first = 0;
  bool implicit[2] = {v->second_minor, v->minor};
  int32_t rank = array->rank, n = rank - !v->minor - !v->second_minor, axis = 0, grid[TESELA_MAX_RANK + 2],
          n_grid = 0;
  int32_t digit[2], part[4] = {0};
  if (n < 0)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "the layout is of %d dims or more; the array has %" PRId32,
                        2 - v->minor - v->second_minor, rank);
  tesela_status status = tesela_layout_begin(out, dtype, (int32_t)v->bits, rank, array->dim, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "memory", &axis, err);
  for (int32_t d = 0; d < n; d++) grid[n_grid++] = d;
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    int32_t dim = k == 0 ? n : n + !v->second_minor;
    int64_t slice = k == 0 ? v->tile[0] : tiles * TPU_LANES, stride[2], extent[2];
    status = tpu_vpad_dim(v, k, implicit[k], dim, slice, out, &digit[k], err);
    if (status != TESELA_OK) return status;
    /* in a register: rows of 32 bits, elements in these; tiles, lanes */
    extent[0] = k == 0 ? v->tile[0] / packing : tiles;
    extent[1] = k == 0 ? packing : TPU_LANES;
    stride[0] = k == 0 ? TPU_LANES * packing : v->tile[0] * TPU_LANES;
    stride[1] = k == 0 ? 1 : packing;
    if (v->offset[k] < 0 || implicit[k]) { /* at the offset, or everywhere */
      int64_t at = tesela__max(v->offset[k], 0);
      first += at / extent[1] * stride[0] + at % extent[1] * stride[1];
      if (v->offset[k] >= 0 || slice == 1) {
        status = tesela_layout_place(out, digit[k], axis, 1, err);
      } else {
        if (extent[1] > 1 && extent[0] > 1)
          status = tesela_layout_split(out, digit[k], extent[1], &part[0], err);
        if (status == TESELA_OK && extent[1] > 1 && extent[0] > 1)
          status = tesela_layout_place(out, part[0], axis, stride[1], err);
        if (status == TESELA_OK)
          status = tesela_layout_place(out, digit[k], axis, extent[0] > 1 ? stride[0] : stride[1], err);
      }
      if (status == TESELA_OK && !implicit[k]) status = tesela_layout_place(out, dim, axis, 1, err);
      continue;
    }
    status = tesela_layout_split(out, digit[k], slice, &part[0], err);
    if (status == TESELA_OK) status = tesela_layout_split(out, part[0], extent[1], &part[1], err);
    if (status == TESELA_OK) status = tesela_layout_place(out, part[0], axis, stride[0], err);
    if (status == TESELA_OK) status = tesela_layout_place(out, part[1], axis, stride[1], err);
    grid[n_grid++] = digit[k];
  }
  if (status == TESELA_OK) status = tesela_layout_place_row_major(out, n_grid, grid, axis, size, &next, err);
  if (status == TESELA_OK) /* whole registers */
    status = tesela_layout_set_axis(out, axis, first, next, err);
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

tesela_status tesela__tpu_vpad(tesela__reader *r, const tesela_xla_shape *array, tesela_dtype dtype,
                               tesela_layout *out) {
  tpu_vpad v;
  tesela_status status = tesela__read_expect(r, '"', "before the width");
  if (status == TESELA_OK) status = tpu_read_vpad(r, &v);
  if (status == TESELA_OK) status = tesela__read_expect(r, '"', "after the layout");
  if (status == TESELA_OK) status = tesela__read_expect(r, '>', "after the layout");
  if (status == TESELA_OK) status = tpu_check_vpad(r, &v);
  if (status == TESELA_OK && dtype != TESELA_DTYPE_NONE && tesela_dtype_bits(dtype) != v.bits &&
      dtype != TESELA_PRED)
    status = tesela__fail(r->err, TESELA_E_MISMATCH, 0,
                          "the layout is of %" PRId64 " bits; the type %s has %" PRId32, v.bits,
                          tesela_dtype_name(dtype), tesela_dtype_bits(dtype));
  return status == TESELA_OK ? tpu_lower_vpad(&v, array, dtype, out, r->err) : status;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

typedef struct vpad_search {
  const tesela_layout *layout;
  int64_t first;         /* the place of element 0 */
  int64_t packing, size; /* elements in 32 bits, and in a register */
  tpu_vpad v;
  tesela_xla_shape array; /* of the text */
  int64_t reached;        /* of all texts: the number of the first element that differs; -1: no text */
  int64_t index[TESELA_MAX_RANK];
} vpad_search;

/* A dim of the registers' array. */
typedef struct vpad_grid {
  int32_t dim;
  int64_t slice, offset; /* elements of a register along it, those before element 0 */
  int64_t count, stride; /* registers, 0: not known, -1: not those of registers */
} vpad_grid;

/* The dims of the array of registers, with the strides that their elements show. */
static void vpad_grids(const vpad_search *s, vpad_grid *grid, int32_t *n) {
  const tpu_vpad *v = &s->v;
  int32_t rank = s->layout->rank, leading = rank - !v->minor - !v->second_minor;
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES];
  *n = 0;
  for (int32_t d = 0; d < leading; d++) grid[(*n)++] = (vpad_grid){.dim = d, .slice = 1};
  if (!v->second_minor && v->offset[0] >= 0)
    grid[(*n)++] = (vpad_grid){.dim = leading, .slice = v->tile[0], .offset = v->offset[0]};
  if (!v->minor && v->offset[1] >= 0)
    grid[(*n)++] = (vpad_grid){.dim = rank - 1, .slice = s->size / v->tile[0], .offset = v->offset[1]};
  for (int32_t k = 0; k < *n; k++) {
    vpad_grid *g = &grid[k];
    int64_t next = g->slice - g->offset, inside = s->first;
    g->count = (g->offset + s->layout->shape[g->dim] - 1) / g->slice + 1;
    if (g->count < 2) continue;
    index[g->dim] = next;
    (void)tesela_layout_place_of(s->layout, index, place, NULL); /* the element exists */
    index[g->dim] = 0;
    if (g->slice > 1 && g->dim == rank - 1 && !v->minor) /* the first lane of the first tile */
      inside -= g->offset / TPU_LANES * v->tile[0] * TPU_LANES + g->offset % TPU_LANES * s->packing;
    else if (g->slice > 1)
      inside -= g->offset / s->packing * TPU_LANES * s->packing + g->offset % s->packing;
    g->stride = (place[0] - inside) / s->size;
    if ((place[0] - inside) % s->size != 0 || g->stride < 1) g->stride = -1;
  }
}

/* Row-major, with padding where the strides need it. False: up to the first element that contradicts. */
static bool vpad_extents(vpad_search *s) {
  vpad_grid grid[TESELA_MAX_RANK];
  int32_t n, below = -1;
  s->array = (tesela_xla_shape){.dtype = s->layout->dtype, .rank = s->layout->rank};
  for (int32_t d = 0; d < s->layout->rank; d++) s->array.dim[d] = s->layout->shape[d];
  vpad_grids(s, grid, &n);
  for (int32_t k = n - 1; k >= 0; k--) {
    vpad_grid *g = &grid[k];
    if (g->count < 2) continue;
    vpad_grid *grown = below >= 0 ? &grid[below] : &grid[n - 1];
    int64_t unit = below >= 0 ? grown->stride : 1, count = g->stride / unit;
    if (g->stride < 0 || g->stride % unit != 0 || (below < 0 && k == n - 1 && count > 1) ||
        (grown != g && count < grown->count))
      return false;
    if (grown != g && count > grown->count)
      s->array.dim[grown->dim] = (count - 1) * grown->slice - grown->offset + 1;
    below = k;
  }
  return true;
}

/* Does the text have the layout's places? Else keeps how far it has. */
static tesela_status vpad_try(vpad_search *s, bool *same, tesela_error *err) {
  tesela_layout text;
  tesela_difference difference;
  int64_t number = 0;
  bool registers = vpad_extents(s);
  *same = false;
  if (tpu_lower_vpad(&s->v, &s->array, s->layout->dtype, &text, NULL) != TESELA_OK) return TESELA_OK;
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < text.rank && status == TESELA_OK; d++)
    if (text.shape[d] > s->layout->shape[d])
      status = tesela_layout_slice(&text, d, 0, s->layout->shape[d], 1, &text, err);
  if (status == TESELA_OK) memcpy(text.axis[0].name, s->layout->axis[0].name, sizeof text.axis[0].name);
  if (status == TESELA_OK) status = tesela_layout_compare(s->layout, &text, &difference, err);
  *same = status == TESELA_OK && registers && difference.same;
  if (status != TESELA_OK || difference.same || !difference.have_index) return status;
  for (int32_t d = 0; d < text.rank; d++) number = number * text.shape[d] + difference.index[d];
  if (number < s->reached) return TESELA_OK;
  s->reached = number;
  memcpy(s->index, difference.index, sizeof s->index);
  return TESELA_OK;
}

static tesela_status vpad_print(const vpad_search *s, const tesela_writer *to, tesela_error *err) {
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__putf(&sink, "#tpu.vpad<\"%" PRId64, s->v.bits);
  for (int k = 0; k < 2; k++) {
    tesela__puts(&sink, k ? "," : ",{");
    if (s->v.offset[k] < 0)
      tesela__putc(&sink, '*');
    else
      tesela__put_int(&sink, s->v.offset[k]);
  }
  tesela__putf(&sink, "},(%" PRId64 ",%" PRId64 ")%s%s\">", s->v.tile[0], s->v.tile[1],
               s->v.second_minor ? ",-2" : "", s->v.minor ? ",-1" : "");
  return tesela__sink_finish(&sink, err);
}

/* The offsets and copies of a number from 0 to 63: 4 tiles, implicit dims, copies. */
static bool vpad_draw(vpad_search *s, int32_t number, int64_t copies) {
  tpu_vpad *v = &s->v;
  int64_t rows = s->packing << (number & 3), inside = s->first;
  *v = (tpu_vpad){.bits = s->layout->bits, .tile = {rows, TPU_LANES}};
  v->minor = number >> 2 & 1;
  v->second_minor = number >> 3 & 1;
  int32_t explicit = 2 - v->minor - v->second_minor, rank = s->layout->rank;
  if (rank < explicit || inside >= s->size) return false;
  v->offset[0] = inside / (TPU_LANES * s->packing) % (rows / s->packing) * s->packing + inside % s->packing;
  v->offset[1] = inside / (rows * TPU_LANES) * TPU_LANES + inside / s->packing % TPU_LANES;
  for (int k = 0; k < 2; k++) {
    bool implicit = k ? v->minor : v->second_minor;
    int32_t dim = k ? rank - 1 : rank - explicit;
    if ((number >> (4 + k) & 1) == 0) continue;
    if (v->offset[k] != 0 || (!implicit && s->layout->shape[dim] != 1)) return false;
    v->offset[k] = -1;
    int64_t slice = k ? s->size / rows : rows;
    if (copies % slice != 0) return false;
    copies /= slice;
  }
  return copies == 1;
}

tesela_status tesela__tpu_write_vpad(const tesela_layout *layout, const tesela_writer *to,
                                     tesela_translation *answer, tesela_error *err) {
  vpad_search s = {.layout = layout, .reached = -1};
  char text[64];
  int64_t zero[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES] = {0}, number = 0;
  if (layout->bits > 32 || (layout->bits & (layout->bits - 1)) != 0) return TESELA_OK;
  tesela_status status = tesela_layout_copy_of(layout, zero, 0, place, err);
  s.first = place[0];
  s.packing = 32 / layout->bits;
  s.size = TPU_SUBLANES * TPU_LANES * s.packing;
  for (int32_t k = 0; k < 64 && status == TESELA_OK && s.first >= 0; k++) {
    bool same;
    int32_t order = k ^ 3; /* the largest tiles first */
    if (!vpad_draw(&s, order, tesela_layout_copies(layout))) continue;
    status = vpad_try(&s, &same, err);
    if (status != TESELA_OK || !same) continue;
    status = tesela__start_answer(layout, answer, err);
    if (status != TESELA_OK) return status;
    for (int32_t d = 0; d < layout->rank; d++) {
      if (s.array.dim[d] != layout->shape[d]) answer->verdict = TESELA_VALID_PART;
      answer->shape[d] = s.array.dim[d];
    }
    return vpad_print(&s, to, err);
  }
  for (int32_t d = 0; d < layout->rank; d++) number = number * layout->shape[d] + answer->index[d];
  if (status != TESELA_OK || (s.reached < number && number > 0)) return status;
  answer->contradiction =
      TESELA_CONTRADICTION_ELEMENT; /* several texts have the elements before; element 0 is at any offset */
  memcpy(answer->index, s.index, sizeof answer->index);
  (void)tesela_layout_place_of(layout, s.index, place, NULL); /* the element exists */
  answer->place = place[0];
  answer->expected = 0;
  return tesela__impossible(answer, "no tiles, and no vector registers: element %s is elsewhere, at %" PRId64,
                            tesela__index_words(s.index, layout->rank, text), place[0]);
}
