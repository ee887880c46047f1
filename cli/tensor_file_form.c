/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_form.c - what a file can hold: its format by its name, the types and orders of tensors in it.
 */
#include <inttypes.h>
#include <string.h>

#include "main/say.h"
#include "tensor_file_write.h"

/* ---- formats ------------------------------------------------------------------------------------------- */

bool tensor_name_is_foreign(const char *path) {
  static const char *const others[] = {".npz", ".pt",   ".pth",  ".ckpt", ".pkl",
                                       ".h5",  ".hdf5", ".gguf", ".onnx"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (tensor_name_ends(path, others[i])) return true;
  return false;
}

bool tensor_output_format(const cli_context *cli, const char *path, tesela_file_format *format) {
  const char *said = cli_value(cli, "format");
  char quote[SAY_QUOTE];
  *format = tensor_name_ends(path, ".npy")           ? TESELA_FILE_NPY
            : tensor_name_ends(path, ".safetensors") ? TESELA_FILE_SAFETENSORS
                                                     : TESELA_FILE_RAW;
  if (!said && tensor_name_is_foreign(path)) {
    say_usage(cli,
              "%s is named as a format that is not written here; --format=raw writes the bytes all the same",
              say_quote(path, quote));
    return false;
  }
  if (!said) return true;
  tesela_file_format asked = strcmp(said, "npy") == 0           ? TESELA_FILE_NPY
                             : strcmp(said, "safetensors") == 0 ? TESELA_FILE_SAFETENSORS
                                                                : TESELA_FILE_RAW;
  if (*format != TESELA_FILE_RAW && asked != *format) {
    say_usage(cli, "--format is %s, but %s is named otherwise", said, say_quote(path, quote));
    return false;
  }
  *format = asked;
  return true;
}

/* ---- tensors ------------------------------------------------------------------------------------------- */

bool tensor_is_packed(const tesela_file_tensor *entry) {
  const char *text = entry->layout;
  tesela_xla_shape shape;
  tesela_layout layout, dense;
  tesela_difference difference;
  tesela_error err;
  char type[16];
  if (!text) return false;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, &layout, &err) != TESELA_OK)
    return true; /* what is wrong is said by whoever reads it */
  if (layout.bits == 8 * tesela_dtype_bytes(shape.dtype) &&
      tesela_file_type(TESELA_FILE_SAFETENSORS, shape.dtype, type))
    return true;
  tesela_file_tensor plain = {.dtype = layout.dtype, .bits = layout.bits, .rank = layout.rank};
  memcpy(plain.shape, layout.shape, sizeof plain.shape);
  return tesela_file_layout(&plain, TESELA_DTYPE_NONE, &dense, &err) != TESELA_OK ||
         tesela_layout_compare(&layout, &dense, &difference, NULL) != TESELA_OK || !difference.same ||
         !difference.same_extent;
}

int tensor_check_pair(const cli_context *cli, const char *what, const tesela_xla_shape *from,
                      const tesela_xla_shape *to, tesela_transform transform) {
  char texts[2][TENSOR_SHAPE_TEXT];
  tesela_layout a, b;
  tesela_error err;
  bool same_dims = from->rank == to->rank;
  for (int32_t d = 0; d < to->rank && same_dims; d++) same_dims = from->dim[d] == to->dim[d];
  tensor_shape_text(from, texts[0]);
  tensor_shape_text(to, texts[1]);
  if (!same_dims) return say_usage(cli, "the tensor is %s; %s has other dims: %s", texts[0], what, texts[1]);
  if (tesela_xla_to_layout(from, &a, &err) != TESELA_OK || tesela_xla_to_layout(to, &b, &err) != TESELA_OK)
    return say_failure(cli, &err);
  if (tesela_transform_check(transform, b.dtype, b.bits, a.dtype, a.bits, &err) == TESELA_OK) return CLI_YES;
  bool converts =
      tesela_transform_check(TESELA_TRANSFORM_CONVERT, b.dtype, b.bits, a.dtype, a.bits, NULL) == TESELA_OK;
  if (transform != TESELA_TRANSFORM_NONE)
    return say_usage(cli, "the tensor is %s, %s %s: %s", texts[0], what, texts[1], err.message);
  return say_usage(cli, "the tensor is %s; %s has elements of another type or width: %s%s", texts[0], what,
                   texts[1], converts ? "; tesela relayout --transform=convert changes them" : "");
}
