// The server's basic headers, wrapped for C++. Every file of src/pg includes this file first,
// because postgres.h must come before any system header.
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
}

#if PG_VERSION_NUM < 150000
#error "bloomfilter requires PostgreSQL 15 or newer"
#endif

// Begins the definition of a function that SQL calls.
#define SQL_FUNCTION(name)                                                                         \
  PG_FUNCTION_INFO_V1(name);                                                                       \
  Datum name(PG_FUNCTION_ARGS)

// Defines a function that SQL calls and that only returns the Datum of an expression.
#define SQL_RESULT(name, ...)                                                                      \
  SQL_FUNCTION(name) {                                                                             \
    return __VA_ARGS__;                                                                            \
  }

// These macros enclose the functions that the server looks up by name. Everything else is compiled
// with hidden visibility, so that none of our symbols clashes with a symbol of another library.
#define SQL_FUNCTIONS_BEGIN _Pragma("GCC visibility push(default)") extern "C" {
#define SQL_FUNCTIONS_END                                                                          \
  }                                                                                                \
  _Pragma("GCC visibility pop")
