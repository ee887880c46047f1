/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the table of verbs and options, and nothing else. options.h says what a row means.
 */
#include "options.h"

#include <stddef.h>

#define END \
  { NULL, 0, NULL, NULL }

const cli_option cli_common_options[] = {
    {"json", 0, NULL, "print JSON"},
    {"color", 0, "auto|always|never", "colour; auto: on a terminal, unless NO_COLOR is set"},
    {"ascii", 0, NULL, "no characters beyond ASCII"},
    {"help", 'h', NULL, "print the help of this verb"},
    END,
};

static const cli_option no_options[] = {END};

static const cli_option diff_options[] = {
    {"top", 'n', "N", "show the first N changes, 10 unless told; 0: all"},
    {"units", 'u', "iec|si|bytes|xla", "GiB, GB, bytes, or G as XLA prints it"},
    {"space", 0, "N", "only arrays of memory space N; 0 is the device's main one"},
    {"tsv", 0, NULL, "print tab-separated values, a line for each change"},
    END,
};

static const cli_option help_options[] = {
    {"man", 0, NULL, "print the manual page"},
    {"completion", 0, "bash|zsh|fish", "print the completions for a shell"},
    END,
};

static const cli_option report_options[] = {
    {"by", 0, "waste|size|expansion", "what comes first; waste unless told"},
    {"top", 'n', "N", "show the first N arrays, 10 unless told; 0: all"},
    {"units", 'u', "iec|si|bytes|xla", "GiB, GB, bytes, or G as XLA prints it"},
    {"space", 0, "N", "only arrays of memory space N; 0 is the device's main one"},
    {"tsv", 0, NULL, "print tab-separated values, a line for each array"},
    {"max-waste", 0, "SHARE", "exit 1 if more of the stored bytes is padding: 10%"},
    {"max-bytes", 0, "SIZE", "exit 1 if more bytes are stored: 16GiB"},
    END,
};

static const cli_option show_options[] = {
    {"slice", 's', "SLICE", "which dims to draw, and which part: 0,:,8:16"},
    {"linear", 'l', NULL, "draw the places in order, with the element at each"},
    {"all", 'a', NULL, "draw every slice, up to 64; list every array of a tuple"},
    {"rows", 0, "N", "rows of cells in a picture (24)"},
    {"width", 0, "N", "columns of text (those of the terminal)"},
    {"only", 0, "words|picture", "leave out the other part"},
    END,
};

static const cli_option what_options[] = {
    {"bytes", 'b', NULL, "PLACE is a byte; the answer is every element with a bit in it"},
    {"words", 'w', NULL, "say it in words, too (as on a terminal)"},
    END,
};

static const cli_option where_options[] = {
    {"words", 'w', NULL, "say it in words, too: byte and bit (as on a terminal)"},
    END,
};

/* ---- what help and the manual page say ---------------------------------------------------------------------- */

static const char show_details[] =
    "Says what a layout means: the order of the dims, what each tile level does, the size in memory and "
    "what padding each dim causes; then draws it. Each cell of the picture is an element, the number in "
    "it its place in memory; cells with a dot are padding.\n\n"
    "--slice has an entry for each dim: an index, a range 8:16, or : for all of it; one or two dims with "
    "a range are drawn. Without it the two dims that vary fastest are. With --linear it is one range of "
    "places.\n\n"
    "The word - reads layouts from standard input, one a line; with --json each is one line.\n\n"
    "  $ tesela show --only=picture 'f32[2,3]{1,0}'\n"
    "  dim 0 down, dim 1 across\n"
    "     0 1 2\n"
    "  ...";

static const char where_details[] =
    "Prints the place of each INDEX in memory, counted in elements from the first one, one a line. An "
    "INDEX is written 2,3 or [2,3] or (2,3); - reads more of them from standard input, one a line.\n\n"
    "  $ tesela where 'f32[3,5]{1,0:T(2,2)}' 2,3\n"
    "  17";

static const char what_details[] =
    "Prints the index of the element at each PLACE, one a line, or the word padding. A PLACE counts "
    "elements, or bytes with --bytes; - reads more of them from standard input, one a line.\n\n"
    "  $ tesela what 'f32[3,5]{1,0:T(2,2)}' 17 9\n"
    "  2,3\n"
    "  padding";

static const char same_details[] =
    "Compares two layouts of one shape, or two tuples member by member. Exit status 0 means that every "
    "element is at the same place in "
    "both, 1 that one is not; the first such element is printed. Element types of one width and "
    "the sizes of the padding may differ: a note says so.\n\n"
    "  $ tesela same 'f32[24,128]{1,0:T(8,128)}' 'f32[24,128]{1,0}'\n"
    "  same";

static const char report_details[] =
    "Reads the memory reports that XLA prints when a program does not fit, in any log, and HLO text. "
    "Shows how much of the memory is padding, which arrays, why, what made them, and which order of the "
    "dims, tile format or merge of dims takes less; beside the compiler's own figures where the log has "
    "them.\n\n"
    "A FILE may be a folder: all text files in and below it; - or no FILE is standard input. With a "
    "limit the exit status is 1 when it is exceeded. docs/report.md says how arrays are counted and "
    "lists the fields of --json and --tsv.\n\n"
    "  $ tesela report train.log\n"
    "  $ kubectl logs job | tesela report --max-waste 10% -";

static const char diff_details[] =
    "Reads BEFORE and AFTER as report does and prints the arrays that changed layout or size, are gone "
    "or new, those with the largest change of bytes first. Arrays are matched by shape, then by type and "
    "dims, then by operation; names that the compiler numbers anew do not count. Exit status 0 means "
    "that no array changed.";

static const char formats_details[] =
    "Prints the seven formats that XLA's tiled-layout document names: tiles, an example, what each is "
    "for.";

static const char query_details[] =
    "Reads one request a line from standard input and answers each with one line, in order. "
    "docs/query.md lists the requests; {\"op\":\"ops\"} prints the list.\n\n"
    "  $ echo '{\"op\":\"where\",\"layout\":\"f32[3,5]{1,0:T(2,2)}\",\"indices\":[[2,3]]}' | tesela query\n"
    "  {\"id\":null,\"ok\":true,\"places\":[17]}";

static const char help_details[] = "Without a VERB, prints the list of verbs.";

/* ---- the table -------------------------------------------------------------------------------------------- */

const cli_verb cli_verbs[] = {
    {"show", cmd_show, "LAYOUT", 1, 1, "words, sizes and a picture of a layout", show_details, show_options},
    {"where", cmd_where, "LAYOUT INDEX...", 2, ANY, "the place of an element", where_details, where_options},
    {"what", cmd_what, "LAYOUT PLACE...", 2, ANY, "the element at a place", what_details, what_options},
    {"same", cmd_same, "A B", 2, 2, "do two layouts put every element at the same place?", same_details,
     no_options},
    {"report", cmd_report, "[FILE...]", 0, ANY, "what is padding in a memory report or HLO text, and why",
     report_details, report_options},
    {"diff", cmd_diff, "BEFORE AFTER", 2, 2,
     "the arrays that changed between two memory reports or HLO texts", diff_details, diff_options},
    {"formats", cmd_formats, "", 0, 0, "the formats of the tiled-layout document", formats_details,
     no_options},
    {"query", cmd_query, "", 0, 0, "answer requests in JSON, one a line", query_details, no_options},
    {"version", cmd_version, "", 0, 0, "print the version", "", no_options},
    {"help", cmd_help, "[VERB]", 0, 1, "print the help of a verb, the manual page, completions", help_details,
     help_options},
};

const int cli_n_verbs = sizeof cli_verbs / sizeof cli_verbs[0];
