/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_in_place.c - tesela_plan_run_in_place against the definition: layouts in notation, scratch,
 * progress, refusals. TESELA_SEED sets the seed.
 */
#include "support_fault.h"
#include "support_in_place.h"
#include "support_seed.h"

/* ---- pairs in notation ------------------------------------------------------------------------------------ */

/* In these every place that holds no element is padding. */
static const struct {
  const char *name, *dst, *src;
  tesela_transform transform;
} rows[] = {
    {"one element", "f32[]", "f32[]", TESELA_TRANSFORM_NONE},
    {"nothing to move", "f32[5,7]{1,0}", "f32[5,7]{1,0}", TESELA_TRANSFORM_NONE},
    {"nothing to move, bytes swapped", "u32[5,7]{1,0}", "u32[5,7]{1,0}", TESELA_TRANSFORM_SWAP},
    {"no element", "f32[0,7]{1,0}", "f32[0,7]{0,1}", TESELA_TRANSFORM_NONE},
    {"square transpose", "u8[16,16]{0,1}", "u8[16,16]{1,0}", TESELA_TRANSFORM_NONE},
    {"oblong transpose", "u16[37,53]{0,1}", "u16[37,53]{1,0}", TESELA_TRANSFORM_NONE},
    {"tiles", "f32[24,256]{1,0:T(8,128)}", "f32[24,256]{1,0}", TESELA_TRANSFORM_NONE},
    {"tiles with padding in both dims", "f32[21,200]{1,0:T(8,128)}", "f32[21,200]{1,0}",
     TESELA_TRANSFORM_NONE},
    {"out of tiles with padding", "f32[21,200]{1,0}", "f32[21,200]{1,0:T(8,128)}", TESELA_TRANSFORM_NONE},
    {"packed tiles to tiles of columns", "bf16[20,130]{0,1:T(8,128)(2,1)}", "bf16[20,130]{1,0:T(8,128)(2,1)}",
     TESELA_TRANSFORM_NONE},
    {"padded tiles to padded tiles of columns", "f32[37,300]{0,1:T(8,128)}", "f32[37,300]{1,0:T(8,128)}",
     TESELA_TRANSFORM_NONE},
    {"rows to padded tiles of columns", "u8[19,30,41]{0,2,1:T(8,128)(4,1)}", "u8[19,30,41]{2,1,0}",
     TESELA_TRANSFORM_NONE},
    {"padded tiles to columns, bytes swapped", "u32[61,53]{0,1}", "u32[61,53]{1,0:T(4,16)}",
     TESELA_TRANSFORM_SWAP},
    {"tiles move as a whole", "s8[3,5,64,256]{3,2,0,1:T(32,128)(4,1)}",
     "s8[3,5,64,256]{3,2,1,0:T(32,128)(4,1)}", TESELA_TRANSFORM_NONE},
    {"rows of 8 KiB change places", "f32[5,3,2048]{2,0,1}", "f32[5,3,2048]{2,1,0}", TESELA_TRANSFORM_NONE},
    {"rows of 12000 bytes, bytes swapped", "u64[5,3,1500]{2,0,1}", "u64[5,3,1500]{2,1,0}",
     TESELA_TRANSFORM_SWAP},
    {"elements of 16 bytes", "c128[5,9]{0,1}", "c128[5,9]{1,0}", TESELA_TRANSFORM_NONE},
    {"joined dims, split by what does not divide", "f32[6,10]{1,0:T(*,7)}", "f32[6,10]{0,1}",
     TESELA_TRANSFORM_NONE},
};

static int64_t *table_of(const tesela_layout *layout) {
  int64_t index[TESELA_MAX_RANK] = {0}, place, e = 0;
  int64_t *table = malloc((size_t)(layout->axis[0].extent + 1) * sizeof *table);
  assert_non_null(table);
  for (int64_t p = 0; p < layout->axis[0].extent; p++) table[p] = PADDING;
  if (in_place_product(layout->rank, layout->shape) == 0) return table;
  do {
    OK(tesela_layout_place_of(layout, index, &place, &e_));
    table[place] = e++;
  } while (tesela_index_next(layout->rank, layout->shape, index));
  return table;
}

static void rows_agree_with_the_definition(void **state) {
  (void)state;
  in_place_begin(first_seed());
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    for (int fill = TESELA_FILL_ZERO; fill <= TESELA_FILL_VALUE; fill++) {
      tesela_layout dst = in_place_layout(rows[r].dst), src = in_place_layout(rows[r].src);
      int64_t *dst_table = table_of(&dst), *src_table = table_of(&src);
      in_place_job j = {rows[r].name, dst.axis[0].extent, src.axis[0].extent, dst_table, src_table, dst.bits,
                        {0}};
      in_place_draw_options(&j.options, 8);
      j.options.fill = (tesela_fill)fill;
      j.options.transform = rows[r].transform;
      in_place_run_all(&j, &dst, &src, 12);
      free(dst_table);
      free(src_table);
    }
}

/* 10 dims of 3 in tiles of 2: each makes a partial tile of every one before, 1023 boxes of padding. */
static void more_partial_tiles_than_a_plan_has_pieces(void **state) {
  (void)state;
  enum { RANK = 10 };
  tesela_layout dst, src;
  int64_t shape[RANK];
  int32_t digits[2 * RANK], axis;
  for (int d = 0; d < RANK; d++) shape[d] = 3;
  OK(tesela_layout_strided(&src, TESELA_U8, 8, RANK, shape, NULL, 0, &e_));
  OK(tesela_layout_begin(&dst, TESELA_U8, 8, RANK, shape, &e_));
  for (int d = 0; d < RANK; d++) {
    digits[d] = d;
    OK(tesela_layout_split(&dst, d, 2, &digits[RANK + d], &e_));
  }
  OK(tesela_layout_add_axis(&dst, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(&dst, 2 * RANK, digits, axis, 1, NULL, &e_));
  OK(tesela_layout_finish(&dst, &e_));
  int64_t *dst_table = table_of(&dst), *src_table = table_of(&src);
  in_place_job j = {"partial tiles", dst.axis[0].extent, src.axis[0].extent, dst_table, src_table, 8, {0}};
  tesela_plan *plan = NULL;
  OK(tesela_plan_create(&plan, &dst, &src, &j.options, &e_));
  in_place_run(&j, plan);
  tesela_plan_destroy(plan);
  free(dst_table);
  free(src_table);
}

/* ---- methods ---------------------------------------------------------------------------------------------- */

/* The plan's explanation. */
static const char *explained(const tesela_plan *plan) {
  static char text[1 << 16];
  tesela_buffer words = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&words);
  OK(tesela_plan_explain(plan, &to, &e_));
  return text;
}

/* Tensors that are not allocated: what is done with them, and scratch of at most 1 MiB or a 64th of the tensor. */
static void large_tensors_have_passes_and_little_scratch(void **state) {
  (void)state;
  static const struct {
    const char *name, *dst, *src, *words;
    int32_t threads;
  } methods[] = {
      {"everything fits", "f32[100,200]{0,1}", "f32[100,200]{1,0}", "everything through the scratch\n", 1},
      {"nothing moves", "f32[10000,2000]{1,0}", "f32[10000,2000]{1,0}", "nothing moves\n", 1},
      {"8 rows become tiles", "f32[8192,8192]{1,0:T(8,128)}", "f32[8192,8192]{1,0}",
       ": 1024 of 262144 bytes\n", 1},
      {"on two threads", "f32[8192,8192]{1,0:T(8,128)}", "f32[8192,8192]{1,0}",
       ": 1024 of 262144 bytes, 2 threads\n", 2},
      {"tiles with padding", "f32[8190,8180]{1,0:T(8,128)}", "f32[8190,8180]{1,0}",
       ": 1024 of 261760 bytes, from the last to the first\n", 2},
      {"without padding again", "f32[8190,8180]{1,0}", "f32[8190,8180]{1,0:T(8,128)}",
       ": 1024 of 262144 bytes, in order\n", 2},
      {"a square", "f32[8192,8192]{0,1}", "f32[8192,8192]{1,0}", "change places: 64 x 64 units of 32 bits\n",
       1},
      {"squares of nibbles", "s4[3,8192,8192]{1,2,0:E(4)}", "s4[3,8192,8192]{2,1,0:E(4)}",
       "change places: 512 x 512 units of 4 bits, 4 threads\n", 4},
      {"a rectangle", "f32[8192,4096]{0,1}", "f32[8192,4096]{1,0}",
       "move along cycles: blocks of 32768 bytes\n", 1},
      {"few columns", "f32[20000000,3]{0,1}", "f32[20000000,3]{1,0}",
       "move along cycles: blocks of 640000 bytes\n", 1},
      {"rows of 8 KiB", "f32[500,300,2048]{2,0,1}", "f32[500,300,2048]{2,1,0}",
       "move along cycles: blocks of 8192 bytes\n", 1},
      {"a rectangle of two primes", "f32[8189,8171]{0,1}", "f32[8189,8171]{1,0}",
       "the last rows to their places: ", 1},
      {"few columns, a prime of rows", "f32[20000003,3]{0,1}", "f32[20000003,3]{1,0}",
       "the last rows to the scratch: ", 1},
      {"primes on threads", "u8[2179,46771]{0,1}", "u8[2179,46771]{1,0}",
       "the last rows to the scratch: ", 4},
      {"a batch of primes", "u16[5,1021,1031]{1,2,0}", "u16[5,1021,1031]{2,1,0}",
       "the last rows to the scratch: ", 1},
      {"transposed into tiles with padding", "f32[8190,8180]{1,0:T(8,128)}", "f32[8190,8180]{0,1}",
       "strips through the scratch: 1024 of 261760 bytes, from the last to the first\n", 1},
      {"tiles with padding, transposed", "bf16[6,5,30,100,200]{2,4,0,1,3:T(8,128)(2,1)}",
       "bf16[6,5,30,100,200]{4,3,2,1,0:T(8,128)(2,1)}", "move along cycles: blocks of 12000 bytes\n", 1},
      {"steps that do not nest", "f32[8184,8000]{1,0:T(8,128)}", "f32[8184,8000]{1,0:T(6,100)}",
       ": 341 of 768000 bytes, from the last to the first\n", 1},
  };
  for (size_t r = 0; r < sizeof methods / sizeof methods[0]; r++) {
    tesela_layout dst = in_place_layout(methods[r].dst), src = in_place_layout(methods[r].src);
    const tesela_plan_options options = {.threads = methods[r].threads};
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    OK(tesela_plan_create(&plan, &dst, &src, &options, &e_));
    tesela_plan_describe(plan, &info);
    if (!strstr(explained(plan), methods[r].words))
      fail_msg("%s: not \"%s\" in\n%s", methods[r].name, methods[r].words, explained(plan));
    int64_t bytes = info.src_bytes > info.dst_bytes ? info.src_bytes : info.dst_bytes;
    if (info.in_place_scratch_bytes > 1 << 20 && info.in_place_scratch_bytes > bytes / 64)
      fail_msg("%s: %" PRId64 " bytes of scratch for %" PRId64, methods[r].name, info.in_place_scratch_bytes,
               bytes);
    tesela_plan_destroy(plan);
  }
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

static tesela_layout vector(int32_t bits, int64_t n, int64_t stride, int64_t copies) {
  tesela_layout layout;
  int32_t axis, replica;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, bits, 1, &n, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place(&layout, 0, axis, stride, &e_));
  if (copies > 1) {
    OK(tesela_layout_add_digit(&layout, TESELA_REPLICA, copies, &replica, &e_));
    OK(tesela_layout_place(&layout, replica, axis, n * stride, &e_));
  }
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

static void what_is_no_permutation_is_refused(void **state) {
  (void)state;
  struct {
    const char *name;
    tesela_layout dst, src;
    tesela_transform transform;
  } refused[] = {
      {"replicas in dst", vector(32, 6, 1, 2), vector(32, 6, 1, 1), TESELA_TRANSFORM_NONE},
      {"replicas in src", vector(32, 6, 1, 1), vector(32, 6, 1, 2), TESELA_TRANSFORM_NONE},
      {"a broadcast in src", vector(32, 6, 1, 1), vector(32, 6, 0, 1), TESELA_TRANSFORM_NONE},
      {"wider", vector(32, 6, 1, 1), vector(16, 6, 1, 1), TESELA_TRANSFORM_CONVERT},
      {"narrower", vector(16, 6, 1, 1), vector(32, 6, 1, 1), TESELA_TRANSFORM_CONVERT},
  };
  refused[3].dst.dtype = refused[4].src.dtype = TESELA_F32;
  refused[3].src.dtype = refused[4].dst.dtype = TESELA_BF16;
  for (size_t r = 0; r < sizeof refused / sizeof refused[0]; r++) {
    unsigned char buffer[64], same[64];
    tesela_plan_options options = {.transform = refused[r].transform};
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    tesela_error err;
    OK(tesela_plan_create(&plan, &refused[r].dst, &refused[r].src, &options, &e_));
    tesela_plan_describe(plan, &info);
    AGREE(refused[r].name, info.in_place, false);
    AGREE(refused[r].name, info.in_place_scratch_bytes, 0);
    memset(buffer, 0x5a, sizeof buffer);
    memset(same, 0x5a, sizeof same);
    AGREE(refused[r].name, tesela_plan_run_in_place(plan, buffer, NULL, NULL, &err), TESELA_E_UNSUPPORTED);
    assert_memory_equal(buffer, same, sizeof buffer);
    tesela_plan_destroy(plan);
  }
}

/* A dim of 6 split by 2, where the larger part adds nothing: elements 0, 2 and 4 share a place. */
static void a_partial_broadcast_in_src_is_refused(void **state) {
  (void)state;
  const int64_t n = 6;
  tesela_layout src, dst = vector(32, n, 1, 1);
  tesela_plan *plan = NULL;
  unsigned char buffer[64] = {0};
  int32_t lo, axis;
  OK(tesela_layout_begin(&src, TESELA_DTYPE_NONE, 32, 1, &n, &e_));
  OK(tesela_layout_split(&src, 0, 2, &lo, &e_));
  OK(tesela_layout_add_axis(&src, "memory", &axis, &e_));
  OK(tesela_layout_place(&src, 0, axis, 0, &e_));
  OK(tesela_layout_place(&src, lo, axis, 1, &e_));
  OK(tesela_layout_finish(&src, &e_));
  OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
  AGREE("shared", tesela_plan_run_in_place(plan, buffer, NULL, NULL, NULL), TESELA_E_UNSUPPORTED);
  tesela_plan_destroy(plan);
}

/* Windows of 3 that start one place apart. */
static void windows_in_src_are_refused(void **state) {
  (void)state;
  const int64_t shape[] = {4, 3}, overlapping[] = {1, 1};
  tesela_layout src, dst;
  tesela_plan *plan = NULL;
  unsigned char buffer[64] = {0};
  OK(tesela_layout_strided(&src, TESELA_DTYPE_NONE, 32, 2, shape, overlapping, 0, &e_));
  OK(tesela_layout_strided(&dst, TESELA_DTYPE_NONE, 32, 2, shape, NULL, 0, &e_));
  OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
  AGREE("windows", tesela_plan_run_in_place(plan, buffer, NULL, NULL, NULL), TESELA_E_UNSUPPORTED);
  tesela_plan_destroy(plan);
}

/* ---- progress --------------------------------------------------------------------------------------------- */

typedef struct watch {
  int calls, stop_at;
  int64_t last, total;
} watch;

static int watch_progress(void *user, int64_t done, int64_t total) {
  watch *w = user;
  assert_true(done >= w->last && done <= total);
  assert_int_equal(total, w->total);
  w->last = done;
  return ++w->calls == w->stop_at;
}

static void progress_is_told_and_may_stop(void **state) {
  (void)state;
  static const struct {
    const char *name, *dst, *src;
    int64_t rows, cols;
    bool scratch;
    int32_t threads;
  } runs[] = {
      {"cycles", "u8[300,701]{0,1}", "u8[300,701]{1,0}", 300, 701, false, 1},
      {"swaps", "u8[4096,4096]{0,1}", "u8[4096,4096]{1,0}", 4096, 4096, true, 1},
      {"swaps on threads", "u8[4096,4096]{0,1}", "u8[4096,4096]{1,0}", 4096, 4096, true, 3},
      {"strips and blocks", "u8[5000,4000]{0,1}", "u8[5000,4000]{1,0}", 5000, 4000, true, 1},
      {"tails", "u8[5003,3989]{0,1}", "u8[5003,3989]{1,0}", 5003, 3989, true, 1},
      {"tails on threads", "u8[5003,3989]{0,1}", "u8[5003,3989]{1,0}", 5003, 3989, true, 2},
      {"strips and blocks on threads", "u8[5000,4000]{0,1}", "u8[5000,4000]{1,0}", 5000, 4000, true, 2},
  };
  for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++)
    for (int stop_at = 0; stop_at < 3; stop_at++) {
      tesela_layout dst = in_place_layout(runs[r].dst), src = in_place_layout(runs[r].src);
      const int64_t n_rows = runs[r].rows, n_cols = runs[r].cols;
      const tesela_plan_options how = {.threads = runs[r].threads};
      tesela_plan *plan = NULL;
      tesela_plan_info info;
      OK(tesela_plan_create(&plan, &dst, &src, &how, &e_));
      tesela_plan_describe(plan, &info);
      unsigned char *buffer = malloc((size_t)(n_rows * n_cols)),
                    *scratch = malloc((size_t)info.in_place_scratch_bytes);
      assert_true(buffer && scratch);
      watch w = {.stop_at = stop_at, .total = n_rows * n_cols};
      const tesela_run_options options = {.progress = watch_progress, .progress_user = &w};
      for (int64_t p = 0; p < n_rows * n_cols; p++) buffer[p] = in_place_byte(p, 0);
      tesela_status status =
          tesela_plan_run_in_place(plan, buffer, runs[r].scratch ? scratch : NULL, &options, NULL);
      AGREE(runs[r].name, status, stop_at ? TESELA_E_STOPPED : TESELA_OK);
      if (stop_at)
        AGREE(runs[r].name, w.calls, stop_at);
      else
        assert_true(w.calls > 1);
      for (int64_t p = 0; p < n_rows * n_cols && !stop_at; p++)
        assert_int_equal(buffer[p], in_place_byte(p % n_rows * n_cols + p / n_rows, 0));
      tesela_plan_destroy(plan);
      free(buffer);
      free(scratch);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

/* Plans of parts are made before anything is moved: without memory the buffer is as before. */
static void without_memory_nothing_is_lost(void **state) {
  (void)state;
  static const struct {
    const char *name, *dst, *src;
  } pairs[] = {{"swaps", "f32[1000,1000]{0,1}", "f32[1000,1000]{1,0}"},
               {"strips and blocks", "f32[1000,600]{0,1}", "f32[1000,600]{1,0}"},
               {"tails", "f32[1009,601]{0,1}", "f32[1009,601]{1,0}"},
               {"strips", "f32[1000,600]{1,0:T(8,128)}", "f32[1000,600]{1,0}"}};
  for (size_t r = 0; r < sizeof pairs / sizeof pairs[0]; r++) {
    tesela_layout dst = in_place_layout(pairs[r].dst), src = in_place_layout(pairs[r].src);
    fault f = {.countdown = -1};
    const tesela_allocator allocator = fault_allocator(&f);
    const tesela_plan_options options = {.allocator = &allocator};
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    OK(tesela_plan_create(&plan, &dst, &src, &options, &e_));
    tesela_plan_describe(plan, &info);
    const size_t bytes = (size_t)(info.dst_bytes > info.src_bytes ? info.dst_bytes : info.src_bytes);
    unsigned char *buffer = malloc(bytes), *scratch = malloc((size_t)info.in_place_scratch_bytes);
    assert_true(buffer && scratch);
    for (size_t p = 0; p < bytes; p++) buffer[p] = in_place_byte((int64_t)p, 0);
    const int64_t live = f.live;
    int64_t n = 0;
    for (tesela_status status = TESELA_E_MEMORY; status != TESELA_OK; n++) {
      f.countdown = n;
      status = tesela_plan_run_in_place(plan, buffer, scratch, NULL, NULL);
      AGREE("no leak", f.live, live);
      if (status == TESELA_OK) break;
      AGREE(pairs[r].name, status, TESELA_E_MEMORY);
      for (size_t p = 0; p < bytes; p++) assert_int_equal(buffer[p], in_place_byte((int64_t)p, 0));
    }
    assert_true(n > 1);
    tesela_plan_destroy(plan);
    free(buffer);
    free(scratch);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_agree_with_the_definition),
      cmocka_unit_test(more_partial_tiles_than_a_plan_has_pieces),
      cmocka_unit_test(large_tensors_have_passes_and_little_scratch),
      cmocka_unit_test(what_is_no_permutation_is_refused),
      cmocka_unit_test(a_partial_broadcast_in_src_is_refused),
      cmocka_unit_test(windows_in_src_are_refused),
      cmocka_unit_test(progress_is_told_and_may_stop),
      cmocka_unit_test(without_memory_nothing_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
