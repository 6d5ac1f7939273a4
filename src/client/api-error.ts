/** What the server, or the way to it, has against a request. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** Of the error envelope (see the reference of errors); `Unreachable` when no answer came. */
  readonly type: string
  /** The HTTP status; 0 when no answer came. */
  readonly status: number

  constructor(status: number, type: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.type = type
  }
}
