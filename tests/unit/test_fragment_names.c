/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fragment_names.c - the names of PTX and CUTLASS for fragments: read, refused at their byte, listed, recognized.
 *
 * The pairs below are entered by hand from PTX ISA and CUTLASS. tests/structure/test_fragments.py compares the layouts.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_seed.h"

static const struct {
  const char *text, *name;
  int64_t threads, registers;
} pairs[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.A", "mma.m16n8k16.f16.A", 32, 8},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.B", "mma.m16n8k16.f16.B", 32, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.C", "mma.m16n8k16.f16.C", 32, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32.D", "mma.m16n8k16.f16.C", 32, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32.A", "mma.m16n8k16.f16.A", 32, 8},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32.B", "mma.m16n8k8.tf32.B", 32, 2},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.C", "mma.m8n8k4.f64.C", 32, 2},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32.A", "mma.m16n8k32.s8.A", 32, 16},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32.A", "mma.m16n8k32.s8.A", 32, 16},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32.B", "mma.m16n8k64.s4.B", 32, 16},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc.A", "mma.m16n8k256.b1.A", 32, 128},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32.A", "mma.m16n8k32.e4m3.A", 32, 16},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32.A", "mma.m16n8k32.e4m3.A", 32, 16},
    {"mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0.SFA",
     "mma.m16n8k32.e4m3.SFA_1X", 32, 4},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0.SFB",
     "mma.m16n8k64.e2m1.SFB_2X", 32, 4},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3.SFA",
     "mma.m16n8k64.e2m1.SFA_4X", 32, 4},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32.A", "mma.m8n8k4.f16.A_row", 32, 4},
    {"mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16.A", "mma.m8n8k4.f16.A_col", 32, 4},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32.B", "mma.m8n8k4.f16.B_col", 32, 4},
    {"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32.B", "mma.m8n8k4.f16.B_row", 32, 4},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16.C", "mma.m8n8k4.f16.C_f16", 32, 8},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16.D", "mma.m8n8k4.f16.C_f32", 32, 8},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32.A", "mma.sp.m16n8k32.f16.A", 32, 8},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32.E", "mma.sp.m16n8k32.f16.E",
     32, 16},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32.B", "mma.sp.m16n8k64.s8.B", 32, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0."
     "SFA",
     "mma.sp.m16n8k128.e2m1.SFA_2X", 32, 4},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "ldmatrix.x4.trans", 32, 8},
    {"ldmatrix.sync.aligned.m8n8.x4.b16", "ldmatrix.x4", 32, 8},
    {"ldmatrix.sync.aligned.x2.m8n8.shared::cta.b16", "ldmatrix.x2", 32, 4},
    {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "ldmatrix.m16n16.x1", 32, 8},
    {"ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8x16.b6x16_p32", "ldmatrix.m16n16.x2.b6", 32, 16},
    {"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64", "ldmatrix.m8n16.x4.b4", 32, 16},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16", "stmatrix.x1", 32, 2},
    {"stmatrix.sync.aligned.m16n8.x4.trans.shared.b8", "stmatrix.m16n8.x4", 32, 16},
    {"movmatrix.sync.aligned.m8n8.trans.b16.A", "movmatrix.A", 32, 2},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.C", "wmma.m16n16k16.f16.C", 32, 8},
    {"wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.A", "wmma.m8n8k128.b1.A", 32, 32},
    {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.D", "wgmma.m64nNk16.f16.D", 128, 64},
    {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.A", "wgmma.m64nNk32.s8.A", 128, 16},
    {"wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc.D", "wgmma.m64nNk256.b1.D", 128, 128},
    {"tcgen05.ld.sync.aligned.16x256b.x1.b32", "tcgen05.16x256b", 32, 4},
    {"tcgen05.st.sync.aligned.32x32b.x1.b32", "tcgen05.32x32b", 32, 1},
    {"v_mfma_f32_32x32x8_f16.A", "mfma.f32_32x32x8_f16.A", 64, 4},
    {"v_mfma_f32_32x32x8f16.D", "mfma.f32_32x32x8_f16.C", 64, 16},
    {"mma.m16n8k16.f32.C", "mma.m16n8k16.f16.C", 32, 4},
    {"mma.m16n8k32.s32.D", "mma.m16n8k32.s8.C", 32, 4},
    {"mma.sp.m16n8k32.f32.C", "mma.sp.m16n8k32.f16.C", 32, 4},
    {"wgmma.m64n64k16.f32.D", "wgmma.m64nNk16.f16.D", 128, 32},
    {"SM80_16x8x16_F32F16F16F32_TN.A", "mma.m16n8k16.f16.A", 32, 8},
    {"sm80_16x8x16_f32f16f16f32_tn.d", "mma.m16n8k16.f16.C", 32, 4},
    {"SM80_16x8x8_F32TF32TF32F32_TN.B", "mma.m16n8k8.tf32.B", 32, 2},
    {"SM80_16x8x32_S32U8S8S32_TN_SATURATE.A", "mma.m16n8k32.s8.A", 32, 16},
    {"SM75_16x8x8_F32F16F16F32_TN.C", "mma.m16n8k8.f16.C", 32, 4},
    {"SM70_8x8x4_F32F16F16F32_NT.A", "mma.m8n8k4.f16.A_col", 32, 4},
    {"SM70_8x8x4_F32F16F16F32_NT.B", "mma.m8n8k4.f16.B_row", 32, 4},
    {"SM70_8x8x4_F16F16F16F16_TN.C", "mma.m8n8k4.f16.C_f16", 32, 8},
    {"SM89_16x8x32_F16E5M2E4M3F16_TN.B", "mma.m16n8k32.e4m3.B", 32, 8},
    {"SM90_16x8x16_F64F64F64F64_TN.A", "mma.m16n8k16.f64.A", 32, 8},
    {"SM90_64x128x16_F32F16F16_RS.A", "wgmma.m64nNk16.f16.A", 128, 8},
    {"SM90_64x128x16_F32F16F16_SS.D", "wgmma.m64nNk16.f16.D", 128, 64},
    {"SM90_64x8x8_F32TF32TF32_SS_TN.C", "wgmma.m64nNk8.tf32.D", 128, 4},
    {"SM120_16x8x32_TN_VS.SFB", "mma.m16n8k32.e4m3.SFB_1X", 32, 4},
    {"SM120_SPARSE_16x8x64_TN.E", "mma.sp.m16n8k64.e4m3.E", 32, 16},
    {"SM80_16x8_Row", "mma.m16n8k16.f16.C", 32, 4},
    {"SM80_8x8_Row", "mma.m8n8k4.f64.C", 32, 2},
    {"CLayout_64x96", "wgmma.m64nNk16.f16.D", 128, 48},
    {"ALayout_64x32", "wgmma.m64nNk32.e4m3.A", 128, 16},
    {"SM75_U32x4_LDSM_N", "ldmatrix.x4", 32, 8},
    {"SM75_U16x8_LDSM_T", "ldmatrix.x4.trans", 32, 8},
    {"SM90_U32x2_STSM_N", "stmatrix.x2", 32, 4},
    {"SM90_U16x2_STSM_T", "stmatrix.x1.trans", 32, 2},
    {"SM100_SU6_DU8x16_x2_LDSM_N", "ldmatrix.m8n16.x2.b6", 32, 8},
    {"SM100_U8x16_STSM_T", "stmatrix.m16n8.x4", 32, 16},
    {"SM100_TMEM_LOAD_16dp64b1x", "tcgen05.16x64b", 32, 1},
    {"SM75_U32x1_MOVM_T.D", "movmatrix.D", 32, 2},
};

static void names_of_ptx_and_cutlass_are_read(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof pairs / sizeof pairs[0]; r++) {
    tesela_register layout, parsed;
    const tesela_fragment *entry = NULL;
    tesela_error err = {.message = ""};
    const size_t length = strlen(pairs[r].text);
    if (tesela_fragment_find(pairs[r].text, length, &layout, &entry, &err) != TESELA_OK)
      fail_msg("%s: %s", pairs[r].text, err.message);
    assert_string_equal(entry->name, pairs[r].name);
    if (layout.spatial_size != pairs[r].threads || layout.local_size != pairs[r].registers)
      fail_msg("%s: %" PRId64 " x %" PRId64, pairs[r].text, layout.spatial_size, layout.local_size);
    if (tesela_register_parse(pairs[r].text, length, &parsed, &err) != TESELA_OK)
      fail_msg("%s: %s", pairs[r].text, err.message);
    assert_true(tesela_register_same(&layout, &parsed));
  }
}

static void names_in_expressions(void **state) {
  (void)state;
  static const char *const same[][2] = {
      {"spatial(2, 2) * SM80_16x8_Row", "spatial(2, 2) * mma.m16n8k16.f16.C"},
      {"SM80_16x8_Row.local(2, 1)", "mma.m16n8k16.f16.C * local(2, 1)"},
      {"SM75_U32x4_LDSM_N / ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16", "local(4, 1)"},
      {"(mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32.A)", "mma.m16n8k8.tf32.A"},
      {"CLayout_64x128", "wgmma.m64n128k16.f16.D"},
  };
  for (size_t r = 0; r < sizeof same / sizeof same[0]; r++) {
    tesela_register a, b;
    tesela_error err = {.message = ""};
    if (tesela_register_parse(same[r][0], strlen(same[r][0]), &a, &err) != TESELA_OK ||
        tesela_register_parse(same[r][1], strlen(same[r][1]), &b, &err) != TESELA_OK)
      fail_msg("%s: %s", same[r][0], err.message);
    if (!tesela_register_same(&a, &b)) fail_msg("%s is not %s", same[r][0], same[r][1]);
  }
}

static void wrong_names_are_refused_at_their_byte(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t at;
    const char *says;
  } rows[] = {
      {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32.C", 30, "expected one of: col"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 49, "dot and one of: A B C"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.E", 50, "A B C"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32.C", 42, "did you mean f16?"},
      {"mma.sync.aligned.m16n8k17.row.col.f32.f16.f16.f32.C", 17, "did you mean m16n8k16?"},
      {"mma.sync.m16n8k16", 9, "expected one of: aligned"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32.F", 53, "A B C E"},
      {"mma.sp.m16n8k32.s8.E", 19, "A B C"}, /* no second source for this metadata */
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf8.block_scale", 34, "did you mean kind::mxf4?"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X", 57, "scale_vec::2X f32"},
      {"mma.m16n8k16.f32.A", 17, "expected one of: C"},
      {"mma.m16n8k64.e2m1.SFA", 18, "SFA_2X"},
      {"ldmatrix.sync.aligned.m8n8.x3.shared.b16", 27, "x1 x2 x4"},
      {"ldmatrix.sync.aligned.m16n16.x1.shared.b8", 32, "expected one of: trans"},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16.A", 41, "ends before 'A'"},
      {"stmatrix.sync.aligned.m16n8.x1.trans.global.b8", 37, "shared shared::cta b8"},
      {"wgmma.mma_async.sync.aligned.m64n20k16.f32.f16.f16.D", 29, "must be 8, 16, ... 256"},
      {"wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16.B", 51, "A D"},
      {"SM80_16x8x16_F32F16F16F32_TT.A", 0, "did you mean SM80_16x8x16_F32F16F16F32_TN?"},
      {"SM80_16x8x16_F32F16F16F32_TN", 28, "dot and one of: A B C"},
      {"SM80_16x8x16_F32F16F16F32_TN.SFA", 29, "A B C"},
      {"SM80_16x8_Row.C", 14, "ends before 'C'"},
      {"SM80_16x8_Rov", 0, "did you mean SM80_16x8_Row?"},
      {"SM90_64x128x16_F32F16F16_SS.A", 28, "expected one of: D"},
      {"SM90_64x260x16_F32F16F16_RS.A", 0, "must be 8, 16, ... 256"},
      {"CLayout_64xN", 0, "must be 8, 16, ... 256"},
      {"v_mfma_f32_32x32x9_f16.A", 0, "did you mean v_mfma_f32_32x32x8_f16?"},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_error err = {.message = ""};
    assert_int_equal(tesela_fragment_find(rows[r].text, strlen(rows[r].text), NULL, NULL, &err),
                     TESELA_E_SYNTAX);
    if (err.at != rows[r].at || !strstr(err.message, rows[r].says))
      fail_msg("%s: at %" PRId64 ": %s", rows[r].text, err.at, err.message);
  }
}

/* The name with a number for its N: m64nNk16, 64xNx16. */
static void with_n(const char *name, int32_t n, char *text, size_t room) {
  const char *at = strstr(name, "nN") ? strstr(name, "nN") : strstr(name, "xN");
  if (n > 0 && at)
    snprintf(text, room, "%.*s%" PRId32 "%s", (int)(at + 1 - name), name, n, at + 2);
  else
    snprintf(text, room, "%s", name);
}

static void every_name_is_read_back(void **state) {
  (void)state;
  int32_t count, names = 0, of[4] = {0};
  const tesela_fragment *entry = tesela_fragments(&count);
  for (int32_t e = 0; e < count; e++) {
    char name[TESELA_FRAGMENT_NAME], text[TESELA_FRAGMENT_NAME + 8], own[TESELA_FRAGMENT_NAME + 8];
    tesela_fragment_naming naming, before = TESELA_FRAGMENT_OWN;
    tesela_register wanted, layout;
    const int32_t n = entry[e].n_step ? 24 : 0;
    with_n(entry[e].name, n, own, sizeof own);
    assert_int_equal(tesela_fragment_find(own, strlen(own), &wanted, NULL, NULL), TESELA_OK);
    for (int32_t k = 0; tesela_fragment_name(e, k, name, &naming); k++) {
      const tesela_fragment *found = NULL;
      tesela_error err = {.message = ""};
      if (k == 0) assert_string_equal(name, entry[e].name);
      assert_true(naming >= before);
      before = naming;
      with_n(name, n, text, sizeof text);
      if (tesela_fragment_find(text, strlen(text), &layout, &found, &err) != TESELA_OK)
        fail_msg("%s: %s", text, err.message);
      if (found != &entry[e] && !tesela_register_same(&layout, &wanted))
        fail_msg("%s finds %s", text, found->name);
      names++;
      of[naming]++;
    }
  }
  print_message("%" PRId32 " names of %" PRId32 " entries: %" PRId32 " own, %" PRId32 " layouts and %" PRId32
                " operands of CUTLASS, %" PRId32 " of instructions\n",
                names, count, of[0], of[1], of[2], of[3]);
  /* CUTLASS: 82 atoms of mma with 3 operands, 8 of Volta, 5 of SM120 with 22, 31 of wgmma with 60, 27 copies with 28 */
  assert_true(of[0] > count && of[1] == 9 && of[2] == 3 * 82 + 3 * 8 + 22 + 60 + 28 && of[3] > 300);
  char name[TESELA_FRAGMENT_NAME] = "kept";
  assert_false(tesela_fragment_name(-1, 0, name, NULL));
  assert_false(tesela_fragment_name(count, 0, name, NULL));
  assert_false(tesela_fragment_name(0, -1, name, NULL));
  assert_false(tesela_fragment_name(0, 1000, name, NULL));
  assert_false(tesela_fragment_name(0, 0, NULL, NULL));
  assert_string_equal(name, "kept");
}

/* Names with bytes changed: found or refused with a byte of the text, never beyond it. */
static void random_names_are_found_or_refused(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int32_t refused = 0;
  for (int32_t round = 0; round < 4000; round++) {
    char text[160];
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    snprintf(text, sizeof text, "%s", pairs[(seed >> 33) % (sizeof pairs / sizeof pairs[0])].text);
    const size_t length = strlen(text);
    for (int32_t k = 0; k < 2; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      text[(seed >> 40) % length] = ".:|N_x1AF,"[(seed >> 24) % 10];
    }
    char *exact = malloc(length);
    assert_non_null(exact);
    memcpy(exact, text, length);
    tesela_register layout;
    tesela_error err = {.message = ""};
    if (tesela_fragment_find(exact, length, &layout, NULL, &err) != TESELA_OK) {
      refused++;
      if (err.at < 0 || err.at > (int64_t)length || err.message[0] == '\0')
        fail_msg("%.*s: at %" PRId64 ": %s", (int)length, text, err.at, err.message);
    }
    tesela_register_parse(exact, length, &layout, &err);
    free(exact);
  }
  assert_true(refused > 2000 && refused < 4000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_of_ptx_and_cutlass_are_read),     cmocka_unit_test(names_in_expressions),
      cmocka_unit_test(wrong_names_are_refused_at_their_byte), cmocka_unit_test(every_name_is_read_back),
      cmocka_unit_test(random_names_are_found_or_refused),
  };
  return cmocka_run_group_tests_name("fragment names", tests, NULL, NULL);
}
