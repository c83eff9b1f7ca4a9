# SPDX-License-Identifier: Apache-2.0
#
# Short names for the common jobs. `make` builds with what is installed; `make demo` and
# `make check` first install the Debian packages that are missing. The rest is in meson.build.

BUILD ?= build
MESON_FLAGS ?=

.PHONY: all demo check bench bench-cosim install clean

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD) $(MESON_FLAGS)

demo:
	tools/setup.sh demo
	$(MAKE) $(BUILD)/build.ninja
	meson compile -C $(BUILD) lockstep:executable
	tools/fetch-model.sh $(BUILD)/models
	tools/demo.sh $(BUILD)/src/cli/lockstep $(BUILD)/demo $(BUILD)/models

check:
	tools/setup.sh check
	tools/check.sh $(BUILD) $(MESON_FLAGS)

# In a build folder of its own: optimised, without assertions.
bench: $(BUILD)-bench/build.ninja
	ninja -C $(BUILD)-bench bench-speed

bench-cosim: $(BUILD)-bench/build.ninja
	ninja -C $(BUILD)-bench bench-cosim

$(BUILD)-bench/build.ninja:
	meson setup $(BUILD)-bench -Dbench=true -Dtests=disabled -Dbuildtype=release $(MESON_FLAGS)

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD)
