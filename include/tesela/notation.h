/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notation.h - layouts as text: register layouts and tiles in memory, device layouts, targets. tesela_layout_read, at
 * the end, reads all of them and XLA's shapes (xla.h).
 */
#ifndef TESELA_NOTATION_H
#define TESELA_NOTATION_H

#include <tesela/device.h>
#include <tesela/register.h>
#include <tesela/xla.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ==== Register layouts and tiles in memory as text
 *
 *   RegisterLayout(shape=[6, 12], mode_shape=[3, 2, 4, 3], spatial_modes=[1, 3], local_modes=[0, 2])
 *   local(3, 4).spatial(2, 3)          local(3, 4) * spatial(2, 3)        compose(local(3, 4), spatial(2, 3))
 *   reduce(spatial(3, 4), dims=[0])    spatial(12) / spatial(4)           mma.m16n8k16.f16.A
 *   shared_row_major(8, 64)            SharedLayout(shape=[8, 64], mode_shape=[8, 64], mode_strides=[64, 1], ...)
 *
 * Grammar (white space and trailing commas as in Python):
 *
 *   expression = term { ("*" | "/") term }                     left to right
 *   term       = primary { "." NAME "(" arguments ")" }        the term before a method is its first argument
 *   primary    = NAME "(" arguments ")" | fragment | "(" expression ")"
 *   fragment   = NAME { "." NAME }                             a name of register.h
 *   arguments  = [ argument { "," argument } [ "," ] ]
 *   argument   = [ NAME "=" ] ( INTEGER | list | "True" | "False" | "None" | expression )
 *   list       = "[" [ INTEGER { "," INTEGER } [ "," ] ] "]" | the same in round brackets with a comma
 *
 * The methods local, spatial, column_local, column_spatial and repeat compose with that layout on the right; any other
 * function may be a method of its first argument. tesela_expression_functions() lists all functions. Functions that
 * register.h defines for both kinds (compose, permute, reshape, ...) accept both; shared_permute, global_slice and the
 * like accept only their kind. Both sides of "*" are of one kind; "/" divides register layouts.
 *
 * "*shape" in a table row: several numbers or one list. A list may be a single number: reduce(spatial(3, 4), 0).
 */

#define TESELA_EXPRESSION_DEPTH 32     ///< nesting of parentheses and calls
#define TESELA_EXPRESSION_LENGTH 65536 ///< bytes of an expression

typedef enum tesela_expression_kind {
  TESELA_EXPRESSION_REGISTER,
  TESELA_EXPRESSION_MEMORY
} tesela_expression_kind;

/// The value of an expression: a register layout, or a tile in shared or global memory.
typedef struct tesela_expression {
  tesela_expression_kind kind;
  tesela_register registers; ///< if kind is TESELA_EXPRESSION_REGISTER
  tesela_tile_memory memory; ///< if kind is TESELA_EXPRESSION_MEMORY
} tesela_expression;

/// Read and evaluate an expression.
///
/// Example: "local(3, 4).spatial(2, 3)" is the first layout above; "spatial(3, 0)" is TESELA_E_RANGE with reason
/// SHAPE_NOT_POSITIVE and err->at 0, the start of the call.
///
/// @param text  `length` bytes, no NUL needed; any bytes
/// @return TESELA_OK; TESELA_E_SYNTAX for a text outside the grammar: err->at is the byte, the message says what was
///         found and what is expected, with the nearest name for an unknown one; TESELA_E_LIMIT for nesting beyond
///         TESELA_EXPRESSION_DEPTH or a longer text; TESELA_E_OVERFLOW for an integer beyond 64 bits; the errors of the
///         functions of register.h, with their reason, at the byte where the call begins (for a method its name, for an
///         operator the "*" or "/"); TESELA_E_MISMATCH for a layout of a kind that a function does not accept.
/// Any thread; O(length) and the cost of the operations. The C stack must have room for 160 KiB.
TESELA_API tesela_status tesela_expression_parse(const char *text, size_t length, tesela_expression *out,
                                                 tesela_error *err);

/// The same for a register layout alone: TESELA_E_MISMATCH if the expression is a tile in memory.
TESELA_API tesela_status tesela_register_parse(const char *text, size_t length, tesela_register *out,
                                               tesela_error *err);

/// The same for a tile in memory alone.
TESELA_API tesela_status tesela_tile_memory_parse(const char *text, size_t length, tesela_tile_memory *out,
                                                  tesela_error *err);

/// Print "RegisterLayout(shape=[6, 12], mode_shape=[3, 2, 4, 3], spatial_modes=[1, 3], local_modes=[0, 2])"; reading
/// it gives an identical layout.
/// @return TESELA_OK; TESELA_E_STOPPED; as tesela_register_check.
TESELA_API tesela_status tesela_register_print(const tesela_register *layout, const tesela_writer *to,
                                               tesela_error *err);

/// Print "SharedLayout(shape=[8, 64], mode_shape=[8, 64], mode_strides=[64, 1], swizzle=Swizzle(base=3, bits=3,
/// shift=3))" or "GlobalLayout(shape=.., mode_shape=.., mode_strides=..)"; offset=.. unless it is 0, size=.. unless it is
/// the least size. Reading it gives the same layout, size included.
/// @return TESELA_OK; TESELA_E_STOPPED; as tesela_tile_memory_make for its fields; TESELA_E_RANGE for a size
///         below the least.
TESELA_API tesela_status tesela_tile_memory_print(const tesela_tile_memory *layout, const tesela_writer *to,
                                                  tesela_error *err);

/// Print a register layout as the shortest chain of local, spatial, column_local, column_spatial and replicated that reads
/// back as the reduced layout: "local(2, 1).spatial(8, 4).local(1, 2)", "spatial(4) * replicated(1, num_workers=3)". If
/// no chain expresses it (an outer mode of a dim is a faster digit than an inner one), print as tesela_register_print.
/// Statuses likewise; O(n_spatial * n_local * rank).
TESELA_API tesela_status tesela_register_print_expression(const tesela_register *layout,
                                                          const tesela_writer *to, tesela_error *err);

/// One function of the expression language.
typedef struct tesela_expression_function {
  const char *name;      ///< "reduce"
  const char *arguments; ///< "layout, dims, keepdims=False"
  const char *summary;   ///< one line
} tesela_expression_function;

/// All functions, sorted by name; *n receives their number, n may be NULL. Static memory.
TESELA_API const tesela_expression_function *tesela_expression_functions(int32_t *n);

/*
 * ==== Device layouts and targets as text
 *
 *   three tuples   f16[1024,256] ((4, 1024, 64), (65536, 64, 1), (64, 256, 1))     ranges, device strides, host strides
 *   printed        SpyreTensorLayout(device_size=[4, 1024, 64], device_strides=[65536, 64, 1], dim_map =[1, 0, 1],
 *                  num_stick_dims=1, format="Dense"), and the later forms with dim_map or stride_map and device_dtype=
 *   short          f16[1000,200] stick(dim_order=[0,1])
 *
 * Each form may start with the host shape, `f16[1024,256]`; the short form must. Without it, three tuples are read as a
 * host tensor of rank 1 (the storage), and the shape of printed forms follows from dim_map and sizes, or comes from the
 * caller.
 *
 * short form: stick(KEY=VALUE, ...) with
 *   dim_order=[0,1]         the last one in sticks; a final -1: one element per stick (default: 0 .. rank-1)
 *   order=generic           generic, stick_outer, inner_pair, generic_jan26, tiles (default: the target's)
 *   target=spyre            source of types, stick bytes, order and tiles (default: spyre)
 *   stick=128               stick bytes instead of the target's
 *   pad_to={0:96}           least extents of dims
 *   dims=[(1,64,4),...]     device dims (host dim, step, extent) instead of dim_order and order; stick_dims=1
 *   device_size=[...], stride_map=[...]    instead of dim_order and order
 *   device_strides=[...]    with dims or device_size: strides other than row-major
 *   device_dtype=f16, device_bits=16       how the device stores an element, instead of the target's type
 *
 * A dim_map has no steps: the step of the other device dim of a host dim in the lanes is the number of lanes, all other
 * steps are 1. A host dim with several device dims in or outside the stick is refused; use stride_map. In three tuples
 * and stride_map a host stride of -1 is a synthetic dim, 0 a replicated one.
 */

/// Notations of a device layout.
typedef enum tesela_device_notation {
  TESELA_DEVICE_SHORT, ///< f16[1000,200] stick(dim_order=[0,1])
  TESELA_DEVICE_TUPLES, ///< ((..), (..), (..)), after the host shape if there is padding, which a nest does not show
  TESELA_DEVICE_PRINTED, ///< SpyreTensorLayout(device_size=.., device_strides=.., dim_map =.., num_stick_dims=.., format=..)
  TESELA_DEVICE_DIM_MAP,    ///< SpyreTensorLayout(device_size=.., dim_map =.., device_dtype=..)
  TESELA_DEVICE_STRIDE_MAP, ///< SpyreTensorLayout(device_size=.., stride_map =.., device_dtype=..)
} tesela_device_notation;

typedef struct tesela_device_text_options {
  const tesela_target *target; ///< default of texts that name none; NULL: spyre
  const tesela_device_host
      *host; ///< shape and types of texts that do not say them; NULL: none. With stick_bytes 0 only
             ///< dtype, rank and shape count, as if they preceded the text
  const int64_t *host_strides;  ///< for stride_map and host strides in tuples; NULL: row-major
  const tesela_target *targets; ///< that a text may name, before the built-in ones: stick(target=mine)
  int32_t n_targets;            ///< of them; `target` can be named, too
  int64_t reserved[4];          ///< 0: room to grow (base.h)
} tesela_device_text_options;

/// Read a device layout in any of its notations.
///
/// Example: "f16[1000,200] stick(dim_order=[0,1], order=stick_outer)": extents 4, 1000, 64.
///
/// @return TESELA_OK; TESELA_E_SYNTAX with err->at; TESELA_E_INVALID, TESELA_E_RANGE, ... as the constructors of device.h, with
///         err->at at the field; TESELA_E_UNSUPPORTED if a text needs a host shape and has none.
TESELA_API tesela_status tesela_device_parse(tesela_device_layout *layout, const char *text, size_t length,
                                             const tesela_device_text_options *options, tesela_error *err);

/// Print a device layout. The text reads back to an equal layout (given the host, for forms without it).
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if the notation cannot express the layout; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_device_print(const tesela_device_layout *layout,
                                             tesela_device_notation notation, const tesela_writer *to,
                                             tesela_error *err);

/// The same layout in XLA's notation, for an array of host.shape and host.device_dtype: order and tiles, and E(bits) if the
/// device stores elements wider than their type. HLO text describes a tensor on the device in this form.
///
/// Example: f16[1000,200] in sticks along dim 1: {0,1:T(64,1)}; f16[256] with one element per stick: {0:T(64,1)}.
/// The result is verified: each element has the same place, and the number of places is equal.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if no order and tiles express it (a replicated dim, strides or, in some orders,
///         steps that do not divide each other); as tesela_device_to_layout. No allocation, some microseconds.
TESELA_API tesela_status tesela_device_to_xla(const tesela_device_layout *layout, tesela_xla_layout *out,
                                              tesela_error *err);

/// Read a target from text, one `key value` per line, # starts a comment (docs/device.md, Targets):
///
///   target     mine          # a name; the first line
///   like       spyre         # start from a built-in target; otherwise from tesela_target_plain
///   stick      64            # bytes
///   alignment  64
///   max_rank   8
///   order      tiles 32x32 16x16
///   type       s64 -> s32    # host -> device; `s8 -> s8 in 32` stores 8 bits in 32; `type none` first: no others
///   sparse     yes
///   keep_host_bytes no
///   cores      8
///   scratchpad 1048576
///   dma        max_dims=4 max_extent=65535 alignment=64 min_burst=64 max_burst=4096 max_nests=1024
///   rule       matmul 0 needs contracted         # operand number, `all`; a price after `costs` makes it soft
///   rule       pointwise.exp 0 needs any costs 100
///   rule       reduce result is survives         # `rule none` first: without those of `like`
///
/// Each key except type and rule appears once; errors have the line number. `stick` also sets the alignment if both were equal.
///
/// @return TESELA_OK; TESELA_E_SYNTAX, TESELA_E_RANGE, TESELA_E_INVALID with err->at; TESELA_E_LIMIT.
TESELA_API tesela_status tesela_target_read(tesela_target *target, const char *text, size_t length,
                                            tesela_error *err);

/// Print a target as such a file, with every key; reading it gives an equal target.
/// @return TESELA_OK; as tesela_target_check; TESELA_E_UNSUPPORTED for a name that is not a single word, a rule with a need for
///         the result or a yield for an operand; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_target_print(const tesela_target *target, const tesela_writer *to,
                                             tesela_error *err);

/*
 * ==== Any layout as index arithmetic
 *
 *   map(d0:3, d1:5) of f32 -> memory[24]: 12*(d0/2) + 2*(d0%2) + 4*(d1/2) + d1%2
 *   map(d0:64, d1:64) of f16 -> memory[4096]: 64*d0 + d1; memory ^= 8*(memory/64%8)
 *   map(d0:8; copies r0:4) -> thread[32]: 4*d0 + r0; local[1]: 0
 *   map(d0:5; s0 = d0 + 3) of f32 -> memory[104]: 100*(s0/4) + s0%4
 *
 *   map    = "map(" [dim {"," dim}] [";" "copies" copy {"," copy}] {";" name "=" sum} ")" [type] "->" [axis {";" axis}] {";" flip}
 *   dim    = name ":" extent              copy   = name ":" extent
 *   type   = "of" type | "of" type "in" N "bits" | "of" N "bits"         (default: 8 bits, no type)
 *   axis   = name "[" places "]" ":" sum
 *   sum    = numbers, names, "+", "-", products with numbers, "/" and "%" by numbers, "^", "(", ")"
 *   flip   = axis "^=" bits {"^" bits}
 *   bits   = [N "*"] (part | "(" part ")") of an axis, which ends in "% N"; powers of two
 *
 * "/" is rounded down. "*", "/" and "%" are done from left to right, before "+" and "-", signs too; "^" comes last. An element is at
 * all values of its copies. Of a place that a sum gives, each flip exchanges the bits that its right side has, all at once, from
 * the places of the sums. Places that no element has are padding.
 *
 * Two parts of a name that overlap add up; a part cannot be in two sums. A sum that is divided or XORed is one of these, with a name
 * or without: 100*((d0 + 3)/4). Divisors and moduli of one name must divide each other, unless they are the greedy split of the
 * model (layout.h): x/7, x%7/5, x%7%5. "^" is an XOR of bits of names that the other terms of the place determine.
 */

/// Read index arithmetic. The whole text must match; ends of lines are blanks.
///
/// Example: "map(d0:3, d1:5) -> memory[24]: 12*(d0/2) + 2*(d0%2) + 4*(d1/2) + d1%2" puts element (2,3) at place 17.
///
/// @return TESELA_OK; with err->at: TESELA_E_SYNTAX; TESELA_E_INVALID for an unknown or repeated name, a sum or copy that is not
///         used, flips without an inverse; TESELA_E_UNSUPPORTED for steps that do not divide each other, a part in two sums;
///         TESELA_E_RANGE for a place outside its axis or a sum below 0; TESELA_E_OVERFLOW; TESELA_E_LIMIT. On failure *layout
///         keeps its value.
/// O(length^2); needs 160 KiB of stack; any thread.
TESELA_API tesela_status tesela_map_parse(tesela_layout *layout, const char *text, size_t length,
                                          tesela_error *err);

/// Print any layout as index arithmetic, from its canonical form. Reading it gives the same relation, axes and widths.
///
/// Example: f32[3,5]{1,0:T(2,2)}: "map(d0:3, d1:5) of f32 -> memory[24]: 12*(d0/2) + 2*(d0%2) + 4*(d1/2) + d1%2".
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if the names of the axes are not different words of letters, digits and _;
///         TESELA_E_INVALID for a layout that is not finished; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_map_print(const tesela_layout *layout, const tesela_writer *to,
                                          tesela_error *err);

/*
 * ==== A layout in any notation
 *
 *   f32[3,5]{1,0:T(2,2)}                                       an XLA shape                        xla
 *   {1,0:T(8,128)}                                             the same, for a given array
 *   f32[3,5] Layout(major_to_minor=(0, 1))                     a layout of JAX                     jax
 *   local(3, 4).spatial(2, 3)      shared_row_major(8, 64)     a register layout, a tile           register, shared, global
 *   f16[1000,200] stick(dim_order=[0,1])                       a device layout                     device
 *   map(d0:3, d1:5) -> memory[15]: 5*d0 + d1                   index arithmetic                    map
 *
 * The form of a text determines its notation; a name with a colon before the text requires one:
 * "register: local(3, 4)". Layouts without type and dims (JAX's, XLA's braces alone) get these from the text before
 * them, "f32[3,5] Layout(..)", or from the caller. docs/notations.md lists all notations, including those that are
 * recognised but not read yet.
 */

/// The kind of a layout, independent of its text. Values are part of the ABI.
#define TESELA_KIND_MAP(X)                                      \
  X(TESELA_KIND_XLA, 1, "xla", "an XLA layout")                 \
  X(TESELA_KIND_REGISTER, 2, "register", "a register layout")   \
  X(TESELA_KIND_SHARED, 3, "shared", "a tile in shared memory") \
  X(TESELA_KIND_GLOBAL, 4, "global", "a tile in global memory") \
  X(TESELA_KIND_DEVICE, 5, "device", "a device layout")         \
  X(TESELA_KIND_RELATION, 6, "relation", "a relation")

typedef enum tesela_kind {
#define TESELA__ROW(symbol, value, name, words) symbol = value,
  TESELA_KIND_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_kind;

/// The name that may precede a text, with a colon: "shared". NULL for an unknown number. Static memory.
TESELA_API const char *tesela_kind_name(tesela_kind kind);
/// "a tile in shared memory": for messages. NULL likewise.
TESELA_API const char *tesela_kind_words(tesela_kind kind);

/// Inputs that a notation needs in addition to its text. Flags.
enum {
  TESELA_NEEDS_ARRAY = 1,  ///< type and dims: before the text, f32[3,5], or from the caller
  TESELA_NEEDS_TARGET = 2, ///< a target, from the text or the caller (default: spyre)
  TESELA_TAKES_ARRAY =
      4 ///< type and dims may be before the text or from the caller: its valid part, if the text is larger. With
        ///< TESELA_NEEDS_ARRAY: some of its texts have type and dims, the others need them
};

/// One notation.
typedef struct tesela_notation {
  const char *name;    ///< "jax"; may precede a text, with a colon
  const char *words;   ///< "a layout of JAX"
  const char *example; ///< "f32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, 2),))"
  uint32_t needs;      ///< TESELA_NEEDS_*
  uint32_t kinds;      ///< bit k: its texts may be of kind k; 0: not read
  bool written;        ///< tesela_translate writes it
} tesela_notation;

/// The i-th notation, NULL after the last. Static memory.
TESELA_API const tesela_notation *tesela_notation_at(int32_t i);

/// Find the notation of a text. Looks only at its form, so the reader may still refuse the text; tuples of XLA shapes are xla. A
/// text of unknown form gets the notation whose reader gives the better message.
///
/// Example: "  device: f16[8] stick()" is device, and *used is 9, the start of the text after the name.
/// Example: "(4,8):(8,1)" is cute.
///
/// @param used  receives the bytes before the text; may be NULL
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for an unknown name, err->at is 0 or the start of the name;
///         TESELA_E_INVALID for a text of two notations; the message names both.
/// Any thread; O(length), no allocation.
TESELA_API tesela_status tesela_notation_find(const char *text, size_t length,
                                              const tesela_notation **notation, size_t *used,
                                              tesela_error *err);

/// A layout of any kind: a plain value of about 7 KiB; copy it with `=`. Of the union only the member of its kind is set.
typedef struct tesela_any_layout {
  tesela_kind kind;
  const tesela_notation *notation; ///< the notation it was read from, static memory; NULL: that of its kind
  tesela_xla_repairs repairs;      ///< repairs of a lenient reader of XLA's notation
  union {
    tesela_xla_shape shape;      ///< TESELA_KIND_XLA
    tesela_register registers;   ///< TESELA_KIND_REGISTER
    tesela_tile_memory memory;   ///< TESELA_KIND_SHARED, TESELA_KIND_GLOBAL
    tesela_device_layout device; ///< TESELA_KIND_DEVICE
    tesela_layout relation;      ///< TESELA_KIND_RELATION: for notations that only define places
  };
} tesela_any_layout;

/// Options of reading. All zeros: any notation, strict, without array and targets.
typedef struct tesela_layout_read_options {
  /// Required kind or notation, by name; NULL: any. With "xla" a layout in memory of another notation is read as an XLA layout if one
  /// expresses it; "xla:" before the text does the same.
  const char *notation;
  int32_t flags; ///< for XLA's notation: TESELA_XLA_STRICT, or TESELA_XLA_LENIENT | TESELA_XLA_KEEP_BARE
  const tesela_xla_shape *array; ///< type and dims for texts without them; its layout is ignored; may be NULL
  tesela_device_text_options device; ///< for device layouts: targets, host strides; its host overrides array
  tesela_dtype dtype; ///< of texts without a type, where `array` has none either; 0: elements of 8 bits
  const char *
      as; ///< "tv:16x8": a CuTe layout of (thread, value) and the tile; "thread[32],local[4]": axes of index arithmetic;
          ///< NULL: to memory
  const char
      *definitions; ///< a file's text that defines names of the layout's text: #blocked = #ttg.blocked<..>
  size_t definitions_length;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_layout_read_options;

/// Read a layout in any notation. The whole text must match.
///
/// Example: "shared: shared_row_major(8, 64)" is a value of TESELA_KIND_SHARED.
/// Example: "{1,0:T(8,128)}" with bf16[32,256] as options->array: bf16[32,256]{1,0:T(8,128)}.
/// Example: "f32[3,5] Layout(major_to_minor=(1, 0))": of TESELA_KIND_XLA, f32[3,5]{0,1}.
/// Example: "f16[1000,200] stick(target=mine)" with options->device.targets: sticks as that target has them.
///
/// @param text     `length` bytes, no NUL needed; any bytes
/// @param options  NULL: all zeros
/// @return TESELA_OK; as tesela_notation_find; the errors of the notation's reader, err->at counted from the start of `text`;
///         TESELA_E_UNSUPPORTED for a notation that is not read yet (the message names it), and for a text that needs an array
///         but has none; TESELA_E_MISMATCH for a layout of another kind than required, or another rank than the array. On
///         failure *out keeps its old value.
/// Any thread; O(length) and the cost of the operations of an expression. Needs up to 192 KiB of stack.
TESELA_API tesela_status tesela_layout_read(const char *text, size_t length,
                                            const tesela_layout_read_options *options, tesela_any_layout *out,
                                            tesela_error *err);

/// The relation of a layout (layout.h). A register layout has the axes thread and local; a tile has elements of 8 bits,
/// since its width is unknown.
///
/// Example: f32[3,5]{1,0:T(2,2)} puts element (2,3) at place 17.
///
/// @return TESELA_OK; as tesela_xla_to_layout, tesela_register_to_layout, ...: token[] has no places.
TESELA_API tesela_status tesela_any_to_layout(const tesela_any_layout *any, tesela_layout *layout,
                                              tesela_error *err);

/// Compare two layouts of any notations as relations (tesela_layout_compare). Register layouts are compared by thread and local id,
/// with thread = lane + lanes * warp; layouts in memory by place, whatever the name of the axis. Elements without type and width,
/// as those of tiles, have the width of the other side.
///
/// Example: "((2,2),(4,2)):((4,16),(1,8))" and f32[4,8]{1,0:T(2,4)} are the same.
/// Example: a register layout and a tile in memory differ: "a is a register layout, b a tile in shared memory".
///
/// @return TESELA_OK; as tesela_any_to_layout and tesela_layout_compare; TESELA_E_UNSUPPORTED for threads of several blocks.
TESELA_API tesela_status tesela_any_compare(const tesela_any_layout *a, const tesela_any_layout *b,
                                            tesela_difference *difference, tesela_error *err);

/// The equivalent XLA shape: an XLA layout itself; for a device layout the shape of tesela_device_to_xla, for a relation that of
/// tesela_xla_from_layout.
/// @return TESELA_OK; TESELA_E_MISMATCH for other kinds; TESELA_E_UNSUPPORTED if no XLA layout expresses it.
TESELA_API tesela_status tesela_any_to_xla(const tesela_any_layout *any, tesela_xla_shape *shape,
                                           tesela_error *err);

/// Print a layout, with its array if the notation has none, in the notation it was read from; reading it gives the same layout. A device layout is
/// printed in the first of the notations short, printed and tuples that can express it.
///
/// Example: "f32[3, 5]{1,0}" gives "f32[3,5]{1,0}"; "local(4)" gives "RegisterLayout(shape=[4], mode_shape=[4], ...)".
///
/// A text of a notation that is only read is printed as index arithmetic.
///
/// @return TESELA_OK; TESELA_E_STOPPED; TESELA_E_UNSUPPORTED if the notation cannot express it.
TESELA_API tesela_status tesela_any_print(const tesela_any_layout *any, const tesela_writer *to,
                                          tesela_error *err);

/// Express a layout in another notation. The text is read back and compared with the layout before it is written.
///
/// Example: f32[3,5]{1,0:T(2,2)} to cute: "((2,2),(2,3)):((2,12),(1,4))", TESELA_VALID_PART, shape [4,6], 24 places.
/// Example: f32[6,8]{1,0:T(3,4)(2,1)} to cute: TESELA_IMPOSSIBLE; nothing is written.
///
/// A text of another array than the layout's (verdict valid_part or needs_padding) gives the layout if it is read with the
/// layout's type and shape as options->array. Axes are matched by their meaning: thread = lane + lanes * warp, local = register.
///
/// @param notation  a name: "cute"; its `written` is true
/// @param to        receives the text; nothing if impossible
/// @param out       receives the verdict; unspecified on failure
/// @return TESELA_OK, also if impossible; TESELA_E_UNSUPPORTED for an unknown notation, one that is not written, or a comparison
///         that exceeds its effort; TESELA_E_LIMIT; TESELA_E_MEMORY; TESELA_E_STOPPED; as tesela_any_to_layout.
/// Any thread.
TESELA_API tesela_status tesela_translate(const tesela_any_layout *any, const char *notation,
                                          const tesela_writer *to, tesela_translation *out,
                                          tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
