import type { CommandWords, OptionWords, Place } from './command-words.ts'

/** Returns a script that completes `colophon` in fish. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  return `# fish completion for colophon; made by: colophon completion fish
complete -c colophon -f
${commands.map(({ name, description }) => `complete -c colophon -n __fish_use_subcommand -a ${name} -d ${fishQuoted(description)}`).join('\n')}
complete -c colophon -n __fish_use_subcommand -l help -d 'show help'
complete -c colophon -n __fish_use_subcommand -l version -d 'show the version'
${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf({ name, options, places }: CommandWords): string[] {
  const when = `-n '__fish_seen_subcommand_from ${name}'`
  return [
    ...options.map((option) => `complete -c colophon ${when} ${optionText(option)}`),
    ...argumentWords(places).map((text) => `complete -c colophon ${when} ${text}`),
  ]
}

function optionText({ flags, description, value }: OptionWords): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
  return [
    ...names,
    ...(value === null ? [] : ['-x', ...actionOf(value)]),
    `-d ${fishQuoted(description)}`,
  ].join(' ')
}

/** Returns the possible words of all places: fish does not count arguments. */
function argumentWords(places: readonly Place[]): string[] {
  return [...new Set(places.map((place) => actionOf(place).join(' ')))].filter((text) => text !== '')
}

function actionOf(place: Place): string[] {
  switch (place.kind) {
    case 'words':
      return [`-a ${fishQuoted(place.words.join(' '))}`]
    case 'files':
      return ["-a '(__fish_complete_path)'"]
    case 'directories':
      return [`-a ${fishQuoted([...(place.words ?? []), '(__fish_complete_directories)'].join(' '))}`]
    case 'text':
      return []
  }
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
