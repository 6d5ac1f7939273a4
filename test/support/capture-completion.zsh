# Has an interactive zsh, at a terminal of its own, complete a line, and prints what it offers, one to a line.
# $1 is the completion script, $2 a file for the findings, $3 the line up to the cursor.
zmodload zsh/zpty
cat > .rc <<'RC'
PROMPT= RPROMPT=
unset zle_bracketed_paste
autoload -Uz compinit
compinit -u -D
source $COMPLETION
compadd() {
  local -a hits
  # With these it is asked what would match, and nothing is offered.
  if [[ -n ${@[(r)-[a-zA-Z]#[OAD]]} ]]; then builtin compadd "$@"; return; fi
  builtin compadd -A hits "$@"
  print -rl -- $hits >> $FOUND
  builtin compadd "$@"
}
_end() { print -rn -- '<END>' }
comppostfuncs=(_end)
bindkey '^I' complete-word
print -r -- '<READY''>'
RC
export COMPLETION=$1 FOUND=$2
: > $FOUND
zpty shell zsh -f -i
zpty -w shell 'setopt extendedglob; source .rc'
zpty -r shell seen '*<READY>*'
zpty -w -n shell "$3"$'\t'
zpty -r shell seen '*<END>*'
zpty -d shell
cat $FOUND
