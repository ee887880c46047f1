/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_input.c - the inputs of report and diff: files, folders, standard input.
 *
 * Folders are walked with a list of paths to visit, not by recursion; the names in a folder are sorted, so that the output does not
 * depend on the file system.
 */
#include "report/report_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decompress.h"
#include "main/process.h"
#include "main/say.h"
#include "system.h"

enum { BLOCK = 256 * 1024, LOOKED = 4 << 20, RECORD_BYTES = 1 << 30 };

typedef struct input_path {
  char *path;
  bool record; /* only a record beside the final HLO text of its module */
  bool later;  /* it was put after all others */
} input_path;

typedef struct input_walk {
  const cli_context *cli;
  tesela_report *report;
  tesela_records *records;
  decompress *from;
  bool several; /* arguments: records may lie beside HLO text */
  char *whole;  /* a file that is a record */
  size_t n_whole, cap_whole;
  input_path *path; /* to visit; the last one is next */
  size_t n_paths, capacity;
  int status;
  report_skipped *skipped;
  int64_t n_read;       /* inputs */
  int64_t n_refused;    /* files named on the command line and refused */
  int64_t looked;       /* bytes searched for the message of a runtime */
  bool runtime;         /* it was found */
  const char *sizeless; /* what the last record is that was read */
  bool final;           /* the final HLO text of a module was found in a folder, as --xla_dump_to writes it */
  char block[BLOCK];
} input_walk;

/* Another stage, flags, ... beside what is read. */
static const char not_needed[] = "neither the final text of a module nor a record of it";

static bool no_memory(input_walk *walk) {
  say_error(walk->cli, "no memory");
  walk->status = CLI_FAILED;
  return false;
}

static void walk_failed(input_walk *walk, const char *name) {
  char quoted[SAY_QUOTE];
  say_error(walk->cli, "%s: %s", say_quote(name, quoted), strerror(errno));
  if (walk->status == CLI_YES) walk->status = CLI_BAD;
}

/* A file that cannot be read to its end. Returns false only if reading further inputs is useless. */
static bool read_failed(input_walk *walk, const char *name, const tesela_error *err) {
  char quoted[SAY_QUOTE];
  if (err->status == TESELA_E_MEMORY) return no_memory(walk);
  if (err->at >= 0)
    say_error(walk->cli, "%s: byte %" PRId64 ": %s", say_quote(name, quoted), err->at, err->message);
  else
    say_error(walk->cli, "%s: %s", say_quote(name, quoted), err->message);
  if (walk->status == CLI_YES) walk->status = CLI_BAD;
  return true;
}

/* ---- one file ------------------------------------------------------------------------------------------ */

/* Count a file found in a folder that is not read. */
static bool skip_file(input_walk *walk, const char *name, const char *why) {
  report_skipped *skipped = walk->skipped;
  if (skipped->n++ >= REPORT_SKIPPED) return true;
  size_t n = strlen(name) + 1;
  char *copy = malloc(n);
  if (!copy) return no_memory(walk);
  memcpy(copy, name, n);
  skipped->file[skipped->n - 1].name = copy;
  skipped->file[skipped->n - 1].why = why;
  return true;
}

/* Refuse a file that is not text of a compiler, and suggest what to do instead. */
static void refuse_file(input_walk *walk, const char *name, const char *what, const char *instead) {
  char quoted[SAY_QUOTE];
  const char *file = strstr(instead, " FILE");
  if (file)
    say_error(walk->cli, "%s is %s; %s | tesela %s -", say_quote(name, quoted), what, instead,
              walk->cli->verb->name);
  else
    say_error(walk->cli, "%s is %s; %s", say_quote(name, quoted), what, instead);
  walk->status = CLI_BAD;
  walk->n_refused++;
}

/* Search for the message of a runtime that failed to allocate, which does not name an array. It matters only if nothing else is
 * found, so searching the first megabytes is enough. */
static void look_for_runtime(input_walk *walk, size_t n) {
  static const char *const words[] = {"Out of memory while trying to allocate ",
                                      "Error allocating device buffer", "Attempting to allocate "};
  if (walk->runtime || walk->looked > LOOKED) return;
  walk->looked += (int64_t)n;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const char *p = walk->block, *end = p + n;
    size_t length = strlen(words[i]);
    for (; (p = memchr(p, words[i][0], (size_t)(end - p))) && (size_t)(end - p) >= length; p++)
      if (memcmp(p, words[i], length) == 0) {
        walk->runtime = true;
        return;
      }
  }
}

static bool feed_block(input_walk *walk, size_t n) {
  tesela_error err;
  look_for_runtime(walk, n);
  if (tesela_report_feed(walk->report, walk->block, n, &err) == TESELA_OK) return true;
  walk->status = say_failure(walk->cli, &err);
  return false;
}

/* ---- records of a compiler ------------------------------------------------------------------------------- */

static bool keep_block(input_walk *walk, const char *name, size_t n) {
  if (walk->n_whole + n > RECORD_BYTES) {
    walk->n_whole = RECORD_BYTES + (size_t)1; /* too large: it is not a record any more */
    return skip_file(walk, name, "larger than 1 GiB; its records are not read");
  }
  if (walk->cap_whole - walk->n_whole < n) {
    size_t more = walk->cap_whole * 2 > walk->n_whole + n ? walk->cap_whole * 2 : walk->n_whole + n;
    char *grown = realloc(walk->whole, more);
    if (!grown) return no_memory(walk);
    walk->whole = grown;
    walk->cap_whole = more;
  }
  memcpy(walk->whole + walk->n_whole, walk->block, n);
  walk->n_whole += n;
  return true;
}

static bool read_records(input_walk *walk, const char *name) {
  tesela_error err;
  if (walk->n_whole > RECORD_BYTES) return true;
  if (tesela_records_read(walk->records, name, walk->whole, walk->n_whole, &err) == TESELA_OK) return true;
  walk->status = say_failure(walk->cli, &err);
  return false;
}

/* How a file is read, by its first block. */
typedef struct input_use {
  bool whole;  /* as a record */
  bool arrays; /* by the report */
  bool ignored;
} input_use;

/* Returns false only if reading further inputs is useless. */
static bool use_of(input_walk *walk, const char *name, size_t n, const input_path *found, input_use *use) {
  tesela_record_kind kind = tesela_records_kind(walk->block, n);
  const char *instead, *what = n > 0 ? tesela_report_foreign(walk->block, n, &instead) : NULL;
  tesela_error err;
  bool record = found && found->record, binary = report_is_binary(kind);
  *use = (input_use){.whole =
                         kind != TESELA_RECORD_NONE && (kind != TESELA_RECORD_HLO || found || walk->several),
                     .arrays = !record && !binary && kind != TESELA_RECORD_VALUES};
  walk->n_whole = 0;
  if (record && (kind == TESELA_RECORD_NONE || kind == TESELA_RECORD_HLO)) {
    use->ignored = true;
    return skip_file(walk, name, not_needed);
  }
  if (what && !binary) {
    use->ignored = true;
    if (found) return skip_file(walk, name, what);
    refuse_file(walk, name, what, instead);
    return true;
  }
  walk->n_read++;
  if (use->whole && kind != TESELA_RECORD_HLO) walk->sizeless = tesela_record_kind_name(kind);
  if (!use->arrays) return true;
  return tesela_report_begin_input(walk->report, name, &err) == TESELA_OK || no_memory(walk);
}

/* Read fd to its end. `found`: it was found in a folder, where files other than text are skipped. Returns false only if reading
 * further inputs is useless. */
static bool read_descriptor(input_walk *walk, int fd, const char *name, const input_path *found) {
  input_use use = {false, false, false};
  tesela_error err;
  decompress_begin(walk->from, fd);
  for (int64_t total = 0;;) {
    int64_t n = decompress_read(walk->from, walk->block, BLOCK, &err);
    if (n < 0) return read_failed(walk, name, &err);
    if (total == 0 && !use_of(walk, name, (size_t)n, found, &use)) return false;
    if (use.ignored) return true;
    if (n == 0) return !use.whole || read_records(walk, name);
    total += n;
    if (use.arrays && !feed_block(walk, (size_t)n)) return false;
    if (use.whole && walk->n_whole <= RECORD_BYTES && !keep_block(walk, name, (size_t)n)) return false;
  }
}

/* ---- folders ------------------------------------------------------------------------------------------- */

static bool push_path(input_walk *walk, const char *folder, const char *name) {
  size_t n = strlen(folder), m = strlen(name);
  if (walk->n_paths == walk->capacity) {
    size_t more = walk->capacity ? walk->capacity * 2 : 64;
    input_path *grown = realloc(walk->path, more * sizeof *grown);
    if (!grown) return no_memory(walk);
    walk->path = grown;
    walk->capacity = more;
  }
  char *path = malloc(n + m + 2);
  if (!path) return no_memory(walk);
  memcpy(path, folder, n);
  if (n > 0 && folder[n - 1] != '/') path[n++] = '/';
  memcpy(path + n, name, m + 1);
  walk->path[walk->n_paths++] = (input_path){.path = path};
  return true;
}

static int name_comes_later(const void *a, const void *b) {
  return -strcmp(((const input_path *)a)->path, ((const input_path *)b)->path);
}

/* XLA dumps a module before and after optimisation; before, its arrays have no tiles and differ. */
static bool is_earlier_dump(const char *path) {
  const char *name = strrchr(path, '/');
  return strstr(name ? name : path, "before_optimizations") != NULL;
}

/* Length of the module's name in the name of a dumped file: "module_0001.jit_step."; 0 for other files. */
static size_t module_name(const char *name) {
  const char *dot = strncmp(name, "module_", 7) == 0 ? strchr(name, '.') : NULL;
  if (dot) dot = strchr(dot + 1, '.');
  return dot ? (size_t)(dot - name) + 1 : 0;
}

/* Does a name end so, with or without ".gz" or ".zst" after it? */
static bool ends_in(const char *name, const char *end) {
  size_t n = decompress_name(name), m = strlen(end);
  return n >= m && memcmp(name + n - m, end, m) == 0;
}

static bool is_final_dump(const char *name) { return ends_in(name, "after_optimizations.txt"); }

/* A file of --xla_jf_dump_to: "1795843859373348712-TLP-48-bundles.txt". Records of memory space assignment lie among them. */
static bool is_code_dump(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t digits = strspn(name, "0123456789");
  return digits >= 10 && name[digits] == '-' && !strstr(name, "-memory-space-assignment-");
}

/* The one of them that has the final HLO text. */
static bool is_code_hlo(const char *path) { return is_code_dump(path) && ends_in(path, "-TLP-hlo.txt"); }

/* Does a name end in what the compiler calls a record beside "after_optimizations.txt"? */
static bool is_record_name(const char *name) {
  static const char *const ends[] = {"after_optimizations.hlo.pb", "-buffer-assignment.txt",
                                     "-buffer-assignment-values.txt", "-live-range.txt",
                                     "-memory-usage-report.txt"};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (ends_in(name, ends[i])) return true;
  return false;
}

/* Of the names first .. end-1, sorted, drop the other stages of a module whose last stage is present: they
 * repeat its arrays. Stages before optimisation are counted under their own reason. */
static bool drop_stages(input_walk *walk, size_t first) {
  size_t kept = first;
  bool going_on = true;
  for (size_t start = first, end; start < walk->n_paths; start = end) {
    const char *path = walk->path[start].path, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = module_name(name), all = (size_t)(name - path) + n;
    bool final = false;
    for (end = start; end < walk->n_paths && (end == start || n > 0); end++) {
      if (strncmp(walk->path[end].path, path, all) != 0) break;
      final = final || (n > 0 && is_final_dump(walk->path[end].path));
    }
    for (size_t i = start; i < end; i++) {
      input_path *it = &walk->path[i];
      bool drop = final && !is_final_dump(it->path) && !is_earlier_dump(it->path);
      it->record = drop && is_record_name(it->path);
      if (!drop || it->record) {
        walk->path[kept++] = walk->path[i];
        continue;
      }
      if (going_on) going_on = skip_file(walk, it->path, not_needed);
      free(it->path);
    }
  }
  walk->n_paths = kept;
  return going_on;
}

typedef struct folder_names {
  input_walk *walk;
  const char *folder;
} folder_names;

static bool push_name(void *user, const char *name) {
  const folder_names *names = user;
  return push_path(names->walk, names->folder, name);
}

static bool push_folder(input_walk *walk, const char *folder) {
  folder_names names = {walk, folder};
  size_t first = walk->n_paths;
  bool opened, going_on = process_each_name(folder, push_name, &names, &opened);
  if (!opened) {
    walk_failed(walk, folder);
    return true;
  }
  if (walk->n_paths > first)
    qsort(walk->path + first, walk->n_paths - first, sizeof *walk->path, name_comes_later);
  return drop_stages(walk, first) && going_on;
}

/* Read a path: a file, or a folder, whose members go to the list. */
static bool read_path(input_walk *walk, const char *path, const input_path *found) {
  process_path kind = process_path_kind(path);
  if (kind == PROCESS_ABSENT) {
    walk_failed(walk, path);
    return true;
  }
  if (kind == PROCESS_FOLDER)
    return found && process_is_link(path) ? skip_file(walk, path, "a link to a folder")
                                          : push_folder(walk, path);
  if (found && kind != PROCESS_FILE) return skip_file(walk, path, "not a regular file");
  if (found && ends_in(path, ".html")) return skip_file(walk, path, "a page for a browser");
  if (found && is_earlier_dump(path)) return skip_file(walk, path, "from before optimisation");
  if (found && is_code_dump(path) && !is_code_hlo(path))
    return skip_file(walk, path, "a stage of code generation");
  if (found && is_code_hlo(path) && walk->final) return skip_file(walk, path, not_needed);
  walk->final = walk->final || (found && is_final_dump(path));
  int fd = system_open(path);
  if (fd < 0) {
    walk_failed(walk, path);
    return true;
  }
  bool going_on = read_descriptor(walk, fd, path, found);
  system_close(fd);
  return going_on;
}

/* A text that repeats another file's, if there is one, is read after all others. */
static void put_last(input_walk *walk, input_path it) {
  memmove(walk->path + 1, walk->path, walk->n_paths++ * sizeof *walk->path);
  it.later = true;
  walk->path[0] = it;
}

static bool read_word(input_walk *walk, const char *word) {
  if (strcmp(word, "-") == 0) return read_descriptor(walk, PROCESS_STDIN, "-", NULL);
  walk->final = false;
  bool going_on = read_path(walk, word, NULL);
  while (going_on && walk->n_paths > 0) {
    input_path next = walk->path[--walk->n_paths];
    if (is_code_hlo(next.path) && !next.later && walk->n_paths > 0) {
      put_last(walk, next);
      continue;
    }
    going_on = read_path(walk, next.path, &next);
    free(next.path);
  }
  return going_on;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static void say_nothing_found(const input_walk *walk) {
  if (walk->runtime) {
    say_error(walk->cli,
              "this is only a runtime message of a failed allocation, without a list of arrays. The list is "
              "in the\n"
              "  compile-time report, if the program did not fit (\"Largest program allocations in hbm:\"), "
              "and the\n"
              "  arrays are in an HLO dump: XLA_FLAGS=--xla_dump_to=FOLDER, then tesela report FOLDER");
    return;
  }
  if (walk->sizeless) {
    say_error(
        walk->cli,
        "a record of a dump (%s) without the sizes of arrays. The sizes are in the same module's\n"
        "  -buffer-assignment.txt or after_optimizations.txt; name both, or the folder: tesela report FOLDER",
        walk->sizeless);
    return;
  }
  int64_t bytes = 0, lines = 0;
  for (int64_t i = 0; i < tesela_report_n_inputs(walk->report); i++) {
    const tesela_report_input *input = tesela_report_input_at(walk->report, i);
    bytes += input->bytes;
    lines += input->lines;
  }
  say_error(walk->cli,
            "nothing recognised in %" PRId64 " input%s (%" PRId64 " bytes, %" PRId64 " line%s). Looked for:\n"
            "  memory reports, as XLA prints them when a program does not fit:\n"
            "    Largest program allocations in hbm:\n"
            "      1. Size: 14.00G\n"
            "         Shape: s32[29360128,10]{1,0:T(8,128)}\n"
            "  HLO text, as XLA_FLAGS=--xla_dump_to=FOLDER or compiled.as_text() gives it:\n"
            "    %%name = f32[8,128]{1,0:T(8,128)} opcode(operands)",
            walk->n_read, walk->n_read == 1 ? "" : "s", bytes, lines, lines == 1 ? "" : "s");
}

/* Report in one line how many files in folders were not read, and why. */
static void say_skipped(const input_walk *walk) {
  const report_skipped *skipped = walk->skipped;
  char line[1024] = "";
  size_t n = 0;
  int64_t kept = skipped->n < REPORT_SKIPPED ? skipped->n : REPORT_SKIPPED;
  if (skipped->n == 0) return;
  for (int64_t i = 0; i < kept && n < sizeof line; i++) {
    const char *why = skipped->file[i].why;
    int64_t count = 0;
    bool said = false;
    for (int64_t k = 0; k < kept; k++) {
      said = said || (k < i && strcmp(skipped->file[k].why, why) == 0);
      count += strcmp(skipped->file[k].why, why) == 0;
    }
    if (said) continue;
    const char *slash = strrchr(skipped->file[i].name, '/');
    char quoted[SAY_QUOTE];
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%s%s: %s", n ? "; " : "",
                          say_quote(slash ? slash + 1 : skipped->file[i].name, quoted),
                          count > 1 ? " and others" : "", why);
  }
  say_note(walk->cli, "%" PRId64 " file%s skipped (%s); name a file to read it", skipped->n,
           skipped->n == 1 ? "" : "s", line);
}

void report_skipped_free(report_skipped *skipped) {
  for (int64_t i = 0; i < skipped->n && i < REPORT_SKIPPED; i++) free(skipped->file[i].name);
  skipped->n = 0;
}

int report_input_read(const cli_context *cli, int n_words, const char *const *words, report_inputs *inputs,
                      report_skipped *skipped) {
  tesela_error err;
  *inputs = (report_inputs){NULL, NULL};
  tesela_status status =
      tesela_report_create(&inputs->report, &(tesela_report_options){.peak = 1}, NULL, &err);
  if (status == TESELA_OK) status = tesela_records_create(&inputs->records, NULL, &err);
  if (status != TESELA_OK) return say_failure(cli, &err);
  input_walk *walk = calloc(1, sizeof *walk);
  if (walk) walk->from = decompress_create();
  if (!walk || !walk->from) {
    say_error(cli, "no memory");
    free(walk);
    return CLI_FAILED;
  }
  walk->cli = cli;
  walk->report = inputs->report;
  walk->records = inputs->records;
  walk->several = n_words > 1;
  walk->skipped = skipped;
  bool going_on = true;
  for (int i = 0; i < n_words && going_on; i++) going_on = read_word(walk, words[i]);
  if (going_on && (tesela_report_finish(inputs->report, &err) != TESELA_OK ||
                   tesela_records_finish(inputs->records, &err) != TESELA_OK))
    going_on = no_memory(walk);
  if (going_on && !report_inputs_any(inputs)) {
    if (walk->n_read > 0)
      say_nothing_found(walk);
    else if (walk->status == CLI_YES)
      say_error(cli, "found no text files there");
    walk->status = CLI_BAD;
  }
  say_skipped(walk);
  int exit_status = walk->status;
  while (walk->n_paths > 0) free(walk->path[--walk->n_paths].path);
  free(walk->path);
  free(walk->whole);
  decompress_destroy(walk->from);
  free(walk);
  return exit_status;
}

bool report_inputs_any(const report_inputs *inputs) {
  return inputs->report &&
         (tesela_report_n_sections(inputs->report) > 0 || report_any_records(inputs->records));
}

void report_inputs_free(report_inputs *inputs) {
  tesela_report_destroy(inputs->report);
  tesela_records_destroy(inputs->records);
}
