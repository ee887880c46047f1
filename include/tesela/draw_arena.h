/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_arena.h - memory plans as pictures: steps across, offsets upwards, a letter for each buffer.
 *
 *   id  lower upper size offset          5 │······bbbbbbbbbbbbbbbbbbbbbbbb······
 *   a     0     3    4     0             4 │······bbbbbbbbbbbbbbbbbbbbbbbb······
 *   b     1     5    2     4             3 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *   c     3     6    4     0             2 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *                                        1 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *                                        0 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *                                          └┬───────────┬───────────┬───────────
 *                                           0           2           4
 *
 * A cell of the picture is so many steps and so many bytes; it shows the buffer that takes up most of it, or that it is free.
 */
#ifndef TESELA_DRAW_ARENA_H
#define TESELA_DRAW_ARENA_H

#include <tesela/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How to draw. {0} is right: 80 columns, 24 rows, Unicode, no colour.
typedef struct tesela_draw_arena_options {
  int32_t width;                     ///< columns of text a line may have, up to 1000; 0: 80
  int32_t max_rows;                  ///< rows of cells, up to 1000; 0: 24
  bool ascii;                        ///< . | + - in place of the dot and of box-drawing characters
  bool color;                        ///< ANSI colours, by letter; the letters stay
  const tesela_allocator *allocator; ///< NULL: malloc and free
} tesela_draw_arena_options;

/// Draw a plan. The buffers with most cells have the letters a .. z, A .. Z, in their order; others are `#`; cells of which at
/// least half is free have a dot. Buffers that are not placed, have no size, or never live are left out.
///
/// Example: the three buffers above in 40 columns: the picture above, marks "abc", and a last line that says
/// "A row is 1 byte, a column 1 step; · is free."
///
/// @param n        0 to 2^20; nothing is printed if no buffer is left
/// @param buffers  a plan, as tesela_arena_plan leaves it
/// @param marks    receives n letters, `#` or a blank (not in the picture), no NUL; may be NULL
/// @param to       receives UTF-8 (with ascii: ASCII) lines; the last says what a row and a column are
/// @return TESELA_OK; TESELA_E_RANGE for n, width or rows, a negative size, upper < lower; TESELA_E_OVERFLOW for an end
///         beyond 2^62; TESELA_E_MEMORY; TESELA_E_STOPPED. O(52 n + cells that buffers cover).
TESELA_API tesela_status tesela_draw_arena(int32_t n, const tesela_arena_buffer *buffers,
                                           const tesela_draw_arena_options *options, char *marks,
                                           const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
