# The front door. The build itself is CMake's (CMakeLists.txt, CMakePresets.json).
PREFIX ?= /usr/local
DESTDIR ?=
ARGS ?=

.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory
.PHONY: build demo test test-gpu soak bench install deb docs format lint clean help
.NOTPARALLEL:

build: ## build it: build/bin/taskglass
	@scripts/install-deps demo
	@scripts/build release product

demo: build ## build it, record a task graph on a simulated device and look into it
	@scripts/demo

test: ## build and run all tests, also under sanitizers (STAGES="release asan tsan lint fuzz")
	@scripts/install-deps test
	@scripts/test

test-gpu: ## the tests on a GPU (PARTS="contract e2e fault bugs python gpu sanitizer")
	@scripts/test-gpu

SECONDS ?= 600
soak: ## random graphs, kills, pauses, full disks, hostile files and all verbs (SECONDS=600 SEED=)
	@scripts/install-deps test
	@scripts/soak $(SECONDS) $(SEED)

bench: ## measure beside oneTBB, OpenMP, StarPU and, on a GPU, CUDA Graphs (ARGS="--json")
	@scripts/install-deps bench
	@scripts/build release all -DTASKGLASS_BENCH=ON
	@bench/tasks/run.py $(ARGS)
	@bench/taskbench/run.py
	@bench/graph/run.py
	@bench/comm/run.py
	@bench/record/run.py
	@bench/scope/run.py
	@bench/diff/run.py
	@bench/verify/run.py
	@bench/math/run.py
	@bench/export/run.py
	@bench/check/run.py
	@bench/replay/run.py
	@bench/trace_file/run.py
	@bench/workbench/run.py
	@bench/gpu/run.py

# Looks first whether it may: a build takes a minute, and half an installation is worse than none.
install: ## install under PREFIX (/usr/local), staged into DESTDIR
	@scripts/check-prefix "$(PREFIX)" "$(DESTDIR)"
	@$(MAKE) build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)" > build/install.log
	@if [ -n "$$SUDO_UID" ]; then chown -R "$$SUDO_UID:$$SUDO_GID" build; fi
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi
	@echo "taskglass: installed in $(DESTDIR)$(PREFIX)"

CUDA ?= OFF
deb: ## Debian packages: build/deb/*.deb (CUDA=ON: for NVIDIA GPUs too)
	@scripts/install-deps deb
	@CUDA="$(CUDA)" scripts/deb

docs: ## the pages and the reference of the headers as a site: build/docs/html
	@scripts/install-deps docs
	@scripts/docs
	@echo "taskglass: wrote build/docs/html/index.html"

format: ## format the C sources in place
	@scripts/install-deps lint
	@find include src examples tests bench -name '*.[ch]' | xargs clang-format -i

lint: ## look for what compilers do not see: the format, clang-tidy
	@scripts/install-deps lint
	@scripts/lint

clean: ## remove everything built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(firstword $(MAKEFILE_LIST)) | \
	    awk -F@ '{ printf "%-16s %s\n", $$1, $$2 }'
