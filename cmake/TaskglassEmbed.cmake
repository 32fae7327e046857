# Turns files of the tree into C arrays, so that a program contains them:
#
#   tg_embed(OUTPUT SYMBOL FILE)   writes a C source with SYMBOL[] and SYMBOL_size
#
# This file is also the script that writes it: cmake -DINPUT=… -DOUTPUT=… -DSYMBOL=… -P this.

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REPEAT "[0-9a-f]" 40 line)
  string(REGEX REPLACE "(${line})" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(WRITE ${OUTPUT} "#include <stddef.h>\n"
    "extern const unsigned char ${SYMBOL}[];\nextern const size_t ${SYMBOL}_size;\n"
    "const unsigned char ${SYMBOL}[] = {\n${bytes}0};\n"
    "const size_t ${SYMBOL}_size = ${size};\n")
  return()
endif()

set(TG_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(tg_embed output symbol file)
  get_filename_component(file ${file} ABSOLUTE)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
      -P ${TG_EMBED_SCRIPT}
    DEPENDS ${file} ${TG_EMBED_SCRIPT}
    COMMENT "Embedding ${symbol}" VERBATIM)
endfunction()
