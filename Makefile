# ergocl: the front door. `make help` lists the targets.
#
# make all needs the libraries that tools/install-deps.sh installs; demo and test call it first.
BUILD  ?= build
CC     ?= gcc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
LIBDIR ?= lib
EXTRA  ?=
JOBS   ?= $(shell nproc 2>/dev/null || echo 1)
ifeq ($(CC),cc)
CC := gcc
endif

VERSION := $(shell sed -n 's/.*ERGO_VERSION "\(.*\)"/\1/p' include/ergocl/ergocl.h)
SONAME  := libergocl.so.$(firstword $(subst ., ,$(VERSION)))
WARN    := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# HDF5's serial library is hdf5-serial in Debian and Ubuntu, hdf5 elsewhere.
HDF5    := $(firstword $(shell for name in hdf5-serial hdf5; do pkg-config --exists $$name 2>/dev/null && echo $$name; done) hdf5-serial)
PKGS    := OpenCL libcjson libsodium libpng zlib $(HDF5)

# make MPI=mpich, a name for pkg-config; MPI=mpicc.mpich, a compiler; MPI=none. Left out: the one that
# is the system's choice, then any other.
ifneq ($(origin MPI),command line)
MPI := $(shell for mpi in mpi-c ompi-c mpich mpi; do pkg-config --exists $$mpi 2>/dev/null && echo $$mpi && exit; done; \
               command -v mpicc >/dev/null && echo mpicc || echo none)
endif
# Open MPI's compiler knows --showme, MPICH's and its kin -compile_info, whose first word is the compiler.
mpi_flags = $(shell { [ $(MPI) = none ] || pkg-config --$(1) $(MPI) || $(MPI) --showme:$(2) || \
                                        $(MPI) -$(2)_info | cut -d ' ' -f 2-; } 2>/dev/null)
as_system = $(patsubst -I%,-isystem %,$(1))

# Headers of other people are system headers: our warnings are about our code.
PKG_CPPFLAGS := $(call as_system,$(shell pkg-config --cflags $(PKGS) 2>/dev/null))
MPI_CPPFLAGS := $(call as_system,$(call mpi_flags,cflags,compile))
MPI_LIBS     := $(call mpi_flags,libs,link)
$(if $(MPI_LIBS)$(filter none,$(MPI)),,$(error MPI=$(MPI): neither pkg-config nor a compiler of MPI knows this name))
# HDF5's dimension scales are in a library of its own that pkg-config does not name: hdf5_hl, or hdf5_serial_hl
# beside a library hdf5_serial (Debian's, from HDF5 2 on).
PKG_LIBS     := $(shell pkg-config --libs $(PKGS) 2>/dev/null | sed 's/-l\(hdf5\|hdf5_serial\)\( \|$$\)/-l\1_hl -l\1\2/') $(MPI_LIBS)
HDF5_HL      := $(firstword $(filter -lhdf5%hl,$(PKG_LIBS)))
INCLUDES     := -D_GNU_SOURCE -Iinclude -Isrc -Icl $(PKG_CPPFLAGS)
# No fused multiply-add behind our back: the host twin of a kernel must give the kernel's bits.
ALLCFLAGS     = -std=c11 $(WARN) $(CFLAGS) $(EXTRA) -pthread -fPIC -ffp-contract=off -MMD -MP
LIBS          = $(PKG_LIBS) -lm -pthread $(LDLIBS)

CLI_SRC := $(wildcard src/cli/*.c)
# With or without MPI: one file of the two; nothing else knows it.
NOT_MPI := src/dist/$(if $(filter none,$(MPI)),mpi,none).c
LIB_SRC := $(filter-out $(CLI_SRC) $(NOT_MPI),$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o $(BUILD)/tuning-profiles.o $(BUILD)/known-answers.o
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
CL_SRC  := $(wildcard cl/*/*.h cl/*/*.cl cl/*/*/*.h cl/*/*/*.cl)

# V=1 shows the commands.
ifneq ($(V),1)
Q   := @
say  = @printf '  %-7s %s\n' $(1) $(2);
endif

all: $(BUILD)/ergocl library
library: $(BUILD)/$(SONAME)

# ---- the program and the libraries --------------------------------------------------------------

$(BUILD)/ergocl: $(CLI_OBJ) $(BUILD)/libergocl.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libergocl.a: $(LIB_OBJ) $(BUILD)/.mpi-$(notdir $(MPI))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(LIB_OBJ)

# Another MPI than last time: what depends on it is made again.
$(BUILD)/.mpi-$(notdir $(MPI)):
	@mkdir -p $(@D) && rm -f $(BUILD)/.mpi-* && touch $@
	$(call say,MPI,$(if $(filter none,$(MPI)),'none: one process runs a job',$(MPI)))
$(BUILD)/src/dist/mpi.o: $(BUILD)/.mpi-$(notdir $(MPI))
$(BUILD)/src/dist/mpi.o $(foreach check,tidy tidy-quick syntax,$(BUILD)/$(check)/src/dist/mpi.ok): INCLUDES += $(MPI_CPPFLAGS)

# The shared library shows the functions of the public header and no others.
$(BUILD)/libergocl.map: include/ergocl/ergocl.h
	@mkdir -p $(@D)
	$(Q){ echo '{ global:'; grep -o 'ergo_[a-z0-9_]*(' $< | sed 's/($$/;/' | sort -u; echo 'local: *; };'; } > $@

$(BUILD)/$(SONAME): $(LIB_OBJ) $(BUILD)/libergocl.map $(BUILD)/.mpi-$(notdir $(MPI))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--no-undefined \
	    -Wl,--version-script=$(BUILD)/libergocl.map -o $@ $(LIB_OBJ) $(LIBS)

$(BUILD)/embedded.c: tools/embed.sh $(CL_SRC)
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)sh tools/embed.sh cl > $@.tmp && mv $@.tmp $@

$(BUILD)/tuning-profiles.c: tools/embed.sh $(wildcard data/tuning/*.json)
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)sh tools/embed.sh data/tuning '*.json' ergo_tuning_files ergo_tuning_file_count > $@.tmp && mv $@.tmp $@

# What a device is asked before it is believed (src/run/known.h): for each model a job that names no file, with its digests.
KNOWN := $(addprefix tests/contract/jobs/,$(addsuffix .json,hard-disks-tiny hard-disks+npt hard-spheres-tiny hard-spheres+npt \
         helium-dmc-tiny helium-vmc-tiny lj-fluid-tiny lj-fluid+npt lj-fluid+gibbs lj-fluid-mixture lj-gcmc-tiny \
         $(addprefix spin-lattice,-tiny +fields +graph -heisenberg-tiny -clock-tiny -xy +north-east -north-or-east-tiny -east -facilitated +potts \
         -blume-capel +spin-glass +sherrington-kirkpatrick -random-orthogonal -walk-tiny) \
         $(addprefix swendsen-wang,-tiny +cubic -xy-tiny -clock +heisenberg)))
$(BUILD)/known-answers.c: tools/embed.sh data/reference/digests.json $(KNOWN)
	@rm -rf $(BUILD)/known-answers && mkdir -p $(BUILD)/known-answers && cp $(filter %.json,$^) $(BUILD)/known-answers
	$(call say,EMBED,$@)
	$(Q)sh tools/embed.sh $(BUILD)/known-answers '*.json' ergo_known_files ergo_known_file_count > $@.tmp && mv $@.tmp $@

$(BUILD)/embedded.o $(BUILD)/tuning-profiles.o $(BUILD)/known-answers.o: %.o: %.c
	$(call say,CC,$<)
	$(Q)$(CC) $(INCLUDES) $(CPPFLAGS) $(ALLCFLAGS) -c $< -o $@

$(BUILD)/%.o: %.c | $(BUILD)/.libraries
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(INCLUDES) $(CPPFLAGS) $(ALLCFLAGS) -c $< -o $@

# One sentence instead of a screen of missing headers.
$(BUILD)/.libraries:
	@pkg-config --exists --print-errors $(PKGS) || { \
	    echo 'ergocl: libraries are missing; tools/install-deps.sh installs them, and data/guide/clusters.md says what to do without root' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

# For scripts that link by themselves.
print-libs:
	@echo $(PKG_LIBS) -lm

# ---- demo ---------------------------------------------------------------------------------------

DEMO := $(BUILD)/demo/quickstart

# make tells a child its -j by itself (the + says that it is one); without one, use the whole machine.
SUBMAKE = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

demo:
	tools/install-deps.sh
	+$(SUBMAKE) all $(BENCH)
	@mkdir -p $(BUILD)/demo
	$(BUILD)/ergocl run data/jobs/quickstart.json -o $(DEMO) --overwrite

# The drawings of README.md, from example jobs: minutes. Pages are made by `ergocl run`.
figure = $(BUILD)/ergocl run data/jobs/$(2).json -o $(BUILD)/figures/$(2) --overwrite --quiet && \
         tools/figure.py $(BUILD)/figures/$(2)/report.html $(3) > data/figures/$(1).svg
figures: all
	@mkdir -p $(BUILD)/figures
	$(call figure,spin-lattice,quickstart,"heat capacity" correlation)
	$(call figure,hard-disks,disks-equation-of-state,pressure gr)
	$(call figure,swendsen-wang,potts-q3,"heat capacity" "moment ratio")
	$(call figure,helium-vmc,helium-64,gr sk)
	$(call figure,lj-gcmc,lj-isotherm,"pressure against density" "pair density")

# ---- tests --------------------------------------------------------------------------------------

SUITES     := unit kernel contract physics mutants
ORACLE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/oracle/*.c))
test_bins   = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/$(1)/test_*.c))
TEST_BIN   := $(foreach suite,$(SUITES),$(call test_bins,$(suite)))
RUN_ALL    := BUILD='$(BUILD)' tests/run-all

$(BUILD)/tests/liboracle.a: $(ORACLE_OBJ)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(ORACLE_OBJ): INCLUDES += -Itests

# Compiled by themselves: a change of the library links them anew and does no more.
TEST_OBJ := $(TEST_BIN:=.o) $(BUILD)/tests/filter.o
.SECONDARY: $(TEST_OBJ)
$(TEST_OBJ): INCLUDES += -Itests
# What is tested, and the oracles, are compiled as for users; the tests themselves in two thirds of the time.
$(TEST_OBJ): CFLAGS := $(if $(filter file,$(origin CFLAGS)),-O1 -g,$(CFLAGS))
$(TEST_BIN): %: %.o $(BUILD)/tests/filter.o $(BUILD)/tests/liboracle.a $(BUILD)/libergocl.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) -lcmocka

test-programs: all $(TEST_BIN)

# $(MUTANT).c, a file of $(MUTANT_OF) broken on purpose, in front of the library (tests/mutants/host.sh).
mutant-program: $(PROGRAM).o $(if $(filter %/cli/main,$(PROGRAM)),$(CLI_OBJ)) $(BUILD)/tests/filter.o $(BUILD)/tests/liboracle.a $(BUILD)/libergocl.a
	$(Q)$(CC) $(INCLUDES) -iquote $(MUTANT_OF) $(ALLCFLAGS) -O1 -w -c $(MUTANT).c -o $(MUTANT).o
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $(MUTANT) $(MUTANT).o $^ $(LIBS) -lcmocka

# Whether the tree is sound, in two minutes.
check:
	+$(SUBMAKE) all $(call test_bins,unit) $(BUILD)/tests/contract/test_golden
	$(RUN_ALL) check

# Everything, on a machine where nothing is installed yet; one closing line for all suites. Suites with tests of minutes come
# first and those of many short ones last, so that no core waits at the end for one test.
test:
	tools/install-deps.sh --test
	+$(SUBMAKE) test-programs sanitize-programs bench-program
	$(RUN_ALL) golden lint python oclgrind contract physics mpi kernel cli offline pretend sanitize unit mutants

test-unit: $(call test_bins,unit)
	$(RUN_ALL) unit
test-kernel: $(call test_bins,kernel)
	$(RUN_ALL) kernel
test-oclgrind: $(call test_bins,kernel) $(BUILD)/tests/contract/test_golden
	$(RUN_ALL) oclgrind
test-contract: all $(call test_bins,contract)
	$(RUN_ALL) contract
test-pretend: $(BUILD)/tests/contract/test_golden
	$(RUN_ALL) pretend
test-offline: all
	$(RUN_ALL) offline
test-physics: all $(call test_bins,physics)
	$(RUN_ALL) physics
test-mutants: $(call test_bins,mutants)
	$(RUN_ALL) mutants-all
test-cli: all
	$(RUN_ALL) cli
test-python: all
	$(RUN_ALL) python
test-mpi: all
	$(RUN_ALL) mpi
test-sanitize: sanitize-programs
	$(RUN_ALL) sanitize
# Hours: kills by the hundred, all hostile jobs, ten million launches.
test-long: test-programs sanitize-programs
	$(RUN_ALL) long
# Every OpenCL implementation of this machine; TEST_ON="pocl nvidia" chooses.
test-matrix: all $(call test_bins,contract) $(call test_bins,physics)
	$(RUN_ALL) matrix

# -O1: at -O2 gcc proves away some of the mistakes that the sanitizers look for. -g1: functions and lines, for
# their reports; a fifth of the compiler's time less.
SANITIZE := BUILD=$(BUILD)/sanitize CFLAGS='-O1 -g1 -fno-omit-frame-pointer' \
            EXTRA='-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all'
sanitize-programs:
	+$(SUBMAKE) $(SANITIZE) sanitize-inner
sanitize-inner: $(BUILD)/ergocl $(call test_bins,unit)

# The share of src/ that COVERAGE_SUITES run; line by line: genhtml $(BUILD)/coverage/lcov.info -o FOLDER.
COVERAGE_SUITES ?= check
coverage:
	tools/install-deps.sh --test
	+$(SUBMAKE) BUILD=$(BUILD)/coverage CFLAGS='-O0 -g' EXTRA=--coverage coverage-programs
	find $(BUILD)/coverage -name '*.gcda' -delete
	-BUILD='$(BUILD)/coverage' tests/run-all $(COVERAGE_SUITES)
	lcov --quiet --capture --no-external --directory $(BUILD)/coverage --base-directory . -o $(BUILD)/coverage/all.info
	lcov --quiet --extract $(BUILD)/coverage/all.info '*/src/*' -o $(BUILD)/coverage/lcov.info
	lcov --summary $(BUILD)/coverage/lcov.info
coverage-programs: all $(call test_bins,unit) $(call test_bins,contract)

# What others may give us, by libFuzzer: each target of tests/fuzz for FUZZ_SECONDS, or those of FUZZ="page xyz".
# What is found stays in $(BUILD)/fuzz.
FUZZ_SECONDS ?= 600
FUZZ         ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CORPUS   = $(BUILD)/fuzz/corpus/$*
FUZZING := BUILD=$(BUILD)/fuzz CC=clang CFLAGS='-O1 -g -fno-omit-frame-pointer' \
           EXTRA='-fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all'
fuzz: $(FUZZ:%=fuzz-%)
fuzz-%:
	+$(SUBMAKE) $(FUZZING) $(BUILD)/fuzz/tests/fuzz/fuzz_$*
	@mkdir -p $(FUZZ_CORPUS)
	@tests/fuzz/seeds.sh $* $(FUZZ_CORPUS)
	@grep -ho '"/*[a-z_~0-9/-]*"' data/jobs/*.json tests/contract/jobs/*.json | sort -u | sed 's/"/\\"/g; s/.*/"&"/' > $(BUILD)/fuzz/job.dict
	$(BUILD)/fuzz/tests/fuzz/fuzz_$* $(if $(filter job,$*),-dict=$(BUILD)/fuzz/job.dict) -max_len=16384 -timeout=20 \
	    -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/$*- $(FUZZ_CORPUS)
$(BUILD)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h tests/*.h tests/unit/test_io_synthetic.h) $(BUILD)/libergocl.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(INCLUDES) -Itests $(CPPFLAGS) $(ALLCFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $< $(BUILD)/libergocl.a $(LIBS)

# ---- bench ---------------------------------------------------------------------------------------

# make bench BENCH_ARGS="--device gpu --json FILE"; bench/README.md
BENCH        := $(BUILD)/bench/ergocl-bench
BENCH_OBJ    := $(patsubst %.c,$(BUILD)/%.o,$(wildcard bench/*.c))
BENCH_COMMIT ?= $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
$(BENCH_OBJ): INCLUDES += -Itests -DERGO_BENCH_COMMIT='"$(BENCH_COMMIT)"'
# The programs to beat: all that the compiler can do on this machine. (psabi: vectors wider than its registers.)
$(BUILD)/bench/serial_%.o: override CFLAGS += -O3 -march=native -Wno-psabi
# sqrt and rounding in vectors
$(BUILD)/bench/serial_helium.o: override CFLAGS += -fno-math-errno -fno-trapping-math
$(BENCH): $(BENCH_OBJ) $(BUILD)/tests/liboracle.a $(BUILD)/libergocl.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(LDFLAGS) -o $@ $^ $(LIBS)
# What a trial move is worth in other programs' checkerboards (bench/papers/disks-schemes.py).
SCHEMES := $(BUILD)/bench/disks-schemes
$(SCHEMES): bench/papers/disks-schemes.c tests/oracle/disks_schemes.c tests/oracle/disks_schemes.h $(BUILD)/libergocl.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(INCLUDES) -Itests $(CPPFLAGS) $(ALLCFLAGS) -O3 -march=native $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LIBS)
# Clusters joined over thousands of ranks, in one process.
JOINING := $(BUILD)/bench/joining
$(JOINING): $(wildcard bench/joining/*.[ch]) $(BUILD)/tests/liboracle.a $(BUILD)/libergocl.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(INCLUDES) -Itests $(CPPFLAGS) $(ALLCFLAGS) -O3 -march=native $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LIBS)
bench-program: $(BENCH) $(SCHEMES) $(JOINING)
# For other machines: the programs to beat for whatever processor the compiler builds for.
PORTABLE     := $(BUILD)/bench/portable
PORTABLE_OBJ := $(patsubst $(BUILD)/bench/serial_%.o,$(PORTABLE)/serial_%.o,$(BENCH_OBJ))
$(PORTABLE)/serial_%.o: bench/serial_%.c | $(BUILD)/.libraries
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(INCLUDES) -Itests $(CPPFLAGS) $(ALLCFLAGS) -O3 -Wno-psabi -c $< -o $@
$(PORTABLE)/ergocl-bench: $(PORTABLE_OBJ) $(BUILD)/tests/liboracle.a $(BUILD)/libergocl.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(LDFLAGS) -o $@ $^ $(LIBS)
bench: $(BENCH)
	$(BENCH) --json $(BUILD)/bench/result.json --results bench/results $(BENCH_ARGS)

# ---- warnings -----------------------------------------------------------------------------------

# Objects only: what a compiler thinks of the code, by both, with its own build folder.
test-warnings: test-warnings-gcc test-warnings-clang
test-warnings-gcc:
	+$(SUBMAKE) BUILD=$(BUILD)/warnings-gcc CC=gcc EXTRA=-Werror warnings-inner
warnings-inner: $(LIB_OBJ) $(CLI_OBJ) $(TEST_OBJ) $(BENCH_OBJ)

# ---- the code's looks ---------------------------------------------------------------------------

C_FILES     := $(wildcard include/ergocl/*.h src/*/*.[ch] src/*/*/*.[ch] src/*/*/*/*.[ch] tests/*/*.[ch] tests/*.h bench/*.[ch] bench/*/*.c tools/*/*.c)
CL_FILES    := $(CL_SRC)
SHELL_FILES := src/cli/completion.bash $(wildcard tools/*.sh tools/packaging/*.sh tests/cli/*.sh tests/python/*.sh tests/mpi/*.sh tests/offline/*.sh tests/mutants/*.sh tests/fuzz/*.sh) tests/run-all .ci/run

# clang finds all it has to say before it makes code; about src/ by lint-tidy-quick, too.
test-warnings-clang: test-warnings-tests $(patsubst %.c,$(BUILD)/syntax/%.ok,$(LIB_SRC) $(CLI_SRC))
test-warnings-tests: $(patsubst %.c,$(BUILD)/syntax/%.ok,$(wildcard tests/*/*.c bench/*.c))
$(BUILD)/syntax/%.ok: %.c $(filter %.h,$(C_FILES) $(CL_FILES))
	@mkdir -p $(@D)
	$(call say,CLANG,$<)
	$(Q)clang -fsyntax-only -Werror -std=c11 $(INCLUDES) -Itests -DERGO_BENCH_COMMIT='""' $(WARN) -ffp-contract=off $<
	@touch $@

format:
	clang-format -i $(C_FILES) $(CL_FILES)
format-check:
	clang-format --dry-run -Werror $(C_FILES) $(CL_FILES)

lint: lint-tidy lint-cppcheck lint-shell lint-spelling
# lint-tidy-quick: without the analyzer, which takes nine tenths of the time, and with clang's warnings.
TIDY_FILES := $(patsubst %.c,%.ok,$(LIB_SRC) $(CLI_SRC))
lint-tidy: $(addprefix $(BUILD)/tidy/,$(TIDY_FILES))
lint-tidy-quick: $(addprefix $(BUILD)/tidy-quick/,$(TIDY_FILES))
$(BUILD)/tidy-quick/%: TIDY_CHECKS := --checks=-clang-analyzer-*,clang-diagnostic-*
# A file is looked at again when it or any header changed.
tidy = @mkdir -p $(@D); printf '  %-7s %s\n' TIDY $<; clang-tidy --quiet $(TIDY_CHECKS) $< -- -std=c11 $(INCLUDES) $(WARN) && touch $@
$(BUILD)/tidy/%.ok: %.c .clang-tidy $(filter %.h,$(C_FILES) $(CL_FILES))
	$(tidy)
$(BUILD)/tidy-quick/%.ok: %.c .clang-tidy $(filter %.h,$(C_FILES) $(CL_FILES))
	$(tidy)
# unknownEvaluationOrder takes the designator in a[n++] = (struct x){.n = 1} for the variable;
# gcc's -Wsequence-point does that check.
lint-cppcheck:
	cppcheck --quiet -j$(JOBS) --std=c11 --error-exitcode=1 --enable=warning,performance,portability \
	    --inline-suppr --suppress=missingInclude --suppress=unknownEvaluationOrder -D_GNU_SOURCE -D__x86_64__ \
	    -Iinclude -Isrc -Icl src
lint-shell:
	shellcheck -x $(SHELL_FILES)
# .codespellrc says what is left out, and why.
lint-spelling:
	codespell

# ---- installation -------------------------------------------------------------------------------

# Folders are quoted: DESTDIR and PREFIX may have spaces in them.
D         = $(DESTDIR)$(PREFIX)
INSTALL  := install
MAN      := share/man/man1/ergocl.1
COMPLETE := share/bash-completion/completions/ergocl
ZSH      := share/zsh/site-functions/_ergocl
FISH     := share/fish/vendor_completions.d/ergocl.fish

# From lib/pkgconfig (or Debian's lib/x86_64-linux-gnu/pkgconfig) back to the prefix.
UP        = $(shell echo '$(LIBDIR)/pkgconfig' | sed 's|[^/][^/]*|..|g')
FILL      = sed 's/@VERSION@/$(VERSION)/; s/@PKGS@/$(PKGS)/; s|@MPI_LIBS@|$(MPI_LIBS)|; s|@HDF5_HL@|$(HDF5_HL)|; s|@UP@|$(UP)|; s|@LIBDIR@|$(LIBDIR)|'
L         = $(D)/$(LIBDIR)

install: all $(PORTABLE)/ergocl-bench
	$(INSTALL) -d "$(D)/bin" "$(L)/pkgconfig" "$(L)/cmake/ergocl" "$(D)/include/ergocl" "$(D)/libexec/ergocl" \
	    "$(D)/share/ergocl/bench" "$(D)/share/ergocl/jobs" "$(D)/share/man/man1" "$(D)/share/bash-completion/completions" \
	    "$(D)/share/zsh/site-functions" "$(D)/share/fish/vendor_completions.d"
	$(INSTALL) -m 755 $(BUILD)/ergocl "$(D)/bin/ergocl"
	$(INSTALL) -m 755 $(PORTABLE)/ergocl-bench "$(D)/libexec/ergocl/ergocl-bench"
	$(INSTALL) -m 644 bench/results/*.json "$(D)/share/ergocl/bench/"
	$(INSTALL) -m 644 $(BUILD)/libergocl.a "$(L)/libergocl.a"
	$(INSTALL) -m 755 $(BUILD)/$(SONAME) "$(L)/libergocl.so.$(VERSION)"
	ln -sf libergocl.so.$(VERSION) "$(L)/$(SONAME)"
	ln -sf $(SONAME) "$(L)/libergocl.so"
	$(INSTALL) -m 644 include/ergocl/*.h "$(D)/include/ergocl/"
	$(FILL) tools/libergocl.pc.in > "$(L)/pkgconfig/libergocl.pc"
	for file in ergocl-config ergocl-config-version; do \
	    $(FILL) "tools/packaging/$$file.cmake.in" > "$(L)/cmake/ergocl/$$file.cmake" || exit 1; done
	sed 's/@VERSION@/$(VERSION)/' src/cli/ergocl.1 > "$(D)/$(MAN)"
	$(INSTALL) -m 644 src/cli/completion.bash "$(D)/$(COMPLETE)"
	$(INSTALL) -m 644 src/cli/completion.zsh "$(D)/$(ZSH)"
	$(INSTALL) -m 644 src/cli/completion.fish "$(D)/$(FISH)"
	$(INSTALL) -m 644 data/jobs/*.json "$(D)/share/ergocl/jobs/"
	$(INSTALL) -m 644 data/job.schema.json "$(D)/share/ergocl/job.schema.json"

uninstall:
	rm -f "$(D)/bin/ergocl" "$(L)/libergocl.a" "$(L)"/libergocl.so* \
	    "$(L)/pkgconfig/libergocl.pc" "$(D)/$(MAN)" "$(D)/$(COMPLETE)" "$(D)/$(ZSH)" "$(D)/$(FISH)"
	rm -rf "$(L)/cmake/ergocl" "$(D)/include/ergocl" "$(D)/libexec/ergocl" "$(D)/share/ergocl"

# The committed tree; the same bytes for the same commit (gzip -n has neither name nor time).
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=ergocl-$(VERSION)/ HEAD | gzip -9n > $(BUILD)/ergocl-$(VERSION).tar.gz

clean:
	rm -rf $(BUILD)

define HELP
make all            build the program and the libraries into $(BUILD)/
make check          build what changed; units, digests, options and jobs: two minutes
make demo           install what is missing, build, run the quickstart job
make test           install what is missing, build, run every test
make test-unit      without a device               make test-sanitize  the same under ASan and UBSan
make test-cli       the program, by shell          make test-kernel    kernels on PoCL and rusticl
make test-oclgrind  kernels under Oclgrind         make test-contract  what every sampler promises
make test-pretend   digests on PoCL that pretends to be other devices
make test-offline   programs of the golden jobs by compilers for AMD GPUs that are not here
make test-mpi       several ranks under mpirun     make test-python    the Python package, installed
make test-physics   exact and published values make test-mutants   all that is broken on purpose
make test-matrix    contract and physics on every OpenCL implementation found, in one table
make test-long      hours: kills by the hundred, all hostile jobs, long lives
make fuzz           jobs, starts, tables, profiles, pages by libFuzzer, FUZZ=page FUZZ_SECONDS=600 (clang)
make test-warnings  gcc and clang with -Werror     make lint           clang-tidy, cppcheck, shellcheck, codespell
make format         clang-format                   make format-check
make coverage       the share of src/ that make check runs (lcov); COVERAGE_SUITES="unit cli"
make bench          measure this machine
make figures        the drawings of README.md
make MPI=none       without MPI; MPI=mpich and the like: by that one (pkg-config's name, or a compiler)
make install        PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR)      make uninstall
make dist           the committed tree as a tarball (tools/packaging has recipes for packages)
make clean

TEST_ON="gpu" make test-kernel  runs the kernel tests on other devices; BUILD, CC, CFLAGS as usual
TEST_SAMPLER=lj-gcmc make check  what is about one sampler;  TEST_ONLY="unit test_lj"  by suite and name;
TEST_CASE="*carry*" make test-unit  single tests of C programs
endef
export HELP
help:
	@echo "$$HELP"

.PHONY: all library print-libs demo figures check mutant-program test test-programs test-unit test-kernel test-oclgrind test-contract test-pretend test-offline test-physics test-mutants \
        test-cli test-python test-mpi test-sanitize test-long test-matrix sanitize-programs sanitize-inner coverage coverage-programs test-warnings test-warnings-gcc \
        test-warnings-clang test-warnings-tests warnings-inner bench bench-program format format-check lint lint-tidy lint-tidy-quick lint-cppcheck \
        lint-shell lint-spelling fuzz install uninstall dist clean help
.DELETE_ON_ERROR:
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(ORACLE_OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(BENCH_OBJ:.o=.d) $(PORTABLE_OBJ:.o=.d)
