/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_input.c - the inputs of report and diff: files, folders, standard input.
 *
 * Folders are walked with a list of paths that are still to be visited, not by recursion; the names of one
 * folder come in their order, so that output does not depend on the file system.
 */
#include "report_input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

enum { BLOCK = 256 * 1024, LOOKED = 4 << 20 };

typedef struct input_walk {
  const cli_context *cli;
  tesela_report *report;
  char **path; /* still to be visited; the last one is next */
  size_t n_paths, capacity;
  int status;
  int64_t n_read;    /* inputs */
  int64_t n_earlier; /* dumps from before optimisation that were passed over */
  int64_t n_stages;  /* dumps of other stages of a module that were */
  int64_t looked;    /* bytes that were searched for the message of a runtime */
  bool runtime;      /* it was there */
  char block[BLOCK];
} input_walk;

static void walk_failed(input_walk *walk, const char *name) {
  char quoted[SAY_QUOTE];
  say_error(walk->cli, "%s: %s", say_quote(name, quoted), strerror(errno));
  if (walk->status == CLI_YES) walk->status = CLI_BAD;
}

static bool no_memory(input_walk *walk) {
  say_error(walk->cli, "no memory");
  walk->status = CLI_FAILED;
  return false;
}

/* ---- one file ------------------------------------------------------------------------------------------ */

/* What a file of compressed text starts with. */
static const char *compression_of(const char *block, size_t n) {
  static const struct {
    const char *start, *tool;
  } rows[] = {{"\x1f\x8b", "zcat"},
              {"\x28\xb5\x2f\xfd", "zstdcat"},
              {"\xfd"
               "7zXZ",
               "xzcat"},
              {"BZh", "bzcat"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (n >= strlen(rows[i].start) && memcmp(block, rows[i].start, strlen(rows[i].start)) == 0)
      return rows[i].tool;
  return NULL;
}

/* The words of a runtime that could not allocate: they name no array. Only needed if nothing else is there,
 * so the first megabytes will do. */
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

/* Read fd to its end. `found` means that it was found in a folder: a file that is no text is passed over.
 * Returns false only if there is no point in going on. */
static bool read_descriptor(input_walk *walk, int fd, const char *name, bool found) {
  char quoted[SAY_QUOTE];
  tesela_error err;
  for (int64_t total = 0;;) {
    ssize_t n = read(fd, walk->block, BLOCK);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      walk_failed(walk, name);
      return true;
    }
    if (total == 0 && n > 0) {
      const char *tool = compression_of(walk->block, (size_t)n);
      if (found && memchr(walk->block, 0, (size_t)n)) return true;
      if (tool) {
        say_error(walk->cli, "%s is compressed; read it with: %s FILE | tesela %s -", say_quote(name, quoted),
                  tool, walk->cli->verb->name);
        walk->status = CLI_BAD;
        return true;
      }
    }
    if (total == 0) {
      walk->n_read++;
      if (tesela_report_begin_input(walk->report, name, &err) != TESELA_OK) return no_memory(walk);
    }
    if (n == 0) return true;
    total += n;
    if (!feed_block(walk, (size_t)n)) return false;
  }
}

/* ---- folders ------------------------------------------------------------------------------------------- */

static bool push_path(input_walk *walk, const char *folder, const char *name) {
  size_t n = strlen(folder), m = strlen(name);
  if (walk->n_paths == walk->capacity) {
    size_t more = walk->capacity ? walk->capacity * 2 : 64;
    char **grown = realloc(walk->path, more * sizeof *grown);
    if (!grown) return no_memory(walk);
    walk->path = grown;
    walk->capacity = more;
  }
  char *path = malloc(n + m + 2);
  if (!path) return no_memory(walk);
  memcpy(path, folder, n);
  if (n > 0 && folder[n - 1] != '/') path[n++] = '/';
  memcpy(path + n, name, m + 1);
  walk->path[walk->n_paths++] = path;
  return true;
}

static int name_comes_later(const void *a, const void *b) {
  return -strcmp(*(char *const *)a, *(char *const *)b);
}

/* XLA dumps a module before and after optimisation; before, its arrays have no tiles and are others. */
static bool is_earlier_dump(const char *path) {
  const char *name = strrchr(path, '/');
  return strstr(name ? name : path, "before_optimizations") != NULL;
}

/* How much of a file's name in a dump is that of its module: "module_0001.jit_step."; 0: it is none. */
static size_t module_name(const char *name) {
  const char *dot = strncmp(name, "module_", 7) == 0 ? strchr(name, '.') : NULL;
  if (dot) dot = strchr(dot + 1, '.');
  return dot ? (size_t)(dot - name) + 1 : 0;
}

static bool is_final_dump(const char *name) {
  static const char end[] = "after_optimizations.txt";
  size_t n = strlen(name);
  return n >= sizeof end - 1 && strcmp(name + n - (sizeof end - 1), end) == 0;
}

/* Of the names first .. end-1, sorted, drop the other stages of a module whose last one is there: they hold
 * the same arrays, not yet or once more. Those from before optimisation have a note of their own. */
static void drop_stages(input_walk *walk, size_t first) {
  size_t kept = first;
  for (size_t start = first, end; start < walk->n_paths; start = end) {
    const char *slash = strrchr(walk->path[start], '/'), *name = slash ? slash + 1 : walk->path[start];
    size_t n = module_name(name), all = (size_t)(name - walk->path[start]) + n;
    bool final = false;
    for (end = start; end < walk->n_paths && (end == start || n > 0); end++) {
      if (strncmp(walk->path[end], walk->path[start], all) != 0) break;
      final = final || (n > 0 && is_final_dump(walk->path[end]));
    }
    for (size_t i = start; i < end; i++) {
      bool drop = final && !is_final_dump(walk->path[i]) && !is_earlier_dump(walk->path[i]);
      walk->n_stages += drop;
      if (drop)
        free(walk->path[i]);
      else
        walk->path[kept++] = walk->path[i];
    }
  }
  walk->n_paths = kept;
}

static bool push_folder(input_walk *walk, const char *folder) {
  DIR *dir = opendir(folder);
  if (!dir) {
    walk_failed(walk, folder);
    return true;
  }
  size_t first = walk->n_paths;
  bool going_on = true;
  for (struct dirent *entry; going_on && (entry = readdir(dir));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      going_on = push_path(walk, folder, entry->d_name);
  closedir(dir);
  if (walk->n_paths > first)
    qsort(walk->path + first, walk->n_paths - first, sizeof *walk->path, name_comes_later);
  drop_stages(walk, first);
  return going_on;
}

/* Read a path: a file, or a folder, whose members are put on the list. */
static bool read_path(input_walk *walk, const char *path, bool found) {
  struct stat info, link;
  if (stat(path, &info) != 0) {
    walk_failed(walk, path);
    return true;
  }
  if (S_ISDIR(info.st_mode)) {
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    return found && is_link ? true : push_folder(walk, path);
  }
  if (found && !S_ISREG(info.st_mode)) return true;
  if (found && is_earlier_dump(path)) {
    walk->n_earlier++;
    return true;
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    walk_failed(walk, path);
    return true;
  }
  bool going_on = read_descriptor(walk, fd, path, found);
  close(fd);
  return going_on;
}

static bool read_word(input_walk *walk, const char *word) {
  if (strcmp(word, "-") == 0) return read_descriptor(walk, STDIN_FILENO, "-", false);
  bool going_on = read_path(walk, word, false);
  while (going_on && walk->n_paths > 0) {
    char *path = walk->path[--walk->n_paths];
    going_on = read_path(walk, path, true);
    free(path);
  }
  return going_on;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static void say_nothing_found(const input_walk *walk) {
  if (walk->runtime) {
    say_error(
        walk->cli,
        "only a runtime's message that an allocation failed: it has no list of arrays. The list stands\n"
        "  in the compile-time report, if the program did not fit (\"Largest program allocations in "
        "hbm:\"),\n"
        "  and the arrays in a dump: XLA_FLAGS=--xla_dump_to=FOLDER, then tesela report FOLDER");
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

int report_input_read(const cli_context *cli, int n_words, const char *const *words, tesela_report **report) {
  tesela_error err;
  *report = NULL;
  tesela_status status = tesela_report_create(report, NULL, NULL, &err);
  if (status != TESELA_OK) return say_failure(cli, &err);
  input_walk *walk = calloc(1, sizeof *walk);
  if (!walk) {
    say_error(cli, "no memory");
    return CLI_FAILED;
  }
  walk->cli = cli;
  walk->report = *report;
  bool going_on = true;
  for (int i = 0; i < n_words && going_on; i++) going_on = read_word(walk, words[i]);
  if (going_on && tesela_report_finish(*report, &err) != TESELA_OK) going_on = no_memory(walk);
  if (going_on && tesela_report_n_sections(*report) == 0) {
    if (walk->n_read > 0)
      say_nothing_found(walk);
    else if (walk->status == CLI_YES)
      say_error(cli, "no text files there");
    walk->status = CLI_BAD;
  }
  if (walk->n_earlier > 0)
    say_note(cli, "%" PRId64 " file%s from before optimisation passed over; name them to read them",
             walk->n_earlier, walk->n_earlier == 1 ? "" : "s");
  if (walk->n_stages > 0)
    say_note(cli,
             "%" PRId64 " file%s of other stages of the same modules passed over; name them to read them",
             walk->n_stages, walk->n_stages == 1 ? "" : "s");
  int exit_status = walk->status;
  while (walk->n_paths > 0) free(walk->path[--walk->n_paths]);
  free(walk->path);
  free(walk);
  return exit_status;
}
