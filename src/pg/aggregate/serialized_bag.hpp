// A bag as bytes. In this form a bag reaches another process of the query. The hashes of a stored
// partial state are read as a serialized bag, too.
//
// The registers come first, if there are any, so that the reader need not count the hashes again.
// The hashes follow. If the bag has spilled, or has too many hashes for a message, the hashes are
// in a file that another process takes over (pg/aggregate/shared_file.hpp). The bytes then have the
// name of the file instead of the hashes. The bag that merges them keeps the file beside its own.
#pragma once

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "pg/aggregate/hash_bag.hpp"
#include "pg/list.hpp"

namespace bloomfilter {

enum class BagForm : uint8 {
  hashes,
  counted, // registers and hashes
  file,    // registers, the number of hashes, and the name of the file that has them
};

// A bag for which the form of its bytes has been decided. The bag must not change until it is
// written.
struct PreparedBag {
  const HashBag *bag;
  BagForm form;
  SharedFileName file; // set if the form is BagForm::file

  Size bytes() const;
};

// Decides on the form of the bytes. If that is a file, makes it or gives the bag's own file away.
PreparedBag prepare_bag(HashBag *bag);
void write_bag(const PreparedBag &prepared, uint8 *bytes);

// A bag that was read from bytes. It points into them.
struct SerializedBag {
  const uint8 *registers; // NULL if there are none
  const uint8 *hashes;    // for load_hashes(); NULL if the hashes are in the file
  uint64 count;
  SharedFileName file;
};

// Reads a bag. Returns false if the bytes are not a valid bag.
bool read_bag(BagForm form, const uint8 *bytes, Size length, SerializedBag *serialized);

// Adds the hashes of a serialized bag to a bag.
void merge_serialized(HashBag *bag, const SerializedBag &serialized);

// Write and read hashes in the byte order of the format, at any alignment. store_hashes() returns
// the end of the written bytes.
inline uint8 *store_hashes(uint8 *bytes, const uint64 *hashes, Size count) {
  for (Size i = 0; i < count; i++)
    store(bytes + i * sizeof(uint64), hashes[i]);
  return bytes + count * sizeof(uint64);
}
inline void load_hashes(uint64 *hashes, const uint8 *bytes, Size count) {
  for (Size i = 0; i < count; i++)
    hashes[i] = load<uint64>(bytes + i * sizeof(uint64));
}

// Calls use(hashes, count) for all hashes, in batches. The hashes must not be in a file.
template <typename Use> void for_each_batch(const SerializedBag &serialized, Use use) {
  auto *batch = make_array<uint64>(kBatch);
  for (Size i = 0; i < serialized.count; i += kBatch) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(serialized.count - i, kBatch);
    load_hashes(batch, serialized.hashes + i * sizeof(uint64), count);
    use(batch, count);
  }
  pfree(batch);
}

} // namespace bloomfilter
