import type { Command, Option } from 'commander'

/** The words that are possible in a place of the command line. */
export type Place =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** A path, or one of the words. */
  | { readonly kind: 'files' | 'directories'; readonly words?: readonly string[] }
  /** Any text. */
  | { readonly kind: 'text' }

/** An option, as completion needs it. */
export interface OptionWords {
  /** The flags, such as `--format` and `-y`. */
  readonly flags: readonly string[]
  readonly description: string
  /** The possible values; null for an option without one. */
  readonly value: Place | null
}

/** A command, as completion needs it. */
export interface CommandWords {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionWords[]
  /** Its arguments, the last of which may repeat. */
  readonly places: readonly Place[]
}

/** Returns the commands of a program by name, with what can be completed in them. */
export function commandWords(program: Command): readonly CommandWords[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: optionsOf(command),
    places: placesOf(command),
  }))
}

/**
 * Returns the places of a command. Names of subcommands are possible in the first place, and their arguments after
 * that.
 */
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

/** Returns the options of a command and of its subcommands. */
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

/** Returns the place of an argument by its name in the help. */
function placeNamed(name: string): Place {
  if (name === 'sheet' || name === 'directory') return { kind: 'directories' }
  return /file|path|archive/.test(name) ? { kind: 'files' } : { kind: 'text' }
}
