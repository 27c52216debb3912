// Which tables the server reads as they are, so that paths of this library may be added to theirs.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// The name of the scan that this library adds.
constexpr const char *kScanName = "Bloom Filter Scan";

// True if a sequential scan reads the table as it is. False for a parent, because its children are
// scanned one by one. False for a sample, and for a table that another library reads in its own
// way. The result is valid once the server has made its paths of the table, and so have the
// libraries that were loaded before this one.
bool is_scanned(RelOptInfo *table, const RangeTblEntry *entry);

} // namespace bloomfilter
