import { memberOf } from '../sheet-files/import-lines.ts'
import type { UpsertResult, UpsertTrial } from '../sheet-store.ts'
import type { StoredTargets, StoredTarget } from '../rows/stored-targets.ts'
import type { RecordWrite, UpsertJudge } from './upsert-validation.ts'

/** Counts what an upsert does to the records of its batch. */
export class UpsertTally {
  #inserted = 0
  #updated = 0
  #unchanged = 0
  /** Of the record that was last written. */
  #version = 0

  inserted(version: number): void {
    this.#inserted += 1
    this.#version = version
  }

  /** A record that was there was sent; with the version that it has now. */
  updated(version: number, { changed }: { changed: boolean }): void {
    this.#updated += 1
    if (!changed) this.#unchanged += 1
    this.#version = version
  }

  /** With so many records in the sheet. The version is told where the batch was of one record. */
  result(total: number): UpsertResult {
    const [inserted, updated, unchanged] = [this.#inserted, this.#updated, this.#unchanged]
    const version = inserted + updated === 1 ? String(this.#version) : null
    return { inserted, updated, unchanged, total, version }
  }

  /** The same for who only tries, with what is wrong. */
  trial(judge: UpsertJudge): UpsertTrial {
    const [inserted, updated, unchanged] = [this.#inserted, this.#updated, this.#unchanged]
    return { inserted, updated, unchanged, ...judge.faults() }
  }
}

/** What is kept of the states of a record's cells, as far as writes by hand change it. */
interface WrittenCells<Key> extends StoredTargets {
  writtenByHand(target: StoredTarget, record: Key, write: { hasValue: boolean; seq: number }): void
  inputWritten(field: string, record: Key, seq: number): void
}

/** Notes for the cells of a record what its fields have been given with the entry `seq`. */
export function markWritten<Key>(
  cells: WrittenCells<Key>,
  record: Key,
  { write, seq }: { write: RecordWrite; seq: number },
): void {
  for (const field of write.fields) {
    const target = cells.target(field.name)
    if (target !== undefined) {
      cells.writtenByHand(target, record, { hasValue: memberOf(write.record, field.name) !== null, seq })
    }
    cells.inputWritten(field.name, record, seq)
  }
}
