/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_plan.c - other offsets for the temporaries of a memory space: was the compiler's fragmentation avoidable?
 *
 * Values that use one place at the same time are one array to the compiler (an operand and what is written over it, a loop's values),
 * and so are a loop's values before and after a pause in which others may use the place. So the values become places in time,
 *
 *   place   values of one offset and size whose lives touch; exact
 *   unit    places that must keep their distance: those that overlap, and those of loops at one offset and size
 *
 * and there are two problems for the planner (solve/arena). A unit as one block that lives from the first of its instants to the last
 * can be moved as a whole: its plan holds. The largest places that do not overlap, moved one by one, are less than what every plan
 * must hold: their bound holds. Mostly the two are one. The compiler's own plan is kept where ours is not better.
 *
 * Offsets are multiples of the largest power of two that divides all of the compiler's, at most RECORD_ALIGNMENT: the records do not
 * say what it keeps to. Sizes are rounded up to it, so that the planner packs whole pieces.
 */
#include <stdio.h>
#include <stdlib.h>

#include "records/records.h"
#include "solve/arena/arena.h"

enum {
  RECORD_ALIGNMENT = 1 << 16,
  RECORD_MOST = 1 << 15,     /* values of a memory space; with more there is no plan */
  RECORD_MEETINGS = 1 << 26, /* pairs of places that are compared */
  RECORD_EFFORT = 100000,    /* about a tenth of a second for each of two problems */
};

typedef struct plan_place {
  int64_t start, end; /* bytes, by the compiler's offsets */
  int64_t from, to;   /* instants, both included */
  int32_t buffer;     /* one of its values */
  int32_t unit;       /* itself, or another place of its unit */
  bool carried;       /* has a value of a loop */
  bool spare;         /* overlaps one that is not smaller: not part of the bound */
} plan_place;

typedef struct plan_unit {
  int64_t start, end, from, to, moved; /* moved: by how many bytes the plan moves it */
} plan_unit;

typedef struct plan {
  tesela_records *records;
  tesela__record_program *program;
  tesela_record_space *space;
  int64_t *base; /* of each allocation: where its values start among those of the space */
  plan_place *place;
  int32_t *of;     /* of each buffer the place, or -1 */
  plan_unit *unit; /* at the place that stands for it */
  tesela_arena_buffer *item;
  int64_t n, alignment, temporary; /* bytes of all allocations of temporaries */
} plan;

static int64_t plan_up(const plan *p, int64_t bytes) {
  return tesela__ceil_div(bytes, p->alignment) * p->alignment;
}

/* ---- values -> places ------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const plan_place *x = a, *y = b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return x->buffer - y->buffer;
}

static int by_start_of_life(const void *a, const void *b) {
  const plan_place *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return by_place(a, b);
}

static bool is_planned(const plan *p, const tesela_record_buffer *buffer) {
  const tesela_record_allocation *in =
      &((const tesela_record_allocation *)p->program->allocation.items)[buffer->allocation];
  return in->use == TESELA_RECORD_TEMPORARY && in->space == p->space->space && buffer->bytes > 0;
}

/* One place for each value; false: no plan. */
static bool read_places(plan *p) {
  const tesela_record_buffer *buffer = p->program->buffer.items;
  const tesela_record_allocation *allocation = p->program->allocation.items;
  int64_t all = 0;
  for (size_t i = 0; i < p->program->allocation.n; i++) {
    if (allocation[i].space != p->space->space || allocation[i].use != TESELA_RECORD_TEMPORARY) continue;
    p->base[i] = p->temporary;
    all |= p->temporary;
    p->temporary += allocation[i].bytes; /* needs_bytes is their sum and more */
  }
  for (size_t i = 0; i < p->program->buffer.n; i++) {
    if (!is_planned(p, &buffer[i])) continue;
    if (p->n == RECORD_MOST || buffer[i].carried < 0) return false;
    int64_t start = p->base[buffer[i].allocation] + buffer[i].offset;
    p->place[p->n++] = (plan_place){.start = start,
                                    .end = start + buffer[i].bytes,
                                    .from = buffer[i].from,
                                    .to = buffer[i].to,
                                    .buffer = (int32_t)i,
                                    .carried = buffer[i].carried > 0};
    all |= start;
  }
  for (p->alignment = 1; p->alignment < RECORD_ALIGNMENT && !(all & p->alignment);) p->alignment *= 2;
  return p->n > 0 && p->temporary < TESELA__ARENA_MOST / (2 * RECORD_MOST);
}

/* Values of one offset and size whose lives touch become one place. */
static void join_touching(plan *p) {
  int64_t n = 0;
  qsort(p->place, (size_t)p->n, sizeof *p->place, by_place);
  for (int64_t i = 0; i < p->n; i++) {
    plan_place *last = &p->place[n - (n > 0)];
    const plan_place *next = &p->place[i];
    if (n > 0 && last->start == next->start && last->end == next->end && next->from <= last->to) {
      last->to = tesela__max(last->to, next->to);
      last->carried = last->carried || next->carried;
      p->of[next->buffer] = last->buffer; /* for now */
    } else {
      p->of[next->buffer] = next->buffer;
      p->place[n++] = *next;
    }
  }
  p->n = n;
}

/* ---- places -> units -------------------------------------------------------------------------------------- */

static int32_t unit_of(plan *p, int32_t i) {
  while (p->place[i].unit != i) i = p->place[i].unit = p->place[p->place[i].unit].unit;
  return i;
}

/* Loops' values at one offset and size; the places are sorted by those. */
static void tie_carried(plan *p) {
  int32_t last = -1;
  for (int32_t i = 0; i < (int32_t)p->n; i++) {
    if (!p->place[i].carried) continue;
    if (last >= 0 && p->place[last].start == p->place[i].start && p->place[last].end == p->place[i].end)
      p->place[unit_of(p, i)].unit = unit_of(p, last);
    last = i;
  }
}

/* Places that overlap; false: too many to compare. */
static bool tie_overlapping(plan *p, int32_t *alive) {
  int32_t n = 0;
  int64_t compared = 0;
  for (int32_t i = 0; i < (int32_t)p->n; i++) {
    plan_place *now = &p->place[i];
    int32_t kept = 0;
    if ((compared += n) > RECORD_MEETINGS) return false;
    for (int32_t k = 0; k < n; k++) {
      plan_place *other = &p->place[alive[k]];
      if (other->to < now->from) continue;
      alive[kept++] = alive[k];
      if (other->end <= now->start || now->end <= other->start) continue;
      plan_place *smaller = now->end - now->start > other->end - other->start ? other : now;
      smaller->spare = true;
      p->place[unit_of(p, i)].unit = unit_of(p, alive[k]);
    }
    n = kept;
    alive[n++] = i;
  }
  return true;
}

/* The places by the start of their lives, each with its unit; false: no plan. */
static bool find_units(plan *p, int32_t *scratch) {
  for (int32_t i = 0; i < (int32_t)p->n; i++) p->place[i].unit = i;
  tie_carried(p);
  for (int32_t i = 0; i < (int32_t)p->n; i++)
    scratch[i] = p->place[unit_of(p, i)].buffer; /* outlives the sort */
  for (int32_t i = 0; i < (int32_t)p->n; i++) p->place[i].unit = scratch[i];
  qsort(p->place, (size_t)p->n, sizeof *p->place, by_start_of_life);
  for (int32_t i = 0; i < (int32_t)p->n; i++) scratch[p->place[i].buffer] = i;
  for (int32_t i = 0; i < (int32_t)p->n; i++) p->place[i].unit = scratch[p->place[i].unit];
  for (size_t i = 0; i < p->program->buffer.n; i++)
    if (p->of[i] >= 0) p->of[i] = scratch[p->of[i]];
  return tie_overlapping(p, scratch);
}

static void bound_units(plan *p) {
  for (int32_t i = 0; i < (int32_t)p->n; i++) {
    const plan_place *is = &p->place[i];
    plan_unit *unit = &p->unit[unit_of(p, i)];
    if (unit->end == 0) *unit = (plan_unit){is->start, is->end, is->from, is->to, 0};
    unit->start = tesela__min(unit->start, is->start);
    unit->end = tesela__max(unit->end, is->end);
    unit->from = tesela__min(unit->from, is->from);
    unit->to = tesela__max(unit->to, is->to);
  }
}

/* ---- the two problems ------------------------------------------------------------------------------------- */

static tesela_arena_buffer item_of(const plan *p, int64_t bytes, int64_t from, int64_t to) {
  return (tesela_arena_buffer){
      .lower = from, .upper = to + 1, .size = plan_up(p, bytes), .offset = TESELA_ARENA_FREE};
}

/* Functions from here on return false only without memory: sizes and lives are in range. */
static bool plan_items(plan *p, int32_t n, tesela_arena_facts *facts) {
  tesela_arena_options options = {.effort = RECORD_EFFORT, .allocator = &p->records->allocator};
  for (int32_t i = 0; i < n; i++) snprintf(p->item[i].id, sizeof p->item[i].id, "%" PRId32, i);
  return tesela_arena_plan(n, p->item, &options, facts, NULL) == TESELA_OK;
}

/* The units as blocks; *peak: where the highest ends. */
static bool plan_blocks(plan *p, tesela_arena_facts *facts, int64_t *peak) {
  int32_t n = 0;
  for (int32_t i = 0; i < (int32_t)p->n; i++) {
    const plan_unit *unit = &p->unit[i];
    if (p->place[i].unit == i) p->item[n++] = item_of(p, unit->end - unit->start, unit->from, unit->to);
  }
  if (!plan_items(p, n, facts)) return false;
  *peak = n = 0;
  for (int32_t i = 0; i < (int32_t)p->n; i++) {
    plan_unit *unit = &p->unit[i];
    if (p->place[i].unit != i) continue;
    unit->moved = p->item[n++].offset - unit->start;
    *peak = tesela__max(*peak, unit->end + unit->moved);
  }
  return true;
}

/* The places of the bound, if they are not the units. */
static bool plan_bound(plan *p, tesela_arena_facts *facts) {
  int32_t n = 0, single = 0;
  for (int32_t i = 0; i < (int32_t)p->n; i++) {
    const plan_place *is = &p->place[i];
    single += is->unit == i;
    if (!is->spare) p->item[n++] = item_of(p, is->end - is->start, is->from, is->to);
  }
  return single == p->n || plan_items(p, n, facts);
}

static void tell(plan *p, const tesela_arena_facts *blocks, const tesela_arena_facts *bound, int64_t peak) {
  tesela_record_buffer *buffer = p->program->buffer.items;
  tesela_record_space *space = p->space;
  int64_t always = space->needs_bytes - p->temporary, live = space->peak_bytes - always;
  bool ours = peak < p->temporary;
  space->planned_bytes = always + (ours ? peak : p->temporary);
  space->bound_bytes = tesela__min(space->planned_bytes, always + tesela__max(live, bound->bound));
  space->alignment_bytes = p->alignment;
  space->aligned_bytes =
      tesela__min(tesela__max(blocks->live - live, 0), space->bound_bytes - space->peak_bytes);
  for (size_t i = 0; i < p->program->buffer.n; i++) {
    if (p->of[i] < 0) continue;
    int64_t moved = ours ? p->unit[unit_of(p, p->of[i])].moved : 0;
    buffer[i].planned_offset = p->base[buffer[i].allocation] + buffer[i].offset + moved;
  }
}

static bool plan_space(plan *p) {
  tesela_arena_facts blocks, bound;
  int64_t peak;
  for (size_t i = 0; i < p->program->buffer.n; i++) p->of[i] = -1;
  if (!read_places(p)) return true;
  join_touching(p);
  if (!find_units(p, p->of + p->program->buffer.n)) return true;
  bound_units(p);
  if (!plan_blocks(p, &blocks, &peak)) return false;
  bound = blocks;
  if (!plan_bound(p, &bound)) return false;
  tell(p, &blocks, &bound, peak);
  return true;
}

bool tesela__record_plan(tesela_records *records, tesela__record_program *program) {
  const tesela_allocator *memory = &records->allocator;
  tesela_record_space *space = program->space.items;
  uint64_t n = program->buffer.n + 1, most = n < RECORD_MOST ? n : RECORD_MOST;
  bool fits = true;
  for (size_t i = 0; fits && i < program->space.n; i++) {
    if (!space[i].followed || space[i].at < 0) continue;
    plan p = {.records = records, .program = program, .space = &space[i]};
    p.base = tesela__alloc(memory, ((uint64_t)program->allocation.n + 1) * sizeof *p.base, alignof(int64_t));
    p.place = tesela__alloc(memory, most * sizeof *p.place, alignof(plan_place));
    p.of = tesela__alloc(memory, 2 * n * sizeof *p.of, alignof(int32_t));
    p.unit = tesela__alloc(memory, most * sizeof *p.unit, alignof(plan_unit));
    p.item = tesela__alloc(memory, most * sizeof *p.item, alignof(tesela_arena_buffer));
    fits = p.base && p.place && p.of && p.unit && p.item;
    if (fits) {
      memset(p.unit, 0, most * sizeof *p.unit);
      fits = plan_space(&p);
    }
    void *const owned[] = {p.base, p.place, p.of, p.unit, p.item};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) tesela__release(memory, owned[k]);
  }
  return fits;
}
