/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - turning one register layout into another: a plan of moves, shuffles, or a trip through shared memory.
 *
 * dst and src are register layouts of one shape. Each register of each thread of dst must receive its element from some
 * register that holds it in src. What is needed at least decides the kind:
 *
 *   nothing   every register holds its element already
 *   permute   each thread has all it needs: registers move within a thread
 *   shuffle   each warp has all it needs: rounds of shfl.sync, in each of which a lane offers one word and takes one
 *   shared    units are written to shared memory, a barrier, and read, by a layout found for the two (access.h)
 *
 * Registers move in *units* of up to 32 bits: as many elements as always go from one thread to one thread together, a power
 * of two of them. They need not be neighbours among the registers of a thread: of column_local(2,2).spatial(8,4).local(1,2)
 * of f16 and its transpose, registers 0 and 2 go together, and words made of such pairs take half the rounds. An element of
 * more than 32 bits is a unit of several words, and each round shuffles each of them once.
 *
 * A word is a unit, or where units are narrower than 32 bits and that takes fewer rounds, several *parts*, each a unit. Then
 * rounds come in *phases*: at the start of each a lane packs its words by byte permutes, from words of the phase before or from
 * units of src, and a unit may go by way of other lanes. Of local(32,1).spatial(1,32) to spatial(32,1).local(1,32), f16, each lane
 * needs one unit of each other lane: 31 rounds. In 8 rounds lane and lane ^ 1 exchange packed halves, then each has two units
 * at a time for 16 lanes: 15 rounds more.
 *
 * Fewest means: of all plans in which a round is one 32-bit shuffle; every lane offers a register made of any bits it has by
 * then, also of what others gave it, and takes that of one lane. A plan is of fewest rounds if it has least_rounds; that
 * is a lower bound, and where the plan has more rounds, nothing is said.
 *
 * A unit that a thread has already it moves itself, in no round. In a round several lanes may take what one offers. Threads
 * of the block that src or dst lacks have no registers on that side. The last warp of a block may have fewer lanes: its
 * shuffles name those.
 *
 * A plan owns memory (tables of a few bytes a register); it is immutable and shared between threads as one likes.
 */
#ifndef TESELA_EXCHANGE_H
#define TESELA_EXCHANGE_H

#include <tesela/access.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tesela_exchange_kind {
  TESELA_EXCHANGE_NOTHING,
  TESELA_EXCHANGE_PERMUTE,
  TESELA_EXCHANGE_SHUFFLE,
  TESELA_EXCHANGE_SHARED,
} tesela_exchange_kind;

typedef struct tesela_exchange tesela_exchange;

/// What a plan is, in numbers.
typedef struct tesela_exchange_facts {
  tesela_exchange_kind kind;
  int32_t bits;                 ///< of an element
  int64_t unit;                 ///< elements that move together
  int64_t words;                ///< 32-bit words of a unit: shfl.sync instructions of a round
  int64_t threads;              ///< of the block: the larger of both sides
  int64_t src_units, dst_units; ///< per thread
  int64_t rounds;               ///< shuffle: rounds, of the warp that needs most
  /// shuffle: no plan has fewer, by what lanes must take, must offer, and must take for others (see above). Equal to rounds where
  /// units have 32 bits or 64, and dst has no element in two lanes of a warp
  int64_t least_rounds;
  int64_t moves;        ///< units that a thread moves inside itself, at most; 0 for nothing and shared
  int64_t shared_bytes; ///< shared: bytes of shared memory
  int64_t wavefronts;   ///< shared: of writing and reading (access.h), all threads of src counted
  int64_t parts;        ///< units that a word of a round has room for; 1 where words are units
  int64_t phases;       ///< shuffle: of the warp that has most; 1 where words are units
  int64_t permutes;     ///< byte permutes with which a lane packs words and takes units out of them, at most
} tesela_exchange_facts;

typedef struct tesela_exchange_options {
  int32_t warp;    ///< lanes; 0: 32; at most 64
  bool no_shuffle; ///< go through shared memory where registers alone do not do
  bool no_shared;  ///< TESELA_E_UNSUPPORTED where registers and shuffles do not do
  /// Of the search for a layout in shared memory (access.h), or for shuffles: dst units times lanes squared, of each warp
  /// unlike those before; 0: TESELA_SYNTHESIS_STEPS.
  int64_t max_steps;
} tesela_exchange_options;

/// Plan a conversion.
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
///         leave no way; TESELA_E_MEMORY.
///
/// O(registers) for the tables, and for each warp unlike those before it O(units taken * warp) for the rounds. Where units are
/// narrower than 32 bits and fewer rounds may do, some hundreds of ways to route units in phases are weighed, each in
/// O(units taken + warp^2); after 131072 registers of unlike warps the others are left with one unit a round.
TESELA_API tesela_status tesela_exchange_create(tesela_exchange **out, const tesela_register *dst,
                                                const tesela_register *src, int32_t bits,
                                                const tesela_exchange_options *options,
                                                const tesela_allocator *allocator, tesela_error *err);
/// NULL is fine.
TESELA_API void tesela_exchange_destroy(tesela_exchange *plan);

TESELA_API tesela_exchange_facts tesela_exchange_facts_of(const tesela_exchange *plan);

/// The layout in shared memory of a plan of that kind; NULL for the others. Belongs to the plan.
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

/// Phase 0 is always there, with all counts 0 in a plan that is no shuffle. TESELA_E_RANGE for a phase or a thread outside.
/// Example: of the transpose of 32 x 32 f16 above phase 0 has 8 rounds, phase 1 has 15, and both 16 words at either end.
TESELA_API tesela_status tesela_exchange_phase_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                                  tesela_exchange_phase *out, tesela_error *err);

/// What part k of a word is at the start of a phase: part `*part` of word `*from` at the end of the phase before; in phase 0
/// `*from` is a unit of src, and `*part` 0. With `phase` the number of phases, `word` is a unit of dst and k is 0: where it
/// is at last. *from -1: nothing. Part k has the bits from k * unit * bits on. Where words are units, it is the unit
/// itself. TESELA_E_RANGE for what is not there.
TESELA_API tesela_status tesela_exchange_part_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                                 int64_t word, int64_t k, int64_t *from, int64_t *part,
                                                 tesela_error *err);

/// Which word of the start of a phase a thread keeps as `word` of its end; -1 if it takes that one from another.
/// TESELA_E_RANGE for what is not there.
TESELA_API tesela_status tesela_exchange_kept_of(const tesela_exchange *plan, int64_t phase, int64_t thread,
                                                 int64_t word, int64_t *from, tesela_error *err);

/// Which register is element k of a unit: its local id in src, or in dst. Element k lies at bit k * bits of the word that
/// moves. Example: spatial(4).local(6) of f16 to itself: unit 1 is registers 2 and 3.
/// TESELA_E_RANGE for a unit or element that there is not.
TESELA_API tesela_status tesela_exchange_register_of(const tesela_exchange *plan, bool of_src, int64_t unit,
                                                     int64_t k, int64_t *local, tesela_error *err);

/// Units that `thread` moves inside itself: dst unit `into` comes from its own src unit `*from`; -1 if it comes from
/// elsewhere, as all do in a plan through shared memory. TESELA_E_RANGE for a thread or unit that dst has not.
TESELA_API tesela_status tesela_exchange_move_of(const tesela_exchange *plan, int64_t thread, int64_t into,
                                                 int64_t *from, tesela_error *err);

/// Execute a plan on the host, step by step as a GPU would: registers are arrays of bytes, thread after thread, each
/// element in ceil(bits / 8) bytes. dst has dst.local_size elements a thread, for each thread of dst; src likewise; they do
/// not overlap. A read of something that no step wrote, or a register of dst left out, is TESELA_E_INVALID: it would be a
/// fault of the plan.
/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_exchange_run(const tesela_exchange *plan, void *dst, const void *src,
                                             const tesela_allocator *allocator, tesela_error *err);

/// Print the plan for people, deterministic: the kind, the counts, each round with the pattern of its lanes where it has
/// one - "lane ^ 1", "(lane + 4) mod 32", or "2 ^ b0*1 ^ b3*4", where b3 is bit 3 of the lane - else a table.
/// TESELA_E_STOPPED.
TESELA_API tesela_status tesela_exchange_print(const tesela_exchange *plan, const tesela_writer *to,
                                               tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
