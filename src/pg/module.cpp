// Runs when a server process loads the library: chooses the kernel (the code for this machine's
// vector instructions), and defines the settings and the index options.

#include "pg/server.hpp"

#include <cstdlib>

#include "pg/aggregate/shared_file.hpp"
#include "pg/build/build.hpp"
#include "pg/filter_index/access_method.hpp"
#include "pg/join/join.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/table/scan.hpp"
#include "pg/value/bitmaps.hpp"
#include "pg/value/new_filter.hpp"
#include "pg/value/overfill.hpp"

extern "C" {
#include "utils/guc.h"
}

SQL_FUNCTIONS_BEGIN

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomfilter", .version = CppAsString2(BLOOMFILTER_VERSION));
#else
PG_MODULE_MAGIC;
#endif

PGDLLEXPORT void _PG_init(void);

// For tests, BLOOMFILTER_KERNEL in the server's environment forces a kernel, such as scalar. All
// kernels give the same bytes. The name of a kernel that this machine cannot run is ignored.
void _PG_init(void) {
  using namespace bloomfilter;
  const char *forced = std::getenv("BLOOMFILTER_KERNEL");
  const Kernel *chosen = forced ? find_kernel(forced) : nullptr;
  kernel = chosen ? chosen : &best_kernel();
  define_overfill();
  define_max_size();
  define_scan();
  define_build();
  define_bloompages();
  define_join_filters(); // after the others, whose paths it looks at
  define_index_options();
  define_shared_files();
  MarkGUCPrefixReserved("bloomfilter");
}

SQL_FUNCTIONS_END
