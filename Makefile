# Builds and installs the extension against the server that PG_CONFIG names, here or, with
# `make -f /path/to/Makefile`, in another directory.
# The core alone, without PostgreSQL, is built and tested by CMakeLists.txt.

# Where this file is, with a slash behind it, as PGXS finds it; what is there; and whether that is
# elsewhere.
SOURCE := $(dir $(firstword $(MAKEFILE_LIST)))
there = $(patsubst $(SOURCE)%,%,$(wildcard $(addprefix $(SOURCE),$(1))))
elsewhere := $(filter-out $(CURDIR),$(realpath $(SOURCE)))

# bloomfilter.control says which version this is.
version := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(SOURCE)bloomfilter.control)

EXTENSION = bloomfilter
DATA = $(call there,bloomfilter--*.sql)
MODULE_big = bloomfilter
PGFILEDESC = "bloomfilter - Bloom filters as a data type"
OBJS := $(patsubst %.cpp,%.o,$(call there,src/core/*.cpp src/core/foreign/*.cpp src/pg/*.cpp src/pg/*/*.cpp))

REGRESS = $(patsubst sql/%.sql,%,$(call there,sql/*.sql))
REGRESS_OPTS = --load-extension=bloomfilter --encoding=UTF8 --no-locale
ISOLATION = $(patsubst specs/%.spec,%,$(call there,specs/*.spec))
ISOLATION_OPTS = --load-extension=bloomfilter
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl
EXTRA_CLEAN = $(depfiles) $(built_for)

# The core knows no exceptions, no run-time type information and no C++ runtime; contracting a
# product and a sum into one rounding would let two processors estimate two different sizes.
# Server headers are system headers: their warnings are not ours.
PG_CXXFLAGS = -std=c++17 -fno-exceptions -fno-rtti -ffp-contract=off -fvisibility=hidden \
	-Wextra -Wno-register -I$(SOURCE)src -isystem $(includedir_server) \
	-DBLOOMFILTER_VERSION=$(version)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
install_server = install the server's development files, such as the package \
	postgresql-server-dev-NN or postgresqlNN-devel, or name another server: PG_CONFIG=/path/to/pg_config
ifeq ($(wildcard $(PGXS)),)
$(error $(or $(PGXS),$(PG_CONFIG)) not found: $(install_server))
endif
include $(PGXS)

# PGXS gives PG_CXXFLAGS to the compiler but not to clang's JIT bitcode.
override BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

# An object is made again when a header that it includes has changed, as its dependency file tells,
# or is gone, which PGXS's .SECONDARY has make overlook; and one without that file. (PGXS for a
# server with --enable-depend gives src/core/shard.o and src/pg/sql/shard.o the same file.)
objects := $(OBJS) $(OBJS:.o=.bc)
depfiles := $(objects:=.d)
written := $(wildcard $(depfiles))
write_depfile = -MD -MP -MF $@.d
$(OBJS): %.o: %.cpp
	$(COMPILE.cc) -o $@ $< $(write_depfile)
$(OBJS:.o=.bc): %.bc: %.cpp
	$(COMPILE.cxx.bc) -o $@ $< $(write_depfile)
include $(written)
headers := $(sort $(shell sed -n 's/:$$//p' /dev/null $(written)))
.PHONY: $(filter-out $(wildcard $(headers)),$(headers))
$(filter-out $(written:.d=),$(objects)): ready

# All are made again for another server or version, or when this file has changed; not when flags
# given to make have, for `make install` often goes without them.
built_for := $(CURDIR)/.built_for
$(objects): $(built_for) $(firstword $(MAKEFILE_LIST)) $(SOURCE)bloomfilter.control
$(built_for): ready
	+@echo '$(VERSION) $(includedir_server)' | cmp -s - $@ || \
		echo '$(VERSION) $(includedir_server)' >$@

preprocess = $(filter-out -c,$(COMPILE.cc)) -E # clang warns of what -E leaves no use for

# $(call require,HEADER,ADVICE): one line in place of many, if the compiler does not find a header.
hash := \#
lacks = printf '%s\n' '$(hash)if !__has_include(<$(1)>)' lacking '$(hash)endif' | \
	$(preprocess) -P -x c++ - 2>/dev/null
require = $(if $(shell $(lacks)),$(error $(1) not found: $(2)))
install_xxhash = install xxHash 0.8.0 or newer, such as the package libxxhash-dev or xxhash-devel, \
	or say where it is: PG_CPPFLAGS=-I/path/to/include

# What must be so before anything is compiled.
.PHONY: ready
ready:
	$(call require,postgres.h,$(install_server))
	$(call require,xxhash.h,$(install_xxhash))
	@$(preprocess) $(SOURCE)src/core/bytes.hpp >/dev/null
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

# What PGXN takes: the last commit, without what .gitattributes keeps out.
.PHONY: dist
dist: release = bloomfilter-$(shell sed -n 's/^  "version": "\(.*\)",/\1/p' $(SOURCE)META.json)
dist:
	@mkdir -p $(SOURCE)build
	git -C $(SOURCE). archive --format=zip --prefix=$(release)/ -o build/$(release).zip HEAD
