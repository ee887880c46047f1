/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - a fuzz target without a fuzzer: runs LLVMFuzzerTestOneInput on every file of the given folders.
 *
 * So each input that ever mattered is tried again in the ordinary build, with any compiler. Input is copied
 * into memory of just its size, so that valgrind and ASan see a read past its end. A folder without files is
 * a failure: a corpus that is not there tests nothing.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The whole file in memory of exactly its size; NULL (and a line on stderr) if that fails. */
static uint8_t *read_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(size ? size : 1);
  if (!file || !data || fread(data, 1, size, file) != size) {
    perror(path);
    free(data);
    data = NULL;
  }
  if (file) fclose(file);
  return data;
}

/* Runs one file; anything but a file is skipped. Adds 1 to *n_files for a file; false if it cannot be read. */
static bool replay_file(const char *path, long *n_files) {
  struct stat info;
  if (stat(path, &info) != 0) {
    perror(path);
    return false;
  }
  if (!S_ISREG(info.st_mode)) return true;
  uint8_t *data = read_file(path, (size_t)info.st_size);
  if (!data) return false;
  LLVMFuzzerTestOneInput(data, (size_t)info.st_size);
  free(data);
  *n_files += 1;
  return true;
}

/* Runs every file of a folder; false if one cannot be read or the folder has no file. */
static bool replay(const char *folder) {
  long n_files = 0;
  bool ok = true;
  DIR *dir = opendir(folder);
  if (!dir) {
    perror(folder);
    return false;
  }
  for (struct dirent *entry; ok && (entry = readdir(dir));) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name); /* a path cut short is one stat refuses */
    ok = replay_file(path, &n_files);
  }
  closedir(dir);
  printf("%s: %ld files\n", folder, n_files);
  return ok && n_files > 0;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
    return 2;
  }
  for (int i = 1; i < argc; i++)
    if (!replay(argv[i])) return 1;
  return 0;
}
