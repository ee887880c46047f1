/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragment.h - which lane of a warp holds which element of a matrix instruction's operands: a catalogue.
 *
 * Each entry is a register layout. Its name is the instruction, shape, type and operand, with dots:
 *
 *   mma.m16n8k16.f16.A     mma.sync, A is (M,K) = [16,16]: lane = thread id, g = lane / 4, t = lane % 4,
 *                          element i of the lane is row g + 8*((i/2) % 2), column 2t + i%2 + 8*(i/4)
 *   mma.m16n8k16.f16.C     its accumulator; the type in a name is that of A and B
 *   wmma.m16n16k16.f16.A   as compilers lay it out; PTX leaves it open
 *   ldmatrix.x4            what ldmatrix gives, 8x8 tiles of 16 bits stacked: [32,8]; ldmatrix.x4.trans, .b8, .b32
 *   wgmma.m64n256k16.f16.D a warpgroup's accumulator; n is 8, 16, ... 256
 *   tcgen05.16x256b        tcgen05.ld and .st, cells of 32 bits
 *   mfma.f32_32x32x8_f16.A AMD CDNA, 64 lanes
 *   amd_wmma.gfx12.f32_16x16x16_f16.A  AMD RDNA, 32 lanes
 *
 * A is (M,K), B is (K,N), C and D are (M,N); i counts a lane's elements, low bits of the first register first. The
 * formulas are written down once, in tools/fragments_*.py; tools/fragments.py derives each layout from its row and
 * column formula, checks it element by element, and writes src/register/fragments.inc. docs/fragments.md lists all
 * entries, what each family rests on, and what is left out.
 */
#ifndef TESELA_FRAGMENT_H
#define TESELA_FRAGMENT_H

#include <tesela/register.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One entry of the catalogue. Texts are static.
typedef struct tesela_fragment {
  const char *name;   ///< "mma.m16n8k16.f16.A"; with "nN" in it for every N = n_step, 2*n_step, ... n_max
  const char *family; ///< the first part of the name: "mma", "ldmatrix", "wgmma", "mfma", ...
  const char *instruction; ///< as its maker writes it: "mma.sync.aligned.m16n8k16"
  const char *types;       ///< types of its elements: "f16,bf16"; of an accumulator "f16,f32"
  const char *operand;     ///< "A", "B", "C" or "D"; "" where there is only one
  const char *axes;        ///< "M,K"; of three dims "block,M,K"
  const char *block;       ///< formula of the first of three dims; "" where there are two
  const char *row, *col;   ///< formulas in lane, g = lane/4, t = lane%4, i, C syntax: "g + 8*((i/2)%2)"
  const char *expression;  ///< "column_local(2, 2).spatial(8, 4).local(1, 2)"; N/8 in it for n / n_step
  const char *since;       ///< "sm_80", "gfx90a"
  const char *note;        ///< "" or a sentence: what to mind
  int32_t bits;            ///< of an element, of the widest of `types`
  int32_t threads;         ///< 32, 64 or 128
  int32_t n_step, n_max;   ///< 0: not a family of n
} tesela_fragment;

/// The catalogue, in the order of the documents; *n receives how many entries. Static memory, any thread.
TESELA_API const tesela_fragment *tesela_fragments(int32_t *n);

/// Find an entry by name. Case does not matter; the type may be any that the entry holds for, an instruction of AMD may
/// be in its older spelling; C and D are the same.
///
/// Example: "mma.m16n8k16.bf16.D" finds mma.m16n8k16.f16.C, "mfma.f32_32x32x8f16.A" finds mfma.f32_32x32x8_f16.A,
/// "wgmma.m64n128k16.f16.D" is the layout of wgmma.m64nNk16.f16.D for N = 128, shape [64,128].
///
/// @param text    `length` bytes, any
/// @param layout  receives the layout; may be NULL
/// @param entry   receives the entry; may be NULL
/// @return TESELA_OK; TESELA_E_SYNTAX if there is no such name: err->at is the byte of the first part that is unknown,
///         the message says what may stand there and what is nearest.
/// A few microseconds, no allocation; any thread.
TESELA_API tesela_status tesela_fragment_find(const char *text, size_t length, tesela_register *layout,
                                              const tesela_fragment **entry, tesela_error *err);

/// Which entries does a layout consist of: it is q * fragment for some q? Writes up to `capacity` entry numbers, those
/// of most registers per thread first, then in the order of the catalogue, and returns how many there are. Of a family
/// of n the largest n that fits counts. Types and bits are not looked at: a layout has none.
///
/// Example: spatial(2,2) * mma.m16n8k16.f16.C consists of that entry with q = spatial(2,2), of ldmatrix.x2, ldmatrix.x1
/// and of other instructions' operands that are laid out so.
///
/// @param entries  room for `capacity` numbers; may be NULL if that is 0
TESELA_API int32_t tesela_fragment_recognize(const tesela_register *layout, int32_t capacity,
                                             int32_t *entries);

#ifdef __cplusplus
}
#endif
#endif
