let end: Promise<void> | null = null

/**
 * Resolves when the event loop has taken in all that had arrived. Requests that came together go on together then, and what
 * each of them has to ask that is the same for all, such as whether a file was edited, can be asked once: still after the
 * last of them has come, so that none sees less than it would have by itself.
 */
export function endOfTurn(): Promise<void> {
  return (end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = null
      resolve()
    })
  }))
}
