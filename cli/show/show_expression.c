/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_expression.c - register layouts and tiles in memory: the table or picture, facts in words, JSON.
 *
 * For a register layout only its text and its table are printed, byte for byte as other tools print them. So its box-drawing
 * characters depend on the locale only if stdout is a terminal.
 */
#include <inttypes.h>
#include <string.h>

#include <tesela/draw.h>

#include "expression.h"
#include "main/input.h"
#include "made_of.h"
#include "main/say.h"
#include "show/show.h"
#include "main/json.h"
#include "main/tile_input.h"

/* ---- register layouts ---------------------------------------------------------------------------------- */

/* Options of pictures that tables do not have. */
static bool table_options(const cli_context *cli) {
  static const char *const others[] = {"slice", "linear", "all", "rows", "width"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (cli_has(cli, others[i])) {
      say_usage(cli, "--%s applies to pictures of memory only; register tables are printed whole", others[i]);
      return false;
    }
  return true;
}

/* Is the style for programs, without a headline before the table? */
static bool bare_style(const char *style) {
  return style && (strcmp(style, "csv") == 0 || strcmp(style, "json") == 0);
}

/* A writer to stdout that counts the columns of the widest line, without the first `skip` lines and without escape sequences. */
typedef struct wide {
  int skip;
  bool escape;
  int64_t column, widest;
} wide;

static int write_wide(void *user, const char *text, size_t length) {
  wide *w = user;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '\n') {
      w->column = 0;
      w->skip -= w->skip > 0;
    } else if (c == '\033' || w->escape) {
      w->escape = c != 'm';
    } else if (w->skip == 0 && ((unsigned char)c & 0xc0) != 0x80) { /* not a continuation byte of UTF-8 */
      if (++w->column > w->widest) w->widest = w->column;
    }
  }
  return cli_stdout.write(NULL, text, length);
}

/* Tables are never cut; a note on the terminal suggests what helps when one does not fit. */
static void note_wide(const cli_context *cli, const wide *w) {
  if (cli->out.terminal && w->widest > cli->out.width)
    say_note(cli, "the table is %" PRId64 " columns wide; try --format=plain, --by=thread or less -S",
             w->widest);
}

static int print_table(const cli_context *cli, const tesela_register *layout, int64_t warp) {
  tesela_error err;
  const char *by = cli_value(cli, "by");
  tesela_draw_register_options options = {.style = cli_value(cli, "format")};
  options.by_thread = by && strcmp(by, "thread") == 0;
  options.header = show_wants(cli, "words") && !bare_style(options.style);
  options.color = cli->out.color;
  options.ascii = cli_has(cli, "ascii") || (cli->out.terminal && !cli->out.utf8);
  options.warp = (int32_t)warp;
  wide w = {.skip = options.header};
  tesela_writer to = {write_wide, &w};
  tesela_status status = tesela_draw_register(layout, &options, &to, &err);
  if (status == TESELA_E_STOPPED) return CLI_YES; /* main handles output failures */
  if (status != TESELA_OK) return say_failure(cli, &err);
  putchar('\n');
  if (!bare_style(options.style)) note_wide(cli, &w);
  return CLI_YES;
}

static void words_of_fragment(const tesela_fragment *entry) {
  printf("  fragment    %s of %s, %s; %s", entry->operand[0] ? entry->operand : "registers",
         entry->instruction, entry->types, entry->since);
  printf("\n  axes        %s", entry->axes);
  if (entry->block[0]) printf("; block %s", entry->block);
  printf("; row %s, column %s\n", entry->row, entry->col);
  if (entry->note[0]) printf("  note        %s\n", entry->note);
}

static int print_words(const cli_context *cli, const tesela_any_layout *any, const char *text,
                       size_t length) {
  const tesela_register *layout = &any->registers;
  const tesela_fragment *entry = expression_fragment_entry(text, length);
  int64_t copies = tesela_register_copies(layout);
  tesela_register_print(layout, &cli_stdout, NULL);
  printf("\n  expression  ");
  tesela_register_print_expression(layout, &cli_stdout, NULL);
  printf("\n  threads     %" PRId64 ", %" PRId64 " register%s each", layout->spatial_size, layout->local_size,
         layout->local_size == 1 ? "" : "s");
  if (copies > 1) printf("; every element in %" PRId64 " threads", copies);
  printf("\n");
  if (entry) words_of_fragment(entry);
  if (!made_of_print(layout, text, length, &cli_stdout)) return CLI_FAILED;
  return show_also(cli, any);
}

static int show_register(const cli_context *cli, const tesela_any_layout *any, const char *text,
                         size_t length) {
  int64_t warp;
  if (!table_options(cli) || !expression_warp(cli, text, length, &warp)) return CLI_BAD;
  if (show_wants(cli, "picture")) return print_table(cli, &any->registers, warp);
  return print_words(cli, any, text, length);
}

/* ---- tiles in memory ------------------------------------------------------------------------------------- */

static void words_of_memory(const cli_context *cli, const tesela_any_layout *any) {
  const tesela_tile_memory *memory = &any->memory;
  int64_t elements = 1;
  cli_styled_begin(&cli->out, "1");
  tesela_any_print(any, &cli_stdout, NULL);
  cli_styled_end(&cli->out);
  for (int32_t d = 0; d < memory->rank; d++) elements *= memory->shape[d];
  printf("\n  tile        %" PRId64 " element%s in %" PRId64 " place%s", elements, elements == 1 ? "" : "s",
         memory->size, memory->size == 1 ? "" : "s");
  if (memory->offset > 0) printf(", starting at place %" PRId64, memory->offset);
  printf("\n");
  const tesela_tile_swizzle *s = &memory->swizzle;
  if (s->bits == 0) return;
  int64_t mask = (INT64_C(1) << s->bits) - 1;
  printf("  swizzle     place ^ (place >> %d & %" PRId64 ") << %d\n",
         s->shift >= 0 ? s->base + s->shift : s->base, mask, s->shift >= 0 ? s->base : s->base - s->shift);
}

static int show_memory(const cli_context *cli, const tesela_any_layout *any, const tesela_layout *layout) {
  tesela_draw_options options;
  if (!show_no_table_options(cli)) return CLI_BAD;
  if (!show_picture_options(cli, &options)) return CLI_BAD;
  bool words = show_wants(cli, "words"), picture = show_wants(cli, "picture");
  if (picture && !show_picture_check_layout(cli, layout, &options)) return CLI_BAD;
  if (words) {
    words_of_memory(cli, any);
    const int status = show_also(cli, any);
    if (status != CLI_YES) return status;
  }
  if (words && picture) printf("\n");
  return picture ? show_picture_layout(cli, layout, &options) : CLI_YES;
}

int show_expression(const cli_context *cli, const tesela_any_layout *any, const char *text, size_t length) {
  tesela_layout layout;
  tesela_error err = {.at = -1};
  if (any->kind == TESELA_KIND_REGISTER) return show_register(cli, any, text, length);
  if (tesela_any_to_layout(any, &layout, &err) != TESELA_OK) return say_failure_in(cli, text, length, &err);
  return show_memory(cli, any, &layout);
}
