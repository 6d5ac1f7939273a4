import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../src/store/suite/support/random.ts'
import { contractText } from '../../test/support/contract-with.ts'
import { startLocalApi, type LocalApi } from '../../test/support/local-api.ts'
import type { Scope } from '../support/scope.ts'
import type { Answer, ServedSheet } from './served-sheet.ts'
import { isAcknowledged, labelOf, Writer, type Stored } from './writer.ts'

/** The number of records that the sheet is imported with. */
export const IMPORTED = 40

/** Makes a directory for a round, which PostgreSQL can reach as another user. */
export function newPlace(prefix: string): string {
  const place = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  chmodSync(place, 0o711)
  return place
}

/** Starts the API of the derivation of such sheets. */
export async function startLabels(scope: Scope): Promise<LocalApi> {
  const api = await startLocalApi(scope)
  api.answer('*', ({ path }) => ({ json: { value: labelOf(path.slice(1)) } }))
  return api
}

/** Writes the files of a new sheet into a directory of a round, and returns their directory. The derivation calls an API at this URL. */
export function newSheetFiles(place: string, api: string): string {
  const directory = join(place, 'sheet')
  mkdirSync(join(directory, 'derivations'), { recursive: true })
  const files: Readonly<Record<string, string>> = {
    'contract.yaml': contractText([
      '{name: batch, logicalType: string, x-indexed: true}',
      '{name: size, logicalType: integer}',
      '{name: note, logicalType: string}',
      '{name: label, logicalType: string}',
      '{name: twice, logicalType: integer}',
    ]),
    'records.jsonl': Array.from(
      { length: IMPORTED },
      (_, index) => `${JSON.stringify({ id: `i${index}`, batch: 'imported', size: index })}\n`,
    ).join(''),
    'derivations/label.yaml': `targets: [label]\ninputs: [id]\nkind: http\nurl: ${api}/{{ id }}\nresponse_path: value\n`,
    'derivations/twice.yaml': 'targets: [twice]\nkind: sql\nexpression: size * 2\n',
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text)
  return directory
}

/** Something that was acknowledged at a length of the trace. */
export interface Acknowledged<T> {
  readonly at: number
  readonly what: T
}

/** The number of clients, and of the requests of each. */
interface Size {
  readonly clients: number
  readonly requests: number
}

/** Whether an answer acknowledges its request, so that its client goes on. */
type Check = (answer: Answer | null) => boolean

/** The writes of clients to a sheet, with those that were acknowledged. */
export class Workload {
  readonly writers: Writer[] = []
  /** Fields that were added to the contract. */
  readonly fields: Acknowledged<string>[] = []
  /** Texts of checkpoints of the log. */
  readonly checkpoints: Acknowledged<string>[] = []
  readonly #random: Random
  readonly #length: () => number
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []
  #fieldCount = 0

  constructor(random: Random, length: () => number) {
    this.#random = random
    this.#length = length
  }

  /** The number of acknowledged requests. */
  get acknowledged(): number {
    return (
      this.writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0) +
      this.fields.length +
      this.checkpoints.length
    )
  }

  /** Resolves when so many requests were acknowledged; it may never. */
  reached(count: number): Promise<void> {
    if (this.acknowledged >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }

  /** Lets new clients write at the same time, each some requests; they end early when the server is gone. */
  async run(server: ServedSheet, size: Size): Promise<void> {
    await this.#all(server, size, (answer) => {
      if (answer === null) return false
      assert.ok(isAcknowledged(answer), JSON.stringify(answer.body))
      return true
    })
  }

  async #all(server: ServedSheet, { clients, requests }: Size, check: Check): Promise<void> {
    const random = this.#random
    const writers = Array.from({ length: clients }, () => {
      const writer = new Writer(`w${this.writers.length}`, random)
      this.writers.push(writer)
      return writer
    })
    await Promise.all([
      ...writers.map((writer) =>
        this.#times(requests, async () => {
          const answer = await writer.write(
            ({ method, path, body }) => server.request(method, path, body),
            this.#length,
          )
          return check(answer)
        }),
      ),
      this.#times(Math.ceil(requests / 8), () => this.#addField(server, check)),
      this.#times(Math.ceil(requests / 4), () => this.#makeCheckpoint(server, check)),
    ])
  }

  /**
   * Lets new clients write as {@link run} does, each until a request of its own is refused. Returns the answers that were no
   * acknowledgement; {@link settle} says what became of the requests.
   */
  async runUntilRefused(server: ServedSheet, size: Size): Promise<readonly (Answer | null)[]> {
    const refused: (Answer | null)[] = []
    await this.#all(server, size, (answer) => {
      if (isAcknowledged(answer)) return true
      refused.push(answer)
      return false
    })
    return refused
  }

  /** Compares what is stored with what was acknowledged, and lets no client go on. */
  settle(stored: readonly Stored[]): void {
    for (const writer of this.writers) writer.settle(stored)
  }

  async #times(count: number, act: () => Promise<boolean>): Promise<void> {
    for (let done = 0; done < count; done += 1) {
      // Without pauses the store would never have the time in which it moves its log into the database.
      if (this.#random.chance(0.1)) await delay(this.#random.below(80))
      if (!(await act())) return
      for (const { count: enough, resolve } of this.#waiting) if (this.acknowledged >= enough) resolve()
    }
  }

  async #addField(server: ServedSheet, check: Check): Promise<boolean> {
    this.#fieldCount += 1
    const name = `added_${this.#fieldCount}`
    const answer = await server.request('POST', '/api/contract/properties', { name, logicalType: 'string' })
    const isStored = check(answer)
    if (isStored) this.fields.push({ at: this.#length(), what: name })
    return isStored
  }

  async #makeCheckpoint(server: ServedSheet, check: Check): Promise<boolean> {
    const answer = await server.request('POST', '/api/log/checkpoint', {})
    const isStored = check(answer)
    if (isStored && answer !== null) {
      const { note } = answer.body as { note: string }
      this.checkpoints.push({ at: this.#length(), what: note })
    }
    return isStored
  }
}
