// The row that a function with OUT parameters returns. It has at most 16 columns.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
}

namespace bloomfilter {

// Collects the columns of a row. The caller adds them one by one, in the order of the OUT
// parameters.
class ResultRow {
public:
  explicit ResultRow(FunctionCallInfo fcinfo) : column_(0), nulls_() {
    if (get_call_result_type(fcinfo, nullptr, &descriptor_) != TYPEFUNC_COMPOSITE)
      elog(ERROR, "return type must be a row type");
    Assert(descriptor_->natts <= kColumns);
  }
  void add(Datum value) { values_[column_++] = value; }
  void add_null() { nulls_[column_++] = true; }
  // Adds the value if it is known, and NULL if it is not.
  void add_if(bool known, Datum value) {
    nulls_[column_] = !known;
    add(value);
  }
  Datum datum() {
    Assert(column_ == descriptor_->natts);
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor_), values_, nulls_));
  }

private:
  static constexpr int kColumns = 16;
  TupleDesc descriptor_;
  int column_;
  Datum values_[kColumns];
  bool nulls_[kColumns];
};

} // namespace bloomfilter
