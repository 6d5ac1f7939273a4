import { isJsonObject } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { Computed } from '../../definition/derivation-kind.ts'
import { parseJson } from '../../transport/response/parse-json.ts'
import { Pieces } from './pieces.ts'
import { exitText, MAX_OUTPUT_BYTES } from './run-once.ts'
import type { ScriptProcess } from './script-host.ts'
import { endOf, startOf, valuesOf, type AnswerContext } from './script-values.ts'

/** A record that waits for its answer. */
export interface BatchRecord {
  /** JSON. */
  readonly inputs: string
  /** Whether a process has ended without an answer for it, when other records waited too: it may have caused that. */
  isSuspect: boolean
  /** Called before its line is written, the first time; false if it is not needed any more. */
  begin(): Promise<boolean>
  settle(result: Result<Computed['values'], Failure>): void
}

/** The most records that a process has at a time, and the most bytes of their inputs. */
const MAX_RECORDS = 256
const MAX_INPUT_BYTES = 8 * 1024 * 1024

/** The most bytes of empty lines from one answer to the next. */
const MAX_BLANK_BYTES = 64 * 1024

/** The time without answers and records after which the input of a process is closed, since it may answer only then. */
const QUIET_MS = 1000

/** The records that a process has left without an answer, and why. */
export interface BatchEnd {
  readonly left: readonly BatchRecord[]
  /** Records that it was about to get. */
  readonly unsent: readonly BatchRecord[]
  readonly failure: Failure
  /** Whether the failure is that of each record left; otherwise one of them may have caused it. */
  readonly isCertain: boolean
}

/** One process of a batch: writes records to it, and settles them by its answers. */
export class BatchProcess {
  readonly #answer: AnswerContext
  readonly #timeout: number
  /** Returns the next record, if it may join those of the process, of which `first` is one; null for none. */
  readonly #next: (first: BatchRecord | null) => BatchRecord | null
  readonly #waiting = new Map<string, BatchRecord>()
  #process: ScriptProcess | null = null
  #ids = 0
  #inputBytes = 0
  #isFeeding = false
  #hasMore = false
  #hasEnded = false
  readonly #unsent: BatchRecord[] = []
  #fed: Promise<void> = Promise.resolve()
  #isInputClosed = false
  /** The reason why the process was killed. */
  #stopped: { readonly failure: Failure; readonly isCertain: boolean } | null = null
  readonly #line = new Pieces()
  #blankBytes = 0
  #deadline: NodeJS.Timeout | undefined
  #quiet: NodeJS.Timeout | undefined

  /** Whether it has answered for a record. */
  hasAnswered = false

  /** `timeout`: the most seconds from one answer to the next. */
  constructor(
    answer: AnswerContext,
    timeout: number,
    next: (first: BatchRecord | null) => BatchRecord | null,
  ) {
    this.#answer = answer
    this.#timeout = timeout
    this.#next = next
  }

  /** Feeds records to a process until it has ended. */
  async run(process: ScriptProcess): Promise<BatchEnd> {
    this.#process = process
    this.#waitForMore()
    this.feed()
    const end = await process.ended
    this.#hasEnded = true
    await this.#fed
    clearTimeout(this.#deadline)
    clearTimeout(this.#quiet)
    const { status } = end
    // A line that a killed process has not finished is no answer.
    if (status === 0 && this.#stopped === null && this.#line.size > 0) this.#read(this.#line.take())
    const left = [...this.#waiting.values()]
    const unsent = this.#unsent
    if (this.#stopped !== null) return { left, unsent, ...this.#stopped }
    const { request } = this.#answer
    const detail =
      status === 0 ? 'the script ended without an answer for this record' : exitText(end, this.#answer)
    const isCertain = status === 0 && this.#isInputClosed
    return { left, unsent, failure: { reason: 'computation', request, detail }, isCertain }
  }

  /** Receives output of the process. */
  receive(chunk: Buffer): void {
    let rest = chunk
    while (this.#stopped === null) {
      const end = rest.indexOf(0x0a)
      const part = end === -1 ? rest : rest.subarray(0, end)
      this.#line.push(part)
      if (this.#line.size > MAX_OUTPUT_BYTES) {
        return this.#refuse(`a line of standard output is larger than ${MAX_OUTPUT_BYTES / 1024 / 1024} MiB`)
      }
      if (end === -1) return
      this.#read(this.#line.take())
      rest = rest.subarray(end + 1)
    }
  }

  /** Writes records to the process as long as it can take them. */
  feed(): void {
    this.#hasMore = true
    if (this.#isFeeding) return
    this.#isFeeding = true
    this.#fed = this.#feed()
  }

  async #feed(): Promise<void> {
    while (this.#hasMore) {
      this.#hasMore = false
      let records = this.#take()
      while (records.length > 0) {
        const areNeeded = await Promise.all(records.map((record) => record.begin()))
        for (const record of records.filter((_, index) => areNeeded[index])) {
          if (this.#receives()) this.#write(record)
          else this.#unsent.push(record)
        }
        records = this.#take()
      }
    }
    this.#isFeeding = false
  }

  /** Takes the records that the process can receive now. They begin together, since each asks the store whether it is needed. */
  #take(): readonly BatchRecord[] {
    const taken: BatchRecord[] = []
    if (!this.#receives() || (this.#process?.unread ?? 0) > MAX_INPUT_BYTES) return taken
    const [first = null] = this.#waiting.values()
    let count = this.#waiting.size
    let bytes = this.#inputBytes
    while (count === 0 || (count < MAX_RECORDS && bytes < MAX_INPUT_BYTES)) {
      const record = this.#next(first ?? taken[0] ?? null)
      if (record === null) break
      taken.push(record)
      count += 1
      bytes += record.inputs.length
    }
    return taken
  }

  /** Whether a line that is written now can be answered. */
  #receives(): boolean {
    return !this.#hasEnded && !this.#isInputClosed && this.#stopped === null
  }

  #write(record: BatchRecord): void {
    const id = String((this.#ids += 1))
    this.#waiting.set(id, record)
    this.#inputBytes += record.inputs.length
    this.#process?.write(`{"id":"${id}","inputs":${record.inputs}}\n`)
    if (this.#waiting.size === 1) this.#waitForAnswer()
    this.#waitForMore()
  }

  #read(bytes: Buffer): void {
    const line = bytes.toString('utf8').trim()
    if (line === '') {
      this.#blankBytes += bytes.length + 1
      if (this.#blankBytes <= MAX_BLANK_BYTES) return
      return this.#refuse(`the script has written more than ${MAX_BLANK_BYTES / 1024} KiB of empty lines`)
    }
    const { guard, request } = this.#answer
    const json = parseJson(line)
    const { id, values = null, error = null } = json !== undefined && isJsonObject(json) ? json : {}
    const outcome =
      typeof error === 'string' && values === null
        ? err<Failure>({ reason: 'computation', request, detail: endOf(error, guard) })
        : error === null && isJsonObject(values)
          ? ok(valuesOf(values, this.#answer))
          : null
    if (outcome === null || typeof id !== 'string') {
      return this.#refuse(`a line of standard output is no answer: ${startOf(line, guard, 500)}`)
    }
    const record = this.#waiting.get(id)
    if (record === undefined) {
      const known = /^[1-9]\d{0,14}$/.test(id) && Number(id) <= this.#ids
      return this.#refuse(
        known
          ? `the script has answered twice for the id "${id}"`
          : `the script has answered for the id ${showValue(startOf(id, guard, 100))}, which it did not receive`,
      )
    }
    this.#waiting.delete(id)
    this.#inputBytes -= record.inputs.length
    this.#blankBytes = 0
    this.hasAnswered = true
    this.#waitForAnswer()
    this.#waitForMore()
    record.settle(outcome)
    this.feed()
  }

  /** Ends a process that does not keep to the protocol: nothing more that it writes is used. */
  #refuse(detail: string): void {
    this.#stop({ reason: 'computation', request: this.#answer.request, detail }, true)
  }

  #stop(failure: Failure, isCertain: boolean): void {
    this.#stopped ??= { failure, isCertain }
    this.#process?.kill()
  }

  /** Starts to wait for the next answer, if a record has none. */
  #waitForAnswer(): void {
    clearTimeout(this.#deadline)
    if (this.#hasEnded || this.#waiting.size === 0) return
    const { request } = this.#answer
    this.#deadline = setTimeout(() => {
      this.#stop({ reason: 'timeout', request, seconds: this.#timeout }, this.#waiting.size === 1)
    }, this.#timeout * 1000)
  }

  /** Starts to wait for the next answer or record, after which the input ends, and then for the end of the process. */
  #waitForMore(): void {
    clearTimeout(this.#quiet)
    if (this.#hasEnded) return
    this.#quiet = setTimeout(() => {
      if (this.#isInputClosed && this.#waiting.size === 0) return this.#process?.kill()
      this.#isInputClosed = true
      this.#process?.closeInput()
      if (this.#waiting.size === 0) this.#waitForMore()
    }, QUIET_MS)
  }
}
