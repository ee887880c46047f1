/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_module.c - HLO text as computations and instructions.
 *
 *   HloModule name, attributes
 *   FileNames, FunctionNames, FileLocations, StackFrames and their numbered lines      skipped
 *   [ENTRY] %name [(parameters) -> shape] { instructions } [, attributes]
 *   [ROOT] %name = shape opcode(operands), key=value, ...                              an instruction
 *
 * An operand names an instruction before it in the same computation; a name is found through a table of slots over all
 * computations. Of attributes only the span is kept; of shapes the position.
 */
#include "graph/hlo/hlo.h"

enum { MODULE_ATTRIBUTES = 64 }; /* of one instruction, computation or module */

/* ---- names ---- */

static uint64_t module_hash(const tesela__hlo_module *m, tesela__hlo_span name, int32_t computation) {
  uint64_t hash =
      tesela__graph_hash(m->text + name.at, name.n) + (uint64_t)(computation + 1) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 31;
}

static bool module_same_text(const char *text, tesela__hlo_span a, tesela__hlo_span b) {
  return a.n == b.n && memcmp(text + a.at, text + b.at, a.n) == 0;
}

/* Slots hold instructions as numbers from 1 and computations as negative numbers from -1. */
static int32_t *module_slot(const tesela__hlo_module *m, tesela__hlo_span name, int32_t computation) {
  size_t mask = m->n_slots - 1;
  for (size_t i = (size_t)module_hash(m, name, computation) & mask;; i = (i + 1) & mask) {
    int32_t k = m->slot[i];
    if (k == 0) return &m->slot[i];
    if (k > 0 && m->instruction[k - 1].computation == computation &&
        module_same_text(m->text, m->instruction[k - 1].name, name))
      return &m->slot[i];
    if (k < 0 && computation == -1 && module_same_text(m->text, m->computation[-k - 1].name, name))
      return &m->slot[i];
  }
}

/* Room for two more names. */
static bool module_grow_slots(tesela__hlo_module *m) {
  size_t used = m->n_instructions + m->n_computations + 2;
  if (m->n_slots > 2 * used) return true;
  size_t n_slots = m->n_slots ? m->n_slots * 4 : 256;
  int32_t *slot = tesela__alloc(&m->allocator, n_slots * sizeof *slot, alignof(int32_t));
  if (!slot) return false;
  memset(slot, 0, n_slots * sizeof *slot);
  tesela__release(&m->allocator, m->slot);
  m->slot = slot;
  m->n_slots = n_slots;
  for (size_t i = 0; i < m->n_instructions; i++)
    *module_slot(m, m->instruction[i].name, m->instruction[i].computation) = (int32_t)i + 1;
  for (size_t i = 0; i < m->n_computations; i++)
    *module_slot(m, m->computation[i].name, -1) = -(int32_t)i - 1;
  return true;
}

int32_t tesela__hlo_module_find(const tesela__hlo_module *m, tesela__hlo_span name) {
  if (name.n > 0 && m->text[name.at] == '%') name = (tesela__hlo_span){name.at + 1, name.n - 1};
  if (m->n_slots == 0 || name.n == 0) return -1;
  int32_t k = *module_slot(m, name, -1);
  return k < 0 ? -k - 1 : -1;
}

static tesela_status module_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the instructions of a module");
}

/* ---- shapes ---- */

/* Skip a shape: a tuple's brackets, or an array. *dynamic: set if a dim is dynamic. */
static tesela_status module_shape(tesela__reader *r, bool *tuple, bool *dynamic) {
  tesela__hlo_span inside;
  *tuple = tesela__read_peek(r) == '(';
  if (*tuple) return tesela__hlo_take_group(r, &inside);
  tesela_xla_shape shape;
  tesela_error inner = {.at = -1};
  size_t used = 0;
  tesela_status status = tesela_xla_parse_prefix(r->text + r->at, r->length - r->at, TESELA_XLA_STRICT,
                                                 &shape, &used, NULL, &inner);
  if (status != TESELA_OK)
    return tesela__fail(r->err, status, (int64_t)r->at + (inner.at > 0 ? inner.at : 0), "%s", inner.message);
  r->at += used;
  if (r->length - r->at >= 2 && memcmp(r->text + r->at, "{}", 2) == 0)
    r->at += 2; /* the old form of a scalar's layout */
  *dynamic = *dynamic || shape.dynamic != 0;
  return TESELA_OK;
}

/* ---- instructions ---- */

/* One operand: `name`, or `shape name` of older texts. */
static tesela_status module_operand(tesela__hlo_module *m, tesela__reader *r, tesela__hlo_instruction *in) {
  char shown[TESELA__HLO_SHOWN];
  bool tuple, dynamic = false;
  tesela_status status;
  tesela__read_peek(r);
  size_t start = r->at;
  bool shaped = tesela__read_peek(r) == '(';
  if (!shaped) {
    tesela__hlo_take_name(r);
    shaped = r->at > start && r->text[start] != '%' && r->at < r->length && r->text[r->at] == '[';
    r->at = start;
  }
  if (shaped && (status = module_shape(r, &tuple, &dynamic)) != TESELA_OK) return status;
  tesela__hlo_span name = tesela__hlo_take_name(r);
  if (name.n == 0) return tesela__read_unexpected(r, "the name of an operand", "");
  int32_t found = m->n_slots ? *module_slot(m, name, in->computation) : 0;
  if (found <= 0)
    return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)name.at,
                        "operand %s: no instruction before this one has that name",
                        tesela__hlo_shown(r->text, name, shown));
  void *room = m->operand;
  if (!tesela__grow(&m->allocator, &room, sizeof *m->operand, &m->operand_room, m->n_operands + 1))
    return module_no_memory(r->err);
  m->operand = room;
  m->operand[m->n_operands++] = found - 1;
  in->n_operands++;
  return TESELA_OK;
}

static tesela_status module_operands(tesela__hlo_module *m, tesela__reader *r, tesela__hlo_instruction *in) {
  if (tesela__read_peek(r) != '(') return tesela__read_unexpected(r, "'(' and operands", "");
  size_t open = r->at;
  in->operand = (int32_t)m->n_operands;
  bool values =
      tesela__hlo_same(r->text, in->opcode, "constant") || tesela__hlo_same(r->text, in->opcode, "parameter");
  if (values) return tesela__hlo_take_group(r, &in->inside);
  r->at++;
  if (tesela__read_take(r, ')')) return TESELA_OK;
  do {
    if (m->n_operands >= INT32_MAX)
      return tesela__fail(r->err, TESELA_E_LIMIT, (int64_t)r->at, "too many operands");
    tesela_status status = module_operand(m, r, in);
    if (status != TESELA_OK) return status;
  } while (tesela__read_take(r, ','));
  if (!tesela__read_take(r, ')')) return tesela__read_unexpected(r, "',' or ')'", "");
  in->inside = (tesela__hlo_span){open + 1, r->at - open - 2};
  return TESELA_OK;
}

/* Any number of `, key=value`, each key once. */
static tesela_status module_attributes(tesela__reader *r, tesela__hlo_span *span) {
  size_t start = r->at;
  char shown[TESELA__HLO_SHOWN];
  tesela__hlo_span key[MODULE_ATTRIBUTES];
  for (int32_t n = 0; tesela__read_take(r, ','); n++) {
    tesela__hlo_span value;
    if (n == MODULE_ATTRIBUTES)
      return tesela__fail(r->err, TESELA_E_LIMIT, (int64_t)r->at, "more than %d attributes",
                          MODULE_ATTRIBUTES);
    key[n] = tesela__hlo_take_name(r);
    if (key[n].n == 0) return tesela__read_unexpected(r, "the name of an attribute", "");
    for (int32_t k = 0; k < n; k++)
      if (module_same_text(r->text, key[k], key[n]))
        return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)key[n].at, "the attribute %s is given twice",
                            tesela__hlo_shown(r->text, key[n], shown));
    if (!tesela__read_take(r, '=')) return tesela__read_unexpected(r, "'='", "");
    tesela_status status = tesela__hlo_take_value(r, &value);
    if (status != TESELA_OK) return status;
  }
  *span = (tesela__hlo_span){start, r->at - start};
  return TESELA_OK;
}

/* The first operand of an instruction that counts only by its value: starts, fills, initial values of folds. */
static int32_t module_first_scalar(const tesela__hlo_module *m, const tesela__hlo_instruction *in) {
  if (tesela__hlo_same(m->text, in->opcode, "reduce") ||
      tesela__hlo_same(m->text, in->opcode, "reduce-window"))
    return in->n_operands / 2;
  if (tesela__hlo_same(m->text, in->opcode, "pad") || tesela__hlo_same(m->text, in->opcode, "dynamic-slice"))
    return 1;
  if (tesela__hlo_same(m->text, in->opcode, "dynamic-update-slice")) return 2;
  return INT32_MAX;
}

static tesela_status module_instruction(tesela__hlo_module *m, tesela__reader *r) {
  char shown[TESELA__HLO_SHOWN];
  tesela__hlo_instruction in = {.computation = (int32_t)m->n_computations - 1};
  bool root = tesela__read_take_text(r, "ROOT");
  in.name = tesela__hlo_take_name(r);
  if (in.name.n == 0) return tesela__read_unexpected(r, "an instruction or '}'", "");
  if (!tesela__read_take(r, '=')) return tesela__read_unexpected(r, "'='", "");
  tesela__read_peek(r);
  in.shape = r->at;
  tesela_status status = module_shape(r, &in.tuple, &in.dynamic);
  if (status != TESELA_OK) return status;
  in.opcode = tesela__hlo_take_name(r);
  if (in.opcode.n == 0) return tesela__read_unexpected(r, "an opcode", "");
  status = module_operands(m, r, &in);
  if (status == TESELA_OK) status = module_attributes(r, &in.attributes);
  if (status != TESELA_OK) return status;
  if (m->n_instructions >= TESELA__HLO_INSTRUCTIONS)
    return tesela__fail(r->err, TESELA_E_LIMIT, (int64_t)in.name.at, "more than 2^20 instructions");
  void *room = m->instruction;
  if (!module_grow_slots(m) ||
      !tesela__grow(&m->allocator, &room, sizeof in, &m->instruction_room, m->n_instructions + 1))
    return module_no_memory(r->err);
  m->instruction = room;
  int32_t *slot = module_slot(m, in.name, in.computation);
  if (*slot != 0)
    return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)in.name.at, "two instructions have the name %s",
                        tesela__hlo_shown(r->text, in.name, shown));
  int32_t first_scalar = module_first_scalar(m, &in);
  for (int32_t k = 0; k < in.n_operands; k++) {
    tesela__hlo_instruction *operand = &m->instruction[m->operand[in.operand + k]];
    operand->uses++;
    if (k >= first_scalar) operand->scalar_uses++;
  }
  tesela__hlo_computation *c = &m->computation[in.computation];
  if (root) c->root = (int32_t)m->n_instructions;
  m->dynamic = m->dynamic || in.dynamic;
  m->instruction[m->n_instructions++] = in;
  *slot = (int32_t)m->n_instructions;
  c->n++;
  return TESELA_OK;
}

/* ---- computations ---- */

static tesela_status module_computation(tesela__hlo_module *m, tesela__reader *r) {
  char shown[TESELA__HLO_SHOWN];
  tesela__hlo_span inside;
  tesela_status status;
  bool tuple, dynamic = false, entry = tesela__read_take_text(r, "ENTRY");
  tesela__hlo_computation c = {.first = (int32_t)m->n_instructions, .root = -1};
  c.name = tesela__hlo_take_name(r);
  if (c.name.n == 0) return tesela__read_unexpected(r, "a computation", "");
  if (tesela__read_peek(r) == '(') {
    if ((status = tesela__hlo_take_group(r, &inside)) != TESELA_OK) return status;
    if (!tesela__read_take(r, '-') || !tesela__read_take(r, '>'))
      return tesela__read_unexpected(r, "'->' and a shape", "");
    tesela__read_peek(r);
    if ((status = module_shape(r, &tuple, &dynamic)) != TESELA_OK) return status;
  }
  if (!tesela__read_take(r, '{')) return tesela__read_unexpected(r, "'{'", "");
  void *room = m->computation;
  if (!module_grow_slots(m) ||
      !tesela__grow(&m->allocator, &room, sizeof c, &m->computation_room, m->n_computations + 1))
    return module_no_memory(r->err);
  m->computation = room;
  int32_t *slot = module_slot(m, c.name, -1);
  if (*slot != 0)
    return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)c.name.at, "two computations have the name %s",
                        tesela__hlo_shown(r->text, c.name, shown));
  if (entry && m->entry >= 0)
    return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)c.name.at, "a second ENTRY computation");
  if (entry) m->entry = (int32_t)m->n_computations;
  m->computation[m->n_computations++] = c;
  *slot = -(int32_t)m->n_computations;
  while (!tesela__read_take(r, '}'))
    if ((status = module_instruction(m, r)) != TESELA_OK) return status;
  tesela__hlo_computation *done = &m->computation[m->n_computations - 1];
  if (done->n == 0)
    return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)c.name.at, "a computation without instructions");
  if (done->root < 0) done->root = done->first + done->n - 1;
  return module_attributes(r, &inside);
}

/* The numbered lines after the name of a table. */
static tesela_status module_table(tesela__reader *r) {
  for (;;) {
    tesela__hlo_span value;
    tesela__read_peek(r);
    if (r->at >= r->length || r->text[r->at] < '0' || r->text[r->at] > '9') return TESELA_OK;
    tesela__hlo_take_name(r);
    tesela_status status = tesela__hlo_take_value(r, &value);
    if (status != TESELA_OK) return status;
  }
}

tesela_status tesela__hlo_module_read(tesela__hlo_module *m, tesela_error *err) {
  static const char *const tables[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
  tesela__reader reader = tesela__hlo_text(m->text, (tesela__hlo_span){0, m->length}, err), *r = &reader;
  tesela__hlo_span attributes;
  m->entry = -1;
  if (!tesela__read_take_text(r, "HloModule")) return tesela__read_unexpected(r, "HloModule", "");
  if (tesela__hlo_take_name(r).n == 0) return tesela__read_unexpected(r, "the name of the module", "");
  tesela_status status = module_attributes(r, &attributes);
  while (status == TESELA_OK) {
    tesela__read_peek(r);
    if (r->at >= r->length) break;
    bool table = false;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !table; i++)
      table = tesela__read_take_text(r, tables[i]);
    status = table ? module_table(r) : module_computation(m, r);
  }
  if (status != TESELA_OK) return status;
  if (m->n_computations == 0) return tesela__read_unexpected(r, "a computation", "");
  if (m->entry < 0 && m->n_computations == 1) m->entry = 0;
  if (m->entry < 0)
    return tesela__fail(err, TESELA_E_SYNTAX, (int64_t)m->length, "missing ENTRY computation");
  return TESELA_OK;
}

void tesela__hlo_module_release(tesela__hlo_module *m) {
  tesela__release(&m->allocator, m->computation);
  tesela__release(&m->allocator, m->instruction);
  tesela__release(&m->allocator, m->operand);
  tesela__release(&m->allocator, m->slot);
}
