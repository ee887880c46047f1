/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_program.c - to which program a file belongs.
 */
#include "records/records.h"

/* Bytes of a path that the files of a program share: the folder, and "module_0001.NAME." where the name starts so. */
static size_t key_of(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strncmp(base, "module_", 7) == 0 ? strchr(base, '.') : NULL;
  if (dot) dot = strchr(dot + 1, '.');
  return (size_t)((dot ? dot + 1 : base) - path);
}

static tesela__record_program *make_program(tesela_records *records, const char *path, size_t key) {
  tesela__record_program **place = tesela__record_more(records, &records->program, sizeof *place);
  tesela__record_program *program =
      place ? tesela__arena_take(&records->text, &records->allocator, sizeof *program) : NULL;
  if (place && !program) records->program.n--;
  if (!program) return NULL;
  memset(program, 0, sizeof *program);
  *place = program;
  program->key = key;
  program->told.total_bytes = -1;
  program->told.source = tesela__record_text(records, (tesela__span){path, key});
  program->told.name = "";
  return program->told.source ? program : NULL;
}

tesela__record_program *tesela__record_program_of(tesela_records *records, const char *path,
                                                  tesela_record_kind kind) {
  size_t key = key_of(path);
  tesela__record_program **list = records->program.items;
  for (size_t i = records->program.n; i-- > 0;)
    if (!list[i]->profile && list[i]->key == key && strncmp(list[i]->told.source, path, key) == 0 &&
        !(list[i]->told.kinds & 1u << kind))
      return list[i];
  tesela__record_program *program = make_program(records, path, key);
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
             *dot = program && key > (size_t)(base - path) ? strchr(base, '.') : NULL;
  if (dot) program->told.name = tesela__record_text(records, tesela__between(dot + 1, path + key - 1));
  return program && program->told.name ? program : NULL;
}

bool tesela__record_open(tesela__record_file *file, tesela_record_kind kind) {
  file->program = make_program(file->records, file->path, strlen(file->path));
  if (!file->program) return false;
  file->program->told.kinds |= 1u << kind;
  file->program->profile = kind == TESELA_RECORD_PROFILE;
  return true;
}
