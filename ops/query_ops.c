/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_ops.c - the table of ops, at the end, and the ops about tesela itself.
 */
#include <inttypes.h>
#include <string.h>

#include <tesela/relayout.h>

#include "request.h"

/* ---- formats, version, ops --------------------------------------------------------------------------------
 */

static tesela_status op_formats(tesela_request *q) {
  int32_t n;
  const tesela_xla_format *format = tesela_xla_formats(&n);
  tesela_put_key_list(q->out, "formats");
  for (int32_t i = 0; i < n; i++) {
    tesela_put_object(q->out);
    tesela_put_key_text(q->out, "name", format[i].name);
    tesela_put_key_text(q->out, "example", format[i].example);
    tesela_put_key_text(q->out, "tiles", format[i].tiles);
    tesela_put_key_text(q->out, "use", format[i].use);
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

static tesela_status op_version(tesela_request *q) {
  tesela_put_key_text(q->out, "version", tesela_version());
  return TESELA_OK;
}

static void put_op(tesela_sink *out, const tesela_op_entry *op) {
  tesela_put_object(out);
  tesela_put_key_text(out, "op", op->name);
  tesela_put_key_text(out, "summary", op->summary);
  tesela_put_key_list(out, "fields");
  for (const tesela_field *f = op->field; f->name; f++) {
    tesela_put_object(out);
    tesela_put_key_text(out, "name", f->name);
    tesela_put_key_text(out, "type", tesela_field_type_name(f->type));
    tesela_put_key_text(out, "takes", f->words ? f->words : tesela_field_type_words(f->type));
    tesela_put_key_bool(out, "optional", f->optional);
    tesela_put_end(out);
  }
  tesela_put_end(out);
  tesela_put_end(out);
}

static tesela_status op_ops(tesela_request *q) {
  const tesela_value *name = tesela_request_get(q, "name");
  const tesela_op_entry *only = NULL, *end = q->ops + q->n_ops;
  tesela_status status = name ? request_find(q, "name", &only) : TESELA_OK;
  if (status != TESELA_OK) return status;
  tesela_put_key_list(q->out, "ops");
  for (const tesela_op_entry *op = q->ops; op < end; op++)
    if (!only || op == only) put_op(q->out, op);
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------
 */

#define REQUIRED(name, type) \
  { name, type, false, NULL }
#define OPTIONAL(name, type) \
  { name, type, true, NULL }

#define MACHINE                                                                  \
  OPTIONAL("warp", TESELA_FIELD_NUMBER), OPTIONAL("banks", TESELA_FIELD_NUMBER), \
      OPTIONAL("bank_bytes", TESELA_FIELD_NUMBER)

#define DEVICE_TYPES                                                                         \
  OPTIONAL("elem_bytes", TESELA_FIELD_NUMBER), OPTIONAL("stick_bytes", TESELA_FIELD_NUMBER), \
      OPTIONAL("dtype", TESELA_FIELD_TEXT), OPTIONAL("target", TESELA_FIELD_TEXT)

#define NAME_OF_ISA(symbol, value, name) "|" name
#define NAME_OF_SOLVER(symbol, value, name, text) "|" name
#define PLAN_OPTIONS(all)                                                           \
  {"solver", TESELA_FIELD_TEXT, true, &(all TESELA_SOLVER_MAP(NAME_OF_SOLVER))[1]}, \
      {"isa", TESELA_FIELD_TEXT, true, &(all TESELA_ISA_MAP(NAME_OF_ISA))[1]},      \
      OPTIONAL("threads", TESELA_FIELD_NUMBER)
#define COPY_OPTIONS                                                                 \
  OPTIONAL("threads", TESELA_FIELD_NUMBER), OPTIONAL("memory", TESELA_FIELD_NUMBER), \
      {"isa", TESELA_FIELD_TEXT, true, &("" TESELA_ISA_MAP(NAME_OF_ISA))[1]},        \
      OPTIONAL("max_header", TESELA_FIELD_NUMBER)
#define LAID_OUT                                                                               \
  OPTIONAL("graph", TESELA_FIELD_OBJECT), OPTIONAL("text", TESELA_FIELD_TEXT),                 \
      {"mode", TESELA_FIELD_TEXT, true, "strict|auto"}, OPTIONAL("target", TESELA_FIELD_TEXT), \
      OPTIONAL("share", TESELA_FIELD_FLAG), OPTIONAL("spread", TESELA_FIELD_FLAG),             \
      OPTIONAL("compact", TESELA_FIELD_FLAG), OPTIONAL("copies", TESELA_FIELD_FLAG),           \
      OPTIONAL("materialise", TESELA_FIELD_FLAG), OPTIONAL("effort", TESELA_FIELD_NUMBER)
#define REPORT_ROWS OPTIONAL("top", TESELA_FIELD_NUMBER), OPTIONAL("space", TESELA_FIELD_NUMBER)

/* What the texts of layouts lack. BESIDE comes last. */
#define UNTYPED_BESIDE                                                        \
  OPTIONAL("shape", TESELA_FIELD_NUMBERS), OPTIONAL("as", TESELA_FIELD_TEXT), \
      OPTIONAL("definitions", TESELA_FIELD_TEXT)
#define BESIDE UNTYPED_BESIDE, OPTIONAL("dtype", TESELA_FIELD_TEXT)

#define FIELDS(...)        \
  (const tesela_field[]) { \
    __VA_ARGS__, { 0 }     \
  }
#define NO_FIELDS          \
  (const tesela_field[]) { \
    { 0 }                  \
  }

static const tesela_op_entry table[] = {
    {"info", op_info, "sizes, digits and padding of a layout",
     FIELDS(REQUIRED("layout", TESELA_FIELD_ANY), OPTIONAL("details", TESELA_FIELD_FLAG), BESIDE)},
    {"where", op_where, "the places of elements",
     FIELDS(REQUIRED("layout", TESELA_FIELD_ANY), OPTIONAL("index", TESELA_FIELD_NUMBERS),
            OPTIONAL("indices", TESELA_FIELD_INDICES), BESIDE)},
    {"what", op_what, "the elements at places",
     FIELDS(REQUIRED("layout", TESELA_FIELD_ANY), OPTIONAL("place", TESELA_FIELD_PLACE),
            OPTIONAL("byte", TESELA_FIELD_NUMBER), OPTIONAL("places", TESELA_FIELD_PLACES), BESIDE)},
    {"same", op_same, "whether two layouts put every element at the same place",
     FIELDS(REQUIRED("a", TESELA_FIELD_ANY), REQUIRED("b", TESELA_FIELD_ANY), BESIDE)},
    {"translate", op_translate, "a layout in another notation, with a verdict",
     FIELDS(REQUIRED("from", TESELA_FIELD_TEXT), REQUIRED("to", TESELA_FIELD_TEXT),
            OPTIONAL("from_notation", TESELA_FIELD_TEXT), BESIDE)},
    {"cute", op_cute, "the algebra of CuTe layouts",
     FIELDS({"do", TESELA_FIELD_TEXT, false,
             "composition|complement|coalesce|filter|flatten|right_inverse|left_inverse|"
             "logical_divide|zipped_divide|tiled_divide|flat_divide|logical_product|zipped_product|"
             "tiled_product|flat_product|blocked_product|raked_product|tile_to_shape|"
             "slice_and_offset|shape_div|crd2idx|idx2crd|size|cosize|eval|table"},
            REQUIRED("args", TESELA_FIELD_TEXTS), OPTIONAL("table", TESELA_FIELD_FLAG),
            {"as", TESELA_FIELD_TEXT, true, "any"})},
    {"linear_layout", op_linear_layout, "operations on linear layouts over bits",
     FIELDS(REQUIRED("do", TESELA_FIELD_TEXT), OPTIONAL("a", TESELA_FIELD_VALUE),
            OPTIONAL("b", TESELA_FIELD_VALUE), OPTIONAL("at", TESELA_FIELD_OBJECT),
            OPTIONAL("size", TESELA_FIELD_NUMBER), OPTIONAL("stride", TESELA_FIELD_NUMBER),
            OPTIONAL("out", TESELA_FIELD_TEXT), OPTIONAL("out_size", TESELA_FIELD_NUMBER),
            OPTIONAL("ins", TESELA_FIELD_TEXTS), OPTIONAL("outs", TESELA_FIELD_TEXTS),
            OPTIONAL("over", TESELA_FIELD_TEXTS), OPTIONAL("new", TESELA_FIELD_VALUE),
            OPTIONAL("order", TESELA_FIELD_TEXTS), OPTIONAL("dim", TESELA_FIELD_TEXT),
            OPTIONAL("action", TESELA_FIELD_NUMBERS), OPTIONAL("values", TESELA_FIELD_NUMBERS),
            OPTIONAL("text", TESELA_FIELD_ANY), BESIDE)},
    {"parse", op_parse, "the canonical form of a text",
     FIELDS(REQUIRED("text", TESELA_FIELD_TEXT), OPTIONAL("notation", TESELA_FIELD_TEXT),
            OPTIONAL("max_arrays", TESELA_FIELD_NUMBER), BESIDE)},
    {"show", op_show, "a picture of a layout",
     FIELDS(REQUIRED("layout", TESELA_FIELD_ANY), OPTIONAL("format", TESELA_FIELD_TEXT),
            {"by", TESELA_FIELD_TEXT, true, "element|thread"}, BESIDE)},
    {"register", op_register, "a register layout and the threads that hold each element",
     FIELDS(REQUIRED("expr", TESELA_FIELD_TEXT), OPTIONAL("table", TESELA_FIELD_FLAG))},
    {"locate_at", op_locate_at, "whether a thread holds an element",
     FIELDS(REQUIRED("expr", TESELA_FIELD_TEXT), REQUIRED("index", TESELA_FIELD_NUMBERS),
            REQUIRED("thread", TESELA_FIELD_NUMBER))},
    {"shared", op_shared, "a tile in shared or global memory and its places",
     FIELDS(REQUIRED("expr", TESELA_FIELD_TEXT), OPTIONAL("indices", TESELA_FIELD_INDICES))},
    {"fragment", op_fragment, "an operand of a matrix instruction in registers",
     FIELDS(REQUIRED("name", TESELA_FIELD_TEXT), OPTIONAL("table", TESELA_FIELD_FLAG))},
    {"program", op_program, "a layout as pads, reshapes and transposes",
     FIELDS(REQUIRED("layout", TESELA_FIELD_LAYOUT))},
    {"choose", op_choose, "the layout a compiler would give a shape",
     FIELDS(REQUIRED("shape", TESELA_FIELD_LAYOUT),
            {"target", TESELA_FIELD_TEXT, true, "tpu|v2|v3|v4|v5e|v5p|v6e|tpu7x"},
            OPTIONAL("alternative_16bit", TESELA_FIELD_FLAG), OPTIONAL("large_tile", TESELA_FIELD_FLAG),
            OPTIONAL("early_tpu", TESELA_FIELD_FLAG), OPTIONAL("argument", TESELA_FIELD_FLAG),
            OPTIONAL("order", TESELA_FIELD_FLAG))},
    {"predict", op_predict,
     "what the arguments and results of a program take on a TPU, before it is compiled",
     FIELDS(REQUIRED("text", TESELA_FIELD_TEXT),
            {"target", TESELA_FIELD_TEXT, false, "v2|v3|v4|v5e|v5p|v6e|tpu7x"})},
    {"plan", op_plan, "how a tensor is copied to another layout",
     FIELDS(OPTIONAL("problem", TESELA_FIELD_TEXT), OPTIONAL("from", TESELA_FIELD_LAYOUT),
            OPTIONAL("to", TESELA_FIELD_TARGET),
            {"transform", TESELA_FIELD_TEXT, true, "swap|convert|split|merge"},
            OPTIONAL("fill", TESELA_FIELD_TEXT), PLAN_OPTIONS(""),
            {"effort", TESELA_FIELD_TEXT, true, "estimate|measure"}, BESIDE)},
    {"check", op_check, "every copy method checked against the definition",
     FIELDS(REQUIRED("problem", TESELA_FIELD_TEXT), PLAN_OPTIONS("|all"),
            OPTIONAL("seed", TESELA_FIELD_NUMBER), OPTIONAL("max_bytes", TESELA_FIELD_NUMBER), BESIDE)},
    {"bench", op_bench, "how fast a tensor is copied, compared to memcpy",
     FIELDS(REQUIRED("problem", TESELA_FIELD_TEXT), PLAN_OPTIONS("|all"),
            OPTIONAL("rounds", TESELA_FIELD_NUMBER), OPTIONAL("max_bytes", TESELA_FIELD_NUMBER), BESIDE)},
    {"relayout", op_relayout, "a tensor copied to another layout: one in the request or one in a file",
     FIELDS(OPTIONAL("from", TESELA_FIELD_TARGET), REQUIRED("to", TESELA_FIELD_TARGET),
            OPTIONAL("data_hex", TESELA_FIELD_TEXT), OPTIONAL("file", TESELA_FIELD_TEXT),
            OPTIONAL("output", TESELA_FIELD_TEXT), OPTIONAL("fill", TESELA_FIELD_TEXT),
            {"transform", TESELA_FIELD_TEXT, true, "none|swap|convert|split|merge"},
            {"format", TESELA_FIELD_TEXT, true, "raw|npy|safetensors"}, OPTIONAL("tensor", TESELA_FIELD_TEXT),
            COPY_OPTIONS, BESIDE)},
    {"pack", op_pack, "tensors of a file or of shards in a device's layouts, with the layouts recorded",
     FIELDS(REQUIRED("file", TESELA_FIELD_TEXT), REQUIRED("output", TESELA_FIELD_TEXT),
            OPTIONAL("rules", TESELA_FIELD_TEXTS), OPTIONAL("to", TESELA_FIELD_TARGET),
            OPTIONAL("from", TESELA_FIELD_TARGET), OPTIONAL("dtype", TESELA_FIELD_TEXT),
            OPTIONAL("fill", TESELA_FIELD_TEXT), OPTIONAL("verify", TESELA_FIELD_FLAG),
            OPTIONAL("dry_run", TESELA_FIELD_FLAG), OPTIONAL("resume", TESELA_FIELD_FLAG), COPY_OPTIONS,
            UNTYPED_BESIDE)},
    {"unpack", op_unpack, "packed tensors back in row-major order",
     FIELDS(REQUIRED("file", TESELA_FIELD_TEXT), REQUIRED("output", TESELA_FIELD_TEXT),
            OPTIONAL("tensor", TESELA_FIELD_TEXT), {"format", TESELA_FIELD_TEXT, true, "raw|npy|safetensors"},
            COPY_OPTIONS)},
    {"cmp", op_cmp, "whether two files hold the same values, in any layouts",
     FIELDS(REQUIRED("file_a", TESELA_FIELD_TEXT), REQUIRED("file_b", TESELA_FIELD_TEXT),
            OPTIONAL("a", TESELA_FIELD_TARGET), OPTIONAL("b", TESELA_FIELD_TARGET),
            OPTIONAL("layout", TESELA_FIELD_TARGET), OPTIONAL("dtype", TESELA_FIELD_TEXT),
            OPTIONAL("tensor", TESELA_FIELD_TEXT), OPTIONAL("tensor_a", TESELA_FIELD_TEXT),
            OPTIONAL("tensor_b", TESELA_FIELD_TEXT), OPTIONAL("max_header", TESELA_FIELD_NUMBER),
            UNTYPED_BESIDE)},
    {"digest", op_digest, "a fingerprint of the values, independent of their layout",
     FIELDS(REQUIRED("file", TESELA_FIELD_TEXT), OPTIONAL("layout", TESELA_FIELD_TARGET),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), OPTIONAL("tensor", TESELA_FIELD_TEXT),
            OPTIONAL("max_header", TESELA_FIELD_NUMBER), UNTYPED_BESIDE)},
    {"verify", op_verify, "whether a dump of device memory holds a tensor",
     FIELDS(REQUIRED("layout", TESELA_FIELD_ANY), REQUIRED("dump", TESELA_FIELD_TEXT),
            REQUIRED("file", TESELA_FIELD_TEXT), OPTIONAL("from", TESELA_FIELD_TARGET),
            OPTIONAL("tensor", TESELA_FIELD_TEXT), OPTIONAL("max_header", TESELA_FIELD_NUMBER),
            UNTYPED_BESIDE)},
    {"access", op_access,
     "the widest vector, what moving a register tile to or from memory costs, and ldmatrix",
     FIELDS(REQUIRED("register", TESELA_FIELD_TEXT), REQUIRED("memory", TESELA_FIELD_TEXT),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), OPTIONAL("vector", TESELA_FIELD_NUMBER), MACHINE,
            UNTYPED_BESIDE)},
    {"vector_width", op_vector_width, "the widest vector of a register tile to or from memory",
     FIELDS(REQUIRED("register", TESELA_FIELD_TEXT), REQUIRED("memory", TESELA_FIELD_TEXT),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), MACHINE, UNTYPED_BESIDE)},
    {"bank_conflicts", op_bank_conflicts, "what moving a register tile to or from memory costs",
     FIELDS(REQUIRED("register", TESELA_FIELD_TEXT), REQUIRED("memory", TESELA_FIELD_TEXT),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), OPTIONAL("vector", TESELA_FIELD_NUMBER), MACHINE,
            UNTYPED_BESIDE)},
    {"ldmatrix", op_ldmatrix, "whether ldmatrix or stmatrix can move a tile",
     FIELDS(REQUIRED("register", TESELA_FIELD_TEXT), REQUIRED("memory", TESELA_FIELD_TEXT),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), UNTYPED_BESIDE)},
    {"swizzle", op_swizzle, "the plain, swizzled or padded layout in shared memory with the fewest conflicts",
     FIELDS(OPTIONAL("writes", TESELA_FIELD_TEXTS), OPTIONAL("reads", TESELA_FIELD_TEXTS),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), OPTIONAL("vector", TESELA_FIELD_NUMBER),
            OPTIONAL("ldmatrix", TESELA_FIELD_FLAG), MACHINE, OPTIONAL("max_steps", TESELA_FIELD_NUMBER),
            UNTYPED_BESIDE)},
    {"convert", op_convert, "how to convert one register layout to another",
     FIELDS(REQUIRED("from", TESELA_FIELD_TEXT), REQUIRED("to", TESELA_FIELD_TEXT),
            OPTIONAL("dtype", TESELA_FIELD_TEXT), {"through", TESELA_FIELD_TEXT, true, "any|shuffle|shared"},
            OPTIONAL("cuda", TESELA_FIELD_TEXT), OPTIONAL("warp", TESELA_FIELD_NUMBER),
            OPTIONAL("max_steps", TESELA_FIELD_NUMBER), UNTYPED_BESIDE)},
    {"infer", op_infer, "layouts for all tensors of a kernel program",
     FIELDS(REQUIRED("program", TESELA_FIELD_TEXT))},
    {"device_layout", op_device_layout, "a device layout: its dims, sizes and nests",
     FIELDS(OPTIONAL("host", TESELA_FIELD_OBJECT), REQUIRED("layout", TESELA_FIELD_DEVICE), DEVICE_TYPES,
            OPTIONAL("indices", TESELA_FIELD_INDICES))},
    {"dma", op_dma, "a transfer between host and device as loop nests",
     FIELDS(OPTIONAL("host", TESELA_FIELD_OBJECT), REQUIRED("layout", TESELA_FIELD_DEVICE), DEVICE_TYPES,
            {"direction", TESELA_FIELD_TEXT, true, "to_device|to_host"},
            {"form", TESELA_FIELD_TEXT, true, "merged|plain"}, OPTIONAL("innermost_first", TESELA_FIELD_FLAG),
            OPTIONAL("padding", TESELA_FIELD_FLAG), OPTIONAL("limits", TESELA_FIELD_OBJECT),
            OPTIONAL("box", TESELA_FIELD_OBJECT))},
    {"view", op_view, "where a strided view lies on the device",
     FIELDS(REQUIRED("base", TESELA_FIELD_OBJECT), REQUIRED("view", TESELA_FIELD_OBJECT), DEVICE_TYPES)},
    {"restickify", op_restickify, "the same kind of layout with another dim in the sticks",
     FIELDS(OPTIONAL("host", TESELA_FIELD_OBJECT), REQUIRED("layout", TESELA_FIELD_DEVICE),
            REQUIRED("to_stick", TESELA_FIELD_NUMBER), DEVICE_TYPES)},
    {"propagate", op_propagate, "device layouts for a program, and the moves it needs",
     FIELDS(REQUIRED("graph", TESELA_FIELD_OBJECT), {"mode", TESELA_FIELD_TEXT, true, "strict|auto"},
            OPTIONAL("target", TESELA_FIELD_TEXT), OPTIONAL("share", TESELA_FIELD_FLAG),
            OPTIONAL("spread", TESELA_FIELD_FLAG), OPTIONAL("compact", TESELA_FIELD_FLAG),
            OPTIONAL("copies", TESELA_FIELD_FLAG))},
    {"graph_assign", op_graph_assign, "a program with device layouts and the moves it needs",
     FIELDS(LAID_OUT, OPTIONAL("padding", TESELA_FIELD_FLAG))},
    {"graph_plan", op_graph_plan, "offsets for the buffers of a program",
     FIELDS(LAID_OUT, OPTIONAL("capacity", TESELA_FIELD_NUMBER), OPTIONAL("scratchpad", TESELA_FIELD_NUMBER),
            OPTIONAL("no_reuse", TESELA_FIELD_FLAG), OPTIONAL("inputs", TESELA_FIELD_FLAG),
            OPTIONAL("csv", TESELA_FIELD_TEXT))},
    {"graph_loops", op_graph_loops, "operators of a program as loops over tiled memory",
     FIELDS(LAID_OUT, OPTIONAL("node", TESELA_FIELD_TEXT), OPTIONAL("cores", TESELA_FIELD_NUMBER))},
    {"graph_run", op_graph_run, "a program run on tiled and on plain memory",
     FIELDS(LAID_OUT, OPTIONAL("seed", TESELA_FIELD_NUMBER), OPTIONAL("max_steps", TESELA_FIELD_NUMBER),
            OPTIONAL("max_bytes", TESELA_FIELD_NUMBER), OPTIONAL("in", TESELA_FIELD_OBJECT),
            OPTIONAL("out", TESELA_FIELD_OBJECT))},
    {"plan_memory", op_plan_memory, "offsets for buffers with lifetimes",
     FIELDS(REQUIRED("buffers", TESELA_FIELD_OBJECTS), OPTIONAL("capacity", TESELA_FIELD_NUMBER),
            OPTIONAL("spill", TESELA_FIELD_FLAG))},
    {"report", op_report, "the padding in memory reports and HLO text",
     FIELDS(OPTIONAL("text", TESELA_FIELD_TEXT), OPTIONAL("texts", TESELA_FIELD_OBJECTS),
            OPTIONAL("files", TESELA_FIELD_TEXTS), {"by", TESELA_FIELD_TEXT, true, "waste|size|expansion"},
            REPORT_ROWS, OPTIONAL("max_waste", TESELA_FIELD_TEXT), OPTIONAL("max_bytes", TESELA_FIELD_TEXT),
            OPTIONAL("max_peak", TESELA_FIELD_TEXT), OPTIONAL("timeline", TESELA_FIELD_FLAG),
            OPTIONAL("baseline", TESELA_FIELD_OBJECT))},
    {"diff", op_diff, "the arrays that changed between two reports",
     FIELDS(REQUIRED("before", TESELA_FIELD_OBJECT), REQUIRED("after", TESELA_FIELD_OBJECT), REPORT_ROWS)},
    {"formats", op_formats, "the formats of the tiled-layout document", NO_FIELDS},
    {"version", op_version, "the version of the library", NO_FIELDS},
    {"ops", op_ops, "the operations and their fields", FIELDS(OPTIONAL("name", TESELA_FIELD_TEXT))},
};

const tesela_op_entry *tesela_ops(int32_t *n) {
  if (n) *n = sizeof table / sizeof table[0];
  return table;
}
