import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { neededStore } from '../../options/sheet-argument.ts'

/** `colophon pull <directory>`. */
export function pullCommand(): Command {
  const command = new Command('pull')
    .description('Copy a sheet from a store into a directory: definition, records and provenance.')
    .argument('<directory>', 'directory to create; it may exist, and nothing in it is overwritten')
  addExamples(command, [
    [
      'colophon pull countries --store "postgres://app@db.example/sheets?schema=countries"',
      'The whole sheet, to serve from the directory or to keep as a copy',
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
