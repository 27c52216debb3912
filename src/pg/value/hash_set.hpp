// Sets of hashes (core/distinct.hpp) in the server's memory.
#pragma once

#include "pg/server.hpp"

#include "core/distinct.hpp"

namespace bloomfilter {

// Makes an empty set with this number of slots, a power of two.
HashSet make_set(MemoryContext context, Size slot_count);

// Adds hashes to a set that has room for them. Moves the new ones to the front of `hashes` and
// returns their number.
Size insert(HashSet *set, uint64 *hashes, Size count);

// Gives a set another number of slots, in memory of `context`. It keeps its hashes. The set may
// have no slots at first.
void resize_set(HashSet *set, MemoryContext context, Size slot_count);

} // namespace bloomfilter
