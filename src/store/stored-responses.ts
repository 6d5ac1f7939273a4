/** The default limit of kept responses, in bytes. */
export const DEFAULT_RESPONSE_LIMIT = 256 * 1024 * 1024

/** Bytes that a kept response takes beside its body: its key, its times and their places in indexes. */
const BYTES_BESIDE = 200

/** The largest part of the limit that one response may take, so that it does not displace most others. */
const LARGEST_PART = 1 / 8

/** The part of the limit that is left after the least recently used responses are removed. */
const PART_LEFT = 7 / 8

/** A successful response as it was received. */
export interface ReceivedResponse {
  /** The key of its request: `sha256:` and the hash of all that was sent, without secrets. */
  readonly request: string
  readonly status: number
  readonly durationMs: number
  /** The JSON text of the body, decoded. */
  readonly body: string
}

/** A response that the store has kept. */
export interface KeptResponse extends ReceivedResponse {
  /** The time at which it was received, UTC with milliseconds. */
  readonly at: string
}

/** A kept response without its body. */
export interface KeptNote extends Pick<KeptResponse, 'at'> {
  /** Bytes that it takes. */
  readonly bytes: number
}

/** A summary of the kept responses of a sheet. */
export interface ResponsesSummary {
  readonly count: number
  readonly bytes: number
  /** The most bytes that are kept. */
  readonly limit: number
  /** Bytes of the recording, for which the same limit holds. */
  readonly recordedBytes: number
  /** The times at which the oldest and the newest response were received; null for none. */
  readonly oldest: string | null
  readonly newest: string | null
}

/** Selects kept responses to remove. */
export interface ResponseTrim {
  /** Those received before this time (ISO 8601, UTC); null for none by age. */
  readonly before: string | null
  /** The most bytes of the others: the least recently used are removed until the rest takes no more; null for no such condition. */
  readonly maxBytes: number | null
}

/** Number of removed responses, and their bytes. */
export interface TrimResult {
  readonly removed: number
  readonly bytes: number
}

/** A part of the recording, in the order in which calls were stored. */
export interface RecordedPage {
  readonly lines: readonly RecordedEntry[]
  /** The place after which the next part begins. */
  readonly next: number
}

export interface RecordedEntry {
  /** The place of the line, which identifies it. */
  readonly place: number
  /** JSON without line breaks. */
  readonly line: string
  /** The time at which it was stored, UTC with milliseconds. */
  readonly at: string
}

/**
 * The kept responses of a sheet, which replace calls that were paid for. They are stored by {@link SheetStore.commitCells},
 * and bounded in bytes: the least recently used are removed first.
 *
 * Beside them it has the recording: each call of each run with its result, in the order in which they were stored. The same limit holds for
 * it, by itself: the oldest lines are removed first. What removes responses by age or size removes lines likewise.
 */
export interface ResponseStore {
  /** Returns, of these request keys, those that have a kept response. */
  find(requests: readonly string[]): Promise<ReadonlyMap<string, KeptNote>>
  read(request: string): Promise<KeptResponse | null>
  /** Returns lines of the recording after a place, 0 for the first, about 4 MiB at a time; empty after the last. */
  recorded(after: number): Promise<RecordedPage>
  /** Returns the time of the clock that times kept responses, UTC with milliseconds. */
  now(): Promise<string>
  summary(): Promise<ResponsesSummary>
  trim(which: ResponseTrim): Promise<TrimResult>
  /** Returns the most bytes that are kept, 0 for none. */
  limit(): Promise<number>
  /** Sets the most bytes that are kept, 0 for none, and removes what exceeds that. */
  setLimit(bytes: number): Promise<TrimResult>
}

/** Returns the bytes that a response counts. */
export function bytesOf({ body }: Pick<ReceivedResponse, 'body'>): number {
  return Buffer.byteLength(body) + BYTES_BESIDE
}

/** Returns the responses that fit within a limit, with their bytes; of one request the last. */
export function withinLimit(
  responses: readonly ReceivedResponse[],
  limit: number,
): readonly { readonly response: ReceivedResponse; readonly bytes: number }[] {
  const last = new Map(responses.map((response) => [response.request, response]))
  return [...last.values()]
    .map((response) => ({ response, bytes: bytesOf(response) }))
    .filter(({ bytes }) => bytes <= limit * LARGEST_PART)
}

/** Returns the number of bytes to remove when so many are kept. */
export function excessOf(bytes: number, limit: number): number {
  return bytes <= limit ? 0 : bytes - Math.floor(limit * PART_LEFT)
}

/** The columns of a kept response in either engine. */
type Row = Readonly<Record<string, unknown>>

/** Returns a kept response from its row. */
export function keptResponse(request: string, row: Row): KeptResponse {
  return {
    request,
    at: timeOf(row['at']) ?? '',
    status: Number(row['status']),
    durationMs: Number(row['duration_ms']),
    body: String(row['body']),
  }
}

/** Returns the summary from a row of counts. */
export function responsesSummary(
  row: Row | undefined,
  { limit, recordedBytes }: Pick<ResponsesSummary, 'limit' | 'recordedBytes'>,
): ResponsesSummary {
  return {
    count: Number(row?.['count'] ?? 0),
    bytes: Number(row?.['bytes'] ?? 0),
    limit,
    recordedBytes,
    oldest: timeOf(row?.['oldest']),
    newest: timeOf(row?.['newest']),
  }
}

/** Returns the limit from its column, which is null where none was set. */
export function limitOf(stored: unknown): number {
  return stored === null || stored === undefined ? DEFAULT_RESPONSE_LIMIT : Number(stored)
}

/** Returns a time from a column of milliseconds since 1970. */
export function timeOf(stored: unknown): string | null {
  return stored === null || stored === undefined ? null : new Date(Number(stored)).toISOString()
}
