/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_verify.c - check every byte of a file against its description: the header, then each tensor. Elements are
 * compared by the definition of both layouts, as in tesela_values_compare; then all places without an element are checked.
 * Uses no plan and no kernel.
 *
 * The elements of a tensor are one task, its padding another; threads take tasks in order. The failure of the lowest task is
 * reported, so the answer does not depend on the threads.
 */
#include <stdarg.h>
#include <stdio.h>

#include "file/file_writing.h"
#include "layout/layout.h"
#include "relayout/values.h"

enum { VERIFY_STEP = 4 << 20, VERIFY_RUNS = 1 << 16 };

static tesela_status verify_differs(const tesela__file_writing *w, const char *format, ...)
    TESELA_PRINTF(2, 3);
static tesela_status verify_differs(const tesela__file_writing *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(w->err, TESELA_E_MISMATCH, -1, format, args);
  va_end(args);
  return TESELA_E_MISMATCH;
}

/* "tensor wte.weight: ", or "" for a format with one tensor. */
static const char *verify_who(const tesela__file_writing *w, int64_t i, char text[TESELA__QUOTE + 16]) {
  char quoted[TESELA__QUOTE];
  text[0] = '\0';
  if (w->format == TESELA_FILE_SAFETENSORS)
    snprintf(text, TESELA__QUOTE + 16,
             "tensor %s: ", tesela__quote(w->item[i].name, strlen(w->item[i].name), quoted));
  return text;
}

/* ---- equal bytes ------------------------------------------------------------------------------------------- */

static tesela_status verify_bytes(const tesela__file_writing *w, const tesela_run_options *run,
                                  const char *who, const uint8_t *expected, const uint8_t *found,
                                  int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += VERIFY_STEP) {
    const int64_t n = tesela__min(bytes - at, VERIFY_STEP);
    int64_t i = 0;
    if (run->progress && run->progress(run->progress_user, at, bytes) != 0)
      return tesela__fail_stopped(w->err);
    if (memcmp(expected + at, found + at, (size_t)n) == 0) continue;
    while (expected[at + i] == found[at + i]) i++;
    return verify_differs(w, "%sbyte %" PRId64 " is 0x%02x; expected 0x%02x", who, at + i, found[at + i],
                          expected[at + i]);
  }
  return TESELA_OK;
}

/* ---- elements ---------------------------------------------------------------------------------------------- */

static tesela_status verify_elements(const tesela__file_writing *w, const tesela_run_options *run, int64_t i,
                                     const uint8_t *data) {
  const tesela_file_item *item = &w->item[i];
  tesela_values_difference d;
  char who[TESELA__QUOTE + 16], found[TESELA_ELEMENT_TEXT], expected[TESELA_ELEMENT_TEXT];
  char index[TESELA_MAX_RANK * 21 + 3] = "()";
  tesela_status status =
      tesela_values_compare(item->from, item->tensor->data, item->to, data, &d, run, w->err);
  if (status != TESELA_OK || d.same) return status;
  for (int32_t k = 0, n = 0; k < item->to->rank; k++)
    n += snprintf(index + n, sizeof index - (size_t)n, "%c%" PRId64 "%s", k > 0 ? ',' : '(', d.index[k],
                  k + 1 < item->to->rank ? "" : ")");
  return verify_differs(
      w, "%selement %s, at place %" PRId64 ", is %s; expected %s (%" PRId64 " elements differ)",
      verify_who(w, i, who), index, d.place_b, tesela_element_bits(d.b, item->to->bits, found),
      tesela_element_bits(d.a, item->from->bits, expected), d.n_different);
}

/* ---- places without an element ----------------------------------------------------------------------------- */

typedef struct verify_fill {
  const uint8_t *data;
  int32_t bits;
  uint8_t value[16]; /* expected at such a place */
  bool or_zero;      /* zero is accepted too: gaps between digits are not filled */
} verify_fill;

static bool verify_is_zero(const uint8_t *data, int64_t n) {
  static const uint8_t zeros[4096];
  for (; n > (int64_t)sizeof zeros; data += sizeof zeros, n -= (int64_t)sizeof zeros)
    if (memcmp(data, zeros, sizeof zeros) != 0) return false;
  return memcmp(data, zeros, (size_t)n) == 0;
}

/* The first of n places with an unexpected value, or n. */
static int64_t verify_run(const verify_fill *f, int64_t place, int64_t n) {
  static const uint8_t zero[16];
  const int64_t width = f->bits / 8;
  if (f->bits < 8) {
    for (int64_t k = 0; k < n; k++) {
      const unsigned found = tesela__values_bits(f->data, place + k, f->bits);
      if (found != (f->value[0] & ((1u << f->bits) - 1)) && !(f->or_zero && found == 0)) return k;
    }
    return n;
  }
  const uint8_t *at = f->data + place * width;
  if (memcmp(f->value, zero, (size_t)width) == 0 && verify_is_zero(at, n * width)) return n;
  for (int64_t k = 0; k < n; k++, at += width)
    if (memcmp(at, f->value, (size_t)width) != 0 && !(f->or_zero && memcmp(at, zero, (size_t)width) == 0))
      return k;
  return n;
}

/* Are the bits after the last place 0? */
static bool verify_tail(const uint8_t *data, const tesela_sizes *sizes) {
  return sizes->bits % 8 == 0 || data[sizes->bits / 8] >> (sizes->bits % 8) == 0;
}

static tesela_status verify_padding(const tesela__file_writing *w, const tesela_run_options *run, int64_t i,
                                    const uint8_t *data) {
  const tesela_layout *to = w->item[i].to;
  verify_fill fill = {.data = data, .bits = to->bits};
  char who[TESELA__QUOTE + 16], found[TESELA_ELEMENT_TEXT], expected[TESELA_ELEMENT_TEXT];
  uint8_t value[16] = {0};
  tesela_sizes sizes;
  tesela_scan scan;
  tesela_status status = tesela_layout_sizes(to, &sizes, w->err);
  if (status != TESELA_OK || sizes.elements == 0) return status;
  if (!verify_tail(data, &sizes))
    return verify_differs(w, "%sbits after the last place are set", verify_who(w, i, who));
  if (sizes.elements == sizes.logical_elements) return TESELA_OK;
  status = tesela_scan_begin(&scan, to, w->err);
  if (status != TESELA_OK) return status;
  fill.or_zero = scan.general;
  if (w->options->plan.fill == TESELA_FILL_VALUE)
    memcpy(fill.value, w->item[i].fill_value, sizeof fill.value);
  for (int64_t runs = 1; scan.more; runs++) {
    if (runs % VERIFY_RUNS == 0 && run->progress && run->progress(run->progress_user, 1, 1) != 0)
      return tesela__fail_stopped(w->err);
    if (!scan.padding) {
      tesela__scan_pass_elements(&scan);
      continue;
    }
    const int64_t n = scan.left + 1, same = verify_run(&fill, scan.place, n);
    if (same < n) {
      if (to->bits < 8)
        value[0] = (uint8_t)tesela__values_bits(data, scan.place + same, to->bits);
      else
        memcpy(value, data + (scan.place + same) * (to->bits / 8), (size_t)to->bits / 8);
      return verify_differs(w, "%spadding at place %" PRId64 " is %s; expected %s", verify_who(w, i, who),
                            scan.place + same, tesela_element_bits(value, to->bits, found),
                            tesela_element_bits(fill.value, to->bits, expected));
    }
    scan.place += scan.left; /* the end of the run */
    scan.left = 0;
    tesela_scan_next(&scan);
  }
  return TESELA_OK;
}

/* ---- tasks ------------------------------------------------------------------------------------------------- */

typedef struct verify_work {
  const tesela__file_writing *w;
  const tesela__file_copies *copies;
  const uint8_t *data;
  uintptr_t caller;       /* the thread that progress is called from */
  atomic_llong next, bad; /* tasks: the next one; the first that failed, as far as is known */
  atomic_llong done;      /* bytes */
  atomic_bool stopped;
  struct verify_result *result; /* of each thread: its first failure */
} verify_work;

typedef struct verify_result {
  int64_t task;
  tesela_status status;
  tesela_error err;
} verify_result;

/* A task at work. */
typedef struct verify_task {
  verify_work *work;
  int64_t task, bytes, counted; /* bytes of the output that it stands for; those of them that are counted */
} verify_task;

static int verify_progress(void *user, int64_t done, int64_t total) {
  verify_task *task = user;
  verify_work *work = task->work;
  const tesela__file_copies *copies = work->copies;
  const double part = total > 0 ? (double)done / (double)total : 0;
  const int64_t now = (int64_t)(part * (double)task->bytes), more = now - task->counted;
  const int64_t all = copies->bytes_before + atomic_fetch_add(&work->done, more) + more;
  task->counted = now;
  if (copies->options->progress && tesela__thread_self() == work->caller &&
      copies->options->progress(copies->options->progress_user, all, copies->bytes_total) != 0)
    atomic_store(&work->stopped, true);
  return atomic_load(&work->stopped) || atomic_load(&work->bad) < task->task;
}

/* Task 2 i is about the elements of tensor i, or its bytes if they are unchanged; 2 i + 1 about its padding. */
static tesela_status verify_one(const tesela__file_writing *w, const tesela_run_options *run, int64_t task,
                                const uint8_t *data) {
  const int64_t i = task / 2;
  const tesela_file_tensor *tensor = w->item[i].tensor;
  const uint8_t *begin = data + w->header_bytes + w->out[i].begin;
  char who[TESELA__QUOTE + 16];
  if (!w->item[i].from)
    return task % 2 ? TESELA_OK
                    : verify_bytes(w, run, verify_who(w, i, who), tensor->data, begin, tensor->bytes);
  if (task % 2) return verify_padding(w, run, i, begin);
  return tensor->bytes > 0 ? verify_elements(w, run, i, begin) : TESELA_OK;
}

static void verify_thread(void *data, int32_t t) {
  verify_work *work = data;
  verify_result *result = &work->result[t];
  tesela__file_writing own = *work->w;
  own.err = &result->err;
  while (result->status == TESELA_OK) {
    verify_task task = {.work = work, .task = atomic_fetch_add(&work->next, 1)};
    if (task.task >= 2 * own.n || atomic_load(&work->bad) < task.task) return;
    if (task.task % 2 == 0) task.bytes = own.out[task.task / 2].bytes;
    const tesela_run_options run = {.progress = verify_progress, .progress_user = &task};
    result->status = verify_one(&own, &run, task.task, work->data);
    if (result->status == TESELA_OK && verify_progress(&task, 1, 1) != 0)
      result->status = tesela__fail_stopped(own.err);
    result->task = task.task;
    long long bad = atomic_load(&work->bad);
    while (result->status != TESELA_OK && task.task < bad &&
           !atomic_compare_exchange_weak(&work->bad, &bad, task.task)) {
    }
  }
}

static tesela_status verify_tensors(const tesela__file_writing *w, const tesela__file_copies *copies,
                                    const uint8_t *data) {
  enum { BYTES_A_THREAD = 4 << 20, MOST_THREADS = 1024 };
  verify_work work = {.w = w, .copies = copies, .data = data, .caller = tesela__thread_self()};
  int64_t threads = w->options->plan.threads ? w->options->plan.threads : tesela__cpu_count();
  threads = tesela__max(
      1, tesela__min(tesela__min(threads, MOST_THREADS), tesela__min(2 * w->n, w->bytes / BYTES_A_THREAD)));
  work.result = tesela__alloc(&w->allocator, (uint64_t)threads * sizeof *work.result, alignof(verify_result));
  if (!work.result) return tesela__fail(w->err, TESELA_E_MEMORY, -1, "no memory to verify");
  memset(work.result, 0, (size_t)threads * sizeof *work.result);
  atomic_init(&work.bad, INT64_MAX);
  tesela__run_on_threads((int32_t)threads, (int32_t)threads, verify_thread, &work);
  const verify_result *first = &work.result[0];
  for (int64_t t = 1; t < threads; t++)
    if (work.result[t].status != TESELA_OK &&
        (first->status == TESELA_OK || work.result[t].task < first->task))
      first = &work.result[t];
  const tesela_status status = first->status;
  if (status != TESELA_OK && w->err) *w->err = first->err;
  tesela__release(&w->allocator, work.result);
  return status;
}

/* ---- the whole file ---------------------------------------------------------------------------------------- */

static tesela_status verify_all(const tesela__file_writing *w, const tesela__file_copies *copies,
                                const uint8_t *data, int64_t bytes) {
  const tesela_run_options quiet = {.progress = NULL};
  if (bytes != w->bytes)
    return verify_differs(w, "has %" PRId64 " bytes; expected %" PRId64, bytes, w->bytes);
  const tesela_status status =
      verify_bytes(w, &quiet, "the header: ", (const uint8_t *)w->header, data, w->header_bytes);
  return status == TESELA_OK ? verify_tensors(w, copies, data) : status;
}

tesela_status tesela__file_verify(const tesela__file_writing *w, const tesela__file_copies *copies,
                                  const uint8_t *data, int64_t bytes) {
  const tesela_status status = verify_all(w, copies, data, bytes);
  if (status == TESELA_E_MISMATCH && w->options->differs) *w->options->differs = true;
  return status;
}
