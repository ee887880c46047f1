/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the table of verbs and options. options.h explains a row; details.c has the long texts.
 */
#include "main/options.h"

#include <stddef.h>

/* Verbs about threads in warps and their memory. */
#define WARP_OPTION \
  { "warp", 0, "N", "threads of a warp, up to 64 (default: 32)" }
#define MACHINE_OPTIONS                                                     \
  WARP_OPTION, {"banks", 0, "N", "banks of shared memory (default: 32)"}, { \
    "bank-bytes", 0, "N", "bytes of a bank (default: 4)"                    \
  }

/* Verbs that search for a layout in shared memory. */
#define SEARCH_OPTION \
  { "max-steps", 0, "N", "end a search after N steps (default: 67108864)" }

/* Verbs that accept device layouts. */
#define TARGET_OPTION                                                                           \
  {                                                                                             \
    "target", 0, "TARGET",                                                                      \
        "target of device layouts: spyre, tiles, or a FILE that describes one (default: spyre)" \
  }

/* Verbs that read layouts in any notation. */
#define UNTYPED_OPTIONS                                                                                      \
  {"shape", 0, "N,N,...", "dims of texts without them, or the valid part of a larger text: 20,70 or 20x70"}, \
      {"as", 0, "FORM",                                                                                      \
       "tv:16x8: a CuTe layout maps (thread, value) to the elements of a tile; thread[32],local[4]: index "  \
       "arithmetic gives the places on these axes"},                                                         \
  {                                                                                                          \
    "definitions", 'i', "FILE", "the file that defines names in the text, as #blocked"                       \
  }
#define TEXT_OPTIONS                                                                   \
  TARGET_OPTION, UNTYPED_OPTIONS, {                                                    \
    "dtype", 0, "TYPE", "element type of texts without one (default: no type, 8 bits)" \
  }

#define END \
  { NULL, 0, NULL, NULL }

/* Verbs that read tensors in files. */
#define HEADER_OPTION \
  { "max-header", 0, "SIZE", "most memory for the header of a .safetensors (default: 256MiB)" }

/* Verbs that copy tensors between files. */
#define COPY_OPTIONS                                                                             \
  {"threads", 0, "N", "copy with at most N threads (default: one per CPU allowed)"},             \
      {"memory", 0, "SIZE", "keep about SIZE of the files in memory at a time, such as 1GiB"}, { \
    "isa", 0, "best|c|neon|avx2|avx512", "use no instructions beyond these (default: best)"      \
  }

/* Verbs that compare ways of copying. */
#define TRIAL_OPTION \
  { "max-bytes", 0, "SIZE", "refuse a problem with more than SIZE on both sides together (default: 1GiB)" }
#define WAYS_OPTIONS(solver, isa)                                                                         \
  {"solver", 0, "all|any|memcpy|rows|transpose|interleave|deinterleave|bits|strided|gather|permute",      \
   "use this one; any: the planner's choice; all: each that applies (default: " solver ")"},              \
      {"isa", 0, "all|best|c|neon|avx2|avx512", "use no instructions beyond these (default: " isa ")"}, { \
    "threads", 0, "N", "copy with at most N threads (default: one per CPU allowed)"                       \
  }

static const cli_option no_options[] = {END};

static const cli_option bench_options[] = {
    TEXT_OPTIONS,
    WAYS_OPTIONS("any", "best"),
    {"rounds", 'r', "N", "measure N times (default: 15)"},
    TRIAL_OPTION,
    END,
};

static const cli_option check_options[] = {
    TEXT_OPTIONS,
    WAYS_OPTIONS("all", "all"),
    {"seed", 0, "N", "seed of the random data (default: 1)"},
    TRIAL_OPTION,
    END,
};

static const cli_option cmp_options[] = {
    TARGET_OPTION,
    UNTYPED_OPTIONS,
    {"a", 0, "LAYOUT", "layout of FILE_A: f32[20,200]{1,0}; braces alone where the file has type and dims"},
    {"b", 0, "LAYOUT", "layout of FILE_B"},
    {"layout", 'l', "LAYOUT", "layout of both"},
    {"dtype", 0, "TYPE", "element type where the file or the layout lacks it: bf16 for <V2"},
    {"tensor", 0, "NAME", "only this tensor of .safetensors files (default: all, by name)"},
    {"tensor-a", 0, "NAME", "tensor of FILE_A"},
    {"tensor-b", 0, "NAME", "tensor of FILE_B"},
    HEADER_OPTION,
    END,
};

static const cli_option diff_options[] = {
    {"top", 'n', "N", "show the first N changes (default: 10; 0: all)"},
    {"units", 'u', "iec|si|bytes|xla", "GiB, GB, bytes, or G as XLA prints it"},
    {"space", 0, "N", "only arrays of memory space N; 0 is the main memory of the device"},
    {"tsv", 0, NULL, "print tab-separated values, one line per change"},
    END,
};

static const cli_option digest_options[] = {
    TARGET_OPTION,
    UNTYPED_OPTIONS,
    {"layout", 'l', "LAYOUT",
     "layout of each FILE: f32[20,200]{1,0}; braces alone where it has type and dims"},
    {"dtype", 0, "TYPE", "element type where the file or the layout lacks it: bf16 for <V2"},
    {"tensor", 0, "NAME", "only this tensor of a .safetensors (default: all)"},
    HEADER_OPTION,
    END,
};

static const cli_option formats_options[] = {
    {"fragments", 'f', NULL, "the fragments of matrix instructions instead"},
    {"functions", 0, NULL, "the functions of register expressions instead"},
    {"rules", 0, NULL, "what operators of a program require of device layouts instead"},
    {"target", 0, "TARGET",
     "with --rules: tiles, or a FILE that describes a target (default: rules of all targets)"},
    END,
};

static const cli_option query_options[] = {
    {"files", 0, "DIR",
     "allow operations to read and write files in DIR and its folders (default: no files)"},
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
    UNTYPED_OPTIONS,
    {"output", 'o', "FILE", "write to FILE (default: standard output, also -); of an index: the new index"},
    {"to", 't', "LAYOUT", "layout of tensors that no RULE matches: {1,0:T(8,128)}"},
    {"from", 'f', "LAYOUT", "layout of a raw FILE: f32[1000,200]{1,0}"},
    {"dtype", 0, "TYPE", "element type where the file or the layout lacks it: bf16 for <V2"},
    {"fill", 0, "VALUE", "content of padding: zero, leave, or a value such as 1.5 or 0x7fc0 (default: zero)"},
    {"verify", 0, NULL,
     "read the output back and compare every element and all padding before it gets its name"},
    {"dry-run", 'n', NULL,
     "write nothing: check all and print what would be done; with --verify, check the existing output"},
    {"resume", 0, NULL, "continue what an earlier run left, and leave what a later one continues"},
    COPY_OPTIONS,
    HEADER_OPTION,
    END,
};

static const cli_option plan_options[] = {
    TEXT_OPTIONS,
    {"explain", 'e', NULL, "print the loops, each piece, and the answer of every solver"},
    {"fill", 0, "VALUE", "content of padding: zero, leave, or a value such as 1.5 or 0x7fc0 (default: zero)"},
    {"solver", 0, "any|memcpy|rows|transpose|interleave|deinterleave|bits|strided|gather|permute",
     "use this solver wherever it applies (default: any)"},
    {"isa", 0, "best|c|neon|avx2|avx512", "use no instructions beyond these (default: best)"},
    {"threads", 0, "N", "at most N threads (default: one per CPU allowed)"},
    {"effort", 0, "estimate|measure", "measure: run several plans and keep the fastest (default: estimate)"},
    END,
};

static const cli_option relayout_options[] = {
    TARGET_OPTION,
    UNTYPED_OPTIONS,
    {"output", 'o', "FILE", "write to FILE (default: standard output, also -)"},
    {"from", 'f', "LAYOUT", "layout of a raw FILE; other formats contain it"},
    {"to", 't', "LAYOUT", "layout to write: {1,0:T(8,128)}, or with type and dims"},
    {"format", 0, "raw|npy|safetensors", "format of the output (default: by its name; raw without one)"},
    {"transform", 0, "none|swap|convert|split|merge",
     "swap: reverse the bytes of numbers; convert: to the type of --to; split: f64 to two f32; merge: two "
     "f32 to f64"},
    {"tensor", 0, "NAME", "tensor of a .safetensors"},
    {"dtype", 0, "TYPE", "element type where the file or the layout lacks it: bf16 for <V2"},
    {"fill", 0, "VALUE", "content of padding: zero, leave, or a value such as 1.5 or 0x7fc0 (default: zero)"},
    COPY_OPTIONS,
    HEADER_OPTION,
    END,
};

static const cli_option report_options[] = {
    {"by", 0, "waste|size|expansion", "sort by this, largest first (default: waste)"},
    {"top", 'n', "N", "show the first N arrays (default: 10; 0: all)"},
    {"units", 'u', "iec|si|bytes|xla", "GiB, GB, bytes, or G as XLA prints it"},
    {"space", 0, "N", "only arrays of memory space N; 0 is the main memory of the device"},
    {"tsv", 0, NULL, "print tab-separated values, one line per array"},
    {"max-waste", 0, "SHARE",
     "exit 1 if a larger share of the stored bytes is padding, such as 10%; 3 if the report leaves it open"},
    {"max-bytes", 0, "SIZE", "exit 1 if more bytes are stored, such as 16GiB"},
    {"max-peak", 0, "SIZE", "exit 1 if more bytes are needed at one time, such as 16GiB"},
    {"timeline", 0, NULL, "draw the bytes over time; with --json the lives of all buffers"},
    {"baseline", 0, "PATH",
     "an earlier report, HLO text or folder: what takes more since then, and the line that made it"},
    END,
};

static const cli_option show_options[] = {
    {"slice", 's', "SLICE", "dims to draw, and which part of them: 0,:,8:16"},
    {"linear", 'l', NULL, "draw the places in order, with the element at each place"},
    {"all", 'a', NULL, "draw every slice, up to 64; list every array of a tuple"},
    {"rows", 0, "N", "rows of cells in a picture (default: 24)"},
    {"width", 0, "N", "columns of text (default: those of the terminal)"},
    {"only", 0, "words|picture", "print only this part"},
    {"format", 0, "STYLE",
     "style of the table of a register layout: simple, grid, plain, csv, ... (default: simple)"},
    {"by", 0, "element|thread",
     "rows of the table of a register layout: rows of the tile, or threads (default: element)"},
    {"warp", 0, "N", "threads of a warp, for the colours (default: 32; 64 for a fragment of 64 lanes)"},
    TEXT_OPTIONS,
    END,
};

static const cli_option access_options[] = {
    UNTYPED_OPTIONS,
    {"dtype", 0, "TYPE", "element type (default: that of the layouts, else f16)"},
    {"vector", 0, "N", "elements per vector (default: the widest possible)"},
    MACHINE_OPTIONS,
    END,
};

static const cli_option dma_options[] = {
    TARGET_OPTION,
    {"strides", 0, "S,S,...", "strides of the host tensor, in elements (default: row-major)"},
    {"offset", 0, "N", "offset of its first element (default: 0)"},
    {"box", 0, "A:B,...", "only these elements: one range per dim"},
    {"to-host", 0, NULL, "copy from the device to the host"},
    {"plain", 0, NULL, "one loop per device dim, without merging"},
    {"innermost-first", 0, NULL, "print the innermost loop first"},
    {"padding", 0, NULL, "transfer the padding instead: the places that a fill writes"},
    {"source", 0, NULL, "print the loops as source"},
    {"max-dims", 0, "N", "most loops of a nest (default of all limits: the target's)"},
    {"max-extent", 0, "N", "most iterations of a loop"},
    {"max-nests", 0, "N", "most nests, up to 1048576 (default: the target's limit, or 65536)"},
    {"alignment", 0, "BYTES", "alignment of device offsets and strides"},
    {"min-burst", 0, "BYTES", "fewest contiguous bytes on the device"},
    {"max-burst", 0, "BYTES", "most contiguous bytes"},
    END,
};

static const cli_option graph_options[] = {
    {"target", 0, "TARGET",
     "spyre, tiles, or a FILE that describes a target (default: the program's own, or spyre)"},
    {"mode", 0, "strict|auto", "strict: no moves; auto: those of least price (default of propagate: strict)"},
    {"share", 0, NULL, "consumers that need the same copy share it"},
    {"spread", 0, NULL, "allow moves to one element per stick"},
    {"compact", 0, NULL, "allow moves from one element per stick"},
    {"copies", 0, NULL, "allow views to be copied, at the price of the copy: reshapes across sticks"},
    {"materialise", 0, NULL, "--copies, and --spread and --compact where copies are not enough"},
    {"proof", 0, NULL, "print the price of each edge"},
    {"effort", 0, "N", "most steps of the search"},
    {"hlo", 0, NULL, "print the program as HLO text, with layouts and moves"},
    {"loops", 0, "NAME", "print the loops of one operator over tiled memory"},
    {"cores", 0, "N", "with --loops: divide it over N cores"},
    {"padding", 0, NULL, "print the content of padding lanes, and the operators that would read them"},
    {"capacity", 0, "BYTES", "plan: exit 1 if the arena needs more"},
    {"scratchpad", 0, "BYTES", "plan: fast memory for the buffers with the most traffic"},
    {"no-reuse", 0, NULL, "plan: never reuse the memory of an operand for a result"},
    {"inputs", 0, NULL, "plan: put inputs and outputs in the arena, too"},
    {"csv", 0, NULL, "plan: print buffers as CSV"},
    {"in", 0, "NAME=FILE", "run: read this input from a .npy or .safetensors; may be repeated"},
    {"out", 0, "NAME=FILE", "run: write this result to a .npy; may be repeated"},
    {"seed", 0, "N", "run: seed of the made-up inputs, those without --in (default: 1)"},
    {"max-steps", 0, "N", "run: refuse a program with more results and products (default: 10000000000)"},
    {"max-bytes", 0, "SIZE", "run: refuse a program that needs more memory (default: 4GiB)"},
    END,
};

static const cli_option verify_options[] = {
    TARGET_OPTION,
    UNTYPED_OPTIONS,
    {"from", 'f', "LAYOUT", "layout of FILE, if it is raw and not row-major"},
    {"tensor", 0, "NAME", "tensor of a .safetensors"},
    HEADER_OPTION,
    END,
};

static const cli_option convert_options[] = {
    UNTYPED_OPTIONS,
    {"dtype", 0, "TYPE", "element type (default: that of the layouts, else f16)"},
    {"through", 0, "any|shuffle|shared",
     "use only shuffles, or only shared memory, where moves within threads are not enough (default: any)"},
    WARP_OPTION,
    SEARCH_OPTION,
    {"cuda", 0, "NAME", "print CUDA: a device function NAME and a kernel NAME_kernel"},
    END,
};

static const cli_option swizzle_options[] = {
    UNTYPED_OPTIONS,
    {"dtype", 0, "TYPE", "element type (default: that of the layouts, else f16)"},
    {"vector", 0, "N", "elements per vector of all layouts (default: the widest possible)"},
    {"ldmatrix", 0, NULL, "use ldmatrix and stmatrix where they apply"},
    SEARCH_OPTION,
    MACHINE_OPTIONS,
    END,
};

static const cli_option unpack_options[] = {
    {"output", 'o', "FILE", "write to FILE (default: standard output, also -)"},
    {"tensor", 0, "NAME", "only this tensor"},
    {"format", 0, "raw|npy|safetensors", "format of the output (default: by its name; raw without one)"},
    COPY_OPTIONS,
    HEADER_OPTION,
    END,
};

static const cli_option same_options[] = {TEXT_OPTIONS, END};

static const cli_option translate_options[] = {
    {"to", 't', "NOTATION", "the notation to write: cute, triton, ..., or all"},
    TEXT_OPTIONS,
    END,
};

static const cli_option choose_options[] = {
    {"target", 0, "tpu|v2|v3|v4|v5e|v5p|v6e|tpu7x", "the TPU (default: tpu, which is v4 and later)"},
    {"keep-order", 0, NULL, "keep the order of the dims that LAYOUT has"},
    {"inside", 0, NULL, "an array inside a program, not an argument: no large tiles below 16 bits"},
    END,
};

static const cli_option predict_options[] = {
    {"target", 0, "v2|v3|v4|v5e|v5p|v6e|tpu7x", "the TPU (default: v5e)"},
    END,
};

static const cli_option what_options[] = {
    TEXT_OPTIONS,
    {"bytes", 'b', NULL, "PLACE is a byte; print every element with a bit in it"},
    {"words", 'w', NULL, "print it in words, too (default on a terminal)"},
    END,
};

static const cli_option where_options[] = {
    TEXT_OPTIONS,
    {"words", 'w', NULL, "print it in words, too: byte and bit (default on a terminal)"},
    {"warp", 0, "N", "threads of a warp, for the words (default: 32; 64 for a fragment of 64 lanes)"},
    END,
};

/* ---- the table -------------------------------------------------------------------------------------------- */

const cli_verb cli_verbs[] = {
    {"show", cmd_show, "LAYOUT", 1, 1, "words, sizes and a picture of a layout", show_details, show_options},
    {"where", cmd_where, "LAYOUT INDEX...", 2, ANY, "the place of an element in memory", where_details,
     where_options},
    {"what", cmd_what, "LAYOUT PLACE...", 2, ANY, "the element at a place", what_details, what_options},
    {"same", cmd_same, "A B", 2, 2, "whether two layouts put every element at the same place", same_details,
     same_options},
    {"translate", cmd_translate, "LAYOUT --to=NOTATION", 1, 1, "a layout in another notation, with a verdict",
     translate_details, translate_options},
    {"choose", cmd_choose, "SHAPE", 1, 1, "the layout that a TPU's compiler gives an array", choose_details,
     choose_options},
    {"predict", cmd_predict, "FILE", 1, 1,
     "what the arguments and results of a program take, before it is compiled", predict_details,
     predict_options},
    {"report", cmd_report, "[FILE...]", 0, ANY, "how much of a memory report or HLO text is padding, and why",
     report_details, report_options},
    {"diff", cmd_diff, "BEFORE AFTER", 2, 2, "arrays that changed between two memory reports or HLO texts",
     diff_details, diff_options},
    {"relayout", cmd_relayout, "FILE --to=LAYOUT [-o OUT]", 1, 1, "write a tensor in another layout",
     relayout_details, relayout_options},
    {"pack", cmd_pack, "FILE [RULE...] [--to=LAYOUT] [-o OUT]", 1, ANY,
     "write tensors in device layouts, and record the layouts", pack_details, pack_options},
    {"unpack", cmd_unpack, "FILE [-o OUT]", 1, 1, "write packed tensors row-major again", unpack_details,
     unpack_options},
    {"cmp", cmd_cmp, "FILE_A FILE_B", 2, 2, "whether two files hold the same values, whatever their layouts",
     cmp_details, cmp_options},
    {"digest", cmd_digest, "FILE...", 1, ANY, "a fingerprint of the values, the same for every layout",
     digest_details, digest_options},
    {"plan", cmd_plan, "PROBLEM", 1, 1, "how a tensor is copied to another layout", plan_details,
     plan_options},
    {"check", cmd_check, "PROBLEM", 1, 1, "test every way of copying against the definition", check_details,
     check_options},
    {"bench", cmd_bench, "PROBLEM", 1, 1, "how fast a tensor is copied, compared with memcpy", bench_details,
     bench_options},
    {"access", cmd_access, "REGISTERS MEMORY", 2, 2, "the cost of moving a register tile to or from memory",
     access_details, access_options},
    {"swizzle", cmd_swizzle, "REGISTERS...", 1, ANY,
     "the plain, swizzled or padded shared layout with the fewest bank conflicts", swizzle_details,
     swizzle_options},
    {"convert", cmd_convert, "FROM TO", 2, 2, "how one register layout becomes another", convert_details,
     convert_options},
    {"dma", cmd_dma, "DEVICE_LAYOUT", 1, 1, "a transfer between host and device as loop nests", dma_details,
     dma_options},
    {"verify", cmd_verify, "DEVICE_LAYOUT DUMP FILE", 3, 3, "whether a dump of device memory holds a tensor",
     verify_details, verify_options},
    {"graph", cmd_graph, "TASK FILE", 2, 2, "device layouts, moves and memory for a program", graph_details,
     graph_options},
    {"infer", cmd_infer, "FILE", 1, 1, "layouts for all tensors of a kernel program", infer_details,
     no_options},
    {"formats", cmd_formats, "", 0, 0, "the formats of the tiled-layout document", formats_details,
     formats_options},
    {"query", cmd_query, "", 0, 0, "answer requests in JSON, one per line", query_details, query_options},
    {"version", cmd_version, "", 0, 0, "print the version", "", no_options},
    {"help", cmd_help, "[COMMAND]", 0, 1, "print help, the manual page, completions", help_details,
     help_options},
    {NULL, NULL, NULL, 0, 0, NULL, NULL, NULL},
};
