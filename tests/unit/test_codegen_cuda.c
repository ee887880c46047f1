/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_codegen_cuda.c - the CUDA code of a plan does what the plan does, bit by bit.
 *
 * Many plans are written to one file and compiled as C++ with tests/structure/cuda_on_host.h, which runs a block on the host;
 * with nvcc some typical ones are compiled by it as well, and must need no stack; with a GPU they run
 * there. The output is compared with the definition and with tesela_exchange_run. With TESELA_KEEP=1 the files stay, and
 *   nvcc -arch=native cases.cu -o program && ./program <in | cmp - want
 * checks them on another machine that has this tree at the same place.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_exchange.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { CASES = 64 };

typedef struct cuda_case {
  tesela_register dst, src;
  int32_t bits;
  tesela_exchange *plan;
} cuda_case;

typedef struct cuda_batch {
  char folder[64];
  cuda_case cases[CASES];
  int n;
  bool plant; /* a fault */
} cuda_batch;

static int to_file(void *user, const char *text, size_t length) {
  return fwrite(text, 1, length, user) != length;
}

static FILE *open_in(const cuda_batch *b, const char *name, const char *mode) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", b->folder, name);
  FILE *file = fopen(path, mode);
  if (!file) fail_msg("cannot open %s", path);
  return file;
}

static void add_case(cuda_batch *b, const tesela_register *dst, const tesela_register *src, int32_t bits,
                     const tesela_exchange_options *options) {
  cuda_case *c = &b->cases[b->n++];
  *c = (cuda_case){.dst = *dst, .src = *src, .bits = bits};
  OK(tesela_exchange_create(&c->plan, dst, src, bits, options, NULL, &e_));
}

static size_t bytes_of(const tesela_register *layout, int32_t bits) {
  return (size_t)(layout->spatial_size * layout->local_size) * (size_t)(bits / 8);
}

/* cases.cu: every plan as case0, case1, ..., and a main that runs them; in: the values of all; want: what must come out. */
static void write_batch(const cuda_batch *b) {
  FILE *code = open_in(b, "cases.cu", "w"), *in = open_in(b, "in", "wb"), *want = open_in(b, "want", "wb");
  tesela_writer to = {to_file, code};
  const char *source = getenv("TESELA_SOURCE");
  char here[1024];
  if (!source) source = getcwd(here, sizeof here);
  fprintf(code, "#include \"%s/tests/structure/cuda_on_host.h\"\n", source);
  for (int i = 0; i < b->n; i++) {
    char name[16];
    size_t bytes;
    snprintf(name, sizeof name, "case%d", i);
    fprintf(code, "\n// %s\n", exchange_text(&b->cases[i].dst, &b->cases[i].src, b->cases[i].bits));
    OK(tesela_codegen_exchange_cuda(b->cases[i].plan, name, &to, &e_));
    unsigned char *values = exchange_values(&b->cases[i].src, b->cases[i].bits, &bytes);
    if (b->plant && i == b->n / 2) values[bytes / 2] ^= 1;
    fwrite(values, 1, bytes, in);
    free(values);
    values = exchange_values(&b->cases[i].dst, b->cases[i].bits, &bytes);
    fwrite(values, 1, bytes, want);
    free(values);
  }
  fprintf(code, "\nint main() {\n");
  for (int i = 0; i < b->n; i++)
    fprintf(code, "  RUN(case%d, uint%" PRId32 "_t, %" PRId64 ", %zu, %zu);\n", i, b->cases[i].bits,
            tesela_exchange_facts_of(b->cases[i].plan).threads, bytes_of(&b->cases[i].src, b->cases[i].bits),
            bytes_of(&b->cases[i].dst, b->cases[i].bits));
  fprintf(code, "}\n");
  assert_int_equal(fclose(code), 0);
  assert_int_equal(fclose(in), 0);
  assert_int_equal(fclose(want), 0);
}

static bool runs(const cuda_batch *b, const char *format, const char *argument) {
  char command[1024];
  int n = snprintf(command, sizeof command, "cd %s && ", b->folder);
  snprintf(command + n, sizeof command - (size_t)n, format, argument);
  return system(command) == 0;
}

/* Compare what the program wrote to "out"; the number of the first case that is wrong, or -1. */
static int wrong_case(const cuda_batch *b) {
  FILE *out = open_in(b, "out", "rb");
  int wrong = -1;
  for (int i = 0; i < b->n && wrong < 0; i++) {
    const cuda_case *c = &b->cases[i];
    size_t n_src, n_dst;
    unsigned char *src = exchange_values(&c->src, c->bits, &n_src),
                  *want = exchange_values(&c->dst, c->bits, &n_dst);
    unsigned char *ran = malloc(n_dst), *got = malloc(n_dst);
    OK(tesela_exchange_run(c->plan, ran, src, NULL, &e_));
    if (fread(got, 1, n_dst, out) != n_dst || memcmp(got, want, n_dst) != 0 || memcmp(ran, want, n_dst) != 0)
      wrong = i;
    free(src);
    free(want);
    free(ran);
    free(got);
  }
  if (wrong < 0 && fgetc(out) != EOF) wrong = b->n;
  fclose(out);
  return wrong;
}

static void start_batch(cuda_batch *b) {
  *b = (cuda_batch){.folder = "/tmp/tesela-cuda-XXXXXX"};
  if (!mkdtemp(b->folder)) fail_msg("no folder in /tmp");
}

static void end_batch(cuda_batch *b) {
  for (int i = 0; i < b->n; i++) tesela_exchange_destroy(b->cases[i].plan);
  if (!getenv("TESELA_KEEP"))
    runs(b, "rm -f cases.cu in want out program log cases.o && rmdir %s", b->folder);
}

/* ---- on the host -------------------------------------------------------------------------------------------------- */

static const char *compiler(void) {
  const char *cxx = getenv("CXX");
  return cxx && *cxx ? cxx : "c++";
}

static void run_on_host(const cuda_batch *b) {
  write_batch(b);
  if (!runs(b,
            "%s -std=c++17 -x c++ -fno-strict-aliasing -Wall -Wextra -Wno-unknown-pragmas -Werror cases.cu "
            "-o program "
            ">log 2>&1 || { cat log; false; }",
            compiler()))
    fail_msg("the code does not compile: see %s", b->folder);
  if (!runs(b, "./program <in >out%s", "")) fail_msg("the code fails: see %s", b->folder);
}

static void random_plans_run_on_the_host(void **state) {
  (void)state;
  static const int32_t widths[] = {8, 16, 32, 64};
  exchange_random r = {first_seed()};
  cuda_batch b;
  start_batch(&b);
  int kinds[4] = {0};
  while (b.n < CASES) {
    tesela_register dst, src;
    tesela_exchange_options options = {.no_shuffle = exchange_below(&r, 8) == 0};
    exchange_pair(&r, 32, &dst, &src);
    if (dst.local_size > 64 || src.local_size > 64 || dst.spatial_size > 1024 || src.spatial_size > 1024)
      continue;
    add_case(&b, &dst, &src, widths[exchange_below(&r, 4)], &options);
    tesela_exchange_kind kind = tesela_exchange_facts_of(b.cases[b.n - 1].plan).kind;
    if (++kinds[kind] > CASES / 8 && kind < TESELA_EXCHANGE_SHUFFLE) { /* enough of these */
      tesela_exchange_destroy(b.cases[--b.n].plan);
    }
  }
  run_on_host(&b);
  int wrong = wrong_case(&b);
  if (wrong >= 0) fail_msg("case%d is wrong: see %s", wrong, b.folder);
  end_batch(&b);
}

/* The comparison sees one bit. */
static void a_planted_fault_is_seen(void **state) {
  (void)state;
  cuda_batch b;
  start_batch(&b);
  tesela_register dst, src;
  int64_t shape[] = {8, 8};
  OK(tesela_register_spatial(&src, 2, shape, NULL, &e_));
  OK(tesela_register_column_spatial(&dst, 2, shape, &e_));
  add_case(&b, &dst, &src, 32, NULL);
  b.plant = true;
  run_on_host(&b);
  assert_int_equal(wrong_case(&b), 0);
  end_batch(&b);
}

/* ---- typical ones, on the host and by nvcc -------------------------------------------------------------------------------------------------------- */

static void parse(tesela_register *out, const char *text) {
  OK(tesela_register_parse(text, strlen(text), out, &e_));
}

static const struct {
  const char *src, *dst;
  int32_t bits;
} typical[] = {
    {"local(2).spatial(32)", "spatial(32).local(2)", 32},
    {"local(2,1).spatial(8,4).local(1,2)", "spatial(16,2).local(1,4)", 16}, /* C of mma.m16n8k16 to rows */
    {"column_local(2,2).spatial(8,4).local(1,2)", "column_local(2,2).column_spatial(4,8).local(2,1)", 16},
    {"spatial(2,2).local(2,4).spatial(8,4).local(1,2)", "spatial(32,4).local(1,16)",
     16}, /* swizzled memory */
    {"spatial(4,1).local(1,8).spatial(8,4).local(1,2)", "spatial(32,4).local(1,16)", 16},
    {"spatial(4,32)", "column_spatial(4,32)", 64},
    {"spatial(32).local(8)", "local(8).spatial(32)", 8},
    /* words of several units in phases */
    {"local(32,1).spatial(1,32)", "spatial(32,1).local(1,32)", 16},
    {"local(32,1).spatial(1,32)", "spatial(32,1).local(1,32)", 8},
    {"spatial(24).local(24)", "local(24).spatial(24)", 8}, /* a number of lanes that is not a power of two */
    {"spatial(32)", "RegisterLayout(shape=[32], mode_shape=[32], spatial_modes=[-32], local_modes=[0])", 8},
    {"spatial(48).local(3)", "local(3).spatial(48)", 32},
    /* 6 lanes to 2: the pattern of a round leaves the warp where lanes take nothing */
    {"RegisterLayout(shape=[6,6], mode_shape=[2,3,2,3], spatial_modes=[2,3], local_modes=[1,0])",
     "RegisterLayout(shape=[6,6], mode_shape=[2,3,2,3], spatial_modes=[0], local_modes=[3,1,2])", 16},
    {"spatial(2,4).local(2,4)",
     "RegisterLayout(shape=[4,16], mode_shape=[4,16], spatial_modes=[-16], local_modes=[0,1])", 16},
    /* dim 0 lies in blocks of 4; the threads have it as 2 of 10, 5 of 2, 2 of 1: no sum */
    {"RegisterLayout(shape=[20,4], mode_shape=[2,5,2,2,2], spatial_modes=[-3,3,4,0,-2], local_modes=[1,2])",
     "RegisterLayout(shape=[20,4], mode_shape=[2,5,2,2,2], spatial_modes=[-3,3,1,0,-2], local_modes=[4,2])",
     64},
};

/* A dim in blocks that the threads run across: its place is asked for, not added. */
static void check_blocks(const cuda_batch *b, int number) {
  char want[64];
  snprintf(want, sizeof want, "grep -q 'case%d_dim0(i0 + ' cases.cu", number);
  if (!runs(b, "%s", want)) fail_msg("no blocks in the layout of the plan: see %s", b->folder);
}

/* The swizzle of a plan as code, from the definition of its numbers. */
static void check_swizzle(const cuda_batch *b, int number) {
  const tesela_tile_memory *m = tesela_exchange_memory(b->cases[number].plan);
  char want[256];
  assert_non_null(m);
  assert_true(m->swizzle.bits > 0);
  int n = snprintf(want, sizeof want, "grep -A1 'case%d_swizzle(uint32_t x)' cases.cu | grep -qF ", number);
  snprintf(want + n, sizeof want - (size_t)n, "'return x ^ (x >> %d & %du) << %d;'",
           (int)(m->swizzle.base + m->swizzle.shift), (1 << m->swizzle.bits) - 1, (int)m->swizzle.base);
  if (!runs(b, "%s", want)) fail_msg("not the swizzle of the plan: see %s", b->folder);
}

/* The permutes that a plan says it needs are those of its code, and the shifts that take units out of words. */
static void permutes_are_those_of_the_code(void **state) {
  (void)state;
  static char text[1 << 20];
  for (size_t i = 0; i < sizeof typical / sizeof typical[0]; i++) {
    tesela_register src, dst;
    tesela_exchange *plan;
    tesela_buffer buffer = {text, sizeof text - 1, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    parse(&src, typical[i].src);
    parse(&dst, typical[i].dst);
    OK(tesela_exchange_create(&plan, &dst, &src, typical[i].bits, NULL, NULL, &e_));
    OK(tesela_codegen_exchange_cuda(plan, "f", &to, &e_));
    text[buffer.length] = '\0';
    int64_t permutes = 0;
    bool one = !strstr(text, "if (warp");
    for (const char *at = text; (at = strstr(at, "__byte_perm(")); at++) permutes++;
    bool packed = tesela_exchange_facts_of(plan).parts > 1;
    for (const char *line = strstr(text, "\n    d"); packed && line; line = strstr(line + 1, "\n    d")) {
      const char *shift = strstr(line, " >> "), *end = strstr(line + 1, "\n");
      permutes += shift && shift < end;
    }
    if (one) assert_int_equal(tesela_exchange_facts_of(plan).permutes, permutes);
    tesela_exchange_destroy(plan);
  }
}

static void start_typical(cuda_batch *b) {
  start_batch(b);
  for (size_t i = 0; i < sizeof typical / sizeof typical[0]; i++) {
    tesela_register src, dst;
    parse(&src, typical[i].src);
    parse(&dst, typical[i].dst);
    add_case(b, &dst, &src, typical[i].bits, NULL);
  }
}

static void typical_plans_run_on_the_host(void **state) {
  (void)state;
  cuda_batch b;
  start_typical(&b);
  run_on_host(&b);
  int wrong = wrong_case(&b);
  if (wrong >= 0) fail_msg("case%d is wrong: see %s", wrong, b.folder);
  check_swizzle(&b, 3);
  check_blocks(&b, b.n - 1);
  end_batch(&b);
}

/* What needs nvcc: `make nvcc` asks for it. */
static void typical_plans_compile_for_gpus(void **state) {
  (void)state;
  cuda_batch b;
  start_typical(&b);
  write_batch(&b);
  if (!runs(&b,
            "nvcc -arch=sm_80 -Werror all-warnings -Xptxas -v %s cases.cu -o program >log 2>&1 || { cat log; "
            "false; }",
            ""))
    fail_msg("nvcc refuses the code: see %s", b.folder);
  char want[128];
  snprintf(want, sizeof want, "test $(grep -c '0 bytes stack frame, 0 bytes spill stores' log) -eq %d", b.n);
  if (!runs(&b, "%s || { cat log; false; }", want)) fail_msg("the code needs a stack: see %s", b.folder);
  end_batch(&b);
}

/* What needs a GPU: `make gpu` asks for it. */
static void plans_run_on_a_gpu(void **state) {
  (void)state;
  cuda_batch b;
  start_typical(&b);
  write_batch(&b);
  if (!runs(&b, "nvcc -arch=native %s cases.cu -o program >log 2>&1 || { cat log; false; }", ""))
    fail_msg("nvcc refuses the code: see %s", b.folder);
  if (!runs(&b, "./program <in >out%s", "")) fail_msg("the code fails: see %s", b.folder);
  int wrong = wrong_case(&b);
  if (wrong >= 0) fail_msg("case%d is wrong on the GPU: see %s", wrong, b.folder);
  end_batch(&b);
}

/* ---- refusals --------------------------------------------------------------------------------------------------------- */

static void names_and_widths_are_checked(void **state) {
  (void)state;
  static const char *const bad[] = {"", "1a", "a b", "a-b", "int", "register", "a\xc3\xa9"};
  tesela_register layout;
  tesela_exchange *plan;
  tesela_error err;
  char text[64], longest[102];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  int64_t shape = 4, many = 2048;
  OK(tesela_register_spatial(&layout, 1, &shape, NULL, &e_));
  OK(tesela_exchange_create(&plan, &layout, &layout, 16, NULL, NULL, &e_));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(tesela_codegen_exchange_cuda(plan, bad[i], &to, &err), TESELA_E_INVALID);
    assert_int_equal(tesela_codegen_register_c(&layout, bad[i], &to, NULL), TESELA_E_INVALID);
  }
  memset(longest, 'x', sizeof longest);
  longest[101] = '\0';
  assert_int_equal(tesela_codegen_exchange_cuda(plan, longest, &to, &err), TESELA_E_INVALID);
  assert_int_equal(buffer.length, 0);
  longest[100] = '\0';
  OK(tesela_codegen_exchange_cuda(plan, longest, &to, &e_));
  tesela_exchange_destroy(plan);
  tesela_exchange_options wide = {.warp = 64};
  OK(tesela_exchange_create(&plan, &layout, &layout, 16, &wide, NULL, &e_));
  assert_int_equal(tesela_codegen_exchange_cuda(plan, "f", &to, &err), TESELA_E_UNSUPPORTED);
  tesela_exchange_destroy(plan);
  OK(tesela_exchange_create(&plan, &layout, &layout, 4, NULL, NULL, &e_));
  assert_int_equal(tesela_codegen_exchange_cuda(plan, "f", &to, &err), TESELA_E_UNSUPPORTED);
  tesela_exchange_destroy(plan);
  OK(tesela_register_spatial(&layout, 1, &many, NULL, &e_));
  OK(tesela_exchange_create(&plan, &layout, &layout, 16, NULL, NULL, &e_));
  assert_int_equal(tesela_codegen_exchange_cuda(plan, "f", &to, &err), TESELA_E_UNSUPPORTED);
  tesela_exchange_destroy(plan);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_plans_run_on_the_host),   cmocka_unit_test(a_planted_fault_is_seen),
      cmocka_unit_test(typical_plans_run_on_the_host),  cmocka_unit_test(names_and_widths_are_checked),
      cmocka_unit_test(permutes_are_those_of_the_code),
  };
  const struct CMUnitTest nvcc[] = {cmocka_unit_test(typical_plans_compile_for_gpus)};
  const struct CMUnitTest gpu[] = {cmocka_unit_test(plans_run_on_a_gpu)};
  if (argc > 1 && strcmp(argv[1], "nvcc") == 0) return cmocka_run_group_tests(nvcc, NULL, NULL);
  if (argc > 1 && strcmp(argv[1], "gpu") == 0) return cmocka_run_group_tests(gpu, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
