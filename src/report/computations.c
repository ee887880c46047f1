/* SPDX-License-Identifier: Apache-2.0 */
/*
 * computations.c - the arrays of a computation wait until it is known whether they count.
 *
 * HLO text puts a computation before those that call it, so that when `body` is read it is unknown whether
 * it is the body of a loop (its arrays are in memory) or what a fusion computes (they are not). Its arrays
 * wait as (row, count) pairs, its calls as hashes of names. module_end.c counts what calls reach, at the end.
 *
 * Memory: one pair for each computation and distinct row in it, up to options.waiting; fused_...
 * computations, by far the most, are skipped at once. Beyond the limit the name decides (report.h, rule
 * 3).
 */
#include "report/report_state.h"

enum { WAITING_TEXT = 16 << 20 }; /* bytes of names that wait; beyond, rows have none */

static bool name_starts_with(tesela__span text, const char *start) {
  size_t n = strlen(start);
  return text.n >= n && memcmp(text.text, start, n) == 0;
}

static bool is_fused_name(tesela__span name) { return name_starts_with(name, "fused_"); }

static bool helps_by_name(tesela__span name) {
  if (name_starts_with(name, "wrapped_")) return true;
  for (size_t i = 0; i + 3 <= name.n; i++)
    if (memcmp(name.text + i, "fus", 3) == 0) return true;
  return false;
}

/* ---- the module ---------------------------------------------------------------------------------------- */

bool tesela__module_need_section(tesela_report *report) {
  tesela__module *module = &report->module;
  if (module->open) return true;
  return tesela__module_begin(report, (tesela__span){"", 0});
}

bool tesela__module_begin(tesela_report *report, tesela__span name) {
  tesela__module *module = &report->module;
  if (!tesela__module_end(report)) return false;
  module->open = true;
  module->outside_seen = module->assignment = false;
  module->serial = ++report->serial;
  return tesela__report_new_section(report, TESELA_REPORT_HLO, name, &module->section);
}

/* ---- a computation ------------------------------------------------------------------------------------- */

static bool is_waiting_full(const tesela_report *report) {
  size_t limit = (size_t)report->options.waiting;
  return report->n_waiting >= limit || report->n_computations >= limit || report->n_all_calls >= limit;
}

bool tesela__computation_begin(tesela_report *report, tesela__span name, bool entry) {
  tesela__module *module = &report->module;
  if (!tesela__module_need_section(report)) return false;
  if (module->where != TESELA__OUTSIDE || (entry && module->entry_seen))
    tesela__report_note(report, TESELA_REPORT_MIXED, report->line,
                        "%s: lines of two texts are mixed, or a text is truncated; arrays that are not in "
                        "memory may be counted, others may be missing",
                        module->where != TESELA__OUTSIDE ? "a computation starts before the last one ends"
                                                         : "a module has two ENTRY computations");
  if (module->schedule && !tesela__schedule_computation_begin(module->schedule, name, entry, report->line))
    return tesela__report_no_memory(report);
  module->serial = ++report->serial;
  module->entry_seen = module->entry_seen || entry;
  module->where = entry ? TESELA__ENTRY : is_fused_name(name) ? TESELA__FUSED : TESELA__WAITING;
  if (module->where != TESELA__WAITING) return true;
  if (is_waiting_full(report)) {
    tesela__computation_note_by_name(report, "more computations await their caller than the limit allows");
    module->where = helps_by_name(name) ? TESELA__FUSED : TESELA__CALLED;
    return true;
  }
  void *computations = module->computation;
  if (!tesela__computation_index_grow(report)) return false;
  if (!tesela__grow(&report->allocator, &computations, sizeof *module->computation, &module->cap_computations,
                    module->n_computations + 1))
    return tesela__report_no_memory(report);
  module->computation = computations;
  uint64_t hash = tesela__text_hash(name.text, name.n);
  module->current = (int32_t)module->n_computations;
  tesela__computation_index_put(module, hash, module->current); /* of two with one name the later one */
  report->n_computations++;
  module->computation[module->n_computations++] = (tesela__computation){
      .name = hash, .first_waiting = -1, .first_call = -1, .next_reached = -1, .helper = helps_by_name(name)};
  return true;
}

void tesela__computation_end(tesela_report *report) {
  if (report->module.schedule) tesela__schedule_computation_end(report->module.schedule);
  report->module.where = TESELA__OUTSIDE;
  report->module.serial = ++report->serial;
}

/* ---- its arrays ---------------------------------------------------------------------------------------- */

static bool keep_sighting(tesela_report *report, tesela__waiting *waiting, const tesela__sighting *sighting) {
  tesela__module *module = &report->module;
  waiting->line = sighting->line;
  if (module->text.bytes > WAITING_TEXT) return true;
  char room[512];
  const struct {
    const char **to;
    tesela__span from;
  } parts[] = {
      {&waiting->name, sighting->name},
      {&waiting->opcode, sighting->opcode},
      {&waiting->op_name, tesela__hlo_metadata(sighting->rest, "op_name")},
      {&waiting->op_type, tesela__hlo_metadata(sighting->rest, "op_type")},
      {&waiting->location, tesela__hlo_location(&report->module.frames, sighting->rest, room, sizeof room)},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (!(*parts[i].to = tesela__arena_copy(&module->text, &report->allocator, parts[i].from)))
      return tesela__report_no_memory(report);
  return true;
}

/* A pair at the start of a list. */
static bool add_waiting(tesela_report *report, int32_t row, int32_t *first, tesela__waiting **pair) {
  tesela__module *module = &report->module;
  void *waiting = module->waiting;
  if (!tesela__grow(&report->allocator, &waiting, sizeof *module->waiting, &module->cap_waiting,
                    module->n_waiting + 1))
    return tesela__report_no_memory(report);
  module->waiting = waiting;
  *pair = &module->waiting[module->n_waiting];
  **pair = (tesela__waiting){.array = row, .next = *first, .count = 1};
  *first = (int32_t)module->n_waiting++;
  report->n_waiting++;
  return true;
}

static bool let_wait(tesela_report *report, int32_t row, int32_t *first, const tesela__sighting *sighting) {
  tesela__module *module = &report->module;
  tesela__array *array = &report->array[row];
  tesela__waiting *pair = NULL;
  if (array->stamp == module->serial) {
    module->waiting[array->stamp_entry].count++;
    return true;
  }
  if (!add_waiting(report, row, first, &pair) || !keep_sighting(report, pair, sighting)) return false;
  array->stamp = module->serial;
  array->stamp_entry = *first;
  return true;
}

bool tesela__computation_count(tesela_report *report, int32_t row, const tesela__sighting *sighting) {
  tesela__module *module = &report->module;
  bool full = is_waiting_full(report), waits = module->where == TESELA__WAITING;
  bool outer = module->where == TESELA__ENTRY || module->where == TESELA__OUTSIDE;
  if (waits && !full)
    return let_wait(report, row, &module->computation[module->current].first_waiting, sighting);
  if (outer && !full && tesela__stream_is_one_of_several(report))
    return let_wait(report, row, &module->first_waiting, sighting);
  if (waits) tesela__computation_note_by_name(report, "more arrays await their caller than the limit allows");
  if (waits && module->computation[module->current].helper) return true;
  return tesela__report_count(report, row, 1, module->section, sighting);
}

/* Its row is made only if it counts: until then the number of its shape stands for it, twice, and its role. */
bool tesela__module_layout(tesela_report *report, int32_t shape, bool is_result) {
  tesela__waiting *pair = NULL;
  if (is_waiting_full(report)) return true;
  if (!add_waiting(report, 2 * shape + is_result, &report->module.first_layout, &pair)) return false;
  pair->line = report->line;
  return true;
}

bool tesela__computation_calls(tesela_report *report, tesela__span callee) {
  tesela__module *module = &report->module;
  if (is_fused_name(callee)) {
    tesela__report_note(report, TESELA_REPORT_PASSED_OVER, report->line,
                        "computation %.*s looked like part of a fusion by its name but is called from here; "
                        "its arrays are not counted",
                        (int)tesela__min((int64_t)callee.n, 120), callee.text);
    return true;
  }
  if (report->n_all_calls >= (size_t)report->options.waiting) {
    tesela__computation_note_by_name(report, "a module has more calls than the limit allows");
    return true;
  }
  void *calls = module->call;
  if (!tesela__grow(&report->allocator, &calls, sizeof *module->call, &module->cap_calls,
                    module->n_calls + 1))
    return tesela__report_no_memory(report);
  module->call = calls;
  bool waits = module->where == TESELA__WAITING && !is_waiting_full(report);
  int32_t *first = waits ? &module->computation[module->current].first_call : &module->entry_call;
  module->call[module->n_calls] =
      (tesela__call){.callee = tesela__text_hash(callee.text, callee.n), .next = *first};
  *first = (int32_t)module->n_calls++;
  report->n_all_calls++;
  return true;
}
