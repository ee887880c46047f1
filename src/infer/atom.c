/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atom.c - the matrix instruction of a dot, and whether its tensors are compatible with it.
 *
 * An atom is a name of register.h without the operand: mma.m16n8k16.f16 is three layouts, .A, .B and .C. Without a name
 * in the program, it is the first row for the type of A whose extents divide those of the dot.
 */
#include "infer/infer_state.h"

/* Types of tensors in names of fragments. Instructions use f32 as tf32, 19 of its bits. */
static const struct {
  tesela_dtype dtype;
  const char *words; /* separated by commas */
} atom_types[] = {
    {TESELA_F16, "f16"},           {TESELA_BF16, "bf16"},       {TESELA_F32, "tf32,f32,xf32"},
    {TESELA_F64, "f64"},           {TESELA_S32, "s32,i32"},     {TESELA_S8, "s8,i8,iu8"},
    {TESELA_U8, "u8,iu8"},         {TESELA_S4, "s4,iu4"},       {TESELA_U4, "u4,iu4"},
    {TESELA_PRED, "b1"},           {TESELA_S1, "b1"},           {TESELA_U1, "b1"},
    {TESELA_F8E4M3FN, "e4m3,fp8"}, {TESELA_F8E4M3, "e4m3,fp8"}, {TESELA_F8E4M3FNUZ, "fp8"},
    {TESELA_F8E5M2, "e5m2,bf8"},   {TESELA_F8E5M2FNUZ, "bf8"},  {TESELA_F6E3M2FN, "e3m2"},
    {TESELA_F6E2M3FN, "e2m3"},     {TESELA_F4E2M1FN, "e2m1"},
};

/* In the order of preference. */
static const struct {
  tesela_dtype dtype;
  const char *name;
} atom_choices[] = {
    {TESELA_F16, "mma.m16n8k16.f16"},       {TESELA_F16, "mma.m16n8k8.f16"},
    {TESELA_BF16, "mma.m16n8k16.bf16"},     {TESELA_BF16, "mma.m16n8k8.bf16"},
    {TESELA_F32, "mma.m16n8k8.tf32"},       {TESELA_F32, "mma.m16n8k4.tf32"},
    {TESELA_F64, "mma.m8n8k4.f64"},         {TESELA_S8, "mma.m16n8k32.s8"},
    {TESELA_S8, "mma.m16n8k16.s8"},         {TESELA_S8, "mma.m8n8k16.s8"},
    {TESELA_U8, "mma.m16n8k32.u8"},         {TESELA_U8, "mma.m16n8k16.u8"},
    {TESELA_U8, "mma.m8n8k16.u8"},          {TESELA_F8E4M3FN, "mma.m16n8k32.e4m3"},
    {TESELA_F8E4M3FN, "mma.m16n8k16.e4m3"}, {TESELA_F8E4M3, "mma.m16n8k32.e4m3"},
    {TESELA_F8E4M3, "mma.m16n8k16.e4m3"},   {TESELA_F8E5M2, "mma.m16n8k32.e5m2"},
    {TESELA_F8E5M2, "mma.m16n8k16.e5m2"},   {TESELA_S4, "mma.m16n8k64.s4"},
    {TESELA_S4, "mma.m16n8k32.s4"},         {TESELA_S4, "mma.m8n8k32.s4"},
    {TESELA_U4, "mma.m16n8k64.u4"},         {TESELA_U4, "mma.m16n8k32.u4"},
    {TESELA_U4, "mma.m8n8k32.u4"},          {TESELA_U1, "mma.m16n8k256.b1"},
    {TESELA_U1, "mma.m16n8k128.b1"},
};

/* ---- search -------------------------------------------------------------------------------------------- */

/* Is it the name of a fragment, "mma.m16n8k16.f16.A", not of an instruction? */
static bool atom_names_operand(const char *name, size_t length) {
  const tesela_fragment *entry;
  return length > 2 && name[length - 2] == '.' &&
         tesela_fragment_find(name, length, NULL, &entry, NULL) == TESELA_OK && entry->operand[0] != '\0';
}

static tesela_status atom_read(const char *name, size_t length, tesela__infer_atom *atom, tesela_error *err) {
  static const char operand[3] = {'A', 'B', 'C'};
  tesela_register *layout[3] = {&atom->a, &atom->b, &atom->c};
  char text[sizeof atom->name + 2];
  memcpy(atom->name, name, length);
  atom->name[length] = '\0';
  memcpy(text, name, length);
  text[length] = '.';
  if (atom_names_operand(name, length))
    return tesela__fail(err, TESELA_E_SYNTAX, 0,
                        "atom= takes an instruction; write it without the operand: %.*s", (int)length - 2,
                        name);
  for (int32_t i = 0; i < 3; i++) {
    text[length + 1] = operand[i];
    tesela_status status = tesela_fragment_find(text, length + 2, layout[i], &atom->entry[i], err);
    if (status == TESELA_OK) continue;
    if (err && err->at < (int64_t)length) return status;
    return tesela__fail(err, status, 0,
                        "%s has no operand %c in registers; atom= takes the name of an instruction",
                        atom->name, operand[i]); /* the unknown part is the appended one */
  }
  return TESELA_OK;
}

/* Check that extents match, the number of lanes is equal, and each fragment is a matrix. */
static tesela_status atom_consistent(const tesela__infer_atom *atom, tesela_error *err) {
  const tesela_register *a = &atom->a, *b = &atom->b, *c = &atom->c;
  if (a->rank == 2 && b->rank == 2 && c->rank == 2 && a->spatial_size == c->spatial_size &&
      b->spatial_size == c->spatial_size && a->shape[0] == c->shape[0] && b->shape[1] == c->shape[1] &&
      a->shape[1] == b->shape[0])
    return TESELA_OK;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "A, B and C of %s are not (M,K), (K,N) and (M,N) of one product", atom->name);
}

tesela_status tesela__infer_atom_find(tesela_kernel_program *program, const char *name, size_t length,
                                      int32_t *atom, tesela_error *err) {
  tesela__infer_atom found;
  if (length >= sizeof found.name)
    return tesela__fail(err, TESELA_E_SYNTAX, 0, "the name of a fragment has at most %zu bytes",
                        sizeof found.name - 1);
  for (size_t i = 0; i < program->n_atoms; i++)
    if (strlen(program->atom[i].name) == length && memcmp(program->atom[i].name, name, length) == 0) {
      *atom = (int32_t)i;
      return TESELA_OK;
    }
  tesela_status status = atom_read(name, length, &found, err);
  if (status == TESELA_OK) status = atom_consistent(&found, err);
  if (status != TESELA_OK) return status;
  void *atoms = program->atom;
  if (!tesela__grow(&program->allocator, &atoms, sizeof *program->atom, &program->cap_atoms,
                    program->n_atoms + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the fragments of %s", found.name);
  program->atom = atoms;
  program->atom[program->n_atoms] = found;
  *atom = (int32_t)program->n_atoms++;
  return TESELA_OK;
}

/* ---- compatibility ------------------------------------------------------------------------------------- */

static bool atom_word_in(const char *word, size_t length, const char *list) {
  for (const char *at = list; *at != '\0'; at += *at == ',') {
    size_t n = strcspn(at, ",");
    if (n == length && memcmp(at, word, n) == 0) return true;
    at += n;
  }
  return false;
}

/* Does `types` contain this type? */
static bool atom_takes(const char *types, tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof atom_types / sizeof atom_types[0]; i++) {
    if (atom_types[i].dtype != dtype) continue;
    for (const char *at = atom_types[i].words; *at != '\0'; at += *at == ',') {
      size_t n = strcspn(at, ",");
      if (atom_word_in(at, n, types)) return true;
      at += n;
    }
  }
  return false;
}

static bool atom_divides(const tesela__infer_atom *atom, const int64_t mnk[3]) {
  return mnk[0] % atom->c.shape[0] == 0 && mnk[1] % atom->c.shape[1] == 0 && mnk[2] % atom->a.shape[1] == 0;
}

static tesela_status atom_choose(tesela_kernel_program *program, tesela_dtype dtype, const int64_t mnk[3],
                                 int32_t *atom, tesela_error *err) {
  bool any = false;
  for (size_t i = 0; i < sizeof atom_choices / sizeof atom_choices[0]; i++) {
    int32_t candidate;
    if (atom_choices[i].dtype != dtype) continue;
    any = true;
    tesela_status status =
        tesela__infer_atom_find(program, atom_choices[i].name, strlen(atom_choices[i].name), &candidate, err);
    if (status == TESELA_E_MEMORY) return status;
    if (status != TESELA_OK || !atom_divides(&program->atom[candidate], mnk)) continue;
    *atom = candidate;
    return TESELA_OK;
  }
  if (!any)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "no instruction for operands of type %s; write atom=", tesela_dtype_name(dtype));
  return tesela__fail(err, TESELA_E_INVALID, -1,
                      "no instruction for %s divides m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64,
                      tesela_dtype_name(dtype), mnk[0], mnk[1], mnk[2]);
}

static tesela_status atom_suits(const tesela_kernel_program *program, const tesela__infer_step *step,
                                const tesela__infer_atom *atom, const int64_t mnk[3], tesela_error *err) {
  for (int32_t side = 0; side < 3; side++) { /* A, B, C */
    const tesela__infer_tensor *operand = tesela__infer_arg(program, step, side < 2 ? 1 + side : 0);
    if (!atom_takes(atom->entry[side]->types, operand->dtype))
      return tesela__fail(err, TESELA_E_INVALID, -1, "%s is %s; %s expects %s there", operand->name,
                          tesela_dtype_name(operand->dtype), atom->name, atom->entry[side]->types);
  }
  if (!atom_divides(atom, mnk))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64 " are not multiples of %" PRId64
                        ", %" PRId64 ", %" PRId64 " of %s",
                        mnk[0], mnk[1], mnk[2], atom->c.shape[0], atom->c.shape[1], atom->a.shape[1],
                        atom->name);
  if (program->threads % atom->c.spatial_size != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "the number of threads is %" PRId64 ", not a multiple of the %" PRId64 " lanes of %s",
                        program->threads, atom->c.spatial_size, atom->name);
  return TESELA_OK;
}

static tesela_status atom_suits_warps(const tesela_kernel_program *program, const tesela__infer_step *step,
                                      const tesela__infer_atom *atom, const int64_t mnk[3],
                                      tesela_error *err) {
  const int64_t *warps = step->warps;
  int64_t there = program->threads / atom->c.spatial_size, wanted;
  if (!(step->keys & TESELA__INFER_KEY_WARPS)) return TESELA_OK;
  if (!tesela__mul(warps[0], warps[1], &wanted) || wanted < 1 || there % wanted != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "warps=[%" PRId64 ", %" PRId64 "] does not divide the number of groups of %" PRId64
                        " threads, which is %" PRId64,
                        warps[0], warps[1], atom->c.spatial_size, there);
  for (int32_t i = 0; i < 2; i++)
    if (mnk[i] / atom->c.shape[i] % warps[i] != 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "%" PRId64 " warps along %s do not share %" PRId64 " tile%s of %" PRId64 " evenly",
                          warps[i], i == 0 ? "rows" : "columns", mnk[i] / atom->c.shape[i],
                          mnk[i] == atom->c.shape[i] ? "" : "s", atom->c.shape[i]);
  return TESELA_OK;
}

/* ---- shapes -------------------------------------------------------------------------------------------- */

tesela_status tesela__infer_dot_fit(tesela_kernel_program *program, tesela__infer_step *step,
                                    tesela_error *err) {
  const tesela__infer_tensor *d = tesela__infer_arg(program, step, 0),
                             *a = tesela__infer_arg(program, step, 1),
                             *b = tesela__infer_arg(program, step, 2),
                             *c = step->n > 3 ? tesela__infer_arg(program, step, 3) : d;
  for (int32_t i = 0; i < step->n; i++)
    if (tesela__infer_arg(program, step, i)->rank != 2)
      return tesela__fail(
          err, TESELA_E_INVALID, -1, "%s has rank %" PRId32 "; the tensors of dot must have rank 2",
          tesela__infer_arg(program, step, i)->name, tesela__infer_arg(program, step, i)->rank);
  const int64_t mnk[3] = {d->shape[0], d->shape[1], a->shape[1]};
  if (a->shape[0] != mnk[0] || b->shape[1] != mnk[1] || b->shape[0] != mnk[2])
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "[%" PRId64 ", %" PRId64 "] times [%" PRId64 ", %" PRId64 "] is not [%" PRId64
                        ", %" PRId64 "]",
                        a->shape[0], a->shape[1], b->shape[0], b->shape[1], d->shape[0], d->shape[1]);
  if (c->shape[0] != mnk[0] || c->shape[1] != mnk[1] || c->dtype != d->dtype)
    return tesela__fail(err, TESELA_E_INVALID, -1, "%s is added to %s but has another shape or type", c->name,
                        d->name);
  if (!(step->keys & TESELA__INFER_KEY_ATOM)) {
    tesela_status status = atom_choose(program, a->dtype, mnk, &step->atom, err);
    if (status != TESELA_OK) return status;
  }
  const tesela__infer_atom *atom = &program->atom[step->atom];
  tesela_status status = atom_suits(program, step, atom, mnk, err);
  return status != TESELA_OK ? status : atom_suits_warps(program, step, atom, mnk, err);
}
