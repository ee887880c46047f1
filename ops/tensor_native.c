/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_native.c - see tensor_native.h. */
#include "tensor_native.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/relayout.h>

/* A copy with the bytes of each number reversed; both halves of a complex one are numbers. */
static uint8_t *swap(const tensor *t) {
  int64_t width = t->layout.bits / 8;
  if (tesela_dtype_family_of(t->layout.dtype) == TESELA_FAMILY_COMPLEX) width /= 2;
  uint8_t *copy = malloc(t->bytes > 0 ? (size_t)t->bytes : 1);
  for (int64_t i = 0; copy && i + width <= t->bytes; i += width)
    for (int64_t b = 0; b < width; b++) copy[i + b] = t->data[i + width - 1 - b];
  return copy;
}

tesela_status tensor_native_read(tensor_reading *r, const tensor_file *file, const tesela_file_tensor *entry,
                                 const tensor_says *says, tensor_native *t) {
  *t = (tensor_native){0};
  tesela_status status = tensor_read(r, file, entry, says, &t->tensor);
  if (status != TESELA_OK) return status;
  t->data = t->tensor.data;
  if (!t->tensor.swapped) return TESELA_OK;
  t->data = t->swapped = swap(&t->tensor);
  if (t->swapped) return TESELA_OK;
  tensor_wrong(r, file->name, "no memory for %" PRId64 " bytes", t->tensor.bytes);
  return r->err->status = TESELA_E_MEMORY;
}

void tensor_native_free(tensor_native *t) {
  free(t->swapped);
  *t = (tensor_native){0};
}

static tesela_run_options tensor_run(const tensor_reading *r) {
  return (tesela_run_options){.progress = tesela_request_progress, .progress_user = r->q};
}

tesela_status tensor_digest(tensor_reading *r, const tensor_file *file, const tensor_native *t,
                            char hex[33]) {
  uint8_t digest[16];
  tesela_error err;
  const tesela_run_options run = tensor_run(r);
  const tesela_status status = tesela_values_digest(&t->tensor.layout, t->data, digest, &run, &err);
  if (status == TESELA_E_STOPPED) *r->err = err;
  if (status == TESELA_E_STOPPED) return status;
  if (status != TESELA_OK) return tensor_wrong(r, file->name, "%s", err.message);
  for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  return TESELA_OK;
}

/* ---- two files --------------------------------------------------------------------------------------------- */

bool tensor_pair_all(const tensor_pair *p) {
  return !p->says_a.name && !p->says_b.name && p->a->info.format == TESELA_FILE_SAFETENSORS &&
         p->b->info.format == TESELA_FILE_SAFETENSORS &&
         (p->a->info.n_tensors > 1 || p->b->info.n_tensors > 1);
}

bool tensor_pair_next(const tensor_pair *p, int64_t *i, const tesela_file_tensor **a,
                      const tesela_file_tensor **b) {
  const int64_t n_a = p->a->info.n_tensors;
  while (*i < n_a + p->b->info.n_tensors) {
    const int64_t at = (*i)++;
    *a = at < n_a ? &p->a->info.tensor[at] : NULL;
    *b = at < n_a ? tesela_file_find(p->b->file, (*a)->name) : &p->b->info.tensor[at - n_a];
    if (*a || !tesela_file_find(p->a->file, (*b)->name)) return true;
  }
  return false;
}

void tensor_comparison_free(tensor_comparison *c) {
  tensor_native_free(&c->a);
  tensor_native_free(&c->b);
}

tesela_status tensor_compare(tensor_reading *r, const tensor_pair *p, const tesela_file_tensor *a,
                             const tesela_file_tensor *b, tensor_comparison *c) {
  tesela_sizes sizes;
  *c = (tensor_comparison){.elements = 0};
  tesela_status status = tensor_native_read(r, p->a, a, &p->says_a, &c->a);
  if (status == TESELA_OK) status = tensor_native_read(r, p->b, b, &p->says_b, &c->b);
  const tensor *ta = &c->a.tensor, *tb = &c->b.tensor;
  if (status == TESELA_OK) {
    r->text = NULL;
    const tesela_run_options run = tensor_run(r);
    status = tesela_values_compare(&ta->layout, c->a.data, &tb->layout, c->b.data, &c->d, &run, r->err);
  }
  if (status == TESELA_OK) status = tesela_layout_sizes(&ta->layout, &sizes, r->err);
  if (status == TESELA_OK) c->elements = sizes.logical_elements;
  if (status != TESELA_OK) tensor_comparison_free(c);
  return status;
}

/* ---- a dump of device memory ------------------------------------------------------------------------------- */

/* What a raw file holds for a device layout, "f16[3,70]"; one whose type is not known as unsigned integers of its width. */
enum { HOST_TEXT = 800 }; /* a type and 32 extents of 20 bytes */
static const char *host_text(const tesela_device_host *host, char text[HOST_TEXT]) {
  size_t used = host->dtype ? (size_t)snprintf(text, HOST_TEXT, "%s[", tesela_dtype_name(host->dtype))
                            : (size_t)snprintf(text, HOST_TEXT, "u%" PRId32 "[", host->bits);
  for (int32_t d = 0; d < host->rank; d++)
    used += (size_t)snprintf(text + used, HOST_TEXT - used, "%s%" PRId64, d ? "," : "", host->shape[d]);
  snprintf(text + used, HOST_TEXT - used, "]");
  return text;
}

static tesela_status fail(tensor_reading *r, const char *format, ...) TESELA_PRINTF(2, 3);
static tesela_status fail(tensor_reading *r, const char *format, ...) {
  va_list args;
  r->text = NULL;
  va_start(args, format);
  tesela_error_fill(r->err, TESELA_E_MISMATCH, -1, format, args);
  va_end(args);
  return TESELA_E_MISMATCH;
}

static tesela_status check_host(tensor_reading *r, const tesela_device_host *host, const tensor *t) {
  const tesela_layout *layout = &t->layout;
  bool same = layout->rank == host->rank && layout->bits == host->bits;
  for (int32_t d = 0; same && d < host->rank; d++) same = layout->shape[d] == host->shape[d];
  if (same && (host->dtype == TESELA_DTYPE_NONE || host->dtype == layout->dtype)) return TESELA_OK;
  char text[TENSOR_LAYOUT_TEXT], wanted[HOST_TEXT];
  return fail(r, "expected %s, as the device layout has, found %s on the host", host_text(host, wanted),
              tensor_layout_text(&t->any, text));
}

/* The strides of a tensor that has no tiles. */
static tesela_status find_strides(tensor_reading *r, const tensor *t, int64_t *strides, int64_t *offset) {
  tesela_error err;
  if (t->swapped)
    return fail(r, "the tensor on the host has the other byte order; expected a plain one, which tesela "
                   "relayout writes");
  if (tesela_layout_to_strided(&t->layout, strides, offset, &err) == TESELA_OK) return TESELA_OK;
  return fail(r, "the tensor on the host has no strides; expected a plain one, which tesela relayout writes");
}

tesela_status tensor_verify(tensor_reading *r, const tesela_device_layout *layout, const tensor_file *dump,
                            const tensor_file *host, tesela_misplaced *misplaced) {
  tensor_says says = {tesela_value_text(tesela_request_get(r->q, "from")), NULL,
                      tesela_value_text(tesela_request_get(r->q, "tensor")), "from"};
  char shape[HOST_TEXT];
  int64_t strides[TESELA_MAX_RANK], offset = 0;
  tensor t;
  if (!says.layout && host->info.format == TESELA_FILE_RAW) says.layout = host_text(&layout->host, shape);
  tesela_status status = tensor_read(r, host, NULL, &says, &t);
  if (status == TESELA_OK) status = check_host(r, &layout->host, &t);
  if (status == TESELA_OK) status = find_strides(r, &t, strides, &offset);
  if (status != TESELA_OK) return status;
  r->text = NULL;
  const tesela_run_options run = tensor_run(r);
  return tesela_transfer_verify(layout, dump->info.data, dump->info.bytes, strides, offset, t.data, misplaced,
                                &run, NULL, r->err);
}
