# Builds and installs the extension against the server that PG_CONFIG names, here or, with
# `make -f /path/to/Makefile`, in another directory.
# The core alone, without PostgreSQL, is built and tested by CMakeLists.txt.

# Where this file is, with a slash behind it, as PGXS finds it; what is there; and whether that is
# elsewhere.
SOURCE := $(dir $(firstword $(MAKEFILE_LIST)))
there = $(patsubst $(SOURCE)%,%,$(wildcard $(addprefix $(SOURCE),$(1))))
elsewhere := $(filter-out $(CURDIR),$(realpath $(SOURCE)))

EXTENSION = bloomfilter
DATA = bloomfilter--1.0.sql
MODULE_big = bloomfilter
PGFILEDESC = "bloomfilter - Bloom filters as a data type"
OBJS := $(patsubst %.cpp,%.o,$(call there,src/core/*.cpp src/pg/*.cpp))

REGRESS = $(patsubst sql/%.sql,%,$(call there,sql/*.sql))
REGRESS_OPTS = --load-extension=bloomfilter
ISOLATION = $(patsubst specs/%.spec,%,$(call there,specs/*.spec))
ISOLATION_OPTS = --load-extension=bloomfilter
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl

# The core knows no exceptions, no run-time type information and no C++ runtime; contracting a
# product and a sum into one rounding would let two processors estimate two different sizes.
# Server headers are system headers: their warnings are not ours.
PG_CXXFLAGS = -std=c++17 -fno-exceptions -fno-rtti -ffp-contract=off -fvisibility=hidden \
	-Wextra -Wno-register -I$(SOURCE)src -isystem $(shell $(PG_CONFIG) --includedir-server)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS gives PG_CXXFLAGS to the compiler but not to clang's JIT bitcode.
override BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

# Every object depends on every header: the tree is small and a stale object is costly.
headers = core/*.hpp core/*.inc pg/*.hpp
$(OBJS) $(OBJS:.o=.bc): $(wildcard $(addprefix $(SOURCE)src/,$(headers))) | ready

# What must be so before anything is compiled.
.PHONY: ready
ready:
	$(and $(elsewhere),$(call there,src/*/*.o), \
		$(error make would take what was built in $(elsewhere) for its own: run make clean there first))
	@mkdir -p $(sort $(dir $(OBJS)))

# Regression tests include files by their path.
ifdef elsewhere
installcheck: $(CURDIR)/sql/include
$(CURDIR)/sql/include:
	mkdir -p sql
	ln -s $(elsewhere)/sql/include $@
endif
