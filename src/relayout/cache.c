/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - the most recently used plans, found by layouts and options.
 *
 * Two layouts and options become a key: a list of 64-bit words with everything that a plan depends on, and nothing
 * else. Unused entries of a layout, struct padding and the numbers that tesela_layout_finish derives are omitted, so
 * equal requests have equal keys. Keys are hashed and compared word by word:
 *
 *   rank, numbers of digits, joins, axes and swizzles, bits, dtype | shape | joins | axes | swizzles | digits
 *   ... the same of the second layout | options
 *
 * Two tiled layouts of rank 4 are about 100 words. Entries are in a fixed table, linked by index in two ways: the chain
 * of a bucket, and all entries by last use. One lock guards both; plans are made and freed without it, so two threads
 * may make the same plan, and one of the two is dropped.
 */
#include "relayout/plan.h"

enum {
  MAX_CAPACITY = 65536,
  KEY_LANES = 4, /* words hashed in parallel; keys are zero-padded to a multiple */
  OPTION_WORDS = 7,
  MAX_KEY = 2 * TESELA__LAYOUT_WORDS + OPTION_WORDS + KEY_LANES
};

typedef struct cache_key {
  int32_t n; /* words, a multiple of KEY_LANES */
  uint64_t hash;
  uint64_t word[MAX_KEY];
} cache_key;

typedef struct cache_entry {
  uint64_t hash;
  uint64_t *word;
  int32_t n_words;
  int32_t chained;      /* next entry of the bucket, -1 at the end */
  int32_t newer, older; /* neighbours by last use, -1 at the ends */
  tesela_plan *plan;    /* the cache owns one reference */
} cache_entry;

struct tesela_plan_cache {
  tesela__lock lock;
  tesela_allocator allocator;
  int32_t capacity, n; /* entries 0 .. n-1 are in use; an entry is dropped only for a new one */
  int32_t newest, oldest;
  int64_t hits, misses;
  uint64_t bucket_mask;
  cache_entry *entry;
  int32_t *bucket;
};

void tesela__plan_retain(tesela_plan *plan) {
  atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
}

/* ---- keys ------------------------------------------------------------------------------------------------- */

static uint64_t *append(uint64_t *to, const void *items, size_t bytes) {
  to[(bytes + 7) / 8 - 1] = 0;
  memcpy(to, items, bytes);
  return to + (bytes + 7) / 8;
}

uint64_t *tesela__layout_words(uint64_t *to, const tesela_layout *layout) {
  const int32_t head[] = {layout->rank,      layout->n_digits, layout->n_joins,       layout->n_axes,
                          layout->swizzle.n, layout->bits,     (int32_t)layout->dtype};
  _Static_assert(sizeof(tesela_digit) == 32, "no padding, copied whole");
  to = append(to, head, sizeof head);
  if (layout->rank > 0) to = append(to, layout->shape, (size_t)layout->rank * sizeof layout->shape[0]);
  for (int32_t j = 0; j < layout->n_joins; j++) {
    *to++ = (uint64_t)layout->join[j].offset;
    *to++ = (uint64_t)layout->join[j].extent;
  }
  for (int32_t a = 0; a < layout->n_axes; a++) {
    to = append(to, layout->axis[a].name, sizeof layout->axis[a].name);
    *to++ = (uint64_t)layout->axis[a].offset;
    *to++ = (uint64_t)layout->axis[a].extent;
  }
  if (layout->swizzle.n > 0) {
    to = append(to, layout->swizzle.width, sizeof layout->swizzle.width);
    to = append(to, layout->swizzle.image, (size_t)layout->swizzle.n * sizeof layout->swizzle.image[0]);
  }
  if (layout->n_digits > 0)
    to = append(to, layout->digit, (size_t)layout->n_digits * sizeof layout->digit[0]);
  return to;
}

static uint64_t *append_options(uint64_t *to, const tesela_plan_options *options, int32_t dst_bits) {
  const int32_t head[] = {(int32_t)options->fill, (int32_t)options->transform, options->threads,
                          (int32_t)options->isa,  (int32_t)options->effort,    (int32_t)options->solver};
  size_t used = (size_t)tesela__min((dst_bits + 7) / 8, (int64_t)sizeof options->fill_value);
  to = append(to, head, sizeof head);
  to[0] = (uint64_t)options->memory_bytes;
  to[1] = options->shuffle;
  to[2] = to[3] = 0;
  if (options->fill == TESELA_FILL_VALUE) memcpy(&to[2], options->fill_value, used);
  return to + 4;
}

static uint64_t mix_lane(uint64_t lane, uint64_t word) {
  return ((lane << 29 | lane >> 35) ^ word) * UINT64_C(0xd6e8feb86659fd93);
}

static uint64_t hash_words(const uint64_t *word, int32_t n) {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (int32_t i = 0; i < n; i += KEY_LANES) {
    a = mix_lane(a, word[i]);
    b = mix_lane(b, word[i + 1]);
    c = mix_lane(c, word[i + 2]);
    d = mix_lane(d, word[i + 3]);
  }
  uint64_t hash = mix_lane(mix_lane(mix_lane(a, b), c), d);
  return hash ^ hash >> 32;
}

static void set_key(cache_key *key, const tesela_layout *dst, const tesela_layout *src,
                    const tesela_plan_options *options) {
  uint64_t *end = tesela__layout_words(key->word, dst);
  end = tesela__layout_words(end, src);
  end = append_options(end, options, dst->bits);
  while ((end - key->word) % KEY_LANES != 0) *end++ = 0;
  key->n = (int32_t)(end - key->word);
  key->hash = hash_words(key->word, key->n);
}

/* ---- the table; the caller has the lock ------------------------------------------------------------------- */

static int32_t *bucket_of(tesela_plan_cache *cache, uint64_t hash) {
  return &cache->bucket[hash & cache->bucket_mask];
}

static cache_entry *find_entry(tesela_plan_cache *cache, const cache_key *key) {
  for (int32_t i = *bucket_of(cache, key->hash); i >= 0; i = cache->entry[i].chained) {
    cache_entry *entry = &cache->entry[i];
    if (entry->hash == key->hash && entry->n_words == key->n &&
        memcmp(entry->word, key->word, (size_t)key->n * sizeof key->word[0]) == 0)
      return entry;
  }
  return NULL;
}

static void leave_order(tesela_plan_cache *cache, const cache_entry *entry) {
  *(entry->newer >= 0 ? &cache->entry[entry->newer].older : &cache->newest) = entry->older;
  *(entry->older >= 0 ? &cache->entry[entry->older].newer : &cache->oldest) = entry->newer;
}

static void become_newest(tesela_plan_cache *cache, cache_entry *entry) {
  int32_t number = (int32_t)(entry - cache->entry);
  entry->newer = -1;
  entry->older = cache->newest;
  *(cache->newest >= 0 ? &cache->entry[cache->newest].newer : &cache->oldest) = number;
  cache->newest = number;
}

static void leave_bucket(tesela_plan_cache *cache, const cache_entry *entry) {
  int32_t *link = bucket_of(cache, entry->hash);
  while (&cache->entry[*link] != entry) link = &cache->entry[*link].chained;
  *link = entry->chained;
}

/* Make an entry of the table the newest one, and its plan owned once more. */
static tesela_plan *use_entry(tesela_plan_cache *cache, cache_entry *entry) {
  if (entry->newer >= 0) {
    leave_order(cache, entry);
    become_newest(cache, entry);
  }
  tesela__plan_retain(entry->plan);
  return entry->plan;
}

/* Insert an entry; if the table is full, it replaces the oldest one, which is moved to *dropped. */
static void insert_entry(tesela_plan_cache *cache, cache_entry added, cache_entry *dropped) {
  cache_entry *entry;
  if (cache->n < cache->capacity) {
    entry = &cache->entry[cache->n++];
  } else {
    entry = &cache->entry[cache->oldest];
    *dropped = *entry;
    leave_order(cache, entry);
    leave_bucket(cache, entry);
  }
  int32_t *bucket = bucket_of(cache, added.hash);
  added.chained = *bucket;
  *entry = added;
  *bucket = (int32_t)(entry - cache->entry);
  become_newest(cache, entry);
}

/* ---- the interface ---------------------------------------------------------------------------------------- */

tesela_status tesela_plan_cache_create(tesela_plan_cache **cache, int32_t capacity,
                                       const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, cache);
  if (capacity < 1 || capacity > MAX_CAPACITY)
    return tesela__fail(err, TESELA_E_RANGE, -1, "capacity is %" PRId32 "; expected 1 to %d", capacity,
                        MAX_CAPACITY);
  size_t n_buckets = 2;
  while (n_buckets < 2 * (size_t)capacity) n_buckets *= 2;
  size_t entries_at =
      (sizeof **cache + alignof(cache_entry) - 1) / alignof(cache_entry) * alignof(cache_entry);
  uint64_t buckets_at = entries_at + (uint64_t)capacity * sizeof(cache_entry);
  uint64_t bytes = buckets_at + n_buckets * sizeof(int32_t);
  tesela_allocator own = tesela__allocator(allocator);
  unsigned char *memory = tesela__alloc(&own, bytes, alignof(max_align_t));
  if (!memory)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a cache of %" PRIu64 " bytes", bytes);
  tesela_plan_cache *made = (tesela_plan_cache *)(void *)memory;
  *made = (tesela_plan_cache){.allocator = own,
                              .capacity = capacity,
                              .newest = -1,
                              .oldest = -1,
                              .bucket_mask = n_buckets - 1,
                              .entry = (cache_entry *)(void *)(memory + entries_at),
                              .bucket = (int32_t *)(void *)(memory + buckets_at)};
  memset(made->bucket, 0xff, n_buckets * sizeof(int32_t)); /* -1 */
  if (!tesela__lock_init(&made->lock)) {
    tesela__release(&own, memory);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "the system has no lock left");
  }
  *cache = made;
  return TESELA_OK;
}

/* Make the plan of a new key, and insert it. */
static tesela_status make_entry(tesela_plan_cache *cache, tesela_plan **plan, const cache_key *key,
                                const tesela_layout *dst, const tesela_layout *src,
                                const tesela_plan_options *options, tesela_error *err) {
  cache_entry added = {.hash = key->hash, .n_words = key->n}, unused = {.word = NULL};
  tesela_plan_options own = *options;
  own.allocator = &cache->allocator;
  tesela_status status = tesela_plan_create(&added.plan, dst, src, &own, err);
  if (status != TESELA_OK) return status;
  uint64_t bytes = (uint64_t)key->n * sizeof key->word[0];
  added.word = tesela__alloc(&cache->allocator, bytes, alignof(uint64_t));
  if (!added.word) {
    tesela_plan_destroy(added.plan);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a key of %" PRIu64 " bytes", bytes);
  }
  memcpy(added.word, key->word, (size_t)bytes);
  tesela__lock_take(&cache->lock);
  cache_entry *found = find_entry(cache, key);
  if (found) { /* another thread was faster */
    *plan = use_entry(cache, found);
    unused = added;
  } else {
    tesela__plan_retain(added.plan);
    *plan = added.plan;
    insert_entry(cache, added, &unused);
  }
  tesela__lock_give(&cache->lock);
  tesela__release(&cache->allocator, unused.word);
  tesela_plan_destroy(unused.plan);
  return TESELA_OK;
}

tesela_status tesela_plan_cache_get(tesela_plan_cache *cache, tesela_plan **plan, const tesela_layout *dst,
                                    const tesela_layout *src, const tesela_plan_options *options,
                                    tesela_error *err) {
  TESELA__NEED(err, cache, plan, dst, src);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_plan_options defaults = {0};
  tesela_status status = tesela__check_finished(dst, err);
  if (status == TESELA_OK) status = tesela__check_finished(src, err);
  if (status != TESELA_OK) return status;
  if (!options) options = &defaults;
  cache_key key;
  set_key(&key, dst, src, options);
  tesela__lock_take(&cache->lock);
  cache_entry *entry = find_entry(cache, &key);
  tesela_plan *found = entry ? use_entry(cache, entry) : NULL;
  *(found ? &cache->hits : &cache->misses) += 1;
  tesela__lock_give(&cache->lock);
  if (!found) return make_entry(cache, plan, &key, dst, src, options, err);
  *plan = found;
  return TESELA_OK;
}

void tesela_plan_cache_count(tesela_plan_cache *cache, int64_t *hits, int64_t *misses) {
  if (hits) *hits = 0;
  if (misses) *misses = 0;
  if (!cache) return;
  tesela__lock_take(&cache->lock);
  if (hits) *hits = cache->hits;
  if (misses) *misses = cache->misses;
  tesela__lock_give(&cache->lock);
}

void tesela_plan_cache_destroy(tesela_plan_cache *cache) {
  if (!cache) return;
  for (int32_t i = 0; i < cache->n; i++) {
    tesela__release(&cache->allocator, cache->entry[i].word);
    tesela_plan_destroy(cache->entry[i].plan);
  }
  tesela__lock_destroy(&cache->lock);
  tesela_allocator allocator = cache->allocator;
  tesela__release(&allocator, cache);
}
