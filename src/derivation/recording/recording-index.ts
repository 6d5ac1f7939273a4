import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { firstDifference } from './first-difference.ts'
import {
  keyOfRequest,
  mayAnswer,
  readNotRecorded,
  readRecordedLine,
  type CallOrigin,
  type RecordedLine,
  type SentRequest,
} from './recorded-call.ts'

/** A call of the recording, without what the file has of it. */
interface IndexedCall extends CallOrigin {
  readonly run: string
  /** The place of its line in the file, in bytes. */
  readonly start: number
  readonly length: number
  /** Whether its response is left out, since it repeats a secret. */
  readonly isWithheld: boolean
}

/** A call with the text of its request. */
interface TextOfCall {
  readonly text: string
  readonly call: IndexedCall
}

/** A call to find: its request, and where it comes from. */
export interface CallToFind {
  readonly request: SentRequest
  readonly origin: CallOrigin
  /** The run that is replayed. */
  readonly run: string
}

/** The calls of a recording by their requests. Responses stay in the file until they are needed. */
export class RecordingIndex {
  /** The cells that the recording does not cover, as `<record>\0<field>`. */
  readonly notRecorded = new Set<string>()
  readonly #file: number
  readonly #byKey = new Map<string, IndexedCall[]>()
  readonly #all: IndexedCall[] = []
  /** The number of times that a record has used a response. */
  readonly #uses = new Map<string, number>()
  /** The calls of a derivation by the text of their requests, in its order. */
  readonly #sorted = new Map<string, readonly TextOfCall[]>()
  #byRecord: ReadonlyMap<string, readonly IndexedCall[]> | null = null

  private constructor(file: number) {
    this.#file = file
  }

  /** Reads `recording.jsonl`. Calls `fail` with a number of a line that is none of a recording. */
  static async open(path: string, fail: (line: number) => never): Promise<RecordingIndex> {
    const index = new RecordingIndex(openSync(path, 'r'))
    let number = 0
    try {
      for await (const { text, start, length } of linesOf(path)) {
        number += 1
        if (!index.#add(text, start, length)) fail(number)
      }
    } catch (error) {
      index.close()
      throw error
    }
    return index
  }

  /**
   * Returns the recorded call for a request: the call of the same record, derivation and run if there is one, the next of several at each
   * use. Otherwise that of another record or derivation of the run, which shared its call, or of the last run before it, or of a preview.
   * Null for none.
   */
  find({ request, origin, run }: CallToFind): RecordedLine | null {
    const key = keyOfRequest(request)
    const calls = this.#usable(key).filter((call) => mayAnswer(call.run, run))
    const ofRun = calls.filter((call) => call.run === run)
    const own = ofRun.filter((call) => isOf(call, origin))
    if (own.length > 0) {
      const use = `${run}\0${origin.derivation}\0${origin.recordId}\0${key}`
      const used = this.#uses.get(use) ?? 0
      this.#uses.set(use, used + 1)
      return this.#read(own[Math.min(used, own.length - 1)])
    }
    const ofFile = ofRun.find(({ derivation }) => derivation === origin.derivation)
    const earlier = calls.findLast((call) => Number(call.run) < Number(run))
    return this.#read(ofFile ?? ofRun[0] ?? earlier ?? calls[0])
  }

  /** Returns the reason why a request has no recorded call, with the most similar request, of the same record first. */
  missing({ request, origin, run: ofCell }: CallToFind): string {
    const key = keyOfRequest(request)
    const [later] = this.#usable(key)
    if (later !== undefined)
      return `not in the recording of run ${ofCell}; run ${later.run} made the request later`
    if (this.#byKey.has(key))
      return 'not in the recording, since its response repeats a secret of the request'
    const nearest = this.#nearest(request, origin)
    if (nearest === null) return `not in the recording, which has no request for ${origin.derivation}`
    const { run, origin: of, request: recorded } = nearest
    const difference = firstDifference(request, recorded)
    return `not in the recording; the nearest request is that of record "${of.recordId}" in run ${run}: ${difference}`
  }

  close(): void {
    closeSync(this.#file)
  }

  #usable(key: string): readonly IndexedCall[] {
    return (this.#byKey.get(key) ?? []).filter(({ isWithheld }) => !isWithheld)
  }

  #add(text: string, start: number, length: number): boolean {
    const cell = readNotRecorded(text)
    if (cell !== null) {
      this.notRecorded.add(`${cell.recordId}\0${cell.field}`)
      return true
    }
    const line = readRecordedLine(text)
    if (line === null) return false
    const { run, origin, request, answer } = line
    const isWithheld = !('failure' in answer) && answer.body === null
    const call = { ...origin, run, start, length, isWithheld }
    const key = keyOfRequest(request)
    const known = this.#byKey.get(key)
    if (known === undefined) this.#byKey.set(key, [call])
    else known.push(call)
    this.#all.push(call)
    return true
  }

  #nearest(request: SentRequest, origin: CallOrigin): RecordedLine | null {
    const text = textOf(request)
    const own = this.#callsOf(origin).flatMap((call) => this.#textOf(call))
    const near = own.length > 0 ? own : around(this.#sortedOf(origin.derivation), text)
    const [best] = near.toSorted((one, other) => commonStart(other.text, text) - commonStart(one.text, text))
    return this.#read(best?.call)
  }

  #callsOf(origin: CallOrigin): readonly IndexedCall[] {
    this.#byRecord ??= Map.groupBy(this.#all, nameOf)
    return this.#byRecord.get(nameOf(origin)) ?? []
  }

  /** Returns the requests of a derivation in the order of their texts: those around the place of another are most like it. */
  #sortedOf(derivation: string): readonly TextOfCall[] {
    const known = this.#sorted.get(derivation)
    if (known !== undefined) return known
    const calls = this.#all.filter((call) => call.derivation === derivation)
    const sorted = calls
      .flatMap((call) => this.#textOf(call))
      .toSorted((one, other) => (one.text < other.text ? -1 : 1))
    this.#sorted.set(derivation, sorted)
    return sorted
  }

  #textOf(call: IndexedCall): TextOfCall[] {
    const line = this.#read(call)
    return line === null ? [] : [{ text: textOf(line.request), call }]
  }

  #read(call: IndexedCall | undefined): RecordedLine | null {
    if (call === undefined) return null
    const bytes = Buffer.allocUnsafe(call.length)
    readSync(this.#file, bytes, 0, call.length, call.start)
    return readRecordedLine(bytes.toString())
  }
}

function isOf(call: CallOrigin, { derivation, recordId }: CallOrigin): boolean {
  return call.recordId === recordId && call.derivation === derivation
}

function nameOf({ derivation, recordId }: CallOrigin): string {
  return `${derivation}\0${recordId}`
}

function textOf({ method, url, headers, body }: SentRequest): string {
  return `${method} ${url} ${JSON.stringify(headers)} ${body ?? ''}`
}

/** Returns the last text before another, and the first that is not. */
function around(sorted: readonly TextOfCall[], text: string): readonly TextOfCall[] {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle]?.text ?? '') < text) low = middle + 1
    else high = middle
  }
  return sorted.slice(Math.max(0, low - 1), low + 1)
}

function commonStart(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** The most bytes of a line: a response has at most 10 MiB, and JSON up to six times as many. */
const MAX_LINE_BYTES = 128 << 20

/** Yields the lines of a file with their places in bytes. A line beyond the limit is the last, without its text. */
async function* linesOf(
  path: string,
): AsyncGenerator<{ readonly text: string; readonly start: number; readonly length: number }> {
  let rest: Buffer[] = []
  let size = 0
  let start = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const bytes = Buffer.concat([...rest, chunk.subarray(from, end)])
      rest = []
      size = 0
      yield { text: bytes.toString(), start, length: bytes.length }
      start += bytes.length + 1
      from = end + 1
    }
    rest.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > MAX_LINE_BYTES) {
      yield { text: '', start, length: size }
      return
    }
  }
  const last = Buffer.concat(rest)
  if (last.length > 0) yield { text: last.toString(), start, length: last.length }
}
