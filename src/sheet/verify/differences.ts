/** A place where what is stored is not what the log says. */
export interface Difference {
  /** The kind of what differs: a line of the log, a value or a record, a file of the sheet, or a checkpoint. */
  readonly kind: 'line' | 'record' | 'file' | 'checkpoint'
  /** The line of the log; null for any other difference. */
  readonly seq: number | null
  readonly recordId: string | null
  readonly field: string | null
  /** The expectation and what was found, without the place. */
  readonly message: string
}

/** Differences that are listed; the others are counted. */
const MOST_LISTED = 20

/** The differences that were found, in the order in which they were. */
export class Differences {
  readonly listed: Difference[] = []
  count = 0

  line(
    seq: number | null,
    message: string,
    cell: Partial<Pick<Difference, 'recordId' | 'field'>> = {},
  ): void {
    this.#add({ kind: 'line', seq, recordId: cell.recordId ?? null, field: cell.field ?? null, message })
  }

  record(recordId: string, field: string | null, message: string): void {
    this.#add({ kind: 'record', seq: null, recordId, field, message })
  }

  file(message: string): void {
    this.#add({ kind: 'file', seq: null, recordId: null, field: null, message })
  }

  checkpoint(message: string): void {
    this.#add({ kind: 'checkpoint', seq: null, recordId: null, field: null, message })
  }

  #add(difference: Difference): void {
    this.count += 1
    if (this.listed.length < MOST_LISTED) this.listed.push(difference)
  }
}
