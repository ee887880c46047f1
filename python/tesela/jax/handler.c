/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.c - relayout as a custom call of XLA on the CPU. tesela.jax compiles it on first use against the headers of the
 * installed jaxlib; it calls the library that is already loaded, by the addresses that Python gives it.
 *
 * The attribute `plan` is a text that names both layouts, so a compiled program holds no address and may be stored. Plans are
 * made by Python, once for each text, and live as long as the process.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

#define MESSAGE 512
#define ERROR_WORDS 64 /* room for a tesela_error */

/* What Python says about a text; its fields in this order are those of `Entry` in _handler.py. */
typedef struct {
  const void *plan;
  int64_t src_places, dst_places; /* elements of a buffer's last dim */
  int64_t dst_bytes;
  int64_t src_size, dst_size;   /* bytes of an element */
  int64_t src_dtype, dst_dtype; /* as XLA numbers them */
  int64_t clear;                /* 1: the plan does not write all of dst */
} entry;

typedef int run_function(const void *plan, void *dst, const void *src, const void *options, void *err);
typedef int make_function(const char *text, size_t length, entry *out, char *message, size_t size);

typedef struct known {
  struct known *next;
  entry entry;
  size_t length;
  char text[];
} known;

static run_function *run_plan;
static make_function *make_plan;
static size_t message_offset;
static _Atomic(known *) first; /* only ever grows, at its front */

/* The library's tesela_plan_run, Python's function that makes plans, and where a tesela_error has its message. */
int tesela_jax_init(run_function *run, make_function *make, size_t error_bytes, size_t offset) {
  if (error_bytes > ERROR_WORDS * sizeof(int64_t)) {
    return -1;
  }
  run_plan = run;
  make_plan = make;
  message_offset = offset;
  return 0;
}

static XLA_FFI_Error *failed(const XLA_FFI_Api *api, XLA_FFI_Error_Code code, const char *message) {
  XLA_FFI_Error_Create_Args args = {0};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message;
  args.errc = code;
  return api->XLA_FFI_Error_Create(&args);
}

static const known *find(const known *one, const char *text, size_t length) {
  while (one && (one->length != length || memcmp(one->text, text, length) != 0)) {
    one = one->next;
  }
  return one;
}

/* The entry of a text, from the list or from Python. Two threads may add the same text; both entries are right. */
static const entry *entry_of(const char *text, size_t length, char *message) {
  known *head = atomic_load(&first);
  const known *found = find(head, text, length);
  if (found) {
    return &found->entry;
  }
  known *made = malloc(sizeof *made + length);
  if (!made) {
    strcpy(message, "out of memory");
    return NULL;
  }
  if (make_plan(text, length, &made->entry, message, MESSAGE)) {
    free(made);
    return NULL;
  }
  made->length = length;
  memcpy(made->text, text, length);
  made->next = head;
  while (!atomic_compare_exchange_weak(&first, &made->next, made)) {
  }
  return &made->entry;
}

/* How many tensors a buffer holds, one after the other; -1 if it is not made of such tensors. */
static int64_t tensors(const XLA_FFI_Buffer *buffer, int64_t dtype, int64_t places) {
  if ((int64_t)buffer->dtype != dtype || buffer->rank < 1 || buffer->dims[buffer->rank - 1] != places) {
    return -1;
  }
  int64_t count = 1;
  for (int64_t i = 0; i + 1 < buffer->rank; i++) {
    count *= buffer->dims[i];
  }
  return count;
}

XLA_FFI_Error *tesela_jax_relayout(XLA_FFI_CallFrame *frame) {
  const XLA_FFI_Extension_Base *extension = frame->extension_start;
  if (extension && extension->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata *metadata = ((const XLA_FFI_Metadata_Extension *)extension)->metadata;
    metadata->api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    return NULL;
  }
  const XLA_FFI_Api *api = frame->api;
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE || frame->args.size != 1 || frame->rets.size != 1 ||
      frame->attrs.size != 1 || frame->attrs.types[0] != XLA_FFI_AttrType_STRING) {
    return failed(api, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                  "tesela_relayout: expected one array, one result and the attribute plan");
  }
  const XLA_FFI_ByteSpan *text = frame->attrs.attrs[0];
  char message[MESSAGE] = "";
  const entry *plan = entry_of(text->ptr, text->len, message);
  if (!plan) {
    return failed(api, XLA_FFI_Error_Code_INVALID_ARGUMENT, message);
  }
  const XLA_FFI_Buffer *src = frame->args.args[0], *dst = frame->rets.rets[0];
  int64_t count = tensors(src, plan->src_dtype, plan->src_places);
  if (count < 0 || count != tensors(dst, plan->dst_dtype, plan->dst_places)) {
    return failed(api, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                  "tesela_relayout: the arrays are not those of the attribute plan");
  }
  if (plan->dst_bytes == 0) {
    return NULL;
  }
  const char *from = src->data;
  char *to = dst->data;
  if (plan->clear && count > 0) {
    memset(to, 0, (size_t)(count * plan->dst_bytes));
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t err[ERROR_WORDS] = {0};
    if (run_plan(plan->plan, to, from, NULL, err)) {
      return failed(api, XLA_FFI_Error_Code_INTERNAL, (const char *)err + message_offset);
    }
    from += plan->src_places * plan->src_size;
    to += plan->dst_places * plan->dst_size;
  }
  return NULL;
}
