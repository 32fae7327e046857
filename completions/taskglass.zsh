#compdef taskglass
# SPDX-License-Identifier: Apache-2.0
# Completion for zsh. The program itself says what may come next; nothing of the line is evaluated here.

_taskglass() {
    local program=${(Q)words[1]} home='' word about
    local -a whole whole_shown partial partial_shown
    program=${program/#\~\//$HOME/}
    [[ $PREFIX == '~/'* ]] && home='~/'
    while IFS=$'\t' read -r word about; do
        word=${word#$home}
        if [[ $word == *[/=] ]]; then
            partial+=("$word") partial_shown+=("$word${about:+  -- $about}")
        else
            whole+=("$word") whole_shown+=("$word${about:+  -- $about}")
        fi
    done < <(command $program complete words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    [[ -z $home ]] || compset -P '[~]/'
    (( $#partial )) && compadd -l -S '' -d partial_shown -a -- partial
    (( $#whole )) && compadd -l -d whole_shown -a -- whole
}

if [[ $funcstack[1] == _taskglass ]]; then
    _taskglass "$@"
else
    compdef _taskglass taskglass
fi
