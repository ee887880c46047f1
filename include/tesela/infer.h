/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer.h - layouts for all tensors of a small kernel program, from those of some.
 *
 * A program is a list of tensors - in registers, shared or global memory - and operations on them, as text, one on a
 * line:
 *
 *   threads 128
 *   global   ga: f16[64, 32] = global_row_major(64, 32)
 *   shared   sa: f16[64, 32]
 *   shared   sb: f16[32, 64] = shared_row_major_swizzle(32, 64, nbytes=2)
 *   register ra: f16[64, 32]
 *   register rb: f16[32, 64]
 *   register acc: f32[64, 64]
 *   copy sa, ga                           # memory to memory
 *   load ra, sa                           # the result first, then what it is made of
 *   load rb, sb
 *   dot acc, ra, rb, acc atom=mma.m16n8k16.f16 warps=[2, 2]
 *
 * Grammar (blanks between words as one likes; LF or CRLF; `#` to the end of the line is a comment):
 *
 *   program     = { [ statement ] newline }
 *   statement   = threads | declaration | operation
 *   threads     = "threads" INTEGER                            once, before everything else
 *   declaration = space NAME ":" TYPE "[" [ INTEGER { "," INTEGER } ] "]" [ "=" EXPRESSION ]
 *   space       = "register" | "shared" | "global"
 *   operation   = OPERATION NAME { "," NAME } { KEY "=" value }
 *   value       = "True" | "False" | "[" [ INTEGER { "," INTEGER } ] "]" | FRAGMENT
 *
 * NAME is a letter or _ and then letters, digits and _; TYPE a name of dtype.h; EXPRESSION one of register_text.h, up to
 * the end of the line; FRAGMENT a name of fragment.h without the operand ("mma.m16n8k16.f16"). Operations and their keys
 * are rows of one table, tesela_kernel_operations(). A tensor is a variable: it may be written and read as often as one
 * likes, and must be declared before.
 *
 * A layout in registers has exactly `threads` threads; a tile that fewer of them hold is replicated over the rest.
 *
 * tesela_kernel_program_infer gives layouts to tensors that have none. Rules are tried level by level, in each level
 * operation after operation; after each layout found it starts at level 1 again. So the answer depends on the text alone.
 *
 *   0  global memory is row-major
 *   1  the result of an operation, all of whose operands of its shape are known
 *   2  operands, from a result that is known
 *   3  dot: d is c and c is d; A and B from them; c and d from A, or from B
 *   4  the result, from one operand that holds each element once
 *   5  dot: c and d by the grid of warps that needs the fewest registers, or by warps=
 *   6  the result, from any operand of its shape
 *   7  what is loaded or stored, most elements first: vectors of up to 16 bytes, dealt to the threads in turn
 *   8  convert: the layout of the other side, first the results of converts, then what is converted
 *   9  what 7 and 8 left: results of converts, then loads and stores, then what is converted
 *  10  shared memory: that with the fewest bank conflicts for all loads and stores
 *
 * 7 and 8 leave a tensor to 9 if some operation that its layout reaches, by levels 1 to 6, has another tensor that stays
 * unknown: that one may be found differently, and the two need not fit. So what is reduced from a converted tensor and
 * then stored gets its layout from the convert, not from the store.
 *
 * Then every operation is checked: does each thread have, in its registers, what it needs of each operand? Where it has
 * not, the answer is a conflict in the terms of the program: operation, line, tensor, the layout it has and the one it
 * needs, the first thread and element that show it; and, since a `convert` would repair it, what that costs (exchange.h).
 * Loads, stores and copies between memories are checked as access.h does it; a conflict has a layout of the memory that
 * would do. (A copy goes through registers, in the layout that 7 gives to a load of its source or a store to its result.)
 *
 * A conflict on which grids of level 5 have a part is not the last word: other grids are tried, all that warps= can say, by
 * runs of the rules as long as there are fewer than TESELA_KERNEL_GRIDS of them, with TESELA_KERNEL_GRID_TENSORS tensors.
 * The run that came furthest is changed first, its last grid first, in the order of registers; the first run without a
 * conflict is the answer. docs/infer.md, "Other warps", has the details.
 */
#ifndef TESELA_INFER_H
#define TESELA_INFER_H

#include <tesela/exchange.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_KERNEL_TEXT 65536         ///< bytes of a program
#define TESELA_KERNEL_LINES 4096         ///< lines of it
#define TESELA_KERNEL_TENSORS 1024       ///< tensors of it
#define TESELA_KERNEL_NAME 63            ///< bytes of a tensor's name
#define TESELA_KERNEL_THREADS 65536      ///< threads of it
#define TESELA_KERNEL_GRIDS 256          ///< runs of its rules with different grids of warps
#define TESELA_KERNEL_GRID_TENSORS 65536 ///< tensors of all those runs together

/// A program and what is known about it. Owns its memory; nothing of the text is kept.
typedef struct tesela_kernel_program tesela_kernel_program;

typedef enum tesela_tensor_space {
  TESELA_TENSOR_REGISTER,
  TESELA_TENSOR_SHARED,
  TESELA_TENSOR_GLOBAL,
} tesela_tensor_space;

/// One tensor of a program. Pointers belong to the program.
typedef struct tesela_tensor {
  const char *name;
  tesela_tensor_space space;
  tesela_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  bool given;                       ///< its layout stands in the program
  const tesela_register *registers; ///< NULL if it is not in registers, or not known
  const tesela_tile_memory *memory; ///< NULL if it is in registers, or not known
  const char
      *rule;    ///< why it has its layout: "given", "line 12, dot: operand A of acc"; "" while it has none
  int64_t line; ///< of its declaration, from 1
} tesela_tensor;

/// Read a program.
///
/// Example: "threads 32\nregister x: f32[64]\nelementwise x\n" has one tensor; "threads 32\nload x, y\n" is
/// TESELA_E_INVALID at byte 16, where x stands, which is not declared.
///
/// @param text       `length` bytes, no NUL needed; any bytes
/// @param allocator  NULL: malloc and free; used until destroy
/// @return TESELA_OK; TESELA_E_SYNTAX for a text outside the grammar, an unknown operation, key, type or fragment (with
///         the nearest known name); TESELA_E_INVALID for a name declared twice or not at all, a tensor in the wrong space,
///         shapes or types that do not fit the operation, a layout of another shape or number of threads; what the reader
///         of expressions refuses, with its reason; TESELA_E_RANGE and TESELA_E_OVERFLOW for integers; TESELA_E_LIMIT;
///         TESELA_E_MEMORY. err->at is the byte of the text and the message begins with the line.
TESELA_API tesela_status tesela_kernel_program_create(tesela_kernel_program **out, const char *text,
                                                      size_t length, const tesela_allocator *allocator,
                                                      tesela_error *err);
TESELA_API void tesela_kernel_program_destroy(tesela_kernel_program *program); ///< NULL is fine

/// Infer all layouts and check all operations, as said at the top. A second call has the same answer.
///
/// @return TESELA_OK; TESELA_E_INVALID, reason CONFLICT: an operation cannot run on these layouts
///         (tesela_kernel_program_conflict); TESELA_E_UNSUPPORTED: some tensors cannot be known (the message names them);
///         TESELA_E_LIMIT where tesela_register_covers has one, and for elements of less than a byte in tiles beyond
///         TESELA_ACCESS_LIMIT; TESELA_E_OVERFLOW for memory of 2^63 bits; TESELA_E_MEMORY (err->at is -1).
///         err->at is the byte of the operation, or of the tensor. Layouts found so far stay readable.
TESELA_API tesela_status tesela_kernel_program_infer(tesela_kernel_program *program, tesela_error *err);

/// Threads of the block.
TESELA_API int64_t tesela_kernel_program_threads(const tesela_kernel_program *program);

/// How many tensors there are, and one of them, in the order of the program. {.name = ""} for a number outside.
TESELA_API int32_t tesela_kernel_program_count(const tesela_kernel_program *program);
TESELA_API tesela_tensor tesela_kernel_program_tensor(const tesela_kernel_program *program, int32_t i);

/// Number of the tensor of that name, -1 if there is none. O(tensors).
TESELA_API int32_t tesela_kernel_program_find(const tesela_kernel_program *program, const char *name);

/// After a conflict: everything that is known about it. `has` is where the values of `tensor` are, `needs` where they have
/// to be. For an operand `has` is its layout; for a result (`is_result`) `has` is where the operation leaves it and
/// `needs` is its layout. Where no modes say an operand's reshape both are flattened to one dim.
typedef struct tesela_kernel_conflict {
  bool found;
  bool is_result;
  int64_t line;          ///< of the operation, from 1
  int64_t at;            ///< byte of its first word
  const char *operation; ///< "dot"
  const char *tensor;    ///< the operand (or result) that does not fit
  const char *other;     ///< the tensor it must fit
  const char *why;       ///< one line of what is needed: "each thread needs its own operands"
  tesela_register has;
  tesela_register needs;
  bool
      have_index; ///< `thread` needs the element `index` and has it not: the first thread, then its first register
  int64_t thread;
  int64_t index[TESELA_MAX_RANK];
  bool repairable; ///< a conversion from `has` to `needs` exists; `repair` is what it costs
  tesela_exchange_facts repair;
  /// A load, store or copy that the threads cannot do: tesela_access_cost_of refuses it, and `why` ends in its reason.
  /// Then `tensor` is the one in memory, `memory` its layout, `other` what is moved, `has` and `needs` the registers it is
  /// moved from or to (of a copy: those that it would go through); no index and no conversion. `repairable`: in the layout
  /// `would_do` it could be; not repairable: in no layout, since the registers of a thread are not whole bytes together,
  /// or since the other side of a copy cannot be moved at all.
  bool is_access;
  bool would_do_for_all; ///< so could every other load, store and copy of `tensor`
  tesela_tile_memory memory, would_do;
  /// Runs of the rules with different grids of warps, 1 where no grid has a part in the conflict. All that could have
  /// helped were tried unless `grids_left`.
  int64_t grids_tried;
  bool grids_left;
} tesela_kernel_conflict;

/// Belongs to the program; found is false unless the last infer ended in a conflict.
TESELA_API const tesela_kernel_conflict *tesela_kernel_program_conflict(const tesela_kernel_program *program);

/// Print an aligned table: each tensor with its space, type and shape, the rule that gave its layout, and the layout ("?" if unknown);
/// then what each convert costs; then the conflict, if there is one. Equal conversions are planned once; when plans have
/// been made for 2^26 registers of all threads, both sides counted, further ones are not (their lines say so; the first
/// always is, up to the limit of tesela_exchange_create). TESELA_E_STOPPED; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_kernel_program_print(const tesela_kernel_program *program,
                                                     const tesela_writer *to, tesela_error *err);

/// One operation of the language.
typedef struct tesela_kernel_operation {
  const char *name;     ///< "reduce"
  const char *operands; ///< "r, x dims=[..] keepdims=False"
  const char *summary;  ///< one line
} tesela_kernel_operation;

/// All of them, sorted by name; *n receives how many. Static memory.
TESELA_API const tesela_kernel_operation *tesela_kernel_operations(int32_t *n);

#ifdef __cplusplus
}
#endif
#endif
