// Conditions that ask a filter, as estimates and scans recognise them.
//
// A function asks a filter if it has our support function, whatever its name and its schema. Its
// declaration tells which argument is the filter, and what the filter is asked for.
#ifndef BLOOMFILTER_PG_PLANNER_QUESTION_HPP
#define BLOOMFILTER_PG_PLANNER_QUESTION_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
#include "utils/acl.h"
}

namespace bloomfilter {

// What a filter is asked for: a value, a hash of one, or any or all elements of an array.
enum class Asked : uint8 { value, hash, any, all };

// A condition that asks a filter.
struct Question {
  Oid function; // that answers it
  Asked asked;
  Node *filter, *value;
  Oid collation; // of the value
};

// The question that an operator asks. False if its function is not ours: our estimators may have
// been given to any operator.
bool asks_by_operator(Oid operation, List *arguments, Oid collation, Question *question);

// The question that a function of ours asks. `all` says that the function asks for all elements of
// an array, which its declaration does not tell.
Question question_of_function(Oid function, List *arguments, Oid collation, bool all);

// Does an expression ask a filter for anything but all elements of an array? False if its function
// was altered to run with its own settings or as another user.
bool asks_filter(Node *node, Question *question);

// Does it ask for a value that has a type of its own, not for a bare literal?
bool asks_for_value(Node *node, Question *question);

} // namespace bloomfilter

#endif
