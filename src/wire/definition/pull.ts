import type { PullReport } from '../../sheet/lifecycle/pull-sheet.ts'

/** What `colophon pull` says of the sheet that it made. */
export interface PullWire {
  readonly sheet: string
  readonly records: number
  readonly last_seq: number
  readonly files: readonly string[]
}

/** The report of a pull on the wire; `sheet` is the directory as it was given. */
export function toPullWire(sheet: string, { records, lastSeq, files }: PullReport): PullWire {
  return { sheet, records, last_seq: lastSeq, files }
}
