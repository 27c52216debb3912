// The type bf_element: a value in the form in which a filter takes it, which is the value's element
// type and hashes. An aggregate of bf_element values calls the check in this header for each value,
// because the value may have been stored, or may come from another server.
#pragma once

#include "pg/server.hpp"

#include "core/hashed_value.hpp"

namespace bloomfilter {

// Raises ERROR XX001 if the element is damaged. Elements that bf_element_of() or an input function
// made are never damaged.
void check_stored_element(const HashedValue &value);

} // namespace bloomfilter
