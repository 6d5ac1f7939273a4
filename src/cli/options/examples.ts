import type { Command } from 'commander'

/** Command lines, each with a description. */
export type Examples = readonly (readonly [line: string, what: string])[]

const KNOWN = new WeakMap<Command, Examples>()

/** Adds examples to the help of a command, and registers them for the reference. */
export function addExamples(command: Command, examples: Examples): Command {
  KNOWN.set(command, examples)
  const lines = examples.map(([line, what]) => `  # ${what}\n  ${line}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n\n')}`)
}

/** Returns the examples in the help of a command. */
export function examplesOf(command: Command): Examples {
  return KNOWN.get(command) ?? []
}
