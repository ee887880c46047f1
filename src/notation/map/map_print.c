/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_print.c - any layout as index arithmetic: map(d0:3, d1:5) -> memory[24]: 12*(d0/2) + 2*(d0%2) + ...
 */
#include <stdio.h>

#include "layout/layout.h"
#include "notation/map/map.h"

/* Is it a name that the reader takes? */
static bool is_name(const char *name) {
  if (!tesela__byte_is(name[0], TESELA__BYTE_LETTER)) return false;
  for (; *name; name++)
    if (!tesela__byte_is(*name, TESELA__BYTE_NAME)) return false;
  return true;
}

tesela_status tesela__check_axis_names(const tesela_layout *layout, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t a = 0; a < layout->n_axes && status == TESELA_OK; a++) {
    if (!is_name(layout->axis[a].name))
      status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                            "the name of axis %" PRId32 " has bytes other than letters, digits and _", a);
    for (int32_t b = 0; b < a && status == TESELA_OK; b++)
      if (strcmp(layout->axis[a].name, layout->axis[b].name) == 0)
        status =
            tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "two axes have the name %s", layout->axis[a].name);
  }
  return status;
}

/* ---- digits and sums ---- */

static const tesela__spelling map_spelling = {.divide = "/",
                                              .modulo = "%",
                                              .times = "*",
                                              .number_first = true,
                                              .suffix = "",
                                              .dim = 'd',
                                              .exclusive = true,
                                              .places = TESELA__PLACES_BY_NAME};

static void put_number(tesela__sink *sink, const tesela__spelling *sp, const char *before, int64_t number) {
  tesela__putf(sink, "%s%" PRId64 "%s", before, number, sp->suffix);
}

static void put_coordinate(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                           int32_t coordinate) {
  int32_t j = coordinate - layout->rank;
  if (j < 0) {
    tesela__putf(sink, "%c%" PRId32, sp->dim, coordinate);
  } else if (!sp->sums_inside) {
    tesela__putf(sink, "s%" PRId32, j);
  } else {
    tesela__putc(sink, '(');
    tesela__put_sum(sink, sp, layout, layout->n_axes + j, layout->join[j].offset);
    tesela__putc(sink, ')');
  }
}

/* "d0%6/2": bits from .. from + n - 1 of digit i; n < 0: all from `from` on. */
static void put_digit(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout, int32_t i,
                      int32_t from, int32_t n) {
  const tesela_digit *digit = &layout->digit[i];
  tesela__chain chain = tesela__chain_of(layout, digit->source);
  int64_t step = digit->step << from,
          cut = n >= 0 && (digit->extent - 1) >> from >> n > 0 ? INT64_C(1) << n : 0;
  bool done = false;
  put_coordinate(sink, sp, layout, digit->source);
  for (int32_t k = chain.first; k < i && !done;
       k++) { /* of moduli that divide each other the last one counts */
    int64_t before = layout->digit[k].step;
    bool last = k + 1 == i, divides = !last && before % layout->digit[k + 1].step == 0;
    done = last && before % step == 0;
    if (done && step > 1) put_number(sink, sp, sp->divide, step);
    if (done && cut > 0 && before / step % cut == 0)
      before = step * cut;
    else if (done && cut > 0)
      done = false;
    if (done)
      put_number(sink, sp, sp->modulo, before / step);
    else if (last && before % step == 0)
      put_number(sink, sp, sp->modulo, before / step), put_number(sink, sp, sp->modulo, cut), done = true;
    else if (!divides)
      put_number(sink, sp, sp->modulo, before);
  }
  if (done) return;
  if (step > 1) put_number(sink, sp, sp->divide, step);
  if (cut > 0) put_number(sink, sp, sp->modulo, cut);
}

static uint64_t print_size(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* "12*" or " * 12", with parentheses for what is between. */
static void put_factor(tesela__sink *sink, const tesela__spelling *sp, uint64_t size, bool bare,
                       bool before) {
  if (size == 1) return;
  if (before && sp->number_first) tesela__putf(sink, "%" PRIu64 "%s%s", size, sp->suffix, sp->times);
  if (!bare) tesela__putc(sink, before ? '(' : ')');
  if (!before && !sp->number_first) tesela__putf(sink, "%s%" PRIu64 "%s", sp->times, size, sp->suffix);
}

static void put_term(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout, int32_t i,
                     bool first, int32_t *copy) {
  const tesela_digit *digit = &layout->digit[i];
  bool bare = digit->source == TESELA_REPLICA ||
              (digit->step == 1 && i == tesela__chain_of(layout, digit->source).first);
  uint64_t size = print_size(digit->stride);
  tesela__puts(sink, first ? digit->stride < 0 ? "-" : "" : digit->stride < 0 ? " - " : " + ");
  put_factor(sink, sp, size, bare, true);
  if (digit->source == TESELA_REPLICA)
    tesela__putf(sink, "r%" PRId32, (*copy)++);
  else
    put_digit(sink, sp, layout, i, 0, -1);
  put_factor(sink, sp, size, bare, false);
}

/* Replicas are counted over all axes. */
void tesela__put_sum(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                     int32_t target, int64_t offset) {
  bool first = true, offset_first = false;
  int32_t copy = 0;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (tesela__target(layout, digit) != target || (digit->stride == 0 && digit->source >= 0)) {
      copy += digit->source == TESELA_REPLICA;
      continue;
    }
    offset_first =
        offset_first || (first && digit->stride < 0 && sp->tight_sign); /* (-x) / 2 is not -(x / 2) */
    if (first && offset_first) put_number(sink, sp, "", offset);
    put_term(sink, sp, layout, i, first && !offset_first, &copy);
    first = false;
  }
  if (offset_first) return;
  if (first)
    put_number(sink, sp, "", offset);
  else if (offset != 0)
    tesela__putf(sink, offset < 0 ? " - %" PRIu64 "%s" : " + %" PRIu64 "%s", print_size(offset), sp->suffix);
}

int64_t tesela__sum_terms(const tesela_layout *layout, int32_t target) {
  int64_t terms[TESELA_MAX_AXES + TESELA_MAX_JOINS] = {0};
  for (int32_t k = 0; k < layout->n_axes + layout->n_joins;
       k++) { /* sums use those before them; axes come last */
    int32_t t = k < layout->n_joins ? layout->n_axes + k : k - layout->n_joins;
    for (int32_t i = 0; i < layout->n_active; i++) {
      const tesela_digit *digit = &layout->digit[i];
      if (tesela__target(layout, digit) != t) continue;
      int64_t more = digit->source >= layout->rank ? terms[layout->n_axes + digit->source - layout->rank] : 0;
      terms[t] = tesela__min(terms[t] + more + 1, INT64_C(1) << 40);
    }
  }
  return terms[target];
}

/* ---- bits ---- */

/* Does bit `from` of axis a flip bit `to` of axis b? */
static bool flips(const tesela_layout *layout, int32_t a, int32_t from, int32_t b, int32_t to) {
  const tesela_bit_matrix *m = &layout->swizzle;
  int32_t k = from, l = to;
  if (from < 0 || to < 0 || from >= m->width[a] || to >= m->width[b]) return false;
  for (int32_t c = 0; c < a; c++) k += m->width[c];
  for (int32_t c = 0; c < b; c++) l += m->width[c];
  return ((m->image[k] ^ (uint64_t)1 << k) >> l & 1) != 0;
}

bool tesela__axis_flips_axis(const tesela_layout *layout, int32_t a, int32_t b) {
  for (int32_t k = 0; k < layout->swizzle.width[a]; k++)
    for (int32_t l = 0; l < layout->swizzle.width[b]; l++)
      if (flips(layout, a, k, b, l)) return true;
  return false;
}

bool tesela__axis_flips(const tesela_layout *layout, int32_t axis) {
  bool flipped = false;
  for (int32_t a = 0; a < layout->n_axes; a++) flipped = flipped || tesela__axis_flips_axis(layout, a, axis);
  return flipped;
}

/* Is some bit of the places on an axis not a bit of one digit? */
static bool axis_is_mixed(const tesela_layout *layout, int32_t axis) {
  int32_t digit, of;
  for (int32_t k = 0; k < 62; k++)
    if (tesela__bit_of_place(layout, axis, k, &digit, &of) == TESELA__BIT_MIXED) return true;
  return false;
}

/* The place on an axis, before the bit matrix. */
static void put_place(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                      int32_t axis) {
  if (sp->places == TESELA__PLACES_BY_NAME) tesela__puts(sink, layout->axis[axis].name);
  if (sp->places == TESELA__PLACES_BY_NUMBER) tesela__putf(sink, "p%" PRId32, axis);
  if (sp->places != TESELA__PLACES_INSIDE) return;
  tesela__putc(sink, '(');
  tesela__put_sum(sink, sp, layout, axis, layout->axis[axis].offset);
  tesela__putc(sink, ')');
}

/* The bits from .. from + n - 1 of that place, times `weight`, as terms after *lead, which becomes `next`. */
static void put_bits(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                     int32_t axis, int32_t from, int32_t n, uint64_t weight, const char **lead,
                     const char *next) {
  bool whole = sp->places != TESELA__PLACES_INSIDE || axis_is_mixed(layout, axis);
  for (int32_t done = 0, run; done < n; done += run, weight <<= run) {
    int32_t digit = 0, of = 0, d, o;
    run = whole ? n : 1;
    if (!whole && tesela__bit_of_place(layout, axis, from + done, &digit, &of) == TESELA__BIT_ZERO) continue;
    while (!whole && done + run < n &&
           tesela__bit_of_place(layout, axis, from + done + run, &d, &o) == TESELA__BIT_DIGIT && d == digit &&
           o == of + run)
      run++;
    tesela__puts(sink, *lead);
    *lead = next;
    const tesela_digit *of_run = &layout->digit[digit];
    bool bare = !whole && of + of_run->step == 1 && (of_run->extent - 1) >> run == 0 && of_run->source >= 0 &&
                tesela__chain_of(layout, of_run->source).first == digit;
    put_factor(sink, sp, weight, bare, true);
    if (whole) {
      put_place(sink, sp, layout, axis);
      if (from > 0 || !sp->exclusive) /* "/1" makes clear that it is not a sum of bits */
        put_number(sink, sp, sp->divide, INT64_C(1) << from);
      if (from + n < 62) put_number(sink, sp, sp->modulo, INT64_C(1) << n);
    } else if (layout->digit[digit].source == TESELA_REPLICA) {
      put_place(sink, sp, layout, axis);
    } else {
      put_digit(sink, sp, layout, digit, of, run);
    }
    put_factor(sink, sp, weight, bare, false);
  }
}

/* "memory ^= 8*(memory/64%8)": what flips bits of axis b, a run of neighbouring bits at a time. */
static void put_flips(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout, int32_t b,
                      const char *lead) {
  for (int32_t a = 0; a < layout->n_axes; a++)
    for (int32_t shift = -61; shift < 62; shift++) /* bit k flips bit k - shift */
      for (int32_t k = 0, n; k < layout->swizzle.width[a]; k += n) {
        for (n = 0; flips(layout, a, k + n, b, k + n - shift);) n++;
        if (n > 0) put_bits(sink, sp, layout, a, k, n, (uint64_t)1 << (k - shift), &lead, " ^ ");
        if (n == 0) n = 1;
      }
}

/* The place with its flips, without XOR: a bit that is flipped is the remainder by 2 of a sum of bits. */
static void put_parities(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                         int32_t b) {
  const char *lead = "";
  for (int32_t l = 0, run; l < 62; l += run) {
    bool flipped = false;
    run = 0;
    while (l + run < 62 && !flipped) {
      for (int32_t a = 0; a < layout->n_axes; a++)
        for (int32_t k = 0; k < layout->swizzle.width[a]; k++)
          flipped = flipped || flips(layout, a, k, b, l + run);
      run += !flipped;
    }
    if (run > 0) put_bits(sink, sp, layout, b, l, run, (uint64_t)1 << l, &lead, " + ");
    if (!flipped) continue;
    const char *inner = "";
    int32_t bit = l + run++;
    tesela__puts(sink, lead);
    lead = " + ";
    put_factor(sink, sp, (uint64_t)1 << bit, false, true);
    tesela__putc(sink, '(');
    if (!flips(layout, b, bit, b, bit)) put_bits(sink, sp, layout, b, bit, 1, 1, &inner, " + ");
    for (int32_t a = 0; a < layout->n_axes; a++)
      for (int32_t k = 0; k < layout->swizzle.width[a]; k++)
        if ((a != b || k != bit) && flips(layout, a, k, b, bit))
          put_bits(sink, sp, layout, a, k, 1, 1, &inner, " + ");
    if (!*inner) tesela__putc(sink, '0');
    tesela__putc(sink, ')');
    put_number(sink, sp, sp->modulo, 2);
    put_factor(sink, sp, (uint64_t)1 << bit, false, false);
  }
  if (!*lead) tesela__putc(sink, '0');
}

void tesela__put_place_on(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                          int32_t axis) {
  bool flipped = tesela__axis_flips(layout, axis);
  if (flipped && !sp->exclusive) {
    put_parities(sink, sp, layout, axis);
  } else if (flipped) {
    put_place(sink, sp, layout, axis);
    put_flips(sink, sp, layout, axis, " ^ ");
  } else if (sp->places == TESELA__PLACES_BY_NUMBER) {
    put_place(sink, sp, layout, axis);
  } else {
    tesela__put_sum(sink, sp, layout, axis, layout->axis[axis].offset);
  }
}

void tesela__put_digit(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                       int32_t i) {
  put_digit(sink, sp, layout, i, 0, -1);
}

/* ---- map ---- */

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
tesela_status tesela_map_print(const tesela_layout *layout, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela_layout form;
  tesela__sink sink;
  int32_t copies = 0;
  tesela_status status = tesela_layout_canonical(layout, &form, err);
  if (status == TESELA_OK) status = tesela__check_axis_names(layout, err);
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
    tesela__put_sum(&sink, &map_spelling, &form, form.n_axes + j, form.join[j].offset);
  }
  tesela__puts(&sink, ")");
  put_type(&sink, &form);
  tesela__puts(&sink, " ->");
  for (int32_t a = 0; a < form.n_axes; a++) {
    tesela__putf(&sink, "%s %s[%" PRId64 "]: ", a ? ";" : "", form.axis[a].name, form.axis[a].extent);
    tesela__put_sum(&sink, &map_spelling, &form, a, form.axis[a].offset);
  }
  for (int32_t b = 0; b < form.n_axes; b++) {
    char lead[TESELA_AXIS_NAME + 8];
    (void)snprintf(lead, sizeof lead, "; %s ^= ", form.axis[b].name);
    put_flips(&sink, &map_spelling, &form, b, lead);
  }
  return tesela__sink_finish(&sink, err);
}
