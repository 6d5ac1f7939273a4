import type { CommandWords, OptionWords, Place } from './command-words.ts'
import { quoted } from './shell-quote.ts'

/**
 * Returns a script that completes `colophon` in zsh, to be sourced or saved as `_colophon` in a directory of `fpath`.
 */
export function zshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef colophon
# zsh completion for colophon; made by: colophon completion zsh
_colophon() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    ${quoted(`${name}:${escaped(description)}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    _arguments '(-)--help[show help]' '(-)--version[show the version]'
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT -= 1))
  case $command in
${commands.map(branchOf).join('\n')}
  esac
}
if [[ $funcstack[1] == _colophon ]]; then
  _colophon "$@"
else
  compdef _colophon colophon
fi
`
}

function branchOf({ name, options, places }: CommandWords): string {
  const lines = [...options.flatMap(optionLines), ...places.map(placeLine)]
  return `    ${name})\n      _arguments -s ${lines.join(' \\\n        ')} ;;`
}

function optionLines({ flags, description, value }: OptionWords): string[] {
  return flags.map((flag) => {
    // An option that may be repeated stays in the list after its first use.
    const repeats = description.includes('may be repeated') ? '*' : ''
    const text = `${repeats}${flag}[${escaped(description)}]`
    return quoted(value === null ? text : `${text}:value:${actionOf(value)}`)
  })
}

function placeLine(place: Place, index: number): string {
  return quoted(`${index + 1}:argument:${actionOf(place)}`)
}

function actionOf(place: Place): string {
  switch (place.kind) {
    case 'words':
      return `(${place.words.join(' ')})`
    case 'files':
      return '_files'
    case 'directories':
      return place.words === undefined ? '_files -/' : `{compadd ${place.words.join(' ')}; _files -/}`
    case 'text':
      return ' '
  }
}

/** Escapes the special characters of a specification of _arguments. */
function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`)
}
