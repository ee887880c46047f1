/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.h - what verbs and ops print of register layouts and tiles in memory: their fields as JSON, and the threads that hold an element.
 */
#ifndef TESELA_CLI_EXPRESSION_H
#define TESELA_CLI_EXPRESSION_H

#include <tesela/notation.h>

#include <tesela/ops.h>

#define EXPRESSION_LIST ((int64_t)1 << 20) /* elements, threads, offsets in one list at most */

/* Fields into the object that is open: shape, mode_shape, ... text, expression (NULL: what the library finds). */
void expression_put_register(tesela_sink *j, const tesela_register *layout, const char *expression);
/* space, shape, mode_shape, ... text. */
void expression_put_memory(tesela_sink *j, const tesela_tile_memory *memory);

/* "threads": all threads that hold an element, ascending, and "local". TESELA_E_LIMIT for more than EXPRESSION_LIST. */
tesela_status expression_put_place(tesela_sink *j, const tesela_register *layout, const int64_t *index,
                                   tesela_error *err);

/* TESELA_E_LIMIT for more threads of an element than are listed. */
tesela_status expression_check_copies(const tesela_register *layout, tesela_error *err);

/* "table": {"0,1": [[threads], local], ...}, every element in row-major order. TESELA_E_LIMIT for more threads of elements
 * than EXPRESSION_LIST. */
tesela_status expression_put_table(tesela_sink *j, const tesela_register *layout, tesela_error *err);

/* Text with "5: 3" or, of several copies, "[1, 5, 9]: 3" to a writer. */
tesela_status expression_print_place(const tesela_register *layout, const int64_t *index,
                                     const tesela_writer *to, tesela_error *err);

/* The entry of the catalogue that a text names, NULL if it is something else. */
const tesela_fragment *expression_fragment_entry(const char *text, size_t length);
/* All that the catalogue has about an entry, into the object that is open. */
void expression_put_fragment(tesela_sink *j, const tesela_fragment *entry);

/* Advance to the next index of a shape in row-major order; false after the last. */
bool expression_next(int32_t rank, const int64_t *shape, int64_t *index);

#endif
