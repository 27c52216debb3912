// Pauses in long loops. A loop that can take long calls a function of its caller now and then,
// which may check for interrupts. That call may never return, so the loop must then hold nothing
// that has to be released.
#ifndef BLOOMFILTER_CORE_PAUSE_HPP
#define BLOOMFILTER_CORE_PAUSE_HPP

#include <cstddef>

namespace bloomfilter {

using Pause = void (*)();
inline void no_pause() {}

constexpr std::size_t kBytesBetweenPauses = 1024 * 1024;

} // namespace bloomfilter

#endif
