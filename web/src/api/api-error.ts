import { ApiError } from '../../../src/client/client.ts'

export { ApiError }

/** Whether the server gave no answer. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0
}

/** What to tell people of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
