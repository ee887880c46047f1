/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - what moving a register tile to or from memory costs a GPU: vectors, transactions, bank conflicts.
 *
 * A *tile access* is a register layout, a layout in memory of the same shape, and the width of an element. The block's
 * threads run in warps of `warp`, the last one perhaps not full. An *instruction* moves one vector of each thread: the
 * elements at local ids v*k .. v*k + v-1, which must be at consecutive places from a multiple of v on. (So addresses are
 * multiples of the vector if the tile's is.) v divides the number of registers; a vector is 1, 2, 4, .. bytes, at most
 * max_vector_bytes, or one element of whole bytes, however wide. Replicas are threads like others.
 *
 *   shared memory   `banks` banks of `bank_bytes`; a phase serves threads whose vectors together are at most
 *                   banks * bank_bytes: 32 threads up to 4 bytes, 16 at 8 bytes, 8 at 16 bytes. (In general, at a
 *                   time, min(warp, max(1, banks * bank_bytes / vector bytes)) threads, in order.) Its *wavefronts* are
 *                   the largest number of different words that one bank has to deliver; 1 is free of conflicts.
 *                   Threads that want the same word share it. A vector over several words asks all their banks.
 *   global memory   sectors of `sector_bytes`: an instruction of a warp moves each sector it touches once.
 *
 * Sources: CUDA C++ Programming Guide, "Shared Memory" (banks) and "Device Memory Accesses"; PTX ISA, ldmatrix.
 * Everything here is exact for the given tile: it follows each thread, not a bound. Layouts must be what register.h and
 * tile_memory.h make; they are not checked again. No function allocates; all may run in any number of threads. Stack: up
 * to 32 KiB. Tiles of up to TESELA_ACCESS_LIMIT threads times registers, beyond that TESELA_E_LIMIT; TESELA_E_OVERFLOW if
 * the memory has 2^63 bits or more.
 */
#ifndef TESELA_ACCESS_H
#define TESELA_ACCESS_H

#include <tesela/tile_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_ACCESS_LIMIT (INT64_C(1) << 24) ///< registers of all threads together
#define TESELA_ACCESS_WARP 64                  ///< threads of a warp at most

/// A machine. A field of 0 means NVIDIA's: 32 threads, 32 banks of 4 bytes, sectors of 32, lines of 128, vectors of 16
/// bytes; so does NULL for the whole. TESELA_E_RANGE for a field outside its range.
typedef struct tesela_access_machine {
  int32_t warp;             ///< threads of a warp, up to TESELA_ACCESS_WARP
  int32_t banks;            ///< a power of two, up to 128
  int32_t bank_bytes;       ///< a power of two, up to 128
  int32_t sector_bytes;     ///< a power of two, up to 2^20
  int32_t line_bytes;       ///< a power of two, up to 2^20
  int32_t max_vector_bytes; ///< a power of two, up to 64
} tesela_access_machine;

/// The widest vector that every thread can use for all of its registers.
typedef struct tesela_vector_width {
  int64_t elements;   ///< 1 also where bytes is 0
  int32_t bytes;      ///< of the vector; 0 if an element is no whole bytes and no whole bytes go together
  int64_t per_thread; ///< registers over elements: instructions of one thread, if bytes is not 0
  int32_t dim;        ///< the dim the elements of a vector go along; -1 for one element or several dims
  /// The same if the compiler may rename registers, 32-bit ones whole: the widest v for which each thread's registers fall
  /// apart into sets of v whose places are v*n .. v*n + v-1, in whatever order of local ids; but with elements of 1 to 16
  /// bits each aligned group of min(v, 32 / bits) local ids must be a vector as it is. Example: column_local(2,4) of
  /// f32 and shared_row_major(2,4): 4, elements is 1; of f16 both are 1, since local ids 0 and 1 are in different rows.
  int64_t renamed_elements;
} tesela_vector_width;

/// Example: local(2,1).spatial(8,4).local(1,4) of f16 and shared_row_major(16,16): 4 elements, 8 bytes, 2 instructions.
///
/// @param bits  of an element, 1 to 128
/// @return TESELA_OK; TESELA_E_MISMATCH for other shapes; TESELA_E_RANGE for bits or machine out of range;
///         TESELA_E_LIMIT, TESELA_E_OVERFLOW. O(modes) for most tiles, else a few ns a register.
TESELA_API tesela_status tesela_vector_width_of(const tesela_register *registers,
                                                const tesela_tile_memory *memory, int32_t bits,
                                                const tesela_access_machine *machine,
                                                tesela_vector_width *width, tesela_error *err);

/// What all instructions of all warps of the block cost together. Both kinds of numbers are filled, whatever the space of
/// the tile.
typedef struct tesela_access_cost {
  int64_t vector_elements; ///< elements of a vector
  int32_t vector_bytes;
  int64_t instructions; ///< of one warp, summed over the warps
  int64_t phases;       ///< shared: phases, the wavefronts there would be without conflicts
  int64_t wavefronts;   ///< shared: wavefronts
  int64_t
      worst; ///< shared: wavefronts of the worst phase, 1 without conflicts (more if one vector is wider than
             ///< all banks)
  int64_t conflicts;                                  ///< wavefronts - phases
  int64_t worst_warp, worst_instruction, worst_phase; ///< where the worst phase is (the first such)
  int64_t sectors;                                    ///< global: sectors moved
  int64_t least_sectors; ///< global: sectors if the bytes each instruction needs were packed
  int64_t lines;         ///< global: lines touched, summed over the instructions
} tesela_access_cost;

/// Cost of a tile access with vectors of `vector` elements; 0: the widest (tesela_vector_width_of).
///
/// Example: column_spatial(32,1).local(1,32) of f32 - each thread a row - and shared_row_major(32,32), vector 1: all 32
/// threads want bank 0 at once, 32 wavefronts in each of 32 instructions; with a row pitch of 33 elements 1 in each.
///
/// @return TESELA_OK; TESELA_E_MISMATCH for other shapes; TESELA_E_INVALID for a vector that is not possible (the message
///         names the first thread and local id), or 0 where there is none of whole bytes; TESELA_E_RANGE for bits, a
///         machine out of range or a vector below 0; TESELA_E_LIMIT, TESELA_E_OVERFLOW. About 5 ns a vector of a thread.
TESELA_API tesela_status tesela_access_cost_of(const tesela_register *registers,
                                               const tesela_tile_memory *memory, int32_t bits, int64_t vector,
                                               const tesela_access_machine *machine, tesela_access_cost *cost,
                                               tesela_error *err);

/// How the threads of one phase fall on the banks, for pictures: words[b] is the number of different words of bank b.
///
/// Example: instruction 5 of the example above: words[5] is 32, the others are 0.
///
/// @param n_banks  room in words: at least the machine's banks; what is beyond them keeps its values
/// @return as tesela_access_cost_of; TESELA_E_RANGE also for a warp, instruction or phase that there is not, and n_banks.
TESELA_API tesela_status tesela_access_banks(const tesela_register *registers,
                                             const tesela_tile_memory *memory, int32_t bits, int64_t vector,
                                             const tesela_access_machine *machine, int64_t warp,
                                             int64_t instruction, int64_t phase, int32_t n_banks,
                                             int32_t *words, tesela_error *err);

/* ---- ldmatrix and stmatrix ------------------------------------------------------------------------------------------ */

/// How to fill a register tile with ldmatrix (or empty it with stmatrix).
typedef struct tesela_ldmatrix {
  bool applies;
  bool transposed;      ///< .trans
  int32_t tiles;        ///< per instruction: 1, 2 or 4 (x1, x2, x4)
  int32_t instructions; ///< of one warp
  int64_t warps;
  tesela_register quotient; ///< registers = quotient * atom: its threads are warps, its registers tiles
  tesela_access_cost
      cost;          ///< of the row reads: a phase is the 8 rows of a tile; nothing about sectors and lines
  char why_not[128]; ///< "" if it applies, else one line
} tesela_ldmatrix;

/// Does ldmatrix apply? The tile has rank 2 and is in shared memory; the register layout is right-divisible by an atom (1
/// byte spatial(8,4).local(1,4), 2 bytes spatial(8,4).local(1,2), 4 bytes spatial(8,4), 2 bytes transposed
/// column_spatial(4,8).local(2,1)), so that the trailing 32 thread ids are the lane; and each atom row is 16 consecutive
/// bytes at a multiple of 16. Machine: 32 banks of 4 bytes.
///
/// Example: local(8,8).spatial(8,4).local(1,2) of f16 in shared_row_major_swizzle(64,64,nbytes=2): 16 times x4, 64
/// phases, 64 wavefronts; in shared_row_major(64,64) 512.
///
/// @return TESELA_OK also if it does not apply; TESELA_E_MISMATCH for other shapes; TESELA_E_RANGE for bits outside 1..128;
///         TESELA_E_LIMIT, TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_ldmatrix_of(const tesela_register *registers,
                                            const tesela_tile_memory *memory, int32_t bits,
                                            tesela_ldmatrix *plan, tesela_error *err);

/// The place (in elements) whose address `lane` gives to instruction `k` of `warp`: row lane % 8 of tile lane / 8.
/// Lanes beyond 8 * tiles repeat.
/// @param memory  the one that the plan is for
/// @return TESELA_OK; TESELA_E_RANGE for a warp, k or lane that there is not; TESELA_E_INVALID for a plan that does not
///         apply.
TESELA_API tesela_status tesela_ldmatrix_place(const tesela_ldmatrix *plan, const tesela_tile_memory *memory,
                                               int64_t warp, int32_t k, int32_t lane, int64_t *place,
                                               tesela_error *err);

/* ---- finding a layout in shared memory --------------------------------------------------------------------------------- */

/// One way in which a tile is written or read.
typedef struct tesela_access_use {
  const tesela_register *registers;
  int64_t vector; ///< elements; 0: the widest that each candidate allows
  bool ldmatrix;  ///< by ldmatrix where it applies to a candidate (and the machine's warp is 32)
  int64_t weight; ///< how often; 0 counts as 1
} tesela_access_use;

/// What was found.
typedef struct tesela_synthesis {
  tesela_tile_memory memory;
  int64_t wavefronts;   ///< summed over the uses, by weight
  int64_t instructions; ///< likewise
  /// A lower bound of wavefronts, whatever the layout: for each use the phases of its instructions, with the width of
  /// vectors that needs fewest. No phase has conflicts if it is reached.
  int64_t least;
  int64_t plain;      ///< wavefronts of shared_row_major; -1 if it does not allow the vectors of all uses
  int64_t candidates; ///< layouts that were compared: the family as far as it fits in max_bytes
} tesela_synthesis;

/// Limits of the search. The cost of a use of a candidate is found by looking at the vectors that threads move, those of one
/// phase or of all: a step is one of them, some ns; a use of a candidate is 64 more.
typedef struct tesela_synthesis_options {
  int64_t max_bytes; ///< of the layout; 0: twice the tile
  int64_t max_steps; ///< a search that needs more is given up; 0: TESELA_SYNTHESIS_STEPS
} tesela_synthesis_options;
#define TESELA_SYNTHESIS_STEPS (INT64_C(1) << 26) ///< about half a second

/// The shared-memory layout of a tile with the fewest wavefronts for given uses. The family, with P = banks * bank_bytes:
///
///   orders    leading dims slowest, in order; the last two dims in either order. The fastest dim is called a row.
///   plain     compact
///   swizzled  compact, with a stage (base, bits, shift), shift >= bits >= 1, that stays inside the tile of n elements: n is
///             a multiple of 2^(base+bits); 2^(base+shift+bits-1) < n, else the last bit it reads would always be 0
///   blocks    rows cut in blocks of gcd(row, P / element) elements, if that is not the row; all rows of a block, then the
///             next block, then leading dims; without a stage and with each as above. Elements that P is a multiple of.
///   padded    each row followed by p elements: whole bytes, up to P; 1, 2, 3, .. elements where they are whole bytes
///
/// Rank 1 and 0 have one order, no blocks, no padding. shared_row_major_swizzle is in the family (P = 128 bytes), so
/// never better than what is found. A candidate that does not allow the vectors of all uses is left out.
///
/// Ties: fewer instructions, then fewer bytes, then the earlier of: plain, swizzled, blocks, padded; then the order of the
/// dims as they are before the last two swapped; then the smaller bits, base, shift, p, compared in this order.
///
/// Example: written in rows, spatial(1,32).local(32,1), and read in columns, spatial(32,1).local(1,32), f32, vector 1:
/// Swizzle(base=0, bits=5, shift=5), 64 wavefronts, which is the least; shared_row_major has 32 + 1024.
///
/// @param options  NULL: {0}
/// @return TESELA_OK; TESELA_E_MISMATCH if shapes differ; TESELA_E_RANGE for no uses, a weight, vector or limit below
///         0, bits or machine out of range; TESELA_E_INVALID if no candidate allows the vectors; TESELA_E_LIMIT, also if
///         max_bytes is less than the tile or the search needs more than max_steps; TESELA_E_OVERFLOW for weights too large. 128x128 in 128 threads: about 2 ms;
///         other extents than powers of two: tens of ms.
TESELA_API tesela_status tesela_synthesize(int32_t n_uses, const tesela_access_use *uses, int32_t bits,
                                           const tesela_synthesis_options *options,
                                           const tesela_access_machine *machine, tesela_synthesis *found,
                                           tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
