/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.h - tensors moved between host and device order, and between device layouts, at memory speed.
 *
 * A transfer is planned once and run often, by the engine of relayout.h. What is written and what is not:
 *
 *   to device   every element, converted to the device's type; padding by the fill policy, else untouched
 *   to host     every element of the host tensor, nothing between or around its elements
 *   device to device   every element; padding of dst by the fill policy
 *
 * Types are converted as tesela_transform_check has it. Integers that do not fit the narrower type (s64 to s32, and back
 * from s32 to a host's s8) stop the transfer with the first of them named, unless `lossy` is set.
 */
#ifndef TESELA_TRANSFER_H
#define TESELA_TRANSFER_H

#include <tesela/device.h>
#include <tesela/relayout.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What padding lanes of dst receive.
typedef enum tesela_pad {
  TESELA_PAD_LEAVE, ///< not written: garbage stays
  TESELA_PAD_ZERO,
  TESELA_PAD_MINUS_INF, ///< the least value of an integer type
  TESELA_PAD_PLUS_INF,  ///< the greatest value of an integer type
  TESELA_PAD_VALUE,     ///< options->value
} tesela_pad;

typedef struct tesela_transfer_options {
  tesela_pad pad;
  double value;    ///< TESELA_PAD_VALUE: rounded to dst's type; refused if it is out of its range
  bool lossy;      ///< values that dst's type cannot hold: integers keep their low bits
  int32_t threads; ///< as tesela_plan_options
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the transfer
} tesela_transfer_options;

typedef struct tesela_transfer tesela_transfer;

/// Host to device.
///
/// Example: f16[1000,200] to spyre's default layout, TESELA_PAD_ZERO: 400000 bytes read, 512000 written, and device places
/// 192008 to 192063 are zeros.
///
/// @param host_strides, host_offset  of the host tensor, in elements; NULL: row-major
/// @param layout  a right one (tesela_device_with_stick, .., tesela_device_parse), not changed by hand
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for a conversion, or a padding value, that the device's type has not; TESELA_E_RANGE for a
///         host tensor that reaches below its element offset 0, a padding value out of range, a pad or a number of threads that
///         is none; TESELA_E_OVERFLOW for host places beyond int64; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_transfer_to_device(tesela_transfer **out, const tesela_device_layout *layout,
                                                   const int64_t *host_strides, int64_t host_offset,
                                                   const tesela_transfer_options *options, tesela_error *err);

/// Device to host: restores exactly what to_device moved, and writes nothing outside the host tensor's elements; pad is ignored.
///
/// Example: f16[1000,200] from spyre's default layout: 400000 bytes written, whatever lies in the padding.
/// @return as tesela_transfer_to_device; TESELA_E_UNSUPPORTED also for host elements that share a place (stride 0).
TESELA_API tesela_status tesela_transfer_to_host(tesela_transfer **out, const tesela_device_layout *layout,
                                                 const int64_t *host_strides, int64_t host_offset,
                                                 const tesela_transfer_options *options, tesela_error *err);

/// Between two layouts of one host shape: restickify, spread (dense to one element per stick), compact (the reverse), padding
/// changed, types converted.
///
/// Example: f16[128,128] of spyre from stick dim 1 to stick dim 0: 32768 bytes read and written.
/// @return as tesela_transfer_to_device; TESELA_E_MISMATCH if the shapes differ.
TESELA_API tesela_status tesela_transfer_between(tesela_transfer **out, const tesela_device_layout *dst,
                                                 const tesela_device_layout *src,
                                                 const tesela_transfer_options *options, tesela_error *err);

/// NULL is fine.
TESELA_API void tesela_transfer_destroy(tesela_transfer *transfer);

/// Run. dst and src may overlap in any way, the same address included: then the result is as if src had been copied away
/// first (memory for that is taken and released, TESELA_E_MEMORY). `src` and `dst` are addresses of device place 0, or of
/// host element offset 0. Progress is called while elements are copied, not while integers are looked through before.
/// @return TESELA_OK; TESELA_E_RANGE for a value that does not fit (dst is untouched then); TESELA_E_STOPPED; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_transfer_run(const tesela_transfer *transfer, void *dst, const void *src,
                                             const tesela_run_options *options, tesela_error *err);

/// What a transfer moves.
typedef struct tesela_transfer_facts {
  int64_t elements;
  int64_t bytes_read, bytes_written; ///< padding that is filled included
  int64_t src_bytes, dst_bytes;      ///< from place 0 to the last place that may be read or written
  tesela_plan_info plan;
} tesela_transfer_facts;
/// The figures of a transfer; known when it is made.
TESELA_API tesela_transfer_facts tesela_transfer_facts_of(const tesela_transfer *transfer);

/// The first element of a dump of device memory that is not what the host tensor says.
typedef struct tesela_misplaced {
  bool same;                       ///< every element is where it belongs
  int64_t n_different;             ///< elements that are not
  int64_t index[TESELA_MAX_RANK];  ///< the first one, row-major
  int64_t place;                   ///< where it belongs
  uint8_t expected[16], found[16]; ///< bits in the device's type, in the first bytes
  bool is_padding_value;           ///< `found` is all zero bits, as cleared memory and zeroed padding are
  bool have_source;                ///< another element with the bits of `found` is known
  int64_t source[TESELA_MAX_RANK]; ///< the first host element, row-major, whose value lies there instead
} tesela_misplaced;

/// Verify a dump: `dump` holds `dump_bytes` bytes of device memory from place 0 on, `host` the tensor. Padding does not count;
/// of integers that the device's type cannot hold the low bits are expected.
///
/// Example: two rows of f16[6,100] swapped in the dump: n_different 200, and `source` of the first is the same column of the
/// other row, unless an equal value stands before it.
///
/// @return TESELA_OK; TESELA_E_RANGE if the dump is shorter than the layout; as tesela_transfer_to_device; TESELA_E_MEMORY: it
///         takes the tensor's elements once more, in the device's type. O(elements).
TESELA_API tesela_status tesela_transfer_verify(const tesela_device_layout *layout, const void *dump,
                                                int64_t dump_bytes, const int64_t *host_strides,
                                                int64_t host_offset, const void *host,
                                                tesela_misplaced *misplaced,
                                                const tesela_allocator *allocator, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
