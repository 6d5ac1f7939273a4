import { ApiError } from '../../../src/client/client.ts'

export { ApiError }

/** Whether the request failed because the server could not be reached. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
