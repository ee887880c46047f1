/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_file.c - any bytes as a file of tensors: raw, .npy or .safetensors.
 *
 * The reader does not crash; an error names a byte of the file and is one line. What is accepted is inside the file: the data of every
 * tensor, as many bytes as its type and shape take. Less memory for the header changes nothing but whether it is refused for that.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_file: %s\n", what);
  abort();
}

/* The reader sees each byte of it. */
static void read_all(const uint8_t *data, int64_t bytes) {
  unsigned sum = 0;
  for (int64_t i = 0; i < bytes; i++) sum += data[i];
  static volatile unsigned kept;
  kept = sum;
  (void)kept;
}

static void check_tensor(const tesela_file *file, const tesela_file_info *info, const tesela_file_tensor *t) {
  tesela_layout layout;
  tesela_sizes sizes;
  uint8_t digest[16];
  tesela_error err;
  require(t->bytes >= 0 && t->bytes <= info->bytes, "a tensor is larger than its file");
  require(t->bytes == 0 || (t->data >= info->data && t->data - info->data <= info->bytes - t->bytes),
          "a tensor is outside its file");
  require(tesela_file_find(file, t->name) == t, "a tensor is not found by its name");
  require(t->rank >= -1 && t->rank <= TESELA_MAX_RANK, "a rank beyond the limit");
  require((t->rank < 0) == (info->format == TESELA_FILE_RAW), "a header without a shape");
  read_all(t->data, t->bytes);
  if (tesela_file_layout(t, TESELA_DTYPE_NONE, &layout, &err) != TESELA_OK) return;
  require(tesela_layout_sizes(&layout, &sizes, &err) == TESELA_OK, "a layout without sizes");
  require(sizes.bytes == t->bytes, "a layout of another size than the tensor");
  require(tesela_values_digest(&layout, t->data, digest, NULL, &err) == TESELA_OK,
          "values that cannot be read");
}

static void check_file(const tesela_file *file, size_t size) {
  tesela_file_info info;
  tesela_file_describe(file, &info);
  require(info.bytes == (int64_t)size, "a file of another size");
  require(info.bytes_after >= 0 && info.bytes_after <= info.bytes,
          "more bytes after the array than there are");
  require(info.format == TESELA_FILE_SAFETENSORS || info.n_tensors == 1, "a format of one tensor has others");
  for (int64_t i = 0; i < info.n_tensors; i++) check_tensor(file, &info, &info.tensor[i]);
  for (int64_t i = 0; i < info.n_texts; i++)
    require(strlen(info.text[i].key) + strlen(info.text[i].value) <= size, "texts longer than their file");
}

static tesela_status open_file(const uint8_t *data, size_t size, int64_t max_header) {
  const tesela_file_options options = {.max_header = max_header};
  tesela_file *file = NULL;
  tesela_error err;
  tesela_status status = tesela_file_open_memory(&file, data, (int64_t)size, &options, &err);
  if (status == TESELA_OK) {
    check_file(file, size);
    tesela_file_close(file);
  } else {
    require(file == NULL, "a refused file is there");
    require(err.status == status, "the error has another status than the call");
    require(err.at >= -1 && err.at <= (int64_t)size, "the error is outside the file");
    require(err.message[0] != '\0' && !strchr(err.message, '\n'), "the message is not one line");
  }
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1); /* of just its size: ASan sees a read past the end */
  if (!copy) return 0;
  if (size > 0) memcpy(copy, data, size);
  const tesela_status status = open_file(copy, size, 0), less = open_file(copy, size, 300);
  require(less == status || less == TESELA_E_LIMIT, "less memory for the header changes the answer");
  free(copy);
  return 0;
}
