/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_of.h - the fragments a register layout consists of. Many entries of the catalogue are laid out alike: those are
 * one group, which is called by one of its names.
 */
#ifndef TESELA_OPS_MADE_OF_H
#define TESELA_OPS_MADE_OF_H

#include <tesela/notation.h>
#include <tesela/ops.h>

/* The register layout that a relation is, such as a Triton encoding or a CuTe layout of threads and values. false: another one. */
bool made_of_registers(const tesela_any_layout *any, tesela_register *out);

/* "names": all names of the fragments that the layout is, in this catalogue, CUTLASS and PTX; empty for other layouts.
 * "made_of": [{"name": .., "cutlass": .., "alike": [..]}, ..], all groups, all other names. `text` is what the layout was
 * written as: a group with a fragment that it names comes first, under that name. false: no memory. */
bool made_of_json(tesela_sink *j, const tesela_register *layout, const char *text, size_t length);

/* "  is          mma.m16n8k16.f16.C = SM80_16x8_Row" and a newline, for a layout that is a fragment; then
 * "  made of     mma.m16n8k16.f16.C and 9 alike, ..." and a newline, up to four groups; nothing without groups. */
bool made_of_print(const tesela_register *layout, const char *text, size_t length, const tesela_writer *to);

#endif
