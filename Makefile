# Builds and installs the extension for the server that PG_CONFIG names. The build takes place in
# the current directory: this one, or another one with `make -f /path/to/Makefile`. CMakeLists.txt
# builds and tests the core alone, without PostgreSQL.

# Make separates names by blanks, so in a directory whose name has blanks, `make clean` would remove
# other files.
ifneq ($(words $(CURDIR) $(MAKEFILE_LIST)),2)
$(error make cannot build in or from a directory whose name has blanks: $(CURDIR) $(MAKEFILE_LIST))
endif

# SOURCE is the directory of this file as PGXS finds it, with a slash at its end. `there` lists
# files in SOURCE. `elsewhere` is SOURCE if that is not the current directory, and else empty.
SOURCE := $(dir $(firstword $(MAKEFILE_LIST)))
there = $(patsubst $(SOURCE)%,%,$(wildcard $(addprefix $(SOURCE),$(1))))
elsewhere := $(filter-out $(CURDIR),$(realpath $(SOURCE)))

# The version, from bloomfilter.control.
version := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(SOURCE)bloomfilter.control)

EXTENSION = bloomfilter
DATA = $(call there,bloomfilter--*.sql)
MODULE_big = bloomfilter
PGFILEDESC = "bloomfilter - Bloom filters as a data type"
OBJS := $(patsubst %.cpp,%.o,$(call there,src/core/*.cpp src/core/foreign/*.cpp src/pg/*.cpp src/pg/*/*.cpp))

# The handlers of the index access methods are a second library (src/handlers/handlers.cpp). PGXS
# makes one library from several objects, so this one has rules of its own.
handlers := $(MODULE_big)_handlers
handlers_objects := src/handlers/handlers.o

REGRESS = $(patsubst sql/%.sql,%,$(call there,sql/*.sql))
REGRESS_OPTS = --load-extension=bloomfilter --encoding=UTF8 --no-locale
ISOLATION = $(patsubst specs/%.spec,%,$(call there,specs/*.spec))
ISOLATION_OPTS = --load-extension=bloomfilter
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl
EXTRA_CLEAN = $(handlers)$(DLSUFFIX) $(handlers_objects) $(depfiles) $(built_for)

# The core uses no exceptions, no run-time type information and no C++ runtime. Compilers must not
# contract a product and a sum into one operation, which rounds only once: if they did, two
# processors could estimate different sizes. Server headers are system headers, so that they cause
# no warnings. PGXS passes COPT, the flags of packages, only to the C compiler.
cxxflags = -std=c++17 -fno-exceptions -fno-rtti -ffp-contract=off -fvisibility=hidden \
	-Wextra -Wno-register -I$(SOURCE)src -isystem $(includedir_server) \
	-DBLOOMFILTER_VERSION=$(version)
PG_CXXFLAGS = $(cxxflags) $(COPT)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
install_server = install the server's development files, such as the package \
	postgresql-server-dev-NN or postgresqlNN-devel, or name another server: PG_CONFIG=/path/to/pg_config
ifeq ($(wildcard $(PGXS)),)
$(error $(or $(PGXS),$(PG_CONFIG)) not found: $(install_server))
endif

# `make install prefix=DIRECTORY` installs below DIRECTORY, in the subdirectories that PostgreSQL 18's
# manual names. PGXS must not see the prefix, because it would look for the server's headers there,
# too. Nor does PGXS always obey the prefix: it does not before version 18, nor on servers that were
# configured with each directory by itself, such as Debian's.
destination := $(if $(filter command,$(origin prefix)),$(prefix))
override prefix :=
# Bitcode lets the server's JIT put C functions into the code that it makes. It gained nothing in
# six queries with filters (0.87 to 1.08 of the time, 0.98 in the mean), needs clang, and takes
# longer to build than the library. So it is only built and installed for `make with_llvm=yes`.
# Without it, bitcode of an earlier installation is removed, because it would be older than the
# library.
override with_llvm := $(if $(filter command environment,$(origin with_llvm)),$(with_llvm),no)
include $(PGXS)
ifneq ($(destination),)
subdirectory := $(if $(findstring postgres,$(destination))$(findstring pgsql,$(destination)),,/postgresql)
datadir := $(destination)/share$(subdirectory)
pkglibdir := $(destination)/lib$(subdirectory)
endif

ifneq ($(with_llvm),yes)
install uninstall: remove_bitcode
.PHONY: remove_bitcode
remove_bitcode:
	rm -rf '$(DESTDIR)$(pkglibdir)/bitcode/$(MODULE_big)' \
		'$(DESTDIR)$(pkglibdir)/bitcode/$(MODULE_big).index.bc'
endif

# Nearly every session loads the library of the handlers, so loading it must touch few pages. Start
# files would bring symbols that are nowhere, for which the dynamic linker searches all libraries of
# the server. Functions are bound when they are called first, and all that is read is in one segment.
handlers_flags := -shared -nostartfiles -Wl,-z,lazy -Wl,-z,noseparate-code
all: $(handlers)$(DLSUFFIX)
$(handlers)$(DLSUFFIX): $(handlers_objects)
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDFLAGS_SL) $(SHLIB_LINK) $(handlers_flags) -o $@
install: install_handlers
install_handlers: all installdirs
	$(INSTALL_SHLIB) $(handlers)$(DLSUFFIX) '$(DESTDIR)$(pkglibdir)/$(handlers)$(DLSUFFIX)'
uninstall: uninstall_handlers
uninstall_handlers:
	rm -f '$(DESTDIR)$(pkglibdir)/$(handlers)$(DLSUFFIX)'
.PHONY: install_handlers uninstall_handlers

# PGXS passes PG_CXXFLAGS to the compiler, but not to the clang that makes bitcode for JIT.
override BITCODE_CXXFLAGS += $(cxxflags)

# An object is built again if a header that its dependency file names has changed or is gone.
# Headers are phony targets if they are gone, because PGXS's .SECONDARY would make `make` overlook
# them. An object without a dependency file is built again, too. PGXS's own dependency files cannot
# be used: on a server built with --enable-depend, src/core/shard.o and src/pg/sql/shard.o would
# share one.
objects := $(OBJS) $(OBJS:.o=.bc) $(handlers_objects)
depfiles := $(objects:=.d)
written := $(wildcard $(depfiles))
write_depfile = -MD -MP -MF $@.d
$(OBJS) $(handlers_objects): %.o: %.cpp
	$(COMPILE.cc) -o $@ $< $(write_depfile)
$(OBJS:.o=.bc): %.bc: %.cpp
	$(COMPILE.cxx.bc) -o $@ $< $(write_depfile)
include $(written)
headers := $(sort $(shell sed -n 's/:$$//p' /dev/null $(written)))
.PHONY: $(filter-out $(wildcard $(headers)),$(headers))
$(filter-out $(written:.d=),$(objects)): ready

# All objects are built again for another server or version, or if this file has changed. They are
# not built again if other flags are given to make, because `make install` is often run without the
# flags of the build.
built_for := $(CURDIR)/.built_for
$(objects): $(built_for) $(firstword $(MAKEFILE_LIST)) $(SOURCE)bloomfilter.control
$(built_for): ready
	+@echo '$(VERSION) $(includedir_server)' | cmp -s - $@ || \
		echo '$(VERSION) $(includedir_server)' >$@

preprocess = $(filter-out -c,$(COMPILE.cc)) -E # clang would warn that -E does not use -c

# $(call require,HEADER,ADVICE) fails with a single line if the compiler does not find the header.
hash := \#
lacks = printf '%s\n' '$(hash)if !__has_include(<$(1)>)' lacking '$(hash)endif' | \
	$(preprocess) -P -x c++ - 2>/dev/null
require = $(if $(shell $(lacks)),$(error $(1) not found: $(2)))
install_xxhash = install xxHash 0.8.0 or newer, such as the package libxxhash-dev or xxhash-devel, \
	or say where it is: PG_CPPFLAGS=-I/path/to/include

# Checks these conditions before anything is compiled.
.PHONY: ready
ready:
	$(call require,postgres.h,$(install_server))
	$(call require,xxhash.h,$(install_xxhash))
	@$(preprocess) -w $(SOURCE)src/core/bytes.hpp >/dev/null
	$(and $(elsewhere),$(call there,src/*/*.o), \
		$(error make would use the objects that were built in $(elsewhere): run make clean there first))
	@mkdir -p $(sort $(dir $(OBJS) $(handlers_objects)))

# In another directory, regression tests need this link: they include files of sql/include by path.
ifdef elsewhere
installcheck: $(CURDIR)/sql/include
$(CURDIR)/sql/include:
	mkdir -p sql
	ln -s $(elsewhere)/sql/include $@
endif

# Makes the archive for PGXN: the last commit, without the files that .gitattributes leaves out.
.PHONY: dist
dist: release = bloomfilter-$(shell sed -n 's/^  "version": "\(.*\)",/\1/p' $(SOURCE)META.json)
dist:
	@mkdir -p $(SOURCE)build
	TZ=UTC git -C $(SOURCE). archive --format=zip --prefix=$(release)/ -o build/$(release).zip HEAD
