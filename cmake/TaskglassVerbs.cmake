# tg_write_verbs(FILE SOURCE...): writes the table of verbs, cli_verbs of src/cli/cli.h. A
# source called verb_NAME.c defines cli_verb_NAME. Leaves the file alone if its content stays the same.
function(tg_write_verbs file)
  set(declarations "")
  set(rows "")
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^verb_")
      string(APPEND declarations "extern const struct cli_verb cli_${name};\n")
      string(APPEND rows "    &cli_${name},\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "/* Written by the build: see cmake/TaskglassVerbs.cmake. */
#include \"cli/cli.h\"

${declarations}
const struct cli_verb *const cli_verbs[] = {
${rows}    NULL,
};
" @ONLY)
endfunction()
