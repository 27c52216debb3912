// Helpers for the server's lists and memory that spare their callers casts.
//
//   for (const RestrictInfo *condition : each<RestrictInfo>(table->baserestrictinfo))
//   auto *pair = make_zeroed<KeyPair>();
//   auto *hashes = make_array<uint64>(count);
//   auto *calls = make_zeroed_array<CallState>(count);
//   GrowingArray<Row> rows = {};
//
// The server's foreach() needs a variable for the cell and a cast of what the cell holds. Its
// palloc() returns void *. Lists of integers and loops that need the position of a cell still use
// foreach().
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "utils/memutils.h"
}

namespace bloomfilter {

// A range-for over the pointers of a list. The list may be NIL, and must not change meanwhile.
template <typename T> class Each {
public:
  class Iterator {
  public:
    explicit Iterator(const ListCell *cell) : cell_(cell) {}
    T *operator*() const { return static_cast<T *>(lfirst(cell_)); }
    Iterator &operator++() {
      ++cell_;
      return *this;
    }
    bool operator!=(const Iterator &other) const { return cell_ != other.cell_; }

  private:
    const ListCell *cell_;
  };

  explicit Each(const List *list) : list_(list) {}
  Iterator begin() const { return Iterator(list_ ? list_->elements : nullptr); }
  Iterator end() const { return Iterator(list_ ? list_->elements + list_->length : nullptr); }

private:
  const List *list_;
};

template <typename T> Each<T> each(const List *list) {
  return Each<T>(list);
}

// Allocates `count` objects. Raises an error if they take more than 1 GB.
template <typename T> T *make_array(Size count, MemoryContext context = CurrentMemoryContext) {
  return static_cast<T *>(MemoryContextAlloc(context, count * sizeof(T)));
}

// The same, with all bytes zero.
template <typename T>
T *make_zeroed_array(Size count, MemoryContext context = CurrentMemoryContext) {
  return static_cast<T *>(MemoryContextAllocZero(context, count * sizeof(T)));
}

// Allocates one object, with all bytes zero.
template <typename T> T *make_zeroed(MemoryContext context = CurrentMemoryContext) {
  return make_zeroed_array<T>(1, context);
}

// An array that grows as items are added. It may exceed 1 GB. With all fields zero, it is empty. To
// use its memory again, set `count` to 0.
template <typename Item> struct GrowingArray {
  Item *items;
  int64 count, room;

  // Adds an item. The first call allocates memory in `context`; the array stays in that context.
  void add(const Item &item, MemoryContext context = CurrentMemoryContext) {
    if (count == room) {
      room = Max(2 * room, 64);
      const Size bytes = static_cast<Size>(room) * sizeof(Item);
      items = static_cast<Item *>(items ? repalloc_huge(items, bytes)
                                        : MemoryContextAllocHuge(context, bytes));
    }
    items[count++] = item;
  }
  Item *begin() { return items; }
  Item *end() { return items + count; }
};

} // namespace bloomfilter
