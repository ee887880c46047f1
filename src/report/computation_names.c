/* SPDX-License-Identifier: Apache-2.0 */
/*
 * computation_names.c - computations of a module by the hashes of their names.
 */
#include "report/report_state.h"

static size_t computation_place(const tesela__module *module, uint64_t name) {
  size_t mask = module->index_size - 1, at = (size_t)name & mask;
  while (module->index[at] >= 0 && module->computation[module->index[at]].name != name) at = (at + 1) & mask;
  return at;
}

int32_t tesela__computation_find(const tesela__module *module, uint64_t name) {
  return module->index ? module->index[computation_place(module, name)] : -1;
}

bool tesela__computation_index_grow(tesela_report *report) {
  tesela__module *module = &report->module;
  if (module->index && module->n_computations < module->index_size / 2) return true;
  size_t size = module->index ? module->index_size * 2 : 256;
  int32_t *index = tesela__alloc(&report->allocator, size * sizeof *index, alignof(int32_t));
  if (!index) return tesela__report_no_memory(report);
  memset(index, 0xff, size * sizeof *index);
  tesela__release(&report->allocator, module->index);
  module->index = index;
  module->index_size = size;
  for (size_t i = 0; i < module->n_computations; i++)
    index[computation_place(module, module->computation[i].name)] = (int32_t)i;
  return true;
}

void tesela__computation_index_put(tesela__module *module, uint64_t name, int32_t computation) {
  module->index[computation_place(module, name)] = computation;
}

void tesela__computation_note_by_name(tesela_report *report, const char *why) {
  tesela__report_note(report, TESELA_REPORT_BY_NAME, report->line,
                      "%s, so its name decided whether a computation counts", why);
}
