// A bag of hashes: what an aggregate keeps of its rows until it knows how large its filter must be.
//
// Of each hash a bag keeps as many copies as make a difference: one for a set, more for counters.
// They are collected in an array that starts at 8 entries, so that many small groups stay small. A
// full array doubles. But if at least half of it are repetitions, these are left out; of a set, its
// content then becomes a hash set, which takes more memory for each hash and none for repetitions,
// and the array its buffer; until most hashes are new again. What exceeds the memory limit of a
// bag, hash_mem_multiplier times work_mem, moves to a temporary file.
//
// Whether an array has more than kExactDistinct distinct hashes, or how many it has, is found out
// by a set, too, which lasts no longer than that; or where copies or order count, by sorting.
// From that number on, a bag has registers (pg/aggregate/registers.hpp).
//
// Reading changes no content: more hashes may follow, as in a window frame.
//
// A temporary file belongs to the executor's resource owner, which closes it on an error; in the
// regular course it is closed by AggRegisterCallback, before the memory of its group is reset. A
// WindowAgg has no such callback and keeps everything in memory.
//
// A bag of a partial state travels to another process as its wire form: the registers, if there are
// any, so that nobody counts twice what was counted, and the hashes. Those that have left memory,
// or are too many for a message, stay in a file that changes hands (pg/aggregate/shared_file.hpp):
// the bag that takes them in has it beside its own. A bag that may be asked for its wire form again
// gives a copy of its file away.
#ifndef BLOOMFILTER_PG_AGGREGATE_HASH_BAG_HPP
#define BLOOMFILTER_PG_AGGREGATE_HASH_BAG_HPP

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "core/distinct.hpp"
#include "pg/aggregate/shared_file.hpp"

namespace bloomfilter {

constexpr Size kFirstCapacity = 8;
constexpr Size kBuffer = 1024; // hashes that go together into a set, or a bitmap
constexpr Size kBatch = 8192;  // hashes handled between two checks for interrupts

// A file of hashes.
struct Spill {
  BufFile *file;
  uint64 count;
  SharedFile *shared; // if it is one that changes hands
  Spill *next;
  enum : uint8 { own, given, taken } whose;
};

// What a wire form is made of, and a bag that came from another process. A stored partial state is
// read as one, too, so its hashes are in the byte order of the format.
enum class WireForm : uint8 { hashes, counted, file };
struct Wire {
  const uint8 *registers; // or NULL
  const uint8 *hashes;    // at any alignment; or NULL, for a file
  uint64 count;
  SharedFileName file;
};

// Zero at first, but for the first five.
struct Bag {
  MemoryContext context;
  bool may_spill;
  bool travels; // between processes, maybe by file
  bool reread;  // its wire form may be asked for again
  int copies;

  uint64 *hashes;
  Size count, capacity;
  HashSet set;              // without slots while the array collects
  uint64 offered, accepted; // hashes for the set since its size was decided, and new ones of these
  uint8 *registers;         // from kExactDistinct on: of all hashes ever seen
  Size registered;          // hashes of the array that the registers know
  Spill *spill;             // hashes that left memory; a file to write comes first
  uint64 spilled;
  BufFile *sorted; // the distinct ones of the first `sorted_of` of these, in ascending order
  uint64 sorted_of, sorted_count;

  const Wire *wire;     // of a bag that came from another process; it is read once
  SharedFileName given; // the file of its own wire form

  Size in_memory() const { return count + set.count; }
  uint64 size() const { return spilled + in_memory(); }
};

void resize_array(Bag *bag, Size capacity);

// Makes room in a full array.
void make_room_in_bag(FunctionCallInfo fcinfo, Bag *bag);

// Are at most half of all hashes worth keeping?
bool mostly_repeated(Bag *bag);

// Leaves no repetition in memory; returns the number of distinct hashes there.
Size remove_repetitions(FunctionCallInfo fcinfo, Bag *bag);

// The number of distinct hashes that a filter is to be sized for.
uint64 distinct_to_size_for(FunctionCallInfo fcinfo, Bag *bag);

// Calls use(hashes, count) for all hashes that a bag keeps, in batches.
template <typename Use> void for_each_batch_in_memory(const Bag *bag, Use use);
template <typename Use> void for_each_batch(const Bag *bag, Use use);

// Sorts a bag that keeps one copy, and returns the number of distinct hashes. for_each_sorted()
// calls use(hashes, count) for these in ascending order, until others are added.
uint64 sort_bag(FunctionCallInfo fcinfo, Bag *bag);
template <typename Use> void for_each_sorted(const Bag *bag, Use use);

// Copies hashes into the array. Where it is full, make_room() makes room.
template <typename MakeRoom>
void append(Bag *bag, const uint64 *hashes, Size count, MakeRoom make_room);

// Adds to a bag what another one has, which may have come from another process.
void merge_bag(FunctionCallInfo fcinfo, Bag *bag, const Bag *other);

// Decides on the wire form, and makes the file if there is to be one: the bag must not change after
// it. write_wire() then writes wire_size() bytes.
WireForm settle_wire(FunctionCallInfo fcinfo, Bag *bag);
Size wire_size(const Bag *bag, WireForm form);
void write_wire(const Bag *bag, WireForm form, uint8 *wire);

// Makes an empty bag one of this wire form, whose bytes must remain; false if they make no sense.
bool read_wire(Bag *bag, WireForm form, const uint8 *wire, Size length);

// --- what the templates are made of --------------------------------------------------------------

// Hashes of a wire form.
inline void load_hashes(uint64 *hashes, const uint8 *wire, Size count) {
  for (Size i = 0; i < count; i++)
    hashes[i] = load<uint64>(wire + i * sizeof(uint64));
}

// A position in a file; rewind_file() returns the one to come back to.
struct FilePosition {
  int file;
  off_t offset;
};
FilePosition rewind_file(BufFile *file);
void seek_file(BufFile *file, const FilePosition &position);
void read_file(BufFile *file, uint64 *hashes, Size count);

// Calls use(hashes, count) for a file's first `count` hashes, in batches, and goes back to where it
// was.
template <typename Use> void for_each_batch_of(BufFile *file, uint64 count, Use use) {
  const FilePosition before = rewind_file(file);
  auto *batch = static_cast<uint64 *>(palloc(kBatch * sizeof(uint64)));
  for (uint64 left = count; left > 0;) {
    CHECK_FOR_INTERRUPTS();
    const Size length = Min(left, kBatch);
    read_file(file, batch, length);
    use(batch, length);
    left -= length;
  }
  pfree(batch);
  seek_file(file, before);
}

template <typename Use> void for_each_batch_in_memory(const Bag *bag, Use use) {
  for (Size i = 0; i < bag->count; i += kBatch) {
    CHECK_FOR_INTERRUPTS();
    use(bag->hashes + i, Min(bag->count - i, kBatch));
  }
  if (!bag->set.slots && !bag->wire)
    return;
  auto *batch = static_cast<uint64 *>(palloc(kBatch * sizeof(uint64)));
  for (Size i = 0; bag->wire && bag->wire->hashes && i < bag->wire->count; i += kBatch) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(bag->wire->count - i, kBatch);
    load_hashes(batch, bag->wire->hashes + i * sizeof(uint64), count);
    use(batch, count);
  }
  Size next = 0;
  while (const Size count = read_distinct(bag->set, &next, batch, kBatch)) {
    CHECK_FOR_INTERRUPTS();
    use(batch, count);
  }
  pfree(batch);
}

template <typename Use> void for_each_batch_in_files(const Bag *bag, Use use) {
  for (const Spill *spill = bag->spill; spill; spill = spill->next)
    for_each_batch_of(spill->file, spill->count, use);
}

template <typename Use> void for_each_batch(const Bag *bag, Use use) {
  for_each_batch_in_memory(bag, use);
  for_each_batch_in_files(bag, use);
}

template <typename MakeRoom>
void append(Bag *bag, const uint64 *hashes, Size count, MakeRoom make_room) {
  while (count > 0) {
    if (bag->count == bag->capacity)
      make_room();
    const Size length = Min(count, bag->capacity - bag->count);
    memcpy(bag->hashes + bag->count, hashes, length * sizeof(uint64));
    bag->count += length;
    hashes += length;
    count -= length;
  }
}

// They are in the array, or if there is a file, in `sorted`.
template <typename Use> void for_each_sorted(const Bag *bag, Use use) {
  if (bag->spill)
    for_each_batch_of(bag->sorted, bag->sorted_count, use);
  else
    for_each_batch_in_memory(bag, use);
}

} // namespace bloomfilter

#endif
