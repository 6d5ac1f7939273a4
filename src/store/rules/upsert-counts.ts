import type { UpsertResult, UpsertTrial } from '../sheet-store.ts'
import type { UpsertJudge } from './upsert-validation.ts'

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
