/** What the commands of `colophon` end with; docs/reference/cli.md has the same table. */
export const EXIT = {
  /** Done, also when there was nothing to do. */
  done: 0,
  /** Could not be done; standard error says why. */
  error: 1,
  /** The command line makes no sense. */
  usage: 2,
  /** Done, and some cells failed. */
  failedCells: 3,
  /** Stopped with Ctrl-C; what was computed stays. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
