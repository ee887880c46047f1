/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.c - prints a kernel program: a table of its tensors, the costs of its conversions, the conflict.
 *
 * Cells are printed twice: first only to measure the columns, which are as wide as their widest cell.
 */
#include "infer/infer_state.h"

enum { INFER_PRINT_COLUMNS = 5 }; /* the last one is not padded */

static int infer_print_count(void *user, const char *text, size_t length) {
  (void)text;
  *(size_t *)user += length;
  return 0;
}

static int infer_print_pass(void *user, const char *text, size_t length) {
  tesela__put(user, text, length);
  return 0;
}

static void infer_print_type(const tesela__infer_tensor *tensor, tesela__sink *sink) {
  tesela__puts(sink, tesela_dtype_name(tensor->dtype));
  for (int32_t d = 0; d < tensor->rank; d++) {
    tesela__puts(sink, d == 0 ? "[" : ", ");
    tesela__put_int(sink, tensor->shape[d]);
  }
  tesela__puts(sink, tensor->rank == 0 ? "[]" : "]");
}

/* ---- memory as an expression --------------------------------------------------------------------------- */

static bool infer_print_identical(const tesela_tile_memory *a, const tesela_tile_memory *b) {
  bool same =
      a->n_modes == b->n_modes && a->offset == b->offset && a->size == b->size &&
      a->swizzle.bits == b->swizzle.bits &&
      (a->swizzle.bits == 0 || (a->swizzle.base == b->swizzle.base && a->swizzle.shift == b->swizzle.shift));
  for (int32_t m = 0; same && m < a->n_modes; m++)
    same = a->mode_shape[m] == b->mode_shape[m] && a->mode_strides[m] == b->mode_strides[m];
  return same;
}

/* The function that makes this layout from its shape, apart from the swizzle; or NULL. */
static const char *infer_print_function(const tesela_tile_memory *memory) {
  static const char *const names[2][2] = {{"shared_row_major", "shared_column_major"},
                                          {"global_row_major", "global_column_major"}};
  bool global = memory->space == TESELA_TILE_GLOBAL;
  for (int32_t column = 0; column < 2; column++) {
    tesela_tile_memory made;
    tesela_status status =
        column ? tesela_tile_memory_column_major(&made, memory->space, memory->rank, memory->shape, NULL)
               : tesela_tile_memory_row_major(&made, memory->space, memory->rank, memory->shape, NULL);
    if (status == TESELA_OK && memory->swizzle.bits > 0)
      status = tesela_tile_memory_with_swizzle(&made, &made, memory->swizzle, NULL);
    if (status == TESELA_OK && infer_print_identical(&made, memory)) return names[global][column];
  }
  return NULL;
}

/* "shared_row_major(64, 32).with_swizzle(Swizzle(3, 2, 3))", or all the lists. */
static void infer_print_memory(const tesela_tile_memory *memory, tesela__sink *sink) {
  const tesela_writer to = {infer_print_pass, sink};
  const char *function = infer_print_function(memory);
  if (!function) {
    tesela_tile_memory_print(memory, &to, NULL);
    return;
  }
  tesela__puts(sink, function);
  tesela__putc(sink, '(');
  for (int32_t d = 0; d < memory->rank; d++)
    tesela__putf(sink, d > 0 ? ", %" PRId64 : "%" PRId64, memory->shape[d]);
  tesela__putc(sink, ')');
  if (memory->swizzle.bits > 0)
    tesela__putf(sink, ".with_swizzle(Swizzle(%" PRId32 ", %" PRId32 ", %" PRId32 "))", memory->swizzle.base,
                 memory->swizzle.bits, memory->swizzle.shift);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static void infer_print_layout(const tesela__infer_tensor *tensor, tesela__sink *sink) {
  const tesela_writer to = {infer_print_pass, sink};
  if (tensor->registers)
    tesela_register_print_expression(tensor->registers, &to, NULL);
  else if (tensor->memory)
    infer_print_memory(tensor->memory, sink);
  else
    tesela__putc(sink, '?');
}

/* One cell; tensor NULL is the heading. */
static void infer_print_cell(const tesela__infer_tensor *tensor, int32_t column, tesela__sink *sink) {
  static const char *const heading[INFER_PRINT_COLUMNS] = {"tensor", "space", "type", "rule", "layout"};
  static const char *const spaces[] = {"register", "shared", "global"};
  if (!tensor)
    tesela__puts(sink, heading[column]);
  else if (column == 0)
    tesela__puts(sink, tensor->name);
  else if (column == 1)
    tesela__puts(sink, spaces[tensor->space]);
  else if (column == 2)
    infer_print_type(tensor, sink);
  else if (column == 3)
    tesela__puts(sink, tensor->rule[0] ? tensor->rule : "no rule");
  else
    infer_print_layout(tensor, sink);
}

static size_t infer_print_width(const tesela__infer_tensor *tensor, int32_t column) {
  size_t width = 0;
  tesela__sink sink;
  tesela__sink_init(&sink, &(tesela_writer){infer_print_count, &width});
  infer_print_cell(tensor, column, &sink);
  tesela__sink_finish(&sink, NULL);
  return width;
}

/* Two or more blanks follow every cell except the last. */
static void infer_print_row(const tesela__infer_tensor *tensor, const size_t *widths, tesela__sink *sink) {
  for (int32_t column = 0; column < INFER_PRINT_COLUMNS; column++) {
    infer_print_cell(tensor, column, sink);
    if (column == INFER_PRINT_COLUMNS - 1) break;
    size_t width = infer_print_width(tensor, column);
    for (size_t blanks = width < widths[column] ? widths[column] - width + 2 : 2; blanks > 0; blanks--)
      tesela__putc(sink, ' ');
  }
  tesela__putc(sink, '\n');
}

/* ---- conversions and conflicts ------------------------------------------------------------------------- */

static const char *infer_print_plural(int64_t n) { return n == 1 ? "" : "s"; }

static void infer_print_facts(const tesela_exchange_facts *facts, tesela__sink *sink) {
  int64_t shuffles = facts->rounds * facts->words; /* one for each word of a unit */
  switch (facts->kind) {
  case TESELA_EXCHANGE_NOTHING:
    tesela__puts(sink, "nothing moves");
    break;
  case TESELA_EXCHANGE_PERMUTE:
    tesela__putf(sink, "%" PRId64 " move%s of %" PRId64 " bits within a thread", facts->moves,
                 infer_print_plural(facts->moves), facts->unit * facts->bits);
    break;
  case TESELA_EXCHANGE_SHUFFLE:
    tesela__putf(sink, "%" PRId64 " shuffle%s of %" PRId64 " bits", shuffles, infer_print_plural(shuffles),
                 facts->unit * facts->bits * facts->parts / facts->words);
    break;
  case TESELA_EXCHANGE_SHARED:
    tesela__putf(sink, "%" PRId64 " byte%s of shared memory, ", facts->shared_bytes,
                 infer_print_plural(facts->shared_bytes));
    tesela__putf(sink, "%" PRId64 " wavefront%s", facts->wavefronts, infer_print_plural(facts->wavefronts));
    break;
  }
}

/* Limit on the registers, of all threads and both sides, of planned conversions; the first one is always planned. */
enum { INFER_PRINT_PLANNED = 1 << 26 };

/* A conversion and its cost. */
typedef struct infer_print_convert {
  const tesela_register *dst, *src;
  int32_t bits;
  tesela_status status; /* of the plan; TESELA_E_STOPPED: not planned */
  tesela_exchange_facts facts;
} infer_print_convert;

/* Find the cost of a conversion: that of an equal earlier one, else by a plan if the limit allows it. */
static void infer_print_plan(const tesela_kernel_program *program, infer_print_convert *converts, size_t n,
                             int64_t *planned) {
  infer_print_convert *convert = &converts[n];
  tesela_exchange *plan = NULL;
  int64_t registers = 0;
  for (size_t i = 0; i < n; i++)
    if (converts[i].bits == convert->bits && tesela_register_identical(converts[i].dst, convert->dst) &&
        tesela_register_identical(converts[i].src, convert->src)) {
      convert->status = converts[i].status;
      convert->facts = converts[i].facts;
      return;
    }
  for (int side = 0; side < 2; side++) {
    const tesela_register *layout = side == 0 ? convert->dst : convert->src;
    int64_t all = layout->local_size > INFER_PRINT_PLANNED / layout->spatial_size
                      ? INFER_PRINT_PLANNED
                      : layout->local_size * layout->spatial_size;
    registers += all;
  }
  convert->status = TESELA_E_STOPPED;
  if (*planned > 0 && registers > INFER_PRINT_PLANNED - *planned) return;
  *planned = tesela__min(*planned + registers, INFER_PRINT_PLANNED);
  convert->status = tesela_exchange_create(&plan, convert->dst, convert->src, convert->bits, NULL,
                                           &program->allocator, NULL);
  if (convert->status == TESELA_OK) convert->facts = tesela_exchange_facts_of(plan);
  tesela_exchange_destroy(plan);
}

/* Print the costs of a program's conversions. */
static tesela_status infer_print_conversions(const tesela_kernel_program *program, tesela__sink *sink,
                                             tesela_error *err) {
  infer_print_convert *converts = NULL;
  tesela_status status = TESELA_OK;
  int64_t planned = 0;
  size_t n = 0;
  for (size_t s = 0; s < program->n_steps && status == TESELA_OK; s++) {
    const tesela__infer_step *step = &program->step[s];
    if (step->op->rule != tesela__infer_rule_convert) continue;
    const tesela__infer_tensor *dst = tesela__infer_arg(program, step, 0),
                               *src = tesela__infer_arg(program, step, 1);
    if (!dst->registers || !src->registers) continue;
    if (!converts)
      converts = tesela__alloc(&program->allocator, program->n_steps * sizeof *converts,
                               alignof(infer_print_convert));
    if (!converts) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the costs of conversions");
    converts[n] = (infer_print_convert){
        dst->registers, src->registers, tesela_dtype_bits(dst->dtype), TESELA_OK, {.rounds = 0}};
    infer_print_plan(program, converts, n, &planned);
    if (converts[n].status == TESELA_E_MEMORY)
      status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the plan of a conversion");
    tesela__putf(sink, "line %" PRId64 ": convert %s, ", step->line, dst->name);
    tesela__putf(sink, "%s: ", src->name);
    if (converts[n].status == TESELA_OK)
      infer_print_facts(&converts[n].facts, sink);
    else
      tesela__puts(sink, converts[n].status == TESELA_E_STOPPED
                             ? "not planned, because earlier ones are large"
                             : "too large for a plan");
    tesela__putc(sink, '\n');
    n++;
  }
  tesela__release(&program->allocator, converts);
  return status;
}

/* Print the layout of the tile and one that works. */
static void infer_print_access(const tesela_kernel_conflict *conflict, tesela__sink *sink) {
  const tesela_writer to = {infer_print_pass, sink};
  tesela__putf(sink, "line %" PRId64 ": %s: %s\n  registers ", conflict->line, conflict->operation,
               conflict->why);
  tesela_register_print_expression(&conflict->has, &to, NULL);
  tesela__putf(sink, "\n  %s is in ", conflict->tensor);
  infer_print_memory(&conflict->memory, sink);
  if (!conflict->repairable) {
    tesela__puts(sink, "\n  no memory layout is compatible\n");
    return;
  }
  tesela__puts(sink,
               conflict->would_do_for_all ? "\n  compatible: " : "\n  compatible with this access alone: ");
  infer_print_memory(&conflict->would_do, sink);
  tesela__putc(sink, '\n');
}

/* Print the number of grids of warps that were tried. */
static void infer_print_tried(const tesela_kernel_conflict *conflict, tesela__sink *sink) {
  if (conflict->grids_tried <= 1) return;
  tesela__putf(sink, "  tried %" PRId64 " choices of warps, each with a conflict; %s\n",
               conflict->grids_tried,
               conflict->grids_left ? "more remain untried" : "no other choice can help");
}

static void infer_print_clash(const tesela_kernel_conflict *conflict, int32_t rank, tesela__sink *sink) {
  const tesela_writer to = {infer_print_pass, sink};
  tesela__putf(sink, "line %" PRId64 ": %s: the layout of %s ", conflict->line, conflict->operation,
               conflict->tensor);
  tesela__putf(sink, "does not fit that of %s: %s\n", conflict->other, conflict->why);
  tesela__puts(sink, conflict->is_result ? "  it is left in  " : "  it is in  ");
  tesela_register_print_expression(&conflict->has, &to, NULL);
  tesela__puts(sink, conflict->is_result ? "\n  wanted in      " : "\n  needed in ");
  tesela_register_print_expression(&conflict->needs, &to, NULL);
  tesela__putc(sink, '\n');
  if (conflict->have_index) {
    tesela__putf(sink, "  thread %" PRId64 " lacks element [", conflict->thread);
    for (int32_t d = 0; d < rank; d++)
      tesela__putf(sink, d > 0 ? ", %" PRId64 : "%" PRId64, conflict->index[d]);
    tesela__puts(sink, "]\n");
  }
  if (!conflict->repairable) return;
  tesela__puts(sink, "  a convert would cost ");
  infer_print_facts(&conflict->repair, sink);
  tesela__putc(sink, '\n');
}

static void infer_print_conflict(const tesela_kernel_conflict *conflict, tesela__sink *sink) {
  if (conflict->is_access)
    infer_print_access(conflict, sink);
  else
    infer_print_clash(conflict, conflict->needs.rank, sink);
  infer_print_tried(conflict, sink);
}

tesela_status tesela_kernel_program_print(const tesela_kernel_program *program, const tesela_writer *to,
                                          tesela_error *err) {
  TESELA__NEED(err, program, to);
  size_t widths[INFER_PRINT_COLUMNS] = {0};
  tesela__sink sink;
  for (int32_t column = 0; column < INFER_PRINT_COLUMNS; column++)
    for (size_t i = 0; i <= program->n_tensors; i++) {
      size_t width = infer_print_width(i == 0 ? NULL : &program->tensor[i - 1], column);
      if (width > widths[column]) widths[column] = width;
    }
  tesela__sink_init(&sink, to);
  for (size_t i = 0; i <= program->n_tensors; i++)
    infer_print_row(i == 0 ? NULL : &program->tensor[i - 1], widths, &sink);
  tesela_status status = infer_print_conversions(program, &sink, err);
  if (status != TESELA_OK) return status;
  if (program->conflict.found) infer_print_conflict(&program->conflict, &sink);
  return tesela__sink_finish(&sink, err);
}
