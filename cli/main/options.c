/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the table of verbs and options, and nothing else. options.h says what a row means.
 */
#include "main/options.h"

#include <stddef.h>

/* Of the verbs about threads that run in warps, and about their memory. */
#define WARP_OPTION \
  { "warp", 0, "N", "threads of a warp, up to 64; 32 unless told" }
#define MACHINE_OPTIONS                                                       \
  WARP_OPTION, {"banks", 0, "N", "banks of shared memory; 32 unless told"}, { \
    "bank-bytes", 0, "N", "bytes of a bank; 4 unless told"                    \
  }

/* Of the verbs that look for a layout in shared memory. */
#define SEARCH_OPTION \
  { "max-steps", 0, "N", "give up a search of more than N steps (default: 67108864)" }

/* Of the verbs that take device layouts. */
#define TARGET_OPTION \
  { "target", 0, "TARGET", "of device layouts: tiles, or a file that describes one (default: spyre)" }

#define END \
  { NULL, 0, NULL, NULL }

/* Of the verbs that read tensors in files. */
#define HEADER_OPTION \
  { "max-header", 0, "SIZE", "memory for the header of a .safetensors at most (default: 256MiB)" }

/* Of the verbs that copy tensors between files. */
#define COPY_OPTIONS                                                                         \
  {"threads", 0, "N", "copy with at most N threads; unless told, one for each CPU allowed"}, \
      {"memory", 0, "SIZE", "keep about SIZE of the files in memory at a time: 1GiB"}, {     \
    "isa", 0, "best|c|neon|avx2|avx512", "use no instructions beyond these"                  \
  }

/* Of the verbs that run ways of copying side by side. */
#define TRIAL_OPTION \
  { "max-bytes", 0, "SIZE", "refuse a problem with more bytes on both sides (default: 1GiB)" }
#define WAYS_OPTIONS(solver, isa)                                                                       \
  {"solver", 0, "all|any|memcpy|rows|transpose|interleave|deinterleave|bits|strided|gather",            \
   "force this one; any is the planner's choice, all are those that apply; " solver " unless told"},    \
      {"isa", 0, "all|best|c|neon|avx2|avx512", "no instructions beyond these; " isa " unless told"}, { \
    "threads", 0, "N", "copy with at most N threads; unless told, one for each CPU allowed"             \
  }

static const cli_option no_options[] = {END};

static const cli_option bench_options[] = {
    TARGET_OPTION,
    WAYS_OPTIONS("any", "best"),
    {"rounds", 'r', "N", "measure N times, 15 unless told"},
    TRIAL_OPTION,
    END,
};

static const cli_option check_options[] = {
    TARGET_OPTION, WAYS_OPTIONS("all", "all"), {"seed", 0, "N", "other data; 1 unless told"}, TRIAL_OPTION,
    END,
};

static const cli_option cmp_options[] = {
    TARGET_OPTION,
    {"a", 0, "LAYOUT", "of FILE_A: f32[20,200]{1,0}; braces alone where the file says type and dims"},
    {"b", 0, "LAYOUT", "of FILE_B"},
    {"layout", 'l', "LAYOUT", "of both"},
    {"dtype", 0, "TYPE", "the type of elements that a file calls otherwise: bf16 for <V2"},
    {"tensor", 0, "NAME", "only this tensor of .safetensors files; unless told, all, by name"},
    {"tensor-a", 0, "NAME", "which one of FILE_A"},
    {"tensor-b", 0, "NAME", "which one of FILE_B"},
    HEADER_OPTION,
    END,
};

static const cli_option diff_options[] = {
    {"top", 'n', "N", "show the first N changes, 10 unless told; 0: all"},
    {"units", 'u', "iec|si|bytes|xla", "GiB, GB, bytes, or G as XLA prints it"},
    {"space", 0, "N", "only arrays of memory space N; 0 is the device's main one"},
    {"tsv", 0, NULL, "print tab-separated values, a line for each change"},
    END,
};

static const cli_option digest_options[] = {
    TARGET_OPTION,
    {"layout", 'l', "LAYOUT", "of each FILE: f32[20,200]{1,0}; braces alone where it says type and dims"},
    {"dtype", 0, "TYPE", "the type of elements that a file calls otherwise: bf16 for <V2"},
    {"tensor", 0, "NAME", "only this tensor of a .safetensors; unless told, all"},
    HEADER_OPTION,
    END,
};

static const cli_option formats_options[] = {
    {"fragments", 'f', NULL, "the fragments of matrix instructions instead"},
    {"functions", 0, NULL, "the functions of register expressions instead"},
    {"rules", 0, NULL, "what operators of a program ask of device layouts instead"},
    {"target", 0, "TARGET", "with --rules: for tiles, or a file that describes a target (default: for all)"},
    END,
};

static const cli_option query_options[] = {
    {"files", 0, "DIR", "operations may read and write files in DIR and its folders (default: no files)"},
    TARGET_OPTION,
    END,
};

static const cli_option help_options[] = {
    {"man", 0, NULL, "print the manual page"},
    {"completion", 0, "bash|zsh|fish", "print the completions for a shell"},
    END,
};

static const cli_option pack_options[] = {
    TARGET_OPTION,
    {"output", 'o', "FILE", "write to FILE; - or no -o is standard output"},
    {"to", 't', "LAYOUT", "for every tensor that no rule takes: {1,0:T(8,128)}"},
    {"from", 'f', "LAYOUT", "of a raw FILE: f32[1000,200]{1,0}"},
    {"dtype", 0, "TYPE", "the type of elements that the file calls otherwise: bf16 for <V2"},
    {"fill", 0, "VALUE", "what goes into padding: zero (unless told), leave, 1.5, 0x7fc0"},
    COPY_OPTIONS,
    HEADER_OPTION,
    END,
};

static const cli_option plan_options[] = {
    TARGET_OPTION,
    {"explain", 'e', NULL, "print the loops, each piece, and what every solver said"},
    {"fill", 0, "VALUE", "what goes into padding: zero (unless told), leave, 1.5, 0x7fc0"},
    {"solver", 0, "any|memcpy|rows|transpose|interleave|deinterleave|bits|strided|gather",
     "use this one wherever it applies"},
    {"isa", 0, "best|c|neon|avx2|avx512", "use no instructions beyond these"},
    {"threads", 0, "N", "at most N threads; unless told, one for each CPU allowed"},
    {"effort", 0, "estimate|measure", "measure runs several plans and keeps the fastest"},
    END,
};

static const cli_option relayout_options[] = {
    TARGET_OPTION,
    {"output", 'o', "FILE", "write to FILE; - or no -o is standard output"},
    {"from", 'f', "LAYOUT", "of FILE; others than raw ones say it themselves"},
    {"to", 't', "LAYOUT", "to write: {1,0:T(8,128)}, or with type and dims"},
    {"format", 0, "raw|npy|safetensors", "of the output; by its name unless told, raw without one"},
    {"transform", 0, "none|swap|convert|split|merge",
     "on the way: reverse the bytes of numbers, convert to the type of --to, f64 to two f32, two f32 to f64"},
    {"tensor", 0, "NAME", "which tensor of a .safetensors"},
    {"dtype", 0, "TYPE", "the type of elements that the file calls otherwise: bf16 for <V2"},
    {"fill", 0, "VALUE", "what goes into padding: zero (unless told), leave, 1.5, 0x7fc0"},
    COPY_OPTIONS,
    HEADER_OPTION,
    END,
};

static const cli_option report_options[] = {
    {"by", 0, "waste|size|expansion", "what comes first; waste unless told"},
    {"top", 'n', "N", "show the first N arrays, 10 unless told; 0: all"},
    {"units", 'u', "iec|si|bytes|xla", "GiB, GB, bytes, or G as XLA prints it"},
    {"space", 0, "N", "only arrays of memory space N; 0 is the device's main one"},
    {"tsv", 0, NULL, "print tab-separated values, a line for each array"},
    {"max-waste", 0, "SHARE",
     "exit 1 if more of the stored bytes is padding: 10%; 3 if the report cannot tell"},
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
    {"format", 0, "STYLE",
     "how the table of a register layout looks: simple (unless told), grid, plain, csv, ..."},
    {"by", 0, "element|thread", "rows of a register layout are rows of the tile, or threads"},
    {"warp", 0, "N", "threads of a warp, for the colours; 32 unless told, 64 of a fragment of 64 lanes"},
    TARGET_OPTION,
    END,
};

static const cli_option access_options[] = {
    {"dtype", 0, "TYPE", "of the elements; f16 unless told"},
    {"vector", 0, "N", "elements of a vector; the widest unless told"},
    MACHINE_OPTIONS,
    END,
};

static const cli_option dma_options[] = {
    TARGET_OPTION,
    {"strides", 0, "S,S,...", "of the host tensor, in elements; row-major unless told"},
    {"offset", 0, "N", "of its first element"},
    {"box", 0, "A:B,...", "only these elements, a range for each dim"},
    {"to-host", 0, NULL, "from the device to the host"},
    {"plain", 0, NULL, "a loop for each device dim, none merged"},
    {"innermost-first", 0, NULL, "the innermost loop first"},
    {"padding", 0, NULL, "the places that hold no element instead: what a fill writes"},
    {"source", 0, NULL, "print the loops as source"},
    {"max-dims", 0, "N", "loops of a nest at most; the target's limit unless told, as all limits"},
    {"max-extent", 0, "N", "iterations of a loop at most"},
    {"max-nests", 0, "N", "nests at most, up to 1048576 (default: the target's limit, or 65536)"},
    {"alignment", 0, "BYTES", "of device offsets and strides"},
    {"min-burst", 0, "BYTES", "contiguous on the device at least"},
    {"max-burst", 0, "BYTES", "contiguous at most"},
    END,
};

static const cli_option graph_options[] = {
    {"target", 0, "TARGET",
     "the program's own, or spyre, unless told: spyre, tiles, or a file that describes one"},
    {"mode", 0, "strict|auto", "no moves, or those of least price; propagate is strict unless told"},
    {"share", 0, NULL, "consumers that need the same copy share it"},
    {"spread", 0, NULL, "moves may go to one element per stick"},
    {"compact", 0, NULL, "moves may start from one element per stick"},
    {"copies", 0, NULL, "views may be copied, at the price of the copy: reshapes across sticks"},
    {"materialise", 0, NULL, "--copies, and --spread and --compact where that does not do"},
    {"proof", 0, NULL, "print what each edge pays"},
    {"effort", 0, "N", "steps of search"},
    {"hlo", 0, NULL, "print the program as HLO text, with layouts and moves"},
    {"loops", 0, "NAME", "print the loops of one operator over tiled memory"},
    {"cores", 0, "N", "with --loops: divide it over N cores"},
    {"padding", 0, NULL, "print what padding lanes hold, and which operators would read it"},
    {"capacity", 0, "BYTES", "plan: exit 1 if the arena needs more"},
    {"scratchpad", 0, "BYTES", "plan: fast memory, for the buffers with most traffic"},
    {"no-reuse", 0, NULL, "plan: no result in an operand's place"},
    {"inputs", 0, NULL, "plan: inputs and outputs are in the arena, too"},
    {"csv", 0, NULL, "plan: print buffers as CSV"},
    {"in", 0, "NAME=FILE", "run: take this input from a .npy or .safetensors; may be repeated"},
    {"out", 0, "NAME=FILE", "run: write this result to a .npy; may be repeated"},
    {"seed", 0, "N", "run: make up other inputs, or those without --in (default: 1)"},
    {"max-steps", 0, "N", "run: refuse a program of more results and products (default: 10000000000)"},
    {"max-bytes", 0, "SIZE", "run: refuse a program that takes more memory (default: 4GiB)"},
    END,
};

static const cli_option verify_options[] = {
    TARGET_OPTION,
    {"from", 'f', "LAYOUT", "of FILE, if it is raw and not row-major"},
    {"tensor", 0, "NAME", "which tensor of a .safetensors"},
    HEADER_OPTION,
    END,
};

static const cli_option convert_options[] = {
    {"dtype", 0, "TYPE", "of the elements; f16 unless told"},
    {"through", 0, "any|shuffle|shared",
     "use only shuffles, or only shared memory, where registers alone do not do"},
    WARP_OPTION,
    SEARCH_OPTION,
    {"cuda", 0, "NAME", "print CUDA: a device function NAME and a kernel NAME_kernel"},
    END,
};

static const cli_option swizzle_options[] = {
    {"dtype", 0, "TYPE", "of the elements; f16 unless told"},
    {"ldmatrix", 0, NULL, "use ldmatrix and stmatrix where they apply"},
    SEARCH_OPTION,
    MACHINE_OPTIONS,
    END,
};

static const cli_option unpack_options[] = {
    {"output", 'o', "FILE", "write to FILE; - or no -o is standard output"},
    {"tensor", 0, "NAME", "only this tensor"},
    {"format", 0, "raw|npy|safetensors", "of the output; by its name unless told, raw without one"},
    COPY_OPTIONS,
    HEADER_OPTION,
    END,
};

static const cli_option same_options[] = {TARGET_OPTION, END};

static const cli_option what_options[] = {
    TARGET_OPTION,
    {"bytes", 'b', NULL, "PLACE is a byte; the answer is every element with a bit in it"},
    {"words", 'w', NULL, "say it in words, too (as on a terminal)"},
    END,
};

static const cli_option where_options[] = {
    TARGET_OPTION,
    {"words", 'w', NULL, "say it in words, too: byte and bit (as on a terminal)"},
    {"warp", 0, "N", "threads of a warp, for the words; 32 unless told, 64 of a fragment of 64 lanes"},
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
    "Of a register layout the text and a table are printed, and nothing else: a cell is thread: register, "
    "with copies [threads]: register; three dims are several tables. With --by=thread the rows are threads, "
    "the columns their registers, the cells elements. --format has the styles of the Python package "
    "tabulate: "
    "simple, plain, lines, grid, rounded, heavy, mixed, double, fancy, outline, simple_outline, "
    "rounded_outline, heavy_outline, mixed_outline, double_outline, fancy_outline, github, pipe, orgtbl, "
    "jira, "
    "presto, pretty, psql, rst, tsv, html, and csv and json, which have no text in front; simple_grid is "
    "simple, and so on. Colours are warps, shades groups of four threads. --only=words has the facts: an "
    "expression, threads, registers, what matrix instructions it is made of: one name for all operands that "
    "are laid out alike, and how many others there are. --json has all of them under made_of.\n\n"
    "Of a device layout there is a table: a row for each device dim, outermost first, with its host dim, the "
    "elements of it that one digit steps over, and the strides on both sides; then sizes, padding, and the "
    "same "
    "layout in every notation that can say it, XLA's included. --target says types, stick bytes and order "
    "where "
    "the text does not, and what an allocation takes; docs/device.md has the format of its FILE.\n\n"
    "The word - reads layouts from standard input, one a line; with --json each is one line.\n\n"
    "  $ tesela show --only=picture 'f32[2,3]{1,0}'\n"
    "  dim 0 down, dim 1 across\n"
    "     0 1 2\n"
    "  ...\n\n"
    "  $ tesela show 'local(2, 1).spatial(2, 3)' --format=grid\n"
    "  RegisterLayout(shape=[4, 3], mode_shape=[2, 2, 3], spatial_modes=[1, 2], local_modes=[0])\n"
    "  +------+------+------+\n"
    "  | 0: 0 | 1: 0 | 2: 0 |\n"
    "  +------+------+------+\n"
    "  | 3: 0 | 4: 0 | 5: 0 |\n"
    "  +------+------+------+\n"
    "  | 0: 1 | 1: 1 | 2: 1 |\n"
    "  +------+------+------+\n"
    "  | 3: 1 | 4: 1 | 5: 1 |\n"
    "  +------+------+------+\n\n"
    "  $ tesela show mma.m16n8k16.f16.A\n"
    "  $ tesela show --by=thread 'reduce(spatial(8, 4), dims=[1])'\n"
    "  $ tesela show 'shared_row_major_swizzle(8, 64, nbytes=2)'\n"
    "  $ tesela show 'f16[1000,200] stick(dim_order=[0,1])'";

static const char where_details[] =
    "Prints the place of each INDEX in memory, counted in elements from the first one, one a line. An "
    "INDEX is written 2,3 or [2,3] or (2,3); - reads more of them from standard input, one a line. In a "
    "register "
    "layout a place is thread: register; an element in several threads has them all on its line.\n\n"
    "  $ tesela where 'f32[3,5]{1,0:T(2,2)}' 2,3\n"
    "  17\n\n"
    "  $ tesela where mma.m16n8k8.f16.C 9,3\n"
    "  5: 3\n\n"
    "  $ tesela where 'reduce(spatial(3, 4), dims=[0])' 1\n"
    "  1: 0  5: 0  9: 0\n\n"
    "  $ tesela where 'f16[1000,200] stick(dim_order=[0,1])' 2,70\n"
    "  64134";

static const char what_details[] =
    "Prints the index of the element at each PLACE, one a line, or the word padding. A PLACE counts "
    "elements, or bytes with --bytes; - reads more of them from standard input, one a line. Of a register "
    "layout "
    "it is thread:register.\n\n"
    "  $ tesela what 'f32[3,5]{1,0:T(2,2)}' 17 9\n"
    "  2,3\n"
    "  padding\n\n"
    "  $ tesela what mma.m16n8k8.f16.C 5:3\n"
    "  9,3";

static const char same_details[] =
    "Compares two layouts of one shape, or two tuples member by member. Exit status 0 means that every "
    "element is at the same place in "
    "both, 1 that one is not; the first such element is printed. Element types of one width and "
    "the sizes of the padding may differ: a note says so.\n\n"
    "Two register layouts are the same if every element is in the same threads and in the same register of "
    "them, "
    "however that is written. Tiles in memory, device layouts and XLA layouts are compared with each "
    "other.\n\n"
    "  $ tesela same 'f32[24,128]{1,0:T(8,128)}' 'f32[24,128]{1,0}'\n"
    "  same\n\n"
    "  $ tesela same 'local(2, 1).spatial(8, 4).local(1, 2)' mma.m16n8k8.f16.C\n"
    "  same\n\n"
    "  $ tesela same 'f16[1024,256] stick(dim_order=[0,1])' 'f16[1024,256]{0,1:T(64,1)}'\n"
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

static const char relayout_details[] =
    "Copies a tensor to another layout. FILE is raw bytes, .npy or .safetensors, found from its first bytes; "
    "- is "
    "standard input. Raw bytes need --from; the others say type, dims and order themselves (a .npy its "
    "fortran_order; "
    "big-endian numbers are swapped on the way), and --from, if given, must agree. --to may be braces "
    "alone.\n\n"
    "The output is raw unless its name or --format says .npy (dims in order or in reverse, no padding) or "
    ".safetensors (any layout, recorded in the metadata as pack does). It is written under another name in "
    "the same folder and renamed when it is whole, so it may be FILE itself.\n\n"
    "Files are mapped, not read, so a file may be larger than the machine's memory. With --memory a copy "
    "that changes which dim is contiguous goes window by window, and in small chunks; after each of them, if "
    "more than half of SIZE is in memory, all pages of both files are let go.\n\n"
    "  $ tesela relayout x.npy -o x.tiled --to '{1,0:T(8,128)}'\n"
    "  $ tesela relayout x.tiled -o y.npy --from 'f32[1000,200]{1,0:T(8,128)}' --to '{1,0}'";

static const char pack_details[] =
    "Writes a .safetensors whose tensors are in the layouts of a device, each layout recorded in the "
    "metadata under "
    "tesela.layout.NAME. For other readers a packed tensor is a list of its places, padding included. A RULE "
    "is "
    "PATTERN={...}: it takes the tensors whose name matches (* ? [a-z]) and that have as many dims as the "
    "braces "
    "list; the first RULE that does counts, --to comes last, and what none takes is copied as it is. A "
    "tensor that is "
    "packed already is refused. FILE may be raw or .npy, too; its tensor is named \"tensor\".\n\n"
    "  $ tesela pack model.safetensors -o tpu.safetensors '*.weight={1,0:T(8,128)(2,1)}'\n"
    "  $ tesela pack x.npy -o x.safetensors --to '{0,1:T(8,128)}'";

static const char unpack_details[] =
    "Undoes pack: every tensor with a recorded layout gets its type and dims back, row-major, and the record "
    "goes; "
    "other tensors and other metadata stay. A tensor of a type that the format lacks (s4 of 4 bits) becomes "
    "a "
    "list of U8 with its row-major layout recorded; pack takes it again. One tensor can be written as .npy "
    "or "
    "raw.\n\n"
    "  $ tesela unpack tpu.safetensors -o model.safetensors\n"
    "  $ tesela unpack tpu.safetensors --tensor wte.weight -o wte.npy";

static const char plan_details[] =
    "A PROBLEM says what the data is and what it shall become: on the right of the arrow stands a "
    "layout in braces, or a whole shape, whose type may be another one. Prints how tesela would copy "
    "it, in one line.\n\n"
    "  $ tesela plan 'f32[1024,1024]{1,0} -> {1,0:T(8,128)}'\n"
    "  ...\n"
    "  $ tesela plan --explain 'f32[20,200]{1,0} -> bf16[20,200]{1,0:T(8,128)(2,1)}'";

static const char check_details[] =
    "Copies random data with every solver that applies to the PROBLEM and every instruction set of this "
    "machine, with padding set to zero, left, and set to a value, and compares every element, all "
    "padding and the bytes around with what the definition of the two layouts says, element by element. "
    "Exit status 1 means that one was wrong; its first wrong element is named. The two sides may take 1 "
    "GiB together.\n\n"
    "  $ tesela check 'f32[1000,200]{1,0} -> {0,1:T(8,128)}'";

static const char bench_details[] =
    "Checks first, as check does, then measures: each round runs memcpy and every way of copying one "
    "after the other. Prints the best and the median time, the rate in 10^9 bytes read "
    "and written a second, the rate beside that of memcpy on one thread (the median of all rounds), and "
    "the time to make the plan.\n\n"
    "  $ tesela bench 'f32[4096,4096]{1,0} -> {0,1}' --threads=1\n"
    "  $ tesela bench 'bf16[2048,2048]{1,0} -> {1,0:T(8,128)(2,1)}' --solver=all --isa=all";

static const char cmp_details[] =
    "Compares the values of two tensors whatever their layouts; padding does not count, -0 and 0 "
    "differ. A FILE is raw bytes, .npy or .safetensors; raw bytes need a LAYOUT. Of .safetensors with "
    "several tensors those of one name are compared. Exit status 0 means the same; else the first element "
    "that differs is printed, with its place and its value in each, and how many differ.\n\n"
    "  $ tesela cmp x.raw x.tiled --a='f32[20,200]{1,0}' --b='f32[20,200]{1,0:T(8,128)}'\n"
    "  same";

static const char digest_details[] =
    "Prints a fingerprint of the values of each FILE, 128 bits in hexadecimal, that is the same for "
    "every layout of one tensor. It covers the type, the width of an element, the dims and the bits of "
    "all elements; padding does not count. It is not cryptographic. Each tensor of a .safetensors with "
    "several has a line of its own, FILE:NAME.\n\n"
    "  $ tesela digest x.npy\n"
    "  $ tesela digest --layout='f32[20,200]{1,0:T(8,128)}' x.tiled y.tiled";

static const char access_details[] =
    "Says what moving a tile between registers and memory costs: the widest vector of each thread, "
    "instructions, and "
    "for shared memory the wavefronts and bank conflicts of each phase and whether ldmatrix does it; for "
    "global memory "
    "the sectors moved. REGISTERS is a register layout, MEMORY a shared_.. or global_.. one. "
    "docs/register.md has both "
    "languages.\n\n"
    "  $ tesela access mma.m16n8k16.f16.A 'shared_row_major(16, 16)'\n"
    "  $ tesela access 'spatial(32, 1).local(1, 32)' 'shared_row_major(32, 32)' --dtype=f32 --vector=1\n"
    "  $ tesela access mfma.f32_32x32x8_f16.A 'shared_row_major(32, 8)' --warp=64";

static const char swizzle_details[] =
    "Finds the layout in shared memory, plain, swizzled or with padded rows, that has the fewest wavefronts "
    "when the "
    "given register layouts write and read a tile, and prints it.\n\n"
    "  $ tesela swizzle 'spatial(32, 1).local(1, 32)' 'spatial(1, 32).local(32, 1)' --dtype=f32";

static const char convert_details[] =
    "Plans how threads that hold a tile in layout FROM come to hold it in layout TO: not at all, by moves "
    "within each "
    "thread, by rounds of shuffles, or through shared memory. With --cuda the plan is printed as source "
    "code.\n\n"
    "  $ tesela convert 'local(2).spatial(32)' 'spatial(32).local(2)' --dtype=f32";

static const char dma_details[] =
    "Prints a transfer between a host tensor and a device layout as loop nests: ranges, device strides and "
    "host strides of "
    "each, in elements. They are disjoint and cover exactly the elements there are. Neighbours are merged "
    "unless --plain "
    "is given; limits of the engine, the target's or those given, cut nests until each keeps them, or are "
    "refused with what "
    "would be needed.\n\n"
    "  $ tesela dma 'f16[1000,200] stick(dim_order=[0,1])'\n"
    "  $ tesela dma 'f16[1000,200] stick(dim_order=[0,1])' --strides=1,1000 --to-host --source";

static const char graph_details[] =
    "TASK is propagate, assign, plan or run; FILE is a program in HLO text "
    "or in JSON (docs/graph.md has the form), - is standard "
    "input. propagate carries device layouts through the program without "
    "moves, and names the first operator that no layout "
    "suits; assign puts in the moves it needs at least price; plan gives "
    "every buffer a place in memory, and takes a list of "
    "buffers in CSV, too; run executes the program on tiled memory and on "
    "plain memory and compares the bits, with inputs and results in files "
    "(--in, --out) or made up. Exit status 1: no "
    "layout suits, the capacity does not suffice, results differ.\n\n"
    "  $ tesela graph propagate model.hlo\n"
    "  $ tesela graph assign linear.json --proof\n"
    "  $ tesela graph run linear.json --in x=x.npy --in w=w.npy --out y=y.npy\n"
    "  $ tesela graph plan buffers.csv --capacity=1048576 --csv";

static const char verify_details[] =
    "Says whether DUMP, bytes of device memory from the first place on, holds the tensor of FILE in a device "
    "layout. FILE is "
    "raw (row-major), .npy or .safetensors. Exit status 1: an element differs; the first is printed, with "
    "what "
    "lies there instead and which element has that value. Padding does not count.\n\n"
    "  $ tesela verify 'f16[1000,200] stick(dim_order=[0,1])' dump.bin x.npy";

static const char infer_details[] =
    "Reads a kernel program - tensors, some with layouts, and operations on "
    "them - and finds the layouts of the others, "
    "or says what contradicts, with exit status 1 (--json then has "
    "a field conflict). docs/infer.md has the language. - is standard input.\n\n"
    "  $ tesela infer matmul.kernel";

static const char formats_details[] =
    "Prints the seven formats that XLA's tiled-layout document names: tiles, an example, what each is "
    "for. With --fragments it prints how the matrix instructions of GPUs place their operands in registers: "
    "name, shape, types, the row and the column of element i of a lane (g is lane/4, t is lane%4), and the "
    "layout "
    "as an expression. Each name is a LAYOUT; where it has N, a number stands there. With --functions it "
    "prints "
    "the functions from which register layouts and tiles in memory are written, with --rules what the "
    "operators of a "
    "program ask of the device layouts of their operands (docs/graph.md), on a --target its own rules first.";

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
     same_options},
    {"report", cmd_report, "[FILE...]", 0, ANY, "what is padding in a memory report or HLO text, and why",
     report_details, report_options},
    {"diff", cmd_diff, "BEFORE AFTER", 2, 2,
     "the arrays that changed between two memory reports or HLO texts", diff_details, diff_options},
    {"relayout", cmd_relayout, "FILE --to=LAYOUT [-o OUT]", 1, 1, "write a tensor in another layout",
     relayout_details, relayout_options},
    {"pack", cmd_pack, "FILE [RULE...] [--to=LAYOUT] [-o OUT]", 1, ANY,
     "write tensors in a device's layouts, with the layouts recorded", pack_details, pack_options},
    {"unpack", cmd_unpack, "FILE [-o OUT]", 1, 1, "write packed tensors row-major again", unpack_details,
     unpack_options},
    {"cmp", cmd_cmp, "FILE_A FILE_B", 2, 2, "do two files hold the same values, whatever their layouts?",
     cmp_details, cmp_options},
    {"digest", cmd_digest, "FILE...", 1, ANY, "a fingerprint of the values that no layout changes",
     digest_details, digest_options},
    {"plan", cmd_plan, "PROBLEM", 1, 1, "how a tensor is copied to another layout", plan_details,
     plan_options},
    {"check", cmd_check, "PROBLEM", 1, 1, "every way of copying against the definition", check_details,
     check_options},
    {"bench", cmd_bench, "PROBLEM", 1, 1, "how fast a tensor is copied, beside memcpy", bench_details,
     bench_options},
    {"access", cmd_access, "REGISTERS MEMORY", 2, 2, "what moving a register tile to or from memory costs",
     access_details, access_options},
    {"swizzle", cmd_swizzle, "REGISTERS...", 1, ANY,
     "the layout in shared memory with the fewest bank conflicts", swizzle_details, swizzle_options},
    {"convert", cmd_convert, "FROM TO", 2, 2, "how one register layout becomes another", convert_details,
     convert_options},
    {"dma", cmd_dma, "DEVICE_LAYOUT", 1, 1, "a transfer between host and device as loop nests", dma_details,
     dma_options},
    {"verify", cmd_verify, "DEVICE_LAYOUT DUMP FILE", 3, 3, "does a dump of device memory hold a tensor?",
     verify_details, verify_options},
    {"graph", cmd_graph, "TASK FILE", 2, 2, "device layouts, moves and memory for a program", graph_details,
     graph_options},
    {"infer", cmd_infer, "FILE", 1, 1, "layouts for all tensors of a kernel program", infer_details,
     no_options},
    {"formats", cmd_formats, "", 0, 0, "the formats of the tiled-layout document", formats_details,
     formats_options},
    {"query", cmd_query, "", 0, 0, "answer requests in JSON, one a line", query_details, query_options},
    {"version", cmd_version, "", 0, 0, "print the version", "", no_options},
    {"help", cmd_help, "[VERB]", 0, 1, "print the help of a verb, the manual page, completions", help_details,
     help_options},
    {NULL, NULL, NULL, 0, 0, NULL, NULL, NULL},
};
