import type { PullReport } from '../../sheet/lifecycle/pull-sheet.ts'

/** The output of `colophon pull`. */
export interface PullWire {
  readonly sheet: string
  readonly records: number
  readonly last_seq: number
  readonly files: readonly string[]
}

/** Converts the report of a pull to the wire format; `sheet` is the directory as it was given. */
export function toPullWire(sheet: string, { records, lastSeq, files }: PullReport): PullWire {
  return { sheet, records, last_seq: lastSeq, files }
}
