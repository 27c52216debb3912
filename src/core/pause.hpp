// A loop that can take long calls a pause now and then, in which its caller may check for
// interrupts. As a pause need not return, the loop must hold nothing then that has to be released.
#ifndef BLOOMFILTER_CORE_PAUSE_HPP
#define BLOOMFILTER_CORE_PAUSE_HPP

#include <cstddef>

namespace bloomfilter {

using Pause = void (*)();
inline void no_pause() {}

constexpr std::size_t kBytesBetweenPauses = 1024 * 1024;

} // namespace bloomfilter

#endif
