/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recognize.c - the notation of a text from its beginning: looks_like of each row of any.c.
 *
 * Each is exact where notations resemble each other, so two claim a text only if both can mean it: three tuples are a
 * device layout, two with a colon between them are CuTe's; Layout( is JAX's, Layout< CuTe's; NCHW16c is TVM's, nChw16c
 * oneDNN's, AB16b16a both.
 */
#include <string.h>

#include "base/base.h"
#include "gpu/register/register.h"
#include "notation/any.h"
#include "notation/register/register_read.h"

static bool looks_digit(char c) { return c >= '0' && c <= '9'; }
static bool looks_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool looks_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool looks_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool looks_name(char c) { return looks_lower(c) || looks_upper(c) || looks_digit(c) || c == '_'; }

static size_t skip_space(const char *text, size_t length, size_t at) {
  while (at < length && looks_space(text[at])) at++;
  return at;
}

/* The end of the name at `at`; a name may contain dots. */
static size_t name_end(const char *text, size_t length, size_t at) {
  while (at < length && (looks_name(text[at]) || text[at] == '.')) at++;
  return at;
}

/* The first nonblank byte from `at` on, or 0. */
static char next_byte(const char *text, size_t length, size_t at) {
  at = skip_space(text, length, at);
  return at < length ? text[at] : '\0';
}

/* Is text[at..end) one of the names in "a|b|c"? */
static bool looks_one_of(const char *names, const char *text, size_t at, size_t end) {
  for (const char *name = names;; name++) {
    const char *begin = name;
    while (*name != '|' && *name) name++;
    if ((size_t)(name - begin) == end - at && memcmp(begin, text + at, end - at) == 0) return true;
    if (!*name) return false;
  }
}

static bool looks_begin(const char *text, size_t length, const char *begin) {
  size_t n = strlen(begin);
  return n <= length && memcmp(text, begin, n) == 0;
}

static bool looks_has(const char *text, size_t length, const char *part) {
  size_t n = strlen(part);
  const char *at = text, *end = text + length;
  for (; (size_t)(end - at) >= n && (at = memchr(at, part[0], (size_t)(end - at) - n + 1)) != NULL; at++)
    if (memcmp(at, part, n) == 0) return true;
  return false;
}

/* Does the text begin with one of the names, with or without a path, and `open`: "jax.Layout("? */
static bool begins_call(const char *text, size_t length, const char *names, char open) {
  size_t end = name_end(text, length, 0), at = end;
  if (next_byte(text, length, end) != open) return false;
  while (at > 0 && text[at - 1] != '.') at--;
  return looks_one_of(names, text, at, end);
}

/* ---- arrays and XLA ---------------------------------------------------------------------------------------- */

/* The end of the "f32[3,5]" at `at`; 0 without a type and brackets there. */
static size_t array_end(const char *text, size_t length, size_t at) {
  size_t end = at;
  while (end < length && looks_name(text[end])) end++;
  size_t open = skip_space(text, length, end);
  if (end == at || open == length || text[open] != '[') return 0;
  if (tesela_dtype_find(text + at, end - at) == TESELA_DTYPE_NONE &&
      !tesela_dtype_suggest(text + at, end - at))
    return 0;
  for (at = open + 1; at < length && text[at] != ']'; at++)
    if (!looks_digit(text[at]) && text[at] != ',' && strchr("[]{}():;#", text[at])) return 0;
  return at < length ? at + 1 : 0;
}

/* The end of a "[3,5]" at the start of a text, or 0. */
static size_t brackets_end(const char *text, size_t length) {
  size_t at = 0;
  if (length == 0 || text[0] != '[') return 0;
  for (at = 1; at < length && text[at] != ']'; at++)
    if (!looks_digit(text[at]) && text[at] != ',' && text[at] != ' ') return 0;
  return at < length ? at + 1 : 0;
}

size_t tesela__array_before(const char *text, size_t length) {
  size_t end = length > 0 && text[0] == '[' ? brackets_end(text, length) : array_end(text, length, 0);
  size_t at = skip_space(text, length, end);
  return end > 0 && at < length && text[at] != '{' ? at : 0;
}

/* f32[3,5], perhaps with braces; in a tuple; braces alone. */
bool tesela__looks_xla(const char *text, size_t length) {
  size_t at = 0;
  char c = next_byte(text, length, 0);
  if (c == '{') {
    c = next_byte(text, length, skip_space(text, length, 0) + 1);
    return looks_digit(c) || c == '}' || c == ':';
  }
  for (; at < length && (text[at] == '(' || looks_space(text[at])); at++) c = '(';
  size_t end = array_end(text, length, at);
  if (end == 0) return false;
  char after = next_byte(text, length, end);
  return after == '\0' || after == '{' || (c == '(' && (after == ',' || after == ')'));
}

bool tesela__looks_jax(const char *text, size_t length) {
  return begins_call(text, length, "Layout|DeviceLocalLayout|Format", '(');
}

bool tesela__looks_tpu(const char *text, size_t length) {
  return (length == 3 && memcmp(text, "tpu", 3) == 0) || begins_call(text, length, "tpu", '(');
}

bool tesela__looks_map(const char *text, size_t length) { return begins_call(text, length, "map", '('); }

/* ---- register layouts, tiles, device layouts ---------------------------------------------------------------- */

bool tesela__looks_expression(const char *text, size_t length) {
  tesela__function_call call;
  size_t at = 0, end;
  while (at < length && (text[at] == '(' || looks_space(text[at]))) at++;
  for (end = at; end < length && looks_name(text[end]);) end++;
  if (end == at || looks_has(text, length, "->")) return false;
  const size_t next =
      skip_space(text, length, end); /* of a fragment: a dot, an operator or the end of an expression */
  if ((next == length || memchr(".*/)", text[next], 4)) && tesela__fragment_begins(text + at, end - at))
    return true;
  return tesela__function_find(text + at, end - at, &call) && next_byte(text, length, end) == '(';
}

bool tesela__near_expression(const char *text, size_t length) {
  size_t end = 0;
  if (tesela__expression_near(text, length)) return true;
  while (end < length && looks_name(text[end])) end++;
  return end > 0 && looks_lower(text[0]) && end < length && text[end] == '.' &&
         !tesela_dtype_suggest(text, end);
}

/* The end of the nested tuples at `at`; 0 if a bracket is not closed, or if they contain anything but numbers. */
static size_t tuple_end(const char *text, size_t length, size_t at) {
  size_t depth = 0;
  for (; at < length; at++) {
    if (text[at] == '(') depth++;
    if (text[at] == ')' && (depth == 0 || --depth == 0)) return at + 1;
    if (!looks_digit(text[at]) && !looks_space(text[at]) && !strchr("(),_-?*:", text[at])) return 0;
  }
  return 0;
}

bool tesela__looks_device(const char *text, size_t length) {
  size_t at = skip_space(text, length, array_end(text, length, 0));
  if (begins_call(text + at, length - at, "stick|SpyreTensorLayout", '(')) return true;
  if (at == length || text[at] != '(' || tesela__looks_cute(text + at, length - at)) return false;
  size_t inner = skip_space(text, length, at + 1);
  char c = inner < length && text[inner] == '(' ? next_byte(text, length, inner + 1) : '\0';
  return looks_digit(c) || c == '-' || c == ')';
}

/* ---- CuTe, Triton, memory ------------------------------------------------------------------------------------ */

/* (4,8):(8,1), 8:1, (_4,_8):(_8,_1), Layout<..>, Swizzle<3,3,3> o ..; a tiler <..>, which is refused by name */
bool tesela__looks_cute(const char *text, size_t length) {
  size_t end = 0;
  if (length > 0 && text[0] == '<') return true;
  if (begins_call(text, length, "Sw|S|Swizzle|Layout|Shape|ComposedLayout", '<') ||
      begins_call(text, length, "make_layout|make_composed_layout|composition", '(') ||
      begins_call(text, length, "smem_ptr|gmem_ptr|rmem_ptr|ptr", '[') ||
      looks_begin(text, length, "cute::") || looks_begin(text, length, "SW_"))
    return true;
  if (length > 0 && text[0] == '(') {
    end = tuple_end(text, length, 0);
  } else {
    if (length > 0 && text[0] == '_') end = 1;
    size_t digits = end;
    while (end < length && looks_digit(text[end])) end++;
    if (end == digits) end = length > 0 && text[0] == '?';
  }
  if (end == 0 || next_byte(text, length, end) != ':') return false;
  char c = next_byte(text, length, skip_space(text, length, end) + 1);
  return looks_digit(c) || (c != '\0' && strchr("(_-?", c));
}

/* #mma or #blocked1: an alias that may be an encoding; #map is one of MLIR. */
static bool looks_alias(const char *text, size_t length, size_t at, size_t *end) {
  for (*end = at + 1; at < length && *end < length && looks_name(text[*end]);) ++*end;
  return at < length && text[at] == '#' && *end > at + 1 && (*end == length || text[*end] != '.') &&
         !looks_begin(text + at, length - at, "#map");
}

/* #ttg.blocked<{..}>, #triton_gpu.shared<{..}>, #linear, #blocked1 = .., tensor<4xf32, #blocked>, BlockedLayout(..) */
bool tesela__looks_triton(const char *text, size_t length) {
  size_t end;
  if (begins_call(
          text, length,
          "BlockedLayout|SliceLayout|DotOperandLayout|NVMMADistributedLayout|AMDMFMALayout|AMDWMMALayout|"
          "DistributedLinearLayout|SwizzledSharedLayout|NVMMASharedLayout|PaddedSharedLayout|"
          "SharedLinearLayout|PartitionedSharedLayout|TensorMemoryLayout|TensorMemoryScalesLayout|"
          "AutoLayout|CoalescedLayout",
          '('))
    return true;
  const char *hash = length > 0 ? memchr(text, '#', length) : NULL;
  if (!hash) return false;
  if (looks_has(text, length, "#ttg.") || looks_has(text, length, "#ttng.") ||
      looks_has(text, length, "#triton_") || looks_begin(text, length, "#gluon."))
    return true;
  if (!looks_alias(text, length, (size_t)(hash - text), &end)) return false;
  if (text[0] == '#') return end == length || next_byte(text, length, end) == '\0' || text[end] == '<';
  char after = next_byte(text, length, end);
  return (after == '>' || after == ',') &&
         (looks_begin(text, length, "tensor<") || looks_begin(text, length, "!ttg.memdesc<"));
}

/* A tag or layout string of one word, nChw16c: outer letters nChw, capital or small, then blocks 16c; block[]: letters
 * with a block. */
typedef struct letters {
  bool capital[26], small[26], block[26];
  int n_outer, n_blocks;
} letters;

/* false: not such a word. */
static bool read_letters(const char *text, size_t length, letters *l) {
  size_t at = 0;
  memset(l, 0, sizeof *l);
  for (; at < length && (looks_lower(text[at]) || looks_upper(text[at])); at++, l->n_outer++) {
    int letter = looks_lower(text[at]) ? text[at] - 'a' : text[at] - 'A';
    if (l->capital[letter] || l->small[letter]) return false;
    (looks_lower(text[at]) ? l->small : l->capital)[letter] = true;
  }
  for (; at < length; l->n_blocks++) {
    size_t digits = at;
    while (at < length && looks_digit(text[at])) at++;
    if (at == digits || at == length || !looks_lower(text[at])) return false;
    l->block[text[at++] - 'a'] = true;
  }
  return l->n_outer > 1;
}

/* Are all outer letters among these? */
static bool letters_within(const letters *l, const char *allowed) {
  for (int i = 0; i < 26; i++)
    if ((l->capital[i] || l->small[i]) && !strchr(allowed, 'a' + i)) return false;
  return true;
}

/* nchw, acdb, nChw16c, ABcd16b16a4b: a capital for each dim with a block; letters a, b, .. or those of images and
 * weights. */
bool tesela__looks_onednn(const char *text, size_t length) {
  letters l;
  if (!read_letters(text, length, &l)) return false;
  for (int i = 0; i < 26; i++)
    if (l.capital[i] != l.block[i]) return false;
  char first[27] = "abcdefghijklmnopqrstuvwxyz";
  if (l.n_outer <= 12) first[l.n_outer] = '\0';
  return (l.n_outer <= 12 && letters_within(&l, first)) || letters_within(&l, "nchwdoigtls");
}

static bool looks_has_any(const char *text, size_t length, const char *const *parts) {
  bool found = false;
  for (; *parts; parts++) found = found || looks_has(text, length, *parts);
  return found;
}

/* inner_dims_pos = [..] inner_tiles = [..], perhaps in a line of linalg.pack */
bool tesela__looks_pack(const char *text, size_t length) {
  static const char *const parts[] = {"linalg.pack",    "linalg.unpack", "tensor.pack",     "tensor.unpack",
                                      "inner_dims_pos", "inner_tiles",   "outer_dims_perm", NULL};
  return looks_has_any(text, length, parts);
}

/* memref<..>, strided<..>, #map = affine_map<..> */
bool tesela__looks_mlir(const char *text, size_t length) {
  static const char *const parts[] = {"memref<", "affine_map<", "strided<", NULL};
  return length > 0 && memchr(text, '<', length) && looks_has_any(text, length, parts) &&
         !tesela__looks_pack(text, length) && !tesela__looks_affine_map(text, length) &&
         !tesela__looks_triton(text, length) && !tesela__looks_iree(text, length);
}

/* affine_map<(d0) -> (d0)>, #map = affine_map<..> */
bool tesela__looks_affine_map(const char *text, size_t length) {
  size_t at = 0;
  if (length > 0 && text[0] == '#') {
    at = skip_space(text, length, name_end(text, length, 1));
    if (at == length || text[at] != '=') return false;
    at = skip_space(text, length, at + 1);
  }
  return begins_call(text + at, length - at, "affine_map", '<');
}

/* lambda n, c: (..), T.index_map(lambda ..), IndexMap.from_func(lambda ..) */
bool tesela__looks_index_map(const char *text, size_t length) {
  size_t end = name_end(text, length, 0);
  return begins_call(text, length, "index_map|IndexMap|from_func|from_func_with_separators", '(') ||
         (looks_one_of("lambda", text, 0, end) && end < length &&
          (looks_space(text[end]) || text[end] == ':'));
}

/* Code has to be compiled, not read. */
bool tesela__looks_code(const char *text, size_t length) {
  (void)text;
  (void)length;
  return false;
}

/* #tpu.vpad<..>, #tpu.tiled<..> */
bool tesela__looks_mosaic(const char *text, size_t length) {
  return looks_begin(text, length, "#tpu.vpad<") || looks_begin(text, length, "#tpu.tiled<");
}

/* TiledLayout(tiling=..) */
bool tesela__looks_mosaicgpu(const char *text, size_t length) {
  return begins_call(text, length, "TiledLayout", '(');
}

/* #iree_encoding.layout<..>, #iree_cpu.cpu_encoding_resolver<..> */
bool tesela__looks_iree(const char *text, size_t length) { return looks_begin(text, length, "#iree_"); }

bool tesela__looks_xegpu(const char *text, size_t length) { return looks_begin(text, length, "#xegpu."); }

/* S[(8, 16) : (16, 1)] + .., TileLayout(S[..]) */
bool tesela__looks_axe(const char *text, size_t length) {
  return begins_call(text, length, "S", '[') ||
         begins_call(text, length, "TileLayout|ComposeLayout|SwizzleLayout", '(');
}

/* NCHW, NCHW16c, OIHW4o4i: capitals, then blocks in small letters */
bool tesela__looks_tvm(const char *text, size_t length) {
  letters l;
  if (!read_letters(text, length, &l)) return false;
  for (int i = 0; i < 26; i++)
    if (l.small[i] || (l.block[i] && !l.capital[i])) return false;
  return l.n_blocks > 0 || (l.n_outer > 2 && letters_within(&l, "nchwdoigtlks"));
}

/* The end of the "(3, 5)" at `at`; 0: something else is there. */
static size_t numbers_end(const char *text, size_t length, size_t at) {
  if (at == length || text[at] != '(') return 0;
  for (at++; at < length && text[at] != ')'; at++)
    if (!looks_digit(text[at]) && text[at] != ',' && !looks_space(text[at])) return 0;
  return at < length ? at + 1 : 0;
}

/* (3, 5) (5, 1), as print(x.shape, x.stride()) of a tuple */
static bool looks_two_tuples(const char *text, size_t length) {
  size_t at = numbers_end(text, length, 0);
  if (at == 0) return false;
  at = skip_space(text, length, at);
  if (at < length && text[at] == ',') at = skip_space(text, length, at + 1);
  at = numbers_end(text, length, at);
  return at > 0 && skip_space(text, length, at) == length;
}

/* torch.Size([2, 3]) (3, 1); size=(2, 3), stride=(3, 1); (2, 3) (3, 1) */
bool tesela__looks_torch(const char *text, size_t length) {
  size_t end = name_end(text, length, 0);
  return begins_call(text, length, "Size", '(') || looks_two_tuples(text, length) ||
         (looks_one_of("size|stride|strides", text, 0, end) && next_byte(text, length, end) == '=');
}

/* b (h w) c -> b h w c h=4: names, numbers, brackets and one arrow, then lengths; rearrange(x, "..") */
bool tesela__looks_einops(const char *text, size_t length) {
  int arrows = 0;
  bool letter = false, lengths = false;
  if (begins_call(text, length, "rearrange|repeat", '(') && looks_has(text, length, "->")) return true;
  for (size_t at = 0; at < length; at++) {
    lengths = lengths || (text[at] == '=' && arrows == 1 && looks_name(text[at - 1]));
    if (text[at] == '-' && at + 1 < length && text[at + 1] == '>') {
      arrows++;
      at++;
    } else if (!looks_name(text[at]) && !looks_space(text[at]) && !strchr("().*", text[at]) &&
               !(lengths && (text[at] == '=' || text[at] == ','))) {
      return false;
    }
    letter = letter || looks_lower(text[at]) || looks_upper(text[at]);
  }
  return arrows == 1 && letter;
}

/* x.reshape(..), x.T, x[..., ::-1], np.pad(x, ..), (lambda i, j: ..)(*np.indices(..)) */
bool tesela__looks_numpy(const char *text, size_t length) {
  static const char methods[] = "reshape|view|transpose|permute|swapaxes|moveaxis|ravel|flatten|flip|pad|"
                                "expand_dims|squeeze|copy|contiguous";
  size_t end = 0, at;
  if (looks_begin(text, length, "(lambda")) return looks_has(text, length, "indices");
  if (tesela__looks_axe(text, length)) return false; /* S[8:1] */
  while (end < length && looks_name(text[end])) end++;
  if (end == 0 || end == length) return false;
  if (text[end] == '[') {
    const char *close = memchr(text + end, ']', length - end);
    size_t inner = close ? (size_t)(close - text) - end : 0;
    return !memchr(text + end, '(', inner) &&
           (looks_has(text + end, inner, ":") || looks_has(text + end, inner, "...") ||
            looks_has(text + end, inner, "None"));
  }
  if (text[end] != '.') return false;
  for (at = end + 1; at < length && looks_name(text[at]);) at++;
  if (looks_one_of("T", text, end + 1, at)) return true;
  return next_byte(text, length, at) == '(' &&
         (looks_one_of(methods, text, end + 1, at) || looks_one_of("ascontiguousarray", text, end + 1, at));
}
