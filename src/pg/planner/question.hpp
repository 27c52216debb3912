// Conditions that ask a filter, as estimates and scans recognise them.
//
// Functions that ask filters are those with our support function, whatever their names and their
// schema are. Which of their arguments is the filter, and what it is asked for, their declaration
// tells.
#ifndef BLOOMFILTER_PG_PLANNER_QUESTION_HPP
#define BLOOMFILTER_PG_PLANNER_QUESTION_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
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

// The question of an operator, or of a function, of ours that asks a filter. `all` is true of a
// function that asks for all elements of an array; the declaration does not tell.
Question question_of_operator(Oid operation, List *arguments, Oid collation);
Question question_of_function(Oid function, List *arguments, Oid collation, bool all);

// Does an expression ask a filter for a value of the type that it has, not for a bare literal? Not
// of a function that was altered to be called with settings of its own, or as another user.
bool asks_for_value(Node *node, Question *question);

} // namespace bloomfilter

#endif
