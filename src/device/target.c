/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - the built-in targets; types and checks of a target. */
#include <string.h>

#include <tesela/device.h>

#include "base/base.h"

/* Sticks of 128 bytes; s64 is stored as s32, bool and bf16 as a 16-bit float. */
static const tesela_target target_spyre = {
    .name = "spyre",
    .stick_bytes = 128,
    .alignment = 128,
    .max_rank = 6,
    .order = TESELA_ORDER_GENERIC,
    .sparse = true,
    .keep_host_bytes = true,
    .n_types = 10,
    .type = {{TESELA_F16, TESELA_F16, 16},
             {TESELA_BF16, TESELA_F16, 16},
             {TESELA_PRED, TESELA_F16, 16},
             {TESELA_F32, TESELA_F32, 32},
             {TESELA_S64, TESELA_S32, 32},
             {TESELA_S32, TESELA_S32, 32},
             {TESELA_S8, TESELA_S8, 8},
             {TESELA_U8, TESELA_U32, 32},
             {TESELA_F8E4M3FN, TESELA_F8E4M3FN, 8},
             {TESELA_F8E5M2, TESELA_F8E5M2, 8}},
    .cores = 32,
    .scratchpad_bytes = 2 << 20,
};

/* Tiles of 32x32 made of faces of 16x16, a stick is a row of a face; every type is stored in 32 bits. */
static const tesela_target target_tiles = {
    .name = "tiles",
    .stick_bytes = 64,
    .alignment = 64,
    .max_rank = 8,
    .order = TESELA_ORDER_TILES,
    .n_tiles = 2,
    .tile = {{32, 32}, {16, 16}},
    .n_types = 6,
    .type = {{TESELA_F32, TESELA_F32, 32},
             {TESELA_F16, TESELA_F32, 32},
             {TESELA_BF16, TESELA_F32, 32},
             {TESELA_PRED, TESELA_F32, 32},
             {TESELA_S32, TESELA_S32, 32},
             {TESELA_S8, TESELA_S32, 32}},
    .cores = 64,
    .scratchpad_bytes = 1 << 20,
};

static const tesela_target *const target_builtin[] = {&target_spyre, &target_tiles};

enum { TARGET_BUILTINS = sizeof target_builtin / sizeof *target_builtin };

const tesela_target *tesela_target_at(int32_t k) {
  return k >= 0 && k < (int32_t)TARGET_BUILTINS ? target_builtin[k] : NULL;
}

const tesela_target *tesela_target_find(const char *name) {
  if (!name) return NULL;
  for (int32_t k = 0; k < (int32_t)TARGET_BUILTINS; k++)
    if (strcmp(target_builtin[k]->name, name) == 0) return target_builtin[k];
  return NULL;
}

static const tesela_dtype target_dtypes[] = {
#define TESELA__ROW(symbol, number, name, bits, bytes, family) symbol,
    TESELA_DTYPE_MAP(TESELA__ROW)
#undef TESELA__ROW
};

tesela_status tesela_target_plain(tesela_target *target, int64_t stick_bytes, tesela_error *err) {
  TESELA__NEED(err, target);
  if (stick_bytes < 1 || stick_bytes > 1 << 20)
    return tesela__fail(err, TESELA_E_RANGE, -1, "sticks of %lld bytes; expected 1 to 1048576",
                        (long long)stick_bytes);
  tesela_target plain = target_spyre;
  memset(plain.name, 0, sizeof plain.name);
  memcpy(plain.name, "plain", sizeof "plain");
  plain.stick_bytes = plain.alignment = stick_bytes;
  plain.max_rank = TESELA_MAX_RANK;
  plain.n_types = 0;
  for (size_t k = 0; k < sizeof target_dtypes / sizeof *target_dtypes; k++)
    if (tesela_dtype_bytes(target_dtypes[k]) > 0 && plain.n_types < TESELA_TARGET_TYPES)
      plain.type[plain.n_types++] =
          (tesela_target_type){target_dtypes[k], target_dtypes[k], 8 * tesela_dtype_bytes(target_dtypes[k])};
  *target = plain;
  return TESELA_OK;
}

tesela_status tesela_target_type_of(const tesela_target *target, tesela_dtype host, tesela_target_type *type,
                                    int64_t *lanes, tesela_error *err) {
  TESELA__NEED(err, target, type);
  const tesela_target_type *found = NULL;
  for (int32_t k = 0; k < target->n_types && found == NULL; k++)
    if (target->type[k].host == host) found = &target->type[k];
  const char *name = tesela_dtype_name(host);
  if (found == NULL)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "target %s has no type for %s", target->name,
                        name == NULL ? "a tensor without a type" : name);
  int64_t bytes = found->device_bits / 8;
  if (bytes < 1 || target->stick_bytes % bytes != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "a stick of %lld bytes is not a whole number of elements of %lld bytes (%s)",
                        (long long)target->stick_bytes, (long long)bytes, name);
  *type = *found;
  if (lanes != NULL) *lanes = target->stick_bytes / bytes;
  return TESELA_OK;
}

/* ---- consistency ----------------------------------------------------------------------------------------- */

static tesela_status target_check_types(const tesela_target *target, tesela_error *err) {
  if (target->n_types < 0 || target->n_types > TESELA_TARGET_TYPES)
    return tesela__fail(err, TESELA_E_RANGE, -1, "target %s has %d types; expected 0 to %d", target->name,
                        target->n_types, TESELA_TARGET_TYPES);
  for (int32_t k = 0; k < target->n_types; k++) {
    const tesela_target_type *type = &target->type[k];
    const char *host = tesela_dtype_name(type->host), *device = tesela_dtype_name(type->device);
    if (host == NULL || device == NULL)
      return tesela__fail(err, TESELA_E_RANGE, -1, "type row %d of target %s has an unknown type", k,
                          target->name);
    if (type->device_bits < tesela_dtype_bits(type->device) || type->device_bits % 8 != 0 ||
        type->device_bits < 8 || type->device_bits > 128)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "%s stored as %s in %d bits; expected whole bytes, %d to 128 bits", host, device,
                          type->device_bits, tesela_dtype_bits(type->device));
    for (int32_t j = 0; j < k; j++)
      if (target->type[j].host == type->host)
        return tesela__fail(err, TESELA_E_INVALID, -1, "type %s is given twice", host);
  }
  return TESELA_OK;
}

static tesela_status target_check_tiles(const tesela_target *target, tesela_error *err) {
  if (target->order != TESELA_ORDER_TILES)
    return target->n_tiles == 0
               ? TESELA_OK
               : tesela__fail(err, TESELA_E_INVALID, -1, "tiles without order tiles (the order is %s)",
                              tesela_order_name(target->order));
  if (target->n_tiles < 1 || target->n_tiles > TESELA_TARGET_TILES)
    return tesela__fail(err, TESELA_E_RANGE, -1, "order tiles with %d levels; expected 1 to %d",
                        target->n_tiles, TESELA_TARGET_TILES);
  for (int32_t k = 0; k < target->n_tiles; k++)
    for (int32_t side = 0; side < 2; side++) {
      int64_t tile = target->tile[k][side];
      if (tile < 1 || tile > 1 << 20)
        return tesela__fail(err, TESELA_E_RANGE, -1, "a tile of %lldx%lld; expected sides of 1 to 1048576",
                            (long long)target->tile[k][0], (long long)target->tile[k][1]);
      if (k > 0 && target->tile[k - 1][side] % tile != 0)
        return tesela__fail(err, TESELA_E_INVALID, -1, "tiles of %lldx%lld do not divide tiles of %lldx%lld",
                            (long long)target->tile[k][0], (long long)target->tile[k][1],
                            (long long)target->tile[k - 1][0], (long long)target->tile[k - 1][1]);
    }
  return TESELA_OK;
}

static tesela_status target_check_rules(const tesela_target *target, tesela_error *err) {
  if (target->n_rules < 0 || target->n_rules > TESELA_TARGET_RULES)
    return tesela__fail(err, TESELA_E_RANGE, -1, "target %s has %d rules; expected 0 to %d", target->name,
                        target->n_rules, TESELA_TARGET_RULES);
  for (int32_t k = 0; k < target->n_rules; k++) {
    const tesela_rule *rule = &target->rule[k];
    if (tesela_op_name(rule->op) == NULL || tesela_fn_name(rule->fn) == NULL ||
        tesela_need_name(rule->need) == NULL || tesela_yield_name(rule->yield) == NULL ||
        rule->operand < TESELA_RULE_RESULT || rule->price < -1)
      return tesela__fail(
          err, TESELA_E_RANGE, -1,
          "rule %d of target %s has an unknown operator, function, need, yield, operand or price", k,
          target->name);
    if (memchr(rule->opcode, '\0', sizeof rule->opcode) == NULL)
      return tesela__fail(err, TESELA_E_RANGE, -1, "the opcode of rule %d of target %s is not terminated", k,
                          target->name);
    bool unknown =
        rule->op == TESELA_OP_FALLBACK ||
        (rule->fn == TESELA_FN_FUSED && (rule->op == TESELA_OP_POINTWISE || rule->op == TESELA_OP_ALONG));
    if (rule->opcode[0] != '\0' && !unknown)
      return tesela__fail(
          err, TESELA_E_INVALID, -1,
          "rule %d of target %s has opcode %s; only fallback, pointwise.fused and along.fused can have one",
          k, target->name, rule->opcode);
  }
  return TESELA_OK;
}

tesela_status tesela_target_check(const tesela_target *target, tesela_error *err) {
  TESELA__NEED(err, target);
  const tesela_dma_limits *dma = &target->dma;
  if (memchr(target->name, '\0', sizeof target->name) == NULL || target->name[0] == '\0')
    return tesela__fail(err, TESELA_E_INVALID, -1, "a target needs a name of 1 to %d bytes",
                        TESELA_TARGET_NAME - 1);
  if (target->stick_bytes < 1 || target->stick_bytes > 1 << 20)
    return tesela__fail(err, TESELA_E_RANGE, -1, "sticks of %lld bytes; expected 1 to 1048576",
                        (long long)target->stick_bytes);
  if (target->alignment < 1 || target->alignment > (int64_t)1 << 30)
    return tesela__fail(err, TESELA_E_RANGE, -1, "alignment %lld; expected 1 to 2^30 bytes",
                        (long long)target->alignment);
  if (target->max_rank < 0 || target->max_rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_RANGE, -1, "max_rank %d; expected 0 to %d", target->max_rank,
                        TESELA_MAX_RANK);
  if (tesela_order_name(target->order) == NULL)
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown order %d", (int)target->order);
  if (target->cores < 0 || target->scratchpad_bytes < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "%d cores and a scratchpad of %lld bytes; expected 0 or more", target->cores,
                        (long long)target->scratchpad_bytes);
  if (dma->max_dims < 0 || dma->max_extent < 0 || dma->alignment < 0 || dma->min_burst < 0 ||
      dma->max_burst < 0 || dma->max_nests < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "negative limit of dma; expected 0 (no limit) or more");
  tesela_status status = target_check_types(target, err);
  if (status == TESELA_OK) status = target_check_tiles(target, err);
  return status != TESELA_OK ? status : target_check_rules(target, err);
}
