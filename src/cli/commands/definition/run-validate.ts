import { join } from 'node:path'
import { isStoreUrl } from '../../../sheet/store-url.ts'
import { validateSheet, type SheetFault } from '../../../sheet/lifecycle/validate-sheet.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { inOneLine } from '../../terminal/one-line.ts'
import type { Output } from '../../terminal/output.ts'
import { visibleText } from '../../terminal/visible-text.ts'

/** Prints the errors of a sheet as they are found. Throws as {@link validateSheet} does. */
export async function runValidate(
  out: Output,
  sheet: string,
  { records }: { readonly records: boolean },
): Promise<ExitCode> {
  let count = 0
  async function* faults(): AsyncGenerator<readonly SheetFault[]> {
    for await (const fault of validateSheet(sheet, { records })) {
      count += 1
      yield [fault]
    }
  }
  if (out.format === 'table') {
    for await (const batch of faults()) {
      for (const fault of batch) await out.write(`${faultLine(fault, sheet)}\n`)
    }
    if (count === 0) await out.write(`${out.screen.paint('green', '✔')} no errors\n`)
  } else {
    await out.printList(faults(), {
      columns: [],
      none: '',
      envelope: ['{"faults":', () => `,"valid":${String(count === 0)}}`],
    })
  }
  return count === 0 ? EXIT.done : EXIT.error
}

/** Returns an error in the format of compilers, with a relative path that editors and terminals can open. */
function faultLine({ file, line, message }: SheetFault, sheet: string): string {
  const place = [placeOf(sheet, file), ...(line === null ? [] : [line])].join(':')
  return visibleText(`${place}: ${inOneLine(message)}`)
}

/** Returns the path of a file; in a store, only its name. */
function placeOf(sheet: string, file: string | null): string {
  if (isStoreUrl(sheet)) return file ?? 'the sheet'
  return file === null ? sheet : join(sheet, file)
}
