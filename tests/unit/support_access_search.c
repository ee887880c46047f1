/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_access_search.c - the oracle of ldmatrix and of the search for layouts: atoms lane by lane, and every layout
 * of the family.
 */
#include "support_access.h"

#include <stdlib.h>

/* ---- ldmatrix --------------------------------------------------------------------------------------------------- */

/* Row and column of element e of a lane in an atom. */
static void oracle_in_atom(int32_t bits, bool transposed, int64_t lane, int64_t e, int64_t *row,
                           int64_t *column) {
  *row = transposed ? 2 * (lane % 4) + e : lane / 4;
  *column = transposed ? lane / 4 : lane % 4 * (32 / bits) + e;
}

static bool oracle_of_atoms(const tesela_register *r, int32_t bits, bool transposed, access_atoms *atoms) {
  int64_t each = 32 / bits;
  atoms->columns = 128 / bits;
  if (r->rank != 2 || r->spatial_size % 32 != 0 || r->local_size % each != 0) return false;
  atoms->warps = r->spatial_size / 32;
  atoms->tiles = r->local_size / each;
  for (int64_t w = 0; w < atoms->warps; w++)
    for (int64_t j = 0; j < atoms->tiles; j++) {
      int64_t *corner = atoms->corner[w * atoms->tiles + j];
      access_oracle_index(r, 32 * w, j * each, corner);
      if (corner[0] % 8 != 0 || corner[1] % atoms->columns != 0) return false;
      for (int64_t lane = 0; lane < 32; lane++)
        for (int64_t e = 0; e < each; e++) {
          int64_t index[2], row, column;
          access_oracle_index(r, 32 * w + lane, j * each + e, index);
          oracle_in_atom(bits, transposed, lane, e, &row, &column);
          if (index[0] != corner[0] + row || index[1] != corner[1] + column) return false;
        }
    }
  return true;
}

void access_oracle_atoms(const tesela_register *registers, const tesela_tile_memory *memory, int32_t bits,
                         access_atoms *atoms) {
  *atoms = (access_atoms){.applies = false};
  if (bits != 8 && bits != 16 && bits != 32) return;
  atoms->corner = malloc((size_t)(registers->spatial_size * registers->local_size) * sizeof *atoms->corner);
  atoms->applies = oracle_of_atoms(registers, bits, false, atoms);
  if (!atoms->applies && bits == 16) {
    atoms->transposed = oracle_of_atoms(registers, bits, true, atoms);
    atoms->applies = atoms->transposed;
  }
  for (int64_t i = 0; atoms->applies && i < atoms->warps * atoms->tiles; i++)
    for (int64_t row = 0; row < 8; row++) {
      int64_t start =
          access_oracle_place(memory, (int64_t[]){atoms->corner[i][0] + row, atoms->corner[i][1]});
      if (start * bits / 8 % 16 != 0) atoms->applies = false;
      for (int64_t c = 1; c < atoms->columns; c++)
        if (access_oracle_place(memory, (int64_t[]){atoms->corner[i][0] + row, atoms->corner[i][1] + c}) !=
            start + c)
          atoms->applies = false;
    }
}

void access_oracle_rows(const access_atoms *atoms, const tesela_tile_memory *memory, access_table *table) {
  table->threads = atoms->warps * 8;
  table->locals = atoms->tiles * atoms->columns;
  table->place = malloc((size_t)(table->threads * table->locals) * sizeof *table->place);
  for (int64_t t = 0; t < table->threads; t++)
    for (int64_t l = 0; l < table->locals; l++) {
      const int64_t *corner = atoms->corner[t / 8 * atoms->tiles + l / atoms->columns];
      table->place[t * table->locals + l] =
          access_oracle_place(memory, (int64_t[]){corner[0] + t % 8, corner[1] + l % atoms->columns});
    }
}

/* ---- synthesis -------------------------------------------------------------------------------------------------- */

bool access_oracle_use(const tesela_access_use *use, const tesela_tile_memory *memory, int32_t bits,
                       const tesela_access_machine *m, int64_t *wavefronts, int64_t *instructions) {
  access_table table;
  access_atoms atoms;
  if (use->ldmatrix && m->warp == 32) {
    access_oracle_atoms(use->registers, memory, bits, &atoms);
    if (atoms.applies) {
      tesela_access_machine eight = *m;
      eight.warp = 8;
      access_oracle_rows(&atoms, memory, &table);
      *wavefronts = access_oracle_shared(&table, bits, atoms.columns, &eight, 8).wavefronts;
      int64_t per = atoms.tiles % 4 == 0 ? 4 : atoms.tiles % 2 == 0 ? 2 : 1;
      *instructions = atoms.warps * atoms.tiles / per;
      access_table_free(&table);
      free(atoms.corner);
      return true;
    }
    free(atoms.corner);
  }
  access_table_fill(&table, use->registers, memory);
  int64_t v = use->vector;
  if (v == 0) v = access_oracle_widest(&table, bits, m->max_vector_bytes);
  bool possible = v > 0 && access_oracle_fits(&table, bits, v, m->max_vector_bytes);
  if (possible) {
    tesela_access_cost cost = access_oracle_shared(&table, bits, v, m, access_oracle_lanes(m, v * bits / 8));
    *wavefronts = cost.wavefronts;
    *instructions = cost.instructions;
  }
  access_table_free(&table);
  return possible;
}

typedef struct oracle_search {
  int32_t n_uses, bits;
  const tesela_access_use *uses;
  int64_t max_bytes, best_bytes;
  tesela_access_machine m;
  bool found;
  tesela_synthesis best;
} oracle_search;

static void oracle_consider(oracle_search *s, const tesela_tile_memory *memory, bool first) {
  int64_t wavefronts = 0, instructions = 0, bytes = (memory->size * s->bits + 7) / 8;
  if (bytes > s->max_bytes) return;
  s->best.candidates++;
  for (int32_t i = 0; i < s->n_uses; i++) {
    int64_t w, n, weight = s->uses[i].weight ? s->uses[i].weight : 1;
    if (!access_oracle_use(&s->uses[i], memory, s->bits, &s->m, &w, &n)) return;
    wavefronts += w * weight;
    instructions += n * weight;
  }
  if (first) s->best.plain = wavefronts;
  if (s->found) {
    if (wavefronts > s->best.wavefronts) return;
    if (wavefronts == s->best.wavefronts) {
      if (instructions > s->best.instructions) return;
      if (instructions == s->best.instructions && bytes >= s->best_bytes) return;
    }
  }
  s->found = true;
  s->best.memory = *memory;
  s->best.wavefronts = wavefronts;
  s->best.instructions = instructions;
  s->best_bytes = bytes;
}

/* Row-major, or with the last two dims swapped, with `padding` elements after each row; or rows in blocks of `block`
 * elements, where each block of all rows comes before the next block. */
static tesela_tile_memory oracle_candidate(int32_t rank, const int64_t *shape, int swapped, int64_t block,
                                           int64_t padding) {
  tesela_tile_memory memory = {.space = TESELA_TILE_SHARED, .rank = rank, .size = 1};
  int64_t stride[TESELA_MAX_RANK] = {0}, next = 1;
  int32_t fast = swapped ? rank - 2 : rank - 1, slow = swapped ? rank - 1 : rank - 2;
  if (rank >= 1) stride[fast] = 1;
  if (rank >= 2) stride[slow] = block > 0 ? block : shape[fast] + padding;
  if (rank >= 2) next = (shape[fast] + padding) * shape[slow];
  for (int32_t d = rank - 3; d >= 0; d--) {
    stride[d] = next;
    next *= shape[d];
  }
  for (int32_t d = 0; d < rank; d++) {
    memory.shape[d] = shape[d];
    if (d == fast && block > 0) {
      memory.mode_shape[memory.n_modes] = shape[d] / block;
      memory.mode_strides[memory.n_modes++] = block * shape[slow];
      memory.mode_shape[memory.n_modes] = block;
    } else {
      memory.mode_shape[memory.n_modes] = shape[d];
    }
    memory.mode_strides[memory.n_modes++] = stride[d];
  }
  for (int32_t m = 0; m < memory.n_modes; m++)
    memory.size += (memory.mode_shape[m] - 1) * memory.mode_strides[m];
  return memory;
}

static void oracle_stages(oracle_search *s, const tesela_tile_memory *plain) {
  int64_t elements = plain->size;
  for (int32_t b = 1; b < 20; b++)
    for (int32_t base = 0; base < 20; base++)
      for (int32_t shift = b; shift < 20; shift++) {
        bool inside = true,
             reads = false; /* mixed aligned runs stay inside; the highest bit it reads is used */
        tesela_tile_memory memory = *plain;
        memory.swizzle = (tesela_tile_swizzle){base, b, shift};
        for (int64_t x = 0; x < elements; x++) {
          if (x - x % (INT64_C(1) << (base + b)) + (INT64_C(1) << (base + b)) > elements) inside = false;
          if (x >> (base + shift + b - 1) & 1) reads = true;
        }
        if (inside && reads) oracle_consider(s, &memory, false);
      }
}

static void oracle_family(oracle_search *s, int32_t rank, const int64_t *shape) {
  int64_t all = (int64_t)s->m.banks * s->m.bank_bytes;
  tesela_tile_memory memory;
  int orders = rank >= 2 ? 2 : 1;
  for (int swapped = 0; swapped < orders; swapped++) {
    memory = oracle_candidate(rank, shape, swapped, 0, 0);
    oracle_consider(s, &memory, !swapped);
  }
  for (int swapped = 0; swapped < orders; swapped++) {
    memory = oracle_candidate(rank, shape, swapped, 0, 0);
    oracle_stages(s, &memory);
  }
  for (int swapped = 0; swapped < orders && rank >= 2; swapped++) {
    int64_t extent = shape[swapped ? rank - 2 : rank - 1], block = 0;
    if (8 * all % s->bits != 0) continue;
    for (int64_t b = 1; b <= extent; b++) /* the longest that divides a row and all banks */
      if (extent % b == 0 && 8 * all / s->bits % b == 0) block = b;
    if (block == extent) continue;
    memory = oracle_candidate(rank, shape, swapped, block, 0);
    oracle_consider(s, &memory, false);
    oracle_stages(s, &memory);
  }
  for (int swapped = 0; swapped < 2 && rank >= 2; swapped++)
    for (int64_t p = 1; p * s->bits <= 8 * all; p++) {
      if (p * s->bits % 8 != 0) continue;
      memory = oracle_candidate(rank, shape, swapped, 0, p);
      oracle_consider(s, &memory, false);
    }
}

bool access_oracle_synthesize(int32_t n_uses, const tesela_access_use *uses, int32_t bits, int64_t max_bytes,
                              const tesela_access_machine *machine, tesela_synthesis *best) {
  const tesela_register *first = uses[0].registers;
  oracle_search s = {.n_uses = n_uses, .bits = bits, .uses = uses, .m = *machine, .best = {.plain = -1}};
  tesela_tile_memory plain = oracle_candidate(first->rank, first->shape, 0, 0, 0);
  s.max_bytes = max_bytes ? max_bytes : (plain.size * bits + 7) / 8 * 2;
  oracle_family(&s, first->rank, first->shape);
  *best = s.best;
  return s.found;
}
