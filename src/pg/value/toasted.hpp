// Reads a value of a row that may be dead. Its TOAST data may be gone already; the server's
// detoasting would raise an error then.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// Returns the value detoasted, or NULL if a part of its TOAST data is gone.
struct varlena *whole_value(struct varlena *value);

} // namespace bloomfilter
