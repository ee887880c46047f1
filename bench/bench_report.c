/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_report.c - reading speed of tesela_report, against a memchr walk over the lines of the same bytes.
 *
 * Four texts, made here: HLO of a training step as compilers print it after optimisation (fusions with their
 * bodies, loops, tuples, metadata, constants), the same after the prefix of a log, a log with a memory
 * report every ten thousand lines, and a scheduled module for its peak and its timeline. Before anything is timed the totals are
 * checked against what the generator knows.
 *
 *   bench_report [MiB of text, default 32]
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <tesela/report.h>

#include "timing.h"

typedef struct bench_text {
  char *text;
  size_t n, capacity;
  int64_t arrays; /* that count */
  int64_t instructions;
  uint32_t random;
} bench_text;

static uint32_t next_random(bench_text *out) { return out->random = out->random * 1664525u + 1013904223u; }

static void put(bench_text *out, const char *format, ...) TESELA_PRINTF(2, 3);

static void put(bench_text *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(out->text + out->n, out->capacity - out->n, format, args);
  va_end(args);
  if (n > 0) out->n += (size_t)n;
}

/* ---- HLO text ------------------------------------------------------------------------------------------ */

static const char *const bench_shapes[] = {
    "f32[1024,4096]{1,0:T(8,128)}",
    "bf16[16,2048,4096]{2,1,0:T(8,128)(2,1)}",
    "f32[4096]{0:T(1024)}",
    "s32[16,2048]{1,0:T(8,128)}",
    "bf16[16,2048,32,128]{3,1,2,0:T(8,128)(2,1)}",
    "f32[16,32,2048]{2,1,0:T(8,128)}",
    "pred[16,2048]{1,0:T(8,128)(4,1)}",
    "f32[]{:T(128)}",
    "bf16[32000,4096]{1,0:T(8,128)(2,1)S(1)}",
    "f32[16,2048,3]{1,0,2:T(8,128)}",
};
enum { N_SHAPES = sizeof bench_shapes / sizeof bench_shapes[0] };

static const char *shape(bench_text *out) { return bench_shapes[next_random(out) / 65536 % N_SHAPES]; }

static void put_fused(bench_text *out, const char *prefix, int i) {
  put(out, "%s%%fused_computation.%d (param_0.%d: f32[16,2048], param_1.%d: f32[]) -> f32[16,2048] {\n",
      prefix, i, i, i);
  for (int k = 0; k < 6; k++)
    put(out,
        "%s  %%multiply.%d = %s multiply(%%param_0.%d, %%broadcast.%d), "
        "metadata={op_name=\"jit(step)/layers/mul\" "
        "stack_frame_id=%d}\n",
        prefix, i * 8 + k, shape(out), i, i, k);
  put(out, "%s  ROOT %%add.%d = %s add(%%multiply.%d, %%multiply.%d)\n%s}\n%s\n", prefix, i, shape(out),
      i * 8, i * 8 + 1, prefix, prefix);
}

static void put_step(bench_text *out, const char *prefix, int i) {
  static const char metadata[] =
      "metadata={op_name=\"jit(train_step)/jit(main)/transpose(jvp(Transformer))/layers/"
      "attention/dot_general\" source_file=\"model/layers.py\" source_line=417}";
  put(out,
      "%s  %%fusion.%d = %s fusion(%%copy-done.%d, %%get-tuple-element.%d, %%p.%d), kind=kLoop, "
      "calls=%%fused_computation.%d, %s\n",
      prefix, i, shape(out), i, i, i, i, metadata);
  put(out, "%s  %%copy-start.%d = (%s, %s, u32[]{:S(2)}) copy-start(%%fusion.%d), %s\n", prefix, i,
      bench_shapes[1], bench_shapes[8], i, metadata);
  put(out, "%s  %%copy-done.%d = %s copy-done(%%copy-start.%d)\n", prefix, i, bench_shapes[1], i);
  put(out,
      "%s  %%fusion.m.%d = (%s, %s) fusion(%%p.%d, %%p.%d), kind=kOutput, calls=%%fused_computation.%d, %s, "
      "backend_config={\"flag_configs\":[],\"window_config\":{\"kernel_window_bounds\":[\"1\",\"8\"]}}\n",
      prefix, i, shape(out), shape(out), i, i, i, metadata);
  put(out, "%s  %%get-tuple-element.%d = %s get-tuple-element(%%fusion.m.%d), index=0\n", prefix, i,
      bench_shapes[0], i);
  put(out,
      "%s  %%all-reduce.%d = %s all-reduce(%%fusion.%d), channel_id=%d, replica_groups=[4,2]<=[2,4]T(1,0), "
      "use_global_device_ids=true, to_apply=%%region_0.3\n",
      prefix, i, bench_shapes[0], i, i);
  put(out,
      "%s  %%constant.%d = f32[]{:T(128)} constant(0.5)\n%s  %%bitcast.%d = %s bitcast(%%all-reduce.%d)\n",
      prefix, i, prefix, i, shape(out), i);
  out->arrays += 1 + 1 + 2 + 1 + 1;
}

static void make_hlo(bench_text *out, const char *prefix) {
  int i = 0;
  put(out,
      "%sHloModule jit_step, is_scheduled=true, "
      "entry_computation_layout={(f32[8,3]{1,0:T(8,128)})->f32[]{:T(128)}}\n\n",
      prefix);
  for (; out->n < out->capacity / 2; i++) put_fused(out, prefix, i);
  put(out, "%sENTRY %%main.5 (p.1: f32[8,3]) -> f32[] {\n", prefix);
  for (i = 0; out->n < out->capacity - 16384; i++) put_step(out, prefix, i);
  put(out, "%s}\n", prefix);
}

/* ---- a schedule ---------------------------------------------------------------------------------------- */

/* A module whose arrays can be followed, printed as a TPU's compiler prints it: layers with a fusion each, copies to vector memory,
 * tuples. */
static const char bench_metadata[] = "metadata={op_name=\"jit(train_step)/transpose(jvp(Transformer))/layers/"
                                     "attention/dot_general\" stack_frame_id=41}";
static const char bench_config[] =
    "backend_config={\"flag_configs\":[],\"scoped_memory_configs\":[{\"memory_space\":\"1\",\"offset\":\"0\","
    "\"size\":\"131072\"}],\"used_scoped_memory_configs\":[]}";
static const char bench_window[] =
    "backend_config={\"flag_configs\":[],\"window_config\":{\"kernel_window_bounds\":[],\"output_window_"
    "bounds\":[\"128\",\"8\"],"
    "\"input_window_bounds\":[],\"estimated_cycles\":\"90416\",\"iteration_bounds\":[\"16\",\"1\"],\"cost_"
    "model_type\":"
    "\"COST_MODEL_TYPE_INVALID\",\"is_mask\":false},\"scoped_memory_configs\":[{\"memory_space\":\"1\","
    "\"offset\":\"0\","
    "\"size\":\"22649243\"}],\"used_scoped_memory_configs\":[],\"aliasing_operands\":{\"lists\":[]}}";
#define BENCH_ARRAY "f32[4096,128]{1,0:T(8,128)}"

static void put_scheduled_fusion(bench_text *out, int i) {
  put(out,
      "%%fused_computation.%d (param_0.%d: f32[4096,128], param_1.%d: f32[4096,128]) -> f32[4096,128] {\n"
      "  %%param_0.%d = " BENCH_ARRAY " parameter(0)\n  %%param_1.%d = " BENCH_ARRAY " parameter(1)\n"
      "  %%multiply.%d = " BENCH_ARRAY " multiply(%%param_0.%d, %%param_1.%d), %s\n"
      "  %%tanh.%d = " BENCH_ARRAY " tanh(%%multiply.%d), %s\n"
      "  ROOT %%add.%d = " BENCH_ARRAY " add(%%tanh.%d, %%param_1.%d), %s\n}\n\n",
      i, i, i, i, i, i, i, i, bench_metadata, i, i, bench_metadata, i, i, i, bench_metadata);
  out->instructions += 5;
}

static void put_scheduled_layer(bench_text *out, int i, int fused) {
  put(out,
      "  %%copy-start.%d = (f32[4096,128]{1,0:T(8,128)S(1)}, " BENCH_ARRAY
      ", u32[]{:S(2)}) copy-start(%%x.%d), %s, %s\n"
      "  %%fusion.%d = " BENCH_ARRAY
      " fusion(%%x.%d, %%x.%d), kind=kLoop, calls=%%fused_computation.%d, %s, %s\n"
      "  %%copy-done.%d = f32[4096,128]{1,0:T(8,128)S(1)} copy-done(%%copy-start.%d), %s, %s\n",
      i, i, bench_metadata, bench_config, i, i, i, fused, bench_metadata, bench_window, i, i, bench_metadata,
      bench_config);
  put(out,
      "  %%tuple.%d = (" BENCH_ARRAY
      ", f32[4096,128]{1,0:T(8,128)S(1)}) tuple(%%fusion.%d, %%copy-done.%d), %s\n"
      "  %%get-tuple-element.%d = " BENCH_ARRAY " get-tuple-element(%%tuple.%d), index=0, %s, %s\n"
      "  %%x.%d = " BENCH_ARRAY
      " convolution(%%get-tuple-element.%d, %%copy-done.%d), dim_labels=bf_io->bf, %s, %s\n",
      i, i, i, bench_config, i, i, bench_metadata, bench_config, i + 1, i, i, bench_metadata, bench_window);
  out->instructions += 6;
}

static void make_schedule(bench_text *out) {
  int n = 0;
  put(out, "HloModule jit_step, is_scheduled=true, entry_computation_layout={(" BENCH_ARRAY ")->" BENCH_ARRAY
           "}\n\n");
  for (; out->n < out->capacity / 2; n++) put_scheduled_fusion(out, n);
  put(out, "ENTRY %%main {\n  %%x.0 = " BENCH_ARRAY " parameter(0)\n");
  out->instructions++;
  for (int i = 0; out->n < out->capacity - 16384; i++) put_scheduled_layer(out, i, i % n);
  put(out, "}\n");
}

/* ---- a log --------------------------------------------------------------------------------------------- */

static void make_log(bench_text *out, const char *prefix) {
  for (int i = 0; out->n < out->capacity - 16384; i++) {
    put(out, "%sstep %d loss: 2.%d, grad norm: 1.7, tokens per second: 81%d, eta: 3:21:%d\n", prefix, i,
        i % 1000, i % 97, i % 60);
    if (i % 10000 != 5000) continue;
    put(out, "%sLargest program allocations in hbm:\n", prefix);
    for (int k = 1; k <= 3; k++)
      put(out,
          "%s  %d. Size: 2.00M\n%s     Shape: f32[%d,16]{1,0:T(8,128)}\n%s     Unpadded size: 256.0K\n"
          "%s     ==========================\n",
          prefix, k, prefix, 4096, prefix, prefix);
    out->arrays += out->arrays == 0 ? 3 : 0; /* the same report again counts once */
  }
}

/* ---- what is timed ------------------------------------------------------------------------------------- */

static int64_t counted;

static void walk_lines(void *data) {
  const bench_text *text = data;
  int64_t lines = 0;
  for (const char *p = text->text, *end = p + text->n; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
    lines++;
  counted += lines;
}

static void read_report(void *data) {
  const bench_text *text = data;
  tesela_report *report;
  if (tesela_report_create(&report, NULL, NULL, NULL) != TESELA_OK) exit(1);
  for (size_t at = 0, block = 256 * 1024; at < text->n; at += block)
    if (tesela_report_feed(report, text->text + at, text->n - at < block ? text->n - at : block, NULL) !=
        TESELA_OK)
      exit(1);
  if (tesela_report_finish(report, NULL) != TESELA_OK) exit(1);
  tesela_report_totals totals = tesela_report_total(report, NULL);
  if (totals.arrays != text->arrays) {
    fprintf(stderr, "counted %" PRId64 " arrays, made %" PRId64 "\n", totals.arrays, text->arrays);
    exit(1);
  }
  tesela_report_destroy(report);
}

static void bench_reading(const char *title, void (*make)(bench_text *out, const char *prefix),
                          const char *prefix, size_t size) {
  bench_text text = {.capacity = size, .text = malloc(size)};
  if (!text.text) exit(1);
  make(&text, prefix);
  double kib = (double)text.n / 1024;
  bench_way ways[] = {{"memchr over the lines, a KiB", walk_lines, kib, 0},
                      {"tesela_report, a KiB", read_report, kib, 0}};
  bench_compare(title, ways, 2, &text);
  printf("  %.0f MB/s and %.0f MB/s\n", 1024e3 / ways[0].ns, 1024e3 / ways[1].ns);
  bench_figure("report.mb_per_s", 1024e3 / ways[1].ns);
  free(text.text);
}

/* ---- the peak ------------------------------------------------------------------------------------------ */

typedef struct bench_memory { /* bytes in use, and the most so far */
  size_t used, most;
} bench_memory;

enum { BENCH_HEAD = 16 }; /* before each block: its bytes */

static void *take(void *user, size_t size, size_t alignment) {
  bench_memory *memory = user;
  char *block = malloc(size + BENCH_HEAD);
  (void)alignment; /* malloc's is enough */
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  memory->used += size;
  if (memory->used > memory->most) memory->most = memory->used;
  return block + BENCH_HEAD;
}

static void give(void *user, void *block) {
  bench_memory *memory = user;
  size_t size;
  if (!block) return;
  memcpy(&size, (char *)block - BENCH_HEAD, sizeof size);
  memory->used -= size;
  free((char *)block - BENCH_HEAD);
}

/* The peak of a module with all lives and the timeline of its main memory. */
static void read_peak_in(const bench_text *text, const tesela_allocator *memory) {
  tesela_report *report;
  tesela_report_options options = {.peak = 1};
  if (tesela_report_create(&report, &options, memory, NULL) != TESELA_OK ||
      tesela_report_feed(report, text->text, text->n, NULL) != TESELA_OK ||
      tesela_report_finish(report, NULL) != TESELA_OK)
    exit(1);
  const tesela_report_peak *peak = tesela_report_peak_at(report, 0);
  if (!peak || peak->at < 0 || peak->instants < text->instructions / 4) {
    fputs("a schedule that cannot be followed\n", stderr);
    exit(1);
  }
  int64_t *bytes = memory->alloc(memory->user, (size_t)peak->instants * sizeof *bytes, sizeof *bytes);
  if (!bytes || tesela_report_timeline(report, 0, peak->instants, bytes, NULL) != TESELA_OK) exit(1);
  counted += bytes[peak->at];
  memory->release(memory->user, bytes);
  tesela_report_destroy(report);
}

static void read_peak(void *data) {
  bench_memory memory = {0};
  read_peak_in(data, &(tesela_allocator){&memory, take, give});
}

static void bench_peak(size_t size) {
  bench_text text = {.capacity = size, .text = malloc(size)};
  if (!text.text) exit(1);
  make_schedule(&text);
  double kib = (double)text.n / 1024;
  bench_way ways[] = {{"memchr over the lines, a KiB", walk_lines, kib, 0},
                      {"peak and timeline, a KiB", read_peak, kib, 0}};
  bench_compare("scheduled HLO text: peak and timeline", ways, 2, &text);
  bench_memory memory = {0};
  read_peak_in(&text, &(tesela_allocator){&memory, take, give});
  double bytes = (double)memory.most / (double)text.instructions;
  printf("  %.0f MB/s; %" PRId64 " instructions, %.0f bytes of memory each\n", 1024e3 / ways[1].ns,
         text.instructions, bytes);
  bench_figure("report.peak_mb_per_s", 1024e3 / ways[1].ns);
  bench_figure("report.peak_bytes_per_instruction", bytes);
  free(text.text);
}

int main(int argc, char **argv) {
  size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 32) << 20;
  if (size < 1 << 20) size = 1 << 20;
  bench_reading("HLO text", make_hlo, "", size);
  bench_reading("HLO text behind the prefix of a log", make_hlo,
                "I0000 00:00:1763718000.123456    4242 hlo_pass.cc:123] ", size);
  bench_reading("a log with memory reports", make_log, "2026-11-21 10:00:00.123456: I train.py:42] ", size);
  bench_peak(size);
  return counted == 0;
}
