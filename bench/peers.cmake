# Finds the peers that benchmarks measure beside Taskglass. A benchmark includes this file, and builds a
# program for each peer that is there:
#
#   peer      there is                  Debian packages
#   oneTBB    target TBB::tbb           libtbb-dev (and a C++ compiler)
#   libgomp   target OpenMP::OpenMP_C   gcc (the C compiler of this build has to be gcc)
#   libomp    bench_clang_openmp        clang and libomp-dev (or a versioned pair such as clang-14 and
#             (a command line)          libomp-14-dev)
#   StarPU    target PkgConfig::STARPU  libstarpu-dev and pkg-config

function(bench_missing peer package)
  get_filename_component(bench ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  message(STATUS "bench/${bench}: no ${peer}, left out (Debian: ${package})")
endfunction()

if(CMAKE_CXX_COMPILER)
  find_package(TBB QUIET)
endif()
if(NOT TARGET TBB::tbb)
  bench_missing(oneTBB libtbb-dev)
endif()

# gcc links libgomp, and no other compiler does.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  find_package(OpenMP QUIET COMPONENTS C)
endif()
if(NOT TARGET OpenMP::OpenMP_C)
  bench_missing(libgomp gcc)
endif()

# libomp comes with clang. A CMake build has only one C compiler, so a custom command calls clang.
find_program(BENCH_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14
  DOC "clang with libomp, for a peer of the benchmarks")
set(bench_clang_openmp "")
if(BENCH_CLANG)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/libomp_probe.c)
  file(WRITE ${probe} "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
  execute_process(COMMAND ${BENCH_CLANG} -std=c11 -fopenmp=libomp ${probe} -o ${probe}.out
    RESULT_VARIABLE clang_failed OUTPUT_QUIET ERROR_QUIET)
  if(clang_failed EQUAL 0)
    set(bench_clang_openmp ${BENCH_CLANG} -std=c11 -fopenmp=libomp)
  endif()
endif()
if(NOT bench_clang_openmp)
  bench_missing(libomp "clang libomp-dev")
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(STARPU QUIET IMPORTED_TARGET starpu-1.3)
endif()
if(NOT TARGET PkgConfig::STARPU)
  bench_missing(StarPU "libstarpu-dev pkg-config")
endif()
