# What is installed, and how other projects find it. All paths are relative, so the tree can be moved.

include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/taskglass TYPE INCLUDE
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS taskglass_headers EXPORT TaskglassTargets)
if(TARGET taskglass)
  install(TARGETS taskglass EXPORT TaskglassTargets)
endif()
if(device_programs)
  install(TARGETS ${device_programs} DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
endif()
if(TARGET taskglass-reference)
  install(TARGETS taskglass-reference DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
  install(TARGETS taskglass-lines DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
endif()
if(TARGET taskglass-watch)
  install(TARGETS taskglass-watch DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
endif()
if(TASKGLASS_MPI_PLUGINS)
  install(TARGETS ${TASKGLASS_MPI_PLUGINS} DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
endif()
if(TARGET taskglass-serve)
  install(TARGETS taskglass-serve DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
endif()
if(TARGET taskglass-cuda)
  install(TARGETS taskglass-cuda DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass)
  get_property(cuda_objects TARGET tg_cuda_device PROPERTY TG_OBJECTS)
  install(FILES ${cuda_objects} DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass/cuda)
  foreach(architecture ${TASKGLASS_CUDA_VIRTUAL}) # made for linking when a workload is loaded
    install(DIRECTORY ${PROJECT_BINARY_DIR}/lib/taskglass/cuda/compute_${architecture}
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass/cuda FILES_MATCHING PATTERN "*.ptx")
  endforeach()
endif()
if(TARGET taskglass-cli)
  install(TARGETS taskglass-cli)
  # Where each shell looks for the completions of a program, under the names that it looks for.
  install(FILES ${PROJECT_SOURCE_DIR}/completions/taskglass.bash RENAME taskglass
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_SOURCE_DIR}/completions/taskglass.zsh RENAME _taskglass
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_SOURCE_DIR}/completions/taskglass.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# CMakeLists.txt sets workloads: the modules under examples/
if(workloads)
  install(TARGETS ${workloads} DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass/workloads)
  foreach(name ${workloads})
    get_property(image TARGET ${name} PROPERTY TG_IMAGE)
    if(image)
      install(FILES ${image} DESTINATION ${CMAKE_INSTALL_LIBDIR}/taskglass/workloads)
    endif()
  endforeach()
endif()

# The Python package finds the library by a path relative to its own.
set(TASKGLASS_PYTHON_DIR lib/python3/dist-packages CACHE STRING
  "Where the Python package goes, under the prefix; empty: nowhere")
if(TASKGLASS_PYTHON_DIR)
  file(RELATIVE_PATH python_to_lib
    ${CMAKE_INSTALL_PREFIX}/${TASKGLASS_PYTHON_DIR}/taskglass ${CMAKE_INSTALL_FULL_LIBDIR})
  file(WRITE ${PROJECT_BINARY_DIR}/package/_where.py
    "# SPDX-License-Identifier: Apache-2.0\nLIBRARY_DIR = \"${python_to_lib}\"\n")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/taskglass
    DESTINATION ${TASKGLASS_PYTHON_DIR}
    FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  install(FILES ${PROJECT_BINARY_DIR}/package/_where.py
    DESTINATION ${TASKGLASS_PYTHON_DIR}/taskglass)

  # What pip, pytest and importlib.metadata ask for. There is no RECORD, so pip never removes this package.
  set(dist_info ${PROJECT_BINARY_DIR}/package/dist-info)
  configure_file(${PROJECT_SOURCE_DIR}/bindings/python/dist-info/METADATA.in ${dist_info}/METADATA @ONLY)
  install(FILES ${dist_info}/METADATA ${PROJECT_SOURCE_DIR}/bindings/python/dist-info/entry_points.txt
    DESTINATION ${TASKGLASS_PYTHON_DIR}/taskglass-${PROJECT_VERSION}.dist-info)
endif()

foreach(section 1 7)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Taskglass)
install(EXPORT TaskglassTargets NAMESPACE Taskglass:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TaskglassConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/TaskglassConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/TaskglassConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/TaskglassConfig.cmake
  ${PROJECT_BINARY_DIR}/package/TaskglassConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/TaskglassWorkload.cmake
  ${PROJECT_SOURCE_DIR}/cmake/TaskglassCuda.cmake
  DESTINATION ${package_dir})

# The build tree is a package too, so that a user's project can be built without installing:
# cmake -B build -DCMAKE_PREFIX_PATH=…/taskglass/build
function(tg_export_build_tree)
  set(CMAKE_INSTALL_LIBDIR lib) # where the build has its libraries, whatever the installation will have
  set(folder ${PROJECT_BINARY_DIR}/lib/cmake/Taskglass)
  export(EXPORT TaskglassTargets NAMESPACE Taskglass:: FILE ${folder}/TaskglassTargets.cmake)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TaskglassConfig.cmake.in
    ${folder}/TaskglassConfig.cmake INSTALL_DESTINATION lib/cmake/Taskglass
    INSTALL_PREFIX ${PROJECT_BINARY_DIR} PATH_VARS CMAKE_INSTALL_LIBDIR)
  foreach(file ${PROJECT_BINARY_DIR}/package/TaskglassConfigVersion.cmake
      ${PROJECT_SOURCE_DIR}/cmake/TaskglassWorkload.cmake ${PROJECT_SOURCE_DIR}/cmake/TaskglassCuda.cmake)
    configure_file(${file} ${folder}/ COPYONLY)
  endforeach()
endfunction()
tg_export_build_tree()

set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix ${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/taskglass.pc.in
  ${PROJECT_BINARY_DIR}/package/taskglass.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/taskglass.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
