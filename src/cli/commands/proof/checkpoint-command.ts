import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

/** `colophon checkpoint <sheet>`. */
export function checkpointCommand(): Command {
  const command = addSheetArgument(
    new Command('checkpoint').description(
      'Make a checkpoint of the log: keep it elsewhere, and no line that it covers can be changed unnoticed.',
    ),
  )
  addExamples(command, [
    ['colophon checkpoint countries > checkpoint.txt', 'A checkpoint to give to others'],
    ['colophon checkpoint countries --sign-key ~/countries.key', 'The same, signed'],
  ])
  return addSheetOptions(command, { writes: true, prints: false, names: false }).action(
    onSheet((flags: SheetFlags) =>
      withSheet(flags, async (context) => {
        const { printCheckpoint } = await import('./print-checkpoint.ts')
        await printCheckpoint(context)
      }),
    ),
  )
}
