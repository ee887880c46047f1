/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma.h - transfers between a host tensor and a device layout as loop nests, for engines that move blocks.
 *
 * A *nest* moves host_offset + sum i*host_stride <-> device_offset + sum i*device_stride for all i below its ranges. The
 * nests of a transfer are disjoint and cover exactly the elements that exist; a device place is never named twice.
 *
 *   f16[1000,200], sticks along dim 1            ranges        device strides   host strides    device, host offset
 *     whole sticks                              3, 1000, 64    64000, 64, 1     64, 200, 1            0,      0
 *     the last of each row has 8 of 64 lanes    1, 1000,  8    64000, 64, 1     64, 200, 1       192000,    192
 *
 * Ranges, device strides, host strides of the first nest are the RFC's three tuples. Everything counts elements but where a name
 * says bytes. The host tensor has any strides: permuted, gapped, 0 (broadcast), negative. Host strides of a block are
 * step * the actual stride of its dim, never a product of sizes.
 *
 * Two forms. In *plain* form a nest has one loop per device dim, in the order of the device dims. In *merged* form (the default)
 * device dims that continue each other on both sides are one before anything is cut, loops of one iteration are gone, and
 * loops stand by decreasing device stride. In plain form each loop runs over a range of its dim's digits. In merged form nests may
 * have any strides; those whose union is a nest are one. f16[200] is one merged nest of 200, two plain ones of 3x64 and 1x8.
 *
 * Source: RFC, section Padded tensors; the greedy split of nested, uneven tiles is device.h's.
 */
#ifndef TESELA_DMA_H
#define TESELA_DMA_H

#include <tesela/device.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_DMA_NESTS \
  (1 << 16) ///< of a transfer at most, unless its limits have a max_nests; that counts up to 2^20

/// One loop nest, outermost loop first. n may be 0: one element.
typedef struct tesela_nest {
  int32_t n;
  int64_t device_offset, host_offset;
  int64_t range[TESELA_DEVICE_DIMS];
  int64_t device_stride[TESELA_DEVICE_DIMS];
  int64_t host_stride[TESELA_DEVICE_DIMS]; ///< 0 for loops over padding (tesela_dma_options.padding)
} tesela_nest;

typedef enum tesela_dma_direction {
  TESELA_DMA_TO_DEVICE, ///< replicated dims: every copy is written
  TESELA_DMA_TO_HOST, ///< replicated dims: the first copy is read; host elements that share a place are refused
} tesela_dma_direction;

typedef struct tesela_dma_options {
  tesela_dma_direction direction;
  bool plain;           ///< one loop per device dim (limits may split loops, and drop those of one iteration)
  bool innermost_first; ///< loops of each nest in the other order, as engines list them
  bool padding;         ///< nests over the places that hold no element instead: what a fill writes;
                        ///< the host and the direction do not matter; in plain form a last loop over single
                        ///< places comes behind those of the device dims where strides leave some free
  const tesela_dma_limits *limits;     ///< NULL: none; otherwise nests are cut until each keeps them
  const int64_t *box_start, *box_size; ///< only these elements, rank numbers each; NULL: all
  const tesela_allocator *allocator;   ///< NULL: malloc and free; must outlive the nests
} tesela_dma_options;

/// What a list of nests is, in numbers.
typedef struct tesela_dma_facts {
  int32_t n_nests;
  /// No list of nests has fewer, whatever strides they have, loops by decreasing device stride, each within the limits. It is
  /// n_nests where a transfer of at most 64 elements (or places) had all lists tried; 2 where the elements are not their own
  /// mirror image, as those of a nest are; otherwise 1.
  int32_t bound;
  /// No list has fewer whose loops run over ranges of digits (of device dims; in merged form those that continue each other on both
  /// sides are one): there are so many elements of which no two fit into one such nest, or all such lists were tried. Other
  /// nests may be fewer: n_nests may be below this number.
  int32_t digit_bound;
  int64_t elements; ///< moved, each copy counted; or places of padding
  int64_t bursts;   ///< runs of neighbours on the device while the innermost loops run, over all nests: loops
                    ///< are one run as long as each steps by what those inside it span, and max_burst is kept
  int64_t burst_bytes; ///< bytes of a burst on average, rounded down; 0 without bursts
  int64_t least_burst_bytes, most_burst_bytes;
} tesela_dma_facts;

typedef struct tesela_dma tesela_dma;

/// The nests of a transfer.
///
/// Example: f16[1000,200] above: two nests, bound 2. f16[200], one row of sticks: one merged nest of 200 (both sides are
/// contiguous), two plain ones. Columns 60 to 129 of f16[10,200]: 3 nests, digit_bound 3, bound 2.
///
/// @param host_strides  of the host tensor, rank numbers; NULL: row-major
/// @param host_offset   of element 0
/// @param options       NULL: all zeros
/// @return TESELA_OK, also without elements (no nests); TESELA_E_UNSUPPORTED if a limit cannot be met: the message names it, and
///         says what would do; if two elements have the same device place; to host, if two share a place on the host;
///         if strides interleave so much that either is not settled by a bounded search, or the padding cannot be told;
///         for a box of padding; TESELA_E_INVALID for a layout with a coordinate, or an element, that has no place;
///         TESELA_E_RANGE for a box outside the shape, a limit below 0, a field of the layout out of its range;
///         TESELA_E_LIMIT for more than TESELA_DMA_NESTS nests without max_nests, 2^20
///         with it, or padding around more than 4096; TESELA_E_OVERFLOW; TESELA_E_MEMORY.
/// O(nests), not of elements; up to 2^16 steps more per host dim where the least count is not at hand. At most 768 nests are
/// compared pair by pair to join them; of at most 64 elements 2^16 steps try lists, and limits refuse only if no list keeps them.
TESELA_API tesela_status tesela_dma_create(tesela_dma **out, const tesela_device_layout *layout,
                                           const int64_t *host_strides, int64_t host_offset,
                                           const tesela_dma_options *options, tesela_error *err);
/// NULL is fine.
TESELA_API void tesela_dma_destroy(tesela_dma *dma);
TESELA_API tesela_dma_facts tesela_dma_facts_of(const tesela_dma *dma);
/// Nest k, 0 <= k < n_nests: the one with the most elements, then the others in the order of their host elements, host dim 0
/// slowest (padding: by places). NULL outside. Belongs to the list.
TESELA_API const tesela_nest *tesela_dma_nest(const tesela_dma *dma, int32_t k);

/// Print nests as source text, the RFC's loops: one `for` per loop, the move in the middle. Deterministic.
///
///   for (i0 = 0; i0 < 3; i0++)
///     for (i1 = 0; i1 < 1000; i1++)
///       for (i2 = 0; i2 < 64; i2++)
///         device[i0 * 64000 + i1 * 64 + i2] = host[i0 * 64 + i1 * 200 + i2];
///
/// To host the sides are swapped; padding is `device[..] = fill;`. The outermost loop is i0 also if nests list it last.
/// @return TESELA_OK; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_dma_print(const tesela_dma *dma, const tesela_writer *to, tesela_error *err);

/// Print one nest as the RFC's three tuples: ((4, 1024, 64), (65536, 64, 1), (64, 256, 1)). Tuples of one number end in a
/// comma; offsets are not part of them. The order is ranges, device strides, host strides, as in the RFC's example (its prose
/// names host strides second).
TESELA_API tesela_status tesela_dma_print_tuples(const tesela_nest *nest, const tesela_writer *to,
                                                 tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
