/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla.h - XLA shapes with tiled layouts: values, text, meaning.
 *
 * A tesela_xla_shape holds the fields of a text such as `f32[3,5]{1,0:T(2,2)}`; a plain value. tesela_xla_to_layout
 * turns it into a relation, a tesela_layout. A tesela_xla_tree holds a text with tuples. Bitcasts, the spellings of JAX
 * and PJRT and program shapes follow at the end.
 *
 * Source: XLA's tiled-layout document and the behaviour of layout.cc, shape_util.cc, layout_util.cc. Where those are
 * careless (S(300) wraps, T(2,2} is accepted, `*` is ignored when indexing) tesela refuses or is correct: docs/xla.md
 * lists each case.
 */
#ifndef TESELA_XLA_H
#define TESELA_XLA_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_XLA_COMBINE INT64_MIN   ///< a tile entry `*`: joined with the next more minor dim
#define TESELA_XLA_UNBOUNDED INT64_MIN ///< a dim `?`
#define TESELA_XLA_MAX_TILES 16        ///< tile levels
#define TESELA_XLA_MAX_TILE_NUMBERS 64 ///< entries of all levels together
#define TESELA_XLA_MAX_SPLITS 8        ///< split configs
#define TESELA_XLA_MAX_SPLIT_POINTS 64 ///< cut points of all split configs together
#define TESELA_XLA_PHYSICAL_TEXT 256   ///< bytes of the canonical text of P(...), the NUL included

/// SC(dim:points): the points at which one physical dim is cut between memories. Moves no element.
typedef struct tesela_xla_split {
  int32_t dim;      ///< physical dim, 0 is the most major
  int32_t n_points; ///< cut points, from tesela_xla_layout.split_point[first] on
  int32_t first;
} tesela_xla_split;

/// The layout between the braces. Only the entries that `rank`, `n_tiles`, `n_tile_numbers`, `n_splits` and
/// `n_split_points` count are meaningful, and `physical` up to its NUL. The rest is never read and may hold
/// anything.
typedef struct tesela_xla_layout {
  int32_t rank;
  int32_t minor_to_major[TESELA_MAX_RANK];   ///< minor_to_major[0] is the dim that varies fastest
  int32_t n_tiles;                           ///< tile levels
  int32_t n_tile_numbers;                    ///< entries of all levels
  int32_t tile_rank[TESELA_XLA_MAX_TILES];   ///< entries of each level
  int64_t tile[TESELA_XLA_MAX_TILE_NUMBERS]; ///< the entries, level after level; TESELA_XLA_COMBINE is `*`
  int64_t tail;                              ///< L: elements are padded to a multiple of it; 1 = no padding
  tesela_dtype index_type;                   ///< #(...), TESELA_DTYPE_NONE if absent; sparse arrays only
  tesela_dtype pointer_type;                 ///< *(...), likewise
  int64_t element_bits;                      ///< E: bits of an element; 0 = by type
  int32_t memory_space;                      ///< S: -128 .. 127; 0 = default
  int32_t n_splits, n_split_points;
  tesela_xla_split split[TESELA_XLA_MAX_SPLITS];
  int64_t split_point[TESELA_XLA_MAX_SPLIT_POINTS];
  int64_t metadata_bytes;                  ///< M: bytes of dynamic-shape metadata before the data; 0 = none
  char physical[TESELA_XLA_PHYSICAL_TEXT]; ///< P: canonical text of the physical shape; "" = none
} tesela_xla_layout;

typedef enum tesela_xla_kind {
  TESELA_XLA_ARRAY,
  TESELA_XLA_BUFFER, ///< b(array)
  TESELA_XLA_TOKEN,  ///< token[]
  TESELA_XLA_OPAQUE, ///< opaque[]
  TESELA_XLA_TUPLE,  ///< only in a tree
} tesela_xla_kind;

/// One array, buffer, token or opaque. Only dim[0] .. dim[rank-1] are meaningful.
typedef struct tesela_xla_shape {
  tesela_xla_kind kind;
  tesela_dtype dtype;
  int32_t rank;
  uint32_t dynamic;             ///< bit d: dim d is `<=dim[d]` (or `?`)
  int64_t dim[TESELA_MAX_RANK]; ///< extent, bound of a dynamic dim, or TESELA_XLA_UNBOUNDED
  bool has_layout;              ///< false: printed without braces; `layout` still holds the default order
  tesela_xla_layout layout;
} tesela_xla_shape;

/* ---- text ------------------------------------------------------------------------------------------------- */

/// How to read. Flags.
enum {
  TESELA_XLA_STRICT = 0,
  TESELA_XLA_LENIENT = 1, ///< also accept sloppy forms and the document's spelling; repairs are reported
  TESELA_XLA_KEEP_BARE =
      2, ///< has_layout stays false for a shape of rank >= 1 without braces (default: it gets
         ///< the default order); a scalar always has its empty layout
};

/// One repair of a lenient reader. A strict reader reports only D(...), which it reads and drops as XLA does.
typedef struct tesela_xla_repair {
  int64_t at;    ///< byte in the text
  char what[88]; ///< "type F32 read as f32"
} tesela_xla_repair;

#define TESELA_XLA_MAX_REPAIRS 8
typedef struct tesela_xla_repairs {
  int32_t count; ///< all repairs; the first TESELA_XLA_MAX_REPAIRS are kept below
  tesela_xla_repair repair[TESELA_XLA_MAX_REPAIRS];
} tesela_xla_repairs;

/// Read one array, buffer, token or opaque. The whole text must match; blanks and comments around it are allowed.
///
/// Example: "f32[3,5]{1,0:T(2,2)}" -> dims 3, 5; order 1, 0; one tile 2, 2.
///
/// Strict reading refuses what XLA's parser or validation refuses, and what XLA accepts by accident. The error has the
/// byte; its message says what was found and what is allowed. The result is valid (tesela_xla_validate).
///
/// @param text     `length` bytes; need not end in NUL; any bytes
/// @param flags    TESELA_XLA_STRICT, or TESELA_XLA_LENIENT | TESELA_XLA_KEEP_BARE
/// @param repairs  receives the repairs of lenient reading; may be NULL
/// @return TESELA_OK; TESELA_E_SYNTAX, TESELA_E_RANGE, TESELA_E_INVALID, TESELA_E_OVERFLOW, TESELA_E_LIMIT;
///         a tuple is TESELA_E_UNSUPPORTED (tesela_xla_tree_create reads those). O(length), no allocation.
TESELA_API tesela_status tesela_xla_parse(const char *text, size_t length, int32_t flags,
                                          tesela_xla_shape *shape, tesela_xla_repairs *repairs,
                                          tesela_error *err);

/// Read an array at the start of a longer text, after optional blanks; *used receives the bytes read. As in XLA's grammar
/// a brace is part of the shape if a number or a colon follows: "f32[42] {0} add(" uses 11 bytes, "f32[42] {\n %x = ..."
/// uses 7. For scanners of logs and HLO text.
TESELA_API tesela_status tesela_xla_parse_prefix(const char *text, size_t length, int32_t flags,
                                                 tesela_xla_shape *shape, size_t *used,
                                                 tesela_xla_repairs *repairs, tesela_error *err);

/// Read a layout alone: "{1,0:T(2,2)}"; its rank is the number of dims it lists. #, * and P are accepted here too,
/// and validated only against each other. P keeps its shape, or tuple, as canonical text; TESELA_E_LIMIT if that is
/// longer than TESELA_XLA_PHYSICAL_TEXT allows.
TESELA_API tesela_status tesela_xla_parse_layout(const char *text, size_t length, int32_t flags,
                                                 tesela_xla_layout *layout, tesela_xla_repairs *repairs,
                                                 tesela_error *err);

/// Print exactly as XLA does: "f32[3,5]{1,0:T(2,2)}", without blanks, T L # * E S SC P M in this order, defaults omitted.
/// with_layout false prints "f32[3,5]" only. Refuses the shapes that tesela_xla_validate refuses, and then prints
/// nothing.
TESELA_API tesela_status tesela_xla_print(const tesela_xla_shape *shape, bool with_layout,
                                          const tesela_writer *to, tesela_error *err);

/// Print a layout alone: "{1,0:T(2,2)}"; "{}" for rank 0 without attributes.
TESELA_API tesela_status tesela_xla_print_layout(const tesela_xla_layout *layout, const tesela_writer *to,
                                                 tesela_error *err);

/// Attributes of a layout that are kept and printed but do not affect the mapping: bits TESELA_XLA_KEPT_*.
enum {
  TESELA_XLA_KEPT_INDEX_TYPE = 1,
  TESELA_XLA_KEPT_POINTER_TYPE = 2,
  TESELA_XLA_KEPT_SPACE = 4,
  TESELA_XLA_KEPT_SPLITS = 8,
  TESELA_XLA_KEPT_PHYSICAL = 16,
  TESELA_XLA_KEPT_METADATA = 32,
  TESELA_XLA_KEPT_DYNAMIC = 64, ///< a bounded dim has the extent of its bound
};
TESELA_API uint32_t tesela_xla_kept(const tesela_xla_shape *shape);
/// Description of one bit: "S: memory space"; NULL for anything else.
TESELA_API const char *tesela_xla_kept_text(uint32_t bit);

/* ---- tuples ----------------------------------------------------------------------------------------------- */

/// A text with tuples, as a flat list of nodes in reading order. Owns memory; immutable after creation, so any
/// number of threads may read one.
typedef struct tesela_xla_tree tesela_xla_tree;

#define TESELA_XLA_MAX_DEPTH 8192 ///< nesting of tuples, as in XLA's parser

typedef struct tesela_xla_node {
  tesela_xla_kind kind;
  int32_t parent;                ///< node index, -1 for the root
  int32_t next;                  ///< node after this whole subtree
  int32_t n_members;             ///< of a tuple
  const tesela_xla_shape *shape; ///< NULL for a tuple; owned by the tree
} tesela_xla_node;

/// Read "(f32[2]{0}, (s32[], pred[3]{0}))" or a single array, by the rules of tesela_xla_parse. No recursion. One
/// allocation, about 2 KiB per leaf; a text that is refused allocates nothing.
/// @return as tesela_xla_parse; TESELA_E_MEMORY; TESELA_E_LIMIT beyond TESELA_XLA_MAX_DEPTH.
TESELA_API tesela_status tesela_xla_tree_create(tesela_xla_tree **tree, const char *text, size_t length,
                                                int32_t flags, const tesela_allocator *allocator,
                                                tesela_xla_repairs *repairs, tesela_error *err);
TESELA_API void tesela_xla_tree_destroy(tesela_xla_tree *tree);
TESELA_API int32_t tesela_xla_tree_count(const tesela_xla_tree *tree);
/// Node i, 0 <= i < count; node 0 is the root.
TESELA_API tesela_xla_node tesela_xla_tree_node(const tesela_xla_tree *tree, int32_t i);
/// Print as XLA does, with `, ` between members and `, ` and an index comment before every fifth.
TESELA_API tesela_status tesela_xla_tree_print(const tesela_xla_tree *tree, bool with_layout,
                                               const tesela_writer *to, tesela_error *err);
/// Sums over all arrays: *bytes by the definition, *allocated as XLA allocates; tokens, opaques and tuple tables count 0.
/// TESELA_E_OVERFLOW; TESELA_E_UNSUPPORTED for an array with a `?` dim.
TESELA_API tesela_status tesela_xla_tree_bytes(const tesela_xla_tree *tree, int64_t *bytes,
                                               int64_t *allocated, tesela_error *err);
/// Do all arrays and buffers have a layout? Does any? Does any have E? Tokens and opaques are ignored. (XLA: HasLayout,
/// HasAnyLayout, HasCustomElementSizeInBits.) Layouts can be missing only after TESELA_XLA_KEEP_BARE or
/// tesela_xla_tree_clear_layouts.
TESELA_API bool tesela_xla_tree_has_layout(const tesela_xla_tree *tree);
TESELA_API bool tesela_xla_tree_has_any_layout(const tesela_xla_tree *tree);
TESELA_API bool tesela_xla_tree_has_element_bits(const tesela_xla_tree *tree);
/// Compare leaf by leaf with the flags of tesela_xla_layout_equal. TESELA_XLA_ORDER_IF_UNTILED applies to whole
/// trees: only the order is compared if one of the two has no tiles in any array (XLA: ShapeLayout).
TESELA_API tesela_status tesela_xla_tree_equal(const tesela_xla_tree *a, const tesela_xla_tree *b,
                                               uint32_t ignore, bool *equal, tesela_error *err);
/// A new tree in which every array has the default layout (row-major, no tiles), or no layout (has_layout false, except
/// for scalars, see TESELA_XLA_KEEP_BARE).
TESELA_API tesela_status tesela_xla_tree_with_default_layouts(tesela_xla_tree **out,
                                                              const tesela_xla_tree *tree,
                                                              const tesela_allocator *allocator,
                                                              tesela_error *err);
TESELA_API tesela_status tesela_xla_tree_clear_layouts(tesela_xla_tree **out, const tesela_xla_tree *tree,
                                                       const tesela_allocator *allocator, tesela_error *err);
/// A new tree with the dims of `shapes` and the layouts of `layouts`, leaf by leaf (XLA: CopyLayoutBetweenShapes).
/// TESELA_E_MISMATCH if structures or ranks differ; as tesela_xla_validate for a layout that does not fit its new dims.
TESELA_API tesela_status tesela_xla_tree_copy_layouts(tesela_xla_tree **out, const tesela_xla_tree *shapes,
                                                      const tesela_xla_tree *layouts,
                                                      const tesela_allocator *allocator, tesela_error *err);

/* ---- build and check -------------------------------------------------------------------------------------- */

/// A layout with this order and default attributes. minor_to_major NULL: the default order {rank-1, ..., 0}.
/// TESELA_E_INVALID if it is not a permutation.
TESELA_API tesela_status tesela_xla_layout_make(tesela_xla_layout *layout, int32_t rank,
                                                const int32_t *minor_to_major, tesela_error *err);
/// The same from an order that starts with the most major dim (JAX's spelling).
TESELA_API tesela_status tesela_xla_layout_make_major_to_minor(tesela_xla_layout *layout, int32_t rank,
                                                               const int32_t *major_to_minor,
                                                               tesela_error *err);
/// {0, 1, ..., rank-1}: dim 0 fastest.
TESELA_API tesela_status tesela_xla_layout_make_ascending(tesela_xla_layout *layout, int32_t rank,
                                                          tesela_error *err);
/// An array of a type, dims and a layout (NULL: default), validated. A dim TESELA_XLA_UNBOUNDED is marked dynamic; for
/// bounded dynamic dims set the bits of `dynamic` afterwards.
TESELA_API tesela_status tesela_xla_shape_make(tesela_xla_shape *shape, tesela_dtype dtype, int32_t rank,
                                               const int64_t *dim, const tesela_xla_layout *layout,
                                               tesela_error *err);
/// Add a tile level of n entries, each >= 1 or TESELA_XLA_COMBINE (not the last). TESELA_E_INVALID for n < 1 or a last
/// TESELA_XLA_COMBINE, TESELA_E_RANGE for any other entry < 1, TESELA_E_LIMIT for too many tiles or entries.
TESELA_API tesela_status tesela_xla_layout_add_tile(tesela_xla_layout *layout, int32_t n,
                                                    const int64_t *entries, tesela_error *err);
/// SC: cut physical dim `dim` (0 = most major) at n points >= 1 that go up. TESELA_E_INVALID if they do not or the dim is
/// cut already; TESELA_E_RANGE; TESELA_E_LIMIT. Whether the points lie inside the dim is seen when there is a shape.
TESELA_API tesela_status tesela_xla_layout_add_split(tesela_xla_layout *layout, int32_t dim, int32_t n,
                                                     const int64_t *points, tesela_error *err);
/// Check everything that XLA's validation checks, and more (docs/xla.md, "What is refused"); the error names the field.
TESELA_API tesela_status tesela_xla_validate(const tesela_xla_shape *shape, tesela_error *err);

/* ---- meaning ---------------------------------------------------------------------------------------------- */

/// The relation: one axis "memory", places in elements; its extent is the size by definition (every level pads, then L).
///
/// Example: f32[3,5]{1,0:T(2,2)} -> extents 2,3,2,2; element (2,3) at 17.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for token, opaque, tuple and `?` dims; TESELA_E_OVERFLOW;
///         TESELA_E_LIMIT if the digits do not fit.
TESELA_API tesela_status tesela_xla_to_layout(const tesela_xla_shape *shape, tesela_layout *layout,
                                              tesela_error *err);

/// The shape whose places are those of a layout: its order and a list of tiles of the fewest levels, padding included. The inverse of
/// tesela_xla_to_layout, for layouts that come from anywhere.
///
/// Example: element (i,j) of bf16[32,256] at 2048*(i/8) + 1024*(j/128) + 256*(i%8/2) + 2*(j%128) + i%2:
/// bf16[32,256]{1,0:T(8,128)(2,1)}.
/// Example: bytes at 8*i + j in [4,6]: u8[4,6]{1,0:T(8)}, which reserves 32 places, answer->text_places.
/// Example: f32[2,2] at 3*i + 5*j: impossible, 5 is not a multiple of 3.
///
/// All layouts are found that some tiles with `*` in no tile but the first express; tiles with `*` in a later one express
/// others. `*` is used only if no tiles without it exist. Of the tiles without `*` that reserve the layout's number of places without
/// L, and that cut no padding of an earlier tile apart, these are the fewest levels; the entries are few, in one layout of thousands not the fewest. If only L gives
/// that number, the shape has it; if the tiles need more places, answer->text_places says how many. E is set if the layout's
/// elements do not have the type's width.
///
/// @param shape   receives the shape; unchanged if impossible
/// @param answer  receives TESELA_EXACT or TESELA_IMPOSSIBLE, with the smallest contradiction of tiles without `*`
/// @return TESELA_OK, also if impossible; TESELA_E_UNSUPPORTED for a layout without a type (give it one: it would not be
///         impossible), or as tesela_layout_compare, or if more than 1500 orders of joined dims would have to be tried;
///         TESELA_E_LIMIT if no list within XLA's limits and 8 levels was found;
///         TESELA_E_INVALID for a layout that is not finished. No allocation; any thread; needs 256 KiB of stack. Some
///         microseconds per digit and comparison, at most some tenths of a second for the search of tiles.
TESELA_API tesela_status tesela_xla_from_layout(const tesela_layout *layout, tesela_xla_shape *shape,
                                                tesela_translation *answer, tesela_error *err);

/// Bounds after `level` tile levels (0: the physical bounds, most major first). bounds has room for
/// TESELA_MAX_DIGITS. f32[3,5]{1,0:T(2,2)}: level 0 -> 3,5; level 1 -> 2,3,2,2.
TESELA_API tesela_status tesela_xla_bounds(const tesela_xla_shape *shape, int32_t level, int64_t *bounds,
                                           int32_t *n_bounds, tesela_error *err);

/// The steps (pad, reshape, transpose) of a shape: the order of the dims; per level leading ones and joins, pad,
/// reshape, transpose; then the tail.
/// @return as tesela_xla_size; TESELA_E_LIMIT beyond TESELA_PROGRAM_STEPS or TESELA_PROGRAM_NUMBERS.
TESELA_API tesela_status tesela_xla_program(const tesela_xla_shape *shape, tesela_program *program,
                                            tesela_error *err);

/// Sizes of a shape in bytes.
typedef struct tesela_xla_sizes {
  int64_t logical_elements;
  int64_t logical_bytes;    ///< as tesela_sizes
  int64_t unpadded_bytes;   ///< elements * byte width of the type ("unpadded" in XLA's reports); ignores E
  int64_t elements;         ///< by definition: every level pads, then L
  int64_t bits_per_element; ///< E, else 8 * byte width
  int64_t bytes;            ///< by definition
  int64_t
      allocated_bytes; ///< XLA's allocator (ArraySize): top tile only; no tile: L ignored; splits: largest share
  double expansion;    ///< bytes / logical_bytes; 1 if both are 0
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_xla_sizes;
/// Example: f32[8,8]{1,0:T(4,4)(3,1)}: 64 elements, 256 bytes of data; 96 places, 384 bytes; 256 allocated.
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for token, opaque, tuple and `?` dims; TESELA_E_OVERFLOW; as
///         tesela_xla_validate for an invalid shape.
TESELA_API tesela_status tesela_xla_size(const tesela_xla_shape *shape, tesela_xla_sizes *sizes,
                                         tesela_error *err);

/// Bytes through the last element: 1 + the largest place of an element, times the bits, rounded up; 0 without elements.
/// The size of a buffer that a copy needs; less than `bytes` of tesela_xla_size by the padding at the end.
///
/// Example: f32[3,5]{1,0:T(2,2)}: the last element is at place 20 of 24, so 84 bytes.
///
/// @return as tesela_xla_to_layout; TESELA_E_UNSUPPORTED also if `*` joins parts of dims and more than 2^20 places at
///         the end are padding.
TESELA_API tesela_status tesela_xla_data_bytes(const tesela_xla_shape *shape, int64_t *bytes,
                                               tesela_error *err);

/// Bytes of the values in a serialized literal, which is dense in every layout: pred, s1, u1 eight per byte, 2-bit types
/// four, 4-bit types two, the others as wide as E or the type; plus 4 bytes per dim if one is dynamic. (XLA's
/// SerializedSize adds 8 bytes and the encoded shape.) pred[3,5] -> 2, f32[3,5] -> 60.
TESELA_API tesela_status tesela_xla_serialized_bytes(const tesela_xla_shape *shape, int64_t *bytes,
                                                     tesela_error *err);

/// One cause of padding: a bound that is rounded up.
typedef enum tesela_xla_pad_kind {
  TESELA_XLA_PAD_TILE,  ///< a tile level rounds a bound up
  TESELA_XLA_PAD_TAIL,  ///< L rounds the element count up
  TESELA_XLA_PAD_WIDTH, ///< E widens the element: extent = natural bits, padded = E
} tesela_xla_pad_kind;
typedef struct tesela_xla_pad {
  tesela_xla_pad_kind kind;
  int32_t level; ///< tile level from 0; -1 for TAIL and WIDTH
  int32_t entry; ///< entry of the tile, 0 is the most major one; -1 for TAIL and WIDTH
  int32_t
      from_end;  ///< position of the bound in the list before the level, counted from the most minor (0); for
                 ///< a join, its most minor part; -1 for TAIL and WIDTH
  uint32_t dims; ///< logical dims of the bound (several for a join), bit d = dim d; 0: a leading one.
                 ///< TAIL: all dims. WIDTH: 0
  int64_t tile;  ///< tile extent (or L, or E)
  int64_t extent; ///< the bound before
  int64_t padded; ///< the bound after: a multiple of tile
} tesela_xla_pad;

/// Every bound that padding enlarges, by level, most major bound first; then the tail, then the width. The product
/// of all padded/extent is elements * bits / (logical elements * natural bits), where the natural bits are 8 * byte width
/// of the type, or E if that is less (for shapes without a dim of 0).
///
/// Example: f32[20,200]{1,0:T(8,128)}: 20 -> 24 for dim 0 and 200 -> 256 for dim 1; 24/20 * 256/200 = 6144/4000.
///
/// @param capacity  entries that fit in pads; *n receives the number of causes, which may exceed it
TESELA_API tesela_status tesela_xla_padding(const tesela_xla_shape *shape, int32_t capacity,
                                            tesela_xla_pad *pads, int32_t *n, tesela_error *err);

/// Strides in bytes by the order of the dims alone (XLA's ByteStrides): f32[3,5,7] -> 140,28,4. TESELA_E_UNSUPPORTED
/// if E is not a multiple of 8 or tiles move elements.
TESELA_API tesela_status tesela_xla_byte_strides(const tesela_xla_shape *shape, int64_t *strides,
                                                 tesela_error *err);
/// Largest distance between neighbouring cut points of a logical dim, including its ends (XLA: MaxSplitSize):
/// [150,200,100]{0,1,2} SC(0:30)(1:40,130): 150, 90, 70.
TESELA_API tesela_status tesela_xla_max_split_size(const tesela_xla_shape *shape, int32_t dim, int64_t *size,
                                                   tesela_error *err);
/// Product of those over all dims (XLA: MaxElementsInPerSplit): 945000 in that example.
TESELA_API tesela_status tesela_xla_max_split_elements(const tesela_xla_shape *shape, int64_t *elements,
                                                       tesela_error *err);
/// Elements per 32-bit word of a 1-D interleaved array (XLA: PackedFactorFor1DInterleavedArray):
/// bf16[1024]{0:T(1024)(128)(2,1)} -> 2; 1 for anything else.
TESELA_API int64_t tesela_xla_packed_factor(const tesela_xla_shape *shape);

/* ---- order of dims ---------------------------------------------------------------------------------------- */

TESELA_API bool
tesela_xla_is_descending(const tesela_xla_layout *layout); ///< {n-1,...,0}: XLA HasDescendingLayout
TESELA_API bool tesela_xla_is_ascending(const tesela_xla_layout *layout); ///< {0,...,n-1}
/// The dim at physical position p, 0 = most major (XLA: Major); -1 if outside.
TESELA_API int32_t tesela_xla_major(const tesela_xla_layout *layout, int32_t p);
/// The dim at physical position p, 0 = most minor (XLA: Minor); -1 if outside.
TESELA_API int32_t tesela_xla_minor(const tesela_xla_layout *layout, int32_t p);
/// position[d] = physical position of logical dim d, 0 = most major (XLA: MakeLogicalToPhysical).
TESELA_API void tesela_xla_logical_to_physical(const tesela_xla_layout *layout, int32_t *position);
/// Are these dims consecutive in the physical order (XLA: AreDimensionsConsecutive)?
TESELA_API bool tesela_xla_are_consecutive(const tesela_xla_layout *layout, int32_t n, const int32_t *dims);
/// True without tiles, and for tiles that neither move nor pad anything for these dims; exact, where XLA's
/// IsUntiledLayout is conservative.
TESELA_API tesela_status tesela_xla_is_untiled(const tesela_xla_shape *shape, bool *untiled,
                                               tesela_error *err);

/* ---- compare ---------------------------------------------------------------------------------------------- */

/// Flags: what a comparison ignores (XLA: Layout::Equal).
enum {
  TESELA_XLA_IGNORE_TILES = 1,
  TESELA_XLA_IGNORE_TAIL = 2,
  TESELA_XLA_IGNORE_INDEX_TYPE = 4,
  TESELA_XLA_IGNORE_POINTER_TYPE = 8,
  TESELA_XLA_IGNORE_ELEMENT_BITS = 16,
  TESELA_XLA_IGNORE_SPACE = 32,
  TESELA_XLA_IGNORE_SPLITS = 64,
  TESELA_XLA_IGNORE_PHYSICAL = 128,
  TESELA_XLA_ORDER_ONLY = 255,       ///< compare minor_to_major alone
  TESELA_XLA_IGNORE_DYNAMIC = 256,   ///< of shapes: a bounded dim equals a static one
  TESELA_XLA_ORDER_IF_UNTILED = 512, ///< compare the order alone if one side has no tiles
};
/// Compare field by field; M is ignored, as in XLA.
TESELA_API bool tesela_xla_layout_equal(const tesela_xla_layout *a, const tesela_xla_layout *b,
                                        uint32_t ignore);
/// A hash: equal for equal layouts (with ignore = 0), stable across runs and machines.
TESELA_API uint64_t tesela_xla_layout_hash(const tesela_xla_layout *layout);
/// Compare kind, type, dims (with dynamic marks) and layouts.
TESELA_API bool tesela_xla_shape_equal(const tesela_xla_shape *a, const tesela_xla_shape *b, uint32_t ignore);

/* ---- edit ------------------------------------------------------------------------------------------------- */

/* An edit changes the shape only if it succeeds. Split configs name physical dims; they follow their dim. */

/// Remove a dim; renumber order and split configs. Tiles stay, so elements can move (XLA: Layout::DeleteDimension,
/// which renumbers split configs as if they named logical dims).
TESELA_API tesela_status tesela_xla_delete_dim(tesela_xla_shape *shape, int32_t dim, tesela_error *err);
/// Remove the dims of extent 1 (XLA: DropDegenerateDimensions).
TESELA_API tesela_status tesela_xla_drop_ones(tesela_xla_shape *shape, tesela_error *err);
/// Keep the dims whose bit is set in `keep`; bits beyond the rank are ignored (XLA: FilterDimensions).
TESELA_API tesela_status tesela_xla_keep_dims(tesela_xla_shape *shape, uint32_t keep, tesela_error *err);
/// Relabel: new dim k is old dim permutation[k]; memory does not change (XLA: PermuteDimensions).
TESELA_API tesela_status tesela_xla_permute_dims(tesela_xla_shape *shape, const int32_t *permutation,
                                                 tesela_error *err);
/// Make a dim the most major / most minor; the others keep their order (XLA: MoveDimToMajor / Minor).
TESELA_API tesela_status tesela_xla_move_to_major(tesela_xla_layout *layout, int32_t dim, tesela_error *err);
TESELA_API tesela_status tesela_xla_move_to_minor(tesela_xla_layout *layout, int32_t dim, tesela_error *err);
/// Keep memory and rename dims so that the order is {n-1,...,0}
/// (XLA: MakeShapeWithDescendingLayoutAndSamePhysicalLayout).
TESELA_API tesela_status tesela_xla_normalize_order(tesela_xla_shape *shape, tesela_error *err);
/// Remove all tiles (XLA: ClearTiles).
TESELA_API void tesela_xla_clear_tiles(tesela_xla_layout *layout);
/// Drop tiles, S, P, E, L, M; keep order and SC (XLA: DeviceShapeToHostShape).
TESELA_API void tesela_xla_to_host(tesela_xla_shape *shape);
/// Is it already such a host shape (XLA: DeviceShapeIsHostShape)?
TESELA_API bool tesela_xla_is_host(const tesela_xla_shape *shape);
/// Set E to the value width for types below a byte, except pred (XLA: UpdateElementSizeInBits); `pack` false clears it.
TESELA_API void tesela_xla_update_element_bits(tesela_xla_shape *shape, bool pack);

/* ---- formats ---------------------------------------------------------------------------------------------- */

/// A named format of the XLA tiled-layout document.
typedef struct tesela_xla_format {
  const char *name;    ///< "16-bit"
  const char *example; ///< a shape in it, "bf16[20,200]{1,0:T(8,128)(2,1)}"
  const char *tiles;   ///< "T(8,128)(2,1)", "" for none
  const char *use;     ///< its purpose, one sentence
} tesela_xla_format;
/// The seven formats in the document's order; *n receives 7. Static.
TESELA_API const tesela_xla_format *tesela_xla_formats(int32_t *n);

/// Options for tesela_xla_choose.
enum {
  TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT = 1, ///< (8,128)(2,1,1,1) for 16-bit types of rank >= 2
  TESELA_XLA_CHOOSE_LARGE_TILE =
      2, ///< (16,128)(2,1), (32,128)(4,1), (64,128)(8,1) for more rows than the usual tile
  TESELA_XLA_CHOOSE_EARLY_TPU = 4, ///< as for v2 and v3; otherwise as from v4 on
  TESELA_XLA_CHOOSE_ARGUMENT =
      8, ///< as for an argument of a program: below 16 bits large tiles where they divide
  TESELA_XLA_CHOOSE_ORDER = 16, ///< the order of the dims as well: the one that pads least
};
/// Give a shape the tiles that a TPU compiler would choose: 8x128 by element width, small tiles for a short second-minor
/// dim, 1-D and scalar tiles; no tiles for a dim of 0. The other attributes stay, and without TESELA_XLA_CHOOSE_ORDER the order.
/// E, if set, decides the width; types of 2 and 4 bits get E(2) and E(4), except on early TPUs.
///
/// Example: bf16[20,200]{1,0} -> bf16[20,200]{1,0:T(8,128)(2,1)}; f32[3,200] -> T(4,128). s8[64,200] -> T(8,128)(4,1),
/// and as an argument T(32,128)(4,1), of the same size. f32[300,12] with its order -> {0,1:T(8,128)}, 19 KiB instead of 152.
///
/// The order is chosen by its most minor and second most minor dim, the others follow from high to low: fewest padded elements,
/// rows counting at most 8; of these one without padding; then row-major, then higher dims more minor. Cost: rank cubed.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for types without a known rule (docs/xla.md, "The TPU's choice").
TESELA_API tesela_status tesela_xla_choose(tesela_xla_shape *shape, uint32_t options, tesela_error *err);

/*
 * ==== When does a transpose or a reshape of an XLA shape move nothing, and what does a bitcast mean?
 *
 * XLA considers only the order of the dims; with order_only these functions do the same. Without it tiles count: every
 * element must keep its place, and sizes and element widths must be equal.
 *
 *   f32[4,128]{1,0:T(4,128)} -> f32[4,1,128]{2,1,0:T(1,128)}    free
 *   f32[4,256]{1,0:T(4,128)} -> f32[4,1,256]{2,1,0:T(1,128)}    free by order, but row 1 moves from 128 to 256
 */

/// Is a transpose (output dim k is input dim permutation[k]) from `in` to `out` a bitcast, that is, free of data movement?
///
/// Yes if type, bits per element, bytes and allocated bytes are equal and every element keeps its place. S and M are
/// ignored. With `order_only`: yes if the types are equal and the permutation maps one order to the other, as in XLA's
/// TransposeIsBitcast. Example: f32[16,256]{1,0:T(8,128)} to f32[256,16]{0,1} is not a bitcast because of the tiles; by
/// the order alone it is.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if the dims do not fit; TESELA_E_INVALID for a bad permutation;
///         TESELA_E_UNSUPPORTED as tesela_xla_size and tesela_layout_compare.
TESELA_API tesela_status tesela_xla_transpose_is_bitcast(const tesela_xla_shape *in,
                                                         const tesela_xla_shape *out,
                                                         const int32_t *permutation, bool order_only,
                                                         bool *bitcast, tesela_error *err);
/// The same for a reshape (equal row-major element numbers). TESELA_E_MISMATCH if the numbers of elements differ.
///
/// Example: f32[16,256]{1,0:T(8,128)} to f32[2,8,2,128]{3,1,2,0} is a bitcast: the tiles become dims.
TESELA_API tesela_status tesela_xla_reshape_is_bitcast(const tesela_xla_shape *in,
                                                       const tesela_xla_shape *out, bool order_only,
                                                       bool *bitcast, tesela_error *err);

/* ---- what a bitcast means --------------------------------------------------------------------------------- */

typedef enum tesela_xla_bitcast_kind {
  TESELA_XLA_BITCAST_NONE,      ///< none of the following keeps every element at its place
  TESELA_XLA_BITCAST_RESHAPE,   ///< equal row-major element numbers
  TESELA_XLA_BITCAST_TRANSPOSE, ///< dim k of the output is a dim of the input
  TESELA_XLA_BITCAST_CHAIN,     ///< transpose, reshape, transpose
} tesela_xla_bitcast_kind;

/// A bitcast as a chain: transpose the input to `from`, reshape that to `to`, transpose this to the output. In a RESHAPE or
/// TRANSPOSE the other steps change nothing; their fields are set too.
typedef struct tesela_xla_bitcast {
  tesela_xla_bitcast_kind kind;       ///< for NONE the rest is not set
  int32_t in_order[TESELA_MAX_RANK];  ///< dim k of `from` is dim in_order[k] of the input
  int32_t out_order[TESELA_MAX_RANK]; ///< dim k of the output is dim out_order[k] of `to`
  tesela_xla_shape from,
      to; ///< in a CHAIN: input and output with dims renamed so that the order is {n-1,...,0}
} tesela_xla_bitcast;

/// Decompose a bitcast from `in` to `out`: a reshape if possible, else a transpose, else a chain. (XLA: DecomposeBitcast;
/// IsReshapeOrTransposeBitcast asks for the first two kinds, IsDecomposableBitcast for any.) The types must be equal; for
/// a bitcast-convert between types of one width give both shapes the same type.
///
/// With `order_only`, as in XLA: by the order alone any two shapes with equal numbers of elements are a chain apart.
///
/// Example: f32[6,4]{0,1} to f32[2,12]{0,1} is a CHAIN: f32[4,6]{1,0}, reshaped to f32[12,2]{1,0}.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if the numbers of elements differ; otherwise as the tests above.
TESELA_API tesela_status tesela_xla_decompose_bitcast(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                                      bool order_only, tesela_xla_bitcast *bitcast,
                                                      tesela_error *err);

/// Give `out` a layout that makes a reshape from `in` a bitcast. Its order follows from the order of `in`; tiles, L, E, S
/// and M are copied (XLA's AlignLayouts drops them). Two orders are tried: with dims of 1 beside their neighbours, and
/// before all others. *aligned false: neither is a bitcast, and `out` keeps its layout. With `order_only`, as in XLA, only
/// the order counts, and the layout of `out` gets no tiles or other attributes.
///
/// Example: f32[20,200]{1,0:T(8,128)} and f32[20,1,200]: aligned as {2,0,1:T(8,128)}.
///
/// @return as tesela_xla_reshape_is_bitcast.
TESELA_API tesela_status tesela_xla_align(const tesela_xla_shape *in, tesela_xla_shape *out, bool order_only,
                                          bool *aligned, tesela_error *err);

/// Find the dims that a reshape leaves unchanged: out_dim[d] is the dim of `out` that has the coordinate of dim d of `in` in
/// every element, or -1. Layouts are ignored. (XLA: DimensionsUnmodifiedByReshape and ReshapeLeavesDimensionsUnmodified.)
/// For arrays without elements: all dims if the shapes are equal, otherwise no dim.
///
/// Example: [2,3,5,7,12] to [6,5,1,7,3,4]: -1, -1, 1, 3, -1.
///
/// @param out_dim  receives in->rank numbers
TESELA_API tesela_status tesela_xla_reshape_unmodified(const tesela_xla_shape *in,
                                                       const tesela_xla_shape *out, int32_t *out_dim,
                                                       tesela_error *err);

/*
 * ==== Other spellings of XLA layouts: lists and program shapes, JAX, PJRT, byte strides
 */

/* ---- several shapes in one text --------------------------------------------------------------------------- */

/// Read "{f32[2]{0}, (s32[], pred[3]{0})}" (XLA: ParseShapeList) as a tree: its root is a tuple of the shapes.
/// Otherwise as tesela_xla_tree_create.
TESELA_API tesela_status tesela_xla_tree_create_list(tesela_xla_tree **tree, const char *text, size_t length,
                                                     int32_t flags, const tesela_allocator *allocator,
                                                     tesela_xla_repairs *repairs, tesela_error *err);

/// Parameters and result of a computation. Owns memory; immutable after creation.
typedef struct tesela_xla_program_shape tesela_xla_program_shape;

/// Read "(x: f32[2]{0}, (unknown): s32[]) -> f32[2]{0}". Names are optional, so this also reads an
/// entry_computation_layout: "(f32[2]{0})->(f32[2]{0})". Statuses as tesela_xla_tree_create.
TESELA_API tesela_status tesela_xla_program_shape_create(tesela_xla_program_shape **program, const char *text,
                                                         size_t length, int32_t flags,
                                                         const tesela_allocator *allocator,
                                                         tesela_xla_repairs *repairs, tesela_error *err);
TESELA_API void tesela_xla_program_shape_destroy(tesela_xla_program_shape *program);
/// The parameters as a tree whose root is a tuple of them. Owned by the program shape, as the next two.
TESELA_API const tesela_xla_tree *
tesela_xla_program_shape_parameters(const tesela_xla_program_shape *program);
/// Name of parameter i, "" without a name; NULL if i is out of range.
TESELA_API const char *tesela_xla_program_shape_name(const tesela_xla_program_shape *program, int32_t i);
TESELA_API const tesela_xla_tree *tesela_xla_program_shape_result(const tesela_xla_program_shape *program);
/// Print as XLA does, which omits layouts: "(x: f32[2], (unknown): s32[]) -> f32[2]".
TESELA_API tesela_status tesela_xla_program_shape_print(const tesela_xla_program_shape *program,
                                                        bool with_layout, const tesela_writer *to,
                                                        tesela_error *err);

/* ---- layout modes ----------------------------------------------------------------------------------------- */

typedef enum tesela_xla_mode_kind {
  TESELA_XLA_MODE_DEFAULT, ///< "default"
  TESELA_XLA_MODE_AUTO,    ///< "auto": the compiler chooses
  TESELA_XLA_MODE_LAYOUT,  ///< this layout
} tesela_xla_mode_kind;

/// The layout that a program requests for an argument or result (XLA: LayoutMode, the attribute mhlo.layout_mode).
typedef struct tesela_xla_layout_mode {
  tesela_xla_mode_kind kind;
  tesela_xla_layout layout; ///< only set for TESELA_XLA_MODE_LAYOUT
} tesela_xla_layout_mode;

/// Read "default", "auto" or a layout, "{1,0:T(8,128)}"; statuses as tesela_xla_parse_layout.
TESELA_API tesela_status tesela_xla_parse_layout_mode(const char *text, size_t length, int32_t flags,
                                                      tesela_xla_layout_mode *mode,
                                                      tesela_xla_repairs *repairs, tesela_error *err);
TESELA_API tesela_status tesela_xla_print_layout_mode(const tesela_xla_layout_mode *mode,
                                                      const tesela_writer *to, tesela_error *err);

/* ---- JAX -------------------------------------------------------------------------------------------------- */

/// Read a layout as JAX prints and accepts it, keywords in any order:
///   Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)    is {1,0:T(8,128)(2,1)}
/// Also accepted: the name DeviceLocalLayout, underscores before the last two keywords (JAX before 2025), and positional
/// arguments. tiling None and () mean no tiles.
///
/// @return TESELA_OK; TESELA_E_SYNTAX, TESELA_E_RANGE, TESELA_E_INVALID, TESELA_E_LIMIT with the byte in the text.
TESELA_API tesela_status tesela_xla_parse_jax(const char *text, size_t length, tesela_xla_layout *layout,
                                              tesela_error *err);
/// Print in this form, which cannot express L, S, SC, #, *, P and M: *lost (may be NULL) receives the TESELA_XLA_IGNORE_*
/// flags of those that are not the default (M has no flag). TESELA_E_UNSUPPORTED for a tile with `*`.
TESELA_API tesela_status tesela_xla_print_jax(const tesela_xla_layout *layout, const tesela_writer *to,
                                              uint32_t *lost, tesela_error *err);

/* ---- PJRT ------------------------------------------------------------------------------------------------- */

/// The arrays of a PJRT_Buffer_MemoryLayout_Tiled, with its field names; a plain value: point the fields of the C struct
/// at these.
typedef struct tesela_xla_pjrt_tiled {
  int64_t minor_to_major[TESELA_MAX_RANK];
  size_t minor_to_major_size;
  int64_t
      tile_dims[TESELA_XLA_MAX_TILE_NUMBERS];  ///< all tiles, one after the other; TESELA_XLA_COMBINE is `*`
  size_t tile_dim_sizes[TESELA_XLA_MAX_TILES]; ///< entries of each
  size_t num_tiles;
} tesela_xla_pjrt_tiled;

/// Example: {1,0:T(8,128)(2,1)} -> minor_to_major 1 0, tile_dims 8 128 2 1, tile_dim_sizes 2 2.
/// *lost (may be NULL) as in tesela_xla_print_jax; E is lost too. Refuses the layouts that tesela_xla_print_layout refuses.
TESELA_API tesela_status tesela_xla_to_pjrt_tiled(const tesela_xla_layout *layout,
                                                  tesela_xla_pjrt_tiled *tiled, uint32_t *lost,
                                                  tesela_error *err);
/// The reverse. TESELA_E_INVALID, TESELA_E_RANGE or TESELA_E_LIMIT if the arrays do not form a layout.
TESELA_API tesela_status tesela_xla_from_pjrt_tiled(tesela_xla_layout *layout, const int64_t *minor_to_major,
                                                    size_t minor_to_major_size, const int64_t *tile_dims,
                                                    const size_t *tile_dim_sizes, size_t num_tiles,
                                                    tesela_error *err);

/* ---- byte strides ----------------------------------------------------------------------------------------- */

/* From a shape to strides: tesela_xla_byte_strides. */

/// The order of dims that dense byte strides imply. Strides of dims of 1 are ignored, and all strides if there are no
/// elements. (XLA's ByteStridesIsMajorToMinor also asks whether it is descending.)
///
/// Example: f32[2,3,5] with strides 60,4,12 -> {1,2,0}.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for strides that leave gaps, overlap or are negative (use tesela_xla_strided);
///         otherwise as tesela_xla_shape_make.
TESELA_API tesela_status tesela_xla_layout_from_byte_strides(tesela_xla_layout *layout, tesela_dtype dtype,
                                                             int32_t rank, const int64_t *dim,
                                                             const int64_t *byte_strides, tesela_error *err);
/// Any byte strides (PJRT_Buffer_MemoryLayout_Strides, NumPy) as a relation: places count elements from the lowest
/// address. Element 0, to which the data pointer of such a buffer points, is at layout->axis[0].offset.
///
/// Example: f32[3,5] with strides -20,4: element (0,0) is at 10, (2,3) at 3.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for strides that are not multiples of the type's bytes; otherwise as
///         tesela_layout_strided.
TESELA_API tesela_status tesela_xla_strided(tesela_layout *layout, tesela_dtype dtype, int32_t rank,
                                            const int64_t *dim, const int64_t *byte_strides,
                                            tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
