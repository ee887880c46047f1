/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_relayout_text.c - layouts to and from texts of digits; see support_relayout.h.
 */
#include <stdarg.h>

#include "support_relayout.h"

/* ---- layout to text ------------------------------------------------------------------------------------ */

typedef struct out_text {
  char *text;
  size_t room, length;
} out_text;

__attribute__((format(printf, 2, 3))) static void say(out_text *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (out->length < out->room) {
    int n = vsnprintf(out->text + out->length, out->room - out->length, format, arguments);
    if (n > 0) out->length += (size_t)n;
  }
  va_end(arguments);
}

static void say_digit(out_text *out, const tesela_layout *layout, const tesela_digit *digit, char mark) {
  if (digit->source == TESELA_REPLICA)
    say(out, " r%" PRId64, digit->extent);
  else if (digit->source == TESELA_HOLE)
    say(out, " h%" PRId64, digit->extent);
  else if (digit->source >= layout->rank)
    say(out, " j%d/%" PRId64 "(%" PRId64 ")", digit->source - layout->rank, digit->step, digit->extent);
  else
    say(out, " %d/%" PRId64 "(%" PRId64 ")", digit->source, digit->step, digit->extent);
  say(out, "%c%" PRId64, mark, digit->stride);
}

static void say_layout(out_text *out, const char *name, const tesela_layout *layout) {
  const char *dtype = tesela_dtype_name(layout->dtype);
  say(out, "\n  %s %s %d bits:", name, dtype ? dtype : "no type", layout->bits);
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->axis == 0) say_digit(out, layout, digit, '@');
  }
  say(out, " +%" PRId64 " =%" PRId64, layout->axis[0].offset, layout->axis[0].extent);
  for (int32_t j = 0; j < layout->n_joins; j++) {
    say(out, "; j%d:", j);
    for (int32_t i = 0; i < layout->n_active; i++)
      if (layout->digit[i].join == j) say_digit(out, layout, &layout->digit[i], '*');
  }
  for (int32_t k = 0; k < layout->swizzle.n; k++)
    if (layout->swizzle.moved >> k & 1) say(out, "; bit %d -> %" PRIx64, (int)k, layout->swizzle.image[k]);
}

void pair_text(const pair *p, char text[PAIR_TEXT]) {
  static const char *const fills[] = {"zero", "leave", "value"};
  static const char *const transforms[] = {"none", "swap", "convert", "split", "merge"};
  out_text out = {text, PAIR_TEXT, 0};
  say(&out, "[");
  for (int32_t d = 0; d < p->dst.rank; d++) say(&out, "%s%" PRId64, d ? "," : "", p->dst.shape[d]);
  say(&out, "] fill %s, transform %s", fills[p->fill], transforms[p->transform]);
  say_layout(&out, "dst", &p->dst);
  say_layout(&out, "src", &p->src);
}

void trial_text(const trial *t, char text[PAIR_TEXT]) {
  out_text out = {text, PAIR_TEXT, 0};
  const tesela_plan_options *o = &t->options;
  say(&out, "shuffle %" PRIu64 ", threads %d, isa %s, solver %s, memory %" PRId64, o->shuffle, o->threads,
      tesela_isa_name(o->isa), tesela_solver_name(o->solver), o->memory_bytes);
  if (t->at_end)
    say(&out, "; buffers end at a page");
  else
    say(&out, "; buffers at page + %d (dst), + %d (src)", t->dst_shift, t->src_shift);
  if (t->executor) say(&out, "; executor");
}

/* ---- text to layout ------------------------------------------------------------------------------------ */

enum { MOST_TOKENS = 64 };

typedef struct token {
  int32_t source; /* dim, TESELA_REPLICA or TESELA_HOLE */
  int64_t step, extent, stride;
  bool has_extent, has_stride;
  int32_t digit;
} token;

/* A number after `mark`, if the text continues with it. */
static bool read_after(const char **at, char mark, int64_t *x) {
  char *end;
  if (**at != mark) return false;
  *x = strtoll(*at + 1, &end, 10);
  *at = end;
  if (mark == '(' && **at == ')') ++*at;
  return true;
}

static bool read_token(const char **at, token *t) {
  *t = (token){.step = 1, .digit = -1};
  int64_t dim;
  if (**at == 'r' || **at == 'h') {
    t->source = **at == 'r' ? TESELA_REPLICA : TESELA_HOLE;
    t->has_extent = read_after(at, **at, &t->extent);
  } else if (**at >= '0' && **at <= '9') {
    char *end;
    dim = strtoll(*at, &end, 10);
    *at = end;
    t->source = (int32_t)dim;
    (void)read_after(at, '/', &t->step);
    t->has_extent = read_after(at, '(', &t->extent);
  } else {
    return false;
  }
  t->has_stride = read_after(at, '@', &t->stride);
  return **at == ' ' || **at == '\0';
}

/* Split the digit of a token off its dim. *rest is the low rest, for the next smaller step. */
static bool cut(tesela_layout *layout, token *t, int32_t *rest) {
  t->digit = *rest;
  if (t->step > 1 && tesela_layout_split(layout, t->digit, t->step, rest, NULL) != TESELA_OK) return false;
  if (!t->has_extent || t->extent <= layout->digit[t->digit].extent) return true;
  int32_t nothing = t->digit; /* more padding than the splits imply */
  return tesela_layout_split(layout, nothing, t->extent, &t->digit, NULL) == TESELA_OK &&
         tesela_layout_place(layout, nothing, 0, 0, NULL) == TESELA_OK;
}

static bool cut_dim(tesela_layout *layout, int32_t dim, token *tokens, int n) {
  int32_t rest = dim;
  for (;;) {
    token *largest = NULL;
    for (int i = 0; i < n; i++)
      if (tokens[i].source == dim && tokens[i].digit < 0 && (!largest || tokens[i].step > largest->step))
        largest = &tokens[i];
    if (!largest) break;
    if (!cut(layout, largest, &rest)) return false;
    if (largest->step == 1) return true;
  }
  return tesela_layout_place(layout, rest, 0, 0, NULL) ==
         TESELA_OK; /* without a token: broadcast, or of extent 1 */
}

static bool place_tokens(tesela_layout *layout, token *tokens, int n) {
  int64_t stride = 1;
  for (int i = n - 1; i >= 0; i--) {
    if (tokens[i].source < 0 && tesela_layout_add_digit(layout, tokens[i].source, tokens[i].extent,
                                                        &tokens[i].digit, NULL) != TESELA_OK)
      return false;
    if (tokens[i].has_stride) stride = tokens[i].stride;
    int64_t extent = layout->digit[tokens[i].digit].extent;
    if (tesela_layout_place(layout, tokens[i].digit, 0, stride, NULL) != TESELA_OK) return false;
    stride *= extent > 0 ? extent : 1;
  }
  return true;
}

static bool parse_digits(tesela_layout *layout, const char *text) {
  token tokens[MOST_TOKENS];
  int n = 0;
  int64_t offset = 0, extent = -1;
  for (const char *at = text; *at;) {
    if (*at == ' ')
      at++;
    else if (!read_after(&at, '+', &offset) && !read_after(&at, '=', &extent) &&
             (n == MOST_TOKENS || !read_token(&at, &tokens[n++])))
      return false;
  }
  for (int i = 0; i < n; i++)
    if (tokens[i].source >= layout->rank) return false;
  for (int32_t d = 0; d < layout->rank; d++)
    if (!cut_dim(layout, d, tokens, n)) return false;
  return place_tokens(layout, tokens, n) &&
         tesela_layout_set_axis(layout, 0, offset, extent, NULL) == TESELA_OK;
}

bool layout_of_digits(tesela_layout *layout, tesela_dtype dtype, int32_t bits, int32_t rank,
                      const int64_t *shape, const char *text) {
  int32_t axis;
  tesela_error err = {.message = "it cannot be read"};
  if (tesela_layout_begin(layout, dtype, bits, rank, shape, &err) == TESELA_OK &&
      tesela_layout_add_axis(layout, "memory", &axis, &err) == TESELA_OK && parse_digits(layout, text) &&
      tesela_layout_finish(layout, &err) == TESELA_OK)
    return true;
  fprintf(stderr, "digits \"%s\": %s\n", text, err.message);
  return false;
}
