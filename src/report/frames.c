/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.c - the tables of source lines before a module's computations, from 2026 on:
 *
 *   FileNames                  1 "train.py"
 *   FileLocations              1 {file_name_id=1 function_name_id=5 line=110 end_line=110 ...}
 *   StackFrames                1 {file_location_id=1 parent_frame_id=1}
 *
 * Metadata then says stack_frame_id=1 instead of source_file and source_line. Rows stand in order of their
 * numbers; one out of order, or beyond MAX_ROWS, ends its table: what refers to it has no line.
 */
#include "report/report_state.h"

enum { MAX_ROWS = 1 << 16 };

static const struct {
  const char *title;
  tesela__frame_table table;
} table_titles[] = {
    {"FileNames", TESELA__TABLE_FILES},
    {"FunctionNames", TESELA__TABLE_OTHER},
    {"FileLocations", TESELA__TABLE_LOCATIONS},
    {"StackFrames", TESELA__TABLE_FRAMES},
};

/* The number after `key=`, or a text's first number for an empty key, or 0. */
static int32_t number_of(tesela__span text, const char *key) {
  const char *p = tesela__find(text, key), *end = text.text + text.n;
  int32_t number = 0;
  if (!p) return 0;
  for (p += strlen(key); p < end && tesela__is_digit(*p) && number < INT32_MAX / 16; p++)
    number = number * 10 + (*p - '0');
  return number;
}

/* Make room for row number `id` of a table; false in *fits if it is not the next one. */
static bool next_row(tesela__frames *frames, const tesela_allocator *allocator, void **rows, size_t size,
                     size_t *capacity, size_t n, int32_t id, bool *fits) {
  *fits = id > 0 && (size_t)id == n + 1 && n < MAX_ROWS;
  if (!*fits) frames->table = TESELA__TABLE_OTHER;
  return !*fits || tesela__grow(allocator, rows, size, capacity, n + 1);
}

static bool read_row(tesela__frames *frames, tesela__arena *text, const tesela_allocator *allocator,
                     int32_t id, tesela__span row) {
  void *files = frames->file, *locations = frames->location, *stack = frames->frame;
  bool fits = false;
  switch (frames->table) {
  case TESELA__TABLE_FILES:
    if (!next_row(frames, allocator, &files, sizeof *frames->file, &frames->cap_files, frames->n_files, id,
                  &fits))
      return false;
    frames->file = files;
    if (!fits || row.n < 2) return true;
    row = tesela__between(row.text + 1, row.text + row.n - 1); /* without quotes */
    frames->file[frames->n_files] = tesela__arena_copy(text, allocator, row);
    if (!frames->file[frames->n_files]) return false;
    frames->n_files++;
    return true;
  case TESELA__TABLE_LOCATIONS:
    if (!next_row(frames, allocator, &locations, sizeof *frames->location, &frames->cap_locations,
                  frames->n_locations, id, &fits))
      return false;
    frames->location = locations;
    if (fits)
      frames->location[frames->n_locations++] =
          (tesela__location){number_of(row, "file_name_id="), number_of(row, " line=")};
    return true;
  case TESELA__TABLE_FRAMES:
    if (!next_row(frames, allocator, &stack, sizeof *frames->frame, &frames->cap_frames, frames->n_frames, id,
                  &fits))
      return false;
    frames->frame = stack;
    if (fits) frames->frame[frames->n_frames++] = number_of(row, "file_location_id=");
    return true;
  case TESELA__TABLE_NONE:
  case TESELA__TABLE_OTHER:
    break;
  }
  return true;
}

bool tesela__frames_line(tesela__frames *frames, tesela__arena *text, const tesela_allocator *allocator,
                         tesela__span line, bool *is_one) {
  *is_one = false;
  if (line.n == 0) return true;
  for (size_t i = 0; i < sizeof table_titles / sizeof table_titles[0]; i++) {
    if (strlen(table_titles[i].title) != line.n || memcmp(table_titles[i].title, line.text, line.n) != 0)
      continue;
    frames->table = table_titles[i].table;
    *is_one = true;
    return true;
  }
  if (frames->table == TESELA__TABLE_NONE) return true;
  const char *blank = memchr(line.text, ' ', line.n);
  *is_one = blank && tesela__is_digit(line.text[0]);
  if (!*is_one) {
    frames->table = TESELA__TABLE_NONE;
    return true;
  }
  return read_row(frames, text, allocator, number_of(line, ""), tesela__from(line, blank + 1));
}

bool tesela__frames_find(const tesela__frames *frames, int32_t id, tesela__span *file, int32_t *number) {
  if (id < 1 || (size_t)id > frames->n_frames) return false;
  int32_t location = frames->frame[id - 1];
  if (location < 1 || (size_t)location > frames->n_locations) return false;
  int32_t name = frames->location[location - 1].file;
  if (name < 1 || (size_t)name > frames->n_files) return false;
  *file = tesela__text(frames->file[name - 1]);
  *number = frames->location[location - 1].line;
  return true;
}

void tesela__frames_free(tesela__frames *frames, const tesela_allocator *allocator) {
  tesela__release(allocator, (void *)frames->file);
  tesela__release(allocator, frames->location);
  tesela__release(allocator, frames->frame);
}

void tesela__frames_clear(tesela__frames *frames) {
  frames->table = TESELA__TABLE_NONE;
  frames->n_files = frames->n_locations = frames->n_frames = 0;
}
