import { pullSheet } from '../../../sheet/lifecycle/pull-sheet.ts'
import { toPullWire } from '../../../wire/definition/pull.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { visibleText } from '../../terminal/visible-text.ts'

/** Copies a sheet into a directory and prints the result. Throws as {@link pullSheet} does. */
export async function runPull({ sheet, out }: CommandContext, directory: string): Promise<void> {
  const report = await pullSheet(sheet, directory)
  await out.print(toPullWire(directory, report), (screen) => {
    const many = report.records === 1 ? '1 record' : `${grouped(report.records)} records`
    return `${screen.paint('green', '✔')} ${visibleText(directory)} has the sheet ${visibleText(sheet.name)}, with ${many}.`
  })
}
