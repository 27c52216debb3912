// Interrupts of long loops. The core cannot find out from the server whether the user has cancelled
// the query. So a loop that can take long calls a function of its caller now and then. This
// function may never return, so the loop must hold nothing that has to be released.
#pragma once

#include <cstddef>

namespace bloomfilter {

using CheckInterrupts = void (*)();
inline void check_nothing() {}

// A loop over bytes that checks for interrupts does so at least once in this many bytes.
constexpr std::size_t kBytesBetweenChecks = 1024 * 1024;

} // namespace bloomfilter
