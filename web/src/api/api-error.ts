/** What the server, or the way to it, has against a request. */
export class ApiError extends Error {
  /** Of the error envelope; `Unreachable` when no answer came. */
  readonly type: string
  /** The HTTP status; 0 when no answer came. */
  readonly status: number

  constructor(status: number, type: string, message: string) {
    super(message)
    this.status = status
    this.type = type
  }
}

/** Whether the server gave no answer. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0
}

/** What to tell people of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
