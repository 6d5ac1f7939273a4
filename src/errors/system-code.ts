import { constants } from 'node:os'

/** Returns the code of an error of the file system, such as ENOSPC; `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  // Node has no name for this one.
  if ('errno' in error && error.errno === -constants.errno.EDQUOT) return 'EDQUOT'
  return String(error.code)
}

/** Returns what to do about an error of the file system when a sheet is written. */
export function adviceFor(code: string): string {
  return ADVICE[code] ?? "let the server write the sheet's directory and its files"
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room, and try again',
  EDQUOT: 'the quota of the disk is used up: make room, or raise it, and try again',
  EIO: 'the disk has failed: check it',
}
