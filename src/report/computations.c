/* SPDX-License-Identifier: Apache-2.0 */
/*
 * computations.c - the arrays of a computation wait until it is known whether they count.
 *
 * HLO text puts a computation before those that call it, so that when `body` is read nobody knows yet whether
 * it is the body of a loop (its arrays are in memory) or what a fusion computes (they are not). Its arrays
 * wait as (row, count) pairs, its calls as hashes of names. At the end of the module everything that a walk
 * along the calls of `while`, `conditional` and `call` reaches from the entry computation is counted, the
 * rest is dropped. Where the entry computation is missing, the arguments and results in the header stand for it.
 *
 * Memory: one pair for each computation and distinct row in it, up to options.waiting; fused_...
 * computations, by far the most, are passed over at once. Beyond the limit the name decides (report.h, rule
 * 3).
 */
#include "report/state.h"

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

static void note_by_name(tesela_report *report, const char *why) {
  tesela__report_note(report, TESELA_REPORT_BY_NAME, report->line,
                      "%s, so whether a computation counts was decided "
                      "by its name",
                      why);
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

/* ---- hash of names -> computation ---------------------------------------------------------------------- */

static size_t computation_place(const tesela__module *module, uint64_t name) {
  size_t mask = module->index_size - 1, at = (size_t)name & mask;
  while (module->index[at] >= 0 && module->computation[module->index[at]].name != name) at = (at + 1) & mask;
  return at;
}

static bool computation_index_grow(tesela_report *report) {
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
                        "%s: lines of two texts are mixed, or a text is cut; arrays may be counted that are "
                        "not in memory, or be missing",
                        module->where != TESELA__OUTSIDE ? "a computation starts before the last one ends"
                                                         : "a module has two entry computations");
  module->serial = ++report->serial;
  module->entry_seen = module->entry_seen || entry;
  module->where = entry ? TESELA__ENTRY : is_fused_name(name) ? TESELA__FUSED : TESELA__WAITING;
  if (module->where != TESELA__WAITING) return true;
  if (is_waiting_full(report)) {
    note_by_name(report, "more computations wait for a caller than are kept");
    module->where = helps_by_name(name) ? TESELA__FUSED : TESELA__CALLED;
    return true;
  }
  void *computations = module->computation;
  if (!computation_index_grow(report)) return false;
  if (!tesela__grow(&report->allocator, &computations, sizeof *module->computation, &module->cap_computations,
                    module->n_computations + 1))
    return tesela__report_no_memory(report);
  module->computation = computations;
  uint64_t hash = tesela__report_hash(name.text, name.n);
  module->current = (int32_t)module->n_computations;
  module->index[computation_place(module, hash)] = module->current; /* of two with one name the later one */
  report->n_computations++;
  module->computation[module->n_computations++] = (tesela__computation){
      .name = hash, .first_waiting = -1, .first_call = -1, .next_reached = -1, .helper = helps_by_name(name)};
  return true;
}

void tesela__computation_end(tesela_report *report) {
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
      {&waiting->location, tesela__hlo_location(report, sighting->rest, room, sizeof room)},
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

/* Behind the prefix of a process the entry computation waits too: another one may print the same module. */
static bool is_one_of_several(const tesela_report *report) { return report->current > 0; }

bool tesela__computation_count(tesela_report *report, int32_t row, const tesela__sighting *sighting) {
  tesela__module *module = &report->module;
  bool full = is_waiting_full(report), waits = module->where == TESELA__WAITING;
  bool outer = module->where == TESELA__ENTRY || module->where == TESELA__OUTSIDE;
  if (waits && !full)
    return let_wait(report, row, &module->computation[module->current].first_waiting, sighting);
  if (outer && !full && is_one_of_several(report))
    return let_wait(report, row, &module->first_waiting, sighting);
  if (waits) note_by_name(report, "more arrays wait for a caller than are kept");
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

static bool make_layout_rows(tesela_report *report) {
  tesela__module *module = &report->module;
  for (int32_t w = module->first_layout; w >= 0; w = module->waiting[w].next) {
    tesela__waiting *pair = &module->waiting[w];
    tesela_report_role role = pair->array % 2 ? TESELA_REPORT_RESULT : TESELA_REPORT_ARGUMENT;
    if (!tesela__report_row(report, pair->array / 2, role, &pair->array)) return false;
  }
  return true;
}

bool tesela__computation_calls(tesela_report *report, tesela__span callee) {
  tesela__module *module = &report->module;
  if (is_fused_name(callee)) {
    tesela__report_note(report, TESELA_REPORT_PASSED_OVER, report->line,
                        "computation %.*s was taken for part of a "
                        "fusion by its name but is called from here; its arrays are not counted",
                        (int)tesela__min((int64_t)callee.n, 120), callee.text);
    return true;
  }
  if (report->n_all_calls >= (size_t)report->options.waiting) {
    note_by_name(report, "more calls stand in a module than are kept");
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
      (tesela__call){.callee = tesela__report_hash(callee.text, callee.n), .next = *first};
  *first = (int32_t)module->n_calls++;
  report->n_all_calls++;
  return true;
}

/* ---- the end of the module ----------------------------------------------------------------------------- */

/* Put the computations that a list of calls names on the list of reached ones, unless they were. */
static void reach_calls(tesela__module *module, int32_t call, int32_t *reached) {
  for (; call >= 0 && module->index; call = module->call[call].next) {
    int32_t callee = module->index[computation_place(module, module->call[call].callee)];
    if (callee < 0 || module->computation[callee].counted) continue;
    module->computation[callee].counted = true;
    module->computation[callee].next_reached = *reached;
    *reached = callee;
  }
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
  if (!is_one_of_several(report)) return true;
  if (layout) mark += mark_of_list(module, module->first_layout);
  for (size_t i = 0; i < module->n_computations; i++)
    if (module->computation[i].counted) mark += mark_of_list(module, module->computation[i].first_waiting);
  mark = (mark ^ tesela__report_hash(name, strlen(name))) * UINT64_C(0x9e3779b97f4a7c15);
  uint64_t own = mark ^ report->stream[report->current]->who;
  bool seen, seen_here;
  if (!tesela__report_seen(report, mark ? mark : 1, &seen) ||
      !tesela__report_seen(report, own ? own : 1, &seen_here))
    return false;
  *repeated = seen && !seen_here && module->fingerprint == 0;
  if (*repeated)
    tesela__report_note(report, TESELA_REPORT_REPEATED, report->section[module->section].line,
                        "the same entries stand in several reports; the totals count each once");
  return true;
}

/* Without the entry computation nobody calls the outermost ones: their names decide. */
static void reach_by_name(tesela_report *report, int32_t *reached) {
  tesela__module *module = &report->module;
  for (size_t i = 0; i < module->n_computations; i++) {
    tesela__computation *computation = &module->computation[i];
    if (computation->helper || computation->counted) continue;
    note_by_name(report, "the text ends before the entry computation");
    computation->counted = true;
    computation->next_reached = *reached;
    *reached = (int32_t)i;
  }
}

/* A module that came before, under the same name and with the same arrays, counts twice: say so. */
static bool note_same_module(tesela_report *report) {
  tesela__module *module = &report->module;
  const tesela_report_section *section = &report->section[module->section];
  uint64_t identity = module->fingerprint ^ (uint64_t)section->stored_bytes ^
                      tesela__report_hash(section->name, strlen(section->name));
  bool seen;
  if (section->name[0] == '\0' || section->arrays == 0) return true;
  if (!tesela__report_seen(report, identity ? identity : 1, &seen)) return false;
  if (seen)
    tesela__report_note(
        report, TESELA_REPORT_SAME_MODULE, section->line,
        "module %.120s has the same arrays as an earlier module of that name; both are counted, so "
        "the sums may hold one program twice",
        section->name);
  return true;
}

/* What is missing of a module, in words. */
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
                        "module %.120s has no line ENTRY: instructions outside of computations are counted, "
                        "others may be missing",
                        section->name);
  else if (section->n_arguments < 0)
    tesela__report_note(report, TESELA_REPORT_NO_ENTRY, section->line,
                        "module %.120s: the entry computation is missing, and its arrays", section->name);
  else
    tesela__report_note(report, TESELA_REPORT_NO_ENTRY, section->line,
                        "module %.120s: the entry computation is missing; of its arrays only the %" PRId64
                        " arguments and %" PRId64 " results of entry_computation_layout are counted",
                        section->name, section->n_arguments, section->n_results);
}

/* Forget the module; what it has taken is kept for the next one. */
static void clear_module(tesela_report *report) {
  tesela__module *module = &report->module;
  report->n_waiting -= module->n_waiting;
  report->n_computations -= module->n_computations;
  report->n_all_calls -= module->n_calls;
  module->open = module->entry_seen = module->outside_seen = false;
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
  if (layout && !make_layout_rows(report)) return false;
  if (!find_repeated(report, layout, &repeated)) return false;
  if (!count_waiting(report, module->first_waiting, repeated)) return false;
  if (layout && !count_waiting(report, module->first_layout, repeated)) return false;
  for (size_t i = 0; i < module->n_computations; i++)
    if (module->computation[i].counted &&
        !count_waiting(report, module->computation[i].first_waiting, repeated))
      return false;
  if (!repeated && !note_same_module(report)) return false;
  clear_module(report);
  return true;
}

void tesela__module_release(tesela__module *module, const tesela_allocator *allocator) {
  void *const owned[] = {module->computation, module->call,        module->waiting,
                         module->index,       module->frames.file, module->frames.location,
                         module->frames.frame};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) tesela__release(allocator, owned[i]);
  tesela__arena_clear(&module->text, allocator);
}
