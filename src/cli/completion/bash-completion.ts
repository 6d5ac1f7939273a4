import type { CommandWords, Place } from './command-words.ts'
import { quoted } from './shell-quote.ts'

/** Returns a script that completes `colophon` in bash, including the old version of macOS. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  return `# bash completion for colophon; made by: colophon completion bash
_colophon() {
  local IFS=$'\\n' current option='' command='' position=0 index
  COMPREPLY=()
  current=\${COMP_WORDS[COMP_CWORD]}
  # bash takes the = of --option=value for a word of its own.
  if [[ $current == '=' ]]; then current='' option=\${COMP_WORDS[COMP_CWORD-1]}
  elif ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[COMP_CWORD-1]} == '=' ]]; then option=\${COMP_WORDS[COMP_CWORD-2]}
  elif ((COMP_CWORD > 0)); then option=\${COMP_WORDS[COMP_CWORD-1]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    if [[ -z $command ]]; then
      [[ \${COMP_WORDS[index]} == -* ]] || command=\${COMP_WORDS[index]}
      continue
    fi
    case "$command \${COMP_WORDS[index-1]}" in
      ${valueOptions(commands)}) ;;
      *) [[ \${COMP_WORDS[index]} == -* || \${COMP_WORDS[index]} == '=' || \${COMP_WORDS[index-1]} == '=' ]] || ((position += 1)) ;;
    esac
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W ${list([...commands.map(({ name }) => name), '--help', '--version'])} -- "$current"))
    return
  fi
  case "$command $option" in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ $current == -* ]]; then
    case $command in
${commands.map(({ name, options }) => `      ${name}) ${words(options.flatMap(({ flags }) => flags))} ;;`).join('\n')}
    esac
    return
  fi
  case "$command $position" in
${commands.flatMap(placeCases).join('\n')}
  esac
}
complete -F _colophon colophon
`
}

/** Returns patterns of a command with an option that takes a value. */
function valueOptions(commands: readonly CommandWords[]): string {
  const patterns = commands.flatMap(({ name, options }) =>
    options.flatMap(({ flags, value }) => (value === null ? [] : flags.map((flag) => `'${name} ${flag}'`))),
  )
  return patterns.join('|')
}

function valueCases({ name, options }: CommandWords): string[] {
  return options.flatMap(({ flags, value }) =>
    value === null
      ? []
      : [`    ${flags.map((flag) => `'${name} ${flag}'`).join('|')}) ${completing(value)}; return ;;`],
  )
}

function placeCases({ name, places }: CommandWords): string[] {
  return places.map((place, index) => `    '${name} ${index}') ${completing(place)} ;;`)
}

function completing(place: Place): string {
  switch (place.kind) {
    case 'words':
      return words(place.words)
    case 'files':
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))'
    case 'directories':
      return place.words === undefined
        ? 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current"))'
        : `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -W ${list(place.words)} -- "$current"; compgen -d -- "$current"))`
    case 'text':
      return ':'
  }
}

function words(all: readonly string[]): string {
  return `COMPREPLY=($(compgen -W ${list(all)} -- "$current"))`
}

/** Returns words for compgen, separated by line breaks. */
function list(all: readonly string[]): string {
  return `$${quoted(all.join('\\n'))}`
}
