/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.c - what a file is that is not a compiler's text, by its first bytes.
 */
#include "report/report_state.h"

/* What starts with these bytes; "FILE" in `instead` stands for its name. */
static const struct {
  const char *bytes;
  size_t n;
  const char *what, *instead;
} magic_rows[] = {
#define TESELA__MAGIC(bytes, what, instead) \
  { bytes, sizeof bytes - 1, what, instead }
    TESELA__MAGIC("\x1f\x8b", "gzip data", "decompress it first: zcat FILE"),
    TESELA__MAGIC("\x28\xb5\x2f\xfd", "zstd data", "decompress it first: zstdcat FILE"),
    TESELA__MAGIC("\xfd\x37zXZ", "xz data", "decompress it first: xzcat FILE"),
    TESELA__MAGIC("BZh", "bzip2 data", "decompress it first: bzcat FILE"),
    TESELA__MAGIC("\x04\x22\x4d\x18", "lz4 data", "decompress it first: lz4cat FILE"),
    TESELA__MAGIC("PK\x03\x04", "a zip archive", "unpack it first: unzip -p FILE"),
    TESELA__MAGIC("\xff\xfe", "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8 FILE"),
    TESELA__MAGIC("\xfe\xff", "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8 FILE"),
    TESELA__MAGIC("\x93NUMPY", "a NumPy array", NULL),
    TESELA__MAGIC("\x89HDF", "an HDF5 file", NULL),
    TESELA__MAGIC("GGUF", "a GGUF model", NULL),
    TESELA__MAGIC("\x7f\x45LF", "an ELF program", NULL),
    TESELA__MAGIC("%PDF-", "a PDF document", NULL),
    TESELA__MAGIC("\x89PNG", "a PNG picture", NULL),
    TESELA__MAGIC("ML\xefR", "MLIR bytecode", NULL),
#undef TESELA__MAGIC
};

static const char text_of_hlo[] =
    "pass HLO text after optimisation: compiled.as_text(), or XLA_FLAGS=--xla_dump_to=FOLDER";

/* MLIR as text: its first line that is not a comment. */
static bool is_mlir(const char *p, const char *end) {
  static const char *const words[] = {
      "module {", "module @", "module attributes", "#loc", "\"builtin.", "func.func", "#map", "!mesh"};
  for (;;) {
    while (p < end && (tesela__is_blank(*p) || *p == '\n')) p++;
    if (!tesela__looking_at(p, end, "//")) break;
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    if (!newline) return false;
    p = newline + 1;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (tesela__looking_at(p, end, words[i])) return true;
  return false;
}

/* Eight bytes of length, then a JSON object. */
static bool is_safetensors(const char *p, size_t n) {
  return n > 9 && p[6] == 0 && p[7] == 0 && p[8] == '{' && (p[9] == '"' || p[9] == '}' || p[9] == ' ');
}

/* Without branches, so that it takes vectors: a control character that text does not have. */
static unsigned is_odd(char byte) {
  const unsigned char c = (unsigned char)byte;
  const unsigned usual = (unsigned)(c == '\033') | (unsigned)(c >= '\a' && c <= '\r' && c != '\v');
  return (unsigned)(c < 32) & (usual ^ 1U);
}

static bool has_odd(const char *bytes, size_t n) {
  unsigned char odd = 0;
  for (size_t i = 0; i < n; i++) odd |= (unsigned char)is_odd(bytes[i]);
  return odd != 0;
}

const char *tesela_report_foreign(const char *bytes, size_t length, const char **instead) {
  if (!bytes || !instead) return NULL;
  enum { LOOKED = 4096 };
  size_t n = length < LOOKED ? length : LOOKED, odd = 0, even_zeros = 0, odd_zeros = 0;
  *instead = text_of_hlo;
  for (size_t i = 0; i < sizeof magic_rows / sizeof magic_rows[0]; i++) {
    if (n < magic_rows[i].n || memcmp(bytes, magic_rows[i].bytes, magic_rows[i].n) != 0) continue;
    if (magic_rows[i].instead) *instead = magic_rows[i].instead;
    return magic_rows[i].what;
  }
  if (is_safetensors(bytes, n)) return "a safetensors file";
  if (is_mlir(bytes, bytes + n)) return "MLIR text (StableHLO) from before compilation";
  if (!has_odd(bytes, n)) return NULL;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] == 0) (i % 2 ? odd_zeros++ : even_zeros++);
    odd += is_odd(bytes[i]);
  }
  size_t zeros = even_zeros + odd_zeros;
  if (zeros > n / 3 && (even_zeros == 0 || odd_zeros == 0)) {
    *instead = odd_zeros > 0 ? "convert it first: iconv -f UTF-16LE -t UTF-8 FILE"
                             : "convert it first: iconv -f UTF-16BE -t UTF-8 FILE";
    return "UTF-16 text";
  }
  if (zeros == 0 && odd <= n / 10) return NULL;
  if (n > 2 && (bytes[0] == '\n' || bytes[0] == 0x08)) return "a binary protobuf (.pb)";
  return "binary data";
}
