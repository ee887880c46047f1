/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_loops_text.c - the text of an operator's loops computes the operator.
 *
 * Texts of random operators on random layouts are compiled as C, run on tiled arrays, and every place of the result is compared with the
 * oracle: elements bit for bit, padding untouched. Operands have NaN where no element is.
 */
#include <inttypes.h>
#include <math.h>
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

#include "graph_oracle.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static uint64_t seed;

enum { CASES = 220, BUFFERS = 8 };
static const double nobody = -12345.678; /* in places of the result before */

typedef struct compiled {
  random_program p;
  uint64_t number;
  int32_t node, n;
  int32_t buffer[BUFFERS]; /* the result's first */
} compiled;

static compiled cases[CASES];

static int to_file(void *user, const char *text, size_t length) {
  return fwrite(text, 1, length, user) != length;
}

static const char prelude[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    "typedef double value;\n#define least (-INFINITY)\n#define greatest INFINITY\n"
    "static inline value add(value x, value y) { return x + y; }\n"
    "static inline value sub(value x, value y) { return x - y; }\n"
    "static inline value mul(value x, value y) { return x * y; }\n"
    "static inline value div(value x, value y) { return x / y; }\n"
    "static inline value max(value x, value y) { return isnan(x) || isnan(y) ? NAN : x < y ? y : x; }\n"
    "static inline value min(value x, value y) { return isnan(x) || isnan(y) ? NAN : y < x ? y : x; }\n"
    "static inline value rem(value x, value y) { return fmod(x, y); }\n"
    "static inline value eq(value x, value y) { return x == y; }\n"
    "static inline value ne(value x, value y) { return x != y; }\n"
    "static inline value lt(value x, value y) { return x < y; }\n"
    "static inline value le(value x, value y) { return x <= y; }\n"
    "static inline value gt(value x, value y) { return x > y; }\n"
    "static inline value ge(value x, value y) { return x >= y; }\n"
    "static inline value select(value x, value y, value z) { return x != 0 ? y : z; }\n"
    "static inline value clamp(value x, value y, value z) { return min(max(y, x), z); }\n"
    "static inline value copy(value x) { return x; }\n"
    "static inline value neg(value x) { return -x; }\n"
    "#define abs(x) fabs(x)\n"
    "static inline value rsqrt(value x) { return 1 / sqrt(x); }\n"
    "static inline value sigmoid(value x) { return 1 / (1 + exp(-x)); }\n"
    "static inline value relu(value x) { return max(x, 0); }\n"
    "static inline value sign(value x) { return isnan(x) ? x : (x > 0) - (x < 0); }\n"
    "static inline int64_t at(const value *x, int64_t n, int64_t i, int down) { /* element i after sorting "
    "*/\n"
    "  for (int64_t a = 0; a < n; a++) {\n"
    "    int64_t front = 0;\n"
    "    for (int64_t b = 0; b < n; b++)\n"
    "      front += (down ? x[b] > x[a] : x[b] < x[a]) || (x[b] == x[a] && b < a);\n"
    "    if (front == i) return a;\n"
    "  }\n"
    "  return -1;\n}\n"
    "static inline value fold(const value *x, int64_t n, int64_t i, int down, value f(value, value), value "
    "y) {\n"
    "  if (!down) for (int64_t k = 0; k <= i; k++) y = f(y, x[k]);\n"
    "  if (down) for (int64_t k = n - 1; k >= i; k--) y = f(y, x[k]);\n"
    "  return y;\n}\n"
    "#define sort(x, n, i) x[at(x, n, i, 0)]\n#define sort_reverse(x, n, i) x[at(x, n, i, 1)]\n"
    "#define cumsum(x, n, i) fold(x, n, i, 0, add, 0)\n#define cumsum_reverse(x, n, i) fold(x, n, i, 1, add, "
    "0)\n"
    "#define cumprod(x, n, i) fold(x, n, i, 0, mul, 1)\n"
    "#define cumprod_reverse(x, n, i) fold(x, n, i, 1, mul, 1)\n"
    "#define cummax(x, n, i) fold(x, n, i, 0, max, least)\n"
    "#define cummax_reverse(x, n, i) fold(x, n, i, 1, max, least)\n"
    "#define cummin(x, n, i) fold(x, n, i, 0, min, greatest)\n"
    "#define cummin_reverse(x, n, i) fold(x, n, i, 1, min, greatest)\n"
    "static inline value one_if_finite(value x) { return isfinite(x) ? 1 : 0; }\n"
    "#undef isfinite\n#define isfinite(x) one_if_finite(x)\n";

static const char *c_type(tesela_dtype dtype) { return dtype == TESELA_F32 ? "float" : "double"; }

/* A case with functions that are the same in C. */
static bool draw_case(compiled *c, uint64_t number, tesela_op op) {
  uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
  *c = (compiled){.number = number};
  bool ok = random_program_of(&c->p, &state, op, number % 2 ? TESELA_F32 : TESELA_F64);
  c->node = tesela_graph_count(c->p.graph) - 1;
  const tesela_node *node = tesela_graph_node(c->p.graph, c->node);
  ok = ok && node->n_operands < BUFFERS;
  if (ok) random_program_layouts(&c->p, &state);
  if (ok) { /* a window on a view across dims is refused */
    char text[8];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    ok = tesela_graph_print_loops(c->p.graph, c->node, &to, NULL) != TESELA_E_UNSUPPORTED;
  }
  if (ok) {
    c->buffer[c->n++] = node->buffer;
    for (int32_t k = 0; k < node->n_operands; k++) {
      int32_t b = tesela_graph_node(c->p.graph, node->operand[k])->buffer;
      bool there = false;
      for (int32_t i = 0; i < c->n; i++) there = there || c->buffer[i] == b;
      if (!there) c->buffer[c->n++] = b;
    }
  }
  if (!ok) random_program_free(&c->p);
  return ok;
}

static void write_case(FILE *file, int32_t number, const compiled *c) {
  tesela_writer to = {to_file, file};
  fprintf(file, "static void case%d(", (int)number);
  for (int32_t i = 0; i < c->n; i++)
    fprintf(file, "%s%s *v%d", i ? ", const " : "",
            c_type(tesela_graph_node(c->p.graph, c->buffer[i])->dtype), (int)c->buffer[i]);
  fprintf(file, ") {\n");
  OK(tesela_graph_print_loops(c->p.graph, c->node, &to, &e_));
  fprintf(file, "}\nstatic void run%d(FILE *data) {\n", (int)number);
  for (int32_t i = 0; i < c->n; i++) {
    const tesela_node *node = tesela_graph_node(c->p.graph, c->buffer[i]);
    fprintf(file, "  static %s v%d[%d];\n  for (int i = 0; i < %d; i++) v%d[i] = (%s)next(data);\n",
            c_type(node->dtype), (int)c->buffer[i], (int)node->layout->places + 1, (int)node->layout->places,
            (int)c->buffer[i], c_type(node->dtype));
  }
  fprintf(file, "  case%d(", (int)number);
  for (int32_t i = 0; i < c->n; i++) fprintf(file, "%sv%d", i ? ", " : "", (int)c->buffer[i]);
  const tesela_node *result = tesela_graph_node(c->p.graph, c->buffer[0]);
  fprintf(file, ");\n  for (int i = 0; i < %d; i++) { double x = v%d[i]; fwrite(&x, 8, 1, stdout); }\n}\n",
          (int)result->layout->places, (int)c->buffer[0]);
}

/* The tiled array of a buffer: `values` row-major over its shape, NULL for none of them; `rest` everywhere else. */
static double *tiled(const compiled *c, int32_t buffer, const double *values, double rest) {
  const tesela_device_layout *layout = tesela_graph_node(c->p.graph, buffer)->layout;
  double *array = malloc(((size_t)layout->places + 1) * sizeof *array);
  int64_t n = 1, copies = 1;
  for (int32_t d = 0; d < layout->host.rank; d++) n *= layout->host.shape[d];
  for (int64_t p = 0; p < layout->places; p++) array[p] = rest;
  for (int64_t e = 0; e < n && values; e++) {
    int64_t index[TESELA_GRAPH_RANK], left = e;
    for (int32_t d = layout->host.rank - 1; d >= 0; d--) {
      index[d] = left % layout->host.shape[d];
      left /= layout->host.shape[d];
    }
    for (int64_t k = 0; k < copies; k++) array[random_place(layout, index, k, &copies)] = values[e];
  }
  return array;
}

static bool same(double a, double b) { return memcmp(&a, &b, 8) == 0 || (a != a && b != b); }

/* The result's tensor in its buffer: the buffer itself, or what is written in place. */
static void check_case(const compiled *c, int32_t number, FILE *have) {
  double **values = graph_oracle_values(c->p.graph, c->p.inputs);
  const tesela_node *node = tesela_graph_node(c->p.graph, c->node);
  assert_non_null(values);
  double *want;
  if (node->buffer == c->node) {
    want = tiled(c, c->node, values[c->node], (double)(float)nobody);
    if (node->dtype != TESELA_F32)
      for (int64_t p = 0; p < node->layout->places; p++)
        want[p] = want[p] == (double)(float)nobody ? nobody : want[p];
  } else {
    want = tiled(c, node->buffer, values[node->buffer], (double)NAN);
    int64_t n = 1, copies = 1;
    for (int32_t d = 0; d < node->rank; d++) n *= node->shape[d];
    for (int64_t e = 0; e < n; e++) {
      int64_t index[TESELA_GRAPH_RANK], own[TESELA_GRAPH_RANK], left = e;
      for (int32_t d = node->rank - 1; d >= 0; d--) {
        index[d] = left % node->shape[d];
        left /= node->shape[d];
      }
      random_buffer_index(c->p.graph, c->node, index, own);
      for (int64_t k = 0; k < copies; k++)
        want[random_place(tesela_graph_node(c->p.graph, node->buffer)->layout, own, k, &copies)] =
            values[c->node][e];
    }
  }
  int64_t places = tesela_graph_node(c->p.graph, node->buffer)->layout->places;
  for (int64_t p = 0; p < places; p++) {
    double x;
    if (fread(&x, 8, 1, have) != 1) fail_msg("case %d: no more numbers", (int)number);
    if (!same(x, want[p]))
      fail_msg("seed %" PRIu64 " (case %d, %s %s): place %" PRId64 " holds %.17g, not %.17g", c->number,
               (int)number, tesela_op_name(node->op), tesela_fn_name(node->fn), p, x, want[p]);
  }
  free(want);
  for (int32_t k = 0; k < tesela_graph_count(c->p.graph); k++) free(values[k]);
  free(values);
}

static void write_data(FILE *data, const compiled *c) {
  double **values = graph_oracle_values(c->p.graph, c->p.inputs);
  for (int32_t i = 0; i < c->n; i++) {
    const tesela_node *node = tesela_graph_node(c->p.graph, c->buffer[i]);
    bool result = c->buffer[i] == c->node;
    double *array =
        tiled(c, c->buffer[i], result ? NULL : values[c->buffer[i]], result ? nobody : (double)NAN);
    fwrite(array, 8, (size_t)node->layout->places, data);
    free(array);
  }
  for (int32_t k = 0; k < tesela_graph_count(c->p.graph); k++) free(values[k]);
  free(values);
}

static void text_computes(void **unused) {
  (void)unused;
  static const tesela_op ops[] = {
      TESELA_OP_POINTWISE, TESELA_OP_REDUCE, TESELA_OP_MATMUL, TESELA_OP_CONV2D, TESELA_OP_GATHER,
      TESELA_OP_SCATTER,   TESELA_OP_CAT,    TESELA_OP_PAD,    TESELA_OP_WRITE,  TESELA_OP_CLONE,
      TESELA_OP_CONSTANT,  TESELA_OP_ALONG,  TESELA_OP_POOL};
  const char *cc = getenv("CC");
  char command[512], folder[64], path[128];
  if (!cc || !*cc) cc = "cc";
  strcpy(folder, "/tmp/tesela-loops-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/loops.c", folder);
  FILE *file = fopen(path, "w");
  snprintf(path, sizeof path, "%s/data", folder);
  FILE *data = fopen(path, "w");
  assert_true(file && data);
  fprintf(file,
          "%sstatic double next(FILE *data) { double x = 0; return fread(&x, 8, 1, data) == 1 ? x : 0; }\n",
          prelude);
  uint64_t number = seed;
  for (int32_t k = 0; k < CASES; k++) {
    while (!draw_case(&cases[k], number, ops[k % (int32_t)(sizeof ops / sizeof ops[0])])) number += 1000;
    number++;
    write_case(file, k, &cases[k]);
    write_data(data, &cases[k]);
  }
  fprintf(file, "int main(int n, char **name) {\n  FILE *data = n > 1 ? fopen(name[1], \"rb\") : 0;\n  if "
                "(!data) return 1;\n");
  for (int32_t k = 0; k < CASES; k++) fprintf(file, "  run%d(data);\n", (int)k);
  fprintf(file, "  return 0;\n}\n");
  assert_int_equal(fclose(file), 0);
  assert_int_equal(fclose(data), 0);
  snprintf(command, sizeof command,
           "cd %s && %s -std=c99 -fno-builtin -ffp-contract=off -Wall -Wno-unused loops.c -lm -o program && "
           "./program data >numbers",
           folder, cc);
  if (system(command) != 0) fail_msg("the text does not compile or run: see %s", folder);
  snprintf(path, sizeof path, "%s/numbers", folder);
  FILE *numbers = fopen(path, "r");
  assert_non_null(numbers);
  for (int32_t k = 0; k < CASES; k++) {
    check_case(&cases[k], k, numbers);
    random_program_free(&cases[k].p);
  }
  assert_int_equal(fgetc(numbers), EOF);
  fclose(numbers);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {cmocka_unit_test(text_computes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
