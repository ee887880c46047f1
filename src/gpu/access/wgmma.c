/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wgmma.c - operands of wgmma and tcgen05.mma in shared memory: the canonical layouts, made and recognised.
 *
 * In elements, T = 128 / bits of them in 16 bytes, S = 1, 2, 4, 8 for a swizzle over 16 (none), 32, 64, 128 bytes;
 * CuTe's order, first mode fastest (PTX ISA, "Asynchronous Warpgroup Level Canonical Layouts"):
 *
 *   k-major    ((8,m),(S*T,k)) : ((S*T,SBO),(1,LBO))
 *   mn-major   ((S*T,m),(8,k)) : ((1,LBO),(S*T,SBO)),  for S = 1 with LBO and SBO exchanged
 *
 * and Swizzle(base log2 T, bits log2 S, shift 3). The swizzle reads bits log2(8*T) .. log2(8*T*S) - 1: inside an atom
 * of 8*S*T elements, so distances that are multiples of an atom pass through it unchanged.
 */
#include "gpu/memory/tile_memory.h"

/* One form over a tile: m atoms along mn and n along k, with steps between atoms in elements. */
typedef struct wgmma_form {
  int64_t mn, k;
  int32_t bits, log_s;
  bool k_major;
  int64_t offset, step_mn, step_k;
} wgmma_form;

static int64_t wgmma_row(const wgmma_form *form) {
  return (int64_t)(128 / form->bits) << form->log_s;
} /* S*T */

/* Extents of an atom. */
static int64_t wgmma_atom_mn(const wgmma_form *form) { return form->k_major ? 8 : wgmma_row(form); }
static int64_t wgmma_atom_k(const wgmma_form *form) { return form->k_major ? wgmma_row(form) : 8; }

static bool wgmma_fills(const wgmma_form *form) {
  return form->mn % wgmma_atom_mn(form) == 0 && form->k % wgmma_atom_k(form) == 0;
}

static tesela_status wgmma_make(tesela_tile_memory *out, const wgmma_form *form, tesela_error *err) {
  int64_t row = wgmma_row(form), atom_mn = wgmma_atom_mn(form), atom_k = wgmma_atom_k(form);
  int64_t shape[2] = {form->mn, form->k};
  int64_t modes[4] = {form->mn / atom_mn, atom_mn, form->k / atom_k, atom_k};
  int64_t strides[4] = {form->step_mn, form->k_major ? row : 1, form->step_k, form->k_major ? 1 : row};
  tesela_tile_swizzle swizzle = {.base = 0, .bits = form->log_s, .shift = 3};
  while (form->bits << swizzle.base < 128) swizzle.base++;
  return tesela_tile_memory_make(out, TESELA_TILE_SHARED, 2, shape, 4, modes, strides, form->offset, &swizzle,
                                 err);
}

static tesela_status wgmma_check_bits(int32_t bits, tesela_error *err) {
  if (bits >= 1 && bits <= 64 && (bits & (bits - 1)) == 0) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1,
                      "an element has %" PRId32 " bits; expected a power of two from 1 to 64", bits);
}

tesela_status tesela_tile_memory_wgmma(tesela_tile_memory *out, int64_t mn, int64_t k, int32_t bits,
                                       int32_t swizzle_bytes, bool k_major, tesela_error *err) {
  TESELA__NEED(err, out);
  int64_t shape[2] = {mn, k}, elements;
  tesela_status status = tesela__check_extents(2, shape, &elements, err);
  if (status == TESELA_OK) status = wgmma_check_bits(bits, err);
  if (status != TESELA_OK) return status;
  if (swizzle_bytes != 0 && swizzle_bytes != 32 && swizzle_bytes != 64 && swizzle_bytes != 128)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "a swizzle over %" PRId32 " bytes; expected 0, 32, 64 or 128", swizzle_bytes);
  wgmma_form form = {.mn = mn, .k = k, .bits = bits, .k_major = k_major};
  while (16 << form.log_s < swizzle_bytes) form.log_s++;
  if (!wgmma_fills(&form))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "atoms of %" PRId64 " x %" PRId64 " do not fill a tile of %" PRId64 " x %" PRId64,
                        wgmma_atom_mn(&form), wgmma_atom_k(&form), mn, k);
  form.step_mn = 8 * wgmma_row(&form);
  form.step_k = mn * wgmma_atom_k(&form); /* at most the number of elements */
  return wgmma_make(out, &form, err);
}

/* ---- recognition ------------------------------------------------------------------------------------------------- */

/* step: the distance from the first atom to the one at (mn, k), 0 outside the tile. False if it is not a multiple of an
 * atom.
 * */
static bool wgmma_step(const tesela_tile_memory *layout, const wgmma_form *form, int64_t mn, int64_t k,
                       int64_t *step) {
  *step = 0;
  if (mn >= form->mn || k >= form->k) return true;
  *step = tesela__tile_place(layout, (const int64_t[]){mn, k}) - form->offset;
  return *step >= 0 && *step % (8 * wgmma_row(form)) == 0;
}

/* Can the layout be of this form? Fills in the places of its atoms. */
static bool wgmma_measure(const tesela_tile_memory *layout, wgmma_form *form) {
  if (!wgmma_fills(form) || form->offset % (8 * wgmma_row(form)) != 0) return false;
  return wgmma_step(layout, form, wgmma_atom_mn(form), 0, &form->step_mn) &&
         wgmma_step(layout, form, 0, wgmma_atom_k(form), &form->step_k);
}

/* Do both agree on the corner of the first atom and the last element? Most differences show there. */
static bool wgmma_alike(const tesela_tile_memory *a, const tesela_tile_memory *b) {
  const int64_t samples[4][2] = {{0, 1}, {1, 0}, {1, 1}, {a->shape[0] - 1, a->shape[1] - 1}};
  for (int i = 0; i < 4; i++)
    if (tesela__tile_place(a, samples[i]) != tesela__tile_place(b, samples[i])) return false;
  return true;
}

tesela_status tesela_tile_memory_recognize_wgmma(const tesela_tile_memory *layout, int32_t bits,
                                                 tesela_wgmma_form *form, bool *is, tesela_error *err) {
  TESELA__NEED(err, layout, form, is);
  tesela_status status = wgmma_check_bits(bits, err);
  if (status != TESELA_OK) return status;
  bool found = false;
  for (int32_t i = 0; i < 8 && layout->rank == 2 && !found; i++) {
    wgmma_form f = {
        .mn = layout->shape[0], .k = layout->shape[1], .bits = bits, .log_s = i / 2, .k_major = i % 2 == 0};
    f.offset = tesela__tile_place(layout, (const int64_t[]){0, 0});
    tesela_tile_memory canonical;
    if (!wgmma_measure(layout, &f)) continue;
    if (wgmma_make(&canonical, &f, NULL) != TESELA_OK || !wgmma_alike(layout, &canonical)) continue;
    status = tesela_tile_memory_same(layout, &canonical, &found, err);
    if (status != TESELA_OK) return status;
    if (!found) continue;
    bool swapped = !f.k_major && f.log_s == 0, leading_is_k = f.k_major != swapped;
    int64_t bytes_mn = f.step_mn / 8 * bits, bytes_k = f.step_k / 8 * bits; /* atoms are whole bytes */
    *form = (tesela_wgmma_form){.swizzle_bytes = f.log_s ? 16 << f.log_s : 0,
                                .k_major = f.k_major,
                                .leading_bytes = leading_is_k ? bytes_k : bytes_mn,
                                .stride_bytes = leading_is_k ? bytes_mn : bytes_k};
  }
  *is = found;
  return TESELA_OK;
}
