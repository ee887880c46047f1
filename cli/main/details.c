/* SPDX-License-Identifier: Apache-2.0 */
/*
 * details.c - the text on each verb in the help and the manual page. Paragraphs are separated by "\n\n"; a line that starts with
 * two blanks is printed as it is.
 */
#include "main/options.h"

const char show_details[] =
    "Prints what a layout means: the order of its dims, what each tile level does, its size in "
    "memory, and the padding that each dim causes; then a picture. Each cell of the picture is an "
    "element, and its number is the place in memory. Cells with a dot are padding.\n\n"
    "--slice has one entry for each dim: an index, a range 8:16, or : for all. The one or two dims "
    "with a range are drawn (default: the two that vary fastest). With --linear, --slice is one range "
    "of places.\n\n"
    "For a register layout, show prints its text and a table. A cell is thread: register, or "
    "[threads]: register for copies; three dims make several tables. With --by=thread, rows are "
    "threads, columns their registers, and cells elements. --format takes the styles of the Python "
    "package tabulate: simple, plain, lines, grid, rounded, heavy, mixed, double, fancy, outline, "
    "simple_outline, rounded_outline, heavy_outline, mixed_outline, double_outline, fancy_outline, "
    "github, pipe, orgtbl, jira, presto, pretty, psql, rst, tsv, html; csv and json print the table "
    "alone. simple_grid is simple, and so on. Colours are warps, shades groups of four threads. "
    "--only=words prints the facts: an expression, threads, registers, and the matrix instruction "
    "whose operands it is made of. One name covers all operands with the same layout, with the "
    "number of the others. --json has all of them under made_of.\n\n"
    "For a device layout, show prints a table with one row per device dim, outermost first: its host "
    "dim, the elements that one step of the digit covers, and the strides on both sides; then sizes, "
    "padding, and the same layout in every notation that can express it, XLA's included. --target "
    "gives types, stick bytes and dim order where the text does not, and the granule of an "
    "allocation. docs/device.md describes the format of its FILE.\n\n"
    "The argument - reads layouts from standard input, one per line; with --json each answer is one "
    "line.\n\n"
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

const char where_details[] =
    "Prints the place of each INDEX in memory, one per line, counted in elements from the first. An "
    "INDEX is written 2,3 or [2,3] or (2,3); - reads more from standard input, one per line. In a "
    "register layout a place is thread: register; an element that several threads hold has all of "
    "them on its line.\n\n"
    "  $ tesela where 'f32[3,5]{1,0:T(2,2)}' 2,3\n"
    "  17\n\n"
    "  $ tesela where mma.m16n8k8.f16.C 9,3\n"
    "  5: 3\n\n"
    "  $ tesela where 'reduce(spatial(3, 4), dims=[0])' 1\n"
    "  1: 0  5: 0  9: 0\n\n"
    "  $ tesela where 'f16[1000,200] stick(dim_order=[0,1])' 2,70\n"
    "  64134";

const char what_details[] =
    "Prints the index of the element at each PLACE, one per line, or \"padding\". A PLACE counts "
    "elements, or bytes with --bytes; - reads more from standard input, one per line. In a register "
    "layout a PLACE is thread:register.\n\n"
    "  $ tesela what 'f32[3,5]{1,0:T(2,2)}' 17 9\n"
    "  2,3\n"
    "  padding\n\n"
    "  $ tesela what mma.m16n8k8.f16.C 5:3\n"
    "  9,3";

const char same_details[] =
    "Compares two layouts of one shape, or two tuples member by member. Exit status 0: every element "
    "is at the same place in both. Exit status 1: one element is not; the first such element is "
    "printed. Element types of the same width and sizes of the padding may differ; a note reports that.\n\n"
    "Two register layouts are the same if every element is in the same threads and in the same "
    "register of each, however the layouts are written. Tiles in memory, device layouts and XLA "
    "layouts are compared with each other.\n\n"
    "  $ tesela same 'f32[24,128]{1,0:T(8,128)}' 'f32[24,128]{1,0}'\n"
    "  same\n\n"
    "  $ tesela same 'local(2, 1).spatial(8, 4).local(1, 2)' mma.m16n8k8.f16.C\n"
    "  same\n\n"
    "  $ tesela same 'f16[1024,256] stick(dim_order=[0,1])' 'f16[1024,256]{0,1:T(64,1)}'\n"
    "  same";

const char translate_details[] =
    "Writes a layout in another notation: xla, jax, register, device, map, cute, triton, onednn, tvm, torch, "
    "mlir, and others; or index code: c, cuda, numpy. --to=all "
    "writes one line for each.\n\n"
    "exact: the same places for the same elements. valid_part: the text is of a larger array, whose "
    "further elements are padding; keep the shape beside it. needs_padding: the same, but the text takes "
    "more places than the layout has. impossible: no text has these places; the reason and the first element "
    "that "
    "contradicts are printed, and the exit status is 1. Every text is read back and compared before it is "
    "printed.\n\n"
    "What a text lacks is given by --shape and --dtype, or is written before it: f32[3,5] or [3,5].\n\n"
    "  $ tesela translate 'f32[3,5]{1,0:T(2,2)}' --to=map\n"
    "  map(d0:3, d1:5) of f32 -> memory[24]: 12*(d0/2) + 2*(d0%2) + 4*(d1/2) + d1%2";

const char choose_details[] = "Gives an array the order of dims and the tiles that the compiler of a TPU "
                              "gives an argument of a program: of all orders "
                              "the one that pads least. A layout in SHAPE does not matter, except its E and, "
                              "with --keep-order, its order. "
                              "docs/xla.md has the rule and how often it was compared with the compiler.\n\n"
                              "  $ tesela choose 'f32[300,12]'\n"
                              "  f32[300,12]{0,1:T(8,128)}\n\n"
                              "  $ tesela choose --target=v2 's4[64,256]'\n"
                              "  s4[64,256]{1,0:T(8,128)(4,1)}";

const char predict_details[] = "Reads a program before it is compiled, StableHLO text (lowered.as_text() of "
                               "JAX) or HLO text before optimisation, and prints "
                               "the layout and the bytes of each argument and result on one device of a TPU, "
                               "padding included: those that the compiler's "
                               "memory_analysis() sums. FILE - is standard input.\n\n"
                               "Shapes are divided by mhlo.sharding or sdy.sharding. An argument that "
                               "cannot be placed is refused by its name; a "
                               "result whose sharding is left to the compiler is shown with a question mark. "
                               "docs/xla.md lists what is read.\n\n"
                               "  $ tesela predict --target=v5e examples/step.mlir";

const char report_details[] =
    "Reads the memory reports that XLA prints when a program does not fit, in any log, and HLO text. "
    "Shows how much of the memory is padding, in which arrays, why, and which operation made them; "
    "and which dim order, tile format or merge of dims takes less. The compiler's own figures are "
    "shown too, if the log has them.\n\n"
    "A FILE may be a folder: all text files in it and below. - or no FILE is standard input. With a "
    "limit, the exit status is 1 when it is exceeded. docs/report.md explains how arrays are counted "
    "and lists the fields of --json and --tsv.\n\n"
    "  $ tesela report train.log\n"
    "  $ kubectl logs job | tesela report --max-waste 10% -";

const char diff_details[] =
    "Reads BEFORE and AFTER as report does. Prints the arrays whose layout or size changed, and those "
    "that were removed or added, largest change of bytes first. Arrays are matched by shape, then by type "
    "and dims, then by operation; numbers that the compiler appends to names do not count. Exit "
    "status 0: no array changed.";

const char relayout_details[] =
    "Copies a tensor to another layout. FILE is raw bytes, .npy or .safetensors, detected from its "
    "first bytes; - is standard input. Raw bytes need --from. The other formats contain type, dims "
    "and order (a .npy its fortran_order; big-endian numbers are swapped on the way), and --from, if "
    "given, must agree. A LAYOUT is a text of any notation of a layout in memory; type and dims that it "
    "lacks are those of the file, or of --shape and --dtype.\n\n"
    "The output is raw unless its name or --format requests .npy (dims in order or in reverse, no "
    "padding) or .safetensors (any layout, recorded in the metadata as pack does). It is written "
    "under a temporary name in the same folder and renamed when it is complete, so it can replace FILE "
    "itself.\n\n"
    "Files are mapped, so a file may be larger than the machine's memory. With --memory, the tensor is "
    "copied in parts that are read into buffers of at most SIZE together, and written from there.\n\n"
    "  $ tesela relayout x.npy -o x.tiled --to '{1,0:T(8,128)}'\n"
    "  $ tesela relayout x.tiled -o y.npy --from 'f32[1000,200]{1,0:T(8,128)}' --to '{1,0}'\n"
    "  $ tesela relayout x.npy -o x.raw --to nChw16c";

const char pack_details[] =
    "Writes a .safetensors whose tensors are in device layouts, and records each layout in the "
    "metadata under tesela.layout.NAME. Other readers see a packed tensor as a list of its places, "
    "padding included. A RULE is PATTERN=LAYOUT: it applies to tensors whose name matches (* ? [a-z]) "
    "and whose rank is that of the layout. The first matching RULE decides, then --to; other tensors "
    "are copied unchanged. A tensor that is already packed is refused. FILE may also be raw or .npy; "
    "its tensor is named \"tensor\".\n\n"
    "FILE may be the index of a checkpoint in shards, model.safetensors.index.json; --output is then "
    "the new index. All shards are checked first, then written beside the new index; they get their "
    "names together, and the index after them.\n\n"
    "With --resume the bytes are written into .NAME.partial.tesela beside the output, which stays if "
    "the run is killed. After the bytes comes a record: a digest of what the output should be, and "
    "for each tensor that is on the disk the digest of its bytes in the input. The next run with "
    "--resume copies only the tensors whose record is as it would be written now. So a changed input "
    "is copied again from the first tensor that changed, and other rules begin anew.\n\n"
    "Exit status 1: --dry-run --verify found that the output differs.\n\n"
    "  $ tesela pack model.safetensors -o tpu.safetensors '*.weight={1,0:T(8,128)(2,1)}'\n"
    "  $ tesela pack x.npy -o x.safetensors --to '{0,1:T(8,128)}'\n"
    "  $ tesela pack model.safetensors.index.json -o tpu/model.safetensors.index.json --resume "
    "--verify '*.weight={1,0:T(8,128)}'";

const char unpack_details[] =
    "Reverses pack: every tensor with a recorded layout gets its type and dims back, row-major, and "
    "the record is removed. Other tensors and metadata stay. A tensor whose type the format lacks (s4 "
    "of 4 bits) becomes a list of U8 with its row-major layout recorded; pack accepts it again. One "
    "tensor can be written as .npy or raw.\n\n"
    "  $ tesela unpack tpu.safetensors -o model.safetensors\n"
    "  $ tesela unpack tpu.safetensors --tensor wte.weight -o wte.npy";

const char plan_details[] =
    "A PROBLEM is SOURCE -> TARGET: a shape, an arrow, and a layout in braces or a whole shape, whose "
    "type may differ. Prints in one line how tesela would copy the data.\n\n"
    "  $ tesela plan 'f32[1024,1024]{1,0} -> {1,0:T(8,128)}'\n"
    "  ...\n"
    "  $ tesela plan --explain 'f32[20,200]{1,0} -> bf16[20,200]{1,0:T(8,128)(2,1)}'";

const char check_details[] =
    "Copies random data with every solver that applies to the PROBLEM and every instruction set of "
    "this machine: with padding set to zero, left as it is, and set to a value. Compares every "
    "element, all padding and the surrounding bytes with the definition of the two layouts, element "
    "by element. Exit status 1: a copy was wrong; its first wrong element is named. Both sides "
    "together may have 1 GiB.\n\n"
    "  $ tesela check 'f32[1000,200]{1,0} -> {0,1:T(8,128)}'";

const char bench_details[] =
    "Checks first, as check does, then measures: each round runs memcpy and every way of copying, one "
    "after the other. Prints the best and the median time, the rate in 10^9 bytes read and written "
    "per second, that rate relative to memcpy on one thread (median of all rounds), and the time to "
    "make the plan.\n\n"
    "  $ tesela bench 'f32[4096,4096]{1,0} -> {0,1}' --threads=1\n"
    "  $ tesela bench 'bf16[2048,2048]{1,0} -> {1,0:T(8,128)(2,1)}' --solver=all --isa=all";

const char cmp_details[] =
    "Compares the values of two tensors whatever their layouts; padding does not count, and -0 and 0 "
    "differ. A FILE is raw bytes, .npy or .safetensors; raw bytes need a LAYOUT. In .safetensors with "
    "several tensors, those with the same name are compared. Exit status 0: all values are the same. "
    "Otherwise the first element that differs is printed, with its place and value in each file, and "
    "the number of differences.\n\n"
    "  $ tesela cmp x.raw x.tiled --a='f32[20,200]{1,0}' --b='f32[20,200]{1,0:T(8,128)}'\n"
    "  same";

const char digest_details[] =
    "Prints a fingerprint of the values of each FILE, 128 bits in hexadecimal, which is the same for "
    "every layout of a tensor. It covers the type, the element width, the dims and the bits of all "
    "elements; padding does not count. It is not cryptographic. Each tensor of a .safetensors with "
    "several has its own line, FILE:NAME.\n\n"
    "  $ tesela digest x.npy\n"
    "  $ tesela digest --layout='f32[20,200]{1,0:T(8,128)}' x.tiled y.tiled";

const char access_details[] =
    "Prints the cost of moving a tile between registers and memory: the widest vector of each thread, "
    "instructions, and for shared memory the wavefronts and bank conflicts of each phase and whether "
    "ldmatrix applies; for global memory the sectors moved. REGISTERS is a register layout, MEMORY a "
    "shared_.. or global_.. one. docs/register.md describes both languages.\n\n"
    "  $ tesela access mma.m16n8k16.f16.A 'shared_row_major(16, 16)'\n"
    "  $ tesela access 'spatial(32, 1).local(1, 32)' 'shared_row_major(32, 32)' --dtype=f32 --vector=1\n"
    "  $ tesela access mfma.f32_32x32x8_f16.A 'shared_row_major(32, 8)' --warp=64";

const char swizzle_details[] =
    "Finds and prints the layout in shared memory (plain, swizzled or with padded rows) with the "
    "fewest wavefronts when the given register layouts write and read a tile.\n\n"
    "  $ tesela swizzle 'spatial(32, 1).local(1, 32)' 'spatial(1, 32).local(32, 1)' --dtype=f32";

const char convert_details[] =
    "Plans how threads that hold a tile in layout FROM get it in layout TO: without any move, by "
    "moves within each thread, by rounds of shuffles, or through shared memory. With --cuda the plan "
    "is printed as source code.\n\n"
    "  $ tesela convert 'local(2).spatial(32)' 'spatial(32).local(2)' --dtype=f32";

const char dma_details[] =
    "Prints a transfer between a host tensor and a device layout as loop nests: the ranges, device "
    "strides and host strides of each, in elements. The nests are disjoint and cover exactly the "
    "elements of the tensor. Neighbours are merged unless --plain is given. The limits of the engine "
    "(the target's, or those given) split nests until each nest meets them; limits that no split can "
    "meet are refused, with what would be needed.\n\n"
    "  $ tesela dma 'f16[1000,200] stick(dim_order=[0,1])'\n"
    "  $ tesela dma 'f16[1000,200] stick(dim_order=[0,1])' --strides=1,1000 --to-host --source";

const char graph_details[] =
    "TASK is propagate, assign, plan or run. FILE is a program in HLO text or in JSON (docs/graph.md "
    "describes the form); - is standard input. propagate carries device layouts through the program "
    "without moves, and names the first operator without a compatible layout. assign inserts the moves that "
    "are needed, at the least price. plan gives every buffer a place in memory; it also reads a list "
    "of buffers in CSV. run executes the program on tiled memory and on plain memory and compares the "
    "bits, with inputs and results in files (--in, --out) or made-up inputs. Exit status 1: no layout "
    "fits, the capacity is exceeded, or results differ.\n\n"
    "  $ tesela graph propagate model.hlo\n"
    "  $ tesela graph assign linear.json --proof\n"
    "  $ tesela graph run linear.json --in x=x.npy --in w=w.npy --out y=y.npy\n"
    "  $ tesela graph plan buffers.csv --capacity=1048576 --csv";

const char verify_details[] =
    "Checks whether DUMP, bytes of device memory from the first place on, holds the tensor of FILE in "
    "a device layout. FILE is raw (row-major), .npy or .safetensors. Exit status 1: an element "
    "differs; the first is printed, with the value found there and the element that has this value. "
    "Padding does not count.\n\n"
    "  $ tesela verify 'f16[1000,200] stick(dim_order=[0,1])' dump.bin x.npy";

const char infer_details[] =
    "Reads a kernel program (tensors, some with layouts, and operations on them) and finds the "
    "layouts of the others. If two requirements contradict each other, prints both, with exit status "
    "1; --json then has a field conflict. docs/infer.md describes the language. - is standard input.\n\n"
    "  $ tesela infer matmul.kernel";

const char formats_details[] =
    "Prints the seven formats that XLA's tiled-layout document names: tiles, an example, what each is "
    "for. With --fragments it prints how the matrix instructions of GPUs place their operands in "
    "registers: name, shape, types, the row and the column of element i of a lane (g is lane/4, t is "
    "lane%4), and the layout as an expression. Each name is a LAYOUT; put a number in place of N. "
    "With --functions it prints the functions of register layouts and tiles in memory. With --rules "
    "it prints what the operators of a program require of the device layouts of their operands "
    "(docs/graph.md), with --target the target's own rules first.";

const char query_details[] =
    "Reads one request per line from standard input and answers each with one line, in order. "
    "docs/query.md lists the requests; {\"op\":\"ops\"} prints the list.\n\n"
    "  $ echo '{\"op\":\"where\",\"layout\":\"f32[3,5]{1,0:T(2,2)}\",\"indices\":[[2,3]]}' | tesela query\n"
    "  {\"id\":null,\"ok\":true,\"places\":[17]}";

const char help_details[] = "Without a COMMAND, prints the list of commands.";
