// What takes long calls a pause now and then, in which its caller may check for interrupts; it need
// not come back. So between pauses nothing may be held that somebody would have to give back.
#ifndef BLOOMFILTER_CORE_PAUSE_HPP
#define BLOOMFILTER_CORE_PAUSE_HPP

#include <cstddef>

namespace bloomfilter {

using Pause = void (*)();
inline void no_pause() {}

constexpr std::size_t kBytesBetweenPauses = 1024 * 1024;

} // namespace bloomfilter

#endif
