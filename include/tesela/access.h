/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - the cost of moving a register tile to or from memory on a GPU (vectors, transactions, bank conflicts);
 * conversions between register layouts; kernels.
 *
 * A *tile access* is a register layout, a layout in memory of the same shape, and the width of an element. The block's
 * threads run in warps of `warp`; the last warp may be partial. An *instruction* moves one vector of each thread: the
 * elements at local ids v*k .. v*k + v-1, which must be at consecutive places from a multiple of v on. (So addresses
 * are multiples of the vector if the tile's is.) v divides the number of registers; a vector is 1, 2, 4, .. bytes, at
 * most max_vector_bytes, or one element of whole bytes of any width. Replicas are ordinary threads.
 *
 *   shared memory   `banks` banks of `bank_bytes`; a phase serves threads whose vectors together are at most banks *
 *                   bank_bytes: 32 threads up to 4 bytes, 16 at 8 bytes, 8 at 16 bytes. (In general min(warp, max(1,
 *                   banks * bank_bytes / vector bytes)) threads at a time, in order.) Its *wavefronts* are the largest
 *                   number of different words that one bank delivers; 1 means no conflicts. Threads that read the same
 *                   word share it. A vector over several words uses all their banks.
 *   global memory   sectors of `sector_bytes`: an instruction of a warp moves each sector it touches once.
 *
 * Sources: CUDA C++ Programming Guide, "Shared Memory" (banks) and "Device Memory Accesses"; PTX ISA, ldmatrix.
 * All results are exact for the given tile: each thread is simulated. Layouts must come from the functions of
 * register.h; they are not checked again. No function allocates; all may run in any number of threads. Stack: up to
 * 32 KiB. Tiles of up to TESELA_ACCESS_LIMIT threads times registers, beyond that TESELA_E_LIMIT; TESELA_E_OVERFLOW if
 * the memory has 2^63 bits or more.
 */
#ifndef TESELA_ACCESS_H
#define TESELA_ACCESS_H

#include <tesela/register.h>

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
  int64_t reserved[4];      ///< 0: room to grow (base.h)
} tesela_access_machine;

/// The widest vector that every thread can use for all of its registers.
typedef struct tesela_vector_width {
  int64_t elements;   ///< 1 also where bytes is 0
  int32_t bytes;      ///< of the vector; 0 if neither an element nor any vector has whole bytes
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

/// Total cost of all instructions of all warps of the block. Both kinds of numbers are filled, in any space.
typedef struct tesela_access_cost {
  int64_t vector_elements; ///< elements of a vector
  int32_t vector_bytes;
  int64_t instructions; ///< of one warp, summed over the warps
  int64_t phases;       ///< shared: phases, that is, wavefronts without conflicts
  int64_t wavefronts;   ///< shared: wavefronts
  int64_t
      worst; ///< shared: wavefronts of the worst phase, 1 without conflicts (more if one vector is wider than
             ///< all banks)
  int64_t conflicts;                                  ///< wavefronts - phases
  int64_t worst_warp, worst_instruction, worst_phase; ///< the first worst phase
  int64_t sectors;                                    ///< global: sectors moved
  int64_t least_sectors; ///< global: sectors if the bytes of each instruction were packed
  int64_t lines;         ///< global: lines touched, summed over the instructions
  int64_t reserved[4];   ///< 0: room to grow (base.h)
} tesela_access_cost;

/// Cost of a tile access with vectors of `vector` elements; 0: the widest (tesela_vector_width_of).
///
/// Example: column_spatial(32,1).local(1,32) of f32 - each thread a row - and shared_row_major(32,32), vector 1: all 32
/// threads want bank 0 at once, 32 wavefronts in each of 32 instructions; with a row pitch of 33 elements 1 in each.
///
/// @return TESELA_OK; TESELA_E_MISMATCH for other shapes; TESELA_E_INVALID for a vector that is not possible (the message
///         names the first thread and local id), or 0 if no vector has whole bytes; TESELA_E_RANGE for bits, a
///         machine out of range or a vector below 0; TESELA_E_LIMIT, TESELA_E_OVERFLOW. About 5 ns a vector of a thread.
TESELA_API tesela_status tesela_access_cost_of(const tesela_register *registers,
                                               const tesela_tile_memory *memory, int32_t bits, int64_t vector,
                                               const tesela_access_machine *machine, tesela_access_cost *cost,
                                               tesela_error *err);

/// The distribution of one phase over the banks, for pictures: words[b] is the number of different words of bank b.
///
/// Example: instruction 5 of the example above: words[5] is 32, the others are 0.
///
/// @param n_banks  room in words: at least the machine's banks; further entries are not changed
/// @return as tesela_access_cost_of; TESELA_E_RANGE also for n_banks, or a warp, instruction or phase out of range.
TESELA_API tesela_status tesela_access_banks(const tesela_register *registers,
                                             const tesela_tile_memory *memory, int32_t bits, int64_t vector,
                                             const tesela_access_machine *machine, int64_t warp,
                                             int64_t instruction, int64_t phase, int32_t n_banks,
                                             int32_t *words, tesela_error *err);

/* ---- ldmatrix and stmatrix ----------------------------------------------------------------------------- */

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
/// @param memory  the tile given to tesela_ldmatrix_of
/// @return TESELA_OK; TESELA_E_RANGE for a warp, k or lane out of range; TESELA_E_INVALID if `plan` does
///         not apply.
TESELA_API tesela_status tesela_ldmatrix_place(const tesela_ldmatrix *plan, const tesela_tile_memory *memory,
                                               int64_t warp, int32_t k, int32_t lane, int64_t *place,
                                               tesela_error *err);

/* ---- finding a layout in shared memory ----------------------------------------------------------------- */

/// One write or read of a tile.
typedef struct tesela_access_use {
  const tesela_register *registers;
  int64_t vector; ///< elements; 0: the widest that each candidate allows
  bool ldmatrix;  ///< by ldmatrix if it applies to a candidate (and the machine's warp is 32)
  int64_t weight; ///< number of times; 0 means 1
} tesela_access_use;

/// Result of the search.
typedef struct tesela_synthesis {
  tesela_tile_memory memory;
  int64_t wavefronts;   ///< summed over the uses, by weight
  int64_t instructions; ///< likewise
  /// A lower bound of wavefronts for any layout: for each use the phases of its instructions, with the vector width that
  /// needs fewest. If it is reached, no phase has conflicts.
  int64_t least;
  int64_t plain;      ///< wavefronts of shared_row_major; -1 if it does not allow the vectors of all uses
  int64_t candidates; ///< layouts compared: the family up to max_bytes
} tesela_synthesis;

/// Limits of the search. The cost of a use of a candidate is computed from the vectors that threads move, in one phase or in
/// all: a step is one vector, some ns; each use of a candidate adds 64 steps.
typedef struct tesela_synthesis_options {
  int64_t max_bytes;         ///< of the layout; 0: twice the tile
  int64_t max_steps;         ///< a search that needs more is an error; 0: TESELA_SYNTHESIS_STEPS
  tesela_progress *progress; ///< NULL: no calls; with steps, before each candidate
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
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
/// Rank 1 and 0 have one order, no blocks, no padding. shared_row_major_swizzle is in the family (P = 128 bytes), so the
/// result is never worse. Candidates that do not allow the vectors of all uses are excluded.
///
/// Ties: fewer instructions, then fewer bytes, then the earlier of: plain, swizzled, blocks, padded; then the given order of
/// the dims before the swapped one; then the smaller bits, base, shift, p, compared in this order.
///
/// Example: written in rows, spatial(1,32).local(32,1), and read in columns, spatial(32,1).local(1,32), f32, vector 1:
/// Swizzle(base=0, bits=5, shift=5), 64 wavefronts, which is the least; shared_row_major has 32 + 1024.
///
/// @param options  NULL: {0}
/// @return TESELA_OK; TESELA_E_MISMATCH if shapes differ; TESELA_E_RANGE for no uses, a weight, vector or limit below
///         0, bits or machine out of range; TESELA_E_INVALID if no candidate allows the vectors; TESELA_E_LIMIT, also if
///         max_bytes is less than the tile or the search needs more than max_steps; TESELA_E_STOPPED; TESELA_E_OVERFLOW for weights that are too large.
/// 128x128 in 128 threads: about 2 ms; extents other than powers of two: tens of ms.
TESELA_API tesela_status tesela_synthesize(int32_t n_uses, const tesela_access_use *uses, int32_t bits,
                                           const tesela_synthesis_options *options,
                                           const tesela_access_machine *machine, tesela_synthesis *found,
                                           tesela_error *err);

/*
 * ==== Conversion between register layouts: moves, shuffles, or shared memory
 *
 * dst and src are register layouts of one shape. Each register of each thread of dst must receive its element from some
 * register that holds it in src. The cheapest sufficient kind is chosen:
 *
 *   nothing   every register already holds its element
 *   permute   each thread has all it needs: registers move within a thread
 *   shuffle   each warp has all it needs: rounds of shfl.sync, in each of which a lane offers one word and receives one
 *   shared    units are written to shared memory, a barrier, and read, by a layout found for the two (access.h)
 *
 * Registers move in *units* of up to 32 bits: the elements that always move together between two threads, a power of
 * two of them. They need not be neighbours among the registers of a thread: from
 * column_local(2,2).spatial(8,4).local(1,2) of f16 to its transpose registers 0 and 2 move together, and words of such
 * pairs need half the rounds. An element of more than 32 bits is a unit of several words, and each round shuffles each
 * of them once.
 *
 * A word is a unit or, if units are narrower than 32 bits and this needs fewer rounds, several *parts*, each a unit.
 * Then rounds are grouped in *phases*: at the start of each a lane packs its words by byte permutes, from words of the
 * phase before or from units of src, and a unit may pass through other lanes. From local(32,1).spatial(1,32) to
 * spatial(32,1).local(1,32), f16, each lane needs one unit of each other lane: 31 rounds. In 8 rounds lane and lane ^ 1
 * exchange packed halves, then each has two units at a time for 16 lanes: 15 rounds more.
 *
 * least_rounds is a lower bound over all conversions in which a round is one 32-bit shuffle: every lane offers a
 * register made of any bits it has at that time, received bits included, and receives that of one lane. A conversion
 * with least_rounds rounds is minimal; for one with more rounds nothing is claimed.
 *
 * A thread moves units that it already has without a round. In a round several lanes may receive the offer of one lane.
 * Threads of the block that src or dst lacks have no registers on that side. The last warp of a block may have fewer
 * lanes; its shuffles name only those.
 *
 * A conversion owns memory (tables of a few bytes per register); it is immutable, and any number of threads may use it.
 */

typedef enum tesela_exchange_kind {
  TESELA_EXCHANGE_NOTHING,
  TESELA_EXCHANGE_PERMUTE,
  TESELA_EXCHANGE_SHUFFLE,
  TESELA_EXCHANGE_SHARED,
} tesela_exchange_kind;

typedef struct tesela_exchange tesela_exchange;

/// Facts about a conversion.
typedef struct tesela_exchange_facts {
  tesela_exchange_kind kind;
  int32_t bits;                 ///< of an element
  int64_t unit;                 ///< elements that move together
  int64_t words;                ///< 32-bit words of a unit: shfl.sync instructions of a round
  int64_t threads;              ///< of the block: the larger of both sides
  int64_t src_units, dst_units; ///< per thread
  int64_t rounds;               ///< shuffle: rounds, of the warp that needs most
  /// shuffle: a lower bound, from what lanes must receive, offer, and pass on (see above). Equal to rounds if units have 32 or
  /// 64 bits and dst has no element in two lanes of a warp
  int64_t least_rounds;
  int64_t moves;        ///< units that a thread moves inside itself, at most; 0 for nothing and shared
  int64_t shared_bytes; ///< shared: bytes of shared memory
  int64_t wavefronts;   ///< shared: of writing and reading (access.h), all threads of src counted
  int64_t parts;        ///< units that a word of a round has room for; 1 where words are units
  int64_t phases;       ///< shuffle: of the warp that has most; 1 where words are units
  int64_t permutes;     ///< byte permutes with which a lane packs words and takes units out of them, at most
  int64_t reserved[4];  ///< 0: room to grow (base.h)
} tesela_exchange_facts;

typedef struct tesela_exchange_options {
  int32_t warp;    ///< lanes; 0: 32; at most 64
  bool no_shuffle; ///< go through shared memory if registers alone are not enough
  bool no_shared;  ///< TESELA_E_UNSUPPORTED where registers and shuffles do not do
  /// Of the search for a layout in shared memory (access.h), or for shuffles: dst units times lanes squared, of each warp
  /// unlike those before; 0: TESELA_SYNTHESIS_STEPS.
  int64_t max_steps;
  tesela_progress *progress; ///< NULL: none; with steps, before each candidate or warp
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_exchange_options;

/// Create a conversion.
///
/// Example: local(2).spatial(32) to spatial(32).local(2) is a shuffle: thread t needs elements 2t and 2t + 1 of threads
/// 2t % 32 and (2t + 1) % 32, so 2 rounds; only threads 0 and 31 have one of theirs. spatial(64) to local(2).spatial(32)
/// is shared: element 32 is in warp 1, and warp 0 needs it.
///
/// @param bits     of an element, 1 to 128
/// @param options  NULL: {0}
/// @return TESELA_OK; TESELA_E_MISMATCH if the shapes differ; TESELA_E_RANGE for bits or options->warp out of range;
///         TESELA_E_LIMIT for more than TESELA_ACCESS_LIMIT registers of all threads, or a search of more than
///         max_steps; TESELA_E_UNSUPPORTED if options
///         leave no way; TESELA_E_STOPPED; TESELA_E_MEMORY.
///
/// O(registers) for the tables, and for each warp unlike those before it O(units taken * warp) for the rounds. Where units are
/// narrower than 32 bits and fewer rounds may do, some hundreds of ways to route units in phases are weighed, each in
/// O(units taken + warp^2); after 131072 registers of unlike warps the others are left with one unit a round.
TESELA_API tesela_status tesela_exchange_create(tesela_exchange **out, const tesela_register *dst,
                                                const tesela_register *src, int32_t bits,
                                                const tesela_exchange_options *options,
                                                const tesela_allocator *allocator, tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_exchange_destroy(tesela_exchange *plan);

TESELA_API tesela_exchange_facts tesela_exchange_facts_of(const tesela_exchange *plan);

/// The layout in shared memory of a conversion of kind SHARED; NULL for other kinds. Owned by the conversion.
TESELA_API const tesela_tile_memory *tesela_exchange_memory(const tesela_exchange *plan);

/// What `thread` does in a shuffle round: it offers word `offer` of the start of `phase` (-1: nothing that matters), takes from
/// thread `from` (of its own warp) and has that as word `into` of the end of the phase; into -1: it takes nothing, and
/// `from` is itself. Where facts.parts is 1, words are units, of src at the start and of dst at the end. A warp that
/// needs fewer rounds than others has nothing to do in the last ones; its phase is -1 then.
typedef struct tesela_exchange_step {
  int64_t thread, offer, from, into, phase;
} tesela_exchange_step;

/// TESELA_E_RANGE outside 0 .. rounds-1 and 0 .. threads-1.
TESELA_API tesela_status tesela_exchange_step_of(const tesela_exchange *plan, int64_t round, int64_t thread,
                                                 tesela_exchange_step *step, tesela_error *err);

/// A phase of the rounds of a warp. Where words are units, there is one, and its words are the units of src and of dst.
typedef struct tesela_exchange_phase {
  int64_t phases;               ///< of this warp; 0 where nothing is shuffled
  int64_t rounds;               ///< of the phase
  int64_t src_words, dst_words; ///< per thread, at its start and at its end
} tesela_exchange_phase;

/// Phase 0 always exists; its counts are 0 unless the conversion is a shuffle. TESELA_E_RANGE for a phase or thread out of range.
/// Example: of the transpose of 32 x 32 f16 above phase 0 has 8 rounds, phase 1 has 15, and both 16 words at either end.
TESELA_API tesela_status tesela_exchange_phase_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                                  tesela_exchange_phase *out, tesela_error *err);

/// The source of part k of a word at the start of a phase: part `*part` of word `*from` at the end of the phase before; in phase 0
/// `*from` is a unit of src, and `*part` 0. With `phase` the number of phases, `word` is a unit of dst and k is 0: the final source
/// of that unit. *from -1: nothing. Part k has the bits from k * unit * bits on. If words are units, it is the unit
/// itself. TESELA_E_RANGE for a phase, thread, word or part out of range.
TESELA_API tesela_status tesela_exchange_part_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                                 int64_t word, int64_t k, int64_t *from, int64_t *part,
                                                 tesela_error *err);

/// Which word of the start of a phase a thread keeps as `word` of its end; -1 if that word comes from another thread.
/// TESELA_E_RANGE for a phase, thread or word out of range.
TESELA_API tesela_status tesela_exchange_kept_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                                 int64_t word, int64_t *from, tesela_error *err);

/// Which register is element k of a unit: its local id in src, or in dst. Element k lies at bit k * bits of the word that
/// moves. Example: spatial(4).local(6) of f16 to itself: unit 1 is registers 2 and 3.
/// TESELA_E_RANGE for a unit or element out of range.
TESELA_API tesela_status tesela_exchange_register_of(const tesela_exchange *plan, bool of_src, int64_t unit,
                                                     int64_t k, int64_t *local, tesela_error *err);

/// Units that `thread` moves inside itself: dst unit `into` comes from its own src unit `*from`; -1 if it comes from
/// elsewhere, as all do through shared memory. TESELA_E_RANGE for a thread or unit outside dst.
TESELA_API tesela_status tesela_exchange_move_of(const tesela_exchange *plan, int64_t thread, int64_t into,
                                                 int64_t *from, tesela_error *err);

/// Run a conversion on the host, step by step as a GPU would: registers are arrays of bytes, thread after thread, each
/// element in ceil(bits / 8) bytes. dst has dst.local_size elements a thread, for each thread of dst; src likewise; they do
/// not overlap. A read of something that no step wrote, or a register of dst left out, is TESELA_E_INVALID: it would be a
/// fault of the library.
/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_exchange_run(const tesela_exchange *plan, void *dst, const void *src,
                                             const tesela_allocator *allocator, tesela_error *err);

/// Print the conversion, deterministic: the kind, the counts, each round with the pattern of its lanes if it has one
/// - "lane ^ 1", "(lane + 4) mod 32", or "2 ^ b0*1 ^ b3*4", where b3 is bit 3 of the lane - else a table.
/// TESELA_E_STOPPED.
TESELA_API tesela_status tesela_exchange_print(const tesela_exchange *plan, const tesela_writer *to,
                                               tesela_error *err);

/*
 * ==== Conversions and layouts as source code
 */

/// CUDA C++ of a conversion between register layouts, compilable by itself:
///
///   __device__ void NAME(T (&dst)[N], const T (&src)[M], void *shared);     the conversion
///   __global__ void NAME_kernel(T *dst, const T *src);                      loads src, converts, stores dst
///
/// T is an unsigned integer of the element's width (8, 16, 32 or 64 bits). The kernel's src and dst are as
/// tesela_exchange_run has them, so that the two can be compared bit by bit; one block of the conversion's threads, in
/// threadIdx.x. `shared` is NULL or shared_bytes of the facts, aligned to 16; no thread may still read it when NAME
/// begins, and all threads of the block call NAME together. Registers are indexed by constants only.
///
/// @param name  a C identifier of up to 100 characters
/// @return TESELA_OK; TESELA_E_INVALID for an invalid name; TESELA_E_UNSUPPORTED for other widths, a warp other than
///         32, and more than 1024 threads; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_codegen_exchange_cuda(const tesela_exchange *plan, const char *name,
                                                      const tesela_writer *to, tesela_error *err);

/// C of a register layout, compilable by itself, div and mod by constants only; `__host__ __device__` under CUDA:
///
///   int64_t NAME_thread(const int64_t *index, int64_t copy)             as tesela_register_get_spatial
///   int64_t NAME_local(const int64_t *index)                            as tesela_register_get_local
///   void NAME_index(int64_t thread, int64_t local, int64_t *index)      as tesela_register_get_global
///
/// They check nothing. @return TESELA_OK; TESELA_E_INVALID unless the name is a C identifier of up to 100 characters;
/// TESELA_E_STOPPED.
TESELA_API tesela_status tesela_codegen_register_c(const tesela_register *layout, const char *name,
                                                   const tesela_writer *to, tesela_error *err);

/*
 * ==== Layout inference for a kernel: layouts for all tensors, from those of some
 *
 * A kernel is a list of tensors - in registers, shared or global memory - and operations on them, as text, one per
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
 *   load ra, sa                           # the result first, then its operands
 *   load rb, sb
 *   dot acc, ra, rb, acc atom=mma.m16n8k16.f16 warps=[2, 2]
 *
 * Grammar (blanks between words are free; LF or CRLF; `#` to the end of the line is a comment):
 *
 *   program     = { [ statement ] newline }
 *   statement   = threads | declaration | operation
 *   threads     = "threads" INTEGER                            once, before everything else
 *   declaration = space NAME ":" TYPE "[" [ INTEGER { "," INTEGER } ] "]" [ "=" EXPRESSION ]
 *   space       = "register" | "shared" | "global"
 *   operation   = OPERATION NAME { "," NAME } { KEY "=" value }
 *   value       = "True" | "False" | "[" [ INTEGER { "," INTEGER } ] "]" | FRAGMENT
 *
 * NAME is a letter or _ and then letters, digits and _; TYPE a name of layout.h; EXPRESSION one of notation.h, up to
 * the end of the line; FRAGMENT a name of register.h without the operand ("mma.m16n8k16.f16"). Operations and their
 * keys are rows of one table, tesela_kernel_operations(). A tensor is a variable: it may be written and read any number
 * of times, and must be declared before.
 *
 * A layout in registers has exactly `threads` threads; a tile that fewer of them hold is replicated over the rest.
 *
 * tesela_kernel_program_infer gives layouts to tensors without one. Rules are tried level by level, in each level
 * operation by operation; each new layout restarts at level 1. So the result depends only on the text.
 *
 *   0  global memory is row-major
 *   1  the result of an operation whose operands of its shape are all known
 *   2  operands, from a known result
 *   3  dot: d is c and c is d; A and B from them; c and d from A, or from B
 *   4  the result, from one operand that holds each element once
 *   5  dot: c and d by the grid of warps that needs the fewest registers, or by warps=
 *   6  the result, from any operand of its shape
 *   7  loaded and stored tensors, most elements first: vectors of up to 16 bytes, distributed over the threads in turn
 *   8  convert: the layout of the other side, first the results of converts, then their operands
 *   9  tensors that 7 and 8 left: results of converts, then loads and stores, then operands of converts
 *  10  shared memory: the layout with the fewest bank conflicts for all loads and stores
 *
 * 7 and 8 leave a tensor to 9 if some operation that its layout reaches, by levels 1 to 6, has another tensor that
 * stays unknown: another rule may find that one, and the two might not fit. So a tensor that is reduced from a
 * converted one and then stored gets its layout from the convert, not from the store.
 *
 * Then every operation is checked: does each thread have, in its registers, the elements that it needs of each operand?
 * If not, the answer is a conflict in the terms of the kernel: operation, line, tensor, the layout it has and the one
 * it needs, the first thread and element that show it; and the cost of a `convert`, which would repair it. Loads,
 * stores and copies between memories are checked as in tesela_access_cost_of; a conflict has a layout of the memory
 * that works. (A copy goes through registers, in the layout that 7 gives to a load of its source or a store to its
 * result.)
 *
 * After a conflict that grids of level 5 are part of, other grids are tried, all that warps= can express, in up to
 * TESELA_KERNEL_GRIDS runs of the rules with TESELA_KERNEL_GRID_TENSORS tensors. The run that got furthest is changed
 * first, its last grid first, in the order of registers; the first run without a conflict is the result. docs/infer.md,
 * "Other warps", has the details.
 */

#define TESELA_KERNEL_TEXT 65536         ///< bytes of a kernel
#define TESELA_KERNEL_LINES 4096         ///< lines of a kernel
#define TESELA_KERNEL_TENSORS 1024       ///< tensors of a kernel
#define TESELA_KERNEL_NAME 63            ///< bytes of a tensor's name
#define TESELA_KERNEL_THREADS 65536      ///< threads of a kernel
#define TESELA_KERNEL_GRIDS 256          ///< runs of its rules with different grids of warps
#define TESELA_KERNEL_GRID_TENSORS 65536 ///< tensors of all those runs together

/// A kernel and the layouts known so far. Owns its memory; does not keep the text.
typedef struct tesela_kernel_program tesela_kernel_program;

typedef enum tesela_tensor_space {
  TESELA_TENSOR_REGISTER,
  TESELA_TENSOR_SHARED,
  TESELA_TENSOR_GLOBAL,
} tesela_tensor_space;

/// One tensor of a kernel. Pointers are owned by the kernel.
typedef struct tesela_tensor {
  const char *name;
  tesela_tensor_space space;
  tesela_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  bool given;                       ///< its layout is given in the text
  const tesela_register *registers; ///< NULL if it is not in registers, or unknown
  const tesela_tile_memory *memory; ///< NULL if it is in registers, or unknown
  const char *rule; ///< origin of its layout: "given", "line 12, dot: operand A of acc"; "" while unknown
  int64_t line;     ///< of its declaration, from 1
} tesela_tensor;

/// Read a kernel.
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
TESELA_API void tesela_kernel_program_destroy(tesela_kernel_program *program); ///< NULL is allowed

/// Infer all layouts and check all operations by the rules above. A second call has the same result.
///
/// @return TESELA_OK; TESELA_E_INVALID, reason CONFLICT: an operation cannot run on these layouts
///         (tesela_kernel_program_conflict); TESELA_E_UNSUPPORTED: some tensors cannot be known (the message names them);
///         TESELA_E_LIMIT where tesela_register_covers has one, and for elements of less than a byte in tiles beyond
///         TESELA_ACCESS_LIMIT; TESELA_E_OVERFLOW for memory of 2^63 bits; TESELA_E_MEMORY (err->at is -1).
///         err->at is the byte of the operation, or of the tensor. Layouts found so far stay readable.
TESELA_API tesela_status tesela_kernel_program_infer(tesela_kernel_program *program, tesela_error *err);

/// Threads of the block.
TESELA_API int64_t tesela_kernel_program_threads(const tesela_kernel_program *program);

/// The number of tensors, and tensor i in the order of the text; {.name = ""} for i out of range.
TESELA_API int32_t tesela_kernel_program_count(const tesela_kernel_program *program);
TESELA_API tesela_tensor tesela_kernel_program_tensor(const tesela_kernel_program *program, int32_t i);

/// Number of the tensor with this name, or -1. O(tensors).
TESELA_API int32_t tesela_kernel_program_find(const tesela_kernel_program *program, const char *name);

/// Facts about a conflict. `has` is the actual layout of the values of `tensor`, `needs` the required one. For an operand
/// `has` is its layout; for a result (`is_result`) `has` is the layout that the operation produces and `needs` is its
/// layout. If no modes express an operand's reshape, both are flattened to one dim.
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
  /// Then `tensor` is the one in memory, `memory` its layout, `other` the tensor that is moved, `has` and `needs` the registers it is
  /// moved from or to (of a copy: those that it would go through); no index and no conversion. `repairable`: the access works in
  /// the layout `would_do`; not repairable: it works in no layout, since the registers of a thread are not whole bytes together,
  /// or since the other side of a copy cannot be moved at all.
  bool is_access;
  bool would_do_for_all; ///< in it every other load, store and copy of `tensor` works, too
  tesela_tile_memory memory, would_do;
  /// Runs of the rules with different grids of warps, 1 where no grid has a part in the conflict. All that could have
  /// helped were tried unless `grids_left`.
  int64_t grids_tried;
  bool grids_left;
} tesela_kernel_conflict;

/// Owned by the kernel; found is false unless the last infer ended in a conflict.
TESELA_API const tesela_kernel_conflict *tesela_kernel_program_conflict(const tesela_kernel_program *program);

/// Print an aligned table: each tensor with its space, type and shape, the rule that gave its layout, and the layout ("?" if unknown);
/// then the cost of each convert; then the conflict, if any. Equal conversions are planned once; when plans have
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

/// All operations, sorted by name; *n receives their number. Static memory.
TESELA_API const tesela_kernel_operation *tesela_kernel_operations(int32_t *n);

#ifdef __cplusplus
}
#endif

#endif
