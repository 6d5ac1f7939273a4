import type { JsonValue } from '../../../contract/json/json.ts'
import type { PlainServiceError } from '../../../errors/service-error.ts'
import type { Formula, FormulaRow } from '../../formula.ts'
import type { QueryRow, RecordsQuery } from '../../records-query.ts'
import type { PagePlace, SqlStatement } from '../../sheet-store.ts'
import type { TypedField } from './json-columns.ts'
import type { FailureGroupsRun } from './run-failure-groups.ts'
import type { PageRun } from './run-page.ts'
import type { PositionRun } from './run-position.ts'
import type { SummaryRun } from './run-summary.ts'

/** The options of a query process, as JSON in its first argument. */
export interface ChildOptions {
  /** The database file; null for a process that only computes formulas. */
  readonly path: string | null
  readonly maxRows: number
  readonly maxMemoryBytes: number
  readonly parentPid: number
}

/** A request of the server to a query process. */
export type SqlRequest =
  | ({ readonly kind: 'query' } & QueryOfFields)
  | ({ readonly kind: 'page' } & PageRun)
  | ({ readonly kind: 'position' } & PositionRun)
  | ({ readonly kind: 'summary' } & SummaryRun)
  | ({ readonly kind: 'failures' } & FailureGroupsRun)
  | FormulaRequest
  | RecordsQueryRequest

/** A formula with the values of its inputs in some records; the response is an array of {@link FormulaOutcome}, one for each. */
export interface FormulaRequest {
  readonly kind: 'formula'
  readonly formula: Formula
  readonly rows: readonly FormulaRow[]
}

/**
 * A statement over all records with the values of its placeholders; the response is an array of {@link RecordsQueryOutcome}, one for each,
 * or for the first ones where all would take too long together.
 */
export interface RecordsQueryRequest {
  readonly kind: 'records-query'
  readonly query: RecordsQuery
  /** The version of the fields that it reads, at least: the state that is read may be a later one. */
  readonly version: string
  readonly rows: readonly FormulaRow[]
}

/** The row that a statement returns, null for none, or why it has no result. */
export type RecordsQueryOutcome = { readonly row: QueryRow } | { readonly error: string }

/** The value of a formula for a record, or why it has none. */
export type FormulaOutcome = { readonly value: JsonValue } | { readonly error: string }

/** A statement from a user, with the contract's fields. */
export interface QueryOfFields extends SqlStatement {
  readonly allFields: readonly TypedField[]
}

/**
 * The messages of a query process: `ready` once, then for each request any number of `chunk` (the next bytes of the
 * response's JSON text) and one `end` or `error`. After an error the chunks before it are void.
 */
export const FRAME = { ready: 1, chunk: 2, end: 3, error: 4 } as const

/** The payload of `end`, as JSON. */
export interface EndFrame {
  /** For a page: the place after which the next one starts, or null. */
  readonly next: PagePlace | null
  /** Whether the process has so much memory that it should not take another request. */
  readonly spent: boolean
}

/** The payload of `error`, as JSON: a service error, or the description of a bug or a broken store. */
export interface ErrorFrame {
  readonly error: PlainServiceError | { readonly type: null; readonly message: string }
  readonly spent: boolean
}

/** A frame is a kind (one byte), the length of the payload (four bytes, little-endian) and the payload. */
export const FRAME_HEADER_BYTES = 5

/** Returns the header of a frame; requests have kind 0. */
export function frameHeader(kind: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  header.writeUInt8(kind, 0)
  header.writeUInt32LE(length, 1)
  return header
}

/** Puts a payload into a frame. */
export function encodeFrame(kind: number, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(kind, payload.length), payload])
}

export interface Frame {
  readonly kind: number
  readonly payload: Buffer
}

/** Splits a stream of bytes into frames. Meant for short frames, such as those of a query process. */
export class FrameDecoder {
  #rest: Buffer = Buffer.alloc(0)

  /** Returns the frames that these bytes complete. */
  push(bytes: Buffer): readonly Frame[] {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const frames: Frame[] = []
    while (rest.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + rest.readUInt32LE(1)
      if (rest.length < end) break
      frames.push({ kind: rest.readUInt8(0), payload: rest.subarray(FRAME_HEADER_BYTES, end) })
      rest = rest.subarray(end)
    }
    this.#rest = rest
    return frames
  }
}
