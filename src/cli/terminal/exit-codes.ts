/** The exit codes of `colophon`; docs/reference/cli.md has the same table. */
export const EXIT = {
  /** Done, also when there was nothing to do. */
  done: 0,
  /** Failed; the reason is on standard error. */
  error: 1,
  /** Wrong usage of the command line. */
  usage: 2,
  /** Done, and some cells failed, or in a replay are not as in the archive. */
  failedCells: 3,
  /** Stopped with Ctrl-C; what was computed stays. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
