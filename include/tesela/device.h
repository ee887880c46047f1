/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the layout of a tensor in the memory of a device whose unit is the stick.
 *
 * A device layout is a list of *device dims*, outermost first. Each is (host dim, step, extent): its digit counts steps of
 * `step` elements along that host dim. A host coordinate is split greedily: largest step first, on equal steps the outer device
 * dim first; a device dim of extent 1 takes no digit, whatever its step. What no host coordinate reaches is padding. The last `stick_dims` device dims are the lanes of a stick.
 *
 *   f16[1000,200], sticks of 128 bytes (64 lanes) along dim 1, rows outside:
 *
 *     device dim   host dim   step   extent   device stride
 *     0               1        64       4       64000          blocks of 64 columns: 200 need 4, the last has 8
 *     1               0         1    1000          64          rows
 *     2               1         1      64           1          lanes
 *
 *   element (2,70): 70 is block 1, lane 6: place 64000 + 2*64 + 6 = 64134. 256000 places, 56000 of them padding.
 *
 * A device dim without a host dim is *synthetic* (only digit 0 holds data: one element per stick has lanes of that kind) or
 * *replicated* (each digit holds the same element). Every question of layout.h is answered by tesela_device_to_layout.
 * Offsets, strides, steps and extents count elements, never bytes.
 *
 * Source: PyTorch RFC "Tensors with device-specific layouts", sections Contiguous tiles and Padded tensors.
 * A tesela_device_layout is a plain value; no function here allocates; any thread.
 */
#ifndef TESELA_DEVICE_H
#define TESELA_DEVICE_H

#include <tesela/layout.h>
#include <tesela/target.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_DEVICE_DIMS 48      ///< device dims of a layout
#define TESELA_DIM_SYNTHETIC (-1)  ///< tesela_device_dim.dim: only digit 0 holds data
#define TESELA_DIM_REPLICATED (-2) ///< tesela_device_dim.dim: every digit holds the same element
#define TESELA_STICK_SPARSE (-1)   ///< in place of a stick dim: one element per stick

typedef struct tesela_device_dim {
  int64_t extent; ///< digits 0 .. extent-1, padding included
  int64_t step;   ///< host elements per digit along `dim`, >= 1; 0 without a host dim
  int64_t stride; ///< places per digit
  int32_t dim;    ///< host dim; TESELA_DIM_SYNTHETIC or TESELA_DIM_REPLICATED
} tesela_device_dim;

/* symbol, value, name as it is printed, meaning */
#define TESELA_STICK_FORMAT_MAP(X)                                                 \
  X(TESELA_STICKS_DENSE, 0, "Dense", "lanes hold neighbours along the stick dims") \
  X(TESELA_STICKS_SPARSE, 1, "Sparse", "one element per stick, in lane 0")         \
  X(TESELA_STICKS_PAIR, 2, "SparseMulti", "two elements per stick, in lanes 0 and 1")

typedef enum tesela_stick_format {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_STICK_FORMAT_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_stick_format;

/// What a device layout is made for: a host tensor's shape and type, and the sticks.
typedef struct tesela_device_host {
  tesela_dtype dtype;        ///< on the host; TESELA_DTYPE_NONE: only widths are known
  tesela_dtype device_dtype; ///< on the device
  int32_t bits;              ///< of an element on the host
  int32_t device_bits;       ///< of an element on the device, a multiple of 8
  int64_t stick_bytes;       ///< a multiple of device_bits / 8
  int32_t rank;
  int64_t shape[TESELA_MAX_RANK];
} tesela_device_host;

typedef struct tesela_device_layout {
  tesela_device_host host;
  tesela_stick_format format;
  int32_t n_dims;     ///< device dims
  int32_t stick_dims; ///< how many of the last ones make up a stick, >= 1
  int64_t lanes;      ///< stick_bytes * 8 / device_bits
  int64_t places;     ///< device elements in all: gaps and padding included
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
} tesela_device_layout;

/// The host side of a tensor on a target. Example: spyre, TESELA_S64, [1000,200]: device type s32, 32 bits.
/// @return TESELA_OK; TESELA_E_LIMIT for a rank above the target's; TESELA_E_RANGE for a negative extent;
///         TESELA_E_UNSUPPORTED for a type the target has not; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_host_of(tesela_device_host *host, const tesela_target *target,
                                               tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                               tesela_error *err);

/* ---- making one ------------------------------------------------------------------------------------------------ */

/// Padding of dims beyond the next multiple: extents at least. Zeros: none.
typedef struct tesela_device_padding {
  int64_t
      to[TESELA_MAX_RANK]; ///< host dim d is laid out as if it had max(shape[d], to[d]) elements; 0: as it is
} tesela_device_padding;

/// A layout from an order of dims: the host dims in `dim_order`, the last one in sticks. A last entry TESELA_STICK_SPARSE
/// behind all dims makes one element per stick. How the dims are arranged is `order`; rank 0 is one stick.
///
/// Example: f16[1000,200], dim_order {0,1}, generic: the layout at the top of this file.
/// Example: f16[256], dim_order {0,-1}, generic: extents 1, 256, 64, the first and last synthetic.
///
/// @param n        host->rank, or host->rank + 1 if the last entry is TESELA_STICK_SPARSE
/// @param target   TESELA_ORDER_TILES takes its tiles from here; may be NULL for the other orders
/// @param padding  NULL: none
/// @return TESELA_OK; TESELA_E_INVALID if dim_order repeats or lacks a dim, or tiles do not fit the sticks; TESELA_E_RANGE;
///         TESELA_E_LIMIT for more than TESELA_DEVICE_DIMS; TESELA_E_OVERFLOW if places exceed int64.
TESELA_API tesela_status tesela_device_from_order(tesela_device_layout *layout,
                                                  const tesela_device_host *host, tesela_order order,
                                                  const tesela_target *target, int32_t n,
                                                  const int32_t *dim_order,
                                                  const tesela_device_padding *padding, tesela_error *err);

/// The target's default layout: its order, dims 0 .. rank-1.
/// Example: spyre, f16[6,100,150]: extents 100, 3, 6, 64 of host dims 1, 2, 0, 2.
TESELA_API tesela_status tesela_device_default(tesela_device_layout *layout, const tesela_target *target,
                                               tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                               tesela_error *err);

/// The target's layout with `stick` as stick dim and the others in host order; TESELA_STICK_SPARSE: one element per stick.
/// This is the family of layouts a program's tensors choose from (propagate.h). TESELA_E_UNSUPPORTED for one element per
/// stick where the target has none; rank 0 takes TESELA_STICK_SPARSE only.
TESELA_API tesela_status tesela_device_with_stick(tesela_device_layout *layout,
                                                  const tesela_device_host *host, const tesela_target *target,
                                                  int32_t stick, tesela_error *err);

/// A layout from its device dims. `stride` of each is taken if `strided`, else row-major over the extents.
///
/// Example: f32[33,40] with dims {1,2,20} {0,16,3} {1,1,2} {0,1,16} (host dim, step, extent) and stick_dims 2: sticks of 2 x 16.
///
/// @return TESELA_OK; TESELA_E_INVALID with the smallest coordinate that has no place if a device dim is too small for its host
///         dim, if the last `stick_dims` extents do not multiply to the lanes, strides let two elements meet (`strided`),
///         or a host dim above 1 is in no device dim; TESELA_E_RANGE for an extent below 0, a step below 1, a host dim that is
///         none; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_from_dims(tesela_device_layout *layout, const tesela_device_host *host,
                                                 int32_t n_dims, const tesela_device_dim *dims, bool strided,
                                                 int32_t stick_dims, tesela_error *err);

/// A layout from device sizes and the host elements that each device dim steps over: step * host stride of the owner; -1 without
/// a host dim or for a host dim of 1, 0 for a replicated one (or a host dim of stride 0, if that reads consistently).
///
/// Example: device_size {4,1000,64}, stride_map {64,200,1} for f16[1000,200] with strides {200,1}: the layout at the top.
///
/// @param host_strides  NULL: row-major
/// @return as tesela_device_from_dims; TESELA_E_INVALID if no host dims and steps fit; TESELA_E_UNSUPPORTED if several fit that
///         place elements differently: the message names two.
TESELA_API tesela_status tesela_device_from_stride_map(tesela_device_layout *layout,
                                                       const tesela_device_host *host,
                                                       const int64_t *host_strides, int32_t n_dims,
                                                       const int64_t *device_size, const int64_t *stride_map,
                                                       tesela_error *err);

/// The same sort of layout with other sticks: the places of the stick dim and of `dim` in the order are swapped
/// (restickify). Example: f16[1000,200] in sticks along 1, dim 0: extents 16, 200, 64 of host dims 0, 1, 0.
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED for a layout with several stick dims or other than two digits a stick;
///         TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_restick(tesela_device_layout *layout, const tesela_device_layout *from,
                                               int32_t dim, tesela_error *err);

/// The structure of a layout for a host tensor of other extents: the device dim of the largest step of each host dim takes as many
/// digits as it needs, all else stays. For shapes that are known at run time only: one structure, sizes bound late.
/// Example: f16[1000,200] in sticks along 1, for [7,65]: extents 2, 7, 64.
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_INVALID if the digits below have no room (a stick of a dim that has one digit
///         only); TESELA_E_UNSUPPORTED for strides that are not row-major; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_rebind(tesela_device_layout *layout, const tesela_device_layout *from,
                                              const int64_t *shape, tesela_error *err);

/// Say what sort of sticks these are: constructors say dense or sparse. TESELA_STICKS_PAIR is for lanes that hold at most two
/// elements. Example: f16[1000,2] in sticks along dim 1: TESELA_STICKS_PAIR, 2 of 64 lanes used.
/// TESELA_E_INVALID if the lanes do not say so.
TESELA_API tesela_status tesela_device_set_format(tesela_device_layout *layout, tesela_stick_format format,
                                                  tesela_error *err);

/* ---- reading one ------------------------------------------------------------------------------------------------ */

/// As a layout of the core: one axis "memory" of `places` elements of device_bits, type device_dtype.
/// Two device layouts are the same relation if tesela_layout_compare says so of these.
/// @return TESELA_OK; TESELA_E_LIMIT, TESELA_E_OVERFLOW as layout.h has them.
TESELA_API tesela_status tesela_device_to_layout(const tesela_device_layout *layout, tesela_layout *out,
                                                 tesela_error *err);

/// Sizes. Example: f16[1000,200]: 256000 places, 512000 bytes, 56000 padding; allocation 512000.
typedef struct tesela_device_sizes {
  int64_t elements;     ///< of the host tensor
  int64_t places;       ///< device elements
  int64_t padding;      ///< places that hold no element
  int64_t sticks;       ///< places / lanes, rounded up
  int64_t device_bytes; ///< places * device_bits / 8
  int64_t host_bytes;   ///< elements * bits / 8
  int64_t
      allocation_bytes; ///< device_bytes rounded up to the target's alignment, at least host_bytes if it keeps those
} tesela_device_sizes;

/// @param target  NULL: allocation_bytes is device_bytes
TESELA_API tesela_status tesela_device_sizes_of(const tesela_device_layout *layout,
                                                const tesela_target *target, tesela_device_sizes *sizes,
                                                tesela_error *err);

/// Host elements per digit of each device dim: step * host stride of its dim; -1 for a synthetic dim and a host dim of 1, 0 for a
/// replicated one. `host_strides` NULL: row-major. TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_stride_map(const tesela_device_layout *layout,
                                                  const int64_t *host_strides,
                                                  int64_t stride_map[TESELA_DEVICE_DIMS], tesela_error *err);

/// Are all fields equal? Two layouts that are not may still be the same relation.
/// Example: {0,1} and {1,0} of f16[512,256]: not equal.
TESELA_API bool tesela_device_equal(const tesela_device_layout *a, const tesela_device_layout *b);

/// The host dim in the lanes: with one stick dim, its host dim; TESELA_STICK_SPARSE for one element per stick.
/// -2 if several host dims share a stick.
TESELA_API int32_t tesela_device_stick(const tesela_device_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
