import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { perEngine, readLinesAfter } from '../../test/support/engine.ts'
import type { LogEntry } from '../../test/kill/kill-harness.ts'

/** Reads the log of a sheet as it grows: each call has the lines since the last one. */
export class NewLines {
  readonly #directory: string
  #seq = 0
  #bytes = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Returns the new entries; they must be numbered without gaps, and `provenance.jsonl` must have exactly them. */
  async read(): Promise<readonly LogEntry[]> {
    const lines = await readLinesAfter(this.#directory, this.#seq)
    const entries = lines.map((line) => JSON.parse(line) as LogEntry)
    entries.forEach(({ seq }, index) => assert.equal(seq, this.#seq + index + 1, 'a gap in the log'))
    if (perEngine({ sqlite: true, postgres: false })) {
      const text = await this.#fromFile()
      assert.equal(text, lines.map((line) => `${line}\n`).join(''), 'file and table differ')
    }
    this.#seq += entries.length
    return entries
  }

  async #fromFile(): Promise<string> {
    await using file = await open(join(this.#directory, 'provenance.jsonl'))
    const { size } = await file.stat()
    assert.ok(size >= this.#bytes, 'the file of the log has become shorter')
    const { buffer } = await file.read(Buffer.alloc(size - this.#bytes), 0, size - this.#bytes, this.#bytes)
    this.#bytes = size
    return buffer.toString('utf8')
  }
}
