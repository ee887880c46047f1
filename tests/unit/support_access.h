/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_access.h - an oracle of tile accesses: tables of places from the mode lists, and counts from those tables by
 * the definitions in access.h. Uses no code of src/ and no function of the library.
 */
#ifndef TESELA_TEST_SUPPORT_ACCESS_H
#define TESELA_TEST_SUPPORT_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/access.h>

/* place[t * locals + l] of a register tile in memory. */
typedef struct access_table {
  int64_t threads, locals, *place;
} access_table;

void access_table_fill(access_table *table, const tesela_register *registers,
                       const tesela_tile_memory *memory);
void access_table_free(access_table *table);

/* From the lists. */
void access_oracle_index(const tesela_register *registers, int64_t thread, int64_t local, int64_t *index);
int64_t access_oracle_place(const tesela_tile_memory *memory, const int64_t *index);

/* Is this vector possible, and can every thread use it? */
bool access_oracle_fits(const access_table *table, int32_t bits, int64_t v, int64_t max_bytes);
int64_t access_oracle_widest(const access_table *table, int32_t bits, int64_t max_bytes); /* or 0 */
int64_t access_oracle_renamed(const access_table *table, int32_t bits, int64_t max_bytes);
int32_t access_oracle_dim(const tesela_register *registers, int64_t v);

/* No zeros in `machine`; the vector fits. lanes 0: as in access.h; else lanes per phase. */
tesela_access_cost access_oracle_cost(const access_table *table, int32_t bits, int64_t v,
                                      const tesela_access_machine *machine, int32_t lanes);
/* The same without sectors and lines, with these lanes. */
tesela_access_cost access_oracle_shared(const access_table *table, int32_t bits, int64_t v,
                                        const tesela_access_machine *machine, int64_t lanes);
int64_t access_oracle_lanes(const tesela_access_machine *machine, int64_t bytes); /* per phase */
/* words[b] of bank b in one phase. */
void access_oracle_banks(const access_table *table, int32_t bits, int64_t v,
                         const tesela_access_machine *machine, int64_t warp, int64_t instruction,
                         int64_t phase, int32_t *words);

/* ldmatrix: does it apply; the columns of an atom; the element of row 0 of each atom, [warp * tiles + j][2]. */
typedef struct access_atoms {
  bool applies, transposed;
  int64_t warps, tiles; /* per warp */
  int64_t columns;
  int64_t (*corner)[2]; /* owned by the caller */
} access_atoms;
void access_oracle_atoms(const tesela_register *registers, const tesela_tile_memory *memory, int32_t bits,
                         access_atoms *atoms);
/* The row reads as a table: 8 threads per warp. */
void access_oracle_rows(const access_atoms *atoms, const tesela_tile_memory *memory, access_table *table);

/* Wavefronts and instructions of one use; false if its vectors are impossible in this memory. */
bool access_oracle_use(const tesela_access_use *use, const tesela_tile_memory *memory, int32_t bits,
                       const tesela_access_machine *machine, int64_t *wavefronts, int64_t *instructions);

/* The best of the family, trying each candidate. best->memory is built here, without the library. */
bool access_oracle_synthesize(int32_t n_uses, const tesela_access_use *uses, int32_t bits, int64_t max_bytes,
                              const tesela_access_machine *machine, tesela_synthesis *best);

/* ---- random cases --------------------------------------------------------------------------------------------- */

int64_t access_random(int64_t n); /* 0 .. n-1 */
void access_random_start(void);   /* restart at first_seed() */

/* A shape of up to `most` elements; `power`: of powers of two only. */
int32_t access_random_shape(int64_t *shape, int64_t most, bool power);
void access_random_registers(tesela_register *out, int32_t rank, const int64_t *shape, int64_t threads_more);
void access_random_memory(tesela_tile_memory *out, int32_t rank, const int64_t *shape);

#endif
