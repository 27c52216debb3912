// A bag as bytes, in which it reaches another process of the query; a stored partial state is read
// as one, too.
//
// First come the registers, if there are any, so that nobody counts twice what was counted; then
// the hashes. Those that have left memory, or are too many for a message, are in a file that
// changes hands (pg/aggregate/shared_file.hpp), and its name takes their place: the bag that merges
// them has that file beside its own.
#ifndef BLOOMFILTER_PG_AGGREGATE_SERIALIZED_BAG_HPP
#define BLOOMFILTER_PG_AGGREGATE_SERIALIZED_BAG_HPP

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "pg/aggregate/hash_bag.hpp"
#include "pg/list.hpp"

namespace bloomfilter {

enum class BagForm : uint8 {
  hashes,
  counted, // registers and hashes
  file,    // registers, and the number of hashes in a file
};

// A bag that is to be written in a form, and must not change until then.
struct SettledBag {
  const HashBag *bag;
  BagForm form;
  SharedFileName file; // if the form is one

  Size bytes() const;
};

// Decides on the form, and makes or hands over the file if there is to be one.
SettledBag settle_bag(HashBag *bag);
void write_bag(const SettledBag &settled, uint8 *bytes);

// A bag that is read from its bytes.
struct SerializedBag {
  const uint8 *registers; // NULL: there are none
  const uint8 *hashes;    // for load_hashes(); NULL: they are in the file
  uint64 count;
  SharedFileName file;
};

// False if the bytes make no sense.
bool read_bag(BagForm form, const uint8 *bytes, Size length, SerializedBag *serialized);

// Adds the hashes of a serialized bag to a bag.
void merge_serialized(HashBag *bag, const SerializedBag &serialized);

// Hashes in the byte order of the format, at any alignment. store_hashes() returns where they end.
inline uint8 *store_hashes(uint8 *bytes, const uint64 *hashes, Size count) {
  for (Size i = 0; i < count; i++)
    store(bytes + i * sizeof(uint64), hashes[i]);
  return bytes + count * sizeof(uint64);
}
inline void load_hashes(uint64 *hashes, const uint8 *bytes, Size count) {
  for (Size i = 0; i < count; i++)
    hashes[i] = load<uint64>(bytes + i * sizeof(uint64));
}

// Calls use(hashes, count) for all hashes, which are not in a file, in batches.
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

#endif
