# Builds and installs the extension against the server that PG_CONFIG names.
# The core alone, without PostgreSQL, is built and tested by CMakeLists.txt.

EXTENSION = bloomfilter
DATA = bloomfilter--1.0.sql
MODULE_big = bloomfilter
PGFILEDESC = "bloomfilter - Bloom filters as a data type"
OBJS = $(patsubst %.cpp,%.o,$(wildcard src/core/*.cpp src/pg/*.cpp))

REGRESS = $(patsubst sql/%.sql,%,$(wildcard sql/*.sql))
REGRESS_OPTS = --load-extension=bloomfilter
ISOLATION = $(patsubst specs/%.spec,%,$(wildcard specs/*.spec))
ISOLATION_OPTS = --load-extension=bloomfilter
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl

# The core knows no exceptions, no run-time type information and no C++ runtime; contracting a
# product and a sum into one rounding would let two processors estimate two different sizes.
# Server headers are system headers: their warnings are not ours.
PG_CXXFLAGS = -std=c++17 -fno-exceptions -fno-rtti -ffp-contract=off -fvisibility=hidden \
	-Wextra -Wno-register -Isrc -isystem $(shell $(PG_CONFIG) --includedir-server)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS gives PG_CXXFLAGS to the compiler but not to clang's JIT bitcode.
override BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

# Every object depends on every header: the tree is small and a stale object is costly.
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/core/*.hpp src/core/*.inc src/pg/*.hpp)
