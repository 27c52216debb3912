// See owner.hpp.

#include "pg/owner.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/guc.h"
}

namespace bloomfilter {

CallerRights act_as_owner(Relation table) {
  CallerRights rights;
  GetUserIdAndSecContext(&rights.user, &rights.context);
  rights.nest_level = NewGUCNestLevel();
  SetUserIdAndSecContext(table->rd_rel->relowner, rights.context | SECURITY_RESTRICTED_OPERATION);
  RestrictSearchPath();
  return rights;
}

void act_as_caller(const CallerRights &rights) {
  AtEOXact_GUC(false, rights.nest_level);
  SetUserIdAndSecContext(rights.user, rights.context);
}

} // namespace bloomfilter
