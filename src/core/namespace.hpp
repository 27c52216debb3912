// The one namespace of the core. Its symbols stay inside the shared library, so that they cannot
// meet another module's in the same server process.
#ifndef BLOOMFILTER_CORE_NAMESPACE_HPP
#define BLOOMFILTER_CORE_NAMESPACE_HPP

namespace bloomfilter __attribute__((visibility("hidden"))) {}

#endif
