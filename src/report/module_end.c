/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_end.c - the end of a module: which of the arrays that wait count.
 *
 * Everything that a walk along the calls of `while`, `conditional` and `call` reaches from the entry computation is
 * counted, the rest is dropped. Where the entry computation is missing, the arguments and results in the header stand
 * for it. Where another process printed the same module, its arrays are in the totals already.
 */
#include "report/report_state.h"

/* ---- what calls reach ---------------------------------------------------------------------------------- */

/* Put the computations that a list of calls names on the list of reached ones, unless they were. */
static void reach_calls(tesela__module *module, int32_t call, int32_t *reached) {
  for (; call >= 0; call = module->call[call].next) {
    int32_t callee = tesela__computation_find(module, module->call[call].callee);
    if (callee < 0 || module->computation[callee].counted) continue;
    module->computation[callee].counted = true;
    module->computation[callee].next_reached = *reached;
    *reached = callee;
  }
}

/* Without the entry computation the outermost ones have no caller: their names decide. */
static void reach_by_name(tesela_report *report, int32_t *reached) {
  tesela__module *module = &report->module;
  for (size_t i = 0; i < module->n_computations; i++) {
    tesela__computation *computation = &module->computation[i];
    if (computation->helper || computation->counted) continue;
    tesela__computation_note_by_name(report, "the text ends before the entry computation");
    computation->counted = true;
    computation->next_reached = *reached;
    *reached = (int32_t)i;
  }
}

/* ---- counting what waited ------------------------------------------------------------------------------- */

static bool make_layout_rows(tesela_report *report) {
  tesela__module *module = &report->module;
  for (int32_t w = module->first_layout; w >= 0; w = module->waiting[w].next) {
    tesela__waiting *pair = &module->waiting[w];
    tesela_report_role role = pair->array % 2 ? TESELA_REPORT_RESULT : TESELA_REPORT_ARGUMENT;
    if (!tesela__report_row(report, pair->array / 2, role, &pair->array)) return false;
  }
  return true;
}

/* What is known of the first array of a row that waited. */
static bool take_sighting(tesela_report *report, const tesela__waiting *pair) {
  tesela_report_array *array = &report->array[pair->array].public;
  array->line = pair->line;
  array->input = report->section[report->module.section].input;
  const char *from[] = {pair->name, pair->opcode, pair->op_name, pair->op_type, pair->location};
  const char **to[] = {&array->name, &array->opcode, &array->op_name, &array->op_type, &array->location};
  for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
    if (!from[i]) continue;
    *to[i] = tesela__arena_copy(&report->text, &report->allocator, (tesela__span){from[i], strlen(from[i])});
    if (!*to[i]) return tesela__report_no_memory(report);
  }
  return true;
}

/* A list in the order of the text. */
static int32_t in_order(tesela__module *module, int32_t first) {
  int32_t before = -1;
  while (first >= 0) {
    int32_t next = module->waiting[first].next;
    module->waiting[first].next = before;
    before = first;
    first = next;
  }
  return before;
}

/* Count what waits in a list: in the totals, or where another process printed it already in the section alone. */
static bool count_waiting(tesela_report *report, int32_t first_waiting, bool repeated) {
  tesela__module *module = &report->module;
  for (int32_t w = in_order(module, first_waiting); w >= 0; w = module->waiting[w].next) {
    const tesela__waiting *pair = &module->waiting[w];
    const tesela_report_array *array = &report->array[pair->array].public;
    bool first = array->count == 0;
    if (repeated) {
      tesela__report_add(report, &report->section[module->section].repeated, pair->count);
      tesela__report_section_add(report, module->section, tesela__report_bytes(array), pair->count);
    } else if (!tesela__report_count(report, pair->array, pair->count, module->section, NULL) ||
               (first && !take_sighting(report, pair))) {
      return false;
    }
  }
  return true;
}

static uint64_t mark_of_list(const tesela__module *module, int32_t first) {
  uint64_t mark = 0;
  for (int32_t w = first; w >= 0; w = module->waiting[w].next)
    mark += tesela__row_mark(module->waiting[w].array, module->waiting[w].count);
  return mark;
}

/* Did another process of the same input print this module? Two prints of one process count as two. */
static bool find_repeated(tesela_report *report, bool layout, bool *repeated) {
  tesela__module *module = &report->module;
  const char *name = report->section[module->section].name;
  uint64_t mark = module->fingerprint + mark_of_list(module, module->first_waiting);
  *repeated = false;
  if (!tesela__stream_is_one_of_several(report)) return true;
  if (layout) mark += mark_of_list(module, module->first_layout);
  for (size_t i = 0; i < module->n_computations; i++)
    if (module->computation[i].counted) mark += mark_of_list(module, module->computation[i].first_waiting);
  mark = (mark ^ tesela__text_hash(name, strlen(name))) * UINT64_C(0x9e3779b97f4a7c15);
  uint64_t own = mark ^ report->stream[report->current]->who;
  bool seen, seen_here;
  if (!tesela__report_seen(report, mark ? mark : 1, &seen) ||
      !tesela__report_seen(report, own ? own : 1, &seen_here))
    return false;
  *repeated = seen && !seen_here && module->fingerprint == 0;
  if (*repeated)
    tesela__report_note(report, TESELA_REPORT_REPEATED, report->section[module->section].line,
                        "several reports have the same entries; the totals count each once");
  return true;
}

/* ---- notes ---------------------------------------------------------------------------------------------- */

/* A module that came before, under the same name and with the same arrays, counts twice: add a note. */
static bool note_same_module(tesela_report *report) {
  tesela__module *module = &report->module;
  const tesela_report_section *section = &report->section[module->section];
  uint64_t identity = module->fingerprint ^ (uint64_t)section->stored_bytes ^
                      tesela__text_hash(section->name, strlen(section->name));
  bool seen;
  if (section->name[0] == '\0' || section->arrays == 0) return true;
  if (!tesela__report_seen(report, identity ? identity : 1, &seen)) return false;
  if (seen)
    tesela__report_note(
        report, TESELA_REPORT_SAME_MODULE, section->line,
        "module %.120s has the same arrays as an earlier module of that name; both are counted, so "
        "the sums may count one program twice",
        section->name);
  return true;
}

/* Notes on what a module lacks. */
static void note_missing(tesela_report *report) {
  const tesela__module *module = &report->module;
  const tesela_report_section *section = &report->section[module->section];
  if (module->where != TESELA__OUTSIDE)
    tesela__report_note(report, TESELA_REPORT_CUT_MODULE, report->line,
                        "the text ends inside a computation%s%.120s: arrays may be missing",
                        section->name[0] ? " of module " : "", section->name);
  if (module->entry_seen || section->name[0] == '\0') return;
  if (module->outside_seen)
    tesela__report_note(report, TESELA_REPORT_NO_ENTRY, section->line,
                        "module %.120s has no ENTRY line: instructions outside computations are counted, "
                        "others may be missing",
                        section->name);
  else if (section->n_arguments < 0)
    tesela__report_note(report, TESELA_REPORT_NO_ENTRY, section->line,
                        "module %.120s: the entry computation and its arrays are missing", section->name);
  else
    tesela__report_note(report, TESELA_REPORT_NO_ENTRY, section->line,
                        "module %.120s: the entry computation is missing; only the %" PRId64
                        " arguments and %" PRId64 " results of entry_computation_layout are counted",
                        section->name, section->n_arguments, section->n_results);
}

/* A TPU's text after optimisation has tiles. */
static void note_tiles(tesela_report *report) {
  const tesela__module *module = &report->module;
  const tesela_report_section *section = &report->section[module->section];
  if (!module->large || module->tiled || section->name[0] == '\0') return;
  if (module->scheduled)
    tesela__report_note(report, TESELA_REPORT_NO_TILES, section->line,
                        "module %.120s has no tiles, as those of GPUs and CPUs, so nothing in it is padded; "
                        "its arrays and its "
                        "peak are those of the text",
                        section->name);
  else
    tesela__report_note(
        report, TESELA_REPORT_NO_LAYOUTS, section->line,
        "module %.120s has no tiles: it is the text before optimisation, or not for a TPU, so its padding is "
        "unknown; expected compiled.as_text() or a dump after_optimizations",
        section->name);
}

/* ---- the end -------------------------------------------------------------------------------------------- */

/* Forget the module; its memory is kept for the next one. */
static void clear_module(tesela_report *report) {
  tesela__module *module = &report->module;
  report->n_waiting -= module->n_waiting;
  report->n_computations -= module->n_computations;
  report->n_all_calls -= module->n_calls;
  module->open = module->entry_seen = module->outside_seen = false;
  module->scheduled = module->large = module->tiled = false;
  module->where = TESELA__OUTSIDE;
  module->fingerprint = 0;
  module->entry_call = module->first_waiting = module->first_layout = -1;
  module->n_computations = module->n_waiting = module->n_calls = 0;
  tesela__release(&report->allocator, module->index);
  module->index = NULL;
  module->index_size = 0;
  tesela__arena_clear(&module->text, &report->allocator);
  tesela__frames_clear(&module->frames);
}

bool tesela__module_end(tesela_report *report) {
  tesela__module *module = &report->module;
  if (!module->open) return true;
  int32_t reached = -1;
  bool layout = !module->entry_seen && !module->outside_seen, repeated;
  reach_calls(module, module->entry_call, &reached);
  if (!module->entry_seen) reach_by_name(report, &reached);
  while (reached >= 0) {
    const tesela__computation *computation = &module->computation[reached];
    reached = computation->next_reached;
    reach_calls(module, computation->first_call, &reached);
  }
  note_missing(report);
  note_tiles(report);
  if (layout && !make_layout_rows(report)) return false;
  if (!find_repeated(report, layout, &repeated)) return false;
  if (!count_waiting(report, module->first_waiting, repeated)) return false;
  if (layout && !count_waiting(report, module->first_layout, repeated)) return false;
  for (size_t i = 0; i < module->n_computations; i++)
    if (module->computation[i].counted &&
        !count_waiting(report, module->computation[i].first_waiting, repeated))
      return false;
  if (!repeated && !note_same_module(report)) return false;
  if (!tesela__peak_end(report)) return false;
  clear_module(report);
  return true;
}

void tesela__module_release(tesela__module *module, const tesela_allocator *allocator) {
  void *const owned[] = {module->computation, module->call, module->waiting, module->index};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) tesela__release(allocator, owned[i]);
  tesela__frames_free(&module->frames, allocator);
  tesela__schedule_close(module->schedule);
  tesela__arena_clear(&module->text, allocator);
}
