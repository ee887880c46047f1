/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_print.c - a graph as HLO text: one instruction for each node, in their order.
 *
 *   HloModule g
 *
 *   ENTRY %main {
 *     %a = f16[256,128]{1,0} parameter(0)
 *     %a_t = f16[128,256]{1,0} transpose(%a), dimensions={1,0}, frontend_attributes={buffer="a"}
 *     ROOT %t = f16[128,256]{1,0} add(%a_t, %x)
 *   }
 *
 * Nodes that HLO cannot express exactly have a note (hlo_note.c), mostly on a custom-call. Values that are not nodes here (the
 * initial value of a fold, the value of padding, the position of a piece) become constants before the instruction, which
 * reading removes.
 */
#include <tesela/notation.h>

#include "graph/hlo/hlo.h"

/* The set layout, if XLA's notation expresses it for the node's type; else the default order. */
static bool print_layout(tesela__sink *sink, const tesela_node *node) {
  tesela_xla_layout layout;
  tesela_xla_shape shape;
  if (!node->layout || node->dtype == TESELA_DTYPE_NONE ||
      tesela_device_to_xla(node->layout, &layout, NULL) != TESELA_OK)
    return false;
  if (tesela_xla_shape_make(&shape, node->dtype, node->rank, node->shape, &layout, NULL) != TESELA_OK)
    return false;
  char text[512];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (tesela_xla_print(&shape, true, &to, NULL) != TESELA_OK || buffer.length >= sizeof text) return false;
  tesela__puts(sink, text);
  return true;
}

static void print_shape(tesela__sink *sink, const tesela_node *node) {
  if (print_layout(sink, node)) return;
  tesela__puts(sink, tesela__hlo_type_name(node));
  tesela__putc(sink, '[');
  for (int32_t d = 0; d < node->rank; d++) {
    if (d > 0) tesela__putc(sink, ',');
    tesela__put_int(sink, node->shape[d]);
  }
  tesela__putc(sink, ']');
  if (node->rank == 0) return;
  tesela__putc(sink, '{');
  for (int32_t d = node->rank - 1; d >= 0; d--) {
    tesela__put_int(sink, d);
    if (d > 0) tesela__putc(sink, ',');
  }
  tesela__putc(sink, '}');
}

/* ---- regions ---- */

static bool print_needs_region(const tesela_graph *graph, const tesela_node *node) {
  tesela__hlo_printer probe = {graph, NULL, 0};
  return (node->op == TESELA_OP_REDUCE || node->op == TESELA_OP_POOL || node->op == TESELA_OP_SCATTER) &&
         tesela__hlo_print_op(&probe, node);
}

/* The computation that a fold or a scatter applies. */
static void print_region(tesela__sink *sink, tesela_fn fn, tesela_dtype dtype) {
  const char *type = tesela_dtype_name(dtype), *word = tesela_fn_name(fn);
  tesela_fn element = fn == TESELA_FN_SUM ? TESELA_FN_ADD : fn == TESELA_FN_PROD ? TESELA_FN_MUL : fn;
  tesela__putf(sink, "%%%s_%s {\n  %%x = %s[] parameter(0)\n", fn == TESELA_FN_NONE ? "set" : word, type,
               type);
  if (fn == TESELA_FN_NONE)
    tesela__putf(sink, "  ROOT %%y = %s[] parameter(1)\n}\n\n", type);
  else
    tesela__putf(sink, "  %%y = %s[] parameter(1)\n  ROOT %%r = %s[] %s(%%x, %%y)\n}\n\n", type, type,
                 tesela__hlo_opcode_of(element));
}

static void print_regions(const tesela_graph *graph, tesela__sink *sink) {
  uint64_t done[64] = {0}; /* bit of the type, by function */
  for (int32_t k = 0; k < graph->count; k++) {
    const tesela_node *node = tesela__graph_at(graph, k);
    uint64_t bit = (uint64_t)1 << ((unsigned)node->dtype & 63);
    if ((done[node->fn & 63] & bit) != 0 || !print_needs_region(graph, node)) continue;
    done[node->fn & 63] |= bit;
    print_region(sink, node->fn, node->dtype);
  }
}

/* ---- an instruction ---- */

/* Opcode and operands of a node that needs a note. */
static void print_noted(tesela__hlo_printer *p, const tesela_node *node) {
  tesela__sink *sink = p->sink;
  switch (node->op) {
  case TESELA_OP_INPUT:
    tesela__puts(sink, "parameter(");
    tesela__put_int(sink, p->n_inputs++);
    tesela__putc(sink, ')');
    return;
  case TESELA_OP_CONSTANT:
    tesela__puts(sink, "constant({...})");
    return;
  case TESELA_OP_SQUEEZE:
  case TESELA_OP_UNSQUEEZE:
    tesela__puts(sink, "reshape");
    break;
  case TESELA_OP_CLONE:
  case TESELA_OP_MOVE:
    tesela__puts(sink, "copy");
    break;
  default:
    tesela__puts(sink, "custom-call");
  }
  tesela__hlo_print_operands(p, node);
  if (node->op < TESELA_OP_CLONE || node->op == TESELA_OP_FALLBACK || node->op == TESELA_OP_EXPAND ||
      node->op == TESELA_OP_SLICE || node->op == TESELA_OP_ALONG || node->op == TESELA_OP_POOL)
    tesela__puts(sink, ", custom_call_target=\"tesela\"");
}

/* frontend_attributes: the note, the buffer of a view or a result in place, the set layout. */
static tesela_status print_attributes(tesela__hlo_printer *p, const tesela_node *node, int32_t number,
                                      bool noted, tesela_error *err) {
  tesela__sink *sink = p->sink;
  const char *between = ", frontend_attributes={";
  if (noted) {
    tesela__putf(sink, "%stesela=\"", between);
    tesela__hlo_print_note(p, node);
    tesela__putc(sink, '"');
    between = ",";
  }
  if (node->buffer != number) {
    tesela__putf(sink, "%sbuffer=\"", between);
    tesela__puts(sink, tesela__graph_at(p->graph, node->buffer)->name);
    tesela__putc(sink, '"');
    between = ",";
  }
  if (node->layout) {
    char text[4096];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_status status = tesela_device_print(node->layout, TESELA_DEVICE_SHORT, &to, err);
    if (status != TESELA_OK) return status;
    tesela__putf(sink, "%sdevice_layout=\"", between);
    tesela__puts(sink, text);
    tesela__putc(sink, '"');
    between = ",";
  }
  if (*between == ',' && between[1] == '\0') tesela__putc(sink, '}');
  return TESELA_OK;
}

static tesela_status print_node(tesela__hlo_printer *p, int32_t k, bool root, tesela_error *err) {
  const tesela_node *node = tesela__graph_at(p->graph, k);
  tesela__hlo_printer probe = {p->graph, NULL, 0};
  bool plain = tesela__hlo_print_op(&probe, node);
  if (plain) tesela__hlo_print_before(p, node);
  tesela__puts(p->sink, root ? "  ROOT %" : "  %");
  tesela__puts(p->sink, node->name);
  tesela__puts(p->sink, " = ");
  print_shape(p->sink, node);
  tesela__putc(p->sink, ' ');
  if (plain)
    tesela__hlo_print_op(p, node);
  else
    print_noted(p, node);
  tesela_status status = print_attributes(p, node, k, !plain, err);
  tesela__putc(p->sink, '\n');
  return status;
}

/* ---- the module ---- */

static void print_outputs(const tesela_graph *graph, tesela__sink *sink) {
  const char *name = "outputs";
  char other[32];
  for (int32_t n = 1; tesela_graph_find(graph, name) >= 0; n++) {
    tesela_buffer buffer = {other, sizeof other, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela__sink text;
    tesela__sink_init(&text, &to);
    tesela__putf(&text, "outputs.%" PRId32, n);
    tesela__sink_finish(&text, NULL);
    name = other;
  }
  tesela__puts(sink, "  ROOT %");
  tesela__puts(sink, name);
  tesela__puts(sink, " = ");
  for (int32_t pass = 0; pass < 2; pass++) {
    tesela__puts(sink, pass == 0 ? "(" : ") tuple(");
    for (int32_t k = 0; k < graph->n_outputs; k++) {
      const tesela_node *node = tesela__graph_at(graph, graph->output[k]);
      tesela__puts(sink, k == 0 ? "" : ", ");
      if (pass == 0) print_shape(sink, node);
      if (pass == 1) tesela__putc(sink, '%');
      if (pass == 1) tesela__puts(sink, node->name);
    }
  }
  tesela__puts(sink, ")\n");
}

tesela_status tesela_graph_print_hlo(const tesela_graph *graph, const char *name, const tesela_writer *to,
                                     tesela_error *err) {
  TESELA__NEED(err, graph, to);
  tesela__sink sink;
  tesela__hlo_printer printer = {graph, &sink, 0};
  int32_t only = graph->n_outputs == 1 ? graph->output[0] : -1;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "HloModule ");
  for (const char *c = name && *name ? name : "graph"; *c; c++)
    tesela__putc(&sink, strchr(" \"%,=(){}[]\\", *c) || (unsigned char)*c < ' ' ? '_' : *c);
  tesela__puts(&sink, "\n\n");
  print_regions(graph, &sink);
  tesela__puts(&sink, "ENTRY %main {\n");
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < graph->count && status == TESELA_OK; k++)
    status = print_node(&printer, k, k == only, err);
  if (only < 0) print_outputs(graph, &sink);
  tesela__puts(&sink, "}\n");
  tesela_status finished = tesela__sink_finish(&sink, err);
  return status == TESELA_OK ? finished : status;
}
