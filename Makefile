# ergocl: the front door. `make help` lists the targets.
BUILD  ?= build
CC     ?= gcc
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
PKGS   := OpenCL libcjson libsodium libpng hdf5-serial
EXTRA  ?=

CPPFLAGS += -D_GNU_SOURCE -Iinclude -Isrc -Icl $(shell pkg-config --cflags $(PKGS) 2>/dev/null | sed 's/-I/-isystem /g')
LDLIBS   += $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm
ALLCFLAGS = -std=c11 $(WARN) $(CFLAGS) $(EXTRA) -fPIC -fvisibility=default -ffp-contract=off -MMD -MP

LIB_SRC := $(wildcard src/core/*.c src/job/*.c src/run/*.c src/stats/*.c src/io/*.c src/samplers/*.c src/samplers/*/*.c)
CLI_SRC := $(wildcard src/cli/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
CL_SRC  := $(wildcard cl/*/*.h cl/*/*.cl)

all: $(BUILD)/ergocl

$(BUILD)/ergocl: $(CLI_OBJ) $(BUILD)/libergocl.a
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

$(BUILD)/libergocl.a: $(LIB_OBJ)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/embedded.c: tools/embed.sh $(CL_SRC)
	@mkdir -p $(@D)
	sh tools/embed.sh cl > $@.tmp && mv $@.tmp $@

$(BUILD)/embedded.o: $(BUILD)/embedded.c
	$(CC) $(CPPFLAGS) $(ALLCFLAGS) -c $< -o $@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALLCFLAGS) -c $< -o $@

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/libergocl.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALLCFLAGS) -o $@ $< $(BUILD)/libergocl.a $(LDLIBS) -lcmocka

clean:
	rm -rf $(BUILD)

.PHONY: all clean
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)
