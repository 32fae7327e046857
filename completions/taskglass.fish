# SPDX-License-Identifier: Apache-2.0
# Completion for fish. The program itself says what may come next; nothing of the line is evaluated here.

function __taskglass_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    command $program complete fish -- $words "$current" 2>/dev/null
end

complete -c taskglass -f -a '(__taskglass_complete)'
