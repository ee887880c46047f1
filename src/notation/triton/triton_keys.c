/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_keys.c - the names of Triton's encodings and of their fields, in MLIR, in Gluon's Python and in older releases.
 *
 * Source: TritonGPUAttrDefs.td and TritonNvidiaGPUAttrDefs.td of Triton 3.9; _layouts.py of Gluon. Older fields: Triton 2.1 to
 * 3.2 (dialect triton_gpu).
 */
#include <stdio.h>

#include "notation/triton/triton.h"

/* ---- kinds ---- */

typedef struct triton_kind_names {
  const char *mlir, *older, *python; /* or "" */
  tesela__triton_kind kind;
} triton_kind_names;

static const triton_kind_names triton_names[] = {
    {"blocked", "", "BlockedLayout", TESELA__TRITON_BLOCKED},
    {"linear", "generic_linear", "DistributedLinearLayout", TESELA__TRITON_LINEAR},
    {"slice", "", "SliceLayout", TESELA__TRITON_SLICE},
    {"dot_op", "", "DotOperandLayout", TESELA__TRITON_DOT},
    {"nvidia_mma", "mma", "NVMMADistributedLayout", TESELA__TRITON_MMA},
    {"amd_mfma", "mfma", "AMDMFMALayout", TESELA__TRITON_MFMA},
    {"amd_wmma", "wmma", "AMDWMMALayout", TESELA__TRITON_WMMA},
    {"swizzled_shared", "shared", "SwizzledSharedLayout", TESELA__TRITON_SWIZZLED},
    {"nvmma_shared", "", "NVMMASharedLayout", TESELA__TRITON_NVMMA},
    {"amd_rotating_shared", "", "", TESELA__TRITON_ROTATING},
    {"padded_shared", "", "PaddedSharedLayout", TESELA__TRITON_PADDED},
    {"shared_linear", "", "SharedLinearLayout", TESELA__TRITON_SHARED_LINEAR},
    {"tensor_memory_encoding", "", "TensorMemoryLayout", TESELA__TRITON_TENSOR_MEMORY},
    {"tensor_memory_scales_encoding", "", "TensorMemoryScalesLayout", TESELA__TRITON_SCALES},
    {"partitioned_shared", "", "PartitionedSharedLayout", TESELA__TRITON_REFUSED},
    {"auto_encoding", "", "AutoLayout", TESELA__TRITON_REFUSED},
    {"coalesced_encoding", "", "CoalescedLayout", TESELA__TRITON_REFUSED},
};

enum { TRITON_NAMES = sizeof triton_names / sizeof triton_names[0] };

static const char *triton_mlir_name(int32_t i) { return i < TRITON_NAMES ? triton_names[i].mlir : NULL; }
static const char *triton_python_name(int32_t i) { return i < TRITON_NAMES ? triton_names[i].python : NULL; }

tesela_status tesela__triton_kind_of(tesela__reader *r, size_t length, bool python,
                                     tesela__triton_kind *kind) {
  const char *text = r->text + r->at;
  for (int32_t i = 0; i < TRITON_NAMES; i++) {
    const triton_kind_names *name = &triton_names[i];
    if (python
            ? !tesela__same_word(text, length, name->python)
            : !tesela__same_word(text, length, name->mlir) && !tesela__same_word(text, length, name->older))
      continue;
    *kind = name->kind;
    if (*kind != TESELA__TRITON_REFUSED) return TESELA_OK;
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at, "tesela does not read %s",
                             python ? name->python : name->mlir);
  }
  return tesela__read_unknown_of(r, r->at, length, python ? "layout" : "encoding",
                                 python ? triton_python_name : triton_mlir_name);
}

/* ---- fields ---- */

typedef enum triton_field_type {
  TRITON_NUMBER,
  TRITON_BOOL,
  TRITON_LIST,
  TRITON_BASES,
  TRITON_PAIRS, /* [[4, 1], [16, 2]] */
  TRITON_GROUP, /* {register = [..], warp = [..]} */
  TRITON_PARENT,
  TRITON_IGNORED, /* has no influence on places */
} triton_field_type;

/* `need`: 1: must be given, in MLIR and in Python; 2: in MLIR. Python's fields are in the order of its arguments. */
typedef struct triton_key {
  const char *mlir, *python; /* or NULL */
  triton_field_type type;
  int32_t slot, need;
} triton_key;

#define TRITON_CGA                                                                  \
  {"CGALayout", "cga_layout", TRITON_BASES, TESELA__TRITON_BLOCK, 0},               \
      {"CTAsPerCGA", "ctas_per_cga", TRITON_LIST, TESELA__TRITON_CTAS, 0},          \
      {"CTASplitNum", "cta_split_num", TRITON_LIST, TESELA__TRITON_CTA_SPLIT, 0}, { \
    "CTAOrder", "cta_order", TRITON_LIST, TESELA__TRITON_CTA_ORDER, 0               \
  }

static const triton_key triton_blocked[] = {
    {"sizePerThread", "size_per_thread", TRITON_LIST, TESELA__TRITON_SIZE_PER_THREAD, 1},
    {"threadsPerWarp", "threads_per_warp", TRITON_LIST, TESELA__TRITON_THREADS_PER_WARP, 1},
    {"warpsPerCTA", "warps_per_cta", TRITON_LIST, TESELA__TRITON_WARPS_PER_CTA, 1},
    {"order", "order", TRITON_LIST, TESELA__TRITON_ORDER, 1},
    TRITON_CGA,
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_linear[] = {
    {"register", "reg_bases", TRITON_BASES, TESELA__TRITON_REGISTER, 1},
    {"lane", "lane_bases", TRITON_BASES, TESELA__TRITON_LANE, 1},
    {"warp", "warp_bases", TRITON_BASES, TESELA__TRITON_WARP, 1},
    {"block", "block_bases", TRITON_BASES, TESELA__TRITON_BLOCK, 1},
    {NULL, "shape", TRITON_LIST, TESELA__TRITON_SHAPE, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_slice[] = {{"dim", "dim", TRITON_NUMBER, TESELA__TRITON_DIM, 1},
                                          {"parent", "parent", TRITON_PARENT, 0, 1},
                                          {NULL, NULL, 0, 0, 0}};
static const triton_key triton_dot[] = {{"opIdx", "operand_index", TRITON_NUMBER, TESELA__TRITON_OPERAND, 1},
                                        {"parent", "parent", TRITON_PARENT, 0, 1},
                                        {"kWidth", "k_width", TRITON_NUMBER, TESELA__TRITON_K_WIDTH, 0},
                                        {NULL, NULL, 0, 0, 0}};
static const triton_key triton_mma[] = {
    {"versionMajor", NULL, TRITON_NUMBER, TESELA__TRITON_VERSION, 2},
    {"versionMinor", NULL, TRITON_NUMBER, TESELA__TRITON_VERSION_MINOR, 0},
    {NULL, "version", TRITON_LIST, TESELA__TRITON_VERSIONS, 1},
    {"warpsPerCTA", "warps_per_cta", TRITON_LIST, TESELA__TRITON_WARPS_PER_CTA, 1},
    {"instrShape", "instr_shape", TRITON_LIST, TESELA__TRITON_INSTR_SHAPE, 1},
    TRITON_CGA,
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_mfma[] = {
    {"version", "version", TRITON_NUMBER, TESELA__TRITON_VERSION, 0},
    {"instrShape", "instr_shape", TRITON_LIST, TESELA__TRITON_INSTR_SHAPE, 1},
    {"isTransposed", "transposed", TRITON_BOOL, TESELA__TRITON_TRANSPOSED, 1},
    {"warpsPerCTA", "warps_per_cta", TRITON_LIST, TESELA__TRITON_WARPS_PER_CTA, 1},
    {"elementBitWidth", "element_bitwidth", TRITON_NUMBER, TESELA__TRITON_ELEMENT_BITS, 0},
    {"tilesPerWarp", "tiles_per_warp", TRITON_LIST, TESELA__TRITON_TILES_PER_WARP, 0},
    TRITON_CGA,
    {"versionMajor", NULL, TRITON_IGNORED, 0, 0},
    {"versionMinor", NULL, TRITON_IGNORED, 0, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_wmma[] = {
    {"version", "version", TRITON_NUMBER, TESELA__TRITON_VERSION, 1},
    {"isTranspose", "transposed", TRITON_BOOL, TESELA__TRITON_TRANSPOSED, 1},
    {"ctaLayout", NULL, TRITON_GROUP, 0, 0},
    {NULL, "warp_bases", TRITON_BASES, TESELA__TRITON_WARP, 1},
    {NULL, "reg_bases", TRITON_BASES, TESELA__TRITON_REGISTER, 0},
    {"instrShape", "instr_shape", TRITON_LIST, TESELA__TRITON_INSTR_SHAPE, 0},
    TRITON_CGA,
    {"warpsPerCTA", NULL, TRITON_LIST, TESELA__TRITON_WARPS_PER_CTA, 0},
    {"tilesPerWarp", NULL, TRITON_LIST, TESELA__TRITON_TILES_PER_WARP, 0},
    {NULL, "rank", TRITON_NUMBER, TESELA__TRITON_OF_RANK, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_swizzled[] = {
    {"vec", "vec", TRITON_NUMBER, TESELA__TRITON_VEC, 1},
    {"perPhase", "per_phase", TRITON_NUMBER, TESELA__TRITON_PER_PHASE, 1},
    {"maxPhase", "max_phase", TRITON_NUMBER, TESELA__TRITON_MAX_PHASE, 1},
    {"order", "order", TRITON_LIST, TESELA__TRITON_ORDER, 1},
    TRITON_CGA,
    {"hasLeadingOffset", NULL, TRITON_BOOL, TESELA__TRITON_LEADING, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_nvmma[] = {
    {"swizzlingByteWidth", "swizzle_byte_width", TRITON_NUMBER, TESELA__TRITON_SWIZZLE_BYTES, 1},
    {"elementBitWidth", "element_bitwidth", TRITON_NUMBER, TESELA__TRITON_ELEMENT_BITS, 1},
    {NULL, "rank", TRITON_NUMBER, TESELA__TRITON_OF_RANK, 0},
    {"transposed", "transposed", TRITON_BOOL, TESELA__TRITON_TRANSPOSED, 2},
    {"fp4Padded", "fp4_padded", TRITON_BOOL, TESELA__TRITON_FP4, 0},
    TRITON_CGA,
    {"rank", NULL, TRITON_NUMBER, TESELA__TRITON_OF_RANK, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_padded[] = {
    {NULL, "interval_padding_pairs", TRITON_PAIRS, 0, 1},
    {"offset", "offset_bases", TRITON_BASES, TESELA__TRITON_REGISTER, 0},
    {"block", "cga_layout", TRITON_BASES, TESELA__TRITON_BLOCK, 0},
    {"shape", "shape", TRITON_LIST, TESELA__TRITON_SHAPE, 0},
    {"order", NULL, TRITON_LIST, TESELA__TRITON_ORDER, 0},
    {"CGALayout", NULL, TRITON_BASES, TESELA__TRITON_BLOCK, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_shared_linear[] = {
    {"offset", "offset_bases", TRITON_BASES, TESELA__TRITON_REGISTER, 1},
    {"block", "block_bases", TRITON_BASES, TESELA__TRITON_BLOCK, 0},
    {"alignment", "alignment", TRITON_NUMBER, TESELA__TRITON_ALIGNMENT, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_tensor_memory[] = {
    {"blockM", NULL, TRITON_NUMBER, TESELA__TRITON_BLOCK_M, 2},
    {"blockN", NULL, TRITON_NUMBER, TESELA__TRITON_BLOCK_N, 2},
    {NULL, "block", TRITON_LIST, TESELA__TRITON_BLOCK_SHAPE, 1},
    {"colStride", "col_stride", TRITON_NUMBER, TESELA__TRITON_COL_STRIDE, 0},
    {"CGALayout", "cga_layout", TRITON_BASES, TESELA__TRITON_BLOCK, 0},
    {"twoCTAs", "two_ctas", TRITON_BOOL, TESELA__TRITON_TWO_CTAS, 0},
    {"fp4Padded", "fp4_padded", TRITON_BOOL, TESELA__TRITON_FP4, 0},
    {"unpacked", NULL, TRITON_BOOL, TESELA__TRITON_UNPACKED, 0},
    {NULL, NULL, 0, 0, 0}};
static const triton_key triton_scales[] = {{"CGALayout", "cga_layout", TRITON_BASES, TESELA__TRITON_BLOCK, 0},
                                           {NULL, NULL, 0, 0, 0}};

static const triton_key *const triton_tables[] = {
    [TESELA__TRITON_BLOCKED] = triton_blocked,
    [TESELA__TRITON_LINEAR] = triton_linear,
    [TESELA__TRITON_SLICE] = triton_slice,
    [TESELA__TRITON_DOT] = triton_dot,
    [TESELA__TRITON_MMA] = triton_mma,
    [TESELA__TRITON_MFMA] = triton_mfma,
    [TESELA__TRITON_WMMA] = triton_wmma,
    [TESELA__TRITON_SWIZZLED] = triton_swizzled,
    [TESELA__TRITON_NVMMA] = triton_nvmma,
    [TESELA__TRITON_ROTATING] = triton_swizzled,
    [TESELA__TRITON_PADDED] = triton_padded,
    [TESELA__TRITON_SHARED_LINEAR] = triton_shared_linear,
    [TESELA__TRITON_TENSOR_MEMORY] = triton_tensor_memory,
    [TESELA__TRITON_SCALES] = triton_scales,
};

/* The i-th name of a table that the language has; "" for gaps. */
typedef struct triton_names_of {
  const triton_key *key;
  bool python;
} triton_names_of;

static const char *triton_key_name(const void *user, int32_t i) {
  const triton_names_of *of = user;
  if (!of->key[i].mlir && !of->key[i].python) return NULL;
  const char *name = of->python ? of->key[i].python : of->key[i].mlir;
  return name ? name : "";
}

static const triton_key *triton_find_key(tesela__reader *r, const triton_key *table, bool python,
                                         const tesela__attribute_field *field, int32_t position,
                                         tesela_status *status) {
  const triton_names_of of = {table, python};
  const char *name;
  int32_t named = 0;
  *status = TESELA_OK;
  for (int32_t i = 0; (name = triton_key_name(&of, i)) != NULL; i++) {
    if (!*name) continue;
    if (field->name_length == 0 ? python && named++ == position
                                : tesela__same_word(r->text + field->name, field->name_length, name))
      return &table[i];
  }
  r->at = field->name;
  if (field->name_length == 0)
    *status = python ? tesela__read_fail(r, TESELA_E_SYNTAX, field->at, "too many arguments")
                     : tesela__read_unexpected(r, "a key", "");
  else
    *status = tesela__read_unknown_among(r, field->name, field->name_length, "key", triton_key_name, &of);
  return NULL;
}

/* ---- values ---- */

static tesela_status triton_bases(tesela__reader *r, const tesela__attribute_field *field, const char *name,
                                  int32_t in, tesela__triton *out) {
  out->has_bases |= UINT32_C(1) << in;
  return tesela__attribute_rows(r, field, name, TESELA_LINEAR_BITS, TESELA__TRITON_RANK, out->bases[in][0],
                                &out->n_bases[in], &out->rank);
}

/* {register = [[0, 1]], warp = [[0, 2], [2, 0]]}. */
static tesela_status triton_group(tesela__reader *r, const tesela__attribute_field *field,
                                  tesela__triton *out) {
  static const triton_key keys[] = {{"register", NULL, TRITON_BASES, TESELA__TRITON_REGISTER, 0},
                                    {"warp", NULL, TRITON_BASES, TESELA__TRITON_WARP, 0},
                                    {NULL, NULL, 0, 0, 0}};
  tesela__attribute group = {.n = 0};
  r->at = field->at;
  tesela_status status = tesela__read_expect(r, '{', "");
  if (status == TESELA_OK) status = tesela__attribute_read(r, '}', &group);
  for (int32_t i = 0; status == TESELA_OK && i < group.n; i++) {
    const triton_key *key = triton_find_key(r, keys, false, &group.field[i], i, &status);
    if (key) status = triton_bases(r, &group.field[i], key->mlir, key->slot, out);
  }
  return status;
}

static tesela_status triton_pairs(tesela__reader *r, const tesela__attribute_field *field,
                                  tesela__triton *out) {
  int64_t row[TESELA__TRITON_PAIRS][2];
  int32_t width = 0;
  tesela_status status = tesela__attribute_rows(r, field, "interval_padding_pairs", TESELA__TRITON_PAIRS, 2,
                                                row[0], &out->n_pairs, &width);
  if (status == TESELA_OK && width != 2)
    status =
        tesela__read_fail(r, TESELA_E_INVALID, field->at, "expected pairs of an interval and its padding");
  for (int32_t i = 0; status == TESELA_OK && i < out->n_pairs; i++) {
    out->interval[i] = row[i][0];
    out->padding[i] = row[i][1];
  }
  return status;
}

static tesela_status triton_value(tesela__reader *r, const triton_key *key, bool python,
                                  const tesela__attribute_field *field, tesela__triton *out,
                                  tesela__attribute_field *parent) {
  const char *name = python ? key->python : key->mlir;
  bool yes = false;
  tesela_status status = TESELA_OK;
  if (python && field->end - field->at == 4 && memcmp(r->text + field->at, "None", 4) == 0) return TESELA_OK;
  switch (key->type) {
  case TRITON_NUMBER:
    out->has_number |= UINT32_C(1) << key->slot;
    return tesela__attribute_integer(r, field, name, INT32_MAX, &out->number[key->slot]);
  case TRITON_BOOL:
    status = tesela__attribute_bool(r, field, &yes);
    out->has_number |= UINT32_C(1) << key->slot;
    out->number[key->slot] = yes;
    return status;
  case TRITON_LIST:
    out->has_list |= UINT32_C(1) << key->slot;
    return tesela__attribute_list(r, field, name, TESELA__TRITON_RANK, out->list[key->slot],
                                  &out->n_list[key->slot]);
  case TRITON_BASES:
    return triton_bases(r, field, name, key->slot, out);
  case TRITON_PAIRS:
    return triton_pairs(r, field, out);
  case TRITON_GROUP:
    return triton_group(r, field, out);
  case TRITON_PARENT:
    *parent = *field;
    return TESELA_OK;
  case TRITON_IGNORED:
    return TESELA_OK;
  }
  return status;
}

/* "[4:+1, 16:+2]" of a padded layout. */
static tesela_status triton_intervals(tesela__reader *r, tesela__triton *out) {
  tesela_status status = tesela__read_expect(r, '[', "");
  for (bool more = status == TESELA_OK; more && status == TESELA_OK; out->n_pairs++) {
    int32_t i = out->n_pairs;
    if (i == TESELA__TRITON_PAIRS)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d intervals", TESELA__TRITON_PAIRS);
    status = tesela__read_integer(r, "an interval", 1, INT32_MAX, &out->interval[i]);
    if (status == TESELA_OK) status = tesela__read_expect(r, ':', " after the interval");
    if (status == TESELA_OK) status = tesela__read_expect(r, '+', " after the interval");
    if (status == TESELA_OK) status = tesela__read_integer(r, "the padding", 1, INT32_MAX, &out->padding[i]);
    if (status == TESELA_OK) status = tesela__read_more(r, ']', false, &more);
  }
  return status;
}

/* <{a = 1, b = 2}>, <{a = 1}, b = 2>, <a = 1, b = 2>, <[..] {a = 1}>, (a=1, b=2) */
static tesela_status triton_brackets(tesela__reader *r, bool python, tesela__triton *out,
                                     tesela__attribute *list) {
  tesela_status status = tesela__read_expect(r, python ? '(' : '<', "");
  if (status != TESELA_OK || python)
    return status == TESELA_OK ? tesela__attribute_read(r, ')', list) : status;
  if (out->kind == TESELA__TRITON_PADDED) {
    status = triton_intervals(r, out);
    if (status == TESELA_OK && tesela__read_peek(r) != '{') return tesela__read_unexpected(r, "'{'", "");
  }
  if (status == TESELA_OK && tesela__read_take(r, '{')) {
    bool more = false;
    status = tesela__attribute_read(r, '}', list);
    if (status == TESELA_OK) status = tesela__read_more(r, '>', false, &more);
    if (status != TESELA_OK || !more) return status;
  }
  return status == TESELA_OK ? tesela__attribute_read(r, '>', list) : status;
}

tesela_status tesela__triton_fields(tesela__reader *r, bool python, tesela__triton *out,
                                    tesela__attribute_field *parent) {
  const triton_key *table = triton_tables[out->kind], *key;
  tesela__attribute list = {.n = 0};
  uint64_t given = 0;
  size_t open = (tesela__read_peek(r), r->at);
  tesela_status status = triton_brackets(r, python, out, &list);
  size_t end = r->at;
  for (int32_t i = 0; status == TESELA_OK && i < list.n; i++) {
    key = triton_find_key(r, table, python, &list.field[i], i, &status);
    if (!key) return status;
    if (given >> (key - table) & 1)
      return tesela__read_fail(r, TESELA_E_SYNTAX, list.field[i].at, "'%s' is given twice",
                               python ? key->python : key->mlir);
    given |= UINT64_C(1) << (key - table);
    status = triton_value(r, key, python, &list.field[i], out, parent);
  }
  for (key = table; status == TESELA_OK && (key->mlir || key->python); key++) {
    const char *name = python ? key->python : key->mlir;
    bool needed = key->need == 1 || (key->need == 2 && !python);
    if (name && needed && !(given >> (key - table) & 1))
      status = tesela__read_fail(r, TESELA_E_SYNTAX, open, "'%s' is missing", name);
  }
  r->at = end;
  return status;
}
