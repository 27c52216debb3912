// The objects of a set: a table of shards (doc/streaming.md), and four functions in PL/pgSQL that
// add to it, probe it and describe it. These are ordinary objects of the caller: a dump has them,
// and the extension keeps no record of them. The functions know the set's shape as constants.
//
// A row is a shard (set_shape.hpp). It has one filter or, in a set that forgets, five: one for each
// generation. Every value has one row that may get it: the first row on its path from level 0 down
// that is not full. A full row never gets values again. An addition that waited for a row's lock
// checks the row's new version, so the lock decides which of several sessions was first.
//
// A generation is a quarter of `keep`, counted from 1970. A value belongs to the generation of the
// transaction that adds it. It is remembered until that generation and the four after it are over.
// The array `filters` begins with the filter of the row's newest generation, whose number is in the
// column `newest_of_…`; the one before it is next, and so on. So a generation that is over costs
// nothing: it is skipped, and leaves the array when a later one begins.
//
// A session's time is when its transaction began, so the row may have newer generations. A value
// that such a session adds goes to the session's own generation or, if the row no longer has that,
// to the oldest one that the row has. The column `first_generation` has the first generation in
// which the row got values. If a generation since then has left the array, but is not over by the
// session's time, the session cannot know what was in it, and every value is possibly in the set.
//
// The functions may run with any search_path, so their bodies name the schema of everything that is
// not in the server's grammar. Users can add columns to the table. So each column has the alias of
// its table, and a name without an alias is a variable.
//
// The name of the column `shard_of_N` contains the number of shards, and that of `newest_of_N`, the
// microseconds of a generation. So a function never writes to a set of
// another shape, where the value would not be found. It can meet such a table: while a function
// waits for the table's lock, another session may drop the set and make it again.
#pragma once

#include "pg/server.hpp"

#include "pg/sql/set_shape.hpp"

extern "C" {
#include "datatype/timestamp.h"
}

namespace bloomfilter {

struct SetName {
  const char *schema, *set;
};

// The quoted name of a set's table or, with a suffix, of one of its functions.
char *quoted(const SetName &name, const char *suffix = "");

// A function of a set. Its name is that of the set and the suffix; the rest are templates.
struct SetFunction {
  const char *suffix, *arguments, *properties, *body, *comment;
};
extern const SetFunction kSetFunctions[4];

// The prefix of the name of a set's first column. The number of shards of level 0 follows.
constexpr char kShardOf[] = "shard_of_";

// Makes the table and the functions. `keep` is NULL if the set does not forget; `generation` is the
// length of a generation in microseconds. `extension` is the extension's schema. SPI is connected.
void make_set(const SetName &name, Oid type, const SetShape &shape, Interval *keep,
              int64 generation, Oid extension);

// True if a function with this body is one that make_set() made for a set with this number of
// shards, or with any number if it is NULL.
bool is_body_of_set(const char *body, const char *shards);

// Runs a statement by SPI, which is connected.
void run(const char *statement);

} // namespace bloomfilter
