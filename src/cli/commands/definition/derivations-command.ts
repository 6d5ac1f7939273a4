import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

/** `colophon derivations <sheet> [file]`. */
export function derivationsCommand(): Command {
  const command = addSheetArgument(
    new Command('derivations').description(
      'List the derivations, each after those it depends on, or show one file.',
    ),
  ).argument('[file]', 'name of one derivation file')
  addExamples(command, [
    ['colophon derivations countries', 'Each derivation with its targets, inputs and hosts'],
    ['colophon derivations countries names.yaml', 'The text of one file'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: SheetFlags, file: string | undefined) =>
      withSheet(flags, async (context) => {
        const { printDerivation, printDerivations } = await import('./print-derivations.ts')
        if (file === undefined) await printDerivations(context)
        else await printDerivation(context, file)
      }),
    ),
  )
}
