import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { neededStore } from '../../options/sheet-argument.ts'

/** `colophon pull <directory>`. */
export function pullCommand(): Command {
  const command = new Command('pull')
    .description(
      'Make a directory of a sheet that is in a store: definition, records, provenance, all of it.',
    )
    .argument('<directory>', 'where it goes; made if it is not there, and nothing in it is overwritten')
  addExamples(command, [
    [
      'colophon pull countries --store "postgres://app@db.example/sheets?schema=countries"',
      'The whole sheet, to be served from the directory or kept as a copy',
    ],
  ])
  return addSheetOptions(command).action((directory: string, flags: Omit<SheetFlags, 'sheet'>) => {
    const sheet = neededStore(command, flags)
    return withSheet({ ...flags, sheet }, async (context) => {
      const { runPull } = await import('./run-pull.ts')
      await runPull(context, directory)
    })
  })
}
