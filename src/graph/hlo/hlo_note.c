/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_note.c - notes: the attributes of printed nodes that HLO cannot express.
 *
 *   frontend_attributes={tesela="slice start=9,0 step=-3,1"}       a class and its attributes; lists, one number for each dim
 *
 * A note describes the node completely, except for operands, shape and type, which the instruction has. Its keys are the fields
 * of tesela_node_spec. Bytes other than letters, digits and _.-+:@$/ of an opcode are %XX.
 */
#include "graph/hlo/hlo.h"

bool tesela__hlo_has_note(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                          tesela__hlo_span *note) {
  *note = tesela__hlo_frontend(m, in, "tesela");
  return note->n > 0;
}

/* The lists that the keys of a note fill. */
typedef struct note_lists {
  int64_t start[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK], low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK];
  int64_t strides[TESELA_GRAPH_RANK], length[TESELA_GRAPH_RANK], dilation[TESELA_GRAPH_RANK],
      x_dilation[TESELA_GRAPH_RANK];
  int32_t dims[TESELA_GRAPH_RANK], x[TESELA_GRAPH_RANK], y[TESELA_GRAPH_RANK];
  char opcode[TESELA_GRAPH_NAME];
} note_lists;

static bool note_list64(const char *text, tesela__hlo_span rest, int32_t room, int64_t *list) {
  int32_t n = 0;
  while (rest.n > 0) {
    if (n == room || !tesela__hlo_integer(text, tesela__hlo_cut(text, &rest, ','), &list[n++])) return false;
  }
  return true;
}

static bool note_list32(const char *text, tesela__hlo_span rest, int32_t room, int32_t *list, int32_t *n) {
  int64_t value;
  *n = 0;
  while (rest.n > 0) {
    if (*n == room || !tesela__hlo_integer(text, tesela__hlo_cut(text, &rest, ','), &value)) return false;
    if (value < INT32_MIN || value > INT32_MAX) return false;
    list[(*n)++] = (int32_t)value;
  }
  return true;
}

static int note_hex(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool note_opcode(const char *text, tesela__hlo_span word, char *opcode) {
  size_t n = 0;
  for (size_t i = 0; i < word.n; i++) {
    char c = text[word.at + i];
    if (c == '%') {
      if (i + 2 >= word.n) return false;
      int high = note_hex(text[word.at + i + 1]), low = note_hex(text[word.at + i + 2]);
      if (high < 0 || low < 0 || high + low == 0) return false;
      c = (char)(high * 16 + low);
      i += 2;
    }
    if (n + 1 >= TESELA_GRAPH_NAME) return false;
    opcode[n++] = c;
  }
  opcode[n] = '\0';
  return true;
}

static bool note_number(const char *text, tesela__hlo_span word, int32_t *out) {
  int32_t n;
  return note_list32(text, word, 1, out, &n) && n == 1;
}

/* The list of a key with a 64-bit number for each dim. */
static int64_t *note_dims_of(note_lists *lists, const char *text, tesela__hlo_span key,
                             tesela_node_spec *spec) {
  const struct {
    const char *word;
    int64_t *list;
    const int64_t **field;
  } rows[] = {{"start", lists->start, &spec->start},
              {"step", lists->step, &spec->step},
              {"low", lists->low, &spec->low},
              {"high", lists->high, &spec->high},
              {"length", lists->length, &spec->length},
              {"dilation", lists->dilation, &spec->dilation},
              {"x_dilation", lists->x_dilation, &spec->x_dilation},
              {"strides", lists->strides, &spec->strides}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (tesela__hlo_same(text, key, rows[i].word)) {
      *rows[i].field = rows[i].list;
      return rows[i].list;
    }
  return NULL;
}

/* conv.x, conv.w, conv.result: positions of batch, channel and spatial dims; conv.groups: those of the groups in all three. */
static bool note_places(const char *text, tesela__hlo_span key, tesela__hlo_span value, tesela_conv2d *conv,
                        bool *known) {
  static const char *const words[3] = {"conv.x", "conv.w", "conv.result"};
  int32_t *const places[3] = {conv->x, conv->w, conv->result}, list[3], n;
  *known = true;
  for (int32_t i = 0; i < 3; i++)
    if (tesela__hlo_same(text, key, words[i])) {
      if (!note_list32(text, value, 5, places[i], &n)) return false;
      bool same = conv->spatial == 0 || conv->spatial == n - 2;
      conv->spatial = n - 2;
      return same && n > 2;
    }
  *known = tesela__hlo_same(text, key, "conv.groups");
  if (!*known || !note_list32(text, value, 3, list, &n) || n != 3) return false;
  for (int32_t i = 0; i < 3; i++) places[i][5] = list[i];
  conv->grouped = 1;
  return true;
}

static bool note_conv(const char *text, tesela__hlo_span key, tesela__hlo_span value, tesela_conv2d *conv) {
  const struct {
    const char *word;
    int64_t *window;
  } rows[] = {{"conv.stride", conv->stride},
              {"conv.dilation", conv->dilation},
              {"conv.x_dilation", conv->x_dilation},
              {"conv.low", conv->low},
              {"conv.high", conv->high}};
  bool known, places = note_places(text, key, value, conv, &known);
  if (known) return places;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (tesela__hlo_same(text, key, rows[i].word)) return note_list64(text, value, 3, rows[i].window);
  return false;
}

/* Read one key; false: unknown, or its value does not match. */
static bool note_key(const char *text, tesela__hlo_span key, tesela__hlo_span value, note_lists *lists,
                     tesela_node_spec *spec, int32_t rank) {
  int32_t n, flag;
  int64_t *list = note_dims_of(lists, text, key, spec);
  if (list) {
    for (int32_t d = 0; d < TESELA_GRAPH_RANK; d++) list[d] = 0;
    return note_list64(text, value, rank, list);
  }
  if (tesela__hlo_same(text, key, "fn")) {
    n = tesela_fn_find(text + value.at, value.n);
    spec->fn = (tesela_fn)n;
    return n >= 0;
  }
  if (tesela__hlo_same(text, key, "dims")) {
    spec->dims = lists->dims;
    return note_list32(text, value, TESELA_GRAPH_RANK, lists->dims, &spec->n_dims);
  }
  if (tesela__hlo_same(text, key, "x")) return note_list32(text, value, TESELA_GRAPH_RANK, lists->x, &n);
  if (tesela__hlo_same(text, key, "y")) return note_list32(text, value, TESELA_GRAPH_RANK, lists->y, &n);
  if (tesela__hlo_same(text, key, "labels")) return note_number(text, value, &spec->n_labels);
  if (tesela__hlo_same(text, key, "stick")) return note_number(text, value, &spec->stick);
  if (tesela__hlo_same(text, key, "bits")) return note_number(text, value, &spec->bits);
  if (tesela__hlo_same(text, key, "value")) return tesela__hlo_number(text, value, &spec->value);
  if (tesela__hlo_same(text, key, "keepdim") || tesela__hlo_same(text, key, "in_place") ||
      tesela__hlo_same(text, key, "reverse")) {
    bool ok = note_number(text, value, &flag);
    if (text[key.at] == 'r') spec->reverse = ok && flag == 1;
    if (text[key.at] == 'k') spec->keepdim = ok && flag == 1;
    if (text[key.at] == 'i') spec->in_place = ok && flag == 1;
    return ok;
  }
  if (tesela__hlo_same(text, key, "opcode")) {
    spec->opcode = lists->opcode;
    return note_opcode(text, value, lists->opcode);
  }
  return note_conv(text, key, value, &spec->conv);
}

/* Operands as nodes, to be released by the caller. */
static tesela_status note_operands(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                   int32_t **operand) {
  *operand = tesela__alloc(&b->allocator, (uint64_t)in->n_operands * sizeof **operand + 1, alignof(int32_t));
  if (!*operand) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for operands");
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++)
    status = tesela__hlo_operand(b, in, k, &(*operand)[k]);
  return status;
}

tesela_status tesela__hlo_from_note(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_span note, tesela__hlo_value *out) {
  const char *text = b->module->text;
  note_lists lists;
  char shown[TESELA__HLO_SHOWN];
  memset(&lists, 0, sizeof lists);
  for (int32_t d = 0; d < TESELA_GRAPH_RANK; d++) lists.x[d] = lists.y[d] = -1; /* dims of 1 need no label */
  tesela__hlo_span word = tesela__hlo_cut(text, &note, ' ');
  int32_t op = tesela_op_find(text + word.at, word.n), *operand = NULL;
  if (op < 0)
    return tesela__fail(b->err, TESELA_E_SYNTAX, (int64_t)word.at, "unknown class of operators %s",
                        tesela__hlo_shown(text, word, shown));
  tesela_node_spec spec = {.op = (tesela_op)op, .rank = b->rank, .shape = b->shape};
  if (spec.op != TESELA_OP_POOL) spec.length = b->shape;
  while ((note = tesela__hlo_trim(text, note)).n > 0) {
    tesela__hlo_span value = tesela__hlo_cut(text, &note, ' '), key = tesela__hlo_cut(text, &value, '=');
    if (!note_key(text, key, value, &lists, &spec, b->rank))
      return tesela__fail(b->err, TESELA_E_SYNTAX, (int64_t)key.at,
                          "unknown key %s, or a value that does not match it",
                          tesela__hlo_shown(text, key, shown));
  }
  if (spec.op == TESELA_OP_ALONG) { /* its length is one number */
    int32_t d = spec.n_dims > 0 ? spec.dims[0] : -1;
    if (d < 0) d += b->rank;
    spec.length = d >= 0 && d < b->rank ? &b->shape[d] : NULL;
  }
  spec.x_label = lists.x;
  spec.y_label = lists.y;
  spec.dtype = spec.bits > 0 ? TESELA_DTYPE_NONE : b->dtype;
  spec.n_operands = in->n_operands;
  bool given = spec.op == TESELA_OP_INPUT || spec.op == TESELA_OP_CONSTANT;
  if (given && in->n_operands > 0)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "%s has no operands", tesela_op_name(spec.op));
  tesela_status status = note_operands(b, in, &operand);
  spec.operand = operand;
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, NULL, &spec, &out->node);
  if (status == TESELA_OK && spec.op == TESELA_OP_FALLBACK) b->facts.fallbacks++;
  tesela__release(&b->allocator, operand);
  return status;
}
