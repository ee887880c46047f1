/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_memory.c - memory reports in logs: every form of entry, the totals, damage, and figures that
 * are wrong.
 *
 * Expected bytes are by hand from the definition of tiles; the compiler's texts beside them are those that
 * compilers printed for these shapes (tests/vectors, tests/data/reports) or follow its rounding.
 */
#include "support_report.h"

/* ---- numbers of bytes ---------------------------------------------------------------------------------- */

static const struct {
  int64_t bytes;
  const char *iec, *si, *xla;
} unit_rows[] = {
    {0, "0 B", "0 B", "0B"},
    {512, "512 B", "512 B", "512B"},
    {1000, "1000 B", "1.0 kB", "1000B"},
    {1023, "1023 B", "1.0 kB", "1023B"},
    {1024, "1.0 KiB", "1.0 kB", "1.0K"},
    {282624, "276.0 KiB", "282.6 kB", "276.0K"},
    {1048575, "1024.0 KiB", "1.05 MB", "1024.0K"},
    {1048576, "1.00 MiB", "1.05 MB", "1.00M"},
    {720000000, "686.65 MiB", "720.00 MB", "686.65M"},
    {2818572288, "2.62 GiB", "2.82 GB", "2.62G"}, /* 2.625: an exact half goes to the even digit */
    {13857980416, "12.91 GiB", "13.86 GB", "12.91G"},
    {15360000000, "14.31 GiB", "15.36 GB", "14.30G"}, /* 14.3051; the compiler drops 0.4375 MiB first */
    {34359738368, "32.00 GiB", "34.36 GB", "32.00G"},
    {INT64_C(1) << 50, "1.00 PiB", "1.13 PB", "1.00P"},
    {INT64_MAX, "8.00 EiB", "9.22 EB", "8.00E"},
};

static void test_units(void **state) {
  (void)state;
  char text[TESELA_UNITS_TEXT];
  for (size_t r = 0; r < sizeof unit_rows / sizeof unit_rows[0]; r++) {
    tesela_units_print(unit_rows[r].bytes, TESELA_UNITS_IEC, text);
    assert_string_equal(text, unit_rows[r].iec);
    tesela_units_print(unit_rows[r].bytes, TESELA_UNITS_SI, text);
    assert_string_equal(text, unit_rows[r].si);
    tesela_units_print(unit_rows[r].bytes, TESELA_UNITS_XLA, text);
    assert_string_equal(text, unit_rows[r].xla);
    int64_t bytes = 0;
    tesela_units_print(unit_rows[r].bytes, TESELA_UNITS_BYTES, text);
    OK(tesela_units_parse(text, strlen(text), &bytes, NULL, &e_));
    AGREE("bytes come back", bytes, unit_rows[r].bytes);
  }
}

static const struct {
  const char *text;
  tesela_status status;
  int64_t bytes; /* or where the mistake is */
} parse_rows[] = {
    {"512", TESELA_OK, 512},
    {"512B", TESELA_OK, 512},
    {"0B", TESELA_OK, 0},
    {"16GiB", TESELA_OK, INT64_C(17179869184)},
    {"16 GiB", TESELA_OK, INT64_C(17179869184)},
    {"16G", TESELA_OK, INT64_C(17179869184)},
    {"16GB", TESELA_OK, INT64_C(16000000000)},
    {"1.5kB", TESELA_OK, 1500},
    {"1.5KB", TESELA_OK, 1500},
    {"1.5K", TESELA_OK, 1536},
    {"14.00G", TESELA_OK, INT64_C(15032385536)},
    {"0.1KiB", TESELA_OK, 102},
    {"7.9EiB", TESELA_OK, INT64_C(9108079886394091110)},
    {"8EiB", TESELA_E_OVERFLOW, 0},
    {"99999999999999999999", TESELA_E_OVERFLOW, 0},
    {"", TESELA_E_SYNTAX, 0},
    {"G", TESELA_E_SYNTAX, 0},
    {"-1G", TESELA_E_SYNTAX, 0},
    {"16 gib", TESELA_E_SYNTAX, 2},
    {"16GiBs", TESELA_E_SYNTAX, 5},
    {"1.G", TESELA_E_SYNTAX, 1},
    {"1..5G", TESELA_E_SYNTAX, 1},
};

static void test_parse_units(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof parse_rows / sizeof parse_rows[0]; r++) {
    tesela_error err = {.message = ""};
    int64_t bytes = -7;
    AGREE(parse_rows[r].text,
          tesela_units_parse(parse_rows[r].text, strlen(parse_rows[r].text), &bytes, NULL, &err),
          parse_rows[r].status);
    if (parse_rows[r].status != TESELA_OK) {
      AGREE(parse_rows[r].text, bytes, -7);
      AGREE(parse_rows[r].text, err.at, parse_rows[r].bytes);
    } else if (strstr(parse_rows[r].text, "EiB")) {
      assert_true(llabs(bytes - parse_rows[r].bytes) < 4096); /* a decimal of an EiB is beyond a double */
    } else {
      AGREE(parse_rows[r].text, bytes, parse_rows[r].bytes);
    }
  }
  size_t used = 0;
  int64_t bytes;
  OK(tesela_units_parse("0BOutput size", 13, &bytes, &used, &e_));
  AGREE("used", used, 2);
}

/* ---- entries ------------------------------------------------------------------------------------------- */

#define LIST "Largest program allocations in hbm:\n"
#define END "     ==========================\n"

static const struct {
  const char *name, *text;
  int64_t arrays, stored, data;
} entry_rows[] = {
    {"size and shape", LIST "  1. Size: 14.00G\n     Shape: s32[29360128,10]{1,0:T(8,128)}\n" END, 1,
     15032385536, 1174405120},
    {"the list alone, its heading is cut off",
     "  7. Size: 2.62G\n     Shape: f32[128,256,896,18]{0,3,2,1:T(8,128)}\n", 1, 2818572288, 2113929216},
    {"a page that escaped the point", LIST "  1\\. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,128)}\n", 1, 4096,
     96},
    {"prefixes",
     "I] " LIST "I]   1. Size: 4.0K\n[1,0]<stderr>:     Shape: f32[8,3]{1,0:T(8,128)}\nx.cc:7]" END, 1, 4096,
     96},
    {"all on one line", LIST "  1. Size: 4.0K  Shape: f32[8,3]{1,0:T(8,128)}  Tag: scratch operand\n", 1,
     4096, 96},
    {"one line with escapes",
     "RuntimeError('Ran out of memory in memory space hbm. Used 19.46G of 15.48G hbm.\\n\\nTotal hbm usage "
     ">= 19.98G:\\n"
     "    program          19.46G \\n\\n  Largest program allocations in hbm:\\n\\n  1. Size: 4.0K\\n"
     "     Operator: op_name=\"a\\\\n b\"\\n     Shape: f32[8,3]{1,0:T(8,128)}\\n     Unpadded size: 96B\\n"
     "     ==========================\\n\\n  2. Size: 4.0K\\n     Shape: f32[8,5]{1,0:T(8,128)}\\n')\n",
     2, 8192, 256},
    {"the shape is in the label only",
     LIST "  1. Size: 4.0K\n     XLA label: %a = f32[8,3]{1,0:T(8,128)} add(%x)\n" END, 1, 4096, 96},
    {"a label with a tuple of one",
     LIST "  1. Size: 4.0K\n     XLA label: %a = (f32[8,3]{1,0:T(8,128)}) add(%x)\n" END, 1, 4096, 96},
    {"the shape is cut off", LIST "  1. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,1", 1, 4096, 4096},
    {"so are size and shape, the label is there",
     LIST "  1. Size:\n     XLA label: %a = f32[8,3]{1,0:T(8,128)} add(%x)\n" END, 1, 4096, 96},
    {"a tuple has the size of its table",
     LIST
     "  1. Size: 512B\n     Shape: (f32[48,18]{0,1:T(8,128)}, u32[]{:S(2)})\n     Unpadded size: 512B\n" END,
     1, 512, 512},
    {"nothing of use", LIST "  XLA label: register allocator spill slots\n  Allocation type: scoped\n", 0, 0,
     0},
    {"no shape at all", LIST "  1. Size: 2.00M\n     Unpadded size: 1.00M\n     XLA label: spills\n" END, 1,
     2097152, 1048576},
    {"no tile, and none needed", LIST "  1. Size: 1.0K\n     Shape: f32[16,16]\n" END, 1, 1024, 1024},
    {"no tile, but one fits", LIST "  1. Size: 32.00G\n     Shape: s32[8388608,8,4]\n" END, 1, 34359738368,
     1073741824},
    {"in another order", LIST "  1. Size: 12.0K\n     Shape: f32[48,18]\n" END, 1, 12288, 3456},
    {"an old TPU's scalar", LIST "  1. Size: 1.0K\n     Shape: f32[]\n" END, 1, 1024, 4},
    {"peak buffers",
     "Peak buffers:\n\tBuffer 1:\n\t\tSize: 6.00MiB\n\t\tXLA Label: fusion\n\t\tShape: f32[4096,128,3]\n" END
     "\n\tBuffer 2:\n\t\tSize: 384.0KiB\n\t\tEntry Parameter Subshape: f32[256,128,3]\n" END,
     2, 6291456 + 393216, 6291456 + 393216},
    {"a table",
     "Memory Space: default (color=0)\nTotal bytes: 25800027648 (24.03GiB)\n"
     "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
     "  ------------------------------------------------------------\n"
     "   14.30GiB( 62%);   14.30GiB;            0;                2; 2\xc3\x97s32[30000000,12]\n"
     "   21.46GiB( 92%);    7.15GiB;  15360000000;                2; s32[7500000,48], bf16[30000000,12]\n"
     "   21.46GiB(100%);       512B;  24960008192;                1; (f32[48,18], u32[])\n",
     3, INT64_C(15360000000) + INT64_C(7680000000) + 512, INT64_C(1440000000) + 720000000 + 512},
    {"one array that is too large",
     "Allocation (size=21474836480) would exceed memory (size=17179869184) :: #allocation10 [shape = "
     "'s32[41943040,12]{1,0:T(8,128)}', space=hbm, size = 0xffff, tag = 'output of fusion@{}'] :: <none>\n",
     1, 21474836480, 2013265920},
    {"an array on the stack",
     "Ran out of memory in memory space vmem while allocating on stack for %s = "
     "f32[60000,130]{1,0:T(8,128)S(1)} "
     "custom-call(%a). Scoped allocation with size 117.19M and limit 16.00M exceeded scoped vmem limit by "
     "101.19M.\n",
     1, 61440000, 31200000},
    {"totals only",
     "Ran out of memory on HBM, the total memory required for HLO temporaries (24.03G) exceeds available HBM "
     "(15.75G).\n",
     0, 0, 0},
    {"a log that only has such words",
     "Size: 14.00G\nShape: f32[8]\nTotal cost 3.0G\nProgram started\n1. Size matters\n"
     "Used 3.00G\nOutput size 3.00G\nBuffer 2:\nSize: 3.0K\n=======\n",
     0, 0, 0},
};

static void test_entries(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof entry_rows / sizeof entry_rows[0]; r++) {
    tesela_report *report = report_text(entry_rows[r].text);
    tesela_report_totals totals = tesela_report_total(report, NULL);
    AGREE(entry_rows[r].name, totals.arrays, entry_rows[r].arrays);
    AGREE(entry_rows[r].name, totals.stored_bytes, entry_rows[r].stored);
    AGREE(entry_rows[r].name, totals.data_bytes, entry_rows[r].data);
    if (note_of(report, TESELA_REPORT_DISAGREE)) fail_msg("%s: disagrees", entry_rows[r].name);
    tesela_report *bytewise = report_of(entry_rows[r].text, strlen(entry_rows[r].text), 1, NULL);
    char *a = report_dump(report), *b = report_dump(bytewise);
    assert_string_equal(a, b);
    free(a);
    free(b);
    tesela_report_destroy(report);
    tesela_report_destroy(bytewise);
  }
}

static void test_words_of_an_entry(void **state) {
  (void)state;
  tesela_report *report = report_text(mixed_text);
  const tesela_report_array *row = first_row(report);
  AGREE("source", row->source, TESELA_REPORT_MEMORY);
  assert_string_equal(row->shape, "s32[8388608,8,4]{2,1,0:T(8,128)}");
  assert_string_equal(row->name, "convert.5");
  assert_string_equal(row->opcode, "convert");
  assert_string_equal(row->op_name, "net/cells");
  assert_string_equal(row->op_type, "Cast");
  assert_string_equal(row->location, "net.py:27");
  assert_string_equal(row->allocation, "HLO temp");
  assert_string_equal(row->size.text, "32.00G");
  assert_string_equal(row->expansion.text, "32.0x");
  AGREE("as printed", row->extra.bytes, INT64_C(31) << 30);
  AGREE("differs", row->disagree, 0);
  AGREE("line", row->line, 8);
  const tesela_report_section *section = tesela_report_section_at(report, row->section);
  assert_string_equal(section->name, "hbm");
  AGREE("line", section->line, 2);
  assert_string_equal(section->figure[TESELA_REPORT_USED].text, "19.46G");
  assert_string_equal(section->figure[TESELA_REPORT_CAPACITY].text, "15.48G");
  assert_string_equal(section->figure[TESELA_REPORT_EXCEEDED].text, "3.98G");
  assert_string_equal(section->figure[TESELA_REPORT_RESERVED].text, "530.00M");
  assert_string_equal(section->figure[TESELA_REPORT_PROGRAM].text, "19.46G");
  AGREE("not there", section->figure[TESELA_REPORT_TEMP].bytes, -1);
  tesela_report_destroy(report);
}

static void test_totals_of_a_report(void **state) {
  (void)state;
  tesela_report *report = report_text(
      "Total hbm usage >= 11.47G:\n    reserved        530.00M \n    program          10.96G \n"
      "    arguments       unknown size \n\nOutput size 4.0K; shares 0B with arguments.\n\n"
      "Program hbm requirement 10.96G:\n    reserved          12.0K\n    global             4.0K\n    global "
      "            5.0K\n    scoped            12.5K\n"
      "    HLO temp         10.96G (1.2% utilization: Unpadded (140.25M) Padded (10.90G), 0.3% fragmentation "
      "(1.00M))\n");
  static const struct {
    tesela_report_figure figure;
    const char *text;
  } rows[] = {
      {TESELA_REPORT_USAGE, "11.47G"},          {TESELA_REPORT_RESERVED, "530.00M"},
      {TESELA_REPORT_PROGRAM, "10.96G"},        {TESELA_REPORT_ARGUMENTS, ""},
      {TESELA_REPORT_OUTPUT, "4.0K"},           {TESELA_REPORT_SHARED, "0B"},
      {TESELA_REPORT_REQUIREMENT, "10.96G"},    {TESELA_REPORT_GLOBAL, "4.0K"},
      {TESELA_REPORT_SCOPED, "12.5K"},          {TESELA_REPORT_TEMP, "10.96G"},
      {TESELA_REPORT_TEMP_UNPADDED, "140.25M"}, {TESELA_REPORT_TEMP_PADDED, "10.90G"},
      {TESELA_REPORT_FRAGMENTATION, "1.00M"},   {TESELA_REPORT_USED, ""},
  };
  AGREE("one report", tesela_report_n_sections(report), 1);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    assert_string_equal(tesela_report_section_at(report, 0)->figure[rows[r].figure].text, rows[r].text);
  tesela_report_destroy(report);
}

/* ---- several reports ----------------------------------------------------------------------------------- */

#define ONE                                                        \
  LIST "  1. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,128)}\n" END \
       "  2. Size: 512B\n     Shape: f32[9]{0:T(128)}\n" END
#define OTHER LIST "  1. Size: 4.0K\n     Shape: f32[8,4]{1,0:T(8,128)}\n" END

static const struct {
  const char *name, *text;
  int64_t sections, repeated, arrays, stored;
} several_rows[] = {
    {"two different ones", ONE OTHER, 2, 0, 3, 4096 + 512 + 4096},
    {"the same twice counts once", ONE ONE, 2, 2, 2, 4096 + 512},
    {"the second is cut off", ONE LIST "  1. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,128)}\n", 2, 1, 2,
     4096 + 512},
    {"a list that starts again without a heading",
     ONE "  1. Size: 4.0K\n     Shape: f32[8,4]{1,0:T(8,128)}\n", 2, 0, 3, 4096 + 512 + 4096},
    {"two processes write the same into one log",
     "  1. Size: 4.0K\n  1. Size: 4.0K\n Shape: f32[8,3]{1,0:T(8,128)}\n Shape: f32[8,3]{1,0:T(8,128)}\n" END
         END,
     1, 0, 1, 4096},
    {"equal arrays of one report are two",
     LIST "  1. Size: 512B\n  Shape: f32[9]{0:T(128)}\n" END
          "  2. Size: 512B\n  Shape: f32[9]{0:T(128)}\n" END,
     1, 0, 2, 1024},
    {"headings of one report stay together",
     "Ran out of memory in memory space hbm. Used 1.00G of 0.50G hbm.\nTotal hbm usage >= 1.00G:\n"
     "Program hbm requirement 1.00G:\n" ONE,
     1, 0, 2, 4608},
};

static void test_several(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof several_rows / sizeof several_rows[0]; r++) {
    tesela_report *report = report_text(several_rows[r].text);
    tesela_report_totals totals = tesela_report_total(report, NULL);
    const tesela_report_note *note = note_of(report, TESELA_REPORT_REPEATED);
    AGREE(several_rows[r].name, tesela_report_n_sections(report), several_rows[r].sections);
    AGREE(several_rows[r].name, note ? note->count : 0, several_rows[r].repeated);
    AGREE(several_rows[r].name, totals.arrays, several_rows[r].arrays);
    AGREE(several_rows[r].name, totals.stored_bytes, several_rows[r].stored);
    tesela_report_destroy(report);
  }
}

/* ---- wrong figures ------------------------------------------------------------------------------------- */

/* Faults planted in a right entry: each must be found, and nothing else. */
static const struct {
  const char *name, *size, *unpadded, *extra;
  uint32_t differs;
  const char *said;
} wrong_rows[] = {
    {"all right", "14.30G", "1.34G", "12.96G (10.7x expansion)", 0, ""},
    {"the last digit of the size", "14.31G", "1.34G", "12.96G (10.7x expansion)", TESELA_REPORT_SIZE_DIFFERS,
     "printed size 14.31G, the shape gives 14.30G"},
    {"another unit", "14.30M", "1.34G", "12.96G (10.7x expansion)", TESELA_REPORT_SIZE_DIFFERS,
     "printed size 14.30M, the shape gives 14.30G"},
    {"unpadded", "14.30G", "1.35G", "12.96G (10.7x expansion)", TESELA_REPORT_UNPADDED_DIFFERS,
     "printed unpadded 1.35G, the shape gives 1.34G"},
    {"extra", "14.30G", "1.34G", "12.97G (10.7x expansion)", TESELA_REPORT_EXTRA_DIFFERS,
     "printed padding 12.97G, the shape gives 12.96G"},
    {"expansion", "14.30G", "1.34G", "12.96G (10.8x expansion)", TESELA_REPORT_EXPANSION_DIFFERS,
     "printed expansion 10.8x, the shape gives 10.7x"},
    {"everything", "1.0K", "1.0K", "1.0K (1.0x expansion)", 15,
     "size 1.0K, the shape gives 14.30G; unpadded 1.0K, the shape gives 1.34G; padding 1.0K, the shape gives "
     "12.96G; expansion 1.0x, the shape gives 10.7x"},
    {"other spellings are right", "14.30GiB", "1.34 GiB", "12.96G (10.7x expansion)", 0, ""},
};

static void test_wrong_figures(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof wrong_rows / sizeof wrong_rows[0]; r++) {
    char text[512];
    snprintf(text, sizeof text,
             LIST "  1. Size: %s\n  Shape: s32[30000000,12]{1,0:T(8,128)}\n  Unpadded size: %s\n"
                  "  Extra memory due to padding: %s\n" END,
             wrong_rows[r].size, wrong_rows[r].unpadded, wrong_rows[r].extra);
    tesela_report *report = report_text(text);
    const tesela_report_note *note = note_of(report, TESELA_REPORT_DISAGREE);
    AGREE(wrong_rows[r].name, first_row(report)->disagree, wrong_rows[r].differs);
    AGREE(wrong_rows[r].name, note != NULL, wrong_rows[r].differs != 0);
    if (note) {
      assert_true(note->loud);
      assert_non_null(strstr(note->text, wrong_rows[r].said)); /* the figure that differs, both ways */
    }
    AGREE("the shape's bytes count", first_row(report)->stored_bytes, INT64_C(15360000000));
    tesela_report_destroy(report);
  }
}

static void test_fitted(void **state) {
  (void)state;
  /* a tile that stands in the text is believed, though T(4,128) would give that size */
  tesela_report *tiled = report_text(LIST "  1. Size: 4.0K\n     Shape: f32[3,200]{1,0:T(8,128)}\n" END);
  AGREE("the shape's bytes", first_row(tiled)->stored_bytes, 8192);
  AGREE("differs", first_row(tiled)->disagree, TESELA_REPORT_SIZE_DIFFERS);
  assert_string_equal(first_row(tiled)->fitted, "");
  tesela_report_destroy(tiled);
  tesela_report *report = report_text(LIST "  1. Size: 9.84G\n     Shape: f32[288,448,640,20]\n" END);
  assert_string_equal(first_row(report)->fitted, "f32[288,448,640,20]{0,3,2,1:T(8,128)}");
  AGREE("sized", first_row(report)->sized, true);
  AGREE("said", note_of(report, TESELA_REPORT_NO_TILE)->loud, false);
  tesela_report_destroy(report);
  report = report_text(LIST "  1. Size: 5.0K\n     Shape: f32[8,3]\n" END);
  assert_string_equal(first_row(report)->fitted, "");
  AGREE("the compiler's figures", first_row(report)->sized, false);
  AGREE("the data is the shape's", first_row(report)->data_bytes, 96);
  AGREE("differs", first_row(report)->disagree, TESELA_REPORT_SIZE_DIFFERS);
  assert_true(note_of(report, TESELA_REPORT_DISAGREE)->loud);
  assert_null(note_of(report, TESELA_REPORT_NO_TILE));
  tesela_report_destroy(report);
}

static void test_unknown_data(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t known, unknown_bytes;
  } rows[] = {
      {LIST "  1. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,1", 0, 4096},
      {LIST "  1. Size: 4.0K\n     Unpadded size: 96B\n     Shape: f32[8,3]{1,0:T(8,1", 1, 0},
      {LIST "  1. Size: 4.0K\n     Shape: f32[8,3]{1,0:T(8,128)}\n" END, 1, 0},
      {LIST "  1. Size: 4.0K\n" END, 0, 4096},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_report *report = report_text(rows[r].text);
    AGREE(rows[r].text, first_row(report)->data_known, rows[r].known);
    AGREE(rows[r].text, tesela_report_total(report, NULL).unknown_arrays, 1 - rows[r].known);
    AGREE(rows[r].text, tesela_report_total(report, NULL).unknown_bytes, rows[r].unknown_bytes);
    tesela_report_destroy(report);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_parse_units),
      cmocka_unit_test(test_entries),
      cmocka_unit_test(test_words_of_an_entry),
      cmocka_unit_test(test_totals_of_a_report),
      cmocka_unit_test(test_several),
      cmocka_unit_test(test_wrong_figures),
      cmocka_unit_test(test_fitted),
      cmocka_unit_test(test_unknown_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
