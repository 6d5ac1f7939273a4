import type { Command, Option } from 'commander'

/** What may stand in a place of the command line. */
export type Place =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Or one of the words, where there are any. */
  | { readonly kind: 'files' | 'directories'; readonly words?: readonly string[] }
  /** A text that only the user knows. */
  | { readonly kind: 'text' }

/** An option, as completion sees it. */
export interface OptionWords {
  /** `--format`, and `-y` where there is one. */
  readonly flags: readonly string[]
  readonly description: string
  /** What its value may be; null for an option without one. */
  readonly value: Place | null
}

/** A command, as completion sees it. */
export interface CommandWords {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionWords[]
  /** Its arguments, the last of which may repeat. */
  readonly places: readonly Place[]
}

/** What there is to complete in a program: its commands, by name. */
export function commandWords(program: Command): readonly CommandWords[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: optionsOf(command),
    places: placesOf(command),
  }))
}

/** The places of a command; where commands are below it, their names may stand in its first place, and their arguments after that. */
function placesOf(command: Command): Place[] {
  const places = command.registeredArguments.map((argument): Place => {
    const { argChoices } = argument
    return argChoices === undefined ? placeNamed(argument.name()) : { kind: 'words', words: argChoices }
  })
  for (const below of command.commands) {
    const [first] = places
    if (first?.kind === 'directories') {
      places[0] = { ...first, words: [...(first.words ?? []), below.name()] }
    }
    for (const [index, place] of placesOf(below).entries()) {
      if (places[index + 1]?.kind !== 'directories') places[index + 1] = place
    }
  }
  return places
}

/** The options of a command, with those that only commands below it have. */
function optionsOf(command: Command): OptionWords[] {
  const own = command.createHelp().visibleOptions(command).map(optionWords)
  const below = command.commands.flatMap(optionsOf)
  const known = new Set(own.flatMap(({ flags }) => flags))
  return [...own, ...below.filter(({ flags }) => !flags.some((flag) => known.has(flag)))]
}

function optionWords(option: Option): OptionWords {
  const { short, long, description, argChoices, required, optional } = option
  const takesValue = required || optional
  const [, named = ''] = /<([^>]+)>/.exec(option.flags) ?? []
  const value: Place = argChoices === undefined ? placeNamed(named) : { kind: 'words', words: argChoices }
  return {
    flags: [short, long].filter((flag) => flag !== undefined && flag !== null),
    description,
    value: takesValue ? value : null,
  }
}

/** What the help calls an argument says what it is. */
function placeNamed(name: string): Place {
  if (name === 'sheet' || name === 'directory') return { kind: 'directories' }
  return /file|path|archive/.test(name) ? { kind: 'files' } : { kind: 'text' }
}
