import type { UpsertResult, UpsertTrial } from '../sheet-store.ts'
import type { UpsertJudge } from './upsert-validation.ts'

/** Counts what an upsert does to the records of its batch. */
export class UpsertTally {
  #inserted = 0
  #updated = 0
  #unchanged = 0
  /** The version of the record that was written last. */
  #version = 0

  inserted(version: number): void {
    this.#inserted += 1
    this.#version = version
  }

  /** Counts an existing record that was sent; `version` is its present one. */
  updated(version: number, { changed }: { changed: boolean }): void {
    this.#updated += 1
    if (!changed) this.#unchanged += 1
    this.#version = version
  }

  /** Returns the result, with the number of records in the sheet, and the version where the batch had one record. */
  result(total: number): UpsertResult {
    const [inserted, updated, unchanged] = [this.#inserted, this.#updated, this.#unchanged]
    const version = inserted + updated === 1 ? String(this.#version) : null
    return { inserted, updated, unchanged, total, version }
  }

  /** Returns the result of a trial, with its violations. */
  trial(judge: UpsertJudge): UpsertTrial {
    const [inserted, updated, unchanged] = [this.#inserted, this.#updated, this.#unchanged]
    return { inserted, updated, unchanged, ...judge.faults() }
  }
}
