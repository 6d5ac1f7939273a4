import type { RecordKey, WorkItem } from '../../store/cell-work.ts'
import type { Answer } from './call-results.ts'

/** Cells that wait for a call, as they were when it was planned. */
type WaitingCells = Answer['waiting']

interface Question {
  readonly waiting: WaitingCells
  resolve(isWanted: boolean): void
  reject(error: unknown): void
}

/**
 * Looks whether any cell that waits for a call is as it was when that was planned (D28). Calls that ask while the store is being read are
 * looked at together: they ask one by one, as their host lets them in.
 */
export class StillWanted {
  readonly #read: (records: readonly RecordKey[]) => AsyncIterable<readonly WorkItem[]>
  #asked: Question[] = []
  #isReading = false

  /** `read`: the records as the store has them now; keys come ascending. */
  constructor(read: (records: readonly RecordKey[]) => AsyncIterable<readonly WorkItem[]>) {
    this.#read = read
  }

  ask(waiting: WaitingCells): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ waiting, resolve, reject })
      if (!this.#isReading) void this.#answerAll()
    })
  }

  async #answerAll(): Promise<void> {
    this.#isReading = true
    while (this.#asked.length > 0) {
      const questions = this.#asked
      this.#asked = []
      try {
        const versions = await this.#versionsOf(questions)
        for (const { waiting, resolve } of questions)
          resolve(waiting.some((each) => isAsItWas(each, versions)))
      } catch (error) {
        for (const { reject } of questions) reject(error)
      }
    }
    this.#isReading = false
  }

  /** The versions of cells now, by record and target. */
  async #versionsOf(
    questions: readonly Question[],
  ): Promise<ReadonlyMap<RecordKey, ReadonlyMap<string, string>>> {
    const keys = new Set(questions.flatMap(({ waiting }) => waiting.map(({ item }) => item.key)))
    const versions = new Map<RecordKey, ReadonlyMap<string, string>>()
    for await (const items of this.#read([...keys].toSorted((one, other) => one - other))) {
      for (const { key, cells } of items)
        versions.set(key, new Map(cells.map(({ target, version }) => [target, version])))
    }
    return versions
  }
}

function isAsItWas(
  { item, cells }: WaitingCells[number],
  versions: ReadonlyMap<RecordKey, ReadonlyMap<string, string>>,
): boolean {
  const now = versions.get(item.key)
  return cells.some(({ target, version }) => now?.get(target) === version)
}
