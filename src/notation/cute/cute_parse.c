/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_parse.c - reads CuTe layouts, in the spellings of C++ and Python.
 *
 *   ((2,2),(4,2)):((4,16),(1,8))           Layout<Shape<_4,_8>,Stride<_8,_1>>        make_layout(make_shape(4,8))
 *   Sw<3,3,3> o 0 o (8,64):(64,1)          ComposedLayout<Swizzle<3,3,3>,_0,Layout<..>>
 *
 * Tuples are read with a list of the brackets that are open, so depth costs no stack.
 */
#include "base/reader.h"
#include "cute/cute_value.h"

/* A text that is being read. */
typedef struct cute_text {
  tesela__reader reader;
  tesela_cute *cute;
  char closing[TESELA_CUTE_LEAVES]; /* of the open brackets */
  int32_t depth;
} cute_text;

/* Take a name, after "cute::" or not. */
static bool cute_take_name(tesela__reader *r, const char *name) {
  size_t start = r->at;
  if (tesela__read_take_text(r, "cute") && !tesela__read_take_text(r, "::")) r->at = start;
  if (tesela__read_take_text(r, name)) return true;
  r->at = start;
  return false;
}

/* Take one of the names, and the bracket after it: '<' or '('. Returns the bracket that closes it; 0: none of them is next. */
static char cute_take_call(tesela__reader *r, const char *const *names) {
  size_t start = r->at;
  for (; *names; names++)
    if (cute_take_name(r, *names)) {
      if (tesela__read_take(r, '<')) return '>';
      if (tesela__read_take(r, '(')) return ')';
      r->at = start;
    }
  return '\0';
}

/* "{}" after a type makes a value of it. */
static tesela_status cute_value_of(tesela__reader *r) {
  return tesela__read_take(r, '{') ? tesela__read_expect(r, '}', "") : TESELA_OK;
}

/* ---- numbers ---- */

/* 4, _4, _4{}, Int<4>, Int<4>{}. */
static tesela_status cute_number(tesela__reader *r, const char *what, int64_t *value) {
  static const char *const integers[] = {"Int", "C", NULL};
  tesela_status status;
  if (tesela__read_peek(r) == '?')
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at, "'?' is known only at run time; expected %s",
                             what);
  char close = cute_take_call(r, integers);
  bool marked = !close && tesela__read_take(r, '_');
  if (marked && !tesela__read_integer_next(r)) {
    r->at--;
    return tesela__read_unexpected(r, what, "");
  }
  status = tesela__read_any_integer(r, what, TESELA_E_OVERFLOW, value);
  if (status == TESELA_OK && close) status = tesela__read_expect(r, close, "");
  return status == TESELA_OK && (close || marked) ? cute_value_of(r) : status;
}

static tesela_status cute_extent(cute_text *t, int32_t i) {
  (void)tesela__read_peek(&t->reader);
  size_t at = t->reader.at;
  tesela_status status = cute_number(&t->reader, "an extent", &t->cute->extent[i]);
  if (status == TESELA_OK && t->cute->extent[i] < 1)
    status = tesela__read_fail(&t->reader, TESELA_E_RANGE, at, "an extent is %" PRId64 "; expected 1 or more",
                               t->cute->extent[i]);
  return status;
}

/* 4, -4, 2@1@0; ScaledBasis<2,1,0>, E<1,0>. */
static tesela_status cute_stride(cute_text *t, int32_t i) {
  static const char *const bases[] = {"ScaledBasis", "E", NULL};
  tesela__reader *r = &t->reader;
  tesela_cute *cute = t->cute;
  int64_t number = 1;
  (void)tesela__read_peek(r);
  bool unit = r->at < r->length && r->text[r->at] == 'E';
  char close = cute_take_call(r, bases), before = close ? ',' : '@';
  tesela_status status = unit && close ? TESELA_OK : cute_number(r, "a stride", &cute->stride[i]);
  if (unit && close) cute->stride[i] = 1;
  cute->n_path[i] = 0;
  for (bool first = unit && close; status == TESELA_OK && (first || tesela__read_take(r, before));
       first = false) {
    if (cute->n_path[i] == TESELA_CUTE_PATH)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d numbers in the path of a stride",
                               TESELA_CUTE_PATH);
    status = tesela__read_integer(r, "the mode of a basis", 0, UINT8_MAX, &number);
    cute->path[i][cute->n_path[i]++] = (uint8_t)number;
  }
  if (close) { /* C++ lists the outermost mode first */
    for (int32_t k = 0; k < cute->n_path[i] / 2; k++) {
      uint8_t *path = cute->path[i], swap = path[k];
      path[k] = path[cute->n_path[i] - 1 - k];
      path[cute->n_path[i] - 1 - k] = swap;
    }
    if (status == TESELA_OK) status = tesela__read_expect(r, close, "");
    if (status == TESELA_OK) status = cute_value_of(r);
  }
  return status;
}

/* ---- tuples ---- */

/* Read brackets that open. */
static tesela_status cute_open(cute_text *t, bool strides, int32_t *opened) {
  static const char *const shape[] = {"Shape", "make_shape", "make_tuple", "tuple", NULL};
  static const char *const stride[] = {"Stride", "make_stride", "make_tuple", "tuple", NULL};
  tesela__reader *r = &t->reader;
  for (*opened = 0;; ++*opened) {
    (void)tesela__read_peek(r);
    size_t at = r->at;
    char close = tesela__read_take(r, '(') ? ')' : cute_take_call(r, strides ? stride : shape);
    if (!close) return TESELA_OK;
    if (t->depth == TESELA_CUTE_LEAVES)
      return tesela__read_fail(r, TESELA_E_LIMIT, at, "more than %d open brackets", TESELA_CUTE_LEAVES);
    t->closing[t->depth++] = close;
  }
}

/* After a leaf: brackets that close, and the comma before the next leaf. */
static tesela_status cute_close(cute_text *t, int32_t *closed) {
  tesela__reader *r = &t->reader;
  bool comma = false;
  tesela_status status = TESELA_OK;
  for (*closed = 0; t->depth > 0 && status == TESELA_OK;) {
    char close = t->closing[t->depth - 1];
    if (tesela__read_take(r, close)) {
      t->depth--;
      ++*closed;
      comma = false;
      if (close == '>' || tesela__read_peek(r) == '{') status = cute_value_of(r);
    } else if (comma) {
      return TESELA_OK;
    } else if (!(comma = tesela__read_take(r, ','))) {
      const char expected[] = {'\'', ',', '\'', ' ', 'o', 'r', ' ', '\'', close, '\'', '\0'};
      return tesela__read_unexpected(r, expected, "");
    }
  }
  return status;
}

static tesela_status cute_brackets_differ(const tesela__reader *r, size_t at) {
  return tesela__read_fail(r, TESELA_E_SYNTAX, at,
                           "expected one stride for each extent, in the same brackets as the extents");
}

/* The extents, or the strides of extents that are known. */
static tesela_status cute_tuple(cute_text *t, bool strides) {
  tesela__reader *r = &t->reader;
  tesela_cute *cute = t->cute;
  tesela_status status = TESELA_OK;
  int32_t i = 0, opened, closed;
  t->depth = 0;
  do {
    (void)tesela__read_peek(r);
    size_t at = r->at;
    status = cute_open(t, strides, &opened);
    if (status != TESELA_OK) return status;
    if (opened > 0 && tesela__read_peek(r) == t->closing[t->depth - 1]) {
      if (i > 0 || opened > 1)
        return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at - 1, "an empty tuple inside a tuple");
      if (strides && cute->n > 0) return cute_brackets_differ(r, at);
      status = cute_close(t, &closed);
      break;
    }
    if (strides && i == cute->n) return cute_brackets_differ(r, at);
    if (i == TESELA_CUTE_LEAVES)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d extents", TESELA_CUTE_LEAVES);
    status = strides ? cute_stride(t, i) : cute_extent(t, i);
    if (status == TESELA_OK) status = cute_close(t, &closed);
    if (status != TESELA_OK) return status;
    if (strides && (cute->open[i] != opened || cute->close[i] != closed)) return cute_brackets_differ(r, at);
    cute->open[i] = (uint8_t)opened;
    cute->close[i++] = (uint8_t)closed;
  } while (t->depth > 0);
  if (strides && i < cute->n && status == TESELA_OK) return cute_brackets_differ(r, r->at);
  cute->n = i;
  return status;
}

/* Strides without gaps, the first leaf fastest or slowest. */
static tesela_status cute_compact(cute_text *t, bool first_fastest) {
  tesela_cute *cute = t->cute;
  int64_t stride = 1;
  for (int32_t k = 0; k < cute->n; k++) {
    int32_t i = first_fastest ? k : cute->n - 1 - k;
    cute->n_path[i] = 0;
    cute->stride[i] = stride;
    if (!tesela__mul(stride, cute->extent[i], &stride))
      return tesela__fail(t->reader.err, TESELA_E_OVERFLOW, 0,
                          "the size of the layout does not fit in 64 bits");
  }
  return TESELA_OK;
}

/* ---- layouts ---- */

/* LayoutLeft{}, GenRowMajor{}: an order instead of strides. */
static bool cute_take_order(tesela__reader *r, bool *first_fastest) {
  *first_fastest = cute_take_name(r, "LayoutLeft") || cute_take_name(r, "GenColMajor");
  return *first_fastest || cute_take_name(r, "LayoutRight") || cute_take_name(r, "GenRowMajor");
}

/* "extents:strides", "extents", Layout<extents,strides>, make_layout(extents, strides). */
static tesela_status cute_layout(cute_text *t) {
  static const char *const layouts[] = {"Layout", "make_layout", NULL};
  tesela__reader *r = &t->reader;
  char close = cute_take_call(r, layouts);
  bool first_fastest = true;
  tesela_status status = cute_tuple(t, false);
  if (status != TESELA_OK) return status;
  if (!tesela__read_take(r, close ? ',' : ':') || (close && cute_take_order(r, &first_fastest))) {
    status = cute_compact(t, first_fastest);
    if (status == TESELA_OK && close) status = cute_value_of(r);
  } else {
    status = cute_tuple(t, true);
  }
  if (status == TESELA_OK && close) status = tesela__read_expect(r, close, "after the strides");
  return status == TESELA_OK && close ? cute_value_of(r) : status;
}

/* The numbers of Sw<3,3,3>, or SW_3_3_3, after its name. */
static tesela_status cute_swizzle_numbers(tesela__reader *r, char separator, tesela_cute *cute) {
  int64_t number[3];
  tesela_status status = TESELA_OK;
  (void)tesela__read_peek(r);
  size_t at = r->at;
  for (int k = 0; k < 3 && status == TESELA_OK; k++) {
    if (k > 0) status = tesela__read_expect(r, separator, "");
    if (status == TESELA_OK)
      status = tesela__read_integer(r, "a number of the swizzle", k < 2 ? 0 : -62, 62, &number[k]);
  }
  if (status != TESELA_OK || number[0] == 0) return status;
  int64_t shift = number[2] < 0 ? -number[2] : number[2];
  if (shift < number[0] || number[1] + shift + number[0] > 62)
    return tesela__read_fail(r, TESELA_E_RANGE, at,
                             "invalid swizzle; expected |shift| >= bits and base + |shift| + bits <= 62");
  cute->bits = (int32_t)number[0];
  cute->base = (int32_t)number[1];
  cute->shift = (int32_t)number[2];
  return TESELA_OK;
}

/* Sw<3,3,3>, Swizzle<3,3,3>{}, Swizzle(3,3,3), SW_3_3_3; false in *found: something else. */
static tesela_status cute_swizzle(tesela__reader *r, tesela_cute *cute, bool *found) {
  static const char *const names[] = {"Sw", "S", "Swizzle", NULL};
  char close = cute_take_call(r, names);
  *found = true;
  if (close) {
    tesela_status status = cute_swizzle_numbers(r, ',', cute);
    if (status == TESELA_OK) status = tesela__read_expect(r, close, "after the swizzle");
    return status == TESELA_OK ? cute_value_of(r) : status;
  }
  *found = r->length - r->at > 3 && memcmp(r->text + r->at, "SW_", 3) == 0;
  if (!*found) return TESELA_OK;
  r->at += 3;
  r->glue = 0; /* "3_3" is two numbers */
  tesela_status status = cute_swizzle_numbers(r, '_', cute);
  r->glue = TESELA__BYTE_LETTER;
  return status;
}

/* The swizzle counts bytes: of elements of `bits` bits, in elements. */
static tesela_status cute_swizzle_bytes(const tesela__reader *r, size_t at, int64_t bits, tesela_cute *cute) {
  int32_t base = cute->base + 3;
  for (int64_t b = bits; b > 1; b /= 2, base--)
    if (b % 2 != 0)
      return tesela__read_fail(r, TESELA_E_RANGE, at,
                               "an element has %" PRId64 " bits; expected a power of two", bits);
  if (cute->bits == 0) return TESELA_OK;
  if (base < 0)
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, at,
                             "the swizzle moves bytes within elements of %" PRId64 " bits", bits);
  if (base + (cute->shift < 0 ? -cute->shift : cute->shift) + cute->bits > 62)
    return tesela__read_fail(r, TESELA_E_RANGE, at, "the bits of the swizzle exceed 62");
  cute->base = base;
  return TESELA_OK;
}

/* "smem_ptr[16b](0x7f0000000400)", as CUTLASS prints a pointer; *found: the text has one. The address of (unset) is 0. */
static tesela_status cute_pointer(tesela__reader *r, bool *found, int64_t *bits, uint64_t *address) {
  static const char *const names[] = {"smem_ptr", "gmem_ptr", "rmem_ptr", "ptr", NULL};
  *found = false;
  *address = 0;
  for (int i = 0; names[i] && !*found; i++) *found = cute_take_name(r, names[i]);
  if (!*found) return TESELA_OK;
  tesela_status status = tesela__read_expect(r, '[', "after the pointer");
  r->glue = 0;
  if (status == TESELA_OK) status = tesela__read_integer(r, "the bits of an element", 1, 1024, bits);
  r->glue = TESELA__BYTE_LETTER;
  if (status == TESELA_OK && !tesela__read_take_text(r, "b")) status = tesela__read_unexpected(r, "'b'", "");
  if (status == TESELA_OK) status = tesela__read_expect(r, ']', "");
  if (status != TESELA_OK || tesela__read_take_text(r, "(unset)")) return status;
  status = tesela__read_expect(r, '(', "before the address");
  const size_t digits = tesela__read_peek(r) == '0' ? tesela__read_lump(r, r->at) : 0;
  const char *text = r->text + r->at;
  if (status == TESELA_OK && (digits < 3 || digits > 18 || text[1] != 'x'))
    return tesela__read_unexpected(r, "an address, such as 0x7f0000000400, or unset", "");
  for (size_t i = 2; i < digits && status == TESELA_OK; i++) {
    const char *digit = strchr("0123456789abcdef", text[i]);
    if (!digit) return tesela__read_unexpected(r, "hexadecimal digits", "");
    *address = *address * 16 + (uint64_t)(digit - "0123456789abcdef");
  }
  r->at += digits;
  return status == TESELA_OK ? tesela__read_expect(r, ')', "after the address") : status;
}

/* The swizzle moves bits of the address; those of a layout alone if the address is a multiple of its period. */
static tesela_status cute_aligned(const tesela__reader *r, size_t at, const tesela_cute *cute,
                                  uint64_t address) {
  const int32_t shift = cute->shift < 0 ? -cute->shift : cute->shift,
                period = cute->base + shift + cute->bits;
  if (cute->bits == 0 || (address & ((UINT64_C(1) << period) - 1)) == 0) return TESELA_OK;
  return tesela__read_fail(r, TESELA_E_UNSUPPORTED, at,
                           "the address is not a multiple of %" PRIu64
                           " bytes, after which the swizzle repeats, so places depend on it",
                           UINT64_C(1) << period);
}

/* An offset: a number, or a pointer, smem_ptr[16b](unset), smem_ptr_flag_bits<16>. */
static tesela_status cute_offset(tesela__reader *r, tesela_cute *cute, int64_t *offset) {
  static const char *const pointers[] = {"smem_ptr_flag_bits", NULL};
  int64_t bits = 1;
  uint64_t address;
  bool pointer;
  (void)tesela__read_peek(r);
  size_t at = r->at;
  *offset = 0;
  tesela_status status = cute_pointer(r, &pointer, &bits, &address);
  if (status == TESELA_OK && pointer) status = cute_aligned(r, at, cute, address);
  if (status == TESELA_OK && pointer) return cute_swizzle_bytes(r, at, bits, cute);
  if (status != TESELA_OK) return status;
  char close = cute_take_call(r, pointers);
  if (close) {
    status = tesela__read_integer(r, "the bits of an element", 1, 1024, &bits);
    if (status == TESELA_OK) status = tesela__read_expect(r, close, "");
    if (status == TESELA_OK) status = cute_value_of(r);
  } else if (cute_take_name(r, "smem_ptr_flag")) {
    status = cute_value_of(r);
  } else {
    return cute_number(r, "an offset", offset);
  }
  return status == TESELA_OK ? cute_swizzle_bytes(r, at, bits, cute) : status;
}

/* ---- compositions ---- */

/* A o offset o (what was read): A is a layout of one leaf. */
static tesela_status cute_scale(const cute_text *t, int64_t factor) {
  tesela_cute *cute = t->cute;
  bool fits = tesela__mul(cute->offset, factor, &cute->offset);
  for (int32_t i = 0; i < cute->n; i++) fits = fits && tesela__mul(cute->stride[i], factor, &cute->stride[i]);
  return fits ? TESELA_OK
              : tesela__fail(t->reader.err, TESELA_E_OVERFLOW, 0, "the places of the layout exceed 64 bits");
}

/* "_smem_ptr[" of Sw<3,4,3>_smem_ptr[16b](0x400) o .., as CUTLASS prints a tensor. */
static bool cute_is_swizzled_pointer(tesela__reader *r) {
  static const char pointer[] = "_smem_ptr[";
  const size_t n = sizeof pointer - 1;
  return tesela__read_peek(r) == '_' && r->length - r->at >= n && memcmp(r->text + r->at, pointer, n) == 0;
}

/* After a swizzle, or a layout of one leaf: the offset, if there is one, and the layout. `separator`: ',' of a call; 0: "o". */
static tesela_status cute_right_side(cute_text *t, char separator, bool offset) {
  tesela__reader *r = &t->reader;
  tesela_cute *cute = t->cute, parts = *cute;
  size_t start;
  tesela_status status = TESELA_OK;
  if (separator)
    status = tesela__read_expect(r, ',', "");
  else if (cute_is_swizzled_pointer(r))
    r->at++;
  else if (!tesela__read_take_text(r, "o"))
    status = tesela__read_unexpected(r, "'o'", "");
  if (status != TESELA_OK) return status;
  (void)tesela__read_peek(r);
  start = r->at;
  if (offset) {
    status = cute_offset(r, &parts, &parts.offset);
    bool more = separator ? tesela__read_take(r, ',') : tesela__read_take_text(r, "o");
    if (status == TESELA_OK && more) {
      *cute = parts;
    } else if (separator || (status != TESELA_OK && r->at != start)) {
      return status == TESELA_OK ? tesela__read_unexpected(r, "','", "") : status;
    } else { /* Sw<3,3,3> o (8,64):(64,1) */
      r->at = start;
    }
  }
  return cute_layout(t);
}

static tesela_status cute_composition(cute_text *t) {
  static const char *const composed[] = {"ComposedLayout", "make_composed_layout", NULL};
  static const char *const plain[] = {"composition", NULL};
  tesela__reader *r = &t->reader;
  tesela_cute *cute = t->cute;
  bool swizzled = false;
  (void)tesela__read_peek(r);
  char close = cute_take_call(r, composed), direct = close ? '\0' : cute_take_call(r, plain);
  (void)tesela__read_peek(r);
  size_t at = r->at;
  tesela_status status = cute_swizzle(r, cute, &swizzled);
  if (status != TESELA_OK) return status;
  if (!swizzled && !close && !direct) {
    int64_t element;
    uint64_t address;
    bool pointer;
    status = cute_pointer(r, &pointer, &element, &address);
    if (status == TESELA_OK && pointer && !tesela__read_take_text(r, "o"))
      status = tesela__read_unexpected(r, "'o'", "");
    if (status == TESELA_OK) status = cute_layout(t);
    size_t end = r->at;
    if (status != TESELA_OK || !tesela__read_take_text(r, "o")) return status;
    r->at = end;
    if (cute->n != 1 || cute->n_path[0] > 0)
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, at,
                               "the left side of a composition is a layout of several leaves; "
                               "expected a swizzle or one extent and stride");
    int64_t factor = cute->stride[0];
    status = cute_right_side(t, '\0', true);
    return status == TESELA_OK ? cute_scale(t, factor) : status;
  }
  if (!swizzled) return tesela__read_unexpected(r, "a swizzle", ": Swizzle<3,3,3>");
  status = cute_right_side(t, close || direct ? ',' : '\0', !direct);
  if (close == '\0') close = direct;
  if (status == TESELA_OK && close) status = tesela__read_expect(r, close, "after the layout");
  return status == TESELA_OK && close ? cute_value_of(r) : status;
}

tesela_status tesela_cute_parse(tesela_cute *out, const char *text, size_t length, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  tesela_cute cute = {.n = 0};
  cute_text t = {.reader = {.text = text,
                            .length = length,
                            .err = err,
                            .blanks = TESELA__BLANKS_TEXT,
                            .word = TESELA__BYTE_NAME,
                            .glue = TESELA__BYTE_LETTER},
                 .cute = &cute};
  tesela_status status = TESELA_OK;
  if (tesela__read_peek(&t.reader) == '<')
    status = tesela__read_fail(&t.reader, TESELA_E_SYNTAX, t.reader.at,
                               "<...> is a tiler, which CuTe's operations take; expected a layout");
  if (status == TESELA_OK) status = cute_composition(&t);
  if (status == TESELA_OK && tesela__read_peek(&t.reader) >= 0)
    status = tesela__read_unexpected(&t.reader, "the end of the layout", "");
  if (status == TESELA_OK) {
    status = tesela__cute_check(&cute, err);
    if (status != TESELA_OK && err) err->at = 0;
  }
  if (status == TESELA_OK) *out = cute;
  return status;
}
