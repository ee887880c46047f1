/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_print.c - any layout as index arithmetic: map(d0:3, d1:5) -> memory[24]: 12*(d0/2) + 2*(d0%2) + ...
 */
#include "layout/layout.h"
#include "notation/map/map.h"

/* Is it a name that the reader takes? */
static bool is_name(const char *name) {
  if (!tesela__byte_is(name[0], TESELA__BYTE_LETTER)) return false;
  for (; *name; name++)
    if (!tesela__byte_is(*name, TESELA__BYTE_NAME)) return false;
  return true;
}

static void put_coordinate(tesela__sink *sink, const tesela_layout *layout, int32_t coordinate) {
  bool dim = coordinate < layout->rank;
  tesela__putf(sink, "%c%" PRId32, dim ? 'd' : 's', dim ? coordinate : coordinate - layout->rank);
}

/* "d0%6/2": digit i of the layout, whose coordinate has digits first .. i before it. */
static void put_digit(tesela__sink *sink, const tesela_layout *layout, int32_t i) {
  const tesela_digit *digit = &layout->digit[i];
  tesela__chain chain = tesela__chain_of(layout, digit->source);
  put_coordinate(sink, layout, digit->source);
  for (int32_t k = chain.first; k < i; k++) { /* of moduli that divide each other the last one counts */
    int64_t step = layout->digit[k].step;
    bool last = k + 1 == i, divides = !last && step % layout->digit[k + 1].step == 0;
    if (last && step % digit->step == 0 && digit->step > 1)
      tesela__putf(sink, "/%" PRId64 "%%%" PRId64, digit->step, step / digit->step);
    else if (!divides)
      tesela__putf(sink, "%%%" PRId64, step);
    if (last && step % digit->step == 0) return;
  }
  if (digit->step > 1) tesela__putf(sink, "/%" PRId64, digit->step);
}

static void put_term(tesela__sink *sink, const tesela_layout *layout, int32_t i, bool first, int32_t *copy) {
  const tesela_digit *digit = &layout->digit[i];
  bool bare = digit->source == TESELA_REPLICA ||
              (digit->step == 1 && i == tesela__chain_of(layout, digit->source).first);
  uint64_t size = digit->stride < 0 ? 0 - (uint64_t)digit->stride : (uint64_t)digit->stride;
  tesela__puts(sink, first ? digit->stride < 0 ? "-" : "" : digit->stride < 0 ? " - " : " + ");
  if (size != 1) tesela__putf(sink, "%" PRIu64 "*%s", size, bare ? "" : "(");
  if (digit->source == TESELA_REPLICA)
    tesela__putf(sink, "r%" PRId32, (*copy)++);
  else
    put_digit(sink, layout, i);
  if (size != 1 && !bare) tesela__putc(sink, ')');
}

/* The offset and the digits of an axis or a join. Replicas are counted over all axes. */
static void put_sum(tesela__sink *sink, const tesela_layout *layout, int32_t target, int64_t offset) {
  bool first = true;
  int32_t copy = 0;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (tesela__target(layout, digit) != target || (digit->stride == 0 && digit->source >= 0)) {
      copy += digit->source == TESELA_REPLICA;
      continue;
    }
    put_term(sink, layout, i, first, &copy);
    first = false;
  }
  if (first)
    tesela__put_int(sink, offset);
  else if (offset != 0)
    tesela__putf(sink, offset < 0 ? " - %" PRIu64 : " + %" PRIu64,
                 offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset);
}

static void put_type(tesela__sink *sink, const tesela_layout *layout) {
  const char *name = tesela_dtype_name(layout->dtype);
  if (name && layout->bits == 8 * tesela_dtype_bytes(layout->dtype))
    tesela__putf(sink, " of %s", name);
  else if (name)
    tesela__putf(sink, " of %s in %" PRId32 " bits", name, layout->bits);
  else if (layout->bits != 8)
    tesela__putf(sink, " of %" PRId32 " bits", layout->bits);
}

/* ---- the matrix of bits ---- */

/* Is bit `to` of axis b flipped by bit `from` of axis a? */
static bool flips(const tesela_layout *layout, int32_t a, int32_t from, int32_t b, int32_t to) {
  const tesela_bit_matrix *m = &layout->swizzle;
  int32_t k = from, l = to;
  if (from < 0 || to < 0 || from >= m->width[a] || to >= m->width[b]) return false;
  for (int32_t c = 0; c < a; c++) k += m->width[c];
  for (int32_t c = 0; c < b; c++) l += m->width[c];
  return ((m->image[k] ^ (uint64_t)1 << k) >> l & 1) != 0;
}

/* "memory ^= 8*(memory/64%8)": what flips bits of axis b, a run of neighbouring bits at a time. */
static void put_stage(tesela__sink *sink, const tesela_layout *layout, int32_t b) {
  bool first = true;
  for (int32_t a = 0; a < layout->n_axes; a++)
    for (int32_t shift = -61; shift < 62; shift++) /* bit k flips bit k - shift */
      for (int32_t k = 0, n; k < layout->swizzle.width[a]; k += n) {
        for (n = 0; flips(layout, a, k + n, b, k + n - shift);) n++;
        if (n > 0) {
          tesela__putf(sink, first ? "; %s ^= " : " ^ ", layout->axis[b].name);
          if (k > shift) tesela__putf(sink, "%" PRId64 "*(", INT64_C(1) << (k - shift));
          tesela__puts(sink, layout->axis[a].name);
          if (k > 0) tesela__putf(sink, "/%" PRId64, INT64_C(1) << k);
          tesela__putf(sink, k > shift ? "%%%" PRId64 ")" : "%%%" PRId64, INT64_C(1) << n);
          first = false;
        }
        if (n == 0) n = 1;
      }
}

tesela_status tesela_map_print(const tesela_layout *layout, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela_layout form;
  tesela__sink sink;
  int32_t copies = 0;
  tesela_status status = tesela_layout_canonical(layout, &form, err);
  for (int32_t a = 0; a < layout->n_axes && status == TESELA_OK; a++) {
    if (!is_name(layout->axis[a].name))
      status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                            "the name of axis %" PRId32 " has bytes other than letters, digits and _", a);
    for (int32_t b = 0; b < a && status == TESELA_OK; b++)
      if (strcmp(layout->axis[a].name, layout->axis[b].name) == 0)
        status =
            tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "two axes have the name %s", layout->axis[a].name);
  }
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "map(");
  for (int32_t d = 0; d < form.rank; d++)
    tesela__putf(&sink, "%sd%" PRId32 ":%" PRId64, d ? ", " : "", d, form.shape[d]);
  for (int32_t i = 0; i < form.n_active; i++)
    if (form.digit[i].source == TESELA_REPLICA) {
      tesela__putf(&sink, "%sr%" PRId32 ":%" PRId64, copies ? ", " : "; copies ", copies,
                   form.digit[i].extent);
      copies++;
    }
  for (int32_t j = 0; j < form.n_joins; j++) {
    tesela__putf(&sink, "; s%" PRId32 " = ", j);
    put_sum(&sink, &form, form.n_axes + j, form.join[j].offset);
  }
  tesela__puts(&sink, ")");
  put_type(&sink, &form);
  tesela__puts(&sink, " ->");
  for (int32_t a = 0; a < form.n_axes; a++) {
    tesela__putf(&sink, "%s %s[%" PRId64 "]: ", a ? ";" : "", form.axis[a].name, form.axis[a].extent);
    put_sum(&sink, &form, a, form.axis[a].offset);
  }
  for (int32_t b = 0; b < form.n_axes; b++) put_stage(&sink, &form, b);
  return tesela__sink_finish(&sink, err);
}
