/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.c - which notation a LAYOUT text is in, and reading it.
 */
#include "kind.h"

#include <tesela/register.h>

#include <stdio.h>
#include <string.h>

static const struct {
  const char *prefix, *words;
} kinds[] = {
    [KIND_XLA] = {"xla", "an XLA layout"},
    [KIND_REGISTER] = {"register", "a register layout"},
    [KIND_SHARED] = {"shared", "a tile in shared memory"},
    [KIND_GLOBAL] = {"global", "a tile in global memory"},
    [KIND_DEVICE] = {"device", "a device layout"},
    [KIND_EXPRESSION] = {"", "a register layout or a tile in memory"},
};

const char *kind_words(layout_kind kind) { return kinds[kind].words; }
const char *kind_name(layout_kind kind) { return kinds[kind].prefix; }

layout_kind kind_named(const char *name, size_t length) {
  int k = KIND_XLA;
  while (k < KIND_EXPRESSION &&
         (length != strlen(kinds[k].prefix) || memcmp(name, kinds[k].prefix, length) != 0))
    k++;
  return (layout_kind)k;
}

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/* As kind_of; `allowed` ends the message: "the kind is xla". */
static tesela_status find_kind(const char *text, size_t length, const char *allowed, layout_kind *kind,
                               size_t *used, tesela_error *err) {
  size_t blanks = 0, n = 0;
  while (blanks < length && (text[blanks] == ' ' || text[blanks] == '\t')) blanks++;
  const char *word = text + blanks;
  while (blanks + n < length && is_letter(word[n])) n++;
  *used = 0;
  if (n == 0 || blanks + n == length || word[n] != ':') {
    *kind = tesela_device_text_is(text, length)          ? KIND_DEVICE
            : tesela_expression_looks_like(text, length) ? KIND_EXPRESSION
                                                         : KIND_XLA;
    return TESELA_OK;
  }
  *kind = kind_named(word, n);
  *used = blanks + n + 1;
  if (*kind != KIND_EXPRESSION) return TESELA_OK;
  *used = 0;
  *err = (tesela_error){.status = TESELA_E_UNSUPPORTED, .at = (int64_t)blanks};
  snprintf(err->message, sizeof err->message, "layouts of the kind %.*s are not read; %s",
           n < 40 ? (int)n : 40, word, allowed);
  return err->status;
}

static bool is_family(const char *word, size_t length) {
  int32_t n;
  const tesela_fragment *fragment = tesela_fragments(&n);
  for (int32_t i = 0; i < n; i++)
    if (strlen(fragment[i].family) == length && memcmp(fragment[i].family, word, length) == 0) return true;
  return false;
}

/* A family of fragments alone, "mma", or a name with a dot that begins as no fragment and no type does, "nosuch.x": what
 * is wrong with it as the name of a fragment. TESELA_OK for all else. */
static tesela_status check_fragment(const char *text, size_t length, tesela_error *err) {
  size_t blanks = 0, n = 0;
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) && text[length - 1] != '\0') length--;
  while (blanks < length && (text[blanks] == ' ' || text[blanks] == '\t')) blanks++;
  const char *word = text + blanks;
  while (blanks + n < length && (is_letter(word[n]) || word[n] == '_' || (word[n] >= '0' && word[n] <= '9')))
    n++;
  if (n == 0 || !is_letter(word[0])) return TESELA_OK;
  bool ends = blanks + n == length;
  if (ends ? !is_family(word, n) : word[n] != '.' || tesela_dtype_suggest(word, n)) return TESELA_OK;
  tesela_status status = tesela_fragment_find(word, length - blanks, NULL, NULL, err);
  if (status != TESELA_OK) kind_shift(blanks, NULL, err);
  return status;
}

tesela_status kind_of(const char *text, size_t length, layout_kind *kind, size_t *used, tesela_error *err) {
  tesela_status status =
      find_kind(text, length, "the kinds are xla, register, shared, global and device", kind, used, err);
  return status == TESELA_OK && *kind == KIND_XLA && *used == 0 ? check_fragment(text, length, err) : status;
}

void kind_shift(size_t used, tesela_xla_repairs *repairs, tesela_error *err) {
  if (err && err->at >= 0) err->at += (int64_t)used;
  for (int32_t i = 0; repairs && i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs->repair[i].at += (int64_t)used;
}

/* ---- expressions ------------------------------------------------------------------------------------------ */

static tesela_status relation_of(const any_layout *any, tesela_layout *layout, tesela_error *err) {
  if (any->kind == KIND_DEVICE) return tesela_device_to_layout(&any->device, layout, err);
  if (any->kind == KIND_REGISTER)
    return tesela_register_to_layout(&any->registers, TESELA_DTYPE_NONE, 8, layout, err);
  return tesela_tile_memory_to_layout(&any->memory, TESELA_DTYPE_NONE, 8, layout, err);
}

tesela_status kind_read_expression(const char *text, size_t length, layout_kind wanted, any_layout *any,
                                   tesela_error *err) {
  tesela_expression read;
  if (wanted == KIND_DEVICE) {
    *err = (tesela_error){.status = TESELA_E_MISMATCH, .at = 0};
    snprintf(err->message, sizeof err->message, "this is %s; %s is read here", kinds[KIND_DEVICE].words,
             kinds[KIND_EXPRESSION].words);
    return err->status;
  }
  tesela_status status = tesela_expression_parse(text, length, &read, err);
  if (status != TESELA_OK) return status;
  if (read.kind == TESELA_EXPRESSION_REGISTER) {
    any->kind = KIND_REGISTER;
    any->registers = read.registers;
  } else {
    any->kind = read.memory.space == TESELA_TILE_SHARED ? KIND_SHARED : KIND_GLOBAL;
    any->memory = read.memory;
  }
  if (wanted == KIND_EXPRESSION || any->kind == wanted) return TESELA_OK;
  *err = (tesela_error){.status = TESELA_E_MISMATCH, .at = 0};
  snprintf(err->message, sizeof err->message, "this is %s, and %s: says %s", kinds[any->kind].words,
           kinds[wanted].prefix, kinds[wanted].words);
  return err->status;
}

tesela_status kind_read_any(const char *text, size_t length, int32_t flags, any_layout *any,
                            tesela_layout *layout, tesela_xla_repairs *repairs, tesela_error *err) {
  layout_kind kind;
  size_t used;
  tesela_status status = kind_of(text, length, &kind, &used, err);
  if (status != TESELA_OK) return status;
  if (kind == KIND_XLA) {
    any->kind = KIND_XLA;
    return kind_read(text, length, flags, &any->shape, layout, repairs, err);
  }
  if (kind == KIND_DEVICE) {
    any->kind = KIND_DEVICE;
    status = tesela_device_parse(&any->device, text + used, length - used, NULL, err);
  } else {
    status = kind_read_expression(text + used, length - used, kind, any, err);
  }
  if (status != TESELA_OK) {
    kind_shift(used, NULL, err);
    return status;
  }
  return layout ? relation_of(any, layout, err) : TESELA_OK;
}

/* ---- XLA shapes alone ------------------------------------------------------------------------------------- */

tesela_status kind_prefix(const char *text, size_t length, size_t *used, tesela_error *err) {
  layout_kind kind;
  tesela_status status = find_kind(text, length, "the kinds are xla and device", &kind, used, err);
  if (status != TESELA_OK || kind == KIND_XLA || kind == KIND_DEVICE) return status;
  *used = 0;
  *err = (tesela_error){.status = TESELA_E_UNSUPPORTED, .at = 0};
  snprintf(err->message, sizeof err->message, "this is %s; an XLA layout is read here", kinds[kind].words);
  return err->status;
}

/* A device layout as the XLA shape that says the same. */
static tesela_status read_device(const char *text, size_t length, tesela_xla_shape *shape,
                                 tesela_error *err) {
  tesela_device_layout device;
  tesela_xla_layout layout;
  tesela_status status = tesela_device_parse(&device, text, length, NULL, err);
  if (status != TESELA_OK) return status;
  err->at = -1;
  status = tesela_device_to_xla(&device, &layout, err);
  if (status == TESELA_OK)
    status = tesela_xla_shape_make(shape, device.host.device_dtype, device.host.rank, device.host.shape,
                                   &layout, err);
  return status;
}

tesela_status kind_read(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                        tesela_layout *layout, tesela_xla_repairs *repairs, tesela_error *err) {
  size_t used;
  tesela_status status = kind_prefix(text, length, &used, err);
  if (status != TESELA_OK) return status;
  if (tesela_device_text_is(text + used, length - used)) {
    if (repairs) *repairs = (tesela_xla_repairs){0};
    status = read_device(text + used, length - used, shape, err);
  } else {
    status = tesela_xla_parse(text + used, length - used, flags, shape, repairs, err);
  }
  kind_shift(used, status == TESELA_OK ? repairs : NULL, status == TESELA_OK ? NULL : err);
  if (status != TESELA_OK || !layout) return status;
  return tesela_xla_to_layout(shape, layout, err);
}
