/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_interchange.h - XLA layouts as others spell them: lists and program shapes, JAX, PJRT, byte strides.
 */
#ifndef TESELA_XLA_INTERCHANGE_H
#define TESELA_XLA_INTERCHANGE_H

#include <tesela/xla.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- several shapes in one text --------------------------------------------------------------------------- */

/// Read "{f32[2]{0}, (s32[], pred[3]{0})}" (XLA: ParseShapeList) as a tree: its root is a tuple of the shapes.
/// Otherwise as tesela_xla_tree_create.
TESELA_API tesela_status tesela_xla_tree_create_list(tesela_xla_tree **tree, const char *text, size_t length,
                                                     int32_t flags, const tesela_allocator *allocator,
                                                     tesela_xla_repairs *repairs, tesela_error *err);

/// What goes into a computation and what comes out. Owns memory; immutable after creation.
typedef struct tesela_xla_program_shape tesela_xla_program_shape;

/// Read "(x: f32[2]{0}, (unknown): s32[]) -> f32[2]{0}". Names may be missing, so that an entry_computation_layout is
/// read, too: "(f32[2]{0})->(f32[2]{0})". Statuses as tesela_xla_tree_create.
TESELA_API tesela_status tesela_xla_program_shape_create(tesela_xla_program_shape **program, const char *text,
                                                         size_t length, int32_t flags,
                                                         const tesela_allocator *allocator,
                                                         tesela_xla_repairs *repairs, tesela_error *err);
TESELA_API void tesela_xla_program_shape_destroy(tesela_xla_program_shape *program);
/// The parameters as a tree whose root is a tuple of them. Belongs to the program shape, as the next two.
TESELA_API const tesela_xla_tree *
tesela_xla_program_shape_parameters(const tesela_xla_program_shape *program);
/// Name of parameter i, "" if it has none; NULL if there is no such parameter.
TESELA_API const char *tesela_xla_program_shape_name(const tesela_xla_program_shape *program, int32_t i);
TESELA_API const tesela_xla_tree *tesela_xla_program_shape_result(const tesela_xla_program_shape *program);
/// Print as XLA does, which leaves out layouts: "(x: f32[2], (unknown): s32[]) -> f32[2]".
TESELA_API tesela_status tesela_xla_program_shape_print(const tesela_xla_program_shape *program,
                                                        bool with_layout, const tesela_writer *to,
                                                        tesela_error *err);

/* ---- layout modes ----------------------------------------------------------------------------------------- */

typedef enum tesela_xla_mode_kind {
  TESELA_XLA_MODE_DEFAULT, ///< "default"
  TESELA_XLA_MODE_AUTO,    ///< "auto": the compiler chooses
  TESELA_XLA_MODE_LAYOUT,  ///< this layout
} tesela_xla_mode_kind;

/// What a program asks for its argument or result (XLA: LayoutMode, the attribute mhlo.layout_mode).
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

/// Read what JAX shows and takes for a layout, keywords in any order:
///   Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)    is {1,0:T(8,128)(2,1)}
/// Also with DeviceLocalLayout in front, underscores before the last two keywords (JAX before 2025), and positional
/// arguments. tiling None and () are no tiles.
///
/// @return TESELA_OK; TESELA_E_SYNTAX, TESELA_E_RANGE, TESELA_E_INVALID, TESELA_E_LIMIT with the byte in the text.
TESELA_API tesela_status tesela_xla_parse_jax(const char *text, size_t length, tesela_xla_layout *layout,
                                              tesela_error *err);
/// Print it so. L, S, SC, #, *, P and M have no place there: *lost (may be NULL) receives the TESELA_XLA_IGNORE_* flags
/// of those that are not the default (M has none). TESELA_E_UNSUPPORTED for a tile with `*`.
TESELA_API tesela_status tesela_xla_print_jax(const tesela_xla_layout *layout, const tesela_writer *to,
                                              uint32_t *lost, tesela_error *err);

/* ---- PJRT ------------------------------------------------------------------------------------------------- */

/// The arrays of a PJRT_Buffer_MemoryLayout_Tiled, under its names; a plain value, so point the fields of the C struct
/// here.
typedef struct tesela_xla_pjrt_tiled {
  int64_t minor_to_major[TESELA_MAX_RANK];
  size_t minor_to_major_size;
  int64_t
      tile_dims[TESELA_XLA_MAX_TILE_NUMBERS];  ///< all tiles, one after the other; TESELA_XLA_COMBINE is `*`
  size_t tile_dim_sizes[TESELA_XLA_MAX_TILES]; ///< entries of each
  size_t num_tiles;
} tesela_xla_pjrt_tiled;

/// Example: {1,0:T(8,128)(2,1)} -> minor_to_major 1 0, tile_dims 8 128 2 1, tile_dim_sizes 2 2.
/// *lost (may be NULL) as in tesela_xla_print_jax; E is lost here, too. What tesela_xla_print_layout refuses is refused.
TESELA_API tesela_status tesela_xla_to_pjrt_tiled(const tesela_xla_layout *layout,
                                                  tesela_xla_pjrt_tiled *tiled, uint32_t *lost,
                                                  tesela_error *err);
/// The other way. TESELA_E_INVALID, TESELA_E_RANGE or TESELA_E_LIMIT if the arrays are no layout.
TESELA_API tesela_status tesela_xla_from_pjrt_tiled(tesela_xla_layout *layout, const int64_t *minor_to_major,
                                                    size_t minor_to_major_size, const int64_t *tile_dims,
                                                    const size_t *tile_dim_sizes, size_t num_tiles,
                                                    tesela_error *err);

/* ---- byte strides ----------------------------------------------------------------------------------------- */

/* The way from a shape to strides is tesela_xla_byte_strides. */

/// The order of the dims that dense byte strides say; strides of dims of 1 do not matter, nor do any without elements.
/// (XLA's ByteStridesIsMajorToMinor: and is it descending?)
///
/// Example: f32[2,3,5] with strides 60,4,12 -> {1,2,0}.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if they leave gaps, overlap or are negative: tesela_xla_strided reads those;
///         otherwise as tesela_xla_shape_make.
TESELA_API tesela_status tesela_xla_layout_from_byte_strides(tesela_xla_layout *layout, tesela_dtype dtype,
                                                             int32_t rank, const int64_t *dim,
                                                             const int64_t *byte_strides, tesela_error *err);
/// Any byte strides (PJRT_Buffer_MemoryLayout_Strides, NumPy) as a relation: places count elements from the lowest
/// address. Element 0, where the data pointer of such a buffer points, is at layout->axis[0].offset.
///
/// Example: f32[3,5] with strides -20,4: element (0,0) is at 10, (2,3) at 3.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for strides that are no multiples of the type's bytes; otherwise as
///         tesela_layout_strided.
TESELA_API tesela_status tesela_xla_strided(tesela_layout *layout, tesela_dtype dtype, int32_t rank,
                                            const int64_t *dim, const int64_t *byte_strides,
                                            tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
